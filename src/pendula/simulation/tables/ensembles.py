"""Many runs as a table over runs and times, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.outcome import Outcome
from pendula.simulation.ensemble import OF_RUNS, OUTCOMES, Ensemble
from pendula.simulation.tables.restore import states_of, system_of_table
from pendula.simulation.tables.runs import state_block, system_attributes
from pendula.system.system import System
from pendula.tables.table import Block, Table


def ensemble_table(runs: Ensemble) -> Table:
    """All runs as a table over ``run`` and ``t``."""
    system, units = runs.system, runs.system.model.unit_names
    time = units.formal(units.time)
    unit = {"end_t": time, "where": time, "shortest_step": time, "longest_step": time}
    unit["energy_scale"] = units.formal(units.energy)
    blocks = [
        Block("run", ("run",), np.arange(len(runs))),
        Block("t", ("t",), runs.t, time),
        *state_block("q", ("run", "t"), runs.q, system),
        *state_block("v", ("run", "t"), runs.v, system),
        *state_block("runs.end_q", ("run",), runs.end_q, system, "end."),
        *state_block("runs.end_v", ("run",), runs.end_v, system, "end."),
    ]
    for name in OF_RUNS:
        values = np.asarray(getattr(runs, name))
        values = values.astype(np.int64) if values.dtype.kind in "iu" else values
        blocks.append(Block(f"runs.{name}", ("run",), values, unit.get(name, "")))
    blocks.append(Block("runs.ok", ("run",), runs.ok))
    if runs.constraint_violation is not None:
        blocks.append(Block("runs.violation", ("run",), runs.constraint_violation))
    names = runs.layout.parameters
    if names:
        each = ("run",) if len(runs.parameters) == len(runs) else ("set",)
        blocks.append(Block("runs.parameters", each, runs.parameters, "", tuple(f"parameter.{x}" for x in names)))
    attributes: dict[str, Any] = {
        **system_attributes(system),
        "runs": len(runs),
        "finished": int(runs.ok.sum()),
        "stepper": runs.stepper,
        "tolerance": runs.tolerance,
        "seconds": runs.seconds,
        "lane_seconds": runs.lane_seconds,
        "workers": runs.workers,
        "in_lanes": bool(runs.in_lanes),
        "outcomes": [str(outcome) for outcome in OUTCOMES],
        "failures": {str(run): text for run, text in runs.failures.items()},
    }
    return Table("Ensemble", tuple(blocks), ("run", "t"), attributes, compress=False)


def restored_ensemble(table: Table, system: System | None = None) -> Ensemble:
    """The ensemble behind a table.

    Raises:
        UsageError: its system cannot be made again, or the given one is another.
        ValueError: something is missing in it.
    """
    known = table.attributes
    system = system_of_table(table, system)
    layout = system.layout
    arrays = {name: table.array(f"runs.{name}") for name in OF_RUNS}
    order = np.array([OUTCOMES.index(Outcome(text)) for text in known["outcomes"]])
    code = arrays.pop("code")
    parameters = table.array("runs.parameters")
    if code is None or any(x is None for x in arrays.values()):
        raise ValueError("arrays of the runs are missing")
    return Ensemble(
        t=table.array("t"),
        q=states_of(table, "q", layout.coordinates, ("run", "t")),
        v=states_of(table, "v", layout.speeds, ("run", "t")),
        end_q=states_of(table, "runs.end_q", layout.coordinates, ("run",)),
        end_v=states_of(table, "runs.end_v", layout.speeds, ("run",)),
        code=order[code],
        **arrays,
        constraint_violation=table.array("runs.violation"),
        parameters=np.zeros((1, 0)) if parameters is None else parameters,
        failures={int(run): text for run, text in known["failures"].items()},
        seconds=known["seconds"],
        lane_seconds=known["lane_seconds"],
        workers=known["workers"],
        stepper=known["stepper"],
        tolerance=known["tolerance"],
        in_lanes=known["in_lanes"],
        system=system,
    )
