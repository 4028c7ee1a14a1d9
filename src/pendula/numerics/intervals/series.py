"""Taylor coefficients of the steps of a tape along a curve, exact except for rounding, with bounds of the rounding."""

from __future__ import annotations

import math

import numpy as np

from pendula.numerics.intervals import tape as tp
from pendula.numerics.intervals.tape import Array, Tape


def taylor(tape: Tape, rows: list[int], curve: Array) -> tuple[Array, Array]:
    """Coefficients of some steps where the unknowns are polynomials of one variable.

    Args:
        tape: the steps.
        rows: which of them are wanted.
        curve: coefficients of the unknowns, lowest first, shape (unknowns, order + 1).

    Returns:
        Coefficients, shape (rows, order + 1), and for each the sum of the magnitudes of its terms: the coefficient is
        accurate to about 1e-15 of that sum.

    Raises:
        ZeroDivisionError: a function has no Taylor series there.
    """
    values: list[Array] = []
    sizes: list[Array] = []
    for k, (kind, i, j) in enumerate(tape.steps):
        number = sum(tape.bounds[k]) / 2
        values.append(_step(kind, i, j, number, values, curve, 1.0))
        sizes.append(_step(kind, i, j, abs(number), sizes, np.abs(curve), -1.0, values))
    return np.array([values[k] for k in rows]), np.array([sizes[k] for k in rows])


def _step(
    kind: int,
    i: int,
    j: int,
    number: float,
    done: list[Array],
    curve: Array,
    sign: float,
    true: list[Array] | None = None,
) -> Array:
    """One step. With ``sign`` -1 differences become sums, which bound the sizes; values at the start are ``true``."""
    count = curve.shape[1]
    if kind == tp.VARIABLE:
        return np.array(curve[i], dtype=float)
    if kind == tp.CONSTANT:
        return np.array([number] + [0.0] * (count - 1))
    a = done[i]
    if kind == tp.ADD:
        return np.asarray(a + done[j])
    if kind == tp.MULTIPLY:
        return product(a, done[j])
    if kind == tp.POWER:
        found = a
        for _ in range(j - 1):
            found = product(found, a)
        return found
    start = float((done if true is None else true)[i][0])
    return _function(kind, a, start, sign)


def product(a: Array, b: Array) -> Array:
    """Product of two series."""
    return np.convolve(a, b)[: len(a)]


def _function(kind: int, a: Array, start: float, sign: float) -> Array:
    """A function of a series that starts at a value, by the recursion that its derivative gives."""
    if kind in (tp.SIN, tp.COS):
        pair = np.zeros((2, len(a)))
        pair[:, 0] = math.sin(start), math.cos(start)
        if sign < 0:
            pair = np.abs(pair)
        for k in range(1, len(a)):
            pair[0, k] = _convolved(a, pair[1], k)
            pair[1, k] = -sign * _convolved(a, pair[0], k)
        return np.asarray(pair[0 if kind == tp.SIN else 1])
    if kind == tp.INVERSE:
        return _inverse(a, start, sign)
    if start == 0.0 and kind in (tp.ABS, tp.SQRT, tp.LOG):
        raise ZeroDivisionError("abs, sqrt or log of 0")
    if kind == tp.ABS:
        return np.asarray(a * (math.copysign(1.0, start) if sign > 0 else 1.0))
    found = np.zeros(len(a))
    if kind == tp.EXP:
        found[0] = math.exp(start)
        for k in range(1, len(a)):
            found[k] = _convolved(a, found, k)
    elif kind == tp.SQRT:
        found[0] = math.sqrt(start)
        for k in range(1, len(a)):
            inner = float(found[1:k] @ found[k - 1 : 0 : -1]) if k > 1 else 0.0
            found[k] = (a[k] - sign * inner) / (2.0 * found[0])
    elif kind == tp.LOG:
        found = _integrated(a, _inverse(a, start, sign), math.log(start), sign)
    elif kind == tp.ATAN:
        one = product(a, a)
        one[0] += 1.0
        found = _integrated(a, _inverse(one, 1.0 + start**2, sign), math.atan(start), sign)
    elif kind == tp.TANH:
        found[0] = math.tanh(start) if sign > 0 else abs(math.tanh(start))
        for k in range(1, len(a)):
            rest = -sign * product(found, found)
            rest[0] += 1.0
            found[k] = _convolved(a, rest, k)
    elif kind == tp.ERF:
        slope = _function(tp.EXP, -sign * product(a, a), -start * start, sign) * tp.ERF_SLOPE
        found = _integrated(a, slope, math.erf(start), sign)
    else:
        raise AssertionError(f"step {kind} has no Taylor series")
    return found


def _convolved(a: Array, slope: Array, k: int) -> float:
    """Coefficient k of the integral of a' times a slope."""
    return sum(j * float(a[j]) * float(slope[k - j]) for j in range(1, k + 1)) / k


def _integrated(a: Array, slope: Array, first: float, sign: float) -> Array:
    found = np.array([first if sign > 0 else abs(first)] + [0.0] * (len(a) - 1))
    for k in range(1, len(a)):
        found[k] = _convolved(a, slope, k)
    return found


def _inverse(a: Array, start: float, sign: float) -> Array:
    """1 over a series."""
    over = 1.0 / (start if sign > 0 else abs(start))
    found = np.zeros(len(a))
    found[0] = over
    for k in range(1, len(a)):
        found[k] = -sign * over * float(a[1 : k + 1] @ found[k - 1 :: -1][:k])
    return found
