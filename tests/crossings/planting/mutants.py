"""Random mutants of the source, and whether the quick net of crossings kills them. Run by hand.

python -m tests.crossings.planting.mutants --reach                    first: which lines every row reaches; again: goes on
python -m tests.crossings.planting.mutants --seed 1 --count 20        draws mutants and asks; again: goes on where it was stopped
python -m tests.crossings.planting.mutants --seed 1 --again 7         one of them again
python -m tests.crossings.planting.mutants --summary                  what became of all, and a diff of each survivor

A mutant is drawn among the statements that rows of the net reach, so a survivor is one of three: it changes nothing that
can be seen (equivalent), it changes what no question asks for, or the net has a hole.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.crossings.planting import reach
from tests.crossings.planting.mutation import Mutant, changes, planted, statements
from tests.crossings.planting.planted import FOLDER, REPOSITORY, Answer, ask, copied_source
from tests.crossings.planting.reach import PLACES, Reach

MOST_ROWS = 12
SECONDS = 60.0
"""[s] after which no other row is asked of a mutant"""
KILLED = ("wrong", "error", "refused", "unsuitable", "crash", "time", "import")
NEAR: dict[str, tuple[str, ...]] = {
    "model/forces": ("accelerations", "energy"),
    "equations": ("accelerations", "energy", "reactions"),
    "system": ("accelerations", "energy", "slopes", "motor forces"),
    "simulation": ("accelerations", "energy", "events"),
    "analysis/linear": ("linear model", "modes", "slopes"),
    "analysis/reactions": ("reactions", "motor forces"),
    "analysis/equilibria": ("trim", "equilibria"),
}
"""questions about each part of the source, which are asked first"""

WRITERS = ("pendula/system/code", "pendula/system/live", "pendula/system/taylor")
"""files whose texts are programs"""


def place_of(name: str) -> str:
    """The part of the source to which a file belongs."""
    return next(place for place in PLACES if name.startswith(f"pendula/{place}"))


@cache
def _statements(name: str) -> tuple[str, dict[int, list[ast.stmt]]]:
    """The text of a file, and its statements for mutants by their lines."""
    text = (REPOSITORY / "src" / name).read_text(encoding="utf-8")
    found: dict[int, list[ast.stmt]] = {}
    for one in statements(ast.parse(text), writes=name.startswith(WRITERS)):
        found.setdefault(one.lineno, []).append(one)
    return text, found


def draw(found: Reach, seed: int, number: int) -> tuple[str, Mutant]:
    """A file and a mutant of it: first a part of the source by the root of its size, then a statement, then a change."""
    rng = np.random.default_rng([seed, number, 53])
    lines: dict[str, list[tuple[str, int]]] = {place: [] for place in PLACES}
    for name, line in sorted(found.lines):
        lines[place_of(name)].append((name, line))
    weights = np.sqrt([len(lines[place]) for place in PLACES])
    while True:
        place = PLACES[int(rng.choice(len(PLACES), p=weights / weights.sum()))]
        name, line = lines[place][int(rng.integers(len(lines[place])))]
        text, by_line = _statements(name)
        for node in by_line.get(line, ())[:1]:
            kinds: dict[str, list[Any]] = {}
            for change in changes(node):
                kinds.setdefault(change[0], []).append(change)
            if len(kinds) > 1:  # most of these stop at once, which tells little
                kinds.pop("swapped arguments", None)
            if not kinds:
                break
            of_kind = kinds[sorted(kinds)[int(rng.integers(len(kinds)))]]
            mutant = planted(text, node, of_kind[int(rng.integers(len(of_kind)))])
            if mutant is not None:
                return name, mutant


def nearest(found: Reach, rows: Sequence[Any], name: str, line: int) -> list[int]:
    """Rows that reach a line: those that ask about its part first, every question and engine once, then the quickest."""
    near, seen = NEAR[place_of(name)], Counter[tuple[str, str]]()
    keys: dict[int, tuple[bool, int, float]] = {}
    for n in sorted(found.lines[name, line], key=found.seconds.__getitem__):
        row = rows[n]
        kind = (row["question"], row["engine"])
        keys[n] = (seen[kind] > 0, row["question"] not in near, found.seconds[n])
        seen[kind] += 1
    order = sorted(keys, key=keys.__getitem__)
    half = [n for n in order if rows[n]["question"] in near][: MOST_ROWS // 2]
    return [*half, *(n for n in order if n not in half)][:MOST_ROWS]


def try_mutant(name: str, mutant: Mutant, found: Reach, rows: Sequence[Any], seed: int) -> Answer:
    """Plants a mutant and asks the rows that reach it."""
    chosen = nearest(found, rows, name, mutant.line)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        source = copied_source(Path(folder) / "src", {name: mutant.text})
        return ask([source], [(n, rows[n], (seed, n)) for n in chosen], seconds=SECONDS)


# -- results


def read(path: Path) -> list[dict[str, Any]]:
    """Results of earlier sittings."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def shown(one: dict[str, Any]) -> str:
    """One result as a line."""
    ending = "survived" if one["ending"] == "survived" else f"killed ({one['ending']}, row {one['row']})"
    change = f"{_short(one['before'])}  ->  {_short(one['after'])}"
    return f"{one['seed']}:{one['number']} {one['file']}:{one['line']} {one['operator']}: {change}   {ending}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 90 else f"{flat[:60]} ... {flat[-25:]}"


def summary(results: Sequence[dict[str, Any]]) -> str:
    """How many were killed and by what, and the survivors."""
    endings = Counter(one["ending"] for one in results)
    killed = sum(endings[ending] for ending in KILLED)
    share = f"{killed / len(results):.0%}" if results else "none"
    lines = [f"{len(results)} drawn, {killed} killed ({share}), {endings['survived']} survived"]
    lines += [f"  {ending}: {endings[ending]}" for ending in KILLED if endings[ending]]
    for place in PLACES:
        of = [one for one in results if place_of(one["file"]) == place]
        if of:
            lines.append(f"  {place}: {sum(one['ending'] != 'survived' for one in of)} of {len(of)}")
    return "\n".join([*lines, *(shown(one) for one in results if one["ending"] == "survived")])


def main() -> int:
    """Does what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.crossings.planting.mutants", description=__doc__)
    parser.add_argument("--reach", action="store_true", help="find out which lines the rows reach")
    parser.add_argument("--seed", type=int, help="which mutants")
    parser.add_argument("--count", type=int, default=20, help="how many")
    parser.add_argument("--again", type=int, help="the number of one mutant to ask again")
    parser.add_argument("--summary", action="store_true", help="what became of those of all seeds")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True, mode=0o700)
    results = FOLDER / "results.jsonl"
    if given.summary:
        print(summary(read(results)))
        return 0
    from tests.crossings.test_quick import ROWS, SEED

    reached = FOLDER / f"reach-{SEED}.jsonl"
    if given.reach:
        reach.make(reached, FOLDER, [(row, (SEED, n)) for n, row in enumerate(ROWS)])
    if given.seed is None:
        return 0
    found = reach.read(reached)
    if not found.lines:
        print(f"no row has been asked what it reaches ({reached}): --reach first")
        return 2
    done = {(one["seed"], one["number"]) for one in read(results)}
    numbers = [given.again] if given.again is not None else range(given.count)
    for number in numbers:
        if (given.seed, number) in done and given.again is None:
            continue
        name, mutant = draw(found, given.seed, number)
        answer = try_mutant(name, mutant, found, ROWS, SEED)
        one = {
            "seed": given.seed, "number": number, "file": name, "line": mutant.line, "operator": mutant.operator,
            "before": mutant.before, "after": mutant.after, "ending": answer.ending, "row": answer.row,
            "detail": answer.detail, "passed": answer.passed,
        }  # fmt: skip
        if given.again is None:
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
        print(shown(one), flush=True)
    print(summary([one for one in read(results) if one["seed"] == given.seed]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
