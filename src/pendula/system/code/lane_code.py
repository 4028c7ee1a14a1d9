"""Straight-line programs to machine code that works on eight states at once.

Every operation of the program becomes one on ``<8 x double>``; inputs, outputs and parameters are rows of eight
numbers, one for each lane. What a lane gives never depends on the other lanes. Sine and cosine are polynomials in line
(the same as in ``numerics.trig``), functions that processors do not have for vectors are called lane by lane.
"""

from __future__ import annotations

from collections.abc import Sequence

from pendula.numerics.scalars import trig
from pendula.numerics.scalars.eight import LANES
from pendula.system.code.llvm import _LARGE, Native, _declarations, _Function, _number, build_module
from pendula.system.code.program import PARAMETER, STATE, Program

_KIND = f"<{LANES} x double>"
_WHOLE = f"<{LANES} x i64>"
_TRUTH = f"<{LANES} x i1>"
_BLOCK = 250  # operations per basic block
_VECTOR_FUNCTIONS = {"sqrt": "llvm.sqrt", "floor": "llvm.floor", "ceil": "llvm.ceil"}
_MANY_DECLARED = f"""
declare {_KIND} @llvm.sqrt.v{LANES}f64({_KIND})
declare {_KIND} @llvm.floor.v{LANES}f64({_KIND})
declare {_KIND} @llvm.ceil.v{LANES}f64({_KIND})
declare {_KIND} @llvm.fabs.v{LANES}f64({_KIND})
declare {_KIND} @llvm.fmuladd.v{LANES}f64({_KIND}, {_KIND}, {_KIND})
"""


def compile_lanes(program: Program, outputs: Sequence[int]) -> Native:
    """Machine code for some outputs of a program, for eight states at once.

    ``evaluate`` reads and writes rows of eight, its context too: parameters, then prepared values, a row each.
    ``prepare`` is as for one state; its results go into the column of the lane that uses them.
    """
    order = program.needed(outputs)
    state = [k for k in order if program.level[k] == STATE]
    wanted = {p for k in state for p in program.parts(k)} | set(outputs)
    hoisted = [k for k in sorted(wanted) if program.level[k] == PARAMETER and program.ops[k][0] != "par"]
    count = len(program.parameters)
    slots = {k: count + i for i, k in enumerate(hoisted)}
    first = [k for k in program.needed(hoisted) if program.level[k] == PARAMETER]
    setup = _Function(program, "prepare", {}).body(first, hoisted)
    operations = sum(1 for k in state if program.ops[k][0] != "in")
    text = _LaneFunction(program, slots).body(state, outputs)
    engine = build_module(f"{text}\n{_far(program, order)}", 2 if operations <= _LARGE // 2 else 0)
    starter = build_module(f"{setup}\n{_declarations(program, order)}", 0)
    return Native(
        engine.get_function_address("evaluate"),
        starter.get_function_address("prepare"),
        len(program.inputs),
        len(outputs),
        count,
        len(hoisted),
        operations,
        (engine, starter),
    )


class _LaneFunction:
    """Writes the text of the function that evaluates."""

    def __init__(self, program: Program, slots: dict[int, int]) -> None:
        self._program = program
        self._slots = slots
        self._text: dict[int, str] = {}
        self._lines: list[str] = []
        self._loaded: dict[tuple[str, int], str] = {}
        self._angles: dict[int, tuple[str, str]] = {}
        self._count = 0
        self._blocks = 0

    def body(self, order: Sequence[int], outputs: Sequence[int]) -> str:
        places: dict[int, list[int]] = {}
        for place, k in enumerate(outputs):
            places.setdefault(k, []).append(place)
        for position, k in enumerate(order):
            if position and position % _BLOCK == 0:
                self._new_block()
            self._operation(k)
            for place in places.pop(k, ()):
                self._store(k, place)
        for k, rest in places.items():
            for place in rest:
                self._store(k, place)
        head = "define void @evaluate(ptr noalias %out, ptr noalias readonly %in, ptr noalias readonly %par) {"
        memory = [f"%{name} = alloca {_KIND}, align 64" for name in ("far_x", "far_s", "far_c")]
        return "\n".join([head, "entry:", *memory, *self._lines, "ret void", "}"])

    # -- lines ----------------------------------------------------------------------------------

    def _line(self, text: str) -> str:
        """A new value."""
        self._count += 1
        name = f"%n{self._count}"
        self._lines.append(f"{name} = {text}")
        return name

    def _new_block(self) -> None:
        self._blocks += 1
        self._lines += [f"br label %part{self._blocks}", f"part{self._blocks}:"]
        self._loaded.clear()

    def _store(self, k: int, place: int) -> None:
        at = self._line(f"getelementptr {_KIND}, ptr %out, i64 {place}")
        self._lines.append(f"store {_KIND} {self._operand(k)}, ptr {at}, align 8")

    def _load(self, source: str, position: int) -> str:
        name = self._loaded.get((source, position))
        if name is None:
            at = self._line(f"getelementptr {_KIND}, ptr %{source}, i64 {position}")
            name = self._loaded[source, position] = self._line(f"load {_KIND}, ptr {at}, align 8")
        return name

    def _operand(self, k: int) -> str:
        text = self._text.get(k)
        if text is not None:
            return text
        op = self._program.ops[k]
        match op[0]:
            case "const":
                return _repeated(op[1])  # type: ignore[arg-type]
            case "in":
                return self._load("in", op[1])  # type: ignore[arg-type]
            case "par":
                return self._load("par", op[1])  # type: ignore[arg-type]
            case "cond" if op[1] in ("true", "false"):
                return f"<{', '.join([f'i1 {op[1]}'] * LANES)}>"
        return self._load("par", self._slots[k])

    # -- operations -----------------------------------------------------------------------------

    def _operation(self, k: int) -> None:
        op = self._program.ops[k]
        kind = op[0]
        if kind in ("in", "par", "const") or (kind == "cond" and op[1] in ("true", "false")):
            return
        if kind == "call":
            self._text[k] = self._call(str(op[1]), self._program.parts(k))
            return
        x = [self._operand(p) for p in self._program.parts(k)]
        match kind:
            case "add" | "sub" | "mul" | "div":
                line = f"f{kind} contract {_KIND} {x[0]}, {x[1]}"
            case "neg":
                line = f"fneg {_KIND} {x[0]}"
            case "select":
                line = f"select {_TRUTH} {x[0]}, {_KIND} {x[1]}, {_KIND} {x[2]}"
            case _:
                line = _condition(str(op[1]), x)
        self._text[k] = self._line(line)

    def _call(self, name: str, parts: Sequence[int]) -> str:
        if name in ("sin", "cos"):
            if parts[0] not in self._angles:
                self._angles[parts[0]] = self._sincos(self._operand(parts[0]))
            return self._angles[parts[0]][name == "cos"]
        x = [self._operand(p) for p in parts]
        if name in _VECTOR_FUNCTIONS:
            return self._function(_VECTOR_FUNCTIONS[name], *x)
        result = "poison"
        for lane in range(LANES):
            each = [self._line(f"extractelement {_KIND} {value}, i32 {lane}") for value in x]
            found = self._line(f"call double @one_{name}({', '.join(f'double {e}' for e in each)})")
            result = self._line(f"insertelement {_KIND} {result}, double {found}, i32 {lane}")
        return result

    def _function(self, name: str, *x: str) -> str:
        return self._line(f"call {_KIND} @{name}.v{LANES}f64({', '.join(f'{_KIND} {a}' for a in x)})")

    def _fused(self, a: str, b: str, c: str) -> str:
        """a * b + c, with one rounding where the processor can."""
        return self._function("llvm.fmuladd", a, b, c)

    def _polynomial(self, z: str, coefficients: Sequence[float]) -> str:
        value = _repeated(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self._fused(value, z, _repeated(c))
        return value

    def _sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine as in ``numerics.trig``; lanes whose angle is large are done one by one, in a branch."""
        quarters = self._fused(x, _repeated(trig.PER_QUARTER), _repeated(0.5))
        k = self._function("llvm.floor", quarters)
        r = x
        for part in trig.QUARTER:
            r = self._fused(k, _repeated(-part), r)
        z = self._line(f"fmul {_KIND} {r}, {r}")
        cube = self._line(f"fmul {_KIND} {r}, {z}")
        s = self._fused(cube, self._polynomial(z, trig.SINE), r)
        square = self._line(f"fmul {_KIND} {z}, {z}")
        start = self._fused(z, _repeated(-0.5), _repeated(1.0))
        c = self._fused(square, self._polynomial(z, trig.COSINE), start)
        return self._near_or_far(x, *self._turned(k, s, c))

    def _turned(self, k: str, s: str, c: str) -> tuple[str, str]:
        """k quarter turns more: exchanged where k is odd, signs by bits of k, which stand low after the addition."""
        shifted = self._line(f"fadd {_KIND} {k}, {_repeated(6755399441055744.0)}")
        turns = self._line(f"bitcast {_KIND} {shifted} to {_WHOLE}")
        bit = self._line(f"and {_WHOLE} {turns}, {_whole(1)}")
        odd = self._line(f"icmp ne {_WHOLE} {bit}, {_whole(0)}")
        more = self._line(f"add {_WHOLE} {turns}, {_whole(1)}")
        results = []
        for first, second, count in ((c, s, turns), (s, c, more)):
            value = self._line(f"select {_TRUTH} {odd}, {_KIND} {first}, {_KIND} {second}")
            half = self._line(f"and {_WHOLE} {count}, {_whole(2)}")
            sign = self._line(f"shl {_WHOLE} {half}, {_whole(62)}")
            bits = self._line(f"bitcast {_KIND} {value} to {_WHOLE}")
            signed = self._line(f"xor {_WHOLE} {bits}, {sign}")
            results.append(self._line(f"bitcast {_WHOLE} {signed} to {_KIND}"))
        return results[0], results[1]

    def _near_or_far(self, x: str, s: str, c: str) -> tuple[str, str]:
        size = self._function("llvm.fabs", x)
        far = self._line(f"fcmp uge {_KIND} {size}, {_repeated(trig.FAR)}")
        bits = self._line(f"bitcast {_TRUTH} {far} to i{LANES}")
        some = self._line(f"icmp ne i{LANES} {bits}, 0")
        self._blocks += 1
        b = self._blocks
        self._lines += [f"br label %near{b}", f"near{b}:", f"br i1 {some}, label %far{b}, label %part{b}", f"far{b}:"]
        for name, value in (("x", x), ("s", s), ("c", c)):
            self._lines.append(f"store {_KIND} {value}, ptr %far_{name}, align 64")
        self._lines.append("call void @sincos_far(ptr %far_x, ptr %far_s, ptr %far_c)")
        found = [self._line(f"load {_KIND}, ptr %far_{name}, align 64") for name in "sc"]
        self._lines += [f"br label %part{b}", f"part{b}:"]
        self._loaded.clear()
        pairs = zip((s, c), found, strict=True)
        both = [self._line(f"phi {_KIND} [{near}, %near{b}], [{other}, %far{b}]") for near, other in pairs]
        return both[0], both[1]


def _condition(kind: str, x: list[str]) -> str:
    match kind:
        case "lt" | "le":
            return f"fcmp o{kind} {_KIND} {x[0]}, {x[1]}"
        case "and" | "or":
            return f"{kind} {_TRUTH} {x[0]}, {x[1]}"
        case "not":
            return f"xor {_TRUTH} {x[0]}, <{', '.join(['i1 true'] * LANES)}>"
    raise ValueError(f"unknown condition {kind}")


def _repeated(value: float) -> str:
    return f"<{', '.join([f'double {_number(value)}'] * LANES)}>"


def _whole(value: int) -> str:
    return f"<{', '.join([f'i64 {value}'] * LANES)}>"


def _far(program: Program, order: Sequence[int]) -> str:
    """Functions for one lane: sine and cosine of large angles, and all that vectors do not have."""
    used = {str(program.ops[k][1]): len(program.parts(k)) for k in order if program.ops[k][0] == "call"}
    lines = [_MANY_DECLARED, "declare double @sin(double)", "declare double @cos(double)"]
    for name, count in sorted(used.items()):
        if name in ("sin", "cos", *_VECTOR_FUNCTIONS):
            continue
        kinds, names = ", ".join(["double"] * count), ", ".join(f"double %a{k}" for k in range(count))
        lines += [f"declare double @{name}({kinds})", f"define internal double @one_{name}({names}) {{"]
        lines += [f"%r = call double @{name}({names})", "ret double %r", "}"]
    lines += ["define internal void @sincos_far(ptr %x, ptr %s, ptr %c) {", "entry:", "br label %lane0"]
    for k in range(LANES):
        lines += [f"lane{k}:", f"%p{k} = getelementptr double, ptr %x, i64 {k}", f"%x{k} = load double, ptr %p{k}"]
        lines += [f"%t{k} = fcmp olt double %x{k}, {_number(trig.FAR)}"]
        lines += [f"%u{k} = fcmp ogt double %x{k}, {_number(-trig.FAR)}", f"%w{k} = and i1 %t{k}, %u{k}"]
        lines += [f"br i1 %w{k}, label %lane{k + 1}, label %far{k}", f"far{k}:"]
        for name, function in (("s", "sin"), ("c", "cos")):
            lines += [f"%{name}v{k} = call double @{function}(double %x{k})"]
            lines += [f"%{name}p{k} = getelementptr double, ptr %{name}, i64 {k}"]
            lines += [f"store double %{name}v{k}, ptr %{name}p{k}"]
        lines += [f"br label %lane{k + 1}"]
    return "\n".join([*lines, f"lane{LANES}:", "ret void", "}"])


def solve_symmetric(program: Program, M: Sequence[Sequence[int]], f: Sequence[int], tolerance: float) -> list[int]:
    """Operations that solve M a = f for a positive definite M given by its upper triangle; NaN where it is not.

    Root-free, from the last row to the first: rows of bodies beyond a branch then stay apart, and what depends on
    parameters alone is computed once. A pivot below ``tolerance`` times its diagonal entry counts as not positive.
    """
    n = len(f)
    sub, mul = program.subtract, program.multiply
    rows: list[list[int]] = [[M[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    right, inverse = list(f), [program.zero] * n
    good = program.condition("true")
    for k in range(n - 1, -1, -1):
        pivot = rows[k][k]
        least = mul(program.constant(tolerance), M[k][k])
        good = program.condition("and", good, program.condition("lt", least, pivot))
        good = program.condition("and", good, program.condition("lt", pivot, program.constant(float("inf"))))
        inverse[k] = program.divide(program.one, pivot)
        for i in range(k):
            if rows[i][k] == program.zero:
                continue
            factor = mul(rows[i][k], inverse[k])
            for j in range(i + 1):
                rows[j][i] = sub(rows[j][i], mul(factor, rows[j][k]))
            right[i] = sub(right[i], mul(factor, right[k]))
    found: list[int] = []
    for k in range(n):
        total = right[k]
        for i in range(k):
            total = sub(total, mul(rows[i][k], found[i]))
        found.append(mul(total, inverse[k]))
    found[0] = program.select(good, found[0], program.constant(float("nan")))
    return found
