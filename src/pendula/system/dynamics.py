"""Right-hand side and constraint projection of a system as callbacks for a stepper, with private buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import ComputationError, SingularPose
from pendula.numerics.compiled.jit import CompiledCallback
from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.solvers.complement import REQUEST, complement_by_address, complement_work_shape
from pendula.numerics.solvers.linear import kkt_work_shape
from pendula.system import kernels as kn
from pendula.system.code.programs import Programs
from pendula.system.code.terms import find_gaps, find_terms
from pendula.system.layout import Array, Layout
from pendula.system.orientation.maps import Turning
from pendula.system.orientation.turning import ball_table, has_quaternions
from pendula.system.undirected import without_direction

if TYPE_CHECKING:
    from pendula.system.system import System

STATUS = {
    kn.SINGULAR_MASS: ("the mass matrix is not positive definite there: a motion without mass, or a singular chart"),
    kn.SINGULAR_CONSTRAINTS: (
        "the constraints lose rank there: a singular pose, from which the mechanism can continue in more than one way, "
        "or at which it locks"
    ),
    kn.MORE_CONSTRAINTS: (
        "constraints that are redundant about the initial state are independent there: the loops are closed in another "
        "configuration, in which the mechanism may not be able to move"
    ),
}
"""The meaning of a status that kernels return, for messages."""

MOST_PASSES = 12  # Newton steps of a projection


@dataclass(frozen=True)
class Workspace:
    """The context of the callbacks and all memory it points to; each run has its own, so runs share no buffers."""

    context: Memory

    @property
    def failure(self) -> str | None:
        """Why the solve for the accelerations failed; None if it did not."""
        return STATUS.get(self.context.status)

    def callback(self, code: CompiledCallback) -> Callback:
        """A native function on this workspace; compiled now unless its machine code is on disk."""
        return Callback(code.address, self.context.address, self)


@dataclass(frozen=True)
class Dynamics:
    """Right-hand side and projection as callbacks on one workspace.

    Their machine code is compiled when a run needs it: single evaluations use the workspace alone.

    Attributes:
        right_hand_side: the code of ``rhs``.
        projection: the code of ``project``; None if there are no constraints.
        quadratures: 1 if the run also integrates the work done, else 0.
        workspace: the memory of both.
        fed: a callback that writes the inputs of a run before it evaluates the right-hand side, in place of it.
    """

    right_hand_side: CompiledCallback
    projection: CompiledCallback | None
    quadratures: int
    workspace: Workspace
    fed: Callback | None = None

    @cached_property
    def context(self) -> int:
        """Address of the context."""
        return self.workspace.context.address

    @cached_property
    def rhs(self) -> Callback:
        """[t, q, v, (work)] -> [q', v', (power)]."""
        return self.workspace.callback(self.right_hand_side) if self.fed is None else self.fed

    @cached_property
    def project(self) -> Callback | None:
        """Projects a state onto the constraints; None if there are none."""
        return None if self.projection is None else self.workspace.callback(self.projection)


class SpareDynamics:
    """A pool of dynamics that single evaluations reuse, for the last parameters; each serves one thread at a time."""

    def __init__(self) -> None:
        self._key = b""
        self._free: list[Dynamics] = []

    def take(self, key: bytes) -> Dynamics | None:
        """An unused one for these parameters, if there is any."""
        free = self._free
        if key != self._key or not free:
            return None
        try:
            return free.pop()
        except IndexError:  # another thread took the last
            return None

    def give_back(self, key: bytes, dynamics: Dynamics) -> None:
        """Keeps one for the next evaluation."""
        if key != self._key:
            self._key, self._free = key, []
        if len(self._free) < 8:
            self._free.append(dynamics)


def first_coordinates(layout: Layout, row: Array) -> str:
    """The first coordinates of a row [t, q, ...], for messages."""
    return ", ".join(f"{name} = {x:.6g}" for name, x in zip(layout.coordinates[:6], row[1:], strict=False))


def check_solved(system: System, rows: Array, status: Array, accelerations: Array, vector: Array) -> None:
    """Checks the solutions for rows [t, q, ...].

    Raises:
        SingularPose: a status is not that of success; the message gives the first coordinates of the state.
        ComputationError: an acceleration is not finite, or a force has no direction.
    """
    failed = (status != 0) | ~np.isfinite(accelerations).all(axis=-1)
    if not failed.any():
        return
    bad = int(np.flatnonzero(failed)[0])
    refuse_not_finite(system, rows[bad], vector, "the accelerations", solved=not status[bad])
    where = first_coordinates(system.layout, rows[bad])
    raise SingularPose(f"the accelerations are not determined at {where}: {STATUS[int(status[bad])]}")


def refuse_not_finite(system: System, row: Array, vector: Array, what: str, *, solved: bool = True) -> None:
    """Raises ComputationError: values at a row [t, q, ...] are not finite, perhaps since a force has no direction.

    Only in the latter case if they were not solved for.
    """
    nq = len(system.layout.coordinates)
    if cause := without_direction(system, row[1 : 1 + nq], float(row[0]), vector):
        raise ComputationError(cause)
    if solved:
        raise ComputationError(f"{what} are not finite: check the state and the parameters")


@dataclass(frozen=True)
class Sizes:
    """Numbers of coordinates, speeds, inputs, constraint rows and prescribed motions."""

    q: int
    v: int
    u: int
    rows: int
    drives: int

    @property
    def terms(self) -> int:
        """Length of the array of terms that the dynamics program writes."""
        return find_terms(self.q, self.v, self.rows, self.drives).size


@dataclass(frozen=True)
class Bindings:
    """What the callbacks of one run are bound to, whichever engine provides them.

    Attributes:
        parameters: values of the parameters.
        inputs: values of the constant inputs (the program computes those that depend on time).
        turnings: every orientation whose speeds are an angular velocity.
        speed_of: index of the speed that is the rate of each coordinate, -1 if there is none.
        has_power: whether the run also integrates the work done.
        length: a typical length of the mechanism, to which gaps are compared.
        rank: number of independent constraint rows at regular poses.
        complement: solve by an orthogonal complement; redundant rows always require it.
        baumgarte: rate at which constraint violations decay [1/time]; below zero they decay backwards in time;
            None: no stabilization.
    """

    sizes: Sizes
    parameters: Array
    inputs: Array
    turnings: Sequence[Turning]
    speed_of: Sequence[int]
    has_power: bool
    length: float = 0.0
    rank: int = 0
    complement: bool = False
    baumgarte: float | None = None

    def fields(self) -> dict[str, Any]:
        """The fields that the contexts of all engines share."""
        sizes = self.sizes
        x = np.zeros(1 + sizes.q + sizes.v + sizes.u)
        x[1 + sizes.q + sizes.v :] = self.inputs
        return {
            "length": self.length, "rate": self.baumgarte or 0.0,
            "baumgarte": sizes.rows > 0 and self.baumgarte is not None, "nq": sizes.q, "nv": sizes.v, "nu": sizes.u,
            "rows": sizes.rows, "drives": sizes.drives, "rank": self.rank, "quadratures": self.has_power,
            "balls": len(self.turnings), "max_passes": MOST_PASSES, "x": x, "work": np.zeros(sizes.v),
            "multipliers": np.zeros(sizes.rows + 1),
            "ball_table": ball_table(self.turnings),
            "speed_of": np.array(self.speed_of, dtype=np.int64),
        }  # fmt: skip


def bind_dynamics(programs: Programs, to: Bindings) -> Dynamics:
    """New callbacks for one run."""
    sizes, nv, m = to.sizes, to.sizes.v, to.sizes.rows
    code = programs.dynamics(to.parameters)
    complement = m > 0 and (to.complement or to.rank < m)
    rows, columns = complement_work_shape(nv, m) if complement else kkt_work_shape(nv, m)
    fields = to.fields() | {"terms": np.zeros(sizes.terms), "work": np.zeros(nv + rows * columns)}
    context = Memory(kn.CONTEXT, **fields, code=code.native.evaluate, parameters=code.context)
    context.complement_request = np.zeros(1, REQUEST)
    context.complement = complement_by_address.address if complement else 0
    context.least = np.array([kn.NEGLIGIBLE * to.length])
    context.keep(code)
    if m:
        gaps = programs.gaps(to.parameters)
        context.gaps_code, context.gaps_parameters = gaps.native.evaluate, gaps.context
        context.gaps = np.zeros(find_gaps(nv, m).size)
        context.keep(gaps)
    workspace = Workspace(context)
    project = kn.project if m or has_quaternions(to.turnings) else None
    return Dynamics(kn.right_hand_side, project, int(to.has_power), workspace)
