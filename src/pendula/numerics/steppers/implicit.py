"""The compiled loop around implicit steps: step control, and when the Jacobian is found anew.

Step control is that of Hairer & Wanner, *Solving Ordinary Differential Equations II*, section IV.8, with the
constants of SciPy's ``Radau``. Breakpoints, projection and samples are those of
:mod:`pendula.numerics.steppers.explicit`. A module of its own, so that it is compiled only where it is asked for.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.steppers.collocation import (
    BAD,
    DIVERGED,
    FACTORED_H,
    HAS_PAST,
    ITERATED,
    ITERATIONS,
    JACOBIAN,
    NONE,
    OLD,
    PAST_ERROR,
    PAST_H,
    RATE,
    allowed_growth,
    attempt_implicit,
    prepare_polynomial,
)
from pendula.numerics.steppers.explicit import (
    AT_EVENT,
    BAD_EVENT,
    BAD_START,
    BAD_VALUE,
    BUFFER_FULL,
    DONE,
    GO_ON,
    MAX_FACTOR,
    MIN_FACTOR,
    NO_PROJECTION,
    NO_SOLUTION,
    PROJECTION_TRIES,
    SAFETY,
    STEPS_USED_UP,
    TOO_SMALL,
    commit_step,
    finish_step,
    smallest_step,
    start,
    store_samples_here,
    watch_for_events,
)
from pendula.numerics.steppers.runge_kutta import (
    ATTEMPTS,
    ERROR,
    H_ABS,
    NEXT_BREAK,
    NEXT_SAMPLE,
    REJECTED,
    RETRYING,
    STARTED,
    STORED,
    TROUBLE,
    T,
)
from pendula.numerics.steppers.watch import needs_room

SLOW_RATE = 1e-3  # of Newton's iteration: slower, after more than two iterations, asks for a new Jacobian
WORTH_A_CHANGE = 1.2  # growth of the step below which it stays, so that factors can be used again
AFTER_DIVERGENCE = 0.5
LEAST_PAST_ERROR = 1e-2


@compiled_part
def _predicted_factor(run, method, h_abs):
    """Change of the step that the last two error estimates ask for (Gustafsson's predictive control), with safety."""
    error = run.real[ERROR]
    if error == 0.0:
        return MAX_FACTOR
    trend = 1.0
    if method.real[PAST_ERROR] > 0.0:
        trend = min(1.0, h_abs / abs(method.real[PAST_H]) * (method.real[PAST_ERROR] / error) ** 0.25)
    safety = SAFETY * (2 * ITERATIONS + 1) / (2 * ITERATIONS + method.flag[ITERATED])
    return safety * trend * error**-0.25


@compiled_part
def _after_accepted(run, method, h, factor, at_break):
    """Next step size; whether the Jacobian still serves; what the next step can be predicted from."""
    slow = method.flag[ITERATED] > 2 and method.real[RATE] > SLOW_RATE
    method.flag[JACOBIAN] = NONE if slow or at_break else OLD
    factor = min(MAX_FACTOR, factor)
    if run.counter[RETRYING] > 0:
        factor = min(1.0, factor)
    if not slow and 1.0 <= factor < WORTH_A_CHANGE:
        factor = 1.0
    if factor > 1.0:
        factor = allowed_growth(run, method, h, factor)
    run.real[H_ABS] = abs(h) * factor
    method.flag[HAS_PAST] = 0 if at_break else 1
    method.real[PAST_H] = h
    method.real[PAST_ERROR] = 0.0 if at_break else max(LEAST_PAST_ERROR, run.real[ERROR])


@compiled(allocates=False)
def advance_implicit(run, tableau, method, watch, first_step, t_out, y_out, attempts):
    """Like :func:`pendula.numerics.steppers.explicit.advance`, with the implicit ``method``; same codes."""
    real, counter, direction = run.real, run.counter, run.direction
    if attempts > 0 and direction * (real[T] - run.t_end) >= 0.0:
        store_samples_here(run)
        return DONE
    if attempts > 0 and counter[STARTED] == 0 and not start(run, tableau, first_step):
        return BAD_START
    for _ in range(attempts):
        if direction * (real[T] - run.t_end) >= 0.0:
            return DONE
        if counter[STORED] >= t_out.size:
            return BUFFER_FULL
        if watch is not None:  # noqa: SIM102
            if needs_room(watch):
                return BUFFER_FULL
        if counter[ATTEMPTS] >= run.max_attempts:
            return STEPS_USED_UP
        t, h_abs = real[T], real[H_ABS]
        smallest = smallest_step(t, direction)
        if counter[RETRYING] == 0:
            h_abs = max(min(h_abs, run.max_step), smallest)
        elif h_abs < smallest:
            return TOO_SMALL if counter[TROUBLE] == GO_ON else counter[TROUBLE]

        # Step onto the next breakpoint or the end, never across.
        wanted = h_abs
        upcoming = counter[NEXT_BREAK]
        bound = run.breaks[upcoming] if upcoming < run.breaks.size else run.t_end
        t_new = t + h_abs * direction
        at_bound = direction * (t_new - bound) >= 0.0
        if at_bound:
            t_new = bound
        at_break = at_bound and upcoming < run.breaks.size
        latest = t_new - run.nudge * direction if at_break else t_new
        jumps = at_break and t_new != run.t_end
        h = t_new - t

        counter[ATTEMPTS] += 1
        solved = attempt_implicit(run, tableau, method, h, t_new, latest)
        code = BAD_VALUE if solved == BAD else (NO_SOLUTION if solved == DIVERGED else GO_ON)
        factor = _predicted_factor(run, method, abs(h)) if code == GO_ON else AFTER_DIVERGENCE
        within = code == GO_ON and real[ERROR] < 1.0
        sample = counter[NEXT_SAMPLE]
        if within:
            code = BAD_VALUE
            if prepare_polynomial(run, tableau, method, h, latest, run.project != 0 or jumps):
                code = finish_step(run, tableau, t_new, h, latest, jumps)
            if code == GO_ON:  # noqa: SIM102
                if watch is not None:
                    code = watch_for_events(run, tableau, watch, t_new, h)
                    if code == NO_PROJECTION:
                        counter[NEXT_SAMPLE] = sample
        if within and code in (GO_ON, AT_EVENT):
            commit_step(run, tableau, jumps)
            _after_accepted(run, method, h, factor, jumps)
            if at_break:  # the short step onto it says little about the steps after it
                counter[NEXT_BREAK] += 1
                real[H_ABS] = max(real[H_ABS], wanted)
            counter[RETRYING] = 0
            t_out[counter[STORED]] = real[T]
            for k in range(run.y.size):
                y_out[counter[STORED], k] = run.y[k]
            counter[STORED] += 1
            if code == AT_EVENT:
                return AT_EVENT
            continue
        if code == BAD_EVENT:
            return BAD_EVENT

        counter[REJECTED] += 1
        counter[TROUBLE] = code
        if code == NO_PROJECTION and counter[RETRYING] >= PROJECTION_TRIES:
            return NO_PROJECTION
        counter[RETRYING] += 1
        method.real[FACTORED_H] = 0.0
        if code in (BAD_VALUE, NO_PROJECTION):
            factor = MIN_FACTOR
        real[H_ABS] = abs(h) * min(max(MIN_FACTOR, factor), SAFETY)
    return GO_ON
