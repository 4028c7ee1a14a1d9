"""Random open trees against Pinocchio, an engine that shares nothing with ours.

Pinocchio's joints turn or slide along an axis of the joint frame, its ball and free joints use a quaternion
(scalar last) with velocity in child axes, as ours do; only for the free joint its linear speeds are in child
axes where ours are in parent axes, which is translated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula.equations.derive import formulations

pytestmark = pytest.mark.peer

AGREES = 1e-9
"""Relative: two recursions of different kind, 5 bodies, mass matrices conditioned up to about 1e4."""
GRAVITY = np.array([0.7, -1.3, -9.6])


def _body(rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia about it of a cloud of points."""
    r, m = rng.uniform(-0.5, 0.5, size=(7, 3)), rng.uniform(0.1, 0.6, size=7)
    c = m @ r / m.sum()
    inertia = sum(w * ((x - c) @ (x - c) * np.eye(3) - np.outer(x - c, x - c)) for w, x in zip(m, r, strict=True))
    return float(m.sum()), c, inertia


def _tree(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    links = []
    for i in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(["revolute", "prismatic", "spherical", "free"]))
        parent = -1 if kind == "free" else int(rng.integers(-1, i))
        axis = rng.normal(size=3)
        place, turn = rng.uniform(-0.6, 0.6, size=3), rng.normal(size=3)
        links.append((kind, parent, axis / np.linalg.norm(axis), place, turn, _body(rng)))
    return {"links": links, "rng": rng}


def _ours(links: list[Any]) -> pendula.Model:
    bodies, joints = [], []
    for i, (kind, parent, axis, place, turn, (m, c, inertia)) in enumerate(links):
        bodies.append({"name": f"b{i}", "mass": m, "com": c.tolist(), "inertia": inertia.tolist()})
        angle = float(np.linalg.norm(turn))
        rotation = {"axis": (turn / angle).tolist(), "angle": angle}
        side = {"body": "ground" if parent < 0 else f"b{parent}", "position": place.tolist(), "rotation": rotation}
        joint: dict[str, Any] = {"name": f"j{i}", "type": kind, "parent": side, "child": f"b{i}"}
        joints.append(joint | ({"axis": axis.tolist()} if kind in ("revolute", "prismatic") else {}))
    return pendula.Model(name="tree", gravity=GRAVITY.tolist(), bodies=bodies, joints=joints)


def _theirs(pin: Any, links: list[Any]) -> Any:
    model = pin.Model()
    model.gravity.linear[:] = GRAVITY
    for i, (kind, parent, axis, place, turn, (m, c, inertia)) in enumerate(links):
        joint = {
            "revolute": lambda a=axis: pin.JointModelRevoluteUnaligned(a),
            "prismatic": lambda a=axis: pin.JointModelPrismaticUnaligned(a),
            "spherical": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[kind]()
        frame = pin.SE3(Rotation.from_rotvec(turn).as_matrix(), place)
        index = model.addJoint(parent + 1, joint, frame, f"j{i}")
        model.appendBodyToJoint(index, pin.Inertia(m, c, inertia), pin.SE3.Identity())
    return model


def _state(links: list[Any], rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    """A random state by our names, and as Pinocchio's q and v."""
    ours: dict[str, float] = {}
    q, v = [], []
    for i, (kind, *_) in enumerate(links):
        shift, turn = rng.normal(size=3), Rotation.random(random_state=rng)
        rate, omega = rng.normal(size=3), rng.normal(size=3)
        x, y, z, w = turn.as_quat()
        ball = dict(zip((f"j{i}_q{k}" for k in range(4)), (w, x, y, z), strict=True))
        spin = dict(zip((f"j{i}_w{a}" for a in "xyz"), omega, strict=True))
        if kind in ("revolute", "prismatic"):
            ours |= {f"j{i}": shift[0], f"j{i}_dot": rate[0]}
            q.append(shift[0])
            v.append(rate[0])
        elif kind == "spherical":
            ours |= ball | spin
            q += [x, y, z, w]
            v += [*omega]
        else:
            ours |= ball | spin
            ours |= {f"j{i}_{a}": s for a, s in zip("xyz", shift, strict=True)}
            ours |= {f"j{i}_{a}_dot": s for a, s in zip("xyz", rate, strict=True)}
            q += [*shift, x, y, z, w]
            v += [*turn.inv().apply(rate), *omega]
    return ours, np.array(q), np.array(v)


def _by_name(links: list[Any], q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, float]:
    """Pinocchio's accelerations by our names."""
    found: dict[str, float] = {}
    at, to = 0, 0
    for i, (kind, *_) in enumerate(links):
        if kind in ("revolute", "prismatic"):
            found[f"j{i}_dot"] = a[to]
            at, to = at + 1, to + 1
            continue
        if kind == "free":
            turn = Rotation.from_quat(q[at + 3 : at + 7])
            # v_parent = R v_child, so v_parent' = R (a_child + omega x v_child)
            linear = turn.apply(a[to : to + 3] + np.cross(v[to + 3 : to + 6], v[to : to + 3]))
            found |= {f"j{i}_{x}_dot": s for x, s in zip("xyz", linear, strict=True)}
            at, to = at + 3, to + 3
        found |= {f"j{i}_w{x}": s for x, s in zip("xyz", a[to : to + 3], strict=True)}
        at, to = at + 4, to + 3
    return found


@pytest.mark.parametrize("seed", range(25))
def test_accelerations_of_random_tree_agree_with_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    tree = _tree(seed)
    links, rng = tree["links"], tree["rng"]
    model = _theirs(pin, links)
    data = model.createData()
    for formulation in formulations():
        system = pendula.compile_system(_ours(links), formulation)
        for _ in range(10):
            ours, q, v = _state(links, rng)
            state = system.state(ours)
            expected = _by_name(links, q, v, pin.aba(model, data, q, v, np.zeros(model.nv)))
            found = dict(zip(system.joint_layout.speeds, system.joint_accelerations(state.q, state.v), strict=True))
            size = max(1.0, *(abs(x) for x in expected.values()))
            assert max(abs(found[n] - expected[n]) for n in expected) <= AGREES * size


@pytest.mark.parametrize("seed", range(6))
def test_energies_and_mass_matrix_of_random_tree_agree_with_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    tree = _tree(100 + seed)
    links = [link for link in tree["links"] if link[0] != "free"] or [("revolute", -1, *_tree(7)["links"][0][2:])]
    links = [(kind, min(parent, i - 1), *rest) for i, (kind, parent, *rest) in enumerate(links)]
    model = _theirs(pin, links)
    data = model.createData()
    system = pendula.compile_system(_ours(links))
    ours, q, v = _state(links, tree["rng"])
    state = system.state(ours)
    M = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(system.mass_matrix(state.q), M + np.triu(M, 1).T, atol=1e-12)
    energies = system.energies(state.q, state.v)
    assert energies.kinetic == pytest.approx(pin.computeKineticEnergy(model, data, q, v), rel=1e-12)
    assert energies.potential == pytest.approx(pin.computePotentialEnergy(model, data, q), rel=1e-11, abs=1e-11)
