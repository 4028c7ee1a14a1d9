"""Many runs by Taylor series, eight at a time: each lane has its own run, time and step size.

When a run ends its lane takes the next one. All arithmetic is lane by lane, so a run gives the same bits wherever it
stands and whatever runs beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pendula.numerics.explicit import BAD_START, BAD_VALUE, DONE, GO_ON, STEPS_USED_UP, TOO_SMALL
from pendula.numerics.jit import compiled, compiled_part
from pendula.numerics.native import address_of, call_native
from pendula.numerics.taylor_steps import DEFECT, NOISE, SAFETY, SHORTER, inverse_root

LANES = 8
UNSOUND = 100  # the end of a run whose equations could not be solved; other codes are those of ``explicit``

# What a lane is about to do with the coefficients it is given.
IDLE, FRESH, CHECKING, ONTO_BREAK = range(4)
# Slots of LaneRun.number (integers by lane) and LaneRun.real (numbers by lane).
RUN, MODE, SAMPLE, SAMPLE_BEFORE, BREAK, TRIED, STEPS, LEFT_OUT = range(8)
T, T_BEFORE, H, LIMIT, FINITE, EXCESS, LARGEST = range(7)
# Slots of LaneRun.counter.
NEXT, FINISHED, ROUNDS = range(3)


class LaneRun(NamedTuple):
    """Everything about many runs. Arrays are written in place and carry all state between calls."""

    address: int
    order: int
    t0: float
    first_t: float
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
    balls: np.ndarray  # first components of unit quaternions
    given: np.ndarray  # (runs, components)
    values: np.ndarray  # (runs or 1, count): parameters
    parameters: np.ndarray  # (count, 8)
    table: np.ndarray  # (rows, 8)
    before: np.ndarray  # (components + 1, 8): the state and the time that a step starts from
    after: np.ndarray  # (components, 8): the state at the end of a step
    slope: np.ndarray  # (components, 8): of the polynomial at the end of a step
    number: np.ndarray  # (8, 8)
    real: np.ndarray  # (7, 8)
    counter: np.ndarray
    out_t: np.ndarray
    out_y: np.ndarray
    out_code: np.ndarray
    out_steps: np.ndarray
    out_rejected: np.ndarray
    out_samples: np.ndarray  # (runs, samples, components)


@compiled_part
def _take_next(run, lane):
    """Puts the next run into a lane, if there is one."""
    k, number, real = run.counter[NEXT], run.number, run.real
    if k >= run.given.shape[0]:
        return
    run.counter[NEXT] += 1
    number[RUN, lane], number[MODE, lane] = k, FRESH
    for slot in (SAMPLE, SAMPLE_BEFORE, BREAK, TRIED, STEPS, LEFT_OUT):
        number[slot, lane] = 0
    real[T, lane], real[LIMIT, lane] = run.t0, np.inf
    n = run.given.shape[1]
    for i in range(n):
        run.table[i, lane] = run.given[k, i]
    run.table[n, lane] = run.first_t
    if run.values.shape[0] > 1 or run.counter[ROUNDS] == 0:
        row = k if run.values.shape[0] > 1 else 0
        for i in range(run.values.shape[1]):
            run.parameters[i, lane] = run.values[row, i]


@compiled_part
def _end(run, lane, code):
    """Ends the run of a lane, at the state in the table."""
    k = run.number[RUN, lane]
    run.out_t[k], run.out_code[k] = run.real[T, lane], code
    for i in range(run.given.shape[1]):
        run.out_y[k, i] = run.table[i, lane]
    for sample in range(run.number[SAMPLE, lane], run.sample_t.size):  # those of a step that was refused
        for i in range(run.given.shape[1]):
            run.out_samples[k, sample, i] = np.nan
    run.out_steps[k] = run.number[STEPS, lane]
    run.out_rejected[k] = run.number[TRIED, lane] - run.number[STEPS, lane]
    run.number[MODE, lane] = IDLE
    run.counter[FINISHED] += 1


@compiled_part
def _samples_here(run, lane):
    k, sample = run.number[RUN, lane], run.number[SAMPLE, lane]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - run.real[T, lane]) <= 0.0:
        for i in range(run.given.shape[1]):
            run.out_samples[k, sample, i] = run.table[i, lane]
        sample += 1
    run.number[SAMPLE, lane] = sample


@compiled_part
def _unit(values, at):
    """Brings the quaternion at a place among values to length one."""
    square = 0.0
    for i in range(4):
        square += values[at + i] * values[at + i]
    length = np.sqrt(square)
    for i in range(4):
        values[at + i] /= length


@compiled_part
def _samples_inside(run, lane, width, t, t_new):
    """Writes the samples inside a step; they count once the step is checked."""
    n, k, sample = run.given.shape[1], run.number[RUN, lane], run.number[SAMPLE, lane]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - t_new) < 0.0:
        h = run.sample_t[sample] - t
        for i in range(n):
            value = 0.0
            for order in range(run.order, 0, -1):
                value = value * h + run.table[order * width + i, lane]
            run.out_samples[k, sample, i] = run.table[i, lane] + h * value
        for b in range(run.balls.size):
            _unit(run.out_samples[k, sample], run.balls[b])
        sample += 1
    run.number[SAMPLE, lane] = sample


@compiled_part
def _smallest(t, direction):
    return 10.0 * abs(np.nextafter(t, direction * np.inf) - t)


@compiled_part
def _refuse(run, lane, code):
    """Takes back the step of a lane; the next is shorter, or the run ends."""
    real, number, n = run.real, run.number, run.given.shape[1]
    for i in range(n):
        run.table[i, lane] = run.before[i, lane]
    real[T, lane], run.table[n, lane] = real[T_BEFORE, lane], run.before[n, lane]
    number[SAMPLE, lane], number[MODE, lane] = number[SAMPLE_BEFORE, lane], FRESH
    real[LIMIT, lane] = SHORTER * abs(real[H, lane])
    if real[LIMIT, lane] < _smallest(real[T, lane], run.direction):
        _end(run, lane, code)


@compiled_part
def _look(run, width):
    """By lane: whether all coefficients are finite, and by how much the slopes differ from those expected."""
    real, table, n = run.real, run.table, run.given.shape[1]
    for lane in range(LANES):
        real[FINITE, lane] = real[EXCESS, lane] = real[LARGEST, lane] = 0.0
    for k in range(run.order + 1):
        for i in range(n):
            for lane in range(LANES):
                real[FINITE, lane] += table[k * width + i, lane] * 0.0
    for i in range(run.controlled):
        for lane in range(LANES):
            slope = table[width + i, lane]
            off = abs(run.slope[i, lane] - slope) * abs(real[H, lane])
            off -= DEFECT * (run.atol[i] + run.rtol * abs(table[i, lane]))
            real[EXCESS, lane] = max(real[EXCESS, lane], off)
            real[LARGEST, lane] = max(real[LARGEST, lane], abs(slope))


@compiled_part
def _judge(run, lane, width):
    """Accepts or refuses the step that led to the state of a lane; LEFT_OUT if it takes none from it now."""
    real, number, n = run.real, run.number, run.given.shape[1]
    mode = number[MODE, lane]
    number[LEFT_OUT, lane] = 1
    if mode == IDLE:
        return
    code = GO_ON
    if real[FINITE, lane] != 0.0:
        code = UNSOUND if run.table[(run.order + 1) * width, lane] == 0.0 else BAD_VALUE
    elif mode != FRESH and real[EXCESS, lane] > NOISE * abs(real[H, lane]) * real[LARGEST, lane]:
        code = TOO_SMALL
    if code != GO_ON and mode == FRESH:
        return _end(run, lane, code if number[TRIED, lane] > 0 or code == UNSOUND else BAD_START)
    if code != GO_ON:
        return _refuse(run, lane, code)
    if mode != FRESH:
        number[STEPS, lane] += 1
        real[LIMIT, lane] = np.inf
    _samples_here(run, lane)
    if run.direction * (real[T, lane] - run.t_end) >= 0.0:
        return _end(run, lane, DONE)
    if number[TRIED, lane] >= run.max_attempts:
        return _end(run, lane, STEPS_USED_UP)
    if mode == ONTO_BREAK:  # go on with the equations that hold after it
        number[BREAK, lane] += 1
        number[MODE, lane] = FRESH
        run.table[n, lane] = real[T, lane] + run.nudge * run.direction
        return
    number[LEFT_OUT, lane] = 0


@compiled_part
def _step_sizes(run, width):
    """The steps for which the last two terms of the series are within the tolerance, by lane."""
    real, table = run.real, run.table
    at = run.order * width
    for lane in range(LANES):
        real[FINITE, lane] = real[EXCESS, lane] = 0.0
    for i in range(run.controlled):
        for lane in range(LANES):
            scale = 1.0 / (run.atol[i] + run.rtol * abs(table[i, lane]))
            real[FINITE, lane] = max(real[FINITE, lane], abs(table[at + i, lane]) * scale)
            real[EXCESS, lane] = max(real[EXCESS, lane], abs(table[at - width + i, lane]) * scale)
    last, before = 1.0 / run.order, 1.0 / (run.order - 1)
    for lane in range(LANES):
        real[H, lane] = SAFETY * min(inverse_root(real[FINITE, lane], last), inverse_root(real[EXCESS, lane], before))


@compiled_part
def _plan(run, lane):
    """Fits the step of a lane to its limits, to the next breakpoint and to the end."""
    real, number = run.real, run.number
    if number[LEFT_OUT, lane] == 1:
        real[H, lane] = 0.0
        return
    t = real[T, lane]
    h = max(min(real[H, lane], run.max_step, real[LIMIT, lane]), _smallest(t, run.direction))
    inside = number[BREAK, lane] < run.breaks.size
    bound = run.breaks[number[BREAK, lane]] if inside else run.t_end
    t_new, mode = t + h * run.direction, CHECKING
    if run.direction * (t_new - bound) >= 0.0:
        t_new = bound
        mode = ONTO_BREAK if inside and bound != run.t_end else CHECKING
    real[T_BEFORE, lane], real[T, lane] = t, t_new
    real[H, lane] = t_new - t
    number[MODE, lane] = mode
    number[TRIED, lane] += 1
    number[SAMPLE_BEFORE, lane] = number[SAMPLE, lane]


@compiled_part(fastmath={"contract"})
def _go(run, width):
    """States and slopes of the polynomials at the ends of the steps."""
    h = run.real[H]
    for i in range(run.given.shape[1]):
        value, slope = run.after[i], run.slope[i]
        for lane in range(LANES):
            value[lane] = slope[lane] = 0.0
        for k in range(run.order, 0, -1):
            row, weight = run.table[k * width + i], float(k)
            for lane in range(LANES):
                value[lane] = value[lane] * h[lane] + row[lane]
                slope[lane] = slope[lane] * h[lane] + weight * row[lane]
        for lane in range(LANES):
            value[lane] = run.table[i, lane] + h[lane] * value[lane]


@compiled_part
def _commit(run, lane, width):
    """Writes samples of the step of a lane and puts its end in place of its start."""
    real, n = run.real, run.given.shape[1]
    if run.number[LEFT_OUT, lane] == 1:
        return
    _samples_inside(run, lane, width, real[T_BEFORE, lane], real[T, lane])
    for b in range(run.balls.size):
        _unit(run.after[:, lane], run.balls[b])
    for i in range(n + 1):
        run.before[i, lane] = run.table[i, lane]
    for i in range(n):
        run.table[i, lane] = run.after[i, lane]
    back = run.nudge * run.direction if run.number[MODE, lane] == ONTO_BREAK else 0.0
    run.table[n, lane] = real[T, lane] - back


@compiled(allocates=False)
def advance_lanes(run, width, rounds):
    """Go on for at most so many rounds, each one step of every lane; DONE when all runs have ended, else GO_ON."""
    for _ in range(rounds):
        if run.counter[FINISHED] >= run.given.shape[0]:
            return DONE
        for lane in range(LANES):
            if run.number[MODE, lane] == IDLE:
                _take_next(run, lane)
        run.counter[ROUNDS] += 1
        call_native(run.address, address_of(run.table), address_of(run.parameters), run.order)
        _look(run, width)
        for lane in range(LANES):
            _judge(run, lane, width)
        _step_sizes(run, width)
        for lane in range(LANES):
            _plan(run, lane)
        _go(run, width)
        for lane in range(LANES):
            _commit(run, lane, width)
    return GO_ON


def leave(run: LaneRun) -> None:
    """Writes where the unfinished runs are: at their last checked steps."""
    n = run.given.shape[1]
    for lane in np.flatnonzero(run.number[MODE] != IDLE):
        k, checked = run.number[RUN, lane], run.number[MODE, lane] == FRESH
        if run.number[TRIED, lane] == 0:
            continue
        run.out_t[k] = run.real[T if checked else T_BEFORE, lane]
        run.out_y[k] = (run.table if checked else run.before)[:n, lane]
        run.out_steps[k] = run.number[STEPS, lane]
        first = run.number[SAMPLE if checked else SAMPLE_BEFORE, lane]
        run.out_samples[k, first:] = np.nan  # those of a step that was not checked
