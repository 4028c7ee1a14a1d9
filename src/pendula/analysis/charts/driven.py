"""Charts of periodically driven mechanisms: Floquet multipliers over two parameters (Ince-Strutt diagrams)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pendula.analysis.charts.chart import Axis, Look, StabilityChart, draw_chart, read_axes
from pendula.analysis.driven.floquet import Multipliers
from pendula.analysis.driven.study import MARGINS
from pendula.system.entry import AnySystem, system_of
from pendula.system.parameters import Parameters, named_changes


def floquet_chart(
    system: AnySystem,
    x: Axis,
    y: Axis,
    *,
    period: float | str | None = None,
    at: Any = None,
    parameters: Parameters = None,
    close: bool = False,
    tol: float = 1e-13,
    samples: int | tuple[int, int] = 40,
    on_progress: Callable[[int, int], object] | None = None,
) -> StabilityChart:
    """Stability of a periodically driven mechanism over two parameters, such as amplitude and frequency.

    The borders are where a multiplier passes 1 or -1, or a pair leaves the unit circle elsewhere. On every line of the
    grid they are roots of smooth functions of the multipliers, refined to rounding, so that tongues much narrower than
    the grid are found wherever a function dips below zero between two points of a line.

    Args:
        system, at, parameters, close, tol: as for ``floquet``.
        x, y: (name, low, high) of the parameters on the two axes.
        period: as for ``floquet``; if it depends on the parameters, an expression such as "2*pi/omega", or None.
        samples: number of grid lines along each axis, or one number for each.
        on_progress: called as ``on_progress(lines done, lines)``.

    Raises:
        UsageError: an axis is wrong, or multipliers cannot be found at any point.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", direction=0, rate=100)
        >>> up = {"theta1": math.pi}
        >>> found = floquet_chart(shaken, ("omega", 60, 120), ("alpha", 0.03, 0.06), at=up, samples=3)
        >>> [round(b.x, 2) for b in found.along("omega", found.y[1])]  # sqrt(2 g l)/alpha = 98.43 for small alpha
        [98.48]
    """
    given = system_of(system, "floquet_chart")
    axis_x, axis_y, counts = read_axes(given, x, y, samples)
    multipliers, base = Multipliers(given, period=period, at=at, close=close, tol=tol), named_changes(given, parameters)

    def look(a: float, b: float) -> Look:
        found = multipliers({**base, axis_x[0]: a, axis_y[0]: b})
        margins = tuple(margin(found) for margin in MARGINS.values())
        return Look(found.stable, found.verdict, found.radius, margins)

    return draw_chart(
        look, axis_x, axis_y, counts, how=tuple(MARGINS), what="spectral radius", missing="are no multipliers",
        system=given, on_progress=on_progress,
    )  # fmt: skip
