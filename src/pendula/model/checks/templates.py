"""Checks of templates from outside the package: what ``steps``, ``rows``, ``senses`` and ``actions`` return.

Tests cover the types of the package, so their models are not checked here.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from pendula.errors import PendulaError, Problem
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Action
from pendula.model.forces.base import ForceBetween
from pendula.model.forces.law import Law
from pendula.model.joints.rows import ClosingRow, Normal
from pendula.model.joints.steps import Step
from pendula.model.names import ExpressionError, quote
from pendula.model.parts import Parts
from pendula.model.problems import shown

_ENTRIES: dict[str, tuple[type, ...]] = {
    "steps": get_args(Step),
    "rows": get_args(ClosingRow),
    "senses": (tuple, list, Normal),
    "actions": get_args(Action),
}
"""Methods, and the types of what they list."""
_DIRECTIONS = ("axis", "direction", "parent", "child")
_VECTORS = ("vector", "position")
_SCALARS = ("angle", "distance", "value", "coefficient")


def check_templates(parts: Parts) -> Iterator[Problem]:
    """Templates that the rest of the package could not read, by the method that returned them."""
    yield from _faults(parts, None)


def check_template_values(parts: Parts) -> Iterator[Problem]:
    """Templates and laws that make no sense with the names and numbers of a model; for one without other problems."""
    yield from _laws(parts)
    yield from _faults(parts, parts)


def _faults(parts: Parts, known: Parts | None) -> Iterator[Problem]:
    """Faults of all templates; those of names and numbers if these are ``known``."""
    for element, item in (*parts.joints, *parts.forces):
        kind: Any = type(item)
        for method, file, line in _from_outside(kind):
            try:
                found = getattr(item, method)()
                fault = _fault(known, method, found)
            except PendulaError:  # raised on purpose, and again where the template is needed
                continue
            except Exception as error:
                inside = [at for at in traceback.extract_tb(error.__traceback__) if at.filename == file]
                line = (inside[-1].lineno if inside else None) or line
                fault = f"raises {type(error).__name__}: {error}"
            if fault:
                yield Problem(element, "", f"{kind.__name__}.{method}() ({Path(file).name}, line {line}) {fault}")


@lru_cache(maxsize=1000)
def _from_outside(cls: type) -> tuple[tuple[str, str, int], ...]:
    """Methods of a type that return templates and are not inherited from the package, with their files and lines."""
    found: dict[str, Any] = {
        method: inspect.unwrap(getattr(cls, method)) for method in _ENTRIES if hasattr(cls, method)
    }
    outside = {method: f.__code__ for method, f in found.items() if not f.__module__.startswith("pendula.")}
    return tuple((method, code.co_filename, code.co_firstlineno) for method, code in outside.items())


def _laws(parts: Parts) -> Iterator[Problem]:
    """Laws that disagree with their potential at the numbers of the model; other numbers were tried before."""
    for element, force in parts.forces:
        if type(force).__module__.startswith("pendula."):
            continue
        try:
            given = {name: parse(getattr(force, name)).evaluate(parts.values) for name in force.law.fixed_fields}
        except ExpressionError:  # reported elsewhere
            continue
        if fault := _mismatch(force.law, tuple(sorted(given.items())), not isinstance(force, ForceBetween)):
            yield Problem(element, "type", fault)


@lru_cache(maxsize=1000)
def _mismatch(law: Law, given: tuple[tuple[str, float], ...], signed: bool) -> str:
    return law.mismatch(dict(given), signed=signed)


def _fault(parts: Parts | None, method: str, found: Any) -> str:
    """Why a method's return value is not a template; empty if it is one."""
    kinds = _ENTRIES[method]
    names = ", ".join(kind.__name__ for kind in kinds) if method != "senses" else "directions, such as (self.axis,)"
    if not isinstance(found, (tuple, list)):
        return f"must return a tuple of {names}, found {shown(found)}"
    if not found and method in ("rows", "actions"):
        return f"returns an empty tuple, so it has no effect; it must return a tuple of {names}"
    for entry in found:
        if not isinstance(entry, kinds):
            what = f"the class {entry.__name__}" if isinstance(entry, type) else shown(entry)
            return f"must return a tuple of {names}, found {what} in it"
        of = "lists a" if method == "senses" else f"returns a {type(entry).__name__} whose"
        for name, value in ({"direction": entry} if method == "senses" else vars(entry)).items():
            if fault := _value_fault(parts, name, value) or (method == "actions" and _action_fault(parts, name, value)):
                return f"{of} {name} {'that ' * (method == 'senses')}{fault}"
    return ""


def _value_fault(parts: Parts | None, name: str, value: Any) -> str:
    """What is wrong with one field of a step, row or action, by the name of the field."""
    if name in _DIRECTIONS:
        entries = value.axis if isinstance(value, Normal) else value
        return _vector_fault(entries) or ("" if parts is None else _direction_fault(parts, entries))
    if name in _VECTORS and value is not None:
        return _vector_fault(value)
    if name in _SCALARS:
        return _scalar_fault(value)
    if name == "law" and (not isinstance(value, Law) or value == Law()):
        return f"must be a Law with a force in it, found {'an empty one' if isinstance(value, Law) else shown(value)}"
    return ""


def _action_fault(parts: Parts | None, name: str, value: Any) -> str:
    """The same for actions alone. Names in templates of joints are checked where they are used."""
    if name == "axes" and value not in ("world", "body"):
        return f'must be "world" or "body", found {shown(value)}'
    if parts is None:
        return ""
    if name == "body" and value not in parts.places:
        return f"names no body of the model: {shown(value)}"
    if name == "joint" and value not in parts.joint_names:
        return f"names no joint of the model: {shown(value)}"
    known = {*parts.constants, *parts.state, *parts.inputs, *parts.unread_inputs, "t"}
    used = {value} if name == "coordinate" and value is not None else set()
    for scalar in value if name in _VECTORS and value is not None else [value] if name in _SCALARS else ():
        used |= parse(scalar).names
    missing = (one for one in sorted(used - known) if not parts.may_exist(one))
    return next((f"uses {shown(one)}, which the model does not have" for one in missing), "")


def _vector_fault(entries: Any) -> str:
    if not isinstance(entries, (tuple, list)) or len(entries) != 3:
        return f"must have three entries, such as (0, 0, 1), found {shown(entries)}"
    return next((f"has an entry that {fault}" for fault in map(_scalar_fault, entries) if fault), "")


def _scalar_fault(value: Any) -> str:
    try:
        parse(value)
    except ExpressionError as error:
        return f"is no number or expression: {error}"
    return ""


def _direction_fault(parts: Parts, entries: Any) -> str:
    """A direction is fixed in its frame, and has a length."""
    parsed = [parse(entry) for entry in entries]
    for name in sorted(frozenset().union(*(e.names for e in parsed)) - parts.constants):
        return f"may use parameters only, found {quote(name)}"
    known = all(e.names <= parts.values.keys() for e in parsed)
    return "is zero, so it has no direction" if known and not any(e.evaluate(parts.values) for e in parsed) else ""
