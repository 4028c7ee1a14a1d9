"""Feedback laws of the nonlinear mechanism from gains of its linear model, as text for ``simulate(inputs=...)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis import refusals
from pendula.arguments import read_number, read_table
from pendula.errors import NotSupported, UsageError
from pendula.model.names import suggestion
from pendula.system.layout import Array

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel
    from pendula.system.system import System


def deviations(linear: LinearModel, reference: Mapping[str, float | str] | None = None) -> list[str]:
    """Text for every state (e, e') of a linear model: its deviation from the equilibrium, in names of the mechanism.

    The difference of a coordinate is taken as it is. That of an orientation is the sine of the angle about its axis
    (from the product of the two quaternions), which to first order is the rotation e, and is the same for q and -q.

    Args:
        reference: other values to be kept, by name: numbers, or expressions of t.

    Raises:
        NotSupported: the coordinates of the linear model are not those of the mechanism.
    """
    system = linear.system
    if system is None or linear.displacements:
        raise NotSupported(refusals.LAW_ALONE if system is None else refusals.LAW_SINGULAR)
    system.in_joints.refuse_others(refusals.LAW_OF_BODIES)
    wanted = dict(read_table(reference, "reference"))
    for name, value in wanted.items():
        if not isinstance(value, str):
            wanted[name] = read_number(value, f'the reference of "{name}"')
    names = (*linear.coordinates, *linear.speeds)
    for name in wanted:
        if name not in (*system.layout.coordinates, *system.layout.speeds):
            raise UsageError(f'reference: there is no "{name}"; {suggestion(name, names)}')
    found = []
    for coordinate, speed in zip(linear.coordinates, linear.speeds, strict=True):
        found.append(_coordinate(linear, system, coordinate, speed, wanted))
    for speed in linear.speeds:
        k = system.layout.speeds.index(speed)
        found.append(_minus(speed, wanted.get(speed, float(linear.at.v[k]))))
    return found


def _minus(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return f"({name} - ({value}))"
    return name if value == 0 else f"({name} - {_number(value)})"


def _number(value: float) -> str:
    return f"({value!r})" if value < 0 else repr(float(value))


def _coordinate(
    linear: LinearModel, system: System, coordinate: str, speed: str, wanted: Mapping[str, float | str]
) -> str:
    layout, at = system.layout, linear.at
    if coordinate in layout.coordinates and layout.speed_of[layout.coordinates.index(coordinate)] >= 0:
        k = layout.coordinates.index(coordinate)
        rest: float | str = wanted.get(coordinate, float(at.q[k]))
        rate = float(at.v[layout.speeds.index(speed)])
        if coordinate not in wanted and rate:
            rest = f"{float(at.q[k])!r} + {_number(rate)}*t"
        return _minus(coordinate, rest)
    # a small rotation ds about an axis: dq = N ds, so ds = N^+ (q - q0), and for a quaternion N^+ q0 = 0
    j = layout.speeds.index(speed)
    turning = next((o for o in layout.orientations if o.speed <= j < o.speed + 3), None)
    if turning is None or np.any(at.v[turning.v]):
        raise NotSupported(refusals.LAW_ROTATING, coordinate=coordinate)
    own = layout.coordinates[turning.q]
    if any(name in wanted for name in own):
        raise UsageError(f"a reference of the orientation {turning.joint} is not supported: linearize about it instead")
    row = np.linalg.pinv(linear.N[turning.q, turning.v])[j - turning.speed]
    if turning.chart.count == 4:
        turned = _sum(row, own)
        same = _sum(at.q[turning.q], own)
        return f"({same})*({turned})"
    parts = [_minus(name, float(at.q[turning.at + i])) for i, name in enumerate(own)]
    return f"({_sum(row, parts)})"


def _sum(factors: Array, names: list[str] | tuple[str, ...]) -> str:
    size = float(np.abs(factors).max(initial=0.0))
    terms = [f"{_number(float(x))}*{n}" for x, n in zip(factors, names, strict=True) if abs(x) > 1e-14 * size]
    return " + ".join(terms) or "0"


def law_texts(
    linear: LinearModel, K: Array, reference: Mapping[str, float | str] | None, limits: Any
) -> dict[str, str]:
    """u = u0 - K (x - x0) as text for every input, with limits."""
    texts = deviations(linear, reference)
    bounds = read_limits(limits, linear.inputs)
    found = {}
    for i, name in enumerate(linear.inputs):
        rest = float(linear.at.inputs[i])
        terms = [f" - {_number(float(k))}*{x}" for k, x in zip(K[i], texts, strict=True) if k]
        text = (repr(rest) if rest else "0") + "".join(terms)
        if name in bounds:
            low, high = bounds[name]
            text = f"min(max({text}, {_number(low)}), {_number(high)})"
        found[name] = text
    return found


def read_limits(limits: Any, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Limits of inputs by name: (low, high), from a number (plus and minus), a pair, or these by name."""
    if limits is None:
        return {}
    by_name = dict(limits) if isinstance(limits, Mapping) else dict.fromkeys(names, limits)
    found = {}
    for name, value in by_name.items():
        if name not in names:
            raise UsageError(f'limits: there is no input "{name}"; {suggestion(name, names)}')
        try:
            low, high = (-abs(value), abs(value)) if np.ndim(value) == 0 else value
            pair = float(low), float(high)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f'the limits of "{name}" are a number or (low, high), found {value!r}') from None
        if not (np.isfinite(pair).all() and pair[0] < pair[1]):
            raise UsageError(f'the limits of "{name}" must increase, found {value!r}')
        found[name] = pair
    return found
