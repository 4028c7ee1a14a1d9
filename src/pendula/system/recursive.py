"""A system evaluated by recursion over the bodies; it derives symbolic equations only on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from pendula.equations.derive import DEFAULT, derive
from pendula.equations.equations import Equations, drive_definitions
from pendula.equations.loops import derive_loops
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.errors import NotSupported, UsageError
from pendula.model.model import Model
from pendula.system import kernels as kn
from pendula.system import refusals
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, Programs, inputs_in_time, prepared_parameters
from pendula.system.code.rows import column_count, rows_with_inputs, state_rows
from pendula.system.dynamics import Bindings, Dynamics, Sizes, SpareDynamics, check_solved, refuse_not_finite
from pendula.system.in_joints import InJoints
from pendula.system.inputs import Inputs, ModelInputs, made_again
from pendula.system.layout import Array, Layout
from pendula.system.loops.constraints import Constraints
from pendula.system.loops.mobility import independent_rows
from pendula.system.orientation.maps import inverse_matrix, turnings_of
from pendula.system.parameters import Parameters, parameter_vector, typical_length
from pendula.system.recursion import columns as col
from pendula.system.recursion import derivatives as dk
from pendula.system.recursion import kernels as rk
from pendula.system.recursion.binding import bind_recursion, in_lanes
from pendula.system.recursion.jacobians import Batches, BoundJacobian, symbols_of
from pendula.system.recursion.plane.plane_motion import PlaneMotion
from pendula.system.recursion.tables import Gradient, Numbers, Tables
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import BodyMotion, Energies, Solution, System


@final
class RecursiveSystem(System):
    """Numeric functions of a mechanism by recursion over its bodies, in time proportional to their number.

    Forward dynamics is the articulated-body algorithm (Featherstone 2008, table 7.1), inverse dynamics the recursive
    Newton-Euler algorithm (table 5.1). Results that need symbolic equations (forces in joints, the Jacobi integral,
    ...) derive them by the default formulation on first use.

    Args:
        model: the mechanism.
        symbolic_terms: whether M, f and all derivatives come from symbolic equations. For a mechanism of few bodies
            these compile in less than a second; the recursion's derivative kernels take half a minute, once per
            machine.
        inputs: inputs of a run; default: the model's.
        tables: the tables of this model, if another system has them.

    Raises:
        NotSupported: the recursion does not support something in the model; the message names it.
    """

    def __init__(
        self,
        model: Model,
        *,
        symbolic_terms: bool = False,
        inputs: Inputs | None = None,
        tables: Tables | None = None,
    ) -> None:
        self.tables = Tables(model) if tables is None else tables
        mechanism = self.tables.mechanism
        self.model = model
        self.layout = Layout.of(model)
        self.parameters = np.array([model.parameter_values[name] for name in self.layout.parameters], dtype=float)
        self.inputs = ModelInputs(model, self.layout) if inputs is None else inputs
        self.engine = self.formulation = "recursive"
        self.symbolic_terms = symbolic_terms
        self.drives = tuple(mechanism.drives)
        self.balls = tuple((at.first, at.speed) for at in mechanism.quaternions)
        self.turnings = turnings_of(self.layout, self.balls)
        self.has_power = bool(self.drives or self.tables.rows.has_damping or self.tables.rows.does_work)
        self._numbers: dict[bytes, Numbers] = {}
        self._columns: dict[str, tuple[Batches, Gradient | None]] = {}
        self._spare, self._spare_with_inputs = SpareDynamics(), SpareDynamics()
        self.tree_rows = 0
        self.constraints = Constraints(derive_loops(TreeCoordinates(model) if model.closures else mechanism))
        self.loop_rows, self.constraint_names = self.constraints.rows, self.constraints.names

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(RecursiveSystem, symbolic_terms=self.symbolic_terms)
        return made_again, (make, (self.model,), self.inputs.handed_on)

    def with_inputs(self, inputs: Inputs) -> RecursiveSystem:
        """The same compiled mechanism with other inputs."""
        return RecursiveSystem(self.model, symbolic_terms=self.symbolic_terms, inputs=inputs, tables=self.tables)

    # -- equations, on demand ---------------------------------------------------------------------

    @property
    def equations(self) -> Equations:
        """Symbolic equations of the same mechanism."""
        return self._symbolic.equations

    @property
    def programs(self) -> Programs:
        """Compiled blocks of these equations."""
        return self._symbolic.programs

    @cached_property
    def _symbolic(self) -> SymbolicSystem:
        """The same mechanism with symbolic equations."""
        return SymbolicSystem(derive(self.model, DEFAULT))

    @property
    def in_joints(self) -> InJoints:
        """The system itself: its coordinates are those of the joints."""
        return InJoints(self, self.layout)

    # -- callbacks ------------------------------------------------------------------------------

    def numbers(self, parameters: Parameters = None) -> Numbers:
        """The numeric tables for a set of parameters."""
        vector = parameter_vector(self, parameters)
        key = vector.tobytes()
        if key not in self._numbers:
            self._numbers = {key: self.tables.numbers(vector)}
        return self._numbers[key]

    @cached_property
    def _program(self) -> Any:
        """The program that evaluates the model's expressions, with inputs that depend on time; None if it is empty."""
        return self.tables.program(self.inputs.in_time)

    @cached_property
    def _program_of_inputs(self) -> Any:
        """The same program, which reads all inputs as numbers."""
        return self.tables.program() if self.inputs.in_time else self._program

    def dynamics(self, parameters: Parameters = None, *, baumgarte: float | None = None) -> Dynamics:
        """New callbacks for a run: the right-hand side, and the projection of quaternions and loops."""
        return self._bound(parameter_vector(self, parameters), self._program, baumgarte)

    def _bound(self, vector: Array, program: Any, baumgarte: float | None = None) -> Dynamics:
        rows = self.loop_rows
        to = Bindings(
            Sizes(self.tables.nq, self.tables.nv, len(self.layout.inputs), rows, self.tables.drives),
            parameters=vector,
            inputs=self.inputs.constant(vector),
            turnings=self.turnings,
            speed_of=self.layout.speed_of,
            has_power=self.has_power,
            length=typical_length(self, vector) if rows else 0.0,
            rank=independent_rows(self, vector) if rows else 0,
            baumgarte=baumgarte,
        )
        return bind_recursion(
            self.tables, self.numbers(vector), program, self.constraint_names[:rows] if rows else (), to
        )

    @property
    def runs_in_lanes(self) -> bool:
        """Whether eight states can be computed at once: no loops, and nothing that depends on time or expressions."""
        return self._program is None and not self.model.closures

    def dynamics_of_eight(self, parameters: Parameters = None) -> Dynamics:
        """Callbacks for eight states at once, if ``runs_in_lanes``.

        The right-hand side reads [t, q, v, (work)] with eight numbers for each entry, and writes rates likewise.
        """
        if not self.runs_in_lanes:
            raise NotSupported(refusals.EIGHT_LOOPS if self.model.closures else refusals.EIGHT_EXPRESSIONS)
        return in_lanes(self.dynamics(parameters), self.tables, self.numbers(parameters))

    # -- expressions to watch -------------------------------------------------------------------

    def symbols(self) -> dict[str, Any]:
        """Names for expressions of the state."""
        m = self.tables.mechanism
        known = {str(s): s for s in (m.t, *m.parameters, *m.inputs, *m.q, *m.v)}
        for drive in m.drives:
            known |= {drive.name: drive.position, f"{drive.name}_dot": drive.rate}
            known[f"{drive.name}_ddot"] = drive.acceleration
        return known

    def watching(self, texts: Sequence[str], values: Sequence[Any], parameters: Parameters = None) -> Compiled:
        """A program for expressions in these symbols; it reads [t, q, v]."""
        m = self.tables.mechanism
        definitions = (*inputs_in_time(self.model, constant_ones=True), *drive_definitions(m))
        low = Lowering([m.t, *m.q, *m.v], m.parameters, definitions)
        native = compile_program(low.program, [low(e) for e in values], quick=True)
        return Compiled(native, prepared_parameters(native, parameter_vector(self, parameters)))

    # -- evaluation -----------------------------------------------------------------------------

    def _known(self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters) -> Any:
        """Inputs for the symbolic equations, which know the model's only, and not those of a run."""
        if not self.inputs.over_time:
            return inputs
        return self.inputs.rows(np.asarray(t, dtype=float), inputs, parameter_vector(self, parameters), (q, v))

    def _found(
        self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters
    ) -> tuple[Array, Array, Array, Array, Any]:
        """Accelerations, multipliers, power, drive forces and batch shape."""
        vector = parameter_vector(self, parameters)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector)
        spare, program = self._spare, self._program
        if inputs is not None and self.inputs.in_time:
            spare, program = self._spare_with_inputs, self._program_of_inputs
        key = vector.tobytes()
        dynamics = spare.take(key) or self._bound(vector, program)
        count, nv, nd = len(rows), len(self.layout.speeds), len(self.drives)
        a, power, drive_forces = np.empty((count, nv)), np.empty(count), np.zeros((count, nd))
        status = np.zeros(count, dtype=np.int64)
        lam = np.zeros((count, self.loop_rows))
        rk.solve_rows(dynamics.context, rows, a, lam, power, drive_forces, status)
        spare.give_back(key, dynamics)
        check_solved(self, rows, status, a, vector)
        return a, lam, power, drive_forces, batch

    def solve(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Solution:
        """Forward dynamics: accelerations and Lagrange multipliers."""
        a, lam, _, _, batch = self._found(q, v, t, inputs, parameters)
        return Solution(a.reshape(*batch, a.shape[1]), lam.reshape(*batch, lam.shape[1]))

    def power(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Power of friction, damping, inputs and applied loads."""
        _, _, power, _, batch = self._found(q, v, t, inputs, parameters)
        return power.reshape(batch)

    def drive_forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Force or torque that each prescribed motion needs, shape (..., prescribed motions)."""
        _, _, _, drive_forces, batch = self._found(q, v, t, inputs, parameters)
        return drive_forces.reshape(*batch, drive_forces.shape[1])

    def residual(
        self, q: Any, v: Any, a: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Inverse dynamics: M v' - f for given v', the generalized forces that would have to be added."""
        n, vector = len(self.layout.speeds), parameter_vector(self, parameters)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, vector, extra=[(a, n)])
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        out = np.empty((len(rows), n))
        dynamics = self._bound(vector, self._program if inputs is None else self._program_of_inputs)
        rk.residual_rows(dynamics.context, given, a, out)
        return out.reshape(*batch, n)

    def forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Generalized forces f of M v' = f + G^T lam, with bias forces (velocity products), shape (..., speeds)."""
        if self.symbolic_terms:
            return self._symbolic.forces(
                q, v, t, inputs=self._known(q, v, t, inputs, parameters), parameters=parameters
            )
        return -self.residual(q, v, np.zeros(len(self.layout.speeds)), t, inputs=inputs, parameters=parameters)

    def mass_matrix(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """The mass matrix M, shape (..., speeds, speeds)."""
        if self.symbolic_terms:
            return self._symbolic.mass_matrix(q, t, parameters=parameters)
        rows, batch = state_rows(self.layout, q, None, t, self.inputs.none)
        n = len(self.layout.speeds)
        out = np.empty((len(rows), n, n))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.mass_rows(dynamics.context, rows, np.zeros(n), out)
        return out.reshape(*batch, n, n)

    def rates(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """q' = N v, shape (..., coordinates)."""
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        nq = len(self.layout.coordinates)
        q, v = rows[:, 1 : 1 + nq], rows[:, 1 + nq : 1 + nq + len(self.layout.speeds)]
        out = np.zeros((len(rows), nq))
        speed_of = np.array(self.layout.speed_of)
        out[:, speed_of >= 0] = v[:, speed_of[speed_of >= 0]]
        for at, k, chart, axes in self.turnings:
            own = slice(at, at + chart.count)
            out[:, own] = np.einsum("kij,kj->ki", inverse_matrix(chart, q[:, own], axes), v[:, k : k + 3])
        return out.reshape(*batch, nq)

    def energies(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Energies:
        """Kinetic and potential energy, each of the batch's shape."""
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        numbers = self.numbers(parameters)
        if numbers.plane is not None and numbers.gravity[2] == 0.0:
            motion = self._plane_motion(rows, np.zeros((len(rows), len(self.layout.speeds))), parameters)
            kinetic, potential = motion.energies(numbers.plane, numbers.gravity)
            at_zero = 0.5 * float(numbers.springs[:, col.STIFFNESS] @ numbers.springs[:, col.REST] ** 2)
            return Energies(kinetic.reshape(batch), potential.reshape(batch) + at_zero + numbers.resting)
        out = np.empty((len(rows), 2))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.energy_rows(dynamics.context, rows, out)
        out = out.reshape(*batch, 2)
        return Energies(out[..., 0], out[..., 1] + numbers.resting)

    def _plane_motion(self, rows: Array, a: Array, parameters: Parameters) -> PlaneMotion:
        """Motion of all hinges of a planar mechanism for rows [t, q, v, u] and v'."""
        tables, numbers, native = self.tables, self.numbers(parameters), self._program_of_inputs
        assert numbers.plane is not None
        aside = np.zeros((len(rows), tables.aside))
        if native is not None:
            prepared = prepared_parameters(native, parameter_vector(self, parameters))
            kn.evaluate_rows(native.evaluate, prepared.ctypes.data, rows, aside)
        q, v = rows[:, 1 : 1 + tables.nq], rows[:, 1 + tables.nq : 1 + tables.nq + tables.nv]
        return PlaneMotion.of(tables.hinges, numbers.plane, q, v, a, aside[:, : 3 * tables.drives])

    def gaps(self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Constraint violations: g (loops, then quaternions) and G v - b."""
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none)
        if not self.loop_rows:
            at = np.array([first for first, _ in self.balls], dtype=int)
            parts = rows[:, 1 + at[:, None] + np.arange(4)] if at.size else np.zeros((len(rows), 0, 4))
            return ((parts**2).sum(axis=-1) - 1.0).reshape(*batch, at.size), np.zeros((*batch, 0))
        g, rate = self.constraints.gaps(rows, parameter_vector(self, parameters))
        return g.reshape(*batch, g.shape[1]), rate.reshape(*batch, rate.shape[1])

    def _hinge_motion(self, q: Any, v: Any, a: Any, t: Any, parameters: Parameters) -> tuple[Array, tuple[int, ...]]:
        """Rows of :func:`recursion.kernels.motion_rows` at the hinges that move the bodies; ground is at rest."""
        n = len(self.layout.speeds)
        extra = [(np.zeros(n) if a is None else a, n)]
        rows, batch = state_rows(self.layout, q, v, t, self.inputs.none, extra)
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        seats, numbers = [seat.hinge for seat in self.tables.skeleton.seats], self.numbers(parameters)
        if numbers.plane is not None:
            out = self._plane_motion(given, a, parameters).rows()[:, seats]
            R = out[..., :9].reshape(*out.shape[:2], 3, 3) @ numbers.turns[seats]
            out[..., :9], out[..., col.MOTION_POSITION + 2] = R.reshape(*out.shape[:2], 9), numbers.heights[seats]
            return out, batch
        out = np.zeros((len(rows), 1 + len(self.tables.hinges), col.MOTION))
        out[:, 0, [0, 4, 8]] = 1.0
        found = np.zeros((len(rows), len(self.tables.hinges), col.MOTION))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.motion_rows(dynamics.context, given, a, found)
        out[:, 1:] = found
        return out[:, seats], batch

    def poses(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Rotation matrices R_WB, shape (..., bodies, 3, 3), and origins in world axes, shape (..., bodies, 3)."""
        found, batch = self._hinge_motion(q, None, None, t, parameters)
        R = found[..., :9].reshape(*found.shape[:2], 3, 3)
        turn, shift = self.numbers(parameters).seats
        origin = found[..., col.MOTION_POSITION : col.MOTION_POSITION + 3] + np.einsum("kbij,bj->kbi", R, shift)
        count = len(self.layout.bodies)
        return (R @ turn).reshape(*batch, count, 3, 3), origin.reshape(*batch, count, 3)

    def body_motion(self, q: Any, v: Any, a: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> BodyMotion:
        """Velocities and accelerations of all bodies in world axes, for given v' (default 0)."""
        found, batch = self._hinge_motion(q, v, a, t, parameters)
        R = found[..., :9].reshape(*found.shape[:2], 3, 3)
        arm = np.einsum("kbij,bj->kbi", R, self._centers(parameters))
        u, w, b, alpha = (
            found[..., k : k + 3] for k in (col.MOTION_VELOCITY, col.MOTION_OMEGA, col.MOTION_ACC, col.MOTION_ALPHA)
        )
        swing = np.cross(w, arm)
        velocity, acceleration = u + swing, b + np.cross(alpha, arm) + np.cross(w, swing)
        count = len(self.layout.bodies)
        return BodyMotion(*(x.reshape(*batch, count, 3) for x in (w, velocity, alpha, acceleration)))

    def _centers(self, parameters: Parameters) -> Array:
        """Mass centres of the bodies in the axes of their hinges."""
        vector = parameter_vector(self, parameters)
        values = self.tables.constants.values(vector)
        com = [[values[self.tables.constants.index(x)] for x in link.com] for link in self.tables.mechanism.links]
        turn, shift = self.numbers(vector).seats
        return shift + np.einsum("bij,bj->bi", turn, np.array(com))

    # -- exact derivatives ----------------------------------------------------------------------

    def _bound_jacobian(self, by: str, parameters: Parameters, *, solves: bool = True) -> BoundJacobian:
        """Derivative kernels with respect to some of q, v, u, p (letters of ``by``), with new memory."""
        if by not in self._columns:
            gradient = self.tables.gradient(symbols_of(self.tables, by))
            self._columns[by] = Batches.of(self.tables, by, gradient), gradient
        vector = parameter_vector(self, parameters)
        dynamics = self._bound(vector, self._program_of_inputs)
        return BoundJacobian(self.tables, dynamics, by, *self._columns[by], vector, solves=solves)

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
        """Exact Jacobian of M a - f by ``q``, ``v``, ``u`` or ``p``, at constant a; the second part has no rows.

        With closed loops: Jacobians of M a - f - G^T lam and of G a - c, from the symbolic equations.
        """
        self.inputs.refuse_slopes(by, inputs)
        if self.model.closures or self.symbolic_terms:
            known = self._known(q, v, t, inputs, parameters)
            return self._symbolic.residual_jacobian(by, q, v, a, lam, t, inputs=known, parameters=parameters)
        count, n = column_count(self.layout, by), len(self.layout.speeds)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, parameter_vector(self, parameters), extra=[(a, n)])
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        out = np.zeros((len(rows), n, count))
        if count:
            bound = self._bound_jacobian(by, parameters, solves=False)
            dk.residual_rows(bound.context.address, given, a, out)
        if not (fine := np.isfinite(out).all(axis=(1, 2))).all():
            refuse_not_finite(self, rows[~fine][0], parameter_vector(self, parameters), f"derivatives by {by}")
        return out.reshape(*batch, n, count), np.zeros((*batch, 0, count))

    def acceleration_jacobian(
        self, by: str, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Exact Jacobian of v' by ``q``, ``v``, ``u`` or ``p``, shape (..., speeds, count).

        By ``q`` each entry of a quaternion varies alone. Off the unit sphere the result depends on convention; its
        product with N (of q' = N v) does not. By ``p`` each parameter varies alone: inputs and other parameters that
        depend on it stay constant. For closed loops the symbolic equations provide the Jacobian.
        """
        self.inputs.refuse_slopes(by, inputs)
        if self.model.closures or self.symbolic_terms:
            known = self._known(q, v, t, inputs, parameters)
            return self._symbolic.acceleration_jacobian(by, q, v, t, inputs=known, parameters=parameters)
        count, n = column_count(self.layout, by), len(self.layout.speeds)
        rows, batch = rows_with_inputs(self, q, v, t, inputs, parameter_vector(self, parameters))
        self._found(q, v, t, inputs, parameters)  # raises if v' is not determined
        out = np.zeros((len(rows), n, count))
        if count:
            bound = self._bound_jacobian(by, parameters)
            dk.acceleration_rows(bound.context.address, rows, out)
        if not (fine := np.isfinite(out).all(axis=(1, 2))).all():
            refuse_not_finite(self, rows[~fine][0], parameter_vector(self, parameters), f"derivatives by {by}")
        return out.reshape(*batch, n, count)

    def jacobian_dynamics(self, parameters: Parameters = None, *, t: float = 0.0) -> Callable[..., tuple[Array, Array]]:
        """A function (q, v) that returns dv'/dq and dv'/dv without checks, for many calls from Python.

        Its optional third argument is an array of shape (speeds, coordinates + speeds) to write to; the results are
        views of it. Time and the inputs are those at ``t``.

        Raises:
            NotSupported: the model has closed loops.

        Example:
            >>> import numpy as np, pendula
            >>> system = pendula.compile_system(pendula.library.chain(links=2), engine="recursive")
            >>> jacobian = system.jacobian_dynamics()
            >>> by_q, by_v = jacobian(np.array([0.1, 0.2]), np.array([1.0, 0.0]))
            >>> bool(np.allclose(by_v, system.acceleration_jacobian("v", [0.1, 0.2], [1.0, 0.0])))
            True
        """
        if self.model.closures:
            raise NotSupported(refusals.RECURSIVE_JACOBIAN)
        nq, nv = len(self.layout.coordinates), len(self.layout.speeds)
        bound = self._bound_jacobian("qv", parameters)
        x = bound.state
        context, evaluate, empty = bound.context.address, dk.evaluate, np.empty
        x[0], x[1 + nq + nv :] = t, self.inputs.at(t, parameter_vector(self, parameters))

        known: Any = None
        parts: Any = ()

        def jacobian(q: Array, v: Array, out: Array | None = None) -> tuple[Array, Array]:
            nonlocal known, parts
            if out is None:
                found = empty((nv, nq + nv))
                evaluate(context, q, v, found)
                return found[:, :nq], found[:, nq:]
            if out is known:
                evaluate(context, q, v, out)
                return parts
            if out.shape != (nv, nq + nv) or not out.flags.c_contiguous:
                raise UsageError(f"out must be a contiguous array of shape {(nv, nq + nv)}, got {out.shape}")
            known, parts = out, (out[:, :nq], out[:, nq:])
            evaluate(context, q, v, out)
            return parts

        jacobian.bound = bound  # type: ignore[attr-defined]
        return jacobian
