"""A derivation in stages as text, LaTeX and plain data."""

from __future__ import annotations

import textwrap
from typing import Any

from pendula.equations.simplify.recipe import ALLOWED
from pendula.equations.simplify.sizes import Size
from pendula.equations.stages.stages import Stage, Stages
from pendula.words import WIDTH

HEAD = ("stage", "raw", "before", "after", "operations", "time", "change")


def stages_text(found: Stages) -> str:
    """Two tables in 80 columns: sizes of the stages, and of every simplification step."""
    lines = [f"{found.model}: derivation in stages", ""]
    rows = [HEAD, *(_row(s) for s in found.stages)]
    lines += _aligned(rows)
    lines += ["", "raw: terms if nothing before were simplified; before: terms from the simplified"]
    lines += ["stages; operations: before and after; change: largest relative change of a value"]
    lines += ["", *_steps(found)]
    if found.agreement:
        shown = ", ".join(f"{block} {_small(x)}" for block, x in found.agreement.items())
        lines += ["", f"compared with the equations by {found.formulation} at random points: {shown}"]
    lines += [textwrap.fill(f"note: {x}", WIDTH, subsequent_indent="  ") for x in found.notes]
    verdict = "passed" if found.passed else "FAILED"
    return "\n".join([*lines, f"{verdict}: no step may change a value by more than {ALLOWED:g}"])


def _steps(found: Stages) -> list[str]:
    """Sizes after every step; without operations if the table would be too wide."""
    names = [step.name for step in found.stages[0].steps] if found.stages else []
    full = [(s.name, *(f"{x.size.terms} ({x.size.operations})" for x in s.steps)) for s in found.stages]
    lines = _aligned([("terms (operations)", *names), *full])
    if max(map(len, lines)) <= WIDTH:
        return lines
    return _aligned([("terms", *names), *((s.name, *(str(x.size.terms) for x in s.steps)) for s in found.stages)])


def _row(s: Stage) -> tuple[str, ...]:
    raw = "-" if s.raw is None else str(s.raw.terms)
    sizes = f"{s.before.operations} - {s.after.operations}"
    return s.name, raw, str(s.before.terms), str(s.after.terms), sizes, f"{s.seconds:.2f} s", _small(s.change)


def _small(x: float) -> str:
    return f"{x:.1e}" if x else "0"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """The first column to the left, the others to the right."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    ]


def stages_latex(found: Stages) -> str:
    """The sizes of the stages as a tabular environment."""
    lines = [rf"% {found.model}: derivation in stages, terms and operations as printed", r"\begin{tabular}{lrrrrrr}"]
    lines += [r"\hline", r" & \multicolumn{3}{c}{terms} & \multicolumn{2}{c}{operations} & \\"]
    lines += [r"stage & raw & before & after & before & after & change \\ \hline"]
    for s in found.stages:
        raw = "--" if s.raw is None else s.raw.terms
        sizes = [raw, s.before.terms, s.after.terms, s.before.operations, s.after.operations]
        mantissa, _, exponent = f"{s.change:.1e}".partition("e")
        change = rf"${mantissa} \cdot 10^{{{int(exponent)}}}$" if s.change else "0"
        lines.append(" & ".join([s.name, *map(str, sizes), change]) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}"])


def stages_data(found: Stages) -> dict[str, Any]:
    """The same as plain data, with the simplified entries as text."""
    return {
        "model": found.model,
        "formulation": found.formulation,
        "stages": [
            {
                "name": s.name,
                "raw": _size(s.raw),
                "before": _size(s.before),
                "after": _size(s.after),
                "steps": [{"name": x.name, **vars(x.size), "change": x.change, "passed": x.passed} for x in s.steps],
                "seconds": s.seconds,
                "unfinished": s.unfinished,
                "entries": {label: str(e) for label, e in s.entries.items()},
            }
            for s in found.stages
        ],
        "agreement": dict(found.agreement),
        "allowed": ALLOWED,
        "passed": found.passed,
        "notes": list(found.notes),
    }


def _size(size: Size | None) -> dict[str, int] | None:
    return None if size is None else dict(vars(size))
