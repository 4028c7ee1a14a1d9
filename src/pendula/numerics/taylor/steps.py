"""Steps with Taylor series, compiled: step size, evaluation, the check of a step, breakpoints and samples.

Coefficients come from a native function ``void f(double *rows, const double *parameters, int64_t order)`` (see
:class:`~pendula.numerics.taylor.integrate.Series`). The step size is that of Jorba & Zou: the last two terms of the
series stay within the tolerance. Coefficients can vanish by symmetry (a pendulum at rest at 90 degrees has only every
fourth), so the two terms before also count, and every step is checked: at its end the slope of the polynomial must
agree with the equations. That costs almost nothing, as the next step evaluates the equations there anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.numerics.scalars.powers import inverse_root
from pendula.numerics.steppers.control import plan_step
from pendula.numerics.steppers.dense import store_samples_here
from pendula.numerics.steppers.equations import project_row
from pendula.numerics.steppers.loop import PROJECTION_TRIES
from pendula.numerics.steppers.run import (
    BAD_START,
    BAD_VALUE,
    BUFFER_FULL,
    DONE,
    GO_ON,
    NO_PROJECTION,
    STEPS_USED_UP,
    TOO_SMALL,
    row,
    run_at,
)

SAFETY = 0.9
SHORTER = 0.4  # factor for the step size after a rejected step
GROWTH = 7.4  # ratio of a term to the next one: steps are about 1/e^2 of the radius of convergence
DEFECT = 100.0  # largest defect of the slope at the end of a step, times the step, in units of the tolerance
NOISE = 1e-9  # relative rounding error of the slopes if the mass matrix is badly scaled

H, FINITE, EXCESS, LARGEST, LAST, LAST_BUT_ONE, EARLIER, EARLIEST, STAY, TIME, RTOL, FIRST = range(12)
"""Rows of the control block that the step loop shares with the native functions ``go`` and ``look``, one number per
lane each; those of :class:`Control` follow from ``FIRST`` on.

The loop sets the step ``H``, the ``TIME`` at its end and whether to ``STAY`` (1 or 0); ``go`` then saves the state and
the time from ``before`` on and writes ``slope``. The loop also sets ``RTOL`` and ``atol``; ``look`` then writes
``FINITE`` (0 or NaN), ``EXCESS`` (of the defect of slopes over its limit), ``LARGEST`` (slope), and the last
coefficients relative to the tolerance: ``LAST``, ``LAST_BUT_ONE``, and the two before, ``EARLIER`` and ``EARLIEST``,
divided by their expected growth."""


class Control(NamedTuple):
    """First rows of the parts of the control block with one row per component, and its size.

    ``atol``: absolute tolerances, infinite for components that do not control the steps; ``slope``: slopes of the
    polynomials at the end of the step; ``before``: state and time at its start.
    """

    atol: int
    slope: int
    before: int
    size: int


def find_control(components: int) -> Control:
    """The control block for a number of components."""
    return Control(FIRST, FIRST + components, FIRST + 2 * components, FIRST + 3 * components + 1)


control_at = compiled_part(forceinline=True)(find_control)

SERIES = record_dtype(whole="coefficients go look parameters order width table control unsound")
"""What a run by Taylor series has beyond its record (:data:`~pendula.numerics.steppers.run.RUN`): the native functions
of a :class:`~pendula.numerics.taylor.integrate.Series`, its parameters, the ``order`` of the series, the ``table`` of
coefficients with ``width`` numbers per order (components, time, and working rows of the function), the ``control``
block, and whether the equations could not be solved at the last failure."""
series_at = reader(SERIES)


@compiled_part
def smallest_step(t):
    """The shortest step that certainly changes t."""
    return 2.3e-15 * abs(t) + 1e-300


@compiled_part
def step_size(control, order):
    """The step for which the last terms of the series are within tolerance, in one lane or in all of them."""
    last = min(inverse_root(control[LAST], 1.0 / order), inverse_root(control[LAST_BUT_ONE], 1.0 / (order - 1)))
    earlier = min(inverse_root(control[EARLIER], 1.0 / (order - 2)), inverse_root(control[EARLIEST], 1.0 / (order - 3)))
    return SAFETY * min(last, earlier)


@compiled_part
def _evaluate(run, series, t):
    """Coefficients from the state in the table at time t; False if one of them is not finite."""
    n, order, width = run.n, series.order, series.width
    table = doubles_at(series.table, (order + 1) * width + 1)
    table[n] = t
    run.evaluations += 1
    call_native(series.coefficients, series.table, series.parameters, order)
    call_native(series.look, series.control, series.table, order)
    if doubles_at(series.control, FIRST)[FINITE] == 0.0:
        return True
    run.where = t
    series.unsound = 1 if table[(order + 1) * width] == 0.0 else 0
    for k in range(order + 1):
        for i in range(n):
            if not np.isfinite(table[k * width + i]):
                run.component = i
                return False
    return False


@compiled_part
def _samples_inside(run, series):
    """Writes the samples inside a step by its polynomial; they become valid when the step passes its check."""
    n, sample, width, at = run.n, run.next_sample, series.width, row(run, run.stage)
    times, table = doubles_at(run.sample_t, run.samples), doubles_at(series.table, (series.order + 1) * width)
    while sample < run.samples and run.direction * (times[sample] - run.t_new) < 0.0:
        at[0] = times[sample]
        h = at[0] - run.t
        for i in range(n):
            value = 0.0
            for k in range(series.order, 0, -1):
                value = value * h + table[k * width + i]
            at[1 + i] = table[i] + h * value
        if run.project != 0:
            if not project_row(run, run.stage):
                return NO_PROJECTION
            run.violation = max(run.violation, doubles_at(run.onto, n + 2)[n + 1])
        out = doubles_at(run.sample_y + 8 * n * sample, n)
        for i in range(n):
            out[i] = at[1 + i]
        sample += 1
    run.next_sample = sample
    return GO_ON


@compiled_part
def _attempt(run, series):
    """The planned step, to the state in the table; GO_ON if it passes the check, otherwise the code of the failure."""
    n, table, control = run.n, doubles_at(series.table, run.n), doubles_at(series.control, FIRST)
    run.where, run.component = run.t_new, -1
    code = _samples_inside(run, series)
    control[H], control[TIME], control[STAY] = run.h, run.t_new, 0.0
    call_native(series.go, series.control, series.table, series.order)
    if code != GO_ON:
        return code
    before = after = 0.0
    if run.project != 0:
        at, onto = row(run, run.stage), doubles_at(run.onto, n + 2)
        at[0] = run.t_new
        for i in range(n):
            at[1 + i] = table[i]
            if not np.isfinite(table[i]):
                return BAD_VALUE
        if not project_row(run, run.stage):
            return NO_PROJECTION
        for i in range(n):
            table[i] = at[1 + i]
        before, after = onto[n], onto[n + 1]
    # At a breakpoint the check uses the equations before it, the next step those after it.
    nudge = run.nudge * run.direction
    if not _evaluate(run, series, run.t_new - nudge if run.jumps == 1 else run.t_new):
        return BAD_VALUE
    if control[EXCESS] > NOISE * abs(run.h) * control[LARGEST]:
        return TOO_SMALL
    if run.jumps == 1 and not _evaluate(run, series, run.t_new + nudge):
        return BAD_VALUE
    run.drift = max(run.drift, before)
    run.violation = max(run.violation, after)
    return GO_ON


@compiled_part
def _take_back(run, series):
    """Restores the state and the coefficients before a step in the table."""
    n, at = run.n, control_at(run.n)
    table, control = doubles_at(series.table, n), doubles_at(series.control, at.size)
    for i in range(n):
        table[i] = control[at.before + i]
    where, component, unsound = run.where, run.component, series.unsound
    _evaluate(run, series, control[at.before + n])
    run.where, run.component, series.unsound = where, component, unsound


@compiled_part
def _start(run, series):
    y, table = doubles_at(run.y, run.n), doubles_at(series.table, run.n)
    for i in range(run.n):
        table[i] = y[i]
    store_samples_here(run)
    run.started = 1
    return _evaluate(run, series, run.earliest)


@compiled_part
def _accept(run, series, at_break):
    """Stores the finished step; the next one starts from its end."""
    y, table = doubles_at(run.y, run.n), doubles_at(series.table, run.n)
    out = doubles_at(run.y_out + 8 * run.n * run.stored, run.n)
    for i in range(run.n):
        y[i] = out[i] = table[i]
    run.t = doubles_at(run.t_out + 8 * run.stored, 1)[0] = run.t_new
    run.stored += 1
    run.next_break += 1 if at_break else 0
    run.retrying = 0
    store_samples_here(run)


@compiled_part
def _step(run, series):
    """One attempt at a step; GO_ON, or how the run ends."""
    smallest = smallest_step(run.t)
    if run.retrying == 0:
        wanted = step_size(doubles_at(series.control, FIRST), series.order)
        if run.first_step > 0.0:  # a requested step size
            wanted, run.first_step = min(wanted, run.first_step), 0.0
        run.h_abs = max(min(wanted, run.max_step), smallest)
    elif run.h_abs < smallest:
        return run.trouble
    at_break = plan_step(run)
    run.attempts += 1
    sample = run.next_sample
    code = _attempt(run, series)
    if code == GO_ON:
        _accept(run, series, at_break)
        return GO_ON
    _take_back(run, series)
    run.next_sample = sample
    run.rejected += 1
    run.trouble = code
    if code == NO_PROJECTION and run.retrying >= PROJECTION_TRIES:
        return NO_PROJECTION
    run.retrying += 1
    run.h_abs = SHORTER * abs(run.h)
    return GO_ON


@compiled(allocates=False)
def advance_series(address, attempts):
    """Make at most ``attempts`` step attempts and store accepted steps; returns a code of ``steppers.run``.

    With ``first_step`` 0 the series determines the first step size.
    """
    run = run_at(address)
    series = series_at(run.method)
    if attempts > 0 and run.direction * (run.t - run.t_end) >= 0.0:
        store_samples_here(run)
        return DONE
    if attempts > 0 and run.started == 0 and not _start(run, series):
        return BAD_START
    for _ in range(attempts):
        if run.direction * (run.t - run.t_end) >= 0.0:
            return DONE
        if run.stored >= run.capacity:
            return BUFFER_FULL
        if run.attempts >= run.max_attempts:
            return STEPS_USED_UP
        code = _step(run, series)
        if code != GO_ON:
            return code
    return GO_ON
