"""A straight-line program: every operation has a number, equal operations share it.

Symbolic blocks are lowered into this form before they are compiled. Constants fold, operations that
depend on parameters alone are set apart (they are computed once per parameter set), and derivatives
are taken operation by operation in forward mode, so nothing ever grows beyond its own size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

CONSTANT, PARAMETER, STATE = 0, 1, 2
"""What a value depends on: nothing, parameters only, or the state."""

_UNARY = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceil": math.ceil,
}
_NUMERIC: dict[str, Callable[..., float]] = {**_UNARY, "atan2": math.atan2, "pow": math.pow}
FUNCTIONS = frozenset(_NUMERIC)
"""Functions a program may call."""

_COMPARE = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b}

Op = tuple[object, ...]


class Program:
    """Operations in order; a value is the index of the operation that gives it."""

    def __init__(self, inputs: int, parameters: int) -> None:
        self.ops: list[Op] = []
        self.level: list[int] = []
        self._index: dict[Op, int] = {}
        self.inputs = [self._new(("in", k), STATE) for k in range(inputs)]
        self.parameters = [self._new(("par", k), PARAMETER) for k in range(parameters)]
        self.zero, self.one = self.constant(0.0), self.constant(1.0)

    def _new(self, op: Op, level: int) -> int:
        index = self._index.get(op)
        if index is None:
            index = self._index[op] = len(self.ops)
            self.ops.append(op)
            self.level.append(level)
        return index

    def _of(self, op: Op, *parts: int) -> int:
        return self._new(op, max(self.level[k] for k in parts))

    # -- arithmetic -----------------------------------------------------------------------------

    def constant(self, value: float) -> int:
        """A number."""
        return self._new(("const", float(value)), CONSTANT)

    def value(self, k: int) -> float | None:
        """The number a value is, if it is one."""
        op = self.ops[k]
        return op[1] if op[0] == "const" else None  # type: ignore[return-value]

    def add(self, a: int, b: int) -> int:
        """a + b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.constant(x + y)
        if x == 0:
            return b
        if y == 0:
            return a
        if self.ops[b][0] == "neg":
            return self.subtract(a, self.ops[b][1])  # type: ignore[arg-type]
        if self.ops[a][0] == "neg":
            return self.subtract(b, self.ops[a][1])  # type: ignore[arg-type]
        return self._of(("add", min(a, b), max(a, b)), a, b)

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
        if self.ops[b][0] == "neg":
            return self.add(a, self.ops[b][1])  # type: ignore[arg-type]
        return self._of(("sub", a, b), a, b)

    def negate(self, a: int) -> int:
        """-a."""
        x = self.value(a)
        if x is not None:
            return self.constant(-x)
        op = self.ops[a]
        if op[0] == "neg":
            return op[1]  # type: ignore[return-value]
        if op[0] == "sub":
            return self.subtract(op[2], op[1])  # type: ignore[arg-type]
        return self._of(("neg", a), a)

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
        if self.ops[a][0] == "neg" and self.ops[b][0] == "neg":
            return self.multiply(self.ops[a][1], self.ops[b][1])  # type: ignore[arg-type]
        if self.ops[a][0] == "neg":
            return self.negate(self.multiply(self.ops[a][1], b))  # type: ignore[arg-type]
        if self.ops[b][0] == "neg":
            return self.negate(self.multiply(a, self.ops[b][1]))  # type: ignore[arg-type]
        return self._of(("mul", min(a, b), max(a, b)), a, b)

    def divide(self, a: int, b: int) -> int:
        """a / b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None and y != 0:
            return self.constant(x / y)
        if x == 0:
            return self.zero
        if y is not None and y != 0 and math.frexp(abs(y))[0] == 0.5:  # a power of two: exact
            return self.multiply(a, self.constant(1 / y))
        return self._of(("div", a, b), a, b)

    def power(self, a: int, n: int) -> int:
        """a to a whole power, by repeated squaring."""
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
                return self.constant(_NUMERIC[name](*numbers))
            except (ValueError, OverflowError, ZeroDivisionError):
                return self.constant(math.nan)
        return self._of(("call", name, *args), *args)

    # -- conditions -----------------------------------------------------------------------------

    def condition(self, kind: str, *args: int) -> int:
        """lt, le (a < b, a <= b), and, or, not, true, false."""
        if kind in ("true", "false"):
            return self._new(("cond", kind), CONSTANT)
        if kind in _COMPARE:
            a, b = (self.value(k) for k in args)
            if a is not None and b is not None:
                return self.condition("true" if _COMPARE[kind](a, b) else "false")
        elif kind == "not" and self._truth(args[0]) is not None:
            return self.condition("false" if self._truth(args[0]) else "true")
        elif kind in ("and", "or"):
            decides = kind == "or"  # the truth that decides the whole
            for this, other in (args, args[::-1]):
                truth = self._truth(this)
                if truth is not None:
                    return this if truth is decides else other
        # never set apart with the parameters: prepared values are numbers, not truths
        return self._new(("cond", kind, *args), STATE)

    def _truth(self, k: int) -> bool | None:
        """Whether a condition always holds, never holds, or depends."""
        return {"true": True, "false": False}.get(str(self.ops[k][1]))

    def select(self, condition: int, a: int, b: int) -> int:
        """a where the condition holds, else b."""
        op = self.ops[condition]
        if op[1] == "true" or a == b:
            return a
        if op[1] == "false":
            return b
        return self._of(("select", condition, a, b), condition, a, b)

    # -- what is needed, and derivatives --------------------------------------------------------

    def parts(self, k: int) -> tuple[int, ...]:
        """The values an operation uses."""
        op = self.ops[k]
        kind = op[0]
        if kind in ("in", "par", "const"):
            return ()
        return op[2:] if kind in ("call", "cond") else op[1:]  # type: ignore[return-value]

    def needed(self, outputs: Sequence[int]) -> list[int]:
        """All operations the outputs need, in order."""
        seen: set[int] = set()
        stack = list(outputs)
        while stack:
            k = stack.pop()
            if k not in seen:
                seen.add(k)
                stack.extend(self.parts(k))
        return sorted(seen)

    def count(self, outputs: Sequence[int]) -> int:
        """Number of arithmetic operations and function calls the outputs need."""
        return sum(1 for k in self.needed(outputs) if self.ops[k][0] not in ("in", "par", "const"))

    def tangent(self, outputs: Sequence[int], seeds: Mapping[int, int], order: Sequence[int]) -> list[int]:
        """Derivatives of the outputs along a direction: ``seeds`` maps inputs to their derivatives.

        ``order`` is ``needed(outputs)``, passed in so that it is found once for many directions.
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

    def _rate(self, k: int, d: list[int]) -> int:
        op = self.ops[k]
        kind = op[0]
        if kind == "add":
            return self.add(d[0], d[1])
        if kind == "sub":
            return self.subtract(d[0], d[1])
        if kind == "neg":
            return self.negate(d[0])
        if kind == "mul":
            a, b = self.parts(k)
            return self.add(self.multiply(d[0], b), self.multiply(a, d[1]))
        if kind == "div":
            _, b = self.parts(k)
            return self.divide(self.subtract(d[0], self.multiply(k, d[1])), b)
        if kind == "select":
            return self.select(self.parts(k)[0], d[1], d[2])
        if kind == "call":
            return self._call_rate(k, str(op[1]), d)
        return self.zero  # a condition has no rate

    def _call_rate(self, k: int, name: str, d: list[int]) -> int:
        args = self.parts(k)
        x, rate = args[0], d[0]
        one, mul, sub, add, div, call = (
            self.one,
            self.multiply,
            self.subtract,
            self.add,
            self.divide,
            self.call,
        )
        if name in ("floor", "ceil"):
            return self.zero
        if name == "atan2":  # (x dy - y dx)/(x^2 + y^2) with arguments (y, x)
            y, other = args
            return div(sub(mul(other, d[0]), mul(y, d[1])), add(mul(y, y), mul(other, other)))
        if name == "pow":
            base, exponent = args
            slope = self.zero
            if d[0] != self.zero:
                slope = mul(mul(exponent, call("pow", base, sub(exponent, one))), d[0])
            if d[1] != self.zero:
                slope = add(slope, mul(mul(k, call("log", base)), d[1]))
            return slope
        square = mul(x, x)
        table = {
            "sin": lambda: call("cos", x),
            "cos": lambda: self.negate(call("sin", x)),
            "tan": lambda: add(one, mul(k, k)),
            "asin": lambda: div(one, call("sqrt", sub(one, square))),
            "acos": lambda: self.negate(div(one, call("sqrt", sub(one, square)))),
            "atan": lambda: div(one, add(one, square)),
            "sinh": lambda: call("cosh", x),
            "cosh": lambda: call("sinh", x),
            "tanh": lambda: sub(one, mul(k, k)),
            "asinh": lambda: div(one, call("sqrt", add(square, one))),
            "acosh": lambda: div(one, call("sqrt", sub(square, one))),
            "atanh": lambda: div(one, sub(one, square)),
            "exp": lambda: k,
            "log": lambda: div(one, x),
            "sqrt": lambda: div(self.constant(0.5), k),
        }
        return mul(table[name](), rate)
