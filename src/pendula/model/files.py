"""Model files: TOML in, TOML out, and the JSON schema that editors use."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pendula.errors import ModelError, Problem
from pendula.model.model import Model

LARGEST_FILE = 5_000_000
"""Bytes."""


def load(path: str | Path) -> Model:
    """Reads a model file.

    Raises:
        ModelError: the file cannot be read or the model is wrong; lists every problem with element and field.
    """
    path = Path(path)
    source = str(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError([Problem("file", "", f"it is larger than {LARGEST_FILE} bytes")], source=source)
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError([Problem("file", "", f"it is not UTF-8 text (byte {error.start})")], source=source) from None
    except OSError as error:
        raise ModelError([Problem("file", "", f"it cannot be read: {error.strerror or error}")], source=source) from None
    return loads(text, source=source)


def loads(text: str, *, source: str = "model text") -> Model:
    """Reads a model from TOML text.

    Example:
        >>> loads('name = "x"\\ngravity = [0, 0]\\nbodies = []')
        Traceback (most recent call last):
        ...
        pendula.errors.ModelError: model text: model: bodies: there are no bodies
              Try: add at least one body and the joint that holds it
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ModelError([Problem("file", "", f"it is not valid TOML: {error}")], source=source) from None
    return from_data(data, source=source)


def from_data(data: Mapping[str, Any], *, source: str = "model data") -> Model:
    """A model from plain data (dicts, lists, numbers, strings)."""
    fields = set(Model.model_fields)
    strange = [Problem("model", str(k), "is not a field known here", f"known are: {', '.join(sorted(fields))}") for k in data if k not in fields]
    known = {str(k): v for k, v in data.items() if k in fields}
    try:
        model = Model(**known)
    except ModelError as error:
        raise ModelError([*strange, *error.problems], source=source) from None
    if strange:
        raise ModelError(strange, source=source)
    return model


def to_data(model: Model) -> dict[str, Any]:
    """A model as plain data; what has its default value is left out."""
    data = _plain(model)
    for section, original in (("joints", model.joints), ("forces", model.forces)):
        for item, element in zip(data.get(section, []), original, strict=False):
            item["type"] = element.type
    ordered = ["name", "description", "units", "gravity", "parameters", "inputs", "bodies", "joints", "forces", "initial"]
    return {k: data[k] for k in ordered if k in data}


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
    """A model as TOML text; ``loads`` gives back an equal model."""
    data = to_data(model)
    lines: list[str] = []
    tables = []
    for key, value in data.items():
        if isinstance(value, dict):
            tables.append((key, value))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            tables.append((key, value))  # type: ignore[arg-type]
        else:
            lines.append(f"{key} = {_value(value)}")
    for key, value in tables:
        for entry in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{key}]]" if isinstance(value, list) else f"[{key}]"]
            lines += [f"{_key(k)} = {_value(v)}" for k, v in entry.items()]
    return "\n".join(lines) + "\n"


def save(model: Model, path: str | Path) -> None:
    """Writes a model file."""
    try:
        Path(path).write_text(dumps(model), encoding="utf-8")
    except OSError as error:
        raise ModelError([Problem("file", "", f"it cannot be written: {error.strerror or error}")], source=str(path)) from None


def _key(key: str) -> str:
    return key if key and all(c.isalnum() and c.isascii() or c in "_-" for c in key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return str(value)


def schema() -> dict[str, Any]:
    """JSON schema of model files, for editors that check TOML or JSON."""
    found = Model.model_json_schema(by_alias=True)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "Pendula model"
    return found
