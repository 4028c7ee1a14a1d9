"""Whether the net catches the defects of the past: each is planted again in a copy of the source, and rows are asked.

python -m tests.crossings.planting.history                    all of them; again: goes on where it was stopped
python -m tests.crossings.planting.history --only NAME        one of them again
python -m tests.crossings.planting.history --summary          what is known so far

The rows of the quick net with the named levels come first, then the plainest rows with these levels, until one does
not end as it should; a row that ends so without the planted defect does not count. Results are kept in a file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.crossings.array import plainest
from tests.crossings.planting.defects import LEFT, PLANTED, Planted
from tests.crossings.planting.planted import FOLDER, REPOSITORY, ask, copied_source
from tests.crossings.table import SEED
from tests.crossings.test_quick import REFUSED, ROWS

SECONDS = 25.0
"""for the rows of the quick net that a planted defect is shown to, and again for the plainest ones"""
SLOW = ("multipliers", "sensitivities", "modes")
"""questions that come last"""
MOST_ROWS, FEW_ROWS = 5, 2
"""of the quick net for each set of levels; in all, where it is known why no row sees a defect"""
PLAIN_SEED = 77
NUMBERS = 2
"""how often the plainest rows are drawn"""
FILE = FOLDER / "history.json"
CLASSES = {
    "A": "a run's inputs live in the system",
    "B": "charts",
    "C": "which forces are determined",
    "D": "drives outside q",
    "E": "starts and sides of loops",
    "F": "runs in parts",
    "I": "second engine or formulation",
}

Asked = tuple[int, dict[str, str], list[int]]
"""a row: its number, its levels, and the numbers that it is drawn by"""


def quick_rows(planted: Planted) -> list[Asked]:
    """The rows of the quick net that should see a planted defect."""
    found: dict[int, None] = {}
    for levels in planted.sees:
        some = [n for n, row in enumerate(ROWS) if levels.items() <= row.items()]
        found |= dict.fromkeys(sorted(some, key=lambda n: ROWS[n]["question"] in SLOW)[:MOST_ROWS])
    return [(n, dict(ROWS[n]), [SEED, n]) for n in found][: FEW_ROWS if planted.missing else None]


def plain_rows(planted: Planted) -> list[Asked]:
    """The plainest rows that should see it."""
    rows = []
    for levels in planted.sees:
        row = plainest(dict(levels))
        assert row is not None, f"{planted.name}: these levels cannot stand together"
        rows.append(dict(row))
    drawn = [(k, row, [PLAIN_SEED, attempt]) for attempt in range(NUMBERS) for k, row in enumerate(rows)]
    return drawn[: FEW_ROWS if planted.missing else None]


def refused_rows(planted: Planted) -> Iterator[tuple[Asked, str]]:
    """Rows of the table of refusals that should see it, and the refusal of each."""
    for one in REFUSED:
        row = plainest(one.part)
        if row is not None and any(one.part.items() <= levels.items() for levels in planted.sees):
            yield (0, dict(row), [0, 0]), one.refusal


def plant(planted: Planted) -> dict[str, str]:
    """Plants a defect and asks its rows."""
    changed: dict[str, str] = {}
    for name, old, new in planted.edits:
        file = f"pendula/{name}"
        text = changed.get(file) or (REPOSITORY / "src" / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            return {"caught": "not planted", "row": "", "why": f"{name}: {text.count(old)} places have {old!r}"}
        changed[file] = text.replace(old, new)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        source = copied_source(Path(folder) / "src", changed)
        for row, refusal in refused_rows(planted):
            answer = ask([source], [row])
            if (answer.ending, answer.detail) != ("refused", refusal):
                return {"caught": "quick", "row": f"table of refusals: {refusal}", "why": answer.ending}
        for kind, rows in (("quick", quick_rows(planted)), ("other", plain_rows(planted))):
            if found := _caught(source, rows):
                return {"caught": kind, **found}
    return {"caught": "missed", "row": "", "why": ""}


def _caught(source: Path, rows: Sequence[Asked]) -> dict[str, str]:
    """The first row that does not pass, although it does with the source as it is."""
    left = list(rows)
    while left:
        answer = ask([source], left, seconds=SECONDS)
        if answer.ending == "survived":
            return {}
        at = 0 if answer.row is None else len(answer.passed)
        row = left[at]
        if answer.ending not in ("unsuitable", "refused") and ask([REPOSITORY / "src"], [row]).ending == "survived":
            numbers = ":".join(map(str, row[2]))
            return {"row": numbers, "why": f"{answer.ending}: {answer.detail.strip().splitlines()[-1][:240]}"}
        left = left[at + 1 :]
    return {}


def known() -> dict[str, dict[str, str]]:
    """Results so far."""
    if not FILE.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def summary(results: Mapping[str, Mapping[str, str]]) -> str:
    """What was caught, by class, and what was missed, with reasons."""
    lines = []
    for kind, words in CLASSES.items():
        mine: list[Any] = [one for one in PLANTED if one.kind == kind and one.name in results]
        counts = {
            what: sum(one.defects for one in mine if results[one.name]["caught"] == what)
            for what in ("quick", "other", "missed", "not planted")
        }
        counts["not planted"] += sum(one.defects for one in LEFT if one.kind == kind)
        lines.append(f"{kind} ({words}): " + ", ".join(f"{n} {what}" for what, n in counts.items() if n))
        for one in mine:
            result = results[one.name]
            words = one.missing or "no reason known" if result["caught"] == "missed" else result["why"][:110]
            lines.append(f"  {result['caught']}: {one.name} ({result['row']}): {words}".replace(" ()", ""))
        lines += [f"  not planted: {one.name}: {one.why}" for one in LEFT if one.kind == kind]
    return "\n".join(lines)


def main() -> int:
    """All planted defects, or one."""
    parser = argparse.ArgumentParser(prog="python -m tests.crossings.planting.history", description=__doc__)
    parser.add_argument("--only", help="the name of one planted defect")
    parser.add_argument("--summary", action="store_true", help="what is known so far")
    given = parser.parse_args()
    if given.only is not None and given.only not in [one.name for one in PLANTED]:
        parser.error(f'--only "{given.only}": there is no such defect; tests/crossings/planting/defects.py names them')
    FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    results = known()
    for one in () if given.summary else sorted(PLANTED, key=lambda one: bool(one.missing)):
        if one.name == given.only or (given.only is None and one.name not in results):
            results[one.name] = plant(one)
            FILE.write_text(json.dumps(results, indent=1), encoding="utf-8")
            print(f"{one.kind} {one.name}: {results[one.name]}", flush=True)
    print(summary(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
