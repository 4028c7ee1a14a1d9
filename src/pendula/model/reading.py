"""Reads the elements of a model from plain data, each separately, so that one bad element hides no other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationError

from pendula.arguments import available
from pendula.errors import Problem
from pendula.model.base import Description, Element, Name, Scalar, StateName, Title, Vector
from pendula.model.bodies import SHORTHANDS, Body
from pendula.model.forces.registry import FORCES
from pendula.model.joints import JOINTS, Rotation
from pendula.model.kinds import adapter as adapter_of
from pendula.model.names import quote, suggestion
from pendula.model.parts import Parts, Unread
from pendula.model.problems import field_text, problems_from, shown
from pendula.model.units import Units
from pendula.registry import Registry

MOST_BODIES = 5000
"""Limit in a file; for models made in Python all limits here are ``IN_PYTHON`` times larger."""
IN_PYTHON = 20
MOST_PARAMETERS = 8 * MOST_BODIES
MOST_VALUES = 200_000
"""Largest number of numbers, strings and tables in one model."""
MOST_TEXT = 200_000
"""Largest number of characters in all distinct strings of a model, except names."""
DEEPEST = 12
"""Largest nesting depth of tables and lists."""


def _known_units(label: str) -> str:
    Units.from_label(label)
    return label


UnitsLabel = Annotated[Title, AfterValidator(_known_units)]

_PLAIN: dict[str, TypeAdapter[Any]] = {
    "name": TypeAdapter(Title),
    "description": TypeAdapter(Description),
    "units": TypeAdapter(UnitsLabel),
    "gravity": TypeAdapter(Vector),
}
_REQUIRED = {
    "name": 'add name = "..."',
    "gravity": "add gravity = [0, -9.81, 0], or [0, 0, 0] for none",
}
_LISTS: dict[str, tuple[str, int]] = {
    "bodies": ("body", MOST_BODIES),
    "joints": ("joint", 2 * MOST_BODIES),
    "forces": ("force", 4 * MOST_BODIES),
}
MOST_ENTRIES = {section: most for section, (_, most) in _LISTS.items()}
"""Largest numbers of bodies, joints and forces in a file."""
_TABLES: dict[str, tuple[str, TypeAdapter[Any], int]] = {
    "parameters": ("parameter", TypeAdapter(Name), MOST_PARAMETERS),
    "inputs": ("input", TypeAdapter(Name), MOST_PARAMETERS),
    "initial": ("initial", TypeAdapter(StateName), 20 * MOST_BODIES),
}
KIND_OF = {section: kind for section, (kind, *_) in (_LISTS | _TABLES).items()}
"""The word for one entry of every section."""
_SCALAR: TypeAdapter[Any] = TypeAdapter(Scalar)
_ROTATION: TypeAdapter[Any] = TypeAdapter(Rotation)
FIELDS = (*_PLAIN, *_TABLES, *_LISTS)
"""Fields of a model."""


_KINDS: dict[str, Registry[Any]] = {"joints": JOINTS, "forces": FORCES}
"""The classes of joints and forces by type."""
_NONHOLONOMIC = re.compile("roll|knife|skate|wheel|nonholonomic", re.IGNORECASE)
"""names that models of rolling bodies try"""


@dataclass
class Reading:
    """Result of reading: values of the fields, data for checks across elements, and problems."""

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, list[Any]] = field(default_factory=dict)

    def parts(self) -> Parts:
        """The elements in the form for the checks."""
        pairs: dict[str, Any] = {k: tuple(zip(self.labels[k], self.values[k], strict=True)) for k in _LISTS}
        tables: dict[str, Any] = {name: self.values[name] for name in _TABLES}
        return Parts(
            **pairs,
            **tables,
            gravity=self.values.get("gravity", ()),
            unread_bodies=tuple(n for x in self.unread["bodies"] if (n := _name_of(x)) is not None),
            unread_joints=tuple(_unread_joint(x) for x in self.unread["joints"]),
            unread_parameters=frozenset(self.unread["parameters"]),
            unread_inputs=frozenset(self.unread["inputs"]),
        )


def read_fields(data: Mapping[str, Any]) -> Reading:
    """Reads every field and element of a model separately."""
    reading = Reading()
    reading.problems += _strange_fields(data)
    large = list(too_large(data, IN_PYTHON))
    if large:
        reading.problems += large
        return reading
    for name, adapter in _PLAIN.items():
        if name in data:
            found = _read(adapter, data[name], reading.problems, "model", None, name)
            if found is not None:
                reading.values[name] = found
        elif name in _REQUIRED:
            reading.problems.append(Problem("model", name, "is missing", _REQUIRED[name]))
    for section in _TABLES:
        _read_table(section, data.get(section, {}), reading)
    for section in _LISTS:
        _read_list(section, data.get(section, []), reading)
    bodies = data.get("bodies", [])
    if isinstance(bodies, (list, tuple)) and not bodies:
        advice = "add at least one body and the joint that connects it"
        reading.problems.append(Problem("model", "bodies", "there are no bodies", advice))
    return reading


def _strange_fields(data: Mapping[str, Any]) -> Iterator[Problem]:
    strange = [name for name in data if name not in FIELDS]
    for name in strange[:200]:
        place = field_text([str(name)]) or '""'
        yield Problem("model", place, "is not a field known here", suggestion(str(name), FIELDS))


def too_large(data: Mapping[str, Any], times: int = 1) -> Iterator[Problem]:
    """Problems for data larger than ``times`` the limits above."""
    limits = [(name, times * most) for name, (_, most) in _LISTS.items()]
    limits += [(name, times * most) for name, (_, _, most) in _TABLES.items()]
    most_values, most_text = times * MOST_VALUES, times * MOST_TEXT
    for section, most in limits:
        entries = data.get(section, ())
        if isinstance(entries, (Mapping, list, tuple)) and len(entries) > most:
            cause = f"{len(entries)} {section} exceed the {most} allowed"
            yield Problem("model", section, cause, "split the model")
    count, depth = 0, 0
    texts: set[str] = set()
    level: list[Any] = [data]
    while level and count <= most_values and depth <= DEEPEST:
        count += len(level)
        texts.update(value for value in level if isinstance(value, str))
        depth += 1
        level = [entry for value in level for entry in _inside(value)]
    if count > most_values:
        yield Problem("model", "", f"it has more than {most_values} numbers and texts", "split the model")
    elif level:
        yield Problem("model", "", f"tables and lists are nested more than {DEEPEST} levels deep")
    elif (length := sum(len(text) for text in texts if len(text) > 64 or not text.isidentifier())) > most_text:
        cause = f"its texts have {length} characters together, at most {most_text} are allowed"
        yield Problem("model", "", cause, "name repeated parts of expressions as parameters")


def _inside(value: Any) -> Any:
    if type(value) in (str, int, float):  # most of them
        return ()
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()


def _read(
    adapter: TypeAdapter[Any], value: Any, problems: list[Problem], element: str, cls: type | None, prefix: str = ""
) -> Any:
    """The validated value, or None after appending its problems."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        for p in problems_from(error, element, cls):
            place = p.field if not prefix else prefix + (p.field if p.field[:1] in ("", "[") else f".{p.field}")
            problems.append(Problem(p.element, place, p.cause, p.advice))
        return None


def _read_table(section: str, data: Any, reading: Reading) -> None:
    kind, names, _ = _TABLES[section]
    sound: dict[str, Any] = {}
    unread: list[str] = []
    reading.values[section], reading.unread[section] = sound, unread
    if not isinstance(data, Mapping):
        cause = f"must be a table of names and values, found {shown(data)}"
        reading.problems.append(Problem("model", section, cause, f"write [{section}] in single brackets"))
        return
    for name, value in data.items():
        element = f"{kind} {quote(name) if isinstance(name, str) else shown(name)}"
        before = len(reading.problems)
        _read(names, name, reading.problems, element, None, "name")
        rotation = section == "initial" and isinstance(value, (Mapping, Rotation))
        adapter, cls = (_ROTATION, Rotation) if rotation else (_SCALAR, None)
        found = _read(adapter, value, reading.problems, element, cls)
        if len(reading.problems) == before:
            sound[name] = found
        elif isinstance(name, str):
            unread.append(name)


def _read_list(section: str, data: Any, reading: Reading) -> None:
    kind, _ = _LISTS[section]
    sound: list[Any] = []
    labels: list[str] = []
    unread: list[Any] = []
    reading.values[section], reading.labels[section], reading.unread[section] = sound, labels, unread
    if not isinstance(data, (list, tuple)):
        cause = f"must be a list, found {shown(data)}"
        reading.problems.append(Problem("model", section, cause, f"write [[{section}]] in double brackets"))
        return
    shared = _Shared(SHORTHANDS if section == "bodies" else ())
    for index, item in enumerate(data):
        label = label_of(kind, item, index)
        if _has_type(section, item, label, reading.problems):
            cls: type[Element] = Body if section == "bodies" else _KINDS[section][_field(item, "type")]
            found = _read(adapter_of(cls), shared.in_place(item), reading.problems, label, cls)
            if found is not None:
                shared.keep(item, found)
                sound.append(found)
                labels.append(label)
                continue
        unread.append(item)


class _Shared:
    """Shorthands of bodies that were read before: those with equal data become one, which is not read again."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._known: dict[str, Element] = {}

    def in_place(self, item: Any) -> Any:
        """The data of an element with such shorthands in place of their data."""
        known = {name: self._known[key] for name, key in self._keys(item) if key in self._known}
        return item | known if known else item

    def keep(self, item: Any, found: Any) -> None:
        """Remembers the shorthands of an element that has been read."""
        for name, key in self._keys(item):
            self._known.setdefault(key, getattr(found, name))

    def _keys(self, item: Any) -> list[tuple[str, str]]:
        if type(item) is not dict:
            return []
        given = [(name, item[name]) for name in self._names if name in item]
        return [(name, f"{name} {value!r}") for name, value in given if type(value) is dict and _is_plain(value)]


def _is_plain(value: dict[Any, Any]) -> bool:
    """Whether a table holds only numbers and texts, which differ in their representation."""
    return all(type(name) is str and type(x) in (str, int, float) for name, x in value.items())


def _has_type(section: str, item: Any, label: str, problems: list[Problem]) -> bool:
    """Whether an element is a table with a known type; otherwise the problem is appended."""
    if not isinstance(item, (dict, Element)):
        cause = f"must be a table of fields, found {shown(item)}"
        problems.append(Problem(label, "", cause, f"write [[{section}]] and its fields below"))
        return False
    types = _KINDS.get(section)
    kind = _field(item, "type")
    if types is None or (isinstance(kind, str) and kind in types):
        return True
    if kind is None:
        problems.append(Problem(label, "type", "is missing", f"add type = ..., one of {', '.join(types)}"))
    elif not isinstance(kind, str):
        cause = f"must be text in quotes, found {shown(kind)}"
        problems.append(Problem(label, "type", cause, f"one of {', '.join(types)}"))
    else:
        cause = f"there is no {label.split()[0]} type {quote(kind)}"
        if section == "joints" and _NONHOLONOMIC.search(kind):
            cause += ": nonholonomic joints (rolling without slip, knife edges) are not supported"
            problems.append(Problem(label, "type", cause, available(types)))
        else:
            problems.append(Problem(label, "type", cause, suggestion(kind, types)))
    return False


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _name_of(item: Any) -> str | None:
    name = _field(item, "name") if isinstance(item, (dict, Element)) else None
    return name if isinstance(name, str) else None


def label_of(kind: str, item: Any, index: int) -> str:
    """The name of a body, joint or force in messages."""
    name = _name_of(item)
    if name:
        return f"{kind} {quote(name)}"
    what = _field(item, "type") if isinstance(item, (dict, Element)) else None
    known = isinstance(what, str) and re.fullmatch("[a-z-]{1,20}", what)
    return f"{kind} number {index + 1} ({what})" if known else f"{kind} number {index + 1}"


def labelled(kind: str, items: Sequence[Any]) -> tuple[tuple[str, Any], ...]:
    """Elements with their names in messages."""
    return tuple((label_of(kind, item, index), item) for index, item in enumerate(items))


def _unread_joint(item: Any) -> Unread:
    if not isinstance(item, dict):
        return Unread("", "", "", frozenset())
    sides = {}
    for place in ("parent", "child"):
        side = item.get(place)
        body = side.get("body") if isinstance(side, dict) else getattr(side, "body", side)
        sides[place] = body if isinstance(body, str) else ""
    names = [*_texts(item.get("names")), *_texts(item.get("coordinates"))]
    return Unread(_name_of(item) or "", sides["parent"], sides["child"], frozenset(names))


def _texts(value: Any) -> list[str]:
    return [x for x in value if isinstance(x, str)] if isinstance(value, (list, tuple)) else []
