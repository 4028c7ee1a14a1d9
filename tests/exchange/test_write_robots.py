"""Models written as URDF and MJCF: read back, and read by Pinocchio and MuJoCo, with the same accelerations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.errors import NotSupported
from pendula.exchange import export, load_mjcf, load_urdf
from tests.exchange.public_models import public_file
from tests.helpers.numbers import states

CLOSE = 1e-11
"""relative; thin rods get an inertia of 1e-12 per mass in MJCF"""


def arm(**more: Any) -> Model:
    """A branched arm whose sides are all displaced and rotated."""
    turned = {"axis": [1, 2, 3], "angle": 0.7}
    return Model(
        name="arm",
        gravity=[0, 0, -9.81],
        parameters={"m": 1.2},
        bodies=[
            {"name": name, "mass": "m", "com": [0.1, 0.2, -0.3], "inertia": [[0.2, 0.01, 0], [0.01, 0.3, 0.02], [0, 0.02, 0.25]],
             "shapes": [{"kind": "rod", "points": [[0, 0, 0], [0, 0, -0.5]], "radius": 0.02}]}
            for name in ("base", "upper arm", "hand", "tool", "wing")
        ],
        joints=[
            {"name": "mount", "type": "fixed", "parent": {"body": "ground", "position": [0, 0, 1], "rotation": turned},
             "child": {"body": "base", "rotation": turned}},
            {"name": "a", "type": "revolute", "axis": [0, 1, 1], "parent": {"body": "base", "position": [0.1, 0, 0.2]},
             "child": {"body": "upper arm", "position": [0, 0.1, 0], "rotation": turned}},
            {"name": "b", "type": "prismatic", "axis": [1, 0, 0], "parent": {"body": "upper arm", "rotation": turned},
             "child": {"body": "hand", "position": [0.3, 0.1, 0]}},
            {"name": "c", "type": "planar", "parent": {"body": "hand", "position": [0, 0, 0.4]}, "child": "tool"},
            {"name": "d", "type": "universal", "parent": {"body": "base", "rotation": turned}, "child": "wing"},
        ],
        forces=[{"type": "friction", "joint": "a", "coefficient": 0.4}, {"type": "damper", "joint": "b", "damping": 0.3}],
        **more,
    )  # fmt: skip


def same_motion(model: Model, other: Model, close: float = CLOSE) -> None:
    """Accelerations of both at random states, by the names of coordinates."""
    first, second = pendula.compile_system(model), pendula.compile_system(other)
    t, q, v = states(first, 10)
    order_q = [first.layout.coordinates.index(n) for n in second.layout.coordinates]
    order_v = [first.layout.speeds.index(n) for n in second.layout.speeds]
    expected = first.accelerations(q, v, t)[:, order_v]
    got = second.accelerations(q[:, order_q], v[:, order_v], t)
    assert np.abs(got - expected).max() < close * np.abs(expected).max()


def test_urdf_reads_back_with_the_same_motion(tmp_path: Path) -> None:
    written = export(arm(), tmp_path / "arm.urdf")
    assert written.notes == ()
    same_motion(arm(), load_urdf(tmp_path / "arm.urdf").model)


def test_a_floating_body_keeps_its_motion_in_urdf(tmp_path: Path) -> None:
    model = Model(
        name="flyer",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "hull", "mass": 2, "com": [0.1, 0, 0], "inertia": [0.2, 0.3, 0.4]}],
        joints=[{"name": "root", "type": "free", "parent": "ground", "child": "hull"}],
    )
    export(model, tmp_path / "flyer.urdf")
    same_motion(model, load_urdf(tmp_path / "flyer.urdf").model)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (library.chain(links=2), 'joint "theta1": it has measured_from = "ground"'),
        (library.chain(links=2, coordinates="relative", stiffness=1.0), "force 1"),
        (library.heavy_top(), 'joint "pivot": it is a ball joint'),
        (library.four_bar(), 'joint "pin": it closes a loop'),
        (arm().with_changes(joints=[*arm().joints[:1], arm().joint("a").model_copy(update={"armature": (1,)}),
                                    *arm().joints[2:]]), 'joint "a": it has armature'),
    ],
    ids=["absolute", "spring", "ball", "loop", "armature"],
)  # fmt: skip
def test_what_urdf_cannot_hold_is_refused_by_name(model: Model, words: str, tmp_path: Path) -> None:
    with pytest.raises(NotSupported) as caught:
        export(model, tmp_path / "x.urdf")
    assert words in str(caught.value)
    assert not (tmp_path / "x.urdf").exists()


def test_what_urdf_leaves_out_is_noted(tmp_path: Path) -> None:
    written = export("cart-pole", tmp_path / "cart.urdf")
    assert any("efforts are inputs" in note for note in written.notes)
    assert any("no gravity: readers must set it to (0.0, -9.81, 0.0)" in note for note in written.notes)
    same_motion(library.cart_pole(), load_urdf(tmp_path / "cart.urdf", gravity=(0, -9.81, 0)).model)


def test_laws_of_inputs_that_mjcf_leaves_out_are_noted(tmp_path: Path) -> None:
    push = {"type": "generalized", "coordinate": "a", "value": "F"}
    model = arm().with_changes(inputs={"F": "1.5*sin(3*t)"}, forces=[push])
    assert any("control its motors by F = 1.5*sin(3*t)" in x for x in export(model, tmp_path / "a.xml").notes)
    assert not any("motors" in x for x in export(model.with_changes(inputs={"F": 0}), tmp_path / "b.xml").notes)


def test_what_mjcf_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    cases = {
        "prescribed": (library.driven_chain(links=1, coordinates="relative"), "driven"),
        "absolute": (library.chain(links=2), 'measured_from = "ground"'),
    }
    for model, _ in cases.values():
        with pytest.raises(NotSupported, match="MJCF cannot hold"):
            export(model, tmp_path / "x.xml")


def free_body(force: dict[str, Any]) -> Model:
    """A free body, whose motion MJCF and URDF hold as one joint with one damping and no limits."""
    return Model(
        name="free",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "b", "mass": 1, "inertia": [0.1, 0.2, 0.25]}],
        joints=[{"name": "j", "type": "free", "parent": "ground", "child": "b"}],
        forces=[force],
    )


@pytest.mark.parametrize("ending", [".xml", ".urdf"])
@pytest.mark.parametrize(
    "force",
    [
        {"type": "damper", "coordinate": "j_x", "damping": 2},
        {"type": "spring", "coordinate": "j_z", "damping": 2},
        {"type": "joint-limit", "coordinate": "j_z", "lower": 0, "stiffness": 100},
    ],
    ids=["damper", "spring", "limit"],
)
def test_a_force_on_one_coordinate_of_a_free_joint_is_refused(force: dict, ending: str, tmp_path: Path) -> None:
    """The damping of a free joint would act on all six speeds: a damper along x would also brake the spin."""
    with pytest.raises(NotSupported, match=r"^force 1"):
        export(free_body({**force, "joint": "j"}), tmp_path / f"x{ending}")


def test_a_spring_at_a_massless_body_that_mjcf_leaves_out_is_refused(tmp_path: Path) -> None:
    model = Model(
        name="carried",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "carrier", "mass": 0}, {"name": "b", "mass": 1, "inertia": [0.1, 0.2, 0.25]}],
        joints=[
            {"name": "a", "type": "revolute", "axis": [1, 0, 0], "parent": "ground", "child": "carrier"},
            {"name": "c", "type": "revolute", "axis": [0, 1, 0], "parent": "carrier", "child": "b"},
        ],
        forces=[{"type": "spring", "from": "ground", "to": {"body": "carrier", "position": [0, 0, 1]}, "stiffness": 9}],
    )
    with pytest.raises(NotSupported, match='it holds "carrier"'):
        export(model, tmp_path / "x.xml")


# --- other engines read the files ---------------------------------------------------------------------------------


def ball_and_springs() -> Model:
    model = arm()
    return Model(
        name="more",
        gravity=[0.2, -9.81, 0.5],
        inputs={"u": 0.5},
        bodies=[*model.bodies, {"name": "ball", "mass": 0.4, "com": [0, 0, -0.2], "inertia": [0.01, 0.02, 0.025]}],
        parameters=model.parameters,
        joints=[*model.joints, {"name": "s", "type": "spherical", "parent": {"body": "wing", "position": [0, 0.3, 0]},
                                "child": {"body": "ball", "position": [0, 0, 0.1]}, "armature": [0.1, 0.1, 0.1]}],
        forces=[*model.forces, {"type": "torsion-spring", "joint": "a", "stiffness": 3, "rest": 0.2, "damping": 0.1},
                {"type": "spring", "from": {"body": "tool", "position": [0.1, 0, 0]}, "to": "ball", "stiffness": 20,
                 "length": 0.3, "damping": 0.5},
                {"type": "friction", "joint": "s", "coefficient": 0.05},
                {"type": "generalized", "coordinate": "b", "value": "2*m*u"}],
    )  # fmt: skip


@pytest.mark.peer
def test_mujoco_moves_a_written_model_alike(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = ball_and_springs()
    export(model, tmp_path / "more.xml")
    found = load_mjcf(tmp_path / "more.xml")
    same_motion(model.with_changes(inputs={"u": 0.0}), found.model)
    system, other = pendula.compile_system(model), mujoco.MjModel.from_xml_path(str(tmp_path / "more.xml"))
    data = mujoco.MjData(other)
    _, q, v = states(system, 10)
    at_q = [system.layout.coordinates.index(n) for n in found.coordinates]
    at_v = [system.layout.speeds.index(n) for n in found.speeds]
    for state, rates in zip(q, v, strict=True):
        data.qpos[:], data.qvel[:], data.ctrl[:] = state[at_q], rates[at_v], 0.5
        mujoco.mj_forward(other, data)
        expected = system.accelerations(state, rates)[at_v]
        assert np.abs(data.qacc_smooth - expected).max() < CLOSE * np.abs(expected).max()


@pytest.mark.peer
@pytest.mark.parametrize(
    ("package", "path"),
    [
        ("dm-control", "dm_control/suite/humanoid_CMU.xml"),
        ("dm-control", "dm_control/third_party/kinova/jaco_arm.xml"),
        ("gymnasium", "mujoco/assets/half_cheetah.xml"),
    ],
)
def test_a_public_robot_goes_through_a_model_and_back(package: str, path: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    model = load_mjcf(public_file(package, path)).model
    passive = model.with_changes(forces=[f for f in model.forces if f.type != "generalized"], inputs={})
    export(passive, tmp_path / "robot.xml")
    same_motion(passive, load_mjcf(tmp_path / "robot.xml").model, 1e-9)


@pytest.mark.peer
def test_a_loop_in_mjcf_reads_back(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    tree = pendula.compile_system(arm())
    R, r = tree.poses(np.zeros(len(tree.layout.coordinates)))
    tool, wing = (tree.layout.bodies.index(name) for name in ("tool", "wing"))
    place = R[wing].T @ (r[tool] + R[tool] @ [0.1, 0.2, 0.0] - r[wing])  # closed in the zero pose
    pin = {"name": "pin", "type": "coincident", "parent": {"body": "tool", "position": [0.1, 0.2, 0]}}
    model = arm().with_changes(joints=[*arm().joints, {**pin, "child": {"body": "wing", "position": place.tolist()}}])
    written = export(model, tmp_path / "loop.xml")
    assert any("soft" in note for note in written.notes)
    same_motion(model, load_mjcf(tmp_path / "loop.xml").model)


@pytest.mark.peer
def test_pinocchio_moves_a_written_model_alike(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    model = arm()
    export(model, tmp_path / "arm.urdf")
    robot = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    data, system = robot.createData(), pendula.compile_system(model)
    _, q, v = states(system, 10)
    for state, rates in zip(q, v, strict=True):
        position, speed, own = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv, dtype=int)
        for name, joint in zip(list(robot.names)[1:], list(robot.joints)[1:], strict=True):
            x = state[system.layout.coordinates.index(name)]
            own[joint.idx_v] = system.layout.speeds.index(f"{name}_dot")
            position[joint.idx_q : joint.idx_q + joint.nq] = [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
        speed[:] = rates[own]
        expected = pin.aba(robot, data, position, speed, -np.asarray(robot.damping) * speed)
        got = system.accelerations(state, rates)[own]
        assert np.abs(got - expected).max() < CLOSE * np.abs(expected).max()
