"""Smallest and largest values of coordinates and speeds along the runs of many cases.

They are read from samples, between which a polynomial finds the peaks. Samples that are too far apart for the motion
would miss them, so runs with many steps are made again with some samples for each step.
"""

from __future__ import annotations

import numpy as np

from pendula.simulation.ensemble import Ensemble
from pendula.studies.batch import Batch, Computed, Tell
from pendula.studies.computations.registry import Computation
from pendula.studies.computations.runs import (
    CASE,
    HOW,
    Tried,
    columns_of,
    ended_states,
    names_of,
    run_batch,
    sampled_states,
    simulated,
)
from pendula.system.layout import Array
from pendula.tables.table import Block

FEWEST, MOST = 1000, 1_000_000
"""least and largest number of samples of a run"""
PER_STEP, PER_LONG_STEP = 4, 32
"""samples for each step, and for each of the long steps of Taylor series"""
AT_ONCE = 20_000_000
"""numbers that samples of runs may have together"""
FINE = 65
"""points at which the polynomial through five samples is looked at, between the neighbours of the largest"""


def _extremes(batch: Batch, tell: Tell) -> Computed:
    def blocks(tried: Tried) -> list[Block]:
        names, units = columns_of(batch)
        found = np.stack(_ends_of(tried.runs), axis=1)
        _again(batch, tried, found, tell)
        found = np.where(np.isfinite(found) & tried.started[:, None, None], found, np.nan)
        return [
            Block(what, CASE, tried.spread(found[:, k]), "", names_of(what, names), units)
            for k, what in enumerate(("least", "largest"))
        ]

    return run_batch(batch, tell, blocks, FEWEST)


def _again(batch: Batch, tried: Tried, found: Array, tell: Tell) -> None:
    """Makes runs again whose samples are too far apart for their steps. What counts is the run alone, so that results
    do not depend on the other cases of a batch.
    """
    per_step = PER_LONG_STEP if batch.options["stepper"] == "taylor" else PER_STEP
    needed = per_step * np.maximum(tried.runs.steps, 1) / FEWEST
    counts = np.minimum(FEWEST * 2 ** np.ceil(np.log2(np.maximum(needed, 1.0))).astype(int), MOST)
    ended = 0
    for count in np.unique(counts[counts > FEWEST]):
        some = np.flatnonzero(counts == count)
        size = max(1, AT_ONCE // (int(count) * found.shape[-1]))
        for part in np.split(some, range(size, len(some), size)):

            def told(done: int, of: int, before: int = ended) -> None:
                tell(before + done, len(batch))

            runs = simulated(batch.part(tried.some[part]), told, int(count))
            found[part] = np.stack(_ends_of(runs), axis=1)
            ended += len(part)


def _ends_of(runs: Ensemble) -> tuple[Array, Array]:
    """Least and largest values, shape (runs, names) each, from samples and from the ends of runs."""
    states, last = sampled_states(runs), ended_states(runs)
    return np.fmin(-_largest(-states), last), np.fmax(_largest(states), last)


def _largest(x: Array) -> Array:
    """Largest values of functions that are given at equal distances along axis 1, with NaN where a run had ended.

    Around the largest of the samples, the largest value of the polynomial through five of them. It is left out where
    fourth differences are as large as second ones: the function is not smooth there, or samples are too far apart.
    """
    known = np.isfinite(x)
    count = known.sum(axis=1)
    at = np.where(known, x, -np.inf).argmax(axis=1)
    best = np.take_along_axis(x, at[:, None], axis=1)[:, 0]
    middle = np.clip(at, 2, np.maximum(count - 3, 2))
    a, b, c, d, e = (np.take_along_axis(x, (middle + k)[:, None], axis=1)[:, 0] for k in range(-2, 3))
    fourth = a - 4 * b + 6 * c - 4 * d + e
    terms = (
        (a - 8 * b + 8 * d - e) / 12, (16 * (b + d) - 30 * c - a - e) / 24, (e - a - 2 * (d - b)) / 12, fourth / 24
    )  # fmt: skip
    low, high = np.maximum(at - middle - 1, -2), np.minimum(at - middle + 1, 2)
    s = low + (high - low) * np.linspace(0.0, 1.0, FINE)[:, None, None]
    y = c + s * (terms[0] + s * (terms[1] + s * (terms[2] + s * terms[3])))
    top = np.clip(np.where(np.isfinite(y), y, -np.inf).argmax(axis=0), 1, FINE - 2)[None]
    left, here, right = (np.take_along_axis(y, top + k, axis=0)[0] for k in (-1, 0, 1))
    bend = left - 2 * here + right
    with np.errstate(invalid="ignore", divide="ignore"):
        peak = np.where(bend < 0.0, here - (right - left) ** 2 / (8 * bend), here)
        peak = np.where(np.abs(right - left) <= -2 * bend, peak, np.maximum(left, right))
    smooth = (count >= 5) & (np.abs(fourth) < np.abs(b - 2 * c + d)) & np.isfinite(peak)
    return np.where(smooth, np.fmax(best, peak), best)


EXTREMES = Computation(_extremes, HOW)
