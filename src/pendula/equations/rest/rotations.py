"""Equations at rest of rotations by quaternion, on patches that cover all rotations up to symmetries.

The unknowns of a quaternion are its four components; the norm is one more equation. Both signs of a quaternion are the
same rotation, so its first component is nonnegative, up to an overlap. Where forces do not change as a body turns about
an axis of its parent side, or about its own axis, equilibria form circles. Symbolic derivatives of the equations decide
that, and one pose represents each circle: for turns about z the one with q3 = 0 (a patch with q0 > 0) or with q2 = 0 (a
patch with q1 > 0), and with both symmetries the one that is turned about x alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.orientation.symbols import times

REACH = 1.01
"""the search covers components of a unit quaternion up to this value"""
BACK = 0.0437
"""overlap of the two signs of a quaternion"""
FIRST = 0.6537
"""the two patches of a circle of rotations meet where its part along q0 and the axis has this length"""
OTHER = math.sqrt(1.0 - FIRST**2) - 1e-12
MOST_POWERS = 17
"""powers of a component below this are reduced by the norm"""
MOST_TERMS = 20_000
"""expressions with more operations are not examined for symmetries"""

Quaternion = Sequence[Any]
"""Four components, scalar first."""


def unit(axis: int) -> Quaternion:
    """The quaternion i, j or k."""
    return (0, int(axis == 0), int(axis == 1), int(axis == 2))


@dataclass(frozen=True)
class Ball:
    """A quaternion in the equations: its components, and the torques along its speeds.

    Attributes:
        q: components.
        inner: torques about the axes of the body side.
        outer: torques about the axes of the parent side.
    """

    q: Quaternion
    inner: tuple[Any, ...]
    outer: tuple[Any, ...]

    @classmethod
    def of(cls, q: Sequence[Any], v: Sequence[Any], rates: Sequence[Any], torques: Sequence[Any]) -> Ball:
        """From the torques along the speeds v, with the rates N v of the components; N^T N is 1/4 for a unit norm."""
        slopes = [[se.sympify(rate).diff(x) for x in v] for rate in rates]
        four = (q[0], q[1], q[2], q[3])
        plain = cls(four, (), ())

        def along(turned: Quaternion) -> Any:
            """The torque on a rotation with these rates of the components, by virtual work."""
            speeds = [2 * sum(slopes[i][k] * turned[i] for i in range(4)) for k in range(3)]
            for k, torque in enumerate(torques):
                if all(plain.vanishes(speed - int(k == j)) for j, speed in enumerate(speeds)):
                    return torque
            return _shorter(sum((t * s for t, s in zip(torques, speeds, strict=True)), se.Integer(0)))

        inner, outer = zip(*((along(times(four, unit(k))), along(times(unit(k), four))) for k in range(3)), strict=True)
        return cls(four, inner, outer)

    @property
    def norm(self) -> Any:
        """The square of the norm, minus one."""
        return se.Add(*[x**2 for x in self.q]) - 1

    def vanishes(self, e: Any) -> bool:
        """Whether an expression is zero for all quaternions of norm 1; False if this cannot be decided."""
        return bool(self.reduced(e) == 0)

    def reduced(self, e: Any) -> Any:
        """An expression, also within roots and functions, as a polynomial without squares of the first component."""
        e = se.sympify(e)
        return e if se.count_ops(e) > MOST_TERMS else self._without_squares(self._inside(e, {}))

    def _inside(self, e: Any, seen: dict[Any, Any]) -> Any:
        """An expression with its roots, quotients and functions of reduced arguments."""
        if not e.args or not e.free_symbols & set(self.q):
            return e
        if e not in seen:
            parts = [self._inside(x, seen) for x in e.args]
            if not (e.is_Add or e.is_Mul or (e.is_Pow and e.args[1].is_Integer and int(e.args[1]) > 0)):
                parts = [self._without_squares(x) for x in parts]
            seen[e] = e.func(*parts)
        return seen[e]

    def _without_squares(self, e: Any) -> Any:
        first, rest = self.q[0], 1 - se.Add(*[x**2 for x in self.q[1:]])
        table = {first**k: first ** (k % 2) * rest ** (k // 2) for k in range(2, MOST_POWERS)}
        e = se.expand(e)
        return se.expand(e.subs(table)) if first in e.free_symbols else e

    def change(self, e: Any, turned: Quaternion) -> Any:
        """Derivative of an expression as the components change by ``turned``."""
        return sum((e.diff(x) * d for x, d in zip(self.q, turned, strict=True)), se.Integer(0))

    def symmetric(self, others: Sequence[Any], axis: int, own: bool) -> bool:
        """Whether turns about an axis of the body side (``own``) or of the parent side leave the equations unchanged.

        The torque about that axis must also vanish. ``others`` are the forces on all other speeds.
        """
        turned = times(self.q, unit(axis)) if own else times(unit(axis), self.q)
        idle, seen = (self.inner, self.outer) if own else (self.outer, self.inner)
        if not self.vanishes(idle[axis]):
            return False
        return all(self.vanishes(self.change(self.reduced(e), turned)) for e in (*seen, *others))


def _shorter(e: Any) -> Any:
    """An expression, expanded if that makes it shorter."""
    expanded = se.expand(e)
    return expanded if se.count_ops(expanded) < se.count_ops(e) else e


@dataclass(frozen=True)
class Part:
    """A patch of the rotations of one ball joint.

    Attributes:
        q: components by the unknowns.
        unknowns: their symbols.
        sides: lowest and highest value of each.
        rows: torques that are to vanish.
        flips: groups of unknowns that may change their signs together.
        edges: lower bounds that a root has to exceed by the margin of :class:`Patch`, by unknown.
    """

    q: Quaternion
    unknowns: tuple[Any, ...]
    sides: tuple[tuple[float, float], ...]
    rows: tuple[Any, ...]
    flips: tuple[tuple[int, ...], ...] = ()
    edges: dict[int, float] = field(default_factory=dict)


def parts_of(ball: Ball, others: Sequence[Any]) -> tuple[list[Part], str]:
    """Patches that cover the rotations of a ball joint up to its symmetries, and these in words."""
    outer = next((k for k in range(3) if ball.symmetric(others, k, own=False)), None)
    inner = next((k for k in range(3) if ball.symmetric(others, k, own=True)), None)
    if outer is not None and inner is not None:
        return [_turned_about_one_axis(ball, outer, inner)], f"about {'xyz'[outer]} and about its own {'xyz'[inner]}"
    axis = outer if outer is not None else inner
    near, far = (-REACH, REACH), (-BACK, REACH)
    if axis is None:
        return [Part(ball.q, tuple(ball.q), (far, near, near, near), ball.inner, ((0, 1, 2, 3),))], ""
    torques = ball.inner if outer is None else ball.outer
    rows = tuple(t for k, t in enumerate(torques) if k != axis)
    first, second = (axis + 1) % 3 + 1, (axis + 2) % 3 + 1
    parts = []
    for gone, positive, least in ((axis + 1, 0, FIRST), (second, first, OTHER)):
        kept = [k for k in range(4) if k != gone]
        q = tuple(se.Integer(0) if k == gone else x for k, x in enumerate(ball.q))
        sides = tuple((least, REACH) if k == positive else near for k in kept)
        edges = {kept.index(positive): least}
        parts.append(Part(q, tuple(ball.q[k] for k in kept), sides, rows, (), edges))
    return parts, f"about {'its own ' if outer is None else ''}{'xyz'[axis]}"


def _turned_about_one_axis(ball: Ball, outer: int, inner: int) -> Part:
    """The poses of a body with two symmetries that are turned about one axis across those: one angle remains.

    By the symmetries the torque about any axis across that one vanishes there: at a pose where both symmetry axes
    coincide, because turns about them cancel; elsewhere because it is a combination of the torques about the two axes.
    """
    turn: Quaternion = (se.Integer(1), se.Integer(0), se.Integer(0), se.Integer(0))
    half = se.Rational(1, 2)
    for _ in range((outer - inner) % 3):  # turns the inner axis to the outer one; x to y, y to z, z to x
        turn = times(turn, (half, half, half, half))
    across = (outer + 1) % 3
    c, s = ball.q[0], ball.q[1 + across]
    slanted = times(tuple(c if k == 0 else s if k == 1 + across else se.Integer(0) for k in range(4)), turn)
    q = tuple(se.expand(x) for x in slanted)
    side = (-BACK, REACH)
    return Part(q, (c, s), (side, side), (ball.outer[across],), ((0,), (1,)))


@dataclass(frozen=True)
class RotationRows:
    """Equations on one patch, as many as unknowns.

    Attributes:
        rows: expressions that are to vanish: forces, then the norm of every quaternion.
        plain: indices of the coordinates that are unknowns and no part of a quaternion.
        unknowns: symbols of these, then the unknowns of the parts.
        lift: the coordinates as linear combinations of the unknowns, row by row.
    """

    rows: list[Any]
    plain: list[int]
    unknowns: list[Any]
    lift: list[list[float]]


def rows_on_patch(eq: Equations, chosen: Sequence[tuple[Ball, Part]], others: Sequence[Any]) -> RotationRows:
    """The equations at rest with the quaternions of some ball joints on chosen parts of the rotations."""
    turning = {symbol for ball, _ in chosen for symbol in ball.q}
    table = {symbol: x for ball, part in chosen for symbol, x in zip(ball.q, part.q, strict=True)}
    rows = [*others, *(row for _, part in chosen for row in part.rows)]
    rows = [_shorter(se.sympify(row).subs(table)) for row in rows]
    plain = [i for i, x in enumerate(eq.q) if x not in turning and any(x in row.free_symbols for row in rows)]
    unknowns = [*(eq.q[i] for i in plain), *(x for _, part in chosen for x in part.unknowns)]
    rows += [se.expand(ball.norm.subs(table)) for ball, _ in chosen]
    lift = [[float(se.sympify(table.get(x, x)).diff(symbol)) for symbol in unknowns] for x in eq.q]
    return RotationRows(rows, plain, unknowns, lift)
