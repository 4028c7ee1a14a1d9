"""A run as a table: states, energies and prescribed motions over time, its steps, its events, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula import __version__
from pendula.model.files import dumps
from pendula.simulation.inputs.feed import RunInputs
from pendula.simulation.inputs.kinds import Signal
from pendula.simulation.readings import acceleration_names
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.tables.table import Block, Table

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory


def run_table(
    run: Trajectory, *, quantities: Sequence[str] = (), accelerations: bool = False, multipliers: bool = False
) -> Table:
    """A run as a table over ``t``.

    Args:
        run: the run.
        quantities: names of further quantities that ``run[name]`` gives, such as ``lower.tip.x``.
        accelerations: whether to add those of all joints.
        multipliers: whether to add the Lagrange multipliers of the constraints, in the order of their rows.

    Raises:
        UsageError: there is no such quantity.
    """
    units = run.system.model.unit_names
    blocks = [Block("t", ("t",), run.t, units.formal(units.time)), *_states(run)]
    taken = {name for block in blocks for name in block.columns or (block.name,)}
    wanted = [*moving_names(run.system), "kinetic", "potential", "work"]
    for name, block in (("others", wanted), ("quantities", [*quantities])):
        if name == "quantities" and accelerations:
            block += [x for x in acceleration_names(run.joint_layout) if x not in block]
        new = [x for x in dict.fromkeys(block) if x not in taken]
        taken |= {*new}
        if new:
            values = np.column_stack([run[x] for x in new])
            blocks.append(Block(name, ("t",), values, "", tuple(new), tuple(units.formal(run.unit(x)) for x in new)))
    blocks.append(Block("run.energy_error", ("t",), run.energy_error))
    if run.violation is not None:
        blocks.append(Block("run.violation", ("t",), run.violation))
    if multipliers and run.system.loop_rows:
        values = run.system.multipliers(run.q, run.v, run.t, parameters=run.parameters)
        names = tuple(f"run.multiplier{k + 1}" for k in range(values.shape[1]))
        blocks.append(Block("multipliers", ("t",), values, "", names))
    blocks += [*_steps(run), *_events(run), *_evidence(run), *_series(run)]
    return Table("Trajectory", tuple(blocks), ("t",), run_attributes(run))


def state_block(name: str, dims: tuple[str, ...], values: Array, system: System, prefix: str = "") -> list[Block]:
    """Coordinates (``q``) or speeds (``v``) of a system as a block; none if there are none."""
    layout, formal = system.layout, system.model.unit_names.formal
    names = layout.coordinates if name.endswith("q") else layout.speeds
    columns = tuple(f"{prefix}{x}" for x in names)
    return [Block(name, dims, values, "", columns, tuple(formal(layout.units[x]) for x in names))] if names else []


def _states(run: Trajectory) -> list[Block]:
    """Coordinates and speeds of the system, and those of the joints where they are others."""
    blocks = state_block("q", ("t",), run.q, run.system) + state_block("v", ("t",), run.v, run.system)
    layout, formal = run.joint_layout, run.system.model.unit_names.formal
    own = {*run.layout.coordinates, *run.layout.speeds}
    names = [x for x in (*layout.coordinates, *layout.speeds) if x not in own]
    if run.layout is not layout and names:
        values = np.column_stack([run[x] for x in names])
        blocks.append(Block("joints", ("t",), values, "", tuple(names), tuple(formal(layout.units[x]) for x in names)))
    return blocks


def moving_names(system: System) -> list[str]:
    """Names of prescribed motions and inputs that a reader knows."""
    drives = [drive.name for drive in system.drives if "__" not in drive.name]
    return [*drives, *system.layout.inputs, *system.model.laws]


def _steps(run: Trajectory) -> list[Block]:
    """The energy account at the steps of the run."""
    units = run.system.model.unit_names
    energy, time = units.formal(units.energy), units.formal(units.time)
    account = run.energy
    return [
        Block("steps.t", ("step",), account.t, time),
        Block("steps.kinetic", ("step",), account.kinetic, energy),
        Block("steps.potential", ("step",), account.potential, energy),
        Block("steps.work", ("step",), account.work, energy),
        Block("steps.inside", ("inside",), account.inside, energy),
    ]


def _events(run: Trajectory) -> list[Block]:
    """All occurrences of events: the number of the event, time and state of each."""
    if not run.events:
        return []
    found = [*run.events.values()]
    nq, nv = len(run.layout.coordinates), len(run.layout.speeds)
    which = np.repeat(np.arange(len(found)), [len(x) for x in found]).astype(np.int64)
    q = np.concatenate([x.q.reshape(len(x), nq) for x in found])
    v = np.concatenate([x.v.reshape(len(x), nv) for x in found])
    units = run.system.model.unit_names
    return [
        Block("event.names", ("event",), np.array([*run.events], dtype=str)),
        Block("event.which", ("crossing",), which),
        Block("event.t", ("crossing",), np.concatenate([x.t for x in found]), units.formal(units.time)),
        *state_block("event.q", ("crossing",), q, run.system, "event."),
        *state_block("event.v", ("crossing",), v, run.system, "event."),
    ]


def _evidence(run: Trajectory) -> list[Block]:
    """The estimated error over time, and states that were computed in other coordinates."""
    blocks = []
    units = run.system.model.unit_names
    time = units.formal(units.time)
    if run.predictability is not None:
        blocks.append(Block("prediction.t", ("prediction",), run.predictability.t, time))
        blocks.append(Block("prediction.error", ("prediction",), run.predictability.error))
    if run.elsewhere is not None and run.elsewhere.t.size:
        blocks.append(Block("regular.t", ("regular",), run.elsewhere.t, time))
        blocks.append(Block("regular.y", ("regular", "regular_state"), run.elsewhere.y))
    return blocks


def series_of(system: System) -> dict[str, Signal]:
    """Inputs of a run that are time series, by name."""
    return dict(system.inputs.signals) if isinstance(system.inputs, RunInputs) else {}


def _series(run: Trajectory) -> list[Block]:
    """The points of inputs that are time series, one series after another."""
    found = [*series_of(run.system).values()]
    if not found:
        return []
    time = run.system.model.unit_names.formal(run.system.model.unit_names.time)
    return [
        Block("series.which", ("point",), np.repeat(np.arange(len(found)), [x.times.size for x in found])),
        Block("series.t", ("point",), np.concatenate([x.times for x in found]), time),
        Block("series.value", ("point",), np.concatenate([x.values for x in found])),
    ]


def system_attributes(system: System) -> dict[str, Any]:
    """What is needed to make a system again: model, formulation, engine."""
    return {
        "model": system.model.name,
        "formulation": system.formulation,
        "engine": system.engine,
        "symbolic_terms": bool(system.symbolic_terms),
        "written": system.written,
        "units": system.model.units,
        "version": __version__,
        "model_text": dumps(system.model.as_written),
        **({"inputs_over_time": list(system.inputs.names)} if system.inputs.over_time else {}),
    }


def run_attributes(run: Trajectory) -> dict[str, Any]:
    """Everything about a run but its arrays, as plain data."""
    settings, found = run.settings, run.predictability
    how = {} if settings is None else {
        "atol": settings.atol,
        "constraints": settings.constraints,
        "baumgarte_rate": settings.baumgarte_rate,
        "max_steps": settings.max_steps,
        "chart_switching": settings.chart_switching,
        "t_span": list(settings.span),
        "sampled": settings.samples is not None,
    }  # fmt: skip
    attributes = {
        **system_attributes(run.system),
        "outcome": str(run.outcome),
        "detail": run.detail,
        "stepper": run.stepper,
        "tolerance": run.tolerance,
        "step": run.step,
        **how,
        "steps": run.steps,
        "rejected": run.rejected,
        "rhs_evaluations": run.rhs_evaluations,
        "seconds": run.seconds,
        "energy_drift": run.energy_drift,
        "jacobi_drift": run.jacobi_drift,
        "constraint_violation": run.constraint_violation,
        "velocity_violation": run.velocity_violation,
        "parameters": run.layout.parameter_values(run.parameters),
        "events": [asdict(x.event) for x in run.events.values()],
        "remarks": list(run.remarks),
        "notes": list(run.notes),
        "doubts": list(run.doubts),
        "predictability": None if found is None else {**found.as_dict(), "time_unit": found.time_unit},
        "nearest_singularity": None if run.nearest_singularity is None else asdict(run.nearest_singularity),
    }
    if series := series_of(run.system):
        attributes["series"] = {name: one.interpolation for name, one in series.items()}
    if run.end is not None:
        attributes["end"] = {"t": run.end.t, "q": run.end.q.tolist(), "v": run.end.v.tolist()}
    if run.elsewhere is not None and (run.elsewhere.switch_t or run.elsewhere.t.size):
        other = run.elsewhere
        attributes["elsewhere"] = {
            "switch_t": [float(t) for t in other.switch_t],
            "switch_y": [np.asarray(y).tolist() for y in other.switch_y],
            "notes": list(other.notes),
        }
    return attributes
