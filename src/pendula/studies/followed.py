"""Whether single values of a study can be predicted: a few of its runs are followed, with their errors over time."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.errors import PendulaError
from pendula.interrupts import whole
from pendula.simulation.defaults import LOST
from pendula.simulation.simulate import simulate
from pendula.storage.files import write_text
from pendula.storage.pipes import read_limited
from pendula.studies.axes import INITIAL, INPUT, PARAMETER, SETTING
from pendula.studies.batch import Batch
from pendula.studies.computations.runs import HOW
from pendula.studies.plan import Plan
from pendula.studies.recipe import Recipe
from pendula.studies.result import DONE, Sweep
from pendula.studies.saved import OWNER, belongs, digest_of
from pendula.system.layout import Array
from pendula.words import counted

FILE = "predictability.json"
RUNS = ("end", "states", "energies", "extremes", "first")
"""computations that integrate motions, side by side in the lanes of the processor where the stepper can do that"""
PLACES = (0.5, 0.9, 0.98, 1.0)
"""runs that are followed, by their place among all in the order of their steps"""
LONGEST = 2**20
"""bytes of the notes in a folder"""
FEW = 40
"""steps in which no motion loses its digits"""
MOST = 20_000
"""steps over which a run is followed"""


@dataclass(frozen=True)
class Followed:
    """A run that was followed: the number of its case, its end, and when its digits were lost (None: not)."""

    case: int
    end: float
    until: float | None


def noted(found: Sweep, plan: Plan, recipe: Recipe) -> Sweep:
    """The study with a note if some of its runs are too long for their single values to be predicted.

    Four runs are followed by single runs, which estimate their errors. With a folder, the note is kept there.
    """
    if not found.complete:
        return found
    known = kept_notes(found)
    if known is None:
        try:
            runs = _follow(found, plan, recipe)
        except KeyboardInterrupt:  # the study is complete, only this note is not
            return found
        known = _notes(found, runs)
        if found.folder is not None:
            with suppress(PendulaError, OSError):  # on a full disk the results count more than this note
                content = {"cases": len(found), "notes": known, OWNER: digest_of(found.study)}
                write_text(found.folder / FILE, json.dumps(content))
    return replace(found, notes=(*found.notes, *known))


def kept_notes(found: Sweep) -> list[str] | None:
    """Notes about predictability in the folder of a study; None if it has none for these cases of this study."""
    if found.folder is None:
        return None
    try:
        content = json.loads(read_limited(found.folder / FILE, LONGEST))
        fits = content["cases"] == len(found) and belongs(content, found.study)
        return [str(x) for x in content["notes"]] if fits else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _follow(found: Sweep, plan: Plan, recipe: Recipe) -> list[Followed]:
    """Follows a few runs, most of them long ones."""
    named = any(isinstance(one, str) and one in RUNS for one in recipe.compute)
    other = any(kind == INPUT or (kind == SETTING and name not in HOW) for name, kind in recipe.kinds.items())
    if not named or other or "steps" not in found.names:
        return []
    cases, ends = _chosen(found, recipe, plan)
    values = plan.values(cases)
    chosen = {kind: {n: x for n, x in values.items() if recipe.kinds[n] == kind} for kind in (PARAMETER, INITIAL)}
    batch = Batch(recipe.system, cases, chosen[PARAMETER], chosen[INITIAL], recipe.options)
    runs = []
    for k, (case, end) in enumerate(zip(cases.tolist(), ends.tolist(), strict=True)):
        how: dict[str, Any] = {n: values[n][k].item() if n in values else recipe.options[n] for n in HOW}
        how.pop("duration")
        try:
            run = whole(
                simulate, recipe.system, end, initial_state=batch.state(k) or None, parameters=batch.vector(k), **how
            )
        except PendulaError:
            continue
        if run.predictability is not None:
            runs.append(Followed(case, end, run.predictability.until))
    return runs


def _chosen(found: Sweep, recipe: Recipe, plan: Plan) -> tuple[Array, Array]:
    """Numbers of the cases to follow, and for how long."""
    steps = found["steps"].ravel()
    good = (found.status.ravel() == DONE) & (found["ok"].ravel() == 1.0) & (steps > FEW)
    if "first_t" in found.names and (good & np.isfinite(found["first_t"].ravel())).any():
        good &= np.isfinite(found["first_t"].ravel())
    cases = np.flatnonzero(good)
    if not cases.size:
        return cases, np.zeros(0)
    order = cases[np.argsort(steps[cases], kind="stable")]
    places = np.unique((np.array(PLACES) * (order.size - 1)).round().astype(int))
    some = order[places]
    durations = plan.values(some).get("duration", np.full(some.size, recipe.options["duration"], dtype=float))
    ends = found["first_t"].ravel()[some] if "first_t" in found.names else durations
    ends = np.where(np.isfinite(ends), ends, durations)
    return some, ends * np.minimum(1.0, MOST / steps[some])


def _notes(found: Sweep, runs: list[Followed]) -> list[str]:
    lost = [run for run in runs if run.until is not None]
    if not lost:
        return []
    until = min(float(run.until) for run in lost if run.until is not None)
    unit = "" if found.system is None else f" {found.system.layout.time_unit}"
    text = (
        f"single values may not be predictable: of {counted(len(runs), 'run')} that were followed, {len(lost)} lost "
        f"{'its' if len(lost) == 1 else 'their'} digits before the end, the first at about t = {until:.3g}{unit} "
        f"(errors above {LOST:g})"
    )
    if "first_t" in found.names:
        known = found["first_t"][np.isfinite(found["first_t"])]
        text += f"; {int((known > until).sum())} of {counted(known.size, 'value')} of first_t are later"
    return [f"{text}. Another tolerance may change each of them; shares and means of many cases hold"]
