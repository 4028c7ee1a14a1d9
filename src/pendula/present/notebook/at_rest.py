"""Displays of equilibria, linear models, stability, modes, certificates and Floquet multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pendula.analysis.court.agreement import Certificate
from pendula.analysis.driven.floquet import Floquet
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import Spectrum, spectrum
from pendula.analysis.modes.modes import Modes
from pendula.analysis.stability.verdict import Stability, judged
from pendula.present.notebook.elements import card, facts, folded, grid, note, notes, picture_of, text_lines
from pendula.present.words.equilibria import equilibria_rows, place
from pendula.present.words.linear import modes_rows, shape_rows, spectrum_rows
from pendula.present.words.verdicts import floquet_facts, multiplier_rows, pair_rows, root_rows, stability_facts
from pendula.words import counted, told

MOST_MATRIX = 10
"""rows of a matrix that is shown"""
MOST_SHAPES = 8


def show_equilibria(found: Equilibria) -> str:
    """All equilibria with their coordinates, and the potential where it can be drawn."""
    title, *rest = told(found)
    system = found.all[0].system if found.all else None
    if system is None:
        return card(title, text_lines(rest))
    verdicts = [one["verdict"] for one in judged(system, found)]
    heads, rows, _ = equilibria_rows(system, found, verdicts)
    known = [("complete", f"{found.complete}: {found.reason}"), ("found", f"from {found.starts} starts")]
    return card(title, grid(heads, rows), facts(known), picture_of(found, verdicts=verdicts))


def show_linear(model: LinearModel) -> dict[str, Any]:
    """M, C, K and F with the names of their rows and columns, and the eigenvalues."""
    names = model.coordinates
    parts = []
    if len(names) > MOST_MATRIX:
        parts.append(note(f"M, C, K: {len(names)} x {len(names)}, too many entries to show"))
    else:
        shown = [("M", model.M, names), ("C", model.C, names), ("K", model.K, names), ("F", model.F, model.inputs)]
        tables = "".join(_matrix(name, X, names, columns) for name, X, columns in shown if len(columns))
        parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:.2em 1.6em">{tables}</div>')
    heads, rows = spectrum_rows(spectrum(model))
    parts += [grid(heads, rows), picture_of(model)]
    found: dict[str, Any] = {"text/html": card(told(model)[0], *parts)}
    if len(names) <= MOST_MATRIX:
        found["text/latex"] = f"$$ {model.latex()} $$"
    return found


def _matrix(name: str, X: Any, rows: Sequence[str], columns: Sequence[str]) -> str:
    values = np.asarray(X)
    if not np.any(values):
        return note(f"{name} = 0")
    return grid([name, *columns], [[row, *(float(x) for x in values[k])] for k, row in enumerate(rows)])


def show_spectrum(found: Spectrum) -> str:
    """Eigenvalues with their labels, and where they are in the complex plane."""
    heads, rows = spectrum_rows(found)
    return card(told(found)[0], grid(heads, rows), picture_of(found))


def show_stability(found: Stability) -> str:
    """The verdict, its reason, and the eigenvalues."""
    heads, rows = root_rows(found)
    where = "" if found.at.system is None else f" at {place(found.at.system, found.at)}"
    return card(f"{found.verdict}{where}", facts(stability_facts(found)), grid(heads, rows), picture_of(found))


def show_modes(found: Modes) -> str:
    """Frequencies, damping, shapes, a sentence for each mode, and pictures of the shapes."""
    heads, rows = modes_rows(found)
    parts = [grid(heads, rows), picture_of(found)]
    if 0 < len(found) <= MOST_SHAPES:
        heads, rows = shape_rows(found)
        parts.append(folded("Shapes", grid(heads, rows)))
    parts += [notes([mode.description for mode in found.modes[:MOST_SHAPES]]), notes(found.notes)]
    return card(f"{counted(len(found), 'mode')} of small motion", *parts)


def show_certificate(found: Certificate) -> str:
    """All pairs of formulations with their largest difference."""
    title, *rest = told(found)
    return card(title, grid(*pair_rows(found)), picture_of(found), folded("In words", text_lines(rest)) if rest else "")


def show_floquet(found: Floquet) -> str:
    """The verdict over one period, and the multipliers with the unit circle."""
    heads, rows = multiplier_rows(found)
    return card(found.verdict, facts(floquet_facts(found)), grid(heads, rows), picture_of(found))
