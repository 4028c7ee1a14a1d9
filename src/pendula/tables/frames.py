"""Data frames of pandas: one row for each combination of the main dimensions, units and the head in ``attrs``."""

from __future__ import annotations

from typing import Any

from pendula.extras import needed
from pendula.tables.flat import rows_of, table_of_rows
from pendula.tables.head import from_objects, read_head, write_head
from pendula.tables.table import Table

HEAD = "pendula"


def to_pandas(table: Table) -> Any:
    """A table as a data frame, indexed by its main dimensions; ``attrs["units"]`` has the unit of every column.

    Raises:
        NotSupported: pandas is not installed.
    """
    pandas = needed("pandas", "a data frame")
    columns = rows_of(table)
    frame = pandas.DataFrame({name: c.values for name, c in columns.items()}).set_index([*table.main])
    frame.attrs["units"] = {name: c.unit for name, c in columns.items()}
    frame.attrs[HEAD] = write_head(table, beside=True)
    return frame


def from_pandas(frame: Any) -> Table:
    """The table behind a data frame of :func:`to_pandas`.

    Raises:
        ValueError: it is another one, or its values have changed.
    """
    if HEAD not in getattr(frame, "attrs", {}):
        raise ValueError("the data frame holds no table of Pendula (its attrs are gone, or it is another one)")
    head = read_head(frame.attrs[HEAD])
    whole = frame.reset_index()
    return table_of_rows(head, {str(name): from_objects(whole[name].to_numpy()) for name in whole.columns})
