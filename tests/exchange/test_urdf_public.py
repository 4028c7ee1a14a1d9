"""Public URDF robots against Pinocchio, at random states."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pendula
from pendula.errors import ModelError
from pendula.exchange import Imported, load_urdf
from tests.exchange.public_models import public_file

pytestmark = pytest.mark.peer

CLOSE = 1e-9
"""of the largest acceleration"""
STATES = 20

ROBOTS = [
    "a1",
    "alex_nub_hands",
    "anymal-kinova",
    "b1-z1",
    "bolt",
    "centauro",
    "double_pendulum",
    "g1_29dof_with_hand_rev_1_0",
    "go2",
    "human",
    "hyq_no_sensors",
    "icub_reduced",
    "kinova",
    "laikago",
    "simple_humanoid",
    "solo12",
    "tiago_dual",
    "TwoDofs",
    "ur5_robot",
    "xarm7",
    "z1",
]
"""Trees of revolute, continuous and prismatic joints"""
REFUSED = {"allegro_left_hand": "no body has the principal values", "romeo_small": "no body has the principal values"}


def largest_difference(path: Path, found: Imported) -> float:
    """Largest difference of accelerations to Pinocchio's, relative to the largest one; damping as an applied force."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    system = pendula.compile_system(found.model, engine="recursive")
    rng = np.random.default_rng(5)
    worst = size = 0.0
    for _ in range(STATES):
        q, v, own = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv, dtype=int)
        Q, V = np.zeros(len(system.layout.coordinates)), np.zeros(len(system.layout.speeds))
        for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
            mine = found.renamed.get(name, name)
            x, rate = rng.normal(size=2)
            Q[system.layout.coordinates.index(mine)] = x
            own[joint.idx_v] = system.layout.speeds.index(f"{mine}_dot")
            V[own[joint.idx_v]] = v[joint.idx_v] = rate
            # a continuous joint has cosine and sine as its coordinates
            q[joint.idx_q : joint.idx_q + joint.nq] = [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
        expected = pin.aba(model, data, q, v, -np.asarray(model.damping) * v)
        got = system.accelerations(Q, V)[own]
        worst, size = max(worst, np.abs(got - expected).max()), max(size, np.abs(expected).max())
    return float(worst / size)


@pytest.mark.parametrize("name", ROBOTS)
def test_public_robots_accelerate_as_in_pinocchio(name: str) -> None:
    file = public_file("example-robot-data", f"/{name}.urdf")
    assert largest_difference(file, load_urdf(file)) < CLOSE


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "pr2"])
def test_robots_that_mimic_joints_are_right_with_these_joints_free(name: str) -> None:
    file = public_file("example-robot-data", f"/{name}.urdf")
    assert largest_difference(file, load_urdf(file, without=["mimic"])) < CLOSE


@pytest.mark.parametrize("name", REFUSED)
def test_inertias_that_no_body_has_are_refused_by_name(name: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[name]):
        load_urdf(public_file("example-robot-data", f"/{name}.urdf"))


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "baxter"])
def test_mimicking_joints_move_as_the_projection_of_pinocchios_equations(name: str) -> None:
    """q = J s + q0 with J from the file's multipliers: (J^T M J) s'' = J^T (tau - h), M and h from Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    file = public_file("example-robot-data", f"/{name}.urdf")
    found = load_urdf(file)
    system = pendula.compile_system(found.model)
    model = pin.buildModelFromUrdf(str(file))
    data, names = model.createData(), list(model.names)
    mimics = {
        joint.get("name"): joint.find("mimic")
        for joint in ElementTree.parse(file).getroot().iter("joint")
        if joint.find("mimic") is not None
    }
    free = [n for n in names[1:] if n not in mimics]
    J, q0 = np.zeros((model.nv, len(free))), np.zeros(model.nv)
    for n in names[1:]:
        row = model.joints[model.getJointId(n)].idx_v
        if n in mimics:
            J[row, free.index(mimics[n].get("joint"))] = float(mimics[n].get("multiplier", 1))
            q0[row] = float(mimics[n].get("offset", 0))
        else:
            J[row, free.index(n)] = 1.0
    rng = np.random.default_rng(2)
    worst = size = 0.0
    for _ in range(STATES):
        s, rate = rng.normal(size=(2, len(free)))
        x, v = J @ s + q0, J @ rate
        q, Q, V = np.zeros(model.nq), np.zeros(len(system.layout.coordinates)), np.zeros(model.nv)
        own = np.zeros(model.nv, dtype=int)
        for n in names[1:]:
            joint, mine = model.joints[model.getJointId(n)], found.renamed.get(n, n)
            value = x[joint.idx_v]
            q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            Q[system.layout.coordinates.index(mine)] = value
            own[joint.idx_v] = system.layout.speeds.index(f"{mine}_dot")
        V[own] = v
        M, h = pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v)
        M = np.triu(M) + np.triu(M, 1).T
        expected = J @ np.linalg.solve(J.T @ M @ J, J.T @ (-np.asarray(model.damping) * v - h))
        got = system.accelerations(Q, V)[own]
        worst, size = max(worst, np.abs(got - expected).max()), max(size, np.abs(expected).max())
    assert worst < CLOSE * size
