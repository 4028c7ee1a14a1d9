"""How joints hang together: which body each joint places, and in which order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from pendula.model.bodies import GROUND
from pendula.model.joints import Joint, TreeJoint


def tree_order(joints: Iterable[Joint]) -> tuple[TreeJoint, ...]:
    """Tree joints with parents before children, otherwise in the order given.

    Joints that cannot be reached from ground are omitted; the checks report them.
    """
    tree = [j for j in joints if isinstance(j, TreeJoint)]
    hanging: dict[str, list[int]] = {}
    for index, joint in enumerate(tree):
        hanging.setdefault(joint.parent.body, []).append(index)
    placed, ordered = {GROUND}, []
    ready = list(hanging.get(GROUND, ()))  # a heap: the first in the order given comes next
    while ready:
        joint = tree[heapq.heappop(ready)]
        if joint.child.body in placed:
            continue
        ordered.append(joint)
        placed.add(joint.child.body)
        for index in hanging.get(joint.child.body, ()):
            heapq.heappush(ready, index)
    return tuple(ordered)
