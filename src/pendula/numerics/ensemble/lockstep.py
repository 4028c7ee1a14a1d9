"""Many integrations of one system, eight at a time, compiled.

Every lane has its own time, step size and error control, as :mod:`pendula.numerics.steppers.loop` for one run;
a lane whose run has ended takes the next one. The result of a run depends only on the run: not on its lane, its
neighbours, or their number. The records of :mod:`pendula.numerics.ensemble.batch` hold all data that persists between
calls of :func:`advance`.
"""

import numpy as np

from pendula.numerics.compiled.jit import CompiledCallback, compiled, compiled_callback, compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at, integers_at
from pendula.numerics.ensemble.batch import all_lanes_at, batch_at, each_lane_at
from pendula.numerics.ensemble.bounds import watch_bounds
from pendula.numerics.ensemble.lanes import (
    call,
    expect_sample,
    fill,
    finite,
    follow_energy,
    leave,
    set_bound,
    smallest_step,
    store_samples_here,
)
from pendula.numerics.ensemble.rows import prepare_dense, sum_row_quickly
from pendula.numerics.scalars.eight import BYTES, LANES, any_lane, choose, eights_at, lane, with_lane
from pendula.numerics.steppers.control import LEAST_ERROR, MAX_FACTOR, MIN_FACTOR
from pendula.numerics.steppers.loop import PROJECTION_TRIES
from pendula.numerics.steppers.run import AT_EVENT, BAD_VALUE, DONE, GO_ON, NO_PROJECTION, STEPS_USED_UP, TOO_SMALL

EIGHTHS = 7  # ``error_order`` for which the step factor needs only square roots


@compiled_part
def _give_up(batch):
    """End the runs that have used up their steps or whose steps have become too small."""
    lanes = each_lane_at(batch.lanes)
    for l in range(LANES):
        if lanes.active[l] == 0.0:
            continue
        if lanes.accepted[l] + lanes.rejected[l] >= batch.max_attempts:
            batch.code = STEPS_USED_UP
            leave(batch, l)
        elif lanes.retry[l] > 0.0 and lanes.h[l] < smallest_step(lanes.t[l]):
            batch.code = TOO_SMALL if lanes.trouble[l] == 0.0 else int(lanes.trouble[l])
            leave(batch, l)


@compiled_part
def _plan(batch):
    """Step size that each lane tries, not beyond the next breakpoint or the final time. Some runs end here."""
    lanes = all_lanes_at(batch.lanes)
    t, h, retry, smallest = lanes.t, lanes.h, lanes.retry > 0.0, smallest_step(lanes.t)
    used_up = lanes.accepted + lanes.rejected >= batch.max_attempts
    if any_lane((lanes.active > 0.0) & (used_up | (retry & (h < smallest)))):
        _give_up(batch)
    h = choose(retry, h, max(min(h, batch.max_step), smallest))
    bound, t_new = lanes.bound, t + h
    cut = t_new >= bound
    t_new = choose(cut, bound, t_new)
    lanes.cut = choose(cut, 1.0, 0.0)
    lanes.t_new = t_new
    lanes.latest = choose(cut & (lanes.on_break > 0.0), bound - batch.nudge, t_new)
    lanes.step = t_new - t


@compiled_part
def _stages(batch):
    """All stages of the step, and the new state."""
    lanes, stage, new, last, n = all_lanes_at(batch.lanes), batch.stage, batch.new, batch.stages, batch.n
    t, h, earliest, latest = lanes.t, lanes.step, lanes.earliest, lanes.latest
    rhs, context, width, rows = batch.rhs, batch.rhs_context, (n + 1) * BYTES, batch.rows
    nodes, y = doubles_at(batch.nodes, last + 1), batch.y
    for s in range(1, last + 1):
        into = stage if s < last else new
        sum_row_quickly(batch, into, y, h, s, n)
        at = max(min(t + nodes[s] * h, latest), earliest)
        eights_at(rows + into * width, 1)[0] = at if s < last else latest
        call_native(rhs, rows + s * width + BYTES, rows + into * width, context)


@compiled_part(forceinline=True)
def _step_factor(size, last, batch):
    """``control.step_factor`` for eight lanes, by square roots if the exponents are multiples of 1/8."""
    if batch.error_order == EIGHTHS:
        return batch.safety * _eighth_root(_eighth_root(size * last) / size)
    power, factor = 1.0 / (batch.error_order + 1), size
    for l in range(LANES):
        e = lane(size, l)
        factor = with_lane(factor, l, batch.safety * e**-power * (e * lane(last, l)) ** (batch.memory * power))
    return factor


@compiled_part(forceinline=True)
def _eighth_root(x):
    return np.sqrt(np.sqrt(np.sqrt(x)))


@compiled_part
def _judge(batch):
    """Error of the step in every lane, whether it is accepted, and the factor for the next step size."""
    lanes, n, m, e, width = all_lanes_at(batch.lanes), batch.n, batch.controlled, batch.error_row, (batch.n + 1) * BYTES
    for k in range(2):
        sum_row_quickly(batch, batch.scratch + k, batch.zero, lanes.t * 0.0 + 1.0, e + k, m)
    y, absolute, new = (
        eights_at(batch.y, n),
        eights_at(batch.absolute, n),
        eights_at(batch.rows + batch.new * width, n + 1),
    )
    estimate = eights_at(batch.rows + batch.scratch * width, n + 1)
    other = eights_at(batch.rows + (batch.scratch + 1) * width, n + 1)
    first = second = lanes.t * 0.0
    for k in range(m):
        scale = 1.0 / (absolute[k] + batch.rtol * max(abs(y[k]), abs(new[k + 1])))
        a, b = estimate[k + 1] * scale, other[k + 1] * scale
        first += a * a
        second += b * b
    error = choose(first == 0.0, 0.0, lanes.step * first / np.sqrt((first + 0.01 * second) * m))
    fine = np.isfinite(error) & finite(batch, batch.new) & finite(batch, batch.stages)
    accept = fine & (error < 1.0)
    size = max(error, 1e-30)
    factor = _step_factor(size, lanes.last_error, batch)
    longest = choose(lanes.retry > 0.0, 1.0, MAX_FACTOR)
    shrunk = choose(fine, max(factor, MIN_FACTOR), MIN_FACTOR)
    lanes.factor = choose(accept, min(factor, longest), shrunk)
    lanes.last_error = choose(accept, max(size, LEAST_ERROR), lanes.last_error)
    lanes.fine = choose(fine, 1.0, 0.0)
    lanes.accept = choose(accept, 1.0, 0.0)
    lanes.after = lanes.t_new
    lanes.refused = 0.0


@compiled_part
def _refuse(batch, l, code):
    """Reject the step of a lane after all."""
    lanes = each_lane_at(batch.lanes)
    lanes.accept[l] = 0.0
    lanes.factor[l] = MIN_FACTOR
    lanes.refused[l] = code


@compiled_part
def _project(batch, index, l):
    """Project the state of one lane in a row onto the constraints, in place; False if that fails."""
    n = batch.n
    row = doubles_at(batch.rows + index * (n + 1) * BYTES, (n + 1, LANES))
    given, onto = doubles_at(batch.given, n + 1), doubles_at(batch.onto, n + 3)
    for k in range(n + 1):
        given[k] = row[k, l]
    onto[n + 2] = 1.0
    call_native(batch.project, batch.onto, batch.given, integers_at(batch.contexts, LANES)[l])
    for k in range(n + 2):
        if not np.isfinite(onto[k]):
            onto[n + 2] = 1.0
    if onto[n + 2] != 0.0:
        return False
    for k in range(n):
        row[k + 1, l] = onto[k]
    return True


@compiled_part
def _sample_due(batch, l):
    """Whether the next sample of a lane (its index is in ``ahead``) lies strictly inside its step."""
    lanes, sample = each_lane_at(batch.lanes), integers_at(batch.ahead, LANES)[l]
    if lanes.active[l] == 0.0 or lanes.accept[l] == 0.0 or sample >= batch.samples:
        return False
    return doubles_at(batch.sample_t, batch.samples)[sample] < lanes.t_new[l]


@compiled_part
def _some_sample_due(batch):
    found = False
    for l in range(LANES):
        if _sample_due(batch, l):
            found = True
    return found


@compiled_part
def _interpolate(batch):
    """States at the fractions of the steps in ``fraction``, into row ``stage``; 1 in lanes where finite, else 0."""
    n, x = batch.n, eights_at(batch.fraction, 1)[0]
    rows, y = eights_at(batch.rows, (batch.late + 1, n + 1)), eights_at(batch.y, n)
    for j in range(1, n + 1):
        value = x * 0.0
        for d in range(2 + batch.dense_rows, -1, -1):
            value = (value + rows[batch.dense + d, j]) * (x if d % 2 == 0 else 1.0 - x)
        rows[batch.stage, j] = y[j - 1] + value
    return choose(finite(batch, batch.stage), 1.0, x * 0.0)


@compiled_part
def _store_samples_inside(batch):
    """Write the samples inside the steps of all lanes; rejects the steps for which that fails."""
    lanes, n = each_lane_at(batch.lanes), batch.n
    ahead, fraction = integers_at(batch.ahead, LANES), doubles_at(batch.fraction, LANES)
    times, stage = (
        doubles_at(batch.sample_t, batch.samples),
        doubles_at(batch.rows + batch.stage * (n + 1) * BYTES, (n + 1, LANES)),
    )
    for l in range(LANES):
        ahead[l] = lanes.next_sample[l]
    if not _some_sample_due(batch):
        return
    prepare_dense(batch)
    while _some_sample_due(batch):
        for l in range(LANES):
            fraction[l] = (times[ahead[l]] - lanes.t[l]) / lanes.step[l] if _sample_due(batch, l) else 0.0
        sound = _interpolate(batch)
        for l in range(LANES):
            if not _sample_due(batch, l):
                continue
            stage[0, l] = times[ahead[l]]
            if lane(sound, l) == 0.0:
                _refuse(batch, l, BAD_VALUE)
                continue
            if batch.project != 0 and not _project(batch, batch.stage, l):
                _refuse(batch, l, NO_PROJECTION)
                continue
            out = doubles_at(batch.sample_y + 8 * n * (lanes.run[l] * batch.samples + ahead[l]), n)
            for k in range(n):
                out[k] = stage[k + 1, l]
            ahead[l] += 1


@compiled_part
def _on_break(batch, l):
    """Whether the step of a lane ends at a breakpoint after which the run continues."""
    lanes = each_lane_at(batch.lanes)
    return lanes.cut[l] == 1.0 and lanes.on_break[l] == 1.0 and lanes.t_new[l] < batch.t_end


@compiled_part
def _corrected(batch):
    """Project the new states, and evaluate derivatives again after that and after breakpoints.

    Row ``fresh`` then holds the first derivative of the next step.
    """
    lanes, n, some, width = each_lane_at(batch.lanes), batch.n, batch.project != 0, (batch.n + 1) * BYTES
    rows = eights_at(batch.rows, (batch.late + 1, n + 1))
    new = doubles_at(batch.rows + batch.new * width, (n + 1, LANES))
    for k in range(n):
        rows[batch.fresh, k + 1] = rows[batch.stages, k + 1]
    for l in range(LANES):
        if lanes.active[l] == 0.0 or lanes.accept[l] == 0.0:
            continue
        if _on_break(batch, l):
            lanes.after[l] += batch.nudge
            some = True
        new[0, l] = lanes.t_new[l]
        if batch.project != 0 and not _project(batch, batch.new, l):
            _refuse(batch, l, NO_PROJECTION)
    if not some:
        return
    rows[batch.new, 0] = all_lanes_at(batch.lanes).after
    call(batch, batch.new, batch.scratch)
    fine = choose(finite(batch, batch.scratch), 1.0, all_lanes_at(batch.lanes).t * 0.0)
    fresh = doubles_at(batch.rows + batch.fresh * width, (n + 1, LANES))
    scratch = doubles_at(batch.rows + batch.scratch * width, (n + 1, LANES))
    for l in range(LANES):
        if lanes.active[l] == 0.0 or lanes.accept[l] == 0.0:
            continue
        if batch.project == 0 and not _on_break(batch, l):
            continue
        if lane(fine, l) == 0.0:
            _refuse(batch, l, BAD_VALUE)
        for k in range(n):
            fresh[k + 1, l] = scratch[k + 1, l]


@compiled_part
def _commit(batch, derivative):
    """Accepted lanes advance to their new states."""
    lanes, n, width = all_lanes_at(batch.lanes), batch.n, (batch.n + 1) * BYTES
    y, first, new = (
        eights_at(batch.y, n),
        eights_at(batch.rows, n + 1),
        eights_at(batch.rows + batch.new * width, n + 1),
    )
    slope = eights_at(batch.rows + derivative * width, n + 1)
    accept = lanes.accept > 0.0
    for k in range(n):
        y[k] = choose(accept, new[k + 1], y[k])
        first[k + 1] = choose(accept, slope[k + 1], first[k + 1])
    lanes.t = choose(accept, lanes.t_new, lanes.t)
    lanes.earliest = choose(accept, lanes.after, lanes.earliest)
    follow_energy(batch, accept, False)


@compiled_part
def _settle_special(batch):
    """Handle lanes whose step ended at a breakpoint, a sample or the final time, or failed."""
    lanes = each_lane_at(batch.lanes)
    for l in range(LANES):
        if lanes.active[l] == 0.0:
            continue
        if lanes.accept[l] == 0.0:
            if lanes.trouble[l] > 0.0:
                lanes.where[l] = lanes.t_new[l]
            if lanes.trouble[l] == NO_PROJECTION and lanes.retry[l] > PROJECTION_TRIES:
                batch.code = NO_PROJECTION
                leave(batch, l)
            continue
        if lanes.cut[l] == 1.0 and lanes.on_break[l] == 1.0:
            lanes.next_break[l] += 1
            set_bound(batch, l)
        store_samples_here(batch, l)
        if lanes.leaving[l] == 1.0 and lanes.t[l] >= lanes.bound[l]:
            batch.code = AT_EVENT
            leave(batch, l)
        elif lanes.t[l] >= batch.t_end:
            batch.code = DONE
            leave(batch, l)


@compiled_part
def _settle(batch):
    """Update counts and next step sizes, and end the runs that have reached the final time."""
    lanes = all_lanes_at(batch.lanes)
    accept, cut, h = lanes.accept > 0.0, lanes.cut > 0.0, lanes.step
    usual = accept & ~cut
    lanes.accepted = lanes.accepted + lanes.accept
    lanes.rejected = lanes.rejected + (1.0 - lanes.accept)
    lanes.retry = choose(accept, 0.0, lanes.retry + 1.0)
    trouble = choose(accept, 0.0, choose(lanes.fine > 0.0, lanes.refused, 1.0 * BAD_VALUE))
    lanes.trouble = trouble
    lanes.shortest = choose(usual, min(lanes.shortest, h), lanes.shortest)
    lanes.longest = choose(usual, max(lanes.longest, h), lanes.longest)
    onward = h * lanes.factor
    # a step shortened by a breakpoint says little about the steps after it
    lanes.h = choose(accept & cut & (lanes.on_break > 0.0), max(onward, min(lanes.h, batch.max_step)), onward)
    if any_lane((accept & (cut | (lanes.sample_at <= lanes.t))) | (trouble > 0.0)):
        _settle_special(batch)


@compiled_part
def _keep_samples(batch):
    """Count the samples inside accepted steps."""
    lanes, ahead = each_lane_at(batch.lanes), integers_at(batch.ahead, LANES)
    for l in range(LANES):
        if lanes.accept[l] == 1.0:
            expect_sample(batch, l, ahead[l])


@compiled_callback(allocates=False)
def _fill(out, inp, context):
    """Put waiting runs into idle lanes."""
    fill(batch_at(context))


@compiled_callback(allocates=False)
def _watch(out, inp, context):
    """Find when lanes leave their bounds."""
    watch_bounds(batch_at(context))


@compiled_callback(allocates=False)
def _store(out, inp, context):
    """Write the samples inside the steps of all lanes."""
    _store_samples_inside(batch_at(context))


@compiled_callback(allocates=False)
def _correct(out, inp, context):
    """Project the new states; evaluate derivatives again."""
    _corrected(batch_at(context))


def helpers(samples: bool, bounds: bool, corrected: bool) -> dict[str, int]:
    """Addresses of the functions that :func:`advance` calls by their names in the batch; 0 for those not needed.

    They are compiled separately from the loop: while another process compiles that, and rare ones only if needed.

    Args:
        samples: there are samples.
        bounds: runs end at bounds.
        corrected: states are projected, or there are breakpoints.
    """
    wanted: dict[str, tuple[CompiledCallback, bool]] = {
        "fill": (_fill, True), "store": (_store, samples), "watch": (_watch, bounds), "correct": (_correct, corrected)
    }  # fmt: skip
    return {name: function.address if needed else 0 for name, (function, needed) in wanted.items()}


@compiled(allocates=False)
def advance(address, passes):
    """Take a number of steps in all lanes; True if all runs have ended."""
    if passes == 0:
        return False
    batch = batch_at(address)
    derivative = batch.fresh if batch.correct != 0 else batch.stages
    for _ in range(passes):
        if batch.ended == batch.runs:
            return True
        while batch.idle > 0 and batch.next_run < batch.runs:
            call_native(batch.fill, 0, 0, address)
        _plan(batch)
        _stages(batch)
        _judge(batch)
        batch.passes += 1
        if batch.watch != 0:
            call_native(batch.watch, 0, 0, address)
        lanes = all_lanes_at(batch.lanes)
        sampled = any_lane((lanes.active * lanes.accept > 0.0) & (lanes.sample_at < lanes.t_new))
        if sampled:
            call_native(batch.store, 0, 0, address)
        if batch.correct != 0:
            call_native(batch.correct, 0, 0, address)
        if sampled:
            _keep_samples(batch)
        _commit(batch, derivative)
        _settle(batch)
    return batch.ended == batch.runs


@compiled(allocates=False)
def write_down(address):
    """Store the current states of unfinished runs, if a batch is stopped early; nothing at address 0."""
    if address == 0:
        return
    batch = batch_at(address)
    for l in range(LANES):
        if each_lane_at(batch.lanes).run[l] >= 0:
            batch.code = GO_ON
            leave(batch, l)
