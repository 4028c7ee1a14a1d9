"""Collects the results of an ensemble, in memory or in the file that will hold them."""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.outcome import Outcome
from pendula.simulation.ensemble import OUTCOMES, Ensemble, mapped_array
from pendula.simulation.many.chunks import Chunk, Found, empty_arrays
from pendula.simulation.settings import Settings
from pendula.simulation.starts import Starts
from pendula.storage.archives import ArrayArchive
from pendula.storage.files import write_arrays
from pendula.system.lanes import has_lane_program
from pendula.system.layout import Array
from pendula.system.system import System, has_gaps
from pendula.tables.npz_files import arrays_of
from pendula.words import counted

CHUNK_BYTES = 64e6  # memory limit for the samples of a chunk
HEAD_BYTES = 500_000  # reserved for the description of an ensemble in its file; more is taken at the end if needed
STREAMED = ("q", "v")


class Store:
    """Arrays of all runs. If a file is given, those of the samples are mapped to it, and its room is taken at once."""

    def __init__(self, system: System, settings: Settings, starts: Starts, save: str | Path | None) -> None:
        self._system, self._settings = system, settings
        self._path = None if save is None else Path(save)
        self._failures: dict[int, str] = {}
        self._seconds = 0.0
        self._added = 0
        if self._path is not None and self._path.suffix != ".npz":
            raise UsageError(f'save must name an .npz file, found "{save}"')
        runs = len(starts)
        one = empty_arrays(system, Chunk(0, starts.some(slice(0, 1)), starts.q, settings))
        streamed = STREAMED if self._path is not None else ()
        self._arrays: dict[str, Array] = {
            name: np.repeat(row, runs, axis=0) for name, row in one.items() if name not in streamed
        }
        self._archive: ArrayArchive | None = None
        if self._path is not None:
            shapes = {name: (runs, *one[name].shape[1:]) for name in streamed}
            values = 24 * runs * len(system.layout.parameters)  # sets of parameters, and the copies of a few columns
            more = sum(array.nbytes for array in self._arrays.values()) + 32 * runs + values + HEAD_BYTES
            self._archive = ArrayArchive(self._path, shapes, more)
            self._arrays |= self._archive.arrays

    def add(self, found: Found) -> None:
        """Stores the results of a chunk."""
        for name, array in found.arrays.items():
            self._arrays[name][found.first : found.first + len(array)] = array
        self._failures |= found.failures
        self._seconds += found.seconds
        self._added += 1

    def drop(self) -> None:
        """Removes the file, unless it is whole."""
        if self._archive is not None:
            self._arrays.clear()
            self._archive.drop()

    def keep(self, table: Array, workers: int, seconds: float) -> str:
        """Writes the finished runs after an error, and says where they are; empty if there are none, or no file."""
        if self._archive is None or not self._added:
            self.drop()
            return ""
        kept = self.finish(table, workers, seconds)
        done = int((kept.code != OUTCOMES.index(Outcome.INTERRUPTED)).sum())
        return f'{counted(done, "run")} of {len(kept)} finished before that and are kept in "{self._path}"'

    def finish(self, table: Array, workers: int, seconds: float) -> Ensemble:
        """The ensemble; streamed arrays become memory maps of their file.

        Raises:
            UsageError: the file cannot be written; the message says where the results are.
        """
        violation = self._arrays.pop("constraint_violation")
        ensemble = Ensemble(
            t=self._settings.samples,
            **self._arrays,
            constraint_violation=violation if has_gaps(self._system) else None,
            parameters=table,
            failures=dict(sorted(self._failures.items())),
            seconds=seconds,
            lane_seconds=self._seconds,
            workers=workers,
            stepper=self._settings.stepper.name,
            tolerance=self._settings.tol,
            in_lanes=has_lane_program(self._system),
            system=self._system,
        )
        if self._archive is None or self._path is None:
            return ensemble
        path = self._path
        try:
            self._write(ensemble)
            let_go = np.empty(0)  # a file that is mapped cannot be renamed everywhere
            ensemble = replace(ensemble, q=let_go, v=let_go)
            self._arrays.clear()
            self._archive.publish()
        finally:
            self.drop()
        return replace(ensemble, q=mapped_array(path, "q"), v=mapped_array(path, "v"), path=path)

    def _write(self, ensemble: Ensemble) -> None:
        """Completes the file."""
        assert self._archive is not None
        assert self._path is not None
        arrays = arrays_of(ensemble.table())
        try:
            self._archive.write(arrays)
        except UsageError as error:
            raise UsageError(f"{error}\n  {_saved_elsewhere(arrays, self._path)}") from None


def _saved_elsewhere(arrays: dict[str, Any], path: Path) -> str:
    """Saves results that do not fit on their disk in the folder for temporary files, and says where they are."""
    other = Path(tempfile.gettempdir()) / f"{path.stem}-{secrets.token_hex(4)}.npz"
    try:
        write_arrays(other, arrays, compressed=False)
    except UsageError as error:
        return f"The results are lost: {error}"
    return f'The results are kept in "{other}".'
