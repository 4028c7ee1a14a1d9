"""Machine code for Taylor coefficients, one state at a time or eight.

``void coefficients(double *rows, const double *parameters, int64_t order)`` is the main function. ``rows`` holds, order
by order, all rows that :class:`~pendula.system.taylor.recurrences.Recurrences` stores. The caller writes the state and
the time into order 0, and the function computes their coefficients up to ``order``. It loops over the orders, so the
size of the code does not depend on their number.

At order k all sums over j = 1..k-1 need only lower orders. They come first, in loops that compute several sums
together, grouped so that they share loads; the rules follow as straight-line code. A row has one number per lane; every
lane goes through the same operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from pendula.numerics.scalars.eight import LANES
from pendula.numerics.solvers.linear import PIVOT_TOLERANCE
from pendula.numerics.taylor.integrate import Series
from pendula.system.code.llvm import write_prepare
from pendula.system.code.module import build_module
from pendula.system.code.program import CONSTANT, STATE
from pendula.system.code.programs import prepared_rows
from pendula.system.code.writer import Writer
from pendula.system.layout import Array
from pendula.system.taylor.ends import write_go, write_look
from pendula.system.taylor.recurrences import Recurrences, Row, Sum

_LARGE = 4_000  # operations; larger programs are optimized less
_WINDOW = 48  # candidates considered for the next sum of a loop
_BLOCK = 300  # lines of a basic block


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
    """rows after those of all orders; the first is 0 if the mass matrix was not positive definite, else 1"""
    prepare: int
    """address of the function that computes values from parameters alone"""
    parameters: int
    prepared: int
    operations: int
    sums: int
    owner: Any


def compile_series(found: Recurrences, lanes: int) -> NativeSeries:
    """Machine code for recurrences, for one state or for :data:`LANES` at a time."""
    text = _Coefficients(found, lanes).text()
    engine = build_module(text, 2 if len(found.order) <= _LARGE else 1)
    return NativeSeries(
        engine.get_function_address("coefficients"),
        engine.get_function_address("go"),
        engine.get_function_address("look"),
        lanes,
        found.states,
        max(found.rows.values()) + 1,
        len(found.spare),
        engine.get_function_address("prepare"),
        len(found.program.parameters),
        len(found.fixed),
        len(found.order),
        sum(len(s) for s in found.sums.values()),
        engine,
    )


def bind_series(native: NativeSeries, vectors: Array, failure: str) -> Series:
    """Recurrences with parameters, one row per run or one for all; ``failure`` explains a failed solve."""
    entries = (native.address, native.go, native.look)
    sizes = (native.lanes, native.components, native.rows, native.spare)
    return Series(*entries, *sizes, parameters=prepared_rows(native, vectors), failure=failure, owner=native)


def _together() -> dict[int, int]:
    """Most sums per loop, by number of lanes: as many as fit into registers."""
    wide = llvm.get_host_cpu_features().get("avx512f", False)
    return {1: 10, LANES: 12 if wide else 6}


class _Coefficients:
    """Writes the text of the function."""

    def __init__(self, found: Recurrences, lanes: int) -> None:
        self._found = found
        self._program = found.program
        self._text = Writer(lanes, contract=True, aligned=True, block=_BLOCK)
        self._stride = self._text.bytes * (max(found.rows.values()) + 1)
        self._values: dict[int, str] = {}
        self._pairs: dict[int, tuple[str, str]] = {}
        fixed = len(self._program.parameters)
        self._slots = {k: fixed + i for i, k in enumerate(found.fixed)}

    def _fixed(self, k: int) -> str:
        """A value that does not depend on the state."""
        op = self._program.ops[k]
        if self._program.level[k] == CONSTANT:  # only a division by zero was not folded
            return self._text.number(op.number if op.kind == "const" else float("nan"))
        place = op.place if op.kind == "par" else self._slots[k]
        return self._text.load("%parameters", place)

    def _moves(self, k: int) -> bool:
        return self._program.level[k] == STATE

    # -- the function ---------------------------------------------------------------------------

    def text(self) -> str:
        self._order_zero()
        self._text.lines += ["%more = icmp sgt i64 %order, 1", "br i1 %more, label %next, label %done"]
        self._text.label("next")
        self._text.lines += [
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
        self._text.label("sums")
        sums = self._all_sums()
        self._order_k(sums)
        self._text.lines += [
            "br label %next.end",
            "next.end:",
            "%again = icmp slt i64 %k.next, %order",
            "br i1 %again, label %next, label %done",
            "done:",
        ]
        main = self._text.function("@coefficients(ptr noalias %rows, ptr noalias readonly %parameters, i64 %order)")
        components, coordinates = self._found.states, len(self._program.inputs) - 1
        ends = write_go(self._text, self._stride, components)
        look = write_look(self._text, self._stride, components, coordinates)
        prepare = write_prepare(self._text, self._program, self._found.fixed)
        return "\n".join([main, ends, look, prepare, *self._text.declared.values()])

    # -- order 0 --------------------------------------------------------------------------------

    def _order_zero(self) -> None:
        found, program = self._found, self._program
        sound = self._text.truth(True)
        for k in found.order:
            self._text.rest()
            value = self._values[k] = self._value(k)
            if k in found.pivots and program.ops[k].kind != "cond":
                least = self._text.op("mul", self._text.number(PIVOT_TOLERANCE), self._at_zero(found.pivots[k]))
                positive = self._text.compare("gt", value, least)
                sound = self._text.put(f"and {self._text.bits} {sound}, {positive}")
                value = self._values[k] = self._text.choose(positive, value, self._text.number(float("nan")))
            if Row(k) in found.rows and program.ops[k].kind != "in":
                self._text.store("%rows", found.rows[Row(k)], value)
            self._keep_spare(k, value)
        one, zero = self._text.number(1.0), self._text.number(0.0)
        self._text.store("%spare", 0, self._text.choose(sound, one, zero))
        self._text.lines.insert(0, f"%spare.orders = mul i64 %order.one, {self._stride}")
        self._text.lines.insert(0, "%order.one = add i64 %order, 1")
        self._text.lines.insert(2, "%spare = getelementptr i8, ptr %rows, i64 %spare.orders")
        first = [self._at_zero(k) for k in found.rates]
        for i, value in enumerate([*first, self._text.number(1.0)]):
            self._text.store("%rows", self._stride // self._text.bytes + i, value)
        self._text.lines += ["br label %entry.end", "entry.end:"]

    def _keep_spare(self, k: int, value: str) -> None:
        found = self._found
        if ("inverse", k) in found.spare:
            self._text.store("%spare", found.spare["inverse", k], self._text.op("div", self._text.number(1.0), value))
        if ("half inverse", k) in found.spare:
            half = self._text.op("div", self._text.number(0.5), value)
            self._text.store("%spare", found.spare["half inverse", k], half)
        if ("condition", k) in found.spare:
            flag = self._text.choose(value, self._text.number(1.0), self._text.number(0.0))
            self._text.store("%spare", found.spare["condition", k], flag)

    def _at_zero(self, k: int) -> str:
        """A value at order 0, as an operand."""
        return self._values[k] if self._moves(k) else self._fixed(k)

    def _value(self, k: int) -> str:
        """Order 0 of an operation."""
        op, parts = self._program.ops[k], self._program.parts(k)
        if op.kind == "in":
            return self._text.load("%rows", self._found.rows[Row(k)])
        x = [self._at_zero(p) for p in parts]
        if op.kind != "call" or op.name not in ("sin", "cos"):
            return self._text.operation(op, x)
        if parts[0] not in self._pairs:
            self._pairs[parts[0]] = self._text.call_sine_and_cosine(x[0])
        return self._pairs[parts[0]][op.name == "cos"]

    # -- sums -----------------------------------------------------------------------------------

    def _all_sums(self) -> dict[Sum, str]:
        """Writes the loops of all sums; returns the name of each result."""
        wanted = list(dict.fromkeys(s for k in self._found.order for s in self._found.sums[k]))
        squares = [s for s in wanted if s.ahead == s.back]
        products = [s for s in wanted if s.ahead != s.back]
        most = _together()[self._text.lanes]
        named: dict[Sum, str] = {}
        for group in share_rows(products, most):
            named |= self._loop([*group.values()], [*group], "%inner")
        for start in range(0, len(squares), most):
            part = squares[start : start + most]
            half = self._loop(part, part, "%half")
            named |= self._doubled(half)
        return named

    def _loop(self, oriented: Sequence[Sum], keys: Sequence[Sum], count: str) -> dict[Sum, str]:
        """One loop over j for several sums; ``oriented`` fixes which operand has index j, the other k - j."""
        tag, t, zero = self._text.tag("loop"), self._text.type, self._text.number(0.0)
        rows = self._found.rows
        before = f"{tag}.before"
        self._text.lines += [
            f"br label %{before}",
            f"{before}:",
            f"%{tag}.any = icmp sgt i64 {count}, 0",
            f"%{tag}.first = getelementptr i8, ptr %rows, i64 {self._stride}",
            f"%{tag}.last = getelementptr i8, ptr %here, i64 {-self._stride}",
            f"br i1 %{tag}.any, label %{tag}, label %{tag}.end",
        ]
        self._text.label(tag)
        ahead, back = f"%{tag}.ahead", f"%{tag}.back"
        self._text.lines += [
            f"%{tag}.left = phi i64 [{count}, %{before}], [%{tag}.left.next, %{tag}]",
            f"{ahead} = phi ptr [%{tag}.first, %{before}], [{ahead}.next, %{tag}]",
            f"{back} = phi ptr [%{tag}.last, %{before}], [{back}.next, %{tag}]",
        ]
        for i in range(len(keys)):
            self._text.lines.append(f"%{tag}.s{i} = phi {t} [{zero}, %{before}], [%{tag}.n{i}, %{tag}]")
        for i, s in enumerate(oriented):
            a, b = self._text.load(ahead, rows[s.ahead]), self._text.load(back, rows[s.back])
            self._text.fused(a, b, f"%{tag}.s{i}", name=f"%{tag}.n{i}")
        self._text.lines += [
            f"{ahead}.next = getelementptr i8, ptr {ahead}, i64 {self._stride}",
            f"{back}.next = getelementptr i8, ptr {back}, i64 {-self._stride}",
            f"%{tag}.left.next = sub i64 %{tag}.left, 1",
            f"%{tag}.again = icmp sgt i64 %{tag}.left.next, 0",
            f"br i1 %{tag}.again, label %{tag}, label %{tag}.end",
        ]
        self._text.label(f"{tag}.end")
        for i in range(len(keys)):
            self._text.lines.append(f"%{tag}.t{i} = phi {t} [{zero}, %{before}], [%{tag}.n{i}, %{tag}]")
        return {key: f"%{tag}.t{i}" for i, key in enumerate(keys)}

    def _doubled(self, half: dict[Sum, str]) -> dict[Sum, str]:
        """Sums of squares from their first halves: twice the half, plus the middle term if k is even."""
        tag, t = self._text.tag("middle"), self._text.type
        twice = {s: self._text.op("add", x, x) for s, x in half.items()}
        self._text.lines += [
            f"br label %{tag}.before",
            f"{tag}.before:",
            f"br i1 %even, label %{tag}, label %{tag}.end",
        ]
        self._text.label(tag)
        self._text.lines += [
            f"%{tag}.order = lshr i64 %k, 1",
            f"%{tag}.offset = mul i64 %{tag}.order, {self._stride}",
            f"%{tag}.at = getelementptr i8, ptr %rows, i64 %{tag}.offset",
        ]
        whole = {}
        for s, x in twice.items():
            middle = self._text.load(f"%{tag}.at", self._found.rows[s.ahead])
            whole[s] = self._text.fused(middle, middle, x)
        self._text.lines.append(f"br label %{tag}.end")
        self._text.label(f"{tag}.end")
        named = {}
        for i, s in enumerate(half):
            named[s] = f"%{tag}.t{i}"
            self._text.lines.append(f"%{tag}.t{i} = phi {t} [{twice[s]}, %{tag}.before], [{whole[s]}, %{tag}]")
        return named

    # -- order k --------------------------------------------------------------------------------

    def _order_k(self, sums: dict[Sum, str]) -> None:
        found, program = self._found, self._program
        self._values = {}
        self._text.lines += ["br label %rules"]
        self._text.label("rules")
        part, part_after = self._text.spread("%k.part"), self._text.spread("%k.part.after")
        real = self._text.spread("%k.real")
        zero = self._text.number(0.0)
        for k in found.order:
            self._text.rest()
            if program.ops[k].kind == "cond":
                continue
            value = self._values[k] = self._coefficient(k, [sums[s] for s in found.sums[k]], part)
            if Row(k) in found.rows and program.ops[k].kind != "in":
                self._text.store("%here", found.rows[Row(k)], value)
            if Row(k, True) in found.rows:
                self._text.store("%here", found.rows[Row(k, True)], self._text.op("mul", value, real))
        for i, k in enumerate(found.rates):
            value = self._text.op("mul", self._values[k], part_after) if self._moves(k) else zero
            self._text.store("%after", i, value)
        self._text.store("%after", found.states, zero)

    def _coefficient(self, k: int, sums: list[str], part: str) -> str:
        """Order k of an operation."""
        op, parts = self._program.ops[k], self._program.parts(k)
        kind = op.kind
        if kind == "in":
            return self._text.load("%here", self._found.rows[Row(k)])
        moving = [self._moves(x) for x in parts]
        x = [self._values.get(p, "") for p in parts]
        match kind:
            case "add":
                return self._text.op("add", x[0], x[1]) if all(moving) else x[0] if moving[0] else x[1]
            case "sub":
                return (
                    self._text.op("sub", x[0], x[1])
                    if all(moving)
                    else x[0]
                    if moving[0]
                    else self._text.negative(x[1])
                )
            case "neg":
                return self._text.negative(x[0])
            case "mul":
                return self._product(parts, moving, x, sums)
            case "div":
                return self._quotient(k, parts, moving, x, sums)
            case "select":
                return self._selected(parts, moving, x)
        if k not in self._found.slopes:  # a root: c_k = (x_k - sum) / (2 c_0)
            left = self._text.op("sub", x[0], sums[0])
            return self._text.op("mul", left, self._text.load("%spare", self._found.spare["half inverse", k]))
        return self._by_slopes(k, sums, part)

    def _product(self, parts: Sequence[int], moving: list[bool], x: list[str], sums: list[str]) -> str:
        a, b = parts
        if not all(moving):
            return self._text.op("mul", x[0] if moving[0] else self._fixed(a), x[1] if moving[1] else self._fixed(b))
        first = self._first(a)
        if a == b:
            return self._text.fused(self._text.op("add", first, first), x[0], sums[0])
        return self._text.fused(first, x[1], self._text.fused(x[0], self._first(b), sums[0]))

    def _quotient(self, k: int, parts: Sequence[int], moving: list[bool], x: list[str], sums: list[str]) -> str:
        """c_k = (x_k - sum_{j<k} c_j y_{k-j}) / y_0."""
        program = self._program
        if not moving[1]:
            return self._text.op("mul", x[0], self._fixed(program.divide(program.one, parts[1])))
        taken = self._text.fused(self._first(k), x[1], sums[0])
        left = self._text.op("sub", x[0], taken) if moving[0] else self._text.negative(taken)
        return self._text.op("mul", left, self._text.load("%spare", self._found.spare["inverse", parts[1]]))

    def _selected(self, parts: Sequence[int], moving: list[bool], x: list[str]) -> str:
        zero = self._text.number(0.0)
        flag = self._text.load("%spare", self._found.spare["condition", parts[0]])
        holds = self._text.compare("gt", flag, self._text.number(0.5))
        a, b = (value if moves else zero for value, moves in zip(x[1:], moving[1:]))
        return self._text.choose(holds, a, b)

    def _by_slopes(self, k: int, sums: list[str], part: str) -> str:
        """c_k = u_k g_0 + (1/k) sum (j u_j) g_{k-j}, added over all terms of the derivative."""
        total = ""
        left = iter(sums)
        for of, sign, slope in self._found.slopes[k]:
            u = self._values[of]
            if self._moves(slope):
                term = self._text.fused(u, self._first(slope), self._text.op("mul", next(left), part))
            else:
                term = self._text.op("mul", u, self._fixed(slope))
            if sign < 0:
                term = self._text.negative(term)
            total = self._text.op("add", total, term) if total else term
        return total

    def _first(self, k: int) -> str:
        """Order 0 of a stored value."""
        return self._text.load("%rows", self._found.rows[Row(k)])


def share_rows(sums: Sequence[Sum], most: int) -> list[dict[Sum, Sum]]:
    """Groups of at most ``most`` sums that read the same rows; each sum maps to itself with operands oriented."""
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
