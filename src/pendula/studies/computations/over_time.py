"""Driven and chaotic motion of many cases: Floquet multipliers and Lyapunov exponents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.analysis.chaos.lyapunov import lyapunov
from pendula.analysis.driven.floquet import floquet
from pendula.simulation.defaults import MAX_STEPS
from pendula.studies.batch import Batch, Computed, Tell, numbers, one_by_one, padded, words
from pendula.studies.computations.registry import Computation
from pendula.tables.table import Block

CASE = ("case",)


def _floquet(batch: Batch, tell: Tell) -> Computed:
    options = {name: batch.options[name] for name in ("period", "close")}

    def measure(k: int) -> dict[str, Any]:
        at = {**(batch.options["at"] or {}), **batch.state(k)}
        found = floquet(
            batch.system, at=at or None, parameters=batch.vector(k), tol=batch.options["floquet_tol"], **options
        )
        return {"radius": found.radius, "stable": float(found.stable), "verdict": found.verdict, "m": found.multipliers}

    found, failures = one_by_one(batch, measure, tell)
    if not found:
        return Computed((), failures)
    most = max(len(x) for x in found["m"] if x is not None)
    size = padded([None if x is None else np.abs(x) for x in found["m"]], most)
    angle = padded([None if x is None else np.angle(x) for x in found["m"]], most)
    return Computed((
        Block("radius", CASE, numbers(found["radius"])),
        Block("stable", CASE, numbers(found["stable"])),
        Block("verdict", CASE, words(found["verdict"])),
        Block("multiplier_size", ("case", "multiplier"), size),
        Block("multiplier_angle", ("case", "multiplier"), angle, "rad"),
    ), failures)  # fmt: skip


def _lyapunov(batch: Batch, tell: Tell) -> Computed:
    options = {name: batch.options[name] for name in ("tol", "stepper", "max_steps", "segments", "transient")}

    def measure(k: int) -> dict[str, Any]:
        found = lyapunov(
            batch.system, batch.options["duration"], initial_state=batch.state(k) or None, parameters=batch.vector(k),
            **options,
        )  # fmt: skip
        return {"exponent": found.exponent, "spread": found.spread, "grows": float(found.grows)}

    found, failures = one_by_one(batch, measure, tell)
    if not found:
        return Computed((), failures)
    units = batch.system.model.unit_names
    rate = units.formal(f"1/{units.time}")
    return Computed((
        Block("lyapunov", CASE, numbers(found["exponent"]), rate),
        Block("lyapunov_error", CASE, numbers(found["spread"]), rate),
        Block("chaotic", CASE, numbers(found["grows"])),
    ), failures)  # fmt: skip


FLOQUET = Computation(_floquet, {"at": None, "period": None, "close": False, "floquet_tol": 1e-13})
LYAPUNOV = Computation(
    _lyapunov,
    {"duration": 100.0, "tol": 1e-9, "stepper": "dop853", "max_steps": MAX_STEPS, "segments": 200, "transient": None},
)
