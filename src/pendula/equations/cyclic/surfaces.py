"""Particles on surfaces that the model describes by expressions: whether a rotation keeps the surface.

The position r(q) permits the rotation about an axis if some rates of the coordinates move it by axis x r. Sines and
cosines become polynomials with s^2 = 1 - c^2, so the identity is decided exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import symengine as se

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
            if all(_vanishes(se.diff(x, symbols[name]) - sign * w, names) for x, w in zip(r, wanted, strict=True)):
                return name
    across = [(k + 1) % 3, (k + 2) % 3]
    if len(names) == 2 and [str(r[i]) for i in across] == list(names):  # horizontal position as coordinates
        rates = [wanted[i] for i in across]
        height = sum(rate * se.diff(r[k], symbols[name]) for rate, name in zip(rates, names, strict=True))
        return "" if _vanishes(height, names) else None
    return None


def _vanishes(expression: Any, names: tuple[str, ...]) -> bool:
    """Whether a polynomial in sines and cosines of coordinates is identically zero."""
    found = se.sympify(expression)
    for name in names:
        q, s, c = se.Symbol(name), se.Symbol(f"sin {name}"), se.Symbol(f"cos {name}")
        found = found.xreplace({se.sin(q): s, se.cos(q): c})
        found = se.expand(found)
        found = se.expand(found.xreplace({s**n: (1 - c**2) ** (n // 2) * s ** (n % 2) for n in range(2, 9)}))
    return bool(found == 0)
