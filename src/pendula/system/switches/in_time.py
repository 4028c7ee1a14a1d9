"""Quantities of a model that depend on time alone: when they switch, and how quickly they change.

A stepper evaluates forces only at its stages. While a mechanism is at rest, its steps grow, and it could miss a pulse
between two stages. So these quantities are evaluated beforehand on a fine grid: steps end where one of them switches,
and smooth changes limit the step size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from pendula.model.checks.references import sides
from pendula.model.checks.usage import scalars
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import combine, interpret
from pendula.model.expressions.arrays import Arrays
from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.functions import SWITCHING
from pendula.model.expressions.nodes import CONSTANTS, post_order
from pendula.model.model import Model
from pendula.system.layout import Array

LOOKS = 8192  # intervals of the time grid
MOST_SWITCHES = LOOKS // 8  # of one condition; more are too close for this grid and left to step-size control
SHORTEST = 1 / 4096  # of the time span: faster changes are left to step-size control
_LEVELS, _FINER = 8, 33  # of the search for an extremum that may hide two switches
_EXTREMA = 1000
_HALVINGS = 64
_TRIED = np.array([0.0, 1.0, 2.0, 5.0, 1234.5])  # times at which a part is compared with a straight line


def loads_in_time(model: Model) -> list[Expression]:
    """Expressions of loads and inputs that depend on time, with inputs replaced by their expressions."""
    inputs = {name: parse(value) for name, value in model.inputs.items()}
    found = [e for _, e in scalars([*model.forces, *model.inputs.values()], "")]
    found = [e.substitute(inputs) if e.names & inputs.keys() else e for e in found]
    return [e for e in found if "t" in e.names]


def motions_in_time(model: Model) -> list[Expression]:
    """Expressions of joints and of points on ground that depend on time."""
    found = [e for _, e in scalars([*model.joints], "")]
    for part in (*model.joints, *model.forces):
        for _, side in sides(part):
            found += [e for _, e in scalars([side.position or ()], "")]
    return [e for e in found if "t" in e.names]


@lru_cache(maxsize=1000)
def _parts(expression: Expression, known: frozenset[str]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Nodes that depend only on time and ``known`` names: those that switch, inner ones first, and maximal ones."""
    switching: list[Any] = []
    largest: list[Any] = []

    def handle(node: ex.Node, parts: tuple[tuple[bool, bool, Any], ...]) -> tuple[bool, bool, Any]:
        timed = node == ex.Name("t") or any(p[1] for p in parts)
        alone = all(p[0] for p in parts)
        if isinstance(node, ex.Name):
            alone = node.id == "t" or node.id in known or node.id in CONSTANTS
        if alone and timed and _switches(node):
            switching.append(node)
        if not alone:
            largest.extend(p[2] for p in parts if p[0] and p[1])
        return alone, timed, node

    alone, timed, root = expression.fold(handle)
    return tuple(switching), (*largest, *([root] if alone and timed else []))


def _switches(node: ex.Node) -> bool:
    """Whether a node is piecewise, with a jump or a kink between its pieces."""
    if isinstance(node, ex.Call):
        return node.function in SWITCHING
    return isinstance(node, ex.Compare)


def may_switch(expression: Expression, known: frozenset[str]) -> bool:
    """Whether an expression contains a condition on time alone."""
    return bool(_parts(expression, known)[0])


def _values(node: ex.Node, t: Array, names: Mapping[str, float]) -> Any:
    """Values of a node at many times; NaN where it has none."""
    with np.errstate(all="ignore"):
        return interpret(post_order(node), Arrays({**names, "t": t}, t.shape))


def _piece(node: Any, t: Array, names: Mapping[str, float]) -> Array:
    """The number of the active piece of a switching node."""
    if isinstance(node, ex.Compare):
        return np.asarray(_values(node, t, names), dtype=float)
    arguments = [_values(x, t, names) for x in node.args]
    with np.errstate(all="ignore"):
        if node.function in ("floor", "ceil"):
            piece = getattr(np, node.function)(arguments[0])
        elif len(arguments) == 1:
            piece = np.sign(arguments[0])
        else:
            piece = (np.argmin if node.function == "min" else np.argmax)(arguments, axis=0)
    return np.nan_to_num(np.asarray(piece, dtype=float))


def margins(node: Any) -> Iterator[Any]:
    """Expressions whose zeros are the switches."""
    if isinstance(node, ex.Compare):
        yield ex.Subtract(node.a, node.b)
    elif node.function in ("abs", "sign"):
        yield node.args[0]
    elif node.function in ("min", "max"):
        yield from (ex.Subtract(a, b) for a, b in zip(node.args, node.args[1:]))


def singled_out(expressions: list[Expression], names: Mapping[str, float]) -> list[float]:
    """Times t >= 0 that expressions single out, at which they may differ from their values at all other times.

    Every part a t + b, in a condition or as an argument, has its zero at -b/a and changes by 1 in 1/|a|. Conditions
    may change at these times, and pulses such as ``exp(-((t - 5)/0.01)**2)`` differ from zero around them only. The
    result has the zeros, times just before and after them, those 1/|a| away, and times between neighbouring zeros.
    """
    algebra = Arrays({**names, "t": _TRIED}, _TRIED.shape)  # what depends on other names than these is NaN
    parts_in_time: list[Array] = []

    def handle(node: ex.Node, parts: tuple[Array, ...]) -> Array:
        value: Array = combine(algebra, node, parts)
        several = isinstance(node, ex.Compare) or (isinstance(node, ex.Call) and node.function in ("min", "max"))
        parts_in_time.extend([x - y for x, y in pairwise(parts)] if several else [value])
        return value

    with np.errstate(all="ignore"):
        for expression in expressions:
            expression.fold(handle)
    zeros: dict[float, float] = {}
    for f in (x for x in parts_in_time if np.all(np.isfinite(x))):
        start, slope = float(f[0]), float(f[1]) - float(f[0])
        if slope and np.allclose(f, start + slope * _TRIED, rtol=1e-12, atol=1e-12 * abs(start)):
            at = -start / slope
            zeros[at] = min(1 / abs(slope), zeros.get(at, np.inf))
    order = sorted(zeros)
    found = {at + way for at in order for little in [1e-9 * max(abs(at), 1.0)] for way in (-little, 0.0, little)}
    found |= {at + way * zeros[at] for at in order for way in (-1.0, 1.0)}
    found |= {(a + b) / 2 for a, b in pairwise(order)}
    return sorted(t for t in found if 0 <= t < np.inf)


def _extrema(node: Any, t: Array, names: Mapping[str, float]) -> Array:
    """Times at which a margin comes closest to zero without a sign change on the grid: two switches may hide there."""
    found = []
    for margin in margins(node):
        f = np.abs(np.asarray(_values(margin, t, names), dtype=float))
        with np.errstate(all="ignore"):
            low = np.flatnonzero((f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:])) + 1
        if not 0 < low.size <= _EXTREMA:
            continue
        a, b = t[low - 1], t[low + 1]
        for _ in range(_LEVELS):
            x = np.linspace(a, b, _FINER)
            best = np.nan_to_num(_values(margin, x, names) * np.sign(_values(margin, t[low], names)), nan=np.inf)
            k = np.clip(np.argmin(best, axis=0), 1, _FINER - 2)
            column = np.arange(low.size)
            a, b, at = x[k - 1, column], x[k + 1, column], x[k, column]
        found.append(at)
    return np.concatenate([np.zeros(0), *found])


def switch_times(expressions: list[Expression], names: Mapping[str, float], span: tuple[float, float]) -> list[float]:
    """Times in a span at which conditions on time alone switch."""
    times: set[float] = set()
    for expression in expressions:
        nodes, _ = _parts(expression, frozenset(names))
        grid = np.linspace(*span, LOOKS + 1) if nodes else np.zeros(0)
        for node in nodes:
            grid = np.unique(np.concatenate([grid, _extrema(node, grid, names)]))
            piece = _piece(node, grid, names)
            k = np.flatnonzero(piece[1:] != piece[:-1])
            if not 0 < k.size <= MOST_SWITCHES:
                continue
            a, b, first = grid[k], grid[k + 1], piece[k]
            for _ in range(_HALVINGS):
                middle = a + 0.5 * (b - a)
                same = _piece(node, middle, names) == first
                a, b = np.where(same, middle, a), np.where(same, b, middle)
            grid = np.unique(np.concatenate([grid, a, b]))
            times.update(b.tolist())
    return sorted(times)


def longest_step(
    expressions: list[Expression], names: Mapping[str, float], span: tuple[float, float], switches: list[float]
) -> float:
    """The longest step that cannot miss a change with time alone; infinite if nothing changes that quickly.

    It is twice the range of a quantity divided by its largest rate (two thirds of the period of a sine), rounded down
    to a power of two, so that nearly equal mechanisms get the same step.
    """
    used = {name for expression in expressions for name in expression.names}
    values = tuple((name, value) for name, value in names.items() if name in used)
    return _longest_step(tuple(expressions), values, frozenset(names), span, tuple(switches))


@lru_cache(maxsize=256)
def _longest_step(
    expressions: tuple[Expression, ...], values: tuple[tuple[str, float], ...], known: frozenset[str],
    span: tuple[float, float], switches: tuple[float, ...],
) -> float:  # fmt: skip
    names = dict(values)
    length = span[1] - span[0]
    grid = np.linspace(*span, LOOKS + 1)
    smooth = np.ones(LOOKS, dtype=bool)
    smooth[[0, -1]] = False  # a switch at an end of the span is not in ``switches``, yet a jump on the grid
    for at in switches:
        k = int(np.searchsorted(grid, at))
        smooth[max(k - 2, 0) : k + 1] = False
    shortest = np.inf
    for expression in expressions:
        for node in _parts(expression, known)[1]:
            f = np.asarray(_values(node, grid, names), dtype=float)
            change = np.abs(np.diff(f))[smooth]
            change = change[np.isfinite(change)]
            steepest = float(change.max(initial=0.0)) * LOOKS / length
            if steepest > 0:
                shortest = min(shortest, float(np.ptp(f[np.isfinite(f)])) / steepest)
    if not 2 * shortest < length:
        return float(np.inf)
    return float(2.0 ** np.floor(np.log2(max(2 * shortest, SHORTEST * length))))
