"""Writes docs/support.md, the list of all that Pendula refuses, from the refusals that its rooms state:
``python docs/make_support.py``.

What stands between the two marks of the page is not written here, and kept: it belongs to the tests of crossings.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from pendula.refusals import FEATURES, QUESTIONS, Refusal, Why, registered
from pendula.storage.files import write_text

PAGE = Path(__file__).parent / "support.md"
MARKS = "<!-- crossings: begin -->\n", "<!-- crossings: end -->\n"
"""around the table of questions and features, which other programs write"""
HEAD = """# What Pendula refuses

`python docs/make_support.py` generates this page from the program.

A request that is valid and is not answered raises `NotSupported`, with a message that names what stands against it. This page lists all
such messages: what was asked, what about the mechanism or the request stands against an answer, why, and the message. Names in it,
*like this*, are completed where it is raised; the error carries the entry as `error.refusal`, with its `id`.

What is wrong with a request (a negative mass, an unknown name) raises other errors, and is not listed here.
"""
CROSSINGS = """## What is answered

Tests put questions to mechanisms in which features occur two and three at a time. Their table, with the number of answers for every
question and feature, belongs here.
"""


def page(kept: str) -> str:
    """The page; ``kept`` is what stands between the marks."""
    known = registered()
    open_ones = [one for one in known if one.why is Why.NOT_DONE]
    parts = [
        HEAD,
        _table(
            ["Why", "Meaning", "Refusals"], [[str(why), what, _count(known, why)] for why, what in reasons().items()]
        ),
        CROSSINGS + "\n" + MARKS[0] + kept + MARKS[1],
        "## All refusals\n",
        _table(["What was asked", "What stands against it", "Why", "Message", "Id"], _rows(known)),
        "## Not done yet\n",
        f"{len(open_ones)} of them, which only lack the work:\n",
        "\n".join(_open(open_ones)) + "\n",
        "## Words\n",
        "What was asked:\n",
        "\n".join(f"- **{name}**: {meaning}" for name, meaning in _used(QUESTIONS, (x.question for x in known))) + "\n",
        "What may stand against an answer:\n",
        "\n".join(f"- **{name}**: {what}" for name, what in _used(FEATURES, (f for x in known for f in x.features))),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def reasons() -> dict[Why, str]:
    """The kinds of reasons with their meanings, which stand below them in the program."""
    (kinds,) = ast.parse(inspect.getsource(Why)).body
    lines = kinds.body  # type: ignore[attr-defined]
    stated = {
        Why[name.targets[0].id]: " ".join(meaning.value.value.split())
        for name, meaning in itertools.pairwise(lines)
        if isinstance(name, ast.Assign) and isinstance(meaning, ast.Expr)
    }
    return {why: stated[why] for why in Why}


def _rows(known: Iterable[Refusal]) -> list[list[str]]:
    """All refusals, by question in the order of the vocabulary; a question stands in its first row alone."""
    rows = []
    for question in QUESTIONS:
        for k, one in enumerate(x for x in known if x.question == question):
            what = f"**{question}**" if k == 0 else ""
            rows.append([what, ", ".join(one.features), str(one.why), message(one), f"`{one.id}`"])
    return rows


def _open(some: list[Refusal]) -> Iterable[str]:
    """A list by question."""
    for question, meaning in QUESTIONS.items():
        found = [one for one in some if one.question == question]
        if found:
            yield f"- **{question}** ({meaning})"
            yield from (f"  - {', '.join(one.features)}: {message(one)}" for one in found)


def message(one: Refusal) -> str:
    """The sentence in one line, with names in braces in italics; single underscores inside of words are left alone.

    Example:
        >>> message(Refusal("a/b", "run", ("events",), "{stepper} has no events.\\n  Try: dop853.", Why.NOT_DONE))
        '*stepper* has no events. Try: dop853.'
    """
    plain = re.sub(r"([\\|*<>`\[\]])", r"\\\1", " ".join(one.sentence.split()))
    return re.sub(r"\{(\w+?)(?:[:!][^{}]*)?\}", r"*\1*", plain)


def _count(known: Iterable[Refusal], why: Why) -> str:
    return str(sum(one.why is why for one in known))


def _used(words: dict[str, str], used: Iterable[str]) -> list[tuple[str, str]]:
    wanted = set(used)
    return [(name, meaning) for name, meaning in words.items() if name in wanted]


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def kept() -> str:
    """What stands between the marks of the page now."""
    if not PAGE.exists():
        return ""
    first, last = MARKS
    return PAGE.read_text(encoding="utf-8").partition(first)[2].partition(last)[0]


if __name__ == "__main__":
    write_text(PAGE, page(kept()))
