"""All roots of n equations in n unknowns within a box, with proof: branch, prune and verify.

A box is discarded where bounds exclude a root, made smaller by the interval method of Gauss and Seidel on the equations
multiplied by an approximate inverse of their Jacobian, and halved where that does not help (Neumaier 1990, chapter 5).
A root is verified where the operator of Krawczyk maps a box into its interior: then that box holds exactly one. Every
bound is rounded outward, so the result is proven for the numbers as the computer stores them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.intervals.bounds import UNIT, down, inverse, product, up
from pendula.numerics.intervals.multipliers import CLOSED, OPEN, bound_multipliers
from pendula.numerics.intervals.tape import NOWHERE, PARTLY, Array, Tape, evaluate

WAITING, FOUND, UNDECIDED, SEEN = range(4)
"""what is counted: boxes that wait, roots found, boxes left undecided, boxes examined"""
DEEPEST = 4096
"""boxes that wait at the same time: their number grows with the depth alone"""
MOST_FOUND = 20_000
MOST_UNDECIDED = 20_000
SLICE = 2_000
"""boxes between two checks of the time"""
SMALLEST = 1e-7
"""a box whose sides are all below this share of the whole is left undecided"""
SHRINKS = 0.7
"""a box is tried again without halving where its longest side gets shorter than this share of it"""
REMEMBERED = 4
"""boxes are compared with the regions of this number of roots, the last ones found"""
INFLATED = 1.6
"""roots on the face between two boxes are verified on a box that is larger by this factor"""


@dataclass(frozen=True)
class Roots:
    """The roots in a box, as far as they are proven.

    Attributes:
        enclosures: of each root, lowest and highest value of every unknown, shape (roots, unknowns, 2).
        regions: boxes around them, in each of which this root is the only one; same shape.
        undecided: boxes that may hold any number of roots; there are none outside these and the regions.
        boxes: number of boxes that were examined.
        seconds: time that this took.
        finished: whether all boxes were examined; if not, ``undecided`` includes the others.
    """

    enclosures: Array
    regions: Array
    undecided: Array
    boxes: int
    seconds: float
    finished: bool

    @property
    def proven(self) -> bool:
        """Whether these are all the roots."""
        return self.finished and not len(self.undecided)


def all_roots(
    tape: Tape,
    rows: list[int],
    lo: Array,
    hi: Array,
    *,
    multipliers: int = 0,
    seconds: float = math.inf,
    smallest: float = SMALLEST,
    on_progress: Callable[[int, int], None] | None = None,
) -> Roots:
    """All roots of the results ``rows`` of a tape in the box from ``lo`` to ``hi``.

    Args:
        tape: the functions; as many rows as unknowns.
        rows: steps that are to be zero.
        lo, hi: corners of the box.
        multipliers: how many unknowns, the last ones, are Lagrange multipliers of as many constraints, the last rows
            (:mod:`pendula.numerics.intervals.multipliers`). Their corners do not count, and no box excludes any.
        seconds: time limit; boxes not examined by then are undecided.
        smallest: sides below this share of the box are not halved.
        on_progress: called as ``on_progress(boxes, roots)`` about every tenth of a second.

    Raises:
        ValueError: the corners are not those of a finite box.
    """
    n = tape.variables
    steps, constants, results = tape.compiled(rows)
    lo, hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)
    sides = (hi - lo)[: n - multipliers]
    if not (np.isfinite(sides).all() and (sides >= 0.0).all()):
        raise ValueError(f"the corners {lo} and {hi} are not those of a finite box")
    waiting = np.zeros((DEEPEST, n, 2))
    waiting[0] = np.stack([lo, hi], axis=1)
    found, undecided = np.zeros((MOST_FOUND, 2, n, 2)), np.zeros((MOST_UNDECIDED, n, 2))
    counts = np.array([1, 0, 0, 0])
    shapes = (len(steps), n + 1, 2), (len(steps), 1, 2), (3 * n + 6, n, 2), (3 * multipliers + 6, n)
    scratch = [np.zeros(shape) for shape in shapes]
    least = smallest * (hi - lo)
    least[n - multipliers :] = math.inf
    arguments = steps, constants, results, waiting, found, undecided, counts, least, multipliers, *scratch
    work_off(*arguments, 0)  # compiles; that does not count as time
    told = begin = time.perf_counter()
    while counts[WAITING]:
        work_off(*arguments, SLICE)
        now = time.perf_counter()
        full = counts[WAITING] > DEEPEST - 8 or counts[FOUND] > MOST_FOUND - 8 or counts[UNDECIDED] > MOST_UNDECIDED - 8
        if now - begin > seconds or full:
            break
        if on_progress is not None and now - told > 0.1:
            told = now
            on_progress(int(counts[SEEN]), int(counts[FOUND]))
    rest = np.concatenate([undecided[: counts[UNDECIDED]], waiting[: counts[WAITING]]])
    rest[:, n - multipliers :] = -math.inf, math.inf
    enclosures, regions = found[: counts[FOUND], 0].copy(), found[: counts[FOUND], 1].copy()
    spent = time.perf_counter() - begin
    return Roots(enclosures, regions, rest.copy(), int(counts[SEEN]), spent, not counts[WAITING])


def values_over(tape: Tape, steps: list[int], box: Array) -> Array:
    """Bounds of some steps of a tape over a box, shape (steps, 2)."""
    found: Array = _over(tape, box, False)[steps, 0]
    return found


def slopes_over(tape: Tape, steps: list[int], box: Array) -> Array:
    """Bounds of the derivatives of some steps by all unknowns over a box, shape (steps, unknowns, 2)."""
    found: Array = _over(tape, box, True)[steps, 1:]
    return found


def _over(tape: Tape, box: Array, slopes: bool) -> Array:
    codes, constants, _ = tape.compiled([])
    out = np.zeros((len(codes), tape.variables + 1 if slopes else 1, 2))
    bounds_over(codes, constants, np.ascontiguousarray(box), out)
    return out


def distinct(found: Roots, lo: Array, hi: Array, periods: Array, flips: tuple[tuple[int, ...], ...] = ()) -> Roots:
    """The same roots, each once, and only those in the box.

    Args:
        found: the result of :func:`all_roots` for this box.
        lo, hi: its corners. A root that may lie on a face becomes an undecided box.
        periods: for every unknown, the period of the equations; 0 if there is none. Faces do not count there.
        flips: groups of unknowns that may change their signs together: the roots are then the same one. Faces do not
            count there either, since the box holds one of the two in its interior.
    """
    kept: list[int] = []
    unclear: list[Array] = []
    bounded = periods == 0.0
    bounded[[k for group in flips for k in group]] = False
    for k, enclosure in enumerate(found.enclosures):
        outside = ((enclosure[:, 1] < lo) | (enclosure[:, 0] > hi)) & bounded
        crossing = ((enclosure[:, 0] < lo) | (enclosure[:, 1] > hi)) & bounded
        if np.any(outside):
            continue
        if np.any(crossing):
            unclear.append(enclosure)
            continue
        copies = _flipped(enclosure, flips)
        relation = [_relation(copy, found.enclosures[j], found.regions[j], periods) for j in kept for copy in copies]
        if "same" in relation:
            continue
        if "unclear" in relation:
            unclear.append(enclosure)
            continue
        kept.append(k)
    rest = np.concatenate([found.undecided, np.array(unclear)]) if unclear else found.undecided
    return replace(found, enclosures=found.enclosures[kept], regions=found.regions[kept], undecided=rest)


def _flipped(enclosure: Array, flips: tuple[tuple[int, ...], ...]) -> list[Array]:
    """An enclosure with all choices of the signs of some groups of unknowns."""
    copies = [enclosure]
    for group in flips:
        for one in tuple(copies):
            other = one.copy()
            other[list(group)] = -one[list(group), ::-1]
            copies.append(other)
    return copies


def _relation(one: Array, other: Array, region: Array, periods: Array) -> str:
    """Whether two enclosures are of the same root: by the box in which the other one is the only root."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = np.where(periods > 0.0, np.round((one.mean(axis=1) - other.mean(axis=1)) / periods), 0.0)
    shift = turns * periods
    slack = 4.0 * UNIT * (np.abs(one).max(axis=1) + np.abs(shift)) * (turns != 0.0)
    low, high = one[:, 0] - shift - slack, one[:, 1] - shift + slack
    if np.all((low > region[:, 0]) & (high < region[:, 1])):
        return "same"
    return "other" if np.any((high < other[:, 0]) | (low > other[:, 1])) else "unclear"


# -- kernels ---------------------------------------------------------------------------------------------------


@compiled(allocates=False)
def bounds_over(steps, constants, box, out):
    """Bounds of all steps over one box, and of their derivatives if ``out`` has room for them."""
    evaluate(steps, constants, box[:, 0], box[:, 1], out)


@compiled(allocates=False)
def work_off(steps, constants, rows, waiting, found, undecided, counts, least, m, box, middle, room, work, most):
    """Examines waiting boxes until none is left, or ``most`` of them are done.

    ``counts`` has the entries from :data:`WAITING` on. ``box`` holds value and slopes of every step, ``middle`` the
    value, ``room`` matrices.
    """
    for _ in range(most):
        if counts[WAITING] == 0 or counts[WAITING] > DEEPEST - 8:
            return
        if counts[FOUND] > MOST_FOUND - 8 or counts[UNDECIDED] > MOST_UNDECIDED - 8:
            return
        counts[WAITING] -= 1
        counts[SEEN] += 1
        _look(steps, constants, rows, waiting, found, undecided, counts, least, m, box, middle, room, work)


@compiled_part
def _look(steps, constants, rows, waiting, found, undecided, counts, least, m, box, middle, room, work):
    """One box: discarded, verified, left undecided, or back among those that wait in two halves."""
    n = least.shape[0]
    x, tried = room[3 * n], room[3 * n + 1]
    for l in range(n):
        x[l, 0], x[l, 1] = waiting[counts[WAITING], l, 0], waiting[counts[WAITING], l, 1]
    code = UNCLEAR
    bounded = CLOSED if m == 0 else bound_multipliers(steps, constants, rows, m, x, box, middle, work)
    if bounded == OPEN or (bounded == CLOSED and _known(x, found, counts)):
        return
    for _ in range(20 if bounded == CLOSED else 0):
        widest = _copied(x, tried, n - m)
        code = _contract(steps, constants, rows, x, box, middle, room)
        if code == EMPTY:
            return
        if code == UNIQUE:
            _keep(steps, constants, rows, found, counts, tried, box, middle, room)
            return
        shorter = 0.0
        for l in range(n - m):
            shorter = max(shorter, (x[l, 1] - x[l, 0]) / max(widest, 1e-300))
        if shorter > SHRINKS:
            break
    if code == REGULAR and _inflate(steps, constants, rows, found, counts, x, tried, least, box, middle, room):
        return
    small = True
    for l in range(n):
        small = small and x[l, 1] - x[l, 0] <= least[l]
    if small:
        for l in range(n):
            undecided[counts[UNDECIDED], l, 0], undecided[counts[UNDECIDED], l, 1] = x[l, 0], x[l, 1]
        counts[UNDECIDED] += 1
        return
    _halve(x, waiting, counts, least, m, rows, box)


EMPTY, UNIQUE, REGULAR, UNCLEAR = range(4)


@compiled_part
def _known(x, found, counts):
    """Whether a box lies in the region of one of the last roots, which is the only one there."""
    for k in range(max(counts[FOUND] - REMEMBERED, 0), counts[FOUND]):
        inside = True
        for l in range(x.shape[0]):
            inside = inside and found[k, 1, l, 0] <= x[l, 0] and x[l, 1] <= found[k, 1, l, 1]
        if inside:
            return True
    return False


@compiled_part
def _copied(x, to, n):
    """Copies a box; returns the longest of its first n sides."""
    widest = 0.0
    for l in range(x.shape[0]):
        to[l, 0], to[l, 1] = x[l, 0], x[l, 1]
        if l < n:
            widest = max(widest, x[l, 1] - x[l, 0])
    return widest


@compiled_part
def _halve(x, waiting, counts, least, m, rows, box):
    """Splits a box across the unknown whose extent makes the equations vary most; with multipliers, the widest one."""
    n = least.shape[0]
    chosen, largest = 0, -1.0
    for l in range(n):
        width = x[l, 1] - x[l, 0]
        if width <= least[l]:
            continue
        varies = 0.0 if m == 0 else width / least[l]
        for i in range(n if m == 0 else 0):
            slope = max(abs(box[rows[i], 1 + l, 0]), abs(box[rows[i], 1 + l, 1]))
            size = 0.0
            for j in range(n):
                size = max(size, max(abs(box[rows[i], 1 + j, 0]), abs(box[rows[i], 1 + j, 1])) * (x[j, 1] - x[j, 0]))
            varies = (
                max(varies, slope * width / size) if 0.0 < size < math.inf else max(varies, width / least[l] * 1e-12)
            )
        if varies > largest:
            chosen, largest = l, varies
    middle = 0.5 * (x[chosen, 0] + x[chosen, 1])
    for half in range(2):
        for l in range(n):
            waiting[counts[WAITING], l, 0], waiting[counts[WAITING], l, 1] = x[l, 0], x[l, 1]
        waiting[counts[WAITING], chosen, 1 - half] = middle
        counts[WAITING] += 1


@compiled_part
def _contract(steps, constants, rows, x, box, middle, room):
    """Makes a box smaller; says whether it is empty, holds exactly one root, or whether its Jacobian is regular."""
    n = x.shape[0]
    A, inverse_of, K = room[:n], room[n : 2 * n], room[3 * n + 2]
    defined = evaluate(steps, constants, x[:, 0], x[:, 1], box)
    if defined == NOWHERE:
        return EMPTY
    for i in range(n):
        if box[rows[i], 0, 0] > 0.0 or box[rows[i], 0, 1] < 0.0:
            return EMPTY
    if defined == PARTLY:  # no mean value theorem, and a root might lie where nothing is defined
        return UNCLEAR
    m = room[3 * n + 3]
    for l in range(n):
        m[l, 0] = 0.5 * (x[l, 0] + x[l, 1])
        m[l, 1] = up(max(x[l, 1] - m[l, 0], m[l, 0] - x[l, 0]))
    evaluate(steps, constants, m[:, 0], m[:, 0], middle)
    for i in range(n):
        lo, hi = middle[rows[i], 0, 0], middle[rows[i], 0, 1]
        for l in range(n):
            size = up(max(abs(box[rows[i], 1 + l, 0]), abs(box[rows[i], 1 + l, 1])) * m[l, 1])
            lo, hi = down(lo - size), up(hi + size)
        if lo > 0.0 or hi < 0.0:
            return EMPTY
    if not _invert(rows, box, inverse_of, room[2 * n : 3 * n]):
        return UNCLEAR
    b = room[3 * n + 4]
    for i in range(n):
        b[i, 0], b[i, 1] = 0.0, 0.0
        for k in range(n):
            y = inverse_of[i, k, 0]
            p = product(y, y, middle[rows[k], 0, 0], middle[rows[k], 0, 1])
            b[i, 0], b[i, 1] = down(b[i, 0] + p[0]), up(b[i, 1] + p[1])
        for l in range(n):
            lo, hi = 0.0, 0.0
            for k in range(n):
                y = inverse_of[i, k, 0]
                p = product(y, y, box[rows[k], 1 + l, 0], box[rows[k], 1 + l, 1])
                lo, hi = down(lo + p[0]), up(hi + p[1])
            A[i, l, 0], A[i, l, 1] = lo, hi
    inside, regular = True, True
    for i in range(n):
        lo, hi = down(m[i, 0] - b[i, 1]), up(m[i, 0] - b[i, 0])
        total = 0.0
        for l in range(n):
            one = 1.0 if l == i else 0.0
            size = max(abs(down(one - A[i, l, 1])), abs(up(one - A[i, l, 0])))
            total = up(total + size)
            size = up(size * m[l, 1])
            lo, hi = down(lo - size), up(hi + size)
        K[i, 0], K[i, 1] = lo, hi
        inside = inside and x[i, 0] < lo and hi < x[i, 1]
        regular = regular and total < 0.95
        if lo > x[i, 1] or hi < x[i, 0]:
            return EMPTY
    for i in range(n):  # Gauss and Seidel
        if A[i, i, 0] <= 0.0 <= A[i, i, 1]:
            continue
        lo, hi = b[i, 0], b[i, 1]
        for l in range(n):
            if l != i:
                p = product(A[i, l, 0], A[i, l, 1], down(x[l, 0] - m[l, 0]), up(x[l, 1] - m[l, 0]))
                lo, hi = down(lo + p[0]), up(hi + p[1])
        d = inverse(A[i, i, 0], A[i, i, 1])
        p = product(lo, hi, d[0], d[1])
        lo, hi = down(m[i, 0] - p[1]), up(m[i, 0] - p[0])
        if lo > x[i, 1] or hi < x[i, 0]:
            return EMPTY
        if lo > x[i, 0]:
            x[i, 0] = lo
        if hi < x[i, 1]:
            x[i, 1] = hi
    if inside:
        return UNIQUE
    return REGULAR if regular else UNCLEAR


@compiled_part
def _invert(rows, box, inverse_of, work):
    """An approximate inverse of the Jacobian in the middle of its bounds; False where it is singular."""
    n = rows.shape[0]
    for i in range(n):
        largest = 0.0
        for l in range(n):
            value = 0.5 * (box[rows[i], 1 + l, 0] + box[rows[i], 1 + l, 1])
            if not abs(value) < math.inf:
                return False
            work[i, l, 0] = value
            largest = max(largest, abs(value))
            inverse_of[i, l, 0] = 0.0
        if not largest > 1e-300:
            return False
        for l in range(n):  # rows of any scale: a soft spring beside a stiff one
            work[i, l, 0] /= largest
        inverse_of[i, i, 0] = 1.0 / largest
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(work[i, k, 0]) > abs(work[pivot, k, 0]):
                pivot = i
        if abs(work[pivot, k, 0]) <= 1e-13:
            return False
        if pivot != k:
            for l in range(n):
                work[k, l, 0], work[pivot, l, 0] = work[pivot, l, 0], work[k, l, 0]
                inverse_of[k, l, 0], inverse_of[pivot, l, 0] = inverse_of[pivot, l, 0], inverse_of[k, l, 0]
        over = 1.0 / work[k, k, 0]
        for l in range(n):
            work[k, l, 0] *= over
            inverse_of[k, l, 0] *= over
        for i in range(n):
            if i != k and work[i, k, 0] != 0.0:
                factor = work[i, k, 0]
                for l in range(n):
                    work[i, l, 0] -= factor * work[k, l, 0]
                    inverse_of[i, l, 0] -= factor * inverse_of[k, l, 0]
    return True


@compiled_part
def _inflate(steps, constants, rows, found, counts, x, tried, least, box, middle, room):
    """Whether a larger box around this one holds exactly one root: then nothing is left to be found here.

    That root may lie outside this box: then another box finds it, too.
    """
    n = x.shape[0]
    larger, extra = room[3 * n + 5], 1e-3
    small = True
    for l in range(n):
        small = small and x[l, 1] - x[l, 0] <= least[l]
    for _ in range(6 if small else 3):  # a box may have shrunk to what rounding leaves of it
        for l in range(n):
            centre, radius = 0.5 * (x[l, 0] + x[l, 1]), 0.5 * (x[l, 1] - x[l, 0])
            unit = least[l] if least[l] < math.inf else _follows(l, least, rows, box)
            radius = INFLATED * radius + extra * unit
            larger[l, 0] = tried[l, 0] = centre - radius
            larger[l, 1] = tried[l, 1] = centre + radius
        if _contract(steps, constants, rows, larger, box, middle, room) == UNIQUE:
            _keep(steps, constants, rows, found, counts, tried, box, middle, room)
            return True
        extra *= 100.0
    _contract(steps, constants, rows, x, box, middle, room)  # slopes of the box itself, which is halved by them
    return False


@compiled_part
def _follows(l, least, rows, box):
    """By how much a multiplier changes where the coordinates change by the sides of the smallest boxes."""
    change, slope = 0.0, 0.0
    for i in range(least.shape[0]):
        for k in range(least.shape[0]):
            size = max(abs(box[rows[i], 1 + k, 0]), abs(box[rows[i], 1 + k, 1]))
            if least[k] < math.inf and least[i] < math.inf:
                change = max(change, size * least[k])
        slope = max(slope, max(abs(box[rows[i], 1 + l, 0]), abs(box[rows[i], 1 + l, 1])))
    return change / slope if 0.0 < slope < math.inf and change < math.inf else 0.0


@compiled_part
def _keep(steps, constants, rows, found, counts, region, box, middle, room):
    """Writes a verified root: its region, and an enclosure that is as small as rounding allows."""
    n = region.shape[0]
    x = room[3 * n + 5]
    for l in range(n):
        found[counts[FOUND], 1, l, 0], found[counts[FOUND], 1, l, 1] = region[l, 0], region[l, 1]
        x[l, 0], x[l, 1] = region[l, 0], region[l, 1]
    last = math.inf
    for _ in range(30):
        if _contract(steps, constants, rows, x, box, middle, room) == EMPTY:
            break  # cannot be: the region holds a root
        widest = 0.0
        for l in range(n):
            widest = max(widest, x[l, 1] - x[l, 0])
        if not widest < 0.9 * last:
            break
        last = widest
    for l in range(n):
        found[counts[FOUND], 0, l, 0], found[counts[FOUND], 0, l, 1] = x[l, 0], x[l, 1]
    counts[FOUND] += 1
