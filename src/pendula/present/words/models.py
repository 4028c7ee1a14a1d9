"""Models as tables, for terminals and pages: bodies, joints, forces; formulas of their equations in groups."""

from __future__ import annotations

from typing import Any

from pendula.equations.equations import Equations
from pendula.equations.printing.mathml import write_mathml
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.present.words.tables import number

Rows = list[tuple[Any, ...]]


def body_rows(model: Model) -> tuple[list[str], Rows]:
    """Heads and rows of a table of bodies: mass, mass centre and diagonal of the inertia."""
    units, values = model.unit_names, model.parameter_values
    heads = ["body", f"mass [{units.mass}]", f"mass centre [{units.length}]"]
    rows: Rows = []
    for body in model.bodies:
        properties = body.mass_properties()
        com = ", ".join(number(parse(x).evaluate(values), 4) for x in properties.com)
        inertia = ", ".join(number(parse(properties.inertia[i][i]).evaluate(values), 4) for i in range(3))
        rows.append((body.name, parse(properties.mass).evaluate(values), com, inertia))
    return [*heads, f"Ixx, Iyy, Izz [{units.mass} {units.length}^2]"], rows


def joint_rows(model: Model) -> tuple[list[str], Rows]:
    """Heads and rows of a table of joints: type, bodies and coordinates, prescribed ones with their motion."""
    rows = [(j.name, j.type, j.parent.body, j.child.body, _coordinates(j)) for j in model.joints]
    return ["joint", "type", "parent", "child", "coordinates"], rows


def _coordinates(joint: Any) -> str:
    if not hasattr(joint, "coordinates"):
        return "closes a loop"
    given = joint.prescribed() if hasattr(joint, "prescribed") else {}
    names = [c.name for c in joint.coordinates()]
    return ", ".join(f"{n} = {given[n]} (prescribed)" if n in given else n for n in names) or "none"


def force_rows(model: Model) -> tuple[list[str], Rows]:
    """Heads and rows of a table of forces: type, and what they act on."""
    rows = [(force.name or f"force {k}", force.type, force.where()) for k, force in enumerate(model.forces, 1)]
    return ["force", "type", "acts on"], rows


def formula_groups(equations: Equations) -> dict[str, list[str]]:
    """Formulas of equations as MathML, by the words above each group.

    Raises:
        NotSupported: the formulas are too long to be shown.
    """
    groups: dict[str, list[str]] = {}
    for formula in write_mathml(equations):
        groups.setdefault(formula.words, []).append(formula.mathml)
    return groups
