"""Equilibria, linear models, spectra, modes, responses and sensitivities as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula import __version__
from pendula.model.units import Units
from pendula.system.layout import Array
from pendula.tables.table import Block, Table

if TYPE_CHECKING:
    from pendula.analysis.equilibria.equilibrium import Equilibrium
    from pendula.analysis.equilibria.find import Equilibria
    from pendula.analysis.linear.model import LinearModel
    from pendula.analysis.linear.spectrum import Spectrum
    from pendula.analysis.modes.harmonic import HarmonicResponse
    from pendula.analysis.modes.modes import Modes
    from pendula.analysis.sensitivities import Sensitivities


def texts_of(texts: Any) -> Array:
    """Texts as an array."""
    return np.array([*texts], dtype=str)


def _numbers(values: Any) -> Array:
    """Numbers, NaN for None."""
    return np.array([np.nan if x is None else x for x in values], dtype=float)


def _formal(at: Equilibrium | None, text: str) -> str:
    """A unit in the form of tables."""
    units = Units("m", "kg", "s") if at is None or at.system is None else at.system.model.unit_names
    return units.formal(text)


def _about(at: Equilibrium | None) -> dict[str, Any]:
    """Where a linear result belongs to: the model, its parameters, and the point."""
    if at is None:
        return {"version": __version__}
    model = {} if at.system is None else {"model": at.system.model.name, "formulation": at.system.formulation}
    values = at.layout.parameter_values(at.parameters)
    return {**model, "version": __version__, "at": at.name, "state": at.state.as_dict(), "parameters": values}


def equilibria_table(found: Equilibria, *, verdicts: Sequence[str] = ()) -> Table:
    """All equilibria: coordinates and speeds, residual, potential, and the number of directions in which it falls.

    Args:
        found: the equilibria.
        verdicts: the verdict of ``stability`` on each of them, if it is to be a column.
    """
    first = found.all[0] if found.all else None
    blocks = [Block("equilibrium", ("equilibrium",), texts_of(x.name for x in found))]
    if first is not None:
        layout = first.layout
        for name, names in (("q", layout.coordinates), ("v", layout.speeds)):
            if names:
                units = tuple(_formal(first, layout.units[x]) for x in names)
                values = np.array([getattr(x, name) for x in found], dtype=float)
                blocks.append(Block(name, ("equilibrium",), values, "", names, units))
    energy = "" if first is None or first.system is None else _formal(first, first.system.model.unit_names.energy)
    blocks += [
        Block("point.residual", ("equilibrium",), _numbers(x.residual for x in found)),
        Block("point.potential", ("equilibrium",), _numbers(x.potential for x in found), energy),
        Block("point.unstable_directions", ("equilibrium",), _numbers(x.unstable_directions for x in found)),
        Block("point.found", ("equilibrium",), np.array(found.found, dtype=np.int64)),
    ]
    if len(verdicts):
        blocks.append(Block("point.verdict", ("equilibrium",), texts_of(verdicts)))
    known = {"complete": found.complete, "reason": found.reason, "starts": found.starts}
    attributes = _about(first) | known | {"box": {name: list(ends) for name, ends in found.box.items()}}
    for name in ("at", "state"):
        attributes.pop(name, None)
    return Table("Equilibria", tuple(blocks), ("equilibrium",), attributes)


def linear_table(model: LinearModel) -> Table:
    """The matrices M, C, K, F, A, B of a linear model with the names of their rows and columns, and its eigenvalues."""
    from pendula.analysis.linear.spectrum import spectrum

    names, states = texts_of(model.coordinates), texts_of((*model.coordinates, *model.speeds))
    blocks = [
        Block("coordinate", ("coordinate",), names),
        Block("of", ("of",), names),
        Block("state", ("state",), states),
        Block("of_state", ("of_state",), states),
        *(Block(name, ("coordinate", "of"), np.asarray(getattr(model, name))) for name in "MCK"),
        Block("A", ("state", "of_state"), np.asarray(model.A)),
    ]
    if model.inputs:
        blocks += [
            Block("input", ("input",), texts_of(model.inputs)),
            Block("F", ("coordinate", "input"), np.asarray(model.F)),
            Block("B", ("state", "input"), np.asarray(model.B)),
        ]
    blocks += _roots(spectrum(model), model.at)
    units = {name: _formal(model.at, unit) for name, unit in model.units.items()}
    attributes = _about(model.at) | {"residual": model.residual, "method": model.method, "coordinate_units": units}
    return Table("LinearModel", tuple(blocks), ("coordinate",), attributes)


def spectrum_table(found: Spectrum) -> Table:
    """All eigenvalues with their labels."""
    return Table("Spectrum", tuple(_roots(found, found.model.at)), ("eigenvalue",), _about(found.model.at))


def _roots(found: Spectrum, at: Equilibrium) -> list[Block]:
    rate = _formal(at, f"1/{at.layout.time_unit}")
    each = found.eigenvalues
    return [
        Block("eigenvalue", ("eigenvalue",), np.arange(1, len(each) + 1)),
        Block("eigenvalue.re", ("eigenvalue",), _numbers(x.value.real for x in each), rate),
        Block("eigenvalue.im", ("eigenvalue",), _numbers(x.value.imag for x in each), rate),
        Block("eigenvalue.multiplicity", ("eigenvalue",), np.array([x.multiplicity for x in each], dtype=np.int64)),
        Block("eigenvalue.label", ("eigenvalue",), texts_of(x.label for x in each)),
    ]


def modes_table(found: Modes) -> Table:
    """Frequencies, damping ratios, eigenvalues, shapes and descriptions of all modes."""
    at, time = found.linear.at, found.time_unit
    shapes = np.array([m.scaled for m in found], dtype=complex).reshape(len(found), -1)
    rate = _formal(at, f"rad/{time}")
    of_modes = ("mode",)
    blocks = [
        Block("mode", of_modes, np.array([m.number for m in found], dtype=np.int64)),
        Block("coordinate", ("coordinate",), texts_of(found.linear.coordinates)),
        Block("frequency", of_modes, _numbers(m.frequency for m in found), rate),
        Block("cycles", of_modes, _numbers(m.hertz for m in found), f"1/{time}"),
        Block("damping_ratio", of_modes, _numbers(m.damping_ratio for m in found)),
        Block("growth", of_modes, _numbers(m.eigenvalue.real for m in found), f"1/{time}"),
        Block("damped_frequency", of_modes, _numbers(m.eigenvalue.imag for m in found), rate),
        Block("shape", ("mode", "coordinate"), np.ascontiguousarray(shapes.real)),
        *([Block("shape_im", ("mode", "coordinate"), np.ascontiguousarray(shapes.imag))] if shapes.imag.any() else []),
        Block("kind", of_modes, texts_of(m.kind for m in found)),
        Block("description", of_modes, texts_of(m.description for m in found)),
    ]
    return Table("Modes", tuple(blocks), of_modes, _about(at) | {"damped": found.damped, "notes": list(found.notes)})


def response_table(found: HarmonicResponse) -> Table:
    """Amplitudes and phases of all coordinates over the frequency of the input."""
    at, names = found.linear.at, found.linear.coordinates
    units = tuple(_formal(at, found.linear.units.get(x, "")) for x in names)
    blocks = (
        Block("frequency", ("frequency",), found.frequencies, _formal(at, found.unit)),
        Block("amplitudes", ("frequency",), found.amplitudes, "", tuple(f"{x}.amplitude" for x in names), units),
        Block("phases", ("frequency",), found.phases, "", tuple(f"{x}.phase" for x in names), ("rad",) * len(names)),
    )
    attributes = _about(at) | {"input": found.input, "amplitude": found.amplitude, "notes": list(found.notes)}
    return Table("HarmonicResponse", blocks, ("frequency",), attributes)


def sensitivities_table(found: Sensitivities) -> Table:
    """Derivatives of all coordinates and speeds over time, as ``theta by l``."""
    layout = found.layout
    pairs = [(of, by) for of in (*layout.coordinates, *layout.speeds) for by in found.names]
    units = [_formal(None, _quotient(layout.units.get(of, ""), found.units[by])) for of, by in pairs]
    values = np.column_stack([found[pair] for pair in pairs]) if pairs else np.zeros((len(found.t), 0))
    blocks = (
        Block("t", ("t",), found.t, layout.time_unit),
        Block("derivatives", ("t",), values, "", tuple(f"{of} by {by}" for of, by in pairs), tuple(units)),
    )
    attributes = {"version": __version__, "tolerance": found.tolerance, "notes": list(found.notes)}
    return Table("Sensitivities", blocks, ("t",), attributes)


def _quotient(of: str, by: str) -> str:
    return f"({of or '1'})/({by})" if by else of
