"""Formats of tables by the ending of a file's name: CSV, NPZ, NetCDF, Parquet, JSON, and those of user code."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pendula.errors import UsageError
from pendula.extras import needed
from pendula.registry import Registry
from pendula.storage.files import writing
from pendula.storage.pipes import open_to_read
from pendula.storage.room import refuse_large

if TYPE_CHECKING:
    from pendula.tables.table import Table  # loads NumPy, which commands that only print help do not need

Write = Callable[["Table", BinaryIO], None]
Read = Callable[[BinaryIO], "Table"]


@dataclass(frozen=True)
class TableFormat:
    """One format of files: how a table is written to an open binary file, how it is read, and what that needs.

    Example:
        >>> TableFormat(".none", lambda table, file: None, lambda file: None).needs
        ()
    """

    ending: str
    write: Write
    read: Read
    needs: tuple[str, ...] = ()
    """packages that it imports"""


FORMATS: Registry[TableFormat] = Registry("format of tables")
"""Formats by the ending of their files."""


def register_table_format(ending: str, form: TableFormat | str, *, summary: str = "") -> None:
    """Adds a format of tables: all results that have a table can then be written to files with this ending.

    Args:
        ending: of the names of its files, such as ``".feather"``.
        form: ``TableFormat(ending, write, read)``. ``write(table, file)`` writes to an open binary file;
            ``read(file)`` returns an equal table, or raises ValueError with what is wrong with the file.
        summary: one line for lists and help.

    Raises:
        UsageError: another module has registered this ending.

    Example:
        >>> register_table_format(".none", TableFormat(".none", lambda table, file: None, lambda file: None))
        >>> ".none" in FORMATS
        True
        >>> _ = FORMATS.remove(".none")
    """
    FORMATS.register(ending.lower(), form, summary=summary)


MOST_FROM_PIPE = 1_000_000_000
"""bytes of a table that a pipe may deliver"""


def format_of(path: str | os.PathLike[str], what: str) -> TableFormat:
    """The format of a file by the ending of its name.

    Raises:
        UsageError: there is none; the message lists the endings that there are.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise UsageError(f'{what} can end in {", ".join(FORMATS)}, found "{os.fspath(path)}"')
    return FORMATS[ending]


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Writes a table in the format that the ending of the file's name asks for.

    Raises:
        UsageError: there is no such format, or the file cannot be written.
        NotSupported: the format needs a package that is not installed; the message names it.
    """
    form = format_of(path, f"the file of a {table.kind}")
    with writing(path) as file:
        form.write(table, file)


def read_table(path: str | os.PathLike[str]) -> Table:
    """Reads a table from a file that :func:`write_table` wrote; nothing in a file is ever executed.

    Raises:
        UsageError: the file is missing, foreign, truncated or damaged; the message says which.
        NotSupported: the format needs a package that is not installed.
    """
    shown = os.fspath(path)
    form = format_of(path, "the file of a run")
    try:
        with open_to_read(path, MOST_FROM_PIPE) as file:
            refuse_large(os.path.getsize(path))
            return form.read(file)
    except OSError as error:
        if error.strerror is not None:
            raise UsageError(f'"{shown}" cannot be read: {error.strerror}') from None
        raise UsageError(f'"{shown}" cannot be read: it is damaged ({error})') from None
    except ValueError as error:
        raise UsageError(f'"{shown}" cannot be read: {error}') from None
    except RecursionError:
        raise UsageError(f'"{shown}" cannot be read: its lists are nested too deeply') from None
    except MemoryError:
        raise UsageError(f'"{shown}" cannot be read: it takes more memory than there is') from None


def check_format(path: str | os.PathLike[str]) -> None:
    """Checks that a file of this ending can be written, before long work starts.

    Raises:
        NotSupported: a package is missing; the message names it.
    """
    form = format_of(path, "a file")
    for package in form.needs:
        needed(package, f"a {form.ending} file")


for _ending, _where, _summary in (
    (".csv", "csv_files", "text with units in its header, for every program"),
    (".npz", "npz_files", "arrays of NumPy"),
    (".nc", "netcdf_files", "NetCDF (HDF5), for xarray, MATLAB, Julia, R; needs the extra netcdf"),
    (".parquet", "parquet_files", "Parquet, for pandas, Polars, DuckDB; needs the extra parquet"),
    (".json", "json_files", "for other programs"),
):
    register_table_format(_ending, f"pendula.tables.{_where}:FORMAT", summary=_summary)
