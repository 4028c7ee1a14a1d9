"""Reads and writes model files in TOML, and the JSON schema for editors."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pendula.errors import ModelError, Problem, UsageError
from pendula.model.forces.base import NEED_ONE
from pendula.model.model import Model
from pendula.model.names import nearest, quote
from pendula.model.problems import shown
from pendula.model.reading import MOST_ENTRIES, MOST_TEXT, MOST_VALUES, too_large
from pendula.storage.files import write_text
from pendula.storage.pipes import read_limited

LARGEST_FILE = 4_000_000
"""Largest size of a model file in bytes."""
MOST_DOTS = 20
"""Largest number of parts of a dotted key; tomllib is very slow for keys of thousands of parts."""
MOST_TABLES = 60_000
"""Largest number of tables with a heading, such as [[bodies]] or [joints.parent]."""
MOST_MARKS = MOST_VALUES + MOST_TEXT
"""Largest number of dots, and of commas and equality signs: each belongs to a value or is within a text."""

_TABLE = re.compile(r"(?m)^[ \t]*\[")
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_DOTS}}}""")


def load(path: str | Path) -> Model:
    """Reads a model file.

    Raises:
        ModelError: the file cannot be read or the model is wrong; the message lists every problem.

    Example:
        >>> import tempfile
        >>> from pendula import library
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(library.cart_pole(), f"{folder}/cart.toml")
        ...     [c.name for c in load(f"{folder}/cart.toml").coordinates]
        ['x', 'theta']
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"load expects the path of a model file, found a {type(path).__name__}")
    text, source = _read(path)
    if text.lstrip().startswith("<"):
        advice = "for URDF and MJCF: pendula.exchange.load_robot(path)"
        raise ModelError([Problem("file", "", "it is XML; a model file is TOML", advice)], source=source)
    return loads(text, source=source)


def read_toml(path: str | Path) -> tuple[dict[str, Any], str]:
    """Plain data of a TOML file, and the name of the file for messages.

    Raises:
        ModelError: the file cannot be read, is too large or is not TOML.
    """
    text, source = _read(path)
    return parse_toml(text, source), source


def _read(path: str | Path) -> tuple[str, str]:
    """Text of a file, and its name for messages."""
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError([Problem("file", "", f"must be given by its path, found {shown(path)}")])
    source = _printable(str(path))
    try:
        content = read_limited(path, LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: an invalid path
        if isinstance(error, FileNotFoundError):
            raise ModelError([_missing(path)], source=source) from None
        reason = getattr(error, "strerror", None) or error
        raise ModelError([Problem("file", "", f"it cannot be read: {reason}")], source=source) from None
    if len(content) > LARGEST_FILE:
        raise ModelError([Problem("file", "", f"it is larger than {LARGEST_FILE} bytes")], source=source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cause = f"it is not UTF-8 text (byte {error.start + 1} of {len(content)})"
        raise ModelError([Problem("file", "", cause, "save it as UTF-8")], source=source) from None
    return text, source


def _missing(path: str | Path) -> Problem:
    """The problem of a file that does not exist, with the file that was probably meant."""
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    try:
        others = [os.path.splitext(entry.name) for entry in os.scandir(folder or ".") if entry.is_file()]
    except OSError:
        return Problem("file", "", "there is no such file, because there is no such folder")
    near = nearest(stem, [other for other, other_ending in others if other_ending == ending])
    advice = f"did you mean {quote(near + ending)}?" if near else "check its name and its folder"
    return Problem("file", "", "there is no such file", advice)


def loads(text: str, *, source: str = "model text") -> Model:
    """Reads a model from TOML text.

    Example:
        >>> loads('name = "x"\\ngravity = [0, 0]\\nbodies = []')
        Traceback (most recent call last):
        ...
        pendula.errors.ModelError: model text: model: bodies: there are no bodies
              Try: add at least one body and the joint that connects it
    """
    if not isinstance(text, str):
        raise ModelError([Problem("model", "", f"must be text, found {shown(text)}")], source=source)
    return from_data(parse_toml(text, source), source=source)


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """TOML text as plain data; raises ModelError if it is not TOML, or too large or too deep for a model."""
    if len(text) > LARGEST_FILE:
        raise ModelError([Problem("file", "", f"it is larger than {LARGEST_FILE} bytes")], source=source)
    if problems := list(_too_much(text)):
        raise ModelError(problems, source=source)
    try:
        return tomllib.loads(text)
    except RecursionError:
        cause = "it is not a model: tables and lists are nested too deeply"
    except ValueError as error:  # also for integers of thousands of digits
        digits = "int_max_str_digits" in str(error)
        cause = f"it is not valid TOML: {'an integer has too many digits' if digits else _printable(str(error))}"
    raise ModelError([Problem("file", "", cause, _toml_advice(cause))], source=source)


_TOML_ADVICE = (
    (r"Illegal character '\\n'|Unterminated string", "end the text with a quote on its own line: is a quote missing?"),
    (r"Cannot declare \('(\w+)',\) twice", r"write [[\1]] in double brackets, once for each entry"),
    (r"Cannot overwrite a value", "is the same key written twice, or [x] where [[x]] was meant?"),
    (r"Invalid value", "write text in quotes, and lists in square brackets"),
)
"""advice by the message of the TOML reader"""


def _toml_advice(cause: str) -> str:
    for pattern, advice in _TOML_ADVICE:
        if found := re.search(pattern, cause):
            return found.expand(advice)
    return ""


def _too_much(text: str) -> Iterator[Problem]:
    """Problems of a text with more than a model can have, found by counting: parsing it would take long."""
    for section, most in MOST_ENTRIES.items():
        count = len(re.findall(rf"(?m)^[ \t]*\[\[[ \t]*{section}[ \t]*\]\]", text))
        if count > most:
            yield Problem("model", section, f"{count} {section} exceed the {most} allowed", "split the model")
            return
    tables = len(_TABLE.findall(text))
    if tables > MOST_TABLES:
        yield Problem("file", "", f"it has {tables} tables, at most {MOST_TABLES} are allowed", "split the model")
    elif _LONG_KEY.search(text):
        cause = f"it is not a model: a key has more than {MOST_DOTS} parts joined by dots"
        yield Problem("file", "", cause)
    elif text.count("=") + text.count(",") > MOST_MARKS or text.count(".") > MOST_MARKS:
        yield Problem("model", "", f"it has more than {MOST_VALUES} numbers and texts", "split the model")


def _printable(text: str) -> str:
    """Text in one line, with unprintable characters escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def from_data(data: Mapping[str, Any], *, source: str = "model data") -> Model:
    """A model from plain data (dicts, lists, numbers, strings)."""
    try:
        if isinstance(data, Mapping) and (problems := list(too_large(data))):
            raise ModelError(problems)
        return Model.model_validate(data)
    except ModelError as error:
        raise error.in_file(source) from None


def to_data(model: Model) -> dict[str, Any]:
    """A model as plain data, without default values."""
    data: dict[str, Any] = _plain(model)
    sections: dict[str, tuple[Any, ...]] = {"joints": model.joints, "forces": model.forces}
    for section, original in sections.items():
        entries = [_complete(item, e) for item, e in zip(data.get(section, []), original, strict=False)]
        if entries:
            data[section] = entries
    tables = ("parameters", "inputs", "bodies", "joints", "forces", "initial")
    return {k: data[k] for k in ("name", "description", "units", "gravity", *tables) if k in data}


def _complete(item: dict[str, Any], element: Any) -> dict[str, Any]:
    """The fields of an element with its type after its name.

    A stiffness or damping of zero that was given is among them if there is neither: such a force would be refused.
    """
    name = {"name": item["name"]} if "name" in item else {}
    given = set() if NEED_ONE & item.keys() else NEED_ONE & element.model_fields_set
    return {**name, "type": element.type, **item, **{field: getattr(element, field) for field in sorted(given)}}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        out = {}
        for name, field in type(value).model_fields.items():
            entry = getattr(value, name)
            if entry is None or (not field.is_required() and entry == field.get_default(call_default_factory=True)):
                continue
            out[field.alias or name] = _motion(entry) if name == "motion" else _plain(entry)
        return out
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _motion(motion: Mapping[str, Any]) -> Any:
    return motion[""] if set(motion) == {""} else dict(motion)


def dumps(model: Model) -> str:
    """A model as TOML text; ``loads`` returns an equal model.

    Example:
        >>> from pendula import library
        >>> loads(dumps(library.pendulum())) == library.pendulum()
        True
    """
    if not isinstance(model, Model):
        raise UsageError(f"dumps and save take a model, found a {type(model).__name__}")
    return data_text(to_data(model))


def data_text(data: Mapping[str, Any]) -> str:
    """Plain data in the form of a model file, as TOML text; it need not be a valid model.

    Example:
        >>> print(data_text({"bodies": [{"name": "rod"}], "name": "unfinished"}), end="")
        name = "unfinished"
        <BLANKLINE>
        [[bodies]]
        name = "rod"
    """
    lines = [f"{key_text(key)} = {value_text(value)}" for key, value in data.items() if not _is_section(value)]
    for key, value in data.items():
        if isinstance(value, dict):
            lines += ["", f"[{key_text(key)}]", *_entries(value)]
        elif _is_section(value):
            for entry in value:
                lines += ["", f"[[{key_text(key)}]]", *_entries(entry)]
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    is_list = isinstance(value, list) and bool(value)
    return isinstance(value, dict) or (is_list and all(isinstance(entry, dict) for entry in value))


def _entries(table: dict[str, Any]) -> list[str]:
    return [f"{key_text(name)} = {value_text(value)}" for name, value in table.items()]


def save(model: Model, path: str | Path) -> None:
    """Writes a model file.

    Raises:
        UsageError: the file cannot be written.

    Example:
        >>> import tempfile
        >>> from pendula import library
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(library.pendulum(), f"{folder}/swing.toml")
        ...     load(f"{folder}/swing.toml").name
        'pendulum'
    """
    write_text(path, dumps(model))


def key_text(key: str) -> str:
    """A key as TOML, in quotes where it needs them."""
    return key if key and all((c.isalnum() and c.isascii()) or c in "_-" for c in key) else value_text(key)


def value_text(value: Any) -> str:
    """Plain data as a TOML value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items()) + " }"
    return str(value)


def schema() -> dict[str, Any]:
    """JSON schema of model files, for editors that validate TOML or JSON."""
    found = Model.model_json_schema(by_alias=True)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "Pendula model"
    for part in found.get("$defs", {}).values():
        if "const" in part.get("properties", {}).get("type", {}):  # joints and forces must state their type
            part["required"] = sorted({*part.get("required", ()), "type"})
    return found
