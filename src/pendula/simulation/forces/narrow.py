"""Forces that act only in a narrow range of the state, so that the steps of a run may have missed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pendula.model.expressions import nodes as ex
from pendula.model.expressions.expression import Expression
from pendula.model.expressions.functions import SWITCHING
from pendula.numerics.steppers.stepping import Integration
from pendula.simulation.forces.laws import along, laws_of, values
from pendula.simulation.forces.sticking import sticking_notes
from pendula.system.layout import Array
from pendula.system.system import System

LOOKS = 8192
"""points between the least and the largest value of a coordinate or speed at which a force is evaluated"""
LONG, LONG_FOR_JUMPS = 8, 2
"""a step may miss a force if it is this many times as long as the range in which the force acts. A force with jumps or
kinks may be zero beyond that range, and the stages of a step leave gaps of up to half of it; a smooth one is noticed"""
MOST_STEPS = 10_000
"""steps of a run inside which a force of several coordinates or speeds is evaluated"""
POINTS = np.linspace(0.0, 1.0, 9)
"""points of a step at which the arguments of such a force are evaluated"""
CLOSE = 1e-3
"""distance of points, relative to the step, by which an extremum of an argument is refined"""
OFFSETS = 0.5 ** np.arange(3, 31)
"""distances from the strongest value, relative to the step, at which a force may have fallen to half of it"""
TRIED = 32
"""strongest values whose range is measured"""


class Missed(NamedTuple):
    """A force that the steps of a run may have missed: why, and a step that cannot miss it."""

    note: str
    step: float


def look_at_forces(system: System, run: Integration, vector: Array) -> tuple[list[Missed], list[str]]:
    """Forces that steps may have missed, and notes on jumps of forces to which the motion sticks."""
    laws = laws_of(system)
    if not laws or len(run.t) < 2:
        return [], []
    seen = along(system, run.t, run.y, vector)
    constants = system.layout.parameter_values(vector)
    unit = system.layout.time_unit
    missed: list[Missed] = []
    for law in laws:
        free = law.names - constants.keys()
        if len(free) == 1:
            missed += _missed_at(law, min(free), seen, constants, run.t, unit)
        elif free <= seen.keys():
            missed += _missed_inside(law, Path(system, seen, run.t), constants, unit)
    return missed, list(sticking_notes(system, run.t, seen, constants))


NARROW = "because a force is so narrow"
"""part of the note on a run that was repeated with shorter steps"""
ADVICE = 'so it may be missing: try stepper="rk4" with a short step=..., or a wider force'


def _missed_at(
    law: Expression, name: str, seen: Mapping[str, Array], constants: Mapping[str, float], t: Array, unit: str
) -> Iterator[Missed]:
    """Whether steps far longer than the range of a force of one coordinate or speed passed its strongest value."""
    if name not in seen or name == "t":
        return
    x = seen[name]
    grid = np.linspace(x.min(), x.max(), LOOKS)
    f = values(law.root, {**constants, name: grid}, grid.shape)
    size = np.abs(f - np.median(f))
    if not np.isfinite(size).all() or not size.any():
        return
    peak = int(np.argmax(size))
    low = np.flatnonzero(size <= 0.5 * size[peak])
    k = int(np.searchsorted(low, peak))
    if not 0 < k < low.size:
        return  # it acts up to an end of the range, where the motion turns
    width = grid[low[k]] - grid[low[k - 1]]
    long = np.abs(np.diff(x)) > _times(law) * width
    passed = ((x[:-1] - grid[peak]) * (x[1:] - grid[peak]) <= 0.0) & long
    if passed.any():
        rates = np.abs(np.diff(x)[passed] / np.diff(t)[passed])
        yield Missed(
            f"the force {law.to_text()} acts only within {width:.2g} of {name} = {grid[peak]:.6g}, and a step of "
            f"{np.abs(np.diff(x))[passed].max():.2g} passed that (t = {t[:-1][passed][0]:.6g} {unit}), {ADVICE}",
            0.5 * float(width / rates.max()),
        )


def _times(law: Expression) -> int:
    """How many times the range of a force a step may be long, by whether the force has jumps or kinks."""

    def handle(node: ex.Node, parts: tuple[bool, ...]) -> bool:
        return (
            any(parts) or isinstance(node, ex.Conditional) or (isinstance(node, ex.Call) and node.function in SWITCHING)
        )

    return LONG_FOR_JUMPS if law.fold(handle) else LONG


class Path:
    """Coordinates, speeds and time inside the steps of a run: cubic polynomials by the states at the ends of a step."""

    def __init__(self, system: System, seen: Mapping[str, Array], t: Array) -> None:
        layout = system.in_joints.layout
        rate = {c: layout.speeds[k] for c, k in zip(layout.coordinates, layout.speed_of, strict=True) if k >= 0}
        self.rate, self.coordinate = rate, {speed: c for c, speed in rate.items()}
        every = -(-(len(t) - 1) // MOST_STEPS)
        self.steps = np.arange(0, len(t) - 1, every)
        self.seen, self.t, self.h = seen, t, np.diff(t)

    def at(self, names: frozenset[str] | set[str], step: Array, x: Array) -> dict[str, Array]:
        """Values of names at the fractions ``x`` of some steps."""
        found = {}
        for name in names:
            own = self.coordinate.get(name, name)
            y0, y1 = self.seen[own][step], self.seen[own][step + 1]
            if own not in self.rate:
                found[name] = y0 + x * (y1 - y0)
                continue
            h, v = self.h[step], self.seen[self.rate[own]]
            d0, d1, change = h * v[step], h * v[step + 1], y1 - y0
            b, c = 3.0 * change - 2.0 * d0 - d1, d0 + d1 - 2.0 * change
            if own == name:
                found[name] = y0 + x * (d0 + x * (b + x * c))
            else:
                found[name] = (d0 + x * (2.0 * b + x * 3.0 * c)) / np.where(h == 0.0, 1.0, h)
        return found


def _missed_inside(law: Expression, path: Path, constants: Mapping[str, float], unit: str) -> Iterator[Missed]:
    """Whether a force of several coordinates and speeds is strong only within a small part of a step.

    It can be narrow only where an argument of one of its functions, conditions or quotients passes zero or has an
    extremum. These arguments are smooth, so that a few points of each step show where; the force is evaluated there and
    half-way between these places.
    """
    free = law.names - constants.keys()

    def force(step: Array, x: Array) -> Array:
        return values(law.root, {**constants, **path.at(free, step, x)}, x.shape)

    step, x = _places(law, path, constants)
    if not step.size:
        return
    ends = force(*(a.ravel() for a in np.broadcast_arrays(path.steps[:, None], POINTS[[0, -1]])))
    f = force(step, x)
    base = float(np.median(ends))
    size = np.where(np.isfinite(f), np.abs(f - base), 0.0)
    strongest = max(float(size.max()), float(np.abs(ends[np.isfinite(ends)] - base).max(initial=0.0)))
    order = np.argsort(-size)[:TRIED]
    order = order[size[order] > 0.5 * strongest]
    widths = np.array([_width(force, step[k], x[k], base, size[k]) for k in order])
    short = widths < 1.0 / _times(law)
    narrow = order[short]
    if not narrow.size:
        return
    durations = widths[short] * np.abs(path.h[step[narrow]])
    k = int(np.argmin(durations))
    at, h = step[narrow[k]], abs(float(path.h[step[narrow[k]]]))
    yield Missed(
        f"the force {law.to_text()} acts for only {durations[k]:.2g} {unit} at t = "
        f"{path.t[at] + x[narrow[k]] * path.h[at]:.6g} {unit}, inside a step of {h:.2g} {unit}, {ADVICE}",
        0.5 * float(durations[k]),
    )


def _width(force: Any, step: int, x: float, base: float, size: float) -> float:
    """Part of a step within which a force stays above half of a strong value; 1 if that reaches an end of the step."""
    places = np.concatenate([x - OFFSETS, x + OFFSETS])
    inside = (places > 0.0) & (places < 1.0)
    f = np.full(places.shape, np.inf)
    f[inside] = np.abs(force(np.full(int(inside.sum()), step), places[inside]) - base)
    low = f <= 0.5 * size
    left, right = low[: OFFSETS.size], low[OFFSETS.size :]
    if not (left.any() and right.any()):
        return 1.0
    return float(OFFSETS[left].min() + OFFSETS[right].min())


def _places(law: Expression, path: Path, constants: Mapping[str, float]) -> tuple[Array, Array]:
    """Steps and fractions of them at which an argument of a law is zero or has an extremum, and half-way between."""
    found: list[tuple[Array, Array]] = [(path.steps, np.zeros(path.steps.size)), (path.steps, np.ones(path.steps.size))]
    shape = (path.steps.size, POINTS.size)
    free = law.names - constants.keys()
    grid = {**constants, **path.at(free, path.steps[:, None], np.broadcast_to(POINTS, shape))}
    for node in dict.fromkeys(_arguments(law.root)):

        def argument(step: Array, x: Array, node: ex.Node = node) -> Array:
            return values(node, {**constants, **path.at(free, step, x)}, x.shape)

        c = values(node, grid, shape)
        row, k = np.nonzero(c[:, :-1] * c[:, 1:] < 0.0)
        part = c[row, k] / (c[row, k] - c[row, k + 1])
        found.append((path.steps[row], POINTS[k] + part * (POINTS[k + 1] - POINTS[k])))
        row, k = np.nonzero((c[:, 1:-1] - c[:, :-2]) * (c[:, 2:] - c[:, 1:-1]) < 0.0)
        at = path.steps[row], POINTS[k + 1]
        for distance in (POINTS[1], CLOSE):
            at = at[0], _vertex(argument, *at, distance)
        found.append(at)
    step, x = (np.concatenate(a) for a in zip(*found, strict=True))
    order = np.lexsort((x, step))
    step, x = step[order], x[order]
    same = step[1:] == step[:-1]
    return np.append(step, step[1:][same]), np.append(x, (0.5 * (x[1:] + x[:-1]))[same])


def _vertex(argument: Any, step: Array, x: Array, distance: float) -> Array:
    """The vertex of the parabola through three values of an argument about some places."""
    low, here, high = (argument(step, x + d) for d in (-distance, 0.0, distance))
    bend = low - 2.0 * here + high
    with np.errstate(all="ignore"):
        shift = np.where(bend != 0.0, 0.5 * (low - high) / bend, 0.0)
    return np.clip(x + distance * np.clip(np.nan_to_num(shift), -1.0, 1.0), 0.0, 1.0)


def _arguments(root: ex.Node) -> Iterator[ex.Node]:
    """What decides where a law changes quickly: arguments of functions, sides of comparisons, divisors, bases."""
    for node in ex.post_order(root):
        if isinstance(node, ex.Call):
            yield from node.args
        elif isinstance(node, ex.Compare):
            yield ex.Subtract(node.a, node.b)
        elif isinstance(node, ex.Divide):
            yield node.b
        elif isinstance(node, ex.Power):
            yield node.a
