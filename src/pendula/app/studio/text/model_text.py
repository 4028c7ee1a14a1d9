"""A model as text and as data, two views of one thing, with every problem at its place in both.

A page edits a model as TOML or as a form. :func:`check_text` and :func:`check_data` convert either into the other, also
while the model is not valid yet, and give every problem with its path in the data and, where it can be found, its line
in the text.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any

from pendula.app.studio.text.toml_edit import edited
from pendula.errors import ModelError, Problem
from pendula.model.files import data_text, loads, parse_toml
from pendula.model.model import Model
from pendula.model.names import quote
from pendula.model.reading import label_of

Path = list[int | str]

_SECTIONS = {"body": "bodies", "joint": "joints", "force": "forces"}
_TABLES = {"parameter": "parameters", "input": "inputs", "initial": "initial"}
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|([^.\[\]"]+)|\[(\d+)\]')
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w-]+)\s*\]")
_KEY = re.compile(r'\s*(?:([\w-]+)|"([^"]*)")\s*=')


def check_text(text: str) -> dict[str, Any]:
    """The problems of a model given as text, and its data.

    Example:
        >>> found = check_text('name = "x"\\ngravity = [0, 0, 0]\\n[[bodies]]\\nname = "rod"\\nmas = 1\\n')
        >>> found["ok"], found["problems"][0]["path"], found["problems"][0]["line"]
        (False, ['bodies', 0, 'mas'], 5)
    """
    data = _data_of(text)
    return _checked(text, data)


def check_data(data: Any, before: str = "") -> dict[str, Any]:
    """The same for a model given as data; the text is written from it.

    Args:
        data: of the model.
        before: the text of the model before its data were changed. Its comments, its order and the way in which its
            values are written stay, as far as the same things are still there; ``rewritten`` is true if that failed.

    Example:
        >>> before = 'name = "x"  # a note\\ngravity = [0, 0]\\n'
        >>> print(check_data({"name": "y", "gravity": [0, 0]}, before)["text"], end="")
        name = "y"  # a note
        gravity = [0, 0]
    """
    if not isinstance(data, Mapping):
        return _checked("", None)
    wanted = _without_gaps(data)
    old = _data_of(before) if before else None
    kept = edited(before, old, wanted, _data_of) if isinstance(old, Mapping) else None
    found = _checked(data_text(wanted) if kept is None else kept, data)
    return found | {"rewritten": bool(before) and kept is None}


def _checked(text: str, data: Any) -> dict[str, Any]:
    problems: list[dict[str, Any]] = []
    about = None
    try:
        about = _plain(_about(loads(text, source="")))
    except ModelError as error:
        problems = [_placed(problem, text, data) for problem in error.problems]
    return {"ok": not problems, "problems": problems, "text": text, "data": data, "about": about}


def _about(model: Model) -> dict[str, Any]:
    """What a page wants to know about a valid model: names with their units, values of parameters."""
    from pendula.model.checks.parameter_units import parameter_units

    units, known = model.unit_names, parameter_units(model)
    return {
        "name": model.name,
        "coordinates": [{"name": c.name, "unit": units.coordinate(c.kind)} for c in model.coordinates],
        "speeds": [{"name": s.name, "unit": units.speed(s.kind)} for s in model.speeds],
        "parameters": [{"name": n, "value": x, "unit": known.get(n, "")} for n, x in model.parameter_values.items()],
        "inputs": list(model.inputs),
        "bodies": [body.name for body in model.bodies],
        "joints": [joint.name for joint in model.joints],
        "loops": len(model.closures),
        "units": {"length": units.length, "mass": units.mass, "time": units.time},
    }


def _data_of(text: str) -> Any:
    """TOML as data that JSON can hold; None if it is not TOML."""
    try:
        return _plain(parse_toml(text, ""))
    except ModelError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _without_gaps(value: Any) -> Any:
    """Data without fields that are null: a form leaves them empty, and TOML has no word for it."""
    if isinstance(value, Mapping):
        return {key: _without_gaps(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [_without_gaps(entry) for entry in value if entry is not None]
    return value


# --- where a problem is -----------------------------------------------------------------------------------


def _placed(problem: Problem, text: str, data: Any) -> dict[str, Any]:
    path = path_of(problem, data)
    found = {"path": path, "message": problem.cause, "advice": problem.advice, "element": problem.element}
    syntax = _AT_LINE.search(problem.cause)
    line = int(syntax[1]) if syntax else line_of(path, text)
    return found | ({"line": line} if line is not None else {})


def path_of(problem: Problem, data: Any) -> Path:
    """The path of a problem in the data of its model; empty for the model itself."""
    fields: Path = [int(index) if index else word or quoted for quoted, word, index in _PART.findall(problem.field)]
    if not isinstance(data, Mapping):
        return []
    kind = problem.element.partition(" ")[0]
    if section := _SECTIONS.get(kind):
        items = data.get(section)
        for index, item in enumerate(items if isinstance(items, list) else []):
            if label_of(kind, item, index) == problem.element:
                return [section, index, *fields]
        return [section]
    if table := _TABLES.get(kind):
        entries = data.get(table)
        for name in entries if isinstance(entries, Mapping) else []:
            if f"{kind} {quote(name)}" == problem.element:
                return [table, name, *(part for part in fields if part != "name")]
        return [table]
    return [problem.element, *fields] if problem.element in data else fields


def line_of(path: Path, text: str) -> int | None:
    """The line of a path in a text, as far as sections and keys begin their lines; lines count from 1.

    Example:
        >>> line_of(["joints", 1, "type"], "[[joints]]\\nname = 'a'\\n[[joints]]\\ntype = 3\\n")
        4
    """
    if not path:
        return None
    counts: dict[str, int] = {}
    here: Path = []
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            name = header[2]
            here = [name]
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
                here = [name, counts[name]]
            if path[: len(here)] == here:
                best = number
        elif (key := _KEY.match(line)) and [*here, key[1] or key[2]] == path[: len(here) + 1]:
            return number
    return best
