"""Reads URDF files, without any other package.

URDF is small: links with inertias, joints with an origin and an axis. MuJoCo's compiler also reads it, but merges
links that fixed joints connect, and needs all meshes; here every link keeps its name, and no mesh is opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pendula.errors import ModelError, Problem, UsageError
from pendula.exchange.robots import frames as fr
from pendula.exchange.robots import shapes as sh
from pendula.exchange.robots.draft import Draft, Imported, check_without, existing
from pendula.exchange.robots.limits import Limit, add_limits, check_limits
from pendula.exchange.robots.rigid import Mount, merge_impossible
from pendula.exchange.robots.tree import frame_along

WITHOUT = ("mimic",)
"""Kinds of things that :func:`load_urdf` can leave out although the motion depends on them."""

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""Types of joints in URDF, and in models."""

_MOST_BYTES = 50_000_000


def load_urdf(
    path: str | Path,
    *,
    floating: bool = False,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    without: Iterable[str] = (),
    limits: float | None = None,
    dissipation: float = 0.0,
) -> Imported:
    """The model of a URDF file, with notes of what it does not hold.

    Every link becomes a body of the same name. The root link is fixed to ground unless it is ``floating``. Damping acts
    as in the file; Coulomb friction, limits and collision geometry are left out, with notes. Meshes are not opened.
    URDF gives limits no stiffness; with one from you, they become elastic stops.

    Args:
        path: the file; run xacro first on a xacro file.
        floating: whether the root link moves freely, by a joint named "root".
        gravity: acceleration of gravity [m/s^2]; URDF states none.
        without: kinds of things to leave out: "mimic" makes coordinates independent that mimic others.
        limits: stiffness [N m/rad, N/m] of stops at the limits of joints (see :class:`pendula.model.ForceJointLimit`);
            default: no stops.
        dissipation: of these stops [s/rad, s/m].

    Raises:
        UsageError: there is no such file, or it is not URDF.
        ModelError: something in it is wrong; the message names the element.

    Example:
        >>> import pendula
        >>> pendula.exchange.load_urdf("panda.urdf").model  # doctest: +SKIP
        <Model: panda, 12 bodies, 12 joints, 9 forces, 9 speeds>
    """
    file = existing(path, "load_urdf")
    chosen = check_without(without, WITHOUT, "load_urdf")
    check_limits(limits, dissipation, "load_urdf")
    robot = _parsed(file)
    draft = Draft(str(file), chosen, gravity=tuple(gravity), name=(robot.get("name") or file.stem)[:100])
    reader = _Reader(robot, draft, floating=floating)
    reader.read()
    reader.add_notes(limits, dissipation)
    return draft.finish()


def _parsed(file: Path) -> ElementTree.Element:
    if file.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{file}: larger than {_MOST_BYTES // 10**6} MB")
    text = file.read_bytes()
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise UsageError(f"{file}: a document type or entities are not read; URDF needs none")
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise UsageError(f"{file}: not XML: {error}") from None
    if robot.tag != "robot":
        raise UsageError(f'{file}: not URDF: its root element is "{robot.tag}", not "robot"')
    if any("xacro" in element.tag for element in robot.iter()):
        raise UsageError(
            f"{file}: a xacro file, which is a program that writes URDF\n  Try: xacro {file.name} > r.urdf"
        )
    return robot


class _Reader:
    """Reads one robot."""

    def __init__(self, robot: ElementTree.Element, draft: Draft, *, floating: bool) -> None:
        self.draft, self.floating = draft, floating
        self.problems: list[Problem] = []
        self.links = self._named(robot, "link")
        self.joints = self._named(robot, "joint")
        self.labels = {name: draft.label(name) for name in self.links}
        self.names: dict[str, str] = {}
        self.mounts: dict[str, Mount] = {}
        self.meshes: list[str] = []
        """links with meshes"""
        others = sorted({x.tag for x in robot if isinstance(x.tag, str)} - {"link", "joint"} - {"material"})
        if others:
            draft.note(f"elements of other tools: left out: {', '.join(others)}")

    def _named(self, robot: ElementTree.Element, tag: str) -> dict[str, ElementTree.Element]:
        found: dict[str, ElementTree.Element] = {}
        for k, element in enumerate(robot.findall(tag)):
            name = element.get("name")
            if not name:
                self._wrong(f"{tag} {k + 1}", "name", "is missing")
            elif name in found:
                self._wrong(f'{tag} "{name}"', "name", "appears twice")
            else:
                found[name] = element
        return found

    def _wrong(self, element: str, field: str, cause: str, advice: str = "") -> None:
        self.problems.append(Problem(element, field, cause, advice))

    def _stop_if_wrong(self) -> None:
        if self.problems:
            raise ModelError(self.problems[:20], source=self.draft.source)

    def numbers(self, element: ElementTree.Element | None, field: str, count: int, otherwise: Any, owner: str) -> Any:
        """Numbers of an attribute."""
        text = element.get(field) if element is not None else None
        if text is None:
            return np.array(otherwise, dtype=float)
        try:
            found = np.array([float(x) for x in text.split()])
        except ValueError:
            found = np.array([])
        if len(found) != count or not np.all(np.isfinite(found)):
            tag = element.tag if element is not None else ""
            wanted = "a number" if count == 1 else f"{count} numbers"
            self._wrong(owner, f"{tag} {field}", f'must be {wanted}, found "{text[:60]}"')
            return np.array(otherwise, dtype=float)
        return found

    # -- the tree -------------------------------------------------------------------------------------------

    def read(self) -> None:
        """All links and joints, parents first."""
        draft = self.draft
        children: dict[str, list[str]] = {name: [] for name in self.links}
        parent: dict[str, str] = {}
        for name, joint in self.joints.items():
            ends = [(x.get("link") if (x := joint.find(tag)) is not None else None) for tag in ("parent", "child")]
            for end, tag in zip(ends, ("parent", "child"), strict=True):
                if end not in self.links:
                    self._wrong(f'joint "{name}"', tag, f'there is no link "{end}"' if end else "is missing")
            above, below = ends
            if above in self.links and below in self.links:
                assert above is not None
                assert below is not None
                if below in parent:
                    self._wrong(f'joint "{name}"', "child", f'link "{below}" already has the joint "{parent[below]}"')
                parent[below] = name
                children[above].append(name)
        roots = [name for name in self.links if name not in parent]
        if not self.links:
            self._wrong("robot", "", "it has no links")
        elif len(roots) != 1:
            what = f"found {len(roots)}: {', '.join(roots[:5])}" if roots else "its joints form a ring"
            self._wrong("robot", "", f"a robot has one link without a parent; {what}")
        self._stop_if_wrong()
        self._root(roots[0])
        waiting = [*reversed(children[roots[0]])]
        while waiting:
            name = waiting.pop()
            child = self.joints[name].find("child")
            assert child is not None
            self._joint(name, self.joints[name])
            waiting += reversed(children[str(child.get("link"))])
        for name, link in self.links.items():
            carried = [self.joints[j].find("origin") for j in children[name]]
            draft.bodies.append(self._link(name, link, carried))
        merge_impossible(draft, self.mounts)
        self._mimics()
        self._stop_if_wrong()

    def _root(self, link: str) -> None:
        label, draft = self.labels[link], self.draft
        kind, wanted = ("free", "root") if self.floating else ("fixed", f"{link} mount")
        name = draft.joint_name(wanted, kind)
        draft.renamed.pop(wanted, None)
        draft.add_joint({"name": name, "type": kind, "parent": {"body": "ground"}, "child": {"body": label}})
        if not self.floating:
            self.mounts[label] = Mount("ground", np.zeros(3), np.eye(3))

    def _joint(self, name: str, joint: ElementTree.Element) -> None:
        owner, origin, kind = f'joint "{name}"', joint.find("origin"), joint.get("type", "")
        if kind not in TYPES:
            self._wrong(owner, "type", f'there is no type "{kind}"', f"one of {', '.join(TYPES)}")
            return
        xyz = self.numbers(origin, "xyz", 3, (0, 0, 0), owner)
        R = fr.roll_pitch_yaw(self.numbers(origin, "rpy", 3, (0, 0, 0), owner))
        above, below = (self.labels[str(joint.find(tag).get("link"))] for tag in ("parent", "child"))  # type: ignore[union-attr]
        own = self.names[name] = self.draft.joint_name(name, TYPES[kind])
        axis = self.numbers(joint.find("axis"), "xyz", 3, (1, 0, 0), owner)
        fields: dict[str, Any] = {"name": own, "type": TYPES[kind]}
        child: dict[str, Any] = {"body": below}
        if kind in ("revolute", "continuous", "prismatic", "planar"):
            length = float(np.linalg.norm(axis))
            if length == 0.0:
                self._wrong(owner, "axis xyz", "has no direction")
                return
            axis = axis / length
            if kind != "planar":
                fields["axis"] = fr.floats(axis)
        if kind == "planar":  # translations normal to the axis: its z axis along that of the file
            turn = np.eye(3) if np.allclose(axis, [0, 0, 1]) else frame_along(axis)
            R, child = R @ turn, fr.side(below, None, fr.matrix_quaternion(turn))
        if kind == "fixed":
            self.mounts[below] = Mount(above, xyz, R)
        fields |= {"parent": fr.side(above, xyz, fr.matrix_quaternion(R)), "child": child}
        self.draft.add_joint(fields)
        self._dynamics(own, joint, kind, owner)

    def _dynamics(self, name: str, joint: ElementTree.Element, kind: str, owner: str) -> None:
        dynamics = joint.find("dynamics")
        damping = float(self.numbers(dynamics, "damping", 1, [0.0], owner)[0])
        if damping and kind != "fixed":
            self.draft.forces.append({"type": "friction", "joint": name, "coefficient": damping})

    def _link(self, name: str, link: ElementTree.Element, carried: list[Any]) -> dict[str, Any]:
        owner, inertial = f'link "{name}"', link.find("inertial")
        found: dict[str, Any] = {"name": self.labels[name], "mass": 0}
        com = np.zeros(3)
        if inertial is not None:
            mass = float(self.numbers(inertial.find("mass"), "value", 1, [0.0], owner)[0])
            origin, tensor = inertial.find("origin"), inertial.find("inertia")
            com = self.numbers(origin, "xyz", 3, (0, 0, 0), owner)
            R = fr.roll_pitch_yaw(self.numbers(origin, "rpy", 3, (0, 0, 0), owner))
            xx, xy, xz, yy, yz, zz = (
                float(self.numbers(tensor, f"i{ij}", 1, [0.0], owner)[0]) for ij in ("xx", "xy", "xz", "yy", "yz", "zz")
            )
            inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
            found |= {"mass": mass, "com": fr.floats(com)}
            if np.any(inertia):
                found["inertia"] = [fr.floats(row) for row in (inertia + inertia.T) / 2]
        return {**found, "shapes": self._shapes(link, com, carried, owner)}

    # -- drawing --------------------------------------------------------------------------------------------

    def _shapes(self, link: ElementTree.Element, com: Any, carried: list[Any], owner: str) -> list[dict[str, Any]]:
        shapes: list[dict[str, Any]] = []
        meshed = False
        for visual in link.findall("visual"):
            origin, geometry = visual.find("origin"), visual.find("geometry")
            at = self.numbers(origin, "xyz", 3, (0, 0, 0), owner)
            R = fr.roll_pitch_yaw(self.numbers(origin, "rpy", 3, (0, 0, 0), owner))
            for form in geometry if geometry is not None else ():
                match form.tag:
                    case "box":
                        shapes.append(sh.box(at, R, self.numbers(form, "size", 3, (0, 0, 0), owner) / 2))
                    case "sphere":
                        shapes.append(sh.ball(at, float(self.numbers(form, "radius", 1, [0.0], owner)[0])))
                    case "cylinder" | "capsule":
                        radius, length = (
                            float(self.numbers(form, field, 1, [0.0], owner)[0]) for field in ("radius", "length")
                        )
                        shapes.append(sh.cylinder(at, R, radius, length / 2))
                    case _:
                        meshed = True
        if meshed:
            self.meshes.append(owner.split('"')[1])
        if meshed and not shapes:
            ends = [self.numbers(origin, "xyz", 3, (0, 0, 0), owner) for origin in carried]
            return sh.skeleton(com, ends, self.size)
        return shapes

    @cached_property
    def size(self) -> float:
        """A typical size of the robot: the root of the sum of squared distances between successive joints."""
        origins = [j.find("origin") for j in self.joints.values()]
        offsets = [self.numbers(o, "xyz", 3, (0, 0, 0), "robot") for o in origins]
        return math.sqrt(float(np.sum(np.square(offsets)))) or 1.0

    # -- what is left out -----------------------------------------------------------------------------------

    def _mimics(self) -> None:
        """Coordinates that follow others, as couplings."""
        for name, joint in self.joints.items():
            mimic, owner = joint.find("mimic"), f'joint "{name}"'
            if mimic is None or name not in self.names:
                continue
            other = mimic.get("joint", "")
            if other not in self.names or not {self.names[name], self.names[other]} <= {*self.draft.coordinates}:
                self._wrong(owner, "mimic joint", f'there is no joint "{other}" with one coordinate')
            elif "mimic" in self.draft.without:
                self.draft.note(f'left out, as asked: joint "{name}" mimics joint "{other}"')
            else:
                factor, offset = (
                    float(self.numbers(mimic, field, 1, [otherwise], owner)[0])
                    for field, otherwise in (("multiplier", 1.0), ("offset", 0.0))
                )
                text = f"{self.names[name]} - ({factor!r})*{self.names[other]} - ({offset!r})"
                coupling = self.draft.joint_name(f"{self.names[name]}_mimic", "coupling")
                self.draft.joints.append({"name": coupling, "type": "coupling", "value": text})

    def add_notes(self, stiffness: float | None, dissipation: float) -> None:
        """Limits, and notes of what is left out."""
        draft = self.draft
        draft.note_all("meshes", self.meshes, "drawn as lines to the joints that they carry")
        limited: list[Limit] = []
        rough = []
        for name, joint in self.joints.items():
            limit, dynamics = joint.find("limit"), joint.find("dynamics")
            if limit is not None and joint.get("type") in ("revolute", "prismatic") and name in self.names:
                ends = [float(self.numbers(limit, f, 1, [0.0], f'joint "{name}"')[0]) for f in ("lower", "upper")]
                limited.append(Limit(self.names[name], ends[0], ends[1], slides=joint.get("type") == "prismatic"))
            if float(self.numbers(dynamics, "friction", 1, [0.0], f'joint "{name}"')[0]):
                rough.append(name)
        add_limits(draft, limited, stiffness, dissipation)
        draft.note_all("Coulomb friction", rough, "left out")
        if any(link.find("collision") is not None for link in self.links.values()):
            draft.note("contacts: left out")
        self._stop_if_wrong()
