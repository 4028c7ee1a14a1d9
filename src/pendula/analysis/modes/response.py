"""Free response of a linear model by modal superposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.modes.eigenmodes import DECAY, RIGID, UNSTABLE, all_names
from pendula.analysis.modes.modes import Modes, modes, values_of
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.words import readable

FAITHFUL = 1e8
"""condition number of the eigenvectors up to which modes are superposed; above it, the matrix exponential is used"""


@readable
@dataclass(frozen=True)
class FreeResponse:
    """Free response of a linear model.

    Attributes:
        t: times, shape (k,).
        e, v: changes of the independent coordinates and speeds, shape (k, n).
        q: changes of all coordinates of the system, shape (k, coordinates): N Z e.
        parts: contribution of every mode to e, shape (modes, k, n); empty if modes cannot be separated.
        modes: the damped modes.
        method: ``modes`` or ``matrix exponential`` (fewer shapes than roots, or nearly so).
        linear: the linear model.

    Example:
        >>> import pendula
        >>> found = pendula.linear.free_response("pendulum", {"theta": 0.01}, t=[0.0, 0.1], at={"theta": 0})
        >>> found["theta"].round(5).tolist()
        [0.01, 0.00927]
    """

    t: Array
    e: Array
    v: Array
    q: Array
    parts: Array
    modes: Modes
    method: str
    linear: LinearModel

    def __getitem__(self, name: str) -> Array:
        """Change of a coordinate or speed over time, by name."""
        for names, values in (
            (self.linear.coordinates, self.e),
            (self.linear.speeds, self.v),
            (all_names(self.linear), self.q),
        ):
            if name in names:
                return values[:, names.index(name)]
        raise UsageError(f'there is no coordinate or speed "{name}"; {available(self.linear.coordinates)}')

    def __str__(self) -> str:
        unit = self.linear.at.layout.time_unit
        most = np.abs(self.e).max(axis=0)
        pairs = zip(self.linear.coordinates, most.tolist(), strict=True)
        listed = [f"{n} {x:.4g} {self.linear.units.get(n, '')}".rstrip() for n, x in pairs]
        return f"free motion from t = {self.t[0]:.6g} to {self.t[-1]:.6g} {unit}, at most {', '.join(listed[:6])}"


def free_response(
    linear: LinearModel | AnySystem,
    e0: Mapping[str, float] | Sequence[float] | Array,
    v0: Mapping[str, float] | Sequence[float] | Array | None = None,
    t: Sequence[float] | Array | float = 10.0,
    *,
    at: Any = None,
    inputs: Mapping[str, float] | None = None,
    parameters: Parameters = None,
) -> FreeResponse:
    """Free response of a linear model to an initial displacement and velocity, by modal superposition.

    It is exact for the linear model, damping included. If there are fewer shapes than roots (as for a critically damped
    mode), modes do not span all motions, and the matrix exponential is used instead.

    Args:
        linear: a linear model; a system, a model or the name of a library mechanism is linearized at ``at``.
        e0, v0: initial changes of the independent coordinates and of their speeds, by name or as arrays.
        t: times, or the end of 201 evenly spaced times from 0.
        at, inputs, parameters: for a system, as for ``linearize``.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> found = free_response(system, {"theta1": 0.01}, t=[0.0, 0.1], at={"theta1": 0.0, "theta2": 0.0})
        >>> found["theta1"].round(4)
        array([ 0.01  , -0.0036])
    """
    model = linear_of(linear, "free_response", at, inputs, parameters)
    e = values_of(model, e0, "e")
    v = np.zeros_like(e) if v0 is None else values_of(model, v0, "v")
    times = times_of(t)
    found = modes(model, damped=True)
    if found.orthogonality is not None:
        parts, rates = _undamped(found, e, v, times)
        method = "modes"
    else:
        parts, rates, method = _with_phases(found, e, v, times)
    values, speeds = parts.sum(axis=0), rates.sum(axis=0)
    q = values @ (model.N @ model.Z).T
    kept = parts if method == "modes" else np.zeros((0, *values.shape))
    return FreeResponse(times, values, speeds, q, kept, found, method, model)


def times_of(t: Any) -> Array:
    """Times from a sequence, or 201 evenly spaced ones up to a last time."""
    times = np.linspace(0.0, float(t), 201) if np.ndim(t) == 0 else np.asarray(t, dtype=float)
    if times.ndim != 1 or not times.size or not np.all(np.isfinite(times)):
        raise UsageError(f"t must be a sequence of finite times, or the last time, found {t!r}")
    return times


def _undamped(found: Modes, e: Array, v: Array, t: Array) -> tuple[Array, Array]:
    """Contributions of the modes: cosine and sine, a drift, or cosh and sinh."""
    weight = found.linear.M @ found.shapes
    parts, rates = [], []
    for mode, at, rate in zip(found.modes, e @ weight, v @ weight, strict=True):
        s = abs(mode.eigenvalue)
        if mode.kind == RIGID:
            eta, etadot = at + rate * t, np.full(t.shape, rate)
        elif mode.kind == UNSTABLE:
            c, d = np.cosh(s * t), np.sinh(s * t)
            eta, etadot = at * c + rate / s * d, at * s * d + rate * c
        else:
            c, d = np.cos(s * t), np.sin(s * t)
            eta, etadot = at * c + rate / s * d, -at * s * d + rate * c
        parts.append(np.outer(eta, mode.shape))
        rates.append(np.outer(etadot, mode.shape))
    return np.array(parts), np.array(rates)


def _with_phases(found: Modes, e: Array, v: Array, t: Array) -> tuple[Array, Array, str]:
    """Contributions of the modes of (s^2 M + s C + K) e = 0; the matrix exponential if they do not span all motions."""
    A = found.linear.A
    n = len(A) // 2
    # Speeds divided by a typical rate, so that displacements and speeds have comparable size.
    rate = max(float(np.abs(np.linalg.eigvals(A)).max()), 1e-300)
    scale = np.concatenate([np.ones(n), np.full(n, 1 / rate)])
    start = np.concatenate([e, v]) * scale
    scaled = (A * scale[:, None]) / scale
    pairs = [(m.eigenvalue, m.shape, k) for k, m in enumerate(found.modes)]
    pairs += [(np.conj(s), np.conj(x), k) for s, x, k in pairs if found.modes[k].kind not in (RIGID, UNSTABLE, DECAY)]
    if len(pairs) == 2 * n and not any(m.defective for m in found.modes):
        roots = np.array([s for s, _, _ in pairs])
        vectors = np.array([np.concatenate([x, s * x]) for s, x, _ in pairs]).T * scale[:, None]
        vectors = vectors / np.linalg.norm(vectors, axis=0)
        if np.linalg.cond(vectors) < FAITHFUL:
            amounts = np.linalg.solve(vectors, start)
            each = np.exp(np.outer(t, roots)) * amounts
            states = (each[:, None, :] * vectors / scale[:, None]).transpose(2, 0, 1)
            parts = np.zeros((len(found), t.size, 2 * n))
            for (_, _, k), part in zip(pairs, states, strict=True):
                parts[k] += part.real
            return parts[..., :n], parts[..., n:], "modes"
    from scipy import linalg  # slow to load

    states = (linalg.expm(scaled * t[:, None, None]) @ start) / scale
    return states[None, :, :n], states[None, :, n:], "matrix exponential"
