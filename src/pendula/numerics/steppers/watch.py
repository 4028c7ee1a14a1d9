"""Watching functions of the state along a run, compiled: where they cross zero, in order, on the dense output.

After every step each function is looked at on a few points of the step. A change of sign brackets a crossing; where a
function comes nearer to zero and goes away again, its extremum is searched, because two crossings may hide there. Each
bracket is then closed down to the rounding of t.

What decides is the *side* a function was last seen on, not the sign at the start of a step: a state that a projection
moves by rounding across zero is then neither missed nor counted twice. Reaching zero exactly counts as a crossing, and
leaving it again does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import Callback, address_of, call_native

# Points of a step that are looked at: those next to the ends tell which way a function leaves and reaches them.
NEXT_TO = 2.0**-16
POINTS = np.array([0.0, NEXT_TO, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8, 1.0 - NEXT_TO, 1.0])
LAST = len(POINTS) - 1
MOST = 2 * len(POINTS)  # crossings of one function in one step that can be told apart
FIRST_BUFFER = 64
GOLDEN = 0.3819660112501051
DIP_STEPS = 40  # of golden section: the place of an extremum to half the digits, its value to all of them
CROSSING_STEPS = 120
EPS = 2.220446049250313e-16
MANY_TURNS = 3  # of a function in one step: its points are then too far apart to tell all crossings
LEVEL = 1e-9  # changes less than this part of all change in a step are none

# Slots of Watch.tally.
FOUND, STOPPED, BAD = range(3)
# What watch_step reports.
WATCHED, STOP, NO_VALUE, OFF_CONSTRAINTS = range(4)


@dataclass(frozen=True)
class Watched:
    """Functions to watch during an integration.

    Attributes:
        callback: reads ``[t, y...]``, writes the values of all functions.
        directions: for each function 1 (rising through zero), -1 (falling) or 0 (both), in the order of integration.
        stops: for each function the number of crossings after which the run ends; 0 if it never does.
        keeps: for each function how many crossings are recorded at most; 0 if all are.
        sides: the side each function is taken to start from: its sign, or 0 if it starts at zero.
    """

    callback: Callback
    directions: Sequence[int]
    stops: Sequence[int]
    keeps: Sequence[int]
    sides: Sequence[float]
    names: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        count = len(self.directions)
        if not count or any(len(x) != count for x in (self.stops, self.keeps, self.sides)):
            raise ValueError("watched functions need a direction, a stop, a limit and a side each")
        if any(d not in (-1, 0, 1) for d in self.directions) or any(s not in (-1, 0, 1) for s in self.sides):
            raise ValueError("directions and sides of watched functions are -1, 0 or 1")

    def name(self, k: int) -> str:
        """What a function is called in messages."""
        return self.names[k] if k < len(self.names) else f"watched function {k}"


class Watch(NamedTuple):
    """The same for compiled code, with what was found. ``code`` is 0 if nothing is watched."""

    code: int
    context: int
    directions: np.ndarray
    stops: np.ndarray
    keeps: np.ndarray
    side: np.ndarray
    seen: np.ndarray  # crossings so far
    value: np.ndarray  # of all functions at one point
    table: np.ndarray  # values at the points of the step
    next_side: np.ndarray
    next_seen: np.ndarray
    place: np.ndarray  # crossings of the step: fraction of it,
    heading: np.ndarray  # 1 rising, -1 falling,
    function: np.ndarray  # and which function
    tally: np.ndarray
    hurried: np.ndarray  # for each function the time of the first step in which it turned too often, or NaN
    t: np.ndarray  # what was found: times,
    y: np.ndarray  # states,
    which: np.ndarray  # functions


def watch_arrays(watched: Watched | None, n: int) -> Watch:
    """Working arrays for ``n`` components; empty ones if nothing is watched."""
    count = 0 if watched is None else len(watched.directions)
    whole = [watched.directions, watched.stops, watched.keeps] if watched else [[], [], []]
    directions, stops, keeps = (np.array(x, dtype=np.int64) for x in whole)
    size = FIRST_BUFFER + MOST * count if count else 0
    return Watch(
        code=watched.callback.address if watched else 0,
        context=watched.callback.context if watched else 0,
        directions=directions,
        stops=stops,
        keeps=keeps,
        side=np.array(watched.sides if watched else [], dtype=float),
        seen=np.zeros(count, dtype=np.int64),
        value=np.zeros(count),
        table=np.zeros((len(POINTS), count)),
        next_side=np.zeros(count),
        next_seen=np.zeros(count, dtype=np.int64),
        place=np.zeros(MOST * count),
        heading=np.zeros(MOST * count),
        function=np.zeros(MOST * count, dtype=np.int64),
        tally=np.array([0, -1, -1], dtype=np.int64),
        hurried=np.full(count, np.nan),
        t=np.zeros(size),
        y=np.zeros((size, n)),
        which=np.zeros(size, dtype=np.int64),
    )


def with_room(watch: Watch) -> Watch:
    """The same with longer buffers, if they could overflow in the next step."""
    if not watch.code or watch.tally[FOUND] + watch.place.size <= watch.t.size:
        return watch
    more = len(watch.t)
    return watch._replace(
        t=np.concatenate([watch.t, np.zeros(more)]),
        y=np.concatenate([watch.y, np.zeros((more, watch.y.shape[1]))]),
        which=np.concatenate([watch.which, np.zeros(more, dtype=np.int64)]),
    )


@compiled_part
def needs_room(watch):
    """True if the next step could find more crossings than fit."""
    return watch.code != 0 and watch.tally[FOUND] + watch.place.size > watch.t.size


@compiled_part
def turns_often(values):
    """True if a function that may pass zero goes up and down so often in a step that crossings may hide."""
    low, high, near = values[0], values[0], abs(values[0])
    for i in range(1, LAST + 1):
        low, high, near = min(low, values[i]), max(high, values[i]), min(near, abs(values[i]))
    if not near <= high - low:
        return False
    turns, way, before = 0, 0.0, values[0]
    for i in range(2, LAST + 1):
        if i == LAST - 1:
            continue  # the points at equal distances alone
        change = values[i] - before
        before = values[i]
        if abs(change) > LEVEL * (high - low):
            if way * change < 0.0:
                turns += 1
            way = np.sign(change)
    return turns >= MANY_TURNS


def make_watch_step(interpolate, project_row, T):
    """The watch over one step of a stepper, from its dense output and its projection.

    Args:
        interpolate: ``interpolate(run, tableau, t, x)`` puts the state at the fraction x of the step, time t, into the
            row ``run.stage``.
        project_row: ``project_row(run, row)`` brings a row onto the constraints; False if that did not work.
        T: slot of ``run.real`` that holds the time at the start of the step.
    """

    @compiled_part
    def state_at(run, tableau, h, t_new, x, onto):
        """State at a fraction of the step in row ``stage``, on the constraints if asked for; False if that fails."""
        interpolate(run, tableau, t_new if x == 1.0 else run.real[T] + x * h, x)
        return not onto or run.project == 0 or project_row(run, run.stage)

    @compiled_part
    def look(run, watch, row, values):
        """All functions at the state in a row."""
        call_native(watch.code, address_of(values), address_of(run.rows) + 8 * row * run.rows.shape[1], watch.context)

    @compiled_part
    def distance(run, tableau, watch, h, t_new, e, side, x, onto):
        """Function e at a fraction of the step, positive on ``side``; NaN where it has no value."""
        if not state_at(run, tableau, h, t_new, x, onto):
            return np.nan
        look(run, watch, run.stage, watch.value)
        return side * watch.value[e]

    @compiled_part
    def crossing(run, tableau, watch, h, t_new, e, side, a, b):
        """Where function e leaves its side between the fractions a and b; NaN if it cannot be told.

        Inverse quadratic interpolation with bisection, T. R. Chandrupatla, Adv. Eng. Software 28 (1997).
        """
        fa = distance(run, tableau, watch, h, t_new, e, side, a, True)
        fb = distance(run, tableau, watch, h, t_new, e, side, b, True)
        if np.isnan(fa):
            return fa
        if fa <= 0.0:  # the projection had moved it across, or it jumped between two steps
            return a
        if not fb < 0.0:
            return b if fb >= 0.0 and fa > 0.0 else np.nan
        least = 0.5 * abs(np.nextafter(t_new, np.inf) - t_new) / abs(h)
        x1, f1, x2, f2, x3, f3 = b, fb, a, fa, a, fa
        part = 0.5
        for _ in range(CROSSING_STEPS):
            x = x1 + part * (x2 - x1)
            f = distance(run, tableau, watch, h, t_new, e, side, x, True)
            if np.isnan(f):
                return f
            if (f < 0.0) == (f1 < 0.0):
                x3, f3 = x1, f1
            else:
                x3, f3, x2, f2 = x2, f2, x1, f1
            x1, f1 = x, f
            best = x1 if abs(f1) < abs(f2) else x2
            smallest = (2.0 * EPS * best + least) / abs(x2 - x1)
            if smallest > 0.5 or f == 0.0:
                return x1 if f == 0.0 else best
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            part = 0.5
            if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
                part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            if not smallest <= part <= 1.0 - smallest:
                part = smallest if part < smallest else 1.0 - smallest if part > 1.0 - smallest else 0.5
        return x1

    @compiled_part
    def dip(run, tableau, watch, h, t_new, e, side, a, c, b, fc):
        """A fraction between a and b at which function e is not on its side; -1 if it stays there all the way.

        Golden section about c, where the distance fc is smaller than at a and b; ends as soon as zero is passed.
        """
        for _ in range(DIP_STEPS):
            x = c + GOLDEN * (b - c) if b - c > c - a else c - GOLDEN * (c - a)
            f = distance(run, tableau, watch, h, t_new, e, side, x, False)
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
        return -1.0

    @compiled_part
    def note(watch, count, x, heading, e):
        """Put a crossing in its place among those of the step; the number of them."""
        k = count
        while k > 0 and watch.place[k - 1] > x:
            watch.place[k], watch.heading[k], watch.function[k] = (
                watch.place[k - 1], watch.heading[k - 1], watch.function[k - 1],
            )  # fmt: skip
            k -= 1
        watch.place[k], watch.heading[k], watch.function[k] = x, heading, e
        return count + 1

    @compiled_part
    def scan(run, tableau, watch, h, t_new, e, count):
        """Note the crossings of function e in the step; the number of all noted, -1 if one cannot be told."""
        values, side = watch.table[:, e], watch.side[e]
        for i in range(1, LAST + 1):
            f = side * values[i]
            if np.isnan(f):
                return -1
            if side == 0.0:
                side = np.sign(values[i])
            elif f <= 0.0:
                x = crossing(run, tableau, watch, h, t_new, e, side, POINTS[i - 1], POINTS[i])
                if np.isnan(x):
                    return -1
                count = note(watch, count, x, -side, e)
                side = np.sign(values[i])
            elif i < LAST and f < side * values[i - 1] and f <= side * values[i + 1]:
                if 1 < i < LAST - 1 and f > max(side * values[i - 1], side * values[i + 1]) - f:
                    continue  # a parabola over equal distances goes down from here by a quarter of that at most
                a, b = POINTS[i - 1], POINTS[i + 1]
                x = dip(run, tableau, watch, h, t_new, e, side, a, POINTS[i], b, f)
                if x < 0.0:
                    continue
                first = crossing(run, tableau, watch, h, t_new, e, side, a, x)
                if np.isnan(first):
                    return -1
                count = note(watch, count, first, -side, e)
                if distance(run, tableau, watch, h, t_new, e, side, x, True) < 0.0:  # else it only touches zero
                    second = crossing(run, tableau, watch, h, t_new, e, -side, x, b)
                    if np.isnan(second):
                        return -1
                    count = note(watch, count, second, side, e)
        watch.next_side[e] = side
        return count

    @compiled_part
    def fill_table(run, tableau, watch, h, t_new):
        """Values of all functions at the points of the step: accepted states at its ends, dense output inside."""
        table = watch.table
        for k in range(run.y.size):
            run.rows[run.stage, k + 1] = run.y[k]
        run.rows[run.stage, 0] = run.real[T]
        look(run, watch, run.stage, table[0])
        for i in range(1, LAST):
            state_at(run, tableau, h, t_new, POINTS[i], False)
            look(run, watch, run.stage, table[i])
        run.rows[run.new, 0] = t_new
        look(run, watch, run.new, table[LAST])

    @compiled_part
    def record(run, tableau, watch, h, t_new, count):
        """Store the crossings that were noted; the number of all stored, -1 if a state is off the constraints.

        Where one of them ends the run, its state replaces that at the end of the step.
        """
        found = watch.tally[FOUND]
        for k in range(count):
            e = watch.function[k]
            if watch.directions[e] != 0 and watch.directions[e] != watch.heading[k]:
                continue
            watch.next_seen[e] += 1
            stops = watch.stops[e] > 0 and watch.next_seen[e] >= watch.stops[e]
            if watch.keeps[e] > 0 and watch.next_seen[e] > watch.keeps[e]:
                continue
            if not state_at(run, tableau, h, t_new, watch.place[k], True):
                return -1
            watch.t[found], watch.which[found] = run.rows[run.stage, 0], e
            for j in range(run.y.size):
                watch.y[found, j] = run.rows[run.stage, j + 1]
            found += 1
            if stops:
                watch.tally[STOPPED] = e
                for j in range(run.y.size + 1):
                    run.rows[run.new, j] = run.rows[run.stage, j]
                break
        return found

    @compiled_part
    def watch_step(run, tableau, watch, h, t_new):
        """Look for crossings in a step that is about to be committed: WATCHED, STOP, NO_VALUE or OFF_CONSTRAINTS.

        The dense output is ready, row ``new`` holds the state at the end. After STOP row ``new`` holds time and state
        at which the run ends. After the last two nothing has changed.
        """
        fill_table(run, tableau, watch, h, t_new)
        count = 0
        for e in range(watch.side.size):
            watch.next_seen[e] = watch.seen[e]
            if np.isnan(watch.hurried[e]) and turns_often(watch.table[:, e]):
                watch.hurried[e] = run.real[T]
            count = scan(run, tableau, watch, h, t_new, e, count)
            if count < 0:
                watch.tally[BAD] = e
                return NO_VALUE
        found = watch.tally[FOUND]
        if count > 0:
            found = record(run, tableau, watch, h, t_new, count)
            if found < 0:
                return OFF_CONSTRAINTS
        watch.tally[FOUND] = found
        for e in range(watch.side.size):
            watch.side[e], watch.seen[e] = watch.next_side[e], watch.next_seen[e]
        return STOP if watch.tally[STOPPED] >= 0 else WATCHED

    return watch_step
