"""Units of parameters, inferred from the fields that use them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import assert_never

from pendula.model.checks.usage import scalars
from pendula.model.expressions.expression import Expression, parse
from pendula.model.forces.actions import Across, AcrossAll, Between, OnCoordinate, Push, Spin, Twist
from pendula.model.forces.base import Force
from pendula.model.joints import TreeJoint
from pendula.model.model import Model
from pendula.model.names import ExpressionError

_LENGTHS = ("length", "com", "diameter", "radius", "thickness", "size", "position", "points", "at")


def parameter_units(model: Model) -> dict[str, str]:
    """Unit of every parameter that is the value of some field, or a term of it; other parameters are omitted.

    Parameters have no stated units. A field such as a mass has one, so a parameter used there has it, too. In a product
    of two parameters, such as the mass rho*a, the unit of one gives that of the other (kg/m). Other multiples
    determine nothing, since a factor may have a unit. If two fields disagree, the parameter is omitted.

    Example:
        >>> from pendula import library
        >>> units = parameter_units(library.double_pendulum())
        >>> units["l"], units["g"], units["k1"]
        ('ft', 'ft/s^2', 'ft-lb/rad')
    """
    return _units_of(model, model.parameters)


def input_units(model: Model) -> dict[str, str]:
    """Unit of every input that is the value of some field of a force, or a term of it; others are omitted.

    Example:
        >>> from pendula import library
        >>> input_units(library.cart_pole())
        {'F': 'N'}
    """
    return _units_of(model, model.inputs)


def field_unit(model: Model, group: str, index: int, names: list[str]) -> str | None:
    """Unit of a field of a body, a side of a joint or a force, by the names of its path; None if it is not known.

    Example:
        >>> from pendula import library
        >>> field_unit(library.double_pendulum(), "bodies", 0, ["rod", "mass"])
        'slug'
    """
    if group == "bodies":
        return _in_body(".".join(names), model) or None
    if group == "joints":
        return model.unit_names.length if "position" in names else None
    force = model.forces[index]
    return _in_force(force, names[0], model) or None


def _units_of(model: Model, names: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for unit, expression in _fields(model):
        for name in expression.names & names.keys():
            if unit and _is_term(expression, name):
                found.setdefault(name, set()).add(unit)
    known = {name: next(iter(units)) for name, units in found.items() if len(units) == 1}
    shares: dict[str, set[str]] = {}
    for unit, expression in _fields(model):
        for name in expression.names & names.keys() - found.keys():
            for other in expression.names & known.keys():
                by = known[other]
                if unit != by and _simple(unit) and _simple(by) and _is_product(expression, name, other):
                    shares.setdefault(name, set()).add(f"{unit}/{by}")
    return known | {name: next(iter(units)) for name, units in shares.items() if len(units) == 1}


def _simple(unit: str) -> bool:
    return unit.isalpha()


def _is_product(expression: Expression, name: str, other: str) -> bool:
    """Whether an expression is the product of two names, and nothing else."""
    if expression.names != {name, other}:
        return False
    try:
        return all(
            abs(expression.evaluate({name: x, other: y}) - x * y) < 1e-12
            for x, y in ((1.0, 1.0), (2.0, 3.0), (0.7, -1.9), (4.5, 0.3))
        )
    except ExpressionError:
        return False


def _is_term(expression: Expression, name: str) -> bool:
    """Whether an expression is a name, or a sum that contains it, with either sign."""
    slopes = set()
    for others in (0.7, 1.9):
        values = dict.fromkeys(expression.names, others)
        try:
            low, middle, high = (expression.evaluate(values | {name: x}) for x in (1.0, 2.0, 4.5))
        except ExpressionError:
            return False
        slopes |= {round(middle - low, 9), round((high - middle) / 2.5, 9)}
    return slopes in ({1.0}, {-1.0})


def _fields(model: Model) -> Iterator[tuple[str, Expression]]:
    """Every expression of known unit, with its unit."""
    units = model.unit_names
    for entry in model.gravity:
        yield f"{units.length}/{units.time}^2", parse(entry)
    kinds = {c.name: units.coordinate(c.kind) for c in model.coordinates}
    kinds |= {s.name: units.speed(s.kind) for s in model.speeds}
    for name, value in model.initial.items():
        if isinstance(value, (int, float, str)):
            yield kinds.get(name, ""), parse(value)
    for body in model.bodies:
        for place, expression in scalars(body, ""):
            yield _in_body(place, model), expression
    for joint in model.joints:
        for side in (joint.parent, joint.child):
            for entry in side.position or ():
                yield units.length, parse(entry)
    for force in model.forces:
        for place, expression in scalars(force, ""):
            yield _in_force(force, place, model), expression


def _in_body(place: str, model: Model) -> str:
    units = model.unit_names
    path = re.sub(r"\[\d+\]", "", place).split(".")
    field = "points" if "points" in path else path[-1]
    if field == "mass":
        return units.mass
    if field == "inertia":
        return f"{units.mass} {units.length}^2"
    return units.length if field in _LENGTHS else ""


def _in_force(force: Force, place: str, model: Model) -> str:
    """Unit of a field of a force, as its type states it; ``pull`` and ``x`` stand for the units of its law."""
    stated = type(force).units.get(place.split("[")[0], "")
    words = re.findall(r"\w+", stated)
    kind = _measured(force, model) if {"pull", "x"} & set(words) else "length"
    units = model.unit_names
    known = {"force": units.force, "torque": units.torque, "length": units.length, "time": units.time, "rad": "rad"}
    known |= {"length": {"pull": units.force, "x": units.length}, "angle": {"pull": units.torque, "x": "rad"}}.get(
        kind, {}
    )
    if not all(word in known for word in words):
        return ""
    return re.sub(r"\w+", lambda found: known[found.group()], stated)


def _measured(force: Force, model: Model) -> str:
    """Whether x of the force law is a length or an angle; another value if unknown."""
    for action in force.actions():
        match action:
            case Between():
                return "length"
            case Across(name, coordinate):
                return _kind(model, name, coordinate)
            case AcrossAll(name):
                return _kind(model, name, None)
            case OnCoordinate(coordinate):
                kinds = {c.name: c.kind for c in (*model.coordinates, *model.speeds)}
                return kinds.get(coordinate, "")
            case Push() | Twist() | Spin():
                continue
            case _:
                assert_never(action)
    return ""


def _kind(model: Model, joint: str, coordinate: str | None) -> str:
    owner = model.joint(joint)
    own = owner.coordinates() if isinstance(owner, TreeJoint) else ()
    if coordinate is None and len(own) != 1:
        return ""
    return next((str(c.kind) for c in own if coordinate in (None, c.name)), "")
