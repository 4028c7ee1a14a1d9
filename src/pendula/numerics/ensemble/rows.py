"""Rows of a batch, compiled: sums of stages by rows of the tableau, and dense output of a step."""

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import doubles_at, integers_at
from pendula.numerics.ensemble.batch import all_lanes_at
from pendula.numerics.ensemble.lanes import call
from pendula.numerics.scalars.eight import BYTES, eights_at

UNROLLED = (1, 2, 3, 4, 5, 6, 7, 9, 8)
"""Numbers of terms for which there is code without a loop over the terms, which would cost as much as the sums."""


def _combining(count, others):
    """A function: row ``into`` = base + h * (a row of the tableau applied to the stages), for the first n components.

    It is for rows of ``count`` terms and leaves all others to another function; for any number if ``count`` is 0.
    All arrays are given by address. Four components at a time, so that their sums stay in registers.
    """

    @compiled_part(fastmath={"contract"}, forceinline=count > 0)
    def combine(rows, width, into, base, h, sources, weights, terms, n):
        if count > 0 and terms != count:
            others(rows, width, into, base, h, sources, weights, terms, n)
            return
        last = count if count > 0 else terms
        s, w = integers_at(sources, last), doubles_at(weights, last)
        start, out = eights_at(base, n), eights_at(rows + into * width + BYTES, n)
        j = 0
        while j + 3 < n:
            x, at = w[0], eights_at(rows + s[0] * width + BYTES, n)
            a, b, c, d = x * at[j], x * at[j + 1], x * at[j + 2], x * at[j + 3]
            for term in range(1, last):
                x, at = w[term], eights_at(rows + s[term] * width + BYTES, n)
                a += x * at[j]
                b += x * at[j + 1]
                c += x * at[j + 2]
                d += x * at[j + 3]
            out[j] = start[j] + h * a
            out[j + 1] = start[j + 1] + h * b
            out[j + 2] = start[j + 2] + h * c
            out[j + 3] = start[j + 3] + h * d
            j += 4
        while j < n:
            a = w[0] * eights_at(rows + s[0] * width + BYTES, n)[j]
            for term in range(1, last):
                a += w[term] * eights_at(rows + s[term] * width + BYTES, n)[j]
            out[j] = start[j] + h * a
            j += 1

    return combine


_combine = _combine_quickly = _combining(0, None)
for _count in UNROLLED:
    _combine_quickly = _combining(_count, _combine_quickly)


@compiled_part(forceinline=True)
def sum_row(batch, into, base, h, index, n):
    """:func:`_combining` with a row of the tableau, given by its index."""
    step, width = index * batch.columns * 8, (batch.n + 1) * BYTES
    terms = integers_at(batch.terms, index + 1)[index]
    _combine(batch.rows, width, into, base, h, batch.sources + step, batch.weights + step, terms, n)


@compiled_part(forceinline=True)
def sum_row_quickly(batch, into, base, h, index, n):
    """The same, with a lot of code in the caller: for the innermost loop."""
    step, width = index * batch.columns * 8, (batch.n + 1) * BYTES
    terms = integers_at(batch.terms, index + 1)[index]
    _combine_quickly(batch.rows, width, into, base, h, batch.sources + step, batch.weights + step, terms, n)


@compiled_part
def prepare_dense(batch):
    """Dense output of the step, in all lanes."""
    lanes, n, last, dense = all_lanes_at(batch.lanes), batch.n, batch.stages, batch.dense
    rows, y, h = eights_at(batch.rows, (batch.late + 1, n + 1)), eights_at(batch.y, n), lanes.step
    nodes = doubles_at(batch.nodes, last + 1 + batch.extra_stages)
    for s in range(last + 1, last + 1 + batch.extra_stages):
        sum_row(batch, batch.stage, batch.y, h, s, n)
        rows[batch.stage, 0] = max(min(lanes.t + nodes[s] * h, lanes.latest), lanes.earliest)
        call(batch, batch.stage, s)
    for j in range(1, n + 1):
        change = rows[batch.new, j] - y[j - 1]
        rows[dense, j] = change
        rows[dense + 1, j] = h * rows[0, j] - change
        rows[dense + 2, j] = 2.0 * change - h * (rows[0, j] + rows[last, j])
    for d in range(batch.dense_rows):
        sum_row(batch, dense + 3 + d, batch.zero, h, batch.error_row + 2 + d, n)
