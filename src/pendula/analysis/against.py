"""Equations that somebody else wrote against ours: they agree, or here is a state where they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pendula.analysis.affine import Array
from pendula.analysis.given import Given, Numbers, acceleration_name, evaluate, read_given
from pendula.equations.derive import DEFAULT
from pendula.errors import PendulaError
from pendula.model.model import Model
from pendula.system.assembly import assemble
from pendula.system.build import compile_system
from pendula.system.layout import State
from pendula.system.sampling import random_states
from pendula.system.system import System

TOLERANCE = 1e-9
"""Largest relative difference of an acceleration that still counts as agreement."""
SINGULAR = 1e12
"""Condition number (rows and columns scaled) from which equations do not determine the accelerations."""
CLEAR = 0.01
"""A simpler state is taken if it keeps this part of the largest difference."""
_ROUNDING = 1e6  # condition number up to which rounding stays far below the tolerance


@dataclass(frozen=True)
class Difference:
    """One quantity on which the two sides differ, at the counterexample.

    Attributes:
        what: its name: ``theta1_ddot``, ``M[theta1, theta2]``, ``equation 2: coefficient of theta1_ddot``.
        ours: its value by the model.
        theirs: its value by the equations that were given.
    """

    what: str
    ours: float
    theirs: float


@dataclass(frozen=True)
class Comparison:
    """Given equations compared with those of a model, at random consistent states.

    Attributes:
        model: name of the model.
        source: where the equations came from.
        states: number of random states.
        max_difference: largest relative difference of an acceleration.
        counterexample: t, coordinates and speeds of a simple state where they differ; None if there is none.
        differences: what differs there, accelerations first.
        remark: where to look, or in what the two sides differ though they agree; may be empty.
    """

    model: str
    source: str
    states: int
    max_difference: float
    counterexample: dict[str, float] | None
    differences: tuple[Difference, ...]
    remark: str = ""

    @property
    def passed(self) -> bool:
        """Whether the accelerations agree."""
        return self.max_difference <= TOLERANCE

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.passed or self.counterexample is None:
            largest = f"the accelerations differ by at most {self.max_difference:.2g} of their size"
            return f"{self.source}: agrees with {self.model} at {self.states} random states; {largest}"
        first = self.differences[0]
        moving = [f"{name} = {value:.6g}" for name, value in self.counterexample.items() if value != 0]
        rest = ["all else zero"] if len(moving) < len(self.counterexample) else []
        return (
            f"{self.source}: differs from {self.model}; at {', '.join(moving + rest)}, "
            f"{first.what} is {first.ours:.6g} by the model and {first.theirs:.6g} by these equations"
        )


def check_against(
    model: Model,
    against: str | Path | Mapping[str, Any],
    *,
    states: int = 100,
    seed: int = 0,
    formulation: str = DEFAULT,
) -> Comparison:
    """Compares equations from a paper, a script or a notebook with those of a model.

    What decides is the accelerations at random consistent states: an equation may be multiplied by a factor, and
    equations may be combined, without being wrong. Where they differ, a state as simple as possible is looked for.

    Args:
        model: the mechanism.
        against: a TOML file, or its content as a mapping; see the page "Checking your own equations".
        states: number of random states.
        seed: of the random states.
        formulation: the one that gives our side.

    Raises:
        UsageError: the equations cannot be used: an unknown name, a wrong size, not linear in the accelerations, not
            finite, or they do not determine the accelerations; names file and entry.

    Example:
        >>> from pendula import library
        >>> right = {"equations": ["l*theta_ddot/3 = -g/2*sin(theta)"]}
        >>> check_against(library.pendulum(), right, states=10).passed
        True
        >>> wrong = {"equations": ["l*theta_ddot/2 = -g/2*sin(theta)"]}  # the inertia is not that of a rod
        >>> found = check_against(library.pendulum(), wrong, states=10)
        >>> found.passed, found.differences[0].what
        (False, 'theta_ddot')
    """
    system = compile_system(model, formulation)
    given = read_given(system, against)
    if given.form == "M" and system.equations.loop_rows:
        given.refuse(
            "M",
            "the model has closed loops, where M a = f does not hold without multipliers; "
            'give "equations" with the multipliers as "unknowns", or "accelerations"',
        )
    t, q, v = random_states(system, states, seed)
    numbers = evaluate(given, system, t, q, v)
    theirs = _theirs(given, system, numbers, t, q)
    ours = system.accelerations(q, v, t)
    scale = _typical(system, ours, v)
    gaps = _gap(ours, theirs, scale)
    worst = int(np.argmax(gaps))
    largest = float(gaps[worst])
    rows = _our_rows(system, numbers, t, q, v)
    if largest <= TOLERANCE:
        return Comparison(model.name, given.source, states, largest, None, (), _entries_remark(numbers, rows))

    def differs(state: State) -> bool:
        return _gap_at(given, system, state, scale) >= max(CLEAR * largest, TOLERANCE)

    state = _simplified(system, State(float(t[worst]), q[worst], v[worst], system.layout), differs)
    found = _differences(given, system, state, scale, _matches(numbers, rows))
    remark = _where_to_look(given, system, t, q, scale)
    return Comparison(model.name, given.source, states, largest, {"t": state.t, **state.as_dict()}, found, remark)


# -- accelerations by the given equations -------------------------------------------------------------


def _conditions(A: Array) -> Array:
    """Condition numbers with rows and columns scaled to a largest entry of 1; infinite where one is zero."""
    rows = np.abs(A).max(axis=2, keepdims=True)
    scaled = A / np.where(rows > 0, rows, 1.0)
    columns = np.abs(scaled).max(axis=1, keepdims=True)
    found = np.linalg.cond(scaled / np.where(columns > 0, columns, 1.0))
    return np.where(np.isfinite(found), found, np.inf)


def _solution(numbers: Numbers, conditions: Array) -> Array:
    """Accelerations and unknowns of A x + b = 0."""
    safe = np.where((conditions < SINGULAR)[:, None, None], numbers.A, np.eye(numbers.A.shape[1]))
    return np.linalg.solve(safe, -numbers.b[..., None])[..., 0]


def _theirs(given: Given, system: System, numbers: Numbers, t: Array, q: Array) -> tuple[Array, Array]:
    """Accelerations by the given equations, and how well they are determined (condition numbers)."""
    conditions = _conditions(numbers.A)
    bad = np.flatnonzero(~(conditions < SINGULAR))
    if bad.size:
        given.refuse(*_undetermined(given, system, numbers, int(bad[0]), t, q))
    return _solution(numbers, conditions)[:, : len(system.layout.speeds)], conditions


def _undetermined(given: Given, system: System, numbers: Numbers, state: int, t: Array, q: Array) -> tuple[str, str]:
    """Entry and cause of equations that leave an acceleration open."""
    entry = "M" if given.form == "M" else "equations"
    names = [*map(acceleration_name, system.layout.speeds), *given.unknowns]
    labels = [f"row of {name}" for name in given.order] if given.form == "M" else [row.label for row in given.rows]
    for k, name in enumerate(names):
        if not numbers.A[:, :, k].any():
            return entry, f'"{name}" occurs in none of them, so it is not determined'
    for k, label in enumerate(labels):
        if not numbers.A[:, k].any():
            return label, "it contains no acceleration, so the others do not determine them all"
    pairs = list(zip(system.layout.coordinates, q[state], strict=True))[:6]
    at = ", ".join(f"{name} = {x:.4g}" for name, x in [("t", t[state]), *pairs])
    what = "M is singular" if given.form == "M" else "the equations depend on each other"
    return entry, f"{what} at {at}, so the accelerations are not determined"


# -- size of differences ------------------------------------------------------------------------------


def _typical(system: System, a: Array, v: Array) -> Array:
    """Typical size of each acceleration over the states; those of one kind (angles, lengths) share it."""
    kinds = np.array(system.layout.speed_kinds)
    typical = np.empty(len(kinds))
    for kind in set(kinds):
        same = kinds == kind
        size = float(np.median(np.abs(a[:, same]).max(axis=1)))
        typical[same] = size if size > 0 else max(float(np.median((v[:, same] ** 2).max(axis=1))), 1e-300)
    return typical


def _gap(ours: Array, theirs: tuple[Array, Array], scale: Array) -> Array:
    """Largest relative difference at each state; less where equations are so nearly singular that rounding counts."""
    accelerations, conditions = theirs
    relative = (np.abs(ours - accelerations) / np.maximum(np.abs(ours), scale)).max(axis=1)
    relative = np.where(np.isfinite(relative), relative, np.inf)
    return relative / np.maximum(1.0, conditions / _ROUNDING)


def _gap_at(given: Given, system: System, state: State, scale: Array) -> float:
    """The difference at one state; 0 where one of the two sides has no accelerations."""
    t, q, v = np.array([state.t]), state.q[None], state.v[None]
    try:
        numbers = evaluate(given, system, t, q, v)
        ours = system.accelerations(q, v, t)
    except PendulaError:
        return 0.0
    conditions = _conditions(numbers.A)
    if not conditions[0] < SINGULAR:
        return 0.0
    theirs = _solution(numbers, conditions)[:, : ours.shape[1]]
    return float(_gap(ours, (theirs, conditions), scale)[0])


# -- a simple counterexample --------------------------------------------------------------------------


def _simplified(system: System, state: State, differs: Callable[[State], bool]) -> State:
    """A state near the given one, with as many zeros and round numbers as the difference survives."""
    held: set[str] = set()
    for simple in (State(0.0, state.q, state.v, state.layout), State(0.0, state.q, 0 * state.v, state.layout)):
        found = _consistent(system, simple, held)
        state = found if found is not None and differs(found) else state
    kinds = dict(zip(system.layout.coordinates, system.layout.coordinate_kinds, strict=True))
    for at, _ in system.balls:
        names = system.layout.coordinates[at : at + 4]
        upright = _consistent(system, state.replace(dict(zip(names, (1.0, 0.0, 0.0, 0.0), strict=True))), held)
        state = upright if upright is not None and differs(upright) else state
        kinds = {name: kind for name, kind in kinds.items() if name not in names}
    for name in (*system.layout.speeds, *kinds):
        for value in _rounder(state[name], kinds.get(name, "")):
            trial = _consistent(system, state.replace({name: value}), held | {name})
            if trial is not None and trial[name] == value and differs(trial):
                state = trial
                held.add(name)
                break
    return state


def _rounder(value: float, kind: str) -> list[float]:
    """Values to try in place of one, the simplest first."""
    if value == 0.0:
        return [0.0]
    steps = [np.pi / 2, np.pi / 4, np.pi / 6] if kind == "angle" else [1.0]
    found = [0.0, *(float(step * np.round(value / step)) for step in steps), round(value, 1), round(value, 2)]
    away = float(np.copysign(steps[0], value))
    return list(dict.fromkeys([0.0, away, *found]))


def _consistent(system: System, state: State, held: set[str]) -> State | None:
    """The state on the constraints, with what is already simple left as it is; None if that is not possible."""
    if not system.equations.loop_rows:
        return state
    try:
        found = assemble(system, state, keep=held).state
    except PendulaError:
        return None
    kept = all(abs(found[name] - state[name]) < 1e-12 for name in held)
    return found.replace({name: state[name] for name in held}) if kept else None


def _where_to_look(given: Given, system: System, t: Array, q: Array, scale: Array) -> str:
    """Whether the difference is there at rest."""
    if system.equations.drives:
        return ""
    rest = np.zeros((len(t), len(system.layout.speeds)))
    try:
        numbers = evaluate(given, system, t, q, rest)
        theirs = _theirs(given, system, numbers, t, q)
        at_rest = _gap(system.accelerations(q, rest, t), theirs, scale).max()
    except PendulaError:
        return ""
    if at_rest <= TOLERANCE:
        return "At rest the two sides agree at all poses: the difference is in terms that contain speeds."
    return "The two sides differ at rest too: look at the inertia and the forces before the terms that contain speeds."


# -- what differs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Match:
    """How a given row corresponds to ours over many states: ours times a factor, but for some wrong entries.

    The factor is a constant, or, if ``column`` is set, the ratio of the entries in that column at each state.
    """

    factor: float
    column: int | None
    wrong: Array


def _differences(
    given: Given, system: System, state: State, scale: Array, matches: list[_Match | None]
) -> tuple[Difference, ...]:
    t, q, v = np.array([state.t]), state.q[None], state.v[None]
    numbers = evaluate(given, system, t, q, v)
    ours = system.accelerations(q, v, t)[0]
    theirs = _solution(numbers, _conditions(numbers.A))[0, : len(ours)]
    size = np.maximum(np.abs(ours), scale)
    order = sorted(range(len(ours)), key=lambda k: -abs(ours[k] - theirs[k]) / size[k])
    found = [
        _difference(acceleration_name(system.layout.speeds[k]), ours[k], theirs[k], size[k])
        for k in order
        if abs(ours[k] - theirs[k]) > TOLERANCE * size[k]
    ]
    if given.form == "accelerations":
        return tuple(found)
    rows = _our_rows(system, numbers, t, q, v)
    for k, left in _wrong_rows(numbers, ours, size):
        match = matches[k]
        terms = _terms(given, k, _their_rows(numbers)[0, k], rows[0, k], match) if rows is not None and match else []
        label = f"row of {given.order[k]}" if given.form == "M" else given.rows[k].label
        found += terms or [Difference(f"{label}: left side - right side with our accelerations", 0.0, left)]
    return tuple(found)


def _difference(what: str, ours: float, theirs: float, size: float) -> Difference:
    """A difference in which what is zero but for rounding is zero."""
    mine, other = (0.0 if abs(x) < 1e-12 * size else float(x) for x in (ours, theirs))
    return Difference(what, mine, other)


def _wrong_rows(numbers: Numbers, ours: Array, size: Array) -> list[tuple[int, float]]:
    """Equations that our accelerations do not satisfy, each with what is left; other unknowns fit as well as can be."""
    A, b, extra = numbers.A[0, :, : len(ours)], numbers.b[0], numbers.A[0, :, len(ours) :]
    known = A @ ours + b
    values = np.linalg.lstsq(extra, -known, rcond=None)[0] if extra.shape[1] else np.zeros(0)
    left = known + extra @ values
    limit = TOLERANCE * (np.abs(A) @ size + np.abs(b) + np.abs(extra) @ np.abs(values))
    return [(int(k), float(left[k])) for k in np.flatnonzero(np.abs(left) > limit)]


def _our_rows(system: System, numbers: Numbers, t: Array, q: Array, v: Array) -> Array | None:
    """[M, -f] at every state, in the coordinates of the given equations; None where there is no such form."""
    n = len(system.layout.speeds)
    if system.equations.loop_rows or numbers.basis is None or numbers.A.shape[2] > n:
        return None
    back = np.linalg.inv(numbers.basis)
    M, f = back.T @ system.mass_matrix(q, t) @ back, system.forces(q, v, t) @ back
    return np.concatenate([M, -f[..., None]], axis=2)


def _their_rows(numbers: Numbers) -> Array:
    """The given equations in the same form."""
    assert numbers.basis is not None
    return np.concatenate([numbers.A @ np.linalg.inv(numbers.basis), numbers.b[..., None]], axis=2)


def _matches(numbers: Numbers, ours: Array | None) -> list[_Match | None]:
    """For every given row, how it corresponds to our row of the same number; None where it does not."""
    if ours is None:
        return [None] * numbers.A.shape[1]
    theirs = _their_rows(numbers)
    return [_match(theirs[:, k], ours[:, k]) for k in range(theirs.shape[1])]


def _match(theirs: Array, ours: Array) -> _Match | None:
    """The factor that makes most entries equal at all states; one other than 1 must explain two entries."""
    present = np.abs(ours).max(axis=0) > 0
    best, score = None, 0.0
    candidates: list[tuple[float, int | None]] = [(1.0, None)]
    for j in np.flatnonzero(present & (np.abs(theirs).max(axis=0) > 0)):
        at = int(np.argmax(np.abs(ours[:, j])))
        candidates += [(float(theirs[at, j] / ours[at, j]), None), (1.0, int(j))]
    for factor, column in candidates:
        factors = factor if column is None else _ratios(theirs[:, column], ours[:, column])
        same = _same(theirs, ours * np.reshape(factors, (-1, 1))).all(axis=0)
        count = float(np.sum(same & present)) - (0.0 if factor == 1.0 and column is None else 1.5)
        if count > score:
            best, score = _Match(factor, column, ~same), count
    return best


def _ratios(theirs: Array, ours: Array) -> Array:
    return np.divide(theirs, ours, out=np.zeros_like(theirs), where=ours != 0)


def _terms(given: Given, k: int, theirs: Array, ours: Array, match: _Match) -> list[Difference]:
    """Entries of one row that differ from ours at one state."""
    factor = match.factor
    if match.column is not None:
        factor = float(_ratios(theirs[[match.column]], ours[[match.column]])[0])
    mine = factor * ours
    sign = np.ones(len(ours))
    sign[-1] = -1.0 if given.form == "M" else 1.0
    size = float(np.abs(mine).max())
    return [
        _difference(_entry(given, k, int(j), factor), sign[j] * mine[j], sign[j] * theirs[j], size)
        for j in np.flatnonzero(match.wrong & ~_same(theirs[None], mine[None])[0])
    ]


def _same(theirs: Array, ours: Array) -> Array:
    """Which entries are equal but for rounding, measured by the largest entry of their row."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    return np.abs(theirs - ours) <= TOLERANCE * np.maximum(size, 1e-3 * size.max(axis=-1, keepdims=True))


def _entry(given: Given, k: int, j: int, factor: float) -> str:
    """Name of an entry of a row: a coefficient, or what remains without accelerations."""
    times = "" if abs(factor - 1.0) < TOLERANCE else f" (our row times {factor:.4g})"
    last = j == len(given.order)
    if given.form == "M":
        return (f"f[{given.order[k]}]" if last else f"M[{given.order[k]}, {given.order[j]}]") + times
    what = "terms without accelerations" if last else f"coefficient of {given.acceleration_names[j]}"
    return f"{given.rows[k].label}: {what}{times}"


def _entries_remark(numbers: Numbers, ours: Array | None) -> str:
    """Whether M and f, which give the same accelerations, are ours entry by entry."""
    if numbers.M is None or ours is None:
        return ""
    same = _same(_their_rows(numbers), ours).all()
    return "M and f are ours entry by entry." if same else "M and f are not ours entry by entry, but mean the same."
