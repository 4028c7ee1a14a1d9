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
CLOSER = 16
"""how many times more there are where a value has a kink at its peak"""
SMOOTH = 0.1
"""fourth differences as a part of second ones, below which a function is smooth between samples"""
AT_ONCE = 20_000_000
"""numbers that samples of runs may have together"""
FINE = 65
"""points at which the polynomial through five samples is looked at, between the neighbours of the largest"""


def _extremes(batch: Batch, tell: Tell) -> Computed:
    def blocks(tried: Tried) -> list[Block]:
        names, units = columns_of(batch)
        found = np.where(tried.started[:, None, None], _found(batch, tried, tell), np.nan)
        return [
            Block(what, CASE, tried.spread(found[:, k]), "", names_of(what, names), units)
            for k, what in enumerate(("least", "largest"))
        ]

    return run_batch(batch, tell, blocks, FEWEST)


def _found(batch: Batch, tried: Tried, tell: Tell) -> Array:
    """Least and largest values of all runs, shape (runs, 2, names).

    Runs are made again whose samples are too far apart for their steps, or for a kink. What counts is the run alone,
    so that results do not depend on the other cases of a batch.
    """
    options = batch.options
    error = options["tol"] if options["atol"] is None else options["atol"]
    found, kinks = _ends_of(tried.runs, error)
    per_step = PER_LONG_STEP if options["stepper"] == "taylor" else PER_STEP
    times = 2 ** np.ceil(np.log2(np.maximum(per_step * tried.runs.steps / FEWEST, 1.0))).astype(int)
    counts = np.full(len(found), FEWEST)
    for _ in range(2):
        wanted = np.minimum(FEWEST * times * np.where(kinks, CLOSER, 1), MOST)
        ended = 0
        for count in np.unique(wanted[wanted > counts]):
            some = np.flatnonzero((wanted == count) & (counts < count))
            size = max(1, AT_ONCE // (int(count) * found.shape[-1]))
            for part in np.split(some, range(size, len(some), size)):

                def told(done: int, of: int, before: int = ended) -> None:
                    tell(before + done, len(batch))

                runs = simulated(batch.part(tried.some[part]), told, int(count))
                found[part], kinks[part] = _ends_of(runs, error)
                ended += len(part)
            counts[some] = count
    return found


def _ends_of(runs: Ensemble, error: float) -> tuple[Array, Array]:
    """Least and largest values, shape (runs, 2, names), from samples and the ends of runs; which runs have kinks."""
    states, last = sampled_states(runs), ended_states(runs)
    (low, under), (high, over) = _largest(-states, error), _largest(states, error)
    found = np.stack([np.fmin(-low, last), np.fmax(high, last)], axis=1)
    return np.where(np.isfinite(found), found, np.nan), (under | over).any(axis=1)


def _largest(x: Array, error: float) -> tuple[Array, Array]:
    """Largest values of functions that are given at equal distances along axis 1, with NaN where a run had ended.

    Around the largest of the samples, the largest value of the polynomial through five of them. It is left out where
    the function is not smooth, or samples are too far apart: there the second result is True, unless the five samples
    are equal to ``error``.
    """
    known = np.isfinite(x)
    count = known.sum(axis=1)
    at = np.where(known, x, -np.inf).argmax(axis=1)
    best = np.take_along_axis(x, at[:, None], axis=1)[:, 0]
    middle = np.clip(at, 2, np.maximum(count - 3, 2))
    a, b, c, d, e = (np.take_along_axis(x, (middle + k)[:, None], axis=1)[:, 0] for k in range(-2, 3))
    fourth, spread = a - 4 * b + 6 * c - 4 * d + e, np.max([a, b, c, d, e], axis=0) - np.min([a, b, c, d, e], axis=0)
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
        smooth = (count >= 5) & (np.abs(fourth) <= SMOOTH * np.abs(b - 2 * c + d)) & np.isfinite(peak)
        kink = ~smooth & (count >= 5) & (at > 0) & (at < count - 1) & (spread > error * np.maximum(1.0, np.abs(best)))
    return np.where(smooth, np.fmax(best, peak), best), kink


EXTREMES = Computation(_extremes, HOW)
