"""Calls of the right-hand side and the projection, compiled, with checks for values that are not finite."""

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at
from pendula.numerics.steppers.run import row

DOUBLE = 8  # bytes


@compiled_part(fastmath={"reassoc"})
def finite_at(address, n):
    """True if n numbers at an address are finite: infinity or NaN times zero is NaN."""
    values, total = doubles_at(address, n), 0.0
    for k in range(n):
        total += values[k] * 0.0
    return total == 0.0


@compiled_part
def call_rhs(rhs, context, rows, width, state, t, into, n):
    """Derivative of the state in a row at time t, into another row; False if it is not finite."""
    doubles_at(rows + state * width, 1)[0] = t
    call_native(rhs, rows + into * width + DOUBLE, rows + state * width, context)
    return finite_at(rows + into * width + DOUBLE, n)


@compiled_part
def note_bad(run, index, t):
    """Remember which component of a row is not finite, and when."""
    run.where = t
    values = row(run, index)
    for k in range(run.n):
        if not np.isfinite(values[k + 1]):
            run.component = k
            return


@compiled_part
def is_finite(run, index, t):
    """True if a row is finite; otherwise remember which component is not."""
    if finite_at(run.rows + index * run.width + DOUBLE, run.n):
        return True
    note_bad(run, index, t)
    return False


@compiled_part
def evaluate(run, state, t, into):
    """Like :func:`call_rhs`, with bookkeeping; for code that is not time-critical."""
    run.evaluations += 1
    if call_rhs(run.rhs, run.rhs_context, run.rows, run.width, state, t, into, run.n):
        return True
    note_bad(run, into, t)
    return False


@compiled_part
def within_step(run, t):
    """The time nearest to t at which the current step may evaluate the right-hand side."""
    if run.direction * (t - run.latest) > 0.0:
        t = run.latest
    return run.earliest if run.direction * (t - run.earliest) < 0.0 else t


@compiled_part
def rates(run, t, y, dy):
    """Derivatives ``dy`` of the state ``y`` at time t; False, with the cause noted, if they are not finite.

    For steppers from outside the package: call it inside the step, with arrays of ``run.n`` numbers.

    Example:
        >>> def midpoint(run, t, h, y, slope, new, error):
        ...     if not rates(run, t + h / 2, y + h / 2 * slope, new):
        ...         return False
        ...     new[:] = y + h * new
        ...     return True
    """
    at = row(run, run.stage)
    for k in range(run.n):
        at[k + 1] = y[k]
    if not evaluate(run, run.stage, within_step(run, t), run.fresh):
        return False
    found = row(run, run.fresh)
    for k in range(run.n):
        dy[k] = found[k + 1]
    return True


@compiled_part
def project_row(run, state):
    """Project the state in a row onto the constraints, in place; False if that fails."""
    n = run.n
    onto, at = doubles_at(run.onto, n + 3), row(run, state)
    onto[n + 2] = 1.0
    call_native(run.project, run.onto, run.rows + state * run.width, run.project_context)
    for k in range(n + 2):
        if not np.isfinite(onto[k]):
            onto[n + 2] = 1.0
    if onto[n + 2] != 0.0:
        run.where = at[0]
        return False
    for k in range(n):
        at[k + 1] = onto[k]
    return True


@compiled_part
def copy_state(run, into):
    """Copy the state at the start of the step into a row."""
    y, at = doubles_at(run.y, run.n), row(run, into)
    for k in range(run.n):
        at[k + 1] = y[k]
