"""Displays of runs, ensembles and reactions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from pendula.analysis.reactions.forces import Reactions
from pendula.errors import PendulaError
from pendula.present.notebook.elements import card, facts, framed, grid, notes, picture_of
from pendula.present.pictures.results import PLAYER_HEIGHT
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.present.player.page import animation_html
from pendula.present.words.reactions import coupling_rows, peak_rows, reaction_notes
from pendula.present.words.tables import number
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.trajectory import Trajectory
from pendula.studies.result import Sweep
from pendula.words import counted

FRAMES = 240
"""frames of a motion in a notebook: a page of the player has some 75 kB, most of it its script"""
MOST_STATES = 4000
"""states of a run that a notebook looks at"""
LEVELS = (0.05, 0.5, 0.95)


def show_run(run: Trajectory) -> str:
    """The motion in the player, and how the run went."""
    units = run.system.model.unit_names
    step = f"steps of {run.step:g}" if run.step else f"tolerance {run.tolerance:g}"
    about = [
        ("outcome", f"{run.outcome}" + (f" ({run.detail})" if run.detail else "")),
        ("time", f"{number(float(run.energy.t[0]))} to {number(float(run.energy.t[-1]))} {units.time}"),
        ("steps", f"{run.stepper} with {step}: {run.steps} accepted, {run.rejected} rejected"),
        ("energy drift", f"{run.energy_drift:.2e} of {number(run.energy.scale, 4)} {units.energy}"),
        ("constraint violation", "" if run.violation is None else f"{run.constraint_violation:.2e}"),
        ("error at the end", "" if run.predictability is None else f"{run.predictability.size}, estimated"),
        *(("not to be trusted", doubt) for doubt in run.doubts),
        *(("event", str(found)) for found in run.events.values()),
    ]
    return card(f"{run.system.model.name}: run", player(run), facts(about), notes([f"note: {x}" for x in run.notes]))


def player(run: Trajectory) -> str:
    """The player with a run, thinned to what a small page can hold; its plot where there is nothing to play."""
    if len(run) < 2:
        return ""
    few = run
    if len(run) > MOST_STATES:
        pick = np.unique(np.linspace(0, len(run) - 1, MOST_STATES).astype(int))
        violation = None if run.violation is None else run.violation[pick]
        parts = {"t": run.t[pick], "q": run.q[pick], "v": run.v[pick], "energy_error": run.energy_error[pick]}
        few = replace(run, **parts, violation=violation)
    try:
        page = animation_html(scene_of(few), max_frames=FRAMES)
    except PendulaError:
        return picture_of(run)
    return framed(page, height=PLAYER_HEIGHT, title=f"{run.system.model.name} in motion")


def show_ensemble(runs: Ensemble) -> str:
    """How the runs ended, where their coordinates are at the end, and their spread over time."""
    layout = runs.system.in_joints.layout
    counts = Counter(str(outcome) for outcome in runs.outcome)
    drift = runs.energy_drift[np.isfinite(runs.energy_drift)]
    about = [
        *((counted(count, "run"), outcome) for outcome, count in counts.most_common()),
        ("not to be trusted", counted(int(runs.doubtful.sum()), "run") if runs.doubtful.any() else ""),
        ("energy drift", f"median {np.median(drift):.2e}, largest {drift.max():.2e}" if drift.size else ""),
        ("stepper", f"{runs.stepper} with tolerance {runs.tolerance:g}"),
    ]
    table = ""
    if runs.ok.any():
        heads = [f"at {number(float(runs.t[-1]))} {layout.time_unit}", *(f"{level:.0%}" for level in LEVELS), "unit"]
        rows = [
            (n, *(float(x) for x in np.quantile(runs[n][runs.ok, -1], LEVELS)), layout.units[n])
            for n in (*layout.coordinates, *layout.speeds)
        ]
        table = grid(heads, rows)
    return card(f"{runs.system.model.name}: {counted(len(runs), 'run')}", facts(about), table, picture_of(runs))


def show_sweep(found: Sweep) -> str:
    """How much of a study is finished, the range of every result, failures, and a picture of one result."""
    what = " x ".join(f"{n} {name}" for n, name in zip(found.shape, found.dims, strict=True))
    about = [
        ("cases", f"{len(found)} ({what})"),
        ("finished", "all" if found.complete else f"{found.finished} of {len(found)}"),
        ("failed", str(len(found.failures)) if found.failures else ""),
        *(("estimate", str(one).splitlines()[0]) for one in found.estimates),
        *(("note", note) for note in found.notes),
    ]
    name = found.system.model.name if found.system is not None else "study"
    table = grid(["result", "range"], [tuple(line.split(": ", 1)) for line in found.ranges()])
    return card(f"{name}: study", facts(about), table, picture_of(found) if found.names else "")


def show_reactions(found: Reactions) -> str:
    """The largest force and torque of every joint, and both over time."""
    tables = [grid(heads, rows) for heads, rows in (peak_rows(found, "force"), peak_rows(found, "torque"))
              if any(row[1] != 0 for row in rows)]  # fmt: skip
    if found.couplings:
        tables.append(grid(*coupling_rows(found)))
    return card(f"{found.model}: reactions", *tables, picture_of(found), notes(reaction_notes(found)))
