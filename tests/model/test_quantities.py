"""Numbers with units in model files and arguments, and hints about angles that look like degrees."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import ModelError, UsageError
from pendula.model.quantities import number_in, quantity_in

INCH, POUND_FORCE, SLUG = 0.0254, 4.4482216152605, 14.593902937206365  # exact definitions of 1959; slug = lbf s^2/ft


def rod(units: str = "m-kg-s", **changes: Any) -> pendula.Model:
    given: dict[str, Any] = {
        "name": "rod", "units": units, "gravity": [0, "-9.80665 m/s^2", 0],
        "parameters": {"m": "2 kg", "l": "12 inch", "c": "0.1 N*m*s"},
        "bodies": [{"name": "r", "rod": {"mass": "m", "length": "l"}}],
        "joints": [{"name": "th", "type": "revolute", "parent": "ground", "child": "r"}],
        "forces": [{"type": "torsion-spring", "joint": "th", "damping": "c", "stiffness": "3 lbf*ft"}],
        "initial": {"th": "30 deg", "th_dot": "2 rpm"},
    }  # fmt: skip
    return pendula.Model(**(given | changes))


def test_one_description_in_two_systems_of_units_is_one_mechanism() -> None:
    metric, foot = rod(), rod("ft-slug-s")
    assert metric.parameters["l"] == pytest.approx(12 * INCH, rel=1e-14)
    assert foot.parameters["l"] == pytest.approx(1.0, rel=1e-14)
    assert foot.parameters["m"] == pytest.approx(2 / SLUG, rel=1e-12)
    assert metric.forces[0].stiffness == pytest.approx(3 * POUND_FORCE * 12 * INCH, rel=1e-12)
    assert foot.forces[0].stiffness == pytest.approx(3.0, rel=1e-12)
    runs = [pendula.simulate(m, 2, tol=1e-11) for m in (metric, foot)]
    assert abs(runs[0]["th"][-1] - runs[1]["th"][-1]) < 1e-9


def test_arguments_take_units() -> None:
    run = pendula.simulate(
        "cart-pole",
        1,
        initial_state={"theta": "30 deg", "x": "5 cm", "theta_dot": "60 deg/s"},
        parameters={"l": "50 cm"},
    )
    assert [run[n][0] for n in ("theta", "x", "theta_dot")] == pytest.approx([np.pi / 6, 0.05, np.pi / 3])
    assert run.parameters[run.layout.parameters.index("l")] == 0.5
    assert pendula.linearize("pendulum", {"theta": "180deg"}).at.q[0] == pytest.approx(np.pi)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": {"m": 1, "l": "2 kg", "c": 0}}, 'parameter "l": "2 kg" is a mass, but a length [m] is expected'),
        ({"gravity": [0, "-9.81 m/s", 0]}, 'gravity[1]: "-9.81 m/s" is a speed, but an acceleration [m/s^2] is expected'),
        ({"initial": {"th": "3 m"}}, 'initial "th": "3 m" is a length, but an angle [rad] is expected'),
        ({"initial": {"th_dot": "3 m/s"}}, '"3 m/s" is a speed, but a rate [rad/s] is expected'),
        ({"bodies": [{"name": "r", "rod": {"mass": "2 m", "length": "l"}}]}, 'body "r": rod.mass: "2 m" is a length'),
        ({"parameters": {"m": 1, "l": "2 ells_of_cloth", "c": 0}}, 'there is no unit "ells_of_cloth"'),
        ({"parameters": {"m": 1, "l": "20 degC", "c": 0}}, "[temperature]"),
    ],
)  # fmt: skip
def test_a_wrong_dimension_names_the_field_and_both_dimensions(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        rod(**changes)
    assert words in str(caught.value)


def test_expressions_mean_what_they_meant() -> None:
    assert quantity_in("0.5*m") is None
    assert quantity_in("2e3") is None
    assert quantity_in("30 deg") is None
    assert quantity_in("30 deg/s", {"s": 2.0}) is None  # the parameter s
    assert number_in("30 deg/s", "rad", "x", {"s": 2.0}) == pytest.approx(np.pi / 12)
    assert number_in("30 deg/s", "rad/s", "x") == pytest.approx(np.pi / 6)
    for hostile in ("1 m; import os", "1 __import__('os')", "9 m^999999999", "1 (lambda: 0)()", "1 m**9**9**9"):
        assert quantity_in(hostile) is None


def test_without_pint_one_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pint":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r'pip install "pendula\[units\]"'):
        number_in("5 cm", "m", "x")
    assert number_in("90deg", "rad", "theta") == pytest.approx(np.pi / 2)


def test_numbers_that_look_like_degrees_get_a_hint() -> None:
    assert any('write "40deg"' in note for note in pendula.simulate("pendulum", 0.1, initial_state={"theta": 40}).notes)
    for fine in (3.0, 6.2, 25.1327, "40deg"):
        notes = pendula.simulate("pendulum", 0.1, initial_state={"theta": fine}).notes
        assert not any("deg" in note for note in notes)
    written = pendula.library.pendulum().with_changes(initial={"theta": 45})
    assert any('write "45deg"' in note for note in pendula.simulate(written, 0.1).notes)


def test_a_mistaken_unit_is_one_problem_among_others_with_the_nearest_unit():
    text = """
name = "x"
gravity = [0, -9.81]
[[bodies]]
name = "b"
rod = { mass = "1 gk", length = -2 }
[[joints]]
name = "theta"
type = "revolut"
parent = "ground"
child = "b"
[initial]
theta = "40dge"
"""
    with pytest.raises(pendula.errors.ModelError) as found:
        pendula.loads(text)
    told = {(p.element, p.field): p.advice for p in found.value.problems}
    assert told['body "b"', "rod.mass"] == '"1 kg"'
    assert told['initial "theta"', ""] == '"40deg"'
    assert {('joint "theta"', "type"), ('body "b"', "rod.length")} <= told.keys()


def test_a_mistaken_unit_does_not_ask_for_pint(monkeypatch):
    monkeypatch.setitem(sys.modules, "pint", None)
    with pytest.raises(UsageError, match='there is no unit "dge"') as found:
        pendula.simulate("pendulum", 0.1, initial_state={"theta": "40dge"})
    assert '"40deg"' in str(found.value)
    assert "pint" not in str(found.value)
