"""Dense output, compiled: the state at any time inside a step, and the samples inside it.

All steppers write their dense output in the nested form of :mod:`pendula.numerics.steppers.tableaus`; for a stepper
that adds no rows it is the cubic Hermite polynomial.
"""

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at
from pendula.numerics.steppers.equations import evaluate, is_finite, project_row
from pendula.numerics.steppers.run import BAD_VALUE, GO_ON, NO_PROJECTION, row


@compiled_part
def prepare_dense(run, address):
    """Dense output of the attempted step, before any projection; False if something is not finite.

    ``address`` is that of the record.
    """
    if run.project != 0 and run.last_in_error == 0 and not evaluate(run, run.new, run.latest, run.stages):
        return False
    new, y, h = row(run, run.new), doubles_at(run.y, run.n), run.h
    slope, last_slope = row(run, run.first_slope), row(run, run.last_slope)
    first, second, third = row(run, run.dense), row(run, run.dense + 1), row(run, run.dense + 2)
    for j in range(1, run.n + 1):
        change = new[j] - y[j - 1]
        first[j] = change
        second[j] = h * slope[j] - change
        third[j] = 2.0 * change - h * (slope[j] + last_slope[j])
    if run.prepare == 0:
        return True
    call_native(run.prepare, 0, 0, address)
    return run.code == GO_ON


@compiled_part
def interpolate(run, t, x):
    """State at time t, the fraction x of the attempted step, into row ``stage``."""
    at, y, n, first = row(run, run.stage), doubles_at(run.y, run.n), run.n, run.dense
    last = first + 2 + run.dense_rows
    at[0] = t
    for j in range(1, n + 1):
        at[j] = 0.0
    for d in range(last, first - 1, -1):
        factor = x if (d - first) % 2 == 0 else 1.0 - x
        term = row(run, d)
        for j in range(1, n + 1):
            at[j] = (at[j] + term[j]) * factor
    for j in range(n):
        at[j + 1] += y[j]


@compiled_part
def store_samples_here(run):
    """Write the samples that fall on the current time."""
    times, y, n = doubles_at(run.sample_t, run.samples), doubles_at(run.y, run.n), run.n
    while run.next_sample < run.samples and run.direction * (times[run.next_sample] - run.t) <= 0.0:
        out = doubles_at(run.sample_y + 8 * n * run.next_sample, n)
        for k in range(n):
            out[k] = y[k]
        run.next_sample += 1


@compiled_part
def store_samples_inside(run, address, prepared):
    """Write the samples strictly inside the attempted step; GO_ON, BAD_VALUE or NO_PROJECTION.

    ``prepared``: whether the dense output is ready.
    """
    times, at, n = doubles_at(run.sample_t, run.samples), row(run, run.stage), run.n
    sample = run.next_sample
    while sample < run.samples and run.direction * (times[sample] - run.t_new) < 0.0:
        if not prepared and not prepare_dense(run, address):
            return BAD_VALUE
        prepared = True
        t = times[sample]
        interpolate(run, t, (t - run.t) / run.h)
        if not is_finite(run, run.stage, t):
            return BAD_VALUE
        if run.project != 0:
            if not project_row(run, run.stage):
                return NO_PROJECTION
            run.violation = max(run.violation, doubles_at(run.onto, n + 2)[n + 1])
        out = doubles_at(run.sample_y + 8 * n * sample, n)
        for k in range(n):
            out[k] = at[k + 1]
        sample += 1
    run.next_sample = sample
    return GO_ON
