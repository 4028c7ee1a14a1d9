"""The compiled loop around Runge-Kutta steps: step control, breakpoints, projection, samples.

Step control is that of Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, section
II.4, with a little memory of the step before (:func:`step_factor`). Without it and with a safety of 0.9 steps are
those of SciPy's ``solve_ivp`` one to one, which tests compare. All that must survive
between calls is in the arrays of :class:`~pendula.numerics.steppers.runge_kutta.Run`: :func:`advance` can stop after
any number of attempts and go on later.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.steppers.runge_kutta import (
    ATTEMPTS,
    DRIFT,
    EARLIEST,
    ERROR,
    H_ABS,
    LAST_ERROR,
    LOOKS_CALM,
    LOOKS_STIFF,
    NEXT_BREAK,
    NEXT_SAMPLE,
    REJECTED,
    RETRYING,
    STARTED,
    STIFF_FROM,
    STORED,
    TROUBLE,
    VIOLATION,
    T,
    attempt,
    evaluate,
    interpolate,
    is_finite,
    prepare_dense,
    project_row,
)
from pendula.numerics.steppers.watch import NO_VALUE, OFF_CONSTRAINTS, STOP, make_watch_step, needs_room

SAFETY = 0.9  # of the implicit method; the others have theirs in the tableau
LEAST_ERROR = 1e-4  # an error smaller than this is remembered as this
MIN_FACTOR = 0.2
MAX_FACTOR = 10.0
PROJECTION_TRIES = 8  # shorter and shorter steps tried before a projection counts as failed
STIFF_EVERY = 10  # accepted steps between looks at stiffness
STIFF_LOOKS = 20  # looks that must be suspicious before a run is called stiff
CALM_LOOKS = 6  # calm looks on end after which what was suspicious before is forgotten
SLIVER = 1e-6  # of a fixed step: a rest this short is rounding, and goes with the step before it

# What advance() and the parts of a step report.
GO_ON, DONE, BUFFER_FULL, TOO_SMALL, BAD_VALUE, BAD_START, NO_PROJECTION, STEPS_USED_UP, NO_SOLUTION = range(9)
AT_EVENT, BAD_EVENT = range(9, 11)

watch_step = make_watch_step(interpolate, project_row, T)


@compiled_part
def smallest_step(t, direction):
    """The shortest step that still changes t well beyond rounding."""
    return 10.0 * abs(np.nextafter(t, direction * np.inf) - t)


@compiled_part
def _scale(run, k):
    return run.atol[k] + run.rtol * abs(run.y[k])


@compiled_part
def _first_step(run, tableau):
    """A first step size (Hairer, Norsett & Wanner, II.4), shortened until its trial point is finite."""
    n = run.controlled
    t, direction = run.real[T], run.direction
    span = abs(run.t_end - t)
    if n == 0:
        return min(span, run.max_step)
    d0 = d1 = d2 = 0.0
    for k in range(n):
        d0 += (run.y[k] / _scale(run, k)) ** 2
        d1 += (run.rows[run.fresh, k + 1] / _scale(run, k)) ** 2
    d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
    smallest = smallest_step(t, direction)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = max(min(h0, span), smallest)
    while True:
        for k in range(run.y.size):
            run.rows[run.stage, k + 1] = run.y[k] + h0 * direction * run.rows[run.fresh, k + 1]
        if evaluate(run, run.stage, t + h0 * direction, tableau.stages):
            break
        h0 *= 0.1
        if h0 < smallest:
            return smallest
    for k in range(n):
        d2 += ((run.rows[tableau.stages, k + 1] - run.rows[run.fresh, k + 1]) / _scale(run, k)) ** 2
    d2 = np.sqrt(d2 / n) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / (tableau.error_order + 1))
    return max(min(100.0 * h0, h1, span, run.max_step), smallest)


@compiled_part
def step_factor(real, tableau):
    """By how much the next step may be longer or must be shorter, from the error of this one and of the one before.

    With an error estimate of order k, of which 1 is allowed: safety * error^(-1/k) * (error * last)^(memory/k). The
    memory keeps steps from growing into a rejection where motion quickens (K. Gustafsson, M. Lundh, G. Soderlind,
    "A PI stepsize control for the numerical solution of ordinary differential equations", BIT 28, 1988). Over
    chains of 1 to 30 links an eighth of memory with a safety of 0.84 saves 7 to 14 % of the work at equal energy
    error, and half of the rejected steps.
    """
    error, power = real[ERROR], 1.0 / (tableau.error_order + 1)
    if error == 0.0:
        return MAX_FACTOR
    return min(MAX_FACTOR, tableau.safety * error**-power * (error * real[LAST_ERROR]) ** (tableau.memory * power))


@compiled_part
def store_samples_here(run):
    """Write the samples that fall on the current time."""
    sample = run.counter[NEXT_SAMPLE]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - run.real[T]) <= 0.0:
        for k in range(run.y.size):
            run.sample_y[sample, k] = run.y[k]
        sample += 1
    run.counter[NEXT_SAMPLE] = sample


@compiled_part
def _store_samples_inside(run, tableau, t_new, h, latest, prepared):
    """Write the samples strictly inside the attempted step; GO_ON, BAD_VALUE or NO_PROJECTION.

    ``prepared`` says that the dense output is ready.
    """
    n = run.y.size
    sample = run.counter[NEXT_SAMPLE]
    while sample < run.sample_t.size and run.direction * (run.sample_t[sample] - t_new) < 0.0:
        if not prepared and not prepare_dense(run, tableau, h, latest):
            return BAD_VALUE
        prepared = True
        t = run.sample_t[sample]
        interpolate(run, tableau, t, (t - run.real[T]) / h)
        if not is_finite(run, run.stage, t):
            return BAD_VALUE
        if run.project != 0:
            if not project_row(run, run.stage):
                return NO_PROJECTION
            run.real[VIOLATION] = max(run.real[VIOLATION], run.onto[n + 1])
        for k in range(n):
            run.sample_y[sample, k] = run.rows[run.stage, k + 1]
        sample += 1
    run.counter[NEXT_SAMPLE] = sample
    return GO_ON


@compiled_part
def watch_for_events(run, tableau, watch, t_new, h):
    """Look for events in a step before it is committed. After AT_EVENT row ``new`` is where the run ends."""
    found = watch_step(run, tableau, watch, h, t_new)
    if found == STOP:  # samples after it were not reached
        sample = run.counter[NEXT_SAMPLE]
        while sample > 0 and run.direction * (run.sample_t[sample - 1] - run.rows[run.new, 0]) > 0.0:
            sample -= 1
        run.counter[NEXT_SAMPLE] = sample
        return AT_EVENT
    if found == NO_VALUE:
        return BAD_EVENT
    return NO_PROJECTION if found == OFF_CONSTRAINTS else GO_ON


@compiled_part
def finish_step(run, tableau, t_new, h, latest, at_break):
    """Samples, projection and next first derivative of a step within tolerance.

    Anything but GO_ON leaves the run where it was before the step.
    """
    n = run.y.size
    sample = run.counter[NEXT_SAMPLE]
    if run.watching and not prepare_dense(run, tableau, h, latest):
        return BAD_VALUE
    code = _store_samples_inside(run, tableau, t_new, h, latest, run.watching)
    if code != GO_ON:
        return code
    run.rows[run.new, 0] = t_new
    if run.project != 0 and not project_row(run, run.new):
        run.counter[NEXT_SAMPLE] = sample
        return NO_PROJECTION
    if run.project != 0 or at_break:
        after = t_new + run.nudge * run.direction if at_break else t_new
        if not evaluate(run, run.new, after, run.fresh):
            run.counter[NEXT_SAMPLE] = sample
            return BAD_VALUE
        run.rows[run.new, 0] = t_new
    if run.project != 0:
        run.real[DRIFT] = max(run.real[DRIFT], run.onto[n])
        run.real[VIOLATION] = max(run.real[VIOLATION], run.onto[n + 1])
    return GO_ON


@compiled_part(forceinline=True)
def commit_step(run, tableau, at_break):
    """Make time, state and derivative of the finished step those the next one starts from."""
    derivative = run.fresh if run.project != 0 or at_break else tableau.stages
    for k in range(run.y.size):
        run.y[k] = run.rows[run.new, k + 1]
        run.rows[0, k + 1] = run.rows[derivative, k + 1]
    run.real[T] = run.rows[run.new, 0]
    run.real[EARLIEST] = run.real[T] + run.nudge * run.direction if at_break else run.real[T]
    store_samples_here(run)


@compiled_part
def start(run, tableau, first_step):
    """First derivative, step size and samples at the start; False if the derivative is not finite."""
    for k in range(run.y.size):
        run.rows[run.new, k + 1] = run.y[k]
    store_samples_here(run)
    if not evaluate(run, run.new, run.real[EARLIEST], run.fresh):
        return False
    run.real[H_ABS] = first_step if first_step > 0.0 else _first_step(run, tableau)
    for k in range(run.y.size):
        run.rows[0, k + 1] = run.rows[run.fresh, k + 1]
    run.counter[STARTED] = 1
    return True


@compiled_part
def watch_stiffness(run, tableau, t, h_abs):
    """Count looks at accepted steps whose size is at the limit of stability, not of accuracy.

    Hairer & Wanner, *Solving Ordinary Differential Equations II*, section IV.2: two stages at the end of the step
    give an estimate |K - K'| / |y - y'| of the largest eigenvalue. ``real[STIFF_FROM]`` is where it began.
    """
    rows, late, stage = run.rows, run.late, tableau.stages - 1
    slopes = states = 0.0
    for k in range(run.controlled):
        slope, state = rows[0, k + 1] - rows[stage, k + 1], run.y[k] - rows[late, k + 1]
        slopes += slope * slope
        states += state * state
    if h_abs * h_abs * slopes > tableau.stable_to**2 * states:
        if run.counter[LOOKS_STIFF] == 0:
            run.real[STIFF_FROM] = t
        run.counter[LOOKS_STIFF] += 1
        run.counter[LOOKS_CALM] = 0
    elif run.counter[LOOKS_STIFF] > 0:
        run.counter[LOOKS_CALM] += 1
        if run.counter[LOOKS_CALM] == CALM_LOOKS and run.counter[LOOKS_STIFF] < STIFF_LOOKS:
            run.counter[LOOKS_STIFF] = 0


@compiled_part
def next_on_grid(run, t, t0):
    """The end of the next fixed step, counted from the start or the last breakpoint: rounding does not add up."""
    passed = run.counter[NEXT_BREAK]
    origin = run.breaks[passed - 1] if passed > 0 else t0
    steps = np.floor(abs(t - origin) / run.max_step + 0.5) + 1.0
    return origin + run.direction * steps * run.max_step


@compiled(allocates=False)
def advance(run, tableau, watch, first_step, t_out, y_out, attempts):
    """Go on for at most ``attempts`` step attempts, storing accepted steps; returns one of the codes above.

    ``t_out`` and ``y_out`` are filled from row ``counter[STORED]`` on; BUFFER_FULL asks for longer ones. With
    ``first_step`` 0 the first step size is chosen here. A method without error estimate takes steps of ``max_step``.
    """
    real, counter, direction = run.real, run.counter, run.direction
    fixed = tableau.error_order == 0
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
        if watch is not None:  # noqa: SIM102  # alone in its condition: the version without events leaves it out
            if needs_room(watch):
                return BUFFER_FULL
        if counter[ATTEMPTS] >= run.max_attempts:
            return STEPS_USED_UP
        t, h_abs = real[T], real[H_ABS]
        smallest = smallest_step(t, direction)
        if counter[RETRYING] == 0 or fixed:
            h_abs = max(min(h_abs, run.max_step), smallest)
        elif h_abs < smallest:
            return TOO_SMALL if counter[TROUBLE] == GO_ON else counter[TROUBLE]

        # Step onto the next breakpoint or the end, never across.
        wanted = h_abs
        upcoming = counter[NEXT_BREAK]
        bound = run.breaks[upcoming] if upcoming < run.breaks.size else run.t_end
        t_new = next_on_grid(run, t, t_out[0]) if fixed else t + h_abs * direction
        at_bound = direction * (t_new - bound) >= (-SLIVER * h_abs if fixed else 0.0)
        if at_bound:
            t_new = bound
        at_break = at_bound and upcoming < run.breaks.size
        latest = t_new - run.nudge * direction if at_break else t_new
        h = t_new - t
        h_abs = abs(h)

        counter[ATTEMPTS] += 1
        code = GO_ON if attempt(run, tableau, h, t_new, latest) else BAD_VALUE
        within = code == GO_ON and real[ERROR] < 1.0
        jumps = at_break and t_new != run.t_end
        sample = counter[NEXT_SAMPLE]
        if within:
            code = finish_step(run, tableau, t_new, h, latest, jumps)
        if within and code == GO_ON:  # noqa: SIM102
            if watch is not None:
                code = watch_for_events(run, tableau, watch, t_new, h)
                if code == NO_PROJECTION:
                    counter[NEXT_SAMPLE] = sample
        if within and code in (GO_ON, AT_EVENT):
            commit_step(run, tableau, jumps)
            factor = step_factor(real, tableau)
            real[LAST_ERROR] = max(real[ERROR], LEAST_ERROR)
            if counter[RETRYING] > 0:
                factor = min(1.0, factor)
            real[H_ABS] = h_abs * factor
            if at_break:  # the short step onto it says little about the steps after it
                counter[NEXT_BREAK] += 1
                real[H_ABS] = max(real[H_ABS], wanted)
            counter[RETRYING] = 0
            if counter[STORED] % STIFF_EVERY == 0 and not at_break and not fixed:
                watch_stiffness(run, tableau, t_new, h_abs)
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
        if fixed:
            return code
        if code == NO_PROJECTION and counter[RETRYING] >= PROJECTION_TRIES:
            return NO_PROJECTION
        counter[RETRYING] += 1
        factor = MIN_FACTOR if code != GO_ON else max(MIN_FACTOR, step_factor(real, tableau))
        real[H_ABS] = h_abs * factor
    return GO_ON
