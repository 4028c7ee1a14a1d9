"""CSV: comment lines with metadata, one line of names with units, and one line for each row.

Numbers are in the shortest form that reads back to the same bits. The last line, a comment too, is the head of the
table as JSON with the arrays that have no place among the rows; a file without it is truncated.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from pendula.tables.flat import rows_of, table_of_rows
from pendula.tables.formats import TableFormat
from pendula.tables.head import in_rows, read_head, write_head
from pendula.tables.kinds import RESTORERS
from pendula.tables.table import KINDS, Array, Table

_MAKER, _LAST = "Pendula", "# pendula: "
_AT_ONCE = 4096
_LONGEST = 400


def write(table: Table, file: BinaryIO) -> None:
    """Writes a table as CSV."""
    for line in _preface(table):
        file.write(f"# {line}\n".encode())
    columns = rows_of(table)
    named = [f"{c.name} [{c.unit}]" if c.unit else c.name for c in columns.values()]
    arrays = [c.values for c in columns.values()]
    count = len(arrays[0]) if arrays else 0
    file.write(_line([named]))
    for first in range(0, count, _AT_ONCE):
        parts = [_texts(values[first : first + _AT_ONCE]) for values in arrays]
        file.write(_line(zip(*parts, strict=True)))
    file.write(f"{_LAST}{write_head(table, beside=True)}\n".encode())


def _preface(table: Table) -> Iterator[str]:
    """What a reader of the file should know, in a few lines."""
    how = "; pendula.load_run reads it back" if table.kind in RESTORERS else ""
    yield f"{table.kind} by {_MAKER}{how}"
    for name, value in table.attributes.items():
        if isinstance(value, str | int | float | bool) and value != "" and "\n" not in str(value):
            yield f"{name}: {value}"[:_LONGEST]
    values = table.attributes.get("parameters")
    if isinstance(values, dict):
        yield ("parameters: " + ", ".join(f"{name} = {value!r}" for name, value in values.items()))[:_LONGEST]


def _texts(values: Array) -> list[str]:
    if values.dtype.kind == "f":
        return [*map(repr, np.asarray(values, dtype=float).tolist())]
    return [*map(str, values.tolist())]


def _line(rows: object) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return text.getvalue().encode()


def read(file: BinaryIO) -> Table:
    """Reads a table from CSV.

    Raises:
        ValueError: it is foreign, truncated or damaged.
    """
    try:
        text = file.read().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not text") from None
    lines = text.splitlines()
    if not lines or not lines[-1].startswith(_LAST):
        ours = lines and f" by {_MAKER}" in lines[0]
        raise ValueError("it is truncated: its last line is missing" if ours else "it holds no table of Pendula")
    head = read_head(lines[-1].removeprefix(_LAST))
    rows = [*csv.reader(line for line in lines[:-1] if not line.startswith("#"))]
    if not rows:
        raise ValueError("its rows are missing")
    names = [name.rpartition(" [")[0] if name.endswith("]") else name for name in rows[0]]
    if any(len(row) != len(names) for row in rows):
        raise ValueError("a row has more or fewer entries than there are columns")
    kinds = _kinds(head, names)
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(names)
    found = {name: _values(texts, kind) for name, kind, texts in zip(names, kinds, columns, strict=True)}
    return table_of_rows(head, found)


def _kinds(head: Mapping[str, Any], names: list[str]) -> list[str]:
    """The kind of values of each column, from the block that it belongs to."""
    known: dict[str, str] = {}
    main = tuple(head["main"])
    for one in head["blocks"]:
        for name in one.get("columns") or [one["name"]]:
            if in_rows(tuple(one["dims"]), main) or one["name"] in main:
                known[name] = one["kind"]
    found = []
    for name in names:
        parts = name.split(".")
        heads = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
        found.append(next((known[x] for x in heads if x in known), "f" if name not in main else "i"))
    return found


def _values(texts: tuple[str, ...], kind: str) -> Array:
    if kind == "b":
        if not {*texts} <= {"True", "False"}:
            raise ValueError("a truth value is neither True nor False")
        return np.array([text == "True" for text in texts], dtype=bool)
    try:
        if kind == "f":
            return np.array([*map(float, texts)], dtype=float)
        return np.array([*map(int, texts)] if kind == "i" else texts, dtype=np.dtype(KINDS[kind]))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"a value is not a number ({error})") from None


FORMAT = TableFormat(".csv", write, read)
