"""Random trees and loops against Pinocchio, an engine that shares nothing with ours.

Compared are accelerations by every formulation, and the forces in joints by those that find them, on trees in the plane
and in space. Pinocchio's joint frame is our child side, from where the body is placed. Its ball and free joints
use a quaternion (scalar last) with angular velocity in child axes, as ours do; the linear speeds of its free and
planar joints are in child axes where ours are in parent axes, which is translated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula.equations.formulations.registry import formulations
from pendula.system.joint_forces import joint_wrenches
from tests.helpers.numbers import Array, regular, states

pytestmark = pytest.mark.peer

AGREES = 1e-9
"""Relative: two recursions of different kind, 6 bodies, mass matrices conditioned up to about 1e4."""
GRAVITY = (0.7, -9.6, -1.3)
STATES = 10

TREES = range(64)
PUSHED = range(100, 112)
LOOPS = range(200, 212)

_FLAT = ("revolute", "revolute", "prismatic", "planar")
_SPATIAL = ("revolute", "revolute", "prismatic", "spherical", "universal", "free", "planar")
_PAIRS = ("xy", "yz", "zx", "yx")


# --- random trees -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """A place and a turn (rotation vector) on a body."""

    place: Array
    turn: Array

    def side(self, body: str) -> dict[str, Any]:
        """As one side of a joint of our models."""
        angle = float(np.linalg.norm(self.turn))
        rotation = {"axis": (self.turn / angle).tolist(), "angle": angle}
        return {"body": body, "position": self.place.tolist(), "rotation": rotation}


@dataclass(frozen=True)
class Link:
    """A body and the joint that places it."""

    kind: str
    parent: int
    axis: Array
    pair: str
    on_parent: Frame
    on_child: Frame
    mass: float
    center: Array
    inertia: Array


def _link(rng: np.random.Generator, kinds: Sequence[str], before: Sequence[Link], *, flat: bool) -> Link:
    kind = str(rng.choice(kinds))
    parent = -1 if kind == "free" else int(rng.choice(_branch(before)))
    axis = rng.normal(size=3)
    if flat:
        axis *= [0, 0, 1] if kind == "revolute" else [1, 1, 0]
    sides = [_frame(rng, flat=flat) for _ in range(2)]
    # a cloud of points has an inertia that some body can have
    r, m = rng.uniform(-0.5, 0.5, size=(7, 3)), rng.uniform(0.1, 0.6, size=7)
    center = m @ r / m.sum()
    inertia = np.einsum("k,kij->ij", m, [(x @ x) * np.eye(3) - np.outer(x, x) for x in r - center])
    pair = str(rng.choice(_PAIRS))
    return Link(kind, parent, axis / np.linalg.norm(axis), pair, *sides, float(m.sum()), center, inertia)


def _branch(links: Sequence[Link]) -> list[int]:
    """The last body, all it hangs on, and ground: where Pinocchio lets the next one be added (depth first)."""
    found = [len(links) - 1]
    while found[-1] >= 0:
        found.append(links[found[-1]].parent)
    return found


def _links(rng: np.random.Generator, kinds: Sequence[str], count: int, *, flat: bool = False) -> list[Link]:
    links: list[Link] = []
    for _ in range(count):
        links.append(_link(rng, kinds, links, flat=flat))
    return links


def _frame(rng: np.random.Generator, *, flat: bool) -> Frame:
    place, turn = rng.uniform(-0.6, 0.6, size=3), rng.normal(size=3)
    return Frame(place * [1, 1, 0], turn * [0, 0, 1]) if flat else Frame(place, turn)


def _tree(seed: int) -> list[Link]:
    """The tree of a seed: 1 to 6 bodies, every fourth in the plane (with mass centres off it)."""
    rng = np.random.default_rng([seed, 41])
    flat = seed % 4 == 0
    return _links(rng, _FLAT if flat else _SPATIAL, int(rng.integers(1, 7)), flat=flat)


def _is_flat(links: Sequence[Link]) -> bool:
    return all(np.all(link.on_parent.turn[:2] == 0) and np.all(link.on_child.turn[:2] == 0) for link in links)


def _ours(links: Sequence[Link], **more: Any) -> pendula.Model:
    bodies, joints = [], []
    for i, link in enumerate(links):
        shape = {"com": link.center.tolist(), "inertia": link.inertia.tolist()}
        bodies.append({"name": f"b{i}", "mass": link.mass, **shape})
        parent = link.on_parent.side("ground" if link.parent < 0 else f"b{link.parent}")
        joint = {"name": f"j{i}", "type": link.kind, "parent": parent, "child": link.on_child.side(f"b{i}")}
        joint |= {"axis": link.axis.tolist()} if link.kind in ("revolute", "prismatic") else {}
        joints.append(joint | ({"sequence": link.pair} if link.kind == "universal" else {}))
    joints += more.pop("closing", [])
    return pendula.Model(name="tree", gravity=list(GRAVITY), bodies=bodies, joints=joints, **more)


# --- the same in Pinocchio ----------------------------------------------------------------------------


class Peer:
    """A tree in Pinocchio, with states and results by our names."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.pin = pytest.importorskip("pinocchio")
        self.links = links
        self.model = self.pin.Model()
        self.model.gravity.linear[:] = GRAVITY
        self.bodies = [self._se3(link.on_child).inverse() for link in links]  # as seen from their joints
        for i, link in enumerate(links):
            place = self._se3(link.on_parent)
            place = self.bodies[link.parent] * place if link.parent >= 0 else place
            index = self.model.addJoint(link.parent + 1, self._joint(link), place, f"j{i}")
            inertia = self.pin.Inertia(link.mass, link.center, link.inertia)
            self.model.appendBodyToJoint(index, inertia, self.bodies[i])
        self.data = self.model.createData()

    def _se3(self, frame: Frame) -> Any:
        return self.pin.SE3(Rotation.from_rotvec(frame.turn).as_matrix(), frame.place)

    def _joint(self, link: Link) -> Any:
        pin, pair = self.pin, [np.eye(3)["xyz".index(a)] for a in link.pair]
        makers = {
            "revolute": lambda: pin.JointModelRevoluteUnaligned(link.axis),
            "prismatic": lambda: pin.JointModelPrismaticUnaligned(link.axis),
            "universal": lambda: pin.JointModelUniversal(*pair),
            "planar": pin.JointModelPlanar,
            "spherical": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }
        return makers[link.kind]()

    def coordinates(self, values: Mapping[str, float]) -> Array:
        """Pinocchio's q from our coordinates."""
        q: list[float] = []
        for i, link in enumerate(self.links):
            if link.kind in ("revolute", "prismatic"):
                q.append(values[f"j{i}"])
            elif link.kind == "universal":
                q += [values[f"j{i}_1"], values[f"j{i}_2"]]
            elif link.kind == "planar":
                angle = values[f"j{i}_angle"]
                q += [values[f"j{i}_x"], values[f"j{i}_y"], np.cos(angle), np.sin(angle)]
            else:
                q += [values[f"j{i}_{x}"] for x in "xyz"] if link.kind == "free" else []
                q += [values[f"j{i}_q{k}"] for k in (1, 2, 3, 0)]
        return np.array(q)

    def speeds(self, values: Mapping[str, float], q: Array) -> Array:
        """Pinocchio's v from our speeds, or its joint forces from ours."""
        v: list[float] = []
        for _, names, turn in self._parts(q):
            part = np.array([values[n] for n in names])
            v += [*(part if turn is None else turn.T @ part)]
        return np.array(v)

    def accelerations(self, q: Array, v: Array, force: Array) -> tuple[Array, dict[str, float]]:
        """Pinocchio's accelerations at its state and joint forces: its own, and by our names."""
        a = np.array(self.pin.aba(self.model, self.data, q, v, force))
        return a, self.by_name(q, v, a)

    def by_name(self, q: Array, v: Array, a: Array) -> dict[str, float]:
        """Pinocchio's accelerations by our names."""
        found: dict[str, float] = {}
        for at, names, turn in self._parts(q):
            part = a[at : at + len(names)]
            if turn is not None:
                # v_parent = R v_child, so v_parent' = R (a_child + omega x v_child)
                n = len(names)
                omega = v[at + n : at + 2 * n] if n == 3 else np.array([0, 0, v[at + n]])
                part = turn @ (part + np.cross(omega, [*v[at : at + n], 0, 0][:3])[:n])
            found |= dict(zip(names, part, strict=True))
        return found

    def _parts(self, q: Array) -> Iterator[tuple[int, list[str], Array | None]]:
        """Where groups of speeds begin in v, our names of them, and the turn to parent axes where it takes one."""
        at, to = 0, 0
        for i, link in enumerate(self.links):
            if link.kind in ("revolute", "prismatic"):
                yield to, [f"j{i}_dot"], None
                at, to = at + 1, to + 1
            elif link.kind == "universal":
                yield to, [f"j{i}_1_dot", f"j{i}_2_dot"], None
                at, to = at + 2, to + 2
            elif link.kind == "planar":
                c, s = q[at + 2 : at + 4]
                yield to, [f"j{i}_x_dot", f"j{i}_y_dot"], np.array([[c, -s], [s, c]])
                yield to + 2, [f"j{i}_angle_dot"], None
                at, to = at + 4, to + 3
            else:
                if link.kind == "free":
                    turn = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
                    yield to, [f"j{i}_{x}_dot" for x in "xyz"], turn
                    at, to = at + 3, to + 3
                yield to, [f"j{i}_w{x}" for x in "xyz"], None
                at, to = at + 4, to + 3

    def joint_forces(self, q: Array, v: Array, a: Array, loads: Mapping[int, Any] | None = None) -> tuple[Array, Array]:
        """Force and torque of every joint on its child at the child side's point, in world axes.

        Args:
            q, v, a: Pinocchio's state and accelerations.
            loads: forces from outside on bodies, in the axes of their joint frames.
        """
        outside = [self.pin.Force.Zero() for _ in range(len(self.links) + 1)]
        for i, load in (loads or {}).items():
            outside[i + 1] = load
        self.pin.rnea(self.model, self.data, q, v, a, outside)
        self.pin.forwardKinematics(
            self.model, self.data, q
        )  # the recursion alone leaves places in the world as they were
        turns = [self.data.oMi[i + 1].rotation for i in range(len(self.links))]
        held = [self.data.f[i + 1] for i in range(len(self.links))]
        force = np.array([R @ f.linear for R, f in zip(turns, held, strict=True)])
        torque = np.array([R @ f.angular for R, f in zip(turns, held, strict=True)])
        return force, torque


class Loop:
    """A tree in Pinocchio with two of its points held together.

    Pinocchio gives masses, forces, and how the points move; the two are tied by one linear solve.

    Args:
        peer: the tree.
        ends: body and point in body axes on the parent side (body -1: ground) and on the child side.
    """

    def __init__(self, peer: Peer, ends: Sequence[tuple[int, Array]]) -> None:
        self.peer, self.ends = peer, ends
        pin = peer.pin
        self.frames = []
        for k, (body, point) in enumerate(ends):
            place = pin.SE3(np.eye(3), point)
            place = peer.bodies[body] * place if body >= 0 else place
            frame = pin.Frame(f"end {k}", body + 1, 0, place, pin.FrameType.OP_FRAME)
            self.frames.append(peer.model.addFrame(frame))
        peer.data = peer.model.createData()

    def accelerations(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Pinocchio's accelerations, and the force of the parent side on the child side in world axes."""
        pin, model, data = self.peer.pin, self.peer.model, self.peer.data
        M = np.triu(pin.crba(model, data, q))
        M += np.triu(M, 1).T
        bias = np.array(pin.nonLinearEffects(model, data, q, v))
        slopes, rest = np.zeros((2, 3, len(v))), np.zeros((2, 3))
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for k, frame in enumerate(self.frames):
            slopes[k] = pin.computeFrameJacobian(model, data, q, frame, axes)[:3]
        pin.forwardKinematics(model, data, q, v, np.zeros(len(v)))
        for k, frame in enumerate(self.frames):
            rest[k] = pin.getFrameClassicalAcceleration(model, data, frame, axes).linear
        J = slopes[1] - slopes[0]
        assert np.abs(J @ v).max() < 1e-9 * (1 + np.abs(v).max())  # the state is one of the loop
        left = np.block([[M, -J.T], [J, np.zeros((3, 3))]])
        solved = np.linalg.solve(left, np.concatenate([-bias, rest[0] - rest[1]]))
        return solved[: len(v)], solved[len(v) :]

    def loads(self, q: Array, force: Array) -> dict[int, Any]:
        """The force in the loop as loads on the bodies at its ends, in the axes of their joint frames."""
        pin, model, data = self.peer.pin, self.peer.model, self.peer.data
        pin.forwardKinematics(model, data, q)
        found = {}
        for (body, _), frame, sign in zip(self.ends, self.frames, (-1, 1), strict=True):
            if body >= 0:
                place = pin.SE3(data.oMi[body + 1].rotation.T, model.frames[frame].placement.translation)
                found[body] = place.act(pin.Force(sign * force, np.zeros(3)))
        return found


def _random_states(
    links: Sequence[Link], rng: np.random.Generator, system: pendula.results.System
) -> tuple[Array, Array]:
    """States of an open tree in our coordinates of joints."""
    layout = system.in_joints.layout
    q = rng.normal(size=(STATES, len(layout.coordinates)))
    for i, link in enumerate(links):
        if link.kind in ("spherical", "free"):
            ball = [layout.coordinates.index(f"j{i}_q{k}") for k in range(4)]
            q[:, ball] /= np.linalg.norm(q[:, ball], axis=1)[:, None]
    return q, rng.normal(size=(STATES, len(layout.speeds)))


def _gap(found: Array, expected: Array, floor: float = 1.0) -> float:
    """Largest difference relative to the largest value or the floor, whichever is larger."""
    assert np.all(np.isfinite(found))
    return float(np.abs(found - expected).max() / max(floor, np.abs(expected).max()))


# --- comparisons --------------------------------------------------------------------------------------


def test_trees_cover_plane_and_space_and_all_joints() -> None:
    trees = [_tree(seed) for seed in TREES]
    flat = sum(_is_flat(links) for links in trees)
    assert flat >= 12
    assert len(trees) - flat >= 40
    assert {len(links) for links in trees} == {1, 2, 3, 4, 5, 6}
    counts = {kind: sum(any(link.kind == kind for link in links) for links in trees) for kind in _SPATIAL}
    assert min(counts.values()) >= 10, counts
    assert sum(any(0 <= x.parent < i - 1 for i, x in enumerate(links)) for links in trees) >= 10  # with branches


@pytest.mark.parametrize("seed", TREES)
def test_accelerations_and_joint_forces_of_random_tree_agree_with_pinocchio(seed: int) -> None:
    links = _tree(seed)
    peer, model = Peer(links), _ours(links)
    systems = {f: pendula.compile_system(model, f) for f in formulations()}
    q, v = _random_states(links, np.random.default_rng([seed, 43]), next(iter(systems.values())))
    finding = [name for name, system in systems.items() if system.equations.transmitted]
    assert set(finding) >= {"newton-euler", "maximal", "projection"}
    for name, system in systems.items():
        _assert_tree_agrees(system, peer, q, v, forces=name in finding)


def _assert_tree_agrees(system: pendula.results.System, peer: Peer, q: Array, v: Array, *, forces: bool) -> None:
    layout = system.in_joints.layout
    own = system.in_joints.place(q, v, 0.0)
    found = system.in_joints.accelerations(*own)
    held = joint_wrenches(system, *own) if forces else None
    for k in range(len(q)):
        theirs = peer.coordinates(dict(zip(layout.coordinates, q[k], strict=True)))
        speeds = peer.speeds(dict(zip(layout.speeds, v[k], strict=True)), theirs)
        a, by_name = peer.accelerations(theirs, speeds, np.zeros(len(speeds)))
        assert _gap(found[k], np.array([by_name[n] for n in layout.speeds])) <= AGREES
        if held is not None:
            force, torque = peer.joint_forces(theirs, speeds, a)
            size = max(1.0, np.abs(force).max(), np.abs(torque).max())  # bodies are about one length unit large
            order = [[x.joint for x in system.equations.transmitted].index(f"j{i}") for i in range(len(force))]
            assert _gap(held.force[k, order], force, size) <= AGREES
            assert _gap(held.torque[k, order], torque, size) <= AGREES


@pytest.mark.parametrize("seed", PUSHED)
def test_accelerations_under_joint_forces_agree_with_pinocchio(seed: int) -> None:
    """A generalized force on every speed."""
    links = _tree(seed)
    peer = Peer(links)
    layout = pendula.compile_system(_ours(links)).in_joints.layout
    rng = np.random.default_rng([seed, 47])
    push = dict(zip(layout.speeds, rng.normal(size=len(layout.speeds)), strict=True))
    loads = [{"type": "generalized", "coordinate": n.removesuffix("_dot"), "value": x} for n, x in push.items()]
    model = _ours(links, forces=loads)
    q, v = _random_states(links, rng, pendula.compile_system(model))
    for formulation in formulations():
        system = pendula.compile_system(model, formulation)
        found = system.in_joints.accelerations(*system.in_joints.place(q, v, 0.0))
        for k in range(STATES):
            theirs = peer.coordinates(dict(zip(layout.coordinates, q[k], strict=True)))
            speeds = peer.speeds(dict(zip(layout.speeds, v[k], strict=True)), theirs)
            _, by_name = peer.accelerations(theirs, speeds, peer.speeds(push, theirs))
            assert _gap(found[k], np.array([by_name[n] for n in layout.speeds])) <= AGREES


@pytest.mark.parametrize("seed", range(6))
def test_energies_and_mass_matrix_of_random_tree_agree_with_pinocchio(seed: int) -> None:
    """Trees whose speeds are the same in both."""
    rng = np.random.default_rng([seed, 53])
    links = _links(rng, ("revolute", "prismatic", "spherical"), 1 + seed)
    peer, system = Peer(links), pendula.compile_system(_ours(links))
    pin, layout = peer.pin, system.in_joints.layout
    q, v = (x[0] for x in _random_states(links, rng, system))
    theirs = peer.coordinates(dict(zip(layout.coordinates, q, strict=True)))
    M = np.triu(pin.crba(peer.model, peer.data, theirs))
    np.testing.assert_allclose(system.mass_matrix(q), M + np.triu(M, 1).T, atol=1e-12)
    energies = system.energies(q, v)
    assert energies.kinetic == pytest.approx(pin.computeKineticEnergy(peer.model, peer.data, theirs, v), rel=1e-12)
    expected = pin.computePotentialEnergy(peer.model, peer.data, theirs)
    assert energies.potential == pytest.approx(expected, rel=1e-11, abs=1e-11)


# --- loops --------------------------------------------------------------------------------------------


def _loop(seed: int) -> tuple[pendula.Model, Loop]:
    """A chain of four bodies in space whose last body is tied by a point to ground or to the first one."""
    rng = np.random.default_rng([seed, 59])
    links: list[Link] = []
    for kind in rng.permutation(["revolute", "prismatic", "universal", "spherical"]):
        links.append(replace(_link(rng, [str(kind)], links, flat=False), parent=len(links) - 1))
    peer, layout = Peer(links), pendula.compile_system(_ours(links)).in_joints.layout
    values = dict(zip(layout.coordinates, rng.normal(size=len(layout.coordinates)), strict=True))
    ball = next(i for i, link in enumerate(links) if link.kind == "spherical")
    names = [f"j{ball}_q{k}" for k in range(4)]
    values |= {n: values[n] / np.linalg.norm([values[m] for m in names]) for n in names}
    # the point of the last body, as seen from the other one at this pose
    peer.pin.forwardKinematics(peer.model, peer.data, peer.coordinates(values))
    poses = [peer.data.oMi[i + 1] * peer.bodies[i] for i in range(len(links))]
    here, other = rng.uniform(-0.5, 0.5, size=3), seed % 2 - 1
    there = poses[-1].act(here)
    there = poses[other].actInv(there) if other >= 0 else there
    ends = ((other, there), (len(links) - 1, here))
    sides = [{"body": "ground" if b < 0 else f"b{b}", "position": x.tolist()} for b, x in ends]
    closing = {"name": "closure", "type": "coincident", "parent": sides[0], "child": sides[1]}
    turn = Rotation.from_quat([values[f"j{ball}_q{k}"] for k in (1, 2, 3, 0)]).as_rotvec()
    angle = float(np.linalg.norm(turn))
    initial = {n: x for n, x in values.items() if n not in names}
    initial[f"j{ball}"] = {"axis": (turn / angle).tolist(), "angle": angle}
    return _ours(links, closing=[closing], initial=initial), Loop(peer, ends)


@pytest.mark.parametrize("seed", LOOPS)
def test_accelerations_and_joint_forces_of_random_loop_agree_with_pinocchio(seed: int) -> None:
    model, loop = _loop(seed)
    systems = {f: pendula.compile_system(model, f) for f in formulations()}
    first = systems["kane"]
    t, q, v = regular(first, *states(first, STATES))
    assert len(t) >= 3
    for system in systems.values():
        _assert_loop_agrees(system, loop, q, v)


def _assert_loop_agrees(system: pendula.results.System, loop: Loop, q: Array, v: Array) -> None:
    layout, peer = system.in_joints.layout, loop.peer
    own = system.in_joints.place(q, v, 0.0)
    found = system.in_joints.accelerations(*own)
    carried = joint_wrenches(system, *own) if system.equations.transmitted else None
    for k in range(len(q)):
        theirs = peer.coordinates(dict(zip(layout.coordinates, q[k], strict=True)))
        speeds = peer.speeds(dict(zip(layout.speeds, v[k], strict=True)), theirs)
        a, tie = loop.accelerations(theirs, speeds)
        by_name = peer.by_name(theirs, speeds, a)
        assert _gap(found[k], np.array([by_name[n] for n in layout.speeds])) <= AGREES
        if carried is not None:
            force, torque = peer.joint_forces(theirs, speeds, a, loop.loads(theirs, tie))
            force, torque = np.vstack([force, tie]), np.vstack([torque, np.zeros(3)])
            joints = [x.joint for x in system.equations.transmitted]
            order = [joints.index(n) for n in (*(f"j{i}" for i in range(len(peer.links))), "closure")]
            size = max(1.0, np.abs(force).max(), np.abs(torque).max())
            assert _gap(carried.force[k, order], force, size) <= AGREES
            assert _gap(carried.torque[k, order], torque, size) <= AGREES
