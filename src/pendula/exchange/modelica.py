"""Equations as a Modelica model: parameters, states with their initial values, and equations.

Modelica has no statement for a matrix equation in derivatives of scalars with names, so each row of
M v' = f + G^T lam is written out. Closed loops keep the acceleration form G v' = c with Baumgarte's terms, which
vanish where the loops are closed, so that every tool integrates an ordinary differential equation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pendula.equations.equations import Equations
from pendula.equations.matrix import entries
from pendula.equations.printing import code
from pendula.equations.printing.programs.listing import Listing, identifier
from pendula.equations.tape import is_zero
from pendula.errors import NotSupported
from pendula.exchange import refusals

_RESERVED = """
    algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else
    elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for function if
    import impure in initial inner input loop model not operator or outer output package parameter partial protected
    public pure record redeclare replaceable return stream then true type when while within time Real Integer Boolean
    String stabilization pre edge change reinit sample delay noEvent smooth homotopy
"""
MODELICA = code.Language(
    "modelica",
    renamed={"abs": "abs"},
    pi="3.14159265358979323846",
    power="{}^{}",
    choice="(if {test} then {this} else {other})",
    both=" and ",
    either=" or ",
    negation="(not {})",
    truths=("false", "true"),
    integers=True,
    reserved=frozenset(_RESERVED.split()),
)

STABILIZATION = 10.0
"""default rate of Baumgarte's terms, per unit of time"""

_NOT_BUILT_IN = {
    "asinh": "y := log(x + sqrt(x^2 + 1));",
    "acosh": "y := log(x + sqrt(x^2 - 1));",
    "atanh": "y := log((1 + x)/(1 - x))/2;",
    "erf": """\
a := min(abs(x), 6);
    b := min(a, 2.5);
    term := b; series := b;
    for k in 1:100 loop
      term := -term*b*b/k; series := series + term/(2*k + 1);
    end for;
    b := max(a, 2.5); tail := b;
    for k in 1:60 loop
      tail := b + (61 - k)/2/tail;
    end for;
    y := (if x < 0 then -1 else 1)*(if a < 2.5 then 1.1283791670955126*series
      else 1 - 0.5641895835477563*exp(-a*a)/tail);""",
}
"""functions that Modelica lacks, by their algorithms"""


def write_modelica(eq: Equations, *, name: str = "") -> str:
    """Equations as the text of a Modelica model.

    Args:
        eq: the equations.
        name: of the model; default: the name of the mechanism.
    """
    listing = Listing(eq, MODELICA)
    listing.language = replace(listing.language, spelled={**listing.language.spelled, "t": "time"})
    title = identifier(name or eq.model.name, MODELICA.reserved)
    multipliers = [f"lam__{r + 1}" for r in range(eq.loop_rows)]
    body = ["equation", *_equations(listing, multipliers)]
    declared = [*_parameters(listing), *_variables(listing, multipliers)]
    text = "\n".join([*declared, *body])
    functions = [line for n, a in _NOT_BUILT_IN.items() if f"{n}(" in text for line in _function(n, a)]
    head = [f"// {line}".rstrip() for line in listing.head()]
    return "\n".join([*head, f'model {title} "{_quoted(eq.model.name)}"', *functions, text, f"end {title};"])


def _function(name: str, algorithm: str) -> list[str]:
    local = ["  protected", "    Real a, b, term, series, tail;"] if "term" in algorithm else []
    head = [f"  function {name}", "    input Real x;", "    output Real y;", *local]
    return [*head, "  algorithm", f"    {algorithm}", f"  end {name};"]


def _quoted(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')


def _unit(listing: Listing, name: str) -> str:
    """The attribute that states a unit, in Modelica's notation; for SI units alone, which all tools know."""
    unit = listing.units().get(name, "")
    if not unit or listing.eq.model.units != "m-kg-s":
        return ""
    return f'unit="{unit.replace("^", "").replace(" ", ".")}"'


def _declaration(kind: str, listing: Listing, name: str, more: str = "", value: str = "") -> str:
    inside = ", ".join(x for x in (more, _unit(listing, name)) if x)
    stated = listing.units().get(name, "")
    words = f' "[{stated}]"' if stated and not _unit(listing, name) else ""
    return f"  {kind} {listing.name(name)}{f'({inside})' if inside else ''}{f' = {value}' if value else ''}{words};"


def _parameters(listing: Listing) -> Iterator[str]:
    for name, value in listing.independent.items():
        yield _declaration("parameter Real", listing, name, value=repr(value))
    original = {listing.name(n): n for n in listing.eq.model.parameters}
    for name, text in listing.derived:
        yield _declaration("final parameter Real", listing, original[name], value=text)
    if listing.eq.loop_rows:
        yield f'  parameter Real stabilization = {STABILIZATION} "rate at which gaps of closed loops decay";'


def _variables(listing: Listing, multipliers: list[str]) -> Iterator[str]:
    from pendula.system.build import compile_system
    from pendula.system.loops.assembly import assemble
    from pendula.system.loops.mobility import independent_rows

    eq = listing.eq
    system = compile_system(eq)
    if eq.loop_rows and independent_rows(system) < eq.loop_rows:
        raise NotSupported(refusals.MODELICA_REDUNDANT, model=eq.model.name)
    start = assemble(system).state
    for symbol, value in zip((*eq.q, *eq.v), (*start.q.tolist(), *start.v.tolist()), strict=True):
        yield _declaration("Real", listing, str(symbol), f"start={value!r}, fixed=true")
    for symbol, text in zip(eq.u, listing.inputs, strict=True):
        yield f'  Real {listing.name(symbol)} = {text} "input: a modification drives it otherwise";'
    for name, what in zip(multipliers, eq.constraint_names, strict=False):
        yield f'  Real {name} "multiplier of {_quoted(what)}";'
    for k, what in enumerate(eq.constraint_names):
        yield f'  Real gap__{k + 1} "{_quoted(what)}";'
    yield from (f"  Real {name};" for name, _ in listing.dynamics().definitions + _more(listing))


def _more(listing: Listing) -> tuple[tuple[str, str], ...]:
    """Intermediates that only the residuals need."""
    known = {name for name, _ in listing.dynamics().definitions}
    return tuple(pair for pair in listing.residuals().definitions if pair[0] not in known)


def _equations(listing: Listing, multipliers: list[str]) -> Iterator[str]:
    eq = listing.eq

    def text(e: object) -> str:
        return listing.write(listing.shown(e))

    for name, definition in listing.dynamics().definitions + _more(listing):
        yield f"  {name} = {definition};"
    for symbol, rate in zip(eq.q, eq.qdot, strict=True):
        yield f"  der({listing.name(symbol)}) = {text(rate)};"
    force = [text(x) if not listing.form.small else "" for x in eq.f]
    if listing.form.small:
        force = ["0"] * len(eq.v)
        for array, k, written in listing.dynamics().stored:
            if array == listing.block["f"]:
                force[k] = written
    accelerations = [f"der({listing.name(s)})" for s in eq.v]
    rows: list[list[str]] = [[] for _ in eq.v]
    for i, j, x in entries(eq.M):
        if not is_zero(x):
            rows[i].append(f"({text(x)})*{accelerations[j]}")
    pulls: list[list[str]] = [[] for _ in eq.v]
    sums: list[list[str]] = [[] for _ in multipliers]
    speeds: list[list[str]] = [[] for _ in multipliers]
    for r, j, x in entries(eq.G):
        if not is_zero(x):
            pulls[j].append(f" + ({text(x)})*{multipliers[r]}")
            sums[r].append(f"({text(x)})*{accelerations[j]}")
            speeds[r].append(f"({text(x)})*{listing.name(eq.v[j])}")
    for row, right, pull in zip(rows, force, pulls, strict=True):
        yield f"  {' + '.join(row) or '0'} = {right}{''.join(pull)};"
    for r, (row, speed) in enumerate(zip(sums, speeds, strict=True)):
        decay = f"2*stabilization*({' + '.join(speed) or '0'} - ({text(eq.b[r])})) + stabilization^2*gap__{r + 1}"
        yield f"  {' + '.join(row) or '0'} = {text(eq.c[r])} - ({decay});"
    for k, gap in enumerate(eq.g):
        yield f"  gap__{k + 1} = {text(gap)};"
