"""One step of an explicit embedded Runge-Kutta method, compiled: stages, error estimate, dense output.

The method comes as a :class:`~pendula.numerics.steppers.tableaus.Tableau`, the equations as addresses, so this
compiles once for all methods and all models. The step control around it is in
:mod:`pendula.numerics.steppers.explicit`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at
from pendula.numerics.scalars.eight import BYTES, LANES, eights_at
from pendula.numerics.steppers.tableaus import Tableau

DOUBLE = 8  # bytes
FEW = 8  # components up to which dense output is found one component after the other

# Slots of Run.real.
T, H_ABS, EARLIEST, ERROR, DRIFT, VIOLATION, WHERE, STIFF_FROM, LAST_ERROR = range(9)
# Slots of Run.counter.
STORED, REJECTED, EVALUATIONS, NEXT_SAMPLE, NEXT_BREAK, ATTEMPTS, RETRYING, TROUBLE, COMPONENT, STARTED = range(10)
LOOKS_STIFF, LOOKS_CALM = 10, 11


class Run(NamedTuple):
    """Everything about one integration except the tableau. Arrays are written in place and carry all state.

    ``real`` and ``counter`` hold the slots named above. Each row of ``rows`` is a spare number followed
    by one number for each component: first the stages, then the rows whose indices follow here. In the
    rows ``stage`` and ``new`` the spare number is the time, which is the layout callbacks read. Rows end with zeros
    up to a multiple of eight components; so does the memory behind ``y`` and ``zero`` (:func:`padded`).
    """

    rhs: int
    rhs_context: int
    project: int  # 0 if there is no projection
    project_context: int
    watching: bool  # functions of the state are watched, which needs the dense output of every step
    t_end: float
    direction: float  # 1 or -1
    rtol: float
    max_step: float
    nudge: float  # how far from a breakpoint the right-hand side is evaluated on either side
    max_attempts: int
    controlled: int  # components that enter error norms, the first ones
    fresh: int  # row: derivative the next step starts with, where it is not the last stage
    stage: int  # row: time and state of a stage or sample
    new: int  # row: time and state at the end of the attempted step
    scratch: int  # row: error estimates (two rows)
    dense: int  # row: first of the dense output
    late: int  # row: time and state of the last stage before the end of the step
    atol: np.ndarray
    zero: np.ndarray
    breaks: np.ndarray
    sample_t: np.ndarray
    sample_y: np.ndarray
    y: np.ndarray
    real: np.ndarray
    counter: np.ndarray
    rows: np.ndarray
    onto: np.ndarray  # what the projection writes: state, violation before, after, status


def room(n: int) -> int:
    """Places for n components: sums over stages go eight at a time."""
    return -(-n // LANES) * LANES


def padded(values: np.ndarray) -> np.ndarray:
    """A copy of a row of numbers with zeros behind it, so that it can be read eight at a time to the end."""
    memory = np.zeros(room(values.size))
    memory[: values.size] = values
    return memory[: values.size]


def workspace(tableau: Tableau, n: int) -> dict[str, Any]:
    """The fields of a :class:`Run` of ``n`` components that depend only on sizes."""
    fresh = tableau.stages + tableau.extra_stages + 1
    return {
        "fresh": fresh,
        "stage": fresh + 1,
        "new": fresh + 2,
        "scratch": fresh + 3,
        "dense": fresh + 5,
        "late": fresh + 8 + tableau.dense_rows,
        "rows": np.zeros((fresh + 9 + tableau.dense_rows, 1 + room(n))),
        "real": np.array([0.0] * LAST_ERROR + [1.0]),
        "counter": np.zeros(12, dtype=np.int64),
        "zero": padded(np.zeros(n)),
        "onto": np.zeros(n + 3),
    }


@compiled_part(forceinline=True)
def _eight(address):
    return eights_at(address, 1)[0]


@compiled_part(fastmath={"contract"})
def sum_stages(start, width, into, base, h, sources, weights, count, n):
    """Row ``into`` = base + h * (a row of the tableau applied to the stages), for the first n components.

    All arrays come as addresses, which cost nothing to hand on: of the rows and their width in bytes, of the base, of
    the sources and weights of the tableau's row. Written out for 4, 8 and 12 coefficients, eight components at a time.
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


@compiled_part(forceinline=True)
def combine(rows, into, base, h, sources, weights, counts, row, n):
    """rows[into] = base + h * (row of the tableau applied to the stages), for the first n components.

    ``base`` must be :func:`padded`; ``sources``, ``weights`` and ``counts`` are those of the tableau.
    """
    step = row * sources.shape[1] * DOUBLE
    at, weigh = address_of(sources) + step, address_of(weights) + step
    sum_stages(address_of(rows), rows.shape[1] * DOUBLE, into, address_of(base), h, at, weigh, counts[row], n)


@compiled_part(fastmath={"reassoc"})
def finite_at(address, n):
    """True if n numbers at an address are finite: anything that is not, times zero, is NaN."""
    values, total = doubles_at(address, n), 0.0
    for k in range(n):
        total += values[k] * 0.0
    return total == 0.0


@compiled_part(forceinline=True)
def all_finite(rows, row, n):
    """True if the first n components of a row are finite."""
    return finite_at(address_of(rows) + row * rows.shape[1] * DOUBLE + DOUBLE, n)


@compiled_part(forceinline=True)
def call_rhs(rhs, context, rows, state, t, into, n):
    """Derivative of the state in a row at time t, into another row; False if it is not finite."""
    width = rows.shape[1] * DOUBLE
    start = address_of(rows)
    rows[state, 0] = t
    call_native(rhs, start + into * width + DOUBLE, start + state * width, context)
    return finite_at(start + into * width + DOUBLE, n)


@compiled_part
def note_bad(run, row, t):
    """Remember which component of a row is not finite, and when."""
    run.real[WHERE] = t
    for k in range(run.y.size):
        if not np.isfinite(run.rows[row, k + 1]):
            run.counter[COMPONENT] = k
            return


@compiled_part
def is_finite(run, row, t):
    """True if a row is finite; otherwise remember which component is not."""
    if all_finite(run.rows, row, run.y.size):
        return True
    note_bad(run, row, t)
    return False


@compiled_part
def evaluate(run, state, t, into):
    """Like :func:`call_rhs`, with book-keeping; for places that are not hot."""
    run.counter[EVALUATIONS] += 1
    if call_rhs(run.rhs, run.rhs_context, run.rows, state, t, into, run.y.size):
        return True
    note_bad(run, into, t)
    return False


@compiled_part
def project_row(run, state):
    """Bring the state in a row onto the constraints, in place; False if that did not work."""
    n = run.y.size
    onto = run.onto
    onto[n + 2] = 1.0
    inp = address_of(run.rows) + state * run.rows.shape[1] * DOUBLE
    call_native(run.project, address_of(onto), inp, run.project_context)
    for k in range(n + 2):
        if not np.isfinite(onto[k]):
            onto[n + 2] = 1.0
    if onto[n + 2] != 0.0:
        run.real[WHERE] = run.rows[state, 0]
        return False
    for k in range(n):
        run.rows[state, k + 1] = onto[k]
    return True


@compiled_part
def error_norm(rows, scratch, y, new, atol, rtol, n):
    """Scaled size of the error estimates in the two scratch rows, per unit of step size.

    Hairer, Norsett & Wanner, section II.10: e5^2 / sqrt(N (e5^2 + 0.01 e3^2)). With one estimate
    only (e3 = 0) this is the usual root mean square.
    """
    first = second = 0.0
    for k in range(n):
        size = abs(y[k])
        size_new = abs(rows[new, k + 1])
        scale = 1.0 / (atol[k] + rtol * (size if size > size_new else size_new))
        a = rows[scratch, k + 1] * scale
        b = rows[scratch + 1, k + 1] * scale
        first += a * a
        second += b * b
    if first == 0.0:
        return 0.0
    return first / np.sqrt((first + 0.01 * second) * n)


@compiled_part
def attempt(run, tableau, h, t_new, latest):
    """One step of size h into row ``new``, error norm in ``real[ERROR]``; False if something is not finite.

    The right-hand side is not asked for times before ``real[EARLIEST]`` or after ``latest``.
    """
    # Everything the loop needs as plain variables: a tuple handed on costs a reference count for each array.
    rows, y, zero, atol, real = run.rows, run.y, run.zero, run.atol, run.real
    sources, weights, counts, nodes = tableau.sources, tableau.weights, tableau.counts, tableau.nodes
    rhs, context, stage, new, scratch = run.rhs, run.rhs_context, run.stage, run.new, run.scratch
    t, earliest, direction, last = real[T], real[EARLIEST], run.direction, tableau.stages
    n, m, error_row = y.size, run.controlled, tableau.error_row
    # After a projection the derivative is taken afresh; the last stage is then needed only by the error.
    stages = last + 1 if run.project == 0 or tableau.last_in_error == 1 else last
    for s in range(1, stages):
        state, at = stage, t + nodes[s] * h
        if s == last:
            state, at = new, latest
        elif s == last - 1:
            state = run.late
        combine(rows, state, y, h, sources, weights, counts, s, n)
        if direction * (at - latest) > 0.0:
            at = latest
        if direction * (at - earliest) < 0.0:
            at = earliest
        if not call_rhs(rhs, context, rows, state, at, s, n):
            run.counter[EVALUATIONS] += s
            note_bad(run, s, at)
            return False
    run.counter[EVALUATIONS] += stages - 1
    if stages == last:
        combine(rows, new, y, h, sources, weights, counts, last, n)
    if not all_finite(rows, new, n):
        note_bad(run, new, t_new)
        return False
    combine(rows, scratch, zero, 1.0, sources, weights, counts, error_row, m)
    combine(rows, scratch + 1, zero, 1.0, sources, weights, counts, error_row + 1, m)
    error = abs(h) * error_norm(rows, scratch, y, new, atol, run.rtol, m)
    real[ERROR] = error
    if not np.isfinite(error):
        real[WHERE] = t_new
        run.counter[COMPONENT] = -1
        return False
    return True


@compiled_part
def prepare_dense(run, tableau, h, latest):
    """Dense output of the attempted step, before any projection; False if something is not finite."""
    rows, y, last, dense = run.rows, run.y, tableau.stages, run.dense
    sources, weights, counts = tableau.sources, tableau.weights, tableau.counts
    n, first_slope, last_slope = y.size, tableau.first_slope, tableau.last_slope
    if run.project != 0 and tableau.last_in_error == 0 and not evaluate(run, run.new, latest, last):
        return False
    for s in range(last + 1, last + 1 + tableau.extra_stages):
        combine(rows, run.stage, y, h, sources, weights, counts, s, n)
        if not evaluate(run, run.stage, run.real[T] + tableau.nodes[s] * h, s):
            return False
    for j in range(1, n + 1):
        change = rows[run.new, j] - y[j - 1]
        rows[dense, j] = change
        rows[dense + 1, j] = h * rows[first_slope, j] - change
        rows[dense + 2, j] = 2.0 * change - h * (rows[first_slope, j] + rows[last_slope, j])
    for d in range(tableau.dense_rows):
        combine(rows, dense + 3 + d, run.zero, h, sources, weights, counts, tableau.error_row + 2 + d, n)
    return True


@compiled_part
def interpolate(run, tableau, t, x):
    """State at time t, the fraction x of the attempted step, into row ``stage``."""
    rows, y, stage, dense, n = run.rows, run.y, run.stage, run.dense, run.y.size
    last = dense + 2 + tableau.dense_rows
    rows[stage, 0] = t
    if n < FEW:
        for j in range(1, n + 1):
            value = 0.0
            for d in range(last, dense - 1, -1):
                value = (value + rows[d, j]) * (x if (d - dense) % 2 == 0 else 1.0 - x)
            rows[stage, j] = y[j - 1] + value
        return
    for j in range(1, n + 1):
        rows[stage, j] = 0.0
    for d in range(last, dense - 1, -1):  # many components: several at once
        factor = x if (d - dense) % 2 == 0 else 1.0 - x
        for j in range(1, n + 1):
            rows[stage, j] = (rows[stage, j] + rows[d, j]) * factor
    for j in range(n):
        rows[stage, j + 1] += y[j]
