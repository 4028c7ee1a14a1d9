"""Writes equations as text, LaTeX, Python, C or JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import symengine as se

from pendula.equations.derive import derive
from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import entries
from pendula.equations.printing import code
from pendula.equations.printing.counts import count
from pendula.equations.printing.tidy import LARGEST, tidy
from pendula.equations.tape import is_zero
from pendula.formats import formats
from pendula.library.lookup import model_of
from pendula.model.model import Model

WORDS = {
    "inertia": "centrifugal and Coriolis terms (and inertia of prescribed motions)",
    "gravity": "gravity",
    "springs": "springs",
    "dissipation": "friction and damping",
    "applied": "applied loads and inputs",
}
"""The parts of f in words."""


def print_equations(equations: Equations | Model | str, format: str = "text") -> str:
    """Equations of motion in one of the formats text, latex, python, c, json, or one that was registered.

    Args:
        equations: returned by :func:`pendula.derive`; a model, a system or the name of a library mechanism is derived.
        format: name of the format.

    Example:
        >>> from pendula import derive, library
        >>> print(print_equations(derive(library.pendulum())).splitlines()[0])
        pendulum: equations of motion by kane
    """
    return str(formats("Equations")[format](_equations_of(equations)))


def _equations_of(given: Any) -> Equations:
    if isinstance(given, Equations):
        return given
    return derive(model_of(given, "print_equations", also="equations"))


def is_small(equations: Equations) -> bool:
    """Whether the equations are readable without named intermediates."""
    planar_bodies = equations.nodes and not equations.quaternions  # many speeds, but short entries
    most = 12 if planar_bodies else 4
    return len(equations.v) <= most and count(equations).operations_written_out <= 6 * LARGEST


# -- text -----------------------------------------------------------------------------------------


def as_text(eq: Equations) -> str:
    """Equations as text in 80 columns."""
    units = eq.model.unit_names
    lines = [f"{eq.model.name}: equations of motion by {eq.formulation}", ""]
    lines += _listing("coordinates", [f"{c.name} [{units.coordinate(c.kind) or '1'}]" for c in eq.coordinates])
    lines += _listing("speeds", [f"{s.name} [{units.speed(s.kind)}]" for s in eq.speeds])
    lines += _listing("inputs", [str(s) for s in eq.u])
    lines += _listing("parameters", [f"{n} = {v:g}" for n, v in eq.model.parameter_values.items()])
    small = is_small(eq)
    show: Callable[[Any], str] = (lambda e: str(tidy(eq.inline(e), eq.v))) if small else (lambda e: str(e))
    if not small:
        used = used_intermediates(eq)
        lines += ["", f"named intermediates ({len(used)}):", *_legend(used)]
        lines += [f"  {symbol} = {expression}" for symbol, expression in used]
    lines += ["", f"M v' = f{' + G^T lam' if eq.G else ''}, f = the sum of the parts below", ""]
    for i, j, x in entries(eq.M):
        if j <= i and (text := show(x)) != "0":
            lines.append(f"M[{eq.v[i]}, {eq.v[j]}] = {text}")
    for part in PARTS:
        rows = [(v, show(x)) for v, x in zip(eq.v, eq.parts.free[part], strict=True) if not is_zero(x)]
        rows = [(v, text) for v, text in rows if text != "0"]
        if rows:
            lines += ["", f"f, {WORDS[part]}:"]
            lines += [f"  f[{v}] = {text}" for v, text in rows]
    moving = [(q, rate) for q, rate, s in zip(eq.q, eq.qdot, _rates(eq), strict=True) if str(rate) != s]
    if moving:
        lines += ["", "q' where it is not a speed:"]
        lines += [f"  {q}' = {rate}" for q, rate in moving]
    if eq.drives:
        lines += ["", "prescribed motions:"]
        lines += [f"  {d.name} = {d.value}" for d in eq.drives]
    lines += _constraint_lines(eq, show)
    own = [(name, text) for name, text in ((n, show(e)) for n, e in eq.readings.items()) if name != text]
    if own:
        lines += ["", "joint coordinates and speeds from those of the bodies:"]
        lines += [f"  {name} = {text}" for name, text in own]
    lines += ["", *_sizes(eq)]
    return "\n".join(_wrapped(line) for line in lines)


def _constraint_lines(eq: Equations, show: Callable[[Any], str]) -> list[str]:
    """Every constraint by its name, with its rows of g, G, b and c."""
    if not eq.g:
        return []
    title = "constraints g = 0, G v = b, G v' = c, each with a multiplier:" if eq.G else "constraints g = 0:"
    lines = ["", title]
    slopes: dict[int, list[str]] = {}
    for r, k, x in entries(eq.G):
        slopes.setdefault(r, []).append(f"    G[{r + 1}, {eq.v[k]}] = {show(x)}")
    for r, (name, g) in enumerate(zip(eq.constraint_names, eq.g, strict=True)):
        multiplier = "" if r < eq.loop_rows or not eq.G else " (no multiplier: q' preserves it)"
        lines += [f"  {r + 1}. {name}{multiplier}", f"    g[{r + 1}] = {show(g)}", *slopes.get(r, [])]
        if r < eq.loop_rows:
            lines += [] if is_zero(eq.b[r]) else [f"    b[{r + 1}] = {show(eq.b[r])}"]
            lines.append(f"    c[{r + 1}] = {show(eq.c[r])}")
    return lines


_PREFIXES = {
    "c": "a cosine",
    "s": "a sine",
    "R": "a rotation matrix",
    "r": "a position",
    "w": "an angular velocity",
    "gap": "a gap",
}


def _legend(used: Sequence[tuple[Any, Any]]) -> list[str]:
    """Explains the prefixes of the intermediates in use."""
    found = {str(symbol).partition("__")[0] for symbol, _ in used if "__" in str(symbol)}
    known = [f"{letter}__ {word}" for letter, word in _PREFIXES.items() if letter in found]
    return [f"  ({', '.join(known)}, of the following)"] if known else []


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
        f"size: {sizes.terms} terms; {sizes.operations_written_out} operations when expanded,",
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


def used_intermediates(eq: Equations, outputs: Sequence[Any] | None = None) -> list[tuple[Any, Any]]:
    """The intermediates that some outputs need (default: all printed expressions), in order."""
    if outputs is None:
        outputs = [x for matrix in (eq.M, eq.G) for _, _, x in entries(matrix)]
        outputs += [*eq.f, *eq.b, *eq.c, *eq.g, *eq.qdot, *eq.readings.values()]
    table = {s: se.sympify(e) for s, e in eq.definitions}
    wanted: set[Any] = set()
    stack = [s for e in outputs for s in se.sympify(e).free_symbols]
    while stack:
        s = stack.pop()
        if s in table and s not in wanted:
            wanted.add(s)
            stack.extend(table[s].free_symbols)
    return [(s, e) for s, e in eq.definitions if s in wanted]


def as_latex(eq: Equations) -> str:
    """Equations as LaTeX."""
    from pendula.equations.printing.latex import write_latex

    return write_latex(eq, used_intermediates(eq), small=is_small(eq))


# -- code -----------------------------------------------------------------------------------------


# Arguments and results of generated code end in two underscores, which names of a model cannot.


def _unpack(eq: Equations) -> list[tuple[str, str]]:
    pairs = []
    for array, symbols in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p)):
        pairs += [(str(s), f"{array}__[{k}]") for k, s in enumerate(symbols)]
    return pairs


def _outputs(eq: Equations) -> list[tuple[str, Any]]:
    n = len(eq.v)
    found = [(f"M__[{i * n + j}]", x) for i, j, x in entries(eq.M)]
    found += [(f"f__[{i}]", x) for i, x in enumerate(eq.f)]
    found += [(f"qdot__[{i}]", x) for i, x in enumerate(eq.qdot)]
    found += [(f"G__[{r * n + j}]", x) for r, j, x in entries(eq.G)]
    return found + [(f"c__[{r}]", x) for r, x in enumerate(eq.c)]


def _head(eq: Equations) -> list[str]:
    def names(symbols: Sequence[Any]) -> str:
        return ", ".join(map(str, symbols)) or "none"

    lines = [f"{eq.model.name}: equations of motion by {eq.formulation}, M v' = f + G^T lam, G v' = c."]
    for letter, symbols in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p)):
        lines.append(f"{letter}: {names(symbols)}")
    if eq.G:
        lines.append("rows of G and c: " + "; ".join(eq.constraint_names[: eq.loop_rows]))
    lines.append("p defaults: " + ", ".join(f"{x!r}" for x in eq.model.parameter_values.values()))
    lines.append("Arguments end in two underscores; M__ and G__ are stored by rows.")
    return lines


def as_python(eq: Equations) -> str:
    """Equations as a Python function on lists."""
    n, m = len(eq.v), eq.loop_rows
    lines = ['"""' + _head(eq)[0], "", *_head(eq)[1:], '"""', "", "import math", "", ""]
    lines += ["def dynamics(t, q__, v__, u__, p__):", '    """Lists M, f, qdot, G, c."""']
    lines += [f"    {name} = {source}" for name, source in _unpack(eq)]
    used = used_intermediates(eq, [e for _, e in _outputs(eq)])
    lines += [f"    {symbol} = {code.write(e, code.PYTHON)}" for symbol, e in used]
    sizes = (("M", n * n), ("f", n), ("qdot", len(eq.q)), ("G", m * n), ("c", m))
    lines += [f"    {name}__ = [0.0] * {size}" for name, size in sizes]
    lines += [f"    {name} = {code.write(e, code.PYTHON)}" for name, e in _outputs(eq) if not is_zero(e)]
    return "\n".join([*lines, "    return M__, f__, qdot__, G__, c__"])


def as_c(eq: Equations) -> str:
    """Equations as a C99 function."""
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
    used = used_intermediates(eq, [e for _, e in outputs])
    needed = {str(s) for _, e in (*used, *outputs) for s in se.sympify(e).free_symbols}
    lines += [f"    const double {name} = {source};" for name, source in _unpack(eq) if name in needed]
    lines += [f"    const double {symbol} = {code.write(e, code.C)};" for symbol, e in used]
    for name, size in (("M", n * n), ("G", m * n)):  # mostly zero if there are many bodies
        lines += [f"    for (int i__ = 0; i__ < {size}; ++i__) {name}__[i__] = 0.0;"] if size else []
    lines += [f"    {name} = {code.write(e, code.C)};" for name, e in outputs]
    return "\n".join([*lines, "}"])


def as_json(eq: Equations) -> str:
    """Equations as JSON."""

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
        "definitions": [[str(s), text(e)] for s, e in used_intermediates(eq)],
        "qdot": [text(e) for e in eq.qdot],
        "M": [[text(e) for e in row] for row in eq.M],
        "f": [text(e) for e in eq.f],
        "parts": {part: [text(e) for e in eq.parts.free[part]] for part in PARTS},
        "g": [text(e) for e in eq.g],
        "G": [[text(e) for e in row] for row in eq.G],
        "b": [text(e) for e in eq.b],
        "c": [text(e) for e in eq.c],
        "constraints": list(eq.constraint_names),
        "readings": {name: text(e) for name, e in eq.readings.items()},
        "counts": {
            "terms": sizes.terms,
            "operations_written_out": sizes.operations_written_out,
            "operations_shared": sizes.operations_shared,
            "named_intermediates": sizes.names,
        },
    }
    return json.dumps(data, indent=1)
