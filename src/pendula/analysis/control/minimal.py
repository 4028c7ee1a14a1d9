"""The part of a state space that inputs reach and outputs show, and the poles of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.analysis.control.space import StateSpace, poles_of
from pendula.system.layout import Array

HIDDEN = 1e-9
"""a direction is hidden if what reaches it is below this part of the matrix that leads there"""


def reduced(space: StateSpace) -> tuple[StateSpace, Array]:
    """The minimal part of a state space with the same response, and the poles that were left out.

    Example:
        >>> import pendula
        >>> loop = pendula.linearize("cart-pole", {"theta": 0}).state_space("theta")
        >>> small, hidden = reduced(loop)  # where the cart is does not matter to the pole
        >>> len(small.A), abs(hidden).round(12).tolist()
        (2, [0.0, 0.0])
    """
    from scipy.linalg import matrix_balance  # slow to load

    A, scale = matrix_balance(space.A, permute=False, separate=True)
    s = scale[0]
    B, C = space.B / s[:, None], space.C * s
    A, B, C, unreached = _reachable(A, B, C)
    A, C, B, unseen = _reachable(A.T, C.T, B.T)
    A, B, C = A.T, B.T, C.T
    names = tuple(f"x{k + 1}" for k in range(len(A)))
    poles = np.concatenate([unreached, unseen])
    return (space, poles) if not poles.size else (replace(space, A=A, B=B, C=C, states=names), poles)


def _reachable(A: Array, B: Array, C: Array) -> tuple[Array, Array, Array, Array]:
    """The system in the directions that B reaches through A, with the eigenvalues in all others (staircase form)."""
    n = len(A)
    size = max(float(np.linalg.norm(A, 2)) if n else 0.0, 1e-300)
    basis: Array = np.zeros((n, 0))
    fresh: Array = B / max(float(np.linalg.norm(B, 2)) if B.size else 0.0, 1e-300)
    while basis.shape[1] < n:
        fresh = fresh - basis @ (basis.T @ fresh)
        left, values, _ = np.linalg.svd(fresh, full_matrices=False)
        kept = left[:, values > HIDDEN]
        if not kept.shape[1]:
            break
        kept = np.linalg.qr(kept - basis @ (basis.T @ kept))[0]
        basis = np.hstack([basis, kept])
        fresh = A @ kept / size
    rest = np.linalg.svd(basis, full_matrices=True)[0][:, basis.shape[1] :] if basis.size else np.eye(n)
    poles = poles_of(rest.T @ A @ rest) if rest.shape[1] else np.zeros(0)
    if not rest.shape[1]:
        return A, B, C, poles
    return basis.T @ A @ basis, basis.T @ B, C @ basis, poles
