"""Measurements: read from files, mappings of arrays or data frames, with names, units and missing values."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.names import quote, suggestion
from pendula.model.quantities import Quantity, in_unit
from pendula.storage.pipes import read_limited
from pendula.system.layout import Array
from pendula.tables.flat import rows_of
from pendula.tables.formats import FORMATS, read_table

TIME = ("t", "time")
OF_RUNS = "run."
"""prefix of the columns of a saved run that describe its computation: run.energy_error, run.violation"""
_WITH_UNIT = re.compile(r"^\s*(?P<name>.*?)\s*[\[(](?P<unit>[^\])]*)[\])]\s*$")
MOST_BYTES = 200_000_000
MISSING = {"", "nan", "na", "n/a", "none", "null", "-"}


@dataclass(frozen=True, eq=False)
class Measurements:
    """Columns of one experiment: times, and values by name in units of the model; NaN where nothing was measured.

    ``left_out`` are columns of a saved run that the mechanism's states determine, such as energies.
    """

    t: Array
    values: dict[str, Array]
    source: str
    left_out: tuple[str, ...] = ()


def read_columns(path: str | Path) -> dict[str, Array]:
    """Columns of a CSV file by their headings; separators are commas, semicolons or tabs, # starts a comment.

    Raises:
        UsageError: the file cannot be read, has no columns, or a value is no number.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "d.csv").write_text("t,theta [deg]\\n0,10\\n0.1,\\n")
        ...     {name: column.tolist() for name, column in read_columns(f"{folder}/d.csv").items()}
        {'t': [0.0, 0.1], 'theta [deg]': [10.0, nan]}
    """
    try:
        content = read_limited(path, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UsageError(f"{path}: the file is larger than {MOST_BYTES / 1e6:.0f} MB")
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: also a path that no file can have
        text = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = error.strerror if isinstance(error, OSError) else text
        raise UsageError(f"cannot read {path}: {reason}") from None
    lines = [
        (k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise UsageError(f"{path}: a line of headings and at least one line of numbers are needed")
    head = lines[0][1]
    if head.lstrip().startswith("<"):
        raise UsageError(
            f"{path} is a page (HTML or XML), not a table of measurements.\n"
            "  Try: save the table that it shows as CSV, a line of headings and lines of numbers."
        )
    mark = max(",;\t", key=head.count)
    names = [cell.strip() for cell in next(csv.reader([head], delimiter=mark))]
    if len({*names}) < len(names) or not all(names):
        raise UsageError(f"{path}: headings must not be empty and must differ, found {', '.join(map(quote, names))}")
    rows = []
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=mark))]
        if len(cells) != len(names):
            raise UsageError(f"{path}, line {number}: {len(cells)} values for {len(names)} headings")
        rows.append([_number(cell, path, number, name) for cell, name in zip(cells, names, strict=True)])
    table = np.array(rows, dtype=float)
    return {name: table[:, k] for k, name in enumerate(names)}


def _columns_of_file(path: str | Path) -> dict[str, Array]:
    """Columns of a CSV file, or of a run that was saved in another format of tables."""
    ending = Path(path).suffix.lower()
    if ending == ".csv" or ending not in FORMATS:
        return read_columns(path)
    columns = [column for column in rows_of(read_table(path)).values() if column.values.dtype.kind in "biuf"]
    return {f"{c.name} [{c.unit}]" if c.unit else c.name: np.asarray(c.values, dtype=float) for c in columns}


def _number(cell: str, path: str | Path, line: int, name: str) -> float:
    if cell.lower() in MISSING:
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise UsageError(f"{path}, line {line}: {quote(name)} must be a number, found {quote(cell)}") from None


def experiments(data: Any) -> list[tuple[str, dict[str, Array]]]:
    """Columns of every experiment with its source: files, mappings, data frames, or a list of these."""
    if isinstance(data, (str, os.PathLike)):
        return [(str(data), _columns_of_file(data))]  # type: ignore[arg-type]
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        return [("data", _columns(data))]
    if isinstance(data, Sequence) and data:
        found = []
        for k, one in enumerate(data, 1):
            (source, columns), *more = experiments(one)
            if more:
                raise UsageError("data is a list of experiments, not of lists")
            found.append((source if source != "data" else f"experiment {k}", columns))
        return found
    raise UsageError("data is a file (CSV, or a saved run), columns by name, a data frame, or a list of these")


def _columns(data: Any) -> dict[str, Array]:
    names = list(data.columns) if hasattr(data, "columns") else list(data)
    found = {}
    for name in names:
        try:
            found[str(name)] = np.asarray(data[name], dtype=float).ravel()
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"column {quote(str(name))} must contain numbers") from None
    if hasattr(data, "index") and getattr(data.index, "name", None) in TIME and not {*found} & {*TIME}:
        found = {str(data.index.name): np.asarray(data.index, dtype=float), **found}
    sizes = {name: len(column) for name, column in found.items()}
    if len({*sizes.values()}) > 1:
        raise UsageError(f"columns must have one length, found {sizes}")
    return found


def measurements(
    source: str, columns: Mapping[str, Array], known: Mapping[str, str], ignore: Sequence[str], time_unit: str,
    derived: Container[str] = (),
) -> Measurements:  # fmt: skip
    """Columns by the names of a mechanism, in its units.

    Args:
        known: names that may be columns, with their units.
        ignore: columns to leave out.
        derived: names of columns that a saved run has beside its states; they are left out, too.

    Raises:
        UsageError: a column is unknown or has another dimension, there are no times, or they do not increase.
    """
    t: Array | None = None
    values: dict[str, Array] = {}
    left_out: list[str] = []
    unknown: dict[str, str] = {}
    for heading, column in columns.items():
        name, unit = _heading(heading, known)
        if heading in ignore or name in ignore:
            continue
        if name in TIME and name not in known:
            if t is not None:
                raise UsageError(f"{source}: there are two columns of times")
            t = column * _factor(unit, time_unit, f"{source}: {quote(heading)}")
            continue
        if name not in known:
            if name in derived or name.startswith(OF_RUNS):
                left_out.append(name)
            else:
                unknown[heading] = name
            continue
        if name in values:
            raise UsageError(f"{source}: there are two columns of {quote(name)}")
        values[name] = column * _factor(unit, known[name], f"{source}: {quote(heading)}")
    if unknown:
        raise UsageError(f"{source}: {_unknown(unknown, known)}")
    if t is None:
        raise UsageError(f'{source}: there is no column of times "t"; found {", ".join(map(quote, columns))}')
    if not np.isfinite(t).all() or not (np.diff(t) > 0).all():
        raise UsageError(f"{source}: times must be finite and increase")
    if t.size < 2:
        raise UsageError(f"{source}: at least two times are needed")
    return Measurements(t, values, source, tuple(left_out))


def _unknown(columns: Mapping[str, str], known: Mapping[str, str]) -> str:
    """What is wrong with columns that the mechanism does not know, all in one message."""
    first = next(iter(columns.values()))
    hint = suggestion(first, known, most=12)
    one = len(columns) == 1
    names = ", ".join(map(quote, columns))
    what = f"column {names} is no quantity" if one else f"columns {names} are no quantities"
    leave = ", ".join(quote(name) for name in columns.values())
    return f"{what} of the mechanism; {hint}\n  To leave {'it' if one else 'them'} out: ignore=[{leave}]"


def _heading(heading: str, known: Mapping[str, str]) -> tuple[str, str | None]:
    """Name and unit of a heading such as theta [deg]; None: no unit given."""
    if heading.strip() in known:
        return heading.strip(), None
    found = _WITH_UNIT.match(heading)
    return (found["name"], found["unit"].strip()) if found else (heading.strip(), None)


def _factor(unit: str | None, own: str, where: str) -> float:
    """Units of the model per unit of a column."""
    if unit is None or unit == own:
        return 1.0
    if unit == "deg" and own == "rad":
        return float(np.pi / 180)
    return in_unit(Quantity(1.0, unit, f"1 {unit}"), own, where)
