"""Sine with cosine, and reciprocals, for every scalar type that kernels are compiled for.

Plain Python functions that compiled code calls; each scalar type brings its own version by ``overload``. That of
float64 is straight-line arithmetic (Cody-Waite reduction by pi/2 in three parts, then the polynomials of fdlibm), so
that other types can repeat it operation by operation and come to the same digits. It is good to about one unit in the
last place; where the reduction would lose digits, the library's functions take over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

LARGEST = 1e5  # [rad] up to which the reduction keeps all digits
TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""pi/2 in three parts; products of a whole number up to 1e5 with the first two are exact"""
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)

P1, P2, P3 = HALF_PI
S1, S2, S3, S4, S5, S6 = SINE
C1, C2, C3, C4, C5, C6 = COSINE


def sincos(x: Any) -> Any:
    """Sine and cosine; for compiled code only."""
    raise NotImplementedError("sincos is for compiled code")


def reciprocal(x: Any) -> Any:
    """1/x; for compiled code only."""
    raise NotImplementedError("reciprocal is for compiled code")


@register_jitable
def kernel_sine(r: Any) -> Any:
    """sin r for |r| <= pi/4; plain arithmetic, for any scalar type."""
    z = r * r
    return r + r * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))


@register_jitable
def kernel_cosine(r: Any) -> Any:
    """cos r for |r| <= pi/4; plain arithmetic, for any scalar type."""
    z = r * r
    return 1.0 - 0.5 * z + z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))


@register_jitable
def _sincos_float(x: float) -> tuple[float, float]:
    if not abs(x) < LARGEST:
        return np.sin(x), np.cos(x)
    k = np.floor(x * TWO_OVER_PI + 0.5)
    r = x - k * P1
    r -= k * P2
    r -= k * P3
    s, c = kernel_sine(r), kernel_cosine(r)
    j = np.int64(k)
    odd = (j & 1) != 0
    a = c if odd else s
    b = s if odd else c
    return (-a if (j & 2) != 0 else a), (-b if ((j + 1) & 2) != 0 else b)


@overload(sincos, strict=False)
def _sincos(x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda x: _sincos_float(x)
    return None


@overload(reciprocal, strict=False)
def _reciprocal(x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda x: 1.0 / x
    return None
