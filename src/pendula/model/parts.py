"""The elements of a model during its checks: those that could be read, and remnants of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pendula.model.bodies import GROUND, Body
from pendula.model.expressions.expression import parse
from pendula.model.joints import Coordinate, TreeJoint
from pendula.model.names import nearest
from pendula.model.parameters import values_and_problems
from pendula.model.topology import tree_order

MOST_MEANT = 100


@dataclass(frozen=True)
class Unread:
    """The readable remnants of a joint that could not be read, so that it causes no further error reports."""

    name: str
    parent: str
    child: str
    names: frozenset[str]
    """names of its coordinates, as listed"""

    def may_own(self, name: str) -> bool:
        """Whether a coordinate or speed of that name may belong to this joint."""
        plain = name.removesuffix("_dot")
        return plain in self.names or plain == self.name or (bool(self.name) and plain.startswith(f"{self.name}_"))


@dataclass(frozen=True)
class Parts:
    """Bodies, joints and forces, each with its name in messages, and the tables of a model."""

    bodies: tuple[tuple[str, Body], ...] = ()
    joints: tuple[tuple[str, Any], ...] = ()
    forces: tuple[tuple[str, Any], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)
    gravity: tuple[Any, ...] = ()
    unread_bodies: tuple[str, ...] = ()
    unread_joints: tuple[Unread, ...] = ()
    unread_parameters: frozenset[str] = frozenset()
    unread_inputs: frozenset[str] = frozenset()

    @cached_property
    def body(self) -> dict[str, Body]:
        """Bodies by name; the first of each name."""
        return {body.name: body for _, body in reversed(self.bodies)}

    @cached_property
    def joint(self) -> dict[str, Any]:
        """Joints by name; the first of each name."""
        return {joint.name: joint for _, joint in reversed(self.joints)}

    @cached_property
    def places(self) -> set[str]:
        """Ground and all bodies, to which a joint or force may attach."""
        return {GROUND, *self.body, *self.unread_bodies}

    @cached_property
    def doubled(self) -> bool:
        """Whether two bodies have one name: references may then mean the one whose name is wrong."""
        names = [*(body.name for _, body in self.bodies), *self.unread_bodies]
        return len({*names}) < len(names)

    @cached_property
    def joint_names(self) -> set[str]:
        """Names of all joints."""
        return {*self.joint, *(joint.name for joint in self.unread_joints)}

    @cached_property
    def tree(self) -> tuple[TreeJoint, ...]:
        """Tree joints that can be reached from ground."""
        return tree_order(joint for _, joint in self.joints)

    @cached_property
    def tree_joints(self) -> tuple[tuple[str, TreeJoint], ...]:
        """All tree joints, with their names in messages."""
        return tuple((element, joint) for element, joint in self.joints if isinstance(joint, TreeJoint))

    @cached_property
    def motions(self) -> tuple[tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]], ...]:
        """Coordinates and speeds of every tree joint, prescribed ones included."""
        return tuple([(joint.coordinates(), joint.speeds()) for _, joint in self.tree_joints])

    @cached_property
    def state(self) -> dict[str, Coordinate]:
        """Coordinates and speeds by name, prescribed ones included."""
        return {c.name: c for both in self.motions for own in both for c in own}

    @cached_property
    def constants(self) -> set[str]:
        """Names of the parameters."""
        return {*self.parameters, *self.unread_parameters}

    @cached_property
    def _evaluated(self) -> tuple[dict[str, float], list[tuple[str, str]]]:
        definitions = {name: parse(value) for name, value in self.parameters.items()}
        return values_and_problems(definitions, also=self.unread_parameters)

    @property
    def values(self) -> dict[str, float]:
        """Values of the parameters that have one."""
        return self._evaluated[0]

    @property
    def parameter_problems(self) -> list[tuple[str, str]]:
        """Problems of the other parameters: pairs (name, message)."""
        return self._evaluated[1]

    @cached_property
    def _meant(self) -> dict[str, str]:
        return {}

    def meant(self, body: str) -> str:
        """The body that a name refers to, even if misspelt (which is reported separately)."""
        if body in self.places:
            return body
        if body not in self._meant:
            enough = len(self._meant) > MOST_MEANT  # similar names are slow to find
            self._meant[body] = (not enough and nearest(body, self.places)) or GROUND
        return self._meant[body]

    def may_exist(self, name: str) -> bool:
        """Whether a name may belong to a joint that could not be read."""
        return any(joint.may_own(name) for joint in self.unread_joints)
