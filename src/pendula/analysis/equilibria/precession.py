"""Steady precession of a spinning body of revolution on a fixed point: both rates, slow and fast.

At a given tilt and spin the balance of moments is quadratic in the rate of precession: for a heavy top
A cos(tilt) W^2 - C s W + m g l = 0, with the inertia A about the support and C about the own axis (Goldstein,
Classical Mechanics, section 5.7). The three coefficients follow from forces at three rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium, describe
from pendula.analysis.equilibria.turning import Turning, rotation
from pendula.analysis.symmetry.find import Symmetry, find_symmetries
from pendula.analysis.symmetry.geometry import Geometry
from pendula.arguments import read_number
from pendula.errors import NoConvergence, NotSupported, UsageError
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.system.system import System
from pendula.words import readable

EXACT = 1e-9
"""a coefficient or a remaining moment below this, relative to the largest, is zero"""


@readable
@dataclass(frozen=True)
class Precession:
    """Steady precessions of a spinning body at one tilt.

    Attributes:
        tilt: angle between the body's axis, from the support to the mass centre, and the upward vertical [rad].
        spin: angular velocity about the body's own axis (its component along it, which the motion keeps).
        rates: rates of precession about the upward vertical, the slow one first; one only if the other is infinite.
        motions: the steady motion of each.

    Example:
        >>> import pendula
        >>> found = pendula.equilibria.steady_precession("heavy-top", tilt=0.5, spin=60.0)
        >>> [round(x, 4) for x in found.rates]  # A cos(tilt) W^2 - C s W + m g l = 0
        [1.0842, 17.7764]
    """

    tilt: float
    spin: float
    rates: tuple[float, ...]
    motions: tuple[Equilibrium, ...]

    @property
    def slow(self) -> Equilibrium:
        """The motion with the smaller rate of precession."""
        return self.motions[0]

    @property
    def fast(self) -> Equilibrium:
        """The motion with the larger rate of precession."""
        return self.motions[-1]

    def __str__(self) -> str:
        unit = self.motions[0].layout.time_unit
        names = ("slow", "fast") if len(self.rates) == 2 else ("only",)
        parts = [f"{name} {rate:.6g} rad/{unit}" for name, rate in zip(names, self.rates, strict=True)]
        tilt = np.degrees(self.tilt)
        return f"steady precession at tilt {tilt:.6g} deg, spin {self.spin:.6g} rad/{unit}: {', '.join(parts)}"


def steady_precession(
    system: AnySystem,
    tilt: float,
    spin: float,
    *,
    body: str | None = None,
    inputs: Any = None,
    parameters: Parameters = None,
) -> Precession:
    """Both steady precessions of a spinning body of revolution, at a tilt and a spin.

    The body is on a ball joint by quaternion, or by Euler angles whose first axis is the vertical and whose last one is
    the body's own, such as zxz.

    Args:
        system: a system, a model, or the name of a library mechanism.
        tilt: angle between the body's axis and the upward vertical [rad], between 0 and pi.
        spin: angular velocity about the body's own axis [rad/time].
        body: which body; needed if several can precess.
        inputs, parameters: as in :func:`pendula.find_equilibria`.

    Raises:
        NoConvergence: the spin is too small for this tilt; the message gives the least one.
        NotSupported: the mechanism has no such body.

    Example:
        >>> found = steady_precession("heavy-top", tilt=0.5, spin=60.0)
        >>> print(found)
        steady precession at tilt 28.6479 deg, spin 60 rad/s: slow 1.0842 rad/s, fast 17.7764 rad/s
    """
    joints = system_of(system, "steady_precession", inputs=inputs).in_joints.system
    tilt, spin = read_number(tilt, "tilt"), read_number(spin, "spin")
    if not (0.0 < tilt < np.pi and np.isfinite(spin)):
        raise UsageError(f"tilt must lie between 0 and pi rad and spin be finite, found {tilt:g} and {spin:g}")
    top = _Top.of(joints, Balance.of(joints, inputs, parameters), body, tilt)
    rates = top.rates(spin)
    motions = []
    for k, rate in enumerate(rates):
        balance, v = top.motion(rate, spin)
        left = float(np.abs(balance.unbalanced(top.q, v)).max()) / balance.scale(top.q, v)
        if not left <= BALANCED:
            raise NotSupported(refusals.NO_PRECESSION)
        motions.append(describe(balance, top.q, v, left, ("slow", "fast")[k]))
    return Precession(tilt, spin, rates, tuple(motions))


@dataclass(frozen=True)
class _Top:
    """A body of revolution at one tilt: its pose, and speeds for a unit precession and a unit spin."""

    balance: Balance
    q: Array
    precession: Array
    own: Array
    by_quaternion: bool
    cosine: float

    @classmethod
    def of(cls, system: System, balance: Balance, body: str | None, tilt: float) -> _Top:
        turn, spin = _pair(system, balance, body)
        geometry = Geometry(system.model, system.layout.parameter_values(balance.parameters))
        up = np.array(turn.axis)
        up = -up if geometry.gravity @ up > 0 else up
        joint = system.model.joint(spin.joint)
        _, outer = geometry.side(joint.parent)
        origin, inner = geometry.side(joint.child)
        own = np.array(spin.axis)
        own = -own if (np.array(spin.point) - origin) @ own < 0 else own
        a, b = outer.T @ up, inner.T @ own
        n = len(system.layout.speeds)
        q, v1, v2 = np.array(system.state().q, dtype=float), np.zeros(n), np.zeros(n)
        ball = next(((at, k) for at, k in system.balls if system.layout.speeds[k] == f"{joint.name}_wx"), None)
        if ball is not None:
            at, k = ball
            q[at : at + 4] = _tilted(a, b, tilt)
            v1[k : k + 3], v2[k : k + 3] = rotation(q[at : at + 4]).T @ a, b
            return cls(balance, q, v1, v2, True, float(np.cos(tilt)))
        if not (turn.coordinate and spin.coordinate):
            raise NotSupported(refusals.PRECESSION_ANGLES)
        signs = [np.sign(np.array(s.axis) @ x) for s, x in ((turn, up), (spin, own))]
        v1[system.layout.speeds.index(f"{turn.coordinate}_dot")] = signs[0] * _sense(system, turn)
        v2[system.layout.speeds.index(f"{spin.coordinate}_dot")] = signs[1] * _sense(system, spin)
        middle = next(c for c in joint.coordinate_names() if c not in (turn.coordinate, spin.coordinate))
        q = _tilted_angle(system, balance, q, system.layout.coordinates.index(middle), up, own, spin.bodies[0], tilt)
        return cls(balance, q, v1, v2, False, float(np.cos(tilt)))

    def motion(self, rate: float, spin: float) -> tuple[Balance, Array]:
        """The balance of forces and the speeds, for a rate of precession and a spin."""
        relative = spin - rate * self.cosine
        v = rate * self.precession + relative * self.own
        if not self.by_quaternion:
            return self.balance, v
        system = self.balance.system
        turning = Turning.at(system, self.q, v, relative * self.own)
        return turning.seen_from(self.balance), v

    def moment(self, rate: float, spin: float) -> Array:
        """The unbalanced forces."""
        balance, v = self.motion(rate, spin)
        return balance.forces(self.q, v)

    def rates(self, spin: float) -> tuple[float, ...]:
        """The roots of the balance of moments, which is quadratic in the rate, by increasing size."""
        unit = abs(spin) or 1.0
        low, zero, high = (self.moment(x, spin) for x in (-unit, 0.0, unit))
        square, linear = (high + low) / 2 - zero, (high - low) / 2
        row = int(np.argmax(np.abs(square) + np.abs(linear) + np.abs(zero)))
        a, b, c = float(square[row]), float(linear[row]), float(zero[row])
        size = max(abs(a), abs(b), abs(c), 1e-300)
        if abs(a) <= EXACT * size:
            if abs(b) <= EXACT * size:
                raise NoConvergence("no steady precession at this tilt: the body must spin.", last=self.q, residual=1.0)
            return (-c / b * unit,)
        inside = b * b - 4 * a * c
        if inside < 0.0:
            least = abs(spin) * np.sqrt(4 * a * c) / abs(b) if b else np.inf
            needed = f"at least {least:.6g}, found {abs(spin):.6g}" if np.isfinite(least) else "not zero"
            raise NoConvergence(
                f"no steady precession at this tilt: the spin must be {needed}.",
                last=self.q,
                residual=-inside / size**2,
            )
        far = -(b + np.copysign(np.sqrt(inside), b)) / 2
        roots = sorted((unit * far / a, unit * c / far if far else 0.0), key=abs)
        return float(roots[0]), float(roots[1])


def _pair(system: System, balance: Balance, body: str | None) -> tuple[Symmetry, Symmetry]:
    """The rotation about the vertical and the spin of one body on the same joint."""
    found = find_symmetries(system.model, system.layout.parameter_values(balance.parameters))
    turns = [s for s in found if s.kind == "turn"]
    pairs = [(t, s) for s in found if s.kind == "spin" for t in turns if t.joint == s.joint and t.bodies == s.bodies]
    pairs = [(t, s) for t, s in pairs if body in (None, s.bodies[0])]
    names = sorted({s.bodies[0] for _, s in pairs})
    if len(names) > 1:
        raise UsageError(f"several bodies can precess: {', '.join(names)}; name one of them as body")
    if not pairs:
        what = f'body "{body}"' if body is not None else "no body"
        raise NotSupported(refusals.NO_TOP, what=what, can="can" if body is None else "cannot")
    if len(pairs) > 1:  # without gravity any direction may be called vertical
        pairs = [p for p in pairs if p[0].direction == "z"] or pairs
    return pairs[0]


def _tilted(a: Array, b: Array, tilt: float) -> Array:
    """The quaternion that turns the body's axis b to an angle from the vertical a."""
    across = np.eye(3)[np.argmin(np.abs(a))]
    across = across - (across @ a) * a
    wanted = np.cos(tilt) * a + np.sin(tilt) * across / np.linalg.norm(across)
    q = np.concatenate([[1.0 + b @ wanted], np.cross(b, wanted)])
    if np.linalg.norm(q) < 1e-9:
        other = np.cross(b, np.eye(3)[np.argmin(np.abs(b))])
        q = np.concatenate([[0.0], other])
    return np.asarray(q / np.linalg.norm(q))


def _sense(system: System, symmetry: Symmetry) -> float:
    """1 if a positive rate of the cyclic coordinate turns positively about the axis, else -1."""
    n = len(system.layout.speeds)
    v = np.zeros(n)
    v[system.layout.speeds.index(f"{symmetry.coordinate}_dot")] = 1.0
    q = np.array(system.state().q, dtype=float) + 0.1
    body = system.layout.bodies.index(symmetry.bodies[0])
    omega = system.body_motion(q, v).angular_velocity[body]
    R = system.poses(q)[0][body]
    axis = np.array(symmetry.axis)
    return float(np.sign(omega @ (R @ axis if symmetry.kind == "spin" else axis)))


def _tilted_angle(
    system: System, balance: Balance, q: Array, k: int, up: Array, own: Array, body: str, tilt: float
) -> Array:
    """The pose whose middle angle gives a tilt; the cosine of the tilt is a + b cos + c sin of that angle."""
    index = system.layout.bodies.index(body)

    def cosine(angle: float) -> float:
        pose = replace_at(q, k, angle)
        return float(up @ system.poses(pose, parameters=balance.parameters)[0][index] @ own)

    at0, at90, at180 = (cosine(x) for x in (0.0, np.pi / 2, np.pi))
    mean, c = (at0 + at180) / 2, (at0 - at180) / 2
    s = at90 - mean
    reach = float(np.hypot(c, s))
    angle = np.arctan2(s, c) + np.arccos(np.clip((np.cos(tilt) - mean) / reach, -1.0, 1.0))
    return replace_at(q, k, float((angle + np.pi) % (2 * np.pi) - np.pi))


def replace_at(q: Array, k: int, value: float) -> Array:
    """A copy with one entry replaced."""
    found = np.array(q, dtype=float)
    found[k] = value
    return found
