"""The interface of a compiled mechanism, which simulation, analysis and presentation use.

It has two implementations: :class:`pendula.system.symbolic.SymbolicSystem` evaluates compiled symbolic equations,
:class:`pendula.system.recursive.RecursiveSystem` runs a recursion over the bodies. Everything that can be computed
from these evaluations is a function of a ``System`` in another module: ``parameters.py`` (parameter vectors, typical
lengths), ``mobility.py``, ``assembly.py``, ``joint_forces.py``, ``lanes.py``, ``tangent.py``, ``watching.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pendula.equations.equations import Equations
from pendula.equations.mechanism.parts import Drive
from pendula.model.model import Model
from pendula.system.code.programs import Compiled, Programs
from pendula.system.code.rows import state_rows
from pendula.system.dynamics import STATUS, Dynamics
from pendula.system.in_joints import InJoints
from pendula.system.inputs import Inputs
from pendula.system.kernels import SINGULAR_MASS
from pendula.system.layout import Array, Layout, State
from pendula.system.loops.constraints import Constraints
from pendula.system.parameters import Parameters, parameter_vector
from pendula.words import Displayed

if TYPE_CHECKING:
    from pendula.numerics.taylor.integrate import Series
    from pendula.system.forward import ForwardDynamics
    from pendula.system.orientation.maps import Turning


class Solution(NamedTuple):
    """v' of shape (..., speeds) and lam of shape (..., loop rows)."""

    accelerations: Array
    multipliers: Array


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
    """Motion of the bodies in world axes, each of shape (..., bodies, 3): of their mass centres, where it is a point's.

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


class System(Displayed, ABC):
    """A compiled mechanism: M v' = f + G^T lam, q' = N v + n, g = 0, as numeric functions.

    :func:`pendula.compile_system` makes it. States are arrays: q (generalized coordinates) of shape (..., coordinates),
    v (generalized speeds) of shape (..., speeds), t a number or an array of the batch's shape. Leading dimensions are
    batch dimensions, which the result keeps. ``parameters`` are changes by name or all values as an array, ``inputs``
    likewise; by default both are those of the model.

    Attributes:
        model: the mechanism.
        layout: names, kinds and units of coordinates, speeds, inputs and parameters.
        parameters: values of the model's parameters, in the order of the layout.
        inputs: numeric values of the inputs: the model's, or those of a run.
        engine: "symbolic" (compiled symbolic equations) or "recursive" (a recursion over the bodies).
        formulation: which formulation derived the equations; "recursive" if none did.
        constraints: numeric constraints, and checks of loop closure.
        loop_rows: number of rows of G.
        tree_rows: how many of them belong to joints of the tree, which are always independent.
        constraint_names: the meaning of each row of g; rows that belong to G come first.
        drives: the prescribed motions.
        balls: for every quaternion, index of its first coordinate and of its first angular speed.
        turnings: every orientation whose speeds are an angular velocity, quaternions included.
        has_power: whether anything but gravity, springs and ideal joints does work.
        symbolic_terms: whether M, f and their derivatives come from symbolic equations.
        written: source of the equations if others wrote them (``compile_equations``); empty if they were derived.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> system
        <System: pendulum, 1 coordinate, kane, symbolic>
        >>> system.accelerations([0.5], [0.0]).round(3)
        array([-7.055])
    """

    model: Model
    layout: Layout
    parameters: Array
    inputs: Inputs
    engine: str
    formulation: str
    constraints: Constraints
    loop_rows: int
    tree_rows: int
    constraint_names: tuple[str, ...]
    drives: tuple[Drive, ...]
    balls: tuple[tuple[int, int], ...]
    turnings: tuple[Turning, ...]
    has_power: bool
    symbolic_terms: bool
    written: str = ""

    # -- the symbolic side, and the joints' coordinates -------------------------------------------

    @property
    @abstractmethod
    def equations(self) -> Equations:
        """Symbolic equations of the mechanism; the recursive engine derives them on first use."""

    @property
    @abstractmethod
    def programs(self) -> Programs:
        """Compiled blocks of these equations."""

    @property
    @abstractmethod
    def in_joints(self) -> InJoints:
        """The same mechanism in the joints' coordinates, whose names users write."""

    @abstractmethod
    def with_inputs(self, inputs: Inputs) -> System:
        """The same compiled mechanism with other inputs, which are pickled with it."""

    # -- evaluations ----------------------------------------------------------------------------

    @abstractmethod
    def solve(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Solution:
        """Forward dynamics: accelerations and Lagrange multipliers.

        Raises:
            SingularPose: the mass matrix or the constraints lose rank at a state.
        """

    @abstractmethod
    def mass_matrix(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """The mass matrix M, shape (..., speeds, speeds)."""

    @abstractmethod
    def forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Generalized forces f of M v' = f + G^T lam, with bias forces (velocity products), shape (..., speeds)."""

    @abstractmethod
    def rates(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """q' = N v + n, shape (..., coordinates)."""

    def constraint_jacobian(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
        """The constraint Jacobian G, shape (..., loop rows, speeds)."""
        rows, batch = state_rows(self.layout, q, None, t, self.inputs.none)
        G = self.constraints.jacobian(rows, parameter_vector(self, parameters))
        return G.reshape(*batch, *G.shape[1:])

    @abstractmethod
    def gaps(self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Constraint violations: g (loops, then quaternions) and G v - b."""

    @abstractmethod
    def energies(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Energies:
        """Kinetic and potential energy, each of the batch's shape."""

    @abstractmethod
    def power(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Power of friction, damping, inputs and applied loads."""

    @abstractmethod
    def drive_forces(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Force or torque that each prescribed motion needs, shape (..., prescribed motions)."""

    @abstractmethod
    def poses(self, q: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Rotation matrices R_WB, shape (..., bodies, 3, 3), and origins in world axes, shape (..., bodies, 3).

        An origin is where the body's own axes start, for most bodies at the joint to their parent.
        """

    @abstractmethod
    def body_motion(self, q: Any, v: Any, a: Any = None, t: Any = 0.0, *, parameters: Parameters = None) -> BodyMotion:
        """Velocities and accelerations of all bodies in world axes, for given v' (default 0).

        They are those of the mass centres; :meth:`poses` gives origins. ``Trajectory.velocity`` gives any point.
        """

    @abstractmethod
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

    @abstractmethod
    def acceleration_jacobian(
        self, by: str, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Exact Jacobian of v' by ``q``, ``v``, ``u`` or ``p``, shape (..., speeds, count).

        By ``p`` each parameter varies alone: inputs and other parameters that depend on it stay constant.
        """

    @abstractmethod
    def dynamics(self, parameters: Parameters = None, *, baumgarte: float | None = None) -> Dynamics:
        """New callbacks for a run: the right-hand side, and the projection if there are constraints.

        With ``baumgarte`` the right-hand side makes constraint violations decay at that rate [1/time].
        """

    def series(self, parameters: Parameters = None, *, lanes: int = 1) -> Series:
        """Taylor series of q, v and, if ``has_power``, of the work, for one state or for eight at a time.

        They come from the symbolic equations. With eight lanes ``parameters`` may also be an array with one row for
        each run.

        Raises:
            NotSupported: there are constraint rows, too many speeds, or an operation without a Taylor series.
        """
        from pendula.system.taylor.code import bind_series  # slow to load

        native = self.programs.series(lanes, power=self.has_power)
        if isinstance(parameters, np.ndarray) and parameters.ndim == 2:
            vectors = np.array([parameter_vector(self, row) for row in parameters])
        else:
            vectors = parameter_vector(self, parameters)[None]
        return bind_series(native, vectors, STATUS[SINGULAR_MASS])

    @abstractmethod
    def symbols(self) -> dict[str, Any]:
        """Names for expressions of the state: t, coordinates, speeds, prescribed motions, inputs, parameters."""

    @abstractmethod
    def watching(self, texts: Sequence[str], values: Sequence[Any], parameters: Parameters = None) -> Compiled:
        """A program for expressions in these symbols; it reads [t, q, v]. See ``watching.py``."""

    def refuse_more_than_model(self, who: str) -> None:
        """Raises NotSupported if its model does not tell all: equations by others, or inputs that only a run knows."""
        from pendula.system.entry import refuse_written  # which needs systems

        refuse_written(self, who)
        self.refuse_inputs_of_a_run(who)

    def refuse_inputs_of_a_run(self, who: str) -> None:
        """Raises NotSupported if only a run knows its inputs, so that those of its model are others."""
        self.inputs.refuse_over_time(who)

    # -- what users call most -------------------------------------------------------------------

    def accelerations(
        self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """v', shape (..., speeds).

        Raises:
            SingularPose: the mass matrix or the constraints lose rank at a state.
        """
        return self.solve(q, v, t, inputs=inputs, parameters=parameters)[0]

    def multipliers(self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None) -> Array:
        """Lagrange multipliers lam, one for each row of G; the generalized constraint force is + G^T lam."""
        return self.solve(q, v, t, inputs=inputs, parameters=parameters)[1]

    def forward_dynamics(self, parameters: Parameters = None) -> ForwardDynamics:
        """Accelerations for many calls from Python: arrays to fill and to read, and native code bound to them.

        Raises:
            NotSupported: this is the system of a run with its own inputs (time series, functions, controllers).
        """
        from pendula.system.forward import ForwardDynamics

        return ForwardDynamics(self, parameters)

    def state(self, values: Mapping[str, float] | None = None, *, t: float = 0.0) -> State:
        """A state with the given joint coordinates and speeds; all others are zero (quaternions: no rotation)."""
        joints = self.in_joints
        return joints.place_state(joints.state(values, t=t))

    def initial_state(self, parameters: Parameters = None, *, t: float = 0.0) -> State:
        """The initial state as the model gives it (loops may not be closed exactly)."""
        joints = self.in_joints
        return joints.place_state(joints.initial_state(parameters, t=t), parameters)

    def __repr__(self) -> str:
        count = len(self.layout.coordinates)
        how = self.engine if self.engine == self.formulation else f"{self.formulation}, {self.engine}"
        return f"<System: {self.model.name}, {count} coordinate{'' if count == 1 else 's'}, {how}>"


def has_gaps(system: System) -> bool:
    """Whether there are constraints that a state may violate: closed loops, unit lengths of quaternions."""
    return bool(system.loop_rows or system.balls or system.model.closures)
