"""Steps with Taylor series, compiled: step size, evaluation, the check of a step, breakpoints and samples.

Coefficients come from a native function ``void f(double *rows, const double *parameters, int64_t order)`` (see
:class:`~pendula.numerics.taylor.integrate.Series`). The step size is that of Jorba & Zou: the last two terms of the
series stay within the tolerance. Coefficients can vanish by symmetry (a pendulum at rest at 90 degrees has only every
fourth), so the two terms before also count, and every step is checked: at its end the slope of the polynomial must
agree with the equations. That costs almost nothing, as the next step evaluates the equations there anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of, call_native
from pendula.numerics.scalars.powers import inverse_root
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
)

SAFETY = 0.9
SHORTER = 0.4  # factor for the step size after a rejected step
GROWTH = 7.4  # ratio of a term to the next one: steps are about 1/e^2 of the radius of convergence
DEFECT = 100.0  # largest defect of the slope at the end of a step, times the step, in units of the tolerance
NOISE = 1e-9  # relative rounding error of the slopes if the mass matrix is badly scaled

# Slots of SeriesRun.real and SeriesRun.counter.
T, H_ABS, DRIFT, VIOLATION, WHERE = range(5)
STORED, REJECTED, EVALUATIONS, NEXT_SAMPLE, NEXT_BREAK, ATTEMPTS, RETRYING, TROUBLE, COMPONENT, STARTED, UNSOUND = (
    range(11)
)

# Rows of the control block that the step loop shares with the native functions ``go`` and ``look``.
H, FINITE, EXCESS, LARGEST, LAST, LAST_BUT_ONE, EARLIER, EARLIEST, STAY, TIME, RTOL, FIRST = range(12)


@dataclass(frozen=True)
class Control:
    """Offsets in the control block for a number of components; every row has one number per lane.

    The loop sets the step H, the TIME at its end and whether to STAY (1 or 0); ``go`` then saves the state and the
    time from ``before`` on and writes ``slope``. The loop also sets RTOL and ``atol``; ``look`` then writes FINITE (0
    or NaN), EXCESS (of the defect of slopes over its limit), LARGEST (slope), and the last coefficients relative to the
    tolerance: LAST, LAST_BUT_ONE, and the two before, EARLIER and EARLIEST, divided by their expected growth.
    """

    components: int
    H = H
    FINITE = FINITE
    EXCESS = EXCESS
    LARGEST = LARGEST
    LAST = LAST
    LAST_BUT_ONE = LAST_BUT_ONE
    EARLIER = EARLIER
    EARLIEST = EARLIEST
    STAY = STAY
    TIME = TIME
    RTOL = RTOL

    @property
    def atol(self) -> int:
        """Absolute tolerances, infinite for components that do not control the steps."""
        return FIRST

    @property
    def slope(self) -> int:
        """Slopes of the polynomials at the end of the step."""
        return FIRST + self.components

    @property
    def before(self) -> int:
        """State and time at the start of the step."""
        return FIRST + 2 * self.components

    @property
    def size(self) -> int:
        """Number of rows."""
        return FIRST + 3 * self.components + 1


class SeriesRun(NamedTuple):
    """All data of one integration. Arrays are written in place and hold all state.

    ``table`` holds the coefficients, ``width`` numbers per order (components, time, and working rows of the
    function), ``control`` the control block.
    """

    address: int
    go: int
    look: int
    parameters: int
    order: int
    width: int
    project: int  # 0 if there is no projection
    project_context: int
    t_end: float
    direction: float
    max_step: float
    nudge: float
    max_attempts: int
    breaks: np.ndarray
    sample_t: np.ndarray
    sample_y: np.ndarray
    y: np.ndarray
    state: np.ndarray  # time and components: what the projection reads
    onto: np.ndarray  # what it writes
    table: np.ndarray
    control: np.ndarray
    real: np.ndarray
    counter: np.ndarray


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
def _evaluate(run, t):
    """Coefficients from the state in the table at time t; False if one of them is not finite."""
    table, n = run.table, run.y.size
    table[n] = t
    run.counter[EVALUATIONS] += 1
    call_native(run.address, address_of(table), run.parameters, run.order)
    call_native(run.look, address_of(run.control), address_of(table), run.order)
    if run.control[FINITE] == 0.0:
        return True
    run.real[WHERE] = t
    run.counter[UNSOUND] = 1 if table[(run.order + 1) * run.width] == 0.0 else 0
    for k in range(run.order + 1):
        for i in range(n):
            if not np.isfinite(table[k * run.width + i]):
                run.counter[COMPONENT] = i
                return False
    return False


@compiled_part
def _project(run):
    """Projects ``run.state`` onto the constraints; False if that fails."""
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
def _samples_inside(run, t_new):
    """Writes the samples inside a step by its polynomial; they become valid when the step passes its check."""
    n, sample = run.y.size, run.counter[NEXT_SAMPLE]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - t_new) < 0.0:
        t = run.sample_t[sample]
        h = t - run.real[T]
        run.state[0] = t
        for i in range(n):
            value = 0.0
            for k in range(run.order, 0, -1):
                value = value * h + run.table[k * run.width + i]
            run.state[1 + i] = run.table[i] + h * value
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
    """One step of size h to the state in the table; GO_ON if it passes the check, otherwise the code of the failure."""
    n, table, control = run.y.size, run.table, run.control
    run.real[WHERE], run.counter[COMPONENT] = t_new, -1
    code = _samples_inside(run, t_new)
    control[H], control[TIME], control[STAY] = h, t_new, 0.0
    call_native(run.go, address_of(control), address_of(table), run.order)
    if code != GO_ON:
        return code
    before = after = 0.0
    if run.project != 0:
        run.state[0] = t_new
        for i in range(n):
            run.state[1 + i] = table[i]
            if not np.isfinite(table[i]):
                return BAD_VALUE
        if not _project(run):
            return NO_PROJECTION
        for i in range(n):
            table[i] = run.state[1 + i]
        before, after = run.onto[n], run.onto[n + 1]
    # At a breakpoint the check uses the equations before it, the next step those after it.
    if not _evaluate(run, t_new - run.nudge * run.direction if at_break else t_new):
        return BAD_VALUE
    if control[EXCESS] > NOISE * abs(h) * control[LARGEST]:
        return TOO_SMALL
    if at_break and not _evaluate(run, t_new + run.nudge * run.direction):
        return BAD_VALUE
    run.real[DRIFT] = max(run.real[DRIFT], before)
    run.real[VIOLATION] = max(run.real[VIOLATION], after)
    return GO_ON


@compiled_part
def _take_back(run):
    """Restores the state and the coefficients before a step in the table."""
    n = run.y.size
    first = FIRST + 2 * n
    for i in range(n):
        run.table[i] = run.control[first + i]
    where, component, unsound = run.real[WHERE], run.counter[COMPONENT], run.counter[UNSOUND]
    _evaluate(run, run.control[first + n])
    run.real[WHERE], run.counter[COMPONENT], run.counter[UNSOUND] = where, component, unsound


@compiled_part
def _start(run, first_t):
    for i in range(run.y.size):
        run.table[i] = run.y[i]
    _samples_here(run)
    run.counter[STARTED] = 1
    return _evaluate(run, first_t)


@compiled(allocates=False)
def advance_series(run, first_t, first_step, t_out, y_out, attempts):
    """Make at most ``attempts`` step attempts and store accepted steps; returns a code of ``steppers.run``.

    ``first_t`` is the time of the first evaluation of the equations: the start, or just after it if the equations
    switch there. With ``first_step`` 0 the series determines the first step size.
    """
    real, counter, control, direction = run.real, run.counter, run.control, run.direction
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
        t, smallest = real[T], smallest_step(real[T])
        if counter[RETRYING] == 0:
            wanted = step_size(control, run.order)
            if real[H_ABS] > 0.0:  # a requested step size
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
        sample = counter[NEXT_SAMPLE]
        code = _attempt(run, t_new - t, t_new, at_bound and inside and bound != run.t_end)
        if code == GO_ON:
            real[T] = t_new
            for i in range(run.y.size):
                run.y[i] = y_out[counter[STORED], i] = run.table[i]
            t_out[counter[STORED]] = t_new
            counter[STORED] += 1
            counter[NEXT_BREAK] += 1 if at_bound and inside else 0
            counter[RETRYING], real[H_ABS] = 0, 0.0
            _samples_here(run)
            continue
        _take_back(run)
        counter[NEXT_SAMPLE] = sample
        counter[REJECTED] += 1
        counter[TROUBLE] = code
        if code == NO_PROJECTION and counter[RETRYING] >= PROJECTION_TRIES:
            return NO_PROJECTION
        counter[RETRYING] += 1
        real[H_ABS] = SHORTER * abs(t_new - t)
    return GO_ON
