"""Writes a page for each recomputed paper, docs/papers/*.md, with some of its figures.

    python docs/make_papers.py

The findings are those of ``pendula papers``: computed, or kept from an earlier run with the same code.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pendula.papers.run import Computed, Recomputed, recompute
from pendula.papers.types import Line
from pendula.present.pictures.curves import chart_figure
from pendula.storage.files import write_figure, write_text

DOCS = Path(__file__).resolve().parent
PAGES, IMAGES = DOCS / "papers", DOCS / "images" / "papers"
SHOWN = {
    ("001", "cases"),
    ("001", "differences"),
    ("004", "motion"),
    ("004", "forces"),
    ("003", "spread"),
    ("003", "waves"),
    ("003", "beats"),
    ("003", "divergence"),
    ("003", "performance"),
    ("003", "weightless"),
    ("003", "nominal"),
    ("003", "normal_modes"),
    ("003", "three_links"),
    ("003", "one_link"),
    ("002", "motions"),
}
"""parts whose figures are shown"""
MOST_FIGURES = {"motions": 6}
"""of a part; default: 2"""
DPI = 75


def page(found: Recomputed) -> str:
    """The page of one paper."""
    paper = found.paper
    tally = ", ".join(f"{n} {verdict}" for verdict, n in found.tally.items())
    parts = [
        f"# {paper.short}",
        "Made by `python docs/make_papers.py` from the results of `pendula papers`; do not edit.",
        f"Paper {paper.number}: {paper.citation} {paper.summary}",
        f"Statements: {tally}. [All papers](../papers.md)",
    ]
    for done in found.parts:
        parts += [
            f"## {done.part.title}",
            *done.finding.notes,
            table(done.finding.lines),
            *pictures(paper.number, done),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(lines: tuple[Line, ...]) -> str:
    """The lines of a part."""
    rows = ["| where | the paper says | computed | verdict |", "|---|---|---|---|"]
    rows += [f"| {line.where} | {cell(line.says)} | {cell(line.found)} | {cell(verdict(line))} |" for line in lines]
    return "\n".join(rows) if lines else ""


def verdict(line: Line) -> str:
    """The verdict with its reason."""
    more = {"corrected": f": {line.reason}. Instead: {line.corrected}", "not determinable": f"; chosen: {line.data}"}
    return f"**{line.verdict}**{more.get(line.verdict, '')}"


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("\\*\\*", "**")


def pictures(number: str, done: Computed) -> list[str]:
    """Links to the figures of a part, which are written."""
    if (number, done.part.name) not in SHOWN:
        return []
    links = []
    for chart in done.finding.figures[: MOST_FIGURES.get(done.part.name, 2)]:
        file = IMAGES / f"{number}-{done.part.name}-{chart.name}.png"
        write_figure(chart_figure(chart), file, dpi=DPI)
        links.append(f"![{chart.title}](../images/papers/{file.name})")
    return links


def main() -> None:
    """Writes every page."""
    PAGES.mkdir(exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for found in recompute(sys.argv[1:]):
        for done in found.failed:
            sys.exit(f"{found.paper.number} {done.part.name}: {done.error}")
        write_text(PAGES / f"{found.paper.number}.md", page(found))


if __name__ == "__main__":
    main()
