"""Straight-line programs with value numbering, the form that is compiled.

Equal operations get one number, so common subexpressions are computed once. Constants fold. Operations that depend on
parameters alone are separated, to be computed once per parameter set. Forward-mode differentiation works operation by
operation, so no expression ever grows.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from pendula.errors import NotSupported
from pendula.model.expressions.functions import PRIMITIVES
from pendula.system import refusals

CONSTANT, PARAMETER, STATE = 0, 1, 2
"""What a value depends on: nothing, parameters only, or the state."""

_COMPARE = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b}

Kind = Literal["in", "par", "const", "add", "sub", "mul", "div", "neg", "call", "cond", "select"]
_KINDS = {kind: k for k, kind in enumerate(("in", "par", "const", "add", "sub", "mul", "div", "neg", "call", "cond"))}
_KINDS["select"] = len(_KINDS)
_HEIGHTS, _HASHES = 1 << 20, (1 << 40) - 1


class Op(NamedTuple):
    """One operation.

    Attributes:
        kind: an input, a parameter or a constant; arithmetic; a function; a condition; a choice.
        parts: its operands.
        name: name of the function or the condition.
        number: value of the constant.
        place: index of the input or parameter.
    """

    kind: Kind
    parts: tuple[int, ...] = ()
    name: str = ""
    number: float = 0.0
    place: int = 0


class Program:
    """Operations in order; a value is the index of the operation that computes it.

    Attributes:
        ops: the operations.
        level: what each value depends on: :data:`CONSTANT`, :data:`PARAMETER` or :data:`STATE`.
        rank: order of operands in sums and products. It depends on the value alone, not on when it was added, so
            the same expression becomes the same operations in any program.
        inputs, parameters: values of the inputs and parameters.
    """

    def __init__(self, inputs: int, parameters: int) -> None:
        self.ops: list[Op] = []
        self.level: list[int] = []
        self.rank: list[int] = []
        self._height: list[int] = []
        self._index: dict[tuple[object, ...], int] = {}
        self._crc: dict[str, int] = {}
        self.inputs = [self._new("in", (), STATE, place=k) for k in range(inputs)]
        self.parameters = [self._new("par", (), PARAMETER, place=k) for k in range(parameters)]
        self.zero, self.one = self.constant(0.0), self.constant(1.0)

    def new_input(self) -> int:
        """Appends an input."""
        self.inputs.append(self._new("in", (), STATE, place=len(self.inputs)))
        return self.inputs[-1]

    def _new(
        self, kind: Kind, parts: tuple[int, ...], level: int, name: str = "", number: float = 0.0, place: int = 0
    ) -> int:
        index = self._index.get((kind, parts, name, number, place))
        if index is None:
            op = Op(kind, parts, name, number, place)
            index = self._index[op] = len(self.ops)
            self.ops.append(op)
            self.level.append(level)
            self._place(op, level)
        return index

    def _place(self, op: Op, level: int) -> None:
        """Ranks a new value: parameters before the state, simple values before compound ones, then by a hash."""
        kind, parts, name, number, mixed = op
        height, heights, rank = 0, self._height, self.rank
        if parts:
            crc = self._crc.get(name)
            if crc is None:
                crc = self._crc[name] = zlib.crc32(name.encode())
            if len(parts) == 2:  # nearly all
                a, b = parts
                height = 1 + (heights[a] if heights[a] > heights[b] else heights[b])
                mixed = hash((_KINDS[kind], crc, rank[a], rank[b]))
            else:
                height = 1 + max([heights[k] for k in parts])
                mixed = hash((_KINDS[kind], crc, *[rank[k] for k in parts]))
        elif kind == "const":
            mixed = hash((number,))
        heights.append(height)
        self.rank.append((level * _HEIGHTS + min(height, _HEIGHTS - 1)) * (_HASHES + 1) + (mixed & _HASHES))

    def _of(self, kind: Kind, *parts: int, name: str = "") -> int:
        return self._new(kind, parts, max([self.level[k] for k in parts]), name)

    def sorted(self, values: Iterable[int]) -> list[int]:
        """Values in the order of their ranks."""
        return sorted(values, key=self.rank.__getitem__)

    def _commuting(self, kind: Kind, a: int, b: int) -> int:
        level = max(self.level[a], self.level[b])
        return self._new(kind, (a, b) if self.rank[a] <= self.rank[b] else (b, a), level)

    # -- arithmetic -----------------------------------------------------------------------------

    def constant(self, value: float) -> int:
        """A number."""
        return self._new("const", (), CONSTANT, number=float(value))

    def value(self, k: int) -> float | None:
        """The number, if the value is a constant."""
        op = self.ops[k]
        return op.number if op.kind == "const" else None

    def add(self, a: int, b: int) -> int:
        """a + b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.constant(x + y)
        if x == 0:
            return b
        if y == 0:
            return a
        if self.ops[b].kind == "neg":
            return self.subtract(a, self.ops[b].parts[0])
        if self.ops[a].kind == "neg":
            return self.subtract(b, self.ops[a].parts[0])
        return self._commuting("add", a, b)

    def subtract(self, a: int, b: int) -> int:
        """a - b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.constant(x - y)
        if y == 0:
            return a
        if a == b:
            return self.zero
        if x == 0:
            return self.negate(b)
        if self.ops[b].kind == "neg":
            return self.add(a, self.ops[b].parts[0])
        return self._of("sub", a, b)

    def negate(self, a: int) -> int:
        """-a."""
        x = self.value(a)
        if x is not None:
            return self.constant(-x)
        op = self.ops[a]
        if op.kind == "neg":
            return op.parts[0]
        if op.kind == "sub":
            return self.subtract(op.parts[1], op.parts[0])
        return self._of("neg", a)

    def multiply(self, a: int, b: int) -> int:
        """a * b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.constant(x * y)
        if x is None and y is not None:
            a, b, x, y = b, a, y, x
        if x == 0:
            return self.zero
        if x == 1:
            return b
        if x == -1:
            return self.negate(b)
        if self.ops[a].kind == "neg" and self.ops[b].kind == "neg":
            return self.multiply(self.ops[a].parts[0], self.ops[b].parts[0])
        if self.ops[a].kind == "neg":
            return self.negate(self.multiply(self.ops[a].parts[0], b))
        if self.ops[b].kind == "neg":
            return self.negate(self.multiply(a, self.ops[b].parts[0]))
        return self._commuting("mul", a, b)

    def divide(self, a: int, b: int) -> int:
        """a / b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None and y != 0:
            return self.constant(x / y)
        if x == 0:
            return self.zero
        if y is not None and y != 0 and math.frexp(abs(y))[0] == 0.5:  # a power of two: exact
            return self.multiply(a, self.constant(1 / y))
        return self._of("div", a, b)

    def power(self, a: int, n: int) -> int:
        """a to an integer power, by repeated squaring."""
        if n < 0:
            return self.divide(self.one, self.power(a, -n))
        result, square = self.one, a
        while n:
            if n & 1:
                result = self.multiply(result, square)
            n >>= 1
            if n:
                square = self.multiply(square, square)
        return result

    def call(self, name: str, *args: int) -> int:
        """A function of one or two values."""
        numbers = [self.value(k) for k in args]
        if all(x is not None for x in numbers):
            try:
                return self.constant(PRIMITIVES[name].value(*numbers))
            except (ValueError, OverflowError, ZeroDivisionError):
                return self.constant(math.nan)
        return self._of("call", *args, name=name)

    # -- conditions -----------------------------------------------------------------------------

    def condition(self, kind: str, *args: int) -> int:
        """lt, le (a < b, a <= b), and, or, not, true, false."""
        if kind in ("true", "false"):
            return self._new("cond", (), CONSTANT, kind)
        if kind in _COMPARE:
            a, b = (self.value(k) for k in args)
            if a is not None and b is not None:
                return self.condition("true" if _COMPARE[kind](a, b) else "false")
        elif kind == "not" and self._truth(args[0]) is not None:
            return self.condition("false" if self._truth(args[0]) else "true")
        elif kind in ("and", "or"):
            decides = kind == "or"  # the truth value that decides the result
            for this, other in (args, args[::-1]):
                truth = self._truth(this)
                if truth is not None:
                    return this if truth is decides else other
        # never hoisted with the parameters: prepared values are numbers, not truth values
        return self._new("cond", args, STATE, kind)

    def _truth(self, k: int) -> bool | None:
        """True if a condition always holds, False if it never holds, otherwise None."""
        return {"true": True, "false": False}.get(self.ops[k].name)

    def select(self, condition: int, a: int, b: int) -> int:
        """a where the condition holds, else b."""
        truth = self._truth(condition)
        if truth or a == b:
            return a
        if truth is False:
            return b
        return self._of("select", condition, a, b)

    # -- dependencies and derivatives -----------------------------------------------------------

    def parts(self, k: int) -> tuple[int, ...]:
        """The operands of an operation."""
        return self.ops[k].parts

    def needed(self, outputs: Sequence[int]) -> list[int]:
        """All operations that the outputs need, each after its operands and close to its first use.

        The order is depth first from each output, so it does not depend on the rest of the program.
        """
        ops, seen, order = self.ops, set[int](), list[int]()
        stack: list[int] = []
        for root in outputs:
            stack.append(root)
            while stack:
                k = stack.pop()
                if k < 0:
                    order.append(~k)
                elif k not in seen:
                    seen.add(k)
                    parts = ops[k].parts
                    if parts:
                        stack.append(~k)  # popped again after all parts
                        stack.extend(parts[::-1])
                    else:
                        order.append(k)
        return order

    def count(self, outputs: Sequence[int]) -> int:
        """Number of arithmetic operations and function calls that the outputs need."""
        return sum(1 for k in self.needed(outputs) if self.ops[k].kind not in ("in", "par", "const"))

    def tangent(self, outputs: Sequence[int], seeds: Mapping[int, int], order: Sequence[int]) -> list[int]:
        """Directional derivatives of the outputs (forward mode): ``seeds`` maps inputs to their derivatives.

        ``order`` is ``needed(outputs)``, an argument so that many directions share it.
        """
        d: dict[int, int] = dict(seeds)
        for k in order:
            if k in d:
                continue
            parts = self.parts(k)
            if any(p in d for p in parts):
                rate = self._rate(k, [d.get(p, self.zero) for p in parts])
                if rate != self.zero:
                    d[k] = rate
        return [d.get(k, self.zero) for k in outputs]

    def transpose(self, outputs: Sequence[int], weights: Sequence[int], inputs: Sequence[int]) -> list[int]:
        """For outputs that are linear in some inputs, J^T w (reverse mode): J is their matrix, ``weights`` is w.

        Example:
            >>> program = Program(4, 0)
            >>> a, x, y, w = program.inputs
            >>> out = program.add(program.multiply(a, x), program.negate(y))
            >>> [program.ops[k].kind for k in program.transpose([out], [w], [x, y])]
            ['mul', 'neg']
        """
        order, linear = self.needed(outputs), {*inputs}
        for k in order:
            if any(p in linear for p in self.parts(k)):
                linear.add(k)
        found: dict[int, int] = {}

        def give(k: int, weight: int) -> None:
            if k in linear:
                found[k] = self.add(found.get(k, self.zero), weight)

        for k, weight in zip(outputs, weights, strict=True):
            give(k, weight)
        for k in reversed(order):
            if k not in found:
                continue
            kind, parts, weight = self.ops[k].kind, self.parts(k), found[k]
            if kind in ("add", "sub"):
                give(parts[0], weight)
                give(parts[1], weight if kind == "add" else self.negate(weight))
            elif kind == "neg":
                give(parts[0], self.negate(weight))
            elif kind == "mul" and not (parts[0] in linear and parts[1] in linear):
                give(parts[0], self.multiply(weight, parts[1]))
                give(parts[1], self.multiply(weight, parts[0]))
            elif kind == "div" and parts[1] not in linear:
                give(parts[0], self.divide(weight, parts[1]))
            elif kind == "select" and parts[0] not in linear:
                give(parts[1], self.select(parts[0], weight, self.zero))
                give(parts[2], self.select(parts[0], self.zero, weight))
            elif kind != "in":
                raise ValueError(f"an output is not linear in the inputs: it contains {kind} {self.ops[k].name}")
        return [found.get(k, self.zero) for k in inputs]

    def _rate(self, k: int, d: list[int]) -> int:
        kind, parts = self.ops[k].kind, self.ops[k].parts
        if kind == "add":
            return self.add(d[0], d[1])
        if kind == "sub":
            return self.subtract(d[0], d[1])
        if kind == "neg":
            return self.negate(d[0])
        if kind == "mul":
            a, b = parts
            return self.add(self.multiply(d[0], b), self.multiply(a, d[1]))
        if kind == "div":
            return self.divide(self.subtract(d[0], self.multiply(k, d[1])), parts[1])
        if kind == "select":
            return self.select(parts[0], d[1], d[2])
        if kind == "call":
            return self._call_rate(k, self.ops[k].name, d)
        return self.zero  # a condition has no derivative

    def _call_rate(self, k: int, name: str, d: list[int]) -> int:
        """Derivative of a function, from its row of the table."""
        args, function = self.ops[k].parts, PRIMITIVES[name]
        if function.slope is not None:
            return self.multiply(function.slope(self, k, args[0]), d[0])
        if function.rate is None:
            raise NotSupported(refusals.NO_DERIVATIVE, name=name)
        rates = [None if rate == self.zero else rate for rate in d]
        return int(function.rate(self, k, args, rates))
