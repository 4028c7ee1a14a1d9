"""A derivation explained and checked: every formula of its story, compared with other values at random states."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.explain.comparisons import COMPARISONS, Scene, difference
from pendula.analysis.explain.free_bodies import FREE_BODIES
from pendula.analysis.explain.reference import Reference
from pendula.analysis.explain.walk import Walk, walk
from pendula.equations.story.display import Shown, display, evaluate
from pendula.equations.story.story import Comparison, Formula, Step, Story
from pendula.equations.story.tell import tell
from pendula.errors import LoopNotClosed
from pendula.library.lookup import model_of
from pendula.model.feedback import closed_loop
from pendula.model.model import Model
from pendula.system.build import compile_system
from pendula.system.loops.assembly import assemble
from pendula.system.system import System
from pendula.words import counted, readable

TOLERANCE = 1e-9
"""Largest relative difference that still counts as agreement."""

STATES = 12
"""Number of random states."""

NAMES = {
    "lagrange": "Lagrange's method",
    "kane": "Kane's method",
    "newton-euler": "the method of Newton and Euler",
    "maximal": "maximal coordinates",
    "projection": "the projection method",
}
"""Formulations in sentences."""

Array = Any


@dataclass(frozen=True)
class Check:
    """What a formula was compared with, and the largest relative difference at the random states."""

    words: str
    difference: float

    @property
    def passed(self) -> bool:
        """Whether the two agree."""
        return self.difference <= TOLERANCE


@readable
@dataclass(frozen=True)
class Explanation:
    """A derivation explained from frames to equations of motion, with every step checked; see :func:`pendula.explain`.

    Attributes:
        story: chapters, steps and formulas; its formulas are the expressions that are compiled.
        shown: every formula as it is written, by ``id(formula)``.
        checks: comparisons of formulas, by ``id(formula)``, and of steps, by ``id(step)``.
        written: every formula as it is written, evaluated line by line, compared with what is compiled.
        whole: the accelerations that the written formulas give, line by line, compared with the compiled equations.
        compared_with: the formulation that the story was compared with.
        states: number of random states.
        system: the mechanism in the joints' coordinates, for drawings.
        pose: frames of the bodies in the pose that is drawn.

    Example:
        >>> import pendula
        >>> told = pendula.explain("pendulum", formulation="lagrange")
        >>> told.passed, told.compared_with
        (True, 'kane')
    """

    story: Story
    shown: Mapping[int, Shown]
    checks: Mapping[int, Check]
    written: Check
    whole: Check | None
    compared_with: str
    states: int
    system: System
    pose: Walk

    @property
    def model(self) -> Model:
        """The mechanism."""
        return self.story.equations.model

    @property
    def formulation(self) -> str:
        """The formulation whose derivation is explained."""
        return self.story.equations.formulation

    @property
    def passed(self) -> bool:
        """Whether every comparison agrees."""
        return all(check.passed for check in self._all)

    @property
    def worst(self) -> float:
        """The largest relative difference of all comparisons."""
        return max((check.difference for check in self._all), default=0.0)

    @property
    def comparisons(self) -> int:
        """Number of all comparisons: of formulas and steps, of the formulas as written, and of the whole."""
        return len(self._all)

    @property
    def _all(self) -> list[Check]:
        return [*self.checks.values(), self.written, *([self.whole] if self.whole is not None else [])]

    def __str__(self) -> str:
        formulas = counted(sum(1 for _ in self.story.formulas), "formula")
        checks = counted(self.comparisons, "comparison")
        verdict = "all agree" if self.passed else "some DISAGREE"
        return (
            f"{self.model.name}: derivation by {self.formulation}, {formulas}, {checks} "
            f"at {counted(self.states, 'random state')}: {verdict} (largest difference {self.worst:.1e})"
        )


def explained(model: Model | str, formulation: str, *, states: int = STATES, seed: int = 0) -> Explanation:
    """Tells a derivation and compares each of its steps with independent values."""
    model = closed_loop(model_of(model, "explain", alone=True))
    story = tell(model, formulation)
    own = compile_system(story.equations)
    other = "lagrange" if formulation == "kane" else "kane"
    reference = Reference(model, other, states, seed)
    shown = display(story)
    values, solution = _values(story, own, reference)
    scene = Scene(reference, own, {f.name: values[id(f)] for f in story.formulas})
    checks: dict[int, Check] = {}
    for chapter in story.chapters:
        for step in chapter.steps:
            items: list[Formula | Step] = [*step.formulas, step]
            for item in items:
                if item.compared is not None:
                    found = _check(item.compared, scene, values.get(id(item)), other)
                    if found is not None:
                        checks[id(item)] = found
    written = _written(story, shown, own, scene, solution)
    whole = _whole(story, written, solution)
    return Explanation(
        story,
        shown,
        checks,
        _as_compiled(story, values, written),
        whole,
        other,
        states,
        reference.system,
        _pose(model, reference.system),
    )


def _check(compared: Comparison, scene: Scene, value: Array, other: str) -> Check | None:
    kind, *arguments = compared.key
    compare = COMPARISONS[kind] if kind in COMPARISONS else FREE_BODIES[kind]
    found = compare(scene, value, *arguments)
    if found is None:
        return None
    by = scene.reactions_by if kind == "reaction force" else other
    return Check(compared.words.replace("another formulation", NAMES.get(by, by)), float(found))


def _values(story: Story, own: System, reference: Reference) -> tuple[dict[int, Array], tuple[Array, Array]]:
    """Values of all formulas at all states, by the compiled equations, and the accelerations and multipliers."""
    q, v = own.in_joints.place(reference.q, reference.v, reference.t)
    a, lam = own.solve(q, v, reference.t)
    formulas = list(story.formulas)
    program = own.programs.solved(
        "story", own.parameters, lambda: [x for f in formulas for row in f.entries for x in row]
    )
    u = own.inputs.rows(reference.t, None, own.parameters)
    u = np.broadcast_to(u, (len(q), u.shape[-1]))
    out = program.rows(np.ascontiguousarray(np.concatenate([reference.t[:, None], q, v, u, a, lam], axis=1)))
    found, at = {}, 0
    for formula in formulas:
        rows, columns = formula.shape
        found[id(formula)] = out[:, at : at + rows * columns].reshape(len(q), rows, columns)
        at += rows * columns
    return found, (a, lam)


def _written(
    story: Story, shown: Mapping[int, Shown], own: System, scene: Scene, solution: tuple[Array, Array]
) -> list[tuple[Array, Array]]:
    """Values of all formulas as they are written, line by line."""
    eq, t = story.equations, scene.ref.t
    u = np.broadcast_to(own.inputs.rows(t, None, own.parameters), (len(t), len(eq.u)))
    symbols = [*eq.q, *eq.v, *eq.u, *eq.acceleration_symbols, *eq.multiplier_symbols]
    columns = np.concatenate([scene.q, scene.v, u, *solution], axis=1).T
    known: dict[str, Any] = {str(s): x for s, x in zip(symbols, columns, strict=True)}
    known |= {str(s): x for s, x in zip(eq.p, own.parameters, strict=True)}
    known[str(eq.t)] = t
    return evaluate([shown[id(f)] for f in story.formulas], known)


VANISHING = 1e-12
"""Values smaller than the largest one on the page by this factor are rounding errors of terms that cancel."""


def _as_compiled(story: Story, values: Mapping[int, Array], written: list[tuple[Array, Array]]) -> Check:
    """The largest difference of a formula as written, and of the sum of its terms, from what is compiled."""
    largest = max(float(np.abs(x).max(initial=0.0)) for x in values.values())
    worst = 0.0
    for formula, (entries, terms) in zip(story.formulas, written, strict=True):
        compiled = values[id(formula)]
        size = max(float(np.abs(terms).max(initial=0.0)), float(np.abs(compiled).max()))
        scale = size if size > VANISHING * largest else largest
        worst = max(worst, difference(entries, compiled, scale))
        if formula.terms:
            worst = max(worst, difference(terms.sum(axis=1), compiled, scale))
    return Check("every formula as it is written, and the compiled one", worst)


def _whole(story: Story, written: list[tuple[Array, Array]], solution: tuple[Array, Array]) -> Check | None:
    """Solves the written equations of motion and compares the accelerations with the compiled ones."""
    found = {f.key: entries for f, (entries, _) in zip(story.formulas, written, strict=True) if f.key}
    if not {"M", "f"} <= set(found):
        return None
    a = solution[0]
    n, m = a.shape[1], solution[1].shape[1]
    kkt = np.zeros((len(a), n + m, n + m))
    kkt[:, :n, :n] = found["M"]
    if m:
        kkt[:, n:, :n], kkt[:, :n, n:] = found["G"], -found["G"].transpose(0, 2, 1)
    right = np.concatenate([found["f"], found["c"]], axis=1) if m else found["f"]
    solved = np.array([_scaled_solution(A, b[:, 0], n) for A, b in zip(kkt, right, strict=True)])
    words = "the accelerations that the formulas give, evaluated line by line as written, and the compiled equations"
    return Check(words, difference(solved, a))


def _scaled_solution(A: Array, b: Array, n: int) -> Array:
    """The first n unknowns of A x = b, after scaling: thin bodies have entries of very different size."""
    sizes = np.sqrt(np.abs(np.diag(A)[:n]))
    scale = np.concatenate([1 / np.where(sizes > 0, sizes, 1.0), np.ones(len(b) - n)])
    rows = np.abs(A[n:, :n] * scale[:n]).max(axis=1, initial=0.0)
    scale[n:] = 1 / np.where(rows > 0, rows, 1.0)
    return scale[:n] * np.linalg.lstsq(A * np.outer(scale, scale), b * scale, rcond=None)[0][:n]


def _pose(model: Model, system: System) -> Walk:
    """A pose for drawings: the initial one, with angles that would vanish opened."""
    start = system.initial_state()
    if not model.closures:
        values = dict(zip(system.layout.coordinates, start.q.tolist(), strict=True))
        kinds = dict(zip(system.layout.coordinates, system.layout.coordinate_kinds, strict=True))
        angles = [name for name, kind in kinds.items() if kind == "angle"]
        for k, name in enumerate(angles):
            turned = values[name] % np.pi
            if min(turned, np.pi - turned) < 0.25 or (k and abs(values[name] - values[angles[k - 1]]) < 0.2):
                values[name] = 0.6 + 0.35 * (k % 3)
        return walk(model, values, 0.0)
    with suppress(LoopNotClosed):
        start = assemble(system, start).state
    return walk(model, dict(zip(system.layout.coordinates, start.q.tolist(), strict=True)), 0.0)
