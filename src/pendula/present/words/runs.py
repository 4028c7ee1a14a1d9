"""Runs and ensembles in words: how they ended, how they were computed, how accurate they are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from pendula.present.words.tables import number
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.trajectory import Trajectory
from pendula.system.system import System
from pendula.words import counted

LEVELS = (0.05, 0.5, 0.95)
"""quantiles of the states of an ensemble that are shown"""


def equations_of(system: System) -> str:
    """The source of the accelerations."""
    if system.written:
        return f"given in {system.written}"
    return "recursion over the bodies" if system.engine == "recursive" else system.formulation


def outcome_of(run: Trajectory) -> str:
    """How a run ended."""
    return f"{run.outcome}" + (f" ({run.detail})" if run.detail else "")


def run_facts(run: Trajectory) -> list[tuple[str, str]]:
    """Outcome, equations, stepper, steps and errors of a run."""
    units = run.system.model.unit_names
    first, last = (number(float(t)) for t in (run.energy.t[0], run.energy.t[-1]))
    facts = [
        ("outcome", outcome_of(run)),
        ("time span", f"{first} to {last} {units.time}"),
        ("equations", f"{equations_of(run.system)}, {counted(len(run.layout.speeds), 'speed')}"),
        ("stepper", f"{run.stepper}, " + (f"step {run.step:g}" if run.step else f"tolerance {run.tolerance:g}")),
        ("steps", f"{run.steps} accepted, {run.rejected} rejected, {run.rhs_evaluations} evaluations"),
        ("energy drift", f"{run.energy_drift:.2e} of {number(run.energy.scale)} {units.energy}"),
    ]
    if run.jacobi_drift is not None:
        facts.append(("Jacobi integral", f"conserved to {run.jacobi_drift:.2e}"))
    if run.violation is not None:
        opening = f"{run.constraint_violation:.2e}, its rate {run.velocity_violation:.2e}"
        facts.append(("constraint violation", opening))
    if run.nearest_singularity is not None:
        when = f"t = {number(run.nearest_singularity.t)} {units.time}"
        facts.append(("singularity", f"{run.nearest_singularity}, at {when}"))
    if run.predictability is not None:
        facts.append(("error at the end", f"{run.predictability.size}, estimated"))
    return facts


def outcome_rows(runs: Ensemble) -> list[tuple[int, str]]:
    """Numbers of runs with each outcome, the most frequent first."""
    return [(count, str(outcome)) for outcome, count in Counter(runs.outcome).most_common()]


def ensemble_facts(runs: Ensemble) -> list[tuple[str, str]]:
    """Doubts, errors and steps of many runs, and how they were computed."""
    facts = []
    if runs.doubtful.any():
        doubtful = counted(int(runs.doubtful.sum()), "run")
        facts.append(("not to be trusted", f"{doubtful} in which energy or loops are off"))
    drift = runs.energy_drift[np.isfinite(runs.energy_drift)]
    if drift.size:
        facts.append(("energy drift", f"median {np.median(drift):.2e}, largest {drift.max():.2e}"))
    if runs.constraint_violation is not None:
        facts.append(("constraint violation", f"at most {np.nanmax(runs.constraint_violation):.2e}"))
    how = "eight at a time" if runs.in_lanes else "one after the other"
    workers = counted(runs.workers, "process", "processes")
    return [
        *facts,
        ("stepper", f"{runs.stepper}, tolerance {runs.tolerance:g}"),
        ("steps", f"{runs.steps.mean():.1f} accepted, {runs.rejected.mean():.1f} rejected on average"),
        ("seconds", f"{runs.seconds:.3f} with {workers}, {how}"),
    ]


def level_rows(runs: Ensemble) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Heads and rows of a table of states at the end: quantiles over the runs that finished."""
    layout = runs.system.in_joints.layout
    heads = [f"at {number(float(runs.t[-1]))} {layout.time_unit}", *(f"{level:.0%}" for level in LEVELS), "unit"]
    rows = [
        (n, *(float(x) for x in np.quantile(runs[n][runs.ok, -1], LEVELS)), layout.units[n])
        for n in (*layout.coordinates, *layout.speeds)
    ]
    return heads, rows
