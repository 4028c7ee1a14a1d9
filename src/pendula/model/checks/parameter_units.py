"""Units of parameters, as far as the places where they are used tell them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pendula.model.checks.usage import scalars
from pendula.model.expressions.expression import Expression, ExpressionError, parse
from pendula.model.forces import ForceDamper, ForceFriction, ForceSpring
from pendula.model.model import Model

_LENGTHS = ("length", "com", "diameter", "radius", "thickness", "size", "position", "points", "at")


def parameter_units(model: Model) -> dict[str, str]:
    """Unit of every parameter that some field holds as it is, or adds to something; others are left out.

    Parameters have no units of their own: numbers are used as they are. A field such as a mass does have one, so a
    parameter that stands there has it, too. Multiples tell nothing, since a number may hide a unit. Where two fields
    disagree, the parameter is left out.

    Example:
        >>> from pendula import library
        >>> units = parameter_units(library.double_pendulum())
        >>> units["l"], units["g"], units["k1"]
        ('ft', 'ft/s^2', 'ft-lb/rad')
    """
    found: dict[str, set[str]] = {}
    for unit, expression in _fields(model):
        for name in expression.names & model.parameters.keys():
            if unit and _is_term(expression, name):
                found.setdefault(name, set()).add(unit)
    return {name: next(iter(units)) for name, units in found.items() if len(units) == 1}


def _is_term(expression: Expression, name: str) -> bool:
    """Whether an expression is a name, or a sum in which it stands, with either sign."""
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
    """Every expression whose unit is known, with it."""
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
            yield _in_force(force, place, model, kinds), expression


def _in_body(place: str, model: Model) -> str:
    units = model.unit_names
    path = re.sub(r"\[\d+\]", "", place).split(".")
    field = "points" if "points" in path else path[-1]
    if field == "mass":
        return units.mass
    if field == "inertia":
        return f"{units.mass} {units.length}^2"
    return units.length if field in _LENGTHS else ""


def _in_force(force: Any, place: str, model: Model, kinds: dict[str, str]) -> str:
    units = model.unit_names
    field = place.split("[")[0]
    turning = force.type == "torsion-spring"
    if isinstance(force, (ForceDamper, ForceFriction, ForceSpring)) and force.joint is not None:
        owned = model.joint(force.joint)
        own: tuple[Any, ...] = owned.coordinates() if hasattr(owned, "coordinates") else ()
        if len(own) != 1:
            return ""
        turning = own[0].kind == "angle"
    match field:
        case "stiffness":
            return f"{units.torque}/rad" if turning else f"{units.force}/{units.length}"
        case "damping" | "coefficient" if force.type in ("com-friction", "spin-drive"):
            return f"{units.force} {units.time}/rad"
        case "damping" | "coefficient":
            return f"{units.torque} {units.time}/rad" if turning else f"{units.force} {units.time}/{units.length}"
        case "rest":
            return "rad"
        case "length" | "position":
            return units.length
        case "vector":
            return units.force if force.type == "force" else units.torque
        case "value":
            return {"rad": units.torque, units.length: units.force}.get(kinds.get(force.coordinate, ""), "")
    return ""
