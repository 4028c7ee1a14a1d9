"""A value with eight tangents as one scalar (forward-mode differentiation), for kernels written for floats.

:data:`Tangents` is a numba type like ``float64``: a number, and its derivatives along eight directions. Arithmetic,
``abs``, ``min``, ``max``, ``np.sqrt``, ``sincos`` and ``reciprocal`` follow the rules of differentiation; a float among
them is a constant. Values round as they do for floats.

Order comparisons use values alone, so that a kernel takes the same branch as for floats. Two numbers are equal only if
their tangents are equal, too: ``x != 0.0`` asks whether a term can be omitted, and a term that is zero but has a
derivative cannot.

In memory a number takes sixteen floats: the value, seven unused, the eight tangents. :func:`tangents_at` reads an array
of them at an address that is a multiple of 64, as :func:`pendula.numerics.scalars.eight.aligned_zeros` provides.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

from pendula.numerics.compiled.native import view_at
from pendula.numerics.scalars import trig
from pendula.numerics.scalars.eight import LANES, Eight, all_lanes

WIDTH = 2 * LANES  # floats per number in memory
FIRST = LANES  # index of the first tangent among them
BYTES = 8 * WIDTH

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.IntType(32)


class TangentsType(types.Type):
    """Type of a value with its tangents along eight directions."""

    is_scalar = True

    def __init__(self) -> None:
        super().__init__(name="Tangents")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Numbers are constants: their tangents are zero."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that is a number in one place and has tangents in another has them everywhere."""
        return self if isinstance(other, types.Float | types.Integer) else None


Tangents = TangentsType()


@register_model(TangentsType)
class _TangentsModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("value", types.float64), ("tangents", Eight)])


def _parts(target: Any, builder: Any, x: Any) -> tuple[Any, Any]:
    """Value and tangents."""
    fields = cgutils.create_struct_proxy(Tangents)(target, builder, value=x)
    return fields.value, fields.tangents


def _made(target: Any, builder: Any, value: Any, tangents: Any) -> Any:
    fields = cgutils.create_struct_proxy(Tangents)(target, builder)
    fields.value, fields.tangents = value, tangents
    return fields._getvalue()


def _times(builder: Any, number: Any, tangents: Any) -> Any:
    """A number times eight tangents."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INDEX, 0))
    factor = builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))
    return builder.fmul(factor, tangents)


@lower_cast(types.Float, TangentsType)
@lower_cast(types.Integer, TangentsType)
def _number_to_tangents(target: Any, builder: Any, source: Any, to: Any, value: Any) -> Any:
    number = target.cast(builder, value, source, types.float64)
    return _made(target, builder, number, ir.Constant(_VECTOR, [0.0] * LANES))


# -- arithmetic ----------------------------------------------------------------------------------------
# A rule maps both values and both tangents (None for those of a constant) to value and tangents.

Rule = Callable[[Any, Any, Any, Any, Any], tuple[Any, Any]]


def _add(builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    return builder.fadd(x, y), (dy if dx is None else dx if dy is None else builder.fadd(dx, dy))


def _subtract(builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    return builder.fsub(x, y), (builder.fneg(dy) if dx is None else dx if dy is None else builder.fsub(dx, dy))


def _multiply(builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    left = None if dx is None else _times(builder, y, dx)
    right = None if dy is None else _times(builder, x, dy)
    both = right if left is None else left if right is None else builder.fadd(left, right)
    return builder.fmul(x, y), both


def _divide(builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    """(x/y)' = (x' - (x/y) y') / y."""
    value = builder.fdiv(x, y)
    rate = dx
    if dy is not None:
        spent = _times(builder, value, dy)
        rate = builder.fneg(spent) if dx is None else builder.fsub(dx, spent)
    return value, _times(builder, builder.fdiv(ir.Constant(ir.DoubleType(), 1.0), y), rate)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Float | types.Integer)


def _pair(args: Any) -> Any:
    """Types of two operands of which at least one has tangents; None otherwise."""
    if len(args) != 2 or Tangents not in args or not all(a is Tangents or _is_number(a) for a in args):
        return None
    return [a if a is Tangents else types.float64 for a in args]


_PAIRS = ((Tangents, Tangents), (Tangents, types.float64), (types.float64, Tangents))


def _define(operation: Any, result: Any, generate: Callable[..., Any]) -> None:
    """Defines an operation of two operands by ``generate(target, builder, x, dx, y, dy)``."""

    def generic(self: Any, args: Any, keywords: Any) -> Any:
        pair = None if keywords else _pair(args)
        return None if pair is None else signature(result, *pair)

    infer_global(operation)(type(f"Tangents_{operation.__name__}", (AbstractTemplate,), {"generic": generic}))

    def lower(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        given: list[Any] = []
        for kind, argument in zip(sig.args, arguments, strict=True):
            given += _parts(target, builder, argument) if kind is Tangents else (argument, None)
        return generate(target, builder, *given)

    for pair in _PAIRS:
        lower_builtin(operation, *pair)(lower)


def _by_rule(rule: Rule) -> Callable[..., Any]:
    return lambda target, builder, *given: _made(target, builder, *rule(builder, *given))


def _by_size(sign: str) -> Callable[..., Any]:
    return lambda target, builder, x, dx, y, dy: builder.fcmp_ordered(sign, x, y)


def _equal(target: Any, builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> Any:
    """Whether values and all tangents are the same."""
    none = ir.Constant(_VECTOR, [0.0] * LANES)
    same = builder.fcmp_ordered("==", none if dx is None else dx, none if dy is None else dy)
    whole = builder.bitcast(same, ir.IntType(LANES))
    all_same = builder.icmp_unsigned("==", whole, ir.Constant(ir.IntType(LANES), 2**LANES - 1))
    return builder.and_(builder.fcmp_ordered("==", x, y), all_same)


def _unequal(target: Any, builder: Any, *given: Any) -> Any:
    return builder.not_(_equal(target, builder, *given))


def _extreme(sign: str) -> Callable[..., Any]:
    """The second operand if its value is beyond that of the first, else the first, as for floats."""

    def generate(target: Any, builder: Any, x: Any, dx: Any, y: Any, dy: Any) -> Any:
        none = ir.Constant(_VECTOR, [0.0] * LANES)
        beyond = builder.fcmp_ordered(sign, y, x)
        tangents = builder.select(beyond, none if dy is None else dy, none if dx is None else dx)
        return _made(target, builder, builder.select(beyond, y, x), tangents)

    return generate


for _operations, _rule in (
    ((operator.add, operator.iadd), _add),
    ((operator.sub, operator.isub), _subtract),
    ((operator.mul, operator.imul), _multiply),
    ((operator.truediv, operator.itruediv), _divide),
):
    for _operation in _operations:
        _define(_operation, Tangents, _by_rule(_rule))
for _operation, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _define(_operation, types.boolean, _by_size(_sign))
_define(operator.eq, types.boolean, _equal)
_define(operator.ne, types.boolean, _unequal)
_define(max, Tangents, _extreme(">"))
_define(min, Tangents, _extreme("<"))


def _define_sign(operation: Any, generate: Callable[..., Any]) -> None:
    """Defines an operation of one operand; ``generate(builder, x, dx)`` returns value and tangents."""

    def generic(self: Any, args: Any, keywords: Any) -> Any:
        return signature(Tangents, Tangents) if tuple(args) == (Tangents,) and not keywords else None

    infer_global(operation)(type(f"Tangents_{operation.__name__}", (AbstractTemplate,), {"generic": generic}))

    @lower_builtin(operation, Tangents)
    def lower(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _made(target, builder, *generate(builder, *_parts(target, builder, arguments[0])))


def _absolute(builder: Any, x: Any, dx: Any) -> tuple[Any, Any]:
    negative = builder.fcmp_ordered("<", x, ir.Constant(ir.DoubleType(), 0.0))
    return builder.select(negative, builder.fneg(x), x), builder.select(negative, builder.fneg(dx), dx)


_define_sign(operator.neg, lambda builder, x, dx: (builder.fneg(x), builder.fneg(dx)))
_define_sign(operator.pos, lambda builder, x, dx: (x, dx))
_define_sign(abs, _absolute)


# -- value and tangents --------------------------------------------------------------------------------


@intrinsic
def value_of(typingctx: Any, x: Any) -> Any:
    """``value_of(x)``: the value, without tangents."""
    if x is not Tangents:
        return None
    return types.float64(x), lambda target, builder, sig, arguments: _parts(target, builder, arguments[0])[0]


@intrinsic
def tangents_of(typingctx: Any, x: Any) -> Any:
    """``tangents_of(x)``: the tangents, as eight numbers."""
    if x is not Tangents:
        return None
    return Eight(x), lambda target, builder, sig, arguments: _parts(target, builder, arguments[0])[1]


@intrinsic
def with_tangents(typingctx: Any, value: Any, tangents: Any) -> Any:
    """``with_tangents(value, tangents)``: a number made of its parts."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _made(target, builder, *arguments)

    return Tangents(types.float64, Eight), generate


@intrinsic
def follow(typingctx: Any, value: Any, slope: Any, x: Any) -> Any:
    """``follow(value, slope, x)``: chain rule, a function's value with the tangents ``slope`` times those of x."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _made(
            target, builder, arguments[0], _times(builder, arguments[1], _parts(target, builder, arguments[2])[1])
        )

    return Tangents(types.float64, types.float64, Tangents), generate


tangents_at = view_at(Tangents, BYTES)
"""``tangents_at(address, shape)``: the array of ``shape`` (a number or a tuple) at an address, a multiple of 64."""


# -- functions -----------------------------------------------------------------------------------------


@overload(np.sqrt, jit_options={"error_model": "numpy"})
def _sqrt_of_tangents(x):
    if x is not Tangents:
        return None

    def root(x):
        r = np.sqrt(value_of(x))
        return follow(r, 0.5 / r, x)

    return root


@overload(np.isfinite)
def _isfinite_of_tangents(x):
    if x is not Tangents:
        return None

    def finite(x):
        return np.isfinite(value_of(x)) and all_lanes(np.isfinite(tangents_of(x)))

    return finite


@overload(trig.sincos)
def _sincos_of_tangents(x):
    if x is not Tangents:
        return None

    def both(x):
        s, c = trig.sincos(value_of(x))
        return follow(s, c, x), follow(c, -s, x)

    return both


@overload(trig.reciprocal, jit_options={"error_model": "numpy"})
def _reciprocal_of_tangents(x):
    if x is not Tangents:
        return None

    def inverse(x):
        r = 1.0 / value_of(x)
        return follow(r, -(r * r), x)

    return inverse
