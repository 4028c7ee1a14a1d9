"""Runs in which every body has coordinates of its own: long chains, many bars, every way to keep joints together."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.system.loops.mobility import mobility
from tests.helpers.choices import slow_too
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import random_mechanism


def test_a_hundred_links_keep_energy_and_joints() -> None:
    system = pendula.compile_system(library.chain(links=100), "maximal")
    assert system.tree is not None
    run = pendula.simulate(system, 10.0, tol=1e-8)
    assert run.outcome.ok
    assert run.energy_drift <= 1e-7
    assert run.constraint_violation <= 1e-10
    assert run.velocity_violation <= 1e-10
    # the joints' angles are the bodies' own, here: absolute
    np.testing.assert_array_equal(run["theta100"], run["link100_theta"])


def test_thirty_one_bars_move_as_in_the_joints_coordinates() -> None:
    model = library.linkage(bars=31)
    bodies, joints = pendula.compile_system(model, "maximal"), pendula.compile_system(model, "kane")
    assert bodies.tree is not None
    assert bodies.tree.border == 2
    first, second = (pendula.simulate(s, 0.5, tol=1e-11, samples=11) for s in (bodies, joints))
    for run in (first, second):
        assert run.energy_drift <= 1e-9
        assert run.constraint_violation <= 1e-12
    for name in joints.layout.coordinates:
        np.testing.assert_allclose(first[name], second[name], atol=1e-7)
    longer = pendula.simulate(bodies, 10.0, tol=1e-8)
    assert longer.outcome.ok
    assert longer.energy_drift <= 1e-7
    assert longer.constraint_violation <= 1e-10


@pytest.mark.parametrize("name", ["chain", "spatial-rod", "hoop-bead", "four-bar", "heavy-top", "driven-chain"])
def test_a_run_is_the_same_in_the_bodies_and_in_the_joints_coordinates(name: str) -> None:
    model = library.mechanisms()[name].make() if name != "chain" else library.chain(links=3)
    runs = [pendula.simulate(pendula.compile_system(model, f), 1.0, tol=1e-11, samples=6) for f in ("maximal", "kane")]
    assert runs[0].joint_layout == runs[1].layout
    for column in (*runs[1].layout.coordinates, *runs[1].layout.speeds):
        np.testing.assert_allclose(runs[0][column], runs[1][column], atol=2e-7, err_msg=column)
    for run in runs:
        assert run.energy_drift <= 1e-8


QUICK = (0, 1, 2, 3, 5, 1001)
MORE = (4, 1000, 1003)


@pytest.mark.slow
def test_the_quick_mechanisms_have_every_kind_of_joint_that_the_others_have() -> None:
    found = [
        {joint.type for seed in seeds for joint in random_mechanism(seed, closed=seed >= 1000 or None).joints}
        for seeds in (QUICK, (*QUICK, *MORE))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", slow_too(QUICK, MORE))
def test_joints_read_from_the_bodies_are_those_the_bodies_were_placed_by(seed: int) -> None:
    system = pendula.compile_system(random_mechanism(seed, closed=seed >= 1000 or None), "maximal")
    t, q, v = states(system.in_joints.system, 10)
    there = system.in_joints.place(q, v, t)
    back = system.in_joints.read(*there, t)
    np.testing.assert_allclose(back[0], q, atol=1e-12)
    np.testing.assert_allclose(back[1], v, atol=1e-11)
    gap, slip = system.gaps(*there, t)
    assert np.abs(gap).max(initial=0.0) < 1e-11
    assert np.abs(slip).max(initial=0.0) < 1e-10


def test_care_for_constraints_can_be_chosen() -> None:
    """Projection holds to rounding, stabilization to the tolerance, and without care errors pile up."""
    system = pendula.compile_system(library.chain(links=5), "maximal")
    found = {
        care: pendula.simulate(system, 10.0, tol=1e-6, constraints=care) for care in ("projection", "baumgarte", "none")
    }
    gaps = {care: run.constraint_violation for care, run in found.items()}
    assert all(run.outcome.ok for run in found.values())
    assert gaps["projection"] < 1e-12 < gaps["baumgarte"] < gaps["none"]


def test_redundant_loops_are_solved_all_at_once() -> None:
    """Two equal pins close the same loop: the tree with its border is singular, the orthogonal complement is not."""
    plain = library.four_bar()
    pin = next(j for j in plain.joints if j.name == "pin")
    double = plain.with_changes(joints=[*plain.joints, pin.model_copy(update={"name": "pin2"})])
    system = pendula.compile_system(double, "maximal")
    assert system.tree is None
    assert mobility(system).redundant
    single = pendula.compile_system(plain, "kane")
    runs = [pendula.simulate(s, 1.0, tol=1e-10, samples=5) for s in (system, single)]
    np.testing.assert_allclose(runs[0]["crank"], runs[1]["crank"], atol=1e-7)


def test_point_masses_need_no_inertia() -> None:
    """A chain of point masses: M is singular, and is never inverted."""
    system = pendula.compile_system(library.chain(links=6, kind="point"), "maximal")
    M = system.mass_matrix(system.initial_state().q)
    assert np.linalg.matrix_rank(M) < len(M)
    run = pendula.simulate(system, 2.0, tol=1e-10)
    assert run.energy_drift < 1e-8


def test_a_start_is_given_by_the_joints() -> None:
    system = pendula.compile_system(library.double_pendulum(), "maximal")
    run = pendula.simulate(system, 0.1, initial_state={"theta1": 0.3, "theta2_dot": 1.0}, samples=2)
    assert run["theta1"][0] == pytest.approx(0.3, abs=1e-14)
    assert run["theta2_dot"][0] == pytest.approx(1.0, abs=1e-14)
    again = pendula.simulate(system, 0.1, initial_state=run.state(0), samples=2)
    np.testing.assert_allclose(again.q, run.q, atol=1e-12)
    state = pendula.compile_system(library.double_pendulum()).initial_state()
    assert pendula.simulate(system, 0.1, initial_state=state).outcome.ok
    with pytest.raises(pendula.errors.UsageError, match="theta3"):
        pendula.simulate(system, 0.1, initial_state={"theta3": 0.3})


def test_names_of_bodies_and_joints_do_not_meet() -> None:
    """The free joint "box" has coordinates box_x, ...; those of the body "box" get another name."""
    system = pendula.compile_system(library.free_body(), "maximal")
    assert len({*system.layout.coordinates, *system.layout.speeds, *system.in_joints.layout.coordinates}) >= 7 + 6
    assert pendula.simulate(system, 1.0, tol=1e-10).energy_drift < 1e-8
