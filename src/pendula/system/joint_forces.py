"""Results that need symbolic equations: forces in joints (constraint wrenches) and the Jacobi integral."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pendula.equations.derive import cannot
from pendula.system.code.rows import rows_with_inputs, state_rows
from pendula.system.dynamics import refuse_not_finite
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System


class Wrenches(NamedTuple):
    """Constraint wrenches that the joints exert on their child bodies, in world axes, each of shape (..., joints, 3).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("pendulum", "newton-euler")
        >>> joint_wrenches(system, [0.0], [0.0]).force[0, 1].round(3)  # its weight
        np.float64(9.81)
    """

    force: Array
    torque: Array
    """about the child side's point"""


def joint_wrenches(
    system: System, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
) -> Wrenches:
    """The wrench of every joint of ``equations.transmitted`` on its child body, including springs in the joint.

    Raises:
        NotSupported: the formulation does not provide forces in joints.
    """
    eq, vector = system.equations, parameter_vector(system, parameters)
    if not eq.transmitted:
        raise cannot(eq.formulation, "joint_forces")
    a, lam = system.solve(q, v, t, inputs=inputs, parameters=vector)
    rows, batch = rows_with_inputs(system, q, v, t, inputs, vector, [(a, len(eq.v)), (lam, eq.loop_rows)])
    out = system.programs.transmitted(vector).rows(rows)
    if not np.all(np.isfinite(out)):
        refuse_not_finite(system, rows[~np.isfinite(out).all(axis=1)][0], vector, "forces in joints")
    out = out.reshape(*batch, len(eq.transmitted), 2, 3)
    return Wrenches(out[..., 0, :], out[..., 1, :])


def gives_jacobi(system: System) -> bool:
    """Whether :func:`jacobi_integral` is available: not in maximal coordinates with prescribed motions."""
    return system.in_joints.same or not system.drives


def jacobi_integral(system: System, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> Array:
    """The Jacobi integral v . dT/dv - T + V, which is conserved if prescribed motions have constant rates.

    Raises:
        NotSupported: the equations are in maximal coordinates, and motions are prescribed.
    """
    value = system.equations.jacobi
    if value is None:
        raise cannot(system.equations.formulation, "jacobi")
    rows, batch = state_rows(system.layout, q, v, t, system.inputs.none)
    program = system.programs.block("jacobi", parameter_vector(system, parameters), lambda: [value])
    return program.rows(rows).reshape(batch)
