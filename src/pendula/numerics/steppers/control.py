"""Step-size control, compiled: the first step, the next one, the grid of fixed steps, and detection of stiffness.

Step-size control is that of Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, section II.4, with a
small influence of the previous error (:func:`step_factor`). Without it and with a safety factor of 0.9, steps are
identical to those of SciPy's ``solve_ivp``, as tests check.
"""

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.steppers.checks import SLIVER
from pendula.numerics.steppers.equations import evaluate
from pendula.numerics.steppers.run import row

SAFETY = 0.9  # safety factor of the implicit method; the tableaus contain those of the others
LEAST_ERROR = 1e-4  # a smaller error is stored as this
MIN_FACTOR = 0.2
MAX_FACTOR = 10.0
STIFF_EVERY = 10  # accepted steps between checks of stiffness
STIFF_LOOKS = 20  # checks that must be suspicious before a run is called stiff
CALM_LOOKS = 6  # consecutive nonstiff checks after which earlier suspicion is forgotten


@compiled_part
def smallest_step(t, direction):
    """The shortest step that still changes t well beyond rounding."""
    return 10.0 * abs(np.nextafter(t, direction * np.inf) - t)


@compiled_part
def scaled_size(run, values, others):
    """Root mean square of the difference of two rows, in units of the tolerance at the start of the step."""
    y, atol, total = doubles_at(run.y, run.n), doubles_at(run.atol, run.n), 0.0
    for k in range(run.controlled):
        total += ((values[k + 1] - others[k + 1]) / (atol[k] + run.rtol * abs(y[k]))) ** 2
    return np.sqrt(total / run.controlled)


@compiled_part
def choose_first_step(run):
    """A first step size (Hairer, Norsett & Wanner, II.4), shortened until its trial point is finite.

    Row ``new`` holds the initial state, row ``fresh`` its derivative.
    """
    t, direction = run.t, run.direction
    span = abs(run.t_end - t)
    if run.controlled == 0:
        return min(span, run.max_step)
    y, slope, trial, nothing = row(run, run.new), row(run, run.fresh), row(run, run.stage), row(run, run.scratch)
    d0, d1 = scaled_size(run, y, nothing), scaled_size(run, slope, nothing)
    smallest = smallest_step(t, direction)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = max(min(h0, span), smallest)
    while True:
        for k in range(1, run.n + 1):
            trial[k] = y[k] + h0 * direction * slope[k]
        if evaluate(run, run.stage, t + h0 * direction, run.stages):
            break
        h0 *= 0.1
        if h0 < smallest:
            return smallest
    d2 = scaled_size(run, row(run, run.stages), slope) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / (run.error_order + 1))
    return max(min(100.0 * h0, h1, span, run.max_step), smallest)


@compiled_part
def step_factor(run):
    """Factor for the next step size, from the errors of this step and of the one before (PI controller).

    With an error estimate of order k and a limit of 1: safety * error^(-1/k) * (error * last)^(memory/k). The
    memory keeps steps from growing into a rejection when the motion speeds up (K. Gustafsson, M. Lundh, G. Soderlind,
    "A PI stepsize control for the numerical solution of ordinary differential equations", BIT 28, 1988). For
    chains of 1 to 30 links, memory 1/8 with safety 0.84 saves 7 to 14 % of the work at equal energy error, and
    half of the rejected steps.
    """
    error, power = run.error, 1.0 / (run.error_order + 1)
    if error == 0.0:
        return MAX_FACTOR
    return min(MAX_FACTOR, run.safety * error**-power * (error * run.last_error) ** (run.memory * power))


@compiled_part
def watch_stiffness(run):
    """Count those of the checked accepted steps whose size is limited by stability, not by accuracy.

    Hairer & Wanner, *Solving Ordinary Differential Equations II*, section IV.2: two stages at the end of the step
    yield an estimate |K - K'| / |y - y'| of the largest eigenvalue. ``stiff_from`` is the time of the first such step.
    """
    last, before, late, y = row(run, 0), row(run, run.stages - 1), row(run, run.late), doubles_at(run.y, run.n)
    slopes = states = 0.0
    for k in range(run.controlled):
        slope, state = last[k + 1] - before[k + 1], y[k] - late[k + 1]
        slopes += slope * slope
        states += state * state
    if run.h * run.h * slopes > run.stable_to**2 * states:
        if run.looks_stiff == 0:
            run.stiff_from = run.t_new
        run.looks_stiff += 1
        run.looks_calm = 0
    elif run.looks_stiff > 0:
        run.looks_calm += 1
        if run.looks_calm == CALM_LOOKS and run.looks_stiff < STIFF_LOOKS:
            run.looks_stiff = 0


@compiled_part
def next_on_grid(run):
    """The end of the next fixed step, counted from the start or the last breakpoint: rounding does not accumulate."""
    passed = run.next_break
    origin = doubles_at(run.breaks, passed)[passed - 1] if passed > 0 else run.t_first
    steps = np.floor(abs(run.t - origin) / run.max_step + 0.5) + 1.0
    return origin + run.direction * steps * run.max_step


@compiled_part
def plan_step(run):
    """Choose the end of the next step, not beyond the next breakpoint or the final time; whether it is a breakpoint."""
    t, direction, h_abs = run.t, run.direction, run.h_abs
    run.wanted = h_abs
    upcoming, inside = run.next_break, run.next_break < run.breaks_count
    bound = doubles_at(run.breaks, run.breaks_count)[upcoming] if inside else run.t_end
    t_new = next_on_grid(run) if run.fixed == 1 else t + h_abs * direction
    at_bound = direction * (t_new - bound) >= (-SLIVER * h_abs if run.fixed == 1 else 0.0)
    if at_bound:
        t_new = bound
    at_break = at_bound and inside
    run.jumps = 1 if at_break and t_new != run.t_end else 0
    run.latest = t_new - run.nudge * direction if at_break else t_new
    run.t_new = t_new
    run.h = t_new - t
    return at_break
