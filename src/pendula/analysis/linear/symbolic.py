"""Small-motion equations in symbols, at a given point or at the lowest equilibrium of closed loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import lowest_equilibrium
from pendula.equations.small_motion.build import symbolic_model
from pendula.equations.small_motion.model import SECONDS, SymbolicModel
from pendula.errors import UsageError
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.system.build import compile_system


def linearize_symbolic(
    model: Model | str, at: Mapping[str, Any] | Equilibrium | None = None, *, seconds: float = SECONDS
) -> SymbolicModel:
    """The symbolic linear model of a small mechanism; its ``equations`` give an account of every term.

    Closed loops are restricted to their independent directions, and the constraint forces at the point add geometric
    stiffness. A quaternion's small motion is a small rotation about body axes.

    Args:
        model: a model, the name of a library mechanism, or a system.
        at: coordinates (and constant rates) by name: numbers, or expressions of parameters as text, for example
            ``{"theta": "acos(g/(r*Omega**2))"}``. Unnamed values are zero. A number without a simple exact form, such
            as 0.26334254, becomes a constant ``NAME_e`` with that value; so do constraint forces, and ratios of speeds
            in loops that are long numbers (``coupler_per_crank_e``). Or an equilibrium, as
            :func:`pendula.find_equilibria` gives it. Default: all zero, or if closed loops do not rest there, their
            equilibrium of least potential.
        seconds: time limit of the matrices [s]. What is computed later, on first access, has limits too: the account of
            terms (``equations``) the same, and each result of the matrices (the state matrix, the characteristic
            polynomial, conditions, borders of damping) a sixth of it. What is not found in time raises NotSupported;
            printed models leave it out and say so (``left_out``).

    Raises:
        NotSupported: steady motion of loops or quaternions, forces with kinks, too many degrees of freedom, expressions
            so long that the matrices are not found in time, equations by others, or a run whose inputs the model does
            not know.
        UsageError: the point is not an equilibrium, does not close the loops, or coefficients depend on time.

    Example:
        >>> import pendula
        >>> found = linearize_symbolic(pendula.library.pendulum(kind="point"))
        >>> found.K[0], found.conditions
        (g*l*m, ())
        >>> [(str(t.term), t.kind) for t in found.equations[0].terms]
        [("l**2*m*theta''", 'kept'), ('g*l*m*sin(theta)', 'linearized')]
    """
    model = model_of(model, "linearize_symbolic", alone=True)
    if at is None and model.closures:
        try:
            return symbolic_model(model, {}, seconds)
        except UsageError:
            at = lowest_equilibrium(compile_system(model))
            if at is None:
                raise
    if isinstance(at, Equilibrium):
        state = at.state if at.system is None else at.system.in_joints.read_state(at.state, at.parameters)
        at = {name: x for name, x in state.as_dict().items() if x}
    return symbolic_model(model, at or {}, seconds)
