"""States converted between charts of the orientations: the same poses and velocities in other coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pendula.errors import UsageError
from pendula.model.joints.orientation import QUATERNION, ROTATION_VECTOR, Axes, Chart, chart_named
from pendula.system.layout import Array, Layout, Oriented
from pendula.system.orientation import maps as ori

AT_POLE = 1e-9
"""distance from a singularity of a chart [rad] below which rates of its coordinates are not determined"""
STEEP = 1.0
"""largest change of an angle between neighbouring states that is taken as it is; beyond, the way between is halved"""
HALVINGS = 40


@dataclass(frozen=True)
class Converted:
    """Coordinates and speeds in another layout, and what a singular chart leaves undefined there (nan).

    Attributes:
        q, v: shape (states, coordinates) and (states, speeds).
        undefined: for every state the names of the speeds that are not determined.
        passed: times at which the motion passes a singularity of the new coordinates.
    """

    q: Array
    v: Array
    undefined: tuple[tuple[str, ...], ...]
    passed: tuple[float, ...] = ()


def convert_rows(
    before: Layout, after: Layout, q: Array, v: Array, near: Array | None = None, t: Array | None = None
) -> Converted:
    """States of one layout in another one that differs only in charts and speeds of the orientations.

    Of all coordinates that describe an orientation, the first state gets those closest to ``near``, if given, and each
    later one those closest to the state before it; with times ``t``, those that continue the motion.

    Raises:
        UsageError: the layouts belong to different mechanisms.
    """
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    out_q, out_v = np.zeros((len(q), len(after.coordinates))), np.zeros((len(v), len(after.speeds)))
    names: list[tuple[str, ...]] = [()] * len(q)
    passed: list[float] = []
    ours, theirs = {x.joint: x for x in before.orientations}, {x.joint: x for x in after.orientations}
    _copy_others(before, after, q, v, out_q, out_v)
    for joint, there in theirs.items():
        if joint not in ours:
            raise UsageError(f'the orientation of joint "{joint}" cannot be converted: it is not part of the state')
        here = ours[joint]
        turn, omega = ori.to_quaternion(here.chart, q[:, here.q]), body_rate(here, q, v)
        if here.chart == there.chart and near is None:
            found = np.array(q[:, here.q])
        else:
            start = None if near is None else near[there.q]
            if t is None:
                found = chained(there.chart, turn, start)
            else:
                found, times = along(there.chart, t, turn, omega, start)
                passed += times
        out_q[:, there.q] = found
        out_v[:, there.v], bad = _speeds(there, found, turn, omega)
        if here.chart == there.chart and here.axes == there.axes:
            out_v[:, there.v], bad = v[:, here.v], np.zeros_like(bad)
        own = np.array(after.speeds[there.v])
        names = [(*n, *own[lost]) if lost.any() else n for n, lost in zip(names, bad, strict=True)]
    return Converted(out_q, out_v, tuple(names), tuple(passed))


def _copy_others(before: Layout, after: Layout, q: Array, v: Array, out_q: Array, out_v: Array) -> None:
    """Copies all that is no orientation, by name."""
    for kind, source, target, given, out in (
        ("q", before.coordinates, after.coordinates, q, out_q),
        ("v", before.speeds, after.speeds, v, out_v),
    ):
        place = {name: k for k, name in enumerate(source)}
        turned = {k for x in after.orientations for k in range(*getattr(x, kind).indices(len(target)))}
        for k, name in enumerate(target):
            if k not in turned:
                if name not in place:
                    raise UsageError(f'there is no "{name}" in the state to convert, which has {", ".join(source[:8])}')
                out[:, k] = given[:, place[name]]


def body_rate(at: Oriented, q: Array, v: Array) -> Array:
    """The angular velocity of an orientation in body axes."""
    if at.axes == "body":
        return np.asarray(v[:, at.v])
    if at.axes == "parent":
        R = ori.matrix_of(ori.to_quaternion(at.chart, q[:, at.q]))
        return np.einsum("kji,kj->ki", R, v[:, at.v])
    return np.einsum("kij,kj->ki", ori.velocity_matrix(at.chart, q[:, at.q]), v[:, at.v])


def _speeds(at: Oriented, q: Array, turn: Array, omega: Array) -> tuple[Array, Array]:
    """Speeds from the angular velocity in body axes, and which of them are not determined (nan)."""
    bad = np.zeros((len(q), 3), dtype=bool)
    if at.axes == "body":
        return omega, bad
    if at.axes == "parent":
        return np.asarray(ori.rotated(turn, omega)), bad
    with np.errstate(invalid="ignore"):
        rates = np.einsum("kij,kj->ki", ori.inverse_matrix(at.chart, q), omega)
    for k in np.flatnonzero(ori.distance(at.chart, q) < AT_POLE):
        L = ori.velocity_matrix(at.chart, q[k])
        rates[k] = np.linalg.lstsq(L, omega[k], rcond=AT_POLE)[0]
        if np.abs(L @ rates[k] - omega[k]).max() > AT_POLE * (1.0 + np.abs(omega[k]).max()):
            lost = [0, 2] if at.chart.is_sequence else [0, 1, 2]
            rates[k, lost], bad[k, lost] = np.nan, True
    return rates, bad


# -- along a motion ------------------------------------------------------------------------------------


def chained(chart: Chart, turn: Array, near: Array | None = None) -> Array:
    """Coordinates of successive orientations, each closest to the one before."""
    found = np.zeros((len(turn), chart.count))
    for k, x in enumerate(turn):
        found[k] = near = ori.from_quaternion(chart, x, near)
    return found


def along(chart: Chart, t: Array, turn: Array, omega: Array, near: Array | None = None) -> tuple[Array, list[float]]:
    """Coordinates that continue those of the state before, and times at which the motion passes a singularity."""
    knots = knots_of(t, turn, omega)
    found, passed = np.zeros((len(turn), chart.count)), list[float]()
    found[0] = ori.from_quaternion(chart, turn[0], near)
    done = 1
    while done < len(turn):
        smooth = _continued(chart, turn[done:], found[done - 1])
        found[done : done + len(smooth)] = smooth
        done += len(smooth)
        if done < len(turn):  # angles turn quickly here, or pass a singularity
            found[done], times = follow(chart, knots(done - 1), knots(done), found[done - 1])
            passed += times
            done += 1
    return found, passed


def _continued(chart: Chart, turn: Array, near: Array) -> Array:
    """Coordinates of successive orientations up to the first that does not follow smoothly from the one before."""
    if not chart.is_sequence:
        return chained(chart, turn, near)
    found = ori.from_quaternion(chart, turn, near)
    other = found + np.pi
    other[:, 1] = -found[:, 1] if chart.repeats else np.pi - found[:, 1]
    turned = sheets(chart, found) % 2 != sheet(chart, near) % 2
    found = np.vstack([near, np.where(turned[:, None], other, found)])
    found[1:] -= 2.0 * np.pi * np.cumsum(np.round(np.diff(found, axis=0) / (2.0 * np.pi)), axis=0)
    quick = (np.abs(np.diff(found, axis=0)).max(axis=1) >= STEEP) | (sheets(chart, found[1:]) != sheet(chart, near))
    return found[1 : 1 + (int(np.argmax(quick)) if quick.any() else len(turn))]


def knots_of(t: Array, turn: Array, omega: Array) -> Callable[[int], Knot]:
    """Orientations along a motion from quaternions and angular velocities in body axes, with continuous signs."""
    turn = np.array(turn)
    signs = np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0))
    turn[1:] *= signs[:, None]
    rates = np.einsum("kij,kj->ki", ori.inverse_matrix(chart_named(QUATERNION), turn), omega)
    return lambda k: Knot(float(t[k]), turn[k], rates[k])


def sheets(chart: Chart, q: Array) -> Array:
    """The numbers of the intervals between two singularities of the middle angle in which states lie."""
    return np.asarray(np.floor(q[..., 1] / np.pi + (0.0 if chart.repeats else 0.5)))


def sheet(chart: Chart, q: Array) -> float:
    """The same for one state."""
    return float(sheets(chart, q))


def same_sheet(chart: Chart, turn: Array, near: Array) -> Array:
    """Angles of an orientation, closest to given ones with the middle angle between the same singularities."""
    found = ori.from_quaternion(chart, turn, near)
    if sheet(chart, found) == sheet(chart, near):
        return found
    other = found + np.pi
    other[1] = -found[1] if chart.repeats else np.pi - found[1]
    other += 2.0 * np.pi * np.round((near - other) / (2.0 * np.pi))
    return other if sheet(chart, other) == sheet(chart, near) else found


@dataclass(frozen=True)
class Knot:
    """An orientation along a motion: time, quaternion and its rate."""

    t: float
    turn: Array
    rate: Array


def between(a: Knot, b: Knot) -> Knot:
    """The orientation half-way between two knots, by the cubic through both."""
    h = b.t - a.t
    turn = (a.turn + b.turn) / 2 + h / 8 * (a.rate - b.rate)
    rate = 1.5 / h * (b.turn - a.turn) - (a.rate + b.rate) / 4
    return Knot(a.t + h / 2, turn / np.linalg.norm(turn), rate)


def follow(chart: Chart, a: Knot, b: Knot, q: Array, depth: int = 0) -> tuple[Array, list[float]]:
    """Angles at knot b that continue those at knot a, and times at which the way passes a singularity.

    Angles that turn quickly next to a singularity are followed through it in ever smaller parts. Only a way that comes
    within rounding of the singularity continues on its other side, where the middle angle has the other sign.
    """
    if chart.name == ROTATION_VECTOR or not chart.is_sequence:
        return ori.from_quaternion(chart, b.turn, q), []
    found = same_sheet(chart, b.turn, q)
    if np.abs(found - q).max() < STEEP:
        return found, []
    through = ori.from_quaternion(chart, b.turn, q)
    if depth >= HALVINGS or min(ori.distance(chart, x) for x in (q, found)) < AT_POLE:
        return through, [(a.t + b.t) / 2] if sheet(chart, through) != sheet(chart, q) else []
    middle = between(a, b)
    half, first = follow(chart, a, middle, q, depth + 1)
    found, second = follow(chart, middle, b, half, depth + 1)
    return found, first + second


def layout_in(layout: Layout, charts: Mapping[str, tuple[Chart, Axes]]) -> Layout:
    """The layout with other charts and speeds for some orientations; their coordinates get the default names."""
    coordinates, speeds = list(layout.coordinates), list(layout.speeds)
    kinds, rate_kinds = list(layout.coordinate_kinds), list(layout.speed_kinds)
    units, found = dict(layout.units), []
    more = 0
    angle = next((layout.units[x] for x, k in zip(layout.speeds, layout.speed_kinds, strict=True) if k == "angle"), "")
    for x in layout.orientations:
        chart, axes = charts.get(x.joint, (x.chart, x.axes))
        at = x.at + more
        if chart != x.chart:
            names, kind = chart_names(x.joint, chart)
            coordinates[at : at + x.chart.count] = names
            kinds[at : at + x.chart.count] = [kind] * chart.count
            units |= dict.fromkeys(names, "" if kind == "quaternion" else "rad")
            more += chart.count - x.chart.count
        if (chart, axes) != (x.chart, x.axes):
            own = coordinates[at : at + chart.count]
            rates = [f"{name}_dot" for name in own] if axes == "rates" else [f"{x.joint}_w{a}" for a in "xyz"]
            speeds[x.v] = rates
            units |= dict.fromkeys(rates, angle)
        found.append(Oriented(x.joint, chart, axes, at, x.speed))
    return replace(
        layout,
        coordinates=tuple(coordinates),
        speeds=tuple(speeds),
        coordinate_kinds=tuple(kinds),
        speed_kinds=tuple(rate_kinds),
        units=units,
        orientations=tuple(found),
    )


def chart_names(joint: str, chart: Chart) -> tuple[list[str], str]:
    """Default names of the coordinates of an orientation, and their kind."""
    if chart.is_sequence:
        return [f"{joint}_{k}" for k in (1, 2, 3)], "angle"
    if chart.name == ROTATION_VECTOR:
        return [f"{joint}_r{a}" for a in "xyz"], "rotation"
    return [f"{joint}_q{k}" for k in range(4)], "quaternion"
