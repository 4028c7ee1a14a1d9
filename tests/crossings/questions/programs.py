"""Equations as programs, run by their own language: their accelerations are those of free bodies."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pendula
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable
from tests.crossings.mechanism import Array
from tests.crossings.questions.motion import ROUNDING, loose
from tests.crossings.questions.states import compare, rates_by_name, solved

Rates = Callable[[float, Array], Array]
"""v' at (t, y)"""


def python(case: Case, carried: Carried) -> None:
    """The program in Python; inputs are left to it, as its reader would."""
    program: dict[str, Any] = {}
    exec(pendula.print_equations(carried.system, "python"), program)
    n = len(carried.system.layout.coordinates)
    _same(case, carried, lambda t, y: np.asarray(program["rhs"](t, y, case.parameters))[n:])


def c(case: Case, carried: Carried) -> None:
    """The program in C, by the compiler of the machine."""
    text, layout = pendula.print_equations(carried.system, "c"), carried.system.layout
    line = next((line for line in text.splitlines() if "p of rhs:" in line), "")
    named = [name.strip() for name in line.partition(":")[2].replace("*/", "").split(",")]
    order = named if layout.parameters else []
    values = carried.system.layout.parameter_values(carried.run.parameters)
    p = np.array([values[name] for name in order])
    if layout.parameters and not ({"k", "m"} <= {*order} or "s" in order):
        raise Unsuitable(f"the parameters of the program are {order}")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "program.c", Path(folder) / "program.so"
        source.write_text(text)
        flags = ["-std=c99", "-O0", "-w", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True, capture_output=True)
        rhs = ctypes.CDLL(str(library)).rhs

        def rates(t: float, y: Array) -> Array:
            out = np.full(y.size, np.nan)
            rhs(ctypes.c_double(t), _pointer(y), _pointer(p), None, _pointer(out))
            return out[len(layout.coordinates) :]

        _same(case, carried, rates)


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sympy(case: Case, carried: Carried) -> None:
    """The matrices of SymPy, evaluated by its functions of NumPy."""
    import sympy as sp

    eq = pendula.exchange.to_sympy(carried.system)
    names, forms = [s for s, _ in eq.definitions], [e for _, e in eq.definitions]
    given = [eq.t, *eq.q, *eq.v, *eq.u, *eq.p]
    body = [f"def blocks({', '.join(f'x{k}' for k in range(len(given)))}):"]
    printer = _Printer({s: f"x{k}" for k, s in enumerate(given)} | {s: f"d{k}" for k, s in enumerate(names)})
    body += [f"    d{k} = {printer.doprint(form)}" for k, form in enumerate(forms)]
    listed = ", ".join(printer.doprint(e) for e in [*eq.M, *eq.f, *eq.G, *eq.c])
    program: dict[str, Any] = {"math": __import__("math"), "numpy": np}
    exec("\n".join([*body, f"    return [{listed}]"]), program)
    values = carried.system.layout.parameter_values(carried.run.parameters)
    p = [values[str(s)] for s in eq.p]
    n, m = eq.M.rows, eq.G.rows
    assert isinstance(eq.M, sp.MatrixBase)

    own = {
        x.t: case.all_inputs(x.u) for x in carried.moments
    }  # inputs are symbols: whoever evaluates the matrices gives them

    def rates(t: float, y: Array) -> Array:
        u = [own[t][str(s)] for s in eq.u]
        out = np.array(program["blocks"](t, *y.tolist(), *u, *p), dtype=float)
        M, f, G, c = np.split(out, np.cumsum([n * n, n, m * n]))
        M, G = M.reshape(n, n), G.reshape(m, n)
        whole = np.block([[M, -G.T], [G, np.zeros((m, m))]])
        return np.asarray(np.linalg.lstsq(whole, np.concatenate([f, c]), rcond=1e-12)[0][:n])

    _same(case, carried, rates)


def _Printer(names: dict[Any, str]) -> Any:
    """A printer of NumPy code with other names of symbols."""
    from sympy.printing.numpy import NumPyPrinter

    class Printer(NumPyPrinter):
        def _print_Symbol(self, expr: Any) -> str:
            return names[expr]

    return Printer({"fully_qualified_modules": True})


def _same(case: Case, carried: Carried, rates: Rates) -> None:
    """Compares the accelerations of a program with those of free bodies at samples of the run."""
    run, layout = carried.run, carried.system.layout
    for k in carried.inside(3):
        x = solved(case, carried.moments[k])
        found = rates(float(run.t[k]), np.concatenate([run.q[k], run.v[k]]))
        right = rates_by_name(case, x, layout.speeds)
        condition = max(1.0, case.own.accelerations(x).condition / 1e3)
        bound = 10 * ROUNDING * condition + 30 * loose(case)
        compare(f"accelerations of the program at t = {x.t:.6g}", layout.speeds, found, right, bound)
