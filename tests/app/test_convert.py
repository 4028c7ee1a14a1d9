"""Orientations in other coordinates from the command line."""

from __future__ import annotations

import json

import pytest
from scipy.spatial.transform import Rotation


def test_an_orientation_is_shown_in_the_common_charts(pendula):
    result = pendula("convert", "spatial-rod", "--start", "phi=20deg", "--start", "theta=50deg")
    assert result.code == 0
    for words in ("zyz (of the model)", "quaternion", "yaw-pitch-roll", "rotation vector", "theta = 50 deg"):
        assert words in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_values_are_those_of_scipy(pendula):
    given = ("--start", "phi=0.3", "--start", "theta=0.7", "--start", "psi=-1.1")
    data = json.loads(pendula("convert", "spatial-rod", *given, "--json").out)
    found = {x["chart"]: list(x["coordinates"].values()) for x in data["orientations"]}
    turn = Rotation.from_euler("ZYZ", [0.3, 0.7, -1.1])
    w, *vector = found["quaternion"]
    assert (Rotation.from_quat([*vector, w]).inv() * turn).magnitude() < 1e-14
    assert found["rotation vector"] == pytest.approx(turn.as_rotvec(), abs=1e-14)
    assert found["yaw-pitch-roll"] == pytest.approx(turn.as_euler("ZYX"), abs=1e-14)


def test_one_chart_with_other_speeds(pendula):
    data = json.loads(pendula("convert", "heavy-top", "--to", "cardan", "--speeds", "body", "--json").out)
    own, other = data["orientations"]
    assert own["own"]
    assert other["chart"] == "cardan"
    assert other["speeds"]["pivot_wz"] == pytest.approx(60.0)


def test_a_singular_chart_names_what_is_lost(pendula):
    result = pendula(
        "convert", "heavy-top", "--start", "pivot_q0=1", "--start", "pivot_q2=0", "--start", "pivot_wx=1", "--to", "zyz"
    )
    assert result.code == 1
    assert "pivot_1_dot not determined" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pendulum",), "no spherical or free joint"),
        (("spatial-rod", "--to", "zzz"), "zzz"),
        (("spatial-rod", "--to", "quaternion", "--speeds", "rates"), "not independent"),
        (("spatial-rod", "--start", "nothing=1"), "nothing"),
    ],
)
def test_bad_input_is_one_clear_message(pendula, arguments, words):
    result = pendula("convert", *arguments)
    assert result.code == 2
    assert words in result.err
