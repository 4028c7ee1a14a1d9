"""Writes equations as Python and C programs with a ready right-hand side, ``rhs(t, y, p)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.equations.matrix import entries
from pendula.equations.printing import code
from pendula.equations.printing.form import Form, used_intermediates
from pendula.equations.printing.names import free_names
from pendula.equations.tape import is_zero

_RESERVED = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    math np pow fabs fmin fmax exp log sqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf floor
    ceil M_PI NULL len range float list tuple dict ValueError dynamics rhs solve_linear independent PARAMETERS
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that a name of the model may not have in a program."""

LARGE = 120
"""Unknowns of the linear system above which the C program keeps it in static memory."""


class _Program:
    """What both languages need: names, parameters in the order of their dependence, and the outputs."""

    def __init__(self, eq: Equations, language: code.Language) -> None:
        self.eq, self.form = eq, Form(eq)
        symbols = [eq.t, *eq.q, *eq.v, *eq.u, *eq.p, *(s for s, _ in eq.definitions)]
        words = {str(s) for s in symbols}
        spelled = {name: _free(name + "_", words) for name in words & RESERVED}
        self.language = replace(language, spelled=spelled)
        blocks = free_names({*words, *spelled.values()})
        self.block = {
            name: _free(blocks[name], words | RESERVED) for name in ("q", "v", "u", "p", "M", "f", "qdot", "G", "c")
        }
        given = Given.of(eq.model)
        self.independent, self.derived = given.independent, given.derived
        self.inputs = [given.inputs[str(s)] for s in eq.u]
        self.sizes = {"M": len(eq.v) ** 2, "f": len(eq.v), "qdot": len(eq.q), "G": eq.loop_rows * len(eq.v)}
        self.sizes["c"] = eq.loop_rows
        self.outputs = list(self._outputs())
        self.definitions = () if self.form.small else used_intermediates(eq, [e for _, _, e in self.outputs])

    def _outputs(self) -> Iterable[tuple[str, int, Any]]:
        eq, n = self.eq, len(self.eq.v)
        yield from (("M", i * n + j, self.shown(x)) for i, j, x in entries(eq.M))
        if self.form.small:  # the printed parts, which are shorter than their sum written anew
            rows = list(zip(*eq.parts.free.values(), strict=True))
            yield from (("f", i, sum((self.shown(x) for x in row), se.Integer(0))) for i, row in enumerate(rows))
        else:
            yield from (("f", i, self.shown(x)) for i, x in enumerate(eq.f))
        yield from (("qdot", i, self.shown(x)) for i, x in enumerate(eq.qdot))
        yield from (("G", r * n + j, self.shown(x)) for r, j, x in entries(eq.G))
        yield from (("c", r, self.shown(x)) for r, x in enumerate(eq.c))

    def shown(self, e: Any) -> Any:
        """An expression in the form that is printed."""
        return self.form.in_program(e)

    def write(self, e: Any) -> str:
        """An expression in the language."""
        return code.write(e, self.language)

    def name(self, symbol: Any) -> str:
        """A symbol in the language."""
        return self.language.name_of(symbol)

    def unpacked(self, expressions: Iterable[Any]) -> list[tuple[str, str]]:
        """(name, source) of the symbols that some expressions need."""
        needed = {str(s) for e in expressions for s in se.sympify(e).free_symbols}
        groups = (("q", self.eq.q), ("v", self.eq.v), ("u", self.eq.u), ("p", self.eq.p))
        pairs = [(s, f"{self.block[array]}[{k}]") for array, symbols in groups for k, s in enumerate(symbols)]
        return [(self.name(s), source) for s, source in pairs if str(s) in needed]

    def head(self) -> list[str]:
        """What a reader must know, line by line."""
        eq, block = self.eq, self.block
        law = f"{block['M']} v' = {block['f']}"
        law += f" + {block['G']}^T lam, {block['G']} v' = {block['c']}" if eq.G else ""
        lines = [f"{eq.model.name}: equations of motion by {eq.formulation}, {law}.", ""]
        lines.append(f"y = ({', '.join(map(str, (*eq.q, *eq.v)))})")
        for array, symbols in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p)):
            lines.append(f"{block[array]}: {', '.join(map(str, symbols)) or 'none'}")
        if eq.G:
            rows = "; ".join(eq.constraint_names[: eq.loop_rows])
            lines.append(f"rows of {block['G']} and {block['c']}: {rows}")
        lines += [f"{name} = {code.write(e, code.PYTHON).replace('math.', '')}" for name, e in self.derived]
        return lines


def write_python(eq: Equations) -> str:
    """Equations as a Python module: ``dynamics`` gives M, f and the rest, ``rhs`` the derivative of the state."""
    program = _Program(eq, code.PYTHON)
    b = program.block
    lines = ['"""', *program.head()]
    lines[:2] = [f'"""{lines[1]}']
    lines += ['"""', "", "import math", "", "import numpy as np", ""]
    listed = ", ".join(f'"{name}": {value!r}' for name, value in program.independent.items())
    lines += [f"PARAMETERS = {{{listed}}}", "", ""]
    arguments = ", ".join(["t", b["q"], b["v"], b["u"], b["p"]])
    results = [b[name] for name in program.sizes]
    lines += [f"def dynamics({arguments}):", f'    """Lists {", ".join(results)}; matrices by rows."""']
    expressions = [e for _, e in program.definitions] + [e for _, _, e in program.outputs]
    lines += [f"    {name} = {source}" for name, source in program.unpacked(expressions)]
    lines += [f"    {program.name(s)} = {program.write(e)}" for s, e in program.definitions]
    lines += [f"    {b[name]} = [0.0] * {size}" for name, size in program.sizes.items()]
    lines += [f"    {b[x]}[{k}] = {program.write(e)}" for x, k, e in program.outputs if not is_zero(e)]
    lines += [f"    return {', '.join(results)}", "", ""]
    return "\n".join([*lines, *_python_parameters(program), *_python_rhs(program)])


def _python_parameters(program: _Program) -> list[str]:
    """The function that gives all parameters and the inputs."""
    eq, name = program.eq, program.name
    # Names with two underscores cannot be those of the model.
    given, values = "changes__", "values__"
    lines = [f"def parameters_and_inputs(t, {given}=None):"]
    lines.append('    """All parameters in their order, and the inputs at a time; changes: values by name."""')
    lines += [f"    {values} = {{**PARAMETERS, **({given} or {{}})}}", f"    if len({values}) > len(PARAMETERS):"]
    lines.append(f'        raise ValueError(f"unknown parameters: {{set({values}) - set(PARAMETERS)}}")')
    lines += [f'    {name(n)} = {values}["{n}"]' for n in program.independent]
    lines += [f"    {name(n)} = {program.write(e)}" for n, e in program.derived]
    everything, inputs = [name(s) for s in eq.p], [program.write(e) for e in program.inputs]
    lines.append(f"    return [{', '.join(everything)}], [{', '.join(inputs)}]")
    return [*lines, "", ""]


def _python_rhs(program: _Program) -> list[str]:
    """The function for integrators."""
    n, k, m = len(program.eq.v), len(program.eq.q), program.eq.loop_rows
    lines = ["def rhs(t, y, p=None, u=None):"]
    lines += [
        '    """y\' at the time t; p: parameters by name that differ from PARAMETERS, u: inputs in their order."""'
    ]
    lines += ["    parameters, given = parameters_and_inputs(t, p)"]
    lines += [f"    M, f, qdot, G, c = dynamics(t, y[:{k}], y[{k}:], given if u is None else u, parameters)"]
    lines += [f"    M, f = np.reshape(M, ({n}, {n})), np.array(f)"]
    if not m:
        return [*lines, "    return np.concatenate([qdot, np.linalg.solve(M, f)])"]
    return [
        *lines,
        f"    G, c = np.reshape(G, ({m}, {n})), np.array(c)",
        "    # Multipliers lam with v': [M -G^T; G 0] (v', lam) = (f, c), scaled; rows of G may depend on each other.",
        "    size, rows = np.abs(M).max(), np.abs(G).max(axis=1)",
        "    G, c = G / rows[:, None], c / rows",
        f"    matrix = np.block([[M / size, -G.T], [G, np.zeros(({m}, {m}))]])",
        "    unknowns = np.linalg.lstsq(matrix, np.concatenate([f / size, c]), rcond=1e-12)[0]",
        f"    return np.concatenate([qdot, unknowns[:{n}]])",
    ]


# -- C ----------------------------------------------------------------------------------------------------------


def write_c(eq: Equations) -> str:
    """Equations as a C99 program: ``dynamics`` gives M, f and the rest, ``rhs`` the derivative of the state."""
    program = _Program(eq, code.C)
    b, sizes = program.block, program.sizes
    head = [line.replace("*/", "* /") for line in program.head()]
    lines = ["/* " + head[0], *(f"   {line}".rstrip() for line in head[1:])]
    lines += [f"   p of rhs: {', '.join(program.independent) or 'none'} */", "#include <math.h>"]
    lines += ["#include <stddef.h>", "#ifndef M_PI", "#define M_PI 3.14159265358979323846", "#endif", ""]
    values = ", ".join(repr(x) for x in program.independent.values()) or "0.0"
    lines += [f"const double PARAMETERS[] = {{{values}}};", ""]
    given = ", ".join(f"const double *{b[x]}" for x in ("q", "v", "u", "p"))
    results = ", ".join(f"double *{b[x]} /* {size} */" for x, size in sizes.items())
    lines += [f"void dynamics(double t, {given},", f"              {results})", "{"]
    lines.append("    " + " ".join(f"(void){x};" for x in ("t", *(b[x] for x in ("q", "v", "u", "p", "G", "c")))))
    expressions = [e for _, e in program.definitions] + [e for _, _, e in program.outputs]
    lines += [f"    const double {name} = {source};" for name, source in program.unpacked(expressions)]
    lines += [f"    const double {program.name(s)} = {program.write(e)};" for s, e in program.definitions]
    for name in ("M", "G"):  # mostly zero if there are many bodies
        lines += [f"    for (int i__ = 0; i__ < {sizes[name]}; ++i__) {b[name]}[i__] = 0.0;"] if sizes[name] else []
    lines += [f"    {b[x]}[{k}] = {program.write(e)};" for x, k, e in program.outputs]
    return "\n".join([*lines, "}", "", *_c_parameters(program), *_SOLVE.splitlines(), "", *_c_rhs(program)])


def _c_parameters(program: _Program) -> list[str]:
    eq, name = program.eq, program.name
    lines = ["static void parameters_and_inputs(double t, const double *given__, double *all__, double *u__)", "{"]
    lines.append("    (void)t; (void)given__; (void)all__; (void)u__;")
    needed = {str(s) for _, e in program.derived for s in e.free_symbols}
    needed |= {str(s) for e in (*program.inputs, *eq.p) for s in e.free_symbols}
    pairs = [(n, k) for k, n in enumerate(program.independent) if n in needed]
    lines += [f"    const double {name(n)} = given__[{k}];" for n, k in pairs]
    lines += [f"    const double {name(n)} = {program.write(e)};" for n, e in program.derived]
    lines += [f"    all__[{k}] = {name(s)};" for k, s in enumerate(eq.p)]
    return [*lines, *(f"    u__[{k}] = {program.write(e)};" for k, e in enumerate(program.inputs)), "}", ""]


_SOLVE = """/* Solves a x = b by elimination with complete pivoting, without dependent equations. Overwrites a and b. */
static void solve_linear(int n, double *a, double *b, int *order, double *x)
{
    int rank = 0;
    for (int i = 0; i < n; ++i) order[i] = i;
    for (; rank < n; ++rank) {
        int row = rank, column = rank;
        for (int i = rank; i < n; ++i)
            for (int j = rank; j < n; ++j)
                if (fabs(a[i * n + j]) > fabs(a[row * n + column])) { row = i; column = j; }
        if (!(fabs(a[row * n + column]) > 1e-12)) break;
        for (int j = 0; j < n; ++j) {
            double z = a[rank * n + j]; a[rank * n + j] = a[row * n + j]; a[row * n + j] = z;
        }
        for (int i = 0; i < n; ++i) {
            double z = a[i * n + rank]; a[i * n + rank] = a[i * n + column]; a[i * n + column] = z;
        }
        double z = b[rank]; b[rank] = b[row]; b[row] = z;
        int k = order[rank]; order[rank] = order[column]; order[column] = k;
        for (int i = rank + 1; i < n; ++i) {
            double factor = a[i * n + rank] / a[rank * n + rank];
            for (int j = rank; j < n; ++j) a[i * n + j] -= factor * a[rank * n + j];
            b[i] -= factor * b[rank];
        }
    }
    for (int i = 0; i < n; ++i) x[i] = 0.0;
    for (int i = rank - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < rank; ++j) sum -= a[i * n + j] * x[order[j]];
        x[order[i]] = sum / a[i * n + i];
    }
}"""


def _c_rhs(program: _Program) -> list[str]:
    eq = program.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    size = n + m
    memory = "static double" if size > LARGE else "double"
    rows = [
        "        double largest = 0.0;",
        f"        for (int j = 0; j < {n}; ++j) if (fabs(G[r * {n} + j]) > largest) largest = fabs(G[r * {n} + j]);",
        f"        for (int j = 0; j < {n}; ++j) {{",
        f"            a[({n} + r) * {size} + j] = G[r * {n} + j] / largest;",
        f"            a[j * {size} + {n} + r] = -G[r * {n} + j] / largest;",
        "        }",
        f"        b[{n} + r] = c[r] / largest;",
    ]
    return [
        "/* y' at the time t; p: parameters, or NULL for PARAMETERS. Multipliers are solved for along with v'. */",
        "void rhs(double t, const double *y, const double *p, double *ydot)",
        "{",
        f"    {memory} M[{n * n}], f[{n}], G[{max(m * n, 1)}], c[{max(m, 1)}];",
        f"    {memory} a[{size * size}], b[{size}], x[{size}];",
        f"    double all[{max(len(eq.p), 1)}] = {{0.0}}, u[{max(len(eq.u), 1)}] = {{0.0}}, scale = 0.0;",
        f"    int order[{size}];",
        "    parameters_and_inputs(t, p == NULL ? PARAMETERS : p, all, u);",
        f"    dynamics(t, y, y + {k}, u, all, M, f, ydot, G, c);",
        f"    for (int i = 0; i < {n * n}; ++i) if (fabs(M[i]) > scale) scale = fabs(M[i]);",
        f"    for (int i = 0; i < {size * size}; ++i) a[i] = 0.0;",
        f"    for (int i = 0; i < {n}; ++i) {{",
        f"        for (int j = 0; j < {n}; ++j) a[i * {size} + j] = M[i * {n} + j] / scale;",
        "        b[i] = f[i] / scale;",
        "    }",
        *([f"    for (int r = 0; r < {m}; ++r) {{", *rows, "    }"] if m else []),
        f"    solve_linear({size}, a, b, order, x);",
        f"    for (int i = 0; i < {n}; ++i) ydot[{k} + i] = x[i];",
        "}",
    ]


# -- names and order --------------------------------------------------------------------------------------------


def _free(name: str, taken: Iterable[str]) -> str:
    """A name with as many underscores behind it as needed to be none of those taken."""
    names = set(taken)
    while name in names:
        name += "_"
    return name
