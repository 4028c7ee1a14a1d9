"""Compares given equations row by row with M a = f of a model and finds the entries that differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.court.given import Numbers, Points
from pendula.equations.variants.written import Given
from pendula.system.layout import Array
from pendula.system.system import System

SAME = 1e-9
"""Relative difference up to which two entries count as equal."""


@dataclass(frozen=True)
class Match:
    """How a given row corresponds to ours over many states: ours times a factor, except for some wrong entries.

    The factor is a constant, or, if ``column`` is set, the ratio of the entries in that column at each state.
    """

    factor: float
    column: int | None
    wrong: Array

    @property
    def is_ours(self) -> bool:
        """Whether the row equals the model's."""
        return self.factor == 1.0 and self.column is None and not self.wrong.any()


def our_rows(system: System, numbers: Numbers, at: Points) -> Array | None:
    """[M, -f] at every state, in the coordinates of the given equations; None if that form does not exist."""
    n = len(system.layout.speeds)
    if system.loop_rows or numbers.basis is None or numbers.A.shape[2] > n:
        return None
    back = np.linalg.inv(numbers.basis)
    M = back.T @ system.mass_matrix(at.q, at.t, parameters=at.p) @ back
    f = system.forces(at.q, at.v, at.t, inputs=at.u, parameters=at.p) @ back
    return np.concatenate([M, -f[..., None]], axis=2)


def their_rows(numbers: Numbers) -> Array:
    """The given equations in the same form."""
    assert numbers.basis is not None
    return np.concatenate([numbers.A @ np.linalg.inv(numbers.basis), numbers.b[..., None]], axis=2)


def matches(numbers: Numbers, ours: Array | None) -> list[Match | None]:
    """How every given row corresponds to our row of the same number; None if it does not."""
    if ours is None:
        return [None] * numbers.A.shape[1]
    theirs = their_rows(numbers)
    return [_match(theirs[:, k], ours[:, k]) for k in range(theirs.shape[1])]


def _match(theirs: Array, ours: Array) -> Match | None:
    """The factor that makes most entries equal at all states; a factor other than 1 must explain two entries."""
    present = np.abs(ours).max(axis=0) > 0
    best, score = None, 0.0
    candidates: list[tuple[float, int | None]] = [(1.0, None)]
    for j in np.flatnonzero(present & (np.abs(theirs).max(axis=0) > 0)):
        at = int(np.argmax(np.abs(ours[:, j])))
        candidates += [(float(theirs[at, j] / ours[at, j]), None), (1.0, int(j))]
    for factor, column in candidates:
        factors = factor if column is None else _ratios(theirs[:, column], ours[:, column])
        same = _same(theirs, ours * np.reshape(factors, (-1, 1))).all(axis=0)
        count = float(np.sum(same & present)) - (0.0 if factor == 1.0 and column is None else 1.5)
        if count > score:
            best, score = Match(factor, column, ~same), count
    return best


def _ratios(theirs: Array, ours: Array) -> Array:
    return np.divide(theirs, ours, out=np.zeros_like(theirs), where=ours != 0)


def _same(theirs: Array, ours: Array) -> Array:
    """Which entries are equal up to rounding, relative to the largest entry of their row."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    return np.abs(theirs - ours) <= SAME * np.maximum(size, 1e-3 * size.max(axis=-1, keepdims=True))


def unsatisfied(numbers: Numbers, ours: Array, size: Array) -> list[tuple[int, float]]:
    """Equations that the model's accelerations do not satisfy at one state, each with its residual.

    Further unknowns take their least-squares values.
    """
    A, b, extra = numbers.A[0, :, : len(ours)], numbers.b[0], numbers.A[0, :, len(ours) :]
    known = A @ ours + b
    values = np.linalg.lstsq(extra, -known, rcond=None)[0] if extra.shape[1] else np.zeros(0)
    left = known + extra @ values
    limit = SAME * (np.abs(A) @ size + np.abs(b) + np.abs(extra) @ np.abs(values))
    return [(int(k), float(left[k])) for k in np.flatnonzero(np.abs(left) > limit)]


def entry_differences(
    given: Given, k: int, theirs: Array, ours: Array, match: Match
) -> list[tuple[str, float, float, float]]:
    """Entries of one row that differ at one state: name, our value, their value, scale of the row."""
    factor = match.factor
    if match.column is not None:
        factor = float(_ratios(theirs[[match.column]], ours[[match.column]])[0])
    mine = factor * ours
    sign = np.ones(len(ours))
    sign[-1] = -1.0 if given.form == "M" else 1.0
    wrong = np.flatnonzero(match.wrong & ~_same(theirs[None], mine[None])[0])
    size = float(np.abs(mine).max())
    return [
        (_entry_name(given, k, int(j), factor), float(sign[j] * mine[j]), float(sign[j] * theirs[j]), size)
        for j in wrong
    ]


def _entry_name(given: Given, k: int, j: int, factor: float) -> str:
    """Name of an entry of a row: a coefficient, or the terms without accelerations."""
    times = "" if abs(factor - 1.0) < SAME else f" (our row times {factor:.4g})"
    last = j == len(given.order)
    if given.form == "M":
        return (f"f[{given.order[k]}]" if last else f"M[{given.order[k]}, {given.order[j]}]") + times
    what = "terms without accelerations" if last else f"coefficient of {given.acceleration_names[j]}"
    return f"{given.rows[k].label}: {what}{times}"
