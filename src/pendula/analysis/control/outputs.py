"""Outputs of a linear model: coordinates, speeds, expressions and points of bodies, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis import refusals
from pendula.arguments import available, read_name_or_names
from pendula.equations.translate import translate
from pendula.errors import NotSupported, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, suggestion
from pendula.simulation.readings import place_of
from pendula.system.layout import Array
from pendula.system.switches.watching import check_names, names_of
from pendula.system.system import System

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel

PARTS = {**{axis: (0, k) for k, axis in enumerate("xyz")}, **{f"v{axis}": (1, k) for k, axis in enumerate("xyz")}}
"""endings of a point's name: x of its position, vx of its velocity"""


def output_rows(
    linear: LinearModel, outputs: Sequence[str] | str | None
) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """Names, rows of C by (e, e') and units of outputs; default: the coordinates e."""
    n = len(linear.M)
    if outputs is None:
        return linear.coordinates, np.hstack([np.eye(n), np.zeros((n, n))]), {}
    names = read_name_or_names(outputs, "outputs")
    if not names:
        raise UsageError("outputs are names or expressions in a list, found none")
    if len({*names}) < len(names):
        raise UsageError(f"outputs must differ from each other, found {', '.join(names)}")
    found, units = [], dict[str, str]()
    own = (*linear.coordinates, *linear.speeds)
    for name in names:
        if name in own:
            found.append(np.eye(2 * n)[own.index(name)])
            continue
        system = linear.system
        if system is None or linear.displacements:
            refusal = refusals.OUTPUT_ALONE if system is None else refusals.OUTPUT_SINGULAR
            raise NotSupported(refusal, name=name, available=available(own))
        point = _point_row(linear, system, name)
        row, units[name] = _expression_row(linear, system, name) if point is None else point
        found.append(row)
    return tuple(names), np.array(found), units


def _point_row(linear: LinearModel, system: System, name: str) -> tuple[Array, str] | None:
    """The row of a part of a point, such as pole.tip.x; None if the name is not of this form."""
    body, _, ending = name.rpartition(".")
    body, _, point = body.rpartition(".")
    if body not in system.layout.bodies or ending not in PARTS:
        return None
    which, axis = PARTS[ending]
    at, k = linear.at, system.layout.bodies.index(body)
    if np.any(at.v):
        raise NotSupported(refusals.OUTPUT_MOVING, name=name)
    nv = len(system.layout.speeds)
    v = np.vstack([np.zeros(nv), np.eye(nv)])
    q = np.broadcast_to(at.q, (nv + 1, len(at.q)))
    motion = system.body_motion(q, v, parameters=at.parameters)
    R = system.poses(at.q, parameters=at.parameters)[0]
    arm = R[k] @ (place_of(system, body, point, at.parameters) - place_of(system, body, "com", at.parameters))
    moved = motion.velocity[:, k] + np.cross(motion.angular_velocity[:, k], arm)
    slope = (moved[1:] - moved[0])[:, axis] @ linear.Z
    units = system.model.unit_names
    n = len(linear.M)
    row = np.zeros(2 * n)
    row[which * n : (which + 1) * n] = slope
    return row, units.speed("length") if which else units.length


def _expression_row(linear: LinearModel, system: System, text: str) -> tuple[Array, str]:
    """The row of an expression of coordinates and speeds."""
    at, names = linear.at, names_of(system)
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise UsageError(f'output "{text}": {error}') from None
    if not expression.names & {*system.layout.coordinates, *system.layout.speeds, *names}:
        known = (*linear.coordinates, *linear.speeds)
        raise UsageError(f'there is no output "{text}"; {suggestion(text, known)}')
    check_names(expression, names, f'output "{text}"')
    value = translate(expression, {n: names[n] for n in expression.names})
    program = system.programs.slopes([expression.to_text()], [value], at.parameters)
    slopes = program.rows(np.concatenate([[0.0], at.q, at.v])[None])[0]
    nq = len(system.layout.coordinates)
    row = np.concatenate([slopes[:nq] @ linear.N @ linear.Z, slopes[nq:] @ linear.Z])
    if not np.isfinite(row).all():
        raise UsageError(f'output "{text}" has no finite derivative at the equilibrium')
    unit = system.layout.units.get(text, "")
    return row, unit
