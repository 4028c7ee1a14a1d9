"""A system whose numbers come from the recursion over the bodies; equations are derived only if they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from pendula.equations.derive import DEFAULT, derive
from pendula.equations.equations import Equations, drive_definitions
from pendula.errors import ComputationError, NotSupported, SingularPose, UsageError
from pendula.model.model import Model
from pendula.numerics.compiled.native import Callback
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.system import kernels as kn
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, Programs, inputs_in_time, prepared_parameters
from pendula.system.dynamics import MOST_PASSES, STATUS, Dynamics
from pendula.system.layout import Array, Layout
from pendula.system.recursion import derivatives as dk
from pendula.system.recursion import kernels as rk
from pendula.system.recursion import loads as lk
from pendula.system.recursion import loops as lp
from pendula.system.recursion import planar as pl
from pendula.system.recursion import spatial as sp
from pendula.system.recursion.jacobians import Batches, BoundJacobian, symbols_of
from pendula.system.recursion.plane_motion import PlaneMotion
from pendula.system.recursion.tables import Gradient, Numbers, Tables
from pendula.system.system import BodyMotion, Energies, Parameters, System


class RecursiveSystem(System):
    """Numeric functions of a mechanism by recursion over its bodies, in time proportional to their number.

    It has everything that :class:`System` has. What only symbolic equations tell (forces in joints, the Jacobi
    integral, ...) derives them by the usual formulation when it is first asked for.

    Args:
        model: the mechanism.
        symbolic_terms: whether M, f and all derivatives come from symbolic equations too. For a mechanism of few
            bodies these are compiled in less than a second, and the recursion's kernels of derivatives, once on a
            machine, in half a minute.

    Raises:
        NotSupported: the model has something that the recursion cannot do; the message names it.
    """

    engine = "recursive"

    def __init__(self, model: Model, *, symbolic_terms: bool = False) -> None:
        self.model = model
        self.symbolic_terms = symbolic_terms
        self.tables = Tables(model)
        self.layout = self.joint_layout = Layout.of(model)
        self._mobilities = {}
        self._lengths = {}
        self._by_bodies = False
        self._numbers: dict[bytes, Numbers] = {}
        self._columns: dict[str, tuple[Batches, Gradient | None]] = {}

    # -- equations, if they are asked for ---------------------------------------------------------

    @cached_property
    def equations(self) -> Equations:  # type: ignore[override]
        """Symbolic equations of the same mechanism."""
        return derive(self.model, DEFAULT)

    @cached_property
    def _programs(self) -> Programs:  # type: ignore[override]
        return Programs(self.equations)

    @property
    def formulation(self) -> str:
        """Articulated bodies, not one of the symbolic formulations."""
        return "recursive"

    @property
    def loop_rows(self) -> int:
        """Number of rows of G."""
        return self.equations.loop_rows if self.model.closures else 0

    @property
    def has_gaps(self) -> bool:
        """Whether there are loops or quaternions."""
        return bool(self.model.closures or self.balls)

    @property
    def drives(self) -> tuple[Any, ...]:
        """The prescribed motions."""
        return tuple(self.tables.mechanism.drives)

    @property
    def bodies_have_coordinates(self) -> bool:
        """Never: coordinates are those of the joints."""
        return False

    @property
    def gives_jacobi(self) -> bool:
        """By the symbolic equations."""
        return True

    @cached_property
    def balls(self) -> list[tuple[int, int]]:
        """For every quaternion: index of its first coordinate, index of its first angular speed."""
        return [(at.first, at.speed) for at in self.tables.mechanism.quaternions]

    @property
    def has_power(self) -> bool:
        """Whether anything but gravity, springs and ideal joints does work."""
        tables = self.tables
        return bool(self.drives or tables.has_damping or tables.does_work)

    def independent_rows(self, parameters: Parameters = None) -> int:
        """Number of independent constraint rows at regular poses."""
        return super().independent_rows(parameters) if self.model.closures else 0

    # -- callbacks ------------------------------------------------------------------------------

    def numbers(self, parameters: Parameters = None) -> Numbers:
        """The tables' numbers for a set of parameters."""
        vector = self.parameter_vector(parameters)
        key = vector.tobytes()
        if key not in self._numbers:
            self._numbers = {key: self.tables.numbers(vector)}
        return self._numbers[key]

    @cached_property
    def _program(self) -> Any:
        """The program of expressions, inputs in time included; None if there is nothing."""
        return self.tables.program(self.inputs_in_time)

    @cached_property
    def _program_of_inputs(self) -> Any:
        """The same with all inputs as numbers."""
        return self.tables.program() if self.inputs_in_time else self._program

    def dynamics(
        self, parameters: Parameters = None, *, baumgarte: float | None = None, inputs_given: bool = False
    ) -> Dynamics:
        """Fresh callbacks for a run: the right-hand side, and the projection of quaternions."""
        vector = self.parameter_vector(parameters)
        tables, numbers = self.tables, self.numbers(vector)
        n, nq, nv, nd = len(tables.ints), tables.nq, tables.nv, tables.drives
        x = np.zeros(1 + nq + nv + len(self.layout.inputs))
        x[1 + nq + nv :] = self.constant_inputs(vector)
        aside = np.zeros(tables.aside + 1)
        tables.charts.fill_drives(aside[3 * nd + len(tables.expressions) :])
        arrays = {
            kn.X: x,
            kn.STATUS: np.zeros(1, dtype=np.int64),
            kn.MULTIPLIERS: np.zeros(1),
            kn.BALL_AT: np.array(self.balls, dtype=np.int64).reshape(-1, 2),
            rk.INTS: tables.ints,
            rk.REAL: numbers.hinges,
            rk.SPRINGS_AT: tables.springs,
            rk.SPRING_NUMBERS_AT: numbers.springs,
            rk.LOADS_AT: tables.loads,
            rk.LOAD_NUMBERS_AT: numbers.loads,
            rk.GRAVITY: numbers.gravity,
            rk.ASIDE: aside,
            rk.TAU: np.zeros(nv + nd + 1),
            rk.RATES: np.zeros(nv + nd + 1),
            rk.W: aligned_zeros(n + 1, sp.WIDTH),
            rk.OUTSIDE: np.zeros(2 * n + 1),
            rk.LOAD_HINGES: tables.load_hinges,
            rk.EFFORTS: np.zeros(nd + 1),  # and the power of loads
            rk.OUT: np.zeros(nq + nv + 1),
        }
        context = np.zeros(rk.SIZE, dtype=np.int64)
        native = self._program_of_inputs if inputs_given else self._program
        keep: list[Any] = [context, numbers]
        if native is not None:
            code = prepared_parameters(native, vector)
            context[kn.CODE], context[kn.PARAMETERS] = native.evaluate, code.ctypes.data
            keep += [native, code]
        context[[kn.NQ, kn.NV, kn.NU, kn.DRIVES]] = nq, nv, len(self.layout.inputs), nd
        context[[kn.QUADRATURES, kn.BALLS, kn.MAX_PASSES]] = int(self.has_power), len(self.balls), MOST_PASSES
        context[[rk.HINGES, rk.SPRINGS, rk.LOADS]] = n, len(tables.springs), len(tables.loads)
        context[[rk.VALUES, rk.CHARTS]] = len(tables.expressions), tables.charts.size
        for entry, array in arrays.items():
            context[entry] = array.ctypes.data
        rhs = rk.right_hand_side
        if numbers.plane is not None:
            context[rk.PLANE] = numbers.plane.ctypes.data
            context[rk.SPRUNG] = bool(np.any(numbers.plane[:, pl.STIFFNESS :]))
            rhs = rk.chain_right_hand_side if tables.is_chain else rk.planar_right_hand_side
        project = kn.project
        if self.loop_rows:
            keep.append(self._bind_loops(context, vector, numbers, baumgarte))
            rhs, project = rk.closed_right_hand_side, rk.project_closed
        context[rk.RHS] = rhs.address
        found = Dynamics(
            None,  # type: ignore[arg-type]
            None,
            int(self.has_power),
            arrays[kn.STATUS],
            (*keep, *arrays.values()),
        )
        found.rhs = Callback(rhs.address, context.ctypes.data, found)
        if self.balls or self.loop_rows:
            found.project = Callback(project.address, context.ctypes.data, found)
        return found

    def _bind_loops(self, context: Array, vector: Array, numbers: Numbers, baumgarte: float | None) -> list[Array]:
        """Writes into a context what closed loops need; returns the arrays to keep."""
        n, nv, m = len(self.tables.ints), self.tables.nv, self.loop_rows
        names = self.equations.constraint_names[:m]
        length = self.typical_length(vector)
        arrays = {
            kn.WORK: np.zeros(nv),
            kn.MULTIPLIERS: np.zeros(m),
            kn.LENGTH: np.array([length]),
            kn.SPEED_OF: np.array(self.speed_of, dtype=np.int64),
            kn.RATE: np.array([baumgarte or 0.0]),
            rk.ROWS_AT: self.tables.closing(names),
            rk.ROW_NUMBERS_AT: self.tables.closing_numbers(names, numbers, vector),
            rk.PULLS: np.zeros((m, lp.PULLS)),
            rk.ANSWERS: np.zeros((n + 1, lp.ANSWER)),
            rk.CHANGES: np.zeros((m, nv)),
            rk.EFFORT_CHANGES: np.zeros((m, self.tables.drives + 1)),
            rk.MATRIX: np.zeros((m, m)),
            rk.RIGHT: np.zeros(2 * m),
            rk.ORDER: np.zeros(m, dtype=np.int64),
        }
        context[[kn.ROWS, kn.RANK, kn.BAUMGARTE]] = m, self.independent_rows(vector), baumgarte is not None
        for entry, array in arrays.items():
            context[entry] = array.ctypes.data
        return list(arrays.values())

    @property
    def runs_in_lanes(self) -> bool:
        """Whether eight states can be computed at once: nothing depends on time or on expressions, no loops."""
        return self._program is None and not self.model.closures

    def dynamics_of_eight(self, parameters: Parameters = None) -> Dynamics:
        """Callbacks for eight states at once, where ``runs_in_lanes``.

        The right-hand side reads [t, q, v, (work)] with eight numbers for each, and writes rates in the same way.
        """
        if not self.runs_in_lanes:
            raise NotSupported("eight states at once: not where something depends on time, expressions or loops")
        dynamics = self.dynamics(parameters)
        context = dynamics.buffers[0]
        if self.numbers(parameters).plane is None:
            eight = rk.spatial_eight
        else:
            eight = rk.chain_eight if self.tables.is_chain else rk.planar_eight
        work = aligned_zeros(len(self.tables.ints) + 1, sp.WIDTH, LANES)
        tau = aligned_zeros(len(self.layout.speeds) + 1, LANES)
        context[[rk.W, rk.TAU]] = work.ctypes.data, tau.ctypes.data
        dynamics.buffers = (*dynamics.buffers, work, tau)
        dynamics.rhs = Callback(eight.address, context.ctypes.data, dynamics)
        dynamics.project = None
        return dynamics

    def forward_dynamics(self, parameters: Parameters = None) -> Callable[[Array, Array, Array], None]:
        """A function (q, v, out) that writes v' into ``out``, for many calls from Python: nothing is checked.

        Example:
            >>> import numpy as np, pendula
            >>> system = pendula.compile_system(pendula.library.chain(links=2), engine="recursive")
            >>> forward, out = system.forward_dynamics(), np.zeros(2)
            >>> forward(np.array([0.1, 0.2]), np.zeros(2), out)
            >>> bool(np.allclose(out, system.accelerations([0.1, 0.2], [0.0, 0.0])))
            True
        """
        dynamics = self.dynamics(parameters)
        forward = partial(rk.evaluate, dynamics.rhs.context)
        forward.dynamics = dynamics  # type: ignore[attr-defined]  # keeps what the context points to
        return forward

    # -- expressions to watch -------------------------------------------------------------------

    def names(self) -> dict[str, Any]:
        """What an expression of the state may name."""
        m = self.tables.mechanism
        known = {str(s): s for s in (m.t, *m.parameters, *m.inputs, *m.q, *m.v)}
        for drive in m.drives:
            known |= {drive.name: drive.position, f"{drive.name}_dot": drive.rate}
        return known

    def watching(self, texts: Sequence[str], values: Sequence[Any], parameters: Parameters = None) -> Compiled:
        """A program of [t, q, v] for values of expressions."""
        m = self.tables.mechanism
        definitions = (*inputs_in_time(self.model, constant_ones=True), *drive_definitions(m))
        low = Lowering([m.t, *m.q, *m.v], m.parameters, definitions)
        native = compile_program(low.program, [low(e) for e in values], quick=True)
        return Compiled(native, prepared_parameters(native, self.parameter_vector(parameters)))

    # -- evaluation -----------------------------------------------------------------------------

    def _found(
        self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters
    ) -> tuple[Array, Array, Array, Array, Any]:
        """Accelerations, multipliers, power, efforts and batch shape."""
        rows, batch = self._rows(q, v, t, inputs, parameters)
        dynamics = self.dynamics(parameters, inputs_given=inputs is not None)
        count, nv, nd = len(rows), len(self.layout.speeds), len(self.drives)
        a, power, efforts = np.empty((count, nv)), np.empty(count), np.zeros((count, nd))
        status = np.zeros(count, dtype=np.int64)
        lam = np.zeros((count, self.loop_rows))
        rk.solve_rows(dynamics.rhs.context, rows, a, lam, power, efforts, status)
        bad = np.flatnonzero(status)
        if bad.size:
            state = list(zip(self.layout.coordinates, rows[bad[0], 1:], strict=False))[:6]
            where = ", ".join(f"{k} = {x:.6g}" for k, x in state)
            raise SingularPose(f"the accelerations are not determined at {where}: {STATUS[int(status[bad[0]])]}")
        if not np.all(np.isfinite(a)):
            raise ComputationError("the accelerations are not finite: check the state and the parameters")
        return a, lam, power, efforts, batch

    def _solve(self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters) -> tuple[Array, Array]:
        a, lam, _, _, batch = self._found(q, v, t, inputs, parameters)
        return a.reshape(*batch, a.shape[1]), lam.reshape(*batch, lam.shape[1])

    def power(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Power of friction, damping, inputs and applied loads."""
        _, _, power, _, batch = self._found(q, v, t, inputs, parameters)
        return power.reshape(batch)

    def drive_forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Force or torque that each prescribed motion needs, shape (..., prescribed motions)."""
        _, _, _, efforts, batch = self._found(q, v, t, inputs, parameters)
        return efforts.reshape(*batch, efforts.shape[1])

    def residual(
        self, q: Any, v: Any, a: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """M v' - f for given v': what forces along the speeds would have to be added (inverse dynamics)."""
        n = len(self.layout.speeds)
        rows, batch = self._rows(q, v, t, inputs, parameters, extra=[(a, n)])
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        out = np.empty((len(rows), n))
        dynamics = self.dynamics(parameters, inputs_given=inputs is not None)
        rk.residual_rows(dynamics.rhs.context, given, a, out)
        return out.reshape(*batch, n)

    def forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """f of M v' = f, shape (..., speeds)."""
        if self.symbolic_terms:
            return super().forces(q, v, t, inputs=inputs, parameters=parameters)
        return -self.residual(q, v, np.zeros(len(self.layout.speeds)), t, inputs=inputs, parameters=parameters)

    def mass_matrix(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """M, shape (..., speeds, speeds)."""
        if self.symbolic_terms:
            return super().mass_matrix(q, t, parameters=parameters)
        rows, batch = self._rows(q, None, t, self._no_inputs, parameters)
        n = len(self.layout.speeds)
        out = np.empty((len(rows), n, n))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.mass_rows(dynamics.rhs.context, rows, np.zeros(n), out)
        return out.reshape(*batch, n, n)

    def rates(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """q' = N v, shape (..., coordinates)."""
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        nq = len(self.layout.coordinates)
        q, v = rows[:, 1 : 1 + nq], rows[:, 1 + nq : 1 + nq + len(self.layout.speeds)]
        out = np.zeros((len(rows), nq))
        speed_of = np.array(self.speed_of)
        out[:, speed_of >= 0] = v[:, speed_of[speed_of >= 0]]
        for at, k in self.balls:
            w, x, y, z = q[:, at : at + 4].T
            a, b, c = v[:, k : k + 3].T / 2
            out[:, at : at + 4] = np.stack(
                [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a], axis=1
            )
        return out.reshape(*batch, nq)

    def energies(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Energies:
        """Kinetic and potential energy, each of the batch's shape."""
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        numbers = self.numbers(parameters)
        if numbers.plane is not None and numbers.gravity[2] == 0.0:
            motion = self._plane_motion(rows, np.zeros((len(rows), len(self.layout.speeds))), parameters)
            kinetic, potential = motion.energies(numbers.plane, numbers.gravity)
            slack = 0.5 * float(numbers.springs[:, lk.STIFFNESS] @ numbers.springs[:, lk.REST] ** 2)
            return Energies(kinetic.reshape(batch), potential.reshape(batch) + slack + numbers.resting)
        out = np.empty((len(rows), 2))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.energy_rows(dynamics.rhs.context, rows, out)
        out = out.reshape(*batch, 2)
        return Energies(out[..., 0], out[..., 1] + numbers.resting)

    def _plane_motion(self, rows: Array, a: Array, parameters: Parameters) -> PlaneMotion:
        """Motion of all hinges of a planar mechanism for rows [t, q, v, u] and v'."""
        tables, numbers, native = self.tables, self.numbers(parameters), self._program_of_inputs
        assert numbers.plane is not None
        aside = np.zeros((len(rows), tables.aside))
        if native is not None:
            prepared = prepared_parameters(native, self.parameter_vector(parameters))
            kn.evaluate_rows(native.evaluate, prepared.ctypes.data, rows, aside)
        q, v = rows[:, 1 : 1 + tables.nq], rows[:, 1 + tables.nq : 1 + tables.nq + tables.nv]
        return PlaneMotion.of(tables.ints, numbers.plane, q, v, a, aside[:, : 3 * tables.drives])

    def gaps(self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """How far constraints are violated: g (loops, then quaternions) and G v - b."""
        if self.model.closures:
            return super().gaps(q, v, t, parameters=parameters)
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        at = np.array([first for first, _ in self.balls], dtype=int)
        parts = rows[:, 1 + at[:, None] + np.arange(4)] if at.size else np.zeros((len(rows), 0, 4))
        return ((parts**2).sum(axis=-1) - 1.0).reshape(*batch, at.size), np.zeros((*batch, 0))

    def _hinge_motion(self, q: Any, v: Any, a: Any, t: Any, parameters: Parameters) -> tuple[Array, tuple[int, ...]]:
        """Rows of :func:`recursion.kernels.motion_rows` at the hinges that carry the bodies; ground stays at rest."""
        n = len(self.layout.speeds)
        extra = [(np.zeros(n) if a is None else a, n)]
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters, extra=extra)
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        seats, numbers = [seat.hinge for seat in self.tables.skeleton.seats], self.numbers(parameters)
        if numbers.plane is not None:
            out = self._plane_motion(given, a, parameters).rows()[:, seats]
            R = out[..., :9].reshape(*out.shape[:2], 3, 3) @ numbers.turns[seats]
            out[..., :9], out[..., 11] = R.reshape(*out.shape[:2], 9), numbers.heights[seats]
            return out, batch
        out = np.zeros((len(rows), 1 + len(self.tables.ints), 24))
        out[:, 0, [0, 4, 8]] = 1.0
        found = np.zeros((len(rows), len(self.tables.ints), 24))
        dynamics = self.dynamics(parameters)  # keeps what the context points to
        rk.motion_rows(dynamics.rhs.context, given, a, found)
        out[:, 1:] = found
        return out[:, seats], batch

    def poses(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """R_WB of shape (..., bodies, 3, 3) and origins in world axes of shape (..., bodies, 3)."""
        found, batch = self._hinge_motion(q, None, None, t, parameters)
        R = found[..., :9].reshape(*found.shape[:2], 3, 3)
        turn, shift = self.numbers(parameters).seats
        origin = found[..., 9:12] + np.einsum("kbij,bj->kbi", R, shift)
        count = len(self.layout.bodies)
        return (R @ turn).reshape(*batch, count, 3, 3), origin.reshape(*batch, count, 3)

    def body_motion(self, q: Any, v: Any, a: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> BodyMotion:
        """Velocities and accelerations of all bodies in world axes, for given v' (default 0)."""
        found, batch = self._hinge_motion(q, v, a, t, parameters)
        R = found[..., :9].reshape(*found.shape[:2], 3, 3)
        arm = np.einsum("kbij,bj->kbi", R, self._centers(parameters))
        u, w, b, alpha = (found[..., k : k + 3] for k in (12, 15, 18, 21))
        swing = np.cross(w, arm)
        velocity, acceleration = u + swing, b + np.cross(alpha, arm) + np.cross(w, swing)
        count = len(self.layout.bodies)
        return BodyMotion(*(x.reshape(*batch, count, 3) for x in (w, velocity, alpha, acceleration)))

    def _centers(self, parameters: Parameters) -> Array:
        """Mass centres of the bodies in the axes of their hinges."""
        vector = self.parameter_vector(parameters)
        values = self.tables.constants.values(vector)
        com = [[values[self.tables.constants.index(x)] for x in link.com] for link in self.tables.mechanism.links]
        turn, shift = self.numbers(vector).seats
        return shift + np.einsum("bij,bj->bi", turn, np.array(com))

    # -- exact derivatives ----------------------------------------------------------------------

    def _bound_jacobian(self, by: str, parameters: Parameters, *, solves: bool = True) -> BoundJacobian:
        """Kernels of derivatives by some letters, with fresh memory."""
        if by not in self._columns:
            gradient = self.tables.gradient(symbols_of(self.tables, by))
            self._columns[by] = Batches.of(self.tables, by, gradient), gradient
        vector = self.parameter_vector(parameters)
        dynamics = self.dynamics(vector, inputs_given=True)
        return BoundJacobian(self.tables, dynamics, by, *self._columns[by], vector, solves=solves)

    def _count(self, by: str) -> int:
        """How many columns a Jacobian has."""
        layout = self.layout
        names = {"q": layout.coordinates, "v": layout.speeds, "u": layout.inputs, "p": layout.parameters}
        if by not in names:
            raise UsageError(f'derivatives are taken by "q", "v", "u" or "p", not "{by}"')
        return len(names[by])

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
        """Exact derivatives of M a - f by ``q``, ``v``, ``u`` or ``p`` (a held); the second part has no rows.

        With closed loops those of M a - f - G^T lam and of G a - c, from the symbolic equations.
        """
        if self.model.closures or self.symbolic_terms:
            return super().residual_jacobian(by, q, v, a, lam, t, inputs=inputs, parameters=parameters)
        count, n = self._count(by), len(self.layout.speeds)
        rows, batch = self._rows(q, v, t, inputs, parameters, extra=[(a, n)])
        given, a = np.ascontiguousarray(rows[:, :-n]), np.ascontiguousarray(rows[:, -n:])
        out = np.zeros((len(rows), n, count))
        if count:
            bound = self._bound_jacobian(by, parameters, solves=False)
            dk.residual_rows(bound.context, given, a, out)
        if not np.all(np.isfinite(out)):
            raise ComputationError(f"derivatives by {by} are not finite: check the state and the parameters")
        return out.reshape(*batch, n, count), np.zeros((*batch, 0, count))

    def acceleration_jacobian(
        self, by: str, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Exact derivatives of v' by ``q``, ``v``, ``u`` or ``p``, shape (..., speeds, count).

        By ``q`` every entry of a quaternion moves alone; what that means away from length one is a matter of
        convention, the product with N (of q' = N v) is not. By ``p`` each parameter moves alone: inputs and other
        parameters that depend on it are held. Closed loops are left to the symbolic equations.
        """
        if self.model.closures or self.symbolic_terms:
            return super().acceleration_jacobian(by, q, v, t, inputs=inputs, parameters=parameters)
        count, n = self._count(by), len(self.layout.speeds)
        rows, batch = self._rows(q, v, t, inputs, parameters)
        self._found(q, v, t, inputs, parameters)  # tells where they are not determined
        out = np.zeros((len(rows), n, count))
        if count:
            bound = self._bound_jacobian(by, parameters)
            dk.acceleration_rows(bound.context, rows, out)
        if not np.all(np.isfinite(out)):
            raise ComputationError(f"derivatives by {by} are not finite: check the state and the parameters")
        return out.reshape(*batch, n, count)

    def jacobian_dynamics(self, parameters: Parameters = None, *, t: float = 0.0) -> Callable[..., tuple[Array, Array]]:
        """A function (q, v) that gives dv'/dq and dv'/dv, for many calls from Python: nothing is checked.

        As a third argument it takes an array of shape (speeds, coordinates + speeds) to write to; the results are
        parts of it. Time, and with it the inputs, are those of ``t``.

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
            raise NotSupported("jacobian_dynamics has no closed loops; use acceleration_jacobian")
        nq, nv = len(self.layout.coordinates), len(self.layout.speeds)
        bound = self._bound_jacobian("qv", parameters)
        x = bound.state
        context, evaluate, empty = bound.context, dk.evaluate, np.empty
        x[0], x[1 + nq + nv :] = t, self.inputs_at(t, parameters)

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
                raise UsageError(f"derivatives go to a contiguous array of shape {(nv, nq + nv)}, got {out.shape}")
            known, parts = out, (out[:, :nq], out[:, nq:])
            evaluate(context, q, v, out)
            return parts

        jacobian.bound = bound  # type: ignore[attr-defined]
        return jacobian
