"""Straight-line programs to machine code, by LLVM.

A compiled program is two native functions called by address, ``void f(double* out, const double* in,
void* context)``: one computes what depends on parameters alone, once per parameter set, the other the
outputs. The context of the second is the array of parameters followed by those prepared values.

Why not SymEngine's own LLVM backend: it takes finished expressions, so named intermediates would have
to be written out and found again by its common-subexpression search (which is exponential in the depth
of equal copies), it has no stage for parameters, and its functions crash when called after their owner
is collected. Measured (``make bench``): small programs run 1.15 times as fast; programs above ``_LARGE`` operations,
which the quick code generator takes, compile 7 to 9 times sooner and run 0.7 to 0.95 times as fast.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from pendula.system.code.program import PARAMETER, STATE, Program

_LARGE = 6_000  # operations; beyond this the quick code generator is used; 6 times quicker, its code 1.5 times slower
_BLOCK = 500  # operations per basic block: code generation is superlinear in the size of a block
_INTRINSICS = {"sin", "cos", "exp", "log", "sqrt", "floor", "ceil", "pow"}

_lock = threading.Lock()
_ready = False


@dataclass(frozen=True)
class Native:
    """A compiled program. ``owner`` keeps the machine code alive as long as anyone holds an address."""

    evaluate: int
    prepare: int
    inputs: int
    outputs: int
    parameters: int
    prepared: int
    operations: int
    owner: Any


def compile_program(
    program: Program, outputs: Sequence[int], places: Sequence[int] | None = None, *, quick: bool = False
) -> Native:
    """Machine code for some outputs of a program.

    ``places`` says at which index of the output array each one is stored; default: one after the other. A program
    that is called rarely, or stores more than it computes, is better compiled the ``quick`` way, to slower code.
    """
    order = program.needed(outputs)
    state = [k for k in order if program.level[k] == STATE]
    wanted = {p for k in state for p in program.parts(k)} | set(outputs)
    hoisted = [k for k in sorted(wanted) if program.level[k] == PARAMETER and program.ops[k][0] != "par"]
    count = len(program.parameters)
    slots = {k: count + i for i, k in enumerate(hoisted)}
    main = _Function(program, "evaluate", slots).body(state, outputs, places)
    first = [k for k in program.needed(hoisted) if program.level[k] == PARAMETER]
    setup = _Function(program, "prepare", {}).body(first, hoisted)
    operations = sum(1 for k in state if program.ops[k][0] != "in")
    declarations = _declarations(program, order)
    engine = build_module(f"{main}\n{declarations}", 2 if operations <= _LARGE and not quick else 0)
    starter = build_module(f"{setup}\n{declarations}", 0)  # runs once per parameter set: quick to compile matters more
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


class _Function:
    """Writes the text of one function."""

    def __init__(self, program: Program, name: str, slots: dict[int, int]) -> None:
        self._program = program
        self._name = name
        self._slots = slots
        self._text: dict[int, str] = {}
        self._lines: list[str] = []
        self._loaded: dict[tuple[str, int], str] = {}
        self._count = 0

    def body(self, order: Sequence[int], outputs: Sequence[int], positions: Sequence[int] | None = None) -> str:
        places: dict[int, list[int]] = {}
        for position, k in zip(positions or range(len(outputs)), outputs, strict=True):
            places.setdefault(k, []).append(position)
        for position, k in enumerate(order):
            if position and position % _BLOCK == 0:
                label = f"part{position // _BLOCK}"
                self._lines += [f"br label %{label}", f"{label}:"]
                self._loaded.clear()
            self._operation(k)
            for place in places.pop(k, ()):  # stored at once, so that the register is free again
                self._store(k, place)
        for k, rest in places.items():
            for place in rest:
                self._store(k, place)
        head = f"define void @{self._name}(ptr noalias %out, ptr noalias readonly %in, ptr noalias readonly %par) {{"
        return "\n".join([head, "entry:", *self._lines, "ret void", "}"])

    def _store(self, k: int, place: int) -> None:
        value = self._operand(k)
        self._lines.append(f"%o{place} = getelementptr double, ptr %out, i64 {place}")
        self._lines.append(f"store double {value}, ptr %o{place}, align 8")

    def _load(self, source: str, position: int) -> str:
        """A load where it is used: kept within a block only, or values would fill all registers."""
        name = self._loaded.get((source, position))
        if name is None:
            self._count += 1
            name = self._loaded[source, position] = f"%x{self._count}"
            self._lines.append(f"%p{self._count} = getelementptr double, ptr %{source}, i64 {position}")
            self._lines.append(f"{name} = load double, ptr %p{self._count}, align 8")
        return name

    def _operand(self, k: int) -> str:
        text = self._text.get(k)
        if text is not None:
            return text
        op = self._program.ops[k]
        match op[0]:
            case "const":
                return _number(op[1])  # type: ignore[arg-type]
            case "in":
                return self._load("in", op[1])  # type: ignore[arg-type]
            case "par":
                return self._load("par" if self._name == "evaluate" else "in", op[1])  # type: ignore[arg-type]
            case "cond" if op[1] in ("true", "false"):
                return str(op[1])
        return self._load("par", self._slots[k])

    def _operation(self, k: int) -> None:
        op = self._program.ops[k]
        kind = op[0]
        if kind in ("in", "par", "const"):
            return
        x = [self._operand(p) for p in self._program.parts(k)]
        name = f"%v{k}"
        self._text[k] = name
        match kind:
            case "add" | "sub" | "mul" | "div":
                line = f"f{kind} double {x[0]}, {x[1]}"
            case "neg":
                line = f"fneg double {x[0]}"
            case "select":
                line = f"select i1 {x[0]}, double {x[1]}, double {x[2]}"
            case "call":
                args = ", ".join(f"double {a}" for a in x)
                line = f"call double @{_symbol(str(op[1]))}({args})"
            case _:
                line = _condition(str(op[1]), x)
        self._lines.append(f"{name} = {line}")


def _condition(kind: str, x: list[str]) -> str:
    match kind:
        case "lt" | "le":
            return f"fcmp o{kind} double {x[0]}, {x[1]}"
        case "and" | "or":
            return f"{kind} i1 {x[0]}, {x[1]}"
        case "not":
            return f"xor i1 {x[0]}, true"
    raise ValueError(f"unknown condition {kind}")


def _number(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _symbol(function: str) -> str:
    return f"llvm.{function}.f64" if function in _INTRINSICS else function


def _declarations(program: Program, order: Sequence[int]) -> str:
    used = {str(program.ops[k][1]): len(program.parts(k)) for k in order if program.ops[k][0] == "call"}
    lines = []
    for function, count in sorted(used.items()):
        lines.append(f"declare double @{_symbol(function)}({', '.join(['double'] * count)})")
    return "\n".join(lines)


def _start() -> None:
    """Prepares LLVM once, and makes the C library's functions known to it."""
    global _ready
    if _ready:
        return
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))
    names = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log pow floor ceil"
    for name in names.split():
        llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    _ready = True


def build_module(text: str, effort: int) -> Any:
    """Machine code of a module of LLVM text; ``effort`` is the optimization level of the code generator."""
    with _lock:
        _start()
        module = llvm.parse_assembly(text)
        module.verify()
        target = llvm.Target.from_default_triple()
        machine = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=effort,
            jit=True,
        )
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine
