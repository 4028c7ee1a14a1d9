"""Steady motions: constant rates of coordinates, and constant rotations of ball joints by quaternion.

A ball joint may turn at a constant rate about an axis that is fixed on its parent side (W), and its body may spin at a
constant rate about an axis that is fixed in it (s). Its rotation is then R(t) = exp(W t) R exp(s t). In axes that take
part in the first rotation but not in the spin, a steady motion is at rest: it is a relative equilibrium. With
p = R^T W, the angular velocity in these axes is p + s, and the equations M v' = f become M v' = f + M (s x v).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import ALIKE, PROBES, is_cyclic
from pendula.arguments import available, read_number, read_table
from pendula.errors import UsageError
from pendula.system.layout import Array
from pendula.system.orientation.rotations import about, multiply
from pendula.system.system import System

if TYPE_CHECKING:
    from pendula.analysis.equilibria.equilibrium import Equilibrium

FORM = '"{joint} about body z" or "{joint} about world z"'


@dataclass(frozen=True)
class Turning:
    """A steady motion of a system.

    Attributes:
        rates: by speed, constant rates of cyclic coordinates.
        fixed: at the speeds of ball joints, the part of their angular velocity about an axis that is fixed on the
            parent side, in parent axes.
        spin: at the same speeds, the part about an axis of the child, in child axes.
    """

    rates: Array
    fixed: Array
    spin: Array

    @classmethod
    def of(cls, system: System, v: Array) -> Turning:
        """Constant rates without rotations of ball joints."""
        zero = np.zeros(len(system.layout.speeds))
        return cls(np.asarray(v, dtype=float), zero, zero)

    @classmethod
    def at(cls, system: System, q: Array, v: Array, spin: Array) -> Turning:
        """The steady motion through a state, whose bodies spin by a given part of v."""
        rates, fixed = np.array(v, dtype=float), np.zeros(len(v))
        for at, k in system.balls:
            rates[k : k + 3] = 0.0
            fixed[k : k + 3] = rotation(q[at : at + 4]) @ (v - spin)[k : k + 3]
        return cls(rates, fixed, spin)

    def __bool__(self) -> bool:
        return bool(np.any(self.rates) or np.any(self.fixed) or np.any(self.spin))

    def seen_from(self, balance: Balance) -> Balance:
        """The balance of forces in axes that do not take part in the spin."""
        return replace(balance, spin=self.spin) if np.any(self.spin) else balance

    def speeds(self, system: System, q: Array) -> Array:
        """Speeds at some poses (leading dimensions are a batch)."""
        v = np.broadcast_to(self.rates + self.spin, (*np.shape(q)[:-1], len(self.rates)))
        if not np.any(self.fixed):
            return v
        v = np.array(v)
        for at, k in system.balls:
            v[..., k : k + 3] += np.einsum("...ji,j->...i", rotation(q[..., at : at + 4]), self.fixed[k : k + 3])
        return v

    def turned_back(self, system: System, q: Array) -> Array:
        """For each of some poses, one of those that the steady motion passes through; the same for all of these."""
        found = np.array(q, dtype=float)
        for at, k in system.balls:
            fixed, spin = self.fixed[k : k + 3], self.spin[k : k + 3]
            if np.any(fixed) or np.any(spin):
                found[..., at : at + 4] = _without_twist(found[..., at : at + 4], fixed, spin)
        return found


def _without_twist(q: Array, fixed: Array, spin: Array) -> Array:
    """Quaternions without their rotation about an axis of the parent side, an axis of the child, or both."""
    a, b = (x / np.linalg.norm(x) if np.any(x) else None for x in (fixed, spin))
    axis = a if a is not None else b
    assert axis is not None
    align = _between(axis, b) if b is not None else np.array([1.0, 0.0, 0.0, 0.0])
    w, v = _split(multiply(np.moveaxis(q, -1, 0), align))
    one = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    one = one / np.linalg.norm(one)
    two = np.cross(axis, one)
    z1, z2 = w + 1j * (v @ axis), v @ one + 1j * (v @ two)
    small = np.abs(z1) < np.abs(z2) * 1e-6
    phase1 = np.where(np.abs(z1) > 0, z1 / np.where(z1 == 0, 1, np.abs(z1)), 1.0)
    phase2 = np.where(np.abs(z2) > 0, z2 / np.where(z2 == 0, 1, np.abs(z2)), 1.0)
    if a is not None and b is not None:
        z1, z2 = np.abs(z1) + 0j, np.abs(z2) + 0j
    elif a is not None:
        phase = np.where(small, phase2, phase1)
        z1, z2 = z1 / phase, z2 / phase
    else:
        phase = np.where(small, np.conj(phase2), phase1)
        z1, z2 = z1 / phase, z2 * phase
    vector = z1.imag[..., None] * axis + z2.real[..., None] * one + z2.imag[..., None] * two
    back = (align[0], *-align[1:])
    return np.stack(multiply((z1.real, *np.moveaxis(vector, -1, 0)), back), axis=-1)


def _split(q: tuple[Array, ...]) -> tuple[Array, Array]:
    return np.asarray(q[0]), np.stack(q[1:], axis=-1)


def _between(a: Array, b: Array) -> Array:
    """A unit quaternion whose rotation turns one unit vector into another."""
    if a @ b < -1 + 1e-12:
        across = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], across / np.linalg.norm(across)])
    q = np.concatenate([[1.0 + a @ b], np.cross(a, b)])
    return np.asarray(q / np.linalg.norm(q))


def turning_at(balance: Balance, q: Array, v: Array) -> Turning | None:
    """The steady motion of ball joints through a state; None if they do not move."""
    system = balance.system
    if not any(np.any(v[k : k + 3]) for _, k in system.balls):
        return None
    return Turning.at(system, q, v, np.zeros(len(v)) if balance.spin is None else balance.spin)


def steady_speeds(system: System, at: Equilibrium, q: Array) -> Array:
    """Speeds of the steady motion of an equilibrium, at another pose."""
    if not system.balls or not np.any(at.v):
        return at.v
    return Turning.at(system, at.q, at.v, np.zeros(len(at.v)) if at.spin is None else at.spin).speeds(system, q)


def spun(system: System, q: Array, turn: Array) -> tuple[Array, Array]:
    """A pose after bodies on ball joints turned about their own axes, and the matrix that turns their speeds back."""
    q, S = np.array(q, dtype=float), np.eye(len(turn))
    for at, k in system.balls:
        angle = float(np.linalg.norm(turn[k : k + 3]))
        if angle:
            step = about(tuple(turn[k : k + 3]), angle)
            q[at : at + 4] = multiply(tuple(q[at : at + 4]), step)
            S[k : k + 3, k : k + 3] = rotation(np.array(step))
    return q, S


def rotation(q: Array) -> Array:
    """Rotation matrices of unit quaternions, shape (..., 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array([[np.asarray(e) for e in row] for row in rows]), (0, 1), (-2, -1))


def read_turning(balance: Balance, rates: Mapping[str, float] | None, rng: np.random.Generator) -> Turning:
    """The steady motion that rates by name describe; raises UsageError for what cannot keep a constant rate.

    A name is a cyclic coordinate or its speed (``phi``, ``phi_dot``); for a ball joint by quaternion ``pivot about body
    z`` (or its speed ``pivot_wz``) is a spin about an axis of the body, ``pivot about world z`` a rotation about an
    axis of the parent side.
    """
    layout = balance.system.layout
    found = Turning(*(np.zeros(len(layout.speeds)) for _ in range(3)))
    for given, rate in read_table(rates, "rates").items():
        value = read_number(rate, f'rates: "{given}"')
        if not math.isfinite(value):
            raise UsageError(f"rates: the rate of {given} is not finite")
        name = given.removesuffix("_dot") if given in layout.speeds else given
        if name in layout.coordinates and f"{name}_dot" in layout.speeds:
            if value and not is_cyclic(balance, name, rng):
                raise UsageError(
                    f'"{name}" cannot keep a constant rate while all else is at rest: forces or masses depend on it.\n'
                    "  Try: rates of cyclic coordinates only, or prescribe the motion in the model."
                )
            found.rates[layout.speeds.index(f"{name}_dot")] = float(value)
            continue
        k, kind = _ball_axis(balance.system, given)
        (found.spin if kind == "body" else found.fixed)[k] += float(value)
    for kind, turn in (("body", found.spin), ("world", found.fixed)):
        if np.any(turn):
            _refuse_uneven(balance, turn, kind, rng)
    return found


def _ball_axis(system: System, given: str) -> tuple[int, str]:
    """Index of the speed of a ball joint, and whether the axis belongs to the ``body`` or to the ``world``."""
    layout = system.layout
    names = {layout.speeds[k].removesuffix("_wx"): k for _, k in system.balls}
    for joint, k in names.items():
        for i, axis in enumerate("xyz"):
            if given in (f"{joint}_w{axis}", f"{joint}_r{axis}"):
                return k + i, "body"
            for kind in ("body", "world"):
                if " ".join(given.split()) == f"{joint} about {kind} {axis}":
                    return k + i, kind
    known = [n for n in layout.coordinates if f"{n}_dot" in layout.speeds][:10]
    known += [FORM.format(joint=joint) for joint in list(names)[:3]]
    raise UsageError(f'rates: there is no coordinate "{given}"; {available(known)}')


def _refuse_uneven(balance: Balance, turn: Array, kind: str, rng: np.random.Generator) -> None:
    """Raises UsageError if the mechanism changes when ball joints turn about an axis of the world or of the body."""
    system = balance.system
    n = len(turn)
    q = rng.uniform(-1.0, 1.0, size=(PROBES, len(system.layout.coordinates)))
    v, angles = rng.normal(size=(PROBES, n)), rng.uniform(0.5, 2.5, size=PROBES)
    for at, _ in system.balls:
        q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    later, S = q.copy(), np.broadcast_to(np.eye(n), (PROBES, n, n)).copy()
    for at, k in system.balls:
        axis = turn[k : k + 3]
        if not np.any(axis):
            continue
        for i, angle in enumerate(angles):
            step, here = about(tuple(axis), angle), tuple(q[i, at : at + 4])
            later[i, at : at + 4] = multiply(step, here) if kind == "world" else multiply(here, step)
            if kind == "body":
                S[i, k : k + 3, k : k + 3] = rotation(np.array(step))
    here, there = _look(balance, q, v, None), _look(balance, later, np.einsum("bji,bj->bi", S, v), S)
    size = np.abs(here).max(initial=1e-300)
    if not np.abs(here - there).max(initial=0.0) <= ALIKE * size:
        whose = "body" if kind == "body" else "parent side"
        names = [name for name, x in zip(system.layout.speeds, turn, strict=True) if x]
        raise UsageError(
            f"{names[0].rpartition('_w')[0]} cannot keep a constant rate about this axis of the {whose}: forces or "
            "masses change with it.\n"
            "  Try: the axis of gravity for the world, an axis about which two inertias are equal for the body; any "
            "other body rotates steadily about an axis of the world."
        )


def _look(balance: Balance, q: Array, v: Array, S: Array | None) -> Array:
    """Forces, masses and loops at some states, in axes turned back by S."""
    system = balance.system
    forces = balance.forces(q, v)
    masses = system.mass_matrix(q, 0.0, parameters=balance.parameters)
    loops = balance.loops(q, v, 0.0, S)
    if S is not None:
        forces = np.einsum("bij,bj->bi", S, forces)
        masses = S @ masses @ np.swapaxes(S, 1, 2)
    return np.concatenate([forces, masses.reshape(len(q), -1), loops], axis=1)
