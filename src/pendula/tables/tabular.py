"""What results with a table offer: data frames, datasets, files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pendula.errors import UsageError
from pendula.tables.formats import write_table
from pendula.tables.kinds import table_of
from pendula.tables.table import Table


class Tabular:
    """Methods of results that have a table; ``pendula.extend.register_table`` adds such results.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> run.to_pandas().columns.tolist()[:2]
        ['theta', 'theta_dot']
    """

    def table(self, **options: Any) -> Table:
        """Names, dimensions, units, arrays and metadata as one plain record."""
        return table_of(self, **options)

    def to_pandas(self, **options: Any) -> Any:
        """A data frame of pandas (``pip install "pendula[data]"``); ``attrs["units"]`` has the units.

        Args:
            options: of this kind of result; a run takes ``quantities``, names of further quantities, and
                ``accelerations=True``.
        """
        from pendula.tables.frames import to_pandas

        return to_pandas(self.table(**options))

    def to_xarray(self, **options: Any) -> Any:
        """A dataset of xarray (``pip install "pendula[data]"``) with named dimensions; units as ``attrs["units"]``."""
        from pendula.tables.datasets import to_xarray

        return to_xarray(self.table(**options))

    def to_csv(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes a CSV file: comment lines with metadata, a line of names with units, then the rows."""
        if Path(path).suffix.lower() != ".csv":
            raise UsageError(f'to_csv writes a file that ends in .csv, found "{os.fspath(path)}"')
        write_table(self.table(**options), path)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes a file in the format that its name ends with: ``.csv``, ``.npz``, ``.nc``, ``.parquet``, ``.json``.

        :func:`pendula.load_run` reads runs, ensembles and reactions back, equal to the last bit.
        """
        write_table(self.table(**options), path)
