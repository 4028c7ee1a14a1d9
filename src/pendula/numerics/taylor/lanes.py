"""Many runs by Taylor series, eight at a time: each lane has its own run, time and step size.

When a run ends its lane takes the next one. All arithmetic is lane by lane, so the result of a run, to the last bit,
does not depend on its lane or on the other runs.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype, records_at
from pendula.numerics.ensemble.lane_records import lane_records
from pendula.numerics.scalars.eight import LANES, all_lanes, eights_at
from pendula.numerics.steppers.run import BAD_START, BAD_VALUE, DONE, GO_ON, STEPS_USED_UP, TOO_SMALL, UNSOUND
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
    control_at,
    find_control,
    smallest_step,
    step_size,
)

IDLE, FRESH, CHECKING, ONTO_BREAK = range(4)
"""What a lane does with the next coefficients."""

BATCH = record_dtype(
    reals="t0 first_t t_end direction max_step nudge",
    whole="""
        coefficients go look order width runs n samples breaks_count balls_count max_attempts
        breaks sample_t balls start data data_rows columns_of_data column table control lanes
        sample_y end_y results next_run ended rounds
    """,
)
"""The record of many runs.

Settings: times as in :data:`pendula.numerics.steppers.run.RUN` (``first_t``: of the first evaluation), the native
functions of the series, its ``order``, and the ``width`` of its ``table``. Memory: ``balls``: first components of unit
quaternions; ``start`` (runs, n); ``data`` (``data_rows``, ``columns_of_data``): parameters of all runs or of each, and
``column`` (``columns_of_data``, 8): their copy for the lanes; ``table`` (rows, 8), ``control`` (rows, 8): the control
block; ``lanes``: :data:`LANE`. Results: ``sample_y`` (runs, samples, n), ``end_y`` (runs, n), ``results``
(:data:`RESULT`). Last, the progress.
"""
batch_at = reader(BATCH)

LANE, all_lanes_at, each_lane_at = lane_records(
    reals=("t", "t_before", "limit", "stop"),
    whole=("run", "mode", "sample", "sample_before", "next_break", "tried", "steps"),
)
"""``limit``: longest next step after a rejected one; ``stop``: the next sample, breakpoint or final time, times the
direction; -infinity unless the last step was usual; ``sample``: the next one; ``t_before`` and ``sample_before``: at
the start of the step that is being checked."""

RESULT = record_dtype(reals="t", whole="code steps rejected")
results_at = records_at(RESULT)


@compiled_part
def _take_next(batch, l):
    """Puts the next run into a lane, if there is one."""
    k, lanes, n = batch.next_run, each_lane_at(batch.lanes), batch.n
    if k >= batch.runs:
        return
    batch.next_run += 1
    lanes.run[l], lanes.mode[l] = k, FRESH
    lanes.sample[l] = lanes.sample_before[l] = lanes.next_break[l] = lanes.tried[l] = lanes.steps[l] = 0
    lanes.t[l], lanes.limit[l], lanes.stop[l] = batch.t0, np.inf, -np.inf
    table, start = doubles_at(batch.table, (n + 1, LANES)), doubles_at(batch.start, (batch.runs, n))
    for i in range(n):
        table[i, l] = start[k, i]
    table[n, l] = batch.first_t
    if batch.data_rows > 1 or batch.rounds == 0:
        which, width = k if batch.data_rows > 1 else 0, batch.columns_of_data
        column, data = doubles_at(batch.column, (width, LANES)), doubles_at(batch.data, (batch.data_rows, width))
        for i in range(width):
            column[i, l] = data[which, i]


@compiled_part
def _end(batch, l, code):
    """Ends the run of a lane, at the state in the table."""
    lanes, n, table = each_lane_at(batch.lanes), batch.n, doubles_at(batch.table, (batch.n, LANES))
    k = lanes.run[l]
    end = doubles_at(batch.end_y, (batch.runs, n))
    for i in range(n):
        end[k, i] = table[i, l]
    samples = doubles_at(batch.sample_y, (batch.runs, batch.samples, n))
    for sample in range(lanes.sample[l], batch.samples):  # samples of a rejected step
        for i in range(n):
            samples[k, sample, i] = np.nan
    result = results_at(batch.results, batch.runs)[k]
    result.t, result.code, result.steps = lanes.t[l], code, lanes.steps[l]
    result.rejected = lanes.tried[l] - lanes.steps[l]
    lanes.mode[l] = IDLE
    batch.ended += 1


@compiled_part
def _samples_here(batch, l):
    lanes, n, times = each_lane_at(batch.lanes), batch.n, doubles_at(batch.sample_t, batch.samples)
    table, samples = doubles_at(batch.table, (n, LANES)), doubles_at(batch.sample_y, (batch.runs, batch.samples, n))
    k, sample = lanes.run[l], lanes.sample[l]
    while sample < batch.samples and batch.direction * (times[sample] - lanes.t[l]) <= 0.0:
        for i in range(n):
            samples[k, sample, i] = table[i, l]
        sample += 1
    lanes.sample[l] = sample


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
def _samples_inside(batch, l, t, t_new):
    """Writes the samples inside a step; they become valid when the step passes its check."""
    lanes, n, times = each_lane_at(batch.lanes), batch.n, doubles_at(batch.sample_t, batch.samples)
    table = doubles_at(batch.table, ((batch.order + 1) * batch.width, LANES))
    samples, balls = (
        doubles_at(batch.sample_y, (batch.runs, batch.samples, n)),
        integers_at(batch.balls, batch.balls_count),
    )
    k, sample = lanes.run[l], lanes.sample[l]
    while sample < batch.samples and batch.direction * (times[sample] - t_new) < 0.0:
        h = times[sample] - t
        for i in range(n):
            value = 0.0
            for order in range(batch.order, 0, -1):
                value = value * h + table[order * batch.width + i, l]
            samples[k, sample, i] = table[i, l] + h * value
        for b in range(batch.balls_count):
            _unit(samples[k, sample], balls[b])
        sample += 1
    lanes.sample[l] = sample


@compiled_part
def _refuse(batch, l, code):
    """Rejects the step of a lane; the next one is shorter, or the run ends."""
    lanes, n, at = each_lane_at(batch.lanes), batch.n, control_at(batch.n)
    table, control = doubles_at(batch.table, (n + 1, LANES)), doubles_at(batch.control, (at.size, LANES))
    for i in range(n + 1):
        table[i, l] = control[at.before + i, l]
    lanes.t[l] = lanes.t_before[l]
    lanes.sample[l], lanes.mode[l] = lanes.sample_before[l], FRESH
    lanes.limit[l] = SHORTER * abs(control[H, l])
    if lanes.limit[l] < smallest_step(lanes.t[l]):
        _end(batch, l, code)


@compiled_part
def _judge(batch, l):
    """Accepts or rejects the last step of a lane; True if the lane takes a step from there now."""
    lanes, control, n = each_lane_at(batch.lanes), doubles_at(batch.control, (FIRST, LANES)), batch.n
    table, sound = doubles_at(batch.table, (n + 1, LANES)), (batch.order + 1) * batch.width
    mode = lanes.mode[l]
    if mode == IDLE:
        return False
    code = GO_ON
    if control[FINITE, l] != 0.0:
        code = UNSOUND if doubles_at(batch.table, (sound + 1, LANES))[sound, l] == 0.0 else BAD_VALUE
    elif mode != FRESH and control[EXCESS, l] > NOISE * abs(control[H, l]) * control[LARGEST, l]:
        code = TOO_SMALL
    if code != GO_ON:
        if mode != FRESH:
            _refuse(batch, l, code)
        else:
            _end(batch, l, code if lanes.tried[l] > 0 or code == UNSOUND else BAD_START)
        return False
    if mode != FRESH:
        lanes.steps[l] += 1
        lanes.limit[l] = np.inf
    _samples_here(batch, l)
    if batch.direction * (lanes.t[l] - batch.t_end) >= 0.0:
        _end(batch, l, DONE)
        return False
    if lanes.tried[l] >= batch.max_attempts:
        _end(batch, l, STEPS_USED_UP)
        return False
    if mode == ONTO_BREAK:  # continue with the equations that hold after it
        lanes.next_break[l] += 1
        lanes.mode[l] = FRESH
        table[n, l] = lanes.t[l] + batch.nudge * batch.direction
        return False
    return True


@compiled_part
def _step_as_usual(batch):
    """The next step of all lanes together, if none needs special care; otherwise False, and nothing is written.

    None does if the last step passes its check, and no sample, breakpoint or final time lies in the next one.
    """
    direction, each, lanes = batch.direction, each_lane_at(batch.lanes), all_lanes_at(batch.lanes)
    control = eights_at(batch.control, FIRST)
    t, defect = lanes.t, NOISE * abs(control[H]) * control[LARGEST]
    h = max(min(step_size(control, batch.order), batch.max_step), smallest_step(t))
    t_new = t + h * direction
    good = (control[FINITE] == 0.0) & (control[EXCESS] <= defect) & (t_new * direction < lanes.stop)
    tried = 0
    for l in range(LANES):
        tried = max(tried, each.tried[l])
    if tried >= batch.max_attempts or not all_lanes(good):
        return False
    for l in range(LANES):
        each.steps[l] += 1
        each.tried[l] += 1
        each.sample_before[l] = each.sample[l]
    lanes.t_before, lanes.t = t, t_new
    control[H], control[STAY], control[TIME] = t_new - t, t * 0.0, t_new
    return True


@compiled_part
def _step_each(batch):
    """The check of the last step and the next step of every lane that has a run, one lane after the other."""
    lanes, direction, t_end, n = each_lane_at(batch.lanes), batch.direction, batch.t_end, batch.n
    control, table = doubles_at(batch.control, (FIRST, LANES)), doubles_at(batch.table, (n + 1, LANES))
    times, breaks = doubles_at(batch.sample_t, batch.samples), doubles_at(batch.breaks, batch.breaks_count)
    for l in range(LANES):
        t, sample = lanes.t[l], lanes.sample[l]
        lanes.stop[l] = -np.inf
        good = lanes.mode[l] == CHECKING and control[FINITE, l] == 0.0 and lanes.limit[l] == np.inf
        good = good and control[EXCESS, l] <= NOISE * abs(control[H, l]) * control[LARGEST, l]
        good = good and direction * (t - t_end) < 0.0 and lanes.tried[l] < batch.max_attempts
        if good and (sample >= batch.samples or direction * (times[sample] - t) > 0.0):
            lanes.steps[l] += 1
        elif not _judge(batch, l):
            control[H, l], control[STAY, l], control[TIME, l] = 0.0, 1.0, table[n, l]
            continue
        h = step_size(control[:, l], batch.order)
        h = max(min(h, batch.max_step, lanes.limit[l]), smallest_step(t))
        inside = lanes.next_break[l] < batch.breaks_count
        bound = breaks[lanes.next_break[l]] if inside else t_end
        t_new, latest, mode = t + h * direction, 0.0, CHECKING
        if direction * (t_new - bound) >= 0.0:
            t_new = bound
            if inside and bound != t_end:
                mode, latest = ONTO_BREAK, batch.nudge * direction
        sample = lanes.sample_before[l] = lanes.sample[l]
        if sample < batch.samples and direction * (times[sample] - t_new) < 0.0:
            _samples_inside(batch, l, t, t_new)
        lanes.t_before[l], lanes.t[l] = t, t_new
        lanes.mode[l] = mode
        lanes.tried[l] += 1
        control[H, l], control[STAY, l], control[TIME, l] = t_new - t, 0.0, t_new - latest
        if mode == CHECKING and lanes.limit[l] == np.inf:
            sample = lanes.sample[l]
            due = direction * times[sample] if sample < batch.samples else np.inf
            lanes.stop[l] = min(direction * bound, due)


@compiled_part
def _round(batch):
    """One step of every lane that has a run: coefficients, the check of the last step, the next step."""
    control, table = doubles_at(batch.control, (FIRST, LANES)), doubles_at(batch.table, (batch.n, LANES))
    balls = integers_at(batch.balls, batch.balls_count)
    call_native(batch.coefficients, batch.table, batch.column, batch.order)
    call_native(batch.look, batch.control, batch.table, batch.order)
    if not _step_as_usual(batch):
        _step_each(batch)
    call_native(batch.go, batch.control, batch.table, batch.order)
    for b in range(batch.balls_count):
        for l in range(LANES):
            if control[STAY, l] == 0.0:
                _unit(table[:, l], balls[b])


@compiled(allocates=False)
def advance_lanes(address, rounds):
    """Make a number of rounds of one step per lane; DONE if all runs have ended, else GO_ON."""
    batch = batch_at(address)
    lanes = each_lane_at(batch.lanes)
    for _ in range(rounds):
        if batch.ended >= batch.runs:
            return DONE
        for l in range(LANES):
            if lanes.mode[l] == IDLE:
                _take_next(batch, l)
        batch.rounds += 1
        _round(batch)
    return GO_ON


def leave(batch: Memory) -> None:
    """Stores the last checked steps of unfinished runs."""
    lanes, n, before = batch.lanes[0], batch.n, find_control(batch.n).before
    for l in np.flatnonzero(lanes["mode"] != IDLE):
        k, checked = lanes["run"][l], lanes["mode"][l] == FRESH
        if lanes["tried"][l] == 0:
            continue
        batch.results["t"][k] = lanes["t" if checked else "t_before"][l]
        batch.results["steps"][k] = lanes["steps"][l]
        batch.end_y[k] = (batch.table if checked else batch.control[before:])[:n, l]
        first = lanes["sample" if checked else "sample_before"][l]
        batch.sample_y[k, first:] = np.nan  # samples of a step that was not checked
