"""Compiles straight-line programs to machine code by LLVM, for one state at a time or for several side by side.

A compiled program is two native functions, ``void f(double* out, const double* in, void* context)``, called by
address. ``prepare`` computes everything that depends on parameters alone, once per parameter set; ``evaluate`` computes
the outputs. The context of ``evaluate`` is the array of parameters followed by the prepared values.

Why not SymEngine's LLVM backend: it needs expanded expressions, in which its common-subexpression search (exponential
in the depth of equal copies) would have to find the named intermediates again. It has no stage for parameters, and its
functions crash if they are called after their owner is garbage-collected. Measured (``make bench``): small programs run
1.15 times as fast as SymEngine's; programs above ``_LARGE`` operations, compiled without optimization, compile
7 to 9 times as fast and run 0.7 to 0.95 times as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pendula.system.code.module import build_module
from pendula.system.code.program import PARAMETER, STATE, Program
from pendula.system.code.writer import Writer

_LARGE = 6_000  # operations; larger programs are not optimized: they compile 6 times as fast, and run 1.5 times slower
_LARGE_IN_LANES = 3_000
_BLOCK = 1_000  # lines per basic block
_BLOCK_IN_LANES = 750
_SIGNATURE = "(ptr noalias %out, ptr noalias readonly %in, ptr noalias readonly %par)"


@dataclass(frozen=True)
class Native:
    """A compiled program.

    Attributes:
        evaluate, prepare: addresses of the functions.
        inputs, outputs: lengths of the arrays that ``evaluate`` reads and writes.
        parameters, prepared: numbers of parameters and of values that ``prepare`` computes from them.
        operations: operations of one evaluation.
        owner: keeps the machine code alive; hold it as long as an address is in use.
    """

    evaluate: int
    prepare: int
    inputs: int
    outputs: int
    parameters: int
    prepared: int
    operations: int
    owner: Any


def compile_program(
    program: Program,
    outputs: Sequence[int],
    places: Sequence[int] | None = None,
    *,
    inputs: Sequence[int] | None = None,
    lanes: int = 1,
    quick: bool = False,
) -> Native:
    """Machine code for some outputs of a program.

    With ``lanes`` > 1, all arrays of ``evaluate`` consist of rows of that length, also its context (one row per
    parameter, then one per prepared value), and a product may be fused with the sum that uses it. ``prepare`` always
    serves one set of parameters; its caller copies the results into the column of a lane.

    Args:
        outputs: the values to compute.
        places: index of each output in the output array; default: one after the other.
        inputs: the program's input for each entry of the input array; default: all, in their order.
        lanes: number of states that are computed side by side.
        quick: compile faster, to slower code: for programs that are called rarely, or store more than they compute.
    """
    inputs = program.inputs if inputs is None else inputs
    order = program.needed(outputs)
    state = [k for k in order if program.level[k] == STATE]
    wanted = {p for k in state for p in program.parts(k)} | set(outputs)
    hoisted = [k for k in order if k in wanted and program.level[k] == PARAMETER and program.ops[k].kind != "par"]
    count = len(program.parameters)
    operations = sum(1 for k in state if program.ops[k].kind != "in")
    thorough = operations <= (_LARGE if lanes == 1 else _LARGE_IN_LANES) and not quick

    rows = {k: ("%in", place) for place, k in enumerate(inputs)}
    rows |= {k: ("%par", place) for place, k in enumerate([*program.parameters, *hoisted])}
    text = Writer(lanes, contract=lanes > 1, block=_BLOCK if lanes == 1 else _BLOCK_IN_LANES)
    write_straight(text, program, state, outputs, places, rows)
    parts = [text.function(f"@evaluate{_SIGNATURE}")]
    parts.append(write_prepare(text, program, hoisted))
    engine = build_module("\n".join([*parts, *text.declared.values()]), 2 if thorough else 0)
    prepare = engine.get_function_address("prepare")
    evaluate = engine.get_function_address("evaluate")
    size = 1 + max(places or [len(outputs) - 1], default=-1)
    return Native(evaluate, prepare, len(inputs), size, count, len(hoisted), operations, engine)


def write_prepare(text: Writer, program: Program, values: Sequence[int]) -> str:
    """The function that computes values from parameters alone; ``text`` gets the declarations of what it calls."""
    one = Writer(1, contract=False, block=_BLOCK)
    order = [k for k in program.needed(values) if program.level[k] == PARAMETER]
    write_straight(one, program, order, values, None, {k: ("%in", i) for i, k in enumerate(program.parameters)})
    text.declared |= one.declared
    # runs once per parameter set, so compile time matters more than speed
    return one.function(f"@prepare{_SIGNATURE}", "noinline optnone ")


def write_straight(
    text: Writer,
    program: Program,
    order: Sequence[int],
    outputs: Sequence[int],
    places: Sequence[int] | None,
    rows: Mapping[int, tuple[str, int]],
) -> None:
    """Writes operations in order and stores the outputs; ``rows`` gives the memory locations of inputs."""
    names: dict[int, str] = {}
    pairs: dict[int, tuple[str, str]] = {}
    wanted: dict[int, list[int]] = {}
    for place, k in zip(places or range(len(outputs)), outputs, strict=True):
        wanted.setdefault(k, []).append(place)

    def operand(k: int) -> str:
        name = names.get(k)
        if name is not None:
            return name
        op = program.ops[k]
        if op.kind == "const":
            return text.number(op.number)
        if op.kind == "cond" and not op.parts:
            return text.condition(op.name, ())
        return text.load(*rows[k])

    for k in order:
        op = program.ops[k]
        if op.parts:
            text.rest()
            x = [operand(p) for p in op.parts]
            if text.lanes > 1 and op.kind == "call" and op.name in ("sin", "cos"):
                if op.parts[0] not in pairs:
                    pairs[op.parts[0]] = text.sine_and_cosine(x[0])
                names[k] = pairs[op.parts[0]][op.name == "cos"]
            else:
                names[k] = text.operation(op, x)
        for place in wanted.pop(k, ()):  # stored at once, so that the register is free again
            text.store("%out", place, operand(k))
    for k, rest in wanted.items():
        for place in rest:
            text.store("%out", place, operand(k))
