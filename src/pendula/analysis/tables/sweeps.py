"""Sweeps and comparisons as tables: multipliers and verdicts over parameters, linear models of many cases, chaos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pendula import __version__
from pendula.analysis.tables.at_rest import texts_of
from pendula.tables.table import Block, Table

if TYPE_CHECKING:
    from pendula.analysis.chaos.lyapunov import Lyapunov
    from pendula.analysis.chaos.separation import Separated
    from pendula.analysis.charts.chart import StabilityChart
    from pendula.analysis.driven.study import FloquetMap
    from pendula.analysis.linear.linearize_many import LinearModels
    from pendula.analysis.stability.ranges import StabilityRanges


def floquet_table(found: FloquetMap) -> Table:
    """Largest modulus of a multiplier and the verdict, at every sampled value of the parameter."""
    of = (found.parameter,)
    blocks = (
        Block(found.parameter, of, np.asarray(found.values, dtype=float)),
        Block("multiplier.largest", of, np.asarray(found.radius, dtype=float)),
        Block("multiplier.verdict", of, texts_of(found.verdicts)),
        Block("boundary.value", ("boundary",), np.array([x.value for x in found.boundaries], dtype=float)),
    )
    ranges = [[float(low), float(high), verdict] for low, high, verdict in found.ranges]
    known = {"parameter": found.parameter, "ranges": ranges, "certainty": found.certainty, "version": __version__}
    return Table("FloquetMap", blocks, of, known)


def chart_table(found: StabilityChart) -> Table:
    """Whether each point of the grid is stable, and the points of the borders."""
    x, y = found.parameters
    across = (y, x)
    blocks = (
        Block(x, (x,), np.asarray(found.x, dtype=float)),
        Block(y, (y,), np.asarray(found.y, dtype=float)),
        Block("chart.stable", across, np.asarray(found.stable, dtype=float)),
        Block("chart.size", across, np.asarray(found.size, dtype=float)),
        Block("border", ("border_point",), np.asarray(found.points, dtype=float).reshape(-1, 2), "",
              (f"border.{x}", f"border.{y}")),
    )  # fmt: skip
    known = {"parameters": list(found.parameters), "what": found.what, "version": __version__}
    return Table("StabilityChart", blocks, across, known)


def ranges_table(found: StabilityRanges) -> Table:
    """The ranges of a parameter between critical values, each with its verdict."""
    of = ("range",)
    blocks = (
        Block("range.low", of, np.array([x.low for x in found.ranges], dtype=float)),
        Block("range.high", of, np.array([x.high for x in found.ranges], dtype=float)),
        Block("range.verdict", of, texts_of(x.verdict for x in found.ranges)),
        Block("critical.value", ("critical",), np.asarray(found.values, dtype=float)),
    )
    known = {"parameter": found.parameter, "samples": found.samples, "certainty": found.certainty}
    return Table("StabilityRanges", blocks, of, known | {"version": __version__})


def linear_many_table(found: LinearModels) -> Table:
    """Matrices and eigenvalues of every case."""
    names = texts_of(found.coordinates)
    values = np.asarray(found.values)
    of = ("case",)
    blocks = [
        Block("case", of, np.arange(len(found))),
        Block("coordinate", ("coordinate",), names),
        Block("of", ("of",), names),
        *(Block(name, ("case", "coordinate", "of"), np.asarray(getattr(found, name), dtype=float)) for name in "MCK"),
        Block("eigenvalue.re", ("case", "eigenvalue"), np.ascontiguousarray(values.real)),
        Block("eigenvalue.im", ("case", "eigenvalue"), np.ascontiguousarray(values.imag)),
        Block("residual", of, np.asarray(found.residuals, dtype=float)),
    ]
    return Table("LinearModels", tuple(blocks), of, {"version": __version__})


def separation_table(found: Separated) -> Table:
    """The distance between two motions over time."""
    blocks = (
        Block("t", ("t",), found.t, found.time_unit),
        Block("distance", ("t",), found.distance, found.unit),
    )
    known = {"threshold": found.threshold, "time": found.time, "version": __version__}
    return Table(type(found).__name__, blocks, ("t",), known)


def lyapunov_table(found: Lyapunov) -> Table:
    """The running average of the largest Lyapunov exponent."""
    blocks = (
        Block("t", ("t",), found.t, found.time_unit),
        Block("exponent", ("t",), found.running, f"1/{found.time_unit}"),
    )
    known = {"exponent": found.exponent, "spread": found.spread, "transient": found.transient, "version": __version__}
    return Table("Lyapunov", blocks, ("t",), known)
