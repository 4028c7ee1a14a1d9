"""Equations as a C99 program that needs only the C math library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pendula.equations.equations import Equations
from pendula.equations.printing import code
from pendula.equations.printing.programs.listing import Body, Listing

_RESERVED = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    pow fabs fmin fmax exp log sqrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf floor
    ceil M_PI NULL constraints
    gamma j0 j1 jn y0 y1 yn drem significand isnan isinf finite lgamma signgam abs div exit time index
"""
C = replace(code.C, reserved=frozenset(_RESERVED.split()))

LARGE = 120
"""Unknowns of the linear system above which the C program keeps it in static memory."""


def write_c(eq: Equations) -> str:
    """Equations as a C99 program: ``rhs(t, y, p, u, ydot)`` gives the derivative of the state."""
    listing = Listing(eq, C)
    b, body = listing.block, listing.dynamics()
    head = [line.replace("*/", "* /") for line in listing.head()]
    lines = ["/* " + head[0], *(f"   {line}".rstrip() for line in head[1:])]
    lines += [f"   p of rhs: {', '.join(listing.independent) or 'none'} */", "#include <math.h>"]
    lines += ["#include <stddef.h>", "#ifndef M_PI", "#define M_PI 3.14159265358979323846", "#endif", ""]
    values = ", ".join(repr(x) for x in listing.independent.values()) or "0.0"
    lines += [f"const double PARAMETERS[] = {{{values}}};", ""]
    given = ", ".join(f"const double *{b[x]}" for x in ("q", "v", "u", "p"))
    results = ", ".join(f"double *{x} /* {size} */" for x, size in body.sizes.items())
    lines += [f"void dynamics(double t, {given},", f"              {results})", "{"]
    lines.append("    " + " ".join(f"(void){x};" for x in ("t", *(b[x] for x in ("q", "v", "u", "p", "G", "c")))))
    lines += [*c_body(body, [b["M"], b["G"]]), "}", ""]
    lines += [*_parameters(listing), *SOLVE.splitlines(), "", *_solve(listing)]
    return "\n".join([*lines, *(["", *_residuals(listing)] if listing.gaps else [])])


def c_body(body: Body, cleared: Sequence[str], number: str = "double") -> list[str]:
    """The statements of a function; arrays that are mostly zero are cleared first."""
    lines = [f"    const {number} {name} = {array}[{k}];" for name, array, k in body.unpacked]
    lines += [f"    const {number} {name} = {text};" for name, text in body.definitions]
    for array in cleared:
        size = body.sizes[array]
        lines += [f"    for (int i__ = 0; i__ < {size}; ++i__) {array}[i__] = 0.0;"] if size else []
    lines += [f"    {array}[{k}] = 0.0;" for array, k in body.zeros if array not in cleared]
    return [*lines, *(f"    {array}[{k}] = {text};" for array, k, text in body.stored)]


def _parameters(listing: Listing) -> list[str]:
    lines = ["static void parameters_and_inputs(double t, const double *given__, double *all__, double *u__)", "{"]
    lines.append("    (void)t; (void)given__; (void)all__; (void)u__;")
    place = {n: k for k, n in enumerate(listing.independent)}
    lines += [f"    const double {listing.name(n)} = given__[{place[n]}];" for n in listing.read_parameters]
    lines += [f"    const double {name} = {text};" for name, text in listing.derived]
    lines += [f"    all__[{k}] = {name};" for k, name in enumerate(listing.all_parameters)]
    return [*lines, *(f"    u__[{k}] = {text};" for k, text in enumerate(listing.inputs)), "}", ""]


SOLVE = """/* Solves a x = b by elimination with complete pivoting, without dependent equations. Overwrites a and b. */
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


def system_lines(n: int, m: int, number: str = "double") -> list[str]:
    """Statements that fill and solve [M -G^T; G 0] (v', lam) = (f, c) in arrays a, b, x, scaled."""
    size = n + m
    lines = [
        f"    for (int i = 0; i < {n * n}; ++i) if (fabs(M[i]) > scale) scale = fabs(M[i]);",
        f"    for (int i = 0; i < {size * size}; ++i) a[i] = 0.0;",
        f"    for (int i = 0; i < {n}; ++i) {{",
        f"        for (int j = 0; j < {n}; ++j) a[i * {size} + j] = M[i * {n} + j] / scale;",
        "        b[i] = f[i] / scale;",
        "    }",
    ]
    if m:
        lines += [
            f"    {number} reach = 0.0;",
            f"    for (int j = 0; j < {m * n}; ++j) if (fabs(G[j]) > reach) reach = fabs(G[j]);",
            f"    for (int r = 0; r < {m}; ++r) {{",
            f"        {number} largest = 0.0;",
            f"        for (int j = r * {n}; j < (r + 1) * {n}; ++j) if (fabs(G[j]) > largest) largest = fabs(G[j]);",
            "        if (!(largest > 1e-13 * reach)) largest = reach; /* rounding is not scaled up */",
            f"        for (int j = 0; j < {n}; ++j) {{",
            f"            a[({n} + r) * {size} + j] = G[r * {n} + j] / largest;",
            f"            a[j * {size} + {n} + r] = -G[r * {n} + j] / largest;",
            "        }",
            f"        b[{n} + r] = c[r] / largest;",
            "        rows[r] = largest;",
            "    }",
        ]
    return [*lines, f"    solve_linear({size}, a, b, order, x);"]


def _solve(listing: Listing) -> list[str]:
    eq = listing.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    size = n + m
    memory = "static double" if size > LARGE else "double"
    rows = f", rows[{m}]" if m else ""
    return [
        "/* q' and v' as ydot, and the multipliers lam (or NULL) at the time t; other arguments as for rhs. */",
        "void solve(double t, const double *y, const double *p, const double *u, double *ydot, double *lam)",
        "{",
        f"    {memory} M[{n * n}], f[{n}], G[{max(m * n, 1)}], c[{max(m, 1)}];",
        f"    {memory} a[{size * size}], b[{size}], x[{size}]{rows};",
        f"    double all[{max(len(eq.p), 1)}] = {{0.0}}, given[{max(len(eq.u), 1)}] = {{0.0}}, scale = 0.0;",
        f"    int order[{size}];",
        "    parameters_and_inputs(t, p == NULL ? PARAMETERS : p, all, given);",
        f"    dynamics(t, y, y + {k}, u == NULL ? given : u, all, M, f, ydot, G, c);",
        *system_lines(n, m),
        f"    for (int i = 0; i < {n}; ++i) ydot[{k} + i] = x[i];",
        *(
            [f"    for (int r = 0; lam != NULL && r < {m}; ++r) lam[r] = scale * x[{n} + r] / rows[r];"]
            if m
            else ["    (void)lam;"]
        ),
        "}",
        "",
        "/* y' at the time t; p: parameters, or NULL for PARAMETERS; u: inputs, or NULL for those of the model. */",
        "void rhs(double t, const double *y, const double *p, const double *u, double *ydot)",
        "{",
        "    solve(t, y, p, u, ydot, NULL);",
        "}",
    ]


def _residuals(listing: Listing) -> list[str]:
    b, eq = listing.block, listing.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    given = ", ".join(f"const double *{b[x]}" for x in ("q", "v", "u", "p"))
    results = f"double *{b['g']}, double *{b['G']}, double *{b['b']}"
    unused = " ".join(f"(void){x};" for x in ("t", *(b[x] for x in ("q", "v", "u", "p", "G", "b"))))
    return [
        f"static void constraints(double t, {given}, {results})",
        "{",
        f"    {unused}",
        *c_body(listing.residuals(), [b["G"]]),
        "}",
        "",
        f"/* out: g ({listing.gaps}), then G v - b ({m}); zero where the constraints hold. */",
        "void residuals(double t, const double *y, const double *p, double *out)",
        "{",
        f"    double all[{max(len(eq.p), 1)}] = {{0.0}}, given[{max(len(eq.u), 1)}] = {{0.0}};",
        f"    {'static ' if m * n > LARGE * LARGE else ''}double G[{max(m * n, 1)}];",
        f"    double b[{max(m, 1)}];",
        "    parameters_and_inputs(t, p == NULL ? PARAMETERS : p, all, given);",
        f"    constraints(t, y, y + {k}, given, all, out, G, b);",
        *(
            [
                f"    for (int r = 0; r < {m}; ++r) {{",
                "        double sum = -b[r];",
                f"        for (int j = 0; j < {n}; ++j) sum += G[r * {n} + j] * y[{k} + j];",
                f"        out[{listing.gaps} + r] = sum;",
                "    }",
            ]
            if m
            else []
        ),
        "}",
    ]
