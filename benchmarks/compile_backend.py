"""Is our compile path worth it? The same outputs by our LLVM path and by SymEngine's."""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import symengine as se

import pendula
from benchmarks.ball_joints import RODS, random_state, rods_on_balls
from benchmarks.measure import Goal, Side, difference, duration, interleave, number, ratio
from benchmarks.report import Report, Table
from pendula.equations.equations import Equations
from pendula.model.model import Model
from pendula.numerics.compiled.native import address_of, call_native
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.kernels import evaluate_rows

QUESTION = "Is our compile path worth it?"
CAP = 60.0  # seconds for SymEngine
MOST_MEMORY = 8 << 30
AGREE = 1e-9

MECHANISMS: dict[str, Callable[[], Model]] = {
    "chain of 10": lambda: pendula.library.chain(links=10),
    "rods, euler": lambda: rods_on_balls(RODS, "euler"),
    "rods, quaternion": lambda: rods_on_balls(RODS, "quaternion"),
}


def outputs(equations: Equations) -> list[Any]:
    """M's upper triangle, then f."""
    n = len(equations.v)
    return [equations.M[i][j] for i in range(n) for j in range(i, n)] + list(equations.f)


def compile_ours(equations: Equations) -> Native:
    """Named blocks straight to machine code."""
    low = Lowering([equations.t, *equations.q, *equations.v], equations.p, equations.definitions)
    return compile_program(low.program, [low(e) for e in outputs(equations)])


def compile_symengine(equations: Equations, inlined: list[Any]) -> Any:
    """SymEngine's own backend on written-out expressions; parameters are inputs like any other."""
    symbols = [equations.t, *equations.q, *equations.v, *equations.p]
    return se.Lambdify(symbols, inlined, backend="llvm", cse=True)


@numba.njit
def repeat(address: int, context: int, inp: np.ndarray, out: np.ndarray, count: int) -> None:
    """Calls a native function again and again."""
    for _ in range(count):
        call_native(address, address_of(out), address_of(inp), context)


def calls(address: int, context: int, inp: np.ndarray, out: np.ndarray, count: int) -> Side:
    """Many calls as one piece of work."""
    return Side(lambda _: repeat(address, context, inp, out, count))


# -- in a process of its own, because SymEngine may take for ever -----------------------------------


def study(name: str, rounds: int) -> None:
    """Prints one line of JSON after every stage, so that what was reached is known if it is stopped."""
    model = MECHANISMS[name]()
    equations = pendula.derive(model)
    compile_ours(pendula.derive(pendula.library.chain(links=2)))  # warm up
    state = np.concatenate([[0.0], *random_state(model)])
    values = np.array([model.parameter_values[str(s)] for s in equations.p])

    ours = interleave({"ours": Side(lambda _: compile_ours(equations))}, rounds=rounds)["ours"]
    native = compile_ours(equations)
    context = np.empty(native.parameters + native.prepared)
    context[: native.parameters] = values
    if native.prepared:
        evaluate_rows(native.prepare, 0, values[None, :].copy(), context[native.parameters :].reshape(1, -1))
    result = np.zeros(native.outputs)
    sides = {"ours": calls(native.evaluate, context.ctypes.data, state, result, 2000)}
    first = interleave(sides, rounds=rounds)["ours"].per(2000)
    _tell("ours", compile=ours.figures(), call=first.figures(), operations=native.operations)

    _tell("inlining")
    start = time.process_time()
    inlined = [equations.inline(e) for e in outputs(equations)]
    _tell("inline", seconds=time.process_time() - start)
    compiled = interleave({"theirs": Side(lambda _: compile_symengine(equations, inlined))}, rounds=1, share=0.2)
    function = compile_symengine(equations, inlined)
    _tell("symengine", compile=compiled["theirs"].figures())
    pointer, data = function.as_ctypes()  # these do not keep `function` alive: it stays until the end
    everything, theirs = np.concatenate([state, values]), np.zeros(native.outputs)
    address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    sides["theirs"] = calls(address, data.value, everything, theirs, 2000)
    times = interleave(sides, rounds=2 * rounds)
    _tell(
        "calls",
        ours=times["ours"].per(2000).figures(),
        theirs=times["theirs"].per(2000).figures(),
        difference=difference(result, theirs),
    )
    del function


def _tell(stage: str, **figures: Any) -> None:
    print(json.dumps({"stage": stage, **figures}), flush=True)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _in_child(name: str, quick: bool) -> tuple[dict[str, dict[str, Any]], str]:
    """Stages that were reached, and why it ended early ('' if it did not)."""
    command = [sys.executable, "-m", __name__, name, *(["--quick"] if quick else [])]
    ended = ""
    try:
        root = Path(__file__).resolve().parent.parent
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=CAP, check=False)
        text = done.stdout
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            ended = f"ended with {done.returncode}: {last[:120]}"
    except subprocess.TimeoutExpired as stopped:
        text = (stopped.stdout or b"").decode() if isinstance(stopped.stdout, bytes) else (stopped.stdout or "")
        ended = f"stopped after {CAP:g} s"
    stages = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    return {stage["stage"]: stage for stage in stages}, ended


def run(quick: bool) -> Report:
    """Both paths on three mechanisms."""
    report = Report("compile_backend", QUESTION)
    table = Table(["outputs M, f of", "by", "inline", "compile", "one call", "operations"])
    for name in MECHANISMS:
        stages, ended = _in_child(name, quick)
        report.figures[name] = {"stages": stages, "ended": ended}
        if "ours" not in stages:
            raise RuntimeError(f"our own compilation of {name} {ended}")
        _add_rows(report, table, name, stages, ended)
    report.tables.append(table)
    report.notes.append(
        "CPU time. Kane's equations; SymEngine gets them with all names written out, and finds common parts again."
    )
    return report


def _add_rows(report: Report, table: Table, name: str, stages: dict[str, dict[str, Any]], ended: str) -> None:
    ours, timed = stages["ours"], stages.get("calls", {})
    compiling, calling = ours["compile"]["cpu_s"], timed.get("ours", ours["call"])["cpu_s"]
    table.rows.append([name, "pendula", "", duration(compiling), duration(calling), str(ours["operations"])])
    inline = duration(stages["inline"]["seconds"]) if "inline" in stages else "-"
    compiled = duration(stages["symengine"]["compile"]["cpu_s"]) if "symengine" in stages else "-"
    table.rows.append([name, "SymEngine", inline, compiled, duration(timed["theirs"]["cpu_s"]) if timed else "-", ""])
    if ended:
        report.notes.append(f"{name}: SymEngine {ended}.")
        return
    whole = stages["inline"]["seconds"] + stages["symengine"]["compile"]["cpu_s"]
    gains = {"compile": ratio(whole, compiling), "call": ratio(timed["theirs"]["cpu_s"], calling)}
    report.figures[name]["times_faster"] = gains
    report.goals += [Goal(f"{name}, {what} faster", x, "at least", 1.0, " times") for what, x in gains.items()]
    if not timed["difference"] <= AGREE:
        report.notes.append(f"WRONG: {name}: outputs differ by {number(timed['difference'])}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanism", choices=MECHANISMS)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    _limit_memory()
    study(given.mechanism, 2 if given.quick else 5)
