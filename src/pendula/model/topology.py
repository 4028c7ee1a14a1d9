"""Topology of the kinematic tree: the order in which joints place bodies."""

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
    children_of: dict[str, list[int]] = {}
    for index, joint in enumerate(tree):
        children_of.setdefault(joint.parent.body, []).append(index)
    placed, ordered = {GROUND}, []
    ready = list(children_of.get(GROUND, ()))  # a heap, to keep the given order
    while ready:
        joint = tree[heapq.heappop(ready)]
        if joint.child.body in placed:
            continue
        ordered.append(joint)
        placed.add(joint.child.body)
        for index in children_of.get(joint.child.body, ()):
            heapq.heappush(ready, index)
    return tuple(ordered)
