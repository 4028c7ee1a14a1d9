"""Runs of closed loops through singular poses, at which the constraints lose rank.

Where a linkage can change its branch (a parallelogram lying flat), G loses rank, and accelerations are a quotient of
two vanishing numbers. The motion continues smoothly along its branch. A run is watched for poses at which the least
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
from pendula.numerics.steppers.stepping import Guard, Integration, integrate
from pendula.numerics.steppers.watch import Watched
from pendula.outcome import Outcome
from pendula.simulation.loops.nearness import Nearness
from pendula.simulation.loops.poses import Poses
from pendula.system.dynamics import Dynamics
from pendula.system.kernels import evaluate_rows
from pendula.system.layout import Array
from pendula.system.system import System

NEAR = 0.6
"""least singular value, relative to its largest over the run, at which a passage may begin"""
CLOSE = 0.1
"""least singular value, relative to its largest over the run, below which a passage that fails counts"""
TRIES = 4
"""number of failed passages, each from half the distance of the one before, after which the run stops"""
SHARP = 2000
"""steps within which a sharp turn next to a singular pose must be over"""
GAP = 1e-9
"""gaps of the loops, relative to the size of the mechanism, up to which a polynomial is a motion of the mechanism"""


class Passages:
    """A run of a mechanism with closed loops that passes through singular poses.

    Args:
        system, vector: the mechanism and its parameters.
        dynamics: its equations.
        pass_through: whether to continue beyond singular poses; otherwise the run stops in front of the first.
        guard: may end the run; see :func:`~pendula.numerics.steppers.stepping.integrate`.
        settings: the other arguments of ``integrate``.
    """

    def __init__(
        self, system: System, vector: Array, dynamics: Dynamics, *, pass_through: bool, guard: Guard | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        self.nearness = Nearness(system, vector, dynamics)
        self.guard, self.halted = guard, False
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
            part = self._part(t, y, self.t_end, first_step=h, guard=self._look)
            if part.outcome is not Outcome.SINGULAR_POSE or self.halted:
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
        whole, near = self._counted(joined(self.parts)), self.nearness
        size = max(near.scale, 1e-300)
        poses = Poses(near.nearest[0] / size, near.nearest[1], near.at_end / size, tuple(near.crossed))
        times, states = zip(*self.passed, strict=True) if self.passed else ((), np.zeros((0, whole.y.shape[1])))
        return replace(whole, singular_t=np.array(times), singular_y=np.array(states)), poses

    def _look(self, t: Array, y: Array) -> int | None:
        """The state at which to halt: where the guard ends the run, or in front of a singular pose."""
        if self.guard is not None and (last := self.guard(t, y)) is not None:
            self.halted = True
            return last
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
        """The events for the next part: the side that each function is on now, and how often each may still occur."""
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

    def _counted(self, run: Integration) -> Integration:
        """The run with no more occurrences of each event than are to be kept: every part has kept at least one."""
        watched: Watched | None = self.settings["watched"]
        if watched is None or len(self.parts) == 1 or not run.event_t.size:
            return run
        which = np.asarray(run.event_which)
        nth = np.array([np.sum(which[:k] == x) for k, x in enumerate(which)])
        most = np.array([watched.keeps[int(k)] or len(which) for k in which])
        kept = nth < most
        return replace(run, event_t=run.event_t[kept], event_y=run.event_y[kept], event_which=which[kept])

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
            if part.outcome is Outcome.INTERRUPTED:
                self.parts.append(part)
                return True
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
