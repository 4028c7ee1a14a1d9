"""Steps with Taylor series, compiled: step size, evaluation, the check of a step, breakpoints and samples.

Coefficients come from a native function ``void f(double *rows, const double *parameters, int order)`` (see
:class:`~pendula.numerics.taylor.Series`). The step size is that of Jorba & Zou: the last two terms of the series stay
within the tolerance. Because coefficients can vanish by symmetry, or all of them nearly, every step is checked: at its end
the slope of the polynomial must be what the equations say there. That costs next to nothing, as the equations are
evaluated at that point anyway, by the next step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pendula.numerics.explicit import (
    BAD_START,
    BAD_VALUE,
    BUFFER_FULL,
    DONE,
    GO_ON,
    NO_PROJECTION,
    PROJECTION_TRIES,
    STEPS_USED_UP,
    TOO_SMALL,
)
from pendula.numerics.jit import compiled, compiled_part
from pendula.numerics.native import address_of, call_native

SAFETY = 0.9
SHORTER = 0.4  # of a step that was refused
DEFECT = 100.0  # tolerances by which the slope at the end of a step, times the step, may be off
NOISE = 1e-9  # of the slopes themselves: what rounding may do to them where the mass matrix is badly scaled

# Slots of SeriesRun.real and SeriesRun.counter.
T, H_ABS, DRIFT, VIOLATION, WHERE = range(5)
STORED, REJECTED, EVALUATIONS, NEXT_SAMPLE, NEXT_BREAK, ATTEMPTS, RETRYING, TROUBLE, COMPONENT, STARTED, SIDE, UNSOUND = (
    range(12)
)


class SeriesRun(NamedTuple):
    """Everything about one integration. Arrays are written in place and carry all state.

    ``tables`` holds two tables of coefficients, of the current step and of the next; ``counter[SIDE]`` says which is
    the current one. Each has ``width`` numbers per order (components, time, and what the function needs besides).
    """

    address: int
    parameters: int
    order: int
    width: int
    project: int  # 0 if there is no projection
    project_context: int
    t_end: float
    direction: float
    rtol: float
    max_step: float
    nudge: float
    max_attempts: int
    controlled: int
    atol: np.ndarray
    breaks: np.ndarray
    sample_t: np.ndarray
    sample_y: np.ndarray
    y: np.ndarray
    slope: np.ndarray
    state: np.ndarray  # time and components: what the projection reads
    onto: np.ndarray  # what it writes
    tables: np.ndarray
    real: np.ndarray
    counter: np.ndarray


@intrinsic
def bits_of(typingctx: Any, x: Any) -> Any:
    """The bits of a number as an integer."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def real_of(typingctx: Any, bits: Any) -> Any:
    """The number that an integer holds the bits of."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@compiled_part
def inverse_root(x, part):
    """About x to the power -part, for x >= 0, to a percent: enough for a step size, and without branches.

    The logarithm is read off the exponent and the mantissa, which is linear between powers of two.
    """
    logarithm = (bits_of(x) - 0x3FF0000000000000) * 2.220446049250313e-16
    power = -logarithm * part
    whole = np.floor(power)
    rest = power - whole
    return real_of((np.int64(whole) + 1023) << 52) * (1.0 + rest * (0.6565 + 0.3435 * rest))


@compiled_part
def _smallest_step(t, direction):
    return 10.0 * abs(np.nextafter(t, direction * np.inf) - t)


@compiled_part
def _evaluate(run, side, t, order):
    """Coefficients from the state in ``run.state`` at time t; False if one of a component is not finite."""
    table, n, width = run.tables[side], run.y.size, run.width
    for i in range(n):
        table[i] = run.state[1 + i]
    table[n] = t
    run.counter[EVALUATIONS] += 1
    call_native(run.address, address_of(table), run.parameters, order)
    total = 0.0
    for k in range(order + 1):
        for i in range(n):
            total += table[k * width + i] * 0.0
    if total == 0.0:
        return True
    run.real[WHERE] = t
    run.counter[UNSOUND] = 1 if table[(order + 1) * width] == 0.0 else 0
    for k in range(order + 1):
        for i in range(n):
            if not np.isfinite(table[k * width + i]):
                run.counter[COMPONENT] = i
                return False
    return False


@compiled_part
def _step_size(run, table):
    """The step for which the last two terms of the series are within the tolerance."""
    last = before = 0.0
    at = run.order * run.width
    for i in range(run.controlled):
        scale = run.atol[i] + run.rtol * abs(table[i])
        last = max(last, abs(table[at + i]) / scale)
        before = max(before, abs(table[at - run.width + i]) / scale)
    return SAFETY * min(inverse_root(last, 1.0 / run.order), inverse_root(before, 1.0 / (run.order - 1)))


@compiled_part
def _go(run, table, h):
    """State and slope of the polynomial at h, into ``run.state`` and ``run.slope``; False if not finite."""
    total = 0.0
    for i in range(run.y.size):
        value = slope = 0.0
        for k in range(run.order, 0, -1):
            value = value * h + table[k * run.width + i]
            slope = slope * h + k * table[k * run.width + i]
        run.state[1 + i] = table[i] + h * value
        run.slope[i] = slope
        total += run.state[1 + i] * 0.0
    return total == 0.0


@compiled_part
def _is_true(run, table, h):
    """Whether the slope at the end of a step is what the equations say there."""
    largest = 0.0
    for i in range(run.controlled):
        largest = max(largest, abs(table[run.width + i]))
    for i in range(run.controlled):
        allowed = DEFECT * (run.atol[i] + run.rtol * abs(table[i])) + NOISE * h * largest
        if abs(run.slope[i] - table[run.width + i]) * h > allowed:
            return False
    return True


@compiled_part
def _project(run):
    """Brings ``run.state`` onto the constraints; False if that did not work."""
    n, onto = run.y.size, run.onto
    onto[n + 2] = 1.0
    call_native(run.project, address_of(onto), address_of(run.state), run.project_context)
    for k in range(n + 2):
        if not np.isfinite(onto[k]):
            onto[n + 2] = 1.0
    if onto[n + 2] != 0.0:
        run.real[WHERE] = run.state[0]
        return False
    for k in range(n):
        run.state[1 + k] = onto[k]
    return True


@compiled_part
def _samples_inside(run, table, t_new):
    """Writes the samples inside a step by its polynomial; GO_ON or NO_PROJECTION."""
    n, sample = run.y.size, run.counter[NEXT_SAMPLE]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - t_new) < 0.0:
        t = run.sample_t[sample]
        h = t - run.real[T]
        run.state[0] = t
        for i in range(n):
            value = 0.0
            for k in range(run.order, 0, -1):
                value = value * h + table[k * run.width + i]
            run.state[1 + i] = table[i] + h * value
        if run.project != 0:
            if not _project(run):
                return NO_PROJECTION
            run.real[VIOLATION] = max(run.real[VIOLATION], run.onto[n + 1])
        for i in range(n):
            run.sample_y[sample, i] = run.state[1 + i]
        sample += 1
    run.counter[NEXT_SAMPLE] = sample
    return GO_ON


@compiled_part
def _samples_here(run):
    sample = run.counter[NEXT_SAMPLE]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - run.real[T]) <= 0.0:
        for i in range(run.y.size):
            run.sample_y[sample, i] = run.y[i]
        sample += 1
    run.counter[NEXT_SAMPLE] = sample


@compiled_part
def _attempt(run, h, t_new, at_break):
    """One step of size h; GO_ON once it is checked and committed, otherwise what was wrong."""
    n, side = run.y.size, run.counter[SIDE]
    table, other = run.tables[side], 1 - side
    run.real[WHERE], run.counter[COMPONENT] = t_new, -1
    if not _go(run, table, h):
        return BAD_VALUE
    run.state[0] = t_new
    before = after = 0.0
    if run.project != 0:
        if not _project(run):
            return NO_PROJECTION
        before, after = run.onto[n], run.onto[n + 1]
    # At a breakpoint the equations are those of before for the check, and those of after for the next step.
    latest = t_new - run.nudge * run.direction if at_break else t_new
    if not _evaluate(run, other, latest, 1 if at_break else run.order):
        return BAD_VALUE
    if not _is_true(run, run.tables[other], abs(h)):
        return TOO_SMALL
    if at_break and not _evaluate(run, other, t_new + run.nudge * run.direction, run.order):
        return BAD_VALUE
    code = _samples_inside(run, table, t_new)
    if code != GO_ON:
        return code
    for i in range(n):
        run.y[i] = run.tables[other, i]
    run.real[T] = t_new
    run.real[DRIFT] = max(run.real[DRIFT], before)
    run.real[VIOLATION] = max(run.real[VIOLATION], after)
    run.counter[SIDE] = other
    _samples_here(run)
    return GO_ON


@compiled_part
def _start(run, first_t):
    for i in range(run.y.size):
        run.state[1 + i] = run.y[i]
    _samples_here(run)
    run.counter[STARTED] = 1
    return _evaluate(run, 0, first_t, run.order)


@compiled(allocates=False)
def advance_series(run, first_t, first_step, t_out, y_out, attempts):
    """Go on for at most ``attempts`` step attempts, storing accepted steps; returns a code of ``explicit``.

    ``first_t`` is the time at which the equations are first evaluated: the start, or just after it if the equations
    switch there. With ``first_step`` 0 the first step size is that of the series.
    """
    real, counter, direction = run.real, run.counter, run.direction
    if attempts > 0 and direction * (real[T] - run.t_end) >= 0.0:
        _samples_here(run)
        return DONE
    if attempts > 0 and counter[STARTED] == 0:
        if not _start(run, first_t):
            return BAD_START
        real[H_ABS] = first_step
    for _ in range(attempts):
        if direction * (real[T] - run.t_end) >= 0.0:
            return DONE
        if counter[STORED] >= t_out.size:
            return BUFFER_FULL
        if counter[ATTEMPTS] >= run.max_attempts:
            return STEPS_USED_UP
        t, smallest = real[T], _smallest_step(real[T], direction)
        if counter[RETRYING] == 0:
            wanted = _step_size(run, run.tables[counter[SIDE]])
            if real[H_ABS] > 0.0:  # a step size that was asked for
                wanted, real[H_ABS] = min(wanted, real[H_ABS]), 0.0
            wanted = max(min(wanted, run.max_step), smallest)
        else:
            wanted = real[H_ABS]
            if wanted < smallest:
                return counter[TROUBLE]
        upcoming = counter[NEXT_BREAK]
        inside = upcoming < run.breaks.size
        bound = run.breaks[upcoming] if inside else run.t_end
        t_new = t + wanted * direction
        at_bound = direction * (t_new - bound) >= 0.0
        if at_bound:
            t_new = bound
        counter[ATTEMPTS] += 1
        code = _attempt(run, t_new - t, t_new, at_bound and inside and bound != run.t_end)
        if code == GO_ON:
            counter[NEXT_BREAK] += 1 if at_bound and inside else 0
            counter[RETRYING], real[H_ABS] = 0, 0.0
            t_out[counter[STORED]] = t_new
            for i in range(run.y.size):
                y_out[counter[STORED], i] = run.y[i]
            counter[STORED] += 1
            continue
        counter[REJECTED] += 1
        counter[TROUBLE] = code
        if code == NO_PROJECTION and counter[RETRYING] >= PROJECTION_TRIES:
            return NO_PROJECTION
        counter[RETRYING] += 1
        real[H_ABS] = SHORTER * abs(t_new - t)
    return GO_ON
