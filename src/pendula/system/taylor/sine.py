"""Sine and cosine together in LLVM text, for one number or for eight side by side."""

from __future__ import annotations

import struct

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
    """A function that gives both: polynomials of fdlibm after reduction by pi/2 in three parts (Cody & Waite)."""
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
