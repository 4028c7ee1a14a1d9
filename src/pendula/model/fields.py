"""Kinds of fields, as marks in their annotations: which hold expressions, which are directions, what each may use.

Checks and readers walk the annotations of an element's fields, so that a new field is checked without being listed
anywhere. ``Scalar``, ``Vector``, ``Direction`` and their relatives of :mod:`pendula.model.base` carry the marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, get_args

from pydantic import BaseModel


class Mark(Enum):
    """What a field holds."""

    EXPRESSION = "a number or an expression"
    DIRECTION = "a vector of which only the direction counts"


class Use(Enum):
    """What the expressions of a field may use. An element's family decides where a field does not."""

    PARAMETERS = "parameters"
    TIME = "parameters and t"
    COORDINATES = "parameters, t and the joint's own coordinates"
    EVERYTHING = "parameters, inputs, coordinates, speeds and t"


Marked = tuple[tuple[str, str, frozenset[Any]], ...]

_known: dict[type, Marked] = {}


def marked_fields(cls: type[BaseModel]) -> Marked:
    """Fields of a class that hold expressions, or elements that may: name, name in model files, and their marks."""
    if cls in _known:
        return _known[cls]
    found = []
    for name, field in cls.model_fields.items():
        marks = frozenset(_marks(field.annotation)) | {m for m in field.metadata if isinstance(m, (Mark, Use))}
        if marks:
            found.append((name, field.alias or name, marks))
    _known[cls] = tuple(found)
    return _known[cls]


def _marks(annotation: Any) -> Iterator[Any]:
    """Marks anywhere in an annotation; an element counts as something that may hold expressions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield Mark.EXPRESSION
    for mark in getattr(annotation, "__metadata__", ()):
        if isinstance(mark, (Mark, Use)):
            yield mark
    for part in get_args(annotation):
        if not isinstance(part, (Mark, Use)):
            yield from _marks(part)


def entries(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Numbers, texts and elements inside lists and tables, each with its place."""
    if isinstance(value, (tuple, list)):
        for k, entry in enumerate(value):
            yield from entries(entry, f"{place}[{k}]")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from entries(entry, f"{place}.{key}" if key else place)
    elif value is not None and not isinstance(value, bool):
        yield place, value


__all__ = ["Mark", "Use", "entries", "marked_fields"]
