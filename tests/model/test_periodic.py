"""Which angles repeat, by the expressions of a model alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.model.expressions.expression import parse
from pendula.model.periodic import growth, repeats
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import VARIANTS, library_system
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import random_mechanism

TURN = 2 * np.pi


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("a", 0), ("x", 1), ("-x", -1), ("x - y", 0), ("x + y", 2), ("3*x - 1", 3), ("x/2", Fraction(1, 2)), ("two*x", 2),
        ("sin(x)", 0), ("cos(2*x - a)", 0), ("cos(x/2)", None), ("tan(x/2)", 0), ("sin(a*x)", None), ("x*y", None),
        ("x**2", None), ("exp(-(x - 4.5)**2)", None), ("1 if x > 0 else 2", None), ("1 if sin(x) > 0 else 2", 0),
        ("0*x", 0), ("none*x**2", 0), ("abs(x)", None), ("sin(x)*x", None), ("a + t", 0), ("cos(x)**2 + sin(y - x)", 0),
    ],
)  # fmt: skip
def test_growth_of_expressions(text: str, turns) -> None:
    found = growth(parse(text), {"x": Fraction(1), "y": Fraction(1)}, {"two": 2.0, "none": 0.0})
    assert found == (None if turns is None else Fraction(turns))


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_said_to_repeat_does(name: str) -> None:
    _check(library_system(name, "kane"))


@pytest.mark.parametrize("seed", slow_too(range(8), range(8, 60)))
def test_what_is_said_to_repeat_does_in_random_mechanisms(seed: int) -> None:
    _check(pendula.compile_system(random_mechanism(seed, closed=False), "kane"))


def _check(system: pendula.results.System) -> None:
    """Forces at random states, and a full turn further: equal where the expressions say so."""
    t, q, v = states(system, 5, seed=3)
    for i, (name, kind) in enumerate(zip(system.layout.coordinates, system.layout.coordinate_kinds, strict=True)):
        if kind == "angle" and repeats(system.model, [name]):
            further = q.copy()
            further[:, i] += TURN
            here, there = system.forces(q, v, t), system.forces(further, v, t)
            np.testing.assert_allclose(there, here, rtol=0, atol=1e-9 * (1.0 + np.abs(here).max()))


def test_springs_between_angles_from_ground_count_relative_turns() -> None:
    model = library.chain(links=3, stiffness=[0.0, 2.0, 3.0])
    assert not repeats(model, ["theta2"])
    assert repeats(model, ["theta1", "theta2", "theta3"])
    assert not repeats(library.chain(links=3, stiffness=2.0), ["theta1", "theta2", "theta3"])


def test_a_narrow_bump_is_no_circle() -> None:
    bump = {"type": "generalized", "coordinate": "theta", "value": "-60*exp(-500*(theta - 4.5)**2)"}
    assert not repeats(library.pendulum().with_changes(forces=[bump]), ["theta"])
