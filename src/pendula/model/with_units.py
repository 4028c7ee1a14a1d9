"""Quantities with units in the data of a model: converted to the units of its label, dimensions checked by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from pendula.errors import ModelError, Problem, UsageError
from pendula.model.names import quote
from pendula.model.problems import field_text
from pendula.model.quantities import Quantity, in_base_units, in_unit, quantity_in
from pendula.model.reading import KIND_OF, label_of
from pendula.model.units import Units

NOT_NUMBERS = frozenset({"name", "description", "units", "type", "sequence", "formulation"})
"""fields whose texts are never numbers"""
REFERENCES = frozenset({"body", "joint", "coordinate", "at", "parent", "child", "from", "to"})
"""fields whose text is a name, such as the body "2.arm\""""


class Found(NamedTuple):
    """A quantity in the data of a model: its path, and the quantity."""

    path: tuple[str | int, ...]
    quantity: Quantity

    @property
    def where(self) -> str:
        """The place in words for messages: bodies[0].rod.length."""
        return field_text(self.path)

    def problem(self, error: UsageError, sections: Callable[[str], Any]) -> Problem:
        """The problem with this quantity; ``sections`` gives the content of a section of the model by its name."""
        cause, _, advice = str(error).removeprefix(f"{self.where}: ").partition("\n  Try: ")
        return Problem(*_place(self.path, sections), cause.rstrip("."), advice.rstrip("."))


def without_units(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Found], list[Problem]]:
    """Data of a model with numbers in place of quantities, the quantities, and problems such as an unknown unit.

    A quantity with a problem becomes its bare number, so that the rest of the model can be checked too.
    """
    parameters = data.get("parameters")
    known = parameters if isinstance(parameters, Mapping) else {}
    found: list[Found] = []
    _collect(data, (), known, found)
    if not found:
        return data, found, []
    label = data.get("units", "m-kg-s")
    try:
        units = Units.from_label(label)
    except (ValueError, AttributeError):
        values = {one.path: one.quantity.number for one in found}
        return _replaced(data, (), values), [], []  # reading reports the label
    values = {}
    problems = []
    for one in found:
        values[one.path] = one.quantity.number
        try:
            values[one.path] = in_base_units(one.quantity, units.length, units.mass, units.time, one.where)
        except UsageError as error:
            problems.append(one.problem(error, data.__getitem__))
    return _replaced(data, (), values), found, problems


def _place(path: tuple[str | int, ...], sections: Callable[[str], Any]) -> tuple[str, str]:
    """Element and field of a path, as other messages name them."""
    section = str(path[0])
    if section not in KIND_OF or len(path) == 1:
        return "model", field_text(path)
    kind, entry = KIND_OF[section], path[1]
    element = label_of(kind, sections(section)[entry], entry) if isinstance(entry, int) else f"{kind} {quote(entry)}"
    return element, field_text(path[2:])


def _collect(value: Any, path: tuple[str | int, ...], known: Mapping[str, Any], found: list[Found]) -> None:
    if isinstance(value, str):
        quantity = quantity_in(value, known)
        if quantity is not None:
            found.append(Found(path, quantity))
    elif type(value) in (int, float):
        return
    elif isinstance(value, Mapping):
        names_are_free = path in (("parameters",), ("inputs",), ("initial",))
        for key, entry in value.items():
            if isinstance(entry, str) and key in REFERENCES and not names_are_free:
                continue
            if isinstance(key, str) and (key not in NOT_NUMBERS or names_are_free):
                _collect(entry, (*path, key), known, found)
    elif isinstance(value, (list, tuple)):
        for k, entry in enumerate(value):
            _collect(entry, (*path, k), known, found)


def _replaced(value: Any, path: tuple[str | int, ...], values: Mapping[tuple[str | int, ...], float]) -> Any:
    if path in values:
        return values[path]
    if isinstance(value, Mapping):
        return {key: _replaced(entry, (*path, key), values) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(entry, (*path, k), values) for k, entry in enumerate(value))
    return value


def check_dimensions(model: Any, found: list[Found]) -> None:
    """Raises ModelError if a quantity has another dimension than its field, where that is known.

    Raises:
        ModelError: names every such field and both dimensions.
    """
    problems = []
    for one in found:
        for unit in _expected(model, one.path):
            try:
                in_unit(one.quantity, unit, one.where)
            except UsageError as error:
                problems.append(one.problem(error, partial(getattr, model)))
    if problems:
        raise ModelError(problems)


def _expected(model: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    """The unit that a field has; nothing if it is not known."""
    from pendula.model.checks.parameter_units import field_unit, input_units, parameter_units

    group, name = path[0], str(path[1]) if len(path) > 1 else ""
    units = model.unit_names
    unit: str | None = None
    if group == "parameters":
        unit = parameter_units(model).get(name)
    elif group == "inputs":
        unit = input_units(model).get(name)
    elif group == "gravity":
        unit = f"{units.length}/{units.time}^2"
    elif group == "initial" and len(path) == 2:
        kinds = {c.name: units.coordinate(c.kind) for c in model.coordinates}
        unit = (kinds | {s.name: units.speed(s.kind) for s in model.speeds}).get(name)
    elif group in ("bodies", "joints", "forces") and len(path) > 2:
        unit = field_unit(model, str(group), int(path[1]), [p for p in path[2:] if isinstance(p, str)])
    if unit is not None:
        yield unit
