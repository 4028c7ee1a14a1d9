"""``--at`` with some values says what the coordinates are that it does not name."""

from __future__ import annotations

import json
import re

SPRUNG = """
name = "sprung slider-crank"
gravity = [0, -9.81, 0]
bodies = [
  { name = "crank", rod = { mass = 1.0, length = 0.1, axis = [1, 0, 0] } },
  { name = "rod", rod = { mass = 0.5, length = 0.3, axis = [1, 0, 0] } },
  { name = "piston", box = { mass = 0.8, size = [0.06, 0.05, 0.05] } },
]
joints = [
  { name = "phi", type = "revolute", parent = "ground", child = { body = "crank", at = "start" } },
  { name = "beta", type = "revolute", parent = { body = "crank", at = "end" }, child = { body = "rod", at = "start" } },
  { name = "s", type = "prismatic", axis = [1, 0, 0], parent = "ground", child = "piston" },
  { name = "wrist", type = "coincident", parent = { body = "rod", at = "end" }, child = "piston" },
]
forces = [{ name = "return spring", type = "spring", joint = "s", stiffness = 400.0, damping = 2.0, length = 0.35 }]
initial = { phi = "60deg", s = 0.337228 }
"""


def test_values_that_are_not_given_are_said_to_be_zero(pendula):
    found = pendula("modes", "cart-pole", "--at", "theta=0")
    assert found.code == 0
    assert "the values given with --at; x, not given, at zero" in found.out


def test_a_refusal_says_which_values_were_assumed(pendula):
    found = pendula("linearize", "cart-pole", "--at", "theta=0.1")
    assert found.code == 2
    assert "x, not given, at zero" in found.err
    assert "The nearest equilibrium is" in found.err


def test_a_free_coordinate_may_have_any_value(pendula):
    zero = pendula("linearize", "gyroscope", "--at", "phi=0")
    other = pendula("linearize", "gyroscope", "--at", "phi=0.3")
    for found in (zero, other):
        assert found.code == 2
        assert "equilibria 1, 2" in found.err
        assert "such as theta" in found.err
    assert pendula("linearize", "gyroscope", "--at", "phi=0.3,theta=90deg").code == 0


def test_all_values_need_no_words_about_others(pendula):
    found = pendula("modes", "pendulum", "--at", "theta=0")
    assert "not given" not in found.out


def test_the_nearest_equilibrium_of_a_linkage_is_near_the_whole_pose(pendula, tmp_path):
    """In line at phi = 0, beta = 0. Another equilibrium is nearer in phi alone, on the folded branch at s < 0."""
    path = tmp_path / "sprung.toml"
    path.write_text(SPRUNG)
    found = pendula("modes", str(path), "--at", "phi=0")
    assert found.code == 2
    text = " ".join(found.err.split())
    assert "torque of -0.73575 N m" in text  # -(mc + mr) g r/2
    where = dict(re.findall(r"(\w+) = (-?[\d.]+)", text.partition("The nearest equilibrium is")[2]))
    listed = json.loads(pendula("equilibria", str(path), "--json").out)["equilibria"]
    poses = [one["q"] for one in listed]
    assert min(poses, key=lambda one: abs(one["phi"]))["s"] < 0.0
    assert abs(float(where["beta"])) < 90.0
    assert float(where["s"]) > 0.3
