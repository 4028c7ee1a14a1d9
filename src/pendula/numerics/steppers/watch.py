"""Event detection, compiled: finds the zero crossings of functions of the state, in order, on the dense output.

After every step each function is evaluated at a few points of the step. A change of sign brackets a crossing. If a
function approaches zero and recedes again, its extremum is searched, because two crossings may hide there. Each
bracket is then refined to the rounding of t.

A crossing is a change of the *side* on which a function was last seen, not of the sign at the start of a step: if a
projection moves a state across zero by rounding, the crossing is neither missed nor counted twice. Reaching zero
exactly counts as a crossing, leaving it does not. A change of sign through infinity (a pole) is no crossing, unless
the function stands for an inequality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import Callback, call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.steppers.dense import interpolate
from pendula.numerics.steppers.equations import copy_state, project_row
from pendula.numerics.steppers.run import AT_EVENT, BAD_EVENT, GO_ON, NO_PROJECTION, row, run_at

# Points of a step at which functions are evaluated; those next to the ends show how a function leaves and reaches them.
NEXT_TO = 2.0**-16
POINTS = np.array([0.0, NEXT_TO, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8, 1.0 - NEXT_TO, 1.0])
LAST = len(POINTS) - 1
MOST = 2 * len(POINTS)  # crossings of one function in one step that can be distinguished
FIRST_BUFFER = 64
GOLDEN = 0.3819660112501051
DIP_STEPS = 40  # of golden section: the location of an extremum to half the digits, its value to all of them
CROSSING_STEPS = 200
EPS = 2.220446049250313e-16
MANY_TURNS = 3  # extrema of a function in one step: more are too many for the points to show all crossings
POLE = 100.0  # a function that grows by this factor, on both sides, while its sign change is located has a pole there
TOUCH = 1e-8  # a least distance below this fraction of the distances around it may be a zero without a sign change
TINY = 5e-324  # the least positive number
LEVEL = 1e-9  # changes below this fraction of the range in a step count as zero

WATCH = record_dtype(
    whole="""
        code context count directions stops keeps side seen value table next_side next_seen place heading function
        places hurried touched shift poles t y which stopped bad
    """
)
"""The watched functions, and the events found.

``code`` and ``context``: the native function that evaluates the ``count`` functions; ``directions``, ``stops``,
``keeps`` and ``side``: as in :class:`Watched`; ``seen``: crossings so far. ``value`` holds all functions at one
point, ``table`` those at the points of the step; ``next_side`` and ``next_seen`` apply once the step is committed.
Crossings of the step, at most ``places``: ``place`` (fraction of the step), ``heading`` (1 rising, -1 falling),
``function``. ``hurried``: for each function the time of the first step in which it oscillated too often, or NaN;
``touched``: that of the first minimum so near zero that it may touch it. ``shift`` is added to the values, so that zero
itself counts as not yet crossed; ``poles``: whether a change of sign through infinity is a crossing.
``t``, ``y``, ``which``: the events; ``stopped``, ``bad``: the function that ended the run, or had no value; -1 if none.
"""

watch_at = reader(WATCH)


@dataclass(frozen=True)
class Watched:
    """Functions to watch during an integration.

    Attributes:
        callback: reads ``[t, y...]``, writes the values of all functions.
        directions: for each function 1 (rising through zero), -1 (falling) or 0 (both), in the order of integration.
        stops: for each function the number of crossings after which the run ends; 0 for never.
        keeps: for each function the largest number of recorded crossings; 0 for all.
        sides: the side on which each function starts: its sign, or 0 if it starts at zero.
        limits: for each function 0 if its zeros are wanted, 1 if it stands for an inequality that holds at zero and
            beyond (in its direction), 2 if for one that holds only beyond zero; default: 0.
    """

    callback: Callback
    directions: Sequence[int]
    stops: Sequence[int]
    keeps: Sequence[int]
    sides: Sequence[float]
    names: Sequence[str] = field(default=())
    limits: Sequence[int] = field(default=())

    def __post_init__(self) -> None:
        count = len(self.directions)
        if not count or any(len(x) != count for x in (self.stops, self.keeps, self.sides)):
            raise ValueError("every watched function needs a direction, a stop, a number to keep and a side")
        if any(d not in (-1, 0, 1) for d in self.directions) or any(s not in (-1, 0, 1) for s in self.sides):
            raise ValueError("directions and sides of watched functions are -1, 0 or 1")

    def name(self, k: int) -> str:
        """The name of a function in messages."""
        return self.names[k] if k < len(self.names) else f"watched function {k}"


def watch_memory(watched: Watched, n: int) -> Memory:
    """The record for ``n`` components, with buffers for the events."""
    count = len(watched.directions)
    size = FIRST_BUFFER + MOST * count
    limits = watched.limits or [0] * count
    return Memory(
        WATCH,
        code=watched.callback.address,
        context=watched.callback.context,
        count=count,
        directions=np.array(watched.directions, dtype=np.int64),
        stops=np.array(watched.stops, dtype=np.int64),
        keeps=np.array(watched.keeps, dtype=np.int64),
        side=np.array(watched.sides, dtype=float),
        seen=np.zeros(count, dtype=np.int64),
        value=np.zeros(count),
        table=np.zeros((count, len(POINTS))),
        next_side=np.zeros(count),
        next_seen=np.zeros(count, dtype=np.int64),
        place=np.zeros(MOST * count),
        heading=np.zeros(MOST * count),
        function=np.zeros(MOST * count, dtype=np.int64),
        places=MOST * count,
        stopped=-1,
        bad=-1,
        hurried=np.full(count, np.nan),
        touched=np.full(count, np.nan),
        shift=np.array([-TINY * d if limit == 2 else 0.0 for d, limit in zip(watched.directions, limits)]),
        poles=np.array([limit > 0 for limit in limits], dtype=np.int64),
        t=np.zeros(size),
        y=np.zeros((size, n)),
        which=np.zeros(size, dtype=np.int64),
    )


def make_room(watch: Memory, found: int) -> int:
    """Enlarges the buffers if they could overflow in the next step; returns the number of events that fit."""
    if found + watch.places > watch.t.size:
        more = len(watch.t)
        watch.t = np.concatenate([watch.t, np.zeros(more)])
        watch.y = np.concatenate([watch.y, np.zeros((more, watch.y.shape[1]))])
        watch.which = np.concatenate([watch.which, np.zeros(more, dtype=np.int64)])
    return int(watch.t.size - watch.places + 1)


@compiled_part
def turns_often(values):
    """True if a function that may cross zero oscillates so often in a step that crossings may be missed."""
    low, high, near = values[0], values[0], abs(values[0])
    for i in range(1, LAST + 1):
        low, high, near = min(low, values[i]), max(high, values[i]), min(near, abs(values[i]))
    if not near <= high - low:
        return False
    turns, way, before = 0, 0.0, values[0]
    for i in range(2, LAST + 1):
        if i == LAST - 1:
            continue  # use only equidistant points
        change = values[i] - before
        before = values[i]
        if abs(change) > LEVEL * (high - low):
            if way * change < 0.0:
                turns += 1
            way = np.sign(change)
    return turns >= MANY_TURNS


@compiled_part
def _state_at(run, x, onto):
    """State at a fraction of the step in row ``stage``, on the constraints if requested; False if that fails."""
    interpolate(run, run.t_new if x == 1.0 else run.t + x * run.h, x)
    return not onto or run.project == 0 or project_row(run, run.stage)


@compiled_part
def _look(run, watch, index):
    """All functions at the state in a row."""
    call_native(watch.code, watch.value, run.rows + index * run.width, watch.context)
    value, shift = doubles_at(watch.value, watch.count), doubles_at(watch.shift, watch.count)
    for e in range(watch.count):
        value[e] += shift[e]


@compiled_part
def _distance(run, watch, e, side, x, onto):
    """Function e at a fraction of the step, positive on ``side``; NaN where it has no value."""
    if not _state_at(run, x, onto):
        return np.nan
    _look(run, watch, run.stage)
    return side * doubles_at(watch.value, watch.count)[e]


@compiled_part
def _crossing(run, watch, e, side, a, b):
    """Fraction between a and b at which function e leaves its side; NaN if this cannot be determined, -1 at a pole.

    A function may stay at zero once it is there (``max(0, x)``); the fraction is where it first is. Inverse
    quadratic interpolation with bisection, T. R. Chandrupatla, Adv. Eng. Software 28 (1997).
    """
    fa = _distance(run, watch, e, side, a, True)
    fb = _distance(run, watch, e, side, b, True)
    if np.isnan(fa):
        return fa
    if fa <= 0.0:  # the projection moved it across, or it jumped between two steps
        return a
    if not fb <= 0.0:
        return b if fb > 0.0 else np.nan
    least = 0.5 * abs(np.nextafter(run.t_new, np.inf) - run.t_new) / abs(run.h)
    x1, f1, x2, f2, x3, f3 = b, fb, a, fa, a, fa
    part = 0.5
    for _ in range(CROSSING_STEPS):
        x = x1 + part * (x2 - x1)
        f = _distance(run, watch, e, side, x, True)
        if np.isnan(f):
            return f
        if (f <= 0.0) == (f1 <= 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        best = x1 if abs(f1) < abs(f2) else x2
        smallest = (2.0 * EPS * best + least) / abs(x2 - x1)
        if smallest > 0.5:
            if (
                min(abs(f1), abs(f2)) > POLE * max(fa, -fb if fb > -np.inf else fa)
                and integers_at(watch.poles, watch.count)[e] == 0
            ):
                return -1.0
            return best
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        part = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        if not smallest <= part <= 1.0 - smallest:
            part = smallest if part < smallest else 1.0 - smallest if part > 1.0 - smallest else 0.5
    return x1


@compiled_part
def _dip(run, watch, e, side, a, c, b, fc):
    """A fraction between a and b at which function e is not on its side; -1 if it stays there throughout.

    Notes the time if it comes so close to zero that it may touch it.

    Golden-section search around c, where the distance fc is smaller than at a and b; stops once zero is crossed.
    """
    before, touched = fc, doubles_at(watch.touched, watch.count)
    for _ in range(DIP_STEPS):
        x = c + GOLDEN * (b - c) if b - c > c - a else c - GOLDEN * (c - a)
        f = _distance(run, watch, e, side, x, False)
        if f <= 0.0:
            return x
        if f < fc:
            if x > c:
                a = c
            else:
                b = c
            c, fc = x, f
        elif x > c:
            b = x
        else:
            a = x
    if fc < TOUCH * before and np.isnan(touched[e]):
        touched[e] = run.t + c * run.h
    return -1.0


@compiled_part
def _note(watch, count, x, way, e):
    """Insert a crossing among those of the step, ordered by time; returns their number."""
    size = watch.places
    place, heading, function = (
        doubles_at(watch.place, size),
        doubles_at(watch.heading, size),
        integers_at(watch.function, size),
    )
    k = count
    while k > 0 and place[k - 1] > x:
        place[k], heading[k], function[k] = place[k - 1], heading[k - 1], function[k - 1]
        k -= 1
    place[k], heading[k], function[k] = x, way, e
    return count + 1


@compiled_part
def _scan(run, watch, e, count):
    """Insert the crossings of function e in the step; the number of all crossings, -1 if one cannot be determined."""
    points = len(POINTS)
    values, side = doubles_at(watch.table + 8 * points * e, points), doubles_at(watch.side, watch.count)[e]
    for i in range(1, LAST + 1):
        f = side * values[i]
        if np.isnan(f):
            return -1
        if side == 0.0:
            side = np.sign(values[i])
        elif f <= 0.0:
            x = _crossing(run, watch, e, side, POINTS[i - 1], POINTS[i])
            if np.isnan(x):
                return -1
            if x >= 0.0:
                count = _note(watch, count, x, -side, e)
            side = np.sign(values[i])
        elif i < LAST and f < side * values[i - 1] and f <= side * values[i + 1]:
            if 1 < i < LAST - 1 and f > max(side * values[i - 1], side * values[i + 1]) - f:
                continue  # a parabola through equidistant points falls at most a quarter of that difference below f
            a, b = POINTS[i - 1], POINTS[i + 1]
            x = _dip(run, watch, e, side, a, POINTS[i], b, f)
            if x < 0.0:
                continue
            first = _crossing(run, watch, e, side, a, x)
            if np.isnan(first):
                return -1
            if first < 0.0:
                continue  # poles
            count = _note(watch, count, first, -side, e)
            if _distance(run, watch, e, side, x, True) < 0.0:  # otherwise it only touches zero
                second = _crossing(run, watch, e, -side, x, b)
                if np.isnan(second):
                    return -1
                count = _note(watch, count, second, side, e)
    doubles_at(watch.next_side, watch.count)[e] = side
    return count


@compiled_part
def _fill_table(run, watch):
    """Values of all functions at the points of the step: accepted states at its ends, dense output inside."""
    points = len(POINTS)
    table, value = doubles_at(watch.table, (watch.count, points)), doubles_at(watch.value, watch.count)
    for i in range(points):
        if i == 0:
            copy_state(run, run.stage)
            row(run, run.stage)[0] = run.t
        elif i == LAST:
            row(run, run.new)[0] = run.t_new
        else:
            _state_at(run, POINTS[i], False)
        _look(run, watch, run.new if i == LAST else run.stage)
        for e in range(watch.count):
            table[e, i] = value[e]


@compiled_part
def _record(run, watch, count):
    """Store the crossings of the step; the number of all events so far, -1 if a projection fails.

    If one of them ends the run, its state replaces the state at the end of the step.
    """
    size, stage, new = watch.places, row(run, run.stage), row(run, run.new)
    place, heading, function = (
        doubles_at(watch.place, size),
        doubles_at(watch.heading, size),
        integers_at(watch.function, size),
    )
    directions, stops = integers_at(watch.directions, watch.count), integers_at(watch.stops, watch.count)
    keeps, seen = integers_at(watch.keeps, watch.count), integers_at(watch.next_seen, watch.count)
    found = run.events
    for k in range(count):
        e = function[k]
        if directions[e] != 0 and directions[e] != heading[k]:
            continue
        seen[e] += 1
        if keeps[e] > 0 and seen[e] > keeps[e]:
            continue
        if not _state_at(run, place[k], True):
            return -1
        doubles_at(watch.t, found + 1)[found], integers_at(watch.which, found + 1)[found] = stage[0], e
        out = doubles_at(watch.y + 8 * run.n * found, run.n)
        for j in range(run.n):
            out[j] = stage[j + 1]
        found += 1
        if stops[e] > 0 and seen[e] >= stops[e]:
            watch.stopped = e
            for j in range(run.n + 1):
                new[j] = stage[j]
            break
    return found


@compiled_part
def _drop_later_samples(run):
    """Discard samples after the time in row ``new``, at which an event ends the run."""
    times, end = doubles_at(run.sample_t, run.samples), row(run, run.new)[0]
    while run.next_sample > 0 and run.direction * (times[run.next_sample - 1] - end) > 0.0:
        run.next_sample -= 1


@compiled_part
def _watch(run, watch):
    """Find crossings in a step that is about to be committed: GO_ON, AT_EVENT, BAD_EVENT or NO_PROJECTION.

    The dense output must be ready, and row ``new`` hold the state at the end. After AT_EVENT row ``new`` holds the time
    and state at which the run ends. After the last two codes sides, counts and events are unchanged.
    """
    points, size = len(POINTS), watch.count
    side, next_side = doubles_at(watch.side, size), doubles_at(watch.next_side, size)
    seen, next_seen = integers_at(watch.seen, size), integers_at(watch.next_seen, size)
    hurried = doubles_at(watch.hurried, size)
    _fill_table(run, watch)
    count = 0
    for e in range(size):
        next_seen[e] = seen[e]
        if np.isnan(hurried[e]) and turns_often(doubles_at(watch.table + 8 * points * e, points)):
            hurried[e] = run.t
        count = _scan(run, watch, e, count)
        if count < 0:
            watch.bad = e
            return BAD_EVENT
    if count > 0:
        found = _record(run, watch, count)
        if found < 0:
            return NO_PROJECTION
        run.events = found
    for e in range(size):
        side[e], seen[e] = next_side[e], next_seen[e]
    if watch.stopped < 0:
        return GO_ON
    _drop_later_samples(run)
    return AT_EVENT


@compiled_callback(allocates=False)
def watch_step(out, inp, context):
    """The events of a step, called by the step loop."""
    run = run_at(context)
    run.code = _watch(run, watch_at(run.watched))
