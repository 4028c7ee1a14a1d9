"""Mechanisms in which nothing moves freely: known motions and structures, whose forces are what people ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported

G, MASS, LENGTH = 9.81, 2.0, 0.8
ROD = {"name": "rod", "rod": {"mass": MASS, "length": LENGTH}}
BESIDE = {"name": "stone", "mass": 1.0}, {"name": "fall", "type": "prismatic", "parent": "ground", "child": "stone"}


def model(*joints: dict[str, Any], bodies: tuple[Any, ...] = (ROD,), **more: Any) -> pendula.Model:
    return pendula.Model(name="known", gravity=[0, -G, 0], bodies=[*bodies], joints=[*joints], **more)


def driven(*beside: Any) -> pendula.Model:
    """A rod that swings as 0.4 sin 3 t, with a free stone beside it or without."""
    swing = {"name": "theta", "type": "revolute", "parent": "ground", "child": "rod", "motion": "0.4*sin(3*t)"}
    return model(swing, *beside[1:], bodies=(ROD, *beside[:1]))


def truss() -> pendula.Model:
    """Two rods of length 1 and mass 1 that lean against each other, 1 m apart."""
    rods = tuple({"name": name, "rod": {"mass": 1.0, "length": 1.0}} for name in "ab")
    feet = ({"body": "ground"}, {"body": "ground", "position": [1, 0, 0]})
    joints = [
        {"name": f"foot_{name}", "type": "revolute", "parent": foot, "child": name}
        for name, foot in zip("ab", feet, strict=True)
    ]
    tips = ({"body": name, "at": "tip"} for name in "ab")
    pin = {"name": "pin", "type": "coincident", "parent": next(tips), "child": next(tips)}
    return model(*joints, pin, bodies=rods, initial={"foot_a": "150deg", "foot_b": "210deg"})


def check_driven(made: pendula.Model) -> None:
    """Tip, speed and acceleration by hand; the motor's torque is m l^2/3 a + m g l/2 sin theta."""
    run = pendula.simulate(made, 2.0, samples=21)
    angle, rate, change = 0.4 * np.sin(3 * run.t), 1.2 * np.cos(3 * run.t), -3.6 * np.sin(3 * run.t)
    tip = LENGTH * np.column_stack([np.sin(angle), -np.cos(angle), 0 * angle])
    np.testing.assert_allclose(run.position("rod", "tip"), tip, atol=1e-12)
    speed = np.linalg.norm(run.velocity("rod", "tip"), axis=1)
    np.testing.assert_allclose(speed, LENGTH * np.abs(rate), atol=1e-12)
    torque = MASS * LENGTH**2 / 3 * change + MASS * G * LENGTH / 2 * np.sin(angle)
    np.testing.assert_allclose(pendula.reactions(run).motors["theta"], torque, atol=1e-9)


def test_a_free_body_beside_answers_what_is_asked_of_known_motions() -> None:
    """As the refusal says."""
    check_driven(driven(*BESIDE))


@pytest.mark.xfail(strict=True, raises=NotSupported, reason="known motions will mend it")
def test_a_mechanism_whose_motion_is_wholly_prescribed_has_kinematics_and_motor_torques() -> None:
    check_driven(driven())


@pytest.mark.xfail(strict=True, raises=NotSupported, reason="known motions will mend it")
def test_the_reaction_of_a_clamped_rod_is_its_weight() -> None:
    clamp = {"name": "clamp", "type": "fixed", "parent": "ground", "child": "rod"}
    run = pendula.simulate(model(clamp), 1.0, samples=3)
    np.testing.assert_allclose(pendula.reactions(run)["clamp"].force_world, [[0, MASS * G, 0]] * 3, atol=1e-9)


@pytest.mark.xfail(strict=True, raises=NotSupported, reason="known motions will mend it")
def test_two_rods_that_lean_against_each_other_push_with_half_their_weight_times_the_cotangent() -> None:
    """Moments of one rod about its foot: N sin 60 = m g/2 cos 60; each foot carries the weight of its rod."""
    run = pendula.simulate(truss(), 1.0, samples=3)
    push = G / 2 / np.tan(np.radians(60))
    found = pendula.reactions(run)
    np.testing.assert_allclose(found["foot_a"].force_world, [[push, G, 0]] * 3, atol=1e-9)
    np.testing.assert_allclose(found["foot_b"].force_world, [[-push, G, 0]] * 3, atol=1e-9)


@pytest.mark.parametrize("make", [driven, truss])
@pytest.mark.parametrize("formulation", [*pendula.derivation.formulations(), "recursive"])
def test_it_is_refused_by_name_and_not_as_a_fault_of_the_model(make: Any, formulation: str) -> None:
    how = {"engine": formulation} if formulation == "recursive" else {"formulation": formulation}
    try:
        pendula.derive(make()) if formulation == "recursive" else pendula.derive(make(), formulation)
    except NotSupported as error:
        pytest.skip(str(error).splitlines()[0])
    with pytest.raises(NotSupported, match="nothing can move") as refused:
        pendula.compile_system(make(), **how)
    assert refused.value.refusal.id in ("compile/nothing-free", "compile/structure")
