"""A system that evaluates compiled symbolic equations, each block of them compiled on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.errors import SingularPose
from pendula.model.model import Model
from pendula.system import kernels as kn
from pendula.system.block_tree import kernels as tk
from pendula.system.block_tree.dynamics import bind_tree
from pendula.system.block_tree.layout import TreeLayout
from pendula.system.code.programs import Compiled, Programs
from pendula.system.code.rows import column_count, rows_with_inputs, state_rows
from pendula.system.dynamics import (
    STATUS,
    Bindings,
    Dynamics,
    Sizes,
    SpareDynamics,
    bind_dynamics,
    check_solved,
    refuse_not_finite,
)
from pendula.system.in_joints import InJoints
from pendula.system.inputs import Inputs, ModelInputs, made_again
from pendula.system.layout import Array, Layout
from pendula.system.loops.constraints import Constraints, SparseValues
from pendula.system.loops.mobility import independent_rows
from pendula.system.orientation.maps import turnings_of
from pendula.system.parameters import Parameters, parameter_vector, typical_length
from pendula.system.system import BodyMotion, Energies, Solution, System


def _derived_again(model: Model, formulation: str, by_bodies: bool) -> SymbolicSystem:
    """A system that was pickled."""
    return SymbolicSystem(derive(model, formulation), by_bodies=by_bodies, derived=True)


@final
class SymbolicSystem(System):
    """Numeric functions of derived equations, of any formulation.

    Args:
        equations: the equations.
        by_bodies: in maximal coordinates, find accelerations body by body instead of all at once. This fails if
            constraint rows are redundant or only a loop holds a massless body.
        derived: the equations are what the formulation derives from the model. Pickled, the system is then only these
            two, and it derives the equations again, which gives the same machine code; otherwise it is its equations.
        inputs: inputs of a run; default: the model's.
        programs: compiled blocks of these equations, if another system has them.
    """

    def __init__(
        self,
        equations: Equations,
        *,
        by_bodies: bool = True,
        derived: bool = False,
        inputs: Inputs | None = None,
        programs: Programs | None = None,
    ) -> None:
        self._equations, self._derived = equations, derived
        self.model = equations.model
        self.layout = Layout.of(self.model, equations.coordinates, equations.speeds)
        self.parameters = np.array([self.model.parameter_values[name] for name in self.layout.parameters], dtype=float)
        self.inputs = ModelInputs(self.model, self.layout) if inputs is None else inputs
        self.engine, self.formulation, self.symbolic_terms = "symbolic", equations.formulation, True
        self.written = "" if equations.written is None else equations.written.source
        self.loop_rows = equations.loop_rows
        self.tree_rows = equations.nodes[-1].rows[1] if equations.nodes else 0
        self.constraint_names = tuple(equations.constraint_names)
        self.drives = tuple(equations.drives)
        self.balls = tuple((at.first, at.speed) for at in equations.quaternions)
        self.turnings = turnings_of(self.layout, self.balls)
        self.has_power = bool(equations.drives) or not equations.power_is_zero
        self.tree = TreeLayout.of(equations) if by_bodies and equations.nodes else None
        """block structure for solving body by body; None if all equations are solved at once"""
        self._programs = Programs(equations) if programs is None else programs
        self.constraints = Constraints(equations, self._programs.block)
        self._joint_layout = Layout.of(self.model) if equations.nodes else self.layout
        self._spare = SpareDynamics()

    def __reduce__(self) -> tuple[Any, ...]:
        by_bodies = self.tree is not None
        make: tuple[Any, ...] = partial(SymbolicSystem, by_bodies=by_bodies), (self._equations,)
        if self._derived:
            make = _derived_again, (self.model, self.formulation, by_bodies)
        return made_again, (*make, self.inputs.handed_on)

    def with_inputs(self, inputs: Inputs) -> SymbolicSystem:
        """The same compiled mechanism with other inputs."""
        return SymbolicSystem(
            self._equations,
            by_bodies=self.tree is not None,
            derived=self._derived,
            inputs=inputs,
            programs=self._programs,
        )

    @property
    def equations(self) -> Equations:
        """The equations."""
        return self._equations

    @property
    def programs(self) -> Programs:
        """Compiled blocks of the equations."""
        return self._programs

    @property
    def in_joints(self) -> InJoints:
        """The same mechanism in the joints' coordinates."""
        return InJoints(self, self._joint_layout, (lambda: self._joint_system) if self._equations.nodes else None)

    @cached_property
    def _joint_system(self) -> System:
        """The same mechanism in the joints' coordinates, if these equations are in maximal coordinates."""
        return self.inputs.handed_on(SymbolicSystem(derive(self.model)))

    # -- callbacks for steppers -----------------------------------------------------------------

    def dynamics(self, parameters: Parameters = None, *, baumgarte: float | None = None) -> Dynamics:
        """New callbacks for a run: the right-hand side, and the projection if there are constraints."""
        eq, vector = self._equations, parameter_vector(self, parameters)
        to = Bindings(
            Sizes(len(eq.q), len(eq.v), len(eq.u), eq.loop_rows, len(eq.drives)),
            parameters=vector,
            inputs=self.inputs.constant(vector),
            turnings=self.turnings,
            speed_of=self.layout.speed_of,
            has_power=self.has_power,
            length=typical_length(self, vector) if eq.loop_rows else 1.0,
            rank=independent_rows(self, vector),
            complement=eq.solver == "complement",
            baumgarte=baumgarte,
        )
        return bind_dynamics(self._programs, to) if self.tree is None else bind_tree(self._programs, self.tree, to)

    # -- evaluation -----------------------------------------------------------------------------

    def _block(self, name: str, values: Callable[[], Sequence[Any]], rows: Array, vector: Array) -> Array:
        """Values of some expressions of the equations at every row."""
        return self._programs.block(name, vector, values).rows(rows)

    @cached_property
    def _mass(self) -> SparseValues:
        return SparseValues(self._equations.M, len(self.layout.speeds))

    def mass_matrix(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """The mass matrix M, shape (..., speeds, speeds)."""
        rows, batch = state_rows(self.layout, q, None, t, self.inputs.none)
        n, vector = len(self.layout.speeds), parameter_vector(self, parameters)
        M = self._mass.rows(rows, lambda values: self._programs.block("M", vector, values))
        return M.reshape(*batch, n, n)

    def forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Generalized forces f of M v' = f + G^T lam, with bias forces (velocity products), shape (..., speeds)."""
        vector = parameter_vector(self, parameters)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector)
        return self._block("f", lambda: self._equations.f, rows, vector).reshape(*batch, len(self.layout.speeds))

    def rates(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """q' = N v + n, shape (..., coordinates)."""
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        out = self._block("qdot", lambda: self._equations.qdot, rows, parameter_vector(self, parameters))
        return out.reshape(*batch, len(self.layout.coordinates))

    def solve(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Solution:
        """Forward dynamics: accelerations and Lagrange multipliers."""
        vector = parameter_vector(self, parameters)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector)
        if inputs is not None and self.inputs.in_time:
            return self._solve_with_inputs(rows, batch, vector)
        n, m = len(self.layout.speeds), self.loop_rows
        a, lam = np.empty((len(rows), n)), np.empty((len(rows), m))
        status = np.zeros(len(rows), dtype=np.int64)
        key = vector.tobytes()
        dynamics = self._spare.take(key) or self.dynamics(vector)
        (kn.solve_rows if self.tree is None else tk.solve_rows)(dynamics.context, rows, a, lam, status)
        self._spare.give_back(key, dynamics)
        check_solved(self, rows, status, a, vector)
        return Solution(a.reshape(*batch, n), lam.reshape(*batch, m))

    def _solve_with_inputs(self, rows: Array, batch: tuple[int, ...], vector: Array) -> Solution:
        """Dense solves with numeric inputs, for models whose inputs are expressions of time."""
        eq = self._equations
        n, m = len(eq.v), eq.loop_rows
        values = [x for row in eq.M for x in row] + [*eq.f] + [x for row in eq.G for x in row] + [*eq.c]
        terms = self._block("terms", lambda: values, rows, vector)
        M, G = terms[:, : n * n].reshape(len(rows), n, n), terms[:, n * n + n : n * n + n + m * n]
        right = np.concatenate([terms[:, n * n : n * n + n], terms[:, n * n + n + m * n :]], axis=-1)
        try:
            found = self._solve_dense(M, G.reshape(len(rows), m, n), right[..., None], vector)[..., 0]
        except np.linalg.LinAlgError:
            status = STATUS[kn.SINGULAR_CONSTRAINTS if m else kn.SINGULAR_MASS]
            raise SingularPose(f"the accelerations are not determined at one of the states: {status}") from None
        if not (fine := np.isfinite(found).all(axis=1)).all():
            refuse_not_finite(self, rows[~fine][0], vector, "the accelerations")
        return Solution(found[:, :n].reshape(*batch, n), found[:, n:].reshape(*batch, m))

    def _solve_dense(self, M: Array, G: Array, right: Array, vector: Array) -> Array:
        """Solves the KKT system for [v'; lam] by NumPy, after combining redundant rows into independent ones."""
        n, m = M.shape[-1], G.shape[-2]
        rank = independent_rows(self, vector)
        combine = np.eye(m)
        if rank < m:
            combine = np.swapaxes(np.linalg.svd(G)[0][..., :rank], -1, -2)
        G = combine @ G
        kkt = np.zeros((*G.shape[:-2], n + rank, n + rank))
        kkt[..., :n, :n], kkt[..., n:, :n], kkt[..., :n, n:] = M, G, -np.swapaxes(G, -1, -2)
        found = np.linalg.solve(kkt, np.concatenate([right[..., :n, :], combine @ right[..., n:, :]], axis=-2))
        return np.concatenate([found[..., :n, :], np.swapaxes(combine, -1, -2) @ found[..., n:, :]], axis=-2)

    def energies(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Energies:
        """Kinetic and potential energy, each of the batch's shape."""
        eq, vector = self._equations, parameter_vector(self, parameters)
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        out = self._block("energies", lambda: [eq.kinetic, eq.potential], rows, vector).reshape(*batch, 2)
        return Energies(out[..., 0], out[..., 1])

    def power(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Power of friction, damping, inputs and applied loads."""
        vector = parameter_vector(self, parameters)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector)
        return self._block("power", lambda: [self._equations.power], rows, vector).reshape(batch)

    def drive_forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Force or torque that each prescribed motion needs, shape (..., prescribed motions)."""
        eq, vector = self._equations, parameter_vector(self, parameters)
        n, m, d = len(eq.v), eq.loop_rows, len(eq.drives)
        a, lam = self.solve(q, v, t, inputs=inputs, parameters=vector)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector)
        values = [*eq.drive_f, *(x for row in eq.drive_M for x in row), *(x for row in eq.drive_G for x in row)]
        out = self._block("drive forces", lambda: values, rows, vector).reshape(*batch, d + d * n + m * d)
        f, M = out[..., :d], out[..., d : d + d * n].reshape(*batch, d, n)
        G = out[..., d + d * n :].reshape(*batch, m, d)
        return np.einsum("...dn,...n->...d", M, a) - f - np.einsum("...md,...m->...d", G, lam)

    def poses(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Rotation matrices R_WB, shape (..., bodies, 3, 3), and origins in world axes, shape (..., bodies, 3)."""
        rows, batch = state_rows(self.layout, q, None, t, self.inputs.none)

        def values() -> list[Any]:
            flat: list[Any] = []
            for body in self.layout.bodies:
                R, r = self._equations.poses[body]
                flat += [x for row in R for x in row] + list(r)
            return flat

        out = self._block("poses", values, rows, parameter_vector(self, parameters))
        out = out.reshape(*batch, len(self.layout.bodies), 12)
        return out[..., :9].reshape(*out.shape[:-1], 3, 3), out[..., 9:]

    def gaps(self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Constraint violations: g (loops, then quaternions) and G v - b."""
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        g, rate = self.constraints.gaps(rows, parameter_vector(self, parameters))
        return g.reshape(*batch, g.shape[1]), rate.reshape(*batch, rate.shape[1])

    def body_motion(self, q: Any, v: Any, a: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> BodyMotion:
        """Velocities and accelerations of all bodies in world axes, for given v' (default 0)."""
        n = len(self.layout.speeds)
        extra = [(np.zeros(n) if a is None else a, n)]
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none, extra)
        out = self._programs.motion(parameter_vector(self, parameters)).rows(rows)
        out = out.reshape(*batch, len(self.layout.bodies), 4, 3)
        return BodyMotion(out[..., 0, :], out[..., 1, :], out[..., 2, :], out[..., 3, :])

    # -- expressions to watch -------------------------------------------------------------------

    def symbols(self) -> dict[str, Any]:
        """Names for expressions of the state."""
        eq = self._equations
        known: dict[str, Any] = {str(s): s for s in (eq.t, *eq.p, *eq.u)}
        for drive in eq.drives:
            known |= {drive.name: drive.position, f"{drive.name}_dot": drive.rate}
            known[f"{drive.name}_ddot"] = drive.acceleration
        known |= dict(zip(self.layout.coordinates, eq.q, strict=True))
        known |= dict(zip(self.layout.speeds, eq.v, strict=True))
        return known | dict(eq.readings)

    def watching(self, texts: Sequence[str], values: Sequence[Any], parameters: Parameters = None) -> Compiled:
        """A program for expressions in symbols of the equations; it reads [t, q, v]."""
        return self._programs.watched(texts, values, parameter_vector(self, parameters))

    # -- exact derivatives ----------------------------------------------------------------------

    def residual_jacobian(
        self,
        by: str,
        q: Any,
        v: Any,
        a: Any,
        lam: Any = None,
        t: Any = 0.0,
        *,
        inputs: Any = None,
        parameters: Parameters = None,
    ) -> tuple[Array, Array]:
        """Exact Jacobians of M a - f - G^T lam and G a - c by ``q``, ``v``, ``u`` or ``p``, at constant a and lam."""
        self.inputs.refuse_slopes(by, inputs)
        eq, vector = self._equations, parameter_vector(self, parameters)
        n, m = len(eq.v), eq.loop_rows
        lam = np.zeros(m) if lam is None else lam
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector, extra=[(a, n), (lam, m)])
        count = column_count(self.layout, by)
        if count == 0:
            return np.zeros((*batch, n, 0)), np.zeros((*batch, m, 0))
        out = self._programs.residual_jacobian(by, vector).rows(rows)
        out = out.reshape(*batch, n + m, count)
        return out[..., :n, :], out[..., n:, :]

    def acceleration_jacobian(
        self, by: str, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Exact Jacobian of v' by ``q``, ``v``, ``u`` or ``p``, shape (..., speeds, count)."""
        vector = parameter_vector(self, parameters)
        a, lam = self.solve(q, v, t, inputs=inputs, parameters=vector)
        top, bottom = self.residual_jacobian(by, q, v, a, lam, t, inputs=inputs, parameters=vector)
        M = self.mass_matrix(q, t, parameters=vector)
        G = self.constraint_jacobian(q, t, parameters=vector)
        return self._solve_dense(M, G, -np.concatenate([top, bottom], axis=-2), vector)[..., : M.shape[-1], :]
