"""Kinds of jobs by name, and the heads of stored results: what the server knows of the work, without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KINDS = {
    "live": "views:live",
    "equations": "views:equations",
    "certificate": "views:certificate",
    "simulate": "motions:run",
    "reactions": "motions:joint_forces",
    "ensemble": "motions:many",
    "section": "motions:section",
    "compare": "motions:compare",
    "equilibria": "analyses:equilibria",
    "linear": "analyses:linear",
    "locus": "analyses:locus",
    "modes": "analyses:small_modes",
    "stability": "analyses:verdict",
    "floquet": "analyses:multipliers",
    "report": "exports:report",
    "page": "exports:page",
    "figure": "exports:figure",
    "data": "exports:data",
    "script": "exports:script",
}
"""Every kind of job, and the function that does it."""
QUICK = frozenset({"live", "equations", "script", "linear", "modes"})
"""Kinds that a person waits for: they have separate workers."""
PASSING = frozenset({"live", "equations", "script"})
"""Kinds whose results are not kept: they follow from the model at once."""


def read_head(path: Path) -> dict[str, Any] | None:
    """The head of a stored result; None if the file is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline(100_000)
        head = json.loads(line.rstrip().removesuffix(",") + "}")
        texts = all(isinstance(head[name], str) for name in ("id", "kind", "title"))
        return head if texts and isinstance(head["created"], (int, float)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
