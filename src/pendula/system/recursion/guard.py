"""Divisors and roots that must not vanish, for every scalar type: where they do, the result is NaN and gets noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

SMALLEST = 1e-13  # relative to the size it is compared with


def guarded(x: Any, size: Any) -> Any:
    """x, or NaN if it is not positive beyond rounding of numbers of the given size; for compiled code only."""
    raise NotImplementedError("guarded is for compiled code")


def root(x: Any) -> Any:
    """Square root; for compiled code only."""
    raise NotImplementedError("root is for compiled code")


@overload(guarded, strict=False)
def _guarded(x: Any, size: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda x, size: x if x > SMALLEST * size else np.nan
    return None


@overload(root, strict=False)
def _root(x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda x: np.sqrt(x)
    return None
