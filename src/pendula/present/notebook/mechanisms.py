"""Displays of models, systems, equations and states."""

from __future__ import annotations

from html import escape
from typing import Any

from pendula.analysis.explain.explanation import Explanation
from pendula.equations.equations import Equations
from pendula.equations.printing.latex import write_latex
from pendula.equations.small_motion.model import SymbolicModel
from pendula.errors import NotSupported
from pendula.model.model import Model
from pendula.present.explain.page import as_html
from pendula.present.notebook.elements import card, facts, folded, framed, grid, note, picture_of, text_lines
from pendula.present.report.mechanism import parameter_table
from pendula.present.web import bundle
from pendula.present.words.models import body_rows, force_rows, formula_groups, joint_rows
from pendula.system.layout import State
from pendula.system.system import System
from pendula.words import counted, some, told

MOST_LATEX = 12_000
"""longest LaTeX, in characters, that a notebook gets"""
MOST_FORMULAS = 12
"""formulas of one kind that are shown at once; more are folded"""


def show_model(model: Model) -> str:
    """A drawing at the initial state, and tables of bodies, joints, forces, parameters."""
    units = model.unit_names
    closing = f", {len(model.closures)} closing a loop" if model.closures else ""
    gravity = ", ".join(str(x) for x in model.gravity)
    about = [
        ("bodies", f"{len(model.bodies)}"),
        ("joints", f"{len(model.joints)}{closing}"),
        ("coordinates", some([c.name for c in model.coordinates])),
        ("inputs", some([*model.inputs])),
        ("gravity", f"({gravity}) {units.length}/{units.time}^2"),
        ("units", model.units),
    ]
    parts = [
        picture_of(model),
        facts(about),
        folded("Bodies", grid(*body_rows(model))),
        folded("Joints", grid(*joint_rows(model))),
    ]
    if model.forces:
        parts.append(folded("Forces", grid(*force_rows(model))))
    if model.parameters:
        parts.append(folded("Parameters", parameter_table(model).replace(' tabindex="0"', "")))
    return card(model.name, *parts)


def show_system(system: System) -> str:
    """A drawing at the initial state, the formulation and the coordinates."""
    layout = system.layout
    about = [
        ("equations", f"given in {system.written}" if system.written else system.formulation),
        ("engine", system.engine),
        ("coordinates", some(layout.coordinates, 12)),
        ("speeds", some(layout.speeds, 12)),
        ("prescribed", some([drive.name for drive in system.drives if "__" not in drive.name])),
        ("constraints", counted(system.loop_rows, "row") if system.loop_rows else ""),
    ]
    return card(f"{system.model.name}: compiled", picture_of(system), facts(about))


def show_equations(equations: Equations) -> dict[str, Any]:
    """The equations of motion: MathML, which browsers render, and LaTeX."""
    title, *rest = told(equations)
    found: dict[str, Any] = {}
    latex = write_latex(equations)
    if len(latex) <= MOST_LATEX:
        found["text/latex"] = latex
    try:
        inside = formulas(equations)
    except NotSupported as error:
        inside = text_lines(rest) + note(str(error).splitlines()[0])
    return found | {"text/html": card(title, inside)}


def _brackets() -> str:
    """The style of matrix brackets, which pages have in a style sheet, as an attribute."""
    rule = bundle.read("matrix.css").partition("{")[2].partition("}")[0]
    return " ".join(rule.split())


def formulas(equations: Equations) -> str:
    """Formulas under short headings, in MathML."""
    parts, brackets = [], f'<mtable style="{_brackets()}"'
    for words, group in formula_groups(equations).items():
        listed = [mathml.replace('<mtable class="matrix"', brackets) for mathml in group]
        shown = f'<div style="overflow-x:auto;overflow-y:hidden;padding:2px 0">{"".join(listed)}</div>'
        if len(listed) > MOST_FORMULAS:
            parts.append(folded(f"{len(listed)} {words}", shown))
        else:
            parts.append(f'<div style="opacity:.75;margin-top:.5em">{escape(words)}</div>{shown}')
    return "".join(parts)


def show_symbolic(found: SymbolicModel) -> dict[str, Any]:
    """A linear model in symbols: its text, and LaTeX for what renders it."""
    title, *rest = told(found)
    shown: dict[str, Any] = {"text/html": card(title, text_lines(rest))}
    latex = found.latex()
    if len(latex) <= MOST_LATEX:
        shown["text/latex"] = f"$$ {latex} $$" if not latex.lstrip().startswith(("$", r"\begin{align")) else latex
    return shown


def show_state(state: State) -> str:
    """Coordinates and speeds of a state with their units."""
    units = state.layout.units
    rows = [(name, state[name], units.get(name, "")) for name in state]
    return card(f"state at t = {state.t:.6g} {state.layout.time_unit}", grid(["Name", "Value", "Unit"], rows))


def show_explanation(page: Explanation) -> str:
    """The page of a derivation, inside a frame."""
    title = told(page)[0]
    return card(title, framed(as_html(page), height=560, title=title))
