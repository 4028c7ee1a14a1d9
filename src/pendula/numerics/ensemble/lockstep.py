"""Many integrations of one system, eight at a time, compiled.

Every lane has its own time, step size and error control, as :mod:`pendula.numerics.steppers.loop` has for one run;
a lane whose run has ended takes the next one. What a run gives depends on nothing but the run: not on its lane, its
neighbours, or how many there are. All that must survive between calls of :func:`advance` is in the arrays of
:class:`Batch`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.native import address_of, call_native
from pendula.numerics.scalars.eight import BYTES, LANES, any_lane, as_eights, choose, lane, with_lane
from pendula.numerics.steppers.control import LEAST_ERROR, MAX_FACTOR, MIN_FACTOR
from pendula.numerics.steppers.loop import PROJECTION_TRIES

# Rows of Batch.real: eight numbers each. Truths are 1 or 0.
(
    T, H, EARLIEST, BOUND, BREAK, T_NEW, STEP, LATEST, CUT, ACCEPT, FINE, AFTER, FACTOR,
    ACTIVE, ACCEPTED, REJECTED, RETRY, REFUSED, TROUBLE, WHERE,
    START_ENERGY, ENERGY_ERROR, MOST_KINETIC, MOST_POTENTIAL, LEAST_POTENTIAL, SHORTEST, LONGEST, LAST_ERROR, REALS,
) = range(29)  # fmt: skip
# Rows of Batch.counter: one whole number for each lane.
RUN, NEXT_SAMPLE, NEXT_BREAK, COUNTERS = range(4)
# Entries of Batch.progress.
NEXT_RUN, ENDED, IDLE, PASSES = range(4)
# Columns of Batch.account.
(
    END_TIME, ENERGY_OFF, KINETIC, POTENTIAL_HIGH, POTENTIAL_LOW, STEP_LEAST, STEP_MOST, PLACE, ACCOUNTS,
) = range(9)  # fmt: skip

# How a run ended.
WAITING, DONE, TOO_SMALL, BAD_VALUE, BAD_START, NO_PROJECTION, STEPS_USED_UP = range(7)

SPACING = 2.220446049250313e-15  # ten times the distance of neighbouring numbers, relative
TINY = 1e-300


class Batch(NamedTuple):
    """Runs that wait, run and have ended. ``rows`` is laid out as for one run, with eight numbers in place of one."""

    rhs: int
    rhs_context: int
    measure: int  # 0: energies are not followed
    measure_context: int
    project: int  # 0 if there is no projection
    t0: float
    t_end: float
    rtol: float
    max_step: float
    nudge: float
    max_attempts: int
    controlled: int
    work: int  # component that holds the work done; -1 if there is none
    fresh: int
    stage: int
    new: int
    scratch: int
    dense: int
    terms: np.ndarray  # number of terms in each row of the tableau
    clear: int  # 1: the column of an idle lane is set to zero
    atol: np.ndarray  # (runs or 1, n)
    start: np.ndarray  # (runs, n)
    data: np.ndarray  # (runs or 1, width): what a lane needs to know about its run
    column: np.ndarray  # (width, 8): where it goes
    breaks: np.ndarray  # (runs or 1, most), ends with infinities
    sample_t: np.ndarray
    sample_y: np.ndarray  # (runs, samples, n)
    end_y: np.ndarray  # (runs, n)
    account: np.ndarray  # (runs, ACCOUNTS)
    counts: np.ndarray  # (runs, 3): how it ended, accepted and rejected steps
    progress: np.ndarray
    real: np.ndarray  # (REALS, 8)
    counter: np.ndarray  # (COUNTERS, 8)
    rows: np.ndarray  # (rows, n + 1, 8)
    y: np.ndarray  # (n, 8)
    zero: np.ndarray  # (n, 8)
    absolute: np.ndarray  # (n, 8): absolute tolerances of the runs in the lanes
    energy: np.ndarray  # (2, 8)
    contexts: np.ndarray  # (8,): whole numbers, contexts of the projection
    given: np.ndarray  # (n + 1,): what the projection reads
    onto: np.ndarray  # (n + 3,): what it writes


@compiled_part(forceinline=True)
def _call(batch, state, into):
    """Rates of the states in a row, at the times that stand first in it, into another row."""
    width = batch.rows.shape[1] * BYTES
    start = address_of(batch.rows)
    call_native(batch.rhs, start + into * width + BYTES, start + state * width, batch.rhs_context)


@compiled_part(forceinline=True)
def _finite(rows, row, n):
    """Lanes in which a row is finite: anything that is not, times zero, is NaN."""
    total = rows[row, 1] * 0.0
    for k in range(1, n):
        total += rows[row, k + 1] * 0.0
    return total == 0.0


@compiled_part(forceinline=True)
def _smallest_step(t):
    return SPACING * abs(t) + TINY


# -- a run enters a lane, and leaves it ------------------------------------------------------------------


@compiled_part
def _set_bound(batch, l):
    """The time a lane may not step across: its next breakpoint or the end."""
    run = batch.counter[RUN, l]
    at = batch.breaks[run if batch.breaks.shape[0] > 1 else 0, batch.counter[NEXT_BREAK, l]]
    batch.real[BOUND, l] = min(at, batch.t_end)
    batch.real[BREAK, l] = 1.0 if at <= batch.t_end else 0.0


@compiled_part
def _enter(batch, l, run):
    """Put a run into a lane; its derivative and step size are still to be found."""
    real, counter = batch.real, batch.counter
    row = run if batch.atol.shape[0] > 1 else 0
    for k in range(batch.y.shape[0]):
        batch.y[k, l] = batch.start[run, k]
        batch.absolute[k, l] = batch.atol[row, k]
    row = run if batch.data.shape[0] > 1 else 0
    for k in range(batch.column.shape[0]):
        batch.column[k, l] = batch.data[row, k]
    for k in range(COUNTERS):
        counter[k, l] = 0
    for k in range(REALS):
        real[k, l] = 0.0
    counter[RUN, l] = run
    real[ACTIVE, l] = 1.0
    real[T, l] = real[EARLIEST, l] = batch.t0
    if batch.breaks[run if batch.breaks.shape[0] > 1 else 0, 0] == batch.t0:
        counter[NEXT_BREAK, l] = 1
        real[EARLIEST, l] = batch.t0 + batch.nudge
    _set_bound(batch, l)
    real[MOST_POTENTIAL, l], real[LEAST_POTENTIAL, l] = -np.inf, np.inf
    real[SHORTEST, l] = np.inf
    batch.counts[run, 0] = WAITING


@compiled_part
def _leave(batch, l, code):
    """Write down what became of the run in a lane; the lane is idle then, and stands still."""
    real, counter = batch.real, batch.counter
    run = counter[RUN, l]
    for k in range(batch.y.shape[0]):
        batch.end_y[run, k] = batch.y[k, l]
    batch.counts[run, 0] = code
    batch.counts[run, 1], batch.counts[run, 2] = int(real[ACCEPTED, l]), int(real[REJECTED, l])
    account = batch.account[run]
    account[END_TIME], account[ENERGY_OFF], account[KINETIC] = real[T, l], real[ENERGY_ERROR, l], real[MOST_KINETIC, l]
    account[POTENTIAL_HIGH], account[POTENTIAL_LOW] = real[MOST_POTENTIAL, l], real[LEAST_POTENTIAL, l]
    account[STEP_LEAST], account[STEP_MOST], account[PLACE] = real[SHORTEST, l], real[LONGEST, l], real[WHERE, l]
    if code != WAITING:
        counter[RUN, l] = -1
        real[ACTIVE, l] = real[BREAK, l] = 0.0
        real[BOUND, l] = real[T, l]
        batch.progress[ENDED] += 1
        batch.progress[IDLE] += 1
        if batch.clear == 1:
            for k in range(batch.column.shape[0]):
                batch.column[k, l] = 0.0


@compiled_part
def _store_samples_here(batch, l):
    """Write the samples that fall on the current time of a lane."""
    sample, run = batch.counter[NEXT_SAMPLE, l], batch.counter[RUN, l]
    while sample < batch.sample_t.size and batch.sample_t[sample] <= batch.real[T, l]:
        for k in range(batch.y.shape[0]):
            batch.sample_y[run, sample, k] = batch.y[k, l]
        sample += 1
    batch.counter[NEXT_SAMPLE, l] = sample


@compiled_part
def _first_steps(batch, tableau, entered):
    """First derivative and step size (Hairer, Norsett & Wanner, II.4) of the lanes that ``entered`` marks.

    Lanes whose derivative is not finite get ``ACCEPT`` 0, all others 1.
    """
    rows, y, real = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real)
    absolute, new = as_eights(batch.absolute), as_eights(entered)[0] > 0.0
    n, m = batch.y.shape[0], batch.controlled
    t = real[T]
    for k in range(n):
        rows[batch.stage, k + 1] = y[k]
    rows[batch.stage, 0] = real[EARLIEST]
    _call(batch, batch.stage, batch.fresh)
    for k in range(n):
        rows[0, k + 1] = choose(new, rows[batch.fresh, k + 1], rows[0, k + 1])
    fine = _finite(rows, batch.fresh, n)
    real[ACCEPT] = choose(fine, 1.0, choose(new, 0.0, 1.0))
    real[LAST_ERROR] = choose(new, 1.0, real[LAST_ERROR])
    d0 = d1 = t * 0.0
    for k in range(m):
        scale = 1.0 / (absolute[k] + batch.rtol * abs(y[k]))
        a, b = y[k] * scale, rows[0, k + 1] * scale
        d0 += a * a
        d1 += b * b
    d0, d1 = np.sqrt(d0 / m), np.sqrt(d1 / m)
    span = batch.t_end - t
    smallest = _smallest_step(t)
    h0 = choose((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    h0 = max(min(h0, span), smallest)
    for _ in range(400):  # a trial point where the derivative is not finite is too far
        rows[batch.stage, 0] = t + h0
        for k in range(n):
            rows[batch.stage, k + 1] = y[k] + h0 * rows[0, k + 1]
        _call(batch, batch.stage, tableau.stages)
        far = new & fine & ~_finite(rows, tableau.stages, n) & (h0 > smallest)
        if not any_lane(far):
            break
        h0 = choose(far, max(0.1 * h0, smallest), h0)
    d2 = t * 0.0
    for k in range(m):
        b = (rows[tableau.stages, k + 1] - rows[0, k + 1]) / (absolute[k] + batch.rtol * abs(y[k]))
        d2 += b * b
    d2 = np.sqrt(d2 / m) / h0
    steepest = max(d1, d2)
    h1 = max(h0 * 1e-3, 1e-6)
    for l in range(LANES):
        if lane(steepest, l) > 1e-15:
            h1 = with_lane(h1, l, (0.01 / lane(steepest, l)) ** (1.0 / (tableau.error_order + 1)))
    h = max(min(min(100.0 * h0, h1), min(span, batch.max_step)), smallest)
    real[H] = choose(new, choose(_finite(rows, tableau.stages, n), h, smallest), real[H])


@compiled_part
def _fill(batch, tableau, entered):
    """Let waiting runs into idle lanes."""
    for l in range(LANES):
        entered[0, l] = 0.0
        if batch.counter[RUN, l] < 0 and batch.progress[NEXT_RUN] < batch.start.shape[0]:
            _enter(batch, l, batch.progress[NEXT_RUN])
            batch.progress[NEXT_RUN] += 1
            batch.progress[IDLE] -= 1
            entered[0, l] = 1.0
            _store_samples_here(batch, l)
    _first_steps(batch, tableau, entered)
    _follow_energy(batch, as_eights(entered)[0] > 0.0, True)
    for l in range(LANES):
        if entered[0, l] == 1.0 and batch.real[T, l] >= batch.t_end:
            _leave(batch, l, DONE)
        elif entered[0, l] == 1.0 and batch.real[ACCEPT, l] == 0.0:
            batch.real[WHERE, l] = batch.t0
            _leave(batch, l, BAD_START)


@compiled_part(forceinline=True)
def _follow_energy(batch, lanes, first):
    """Energies at the current states of some lanes, against those at the start and the work done since."""
    if batch.measure == 0:
        return
    rows, y, real, energy = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real), as_eights(batch.energy)
    rows[batch.stage, 0] = real[T]
    for k in range(batch.y.shape[0]):
        rows[batch.stage, k + 1] = y[k]
    at = address_of(batch.rows) + batch.stage * batch.rows.shape[1] * BYTES
    call_native(batch.measure, address_of(batch.energy), at, batch.measure_context)
    kinetic, potential = energy[0], energy[1]
    total = kinetic + potential
    if first:
        real[START_ENERGY] = choose(lanes, total, real[START_ENERGY])
    off = total - real[START_ENERGY]
    if batch.work >= 0:
        off = off - y[batch.work]
    off = abs(off)
    # what is no number is kept: neither comparison holds for it
    real[ENERGY_ERROR] = choose(lanes & ~(off <= real[ENERGY_ERROR]), off, real[ENERGY_ERROR])
    real[MOST_KINETIC] = choose(lanes & (kinetic > real[MOST_KINETIC]), kinetic, real[MOST_KINETIC])
    real[MOST_POTENTIAL] = choose(lanes & (potential > real[MOST_POTENTIAL]), potential, real[MOST_POTENTIAL])
    real[LEAST_POTENTIAL] = choose(lanes & (potential < real[LEAST_POTENTIAL]), potential, real[LEAST_POTENTIAL])


# -- one step of all lanes -------------------------------------------------------------------------------


@compiled_part
def _give_up(batch):
    """End the runs whose steps are used up or have become too small."""
    real = batch.real
    for l in range(LANES):
        if real[ACTIVE, l] == 0.0:
            continue
        if real[ACCEPTED, l] + real[REJECTED, l] >= batch.max_attempts:
            _leave(batch, l, STEPS_USED_UP)
        elif real[RETRY, l] > 0.0 and real[H, l] < _smallest_step(real[T, l]):
            _leave(batch, l, TOO_SMALL if real[TROUBLE, l] == 0.0 else int(real[TROUBLE, l]))


@compiled_part(forceinline=True)
def _plan(batch):
    """Size of the step that each lane tries: onto the next breakpoint or the end, never across. Some runs end here."""
    real = as_eights(batch.real)
    t, h, retry, smallest = real[T], real[H], real[RETRY] > 0.0, _smallest_step(real[T])
    used_up = real[ACCEPTED] + real[REJECTED] >= batch.max_attempts
    if any_lane((real[ACTIVE] > 0.0) & (used_up | (retry & (h < smallest)))):
        _give_up(batch)
    h = choose(retry, h, max(min(h, batch.max_step), smallest))
    bound, t_new = real[BOUND], t + h
    cut = t_new >= bound
    t_new = choose(cut, bound, t_new)
    real[CUT] = choose(cut, 1.0, 0.0)
    real[T_NEW] = t_new
    real[LATEST] = choose(cut & (real[BREAK] > 0.0), bound - batch.nudge, t_new)
    real[STEP] = t_new - t


@compiled_part(fastmath={"contract"}, forceinline=True)
def _combine(rows, into, base, h, sources, weights, count, row, n):
    """rows[into] = base + h * (row of the tableau applied to the stages), for the first n components.

    Four components at a time: their sums stay in registers.
    """
    j = 1
    while j + 3 <= n:
        w, i = weights[row, 0], sources[row, 0]
        a, b, c, d = w * rows[i, j], w * rows[i, j + 1], w * rows[i, j + 2], w * rows[i, j + 3]
        for term in range(1, count):
            w, i = weights[row, term], sources[row, term]
            a += w * rows[i, j]
            b += w * rows[i, j + 1]
            c += w * rows[i, j + 2]
            d += w * rows[i, j + 3]
        rows[into, j] = base[j - 1] + h * a
        rows[into, j + 1] = base[j] + h * b
        rows[into, j + 2] = base[j + 1] + h * c
        rows[into, j + 3] = base[j + 2] + h * d
        j += 4
    while j <= n:
        a = weights[row, 0] * rows[sources[row, 0], j]
        for term in range(1, count):
            a += weights[row, term] * rows[sources[row, term], j]
        rows[into, j] = base[j - 1] + h * a
        j += 1


@compiled_part(forceinline=True)
def _stages(batch, tableau):
    """All stages of the step, and the new state."""
    rows, y, real = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real)
    sources, weights, counts, nodes = tableau.sources, tableau.weights, batch.terms, tableau.nodes
    stage, new, last, n = batch.stage, batch.new, tableau.stages, batch.y.shape[0]
    t, h, earliest, latest = real[T], real[STEP], real[EARLIEST], real[LATEST]
    rhs, context, width, start = batch.rhs, batch.rhs_context, batch.rows.shape[1] * BYTES, address_of(batch.rows)
    for s in range(1, last):
        _combine(rows, stage, y, h, sources, weights, counts[s], s, n)
        rows[stage, 0] = max(min(t + nodes[s] * h, latest), earliest)
        call_native(rhs, start + s * width + BYTES, start + stage * width, context)
    _combine(rows, new, y, h, sources, weights, counts[last], last, n)
    rows[new, 0] = latest
    call_native(rhs, start + last * width + BYTES, start + new * width, context)


@compiled_part(forceinline=True)
def _step_factor(size, last, tableau):
    """``control.step_factor`` for eight, by roots of roots where both the order and the memory are of eighths."""
    if tableau.error_order == 7:
        return tableau.safety * _eighth_root(_eighth_root(size * last) / size)
    power, factor = 1.0 / (tableau.error_order + 1), size
    for l in range(LANES):
        e = lane(size, l)
        factor = with_lane(factor, l, tableau.safety * e**-power * (e * lane(last, l)) ** (tableau.memory * power))
    return factor


@compiled_part(forceinline=True)
def _eighth_root(x):
    return np.sqrt(np.sqrt(np.sqrt(x)))


@compiled_part(forceinline=True)
def _judge(batch, tableau):
    """Error of the step in every lane, whether it is accepted, and the factor for the next step size."""
    rows, y, real, zero = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real), as_eights(batch.zero)
    sources, weights, counts = tableau.sources, tableau.weights, batch.terms
    scratch, new, n, m = batch.scratch, batch.new, batch.y.shape[0], batch.controlled
    e = tableau.error_row
    _combine(rows, scratch, zero, 1.0, sources, weights, counts[e], e, m)
    _combine(rows, scratch + 1, zero, 1.0, sources, weights, counts[e + 1], e + 1, m)
    absolute = as_eights(batch.absolute)
    first = second = real[T] * 0.0
    for k in range(m):
        scale = 1.0 / (absolute[k] + batch.rtol * max(abs(y[k]), abs(rows[new, k + 1])))
        a, b = rows[scratch, k + 1] * scale, rows[scratch + 1, k + 1] * scale
        first += a * a
        second += b * b
    error = choose(first == 0.0, 0.0, real[STEP] * first / np.sqrt((first + 0.01 * second) * m))
    fine = np.isfinite(error) & _finite(rows, new, n) & _finite(rows, tableau.stages, n)
    accept = fine & (error < 1.0)
    size = max(error, 1e-30)
    factor = _step_factor(size, real[LAST_ERROR], tableau)
    longest = choose(real[RETRY] > 0.0, 1.0, MAX_FACTOR)
    shrunk = choose(fine, max(factor, MIN_FACTOR), MIN_FACTOR)
    real[FACTOR] = choose(accept, min(factor, longest), shrunk)
    real[LAST_ERROR] = choose(accept, max(size, LEAST_ERROR), real[LAST_ERROR])
    real[FINE] = choose(fine, 1.0, 0.0)
    real[ACCEPT] = choose(accept, 1.0, 0.0)
    real[AFTER] = real[T_NEW]
    real[REFUSED] = 0.0


@compiled_part
def _refuse(batch, l, code):
    """Take back that the step of a lane is accepted."""
    batch.real[ACCEPT, l] = 0.0
    batch.real[FACTOR, l] = MIN_FACTOR
    batch.real[REFUSED, l] = code


@compiled_part
def _project(batch, row, l):
    """Bring the state of one lane in a row onto the constraints, in place; False if that did not work."""
    n = batch.y.shape[0]
    for k in range(n + 1):
        batch.given[k] = batch.rows[row, k, l]
    batch.onto[n + 2] = 1.0
    call_native(batch.project, address_of(batch.onto), address_of(batch.given), batch.contexts[l])
    for k in range(n + 2):
        if not np.isfinite(batch.onto[k]):
            batch.onto[n + 2] = 1.0
    if batch.onto[n + 2] != 0.0:
        return False
    for k in range(n):
        batch.rows[row, k + 1, l] = batch.onto[k]
    return True


@compiled_part
def _prepare_dense(batch, tableau):
    """Dense output of the step, in all lanes."""
    rows, y, real, zero = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real), as_eights(batch.zero)
    sources, weights, counts = tableau.sources, tableau.weights, batch.terms
    n, last, dense, h = batch.y.shape[0], tableau.stages, batch.dense, real[STEP]
    for s in range(last + 1, last + 1 + tableau.extra_stages):
        _combine(rows, batch.stage, y, h, sources, weights, counts[s], s, n)
        rows[batch.stage, 0] = max(min(real[T] + tableau.nodes[s] * h, real[LATEST]), real[EARLIEST])
        _call(batch, batch.stage, s)
    for j in range(1, n + 1):
        change = rows[batch.new, j] - y[j - 1]
        rows[dense, j] = change
        rows[dense + 1, j] = h * rows[0, j] - change
        rows[dense + 2, j] = 2.0 * change - h * (rows[0, j] + rows[last, j])
    for d in range(tableau.dense_rows):
        r = tableau.error_row + 2 + d
        _combine(rows, dense + 3 + d, zero, h, sources, weights, counts[r], r, n)


@compiled_part
def _sample_due(batch, l, sample):
    """Whether the sample of that number lies strictly inside the step of a lane."""
    return (
        batch.real[ACCEPT, l] == 1.0 and sample < batch.sample_t.size and batch.sample_t[sample] < batch.real[T_NEW, l]
    )


@compiled_part
def _some_sample_due(batch, ahead):
    found = False
    for l in range(LANES):
        if batch.real[ACTIVE, l] == 1.0 and _sample_due(batch, l, ahead[l]):
            found = True
    return found


@compiled_part
def _store_samples_inside(batch, tableau, ahead, fraction):
    """Write the samples inside the steps of all lanes; lanes where that fails are refused."""
    rows, y, x = as_eights(batch.rows), as_eights(batch.y), as_eights(fraction)
    n = batch.y.shape[0]
    for l in range(LANES):
        ahead[l] = batch.counter[NEXT_SAMPLE, l]
    if not _some_sample_due(batch, ahead):
        return
    _prepare_dense(batch, tableau)
    while _some_sample_due(batch, ahead):
        for l in range(LANES):
            fraction[0, l] = 0.0
            if batch.real[ACTIVE, l] == 1.0 and _sample_due(batch, l, ahead[l]):
                fraction[0, l] = (batch.sample_t[ahead[l]] - batch.real[T, l]) / batch.real[STEP, l]
        for j in range(1, n + 1):
            value = x[0] * 0.0
            for d in range(2 + tableau.dense_rows, -1, -1):
                value = (value + rows[batch.dense + d, j]) * (x[0] if d % 2 == 0 else 1.0 - x[0])
            rows[batch.stage, j] = y[j - 1] + value
        finite = choose(_finite(rows, batch.stage, n), 1.0, x[0] * 0.0)
        for l in range(LANES):
            if batch.real[ACTIVE, l] == 0.0 or not _sample_due(batch, l, ahead[l]):
                continue
            batch.rows[batch.stage, 0, l] = batch.sample_t[ahead[l]]
            if lane(finite, l) == 0.0:
                _refuse(batch, l, BAD_VALUE)
                continue
            if batch.project != 0 and not _project(batch, batch.stage, l):
                _refuse(batch, l, NO_PROJECTION)
                continue
            for k in range(n):
                batch.sample_y[batch.counter[RUN, l], ahead[l], k] = batch.rows[batch.stage, k + 1, l]
            ahead[l] += 1


@compiled_part
def _on_break(batch, l):
    """Whether the step of a lane ends on a breakpoint after which the run goes on."""
    real = batch.real
    return real[CUT, l] == 1.0 and real[BREAK, l] == 1.0 and real[T_NEW, l] < batch.t_end


@compiled_part
def _correct(batch, tableau):
    """Projection of the new states, and derivatives taken afresh after it and after breakpoints.

    The derivative the next step starts with stands in row ``fresh`` then.
    """
    rows, real = as_eights(batch.rows), as_eights(batch.real)
    n, some = batch.y.shape[0], batch.project != 0
    for k in range(n):
        rows[batch.fresh, k + 1] = rows[tableau.stages, k + 1]
    for l in range(LANES):
        if batch.real[ACTIVE, l] == 0.0 or batch.real[ACCEPT, l] == 0.0:
            continue
        if _on_break(batch, l):
            batch.real[AFTER, l] += batch.nudge
            some = True
        batch.rows[batch.new, 0, l] = batch.real[T_NEW, l]
        if batch.project != 0 and not _project(batch, batch.new, l):
            _refuse(batch, l, NO_PROJECTION)
    if not some:
        return
    rows[batch.new, 0] = real[AFTER]
    _call(batch, batch.new, batch.scratch)
    fine = choose(_finite(rows, batch.scratch, n), 1.0, real[T] * 0.0)
    for l in range(LANES):
        if batch.real[ACTIVE, l] == 0.0 or batch.real[ACCEPT, l] == 0.0:
            continue
        if batch.project == 0 and not _on_break(batch, l):
            continue
        if lane(fine, l) == 0.0:
            _refuse(batch, l, BAD_VALUE)
        for k in range(n):
            batch.rows[batch.fresh, k + 1, l] = batch.rows[batch.scratch, k + 1, l]


@compiled_part(forceinline=True)
def _commit(batch, derivative):
    """Accepted lanes go on to their new states."""
    rows, y, real = as_eights(batch.rows), as_eights(batch.y), as_eights(batch.real)
    accept = real[ACCEPT] > 0.0
    for k in range(batch.y.shape[0]):
        y[k] = choose(accept, rows[batch.new, k + 1], y[k])
        rows[0, k + 1] = choose(accept, rows[derivative, k + 1], rows[0, k + 1])
    real[T] = choose(accept, real[T_NEW], real[T])
    real[EARLIEST] = choose(accept, real[AFTER], real[EARLIEST])
    _follow_energy(batch, accept, False)


@compiled_part
def _settle_special(batch):
    """Lanes whose step ended on a breakpoint, a sample or the end, or could not be projected."""
    real, counter = batch.real, batch.counter
    for l in range(LANES):
        if real[ACTIVE, l] == 0.0:
            continue
        if real[ACCEPT, l] == 0.0:
            if real[TROUBLE, l] > 0.0:
                real[WHERE, l] = real[T_NEW, l]
            if real[TROUBLE, l] == NO_PROJECTION and real[RETRY, l] > PROJECTION_TRIES:
                _leave(batch, l, NO_PROJECTION)
            continue
        if real[CUT, l] == 1.0 and real[BREAK, l] == 1.0:
            counter[NEXT_BREAK, l] += 1
            _set_bound(batch, l)
        _store_samples_here(batch, l)
        if real[T, l] >= batch.t_end:
            _leave(batch, l, DONE)


@compiled_part(forceinline=True)
def _settle(batch):
    """Counts, next step sizes, and the runs that have reached the end."""
    real = as_eights(batch.real)
    accept, cut, h = real[ACCEPT] > 0.0, real[CUT] > 0.0, real[STEP]
    usual = accept & ~cut
    real[ACCEPTED] = real[ACCEPTED] + real[ACCEPT]
    real[REJECTED] = real[REJECTED] + (1.0 - real[ACCEPT])
    real[RETRY] = choose(accept, 0.0, real[RETRY] + 1.0)
    trouble = choose(accept, 0.0, choose(real[FINE] > 0.0, real[REFUSED], 1.0 * BAD_VALUE))
    real[TROUBLE] = trouble
    real[SHORTEST] = choose(usual, min(real[SHORTEST], h), real[SHORTEST])
    real[LONGEST] = choose(usual, max(real[LONGEST], h), real[LONGEST])
    onward = h * real[FACTOR]
    # the short step onto a breakpoint says little about the steps after it
    real[H] = choose(accept & cut & (real[BREAK] > 0.0), max(onward, min(real[H], batch.max_step)), onward)
    if batch.sample_t.size > 0 or any_lane((accept & cut) | (trouble > 0.0)):
        _settle_special(batch)


@compiled(allocates=False)
def advance(batch, tableau, passes, entered, ahead, fraction):
    """Go on for at most so many steps of all lanes; True when all runs have ended."""
    runs = batch.start.shape[0]
    sampled, corrected = batch.sample_t.size > 0, batch.project != 0 or batch.breaks.shape[1] > 1
    derivative = batch.fresh if corrected else tableau.stages
    for _ in range(passes):
        if batch.progress[ENDED] == runs:
            return True
        while batch.progress[IDLE] > 0 and batch.progress[NEXT_RUN] < runs:
            _fill(batch, tableau, entered)
        _plan(batch)
        _stages(batch, tableau)
        _judge(batch, tableau)
        batch.progress[PASSES] += 1
        if sampled:
            _store_samples_inside(batch, tableau, ahead, fraction)
        if corrected:
            _correct(batch, tableau)
        if sampled:
            for l in range(LANES):
                if batch.real[ACCEPT, l] == 1.0:
                    batch.counter[NEXT_SAMPLE, l] = ahead[l]
        _commit(batch, derivative)
        _settle(batch)
    return batch.progress[ENDED] == runs


@compiled(allocates=False)
def write_down(batch):
    """The state of the runs that are under way, where a batch is stopped early."""
    for l in range(LANES):
        if batch.counter[RUN, l] >= 0:
            _leave(batch, l, WAITING)
