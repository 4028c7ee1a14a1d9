"""Forces between two points that coincide have no direction: the message says so, in every engine and analysis."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import pendula
from pendula.errors import ComputationError, SingularPose

FORCES = {
    "free length": {"type": "spring", "stiffness": 100.0, "length": 0.3},
    "damping": {"type": "spring", "stiffness": 100.0, "damping": 5.0},
    "damper": {"type": "damper", "damping": 5.0},
}
WAYS = ("kane", "lagrange", "newton-euler", "projection", "maximal", "recursive")
CAUSE = r'the force "main spring" acts along the line between its ends, which coincide at .*: it has no direction there'


def hung(force: dict[str, object], way: str = "kane") -> pendula.results.System:
    """A body in the plane whose mass centre starts where a spring is attached to ground."""
    model = pendula.Model(
        name="hung",
        gravity=[0, -9.81, 0],
        parameters={"c": 0, "m": 1.0},
        bodies=[{"name": "b", "mass": "m", "inertia": ["0.1*m"] * 3}],
        joints=[{"name": "j", "type": "planar", "parent": "ground", "child": "b"}],
        forces=[{"name": "main spring", "start": "ground", "end": "b", **force}],
    )
    return pendula.compile_system(model, engine=way) if way == "recursive" else pendula.compile_system(model, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("force", FORCES)
def test_a_run_names_the_force_without_direction(force: str, way: str) -> None:
    with pytest.raises(ComputationError, match=CAUSE):
        pendula.simulate(hung(FORCES[force], way), 1.0)


def test_damping_that_is_a_parameter_needs_a_direction_even_if_it_is_zero() -> None:
    with pytest.raises(ComputationError, match=CAUSE):
        pendula.simulate(hung({"type": "spring", "stiffness": 100.0, "damping": "c"}), 1.0)


QUESTIONS: dict[str, Callable[[pendula.results.System], object]] = {
    "accelerations": lambda system: system.accelerations(np.zeros(3), np.zeros(3)),
    "linear model": lambda system: pendula.linearize(system, {}),
    "derivatives": lambda system: system.acceleration_jacobian("q", np.zeros(3), np.zeros(3)),
    "stability": lambda system: pendula.stability(system, {}),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", ["kane", "recursive"])
def test_analyses_name_it(question: str, way: str) -> None:
    with pytest.raises(ComputationError, match=CAUSE):
        QUESTIONS[question](hung(FORCES["free length"], way))


@pytest.mark.parametrize("way", ["kane", "recursive"])
def test_members_of_an_ensemble_name_it(way: str) -> None:
    runs = pendula.simulate_many(hung(FORCES["free length"], way), 1.0, {"j_x": [0.0, 0.1]})
    assert runs.ok.tolist() == [False, True]
    assert re.search(CAUSE, runs.detail(0))


def test_apart_they_have_one() -> None:
    """Stretched by 0.1 along x, the spring with the free length 0.3 pushes: x'' = 100 0.2/1."""
    system = hung(FORCES["free length"])
    assert system.accelerations([0.1, 0.0, 0.0], np.zeros(3)) == pytest.approx([20.0, -9.81, 0.0])


def test_a_spring_that_needs_no_direction_is_not_blamed_for_a_pose_without_mass() -> None:
    elastic = {"type": "spring", "stiffness": 100.0}
    assert pendula.simulate(hung(elastic), 1.0).ok
    with pytest.raises(SingularPose, match="the mass matrix is not positive definite"):
        hung(elastic).accelerations(np.zeros(3), np.zeros(3), parameters={"m": 0.0})
