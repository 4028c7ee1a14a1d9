"""Equilibria of many cases: how many, their eigenvalues, frequencies and stability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import find_equilibria
from pendula.analysis.linear.linearize import linearize
from pendula.analysis.linear.spectrum import spectrum
from pendula.analysis.modes.modes import modes
from pendula.analysis.stability.verdict import Stability, stability
from pendula.errors import NotAnEquilibrium, UsageError
from pendula.studies.batch import Batch, Computed, Tell, numbers, one_by_one, padded, words
from pendula.studies.computations.registry import Computation
from pendula.tables.table import Block

CASE = ("case",)
AT: dict[str, Any] = {"at": None, "rates": None}
"""settings: a point near the equilibrium, coordinates by name; default: the equilibrium of least potential"""


def refuse_rates_at_a_point(batch: Batch) -> None:
    """Raises if the batch has rates, of which the search for all equilibria makes use, and a point near one of them.

    Raises:
        UsageError: it does.
    """
    rates, at = batch.options["rates"], batch.options["at"]
    near = [*(at if isinstance(at, Mapping) else ()), *batch.initial]
    if rates and near:
        raise UsageError(
            f"rates are for the search for all steady motions, but {', '.join(near)} asks for the one nearby.\n"
            f'  Try: without rates, the speeds of the motion in at, such as at={{"{next(iter(rates))}_dot": ...}}.'
        )


def point(batch: Batch, k: int) -> Equilibrium:
    """The equilibrium of a case: near the given point, or the one of least effective potential.

    Raises:
        NotAnEquilibrium: there is none.
    """
    at, vector = batch.options["at"], batch.vector(k)
    if at is not None and not isinstance(at, Mapping):
        raise UsageError(f"at: coordinates of the equilibrium by name, found {at!r:.60}")
    if at is not None or batch.initial:
        from pendula.analysis.stability.following import follow, state_near

        asked = {**(at or {}), **batch.state(k)}
        found = follow(batch.system, state_near(batch.system, asked, vector), None, vector)
        if found is None:
            where = ", ".join(f"{name} = {x:g}" for name, x in asked.items())
            raise NotAnEquilibrium(f"Newton's method found no equilibrium from {where}", residual=float("nan"))
        return found
    everything = find_equilibria(batch.system, parameters=vector, rates=batch.options["rates"])
    if not len(everything):
        raise NotAnEquilibrium("the search found no equilibrium", residual=float("nan"))
    return everything[0]


def _spectrum(batch: Batch, tell: Tell) -> Computed:
    refuse_rates_at_a_point(batch)
    found, failures = one_by_one(
        batch, lambda k: {"roots": spectrum(linearize(batch.system, point(batch, k))).values}, tell
    )
    if "roots" not in found:
        return Computed((), failures)
    most = max(len(x) for x in found["roots"] if x is not None)
    roots = found["roots"]
    units = batch.system.model.unit_names
    rate = units.formal(f"1/{units.time}")
    real = padded([None if x is None else x.real for x in roots], most)
    imaginary = padded([None if x is None else x.imag for x in roots], most)
    largest = [None if x is None else x.real.max(initial=-np.inf) for x in roots]
    return Computed((
        Block("real", ("case", "root"), real, rate), Block("imaginary", ("case", "root"), imaginary, rate),
        Block("growth_rate", CASE, numbers(largest), rate),
    ), failures)  # fmt: skip


def _verdict(batch: Batch, tell: Tell) -> Computed:
    refuse_rates_at_a_point(batch)

    def judge(k: int) -> dict[str, Any]:
        rest = point(batch, k)
        found = stability(linearize(batch.system, rest))
        return {
            "verdict": found.verdict, "certainty": found.certainty, "growth_rate": _growth(found),
            "stable": np.nan if found.is_stable is None else float(found.is_stable),
            "at": [rest.state[name] for name in batch.system.in_joints.layout.coordinates],
        }  # fmt: skip

    found, failures = one_by_one(batch, judge, tell)
    if not found:
        return Computed((), failures)
    layout, units = batch.system.in_joints.layout, batch.system.model.unit_names
    names = tuple(f"at.{name}" for name in layout.coordinates)
    blocks = (
        Block("verdict", CASE, words(found["verdict"])),
        Block("certainty", CASE, words(found["certainty"])),
        Block("stable", CASE, numbers(found["stable"])),
        Block("growth_rate", CASE, numbers(found["growth_rate"]), units.formal(f"1/{units.time}")),
        Block("at", CASE, padded(found["at"], len(names)), "", names,
              tuple(units.formal(layout.units[name]) for name in layout.coordinates)),
    )  # fmt: skip
    return Computed(blocks, failures)


def _growth(found: Stability) -> float:
    roots = found.spectrum.values
    return float(roots.real.max()) if roots.size else np.nan


def _frequencies(batch: Batch, tell: Tell) -> Computed:
    refuse_rates_at_a_point(batch)

    def measure(k: int) -> dict[str, Any]:
        found = modes(linearize(batch.system, point(batch, k)), damped=True)
        return {
            "frequency": found.frequencies,
            "damping": [one.damping_ratio for one in found if one.frequency is not None],
        }

    found, failures = one_by_one(batch, measure, tell)
    if not found:
        return Computed((), failures)
    most = max(len(x) for x in found["frequency"] if x is not None)
    units = batch.system.model.unit_names
    return Computed((
        Block("frequency", ("case", "mode"), padded(found["frequency"], most), units.formal(f"rad/{units.time}")),
        Block("damping_ratio", ("case", "mode"), padded(found["damping"], most)),
    ), failures)  # fmt: skip


def _equilibria(batch: Batch, tell: Tell) -> Computed:
    def search(k: int) -> dict[str, Any]:
        found = find_equilibria(
            batch.system, parameters=batch.vector(k), rates=batch.options["rates"], box=batch.options["box"]
        )
        stable = sum(stability(linearize(batch.system, one)).is_stable is True for one in found)
        lowest = [found[0].state[name] for name in names] if len(found) else []
        return {"count": len(found), "stable": stable, "complete": found.complete, "lowest": lowest}

    layout, units = batch.system.in_joints.layout, batch.system.model.unit_names
    names = layout.coordinates
    found, failures = one_by_one(batch, search, tell)
    if not found:
        return Computed((), failures)
    blocks = (
        Block("equilibria", CASE, numbers(found["count"])),
        Block("stable_equilibria", CASE, numbers(found["stable"])),
        Block("complete", CASE, words(found["complete"])),
        Block("lowest", CASE, padded(found["lowest"], len(names)), "", tuple(f"lowest.{name}" for name in names),
              tuple(units.formal(layout.units[name]) for name in names)),
    )  # fmt: skip
    return Computed(blocks, failures)


SPECTRUM = Computation(_spectrum, AT)
VERDICT = Computation(_verdict, AT)
FREQUENCIES = Computation(_frequencies, AT)
EQUILIBRIA = Computation(_equilibria, {"rates": None, "box": None})
