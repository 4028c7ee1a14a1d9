"""Slopes of accelerations and residuals at a state, and derivatives of a run by parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import pendula
from tests.crossings import oracle
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Mechanism, Moment
from tests.crossings.questions.motion import defects
from tests.crossings.questions.states import (
    compare,
    displaced,
    inputs_beside,
    on_rows,
    rates_by_name,
    slopes_of_rows,
    solved,
)

STEP = 3e-6
"""of central differences"""
ROUGH = 3e-7
"""differences of accelerations over such a step, relative to the largest, times the curvature of small mechanisms"""


def slopes(case: Case, carried: Carried) -> None:
    """Jacobians of accelerations and residuals along motions that the loops allow, by inputs and by parameters."""
    k = carried.inside(3)[1]
    bent = case.row["load"] in ("kink", "joint limit")
    for each in carried.inside(6) if bent else [k]:  # on both sides, where the motion gets there
        by_state(case, carried, each)
    by_inputs(case, carried, k)
    by_parameters(case, carried, k)
    if not case.row["engine"].startswith("maximal"):
        of_residual(case, carried, k)


def by_state(case: Case, carried: Carried, k: int) -> None:
    """The change of accelerations along one displacement and change of speeds."""
    own, system, run = case.own, carried.system, carried.run
    p = run.parameters
    x = replace(carried.moments[k], a={})
    free = slopes_of_rows(own, x)[1]
    names = own.free
    direction = free @ case.rng.uniform(-1, 1, free.shape[1])
    change = free @ case.rng.uniform(-1, 1, free.shape[1])

    def beside(h: float) -> Moment:
        def along(y: Array) -> dict[str, float]:
            return dict(zip(names, (h * y).tolist(), strict=True))

        moved = on_rows(own, displaced(own, x, along(direction), along(change)))
        return solved(case, replace(moved, u=inputs_beside(case, carried, moved)))

    ends = [beside(h) for h in (STEP, -STEP)]
    states = [system.in_joints.place(*_vectors(carried, one), x.t, parameters=p) for one in ends]
    dq, dv = ((one - other) / (2 * STEP) for one, other in zip(*states, strict=True))
    J = [system.acceleration_jacobian(by, run.q[k], run.v[k], x.t, parameters=p) for by in "qv"]
    right = _difference(lambda one: rates_by_name(case, one, system.layout.speeds), *ends)
    compare(f"slope of v' at t = {x.t:.6g}", system.layout.speeds, J[0] @ dq + J[1] @ dv, right, _bound(case, x))


def _vectors(carried: Carried, x: Moment) -> tuple[Array, Array]:
    layout = carried.run.joint_layout
    return np.array([x.q[n] for n in layout.coordinates]), np.array([x.v[n] for n in layout.speeds])


def _difference(function: Callable[[Moment], Array], one: Moment, other: Moment) -> Array:
    return (function(one) - function(other)) / (2 * STEP)


def _bound(case: Case, x: Moment) -> float:
    loose = {"projection": 0.0}.get(case.row["constraints"], 1e-4)
    return ROUGH * max(1.0, case.own.accelerations(x).condition / 10) + loose


def by_inputs(case: Case, carried: Carried, k: int) -> None:
    """Accelerations are linear in the inputs."""
    system, run = carried.system, carried.run
    if not system.layout.inputs:
        return
    x = replace(carried.moments[k], a={})
    J = system.acceleration_jacobian("u", run.q[k], run.v[k], x.t, parameters=run.parameters)
    for k, name in enumerate(system.layout.inputs):
        u = case.all_inputs(x.u)
        up, down = (solved(case, replace(x, u={**u, name: u[name] + h})) for h in (0.5, -0.5))
        right = rates_by_name(case, up, system.layout.speeds) - rates_by_name(case, down, system.layout.speeds)
        compare(f"slope of v' by {name}", system.layout.speeds, J[:, k], right, 0.1 * _bound(case, x))


def by_parameters(case: Case, carried: Carried, k: int) -> None:
    """Each parameter varies alone: inputs that depend on it stay."""
    system, run = carried.system, carried.run
    x = replace(carried.moments[k], a={}, u=case.all_inputs(carried.moments[k].u))
    J = system.acceleration_jacobian("p", run.q[k], run.v[k], x.t, parameters=run.parameters)
    for name in ("m", "k") if system.layout.parameters else ():
        up, down = (with_parameter(case, name, h) for h in (STEP, -STEP))
        # a coupling and a loop in space are written with numbers: no parameter opens them
        right = rates_by_name(case, solved(case, x, up), system.layout.speeds, up)
        right = (right - rates_by_name(case, solved(case, x, down), system.layout.speeds, down)) / (2 * STEP)
        found = J[:, system.layout.parameters.index(name)]
        compare(f"slope of v' by {name} at t = {x.t:.6g}", system.layout.speeds, found, right, _bound(case, x))


def with_parameter(case: Case, name: str, change: float) -> Mechanism:
    """The oracle with one parameter changed; those that depend on it stay."""
    values = case.own.values.parameters
    return oracle.Mechanism(case.drawn.data, {**values, name: values[name] + change})


def followed(case: Case, name: str, change: float) -> Mechanism:
    """The oracle with one parameter changed; those that depend on it follow."""
    return oracle.Mechanism(case.drawn.data, {**case.parameters, name: case.own.values.parameters[name] + change})


def of_residual(case: Case, carried: Carried, k: int) -> None:
    """The change of M a - f at constant accelerations, in any direction: no multipliers act."""
    own, system, run = case.own, carried.system, carried.run
    x = carried.moments[k]
    layout = system.layout
    names = own.free
    direction, change = case.rng.uniform(-1, 1, (2, len(names)))
    a = np.array([x.a[name] for name in layout.speeds])

    def beside(h: float) -> Moment:
        moved = displaced(
            own,
            x,
            dict(zip(names, (h * direction).tolist(), strict=True)),
            dict(zip(names, (h * change).tolist(), strict=True)),
        )
        return replace(moved, a=x.a, u=inputs_beside(case, carried, moved))

    ends = [beside(h) for h in (STEP, -STEP)]
    dq, dv = ((one - other) / (2 * STEP) for one, other in zip(*(_vectors(carried, m) for m in ends), strict=True))
    none = np.zeros(system.loop_rows)
    J = [system.residual_jacobian(by, run.q[k], run.v[k], a, none, x.t, parameters=run.parameters)[0] for by in "qv"]
    order = [own.free.index(name) for name in layout.speeds]
    right = _difference(lambda one: own.residual(one)[order], *ends)
    compare("slope of M a - f", layout.speeds, J[0] @ dq + J[1] @ dv, right, 3 * ROUGH)


def sensitivities(case: Case, carried: Carried) -> None:
    """Derivatives by parameters: their change over each block is the integral of the slopes of free bodies.

    S' = da/dy S + da/dp is asked of the oracle as one central difference along S and p together.
    """
    own, run = case.own, carried.run
    free = [name for name in ("s", "k", "m") if name in case.drawn.data["parameters"]]
    found = pendula.sensitivities(run, free[:2])
    layout = found.layout
    for j, name in enumerate(found.names):
        dq, dv = found.q[:, :, j], found.v[:, :, j]
        if not max(np.abs(dq[0]).max(initial=0.0), np.abs(dv[0]).max(initial=0.0)) < 1e-12:
            raise Wrong(f"derivatives by {name} begin at {dq[0]}, {dv[0]}")
        inside, rates, speeds = set(carried.stretch.inside.tolist()), np.zeros(dv.shape), np.zeros(dq.shape)
        size = max(1.0, float(np.abs(dq).max()), float(np.abs(dv).max()))
        h = STEP / size
        others = [followed(case, name, way * h) for way in (1, -1)]
        for k in sorted(inside):
            x = carried.moments[k]
            ends = [_along(case, carried, x, layout, way * h * dq[k], way * h * dv[k]) for way in (1, -1)]
            a, q = zip(*(_motion(case, one, at, layout) for one, at in zip(others, ends, strict=True)), strict=True)
            rates[k], speeds[k] = (a[0] - a[1]) / (2 * h), (q[0] - q[1]) / (2 * h)
        bound = (100 * case.tolerance + 1e-6) * size
        for what, value, rate in (("speeds", dv, rates), ("coordinates", dq, speeds)):
            scale = 1 + float(np.abs(rate).max())
            error = defects(carried, value, rate)
            if not error <= bound * scale:
                raise Wrong(f"derivatives of {what} by {name} are no integral of slopes: off by {error:.2e}")
    if not np.abs(found.q).max() + np.abs(found.v).max() > 0:
        raise Unsuitable("neither parameter matters")
    assert own.free


def _along(case: Case, carried: Carried, x: Moment, layout: Any, dq: Array, dv: Array) -> Moment:
    names, speeds = layout.coordinates, layout.speeds
    q = {**x.q, **{n: x.q[n] + d for n, d in zip(names, dq.tolist(), strict=True)}}
    v = {**x.v, **{n: x.v[n] + d for n, d in zip(speeds, dv.tolist(), strict=True)}}
    moved = Moment(x.t, q, v, {}, x.u)
    return replace(moved, u=inputs_beside(case, carried, moved))


def _motion(case: Case, own: Mechanism, x: Moment, layout: Any) -> tuple[Array, Array]:
    """v' and q' of free bodies."""
    x = solved(case, x, own)
    now = own.instant(x).now
    a = np.array([x.a[n] for n in layout.speeds])
    return a, np.array([now.jet(n).d for n in layout.coordinates])
