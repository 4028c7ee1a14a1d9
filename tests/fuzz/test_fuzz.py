"""Model files and command lines from seeds: no traceback, no crash, no hang, no gigabytes.

Several hundred cases in every run of the tests; many more with the slow ones. A failure names its seed:
``python -m tests.fuzz models SEED SEED+1`` repeats it.
"""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import ALLOWED, fuzz, read_model
from tests.fuzz.command_lines import check, command_line, prepare
from tests.fuzz.limits import failures
from tests.fuzz.models import model_text

MODELS, LINES = 300, 50
"""model files and command lines in every run of the tests"""


def _told(kind: str, found: list[object]) -> str:
    return f"{len(found)} failures of {kind}; repeat with python -m tests.fuzz {kind} SEED SEED+1\n" + "\n".join(
        map(str, found)
    )


def test_model_files_are_read_or_refused():
    found = list(failures(range(MODELS), lambda seed: read_model(model_text(seed), seed=-1), ALLOWED))
    assert not found, _told("models", found)


def test_quick_commands_end_as_promised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENDULA_DEBUG", "1")

    def attempt(seed: int) -> None:
        prepare(tmp_path, seed)
        check(command_line(seed, quick=True))

    found = list(failures(range(LINES), attempt, ALLOWED))
    assert not found, _told("commands", found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_model_files(part):
    found = fuzz("models", 10_000 * part, 10_000 * (part + 1))
    assert not found, _told("models", found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_command_lines(part):
    found = fuzz("commands", 1000 * part, 1000 * (part + 1))
    assert not found, _told("commands", found)


def test_the_limits_find_what_they_are_for():
    def attempt(seed: int) -> None:
        if seed == 1:
            raise ValueError("a bug")
        while seed == 2:
            pass
        if seed == 3:
            raise ALLOWED[0]("refused")

    from tests.fuzz import limits

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "SECONDS", 0.2)
        patch.setattr(limits.limited.__wrapped__, "__defaults__", (0.2,))
        found = {failure.seed: failure.cause for failure in failures(range(4), attempt, ALLOWED)}
    assert found == {1: "ValueError: a bug", 2: "took more than 0.2 s of processor time"}
