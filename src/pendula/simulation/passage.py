"""Runs of closed loops through singular poses, at which the constraints lose rank.

Where a linkage can change its branch (a parallelogram lying flat), G loses rank, and accelerations are a quotient of
two vanishing numbers. The motion goes on smoothly along its own branch. A run is watched for poses at which the least
singular value of G would reach zero within the next steps. From there the motion is written as one polynomial in time
(:mod:`pendula.numerics.steppers.collocation`), which holds the equations on both sides of the singular pose and is
never evaluated in it. A polynomial cannot have a kink: it converges only along the branch whose tangent and curvature
continue the motion, and only if that closes the loops in the singular pose, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pendula.numerics.steppers.collocation import NODES, POINTS, Stretch, collocate
from pendula.numerics.steppers.stepping import Integration, integrate
from pendula.numerics.steppers.watch import Watched
from pendula.outcome import Outcome
from pendula.simulation.loops import Poses
from pendula.system.dynamics import Dynamics
from pendula.system.kernels import evaluate_rows
from pendula.system.layout import Array
from pendula.system.loops.assembly import row_scales
from pendula.system.loops.mobility import mobility
from pendula.system.parameters import typical_length
from pendula.system.system import System

STEPS_AHEAD = 2.0
"""a singular pose is looked for where the least singular value would vanish within this number of steps"""
NEAR = 0.6
"""least singular value, relative to its largest over the run, at which a passage may begin"""
LOW = 0.5
"""least singular value, relative to its largest over the run, below which a singular pose is looked for in any case"""
CLOSE = 0.1
"""least singular value, relative to its largest over the run, below which a passage that fails counts"""
TRIES = 4
"""number of failed passages, each from half the distance of the one before, after which the run stops"""
FOLLOWED = 0.7
"""cosine of the angle between singular vectors of successive states above which they are those of the same value"""
SHARP = 2000
"""steps within which a sharp turn next to a singular pose must be over"""
LOOKS = np.linspace(0.2, 1.2, 11)
FLAT = 0.4
"""a singular pose is ahead where the least singular value falls to this share of its value, at one of these shares of
the way to its predicted zero"""
GAP = 1e-9
"""gaps of the loops, relative to the size of the mechanism, up to which a polynomial is a motion of the mechanism"""


class Passages:
    """A run of a mechanism with closed loops that gets past singular poses.

    Args:
        system, vector: the mechanism and its parameters.
        dynamics: its equations.
        pass_through: whether to continue behind singular poses; else the run stops in front of the first.
        settings: arguments of :func:`~pendula.numerics.steppers.stepping.integrate`.
    """

    def __init__(
        self, system: System, vector: Array, dynamics: Dynamics, *, pass_through: bool, **settings: Any
    ) -> None:
        self.nearness = Nearness(system, vector, dynamics)
        self.dynamics, self.pass_through, self.settings = dynamics, pass_through, settings
        self.samples = np.asarray(() if settings["sample_times"] is None else settings["sample_times"], dtype=float)
        self.t_end = float(settings["t_span"][1])
        self.way = -1.0 if self.t_end < settings["t_span"][0] else 1.0
        self.parts: list[Integration] = []
        self.passed: list[tuple[float, Array]] = []
        self.clear_until = -np.inf

    def to_the_end(self) -> tuple[Integration, Poses]:
        """The whole run, in one piece, and how near to singular poses it came."""
        t, y, h = float(self.settings["t_span"][0]), np.array(self.settings["y0"]), self.settings.get("first_step")
        while True:
            self.nearness.start_again()
            part = self._part(t, y, self.t_end, first_step=h, guard=self._guard)
            if part.outcome is not Outcome.SINGULAR_POSE:
                self.parts.append(part)
                break
            self.parts.append(replace(part, outcome=Outcome.FINISHED, detail=""))
            h = abs(part.t[-1] - part.t[-2]) if len(part.t) > 1 else h or abs(self.t_end - t)
            if not self._pass(h):
                break
            before, t, y = t, float(self.parts[-1].t[-1]), self.parts[-1].y[-1]
            if self.way * (t - self.t_end) >= 0.0 or self.parts[-1].outcome is not Outcome.FINISHED:
                break
            if t == before:
                self.clear_until = max(self.clear_until, self.way * t + h)
        whole, near = joined(self.parts), self.nearness
        size = max(near.scale, 1e-300)
        poses = Poses(near.nearest[0] / size, near.nearest[1], near.at_end / size, tuple(near.crossed))
        times, states = zip(*self.passed, strict=True) if self.passed else ((), np.zeros((0, whole.y.shape[1])))
        return replace(whole, singular_t=np.array(times), singular_y=np.array(states)), poses

    def _guard(self, t: Array, y: Array) -> int | None:
        return self.nearness.look(t, y, self.way, self.clear_until)

    def _part(self, t: float, y: Array, until: float, **changes: Any) -> Integration:
        """The run from a state to a time, in the ordinary way."""
        given = {k: v for k, v in self.settings.items() if k != "rhs"} | changes
        later = self.way * (self.samples - t) > (0.0 if self.parts else -np.inf)
        within = self.way * (self.samples - until) <= 0.0
        given["sample_times"] = self.samples[later & within]
        given["t_span"], given["y0"] = (t, until), y
        given["max_steps"] = max(1, given["max_steps"] - sum(p.accepted + p.rejected for p in self.parts))
        given["watched"] = self._watched(t, y)
        if given.get("step"):
            given["step"] = min(given["step"], abs(until - t))
        return integrate(given.pop("rhs", self.settings["rhs"]), **given)

    def _watched(self, t: float, y: Array) -> Watched | None:
        """The events as they stand: the sides that functions are on now, and how often each may still occur."""
        watched: Watched | None = self.settings["watched"]
        if watched is None or not self.parts:
            return watched
        before = np.concatenate([part.event_which for part in self.parts])
        counts = [int(np.sum(before == k)) for k in range(len(watched.directions))]
        values = np.zeros((1, len(counts)))
        evaluate_rows(watched.callback.address, watched.callback.context, np.append(t, y)[None], values)
        stops = [stop and max(1, stop - n) for stop, n in zip(watched.stops, counts, strict=True)]
        keeps = [keep and max(1, keep - n) for keep, n in zip(watched.keeps, counts, strict=True)]
        return replace(watched, sides=np.sign(values[0]).tolist(), stops=stops, keeps=keeps)

    # -- past one singular pose --------------------------------------------------------------------------------

    def _pass(self, h: float) -> bool:
        """Takes the run from the end of the last part past the singular pose ahead; False where it ends there."""
        scale, failed, begin = self.nearness.scale, 0, float(self.parts[-1].t[-1])
        while failed < TRIES:
            t, y = float(self.parts[-1].t[-1]), self.parts[-1].y[-1]
            here, wait = self.nearness.time_to_go(t, y, self.way, h)
            if t == begin:
                wait = self.way * (self.nearness.predicted - t)
            if not 0.0 < wait < np.inf:
                self.clear_until = self.way * t + h  # it came near, and moves away again
                return True
            if here > NEAR * scale:
                wait = min(h, wait * (1.0 - 0.9 * NEAR * scale / here))
            else:
                stretch = self._stretch(t, y, wait)
                if stretch is not None and self._follow(stretch):
                    return True
                if stretch is not None and self.nearness.opening(stretch) > 100.0 * max(stretch.roughness, GAP):
                    self.clear_until = self.way * t + 2.0 * wait  # smooth, but off: the true motion turns nearby
                    return True
                failed += here < CLOSE * scale
                wait = min(h, 0.5 * wait)
            until = t + self.way * wait
            if self.way * (until - self.t_end) >= 0.0:
                self.clear_until = np.inf
                return True
            self.parts.append(self._part(t, y, until))
            self.nearness.note_part(self.parts[-1])
            if self.parts[-1].outcome is not Outcome.FINISHED:
                return False
        return self._resolved(h) or self._stop("no smooth continuation was found")

    def _resolved(self, h: float) -> bool:
        """Takes the run past a sharp turn of the motion, if its steps show all of it.

        A linkage that is almost singular turns from one branch to another within a short time. Its least singular value
        then falls and rises again from step to step, but does not jump.
        """
        t, y = float(self.parts[-1].t[-1]), self.parts[-1].y[-1]
        wait = 4.0 * self.nearness.time_to_go(t, y, self.way, h)[1]
        if not wait < self.way * (self.t_end - t):
            return False
        for rtol in (self.settings["rtol"], max(1e-3 * self.settings["rtol"], 1e-13)):
            part = self._part(t, y, t + self.way * wait, max_steps=SHARP, rtol=rtol)
            size = self.nearness.least(part.t, part.y)
            jumps = np.maximum(size[1:] / size[:-1], size[:-1] / size[1:])
            if part.outcome is Outcome.FINISHED and jumps.max(initial=1.0) < 2.0 and size[-1] > 2.0 * size.min():
                self.parts.append(part)
                self.nearness.note_part(part)
                return True
        return False

    @property
    def _smooth(self) -> float:
        return float(max(0.1 * self.settings["rtol"], 1e-10))

    def _stretch(self, t: float, y: Array, wait: float) -> Stretch | None:
        """The motion to the other side of a singular pose, as a polynomial; None where it does not converge.

        The stretch grows in three rounds, so that each starts from what the one before found. The singular pose is
        always half-way between two of the points.
        """
        project, times = self.dynamics.project, np.zeros(0)
        assert project is not None
        stretch: Stretch | None = None
        for between in (POINTS - 3, POINTS - 5, POINTS // 2, POINTS // 2):
            end = t + self.way * wait * 2.0 / (1.0 - np.cos(np.pi * between / POINTS))
            times = t + 0.5 * (end - t) * (1.0 + NODES)
            guess = self.nearness.guess(t, y, times) if stretch is None else stretch.at(times)
            stretch = collocate(self.dynamics.rhs, project, t, end, y, guess)
            if stretch is None or stretch.change > 1e-8:
                return None
            zeros = self.nearness.zeros_of(stretch)
            if zeros.size:
                wait = self.way * (zeros[np.argmin(np.abs(zeros - t - self.way * wait))] - t)
        return stretch

    def _follow(self, stretch: Stretch) -> bool:
        """Adds a stretch to the run if it is a motion of the mechanism."""
        nearness, end = self.nearness, stretch.end
        breaks = np.asarray(self.settings["breakpoints"], dtype=float)
        broken = np.any((self.way * (breaks - stretch.begin) > 0.0) & (self.way * (end - breaks) > 0.0))
        if broken or stretch.roughness > self._smooth or nearness.opening(stretch) > GAP:
            return False
        zeros = nearness.zeros_of(stretch)
        if zeros.size and not self.pass_through:
            self._stop(f'a singular pose is at t = {zeros[0]:.9g}; constraints="projection" passes through it')
            return True
        until = self.t_end if self.way * (end - self.t_end) > 0.0 else end
        part = self._part(
            stretch.begin, stretch.first, until, rhs=stretch.as_callback(), project=None, method="dop853", step=None,
            rtol=max(0.1 * self.settings["rtol"], 1e-13), max_step=np.inf,
        )  # fmt: skip
        y = stretch.at(part.t)
        if until == end and part.outcome is Outcome.FINISHED:
            last = nearness.onto(end, y[-1])
            if last is None:
                return False
            y[-1] = last
        events = stretch.at(part.event_t) if part.event_t.size else part.event_y
        inside = stretch.at(part.inside_t) if part.inside_t.size else part.inside_y
        self.parts.append(replace(part, y=y, sample_y=stretch.at(part.sample_t), event_y=events, inside_y=inside))
        zeros = zeros[self.way * (part.t[-1] - zeros) >= 0.0]
        self.passed += zip(zeros.tolist(), stretch.at(zeros), strict=True)
        return True

    def _stop(self, reason: str) -> bool:
        last = self.parts[-1]
        self.parts[-1] = replace(last, outcome=Outcome.SINGULAR_POSE, detail=f"after t = {last.t[-1]:.9g} {reason}")
        return False


def joined(parts: list[Integration]) -> Integration:
    """One integration from its parts, each of which starts where the one before ended."""
    last = parts[-1]
    if len(parts) == 1:
        return last

    def chain(name: str) -> Array:
        found = [getattr(part, name) for part in parts if getattr(part, name).size]
        return np.concatenate(found) if found else np.asarray(getattr(last, name))

    def total(name: str) -> Any:
        return sum(getattr(part, name) for part in parts)

    return replace(
        last,
        t=np.concatenate([parts[0].t, *(part.t[1:] for part in parts[1:])]),
        y=np.concatenate([parts[0].y, *(part.y[1:] for part in parts[1:])]),
        sample_t=chain("sample_t"),
        sample_y=chain("sample_y"),
        inside_t=chain("inside_t"),
        inside_y=chain("inside_y"),
        event_t=chain("event_t"),
        event_y=chain("event_y"),
        event_which=chain("event_which"),
        event_hurried=_earliest([part.event_hurried for part in parts]),
        event_touched=_earliest([part.event_touched for part in parts]),
        accepted=total("accepted"),
        rejected=total("rejected"),
        rhs_evaluations=total("rhs_evaluations"),
        seconds=total("seconds"),
        max_drift=max(part.max_drift for part in parts),
        max_violation=max(part.max_violation for part in parts),
        stiff_from=parts[0].stiff_from,
        method=parts[0].method,
    )


def _earliest(times: list[Array]) -> Array:
    """The earliest time for each function; NaN if there is none."""
    return np.asarray(np.fmin.reduce(times, axis=0))


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
        """G at some states in coordinates of the joints, its rows scaled to pure numbers."""
        nq, nv = len(self.system.layout.coordinates), len(self.system.layout.speeds)
        q, _ = self.system.in_joints.read(y[:, :nq], y[:, nq : nq + nv], t, parameters=self.vector)
        G = (
            self.joints.constraint_jacobian(q, t, parameters=self.vector)
            / row_scales(self.joints, self.vector)[:, None]
        )
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
        """Forgets the state that was looked at last: the next one does not follow it."""
        self._last = None

    def look(self, t: Array, y: Array, way: float, clear_until: float) -> int | None:
        """The first of some successive states from which a singular pose is ahead; None if there is none.

        Before ``clear_until`` none is looked for.
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
        """Remembers the pose nearest to a singular one, and where steps crossed one that was not looked for."""
        k = int(np.argmin(size))
        self.nearest = min(self.nearest, (float(size[k]), float(t[k])))
        self.at_end = float(size[-1])
        self.crossed += t[1:][turned].tolist()

    def note_part(self, part: Integration) -> None:
        """The same for a part of the run that nothing was looked for in."""
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
        nq, nv = len(self.system.layout.coordinates), len(self.system.layout.speeds)
        times = np.linspace(stretch.begin, stretch.end, 41)
        y = stretch.at(times)
        g, _ = self.system.gaps(y[:, :nq], y[:, nq : nq + nv], times, parameters=self.vector)
        return float(np.abs(g).max(initial=0.0) / typical_length(self.system, self.vector))
