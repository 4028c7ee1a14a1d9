"""Crossings from the command line: whole arrays, single rows, and what is refused.

python -m tests.crossings --seed 3                   all rows of a long array, with triples; again: goes on where it was stopped
python -m tests.crossings --row 3:17                 one row again, with its model file, shrunk to what matters
python -m tests.crossings --levels "drive=one,question=energy" --row 3:17    the same numbers with other levels
python -m tests.crossings --seed 3 --learn           keeps new refusals in refused.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pendula
from tests.crossings import questions
from tests.crossings.array import Rules, covering, plainest
from tests.crossings.case import Case
from tests.crossings.factors import FACTORS, PLAIN, Cell, Row, cells, triples_of
from tests.crossings.factors import levels as all_levels
from tests.crossings.known import OPEN, keep, known, ruled_out
from tests.crossings.net import Net, Refused, Result, attempt_row, others, try_row, walk
from tests.crossings.table import text
from tests.helpers.compiling import compile_once

BAD = ("wrong", "error")


def main() -> int:
    """Runs what the arguments ask for; 1 if a row was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crossings", description=__doc__)
    parser.add_argument("--seed", type=int, help="which covering array")
    parser.add_argument("--row", help="SEED:N, or the numbers that a failing row was printed with")
    parser.add_argument("--levels", default="", help="factor=level,... for --row")
    parser.add_argument("--learn", action="store_true", help="keep new refusals in refused.json")
    parser.add_argument("--probe", help="factor=level,...: asks it with every other level, all else plain; learns")
    parser.add_argument("--table", action="store_true", help="write the table of docs/support.md")
    parser.add_argument("--seconds", type=float, default=1e9, help="processor time after which the array is left")
    parser.add_argument("--save", help="a file of results, from which the same call goes on")
    given = parser.parse_args()
    compile_once(quickly=True)
    if given.table:
        return write_table()
    if given.probe:
        return probe(given.probe)
    if given.row:
        return one_row(given.row, given.levels)
    if given.seed is None:
        parser.print_help()
        return 2
    return one_array(given.seed, learn=given.learn, seconds=given.seconds, save=given.save)


def one_array(seed: int, *, learn: bool, seconds: float, save: str | None) -> int:
    """All rows of an array."""
    path = Path(save or Path(tempfile.gettempdir()) / f"crossings-{seed}.jsonl")
    begun, shown, net = time.process_time(), 0, Net()
    done = read(path)
    with path.open("a", encoding="utf-8") as file:
        for net in walk(seed, known(), questions.unavailable(), done, [one.part for one in OPEN]):
            for result in net.results[shown:]:
                shown += 1
                if key(result.row, result.seed) not in done:
                    file.write(json.dumps([result.row, result.seed, result.ending, result.detail]) + "\n")
                    file.flush()
                if result.ending in BAD:
                    print(result, flush=True)
            if time.process_time() - begun > seconds:
                print(f"stopped after {seconds:g} s; the same call goes on ({path})")
                break
        else:
            path.unlink()
    print(summary(net, time.process_time() - begun))
    if learn:
        print(f"{keep(net.refused)} refusals are known")
    return int(bool(net.of(*BAD)))


def write_table() -> int:
    """Puts the table between the marks of docs/support.md."""
    page = Path(__file__).parents[2] / "docs/support.md"
    begin, end = "<!-- crossings: begin -->\n", "<!-- crossings: end -->\n"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(head + begin + "\n" + text() + "\n" + end + rest.split(end)[1], encoding="utf-8")
    print(f"wrote {page.name}")
    return 0


def probe(levels: str) -> int:
    """Pairs of levels, one by one, with everything else plain: what is refused is kept."""
    bad, refused = 0, known()
    for first in read_levels(levels):
        for second in [first, *(level for level in all_levels() if level[0] != first[0])]:
            part = dict([first, second])
            row = plainest(part)
            if row is None or set(questions.unavailable()) & {first, second}:
                continue
            if any(one.part.items() <= part.items() for one in refused):
                continue
            result = try_row(row, (0, 0))
            if result.ending == "refused":
                refused.append(Refused(result.detail, part))
            elif result.ending != "passed":
                bad += result.ending in BAD
                print(result, flush=True)
    print(f"{keep(refused)} refusals are known")
    return int(bad > 0)


def read_levels(text: str) -> list[tuple[str, str]]:
    """Levels written as factor=level, factor=level."""
    pairs = [pair.strip().split("=", 1) for pair in text.split(",")]
    return [(factor, level.replace(";", ",")) for factor, level in pairs]


def key(row: Row, seed: tuple[int, ...]) -> tuple[object, ...]:
    """What a result is kept by."""
    return (*row.values(), *seed[:-1])


def read(path: Path) -> dict[tuple[object, ...], Result]:
    """Results of an earlier sitting."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    results = [Result(row, tuple(seed), ending, detail) for row, seed, ending, detail in rows]
    return {key(result.row, result.seed): result for result in results}


def summary(net: Net, seconds: float) -> str:
    """Rows by what they ended in, and cells."""
    rows = Counter(result.ending for result in net.results)
    counts = account(net)
    lines = [f"{len(net.results)} rows in {seconds:.0f} s: " + ", ".join(f"{n} {x}" for x, n in rows.most_common())]
    lines += ["cells: " + ", ".join(f"{len(found)} {name}" for name, found in counts.items())]
    triples = {one for result in net.of("passed") for one in triples_of(result.row)}
    lines += [f"triples: {len(triples)} answered"]
    lines += [f"  open: {a[0]} {a[1]} x {b[0]} {b[1]}" for a, b in sorted(counts["open"])[:40]]
    return "\n".join(lines)


def account(net: Net) -> dict[str, set[Cell]]:
    """The cells by what became of them."""
    forbidden, refusing = Rules(), Rules(one.part for one in net.refused)
    left = set(cells())
    found: dict[str, set[Cell]] = {}
    found["forbidden"] = {cell for cell in left if not forbidden.allow_cell(cell)}
    left -= found["forbidden"]
    gone = set(questions.unavailable())
    found["not on this machine"] = {cell for cell in left if gone.intersection(cell)}
    left -= found["not on this machine"]
    found["answered"] = left & net.cells("passed")
    left -= found["answered"]
    found["refused"] = {cell for cell in left if not refusing.allow_cell(cell)}
    found["open"] = left - found["refused"]
    return found


def one_row(text: str, levels: str) -> int:
    """Repeats a row, and shrinks it if it fails."""
    parts = text.split(":")
    if len(parts) < 2 or not all(part.isdigit() for part in parts):
        print(f"--row {text}: write SEED:N, such as 3:17", file=sys.stderr)
        return 2
    numbers = tuple(int(part) for part in parts)
    rows = covering(numbers[0], ruled_out(), without=questions.unavailable(), long=True)[0]
    if not 0 <= numbers[1] < len(rows):
        print(f"--row {text}: the array of seed {numbers[0]} has rows 0 to {len(rows) - 1}", file=sys.stderr)
        return 2
    row: Row = rows[numbers[1]]
    if levels:
        row = {**row, **dict(read_levels(levels))}
    wrong = [f"{f}={x}" for f, x in row.items() if x not in FACTORS.get(f, ())]
    if wrong or not Rules().allow_row(row):
        what = f"there is no level {', '.join(wrong)}" if wrong else "these levels cannot stand together"
        print(f"--levels: {what}; tests/crossings/factors.py lists them", file=sys.stderr)
        return 2
    result = attempt_row(row, numbers) if len(numbers) > 2 else try_row(row, numbers)
    if result.ending in BAD:
        result = shrunk(result)
    print(pendula.dumps(pendula.Model(**Case(result.row, result.seed).drawn.data)))
    print(result)
    print("all levels:", ",".join(f"{f}={x}" for f, x in result.row.items()))
    return int(result.ending in BAD)


def shrunk(result: Result) -> Result:
    """The same failure with the plainest levels that still show it."""
    for factor in FACTORS:
        if factor == "question" or result.row[factor] == PLAIN[factor]:
            continue
        for other in others(result.row, factor)[:1]:
            again = attempt_row(other, result.seed)
            if again.ending == result.ending:
                result = again
    return result


__all__ = ["account", "main"]

if __name__ == "__main__":
    sys.exit(main())
