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

RAISED = 5.0
"""Height of the middle of a label over its base line, in pixels."""

LETTER = {"small": 6.0, "name": 7.5, "label": 8.5}
"""Width of a letter by style, in pixels."""


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

    def placed(self, scale: float) -> list[tuple[float, float]]:
        """The shifts of all labels, changed where a label would lie on a line, a mark or another label."""
        flip = scale * np.array([1.0, -1.0])
        crowded = [_dense(line.points * flip) for line in self.lines]
        crowded += [mark.at * flip + _CROSS * mark.radius for mark in self.marks]
        points = np.concatenate(crowded) if crowded else np.zeros((0, 2))
        taken: list[tuple[Array, Array]] = []
        found = []
        for label in self.labels:
            half = _half(label)
            choices = [label.shift, *_moved(label.shift, half)]
            costs = []
            for k, shift in enumerate(choices):
                middle = label.at * flip + np.array(shift) - np.array([0.0, RAISED])
                under = int(np.sum(np.all(np.abs(points - middle) < half, axis=1)))
                over = sum(bool(np.all(np.abs(other - middle) < half + size)) for other, size in taken)
                costs.append((min(under, 4) + 6 * over, k))
            best = choices[min(costs)[1]]
            taken.append((label.at * flip + np.array(best) - np.array([0.0, RAISED]), half))
            found.append(best)
        return found

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
        for label, shift in zip(self.labels, self.placed(scale), strict=True):
            x, y = place(label.at) + np.array(shift)
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
        for label, shift in zip(self.labels, self.placed(scale), strict=True):
            x, y = place(label.at, shift)
            parts.append(rf"\put({x:.2f},{y:.2f}){{\makebox(0,0){{\small ${label.tex}$}}}}")
        return "\n".join([*parts, r"\end{picture}"])


_THICKNESS = {"body": 1.6, "force": 1.0, "ground": 0.8, "axis": 0.5, "frame": 0.4, "faint": 0.3}


_CROSS = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def _dense(points: Array) -> Array:
    """Points along a polyline, a few pixels apart."""
    found = [points[:1]]
    for a, b in pairwise(points):
        steps = int(np.clip(np.hypot(*(b - a)) / 4.0, 1, 400))
        found.append(a + np.linspace(0.0, 1.0, steps + 1)[1:, None] * (b - a))
    return np.concatenate(found)


def _half(label: Label) -> Array:
    """Half of the width and height of a label, in pixels."""
    letter, index = spelled(label.tex)
    wide = LETTER.get(label.style, 8.5) * (len(letter) + 0.75 * len(index))
    return np.array([wide / 2, 7.0])


def _moved(shift: tuple[float, float], half: Array) -> list[tuple[float, float]]:
    """Other shifts of a label, the nearest first: turned about its point and farther from it."""
    x, y = shift[0], shift[1] - RAISED
    size, angle = max(float(np.hypot(x, y)), 10.0), float(np.arctan2(y, x))
    found = []
    for more in (1.0, 1.5, 2.1, 2.8):
        for turn in (0.0, 0.5, -0.5, 1.0, -1.0, 1.6, -1.6, 2.3, -2.3, np.pi):
            c, s = np.cos(angle + turn), np.sin(angle + turn)
            reach = size * more + abs(c) * max(0.0, float(half[0]) - 8.0)  # wide labels begin beside their point
            found.append((reach * c, reach * s + RAISED))
    return found


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
