"""Divisors that must not vanish, for every scalar type: where they do, the result is NaN and gets noticed."""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.eight import choose

SMALLEST = 1e-13  # relative to the size it is compared with


@compiled_part(forceinline=True)
def guarded(x, size):
    """x, or NaN if it is not positive beyond the rounding of numbers of the given size."""
    return choose(x > SMALLEST * size, x, np.nan)
