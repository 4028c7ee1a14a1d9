"""Frequencies at which a loop has magnitude 1, or is real and negative: exact, as eigenvalues of a pencil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pendula.analysis.control.space import StateSpace
from pendula.system.layout import Array

NEAR = 1e-4
"""an eigenvalue this near to the axis (or the unit circle), relative, is tried as a crossing"""
SAME = 1e-9
"""two crossings this near are one, and values this near 1 or the real axis lie there"""
PER_DECADE = 100


@dataclass
class Crossings:
    """Crossings of a loop L, with one input and one output.

    Attributes:
        phase_at: frequencies at which L < 0, with zero and the highest frequency [rad/time].
        critical_gains: -1/L there.
        gain_at: frequencies at which |L| = 1 [rad/time].
        lags: phase of L from -180 degrees there, 0 to 360 [deg].
        grid: frequencies around all poles, zeros and crossings, for searches.
        ends: L at zero frequency and at the highest one, where it is finite.
    """

    dt: float | None
    phase_at: Array = field(default_factory=lambda: np.zeros(0))
    critical_gains: Array = field(default_factory=lambda: np.zeros(0))
    gain_at: Array = field(default_factory=lambda: np.zeros(0))
    lags: Array = field(default_factory=lambda: np.zeros(0))
    grid: Array = field(default_factory=lambda: np.ones(1))
    ends: list[tuple[float, float]] = field(default_factory=list)

    def point(self, omega: float) -> complex:
        """The complex frequency, s or z."""
        return 1j * omega if self.dt is None else complex(np.exp(1j * omega * self.dt))


def crossings_of(space: StateSpace) -> Crossings:
    """All crossings of a minimal loop.

    Example:
        >>> import numpy as np
        >>> one = np.ones((1, 1))
        >>> lag = StateSpace(-one, 2 * one, one, 0 * one, ("x",), ("u",), ("y",), {})  # 2/(s + 1)
        >>> crossings_of(lag).gain_at.round(12), crossings_of(lag).lags.round(9)
        (array([1.73205081]), array([120.]))
    """
    found = Crossings(space.dt)
    sizes = _sizes(space)
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)

    def value(omega: float) -> complex:
        return complex(space.response(found.point(omega))[0, 0])

    top = np.inf if space.dt is None else np.pi / space.dt
    found.ends = _ends(space, top)
    real = all(
        abs(value(x).imag) <= 1e-12 * abs(value(x)) for x in np.geomspace(low / 3, min(high * 3, top), 7) * 0.987
    )
    flat = all(abs(abs(value(x)) - 1) <= 1e-12 for x in np.geomspace(low / 3, min(high * 3, top), 7) * 0.987)
    phase = [] if real else _on_axis(space, _odd_pencil(space), lambda x: value(x).imag / abs(value(x)), low)
    gains = [] if flat else _on_axis(space, _product_pencil(space), lambda x: float(np.log(abs(value(x)))), low)
    critical = [(x, value(x).real) for x in phase if value(x).real < 0] + [e for e in found.ends if e[1] < 0]
    critical.sort()
    found.phase_at = np.array([x for x, _ in critical])
    found.critical_gains = np.array([-1 / v for _, v in critical])
    found.gain_at = np.array(gains)
    found.lags = np.array([np.degrees(np.angle(value(x)) + np.pi) % 360.0 for x in gains])
    marks = np.concatenate([sizes, [x for x in found.phase_at if 0 < x < np.inf], found.gain_at])
    low, high = (float(marks.min()), float(marks.max())) if marks.size else (1.0, 1.0)
    low, high = low / 30, min(high * 30, top)
    found.grid = np.geomspace(low, high, int(PER_DECADE * np.log10(high / low)) + 2)
    return found


def _sizes(space: StateSpace) -> Array:
    """Magnitudes of poles and zeros, those at zero left out; frequencies in discrete time."""
    from pendula.analysis.control.responses import zeros_of

    points = np.concatenate([space.poles, zeros_of(space)]).astype(complex)
    if space.dt is not None:
        points = np.log(points[np.abs(points) > 1e-12]) / space.dt
    sizes = np.abs(points)
    return np.asarray(sizes[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)])


def _ends(space: StateSpace, top: float) -> list[tuple[float, float]]:
    """L at zero frequency and at the highest one, each real, unless a pole is there."""
    found = []
    n, size = len(space.A), max(float(np.linalg.norm(space.A, 2)) if len(space.A) else 0.0, 1e-300)
    for omega, point in ((0.0, 0.0 if space.dt is None else 1.0), (top, None if space.dt is None else -1.0)):
        if point is None:
            found.append((omega, float(space.D[0, 0])))
            continue
        left = point * np.eye(n) - space.A
        if not n or np.linalg.svd(left, compute_uv=False)[-1] > 1e-9 * size:
            found.append((omega, float((space.C @ np.linalg.solve(left, space.B) + space.D)[0, 0])))
    return found


Pencil = tuple[Array, Array]
"""P and Q: the numbers s with det(P - s Q) = 0 are wanted"""


def _pencil(space: StateSpace, last: tuple[Array, Array, float], second_by_first: bool) -> Pencil:
    """Rows for x1 of L(s), driven by u, and x2 of its mirror, driven by u or by y1; and one last row."""
    A, B, C, D = space.A, space.B, space.C, space.D
    n, eye = len(A), np.eye(len(A))
    P, Q = np.zeros((2 * n + 1, 2 * n + 1)), np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n], P[:n, 2 * n :], Q[:n, :n] = A, B, eye
    drive = np.hstack([B @ C, np.zeros((n, n)), B @ D]) if second_by_first else np.hstack([np.zeros((n, 2 * n)), B])
    own = slice(n, 2 * n)
    if space.dt is None:  # -s x2 = A x2 + drive
        P[own], Q[own, own] = drive, -eye
        P[own, own] += A
    else:  # x2 = z (A x2 + drive)
        P[own, own], Q[own] = eye, drive
        Q[own, own] += A
    P[2 * n, :n], P[2 * n, own], P[2 * n, 2 * n] = last
    return P, Q


def _odd_pencil(space: StateSpace) -> Pencil:
    """L(s) - L(-s) = 0: where L is real."""
    return _pencil(space, (space.C[0], -space.C[0], 0.0), second_by_first=False)


def _product_pencil(space: StateSpace) -> Pencil:
    """L(s) L(-s) = 1: where |L| = 1."""
    d = float(space.D[0, 0])
    return _pencil(space, (d * space.C[0], space.C[0], d * d - 1.0), second_by_first=True)


def _on_axis(space: StateSpace, pencil: Pencil, gap: Callable[[float], float], slowest: float) -> list[float]:
    """Frequencies at which ``gap`` is zero: eigenvalues of the pencil on the axis, each improved by bisection."""
    from scipy.linalg import eigvals  # slow to load
    from scipy.optimize import brentq

    with np.errstate(all="ignore"):
        points = eigvals(*pencil)
    points = points[np.isfinite(points)]
    if space.dt is not None:
        points = np.log(points[np.abs(points) > 1e-12]) / space.dt
    found: list[float] = []
    for s in sorted(points, key=lambda s: abs(s.imag)):
        omega = float(s.imag)
        if omega <= 1e-6 * slowest or abs(s.real) > NEAR * abs(s):
            continue
        if space.dt is not None and omega > (1 - 1e-7) * np.pi / space.dt:
            continue
        for width in (1e-8, 1e-6, NEAR):
            low, high = omega * (1 - width), omega * (1 + width)
            if (gap(low) < 0) != (gap(high) < 0):
                omega = float(brentq(gap, low, high, xtol=1e-15 * omega, rtol=1e-14))
                break
        if abs(gap(omega)) < SAME and not any(abs(omega - x) < SAME * omega for x in found):
            found.append(omega)
    return sorted(found)
