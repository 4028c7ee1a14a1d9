"""The same mechanism in other charts of its orientations: the twin of a model, and that of a system."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping
from copy import copy
from typing import assert_never

from pendula.errors import ModelError, NotSupported, UsageError
from pendula.model.checks.usage import expressions
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Across, AcrossAll, Action, Between, OnCoordinate, Push, Spin, Twist
from pendula.model.joints import TreeJoint
from pendula.model.joints.orientation import QUATERNION, Axes, Chart, chart_named, check_orientation
from pendula.model.model import Model
from pendula.system import refusals
from pendula.system.build import compile_alike
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import chart_names
from pendula.system.system import System

Key = tuple[tuple[str, str, str], ...]
_twins: weakref.WeakKeyDictionary[System, dict[Key, System | NotSupported]] = weakref.WeakKeyDictionary()
"""by joint, chart and speeds of the orientations that are replaced"""


def model_in_charts(system: System, charts: Mapping[str, tuple[Chart, Axes]]) -> Model:
    """The model of a system with other charts and speeds for the orientations of some joints.

    Raises:
        NotSupported: something in the model uses coordinates or speeds that would be replaced; the message names it.
    """
    model, joints = system.model, []
    initial = dict(model.initial)
    start = system.in_joints.initial_state()
    for joint in model.joints:
        here = joint.attitude() if isinstance(joint, TreeJoint) else None
        if here is None or charts.get(joint.name, here) == here:
            joints.append(joint)
            continue
        assert isinstance(joint, TreeJoint)
        chart, axes = charts[joint.name]
        fields = {k: getattr(joint, k) for k in type(joint).model_fields if k in joint.model_fields_set}
        fields.pop("speeds_", None)
        own = joint.coordinate_names()[-here.chart.count :]
        if any(name in joint.prescribed() for name in own):
            raise NotSupported(refusals.TWIN_OF_MOTION, joint=joint.name)
        other_speeds = axes != here.axes or (axes == "rates" and chart != here.chart)
        _refuse_rotors(joint, other_speeds and "rates" in (here.axes, axes))
        _refuse_forces(model, joint, own if axes == here.axes and axes != "rates" else (*own, *_speed_names(joint)))
        _refuse_names(model, {*(own if chart != here.chart else ()), *(_speed_names(joint) if other_speeds else ())})
        if chart != here.chart and joint.names:
            fields["names"] = (*joint.names[: -here.chart.count], *chart_names(joint.name, chart)[0])
        other = type(joint)(**fields | {"orientation": chart.name, "speeds": axes})
        joints.append(other)
        gone = {joint.name, *own, *_speed_names(joint)}
        initial = {name: value for name, value in initial.items() if name not in gone}
        turn = ori.to_quaternion(here.chart, [start[name] for name in own])
        names = other.coordinate_names()[-chart.count :]
        initial |= {n: float(x) for n, x in zip(names, ori.from_quaternion(chart, turn), strict=True)}
    try:
        return model.with_changes(joints=joints, initial=initial)
    except ModelError as error:
        what = "; ".join(f"{problem.element}: {problem.cause}" for problem in error.problems[:2])
        raise NotSupported(refusals.TWIN_OF_NAMES, what=what) from None


def _speed_names(joint: TreeJoint) -> tuple[str, ...]:
    return tuple(speed.name for speed in joint.speeds()[-3:])


def refuse_other_values(model: Model, name: str) -> None:
    """Raises NotSupported if values of a joint's orientation matter that differ between coordinates of one pose.

    Two rotation vectors that differ by a whole turn are one pose, but not for a force that uses them, and for friction
    or rotors that belong to their rates.
    """
    joint = next(x for x in model.tree if x.name == name)
    here = joint.attitude()
    assert here is not None
    rates = here.axes == "rates"
    used = (*joint.coordinate_names()[-here.chart.count :], *(_speed_names(joint) if rates else ()))
    _refuse_rotors(joint, rates)
    _refuse_forces(model, joint, used)
    _refuse_names(model, {*used})


def _refuse_names(model: Model, replaced: set[str]) -> None:
    """Raises NotSupported if an expression uses replaced coordinates or speeds: other charts may have equal names."""
    couplings = [(f'the coupling "{j.name}"', j) for j in model.closures if not j.has_sides]
    forces = [(f'the force "{getattr(f, "name", None) or f.type}"', f) for f in model.forces]
    inputs = [(f'the input "{name}"', value) for name, value in model.inputs.items()]
    for owner, part in (*couplings, *forces, *inputs):
        for found in expressions(part):
            refuse_use(owner, found.expression.names, replaced)


def refuse_use(owner: str, names: Collection[str], replaced: set[str]) -> None:
    """Raises NotSupported if what belongs to an owner names replaced coordinates or speeds."""
    if used := sorted(replaced.intersection(names)):
        raise NotSupported(refusals.TWIN_OF_EXPRESSION, owner=owner, name=used[0])


def refuse_prescribed(model: Model) -> None:
    """Raises NotSupported if a joint has an orientation, which is prescribed in part."""
    for joint in model.tree:
        if joint.attitude() is not None:
            raise NotSupported(refusals.TWIN_OF_MOTION, joint=joint.name)


def _refuse_rotors(joint: TreeJoint, replaced: bool) -> None:
    """Raises NotSupported if rotors turn with rates of angles that would be replaced: others are other rotors."""
    if replaced and any(parse(x).names or parse(x).evaluate({}) for x in joint.armature[-3:]):
        raise NotSupported(refusals.TWIN_OF_ROTOR, joint=joint.name)


def _refuse_forces(model: Model, joint: TreeJoint, lost: tuple[str, ...]) -> None:
    """Raises NotSupported if a force acts along the coordinates or speeds that would be replaced."""
    for force in model.forces:
        if any(_acts_along(action, joint, lost) for action in force.actions()):
            name = getattr(force, "name", None) or force.type
            raise NotSupported(refusals.TWIN_OF_FORCE, force=name, joint=joint.name)


def _acts_along(action: Action, joint: TreeJoint, lost: tuple[str, ...]) -> bool:
    """Whether a force element acts along one of these coordinates or speeds of a joint."""
    match action:
        case Across():
            return action.joint == joint.name and (action.coordinate is None or action.coordinate in lost)
        case AcrossAll():
            # a drag on the angular velocity, which the twin has, too, is no obstacle; one on rates is another force
            ball = joint.ball()
            kept = f"{joint.name}_wx" not in lost and ball is not None and ball.axes != "rates"
            return action.joint == joint.name and not kept
        case OnCoordinate():
            return action.coordinate in lost
        case Between() | Push() | Twist() | Spin():
            return False
        case _:
            assert_never(action)


def regular_twin(system: System) -> System:
    """The same mechanism with quaternions for all orientations that have singular charts; kept for the next call.

    Raises:
        NotSupported: the model cannot be written in quaternions; the message says why.
    """
    return _kept(system, regular_charts(system))


def body_twin(system: System) -> System:
    """The same mechanism with quaternions and angular velocities in body axes for all orientations; kept.

    Raises:
        NotSupported: the model cannot be written in these; the message says why.
    """
    return _kept(system, body_charts(system))


def angle_twin(system: System, charts: Mapping[str, str]) -> System:
    """The same mechanism in angles with their rates as speeds, by joint; kept for the next call.

    Args:
        system: a system in joint coordinates.
        charts: sequence of axes of every joint that has an orientation.

    Raises:
        NotSupported: the model cannot be written in these; the message says why.
    """
    return _kept(system, {joint: (chart_named(name), "rates") for joint, name in charts.items()})


def _kept(system: System, charts: Mapping[str, tuple[Chart, Axes]]) -> System:
    key = tuple(sorted((joint, chart.name, axes) for joint, (chart, axes) in charts.items()))
    twins = _twins.setdefault(system, {})
    found = twins.get(key)
    if found is None:
        try:
            if system.written:
                raise NotSupported(refusals.TWIN_OF_WRITTEN, source=system.written)
            found = compile_alike(system, model_in_charts(system, charts))
        except NotSupported as error:
            found = error
        twins[key] = found
    if isinstance(found, NotSupported):
        raise copy(found)
    return found


def regular_charts(system: System) -> dict[str, tuple[Chart, Axes]]:
    """Quaternions for all joints with another chart, with the same angular velocities if these are their speeds."""
    found: dict[str, tuple[Chart, Axes]] = {}
    for joint in system.model.tree:
        here = joint.attitude()
        if here is not None and here.chart.name != QUATERNION:
            found[joint.name] = (chart_named(QUATERNION), "body" if here.axes == "rates" else here.axes)
    return found


def body_charts(system: System) -> dict[str, tuple[Chart, Axes]]:
    """Quaternions with angular velocities in body axes for all joints with another chart or other speeds."""
    wanted: tuple[Chart, Axes] = (chart_named(QUATERNION), "body")
    found: dict[str, tuple[Chart, Axes]] = {}
    for joint in system.model.tree:
        here = joint.attitude()
        if here is not None and tuple(here) != wanted:
            found[joint.name] = wanted
    return found


def charts_asked(
    layout_joints: Mapping[str, tuple[Chart, Axes]], to: object, speeds: Axes | None
) -> dict[str, tuple[Chart, Axes]]:
    """Charts by joint from the argument of a conversion: one name for all, or names by joint.

    Raises:
        UsageError: there is no such joint or chart.
    """
    names = dict.fromkeys(layout_joints, to) if isinstance(to, str) else to
    if not isinstance(names, Mapping):
        raise UsageError(f"to must be a chart, charts by joint, a system or a model, found {type(to).__name__}")
    found: dict[str, tuple[Chart, Axes]] = {}
    for joint, text in names.items():
        if joint not in layout_joints:
            known = ", ".join(layout_joints) or "none"
            raise UsageError(f'joint "{joint}" has no orientation to convert; those that have one: {known}')
        chart = chart_of(text)
        axes = speeds or ("body" if chart.name == QUATERNION else "rates")
        if chart.name == QUATERNION and axes == "rates":
            raise UsageError('the four rates of a quaternion are not independent; try speeds="body" or "parent"')
        found[joint] = (chart, axes)
    return found


def chart_of(text: object) -> Chart:
    """The chart of a name, checked.

    Raises:
        UsageError: there is none.
    """
    try:
        return chart_named(check_orientation(text))
    except ValueError as error:
        raise UsageError(f"orientation: {error}") from None
