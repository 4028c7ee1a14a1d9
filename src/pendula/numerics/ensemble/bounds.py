"""Bounds of the components of a state, compiled: where in their steps runs leave them."""

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.ensemble.batch import all_lanes_at, each_lane_at
from pendula.numerics.ensemble.lanes import smallest_step
from pendula.numerics.ensemble.rows import prepare_dense
from pendula.numerics.scalars.eight import BYTES, LANES, any_lane, choose, eights_at, lane

PARTS = 8  # points of a step that may leave the bounds at which this is checked
BISECTIONS = 50
GOLDEN = 0.6180339887498949


@compiled_part
def _may_leave(batch):
    """1 in lanes whose accepted step may leave the bounds, else 0.

    A component reaches beyond both ends of a step where its rate changes sign inside: a cubic with the same rates does
    so by a quarter of the step times the larger one at most.
    """
    lanes, n, width = all_lanes_at(batch.lanes), batch.n, (batch.n + 1) * BYTES
    bounds, y = doubles_at(batch.bounds, (2, n)), eights_at(batch.y, n)
    first, last = eights_at(batch.rows, n + 1), eights_at(batch.rows + batch.stages * width, n + 1)
    new = eights_at(batch.rows + batch.new * width, n + 1)
    found = lanes.t * 0.0
    for k in range(n):
        if bounds[0, k] == -np.inf and bounds[1, k] == np.inf:
            continue
        reach = 0.25 * lanes.step * max(abs(first[k + 1]), abs(last[k + 1]))
        reach = choose(first[k + 1] * last[k + 1] < 0.0, reach, lanes.t * 0.0)
        beyond = (max(y[k], new[k + 1]) + reach > bounds[1, k]) | (min(y[k], new[k + 1]) - reach < bounds[0, k])
        found = choose(beyond, 1.0, found)
    return choose((lanes.accept > 0.0) & (lanes.active > 0.0) & (lanes.leaving == 0.0), found, lanes.t * 0.0)


@compiled_part
def _component(batch, l, k, x):
    """A component of the state of a lane at a fraction of its step, by dense output."""
    rows = doubles_at(batch.rows, (batch.late + 1, batch.n + 1, LANES))
    value = 0.0
    for d in range(2 + batch.dense_rows, -1, -1):
        value = (value + rows[batch.dense + d, k + 1, l]) * (x if d % 2 == 0 else 1.0 - x)
    return value + doubles_at(batch.y, (batch.n, LANES))[k, l]


@compiled_part
def _beyond(batch, l, x):
    """Whether the state of a lane at a fraction of its step is outside of the bounds."""
    n, found = batch.n, False
    bounds = doubles_at(batch.bounds, (2, n))
    for k in range(n):
        if bounds[0, k] > -np.inf or bounds[1, k] < np.inf:
            value = _component(batch, l, k, x)
            if value < bounds[0, k] or value > bounds[1, k]:
                found = True
    return found


@compiled_part
def _peak(batch, l, k):
    """Where in a step a component is largest or least, if its rate changes sign inside (golden section); else 1."""
    rows = doubles_at(batch.rows, (batch.late + 1, batch.n + 1, LANES))
    first, last = rows[0, k + 1, l], rows[batch.stages, k + 1, l]
    if first * last >= 0.0:
        return 1.0
    sign = 1.0 if first > 0.0 else -1.0
    a, b = 0.0, 1.0
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    left, right = sign * _component(batch, l, k, x), sign * _component(batch, l, k, y)
    for _ in range(BISECTIONS):
        if left > right:
            b, y, right = y, x, left
            x = b - GOLDEN * (b - a)
            left = sign * _component(batch, l, k, x)
        else:
            a, x, left = x, y, right
            y = a + GOLDEN * (b - a)
            right = sign * _component(batch, l, k, y)
    return 0.5 * (a + b)


@compiled_part
def _first_exit(batch, l):
    """The fraction of a step at which a lane leaves its bounds for the first time; 2 if it does not."""
    n, outside, inside = batch.n, 2.0, 0.0
    bounds = doubles_at(batch.bounds, (2, n))
    for part in range(1, PARTS + 1):
        if outside > 1.0 and _beyond(batch, l, part / PARTS):
            inside, outside = (part - 1) / PARTS, part / PARTS
    for k in range(n):
        if bounds[0, k] > -np.inf or bounds[1, k] < np.inf:
            x = _peak(batch, l, k)
            if x < outside and _beyond(batch, l, x):
                inside, outside = 0.0, x
    if outside <= 1.0:
        for _ in range(BISECTIONS):
            middle = 0.5 * (inside + outside)
            if _beyond(batch, l, middle):
                outside = middle
            else:
                inside = middle
    return outside


@compiled_part
def watch_bounds(batch):
    """Find when lanes leave their bounds inside accepted steps; those steps are repeated to end there."""
    may = _may_leave(batch)
    if not any_lane(may > 0.0):
        return
    lanes = each_lane_at(batch.lanes)
    prepare_dense(batch)
    for l in range(LANES):
        if lane(may, l) == 0.0:
            continue
        x = _first_exit(batch, l)
        if x <= 1.0:
            lanes.leaving[l] = 1.0
            lanes.on_break[l] = 0.0
            lanes.bound[l] = max(lanes.t[l] + x * lanes.step[l], lanes.t[l] + smallest_step(lanes.t[l]))
            lanes.accept[l] = 0.0
            lanes.factor[l] = 1.0
