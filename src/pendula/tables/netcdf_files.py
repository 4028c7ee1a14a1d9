"""NetCDF 4 (which is HDF5): one variable for each quantity with its dimensions and unit, the head as an attribute."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

from pendula.extras import needed
from pendula.storage.room import refuse_large
from pendula.tables.datasets import HEAD, attributes_of
from pendula.tables.formats import TableFormat
from pendula.tables.head import assemble_table, read_head
from pendula.tables.table import KINDS, Table


def write(table: Table, file: BinaryIO) -> None:
    """Writes a table as NetCDF.

    Raises:
        NotSupported: h5netcdf or h5py is not installed.
    """
    h5py, h5netcdf = needed("h5py", "a .nc file"), needed("h5netcdf", "a .nc file")
    words = h5py.string_dtype()
    held = io.BytesIO()  # HDF5 ends the process when its file finds no room
    with h5netcdf.File(held, "w") as made:
        made.dimensions = dict(table.sizes)
        for name, dims, values, unit in table.columns():
            kind = values.dtype.kind
            attributes: dict[str, Any] = {"units": unit} if unit else {}
            if kind == "b":  # NetCDF has none; xarray reads this mark
                values, attributes["dtype"] = values.astype("i1"), "bool"
            elif kind == "U":
                values = values.astype(object)
            stored = words if kind == "U" else values.dtype if kind == "b" else np.dtype(KINDS[kind])
            if kind != "U":
                values = np.ascontiguousarray(values, dtype=stored)
            packed = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if values.size > 256 else {}
            variable = made.create_variable(name, dims, stored, data=values, **({} if kind == "U" else packed))
            for key, value in attributes.items():
                variable.attrs[key] = value
        for key, value in attributes_of(table).items():
            made.attrs[key] = value
    file.write(held.getbuffer())


def read(file: BinaryIO) -> Table:
    """Reads a table from NetCDF.

    Raises:
        ValueError: it is foreign, truncated or damaged.
        NotSupported: h5netcdf or h5py is not installed.
    """
    h5py, h5netcdf = needed("h5py", "a .nc file"), needed("h5netcdf", "a .nc file")
    try:
        with h5py.File(file, "r") as found:
            if HEAD not in found.attrs:
                raise ValueError("it holds no table of Pendula")
            _refuse_elsewhere(h5py, found)
        file.seek(0)
        with h5netcdf.File(file, "r") as found:
            head = read_head(found.attrs[HEAD])
            arrays = {name: _values(variable) for name, variable in found.variables.items()}
    except (ValueError, MemoryError, RecursionError):
        raise
    except Exception as error:  # HDF5 and its readers raise many types for damaged bytes
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"it is truncated, damaged or not NetCDF 4 ({told})") from None
    return assemble_table(head, arrays)


def _refuse_elsewhere(h5py: Any, found: Any) -> None:
    """Refuses a file whose values are in other files (which may be pipes, or secret), or that do not fit into memory.

    Raises:
        ValueError: it is one.
    """
    size = 0
    for name in found:
        inside = isinstance(found.get(name, getlink=True), h5py.HardLink)
        one = found[name] if inside else None
        if not isinstance(one, h5py.Dataset) or one.external or one.is_virtual:
            raise ValueError(f'"{name}" is not an array in this file, and other files are not read')
        size += one.size * one.dtype.itemsize
    refuse_large(size)


def _values(variable: Any) -> Any:
    values = np.asarray(variable[...])
    if values.dtype.kind == "O":
        words = [x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x) for x in values.ravel().tolist()]
        return np.array(words, dtype=str).reshape(values.shape)
    return values.astype(bool) if variable.attrs.get("dtype") == "bool" else values


FORMAT = TableFormat(".nc", write, read, ("h5py", "h5netcdf"))
