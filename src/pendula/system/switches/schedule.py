"""Times at which prescribed motions, inputs and loads switch; prescribed motions must not jump."""

from __future__ import annotations

from typing import Any

import numpy as np
import symengine as se

from pendula.equations.tape import is_zero
from pendula.errors import UsageError
from pendula.system.layout import Array
from pendula.system.switches.in_time import loads_in_time, longest_step, may_switch, motions_in_time, switch_times
from pendula.system.system import System

_JUMP = 1e-9  # a prescribed motion is rejected if it jumps by more than this (relative)


def can_switch(system: System) -> bool:
    """Whether a prescribed motion, an input or a load may switch at some time, for any parameters."""
    if any(drive.jumps for drive in system.drives):
        return True
    known = frozenset(system.layout.parameters)
    return any(may_switch(e, known) for e in loads_in_time(system.model))


def breakpoints(system: System, vector: Array, span: tuple[float, float]) -> list[float]:
    """Times at which a prescribed motion, an input or a load switches; rejects motions that jump there.

    Raises:
        UsageError: a prescribed position or rate jumps, which would need an infinite force.
    """
    values = system.layout.parameter_values(vector)
    low, high = min(span), max(span)
    times: set[float] = set()
    for drive in system.drives:
        for expression in drive.jumps:
            at = float(se.sympify(expression).subs(values))
            if low < at < high:
                times.add(at)
                _refuse_jump(drive, at, values, system)
    if low < high:
        times.update(switch_times(loads_in_time(system.model), values, (low, high)))
    return _inside(times, low, high)


def _inside(times: set[float], low: float, high: float) -> list[float]:
    """Sorted times strictly between ``low`` and ``high``, without those that differ only by rounding."""
    least = 16 * float(np.spacing(max(abs(low), abs(high))))
    kept = [low]
    for at in sorted(times):
        if at - kept[-1] > least and high - at > least:
            kept.append(at)
    return kept[1:]


def moves_by_time(system: System) -> bool:
    """Whether a motion or an input is prescribed as a function of time."""
    return bool(system.drives or system.inputs.in_time or system.inputs.over_time)


def moves_by_itself(system: System) -> bool:
    """Whether a load, an input or a prescribed motion depends on time."""
    return bool(loads_in_time(system.model) or motions_in_time(system.model))


def largest_step(system: System, vector: Array, span: tuple[float, float], breaks: list[float]) -> float:
    """The longest step that cannot miss a change with time alone; infinite if nothing changes that quickly.

    Args:
        breaks: times at which something switches.
    """
    expressions = [*loads_in_time(system.model), *motions_in_time(system.model)] if span[0] != span[1] else []
    if not expressions:
        return float(np.inf)
    values = system.layout.parameter_values(vector)
    return longest_step(expressions, values, (min(span), max(span)), breaks)


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
