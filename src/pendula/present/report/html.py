"""HTML elements of a report: tables, sentences, numbers; all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from pendula.present.player.page import scene_json
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Array
from pendula.present.words.tables import is_number, is_numeric, number

MOST_FRAMES = 900
"""largest number of frames of a motion in a report"""
LISTED = 12
"""largest number of rows of a table by default"""


class Page:
    """Scenes of a page, in the order of its players."""

    def __init__(self) -> None:
        self.scenes: list[str] = []

    def player(self, scene: Scene, *, kind: str) -> str:
        """The element of a player that shows a scene; ``kind`` is ``run``, ``mode`` or ``pose``."""
        name = f"scene-{len(self.scenes) + 1}"
        text = scene_json(scene, compact=kind, max_frames=MOST_FRAMES)
        self.scenes.append(f'<script type="application/json" id="{name}">{text}</script>')
        return f'<div class="player {kind}" data-scene="{name}" data-title="{escape(scene.title)}"></div>'


def sentence(text: str, kind: str = "") -> str:
    """A paragraph; lines of an error message (``Try: ...``) become sentences of it."""
    joined = " ".join(line.strip() for line in text.splitlines())
    if joined:
        joined = capital(joined) + ("" if joined.endswith((".", ":", "!", "?")) else ".")
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{escape(joined)}</p>"


def capital(text: str) -> str:
    """A text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def missing(reason: str) -> str:
    """Why a part of the report is missing."""
    return sentence(reason, "missing")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, caption: str = "", most: int = LISTED) -> str:
    """A table whose first column names its rows; with more than ``most`` rows, only the first and last ones.

    Cells are numbers, text, or :class:`Raw` HTML.
    """
    shown: list[Sequence[Any] | None] = list(rows)
    if len(rows) > most + 1:
        shown = [*rows[: most - 2], None, *rows[-2:]]
    numeric = [is_numeric([row[c] for row in rows]) for c in range(len(head))]
    parts = [f"<caption>{escape(caption)}</caption>" if caption else "", "<thead><tr>"]
    parts += [f'<th scope="col"{_side(n)}>{cell(h)}</th>' for h, n in zip(head, numeric, strict=True)]
    parts.append("</tr></thead><tbody>")
    for row in shown:
        if row is None:
            hidden = len(rows) - most
            parts.append(f'<tr class="more"><td colspan="{len(head)}">… {hidden} more …</td></tr>')
            continue
        first, *others = row
        parts.append(f'<tr><th scope="row">{cell(first)}</th>')
        parts += [f"<td{_side(n)}>{cell(x)}</td>" for x, n in zip(others, numeric[1:], strict=True)]
        parts.append("</tr>")
    return f'<div class="scroll" tabindex="0"><table>{"".join(parts)}</tbody></table></div>'


class Raw(str):
    """HTML that is inserted into a table unescaped."""


def cell(value: Any) -> str:
    """A value as HTML: numbers to six digits, text escaped, None as a dash."""
    if isinstance(value, Raw):
        return value
    if value is None:
        return "–"
    return escape(_minus(number(value)) if is_number(value) else str(value))


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _side(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def matrix_formula(name: str, matrix: Array) -> str:
    """A matrix of numbers as a formula; entries that are rounding errors are shown as zero. ``name`` is MathML."""
    floor = 1e-14 * float(np.abs(matrix).max(initial=0.0))
    rows = "".join(
        "<mtr>" + "".join(f"<mtd><mn>{cell(x if abs(x) > floor else 0.0)}</mn></mtd>" for x in row) + "</mtr>"
        for row in matrix.tolist()
    )
    return f'<math displaystyle="true">{name}<mo>=</mo><mtable class="matrix">{rows}</mtable></math>'


def badge(text: str, kind: str) -> Raw:
    """A word in a coloured frame: ``good``, ``bad`` or ``open``."""
    return Raw(f'<span class="badge {kind}">{escape(text)}</span>')


def details(summary: str, content: str) -> str:
    """Long content that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def block(text: str) -> str:
    """Text in lines, with a button that copies it."""
    return f'<div class="copy"><button type="button" hidden>Copy</button><pre>{escape(text)}</pre></div>'


def with_unit(value: float, unit: str, digits: int = 6) -> str:
    """A number with its unit."""
    return f"{_minus(number(value, digits))} {unit}".rstrip()
