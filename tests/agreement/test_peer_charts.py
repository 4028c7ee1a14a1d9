"""Random trees in space whose ball and free joints have random charts and speeds, against Pinocchio's quaternions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula.equations.formulations.registry import formulations
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import convert_rows
from tests.agreement.test_orientations import CHARTS
from tests.agreement.test_peers import AGREES, Link, Peer, _links, _ours

pytestmark = [pytest.mark.peer, pytest.mark.slow]

TREES = range(100)
STATES = 5
KINDS = ("spherical", "spherical", "universal", "free", "revolute")
CLEAR = 0.4
"""distance of the states from singularities of their charts [rad]"""


def tree(seed: int) -> list[Link]:
    rng = np.random.default_rng([seed, 77])
    links = _links(rng, KINDS, int(rng.integers(1, 5)))
    return links if any(link.kind in ("spherical", "free") for link in links) else tree(seed + 1000)


def in_charts(links: list[Link], rng: np.random.Generator) -> pendula.Model:
    """The same tree with a random chart and random speeds for each orientation."""
    model = _ours(links)
    joints = []
    for joint in model.joints:
        if joint.type in ("spherical", "free"):
            chart = str(rng.choice(CHARTS))
            speeds = str(rng.choice(["body", "parent"] if chart == "quaternion" else ["rates", "body", "parent"]))
            fields = {"name": joint.name, "parent": joint.parent, "child": joint.child}
            joint = type(joint)(**fields, orientation=chart, speeds=speeds)  # type: ignore[call-arg]
        joints.append(joint)
    return model.with_changes(joints=joints)


def random_states(layout: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    q = rng.uniform(-2.0, 2.0, size=(STATES, len(layout.coordinates)))
    for x in layout.orientations:
        if x.chart.count == 4:
            q[:, x.q] /= np.linalg.norm(q[:, x.q], axis=1)[:, None]
        while (near := ori.distance(x.chart, q[:, x.q]) < CLEAR).any():
            q[near, x.q] = rng.uniform(-2.0, 2.0, size=(int(near.sum()), 3))
    return q, rng.normal(size=(STATES, len(layout.speeds)))


@pytest.mark.parametrize("seed", TREES)
def test_trees_in_random_charts_agree_with_pinocchio(seed: int) -> None:
    links, rng = tree(seed), np.random.default_rng([seed, 78])
    model, peer = in_charts(links, rng), Peer(links)
    plain = pendula.compile_system(_ours(links), "kane")
    systems = [pendula.compile_system(model, name) for name in formulations()]
    systems.append(pendula.compile_system(model, engine="recursive"))
    layout = systems[0].layout
    q, v = random_states(layout, rng)
    same = convert_rows(layout, plain.layout, q, v)
    a = np.zeros_like(same.v)
    for k in range(STATES):
        values = dict(zip(plain.layout.coordinates, same.q[k], strict=True))
        values |= dict(zip(plain.layout.speeds, same.v[k], strict=True))
        at = peer.coordinates(values)
        found = peer.accelerations(at, peer.speeds(values, at), np.zeros(peer.model.nv))[1]
        a[k] = [found[name] for name in plain.layout.speeds]
    expected = plain.body_motion(same.q, same.v, a)
    for system in systems:
        own = system.in_joints.place(q, v)
        motion = system.body_motion(*own, system.accelerations(*own))
        for ours, theirs in zip(motion, expected, strict=True):
            assert np.abs(ours - theirs).max() < AGREES * max(1.0, float(np.abs(theirs).max())), system
