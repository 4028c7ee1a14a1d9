"""Lines of LLVM text that work on rows of lanes: one number, or eight side by side."""

from __future__ import annotations

import struct

_BLOCK = 300  # operations per basic block


class Text:
    """The text of a function as it is written; every operation is one on a whole row.

    Attributes:
        lanes: numbers in a row.
        type, bits: how LLVM calls a row of numbers and a row of truths.
        suffix: what LLVM adds to the names of its functions of rows.
        bytes: size of a row.
        stride: size of all rows of one order.
    """

    def __init__(self, lanes: int, rows: int) -> None:
        self.lanes = lanes
        self.type = "double" if lanes == 1 else f"<{lanes} x double>"
        self.bits = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.bytes = 8 * lanes
        self.stride = self.bytes * rows
        self.lines: list[str] = []
        self._count = 0
        self._written = 0
        self._loaded: dict[tuple[str, int], str] = {}

    def function(self, head: str) -> str:
        """The finished function; what is written next belongs to another one."""
        text = "\n".join([f"define void {head} {{", "entry:", *self.lines, "ret void", "}"])
        self.lines = []
        self._loaded.clear()
        return text

    def tag(self, word: str) -> str:
        """A name that was not used yet."""
        self._count += 1
        return f"{word}{self._count}"

    @property
    def true(self) -> str:
        """A row of truths that all hold."""
        return "true" if self.lanes == 1 else "<" + ", ".join(["i1 true"] * self.lanes) + ">"

    def put(self, line: str) -> str:
        """Writes an operation and gives the name of its result."""
        name = f"%{self.tag('x')}"
        self.lines.append(f"{name} = {line}")
        self._written += 1
        return name

    def label(self, name: str) -> None:
        """Starts a basic block; nothing loaded before is taken for known in it."""
        self.lines.append(f"{name}:")
        self._loaded.clear()

    def rest(self) -> None:
        """Starts a new basic block now and then: code generation is superlinear in their size."""
        if self._written > _BLOCK:
            self._written = 0
            label = self.tag("part")
            self.lines.append(f"br label %{label}")
            self.label(label)

    def number(self, value: float) -> str:
        """A constant in all lanes."""
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        if self.lanes == 1:
            return text
        return "<" + ", ".join([f"double {text}"] * self.lanes) + ">"

    def op(self, kind: str, a: str, b: str) -> str:
        """add, sub, mul or div; a product may be fused with a sum that uses it."""
        return self.put(f"f{kind} contract {self.type} {a}, {b}")

    def negative(self, a: str) -> str:
        """-a."""
        return self.put(f"fneg {self.type} {a}")

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c."""
        t = self.type
        return self.put(f"call {t} @llvm.fmuladd.{self.suffix}({t} {a}, {t} {b}, {t} {c})")

    def spread(self, number: str) -> str:
        """A number in all lanes."""
        if self.lanes == 1:
            return number
        t, n = self.type, self.lanes
        one = self.put(f"insertelement {t} poison, double {number}, i32 0")
        return self.put(f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def load(self, base: str, row: int) -> str:
        """A row counted from an address; read once in a block, so write before or do not read again."""
        name = self._loaded.get((base, row))
        if name is None:
            at = self.put(f"getelementptr i8, ptr {base}, i64 {row * self.bytes}")
            name = self.put(f"load {self.type}, ptr {at}, align {self.bytes}")
            self._loaded[base, row] = name
        return name

    def store(self, base: str, row: int, value: str) -> None:
        """Writes a row."""
        at = self.put(f"getelementptr i8, ptr {base}, i64 {row * self.bytes}")
        self.lines.append(f"store {self.type} {value}, ptr {at}, align {self.bytes}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """a where the condition holds, else b."""
        return self.put(f"select {self.bits} {condition}, {self.type} {a}, {self.type} {b}")

    def size(self, x: str) -> str:
        """|x|."""
        return self.put(f"call {self.type} @llvm.fabs.{self.suffix}({self.type} {x})")

    def larger(self, a: str, b: str) -> str:
        """The larger of two."""
        t = self.type
        return self.put(f"call {t} @llvm.maxnum.{self.suffix}({t} {a}, {t} {b})")
