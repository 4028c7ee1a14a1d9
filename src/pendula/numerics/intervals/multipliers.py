"""Bounds of Lagrange multipliers over a box, and boxes made smaller by the constraints alone.

The unknowns are n coordinates and then m multipliers. The first n rows are f(q) + G(q)^T lam, the last m are g(q). The
multipliers are never split: wherever the constraints are verified to be independent, they follow from the coordinates.
With them the full system is square, and a root where its Jacobian is regular is an equilibrium with independent
constraints.
"""

from __future__ import annotations

import math

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.intervals.bounds import down, inverse, product, up
from pendula.numerics.intervals.tape import NOWHERE, PARTLY, evaluate

CLOSED, OPEN, UNBOUNDED = range(3)
"""multipliers are bounded; the constraints hold nowhere in the box; they may be dependent somewhere in it"""
PASSES = 3
"""how often the constraints make a box smaller before it is split"""
WORTH = 0.9
"""another pass pays where a side gets shorter than this share of it"""
PIVOT = 1e-6
"""pivots below this share of the largest slope of their constraint mean that constraints are nearly dependent"""


@compiled_part
def bound_multipliers(steps, constants, rows, m, x, box, middle, work):
    """Makes the coordinates' box smaller by the constraints, then bounds the multipliers.

    ``work`` has the shape (3 m + 6, unknowns): slopes of the constraints in the middle, reduced; the combinations of
    constraints that reduce them; further rows for single numbers.
    """
    n = x.shape[0] - m
    for j in range(m):
        x[n + j, 0], x[n + j, 1] = 0.0, 0.0
    for _ in range(PASSES):
        defined = evaluate(steps, constants, x[:, 0], x[:, 1], box)
        if defined == NOWHERE:
            return OPEN
        for j in range(m):
            if box[rows[n + j], 0, 0] > 0.0 or box[rows[n + j], 0, 1] < 0.0:
                return OPEN
        if defined == PARTLY:  # no mean value theorem
            return UNBOUNDED
        reduced = _reduce(rows, m, n, x, box, work)
        ratio = _closed(steps, constants, rows, m, n, x, box, middle, work, reduced)
        if ratio < 0.0:
            return OPEN
        if ratio > WORTH:
            break
    if not reduced:
        return UNBOUNDED
    return _multipliers(rows, m, n, x, box, work)


@compiled_part
def _reduce(rows, m, n, x, box, work):
    """Combinations R of the constraints, and m coordinates in which their slopes are near to the unit matrix.

    Gauss and Jordan with full pivoting, on the slopes in the middle of their bounds times the sides of the box, so
    that units do not matter. False where these are nearly dependent.
    """
    R, chosen = work[m : 2 * m], work[3 * m]
    for j in range(m):
        largest = 0.0
        for l in range(n):
            value = 0.5 * (box[rows[n + j], 1 + l, 0] + box[rows[n + j], 1 + l, 1])
            if not abs(value) < math.inf:
                return False
            value *= max(x[l, 1] - x[l, 0], 1e-300)
            work[j, l] = value
            largest = max(largest, abs(value))
        if not largest > 1e-300:
            return False
        for l in range(n):
            work[j, l] /= largest
        for k in range(m):
            R[j, k] = 0.0
        R[j, j] = 1.0 / largest
        chosen[j] = -1.0
    for _ in range(m):
        best, row, column = PIVOT, -1, -1
        for j in range(m):
            if chosen[j] >= 0.0:
                continue
            for l in range(n):
                if abs(work[j, l]) > best:
                    best, row, column = abs(work[j, l]), j, l
        if row < 0:
            return False
        chosen[row] = column
        over = 1.0 / work[row, column]
        for l in range(n):
            work[row, l] *= over
        for k in range(m):
            R[row, k] *= over
        for j in range(m):
            factor = work[j, column]
            if j != row and factor != 0.0:
                for l in range(n):
                    work[j, l] -= factor * work[row, l]
                for k in range(m):
                    R[j, k] -= factor * R[row, k]
    for j in range(m):
        l = int(chosen[j])
        for k in range(m):
            R[j, k] *= max(x[l, 1] - x[l, 0], 1e-300)
    return True


@compiled_part
def _closed(steps, constants, rows, m, n, x, box, middle, work, reduced):
    """Makes a box smaller by combinations of the constraints (Gauss and Seidel about the middle of the box).

    Returns by which factor the side that shrinks most got shorter; -1 if the constraints hold nowhere in the box.
    """
    R, place, slope_lo, slope_hi = work[m : 2 * m], work[3 * m + 1], work[3 * m + 2], work[3 * m + 3]
    for l in range(n + m):
        place[l] = 0.5 * (x[l, 0] + x[l, 1])
    evaluate(steps, constants, place, place, middle)
    least = 1.0
    for j in range(2 * m if reduced else m):
        lo, hi = 0.0, 0.0
        for l in range(n):
            slope_lo[l], slope_hi[l] = 0.0, 0.0
        for k in range(m):
            weight = (1.0 if j == k else 0.0) if j < m else R[j - m, k]
            if weight == 0.0:
                continue
            p = product(weight, weight, middle[rows[n + k], 0, 0], middle[rows[n + k], 0, 1])
            lo, hi = down(lo + p[0]), up(hi + p[1])
            for l in range(n):
                p = product(weight, weight, box[rows[n + k], 1 + l, 0], box[rows[n + k], 1 + l, 1])
                slope_lo[l], slope_hi[l] = down(slope_lo[l] + p[0]), up(slope_hi[l] + p[1])
        for l in range(n):
            shorter = _solved_for(l, lo, hi, n, x, place, slope_lo, slope_hi)
            if shorter < 0.0:
                return -1.0
            least = min(least, shorter)
    return least


@compiled_part
def _solved_for(l, lo, hi, n, x, place, slope_lo, slope_hi):
    """Makes one side shorter by an equation with a value in the middle and slopes; returns by which factor, or -1."""
    if slope_lo[l] <= 0.0 <= slope_hi[l]:
        lo_all, hi_all = lo, hi
        for k in range(n):
            p = product(slope_lo[k], slope_hi[k], down(x[k, 0] - place[k]), up(x[k, 1] - place[k]))
            lo_all, hi_all = down(lo_all + p[0]), up(hi_all + p[1])
        return -1.0 if lo_all > 0.0 or hi_all < 0.0 else 1.0
    for k in range(n):
        if k != l:
            p = product(slope_lo[k], slope_hi[k], down(x[k, 0] - place[k]), up(x[k, 1] - place[k]))
            lo, hi = down(lo + p[0]), up(hi + p[1])
    d = inverse(slope_lo[l], slope_hi[l])
    p = product(lo, hi, d[0], d[1])
    lo, hi = down(place[l] - p[1]), up(place[l] - p[0])
    if lo > x[l, 1] or hi < x[l, 0]:
        return -1.0
    before = x[l, 1] - x[l, 0]
    if lo > x[l, 0]:
        x[l, 0] = lo
    if hi < x[l, 1]:
        x[l, 1] = hi
    return (x[l, 1] - x[l, 0]) / before if before > 0.0 else 1.0


@compiled_part
def _multipliers(rows, m, n, x, box, work):
    """Bounds of the multipliers from m of the equations f + G^T lam = 0, those of the chosen coordinates.

    With R^T near to the inverse of their part of G^T: lam = -R^T f + (1 - R^T G^T) lam, so |lam| <= r + E |lam|. If
    r + E u < u for some u > 0, the spectral radius of E is below one and |lam| <= u.
    """
    R, E, chosen = work[m : 2 * m], work[2 * m : 3 * m], work[3 * m]
    centre, radius, bound = work[3 * m + 1], work[3 * m + 2], work[3 * m + 3]
    for a in range(m):
        lo, hi = 0.0, 0.0
        for k in range(m):
            i = rows[int(chosen[k])]
            p = product(-R[k, a], -R[k, a], box[i, 0, 0], box[i, 0, 1])
            lo, hi = down(lo + p[0]), up(hi + p[1])
        centre[a] = 0.5 * (lo + hi)
        radius[a] = up(max(hi - centre[a], centre[a] - lo))
        bound[a] = up(max(abs(lo), abs(hi)))
        for b in range(m):
            lo, hi = (-1.0, -1.0) if a == b else (0.0, 0.0)
            for k in range(m):
                i = rows[int(chosen[k])]
                p = product(R[k, a], R[k, a], box[i, 1 + n + b, 0], box[i, 1 + n + b, 1])
                lo, hi = down(lo + p[0]), up(hi + p[1])
            E[a, b] = max(abs(lo), abs(hi))
    sizes, totals = work[3 * m + 4], work[3 * m + 5]
    for a in range(m):
        sizes[a] = 1.01 * bound[a] + 1e-300
    for _ in range(30):
        inside = True
        for a in range(m):
            total = bound[a]
            for b in range(m):
                total = up(total + up(E[a, b] * sizes[b]))
            inside = inside and total < sizes[a]
            totals[a] = total
        if inside:
            break
        for a in range(m):
            sizes[a] = 1.02 * totals[a] + 1e-300
    if not inside:
        return UNBOUNDED
    for a in range(m):
        reach = radius[a]
        for b in range(m):
            reach = up(reach + up(E[a, b] * sizes[b]))
        if not reach < math.inf:
            return UNBOUNDED
        x[n + a, 0], x[n + a, 1] = down(centre[a] - reach), up(centre[a] + reach)
    return CLOSED
