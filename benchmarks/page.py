"""docs/benchmarks.md and its pictures, made from the figures on disk: ``python -m benchmarks.page``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks import plots, results
from benchmarks.measure import number
from pendula.storage.files import write_text

TITLES = {
    "forward": "Accelerations",
    "jacobian": "Derivatives of accelerations",
    "linearization": "Linearization",
    "work_precision": "Runs at equal energy error",
    "ensemble": "Ensembles",
    "memory": "Memory",
    "first_call": "The first call",
    "commands": "Commands",
    "derivation": "Derivation",
    "ball_joints": "Ball joints",
    "simulation": "The 10-link run by SciPy and SymPy",
    "maximal": "Maximal coordinates",
    "taylor": "Taylor series",
    "compile_backend": "Compiling",
}
FAIRNESS = """\
- One core, to which the process is pinned; NumPy's threads are set to 1. All sides run in turn in the same process, and the
  best of several samples counts, since noise only ever adds. CPU time, unless a line says wall time.
- Everyone is called from Python and is compiled, or has loaded its code, before the clock starts; what that takes is not
  counted. Accelerations of all sides are compared with each other, and runs by their energy.
- A planar mechanism is computed by a planar kernel here and by spatial ones in Pinocchio and MuJoCo, so the spatial chain
  is the fairer race of engines. MuJoCo always does more than accelerations, and its integrators have fixed steps.
- Pinocchio is the package from the registry, not compiled for this processor.
- Runs are compared at equal energy error, not at equal tolerance; errors are stated.
- Only ratios within one run mean something: other programs on the machine slow down all sides.
- Ratios also depend on the processor: two machines of the same name differed by a tenth.
"""


def write_page(folder: Path, docs: Path) -> Path:
    """Writes the page and its pictures from all figures in a folder; gives the page's path."""
    found = results.load(folder)
    if not found:
        raise SystemExit(f"there are no figures in {folder}: run make bench first")
    found = {name: found[name] for name in TITLES if name in found}
    pictures = docs / "benchmarks"
    pictures.mkdir(parents=True, exist_ok=True)
    shown = {}
    if plots.overview(found, pictures / "overview.svg"):
        shown["overview"] = "![How many times faster, for every comparison](benchmarks/overview.svg)\n"
    for name, draw in plots.SUBJECTS.items():
        if name in found and draw(found[name]["figures"], pictures / f"{name}.svg"):
            shown[name] = f"![{found[name]['figures']['question']}](benchmarks/{name}.svg)\n"
    page = docs / "benchmarks.md"
    write_text(page, page_text(found, shown))
    return page


def page_text(found: dict[str, dict[str, Any]], pictures: dict[str, str]) -> str:
    """The page in Markdown."""
    parts = [
        "# Benchmarks\n",
        "Made by `make bench` from `benchmarks/results`; do not edit.\n",
        _glance(found, pictures),
    ]
    parts += ["## What is fair and what is not\n", FAIRNESS]
    parts += [_section(name, content, pictures.get(name, "")) for name, content in found.items()]
    parts.append(_machines(found))
    return "\n".join(parts)


def _goals(found: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, goal) for name, content in found.items() for goal in content["figures"].get("goals", [])]


def verdict(goal: dict[str, Any]) -> str:
    """met, MISSED, or not measured."""
    return "not measured" if goal.get("why") else "met" if goal["met"] else "**MISSED**"


def _glance(found: dict[str, dict[str, Any]], pictures: dict[str, str]) -> str:
    goals = _goals(found)
    count = {word: sum(verdict(g) == word for _, g in goals) for word in ("met", "**MISSED**", "not measured")}
    total = f"{count['met']} goals are met, {count['**MISSED**']} missed, {count['not measured']} not measured.\n"
    parts = ["## At a glance\n", total, pictures.get("overview", "")]
    rows = [[_what(name, goal), _found(goal), _wanted(goal), verdict(goal)] for name, goal in goals]
    order = {"**MISSED**": 0, "met": 1, "not measured": 2}
    rows.sort(key=lambda row: order[row[3]])
    parts.append(_table(["what", "found", "goal", ""], rows))
    return "\n".join(parts)


def _what(name: str, goal: dict[str, Any]) -> str:
    return f"[{TITLES[name]}](#{_anchor(TITLES[name])}): {goal['what']}"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _found(goal: dict[str, Any]) -> str:
    return goal["why"] if goal.get("why") else f"{number(goal['found'])} {goal.get('unit', '')}".strip()


def _wanted(goal: dict[str, Any]) -> str:
    return f"{goal['kind']} {goal['wanted']:g} {goal.get('unit', '')}".strip()


def _section(name: str, content: dict[str, Any], picture: str) -> str:
    figures = content["figures"]
    parts = [f"## {TITLES[name]}\n", f"{figures['question']}\n", picture]
    for table in figures.get("tables", []):
        parts += [f"{table['title']}\n"] if table["title"] else []
        parts.append(_table(table["head"], table["rows"]))
    if figures.get("missing"):
        parts.append("Not in this run:\n")
        parts.append("".join(f"- {who}: {why}\n" for who, why in figures["missing"].items()))
    parts += [f"{note}\n" for note in figures.get("notes", [])]
    return "\n".join(part for part in parts if part)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _machines(found: dict[str, dict[str, Any]]) -> str:
    """When and where each part was measured; parts may come from different days."""
    rows, versions = [], {}
    for name, content in found.items():
        about = content["environment"]
        load = f"{about['load'][0]:.1f}" if about.get("load") else ""
        rows.append([TITLES[name], about["date"][:16].replace("T", " "), about["cpu"], str(about["cores"]), load])
        versions |= about["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    head = ["part", "date (UTC)", "processor", "cores", "load at the start"]
    return "\n".join(["## Machine and versions\n", _table(head, rows), f"{listed}.\n"])


if __name__ == "__main__":
    print(write_page(results.FOLDER, Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent / "docs"))
