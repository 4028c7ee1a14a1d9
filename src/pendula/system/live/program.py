"""The equations of a mechanism as JavaScript functions, for pages that simulate it.

All functions read ``x = [t, q, v]`` and ``p``: the independent parameters, the inputs that are numbers, and
what ``prepare(p)`` computes from both. So a slider that changes a parameter costs one call of ``prepare``.

    dynamics    M (rows; only the upper triangle without loops), f, q', G, c, power, then the rows of prescribed motions
    gaps        g, G, b, M
    rates       q'
    energies    kinetic, potential
    poses       for each body R_WB (rows) and its origin
    pose_rates  their derivatives in time; they are linear in v up to the motion at v = 0
    pushes      generalized forces of weights on the pose rates, which follow in x: forces on points of bodies
    prescribed  value and rate of every prescribed motion
    geometry    numbers of the drawing, from t and p
    events      expressions that a page watches for zeros
    values      all parameters and inputs
    wrenches    force and torque in every joint; x also holds v' and the multipliers
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import symengine as se

from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.equations.translate import translate
from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.system import refusals
from pendula.system.code.javascript import Script, number
from pendula.system.code.lower import Lowering
from pendula.system.code.terms import dynamics_entries, gap_entries
from pendula.system.layout import Layout

MOST_OPERATIONS = 25_000
"""Operations of one evaluation of the accelerations up to which a page runs smoothly.

Browsers run a program slowly until they have optimized it. Measured: a chain of 30 links in the plane has 5,100
operations, a chain of 8 ball-jointed links 18,600 (10 us once optimized), one of 15 links 90,000 (40 ms, for minutes).
"""
GROWTH = 2.6  # operations of a chain in space grow with this power of its bodies

FUNCTIONS = ("dynamics", "gaps", "rates", "energies", "poses", "pose_rates", "pushes", "prescribed")
ON_TOP = ("geometry", "values", "events")  # what a drawing, sliders and marks show


@dataclass(frozen=True)
class LiveProgram:
    """A mechanism as JavaScript.

    Attributes:
        equations: the equations it was written from.
        script: text of a JavaScript expression, an object of functions.
        wrenches: the same for forces in joints; empty if there are none.
        joints: the joints of ``wrenches``.
        sizes: numbers that describe the arrays.
        adjustable: parameters and inputs that a page may change, in the order of ``p``, with their values.
        idle: those among them that change neither motion nor drawing.
        layout: names and units of coordinates and speeds.
    """

    equations: Equations
    script: str
    wrenches: str
    joints: tuple[str, ...]
    sizes: Mapping[str, Any]
    adjustable: Mapping[str, float]
    idle: tuple[str, ...]
    layout: Layout


def write_live(
    model: Model, *, geometry: Sequence[Any] = (), events: Sequence[Any] = (), wrenches: bool = True
) -> LiveProgram:
    """A mechanism as JavaScript functions, by Kane's equations.

    Args:
        model: the mechanism.
        geometry: expressions of time and parameters (scalars of the model) that ``geometry`` evaluates.
        events: symbolic expressions of time, state, inputs and parameters that ``events`` evaluates.
        wrenches: whether to write forces in joints, too.

    Raises:
        NotSupported: the equations are too long for a browser to run smoothly.
    """
    eq = derive(model)
    model = eq.model  # with feedback laws among the forces
    given = Given.of(model)
    low, adjustable = _lowering(eq, given)
    script = Script(low.program)
    computed = {}
    for name, entries in _entries(eq).items():
        computed[name] = [low(e) for e in entries]
        if name == "dynamics":
            _check_length(model, len(low.program.needed(computed[name])))
    for name, values in computed.items():
        script.add(name, values, inputs=low.inputs())
    moved = _pose_rates(eq, low)
    script.add("pose_rates", moved, inputs=low.inputs())
    weights = [se.Symbol(f"weight {k}") for k in range(len(moved))]  # no name of a model has a space
    known_inputs = low.inputs(weights)
    pushed = low.program.transpose(moved, known_inputs[-len(moved) :], [low(s) for s in eq.v]) if moved else []
    script.add("pushes", pushed, inputs=known_inputs)
    known = {name: se.Symbol(name) for name in model.parameters} | {"t": eq.t}
    drawn = [low(se.sympify(translate(parse(x), known))) for x in geometry]
    script.add("geometry", drawn, inputs=low.inputs())
    names = [*model.parameters, *model.inputs]
    script.add("values", [low(se.Symbol(name)) for name in names], inputs=low.inputs())
    used = {*low.program.needed([x for values in (*computed.values(), drawn) for x in values])}
    idle = tuple(name for name in adjustable if low(se.Symbol(name)) not in used)
    script.add("events", [low(e) for e in events], inputs=low.inputs())
    forces, joints = _wrenches(model, given) if wrenches else ("", ())
    sizes = {
        "coordinates": len(eq.q),
        "speeds": len(eq.v),
        "rows": eq.loop_rows,
        "drives": len(eq.drives),
        "bodies": len(model.tree),
        "geometry": len(drawn),
        "values": len(names),
        "quaternions": [at.first for at in eq.quaternions],
        "joints": len(joints),
    }
    text = _object(script, (*FUNCTIONS, *ON_TOP))
    return LiveProgram(eq, text, forces, joints, sizes, adjustable, idle, Layout.of(model))


def write_rhs(eq: Equations) -> str:
    """Equations as a JavaScript module: ``rhs(t, y, p)`` is the derivative of ``y = [q, v]``, ``p`` values by name."""
    low, adjustable = _lowering(eq, Given.of(eq.model))
    script = Script(low.program)
    script.add("dynamics", [low(e) for e in _entries(eq)["dynamics"]], inputs=low.inputs())
    return _module(eq, script, adjustable)


def _check_length(model: Model, operations: int) -> None:
    """Rejects a mechanism whose equations are too long, and states how many such bodies would be few enough."""
    if operations <= MOST_OPERATIONS:
        return
    bodies = len(model.bodies)
    fewer = max(1, math.floor(bodies * (MOST_OPERATIONS / operations) ** (1 / GROWTH)))
    raise NotSupported(
        refusals.LIVE_OPERATIONS,
        most=MOST_OPERATIONS,
        model=model.name,
        bodies=bodies,
        operations=operations,
        fewer=fewer,
    )


def _lowering(eq: Equations, given: Given) -> tuple[Lowering, dict[str, float]]:
    """A lowering with the independent parameters and the inputs that are numbers as parameters, and their values."""
    constant = {n: e for n, e in given.inputs.items() if not se.sympify(e).free_symbols}
    values = eq.model.parameter_values
    adjustable = dict(given.independent) | {n: parse(eq.model.inputs[n]).evaluate(values) for n in constant}
    definitions = [(se.Symbol(n), e) for n, e in given.derived]
    definitions += [(se.Symbol(n), e) for n, e in given.inputs.items() if n not in constant]
    symbols = [se.Symbol(name) for name in adjustable]
    return Lowering([eq.t, *eq.q, *eq.v], symbols, (*definitions, *eq.definitions)), adjustable


def _entries(eq: Equations) -> dict[str, list[Any]]:
    """What each function computes; see the head of this module."""
    poses = [x for j in eq.model.tree for x in _flat(*eq.poses[j.child.body])]
    return {
        "dynamics": [0 if e is None else e for e in dynamics_entries(eq)],
        "gaps": gap_entries(eq),
        "rates": [*eq.qdot],
        "energies": [eq.kinetic, eq.potential],
        "poses": poses,
        "prescribed": [x for d in eq.drives for x in (d.position, d.rate)],
    }


def _flat(R: Sequence[Sequence[Any]], r: Sequence[Any]) -> list[Any]:
    return [*(x for row in R for x in row), *r]


def _pose_rates(eq: Equations, low: Lowering) -> list[int]:
    """Derivatives of the poses along the motion: chain rule over time and coordinates."""
    program = low.program
    poses = [low(x) for x in _entries(eq)["poses"]]
    seeds = {low(s): low(rate) for s, rate in zip(eq.q, eq.qdot, strict=True)} | {low(eq.t): program.one}
    return program.tangent(poses, seeds, program.needed(poses))


def _wrenches(model: Model, given: Given) -> tuple[str, tuple[str, ...]]:
    """Forces in joints, from the momentum balances of Newton and Euler."""
    eq = derive(model, "newton-euler")
    low, _ = _lowering(eq, given)
    script = Script(low.program)
    inputs = low.inputs([*eq.acceleration_symbols, *eq.multiplier_symbols])
    script.add("wrenches", [low(x) for j in eq.transmitted for x in (*j.force, *j.torque)], inputs=inputs)
    return _object(script, ("wrenches",)), tuple(j.joint for j in eq.transmitted)


def _object(script: Script, names: Sequence[str]) -> str:
    """A script as an expression: an object of its functions."""
    return f"(() => {{\n{script.text()}return {{ PARAMETERS, PREPARED, prepare, {', '.join(names)} }};\n}})()"


def engine_text(name: str) -> str:
    """Text of a JavaScript module of this folder, such as ``"solve.js"``."""
    return resources.files("pendula.system.live").joinpath(name).read_text(encoding="utf-8")


def _module(eq: Equations, script: Script, adjustable: Mapping[str, float]) -> str:
    """An ES module: parameters by name, ``dynamics`` and ``rhs``."""
    n, m = len(eq.v), eq.loop_rows
    law = "M v' = f" + (" + G^T lam, G v' = c" if m else "")
    values = ", ".join(f"{json.dumps(name)}: {number(value)}" for name, value in adjustable.items())
    head = [
        f"// {eq.model.name}: equations of motion by {eq.formulation}, {law}.",
        f"// y = [{', '.join(map(str, (*eq.q, *eq.v)))}]",
        "// x of dynamics: t, then y; out: M by rows"
        + ("" if m else " (upper triangle)")
        + ", f, q'"
        + (", G, c" if m else "")
        + ", power, then the rows of prescribed motions",
        "",
        f"/** Parameters and constant inputs. */\nexport const parameters = {{{values}}};",
    ]
    lines = f"""
const NQ = {len(eq.q)}, NV = {n}, ROWS = {m}, NAMES = Object.keys(parameters);
const numbers = new Float64Array(PARAMETERS + PREPARED), state = new Float64Array(1 + NQ + NV);
const terms = new Float64Array({len(_entries(eq)["dynamics"])}), solve = makeSolver(NV, ROWS);
const part = (from, count) => terms.subarray(from, from + count);
const M = part(0, NV * NV), f = part(NV * NV, NV), qdot = part(NV * NV + NV, NQ);
const G = part(NV * NV + NV + NQ, ROWS * NV), c = part(NV * NV + NV + NQ + ROWS * NV, ROWS);
let given = null;

/**
 * The derivative of y = [q, v] at a time.
 * @param {{number}} t
 * @param {{ArrayLike<number>}} y
 * @param {{Record<string, number>}} p values by name that differ from `parameters`
 * @returns {{Float64Array}}
 */
export function rhs(t, y, p = {{}}) {{
  if (given !== p) {{
    for (const name of Object.keys(p)) if (!NAMES.includes(name)) throw new Error(`unknown parameter: ${{name}}`);
    NAMES.forEach((name, k) => {{ numbers[k] = p[name] ?? parameters[name]; }});
    prepare(numbers);
    given = Object.isFrozen(p) ? p : null;  // a frozen object need not be read again
  }}
  state[0] = t;
  state.set(y, 1);
  dynamics(state, numbers, terms);
  const out = new Float64Array(NQ + NV), multipliers = new Float64Array(ROWS);
  if (!solve(M, f, G, c, out.subarray(NQ), multipliers)) out.fill(NaN);
  else out.set(qdot);
  return out;
}}
"""
    solver = engine_text("solve.js").replace("export function", "function")
    return "\n".join([*head, "", solver, script.text().rstrip(), lines])
