"""Controllability and observability, eigenvalue by eigenvalue, with the direction that is lost in words.

For M e'' + C e' + K e = F u with P(s) = M s^2 + C s + K, a motion exp(s t) escapes the inputs if a row z satisfies
z P(s) = 0 and z F = 0, and escapes the outputs y = H0 e + H1 e' if a shape x satisfies P(s) x = 0 and (H0 + s H1) x = 0
(Popov, Belevitch and Hautus, in second-order form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.control.outputs import output_rows
from pendula.system.layout import Array
from pendula.words import readable

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel

LOST = 1e-7
"""a direction with a smaller singular value, relative to the matrices, is lost"""
WEAK = 1e-3
"""a smaller one is reached only weakly"""
NEGLIGIBLE = 1e-5
SAME = 1e-6
"""eigenvalues closer than this (relative to the largest) are one"""


@dataclass(frozen=True, eq=False)
class Lost:
    """A motion that inputs cannot influence, or that outputs do not show.

    Attributes:
        eigenvalue: s of its time course exp(s t).
        direction: coefficients of the coordinates e.
        text: the direction in words.
        decays: whether the motion decays without control.
        size: singular value of the test, relative; zero up to rounding.

    Example:
        >>> import pendula
        >>> found = pendula.linearize("cart-pole", {"theta": 0}).observability("theta").lost[0]
        >>> found.text
        'the motion x = 1 per unit (theta at rest), which drifts, does not show in the outputs'
    """

    eigenvalue: complex
    direction: Array
    text: str
    decays: bool
    size: float


@readable
@dataclass(frozen=True, eq=False)
class Reach:
    """Whether inputs reach all motions of a linear model (controllability), or outputs show them (observability).

    Attributes:
        what: "controllable" or "observable".
        by: names of the inputs or outputs.
        eigenvalues: one of each group of equal ones, without conjugates.
        margins: least singular value of the test at each of them, relative; near zero: hardly reached.
        lost: motions that are not reached.

    Example:
        >>> import pendula
        >>> print(pendula.linearize("cart-pole", {"theta": 0}).controllability())
        controllable by F; least margin 0.057 at 0 +- 4.101i [1/s]
    """

    what: str
    by: tuple[str, ...]
    eigenvalues: Array
    margins: Array
    lost: tuple[Lost, ...]
    time_unit: str = "s"

    @property
    def holds(self) -> bool:
        """Whether everything is reached."""
        return not self.lost

    @property
    def enough(self) -> bool:
        """Whether every lost motion decays without control: stabilizable, or detectable."""
        return all(x.decays for x in self.lost)

    @property
    def verdict(self) -> str:
        """In one or two words."""
        if self.holds:
            return self.what
        weaker = {"controllable": "stabilizable", "observable": "detectable"}[self.what]
        return f"not {self.what}, {'but' if self.enough else 'and not'} {weaker}"

    def __str__(self) -> str:
        lacking = {"controllable": "there are no inputs", "observable": "nothing is measured"}[self.what]
        by = f" by {', '.join(self.by)}" if self.by else f": {lacking}"
        if self.holds:
            k = int(np.argmin(self.margins))
            weak = " (weakly)" if self.margins[k] < WEAK else ""
            return (
                f"{self.what}{weak}{by}; least margin {self.margins[k]:.2g} at "
                f"{_number(self.eigenvalues[k])} [1/{self.time_unit}]"
            )
        return "\n".join([f"{self.verdict}{by}", *(f"  {x.text}" for x in self.lost)])


def controllability(linear: LinearModel) -> Reach:
    """What the inputs reach; see :meth:`pendula.results.LinearModel.controllability`."""
    D = linear.sizes
    F = D[:, None] * linear.F
    found = _tested(linear, F, np.zeros_like(F), rows=True)
    lost = []
    for s, z, size in found[2]:
        combination = np.real_if_close((z * D) @ linear.M)  # z M e is the quantity that nothing pushes
        lost += _in_words(linear, s, combination * D, D, size, seen=False)
    return Reach("controllable", linear.inputs, found[0], found[1], tuple(lost), linear.at.layout.time_unit)


def observability(linear: LinearModel, outputs: Sequence[str] | str | None) -> Reach:
    """What the outputs show; see :meth:`pendula.results.LinearModel.observability`."""
    names, C, _ = output_rows(linear, outputs)
    n, D = len(linear.M), linear.sizes
    found = _tested(linear, (C[:, :n] * D).T, (C[:, n:] * D).T, rows=False)
    lost = []
    for s, x, size in found[2]:
        lost += _in_words(linear, s, x, D, size, seen=True)
    return Reach("observable", names, found[0], found[1], tuple(lost), linear.at.layout.time_unit)


def unweighted(linear: LinearModel, A: Array, Q: Array) -> list[Lost]:
    """Motions of x' = A x, x = (e, e'), that neither grow nor decay and that x^T Q x does not show."""
    found = []
    for s, x in _hidden(linear, A, Q):
        one = _in_words(linear, s, x[: len(linear.M)], linear.sizes, 0.0, end="has no weight in Q")[0]
        moved = [n for n, c in zip(linear.coordinates, one.direction, strict=True) if c != 0]
        if s == 0 and len(moved) == 1:
            one = replace(one, text=f"{moved[0]} is not held: it has no weight in Q")
        found.append(one)
    return found


def unexcited(linear: LinearModel, A: Array, W: Array) -> list[str]:
    """Motions of x' = A x + noise of intensity W that neither grow nor decay and that the noise misses, in words."""
    D = linear.sizes
    rate = _rate(A)
    found = []
    for s, z in _hidden(linear, A.T, W, dual=True):
        z = z / np.concatenate([D, D * rate])
        z = z / z[int(np.argmax(np.abs(z)))]
        z = np.where(np.abs(z) < NEGLIGIBLE, 0.0, z)
        names = (*linear.coordinates, *linear.speeds)
        course = _course(s, linear.at.layout.time_unit)
        found.append(f"{_combination(z, names)}, which {course}, has no process noise")
    return found


def _rate(A: Array) -> float:
    return float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)) or 1.0


def _hidden(linear: LinearModel, A: Array, Q: Array, *, dual: bool = False) -> list[tuple[complex, Array]]:
    """Eigenvalues on the imaginary axis with eigenvectors x, in typical sizes, for which x^T Q x vanishes."""
    D, rate = linear.sizes, _rate(A)
    scale = np.concatenate([D, D * rate])
    if dual:
        scale = 1 / scale
    A = A * scale / scale[:, None] / rate
    Q = Q * scale * scale[:, None]
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    H = vectors[:, values > LOST**2 * max(float(values.max(initial=0.0)), 1e-300)].T
    found = []
    for s in _distinct(np.linalg.eigvals(A)):
        if s.real == 0:
            _, sigma, right = np.linalg.svd(np.vstack([A - s * np.eye(len(A)), H]))
            found += [(s * rate, x.conj()) for x, size in zip(right, sigma, strict=True) if size < LOST]
    return found


def _tested(
    linear: LinearModel, by: Array, by_rate: Array, *, rows: bool
) -> tuple[Array, Array, list[tuple[complex, Array, float]]]:
    """Distinct eigenvalues, margins, and what is lost: eigenvalue, vector and size. ``by`` has a column per input."""
    D = linear.sizes
    M, C, K = (D[:, None] * X * D for X in (linear.M, linear.C, linear.K))
    if not rows:
        M, C, K = M.T, C.T, K.T  # shapes are rows of the transposed problem
    values = _distinct(np.linalg.eigvals(linear.A))
    margins, lost = [], []
    norm = [float(np.linalg.norm(X, 2)) for X in (M, C, K)]
    for s in values:
        P = M * s**2 + C * s + K
        size = norm[0] * abs(s) ** 2 + norm[1] * abs(s) + norm[2] or 1.0
        G = by + s * by_rate
        scale = np.linalg.norm(G, axis=0)
        G = G[:, scale > 0] / scale[scale > 0] if G.size else np.zeros((len(P), 0))
        left, sigma, _ = np.linalg.svd(np.hstack([P / size, G]))
        full = np.zeros(len(P))
        full[: sigma.size] = sigma
        margins.append(float(full[-1]))
        count = int((full < LOST).sum())
        for k in range(len(P) - count, len(P)):
            lost.append((complex(s), left[:, k].conj(), float(full[k])))
    return values, np.array(margins), _tidied(lost)


def _distinct(values: Array) -> Array:
    """One of each group of equal eigenvalues, without conjugates; those that are zero up to rounding are zero."""
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    kept: list[complex] = []
    for s in sorted(values, key=lambda s: (abs(s.imag), -s.real)):
        s = complex(0.0 if abs(s.real) < 1e-9 * size else s.real, 0.0 if abs(s.imag) < 1e-9 * size else s.imag)
        s = 0j if abs(s) < 1e-6 * size else s  # double zeros spread by the root of the rounding
        if s.imag >= 0 and all(abs(s - other) > SAME * size for other in kept):
            kept.append(s)
    return np.array(kept, dtype=complex)


def _tidied(lost: list[tuple[complex, Array, float]]) -> list[tuple[complex, Array, float]]:
    """Vectors with their largest entry real and 1."""
    found = []
    for s, x, size in lost:
        x = x / x[int(np.argmax(np.abs(x)))]
        found.append((s, x, size))
    return found


def _in_words(
    linear: LinearModel, s: complex, x: Array, D: Array, size: float, *, seen: bool = True,
    end: str = "does not show in the outputs",
) -> list[Lost]:  # fmt: skip
    """What is lost, in words; ``x`` are coefficients of e/D (a combination) or entries of e/D (a shape)."""
    x = x / x[int(np.argmax(np.abs(x)))]
    x = np.where(np.abs(x) < NEGLIGIBLE, 0.0, x)
    if np.abs(np.imag(x)).max() < NEGLIGIBLE:
        x = np.real(x)
    own = x * D if seen else x / D
    own = own / own[int(np.argmax(np.abs(own)))]
    decays = bool(s.real < 0)
    course = _course(s, linear.at.layout.time_unit)
    names = linear.coordinates
    if seen:
        shape = ", ".join(f"{n} = {_factor(c)}" for n, c in zip(names, own, strict=True) if c != 0)
        still = [n for n, c in zip(names, own, strict=True) if c == 0]
        rest = f" ({', '.join(still)} at rest)" if still and len(still) <= 6 else ""
        text = f"the motion {shape} per unit{rest}, which {course}, {end}"
    else:
        text = f"{_combination(own, names)}, which {course}, cannot be influenced"
    return [Lost(s, own, text, decays, size)]


def _combination(own: Array, names: Sequence[str]) -> str:
    """A linear combination in words: the difference of two equal weights is named as such."""
    some = [(n, c) for n, c in zip(names, own, strict=True) if c != 0]
    if len(some) == 1:
        return some[0][0]
    if len(some) == 2 and abs(some[0][1] + some[1][1]) < NEGLIGIBLE:
        return f"the difference {some[0][0]} - {some[1][0]}"
    terms = []
    for n, c in some:
        sign = "-" if np.real(c) < 0 else "+"
        size = _factor(-c if np.real(c) < 0 else c)
        terms.append(f"{sign} {n}" if size == "1" else f"{sign} {size}*{n}")
    return "the combination " + " ".join(terms).removeprefix("+ ")


def _factor(c: complex) -> str:
    return f"{np.real(c):.4g}" if abs(np.imag(c)) < NEGLIGIBLE else f"({c:.4g})"


def _number(s: complex) -> str:
    return f"{s.real + 0.0:.4g}" if s.imag == 0 else f"{s.real + 0.0:.4g} +- {abs(s.imag):.4g}i"


def _course(s: complex, unit: str) -> str:
    """What a motion exp(s t) does."""
    if s == 0:
        return "drifts"
    turn = f" at {abs(s.imag):.4g} rad/{unit}" if s.imag else ""
    if s.real == 0:
        return f"vibrates{turn} forever"
    verb = "decays" if s.real < 0 else "grows"
    return f"{verb} by {abs(s.real):.4g}/{unit}" + (f" vibrating{turn}" if turn else "")
