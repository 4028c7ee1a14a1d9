"""Equations as one function file for MATLAB and Octave."""

from __future__ import annotations

from pendula.equations.equations import Equations
from pendula.equations.printing import code
from pendula.equations.printing.programs.listing import Body, Listing, identifier

_RESERVED = """
    break case catch classdef continue do else elseif end endfunction endif endwhile endfor for function global if
    methods otherwise parfor persistent properties return spmd switch try until unwind_protect while ans pi i j
    inf nan eps zeros reshape max abs pinv struct isfield fieldnames isempty error nargin numel constraints select
    true false Inf NaN
"""
MATLAB = code.Language(
    "matlab",
    renamed={"abs": "abs"},
    pi="pi",
    power="{}^{}",
    choice="select({test}, {this}, {other})",
    negation="(~{})",
    truths=("false", "true"),
    integers=True,
    reserved=frozenset(_RESERVED.split()),
)
LONGEST = 63
"""characters of a name in MATLAB"""

_SELECT = """\
function value = select(test, first, second)
  if test, value = first; else, value = second; end
end
"""


def write_matlab(eq: Equations, *, name: str = "") -> str:
    """Equations as a function file: ``program = NAME()``, then ``program.rhs(t, y, p, u)``.

    Args:
        eq: the equations.
        name: of the function, which is that of the file; default: the name of the model.
    """
    listing = Listing(eq, MATLAB, LONGEST)
    title = identifier(name or eq.model.name, MATLAB.reserved)[:LONGEST]
    handles = ["rhs", "solve", "dynamics", *(["residuals"] if listing.gaps else [])]
    lines = [f"function program = {title}()", *(f"% {line}".rstrip() for line in listing.head())]
    lines += ["%", f"% program = {title}(); [t, y] = ode45(@(t, y) program.rhs(t, y), [0 1], start);"]
    lines += ["  program.parameters = defaults();", *(f"  program.{x} = @{x};" for x in handles), "end", ""]
    lines += ["function p = defaults()", "  p = struct();"]
    lines += [f"  p.{listing.name(n)} = {value!r};" for n, value in listing.independent.items()] + ["end", ""]
    lines += [*_function("dynamics", listing, listing.dynamics()), *_parameters(listing), *_solve(listing)]
    lines += _residuals(listing) if listing.gaps else []
    return "\n".join([*lines, *(_SELECT.splitlines() if any("select(" in line for line in lines) else [])])


def _function(name: str, listing: Listing, body: Body) -> list[str]:
    lines = [f"function [{', '.join(body.sizes)}] = {name}({', '.join(listing.arguments)})"]
    lines += [f"  {name} = {array}({k + 1});" for name, array, k in body.unpacked]
    lines += [f"  {name} = {text};" for name, text in body.definitions]
    lines += [f"  {array} = zeros({size}, 1);" for array, size in body.sizes.items()]
    return [*lines, *(f"  {array}({k + 1}) = {text};" for array, k, text in body.stored), "end", ""]


def _parameters(listing: Listing) -> list[str]:
    lines = [
        "function [all__, u__] = parameters_and_inputs(t, changes__)",
        "  values__ = defaults();",
        "  if ~isempty(changes__)",
        "    names__ = fieldnames(changes__);",
        "    for k__ = 1:numel(names__)",
        "      if ~isfield(values__, names__{k__}), error('unknown parameter: %s', names__{k__}); end",
        "      values__.(names__{k__}) = changes__.(names__{k__});",
        "    end",
        "  end",
    ]
    lines += [f"  {listing.name(n)} = values__.{listing.name(n)};" for n in listing.independent]
    lines += [f"  {name} = {text};" for name, text in listing.derived]
    lines.append(f"  all__ = [{'; '.join(listing.all_parameters)}];")
    return [*lines, f"  u__ = [{'; '.join(listing.inputs)}];", "end", ""]


def _solve(listing: Listing) -> list[str]:
    n, k, m = len(listing.eq.v), len(listing.eq.q), listing.eq.loop_rows
    lines = [
        "function [qdot, vdot, lam] = solve(t, y, p, u)",
        "% q', v' and the multipliers at the time t; arguments as for rhs",
        "  if nargin < 3, p = []; end",
        "  [all_values, given] = parameters_and_inputs(t, p);",
        "  if nargin >= 4 && ~isempty(u), given = u; end",
        f"  [M, f, qdot, G, c] = dynamics(t, y(1:{k}), y({k + 1}:{k + n}), given, all_values);",
        f"  M = reshape(M, {n}, {n})';",
    ]
    if m:
        lines += [
            f"  G = reshape(G, {n}, {m})';",
            "  % [M -G'; G 0] [v'; lam] = [f; c], scaled; rows of G may depend on each other",
            "  scale = max(abs(M(:)));",
            "  rows = max(abs(G), [], 2);",
            "  rows(rows <= 1e-13 * max(rows)) = max(rows);  % rounding is not scaled up",
            f"  matrix = [M / scale, -(G ./ rows)'; G ./ rows, zeros({m}, {m})];",
            "  if rcond(matrix) > 1e-12",
            "    unknowns = matrix \\ [f / scale; c ./ rows];",
            "  else",
            "    unknowns = pinv(matrix, 1e-12 * norm(matrix)) * [f / scale; c ./ rows];",
            "  end",
            f"  vdot = unknowns(1:{n});",
            f"  lam = scale * unknowns({n + 1}:end) ./ rows;",
        ]
    else:
        lines += ["  vdot = M \\ f;", "  lam = zeros(0, 1);"]
    return [
        *lines,
        "end",
        "",
        "function ydot = rhs(t, y, p, u)",
        "% y' at the time t; p: struct of parameters that differ (or []), u: inputs in their order (or [])",
        "  if nargin < 3, p = []; end",
        "  if nargin < 4, u = []; end",
        "  [qdot, vdot] = solve(t, y, p, u);",
        "  ydot = [qdot; vdot];",
        "end",
        "",
    ]


def _residuals(listing: Listing) -> list[str]:
    eq = listing.eq
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    speed = f"reshape(G, {n}, {m})' * y({k + 1}:{k + n}) - b" if m else "zeros(0, 1)"
    return [
        *_function("constraints", listing, listing.residuals()),
        "function [g, speed] = residuals(t, y, p)",
        "% g and G v - b, which are zero where the constraints hold; arguments as for rhs",
        "  if nargin < 3, p = []; end",
        "  [all_values, given] = parameters_and_inputs(t, p);",
        f"  [g, G, b] = constraints(t, y(1:{k}), y({k + 1}:{k + n}), given, all_values);",
        f"  speed = {speed};",
        "end",
        "",
    ]
