"""Explicit dependence of a mechanism on time, and its period."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from pendula.errors import UsageError
from pendula.model.checks.references import sides
from pendula.model.checks.usage import scalars
from pendula.model.expressions.expression import Expression
from pendula.model.expressions.nodes import Call, post_order
from pendula.model.model import Model
from pendula.model.names import ExpressionError
from pendula.system.layout import Array
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System

PERIODIC = 1e-9
"""largest relative difference of forces one period apart"""
MULTIPLES = 24
"""a common period may span this many periods of one sine or cosine"""
_WAVES = ("sin", "cos", "tan")
_ODD = (0.7331, 1.9173)
"""times that are hardly a period of anything"""
_TIMED: WeakKeyDictionary[System, bool] = WeakKeyDictionary()


def depends_on_time(system: System) -> bool:
    """Whether any expression of the model contains t: a prescribed motion, a point, an input or a load.

    Equations that others wrote are asked themselves.
    """
    if system not in _TIMED:
        written = bool(system.written) and any(period_error(system, x, system.parameters) > 0.0 for x in _ODD)
        _TIMED[system] = written if system.written else any(True for _ in _timed(system.model))
    return _TIMED[system]


def symbolic(system: System) -> System:
    """The same system with compiled symbolic equations, since the recursion has no variational equations."""
    return system if system.engine == "symbolic" else SymbolicSystem(system.equations)


def find_period(system: System, parameters: Array) -> float:
    """The period of everything that depends on time.

    Candidates come from the angular frequencies in sines and cosines of t, and from motions at a constant rate. The
    period is the smallest candidate after which all forces, masses and rates repeat.

    Raises:
        UsageError: nothing depends on time, or no period was found.
    """
    rates = _rates(system, parameters)
    if not rates:
        what = "has no sine or cosine of time" if depends_on_time(system) else "does not depend on time"
        raise UsageError(
            f"the period cannot be found: the mechanism {what}.\n  Try: period=..., the period of the motion itself."
        )
    factors = (0.5, *range(1, MULTIPLES + 1))
    for period in sorted({2 * np.pi / rate * k for rate in rates for k in factors}):
        if period_error(system, period, parameters) <= PERIODIC:
            return float(period)
    found = ", ".join(f"{rate:.6g}" for rate in rates[:6])
    raise UsageError(
        f"no common period was found for the rates {found} rad/{system.layout.time_unit}.\n"
        "  Try: period=..., or rates in a simple ratio."
    )


def period_error(system: System, period: float, parameters: Array) -> float:
    """Largest relative difference of forces, masses and rates one period apart, at random states and times."""
    rng = np.random.default_rng(3)
    nq, nv, count = len(system.layout.coordinates), len(system.layout.speeds), 12
    q, v = rng.uniform(-1.5, 1.5, (count, nq)), rng.uniform(-1.0, 1.0, (count, nv))
    for at, _ in system.balls:
        q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1)[:, None]
    t = period * rng.uniform(0.0, 1.0, count)
    q, v, t = np.concatenate([q, q]), np.concatenate([v, v]), np.concatenate([t, t + period])
    looks = [look(q, v, t, parameters=parameters) for look in (system.forces, system.rates)]
    looks.append(system.mass_matrix(q, t, parameters=parameters))
    if system.loop_rows:
        looks += system.gaps(q, v, t, parameters=parameters)
    return max(_difference(*np.split(found, 2)) for found in looks)


def _difference(now: Array, later: Array) -> float:
    size = float(np.abs(now).max(initial=0.0))
    return float(np.abs(later - now).max(initial=0.0)) / size if size > 0 else 0.0


def _timed(model: Model) -> Iterator[Expression]:
    """Every expression of the model that contains t."""
    for element in (*model.joints, *model.forces):
        places = [side.position for _, side in sides(element)]
        for value in (element, *places):
            yield from (e for _, e in scalars(value, "") if "t" in e.names)
    yield from (e for _, e in scalars(model.inputs, "") if "t" in e.names)


def _rates(system: System, parameters: Array) -> list[float]:
    """Constant rates of the arguments of sines and cosines, and of motions linear in time."""
    values = system.layout.parameter_values(parameters)
    parts = _timed_parts(system.model)
    rates = (_rate(part, tuple((n, values[n]) for n in sorted(part.names & values.keys()))) for part in parts)
    return sorted({rate for rate in rates if rate})


@lru_cache(maxsize=32)
def _timed_parts(model: Model) -> tuple[Expression, ...]:
    """Expressions that contain t, and the arguments of sines and cosines in them."""
    found: list[Expression] = []
    for expression in _timed(model):
        parts = [n.args[0] for n in post_order(expression.root) if isinstance(n, Call) and n.function in _WAVES]
        found += [Expression.from_node(part) for part in (expression.root, *parts)]
    return tuple(found)


@lru_cache(maxsize=256)
def _rate(expression: Expression, known: tuple[tuple[str, float], ...]) -> float | None:
    """Absolute value of d/dt of an expression that is linear in t, for its parameters by name; None for others."""
    if "t" not in expression.names:
        return None
    values = dict(known)
    states = {name: 0.37 for name in expression.names if name not in values}
    try:
        a, b, c = (expression.evaluate(values | states | {"t": t}) for t in (0.0, 1.0, 3.0))
    except ExpressionError:
        return None
    rate = b - a
    linear = abs(c - a - 3 * rate) <= 1e-9 * max(abs(rate), abs(a), 1e-300)
    return abs(rate) if linear and rate else None
