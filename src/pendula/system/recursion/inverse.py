"""Inverse dynamics by the recursive Newton-Euler algorithm (Featherstone 2008, table 5.1), for any scalar type.

:func:`spatial.place` is the pass for poses and velocities before it.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_part
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import (
    FUSED,
    add,
    along,
    cross,
    dot,
    hand_over,
    increase,
    inertia_times,
    matrix,
    put,
    scaled,
    symmetric,
    symmetric_times,
    times,
    transposed_times,
    vector,
)
from pendula.system.recursion.charts import along_axis, move_chart
from pendula.system.recursion.spatial import acceleration_on, axis_of


@compiled_part(fastmath=FUSED)
def accelerate_given(hinges, drives, charts, a, w, first=1):
    """Accelerations of all hinges for given v', from ground to the tips."""
    for i in range(first, hinges.shape[0] + 1):
        hinge, y = hinges[i - 1], w[i]
        kind, k = hinge.kind, hinge.v
        alpha, acc = acceleration_on(w[hinge.parent], co.ALPHA, vector(y, co.ARM))
        if kind == co.CHART:
            alpha, acc = move_chart(hinge, charts[hinge.chart :], a, alpha, acc)
        elif kind == co.BALL:
            alpha = add(alpha, times(matrix(y, co.R), vector(a, k)))
        elif hinge.absolute == 1:
            alpha = scaled(a[k] if k >= 0 else drives[3 * hinge.drive + 2], axis_of(y))
        elif k >= 0 and kind == co.REVOLUTE:
            alpha = along(alpha, axis_of(y), a[k])
        elif k >= 0:
            acc = along(acc, axis_of(y), a[k])
        put(y, co.ALPHA, add(alpha, vector(y, co.ANGULAR_BIAS)))
        put(y, co.ACC, add(acc, vector(y, co.LINEAR_BIAS)))


@compiled_part(fastmath=FUSED)
def need_forces(numbers, w, first=1):
    """The force I a + v x* I v that each hinge's own mass needs for its motion (Newton-Euler equations)."""
    for i in range(first, numbers.shape[0] + 1):
        y, body = w[i], numbers[i - 1]
        omega, alpha, acc, turned, J = (
            vector(y, co.OMEGA),
            vector(y, co.ALPHA),
            vector(y, co.ACC),
            matrix(y, co.R),
            symmetric(body, co.INERTIA),
        )
        own = transposed_times(turned, omega)  # in the axes of the hinge, in which the inertia is constant
        gyro = cross(own, symmetric_times(J, own))
        moment = times(turned, add(gyro, symmetric_times(J, transposed_times(turned, alpha))))
        g = times(turned, vector(body, co.MOMENT))
        put(y, co.P, add(moment, cross(g, acc)))
        swing = add(cross(omega, cross(omega, g)), cross(alpha, g))
        put(y, co.P + 3, add(scaled(body[co.MASS], acc), swing))


@compiled_part(fastmath=FUSED)
def accelerate_forces(w):
    """The same if w holds the inertia of each single hinge in world axes: adds I a to the bias forces v x* I v."""
    for i in range(1, w.shape[0]):
        y = w[i]
        n, f = inertia_times(
            symmetric(y, co.A), matrix(y, co.B), symmetric(y, co.C), vector(y, co.ALPHA), vector(y, co.ACC)
        )
        increase(y, co.P, n)
        increase(y, co.P + 3, f)


@compiled_part(fastmath=FUSED)
def hand_down(hinges, numbers, a, tau, nv, charts, w, out, first=1):
    """M v' - f, from the forces that each hinge needs, from the tips to ground."""
    for i in range(hinges.shape[0], first - 1, -1):
        hinge, y, rotors = hinges[i - 1], w[i], numbers[i - 1][co.ROTOR :]
        kind, k, n, f = hinge.kind, hinge.v, vector(y, co.P), vector(y, co.P + 3)
        if kind == co.CHART:
            for j in range(hinge.free):
                out[k + j] = along_axis(charts[hinge.chart :], hinge.axes + 6 * j, n, f) - tau[k + j]
                out[k + j] += rotors[j] * a[k + j]
        elif kind == co.BALL:
            left = transposed_times(matrix(y, co.R), n)
            for j in range(3):
                out[k + j] = left[j] - tau[k + j]
        elif kind == co.REVOLUTE:
            axis = axis_of(y)
            spring = tau[k] if k >= 0 else tau[nv + hinge.drive]
            total = dot(axis, n)
            if k >= 0:
                out[k] = (total - spring) + rotors[0] * a[k]
            if hinge.absolute == 1:  # its drive acts from ground: the parent gets only the spring's torque
                n = along(n, axis, spring - total)
        elif k >= 0:
            out[k] = (dot(axis_of(y), f) - tau[k]) + rotors[0] * a[k]
        hand_over(w[hinge.parent], co.P, vector(y, co.ARM), n, f)
