"""The head of a table: everything but the arrays, as JSON; and arrays as JSON where a format has no room for them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.tables.table import KINDS, Array, Block, Table

REVISION = 1
"""of the layout of heads; a reader refuses later ones"""
MARK = "pendula_table"
LARGEST = 256 * 2**20
"""characters of a head, beyond which none is read"""
_OWN = (MARK, "kind", "main", "sizes", "blocks", "digest", "beside")
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_head(table: Table, *, digest: bool = True, beside: bool = False) -> str:
    """The head of a table as JSON in one line.

    Args:
        table: the table.
        digest: whether to add a checksum of all values.
        beside: whether to add the values of the arrays that have no place among the rows (:mod:`~.flat`).
    """
    blocks = []
    for block in table.blocks:
        one: dict[str, Any] = {"name": block.name, "dims": list(block.dims), "kind": block.values.dtype.kind}
        if block.unit:
            one["unit"] = block.unit
        if block.columns is not None:
            one |= {"columns": list(block.columns), "units": list(block.units)}
        blocks.append(one)
    data: dict[str, Any] = {MARK: REVISION, "kind": table.kind, **table.attributes, "main": list(table.main)}
    data |= {"sizes": dict(table.sizes), "blocks": blocks}
    if beside:
        data["beside"] = {b.name: to_plain(b.values) for b in table.blocks if not in_rows(b.dims, table.main)}
    if digest:
        data["digest"] = _checksum(data, table)
    return _text(data)


def read_head(text: Any) -> dict[str, Any]:
    """The head of a table from JSON.

    Raises:
        ValueError: it is none; the message says why, without naming a file.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str) or len(text) > LARGEST:
        raise ValueError("it holds no table of Pendula")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("its description of the table is damaged") from None
    if not isinstance(data, dict) or MARK not in data:
        raise ValueError("it holds no table of Pendula")
    if data[MARK] != REVISION:
        raise ValueError(
            f"its layout has the number {data[MARK]!r}, and this version reads {REVISION}: a later version wrote it"
        )
    _check(data)
    return data


def assemble_table(head: Mapping[str, Any], find: Mapping[str, Array]) -> Table:
    """The table of a head and its arrays, by the names of blocks or of their columns.

    Raises:
        ValueError: something is missing, damaged, or does not agree with the checksum.
    """
    try:
        blocks = tuple(_block(one, head.get("beside", {}), find) for one in head["blocks"])
        attributes = {name: value for name, value in head.items() if name not in _OWN}
        table = Table(str(head["kind"]), blocks, tuple(map(str, head["main"])), _unmarked(attributes))
    except UsageError as error:
        raise ValueError(str(error).removeprefix("table: ")) from None
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"its description of the table is damaged ({error})") from None
    if "digest" in head and head["digest"] != _checksum({k: v for k, v in head.items() if k != "digest"}, table):
        raise ValueError("its content has changed since it was written, or a part of it is missing")
    return table


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(_marked(data), allow_nan=False, separators=(", ", ": "))


def _checksum(head: Mapping[str, Any], table: Table) -> str:
    """A checksum of all values and of the rest of the head."""
    return hashlib.sha256((_text(head) + table.digest()).encode()).hexdigest()


def _check(data: Mapping[str, Any]) -> None:
    """Whether the description of arrays in a head has its form.

    Raises:
        ValueError: it does not.
    """
    main, sizes, blocks, beside = (data.get(name) for name in ("main", "sizes", "blocks", "beside"))
    right = (
        isinstance(data.get("kind"), str)
        and _texts(main)
        and isinstance(sizes, dict)
        and all(type(n) is int and n >= 0 for n in sizes.values())
        and isinstance(blocks, list)
        and all(isinstance(one, dict) for one in blocks)
        and all(isinstance(one.get(name), str) for one in blocks for name in ("name", "kind"))
        and all(one["kind"] in KINDS for one in blocks)
        and all(_texts(one.get("dims")) and all(dim in sizes for dim in one["dims"]) for one in blocks)
        and all(_texts(one.get("columns", [])) and _texts(one.get("units", [])) for one in blocks)
        and all(isinstance(one.get("unit", ""), str) for one in blocks)
        and all(dim in sizes for dim in main or ())
        and (beside is None or isinstance(beside, dict))
    )
    if not right:
        raise ValueError("its description of the table is damaged")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _block(one: Mapping[str, Any], beside: Mapping[str, Any], find: Mapping[str, Array]) -> Block:
    name, columns, kind = one["name"], one.get("columns"), one["kind"]
    if name in find:
        values = find[name]
    elif name in beside:
        values = from_plain(beside[name], one)
    elif columns and all(column in find for column in columns):
        values = np.stack([find[column] for column in columns], axis=-1)
    else:
        missing = [x for x in columns or [name] if x not in find] or [name]
        raise ValueError(f'"{missing[0]}" is missing')
    values = np.asanyarray(values)
    if values.dtype.kind != kind:
        raise ValueError(f'"{name}" is not of its kind')
    return Block(
        name, tuple(one["dims"]), values, one.get("unit", ""),
        None if columns is None else tuple(columns), tuple(one.get("units", ())),
    )  # fmt: skip


def in_rows(dims: tuple[str, ...], main: tuple[str, ...]) -> bool:
    """Whether an array has values for every row of a flat file: its first dimensions are the main ones."""
    return dims[: len(main)] == main


# --- plain values: floats by their shortest text that reads back, NaN and infinities by words ----------------------


def to_plain(values: Array) -> Any:
    """An array as nested lists for JSON; shapes with a 0 in them keep it as far as lists can."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return _finite(values.tolist())
    return values.tolist()


def from_plain(data: Any, one: Mapping[str, Any]) -> Array:
    """The array behind :func:`to_plain`, of a block that a head describes.

    Raises:
        ValueError: it is not an array of this kind.
    """
    kind, axes, columns = one["kind"], len(one["dims"]), one.get("columns")
    if kind == "f":
        data = _infinite(data)
    try:
        values = np.array(data, dtype=np.dtype(KINDS[kind]))
    except (TypeError, OverflowError):
        raise ValueError("a list of values is damaged") from None
    if values.size:
        return values
    wanted = axes + (columns is not None)  # lists keep no lengths behind a 0
    if values.ndim < wanted:
        values = values.reshape((0,) * wanted)
    return values if columns is None else values.reshape(*values.shape[:axes], len(columns))


def from_objects(values: Any) -> Array:
    """An array of another package as one of NumPy; words that it holds as objects become text."""
    found = np.asarray(values)
    return found.astype(str) if found.dtype.kind == "O" else found


def _finite(value: Any) -> Any:
    """Nested lists of numbers, with words in place of those that JSON lacks."""
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return value if not isinstance(value, float) or math.isfinite(value) else _word(value)


def _infinite(value: Any) -> Any:
    """The numbers behind the words of :func:`_finite`."""
    if isinstance(value, list):
        return [_infinite(v) for v in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _marked(value: Any) -> Any:
    """Plain data with ``{"number": "NaN"}`` in place of numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": _word(value)}
    if isinstance(value, Mapping):
        return {str(k): _marked(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(v) for v in value]
    return value


def _unmarked(value: Any) -> Any:
    """The plain data behind :func:`_marked`."""
    if isinstance(value, dict):
        if [*value] == ["number"] and value["number"] in _WORDS:
            return _WORDS[value["number"]]
        return {k: _unmarked(v) for k, v in value.items()}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value


def _word(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
