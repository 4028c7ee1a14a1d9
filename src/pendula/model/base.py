"""What all parts of a model share: frozen records, checked fields, errors in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic._internal._model_construction import ModelMetaclass

from pendula.errors import ModelError, Problem
from pendula.model.expressions import Expression, parse
from pendula.model.names import check_label, check_name


class _PlainErrors(ModelMetaclass):
    """Makes ``Body(...)`` raise ModelError; validation inside a larger model still collects everything."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except ValidationError as error:
            raise ModelError(problems_from(error, cls.__name__.lower(), kwargs)) from None


class Element(BaseModel, metaclass=_PlainErrors):
    """A frozen, checked part of a model. Unknown fields are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True, use_attribute_docstrings=True
    )


def _scalar(value: Any) -> int | float | str:
    if isinstance(value, Expression):
        value = value.to_text()
    parse(value)
    return value  # type: ignore[no-any-return]


def _vector(value: Any) -> Any:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(f"a vector is a list of three numbers or expressions, not {value!r}")
    entries = [x.item() if hasattr(x, "item") else x for x in value]
    if len(entries) == 2:  # planar mechanisms: z is 0
        entries.append(0)
    if len(entries) != 3:
        raise ValueError(f"a vector has 3 entries (or 2 in the plane), this one has {len(entries)}")
    return tuple(entries)


def _direction(value: Any) -> Any:
    entries = _vector(value)
    if all(isinstance(x, (int, float)) for x in entries) and not any(entries):
        raise ValueError("a direction cannot be the zero vector")
    return entries


def _name(value: Any) -> str:
    check_name(value, "name")
    return str(value)


def _state_name(value: Any) -> str:
    check_name(value, "name", allow_dot=True)
    return str(value)


def _label(value: Any) -> str:
    check_label(value, "name")
    return str(value)


_SCALAR_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string"}]}

Scalar = Annotated[int | float | str, BeforeValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
"""A number, or an expression of parameters such as ``"m*l**2/12"``."""

Vector = Annotated[tuple[Scalar, Scalar, Scalar], BeforeValidator(_vector)]
"""Three scalars; two are taken as x, y with z = 0."""

Direction = Annotated[tuple[Scalar, Scalar, Scalar], BeforeValidator(_direction)]
"""A vector of which only the direction counts."""

Name = Annotated[str, BeforeValidator(_name), Field(json_schema_extra={"pattern": "^[A-Za-z][A-Za-z0-9_]*$"})]
"""An identifier: it may reach generated code."""

StateName = Annotated[str, BeforeValidator(_state_name)]
"""The name of a coordinate or, with ``_dot``, of its speed."""

Label = Annotated[str, BeforeValidator(_label)]
"""A name for people: letters, digits, space, - _ and dot."""


def expression(value: int | float | str) -> Expression:
    """The parsed form of a scalar field."""
    return parse(value)


def unit_vector(values: Sequence[float]) -> tuple[int | float, ...]:
    """The direction of a numeric vector with length one; exact 0 and 1 stay integers."""
    length = math.sqrt(sum(x * x for x in values))
    return tuple(exact(x / length) for x in values)


def exact(x: float) -> int | float:
    """Integers as int, so that zeros and ones vanish from the equations."""
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)


_SECTIONS = {"bodies": "body", "joints": "joint", "forces": "force"}


def problems_from(error: ValidationError, element: str, data: Any) -> list[Problem]:
    """Pydantic's findings as Problems that name the element and the field."""
    problems = []
    for finding in error.errors(include_url=False):
        where, field = _place(finding["loc"], element, data)
        problems.append(Problem(where, field, _cause(finding), _advice(finding)))
    unique: dict[tuple[str, str, str], Problem] = {}
    for problem in problems:
        unique.setdefault((problem.element, problem.field, problem.cause), problem)
    return list(unique.values())


def _place(location: tuple[int | str, ...], element: str, data: Any) -> tuple[str, str]:
    """Turns ('joints', 2, 'revolute', 'axis', 0) into ('joint "elbow"', 'axis[0]')."""
    parts = list(location)
    if parts and parts[0] in _SECTIONS and len(parts) > 1 and isinstance(parts[1], int):
        kind, index = _SECTIONS[str(parts[0])], parts[1]
        item = _item(data, str(parts[0]), index)
        name = item.get("name") if isinstance(item, dict) else getattr(item, "name", None)
        element = f'{kind} "{name}"' if isinstance(name, str) else f"{kind} number {index + 1}"
        parts = parts[2:]
        tag = item.get("type") if isinstance(item, dict) else getattr(item, "type", None)
        if parts and parts[0] == tag:  # the tag of a discriminated union is no field
            parts = parts[1:]
    elif parts and parts[0] in ("parameters", "initial", "inputs") and len(parts) > 1:
        element, parts = f'{str(parts[0]).removesuffix("s")} "{parts[1]}"', parts[2:]
    elif isinstance(data, dict) and isinstance(data.get("name"), str) and element != "model":
        element = f'{element} "{data["name"]}"'
    field = ""
    for part in parts:
        if part in ("[key]", "function-after", "function-before"):
            continue
        field += f"[{part}]" if isinstance(part, int) else (f".{part}" if field else str(part))
    return element, field


def _item(data: Any, section: str, index: int) -> Any:
    try:
        return data[section][index]
    except (KeyError, IndexError, TypeError):
        return None


def _cause(finding: Any) -> str:
    kind, message, found = finding["type"], finding["msg"], finding.get("input")
    shown = repr(found) if not isinstance(found, (dict, list, tuple)) else type(found).__name__
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a field known here"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        expected = finding.get("ctx", {}).get("expected_tags", "")
        tag = finding.get("ctx", {}).get("tag")
        what = f"type {tag!r} is not known" if tag is not None else "has no type"
        return f"{what}; known are {expected.replace(chr(39), '')}" if expected else what
    if kind == "value_error":
        return str(message).removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}, found {shown}"


def _advice(finding: Any) -> str:
    if finding["type"] == "extra_forbidden":
        return "check the spelling, or remove it; 'pendula schema' lists the fields"
    if finding["type"] == "missing":
        return f"add {finding['loc'][-1]} = ..."
    return ""
