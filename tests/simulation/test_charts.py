"""Runs past singularities of charts: they agree with those by quaternion, and results stay in the user's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Outcome, library
from pendula.errors import NotSupported
from pendula.numerics.steppers.stepping import Integration
from pendula.simulation.charts.undetermined import named
from pendula.simulation.trajectory import Trajectory
from pendula.system.system import System

TOL = 1e-10
SAME = 1e-7
"""two runs of 10 s at that tolerance, each with the error of its own steps"""
EXACT = {"theta": -0.8, "theta_dot": 6.0, "phi": 0.3, "psi": 0.0}
"""in the plane of the rod, through theta = 0"""
CLOSE = {**EXACT, "psi": 1e-12}
AIMED = {"exactly": EXACT, "within 1e-12": CLOSE, "turning by 1e-12": {**EXACT, "phi_dot": 1e-12}}
PASSING = {"theta": 1.0, "phi_dot": 0.5, "psi_dot": 0.2, "phi": 0.3, "psi": 0.4}


@pytest.fixture(scope="module")
def zyz() -> System:
    return pendula.compile_system("spatial-rod")


@pytest.fixture(scope="module")
def quaternion() -> System:
    return pendula.compile_system(library.spatial_rod(orientation="quaternion"))


def by_quaternion(zyz: System, quaternion: System, start: dict[str, float], **more: Any) -> Trajectory:
    state = pendula.convert(zyz.state(start), quaternion)
    return pendula.simulate(quaternion, 10.0, initial_state=state, tol=TOL, **more)


def rotations(run: Trajectory) -> Any:
    return run.system.poses(run.q, run.t)[0]


@pytest.mark.parametrize("aim", AIMED)
def test_run_aimed_at_the_pole_is_as_good_as_by_quaternion(zyz: System, quaternion: System, aim: str) -> None:
    start = AIMED[aim]
    run = pendula.simulate(zyz, 10.0, initial_state=start, tol=TOL, samples=101)
    known = by_quaternion(zyz, quaternion, start, samples=101)
    assert run.ok
    assert run.energy_drift <= 10 * known.energy_drift
    assert run.steps <= 2 * known.steps
    assert np.abs(rotations(run) - rotations(known)).max() < SAME
    assert len(run.events["chart switch"]) >= 2
    assert run.nearest_singularity is not None
    assert run.nearest_singularity.singularity.words == "theta = 0 or 180 deg"


@pytest.mark.parametrize("aim", AIMED)
def test_without_switching_the_outcome_names_the_coordinate(zyz: System, aim: str) -> None:
    run = pendula.simulate(zyz, 10.0, initial_state=AIMED[aim], chart_switching=False)
    assert run.outcome is Outcome.SINGULAR_CHART
    assert "theta = 0 or 180 deg" in run.detail
    assert '"ball"' in run.detail
    assert run.steps < 1000


def test_planar_run_through_the_pole_keeps_its_plane(zyz: System) -> None:
    """The exact motion is a turn about one axis: phi and psi stay, theta alone moves and changes its sign."""
    run = pendula.simulate(zyz, 0.3, initial_state=EXACT, tol=TOL, samples=31)
    # of rotations by rounding errors, phi and psi show what is divided by the distance from the pole
    assert np.abs(run["phi"] - 0.3).max() < 1e-8
    assert np.abs(run["psi"]).max() < 1e-8
    assert run["theta"][0] < 0 < run["theta"][-1]
    assert np.all(np.diff(run["theta"]) > 0)


def test_angles_continue_next_to_the_pole(zyz: System, quaternion: System) -> None:
    """A near miss at 2 deg: angles are those of the equations in angles, without jumps by a half turn."""
    slow = pendula.simulate(zyz, 3.0, initial_state=PASSING, tol=1e-12, samples=301)
    assert "chart switch" in slow.events
    ours = pendula.simulate(zyz, 3.0, initial_state=PASSING, tol=1e-12, samples=301, chart_switching=False)
    assert ours.ok
    assert "chart switch" not in ours.events
    assert np.abs(slow.q - ours.q).max() < SAME
    assert np.abs(slow.v - ours.v).max() < 1e-4  # rates of the angles are large there


@pytest.mark.parametrize("stepper", ["rk45", "taylor", "radau", "rk4"])
def test_every_stepper_passes_the_pole(zyz: System, quaternion: System, stepper: str) -> None:
    more: dict[str, Any] = {"step": 1e-3} if stepper == "rk4" else {"tol": 1e-8}
    run = pendula.simulate(zyz, 1.0, initial_state=CLOSE, stepper=stepper, samples=11, **more)
    known = by_quaternion(zyz, quaternion, CLOSE, samples=np.linspace(0.0, 1.0, 11))
    assert run.ok
    assert len(run.t) == 11
    assert np.abs(rotations(run) - rotations(known)[: len(run.t)]).max() < 1e-5


def test_run_may_start_at_the_pole(zyz: System, quaternion: System) -> None:
    start = {"theta": 0.0, "theta_dot": -2.0, "phi": 0.3, "psi": 0.4, "phi_dot": 1.0}
    run = pendula.simulate(zyz, 5.0, initial_state=start, tol=TOL, samples=51)
    state = pendula.convert(zyz.state(start), quaternion)
    known = pendula.simulate(quaternion, 5.0, initial_state=state, tol=TOL, samples=51)
    assert run.ok
    assert np.abs(rotations(run) - rotations(known)).max() < SAME


def test_backwards_through_the_pole(zyz: System) -> None:
    there = pendula.simulate(zyz, 1.0, initial_state=CLOSE, tol=1e-11)
    back = pendula.simulate(zyz, t_span=(1.0, 0.0), initial_state=there.state(-1), tol=1e-11)
    expected, found = (zyz.poses(s.q)[0] for s in (zyz.state(CLOSE), back.state(-1)))
    assert np.abs(found - expected).max() < SAME


@pytest.mark.parametrize("speeds", ["body", "parent"])
def test_angular_velocities_as_speeds(speeds: str, quaternion: System, zyz: System) -> None:
    model = library.spatial_rod(speeds=speeds)  # type: ignore[arg-type]
    system = pendula.compile_system(model)
    run = pendula.simulate(system, 2.0, initial_state=pendula.convert(zyz.state(CLOSE), system), tol=TOL, samples=21)
    known = by_quaternion(zyz, quaternion, CLOSE, samples=np.linspace(0.0, 2.0, 21))
    assert run.ok
    assert np.abs(rotations(run) - rotations(known)[:21]).max() < SAME
    if speeds == "body":
        assert np.abs(run.v - known.v[:21]).max() < 1e-6


def test_rotation_vector_is_kept_short() -> None:
    """A tumbling body: its rotation vector would grow beyond a whole turn, where it is singular."""
    joint = {"name": "box", "type": "free", "parent": "ground", "child": "box", "orientation": "rotation vector"}
    spin = {"box_rx_dot": 0.5, "box_ry_dot": 5.0, "box_rz_dot": 0.3}
    run = pendula.simulate(library.free_body().with_changes(joints=[joint], initial=spin), 6.0, tol=TOL, samples=61)
    same = {"box_wx": 0.5, "box_wy": 5.0, "box_wz": 0.3}  # at no rotation, rates are the angular velocity
    known = pendula.simulate(library.free_body().with_changes(initial=same), 6.0, tol=TOL, samples=61)
    assert run.ok
    assert np.linalg.norm(run.q[:, 3:6], axis=1).max() < 1.9 * np.pi
    assert len(run.events["chart switch"]) >= 1
    assert np.abs(rotations(run) - rotations(known)).max() < SAME


def test_events_in_a_switched_stretch(zyz: System) -> None:
    """theta crosses -0.2 and 0 in quaternions; the planar motion gives the times of both by a run of one pendulum."""
    run = pendula.simulate(zyz, 1.0, initial_state=EXACT, tol=1e-11, events=["theta = -0.2", "zero: theta = 0 rising"])
    assert len(run.events["theta = -0.2"]) >= 1
    first = run.events["theta = -0.2"]
    assert abs(first["theta"][0] + 0.2) < 1e-9
    dense = pendula.simulate(zyz, first.t[0], initial_state=EXACT, tol=1e-12)
    assert abs(dense["theta"][-1] + 0.2) < 1e-8
    assert run.events["zero"].t[0] > first.t[0]
    stopped = pendula.simulate(zyz, 1.0, initial_state=EXACT, tol=1e-11, events=["stop: theta >= 0.1"])
    assert stopped.outcome is Outcome.EVENT
    assert abs(stopped["theta"][-1] - 0.1) < 1e-9


def test_work_is_carried_over(quaternion: System) -> None:
    """Damping in body axes acts throughout: the energy account balances across changes of charts."""
    model = library.spatial_rod(speeds="body").with_changes(
        forces=[{"type": "friction", "joint": "ball", "coefficient": 0.05}]
    )
    system = pendula.compile_system(model)
    start = pendula.convert(pendula.compile_system("spatial-rod").state(CLOSE), system)
    run = pendula.simulate(system, 3.0, initial_state=start, tol=1e-10)
    assert run.ok
    assert len(run.events["chart switch"]) >= 2
    assert run.energy.work[-1] < -0.1
    assert run.energy_drift < 1e-8


def test_a_force_along_the_angles_forbids_another_chart() -> None:
    force = {"type": "torsion-spring", "name": "push", "joint": "ball", "coordinate": "theta", "stiffness": 0.1}
    model = library.spatial_rod().with_changes(forces=[force])
    run = pendula.simulate(model, 10.0, initial_state=EXACT)
    assert run.outcome is Outcome.SINGULAR_CHART
    assert '"push"' in run.detail
    assert "theta = 0 or 180 deg" in run.detail


SOME_AIMS = np.linspace(-0.9, -0.5, 8)


def test_angles_of_a_point_pass_their_pole_or_name_it_within_1000_steps() -> None:
    """A joint of type "coordinates" has no other chart; positions are those of the model in x and y."""
    angles = pendula.compile_system("spherical-pendulum")
    xy = pendula.compile_system(library.spherical_pendulum(chart="xy"))
    stopped = 0
    for theta in SOME_AIMS:
        start = {"theta": theta, "theta_dot": 2.0, "phi": 0.3, "phi_dot": 0.0}
        run = pendula.simulate(angles, 1.0, initial_state=start, tol=TOL, max_steps=1000)
        if not run.ok:
            stopped += 1
            assert run.outcome is Outcome.SINGULAR_CHART
            for words in ("theta = 0 deg", '"swing"', "phi_dot is not determined"):
                assert words in run.detail
            continue
        aside, speed = np.sin(theta), 2.0 * np.cos(theta)
        plane = {"x": np.cos(0.3) * aside, "y": np.sin(0.3) * aside}
        plane |= {"x_dot": np.cos(0.3) * speed, "y_dot": np.sin(0.3) * speed}
        other = pendula.simulate(xy, 1.0, initial_state=plane, tol=TOL)
        r, same = (x.system.poses(x.q[-1], 1.0)[1] for x in (run, other))
        assert np.allclose(r, same, atol=SAME)
    assert stopped < len(SOME_AIMS)


@pytest.mark.parametrize(("theta", "names_it"), [(0.0, True), (1e-9, True), (np.pi, True), (0.01, False)])
def test_where_the_coordinates_of_a_point_are_singular_is_found_from_its_inertia(theta: float, names_it: bool) -> None:
    system = pendula.compile_system("spherical-pendulum")
    t = np.linspace(0.0, 1.0, 20)
    y = np.column_stack([np.linspace(0.8, theta, 20), 0.3 + t, -np.ones(20), np.ones(20)])
    run = Integration(t, y, t[:0], y[:0], Outcome.STEP_TOO_SMALL, "", 19, 0, 200, 0.0, 0.0, 0.0, "dop853")
    found = named(system, run, np.array([1.0, 1.0, 9.81]))
    assert (found.outcome is Outcome.SINGULAR_CHART) == names_it
    if names_it:
        assert f"theta = {180 if theta > 1 else 0} deg" in found.detail


def tree(orientations: tuple[str, str]) -> pendula.Model:
    """A free box that carries a rod on a ball joint."""
    joints = [
        {"name": "fly", "type": "free", "parent": "ground", "child": "box", "orientation": orientations[0]},
        {
            "name": "ball",
            "type": "spherical",
            "parent": {"body": "box", "position": [0.4, 0.1, 0.0]},
            "child": {"body": "rod", "position": [-0.5, 0.0, 0.0]},
            "orientation": orientations[1],
        },
    ]
    return pendula.Model(
        name="box with a rod",
        gravity=[0, 0, -9.81],
        bodies=[
            {"name": "box", "box": {"mass": 2.0, "size": [0.8, 0.5, 0.3]}},
            {"name": "rod", "box": {"mass": 1.0, "size": [1.0, 0.1, 0.1]}},
        ],
        joints=joints,
    )


@pytest.mark.parametrize("formulation", ["kane", "maximal"])
def test_trees_with_several_charts(formulation: str) -> None:
    angles = pendula.compile_system(tree(("xyz", "zyz")), formulation)
    turns = pendula.compile_system(tree(("quaternion", "quaternion")), formulation)
    start = angles.in_joints.state(
        {"fly_2": 0.9, "fly_2_dot": 3.0, "fly_1_dot": 0.5, "ball_2": 0.6, "ball_2_dot": -4.0, "ball_3_dot": 0.2}
    )
    run = pendula.simulate(angles, 2.0, initial_state=start, tol=1e-10, samples=21)
    known = pendula.simulate(turns, 2.0, initial_state=pendula.convert(start, turns), tol=1e-10, samples=21)
    assert run.ok
    assert "chart switch" in run.events
    assert np.abs(rotations(run) - rotations(known)).max() < SAME
    assert run.energy_drift < 1e-7


def test_loop_with_a_ball_joint_in_angles() -> None:
    """A rod on a ball joint whose tip slides on a line: the closed loop passes the pole of its angles."""

    def made(orientation: str) -> System:
        rod = library.spatial_rod(orientation=orientation)
        slider = {"name": "slider", "point": {"mass": 0.5}}
        joints = [
            *rod.joints,
            {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "parent": {"body": "ground", "position": [0, 0.3, 0.2]},
             "child": "slider"},
            {"name": "pin", "type": "point-on-line", "axis": [0, 1, 0], "parent": {"body": "slider"},
             "child": {"body": "rod", "at": "tip"}},
        ]  # fmt: skip
        return pendula.compile_system(rod.with_changes(bodies=[*rod.bodies, slider], joints=joints))

    angles, turns = made("zyz"), made("quaternion")
    start = pendula.assemble(angles, {"theta": -0.6, "phi": 0.3, "theta_dot": 3.0, "psi": 0.2, "slide": 0.8}).state
    run = pendula.simulate(angles, 1.5, initial_state=start, tol=1e-10, samples=16)
    known = pendula.simulate(turns, 1.5, initial_state=pendula.convert(start, turns), tol=1e-10, samples=16)
    assert run.ok
    assert "chart switch" in run.events
    assert run.constraint_violation < 1e-10
    assert np.abs(rotations(run) - rotations(known)).max() < SAME


@pytest.mark.parametrize("stepper", ["dop853", "taylor"])
def test_ensembles_repeat_runs_that_a_singularity_stopped(zyz: System, stepper: str) -> None:
    """Of four runs, two are aimed at the pole; all end where single runs do."""
    starts = [{**EXACT, "psi": psi} for psi in (0.0, 0.3, 1e-12, -0.5)]
    many = pendula.simulate_many(zyz, 1.0, initial_states=starts, tol=1e-9, stepper=stepper)
    assert many.ok.all()
    for k, start in enumerate(starts):
        one = pendula.simulate(zyz, 1.0, initial_state=start, tol=1e-9, stepper=stepper)
        expected, found = zyz.poses(one.q[-1])[0], zyz.poses(many.end_q[k])[0]
        assert np.abs(found - expected).max() < 1e-6


_NAMED = {
    "a force": {"forces": [{"type": "force", "body": "a", "position": [0.5, 0.1, -0.3], "vector": ["-20*f_1", 0, 0]}]},
    "an input": {
        "inputs": {"u": "-3*f_1"},
        "forces": [{"type": "force", "body": "a", "position": [0.5, 0.1, -0.3], "vector": ["u", 0, 0]}],
    },
}


@pytest.mark.parametrize("what", _NAMED)
def test_angles_that_the_model_names_are_not_replaced_by_others_of_these_names(what: str) -> None:
    """f_1 turns about z in one sequence, about x in the other."""
    body = {"name": "a", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}
    joint = {"name": "f", "type": "spherical", "orientation": "zyx", "parent": "ground", "child": "a"}
    model = pendula.Model(name="top", gravity=[0, 0, -9.81], bodies=[body], joints=[joint], initial={"f_2": 0.3})
    run = pendula.simulate(model, 0.2, samples=2)
    assert pendula.convert(run, "xyz").layout.coordinates == run.layout.coordinates
    forced = pendula.simulate(model.with_changes(**_NAMED[what]), 0.2, samples=2)
    with pytest.raises(NotSupported, match='the force "force" uses "f_1"'):
        pendula.convert(forced, "xyz")


def test_a_coupling_keeps_the_angle_that_it_names() -> None:
    bodies = [{"name": name, "mass": 1, "inertia": [0.1, 0.2, 0.15]} for name in ("a", "b")]
    joints = [
        {"name": "f", "type": "spherical", "orientation": "zyx", "parent": "ground", "child": "a"},
        {"name": "h", "type": "revolute", "parent": "ground", "child": "b"},
        {"name": "gear", "type": "coupling", "value": "h - f_1"},
    ]
    model = pendula.Model(name="geared", gravity=[0, 0, 0], bodies=bodies, joints=joints, initial={"f_2_dot": 0.3})
    with pytest.raises(NotSupported, match='the coupling "gear" uses "f_1"'):
        pendula.convert(pendula.simulate(model, 0.2, samples=2), "xyz")


def test_speeds_that_a_force_names_keep_their_axes() -> None:
    """A drag c on an angular velocity in world axes slows small turns by c/I = 0.2, whatever the body's steady spin."""
    body = {"name": "a", "mass": 1, "inertia": [0.1, 0.1, 0.1]}
    joint = {"name": "f", "type": "spherical", "speeds": "parent", "parent": "ground", "child": "a"}
    drag = {"type": "torque", "body": "a", "vector": ["-0.02*f_wx", "-0.02*f_wy", "0.1*(2 - f_wz)"]}
    model = pendula.Model(name="ball", gravity=[0, 0, 0], bodies=[body], joints=[joint], forces=[drag])
    found = np.sort(np.linalg.eigvals(pendula.linearize(model, {"f_q0": 1, "f_wz": 2}).A).real)
    np.testing.assert_allclose(found, [-1, -0.2, -0.2, 0, 0, 0], atol=1e-9)


_OF_VECTORS: dict[str, dict[str, Any]] = {
    "friction on rates": {"forces": [{"type": "friction", "joint": "f", "coefficient": 0.5}]},
    "a torque of its coordinates": {
        "forces": [{"type": "torque", "body": "a", "vector": ["-0.5*f_rx", 0, "-0.3*f_rz"]}]
    },
    "rotors": {"armature": [0.05, 0.05, 0.05]},
}


@pytest.mark.parametrize("what", _OF_VECTORS)
def test_a_rotation_vector_whose_values_matter_is_not_replaced_by_a_shorter_one(what: str) -> None:
    """Vectors that differ by a whole turn are one pose, but other rates and other values for forces: SciPy decides."""
    fields = dict(_OF_VECTORS[what])
    joint = {"name": "f", "type": "spherical", "orientation": "rotation vector", "parent": "ground", "child": "a"}
    if "armature" in fields:
        joint["armature"] = fields.pop("armature")
    model = pendula.Model(
        name="spinning",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "a", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}],
        joints=[joint],
        initial={"f_rx": 0.1, "f_rz_dot": 9, "f_rx_dot": 0.5},
        **fields,
    )
    system = pendula.compile_system(model)
    run = pendula.simulate(system, 1.2, samples=121, tol=1e-10)

    def rates(t: float, y: Any) -> Any:
        return np.concatenate([y[3:], system.accelerations(y[:3], y[3:], t)])

    exact = solve_ivp(rates, (0.0, 1.2), [0.1, 0, 0, 0.5, 0, 9], rtol=1e-11, atol=1e-11, t_eval=run.t).y
    assert np.linalg.norm(exact[:3], axis=0).max() > 1.6 * np.pi
    np.testing.assert_allclose(run.q, exact[:3].T, atol=1e-6)


def test_friction_on_the_rates_of_a_rotation_vector_is_not_that_on_an_angular_velocity() -> None:
    joint = {"name": "f", "type": "spherical", "orientation": "rotation vector", "parent": "ground", "child": "a"}
    body = {"name": "a", "mass": 1, "inertia": [0.1, 0.2, 0.15]}
    drag = {"type": "friction", "joint": "f", "coefficient": 0.5}
    model = pendula.Model(name="dragged", gravity=[0, 0, 0], bodies=[body], joints=[joint], forces=[drag])
    with pytest.raises(NotSupported, match='the force "friction" acts along the coordinates of joint "f"'):
        pendula.convert(pendula.simulate(model, 0.1, samples=2), "quaternion")
