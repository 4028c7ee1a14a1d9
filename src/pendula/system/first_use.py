"""Starts compiling the kernels that a task will need in other processes, while this one derives the equations.

Each function returns at once. It only shortens the first use on a machine; results do not depend on it.
"""

from __future__ import annotations

from pendula.model.model import Model
from pendula.numerics.compiled.ahead import Ahead, compile_ahead
from pendula.numerics.quick.first_use import ROOTS
from pendula.numerics.steppers.first_use import LOCKSTEP, kernels_of
from pendula.system.build import recursion_is_faster

SLOPES = Ahead("pendula.system.recursion.derivatives:by_state")


def prepare_motion(stepper: str) -> None:
    """Starts compiling the step loop and the stepper of one run."""
    compile_ahead(*kernels_of(stepper))


def prepare_many_motions(stepper: str) -> None:
    """Starts compiling the step loop of an ensemble."""
    if stepper != "taylor":
        compile_ahead(LOCKSTEP)


def prepare_linear_models(model: Model, formulation: str | None, engine: str) -> None:
    """Starts compiling the kernels of linear models: derivatives by the recursion, or eigenvalues of small models."""
    recursive = engine == "recursive" or (engine == "auto" and formulation is None and recursion_is_faster(model))
    compile_ahead(SLOPES if recursive else ROOTS)
