"""Starts compiling the kernels that a task will need in other processes, while this one derives the equations.

Each function returns at once. It only shortens the first use on a machine; results do not depend on it.
"""

from __future__ import annotations

import numpy as np

from pendula.model.model import Model
from pendula.numerics.compiled.ahead import Ahead, compile_ahead, expect
from pendula.numerics.intervals.first_use import ALL_ROOTS, BOUNDS
from pendula.numerics.quick.first_use import CHECKED, ROOTS
from pendula.numerics.steppers.first_use import LOCKSTEP, kernels_of
from pendula.system.build import recursion_is_faster

SLOPES = Ahead("pendula.system.recursion.derivatives:by_state")
SOLVE_ROWS = Ahead("pendula.system.kernels:solve_rows", f"{__name__}:use_solve_rows")


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


def prepare_comparison() -> None:
    """Starts compiling the accelerations of joint coordinates, while this process does those of maximal ones."""
    compile_ahead(SOLVE_ROWS)


def expect_motion(stepper: str) -> None:
    """A run will follow: its kernels are compiled elsewhere if this process finds that any kernel is missing."""
    expect(*kernels_of(stepper))


def expect_many_motions(stepper: str) -> None:
    """An ensemble will follow: its step loop is compiled elsewhere if this process finds that any kernel is missing."""
    if stepper != "taylor":
        expect(LOCKSTEP)


def expect_proof() -> None:
    """A proof of equilibria will follow, and then their stability: this process compiles the kernel of the proof."""
    expect(ROOTS, CHECKED, BOUNDS)


def expect_study() -> None:
    """A study will follow: formulations compared, equilibria proven, small motion, a run.

    This process compiles the kernels of the comparison, which comes first, and meanwhile another one those that follow,
    the slowest first.
    """
    expect(ALL_ROOTS, BOUNDS, *kernels_of("dop853"), ROOTS, CHECKED)


def use_solve_rows() -> None:
    """Solves for the accelerations of no state at all."""
    from pendula.system.kernels import CONTEXT, solve_rows

    context, rows = np.zeros(1, dtype=CONTEXT), np.zeros((0, 1))
    solve_rows(context.ctypes.data, rows, rows, rows, np.zeros(0, dtype=np.int64))
