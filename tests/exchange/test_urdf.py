"""URDF read without any other package: against closed forms, and what is wrong in a file named by its element."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import pendula
from pendula.app.main import cli
from pendula.errors import ModelError, UsageError
from pendula.exchange import load_robot, load_urdf
from pendula.exchange.robots.frames import matrix_quaternion, matrix_roll_pitch_yaw, quaternion_matrix, roll_pitch_yaw

ARM = """
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper arm">
    <inertial><origin xyz="0 0 -0.5" rpy="0 0 0"/><mass value="2"/>
      <inertia ixx="0.3" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.01"/></inertial>
    <visual><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="hand">
    <inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
      <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.012" iyz="0" izz="0.011"/></inertial>
    <visual><geometry><mesh filename="package://arm/hand.dae"/></geometry></visual>
  </link>
  <link name="tool"><inertial><mass value="0"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="shoulder.1" type="revolute">
    <parent link="base"/><child link="upper arm"/><origin xyz="0 0 1" rpy="0 0 0.4"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/><dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper arm"/><child link="hand"/><origin xyz="0 0 -1" rpy="0.3 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="hand"/><child link="tool"/><origin xyz="0 0 -0.2"/></joint>
  <gazebo reference="hand"/>
</robot>
"""


def write(folder: Path, text: str, name: str = "robot.urdf") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_links_joints_and_damping_are_taken_over(tmp_path: Path) -> None:
    found = load_urdf(write(tmp_path, ARM))
    model = found.model
    assert [b.name for b in model.bodies] == ["base", "upper arm", "hand", "tool"]
    assert found.coordinates == ("shoulder_1", "slide")
    assert found.renamed == {"shoulder.1": "shoulder_1"}
    assert model.joint("shoulder_1").axis == (0.0, 1.0, 0.0)
    assert model.gravity == (0.0, 0.0, -9.81)
    (friction,) = model.forces
    assert (friction.type, friction.joint, friction.coefficient) == ("friction", "shoulder_1", 0.7)


def test_what_is_left_out_is_listed_by_name(tmp_path: Path) -> None:
    found = load_urdf(write(tmp_path, ARM))
    notes = "\n".join(found.notes)
    for words in ("gazebo", "shoulder_1 -1 to 1", "Coulomb friction", "shoulder.1", "contacts", "meshes", "hand"):
        assert words in notes
    assert "inertias of 1 part (tool)" in notes
    assert str(found).startswith(str(tmp_path))


def test_accelerations_match_the_closed_form_of_a_rod_on_a_hinge(tmp_path: Path) -> None:
    """One link alone: (I + m d^2) theta'' = -m g d sin(theta) - c theta', whatever the yaw of the joint."""
    text = ARM.replace('<joint name="slide" type="prismatic">', '<joint name="slide" type="fixed">')
    for part in ('<mass value="0.5"/>', '<inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.012" iyz="0" izz="0.011"/>'):
        text = text.replace(part, "")
    text = text.replace('<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>', "")
    system = pendula.compile_system(load_urdf(write(tmp_path, text)).model)
    found = system.accelerations([0.6], [1.5])[0]
    assert found == pytest.approx((-2 * 9.81 * 0.5 * np.sin(0.6) - 0.7 * 1.5) / (0.3 + 2 * 0.25), rel=1e-13)


def test_an_inertia_that_no_body_has_moves_to_the_link_that_carries_it(tmp_path: Path) -> None:
    """The hand with the tool: inertias about the hand's origin add up, and the motion is that of the sum."""
    model = load_urdf(write(tmp_path, ARM)).model
    hand, tool = model.body("hand"), model.body("tool")
    assert tool.mass == 0
    assert np.array(hand.inertia).diagonal() == pytest.approx([0.03, 0.032, 0.031], rel=1e-12)
    assert hand.com == pytest.approx((0, 0, -0.1))


def test_a_floating_root_moves_freely(tmp_path: Path) -> None:
    found = load_urdf(
        write(
            tmp_path,
            ARM.replace('<link name="base"/>', "<link name='base'><inertial><mass value='1'/></inertial></link>"),
        ),
        floating=True,
    )
    assert found.model.joint("root").type == "free"
    assert len(found.speeds) == 8


def test_the_model_file_holds_the_same_model(tmp_path: Path) -> None:
    model = load_urdf(write(tmp_path, ARM)).model
    pendula.save(model, tmp_path / "arm.toml")
    assert pendula.load(tmp_path / "arm.toml") == model


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<parent link="base"/>', '<parent link="bass"/>', 'joint "shoulder.1": parent: there is no link "bass"'),
        ('type="prismatic"', 'type="screw"', 'joint "slide": type: there is no type "screw"'),
        ('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>', 'joint "shoulder.1": axis xyz: has no direction'),
        ('<mass value="2"/>', '<mass value="two"/>', 'link "upper arm": mass value: must be a number, found "two"'),
        ('<link name="tool">', '<link name="hand">', 'link "hand": name: appears twice'),
        ('<child link="hand"/>', '<child link="upper arm"/>', 'already has the joint "shoulder.1"'),
        ('ixx="0.3"', 'ixx="9"', 'body "upper arm": inertia: no body has the principal values'),
    ],
)
def test_mistakes_are_named_with_file_and_element(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in ARM
    with pytest.raises(ModelError) as caught:
        load_urdf(write(tmp_path, ARM.replace(old, new)))
    assert words in str(caught.value)
    assert "robot.urdf" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot", "not XML"),
        ("<sdf/>", "neither URDF nor MJCF"),
        ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro/></robot>', "xacro"),
        ('<!DOCTYPE robot [<!ENTITY a "b">]><robot/>', "document type"),
        ("plain text", "not XML"),
    ],
)
def test_files_that_are_not_urdf_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_robot(write(tmp_path, text))


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    with pytest.raises(UsageError, match='without has no kind "contacts"'):
        load_urdf(path, without=["contacts"])
    with pytest.raises(UsageError, match='has no option "keyframe"'):
        load_robot(path, keyframe=0)
    with pytest.raises(UsageError, match="there is no file"):
        load_robot(tmp_path / "missing.urdf")


def test_names_stay_unique(tmp_path: Path) -> None:
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/></inertial></link>' for n in ("ground", "a-b", "a b", "x")
    )
    joints = "".join(
        f'<joint name="{n}" type="prismatic"><parent link="ground"/><child link="{c}"/></joint>'
        for n, c in (("j-1", "a-b"), ("j.1", "a b"), ("t", "x"))
    )
    found = load_urdf(write(tmp_path, f'<robot name="r">{links}{joints}</robot>'))
    assert found.coordinates == ("j_1", "j_1_2", "t1")
    assert [b.name for b in found.model.bodies] == ["ground_2", "a-b", "a b", "x"]


def test_rotations_agree_with_scipy() -> None:
    rng = np.random.default_rng(4)
    for angles in [*rng.uniform(-3, 3, size=(50, 3)), np.array([0.3, np.pi / 2, 0.0]), np.zeros(3)]:
        R = roll_pitch_yaw(angles)
        assert np.allclose(R, Rotation.from_euler("xyz", angles).as_matrix(), atol=1e-15)
        assert np.allclose(quaternion_matrix(matrix_quaternion(R)), R, atol=1e-15)
        assert np.allclose(roll_pitch_yaw(matrix_roll_pitch_yaw(R)), R, atol=1e-12)


def test_the_command_writes_a_model_file(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    done = CliRunner().invoke(cli, ["import", str(path), "-o", str(tmp_path / "arm.toml"), "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["coordinates"] == ["shoulder_1", "slide"]
    assert data["renamed"] == {"shoulder.1": "shoulder_1"}
    assert pendula.load(tmp_path / "arm.toml").name == "arm"
    again = CliRunner().invoke(cli, ["import", str(path), "-o", str(tmp_path / "arm.toml")])
    assert again.exit_code != 0
    assert "--force" in str(again.exception)
    shown = CliRunner().invoke(cli, ["import", str(path)])
    assert shown.exit_code == 0
    assert "limits of joints" in shown.output


def test_a_joint_that_mimics_another_is_coupled_to_it(tmp_path: Path) -> None:
    """Both coordinates of the coupled arm as functions of one: the equation of the tree, projected."""
    mimic = '<axis xyz="0 0 1"/><mimic joint="shoulder.1" multiplier="-0.5" offset="0.1"/>'
    path = write(tmp_path, ARM.replace('<axis xyz="0 0 1"/>', mimic))
    system = pendula.compile_system(load_urdf(path).model)
    tree = pendula.compile_system(load_urdf(path, without=["mimic"]).model)
    q, v, along = np.array([0.7, 0.1 - 0.35]), np.array([1.2, -0.6]), np.array([1.0, -0.5])
    M, f = tree.mass_matrix(q), tree.forces(q, v)
    expected = along * (along @ f) / (along @ M @ along)
    assert system.accelerations(q, v) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ModelError, match='no joint "elbow"'):
        load_urdf(write(tmp_path, ARM.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="elbow"/>')))


def test_names_that_look_like_quantities_are_names(tmp_path: Path) -> None:
    text = ARM.replace('"upper arm"', '"2.arm"').replace('"hand"', '"3 m"')
    assert [b.name for b in load_urdf(write(tmp_path, text)).model.bodies][1:3] == ["2.arm", "3 m"]


def test_a_robot_given_as_a_model_file_is_directed_to_its_reader(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="load_robot"):
        pendula.load(write(tmp_path, ARM))
