"""Sine and cosine together, and the reciprocal, for compiled kernels of any scalar type.

A kernel that calls :func:`sincos` and :func:`reciprocal` compiles for every type that defines them: float64 here, eight
states at once in :mod:`pendula.numerics.scalars.eight`. :func:`near` and :func:`turn` below contain the only
implementation, so all types round alike; code that numba does not compile uses it, too
(:mod:`pendula.system.code.writer`).

Method: reduction of the argument to [-pi/4, pi/4] with pi/2 in three parts (W. J. Cody, W. Waite, *Software Manual for
the Elementary Functions*, 1980), then the minimax polynomials of fdlibm (Sun Microsystems, 1993). The error is
about one unit in the last place for |x| below :data:`FAR`; for larger angles the C library is called.
"""

import numpy as np
from numba import types
from numba.extending import overload

from pendula.numerics.compiled.jit import compiled_part

FAR = 1e5  # for larger angles [rad] the three parts of pi/2 are not accurate enough

PER_QUARTER = 0.6366197723675814  # 2 / pi
# pi/2 in parts of 33 bits: their products with integers below 2^20 are exact
QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
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

_Q0, _Q1, _Q2 = QUARTER
_S0, _S1, _S2, _S3, _S4, _S5 = SINE
_C0, _C1, _C2, _C3, _C4, _C5 = COSINE


def sincos(x):
    """``sincos(x)``: sine and cosine of an angle [rad], for compiled code."""
    raise NotImplementedError("sincos is for compiled code")


def sincos_all(angles, sines, cosines):
    """``sincos_all(angles, sines, cosines)``: sines and cosines of all angles, for compiled code.

    Those of floats are computed eight at a time: the rows to write must have room for a multiple of eight.
    """
    raise NotImplementedError("sincos_all is for compiled code")


def reciprocal(x):
    """``reciprocal(x)``: 1 / x, for compiled code."""
    raise NotImplementedError("reciprocal is for compiled code")


def near(x):
    """Number of the quarter turn nearest to x, and sine and cosine of the remainder; any type with ``np.floor``."""
    k = np.floor(x * PER_QUARTER + 0.5)
    r = x - k * _Q0
    r = r - k * _Q1
    r = r - k * _Q2
    z = r * r
    s = r + r * z * (_S0 + z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * _S5)))))
    c = 1.0 - 0.5 * z + z * z * (_C0 + z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * _C5)))))
    return k, s, c


sincos_near = compiled_part(fastmath={"contract"}, forceinline=True)(near)


def turn(b, k, s, c):
    """Sine and cosine after k further quarter turns, from s and c: swapped if k is odd, signs by bits of k.

    ``b`` writes LLVM instructions on rows of numbers and of 64-bit integers.
    """
    # Adding 1.5 * 2^52 leaves the integer in the low bits: few processors convert vectors to integers.
    turns = b.as_integer(b.fadd(k, b.real(6755399441055744.0)))
    odd = b.differ(b.and_(turns, b.integer(1)), b.integer(0))

    def with_sign(value, count):
        sign = b.shl(b.and_(count, b.integer(2)), b.integer(62))
        return b.as_real(b.xor(b.as_integer(value), sign))

    sine = with_sign(b.select(odd, c, s), turns)
    return sine, with_sign(b.select(odd, s, c), b.add(turns, b.integer(1)))


@compiled_part(forceinline=True)
def _sincos(x):
    if not abs(x) < FAR:
        return np.sin(x), np.cos(x)
    k, s, c = sincos_near(x)
    j = np.int64(k)
    odd = (j & 1) != 0
    a = c if odd else s
    b = s if odd else c
    return (-a if (j & 2) != 0 else a), (-b if ((j + 1) & 2) != 0 else b)


@overload(sincos)
def _sincos_of_float(x):
    return (lambda x: _sincos(x)) if isinstance(x, types.Float) else None


@overload(reciprocal, jit_options={"error_model": "numpy"})
def _reciprocal_of_float(x):
    return (lambda x: 1.0 / x) if isinstance(x, types.Float) else None
