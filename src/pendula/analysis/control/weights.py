"""Weights and covariances by name: matrices, diagonals, numbers, or values for some of the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.names import suggestion
from pendula.system.layout import Array

SYMMETRIC = 1e-9


def weight_matrix(given: Any, names: Sequence[str], what: str, *, definite: bool) -> Array:
    """A symmetric matrix from a number (times the identity), a diagonal, a matrix, or values by name (others zero).

    Raises:
        UsageError: a name or shape is wrong, or the matrix is not positive (semi)definite.

    Example:
        >>> weight_matrix({"theta": 3}, ["x", "theta"], "Q", definite=False).tolist()
        [[0.0, 0.0], [0.0, 3.0]]
    """
    n = len(names)
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                hint = suggestion(str(name), names)
                raise UsageError(f'{what}: there is no "{name}"; {hint}')
        given = [given.get(name, 0.0) for name in names]
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be a number, a diagonal, a matrix, or values by name; found {given!r}") from None
    if found.ndim == 0:
        found = found * np.eye(n)
    elif found.shape == (n,):
        found = np.diag(found)
    if found.shape != (n, n):
        raise UsageError(
            f"{what} belongs to {', '.join(names)}: {n} entries or a {n} by {n} matrix, found {found.shape}"
        )
    if not np.isfinite(found).all() or np.abs(found - found.T).max(initial=0) > SYMMETRIC * np.abs(found).max(
        initial=0
    ):
        raise UsageError(f"{what} must be symmetric and finite")
    least = float(np.linalg.eigvalsh(found).min(initial=np.inf))
    size = float(np.abs(found).max(initial=0.0))
    if least < -SYMMETRIC * size or (definite and not least > SYMMETRIC * 1e-6 * size):
        kind = "positive definite" if definite else "positive semidefinite"
        raise UsageError(f"{what} must be {kind}; its least eigenvalue is {least:.3g}")
    return (found + found.T) / 2
