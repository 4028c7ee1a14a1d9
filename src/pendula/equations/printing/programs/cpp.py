"""Equations as one C++17 header without dependencies, generic in the type of numbers (for derivatives)."""

from __future__ import annotations

from dataclasses import replace

from pendula.equations.equations import Equations
from pendula.equations.printing.code import SPELLED
from pendula.equations.printing.programs.c import SOLVE, C, c_body, system_lines
from pendula.equations.printing.programs.listing import Listing, identifier

_RESERVED = """
    alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export false friend
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
    requires static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t
    xor xor_eq std T Parameters State Residuals Solution choose all_parameters inputs_at
"""
CPP = replace(
    C,
    title="cpp",
    pi="3.14159265358979323846",
    choice="choose<T>({test}, {this}, {other})",
    truths=("false", "true"),
    reserved=C.reserved | frozenset(_RESERVED.split()),
)


def write_cpp(eq: Equations, *, name: str = "") -> str:
    """Equations as a C++ header: ``rhs(t, y, p, u)`` is the derivative of the state.

    Args:
        eq: the equations.
        name: of the namespace; default: the name of the model.
    """
    listing = Listing(eq, CPP)
    b, body = listing.block, listing.dynamics()
    space = identifier(name or eq.model.name, CPP.reserved)
    n, k, m, u = len(eq.v), len(eq.q), eq.loop_rows, len(eq.u)
    lines = [f"// {line}".rstrip() for line in listing.head()]
    lines += ["#pragma once", "", "#include <array>", "#include <cmath>", "", f"namespace {space} {{", ""]
    for what, size in (("coordinates", k), ("speeds", n), ("rows", m), ("gaps", listing.gaps), ("inputs", u)):
        lines.append(f"inline constexpr int number_of_{what} = {size};")
    lines += ["", "/** Independent parameters with the values of the model. */", "struct Parameters {"]
    units = listing.units()
    for parameter, value in listing.independent.items():
        unit = f"  // {units[parameter]}" if units.get(parameter) else ""
        lines.append(f"    double {listing.name(parameter)} = {value!r};{unit}")
    lines += ["};", "", f"template <class T> using State = std::array<T, {k + n}>;", ""]
    lines += ["template <class T> inline T choose(bool test, T first, T second) { return test ? first : second; }", ""]
    lines += _function(
        "dynamics",
        "const T &t, " + ", ".join(f"const T *{b[x]}" for x in ("q", "v", "u", "p")),
        ", ".join(f"T *{x} /* {size} */" for x, size in body.sizes.items()),
        [b[x] for x in ("q", "v", "u", "p", "G", "c")],
        c_body(body, [b["M"], b["G"]], "T"),
    )
    solve = SOLVE.replace("double", "T").replace("static void", "template <class T>\ninline void")
    solve = solve.replace("int rank = 0;", "using std::fabs;\n    int rank = 0;")
    lines += [*_parameters(listing), *solve.splitlines(), "", *_solve(listing)]
    if listing.gaps:
        lines += _residuals(listing)
    return "\n".join([*lines, f"}}  // namespace {space}"])


def _function(name: str, given: str, results: str, unused: list[str], body: list[str]) -> list[str]:
    using = [f"    using std::{f};" for f in (*SPELLED.values(), "pow") if any(f"{f}(" in line for line in body)]
    void = "    " + " ".join(f"(void){x};" for x in ("t", *unused))
    return ["template <class T>", f"void {name}({given},", f"    {results})", "{", void, *using, *body, "}", ""]


def _parameters(listing: Listing) -> list[str]:
    lines = [f"    const T {listing.name(n)} = given__.{listing.name(n)};" for n in listing.read_parameters]
    lines += [f"    const T {name} = {text};" for name, text in listing.derived]
    lines += [f"    all__[{k}] = {name};" for k, name in enumerate(listing.all_parameters)]
    lines += [f"    u__[{k}] = {text};" for k, text in enumerate(listing.inputs)]
    return _function(
        "parameters_and_inputs",
        "const T &t, const Parameters &given__",
        "T *all__, T *u__",
        ["given__", "all__", "u__"],
        lines,
    )


def _solve(listing: Listing) -> list[str]:
    eq = listing.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    size = n + m
    rows = f", rows[{m}]" if m else ""
    return [
        "/** q' and v', and the multipliers if lam is not null; other arguments as for rhs. */",
        "template <class T>",
        "State<T> solve(const T &t, const State<T> &y, const Parameters &p, const T *u, T *lam)",
        "{",
        "    using std::fabs;",
        f"    T M[{n * n}], f[{n}], G[{max(m * n, 1)}], c[{max(m, 1)}];",
        f"    T a[{size * size}], b[{size}], x[{size}]{rows};",
        f"    T all[{max(len(eq.p), 1)}] = {{}}, given[{max(len(eq.u), 1)}] = {{}}, scale = 0.0;",
        f"    int order[{size}];",
        "    State<T> ydot;",
        "    parameters_and_inputs(t, p, all, given);",
        f"    dynamics<T>(t, y.data(), y.data() + {k}, u ? u : given, all, M, f, ydot.data(), G, c);",
        *system_lines(n, m, "T"),
        f"    for (int i = 0; i < {n}; ++i) ydot[{k} + i] = x[i];",
        f"    for (int r = 0; lam && r < {m}; ++r) lam[r] = scale * x[{n} + r] / rows[r];" if m else "    (void)lam;",
        "    return ydot;",
        "}",
        "",
        "/** y' at the time t; p: parameters, u: inputs, or null for those of the model. */",
        "template <class T>",
        "State<T> rhs(const T &t, const State<T> &y, const Parameters &p = {}, const T *u = nullptr)",
        "{",
        "    return solve<T>(t, y, p, u, nullptr);",
        "}",
        "",
    ]


def _residuals(listing: Listing) -> list[str]:
    b, eq = listing.block, listing.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    lines = _function(
        "constraints",
        "const T &t, " + ", ".join(f"const T *{b[x]}" for x in ("q", "v", "u", "p")),
        ", ".join(f"T *{b[x]}" for x in ("g", "G", "b")),
        [b[x] for x in ("q", "v", "u", "p", "G", "b")],
        c_body(listing.residuals(), [b["G"]], "T"),
    )
    return [
        *lines,
        "/** g, then G v - b, which are zero where the constraints hold. */",
        "template <class T>",
        f"std::array<T, {listing.gaps + m}> residuals(const T &t, const State<T> &y, const Parameters &p = {{}})",
        "{",
        f"    T all[{max(len(eq.p), 1)}] = {{}}, given[{max(len(eq.u), 1)}] = {{}};",
        f"    T G[{max(m * n, 1)}], b[{max(m, 1)}];",
        f"    std::array<T, {listing.gaps + m}> out;",
        "    parameters_and_inputs(t, p, all, given);",
        f"    constraints<T>(t, y.data(), y.data() + {k}, given, all, out.data(), G, b);",
        f"    for (int r = 0; r < {m}; ++r) {{",
        f"        out[{listing.gaps} + r] = -b[r];",
        f"        for (int j = 0; j < {n}; ++j) out[{listing.gaps} + r] += G[r * {n} + j] * y[{k} + j];",
        "    }",
        "    return out;",
        "}",
        "",
    ]
