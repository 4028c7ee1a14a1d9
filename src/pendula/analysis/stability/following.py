"""One equilibrium followed while a parameter changes: Newton's method, other equilibria nearby, margins of stability.

A margin is a smooth function of the eigenvalues that vanishes where one of them crosses the imaginary axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium, closed_state, equilibrium_at
from pendula.analysis.linear.linearize import Point, displaced, independent_directions, linearize
from pendula.analysis.linear.terms import Terms, terms_at
from pendula.errors import NotAnEquilibrium, NotSupported, PendulaError, UsageError
from pendula.system.layout import Array, State
from pendula.system.parameters import typical_length
from pendula.system.system import System


def follow(system: System, start: State, inputs: Any, parameters: Array) -> Equilibrium | None:
    """The equilibrium nearest to a state, by Newton's method; None if there is none nearby."""
    q, _ = _newton(system, start, inputs, parameters)
    if q is None:
        return None
    try:
        return equilibrium_at(system, State(0.0, q, start.v, system.layout), inputs=inputs, parameters=parameters)
    except (NotAnEquilibrium, NotSupported, UsageError):
        return None


def state_near(system: System, at: Point, parameters: Array) -> State:
    """The state at which a search for the equilibrium that an argument denotes begins."""
    if isinstance(at, Equilibrium):
        return at.state
    return at if isinstance(at, State) else closed_state(system, at, parameters)


def _newton(system: System, start: State, inputs: Any, parameters: Array) -> tuple[Array | None, float]:
    """The pose that Newton's method reaches from a state (None if it goes far), and the size of its last step."""
    u = system.inputs.at(0.0, parameters) if inputs is None else system.inputs.rows(np.array(0.0), inputs, parameters)
    q, v = np.array(start.q, dtype=float), np.array(start.v, dtype=float)
    lam, last = np.zeros(system.loop_rows), 0.0
    for _ in range(30):
        terms, lam = _balanced(system, q, v, u, lam, parameters)
        here = _as_equilibrium(system, q, v, u, lam, parameters)
        try:
            Z = independent_directions(system, terms.G, parameters)[0] if system.loop_rows else np.eye(len(v))
            step = np.linalg.lstsq(Z.T @ terms.K @ Z, Z.T @ terms.left, rcond=1e-12)[0]
            last = float(np.abs(step).max())
            if np.abs(Z.T @ terms.left).max() == 0 or last < 1e-15:
                break
            if last > 1.0:
                return None, last
            q = displaced(system, here, Z, step, 0.0 * step)[0]
        except (PendulaError, np.linalg.LinAlgError):
            return None, last
    return q, last


def _balanced(system: System, q: Array, v: Array, u: Array, lam: Array, parameters: Array) -> tuple[Terms, Array]:
    """Terms with the multipliers of least-squares residual force."""
    terms = terms_at(system, q, v, u, lam, parameters)
    if len(lam):
        lam = lam + np.linalg.lstsq(terms.G.T, -terms.left, rcond=None)[0]
        terms = terms_at(system, q, v, u, lam, parameters)
    return terms, lam


def _as_equilibrium(system: System, q: Array, v: Array, u: Array, lam: Array, parameters: Array) -> Equilibrium:
    return Equilibrium("trial", q, v, u, parameters, lam, BALANCED, 0.0, None, (), 1.0, system.layout, system=system)


# --- other equilibria ---------------------------------------------------------------------------------------


def meets(at: Callable[[float], Equilibrium | None], inputs: Any, value: float, width: float) -> bool:
    """Whether another equilibrium comes closer and closer as the parameter approaches a value, from either side."""
    for side in (-1, 1):
        points = [at(value + side * part * width) for part in (1e-2, 1e-3)]
        gaps = np.array([_gaps(point, inputs) for point in points if point is not None])
        if len(gaps) == 2 and (np.isfinite(gaps).all(axis=0) & (gaps[1] < 0.8 * gaps[0])).any():
            return True
    return False


def _gaps(point: Equilibrium, inputs: Any) -> list[float]:
    """Distances to the nearest other equilibrium along the three directions of least stiffness; inf if none."""
    system = point.system
    assert system is not None
    model = linearize(system, point)
    size, directions = np.linalg.eigh(model.conservative)
    gaps = []
    for k in np.argsort(np.abs(size))[:3]:
        found = [np.inf]
        for part in np.geomspace(1e-4, 0.5, 12) * typical_length(system, point.parameters):
            for e in (part * directions[:, k], -part * directions[:, k]):
                q = displaced(system, point, model.Z, e, 0.0 * e)[0]
                other, last = _newton(system, State(0.0, q, point.v, system.layout), inputs, point.parameters)
                gap = 0.0 if other is None or last > 1e-9 * part else float(np.abs(other - point.q).max())
                if gap > 0.1 * part:
                    found.append(gap)
        gaps.append(min(found))
    return gaps


# --- margins ------------------------------------------------------------------------------------------------


def through_zero(s: Array, undamped: bool) -> float:
    """Product of the roots: changes sign where a real root passes zero."""
    return float(np.prod(s).real) if s.size else np.nan


def through_axis(s: Array, undamped: bool) -> float:
    """Product of the sums of all pairs (Orlando's formula): changes sign where a pair crosses the imaginary axis.

    Not a number without damping, where it vanishes.
    """
    i, j = np.triu_indices(len(s), 1)
    sizes = np.abs(s[i]) + np.abs(s[j])
    if undamped or not i.size or not sizes.all():
        return np.nan
    product = float(np.prod((s[i] + s[j]) / sizes).real)
    return product if abs(product) > 1e-13 else np.nan


def off_axis(s: Array, undamped: bool) -> float:
    """Discriminant of the squares of roots +s and -s: changes sign where two pairs meet on the axis and leave it."""
    if undamped or np.isfinite(through_axis(s, undamped)):
        return np.nan
    square = s[(s.imag > 0) | ((s.imag == 0) & (s.real > 0))] ** 2  # one of each pair
    i, j = np.triu_indices(len(square), 1)
    return float(np.prod((square[i] - square[j]) ** 2).real) if i.size else np.nan
