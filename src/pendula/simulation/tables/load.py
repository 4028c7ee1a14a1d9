"""Reads results back from files, data frames and datasets."""

from __future__ import annotations

import os
from typing import Any

from pendula.errors import UsageError
from pendula.system.entry import AnySystem, system_of
from pendula.system.system import System
from pendula.tables.formats import read_table
from pendula.tables.kinds import RESTORERS


def load_run(source: Any, *, system: AnySystem | None = None) -> Any:
    """A run from a file that ``run.save`` wrote, equal to the last bit; also ensembles and reactions.

    The model in the file is compiled again, so that the run answers all questions that it did before, and can be
    continued (:meth:`~pendula.results.Trajectory.continue_for`). Files are data: nothing in them is executed.

    Args:
        source: a file that ends in .csv, .npz, .nc, .parquet or .json, or in a registered ending; or what ``to_pandas``
            or ``to_xarray`` returned.
        system: the system of the run, its model or library name, where it is at hand, or where the file cannot hold it
            (equations that others wrote); default: the one that the file describes.

    Returns:
        ``Trajectory``, ``Ensemble`` or ``Reactions``, as the file says.

    Raises:
        UsageError: it is missing, foreign, truncated or damaged, or holds another kind of result; the message says
            which.
        NotSupported: the format needs a package that is not installed; the message names it.

    Example:
        >>> import tempfile, pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.save(f"{folder}/run.csv")
        ...     again = load_run(f"{folder}/run.csv")
        >>> bool((again.q == run.q).all()), again.unit("theta_dot")
        (True, 'rad/s')
    """
    if system is not None and not isinstance(system, System):
        system = system_of(system, "load_run")
    package = type(source).__module__.partition(".")[0]
    if isinstance(source, str | os.PathLike):
        shown = f'"{os.fspath(source)}"'
        table = read_table(source)
    elif package in ("pandas", "xarray") and hasattr(source, "attrs"):
        shown = "the data frame" if package == "pandas" else "the dataset"
        try:
            if package == "pandas":
                from pendula.tables.frames import from_pandas

                table = from_pandas(source)
            else:
                from pendula.tables.datasets import from_xarray

                table = from_xarray(source)
        except ValueError as error:
            raise UsageError(f"load_run: {error}") from None
    else:
        raise UsageError(f"load_run takes the path of a file, a data frame or a dataset, found {source!r:.80}")
    if table.kind not in RESTORERS:
        known = ", ".join(RESTORERS)
        raise UsageError(f"load_run: {shown} holds {table.kind}; those that can be read back are {known}")
    try:
        return RESTORERS[table.kind](table, system)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"load_run: {shown} is damaged: {error}") from None
    except UsageError as error:
        raise UsageError(f"load_run: {shown}: {error}") from None
