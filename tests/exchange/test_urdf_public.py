"""Public URDF robots against Pinocchio, at random states."""

from __future__ import annotations

from pathlib import Path

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
