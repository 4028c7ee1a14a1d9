"""Derivatives of inverse dynamics for the hinges outboard of a moved one: linear recursions without tangents.

The outboard hinges move with their carrier as one frozen body. In axes that rotate with the carrier, only its angular
velocity, angular acceleration and acceleration change. All changes are eights: one lane for each column of a batch.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.tangents import tangents_of, value_of, with_tangents
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import (
    FUSED,
    add,
    along,
    cross,
    dot,
    hand_over,
    inlined,
    matrix,
    put,
    put_matrix,
    put_symmetric,
    scaled,
    subtract,
    symmetric,
    symmetric_times,
    times,
    turned_inertia,
    vector,
)
from pendula.system.recursion.inverse import need_forces
from pendula.system.recursion.spatial import axis_of

CARRIED_ARM, TURNING, PATH, J, G, M, GYRO, SWING, FROZEN_WIDTH = 0, 3, 6, 15, 21, 24, 25, 34, 43
"""Columns of the table of carried hinges: arm, relative angular velocity, matrix that maps a change of the carrier's
angular velocity to a change of acceleration (9), inertia (6), first mass moment, mass, and the matrices that map a
change of angular velocity to changes of the moment and the force on the hinge's own mass (9 each); all in world axes"""
SPIN, SPIN_RATE, CHANGE_ACC, CHANGE_TURN, CHANGES_WIDTH = 0, 3, 6, 9, 12
"""Columns of changes in axes that rotate with the hinge: angular velocity, angular acceleration, acceleration; and that
rotation itself"""


@inlined
def crossing(c, s, a, b):
    """The matrix s 1 - c^ - a b^T."""
    return (
        s - a[0] * b[0], c[2] - a[0] * b[1], -c[1] - a[0] * b[2],
        -c[2] - a[1] * b[0], s - a[1] * b[1], c[0] - a[1] * b[2],
        c[1] - a[2] * b[0], -c[0] - a[2] * b[1], s - a[2] * b[2],
    )  # fmt: skip


@compiled_part(fastmath=FUSED)
def freeze(hinges, numbers, w, frozen):
    """Fills the table for :func:`carry_motion` and :func:`carry_forces`; w keeps the force on each hinge's subtree."""
    for k in range(6):
        w[0, co.P + k] = 0.0
    need_forces(numbers, w)
    for i in range(hinges.shape[0], 0, -1):
        x, y, body, row = w[hinges[i - 1].parent], w[i], numbers[i - 1], frozen[i]
        arm, above, omega, turned = vector(y, co.ARM), vector(x, co.OMEGA), vector(y, co.OMEGA), matrix(y, co.R)
        hand_over(x, co.P, arm, vector(y, co.P), vector(y, co.P + 3))
        put(row, CARRIED_ARM, arm)
        put(row, TURNING, subtract(omega, above))
        # d -> d x (above x arm + 2 slide) + above x (d x arm); the sliding velocity follows from both sides' velocities
        passing = scaled(2.0, subtract(vector(y, co.VELOCITY), vector(x, co.VELOCITY)))
        put_matrix(row, PATH, crossing(subtract(passing, cross(above, arm)), dot(above, arm), arm, above))
        g, inertia = times(turned, vector(body, co.MOMENT)), turned_inertia(turned, symmetric(body, co.INERTIA))
        put_symmetric(row, J, inertia)
        put(row, G, g)
        row[M] = body[co.MASS]
        # d -> d x J omega + omega x J d
        zero = (0.0, 0.0, 0.0)
        spun = crossing(symmetric_times(inertia, omega), 0.0, zero, zero)
        c0 = cross(omega, (inertia[0], inertia[1], inertia[2]))
        c1 = cross(omega, (inertia[1], inertia[3], inertia[4]))
        c2 = cross(omega, (inertia[2], inertia[4], inertia[5]))
        put(row, GYRO, add((spun[0], spun[1], spun[2]), (c0[0], c1[0], c2[0])))
        put(row, GYRO + 3, add((spun[3], spun[4], spun[5]), (c0[1], c1[1], c2[1])))
        put(row, GYRO + 6, add((spun[6], spun[7], spun[8]), (c0[2], c1[2], c2[2])))
        # d -> d x (omega x g) + omega x (d x g)
        put_matrix(row, SWING, crossing(cross(omega, g), dot(omega, g), g, omega))


@inlined
def tangents_at(row, at):
    """The tangents of a vector."""
    return tangents_of(row[at]), tangents_of(row[at + 1]), tangents_of(row[at + 2])


@inlined
def values_at(row, at):
    """The values of a vector with tangents."""
    return value_of(row[at]), value_of(row[at + 1]), value_of(row[at + 2])


@compiled_part(fastmath=FUSED)
def note_change(y, change):
    """Changes of a hinge with tangents, in axes that rotate with it."""
    zero = 0.0 * tangents_of(y[co.R])
    turn = (zero, zero, zero)
    for k in range(3):  # half the sum of e x de over the axes
        axis = (0.5 * value_of(y[co.R + k]), 0.5 * value_of(y[co.R + 3 + k]), 0.5 * value_of(y[co.R + 6 + k]))
        moved = (tangents_of(y[co.R + k]), tangents_of(y[co.R + 3 + k]), tangents_of(y[co.R + 6 + k]))
        turn = add(turn, cross(axis, moved))
    put(change, CHANGE_TURN, turn)
    put(change, SPIN, subtract(tangents_at(y, co.OMEGA), cross(turn, values_at(y, co.OMEGA))))
    put(change, SPIN_RATE, subtract(tangents_at(y, co.ALPHA), cross(turn, values_at(y, co.ALPHA))))
    put(change, CHANGE_ACC, subtract(tangents_at(y, co.ACC), cross(turn, values_at(y, co.ACC))))


@compiled_part(fastmath=FUSED)
def take_over(change, y, row, x):
    """Adds the force that a carried hinge needs, rotated with its carrier, to the force on the carrier x."""
    f, turn = vector(y, co.P + 3), vector(change, CHANGE_TURN)
    n = add(cross(vector(row, CARRIED_ARM), f), vector(y, co.P))
    dn, df = cross(turn, n), cross(turn, f)
    for k in range(3):
        x[co.P + k] += with_tangents(n[k], dn[k])
        x[co.P + 3 + k] += with_tangents(f[k], df[k])


@compiled_part(fastmath=FUSED)
def carry_motion(row, x, y):
    """Changes of a hinge from those of its carrier."""
    spin, alpha = vector(x, SPIN), vector(x, SPIN_RATE)
    acc = add(times(matrix(row, PATH), spin), vector(x, CHANGE_ACC))
    put(y, CHANGE_ACC, add(acc, cross(alpha, vector(row, CARRIED_ARM))))
    put(y, SPIN_RATE, add(alpha, cross(spin, vector(row, TURNING))))
    put(y, SPIN, spin)


@compiled_part(fastmath=FUSED)
def carry_forces(row, y, z):
    """The change of the force that a hinge's own mass needs."""
    spin, alpha, acc, g = vector(y, SPIN), vector(y, SPIN_RATE), vector(y, CHANGE_ACC), vector(row, G)
    moment = add(times(matrix(row, GYRO), spin), symmetric_times(symmetric(row, J), alpha))
    put(z, 0, add(moment, cross(g, acc)))
    put(z, 3, add(along(times(matrix(row, SWING), spin), acc, row[M]), cross(alpha, g)))


@compiled_part
def add_lane(numbers, at, lane, a):
    """Adds a vector in one lane of a row of eights."""
    for k in range(3):
        numbers[at + k, lane] += a[k]


@compiled_part(fastmath=FUSED)
def turn_or_slide(kind, is_speed, x, y, lane, change, wrench):
    """Direct changes due to a revolute or prismatic hinge y on x, per unit of its coordinate or speed.

    The forces on y rotate or move with it: the resulting change of the wrench on x goes into ``wrench``.
    """
    axis, omega = axis_of(y), vector(x, co.OMEGA)
    c = cross(omega, axis)
    if is_speed:
        if kind == co.REVOLUTE:
            add_lane(change, SPIN, lane, axis)
            add_lane(change, SPIN_RATE, lane, c)
        else:
            add_lane(change, CHANGE_ACC, lane, scaled(2.0, c))
        return
    force = cross(axis, vector(y, co.P + 3))
    if kind == co.REVOLUTE:
        add_lane(change, SPIN, lane, cross(vector(y, co.OMEGA), axis))
        add_lane(change, SPIN_RATE, lane, cross(vector(y, co.ALPHA), axis))
        add_lane(change, CHANGE_ACC, lane, cross(vector(y, co.ACC), axis))
        add_lane(wrench, 0, lane, add(cross(axis, vector(y, co.P)), cross(vector(y, co.ARM), force)))
        add_lane(wrench, 3, lane, force)
    else:
        add_lane(change, CHANGE_ACC, lane, add(cross(vector(x, co.ALPHA), axis), cross(omega, c)))
        add_lane(wrench, 0, lane, force)
