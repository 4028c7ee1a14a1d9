"""Where to compute next on a grid, so that borders between different answers are resolved with few points.

The plan starts with a coarse part of the grid and halves its cells where two neighbouring points differ, down to the
full grid. On every level it also follows borders: a cell in which neighbours turn out to differ is treated as one, even
in a part of the grid that looked uniform before. All points that were not computed then get the answer of the nearest
computed one, which is theirs unless the plan missed a border altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pendula.errors import UsageError
from pendula.words import readable

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Known = Mapping[int, Any] | tuple[npt.ArrayLike, npt.ArrayLike]
"""answers by flat index: a mapping, or two arrays (indices, answers)"""

LEAST_POINTS = 5
"""points along an axis of the first stage; on short axes the first step is shortened until there are as many"""
MARGIN = 1
"""cells computed around one into which a border was followed; more means fewer stages and more points"""


class Filled(NamedTuple):
    """Answers on the full grid, and which of them were computed; the others are inferred."""

    answers: npt.NDArray[Any]
    computed: Mask


@readable
class Refinement:
    """A plan of points on a grid of any number of axes, that resolves the borders between different answers.

    The plan depends on answers alone, not on their order or on how many arrive at a time: a study that was interrupted
    computes the same points as an undisturbed one.

    What may be missed: a region is found for sure if it contains ``coarse`` consecutive points along every axis at
    once. A smaller island, or a strip narrower than ``coarse`` points, may lie between the points of the first stage;
    if it touches a border that was found, the plan follows it, else it stays unseen. Use a smaller ``coarse`` where
    such islands matter; ``coarse=1`` computes every point.

    Args:
        shape: number of points along each axis.
        coarse: grid steps between points of the first stage, a power of two; fewer on axes with few points.
        threshold: for numbers instead of labels: neighbours differ if their values do so by more than this.

    Attributes:
        shape, steps: points, and steps between points of the first stage, along each axis.

    Raises:
        UsageError: an empty shape, or ``coarse`` is not a power of two.

    Example:
        >>> import numpy as np
        >>> x, y = np.meshgrid(np.linspace(-1, 1, 200), np.linspace(-1, 1, 200))
        >>> inside = (x**2 + y**2 < 0.5).ravel()
        >>> plan, known = Refinement((200, 200)), {}
        >>> while (more := plan.next(known)).size:
        ...     known.update({int(k): inside[k] for k in more})
        >>> answers, computed = plan.fill(known)
        >>> bool((answers.ravel() == inside).all()), bool(computed.mean() < 0.06)
        (True, True)
    """

    def __init__(self, shape: Sequence[int], coarse: int = 16, *, threshold: float | None = None) -> None:
        self.shape = tuple(int(n) for n in shape)
        if not self.shape or min(self.shape) < 1:
            raise UsageError(f"a grid needs at least one point along every axis, found shape {tuple(shape)}")
        if coarse < 1 or coarse & (coarse - 1):
            raise UsageError(f"the first step of a refinement must be 1, 2, 4, 8, ..., found {coarse}")
        if threshold is not None and not threshold >= 0:
            raise UsageError(f"the threshold of a refinement must not be negative, found {threshold}")
        self.threshold = threshold
        self.steps = tuple(_first_step(n, coarse) for n in self.shape)

    def __str__(self) -> str:
        points = " x ".join(str(n) for n in self.shape)
        first = prod(_lines(n, step).size for n, step in zip(self.shape, self.steps, strict=True))
        return f"{points} points, {first} of them in the first stage"

    def next(self, known: Known) -> Indices:
        """Flat indices of the points to compute next, in ascending order; none when the plan is complete.

        Example:
            >>> Refinement((9,), coarse=4).next({}).tolist()
            [0, 2, 4, 6, 8]
            >>> Refinement((9,), coarse=4).next({0: "a", 2: "a", 4: "b", 6: "b", 8: "b"}).tolist()
            [3]
        """
        codes, computed = self._read(known)
        # Axes with one point have no cells.
        axes = [k for k, n in enumerate(self.shape) if n > 1]
        if not axes:
            return np.flatnonzero(~computed)
        sizes = [self.shape[k] for k in axes]
        codes, computed = codes.reshape(sizes), computed.reshape(sizes)
        steps = [self.steps[k] for k in axes]
        lines = [_lines(n, step) for n, step in zip(sizes, steps, strict=True)]
        active = np.ones([line.size - 1 for line in lines], dtype=bool)
        while True:
            grid = np.ix_(*lines)
            missing, mixed = self._follow(active, codes[grid], computed[grid])
            if missing.any():
                where = [line[k] for line, k in zip(lines, np.nonzero(missing), strict=True)]
                return np.sort(np.ravel_multi_index(where, sizes))
            if max(steps) == 1:
                return np.empty(0, dtype=np.intp)
            steps = [max(1, step // 2) for step in steps]
            finer = [_lines(n, step) for n, step in zip(sizes, steps, strict=True)]
            parents = [np.searchsorted(old, new[:-1], "right") - 1 for old, new in zip(lines, finer, strict=True)]
            active, lines = mixed[np.ix_(*parents)], finer

    def fill(self, known: Known) -> Filled:
        """Answers on the full grid: computed ones, and for other points that of the nearest computed point.

        Works at any time, also before the plan is complete.

        Raises:
            UsageError: no answer is known.

        Example:
            >>> answers, computed = Refinement((9,), coarse=4).fill({0: "a", 2: "a", 3: "a", 4: "b", 6: "b", 8: "b"})
            >>> "".join(answers), computed.sum()
            ('aaaabbbbb', np.int64(6))
        """
        from scipy.ndimage import distance_transform_edt

        where, found = self._pairs(known)
        if not where.size:
            raise UsageError("a grid cannot be filled before one of its points is known")
        place = np.zeros(prod(self.shape), dtype=np.intp)
        place[where] = np.arange(where.size)
        computed = np.zeros(place.size, dtype=bool)
        computed[where] = True
        computed = computed.reshape(self.shape)
        nearest = distance_transform_edt(~computed, return_distances=False, return_indices=True)
        return Filled(found[place.reshape(self.shape)[tuple(nearest)]], computed)

    def _pairs(self, known: Known) -> tuple[Indices, npt.NDArray[Any]]:
        """Indices and answers as arrays."""
        if isinstance(known, Mapping):
            where, found = np.array(list(known), dtype=np.intp), np.array(list(known.values()))
        else:
            where, found = np.asarray(known[0], dtype=np.intp).ravel(), np.asarray(known[1])
        if found.shape != where.shape or found.dtype == object:
            raise UsageError(f"one label or number is needed for each of {where.size} points, found {found.shape}")
        size = prod(self.shape)
        if where.size and (where.min() < 0 or where.max() >= size):
            raise UsageError(f"indices of a grid of {size} points go from 0, found {where.min()} to {where.max()}")
        return where, found

    def _read(self, known: Known) -> tuple[npt.NDArray[Any], Mask]:
        """Codes of the answers (integers for labels, else values) and which points are known, flat."""
        where, found = self._pairs(known)
        computed = np.zeros(prod(self.shape), dtype=bool)
        computed[where] = True
        if self.threshold is None:
            codes = np.zeros(computed.size, dtype=np.intp)
            if where.size:
                codes[where] = np.unique(found, return_inverse=True)[1]
            return codes, computed
        if where.size and found.dtype.kind not in "biuf":
            raise UsageError(f"a refinement with a threshold needs numbers, found {found[0]!r}")
        values = np.zeros(computed.size)
        values[where] = found
        return values, computed

    def _follow(self, active: Mask, codes: npt.NDArray[Any], computed: Mask) -> tuple[Mask, Mask]:
        """Of one level: points still to be computed, and, if there are none, cells in which neighbours differ.

        Cells around an edge whose ends differ become active too, which may ask for further points.
        """
        while True:
            needed = _corners(active)
            missing = needed & ~computed
            if missing.any():
                return missing, active
            # Only points of the plan count, so that further known ones do not change it.
            mixed = np.zeros_like(active)
            for axis in range(codes.ndim):
                ends = [_part(axis, slice(None, -1)), _part(axis, slice(1, None))]
                differ = self._differ(*(codes[end] for end in ends)) & needed[ends[0]] & needed[ends[1]]
                mixed |= _cells_around(differ, axis)
            entered = mixed & ~active
            if not entered.any():
                return missing, mixed
            active = active | _widened(entered, MARGIN)

    def _differ(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Mask:
        if self.threshold is None:
            return np.asarray(a != b)
        return np.asarray((np.abs(a - b) > self.threshold) | (np.isnan(a) != np.isnan(b)))


def _first_step(points: int, coarse: int) -> int:
    while coarse > 1 and (points - 1) // coarse < LEAST_POINTS - 1:
        coarse //= 2
    return coarse


def _lines(points: int, step: int) -> Indices:
    """Positions of the lines of a level along one axis; the last point always has one."""
    lines = np.arange(0, points, step)
    return lines if lines[-1] == points - 1 else np.append(lines, points - 1)


def _part(axis: int, part: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (part,)


def _corners(cells: Mask) -> Mask:
    """Points that are corners of cells."""
    points = np.zeros([n + 1 for n in cells.shape], dtype=bool)
    for corner in product((0, 1), repeat=cells.ndim):
        points[tuple(slice(k, k + n) for k, n in zip(corner, cells.shape, strict=True))] |= cells
    return points


def _cells_around(edges: Mask, axis: int) -> Mask:
    """Cells that have one of these edges along an axis."""
    cells = edges
    for other in range(edges.ndim):
        if other != axis:
            cells = cells[_part(other, slice(None, -1))] | cells[_part(other, slice(1, None))]
    return cells


def _widened(cells: Mask, margin: int) -> Mask:
    """Cells and those at most ``margin`` cells away."""
    wide = cells.copy()
    for axis in range(cells.ndim):
        for _ in range(margin):
            before = wide.copy()
            wide[_part(axis, slice(1, None))] |= before[_part(axis, slice(None, -1))]
            wide[_part(axis, slice(None, -1))] |= before[_part(axis, slice(1, None))]
    return wide
