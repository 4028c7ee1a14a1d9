"""What is changed at run time (parameters, inputs, start, scale) is checked as strictly as what stands in the model."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pendula
from pendula import library


def four_bar(scale=1.0, **changes):
    """The library's four-bar, enlarged with gravity, so that its motion stays the same."""
    values = {n: scale * x for n, x in library.four_bar().parameter_values.items() if n in ("a", "b", "c", "d", "g")}
    return library.four_bar().with_parameters(values | changes)


def linkage(pin, **fields):
    """Crank, coupler and rocker with a given closing joint."""
    base = library.four_bar()
    return base.with_changes(joints=[*base.joints[:3], pin], **fields)


def test_a_gap_that_parameters_open_is_not_ignored():
    pin = {
        "name": "pin",
        "type": "coincident",
        "parent": {"body": "rocker", "at": "tip"},
        "child": {"body": "coupler", "position": [0, "-b", "dz"]},
    }
    model = linkage(pin, parameters=dict(library.four_bar().parameters) | {"dz": 0.0})
    system = pendula.compile_system(model)
    assert pendula.simulate(system, 0.1).outcome.ok
    with pytest.raises(pendula.errors.LoopNotClosed, match=r"pin.*0\.3"):
        pendula.simulate(system, 0.1, parameters={"dz": 0.3})


@pytest.mark.parametrize("inputs", [[], [1.0, 2.0], np.zeros((2, 0)), np.zeros((2, 3))])
def test_inputs_of_the_wrong_size_are_refused(inputs):
    system = pendula.compile_system(library.cart_pole())
    with pytest.raises(pendula.errors.UsageError, match="inputs must end in 1"):
        system.accelerations([0.1, 0.3], [0.2, -0.4], inputs=inputs)
    with pytest.raises(pendula.errors.UsageError, match="inputs must end in 1"):
        system.acceleration_jacobian("q", [0.1, 0.3], [0.2, -0.4], inputs=inputs)


def test_accelerations_of_the_wrong_size_are_refused():
    system = pendula.compile_system(library.cart_pole())
    with pytest.raises(pendula.errors.UsageError):
        system.body_motion([0.1, 0.3], [0.2, -0.4], [1.0])


def test_inputs_by_name_take_a_batch():
    system = pendula.compile_system(library.cart_pole())
    q, v = np.tile([0.1, 0.3], (3, 1)), np.tile([0.2, -0.4], (3, 1))
    batch = system.accelerations(q, v, inputs={"F": np.array([0.0, 1.0, 2.0])})
    single = [system.accelerations(q[0], v[0], inputs={"F": x}) for x in (0.0, 1.0, 2.0)]
    np.testing.assert_allclose(batch, single, rtol=1e-14)


def test_simulate_takes_inputs_and_keeps_the_energy_account():
    system = pendula.compile_system(library.cart_pole())
    run = pendula.simulate(system, 1.0, inputs={"F": "2*cos(t)"}, tol=1e-10)
    assert run.energy_drift < 1e-8
    assert abs(run["x"][-1] - pendula.simulate(system, 1.0)["x"][-1]) > 0.1
    with pytest.raises(pendula.errors.UsageError, match='"G"'):
        pendula.simulate(system, 1.0, inputs={"G": 1.0})


def test_an_input_need_not_have_a_value_at_time_zero():
    model = library.cart_pole().with_changes(inputs={"F": "1/t"})
    assert pendula.simulate(pendula.compile_system(model), t_span=(1.0, 2.0)).outcome.ok


def test_jacobis_integral_is_not_claimed_where_a_constraint_is_moved():
    base = library.four_bar()
    driven = [j.model_dump(by_alias=True, exclude_none=True) for j in base.joints]
    driven[0] = {"name": "crank", "type": "revolute", "parent": "ground", "child": "crank", "motion": "crank0 + 2*t"}
    initial = {k: v for k, v in base.initial.items() if not k.startswith("crank")}
    model = base.with_changes(joints=driven, initial=initial, gravity=[0, 0, 0])
    run = pendula.simulate(pendula.compile_system(model), 1.0, tol=1e-10)
    assert run.energy_drift < 1e-7
    assert run.jacobi_drift is None


def test_a_run_goes_on_at_the_time_of_its_state():
    shaken = library.pendulum().with_changes(
        joints=[
            {
                "name": "theta",
                "type": "revolute",
                "parent": {"body": "ground", "position": ["0.3*sin(5*t)", 0]},
                "child": "link",
            }
        ]
    )
    system = pendula.compile_system(shaken)
    whole = pendula.simulate(system, 2.0, tol=1e-11)
    half = pendula.simulate(system, 1.0, tol=1e-11)
    rest = pendula.simulate(system, 1.0, initial_state=half.state(), tol=1e-11)
    assert rest.t[-1] == 2.0
    assert rest["theta"][-1] == pytest.approx(whole["theta"][-1], abs=1e-8)


@pytest.mark.parametrize("place", [0.5, -0.5])
def test_com_friction_takes_energy_out_whatever_side_the_mass_is_on(place):
    model = pendula.Model(
        name="swing",
        gravity=[0, 0],
        parameters={"y": 0.5},
        bodies=[{"name": "b", "mass": 1, "com": ["y", 0, 0], "inertia": [0.1, 0.1, 0.1]}],
        joints=[{"name": "p", "type": "revolute", "parent": "ground", "child": "b"}],
        forces=[{"type": "com-friction", "body": "b", "coefficient": 0.4}],
    )
    system = pendula.compile_system(model)
    # force 0.4 against the mass centre, which moves at 0.5
    assert system.power([0.0], [1.0], parameters={"y": place}) == pytest.approx(-0.2)


@pytest.mark.parametrize("change", [{"m": -0.1}, {"M": -0.01}, {"l": -1.0}, {"l": 0.0}])
def test_parameters_without_mechanical_sense_are_refused_at_run_time(change):
    system = pendula.compile_system(library.cart_pole())
    with pytest.raises(pendula.errors.ModelError):
        pendula.simulate(system, 0.1, parameters=change)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_the_size_of_a_linkage_does_not_matter(scale):
    """Lengths and gravity scaled together leave the angles over time unchanged."""
    reference = pendula.simulate(pendula.compile_system(four_bar()), 2.0, tol=1e-10)
    run = pendula.simulate(pendula.compile_system(four_bar(scale)), 2.0, tol=1e-10)
    assert run.outcome.ok
    assert run.energy_drift < 1e-8
    assert run["crank"][-1] == pytest.approx(reference["crank"][-1], abs=1e-7)
    assert run.constraint_violation < 1e-13 * scale * 10


def test_a_flat_parallelogram_is_a_singular_pose():
    """All links in line: one row of G vanishes but for rounding, so the forces are not determined."""
    flat = {"a": 1.0, "b": 2.0, "c": 1.0, "d": 2.0, "crank0": math.pi / 3}
    system = pendula.compile_system(library.four_bar().with_parameters(flat))
    q = [math.pi / 2, math.pi / 2, math.pi / 2]
    with pytest.raises(pendula.errors.SingularPose, match="constraints"):
        system.accelerations(q, [0.0, 0.0, 0.0])


def test_closing_a_loop_keeps_what_was_written():
    """Crank angle and rate are given, the rest follows."""
    system = pendula.compile_system(library.four_bar())
    state = system.state({"crank": math.pi / 3, "coupler": 3.0, "rocker": 3.9, "crank_dot": 4.0})
    found = pendula.assemble(system, state, keep={"crank", "crank_dot"}).state
    exact = system.initial_state()
    for name in ("crank", "coupler", "rocker", "crank_dot", "coupler_dot", "rocker_dot"):
        assert found[name] == pytest.approx(exact[name], abs=1e-9)


def test_drive_forces_hold_a_turning_hoop():
    """Torque on the hoop: d/dt(m r^2 sin^2(theta) Omega)."""
    system = pendula.compile_system(library.hoop_bead())
    theta, rate = 0.7, 1.3
    expected = 2 * math.sqrt(20) * math.sin(theta) * math.cos(theta) * rate
    assert system.drive_forces([theta], [rate], 0.4) == pytest.approx([expected], rel=1e-12)
