"""Verdicts over a parameter, proven: interval arithmetic shows that nothing lies between the samples.

A piece of the range is proven if Krawczyk's operator, with the parameter as an interval, encloses the branch of
equilibria over the whole piece, and the matrices of small motion over that enclosure, all of them, have the verdict of
the piece. Pieces that fail are halved. What remains at the end are narrow windows about the critical values.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.proofs.equations_at_rest import AtRest, Varying, equations_at_rest
from pendula.analysis.stability.certainty import only_dissipates, verified
from pendula.analysis.stability.enclosure import MatrixTape, MotionTape, SmallMotion, matrix_tape, motion_tape
from pendula.numerics.intervals.matrices import Ball
from pendula.numerics.intervals.solve import slopes_over, values_over
from pendula.numerics.intervals.tape import Undecidable
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.words import INDICATED, PROVEN, UNDECIDED, counted

MOST_SPEEDS = 4
"""with more, pieces become too short"""
NARROWEST = 1e-9
"""pieces shorter than this fraction of the whole range are not halved"""
INFLATIONS = 8
WIDE = 1e-6
"""windows wider than this fraction of the whole range, for lack of time, leave nothing proven"""
Piece = tuple[float, float]


@dataclass(frozen=True)
class Stretch:
    """A range between two critical values: its ends, its verdict with the argument, and equilibria in it by value."""

    low: float
    high: float
    verdict: str
    argument: str
    drifts: tuple[str, ...]
    points: Sequence[tuple[float, Equilibrium]]


def _prove(
    system: System, parameter: str, base: dict[str, float], stretches: Sequence[Stretch], seconds: float
) -> tuple[tuple[Piece, ...], int, str]:
    """Windows in which nothing is proven, the number of pieces that are, and why a proof is missing (or nothing)."""
    whole = stretches[0].low, stretches[-1].high
    end = time.perf_counter() + seconds
    open_pieces: list[Piece] = []
    count, reason = 0, ""
    for stretch in stretches:
        try:
            prover = _Prover(system, parameter, base, stretch)
            left, pieces = prover.cover(NARROWEST * (whole[1] - whole[0]), end)
        except Undecidable as cause:
            return (whole,), 0, str(cause)
        open_pieces += left
        count += pieces
        reason = reason or ("the time limit was reached" if time.perf_counter() > end else "")
    return _joined(open_pieces), count, reason


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Pieces that touch, joined."""
    found: list[Piece] = []
    for low, high in sorted(pieces):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


class _Prover:
    """One stretch, with its equations as tapes whose last unknown is the parameter."""

    def __init__(self, system: System, parameter: str, base: dict[str, float], stretch: Stretch) -> None:
        joints = system.in_joints.system
        if len(joints.layout.speeds) > MOST_SPEEDS:
            raise Undecidable(f"proofs over a parameter support up to {MOST_SPEEDS} speeds")
        if not stretch.points:
            raise Undecidable("there is no equilibrium to follow in a part of the range")
        self.system, self.stretch = joints, stretch
        first = stretch.points[0][1]
        if first.system is not joints:
            raise Undecidable("proofs over a parameter need the joints' coordinates")
        self.v, self.q = first.v, first.q
        balance = Balance(joints, first.inputs, first.parameters)
        varying = Varying.of(balance, parameter, base)
        if any(np.any(p.inputs != first.inputs) for _, p in stretch.points):
            raise Undecidable("inputs change with the parameter")
        try:
            make = motion_tape if joints.loop_rows else matrix_tape
            self.motion: MatrixTape | MotionTape = make(balance, self.v, varying)
            self.rest: AtRest = equations_at_rest(balance, self.v, varying=varying)
        except Undecidable as cause:
            raise Undecidable(f"there are no bounds for {cause}") from None
        self.at = list(self.rest.unknowns)
        self.size = len(self.at) + self.rest.multipliers
        """number of unknowns: coordinates and multipliers"""
        self._check_structure(first.parameters, {str(symbol) for symbol in varying.symbols})

    def _check_structure(self, parameters: Array, varying: set[str]) -> None:
        """Raises Undecidable unless the argument of the stretch can be verified over a parameter."""
        stretch, system = self.stretch, self.system
        if stretch.argument == "eigenvalues":
            return
        if stretch.argument not in ("stiffness", "family"):
            raise Undecidable(f"between critical values, the verdict {stretch.verdict} rests on no strict inequality")
        if np.any(self.v) or system.drives or not only_dissipates(system, parameters, varying):
            raise Undecidable("structure alone does not show that no force adds energy for all values of the parameter")
        if self.rest.multipliers and len(self.at) < len(system.layout.coordinates):
            raise Undecidable("families of equilibria of closed loops")
        idle = {name for k, name in enumerate(system.layout.coordinates) if k not in self.rest.unknowns}
        if idle != set(stretch.drifts):
            raise Undecidable("structure alone does not show that equilibria form a family")

    def cover(self, narrowest: float, end: float) -> tuple[list[Piece], int]:
        """Pieces that could not be proven, and how many could."""
        stretch = self.stretch
        middle, point = min(stretch.points, key=lambda x: abs(x[0] - 0.5 * (stretch.low + stretch.high)))
        if self._proven(middle, middle, self._place(point)) is None:
            raise Undecidable(f"the verdict {stretch.verdict} could not be verified at {middle:.6g}")
        waiting = [(stretch.low, stretch.high)]
        left: list[Piece] = []
        done: list[tuple[float, float, Array]] = []
        while waiting:
            low, high = waiting.pop()
            start = min(stretch.points, key=lambda x: abs(x[0] - 0.5 * (low + high)))[1]
            near = min(done, key=lambda x: min(abs(x[0] - high), abs(x[1] - low)), default=None)
            guess = self._place(start) if near is None else near[2].mean(axis=1)
            box = self._proven(low, high, guess)
            if box is None and near is not None:
                box = self._proven(low, high, self._place(start))
            if box is not None:
                done.append((low, high, box))
            elif high - low <= narrowest or time.perf_counter() > end:
                left.append((low, high))
            else:
                middle = 0.5 * (low + high)
                waiting += [(middle, high), (low, middle)]
        left += self._unlinked(sorted(done, key=lambda x: x[0]))
        return left, len(done)

    def _place(self, point: Equilibrium) -> Array:
        """The unknowns at a computed equilibrium."""
        return np.append(point.q[self.at], point.multipliers[: self.rest.multipliers])

    def _unlinked(self, done: list[tuple[float, float, Array]]) -> list[Piece]:
        """Values between neighbouring pieces at which it is not proven that both enclose the same branch."""
        found = []
        for (_, a, one), (b, _, other) in pairwise(done):
            if a == b and len(one):
                lo, hi = np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 1], other[:, 1])
                m, radius = 0.5 * (lo + hi), 0.51 * (hi - lo) + 1e-15
                slack = 1.0 + 1e-14
                reach = self._reach(m, radius * slack, a, a)
                if reach is None or not np.all(reach < radius):  # else both contain the only root in their hull
                    found.append((a, a))
        return found

    def _proven(self, low: float, high: float, guess: Array) -> Array | None:
        """The enclosure of the branch over a piece, if the verdict is proven there."""
        found = self._branch(low, high, guess)
        if found is None:
            return None
        inner, multipliers = np.split(found[1], [len(self.at)])
        q = np.stack([self.q, self.q], axis=1)
        q[self.at] = inner
        still = np.zeros((len(self.v) if self.rest.multipliers else 0, 2))  # speeds of a closed loop at rest
        try:
            M, C, K = self.motion.matrices(np.vstack([q, still, multipliers, [[low, high]]]))
        except Undecidable:
            return None
        if not all(X.is_finite for X in (M, C, K)) or not (M.mid.diagonal() > 0.0).all():
            return None
        acting = tuple(range(len(M.mid))) if self.rest.multipliers else tuple(self.at)
        small = SmallMotion(M, C, K, 0.0, acting)
        try:
            A = small.state_matrix()
            values = np.zeros(1) if A is None else np.linalg.eigvals(A.mid)
            verified(self.stretch.verdict, self.stretch.argument, small, values)
        except (Undecidable, np.linalg.LinAlgError):
            return None
        return found[0]

    def _branch(self, low: float, high: float, guess: Array) -> tuple[Array, Array] | None:
        """A box that contains exactly one equilibrium for every value of a piece, and a smaller enclosure of these.

        None if no such box was found.
        """
        if not self.size:
            return np.zeros((0, 2)), np.zeros((0, 2))
        m = self._newton(guess, 0.5 * (low + high))
        reach = None if m is None else self._reach(m, 0.0 * m, low, high)
        for _ in range(INFLATIONS):
            if reach is None or m is None:
                return None
            radius = 1.5 * reach + 1e-14 * (1.0 + np.abs(m))
            reach = self._reach(m, radius, low, high)
            if reach is not None and np.all(reach < radius * (1.0 - 1e-14)):
                box, inner = (np.stack([m - r, m + r], axis=1) for r in (radius, reach * (1.0 + 1e-15)))
                return box, inner
        return None

    def _newton(self, guess: Array, value: float) -> Array | None:
        """An approximate equilibrium at a value, by Newton's method; None if that fails."""
        tape, rows, n = self.rest.tape, self.rest.rows, self.size
        m = np.array(guess, dtype=float)
        for _ in range(6):
            box = np.stack([np.append(m, value)] * 2, axis=1)
            left, slopes = values_over(tape, rows, box).mean(axis=1), slopes_over(tape, rows, box)[:, :n].mean(axis=2)
            try:
                step = np.linalg.solve(slopes, left)
            except np.linalg.LinAlgError:
                return None
            m = m - step
            if not np.isfinite(m).all():
                return None
            if np.abs(step).max() < 1e-14 * (1.0 + np.abs(m).max()):
                break
        return m

    def _reach(self, m: Array, radius: Array, low: float, high: float) -> Array | None:
        """How far from m Krawczyk's operator maps the box X of a radius about it; None if that is not finite.

        The operator is m - Y f(m, p) + (I - Y f'(X, p)) (X - m), for all p of a piece. If it maps X into its interior,
        X contains exactly one equilibrium for every p, and the image contains it.
        """
        tape, rows, n = self.rest.tape, self.rest.rows, self.size
        centre, value = np.stack([m, m], axis=1), np.array([[low, high]])
        F = values_over(tape, rows, np.vstack([centre, value.mean(axis=1, keepdims=True).repeat(2, axis=1)]))
        rates = slopes_over(tape, rows, np.vstack([centre, value]))[:, n:]
        width = Ball(np.zeros((1, 1)), np.full((1, 1), 0.5 * (high - low) * (1.0 + 1e-15)))
        left = Ball.between(F[:, :1], F[:, 1:]) + Ball.between(rates[..., 0], rates[..., 1]) @ width
        J = self._slopes(np.stack([m - radius, m + radius], axis=1), value)
        try:
            Y = Ball.exact(np.linalg.inv(J.mid))
        except np.linalg.LinAlgError:
            return None
        rest = Ball.exact(np.eye(n)) - Y @ J
        image = rest @ Ball(np.zeros((n, 1)), radius[:, None] * (1.0 + 1e-15)) - Y @ left
        found = (np.abs(image.mid) + image.rad)[:, 0] * (1.0 + 1e-15)
        return found if np.isfinite(found).all() else None

    def _slopes(self, box: Array, value: Array) -> Ball:
        """Derivatives of the equilibrium equations over a box of unknowns and a piece."""
        if self.rest.multipliers:
            found = slopes_over(self.rest.tape, self.rest.rows, np.vstack([box, value]))[:, : self.size]
            return Ball.between(found[..., 0], found[..., 1])
        whole = np.vstack([np.stack([self.q, self.q], axis=1), value])
        whole[self.at] = box
        K = self.motion.matrices(whole)[2]
        at = np.ix_(self.rest.speeds, self.at)
        return Ball(-K.mid[at], K.rad[at])


def proven_over(
    system: System, parameter: str, base: dict[str, float], stretches: Sequence[Stretch], seconds: float
) -> tuple[str, tuple[Piece, ...], str]:
    """How certain verdicts over a parameter are, the windows in which nothing is proven, and the grounds in words.

    Args:
        system: the system.
        parameter: the parameter that varies.
        base: other parameters that were changed, by name.
        stretches: the ranges between critical values with their verdicts, in order.
        seconds: time limit.
    """
    if len(stretches) == 1 and not stretches[0].points:
        return INDICATED, (), "there is no equilibrium to follow"
    windows, pieces, reason = _prove(system, parameter, base, stretches, seconds)
    edges = {part.high for part in stretches[:-1]}
    ends = stretches[0].low, stretches[-1].high
    windows = _about(windows, (*edges, *ends), WIDE * (ends[1] - ends[0]))
    open_ended = [w for w in windows if not any(w[0] <= edge <= w[1] for edge in (*edges, *ends))]
    spread = max((high - low for low, high in windows), default=0.0)
    if reason and spread > WIDE * (ends[1] - ends[0]):
        return INDICATED, windows, f"no proof: {reason}"
    work = f"interval arithmetic over {counted(pieces, 'piece')}"
    same = [b.low for a, b in pairwise(stretches) if a.verdict == b.verdict]
    if open_ended or same:
        places = _words([*open_ended, *(w for w in windows if any(w[0] <= x <= w[1] for x in same))])
        return UNDECIDED, windows, f"{work} proves the verdicts except in {places}, where nothing is decided"
    narrow = f", except within {spread:.1g} of the values at which they change" if windows else ""
    return PROVEN, windows, f"{work} proves that the verdicts hold in all of the range{narrow}"


def _about(windows: Sequence[Piece], edges: Sequence[float], near: float) -> tuple[Piece, ...]:
    """Windows extended to the critical value beside them, if that is near: pieces between them count as not proven."""
    wider = []
    for low, high in windows:
        edge = min(edges, key=lambda x: max(low - x, x - high))
        close = max(low - edge, edge - high) <= near
        wider.append((min(low, edge), max(high, edge)) if close else (low, high))
    return _joined(wider)


def _words(windows: Sequence[Piece]) -> str:
    shown = ", ".join(f"{low:.10g} to {high:.10g}" for low, high in windows[:4])
    return shown + (f" and {len(windows) - 4} more" if len(windows) > 4 else "")
