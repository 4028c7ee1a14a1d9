"""Refusals that are known: which levels together are refused, by which registered refusal. Made by ``--learn``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.crossings.factors import FACTORS
from tests.crossings.net import Refused

OPEN = [
    *(
        (
            {"orientation": "zyz", "speeds": speeds, "question": "trim"},
            "charts decided at compilation: the ball hangs at a pole of its angles, where their rates are infinite",
        )
        for speeds in ("body", "parent")
    ),
    *(
        (
            {"closure": "change point", "input": controller},
            "a run takes samples of controllers late where it passes a singular pose as one polynomial",
        )
        for controller in ("sampled", "sampled with memory")
    ),
]
"""what fails today, and what will mend it: never drawn, and expected to fail"""

FILE = Path(__file__).parent / "refused.json"


def known() -> list[Refused]:
    """The refusals of the file, one for each combination of levels."""
    if not FILE.exists():
        return []
    return [Refused(one["refusal"], one["levels"]) for one in json.loads(FILE.read_text(encoding="utf-8"))]


def ruled_out() -> list[dict[str, str]]:
    """What no row of an array has: parts that are refused, or open."""
    return [*(one.part for one in known()), *(part for part, _ in OPEN)]


def keep(refused: Iterable[Refused]) -> int:
    """Writes what is known and new; what another part contains is left out. Returns how many there are."""
    parts: list[Refused] = []
    for one in sorted(
        {(r.refusal, tuple(sorted(r.part.items()))): r for r in [*known(), *refused]}.values(), key=_size
    ):
        if not any(other.part.items() <= one.part.items() for other in parts):
            parts.append(one)
    order = list(FACTORS)
    rows = [
        {"refusal": one.refusal, "levels": {f: one.part[f] for f in order if f in one.part}}
        for one in sorted(parts, key=lambda one: (one.refusal, [one.part.get(f, "") for f in order]))
    ]
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    return len(parts)


def _size(refused: Refused) -> int:
    return len(refused.part)
