"""How joints hang together: which body each joint places, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

from pendula.model.bodies import GROUND
from pendula.model.joints import Joint, TreeJoint


def tree_order(joints: Iterable[Joint]) -> tuple[TreeJoint, ...]:
    """Tree joints with parents before children, otherwise in the order given.

    Joints that cannot be reached from ground are left out; the checks report them.
    """
    waiting = [j for j in joints if isinstance(j, TreeJoint)]
    placed, ordered = {GROUND}, []
    while True:
        ready = [j for j in waiting if j.parent.body in placed and j.child.body not in placed]
        if not ready:
            return tuple(ordered)
        joint = ready[0]
        ordered.append(joint)
        placed.add(joint.child.body)
        waiting.remove(joint)
