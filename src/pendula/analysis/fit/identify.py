"""What data determine: directions in which parameters can change without changing what was measured, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pendula.system.layout import Array

UNDETERMINED = 1e-7
"""singular values of the scaled Jacobian below this part of the largest determine nothing"""
SMALL = 0.02
"""entries of a direction below this are zero in words, unless their effect is felt"""
FELT = 1e-6
"""effects along a direction below this part of the largest are rounding"""


@dataclass(frozen=True, eq=False)
class Identified:
    """Directions of the scaled Jacobian: singular values, which are free, and sentences about them.

    Attributes:
        singular_values: of the Jacobian by relative changes (by changes of typical size for initial values).
        free: directions (rows) that the data do not determine.
        sentences: in words.
    """

    singular_values: Array
    free: Array
    sentences: tuple[str, ...]


def identify(J: Array, names: Sequence[str], relative: Sequence[bool]) -> Identified:
    """What the data determine, from the Jacobian by relative changes of the values.

    Args:
        J: derivatives of the weighted residuals by relative changes (or by changes of typical size).
        relative: which of the names vary in proportion to their value, so that products and ratios make sense.
    """
    _, s, rows = np.linalg.svd(J, full_matrices=False)
    full = np.zeros(len(names))
    full[: s.size] = s
    count = int((full <= UNDETERMINED * max(float(full[0]), 1e-300)).sum())
    free = rows[len(names) - count :] if count else np.zeros((0, len(names)))
    effects = np.linalg.norm(J, axis=0)
    return Identified(full, free, tuple(_sentences(_sparse(free), effects, names, relative)))


def _sparse(free: Array) -> Array:
    """Another basis of the same directions with many zeros, by elimination with full pivoting."""
    rows = free.copy()
    for k in range(len(rows)):
        i, j = np.unravel_index(int(np.argmax(np.abs(rows[k:]))), rows[k:].shape)
        rows[[k, k + i]] = rows[[k + i, k]]
        rows[k] /= rows[k, j]
        for other in range(len(rows)):
            if other != k:
                rows[other] -= rows[other, j] * rows[k]
    return rows


def _sentences(rows: Array, effects: Array, names: Sequence[str], relative: Sequence[bool]) -> list[str]:
    """Each direction in words; ``effects`` are those of each value alone, which cancel along the direction."""
    found = []
    for row in rows:
        parts = np.abs(row) * effects
        if parts.max() <= UNDETERMINED * effects.max():
            parts = np.where(np.abs(row) >= SMALL * np.abs(row).max(), 1.0, 0.0)  # values without effect alone
        shown = (np.abs(row) >= SMALL * np.abs(row).max()) | (parts >= FELT * parts.max())
        some = np.flatnonzero(shown & (parts > 0)).tolist()
        if len(some) == 1:
            found.append(f"{names[some[0]]} has no effect on what was measured")
        elif len(some) == 2 and relative[some[0]] and relative[some[1]]:
            found.append(_pair(names[some[0]], names[some[1]], float(row[some[0]]), float(row[some[1]])))
        else:
            terms = ", ".join(f"{names[k]} by {row[k] / np.abs(row).max():+.2g} %" for k in some)
            found.append(f"these can change together without changing what was measured: {terms}")
    return found


def _pair(a: str, b: str, x: float, y: float) -> str:
    """Two values of which one combination is determined: a^y / b^x is constant along (x, y) in logarithms."""
    power = y / x
    if abs(power - 1) < SMALL:
        return f"only the ratio {a}/{b} is determined, not {a} and {b} themselves"
    if abs(power + 1) < SMALL:
        return f"only the product {a}*{b} is determined, not {a} and {b} themselves"
    text = f"{a}^{power:.3g}/{b}" if power > 0 else f"{a}^{-power:.3g}*{b}"
    return f"only {text} is determined, not {a} and {b} themselves"
