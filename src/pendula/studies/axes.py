"""What varies in a study: axes of a grid and random quantities, by name.

A name is a parameter, an initial coordinate or speed, an input, or a setting of the computation (``stepper``, ``tol``).
Each has values, an evenly spaced range, or a distribution to draw from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.checks.parameter_units import input_units, parameter_units
from pendula.model.names import suggestion
from pendula.model.quantities import number_in
from pendula.studies.designs import DISTRIBUTIONS
from pendula.studies.problems import Problems
from pendula.system.layout import Array
from pendula.system.system import System

PARAMETER, INITIAL, INPUT, SETTING = "parameter", "initial value", "input", "setting"
SETTINGS = ("formulation", "engine")
"""settings that choose the system itself; computations have further ones"""

SPACED: dict[str, Any] = {"grid": np.linspace, "log": np.geomspace}
"""ranges: LOW, HIGH and the number of values"""
MOST_VALUES = 10_000_000
"""of one axis"""
FORMS = (
    'a list of values, "LOW:HIGH:COUNT", {"grid": [LOW, HIGH, COUNT]}, {"log": [LOW, HIGH, COUNT]}, '
    '{"uniform": [LOW, HIGH]}, {"normal": [MEAN, SIGMA]} or {"loguniform": [LOW, HIGH]}'
)


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a grid.

    Attributes:
        name: what varies.
        kind: "parameter", "initial value", "input" or "setting".
        values: its values, numbers or words.
        unit: their unit, in a form that unit packages read; empty if it has none.

    Example:
        >>> Axis("l", "parameter", np.array([1.0, 2.0]), "m").values.size
        2
    """

    name: str
    kind: str
    values: Array
    unit: str = ""


@dataclass(frozen=True)
class Random:
    """One random quantity: its name, its distribution and the two numbers of that.

    Example:
        >>> Random("l", "parameter", "normal", (1.0, 0.01)).distribution
        'normal'
    """

    name: str
    kind: str
    distribution: str
    numbers: tuple[float, float]
    unit: str = ""


class Names:
    """What can vary for a system, with units."""

    def __init__(self, system: System, settings: Sequence[str]) -> None:
        self.system = system
        model, layout = system.model, system.in_joints.layout
        self._formal = model.unit_names.formal
        self._parameters = {name: parameter_units(model).get(name, "") for name in model.parameters}
        self._initial = {name: layout.units[name] for name in (*layout.coordinates, *layout.speeds)}
        self._inputs = {name: input_units(model).get(name, "") for name in model.as_written.inputs}
        self._settings = (*SETTINGS, *settings)
        self._values = dict(model.parameter_values)

    def kind(self, name: Any) -> str:
        """What a name is.

        Raises:
            UsageError: nothing has this name.
        """
        if not isinstance(name, str):
            raise UsageError(f"over: names are text, found {name!r}")
        for kind, names in (
            (PARAMETER, self._parameters), (INITIAL, self._initial), (INPUT, self._inputs), (SETTING, self._settings),
        ):  # fmt: skip
            if name in names:
                return kind
        known = [*self._parameters, *self._initial, *self._inputs, *self._settings]
        hint = suggestion(name, known, most=40)
        raise UsageError(
            f'over: "{name}" is neither a parameter, a coordinate, a speed, an input nor a setting; {hint}'
        )

    def unit(self, name: str) -> str:
        """The unit of a name, in formal writing."""
        found = self._parameters.get(name) or self._initial.get(name) or self._inputs.get(name) or ""
        return self._formal(found)

    def number(self, name: str, value: Any) -> float:
        """A number, from a number or from text with units.

        Raises:
            UsageError: it is none, or not finite.
        """
        where = f'over: "{name}"'
        own = self._parameters.get(name) or self._initial.get(name) or self._inputs.get(name) or ""
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating, str)):
            raise UsageError(f"{where}: expected a number, found {value!r:.60}")
        found = number_in(value, own, where, self._values)
        if not np.isfinite(found):
            raise UsageError(f"{where}: {value!r} is not finite")
        return found


def read_over(names: Names, over: Any) -> tuple[tuple[Axis, ...], tuple[Random, ...]]:
    """The axes of a grid and the random quantities.

    Raises:
        UsageError: names are unknown, or their values cannot be read; the message lists all of them.
    """
    if not isinstance(over, Mapping) or not over:
        raise UsageError(f"over is a dictionary of what varies, by name: {FORMS}; found {over!r:.60}")
    axes: list[Axis] = []
    random: list[Random] = []
    problems = Problems()
    for name, given in over.items():
        with problems:
            found = _read_one(names, name, given)
            (axes if isinstance(found, Axis) else random).append(found)  # type: ignore[arg-type]
    problems.raise_any()
    return tuple(axes), tuple(random)


def _read_one(names: Names, name: Any, given: Any) -> Axis | Random:
    """One axis of the grid, or one random quantity."""
    kind = names.kind(name)
    form, values = _form(name, given)
    if form in DISTRIBUTIONS:
        if kind == SETTING:
            raise UsageError(f'over: "{name}" is a setting; give its values as a list')
        return Random(name, kind, form, _pair(names, name, form, values), names.unit(name))
    read = _spaced(names, name, form, values) if form in SPACED else _listed(names, name, kind, values)
    return Axis(name, kind, read, names.unit(name))


def _form(name: str, given: Any) -> tuple[str, Any]:
    """The form of what was given for a name: values, a range or a distribution; and its content."""
    if isinstance(given, str) and given.count(":") == 2:
        return "grid", given.split(":")
    if isinstance(given, Mapping):
        if len(given) != 1 or next(iter(given)) not in ("values", *SPACED, *DISTRIBUTIONS):
            raise UsageError(f'over: "{name}": expected {FORMS}; found {dict(given)!r:.80}')
        return next(iter(given.items()))
    if isinstance(given, np.ndarray | range) or (isinstance(given, Sequence) and not isinstance(given, str)):
        return "values", given
    raise UsageError(f'over: "{name}": expected {FORMS}; found {given!r:.60}')


def _pair(names: Names, name: str, form: str, values: Any) -> tuple[float, float]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise UsageError(f'over: "{name}": {form} takes two numbers, found {values!r:.60}')
    a, b = (names.number(name, x) for x in values)
    if form == "normal" and b < 0:
        raise UsageError(f'over: "{name}": the standard deviation must not be negative, found {b:g}')
    if form != "normal" and not a < b:
        raise UsageError(f'over: "{name}": the range must go from a smaller to a larger number, found {a:g} to {b:g}')
    if form == "loguniform" and not a > 0:
        raise UsageError(f'over: "{name}": the range of loguniform must be positive, found {a:g} to {b:g}')
    return a, b


def _spaced(names: Names, name: str, form: str, values: Any) -> Array:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 3:
        raise UsageError(f'over: "{name}": {form} takes LOW, HIGH and the number of values, found {values!r:.60}')
    low, high = names.number(name, values[0]), names.number(name, values[1])
    try:
        count = int(str(values[2]).strip())
    except ValueError:
        count = 0
    if not 1 <= count <= MOST_VALUES:
        raise UsageError(f'over: "{name}": the number of values is from 1 to {MOST_VALUES}, found {values[2]!r}')
    if form == "log" and not (low > 0 and high > 0):
        raise UsageError(f'over: "{name}": a logarithmic range must be positive, found {low:g} to {high:g}')
    return np.asarray(SPACED[form](low, high, count), dtype=float)


def _listed(names: Names, name: str, kind: str, values: Any) -> Array:
    if np.ndim(values) != 1 or not len(values):
        raise UsageError(f'over: "{name}": expected at least one value in a list, found {values!r:.60}')
    if kind == SETTING and any(isinstance(x, str) for x in values):
        return np.array([str(x) for x in values])
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        if not np.isfinite(values).all():
            raise UsageError(f'over: "{name}": entry {int(np.argmin(np.isfinite(values)))} is not finite')
        return values.astype(float)
    return np.array([names.number(name, x) for x in values])
