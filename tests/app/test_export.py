"""The command that writes models for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import pendula
from pendula.app.main import cli
from pendula.errors import UsageError
from pendula.extend import Content, register_format
from pendula.formats import remove_format


def run(*words: str):
    return CliRunner().invoke(cli, ["export", *words])


def test_the_ending_selects_the_format(tmp_path: Path) -> None:
    done = run("double-pendulum", "-o", str(tmp_path / "double.c"))
    assert done.exit_code == 0
    assert "(c, by kane)" in " ".join(done.output.split())
    assert "void rhs(" in (tmp_path / "double.c").read_text()


def test_every_listed_format_has_a_summary() -> None:
    listed = json.loads(run("--list", "--json").output)
    assert {row["format"] for row in listed} == {*pendula.exchange.exporters()}
    assert all(row["summary"] for row in listed)
    assert all(len(line) <= 80 for line in run("--list").output.splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pendulum"], "-o FILE is missing"),
        ([], "MODEL is missing"),
        (["pendulum", "-o", "x.nothing"], "must end in"),
        (["pendulum", "-o", "x.c", "--format", "pyhton"], 'did you mean "python"'),
        (["pendulum", "-o", "x.c", "--option", "speed=3"], 'has no option "speed"'),
    ],
)
def test_bad_requests_are_one_message(words: list[str], message: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert isinstance(done.exception, UsageError) or done.exit_code == 2
    assert message in str(done.exception) + done.output
    assert not [*tmp_path.iterdir()]


def test_a_format_from_outside_has_options_and_notes(tmp_path: Path) -> None:
    def write(model: pendula.Model, *, digits: int = 3) -> Content:
        return Content(f"{model.name} {digits}", (f"{len(model.forces)} forces left out",))

    register_format("names", write, of="Model", ending=".names", summary="names alone")
    try:
        done = run("double-pendulum", "-o", str(tmp_path / "a.names"), "--option", "digits=5", "--json")
        assert json.loads(done.output)["notes"] == ["2 forces left out"]
        assert (tmp_path / "a.names").read_text() == "double pendulum 5"
        with pytest.raises(UsageError, match="must be a number"):
            pendula.exchange.export("pendulum", tmp_path / "b.names", digits="many")
    finally:
        remove_format("names", of="Model")
