"""Line drawings for derivations: lines, arrows and labels, written as SVG or as a LaTeX picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from pendula.equations.printing.names import GREEK

Array = Any

WIDTH, HEIGHT = 560.0, 360.0
"""Largest size of a drawing in pixels."""

MARGIN = 46.0


@dataclass(frozen=True)
class Line:
    """A polyline in drawing units; ``style`` is a class of the page: body, ground, axis, dash, arc, force, spring."""

    points: Array
    style: str
    arrow: bool = False
    color: int = -1


@dataclass(frozen=True)
class Mark:
    """A dot or small circle."""

    at: Array
    style: str
    radius: float = 3.5
    color: int = -1


@dataclass(frozen=True)
class Label:
    """Text near a point, in TeX: one letter or word, perhaps with an index. ``shift`` is in pixels, y downwards."""

    at: Array
    tex: str
    shift: tuple[float, float] = (0.0, 0.0)
    style: str = "label"
    color: int = -1


@dataclass
class Drawing:
    """Lines, marks and labels in the plane of the drawing, y upwards, in any unit."""

    title: str
    lines: list[Line] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def line(self, points: Sequence[Any], style: str, *, arrow: bool = False, color: int = -1) -> None:
        """Adds a polyline."""
        self.lines.append(Line(np.array(points, dtype=float), style, arrow, color))

    def mark(self, at: Array, style: str, radius: float = 3.5, color: int = -1) -> None:
        """Adds a dot."""
        self.marks.append(Mark(np.array(at, dtype=float), style, radius, color))

    def label(
        self, at: Array, tex: str, shift: tuple[float, float] = (0.0, 0.0), style: str = "label", color: int = -1
    ) -> None:
        """Adds text."""
        self.labels.append(Label(np.array(at, dtype=float), tex, shift, style, color))

    def _fit(self) -> tuple[float, Array, Array]:
        """Scale, centre of all points, and size of the drawing."""
        points = [p for line in self.lines for p in line.points] + [m.at for m in self.marks]
        points += [label.at for label in self.labels]
        array = np.array(points or [[0.0, 0.0]])
        low, high = array.min(axis=0), array.max(axis=0)
        wide, tall = np.maximum(high - low, 1e-9)
        scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / tall)
        return float(scale), (low + high) / 2, np.array([WIDTH, float(tall * scale) + 2 * MARGIN])

    def svg(self) -> str:
        """The drawing as an SVG element; colours and widths come from the page."""
        scale, centre, size = self._fit()

        def place(p: Array) -> Array:
            return size / 2 + scale * (p - centre) * np.array([1.0, -1.0])

        parts = []
        for line in self.lines:
            points = [place(p) for p in line.points]
            text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline class="{line.style}{_color(line.color)}" points="{text}"/>')
            if line.arrow:
                parts.append(f'<path class="{line.style} head{_color(line.color)}" d="{_head(points)}"/>')
        for mark in self.marks:
            x, y = place(mark.at)
            parts.append(
                f'<circle class="{mark.style}{_color(mark.color)}" cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:g}"/>'
            )
        for label in self.labels:
            x, y = place(label.at) + np.array(label.shift)
            letter, index = spelled(label.tex)
            below = f'<tspan class="sub" dy="4">{escape(index)}</tspan>' if index else ""
            text = f'<text class="{label.style}{_color(label.color)}" x="{x:.1f}" y="{y:.1f}">{escape(letter)}{below}'
            parts.append(f"{text}</text>")
        box = f'viewBox="0 0 {size[0]:g} {size[1]:.0f}"'
        return f'<svg class="sketch" role="img" aria-label="{escape(self.title)}" {box}>{"".join(parts)}</svg>'

    def picture(self) -> str:
        """The drawing as a LaTeX picture, which needs no package."""
        scale, centre, size = self._fit()
        unit = 0.24  # of a pixel, in millimetres

        def place(p: Array, shift: tuple[float, float] = (0.0, 0.0)) -> Array:
            return (size / 2 + scale * (p - centre) + np.array([shift[0], -shift[1]])) * unit

        parts = [rf"\begin{{picture}}({size[0] * unit:.1f},{size[1] * unit:.1f})"]
        for line in self.lines:
            points = [place(p) for p in line.points]
            parts.append(rf"\linethickness{{{_THICKNESS.get(line.style, 0.4)}pt}}")
            parts += [_segment(a, b) for a, b in pairwise(points)]
            if line.arrow:
                parts += _picture_head(points)
        for mark in self.marks:
            x, y = place(mark.at)
            parts.append(rf"\put({x:.2f},{y:.2f}){{\circle*{{{2 * mark.radius * unit:.2f}}}}}")
        for label in self.labels:
            x, y = place(label.at, label.shift)
            parts.append(rf"\put({x:.2f},{y:.2f}){{\makebox(0,0){{\small ${label.tex}$}}}}")
        return "\n".join([*parts, r"\end{picture}"])


_THICKNESS = {"body": 1.6, "force": 1.0, "ground": 0.8, "axis": 0.5, "frame": 0.4, "faint": 0.3}


def _color(color: int) -> str:
    return f" s{color % 6}" if color >= 0 else ""


def _head(points: Sequence[Array]) -> str:
    """Path of an arrow head at the last point."""
    end, along = _end(points)
    across = np.array([-along[1], along[0]])
    corners = [end - 9 * along + 4 * across, end - 9 * along - 4 * across]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (end, *corners)) + "Z"


def _end(points: Sequence[Array]) -> tuple[Array, Array]:
    """Last point and direction there."""
    end = points[-1]
    for start in reversed(points[:-1]):
        gap = end - start
        if np.hypot(*gap) > 1e-6:
            return end, gap / np.hypot(*gap)
    return end, np.array([1.0, 0.0])


def _segment(a: Array, b: Array) -> str:
    """A straight line of any slope as a Bezier curve, which the LaTeX kernel can draw."""
    (x, y), (u, v) = a, b
    return rf"\qbezier({x:.2f},{y:.2f})({(x + u) / 2:.2f},{(y + v) / 2:.2f})({u:.2f},{v:.2f})"


def _picture_head(points: Sequence[Array]) -> list[str]:
    end, along = _end(points)
    across = np.array([-along[1], along[0]])
    return [_segment(end, end - 2.0 * along + side * 0.9 * across) for side in (1, -1)]


def spelled(tex: str) -> tuple[str, str]:
    r"""A TeX name as a letter and an index, for drawings.

    Example:
        >>> spelled(r"\theta_{1}"), spelled(r"-\boldsymbol{F}_{\mathrm{pin}}")
        (('θ', '1'), ('−F', 'pin'))
    """
    base, _, index = tex.partition("_")
    return _plain(base), _plain(index)


def _plain(tex: str) -> str:
    text = re.sub(r"\\(?:boldsymbol|mathrm|text|mathbf)\b", "", tex)
    text = re.sub(r"\\d+ot\b", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: GREEK.get(m[1], {"vartheta": "ϑ"}.get(m[1], "")), text)
    text = re.sub(r"\\[,;! ]", " ", text)
    return re.sub(r"[{}\\]", "", text).replace("-", "−").strip()
