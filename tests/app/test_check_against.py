"""check --against on the command line, and what check says when formulations disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

PUBLISHED = Path(__file__).resolve().parents[2] / "examples" / "published"
WIDTH = 80


def test_right_equations_exit_with_0(pendula):
    result = pendula(
        "check", str(PUBLISHED / "two-bodies.toml"), "--against", str(PUBLISHED / "tataru-41-corrected.toml")
    )
    assert result.code == 0, result.err
    assert "agrees with two bodies" in result.out.replace("\n", " ")
    assert "passed" in result.out


def test_wrong_equations_exit_with_1_and_the_counterexample(pendula, tmp_path):
    (tmp_path / "mine.toml").write_text('equations = ["l*theta_ddot + g*sin(theta) = 0"]')
    result = pendula("check", "pendulum", "--against", "mine.toml")
    assert result.code == 1
    for word in ("mine.toml", "counterexample", "90 deg", "theta_ddot", "-14.715", "-9.81", "FAILED"):
        assert word in result.out, result.out
    assert max(map(len, result.out.splitlines())) <= WIDTH


def test_json_has_the_fields_other_tools_rely_on(pendula, tmp_path):
    (tmp_path / "mine.toml").write_text('equations = ["l*theta_ddot + g*sin(theta) = 0"]')
    result = pendula("check", "pendulum", "--against", "mine.toml", "--json", "--states", "20")
    assert result.code == 1
    data = json.loads(result.out)
    assert data["passed"] is False
    assert data["max_difference"] == pytest.approx(1 / 3)  # 1.5 g/l against g/l
    assert data["counterexample"] == {"t": 0.0, "theta": pytest.approx(1.5707963267948966), "theta_dot": 0.0}
    assert data["difference"][0] == {
        "what": "theta_ddot",
        "ours": pytest.approx(-1.5 * 9.81),
        "theirs": pytest.approx(-9.81),
    }
    (tmp_path / "right.toml").write_text('accelerations = { theta_ddot = "-3*g*sin(theta)/(2*l)" }')
    data = json.loads(pendula("check", "pendulum", "--against", "right.toml", "--json").out)
    assert data["passed"] is True
    assert data["counterexample"] is None
    assert data["difference"] == []


def test_parameters_of_the_command_reach_the_equations(pendula, tmp_path):
    (tmp_path / "mine.toml").write_text('equations = ["theta_ddot + 1.5*g*sin(theta) = 0"]')  # only for l = 1
    result = pendula("check", "pendulum", "--against", "mine.toml")
    assert result.code == 0
    assert "only for these values of the parameters: l (1)" in result.out.replace("\n", " ")
    assert pendula("check", "pendulum", "-p", "l=2", "--against", "mine.toml").code == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["mine.toml", "there is no such file"]),
        ("equations = [", ["mine.toml", "not valid TOML"]),
        ("", ["mine.toml", "no equations"]),
        ('equations = ["l*teta_ddot"]', ["mine.toml", "equation 1", '"theta_ddot"']),
        ('equations = ["theta_ddot**2"]', ["mine.toml", "equation 1", "not linear"]),
        ('M = [["0"]]\nf = ["1"]', ["mine.toml", "M", "not determined"]),
    ],
)
def test_bad_files_exit_with_2_and_one_message(pendula, tmp_path, content, words):
    if content is not None:
        (tmp_path / "mine.toml").write_text(content)
    result = pendula("check", "pendulum", "--against", "mine.toml")
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    for word in words:
        assert word in result.err, result.err


def test_formulations_that_disagree_are_named_with_state_and_term(pendula, monkeypatch):
    from pendula.equations.equations import Rows
    from pendula.equations.formulations import kane

    right = kane.Kane.derive

    def wrong(self, model):
        """Gravity counted twice."""
        equations = right(self, model)
        free = dict(equations.parts.free)
        free["gravity"] = tuple(2 * x for x in free["gravity"])
        return replace(equations, parts=Rows(free, equations.parts.driven))

    monkeypatch.setattr(kane.Kane, "derive", wrong)
    result = pendula("check", "chain", "-p", "links=5", "--states", "10")
    assert result.code == 1
    said = result.out[result.out.index("FAILED") :].replace("\n", " ")
    pairs = [part for part in said.split(" disagree most in the ")[1:]]
    assert len(pairs) >= 2  # kane with each of the others
    assert "kane and " in said
    assert all("acceleration" in part and "theta5 = " in part for part in pairs)


def test_equations_of_a_file_are_simulated_and_linearized_as_written(pendula, tmp_path):
    (tmp_path / "mine.toml").write_text('equations = ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta) - 0.05*theta_dot"]')
    result = pendula("simulate", "pendulum", "--equations", "mine.toml", "--for", "5")
    assert result.code == 1  # a friction that the model does not have
    assert "given in mine.toml" in result.out
    assert "energy is off" in result.out
    data = json.loads(pendula("linearize", "pendulum", "--equations", "mine.toml", "--json").out)
    assert data["A"][1] == pytest.approx([-1.5 * 9.81, -0.15])
    shifted = 'equations = ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta - 0.1)"]'
    (tmp_path / "shifted.toml").write_text(shifted)
    refused = pendula("linearize", "pendulum", "--equations", "shifted.toml")
    assert refused.code == 2
    assert "--at" in refused.err
    assert pendula("modes", "pendulum", "--equations", "shifted.toml", "--at", "theta=0.1").code == 0
    clash = pendula("simulate", "pendulum", "--equations", "mine.toml", "--engine", "recursive")
    assert clash.code == 2
