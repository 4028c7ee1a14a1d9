"""Elements of displays: a frame with a title, tables of facts, pictures and pages inside.

Notebooks differ in what they keep of HTML: all styles are attributes of elements, colours follow those of the notebook
(light or dark), nothing is loaded from anywhere, and scripts run only inside an ``iframe`` that holds its whole page.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import Any

from pendula.errors import PendulaError, UsageError
from pendula.present.pictures.registry import plot_of
from pendula.present.player.page import printable
from pendula.present.report.html import table

MOST_ROWS = 24
"""rows of a table"""
LINE = "1px solid rgba(128,128,128,.35)"
PALE = "opacity:.75"
COLOURS = 64
"""of a picture: lines and text need no more, and it is a third as large"""
PICTURE_DPI = 110
PICTURE_WIDTH = 620
"""largest width of a picture in a notebook"""
PICTURE_HEIGHT = 340
FRAME = "allow-scripts allow-downloads"


def card(title: str, *parts: str) -> str:
    """A frame with a title around the parts of a display."""
    inside = "".join(parts)
    head = f'<div style="font-weight:600;margin-bottom:.4em">{escape(_line(title))}</div>' if title else ""
    return (
        f'<div class="pendula" style="border:{LINE};border-radius:6px;padding:.6em .9em;margin:.2em 0;max-width:60em;'
        f'overflow-x:auto;overflow-y:hidden;color:inherit;background:transparent">{head}{inside}</div>'
    )


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """Names and texts as a table without lines."""
    cells = "".join(
        f'<tr style="background:transparent"><th style="text-align:left;font-weight:500;{PALE};padding:.1em 1em .1em 0;'
        f'vertical-align:top;white-space:nowrap">{escape(name)}</th><td style="text-align:left;padding:.1em 0;'
        f'vertical-align:top">{escape(_line(text))}</td></tr>'
        for name, text in rows
        if text
    )
    return f'<table style="border-collapse:collapse;border:none;margin:.2em 0 .5em">{cells}</table>' if cells else ""


def grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table; long ones are cut in the middle."""
    return table(heads, rows, most=MOST_ROWS).replace(' tabindex="0"', "") if rows else ""


def folded(summary: str, content: str) -> str:
    """Content that opens on a click."""
    return (
        f'<details style="margin:.3em 0"><summary style="cursor:pointer">{escape(summary)}</summary>{content}</details>'
    )


def text_lines(lines: Sequence[str]) -> str:
    """Lines of text as a terminal shows them."""
    text = escape("\n".join(lines))
    if not text:
        return ""
    style = "margin:.2em 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
    return f'<pre style="{style};background:transparent;color:inherit;padding:0;border:none">{text}</pre>'


def note(text: str) -> str:
    """A small remark."""
    return f'<div style="font-size:.9em;{PALE};margin:.2em 0">{escape(_line(text))}</div>'


def notes(texts: Sequence[str]) -> str:
    """Small remarks, one below the other."""
    return "".join(note(text) for text in texts)


def picture_of(result: Any, **options: Any) -> str:
    """The plot of a result as an image; empty without Matplotlib, or if this result cannot be drawn."""
    try:
        draw = plot_of(result)
    except UsageError:
        return ""
    try:
        figure = draw(result, **options)
    except (ImportError, PendulaError):
        return ""
    return image(figure, f"{type(result).__name__}")


def image(figure: Any, label: str) -> str:
    """A Matplotlib figure as an image inside the HTML."""
    content, (width, height) = small_png(figure, PICTURE_DPI, tight=True)
    shown = round(min(PICTURE_WIDTH, width / PICTURE_DPI * 72, PICTURE_HEIGHT * width / height))
    text = base64.b64encode(content).decode("ascii")
    return (
        f'<img alt="{escape(label)}" width="{shown}" style="max-width:100%;height:auto;background:white;'
        f'border-radius:4px;margin:.3em 0;display:block" src="data:image/png;base64,{text}"/>'
    )


def small_png(figure: Any, dpi: float, *, tight: bool = False) -> tuple[bytes, tuple[int, int]]:
    """A figure as PNG with few colours, and its size; ``tight`` cuts empty margins."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    held = io.BytesIO()
    canvas, before = figure.canvas, figure.dpi
    try:
        FigureCanvasAgg(figure).print_figure(
            held, format="png", dpi=dpi, facecolor=figure.get_facecolor(), bbox_inches="tight" if tight else None
        )
    finally:
        figure.dpi = before
        figure.set_canvas(canvas)
    held.seek(0)
    drawn = Image.open(held).convert("RGB")
    packed = io.BytesIO()
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue(), drawn.size


def framed(page: str, *, height: int, title: str) -> str:
    """A whole page inside the HTML, which runs separately and cannot reach the notebook."""
    return (
        f'<iframe title="{escape(_line(title))}" sandbox="{FRAME}" loading="lazy" style="width:100%;height:{height}px;'
        f"box-sizing:border-box;border:{LINE};border-radius:6px;"
        f'display:block;background:transparent" srcdoc="{escape(page)}"></iframe>'
    )


def _line(text: str) -> str:
    """Text that can be written as UTF-8, without control characters."""
    return "".join(c if c.isprintable() or c == " " else " " for c in printable(text))
