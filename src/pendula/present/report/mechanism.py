"""The first half of a report: description of the mechanism, its equations, and agreement of formulations."""

from __future__ import annotations

from html import escape
from typing import Any

from pendula.analysis.court.agreement import TOLERANCE
from pendula.analysis.study import Study
from pendula.equations.equations import Equations
from pendula.equations.printing.formats import print_equations
from pendula.equations.printing.mathml import mathml_name
from pendula.errors import NotSupported
from pendula.model.checks.parameter_units import parameter_units
from pendula.model.forces.base import Force
from pendula.model.model import Model
from pendula.present.report.html import Page, Raw, badge, block, capital, details, missing, sentence, table, with_unit
from pendula.present.report.motion import least_of, start_of
from pendula.present.words.attitudes import coordinates_text, speeds_text
from pendula.present.words.models import body_rows, force_rows, formula_groups, joint_rows
from pendula.present.words.tables import number, unbroken
from pendula.present.words.verdicts import pair_rows
from pendula.simulation.charts.attitudes import attitudes
from pendula.system.loops.mobility import mobility
from pendula.words import counted


def facts(found: Study) -> str:
    """The most important results, each in a box."""
    model, boxes = found.model, []
    freedoms = mobility(found.system).by_rank
    boxes.append(
        (counted(freedoms, "degree") + " of freedom", f"{_bodies(model)}, {counted(len(model.joints), 'joint')}")
    )
    if found.certificate is not None:
        worst = max((p.max_difference for p in found.certificate.pairs), default=0.0)
        agree = "formulations agree" if found.certificate.passed else "formulations DISAGREE"
        boxes.append((f"{len(found.certificate.formulations)} {agree}", f"largest difference {number(worst, 2)}"))
    if found.equilibria is not None:
        many = len(found.equilibria)
        text = f"{counted(many, 'equilibrium', 'equilibria')} listed"
        boxes.append((text, f"that there are no others is {found.equilibria.complete}"))
    if found.stabilities:
        k = found.number - 1
        judged = found.stabilities[k] if k < len(found.stabilities) else ""
        verdict = "not judged" if isinstance(judged, str) else judged.verdict.partition(":")[0]
        which = f"equilibrium {found.number}" if k else f"the equilibrium of least {least_of(found)}"
        boxes.append((verdict, f"at {which}"))
    elif found.floquet is not None:
        boxes.append((found.floquet.verdict, f"driven, about {start_of(found.floquet)}"))
    if found.modes is not None and len(found.modes.frequencies):
        lowest = float(found.modes.frequencies[0])
        boxes.append((f"{lowest:.5g} rad/{found.modes.time_unit}", "lowest natural frequency"))
    if found.run is not None:
        boxes.append((f"{found.run.energy_drift:.1e}", f"energy drift in {_time(found, float(found.run.t[-1]))}"))
    texts = [(escape(big).replace("e-", "e−"), escape(small).replace("e-", "e−")) for big, small in boxes]
    broken = [(big.replace("asymptotically", "asymp&shy;totically"), small) for big, small in texts]
    return "".join(f"<div><b>{big}</b><span>{small}</span></div>" for big, small in broken)


def _bodies(model: Model) -> str:
    return counted(len(model.bodies), "body", "bodies")


def _time(found: Study, value: float) -> str:
    return with_unit(value, found.model.unit_names.time, 4)


# -- description --------------------------------------------------------------------------------------------


def description_section(found: Study, page: Page) -> str:
    """Bodies, joints, forces, freedoms, initial state and parameters."""
    model = found.model
    units = model.unit_names
    gravity = ", ".join(str(x) for x in model.gravity)
    words = [
        f"{_bodies(model)}, {counted(len(model.joints), 'joint')}"
        + (f" ({len(model.closures)} closing a loop)" if model.closures else ""),
        _freedoms(found),
        f"Units {model.units}; gravity ({gravity}) {units.length}/{units.time}^2",
    ]
    parts = [sentence(text) for text in words]
    tables = [table([*map(capital, heads)], rows) for heads, rows in (body_rows(model), joint_rows(model))]
    parts.append(details("Bodies and joints", "".join(tables)))
    if model.forces:
        heads, forces = force_rows(model)
        rows = [(*row, _strength(force)) for row, force in zip(forces, model.forces, strict=True)]
        parts.append(details("Forces", table([*map(capital, heads), "Given by"], rows)))
    state = table(["State", "Unit", "At the start", "Given by"], _state_rows(found))
    parts.append(details("State at the start", state + _start_in_other_charts(found)))
    if model.parameters:
        parts.append(details("Parameters", parameter_table(model)))
    if model.inputs:
        parts.append(details("Inputs", table(["Input", "Value"], [(n, str(x)) for n, x in model.inputs.items()])))
    return "".join(parts)


def parameter_table(model: Model) -> str:
    """Names, values and units of all parameters."""
    known, values = parameter_units(model), model.parameter_values
    listed = [
        (Raw(_symbol(n)), values[n], known.get(n, "consistent"), str(x) if isinstance(x, str) else "")
        for n, x in model.parameters.items()
    ]
    inside = table(["Parameter", "Value", "Unit", "Given by"], listed, most=40)
    if any(n not in known for n in model.parameters):
        text = f"A parameter whose use does not determine its unit is in consistent units ({model.units})"
        inside += sentence(text, "small")
    return inside


def _symbol(name: str) -> str:
    """A name as in the model, and as in formulas if that looks different."""
    if len(name.partition("_")[0].rstrip("0123456789")) > 1 and "<mi>" + name.partition("_")[0] in mathml_name(name):
        return f"<code>{escape(name)}</code>"  # a word, which looks the same in formulas
    return f"<math>{mathml_name(name)}</math> <code>{escape(name)}</code>"


def _freedoms(found: Study) -> str:
    model, freedoms = found.model, mobility(found.system)
    speeds = f"{counted(len(model.coordinates), 'coordinate')}, {counted(len(model.speeds), 'speed')}"
    if not model.closures:
        return f"{counted(freedoms.by_rank, 'degree')} of freedom ({speeds})"
    if freedoms.redundant:
        return f"{speeds}; {freedoms.text}"
    return f"{freedoms.text} ({speeds}, {counted(freedoms.rows, 'constraint row')})"


_PLACES = ("name", "type", "start", "end", "joint", "coordinate", "body", "at", "position", "axes")


def _strength(force: Force) -> str:
    """The fields of a force except those that state where it acts."""
    found = []
    for field in (name for name in type(force).model_fields if name not in _PLACES):
        value = getattr(force, field)
        if value is not None and value not in (0, "0"):
            text = f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)
            found.append(f"{field} {text}")
    return ", ".join(found)


def _start_in_other_charts(found: Study) -> str:
    """The orientations of the initial state in other coordinates, folded; empty if there are none."""
    state = found.system.in_joints.initial_state()
    if found.run is not None:
        names = (*state.layout.coordinates, *state.layout.speeds)
        state = state.replace({name: float(found.run[name][0]) for name in names})
    shown = attitudes(state)
    if not shown:
        return ""
    rows = [(x.joint, x.chart, unbroken(coordinates_text(x)), unbroken(speeds_text(x))) for x in shown]
    return details(
        "The same orientation in other coordinates",
        table(["Joint", "Orientation", "Coordinates", "Speeds"], rows, most=len(rows)),
    )


def _state_rows(found: Study) -> list[tuple[Any, ...]]:
    """Coordinates and speeds with units, initial values and their expressions in the model."""
    layout, given, run = found.system.in_joints.layout, found.model.initial, found.run
    state = found.system.in_joints.initial_state()
    rows: list[tuple[Any, ...]] = []
    for name in (*layout.coordinates, *layout.speeds):
        value = float(run[name][0]) if run is not None else state[name]
        text = given.get(name, "")
        rows.append((Raw(_symbol(name)), layout.units[name] or "1", value, text if isinstance(text, str) else ""))
    return rows


# -- equations ----------------------------------------------------------------------------------------------


def equations_section(found: Study, page: Page) -> str:
    """The equations of motion as formulas, with text and LaTeX to copy."""
    if found.equations is None:
        return missing(found.absent["equations"])
    eq = found.equations
    parts = [sentence(f"By {_FORMULATION.get(eq.formulation, eq.formulation)}")]
    try:
        parts.append(_formulas(eq))
    except NotSupported as error:
        parts.append(missing(str(error)))
    parts.append(details("As text", block(print_equations(eq, "text"))))
    try:
        parts.append(details("As LaTeX", block(print_equations(eq, "latex"))))
    except NotSupported as error:
        parts.append(missing(str(error)))
    return "".join(parts)


MOST_FORMULAS = 8
_FORMULATION = {"lagrange": "Lagrange's equations"}


def _formulas(eq: Equations) -> str:
    parts = []
    for words, listed in formula_groups(eq).items():
        formulas = "".join(listed)
        if len(listed) > MOST_FORMULAS:
            inside = f'<div class="scroll">{formulas}</div>'
            parts.append(f'<div class="formula">{details(f"{len(listed)} {words}", inside)}</div>')
            continue
        kind = "formula law" if words == "equations of motion" else "formula"
        parts.append(f'<div class="{kind}"><p>{escape(capital(words))}</p>')
        parts.append(f'<div class="scroll">{formulas}</div></div>')
    return "".join(parts)


# -- certificate --------------------------------------------------------------------------------------------


def certificate_section(found: Study, page: Page) -> str:
    """All pairs of formulations with their largest difference."""
    if found.certificate is None:
        return missing(found.absent["certificate"])
    made = found.certificate
    *first, last = made.formulations
    words = (
        f"The equations were derived by {', '.join(first)} and {last}, independently of each other, and compared at "
        f"{made.states} random states: accelerations of all bodies, mass matrix, energies, power, reactions. "
        f"Differences are relative; up to {TOLERANCE:g} is rounding"
    )
    verdict = badge("passed", "good") if made.passed else badge("failed", "bad")
    heads, pairs = pair_rows(made)
    rows = [(names, gap, badge(word, "good" if word == "agree" else "bad"), what) for names, gap, word, what in pairs]
    failed = [sentence(f"{p.a} and {p.b} disagree most in the {p.where}") for p in made.pairs if not p.passed]
    read = [sentence(line.strip()) for line in str(made.expressions).splitlines()]
    listed = details("All pairs", table([*map(capital, heads)], rows, most=20))
    return "".join([f"<p>{verdict} {escape(words)}.</p>", *failed, *read, listed])
