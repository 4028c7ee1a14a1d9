"""Parquet: one column for each quantity with its unit in the metadata of the field, the head in that of the file."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from pendula.extras import needed
from pendula.storage.room import refuse_large
from pendula.tables.flat import rows_of, table_of_rows
from pendula.tables.formats import TableFormat
from pendula.tables.head import from_objects, read_head, write_head
from pendula.tables.table import Table

HEAD = b"pendula"


def write(table: Table, file: BinaryIO) -> None:
    """Writes a table as Parquet.

    Raises:
        NotSupported: pyarrow is not installed.
    """
    arrow = needed("pyarrow", "a .parquet file")
    parquet = needed("pyarrow.parquet", "a .parquet file")
    columns = rows_of(table)
    arrays = [arrow.array(np.ascontiguousarray(c.values)) for c in columns.values()]
    fields = [
        arrow.field(name, array.type, metadata={"unit": c.unit})
        for (name, c), array in zip(columns.items(), arrays, strict=True)
    ]
    schema = arrow.schema(fields, metadata={HEAD: write_head(table, beside=True).encode()})
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), file)


def read(file: BinaryIO) -> Table:
    """Reads a table from Parquet.

    Raises:
        ValueError: it is foreign, truncated or damaged.
        NotSupported: pyarrow is not installed.
    """
    arrow = needed("pyarrow", "a .parquet file")
    parquet = needed("pyarrow.parquet", "a .parquet file")
    wrong = (arrow.ArrowException, OSError, ValueError)
    try:
        opened = parquet.ParquetFile(file)
    except wrong as error:
        raise _damaged(error) from None
    refuse_large(8 * opened.metadata.num_rows * opened.metadata.num_columns)
    try:
        found = opened.read()
    except wrong as error:
        raise _damaged(error) from None
    metadata = found.schema.metadata or {}
    if HEAD not in metadata:
        raise ValueError("it holds no table of Pendula")
    rows = {
        name: from_objects(column.to_numpy()) for name, column in zip(found.column_names, found.columns, strict=True)
    }
    return table_of_rows(read_head(metadata[HEAD]), rows)


def _damaged(error: Exception) -> ValueError:
    told = (str(error).splitlines() or [type(error).__name__])[0]
    return ValueError(f"it is truncated, damaged or not Parquet ({told})")


FORMAT = TableFormat(".parquet", write, read, ("pyarrow",))
