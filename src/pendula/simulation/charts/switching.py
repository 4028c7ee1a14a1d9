"""Runs past singularities of charts: angles of an orientation at the pole, a rotation vector near a whole turn.

The pose is regular there; only its coordinates are not. Where a run in angles comes near such a singularity, it
continues in quaternions (the system's twin, compiled like the system) until the angles are regular again. Its results
are in the coordinates of the system throughout, chosen so that they continue those before. Energies are evaluated where
the coordinates are regular. A rotation vector that has come near a whole turn is replaced by the shorter one of the
same pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pendula.errors import NotSupported
from pendula.model.joints.orientation import ROTATION_VECTOR
from pendula.numerics.steppers.stepping import Guard, Integration
from pendula.outcome import Outcome
from pendula.simulation.charts.events import ChartEvents, recorded_until
from pendula.simulation.course import Course
from pendula.simulation.events import SWITCH, Crossings
from pendula.simulation.loops.passage import joined
from pendula.simulation.loops.poses import Poses
from pendula.simulation.settings import Settings
from pendula.system.layout import Array, Oriented, State
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import Converted, body_rate, convert_rows
from pendula.system.orientation.singularities import singularity
from pendula.system.orientation.twins import refuse_other_values, regular_twin
from pendula.system.system import Energies, System
from pendula.words import counted, some

NEAR = 0.6
"""distance of an angle from a singularity [rad] below which a run continues in quaternions"""
FAR = 0.9
"""distance from which it returns to the angles"""
LONG = 0.4 * np.pi
"""distance of a rotation vector's length from a whole turn below which the shorter one of the same pose replaces it"""
LONGEST = 2.0 * np.pi - LONG
LOST = 1e-4
"""distance below which a run that cannot change its chart stops: steps only become shorter from there"""
CHUNK = 400
"""steps after which a run is checked whose stepper has no guard"""


@dataclass
class Elsewhere:
    """States of a run that were computed in regular coordinates, and where it changed them.

    Attributes:
        twin: the system with regular coordinates.
        t, y: times and states [q, v] in these.
        switch_t, switch_y: when the coordinates changed, and the states in those of the run.
        notes: what happened, in words.
    """

    twin: System | None = None
    vector: Array = field(default_factory=lambda: np.zeros(0))
    t: Array = field(default_factory=lambda: np.zeros(0))
    y: Array = field(default_factory=lambda: np.zeros((0, 0)))
    switch_t: list[float] = field(default_factory=list)
    switch_y: list[Array] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def energies(self, found: Energies, t: Array) -> Energies:
        """Energies with those at times of the regular coordinates replaced."""
        if self.twin is None or not self.t.size:
            return found
        at: Array = np.clip(np.searchsorted(self.t, np.atleast_1d(t)), 0, len(self.t) - 1)
        hit = self.t[at] == t
        rows = self.y[at[hit]]
        exact = self.twin.energies(*self.twin.layout.split(rows), t[hit], parameters=self.vector)
        kinetic, potential = (np.array(x) for x in found)
        kinetic[hit], potential[hit] = exact
        return Energies(kinetic, potential)

    def keep(self, t: Array, y: Array) -> None:
        """Adds states, in the order of time."""
        self.t = np.concatenate([self.t, t])
        self.y = np.vstack([self.y, y]) if self.y.size else np.array(y)
        order = np.argsort(self.t, kind="stable")
        self.t, self.y = self.t[order], self.y[order]


def has_singular_charts(system: System) -> bool:
    """Whether an orientation has coordinates with singularities."""
    return any(x.chart.count == 3 for x in system.in_joints.layout.orientations)


def starts_elsewhere(system: System, start: State, vector: Array) -> bool:
    """Whether a run starts so near to a singularity of its coordinates that it starts in other ones."""
    if not has_singular_charts(system):
        return False
    joints = system.in_joints.read_state(start, vector)
    near = any(
        x.chart.is_sequence and float(ori.distance(x.chart, joints.q[x.q])) < NEAR for x in joints.layout.orientations
    )
    if near:
        try:
            regular_twin(system)
        except NotSupported:
            return False
    return near


def shortened_vectors(system: System) -> tuple[list[Oriented], str]:
    """Rotation vectors that shorter ones of the same poses may replace; and why one may not, if there is one."""
    found, reason = [], ""
    for x in system.in_joints.layout.orientations:
        if x.chart.name == ROTATION_VECTOR:
            try:
                refuse_other_values(system.model, x.joint)
                found.append(x)
            except NotSupported as error:
                reason = f"no shorter rotation vector may replace it: {error}"
    return found, reason


class ChartRun:
    """A run that changes charts on its way.

    Args:
        course: what the run integrates.
        longest: limit of its steps.
        switching: whether to change charts; else the run stops where it comes too near a singularity.
    """

    def __init__(self, course: Course, longest: float, *, switching: bool) -> None:
        system, vector, settings = course.system, course.vector, course.settings
        self.course, self.longest = course, longest
        self.system, self.vector, self.settings = system, vector, settings
        self.events = ChartEvents(system, course.events, vector, settings)
        self.layout = system.in_joints.layout
        self.charts = [x for x in self.layout.orientations if x.chart.count == 3]
        self.switching, self.reason = switching, "chart switching is off"
        self.twin: System | None = None
        if switching and any(x.chart.is_sequence for x in self.charts):
            try:
                self.twin = regular_twin(system)
            except NotSupported as error:
                self.reason = f"there is no regular chart to change to: {error}"
        self.vectors, reason = shortened_vectors(system) if switching else ([], "")
        self.reason = reason or self.reason
        self.way = -1.0 if settings.span[1] < settings.span[0] else 1.0
        self.parts: list[Integration] = []
        self.elsewhere = Elsewhere(self.twin, vector)
        self.notes: list[str] = []
        self.poses = Poses()
        self.nq, self.size = len(system.layout.coordinates), len(system.layout.coordinates) + len(system.layout.speeds)
        self.passed: list[float] = []

    # -- the whole run ----------------------------------------------------------------------------

    def to_the_end(self) -> tuple[Integration, tuple[str, ...], Poses, Elsewhere]:
        """The run in one piece, notes on its stretches, and what was computed in other charts."""
        state, step = self.course.start, None
        while True:
            before = len(self.parts)
            state, self.q = self._shortened(state)
            if self.twin is not None and self._near(self.q[None])[0]:
                part, halted = self._elsewhere(state, step)
            else:
                part, halted = self._here(state, step)
            self.parts.append(part)
            state = State(float(part.t[-1]), *self.system.layout.split(part.y[-1]), self.system.layout)
            if not halted or len(self.parts) == before:
                break
            steps = np.abs(np.diff(part.t))
            step = float(steps[-1]) if steps.size else step
        run = joined(self.parts)
        self._note_switches()
        return run, tuple(dict.fromkeys(self.notes)), self.poses, self.elsewhere

    def _settings(self, t: float) -> Settings:
        """The settings of the rest of the run, from a time on."""
        given, samples = self.settings, self.settings.samples
        if samples is not None:
            samples = samples[self.way * (samples - t) > (0.0 if self.parts else -np.inf)]
        used = sum(p.accepted + p.rejected for p in self.parts)
        step = given.step and min(given.step, abs(given.span[1] - t))
        return replace(
            given, span=(t, given.span[1]), samples=samples, step=step, max_steps=max(1, given.max_steps - used)
        )

    def _advance(self, system: System, state: State, step: float | None, guard: Guard) -> tuple[Integration, bool]:
        """One stretch, and whether the guard ended it; with the work done before."""
        settings = self._settings(state.t)
        series = settings.stepper.series
        if series:  # cannot be interrupted: a limited number of steps, of which some may be dropped
            settings = replace(settings, max_steps=min(settings.max_steps, CHUNK))
        own = self.events.left(self.parts) if system is self.system else ()
        fired: list[bool] = []

        def noted(t: Array, y: Array) -> int | None:
            found = guard(t, y)
            fired[:] = [found is not None]
            return found

        course = replace(self.course, system=system, start=state, settings=settings, events=own)
        if system is not self.system:
            course = replace(course, on_samples=None)  # they are translated first
        run, notes, poses = course.run(
            self.longest, guard=None if series else noted, first_step=None if settings.step else step
        )
        if series:
            index = noted(run.t, run.y)
            used_up = run.outcome is Outcome.TOO_MANY_STEPS
            if index is not None:
                run = cut(run, index)
            elif used_up and sum(p.accepted + p.rejected for p in self.parts) + CHUNK < self.settings.max_steps:
                fired = [True]
        if fired and fired[0]:
            run = replace(run, outcome=Outcome.FINISHED, detail="")
        if self.parts and run.y.shape[1] > len(system.layout.coordinates) + len(system.layout.speeds):
            work = self.parts[-1].y[-1, -1]
            for rows in (run.y, run.sample_y, run.inside_y, run.event_y):
                if rows.size:
                    rows[:, -1] += work
        self.notes += notes
        self.poses = poses if poses.least < self.poses.least else self.poses
        return run, bool(fired and fired[0])

    # -- in the coordinates of the system ----------------------------------------------------------

    def _joints(self, t: Array, y: Array) -> Array:
        """Joint coordinates of states of the system."""
        return self.system.in_joints.read(*self.system.layout.split(y), t, parameters=self.vector)[0]

    def _near(self, q: Array) -> Array:
        """Whether angles are so near to a singularity that the run continues in other coordinates."""
        return np.any([ori.distance(x.chart, q[:, x.q]) < NEAR for x in self.charts if x.chart.is_sequence], axis=0)

    def _here(self, state: State, step: float | None) -> tuple[Integration, bool]:
        """A stretch in the coordinates of the system, up to where they come near a singularity."""
        limits = {
            x: (LONG if x in self.vectors else LOST) if x.chart.name == ROTATION_VECTOR
            else NEAR if self.twin is not None else LOST
            for x in self.charts
        }  # fmt: skip

        def guard(t: Array, y: Array) -> int | None:
            q = self._joints(t, y)
            near = np.any([ori.distance(x.chart, q[:, x.q]) < limit for x, limit in limits.items()], axis=0)
            for x, limit in limits.items():
                if limit == LONG:  # steps may pass the whole turn
                    near |= np.linalg.norm(q[:, x.q], axis=1) > LONGEST
            return int(np.argmax(near)) if near.any() else None

        done, halted = self._advance(self.system, state, step, guard)
        if not halted:
            return self._named(done), False
        q = self._joints(done.t[-1:], done.y[-1:])
        lost = [x for x in self.charts if limits[x] == LOST and ori.distance(x.chart, q[0, x.q]) < LOST]
        if not lost:
            return done, True
        return replace(done, outcome=Outcome.SINGULAR_CHART, detail=self._detail(lost[0], done)), False

    def _named(self, run: Integration) -> Integration:
        """A run that failed next to a singularity of the coordinates names it."""
        if run.outcome.ok or run.outcome in (Outcome.INTERRUPTED, Outcome.TOO_MANY_STEPS):
            return run
        q = self._joints(run.t[-1:], run.y[-1:])[0]
        worst = min(self.charts, key=lambda x: float(ori.distance(x.chart, q[x.q])))
        if float(ori.distance(worst.chart, q[worst.q])) < 1e-3:
            return replace(run, outcome=Outcome.SINGULAR_CHART, detail=self._detail(worst, run))
        return run

    def _detail(self, at: Oriented, run: Integration) -> str:
        where = singularity(self.layout, at)
        return (
            f"after t = {run.t[-1]:.9g} the motion reaches {where.words}, where the coordinates of joint "
            f'"{at.joint}" are singular although its pose is not; {self.reason}'
        )

    def _shortened(self, state: State) -> tuple[State, Array]:
        """The state with rotation vectors that are near a whole turn replaced by shorter ones, and its coordinates."""
        joints = self.system.in_joints
        found = joints.read_state(state, self.vector)
        q, v = np.array(found.q, dtype=float), np.array(found.v, dtype=float)
        long = [x for x in self.vectors if np.linalg.norm(q[x.q]) > LONGEST]
        if not long:
            return state, q
        omega = {x: body_rate(x, q[None], v[None])[0] for x in long}
        for x in long:
            q[x.q] = ori.from_quaternion(x.chart, ori.to_quaternion(x.chart, q[x.q]), np.zeros(3))
            if x.axes == "rates":
                v[x.v] = ori.inverse_matrix(x.chart, q[x.q]) @ omega[x]
        changed = joints.place_state(State(state.t, q, v, joints.layout), self.vector)
        self._switched(state.t, np.concatenate([changed.q, changed.v]))
        return changed, q

    def _switched(self, t: float, y: Array) -> None:
        self.elsewhere.switch_t.append(t)
        self.elsewhere.switch_y.append(np.array(y))

    # -- in the coordinates of the twin ------------------------------------------------------------

    def _elsewhere(self, state: State, step: float | None) -> tuple[Integration, bool]:
        """A stretch in quaternions, up to where the coordinates of the system are regular again."""
        twin = self.twin
        assert twin is not None
        there = twin.in_joints.layout
        here = self.system.in_joints.read_state(state, self.vector)
        turned = convert_rows(self.layout, there, here.q, here.v)
        q, v = turned.q[0], turned.v[0]
        start = twin.in_joints.place_state(State(state.t, q, v, there), self.vector)
        pairs = [(x, next(y for y in there.orientations if y.joint == x.joint)) for x in self.charts]

        def guard(t: Array, y: Array) -> int | None:
            turns, _ = twin.in_joints.read(*twin.layout.split(y), t, parameters=self.vector)
            far = np.all([ori.distance_of(x.chart, turns[:, z.q]) > FAR for x, z in pairs], axis=0)
            return int(np.argmax(far)) if far.any() else None

        self._switched(state.t, np.concatenate([state.q, state.v]))
        done, halted = self._advance(twin, start, step, guard)
        found = self._translated(done, np.concatenate([state.q, state.v]))
        self.course.hand_over(found.sample_t, found.sample_y)
        if self.events.any:
            found, ended = self.events.look(self, done, found, self.parts)
            halted = halted and not ended
        if halted:
            self._switched(float(found.t[-1]), found.y[-1, : self.size])
        return found, halted

    def _translated(self, run: Integration, first: Array) -> Integration:
        """A stretch of the twin in the coordinates of the system, whose first state is known."""
        names = ("y", "sample_y", "inside_y")
        rows = [(getattr(run, name), getattr(run, "t" if name == "y" else name[:-1] + "t")) for name in names]
        rows = [(y, t) for y, t in rows if t.size]
        t, y = np.concatenate([t for _, t in rows]), np.vstack([y for y, _ in rows])
        order = np.argsort(self.way * t, kind="stable")
        back = self.translate(t[order], y[order], first)
        out = np.empty((len(t), back.shape[1]))
        out[order] = back
        changes: dict[str, Array] = {}
        start = 0
        for name in names:
            count = len(getattr(run, name)) if getattr(run, name).size else 0
            if count:
                changes[name] = out[start : start + count]
                start += count
        if "sample_y" not in changes:
            changes["sample_y"] = np.zeros((0, back.shape[1]))
        return replace(run, **changes)

    def translate(self, t: Array, y: Array, first: Array) -> Array:
        """States of the twin, in the order of the run, in the coordinates of the system; ``first`` precedes them."""
        found, out = self.converted(t, y, first)
        self.passed += found.passed
        self.elsewhere.keep(t, y)
        lost = [names for names in found.undefined if names]
        if lost:
            self.notes.append(f"{some(lost[0])} are not determined at a singularity of the coordinates (nan)")
        return out

    def converted(self, t: Array, y: Array, first: Array) -> tuple[Converted, Array]:
        """The same without any record: the conversion, and states of the system."""
        twin, system = self.twin, self.system
        assert twin is not None
        nq, size = len(twin.layout.coordinates), len(twin.layout.coordinates) + len(twin.layout.speeds)
        turns, speeds = twin.in_joints.read(*twin.layout.split(y), t, parameters=self.vector)
        near = self._joints(t[:1], first[None])[0]
        found = convert_rows(twin.in_joints.layout, self.layout, turns, speeds, near, t)
        q, v = system.in_joints.place(found.q, found.v, t, parameters=self.vector)
        out = np.hstack([q, v, y[:, size:]])
        turned = {name for x in self.charts for name in (*self.layout.coordinates[x.q], *self.layout.speeds[x.v])}
        for name in {*system.layout.coordinates, *system.layout.speeds} - turned:
            if name in (*twin.layout.coordinates, *twin.layout.speeds):
                (a, i), (b, j) = system.layout.position(name), twin.layout.position(name)
                out[:, i + (a == "v") * self.nq] = y[:, j + (b == "v") * nq]
        return found, out

    def _note_switches(self) -> None:
        """Notes on the changes of charts."""
        there = self.elsewhere
        if not there.switch_t:
            return
        unit = self.layout.time_unit
        where = "; ".join(singularity(self.layout, x).text for x in self.charts)
        times = some([f"{t:.6g}" for t in there.switch_t])
        note = f"changed charts {counted(len(there.switch_t), 'time')} (t in {unit}: {times}), because {where}"
        there.notes += (note,)
        if self.passed:
            when = some([f"{t:.9g}" for t in self.passed])
            there.notes += (
                f"passed a singularity of the coordinates (t = {when} {unit}): the angle continues beyond it, where "
                "the other two would otherwise jump by 180 deg",
            )


def switches_of(system: System, elsewhere: Elsewhere) -> dict[str, Crossings]:
    """Where a run changed its charts, as an event; nothing if it did not."""
    if not elsewhere.switch_t:
        return {}
    states = system.layout.split(np.array(elsewhere.switch_y))
    return {SWITCH.name: Crossings(SWITCH, np.array(elsewhere.switch_t), *states, system, elsewhere.vector)}


def cut(run: Integration, index: int) -> Integration:
    """An integration up to one of its steps."""
    kept = recorded_until(run, run.t[index], ("sample", "inside", "event"))
    return replace(run, t=run.t[: index + 1], y=run.y[: index + 1], accepted=index, **kept)
