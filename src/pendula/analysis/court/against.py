"""Compares equations written by others with ours: they agree, or a counterexample state shows where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pendula.analysis.court.given import Numbers, Points, evaluate, read_given
from pendula.analysis.court.rows import Match, entry_differences, matches, our_rows, their_rows, unsatisfied
from pendula.analysis.court.simpler import simplified
from pendula.equations.derive import DEFAULT
from pendula.equations.variants.written import Given
from pendula.errors import PendulaError
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.model.names import acceleration_name
from pendula.system.build import compile_system
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.loops.sampling import random_states
from pendula.system.parameters import parameter_vector
from pendula.system.system import System
from pendula.words import readable

TOLERANCE = 1e-9
"""Largest relative difference of an acceleration that still counts as agreement."""
SINGULAR = 1e10
"""Condition number (rows and columns scaled) above which equations do not determine the accelerations."""
CLEAR = 0.01
"""A simpler counterexample must keep this fraction of the largest difference."""
_ROUNDING = 1e4  # condition number up to which rounding stays far below the tolerance
_VARIED = 10  # number of states at which parameters are varied


@dataclass(frozen=True)
class Difference:
    """One quantity in which the two sides differ at the counterexample.

    Attributes:
        what: its name: ``theta1_ddot``, ``M[theta1, theta2]``, ``equation 2: coefficient of theta1_ddot``.
        ours: its value according to the model.
        theirs: its value according to the given equations.

    Example:
        >>> import pendula
        >>> wrong = {"equations": ["m*l**2*theta_ddot = -m*g*l/2*sin(theta)"]}
        >>> pendula.derivation.check_against("pendulum", wrong, states=5).differences[0].what
        'theta_ddot'
    """

    what: str
    ours: float
    theirs: float


@readable
@dataclass(frozen=True)
class Comparison:
    """Given equations compared with those of a model, at random consistent states.

    Attributes:
        model: name of the model.
        source: file name of the equations, or a description.
        states: number of random states.
        max_difference: largest relative difference of an acceleration.
        counterexample: t, coordinates, speeds and inputs of a simple state where they differ; None if they agree.
        differences: the quantities that differ there, accelerations first.
        remark: where to look for the error, or a caution although they agree; may be empty.
        inputs: names of the model's inputs; the sentence gives their values in the counterexample, zeros included.

    Example:
        >>> import pendula
        >>> right = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]}
        >>> pendula.derivation.check_against("pendulum", right, states=5).passed
        True
    """

    model: str
    source: str
    states: int
    max_difference: float
    counterexample: dict[str, float] | None
    differences: tuple[Difference, ...]
    remark: str = ""
    inputs: tuple[str, ...] = ()

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
        shown = [(name, value) for name, value in self.counterexample.items() if value != 0 or name in self.inputs]
        moving = [f"{name} = {value:.6g}" for name, value in shown]
        rest = ["all else zero"] if len(moving) < len(self.counterexample) else []
        ours, theirs = _apart(first.ours, first.theirs)
        return (
            f"{self.source}: differs from {self.model}; at {', '.join(moving + rest)}, "
            f"{first.what} is {ours} by the model and {theirs} by these equations"
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence, *([self.remark] if self.remark else [])])


def _apart(a: float, b: float) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see that they differ, but at least six."""
    pairs = [(f"{a:.{digits}g}", f"{b:.{digits}g}") for digits in range(6, 18)]
    at = next((k for k, (x, y) in enumerate(pairs) if x != y), len(pairs) - 1)
    return pairs[min(at + 1, len(pairs) - 1)] if at else pairs[0]


def check_against(
    model: Model | str,
    given: str | Path | Mapping[str, Any],
    *,
    states: int = 100,
    seed: int = 0,
    formulation: str = DEFAULT,
) -> Comparison:
    """Compares equations from a paper, a script or a notebook with those of a model.

    The accelerations at random consistent states and inputs decide, since equations may be multiplied by a factor or
    combined without being wrong. If they differ, the counterexample is made as simple as possible. If they agree,
    parameters are varied one by one; if the sides then differ, the remark says so.

    Args:
        model: a model, the name of a library mechanism, or a system.
        given: a TOML file, or its content as a mapping; see the page "Checking your own equations".
        states: number of random states.
        seed: of the random states.
        formulation: the formulation that derives our equations.

    Raises:
        UsageError: the equations cannot be used: an unknown name, a wrong size, not linear in the accelerations, not
            finite, or they do not determine the accelerations; the message names file and entry.

    Example:
        >>> from pendula import library
        >>> right = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]}
        >>> check_against(library.pendulum(), right, states=10).passed
        True
        >>> wrong = {"equations": ["m*l**2*theta_ddot = -m*g*l/2*sin(theta)"]}  # not the inertia of a rod
        >>> for difference in check_against(library.pendulum(), wrong, states=10).differences:
        ...     print(difference.what, round(difference.ours, 3), round(difference.theirs, 3))
        theta_ddot -14.715 -4.905
        equation 1: coefficient of theta_ddot 0.333 1.0
    """
    return _Check(compile_system(model_of(model, "check_against"), formulation), given).run(states, seed)


class _Check:
    """The comparison of a model with given equations, step by step."""

    def __init__(self, system: System, given: str | Path | Mapping[str, Any]) -> None:
        self.system, self.given = system, read_given(system, given)
        if self.given.form == "M" and system.loop_rows:
            self.given.refuse(
                "M",
                "the model has closed loops, where M a = f does not hold without multipliers; "
                'give "equations" with the multipliers as "unknowns", or "accelerations"',
            )

    def run(self, states: int, seed: int) -> Comparison:
        points = random_points(self.system, states, seed)
        numbers = evaluate(self.given, self.system, points)
        check_determined(self.given, self.system, numbers, points)
        ours = self.ours(points)
        scale = _typical(self.system, ours, points.v)
        gaps = self.gaps(points, scale, numbers)
        worst = int(np.argmax(gaps))
        largest = float(gaps[worst])
        rows = our_rows(self.system, numbers, points)
        named = (self.system.model.name, self.given.source, states, largest)
        if largest <= TOLERANCE:
            remark = self.remark_on_agreement(numbers, rows, points, scale)
            return Comparison(*named, None, (), remark, self.system.layout.inputs)

        def differs(point: Points) -> bool:
            return self.gap_at(point, scale) >= max(CLEAR * largest, TOLERANCE)

        point = simplified(self.system, points.chosen([worst]), differs)
        found = self.differences(point, scale, matches(numbers, rows))
        remark = self.where_to_look(points, scale)
        return Comparison(*named, self.by_name(point), found, remark, self.system.layout.inputs)

    # -- both sides ----------------------------------------------------------------------------------

    def ours(self, at: Points) -> Array:
        """Accelerations according to the model."""
        return self.system.accelerations(at.q, at.v, at.t, inputs=at.u, parameters=at.p)

    def gaps(self, at: Points, scale: Array, numbers: Numbers | None = None) -> Array:
        """Largest relative difference at each state; 0 where the given equations are singular."""
        ours = self.ours(at)
        A_b = evaluate(self.given, self.system, at) if numbers is None else numbers
        conditions = _conditions(A_b.A)
        theirs = _solution(A_b, conditions)[:, : ours.shape[1]]
        relative = (np.abs(ours - theirs) / np.maximum(np.abs(ours), scale)).max(axis=1)
        relative = np.where(np.isfinite(relative), relative, np.inf)
        # Nearly singular equations amplify rounding errors, which must not count as a difference.
        return np.where(conditions < SINGULAR, relative / np.maximum(1.0, conditions / _ROUNDING), 0.0)

    def gap_at(self, point: Points, scale: Array) -> float:
        """The difference at one state; 0 if one side has no accelerations there."""
        try:
            return float(self.gaps(point, scale)[0])
        except PendulaError:
            return 0.0

    # -- report --------------------------------------------------------------------------------------

    def by_name(self, point: Points) -> dict[str, float]:
        """A state by name."""
        layout = self.system.layout
        names = ("t", *layout.coordinates, *layout.speeds, *layout.inputs)
        values = (point.t, point.q[0], point.v[0], point.u[0])
        return dict(zip(names, map(float, np.concatenate(values)), strict=True))

    def differences(self, point: Points, scale: Array, found: list[Match | None]) -> tuple[Difference, ...]:
        """The quantities that differ at one state: accelerations, then entries of M and f or of the equations."""
        numbers, ours = evaluate(self.given, self.system, point), self.ours(point)[0]
        theirs = _solution(numbers, _conditions(numbers.A))[0, : len(ours)]
        size = np.maximum(np.abs(ours), scale)
        gap = np.abs(ours - theirs) / size
        names = [acceleration_name(speed) for speed in self.system.layout.speeds]
        different = [_difference(names[k], ours[k], theirs[k], size[k]) for k in np.argsort(-gap) if gap[k] > TOLERANCE]
        if self.given.form == "accelerations":
            return tuple(different)
        mine = our_rows(self.system, numbers, point)
        for k, left in unsatisfied(numbers, ours, size):
            match = found[k]
            entries = []
            if mine is not None and match is not None:
                entries = entry_differences(self.given, k, their_rows(numbers)[0, k], mine[0, k], match)
            label = f"{_labels(self.given)[k]}: left side - right side with the model's accelerations"
            different += [_difference(*entry) for entry in entries] or [Difference(label, 0.0, left)]
        return tuple(different)

    def where_to_look(self, points: Points, scale: Array) -> str:
        """A remark on whether the two sides also differ at rest."""
        if self.system.drives:
            return ""
        try:
            at_rest = self.gaps(replace(points, v=np.zeros_like(points.v)), scale).max()
        except PendulaError:
            return ""
        if at_rest <= TOLERANCE:
            return "At rest the two sides agree at all poses: the difference is in terms that contain speeds."
        return "The two sides differ at rest too: look first at inertia and forces, then at terms that contain speeds."

    def remark_on_agreement(self, numbers: Numbers, rows: Array | None, points: Points, scale: Array) -> str:
        """Remarks on equations that agree: whether M and f are ours, and which parameters they are tied to."""
        remarks = []
        if numbers.M is not None and rows is not None:
            same = matches(numbers, rows)
            ours = all(match is not None and match.is_ours for match in same)
            how = "equal the model's entry by entry" if ours else "differ from the model's, but are equivalent"
            remarks.append(f"M and f {how}.")
        bound = self.bound_parameters(points, scale)
        if bound:
            listed = ", ".join(f"{name} ({value:.6g})" for name, value in bound.items())
            remarks.append(
                f"They agree only for these values of the parameters: {listed}. With another value they differ: a "
                "factor is missing, or a number replaces a parameter."
            )
        return " ".join(remarks)

    def bound_parameters(self, points: Points, scale: Array) -> dict[str, float]:
        """Parameters whose change alone makes the two sides differ."""
        found = {}
        for name, value in zip(self.system.layout.parameters, map(float, self.system.parameters), strict=True):
            changed = self.with_parameter(name, 1.3 * value if value else 0.37, points)
            if changed is not None and self.max_gap(changed, scale) > TOLERANCE:
                found[name] = value
        return found

    def max_gap(self, points: Points, scale: Array) -> float:
        """Largest difference; 0 if one side has no accelerations."""
        try:
            return float(self.gaps(points, scale).max(initial=0.0))
        except PendulaError:
            return 0.0

    def with_parameter(self, name: str, value: float, points: Points) -> Points | None:
        """Some states with one parameter (and those that depend on it) changed; None if that is impossible."""
        some = points.chosen(slice(_VARIED))
        try:
            p = parameter_vector(self.system, {name: value})
        except PendulaError:
            return None
        if not self.system.loop_rows:
            return replace(some, p=p)
        kept, q, v = [], np.array(some.q), np.array(some.v)
        for k in range(len(some.t)):
            state = State(float(some.t[k]), some.q[k], some.v[k], self.system.layout)
            try:
                closed = assemble(self.system, state, parameters=p).state
            except PendulaError:
                continue
            q[k], v[k] = closed.q, closed.v
            kept.append(k)
        return replace(some, q=q, v=v, p=p).chosen(kept) if kept else None


def random_points(system: System, states: int, seed: int) -> Points:
    """Random consistent states, with random inputs, since a zero input would hide an error in its term."""
    t, q, v = random_states(system, states, seed)
    u = np.zeros((states, len(system.layout.inputs)))
    if system.layout.inputs:
        noise = np.random.default_rng(seed).normal(size=u.shape)
        u = np.array([system.inputs.at(x, system.parameters) for x in t]) + noise
    return Points(t, q, v, u, system.parameters)


def check_determined(given: Given, system: System, numbers: Numbers, at: Points) -> None:
    """Raises UsageError if the given equations do not determine every acceleration."""
    bad = np.flatnonzero(~(_conditions(numbers.A) < SINGULAR))
    if not bad.size:
        return
    layout = system.layout
    entry = "M" if given.form == "M" else given.form
    for k, name in enumerate([*map(acceleration_name, layout.speeds), *given.unknowns]):
        if not numbers.A[:, :, k].any():
            given.refuse(entry, f'"{name}" occurs in none of them, so it is not determined')
    for k, label in enumerate(_labels(given)):
        if not numbers.A[:, k].any():
            given.refuse(label, "it contains no acceleration, so the accelerations are not determined")
    pairs = [("t", at.t[bad[0]]), *list(zip(layout.coordinates, at.q[bad[0]], strict=True))[:6]]
    place = ", ".join(f"{name} = {x:.4g}" for name, x in pairs)
    what = "M is singular or nearly so" if given.form == "M" else "the equations depend on each other"
    given.refuse(entry, f"{what} at {place}, so the accelerations are not determined")


def _labels(given: Given) -> list[str]:
    return [f"row of {name}" for name in given.order] if given.form == "M" else [row.label for row in given.rows]


def _difference(what: str, ours: float, theirs: float, size: float) -> Difference:
    """A difference with values at rounding level set to zero."""
    mine, other = (0.0 if abs(x) < 1e-12 * size else float(x) for x in (ours, theirs))
    return Difference(what, mine, other)


def _conditions(A: Array) -> Array:
    """Condition numbers after scaling rows and columns to a largest entry of 1; infinite for a zero row or column."""
    rows = np.abs(A).max(axis=2, keepdims=True)
    scaled = A / np.where(rows > 0, rows, 1.0)
    columns = np.abs(scaled).max(axis=1, keepdims=True)
    found = np.linalg.cond(scaled / np.where(columns > 0, columns, 1.0))
    return np.where(np.isfinite(found), found, np.inf)


def _solution(numbers: Numbers, conditions: Array) -> Array:
    """Accelerations and unknowns of A x + b = 0 (meaningless where A is singular)."""
    safe = np.where((conditions < SINGULAR)[:, None, None], numbers.A, np.eye(numbers.A.shape[1]))
    return np.linalg.solve(safe, -numbers.b[..., None])[..., 0]


def _typical(system: System, a: Array, v: Array) -> Array:
    """Typical size of each acceleration over the states, one for all angles and one for all lengths."""
    kinds = np.array(system.layout.speed_kinds)
    typical = np.empty(len(kinds))
    for kind in set(kinds):
        same = kinds == kind
        size = float(np.median(np.abs(a[:, same]).max(axis=1)))
        typical[same] = size if size > 0 else max(float(np.median((v[:, same] ** 2).max(axis=1))), 1e-300)
    return typical
