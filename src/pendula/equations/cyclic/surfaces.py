"""Particles on surfaces that the model describes by expressions: whether a rotation keeps the surface.

The position r(q) permits the rotation about an axis if some rates of the coordinates move it by axis x r. Sines and
cosines become polynomials with sin^2 = 1 - cos^2, so the identity is decided exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import symengine as se

from pendula.equations.rest.at_rest import vanishes
from pendula.equations.translate import translate
from pendula.model.expressions.expression import parse
from pendula.model.joints.coordinates import JointCoordinates


def turns_with(
    joint: JointCoordinates, parameters: Collection[str], axis: Sequence[float], point: Sequence[float]
) -> str | None:
    """The coordinate that turns a particle about an axis; an empty text if several do, None if it cannot turn.

    Args:
        joint: the joint of the particle.
        parameters: names that are constant.
        axis, point: the axis, in the axes of the joint's parent side.
    """
    if joint.prescribed() or joint.rotation is not None:
        return None
    names = joint.coordinate_names()
    symbols = {name: se.Symbol(name) for name in names}
    if any(not parse(x).names <= {*names, *parameters} for x in joint.position):
        return None
    known: dict[str, Any] = {name: se.Symbol(name) for name in parameters}
    r = [translate(parse(x), {**known, **symbols}) for x in joint.position]
    arm = [x - float(p) if p else x for x, p in zip(r, point, strict=True)]
    if sum(1 for a in axis if a) != 1:
        return None
    k = next(i for i in range(3) if axis[i])
    wanted = [0, 0, 0]
    wanted[(k + 1) % 3], wanted[(k + 2) % 3] = -float(axis[k]) * arm[(k + 2) % 3], float(axis[k]) * arm[(k + 1) % 3]
    for name in names:
        for sign in (1, -1):
            if all(vanishes(se.diff(x, symbols[name]) - sign * w) for x, w in zip(r, wanted, strict=True)):
                return name
    across = [(k + 1) % 3, (k + 2) % 3]
    if len(names) == 2 and [str(r[i]) for i in across] == list(names):  # horizontal position as coordinates
        rates = [wanted[i] for i in across]
        height = sum(rate * se.diff(r[k], symbols[name]) for rate, name in zip(rates, names, strict=True))
        return "" if vanishes(height) else None
    return None
