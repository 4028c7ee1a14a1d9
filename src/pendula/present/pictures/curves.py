"""Charts of curves and points as data, drawn inline for a page (SVG in its colours) or by Matplotlib for a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pendula.present.pictures import svg
from pendula.present.pictures.plots import DPI, FEW, INK, MUTED
from pendula.present.thinning import thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 400
"""of a curve; longer ones are thinned to the minimum and maximum of each bin"""
DIGITS = 7
"""of stored numbers"""
MOST_DECADES = 6
"""of a logarithmic axis that get a number each"""

SMALLEST_POWER, LARGEST_POWER = -3, 3
"""powers of ten that are written out in labels"""

Style = Literal["line", "dashed", "points"]


@dataclass(frozen=True)
class Curve:
    """A named curve, or points; ``color`` 0 to 5 (default: its place in the chart)."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: Style = "line"
    color: int | None = None


@dataclass(frozen=True)
class Chart:
    """Curves over common axes; the names of the axes include units.

    Attributes:
        name: short, for file names.
        title: what is shown.
        across, up: names of the axes.
        curves: what is drawn.
        log_x, log_y: logarithmic axes; values that are not positive are left out.
        note: a sentence below.
    """

    name: str
    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""


def curve(name: str, x: Any, y: Any, *, style: Style = "line", color: int | None = None, points: int = POINTS) -> Curve:
    """A curve from arrays, thinned to ``points`` points.

    Example:
        >>> curve("square", [0, 1, 2], [0, 1, 4]).y
        (0.0, 1.0, 4.0)
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if style != "points":
        xs, ys = thinned(xs, ys, points)
    return Curve(name, _rounded(xs), _rounded(ys), style, color)


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(float(f"{x:.{DIGITS}g}") for x in values.tolist())


# -- inline, for a page -------------------------------------------------------------------------------


def chart_html(chart: Chart) -> str:
    """The chart as an HTML figure with an inline SVG picture, its title and its legend."""
    shown = [(k, c, _visible(chart, c)) for k, c in enumerate(chart.curves)]
    across = _Axis.around([x for _, _, (x, _) in shown], svg.LEFT, svg.WIDTH - svg.RIGHT, chart.log_x, tight=True)
    up = _Axis.around([y for _, _, (_, y) in shown], svg.HEIGHT - svg.BOTTOM, svg.TOP, chart.log_y)
    parts = [_grid(across, up, chart)]
    for k, one, (x, y) in shown:
        color = f"s{(k if one.color is None else one.color) % svg.COLORS}"
        places = [(across.place(a), up.place(b)) for a, b in zip(x, y, strict=True)]
        if one.style == "points":
            parts += [f'<circle class="dot {color}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in places]
        else:
            dash = " dashed" if one.style == "dashed" else ""
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            parts.append(f'<polyline class="line{dash} {color}" points="{points}"/>')
    names = dict.fromkeys((c.name, (k if c.color is None else c.color) % svg.COLORS, c.style) for k, c, _ in shown)
    legend = "".join(
        f'<span><i class="s{color} {style}"></i>{escape(name)}</span>' for name, color, style in names if name
    )
    note = f'<p class="small">{escape(chart.note)}</p>' if chart.note else ""
    head = f"<h4>{escape(chart.title)}</h4>"
    picture = svg.picture(parts, chart.title)
    return f'<figure>{head}{picture}<figcaption><div class="legend">{legend}</div>{note}</figcaption></figure>'


def _visible(chart: Chart, one: Curve) -> tuple[list[float], list[float]]:
    """Finite points of a curve that the axes can show."""
    kept = [
        (x, y)
        for x, y in zip(one.x, one.y, strict=True)
        if math.isfinite(x) and math.isfinite(y) and (x > 0 or not chart.log_x) and (y > 0 or not chart.log_y)
    ]
    return [x for x, _ in kept], [y for _, y in kept]


@dataclass(frozen=True)
class _Axis:
    """One axis of an inline chart: a range, which may be logarithmic, and where it lies in the picture."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    @classmethod
    def around(
        cls, columns: Sequence[Sequence[float]], start: float, end: float, log: bool, tight: bool = False
    ) -> _Axis:
        values = [math.log10(v) if log else v for column in columns for v in column] or [0.0, 1.0]
        low, high = min(values), max(values)
        margin = (0.0 if tight and high > low else 0.06 * (high - low)) or (
            0.0 if high > low else 0.1 * abs(high) or 1.0
        )
        return cls(low - margin, high + margin, start, end, log)

    def place(self, value: float) -> float:
        """Where a value lies in the picture."""
        at = math.log10(value) if self.log else value
        return self.start + (at - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def power(self) -> int:
        """The power of ten that the labels of a linear axis leave out, so that they stay short."""
        largest = max(abs(self.low), abs(self.high))
        if self.log or not largest:
            return 0
        power = math.floor(math.log10(largest))
        return power if power < SMALLEST_POWER or power > LARGEST_POWER else 0

    def ticks(self) -> list[tuple[float, str]]:
        """Places in the picture with their labels."""
        if not self.log:
            scale = 10.0**self.power
            return [(self.place(x), svg.short(x / scale)) for x in svg.ticks(self.low, self.high, 5)]
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        step = max(1, math.ceil((last - first + 1) / MOST_DECADES))
        decades = [(self.place(10.0**k), _power(k)) for k in range(first, last + 1, step)]
        if len(decades) >= 2:
            return decades
        found = [(m, k) for k in range(math.floor(self.low), last + 1) for m in (1, 2, 5)]
        inside = [(m, k) for m, k in found if self.low <= math.log10(m) + k <= self.high]
        if len(inside) >= 2:
            return [(self.place(m * 10.0**k), _multiple(m, k)) for m, k in inside]
        low, high = 10.0**self.low, 10.0**self.high
        return [(self.place(x), svg.short(x)) for x in svg.ticks(low, high, 4) if x > 0]


def _multiple(m: int, k: int) -> str:
    """The number m 10^k as a label."""
    if SMALLEST_POWER <= k <= LARGEST_POWER:
        return svg.short(m * 10.0**k)
    return _power(k) if m == 1 else f"{m}·{_power(k)}"


def _power(k: int) -> str:
    raised = str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "1" if k == 0 else "10" if k == 1 else f"10{raised}"


def _grid(across: _Axis, up: _Axis, chart: Chart) -> str:
    """Grid, numbers and names of both axes."""
    bottom, right = svg.HEIGHT - svg.BOTTOM, svg.WIDTH - svg.RIGHT
    parts = []
    for x, label in across.ticks():
        parts.append(f'<path class="grid" d="M{x:.1f} {svg.TOP}V{bottom}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{svg.HEIGHT - 27}">{label}</text>')
    for y, label in up.ticks():
        parts.append(f'<path class="grid" d="M{svg.LEFT} {y:.1f}H{right}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{svg.LEFT - 6}" y="{y + 4:.1f}">{label}</text>')
    if up.power:
        parts.append(f'<text class="tick" x="{svg.LEFT}" y="{svg.TOP - 3}">× {_power(up.power)}</text>')
    if across.power:
        right_end = f'text-anchor="end" x="{right}" y="{svg.HEIGHT - 7}"'
        parts.append(f'<text class="tick" {right_end}>× {_power(across.power)}</text>')
    parts.append(svg.axis_names(chart.across, chart.up))
    return "".join(parts)


# -- by Matplotlib, for a file ------------------------------------------------------------------------


_LOOKS: dict[str, dict[str, Any]] = {
    "line": {"lw": 1.2},
    "dashed": {"lw": 1.2, "ls": "--"},
    "points": {"marker": "o", "ls": "", "ms": 4},
}


def chart_figure(chart: Chart) -> Figure:
    """The chart as a Matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=DPI, layout="constrained")
    ax = figure.add_subplot()
    named = set()
    for k, one in enumerate(chart.curves):
        color = FEW[(k if one.color is None else one.color) % len(FEW)]
        look = _LOOKS[one.style]
        label = None if one.name in named or not one.name else one.name
        named.add(one.name)
        ax.plot(*_visible(chart, one), color=color, label=label, **look)
    ax.set_xscale("log" if chart.log_x else "linear")
    ax.set_yscale("log" if chart.log_y else "linear")
    ax.set_xlabel(chart.across, color=INK)
    ax.set_ylabel(chart.up, color=INK)
    ax.set_title(chart.title, color=INK, fontsize=10, loc="left")
    ax.grid(color="#e4e7ee", lw=0.6)
    ax.tick_params(colors=MUTED)
    if len(named - {""}) > 0:
        figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)  # below, where it hides nothing
    return figure
