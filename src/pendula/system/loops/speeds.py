"""Speeds that are compatible with closed loops, and how the rows of loops compare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pendula.errors import LoopNotClosed
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, typical_length, typical_steps
from pendula.system.system import System

DEPENDENT = 1e-9
"""Singular values of the scaled G below this fraction of the largest count as zero: rows are linearly dependent."""

ROUNDED = 1e-3
"""Values to hold that contradict each other by less than this count as rounded, and are corrected: coordinates in
radians or typical lengths, speeds as a fraction of the largest."""

STIFF = 100.0
"""Cost of moving what should be held, relative to the rest, where it has to give way."""


def row_scales(system: System, parameters: Parameters = None) -> Array:
    """Divisors that make the constraint rows dimensionless: a typical length for gaps, 1 for directions."""
    length = typical_length(system, parameters)
    names = system.constraint_names[: system.loop_rows]
    return np.array([length if "gap" in name else 1.0 for name in names])


def compatible_speeds(
    system: System, q: Array, v: Array, t: float, parameters: Parameters, holds: Sequence[frozenset[str]]
) -> Array:
    """The speeds with G v = b nearest to v. Holds those named in the first of ``holds``, else those in the next."""
    scale = row_scales(system, parameters)
    rate = system.gaps(q, v, t, parameters=parameters)[1] / scale
    G = system.constraint_jacobian(q, t, parameters=parameters) / scale[:, None]
    # rows that no speed changes, of a loop around prescribed motions alone, are rounding, which is not to be solved for
    G[np.abs(G * typical_steps(system, parameters)).max(axis=1, initial=0.0) <= DEPENDENT] = 0.0
    enough = 1e-9 * (1.0 + np.abs(rate).max())

    def left(change: Array) -> float:
        return float(np.abs(G @ change + rate).max())

    change, names = _least_change(G, rate, np.ones(len(v))), system.layout.speeds
    masks = [held for some in holds if (held := np.array([name in some for name in names])).any()]
    firsts = [_least_change(G, rate, np.where(held, 0.0, 1.0)) for held in masks]
    for first in firsts:
        if left(first) <= enough:
            return np.asarray(v + first)
    # held speeds may change by their rounding, as coordinates may
    for held, first in zip(masks, firsts, strict=True):
        both = first + _least_change(G, G @ first + rate, np.where(held, 1.0 / np.sqrt(STIFF), 1.0))
        if left(both) <= enough:
            change = both
            if np.abs(both[held]).max() <= ROUNDED * np.abs(v[held]).max():
                return np.asarray(v + both)
    if not left(change) <= enough:
        unit = system.model.unit_names.speed("length")
        raise LoopNotClosed(
            f"no speeds are compatible with the loops: a gap still opens at {left(change) * scale.max():.3g} {unit}. "
            "The mechanism is locked at this pose against its prescribed motion.\n"
            "  Try: a pose that is not at a dead point, or a smaller prescribed rate.",
            last=v + change,
            residual=left(change),
        )
    kept = [k for k, name in enumerate(names) if name in holds[-1]]
    if kept and np.abs(change[kept]).max() > ROUNDED * np.abs(v[kept]).max(initial=0.0):
        raise LoopNotClosed(_contradiction(system, G, rate, v, kept, v + change), last=v + change, residual=left(0 * v))
    return np.asarray(v + change)


def _least_change(G: Array, rate: Array, ease: Array) -> Array:
    """The smallest change of speeds that solves G change = -rate, in the least-squares sense; an ease of 0 holds it."""
    change = np.zeros(len(ease))
    free = ease > 0.0
    if free.any():
        change[free] = ease[free] * np.linalg.lstsq(G[:, free] * ease[free], -rate, rcond=DEPENDENT)[0]
    return change


def _contradiction(system: System, G: Array, rate: Array, v: Array, kept: list[int], nearest: Array) -> str:
    """Why the requested speeds are impossible."""
    names, units = system.layout.speeds, system.layout.units
    free = np.array([float(k not in kept) for k in range(len(v))])
    worst = int(np.argmax(np.abs(G @ _least_change(G, rate, free) + rate)))
    joint = system.constraint_names[worst].partition(":")[0]

    def listed(values: Array) -> str:
        return ", ".join(f"{names[k]} = {values[k]:.6g} {units[names[k]]}" for k in kept)

    moving = [k for k in kept if v[k] != 0.0]
    what = f"the speeds {listed(v)} contradict each other"
    if len(kept) == 1 or len(moving) == 1:
        what = f"the mechanism cannot move with {listed(v)} from this pose: it is locked there (a dead point)"
    return (
        f'{what}: joint "{joint}" would not stay closed.\n'
        f"  The nearest compatible speeds are {listed(nearest)}.\n"
        "  Try: give fewer speeds, so that the others follow from the loops; or another pose."
    )
