"""Newton's method for equilibria, from many starts at once.

The unknowns are displacements along the speeds and the multipliers of closed loops; the equations are the balance of
forces and the closure of loops. All quantities are dimensionless: angles in radians, lengths in typical lengths,
forces in typical forces, so the same tolerances suit every mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.turning import Turning
from pendula.system.layout import Array
from pendula.system.loops.speeds import row_scales
from pendula.system.orientation.maps import moved
from pendula.system.system import System

SETTLED = 1e-9
"""residuals below this, as a fraction of a typical force, belong to an equilibrium"""
LONGEST = 0.7
"""the longest step, in radians or typical lengths"""
SMALL, NOTHING = 1e-4, 1e-12
"""a row with forces below the first fraction of a typical force has its own scale, below the second it has none"""
SINGULAR = 1e-9
"""singular values below this fraction of the largest count as zero when a state is refined"""
REGULAR = 1e-3
"""smaller singular values, as a fraction of the largest, belong to poses next to singular ones: multipliers are huge"""
CLOSED = 1e-2
"""loops that close only after a step longer than this share of the distance to a singular pose are not closed"""
GROWN = 100.0
"""multipliers above this, in typical forces, may grow without bound towards a singular pose"""


@dataclass(frozen=True)
class Stationary:
    """The equilibrium equations in dimensionless form.

    Attributes:
        balance: forces for fixed inputs and parameters.
        v: constant speeds: zero, or the rates of cyclic coordinates.
        force: a typical force (as a torque), the scale of residuals.
        shares: for each speed, its typical force divided by ``force``, so that a stiff spring elsewhere does not set
            the scale for the weight of a pendulum. None if all are similar.
        turning: rotations of ball joints in a steady motion, which make the speeds depend on the pose; None without.
    """

    balance: Balance
    v: Array
    force: float
    shares: Array | None = None
    turning: Turning | None = None

    @property
    def system(self) -> System:
        """The system."""
        return self.balance.system

    @cached_property
    def sizes(self) -> Array:
        """Unit of each displacement: a radian or a typical length."""
        return self.balance.steps

    @cached_property
    def row_sizes(self) -> Array:
        """Unit of each gap."""
        return row_scales(self.system, self.balance.parameters) if self.system.loop_rows else np.zeros(0)

    def speeds(self, q: Array) -> Array:
        """Speeds at some poses."""
        if self.turning is not None:
            return self.turning.speeds(self.system, q)
        return np.broadcast_to(self.v, (*np.shape(q)[:-1], len(self.v)))

    def residuals(self, q: Array, lam: Array) -> Array:
        """Unbalanced forces, then the gaps of loops; shape (states, speeds + rows)."""
        forces = self.balance.forces(q, self.speeds(q))
        rows = self.rows(q)
        left = forces * self.sizes / self.force + np.einsum("bmn,bm->bn", rows, lam)
        left = left if self.shares is None else left / self.shares
        return np.concatenate([left, self.gaps(q)], axis=1)

    def gaps(self, q: Array) -> Array:
        """Dimensionless gaps of closed loops."""
        m = self.system.loop_rows
        if m == 0:
            return np.zeros((len(q), 0))
        return np.asarray(self.system.gaps(q, None, 0.0, parameters=self.balance.parameters)[0][:, :m] / self.row_sizes)

    def rows(self, q: Array) -> Array:
        """Dimensionless constraint Jacobian: derivatives of the gaps by the displacements."""
        m = self.system.loop_rows
        if m == 0:
            return np.zeros((len(q), 0, len(self.v)))
        G = self.system.constraint_jacobian(q, 0.0, parameters=self.balance.parameters)
        return np.asarray(G / self.row_sizes[:, None] * self.sizes)

    def jacobians(self, q: Array, lam: Array) -> Array:
        """Derivatives of the residuals by displacements and multipliers."""
        count, n, m = len(q), len(self.v), self.system.loop_rows
        true = lam * self.force / self.row_sizes if m else lam
        stiffness = self.balance.stiffness(q, self.speeds(q), true, self.directions(q))
        found = np.zeros((count, n + m, n + m))
        found[:, :n, :n] = -stiffness * self.sizes[:, None] * self.sizes / self.force
        if m:
            rows = self.rows(q)
            found[:, n:, :n] = rows
            found[:, :n, n:] = np.swapaxes(rows, 1, 2)
        if self.shares is not None:
            found[:, :n] /= self.shares[:, None]
        return found

    def directions(self, q: Array) -> Array:
        """N of dq = N ds at every state."""
        if not self.system.turnings:
            return np.broadcast_to(self._plain, (len(q), *self._plain.shape))
        return self.balance.directions(q)

    @cached_property
    def _plain(self) -> Array:
        found = np.zeros((len(self.system.layout.coordinates), len(self.v)))
        for i, k in enumerate(self.system.layout.speed_of):
            found[i, k] = 1.0
        return found

    def moved(self, q: Array, step: Array) -> Array:
        """States after scaled displacements; small rotations of ball joints multiply their quaternions."""
        return moved(self.system, q, step * self.sizes)

    def multipliers(self, q: Array, small: float = 1e-8) -> Array:
        """Scaled least-squares multipliers; rows dependent up to a fraction ``small`` share the load."""
        if self.system.loop_rows == 0:
            return np.zeros((len(q), 0))
        forces = self.balance.forces(q, self.speeds(q)) * self.sizes / self.force
        inverse = np.linalg.pinv(np.swapaxes(self.rows(q), 1, 2), rcond=small)
        return np.asarray(-np.einsum("bmn,bn->bm", inverse, forces))


def shares_of(typical: Array, force: float) -> Array | None:
    """Typical force of each row as a fraction of a typical force; None if no row with forces is far smaller."""
    share = typical / force
    far = (share < SMALL) & (share > NOTHING)
    return np.where(far, share, 1.0) if far.any() else None


def close_loops(problem: Stationary, q: Array, passes: int = 40) -> Array:
    """States projected onto the constraints with the least change; those that do not converge are dropped."""
    if problem.system.loop_rows == 0 or not len(q):
        return q
    for _ in range(passes):
        gaps = problem.gaps(q)
        step = -np.einsum("bnm,bm->bn", np.linalg.pinv(problem.rows(q), rcond=1e-6), gaps)
        q = problem.moved(q, _shortened(step, step))
        good = np.all(np.isfinite(q), axis=1)
        q = q[good]
        if not len(q) or np.abs(problem.gaps(q)).max() < 1e-13:
            break
    return q[np.abs(problem.gaps(q)).max(axis=1) < 1e-9] if len(q) else q


def _shortened(step: Array, measured: Array, longest: float = LONGEST) -> Array:
    """Steps shortened so that the norm of ``measured`` does not exceed ``longest``."""
    length = np.linalg.norm(measured, axis=1, keepdims=True)
    return step * np.minimum(1.0, longest / np.maximum(length, 1e-300))


def fades(problem: Stationary, q: Array) -> bool:
    """Whether forces seem to balance at a state only because a singular pose is near.

    Next to a singular pose, loops close within the tolerance although they do not close, and multipliers that grow
    without bound hold any load. The least singular value of G is about the distance to that pose; closing the loops
    further then moves the state by a good part of it. At an equilibrium near a dead point nothing moves.
    """
    rows = problem.rows(q[None])[0]
    if not len(rows) or np.abs(problem.multipliers(q[None])).max() <= GROWN:
        return False
    sizes = np.linalg.svd(rows, compute_uv=False)
    step = np.linalg.pinv(rows, rcond=SINGULAR) @ problem.gaps(q[None])[0]
    return bool(np.linalg.norm(step) > CLOSED * sizes[sizes > SINGULAR * sizes[0]].min())


@dataclass(frozen=True)
class Deflation:
    """Deflation of known equilibria, so that Newton's method avoids them (Farrell, Birkisson and Funke 2015).

    The residual is multiplied by 1/d^2 + 1 for every known equilibrium at distance d; this changes only the length of
    Newton steps.
    """

    known: Array
    circles: Array
    """by coordinate, 1 if periodic, else 0"""
    sizes: Array
    """unit of each coordinate, which makes distances dimensionless"""

    def factors(self, q: Array, change: Array) -> Array:
        """Factors of Newton steps (as changes of coordinates)."""
        total = np.zeros(len(q))
        for known in self.known:
            gap = q - known
            chord = np.where(self.circles > 0, 2 * np.sin(gap / 2), gap) / self.sizes
            slope = np.where(self.circles > 0, np.cos(gap / 2), 1.0) / self.sizes
            square = np.maximum(np.sum(chord**2, axis=1), 1e-24)
            # d log(1/d^2 + 1) along the step
            total += -2.0 * np.sum(chord * slope * change, axis=1) / (square * (1.0 + square))
        factor = 1.0 / np.where(np.abs(1.0 - total) > 1e-3, 1.0 - total, 1e-3)
        return np.asarray(np.clip(factor, -20.0, 20.0))


def settle(problem: Stationary, q: Array, *, passes: int = 80, deflation: Deflation | None = None) -> Array:
    """Equilibria to which Newton's method converges from the given states; other starts are dropped."""
    q = close_loops(problem, np.array(q, dtype=float))
    lam = problem.multipliers(q)
    n = len(problem.v)
    found: list[Array] = []
    for _ in range(passes):
        if not len(q):
            break
        with np.errstate(all="ignore"):
            residual = problem.residuals(q, lam)
            size = np.abs(residual).max(axis=1)
            done = size < SETTLED
            found.append(q[done])
            keep = np.isfinite(size) & ~done
            q, lam, residual = q[keep], lam[keep], residual[keep]
            if not len(q):
                break
            J = problem.jacobians(q, lam)
        good = np.all(np.isfinite(J), axis=(1, 2))
        q, lam, residual, J = q[good], lam[good], residual[good], J[good]
        step = newton_steps(J, residual)
        if deflation is not None and len(q):
            moved = problem.moved(q, step[:, :n] * 1e-6)
            step = step * deflation.factors(q, (moved - q) * 1e6)[:, None]
        step = _shortened(step, step[:, :n])
        q, lam = problem.moved(q, step[:, :n]), lam + step[:, n:]
    return np.concatenate(found) if found else q


def newton_steps(J: Array, residual: Array) -> Array:
    """Newton steps, slightly regularized so that a singular matrix gives a short step and not an error."""
    if not len(J):
        return residual
    square = np.swapaxes(J, 1, 2) @ J
    scale = np.trace(square, axis1=1, axis2=2) / J.shape[1]
    square += (1e-12 * np.maximum(scale, 1e-300))[:, None, None] * np.eye(J.shape[1])
    right = -np.einsum("bji,bj->bi", J, residual)
    return np.asarray(np.linalg.solve(square, right[..., None])[..., 0])


def _ratio(step: Array, last: Array) -> float:
    """By which factor steps in the same direction get shorter, if they converge so slowly; else 0."""
    size = float(np.vdot(last, last)) if last.size else 0.0
    if not size:
        return 0.0
    factor = float(np.vdot(step, last)) / size
    same = np.abs(step - factor * last).max() <= 0.1 * np.abs(step).max()
    return factor if same and 0.3 < factor < 0.97 else 0.0


def refine(problem: Stationary, q: Array, passes: int = 12, enough: float = 0.0) -> tuple[Array, Array]:
    """One state refined to rounding, or to ``enough``, by least-norm Newton steps, and its residual.

    Towards a multiple root steps get shorter by a constant factor; their geometric series is then summed (Aitken).
    """
    last = np.zeros(0)
    best = np.array(q, dtype=float)[None]
    lam = problem.multipliers(best)
    left = problem.residuals(best, lam)
    state, held, here = best, lam, left
    for _ in range(passes):
        if np.abs(left).max(initial=0.0) <= enough:
            break
        with np.errstate(all="ignore"):
            J = problem.jacobians(state, held)[0]
        if not np.all(np.isfinite(J)):
            break
        step = -np.linalg.lstsq(J, here[0], rcond=SINGULAR)[0][None]
        n = len(problem.v)
        step, last = step / (1.0 - _ratio(step, last)), step
        state, held = problem.moved(state, step[:, :n]), held + step[:, n:]
        here = problem.residuals(state, held)
        if not np.all(np.isfinite(here)):
            break
        if np.abs(here).max() < np.abs(left).max():
            best, left = state, here
        elif np.abs(step).max() < 1e-14:
            break
    return best[0], left[0]
