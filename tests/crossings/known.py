"""Refusals that are known: which levels together are refused, by which registered refusal. Made by ``--learn``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.crossings.factors import FACTORS
from tests.crossings.net import Refused


@dataclass(frozen=True)
class Open:
    """Levels that fail together today: never drawn, and expected to fail.

    Attributes:
        part: the levels.
        reason: what fails, and what will mend it.
        numbers: by which the plainest row with these levels fails.
    """

    part: dict[str, str]
    reason: str
    numbers: tuple[int, int] = (0, 0)


AT_POLES = "charts decided at compilation: the ball hangs at a pole of its angles, where their rates are infinite"
LATE = "one driver of runs: samples of controllers are late where a run passes a singular pose as one polynomial"
OPEN = [
    *(Open({"orientation": "zyz", "speeds": speeds, "question": "trim"}, AT_POLES) for speeds in ("body", "parent")),
    *(Open({"closure": "change point", "input": given}, LATE) for given in ("sampled", "sampled with memory")),
    Open(
        {"closure": "change point", "drive": "turning", "load": "dry friction"},
        "one driver of runs: next to a singular pose nothing looks for sticking, and steps are used up",
        (0, 1),
    ),
    Open(
        {"closure": "change point", "start": "partial", "carry": "bounds"},
        "one driver of runs: bounds that are reached next to a singular pose are not seen",
        (0, 8),
    ),
    Open(
        {
            "orientation": "rotation vector",
            "closure": "change point",
            "load": "force in text",
            "question": "equilibria",
        },
        "charts decided at compilation: rotation vectors of one pose, whose rates a force names, are listed twice",
        (0, 1),
    ),
]
"""what fails today"""

FILE = Path(__file__).parent / "refused.json"


def known() -> list[Refused]:
    """The refusals of the file, one for each combination of levels."""
    if not FILE.exists():
        return []
    return [Refused(one["refusal"], one["levels"]) for one in json.loads(FILE.read_text(encoding="utf-8"))]


def ruled_out() -> list[dict[str, str]]:
    """What no row of an array has: parts that are refused, or open."""
    return [*(one.part for one in known()), *(one.part for one in OPEN)]


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
