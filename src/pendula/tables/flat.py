"""Rows and columns of a table, for formats that hold one flat table: CSV, Parquet, data frames.

Rows are the combinations of the main dimensions. An array with further dimensions becomes one column for each of their
combinations: ``force.crank.x``. Arrays that do not extend over the main dimensions go into the head.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from pendula.tables.head import assemble_table, in_rows
from pendula.tables.table import Array, Column, Table


def rows_of(table: Table) -> dict[str, Column]:
    """The columns of the flat table by name, the main dimensions first; values have one entry for each row."""
    shape = tuple(table.sizes[dim] for dim in table.main)
    found = {}
    for k, dim in enumerate(table.main):
        own = table.block(dim)
        labels = np.arange(shape[k]) if own is None else own.values
        along = labels.reshape([-1 if j == k else 1 for j in range(len(shape))])
        found[dim] = Column(dim, (), np.broadcast_to(along, shape).ravel(), "" if own is None else own.unit)
    for column in table.columns():
        if column.name in table.main or not in_rows(column.dims, table.main):
            continue
        names = _names(table, column)
        values = column.values.reshape(int(np.prod(shape)), len(names))
        for j, name in enumerate(names):
            found[name] = Column(name, (), values[:, j], column.unit)
    return found


def _names(table: Table, column: Column) -> list[str]:
    """The names of the flat columns of one quantity."""
    further = [table.labels(dim) for dim in column.dims[len(table.main) :]]
    return [".".join((column.name, *labels)) for labels in product(*further)]


def table_of_rows(head: Mapping[str, Any], rows: Mapping[str, Array]) -> Table:
    """The table behind a flat one, from its head and its columns.

    Raises:
        ValueError: something is missing or damaged.
    """
    try:
        main, beside = tuple(head["main"]), head.get("beside", {})
        specs = {one["name"]: one for one in head["blocks"]}
        shape = tuple(int(head["sizes"][dim]) for dim in main)
        count = int(np.prod(shape))
        if any(len(values) != count for values in rows.values()):
            raise ValueError(f"there are {len(next(iter(rows.values())))} rows in place of {count}")
        found = {}
        for name, one in specs.items():
            dims = tuple(one["dims"])
            if name in beside:
                continue
            if name in main:
                found[name] = np.asarray(rows[name])
                continue
            further = [_labels(head, dim) for dim in dims[len(main) :]]
            for quantity in one.get("columns") or [name]:
                names = [".".join((quantity, *labels)) for labels in product(*further)]
                values = np.stack([np.asarray(rows[x]) for x in names], axis=-1) if names else np.zeros((count, 0))
                found[quantity] = values.reshape(*shape, *map(len, further)) if further else values.reshape(shape)
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is missing".replace("'", '"')) from None
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"its description of the table is damaged ({error})") from None
    return assemble_table(head, found)


def _labels(head: Mapping[str, Any], dim: str) -> list[str]:
    """The entries along a dimension in words, as :meth:`Table.labels` has them."""
    return [str(x) for x in head.get("beside", {}).get(dim, range(head["sizes"][dim]))]
