"""Unbalanced forces at a state of rest or steady motion, and their derivatives.

With v' = 0 the equations are 0 = f + G^T lam. Multipliers minimize the remainder, the unbalanced generalized force on
every speed. Displacements are along the speeds: dq = N ds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.model.names import ExpressionError
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector, typical_length, typical_steps
from pendula.system.switches.in_time import loads_in_time, motions_in_time, singled_out
from pendula.system.system import System
from pendula.system.undirected import no_derivatives

LOOKS = (0.0, 0.3719, 1.0471, 2.5113, 7.0893, 31.731, 211.93)
"""times at which forces are compared, to detect dependence on time; late ones detect switches"""
MOST_LOOKS = 200
"""further times, which the expressions of a model single out"""


@dataclass(frozen=True)
class Balance:
    """Unbalanced forces of a system for fixed inputs and parameters.

    Attributes:
        system: the system.
        inputs: values of all inputs, held constant; None: those of the model.
        parameters: values of all parameters, in the order of the layout.
        spin: at the speeds of ball joints, a constant spin s of their bodies about an axis of symmetry. Forces then
            refer to axes that do not take part in it: f + M (s x v); see ``turning.py``. None without spin.
    """

    system: System
    inputs: Array | None
    parameters: Array
    spin: Array | None = None

    @classmethod
    def of(cls, system: System, inputs: Any = None, parameters: Parameters = None) -> Balance:
        """The balance of a system; inputs by name or as an array."""
        vector = parameter_vector(system, parameters)
        given = None if inputs is None else system.inputs.rows(np.array(0.0), inputs, vector)
        return cls(system, given, vector)

    def forces(self, q: Array, v: Array | None = None, t: Any = 0.0) -> Array:
        """f at some states (leading dimensions are a batch)."""
        v = np.zeros((*np.shape(q)[:-1], len(self.system.layout.speeds))) if v is None else v
        found = self.system.forces(q, v, t, inputs=self.inputs, parameters=self.parameters)
        if self.spin is None:
            return found
        M = self.system.mass_matrix(q, t, parameters=self.parameters)
        return np.asarray(found + np.einsum("...ij,...j->...i", M, v @ ball_blocks(self.system, self.spin).T))

    def rows(self, q: Array, t: float = 0.0) -> Array:
        """G at one pose; shape (0, speeds) without constraint rows."""
        if self.system.loop_rows == 0:
            return np.zeros((0, len(self.system.layout.speeds)))
        return self.system.constraint_jacobian(q, t, parameters=self.parameters)

    def multipliers(self, q: Array, v: Array | None = None, t: float = 0.0) -> Array:
        """Least-squares multipliers (of least norm if rows are redundant)."""
        G = self.rows(q, t)
        if not len(G):
            return np.zeros(0)
        return np.asarray(np.linalg.lstsq(G.T, -self.forces(q, v, t), rcond=None)[0])

    def unbalanced(self, q: Array, v: Array | None = None, t: float = 0.0, lam: Array | None = None) -> Array:
        """f + G^T lam at one state, for given multipliers or for the least-squares ones."""
        lam = self.multipliers(q, v, t) if lam is None else lam
        return np.asarray(self.forces(q, v, t) + self.rows(q, t).T @ lam)

    def changes(self, by: str, q: Array, v: Array | None = None, lam: Array | None = None, t: float = 0.0) -> Array:
        """Exact derivatives of -(f + G^T lam) at v' = 0, lam held, by ``s`` (dq = N ds), ``v``, ``u`` or ``p``."""
        n = len(self.system.layout.speeds)
        v = np.zeros(n) if v is None else v
        lam = self.multipliers(q, v, t) if lam is None else lam
        found = self._slopes(by, q, v, lam, t)
        if by == "s":
            found = found @ self.directions(q, t)
        if not np.all(np.isfinite(found)):
            at = np.asarray(q).reshape(-1, np.shape(q)[-1])[0]
            raise no_derivatives(self.system, at, t, self.parameters)
        return np.asarray(found)

    def _slopes(self, by: str, q: Array, v: Array, lam: Array, t: float) -> Array:
        """Derivatives by q (for ``s``) or by another argument, at one state or at many."""
        rates = np.zeros_like(v) if self.spin is None else -v @ ball_blocks(self.system, self.spin).T
        found, _ = self.system.residual_jacobian(
            "q" if by == "s" else by, q, v, rates, lam, t, inputs=self.inputs, parameters=self.parameters
        )
        if by == "v" and self.spin is not None:
            M = self.system.mass_matrix(q, t, parameters=self.parameters)
            found = found - M @ ball_blocks(self.system, self.spin)
        return np.asarray(found)

    def stiffness(self, q: Array, v: Array, lam: Array, directions: Array | None = None) -> Array:
        """Stiffness of the (effective) potential by s, at constant rates and rotations about fixed axes.

        If a ball joint turns about a fixed axis, its angular velocity p in body axes changes with the pose by p x ds.
        Leading dimensions are a batch; ``directions`` are N at every state.
        """
        K = self._slopes("s", q, v, lam, 0.0) @ (self.directions(q) if directions is None else directions)
        fixed = v if self.spin is None else v - self.spin
        if not any(np.any(fixed[..., x.speed : x.speed + 3]) for x in self.system.turnings):
            return np.asarray(K)
        return np.asarray(K + self._slopes("v", q, v, lam, 0.0) @ ball_blocks(self.system, fixed))

    def directions(self, q: Array, t: float = 0.0) -> Array:
        """N of q' = N v + n, shape (..., coordinates, speeds)."""
        n = len(self.system.layout.speeds)
        v = np.concatenate([np.zeros((1, n)), np.eye(n)])
        q = np.asarray(q, dtype=float)
        many = np.repeat(q.reshape(-1, q.shape[-1]), n + 1, axis=0)
        speeds = np.tile(v, (len(many) // (n + 1), 1))
        found = self.system.rates(many, speeds, np.full(len(many), t), parameters=self.parameters)
        found = found.reshape(*q.shape[:-1], n + 1, q.shape[-1])
        return np.asarray(np.swapaxes(found[..., 1:, :] - found[..., :1, :], -1, -2))

    def free(self, q: Array, t: float = 0.0) -> Array:
        """An orthonormal basis of the null space of G, by columns: the displacements ds that the constraints allow."""
        return null_basis(self.rows(q, t))

    def loops(self, q: Array, v: Array | None, t: float = 0.0, S: Array | None = None) -> Array:
        """Numbers that are equal at two states exactly if closed loops demand the same of the speeds; a row per state.

        The rows of G may differ by a rotation: gaps in world axes turn with a mechanism that turns as a whole, as a
        governor on its spindle does. ``S`` turns the speeds back to other axes. Without speeds, only the gaps.
        """
        system, m = self.system, self.system.loop_rows
        gaps, rates = system.gaps(q, v, t, parameters=self.parameters)
        if not m:
            return np.asarray(gaps if v is None else np.concatenate([gaps, rates], axis=1))
        G = system.constraint_jacobian(q, np.full(len(q), t), parameters=self.parameters)
        G = G if S is None else G @ np.swapaxes(S, 1, 2)
        demands = [gaps[:, :m]] if v is None else [gaps[:, :m], rates]
        found = [gaps[:, m:], *(np.einsum("bmn,bm->bn", G, x) for x in demands)]
        found += [np.linalg.norm(x, axis=1, keepdims=True) for x in demands]
        if v is not None:
            found.append((np.swapaxes(G, 1, 2) @ G).reshape(len(q), -1))
        return np.concatenate(found, axis=1)

    def looks(self) -> tuple[float, ...]:
        """Times at which forces are compared: ``LOOKS``, and those that the model's expressions of time single out."""
        model = self.system.model
        expressions = [*loads_in_time(model), *motions_in_time(model)]
        values = self.system.layout.parameter_values(self.parameters)
        return (*LOOKS, *singled_out(expressions, values)[:MOST_LOOKS])

    def depends_on_time(self, q: Array, v: Array | None = None) -> bool:
        """Whether forces on a fixed state, or gaps of its loops, change with time."""
        inputs_move = self.inputs is None and bool(self.system.inputs.in_time)
        named = bool(self.system.written) or forces_name_time(self.system.model)
        if not (self.system.drives or inputs_move or named):
            return False
        times = [t for t in self.looks() if t in LOOKS or np.all(np.isfinite(self.forces(q, v, t)))]
        found = np.array([self.unbalanced(q, v, t) for t in times])
        size = max(float(np.abs(self.forces(q, v)).max(initial=0.0)), self.scale(q, v))
        if np.abs(found - found[0]).max(initial=0.0) > 1e-9 * size:
            return True
        loops = np.array([self.loops(np.asarray(q)[None], None, t)[0] for t in times])
        length = typical_length(self.system, self.parameters)
        return bool(np.abs(loops - loops[0]).max(initial=0.0) > 1e-9 * max(length, length**2))

    def scale(self, q: Array, v: Array | None = None) -> float:
        """A typical force of the mechanism, the scale for rounding errors in unbalanced forces.

        It is the largest of all forces, their changes over a radian or a typical length, and the effect of rotation.
        """
        stiffness = np.abs(self.changes("s", q, v)) @ self.steps
        weight = float(np.abs(self.forces(q, v)).max(initial=0.0))
        return max(float(stiffness.max(initial=0.0)), weight, self.by_turning(q, v), 1e-300)

    def by_turning(self, q: Array, v: Array | None = None) -> float:
        """A typical stiffness due to rotation, in a steady motion or by a drive: mass times the square of a rate.

        It may be the only scale for rounding errors: a free gyroscope has neither weight nor stiffness.
        """
        if not self.system.drives and (v is None or not np.any(v)):
            return 0.0
        v = np.zeros(len(self.system.layout.speeds)) if v is None else v
        fastest = fastest_turn(self.system, v)
        mass = float(np.abs(self.system.mass_matrix(q, parameters=self.parameters)).max(initial=0.0))
        C = self.changes("v", q, v)
        gyroscopic = float(np.abs(C - C.T).max(initial=0.0)) / 2
        return float(max(mass * fastest**2, gyroscopic**2 / mass if mass else 0.0))

    @property
    def steps(self) -> Array:
        """A typical change along every speed: a radian for angles, a typical length for all others."""
        return typical_steps(self.system, self.parameters)


def null_basis(rows: Array, small: float = 1e-10) -> Array:
    """An orthonormal basis, by columns, of the null space of a matrix.

    Singular values up to ``small`` times the largest count as zero.
    """
    _, sizes, right = np.linalg.svd(rows)
    rank = int(np.sum(sizes > small * max(float(sizes.max(initial=0.0)), 1e-300)))
    return np.asarray(right[rank:].T)


def fastest_turn(system: System, v: Array) -> float:
    """The largest rate of an angle [rad/time]."""
    angles = [abs(x) for x, kind in zip(v, system.layout.speed_kinds, strict=True) if kind == "angle"]
    return float(max(angles, default=0.0))


def ball_blocks(system: System, vector: Array) -> Array:
    """The matrix of vector x ... in the speeds of every ball joint, for angular velocities at these speeds.

    They are in body axes: steady rotations with others are examined in a twin of the system (``poles.py``).
    """
    found = np.zeros((*np.shape(vector), np.shape(vector)[-1]))
    for k in (x.speed for x in system.turnings):
        for i, j, axis in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            found[..., k + i, k + j], found[..., k + j, k + i] = -vector[..., k + axis], vector[..., k + axis]
    return found


@lru_cache(maxsize=64)
def forces_name_time(model: Model) -> bool:
    """Whether an expression of a force contains t."""
    return any("t" in names_in(value) for force in model.forces for value in force.model_dump().values())


def names_in(value: Any) -> set[str]:
    """Names in a field of a force: in an expression, a list of them, or a table."""
    if isinstance(value, Mapping):
        return {name for entry in value.values() for name in names_in(entry)}
    if isinstance(value, (list, tuple)):
        return {name for entry in value for name in names_in(entry)}
    if not isinstance(value, str):
        return set()
    try:
        return set(parse(value).names)
    except ExpressionError:
        return set()
