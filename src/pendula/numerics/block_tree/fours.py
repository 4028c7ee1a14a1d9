"""Access to numbers by address, one or four at a time, for compiled code with rows too short for unrolled loops.

All functions take addresses as integers (see ``native``) and check nothing: the caller knows its sizes. Any
processor can run it; one with wide registers computes four numbers in one instruction.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 4
BYTES = 8 * LANES  # size of four numbers
_FOUR = ir.VectorType(ir.DoubleType(), LANES)
_FUSED = ("contract",)


def padded(count: int) -> int:
    """The smallest multiple of four that is not less than ``count``."""
    return (count + LANES - 1) // LANES * LANES


def _four_at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _FOUR.as_pointer())


def _load(builder: Any, address: Any) -> Any:
    return builder.load(_four_at(builder, address), align=8)


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, _four_at(builder, address), align=8)


def _repeated(builder: Any, number: Any) -> Any:
    """The same number in all four places."""
    empty, index = ir.Constant(_FOUR, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(empty, number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))


@intrinsic
def get(typingctx: Any, address: Any) -> Any:
    """``get(address)``: the number there."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

    return types.float64(types.intp), generate


@intrinsic
def put(typingctx: Any, address: Any, number: Any) -> Any:
    """``put(address, number)``: store a number."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))
        return target.get_dummy_value()

    return types.void(types.intp, types.float64), generate


@intrinsic
def copy_four(typingctx: Any, to: Any, source: Any) -> Any:
    """``copy_four(to, source)``: copy four numbers."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        _store(builder, _load(builder, arguments[1]), arguments[0])
        return target.get_dummy_value()

    return types.void(types.intp, types.intp), generate


@intrinsic
def swap_four(typingctx: Any, a: Any, b: Any) -> Any:
    """``swap_four(a, b)``: exchange four numbers."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        first, second = (_load(builder, a) for a in arguments)
        _store(builder, second, arguments[0])
        _store(builder, first, arguments[1])
        return target.get_dummy_value()

    return types.void(types.intp, types.intp), generate


@intrinsic
def scale_four(typingctx: Any, to: Any, factor: Any) -> Any:
    """``scale_four(to, factor)``: multiply four numbers."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        to, factor = arguments
        _store(builder, builder.fmul(_load(builder, to), _repeated(builder, factor)), to)
        return target.get_dummy_value()

    return types.void(types.intp, types.float64), generate


@intrinsic
def subtract_four(typingctx: Any, to: Any, factor: Any, source: Any) -> Any:
    """``subtract_four(to, factor, source)``: four numbers minus a factor times four others."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        to, factor, source = arguments
        product = builder.fmul(_repeated(builder, factor), _load(builder, source), flags=_FUSED)
        _store(builder, builder.fsub(_load(builder, to), product, flags=_FUSED), to)
        return target.get_dummy_value()

    return types.void(types.intp, types.float64, types.intp), generate
