"""Native functions, and how compiled code calls them by address.

A right-hand side, a projection, or any other function from numbers to numbers is a C function

    void f(double *out, const double *in, void *context)

given by its address. The address is a plain integer, so all callbacks have the same type and the
loops that call them are compiled once for all models. A call costs about as much as one by a C
function pointer.

:func:`call_native`, :func:`address_of`, :func:`doubles_at` and :func:`integers_at` are for compiled code
only. An address does not keep its array alive: the array must outlive its use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@dataclass(frozen=True)
class Callback:
    """A native function with its context.

    Attributes:
        address: entry point of ``void (*)(double *out, const double *in, void *context)``.
        context: address passed as the third argument; 0 if there is none.
        owner: the object that keeps the code and the context alive. If it has an attribute ``failure`` with
            a text, a run that stops because of this function reports that text.
    """

    address: int
    context: int = 0
    owner: object = None

    def __post_init__(self) -> None:
        if not isinstance(self.address, int | np.integer) or self.address <= 0:
            raise ValueError(f"a callback needs the address of a native function, got {self.address!r}")


@intrinsic
def call_native(typingctx: Any, address: Any, out: Any, inp: Any, context: Any) -> Any:
    """``call_native(address, out, inp, context)``: call a native function; all four are integers."""
    signature = types.void(types.intp, types.intp, types.intp, types.intp)

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        word = arguments[0].type
        function = ir.FunctionType(ir.VoidType(), [word, word, word])
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return target.get_dummy_value()

    return signature, generate


@intrinsic
def called_rarely(typingctx: Any) -> Any:
    """``called_rarely()``: the function that contains this is not inlined, so that its callers keep their registers."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        builder.function.attributes.add("cold")
        return target.get_dummy_value()

    return types.void(), generate


@intrinsic
def address_of(typingctx: Any, array: Any) -> Any:
    """``address_of(array)``: address of the first element, at no run-time cost."""
    if not isinstance(array, types.Array):
        return None

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        fields = target.make_array(sig.args[0])(target, builder, arguments[0])
        return builder.ptrtoint(fields.data, target.get_value_type(types.intp))

    return types.intp(array), generate


def view_at(element: Any, item_bytes: int, *, aligned: bool = True) -> Any:
    """A function (address, shape) for compiled code: the C-ordered array of some element type at an address.

    It neither copies nor counts references, so functions without memory management can use it. ``aligned``: whether
    addresses are aligned as the element type requires.
    """

    @intrinsic
    def view(typingctx: Any, address: Any, shape: Any) -> Any:
        lengths = 1 if isinstance(shape, types.Integer) else len(shape)
        array = types.Array(element, lengths, "C", aligned=aligned)

        def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            from numba.np.arrayobj import populate_array  # slow to load

            word = target.get_value_type(types.intp)
            given = [arguments[1]] if lengths == 1 and isinstance(shape, types.Integer) else None
            sizes = given or cgutils.unpack_tuple(builder, arguments[1])
            kinds = [shape] if given else list(shape)
            sizes = [target.cast(builder, x, kind, types.intp) for x, kind in zip(sizes, kinds, strict=True)]
            strides = [ir.Constant(word, item_bytes)]
            for size in reversed(sizes[1:]):
                strides.insert(0, builder.mul(strides[0], size))
            made = target.make_array(array)(target, builder)
            pointer = builder.inttoptr(arguments[0], target.get_data_type(element).as_pointer())
            populate_array(
                made, data=pointer, shape=sizes, strides=strides, itemsize=ir.Constant(word, item_bytes), meminfo=None
            )
            return made._getvalue()

        return array(types.intp, shape), generate

    return view


doubles_at = view_at(types.float64, 8)
"""``doubles_at(address, shape)``: the float64 array of ``shape`` (a number or a tuple) at an address."""
integers_at = view_at(types.int64, 8)
"""``integers_at(address, shape)``: the int64 array of ``shape`` (a number or a tuple) at an address."""
