"""Steps of explicit embedded Runge-Kutta methods, compiled: stages, error estimate, dense output.

The method is given as a tableau (:class:`~pendula.numerics.steppers.tableaus.Tableau`), the equations by address, so
this is compiled once for all methods and all models.
"""

import numpy as np

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at, integers_at
from pendula.numerics.scalars.eight import BYTES, LANES, eights_at
from pendula.numerics.steppers.control import step_factor
from pendula.numerics.steppers.equations import DOUBLE, call_rhs, evaluate, is_finite, note_bad
from pendula.numerics.steppers.run import BAD_VALUE, GO_ON, row, run_at


@compiled_part(forceinline=True)
def _eight(address):
    return eights_at(address, 1)[0]


@compiled_part(fastmath={"contract"})
def sum_stages(start, width, into, base, h, sources, weights, count, n):
    """Row ``into`` = base + h * (a row of the tableau applied to the stages), for the first n components.

    All arrays are given by address, which costs nothing to pass on: the rows, with their width in bytes, the base, the
    sources and weights of the tableau's row. Unrolled for 4, 8 and 12 coefficients, eight components at a time.
    """
    start += DOUBLE
    end, goal = (n + LANES - 1) // LANES * BYTES, start + into * width
    if count == 0:
        for j in range(0, end, BYTES):
            eights_at(goal + j, 1)[0] = _eight(base + j)
        return
    s, w = integers_at(sources, 12), doubles_at(weights, 12)
    a0, a1, a2, a3 = w[0], w[1], w[2], w[3]
    i0, i1, i2, i3 = start + s[0] * width, start + s[1] * width, start + s[2] * width, start + s[3] * width
    if count == 4:
        for j in range(0, end, BYTES):
            total = (a0 * _eight(i0 + j) + a1 * _eight(i1 + j)) + (a2 * _eight(i2 + j) + a3 * _eight(i3 + j))
            eights_at(goal + j, 1)[0] = _eight(base + j) + h * total
        return
    b0, b1, b2, b3 = w[4], w[5], w[6], w[7]
    l0, l1, l2, l3 = start + s[4] * width, start + s[5] * width, start + s[6] * width, start + s[7] * width
    if count == 8:
        for j in range(0, end, BYTES):
            total = a0 * _eight(i0 + j) + a1 * _eight(i1 + j) + a2 * _eight(i2 + j) + a3 * _eight(i3 + j)
            more = b0 * _eight(l0 + j) + b1 * _eight(l1 + j) + b2 * _eight(l2 + j) + b3 * _eight(l3 + j)
            eights_at(goal + j, 1)[0] = _eight(base + j) + h * (total + more)
        return
    c0, c1, c2, c3 = w[8], w[9], w[10], w[11]
    m0, m1, m2, m3 = start + s[8] * width, start + s[9] * width, start + s[10] * width, start + s[11] * width
    for j in range(0, end, BYTES):
        total = a0 * _eight(i0 + j) + a1 * _eight(i1 + j) + a2 * _eight(i2 + j) + a3 * _eight(i3 + j)
        more = b0 * _eight(l0 + j) + b1 * _eight(l1 + j) + b2 * _eight(l2 + j) + b3 * _eight(l3 + j)
        rest = c0 * _eight(m0 + j) + c1 * _eight(m1 + j) + c2 * _eight(m2 + j) + c3 * _eight(m3 + j)
        eights_at(goal + j, 1)[0] = _eight(base + j) + h * (total + more + rest)


@compiled_part
def combine(run, into, base, h, index, n):
    """Row ``into`` = base + h * (row ``index`` of the tableau applied to the stages), for the first n components.

    ``base`` is the address of :func:`~pendula.numerics.steppers.run.padded` numbers.
    """
    at, weigh, count = run.sources + index * run.terms, run.weights + index * run.terms, run.counts + index * DOUBLE
    sum_stages(run.rows, run.width, into, base, h, at, weigh, integers_at(count, 1)[0], n)


@compiled_part
def error_norm(run):
    """Scaled size of the error estimates in the two scratch rows, per unit of step size.

    Hairer, Norsett & Wanner, section II.10: e5^2 / sqrt(N (e5^2 + 0.01 e3^2)). With one estimate
    only (e3 = 0) this is the usual root mean square.
    """
    n, rtol = run.controlled, run.rtol
    y, atol, new = doubles_at(run.y, n), doubles_at(run.atol, n), row(run, run.new)
    estimate, other = row(run, run.scratch), row(run, run.scratch + 1)
    first = second = 0.0
    for k in range(n):
        size = abs(y[k])
        size_new = abs(new[k + 1])
        scale = 1.0 / (atol[k] + rtol * (size if size > size_new else size_new))
        a = estimate[k + 1] * scale
        b = other[k + 1] * scale
        first += a * a
        second += b * b
    if first == 0.0:
        return 0.0
    return first / np.sqrt((first + 0.01 * second) * n)


@compiled_part
def _all_stages(run, stages):
    """Derivatives at the stages 1, 2, ... of the step; False if one is not finite."""
    nodes, y, h, t = doubles_at(run.nodes, stages), run.y, run.h, run.t
    rhs, context, rows, width, n, last = run.rhs, run.rhs_context, run.rows, run.width, run.n, run.stages
    earliest, latest, direction = run.earliest, run.latest, run.direction
    for s in range(1, stages):
        state, at = run.stage, t + nodes[s] * h
        if s == last:
            state, at = run.new, latest
        elif s == last - 1:
            state = run.late
        combine(run, state, y, h, s, n)
        if direction * (at - latest) > 0.0:
            at = latest
        if direction * (at - earliest) < 0.0:
            at = earliest
        if not call_rhs(rhs, context, rows, width, state, at, s, n):
            run.evaluations += s
            note_bad(run, s, at)
            return False
    run.evaluations += stages - 1
    return True


@compiled_part
def _attempt(run):
    last, n, m, y = run.stages, run.n, run.controlled, run.y
    # After a projection the derivative is evaluated again; then only the error estimate needs the last stage.
    stages = last + 1 if run.project == 0 or run.last_in_error == 1 else last
    if not _all_stages(run, stages):
        return BAD_VALUE
    if stages == last:
        combine(run, run.new, y, run.h, last, n)
    if not is_finite(run, run.new, run.t_new):
        return BAD_VALUE
    combine(run, run.scratch, run.zero, 1.0, run.error_row, m)
    combine(run, run.scratch + 1, run.zero, 1.0, run.error_row + 1, m)
    run.error = abs(run.h) * error_norm(run)
    if not np.isfinite(run.error):
        run.where = run.t_new
        run.component = -1
        return BAD_VALUE
    run.factor = step_factor(run)
    return GO_ON


@compiled_callback(allocates=False)
def attempt_explicit(out, inp, context):
    """One step of an explicit Runge-Kutta method; see :class:`~pendula.numerics.steppers.stepper.Stepper`."""
    run = run_at(context)
    run.code = _attempt(run)


@compiled_part
def _prepare(run):
    for s in range(run.stages + 1, run.stages + 1 + run.extra_stages):
        combine(run, run.stage, run.y, run.h, s, run.n)
        if not evaluate(run, run.stage, run.t + doubles_at(run.nodes, s + 1)[s] * run.h, s):
            return BAD_VALUE
    for d in range(run.dense_rows):
        combine(run, run.dense + 3 + d, run.zero, run.h, run.error_row + 2 + d, run.n)
    return GO_ON


@compiled_callback(allocates=False)
def prepare_explicit(out, inp, context):
    """The rows of the dense output beyond the cubic that all steppers share."""
    run = run_at(context)
    run.code = _prepare(run)
