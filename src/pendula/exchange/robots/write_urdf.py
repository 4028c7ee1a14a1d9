"""Writes trees as URDF. The frame of a link is that of its joint's child side, as URDF demands."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from pendula.exchange.robots import refusals
from pendula.exchange.robots.frames import Array, matrix_roll_pitch_yaw
from pendula.exchange.robots.tree import FAR, NumericTree, Place, solids, texts
from pendula.formats import Content
from pendula.model.bodies import GROUND
from pendula.model.expressions.expression import parse
from pendula.model.model import Model

TYPES = {"hinge": "continuous", "slide": "prismatic"}


def write_urdf(model: Model) -> Content:
    """A model as URDF: a tree of revolute, prismatic, fixed and free joints with viscous friction.

    Raises:
        NotSupported: the model has something that URDF cannot hold; the message names it.

    Example:
        >>> from pendula import library
        >>> text = write_urdf(library.chain(links=2, coordinates="relative")).data
        >>> text.count("<link"), text.count("<joint")
        (3, 2)
    """
    return _Writer(model).content()


class _Writer:
    def __init__(self, model: Model) -> None:
        self.tree, self.model = NumericTree(model, "URDF"), model
        self.robot = ElementTree.Element("robot", name=model.name)
        self.notes: list[str] = []
        self.limits: dict[str, tuple[float, float]] = {}
        self.damping = self._damping()

    def _damping(self) -> dict[str, float]:
        """Viscous friction by coordinate; limits are noted on the way."""
        found: dict[str, float] = {}
        for element, force, fields in self.tree.forces():
            if force.type == "generalized" and self._only_input(fields["value"]):
                self.notes.append(f"{element}: efforts are inputs of the reader; left out")
                continue
            if force.type == "joint-limit":
                name, ends = self.tree.limits(fields, element)
                if name in self.limits:
                    raise self.tree.refuse(refusals.URDF_LIMITS, element, name=name)
                self.limits[name] = ends
                self.notes.append(f"{element}: URDF has no stiffness of limits; stiffness and dissipation are left out")
                continue
            joint = fields.get("joint")
            viscous = force.type in ("friction", "damper") or (
                force.type in ("torsion-spring", "spring") and fields.get("stiffness") in (0, 0.0)
            )
            if joint is None or not viscous:
                raise self.tree.refuse(refusals.URDF_FRICTION, element)
            names = [fields["coordinate"]] if fields.get("coordinate") else self.model.joint(joint).coordinate_names()
            if self.model.joint(joint).quaternion():
                raise self.tree.refuse(refusals.URDF_BALL_FRICTION, element)
            value = self.tree.number(fields.get("coefficient", fields.get("damping")), element, "damping")
            for name in names:
                found[name] = found.get(name, 0.0) + value
        return found

    def _only_input(self, value: Any) -> bool:
        """Whether a force is zero with all inputs zero."""
        known = {**self.tree.values, **dict.fromkeys(self.model.inputs, 0.0)}
        expression = parse(value)
        return expression.names <= known.keys() and expression.evaluate(known) == 0.0

    def content(self) -> Content:
        """The file."""
        model = self.model
        for closure in model.closures:
            raise self.tree.refuse(refusals.URDF_LOOP, f'joint "{closure.name}"')
        root = "world" if "world" not in {b.name for b in model.bodies} else "world_frame"
        ElementTree.SubElement(self.robot, "link", name=root)
        self._add_children(GROUND, root, Place(np.zeros(3), np.eye(3)))
        gravity = texts(self.tree.gravity)
        if not np.allclose(self.tree.gravity, [0, 0, -9.81]):
            self.notes.append(f"URDF states no gravity: readers must set it to ({gravity.replace(' ', ', ')})")
        ElementTree.indent(self.robot)
        return Content(ElementTree.tostring(self.robot, encoding="unicode") + "\n", tuple(self.notes))

    def _add_children(self, body: str, link: str, frame: Place) -> None:
        """Joints that a body carries; ``frame`` is the frame of its link in body axes."""
        for joint in self.tree.children[body]:
            element = f'joint "{joint.name}"'
            moves = self.tree.moves(joint)
            start = frame.inverse() @ self.tree.side(joint.parent, element)
            own = self.tree.side(joint.child, element)
            child = joint.child.body
            if [m.kind for m in moves] == ["slide", "slide", "slide", "ball"] and body == GROUND:
                if any(m.armature for m in moves):
                    raise self.tree.refuse(refusals.URDF_ARMATURE, element)
                self._joint(joint.name, "floating", link, child, start)
            elif any(m.kind == "ball" for m in moves):
                raise self.tree.refuse(refusals.URDF_BALL, element)
            elif not moves:
                self._joint(joint.name, "fixed", link, child, start)
            else:
                above = link
                for k, move in enumerate(moves):
                    if move.armature:
                        raise self.tree.refuse(refusals.URDF_ARMATURE, element)
                    below = child if k == len(moves) - 1 else f"{child} {k + 1}"
                    if below != child:
                        ElementTree.SubElement(self.robot, "link", name=below)
                    self._joint(move.name, TYPES[move.kind], above, below, start, move.axis)
                    above, start = below, Place(np.zeros(3), np.eye(3))
            self._link(child, own)
            self._add_children(child, child, own)

    def _joint(self, name: str, kind: str, parent: str, child: str, at: Place, axis: Array | None = None) -> None:
        limited = name in self.limits
        kind = "revolute" if kind == "continuous" and limited else kind
        joint = ElementTree.SubElement(self.robot, "joint", name=name, type=kind)
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
        ElementTree.SubElement(joint, "origin", xyz=texts(at.r), rpy=texts(matrix_roll_pitch_yaw(at.R)))
        if axis is not None:
            ElementTree.SubElement(joint, "axis", xyz=texts(axis))
            if kind == "prismatic" or limited:  # URDF demands limits of slides; the default ones are far
                lower, upper = (texts([x]) for x in self.limits.get(name, (-FAR, FAR)))
                ElementTree.SubElement(joint, "limit", lower=lower, upper=upper, effort="0", velocity="0")
            if self.damping.get(name):
                ElementTree.SubElement(joint, "dynamics", damping=texts([self.damping[name]]))

    def _link(self, name: str, frame: Place) -> None:
        link = ElementTree.SubElement(self.robot, "link", name=name)
        mass, com, inertia = self.tree.mass(self.model.body(name))
        if mass:
            place = frame.inverse() @ Place(com, np.eye(3))
            tensor = place.R @ inertia @ place.R.T
            inertial = ElementTree.SubElement(link, "inertial")
            ElementTree.SubElement(inertial, "origin", xyz=texts(place.r), rpy="0 0 0")
            ElementTree.SubElement(inertial, "mass", value=texts([mass]))
            entries = {f"i{'xyz'[i]}{'xyz'[j]}": texts([tensor[i, j]]) for i in range(3) for j in range(i, 3)}
            ElementTree.SubElement(inertial, "inertia", entries)
        self._draw(link, name, frame)

    def _draw(self, link: ElementTree.Element, name: str, frame: Place) -> None:
        for solid in solids(self.tree, self.model.body(name)):
            at = frame.inverse() @ solid.place
            visual = ElementTree.SubElement(link, "visual")
            ElementTree.SubElement(visual, "origin", xyz=texts(at.r), rpy=texts(matrix_roll_pitch_yaw(at.R)))
            geometry = ElementTree.SubElement(visual, "geometry")
            if solid.kind == "sphere":
                ElementTree.SubElement(geometry, "sphere", radius=texts([solid.radius]))
            elif solid.kind == "box":
                ElementTree.SubElement(geometry, "box", size=texts(2 * np.array(solid.half)))
            else:
                size = {"radius": texts([solid.radius]), "length": texts([2 * solid.half[0]])}
                ElementTree.SubElement(geometry, "cylinder", size)
