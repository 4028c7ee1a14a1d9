"""Quantities of a run by name: accelerations, energies, prescribed motions, inputs, expressions, points of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pendula.arguments import read_numbers
from pendula.errors import UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, acceleration_name, suggestion
from pendula.system.code.programs import Compiled
from pendula.system.layout import Array, Layout
from pendula.system.switches.watching import check_names, names_of, watch_program
from pendula.system.system import System
from pendula.words import counted

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory

INTEGRATED = 1e-3
"""part of the integral of the absolute value by which an integral may be off"""
BETWEEN = 0.381966
"""where between two states, a fraction that periods rarely share"""
MISSED = 0.2
"""share of the variation of an energy by which its integral through the kept states may be off"""
FEWEST_STATES = 5
"""of a run, for an integral whose error can be estimated"""
SPLINE_GAIN = 15.0
"""how much more accurate the integral of a spline is with twice as many points"""
MOST_NAMES = 40
"""names that an error lists"""
ENERGIES = ("kinetic", "potential", "energy", "work")
OF_POINTS = {f"{what}{axis}": (k, j) for k, what in enumerate(("", "v", "a")) for j, axis in enumerate("xyz")}
"""endings of the names of a point's coordinates: x of its position, vx of its velocity, ax of its acceleration"""


def reading(run: Trajectory, name: str) -> Array:
    """A quantity at the times of a run: an acceleration, an energy, what an expression may name, part of a point.

    Raises:
        UsageError: there is no such quantity.
        SingularPose: the accelerations are not determined at a state.
    """
    if name in ENERGIES:
        return energies(run)[name]
    joints = acceleration_names(run.joint_layout)
    if name in joints:
        return run.accelerations[:, joints.index(name)]
    own = acceleration_names(run.layout)
    if name in own:
        return own_accelerations(run)[:, own.index(name)]
    if (part := _part_of_point(run, name)) is not None:
        body, point, (which, axis) = part
        found = point_acceleration(run, body, point) if which == 2 else point_motion(run, body, point)[which]
        return found[:, axis]
    if name in run.system.layout.inputs and run.system.inputs.over_time:
        rows = run.system.inputs.rows(run.t, None, run.parameters, (run.q, run.v))
        return np.asarray(np.broadcast_to(rows[..., run.system.layout.inputs.index(name)], run.t.shape))
    known = names_of(run.system)
    if name not in known:
        of_joints = [*run.joint_layout.coordinates, *run.joint_layout.speeds, *joints]
        points = [f"{b.name}.{p}.x" for b in run.system.model.bodies for p in b.named_points()]
        _refuse(f'there is no "{name}"', name, [*dict.fromkeys([*of_joints, *ENERGIES, *known, *points])])
    return _rows(run, run.system.watching([name], [known[name]], run.parameters))


def unit_of(run: Trajectory, name: str) -> str:
    """The unit of a quantity; empty if it has none, or if it is not known."""
    units, kinds = run.system.model.unit_names, dict[str, str]()
    for layout in (run.layout, run.joint_layout):
        if name in layout.units:
            return layout.units[name]
        kinds |= dict(zip(acceleration_names(layout), layout.speed_kinds, strict=True))
    if name in ENERGIES:
        return units.energy
    if name in kinds:
        return units.acceleration(kinds[name])
    if (part := _part_of_point(run, name)) is not None:
        return (units.length, units.speed("length"), units.acceleration("length"))[part[2][0]]
    for drive in run.system.drives:
        of = (units.coordinate, units.speed, units.acceleration)
        for ending, unit in zip(("", "_dot", "_ddot"), of, strict=True):
            if name == f"{drive.name}{ending}":
                return unit(drive.kind)
    return units.time if name == "t" else ""


def acceleration_names(layout: Layout) -> list[str]:
    """Names of the derivatives of all speeds."""
    return [acceleration_name(speed) for speed in layout.speeds]


def own_accelerations(run: Trajectory) -> Array:
    """v' at the times of a run, in the coordinates of its system."""
    return run.system.accelerations(run.q, run.v, run.t, parameters=run.parameters)


def joint_accelerations(run: Trajectory) -> Array:
    """Accelerations of the joints at the times of a run, shape (times, speeds of the joints)."""
    return run.system.in_joints.accelerations(run.q, run.v, run.t, parameters=run.parameters)


def _part_of_point(run: Trajectory, name: str) -> tuple[str, str, tuple[int, int]] | None:
    """Body, point and part of a name such as ``lower.tip.vx``; None if it is not of this form."""
    body, _, ending = name.rpartition(".")
    body, _, point = body.rpartition(".")
    return (body, point, OF_POINTS[ending]) if body in run.system.layout.bodies and ending in OF_POINTS else None


def _rows(run: Trajectory, program: Compiled) -> Array:
    return _values(program, run.t, np.column_stack([run.q, run.v]))


def _values(program: Compiled, t: Array, states: Array) -> Array:
    return np.asarray(program.rows(np.column_stack([t, states]))[:, 0])


def _refuse(what: str, name: str, known: Sequence[str]) -> NoReturn:
    raise UsageError(f"{what}; {suggestion(name, known, most=MOST_NAMES)}")


def energies(run: Trajectory) -> dict[str, Array]:
    """Kinetic, potential and total energy, and the work done on the mechanism, at the times of a run."""
    found = run.system.energies(run.q, run.v, run.t, parameters=run.parameters)
    if run.elsewhere is not None:
        found = run.elsewhere.energies(found, run.t)
    total = found.kinetic + found.potential
    work = total - run.energy.total[0] - run.energy_error * run.energy.scale
    return {"kinetic": found.kinetic, "potential": found.potential, "energy": total, "work": work}


def evaluated(run: Trajectory, text: str) -> Array:
    """An expression of t, coordinates, speeds, prescribed motions, inputs and parameters at the times of a run.

    Raises:
        UsageError: it cannot be read, or names something unknown.
    """
    return _rows(run, _program(run, text))


def _program(run: Trajectory, text: str) -> Compiled:
    """The program of an expression."""
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise UsageError(f'expression "{text}": {error}') from None
    check_names(expression, names_of(run.system), f'expression "{text}"')
    return watch_program(run.system, [expression], run.parameters)


def integrated(run: Trajectory, text: str) -> float:
    """The integral of an expression over the time of a run, by a cubic spline through its states.

    Raises:
        UsageError: it cannot be read, the ends of the run were not kept, or too few states between them.
    """
    program = _program(run, text)
    values = _rows(run, program)
    t, places = np.unique(run.t, return_index=True)
    unit = run.joint_layout.time_unit
    ends = run.energy.t[0], run.energy.t[-1]
    if not len(run) or (run.t[0], run.t[-1]) != ends:
        raise UsageError(
            f"an integral is over the whole run, from t = {ends[0]:.6g} to {ends[1]:.6g} {unit}, but these states "
            "were not both kept.\n  Try: samples that include them."
        )
    if len(t) < FEWEST_STATES:
        raise UsageError(
            f"an integral needs at least {FEWEST_STATES} states of a run; {len(t)} were kept.\n  Try: more samples."
        )
    y = values[places]
    found, rough = (_by_spline(t[some], y[some]) for some in (np.arange(len(t)), _every_other(len(t))))
    size = float(np.trapezoid(np.abs(y), t))
    if not abs(found - rough) <= SPLINE_GAIN * INTEGRATED * size:
        raise UsageError(
            f'the integral of "{text}" would be off by about {abs(found - rough) / SPLINE_GAIN:.1g}, because only '
            f"{counted(len(t), 'state')} of the run were kept.\n  Try: more samples."
        )
    finer = _with_points_between(program, t, np.column_stack([run.q, run.v])[places])
    if not (abs(finer - found) <= SPLINE_GAIN * INTEGRATED * size and _shown_between(run, t)):
        raise UsageError(
            f'the integral of "{text}" would be wrong: only {counted(len(t), "state")} of the run were kept, and they '
            "miss what happens in between.\n  Try: more samples."
        )
    return found if run.t[-1] >= run.t[0] else -found


def _with_points_between(program: Compiled, t: Array, states: Array) -> float:
    """The integral with values between the kept states as well, which show what depends on time itself."""
    from scipy.interpolate import CubicSpline  # slow to load

    times = np.sort(np.concatenate([t, t[:-1] + BETWEEN * np.diff(t)]))
    return _by_spline(times, _values(program, times, CubicSpline(t, states)(times)))


def _shown_between(run: Trajectory, t: Array) -> bool:
    """Whether some times show the motion between them: samples once per period, say, do not.

    The energies are known at every step, whatever the samples.
    """
    from scipy.interpolate import CubicSpline  # slow to load

    steps, places = np.unique(run.energy.t, return_index=True)
    if len(steps) <= len(t):
        return True
    for energy in (run.energy.kinetic[places], run.energy.potential[places]):
        whole = _by_spline(steps, energy)
        varied = float(np.trapezoid(np.abs(energy - whole / (steps[-1] - steps[0])), steps))
        if abs(_by_spline(t, CubicSpline(steps, energy)(t)) - whole) > MISSED * varied + 1e-12 * abs(whole):
            return False
    return True


def _every_other(count: int) -> Array:
    """Every other one of some places, the last included."""
    return np.unique(np.append(np.arange(0, count, 2), count - 1))


def _by_spline(t: Array, y: Array) -> float:
    from scipy.interpolate import CubicSpline  # slow to load

    return float(CubicSpline(t, y).integrate(t[0], t[-1]))


def point_motion(run: Trajectory, body: str, point: str | Sequence[float]) -> tuple[Array, Array]:
    """Positions and velocities of a point of a body in world axes, shape (times, 3) each.

    Raises:
        UsageError: there is no such body or point.
    """
    position, from_centre, k = _whereabouts(run, body, point)
    motion = run.system.body_motion(run.q, run.v, t=run.t, parameters=run.parameters)
    return position, motion.velocity[:, k] + np.cross(motion.angular_velocity[:, k], from_centre)


def point_acceleration(run: Trajectory, body: str, point: str | Sequence[float]) -> Array:
    """Accelerations of a point of a body in world axes, shape (times, 3).

    Raises:
        UsageError: there is no such body or point.
        SingularPose: the accelerations are not determined at a state.
    """
    from pendula.simulation.charts.regular import regular_run  # needs runs, which need this module

    run = regular_run(run)
    _, from_centre, k = _whereabouts(run, body, point)
    motion = run.system.body_motion(run.q, run.v, own_accelerations(run), run.t, parameters=run.parameters)
    omega = motion.angular_velocity[:, k]
    along = np.cross(motion.angular_acceleration[:, k], from_centre)
    return np.asarray(motion.acceleration[:, k] + along + np.cross(omega, np.cross(omega, from_centre)))


def _whereabouts(run: Trajectory, body: str, point: str | Sequence[float]) -> tuple[Array, Array, int]:
    """Position of a point, the vector to it from the mass centre of its body, and the index of the body."""
    bodies = run.system.layout.bodies
    if body not in bodies:
        _refuse(f'there is no body "{body}"', body, bodies)
    k, arm, centre = (
        bodies.index(body),
        *(place_of(run.system, body, x, run.parameters) for x in (point, "com")),
    )
    R, origin = run.system.poses(run.q, run.t, parameters=run.parameters)
    at = R[:, k] @ arm
    return origin[:, k] + at, at - R[:, k] @ centre, k


def place_of(system: System, body: str, point: Any, parameters: Array) -> Array:
    """A point of a body in body axes: one of its named points, or two or three numbers.

    Raises:
        UsageError: there is no such point.
    """
    one = next(b for b in system.model.bodies if b.name == body)
    values = system.layout.parameter_values(parameters)
    if isinstance(point, str):
        known = one.named_points()
        if point not in known:
            _refuse(f'body "{body}" has no point "{point}"', point, list(known))
        return np.array([parse(x).evaluate(values) for x in known[point]])
    place = read_numbers(point, f'the point of body "{body}"')
    if place.shape not in ((2,), (3,)):
        raise UsageError(f"a point is a name or two or three numbers in body axes, found {point!r}")
    return np.append(place, 0.0)[:3]
