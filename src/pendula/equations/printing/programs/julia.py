"""Equations as a Julia module that needs only the standard library."""

from __future__ import annotations

from pendula.equations.equations import Equations
from pendula.equations.printing import code
from pendula.equations.printing.programs.listing import Body, Listing, identifier

_RESERVED = """
    abstract baremodule begin break catch const continue do else elseif end export false finally for function global if
    import in isa let local macro module mutable nothing outer primitive quote return struct true try type using
    where while ans pi im NaN Inf Float64 Vector zeros reshape vcat pinv maximum abs merge keys haskey error erf atan
    constraints transpose LinearAlgebra eltype promote_type typeof length view
"""
JULIA = code.Language(
    "julia",
    renamed={"abs": "abs", "atan2": "atan"},
    pi="pi",
    power="{}^{}",
    truths=("false", "true"),
    integers=True,
    reserved=frozenset(_RESERVED.split()),
)

_ERF = """\
"The error function, by its series and by its continued fraction (Abramowitz and Stegun, 7.1.5 and 7.1.14)."
function erf(x)
    a = abs(x)
    a >= 6 && return sign(x) * one(x)
    if a < 2.5
        term = total = x
        k = 1
        while abs(term) > 1e-17 * abs(total)
            term *= -x * x / k
            total += term / (2k + 1)
            k += 1
        end
        return 2 / sqrt(pi) * total
    end
    tail = a
    for k in 60:-1:1
        tail = a + k / 2 / tail
    end
    return sign(x) * (1 - exp(-a * a) / (sqrt(pi) * tail))
end
"""


def write_julia(eq: Equations, *, name: str = "") -> str:
    """Equations as a Julia module: ``rhs(t, y, p, u)`` is the derivative of the state.

    Args:
        eq: the equations.
        name: of the module; default: the name of the model.
    """
    listing = Listing(eq, JULIA)
    title = "".join(word.capitalize() for word in identifier(name or eq.model.name).split("_"))
    title = identifier(title, {"Module", "Main", "Base", "Core"})
    values = ", ".join(f"{listing.name(n)} = {value!r}" for n, value in listing.independent.items())
    body = listing.dynamics()
    results = ", ".join(body.sizes)
    lines = [f"# {line}".rstrip() for line in listing.head()]
    lines += [f"module {title}", "", "using LinearAlgebra", "", "export rhs, rhs!, PARAMETERS", ""]
    lines += ['"Independent parameters with the values of the model."', f"const PARAMETERS = (; {values})", ""]
    lines += [f'"{results}; matrices by rows."', f"function dynamics({', '.join(listing.arguments)})"]
    lines += [*_body(listing, body), f"    return {results}", "end", "", *_parameters(listing), *_solve(listing)]
    lines += _residuals(listing) if listing.gaps else []
    if any("erf(" in line for line in lines):
        lines += _ERF.splitlines() + [""]
    return "\n".join([*lines, f"end  # module {title}"])


def _body(listing: Listing, body: Body) -> list[str]:
    lines = [f"    {name} = {array}[{k + 1}]" for name, array, k in body.unpacked]
    lines += [f"    {name} = {text}" for name, text in body.definitions]
    types = ", ".join(f"eltype({array})" for array in listing.arguments[1:])
    lines.append(f"    T__ = promote_type(Float64, typeof(t), {types})")
    lines += [f"    {array} = zeros(T__, {size})" for array, size in body.sizes.items()]
    return [*lines, *(f"    {array}[{k + 1}] = {text}" for array, k, text in body.stored)]


def _parameters(listing: Listing) -> list[str]:
    lines = [
        '"All parameters in their order, and the inputs at a time."',
        "function parameters_and_inputs(t, changes__)",
    ]
    lines += ["    values__ = merge(PARAMETERS, changes__)"]
    lines += ['    length(values__) > length(PARAMETERS) && error("unknown parameters in $(keys(changes__))")']
    lines += [f"    {listing.name(n)} = values__.{listing.name(n)}" for n in listing.independent]
    lines += [f"    {name} = {text}" for name, text in listing.derived]
    found = [f"{'' if x else 'Float64'}[{', '.join(x)}]" for x in (listing.all_parameters, listing.inputs)]
    return [*lines, f"    return {', '.join(found)}", "end", ""]


def _solve(listing: Listing) -> list[str]:
    n, k, m = len(listing.eq.v), len(listing.eq.q), listing.eq.loop_rows
    lines = [
        "\"q', v' and the multipliers at the time t; arguments as for rhs.\"",
        "function solve(t, y, p = (;), u = nothing)",
        "    parameters, given = parameters_and_inputs(t, p)",
        f"    M, f, qdot, G, c = dynamics(t, y[1:{k}], y[{k + 1}:{k + n}], u === nothing ? given : u, parameters)",
        f"    M = transpose(reshape(M, {n}, {n}))",
    ]
    if m:
        lines += [
            f"    G = transpose(reshape(G, {n}, {m}))",
            "    # [M -G'; G 0] (v', lam) = (f, c), scaled; rows of G may depend on each other.",
            "    size, rows = maximum(abs, M), maximum(abs, G, dims = 2)[:, 1]",
            "    rows[rows .<= 1e-13 * maximum(rows)] .= maximum(rows)  # rounding is not scaled up",
            "    G, c = G ./ rows, c ./ rows",
            f"    matrix = [M / size -transpose(G); G zeros({m}, {m})]",
            "    unknowns = pinv(matrix, rtol = 1e-12) * [f / size; c]",
            f"    return qdot, unknowns[1:{n}], size * unknowns[{n + 1}:end] ./ rows",
        ]
    else:
        lines.append("    return qdot, M \\ f, zeros(0)")
    return [
        *lines,
        "end",
        "",
        '"y\' at the time t; p: parameters that differ, as a named tuple; u: inputs in their order."',
        "function rhs(t, y, p = (;), u = nothing)",
        "    qdot, vdot, _ = solve(t, y, p, u)",
        "    return vcat(qdot, vdot)",
        "end",
        "",
        '"The same in the form that DifferentialEquations.jl expects."',
        "rhs!(dy, y, p, t) = (dy .= rhs(t, y, p); nothing)",
        "",
    ]


def _residuals(listing: Listing) -> list[str]:
    eq, body = listing.eq, listing.residuals()
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    speed = f"transpose(reshape(G, {n}, {m})) * y[{k + 1}:{k + n}] - b" if m else "zeros(0)"
    return [
        f"function constraints({', '.join(listing.arguments)})",
        *_body(listing, body),
        f"    return {', '.join(body.sizes)}",
        "end",
        "",
        '"g and G v - b, which are zero where the constraints hold; arguments as for rhs."',
        "function residuals(t, y, p = (;))",
        "    parameters, given = parameters_and_inputs(t, p)",
        f"    g, G, b = constraints(t, y[1:{k}], y[{k + 1}:{k + n}], given, parameters)",
        f"    return g, {speed}",
        "end",
        "",
    ]
