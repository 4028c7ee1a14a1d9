"""Small inline SVG pictures for a page: roots in the complex plane, and what charts of curves share with them.

Colours are classes (``s0``, ``s1``, ...) that the page defines for its light and dark themes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from pendula.present.player.shapes import Array
from pendula.present.words.units import labelled

WIDTH, HEIGHT = 460, 280
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 44
COLORS = 6
CROWD = 40  # number of roots above which marks are smaller


@dataclass(frozen=True)
class Root:
    """A root to draw: value, multiplicity, description, and colour."""

    value: complex
    times: int
    words: str
    color: int


def complex_plane(roots: Sequence[Root], *, unit: str, title: str, circle: bool = False) -> str:
    """Roots in the complex plane, with the unstable half plane shaded, or with the unit circle."""
    values = np.array([r.value for r in roots]) if roots else np.zeros(1, complex)
    spread = max(float(np.abs(values.real).max()), float(np.abs(values.imag).max()), 1e-300)
    if circle:
        reach = 1.25 * max(1.0, spread)
        wide, tall = (-reach, reach), (-reach, reach)
    else:
        wide, tall = _around(values.real, spread), _around(values.imag, spread)
    size = (WIDTH, HEIGHT) if not circle else (WIDTH, WIDTH - LEFT - RIGHT + TOP + BOTTOM)
    x_of, y_of = _scale(*wide, LEFT, size[0] - RIGHT), _scale(*tall, size[1] - BOTTOM, TOP)
    parts = []
    if circle:
        radius = x_of(1.0) - x_of(0.0)
        parts.append(f'<circle class="circle" cx="{x_of(0):.1f}" cy="{y_of(0):.1f}" r="{radius:.1f}"/>')
    else:
        edge = min(max(x_of(0.0), LEFT), size[0] - RIGHT)
        tall_px = size[1] - TOP - BOTTOM
        parts.append(
            f'<rect class="growing" x="{edge:.1f}" y="{TOP}" width="{size[0] - RIGHT - edge:.1f}" height="{tall_px}"/>'
        )
    parts.append(_axes(*wide, *tall, labelled("real part", unit), labelled("imaginary part", unit), size))
    zero_x, zero_y = x_of(0.0), y_of(0.0)
    if LEFT <= zero_x <= size[0] - RIGHT:
        parts.append(f'<path class="axis" d="M{zero_x:.1f} {TOP}V{size[1] - BOTTOM}"/>')
    if TOP <= zero_y <= size[1] - BOTTOM:
        parts.append(f'<path class="axis" d="M{LEFT} {zero_y:.1f}H{size[0] - RIGHT}"/>')
    arm = 5.0 if len(roots) <= CROWD else 2.5
    parts += [_mark(root, x_of(root.value.real), y_of(root.value.imag), arm) for root in roots]
    return f"<figure>{picture(parts, title, size)}</figure>"


def _mark(root: Root, x: float, y: float, arm: float) -> str:
    full = 2 * arm
    lines = f"M{x - arm:.1f} {y - arm:.1f}l{full} {full}m0 {-full}l{-full} {full}"
    thin = "" if arm > 4 else " thin"
    cross = f'<path class="root{thin} s{root.color % COLORS}" d="{lines}"/>'
    times = f'<text class="times" x="{x + 8:.1f}" y="{y - 6:.1f}">×{root.times}</text>' if root.times > 1 else ""
    return f"<g><title>{escape(root.words)}</title>{cross}{times}</g>"


def picture(parts: Sequence[str], title: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
    """The SVG element around the parts of a chart."""
    label = escape(title)
    box = f'viewBox="0 0 {size[0]} {size[1]}"'
    return f'<svg class="chart" role="img" aria-label="{label}" {box}>{"".join(parts)}</svg>'


def _axes(
    x0: float, x1: float, y0: float, y1: float, across: str, up: str, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> str:
    """Grid, numbers and names of both axes."""
    width, height = size
    x_of, y_of = _scale(x0, x1, LEFT, width - RIGHT), _scale(y0, y1, height - BOTTOM, TOP)
    parts = []
    for x in ticks(x0, x1, 5):
        parts.append(f'<path class="grid" d="M{x_of(x):.1f} {TOP}V{height - BOTTOM}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x_of(x):.1f}" y="{height - 27}">{short(x)}</text>')
    for y in ticks(y0, y1, 5):
        parts.append(f'<path class="grid" d="M{LEFT} {y_of(y):.1f}H{width - RIGHT}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{LEFT - 6}" y="{y_of(y) + 4:.1f}">{short(y)}</text>')
    return "".join([*parts, axis_names(across, up, size)])


def axis_names(across: str, up: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
    """Names of both axes."""
    width, height = size
    centre, middle = (LEFT + width - RIGHT) / 2, (TOP + height - BOTTOM) / 2
    turned = f"translate(13 {middle}) rotate(-90)"
    return (
        f'<text class="name" text-anchor="middle" x="{centre}" y="{height - 7}">{escape(across)}</text>'
        f'<text class="name" text-anchor="middle" transform="{turned}">{escape(up)}</text>'
    )


def ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers between two values, about as many as wanted.

    Example:
        >>> ticks(0.0, 10.0, 5)
        [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def short(x: float) -> str:
    """A number for an axis."""
    return "0" if abs(x) < 1e-300 else f"{x:.4g}".replace("-", "−")


def _scale(low: float, high: float, start: float, end: float) -> _Scale:
    return _Scale(low, (end - start) / (high - low), start)


@dataclass(frozen=True)
class _Scale:
    low: float
    slope: float
    start: float

    def __call__(self, x: float) -> float:
        return self.start + (x - self.low) * self.slope


def _around(values: Array, spread: float) -> tuple[float, float]:
    """A range that contains zero and all values, with a minimum width relative to the spread."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    margin = max(0.14 * (high - low), 0.12 * spread if high - low < 0.2 * spread else 0.0)
    return low - margin, high + margin
