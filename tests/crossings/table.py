"""The support table: what the quick net shows to be answered, and what is refused, for ``docs/support.md``.

``python -m tests.crossings --table`` writes it. A "yes" stands for pairs of levels of which a row of the quick net passes in every
``make test``; a refusal for one that a test of the same net sees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tests.crossings.array import covering
from tests.crossings.factors import FACTORS, FORBIDDEN_PARTS, Row, cells_of
from tests.crossings.known import OPEN, known, ruled_out

SEED = 1
"""the array of the quick net"""
SUBJECTS = ("question", "carry", "stepper", "constraints", "engine")
ABOUT = {
    "question": "What is asked",
    "carry": "What carries a run",
    "stepper": "Stepper",
    "constraints": "Loops are kept by",
    "engine": "Formulation or engine",
}


def text() -> str:
    """The table in Markdown."""
    rows = covering(SEED, ruled_out())[0]
    answered = {cell for row in rows for cell in cells_of(row)}
    parts = [
        f"{len(rows)} mechanisms, drawn at random, with {len(answered)} different pairs of the features below, are asked and "
        "checked by independent numbers in every `make test`. *yes*: every feature of the column is answered; otherwise "
        "what is refused or not right today; both are listed below.\n"
    ]
    for subject in SUBJECTS:
        columns = [factor for factor in FACTORS if factor not in SUBJECTS[: SUBJECTS.index(subject) + 1]]
        lines = [_line([ABOUT[subject], *columns]), _line(["---"] * (len(columns) + 1))]
        lines += [
            _line([level, *(_entry(subject, level, factor, answered) for factor in columns)])
            for level in FACTORS[subject]
        ]
        parts.append("\n".join(lines) + "\n")
    parts.append("Refused:\n")
    parts.append("\n".join(f"- `{refusal}`: {what}" for refusal, what in _refused()) + "\n")
    parts.append("Not right today, and expected to fail by tests:\n")
    parts.append("\n".join(f"- {', '.join(_joined([one.part]))}: {one.reason}" for one in OPEN) + "\n")
    parts.append("The features, which are combined in every way that exists:\n")
    parts.append("\n".join(f"- **{factor}**: {', '.join(names)}" for factor, names in FACTORS.items()) + "\n")
    return "\n".join(parts)


def _entry(subject: str, level: str, factor: str, answered: set[object]) -> str:
    """Whether a level is answered with every level of a factor, or which are refused."""
    refused: list[str] = []
    for other in FACTORS[factor]:
        pair = {subject: level, factor: other}
        first, second = sorted(pair.items(), key=lambda one: list(FACTORS).index(one[0]))
        if (first, second) in answered or any(part.items() <= pair.items() for part in FORBIDDEN_PARTS):
            continue
        if not any(part.items() <= pair.items() for part in ruled_out()):
            raise AssertionError(f"{pair} is neither answered nor refused")
        refused.append(other)
    if len(refused) == len(FACTORS[factor]):
        return "no"
    return "not " + ", ".join(refused) if refused else "yes"


def _refused() -> Iterator[tuple[str, str]]:
    """Each refusal with the levels that it stands for, those that differ in one factor together."""
    found: dict[str, list[Row]] = defaultdict(list)
    for one in known():
        found[one.refusal].append(one.part)
    for refusal, parts in sorted(found.items()):
        yield refusal, "; ".join(_joined(parts))


def _joined(parts: Sequence[Row]) -> Iterable[str]:
    """Parts in words; what differs in one factor alone stands together."""
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for part in parts:
        *rest, last = part.items() if list(part)[-1] not in SUBJECTS else sorted(part.items(), key=_subjects_first)
        groups[(*rest, last[0])].append(last[1])
    for (*rest, factor), names in groups.items():
        yield " with ".join([*(f"{f} {x}" for f, x in rest), f"{factor} {' or '.join(names)}"])


def _subjects_first(level: tuple[str, str]) -> int:
    return SUBJECTS.index(level[0]) if level[0] in SUBJECTS else len(SUBJECTS)


def _line(entries: Iterable[str]) -> str:
    return "| " + " | ".join(entries) + " |"
