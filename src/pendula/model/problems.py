"""Error messages about a model: formatted values, and pydantic's errors as Problems."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from pendula.arguments import available
from pendula.errors import Problem
from pendula.model.names import quote, suggestion
from pendula.words import counted

MOST_SHOWN = 8  # largest number of names in a message
_PLAIN_NAME = re.compile("[A-Za-z0-9_ -]{1,64}")


def shown(value: Any) -> str:
    """A value of any type and size for an error message: short and in one line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (datetime.date, datetime.time)):
        return f"the date or time {value.isoformat()}"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, (list, tuple)):
        return f"a list of {counted(len(value), 'entry', 'entries')}" if value else "an empty list"
    return f"an object of type {type(value).__name__}"


def listing(names: Iterable[str]) -> str:
    """Names as a comma-separated list, shortened if there are many."""
    names = list(names)
    return ", ".join(names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")


def unknown(kind: str, name: str, known: Iterable[str], *, element: str, place: str = "") -> Problem:
    """The problem of an unknown name, with the nearest known one."""
    known = sorted({other for other in known if _PLAIN_NAME.fullmatch(other)})
    advice = suggestion(name, known, None if known else "", most=MOST_SHOWN)
    return Problem(element, place, f"there is no {kind} {quote(name)}", advice)


def class_name(cls: type) -> str:
    """The element that a class describes, in one word: ``joint`` for ``JointRevolute``."""
    for family in ("Joint", "Force"):
        if any(base.__name__ == family for base in cls.__mro__):
            return family.lower()
    return cls.__name__.lstrip("_").lower()


# -- errors of pydantic -----------------------------------------------------------------------------


def problems_from(error: ValidationError, element: str, cls: type | None) -> list[Problem]:
    """Pydantic's errors as Problems that name the element and the field.

    Args:
        error: the error of pydantic.
        element: name of the element in messages.
        cls: its class, to suggest existing fields; None if unknown.
    """
    unique: dict[str, Problem] = {}
    for finding in error.errors(include_url=False):
        path = [part for part in finding["loc"] if part not in ("[key]", "function-before", "function-after")]
        field, cause, advice = _words(finding, path, cls)
        problem = Problem(element, field, cause, advice)
        unique.setdefault(f"{problem.field}: {problem.cause}", problem)
    return list(unique.values())


def field_text(path: Iterable[int | str]) -> str:
    """Turns ('angles', 1) into 'angles[1]' and ('parent', 'body') into 'parent.body'."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part:
            plain = part if _PLAIN_NAME.fullmatch(part) else quote(part)
            text += f".{plain}" if text else plain
    return text


def _words(finding: Any, path: list[int | str], cls: type | None) -> tuple[str, str, str]:
    """Field, cause and advice for one error."""
    kind, found, context = finding["type"], finding.get("input"), finding.get("ctx", {})
    field = field_text(path)
    if kind == "missing":
        return field, "is missing", f"add {path[-1]} = ..."
    if kind == "extra_forbidden":
        return field, "is not a field known here", _spelling(path, cls)
    if kind == "value_error":
        return _split(field, str(finding["msg"]).removeprefix("Value error, "), _class_at(path, cls))
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context.get("expected", ""))
        cause = f"must be one of {', '.join(choices)}, found {shown(found)}"
        return field, cause, suggestion(found, choices, "") if isinstance(found, str) else ""
    if kind == "string_type":
        return field, f"must be text in quotes, found {shown(found)}", ""
    if kind in ("tuple_type", "list_type"):
        return field, f"must be a list, found {shown(found)}", "write it in brackets: [...]"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return field, f"must be a table of fields, found {shown(found)}", "write it in braces: { ... }"
    message = str(finding["msg"])
    return field, f"{message[:1].lower()}{message[1:]}, found {shown(found)}", ""


def _split(field: str, message: str, cls: type | None) -> tuple[str, str, str]:
    """Splits a message of our own validators, which may begin with the field and end with advice."""
    start, colon, rest = message.partition(": ")
    if colon and cls is not None and start.split(".")[0] in _fields(cls):
        field, message = (f"{field}.{start}" if field else start), rest
    cause, found, advice = message.partition(". Try ")
    if not found:
        cause, found, advice = message.partition("; try: ")
    return field, cause, advice[:-1] if advice.endswith('".') else advice


def _spelling(path: list[int | str], cls: type | None) -> str:
    """Advice for an unknown field: the nearest existing one."""
    fields = _fields(_class_at(path[:-1], cls))
    return suggestion(str(path[-1]), fields, f"remove it; {available(fields)}" if fields else "remove it")


def _class_at(path: list[int | str], cls: type | None) -> type | None:
    """The class of the record at a path inside a record of the given class."""
    for part in path:
        cls = _class_of(cls, part) if isinstance(part, str) else cls
    return cls


def _fields(cls: type | None) -> list[str]:
    """Fields of a class as a model file writes them."""
    if cls is None or not issubclass(cls, BaseModel):
        return []
    return [field.alias or name for name, field in cls.model_fields.items()]


def _class_of(cls: type | None, field: str) -> type | None:
    """The class of the record that a field holds."""
    if cls is None or not issubclass(cls, BaseModel):
        return None
    for name, info in cls.model_fields.items():
        if field in (name, info.alias):
            return _record_in(info.annotation)
    return None


def _record_in(annotation: Any) -> type | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _record_in(inner)
        if found is not None:
            return found
    return None
