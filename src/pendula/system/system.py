"""Compiled equations: numeric functions of named states, each compiled when it is first used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import symengine as se

from pendula.equations.derive import cannot, derive
from pendula.equations.equations import Equations
from pendula.equations.matrix import Matrix, entries
from pendula.errors import ComputationError, SingularPose, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation
from pendula.model.model import Model
from pendula.numerics.taylor.integrate import Series
from pendula.system import kernels as kn
from pendula.system.block_tree import kernels as tk
from pendula.system.block_tree.dynamics import bind_tree
from pendula.system.block_tree.layout import TreeLayout
from pendula.system.code.programs import Compiled, Programs, inputs_in_time
from pendula.system.dynamics import STATUS, Dynamics, Sizes, bind_dynamics
from pendula.system.layout import Array, Layout, State
from pendula.system.rotations import quaternion_of
from pendula.system.taylor.code import bind_series

if TYPE_CHECKING:
    from pendula.system.mobility import Mobility

Parameters = Mapping[str, float] | Sequence[float] | Array | None


class Energies(NamedTuple):
    """Kinetic and potential energy.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("pendulum")
        >>> float(system.energies([0.0], [2.0]).kinetic)  # m l^2/3 w^2/2
        0.6666666666666666
    """

    kinetic: Array
    potential: Array


class BodyMotion(NamedTuple):
    """Motion of the bodies in world axes, each of shape (..., bodies, 3).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("pendulum")
        >>> system.body_motion([0.0], [2.0]).angular_velocity[0].tolist()
        [0.0, 0.0, 2.0]
    """

    angular_velocity: Array
    velocity: Array
    angular_acceleration: Array
    acceleration: Array


class Wrenches(NamedTuple):
    """What joints transmit to their child side in world axes, each of shape (..., joints, 3).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("pendulum", "newton-euler")
        >>> system.transmitted([0.0], [0.0]).force[0].round(3).tolist()  # its weight
        [0.0, 9.81, 0.0]
    """

    force: Array
    torque: Array
    """about the child side's point"""


class System:
    """Numeric functions of a mechanism. Made from ``Equations``; does not know which formulation made them.

    States are arrays: q of shape (..., coordinates), v of shape (..., speeds), t a number or of the batch's
    shape. Leading dimensions are batch dimensions and carry over to the result.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> system.accelerations([0.5], [0.0]).round(3)
        array([-7.055])
    """

    def __init__(self, equations: Equations, *, by_bodies: bool = True) -> None:
        self.equations = equations
        self._by_bodies = by_bodies and bool(equations.nodes)
        self.model: Model = equations.model
        self.layout = Layout.of(self.model, equations.coordinates, equations.speeds)
        self.joint_layout = Layout.of(self.model) if equations.nodes else self.layout
        self._programs = Programs(equations)
        self._mobilities: dict[bytes, Mobility] = {}
        self._lengths: dict[bytes, float] = {}

    # -- what it is -----------------------------------------------------------------------------

    symbolic_terms: bool = True
    """whether M, f and their derivatives come from symbolic equations"""
    engine: str = "symbolic"
    """where the numbers come from: compiled symbolic equations, or the recursion over the bodies"""

    @property
    def formulation(self) -> str:
        """The formulation that derived the equations."""
        return self.equations.formulation

    @property
    def loop_rows(self) -> int:
        """Number of rows of G."""
        return self.equations.loop_rows

    @property
    def has_gaps(self) -> bool:
        """Whether anything can be violated: closed loops, lengths of quaternions."""
        return bool(self.equations.g)

    @property
    def drives(self) -> tuple[Any, ...]:
        """The prescribed motions."""
        return tuple(self.equations.drives)

    @property
    def bodies_have_coordinates(self) -> bool:
        """Whether each body has coordinates of its own, instead of those of the joints."""
        return bool(self.equations.nodes)

    @property
    def gives_jacobi(self) -> bool:
        """Whether the equations give the Jacobi integral."""
        return self.equations.jacobi is not None

    @cached_property
    def inputs_in_time(self) -> tuple[tuple[Any, Any], ...]:
        """Inputs that are expressions of time, as definitions."""
        return inputs_in_time(self.model)

    # -- names and values -----------------------------------------------------------------------

    @cached_property
    def parameters(self) -> Array:
        """Default values of the parameters, in the order of the layout."""
        values = self.model.parameter_values
        return np.array([values[name] for name in self.layout.parameters], dtype=float)

    def parameter_vector(self, parameters: Parameters = None) -> Array:
        """Parameters as an array: all defaults, changes by name (dependent ones follow), or the array itself."""
        if parameters is None:
            return self.parameters
        if isinstance(parameters, Mapping):
            values = self.model.parameters_with(parameters)  # refuses what makes no mechanical sense
            return np.array([values[name] for name in self.layout.parameters], dtype=float)
        vector = np.ascontiguousarray(parameters, dtype=float)
        if vector.shape != self.parameters.shape:
            raise UsageError(
                f"parameters: expected {self.parameters.size} values in the order of the layout, got {vector.shape}"
            )
        if not np.all(np.isfinite(vector)):
            name = self.layout.parameters[int(np.flatnonzero(~np.isfinite(vector))[0])]
            raise UsageError(f'parameter "{name}" is not finite')
        return vector

    def state(self, values: Mapping[str, float] | None = None, *, t: float = 0.0) -> State:
        """A state with the given joint coordinates and speeds, all others at zero (quaternions at no rotation)."""
        return self.placed(self.joint_state(values, t=t))

    def joint_state(self, values: Mapping[str, float] | None = None, *, t: float = 0.0) -> State:
        """The same in the joints' coordinates, whatever the coordinates of the equations are."""
        layout = self.joint_layout
        q, v = np.zeros(len(layout.coordinates)), np.zeros(len(layout.speeds))
        for joint in self.model.tree:
            if joint.quaternion():
                q[layout.coordinates.index(joint.coordinates()[-4].name)] = 1.0
        return State(t, q, v, layout).replace(values or {})

    def initial_state(self, parameters: Parameters = None, *, t: float = 0.0) -> State:
        """The initial state of the model, as it is written there (a loop may not be closed exactly)."""
        return self.placed(self.initial_joint_state(parameters, t=t), parameters)

    def initial_joint_state(self, parameters: Parameters = None, *, t: float = 0.0) -> State:
        """The initial state in the joints' coordinates."""
        vector = self.parameter_vector(parameters)
        values = dict(zip(self.layout.parameters, vector.tolist(), strict=True))
        numbers: dict[str, float] = {}
        for name, given in self.model.initial.items():
            if isinstance(given, Rotation):
                joint = self.model.joint(name)
                quaternion = quaternion_of(given, values)
                names = [c.name for c in joint.coordinates()[-4:]]
                numbers |= dict(zip(names, quaternion, strict=True))
            else:
                numbers[name] = parse(given).evaluate(values)
        return self.joint_state(numbers, t=t)

    @property
    def balls(self) -> list[tuple[int, int]]:
        """For every quaternion: index of its first coordinate, index of its first angular speed."""
        return [(at.first, at.speed) for at in self.equations.quaternions]

    # -- coordinates of the joints and of the bodies ----------------------------------------------

    def placed(self, state: State, parameters: Parameters = None) -> State:
        """A state of the joints in the coordinates of the equations (the same, unless bodies have their own)."""
        if state.layout is self.layout or not self.bodies_have_coordinates:
            return state
        q, v = self.from_joints(state.q, state.v, state.t, parameters=parameters)
        return State(state.t, q, v, self.layout)

    def from_joints(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Coordinates and speeds of the equations for those of the joints."""
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if not self.bodies_have_coordinates:
            return q, v
        t = np.asarray(t, dtype=float)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], t.shape)
        blocks = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in (t[..., None], q, v)]
        rows = np.concatenate(blocks, axis=-1).reshape(-1, 1 + q.shape[-1] + v.shape[-1])
        out = self._programs.placement(self.parameter_vector(parameters)).rows(np.ascontiguousarray(rows))
        out = out.reshape(*batch, -1)
        n = len(self.layout.coordinates)
        return out[..., :n], out[..., n:]

    def to_joints(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Coordinates and speeds of the joints for those of the equations."""
        if not self.bodies_have_coordinates:
            return np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        names = (*self.joint_layout.coordinates, *self.joint_layout.speeds)
        entries = [self.equations.readings[name] for name in names]
        out = self._block("joints", lambda: entries, rows, parameters).reshape(*batch, len(names))
        n = len(self.joint_layout.coordinates)
        return out[..., :n], out[..., n:]

    def joint_accelerations(
        self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Rates of the joints' speeds, shape (..., speeds of the joints), whatever the coordinates are."""
        a = self.accelerations(q, v, t, inputs=inputs, parameters=parameters)
        if not self.bodies_have_coordinates:
            return a
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters, extra=[(a, len(self.layout.speeds))])
        out = self._programs.joint_accelerations(self.parameter_vector(parameters)).rows(rows)
        return out.reshape(*batch, len(self.joint_layout.speeds))

    @cached_property
    def in_joints(self) -> System:
        """A system of the same model in the joints' coordinates; this one, if they are its own."""
        return System(derive(self.model)) if self.bodies_have_coordinates else self

    @cached_property
    def _no_inputs(self) -> Array:
        """Zeros, for blocks that do not use inputs."""
        return np.zeros(len(self.layout.inputs))

    def constant_inputs(self, parameters: Parameters) -> Array:
        """Values of the inputs that do not depend on time; zeros for the others, which programs do not read."""
        values = dict(zip(self.layout.parameters, self.parameter_vector(parameters).tolist(), strict=True))
        expressions = [parse(e) for e in self.model.inputs.values()]
        return np.array([0.0 if "t" in e.names else e.evaluate(values) for e in expressions], dtype=float)

    def inputs_at(self, t: float, parameters: Parameters = None) -> Array:
        """Values of the inputs at a time."""
        values = dict(zip(self.layout.parameters, self.parameter_vector(parameters).tolist(), strict=True))
        return np.array([parse(e).evaluate(values | {"t": float(t)}) for e in self.model.inputs.values()], dtype=float)

    # -- callbacks for steppers -----------------------------------------------------------------

    def typical_length(self, parameters: Parameters = None) -> float:
        """A length typical of the mechanism, by which gaps that are zero but for rounding are told."""
        vector = self.parameter_vector(parameters)
        key = vector.tobytes()
        if key not in self._lengths:
            self._lengths = {key: self._find_length(vector)}  # only the last: runs over many parameters do not pile up
        return self._lengths[key]

    def _find_length(self, vector: Array) -> float:
        values = dict(zip(self.layout.parameters, vector.tolist(), strict=True))
        points = [p for body in self.model.bodies for p in body.named_points().values()]
        sides = [s.position for j in self.model.joints for s in (j.parent, j.child) if s.position is not None]
        scalars = [parse(x) for p in (*points, *sides) for x in p]
        found = max((abs(e.evaluate(values)) for e in scalars if "t" not in e.names), default=0.0)
        return found if 0.0 < found < np.inf else 1.0

    @property
    def mobility(self) -> Mobility:
        """Degrees of freedom by count and by rank, and redundant constraints, for the model's own parameters."""
        return self.mobility_with()

    @mobility.setter
    def mobility(self, found: Mobility) -> None:
        self._mobilities[self.parameters.tobytes()] = found

    def mobility_with(self, parameters: Parameters = None, *, look_again: bool = False) -> Mobility:
        """Mobility for some parameters, which may make constraints redundant or end that.

        What is not redundant by the model's own parameters is taken not to be by others, unless ``look_again``:
        equations that turn out singular are refused anyway.
        """
        if self.bodies_have_coordinates and self.model.closures:
            return self.in_joints.mobility_with(parameters, look_again=look_again)
        vector = self.parameter_vector(parameters)
        key, own = vector.tobytes(), self._mobilities.get(self.parameters.tobytes())
        if key in self._mobilities:
            return self._mobilities[key]
        if own is not None and not own.redundant and not look_again:
            return own
        from pendula.system.mobility import find_mobility

        return self._mobilities.setdefault(key, find_mobility(self, vector))

    def independent_rows(self, parameters: Parameters = None) -> int:
        """Number of independent constraint rows at regular poses; rows of tree joints always are."""
        nodes = self.equations.nodes
        held = nodes[-1].rows[1] if nodes else 0
        return held + self.mobility_with(parameters).rank if self.equations.loop_rows > held else held

    @property
    def has_power(self) -> bool:
        """Whether anything but gravity, springs and ideal joints does work."""
        return bool(self.equations.drives) or not self.equations.power_is_zero

    @property
    def moves_by_time(self) -> bool:
        """Whether something is prescribed as a function of time: a motion or an input."""
        return bool(self.drives or self.inputs_in_time)

    @cached_property
    def speed_of(self) -> list[int]:
        """Index of the speed that is the rate of each coordinate, -1 for quaternions."""
        speeds = {name: k for k, name in enumerate(self.layout.speeds)}
        return [speeds.get(f"{name}_dot", -1) for name in self.layout.coordinates]

    @cached_property
    def tree(self) -> TreeLayout | None:
        """How accelerations are found body by body; None where all equations are solved at once."""
        return TreeLayout.of(self.equations) if self._by_bodies else None

    def dynamics(self, parameters: Parameters = None, *, baumgarte: float | None = None) -> Dynamics:
        """Fresh callbacks for a run: the right-hand side, and the projection if there are constraints.

        With ``baumgarte`` the right-hand side lets errors of the constraints die out at that rate [1/time].
        """
        eq = self.equations
        bind = bind_dynamics if self.tree is None else partial(bind_tree, tree=self.tree)
        return bind(
            self._programs,
            sizes=Sizes(len(eq.q), len(eq.v), len(eq.u), eq.loop_rows, len(eq.drives)),
            parameters=self.parameter_vector(parameters),
            inputs=self.constant_inputs(parameters),
            balls=self.balls,
            speed_of=self.speed_of,
            has_power=self.has_power,
            length=self.typical_length(parameters) if eq.loop_rows else 1.0,
            rank=self.independent_rows(parameters),
            complement=eq.solver == "complement",
            baumgarte=baumgarte,
        )

    def series(self, parameters: Parameters = None, *, lanes: int = 1) -> Series:
        """Taylor series of q, v and, where there is power, of the work, for one state or for eight at a time.

        With eight lanes ``parameters`` may also be an array with one row for every run.

        Raises:
            NotSupported: there are constraint rows, too many speeds, or an operation without a Taylor series.
        """
        native = self._programs.series(lanes, power=self.has_power)
        if isinstance(parameters, np.ndarray) and parameters.ndim == 2:
            vectors = np.array([self.parameter_vector(row) for row in parameters])
        else:
            vectors = self.parameter_vector(parameters)[None]
        return bind_series(native, vectors, STATUS[kn.SINGULAR_MASS])

    # -- evaluation -----------------------------------------------------------------------------

    def _rows(
        self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters, extra: Sequence[tuple[Any, int]] = ()
    ) -> tuple[Array, tuple[int, ...]]:
        """One row [t, q, v, u, ...] per state, and the batch shape."""
        q, t = np.asarray(q, dtype=float), np.asarray(t, dtype=float)
        v = np.zeros((*q.shape[:-1], len(self.layout.speeds))) if v is None else np.asarray(v, dtype=float)
        for name, array, names in (("q", q, self.layout.coordinates), ("v", v, self.layout.speeds)):
            if array.shape[-1:] != (len(names),):
                raise UsageError(
                    f"{name} must end in {len(names)} entries ({', '.join(names[:6])}), got shape {array.shape}"
                )
        u = self._input_rows(t, inputs, parameters)
        extras = [(np.asarray(array, dtype=float), count) for array, count in extra]
        for array, count in extras:
            if array.shape[-1:] != (count,):
                raise UsageError(f"an argument must end in {count} entries, got shape {array.shape}")
        blocks = [t[..., None], q, v, u, *(array for array, _ in extras)]
        try:
            batch = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
        except ValueError:
            shapes = ", ".join(str(b.shape[:-1]) for b in blocks)
            raise UsageError(f"the batch shapes of t, q, v, u do not fit together: {shapes}") from None
        rows = np.concatenate([np.broadcast_to(b, (*batch, b.shape[-1])) for b in blocks], axis=-1)
        return np.ascontiguousarray(rows.reshape(-1, rows.shape[-1])), batch

    def _input_rows(self, t: Array, inputs: Any, parameters: Parameters) -> Array:
        """Values of the inputs: as given, by name, or those of the model at the times t."""
        names = self.layout.inputs
        if isinstance(inputs, Mapping):
            unknown = sorted(set(inputs) - set(names))
            if unknown:
                raise UsageError(f'there is no input "{unknown[0]}"; known are {", ".join(names) or "none"}')
            base = self._input_rows(t, None, parameters)
            given = {name: np.asarray(value, dtype=float) for name, value in inputs.items()}
            shape = np.broadcast_shapes(base.shape[:-1], *(value.shape for value in given.values()))
            rows = np.array(np.broadcast_to(base, (*shape, len(names))))
            for name, value in given.items():
                rows[..., names.index(name)] = value
            return rows
        if inputs is not None:
            found = np.atleast_1d(np.asarray(inputs, dtype=float))
            if found.shape[-1:] != (len(names),):
                raise UsageError(
                    f"inputs must end in {len(names)} entries ({', '.join(names)}), got shape {found.shape}"
                )
            return found
        if not self.inputs_in_time:
            return self.inputs_at(0.0, parameters)
        flat = [self.inputs_at(x, parameters) for x in t.ravel()]
        return np.array(flat).reshape(*t.shape, len(self.layout.inputs))

    def _block(self, name: str, entries: Any, rows: Array, parameters: Parameters) -> Array:
        """Some entries of the equations at every row."""
        return self._programs.block(name, self.parameter_vector(parameters), entries).rows(rows)

    def names(self) -> dict[str, Any]:
        """What an expression of the state may name: t, coordinates, speeds, prescribed motions, inputs, parameters."""
        eq = self.equations
        known: dict[str, Any] = {str(s): s for s in (eq.t, *eq.p, *eq.u)}
        for drive in eq.drives:
            known |= {drive.name: drive.position, f"{drive.name}_dot": drive.rate}
        known |= dict(zip(self.layout.coordinates, eq.q, strict=True))
        known |= dict(zip(self.layout.speeds, eq.v, strict=True))
        return known | dict(eq.readings)

    def watching(self, texts: Sequence[str], values: Sequence[Any], parameters: Parameters = None) -> Compiled:
        """A program for expressions in symbols of the equations; it reads [t, q, v]. See ``watching.py``."""
        return self._programs.watched(texts, values, self.parameter_vector(parameters))

    def mass_matrix(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """M, shape (..., speeds, speeds)."""
        rows, batch = self._rows(q, None, t, self._no_inputs, parameters)
        n = len(self.layout.speeds)
        return self._matrix("M", self.equations.M, rows, parameters).reshape(*batch, n, n)

    def _matrix(self, name: str, matrix: Matrix, rows: Array, parameters: Parameters) -> Array:
        """A matrix of the equations at every row; zeros are not computed."""
        found = list(entries(matrix))
        width = len(self.layout.speeds)
        out = np.zeros((len(rows), len(matrix) * width))
        if found:
            values = self._block(name, lambda: [x for _, _, x in found], rows, parameters)
            out[:, [i * width + j for i, j, _ in found]] = values
        return out

    def forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """f of M v' = f + G^T lam, shape (..., speeds)."""
        rows, batch = self._rows(q, v, t, inputs, parameters)
        return self._block("f", lambda: self.equations.f, rows, parameters).reshape(*batch, len(self.layout.speeds))

    def rates(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """q' = N v + n, shape (..., coordinates)."""
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        return self._block("qdot", lambda: self.equations.qdot, rows, parameters).reshape(
            *batch, len(self.layout.coordinates)
        )

    def _solve(self, q: Any, v: Any, t: Any, inputs: Any, parameters: Parameters) -> tuple[Array, Array]:
        eq = self.equations
        rows, batch = self._rows(q, v, t, inputs, parameters)
        if inputs is not None and self.inputs_in_time:
            return self._solve_with_inputs(rows, batch, parameters)
        dynamics = self.dynamics(parameters)
        a, lam = np.empty((len(rows), len(eq.v))), np.empty((len(rows), eq.loop_rows))
        status = np.zeros(len(rows), dtype=np.int64)
        solve = kn.solve_rows if self.tree is None else tk.solve_rows
        solve(dynamics.rhs.context, rows, a, lam, status)
        bad = np.flatnonzero(status)
        if bad.size:
            state = dict(zip(self.layout.coordinates, rows[bad[0], 1 : 1 + len(eq.q)], strict=True))
            where = ", ".join(f"{k} = {x:.6g}" for k, x in list(state.items())[:6])
            raise SingularPose(f"the accelerations are not determined at {where}: {STATUS[int(status[bad[0]])]}")
        if not np.all(np.isfinite(a)):
            raise ComputationError("the accelerations are not finite: check the state and the parameters")
        return a.reshape(*batch, len(eq.v)), lam.reshape(*batch, eq.loop_rows)

    def _solve_with_inputs(self, rows: Array, batch: tuple[int, ...], parameters: Parameters) -> tuple[Array, Array]:
        """Inputs given as numbers where the model has them as expressions of time: plain dense solves."""
        eq = self.equations
        n, m = len(eq.v), eq.loop_rows
        entries = [x for row in eq.M for x in row] + [*eq.f] + [x for row in eq.G for x in row] + [*eq.c]
        terms = self._block("terms", lambda: entries, rows, parameters)
        M, G = terms[:, : n * n].reshape(len(rows), n, n), terms[:, n * n + n : n * n + n + m * n]
        right = np.concatenate([terms[:, n * n : n * n + n], terms[:, n * n + n + m * n :]], axis=-1)
        try:
            found = self._solve_dense(M, G.reshape(len(rows), m, n), right[..., None], parameters)[..., 0]
        except np.linalg.LinAlgError:
            status = STATUS[kn.SINGULAR_CONSTRAINTS if m else kn.SINGULAR_MASS]
            raise SingularPose(f"the accelerations are not determined at one of the states: {status}") from None
        if not np.all(np.isfinite(found)):
            raise ComputationError("the accelerations are not finite: check the state and the parameters")
        return found[:, :n].reshape(*batch, n), found[:, n:].reshape(*batch, m)

    def _solve_dense(self, M: Array, G: Array, right: Array, parameters: Parameters) -> Array:
        """[v'; lam] of the KKT system by NumPy; redundant rows are first combined into independent ones."""
        n, m = M.shape[-1], G.shape[-2]
        rank = self.independent_rows(parameters)
        combine = np.eye(m)
        if rank < m:
            combine = np.swapaxes(np.linalg.svd(G)[0][..., :rank], -1, -2)
        G = combine @ G
        kkt = np.zeros((*G.shape[:-2], n + rank, n + rank))
        kkt[..., :n, :n], kkt[..., n:, :n], kkt[..., :n, n:] = M, G, -np.swapaxes(G, -1, -2)
        found = np.linalg.solve(kkt, np.concatenate([right[..., :n, :], combine @ right[..., n:, :]], axis=-2))
        return np.concatenate([found[..., :n, :], np.swapaxes(combine, -1, -2) @ found[..., n:, :]], axis=-2)

    def accelerations(
        self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """v', shape (..., speeds).

        Raises:
            SingularPose: the mass matrix or the constraints lose rank at a state.
        """
        return self._solve(q, v, t, inputs, parameters)[0]

    def multipliers(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """lam, one for every loop row; the constraint force is + G^T lam."""
        return self._solve(q, v, t, inputs, parameters)[1]

    def energies(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Energies:
        """Kinetic and potential energy, each of the batch's shape."""
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        entries = [self.equations.kinetic, self.equations.potential]
        out = self._block("energies", lambda: entries, rows, parameters).reshape(*batch, 2)
        return Energies(out[..., 0], out[..., 1])

    def jacobi(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """The Jacobi integral v . dT/dv - T + V, which prescribed motions at constant rates keep.

        Raises:
            NotSupported: bodies have coordinates of their own and motions are prescribed.
        """
        value = self.equations.jacobi
        if value is None:
            raise cannot(self.equations.formulation, "jacobi")
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)
        return self._block("jacobi", lambda: [value], rows, parameters).reshape(batch)

    def power(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Power of friction, damping, inputs and applied loads."""
        rows, batch = self._rows(q, v, t, inputs, parameters)
        return self._block("power", lambda: [self.equations.power], rows, parameters).reshape(batch)

    def poses(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """R_WB of shape (..., bodies, 3, 3) and origins in world axes of shape (..., bodies, 3)."""
        rows, batch = self._rows(q, None, t, self._no_inputs, parameters)

        def entries() -> list[Any]:
            flat: list[Any] = []
            for body in self.layout.bodies:
                R, r = self.equations.poses[body]
                flat += [x for row in R for x in row] + list(r)
            return flat

        out = self._block("poses", entries, rows, parameters)
        out = out.reshape(*batch, len(self.layout.bodies), 12)
        return out[..., :9].reshape(*out.shape[:-1], 3, 3), out[..., 9:]

    def gaps(self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """How far constraints are violated: g (loops, then quaternions) and G v - b."""
        eq = self.equations
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters)

        def values() -> list[Any]:
            terms: list[list[Any]] = [[-b] for b in eq.b]
            for r, j, x in entries(eq.G):
                terms[r].append(x * eq.v[j])
            return [*eq.g, *(se.Add(*row) for row in terms)]

        if not eq.g:
            return np.zeros((*batch, 0)), np.zeros((*batch, 0))
        out = self._block("g", values, rows, parameters).reshape(*batch, len(eq.g) + len(eq.G))
        return out[..., : len(eq.g)], out[..., len(eq.g) :]

    def fixed_gaps(self, parameters: Parameters = None) -> Array:
        """Gaps of the constraints that no motion changes."""
        entries = [gap for _, gap in self.equations.fixed_gaps]
        rows, _ = self._rows(np.zeros(len(self.layout.coordinates)), None, 0.0, self._no_inputs, parameters)
        return self._block("fixed gaps", lambda: entries, rows, parameters)[0]

    def drive_forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Force or torque that each prescribed motion needs, shape (..., prescribed motions)."""
        eq = self.equations
        n, m, d = len(eq.v), eq.loop_rows, len(eq.drives)
        a, lam = self._solve(q, v, t, inputs, parameters)
        rows, batch = self._rows(q, v, t, inputs, parameters)
        entries = [*eq.drive_f, *(x for row in eq.drive_M for x in row), *(x for row in eq.drive_G for x in row)]
        out = self._block("drive forces", lambda: entries, rows, parameters).reshape(*batch, d + d * n + m * d)
        f, M = out[..., :d], out[..., d : d + d * n].reshape(*batch, d, n)
        G = out[..., d + d * n :].reshape(*batch, m, d)
        return np.einsum("...dn,...n->...d", M, a) - f - np.einsum("...md,...m->...d", G, lam)

    def turned_over(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> list[str]:
        """Closing joints that are closed with one side turned over, at one state."""
        senses = self.equations.senses
        if not senses:
            return []
        rows, _ = self._rows(q, None, t, self._no_inputs, parameters)
        values = self._block("senses", lambda: [e for _, e in senses], rows, parameters)[0]
        return sorted({name for (name, _), value in zip(senses, values, strict=True) if not value > 0})

    def constraint_jacobian(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """G, shape (..., loop rows, speeds)."""
        rows, batch = self._rows(q, None, t, self._no_inputs, parameters)
        m, n = self.equations.loop_rows, len(self.layout.speeds)
        if m == 0:
            return np.zeros((*batch, 0, n))
        return self._matrix("G", self.equations.G, rows, parameters).reshape(*batch, m, n)

    def body_motion(self, q: Any, v: Any, a: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> BodyMotion:
        """Velocities and accelerations of all bodies in world axes, for given v' (default 0)."""
        n = len(self.layout.speeds)
        extra = [(np.zeros(n) if a is None else a, n)]
        rows, batch = self._rows(q, v, t, self._no_inputs, parameters, extra=extra)
        out = self._programs.motion(self.parameter_vector(parameters)).rows(rows)
        out = out.reshape(*batch, len(self.layout.bodies), 4, 3)
        return BodyMotion(out[..., 0, :], out[..., 1, :], out[..., 2, :], out[..., 3, :])

    def transmitted(
        self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Wrenches:
        """What every joint of ``equations.transmitted`` exerts on its child side, springs in the joint included.

        Raises:
            NotSupported: the formulation does not find forces in joints.
        """
        eq = self.equations
        if not eq.transmitted:
            raise cannot(eq.formulation, "joint_forces")
        a, lam = self._solve(q, v, t, inputs, parameters)
        rows, batch = self._rows(q, v, t, inputs, parameters, extra=[(a, len(eq.v)), (lam, eq.loop_rows)])
        out = self._programs.transmitted(self.parameter_vector(parameters)).rows(rows)
        if not np.all(np.isfinite(out)):
            raise ComputationError("forces in joints are not finite: check the state and the parameters")
        out = out.reshape(*batch, len(eq.transmitted), 2, 3)
        return Wrenches(out[..., 0, :], out[..., 1, :])

    # -- exact derivatives ----------------------------------------------------------------------

    def deviations(self, parameters: Parameters = None) -> Compiled:
        """The program behind :mod:`pendula.system.tangent`: it reads [t, q, v, u, v', dq, dv]."""
        return self._programs.deviations(self.parameter_vector(parameters))

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
        """Exact derivatives of M a - f - G^T lam and of G a - c by ``q``, ``v``, ``u`` or ``p`` (a and lam held)."""
        eq = self.equations
        n, m = len(eq.v), eq.loop_rows
        lam = np.zeros(m) if lam is None else lam
        rows, batch = self._rows(q, v, t, inputs, parameters, extra=[(a, n), (lam, m)])
        choices = {"q": eq.q, "v": eq.v, "u": eq.u, "p": eq.p}
        if by not in choices:
            raise UsageError(f'derivatives are taken by "q", "v", "u" or "p", not "{by}"')
        count = len(choices[by])
        if count == 0:
            return np.zeros((*batch, n, 0)), np.zeros((*batch, m, 0))
        out = self._programs.residual_jacobian(by, self.parameter_vector(parameters)).rows(rows)
        out = out.reshape(*batch, n + m, count)
        return out[..., :n, :], out[..., n:, :]

    def acceleration_jacobian(
        self, by: str, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Exact derivatives of v' by ``q``, ``v``, ``u`` or ``p``, shape (..., speeds, count).

        By ``p`` each parameter moves alone: inputs and other parameters that depend on it are held.
        """
        a, lam = self._solve(q, v, t, inputs, parameters)
        top, bottom = self.residual_jacobian(by, q, v, a, lam, t, inputs=inputs, parameters=parameters)
        M, G = (
            self.mass_matrix(q, t, parameters=parameters),
            self.constraint_jacobian(q, t, parameters=parameters),
        )
        return self._solve_dense(M, G, -np.concatenate([top, bottom], axis=-2), parameters)[..., : M.shape[-1], :]
