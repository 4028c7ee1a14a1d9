"""Roots to about a percent for compiled kernels of any scalar type: enough for a step size, and without branches."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from pendula.numerics.compiled.jit import compiled_part

ONE = 0x3FF0000000000000  # bits of 1.0
MANTISSA = 52  # bits of a mantissa
BIAS = 1023


def _constant(kind: Any, value: int) -> Any:
    """An integer in the place of a number, or in every lane."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def _whole(kind: Any) -> Any:
    """64-bit integers in the place of numbers."""
    return ir.VectorType(ir.IntType(64), kind.count) if isinstance(kind, ir.VectorType) else ir.IntType(64)


@intrinsic
def _bits_above_one(typingctx: Any, x: Any) -> Any:
    """The bits of a number minus those of 1.0, as a number."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        bits = builder.bitcast(arguments[0], _whole(kind))
        return builder.sitofp(builder.sub(bits, _constant(bits.type, ONE)), kind)

    return x(x), generate


@intrinsic
def _two_to(typingctx: Any, whole: Any) -> Any:
    """Two to the power of a whole number."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        power = builder.fptosi(arguments[0], _whole(kind))
        bits = builder.shl(builder.add(power, _constant(power.type, BIAS)), _constant(power.type, MANTISSA))
        return builder.bitcast(bits, kind)

    return whole(whole), generate


@compiled_part
def inverse_root(x, part):
    """Approximates x to the power -part, for x >= 0: to a percent if the part is at most 1/8.

    The logarithm is that of the exponent, interpolated linearly by the mantissa between powers of two.
    """
    logarithm = _bits_above_one(x) * 2.220446049250313e-16
    power = -logarithm * part
    whole = np.floor(power)
    rest = power - whole
    return _two_to(whole) * (1.0 + rest * (0.6565 + 0.3435 * rest))
