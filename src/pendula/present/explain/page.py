"""An explanation as one self-contained page: formulas in MathML, drawings in SVG, no scripts.

The page is ``explain.html`` of this folder with its placeholders filled in. A policy in the page forbids scripts and
loading over a network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from pendula import __version__
from pendula.analysis.explain.explanation import Check, Explanation
from pendula.equations.shares import Source
from pendula.equations.story.display import Shown
from pendula.equations.story.story import Chapter, Formula, Step
from pendula.present.explain.content import (
    OPEN,
    as_matrix,
    entry_name,
    facts,
    intro,
    is_shorter,
    short,
    source_name,
    source_words,
    title,
    verdict,
    width,
)
from pendula.present.explain.mathml import mathml, unescaped
from pendula.present.explain.sketch import Sketch
from pendula.present.player.page import read_template
from pendula.present.report.html import capital
from pendula.present.web import bundle

MOST_SHOWN = 12
"""Number of entries of a large matrix that are shown without folding."""


def as_html(told: Explanation) -> str:
    """The explanation as the text of one self-contained HTML page."""
    writer = _Writer(told)
    contents, body = [], []
    for number, chapter in enumerate(told.story.chapters, 1):
        contents.append(f'<li><a href="#chapter-{number}">{number}. {escape(chapter.title)}</a></li>')
        body.append(writer.chapter(number, chapter))
    figures = "".join(f"<div><b>{escape(_minus(a))}</b><span>{escape(_minus(b))}</span></div>" for a, b in facts(told))
    parts = {
        "title": escape(title(told)),
        "lead": "".join(f"<p>{prose(text)}</p>" for text in intro(told)),
        "facts": figures,
        "contents": "".join(contents),
        "body": "\n".join(body),
        "made": f"Made by Pendula {escape(__version__)}.",
        "brackets": bundle.style("matrix.css"),
        "policy": bundle.policy(),
    }
    return bundle.page(read_template("explain/explain.html"), parts)


def prose(text: str) -> str:
    """Text with formulas between dollar signs as HTML."""
    pieces = re.split(r"(?<!\\)\$", text)
    return "".join(mathml(p) if k % 2 else escape(unescaped(p)) for k, p in enumerate(pieces))


def _minus(text: str) -> str:
    return re.sub(r"(\d)e-(\d)", r"\1e−\2", text)


class _Writer:
    def __init__(self, told: Explanation) -> None:
        self.told = told
        self.sketch = Sketch(told)

    def chapter(self, number: int, chapter: Chapter) -> str:
        """One section of the page."""
        words = "".join(f"<p>{prose(text)}</p>" for text in chapter.words)
        steps = "".join(map(self._step, chapter.steps))
        name = f"chapter-{number}"
        head = f'<h2 id="{name}-title">{number}. {escape(chapter.title)}</h2>'
        return f'<section id="{name}" aria-labelledby="{name}-title">{head}{words}{steps}</section>'

    def _step(self, step: Step) -> str:
        inside = "".join(f"<p>{prose(text)}</p>" for text in step.words)
        if step.picture is not None:
            drawing = self.sketch.draw(step.picture)
            caption = f"<figcaption>{prose(step.picture.caption)}</figcaption>"
            inside += f"<figure>{drawing.svg()}{caption}</figure>"
        if step.law:
            laws = "".join(f'<div class="scroll">{mathml(law, block=True)}</div>' for law in step.law)
            inside += f'<div class="law">{laws}{self._check(self.told.checks.get(id(step)))}</div>'
        inside += f'<div class="formulas">{self._formulas(step.formulas)}</div>'
        if step.folded:
            return f'<details class="step"><summary>{prose(step.title)}</summary>{inside}</details>'
        head = f"<h3>{prose(step.title)}</h3>" if step.title else ""
        return f'<div class="step">{head}{inside}</div>'

    def _formulas(self, formulas: Sequence[Formula]) -> str:
        """Formulas; several in a row that belong to one body begin a new line."""
        parts = []
        for k, formula in enumerate(formulas):
            before = formulas[max(k - 2, 0) : k]
            if len(before) == 2 and before[0].source == before[1].source != formula.source:
                parts.append('<div class="next"></div>')
            parts.append(self._formula(formula))
        return "".join(parts)

    def _formula(self, formula: Formula) -> str:
        shown = self.told.shown[id(formula)]
        check = self._check(self.told.checks.get(id(formula)))
        if all(x == "0" for row in shown.tex for x in row) and not formula.key:
            content = f'<div class="eq">{mathml(f"{formula.name} = 0", block=True)}</div>'
        elif formula.shape == (1, 1):
            content = self._scalar(shown)
        elif as_matrix(shown):
            rows = r" \\ ".join(" & ".join(row) for row in shown.tex)
            tex = rf"{formula.name} = \begin{{bmatrix}} {rows} \end{{bmatrix}}"
            content = f'<div class="scroll">{mathml(tex, block=True)}</div>'
        else:
            content = self._entries(shown)
        words = f'<p class="what">{prose(_sentence(formula.words))}</p>' if formula.words else ""
        kind = "formula" if check or shown.where or len(formula.terms) > 1 or not _is_brief(shown) else "formula brief"
        return f'<div class="{kind}">{words}{self._where(shown)}<div class="row">{content}{check}</div></div>'

    def _scalar(self, shown: Shown) -> str:
        """A sum that breaks lines between its terms; terms of several sources are labelled."""
        formula = shown.formula
        name = f'<span class="lhs">{mathml(f"{formula.name} =", block=True)}</span>'
        total = _pieces(shown.pieces[0][0])
        live = [(t, p) for t, p in zip(formula.terms, shown.terms, strict=True) if p != ("0",)]
        if not live:
            return f'<div class="eq">{name}{total}</div>'
        if len(live) == 1:
            return f'<div class="eq">{name}{self._labelled(live[0][0].source, shown.pieces[0][0])}</div>'
        parts = []
        for k, (term, pieces) in enumerate(live):
            first = pieces[0]
            if k and not first.startswith("-"):
                first = f"+ {first}"
            parts.append(self._labelled(term.source, (first, *pieces[1:])))
        sum_line = ""
        if is_shorter(shown):
            sum_line = f'<div class="eq sum"><span class="lhs">{mathml("=", block=True)}</span>{total}</div>'
        return f'<div><div class="eq">{name}{"".join(parts)}</div>{sum_line}</div>'

    def _labelled(self, source: Source, pieces: tuple[str, ...]) -> str:
        told = self.told
        words = source_words(told, source)
        if not words:
            return _pieces(pieces)
        color = ""
        if source.kind == "body":
            color = f" s{self.sketch.colors[source.name] % 6}"
        label = escape(source_name(told, source))
        return (
            f'<span class="term{color}" title="{escape(words)}"><span class="value">{_pieces(pieces)}</span>'
            f'<span class="from">{label}</span></span>'
        )

    def _entries(self, shown: Shown) -> str:
        """A large matrix entry by entry, without zeros; a symmetric one only to the diagonal."""
        formula = shown.formula
        lines = []
        for i, row in enumerate(shown.pieces):
            for j, pieces in enumerate(row):
                if shown.tex[i][j] == "0" or (formula.key == "M" and j > i):
                    continue
                name = f'<span class="lhs">{mathml(f"{entry_name(shown, i, j)} =", block=True)}</span>'
                lines.append(f'<div class="eq">{name}{_pieces(pieces)}</div>')
        note = '<p class="what">Entries that are not zero'
        note += ", on and below the diagonal (the matrix is symmetric).</p>" if formula.key == "M" else ".</p>"
        if formula.shape[0] == 1 or formula.shape[1] == 1:
            note = ""
        if len(lines) > MOST_SHOWN:
            summary = f"<summary>{len(lines)} entries</summary>"
            return f'<div class="entries">{note}<details>{summary}{"".join(lines)}</details></div>'
        return f'<div class="entries">{note}{"".join(lines)}</div>'

    def _where(self, shown: Shown) -> str:
        """Definitions of intermediates that a formula uses first."""
        if not shown.where:
            return ""
        lines = "".join(
            f'<div class="eq"><span class="lhs">{mathml(f"{name} =", block=True)}</span>{_pieces(pieces)}</div>'
            for name, pieces in shown.where
        )
        count = len(shown.where)
        bare = all(form.is_Symbol for row in shown.forms for form in row)  # nothing but names: their values matter
        if count <= OPEN or bare:
            return f'<div class="where"><p class="what">With</p>{lines}</div>'
        return f'<details class="where"><summary>With {count} intermediate results</summary>{lines}</details>'

    def _check(self, check: Check | None) -> str:
        if check is None:
            return ""
        kind, sign = ("good", "✓") if check.passed else ("bad", "✗")
        figure = f"{sign} {_minus(short(check.difference))}"
        return (
            f'<details class="check {kind}"><summary>{figure}</summary><p>{prose(_minus(verdict(check)))}</p></details>'
        )


def _pieces(pieces: tuple[str, ...]) -> str:
    found = []
    for k, piece in enumerate(pieces):
        text = mathml(piece, block=True)
        if k or piece.startswith("+"):  # the sign is between two terms
            text = text.replace("<mrow><mo>", '<mrow><mo form="infix">', 1)
        found.append(f'<span class="piece">{text}</span>')
    return "".join(found)


def _is_brief(shown: Shown) -> bool:
    """Whether several such formulas fit a line."""
    return as_matrix(shown) and max(width(x) for row in shown.tex for x in row) < 24


def _sentence(text: str) -> str:
    """Words with a capital letter, unless they begin with a formula."""
    return text if text.startswith("$") else capital(text)
