"""Marks in field annotations: which fields hold expressions, which are directions, what their expressions may use.

Checks and readers inspect the annotations of an element's fields, so a new field needs no registration. ``Scalar``,
``Vector``, ``Direction`` and the related types of :mod:`pendula.model.base` carry the marks.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel


class Mark(Enum):
    """The content of a field."""

    EXPRESSION = "a number or an expression"
    DIRECTION = "a vector of which only the direction matters"


class Use(Enum):
    """Names that expressions of a field may use. The default depends on the type of element."""

    PARAMETERS = "parameters"
    TIME = "parameters and t"
    COORDINATES = "parameters, t and the joint's own coordinates"
    EVERYTHING = "parameters, inputs, coordinates, speeds and t"


class MarkedField(NamedTuple):
    """A field that holds expressions, or elements that may."""

    name: str
    label: str
    """its name in model files"""
    use: Use | None
    """names that its expressions may use, if stated; a direction uses parameters only"""
    is_direction: bool


_known: dict[type, tuple[MarkedField, ...]] = {}


def marked_fields(cls: type[BaseModel]) -> tuple[MarkedField, ...]:
    """The fields of a class that hold expressions, according to their annotations."""
    if cls not in _known:
        found = []
        for name, field in cls.model_fields.items():
            marks = {*_marks(field.annotation), *(m for m in field.metadata if isinstance(m, (Mark, Use)))}
            is_direction = Mark.DIRECTION in marks
            use = Use.PARAMETERS if is_direction else next((m for m in marks if isinstance(m, Use)), None)
            if marks:
                found.append(MarkedField(name, field.alias or name, use, is_direction))
        _known[cls] = tuple(found)
    return _known[cls]


def _marks(annotation: Any) -> Iterator[Any]:
    """Marks anywhere in an annotation; an element may always hold expressions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield Mark.EXPRESSION
    for mark in getattr(annotation, "__metadata__", ()):
        if isinstance(mark, (Mark, Use)):
            yield mark
    for part in get_args(annotation):
        if not isinstance(part, (Mark, Use)):
            yield from _marks(part)


def field_texts(cls: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field of a class, parsed from the source on demand, because that is slow."""
    found: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        if part is not BaseModel and issubclass(part, BaseModel):
            found |= _own_texts(part)
    return {name: text for name, text in found.items() if name in cls.model_fields}


@lru_cache(maxsize=1000)
def _own_texts(cls: type[BaseModel]) -> dict[str, str]:
    """The docstrings of the fields that a class itself defines; many classes share a base."""
    found: dict[str, str] = {}
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    for field, text in itertools.pairwise(getattr(definition, "body", ())):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = inspect.cleandoc(words)
    return found
