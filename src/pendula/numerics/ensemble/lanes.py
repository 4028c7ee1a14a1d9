"""Lanes of a batch, compiled: how a run enters and leaves a lane, its first step, its energies."""

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at
from pendula.numerics.ensemble.batch import LANE_FIELDS, all_lanes_at, each_lane_at, results_at
from pendula.numerics.scalars.eight import BYTES, LANES, any_lane, choose, eights_at, lane, with_lane
from pendula.numerics.steppers.run import AT_EVENT, BAD_START, DONE, GO_ON

SPACING = 2.220446049250313e-15  # ten times the relative spacing of floating-point numbers
TINY = 1e-300
HALVINGS = 400  # trial points, each closer to the start
FIELDS = len(LANE_FIELDS)


@compiled_part(forceinline=True)
def call(batch, state, into):
    """Derivatives of the states in a row, at the times in its first entry, into another row."""
    width = (batch.n + 1) * BYTES
    call_native(batch.rhs, batch.rows + into * width + BYTES, batch.rows + state * width, batch.rhs_context)


@compiled_part(forceinline=True)
def finite(batch, index):
    """Lanes in which a row is finite: infinity or NaN times zero is NaN."""
    n = batch.n
    values = eights_at(batch.rows + index * (n + 1) * BYTES, n + 1)
    total = values[1] * 0.0
    for k in range(1, n):
        total += values[k + 1] * 0.0
    return total == 0.0


@compiled_part(forceinline=True)
def smallest_step(t):
    """The shortest step that still changes t well beyond rounding."""
    return SPACING * abs(t) + TINY


@compiled_part
def set_bound(batch, l):
    """The time that the step of a lane must not exceed: its next breakpoint or the final time."""
    lanes = each_lane_at(batch.lanes)
    row = lanes.run[l] if batch.breaks_rows > 1 else 0
    at = doubles_at(batch.breaks, (row + 1, batch.breaks_each))[row, lanes.next_break[l]]
    lanes.bound[l] = min(at, batch.t_end)
    lanes.on_break[l] = 1.0 if at <= batch.t_end else 0.0


@compiled_part
def _enter(batch, l, run):
    """Put a run into a lane, still without derivative and step size."""
    lanes, n, width = each_lane_at(batch.lanes), batch.n, batch.columns_of_data
    y, absolute = doubles_at(batch.y, (n, LANES)), doubles_at(batch.absolute, (n, LANES))
    start, atol = doubles_at(batch.start, (batch.runs, n)), doubles_at(batch.atol, (batch.atol_rows, n))
    row = run if batch.atol_rows > 1 else 0
    for k in range(n):
        y[k, l] = start[run, k]
        absolute[k, l] = atol[row, k]
    column, data = doubles_at(batch.column, (width, LANES)), doubles_at(batch.data, (batch.data_rows, width))
    row = run if batch.data_rows > 1 else 0
    for k in range(width):
        column[k, l] = data[row, k]
    all_of_lane = doubles_at(batch.lanes, (FIELDS, LANES))
    for k in range(FIELDS):
        all_of_lane[k, l] = 0.0
    lanes.run[l], lanes.next_sample[l], lanes.next_break[l] = run, 0, 0
    lanes.active[l] = 1.0
    lanes.t[l] = lanes.earliest[l] = batch.t0
    row = run if batch.breaks_rows > 1 else 0
    if doubles_at(batch.breaks, (row + 1, batch.breaks_each))[row, 0] == batch.t0:
        lanes.next_break[l] = 1
        lanes.earliest[l] = batch.t0 + batch.nudge
    set_bound(batch, l)
    lanes.most_potential[l], lanes.least_potential[l] = -np.inf, np.inf
    lanes.shortest[l] = np.inf
    results_at(batch.results, batch.runs)[run].code = GO_ON


@compiled_part
def leave(batch, l):
    """Store the result of the run in a lane, with ``batch.code``; unless it is GO_ON, the lane becomes idle."""
    lanes, n = each_lane_at(batch.lanes), batch.n
    run = lanes.run[l]
    y, end = doubles_at(batch.y, (n, LANES)), doubles_at(batch.end_y, (batch.runs, n))
    for k in range(n):
        end[run, k] = y[k, l]
    result = results_at(batch.results, batch.runs)[run]
    result.code, result.accepted, result.rejected = batch.code, int(lanes.accepted[l]), int(lanes.rejected[l])
    result.t, result.energy_error, result.kinetic = lanes.t[l], lanes.energy_error[l], lanes.most_kinetic[l]
    result.potential_high, result.potential_low = lanes.most_potential[l], lanes.least_potential[l]
    result.shortest, result.longest, result.where = lanes.shortest[l], lanes.longest[l], lanes.where[l]
    if batch.code != GO_ON:
        lanes.run[l] = -1
        lanes.active[l] = lanes.on_break[l] = 0.0
        lanes.bound[l], lanes.sample_at[l] = lanes.t[l], np.inf
        batch.ended += 1
        batch.idle += 1
        if batch.clear == 1:
            column = doubles_at(batch.column, (batch.columns_of_data, LANES))
            for k in range(batch.columns_of_data):
                column[k, l] = 0.0


@compiled_part
def store_samples_here(batch, l):
    """Write the samples that fall on the current time of a lane."""
    lanes, n = each_lane_at(batch.lanes), batch.n
    times, y = doubles_at(batch.sample_t, batch.samples), doubles_at(batch.y, (n, LANES))
    sample = lanes.next_sample[l]
    while sample < batch.samples and times[sample] <= lanes.t[l]:
        out = doubles_at(batch.sample_y + 8 * n * (lanes.run[l] * batch.samples + sample), n)
        for k in range(n):
            out[k] = y[k, l]
        sample += 1
    expect_sample(batch, l, sample)


@compiled_part
def expect_sample(batch, l, sample):
    """Sets the next sample of a lane."""
    lanes, times = each_lane_at(batch.lanes), doubles_at(batch.sample_t, batch.samples)
    lanes.next_sample[l] = sample
    lanes.sample_at[l] = times[sample] if sample < batch.samples else np.inf


@compiled_part
def _first_steps(batch):
    """First derivative and step size (Hairer, Norsett & Wanner, II.4) of the lanes that ``entered`` marks.

    Lanes whose derivative is not finite get ``accept`` 0, all others 1.
    """
    lanes, n, m, stages = all_lanes_at(batch.lanes), batch.n, batch.controlled, batch.stages
    rows, y = eights_at(batch.rows, (batch.late + 1, n + 1)), eights_at(batch.y, n)
    absolute, new = eights_at(batch.absolute, n), eights_at(batch.entered, 1)[0] > 0.0
    t = lanes.t
    for k in range(n):
        rows[batch.stage, k + 1] = y[k]
    rows[batch.stage, 0] = lanes.earliest
    call(batch, batch.stage, batch.fresh)
    for k in range(n):
        rows[0, k + 1] = choose(new, rows[batch.fresh, k + 1], rows[0, k + 1])
    fine = finite(batch, batch.fresh)
    lanes.accept = choose(fine, 1.0, choose(new, 0.0, 1.0))
    lanes.last_error = choose(new, 1.0, lanes.last_error)
    d0 = d1 = t * 0.0
    for k in range(m):
        scale = 1.0 / (absolute[k] + batch.rtol * abs(y[k]))
        a, b = y[k] * scale, rows[0, k + 1] * scale
        d0 += a * a
        d1 += b * b
    d0, d1 = np.sqrt(d0 / m), np.sqrt(d1 / m)
    span = batch.t_end - t
    smallest = smallest_step(t)
    h0 = choose((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    h0 = max(min(h0, span), smallest)
    for _ in range(HALVINGS):  # a trial point where the derivative is not finite is too far
        rows[batch.stage, 0] = t + h0
        for k in range(n):
            rows[batch.stage, k + 1] = y[k] + h0 * rows[0, k + 1]
        call(batch, batch.stage, stages)
        far = new & fine & ~finite(batch, stages) & (h0 > smallest)
        if not any_lane(far):
            break
        h0 = choose(far, max(0.1 * h0, smallest), h0)
    d2 = t * 0.0
    for k in range(m):
        b = (rows[stages, k + 1] - rows[0, k + 1]) / (absolute[k] + batch.rtol * abs(y[k]))
        d2 += b * b
    d2 = np.sqrt(d2 / m) / h0
    steepest = max(d1, d2)
    h1 = max(h0 * 1e-3, 1e-6)
    for l in range(LANES):
        if lane(steepest, l) > 1e-15:
            h1 = with_lane(h1, l, (0.01 / lane(steepest, l)) ** (1.0 / (batch.error_order + 1)))
    h = max(min(min(100.0 * h0, h1), min(span, batch.max_step)), smallest)
    lanes.h = choose(new, choose(finite(batch, stages), h, smallest), lanes.h)


@compiled_part
def fill(batch):
    """Put waiting runs into idle lanes."""
    lanes, entered = each_lane_at(batch.lanes), doubles_at(batch.entered, LANES)
    for l in range(LANES):
        entered[l] = 0.0
        if lanes.run[l] < 0 and batch.next_run < batch.runs:
            _enter(batch, l, batch.next_run)
            batch.next_run += 1
            batch.idle -= 1
            entered[l] = 1.0
            store_samples_here(batch, l)
    _first_steps(batch)
    follow_energy(batch, eights_at(batch.entered, 1)[0] > 0.0, True)
    for l in range(LANES):
        if entered[l] == 1.0 and lanes.t[l] >= batch.t_end:
            batch.code = DONE
            leave(batch, l)
        elif entered[l] == 1.0 and lanes.accept[l] == 0.0:
            lanes.where[l] = batch.t0
            batch.code = BAD_START
            leave(batch, l)
        elif entered[l] == 1.0 and batch.bounds != 0 and _starts_outside(batch, l):
            batch.code = AT_EVENT
            leave(batch, l)


@compiled_part
def _starts_outside(batch, l):
    """Whether the state of a lane is outside of its bounds."""
    n = batch.n
    y, bounds = doubles_at(batch.y, (n, LANES)), doubles_at(batch.bounds, (2, n))
    found = False
    for k in range(n):
        if y[k, l] < bounds[0, k] or y[k, l] > bounds[1, k]:
            found = True
    return found


@compiled_part
def follow_energy(batch, some, first):
    """Energies at the current states of some lanes, compared to those at the start and the work done since.

    The states are those in row ``new``, unless the runs have just begun.
    """
    if batch.measure == 0:
        return
    lanes, n, y, energy = all_lanes_at(batch.lanes), batch.n, eights_at(batch.y, batch.n), eights_at(batch.energy, 2)
    at = batch.rows + (batch.stage if first else batch.new) * (n + 1) * BYTES
    state = eights_at(at, n + 1)
    state[0] = lanes.t
    if first:
        for k in range(n):
            state[k + 1] = y[k]
    call_native(batch.measure, batch.energy, at, batch.measure_context)
    kinetic, potential = energy[0], energy[1]
    total = kinetic + potential
    if first:
        lanes.start_energy = choose(some, total, lanes.start_energy)
    off = total - lanes.start_energy
    if batch.work >= 0:
        off = off - y[batch.work]
    off = abs(off)
    # a NaN stays: no comparison with it holds
    lanes.energy_error = choose(some & ~(off <= lanes.energy_error), off, lanes.energy_error)
    lanes.most_kinetic = choose(some & (kinetic > lanes.most_kinetic), kinetic, lanes.most_kinetic)
    lanes.most_potential = choose(some & (potential > lanes.most_potential), potential, lanes.most_potential)
    lanes.least_potential = choose(some & (potential < lanes.least_potential), potential, lanes.least_potential)
