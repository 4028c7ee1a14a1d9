"""The variables of an FMU: names, units, roles and start values, in the order of their value references."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import symengine as se

from pendula.analysis.reactions.motors import motor_name, motor_unit
from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.equations.tape import is_zero
from pendula.equations.translate import translate
from pendula.exchange.blocks import Blocks
from pendula.model.checks.parameter_units import parameter_units
from pendula.model.expressions.expression import parse
from pendula.system.layout import Array

HELD = ("revolute", "spherical", "universal", "fixed")
"""joints that hold a point: the whole force that they transmit is a reaction"""
SAME = 1e-9  # an initial value that the closing of loops did not move


@dataclass(frozen=True)
class Variable:
    """One variable.

    Attributes:
        name, unit, description: what users see.
        role: "time", "state", "derivative", "parameter", "derived", "input" or "output".
        start: value of the model; None where it is computed.
        of: of a derivative, the index of its state among the variables.
    """

    name: str
    role: str
    unit: str = ""
    description: str = ""
    start: float | None = None
    of: int = 0


@dataclass(frozen=True)
class Output:
    """A value that is computed along the motion: its name, unit, description and expression."""

    name: str
    unit: str
    description: str
    expression: Any


def outputs_of(eq: Equations, undetermined: Collection[str] = ()) -> list[Output]:
    """Energies, forces of prescribed motions, and reactions at joints, if the formulation derives them.

    Args:
        eq: the equations.
        undetermined: outputs to leave out, because the equations leave these forces open.
    """
    units = eq.model.unit_names
    found = [
        Output("kinetic energy", units.energy, "kinetic energy", eq.kinetic),
        Output("potential energy", units.energy, "potential energy", eq.potential),
    ]
    joints = {joint.name: joint for joint in eq.model.joints}
    for reaction in eq.transmitted:
        if getattr(joints.get(reaction.joint), "type", "") in HELD:
            words = f"force at joint {reaction.joint} on its child side, in world axes"
            pairs = zip("xyz", reaction.force, strict=True)
            found += [Output(f"{reaction.joint}.force.{a}", units.force, words, e) for a, e in pairs if not is_zero(e)]
    lam = eq.multiplier_symbols
    for d, drive in enumerate(eq.drives):
        pull = -eq.drive_f[d] + se.Add(*(eq.drive_M[d][j] * a for j, a in enumerate(eq.acceleration_symbols)))
        pull -= se.Add(*(eq.drive_G[r][d] * x for r, x in enumerate(lam))) if lam and len(eq.drive_G) else 0
        name, unit = motor_name(drive.name), motor_unit(drive.kind, units)
        found.append(Output(f"{name}.drive", unit, "force or torque of this prescribed motion", pull))
    return [output for output in found if output.name not in undetermined]


def start_expressions(eq: Equations, start: Array) -> list[Any]:
    """Initial values of all states: expressions of parameters where the model gives these values, otherwise numbers."""
    known = {n: se.Symbol(n) for n in eq.model.parameters}
    values = eq.model.parameter_values
    found: list[Any] = []
    for symbol, number in zip((*eq.q, *eq.v), start.tolist(), strict=True):
        given = eq.model.initial.get(str(symbol))
        entry: Any = number
        if isinstance(given, (str, int, float)):
            expression = parse(given)
            if abs(expression.evaluate(values) - number) <= SAME:
                entry = se.sympify(translate(expression, known))
        found.append(entry)
    return found


def variables_of(eq: Equations, blocks: Blocks, outputs: Sequence[Output]) -> list[Variable]:
    """All variables; the engine's value references are their indices."""
    first, *rest = _variables(eq, blocks, outputs)
    taken = {variable.name for variable in rest}
    while first.name in taken:  # a parameter may be called "time"
        first = replace(first, name=f"{first.name}_")
    return [first, *rest]


def _variables(eq: Equations, blocks: Blocks, outputs: Sequence[Output]) -> Iterator[Variable]:
    names = eq.model.unit_names
    units, rates = blocks.layout.units, f"/{names.time}"
    states = [*map(str, eq.q), *map(str, eq.v)]
    yield Variable("time", "time", names.time, "time")
    for name, value in zip(states, blocks.start.tolist(), strict=True):
        yield Variable(name, "state", units.get(name, ""), start=value)
    kinds = {s.name: names.acceleration(s.kind) for s in eq.speeds} | {
        c.name: names.speed(c.kind) for c in eq.coordinates
    }
    for k, name in enumerate(states):
        unit = kinds.get(name, "") or f"1{rates}"
        yield Variable(f"der({name})", "derivative", unit, f"rate of {name}", of=1 + k)
    of_parameters, given = parameter_units(eq.model), Given.of(eq.model)
    for name, value in given.independent.items():
        yield Variable(name, "parameter", of_parameters.get(name, ""), start=value)
    for name, _ in given.derived:
        yield Variable(name, "derived", of_parameters.get(name, ""), "follows from other parameters")
    values = eq.model.parameter_values
    for symbol in eq.u:
        text = eq.model.inputs[str(symbol)]
        start = float(parse(text).evaluate({**values, "t": 0.0}))
        yield Variable(str(symbol), "input", "", f"until it is set: {text}", start=start)
    for output in outputs:
        yield Variable(output.name, "output", output.unit, output.description)
