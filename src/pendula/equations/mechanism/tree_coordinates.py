"""Joint coordinates: q and v belong to the joints of the spanning tree, which place the bodies one after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import symengine as se

from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import WORLD, Pose, Quaternion
from pendula.equations.tape import Direction, Expr, is_zero
from pendula.model.joints import Coordinate


@final
class TreeCoordinates(Mechanism):
    """The mechanism in joint coordinates: q and v belong to the joints of the tree."""

    @property
    def q(self) -> Sequence[Any]:
        """Symbols of the coordinates."""
        return self.joint_q

    @property
    def v(self) -> Sequence[Any]:
        """Symbols of the speeds."""
        return self.joint_v

    @property
    def coordinates(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of q."""
        return self.model.coordinates

    @property
    def speeds(self) -> Sequence[Coordinate]:
        """Name and kind of every entry of v."""
        return self.model.speeds

    @cached_property
    def qdot(self) -> list[Expr]:
        """Rates of the free coordinates in terms of the speeds: N v."""
        return [self.joint_qdot[c.name] for c in self.model.coordinates]

    @cached_property
    def quaternions(self) -> list[Quaternion]:
        """Every quaternion among the coordinates."""
        q, v = ({x.name: k for k, x in enumerate(names)} for names in (self.model.coordinates, self.model.speeds))
        return [
            Quaternion(j.name, q[j.coordinate_names()[-4]], v[j.speeds()[-3].name])
            for j in self.model.tree
            if j.quaternion()
        ]

    @cached_property
    def balls(self) -> list[tuple[str, tuple[int, int, int], int]]:
        """Joints with angular speeds, the indices of these, and 1 in body axes, -1 in those of the parent side."""
        position = {s.name: k for k, s in enumerate(self.model.speeds)}
        found = []
        for joint in self.model.tree:
            ball = joint.ball()
            if ball is not None and ball.axes != "rates":
                a, b, c = (position[s.name] for s in joint.speeds()[-3:])
                found.append((joint.name, (a, b, c), 1 if ball.axes == "body" else -1))
        return found

    @property
    def joints_place_bodies(self) -> bool:
        """Whether poses follow from the joints, body by body: they do."""
        return True

    @cached_property
    def poses(self) -> list[Pose]:
        """World pose of every link's body axes."""
        found: list[Pose] = []
        for k, link in enumerate(self.links):
            parent = found[link.parent] if link.parent >= 0 else WORLD
            frame = self.follow(parent, link.before, link.body)
            frame = self.follow(frame, self.relative_motion(k, frame), link.body)
            found.append(self.follow(frame, link.after, link.body))
        return found

    def virtual(self, k: int) -> Direction:
        """The virtual displacement of speed or drive k: dq = column k of N."""
        rate = self.rates[k]
        seeds = self.turning(rate)
        for q, qdot in zip(self.q, self.qdot, strict=True):
            slope = se.sympify(qdot).diff(rate)
            if not is_zero(slope):
                seeds[q] = slope
        for drive in self.drives:
            if drive.rate == rate:
                seeds[drive.position] = 1
        return Direction(self.tape, seeds, f"by_{rate}")
