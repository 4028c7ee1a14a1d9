"""Displays of runs, ensembles and reactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.analysis.reactions.forces import Reactions
from pendula.errors import PendulaError
from pendula.present.notebook.elements import card, facts, framed, grid, notes, picture_of
from pendula.present.pictures.results import PLAYER_HEIGHT
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.present.player.page import animation_html
from pendula.present.words.reactions import coupling_rows, peak_rows, reaction_notes
from pendula.present.words.runs import ensemble_facts, level_rows, outcome_rows, run_facts
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.trajectory import Trajectory
from pendula.studies.result import Sweep
from pendula.words import counted

FRAMES = 240
"""frames of a motion in a notebook: a player page has about 75 kB, most of which is its script"""
MOST_STATES = 4000
"""largest number of states of a run that a notebook reads"""


def show_run(run: Trajectory) -> str:
    """The motion in the player, and how the run went."""
    about = [
        *run_facts(run),
        *(("not to be trusted", doubt) for doubt in run.doubts),
        *(("event", str(found)) for found in run.events.values()),
    ]
    return card(f"{run.system.model.name}: run", player(run), facts(about), notes([f"note: {x}" for x in run.notes]))


def player(run: Trajectory) -> str:
    """The player with a run, thinned to fit a small page; the plot of the run if it cannot be played."""
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
    outcomes = [(counted(count, "run"), outcome) for count, outcome in outcome_rows(runs)]
    about = [*outcomes, *ensemble_facts(runs)]
    table = grid(*level_rows(runs)) if runs.ok.any() else ""
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
