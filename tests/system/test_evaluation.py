"""The numeric functions of a system: shapes and batches, parameters, inputs, what is refused, and for how long
machine code lives."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula import library
from pendula.errors import ComputationError, LoopNotClosed, ModelError, PendulaError, SingularPose, UsageError
from pendula.system.loops.mobility import mobility
from pendula.system.parameters import parameter_vector
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array, states
from tests.helpers.random_mechanisms import random_mechanism

SAME = 1e-14
"""A batch does the same operations as single states, so even the last digit agrees but for the order of sums."""


def _pushed(**changes: Any) -> pendula.Model:
    """A pendulum with unit J (m = 3, l = 1), no gravity, and a torque F."""
    fields = {
        "gravity": [0, 0, 0],
        "parameters": {"m": 3.0, "l": 1.0, "k": 2.0},
        "inputs": {"F": 0},
        "forces": [{"type": "generalized", "coordinate": "theta", "value": "F"}],
        "initial": {},
    }
    return library.pendulum().with_changes(**(fields | changes))


# --- batches ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "heavy-top", "hoop-bead"])
def test_a_batch_gives_what_single_states_give(name: str) -> None:
    system = library_system(name)
    t, q, v = states(system, 6)
    a = system.accelerations(q, v, t)
    functions: dict[str, Any] = {
        "mass_matrix": lambda q, v, t, a: system.mass_matrix(q, t),
        "forces": lambda q, v, t, a: system.forces(q, v, t),
        "rates": lambda q, v, t, a: system.rates(q, v, t),
        "accelerations": lambda q, v, t, a: system.accelerations(q, v, t),
        "multipliers": lambda q, v, t, a: system.multipliers(q, v, t),
        "kinetic": lambda q, v, t, a: system.energies(q, v, t).kinetic,
        "power": lambda q, v, t, a: system.power(q, v, t),
        "poses": lambda q, v, t, a: system.poses(q, t)[0],
        "origins": lambda q, v, t, a: system.poses(q, t)[1],
        "gaps": lambda q, v, t, a: system.gaps(q, v, t)[0],
        "gap rates": lambda q, v, t, a: system.gaps(q, v, t)[1],
        "constraint_jacobian": lambda q, v, t, a: system.constraint_jacobian(q, t),
        "motion": lambda q, v, t, a: system.body_motion(q, v, a, t).acceleration,
        "jacobian": lambda q, v, t, a: system.acceleration_jacobian("q", q, v, t),
    }
    for what, function in functions.items():
        batch = function(q, v, t, a)
        single = np.array([function(q[k], v[k], t[k], a[k]) for k in range(6)])
        assert batch.shape == single.shape, what
        np.testing.assert_allclose(
            batch, single, rtol=SAME, atol=SAME * (1 + np.abs(single).max(initial=0)), err_msg=what
        )
        grid = function(*(x.reshape(2, 3, *x.shape[1:]) for x in (q, v, t, a)))
        assert grid.shape == (2, 3, *single.shape[1:]), what
        np.testing.assert_array_equal(grid.reshape(batch.shape), batch, err_msg=what)


def test_one_speed_goes_with_many_positions() -> None:
    system = library_system("double-pendulum")
    _, q, v = states(system, 5)
    np.testing.assert_array_equal(system.accelerations(q, v[0]), system.accelerations(q, np.tile(v[0], (5, 1))))
    assert system.accelerations(q[0], v, np.linspace(0, 1, 5)).shape == (5, 2)


def test_an_empty_batch_gives_an_empty_result() -> None:
    system = library_system("double-pendulum")
    assert system.accelerations(np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)


def test_arrays_in_any_order_and_type_are_read_right() -> None:
    system = library_system("double-pendulum")
    _, q, v = states(system, 4)
    expected = system.accelerations(q, v)
    np.testing.assert_array_equal(system.accelerations(np.asfortranarray(q), np.asfortranarray(v)), expected)
    np.testing.assert_array_equal(system.accelerations(q[::-1], v[::-1])[::-1], expected)
    assert system.accelerations([0, 1], [1, 0]).shape == (2,)


def test_an_array_of_the_wrong_length_is_refused_with_the_names() -> None:
    with pytest.raises(UsageError, match="theta1, theta2"):
        library_system("double-pendulum").accelerations([0.1], [0.0, 0.0])


# --- parameters ---------------------------------------------------------------------------------------


def test_parameters_given_by_name_take_dependent_ones_along() -> None:
    """m = 5/g in the double pendulum of paper 001."""
    system = library_system("double-pendulum")
    vector = parameter_vector(system, {"g": 10.0})
    values = dict(zip(system.layout.parameters, vector, strict=True))
    assert values["g"] == 10.0
    assert values["m"] == 0.5
    by_name = system.mass_matrix([0.1, 0.2], parameters={"g": 10.0})
    np.testing.assert_array_equal(by_name, system.mass_matrix([0.1, 0.2], parameters=vector))
    np.testing.assert_allclose(by_name[0, 0], 4 / 3 * 0.5 * 2**2)


def test_parameters_given_as_an_array_are_taken_as_they_are() -> None:
    system = library_system("double-pendulum")
    vector = system.parameters.copy()
    vector[system.layout.parameters.index("g")] = 10.0  # m does not follow
    assert system.mass_matrix([0.1, 0.2], parameters=vector)[0, 0] == pytest.approx(4 / 3 * 5 / 32.2 * 4)


def test_a_changed_parameter_gives_what_a_changed_model_gives() -> None:
    changed = pendula.compile_system(library.double_pendulum().with_parameters({"l": 1.3, "k2": 7.0}))
    system = library_system("double-pendulum")
    _, q, v = states(system, 5)
    found = system.accelerations(q, v, parameters={"l": 1.3, "k2": 7.0})
    np.testing.assert_allclose(found, changed.accelerations(q, v), rtol=1e-13)


def test_parameters_change_nothing_that_stays() -> None:
    system = library_system("pendulum")
    before = system.accelerations([0.3], [0.0])
    system.accelerations([0.3], [0.0], parameters={"g": 1.0})
    np.testing.assert_array_equal(system.accelerations([0.3], [0.0]), before)


@pytest.mark.parametrize("bad", [{"nothing": 1.0}, [1.0], [1.0, np.nan, 9.81]])
def test_bad_parameters_are_refused(bad: Any) -> None:
    with pytest.raises((UsageError, ModelError)):
        library_system("pendulum").accelerations([0.1], [0.0], parameters=bad)


# --- inputs -------------------------------------------------------------------------------------------


def test_inputs_are_taken_by_name_as_numbers_or_from_the_model() -> None:
    system = pendula.compile_system(_pushed(inputs={"F": 1.5}))
    assert system.accelerations([0.2], [0.0]) == pytest.approx([1.5])
    assert system.accelerations([0.2], [0.0], inputs={"F": -2.0}) == pytest.approx([-2.0])
    assert system.accelerations([0.2], [0.0], inputs=[4.0]) == pytest.approx([4.0])
    assert system.accelerations(np.zeros((3, 1)), [0.0], inputs=[[1.0], [2.0], [3.0]])[:, 0] == pytest.approx([1, 2, 3])


def test_inputs_that_are_expressions_of_time_follow_time() -> None:
    system = pendula.compile_system(_pushed(inputs={"F": "k*sin(t)"}))
    times = np.linspace(0, 2, 5)
    q, v = np.zeros((5, 1)), np.full((5, 1), 2.0)
    np.testing.assert_allclose(system.accelerations(q, v, times)[:, 0], 2 * np.sin(times), atol=1e-15)
    np.testing.assert_allclose(system.power(q, v, times), 4 * np.sin(times), atol=1e-15)
    np.testing.assert_allclose([system.inputs.at(t, system.parameters)[0] for t in times], 2 * np.sin(times))


def test_numbers_stand_in_for_inputs_in_time() -> None:
    system = pendula.compile_system(_pushed(inputs={"F": "k*sin(t)"}))
    assert system.accelerations([0.0], [0.0], 0.7, inputs={"F": 3.0}) == pytest.approx([3.0])
    assert system.accelerations([0.0], [0.0], 0.7, inputs=[5.0]) == pytest.approx([5.0])


def test_numbers_stand_in_for_inputs_in_time_in_a_loop() -> None:
    push = [{"type": "generalized", "coordinate": "crank", "value": "F"}]
    timed = pendula.compile_system(library.four_bar().with_changes(inputs={"F": "sin(t)"}, forces=push))
    plain = pendula.compile_system(library.four_bar().with_changes(inputs={"F": 2.0}, forces=push))
    t, q, v = states(plain, 4)
    found = timed.accelerations(q, v, t, inputs=[2.0])
    np.testing.assert_allclose(found, plain.accelerations(q, v, t), rtol=1e-9)


def test_inputs_that_are_not_given_keep_their_own_values() -> None:
    """F is given, H goes on as its expression of time."""
    force = [{"type": "generalized", "coordinate": "theta", "value": "F + H"}]
    system = pendula.compile_system(_pushed(inputs={"F": 0, "H": "3*t"}, forces=force))
    assert system.accelerations([0.0], [0.0], 2.0, inputs={"F": 1.0}) == pytest.approx([7.0])


@pytest.mark.parametrize("expression", ["k", "k*cos(t)"])
def test_inputs_that_depend_on_parameters_follow_them(expression: str) -> None:
    system = pendula.compile_system(_pushed(inputs={"F": expression}))
    given = {"parameters": {"k": 5.0}}
    assert system.inputs.at(0.0, parameter_vector(system, {"k": 5.0})) == pytest.approx([5.0])
    assert system.accelerations([0.0], [0.0], **given) == pytest.approx([5.0])
    assert system.forces([0.0], [0.0], **given) == pytest.approx([5.0])
    assert system.power([0.0], [2.0], **given) == pytest.approx(10.0)


def test_an_unknown_input_is_refused() -> None:
    with pytest.raises(UsageError, match='no input "G"'):
        pendula.compile_system(_pushed()).accelerations([0.0], [0.0], inputs={"G": 1.0})


# --- what cannot be computed --------------------------------------------------------------------------


def test_a_singular_chart_is_refused_naming_the_state() -> None:
    with pytest.raises(SingularPose) as error:
        library_system("spherical-pendulum").accelerations([0.0, 0.25], [0.0, 0.0])
    assert "theta = 0" in str(error.value)
    assert "phi = 0.25" in str(error.value)
    assert "mass matrix" in str(error.value)


def test_a_singular_state_in_a_batch_is_the_one_that_is_named() -> None:
    with pytest.raises(SingularPose, match=r"theta = 0, phi = 0\.75"):
        library_system("spherical-pendulum").accelerations([[0.5, 0.1], [0.0, 0.75]], np.zeros((2, 2)))


def test_a_singular_chart_is_refused_with_inputs_given_too() -> None:
    force = [{"type": "generalized", "coordinate": "phi", "value": "F"}]
    system = pendula.compile_system(library.spherical_pendulum().with_changes(inputs={"F": "t"}, forces=force))
    with pytest.raises(SingularPose):
        system.accelerations([0.0, 0.2], [0.0, 0.0], inputs=[1.0])


@pytest.mark.parametrize("inputs", [{"F": -1.0}, {"F": "t - 1"}])
def test_accelerations_that_are_not_finite_are_refused(inputs: dict[str, Any]) -> None:
    force = [{"type": "generalized", "coordinate": "theta", "value": "log(F)"}]
    system = pendula.compile_system(_pushed(inputs=inputs, forces=force))
    with pytest.raises(ComputationError):
        system.accelerations([0.0], [0.0])
    with pytest.raises(ComputationError):
        system.accelerations([0.0], [0.0], inputs=[-1.0])


def test_a_motion_without_mass_is_refused_naming_it() -> None:
    model = _pushed(bodies=[{"name": "link", "mass": 0}])
    with pytest.raises(ModelError, match="theta"):
        pendula.compile_system(model)


@pytest.mark.parametrize("formulation", ["kane", "maximal"])
def test_the_joint_of_a_motion_without_mass_is_named(formulation: str) -> None:
    ball = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "thin"}
    thin = {"name": "thin", "rod": {"mass": 1, "length": 0.5}}
    model = pendula.Model(name="thin rod", gravity=[0, 0, -9.81], bodies=[thin], joints=[ball])
    with pytest.raises(ModelError, match="the bodies that joint pivot moves"):
        pendula.compile_system(model, formulation)


def _ladder(z: float) -> pendula.Model:
    """Two links in the plane z = 0 whose tip is held on a line in the plane of the given z."""
    return library.chain(links=2, start=[1.5, 0.2]).with_changes(
        joints=[
            *library.chain(links=2).joints,
            {
                "name": "rail",
                "type": "point-on-line",
                "axis": [1, 0, 0],
                "parent": {"body": "ground", "position": [0, 0, z]},
                "child": {"body": "link2", "at": "tip"},
            },
        ]
    )


def test_a_gap_that_no_motion_can_close_is_not_ignored() -> None:
    """A planar mechanism cannot reach a line half a metre out of its plane."""
    pendula.simulate(pendula.compile_system(_ladder(0.0)), 0.1)
    with pytest.raises(PendulaError):
        pendula.simulate(pendula.compile_system(_ladder(0.5)), 0.1)


@pytest.mark.parametrize("formulation", ["lagrange", "kane"])
def test_a_loop_between_bodies_that_are_fixed_to_each_other_changes_nothing(formulation: str) -> None:
    """Its rows are zero but for rounding: they constrain nothing, and their forces are not determined."""
    turn = Rotation.from_rotvec([0.3, -0.5, 0.8])
    glue = {"axis": [0.3, -0.5, 0.8], "angle": float(np.linalg.norm([0.3, -0.5, 0.8]))}
    place, point = np.array([0.13, 0.27, 0.71]), np.array([0.31, -0.17, 0.23])
    model = library.heavy_top().with_changes(
        bodies=[
            *library.heavy_top().bodies,
            {"name": "cap", "sphere": {"mass": 0.3, "radius": 0.1}},
            {"name": "bystander", "rod": {"mass": 1, "length": 1}},
        ],
        joints=[
            *library.heavy_top().joints,
            {"name": "aside", "type": "revolute", "parent": "ground", "child": "bystander"},
            {
                "name": "glue",
                "type": "fixed",
                "parent": {"body": "top", "position": place.tolist(), "rotation": glue},
                "child": "cap",
            },
            {
                "name": "again",
                "type": "coincident",
                "parent": {"body": "top", "position": (place + turn.apply(point)).tolist()},
                "child": {"body": "cap", "position": point.tolist()},
            },
        ],
    )
    system = pendula.compile_system(model, formulation)
    without = pendula.compile_system(model.with_changes(joints=model.joints[:-1]), formulation)
    assert mobility(system).rank == 0
    assert mobility(system).joints == ("again",)
    t, q, v = states(without, 3)
    np.testing.assert_allclose(system.accelerations(q, v, t), without.accelerations(q, v, t), rtol=1e-11, atol=1e-11)
    assert pendula.simulate(system, 0.2).outcome.ok


def test_a_linkage_whose_only_freedom_is_prescribed_is_not_called_a_structure() -> None:
    """It moves as its crank is driven; a structure does not move."""
    four = library.four_bar()
    crank = {"name": "crank", "type": "revolute", "parent": "ground", "child": "crank", "motion": "crank0 + 4*t"}
    initial = {k: x for k, x in four.initial.items() if not k.startswith("crank")}
    message = ""
    try:
        pendula.compile_system(four.with_changes(joints=[crank, *four.joints[1:]], initial=initial))
    except PendulaError as error:
        message = str(error)
    assert "structure" not in message


def _with(system: pendula.results.System, **values: float) -> Array:
    """All parameters as an array with some changed, dependent ones left as they are."""
    vector = system.parameters.copy()
    for name, value in values.items():
        vector[system.layout.parameters.index(name)] = value
    return vector


def test_a_loop_that_cannot_close_is_reported_with_joint_gap_and_bodies() -> None:
    system = library_system("four-bar")
    with pytest.raises(LoopNotClosed) as error:
        pendula.assemble(system, system.initial_state(), parameters=_with(system, a=9.0))
    message = str(error.value)
    assert '"pin"' in message
    assert "coupler" in message
    assert "rocker" in message
    assert error.value.residual > 0.1


def test_assembling_moves_an_open_loop_the_least_and_says_what_moved() -> None:
    system = library_system("four-bar")
    exact = system.initial_state()
    found = pendula.assemble(system, exact.replace({"coupler": exact["coupler"] + 0.01, "rocker_dot": 0.0}))
    assert found.gap <= 1e-12
    assert {"crank", "coupler", "rocker"} <= set(found.moved)
    g, rate = system.gaps(found.state.q, found.state.v)
    assert np.abs(g).max() < 1e-12
    assert np.abs(rate).max() < 1e-12


def test_assembling_makes_a_quaternion_one_of_length_one() -> None:
    system = library_system("heavy-top")
    state = system.state({"pivot_q0": 3.0, "pivot_q1": 4.0})
    found = pendula.assemble(system, state).state
    assert found.q == pytest.approx([0.6, 0.8, 0.0, 0.0])


# --- names --------------------------------------------------------------------------------------------


def test_states_are_read_and_replaced_by_name() -> None:
    state = library_system("cart-pole").state({"theta": 0.3, "x_dot": 2.0})
    assert state["theta"] == 0.3
    assert state.as_dict() == {"x": 0.0, "theta": 0.3, "x_dot": 2.0, "theta_dot": 0.0}
    assert state.replace({"x": 1.0})["x"] == 1.0
    assert state["x"] == 0.0
    with pytest.raises(UsageError, match='did you mean "theta"'):
        state["thetta"]


def test_initial_state_follows_parameters() -> None:
    system = library_system("spherical-pendulum: xy")
    assert system.initial_state({"l": 3.0})["x"] == pytest.approx(1.5)


# --- how long machine code lives ----------------------------------------------------------------------


def test_a_system_keeps_working_when_everything_else_is_collected() -> None:
    def make() -> pendula.results.System:
        return pendula.compile_system(random_mechanism(4))

    system = make()
    t, q, v = states(system, 4)
    before = system.accelerations(q, v, t)
    gc.collect()
    others = [pendula.compile_system(library.chain(links=n)) for n in (1, 2, 3)]
    del others
    gc.collect()
    np.testing.assert_array_equal(system.accelerations(q, v, t), before)


def test_callbacks_outlive_the_system_they_come_from() -> None:
    from pendula.numerics.steppers.stepping import integrate

    dynamics = pendula.compile_system(library.pendulum(kind="point")).dynamics()
    gc.collect()
    trash = [np.full(64, np.nan) for _ in range(2000)]  # reuses what was freed
    run = integrate(dynamics.rhs, [0.001, 0.0], (0.0, np.pi / np.sqrt(9.81)), rtol=1e-10, atol=1e-14)
    assert run.y[-1, 0] == pytest.approx(-0.001, rel=1e-6)
    del trash


def test_many_systems_can_be_compiled_one_after_the_other() -> None:
    for k in range(40):
        system = pendula.compile_system(library.pendulum(start=0.01 * k))
        assert system.accelerations([0.5], [0.0])[0] == pytest.approx(-1.5 * 9.81 * np.sin(0.5))
        assert system.initial_state()["theta"] == pytest.approx(0.01 * k)


def test_two_runs_of_one_system_do_not_disturb_each_other() -> None:
    system = library_system("double-pendulum")
    _, q, v = states(system, 3)
    first, second = system.dynamics({"g": 1.0}), system.dynamics({"g": 50.0})
    del first, second
    expected: Array = system.accelerations(q, v)
    light = system.accelerations(q, v, parameters={"g": 1.0})
    np.testing.assert_array_equal(system.accelerations(q, v), expected)
    assert not np.allclose(light, expected)
