"""Equations for people and for other programs: text, LaTeX, Python, C, JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import symengine as se

from pendula.equations import code
from pendula.equations.counts import count
from pendula.equations.equations import PARTS, Equations
from pendula.equations.tape import is_zero
from pendula.equations.tidy import LARGEST, tidy
from pendula.errors import UsageError

FORMATS = ("text", "latex", "python", "c", "json")

_WORDS = {
    "inertia": "centrifugal and Coriolis terms (and inertia of prescribed motions)",
    "gravity": "gravity",
    "springs": "springs",
    "dissipation": "friction and damping",
    "applied": "applied loads and inputs",
}


def print_equations(equations: Equations, format: str = "text") -> str:
    """Equations of motion in one of the formats text, latex, python, c, json.

    Example:
        >>> from pendula import derive, library
        >>> print(print_equations(derive(library.pendulum())).splitlines()[0])
        pendulum: equations of motion by kane
    """
    writers: dict[str, Callable[[Equations], str]] = {
        "text": _text,
        "latex": _latex,
        "python": _python,
        "c": _c,
        "json": _json,
    }
    if format not in writers:
        raise UsageError(f'there is no format "{format}"; choose one of {", ".join(FORMATS)}')
    return writers[format](equations)


def is_small(equations: Equations) -> bool:
    """Whether the equations can be written out without named intermediates and still be read."""
    return len(equations.v) <= 4 and count(equations).operations_written_out <= 6 * LARGEST


# -- text -----------------------------------------------------------------------------------------


def _text(eq: Equations) -> str:
    units = eq.model.unit_names
    lines = [f"{eq.model.name}: equations of motion by {eq.formulation}", ""]
    lines += _listing("coordinates", [f"{c.name} [{units.coordinate(c.kind) or '1'}]" for c in eq.model.coordinates])
    lines += _listing("speeds", [f"{s.name} [{units.speed(s.kind)}]" for s in eq.model.speeds])
    lines += _listing("inputs", [str(s) for s in eq.u])
    lines += _listing("parameters", [f"{n} = {v:g}" for n, v in eq.model.parameter_values.items()])
    loops = " + G^T lam" if eq.G else ""
    lines += ["", f"M v' = f{loops}, f = the sum of the parts below", ""]
    small = is_small(eq)
    show: Callable[[Any], str] = (lambda e: str(tidy(eq.inline(e), eq.v))) if small else (lambda e: str(e))
    if not small:
        used = _used(eq)
        lines.append(f"named intermediates ({len(used)}):")
        lines += [f"  {symbol} = {expression}" for symbol, expression in used]
        lines.append("")
    for i, row in enumerate(eq.M):
        for j in range(i + 1):
            if not is_zero(row[j]) and (text := show(row[j])) != "0":
                lines.append(f"M[{eq.v[i]}, {eq.v[j]}] = {text}")
    for part in PARTS:
        rows = [(v, show(x)) for v, x in zip(eq.v, eq.parts.free[part], strict=True) if not is_zero(x)]
        rows = [(v, text) for v, text in rows if text != "0"]
        if rows:
            lines += ["", f"f, {_WORDS[part]}:"]
            lines += [f"  f[{v}] = {text}" for v, text in rows]
    moving = [(q, rate) for q, rate, s in zip(eq.q, eq.qdot, _rates(eq), strict=True) if str(rate) != s]
    if moving:
        lines += ["", "q' where it is not a speed itself:"]
        lines += [f"  {q}' = {rate}" for q, rate in moving]
    if eq.drives:
        lines += ["", "prescribed motions:"]
        lines += [f"  {d.name} = {d.value}" for d in eq.drives]
    if eq.g:
        lines += ["", "constraints g = 0:"]
        lines += [f"  {name}: {show(g)}" for name, g in zip(eq.constraint_names, eq.g, strict=True)]
    if eq.G:
        lines += ["", "G v = b, G v' = c:"]
        for r, row in enumerate(eq.G):
            lines += [f"  G[{r + 1}, {v}] = {show(x)}" for v, x in zip(eq.v, row, strict=True) if not is_zero(x)]
            lines += [f"  b[{r + 1}] = {show(eq.b[r])}"] if not is_zero(eq.b[r]) else []
            lines.append(f"  c[{r + 1}] = {show(eq.c[r])}")
    lines += ["", *_sizes(eq)]
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line: str) -> str:
    """A long line broken at spaces, so that it fits 80 columns."""
    if len(line) <= 80:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    pieces = textwrap.wrap(line, 80, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(pieces)


def _sizes(eq: Equations) -> list[str]:
    sizes = count(eq)
    return [
        f"size: {sizes.terms} terms; {sizes.operations_written_out} operations written out,",
        f"      {sizes.operations_shared} with shared parts computed once ({sizes.names} named intermediates)",
    ]


def _rates(eq: Equations) -> list[str]:
    return [f"{q}_dot" for q in eq.q]


def _listing(title: str, items: Sequence[str]) -> list[str]:
    """Items in rows of at most 78 columns."""
    if not items:
        return []
    lines, row = [], f"  {title}: "
    for k, item in enumerate(items):
        piece = item + (", " if k < len(items) - 1 else "")
        if len(row) + len(piece) > 78:
            lines.append(row.rstrip())
            row = "    "
        row += piece
    return [*lines, row.rstrip()]


def _used(eq: Equations, outputs: Sequence[Any] | None = None) -> list[tuple[Any, Any]]:
    """The intermediates that some outputs need (default: M, f, G, b, c, g and q'), in order."""
    if outputs is None:
        outputs = [*(x for row in eq.M for x in row), *(x for row in eq.G for x in row)]
        outputs += [*eq.f, *eq.b, *eq.c, *eq.g, *eq.qdot]
    table = {s: se.sympify(e) for s, e in eq.definitions}
    wanted: set[Any] = set()
    stack = [s for e in outputs for s in se.sympify(e).free_symbols]
    while stack:
        s = stack.pop()
        if s in table and s not in wanted:
            wanted.add(s)
            stack.extend(table[s].free_symbols)
    return [(s, e) for s, e in eq.definitions if s in wanted]


# -- LaTeX ----------------------------------------------------------------------------------------


def _latex(eq: Equations) -> str:
    import sympy

    names = {sympy.Symbol(str(s)): _latex_name(str(s)) for s in (*eq.q, *eq.v, *eq.u, *eq.p, eq.t)}
    small = is_small(eq)

    def show(e: Any) -> str:
        form = tidy(eq.inline(e), eq.v) if small else se.sympify(e)._sympy_()
        return str(sympy.latex(form, symbol_names=names | _intermediate_names(form, names)))

    lines = ["% equations of motion by " + eq.formulation, r"\begin{align*}"]
    if not small:
        for symbol, e in _used(eq):
            lines.append(f"{_latex_name(str(symbol))} &= {show(e)} \\\\")
    rows = []
    for row in eq.M:
        rows.append(" & ".join(show(x) for x in row))
    lines.append(r"M &= \begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix} \\")
    for part, symbol in zip(PARTS, ("-h", r"-\gamma", "f_k", "f_c", r"\tau"), strict=True):
        entries = [show(x) for x in eq.parts.free[part]]
        if any(x != "0" for x in entries):
            lines.append(f"{symbol} &= " + r"\begin{bmatrix} " + r" \\ ".join(entries) + r" \end{bmatrix} \\")
    if eq.G:
        rows = [" & ".join(show(x) for x in row) for row in eq.G]
        lines.append(r"G &= \begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix} \\")
        lines.append(r"c &= \begin{bmatrix} " + r" \\ ".join(show(x) for x in eq.c) + r" \end{bmatrix} \\")
    used = [
        name
        for part, name in zip(PARTS, ("-h", r"-\gamma", "+f_k", "+f_c", r"+\tau"), strict=True)
        if not all(is_zero(x) for x in eq.parts.free[part])
    ]
    right = "".join(used).removeprefix("+") or "0"
    lines.append(r"M \dot v &= " + right + (r" + G^{T} \lambda" if eq.G else ""))
    lines.append(r"\end{align*}")
    return "\n".join(lines)


_GREEK = set(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    ]
)


def _latex_name(name: str) -> str:
    """theta1_dot -> \\dot{\\theta}_{1}; names of several letters stand upright."""
    dotted = name.endswith("_dot")
    base = name.removesuffix("_dot")
    head = base.rstrip("0123456789")
    index = base[len(head) :]
    stem, _, rest = head.rstrip("_").partition("_")
    subscript = ",".join(x for x in (rest.replace("_", ","), index) if x)
    letter = f"\\{stem}" if stem in _GREEK else stem if len(stem) == 1 else f"\\mathrm{{{stem}}}"
    letter = f"\\dot{{{letter}}}" if dotted else letter
    return f"{letter}_{{{subscript}}}" if subscript else letter


def _intermediate_names(form: Any, known: dict[Any, str]) -> dict[Any, str]:
    return {s: _latex_name(str(s)) for s in form.free_symbols if s not in known}


# -- code -----------------------------------------------------------------------------------------


# Arguments and results of generated code end in two underscores, which no name of a model can.


def _unpack(eq: Equations) -> list[tuple[str, str]]:
    pairs = []
    for array, symbols in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p)):
        pairs += [(str(s), f"{array}__[{k}]") for k, s in enumerate(symbols)]
    return pairs


def _outputs(eq: Equations) -> list[tuple[str, Any]]:
    n = len(eq.v)
    found = [(f"M__[{i * n + j}]", x) for i, row in enumerate(eq.M) for j, x in enumerate(row)]
    found += [(f"f__[{i}]", x) for i, x in enumerate(eq.f)]
    found += [(f"qdot__[{i}]", x) for i, x in enumerate(eq.qdot)]
    found += [(f"G__[{r * n + j}]", x) for r, row in enumerate(eq.G) for j, x in enumerate(row)]
    return found + [(f"c__[{r}]", x) for r, x in enumerate(eq.c)]


def _head(eq: Equations) -> list[str]:
    def names(symbols: Sequence[Any]) -> str:
        return ", ".join(map(str, symbols)) or "none"

    lines = [f"{eq.model.name}: equations of motion by {eq.formulation}, M v' = f + G^T lam, G v' = c."]
    for letter, symbols in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p)):
        lines.append(f"{letter}: {names(symbols)}")
    lines.append("p defaults: " + ", ".join(f"{x!r}" for x in eq.model.parameter_values.values()))
    lines.append("Arguments end in two underscores; M__ and G__ are stored by rows.")
    return lines


def _python(eq: Equations) -> str:
    n, m = len(eq.v), eq.loop_rows
    lines = ['"""' + _head(eq)[0], "", *_head(eq)[1:], '"""', "", "import math", "", ""]
    lines += ["def dynamics(t, q__, v__, u__, p__):", '    """Lists M, f, qdot, G, c."""']
    lines += [f"    {name} = {source}" for name, source in _unpack(eq)]
    used = _used(eq, [e for _, e in _outputs(eq)])
    lines += [f"    {symbol} = {code.write(e, code.PYTHON)}" for symbol, e in used]
    sizes = (("M", n * n), ("f", n), ("qdot", len(eq.q)), ("G", m * n), ("c", m))
    lines += [f"    {name}__ = [0.0] * {size}" for name, size in sizes]
    lines += [f"    {name} = {code.write(e, code.PYTHON)}" for name, e in _outputs(eq) if not is_zero(e)]
    return "\n".join([*lines, "    return M__, f__, qdot__, G__, c__"])


def _c(eq: Equations) -> str:
    n, m = len(eq.v), eq.loop_rows
    head = [line.replace("*/", "* /") for line in _head(eq)]
    lines = [
        "/* " + head[0],
        *(f"   {line}" for line in head[1:-1]),
        f"   {head[-1]} */",
        "#include <math.h>",
    ]
    lines += ["#ifndef M_PI", "#define M_PI 3.14159265358979323846", "#endif", ""]
    lines += [
        "void dynamics(double t, const double *q__, const double *v__, const double *u__, const double *p__,",
        f"              double *M__ /* {n * n} */, double *f__ /* {n} */, double *qdot__ /* {len(eq.q)} */,",
        f"              double *G__ /* {m * n} */, double *c__ /* {m} */)",
        "{",
        "    (void)t; (void)q__; (void)v__; (void)u__; (void)p__; (void)G__; (void)c__;",
    ]
    outputs = _outputs(eq)
    used = _used(eq, [e for _, e in outputs])
    needed = {str(s) for _, e in (*used, *outputs) for s in se.sympify(e).free_symbols}
    lines += [f"    const double {name} = {source};" for name, source in _unpack(eq) if name in needed]
    lines += [f"    const double {symbol} = {code.write(e, code.C)};" for symbol, e in used]
    lines += [f"    {name} = {code.write(e, code.C)};" for name, e in outputs]
    return "\n".join([*lines, "}"])


def _json(eq: Equations) -> str:
    def text(e: Any) -> str:
        return code.write(e, code.PYTHON).replace("math.", "")

    sizes = count(eq)
    data = {
        "model": eq.model.name,
        "formulation": eq.formulation,
        "units": eq.model.units,
        "form": "q' = qdot, M v' = f + G^T lam, g = 0, G v = b, G v' = c",
        "coordinates": [str(s) for s in eq.q],
        "speeds": [str(s) for s in eq.v],
        "inputs": [str(s) for s in eq.u],
        "parameters": eq.model.parameter_values,
        "definitions": [[str(s), text(e)] for s, e in _used(eq)],
        "qdot": [text(e) for e in eq.qdot],
        "M": [[text(e) for e in row] for row in eq.M],
        "f": [text(e) for e in eq.f],
        "parts": {part: [text(e) for e in eq.parts.free[part]] for part in PARTS},
        "g": [text(e) for e in eq.g],
        "G": [[text(e) for e in row] for row in eq.G],
        "b": [text(e) for e in eq.b],
        "c": [text(e) for e in eq.c],
        "constraints": list(eq.constraint_names),
        "counts": {
            "terms": sizes.terms,
            "operations_written_out": sizes.operations_written_out,
            "operations_shared": sizes.operations_shared,
            "named_intermediates": sizes.names,
        },
    }
    return json.dumps(data, indent=1)
