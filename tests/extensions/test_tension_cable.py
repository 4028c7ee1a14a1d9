"""A cable that never pushes, defined outside the package: every formulation and engine takes its law from one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.errors import ComputationError, ModelError, NotSupported, UsageError
from pendula.extensions import load_extension
from pendula.model.base import Scalar
from pendula.model.files import schema
from pendula.model.forces import FORCES, Force, ForceAcross, ForceBetween, ForceInJoint, Law, register_force
from tests.helpers.choices import in_turn
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import random_mechanism

CLOSE = 1e-10
"""Agreement of formulations; relative to the largest value."""
FORMULATIONS = tuple(pendula.derivation.formulations())

REGISTERED = ("cable", "stop", "quadratic")
"""types of forces that this file and its neighbours add"""


@pytest.fixture(autouse=True, scope="module")
def _types() -> Iterator[None]:
    """The cable, loaded as a user would, and types that tests define; gone afterwards: others see built-in ones."""
    known = set(FORCES)
    load_extension(Path(__file__).with_name("tension_cable.py"))
    register_force(ForceStop)
    register_force(ForceGhost)
    register_force(ForceQuadratic)
    yield
    for name in set(FORCES) - known:
        FORCES.remove(name)
    del sys.modules["tension_cable"]


class ForceStop(ForceAcross):
    """A soft stop in a joint: nothing up to a limit, a progressive spring beyond it."""

    type: Literal["stop"] = "stop"
    stiffness: Scalar
    limit: Scalar
    damping: Scalar = 0

    law = Law(
        elastic="stiffness*max(0, x - limit)**2",
        potential="stiffness*max(0, x - limit)**3/3",
        drag="damping*rate*max(0, x - limit)",
    )


class ForceQuadratic(ForceInJoint):
    """Friction that grows with the square of the speed."""

    type: Literal["quadratic"] = "quadratic"
    coefficient: Scalar

    law = Law(drag="coefficient*rate*abs(rate)")


class ForceGhost(Force):
    """Known to the model and to nothing else."""

    type: Literal["ghost"] = "ghost"
    strength: Scalar = 1


def weight(*forces: dict[str, Any], **changes: Any) -> Model:
    """A mass that slides up and down, 1 above ground at its start; forces act between it and ground."""
    return Model(
        name="weight",
        gravity=[0, "-g", 0],
        parameters={"g": 10.0, "m": 2.0, "k": 400.0, "l": 1.0, "c": 0.0} | changes,
        bodies=[{"name": "bob", "point": {"mass": "m"}}],
        joints=[{"name": "y", "type": "prismatic", "axis": [0, -1, 0], "parent": "ground", "child": "bob"}],
        forces=list(forces),
        initial={"y": 1},
    )


CABLE = {"type": "cable", "from": "ground", "to": "bob", "stiffness": "k", "length": "l", "damping": "c"}


def with_forces(seed: int, length: float) -> Model:
    """A random mechanism with a cable from ground to its last body, and a stop and friction in joints."""
    model = random_mechanism(seed, closed=False, also=REGISTERED)
    ends = {"from": {"body": "ground", "position": [1.7, 0.4, 0.1]}, "to": {"body": model.bodies[-1].name}}
    more: list[dict[str, Any]] = [{"type": "cable", "stiffness": "3*k", "damping": "c", "length": length, **ends}]
    for joint in model.tree:
        if len(joint.coordinates()) == 1 and not joint.motion:
            limit = -5 if length < 1 else 50
            more.append({"type": "stop", "joint": joint.name, "stiffness": "k", "limit": limit, "damping": "c/2"})
            more.append({"type": "quadratic", "joint": joint.name, "coefficient": 0.2})
            break
    return model.with_changes(forces=[*model.forces, *more])


def difference(expected: Any, found: Any) -> float:
    size = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    return float(np.max(np.abs(np.asarray(expected) - found), initial=0.0)) / size


TAUT, SLACK = 0.1, 50.0
OTHERS = [pytest.param(seed, length, marks=pytest.mark.slow) for seed in (1, 5, 17) for length in (TAUT, SLACK)]


@pytest.mark.parametrize(("seed", "length"), in_turn([8, 11], [TAUT, SLACK]) + OTHERS)
def test_all_formulations_and_the_recursion_agree(seed: int, length: float) -> None:
    model = with_forces(seed, length)
    for pair in pendula.check(model, states=6).pairs:
        assert pair.max_difference < CLOSE, (pair.a, pair.b, pair.where)
    symbolic = pendula.compile_system(model, "kane", engine="symbolic")
    recursive = pendula.compile_system(model, engine="recursive")
    t, q, v = states(symbolic, 5)
    assert difference(symbolic.accelerations(q, v, t), recursive.accelerations(q, v, t)) < CLOSE
    assert difference(symbolic.power(q, v, t), recursive.power(q, v, t)) < CLOSE
    energies = [s.energies(q, v, t) for s in (symbolic, recursive)]
    assert difference(*(e.kinetic + e.potential for e in energies)) < CLOSE


def test_random_mechanisms_draw_registered_types() -> None:
    drawn = {force.type for seed in range(60) for force in random_mechanism(seed, closed=False, also=REGISTERED).forces}
    assert {"cable", "stop", "quadratic", "spring"} <= drawn


def test_the_law_is_what_the_file_says() -> None:
    """Against the formula by hand: slack below the length, k (x - l) + c rate beyond it."""
    model = weight(CABLE, c=3.0)
    q, v = np.array([[0.7], [0.999], [1.2]]), np.array([[5.0], [5.0], [-2.0]])
    pull = np.array([0.0, 0.0, 400 * 0.2 + 3 * -2.0])
    for engine in ("symbolic", "recursive"):
        system = pendula.compile_system(model, engine=engine)
        assert system.accelerations(q, v)[:, 0] == pytest.approx(10.0 - pull / 2.0, rel=1e-13)
        assert system.power(q, v) == pytest.approx([0.0, 0.0, -3.0 * 4.0])
        assert system.energies(q, v).potential == pytest.approx(-20 * q[:, 0] + [0, 0, 200 * 0.04])


@pytest.mark.parametrize("seed", [8, 1])
def test_the_recursion_has_the_exact_derivatives(seed: int) -> None:
    model = with_forces(seed, 0.1)
    symbolic = pendula.compile_system(model, "kane", engine="symbolic")
    recursive = pendula.compile_system(model, engine="recursive")
    t, q, v = states(symbolic, 3)
    N = np.stack([symbolic.rates(q, e, t) - symbolic.rates(q, 0 * e, t) for e in np.eye(v.shape[1])], axis=-1)
    for by in "qvp":
        expected, found = (s.acceleration_jacobian(by, q, v, t) for s in (symbolic, recursive))
        if by == "q":  # entries of a quaternion stretch differently; motions are the same
            expected, found = expected @ N, found @ N
        assert difference(expected, found) < 1e-9, by


def test_energy_is_kept_while_the_cable_goes_slack_and_taut() -> None:
    model = weight(CABLE).with_changes(initial={"y": 0.5})
    for engine in ("symbolic", "recursive"):
        system = pendula.compile_system(model, engine=engine)
        run = pendula.simulate(system, 3.0, tol=1e-10)
        y = np.asarray(run["y"])
        assert y.min() < 0.6
        assert y.max() > 1.1
        energies = system.energies(run.q, run.v)
        total = energies.kinetic + energies.potential
        assert np.ptp(total) < 1e-6 * np.ptp(energies.potential)


def test_the_linearization_knows_the_kink() -> None:
    floating = pendula.compile_system(weight(CABLE, g=0.0))
    with pytest.raises(ComputationError, match="a kink across y, exactly at this state: no linear model"):
        pendula.linearize(floating, {"y": 1.0})
    assert pytest.approx(0.0) == pendula.linearize(floating, {"y": 0.9}).K
    hanging = pendula.compile_system(weight(CABLE, c=3.0))
    linear = pendula.linearize(hanging, {"y": 1 + 20 / 400})
    assert pytest.approx(np.array([[400.0]])) == linear.K
    assert pytest.approx(np.array([[3.0]])) == linear.C


def test_a_smooth_law_has_no_kinks_to_look_for() -> None:
    from pendula.model.forces.kinks import may_have_kinks

    assert may_have_kinks(weight(CABLE))
    assert not may_have_kinks(weight({**CABLE, "type": "spring"}))


def test_the_equilibrium_is_found() -> None:
    found = pendula.find_equilibria(pendula.compile_system(weight(CABLE)))
    assert [e["y"] for e in found] == pytest.approx([1 + 20 / 400])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stifness": 1}, "stifness"),
        ({"length": None}, "length"),
        ({"length": "nope"}, '"nope" is not known'),
        ({"damping": "nope"}, '"nope" is not known'),
        ({"length": "y"}, '"y" cannot be used here; it may use parameters'),  # a potential must not change
        ({"stiffness": "2 +"}, "stiffness"),
        ({"to": "bod"}, 'did you mean "bob"'),
        ({"type": "cabel"}, 'did you mean "cable"'),
    ],
)
def test_a_bad_field_is_refused_by_name(changes: dict[str, Any], said: str) -> None:
    fields = {name: value for name, value in (CABLE | changes).items() if value is not None}
    with pytest.raises(ModelError) as error:
        weight(fields)
    assert said in str(error.value)


def test_files_and_schema_know_the_type() -> None:
    model = weight({**CABLE, "name": "rope", "damping": "c*abs(y_dot)"})
    text = pendula.dumps(model)
    assert 'type = "cable"' in text
    assert pendula.loads(text) == model
    described = schema()
    assert described["$defs"]["ForceCable"]["properties"]["length"]["description"].startswith("distance up to which")
    assert {"$ref": "#/$defs/ForceCable"} in described["properties"]["forces"]["items"]["oneOf"]


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_type_that_only_the_model_knows_is_refused_by_every_formulation(name: str) -> None:
    model = weight({"type": "ghost"})
    with pytest.raises(NotSupported, match='force type "ghost" does not state where it acts'):
        pendula.derive(model, name)
    with pytest.raises(NotSupported, match='force type "ghost"'):
        pendula.compile_system(model, name)


def test_a_type_that_only_the_model_knows_is_refused_by_the_recursion() -> None:
    with pytest.raises(NotSupported, match='force type "ghost"'):
        pendula.compile_system(weight({"type": "ghost"}), engine="recursive")


def test_a_law_that_a_quaternion_has_no_meaning_for_is_refused() -> None:
    model = Model(
        name="ball",
        gravity=[0, 0, -10],
        bodies=[{"name": "rod", "rod": {"mass": 1, "length": 1}}],
        joints=[{"name": "hold", "type": "spherical", "parent": "ground", "child": "rod"}],
        forces=[{"type": "quadratic", "joint": "hold", "coefficient": 1}],
    )
    with pytest.raises(NotSupported, match='joint "hold" has angular velocities'):
        pendula.derive(model)


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Law(elastic="stiffness*x", potential="stiffness*x**2"), "is not the derivative of its potential"),
        (Law(elastic="stiffness*x"), "is not the derivative of its potential"),
        (Law(drag="stifness*rate"), 'its law uses "stifness", which is not a numeric field of this type'),
        (Law(elastic="stiffness*rate", potential="0"), "its elastic force depends on rate"),
        (Law(drag="stiffness*"), "stiffness"),
    ],
)
def test_a_law_that_is_wrong_is_refused_when_it_is_registered(law: Law, said: str) -> None:
    class ForceWrong(ForceBetween):
        type: Literal["wrong"] = "wrong"
        stiffness: Scalar

    ForceWrong.law = law
    with pytest.raises(UsageError) as error:
        register_force(ForceWrong)
    assert said in str(error.value)
    assert 'force type "wrong"' in str(error.value)


def test_a_name_that_is_taken_is_refused() -> None:
    class ForceSpring(ForceBetween):
        type: Literal["spring"] = "spring"
        law = Law(drag="rate")

    with pytest.raises(UsageError, match='force type "spring" is already registered by pendula'):
        register_force(ForceSpring)
