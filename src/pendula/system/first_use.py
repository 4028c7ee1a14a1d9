"""Which kernels a task will need: they are compiled ahead, in other processes, while the equations are derived.

Each function here returns at once. Nothing depends on it but the time of the first use on a machine.
"""

from __future__ import annotations

from pendula.model.model import Model
from pendula.numerics.compiled.ahead import Ahead, compile_ahead
from pendula.numerics.quick.first_use import ROOTS
from pendula.numerics.steppers.first_use import LOCKSTEP, kernels_of
from pendula.system.build import recursion_is_faster

SLOPES = Ahead("pendula.system.recursion.derivatives:by_state")


def prepare_motion(stepper: str) -> None:
    """Compiles the step loop and the stepper of one run."""
    compile_ahead(*kernels_of(stepper))


def prepare_many_motions(stepper: str) -> None:
    """Compiles the step loop of an ensemble."""
    if stepper != "taylor":
        compile_ahead(LOCKSTEP)


def prepare_linear_models(model: Model, formulation: str | None, engine: str) -> None:
    """Compiles what finds derivatives, or for small mechanisms the roots, of linear models."""
    recursive = engine == "recursive" or (engine == "auto" and formulation is None and recursion_is_faster(model))
    compile_ahead(SLOPES if recursive else ROOTS)
