"""Writes trees and some loops as MJCF."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from pendula.exchange.robots import refusals
from pendula.exchange.robots.frames import matrix_quaternion
from pendula.exchange.robots.tree import Move, NumericTree, Place, solids, texts
from pendula.formats import Content
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.joints import TreeJoint
from pendula.model.model import Model

LEAST = 1e-12
"""inertia of a moving body per mass [length^2], below which MuJoCo accepts none"""
FREE = ["slide", "slide", "slide", "ball"]


def write_mjcf(model: Model) -> Content:
    """A model as MJCF: joints, springs, dampers, armature, loops of points and of frames, inputs as motors.

    Raises:
        NotSupported: the model has something that MJCF cannot hold; the message names it.

    Example:
        >>> from pendula import library
        >>> text = write_mjcf(library.cart_pole()).data
        >>> text.count("<body"), text.count("<joint"), text.count("<motor")
        (2, 2, 1)
    """
    return _Writer(model).content()


class _Writer:
    def __init__(self, model: Model) -> None:
        self.tree, self.model = NumericTree(model, "MJCF"), model
        self.root = ElementTree.Element("mujoco", model=model.name)
        self.notes: list[str] = []
        self.joints: dict[str, ElementTree.Element] = {}
        """elements by coordinate, or by joint for ball and free joints"""
        self.bodies: dict[str, ElementTree.Element] = {}
        self.sites = 0

    def content(self) -> Content:
        """The file."""
        tree = self.tree
        ElementTree.SubElement(self.root, "compiler", angle="radian", autolimits="true")
        option = ElementTree.SubElement(self.root, "option", gravity=texts(tree.gravity))
        ElementTree.SubElement(option, "flag", contact="disable")
        self.bodies[GROUND] = ElementTree.SubElement(self.root, "worldbody")
        for joint in tree.children[GROUND]:
            self._body(joint, self.bodies[GROUND], Place(np.zeros(3), np.eye(3)), [])
        self.tendons, self.motors, self.equality = (ElementTree.Element(x) for x in ("tendon", "actuator", "equality"))
        for element, force, fields in tree.forces():
            self._force(force, fields, element)
        for closure in self.model.closures:
            self._loop(closure)
        unused = [name for name in self.model.inputs if not any(m.get("name") == name for m in self.motors)]
        if unused:
            self.notes.append(f"inputs that no force uses are left out: {', '.join(unused)}")
        laws = [f"{name} = {law}" for name, law in self.model.inputs.items() if name not in unused and law != 0]
        if laws:
            self.notes.append(f"MJCF holds no laws of inputs: control its motors by {', '.join(laws)}")
        self.root.extend(x for x in (self.tendons, self.motors, self.equality) if len(x))
        self._initial()
        ElementTree.indent(self.root)
        return Content(ElementTree.tostring(self.root, encoding="unicode") + "\n", tuple(self.notes))

    # -- bodies ---------------------------------------------------------------------------------------------

    def _body(self, joint: TreeJoint, above: Any, at: Place, before: list[tuple[Move, Place]]) -> None:
        """A body with its joint; ``before`` are joints of massless carriers that have the same axes as this body."""
        element, tree = f'joint "{joint.name}"', self.tree
        own = tree.side(joint.child, element)
        start = tree.side(joint.parent, element) @ own.inverse()
        moves = [(move, own) for move in tree.moves(joint)]
        body = self.model.body(joint.child.body)
        carried = tree.children[body.name]
        same = np.allclose(start.r, 0, atol=1e-14) and np.allclose(start.R, np.eye(3), atol=1e-14)
        if before and not same:
            raise tree.refuse(refusals.MJCF_MASSLESS_END, f'body "{joint.parent.body}"')
        mass, com, inertia = tree.mass(body)
        if mass == 0 and (before or moves) and len(carried) == 1 and tree.moves(carried[0]):
            self._body(carried[0], above, at @ start, [*before, *moves])
            return
        place = at @ start
        found = self.bodies[body.name] = ElementTree.SubElement(above, "body", {"name": body.name, **_pose(place)})
        moving = [*before, *moves]
        if moving and mass == 0:
            raise tree.refuse(refusals.MJCF_MASSLESS, f'body "{body.name}"')
        self._joints(found, joint, moving, place, element)
        if mass:
            self._inertial(found, body.name, mass, com, inertia)
        for solid in solids(tree, body):
            kind = {"rod": "capsule"}.get(solid.kind, solid.kind)
            size = solid.half if solid.kind == "box" else (solid.radius, *solid.half)
            geom = ElementTree.SubElement(found, "geom", {"type": kind, **_pose(solid.place), "size": texts(size)})
            geom.attrib |= {"contype": "0", "conaffinity": "0", "mass": "0"}
        for other in carried:
            self._body(other, found, Place(np.zeros(3), np.eye(3)), [])

    def _joints(
        self, found: Any, joint: TreeJoint, moving: list[tuple[Move, Place]], place: Place, element: str
    ) -> None:
        kinds = [move.kind for move, _ in moving]
        if kinds == FREE and joint.type == "free":
            if joint.parent.body != GROUND or not np.allclose(place.r, 0) or not np.allclose(place.R, np.eye(3)):
                raise self.tree.refuse(refusals.MJCF_FREE, element)
            rotors = {move.armature for move, _ in moving}
            if len(rotors) > 1:
                raise self.tree.refuse(refusals.MJCF_ARMATURE, element)
            free = self.joints[joint.name] = ElementTree.SubElement(found, "joint", name=joint.name, type="free")
            if rotors != {0.0}:
                free.set("armature", texts([*rotors]))
            return
        for move, frame in moving:
            made = ElementTree.SubElement(found, "joint", name=move.name, type=move.kind, pos=texts(frame.r))
            if move.kind == "ball":
                if not np.allclose(frame.R, np.eye(3), atol=1e-14):
                    raise self.tree.refuse(refusals.MJCF_BALL, element)
            else:
                made.set("axis", texts(frame.R @ move.axis))
            if move.armature:
                made.set("armature", texts([move.armature]))
            self.joints[move.name] = made

    def _inertial(self, found: Any, name: str, mass: float, com: Any, inertia: Any) -> None:
        values = np.linalg.eigvalsh(inertia)
        if values[0] < LEAST * mass:
            inertia = inertia + LEAST * mass * np.eye(3)
            self.notes.append(f'body "{name}": MuJoCo accepts no zero inertia; {LEAST * mass:g} added')
        entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        ElementTree.SubElement(found, "inertial", pos=texts(com), mass=texts([mass]), fullinertia=texts(entries))

    # -- forces ---------------------------------------------------------------------------------------------

    def _force(self, force: Any, fields: dict[str, Any], element: str) -> None:
        tree = self.tree
        names = ("stiffness", "damping", "coefficient", "rest", "length")
        read = {n: fields[n] for n in names if fields.get(n) is not None}
        match force.type:
            case "torsion-spring" | "spring" | "damper" | "friction" if fields.get("joint"):
                numbers = {name: tree.number(value, element, name) for name, value in read.items()}
                self._in_joint(fields, numbers, element)
            case "spring" | "damper":
                numbers = {name: tree.number(value, element, name) for name, value in read.items()}
                points = [{"pos": texts(tree.point(end, element))} for end in (force.start, force.end)]
                sites = [self._site(end, at, element) for end, at in zip((force.start, force.end), points, strict=True)]
                tendon = ElementTree.SubElement(self.tendons, "spatial", stiffness=texts([numbers.get("stiffness", 0)]))
                tendon.attrib |= {"damping": texts([numbers.get("damping", 0)])}
                tendon.set("springlength", texts([numbers.get("length", 0)]))
                for site in sites:
                    ElementTree.SubElement(tendon, "site", site=site)
            case "joint-limit":
                self._limit(fields, element)
            case "generalized":
                self._motor(fields, element)
            case _:
                raise tree.refuse(refusals.MJCF_FORCE, element, type=force.type)

    def _in_joint(self, fields: dict[str, Any], numbers: dict[str, float], element: str) -> None:
        joint = self.model.joint(fields["joint"])
        stiffness, damping = numbers.get("stiffness", 0.0), numbers.get("damping", numbers.get("coefficient", 0.0))
        rest = numbers.get("rest", numbers.get("length", 0.0))
        names = [fields["coordinate"]] if fields.get("coordinate") else list(joint.coordinate_names())
        if joint.quaternion():
            if stiffness or joint.name not in self.joints:
                raise self.tree.refuse(refusals.MJCF_BALL_SPRING, element)
            if damping and fields.get("coordinate"):
                raise self.tree.refuse(refusals.MJCF_FREE_DAMPER, element)
            names = [joint.name]
        for name in names:
            found = self.joints[name]
            if stiffness and float(found.get("stiffness", 0)):
                raise self.tree.refuse(refusals.MJCF_SPRINGS, element, name=name)
            if stiffness:
                found.attrib |= {"stiffness": texts([stiffness]), "springref": texts([rest])}
            if damping:
                found.set("damping", texts([damping + float(found.get("damping", 0))]))

    def _limit(self, fields: dict[str, Any], element: str) -> None:
        """The range of a joint; MuJoCo holds it by constraints, whose stiffness it sets itself."""
        name, ends = self.tree.limits(fields, element)
        if self.joints[name].get("range"):
            raise self.tree.refuse(refusals.MJCF_LIMITS, element, name=name)
        self.joints[name].set("range", texts(ends))
        self.notes.append(f"{element}: limits are soft constraints in MuJoCo; stiffness and dissipation are left out")

    def _site(self, side: Any, pose: dict[str, str], element: str) -> str:
        """The name of a new site on the body of a side."""
        if side.body not in self.bodies:
            raise self.tree.refuse(refusals.MJCF_HELD, element, body=side.body)
        self.sites += 1
        name = f"end_{self.sites}"
        ElementTree.SubElement(self.bodies[side.body], "site", {"name": name, **pose})
        return name

    def _motor(self, fields: dict[str, Any], element: str) -> None:
        """An input times a number."""
        coordinate, value = fields["coordinate"], str(fields["value"])
        names = parse(value).names - {*self.tree.values}
        if coordinate not in self.joints or len(names) != 1 or not names <= {*self.model.inputs}:
            raise self.tree.refuse(refusals.MJCF_INPUT, element, value=value)
        (name,) = names
        slopes = [parse(value).evaluate({**self.tree.values, name: x}) for x in (0.0, 1.0, 2.0, -3.0)]
        if slopes[0] or not np.allclose(slopes[2:], [2 * slopes[1], -3 * slopes[1]], rtol=1e-12):
            raise self.tree.refuse(refusals.MJCF_INPUT, element, value=value)
        motor = ElementTree.SubElement(self.motors, "motor", name=name, joint=coordinate, gear=texts([slopes[1]]))
        if sum(m.get("name") == name for m in self.motors) > 1:
            motor.set("name", f"{name} {coordinate}")
            self.notes.append(f'input "{name}" acts on several coordinates: MuJoCo has one motor for each')

    # -- loops ----------------------------------------------------------------------------------------------

    def _loop(self, closure: Any) -> None:
        element, tree = f'joint "{closure.name}"', self.tree
        kind = getattr(closure, "kind", closure.type)
        if closure.type not in ("coincident", "loop") or kind not in ("coincident", "spherical", "fixed"):
            raise tree.refuse(refusals.MJCF_LOOP, element, type=closure.type)
        names = [self._site(side, _pose(tree.side(side, element)), element) for side in (closure.parent, closure.child)]
        tag = "weld" if kind == "fixed" else "connect"
        ElementTree.SubElement(self.equality, tag, name=closure.name, site1=names[0], site2=names[1])
        self.notes.append(f'joint "{closure.name}": loops are soft constraints in MuJoCo')

    def _initial(self) -> None:
        """The initial state as a keyframe, in the order of MuJoCo's vectors."""
        from pendula.system.entry import system_of

        if not self.model.initial:
            return
        state = system_of(self.model, "export").in_joints.initial_state()
        coordinates, speeds = [], []
        order = [str(x.get("name")) for x in self.root.iter("joint") if x.get("name") in self.joints]
        for name in order:
            owner = self.model.joints_by_name.get(name)
            if owner is not None and not owner.closing and owner.quaternion():
                coordinates += owner.coordinate_names()
                speeds += [s.name for s in owner.speeds()]
            else:
                coordinates.append(name)
                speeds.append(f"{name}_dot")
        keyframe = ElementTree.SubElement(self.root, "keyframe")
        values = {"qpos": texts([state[n] for n in coordinates]), "qvel": texts([state[n] for n in speeds])}
        ElementTree.SubElement(keyframe, "key", {"name": "initial", **values})


def _pose(place: Place) -> dict[str, str]:
    """Position and quaternion as attributes."""
    return {"pos": texts(place.r), "quat": texts(matrix_quaternion(place.R))}
