"""The tool that plants mutants: what it changes, what it leaves alone, and how statements count themselves."""

from __future__ import annotations

import ast
import builtins
import textwrap

import pytest

from tests.crossings.planting.mutation import changes, planted, statements
from tests.crossings.planting.reach import counting

TEXT = textwrap.dedent('''
    """Words + words."""

    from __future__ import annotations

    OUTSIDE = 1 + 2


    def law(x: list[float], n: int = 3) -> float:
        """More words - words."""
        if n < 0:
            raise ValueError(f"n = {n + 1}")
        total = -x[0] + scaled(
            x[1:n],
            by=2.0,
        )
        for k in range(n):
            total += x[k] * 0.5
        return total if n > 2 and x else 0.0


    def scaled(x, by):
        return by * sum(x)


    def words(n) -> str:
        return "n" * n + "m"
''')


def found() -> dict[str, list[str]]:
    """All mutants: kind of change -> what stands there instead of what."""
    kinds: dict[str, list[str]] = {}
    for node in statements(ast.parse(TEXT)):
        for change in changes(node):
            if (mutant := planted(TEXT, node, change)) is not None:
                assert mutant.text.count("\n") == TEXT.count("\n")
                assert [mutant.text.splitlines()[k] for k in range(7)] == TEXT.splitlines()[:7]
                kinds.setdefault(mutant.operator, []).append(f"{mutant.before} -> {mutant.after}")
    return kinds


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("sign", "-x[0] -> (x[0])"),
        ("sign", "total += x[k] * 0.5 -> total -= x[k] * 0.5"),
        ("dropped factor", "x[k] * 0.5 -> (x[k])"),
        ("index", "k -> (k + 1)"),
        ("slice", "n -> (n - 1)"),
        ("range", "n -> (n - 1)"),
        ("comparison", "n > 2 -> (n >= 2)"),
        ("and/or", "n > 2 and x -> (n > 2 or x)"),
        ("constant", "0.5 -> (1.0)"),
        ("statement left out", "total += x[k] * 0.5 -> pass"),
        ("negation", "n > 2 and x -> (not (n > 2 and x))"),
    ],
)
def test_changes(kind, change):
    assert change in found()[kind]


def test_what_stands_on_several_lines_keeps_them():
    (change,) = found()["forgotten keyword"]
    assert change.endswith("-> (scaled(x[1:n]))")


def test_words_and_what_raises_are_left_alone():
    assert not [change for kind in found().values() for change in kind if "n + 1" in change or "n < 0" in change]
    assert not [change for kind in found().values() for change in kind if "m" in change.partition(" -> ")[0].split()]


def test_statements_count_themselves(monkeypatch):
    text, lines = counting(TEXT, 0)
    monkeypatch.setattr(builtins, "_hits_", [0] * len(lines.counted), raising=False)
    namespace: dict[str, object] = {}
    exec(text.replace("import _counts_", ""), namespace)
    assert namespace["law"]([1.0, 2.0, 3.0]) == by_hand(1.0, 2.0, 3.0)  # type: ignore[operator]
    counts = dict(zip(lines.counted, builtins._hits_, strict=True))  # type: ignore[attr-defined]
    by_text = {TEXT.splitlines()[line - 1].strip(): count for line, count in counts.items()}
    assert by_text["total += x[k] * 0.5"] == 3
    assert by_text["return by * sum(x)"] == 1
    assert by_text['raise ValueError(f"n = {n + 1}")'] == 0


def by_hand(a: float, b: float, c: float) -> float:
    """What ``law`` gives for three numbers."""
    return -a + 2 * (b + c) + 0.5 * (a + b + c)
