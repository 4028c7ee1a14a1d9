"""Events: zero crossings of expressions during a run, and whether they end it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pendula.arguments import shortly
from pendula.errors import UsageError
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.expression import Expression, parse
from pendula.model.names import ExpressionError
from pendula.numerics.steppers.stepping import Integration
from pendula.numerics.steppers.watch import Watched
from pendula.system.layout import Array
from pendula.system.switches.in_time import switch_times
from pendula.system.switches.watching import as_callback, check_names, names_of, sides_at, watch_program
from pendula.system.system import System
from pendula.words import counted, readable, some

DIRECTIONS = {"rising": 1, "falling": -1, "any": 0}
LONGEST_NAME = 100
BRIEF = 8  # an event is brief if the time before or after it is this many times longer

_WAY = re.compile(r"^(?P<body>.*\S)\s+(?P<way>rising|falling|any)$", re.DOTALL)
_LABEL = re.compile(r"^(?P<label>[^:=<>]*):(?P<body>.*)$", re.DOTALL)
_RELATION = re.compile(r"(>=|<=|==|=|>|<)")


@dataclass(frozen=True)
class Event:
    """An event to detect during a run: the zero crossings of an expression.

    Attributes:
        name: its name in results.
        expression: of t, coordinates, speeds, prescribed motions, inputs and parameters, as text.
        direction: "rising" (from below zero, in the order of the run), "falling" or "any".
        terminal: whether the event ends the run.
        count: with ``terminal``, the run ends at this occurrence (default: the first); otherwise only this number is
            recorded (default: all).
        limit: whether the zero is a limit that must not be passed: a run that starts exactly on it and passes it has
            its event at once, and a terminal limit that is already passed at the start raises UsageError.
        strict: whether a limit is reached only beyond zero (``>``) and not at zero (``>=``).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> lowest = pendula.Event("lowest point", "theta", "any", terminal=True, count=2)
        >>> run = pendula.simulate(system, 60.0, events=[lowest])
        >>> print(run.outcome, len(run.events["lowest point"]))
        stopped: an event ended the run 2
        >>> pendula.Event.read("stop: theta >= 90deg").terminal
        True
    """

    name: str
    expression: str
    direction: Literal["rising", "falling", "any"] = "any"
    terminal: bool = False
    count: int | None = None
    limit: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or len(self.name) > LONGEST_NAME:
            raise UsageError(f"an event needs a name of at most {LONGEST_NAME} characters, found {self.name!r}")
        if self.direction not in DIRECTIONS:
            raise UsageError(f'event "{self.name}": direction must be rising, falling or any, found {self.direction!r}')
        count = self.count
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise UsageError(f'event "{self.name}": count must be a positive integer, found {count!r}')
        if self.limit and self.direction == "any":
            raise UsageError(f'event "{self.name}": a limit needs a direction, rising or falling')
        if self.strict and not self.limit:
            raise UsageError(f'event "{self.name}": only a limit can be strict')
        root = zeros_of(self.parsed)
        if root is not None and not self.limit and self.direction != "any":
            raise UsageError(
                f'event "{self.name}": {self.parsed.to_text()} never changes sign, so it is neither rising nor falling '
                f'through zero.\n  Try: "{root.to_text()} = 0 {self.direction}".'
            )

    @cached_property
    def parsed(self) -> Expression:
        """The parsed expression."""
        try:
            return parse(self.expression)
        except ExpressionError as error:
            raise UsageError(f'event "{self.name}": {error}') from None

    @classmethod
    def read(cls, text: str, *, terminal: bool = False, direction: str | None = None) -> Event:
        """An event from one line of text.

        ``"theta1 = 0 rising"`` is a Poincare section crossed in one direction, ``"theta1 >= 90deg"`` a limit,
        ``"apex: theta1_dot"`` an expression with a name, and ``"stop: theta1 >= 90deg"`` ends the run.

        Args:
            text: the line.
            terminal: whether the event ends the run, even without ``stop:``.
            direction: the direction if the line states none; default: "any", or that of the inequality.

        Raises:
            UsageError: the line cannot be read.
        """
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f'an event must be an Event or text such as "theta1 = 0 rising", found {text!r}')
        body, label = " ".join(text.split()), ""
        while (found := _LABEL.match(body)) is not None:
            word, body = found["label"].strip(), found["body"].strip()
            if word == "stop" and not terminal:
                terminal = True
            elif word and not label:
                label = word
            else:
                raise UsageError(f'event "{text}": found more than one name before the expression')
        way = _WAY.match(body)
        stated = way["way"] if way else None
        if way:
            body = way["body"]
        name = label or (f"{body} {stated}" if stated else body)
        expression, inequality, strict = _difference(body, name)
        if inequality and stated:
            raise UsageError(f'event "{name}": an inequality implies its direction; omit "{stated}"')
        chosen = inequality or stated or direction or "any"
        return cls(name, expression, chosen, terminal, None, bool(inequality), strict)  # type: ignore[arg-type]


def _difference(body: str, name: str) -> tuple[str, str, bool]:
    """The expression whose zero is the event, the direction in which an inequality becomes true ('' if there is none),
    and whether that is strict.
    """
    pieces = _RELATION.split(body)
    signs = pieces[1::2]
    if not signs or ("=" not in signs and _is_expression(body)):  # comparisons inside "a if b < c else d"
        return body, "", False
    equals = [k for k, sign in enumerate(signs) if sign in ("=", "==")]
    if len(signs) > 1 and len(equals) != 1:
        raise UsageError(f'event "{name}": expected one =, >= or <=, found {len(signs)}')
    at = 2 * (equals[0] if equals else 0) + 1
    left, right = ("".join(part).strip() for part in (pieces[:at], pieces[at + 1 :]))
    for side in (left, right):
        try:
            parse(side)
        except ExpressionError as error:
            raise UsageError(f'event "{name}": {error}') from None
    expression = left if right in ("0", "0.0") else f"({left}) - ({right})"
    sign = pieces[at]
    return expression, {">": "rising", "<": "falling"}.get(sign[0], ""), sign in ("<", ">")


def zeros_of(expression: Expression) -> Expression | None:
    """What has the same zeros as an expression that never changes sign (abs or an even power); None for any other."""
    root: Any = expression.root
    touches = False
    while True:
        if isinstance(root, ex.Negate):
            root = root.x
        elif isinstance(root, ex.Multiply | ex.Divide) and isinstance(root.b, ex.Number):
            root = root.a
        elif isinstance(root, ex.Multiply) and isinstance(root.a, ex.Number):
            root = root.b
        elif isinstance(root, ex.Call) and root.function == "abs":
            root, touches = root.args[0], True
        elif isinstance(root, ex.Power) and isinstance(root.b, ex.Number) and root.b.value > 0 == root.b.value % 2:
            root, touches = root.a, True
        else:
            return Expression.from_node(root) if touches else None


def to_watch(event: Event) -> tuple[Expression, int, int]:
    """The function that shows an event, its direction, and its kind of limit (as in :class:`Watched`)."""
    root, way = zeros_of(event.parsed), DIRECTIONS[event.direction]
    if root is not None and not event.limit:
        return root, 0, 0
    return event.parsed, way, event.limit + event.strict


def times_of_pulses(system: System, events: Sequence[Event], vector: Array, span: tuple[float, float]) -> list[float]:
    """Times in a span at which events that depend on time alone begin and end, where they last so briefly that steps
    may miss them.
    """
    values, (low, high) = system.layout.parameter_values(vector), sorted(span)
    known, found = {"t", *values}, []
    for event in events:
        if low < high and "t" in event.parsed.names <= known:
            holds = ex.Conditional(ex.Compare(">=", event.parsed.root, ex.Number(0)), ex.Number(1), ex.Number(0))
            times = np.array([low, *switch_times([Expression.from_node(holds)], values, (low, high)), high])
            gaps = np.diff(times)
            brief = np.flatnonzero(BRIEF * gaps[1:-1] < np.maximum(gaps[:-2], gaps[2:])) + 1
            found += times[np.union1d(brief, brief + 1)].tolist()
    return found


def _is_expression(text: str) -> bool:
    try:
        parse(text)
    except ExpressionError:
        return False
    return True


@readable
@dataclass(frozen=True)
class Crossings:
    """The occurrences of one event: ``t``, ``q`` and ``v`` have one row for each.

    ``crossings["theta2"]`` is a coordinate or speed at those times.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 2.0, events=["theta = 0"])
        >>> found = run.events["theta = 0"]
        >>> len(found), abs(found["theta"]).max() < 1e-9
        (2, np.True_)
    """

    event: Event
    t: Array
    q: Array
    v: Array
    system: System
    parameters: Array

    @cached_property
    def joints(self) -> tuple[Array, Array]:
        """Joint coordinates and speeds, in any formulation."""
        return self.system.in_joints.read(self.q, self.v, self.t, parameters=self.parameters)

    def __getitem__(self, name: str) -> Array:
        layout = self.system.in_joints.layout
        if name in (*layout.coordinates, *layout.speeds):
            which, k = layout.position(name)
            return self.joints[0 if which == "q" else 1][:, k]
        which, k = self.system.layout.position(name)
        return (self.q if which == "q" else self.v)[:, k]

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        when = f", t = {some([f'{t:.6g}' for t in self.t])}" if len(self) else ""
        return f"{self.event.name}: {counted(len(self), 'crossing')}{when}"


SINGULAR = Event("singular pose", "0")
"""singular poses that a run passed; they are found by the constraints, not by an expression"""


SWITCH = Event("chart switch", "0")
"""where a run changed the coordinates of an orientation; found by their distance from a singularity"""


def read_events(events: Sequence[Event | str] | None) -> tuple[Event, ...]:
    """Events from objects or text.

    Raises:
        UsageError: one cannot be read, or two have the same name.
    """
    if isinstance(events, (str, Event)):
        events = [events]
    if events is not None and not isinstance(events, Iterable):
        raise UsageError(f'events must be a list, such as ["theta = 0"], found {shortly(events)}')
    found = tuple(e if isinstance(e, Event) else Event.read(e) for e in (() if events is None else events))
    names = [e.name for e in found]
    for own in (SINGULAR, SWITCH):
        if own.name in names:
            raise UsageError(f'"{own.name}" is the name under which runs record such poses; choose another')
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise UsageError(f'two events are called "{twice[0]}"; give one of them a name: "name: {twice[0]}"')
    return found


def watch_events(system: System, events: Sequence[Event], vector: Array, t: float, y: Array) -> Watched | None:
    """The events as functions for the stepper to watch; None if there are none.

    Raises:
        UsageError: an expression has an unknown name or no value at the start, or a terminal limit already holds.
    """
    if not events:
        return None
    known = names_of(system)
    for event in events:
        check_names(event.parsed, known, f'event "{event.name}"')
    functions, ways, limits = zip(*map(to_watch, events))
    program = watch_program(system, functions, vector)
    size = len(system.layout.coordinates) + len(system.layout.speeds)
    try:
        sides = sides_at(program, t, y[:size])
    except ValueError as error:
        name = events[error.args[0]].name
        raise UsageError(f'event "{name}": its expression has no finite value at the start (t = {t:g})') from None
    for k, event in enumerate(events):
        if not event.limit:
            continue
        if event.terminal and sides[k] == ways[k]:
            raise UsageError(f'event "{event.name}" would end the run, but already holds at the start')
        if sides[k] == 0:
            sides[k] = -ways[k]  # so that leaving it counts as a crossing
    return Watched(
        callback=as_callback(program),
        directions=ways,
        stops=[(e.count or 1) if e.terminal else 0 for e in events],
        keeps=[0 if e.terminal else e.count or 0 for e in events],
        sides=sides.tolist(),
        names=[e.name for e in events],
        limits=limits,
    )


def crossings_of(system: System, events: Sequence[Event], run: Integration, vector: Array) -> Mapping[str, Crossings]:
    """Occurrences by name of the event."""
    split, found = system.layout.split, {}
    for k, event in enumerate(events):
        own = run.event_which == k
        found[event.name] = Crossings(event, np.array(run.event_t[own]), *split(run.event_y[own]), system, vector)
    if run.singular_t.size:
        found[SINGULAR.name] = Crossings(SINGULAR, run.singular_t, *split(run.singular_y), system, vector)
    return found


def event_notes(system: System, events: Sequence[Event], run: Integration) -> tuple[str, ...]:
    """Notes on crossings that may be missing: events that oscillate too quickly for the steps, or only touch zero."""
    unit = system.layout.time_unit
    touches = tuple(
        f'event "{event.name}" may touch zero without crossing it (at t = {at:.9g} {unit}); that is not counted: try '
        + (f'"{root.to_text()} = 0"' if (root := zeros_of(event.parsed)) else "an expression that changes sign there")
        for event, at in zip(events, run.event_touched, strict=False)
        if np.isfinite(at)
    )
    return touches + tuple(
        f'event "{event.name}" oscillates too quickly for the steps (from t = {at:.4g} {unit}), so crossings may be '
        'missing: try stepper="rk4" with a short step=..., or an equivalent smoother expression'
        for event, at in zip(events, run.event_hurried, strict=False)
        if np.isfinite(at)
    )
