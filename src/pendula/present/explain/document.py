"""An explanation as a complete LaTeX document, which needs amsmath, geometry and graphicx only."""

from __future__ import annotations

import re

from pendula import __version__
from pendula.analysis.explain.explanation import Check, Explanation
from pendula.equations.printing.names import GREEK
from pendula.equations.shares import Source
from pendula.equations.story.display import Shown
from pendula.equations.story.story import Chapter, Formula, Step
from pendula.equations.story.telling import escaped
from pendula.present.explain.content import (
    as_matrix,
    entry_name,
    facts,
    intro,
    is_shorter,
    source_name,
    title,
    verdict,
    width,
)
from pendula.present.explain.sketch import Sketch

LINE = 74
"""Width of a line of formulas, in characters; longer sums are broken."""

MOST_LINES = 16
"""Number of lines of one display; longer ones are continued in the next, so that pages can break."""

_HEAD = r"""\documentclass[11pt]{article}
\usepackage[a4paper, margin=24mm]{geometry}
\usepackage{amsmath}
\usepackage{graphicx}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt}
\setlength{\unitlength}{1mm}
\allowdisplaybreaks
% A formula that is wider than the line is scaled down to fit it.
\newsavebox{\formula}
\newcommand{\fit}[1]{\sbox{\formula}{$\displaystyle #1$}%
  \ifdim\wd\formula>\linewidth\resizebox{\linewidth}{!}{\usebox{\formula}}\else\usebox{\formula}\fi}
\newcommand{\checked}[1]{{\par\noindent\hfill\footnotesize\itshape #1\par}}
"""


def as_tex(told: Explanation) -> str:
    """The explanation as the text of a LaTeX document."""
    writer = _Writer(told)
    head = escaped(title(told))
    lines = [f"% {told.model.name}: derivation by {told.formulation}, made by Pendula {__version__}", _HEAD]
    lines += [r"\begin{document}", rf"\begin{{center}}{{\LARGE {plain(head)}}}\end{{center}}", ""]
    for text in intro(told):
        lines += [plain(text), ""]
    lines += [r"\begin{itemize}"]
    lines += [rf"\item {plain(escaped(a))}: {plain(escaped(b))}." for a, b in facts(told)]
    lines += [r"\end{itemize}", r"\tableofcontents", ""]
    for chapter in told.story.chapters:
        lines += writer.chapter(chapter)
    return "\n".join([*lines, r"\end{document}", ""])


def plain(text: str) -> str:
    """Text in which every character has a meaning in LaTeX without further packages."""
    return "".join(c if ord(c) < 128 else _character(c) for c in text)


def _character(c: str) -> str:
    for name, letter in GREEK.items():
        if letter == c:
            return rf"$\{name}$"
    return c if ord(c) < 256 else rf"\texttt{{U+{ord(c):04X}}}"


class _Writer:
    def __init__(self, told: Explanation) -> None:
        self.told = told
        self.sketch = Sketch(told)

    def chapter(self, chapter: Chapter) -> list[str]:
        """One section."""
        lines = [rf"\section{{{plain(escaped(chapter.title))}}}", ""]
        for text in chapter.words:
            lines += [plain(text), ""]
        for step in chapter.steps:
            lines += self._step(step)
        return lines

    def _step(self, step: Step) -> list[str]:
        lines = [rf"\subsection*{{{plain(step.title)}}}", ""] if step.title else []
        for text in step.words:
            lines += [plain(text), ""]
        if step.picture is not None:
            lines += [r"\begin{center}", self.sketch.draw(step.picture).picture(), ""]
            lines += [rf"{{\small {plain(step.picture.caption)}}}", r"\end{center}", ""]
        lines += [rf"\[ \fit{{{law}}} \]" for law in step.law]
        lines += self._check(self.told.checks.get(id(step)))
        for formula in step.formulas:
            lines += self._formula(formula)
        return [*lines, ""]

    def _formula(self, formula: Formula) -> list[str]:
        shown = self.told.shown[id(formula)]
        lines = []
        if shown.where:
            lines += ["With", *_lines([(name, pieces) for name, pieces in shown.where])]
        if formula.words:
            words = formula.words if formula.words.startswith("$") else formula.words[0].upper() + formula.words[1:]
            lines.append(rf"{plain(words)}:")
        if all(x == "0" for row in shown.tex for x in row) and not formula.key:
            lines.append(rf"\[ {formula.name} = 0 \]")
        elif formula.shape == (1, 1):
            lines += self._scalar(shown)
        elif as_matrix(shown):
            rows = r" \\ ".join(" & ".join(row) for row in shown.tex)
            lines.append(rf"\[ \fit{{{formula.name} = \begin{{bmatrix}} {rows} \end{{bmatrix}}}} \]")
        else:
            entries = []
            for i, row in enumerate(shown.pieces):
                for j, pieces in enumerate(row):
                    if shown.tex[i][j] != "0" and not (formula.key == "M" and j > i):
                        entries.append((entry_name(shown, i, j), pieces))
            lines += _lines(entries)
        return [*lines, *self._check(self.told.checks.get(id(formula)))]

    def _scalar(self, shown: Shown) -> list[str]:
        """A sum; terms of several sources are marked by braces, or listed if they are long."""
        formula = shown.formula
        live = [(t.source, p) for t, p in zip(formula.terms, shown.terms, strict=True) if p != ("0",)]
        live = [(source, p) for source, p in live if source.kind]
        if not live:
            return _lines([(formula.name, shown.pieces[0][0])])
        if sum(width(piece) for _, pieces in live for piece in pieces) <= LINE:
            terms = []
            for k, (source, pieces) in enumerate(live):
                text = " ".join(pieces)
                sign = "" if k == 0 or text.startswith("-") else "+ "
                terms.append(rf"{sign}\underbrace{{{text}}}_{{{self._label(source)}}}")
            whole = f" = {' '.join(shown.pieces[0][0])}" if len(live) > 1 and is_shorter(shown) else ""
            return [rf"\[ \fit{{{formula.name} = {' '.join(terms)}{whole}}} \]"]
        if len(live) == 1:
            return [*_lines([(formula.name, shown.pieces[0][0])]), rf"\checked{{from {self._words(live[0][0])}}}"]
        total = _lines([(formula.name, shown.pieces[0][0])])
        shares = [(rf"{formula.name}^{{{self._label(source)}}}", pieces) for source, pieces in live]
        if "^" in formula.name:
            shares = [(self._label(source), pieces) for source, pieces in live]
        return [*total, "of which the parts are", *_lines(shares)]

    def _label(self, source: Source) -> str:
        return rf"\text{{{plain(escaped(source_name(self.told, source)))}}}"

    def _words(self, source: Source) -> str:
        return plain(escaped(f"{source.kind} {source_name(self.told, source)}"))

    def _check(self, check: Check | None) -> list[str]:
        return [] if check is None else [rf"\checked{{{plain(verdict(check))}}}"]


def _lines(formulas: list[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Formulas below each other, sums broken between their terms."""
    rows: list[str] = []
    for name, pieces in formulas:
        line, used = rf"{name} &= ", width(name) + 3
        for piece in pieces:
            size = width(piece) + 1
            if used + size > LINE and not line.endswith("= "):
                rows.append(line)
                line, used = r"&\quad ", 6
            line, used = f"{line}{piece} ", used + size
        rows.append(line)
    found = []
    for start in range(0, len(rows), MOST_LINES):
        body = " \\\\\n".join(rows[start : start + MOST_LINES])
        found.append(f"\\[ \\fit{{\\begin{{aligned}}\n{body}\n\\end{{aligned}}}} \\]")
    return found


def balanced(tex: str) -> str:
    r"""What is wrong with the braces and environments of a LaTeX text; empty if nothing is.

    Example:
        >>> balanced(r"\begin{a} {x} \end{a}"), balanced(r"\begin{a} {x \end{a}")
        ('', '\\end{a} closes {')
    """
    stack: list[str] = []
    for token in re.findall(r"\\begin\{[^}]*\}|\\end\{[^}]*\}|\\left\b|\\right\b|\\.|[{}]|%[^\n]*", tex, re.S):
        if token.startswith(r"\begin"):
            stack.append(token[6:])
        elif token == "{" or token == r"\left":
            stack.append(token)
        elif token == "}" or token == r"\right" or token.startswith(r"\end"):
            wanted = {"}": "{", r"\right": r"\left"}.get(token, token[4:])
            if not stack or stack[-1] != wanted:
                return f"{token} closes {stack[-1] if stack else 'nothing'}"
            stack.pop()
    return f"{stack[-1]} is not closed" if stack else ""
