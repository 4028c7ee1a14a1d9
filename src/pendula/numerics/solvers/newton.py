"""Gauss-Newton iteration with steps of least change, for projection onto constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

ResidualAndJacobian = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

RANK_TOLERANCE = 1e-11  # singular values below this fraction of the largest count as zero
SHORTEST_STEP = 2.0**-20  # fraction of the full step at which damping gives up


@dataclass(frozen=True)
class LeastChange:
    """Result of :func:`solve_least_change`.

    Attributes:
        x: the best point found.
        residual_norm: largest absolute residual there.
        iterations: steps taken.
        converged: whether ``residual_norm`` is within the tolerance.
        rank: rank of the last Jacobian; if it is less than the number of rows, constraints are linearly
            dependent there.
    """

    x: np.ndarray
    residual_norm: float
    iterations: int
    converged: bool
    rank: int


def solve_least_change(
    residual_and_jacobian: ResidualAndJacobian,
    x0: Sequence[float] | np.ndarray,
    *,
    tol: float,
    max_iterations: int = 50,
    weights: Sequence[float] | np.ndarray | None = None,
) -> LeastChange:
    """A root of r(x) close to ``x0``, by damped Newton steps of smallest weighted length.

    There may be fewer equations than unknowns (projection onto constraints), as many, or redundant ones.
    Each step is the shortest that solves the linearized equations, so the result is close to, but
    in general not exactly, the nearest root.

    Args:
        residual_and_jacobian: returns r, shape (m,), and dr/dx, shape (m, n), at x.
        x0: initial guess.
        tol: largest absolute residual that counts as solved.
        max_iterations: steps before giving up.
        weights: cost of moving each component, positive; ``inf`` holds it fixed. All 1 if None.

    Returns:
        A :class:`LeastChange`; ``converged`` reports failure, which never raises an error. Residuals
        that are not finite count as infinite.

    Example:
        >>> circle = lambda x: (np.array([x @ x - 1.0]), 2.0 * x[None, :])
        >>> solve_least_change(circle, [3.0, 4.0], tol=1e-14).x.round(12)
        array([0.6, 0.8])
    """
    x = np.array(x0, dtype=float)
    scaling = np.ones(x.size) if weights is None else 1.0 / np.sqrt(np.array(weights, dtype=float))
    residual, jacobian = _evaluate(residual_and_jacobian, x)
    norm = _largest(residual)
    rank, iterations = 0, 0
    if jacobian.size and np.all(np.isfinite(jacobian)):
        rank = _shortest_step(residual, jacobian, scaling)[1]
    while norm > tol and iterations < max_iterations and np.isfinite(norm) and np.all(np.isfinite(jacobian)):
        step, rank = _shortest_step(residual, jacobian, scaling)
        fraction = 1.0
        while fraction >= SHORTEST_STEP:
            trial = x + fraction * step
            trial_residual, trial_jacobian = _evaluate(residual_and_jacobian, trial)
            if _size(trial_residual) < (1.0 - 1e-4 * fraction) * _size(residual):
                break
            fraction *= 0.5
        else:
            break  # no step helps: a local minimum of the residual, or rounding
        x, residual, jacobian, norm = trial, trial_residual, trial_jacobian, _largest(trial_residual)
        iterations += 1
    return LeastChange(x, norm, iterations, bool(norm <= tol), rank)


def _evaluate(residual_and_jacobian: ResidualAndJacobian, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    residual, jacobian = residual_and_jacobian(x)
    residual = np.atleast_1d(np.asarray(residual, dtype=float))
    return residual, np.asarray(jacobian, dtype=float).reshape(residual.size, x.size)


def _largest(residual: np.ndarray) -> float:
    norm = float(np.max(np.abs(residual), initial=0.0))
    return norm if np.isfinite(norm) else np.inf


def _size(residual: np.ndarray) -> float:
    size = float(np.linalg.norm(residual))
    return size if np.isfinite(size) else np.inf


def _shortest_step(residual: np.ndarray, jacobian: np.ndarray, scaling: np.ndarray) -> tuple[np.ndarray, int]:
    """Step of least weighted length among those that minimize the linearized residual, and the rank."""
    try:
        step, _, rank, _ = np.linalg.lstsq(jacobian * scaling, -residual, rcond=RANK_TOLERANCE)
    except np.linalg.LinAlgError:  # the singular value iteration did not converge
        return np.zeros(scaling.size), 0
    return scaling * step, int(rank)
