"""The elements of a model while it is checked: those that could be read, and what is known of the others."""

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
    """What is known of a joint that could not be read, so that it causes no reports beyond its own."""

    name: str
    parent: str
    child: str
    names: frozenset[str]
    """names that it lists for its coordinates"""

    def may_own(self, name: str) -> bool:
        """Whether a coordinate or speed of that name may belong to this joint."""
        plain = name.removesuffix("_dot")
        return plain in self.names or plain == self.name or (bool(self.name) and plain.startswith(f"{self.name}_"))


@dataclass(frozen=True)
class Parts:
    """Bodies, joints and forces, each with the words that name it in messages, and the tables of a model."""

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
        """Bodies by name, the first of that name."""
        return {body.name: body for _, body in reversed(self.bodies)}

    @cached_property
    def joint(self) -> dict[str, Any]:
        """Joints by name, the first of that name."""
        return {joint.name: joint for _, joint in reversed(self.joints)}

    @cached_property
    def places(self) -> set[str]:
        """What a joint or force may be attached to: ground and all bodies."""
        return {GROUND, *self.body, *self.unread_bodies}

    @cached_property
    def joint_names(self) -> set[str]:
        """Names of all joints."""
        return {*self.joint, *(joint.name for joint in self.unread_joints)}

    @cached_property
    def tree(self) -> tuple[TreeJoint, ...]:
        """Joints that place a body and can be reached from ground."""
        return tree_order(joint for _, joint in self.joints)

    @cached_property
    def tree_joints(self) -> tuple[tuple[str, TreeJoint], ...]:
        """All joints that place a body, with the words that name them."""
        return tuple((element, joint) for element, joint in self.joints if isinstance(joint, TreeJoint))

    @cached_property
    def state(self) -> dict[str, Coordinate]:
        """Coordinates and speeds by name, prescribed ones included."""
        return {c.name: c for _, j in self.tree_joints for c in (*j.coordinates(), *j.speeds())}

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
        """What is wrong with the others: pairs (name, message)."""
        return self._evaluated[1]

    @cached_property
    def _meant(self) -> dict[str, str]:
        return {}

    def meant(self, body: str) -> str:
        """The body of a name, also when it is misspelt (which is reported as a problem)."""
        if body in self.places:
            return body
        if body not in self._meant:
            enough = len(self._meant) > MOST_MEANT  # looking for likely names takes time
            self._meant[body] = (not enough and nearest(body, self.places)) or GROUND
        return self._meant[body]

    def may_exist(self, name: str) -> bool:
        """Whether a name may belong to something that could not be read."""
        return any(joint.may_own(name) for joint in self.unread_joints)
