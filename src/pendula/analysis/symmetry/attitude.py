"""Orientation of bodies on ball joints in words: precession about the vertical, tilt from it, spin about the own axis.

Pictures and descriptions of modes use these instead of the components of a quaternion. The own axis is the axis of
symmetry of a body, or the line from its joint to its mass centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.symmetry.find import find_symmetries
from pendula.analysis.symmetry.geometry import Geometry, Unknown
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array
from pendula.system.system import System

UPRIGHT = 1e-6
"""sine of the tilt below which precession and spin are not distinguished"""


@dataclass(frozen=True)
class Attitude:
    """How the orientation of one body on a ball joint by quaternion is described.

    Attributes:
        body: its name.
        index: its index among the bodies.
        first: index of the first of its four coordinates, and
        speed: of the first of its three speeds.
        own: its own axis, in body axes; None if it has none.
        up: the upward vertical in world axes; None without gravity.
    """

    body: str
    index: int
    first: int
    speed: int
    own: Array | None
    up: Array | None

    def angles(self, t: Array, R: Array, omega: Array) -> dict[str, Array]:
        """Precession, tilt and spin [rad] over time; empty without own axis or vertical.

        Precession and spin are continuous: their rates decide about full turns between two times, however far these
        are apart. They are nan where the body is upright, so that only their sum is defined.

        Args:
            t: times.
            R: rotation matrices of the body at these times.
            omega: its angular velocities in world axes.
        """
        if self.own is None or self.up is None:
            return {}
        one, two = _across(self.up)
        ref, _ = _across(self.own)
        axis = R @ self.own
        height = axis @ self.up
        level = axis - height[..., None] * self.up
        size = np.linalg.norm(level, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            nodes = np.cross(self.up, axis) / size[..., None]
        mark = R @ ref
        phase = np.arctan2(np.sum(np.cross(nodes, mark) * axis, axis=-1), np.sum(nodes * mark, axis=-1))
        clear = size > UPRIGHT
        with np.errstate(invalid="ignore", divide="ignore"):
            spinning = np.sum(omega * level, axis=-1) / size**2  # omega = precession up + tilt nodes + spin axis
        turning = omega @ self.up - spinning * height
        return {
            f"precession of {self.body}": _continuous(t, np.arctan2(level @ two, level @ one), turning, clear),
            f"tilt of {self.body}": np.arctan2(size, height),
            f"spin of {self.body}": _continuous(t, phase, spinning, clear),
        }

    def parts(self, R: Array) -> tuple[tuple[str, str, str], Array]:
        """Names of three parts of a small rotation, and the matrix that gives them from its components in body axes."""
        if self.own is None:
            return _named(f"turn of {self.body} about its ", "xyz"), np.eye(3)
        one, two = _across(self.own)
        vertical = None if self.up is None else R.T @ self.up
        if vertical is None or np.linalg.norm(np.cross(vertical, self.own)) <= UPRIGHT:
            names = [_letter(x) for x in (one, two)]
            tilts = [f"tilt of {self.body} about {name}" for name in names]
            return (tilts[0], tilts[1], f"spin of {self.body}"), np.stack([one, two, self.own])
        nodes = np.cross(vertical, self.own)
        basis = np.stack([vertical, nodes / np.linalg.norm(nodes), self.own], axis=1)
        names_of = (f"precession of {self.body}", f"tilt of {self.body}", f"spin of {self.body}")
        return names_of, np.linalg.inv(basis)


def attitudes(system: System, parameters: Array) -> tuple[Attitude, ...]:
    """The descriptions of all bodies on ball joints by quaternion, in the joints' coordinates."""
    if not system.balls or not system.in_joints.same:
        return ()
    layout = system.layout
    try:
        return _attitudes(system, Geometry(system.model, layout.parameter_values(parameters)))
    except Unknown:
        return ()


def _attitudes(system: System, geometry: Geometry) -> tuple[Attitude, ...]:
    layout = system.layout
    spins = {s.bodies[0]: np.array(s.axis) for s in find_symmetries(system.model, geometry.values) if s.kind == "spin"}
    weight = float(np.linalg.norm(geometry.gravity))
    up = -geometry.gravity / weight if weight else None
    found = []
    for first, speed in system.balls:
        name = layout.speeds[speed].removesuffix("_wx")
        joint = next((j for j in system.model.tree if j.name == name), None)
        if joint is None:
            continue
        body = joint.child.body
        arm = geometry.mass(system.model.body(body))[1] - geometry.point(joint.child)
        own = spins.get(body)
        if own is not None and own @ arm < 0:
            own = -own
        if own is None and np.linalg.norm(arm):
            own = arm / np.linalg.norm(arm)
        found.append(Attitude(body, layout.bodies.index(body), first, speed, own, up))
    return tuple(found)


@dataclass(frozen=True)
class Shown:
    """Angles that pictures of a run show in place of quaternions: series and units by name, and what they replace."""

    series: dict[str, Array]
    units: dict[str, str]
    replaced: frozenset[str]


def shown_angles(run: Trajectory) -> Shown:
    """Precession and tilt along a run, spin in turns, and the components of quaternions that they replace."""
    system = run.system.in_joints.system
    q, v = run.joints
    found = Shown({}, {}, frozenset())
    described = attitudes(system, run.parameters)
    if not described:
        return found
    R, _ = system.poses(q, run.t, parameters=run.parameters)
    omega = system.body_motion(q, v, t=run.t, parameters=run.parameters).angular_velocity
    angle = system.model.unit_names.coordinate("angle")
    for one in described:
        angles = one.angles(run.t, R[:, one.index], omega[:, one.index])
        spin = f"spin of {one.body}"
        if angles and np.isfinite(angles[spin]).all():
            turns = {spin: angles[spin] / (2 * np.pi)}
            units = dict.fromkeys(angles, angle) | {spin: "turns"}
            gone = found.replaced | set(system.layout.coordinates[one.first : one.first + 4])
            found = Shown({**found.series, **angles, **turns}, {**found.units, **units}, gone)
    return found


def _continuous(t: Array, angle: Array, rate: Array, clear: Array) -> Array:
    """An angle without jumps of a full turn, by its rate; nan where it is not defined."""
    found = np.full(np.shape(angle), np.nan)
    if np.any(clear):
        mean = (rate[clear][1:] + rate[clear][:-1]) / 2
        expected = np.concatenate([[0.0], np.cumsum(mean * np.diff(t[clear]))])
        found[clear] = expected + np.unwrap(angle[clear] - expected)
    return found


def _across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors across an axis: the next coordinate axes if it is one of them."""
    k = int(np.argmax(np.abs(axis)))
    one = np.eye(3)[(k + 1) % 3]
    one = one - (one @ axis) * axis
    one = one / np.linalg.norm(one)
    return one, np.cross(axis, one)


def _letter(axis: Array) -> str:
    k = int(np.argmax(np.abs(axis)))
    return "xyz"[k] if np.allclose(np.abs(axis), np.eye(3)[k]) else f"({', '.join(f'{x:.3g}' for x in axis)})"


def _named(head: str, letters: str) -> tuple[str, str, str]:
    a, b, c = (f"{head}{x} axis" for x in letters)
    return a, b, c
