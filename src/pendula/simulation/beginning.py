"""Start of a run: the initial state projected onto the constraints, a typical energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pendula.equations.motion_rates import infinite_rate
from pendula.errors import LoopNotClosed, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.forces.kinks import may_have_kinks
from pendula.model.names import ExpressionError
from pendula.model.quantities import degrees_hint, looks_like_degrees
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble_holding, not_kept
from pendula.system.parameters import typical_length
from pendula.system.switches.schedule import moves_by_time
from pendula.system.system import System


def energy_size(system: System, start: State, vector: Array) -> float:
    """A typical energy: the initial kinetic energy, or the weight times a typical length if larger."""
    kinetic = float(system.energies(start.q, start.v, start.t, parameters=vector).kinetic)
    values = system.layout.parameter_values(vector)
    gravity = np.linalg.norm([parse(x).evaluate(values) for x in system.model.gravity])
    mass = sum(parse(body.mass_properties().mass).evaluate(values) for body in system.model.bodies)
    return max(kinetic, float(gravity * mass) * typical_length(system, vector)) or 1.0


def work_tolerance(system: System, start: State, vector: Array, tol: float) -> float | None:
    """The absolute tolerance of the work, if step-size control includes it; else None.

    It does where work may be done that the state does not show: by drives of a mechanism at rest, and by forces with a
    kink, such as a stop whose stored energy is lost when it lets go, after which steps are long.
    """
    if not (moves_by_time(system) or may_have_kinks(system.model)):
        return None
    return tol * energy_size(system, start, vector)


class Start(NamedTuple):
    """A consistent initial state, notes on what moved, and why it may not be the requested one."""

    state: State
    notes: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def refuse_not_finite(state: State) -> None:
    """Raises UsageError if a value of an initial state is not finite."""
    if not (np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.v))):
        bad = [n for n in state if not np.isfinite(state[n])]
        raise UsageError(f'the initial value of "{bad[0]}" is not finite')


def _refuse_undefined_motions(system: System, t: float, vector: Array) -> None:
    """Raises UsageError if a prescribed motion has no finite value, rate or acceleration at the start."""
    values = system.layout.parameter_values(vector) | {"t": t}
    for joint in system.model.tree:
        for coordinate, motion in joint.prescribed().items():
            expression = parse(motion)
            if not expression.names <= values.keys():
                continue  # inputs are checked where they are given
            try:
                expression.evaluate(values)
            except ExpressionError as error:
                raise UsageError(
                    f'the prescribed motion of "{coordinate}" is not defined at the start: {error}'
                ) from None
    for drive in system.drives:
        if which := infinite_rate(drive, values):
            raise UsageError(
                f'the prescribed motion of "{drive.name}" has no finite {which} at the start, t = {t:g}.\n'
                "  Try: begin a little later, or prescribe a motion that begins smoothly, such as t**2."
            )


def start_state(system: System, given: State | Mapping[str, Any] | None, t: float, vector: Array) -> Start:
    """The initial state at time t, projected onto the constraints with the least change.

    Coordinates and speeds given by name stay if they can, before those that the model gives. A doubt names given
    coordinates that had to move by more than rounding.

    Raises:
        UsageError: the state belongs to another system, or is not finite; or a prescribed motion is not defined.
        LoopNotClosed: the constraints cannot be satisfied.
    """
    _refuse_undefined_motions(system, t, vector)
    if isinstance(given, State):
        names, own = (given.layout.coordinates, given.layout.speeds), (system.layout.coordinates, system.layout.speeds)
        joints = (system.in_joints.layout.coordinates, system.in_joints.layout.speeds)
        if names not in (own, joints):
            there, here = (", ".join(x[0][:6]) for x in (names, own))
            raise UsageError(f"the initial state belongs to another system: it has {there}; this one has {here}")
        state = State(t, given.q, given.v, system.layout if names == own else system.in_joints.layout)
        written, named, asked = set[str](), set[str](), set[str]()
        early: tuple[str, ...] = (
            (f"the initial state belongs to t = {given.t:g}, but is used at t = {t:g}",) if given.t != t else ()
        )
    else:
        if given is not None and not isinstance(given, Mapping):
            raise UsageError(f"initial_state must be a State or values by name, found {type(given).__name__}")
        given = system.in_joints.layout.by_coordinates(given or {})
        state = system.in_joints.initial_state(vector, t=t).replace(given)
        asked, early = {*given} & {*system.in_joints.layout.speeds}, _hints(system, given)
        named = {n for n in given if n in state}
        written = named | {*system.model.initial}
    refuse_not_finite(state)
    by_name = not isinstance(given, State)
    found = assemble_holding(system, state, vector, asked, (written, named), anywhere=by_name)
    if not found.moved:
        return Start(found.state, early)
    largest = sorted(found.moved.items(), key=lambda item: -abs(item[1]))[:4]
    unit = {**system.layout.units, **system.in_joints.layout.units}
    text = ", ".join(f"{n} by {x:.3g} {unit[n]}" for n, x in largest)
    more = f" and {len(found.moved) - 4} more" if len(found.moved) > 4 else ""
    notes = (*early, f"the initial state was moved to satisfy the constraints: {text}{more}")
    if wrong := not_kept(found, named, vector):
        return Start(found.state, notes, (f"the run does not start where it should: {wrong}",))
    if not named and (wrong := not_kept(found, written, vector)):
        notes += (f"initial values of the model: {wrong}",)
    return Start(found.state, notes)


def start_as_given(system: System, given: State | Mapping[str, Any] | None, t: float, vector: Array) -> State:
    """The state of :func:`start_state`, for results that cannot record doubts.

    Raises:
        LoopNotClosed: the constraints cannot be satisfied with the given coordinates.
    """
    start = start_state(system, given, t, vector)
    if start.doubts:
        raise LoopNotClosed(f"{start.doubts[0]}.\n  Try: give fewer values, so that the others follow from the loops.")
    return start.state


def _hints(system: System, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Hints about initial angles that look like degrees: given ones, and numbers in the model."""
    units, written = system.in_joints.layout.units, {**system.model.initial, **given}
    angles = {name: value for name, value in written.items() if units.get(name) == "rad"}
    return tuple(degrees_hint(name, float(x)) for name, x in angles.items() if looks_like_degrees(x))
