"""Many runs by Taylor series, eight at a time: each lane has its own run, time and step size.

When a run ends its lane takes the next one. All arithmetic is lane by lane, so the result of a run, to the last bit,
does not depend on its lane or on the other runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of, call_native
from pendula.numerics.scalars.eight import LANES, all_lanes, eights_at
from pendula.numerics.steppers.run import BAD_START, BAD_VALUE, DONE, GO_ON, STEPS_USED_UP, TOO_SMALL
from pendula.numerics.taylor.steps import (
    EXCESS,
    FINITE,
    FIRST,
    LARGEST,
    NOISE,
    SHORTER,
    STAY,
    TIME,
    H,
    smallest_step,
    step_size,
)

UNSOUND = 100  # code of a run whose equations could not be solved; other codes are those of ``steppers.run``

# What a lane does with the next coefficients.
IDLE, FRESH, CHECKING, ONTO_BREAK = range(4)
# Slots of LaneRun.number (integers by lane) and LaneRun.real (numbers by lane).
RUN, MODE, SAMPLE, SAMPLE_BEFORE, BREAK, TRIED, STEPS = range(7)
T, T_BEFORE, LIMIT, STOP = range(4)
"""``STOP``: the next sample, breakpoint or final time, times the direction; -infinity unless the last step was usual"""
# Slots of LaneRun.counter.
NEXT, FINISHED, ROUNDS = range(3)


class LaneRun(NamedTuple):
    """All data of many runs. Arrays are written in place and hold all state between calls."""

    address: int
    go: int
    look: int
    order: int
    width: int
    t0: float
    first_t: float
    t_end: float
    direction: float
    max_step: float
    nudge: float
    max_attempts: int
    breaks: np.ndarray
    sample_t: np.ndarray
    balls: np.ndarray  # first components of unit quaternions
    given: np.ndarray  # (runs, components)
    values: np.ndarray  # (runs or 1, count): parameters
    parameters: np.ndarray  # (count, 8)
    table: np.ndarray  # (rows, 8)
    control: np.ndarray  # (rows, 8): the control block
    number: np.ndarray  # (7, 8)
    real: np.ndarray  # (4, 8)
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
    for slot in (SAMPLE, SAMPLE_BEFORE, BREAK, TRIED, STEPS):
        number[slot, lane] = 0
    real[T, lane], real[LIMIT, lane], real[STOP, lane] = run.t0, np.inf, -np.inf
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
    for sample in range(run.number[SAMPLE, lane], run.sample_t.size):  # samples of a rejected step
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
    """Normalizes the quaternion at an index."""
    square = 0.0
    for i in range(4):
        square += values[at + i] * values[at + i]
    length = np.sqrt(square)
    for i in range(4):
        values[at + i] /= length


@compiled_part
def _samples_inside(run, lane, t, t_new):
    """Writes the samples inside a step; they become valid when the step passes its check."""
    n, k, sample = run.given.shape[1], run.number[RUN, lane], run.number[SAMPLE, lane]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - t_new) < 0.0:
        h = run.sample_t[sample] - t
        for i in range(n):
            value = 0.0
            for order in range(run.order, 0, -1):
                value = value * h + run.table[order * run.width + i, lane]
            run.out_samples[k, sample, i] = run.table[i, lane] + h * value
        for b in range(run.balls.size):
            _unit(run.out_samples[k, sample], run.balls[b])
        sample += 1
    run.number[SAMPLE, lane] = sample


@compiled_part
def _refuse(run, lane, code):
    """Rejects the step of a lane; the next one is shorter, or the run ends."""
    real, number, n = run.real, run.number, run.given.shape[1]
    for i in range(n + 1):
        run.table[i, lane] = run.control[FIRST + 2 * n + i, lane]
    real[T, lane] = real[T_BEFORE, lane]
    number[SAMPLE, lane], number[MODE, lane] = number[SAMPLE_BEFORE, lane], FRESH
    real[LIMIT, lane] = SHORTER * abs(run.control[H, lane])
    if real[LIMIT, lane] < smallest_step(real[T, lane]):
        _end(run, lane, code)


@compiled_part
def _judge(run, lane):
    """Accepts or rejects the last step of a lane; True if the lane takes a step from there now."""
    real, number, control, n = run.real, run.number, run.control, run.given.shape[1]
    mode = number[MODE, lane]
    if mode == IDLE:
        return False
    code = GO_ON
    if control[FINITE, lane] != 0.0:
        code = UNSOUND if run.table[(run.order + 1) * run.width, lane] == 0.0 else BAD_VALUE
    elif mode != FRESH and control[EXCESS, lane] > NOISE * abs(control[H, lane]) * control[LARGEST, lane]:
        code = TOO_SMALL
    if code != GO_ON:
        if mode != FRESH:
            _refuse(run, lane, code)
        else:
            _end(run, lane, code if number[TRIED, lane] > 0 or code == UNSOUND else BAD_START)
        return False
    if mode != FRESH:
        number[STEPS, lane] += 1
        real[LIMIT, lane] = np.inf
    _samples_here(run, lane)
    if run.direction * (real[T, lane] - run.t_end) >= 0.0:
        _end(run, lane, DONE)
        return False
    if number[TRIED, lane] >= run.max_attempts:
        _end(run, lane, STEPS_USED_UP)
        return False
    if mode == ONTO_BREAK:  # continue with the equations that hold after it
        number[BREAK, lane] += 1
        number[MODE, lane] = FRESH
        run.table[n, lane] = real[T, lane] + run.nudge * run.direction
        return False
    return True


@compiled_part
def _step_as_usual(run):
    """The next step of all lanes together, if none needs special care; otherwise False, and nothing is written.

    None does if the last step passes its check, and no sample, breakpoint or final time lies in the next one.
    """
    number, direction = run.number, run.direction
    control, real = eights_at(address_of(run.control), FIRST), eights_at(address_of(run.real), STOP + 1)
    t, defect = real[T], NOISE * abs(control[H]) * control[LARGEST]
    h = max(min(step_size(control, run.order), run.max_step), smallest_step(t))
    t_new = t + h * direction
    good = (control[FINITE] == 0.0) & (control[EXCESS] <= defect) & (t_new * direction < real[STOP])
    tried = 0
    for lane in range(LANES):
        tried = max(tried, number[TRIED, lane])
    if tried >= run.max_attempts or not all_lanes(good):
        return False
    for lane in range(LANES):
        number[STEPS, lane] += 1
        number[TRIED, lane] += 1
        number[SAMPLE_BEFORE, lane] = number[SAMPLE, lane]
    real[T_BEFORE], real[T] = t, t_new
    control[H], control[STAY], control[TIME] = t_new - t, t * 0.0, t_new
    return True


@compiled_part
def _step_each(run):
    """The check of the last step and the next step of every lane that has a run, one lane after the other."""
    number, real, control, table = run.number, run.real, run.control, run.table
    direction, t_end, max_attempts, samples = run.direction, run.t_end, run.max_attempts, run.sample_t
    n, order = run.given.shape[1], run.order
    for lane in range(LANES):
        t, sample = real[T, lane], number[SAMPLE, lane]
        real[STOP, lane] = -np.inf
        good = number[MODE, lane] == CHECKING and control[FINITE, lane] == 0.0 and real[LIMIT, lane] == np.inf
        good = good and control[EXCESS, lane] <= NOISE * abs(control[H, lane]) * control[LARGEST, lane]
        good = good and direction * (t - t_end) < 0.0 and number[TRIED, lane] < max_attempts
        if good and (sample >= samples.size or direction * (samples[sample] - t) > 0.0):
            number[STEPS, lane] += 1
        elif not _judge(run, lane):
            control[H, lane], control[STAY, lane], control[TIME, lane] = 0.0, 1.0, table[n, lane]
            continue
        h = step_size(control[:, lane], order)
        h = max(min(h, run.max_step, real[LIMIT, lane]), smallest_step(t))
        inside = number[BREAK, lane] < run.breaks.size
        bound = run.breaks[number[BREAK, lane]] if inside else t_end
        t_new, latest, mode = t + h * direction, 0.0, CHECKING
        if direction * (t_new - bound) >= 0.0:
            t_new = bound
            if inside and bound != t_end:
                mode, latest = ONTO_BREAK, run.nudge * direction
        sample = number[SAMPLE_BEFORE, lane] = number[SAMPLE, lane]
        if sample < samples.size and direction * (samples[sample] - t_new) < 0.0:
            _samples_inside(run, lane, t, t_new)
        real[T_BEFORE, lane], real[T, lane] = t, t_new
        number[MODE, lane] = mode
        number[TRIED, lane] += 1
        control[H, lane], control[STAY, lane], control[TIME, lane] = t_new - t, 0.0, t_new - latest
        if mode == CHECKING and real[LIMIT, lane] == np.inf:
            sample = number[SAMPLE, lane]
            due = direction * samples[sample] if sample < samples.size else np.inf
            real[STOP, lane] = min(direction * bound, due)


@compiled_part
def _round(run):
    """One step of every lane that has a run: coefficients, the check of the last step, the next step."""
    control, table, n = run.control, run.table, run.given.shape[1]
    call_native(run.address, address_of(table), address_of(run.parameters), run.order)
    call_native(run.look, address_of(control), address_of(table), run.order)
    if not _step_as_usual(run):
        _step_each(run)
    call_native(run.go, address_of(control), address_of(table), run.order)
    for b in range(run.balls.size):
        for lane in range(LANES):
            if control[STAY, lane] == 0.0:
                _unit(table[:n, lane], run.balls[b])


@compiled(allocates=False)
def advance_lanes(run, rounds):
    """Make a number of rounds of one step per lane; DONE if all runs have ended, else GO_ON."""
    for _ in range(rounds):
        if run.counter[FINISHED] >= run.given.shape[0]:
            return DONE
        for lane in range(LANES):
            if run.number[MODE, lane] == IDLE:
                _take_next(run, lane)
        run.counter[ROUNDS] += 1
        _round(run)
    return GO_ON


def leave(run: LaneRun) -> None:
    """Stores the last checked steps of unfinished runs."""
    n = run.given.shape[1]
    for lane in np.flatnonzero(run.number[MODE] != IDLE):
        k, checked = run.number[RUN, lane], run.number[MODE, lane] == FRESH
        if run.number[TRIED, lane] == 0:
            continue
        run.out_t[k] = run.real[T if checked else T_BEFORE, lane]
        run.out_y[k] = (run.table if checked else run.control[FIRST + 2 * n :])[:n, lane]
        run.out_steps[k] = run.number[STEPS, lane]
        first = run.number[SAMPLE if checked else SAMPLE_BEFORE, lane]
        run.out_samples[k, first:] = np.nan  # samples of a step that was not checked
