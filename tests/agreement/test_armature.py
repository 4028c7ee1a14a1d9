"""Rotors in joints: every formulation and both engines against each other, and against a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Model, library
from pendula.errors import ModelError, NotSupported
from pendula.system.recursive import RecursiveSystem
from tests.helpers.choices import slow_too
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

CLOSE = 1e-10  # relative: rounding, where M is well conditioned
SEEDS = (3, 8, 15)
"""a plane tree with prescribed motions, a tree in space with a ball, a closed loop"""
MORE_SEEDS = [seed for seed in range(60) if seed not in SEEDS]
REFUSED = (5, 7, 11, 23, 57)
"""of these, the ones with an armature of a prescribed motion that the recursion does not support"""


def with_rotors(model: Model, seed: int) -> Model:
    """The model with armature in every joint that can have it; some entries are expressions."""
    rng = np.random.default_rng(seed)
    joints = []
    for joint in model.joints:
        if not joint.closing and joint.speeds() and joint.absolute_turn() is None:
            entries: list[Any] = [round(float(rng.uniform(0.1, 2.0)), 3) for _ in joint.speeds()]
            ball = joint.ball()
            if ball is not None and ball.axes != "rates":
                entries[-3:] = [entries[-1]] * 3
            else:
                entries[0] = f"{entries[0]}*m"
            joint = joint.model_copy(update={"armature": tuple(entries)})
        joints.append(joint)
    return model.with_changes(joints=[type(j).model_validate(j.model_dump(by_alias=True)) for j in joints])


@pytest.mark.parametrize("seed", slow_too(SEEDS, MORE_SEEDS))
def test_formulations_agree_on_random_mechanisms_with_rotors(seed: int) -> None:
    model = with_rotors(random_mechanism(seed), seed)
    names = list(pendula.derivation.formulations())
    if any(joint.quaternion() and joint.armature for joint in model.tree):
        with pytest.raises(NotSupported, match="armature of a joint with a quaternion"):
            pendula.derive(model, "maximal")
        names.remove("maximal")
    found = pendula.check(model, formulations=names, states=6)
    assert found.passed, str(found)


@pytest.mark.parametrize("seed", slow_too(SEEDS, MORE_SEEDS))
def test_the_recursion_agrees_with_symbolic_equations(seed: int) -> None:
    model = with_rotors(random_mechanism(seed), seed)
    symbolic = pendula.compile_system(model, engine="symbolic")
    if seed in REFUSED:
        with pytest.raises(NotSupported, match="armature of a prescribed motion"):
            pendula.compile_system(model, engine="recursive")
        return
    recursive = pendula.compile_system(model, engine="recursive")
    assert isinstance(recursive, RecursiveSystem)
    t, q, v = states(symbolic, 10)
    for what in ("accelerations", "forces", "energies", "power"):
        expected, got = (np.asarray(getattr(s, what)(q, v, t)) for s in (symbolic, recursive))
        assert np.abs(expected - got).max() <= CLOSE * max(1.0, np.abs(expected).max()), what
    M = symbolic.mass_matrix(q, t)
    assert np.abs(M - recursive.mass_matrix(q, t)).max() <= CLOSE * np.abs(M).max()
    for by in "vp":
        expected, got = (s.acceleration_jacobian(by, q, v, t) for s in (symbolic, recursive))
        assert np.abs(expected - got).max(initial=0.0) <= 1e-8 * max(1.0, np.abs(expected).max(initial=0.0)), by


def test_a_rotor_slows_a_pendulum_as_its_formula_says() -> None:
    """(m l^2/3 + A) theta'' = -m g (l/2) sin(theta), in every formulation; the rotor stores A theta'^2/2."""
    plain = library.pendulum()
    pin = plain.tree[0].model_copy(update={"armature": ("A",), "measured_from": "parent"})
    model = plain.with_changes(joints=[pin.model_dump(by_alias=True)], parameters={**plain.parameters, "A": 0.8})
    values = model.parameter_values
    m, l, g = values["m"], values["l"], values["g"]
    for formulation in pendula.derivation.formulations():
        system = pendula.compile_system(model, formulation)
        state = system.in_joints.state({"theta": 0.7, "theta_dot": 1.3})
        if formulation != "maximal":
            a = system.accelerations(state.q, state.v)[0]
            assert a == pytest.approx(-m * g * l / 2 * np.sin(0.7) / (m * l**2 / 3 + 0.8), rel=1e-12)
    model = model.with_changes(initial={"theta": 1.0})
    run = pendula.simulate(pendula.compile_system(model, "maximal"), 3.0, tol=1e-9)
    other = pendula.simulate(model, 3.0, tol=1e-9)
    assert run.energy_drift < 1e-7
    assert run["theta"][-1] == pytest.approx(other["theta"][-1], abs=1e-6)


def test_a_prescribed_rotor_needs_torque() -> None:
    """A joint turned by t^2/2 needs the torque I + A without gravity, and stores (I + A) t^2/2."""
    model = Model(
        name="driven rotor",
        gravity=[0, 0, 0],
        bodies=[{"name": "wheel", "disc": {"mass": 2, "radius": 1}}, {"name": "bob", "point": {"mass": 1}}],
        joints=[
            {"name": "s", "type": "prismatic", "parent": "ground", "child": "bob"},
            {
                "name": "turn",
                "type": "revolute",
                "parent": "ground",
                "child": "wheel",
                "motion": "t**2/2",
                "armature": 3,
            },
        ],
    )
    for engine in ("symbolic", "recursive"):
        system = pendula.compile_system(model, engine=engine)
        assert system.drive_forces([0.0], [0.0], 2.0) == pytest.approx(1.0 + 3.0, rel=1e-13)
        assert system.energies([0.0], [0.0], 2.0).kinetic == pytest.approx((1.0 + 3.0) * 4.0 / 2, rel=1e-13)


def joint(**fields: Any) -> dict[str, Any]:
    return {"name": "j", "type": "revolute", "parent": "ground", "child": "rod", **fields}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"armature": [1, 2]}, "this joint has 1 speed, found 2 entries"),
        ({"armature": -1}, "must not be negative"),
        ({"armature": 1, "measured_from": "ground"}, 'measured_from = "parent"'),
        ({"type": "fixed", "armature": 1}, "this joint has no speeds"),
        ({"type": "spherical", "armature": [1, 1, 2]}, "must be equal"),
        ({"armature": "unknown"}, "unknown"),
    ],
)
def test_bad_armature_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match="armature") as caught:
        Model(
            name="bad",
            gravity=[0, -9.81, 0],
            bodies=[{"name": "rod", "rod": {"mass": 1, "length": 1}}],
            joints=[joint(**fields)],
        )
    assert words in str(caught.value)


def test_what_considers_bodies_alone_says_so() -> None:
    model = Model(
        name="geared",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "rod", "rod": {"mass": 1, "length": 1}}],
        joints=[joint(armature=1)],
    )
    with pytest.raises(NotSupported, match="armature"):
        pendula.derivation.stages(model)
    with pytest.raises(NotSupported, match="armature"):
        pendula.derivation.projection_matrices(model)
    assert [x.name for x in pendula.integrals(model.with_changes(gravity=[0, 0, 0])).all] == ["E"]


@pytest.mark.parametrize("armature", [[0.01, 0.01, 0.01], [0.01, 0.02, 0.03]])
def test_rotors_of_angles_keep_a_run_in_these_angles(armature: list[float]) -> None:
    """Rotors of three angles are not those of an angular velocity: near their singularity no quaternion replaces them."""
    joint = {"name": "f", "type": "spherical", "orientation": "zyx", "parent": "ground", "child": "top"}
    model = Model(
        name="rotors in gimbals",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "top", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}],
        joints=[joint | {"armature": armature}],
        initial={"f_2": 0.3, "f_1_dot": 1, "f_2_dot": 3},
    )
    system = pendula.compile_system(model)
    run = pendula.simulate(system, 0.5, samples=6, tol=1e-10)

    def rates(t: float, y: Any) -> Any:
        return np.concatenate([y[3:], system.accelerations(y[:3], y[3:], t)])

    exact = solve_ivp(rates, (0.0, 0.5), [0, 0.3, 0, 1, 3, 0], rtol=1e-11, atol=1e-11, t_eval=run.t).y
    assert np.abs(exact[1]).max() > np.radians(80)
    np.testing.assert_allclose(run.q, exact[:3].T, atol=1e-6)
    with pytest.raises(NotSupported, match=r'joint "f" has armature, which belongs to its own speeds'):
        pendula.convert(run, "quaternion")


def test_rotors_of_an_angular_velocity_may_be_written_in_any_chart_with_it() -> None:
    joint = {"name": "f", "type": "spherical", "orientation": "zyx", "speeds": "body", "armature": [0.1] * 3}
    model = Model(
        name="rotors",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "top", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}],
        joints=[joint | {"parent": "ground", "child": "top"}],
        initial={"f_2": 0.3, "f_wx": 1, "f_wy": 3},
    )
    run = pendula.simulate(model, 2.0, samples=6, tol=1e-10)
    assert run.energy_drift < 1e-8
    turned = pendula.convert(run, "quaternion")
    other = pendula.simulate(turned.system, 2.0, initial_state=turned.state(0), samples=6, tol=1e-10)
    np.testing.assert_allclose(other.v, turned.v, atol=1e-6)
