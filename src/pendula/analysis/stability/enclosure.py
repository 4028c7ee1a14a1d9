"""M, C and K of small motion with bounds that hold for the exact equilibrium, by interval arithmetic.

The equations become a tape in coordinates and speeds, and in the Lagrange multipliers of closed loops. Krawczyk's test
encloses the equilibrium, and the tape gives bounds of masses and of all derivatives of the forces over that enclosure.
For closed loops these are restricted to motions that the constraints allow, the null space of G.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.proofs.equations_at_rest import (
    MOST_SPEEDS,
    AtRest,
    Varying,
    equations_at_rest,
    exact_rows,
    numbers_at_rest,
    step_of,
)
from pendula.analysis.stability.places import Place
from pendula.equations.equations import symbols_in
from pendula.equations.rest.at_rest import (
    constraint_rows,
    definitions_of,
    motion_rows,
    occurs_in_masses,
    small_motion_rows,
)
from pendula.numerics.intervals.matrices import Ball, null_space, powers_of_two, solved
from pendula.numerics.intervals.solve import all_roots, distinct, slopes_over, values_over
from pendula.numerics.intervals.tape import Tape, Undecidable
from pendula.system.layout import Array
from pendula.system.system import System

NEARBY = 1e-6
"""an equilibrium farther from the computed one than this [rad, or typical lengths] is another one"""
ROUNDING = 1e-16
"""smaller distances than this are not reported"""
MOST_EXPANDED = 3
"""with more speeds, expanding products to eliminate the time takes too long"""
SINGULAR = 1e-10
"""equations whose scaled Jacobian has a smaller singular value are not solved with proof"""
SECONDS = 1.0
"""time limit of the enclosure of an equilibrium"""


@dataclass(frozen=True)
class MotionTape:
    """Forces and masses as steps of one tape.

    Its unknowns are the coordinates, then the speeds, then the multipliers of closed loops or parameters.

    Attributes:
        tape: the steps.
        forces: the force on every speed, including those of the constraints, G^T lam.
        masses: the mass matrix, by rows.
        constraints: the constraint Jacobian G of closed loops, by rows.
    """

    tape: Tape
    forces: list[int]
    masses: list[list[int]]
    constraints: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        """Number of speeds."""
        return len(self.forces)

    def matrices(self, box: Array) -> tuple[Ball, Ball, Ball]:
        """M, C and K over a box of coordinates, speeds and multipliers or parameters.

        Of closed loops in independent coordinates: with columns of T that span the null space of G, T^T M T, T^T C T
        and T^T K T. The multipliers at rest contribute to K (geometric stiffness).

        Raises:
            Undecidable: the constraints may be dependent.
        """
        n = self.size
        slopes = slopes_over(self.tape, self.forces, box)
        K, C = (-Ball.between(part[..., 0], part[..., 1]) for part in (slopes[:, :n], slopes[:, n : 2 * n]))
        M = self._ball(self.masses, box)
        if not self.constraints:
            return M, C, K
        T = null_space(self._ball(self.constraints, box), M.mid)
        if T is None:
            raise Undecidable("constraints that may be dependent")
        M, C, K = (T.T @ X @ T for X in (M, C, K))
        return M, C, K

    def _ball(self, grid: Sequence[Sequence[int]], box: Array) -> Ball:
        """Bounds of a matrix of steps."""
        entries = [k for row in grid for k in row]
        values = _defined(values_over(self.tape, entries, box), slopes_over(self.tape, entries, box))
        values = values.reshape(len(grid), -1, 2)
        return Ball.between(values[..., 0], values[..., 1])


@dataclass(frozen=True)
class MatrixTape:
    """M, C and K as steps of one tape, whose unknowns are the coordinates and then a parameter."""

    tape: Tape
    steps: list[int]
    size: int

    def matrices(self, box: Array) -> tuple[Ball, Ball, Ball]:
        """M, C and K over a box, by their values and by the mean-value form about its centre, whichever is narrower."""
        middle = box.mean(axis=1)
        slopes = slopes_over(self.tape, self.steps, box)
        natural = _defined(values_over(self.tape, self.steps, box), slopes)
        centre = values_over(self.tape, self.steps, np.stack([middle, middle], axis=1))
        radius = np.maximum(box[:, 1] - middle, middle - box[:, 0]) * (1.0 + 1e-15)
        with np.errstate(all="ignore"):
            reach = np.nan_to_num(np.abs(slopes).max(axis=2) @ radius * (1.0 + 1e-13) + 1e-300, nan=np.inf)
        lo, hi = centre[:, 0] - reach, centre[:, 1] + reach
        slack = 1e-15 * (np.abs(centre).max(axis=1) + reach)
        lo, hi = np.maximum(natural[:, 0], lo - slack), np.minimum(natural[:, 1], hi + slack)
        grids = np.stack([lo, hi], axis=1).reshape(3, self.size, self.size, 2)
        M, C, K = (Ball.between(grid[..., 0], grid[..., 1]) for grid in grids)
        return M, C, K


def _defined(values: Array, slopes: Array) -> Array:
    """Bounds of values, unbounded where slopes are: a root may leave its domain within the box."""
    wide = ~np.isfinite(slopes).all(axis=(1, 2))
    return np.where(wide[:, None], np.array([-np.inf, np.inf]), values)


def matrix_tape(balance: Balance, v: Array, varying: Varying) -> MatrixTape:
    """M, C and K at constant rates v, as functions of the coordinates and of a parameter.

    Raises:
        Undecidable: as in :func:`motion_tape`.
    """
    timed, numbers = _prepared(balance, v, varying)
    if balance.system.loop_rows:
        raise Undecidable("closed loops")
    eq = exact_rows(balance)
    tape = Tape(len(eq.q) + 1)
    known: dict[Any, int] = {symbol: tape.constant(x) for symbol, x in numbers.items()}
    known |= {symbol: k for k, symbol in enumerate(eq.q)}
    varying.enter(tape, len(eq.q), known)
    zeros = [s for s, x in numbers.items() if x == 0.0]
    still = [s for s in zeros if s in eq.v]
    grids = small_motion_rows(eq, [s for s in zeros if s not in eq.v], still, timed)
    seen: dict[Any, int] = {}
    steps = [step_of(x, tape, known, seen) for grid in grids for row in grid for x in row]
    return MatrixTape(tape, steps, len(eq.v))


def motion_tape(balance: Balance, v: Array, varying: Varying | None = None) -> MotionTape:
    """The equations of motion of a mechanism without quaternions as a tape.

    Args:
        balance: the forces.
        v: constant rates, by which time-dependent inputs are found.
        varying: a parameter that is the last unknown of the tape.

    Raises:
        Undecidable: the mechanism is not of this kind, or there are no bounds for a function in its equations.
    """
    timed, numbers = _prepared(balance, v, varying)
    eq = exact_rows(balance)
    n, m = len(eq.v), balance.system.loop_rows
    if m and np.any(v):
        raise Undecidable("steady motions of closed loops")
    tape = Tape(2 * n + m + (varying is not None))
    known: dict[Any, int] = {symbol: tape.constant(x) for symbol, x in numbers.items()}
    known |= {symbol: k for k, symbol in enumerate((*eq.q, *eq.v))}
    if varying is not None:
        varying.enter(tape, 2 * n + m, known)
    zeros = [s for s, x in numbers.items() if x == 0.0 and s not in eq.v]
    f, M = motion_rows(eq, zeros, expanded=timed)  # the time may cancel: a hoop at a constant rate
    seen: dict[Any, int] = {}
    for symbol, expression in definitions_of(eq):
        try:
            known[symbol] = step_of(expression, tape, known, seen)
        except Undecidable:
            continue  # it may not be needed; if it is, its symbol is reported as unknown
    forces = [step_of(row, tape, known, seen) for row in f]
    masses = [[step_of(x, tape, known, seen) for x in row] for row in M]
    G = [[step_of(x, tape, known, seen) for x in row] for row in constraint_rows(eq)] if m else []
    for j, row in enumerate(G):
        forces = [tape.add(f, tape.multiply(x, 2 * n + j)) for f, x in zip(forces, row, strict=True)]
    return MotionTape(tape, forces, masses, tuple(tuple(row) for row in G))


def _prepared(balance: Balance, v: Array, varying: Varying | None) -> tuple[bool, dict[Any, float]]:
    """Whether the time occurs in the equations, and values of all symbols but coordinates and what varies.

    Raises:
        Undecidable: the mechanism is not one of few speeds that are rates of its coordinates.
    """
    system = balance.system
    n = len(system.layout.speeds)
    if system.written:
        raise Undecidable(f"the equations in {system.written}")
    if system.balls:
        raise Undecidable("quaternions")
    if n > MOST_SPEEDS:
        raise Undecidable(f"more than {MOST_SPEEDS} speeds")
    eq = exact_rows(balance)
    if len(eq.q) != n or any(rate != speed for rate, speed in zip(eq.qdot, eq.v, strict=True)):
        raise Undecidable("speeds that are not the rates of the coordinates")
    timed = eq.t in symbols_in(eq, [*eq.f, *(x for row in (*eq.M, *eq.G) for x in row)])
    if timed and n > MOST_EXPANDED:
        raise Undecidable("equations that contain the time")
    free = set() if varying is None else varying.symbols
    return timed, {symbol: x for symbol, x in numbers_at_rest(balance, v).items() if symbol not in free}


@dataclass(frozen=True)
class SmallMotion:
    """M, C, K of the exact equilibrium.

    Attributes:
        M, C, K: with bounds.
        within: how far it is at most from the computed one [rad, or typical lengths].
        acting: indices of the coordinates on which forces at rest depend; the others are in equilibrium everywhere. For
            closed loops all independent coordinates.
    """

    M: Ball
    C: Ball
    K: Ball
    within: float
    acting: tuple[int, ...]

    def state_matrix(self) -> Ball | None:
        """The state matrix A of scaled coordinates and speeds; None if M may be singular."""
        n = len(self.M.mid)
        scale = powers_of_two(self.M.mid.diagonal() ** -0.5)
        M, C, K = (X.scaled(scale, scale) for X in (self.M, self.C, self.K))
        right = solved(M, Ball(np.hstack([K.mid, C.mid]), np.hstack([K.rad, C.rad])))
        if right is None:
            return None
        top = np.hstack([np.zeros((n, n)), np.eye(n)])
        return Ball(np.vstack([top, -right.mid]), np.vstack([np.zeros((n, 2 * n)), right.rad]))


_TAPES: WeakKeyDictionary[System, tuple[bytes, MotionTape | str, AtRest | str]] = WeakKeyDictionary()


def small_motion_with_bounds(place: Place) -> SmallMotion:
    """M, C and K with bounds, at the equilibrium that an enclosure proves to exist near a computed one.

    Raises:
        Undecidable: there are no bounds, or no enclosure of an equilibrium was found.
    """
    balance, q, v = place.balance, place.q, place.v
    motion, rest = _tapes(balance, v)
    if isinstance(motion, str) or isinstance(rest, str):
        raise Undecidable(motion if isinstance(motion, str) else rest)
    _refuse_moving(balance, rest, v)
    steps = balance.steps
    at, m = list(rest.unknowns), rest.multipliers
    if not m:
        _refuse_singular(rest, q[at])
    far = np.append(NEARBY * steps[at], np.full(m, np.inf))
    middle = np.append(q[at], np.zeros(m))
    lo, hi = middle - far, middle + far
    found = all_roots(rest.tape, rest.rows, lo, hi, multipliers=m, seconds=SECONDS)
    found = distinct(found, lo, hi, np.zeros(len(lo)))
    if rest.steady or not found.proven or len(found.enclosures) != 1:
        raise Undecidable("the equilibrium could not be enclosed")
    enclosure, multipliers = np.split(found.enclosures[0], [len(at)])
    box = np.concatenate([np.stack([np.concatenate([q, v])] * 2, axis=1), multipliers])
    box[at] = enclosure
    within = float((np.abs(enclosure - q[at][:, None]).max(axis=1, initial=0.0) / steps[at]).max(initial=0.0))
    M, C, K = motion.matrices(box)
    acting = tuple(range(len(M.mid))) if m else rest.unknowns
    return SmallMotion(M, C, K, max(within, ROUNDING), acting)


def _refuse_moving(balance: Balance, rest: AtRest, v: Array) -> None:
    """Raises Undecidable if forces or masses depend on coordinates that change: then M, C and K would, too."""
    moving = set(np.flatnonzero(v).tolist())
    if moving & set(rest.unknowns) or any(masses_depend_on(balance, v, k) for k in moving):
        raise Undecidable("forces or masses that change along the steady motion")


def masses_depend_on(balance: Balance, v: Array, k: int) -> bool:
    """Whether M depends on a coordinate, by its index, for the given parameters."""
    eq = exact_rows(balance)
    values = {symbol: x for symbol, x in numbers_at_rest(balance, v).items() if symbol in eq.p}
    return occurs_in_masses(eq, eq.q[k], values)


def _refuse_singular(rest: AtRest, q: Array) -> None:
    """Raises Undecidable where the equations at rest are singular: then no box around a root holds it alone."""
    bounds = slopes_over(rest.tape, rest.rows, np.stack([q, q], axis=1))
    slopes = np.where(np.prod(np.sign(bounds), axis=2) > 0.0, bounds.mean(axis=2), 0.0)
    with np.errstate(all="ignore"):
        slopes = slopes / np.abs(slopes).max(axis=1, keepdims=True, initial=0.0)
        slopes = slopes / np.abs(slopes).max(axis=0, initial=0.0)
    if not np.isfinite(slopes).all() or np.linalg.svd(slopes, compute_uv=False).min(initial=1.0) < SINGULAR:
        raise Undecidable("the equilibrium belongs to a family, or nearly so")


def _tapes(balance: Balance, v: Array) -> tuple[MotionTape | str, AtRest | str]:
    """Equations of motion and equilibrium equations as tapes, or why there are none; kept for the last parameters."""
    held = b"" if balance.inputs is None else balance.inputs.tobytes()
    key = balance.parameters.tobytes() + b"|" + held + b"|" + v.tobytes()
    known = _TAPES.get(balance.system)
    if known is None or known[0] != key:
        motion: MotionTape | str
        rest: AtRest | str = ""
        try:
            motion = motion_tape(balance, v)
            rest = equations_at_rest(balance, v)
        except Undecidable as reason:
            motion = f"there are no bounds for {reason}"
        known = _TAPES[balance.system] = key, motion, rest
    return known[1], known[2]
