"""The C source of an FMU: generated functions, the engine, and the interface of one version of FMI."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import symengine as se

from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.errors import NotSupported
from pendula.exchange import refusals
from pendula.exchange.blocks import Blocks, blocks_of
from pendula.exchange.fmu.closing import checks_of, closing_part, given_start
from pendula.exchange.fmu.undetermined import undetermined_outputs
from pendula.exchange.fmu.variables import Output, Variable, outputs_of, start_expressions, variables_of
from pendula.model.model import Model
from pendula.simulation.defaults import TOLERANCE
from pendula.system.code.c import C, number
from pendula.system.code.c import array as c_array
from pendula.system.code.javascript import Script

MOST_SPEEDS = 60
"""largest number of speeds: M fills with their square, and every step factorizes it"""
MOST_OPERATIONS = 60_000
"""largest number of operations of the equations"""
MOST_WITH_REACTIONS = 12
"""speeds up to which reactions at joints are outputs by default"""


@dataclass(frozen=True)
class Source:
    """The content of an FMU, before it is compiled.

    Attributes:
        equations: the equations in it.
        variables: the variables in the order of their value references.
        token: a hash of the source: GUID or instantiation token.
        text: the C source.
        notes: what it does not hold.
    """

    equations: Equations
    variables: tuple[Variable, ...]
    token: str
    text: str
    notes: tuple[str, ...]


def write_source(model: Model, fmi: int, formulation: str | None = None) -> Source:
    """The C source of a model for a version of FMI.

    Raises:
        NotSupported: the model is too large: an FMU holds equations, and the recursion over bodies has no C.
    """
    eq, left_out = _equations(model, formulation)
    blocks = blocks_of(eq, None, "export")
    open_forces = undetermined_outputs(eq)
    outputs = outputs_of(eq, open_forces)
    variables = variables_of(eq, blocks, outputs)
    counts = f"{len(eq.q) + len(eq.v)} states, {len(blocks.parameters)} parameters, {len(eq.u)} inputs"
    notes = (f"equations by {eq.formulation}: {counts}", *left_out)
    if open_forces:
        notes += (f"not among the outputs: {', '.join(open_forces)}; redundant loops leave these forces undetermined",)
    body = _generated(eq, blocks, outputs, variables)
    rest = [_file("solve.c"), _file("engine.c"), _file("closing.c"), _file(f"fmi{fmi}.c")]
    token = "{" + hashlib.sha256("".join([body, *rest, repr(variables)]).encode()).hexdigest()[:32] + "}"
    head = [f"/* Equations of motion by {_comment(eq.formulation)}, for any C99 compiler. */", "#include <math.h>"]
    text = "\n".join([*head, "#include <stddef.h>", f'#define TOKEN "{token}"', body, *rest])
    return Source(eq, tuple(variables), token, text, notes)


def _equations(model: Model, formulation: str | None) -> tuple[Equations, tuple[str, ...]]:
    """The equations, by Newton and Euler if reactions are cheap, and what is left out."""
    count = len(model.speeds)
    if count > MOST_SPEEDS:
        raise NotSupported(refusals.FMU_SPEEDS, most=MOST_SPEEDS, model=model.name, speeds=count)
    if formulation is not None:
        return derive(model, formulation), ()
    if count <= MOST_WITH_REACTIONS:
        try:
            return derive(model, "newton-euler"), ()
        except NotSupported as error:
            return derive(model), (f"reactions at joints are not among the outputs: {str(error).splitlines()[0]}",)
    why = f"they are only for models of up to {MOST_WITH_REACTIONS} speeds"
    return derive(model), (f"reactions at joints are not among the outputs: {why}",)


def _generated(eq: Equations, blocks: Blocks, outputs: Sequence[Output], variables: Sequence[Variable]) -> str:
    """Sizes, values and functions of one model."""
    low, at = blocks.lowering, blocks.outputs
    given = Given.of(eq.model)
    script = Script(low.program, most=MOST_OPERATIONS + 1, dialect=C)
    inputs = low.inputs()
    dynamics = [*at["M"], *at["f"], *at["qdot"], *at["G"], *at["c"]]
    count = low.program.count(dynamics)
    if count > MOST_OPERATIONS:
        raise NotSupported(refusals.FMU_OPERATIONS, most=MOST_OPERATIONS, model=eq.model.name, operations=count)
    script.add("dynamics", dynamics, inputs=inputs)
    script.add("constraints", [*at["g"][: eq.loop_rows], *at["G"], *at["b"], *at["M"]], inputs=inputs)
    script.add("rates", at["qdot"], inputs=inputs)
    script.add("inputs", at["inputs"], inputs=inputs)
    script.add("start", [low(e) for e in start_expressions(eq, given_start(eq, blocks))], inputs=inputs)
    script.add("derived", [low(se.Symbol(n)) for n, _ in given.derived], inputs=inputs)
    known = low.inputs([*eq.acceleration_symbols, *eq.multiplier_symbols])
    script.add("outputs", [low(se.sympify(o.expression)) for o in outputs], inputs=known)
    sizes = {
        "NQ": len(eq.q),
        "NV": len(eq.v),
        "NU": len(eq.u),
        "ROWS": eq.loop_rows,
        "RANK": len(blocks.rows),
        "NP": len(given.independent),
        "DERIVED": len(given.derived),
        "OUTPUTS": len(outputs),
        "VARIABLES": len(variables),
        "NUMBER_OF_QUATERNIONS": len(eq.quaternions),
    }
    lines = [f"#define {name} {size}" for name, size in sizes.items()]
    lines.append(f"#define TYPICAL_LENGTH {number(blocks.length)}")
    lines.append(f"#define TOLERANCE {number(TOLERANCE)}")
    lines.append(c_array("double", "PARAMETER_START", [number(x) for x in given.independent.values()]))
    lines.append(c_array("double", "STATE_START", [number(x) for x in blocks.start.tolist()]))
    lines.append(c_array("int", "QUATERNIONS", [str(x.first) for x in eq.quaternions]))
    if eq.loop_rows:
        script.add("checks", [low(e) for e in checks_of(eq, blocks.length)], inputs=inputs)
        lines += closing_part(eq)
    return "\n".join([*lines, script.text()])


def _comment(text: str) -> str:
    return "".join(c if c.isalnum() or c in " -_" else "?" for c in text)


def _file(name: str) -> str:
    return resources.files("pendula.exchange.fmu").joinpath(name).read_text(encoding="utf-8")
