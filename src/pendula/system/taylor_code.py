"""Machine code for Taylor coefficients, one state at a time or eight.

``void coefficients(double *rows, const double *parameters, int order)`` is the main function: ``rows`` holds, order by order, all rows that
:class:`~pendula.system.taylor.Recurrences` keeps; the caller writes the state and the time into order 0 and finds their
coefficients up to ``order``. The code has one loop over the orders, so its size does not depend on how many there are.

At order k all sums over j = 1..k-1 need lower orders only. They are computed first, in loops that take several sums at
a time, chosen so that they share what they read; then the rules follow as straight-line code. One row of eight lanes is
eight numbers; each lane is computed by the same operations wherever it stands.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from pendula.numerics.linear import PIVOT_TOLERANCE
from pendula.numerics.taylor import Series
from pendula.numerics.taylor_steps import DEFECT, Control
from pendula.system import kernels as kn
from pendula.system.layout import Array
from pendula.system.llvm import Native, build_module, compile_program
from pendula.system.program import CONSTANT, STATE
from pendula.system.taylor import Recurrences, Row, Sum

LANES = 8
_BLOCK = 300  # operations per basic block
_LARGE = 4_000  # operations; beyond this the quick code generator is used
_WINDOW = 48  # sums looked at when one is chosen to share a loop
_INTRINSICS = {"exp", "log", "sqrt", "pow"}


@dataclass(frozen=True)
class NativeSeries:
    """Compiled recurrences. ``owner`` keeps the machine code alive."""

    address: int
    go: int
    look: int
    lanes: int
    components: int
    rows: int
    """rows per order: components, time, then others"""
    spare: int
    """rows after those of all orders; the first is 0 where the mass matrix was not positive definite, else 1"""
    parameters: Native
    """prepares what depends on parameters alone"""
    operations: int
    sums: int
    owner: Any


def compile_series(found: Recurrences, lanes: int) -> NativeSeries:
    """Machine code for recurrences, for one state or for :data:`LANES` at a time."""
    prepare = compile_program(found.program, found.fixed, quick=True)
    text = _Writer(found, lanes).text()
    engine = build_module(text, 2 if len(found.order) <= _LARGE else 1)
    return NativeSeries(
        engine.get_function_address("coefficients"),
        engine.get_function_address("go"),
        engine.get_function_address("look"),
        lanes,
        found.states,
        max(found.rows.values()) + 1,
        len(found.spare),
        prepare,
        len(found.order),
        sum(len(s) for s in found.sums.values()),
        engine,
    )


def bind_series(native: NativeSeries, vectors: Array, failure: str) -> Series:
    """Recurrences with parameters, one row for every run or one for all; ``failure`` if the solve of M v' = f fails."""
    prepare = native.parameters
    rows = np.empty((len(vectors), prepare.parameters + prepare.prepared))
    rows[:, : prepare.parameters] = vectors
    if prepare.prepared:
        out = np.empty((len(vectors), prepare.prepared))
        kn.evaluate_rows(prepare.prepare, 0, np.ascontiguousarray(vectors), out)
        rows[:, prepare.parameters :] = out
    entries = (native.address, native.go, native.look)
    sizes = (native.lanes, native.components, native.rows, native.spare)
    return Series(*entries, *sizes, parameters=rows, failure=failure, owner=native)


def _together() -> dict[int, int]:
    """How many sums a loop may take, by lanes: as many as stay in registers."""
    wide = llvm.get_host_cpu_features().get("avx512f", False)
    return {1: 10, LANES: 12 if wide else 6}


class _Writer:
    """Writes the text of the function."""

    def __init__(self, found: Recurrences, lanes: int) -> None:
        self._found = found
        self._program = found.program
        self._lanes = lanes
        self._type = "double" if lanes == 1 else f"<{lanes} x double>"
        self._bits = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self._suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self._bytes = 8 * lanes
        self._stride = self._bytes * (max(found.rows.values()) + 1)
        self._lines: list[str] = []
        self._count = 0
        self._written = 0
        self._values: dict[int, str] = {}
        self._loaded: dict[tuple[str, int], str] = {}
        self._pairs: dict[int, tuple[str, str]] = {}
        self._called: set[tuple[str, int]] = set()
        fixed = len(self._program.parameters)
        self._slots = {k: fixed + i for i, k in enumerate(found.fixed)}

    # -- small pieces ---------------------------------------------------------------------------

    def _name(self) -> str:
        self._count += 1
        return f"%x{self._count}"

    def _put(self, line: str) -> str:
        """Writes an operation and gives the name of its result."""
        name = self._name()
        self._lines.append(f"{name} = {line}")
        self._written += 1
        return name

    def _label(self, name: str) -> None:
        self._lines.append(f"{name}:")
        self._loaded.clear()

    def _rest(self) -> None:
        """Starts a new basic block now and then: code generation is superlinear in their size."""
        if self._written > _BLOCK:
            self._written = 0
            self._count += 1
            label = f"part{self._count}"
            self._lines.append(f"br label %{label}")
            self._label(label)

    def _number(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        if self._lanes == 1:
            return text
        return "<" + ", ".join([f"double {text}"] * self._lanes) + ">"

    def _op(self, kind: str, a: str, b: str) -> str:
        return self._put(f"f{kind} contract {self._type} {a}, {b}")

    def _negative(self, a: str) -> str:
        return self._put(f"fneg {self._type} {a}")

    def _fused(self, a: str, b: str, c: str) -> str:
        t = self._type
        return self._put(f"call {t} @llvm.fmuladd.{self._suffix}({t} {a}, {t} {b}, {t} {c})")

    def _spread(self, number: str) -> str:
        """A number in all lanes."""
        if self._lanes == 1:
            return number
        t, n = self._type, self._lanes
        one = self._put(f"insertelement {t} poison, double {number}, i32 0")
        return self._put(f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def _load(self, base: str, row: int) -> str:
        name = self._loaded.get((base, row))
        if name is None:
            at = self._put(f"getelementptr i8, ptr {base}, i64 {row * self._bytes}")
            name = self._put(f"load {self._type}, ptr {at}, align {self._bytes}")
            self._loaded[base, row] = name
        return name

    def _store(self, base: str, row: int, value: str) -> None:
        at = self._put(f"getelementptr i8, ptr {base}, i64 {row * self._bytes}")
        self._lines.append(f"store {self._type} {value}, ptr {at}, align {self._bytes}")

    def _fixed(self, k: int) -> str:
        """A value that does not depend on the state."""
        op = self._program.ops[k]
        if self._program.level[k] == CONSTANT:  # what is not folded is a division by zero
            return self._number(float(op[1]) if op[0] == "const" else float("nan"))  # type: ignore[arg-type]
        return self._load("%parameters", int(op[1]) if op[0] == "par" else self._slots[k])  # type: ignore[call-overload]

    def _moves(self, k: int) -> bool:
        return self._program.level[k] == STATE

    # -- the function ---------------------------------------------------------------------------

    def text(self) -> str:
        self._order_zero()
        self._lines += ["%more = icmp sgt i64 %order, 1", "br i1 %more, label %next, label %done"]
        self._label("next")
        self._lines += [
            "%k = phi i64 [1, %entry.end], [%k.next, %next.end]",
            "%k.next = add i64 %k, 1",
            f"%here.offset = mul i64 %k, {self._stride}",
            "%here = getelementptr i8, ptr %rows, i64 %here.offset",
            f"%after = getelementptr i8, ptr %here, i64 {self._stride}",
            "%k.real = sitofp i64 %k to double",
            "%k.after = sitofp i64 %k.next to double",
            "%k.part = fdiv double 1.0, %k.real",
            "%k.part.after = fdiv double 1.0, %k.after",
            "%inner = sub i64 %k, 1",
            "%half = lshr i64 %inner, 1",
            "%odd = and i64 %k, 1",
            "%even = icmp eq i64 %odd, 0",
            "br label %sums",
        ]
        self._label("sums")
        sums = self._all_sums()
        self._order_k(sums)
        self._lines += [
            "br label %next.end",
            "next.end:",
            "%again = icmp slt i64 %k.next, %order",
            "br i1 %again, label %next, label %done",
            "done:",
            "ret void",
        ]
        head = "define void @coefficients(ptr noalias %rows, ptr noalias readonly %parameters, i64 %order) {"
        parts = [head, "entry:", *self._lines, "}", self._declarations(), self._go(), self._look()]
        if self._pairs:
            parts.append(sine_and_cosine(self._lanes))
        return "\n".join(parts)

    def _declarations(self) -> str:
        t, s = self._type, self._suffix
        lines = [f"declare {t} @llvm.fmuladd.{s}({t}, {t}, {t})", f"declare {t} @llvm.maxnum.{s}({t}, {t})"]
        lines.append(f"declare {t} @llvm.fabs.{s}({t})")
        if any(name == "sqrt" for name, _ in self._called):
            lines.append(f"declare {t} @llvm.sqrt.{s}({t})")
        for name, count in sorted(self._called):
            if name != "sqrt":
                symbol = f"llvm.{name}.f64" if name in _INTRINSICS else name
                lines.append(f"declare double @{symbol}({', '.join(['double'] * count)})")
        return "\n".join(lines)

    # -- what the step loop needs of the coefficients ---------------------------------------------

    def _begin(self) -> None:
        self._lines, self._values = [], {}
        self._loaded.clear()

    def _go(self) -> str:
        """``go(control, rows, order)``: puts the state at the end of a step in place of the one at its start.

        Value and slope of the polynomials by Horner's rule, three components in a loop.
        """
        self._begin()
        control, n, t = Control(self._found.states), self._found.states, self._type
        self._lines += [
            f"%top.offset = mul i64 %order, {self._stride}",
            "%top = getelementptr i8, ptr %rows, i64 %top.offset",
        ]
        stay = self._put(f"fcmp ogt {t} {self._load('%control', control.STAY)}, {self._number(0.5)}")
        for first in range(0, n, 3):
            self._horner(range(first, min(first + 3, n)), control, stay)
        self._loaded.clear()
        before = self._load("%rows", n)
        self._store("%control", control.before + n, before)
        self._store("%rows", n, self._load("%control", control.TIME))
        head = "define void @go(ptr noalias %control, ptr noalias %rows, i64 %order) {"
        return "\n".join([head, "entry:", *self._lines, "ret void", "}"])

    def _horner(self, components: range, control: Control, stay: str) -> None:
        self._count += 1
        tag, t = f"horner{self._count}", self._type
        zero = self._number(0.0)
        self._lines += [f"br label %{tag}.before", f"{tag}.before:"]
        self._loaded.clear()
        h = self._load("%control", control.H)
        first = {i: self._load("%top", i) for i in components}
        self._lines.append(f"br label %{tag}")
        self._label(tag)
        edge = (f"%{tag}.before", f"%{tag}")
        self._lines += [
            f"%{tag}.k = phi i64 [%order, {edge[0]}], [%{tag}.k.next, {edge[1]}]",
            f"%{tag}.at = phi ptr [%top, {edge[0]}], [%{tag}.at.next, {edge[1]}]",
        ]
        for i in components:
            self._lines.append(f"%{tag}.v{i} = phi {t} [{first[i]}, {edge[0]}], [%{tag}.vn{i}, {edge[1]}]")
            self._lines.append(f"%{tag}.s{i} = phi {t} [{zero}, {edge[0]}], [%{tag}.sn{i}, {edge[1]}]")
        self._lines += [
            f"%{tag}.at.next = getelementptr i8, ptr %{tag}.at, i64 {-self._stride}",
            f"%{tag}.k.next = sub i64 %{tag}.k, 1",
        ]
        call = f"call {t} @llvm.fmuladd.{self._suffix}"
        for i in components:
            row = self._load(f"%{tag}.at.next", i)
            self._lines.append(f"%{tag}.sn{i} = {call}({t} %{tag}.s{i}, {t} {h}, {t} %{tag}.v{i})")
            self._lines.append(f"%{tag}.vn{i} = {call}({t} %{tag}.v{i}, {t} {h}, {t} {row})")
        self._lines += [
            f"%{tag}.again = icmp sgt i64 %{tag}.k.next, 0",
            f"br i1 %{tag}.again, label %{tag}, label %{tag}.end",
        ]
        self._label(f"{tag}.end")
        for i in components:
            was, saved = self._load("%rows", i), self._load("%control", control.before + i)
            self._store("%control", control.slope + i, f"%{tag}.sn{i}")
            kept = self._put(f"select {self._bits} {stay}, {t} {saved}, {t} {was}")
            now = self._put(f"select {self._bits} {stay}, {t} {was}, {t} %{tag}.vn{i}")
            self._store("%control", control.before + i, kept)
            self._store("%rows", i, now)

    def _look(self) -> str:
        """``look(control, rows, order)``: how far the slopes are off, and how large the last two terms are."""
        self._begin()
        control, n, t = Control(self._found.states), self._found.states, self._type
        coordinates = len(self._program.inputs) - 1
        self._lines += [
            f"%top.offset = mul i64 %order, {self._stride}",
            "%top = getelementptr i8, ptr %rows, i64 %top.offset",
            f"%below = getelementptr i8, ptr %top, i64 {-self._stride}",
            f"%first = getelementptr i8, ptr %rows, i64 {self._stride}",
        ]
        zero = self._number(0.0)
        finite = excess = largest = last = before = zero
        h = self._size(self._load("%control", control.H))
        rtol = self._load("%control", control.RTOL)
        for i in range(n):
            y, slope = self._load("%rows", i), self._load("%first", i)
            terms = self._load("%top", i), self._load("%below", i)
            for x in (y, slope, *terms):
                finite = self._fused(x, zero, finite)
            scale = self._fused(rtol, self._size(y), self._load("%control", control.atol + i))
            off = self._size(self._op("sub", self._load("%control", control.slope + i), slope))
            allowed = self._op("mul", self._number(DEFECT), scale)
            excess = self._larger(excess, self._op("sub", self._op("mul", off, h), allowed))
            if i < coordinates:
                largest = self._larger(largest, self._size(slope))
            share = self._op("div", self._number(1.0), scale)
            last = self._larger(last, self._op("mul", self._size(terms[0]), share))
            before = self._larger(before, self._op("mul", self._size(terms[1]), share))
        found = {control.FINITE: finite, control.EXCESS: excess, control.LARGEST: largest}
        for place, value in (found | {control.LAST: last, control.LAST_BUT_ONE: before}).items():
            self._store("%control", place, value)
        head = "define void @look(ptr noalias %control, ptr noalias readonly %rows, i64 %order) {"
        return "\n".join([head, "entry:", *self._lines, "ret void", "}"])

    def _size(self, x: str) -> str:
        return self._put(f"call {self._type} @llvm.fabs.{self._suffix}({self._type} {x})")

    def _larger(self, a: str, b: str) -> str:
        t = self._type
        return self._put(f"call {t} @llvm.maxnum.{self._suffix}({t} {a}, {t} {b})")

    # -- order 0 --------------------------------------------------------------------------------

    def _order_zero(self) -> None:
        found, program = self._found, self._program
        sound = "true" if self._lanes == 1 else "<" + ", ".join(["i1 true"] * self._lanes) + ">"
        for k in found.order:
            self._rest()
            value = self._values[k] = self._value(k)
            if k in found.pivots and program.ops[k][0] != "cond":
                least = self._op("mul", self._number(PIVOT_TOLERANCE), self._at_zero(found.pivots[k]))
                positive = self._put(f"fcmp ogt {self._type} {value}, {least}")
                sound = self._put(f"and {self._bits} {sound}, {positive}")
                nothing = self._number(float("nan"))
                value = self._put(f"select {self._bits} {positive}, {self._type} {value}, {self._type} {nothing}")
                self._values[k] = value
            if Row(k) in found.rows and program.ops[k][0] != "in":
                self._store("%rows", found.rows[Row(k)], value)
            self._keep_spare(k, value)
        flag = self._put(
            f"select {self._bits} {sound}, {self._type} {self._number(1.0)}, {self._type} {self._number(0.0)}"
        )
        self._store("%spare", 0, flag)
        self._lines.insert(0, f"%spare.orders = mul i64 %order.one, {self._stride}")
        self._lines.insert(0, "%order.one = add i64 %order, 1")
        self._lines.insert(2, "%spare = getelementptr i8, ptr %rows, i64 %spare.orders")
        first = [self._at_zero(k) for k in found.rates]
        for i, value in enumerate([*first, self._number(1.0)]):
            self._store("%rows", self._stride // self._bytes + i, value)
        self._lines += ["br label %entry.end", "entry.end:"]

    def _keep_spare(self, k: int, value: str) -> None:
        found = self._found
        if ("inverse", k) in found.spare:
            self._store("%spare", found.spare["inverse", k], self._op("div", self._number(1.0), value))
        if ("half inverse", k) in found.spare:
            self._store("%spare", found.spare["half inverse", k], self._op("div", self._number(0.5), value))
        if ("condition", k) in found.spare:
            one, zero = self._number(1.0), self._number(0.0)
            flag = self._put(f"select {self._bits} {value}, {self._type} {one}, {self._type} {zero}")
            self._store("%spare", found.spare["condition", k], flag)

    def _at_zero(self, k: int) -> str:
        """A value at order 0, where it is used."""
        return self._values[k] if self._moves(k) else self._fixed(k)

    def _value(self, k: int) -> str:
        """Order 0 of an operation."""
        op, parts = self._program.ops[k], self._program.parts(k)
        kind = op[0]
        if kind == "in":
            return self._load("%rows", self._found.rows[Row(k)])
        if kind == "cond":
            return self._condition(str(op[1]), [self._at_zero(x) for x in parts])
        x = [self._at_zero(p) for p in parts]
        match kind:
            case "add" | "sub" | "mul" | "div":
                return self._op(str(kind), x[0], x[1])
            case "neg":
                return self._negative(x[0])
            case "select":
                t = self._type
                return self._put(f"select {self._bits} {x[0]}, {t} {x[1]}, {t} {x[2]}")
        return self._call(str(op[1]), parts, x)

    def _condition(self, kind: str, x: list[str]) -> str:
        match kind:
            case "lt" | "le":
                return self._put(f"fcmp o{kind} {self._type} {x[0]}, {x[1]}")
            case "and" | "or":
                return self._put(f"{kind} {self._bits} {x[0]}, {x[1]}")
        true = "true" if self._lanes == 1 else "<" + ", ".join(["i1 true"] * self._lanes) + ">"
        return self._put(f"xor {self._bits} {x[0]}, {true}")

    def _call(self, name: str, parts: Sequence[int], x: list[str]) -> str:
        t = self._type
        if name in ("sin", "cos"):
            if parts[0] not in self._pairs:
                both = self._put(f"call {{{t}, {t}}} @sine_and_cosine({t} {x[0]})")
                sine = self._put(f"extractvalue {{{t}, {t}}} {both}, 0")
                self._pairs[parts[0]] = sine, self._put(f"extractvalue {{{t}, {t}}} {both}, 1")
            return self._pairs[parts[0]][0 if name == "sin" else 1]
        self._called.add((name, len(x)))
        if name == "sqrt":
            return self._put(f"call {t} @llvm.sqrt.{self._suffix}({t} {x[0]})")
        symbol = f"llvm.{name}.f64" if name in _INTRINSICS else name
        if self._lanes == 1:
            return self._put(f"call double @{symbol}({', '.join(f'double {a}' for a in x)})")
        result = "poison"
        for lane in range(self._lanes):
            args = [self._put(f"extractelement {t} {a}, i32 {lane}") for a in x]
            one = self._put(f"call double @{symbol}({', '.join(f'double {a}' for a in args)})")
            result = self._put(f"insertelement {t} {result}, double {one}, i32 {lane}")
        return result

    # -- sums -----------------------------------------------------------------------------------

    def _all_sums(self) -> dict[Sum, str]:
        """Writes the loops of all sums; the name of each result."""
        wanted = list(dict.fromkeys(s for k in self._found.order for s in self._found.sums[k]))
        squares = [s for s in wanted if s.ahead == s.back]
        products = [s for s in wanted if s.ahead != s.back]
        most = _together()[self._lanes]
        named: dict[Sum, str] = {}
        for group in share_rows(products, most):
            named |= self._loop([*group.values()], [*group], "%inner")
        for start in range(0, len(squares), most):
            part = squares[start : start + most]
            half = self._loop(part, part, "%half")
            named |= self._doubled(half)
        return named

    def _loop(self, oriented: Sequence[Sum], keys: Sequence[Sum], count: str) -> dict[Sum, str]:
        """One loop over j for several sums; ``oriented`` says which operand runs ahead."""
        self._count += 1
        tag, t, zero = f"loop{self._count}", self._type, self._number(0.0)
        rows = self._found.rows
        before = f"{tag}.before"
        self._lines += [
            f"br label %{before}",
            f"{before}:",
            f"%{tag}.any = icmp sgt i64 {count}, 0",
            f"%{tag}.first = getelementptr i8, ptr %rows, i64 {self._stride}",
            f"%{tag}.last = getelementptr i8, ptr %here, i64 {-self._stride}",
            f"br i1 %{tag}.any, label %{tag}, label %{tag}.end",
        ]
        self._label(tag)
        ahead, back = f"%{tag}.ahead", f"%{tag}.back"
        self._lines += [
            f"%{tag}.left = phi i64 [{count}, %{before}], [%{tag}.left.next, %{tag}]",
            f"{ahead} = phi ptr [%{tag}.first, %{before}], [{ahead}.next, %{tag}]",
            f"{back} = phi ptr [%{tag}.last, %{before}], [{back}.next, %{tag}]",
        ]
        for i in range(len(keys)):
            self._lines.append(f"%{tag}.s{i} = phi {t} [{zero}, %{before}], [%{tag}.n{i}, %{tag}]")
        for i, s in enumerate(oriented):
            a, b = self._load(ahead, rows[s.ahead]), self._load(back, rows[s.back])
            self._lines.append(
                f"%{tag}.n{i} = call {t} @llvm.fmuladd.{self._suffix}({t} {a}, {t} {b}, {t} %{tag}.s{i})"
            )
        self._lines += [
            f"{ahead}.next = getelementptr i8, ptr {ahead}, i64 {self._stride}",
            f"{back}.next = getelementptr i8, ptr {back}, i64 {-self._stride}",
            f"%{tag}.left.next = sub i64 %{tag}.left, 1",
            f"%{tag}.again = icmp sgt i64 %{tag}.left.next, 0",
            f"br i1 %{tag}.again, label %{tag}, label %{tag}.end",
        ]
        self._label(f"{tag}.end")
        for i in range(len(keys)):
            self._lines.append(f"%{tag}.t{i} = phi {t} [{zero}, %{before}], [%{tag}.n{i}, %{tag}]")
        return {key: f"%{tag}.t{i}" for i, key in enumerate(keys)}

    def _doubled(self, half: dict[Sum, str]) -> dict[Sum, str]:
        """Whole sums of squares from their halves: twice the half, and the middle term where k is even."""
        self._count += 1
        tag, t = f"middle{self._count}", self._type
        twice = {s: self._op("add", x, x) for s, x in half.items()}
        self._lines += [
            f"br label %{tag}.before",
            f"{tag}.before:",
            f"br i1 %even, label %{tag}, label %{tag}.end",
        ]
        self._label(tag)
        self._lines += [
            f"%{tag}.order = lshr i64 %k, 1",
            f"%{tag}.offset = mul i64 %{tag}.order, {self._stride}",
            f"%{tag}.at = getelementptr i8, ptr %rows, i64 %{tag}.offset",
        ]
        whole = {}
        for s, x in twice.items():
            middle = self._load(f"%{tag}.at", self._found.rows[s.ahead])
            whole[s] = self._fused(middle, middle, x)
        self._lines.append(f"br label %{tag}.end")
        self._label(f"{tag}.end")
        named = {}
        for i, s in enumerate(half):
            named[s] = f"%{tag}.t{i}"
            self._lines.append(f"%{tag}.t{i} = phi {t} [{twice[s]}, %{tag}.before], [{whole[s]}, %{tag}]")
        return named

    # -- order k --------------------------------------------------------------------------------

    def _order_k(self, sums: dict[Sum, str]) -> None:
        found, program = self._found, self._program
        self._values = {}
        self._lines += ["br label %rules"]
        self._label("rules")
        part, part_after = self._spread("%k.part"), self._spread("%k.part.after")
        real = self._spread("%k.real")
        zero = self._number(0.0)
        for k in found.order:
            self._rest()
            if program.ops[k][0] == "cond":
                continue
            value = self._values[k] = self._coefficient(k, [sums[s] for s in found.sums[k]], part)
            if Row(k) in found.rows and program.ops[k][0] != "in":
                self._store("%here", found.rows[Row(k)], value)
            if Row(k, True) in found.rows:
                self._store("%here", found.rows[Row(k, True)], self._op("mul", value, real))
        for i, k in enumerate(found.rates):
            value = self._op("mul", self._values[k], part_after) if self._moves(k) else zero
            self._store("%after", i, value)
        self._store("%after", found.states, zero)

    def _coefficient(self, k: int, sums: list[str], part: str) -> str:
        """Order k of an operation."""
        op, parts = self._program.ops[k], self._program.parts(k)
        kind = op[0]
        if kind == "in":
            return self._load("%here", self._found.rows[Row(k)])
        moving = [self._moves(x) for x in parts]
        x = [self._values.get(p, "") for p in parts]
        match kind:
            case "add":
                return self._op("add", x[0], x[1]) if all(moving) else x[0] if moving[0] else x[1]
            case "sub":
                return self._op("sub", x[0], x[1]) if all(moving) else x[0] if moving[0] else self._negative(x[1])
            case "neg":
                return self._negative(x[0])
            case "mul":
                return self._product(parts, moving, x, sums)
            case "div":
                return self._quotient(k, parts, moving, x, sums)
            case "select":
                return self._selected(parts, moving, x)
        if k not in self._found.slopes:  # a root: c_k = (x_k - sum) / (2 c_0)
            left = self._op("sub", x[0], sums[0])
            return self._op("mul", left, self._load("%spare", self._found.spare["half inverse", k]))
        return self._by_slopes(k, sums, part)

    def _product(self, parts: Sequence[int], moving: list[bool], x: list[str], sums: list[str]) -> str:
        a, b = parts
        if not all(moving):
            return self._op("mul", x[0] if moving[0] else self._fixed(a), x[1] if moving[1] else self._fixed(b))
        first = self._first(a)
        if a == b:
            return self._fused(self._op("add", first, first), x[0], sums[0])
        return self._fused(first, x[1], self._fused(x[0], self._first(b), sums[0]))

    def _quotient(self, k: int, parts: Sequence[int], moving: list[bool], x: list[str], sums: list[str]) -> str:
        """c_k = (x_k - sum_{j<k} c_j y_{k-j}) / y_0."""
        program = self._program
        if not moving[1]:
            return self._op("mul", x[0], self._fixed(program.divide(program.one, parts[1])))
        taken = self._fused(self._first(k), x[1], sums[0])
        left = self._op("sub", x[0], taken) if moving[0] else self._negative(taken)
        return self._op("mul", left, self._load("%spare", self._found.spare["inverse", parts[1]]))

    def _selected(self, parts: Sequence[int], moving: list[bool], x: list[str]) -> str:
        t, zero = self._type, self._number(0.0)
        flag = self._load("%spare", self._found.spare["condition", parts[0]])
        holds = self._put(f"fcmp ogt {t} {flag}, {self._number(0.5)}")
        a, b = (value if moves else zero for value, moves in zip(x[1:], moving[1:]))
        return self._put(f"select {self._bits} {holds}, {t} {a}, {t} {b}")

    def _by_slopes(self, k: int, sums: list[str], part: str) -> str:
        """c_k = u_k g_0 + (1/k) sum (j u_j) g_{k-j}, over all terms of the rate."""
        total = ""
        left = iter(sums)
        for of, sign, slope in self._found.slopes[k]:
            u = self._values[of]
            if self._moves(slope):
                term = self._fused(u, self._first(slope), self._op("mul", next(left), part))
            else:
                term = self._op("mul", u, self._fixed(slope))
            if sign < 0:
                term = self._negative(term)
            total = self._op("add", total, term) if total else term
        return total

    def _first(self, k: int) -> str:
        """Order 0 of a kept value."""
        return self._load("%rows", self._found.rows[Row(k)])


def share_rows(sums: Sequence[Sum], most: int) -> list[dict[Sum, Sum]]:
    """Sums in groups of at most ``most`` that read the same rows, each with the operand that runs ahead first."""
    left = list(sums)
    groups: list[dict[Sum, Sum]] = []
    while left:
        group: dict[Sum, Sum] = {}
        ahead: set[Row] = set()
        back: set[Row] = set()
        while left and len(group) < most:
            best = None
            for place, s in enumerate(left[:_WINDOW]):
                for way in (s, Sum(s.back, s.ahead)):
                    gain = (way.ahead in ahead) + (way.back in back)
                    if best is None or gain > best[0]:
                        best = gain, place, way
            assert best is not None
            key = left.pop(best[1])
            group[key] = best[2]
            ahead.add(best[2].ahead)
            back.add(best[2].back)
        groups.append(group)
    return groups


_REDUCE = (0.6366197723675814, 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
FAR = 1e5
"""Angles beyond this [rad] are left to the C library: three parts of pi/2 would not do."""


def sine_and_cosine(lanes: int) -> str:
    """A function that gives both, by the polynomials of fdlibm after reduction by pi/2 in three parts (Cody & Waite)."""
    t = "double" if lanes == 1 else f"<{lanes} x double>"
    whole = "i64" if lanes == 1 else f"<{lanes} x i64>"
    bits = "i1" if lanes == 1 else f"<{lanes} x i1>"
    s = "f64" if lanes == 1 else f"v{lanes}f64"
    lines: list[str] = []

    def c(value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if lanes == 1 else "<" + ", ".join([f"double {text}"] * lanes) + ">"

    def i(value: int) -> str:
        return str(value) if lanes == 1 else "<" + ", ".join([f"i64 {value}"] * lanes) + ">"

    def put(name: str, line: str) -> str:
        lines.append(f"%{name} = {line}")
        return f"%{name}"

    def fused(name: str, a: str, b: str, d: str) -> str:
        return put(name, f"call {t} @llvm.fmuladd.{s}({t} {a}, {t} {b}, {t} {d})")

    put("n", f"call {t} @llvm.floor.{s}({t} {fused('turns', '%x', c(_REDUCE[0]), c(0.5))})")
    fused("r1", "%n", c(-_REDUCE[1]), "%x")
    fused("r2", "%n", c(-_REDUCE[2]), "%r1")
    fused("r", "%n", c(-_REDUCE[3]), "%r2")
    put("z", f"fmul {t} %r, %r")
    for name, series in (("s", _SINE), ("c", _COSINE)):
        total = c(series[-1])
        for k in range(len(series) - 2, -1, -1):
            total = fused(f"{name}{k}", total, "%z", c(series[k]))
    put("rz", f"fmul {t} %r, %z")
    fused("sine", "%rz", "%s0", "%r")
    put("zz", f"fmul {t} %z, %z")
    fused("half", "%z", c(-0.5), c(1.0))
    fused("cosine", "%zz", "%c0", "%half")
    # the quarter turns: exchange the two, and set signs
    put("size", f"call {t} @llvm.fabs.{s}({t} %x)")
    put("near", f"fcmp ole {t} %size, {c(FAR)}")
    put("safe", f"select {bits} %near, {t} %n, {t} {c(0.0)}")
    put("j", f"fptosi {t} %safe to {whole}")
    put("j1", f"and {whole} %j, {i(1)}")
    put("swap", f"icmp ne {whole} %j1, {i(0)}")
    put("a", f"select {bits} %swap, {t} %cosine, {t} %sine")
    put("b", f"select {bits} %swap, {t} %sine, {t} %cosine")
    for name, source, value in (("sa", "%j", "%a"), ("sb", "%j.one", "%b")):
        if name == "sb":
            put("j.one", f"add {whole} %j, {i(1)}")
        put(f"{name}.two", f"and {whole} {source}, {i(2)}")
        put(f"{name}.sign", f"shl {whole} %{name}.two, {i(62)}")
        put(f"{name}.bits", f"bitcast {t} {value} to {whole}")
        put(f"{name}.set", f"xor {whole} %{name}.bits, %{name}.sign")
        put(name, f"bitcast {whole} %{name}.set to {t}")
    lines += _far_angles(lanes, t, bits)
    head = f"define internal {{{t}, {t}}} @sine_and_cosine({t} %x) {{"
    declarations = [
        f"declare {t} @llvm.floor.{s}({t})",
        "declare double @llvm.sin.f64(double)",
        "declare double @llvm.cos.f64(double)",
    ]
    return "\n".join([head, "entry:", *lines, "}", *declarations])


def _far_angles(lanes: int, t: str, bits: str) -> list[str]:
    """The end of the function: lanes whose angle is far are computed by the C library, the others stay."""
    pair = f"{{{t}, {t}}}"
    if lanes == 1:
        every = ["br i1 %near, label %end, label %far"]
    else:
        every = [
            f"%mask = bitcast {bits} %near to i{lanes}",
            f"%all = icmp eq i{lanes} %mask, -1",
            "br i1 %all, label %end, label %far",
        ]
    lines = [*every, "far:"]
    if lanes == 1:
        lines += ["%fs = call double @llvm.sin.f64(double %x)", "%fc = call double @llvm.cos.f64(double %x)"]
    else:
        was = {"sin": "poison", "cos": "poison"}
        for lane in range(lanes):
            lines.append(f"%x{lane} = extractelement {t} %x, i32 {lane}")
            for name in was:
                lines.append(f"%{name}{lane} = call double @llvm.{name}.f64(double %x{lane})")
                lines.append(f"%{name}.v{lane} = insertelement {t} {was[name]}, double %{name}{lane}, i32 {lane}")
                was[name] = f"%{name}.v{lane}"
        lines += [
            f"%fs = select {bits} %near, {t} %sa, {t} {was['sin']}",
            f"%fc = select {bits} %near, {t} %sb, {t} {was['cos']}",
        ]
    return [
        *lines,
        "br label %end",
        "end:",
        f"%s.end = phi {t} [%sa, %entry], [%fs, %far]",
        f"%c.end = phi {t} [%sb, %entry], [%fc, %far]",
        f"%one = insertvalue {pair} poison, {t} %s.end, 0",
        f"%two = insertvalue {pair} %one, {t} %c.end, 1",
        f"ret {pair} %two",
    ]
