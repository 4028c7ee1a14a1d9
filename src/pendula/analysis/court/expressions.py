"""The expressions of a model, as compiled programs evaluate them, compared with a second reader in 50 digits.

All formulations share one reader of expressions, so their agreement says nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pendula.analysis.court.second_reader import DIGITS, NoValue, Value, evaluate_text
from pendula.model.checks.references import sides
from pendula.model.checks.usage import expressions, scalars
from pendula.model.expressions.expression import Expression, parse
from pendula.model.forces import actions as ac
from pendula.model.model import Model
from pendula.model.names import quote
from pendula.system.layout import Array
from pendula.system.switches.watching import watch_program
from pendula.system.system import System
from pendula.words import counted, readable

ROUNDINGS = 1e3
"""a difference of up to this many roundings of every step is one of rounding: compiled code may order them otherwise"""
MOST_STATES = 12
"""expressions of the state are evaluated at this many states: 50 digits take time"""
TIMES = (0.0, 1.0, 10.0, 137.0)
"""further times at which expressions of time are evaluated"""
LARGEST = 1.7e308
SMALLEST = 1e-305
"""values beyond these are infinite or zero as doubles"""


class Place(NamedTuple):
    """An expression of a model: element, field and text."""

    element: str
    field: str
    text: str

    def __str__(self) -> str:
        inside = f", {self.field}" if self.field else ""
        return f"{self.element}{inside}: {quote(self.text)}"


@readable
@dataclass(frozen=True)
class ExpressionDifference:
    """An expression that the compiled program and the second reader evaluate differently.

    Attributes:
        place: element, field and text of the expression.
        compiled: its value in the compiled program.
        independent: its value by the second reader.
        state: the state, in words.
        size: the difference, relative to the value.

    Example:
        >>> import pendula
        >>> pendula.check("pendulum", formulations=["lagrange", "kane"], states=5).expressions.differences
        ()
    """

    place: Place
    compiled: float
    independent: float
    state: str
    size: float

    def __str__(self) -> str:
        values = f"{self.compiled:.12g} as compiled and {self.independent:.12g} by an independent evaluation"
        return f"{self.place} is {values} at {self.state}"


@readable
@dataclass(frozen=True)
class ExpressionCheck:
    """All expressions of a model, compared with a second reader.

    Attributes:
        count: number of expressions compared.
        max_difference: largest relative difference that rounding does not explain, or 0.
        differences: expressions that differ, each at the state where it differs most.
        skipped: expressions without a value at all states tried, or with names that are not known there.

    Example:
        >>> import pendula
        >>> pendula.check("pendulum", formulations=["lagrange", "kane"], states=5).expressions.passed
        True
    """

    count: int
    max_difference: float
    differences: tuple[ExpressionDifference, ...]
    skipped: tuple[Place, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all agree."""
        return not self.differences

    def __str__(self) -> str:
        verdict = "agree" if self.passed else "DISAGREE"
        head = f"{counted(self.count, 'expression')} of the model {verdict} with an independent evaluation"
        return "\n".join([head, *(f"  {one}" for one in self.differences)])


NOT_COMPARED = ExpressionCheck(0, 0.0, ())


def check_expressions(
    system: System, t: Array, q: Array, v: Array, formulations: Mapping[str, System] = MappingProxyType({})
) -> ExpressionCheck:
    """Compares all expressions of a model at some states.

    Args:
        system: in joint coordinates.
        t, q, v: the states.
        formulations: the same model by several formulations, by name: generalized forces in their equations are
            also compared, which detects errors that a formulation makes after the expressions were read.
    """
    model, known = system.model, system.symbols()
    found = list(_places(model))
    constants = _parameters(model)
    usable = [(place, e) for place, e in found if e.names <= set(known)]
    states = _states(system, t, q, v)
    program = watch_program(system, [e for _, e in usable], system.parameters)
    compiled = program.rows(np.array([[s["t"], *(s[n] for n in _state_names(system))] for s in states]))
    differences: list[ExpressionDifference] = []
    skipped = [place for place, e in found if not e.names <= set(known)]
    for k, (place, expression) in enumerate(usable):
        fixed = expression.names <= set(model.parameters)
        worst, tried = _compared(model, place, states[:1] if fixed else states, constants, compiled[:, k])
        skipped += [] if tried else [place]
        differences += [worst] if worst is not None else []
    differences += _parameter_differences(system, constants)
    for name, other in formulations.items():
        if other.in_joints.system is other:
            differences += _in_equations(other, f"equations by {name}", states, constants)
    largest = max((one.size for one in differences), default=0.0)
    count = len(usable) + len(constants) - sum(place in skipped for place, _ in usable)
    skipped += [_parameter(model, name) for name in model.parameters if name not in constants]
    return ExpressionCheck(count, largest, tuple(differences), tuple(skipped))


def _places(model: Model) -> Iterator[tuple[Place, Expression]]:
    """Every expression of a model except those of parameters, with its place."""
    for name, value in model.inputs.items():
        yield from _named(f"input {quote(name)}", scalars(value, ""))
    yield from _named("model", scalars(model.gravity, "gravity"))
    groups: dict[str, Any] = {"body": model.bodies, "joint": model.joints, "force": model.forces}
    for kind, elements in groups.items():
        for k, element in enumerate(elements):
            title = f"{kind} {quote(element.name)}" if element.name else f"{kind} {k + 1}"
            yield from _named(title, ((one.place, one.expression) for one in expressions(element)))
            if kind != "body":
                for place, side in sides(element):
                    yield from _named(title, scalars(side.position or (), f"{place}.position"))


def _named(element: str, found: Any) -> Iterator[tuple[Place, Expression]]:
    for place, expression in found:
        yield Place(element, place, expression.text), expression


def _parameters(model: Model) -> dict[str, Value]:
    """Parameters by the second reader; each may depend on others. Those that have no value for it are left out."""
    values: dict[str, Value] = {}
    left = {name: parse(value) for name, value in model.parameters.items()}
    while left:
        ready = [name for name, e in left.items() if e.names <= set(values)]
        for name in ready:
            with suppress(NoValue):
                values[name] = evaluate_text(left.pop(name).text, values)
        if not ready:
            break
    return values


def _parameter_differences(system: System, values: Mapping[str, Value]) -> Iterator[ExpressionDifference]:
    for name, used in system.layout.parameter_values(system.parameters).items():
        place = _parameter(system.model, name)
        size = _difference(used, values[name]) if name in values else 0.0
        if size:
            yield ExpressionDifference(place, used, float(values[name].x), "all states", size)


def _parameter(model: Model, name: str) -> Place:
    return Place(f"parameter {quote(name)}", "", str(model.parameters[name]))


def _state_names(system: System) -> list[str]:
    return [*system.layout.coordinates, *system.layout.speeds]


def _states(system: System, t: Array, q: Array, v: Array) -> list[dict[str, float]]:
    """Values of t, coordinates and speeds by name: at the states, and at some with other times."""
    rows = [(float(t[k]), q[k], v[k]) for k in range(min(len(t), MOST_STATES))]
    rows += [(time, q[k % len(t)], v[k % len(t)]) for k, time in enumerate(TIMES)]
    names = _state_names(system)
    return [{"t": time, **dict(zip(names, map(float, (*a, *b)), strict=True))} for time, a, b in rows]


def _compared(
    model: Model, place: Place, states: list[dict[str, float]], constants: Mapping[str, Value], compiled: Array
) -> tuple[ExpressionDifference | None, bool]:
    """The largest difference over some states, and whether there is a value at any of them."""
    worst, tried = None, False
    for state, used in zip(states, compiled, strict=False):
        try:
            true = evaluate_text(place.text, _Names(model, {**constants, **state}))
        except NoValue:
            continue
        tried = True
        size = _difference(float(used), true)
        if size and (worst is None or size > worst.size):
            text = ", ".join(f"{name} = {x:.6g}" for name, x in state.items())
            worst = ExpressionDifference(place, float(used), float(true.x), text, size)
    return worst, tried


def _difference(used: float, true: Value) -> float:
    """The relative difference of a double from a value in many digits; 0 if rounding explains it."""
    size = float(abs(true.x))
    if size > LARGEST and not np.isfinite(used):
        return 0.0
    gap = float(abs(true.x - used)) if np.isfinite(used) else np.inf
    allowed = ROUNDINGS * 1.2e-16 * float(true.rounding + abs(true.x)) + SMALLEST
    return 0.0 if gap <= allowed else min(gap / max(size, SMALLEST), 1e300)


def _in_equations(
    system: System, element: str, states: list[dict[str, float]], constants: Mapping[str, Value]
) -> Iterator[ExpressionDifference]:
    """Generalized forces as they stand in the equations, where no other applied force joins them."""
    actions = [action for force in system.model.forces for action in force.actions()]
    given = [action for action in actions if isinstance(action, ac.OnCoordinate)]
    if not given or any(isinstance(action, ac.Push | ac.Twist | ac.Spin) for action in actions):
        return
    speeds, eq = system.layout.speeds, system.equations
    program = system.watching([f"applied {s}" for s in speeds], list(eq.parts.free["applied"]), system.parameters)
    compiled = program.rows(np.array([[s["t"], *(s[n] for n in _state_names(system))] for s in states]))
    for k, speed in enumerate(speeds):
        texts = [f"({x.value})" for x in given if speed in (x.coordinate, f"{x.coordinate}_dot")]
        if texts:
            place = Place(element, f"force on {speed}", " + ".join(texts))
            worst, _ = _compared(system.model, place, states, constants, compiled[:, k])
            if worst is not None:
                yield worst


class _Names(dict[str, Any]):
    """Values of names; inputs and prescribed motions with their rates follow from their own texts."""

    def __init__(self, model: Model, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._without = {*model.parameters} - {*values}
        self._inputs = {name: parse(value).text for name, value in model.inputs.items()}
        self._motions = {name: parse(x).text for joint in model.tree for name, x in joint.prescribed().items()}

    def __missing__(self, name: str) -> Value:
        if name in self._without:
            raise NoValue(f"the parameter {name} has none")
        if name in self._inputs:
            return evaluate_text(self._inputs[name], self)
        if name in self._motions:
            return evaluate_text(self._motions[name], self)
        return self._rate(self._motions[name.removesuffix("_dot")])

    def _rate(self, text: str) -> Value:
        """The rate of a prescribed motion, by a central difference in 50 digits."""
        from mpmath import mpf, workdps  # slow to load

        with workdps(DIGITS):
            step = mpf(10) ** (-DIGITS // 3)
            ends = [evaluate_text(text, _With(self, mpf(self["t"]) + sign * step)) for sign in (1, -1)]
            rate = (ends[0].x - ends[1].x) / (2 * step)
            return Value(rate, abs(rate) * 10 + ends[0].rounding)


class _With(dict[str, Any]):
    """The same names at another time."""

    def __init__(self, names: _Names, t: Any) -> None:
        super().__init__({"t": t})
        self._names = names

    def __missing__(self, name: str) -> Any:
        return self._names[name]
