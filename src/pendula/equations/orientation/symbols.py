"""Orientations in symbols: rotation matrix, angular velocity and rates of every chart, and the map L of omega = L q'.

The rotation vector r, of length a, uses the functions c_n = (1/(n-2)! - c_(n-2))/a^2 with c_0 = cos(a) and
c_1 = sin(a)/a (Stumpff's functions of a^2), which are regular at a = 0: R = 1 + c_1 [r] + c_2 [r]^2 and, in rotated
axes, L = 1 - c_2 [r] + c_3 [r]^2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.tape import Direction, Expr, Tape
from pendula.model.joints.orientation import QUATERNION, Axes, Chart
from pendula.model.joints.steps import AXES
from pendula.model.joints.steps import TurnBall as Template

SMALL = 2
"""a^2 up to which the functions of a rotation vector are power series: the closed forms lose few digits beyond"""
TERMS = 13
"""terms of these series; the first one left out is below 1e-21, and below 1e-17 in second derivatives"""


@dataclass(frozen=True)
class TurnBall:
    """A rotation by a chart of an orientation.

    Attributes:
        matrix: from rotated axes to those before the rotation; names, if :func:`turns_by_speeds`.
        quaternion: the same rotation, scalar first.
        omega: angular velocity in the rotated axes.
        columns: by rate: partial angular velocity in the rotated axes.
        bias: rate of ``omega`` in rotated axes for constant speeds.
        template: the step of the joint.
    """

    matrix: vec.Matrix
    quaternion: tuple[Expr, Expr, Expr, Expr]
    omega: vec.Vector
    columns: Mapping[str, vec.Vector]
    bias: vec.Vector
    template: Template


def turn_ball(tape: Tape, template: Template, hint: str) -> TurnBall:
    """The step of an orientation with symbols."""
    chart, axes = template.chart, template.axes
    q, v = ([se.Symbol(name) for name in names] for names in (template.coordinates, template.speeds))
    matrix, quaternion = chart_matrix(tape, chart, q, hint), chart_quaternion(tape, chart, q, hint)
    if turns_by_speeds(template):
        matrix = [[tape.define(x, f"R__{hint}_joint_{a}{b}") for b, x in zip("xyz", row, strict=True)]
                  for a, row in zip("xyz", matrix, strict=True)]  # fmt: skip
    if axes == "body":
        columns: vec.Matrix = vec.IDENTITY
        omega: vec.Vector = v
    elif axes == "parent":
        columns = matrix  # the columns of R^T are the rows of R
        omega = vec.times(vec.transposed(matrix), v)
    else:
        L = tape.keep_matrix(velocity_map(tape, chart, q, "body", hint), f"L__{hint}")
        columns, omega = vec.transposed(L), tape.keep_all(vec.times(L, v), f"spin__{hint}")
    bias: vec.Vector = vec.NULL
    if axes == "rates":
        bias = Direction(tape, dict(zip(q, v, strict=True)), "dt").all(omega)
    return TurnBall(matrix, quaternion, omega, dict(zip(template.speeds, columns, strict=True)), bias, template)


def turns_by_speeds(template: Template) -> bool:
    """Whether rates of three coordinates follow from an angular velocity, and are infinite where these are singular."""
    return template.axes != "rates" and template.chart.name != QUATERNION


def matrix_rates(ball: TurnBall, omega: vec.Vector) -> dict[Any, Expr]:
    """The rates of the entries of a rotation matrix for an angular velocity in the axes of the speeds.

    R' = R [omega] in rotated axes and [omega] R in those before the rotation are regular at every pose. By the chain
    rule R' = (dR/dq) N omega, in which N is infinite at a singularity.
    """
    if ball.template.axes == "body":
        rates: Sequence[vec.Vector] = [vec.cross(row, omega) for row in ball.matrix]
    else:
        rates = vec.transposed([vec.cross(omega, column) for column in vec.transposed(ball.matrix)])
    return {x: rate for row, rated in zip(ball.matrix, rates, strict=True) for x, rate in zip(row, rated, strict=True)}


def chart_rates(tape: Tape, template: Template, hint: str) -> list[Expr]:
    """Rates of the coordinates: q' = N v."""
    q, v = ([se.Symbol(name) for name in names] for names in (template.coordinates, template.speeds))
    if template.axes == "rates":
        return list(v)
    chart = template.chart
    if chart.name == QUATERNION:
        return quaternion_rate(q, v, template.axes)
    N = tape.keep_matrix(inverse_map(tape, chart, q, template.axes, hint), f"N__{hint}")
    return vec.times(N, v)


# -- rotations -----------------------------------------------------------------------------------------


def chart_matrix(tape: Tape, chart: Chart, q: Sequence[Any], hint: str) -> vec.Matrix:
    """The rotation matrix from rotated axes to those before the rotation."""
    if not chart.is_sequence:
        return quaternion_matrix(chart_quaternion(tape, chart, q, hint))
    first, second, third = _turn_matrices(tape, chart, q, hint)
    return vec.product(vec.product(first, second), third)


def chart_quaternion(tape: Tape, chart: Chart, q: Sequence[Any], hint: str) -> tuple[Expr, Expr, Expr, Expr]:
    """The unit quaternion of a rotation, scalar first."""
    if chart.name == QUATERNION:
        a, b, c, d = q
        return a, b, c, d
    if chart.is_sequence:
        total: Sequence[Expr] = (1, 0, 0, 0)
        for letter, k in zip(chart.body_letters, chart.order, strict=True):
            total = times(total, turn_quaternion(AXES[letter], q[k]))
        a, b, c, d = total
        return a, b, c, d
    quarter = tape.name(se.Add(*[x**2 for x in q]) / 4, f"quarter__{hint}")
    half = stumpff(tape, 1, quarter, hint) / 2
    return stumpff(tape, 0, quarter, hint), half * q[0], half * q[1], half * q[2]


def quaternion_matrix(q: Sequence[Expr]) -> vec.Matrix:
    """Rotation matrix of a unit quaternion, scalar first, as homogeneous quadratics."""
    w, x, y, z = q
    return (
        (w**2 + x**2 - y**2 - z**2, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w**2 - x**2 + y**2 - z**2, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w**2 - x**2 - y**2 + z**2),
    )


def times(a: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
    """Product of quaternions, scalar first."""
    (w, *u), (s, *v) = a, b
    scalar = vec.total([w * s, -vec.dot(u, v)])
    return [scalar, *vec.add(vec.scale(w, v), vec.scale(s, u), vec.cross(u, v))]


def conjugate(q: Sequence[Expr]) -> list[Expr]:
    """The conjugate of a quaternion: the inverse rotation, if it is a unit quaternion."""
    return [q[0], *vec.scale(-1, q[1:])]


def turn_quaternion(axis: vec.Vector, angle: Expr) -> list[Expr]:
    """The unit quaternion of a rotation about a unit axis, scalar first."""
    half = se.sympify(angle) / 2
    return [se.cos(half), *vec.scale(se.sin(half), axis)]


def quaternion_rate(q: Sequence[Any], omega: Sequence[Any], axes: Axes) -> list[Expr]:
    """q' = q * (0, omega)/2 for omega in rotated axes, (0, omega) * q/2 for omega in those before the rotation."""
    w, x, y, z = q
    a, b, c = (o / 2 for o in omega)
    s = 1 if axes == "body" else -1
    return [
        -x * a - y * b - z * c,
        w * a + s * (y * c - z * b),
        w * b + s * (z * a - x * c),
        w * c + s * (x * b - y * a),
    ]


# -- angular velocity ----------------------------------------------------------------------------------


def velocity_map(tape: Tape, chart: Chart, q: Sequence[Any], axes: Axes, hint: str) -> vec.Matrix:
    """L of omega = L q', with omega in rotated axes ("body") or in those before the rotation ("parent").

    Eq. 6 of Gupta and Saha is that of "zyz" in axes of the parent side.
    """
    if chart.is_sequence:
        return vec.transposed(_in_order(chart, _axes_of_turns(tape, chart, q, axes, hint)))
    if chart.name == QUATERNION:
        w, x, y, z = (2 * e for e in q)
        s = 1 if axes == "body" else -1
        return ((-x, w, s * z, -s * y), (-y, -s * z, w, s * x), (-z, s * y, -s * x, w))
    square, skew, twice = _skews(tape, q, hint)
    return _combined(_sign(axes, -1) * stumpff(tape, 2, square, hint), stumpff(tape, 3, square, hint), skew, twice)


def inverse_map(tape: Tape, chart: Chart, q: Sequence[Any], axes: Axes, hint: str) -> vec.Matrix:
    """N of q' = N omega for three angles or a rotation vector; entries are infinite where the chart is singular."""
    if not chart.is_sequence:
        square, skew, twice = _skews(tape, q, hint)
        c2, c3, c4 = (stumpff(tape, n, square, hint) for n in (2, 3, 4))
        return _combined(se.Rational(_sign(axes, 1), 2), tape.name((c3 - 2 * c4) / (2 * c2), f"k__{hint}"), skew, twice)
    a, b, c = _axes_of_turns(tape, chart, q, axes, hint)
    # a . (b x c) does not depend on the axes: sine or cosine of the middle angle
    first, second, third = (AXES[letter] for letter in chart.body_letters)
    _, middle, _ = _turn_matrices(tape, chart, q, hint)
    whole = vec.dot(vec.cross(first, second), vec.times(middle, third))
    rows = [[x / whole for x in vec.cross(*pair)] for pair in ((b, c), (c, a), (a, b))]
    return _in_order(chart, rows)


def _axes_of_turns(
    tape: Tape, chart: Chart, q: Sequence[Any], axes: Axes, hint: str
) -> tuple[vec.Vector, vec.Vector, vec.Vector]:
    """The axes of the three rotations about body-fixed axes, in the order of these rotations."""
    first, second, third = _turn_matrices(tape, chart, q, hint)
    a, b, c = (AXES[letter] for letter in chart.body_letters)
    if axes == "parent":
        return a, vec.times(first, b), vec.times(first, vec.times(second, c))
    back, further = vec.transposed(third), vec.transposed(second)
    return vec.times(back, vec.times(further, a)), vec.times(back, b), c


def _turn_matrices(tape: Tape, chart: Chart, q: Sequence[Any], hint: str) -> list[vec.Matrix]:
    return [
        vec.turn_matrix(AXES[letter], *tape.trig(q[k], hint))
        for letter, k in zip(chart.body_letters, chart.order, strict=True)
    ]


def _in_order(chart: Chart, rows: Sequence[vec.Vector]) -> vec.Matrix:
    """Rows for body-fixed rotations, in the order of the coordinates."""
    return [rows[chart.order.index(k)] for k in range(3)]


def _sign(axes: Axes, of_body: int) -> int:
    return of_body if axes == "body" else -of_body


def _skews(tape: Tape, q: Sequence[Any], hint: str) -> tuple[Expr, vec.Matrix, vec.Matrix]:
    """Square of a rotation vector r, [r] and [r]^2."""
    x, y, z = q
    square = tape.name(x**2 + y**2 + z**2, f"square__{hint}")
    twice = ((-(y**2) - z**2, x * y, x * z), (x * y, -(x**2) - z**2, y * z), (x * z, y * z, -(x**2) - y**2))
    return square, vec.skew(q), twice


def _combined(first: Expr, second: Expr, skew: vec.Matrix, twice: vec.Matrix) -> vec.Matrix:
    """1 + first [r] + second [r]^2."""
    return [[(1 if i == j else 0) + first * skew[i][j] + second * twice[i][j] for j in range(3)] for i in range(3)]


def stumpff(tape: Tape, n: int, square: Expr, hint: str) -> Expr:
    """c_n = sum of (-square)^k/(2k + n)!, by its series near zero and in closed form elsewhere; a name on the tape."""
    square = se.sympify(square)
    series = se.Integer(0)
    for k in reversed(range(TERMS)):
        series = series * -square + se.Rational(1, math.factorial(2 * k + n))
    a = se.sqrt(square)
    closed = se.cos(a) if n % 2 == 0 else se.sin(a) / a
    for m in range(n % 2 + 2, n + 1, 2):
        closed = (se.Rational(1, math.factorial(m - 2)) - closed) / square
    return tape.name(se.Piecewise((series, square < SMALL), (closed, True)), f"c{n}__{hint}")
