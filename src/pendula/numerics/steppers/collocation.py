"""A stretch of motion as one polynomial in time, found from a few times alone.

Near a pose at which the constraints lose rank, accelerations are a quotient of two small numbers, and every step that
comes close feels their rounding. The motion itself is smooth there. So it is written as a polynomial whose derivative
is matched at Chebyshev points, none of which is the middle of the stretch: there the equations are never evaluated.
The polynomial is found by Picard's iteration (Hairer, Norsett & Wanner 1993, section I.8), whose every state is first
brought onto the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from pendula.numerics.compiled.jit import compiled, compiled_callback
from pendula.numerics.compiled.native import Callback, address_of, call_native, doubles_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype

Array = npt.NDArray[np.float64]

POINTS = 14
"""times at which the equations hold; even, so that none is the middle"""
MOST_ROUNDS = 80
SETTLED = 1e-14
"""a round that changes the states by less than this, relative to their size, is the last"""

NODES = -np.cos(np.pi * (2.0 * np.arange(POINTS) + 1.0) / (2.0 * POINTS))
_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(NODES, POINTS - 1))
_INTEGRAL = chebyshev.chebint(_COEFFICIENTS, lbnd=-1, axis=0)
INTEGRATION = np.ascontiguousarray(chebyshev.chebvander(NODES, POINTS) @ _INTEGRAL)
"""integrals from -1 to each point, from the values at all points"""


@dataclass(frozen=True)
class Stretch:
    """States over a stretch of time.

    Attributes:
        begin, end: its times.
        first: the state at ``begin``.
        rates: derivatives at the Chebyshev points, shape (points, components).
        change: how much the last round changed the states, relative to their size; 1e-14 if it converged.
    """

    begin: float
    end: float
    first: Array
    rates: Array
    change: float

    @property
    def half(self) -> float:
        """Half its duration."""
        return 0.5 * (self.end - self.begin)

    @property
    def times(self) -> Array:
        """The times at which the equations hold."""
        return self.begin + self.half * (1.0 + NODES)

    @cached_property
    def coefficients(self) -> Array:
        """Chebyshev coefficients of the rates."""
        return np.asarray(_COEFFICIENTS @ self.rates)

    def at(self, t: Array) -> Array:
        """States at some times."""
        x = (np.asarray(t) - self.begin) / self.half - 1.0
        return np.asarray(self.first + self.half * (chebyshev.chebvander(x, POINTS) @ (_INTEGRAL @ self.rates)))

    @property
    def roughness(self) -> float:
        """What the last coefficients change in the states, relative to their size: about what they may be off by."""
        return float(self.half * np.abs(self.coefficients[-3:]).max(initial=0.0) / (1.0 + np.abs(self.first).max()))

    def as_callback(self) -> Callback:
        """The derivative as a right-hand side, of time alone."""
        memory = Memory(
            _POLYNOMIAL, begin=self.begin, half=self.half, components=self.first.size,
            table=np.ascontiguousarray(self.coefficients),
        )  # fmt: skip
        return Callback(polynomial_rates.address, memory.address, memory)


def collocate(rhs: Callback, project: Callback, begin: float, end: float, first: Array, guess: Array) -> Stretch | None:
    """The motion from a state on; None where a state could not be brought onto the constraints.

    Args:
        rhs, project: as of :func:`~pendula.numerics.steppers.stepping.integrate`.
        begin, end: the times.
        first: the state at ``begin``, on the constraints.
        guess: states at the times of the Chebyshev points (:attr:`Stretch.times`), near enough for the projection to
            find the right branch.
    """
    half = 0.5 * (end - begin)
    times = begin + half * (1.0 + NODES)
    y, rates = np.array(guess, dtype=float), np.zeros_like(guess, dtype=float)
    scratch = np.zeros(first.size + 3), np.zeros(first.size + 1)
    change = find_rates(
        rhs.address, rhs.context, project.address, project.context, times, y, rates, half * INTEGRATION,
        np.array(first, dtype=float), *scratch, MOST_ROUNDS, SETTLED,
    )  # fmt: skip
    return None if change < 0.0 else Stretch(begin, end, np.array(first), rates, float(change))


@compiled
def find_rates(rhs, rhs_context, project, project_context, times, y, rates, integration, first, onto, at, most, least):
    """Picard's iteration; returns the last change of the states, or -1 where a projection failed."""
    points, n = y.shape
    size = 0.0
    for k in range(n):
        size = max(size, abs(first[k]))
    best, worse = np.inf, 0
    for _ in range(most):
        for i in range(points):
            at[0] = times[i]
            for k in range(n):
                at[k + 1] = y[i, k]
            onto[n + 2] = 1.0
            call_native(project, address_of(onto), address_of(at), project_context)
            if onto[n + 2] != 0.0:
                return -1.0
            for k in range(n):
                at[k + 1] = onto[k]
            call_native(rhs, address_of(onto), address_of(at), rhs_context)
            for k in range(n):
                rates[i, k] = onto[k]
                if not np.isfinite(onto[k]):
                    return -1.0
        change = 0.0
        for i in range(points):
            for k in range(n):
                total = first[k]
                for j in range(points):
                    total += integration[i, j] * rates[j, k]
                change = max(change, abs(total - y[i, k]) / (1.0 + size))
                y[i, k] = total
        if change <= least:
            return change
        worse = worse + 1 if change >= best else 0
        best = min(best, change)
        if worse >= 4:
            return best
    return best


_POLYNOMIAL = record_dtype("begin half", "components table")
_polynomial_at = reader(_POLYNOMIAL)


@compiled_callback
def polynomial_rates(out, inp, context):
    """Rates of a stretch at a time, by Clenshaw's recurrence."""
    p = _polynomial_at(context)
    n = p.components
    x = (doubles_at(inp, 1)[0] - p.begin) / p.half - 1.0
    table, rates = doubles_at(p.table, (POINTS, n)), doubles_at(out, n)
    for k in range(n):
        one, two = 0.0, 0.0
        for j in range(POINTS - 1, 0, -1):
            one, two = 2.0 * x * one - two + table[j, k], one
        rates[k] = x * one - two + table[0, k]
