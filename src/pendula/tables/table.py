"""A table: labelled arrays with dimensions, units and metadata. It knows no mechanics.

Results become tables (:mod:`pendula.tables.kinds`), tables become files, data frames and datasets
(:mod:`pendula.tables.formats`), and all of these become tables again, equal to the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pendula.errors import UsageError

Array = Any

KINDS = {"f": "<f8", "i": "<i8", "b": "|b1", "U": "U"}
"""what the values of a block may be: numbers, whole numbers, truth values, words; and how they are stored"""


class Column(NamedTuple):
    """One quantity: its name, the dimensions it extends over, its values and their unit."""

    name: str
    dims: tuple[str, ...]
    values: Array
    unit: str


@dataclass(frozen=True, eq=False)
class Block:
    """An array with named dimensions. With ``columns``, its last axis holds several quantities side by side.

    Attributes:
        name: its name; a block with the name of a dimension labels that dimension.
        dims: names of its dimensions, without the axis of ``columns``.
        values: the array.
        unit: its unit, in a form that unit packages read (``rad/s``, ``N*m``); empty if it has none.
        columns: names of the quantities along the last axis, each a quantity of the table.
        units: their units.

    Example:
        >>> Block("q", ("t",), np.zeros((3, 2)), columns=("x", "y"), units=("m", "m")).values.shape
        (3, 2)
    """

    name: str
    dims: tuple[str, ...]
    values: Array
    unit: str = ""
    columns: tuple[str, ...] | None = None
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = np.asanyarray(self.values)
        if values.dtype.kind not in KINDS:
            raise UsageError(f'table: "{self.name}" holds neither numbers nor words but {values.dtype}')
        object.__setattr__(self, "values", values)
        if self.columns is not None and not self.units:
            object.__setattr__(self, "units", ("",) * len(self.columns))
        axes = len(self.dims) + (self.columns is not None)
        if values.ndim != axes:
            raise UsageError(f'table: "{self.name}" has {values.ndim} axes, and {axes} are named')
        if self.columns is not None and not len(self.columns) == len(self.units) == values.shape[-1]:
            raise UsageError(f'table: "{self.name}" has {values.shape[-1]} columns, and {len(self.columns)} are named')

    def quantities(self) -> Iterator[Column]:
        """The quantities of this block: itself, or its columns (views of the array)."""
        if self.columns is None:
            yield Column(self.name, self.dims, self.values, self.unit)
            return
        for k, (name, unit) in enumerate(zip(self.columns, self.units, strict=True)):
            yield Column(name, self.dims, self.values[..., k], unit)


@dataclass(frozen=True, eq=False)
class Table:
    """Labelled arrays of one result with its metadata.

    Attributes:
        kind: the type of the result: ``Trajectory``, ``Ensemble``, ...
        blocks: the arrays.
        main: the dimensions whose combinations are the rows of a flat file: ``("t",)``, ``("run", "t")``.
        attributes: what else is known, as plain data (texts, numbers, lists, dictionaries): model, parameters,
            tolerance, outcome, ...
        compress: whether files should be small; else arrays in them can be mapped into memory, where the format can.

    Example:
        >>> table = Table("Swing", (Block("t", ("t",), np.arange(3.0), "s"), Block("x", ("t",), np.ones(3), "m")))
        >>> table["x"].unit, table.sizes
        ('m', {'t': 3})
    """

    kind: str
    blocks: tuple[Block, ...]
    main: tuple[str, ...] = ("t",)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    compress: bool = True

    def __post_init__(self) -> None:
        self.sizes  # noqa: B018  # raises where lengths differ
        names = [column.name for column in self.columns()]
        twice = {name for name in names if names.count(name) > 1} if len({*names}) < len(names) else set()
        if twice:
            raise UsageError(f'table: two quantities have the name "{min(twice)}"')

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Length of every dimension."""
        found: dict[str, int] = {}
        for block in self.blocks:
            for dim, length in zip(block.dims, block.values.shape, strict=False):
                if found.setdefault(dim, length) != length:
                    raise UsageError(f'table: "{block.name}" has {length} entries along {dim}, others {found[dim]}')
        return found

    def columns(self) -> Iterator[Column]:
        """All quantities, in order."""
        for block in self.blocks:
            yield from block.quantities()

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns()}

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def block(self, name: str) -> Block | None:
        """A block by its name; None if there is none."""
        return next((block for block in self.blocks if block.name == name), None)

    def array(self, name: str) -> Array | None:
        """The values of a block; None if there is none."""
        block = self.block(name)
        return None if block is None else block.values

    def labels(self, dim: str) -> list[str]:
        """The entries along a dimension in words: those of the block with its name, else their numbers."""
        block = self.block(dim)
        if block is not None and block.dims == (dim,) and block.columns is None:
            return [str(x) for x in block.values.tolist()]
        return [str(k) for k in range(self.sizes[dim])]

    def units(self) -> dict[str, str]:
        """The unit of every quantity."""
        return {column.name: column.unit for column in self.columns()}

    def digest(self) -> str:
        """A checksum of all values with their names, dimensions and units."""
        found = hashlib.sha256()
        for name, dims, values, unit in self.columns():
            kind = values.dtype.kind
            found.update(repr((name, dims, values.shape, kind, unit)).encode())
            if kind == "U":
                found.update(repr(values.ravel().tolist()).encode())
            else:
                stored = np.ascontiguousarray(values, dtype=KINDS[kind])
                if kind == "f":
                    stored = np.where(np.isnan(stored), np.nan, stored)  # one NaN, whatever its payload
                found.update(stored.tobytes())
        return found.hexdigest()
