"""When prescribed motions, inputs and loads switch, and whether they do it without a jump."""

from __future__ import annotations

from typing import Any

import symengine as se

from pendula.equations.tape import is_zero
from pendula.equations.translate import jumps
from pendula.errors import UsageError
from pendula.model.usage import scalars
from pendula.system.layout import Array
from pendula.system.system import System

_JUMP = 1e-9  # a prescribed motion may jump by this much (relative) before it is refused


def can_switch(system: System) -> bool:
    """Whether a prescribed motion, an input or a load may switch at some time, whatever the parameters."""
    if any(drive.jumps for drive in system.drives):
        return True
    names = {name: se.Symbol(name) for name in system.layout.parameters}
    found = scalars([*system.model.forces, *system.model.inputs.values()], "")
    return any(jumps(e, {n: names[n] for n in e.names if n in names}) for _, e in found)


def breakpoints(system: System, vector: Array, span: tuple[float, float]) -> list[float]:
    """Times at which a prescribed motion, an input or a load switches; refuses motions that jump there.

    Raises:
        UsageError: a prescribed position or rate jumps, which would need an infinite force.
    """
    values = dict(zip(system.layout.parameters, vector.tolist(), strict=True))
    low, high = min(span), max(span)
    times: set[float] = set()
    for drive in system.drives:
        for expression in drive.jumps:
            at = float(se.sympify(expression).subs(values))
            if low < at < high:
                times.add(at)
                _refuse_jump(drive, at, values, system)
    names = {name: se.Symbol(name) for name in system.layout.parameters}
    for _, expression in scalars([*system.model.forces, *system.model.inputs.values()], ""):
        for switch in jumps(expression, {n: names[n] for n in expression.names if n in names}):
            at = float(se.sympify(switch).subs(values))
            if low < at < high:
                times.add(at)
    return sorted(times)


def _refuse_jump(drive: Any, at: float, values: dict[str, float], system: System) -> None:
    t = se.Symbol("t")
    h = 1e-9 * max(1.0, abs(at))
    position = se.sympify(drive.value)
    for what, expression in (("position", position), ("rate", position.diff(t))):
        before, after = (float(expression.subs(values | {"t": at + s})) for s in (-h, h))
        slope = abs(float(expression.diff(t).subs(values | {"t": at - h}))) + abs(
            float(expression.diff(t).subs(values | {"t": at + h}))
        )
        allowed = 2 * h * slope + _JUMP * (1.0 + abs(before))
        if abs(after - before) > allowed:
            raise UsageError(
                f'the prescribed {what} of "{drive.name}" jumps from {before:.6g} to {after:.6g} at t = {at:.6g}, '
                "which needs an infinite force.\n  Try: pieces that meet in value and in slope."
            )


def constant_rates(system: System) -> bool:
    """Whether every prescribed motion has a constant rate."""
    t = se.Symbol("t")
    return all(se.sympify(d.value).diff(t).diff(t) == 0 for d in system.drives)


def moves_constraints(system: System) -> bool:
    """Whether a prescribed motion moves a closing joint, so that constraint forces do work."""
    return any(not is_zero(x) for row in system.equations.drive_G for x in row)
