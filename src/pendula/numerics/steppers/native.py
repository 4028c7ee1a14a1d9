"""The compiled part of a stepper: native functions that the step loop calls, and its tableau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.numerics.compiled.jit import CompiledCallback, compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.compiled.records import Memory
from pendula.numerics.steppers.control import MIN_FACTOR, step_factor
from pendula.numerics.steppers.equations import evaluate, is_finite
from pendula.numerics.steppers.run import BAD_VALUE, GO_ON, NO_SOLUTION, row, run_at
from pendula.numerics.steppers.runge_kutta import error_norm
from pendula.numerics.steppers.tableaus import Tableau, tableau_of
from pendula.numerics.steppers.trial import try_step
from pendula.registry import found_at


@dataclass(frozen=True)
class NativeStep:
    """The functions and data of a stepper that the loop needs."""

    tableau: Tableau
    attempt: CompiledCallback
    prepare: CompiledCallback | None = None
    settle: CompiledCallback | None = None
    setup: Any = None

    def install(self, run: Memory, n: int, controlled: int, rtol: float) -> None:
        """Writes the addresses into the record of a run."""
        run.attempt = self.attempt.address
        wanted = run.samples or run.watch or run.inside_every
        run.prepare = self.prepare.address if self.prepare is not None and wanted else 0
        run.settle = self.settle.address if self.settle is not None else 0
        if self.setup is not None:
            made = self.setup(n, controlled, rtol)
            run.method = made.address
            run.keep(made)


def native_step(stepper: Any) -> NativeStep:
    """The compiled part of a stepper; compilation happens on first use."""
    if stepper.step is not None:
        tableau = tableau_of([0.0, 1.0], [{}, {}], 1, {}, {}, [], stepper.order, stepper.error_order)
        attempt = _attempt_by(stepper.step)
        try_step(stepper, tableau, attempt)
        return NativeStep(tableau, attempt)
    code = {name: found_at(place) for name, place in stepper.code.items()}
    return NativeStep(found_at(stepper.tableau), **code, setup=found_at(stepper.setup) if stepper.setup else None)


def _attempt_by(step: Any) -> CompiledCallback:
    """The attempt that calls a step function from outside the package."""
    inner = step if hasattr(step, "py_func") else compiled_part(step, allocates=True)

    def attempt(out, inp, context):
        run = run_at(context)
        n = run.n
        new, scratch = row(run, run.new), row(run, run.scratch)
        error, other = scratch[1:], row(run, run.scratch + 1)
        for k in range(n):
            error[k] = other[k + 1] = 0.0
        run.code, run.component, run.factor = NO_SOLUTION, -1, MIN_FACTOR
        # int() refuses a step without a return value while it is compiled
        if int(inner(run, run.t, run.h, doubles_at(run.y, n), row(run, 0)[1:], new[1:], error)) == 0:
            if run.component >= 0:  # its cause is the right-hand side
                run.code = BAD_VALUE
            return
        if not is_finite(run, run.new, run.t_new):
            return
        run.code = BAD_VALUE
        if (run.project == 0 or run.last_in_error == 1) and not evaluate(run, run.new, run.latest, run.stages):
            return
        run.error = error_norm(run) if run.fixed == 0 else 0.0  # steps of a fixed size are never rejected
        if not np.isfinite(run.error):
            run.where, run.component = run.t_new, -1
            return
        run.factor = step_factor(run)
        run.code = GO_ON

    plain = inner.py_func
    attempt.__name__ = attempt.__qualname__ = f"attempt_{plain.__name__}"
    made: CompiledCallback = compiled_callback(attempt)
    return made
