"""Quantities of a run by name: energies, prescribed motions, inputs, expressions, and points of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pendula.errors import UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, suggestion
from pendula.system.code.programs import Compiled
from pendula.system.layout import Array
from pendula.system.switches.watching import check_names, names_of, watch_program

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory

ENERGIES = ("kinetic", "potential", "energy", "work")


def reading(run: Trajectory, name: str) -> Array:
    """A quantity at the times of a run: an energy, or what an expression may name.

    Raises:
        UsageError: there is no such quantity.
    """
    if name in ENERGIES:
        return energies(run)[name]
    known = names_of(run.system)
    if name not in known:
        names = [*run.joint_layout.coordinates, *run.joint_layout.speeds, *ENERGIES, *known]
        _refuse(f'there is no "{name}"', name, names)
    return _rows(run, run.system.watching([name], [known[name]], run.parameters))


def _rows(run: Trajectory, program: Compiled) -> Array:
    return np.asarray(program.rows(np.column_stack([run.t, run.q, run.v]))[:, 0])


def _refuse(what: str, name: str, known: Sequence[str]) -> NoReturn:
    raise UsageError(f"{what}; {suggestion(name, known, 'known are: ' + ', '.join(known[:12]))}")


def energies(run: Trajectory) -> dict[str, Array]:
    """Kinetic, potential and total energy, and the work done on the mechanism, at the times of a run."""
    found = run.system.energies(run.q, run.v, run.t, parameters=run.parameters)
    total = found.kinetic + found.potential
    work = total - run.energy.total[0] - run.energy_error * run.energy.scale
    return {"kinetic": found.kinetic, "potential": found.potential, "energy": total, "work": work}


def evaluated(run: Trajectory, text: str) -> Array:
    """An expression of t, coordinates, speeds, prescribed motions, inputs and parameters at the times of a run.

    Raises:
        UsageError: it cannot be read, or names something unknown.
    """
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise UsageError(f'expression "{text}": {error}') from None
    check_names(expression, names_of(run.system), f'expression "{text}"')
    return _rows(run, watch_program(run.system, [expression], run.parameters))


def integrated(run: Trajectory, text: str) -> float:
    """The integral of an expression over the time of a run, by a cubic spline through its states.

    Raises:
        UsageError: it cannot be read, or there are fewer than two states.
    """
    from scipy.interpolate import CubicSpline  # slow to load

    values = evaluated(run, text)
    t, places = np.unique(run.t, return_index=True)
    if len(t) < 2:
        raise UsageError("an integral needs at least two states; found one")
    sign = 1.0 if run.t[-1] >= run.t[0] else -1.0
    return sign * float(CubicSpline(t, values[places]).integrate(t[0], t[-1]))


def point_motion(run: Trajectory, body: str, point: str | Sequence[float]) -> tuple[Array, Array]:
    """Positions and velocities of a point of a body in world axes, shape (times, 3) each.

    Raises:
        UsageError: there is no such body or point.
    """
    bodies = run.system.layout.bodies
    if body not in bodies:
        _refuse(f'there is no body "{body}"', body, bodies)
    k, arm = bodies.index(body), _place(run, body, point)
    R, origin = run.system.poses(run.q, run.t, parameters=run.parameters)
    motion = run.system.body_motion(run.q, run.v, t=run.t, parameters=run.parameters)
    at = R[:, k] @ arm
    centre = R[:, k] @ _place(run, body, "com")
    velocity = motion.velocity[:, k] + np.cross(motion.angular_velocity[:, k], at - centre)
    return origin[:, k] + at, velocity


def _place(run: Trajectory, body: str, point: Any) -> Array:
    """A point in body axes."""
    model = run.system.model
    one = next(b for b in model.bodies if b.name == body)
    values = run.system.layout.parameter_values(run.parameters)
    if isinstance(point, str):
        known = one.named_points()
        if point not in known:
            _refuse(f'body "{body}" has no point "{point}"', point, list(known))
        return np.array([parse(x).evaluate(values) for x in known[point]])
    place = np.asarray(point, dtype=float)
    if place.shape not in ((2,), (3,)):
        raise UsageError(f"a point is a name or two or three numbers in body axes, found {point!r}")
    return np.append(place, 0.0)[:3]
