"""Which statements of the source the rows of the quick net reach, and how long every row takes.

Every statement inside a function of a copy of the source counts how often it runs. Kernels are compiled and cannot
count: a row reaches all statements of the kernels that it loads. Each row is asked in a process of its own, forked from
one that has imported everything, and leaves one line in a file, from which the next call goes on.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.crossings.planting.planted import REPOSITORY, copied_source, run_python

PLACES = (
    "model/forces",
    "equations",
    "system",
    "simulation",
    "analysis/linear",
    "analysis/reactions",
    "analysis/equilibria",
)
"""parts of the source in which mutants are planted, with everything below them"""

PATIENCE = (25.0, 250.0)
"""[s] for a row; one that takes longer than the first waits until all others are done"""

COUNTER = "import builtins\nbuiltins._hits_ = [0] * {count}\n"


def files() -> list[str]:
    """Source files of all places, from the folder ``src``."""
    root = REPOSITORY / "src"
    found = {path for place in PLACES for path in (root / "pendula" / place).rglob("*.py")}
    found |= {path for place in PLACES if (path := root / "pendula" / f"{place}.py").is_file()}
    return sorted(path.relative_to(root).as_posix() for path in found)


COMPILES = ("compiled", "compiled_part", "compiled_callback", "inlined", "view")
"""decorators of kernels"""


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


@cache
def compiled_later() -> frozenset[str]:
    """Names of functions that a call makes a kernel of, as in ``compiled_part(forceinline=True)(find_terms)``."""
    found: set[str] = set()
    for name in files():
        for node in ast.walk(ast.parse((REPOSITORY / "src" / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _names(node.func).intersection(COMPILES):
                found |= {one.id for one in node.args if isinstance(one, ast.Name)}
    return frozenset(found)


def is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is compiled by numba, so that its statements cannot count."""
    by = {name for one in node.decorator_list for name in _names(one)}
    return bool(by.intersection(COMPILES)) or node.name in compiled_later()


Functions = ast.FunctionDef | ast.AsyncFunctionDef


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements right below a node."""
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list) and found:
            yield found
    for name in ("handlers", "cases"):
        for part in getattr(node, name, ()):
            yield part.body


@dataclass
class Statements:
    """Statements inside the functions of one file, by their lines; those of kernels apart, by the function's name."""

    counted: list[int] = field(default_factory=list)
    kernels: dict[str, list[int]] = field(default_factory=dict)


def counting(text: str, first: int) -> tuple[str, Statements]:
    """The text of a file whose statements count, from a number on."""
    tree, found = ast.parse(text), Statements()

    def visit(node: ast.AST, name: str, inside: bool) -> None:
        if isinstance(node, Functions) and is_kernel(node):
            lines = {one.lineno for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node}
            found.kernels[f"{name}.{node.name}".lstrip(".")] = sorted(lines)
            return
        if isinstance(node, Functions | ast.ClassDef):
            name, inside = f"{name}.{node.name}", isinstance(node, Functions)
        for body in bodies(node):
            for one in list(body):
                visit(one, name, inside)
            if inside:
                body[:] = [new for one in body for new in (*_count(one), one)]

    def _count(one: ast.stmt) -> tuple[ast.stmt, ...]:
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            return ()
        if isinstance(one, ast.Global | ast.Nonlocal):
            return ()
        found.counted.append(one.lineno)
        return tuple(ast.parse(f"_hits_[{first + len(found.counted) - 1}] += 1").body)

    visit(tree, "", False)
    future = [k for k, one in enumerate(tree.body) if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    documented = ast.get_docstring(tree) is not None
    tree.body.insert(future[-1] + 1 if future else int(documented), ast.parse("import _counts_").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)), found


@dataclass(frozen=True)
class Reach:
    """What the rows reach.

    Attributes:
        lines: for every file and line of a statement that is reached, the rows and how often each runs it.
        seconds: processor time of every row that was asked and passed.
    """

    lines: dict[tuple[str, int], dict[int, int]]
    seconds: dict[int, float]


def read(path: Path) -> Reach:
    """What a file of reached lines holds."""
    lines: dict[tuple[str, int], dict[int, int]] = {}
    seconds: dict[int, float] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        row = json.loads(text)
        if row["ending"] != "passed":
            continue
        seconds[row["row"]] = row["seconds"]
        for name, hits in row["hits"].items():
            for line, count in hits:
                lines.setdefault((name, line), {})[row["row"]] = count
    return Reach(lines, seconds)


def make(path: Path, folder: Path, rows: list[Any]) -> None:
    """Asks all rows that a file does not have yet in a copy of the source that counts, and writes what they reach."""
    changed: dict[str, str] = {}
    table: list[tuple[str, int]] = []
    kernels: dict[str, tuple[str, list[int]]] = {}
    for name in files():
        text, found = counting((REPOSITORY / "src" / name).read_text(encoding="utf-8"), len(table))
        changed[name] = text
        table += [(name, line) for line in found.counted]
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        kernels |= {f"{module}.{kernel}": (name, lines) for kernel, lines in found.kernels.items()}
    changed["_counts_.py"] = COUNTER.format(count=len(table))
    source = copied_source(folder / "counting", changed)
    given = {"path": str(path), "rows": rows, "table": table, "kernels": kernels}
    process = run_python("tests.crossings.planting.reach", [source], json.dumps(given), stdout=None)
    process.wait()


def _main() -> None:
    given = json.load(sys.stdin)
    path = Path(given["path"])
    import _counts_  # noqa: F401  # of the copy that counts

    net, cases = import_module("tests.crossings.net"), import_module("tests.crossings.questions")
    for module in set(cases.PLACES.values()):
        import_module(f"tests.crossings.questions.{module}")
    for patience in PATIENCE:
        done = {json.loads(text)["row"] for text in path.read_text().splitlines()} if path.exists() else set()
        for n, (levels, numbers) in enumerate(given["rows"]):
            if n not in done:
                _forked(lambda n=n, x=levels, y=numbers: _one(n, net, x, tuple(y), given), patience)


def _forked(call: Callable[[], None], patience: float) -> None:
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            call()
        finally:
            os._exit(0)
    end = time.monotonic() + patience
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.02)


def _one(n: int, net: Any, levels: dict[str, str], numbers: tuple[int, ...], given: dict[str, Any]) -> None:
    import builtins

    from pendula.numerics.compiled import kernel_files, kernel_keys

    loaded: list[Any] = []
    usual = kernel_files.KernelFiles.load_overload

    def load(self: Any, *arguments: Any) -> Any:
        loaded.append(self._function)
        return usual(self, *arguments)

    kernel_files.KernelFiles.load_overload = load  # type: ignore[method-assign]
    hits = builtins._hits_  # type: ignore[attr-defined]
    hits[:] = [0] * len(hits)
    begun = time.process_time()
    result = net.try_row(levels, numbers)
    seconds = time.process_time() - begun
    found: dict[str, list[tuple[int, int]]] = {}
    for (name, line), count in zip(given["table"], hits, strict=True):
        if count:
            found.setdefault(name, []).append((line, count))
    names = {text.partition(" ")[0] for function in set(loaded) for text in kernel_keys.reached(function)[0]}
    for kernel in names & given["kernels"].keys():
        name, lines = given["kernels"][kernel]
        found.setdefault(name, []).extend((line, 1) for line in lines)
    line = {
        "row": n,
        "ending": result.ending,
        "detail": result.detail[-300:],
        "seconds": round(seconds, 2),
        "hits": found,
    }
    with Path(given["path"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    _main()
