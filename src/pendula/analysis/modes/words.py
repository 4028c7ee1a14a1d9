"""Descriptions of modes: one sentence for each, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.modes import eigenmodes
from pendula.errors import NotSupported

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel
    from pendula.analysis.modes.eigenmodes import Mode
    from pendula.analysis.modes.modes import Modes
    from pendula.system.layout import Array
    from pendula.system.system import System

LISTED = 6
"""largest number of coordinates for which every amplitude is stated"""
IGNORED = 1e-3
"""a coordinate that moves less than this fraction of the largest of its unit is ignored"""
ALIGNED = 1.0
"""phases within this of 0 or 180 [deg] are in phase or out of phase"""
NEARLY = 20.0
"""phases within this [deg] are almost so"""


def sentence(mode: Mode, linear: LinearModel, others: Sequence[Mode] = ()) -> str:
    """A mode in one sentence: its kind, its frequency, and its shape; ``others`` are all modes of the model."""
    names, values, units = named_shape(mode, linear)
    round_ = goes_round(names, values, mode.eigenvalue)
    what = _what(mode, linear.at.layout.time_unit)
    if round_ is None or mode.kind != eigenmodes.OSCILLATION:
        nutating = _nutating(names, values) if mode.kind == eigenmodes.OSCILLATION else ""
        return f"{what}: {nutating}{shape_words(names, values, units)}."
    body, sense = round_
    spin = _spin_of(linear, body)
    known = [m for m in others if m.kind == eigenmodes.OSCILLATION and _body_going_round(m, linear) == body]
    name = ""
    if spin and len(known) == 2:
        slow = min(known, key=lambda m: abs(m.eigenvalue))
        name = ": precession" if slow.number == mode.number else ": nutation"
    way = "" if not spin else " in the sense of its spin" if sense * spin > 0 else " against the sense of its spin"
    return f"{what}: the axis of {body} goes round a cone{way}{name}."


def goes_round(names: tuple[str, ...], values: Array, eigenvalue: complex) -> tuple[str, int] | None:
    """The body whose axis alone goes round a circle, and the sense about that axis; None for other shapes."""
    size = np.abs(values)
    moving = np.flatnonzero(size > IGNORED * size.max(initial=0.0))
    if len(moving) != 2 or not all(names[k].startswith("tilt of ") and " about " in names[k] for k in moving):
        return None
    first, second = (names[k].removeprefix("tilt of ").partition(" about ")[0] for k in moving)
    ratio = complex(values[moving[1]] / values[moving[0]])
    if first != second or abs(abs(ratio) - 1) > 1e-3 or abs(ratio.real) > 1e-3:
        return None
    return first, -int(np.sign(ratio.imag)) * int(np.sign(eigenvalue.imag) or 1)


def _nutating(names: tuple[str, ...], values: Array) -> str:
    """The word for an oscillation of tilt and precession of one body alone, which needs spin; else empty."""
    size = np.abs(values)
    moving = {names[k] for k in np.flatnonzero(size > IGNORED * size.max(initial=0.0))}
    tilted = [name for name in moving if name.startswith("tilt of ") and " about " not in name]
    if len(tilted) != 1:
        return ""
    body = tilted[0].removeprefix("tilt of ")
    turn = f"precession of {body}"
    return f"nutation of {body}, " if turn in moving and moving <= {tilted[0], turn, f"spin of {body}"} else ""


def _body_going_round(mode: Mode, linear: LinearModel) -> str | None:
    names, values, _ = named_shape(mode, linear)
    found = goes_round(names, values, mode.eigenvalue)
    return None if found is None else found[0]


def _spin_of(linear: LinearModel, body: str) -> float:
    """Rate of rotation of a body about its own axis in a steady motion."""
    from pendula.analysis.symmetry.attitude import attitudes

    system, at = linear.system, linear.at
    assert system is not None
    one = next(a for a in attitudes(system, at.parameters) if a.body == body)
    omega = system.body_motion(at.q, at.v, parameters=at.parameters).angular_velocity[one.index]
    R = system.poses(at.q, parameters=at.parameters)[0][one.index]
    return float(omega @ R @ one.own) if one.own is not None else 0.0


def named_shape(mode: Mode, linear: LinearModel) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """Names, values and units of a shape: independent coordinates, or all of them if there are constraints.

    Small rotations on ball joints are tilt, precession and spin of the body; see ``symmetry/attitude.py``.
    """
    layout, system = linear.at.layout, linear.system
    if system is not None and system.balls and system.in_joints.same and not linear.chart:
        return _with_attitudes(mode, linear, system)
    if linear.Z.shape[0] == linear.Z.shape[1]:
        return linear.coordinates, mode.scaled, {n: linear.units.get(n, "") for n in linear.coordinates}
    return layout.coordinates, mode.everywhere, dict(layout.units)


def _with_attitudes(mode: Mode, linear: LinearModel, system: System) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """A shape along all speeds, with rotations of bodies on ball joints in words; its first entry is 1."""
    from pendula.analysis.linear.frame import frame_of
    from pendula.analysis.symmetry.attitude import attitudes

    at, frame = linear.at, frame_of(system)
    ds = linear.Z @ mode.scaled
    names, values = list(frame.coordinates), np.array(ds)
    units = {name: frame.units.get(name, "") for name in names}
    n = len(ds)
    turns = system.body_motion(np.broadcast_to(at.q, (n, len(at.q))), np.eye(n), parameters=at.parameters)
    R = system.poses(at.q, parameters=at.parameters)[0]
    for one in attitudes(system, at.parameters):
        parts, matrix = one.parts(R[one.index])
        rotation = R[one.index].T @ (turns.angular_velocity[:, one.index].T @ ds)
        for k, name in enumerate(parts):
            units[name] = units[names[one.speed + k]]
            names[one.speed + k], values[one.speed + k] = name, matrix[k] @ rotation
    largest = float(np.abs(values).max(initial=0.0))
    values = np.where(np.abs(values) > 1e-12 * largest, values, 0.0)
    first = next((x for x in values if abs(x) > IGNORED * largest), 1.0)
    values = values / first
    if np.iscomplexobj(values) and np.abs(values.imag).max(initial=0.0) <= 1e-14 * np.abs(values).max(initial=0.0):
        values = values.real
    return tuple(names), values, units


def _what(mode: Mode, unit: str) -> str:
    s = mode.eigenvalue
    head = f"mode {mode.number}"
    match mode.kind:
        case eigenmodes.OSCILLATION:
            period = f"period {mode.period:.4g} {unit}"
            if not s.real:
                return f"{head}, {mode.frequency:.6g} rad/{unit}, {_cycles(mode.hertz, unit)}, {period}"
            damped = f"{mode.damped_frequency:.6g} rad/{unit} damped, {_cycles(mode.damped_hertz, unit)}, {period}"
            return f"{head}, {damped}; |s| = {mode.frequency:.6g} rad/{unit}, damping ratio {mode.damping_ratio:.4g}"
        case eigenmodes.RIGID:
            return f"{head}, a rigid-body mode: no restoring force, no frequency"
        case eigenmodes.UNSTABLE:
            return f"{head} is unstable, with no frequency: it grows e-fold in {1 / s.real:.4g} {unit}"
        case eigenmodes.FLUTTER:
            growth = f"e-fold in {1 / s.real:.4g} {unit}"
            return f"{head} is an oscillation that grows: {s.imag:.6g} rad/{unit}, {growth}"
        case eigenmodes.DECAY:
            return f"{head} decays without oscillating, to 1/e in {-1 / s.real:.4g} {unit}"
    raise NotSupported(refusals.MODE_KIND, kind=mode.kind)


def _cycles(value: float | None, unit: str) -> str:
    return f"{value:.6g} Hz" if unit == "s" else f"{value:.6g} cycles/{unit}"


def shape_words(names: tuple[str, ...], values: Array, units: dict[str, str]) -> str:
    """A shape in words: which coordinates move in phase, by how much, and which one moves most."""
    largest: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        largest[units[name]] = max(largest.get(units[name], 0.0), abs(value))
    overall = max(largest.values())
    moving = [
        k
        for k, name in enumerate(names)
        if abs(values[k]) > IGNORED * largest[units[name]] and abs(values[k]) > 1e-9 * overall
    ]
    if len(moving) == 1:
        return f"only {names[moving[0]]} moves"
    phases = np.degrees(np.angle(values[moving] / values[moving[0]]))
    told = [_together([names[k] for k in moving], phases, len(moving) > LISTED)]
    first = moving[0]
    if len(moving) <= LISTED:
        told.append(_amplitudes(names, values, units, moving, phases))
    told += _most(names, values, units, moving, first)
    return "; ".join(told)


def _together(names: list[str], phases: Array, many: bool) -> str:
    """Whether coordinates move in phase, out of phase, or neither."""
    away = np.minimum(np.abs(phases), np.abs(np.abs(phases) - 180))
    if away.max() > NEARLY:
        return "coordinates reach their extremes at different times"
    almost = "almost " if away.max() > ALIGNED else ""
    against = np.abs(phases) > 90
    subject = "all coordinates" if many or len(names) > 2 else f"{names[0]} and {names[1]}"
    if not against.any():
        return f"{subject} move {almost}in phase"
    if len(names) == 2:
        return f"{subject} move {almost}out of phase"
    if many:
        changes = int(np.sum(against[1:] != against[:-1]))
        return f"neighbouring coordinates change sign {changes} time{'s' if changes > 1 else ''}"
    back = [n for n, a in zip(names, against, strict=True) if a]
    ahead = [n for n, a in zip(names, against, strict=True) if not a]
    return f"{_listed(ahead)} move{'s' * (len(ahead) == 1)} {almost}out of phase with {_listed(back)}"


def _amplitudes(names: tuple[str, ...], values: Array, units: dict[str, str], moving: list[int], phases: Array) -> str:
    """Amplitudes of the other coordinates per unit of the first."""
    first, *others = moving
    scale = values[first]
    in_degrees = all(units[names[k]] == "rad" for k in moving)
    parts = []
    for k, phase in zip(others, phases[1:], strict=True):
        ratio = values[k] / scale
        unit = "deg" if in_degrees else units[names[k]]
        turned = min(abs(phase), abs(abs(phase) - 180)) > ALIGNED
        size = abs(ratio) if turned else float(np.real(ratio))
        text = f"{names[k]} moves {size:.4g} {unit}".rstrip()
        parts.append(f"{text} {abs(phase):.4g} deg {'ahead' if phase > 0 else 'behind'}" if turned else text)
    unit = "deg" if in_degrees else units[names[first]]
    return f"while {names[first]} moves 1 {unit}".rstrip() + ", " + _listed(parts)


def _most(names: tuple[str, ...], values: Array, units: dict[str, str], moving: list[int], first: int) -> list[str]:
    """Which coordinate of each unit moves most, for units with several coordinates."""
    found = []
    for unit in dict.fromkeys(units[names[k]] for k in moving):
        group = [k for k in moving if units[names[k]] == unit]
        if len(group) < 2:
            continue
        sizes = np.abs(values[group])
        if sizes.min() > 0.999 * sizes.max():
            found.append(f"{_listed([names[k] for k in group])} move equally far")
            continue
        most = group[int(np.argmax(sizes))]
        extra = ""
        if len(moving) > LISTED and most != first and unit == units[names[first]]:
            extra = f", {abs(values[most] / values[first]):.4g} times as far as {names[first]}"
        among = f" in {unit}" if len({units[names[k]] for k in moving}) > 1 and unit else ""
        found.append(f"{names[most]} moves most{among}{extra}")
    return found


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def columns_of(found: Modes) -> dict[str, list[float | None]]:
    """Columns of the table by heading; damped modes have their frequency and the modulus of s."""
    unit = found.time_unit
    cycles = "Hz" if unit == "s" else f"cycles/{unit}"
    if found.damped:
        names = {
            f"damped rad/{unit}": "damped_frequency",
            f"damped {cycles}": "damped_hertz",
            f"period [{unit}]": "period",
            f"|s| rad/{unit}": "frequency",
        }
    else:
        names = {f"rad/{unit}": "frequency", cycles: "hertz", f"period [{unit}]": "period"}
    return {
        head: [getattr(m, name) for m in found.modes]
        for head, name in {**names, "damping ratio": "damping_ratio"}.items()
    }


def table_of(found: Modes) -> str:
    """A table of all modes, with a sentence for each of the first twenty."""
    at = ", ".join(f"{n} = {x:.6g}" for n, x in _point(found).items())
    title = f"{len(found)} mode{'s' if len(found) != 1 else ''}, {'damped' if found.damped else 'undamped'}, about {at}"
    columns = columns_of(found)
    rows: list[tuple[str, ...]] = [("mode", *columns, "")]
    for m, numbers in zip(found.modes, zip(*columns.values(), strict=True), strict=True):
        cells = [f"{x:.6g}" if x is not None else "-" for x in numbers]
        rows.append((str(m.number), *cells, "" if m.kind == eigenmodes.OSCILLATION else m.kind))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    told = [m.description for m in found.modes[:20]]
    if len(found) > len(told):
        told.append(f"... and {len(found) - len(told)} more")
    return "\n".join([title, *lines, *told, *(f"note: {n}" for n in found.notes)])


def _point(found: Modes) -> dict[str, Any]:
    """The first six coordinates of the equilibrium, and the nonzero speeds of a steady motion."""
    at = found.linear.at
    rates = {n: x for n, x in zip(at.layout.speeds, at.v.tolist(), strict=True) if x}
    return dict(zip(at.layout.coordinates[:6], at.q[:6].tolist(), strict=True)) | rates
