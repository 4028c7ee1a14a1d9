"""What a benchmark hands back, how it is printed in 80 columns, and the machine it ran on."""

from __future__ import annotations

import datetime
import os
import platform
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.measure import Goal

WIDTH = 80
PACKAGES = (
    *("numpy", "scipy", "sympy", "symengine", "numba", "llvmlite", "pydantic"),
    *("pin", "mujoco", "heyoka", "casadi", "jax", "diffrax"),
)


@dataclass
class Table:
    """Rows of text; the first column is left-aligned, the others right-aligned."""

    head: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    title: str = ""

    def text(self) -> str:
        """The table with columns as wide as needed."""
        lines = [self.head, *self.rows]
        if any(len(line) != len(self.head) for line in lines):
            raise ValueError("every row needs as many cells as the head")
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.head))]
        out = []
        for line in lines:
            cells = [c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True))]
            out.append("  " + "  ".join(cells).rstrip())
        out.insert(1, "  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
        if self.title:
            out.insert(0, f"  {self.title}")
        return "\n".join(out)


@dataclass
class Report:
    """The answer to a question."""

    name: str
    question: str
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """who did not take part, and why"""

    def text(self) -> str:
        """The report as it is printed."""
        parts = [f"{self.name}: {self.question}", ""]
        for table in self.tables:
            parts += [table.text(), ""]
        for who, reason in self.missing.items():
            parts += textwrap.wrap(f"{who}: {reason}", WIDTH - 2, initial_indent="  ", subsequent_indent="    ")
        for note in self.notes:
            parts += textwrap.wrap(note, WIDTH - 2, initial_indent="  ", subsequent_indent="    ")
        for goal in self.goals:
            parts += textwrap.wrap(goal.sentence(), WIDTH - 2, initial_indent="  ", subsequent_indent="         ")
        return "\n".join(parts) + "\n"

    def json(self) -> dict[str, Any]:
        """All figures, and the tables as they were printed."""
        tables = [{"title": t.title, "head": list(t.head), "rows": [list(row) for row in t.rows]} for t in self.tables]
        shown = {"goals": [g.figures() for g in self.goals], "tables": tables, "notes": self.notes}
        return {"question": self.question, **shown, "missing": self.missing, **self.figures}


def cpu_name() -> str:
    """The processor as it calls itself."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(core: int | None, quick: bool) -> dict[str, Any]:
    """Date, machine and versions."""
    import pendula

    versions = {"python": platform.python_version(), "pendula": pendula.__version__}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "pinned_to": core,
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "versions": versions,
        "quick": quick,
    }
