"""The report on the papers: one self-contained page with tables, formulas, figures, players and the errata."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from pendula.papers.run import Computed, Recomputed
from pendula.papers.types import SEVERITIES, VERDICTS, Line, Table
from pendula.present.pictures.curves import Chart, chart_figure, chart_html
from pendula.present.report.frame import framed
from pendula.present.report.html import Raw, badge, block, details, missing, sentence, table
from pendula.storage.files import write_figure, write_text
from pendula.words import counted

BADGES = {"reproduced": "good", "corrected": "bad", "not determinable": "open"}
EFFECTS = {"rounding": "last digits only", "harmless": "none: the results are the same"}
"""of corrected lines that state none"""
MOST_ROWS = 400


def write_page(found: Iterable[Recomputed], path: Path) -> Path:
    """Writes the report and returns its path."""
    write_text(path, page_html(tuple(found)))
    return path


def page_html(found: tuple[Recomputed, ...]) -> str:
    """The report as the text of one self-contained HTML page."""
    scenes: list[str] = []
    contents, body = [], []
    for one in found:
        name = f"paper-{one.paper.number}"
        contents.append(f'<li><a href="#{name}">{escape(one.paper.short)}</a></li>')
        contents += [
            f'<li class="inner"><a href="#{name}-{part.part.name}">{escape(part.part.title)}</a></li>'
            for part in one.parts
        ]
        body.append(_paper(one, name, scenes))
    contents.append('<li><a href="#errata">Errata</a></li>')
    head = '<h2 id="errata-title">Errata</h2>'
    body.append(f'<section id="errata" aria-labelledby="errata-title">{head}{_errata(found)}</section>')
    return framed(
        title="The papers, recomputed",
        lead="<p>What five papers on pendulums and linkages say, and what Pendula computes: every line below is the "
        "result of a computation.</p>",
        facts=f'<div class="facts">{"".join(_fact(one) for one in found)}</div>',
        contents="".join(contents),
        body="\n".join(body),
        scenes=scenes,
    )


def _fact(one: Recomputed) -> str:
    words = ", ".join(f"{n} {verdict}" for verdict, n in one.tally.items() if n)
    failed = f", {counted(len(one.failed), 'part')} failed" if one.failed else ""
    return f"<div><b>{escape(one.paper.short)}</b><span>{one.paper.number}: {escape(words + failed)}</span></div>"


def _paper(one: Recomputed, name: str, scenes: list[str]) -> str:
    inside = "".join(_part(done, name, scenes) for done in one.parts)
    head = f'<h2 id="{name}-title">{escape(one.paper.short)}</h2>{sentence(one.paper.summary)}'
    cited = f'<p class="small">Paper {one.paper.number}: {escape(one.paper.citation)}</p>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{cited}{inside}</section>'


def _part(done: Computed, name: str, scenes: list[str]) -> str:
    found = done.finding
    parts = [f'<div class="part" id="{name}-{done.part.name}"><h3>{escape(done.part.title)}</h3>']
    if done.error:
        parts.append(missing(f"This part failed: {done.error}"))
    parts += [_small(sentence(signed(note))) for note in found.notes]
    parts += [_formula(formula.title, formula.content) for formula in found.formulas]
    if found.lines:
        parts.append(lines_table(found.lines))
    parts += [_table(one) for one in found.tables]
    if found.figures:
        parts.append(f'<div class="charts">{"".join(chart_html(chart) for chart in found.figures)}</div>')
    if found.animations:
        cards = []
        for animation in found.animations:
            scene = f"scene-{len(scenes) + 1}"
            scenes.append(f'<script type="application/json" id="{scene}">{animation.scene}</script>')
            title = escape(animation.title)
            frame = f'<div class="player run" data-scene="{scene}" data-title="{title}"></div>'
            note = sentence(signed(animation.note), "small") if animation.note else ""
            cards.append(f"<article><h4>{title}</h4>{frame}{note}</article>")
        parts.append(f'<div class="cards motions">{"".join(cards)}</div>')
    parts += [details(text.title, block(text.content)) for text in found.texts]
    return "".join([*parts, "</div>"])


def _formula(title: str, mathml: str) -> str:
    return f'<div class="formula"><p>{escape(title)}</p><div class="scroll">{mathml}</div></div>'


def _table(one: Table) -> str:
    rows = [[typeset(x) if isinstance(x, str) else x for x in row] for row in one.rows]
    return table([typeset(x) for x in one.head], rows, caption=one.title, most=MOST_ROWS)


def lines_table(lines: Iterable[Line]) -> str:
    """The lines of a part: place, statement, result, verdict with its reason."""
    rows = [(typeset(line.where), typeset(line.says), typeset(line.found), _verdict(line)) for line in lines]
    head = ["Where", "The paper says", "Computed", "Verdict"]
    return f'<div class="lines verdicts">{table(head, rows, most=MOST_ROWS)}</div>'


def _verdict(line: Line) -> Raw:
    parts = [badge(line.verdict, BADGES[line.verdict])]
    if line.verdict == "corrected":
        parts.append(
            Raw(f"<p>{typeset(_sentence(line.reason))} <b>Corrected:</b> {typeset(_sentence(line.corrected))}</p>")
        )
    if line.data:
        parts.append(Raw(f"<p><b>Chosen here:</b> {typeset(_sentence(line.data))}</p>"))
    return Raw("".join(parts))


def _sentence(text: str) -> str:
    """Text that ends in a full stop; it starts with a capital unless its first word may be a symbol or a function."""
    first, _, rest = text.partition(" ")
    word = first.isascii() and first.isalpha() and len(first) > 1 and first not in ("sin", "cos", "det")
    article = first == "a" and rest[:3].isalpha() and len(rest) > 2
    if word or article:
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def signed(text: str) -> str:
    """Text with true minus signs before numbers and in exponents.

    Example:
        >>> signed("between -2 and 1e-8, eqs. 1-5")
        'between −2 and 1e−8, eqs. 1-5'
    """
    return re.sub(r"(?<![\w.)\]])-(?=[\d.])|(?<=\de)-(?=\d)", "−", text)


_LETTER = "[A-Za-zα-ωΑ-Ω∂Σζ][\u0300-\u036f]?"
_SMALL = (
    (re.compile(r"_\{((?:[^{}]|\{[^{}]*\})*)\}"), r"<sub>\1</sub>"),  # r_{G_iE_{i−1}}; twice, for the inner ones
    (
        re.compile(rf"(?<![A-Za-z0-9_])({_LETTER})_([A-Z][a-z0-9]?|[a-zα-ω]{{1,2}}|[0-9])(?![a-z0-9_])"),
        r"\1<sub>\2</sub>",
    ),
    (re.compile(rf"(?<![A-Za-z0-9])({_LETTER})\^(extended|[A-Za-z])(?![a-z])"), r"\1<sup>\2</sup>"),
    (re.compile(r"\b(e|10)\^(?:\(([^()]*)\)|(−?\w))"), r"\1<sup>\2\3</sup>"),
)


def typeset(text: str) -> Raw:
    """Text as HTML, with true minus signs, and with indices and exponents lowered and raised.

    Names of variables such as ``theta1_dot`` stay as they are.

    Example:
        >>> typeset("−m_i g at r_{G_iE_{i-1}}, e^(2 t), I^G, theta1_dot")
        '−m<sub>i</sub> g at r<sub>G<sub>i</sub>E<sub>i-1</sub></sub>, e<sup>2 t</sup>, I<sup>G</sup>, theta1_dot'
    """
    return Raw(_small(escape(signed(text))))


def _small(html: str) -> str:
    """HTML with indices and exponents lowered and raised."""
    for pattern, lowered in _SMALL:
        html = pattern.sub(lowered, pattern.sub(lowered, html))
    return html


def _errata(found: tuple[Recomputed, ...]) -> str:
    rows = [(typeset(f"{short}, {line.where}"), *_erratum(line)) for short, line in errata(found)]
    if not rows:
        return sentence("No statement of these papers had to be corrected")
    words = "; ".join(f"{name}: {what}" for name, what in SEVERITIES.items())
    lead = sentence(f"{counted(len(rows), 'statement')} corrected. Kinds: {words}")
    head = ["Where", "Claim", "Computed", "Corrected", "Effect", "Kind"]
    return lead + f'<div class="lines errata">{table(head, rows, most=MOST_ROWS)}</div>'


def _erratum(line: Line) -> tuple[object, ...]:
    kind = badge(line.severity, {"wrong": "bad", "incomplete": "open"}.get(line.severity, "good"))
    computed = f"{line.found}. {_sentence(line.reason)}"
    effect = line.effect or EFFECTS.get(line.severity, "")
    return typeset(line.says), typeset(computed), typeset(line.corrected), typeset(effect) if effect else None, kind


def errata(found: Iterable[Recomputed]) -> list[tuple[str, Line]]:
    """All corrected lines with the short names of their papers, those that change results first."""
    order = list(SEVERITIES)
    listed = [(one.paper.short, line) for one in found for line in one.lines if line.verdict == "corrected"]
    return sorted(listed, key=lambda pair: order.index(pair[1].severity))


def write_figures(found: Iterable[Recomputed], folder: Path) -> list[Path]:
    """Writes every figure as PNG and SVG, and returns the paths; the names start with the number of the paper."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for one in found:
        for done in one.parts:
            for chart in done.finding.figures:
                written += _write(chart, folder / f"{one.paper.number}-{done.part.name}-{chart.name}")
    return written


def _write(chart: Chart, stem: Path) -> list[Path]:
    figure = chart_figure(chart)
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in ("png", "svg")]
    for path in paths:
        write_figure(figure, path)
    return paths


def tally_lines(found: Iterable[Recomputed]) -> list[str]:
    """For each paper one line: how many statements are reproduced, corrected, not determinable."""
    width = max((len(one.paper.short) for one in found), default=0)
    return [
        f"{one.paper.number}  {one.paper.short:{width}}  "
        + ", ".join(f"{one.tally[verdict]} {verdict}" for verdict in VERDICTS)
        + (f", {counted(len(one.failed), 'part')} failed" if one.failed else "")
        for one in found
    ]
