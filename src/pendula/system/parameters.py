"""Parameters of a system as an array, and typical lengths of the mechanism for given parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from pendula.arguments import available, read_numbers
from pendula.errors import UsageError
from pendula.model.expressions.expression import parse
from pendula.system.layout import Array

if TYPE_CHECKING:
    from pendula.system.system import System

Parameters = Mapping[str, float] | Sequence[float] | Array | None
"""Changes by name, all values in the order of the layout, or None for the model's values."""

_LENGTHS: WeakKeyDictionary[System, tuple[bytes, float]] = WeakKeyDictionary()


def parameter_vector(system: System, parameters: Parameters = None) -> Array:
    """Parameters as an array: all defaults, changes by name (dependent parameters follow), or the given array."""
    if parameters is None:
        return system.parameters
    if type(parameters) is not np.ndarray and isinstance(parameters, Mapping):
        values = system.model.parameters_with(parameters)  # rejects values that make no mechanical sense
        return np.array([values[name] for name in system.layout.parameters], dtype=float)
    vector = np.ascontiguousarray(read_numbers(parameters, "parameters"))
    if vector.shape != system.parameters.shape:
        raise UsageError(
            f"parameters: expected {system.parameters.size} values in the order of the layout, got {vector.shape}"
        )
    if not np.isfinite(vector).all():
        name = system.layout.parameters[int(np.flatnonzero(~np.isfinite(vector))[0])]
        raise UsageError(f'parameter "{name}" is not finite')
    return vector


def read_parameter(system: System, name: str) -> str:
    """The name of a parameter.

    Raises:
        UsageError: there is no such parameter.
    """
    if name not in system.layout.parameters:
        raise UsageError(f'there is no parameter "{name}"; {available(system.layout.parameters)}')
    return name


def named_changes(system: System, parameters: Parameters) -> dict[str, float]:
    """Parameters as changes by name, to which others can be added; dependent parameters follow unless all are given."""
    if parameters is None or isinstance(parameters, Mapping):
        return dict(parameters or {})
    return system.layout.parameter_values(parameter_vector(system, parameters))


def typical_length(system: System, parameters: Parameters = None) -> float:
    """A typical length of the mechanism, to which gaps in loops are compared; cached for the last parameters."""
    vector = parameter_vector(system, parameters)
    key = vector.tobytes()
    known = _LENGTHS.get(system)
    if known is None or known[0] != key:
        known = _LENGTHS[system] = key, _find_length(system, vector)
    return known[1]


def _find_length(system: System, vector: Array) -> float:
    values = system.layout.parameter_values(vector)
    points = {p for body in system.model.bodies for p in body.named_points().values()}
    points |= {s.position for j in system.model.joints for s in (j.parent, j.child) if s.position is not None}
    scalars = [parse(x) for x in {x for p in points for x in p}]
    found = max((abs(e.evaluate(values)) for e in scalars if "t" not in e.names), default=0.0)
    return found if 0.0 < found < np.inf else 1.0


def typical_steps(system: System, parameters: Parameters = None) -> Array:
    """A typical change along every speed: one radian for angles, the typical length for all others."""
    angles = [kind == "angle" for kind in system.layout.speed_kinds]
    return np.where(angles, 1.0, typical_length(system, parameters))
