"""The same mechanisms in other engines: the chain of equal rods, and spatial chains with arbitrary axes.

The planar chain is ``library.chain(links=n)``: rods of 1 kg and 1 m, absolute angles from hanging straight down.
Engines with relative joint angles get the differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import pendula
from benchmarks.lineup import peer

Array = np.ndarray
MASS, LENGTH, CENTER, INERTIA, GRAVITY = 1.0, 1.0, 0.5, 1.0 / 12.0, 9.81
THIN = 1e-4  # inertia of a rod about its own axis, which never matters in the plane
DEEPEST_XML = 200  # MuJoCo refuses nested bodies beyond about 250 in its XML, not in its own builder


# --- the planar chain ---------------------------------------------------------------------------------


def chain_state(links: int) -> tuple[Array, Array]:
    """Random absolute angles and rates."""
    rng = np.random.default_rng(links)
    return rng.uniform(-3.0, 3.0, links), rng.uniform(-1.0, 1.0, links)


def chain_energy(q: Array, v: Array) -> Array:
    """Total energy of states (..., links), with the pivot as zero height."""
    sin, cos = np.sin(q), np.cos(q)
    vx, vy = (LENGTH * np.cumsum(part * v, axis=-1) for part in (cos, sin))  # at the lower ends
    x, y = (end - (LENGTH - CENTER) * part * v for end, part in ((vx, cos), (vy, sin)))
    height = -LENGTH * np.cumsum(cos, axis=-1) + (LENGTH - CENTER) * cos
    kinetic = 0.5 * MASS * (x**2 + y**2) + 0.5 * INERTIA * v**2
    return np.sum(kinetic + MASS * GRAVITY * height, axis=-1)


def energy_error(q: Array, v: Array) -> float:
    """Largest change of energy along a run, in joules; a run that broke gives infinity."""
    energy = chain_energy(np.asarray(q), np.asarray(v))
    change = float(np.abs(energy - energy[0]).max())
    return change if np.isfinite(change) else float("inf")


def chain_accelerations(q: Array, v: Array) -> Array:
    """Accelerations by the full mass matrix: slow, short, and independent of every recursion."""
    n = q.size
    k = np.arange(n)
    below = MASS * (n - 1 - np.maximum.outer(k, k))
    mass = LENGTH * (MASS * CENTER + LENGTH * below)
    mass[k, k] = INERTIA + MASS * CENTER**2 + LENGTH**2 * MASS * (n - 1 - k)
    apart = q[:, None] - q
    moment = GRAVITY * (MASS * CENTER + LENGTH * MASS * (n - 1 - k)) * np.sin(q)
    return np.linalg.solve(mass * np.cos(apart), -(mass * np.sin(apart)) @ v**2 - moment)


def relative(x: Array) -> Array:
    """Absolute angles or rates as differences from link to link."""
    return np.diff(x, prepend=0.0)


def recursion(q: Sequence[Any], v: Sequence[Any], sin: Callable[[Any], Any], cos: Callable[[Any], Any]) -> list[Any]:
    """Accelerations by the articulated-body recursion on any kind of expression, for engines that take formulas.

    From the tip to the pivot, (a, p) is the inertia and bias force that a pin feels of all below it.
    """
    m, l, c, g = MASS, LENGTH, CENTER, GRAVITY
    a11 = a12 = a22 = p1 = p2 = 0.0
    kept = []
    for angle, rate in zip(reversed(q), reversed(v), strict=True):
        s, t, w = sin(angle), cos(angle), rate * rate
        b1, b2 = l * (a11 * t + a12 * s), l * (a12 * t + a22 * s)
        inverse = 1.0 / (INERTIA + m * c * c + l * (t * b1 + s * b2))
        u1, u2 = m * c * t + b1, m * c * s + b2
        k1, k2 = p1 - w * (l * (a11 * s - a12 * t)), p2 - w * (l * (a12 * s - a22 * t))
        free = ((-m * c * g) * s - l * (t * k1 + s * k2)) * inverse
        x1, x2 = u1 * inverse, u2 * inverse
        kept.append((s, t, w, x1, x2, free))
        p1, p2 = k1 - (m * c) * w * s + u1 * free, k2 + (m * c) * w * t + m * g + u2 * free
        a11, a12, a22 = a11 + m - u1 * x1, a12 - u1 * x2, a22 + m - u2 * x2
    found, ax, ay = [], 0.0, 0.0
    for s, t, w, x1, x2, free in reversed(kept):
        a = free - x1 * ax - x2 * ay
        found.append(a)
        ax, ay = ax + l * (a * t - w * s), ay + l * (a * s + w * t)
    return found


def pinocchio_chain(links: int) -> Any:
    """The chain in Pinocchio, about x = forward, z = up; its angles turn the other way."""
    pin = peer("pinocchio")
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    rod = pin.Inertia(MASS, np.array([0.0, 0.0, -CENTER]), np.diag([INERTIA, INERTIA, THIN]))
    last = 0
    for k in range(links):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.0 if k == 0 else -LENGTH]))
        last = model.addJoint(last, pin.JointModelRY(), place, f"joint{k}")
        model.appendBodyToJoint(last, rod, pin.SE3.Identity())
    return model


def mujoco_chain(links: int, step: float = 1e-3) -> Any:
    """The chain in MuJoCo with fixed-step RK4, without contacts and constraints."""
    mujoco = peer("mujoco")
    spec = mujoco.MjSpec()
    body = spec.worldbody
    for k in range(links):
        body = body.add_body(
            pos=[0, 0, 0 if k == 0 else -LENGTH],
            mass=MASS,
            ipos=[0, 0, -CENTER],
            inertia=[INERTIA, INERTIA, THIN],
            explicitinertial=True,
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, -1, 0])
    model = spec.compile()
    off = mujoco.mjtDisableBit
    model.opt.gravity[:] = [0, 0, -GRAVITY]
    model.opt.disableflags |= int(off.mjDSBL_CONTACT) | int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_WARMSTART)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = step
    return model


def heyoka_chain(links: int) -> list[tuple[Any, Any]]:
    """The differential equations as heyoka takes them: (variable, its rate)."""
    hy = peer("heyoka")
    q, v = (hy.make_vars(*[f"{letter}{k}" for k in range(links)]) for letter in "qv")
    if links == 1:
        q, v = [q], [v]
    return [*zip(q, v, strict=True), *zip(v, recursion(q, v, hy.sin, hy.cos), strict=True)]


def jax_accelerations(links: int) -> Callable[[Any], Any]:
    """The recursion as two scans, so that the compiled code stays small."""
    jax = peer("jax")
    jax.config.update("jax_enable_x64", True)
    np_ = jax.numpy
    m, l, c, g = MASS, LENGTH, CENTER, GRAVITY

    def inward(carry: Any, link: Any) -> Any:
        (a11, a12, a22, p1, p2), (s, t, w) = carry, link
        b1, b2 = l * (a11 * t + a12 * s), l * (a12 * t + a22 * s)
        inverse = 1.0 / (INERTIA + m * c * c + l * (t * b1 + s * b2))
        u1, u2 = m * c * t + b1, m * c * s + b2
        k1, k2 = p1 - w * l * (a11 * s - a12 * t), p2 - w * l * (a12 * s - a22 * t)
        free = (-m * c * g * s - l * (t * k1 + s * k2)) * inverse
        x1, x2 = u1 * inverse, u2 * inverse
        mass = (a11 + m - u1 * x1, a12 - u1 * x2, a22 + m - u2 * x2)
        return (*mass, k1 - m * c * w * s + u1 * free, k2 + m * c * w * t + m * g + u2 * free), (x1, x2, free)

    def outward(carry: Any, link: Any) -> Any:
        (ax, ay), (s, t, w, x1, x2, free) = carry, link
        a = free - x1 * ax - x2 * ay
        return (ax + l * (a * t - w * s), ay + l * (a * s + w * t)), a

    def accelerations(y: Any) -> Any:
        s, t, w = np_.sin(y[:links]), np_.cos(y[:links]), y[links:] ** 2
        zero = 0.0 * y[0]
        kept = jax.lax.scan(inward, (zero,) * 5, (s, t, w), reverse=True)[1]
        return jax.lax.scan(outward, (zero, zero), (s, t, w, *kept))[1]

    return accelerations


# --- spatial chains -----------------------------------------------------------------------------------


def _rotation(rng: np.random.Generator) -> Array:
    """A random rotation matrix."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


@dataclass(frozen=True)
class SpatialChain:
    """A chain of revolute joints with arbitrary axes, frames, mass centres and inertias."""

    links: int
    seed: int = 0

    @cached_property
    def numbers(self) -> list[tuple[Array, Array, Array, float, Array, Array]]:
        """Of every link: axis, rotation and place of its joint on the link before, mass, mass centre, inertia."""
        rng = np.random.default_rng(self.seed)
        found = []
        for _ in range(self.links):
            axis = rng.normal(size=3)
            turn, place, mass = _rotation(rng), rng.uniform(-0.5, 0.5, 3), float(rng.uniform(0.5, 2.0))
            body = _rotation(rng)
            inertia = body @ np.diag(0.3 * mass * rng.uniform(0.2, 0.4, 3)) @ body.T
            center = rng.uniform(-0.3, 0.3, 3)
            found.append((axis / np.linalg.norm(axis), turn, place, mass, center, 0.5 * (inertia + inertia.T)))
        return found

    def state(self) -> tuple[Array, Array]:
        """Random angles and rates."""
        rng = np.random.default_rng(self.seed + 1)
        return rng.uniform(-3.0, 3.0, self.links), rng.uniform(-1.0, 1.0, self.links)

    def ours(self) -> pendula.Model:
        """As our model; z points up."""
        from scipy.spatial.transform import Rotation

        bodies, joints = [], []
        for k, (axis, turn, place, mass, center, inertia) in enumerate(self.numbers):
            shape = {"com": center.tolist(), "inertia": inertia.tolist()}
            bodies.append({"name": f"b{k}", "mass": mass, **shape})
            vector = Rotation.from_matrix(turn).as_rotvec()
            angle = float(np.linalg.norm(vector))
            side = {
                "body": "ground" if k == 0 else f"b{k - 1}",
                "position": place.tolist(),
                "rotation": {"axis": (vector / angle).tolist(), "angle": angle},
            }
            joint = {"name": f"j{k}", "type": "revolute", "parent": side, "child": f"b{k}", "axis": axis.tolist()}
            joints.append(joint)
        return pendula.Model(name="spatial chain", gravity=[0, 0, -GRAVITY], bodies=bodies, joints=joints)

    def pinocchio(self) -> Any:
        """The same numbers in Pinocchio."""
        pin = peer("pinocchio")
        model = pin.Model()
        model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
        last = 0
        for k, (axis, turn, place, mass, center, inertia) in enumerate(self.numbers):
            last = model.addJoint(last, pin.JointModelRevoluteUnaligned(axis), pin.SE3(turn, place), f"j{k}")
            model.appendBodyToJoint(last, pin.Inertia(mass, center, inertia), pin.SE3.Identity())
        return model
