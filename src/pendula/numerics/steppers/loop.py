"""The compiled step loop that all steppers share: step-size control, breakpoints, projection, samples, events.

It calls a stepper's attempt by address, so it is compiled once for all steppers and all models.
"""

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at
from pendula.numerics.steppers.control import (
    LEAST_ERROR,
    MIN_FACTOR,
    STIFF_EVERY,
    choose_first_step,
    plan_step,
    smallest_step,
    watch_stiffness,
)
from pendula.numerics.steppers.dense import interpolate, prepare_dense, store_samples_here, store_samples_inside
from pendula.numerics.steppers.equations import copy_state, evaluate, is_finite, project_row
from pendula.numerics.steppers.run import (
    AT_EVENT,
    BAD_EVENT,
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

LOOKS_EACH = 16  # steps sampled inside before the distance between them doubles
ASIDE = 0.28  # distance of the outer points inside a step from its middle
PROJECTION_TRIES = 8  # successively shorter steps that are tried before a projection counts as failed


@compiled_part
def _start(run):
    """First derivative, step size and samples at the start; False if the derivative is not finite."""
    copy_state(run, run.new)
    store_samples_here(run)
    if not evaluate(run, run.new, run.earliest, run.fresh):
        return False
    run.h_abs = run.first_step if run.first_step > 0.0 else choose_first_step(run)
    first, fresh = row(run, 0), row(run, run.fresh)
    for k in range(1, run.n + 1):
        first[k] = fresh[k]
    run.started = 1
    return True


@compiled_part
def _look_inside(run, address, prepared):
    """Stores states inside the step, by dense output, if they are finite.

    Errors of dense output are largest near the middle of a step and near two points to its left and right: for dop853
    in the middle and to the right. If dense output takes no evaluations, every step is sampled, at one of the three
    points in turn.
    """
    if not prepared and not prepare_dense(run, address):
        return
    first, last = (1, 3) if run.extra_stages > 0 else (run.stored % 3, run.stored % 3 + 1)
    for which in range(first, last):
        x = 0.5 + ASIDE * (which - 1)
        t = run.t + x * run.h
        interpolate(run, t, x)
        if not is_finite(run, run.stage, t) or (run.project != 0 and not project_row(run, run.stage)):
            return
        k, at = run.inside, row(run, run.stage)
        doubles_at(run.inside_t + 8 * k, 1)[0] = t
        out = doubles_at(run.inside_y + 8 * run.n * k, run.n)
        for j in range(run.n):
            out[j] = at[j + 1]
        run.inside = k + 1


@compiled_part
def _plan_look(run):
    """After a step that was sampled inside: chooses the next one."""
    run.inside_left -= 1
    if run.inside_left <= 0 and run.inside_gap < run.inside_every:
        run.inside_gap *= 2
        run.inside_left = LOOKS_EACH
    run.inside_next = run.stored + run.inside_gap


@compiled_part
def _finish_step(run, address):
    """Samples, projection and next first derivative of a step within tolerance, then its events.

    After any code except GO_ON and AT_EVENT the run is where it was before the step.
    """
    n, new, sample, inside = run.n, row(run, run.new), run.next_sample, run.inside
    if run.watch != 0 and not prepare_dense(run, address):
        return BAD_VALUE
    code = store_samples_inside(run, address, run.watch != 0)
    if code != GO_ON:
        return code
    if run.inside_every > 0 and run.stored >= run.inside_next:
        _look_inside(run, address, run.watch != 0 or run.next_sample > sample)
    new[0] = run.t_new
    if run.project != 0 and not project_row(run, run.new):
        run.next_sample, run.inside = sample, inside
        return NO_PROJECTION
    if run.project != 0 or run.jumps == 1:
        after = run.t_new + run.nudge * run.direction if run.jumps == 1 else run.t_new
        if not evaluate(run, run.new, after, run.fresh):
            run.next_sample, run.inside = sample, inside
            return BAD_VALUE
        new[0] = run.t_new
    if run.project != 0:
        onto = doubles_at(run.onto, n + 2)
        run.drift = max(run.drift, onto[n])
        run.violation = max(run.violation, onto[n + 1])
    if run.watch != 0:
        call_native(run.watch, 0, 0, address)
        if run.code == NO_PROJECTION:
            run.next_sample, run.inside = sample, inside
        return run.code
    return GO_ON


@compiled_part
def _commit_step(run):
    """Store the finished step; the next one starts from its time, state and derivative."""
    derivative = row(run, run.fresh if run.project != 0 or run.jumps == 1 else run.stages)
    y, first, new = doubles_at(run.y, run.n), row(run, 0), row(run, run.new)
    out = doubles_at(run.y_out + 8 * run.n * run.stored, run.n)
    for k in range(run.n):
        y[k] = out[k] = new[k + 1]
        first[k + 1] = derivative[k + 1]
    run.t = doubles_at(run.t_out + 8 * run.stored, 1)[0] = new[0]
    run.earliest = run.t + run.nudge * run.direction if run.jumps == 1 else run.t
    store_samples_here(run)


@compiled_part
def _accept(run, at_break, address):
    """Next step size after an accepted step, and bookkeeping."""
    run.h_abs = abs(run.h) * (min(1.0, run.factor) if run.retrying > 0 else run.factor)
    if run.settle != 0:
        run.code = GO_ON
        call_native(run.settle, 0, 0, address)
    run.last_error = max(run.error, LEAST_ERROR)
    if at_break:  # a step shortened by a breakpoint says little about the steps after it
        run.next_break += 1
        run.h_abs = max(run.h_abs, run.wanted)
    run.retrying = 0
    if run.stored % STIFF_EVERY == 0 and not at_break and run.stable_to > 0.0:
        watch_stiffness(run)
    if run.inside_every > 0 and run.stored >= run.inside_next:
        _plan_look(run)
    run.stored += 1


@compiled_part
def _reject(run, code, address):
    """Next step size after a rejected step; any code except GO_ON ends the run."""
    run.rejected += 1
    run.trouble = code
    if run.fixed == 1 or (code == NO_PROJECTION and run.retrying >= PROJECTION_TRIES):
        return code
    run.retrying += 1
    if code in (BAD_VALUE, NO_PROJECTION):
        run.factor = MIN_FACTOR
    if run.settle != 0:
        run.code = BAD_VALUE
        call_native(run.settle, 0, 0, address)
    run.h_abs = abs(run.h) * max(MIN_FACTOR, run.factor)
    return GO_ON


@compiled_part
def _step(run, address):
    """One attempt at a step; GO_ON, or how the run ends."""
    smallest = smallest_step(run.t, run.direction)
    if run.retrying == 0 or run.fixed == 1:
        run.h_abs = max(min(run.h_abs, run.max_step), smallest)
    elif run.h_abs < smallest:
        return TOO_SMALL if run.trouble == GO_ON else run.trouble
    at_break = plan_step(run)
    run.attempts += 1
    call_native(run.attempt, 0, 0, address)
    code = run.code
    within = code == GO_ON and run.error < 1.0
    if within:
        code = _finish_step(run, address)
    if within and code in (GO_ON, AT_EVENT):
        _commit_step(run)
        _accept(run, at_break, address)
        return code
    if code == BAD_EVENT:
        return code
    return _reject(run, code, address)


@compiled(allocates=False)
def advance(address, attempts):
    """Make at most ``attempts`` step attempts and store accepted steps; returns a code.

    Steps are stored from ``stored`` on; BUFFER_FULL requests larger buffers, also for events (``watched``).
    """
    run = run_at(address)
    if attempts > 0 and run.direction * (run.t - run.t_end) >= 0.0:
        store_samples_here(run)
        return DONE
    if attempts > 0 and run.started == 0 and not _start(run):
        return BAD_START
    for _ in range(attempts):
        if run.direction * (run.t - run.t_end) >= 0.0:
            return DONE
        if run.stored >= run.capacity or run.events >= run.events_capacity:
            return BUFFER_FULL
        if run.attempts >= run.max_attempts:
            return STEPS_USED_UP
        code = _step(run, address)
        if code != GO_ON:
            return code
    return GO_ON
