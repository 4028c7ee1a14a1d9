"""Writes LLVM text for functions on rows of lanes: one number, or eight side by side.

All code that numba does not compile is written here: straight-line programs for one state and for eight
(``code.llvm``), and Taylor coefficients for either (``taylor.code``). The result of a lane never depends on others.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from pendula.errors import NotSupported
from pendula.model.expressions.functions import PRIMITIVES
from pendula.numerics.scalars import trig
from pendula.system import refusals
from pendula.system.code.program import Op

_INSTRUCTIONS = frozenset({"sqrt", "floor", "ceil"})  # processors have instructions for these, also for vectors
_INTRINSICS = frozenset({"sin", "cos", "exp", "log", "pow"})  # LLVM intrinsics, which call the C library


class Writer:
    """Builds the text of a module; every operation works on a whole row.

    Attributes:
        lanes: numbers in a row.
        type, whole, bits: LLVM types of a row of numbers, of integers and of truth values.
        suffix: suffix of LLVM's intrinsics on rows.
        bytes: size of a row.
        lines: the function being written.
        declared: by name, declarations of the functions called, and definitions of helper functions.
    """

    def __init__(self, lanes: int, *, contract: bool, aligned: bool = False, block: int) -> None:
        """A writer of rows.

        Args:
            lanes: numbers in a row.
            contract: whether a product may be fused with a sum that uses it, with one rounding.
            aligned: whether the address of each row is a multiple of its size.
            block: most operations in a basic block: the time of code generation is superlinear in the size of blocks.
        """
        self.lanes = lanes
        self.type, self.whole, self.bits = (
            kind if lanes == 1 else f"<{lanes} x {kind}>" for kind in ("double", "i64", "i1")
        )
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.bytes = 8 * lanes
        self.lines: list[str] = []
        self._flags = " contract" if contract else ""
        self._align = self.bytes if aligned else 8
        self._block = block
        self._count = 0
        self._written = 0
        self._loaded: dict[tuple[str, int], str] = {}
        self.declared: dict[str, str] = {}

    # -- functions and blocks -------------------------------------------------------------------

    def function(self, head: str, attributes: str = "") -> str:
        """Finishes a function and returns its text; the next line starts another one."""
        return self._finished(f"define void {head} {attributes}{{", "ret void")

    def _finished(self, head: str, end: str) -> str:
        text = "\n".join([head, "entry:", *self.lines, end, "}"])
        self.lines = []
        self._loaded.clear()
        self._written = 0
        return text

    def tag(self, word: str) -> str:
        """A new name."""
        self._count += 1
        return f"{word}{self._count}"

    def put(self, line: str, name: str = "") -> str:
        """Writes an operation and returns the name of its result."""
        self._count += 1
        name = name or f"%x{self._count}"
        self.lines.append(f"{name} = {line}")
        self._written += 1
        return name

    def label(self, name: str) -> None:
        """Starts a basic block. Loaded values are not reused across blocks, or they would fill all registers."""
        self.lines.append(f"{name}:")
        self._loaded.clear()

    def rest(self) -> None:
        """Starts a new basic block if the current one is long."""
        if self._written > self._block:
            self._written = 0
            label = self.tag("part")
            self.lines.append(f"br label %{label}")
            self.label(label)

    # -- constants and memory -------------------------------------------------------------------

    def _repeated(self, kind: str, text: str) -> str:
        return text if self.lanes == 1 else f"<{', '.join([f'{kind} {text}'] * self.lanes)}>"

    def number(self, value: float) -> str:
        """A number in all lanes."""
        return self._repeated("double", f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")

    def integer(self, value: int) -> str:
        """An integer in all lanes."""
        return self._repeated("i64", str(value))

    def truth(self, value: bool) -> str:
        """A truth value in all lanes."""
        return self._repeated("i1", "true" if value else "false")

    def spread(self, number: str) -> str:
        """A computed number in all lanes."""
        if self.lanes == 1:
            return number
        t, n = self.type, self.lanes
        one = self.put(f"insertelement {t} poison, double {number}, i32 0")
        return self.put(f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def load(self, base: str, row: int) -> str:
        """Loads a row relative to an address, once per block: a store after that is not seen in the same block."""
        name = self._loaded.get((base, row))
        if name is None:
            at = self.put(f"getelementptr i8, ptr {base}, i64 {row * self.bytes}")
            name = self.put(f"load {self.type}, ptr {at}, align {self._align}")
            self._loaded[base, row] = name
        return name

    def store(self, base: str, row: int, value: str) -> None:
        """Writes a row."""
        at = self.put(f"getelementptr i8, ptr {base}, i64 {row * self.bytes}")
        self.lines.append(f"store {self.type} {value}, ptr {at}, align {self._align}")

    # -- arithmetic -----------------------------------------------------------------------------

    def op(self, kind: str, a: str, b: str) -> str:
        """add, sub, mul or div."""
        return self.put(f"f{kind}{self._flags} {self.type} {a}, {b}")

    def negative(self, a: str) -> str:
        """-a."""
        return self.put(f"fneg {self.type} {a}")

    def fused(self, a: str, b: str, c: str, name: str = "") -> str:
        """a b + c, with one rounding if the processor supports it."""
        return self.intrinsic("fmuladd", a, b, c, name=name)

    def size(self, x: str) -> str:
        """|x|."""
        return self.intrinsic("fabs", x)

    def larger(self, a: str, b: str) -> str:
        """The larger of two."""
        return self.intrinsic("maxnum", a, b)

    def choose(self, condition: str, a: str, b: str) -> str:
        """a where the condition holds, else b."""
        return self.put(f"select {self.bits} {condition}, {self.type} {a}, {self.type} {b}")

    def compare(self, kind: str, a: str, b: str) -> str:
        """An ordered comparison (lt, le, gt): false if an operand is NaN."""
        return self.put(f"fcmp o{kind} {self.type} {a}, {b}")

    def condition(self, kind: str, x: Sequence[str]) -> str:
        """A condition of a program: lt, le, and, or, not, true, false."""
        match kind:
            case "true" | "false":
                return self.truth(kind == "true")
            case "lt" | "le":
                return self.compare(kind, x[0], x[1])
            case "and" | "or":
                return self.put(f"{kind} {self.bits} {x[0]}, {x[1]}")
            case "not":
                return self.put(f"xor {self.bits} {x[0]}, {self.truth(True)}")
        raise NotSupported(refusals.CONDITION_CODE, condition=kind)

    def operation(self, op: Op, x: Sequence[str]) -> str:
        """An operation of a program on computed rows."""
        match op.kind:
            case "add" | "sub" | "mul" | "div":
                return self.op(op.kind, x[0], x[1])
            case "neg":
                return self.negative(x[0])
            case "select":
                return self.choose(x[0], x[1], x[2])
            case "cond":
                return self.condition(op.name, x)
            case "call":
                return self.call(op.name, x)
        raise NotSupported(refusals.OPERATION_CODE, operation=op.kind)

    # -- functions ------------------------------------------------------------------------------

    def _declare(self, symbol: str, kind: str, count: int) -> None:
        if symbol not in self.declared:
            self.declared[symbol] = f"declare {kind} @{symbol}({', '.join([kind] * count)})"

    def intrinsic(self, function: str, *x: str, name: str = "") -> str:
        """An LLVM intrinsic on whole rows."""
        symbol, t = f"llvm.{function}.{self.suffix}", self.type
        self._declare(symbol, t, len(x))
        return self.put(f"call {t} @{symbol}({', '.join([f'{t} {a}' for a in x])})", name)

    def call(self, name: str, x: Sequence[str]) -> str:
        """A function of the table: a processor instruction if there is one, else the C library, lane by lane."""
        if name not in PRIMITIVES:
            raise NotSupported(refusals.FUNCTION_CODE, name=name)
        if name in _INSTRUCTIONS:
            return self.intrinsic(name, *x)
        if self.lanes == 1:
            return self._call_one(name, x)
        result = "poison"
        for lane in range(self.lanes):
            each = [self.put(f"extractelement {self.type} {value}, i32 {lane}") for value in x]
            found = self._call_one(name, each)
            result = self.put(f"insertelement {self.type} {result}, double {found}, i32 {lane}")
        return result

    def _call_one(self, name: str, x: Sequence[str]) -> str:
        symbol = f"llvm.{name}.f64" if name in _INTRINSICS else PRIMITIVES[name].c
        self._declare(symbol, "double", len(x))
        return self.put(f"call double @{symbol}({', '.join([f'double {a}' for a in x])})")

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        """Both inline, by the steps of ``numerics.scalars.trig``; a branch calls the C library for large angles."""
        k, s, c = trig.near(_Fused(self, x))
        s, c = trig.turn(_Bits(self), k.name, s.name, c.name)
        far = self.put(f"fcmp uge {self.type} {self.size(x)}, {self.number(trig.FAR)}")
        if self.lanes > 1:
            mask = self.put(f"bitcast {self.bits} {far} to i{self.lanes}")
            far = self.put(f"icmp ne i{self.lanes} {mask}, 0")
        tag, pair = self.tag("angle"), f"{{{self.type}, {self.type}}}"
        self.lines += [f"br label %{tag}.near", f"{tag}.near:"]
        self.lines += [f"br i1 {far}, label %{tag}.far, label %{tag}", f"{tag}.far:"]
        self._write_far()
        both = self.put(f"call {pair} @far_angle({', '.join(f'{self.type} {a}' for a in (x, s, c))})")
        found = [self.put(f"extractvalue {pair} {both}, {i}") for i in (0, 1)]
        self.lines.append(f"br label %{tag}")
        self.label(tag)
        s, c = (
            self.put(f"phi {self.type} [{near}, %{tag}.near], [{other}, %{tag}.far]")
            for near, other in zip((s, c), found, strict=True)
        )
        return s, c

    def call_sine_and_cosine(self, x: str) -> tuple[str, str]:
        """Both by a call of one shared function with the steps of :meth:`sine_and_cosine`."""
        t, pair = self.type, f"{{{self.type}, {self.type}}}"
        if "sine_and_cosine" not in self.declared:
            self.declared["sine_and_cosine"] = self._aside(lambda: self.sine_and_cosine("%x"), "sine_and_cosine", "x")
        both = self.put(f"call {pair} @sine_and_cosine({t} {x})")
        return self.put(f"extractvalue {pair} {both}, 0"), self.put(f"extractvalue {pair} {both}, 1")

    def _write_far(self) -> None:
        """Writes a function that takes sine and cosine from the C library in lanes with a large angle."""
        if "far_angle" not in self.declared:
            self.declared["far_angle"] = self._aside(self._far_lanes, "far_angle", "x", "s", "c")

    def _far_lanes(self) -> tuple[str, str]:
        near = self.put(f"fcmp olt {self.type} {self.size('%x')}, {self.number(trig.FAR)}")
        s, c = self.call("sin", ["%x"]), self.call("cos", ["%x"])
        return self.choose(near, "%s", s), self.choose(near, "%c", c)

    def _aside(self, write: Callable[[], tuple[str, str]], name: str, *arguments: str) -> str:
        """The text of a function that returns two rows, written in the middle of another function."""
        kept = self.lines, self._loaded, self._written
        self.lines, self._loaded, self._written = [], {}, 0
        t, pair = self.type, f"{{{self.type}, {self.type}}}"
        first, second = write()
        one = self.put(f"insertvalue {pair} poison, {t} {first}, 0")
        two = self.put(f"insertvalue {pair} {one}, {t} {second}, 1")
        head = f"define internal {pair} @{name}({', '.join(f'{t} %{a}' for a in arguments)}) noinline {{"
        text = self._finished(head, f"ret {pair} {two}")
        self.lines, self._loaded, self._written = kept
        return text


class _Fused:
    """A number whose arithmetic writes LLVM text, with products fused into the sums that use them.

    A compiler does the same with the same formula if contraction is allowed.
    """

    def __init__(self, text: Writer, name: str, factor: str | float = "") -> None:
        self._text, self._first, self._factor = text, name, factor

    @property
    def name(self) -> str:
        """The name of the value; writes a pending product that no sum has absorbed."""
        if self._factor != "":
            self._first = self._text.put(f"fmul {self._text.type} {self._first}, {self._second()}")
            self._factor = ""
        return self._first

    def _second(self, sign: float = 1.0) -> str:
        return self._factor if isinstance(self._factor, str) else self._text.number(sign * self._factor)

    def __mul__(self, other: Any) -> _Fused:
        return _Fused(self._text, self.name, other.name if isinstance(other, _Fused) else float(other))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> _Fused:
        text = self._text
        if isinstance(other, _Fused):
            product, last = (other, self.name) if other._factor != "" else (self, other.name)
        else:
            product, last = self, text.number(other)
        if product._factor == "":
            return _Fused(text, text.put(f"fadd {text.type} {product.name}, {last}"))
        return _Fused(text, text.fused(product._first, product._second(), last))

    __radd__ = __add__

    def __sub__(self, other: _Fused) -> _Fused:
        return _minus(self.name, other)

    def __rsub__(self, other: float) -> _Fused:
        return _minus(self._text.number(other), self)

    def __floor__(self) -> _Fused:
        return _Fused(self._text, self._text.intrinsic("floor", self.name))


def _minus(first: str, product: _Fused) -> _Fused:
    """first minus a product with a constant."""
    text = product._text
    return _Fused(text, text.fused(product._first, product._second(-1.0), first))


class _Bits:
    """The operations of :func:`pendula.numerics.scalars.trig.turn` as text, with the names of llvmlite's builder."""

    def __init__(self, text: Writer) -> None:
        self._text = text
        self.real, self.integer, self.select = text.number, text.integer, text.choose

    def as_integer(self, x: str) -> str:
        return self._text.put(f"bitcast {self._text.type} {x} to {self._text.whole}")

    def as_real(self, x: str) -> str:
        return self._text.put(f"bitcast {self._text.whole} {x} to {self._text.type}")

    def fadd(self, a: str, b: str) -> str:
        return self._text.put(f"fadd {self._text.type} {a}, {b}")

    def _whole(self, name: str, a: str, b: str) -> str:
        return self._text.put(f"{name} {self._text.whole} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self._whole("add", a, b)

    def and_(self, a: str, b: str) -> str:
        return self._whole("and", a, b)

    def xor(self, a: str, b: str) -> str:
        return self._whole("xor", a, b)

    def shl(self, a: str, b: str) -> str:
        return self._whole("shl", a, b)

    def differ(self, a: str, b: str) -> str:
        return self._whole("icmp ne", a, b)
