"""Checks of expressions: the names that each may use, and whether it has a finite value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, assert_never

from pendula.errors import Problem
from pendula.model.base import Element
from pendula.model.bodies import GROUND
from pendula.model.checks.references import sides
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.functions import SWITCHING
from pendula.model.fields import Use, marked_fields
from pendula.model.joints import Side
from pendula.model.names import ExpressionError, quote, suggestion
from pendula.model.parts import Parts

Places = Iterable[tuple[str, Expression]]


class Found(NamedTuple):
    """An expression in an element: its place, and the names that the field's annotation allows (None: not stated)."""

    place: str
    expression: Expression
    use: Use | None


def expressions(value: Any, place: str = "") -> list[Found]:
    """Every expression in a value; those of an element are found by the annotations of its fields.

    The sides of joints and forces are omitted: the names that they may use depend on their body.
    """
    found: list[Found] = []
    _collect(value, place, None, found)
    return found


def _collect(value: Any, place: str, use: Use | None, found: list[Found]) -> None:
    if isinstance(value, (str, int, float)):
        if not isinstance(value, bool):
            found.append(Found(place, parse(value), use))
    elif isinstance(value, (tuple, list)):
        for k, entry in enumerate(value):
            _collect(entry, f"{place}[{k}]", use, found)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            _collect(entry, f"{place}.{key}" if key else place, use, found)
    elif isinstance(value, Element) and not isinstance(value, Side):
        start = f"{place}." if place else ""
        for field in marked_fields(type(value)):
            entry = getattr(value, field.name)
            if entry is not None:
                _collect(entry, start + field.label, field.use or use, found)


def scalars(value: Any, place: str) -> Iterator[tuple[str, Expression]]:
    """Every expression in a value, with its place."""
    return ((found.place, found.expression) for found in expressions(value, place))


def check_expressions(parts: Parts) -> Iterator[Problem]:
    """Names that are not allowed in an expression, and expressions without a finite value."""
    for name, message in parts.parameter_problems:
        cause, _, advice = message.partition("; did you mean ")
        yield Problem(f"parameter {quote(name)}", "", cause, f"did you mean {advice}" if advice else "")
    use = _Use(parts)
    for name, value in parts.inputs.items():
        yield from use.of_state(f"input {quote(name)}", scalars(value, ""))
    yield from use.constant("model", scalars(parts.gravity, "gravity"))
    for name, value in parts.initial.items():
        if isinstance(value, str) and value in use.good:
            continue
        yield from use.constant(f"initial {quote(name)}", scalars(value, ""))
    for element, body in parts.bodies:
        yield from use.element(element, body, Use.PARAMETERS)
    for element, joint in parts.joints:
        yield from _in_sides(use, element, joint)
        yield from use.element(element, joint, Use.PARAMETERS)
    for element, force in parts.forces:
        yield from _in_sides(use, element, force)
        yield from use.element(element, force, Use.EVERYTHING, fixed=force.law.fixed_fields)


def _in_sides(use: _Use, element: str, item: Any) -> Iterator[Problem]:
    for place, side in sides(item):
        if side.position is None and side.rotation is None:
            continue
        check = use.with_time if side.body == GROUND else use.constant
        yield from check(element, scalars(side.position, f"{place}.position"))
        if side.body == GROUND:
            yield from _smooth(element, scalars(side.position, f"{place}.position"))
        yield from use.constant(element, scalars(side.rotation, f"{place}.rotation"))


def _smooth(element: str, found: Places, *, switches: bool = True) -> Iterator[Problem]:
    """Prescribed motions may switch only at times known in advance: ``t < ...`` with a fixed time.

    The pose of a joint (``switches`` false) must not switch at all, since the jump would depend on coordinates.
    """
    for place, expression in found:
        if "t" in expression.names:
            fault = expression.fold(_fault_in_time)[1]
            if not fault and not switches and expression.fold(_compares_time)[1]:
                fault = "the pose of a joint has a condition on t"
            if fault:
                advice = "write the pieces with conditions on t, such as a*cos(w*t) if t < pi/w else -a"
                if not switches:
                    advice = "prescribe the coordinate of a separate joint instead (motion = ...)"
                yield Problem(element, place, f"{fault}, so it may jump where this cannot be determined", advice)


def _fault_in_time(node: ex.Node, parts: tuple[tuple[bool, str], ...]) -> tuple[bool, str]:
    """(depends on t, fault) of a part of an expression."""
    timed = any(depends for depends, _ in parts) or node == ex.Name("t")
    fault = next((text for _, text in parts if text), "")
    if isinstance(node, ex.Call) and node.function in SWITCHING and timed:
        fault = fault or f"a prescribed motion uses {node.function} of time"
    if isinstance(node, ex.Compare) and timed:
        plain = [side == ex.Name("t") for side in (node.a, node.b)]
        steady = [not depends for depends, _ in parts]
        if not ((plain[0] and steady[1]) or (plain[1] and steady[0])):
            fault = fault or "a prescribed motion has a condition that is not t against a fixed time"
    return timed, fault


def _compares_time(node: ex.Node, parts: tuple[tuple[bool, bool], ...]) -> tuple[bool, bool]:
    """(depends on t, contains a comparison that depends on t)."""
    timed = any(depends for depends, _ in parts) or node == ex.Name("t")
    return timed, any(found for _, found in parts) or (isinstance(node, ex.Compare) and timed)


class _Use:
    """Checks expressions against the names they may use; each text is evaluated once."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.known = parts.constants
        self.others = {*parts.state, *parts.inputs, *parts.unread_inputs, "t"}
        self.moving = {*parts.state, "t"}
        self.good: set[str] = set()
        self.sound: set[Any] = set()

    def element(self, element: str, item: Any, default: Use, *, fixed: Collection[str] = ()) -> Iterator[Problem]:
        """All expressions of an element, unless an element with equal expressions has none of these problems."""
        fields = [getattr(item, field.name) for field in marked_fields(type(item))]
        written = (type(item), *[value for value in fields if not isinstance(value, Side)])
        if written in self.sound:
            return
        problems = list(self._in_element(element, item, default, fixed))
        yield from problems
        if not problems and not any(field.use is Use.COORDINATES for field in marked_fields(type(item))):
            self.sound.add(written)

    def _in_element(self, element: str, item: Any, default: Use, fixed: Collection[str]) -> Iterator[Problem]:
        """All expressions of an element; ``fixed`` fields use parameters only, others follow their annotation."""
        for found in expressions(item):
            if found.expression.is_number:
                continue
            one = [(found.place, found.expression)]
            match Use.PARAMETERS if found.place in fixed else found.use or default:
                case Use.PARAMETERS:
                    yield from self.constant(element, one)
                case Use.TIME:
                    yield from self.with_time(element, one)
                    yield from _smooth(element, one)
                case Use.COORDINATES:
                    yield from _smooth(element, one, switches=False)
                    yield from self.check(element, one, {*item.coordinate_names(), "t"}, Use.COORDINATES.value)
                case Use.EVERYTHING:
                    yield from self.anything(element, one)
                case other:
                    assert_never(other)

    def constant(self, element: str, found: Places) -> Iterator[Problem]:
        """Expressions of parameters."""
        return self.check(element, found, (), Use.PARAMETERS.value)

    def with_time(self, element: str, found: Places) -> Iterator[Problem]:
        """Expressions of parameters and time."""
        return self.check(element, found, ("t",), Use.TIME.value)

    def of_state(self, element: str, found: Places) -> Iterator[Problem]:
        """Expressions of parameters, time and state, without inputs: a feedback law."""
        return self.check(element, found, self.moving, "parameters, coordinates, speeds and t")

    def anything(self, element: str, found: Places) -> Iterator[Problem]:
        """Expressions of all names of the model."""
        return self.check(element, found, self.others, Use.EVERYTHING.value)

    def check(self, element: str, found: Places, more: Collection[str], words: str) -> Iterator[Problem]:
        """Expressions of parameters and of the names in ``more``."""
        for place, expression in found:
            if expression.is_number:
                continue
            missing = sorted(name for name in expression.names if name not in self.known and name not in more)
            for name in missing:
                if not (self.parts.may_exist(name) and (more is self.others or more is self.moving)):
                    yield self._missing(element, place, expression, name, more, words)
            if not missing and expression.text not in self.good and expression.names <= self.parts.values.keys():
                try:
                    expression.evaluate(self.parts.values)
                    self.good.add(expression.text)
                except ExpressionError as error:
                    yield Problem(element, place, str(error), "check the values of the parameters")

    def _missing(
        self, element: str, place: str, expression: Expression, name: str, more: Collection[str], words: str
    ) -> Problem:
        where = "" if str(expression) == name else f" in {quote(str(expression))}"
        if name in self.others:
            cause = f"{quote(name)}{where} cannot be used here; it may use {words}"
            return Problem(element, place, cause, "write it with parameters" if name != "t" else "remove t")
        advice = suggestion(name, {*self.known, *more}, f"add {quote(name)} to [parameters]")
        return Problem(element, place, f"{quote(name)}{where} is not known; it may use {words}", advice)
