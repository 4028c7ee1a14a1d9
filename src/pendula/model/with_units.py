"""Quantities with units in the data of a model: converted to the units of its label, dimensions checked by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pendula.errors import ModelError, Problem, UsageError
from pendula.model.names import quote
from pendula.model.quantities import Quantity, in_base_units, in_unit, quantity_in
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
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")


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
            cause, _, advice = str(error).removeprefix(f"{one.where}: ").partition("\n  Try: ")
            problems.append(Problem(*_place(data, one.path), cause.rstrip("."), advice.rstrip(".")))
    return _replaced(data, (), values), found, problems


def _place(data: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str, str]:
    """Element and field of a path in the data of a model that is not yet read."""
    group, rest = str(path[0]), path[1:]
    field = _joined(rest[1:])
    if group in _LISTED and rest and isinstance(rest[0], int):
        item = data[group][rest[0]]
        name = item.get("name") if isinstance(item, Mapping) else None
        return f"{_LISTED[group]} {quote(name) if isinstance(name, str) and name else f'number {rest[0] + 1}'}", field
    if group in _TABLES and rest:
        return f"{_TABLES[group]} {quote(str(rest[0]))}", field
    return "model", _joined(path)


def _joined(path: tuple[str | int, ...]) -> str:
    """Names and numbers of a path in one text; unprintable and very long names as messages quote them."""
    names = (p if isinstance(p, int) or (p.isprintable() and len(p) <= 60) else quote(p)[1:-1] for p in path)
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in names).removeprefix(".")


_LISTED = {"bodies": "body", "joints": "joint", "forces": "force"}
_TABLES = {"parameters": "parameter", "inputs": "input", "initial": "initial"}


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
                cause, _, advice = str(error).removeprefix(f"{one.where}: ").partition("\n  Try: ")
                element, field = _element(model, one.path)
                problems.append(Problem(element, field, cause.rstrip("."), advice))
    if problems:
        raise ModelError(problems)


def _element(model: Any, path: tuple[str | int, ...]) -> tuple[str, str]:
    """Element and field of a path, as other messages name them."""
    group, rest = path[0], path[1:]
    singular = {"bodies": "body", "joints": "joint", "forces": "force"}.get(str(group))
    if singular is not None and rest:
        element = getattr(model, str(group))[rest[0]]
        field = _joined(rest[1:])
        return f"{singular} {quote(element.name or element.type)}", field
    if group in ("parameters", "inputs") and rest:
        return f"{str(group)[:-1]} {quote(str(rest[0]))}", ""
    return (f"initial {quote(str(rest[0]))}", "") if group == "initial" and rest else ("model", str(group))


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
