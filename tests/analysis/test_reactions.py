"""Reactions against closed forms, free bodies solved by hand, and the laws that forces in joints obey."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson

import pendula
from pendula import Model, library
from pendula.analysis.reactions.freedoms import Freedoms, left_null_space
from pendula.equations.formulations.registry import formulations
from pendula.errors import NotSupported, UsageError
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.results import System
from pendula.system.joint_forces import joint_wrenches
from pendula.system.symbolic import SymbolicSystem
from tests.helpers.choices import in_turn, slow_too
from tests.helpers.loops import CLOSING, closed_chain
from tests.helpers.mechanisms import VARIANTS
from tests.helpers.numbers import Array, regular, states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

ROUNDING = 1e-10
"""Forces follow from the state by one linear solve: rounding, amplified by the condition of the equations."""


def finds_forces(name: str) -> bool:
    """Whether a formulation finds forces in joints."""
    return bool(pendula.derive(library.pendulum(), name).transmitted)


FINDERS = [name for name in formulations() if finds_forces(name)]


@cache
def run_of(name: str, duration: float = 3.0, samples: int = 200) -> tuple[System, pendula.results.Trajectory]:
    system = pendula.compile_system(VARIANTS[name](), "newton-euler")
    return system, pendula.simulate(system, duration, tol=1e-10, samples=samples)


def numbers(system: System, vector: Any) -> Array:
    values = system.model.parameter_values
    return np.array([parse(x).evaluate(values) for x in vector], dtype=float)


# --- closed forms -------------------------------------------------------------------------------------


def test_each_joint_of_a_hanging_chain_carries_the_weight_below_it() -> None:
    mass = [1.0, 2.5, 0.3, 4.0, 1.7]
    system = pendula.compile_system(library.chain(links=5, mass=mass, start=0), "newton-euler")
    found = pendula.reactions(pendula.simulate(system, 1.0, samples=4))
    for k in range(5):
        joint = found[f"theta{k + 1}"]
        np.testing.assert_allclose(joint.force, [[0, 9.81 * sum(mass[k:]), 0]] * 4, rtol=1e-13, atol=1e-13)
        assert np.all(joint.torque == 0)


@pytest.mark.parametrize("name", ["pendulum", "pendulum: point", "pendulum: friction"])
def test_pivot_force_of_a_swinging_pendulum_is_the_closed_form(name: str) -> None:
    """Along the link m (g cos + r th'^2), across it m (g sin + r th''); r to the mass centre, th'' by moments."""
    _, run = run_of(name)
    found = pendula.reactions(run)["theta"]
    m = l = 1.0
    g, friction = 9.81, 0.3 if "friction" in name else 0.0
    r, inertia = (l / 2, m * l**2 / 3) if name != "pendulum: point" else (l, m * l**2)
    angle, rate = run["theta"], run["theta_dot"]
    acceleration = -(m * g * r * np.sin(angle) + friction * rate) / inertia
    outward = np.stack([np.sin(angle), -np.cos(angle), 0 * angle], axis=1)
    forward = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    along, across = m * (g * np.cos(angle) + r * rate**2), m * (g * np.sin(angle) + r * acceleration)
    expected = -along[:, None] * outward + across[:, None] * forward
    np.testing.assert_allclose(found.force, expected, atol=ROUNDING)
    np.testing.assert_allclose(found.torque, 0, atol=ROUNDING)
    # in body axes the link hangs along -y
    np.testing.assert_allclose(found.force_body, np.stack([across, along, 0 * along], axis=1), atol=ROUNDING)


@pytest.mark.parametrize("name", ["spherical-pendulum", "spherical-pendulum: xy"])
def test_tension_of_a_spherical_pendulum_is_the_closed_form(name: str) -> None:
    system, run = run_of(name)
    found = pendula.reactions(run)["swing"]
    _, r = system.poses(run.q, run.t)
    speed = system.body_motion(run.q, run.v, None, run.t).velocity[:, 0]
    bob = r[:, 0]  # at distance 1 from the pivot; mass 1
    tension = np.sum(speed**2, axis=1) - 9.81 * bob[:, 2]
    np.testing.assert_allclose(found.force, -tension[:, None] * bob, atol=ROUNDING)
    np.testing.assert_allclose(found.torque, 0, atol=ROUNDING)


def driven_rod(**changes: Any) -> Model:
    """A rod driven about its end, and a free pendulum beside it so that something can move."""
    driven = {"name": "drive", "type": "revolute", "parent": "ground", "child": "rod", "motion": "0.8*sin(3*t)"}
    loose = {"name": "loose", "type": "revolute", "parent": "ground", "child": "other"}
    return Model(
        name="driven rod",
        gravity=[0, -9.81, 0],
        bodies=[{"name": b, "rod": {"mass": 2.0, "length": 1.5}} for b in ("rod", "other")],
        joints=[driven, loose],
        **changes,
    )


def test_a_motor_supplies_inertia_and_weight_of_a_driven_rod() -> None:
    system = pendula.compile_system(driven_rod(), "newton-euler")
    found = pendula.reactions(pendula.simulate(system, 2.0, samples=50))
    angle, rate = 0.8 * np.sin(3 * found.t), 2.4 * np.cos(3 * found.t)
    acceleration = -9 * angle
    torque = 2.0 * 1.5**2 / 3 * acceleration + 2.0 * 9.81 * 0.75 * np.sin(angle)
    np.testing.assert_allclose(found.motors["drive"], torque, atol=ROUNDING)
    np.testing.assert_allclose(found["drive"].torque[:, 2], torque, atol=ROUNDING)
    np.testing.assert_allclose(found["drive"].force_body[:, 1], 2 * (9.81 * np.cos(angle) + 0.75 * rate**2))
    assert np.all(np.abs(found["loose"].torque) < ROUNDING)
    assert found.motor_units == {"drive": "N m"}


def test_motor_of_the_hoop_closes_the_energy_account() -> None:
    """Work of the torque that keeps the hoop turning = change of energy + heat of friction."""
    model = library.hoop_bead()
    system = pendula.compile_system(model, "newton-euler")
    run = pendula.simulate(system, 2.0, tol=1e-11, samples=2001)
    found = pendula.reactions(run)
    rate = model.parameter_values["Omega"]
    work = simpson(found.motors["spin"] * rate, x=run.t)
    heat = simpson(model.parameter_values["c"] * run["theta_dot"] ** 2, x=run.t)
    energies = system.energies(run.q, run.v, run.t)
    total = energies.kinetic + energies.potential
    assert abs(work) > 1
    assert work == pytest.approx(total[-1] - total[0] + heat, abs=1e-8)
    np.testing.assert_allclose(found["spin"].torque[:, 2], found.motors["spin"], atol=ROUNDING)


# --- what is not part of a reaction -------------------------------------------------------------------


def test_a_torsion_spring_is_transmitted_but_is_no_reaction() -> None:
    system = pendula.compile_system(library.chain(links=2, stiffness=40.0, damping=0.5), "newton-euler")
    run = pendula.simulate(system, 1.0, samples=30)
    carried = joint_wrenches(system, run.q, run.v, run.t)
    stretch = run["theta2"] - run["theta1"], run["theta2_dot"] - run["theta1_dot"]
    np.testing.assert_allclose(carried.torque[:, 1, 2], -40 * stretch[0] - 0.5 * stretch[1], atol=ROUNDING)
    np.testing.assert_allclose(carried.torque[:, 0, 2], -40 * run["theta1"] - 0.5 * run["theta1_dot"], atol=ROUNDING)
    found = pendula.reactions(run)
    np.testing.assert_allclose(found.torque_world, 0, atol=ROUNDING)
    np.testing.assert_allclose(found.force_world, carried.force, atol=ROUNDING)


def test_friction_is_transmitted_but_is_no_reaction() -> None:
    system, run = run_of("pendulum: friction")
    carried = joint_wrenches(system, run.q, run.v, run.t)
    np.testing.assert_allclose(carried.torque[:, 0, 2], -0.3 * run["theta_dot"], atol=ROUNDING)
    np.testing.assert_allclose(pendula.reactions(run).torque_world, 0, atol=ROUNDING)


def test_a_spring_in_a_slider_is_no_reaction_and_the_guide_carries_the_rest() -> None:
    """A block on a guide at 30 degrees: the guide carries m g cos across, and the moment of the offset weight."""
    tilt = np.radians(30)
    model = Model(
        name="block",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "block", "mass": 3.0, "com": [0.2, 0, 0], "inertia": [1, 1, 1]}],
        joints=[{"name": "s", "type": "prismatic", "axis": [np.cos(tilt), np.sin(tilt), 0], "parent": "ground", "child": "block"}],
        forces=[{"type": "spring", "joint": "s", "stiffness": 50.0, "length": 0.1}],
        initial={"s": 0.3},
    )  # fmt: skip
    system = pendula.compile_system(model, "newton-euler")
    run = pendula.simulate(system, 1.0, samples=10)
    found = pendula.reactions(run)["s"]
    across = np.array([-np.sin(tilt), np.cos(tilt), 0])
    np.testing.assert_allclose(found.force, [3 * 9.81 * np.cos(tilt) * across] * 10, atol=ROUNDING)
    acceleration = (-50 * (run["s"] - 0.1) - 3 * 9.81 * np.sin(tilt)) / 3
    needed = np.cross([0.2, 0, 0], 3 * acceleration[:, None] * [np.cos(tilt), np.sin(tilt), 0])
    np.testing.assert_allclose(found.torque, needed - np.cross([0.2, 0, 0], [0, -3 * 9.81, 0]), atol=ROUNDING)


def test_a_screw_holds_what_does_no_work_on_its_motion() -> None:
    """A nut on a vertical screw under its weight: the wrench left has no power on the screw's own motion."""
    model = Model(
        name="screw",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "nut", "mass": 2.0, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.2]}],
        joints=[
            {
                "name": "screw",
                "type": "coordinates",
                "coordinates": ["s"],
                "kinds": ["angle"],
                "position": [0, 0, "0.05*s"],
                "rotation": {"axis": [0, 0, 1], "angle": "s"},
                "parent": "ground",
                "child": "nut",
            }
        ],
        forces=[{"type": "generalized", "coordinate": "s", "value": 0.7}],
        initial={"s_dot": 2.0},
    )
    system = pendula.compile_system(model, "newton-euler")
    run = pendula.simulate(system, 1.0, samples=10)
    carried, found = joint_wrenches(system, run.q, run.v, run.t), pendula.reactions(run)["screw"]
    power = 0.05 * carried.force[:, 0, 2] + carried.torque[:, 0, 2]
    np.testing.assert_allclose(power, 0.7, atol=ROUNDING)  # the drive in the joint
    np.testing.assert_allclose(0.05 * found.force[:, 2] + found.torque[:, 2], 0, atol=ROUNDING)
    np.testing.assert_allclose(found.force[:, :2], carried.force[:, 0, :2], atol=ROUNDING)


# --- laws ---------------------------------------------------------------------------------------------


def unbalanced(system: System, t: Array, q: Array, v: Array) -> Array:
    """Per body: forces and torques of its joints and its weight, less its rate of momentum; relative to the largest.

    Masses, inertias and places are read from the model, accelerations from the poses: nothing of a formulation.
    """
    model, layout = system.model, system.layout
    joints = system.in_joints.read(q, v, t)[0]
    carried = joint_wrenches(system, q, v, t)
    motion = system.body_motion(q, v, system.accelerations(q, v, t), t)
    freedoms = Freedoms(system.in_joints.system, joints, t, system.parameters)
    R, r = system.poses(q, t)
    gravity = numbers(system, model.gravity)
    force, torque = np.zeros((2, len(t), len(layout.bodies), 3))
    scale = np.full(len(t), 1e-9)
    centers = np.zeros_like(force)
    for k, name in enumerate(layout.bodies):
        properties = model.body(name).mass_properties()
        mass = float(numbers(system, [properties.mass, 0, 0])[0])
        centers[:, k] = r[:, k] + R[:, k] @ numbers(system, properties.com)
        inertia = R[:, k] @ np.array([numbers(system, row) for row in properties.inertia]) @ np.swapaxes(R[:, k], 1, 2)
        w = motion.angular_velocity[:, k]
        spin = np.einsum("tij,tj->ti", inertia, w)
        force[:, k] = mass * (gravity - motion.acceleration[:, k])
        torque[:, k] = -np.einsum("tij,tj->ti", inertia, motion.angular_acceleration[:, k]) - np.cross(w, spin)
    for k, transmitted in enumerate(system.equations.transmitted):
        joint = model.joint(transmitted.joint)
        F, T = carried.force[:, k], carried.torque[:, k]
        scale = np.maximum(scale, np.abs(np.concatenate([F, T], axis=1)).max(axis=1))
        point = freedoms.children[joint.name].point
        for side, sign in ((joint.child, 1), (joint.parent, -1)):
            if side.body != GROUND:
                b = layout.bodies.index(side.body)
                force[:, b] += sign * F
                torque[:, b] += sign * (T + np.cross(point - centers[:, b], F))
    drives = [drive.name for drive in system.equations.drives]
    for joint in model.tree:  # what drives an angle measured from ground acts from there
        if getattr(joint, "measured_from", "") == "ground" and joint.prescribed():
            sense = np.sign(numbers(system, joint.axis)[2])
            effort = system.drive_forces(q, v, t)[:, drives.index(joint.coordinates()[0].name)]
            torque[:, layout.bodies.index(joint.child.body), 2] += sense * effort
    return np.abs(np.concatenate([force, torque], axis=-1)).max(axis=(1, 2)) / scale


QUICK = (1, 3, 7, 9, 16, 18)  # these have every kind of joint among them, and loops
MORE = [seed for seed in range(24) if seed not in QUICK]
EVERY_OTHER = [pytest.param(seed, name, marks=pytest.mark.slow) for seed in MORE for name in FINDERS]


@pytest.mark.slow
def test_the_quick_mechanisms_have_every_kind_of_joint_that_the_others_have() -> None:
    kinds = {seed: {joint.type for joint in random_mechanism(seed, forces=False).joints} for seed in range(24)}
    assert set().union(*(kinds[seed] for seed in QUICK)) == set().union(*kinds.values())


@pytest.mark.parametrize(("seed", "formulation"), in_turn(QUICK, FINDERS) + EVERY_OTHER)
def test_every_body_of_a_random_mechanism_balances(seed: int, formulation: str) -> None:
    system = pendula.compile_system(random_mechanism(seed, forces=False), formulation)
    t, q, v = regular(system, *states(system, 8, seed))
    assert unbalanced(system, t, q, v).max(initial=0.0) < 1e-9


@pytest.mark.parametrize(("kind", "formulation"), in_turn(CLOSING, FINDERS))
def test_every_body_of_a_closed_chain_balances(kind: str, formulation: str) -> None:
    system = pendula.compile_system(closed_chain(kind), formulation)
    t, q, v = regular(system, *states(system, 5))
    assert len(t)
    assert unbalanced(system, t, q, v).max() < 1e-9


@pytest.mark.parametrize("seed", slow_too(QUICK, MORE))
def test_ideal_joints_do_no_work(seed: int) -> None:
    """The power of what each joint transmits over the relative velocity of its sides, joint by joint."""
    system = pendula.compile_system(random_mechanism(seed, forces=False, driven=False), "newton-euler")
    t, q, v = regular(system, *states(system, 8, seed))
    carried = joint_wrenches(system, q, v, t)
    motion = system.body_motion(q, v, None, t)
    freedoms = Freedoms(system, q, t, system.parameters)
    for k, transmitted in enumerate(system.equations.transmitted):
        twist = freedoms.twist(motion, transmitted.joint)
        wrench = np.concatenate([carried.force[:, k], carried.torque[:, k]], axis=1)
        power = np.sum(wrench * twist, axis=1)
        size = np.linalg.norm(wrench, axis=1) * np.linalg.norm(twist, axis=1)
        assert np.all(np.abs(power) <= 1e-9 * size + 1e-9)


def impulse_error(system: System, run: pendula.results.Trajectory, joints: list[str]) -> Array:
    """Impulse of ground reactions and weight less the change of momentum, over a whole run."""
    found = pendula.reactions(run)
    model = system.model
    masses = [numbers(system, [model.body(b).mass_properties().mass, 0, 0])[0] for b in system.layout.bodies]
    weight = sum(masses) * numbers(system, model.gravity)
    force = sum(found[name].force for name in joints) + weight
    velocity = system.body_motion(run.q, run.v, None, run.t).velocity
    momentum = np.einsum("b,tbi->ti", masses, velocity)
    assert np.abs(momentum[-1] - momentum[0]).max() > 0.1
    return simpson(force, x=run.t, axis=0) - (momentum[-1] - momentum[0])


def test_ground_reactions_and_weight_change_the_momentum_of_a_four_bar() -> None:
    system = pendula.compile_system(library.four_bar(), "newton-euler")
    run = pendula.simulate(system, 1.0, tol=1e-11, samples=2001)
    np.testing.assert_allclose(impulse_error(system, run, ["crank", "rocker"]), 0, atol=1e-7)


def test_ground_reactions_and_weight_change_the_momentum_of_a_spatial_tree() -> None:
    rods = [{"name": f"rod {k}", "rod": {"mass": 1.0 + k, "length": 0.7, "diameter": 0.1}} for k in range(4)]
    joints: list[dict[str, Any]] = [
        {"name": "ball", "type": "spherical", "parent": "ground", "child": "rod 0"},
        {"name": "hinge", "type": "revolute", "axis": [1, 0, 1], "parent": {"body": "rod 0", "at": "end"}, "child": "rod 1"},
        {"name": "cross", "type": "universal", "parent": {"body": "rod 0", "at": "end"}, "child": "rod 2"},
        {"name": "aside", "type": "universal", "parent": {"body": "ground", "position": [1, 1, 0]}, "child": "rod 3"},
    ]  # fmt: skip
    model = Model(
        name="tree in space", gravity=[0, -9.81, 0], bodies=rods, joints=joints,
        initial={"ball": {"axis": [1, 0, 2], "angle": 1.0}, "hinge": 0.5, "cross_1": 0.4, "aside_1": 1.0, "ball_wy": 2.0},
    )  # fmt: skip
    system = pendula.compile_system(model, "newton-euler")
    run = pendula.simulate(system, 1.0, tol=1e-11, samples=2001)
    np.testing.assert_allclose(impulse_error(system, run, ["ball", "aside"]), 0, atol=1e-7)


# --- loops --------------------------------------------------------------------------------------------


def test_four_bar_reactions_are_those_of_its_free_bodies() -> None:
    """Three bars, nine equations of motion; eight unknown pin forces, solved by least squares."""
    system, run = run_of("four-bar", 2.0, 50)
    found = pendula.reactions(run)
    motion = system.body_motion(run.q, run.v, system.accelerations(run.q, run.v, run.t), run.t)
    lengths = {"crank": 1.0, "coupler": 2.0, "rocker": 2.2}  # masses are the same numbers
    pins = ["crank", "coupler", "rocker", "pin"]
    ends = {"crank": ("crank", "coupler"), "coupler": ("coupler", "pin"), "rocker": ("rocker", "pin")}
    signs = {"crank": (1, -1), "coupler": (1, 1), "rocker": (1, -1)}
    for k in range(len(run.t)):
        A, b = np.zeros((9, 8)), np.zeros(9)
        for i, (bar, length) in enumerate(lengths.items()):
            angle = run[bar][k]
            half = length / 2 * np.array([np.sin(angle), -np.cos(angle)])
            for pin, sign, arm in zip(ends[bar], signs[bar], (-half, half), strict=True):
                column = 2 * pins.index(pin)
                A[3 * i : 3 * i + 2, column : column + 2] = sign * np.eye(2)
                A[3 * i + 2, column : column + 2] = sign * np.array([-arm[1], arm[0]])
            b[3 * i : 3 * i + 2] = length * (motion.acceleration[k, i, :2] + [0, 9.81])
            b[3 * i + 2] = length**3 / 12 * motion.angular_acceleration[k, i, 2]
        x, *_ = np.linalg.lstsq(A, b, rcond=None)
        np.testing.assert_allclose(A @ x, b, atol=1e-9)
        np.testing.assert_allclose(found.force_world[k, :, :2].ravel(), x, atol=1e-8)
    assert found.joints == ("crank", "coupler", "rocker", "pin")
    assert np.all(found.force_world[..., 2] == 0)
    assert np.abs(found.torque_world).max() < ROUNDING
    assert found.planar
    assert found.indeterminate == ()


@pytest.mark.parametrize("formulation", [name for name in FINDERS if name != "newton-euler"])
def test_formulations_agree_on_the_reactions_of_a_four_bar(formulation: str) -> None:
    _, run = run_of("four-bar", 2.0, 50)
    first = pendula.reactions(run)
    second = pendula.reactions(run, formulation=formulation)
    assert second.formulation == formulation
    near = 1e-9
    for name in first.joints:
        a, b = first[name], second[name]
        np.testing.assert_allclose(b.force, a.force, rtol=near, atol=near * first.largest)
        np.testing.assert_allclose(b.torque, a.torque, atol=near * first.largest)


@pytest.mark.parametrize("formulation", [name for name in formulations() if name not in FINDERS])
def test_other_formulations_borrow_newton_euler_and_say_so(formulation: str) -> None:
    system = pendula.compile_system(library.four_bar(), formulation)
    run = pendula.simulate(system, 0.5, samples=10)
    found = pendula.reactions(run)
    assert (found.formulation, found.simulated_by) == ("newton-euler", formulation)
    direct = joint_wrenches(pendula.compile_system(library.four_bar(), "newton-euler"), run.q, run.v, run.t)
    np.testing.assert_allclose(found.force_world, direct.force, atol=ROUNDING)
    with pytest.raises(NotSupported, match="newton-euler"):
        joint_wrenches(system, run.q, run.v, run.t)


def three_cranks() -> Model:
    """A beam on three parallel cranks of equal length: one more than it needs."""
    bars = [{"name": n, "rod": {"mass": 1.0, "length": 1.0}} for n in ("a", "b", "c")]
    beam = {"name": "beam", "rod": {"mass": 2.0, "length": 2.0, "axis": [1, 0, 0]}}

    def crank(k: int, name: str) -> dict[str, Any]:
        parent = {"body": "ground", "position": [k, 0, 0]}
        return {"name": f"pivot_{name}", "type": "revolute", "parent": parent, "child": name}

    def pin(k: int, name: str) -> dict[str, Any]:
        child = {"body": name, "at": "end"}
        return {"name": f"pin_{name}", "type": "coincident", "parent": {"body": "beam", "position": [k, 0, 0]}, "child": child}  # fmt: skip

    hinge = {"name": "pin_a", "type": "revolute", "measured_from": "ground", "parent": {"body": "a", "at": "end"}, "child": "beam"}  # fmt: skip
    angles = dict.fromkeys(("pivot_a", "pivot_b", "pivot_c"), 0.5)
    joints = [crank(0, "a"), crank(1, "b"), crank(2, "c"), hinge, pin(1, "b"), pin(2, "c")]
    return Model(name="three cranks", gravity=[0, -9.81, 0], bodies=[*bars, beam], joints=joints, initial=angles)


def test_forces_that_balance_each_other_in_a_redundant_loop_are_found() -> None:
    """Along the cranks any multiple of (1, -2, 1) is in balance; across them nothing is."""
    system = SymbolicSystem(pendula.derive(three_cranks(), "newton-euler"))
    start = system.initial_state()
    freedoms = Freedoms(system, start.q[None], np.zeros(1), system.parameters)
    (shares,), (takers,) = freedoms.self_balanced(in_plane=True)
    assert takers == ["pin_b", "pin_c"]
    along = np.array([np.sin(0.5), -np.cos(0.5), 0])
    sizes = np.array([shares[f"pivot_{name}"][0, :3] @ along for name in "abc"])
    np.testing.assert_allclose(sizes / sizes[0], [1, -2, 1], atol=1e-12)
    for name, wrench in shares.items():
        np.testing.assert_allclose(np.cross(wrench[0, :3], along), 0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(wrench[0, 3:], 0, atol=1e-12, err_msg=name)


def belted(value: str | None, more: tuple[str, ...] = (), motion: str = "", of: str = "") -> Model:
    """A parallelogram whose cranks a and c are also coupled; its coupler b stays parallel to x. More cranks beside it.

    Args:
        value: of the coupling; None for no belt.
        more: names of further cranks.
        motion: motion of the joints ``of``.
        of: joints with prescribed motion, each a letter.
    """

    def at(body: str, x: float) -> dict[str, Any]:
        return {"body": body, "position": [x, 0, 0]}

    names = ("crank", "coupler", "rocker", *(f"wheel_{name}" for name in more))
    joints = [
        {"name": "a", "type": "revolute", "parent": "ground", "child": "crank"},
        {"name": "b", "type": "revolute", "parent": at("crank", 1), "child": "coupler"},
        {"name": "c", "type": "revolute", "parent": at("ground", 2), "child": "rocker"},
        *({"name": name, "type": "revolute", "parent": at("ground", 5), "child": f"wheel_{name}"} for name in more),
        {"name": "pin", "type": "coincident", "parent": at("coupler", 2), "child": at("rocker", 1)},
        *([{"name": "belt", "type": "coupling", "value": value}] if value else []),
    ]
    for joint in joints:
        joint.update({"motion": motion} if str(joint["name"]) in of else {})
    start = {"a": 1.0, "b": -1.0, **dict.fromkeys(("c", *more), 1.0)}
    return Model(
        name="belted parallelogram",
        gravity=[0, -9.81, 0],
        bodies=[{"name": name, "mass": 1, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1]} for name in names],
        joints=joints,
        initial={name: x for name, x in start.items() if name not in of},
    )


@pytest.mark.parametrize("value", ["a - c", "a + b"], ids=["cranks", "coupler"])
@pytest.mark.parametrize("formulation", FINDERS)
def test_a_belt_that_a_loop_makes_redundant_leaves_forces_open(formulation: str, value: str) -> None:
    """Between the cranks, only the force along the coupler is open; a torque on the coupler opens its pins across."""
    model = belted(value)
    found = pendula.reactions(pendula.simulate(model, 0.2, tol=1e-10), formulation=formulation)
    known = pendula.reactions(pendula.simulate(model, 0.2, tol=1e-10), formulation="newton-euler")
    forces = found.force_world[:, :, :2]
    if value == "a - c":
        assert np.isnan(forces[..., 0]).all()
        assert np.isfinite(forces[..., 1]).all()
    else:
        assert np.isnan(forces).any()
    np.testing.assert_allclose(found.force_world, known.force_world, atol=1e-7)
    assert any("closed by pin, belt" in x.why for x in found.indeterminate)
    assert pendula.check(model).passed


def test_a_belt_beside_a_loop_that_leaves_it_alone_opens_nothing() -> None:
    """A belt from the crank to a wheel outside of the loop: every force is determined."""
    model = belted("a - d", more=("d",))
    by = [
        pendula.reactions(pendula.simulate(model, 0.2, tol=1e-10), formulation=name).force_world
        for name in ("newton-euler", "maximal")
    ]
    assert np.isfinite(by[0]).all()
    np.testing.assert_allclose(*by, atol=1e-7)


@pytest.mark.parametrize("formulation", FINDERS)
def test_motors_that_a_loop_joins_can_work_against_each_other(formulation: str) -> None:
    """Both cranks of a parallelogram are driven: only the sum of the torques is known. One motor alone has it all."""
    one, both = (belted(None, motion="1 + t", of=names) for names in ("a", "ac"))
    alone = pendula.reactions(pendula.simulate(one, 0.1, samples=3), formulation=formulation)
    weights = 9.81 * 2 * np.cos(1 + alone.t)  # of both cranks and the coupler, at constant rates
    np.testing.assert_allclose(alone.motors["a"], weights, atol=1e-9)
    found = pendula.reactions(pendula.simulate(both, 0.1, samples=3), formulation=formulation)
    assert np.isnan([found.motors["a"], found.motors["c"]]).all()
    assert {x.joint for x in found.indeterminate if x.component == "force of its motor"} == {"a", "c"}
    assert pendula.check(both, states=2).passed
    with pytest.raises(UsageError, match='the motion "a" is not determined'):
        pendula.equilibria.trim(belted(None, motion="1", of="ac"), {}, ["a"])


@pytest.mark.parametrize("formulation", FINDERS)
def test_what_a_redundant_loop_leaves_open_is_named_and_the_rest_is_given(formulation: str) -> None:
    system = pendula.compile_system(three_cranks(), formulation)
    run = pendula.simulate(system, 1.0, tol=1e-10, samples=20)
    found = pendula.reactions(run)
    assert {x.joint for x in found.indeterminate} == set(found.joints)
    angle = run["pivot_a"]
    # one freedom: three cranks turn, the beam of mass 2 moves along a circle of radius 1
    acceleration = -(3 * 0.5 + 2) * 9.81 * np.sin(angle) / (3 / 3 + 2)
    for name in "abc":
        joint = found[f"pivot_{name}"]
        assert np.all(np.isnan(joint.force_body[:, 1]))
        # across a crank: m r th'' = weight + pivot + pin, and moments about the pivot give the pin's part
        pin = acceleration / 3 + 9.81 * np.sin(angle) / 2
        across = acceleration / 2 + 9.81 * np.sin(angle) - pin
        np.testing.assert_allclose(joint.force_body[:, 0], across, atol=1e-8)
    assert all(peak.force is None for peak in found.peaks)


def test_rows_that_hang_together_are_found_at_each_time() -> None:
    G = np.array([[[1.0, 0], [0, 1], [1, 1]], [[1.0, 0], [0, 1e-13], [0, 0]]])
    sets = left_null_space(G)
    assert sets.shape == (2, 3, 2)
    np.testing.assert_allclose(np.einsum("tri,trk->tik", G, sets), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(sets, axis=1), [[0, 1], [1, 1]], atol=1e-12)
    assert left_null_space(np.array([[[1.0, 0], [0, 1]]])).shape == (1, 2, 0)


def test_out_of_plane_forces_of_a_planar_loop_are_named_not_guessed() -> None:
    """A coupler whose mass lies beside the plane: how the pins share the tilting moment is not determined."""
    plain = library.four_bar()
    offset = {"name": "coupler", "mass": 2.0, "com": [0, -1, 0.3], "inertia": [1, 1, "2*2**2/12"], "points": {"tip": [0, -2, 0]}}  # fmt: skip
    bodies = [offset if body.name == "coupler" else body for body in plain.bodies]
    system = pendula.compile_system(plain.with_changes(bodies=bodies), "newton-euler")
    run = pendula.simulate(system, 0.5, tol=1e-10, samples=11)
    found = pendula.reactions(run)
    assert not found.planar
    reference = joint_wrenches(pendula.compile_system(plain, "newton-euler"), run.q, run.v, run.t)
    np.testing.assert_allclose(found.force_world[..., :2], reference.force[..., :2], atol=1e-8)
    assert np.all(np.isnan(found.force_world[..., 2]))
    named = {(x.joint, x.component) for x in found.indeterminate}
    assert ("pin", "force z, world axes") in named
    assert ("crank", "force z, body axes") in named
    assert not any(component.startswith(("force x", "force y", "torque z")) for _, component in named)


@pytest.mark.parametrize("formulation", FINDERS)
def test_a_loop_that_no_motion_can_open_leaves_motors_and_gears_alone(formulation: str) -> None:
    """A lid that is welded to an arm and pinned to it again: rows that are rounding in every speed."""
    arm = {"body": "arm", "position": [-0.339, 0.437, -0.442]}
    turned = {"body": "lid", "rotation": {"sequence": "zyx", "angles": [-0.931, 0.6, -0.13]}}
    side = {"body": "arm", "rotation": {"sequence": "xz", "angles": [-0.79, 0.738]}}
    joints = [
        {
            "name": "j",
            "type": "universal",
            "sequence": "yz",
            "parent": "ground",
            "child": side,
            "motion": {"j_2": "sin(t) + 0.6"},
        },
        {"name": "weld", "type": "fixed", "parent": arm, "child": turned},
        {"name": "g", "type": "revolute", "parent": "ground", "child": "gear"},
        {"name": "gears", "type": "coupling", "value": "g - 2*j_1 - 0.8"},
    ]
    free = Model(
        name="lid",
        gravity=[0, 0, -9.81],
        bodies=[
            {"name": "arm", "box": {"mass": 1, "size": [0.3, 0.2, 0.1], "at": [0.1, 0.2, 0.3]}},
            {"name": "lid", "box": {"mass": 1, "size": [0.1, 0.2, 0.5], "at": [0.3, 0.1, 0.3]}},
            {"name": "gear", "disc": {"mass": 2, "radius": 0.3}},
        ],
        joints=joints,
        initial={"j_1": -0.4, "g": 0.0},
    )
    system = pendula.compile_system(free, formulation)
    alone = pendula.reactions(pendula.simulate(system, 0.2, samples=3))
    R, r = system.poses(system.initial_state().q, 0.0)
    place = np.array([-0.2, -0.139, 0.46])
    here = R[0].T @ (r[1] + R[1] @ place - r[0])
    child = {"body": "lid", "position": place.tolist()}
    pin = {"name": "pin", "type": "coincident", "parent": {"body": "arm", "position": here.tolist()}, "child": child}
    pinned = pendula.compile_system(free.with_changes(joints=[*joints, pin]), formulation)
    found = pendula.reactions(pendula.simulate(pinned, 0.2, samples=3))
    np.testing.assert_allclose(found.motors["j_2"], alone.motors["j_2"], atol=1e-7)
    for name, force in alone.couplings["gears"].items():
        np.testing.assert_allclose(found.couplings["gears"][name], force, atol=1e-7)


@pytest.mark.parametrize("formulation", FINDERS)
def test_forces_along_slides_in_the_plane_tilt_bodies_above_them(formulation: str) -> None:
    """A ball at height 0.3 on a table whose mass centre is 0.2 above its slides and 0.1 below those of the ball."""
    ball = [
        {"type": "damper", "joint": "b", "coordinate": "b_x", "damping": 0.7},
        {"type": "spring", "joint": "b", "coordinate": "b_y", "stiffness": 5.0, "length": 0.1},
    ]
    model = Model(
        name="ball on a table",
        gravity=[0, 0, 0],
        bodies=[
            {"name": "table", "sphere": {"mass": 2, "radius": 0.3, "at": [0, 0, 0.2]}},
            {"name": "ball", "sphere": {"mass": 0.5, "radius": 0.1, "at": [0, 0, 0.3]}},
        ],
        joints=[
            {"name": "a", "type": "planar", "parent": "ground", "child": "table"},
            {"name": "b", "type": "planar", "parent": {"body": "table", "position": [0, 0, 0.3]}, "child": "ball"},
            {"name": "belt", "type": "coupling", "value": "a_x - 2*b_y"},
        ],
        forces=[
            *ball,
            {"type": "friction", "joint": "a", "coefficient": 0.4},
            {"type": "generalized", "coordinate": "a_y", "value": "cos(3*t)"},
            {"type": "generalized", "coordinate": "b_x", "value": 0.6},
        ],
        initial={"a_angle": 0.5, "a_x": 0.2, "b_y": 0.1, "a_y_dot": 1.0, "b_x_dot": -0.8, "a_angle_dot": 1.3},
    )
    run = pendula.simulate(pendula.compile_system(model, formulation), 0.4, samples=5)
    found = pendula.reactions(run)
    pulled = found.couplings["belt"]
    c, s = np.cos(run["a_angle"]), np.sin(run["a_angle"])
    a = np.stack([pulled["a_x"] - 0.4 * run["a_x_dot"], np.cos(3 * run.t) - 0.4 * run["a_y_dot"]])
    x, y = 0.6 - 0.7 * run["b_x_dot"], pulled["b_y"] - 5 * (run["b_y"] - 0.1)
    b = np.stack([c * x - s * y, s * x + c * y])
    across = np.array([[0, -1], [1, 0]])  # z cross
    upper = 0.3 * across @ b
    np.testing.assert_allclose(found["b"].torque[:, :2], upper.T, atol=ROUNDING)
    np.testing.assert_allclose(found["a"].torque[:, :2], (upper + 0.1 * across @ b + 0.2 * across @ a).T, atol=ROUNDING)


def test_an_unsymmetric_body_that_turns_in_the_plane_needs_moments_across_it() -> None:
    """Ixz w' - Iyz w^2 about x, Iyz w' + Ixz w^2 about y (body axes): Euler's equations for a turn about z."""
    model = Model(
        name="wobbler",
        gravity=[0, 0, 0],
        bodies=[{"name": "body", "mass": 1.0, "inertia": [[2, 0, 0.3], [0, 2, -0.4], [0.3, -0.4, 2]]}],
        joints=[{"name": "axle", "type": "revolute", "parent": "ground", "child": "body"}],
        forces=[{"type": "torque", "body": "body", "vector": [0, 0, 5.0]}],
        initial={"axle_dot": 3.0},
    )
    system = pendula.compile_system(model, "newton-euler")
    run = pendula.simulate(system, 1.0, samples=20)
    found = pendula.reactions(run)["axle"]
    w, acceleration = run["axle_dot"], 5.0 / 2
    expected = [0.3 * acceleration + 0.4 * w**2, -0.4 * acceleration + 0.3 * w**2, 0 * w]
    np.testing.assert_allclose(found.torque_body, np.stack(expected, axis=1), atol=ROUNDING)


# --- the result ---------------------------------------------------------------------------------------


def belt(*more: dict[str, Any]) -> Model:
    """A belt between pulleys of radius 0.2 and 0.1, and a torque of 0.3 N m on the first."""
    return Model(
        name="belt",
        gravity=[0, 0, 0],
        bodies=[{"name": "p1", "disc": {"mass": 2, "radius": 0.2}}, {"name": "p2", "disc": {"mass": 1, "radius": 0.1}}],
        joints=[
            {"name": "a", "type": "revolute", "parent": "ground", "child": "p1"},
            {"name": "b", "type": "revolute", "parent": {"body": "ground", "position": [1, 0, 0]}, "child": "p2"},
            {"name": "bt", "type": "coupling", "value": "0.2*a - 0.1*b"},
            *more,
        ],
        forces=[{"type": "generalized", "coordinate": "a", "value": 0.3}],
    )


@pytest.mark.parametrize("formulation", FINDERS)
def test_a_belt_carries_the_torque_that_turns_the_other_pulley(formulation: str) -> None:
    """I1 a'' = 0.3 - r1 S and I2 b'' = r2 S with b'' = 2 a'' give S = 0.5 N: torques -0.1 and 0.05 N m."""
    found = pendula.reactions(pendula.simulate(belt(), 0.2, samples=2), formulation=formulation)
    assert found.joints == ("a", "b")
    np.testing.assert_allclose(found.couplings["bt"]["a"], -0.1, rtol=ROUNDING)
    np.testing.assert_allclose(found.couplings["bt"]["b"], 0.05, rtol=ROUNDING)
    assert found.coupling_units == {"a": "N m", "b": "N m"}
    assert "bt (coupling): at most -0.1 N m on a, 0.05 N m on b" in str(found)
    with pytest.raises(UsageError, match="is a coupling"):
        found["bt"]


def test_a_rack_on_a_driven_pinion_is_pushed_by_the_coupling() -> None:
    """m x'' = F with x = r a and a = t^2: F = 2 m r = 0.6 N on the rack, and -r F = -0.06 N m on the pinion."""
    model = Model(
        name="rack",
        gravity=[0, 0, 0],
        bodies=[{"name": "pinion", "disc": {"mass": 2, "radius": 0.1}}, {"name": "rack", "mass": 3}],
        joints=[
            {"name": "a", "type": "revolute", "parent": "ground", "child": "pinion", "motion": "t**2"},
            {"name": "x", "type": "prismatic", "parent": "ground", "child": "rack"},
            {"name": "teeth", "type": "coupling", "value": "x - 0.1*a"},
        ],
    )
    found = pendula.reactions(pendula.simulate(model, 0.2, samples=2))
    np.testing.assert_allclose(found.couplings["teeth"]["x"], 0.6, rtol=ROUNDING)
    np.testing.assert_allclose(found.couplings["teeth"]["a"], -0.06, rtol=ROUNDING)
    np.testing.assert_allclose(found.motors["a"], 0.06 + 0.01 * 2, rtol=ROUNDING)
    assert found.coupling_units == {"x": "N", "a": "N m"}


def test_two_belts_side_by_side_share_their_force_in_an_open_way(tmp_path) -> None:
    model = belt({"name": "second", "type": "coupling", "value": "2*a - b"})
    found = pendula.reactions(pendula.simulate(model, 0.2, samples=2))
    assert np.isnan(found.couplings["bt"]["a"]).all()
    assert {(x.joint, x.component) for x in found.indeterminate} >= {("bt", "force on a"), ("second", "force on b")}
    one = pendula.reactions(pendula.simulate(belt(), 0.2, samples=2))
    one.save(tmp_path / "belt.npz")
    again = pendula.load_run(tmp_path / "belt.npz")
    np.testing.assert_array_equal(again.couplings["bt"]["a"], one.couplings["bt"]["a"])
    assert again.coupling_units == one.coupling_units


def test_peaks_are_the_largest_sizes_and_when() -> None:
    _, run = run_of("chain: relative")
    found = pendula.reactions(run)
    for peak in found.peaks:
        sizes = np.linalg.norm(found[peak.joint].force, axis=1)
        assert peak.force == sizes.max()
        assert peak.force_at == run.t[np.argmax(sizes)]


def test_body_axes_turn_with_the_child() -> None:
    system, run = run_of("heavy-top", 0.5, 20)
    found = pendula.reactions(run)["pivot"]
    R, _ = system.poses(run.q, run.t)
    np.testing.assert_allclose(np.einsum("tij,tj->ti", R[:, 0], found.force_body), found.force, atol=ROUNDING)


def test_reactions_are_saved_and_read_back(tmp_path) -> None:
    _, run = run_of("hoop-bead")
    found = pendula.reactions(run)
    found.save(tmp_path / "forces.npz")
    with np.load(tmp_path / "forces.npz") as read:
        np.testing.assert_array_equal(read["force_world"], found.force_world)
        assert read["joint"].tolist() == ["spin", "slide"]
        np.testing.assert_array_equal(read["motors"][:, 0], found.motors["spin"])
    with pytest.raises(UsageError, match="cannot be written"):
        found.save(tmp_path / "no" / "folder.npz")


def test_a_run_with_inputs_and_parameters_of_its_own_is_judged_by_them() -> None:
    model = library.pendulum().with_changes(
        inputs={"F": 0.0}, forces=[{"type": "force", "body": "link", "at": "end", "vector": [0, "F", 0]}]
    )
    system = pendula.compile_system(model)
    run = pendula.simulate(
        system, 1.0, inputs={"F": "3 + t"}, parameters={"m": 2.0}, initial_state={"theta": 0}, samples=5
    )
    found = pendula.reactions(run)["theta"]
    np.testing.assert_allclose(found.force[:, 1], 2 * 9.81 - 3 - run.t, atol=ROUNDING)


def test_wrong_arguments_are_refused() -> None:
    _, run = run_of("pendulum")
    with pytest.raises(NotSupported, match="newton-euler, maximal, projection"):
        pendula.reactions(run, formulation="lagrange")
    with pytest.raises(UsageError, match="reactions takes a run, found None"):
        pendula.reactions(None)
    with pytest.raises(UsageError, match='no joint "hip"'):
        pendula.reactions(run)["hip"]


def test_plot_shows_forces_torques_and_motors(tmp_path) -> None:
    _, run = run_of("hoop-bead")
    figure = pendula.plot(pendula.reactions(run), tmp_path / "forces.png")
    assert [ax.get_ylabel() for ax in figure.axes] == ["|force| [N]", "|torque| [N m]", "motor [N m]"]
    assert [len(ax.lines) for ax in figure.axes] == [2, 2, 1]
    assert (tmp_path / "forces.png").read_bytes()[:4] == b"\x89PNG"


INPUTS_OVER_TIME: dict[str, Any] = {
    "series": pendula.Signal(np.linspace(0, 1, 201), 5 * np.sin(3 * np.linspace(0, 1, 201)), "cubic"),
    "function": lambda t, state: 5 * np.sin(3 * t),
}


@pytest.mark.parametrize("kind", INPUTS_OVER_TIME)
@pytest.mark.parametrize("given", [{"formulation": "kane"}, {"formulation": "maximal"}, {"engine": "recursive"}])
def test_reactions_feel_the_inputs_of_the_run(given: dict[str, str], kind: str) -> None:
    model, samples = library.cart_pole(), [0.3, 0.6, 1.0]
    system = pendula.compile_system(model, **given)
    run = pendula.simulate(system, 1.0, inputs={"F": INPUTS_OVER_TIME[kind]}, samples=samples, tol=1e-10)
    found = pendula.reactions(run)
    # Newton's law along the rail: what the input leaves of the cart's acceleration comes through the pin
    pin = 5 * np.sin(3 * run.t) - model.parameter_values["M"] * run["x_ddot"]
    np.testing.assert_allclose(found["theta"].force[:, 0], pin, rtol=0, atol=1e-6)
    text = pendula.simulate(model, 1.0, inputs={"F": "5*sin(3*t)"}, samples=samples, tol=1e-10)
    np.testing.assert_allclose(found.force_world, pendula.reactions(text).force_world, rtol=0, atol=1e-6)


@pytest.mark.parametrize("formulation", ["kane", "maximal", "newton-euler"])
def test_forces_of_gears_feel_a_sampled_controller(formulation: str) -> None:
    """Two wheels with inertia 2 and 1, the second twice as fast: a torque u on it turns the first with 2*2 u/(2 + 4)."""
    places = {"a": 0, "b": 1}
    model = pendula.Model(
        name="two wheels",
        gravity=[0, 0, 0],
        inputs={"u": 0},
        bodies=[{"name": f"wheel {x}", "mass": 1, "inertia": 2 - places[x]} for x in places],
        joints=[
            *(
                {
                    "name": x,
                    "type": "revolute",
                    "parent": {"body": "ground", "position": [at, 0, 0]},
                    "child": f"wheel {x}",
                }
                for x, at in places.items()
            ),
            {"name": "gears", "type": "coupling", "value": "b - 2*a"},
        ],
        forces=[{"type": "generalized", "coordinate": "b", "value": "u"}],
        initial={"a_dot": 1.0, "b_dot": 2.0},
    )
    law = pendula.Sampled("1 - 3*a", every=0.13)
    run = pendula.simulate(pendula.compile_system(model, formulation), 1.0, inputs={"u": law}, samples=11)
    assert np.ptp(run["u"]) > 0.5
    np.testing.assert_allclose(pendula.reactions(run).couplings["gears"]["a"], 4 * run["u"] / 6, atol=1e-9)
