"""Units and hints about degrees on the command line."""

from __future__ import annotations

import json


def test_commands_take_units(pendula):
    given = ["-p", "l=50 cm", "--start", "x=5 cm", "--input", "F=2 N"]
    found = pendula("simulate", "cart-pole", "--for", "0.1", *given, "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["states"]["x"][0] == 0.05
    wrong = pendula("simulate", "cart-pole", "--start", "x=5 kg")
    assert wrong.code == 2
    assert "is a mass, but a length [m] is expected" in wrong.err


def test_angles_that_look_like_degrees_get_a_hint(pendula):
    run = pendula("simulate", "pendulum", "--for", "0.1", "--start", "theta=40")
    assert run.code == 0
    assert '"40deg"' in " ".join(run.out.split())
    at = pendula("linearize", "pendulum", "--at", "theta=180")
    assert 'write "180deg" for degrees' in at.err
    assert "deg" not in pendula("linearize", "pendulum", "--at", "theta=180deg").err
