"""The installation examines itself, and the shell completes what is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pendula.app.commands import doctor as command
from pendula.app.doctor import installation, self_test
from pendula.app.main import main

ROOT = Path(__file__).parents[2]


def test_every_check_of_the_self_test_passes_and_gives_its_figure(pendula):
    data = json.loads(pendula("doctor", "--json").out)
    assert data["passed"]
    assert [check["name"] for check in data["checks"]] == [name for name, _, _ in self_test.CHECKS]
    assert all(0 <= check["difference"] <= check["limit"] for check in data["checks"])


def test_a_wrong_result_fails_its_check(monkeypatch):
    """Gravity that is too strong by one part in a million: the self-test must notice."""
    import pendula

    rod = pendula.library.pendulum

    def pulled(**arguments):
        return rod(**arguments).model_copy(update={"gravity": (0, "-g*1.000001", 0)})

    monkeypatch.setattr(pendula.library, "pendulum", pulled)
    (check,) = self_test.self_test(self_test.CHECKS[:1])
    assert not check.passed
    assert check.difference > check.limit


def test_one_check_that_breaks_does_not_prevent_the_next(pendula, monkeypatch):
    def broken() -> float:
        raise RuntimeError("no such instruction")

    checks = (("breaks", broken, 1e-9), ("holds", lambda: 0.0, 1e-9))
    monkeypatch.setattr(command, "CHECKS", checks)
    monkeypatch.setattr(command, "self_test", lambda: self_test.self_test(checks))
    result = pendula("doctor")
    assert result.code == 1
    assert "FAILED breaks" in result.out
    assert "RuntimeError: no such instruction" in result.out
    assert "ok     holds" in result.out
    assert "1 of 2 checks failed: breaks" in result.out


def test_the_output_fits_80_columns_and_names_versions(pendula):
    result = pendula("doctor", "--no-test")
    assert result.code == 0
    lines = result.out.splitlines()
    assert max(len(line) for line in lines if not line.startswith(("in  ", "cache  "))) <= 80
    for word in ("Pendula", "CPython", "numba", "symengine", "studio"):
        assert word in result.out


def test_every_extra_for_users_has_a_purpose():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(installation.PURPOSES) == set(extras) - {"dev", "peer", "bench", "bench-jax", "book"}


def test_missing_packages_are_named_with_their_extra():
    (part,) = installation.optional_parts(['no-such-package>=1; extra == "plot"', "numpy; extra == 'plot'"])
    assert part.missing == ["no-such-package"]
    assert not part.installed


def asked(*words: str) -> dict[str, str]:
    """The environment in which the shell asks what may follow these words, the last of which is being typed."""
    return {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_PENDULA_COMPLETE": "bash_complete"}


def offered_in(text: str) -> list[str]:
    return [line.partition(",")[2] for line in text.splitlines()]


def test_the_shell_asks_the_program():
    environment = os.environ | asked("pendula", "simul")
    done = subprocess.run(
        [sys.executable, "-m", "pendula"], env=environment, capture_output=True, text=True, timeout=120
    )
    assert offered_in(done.stdout) == ["simulate"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("pendula", "show", "double-pend"), "double-pendulum"),
        (("pendula", "show", "chain", "-p", "li"), "links="),
        (("pendula", "show", "chain", "--j"), "--json"),
        (("pendula", "derive", "chain", "--formulation", "la"), "lagrange"),
    ],
)
def test_the_shell_completes(words, offered, capfd, monkeypatch):
    for name, value in asked(*words).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert offered in offered_in(capfd.readouterr().out)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_completion_script_for_each_shell(pendula, shell):
    result = pendula("completion", shell)
    assert result.code == 0
    assert "_PENDULA_COMPLETE" in result.out
