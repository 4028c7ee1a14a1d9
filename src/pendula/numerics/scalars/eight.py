"""Eight numbers as one scalar, so that a kernel written for floats compiles for eight states at once.

:data:`Eight` is a numba type like ``float64``. Inside compiled code an array of eights is a view of float64 memory
whose last axis has eight entries, one for each lane (:data:`eights_at`).
Arithmetic, ``abs``, ``min``, ``max``, ``np.sqrt``, ``np.floor``, ``sincos`` and ``reciprocal`` work lane by lane and
round as they do for floats; a float among eights counts in every lane. Flags such as ``fastmath={"contract"}`` come
from the function that is compiled, as for floats.

Lanes cannot branch: a comparison yields eight truth values, :func:`choose` selects lane by lane, and :func:`any_lane`
and :func:`all_lanes` reduce eight truth values to one. All three also accept floats and plain booleans.

Any processor can run it; one with wide registers computes four or eight numbers in one instruction.
"""

from __future__ import annotations

import functools
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

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import address_of, called_rarely, view_at
from pendula.numerics.scalars import trig

LANES = 8
BYTES = 8 * LANES  # size of eight numbers

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_WHOLE = ir.VectorType(ir.IntType(64), LANES)
_TRUTHS = ir.VectorType(ir.IntType(1), LANES)
_INDEX = ir.IntType(32)


class EightType(types.Type):
    """Type of eight numbers, one for each lane."""

    is_scalar = True

    def __init__(self) -> None:
        super().__init__(name="Eight")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A number converts to an eight with this number in every lane."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that is a number in one place and an eight in another is an eight everywhere."""
        return self if isinstance(other, types.Float | types.Integer) else None


class EightTruthsType(types.Type):
    """Type of eight truth values, the result of a comparison."""

    def __init__(self) -> None:
        super().__init__(name="EightTruths")


Eight = EightType()
EightTruths = EightTruthsType()


@register_model(EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@register_model(EightTruthsType)
class _EightTruthsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _TRUTHS)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Float | types.Integer)


def _some_eight(args: Any) -> bool:
    return any(a is Eight for a in args) and all(a is Eight or _is_number(a) for a in args)


def _repeated(builder: Any, number: Any) -> Any:
    """The same number in all lanes."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


@lower_cast(types.Float, EightType)
@lower_cast(types.Integer, EightType)
def _number_to_eight(target: Any, builder: Any, source: Any, to: Any, value: Any) -> Any:
    return _repeated(builder, target.cast(builder, value, source, types.float64))


# -- arithmetic and comparison -------------------------------------------------------------------------


def _define(operation: Any, result: Any, count: int, generate: Callable[[Any, list[Any]], Any]) -> None:
    """Defines an operation of ``count`` operands for eights."""

    def generic(self: Any, args: Any, keywords: Any) -> Any:
        if len(args) == count and not keywords and _some_eight(args):
            return signature(result, *[Eight] * count)
        return None

    infer_global(operation)(type(f"Eight_{operation.__name__}", (AbstractTemplate,), {"generic": generic}))

    @lower_builtin(operation, *[Eight] * count)
    def lower(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return generate(builder, arguments)


def _instruction(name: str) -> Callable[[Any, list[Any]], Any]:
    return lambda builder, arguments: getattr(builder, name)(*arguments)


def _comparison(sign: str) -> Callable[[Any, list[Any]], Any]:
    compare = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"
    return lambda builder, arguments: getattr(builder, compare)(sign, *arguments)


def _native(name: str) -> Callable[[Any, list[Any]], Any]:
    """An LLVM intrinsic on vectors."""

    def generate(builder: Any, arguments: list[Any]) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(arguments))
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64"), arguments)

    return generate


def _extreme(sign: str) -> Callable[[Any, list[Any]], Any]:
    """The second operand if it is beyond the first, else the first: as for floats (NaN in the second is ignored)."""

    def generate(builder: Any, arguments: list[Any]) -> Any:
        first, second = arguments
        return builder.select(builder.fcmp_ordered(sign, second, first), second, first)

    return generate


for _operations, _name in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _define(_operation, Eight, 2, _instruction(_name))
for _operation, _name in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _define(_operation, EightTruths, 2, _comparison(_name))
_define(operator.neg, Eight, 1, _instruction("fneg"))
_define(operator.pos, Eight, 1, lambda builder, arguments: arguments[0])
_define(abs, Eight, 1, _native("fabs"))
_define(max, Eight, 2, _extreme(">"))
_define(min, Eight, 2, _extreme("<"))


def _define_truths(operation: Any, count: int, generate: Callable[[Any, list[Any]], Any]) -> None:
    def generic(self: Any, args: Any, keywords: Any) -> Any:
        return signature(EightTruths, *args) if len(args) == count and set(args) == {EightTruths} else None

    infer_global(operation)(type(f"EightTruths_{operation.__name__}", (AbstractTemplate,), {"generic": generic}))

    @lower_builtin(operation, *[EightTruths] * count)
    def lower(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return generate(builder, arguments)


_define_truths(operator.and_, 2, _instruction("and_"))
_define_truths(operator.or_, 2, _instruction("or_"))
_define_truths(operator.invert, 1, _instruction("not_"))


def _unary(name: str) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        generate = _native(name)
        return Eight(Eight), lambda target, builder, sig, arguments: generate(builder, arguments)

    return function


_sqrt, _floor, _fabs = _unary("sqrt"), _unary("floor"), _unary("fabs")


@overload(np.sqrt)
def _sqrt_of_eight(x):
    return (lambda x: _sqrt(x)) if x is Eight else None


@overload(np.floor)
def _floor_of_eight(x):
    return (lambda x: _floor(x)) if x is Eight else None


@overload(np.isfinite)
def _isfinite_of_eight(x):
    return (lambda x: _fabs(x) < np.inf) if x is Eight else None


# -- one of eight, some of eight -----------------------------------------------------------------------


@intrinsic
def lane(typingctx: Any, x: Any, k: Any) -> Any:
    """``lane(x, k)``: the number in lane k."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], _INDEX))

    return types.float64(Eight, types.intp), generate


@intrinsic
def with_lane(typingctx: Any, x: Any, k: Any, number: Any) -> Any:
    """``with_lane(x, k, number)``: the same with another number in lane k."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.insert_element(arguments[0], arguments[2], builder.trunc(arguments[1], _INDEX))

    return Eight(Eight, types.intp, types.float64), generate


@intrinsic
def _select(typingctx: Any, condition: Any, a: Any, b: Any) -> Any:
    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return Eight(EightTruths, Eight, Eight), generate


@intrinsic
def _bits(typingctx: Any, truths: Any) -> Any:
    """Eight truth values as the bits of a number from 0 to 255."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.zext(builder.bitcast(arguments[0], ir.IntType(LANES)), ir.IntType(64))

    return types.int64(EightTruths), generate


def choose(condition, a, b):
    """``choose(condition, a, b)``: a where the condition holds, else b, lane by lane; both are computed."""
    raise NotImplementedError("choose is for compiled code")


def any_lane(condition):
    """``any_lane(condition)``: whether it holds in any lane."""
    raise NotImplementedError("any_lane is for compiled code")


def all_lanes(condition):
    """``all_lanes(condition)``: whether it holds in every lane."""
    raise NotImplementedError("all_lanes is for compiled code")


@overload(choose)
def _choose(condition, a, b):
    if condition is EightTruths:
        return lambda condition, a, b: _select(condition, a, b)
    return (lambda condition, a, b: a if condition else b) if isinstance(condition, types.Boolean) else None


@overload(any_lane)
def _any_lane(condition):
    if condition is EightTruths:
        return lambda condition: _bits(condition) != 0
    return (lambda condition: condition) if isinstance(condition, types.Boolean) else None


@overload(all_lanes)
def _all_lanes(condition):
    if condition is EightTruths:
        return lambda condition: _bits(condition) == 255
    return (lambda condition: condition) if isinstance(condition, types.Boolean) else None


# -- sine, cosine, reciprocal --------------------------------------------------------------------------


class _Bits:
    """The operations that :func:`pendula.numerics.scalars.trig.turn` needs, by numba's builder."""

    def __init__(self, builder: Any) -> None:
        self.fadd, self.select = builder.fadd, builder.select
        self.add, self.and_, self.xor, self.shl = builder.add, builder.and_, builder.xor, builder.shl
        self.differ = functools.partial(builder.icmp_signed, "!=")
        self.as_integer = functools.partial(builder.bitcast, typ=_WHOLE)
        self.as_real = functools.partial(builder.bitcast, typ=_VECTOR)

    @staticmethod
    def real(value: float) -> Any:
        return ir.Constant(_VECTOR, [value] * LANES)

    @staticmethod
    def integer(value: int) -> Any:
        return ir.Constant(_WHOLE, [value] * LANES)


@intrinsic
def _turned(typingctx: Any, k: Any, s: Any, c: Any) -> Any:
    """Sine and cosine after k further quarter turns, from s and c."""

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return target.make_tuple(builder, sig.return_type, trig.turn(_Bits(builder), *arguments))

    return types.UniTuple(Eight, 2)(Eight, Eight, Eight), generate


@compiled_part
def _sincos_far(x, s, c):
    """Takes lanes whose angle is large or NaN from the C library."""
    for k in range(LANES):
        angle = lane(x, k)
        if not abs(angle) < trig.FAR:
            s, c = with_lane(s, k, np.sin(angle)), with_lane(c, k, np.cos(angle))
    return s, c


@compiled_part(forceinline=True)
def _sincos_near(x):
    """Sine and cosine of angles below ``FAR``."""
    k, s, c = trig.sincos_near(x)
    return _turned(k, s, c)


@compiled_part(forceinline=True)
def _sincos(x):
    s, c = _sincos_near(x)
    if not all_lanes(_fabs(x) < trig.FAR):
        s, c = _sincos_far(x, s, c)
    return s, c


@overload(trig.sincos)
def _sincos_of_eight(x):
    return (lambda x: _sincos(x)) if x is Eight else None


@overload(trig.reciprocal)
def _reciprocal_of_eight(x):
    return (lambda x: 1.0 / x) if x is Eight else None


# -- arrays --------------------------------------------------------------------------------------------


eights_at = view_at(Eight, BYTES, aligned=False)  # memory is aligned as for float64 only
"""``eights_at(address, shape)``: the array of eights of ``shape`` (a number or a tuple) at an address."""


def aligned_zeros(*shape: int) -> np.ndarray:
    """Float64 zeros at an address that is a multiple of 64: eights that cross cache lines are slow."""
    count = int(np.prod(shape))
    memory = np.zeros(count + LANES)
    first = (-memory.ctypes.data % BYTES) // 8
    return memory[first : first + count].reshape(shape)


# -- rows of angles ------------------------------------------------------------------------------------


@compiled_part(forceinline=True)
def _sincos_one_by_one(angles, sines, cosines):
    """Looks for far angles first: a loop without calls keeps its constants in registers."""
    if angles.size == 0:
        return
    near = _fabs(angles[0]) < trig.FAR
    for k in range(1, angles.size):
        near = near & (_fabs(angles[k]) < trig.FAR)
    if all_lanes(near):
        for k in range(angles.size):
            sines[k], cosines[k] = _sincos_near(angles[k])
    else:
        _sincos_some_far(angles, sines, cosines)


@compiled_part(forceinline=False)
def _sincos_some_far(angles, sines, cosines):
    """The same if some angles are far."""
    called_rarely()
    for k in range(angles.size):
        sines[k], cosines[k] = _sincos(angles[k])


@overload(trig.sincos_all)
def _sincos_all(angles, sines, cosines):
    if angles.dtype is Eight:
        return lambda angles, sines, cosines: _sincos_one_by_one(angles, sines, cosines)

    def of_floats(angles, sines, cosines):
        for k in range(angles.size):
            sines[k] = angles[k]
        blocks = sines.size // LANES
        rows = eights_at(address_of(sines), blocks)
        _sincos_one_by_one(rows, rows, eights_at(address_of(cosines), blocks))

    return of_floats if angles.dtype == types.float64 else None
