"""How near to a singular pose the states of a run are: the least singular value of the constraint Jacobian G.

It is followed with a sign, so that it is smooth where it passes through zero, and predicted from the accelerations.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.steppers.collocation import NODES, Stretch
from pendula.numerics.steppers.stepping import Integration
from pendula.system.dynamics import Dynamics
from pendula.system.kernels import evaluate_rows
from pendula.system.layout import Array
from pendula.system.loops.mobility import dimensionless, mobility
from pendula.system.parameters import typical_length
from pendula.system.system import System

STEPS_AHEAD = 2.0
"""the search for a singular pose begins where the least singular value would vanish within this number of steps"""
LOW = 0.5
"""least singular value, relative to its largest over the run, below which the search always begins"""
FOLLOWED = 0.7
"""cosine of the angle between singular vectors of successive states above which they are those of the same value"""
LOOKS = np.linspace(0.2, 1.2, 11)
FLAT = 0.4
"""a singular pose is ahead where the least singular value falls to this share of its value, at one of these shares of
the way to its predicted zero"""


class Nearness:
    """How near to a singular pose the states of a run are."""

    def __init__(self, system: System, vector: Array, dynamics: Dynamics) -> None:
        self.system, self.vector, self.dynamics = system, vector, dynamics
        self.joints = system.in_joints.system
        self.rank = mobility(self.joints, vector).rank
        self.scale = 0.0
        self.nearest, self.at_end = (np.inf, np.nan), np.inf
        self.crossed: list[float] = []
        self._last: tuple[float, Array] | None = None
        self._clear_until = -np.inf
        self.predicted = np.nan  # when the singular pose ahead will be reached

    def least(self, t: Array, y: Array) -> Array:
        """The smallest singular value of the scaled G at some states, of those that do not always vanish."""
        found: Array = np.linalg.svd(self.scaled_jacobian(t, y), compute_uv=False)[:, self.rank - 1]
        return found

    def scaled_jacobian(self, t: Array, y: Array) -> Array:
        """G at some states in coordinates of the joints, its rows and columns scaled to pure numbers."""
        q, _ = self.system.in_joints.read(*self.system.layout.split(y), t, parameters=self.vector)
        G = dimensionless(self.joints, self.joints.constraint_jacobian(q, t, parameters=self.vector), self.vector)
        return np.where(np.isfinite(G), G, 0.0)

    def rates(self, t: float, y: Array) -> Array:
        """Derivative of a state."""
        out = np.zeros((1, y.size))
        evaluate_rows(self.dynamics.rhs.address, self.dynamics.rhs.context, np.append(t, y)[None], out)
        return np.asarray(out[0])

    def onto(self, t: float, y: Array) -> Array | None:
        """A state brought onto the constraints; None if it cannot be."""
        project = self.dynamics.project
        assert project is not None
        out = np.zeros((1, y.size + 3))
        evaluate_rows(project.address, project.context, np.append(t, y)[None], out)
        return np.asarray(out[0, : y.size]) if out[0, -1] == 0.0 and np.all(np.isfinite(out)) else None

    def time_to_go(self, t: float, y: Array, way: float, step: float) -> tuple[float, float]:
        """The least singular value, and after what time it vanishes; inf if it does not fall, or not to zero.

        It is predicted by a parabola through its values now and soon after, on the path with constant accelerations.
        """
        times = t + way * step * np.array([0.0, 0.125, 0.25])
        states = self.guess(t, y, times)
        if not np.all(np.isfinite(states)):
            return 0.0, np.inf
        closed = [self.onto(at, state) for at, state in zip(times, states, strict=True)]
        size = self.signed(times, np.array([x if x is not None else y for x, y in zip(closed, states, strict=True)]))
        parabola = np.polyfit([0.0, 0.125, 0.25], size, 2)
        roots = np.roots(parabola)
        ahead = roots[(np.abs(roots.imag) < 1e-12) & (roots.real > 0.0)].real
        falls = parabola[1] * size[0] < 0.0
        return float(abs(size[0])), float(step * ahead.min(initial=np.inf)) if falls else np.inf

    def signed(self, times: Array, states: Array) -> Array:
        """The least singular value at successive states, with signs that make it smooth.

        One of its two singular vectors turns over where it passes through zero. Where the vectors cannot be followed,
        because another singular value is as small, the determinants of all of them decide.
        """
        left, sizes, right = np.linalg.svd(self.scaled_jacobian(times, states), full_matrices=False)
        left, right = left[..., : self.rank], right[:, : self.rank]
        across = np.swapaxes(left[:-1], -1, -2) @ left[1:]
        along = right[:-1] @ np.swapaxes(right[1:], -1, -2)
        u, w = across[:, -1, -1], along[:, -1, -1]
        turned = np.where(
            np.minimum(np.abs(u), np.abs(w)) > FOLLOWED,
            u * w < 0.0,
            np.linalg.det(across) * np.linalg.det(along) < 0.0,
        )
        return np.asarray(sizes[:, self.rank - 1] * np.cumprod(np.append(1.0, np.where(turned, -1.0, 1.0))))

    def start_again(self) -> None:
        """Forgets the last state: the next one does not follow it."""
        self._last = None

    def look(self, t: Array, y: Array, way: float, clear_until: float) -> int | None:
        """The first of some successive states from which a singular pose is ahead; None if there is none.

        There is no search before ``clear_until``.
        """
        offset = 0
        if self._last is not None and way * (t[0] - self._last[0]) > 0.0:
            t, y, offset = np.append(self._last[0], t), np.vstack([self._last[1], y]), 1
        self._last = float(t[-1]), y[-1].copy()
        signed = self.signed(t, y)
        size = np.abs(signed)
        self.scale = max(self.scale, float(size.max()))
        if len(t) < 2:
            return None
        steps, fall = np.abs(np.diff(t)), size[:-1] - size[1:]
        longer = np.append(steps[1:], steps[-1])
        ahead = (size[1:] < STEPS_AHEAD * fall * longer / steps) | ((size[1:] < LOW * self.scale) & (fall > 0.0))
        clear = way * t < clear_until
        turned = signed[:-1] * signed[1:] < 0.0
        found = self._first(t, y, way, longer, np.flatnonzero(ahead & ~clear[1:]) + 1, turned & ~clear[:-1], size)
        if found is not None:
            while found > offset and size[found] < size[found - 1] and size[found] < 0.5 * LOW * self.scale:
                found -= 1  # from further away it is easier to get past
            self._last = float(t[found]), y[found].copy()
        last = len(t) if found is None else found + 1
        self.note(t[:last], size[:last], turned[: last - 1])
        return None if found is None else max(found - offset, 0)

    def _first(
        self, t: Array, y: Array, way: float, longer: Array, ahead: Array, turned: Array, size: Array
    ) -> int | None:
        """The first state before a singular pose: one that seems to be ahead and is, or one that was stepped across."""
        crossed = np.flatnonzero(turned)
        until = crossed[0] if crossed.size else len(t)
        for k in ahead[ahead <= until]:
            if way * t[k] >= self._clear_until and self._is_ahead(float(t[k]), y[k], way, longer[k - 1]):
                return int(k)
        if not crossed.size:
            return None
        k = int(until)
        self.predicted = float(t[k] + (t[k + 1] - t[k]) * size[k] / (size[k] + size[k + 1]))
        return k

    def note(self, t: Array, size: Array, turned: Array) -> None:
        """Remembers the pose nearest to a singular one, and where steps crossed one unnoticed."""
        k = int(np.argmin(size))
        self.nearest = min(self.nearest, (float(size[k]), float(t[k])))
        self.at_end = float(size[-1])
        self.crossed += t[1:][turned].tolist()

    def note_part(self, part: Integration) -> None:
        """The same for a part of the run without a search."""
        signed = self.signed(part.t, part.y)
        self.note(part.t, np.abs(signed), signed[:-1] * signed[1:] < 0.0)

    def _is_ahead(self, t: float, y: Array, way: float, step: float) -> bool:
        """Whether the least singular value gets small where it is predicted to vanish; if not, looks again later."""
        here, wait = self.time_to_go(t, y, way, step)
        if not wait < np.inf:
            return False
        self.predicted = t + way * wait
        times = t + way * wait * LOOKS
        states = [self.onto(at, state) for at, state in zip(times, self.guess(t, y, times), strict=True)]
        if any(state is None for state in states) or float(self.least(times, np.array(states)).min()) < FLAT * here:
            return True
        self._clear_until = way * t + 0.2 * wait
        return False

    def guess(self, t: float, y: Array, times: Array) -> Array:
        """States soon after one, by its accelerations."""
        nq, now = len(self.system.layout.coordinates), self.rates(t, y)
        wait = times - t
        found: Array = y + wait[:, None] * now
        for i, k in enumerate(self.system.layout.speed_of):
            if k >= 0:
                found[:, i] += 0.5 * wait**2 * now[nq + k]
        return found

    def zeros_of(self, stretch: Stretch) -> Array:
        """When the least singular value vanishes on a stretch.

        Zeros lie between points at which it has different signs, on the polynomial through the points next to them.
        """
        signed = self.signed(stretch.times, stretch.at(stretch.times))
        found = []
        for k in np.flatnonzero(signed[:-1] * signed[1:] < 0.0):
            near = slice(max(0, k - 3), k + 5)
            roots = np.roots(np.polyfit(NODES[near] - NODES[k], signed[near], len(NODES[near]) - 1))
            real = roots[np.abs(roots.imag) < 1e-9].real
            middle = 0.5 * (NODES[k + 1] - NODES[k])
            found.append(NODES[k] + (real[np.argmin(np.abs(real - middle))] if real.size else middle))
        return np.asarray(stretch.begin + stretch.half * (1.0 + np.array(found)))

    def opening(self, stretch: Stretch) -> float:
        """The largest gap of the loops on a stretch, relative to the size of the mechanism."""
        times = np.linspace(stretch.begin, stretch.end, 41)
        q, v = self.system.layout.split(stretch.at(times))
        g, _ = self.system.gaps(q, v, times, parameters=self.vector)
        return float(np.abs(g).max(initial=0.0) / typical_length(self.system, self.vector))
