"""Linear models, spectra and modes as text in 80 columns, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import Eigenvalue, Spectrum
from pendula.analysis.modes.eigenmodes import NEGLIGIBLE
from pendula.analysis.modes.modes import Modes
from pendula.analysis.modes.words import columns_of, named_shape
from pendula.present.words.tables import heading, number, number_pair, table, wrapped
from pendula.present.words.units import labelled
from pendula.words import picked

if TYPE_CHECKING:
    from pendula.system.layout import Array

MOST_MATRIX = 6
"""largest number of rows of printed matrices"""
MOST_ROOTS = 24
MOST_SENTENCES = 12
MOST_SHAPES = 8
ROUNDING = 1e-12
"""a part of a matrix smaller than this, relative to the whole, is a rounding error and is not shown"""


def linear_text(model: LinearModel, roots: Spectrum) -> str:
    """Matrices with the names of rows and columns, then the eigenvalues."""
    parts = [_equation(model), ""]
    if len(model.M) > MOST_MATRIX:
        n, m = len(model.M), len(model.inputs)
        sizes = f"M, C, K: {n} x {n}; A: {2 * n} x {2 * n}; B: {2 * n} x {m}"
        parts.append(f"{sizes}; too many entries to show")
    else:
        parts.append("\n\n".join(_matrices(model)))
    if remark := model.chart or model.basis.remark:
        parts += ["", wrapped(f"Chart: {remark}")]
    return "\n".join([*parts, "", heading("eigenvalues", level=2), "", spectrum_text(roots)])


def _equation(model: LinearModel) -> str:
    names = ", ".join(f"{n} [{model.units.get(n) or '1'}]" for n in model.coordinates[:MOST_MATRIX])
    more = f" and {len(model.coordinates) - MOST_MATRIX} more" if len(model.coordinates) > MOST_MATRIX else ""
    right = "F u" if model.inputs else "0"
    text = f"M e'' + C e' + K e = {right}, with e the changes of {names}{more}"
    if model.inputs:
        text += f" and u those of {', '.join(model.inputs)}"
    return wrapped(text)


def _matrices(model: LinearModel) -> list[str]:
    names, states = model.coordinates, (*model.coordinates, *model.speeds)
    found = [_matrix(f"M [{_unit(model, 2)}]", model.M, names, names)]
    if _only_rounding(model):
        found.append(f"C [{_unit(model, 1)}] is zero up to rounding")
    else:
        damping = (model.damping, model.gyroscopic, ("damping", "gyroscopic"))
        found += _split(f"C [{_unit(model, 1)}]", model.C, *damping, names)
    stiffness = (model.conservative, model.circulatory, ("conservative", "circulatory"))
    found += _split(f"K [{_unit(model, 0)}]", model.K, *stiffness, names)
    if model.inputs:
        found.append(_matrix("F", model.F, names, model.inputs))
    if len(states) <= 2 * MOST_MATRIX:
        found.append(_matrix("A", model.A, states, states))
        found += [_matrix("B", model.B, states, model.inputs)] if model.inputs else []
    return found


def _only_rounding(model: LinearModel) -> bool:
    """Whether C is a rounding error relative to the steady-motion terms that cancel in it."""
    size, turning = (float(np.abs(x).max(initial=0.0)) for x in (model.C, model.at.v))
    return 0 < size <= 1e-13 * turning * float(np.abs(model.M).max(initial=0.0))


def _unit(model: LinearModel, order: int) -> str:
    """Unit of the entries of M, C or K: forces or torques of the rows per displacement, rate or acceleration."""
    if model.system is None:
        return "1"
    units = model.system.model.unit_names
    kinds = list(dict.fromkeys(model.units.get(n, "") for n in model.coordinates))
    rows = " and ".join(units.torque if kind == "rad" else units.force for kind in kinds)
    time = ("", f"/{units.time}", f"/{units.time}^2")[order]
    return f"{rows} per {' and '.join(f'{kind}{time}' for kind in kinds)}"


def _split(
    title: str, whole: Array, even: Array, odd: Array, words: tuple[str, str], names: Sequence[str]
) -> list[str]:
    """A matrix, and its symmetric and skew parts if both are nonzero."""
    size = float(np.abs(whole).max(initial=0.0))
    if not size:
        return [f"{title} is zero"]
    parts = [float(np.abs(x).max(initial=0.0)) > ROUNDING * size for x in (even, odd)]
    if all(parts):
        letter = title.split()[0]
        both = [
            _matrix(f"{word} part of {letter}", X, names, names) for word, X in zip(words, (even, odd), strict=True)
        ]
        return [_matrix(title, whole, names, names), *both]
    return [_matrix(f"{title}, {words[0] if parts[0] else words[1]}", whole, names, names)]


def _matrix(title: str, X: Array, rows: Sequence[str], columns: Sequence[str]) -> str:
    floor = 1e-14 * float(np.abs(X).max(initial=0.0))
    cells = [[name, *(float(x) if abs(x) > floor else 0.0 for x in row)] for name, row in zip(rows, X, strict=True)]
    return f"{title}\n{table(cells, ['', *columns])}"


def spectrum_rows(found: Spectrum) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table of eigenvalues: value (pairs as one), number of roots, backward error, label."""
    unit = found.model.at.layout.time_unit
    rows = [
        [_value(root, paired), str(root.multiplicity * (2 if paired else 1)), _error(root), _label(root)]
        for root, paired in _pairs(found.eigenvalues)
    ]
    return [f"eigenvalue [1/{unit}]", "roots", "error", "label"], rows


def spectrum_text(found: Spectrum) -> str:
    """Every eigenvalue with its multiplicity, backward error and label."""
    heads, rows = spectrum_rows(found)
    parts = [table(rows[:MOST_ROOTS], heads, align="rrrl")]
    if len(rows) > MOST_ROOTS:
        parts.append(f"... and {len(rows) - MOST_ROOTS} more")
    note = "error: relative change of M, C, K that makes the root exact (backward error)"
    return "\n".join([*parts, note])


def _pairs(roots: Sequence[Eigenvalue]) -> list[tuple[Eigenvalue, bool]]:
    """Complex pairs as one entry."""
    found: list[tuple[Eigenvalue, bool]] = []
    for root in roots:
        if root.value.imag < 0 and any(
            paired and abs(other.value - root.value.conjugate()) <= 1e-9 * abs(root.value)
            and other.multiplicity == root.multiplicity and other.label == root.label
            for other, paired in found
        ):  # fmt: skip
            continue
        partner = root.value.imag > 0 and np.isfinite(root.value)
        found.append((root, bool(partner)))
    return found


def _value(root: Eigenvalue, paired: bool) -> str:
    if root.label.startswith("infinite"):
        return "infinite"
    if root.label.startswith("undetermined"):
        return "0/0"
    return number_pair(root.value, 10) if paired or root.value.imag == 0 else number(root.value, 10)


def _error(root: Eigenvalue) -> str:
    return number(root.backward_error, 1) if root.label.startswith(("physical", "zero")) else "-"


def _label(root: Eigenvalue) -> str:
    return f"{root.label} ({root.remark})" if root.remark else root.label


def linear_data(model: LinearModel, roots: Spectrum) -> dict[str, Any]:
    """All results as plain lists; eigenvalues repeated by multiplicity."""
    return {
        "coordinates": list(model.coordinates),
        "speeds": list(model.speeds),
        "inputs": list(model.inputs),
        **picked(model, "M C K F A B damping gyroscopic conservative circulatory residual method error chart"),
        "eigenvalues": [entry for root in roots.eigenvalues for entry in [_root_data(root)] * root.multiplicity],
        "units": {n: model.units.get(n, "") for n in (*model.coordinates, *model.speeds)},
        "time_unit": model.at.layout.time_unit,
        "constraint_rows": model.rows,
    }


def _root_data(root: Eigenvalue) -> dict[str, Any]:
    finite = bool(np.isfinite(root.value))
    return {
        "re": root.value.real if finite else None,
        "im": root.value.imag if finite else None,
        **picked(root, "label multiplicity semisimple scatter condition"),
        "backward_error": root.backward_error if finite else None,
    }


# --- modes ------------------------------------------------------------------------------------------------


def modes_rows(found: Modes) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of a table of modes: frequencies, damping, and the kind where a mode does not oscillate."""
    columns = columns_of(found)
    rows = [
        [mode.number, *numbers, "" if mode.kind == "oscillation" else mode.kind]
        for mode, numbers in zip(found.modes, zip(*columns.values(), strict=True), strict=False)
    ]
    heads = ["mode", *columns, "kind"]
    return (heads, rows) if any(row[-1] for row in rows) else (heads[:-1], [row[:-1] for row in rows])


def modes_text(found: Modes) -> str:
    """Frequencies, shapes and a sentence for each mode."""
    heads, rows = modes_rows(found)
    words = heads[-1] == "kind"
    parts = [table(rows[:MOST_ROOTS], heads, align="r" * (len(heads) - words) + "l" * words)]
    if len(found) > MOST_ROOTS:
        parts.append(f"... and {len(found) - MOST_ROOTS} more")
    if len(found) <= MOST_SHAPES:
        parts += ["", heading(_scaling(found), level=2), "", _shapes(found)]
    parts.append("")
    parts += [wrapped(mode.description, "  ") for mode in found.modes[:MOST_SENTENCES]]
    parts += [wrapped(f"note: {note}", "  ") for note in found.notes]
    return "\n".join(parts)


def _scaling(found: Modes) -> str:
    """Which entry of the shapes is 1: the first that moves, with closed loops of the independent coordinates."""
    own = found.linear.coordinates
    names, values, _ = named_shape(found.modes[0], found.linear)
    if names[0] == own[0] or (names[0] not in found.linear.at.layout.coordinates and np.any(values == 1.0)):
        return "shapes, first significant entry 1"
    return f"shapes, {own[0]} = 1" if len(own) == 1 else f"shapes, first significant entry of {', '.join(own)} = 1"


def shape_rows(found: Modes) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of a table of shapes: rows are coordinates, columns modes; complex entries as size and phase."""
    names, _, units = named_shape(found.modes[0], found.linear)
    columns = [_rounded(named_shape(mode, found.linear)[1]) for mode in found.modes]
    phases = any(np.iscomplexobj(x) for x in columns)
    rows = []
    for k, name in enumerate(names[:MOST_ROOTS]):
        cells = [_entry(x[k], phases) for x in columns]
        rows.append([labelled(name, units[name]), *cells])
    return ["", *(f"mode {m.number}" for m in found.modes)], rows


def _shapes(found: Modes) -> str:
    heads, rows = shape_rows(found)
    return table(rows, heads, align="l" + "r" * len(found), digits=5)


def _rounded(values: Array) -> Array:
    """A shape with rounding errors relative to its largest entry set to zero."""
    return np.where(np.abs(values) > NEGLIGIBLE * np.abs(values).max(), values, 0.0)


def _entry(value: complex, phases: bool) -> Any:
    if not phases:
        return float(np.real(value))
    size, angle = abs(value), float(np.degrees(np.angle(value)))
    return number(size, 4) if abs(angle) < 5e-3 or not size else f"{number(size, 4)} at {angle:.4g} deg"
