"""LLVM text for the step loop of the Taylor stepper: go to the end of a step, and look at the result."""

from __future__ import annotations

from pendula.numerics.taylor.steps import (
    DEFECT,
    EARLIER,
    EARLIEST,
    EXCESS,
    FINITE,
    GROWTH,
    LARGEST,
    LAST,
    LAST_BUT_ONE,
    RTOL,
    STAY,
    TIME,
    Control,
    H,
    find_control,
)
from pendula.system.code.writer import Writer


def write_go(text: Writer, stride: int, components: int) -> str:
    """``go(control, rows, order)``: replaces the state at the start of a step by the state at its end.

    Horner's rule evaluates the polynomials and their derivatives, three components per loop.
    """
    control, n = find_control(components), components
    text.lines += [
        f"%top.offset = mul i64 %order, {stride}",
        "%top = getelementptr i8, ptr %rows, i64 %top.offset",
    ]
    stay = text.compare("gt", text.load("%control", STAY), text.number(0.5))
    for first in range(0, n, 3):
        _horner(text, stride, range(first, min(first + 3, n)), control, stay)
    before = text.load("%rows", n)
    text.store("%control", control.before + n, before)
    text.store("%rows", n, text.load("%control", TIME))
    return text.function("@go(ptr noalias %control, ptr noalias %rows, i64 %order)")


def _horner(text: Writer, stride: int, components: range, control: Control, stay: str) -> None:
    tag, t = text.tag("horner"), text.type
    zero = text.number(0.0)
    text.lines.append(f"br label %{tag}.before")
    text.label(f"{tag}.before")
    h = text.load("%control", H)
    first = {i: text.load("%top", i) for i in components}
    text.lines.append(f"br label %{tag}")
    text.label(tag)
    edge = (f"%{tag}.before", f"%{tag}")
    text.lines += [
        f"%{tag}.k = phi i64 [%order, {edge[0]}], [%{tag}.k.next, {edge[1]}]",
        f"%{tag}.at = phi ptr [%top, {edge[0]}], [%{tag}.at.next, {edge[1]}]",
    ]
    for i in components:
        text.lines.append(f"%{tag}.v{i} = phi {t} [{first[i]}, {edge[0]}], [%{tag}.vn{i}, {edge[1]}]")
        text.lines.append(f"%{tag}.s{i} = phi {t} [{zero}, {edge[0]}], [%{tag}.sn{i}, {edge[1]}]")
    text.lines += [
        f"%{tag}.at.next = getelementptr i8, ptr %{tag}.at, i64 {-stride}",
        f"%{tag}.k.next = sub i64 %{tag}.k, 1",
    ]
    for i in components:
        row = text.load(f"%{tag}.at.next", i)
        text.fused(f"%{tag}.s{i}", h, f"%{tag}.v{i}", name=f"%{tag}.sn{i}")
        text.fused(f"%{tag}.v{i}", h, row, name=f"%{tag}.vn{i}")
    text.lines += [
        f"%{tag}.again = icmp sgt i64 %{tag}.k.next, 0",
        f"br i1 %{tag}.again, label %{tag}, label %{tag}.end",
    ]
    text.label(f"{tag}.end")
    for i in components:
        was, saved = text.load("%rows", i), text.load("%control", control.before + i)
        text.store("%control", control.slope + i, f"%{tag}.sn{i}")
        kept = text.choose(stay, saved, was)
        now = text.choose(stay, was, f"%{tag}.vn{i}")
        text.store("%control", control.before + i, kept)
        text.store("%rows", i, now)


def write_look(text: Writer, stride: int, components: int, coordinates: int) -> str:
    """``look(control, rows, order)``: the defect of the derivatives, and the sizes of the last terms of the series."""
    control, n = find_control(components), components
    text.lines += [
        f"%top.offset = mul i64 %order, {stride}",
        "%top = getelementptr i8, ptr %rows, i64 %top.offset",
        f"%below = getelementptr i8, ptr %top, i64 {-stride}",
        f"%second = getelementptr i8, ptr %below, i64 {-stride}",
        f"%third = getelementptr i8, ptr %second, i64 {-stride}",
        f"%first = getelementptr i8, ptr %rows, i64 {stride}",
    ]
    zero = text.number(0.0)
    finite = excess = largest = last = before = earlier = earliest = zero
    h = text.size(text.load("%control", H))
    rtol = text.load("%control", RTOL)
    for i in range(n):
        y, slope = text.load("%rows", i), text.load("%first", i)
        terms = text.load("%top", i), text.load("%below", i)
        for x in (y, slope, *terms):
            finite = text.fused(x, zero, finite)
        scale = text.fused(rtol, text.size(y), text.load("%control", control.atol + i))
        off = text.size(text.op("sub", text.load("%control", control.slope + i), slope))
        allowed = text.op("mul", text.number(DEFECT), scale)
        excess = text.larger(excess, text.op("sub", text.op("mul", off, h), allowed))
        if i < coordinates:
            largest = text.larger(largest, text.size(slope))
        share = text.op("div", text.number(1.0), scale)
        last = text.larger(last, text.op("mul", text.size(terms[0]), share))
        before = text.larger(before, text.op("mul", text.size(terms[1]), share))
        second = text.op("mul", text.size(text.load("%second", i)), text.number(GROWTH**-2))
        third = text.op("mul", text.size(text.load("%third", i)), text.number(GROWTH**-3))
        earlier = text.larger(earlier, text.op("mul", second, share))
        earliest = text.larger(earliest, text.op("mul", third, share))
    found = {
        EARLIER: earlier,
        EARLIEST: earliest,
        FINITE: finite,
        EXCESS: excess,
        LARGEST: largest,
    }
    for place, value in (found | {LAST: last, LAST_BUT_ONE: before}).items():
        text.store("%control", place, value)
    return text.function("@look(ptr noalias %control, ptr noalias readonly %rows, i64 %order)")
