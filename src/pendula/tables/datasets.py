"""Datasets of xarray: one variable for each quantity with dimensions and ``attrs["units"]``, the head in ``attrs``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.extras import needed
from pendula.tables.head import assemble_table, from_objects, read_head, write_head
from pendula.tables.table import Table

HEAD = "pendula"


def attributes_of(table: Table) -> dict[str, Any]:
    """Metadata of a table as texts and numbers; ``pendula`` is the head, from which the table is read back."""
    plain = {k: v for k, v in table.attributes.items() if isinstance(v, str | float) or type(v) is int}
    return {"kind": table.kind, **plain, HEAD: write_head(table)}


def to_xarray(table: Table) -> Any:
    """A table as a dataset. Arrays with the name of a dimension label it.

    Raises:
        NotSupported: xarray is not installed.
    """
    xarray = needed("xarray", "a dataset")
    found: dict[str, Any] = {}
    for name, dims, values, unit in table.columns():
        found[name] = (dims, np.asarray(values), {"units": unit} if unit else {})
    labels = {name: x for name, x in found.items() if x[0] == (name,)}
    rest = {name: x for name, x in found.items() if name not in labels}
    return xarray.Dataset(rest, coords=labels, attrs=attributes_of(table))


def from_xarray(dataset: Any) -> Table:
    """The table behind a dataset of :func:`to_xarray`.

    Raises:
        ValueError: it is another one, or its values have changed.
    """
    if HEAD not in getattr(dataset, "attrs", {}):
        raise ValueError("the dataset holds no table of Pendula (its attrs are gone, or it is another one)")
    head = read_head(dataset.attrs[HEAD])
    return assemble_table(head, {str(name): from_objects(dataset[name].values) for name in dataset.variables})
