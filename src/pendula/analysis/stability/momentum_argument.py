"""Stability of steady motions by energy and momenta together, for mechanisms with symmetries.

In axes that take part in the steady motion, the energy minus the momenta times the rates of the motion is constant. If
its second variation is definite, of either sign, on all disturbances that leave the momenta unchanged, apart from the
motions of the symmetry itself, then the steady motion is stable up to drift along these (the energy-momentum method:
Arnold 1966; Simo, Lewis and Marsden 1991; Patrick 1992; for motions that are themselves symmetric, as a sleeping top:
Lerman and Singer 1998). For a free body it is the energy-Casimir argument.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pendula.analysis.equilibria.balance import null_basis
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.poles import in_quaternions
from pendula.analysis.equilibria.spins import spin_columns
from pendula.analysis.linear.linearize import linearize
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.stability.energy_argument import is_damped, why_not_conservative
from pendula.analysis.symmetry.find import Symmetry, find_symmetries, twist
from pendula.analysis.symmetry.geometry import Geometry
from pendula.errors import PendulaError
from pendula.model.joints import TreeJoint
from pendula.system.layout import Array
from pendula.system.system import System

BELONGS = 1e-9
"""a motion belongs to the symmetries if its bodies move so up to this fraction"""
CLEAR = 1e-7
"""a second variation is definite if its eigenvalues exceed this fraction of the largest"""
SPLITS = 48
"""number of steps of the search for the split of a rotation that both a body and its surroundings permit"""
REACH = 3.0
"""that search extends to this many times the rate of the motion"""
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Steady:
    """The finding: the steady motion is stable up to drift along some symmetries.

    Attributes:
        drifts: these, in words.
        reason: the argument in words.
    """

    drifts: tuple[str, ...]
    reason: str


def momentum_finding(model: LinearModel) -> Steady | None:
    """Whether energy and momenta prove a steady motion stable; None if they do not decide."""
    system = model.system
    if system is None or not np.any(model.at.v) or system.drives or system.loop_rows:
        return None
    if model.displacements or why_not_conservative(model) or is_damped(model) or system.has_power:
        return None
    try:
        return _finding(_in_quaternions(model))
    except (PendulaError, np.linalg.LinAlgError):
        return None


def _in_quaternions(model: LinearModel) -> LinearModel:
    """The same linear model with quaternions in all ball joints."""
    system, at = model.system, model.at
    assert system is not None
    there = in_quaternions(system, at.q, at.v, at.parameters)
    return model if there is None else linearize(*there, inputs=at.inputs, parameters=at.parameters)


def _finding(model: LinearModel) -> Steady | None:
    group = _Group.of(model)
    if group is None:
        return None
    shape = group.definite()
    if shape is None and group.still.shape[1]:
        for split in (_all_spin, _better_split):
            with suppress(PendulaError, np.linalg.LinAlgError):
                if shape is None and (other := split(model, group)) is not None:
                    group, shape = other, other.definite()
    if shape is None:
        return None
    kept = "energy at fixed momenta has a strict " + ("minimum" if shape > 0 else "maximum")
    words = tuple(group.drifts())
    reason = (
        f"the {kept} apart from {', '.join(words)}: its second variation is definite (Routh; energy-momentum method). "
        "The stability is orbital: a disturbed motion stays close to this one up to a drift along these"
    )
    return Steady(words, reason)


# --- the symmetries at one linear model -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Group:
    """Symmetries of a mechanism at a steady motion.

    Attributes:
        model: the linear model in axes that take part in the motion.
        symmetries: in the order of the columns.
        shapes: displacements e of a unit motion of each, by columns.
        rates: their rates in these axes, where a fixed direction rotates backwards.
        still: combinations of symmetries, by columns, that move nothing here, such as the rotation of an upright top
            about the vertical minus its spin.
        shifts: translations, which do not affect the other motions, in words; they are removed from the columns.
        M, G, K: mass, gyroscopic and stiffness matrix without these translations.
    """

    model: LinearModel
    symmetries: tuple[Symmetry, ...]
    shapes: Array
    rates: Array
    still: Array
    shifts: tuple[str, ...]
    M: Array
    G: Array
    K: Array

    @classmethod
    def of(cls, model: LinearModel) -> _Group | None:
        """The symmetries, if the steady motion is one of them; else None."""
        system, at = model.system, model.at
        assert system is not None
        symmetries = find_symmetries(system.model, system.layout.parameter_values(at.parameters))
        if not symmetries:
            return None
        solve = _Bodies.of(system, at)
        columns = [solve(_fields(symmetry)) for symmetry in symmetries]
        if any(c is None for c in columns):
            return None
        shapes = np.stack([c for c in columns if c is not None], axis=1)
        spins = np.array([_spin_rate(system, at, s) for s in symmetries])
        fixed = np.array([s.kind != "spin" for s in symmetries])
        rest = at.v - shapes @ spins
        part = np.where(fixed, 1.0, 0.0)
        found = np.linalg.lstsq(shapes * part, rest, rcond=1e-10)[0] * part
        if np.abs(shapes @ (found + spins) - at.v).max() > BELONGS * np.abs(at.v).max():
            return None
        omega, shift = _world(symmetries, found)
        rates = [solve(_turned_back(s, omega, shift)) for s in symmetries]
        if any(r is None for r in rates):
            return None
        back = np.stack([r for r in rates if r is not None], axis=1)
        return cls._without_shifts(model, symmetries, shapes, back)

    @classmethod
    def _without_shifts(
        cls, model: LinearModel, symmetries: tuple[Symmetry, ...], shapes: Array, rates: Array
    ) -> _Group | None:
        """The group with motions relative to the mass centre; None if translations affect other motions."""
        moving = np.array([s.kind == "shift" for s in symmetries])
        S, M = shapes[:, moving], model.M
        coupled = max(np.abs(model.K @ S).max(initial=0.0), np.abs(model.C @ S).max(initial=0.0))
        if coupled > BELONGS * max(float(np.abs(model.K).max()), float(np.abs(model.C).max()), 1e-300):
            return None
        inner = _null(S.T @ M) if S.size else np.eye(len(M))
        away = inner @ np.linalg.solve(inner.T @ M @ inner, inner.T @ M)  # removes the motion of the mass centre
        lift = np.linalg.pinv(inner)
        own = lift @ away @ shapes[:, ~moving]
        still = _null(own)
        found = cls(
            model,
            tuple(s for s in symmetries if s.kind != "shift"),
            own,
            lift @ away @ rates[:, ~moving],
            still,
            tuple(s.direction for s in symmetries if s.kind == "shift"),
            *(inner.T @ X @ inner for X in (M, model.gyroscopic, model.conservative)),
        )
        return found if found._is_kept() else None

    def _is_kept(self) -> bool:
        """Whether the linear motion keeps the momenta, up to a rotation of the axes."""
        n, rows = len(self.M), self.momenta()
        A = np.zeros((2 * n, 2 * n))
        A[:n, n:] = np.eye(n)
        A[n:, :n], A[n:, n:] = -np.linalg.solve(self.M, self.K), -np.linalg.solve(self.M, self.G)
        change = rows @ A
        left = change - change @ np.linalg.pinv(rows) @ rows
        return bool(np.abs(left).max(initial=0.0) <= 1e-7 * max(float(np.abs(rows).max() * np.abs(A).max()), 1e-300))

    @property
    def motions(self) -> Array:
        """Unit motions of the symmetries as states (e, e'), by columns."""
        return np.vstack([self.shapes, self.rates])

    def momenta(self) -> Array:
        """Rows of the linear momenta of the symmetries on states (e, e')."""
        return np.hstack([self.shapes.T @ self.G - self.rates.T @ self.M, self.shapes.T @ self.M])

    def drifting(self) -> tuple[Array, Array]:
        """Combinations of symmetries, by columns, that leave all momenta unchanged, and those as states."""
        rows, motions = self.momenta(), self.motions
        pairing = rows @ motions
        size = max(float(np.abs(pairing).max()), float(np.abs(rows).max() * np.abs(motions).max()), 1e-300)
        _, sizes, right = np.linalg.svd(pairing)
        null = right[int(np.sum(sizes > 1e-9 * size)) :].T
        return null, motions @ null

    def definite(self) -> int | None:
        """1 or -1 if the second variation at fixed momenta is positive or negative definite; else None."""
        n = len(self.M)
        scale = np.sqrt(np.diag(self.M))
        rate = max(float(np.abs(self.model.at.v).max()), 1e-300)
        weights = np.concatenate([1.0 / (scale * rate), 1.0 / scale])  # e and e' of comparable energy
        H = np.zeros((2 * n, 2 * n))
        H[:n, :n], H[n:, n:] = self.K, self.M
        H = H * np.outer(weights, weights)
        rows = self.momenta() * weights
        allowed = _null(rows)
        along = _span(allowed.T @ (self.drifting()[1] / weights[:, None]))
        free = allowed @ _null(along.T)
        form = free.T @ H @ free
        if not form.size:
            return 1
        sizes = np.linalg.eigvalsh((form + form.T) / 2)
        clear = CLEAR * max(float(np.abs(H).max()), 1e-300)
        return 1 if sizes[0] > clear else -1 if sizes[-1] < -clear else None

    def least(self) -> float:
        """The least stiffness of the effective potential per inertia, for the search of a better split."""
        lower = np.linalg.cholesky(self.M)
        scaled = np.linalg.solve(lower, np.linalg.solve(lower, self.K).T)
        across = _null(_span(np.linalg.solve(lower, self.M @ self.shapes)).T)
        sizes = np.linalg.eigvalsh(across.T @ (scaled + scaled.T) / 2 @ across)
        return float(sizes[0]) if sizes.size else 0.0

    def drifts(self) -> list[str]:
        """The symmetries along which a disturbed motion may drift, in words."""
        null, _ = self.drifting()
        part = np.abs(null).max(axis=1) > 1e-9
        found = [s.words() for s, takes in zip(self.symmetries, part, strict=True) if takes]
        return [*found, f"the shift along {', '.join(self.shifts)}"] if self.shifts else found


def _all_spin(model: LinearModel, _: _Group) -> _Group | None:
    """The group in axes that do not rotate, if every body rotates about its own axis of symmetry only."""
    system, at = model.system, model.at
    assert system is not None
    columns = spin_columns(system, at.parameters, inner=True)
    R = system.poses(at.q, parameters=at.parameters)[0]
    omega = system.body_motion(at.q, at.v, parameters=at.parameters).angular_velocity
    spin = np.zeros(len(at.v))
    for column in columns:
        k = int(np.flatnonzero(column)[0])
        joint = next(j for j in system.model.tree if any(s.name == system.layout.speeds[k] for s in j.speeds()))
        index = system.layout.bodies.index(joint.child.body)
        first = system.layout.speeds.index(f"{joint.name}_wx")
        axis = R[index] @ (_inner_axes(system, joint, at) @ column[first : first + 3])
        spin = spin + column * float(omega[index] @ axis)
    return _Group.of(linearize(system, replace(at, spin=spin)))


def _inner_axes(system: System, joint: TreeJoint, at: Equilibrium) -> Array:
    """Axes of the child side of a joint, in axes of the body."""
    return Geometry(system.model, system.layout.parameter_values(at.parameters)).side(joint.child)[1]


def _better_split(model: LinearModel, group: _Group) -> _Group | None:
    """The group in other axes: a rotation that is also a spin is split so that the potential has a minimum, if any.

    The least stiffness is a concave function of the split, so that a search by sections finds its maximum.
    """
    system, at = model.system, model.at
    assert system is not None
    columns = spin_columns(system, at.parameters)
    own = [c for c in columns if np.any(c * at.v)]
    if group.still.shape[1] != 1 or not own:
        return None
    direction = own[0]
    reach = REACH * float(np.abs(at.v).max())

    def at_split(x: float) -> _Group | None:
        spin = (np.zeros(len(at.v)) if at.spin is None else at.spin) - x * direction
        return _Group.of(linearize(system, replace(at, spin=spin)))

    return _highest(at_split, -reach, reach)


def _highest(at_split: Callable[[float], _Group | None], low: float, high: float) -> _Group | None:
    """The group of the largest least stiffness between two splits, by golden sections."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    one, other = at_split(a), at_split(b)
    for _ in range(SPLITS):
        if one is None or other is None:
            return None
        if max(one.least(), other.least()) > 0.0:  # a minimum
            break
        if one.least() > other.least():
            high, b, other = b, a, one
            a = high - GOLDEN * (high - low)
            one = at_split(a)
        else:
            low, a, one = a, b, other
            b = low + GOLDEN * (high - low)
            other = at_split(b)
    if one is None or other is None:
        return None
    return one if one.least() > other.least() else other


def _spin_rate(system: System, at: Equilibrium, symmetry: Symmetry) -> float:
    """The rate of a spin in a steady motion."""
    if symmetry.kind != "spin":
        return 0.0
    if symmetry.coordinate:
        return float(at.v[system.layout.speeds.index(f"{symmetry.coordinate}_dot")])
    if at.spin is None:
        return 0.0
    k = system.layout.speeds.index(f"{symmetry.joint}_wx")
    for column in spin_columns(system, at.parameters, inner=True):
        if np.any(column[k : k + 3]):
            return float(column @ at.spin)
    return 0.0


# --- motions of the bodies ------------------------------------------------------------------------------------

Field = tuple[str, Array, Array, Array, tuple[str, ...]]
"""kind, axis, point of the axis, velocity of translation, bodies"""


def _fields(symmetry: Symmetry) -> Field:
    return symmetry.kind, np.array(symmetry.axis), np.array(symmetry.point), np.zeros(3), symmetry.bodies


def _turned_back(symmetry: Symmetry, omega: Array, shift: Array) -> Field:
    """How a symmetry changes in axes that turn with omega (and move with ``shift`` at the world's origin)."""
    axis, point = np.array(symmetry.axis), np.array(symmetry.point)
    zero = np.zeros(3)
    if symmetry.kind == "spin":
        return "turn", zero, zero, zero, symmetry.bodies
    if symmetry.kind == "shift":
        return "turn", zero, zero, -np.cross(omega, axis), symmetry.bodies
    carried = -np.cross(axis, point)  # velocity of the world's origin
    back = -np.cross(omega, axis)
    return "turn", back, zero, -np.cross(omega, carried) + np.cross(axis, shift), symmetry.bodies


def _world(symmetries: tuple[Symmetry, ...], rates: Array) -> tuple[Array, Array]:
    """Angular velocity of a combination of symmetries of the world, and its velocity at the world's origin."""
    omega, shift = np.zeros(3), np.zeros(3)
    for symmetry, rate in zip(symmetries, rates, strict=True):
        axis, point = np.array(symmetry.axis), np.array(symmetry.point)
        if symmetry.kind == "turn":
            omega, shift = omega + rate * axis, shift - rate * np.cross(axis, point)
        elif symmetry.kind == "shift":
            shift = shift + rate * axis
    return omega, shift


@dataclass(frozen=True)
class _Bodies:
    """Finds the displacements e whose bodies move as given; the rotation of a point mass does not matter.

    Attributes:
        names: of all bodies.
        R, centers: their rotation matrices and mass centres.
        seen: rows of the Jacobian that matter: rotations of bodies with inertia, and all translations.
        jacobian: those rows.
    """

    names: tuple[str, ...]
    R: Array
    centers: Array
    seen: Array
    jacobian: Array

    @classmethod
    def of(cls, system: System, at: Equilibrium) -> _Bodies:
        n = len(system.layout.speeds)
        q = np.broadcast_to(at.q, (n, len(at.q)))
        motion = system.body_motion(q, np.eye(n), parameters=at.parameters)
        moves = np.concatenate([motion.angular_velocity, motion.velocity], axis=-1).reshape(n, -1).T
        R, r = system.poses(at.q, parameters=at.parameters)
        geometry = Geometry(system.model, system.layout.parameter_values(at.parameters))
        masses = [geometry.mass(system.model.body(name)) for name in system.layout.bodies]
        centers = r + np.einsum("bij,bj->bi", R, np.array([com for _, com, _ in masses]))
        seen = np.concatenate([np.repeat([bool(np.any(inertia)), True], 3) for _, _, inertia in masses])
        return cls(system.layout.bodies, R, centers, seen, moves[seen])

    def __call__(self, field: Field) -> Array | None:
        kind, axis, point, shift, bodies = field
        motion = Symmetry(kind, bodies, tuple(axis), tuple(point))
        wanted = []
        for name, R, center in zip(self.names, self.R, self.centers, strict=True):
            one = twist(motion, name, R, center)
            one[3:] += shift if name in bodies else 0.0
            wanted.append(one)
        target = np.concatenate(wanted)[self.seen]
        found = np.linalg.lstsq(self.jacobian, target, rcond=1e-10)[0]
        size = max(float(np.abs(target).max()), 1e-300)
        return found if np.abs(self.jacobian @ found - target).max() <= BELONGS * size else None


def _null(rows: Array) -> Array:
    """An orthonormal basis of the null space, by columns."""
    return null_basis(rows, BELONGS)


def _span(columns: Array) -> Array:
    """An orthonormal basis of the space of some columns."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)])
