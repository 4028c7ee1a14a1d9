"""The script that the studio writes: it runs, it gives the same numbers, and no text in it becomes code."""

from __future__ import annotations

import ast
import math

import pytest

from pendula.app.studio.kinds import KINDS
from pendula.app.studio.text.script import WRITERS, literal, python_script
from pendula.errors import UsageError
from pendula.library import driven_chain
from pendula.model.files import dumps
from tests.app.studio_server import PENDULUM
from tests.helpers.choices import slow_too

SHAKEN = dumps(driven_chain(links=1, kind="point", amplitude=0.05, rate=100.0, direction=0))
OPTIONS = {
    "simulate": {"duration": "1/2", "samples": 5, "start": {"theta": "30deg"}, "parameters": {"l": "3*m"}, "tol": 1e-9},
    "equilibria": {},
    "linear": {"at": {"theta": "180deg"}},
    "modes": {"at": 1, "damped": True},
    "stability": {"at": "2"},
    "locus": {"parameter": "l", "low": 1, "high": "4*m", "count": 3},
    "floquet": {"at": {"theta1": "180deg"}},
    "reactions": {"duration": 0.5, "samples": 5},
    "section": {"event": "theta = 0 rising", "duration": 5},
    "ensemble": {
        "vary": {"theta": ["-10deg", "10deg"]},
        "spread": {"l": 0.1},
        "runs": 5,
        "duration": 0.5,
        "samples": 3,
    },
    "compare": {"first": {"duration": 1}, "second": {"duration": 0.5, "formulation": "maximal", "tol": 1e-10}},
    "certificate": {},
    "equations": {"formulation": "kane", "format": "c"},
}

HOSTILE = [
    '"""',
    '"',
    "'''",
    "\\",
    '\\"""',
    "\\\n",
    "\x00\x1b[31m",
    "\u202e",
    "\ud7ff\ue000",
    "a\r\nb\rc",
    '"' * 7,
    "{x}",
    "%s",
    "",
]


def run(text: str) -> dict:
    values: dict = {}
    exec(compile(text, "script", "exec"), values)
    return values


def test_every_kind_that_shows_numbers_can_be_reproduced():
    assert set(WRITERS) == set(OPTIONS)
    assert set(KINDS) - set(WRITERS) == {"live", "report", "page", "figure", "data", "script"}


@pytest.mark.parametrize(
    "kind",
    slow_too(
        ["simulate", "linear", "locus", "ensemble", "compare"],
        sorted(set(OPTIONS) - {"simulate", "linear", "locus", "ensemble", "compare"}),
    ),
)
def test_the_script_of_every_kind_runs(kind, capsys):
    values = run(python_script(SHAKEN if kind == "floquet" else PENDULUM, [{"kind": kind, "options": OPTIONS[kind]}]))
    assert capsys.readouterr().out.strip()
    if kind == "simulate":
        assert values["run"]["theta"][0] == pytest.approx(math.radians(30))
        assert values["run"].t.tolist() == pytest.approx([0.0, 0.125, 0.25, 0.375, 0.5])
        assert values["model"].parameter_values["l"] == 3.0
    if kind == "linear":
        assert values["rest"].state["theta"] == pytest.approx(math.pi)
        assert values["linear"].K[0, 0] / values["linear"].M[0, 0] == pytest.approx(-9.81 / 2.0)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_one_literal(text):
    for around in (text, f"a{text}", f"{text}b", f"{text}\n", text * 3):
        assert ast.literal_eval(literal(around)) == around
        assert all(letter == "\n" or letter.isprintable() for letter in literal(around))


def test_each_result_is_of_its_own_model_and_formulation():
    changed = {"kind": "simulate", "options": {"parameters": {"l": 8.0}, "duration": 0.1, "samples": 2}}
    by_bodies = {"kind": "simulate", "options": {"formulation": "maximal", "duration": 0.1, "samples": 2}}
    plain = {"kind": "linear", "options": {"at": {"theta": 0.0}}}
    values = run(python_script(PENDULUM, [changed, plain]))
    assert values["linear"].at.parameters[list(values["system"].layout.parameters).index("l")] == 2.0  # not 8
    assert run(python_script(PENDULUM, [by_bodies]))["run"].system.formulation == "maximal"
    assert run(python_script(PENDULUM, [by_bodies, plain]))["system"].formulation != "maximal"


def test_a_comparison_gives_the_largest_differences(capsys):
    run(python_script(PENDULUM, [{"kind": "compare", "options": OPTIONS["compare"]}]))
    shown = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert set(shown) == {"theta", "theta_dot"}
    assert 0.0 < float(shown["theta"]) < 1e-6  # two formulations and two tolerances


def test_options_never_become_code():
    hostile = {"duration": 1.0, "stepper": "x'); import os; os.abort(); ('", "events": ['"""\nimport os'], "name": "y"}
    tree = ast.parse(python_script(PENDULUM, [{"kind": "simulate", "options": hostile}]))
    imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert imported == ["pendula"]
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert called <= {"pendula.loads", "pendula.compile_system", "pendula.simulate", "print"}
    model = next(node for node in tree.body if isinstance(node, ast.Assign)).value
    assert isinstance(model, ast.Constant)
    assert model.value == PENDULUM


def test_what_cannot_be_reproduced_is_refused():
    for shown in ({"kind": "report"}, {"kind": ["simulate"]}, {"kind": "simulate", "options": 3}, {}):
        with pytest.raises(UsageError):
            python_script(PENDULUM, [shown])
    with pytest.raises(UsageError, match="duration"):
        python_script(PENDULUM, [{"kind": "simulate", "options": {"duration": "__import__('os')"}}])
