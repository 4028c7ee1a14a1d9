"""Converts states and runs between coordinates of orientations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeVar, overload

import numpy as np

from pendula.arguments import read_table
from pendula.errors import SingularPose, UsageError
from pendula.model.joints.orientation import Axes
from pendula.model.model import Model
from pendula.simulation.charts.same_inputs import with_inputs_of
from pendula.simulation.events import Crossings
from pendula.simulation.trajectory import Trajectory
from pendula.system.build import compile_alike
from pendula.system.entry import system_of
from pendula.system.layout import Array, Layout, State
from pendula.system.orientation.conversion import Converted, convert_rows, layout_in
from pendula.system.orientation.twins import charts_asked, model_in_charts, refuse_prescribed
from pendula.system.system import System
from pendula.words import some

T = TypeVar("T", State, Trajectory)


@overload
def convert(
    what: State,
    to: str | Mapping[str, str] | System | Model,
    *,
    speeds: Axes | None = None,
    near: State | Mapping[str, float] | None = None,
    undefined: Literal["raise", "nan"] = "raise",
) -> State: ...
@overload
def convert(
    what: Trajectory,
    to: str | Mapping[str, str] | System | Model,
    *,
    speeds: Axes | None = None,
    near: State | Mapping[str, float] | None = None,
    undefined: Literal["raise", "nan"] = "nan",
) -> Trajectory: ...
def convert(
    what: State | Trajectory,
    to: str | Mapping[str, str] | System | Model,
    *,
    speeds: Axes | None = None,
    near: State | Mapping[str, float] | None = None,
    undefined: Literal["raise", "nan"] | None = None,
) -> State | Trajectory:
    """The same state or run in other coordinates of its orientations, speeds included.

    Of all angles that describe a pose, those closest to ``near`` are chosen (default: to zero), and in a run those
    closest to the state before.

    Args:
        what: a state in the coordinates of the joints, or a run.
        to: one chart for all spherical and free joints ("quaternion", "rotation vector", "zyz", "space xyz",
            "cardan", ...), charts by the names of the joints, or a system or model of the same mechanism.
        speeds: generalized speeds of the new chart: "rates", or the angular velocity in "body" axes or in those of the
            "parent" side; default: "body" for quaternions, otherwise "rates".
        near: a state in the new coordinates, or some of its values by name.
        undefined: "raise" if a singular chart leaves a rate undefined, or "nan" to get nan there; default: "raise" for
            a state, "nan" and a note for a run.

    Raises:
        SingularPose: a rate is not determined in the new chart; the message names it.
        UsageError: there is no such chart or joint, or the mechanism is another one.
        NotSupported: the model or an input of a run cannot be written in these coordinates; the message says why.

    Example:
        >>> import pendula
        >>> state = pendula.compile_system("spatial-rod").initial_state()
        >>> pendula.convert(state, "quaternion").as_dict()["ball_q0"].__round__(4)
        0.6533
        >>> back = pendula.convert(pendula.convert(state, "quaternion"), "zyz", near={"ball_1": 1.5})
        >>> [round(float(x), 4) for x in back.q]
        [1.5708, -0.7854, 0.0]
    """
    if isinstance(what, State):
        return _state(what, to, speeds, near, undefined or "raise")
    if isinstance(what, Trajectory):
        return _run(what, to, speeds, near, undefined or "nan")
    raise UsageError(f"convert takes a State or a Trajectory, found {type(what).__name__}")


def _state(
    state: State, to: object, speeds: Axes | None, near: State | Mapping[str, float] | None, undefined: str
) -> State:
    layout = state.layout
    if not layout.orientations:
        raise UsageError(
            "the state has no orientation to convert. If it is in maximal coordinates, read it in those of the joints "
            "first: system.in_joints.read_state(state)"
        )
    if isinstance(to, System | Model):
        after = system_of(to, "convert").in_joints.layout
    else:
        after = layout_in(layout, charts_asked({x.joint: (x.chart, x.axes) for x in layout.orientations}, to, speeds))
    found = convert_rows(layout, after, state.q, state.v, _nearest(near, after))
    if found.undefined[0] and undefined == "raise":
        raise SingularPose(_lost(found.undefined[0]) + '.\n  Try: other coordinates, or undefined="nan".')
    return State(state.t, found.q[0], found.v[0], after)


def _nearest(near: State | Mapping[str, float] | None, layout: Layout) -> Array | None:
    if near is None:
        return None
    if not isinstance(near, State):
        near = read_table(near, "near")
        q = np.zeros(len(layout.coordinates))
        for x in layout.orientations:
            q[x.at] = float(x.chart.count == 4)
        return np.asarray(State(0.0, q, np.zeros(len(layout.speeds)), layout).replace(near).q)
    if near.layout.coordinates != layout.coordinates:
        raise UsageError(f"near must be a state in the new coordinates: {some(layout.coordinates)}")
    return np.asarray(near.q, dtype=float)


def _lost(names: tuple[str, ...]) -> str:
    return f"{some(names)} {'is' if len(names) == 1 else 'are'} not determined: the coordinates are singular there"


def _run(
    run: Trajectory, to: object, speeds: Axes | None, near: State | Mapping[str, float] | None, undefined: str
) -> Trajectory:
    """A run in other coordinates: states at its samples and events."""
    before = run.joint_layout
    if isinstance(to, System | Model):
        system = system_of(to, "convert")
    else:
        joints = {x.joint: (x.chart, x.axes) for x in before.orientations}
        if not joints:
            refuse_prescribed(run.system.model)
            raise UsageError("the run has no orientation to convert")
        system = compile_alike(run.system, model_in_charts(run.system, charts_asked(joints, to, speeds)))
    system = with_inputs_of(run, system)
    after = system.in_joints.layout
    start = _nearest(near, after)
    found = convert_rows(before, after, *run.joints, start, run.t)
    lost = [k for k, names in enumerate(found.undefined) if names]
    remarks = run.remarks
    if lost:
        text = f"at t = {run.t[lost[0]]:.9g} {after.time_unit} {_lost(found.undefined[lost[0]])}"
        if undefined == "raise":
            raise SingularPose(text)
        remarks += (text,)
    q, v = system.in_joints.place(found.q, found.v, run.t, parameters=run.parameters)
    events = {name: _crossings(x, before, system, found, run.t) for name, x in run.events.items()}
    return replace(run, q=q, v=v, system=system, remarks=remarks, events=events, end=None)


def _crossings(crossings: Crossings, before: Layout, system: System, run: Converted, t: Array) -> Crossings:
    """The occurrences of an event in other coordinates, each closest to the state of the run next to it."""
    after = system.in_joints.layout
    rows = [
        convert_rows(before, after, q, v, run.q[int(np.argmin(np.abs(t - at)))])
        for at, q, v in zip(crossings.t, *crossings.joints, strict=True)
    ]
    q = np.array([x.q[0] for x in rows]).reshape(-1, len(after.coordinates))
    v = np.array([x.v[0] for x in rows]).reshape(-1, len(after.speeds))
    q, v = system.in_joints.place(q, v, crossings.t, parameters=crossings.parameters)
    return replace(crossings, q=q, v=v, system=system)
