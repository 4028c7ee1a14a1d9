"""Collects the results of an ensemble, in memory or in scratch files that are merged at the end."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from pendula.errors import UsageError
from pendula.files import cannot_write, scratch_array
from pendula.simulation.chunks import Chunk, Found, ManySettings, empty_arrays
from pendula.simulation.ensemble import Ensemble, mapped_array
from pendula.simulation.starts import Starts
from pendula.system.lanes import has_lane_program
from pendula.system.layout import Array
from pendula.system.system import System, has_gaps

CHUNK_BYTES = 64e6  # memory limit for the samples of a chunk


class Store:
    """Arrays of all runs, in memory or in scratch files."""

    def __init__(self, system: System, settings: ManySettings, starts: Starts, save: str | Path | None) -> None:
        self._system, self._settings = system, settings
        self._path = None if save is None else Path(save)
        self._folder: Path | None = None
        self._failures: dict[int, str] = {}
        self._seconds = 0.0
        if self._path is not None:
            if self._path.suffix != ".npz":
                raise UsageError(f'save must name an .npz file, found "{save}"')
            try:
                self._folder = Path(tempfile.mkdtemp(prefix=f".{self._path.stem}-", dir=self._path.absolute().parent))
            except OSError as error:
                raise cannot_write(self._path, error) from None
        one = empty_arrays(system, Chunk(0, starts.part(0, 1), starts.q, settings))
        self._arrays = {name: self._array(name, row, len(starts)) for name, row in one.items()}

    def _array(self, name: str, row: Array, runs: int) -> Array:
        """An array for all runs, filled with initial values."""
        shape = (runs, *row.shape[1:])
        if self._folder is None or name not in ("q", "v"):
            return np.repeat(row, runs, axis=0)
        if 0 in shape:
            return np.zeros(shape)
        array = scratch_array(self._folder / f"{name}.npy", row.dtype, shape)
        step = max(1, int(CHUNK_BYTES / max(row.nbytes, 1)))
        for k in range(0, runs, step):
            array[k : k + step] = np.nan
        return array

    def add(self, found: Found) -> None:
        """Stores the results of a chunk."""
        for name, array in found.arrays.items():
            self._arrays[name][found.first : found.first + len(array)] = array
        self._failures |= found.failures
        self._seconds += found.seconds

    def drop(self) -> None:
        """Removes the scratch files."""
        if self._folder is not None:
            self._arrays.clear()
            shutil.rmtree(self._folder, ignore_errors=True)

    def finish(self, table: Array, workers: int, seconds: float) -> Ensemble:
        """The ensemble; streamed arrays become memory maps of one file."""
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
            stepper=self._settings.stepper,
            tolerance=self._settings.tol,
            in_lanes=has_lane_program(self._system),
            system=self._system,
        )
        if self._path is None:
            return ensemble
        try:
            ensemble.save(self._path)
        finally:
            self.drop()
        path = self._path
        return replace(ensemble, q=mapped_array(path, "q"), v=mapped_array(path, "v"), path=path)
