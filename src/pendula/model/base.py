"""Base of all parts of a model: frozen records, types of fields, readable errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import core_schema

from pendula.errors import ModelError, Problem
from pendula.model.expressions.expression import Expression, parse
from pendula.model.fields import Mark, field_texts
from pendula.model.names import ExpressionError, check_label, check_name, quote
from pendula.model.problems import class_name, problems_from, shown
from pendula.words import counted

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # pydantic exports no public name for it

K = TypeVar("K")
V = TypeVar("V")


class _PlainErrors(ModelMetaclass):
    """Makes ``Body(...)`` raise ModelError; validation inside a larger model still collects all problems."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args:
            cause = f"takes its fields by name, found {counted(len(args), 'value')} without a name"
            known = ", ".join(f"{name}=..." for name in list(cls.model_fields)[:3])  # type: ignore[attr-defined]
            raise ModelError([Problem(class_name(cls), "", cause, f"write {cls.__name__}({known})")])
        try:
            return super().__call__(**kwargs)
        except ValidationError as error:
            name = kwargs.get("name")
            element = f"{class_name(cls)} {quote(name)}" if isinstance(name, str) else class_name(cls)
            raise ModelError(problems_from(error, element, cls)) from None


class Element(BaseModel, metaclass=_PlainErrors):
    """A frozen, validated part of a model. Unknown fields are rejected."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True, defer_build=True
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        found = handler(core_schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for name, text in field_texts(cls).items():
            properties[cls.model_fields[name].alias or name].setdefault("description", text)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f'a {class_name(type(self))} cannot be changed: make a new one to set "{name}"')

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f'a {class_name(type(self))} cannot be changed: "{name}" cannot be deleted')


class Table(dict[K, V]):
    """An immutable dict, so that a model stays as it was validated.

    Example:
        >>> Table(a=1) | {"b": 2}
        {'a': 1, 'b': 2}
        >>> Table(a=1).update(b=2)
        Traceback (most recent call last):
        ...
        TypeError: this table belongs to a model and cannot be changed; make a copy with dict(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("this table belongs to a model and cannot be changed; make a copy with dict(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type, tuple[dict[K, V]]]:
        return type(self), (dict(self),)


# -- types of fields --------------------------------------------------------------------------------


def _scalar(value: Any) -> int | float | str:
    if isinstance(value, Expression):
        return value.to_text()
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be a number or an expression in quotes, found {shown(value)}")
    if type(value) is float and math.isfinite(value):
        return value
    parse(value)
    return value


def _vector(value: Any) -> Any:
    entries = _listed(value)
    if entries is None:
        raise ValueError(f"must be a list of three numbers or expressions, found {shown(value)}")
    if len(entries) == 2:  # planar mechanisms: z is 0
        entries.append(0)
    if len(entries) != 3:
        raise ValueError(f"must have 3 entries (or 2 in the plane), found {len(entries)}")
    return tuple(entries)


def _listed(value: Any) -> list[Any] | None:
    """A list, tuple or array as a list; None for anything else."""
    if hasattr(value, "tolist") and getattr(value, "shape", ()) != ():
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else None


def _direction(value: Any) -> Any:
    entries = _vector(value)
    if all(isinstance(x, (int, float)) for x in entries) and not any(entries):
        raise ValueError("a direction cannot be the zero vector")
    return entries


def _inertia(value: Any) -> Any:
    rows = _listed(value) or []
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):  # Izz of a flat body
        half = f"({value})/2"
        return (half, 0, 0), (0, half, 0), (0, 0, value)
    if len(rows) == 3 and not any(isinstance(row, (list, tuple, dict)) for row in rows):
        return (rows[0], 0, 0), (0, rows[1], 0), (0, 0, rows[2])
    listed = [_listed(row) or [] for row in rows]
    if len(rows) != 3 or any(len(row) != 3 for row in listed):
        wanted = "must be [Ixx, Iyy, Izz] or a 3 by 3 matrix (or Izz alone, of a flat body), about the centre of mass"
        raise ValueError(f"{wanted}, found {shown(value)}")
    return tuple(tuple(row) for row in listed)


def _name(value: Any) -> str:
    return _checked_name(value, check_name)


def _state_name(value: Any) -> str:
    return _checked_name(value, lambda name, what: check_name(name, what, allow_dot=True))


def _label(value: Any) -> str:
    return _checked_name(value, check_label)


def _checked_name(value: Any, check: Callable[[str, str], None]) -> str:
    if type(value) is not str:
        raise ValueError(f"must be text in quotes, found {shown(value)}")
    try:
        check(value, "name")
    except ExpressionError as error:
        raise ValueError(str(error).removeprefix("name ")) from None
    return value


def _text(value: Any, most: int, allowed: str = "") -> str:
    if type(value) is not str:
        raise ValueError(f"must be text in quotes, found {shown(value)}")
    if len(value) > most:
        raise ValueError(f"has {len(value)} characters, at most {most} are allowed")
    for position, letter in enumerate(value, start=1):
        if not letter.isprintable() and letter not in allowed:
            raise ValueError(f"has {quote(letter)} at position {position}, which cannot be printed")
    return value


def _title(value: Any) -> str:
    text = _text(value, 100)
    if not text.strip():
        raise ValueError("is empty")
    return text


# Pydantic writes the values of a field through the Python functions that its type has, and makes its own error, or a
# guess, of what is raised there, also of a keyboard interrupt. So the fields of a model are written without any.


@dataclass(frozen=True)
class ReadBy:
    """Reads a field by a function alone. It stands for ``PlainValidator``, which also writes through a function."""

    function: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.function)


class WrittenAsItIs:
    """Writes a field by what its value is, without asking the function that distinguishes values when they are read."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return {**handler(source), "serialization": core_schema.simple_ser_schema("any")}


_NUMBER_OR_TEXT: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string"}]}
_VECTOR = {"type": "array", "items": _NUMBER_OR_TEXT, "minItems": 2, "maxItems": 3}
_ROW = {"type": "array", "items": _NUMBER_OR_TEXT, "minItems": 3, "maxItems": 3}
_MATRIX = {"anyOf": [_ROW, {"type": "array", "items": _ROW, "minItems": 3, "maxItems": 3}]}
_NAME = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$"}
_LABEL = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9 ._-]*$"}

Scalar = Annotated[int | float | str, ReadBy(_scalar), WithJsonSchema(_NUMBER_OR_TEXT), Mark.EXPRESSION]
"""A number, or an expression of parameters such as ``"m*l**2/12"``."""

Vector = Annotated[tuple[Scalar, Scalar, Scalar], BeforeValidator(_vector), WithJsonSchema(_VECTOR)]
"""Three scalars, or two for x and y with z = 0."""

Direction = Annotated[
    tuple[Scalar, Scalar, Scalar], BeforeValidator(_direction), WithJsonSchema(_VECTOR), Mark.DIRECTION
]
"""A vector of which only the direction matters."""

Row = tuple[Scalar, Scalar, Scalar]

Inertia = Annotated[tuple[Row, Row, Row], BeforeValidator(_inertia), WithJsonSchema(_MATRIX)]
"""A 3 by 3 matrix of scalars, or three scalars for its diagonal."""

Name = Annotated[str, ReadBy(_name), WithJsonSchema(_NAME)]
"""An identifier, since it may appear in generated code."""

StateName = Annotated[str, ReadBy(_state_name), WithJsonSchema(_NAME)]
"""The name of a coordinate or, with ``_dot``, of its speed."""

Label = Annotated[str, ReadBy(_label), WithJsonSchema(_LABEL)]
"""A name for display only: letters, digits, space, - _ and dot."""

Title = Annotated[str, ReadBy(_title), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 100})]
"""One line of printable text."""

Description = Annotated[
    str,
    ReadBy(lambda value: _text(value, 5000, allowed="\n\t")),
    WithJsonSchema({"type": "string", "maxLength": 5000}),
]
"""Lines of printable text."""


def unit_vector(values: Sequence[float]) -> tuple[int | float, ...]:
    """A numeric vector scaled to unit length; exact 0 and 1 become integers."""
    largest = max(abs(x) for x in values)
    scaled = [x / largest for x in values]  # so that squares neither underflow nor overflow
    length = math.hypot(*scaled)
    return tuple(exact(x / length) for x in scaled)


def exact(x: float) -> int | float:
    """Integral values as int, so that SymEngine simplifies zeros and ones."""
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)
