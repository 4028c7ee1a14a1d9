"""Runs the stages of a derivation: every entry simplified step by step, counted and checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import symengine as se

from pendula.arguments import available
from pendula.equations import refusals
from pendula.equations.derive import equations_of
from pendula.equations.equations import Equations
from pendula.equations.mechanism.mechanism import refuse_rotors
from pendula.equations.simplify.recipe import ALLOWED, Points, as_sympy, forms, step_names
from pendula.equations.simplify.sizes import Size, size_of
from pendula.equations.stages.derivation import Derivation, Entries
from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.words import counted, readable

MOST_RAW_TERMS = 200_000
"""Terms above which a stage is no longer written out without simplification of those before it."""

SECONDS = 60.0
"""Default time limit."""


@dataclass(frozen=True)
class StageStep:
    """One simplification step of a stage: the size after it, and the largest relative change of a value."""

    name: str
    size: Size
    change: float

    @property
    def passed(self) -> bool:
        """Whether no value changed; if one did, the step was not taken for that entry."""
        return self.change <= ALLOWED


@dataclass(frozen=True)
class Stage:
    """One stage of a derivation.

    Attributes:
        name: such as "rotation matrices".
        entries: label -> simplified SymPy expression.
        raw: size if no earlier stage had been simplified; None if that would be too long.
        before: size as it follows from the simplified stages before it.
        steps: every simplification step.
        seconds: time of the derivation and all steps.
        unfinished: number of entries left unsimplified, because they are too long or time was up.

    Example:
        >>> import pendula
        >>> masses = pendula.derivation.stages("double-pendulum")["inertia matrix M"]
        >>> masses.before.terms, masses.after.terms, masses.entries["M[theta2_dot, theta2_dot]"]
        (10, 3, l**2*m/3)
    """

    name: str
    entries: Mapping[str, Any]
    raw: Size | None
    before: Size
    steps: tuple[StageStep, ...]
    seconds: float
    unfinished: int = 0

    @property
    def after(self) -> Size:
        """Size after the last step."""
        return self.steps[-1].size if self.steps else self.before

    @property
    def change(self) -> float:
        """The largest relative change of a value by any step."""
        return max((step.change for step in self.steps), default=0.0)


@readable
@dataclass(frozen=True)
class Stages:
    """A derivation in stages; see :func:`stages`.

    Attributes:
        model, formulation: of the equations with which the last stages are compared.
        stages: in order.
        agreement: block -> largest relative difference from the derived equations at random points.
        notes: omissions, and the reasons for them.

    Example:
        >>> import pendula
        >>> found = pendula.derivation.stages("double-pendulum")
        >>> found["gravity"].after.terms, found.passed
        (2, True)
    """

    model: str
    formulation: str
    stages: tuple[Stage, ...]
    agreement: Mapping[str, float]
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether no step changed a value, and the result equals the derived equations."""
        return all(s.change <= ALLOWED for s in self.stages) and all(x <= ALLOWED for x in self.agreement.values())

    def __getitem__(self, name: str) -> Stage:
        """A stage by name."""
        known = {s.name: s for s in self.stages}
        if name not in known:
            raise UsageError(f'there is no stage "{name}"; {available(known)}')
        return known[name]

    def __str__(self) -> str:
        from pendula.equations.stages.tables import stages_text

        return stages_text(self)

    def latex(self) -> str:
        """The table of sizes as LaTeX."""
        from pendula.equations.stages.tables import stages_latex

        return stages_latex(self)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data; expressions as text."""
        from pendula.equations.stages.tables import stages_data

        return stages_data(self)


def stages(equations: Equations | Model | str, *, seconds: float = SECONDS) -> Stages:
    """The derivation in stages, each simplified step by step with counts and a check, as in Gupta and Saha.

    Rotation matrices, angular velocities, inertia tensors in fixed axes, the generalized inertia matrix (GIM), the
    centrifugal and Coriolis terms h, gravity, and the constraints of closed loops. Where speeds are angular
    velocities, as with quaternions, also the velocities of the mass centres, and both velocities in body axes, from
    which M and h follow.

    The step "unit norm" uses |e| = 1 of every quaternion e; checks of such models take place at unit quaternions.

    The stages start from the poses of the bodies and share nothing else with the formulations. Every step is checked at
    random points, and the last stages are compared with the derived equations.

    Args:
        equations: returned by :func:`pendula.derive`; a model or the name of a library mechanism is derived.
        seconds: time after which entries are no longer simplified; the result so far is returned, with a note. An
            interruption from the keyboard does the same.

    Example:
        >>> import pendula
        >>> rod = stages("spatial-rod")
        >>> h = rod["Coriolis terms h"]
        >>> h.raw.terms > 1000, h.after.terms < 100
        (True, True)
    """
    eq = equations_of(equations, "stages", in_symbols=True)
    return _Run(eq, seconds).result()


class _Run:
    def __init__(self, eq: Equations, seconds: float) -> None:
        import sympy  # noqa: F401  its import is no part of the first stage's time

        refuse_rotors(eq.model, refusals.STAGES_OF_ROTORS)
        self.eq, self.derivation = eq, Derivation(eq)
        self.surface = self.derivation.charts.surface
        self.until = time.monotonic() + seconds
        self.seconds = seconds
        self.stages: list[Stage] = []
        self.notes: list[str] = list(self.derivation.charts.words)

    def result(self) -> Stages:
        d = self.derivation
        agreement: dict[str, float] = {}
        with self._interruptible():
            raw_R = d.rotations()
            R = self._stage("rotation matrices", lambda: raw_R, lambda: raw_R)
            w = self._stage("angular velocities", lambda: d.angular_velocities(R), lambda: d.angular_velocities(raw_R))
            raw_I = d.tensors(raw_R)
            tensors = self._stage("inertia tensors", lambda: d.tensors(R), lambda: raw_I)
            u = raw_u = d.velocities()
            # M and h follow from velocities with tensors in fixed axes, or from velocities in body axes
            base: tuple[Any, ...] = (u, w, tensors)
            raw: tuple[Any, ...] = (raw_u, w, raw_I)
            if d.in_own_axes:
                u = self._stage("velocities", lambda: raw_u, lambda: raw_u)
                raw_B = d.in_body_axes(raw_R, raw_u, w)
                B = self._stage("in body axes", lambda: d.in_body_axes(R, u, w), lambda: raw_B)
                base, raw = (B, B, None), (raw_B, raw_B, None)
            raw_M = d.masses(*raw)
            M = self._stage("inertia matrix M", lambda: d.masses(*base), lambda: raw_M)
            h = self._stage("Coriolis terms h", lambda: d.coriolis(M, *base), lambda: d.coriolis(raw_M, *raw))
            gravity = self._stage("gravity", lambda: d.gravity(u), lambda: d.gravity(raw_u))
            if self.eq.G:
                self._stage("constraints G, c", d.constraints, d.constraints)
            agreement = self._agreement(M, h, gravity)
            if d.in_own_axes:
                agreement["I"] = self._difference(d.momenta(w, tensors), d.turned_momenta(R, base[0]))
        return Stages(self.eq.model.name, self.eq.formulation, tuple(self.stages), agreement, tuple(self.notes))

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            done = self.stages[-1].name if self.stages else "nothing"
            self.notes.append(f"interrupted: the last complete stage is {done}")

    def _stage(self, name: str, derive: Callable[[], Entries], derive_raw: Callable[[], Entries]) -> Entries:
        """Simplifies the entries of a stage; returns them as SymEngine expressions."""
        began = time.perf_counter()
        raw = self._raw(derive_raw)
        entries = {label: se.sympify(e) for label, e in derive().items()}
        before = size_of(entries.values())
        current: dict[str, Any] = dict(entries)
        names = step_names(self.surface)
        history = {step: dict[str, Any]() for step in names}
        changes = dict.fromkeys(names, 0.0)
        unfinished = 0
        for label, e in entries.items():
            if time.monotonic() > self.until:
                unfinished += 1
                continue
            done = False
            for step in forms(e, self.eq.v, self.surface):
                history[step.name][label] = current[label] = step.form
                changes[step.name] = max(changes[step.name], step.change)
                done = True
            unfinished += not done
        steps = tuple(StageStep(step, size_of((entries | history[step]).values()), changes[step]) for step in names)
        shown = {label: as_sympy(e) for label, e in current.items()}
        self.stages.append(Stage(name, shown, raw, before, steps, time.perf_counter() - began, unfinished))
        if unfinished:
            why = f"time was up after {self.seconds:g} s, or they are too long to expand"
            entry = counted(unfinished, "entry was", "entries were")
            self.notes.append(f"{name}: {entry} left as derived ({why})")
        return {label: se.sympify(e) for label, e in current.items()}

    def _raw(self, derive: Callable[[], Entries]) -> Size | None:
        """Size without any simplification before; None if an earlier stage is too long for that, or time is up."""
        late = time.monotonic() > self.until
        if late or any(s.raw is None or s.raw.terms > MOST_RAW_TERMS for s in self.stages):
            return None
        return size_of(derive().values())

    def _agreement(self, M: Entries, h: Entries, gravity: Entries) -> dict[str, float]:
        """The largest relative differences from the derived equations."""
        eq, names = self.eq, self.derivation.names
        derived = {f"M[{names[i]}, {names[j]}]": eq.M[i][j] for i in range(len(names)) for j in range(i + 1)}
        parts = eq.parts.free
        found = {"M": self._difference(M, {k: eq.inline(x) for k, x in derived.items()})}
        for block, entries, part in (("h", h, "inertia"), ("gamma", gravity, "gravity")):
            rows = dict(zip(entries, (-eq.inline(x) for x in parts[part]), strict=True))
            found[block] = self._difference(entries, rows)
        return found

    def _difference(self, found: Entries, expected: Entries) -> float:
        """The largest relative difference of entries at random points."""
        pairs = [(se.sympify(expected[k]), se.sympify(e)) for k, e in found.items()]
        return max(
            (Points(e, surface=self.surface, beside=other.free_symbols).change(other) for e, other in pairs),
            default=0.0,
        )
