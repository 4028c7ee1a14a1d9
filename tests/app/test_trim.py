"""The trim command: closed forms, and how it ends."""

from __future__ import annotations

import json
import math

import pytest


def test_a_motor_holds_a_pendulum_aside(pendula):
    result = pendula("trim", "pendulum", "--hold", "theta=30deg", "--solve", "theta")
    assert result.code == 0, result.err
    assert "theta = 30 deg" in result.out
    assert "theta = 2.4525 N m" in result.out  # m g l/2 sin(theta) of the rod


def test_the_rate_of_a_conical_pendulum(pendula):
    result = pendula("trim", "spherical-pendulum", "--hold", "theta=40deg", "--solve", "phi_dot", "--json")
    data = json.loads(result.out)
    assert data["values"]["phi_dot"] ** 2 == pytest.approx(9.81 / math.cos(math.radians(40)), rel=1e-9)  # g/(l cos)
    assert (data["kinds"], data["units"]) == ({"phi_dot": "rate"}, {"phi_dot": "rad/s"})
    assert data["residual"] < 1e-12


def test_nothing_holds_it(pendula):
    words = ("trim", "cart-pole", "--hold", "theta=10deg", "--solve", "x")  # a force on the cart holds no pole aside
    result = pendula(*words)
    assert result.code == 1
    assert 'remains on "theta_dot"' in result.out
    assert "--solve" in result.out
    result = pendula(*words, "--json")
    assert result.code == 1
    assert json.loads(result.out)["values"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--solve", "nothing"), '--solve: "nothing" is not an input, coordinate or rate'),
        (("--solve", "theta", "--hold", "alpha=1"), "alpha"),
        (("--solve", "theta", "--hold", "theta"), "--hold"),
        ((), "--solve"),
    ],
)
def test_bad_options_are_named(pendula, words, said):
    result = pendula("trim", "pendulum", *words)
    assert result.code == 2
    assert said in result.err
