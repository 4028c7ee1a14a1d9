"""Limits of joints in URDF and MJCF files: listed, taken over as stops, written again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pendula
from pendula.errors import UsageError

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
  <link name="sled"><inertial><mass value="0.3"/></inertial></link>
  <joint name="theta" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-0.5" upper="1.25" effort="1" velocity="1"/></joint>
  <joint name="x" type="prismatic"><parent link="arm"/><child link="sled"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.1" effort="1" velocity="1"/></joint>
</robot>
"""
RANGES = "theta -0.5 to 1.25; x -0.2 to 0.1"


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    return file


def test_limits_are_listed_by_name_and_left_out(urdf: Path) -> None:
    found = pendula.exchange.load_robot(urdf)
    assert f"limits of joints: left out: {RANGES}" in found.notes
    assert not found.model.forces


def test_limits_become_stops_of_the_given_stiffness(urdf: Path) -> None:
    found = pendula.exchange.load_robot(urdf, limits=5000.0, dissipation=0.2)
    assert f"limits of joints: taken over as stops of stiffness 5000: {RANGES}" in found.notes
    model = found.model
    assert [(f.type, f.joint, f.lower, f.upper) for f in model.forces] == [
        ("joint-limit", "theta", -0.5, 1.25), ("joint-limit", "x", -0.2, 0.1),
    ]  # fmt: skip
    assert model.parameter_values["hinge_limit_stiffness"] == model.parameter_values["slide_limit_stiffness"] == 5000.0
    run = pendula.simulate(model, 3.0, initial_state={"theta": 1.2, "theta_dot": 3.0})
    assert run.outcome.ok
    assert 1.25 < run["theta"].max() < 1.4
    assert -0.35 < run["x"].min() < -0.2  # it hangs in its lower stop
    assert run.energy_drift < 1e-6


def test_stops_are_written_as_limits_and_read_back(urdf: Path, tmp_path: Path) -> None:
    model = pendula.exchange.load_robot(urdf, limits=5000.0).model
    written = pendula.exchange.export(model, tmp_path / "again.urdf")
    assert any("URDF has no stiffness of limits" in note for note in written.notes)
    again = pendula.exchange.load_robot(tmp_path / "again.urdf")
    assert f"limits of joints: left out: {RANGES}" in again.notes


def test_one_sided_stops_and_second_ones(urdf: Path, tmp_path: Path) -> None:
    model = pendula.exchange.load_robot(urdf, limits=5000.0).model
    one = {"type": "joint-limit", "joint": "theta", "lower": 0.1, "stiffness": 1.0}
    pendula.exchange.export(model.with_changes(forces=[one]), tmp_path / "one.urdf")
    assert re.search(r'lower="0.1" upper="1000000.0"', (tmp_path / "one.urdf").read_text())
    with pytest.raises(pendula.errors.NotSupported, match="has other limits"):
        pendula.exchange.export(model.with_changes(forces=[one, one]), tmp_path / "two.urdf")


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), "stiff", True])
def test_a_stiffness_that_no_stop_has_is_refused(urdf: Path, bad: Any) -> None:
    with pytest.raises(UsageError, match="limits is the stiffness of stops"):
        pendula.exchange.load_robot(urdf, limits=bad)


def test_the_command_takes_limits_over(urdf: Path, tmp_path: Path) -> None:
    from pendula.app.main import cli

    runner = CliRunner()
    made = runner.invoke(cli, ["import", str(urdf), "--limits", "2e3", "-o", str(tmp_path / "arm.toml")])
    assert made.exit_code == 0, made.output
    assert pendula.load(tmp_path / "arm.toml").parameter_values["hinge_limit_stiffness"] == 2000.0
    alone = runner.invoke(cli, ["import", str(urdf), "--dissipation", "1"])
    assert alone.exit_code != 0


MJCF = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <worldbody><body>
    <joint name="theta" type="hinge" axis="0 1 0" range="-0.5 1.25" ref="0.2"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/>
    <body pos="0 0 -1"><joint name="ball" type="ball" range="0 0.7"/><geom type="sphere" size="0.1" pos="0 0 -0.2"/></body>
  </body></worldbody>
</mujoco>
"""


@pytest.mark.peer
def test_mjcf_ranges_hold_for_the_same_coordinate_as_in_mujoco(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(MJCF)
    found = pendula.exchange.load_mjcf(tmp_path / "arm.xml", limits=1e4)
    assert "limits of joints: taken over as stops of stiffness 10000: theta -0.5 to 1.25" in found.notes
    assert "limits of ball joints: left out: ball up to 0.7" in found.notes
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(theirs)
    system = pendula.compile_system(found.model)
    free = pendula.compile_system(pendula.exchange.load_mjcf(tmp_path / "arm.xml").model)
    for theta in np.linspace(-0.8, 1.5, 24):
        data.qpos[:] = [theta, 1, 0, 0, 0]
        mujoco.mj_forward(theirs, data)
        limited = any(data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
        q = list(data.qpos)
        pushed = abs(system.accelerations(q, [0] * 4) - free.accelerations(q, [0] * 4)).max() > 1e-9
        assert pushed == limited, theta
    written = pendula.exchange.export(found.model, tmp_path / "again.xml")
    assert any("soft constraints in MuJoCo" in note for note in written.notes)
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    assert np.allclose(again.jnt_range[0], [-0.5, 1.25])
    assert again.jnt_limited[0]
