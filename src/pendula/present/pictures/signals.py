"""Signals of a run for the strip below its animation: chosen ones, energies, coordinates, speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pendula.analysis.symmetry.attitude import shown_angles
from pendula.present.player.scene import Signals
from pendula.present.words.units import in_degrees
from pendula.simulation.trajectory import Trajectory

Array = Any

MOST_LINES = 12
"""lines of one chart; of more coordinates, this many along the mechanism"""
NAMED = 3
"""chosen quantities that the title of their chart lists; of more, the first and the last"""
NO_WORK = 1e-9
"""work, relative to the energy scale, below which the balance with it is not drawn"""


def signals_of(run: Trajectory, chosen: Sequence[str] = ()) -> tuple[Signals, ...]:
    """Charts of a run: ``chosen`` quantities by unit, then energies, coordinates and speeds by unit.

    Raises:
        UsageError: the run has no such quantity.
    """
    layout = run.joint_layout
    given = _by_unit({n: run[n] for n in chosen or ()}, {n: run.unit(n) for n in chosen}, "chosen", len(chosen))
    speeds = _by_unit({n: run[n] for n in layout.speeds}, layout.units, "speeds", MOST_LINES)
    return (*given, energy_signals(run), *coordinate_signals(run), *speeds)


def coordinate_signals(run: Trajectory, most: int = MOST_LINES) -> list[Signals]:
    """Coordinates of a run by unit, at most ``most`` lines each; orientations by the angles that describe them best."""
    layout, angles = run.joint_layout, shown_angles(run)
    series = {n: run[n] for n in layout.coordinates if n not in angles.replaced} | angles.series
    return _by_unit(series, {**layout.units, **angles.units}, "coordinates", most)


def energy_signals(run: Trajectory) -> Signals:
    """Kinetic, potential and total energy of a run; where work is done, also the total minus that work."""
    lines = {"T kinetic": run["kinetic"], "V potential": run["potential"], "E total": run["energy"]}
    if np.abs(run["work"]).max() > NO_WORK * run.energy.scale:
        lines["E minus work done"] = run["energy"] - run["work"]
    return Signals("energy", run.system.model.unit_names.energy, lines)


def _by_unit(series: Mapping[str, Array], units: Mapping[str, str], what: str, most: int) -> list[Signals]:
    """One chart for every unit; angles in degrees; of more than ``most`` lines, some along the mechanism."""
    found = []
    for unit in dict.fromkeys(units[n] for n in series):
        names = [n for n in series if units[n] == unit and np.isfinite(series[n]).any()]
        picked = names
        if len(names) > most:
            picked = [names[k] for k in np.unique(np.linspace(0, len(names) - 1, most).astype(int))]
        title = "angles" if unit == "rad" and what == "coordinates" else what
        if what == "chosen" and names:
            title = ", ".join(names) if len(names) <= NAMED else f"{names[0]} to {names[-1]}"
        title += f" ({len(picked)} of {len(names)})" if len(picked) < len(names) else ""
        lines = {n: _filled(in_degrees(series[n], unit)[0]) for n in picked}
        if lines:
            found.append(Signals(title, in_degrees(0.0, unit)[1], lines))
    return found


def _filled(values: Array) -> Array:
    """Values with gaps bridged: where a body is upright, its precession has no value."""
    known = np.isfinite(values)
    if known.all():
        return values
    where = np.arange(len(values))
    return np.interp(where, where[known], values[known])
