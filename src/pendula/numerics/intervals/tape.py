"""Functions as a list of steps, of which a kernel finds bounds, and bounds of all first derivatives, over a box."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.intervals.bounds import SLACK, UNIT, cosine, down, inverse, product, sine, up, whole_power

Array = npt.NDArray[np.float64]

VARIABLE, CONSTANT, ADD, MULTIPLY, POWER, INVERSE, SIN, COS, EXP, LOG, SQRT, ATAN, TANH, ERF, ABS = range(15)
NOWHERE, PARTLY, EVERYWHERE = range(3)
"""in how much of a box all steps are defined"""
LARGEST = 1.7976931348623157e308
"""the largest double"""
FEWEST = 1e-322
"""more than the error of an exponential that is smaller than normal numbers; no exponential is zero"""
FUNCTIONS = dict(sin=SIN, cos=COS, exp=EXP, log=LOG, sqrt=SQRT, atan=ATAN, tanh=TANH, erf=ERF, abs=ABS)
ERF_SLOPE = 2.0 / math.sqrt(math.pi)


class Undecidable(Exception):
    """An expression contains something that interval arithmetic cannot bound."""


@dataclass
class Tape:
    """Steps, each of which uses earlier ones; equal steps are written once.

    Attributes:
        variables: how many unknowns there are.
        steps: (operation, first operand, second operand or exponent).
        bounds: of constants, by step; zero for others.
    """

    variables: int
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)
    _places: dict[tuple[int, int, int, float, float], int] = field(default_factory=dict)
    _kept: dict[tuple[int, ...], tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        for i in range(self.variables):
            self._put(VARIABLE, i, 0)

    def _put(self, kind: int, a: int, b: int, lo: float = 0.0, hi: float = 0.0) -> int:
        key = (kind, a, b, lo, hi)
        if key not in self._places:
            self._places[key] = len(self.steps)
            self.steps.append((kind, a, b))
            self.bounds.append((lo, hi))
        return self._places[key]

    def constant(self, lo: float, hi: float | None = None) -> int:
        """A number between bounds; the bounds are equal if a double holds it exactly."""
        return self._put(CONSTANT, 0, 0, float(lo), float(lo if hi is None else hi))

    def add(self, a: int, b: int) -> int:
        """a + b."""
        return self._put(ADD, min(a, b), max(a, b))

    def multiply(self, a: int, b: int) -> int:
        """a b; the square if both are the same."""
        return self.power(a, 2) if a == b else self._put(MULTIPLY, min(a, b), max(a, b))

    def power(self, a: int, exponent: int) -> int:
        """a to a whole power of at least 1."""
        if exponent < 1:
            raise ValueError(f"a power needs an exponent of at least 1, found {exponent}")
        return a if exponent == 1 else self._put(POWER, a, exponent)

    def inverse(self, a: int) -> int:
        """1 / a."""
        return self._put(INVERSE, a, 0)

    def call(self, name: str, a: int) -> int:
        """A function of :data:`FUNCTIONS`."""
        return self._put(FUNCTIONS[name], a, 0)

    def compiled(self, rows: list[int]) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]:
        """Steps, bounds of constants and the steps that are the results, as kernels take them. Cached.

        Only steps that the results use, after the unknowns; all of them if no results are named.
        """
        key = (len(self.steps), *rows)
        if key not in self._kept:
            self._kept = {key: self._compiled(rows)}
        return self._kept[key]

    def _compiled(self, rows: list[int]) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]:
        used = set(range(self.variables)) | (set(rows) if rows else set(range(len(self.steps))))
        for k in range(len(self.steps) - 1, self.variables - 1, -1):
            kind, a, b = self.steps[k]
            if k in used and kind != CONSTANT:
                used |= {a, b} if kind in (ADD, MULTIPLY) else {a}
        order = sorted(used)
        place = {k: i for i, k in enumerate(order)}
        steps = np.zeros((len(order), 3), dtype=np.int64)
        for i, k in enumerate(order):
            kind, a, b = self.steps[k]
            if kind not in (VARIABLE, CONSTANT):
                a, b = place[a], place[b] if kind in (ADD, MULTIPLY) else b
            steps[i] = kind, a, b
        return steps, np.array(self.bounds)[order], np.array([place[k] for k in rows], dtype=np.int64)


@compiled_part
def evaluate(steps, constants, lo, hi, out):
    """Bounds of every step over a box, and of its derivatives by all unknowns if there is room for them.

    ``out`` has the shape (steps, 1 + unknowns, 2): the value, then the slopes; or (steps, 1, 2). Returns NOWHERE if
    some step is defined nowhere in the box (the root or the logarithm of numbers below zero), PARTLY if one may be
    undefined somewhere in it or has a pole there, else EVERYWHERE. Only then the mean value theorem holds with these
    slopes.
    """
    n = out.shape[1] - 1
    defined = EVERYWHERE
    value, slope = out[:, 0], out[:, 1:]
    for k in range(steps.shape[0]):
        kind, i, j = steps[k, 0], steps[k, 1], steps[k, 2]
        if kind == VARIABLE:
            value[k, 0], value[k, 1] = lo[i], hi[i]
        elif kind == CONSTANT:
            value[k, 0], value[k, 1] = constants[k, 0], constants[k, 1]
        elif kind == ADD:
            value[k, 0], value[k, 1] = down(value[i, 0] + value[j, 0]), up(value[i, 1] + value[j, 1])
        elif kind == MULTIPLY:
            value[k, 0], value[k, 1] = product(value[i, 0], value[i, 1], value[j, 0], value[j, 1])
        else:
            if kind in (SQRT, LOG):
                if value[i, 1] < 0.0:
                    defined = NOWHERE
                elif value[i, 0] < 0.0 or (kind == LOG and value[i, 0] == 0.0):
                    defined = min(defined, PARTLY)
            elif kind == INVERSE and value[i, 0] <= 0.0 <= value[i, 1]:
                defined = min(defined, PARTLY)
            value[k, 0], value[k, 1] = apply(kind, value[i, 0], value[i, 1], j)
        value[k, 0], value[k, 1] = held(value[k, 0], value[k, 1])
        if n == 0:
            continue
        if kind <= CONSTANT:
            for l in range(n):
                slope[k, l, 0] = slope[k, l, 1] = 1.0 if kind == VARIABLE and l == i else 0.0
        elif kind == ADD:
            for l in range(n):
                slope[k, l, 0] = down(slope[i, l, 0] + slope[j, l, 0])
                slope[k, l, 1] = up(slope[i, l, 1] + slope[j, l, 1])
        elif kind == MULTIPLY:
            for l in range(n):
                first = product(slope[i, l, 0], slope[i, l, 1], value[j, 0], value[j, 1])
                second = product(value[i, 0], value[i, 1], slope[j, l, 0], slope[j, l, 1])
                slope[k, l, 0], slope[k, l, 1] = down(first[0] + second[0]), up(first[1] + second[1])
        else:
            a, b = derivative(kind, value[i, 0], value[i, 1], value[k, 0], value[k, 1], j)
            for l in range(n):
                slope[k, l, 0], slope[k, l, 1] = product(a, b, slope[i, l, 0], slope[i, l, 1])
        for l in range(n):
            slope[k, l, 0], slope[k, l, 1] = held(slope[k, l, 0], slope[k, l, 1])
    return defined


@compiled_part
def held(lo, hi):
    """Bounds that hold after an overflow: no number is above infinity; everything, where a bound is not a number."""
    if lo != lo or hi != hi:
        return -math.inf, math.inf
    return min(lo, LARGEST), max(hi, -LARGEST)


@compiled_part
def apply(kind, a, b, e):
    """Bounds of a function of [a, b]; everything where it is not defined."""
    if kind == POWER:
        return whole_power(a, b, e)
    if kind == INVERSE:
        return inverse(a, b)
    if kind == SIN:
        return sine(a, b)
    if kind == COS:
        return cosine(a, b)
    if kind == EXP:
        return max(math.exp(a) * (1.0 - SLACK) - FEWEST, 0.0), math.exp(b) * (1.0 + SLACK) + FEWEST
    if kind == LOG:
        if a <= 0.0:
            return -math.inf, math.inf
        return _lower(math.log(a)), _higher(math.log(b))
    if kind == SQRT:
        if not b >= 0.0:
            return -math.inf, math.inf
        # Where only a part of [a, b] has a root, these are the bounds there; slopes are then unbounded, so that no root
        # of equations is verified.
        return max(down(math.sqrt(max(a, 0.0))), 0.0), up(math.sqrt(b))
    if kind == ATAN:
        return _lower(math.atan(a)), _higher(math.atan(b))
    if kind == TANH:
        return max(_lower(math.tanh(a)), -1.0), min(_higher(math.tanh(b)), 1.0)
    if kind == ERF:
        return max(_lower(math.erf(a)), -1.0), min(_higher(math.erf(b)), 1.0)
    return (0.0 if a <= 0.0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))


@compiled_part
def _lower(x):
    return x - SLACK * abs(x) - UNIT * UNIT


@compiled_part
def _higher(x):
    return x + SLACK * abs(x) + UNIT * UNIT


@compiled_part
def derivative(kind, a, b, c, d, e):
    """Bounds of the derivative of a function of [a, b], whose own bounds are [c, d]."""
    if kind == POWER:
        p = whole_power(a, b, e - 1)
        return product(float(e), float(e), p[0], p[1])
    if kind == INVERSE:
        p = whole_power(c, d, 2)
        return -p[1], -p[0]
    if kind == SIN:
        return cosine(a, b)
    if kind == COS:
        p = sine(a, b)
        return -p[1], -p[0]
    if kind == EXP:
        return c, d
    if kind == LOG:
        return inverse(a, b)
    if kind == SQRT:
        p = inverse(c, d)
        return 0.5 * p[0], 0.5 * p[1]
    if kind == ATAN:
        p = whole_power(a, b, 2)
        return inverse(down(1.0 + p[0]), up(1.0 + p[1]))
    if kind == TANH:
        p = whole_power(c, d, 2)
        return max(down(1.0 - p[1]), 0.0), up(1.0 - p[0])
    if kind == ERF:
        p = whole_power(a, b, 2)
        lo, hi = math.exp(-p[1]), math.exp(-p[0])
        return max(_lower(ERF_SLOPE * lo), 0.0), _higher(ERF_SLOPE * hi)
    return (1.0 if a > 0.0 else -1.0), (-1.0 if b < 0.0 else 1.0)
