"""Loads in a recursion: springs, dampers, friction and forces given by expressions.

A load between the two sides of a hinge adds to the generalized force ``tau`` of the joint. Every other load is a wrench
on the frame of a hinge, which enters its bias force. The functions also return the power of all loads except springs.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.system.recursion import columns as co
from pendula.system.recursion import memory as mem
from pendula.system.recursion.algebra import (
    FUSED,
    add,
    cross,
    dot,
    increase,
    inlined,
    matrix,
    negative,
    scaled,
    subtract,
    symmetric,
    symmetric_times,
    times,
    transposed_times,
    vector,
)


@compiled_part(fastmath=FUSED)
def stretch_and_rate(hinge, body, x, y, j, q, v, drives, zero):
    """Relative coordinate j between the two sides of a hinge y on x, and its rate."""
    if hinge.kind == co.BALL:
        return zero, v[hinge.v + j] + 0.0
    if hinge.kind == co.CHART:
        if j < hinge.free:
            return q[hinge.q + j] + 0.0, v[hinge.v + j] + 0.0
        return zero, zero
    if hinge.absolute == 1:
        return body[co.SENSE] * (y[co.THETA] - (x[co.THETA] + body[co.TURN])), y[co.RATE]
    if hinge.drive >= 0:
        return zero + drives[3 * hinge.drive], y[co.RATE]
    return q[hinge.q] + 0.0, y[co.RATE]


@inlined
def point_velocity(y, offset):
    """Velocity of the point at an offset from a hinge's origin."""
    return add(vector(y, co.VELOCITY), cross(vector(y, co.OMEGA), offset))


@compiled_part(fastmath=FUSED)
def load_hinges(springs, constants, hinges, numbers, q, v, drives, values, tau, w):
    """Adds springs and dampers across hinges to the generalized forces; returns the power of the dampers."""
    power = w[0, co.ZERO]
    for k in range(springs.shape[0]):
        load, c = springs[k], constants[k]
        i = load.hinge
        hinge = hinges[i - 1]
        at, rate = stretch_and_rate(
            hinge, numbers[i - 1], w[hinge.parent], w[i], load.coordinate, q, v, drives, w[0, co.ZERO]
        )
        damping = c[co.DAMPING]
        if load.damping >= 0:
            damping += values[load.damping]
        drag = damping * rate
        if load.law >= 0:
            drag += values[load.law + co.LAW_DRAG]
            tau[load.effort] -= values[load.law + co.LAW_ELASTIC]
        tau[load.effort] -= c[co.STIFFNESS] * (at - c[co.REST]) + drag
        power -= drag * rate
    return power


@compiled_part(fastmath=FUSED)
def load_bodies(loads, constants, values, rates, tau, w):
    """Adds forces and moments on bodies, and given generalized forces; returns the power of all loads except springs.

    ``rates`` are the speeds, then the rates of the prescribed motions.
    """
    power = w[0, co.ZERO]
    for k in range(loads.shape[0]):
        load, c = loads[k], constants[k]
        kind, at = load.kind, load.value
        if kind == co.EFFORT_GIVEN:
            tau[load.first] += values[at]
            power += values[at] * rates[load.first]
            continue
        y = w[load.first]
        turned = matrix(y, co.R)
        offset = times(turned, vector(c, co.PLACE))
        if kind == co.BETWEEN:
            power += spring_between(load, c, values, y, w[load.second], offset)
            continue
        if kind == co.PULL:
            power += law_between(load, c, values, y, w[load.second], offset)
            continue
        if kind == co.SPIN:
            factor = c[co.FACTOR] + (values[at] if at >= 0 else 0.0)
            force = scaled(factor, cross(vector(y, co.OMEGA), times(turned, vector(c, co.DIRECTION))))
        else:
            zero, force = w[0, co.ZERO], vector(values, at)
            force = (zero + force[0], zero + force[1], zero + force[2])
            if load.in_body == 1:
                force = times(turned, times(matrix(c, co.AXES), force))
        if kind == co.TORQUE:
            increase(y, co.P, negative(force))
            power += dot(force, vector(y, co.OMEGA))
        else:
            apply_force(y, offset, force)
            power += dot(force, point_velocity(y, offset))
    return power


@inlined
def apply_force(y, offset, force):
    """Adds a force on a hinge's frame, at an offset from its origin, to the bias force; all in world axes."""
    back = negative(force)
    increase(y, co.P, cross(offset, back))
    increase(y, co.P + 3, back)


@inlined
def gap_between(c, y, z, offset):
    """Vector from the first end of a spring to the second, and the offset of the second end, in world axes."""
    other = times(matrix(z, co.R), vector(c, co.OTHER))
    return subtract(add(vector(z, co.POSITION), other), add(vector(y, co.POSITION), offset)), other


@compiled_part(fastmath=FUSED)
def spring_between(load, c, values, y, z, offset):
    """A linear spring and damper between two points; returns the power of the damper."""
    gap, other = gap_between(c, y, z, offset)
    square = dot(gap, gap)
    tension = c[co.SPRING_RATE] + 0.0 * square
    if c[co.LENGTH] != 0.0:
        tension = c[co.SPRING_RATE] * (1.0 - c[co.LENGTH] / np.sqrt(square))
    damping = c[co.FACTOR]
    if load.value >= 0:
        damping += values[load.value]
    drag = power = 0.0 * square
    if damping != 0.0:
        opening = dot(subtract(point_velocity(z, other), point_velocity(y, offset)), gap)
        drag = damping * (opening / square)
        power = -(drag * opening)
    force = scaled(tension + drag, gap)
    apply_force(y, offset, force)
    apply_force(z, other, negative(force))
    return power


@compiled_part(fastmath=FUSED)
def law_between(load, c, values, y, z, offset):
    """The same for a law whose elastic force and drag are expressions."""
    gap, other = gap_between(c, y, z, offset)
    distance = np.sqrt(dot(gap, gap))
    rate = dot(subtract(point_velocity(z, other), point_velocity(y, offset)), gap) / distance
    drag = values[load.value + co.LAW_DRAG]
    force = scaled((values[load.value + co.LAW_ELASTIC] + drag) / distance, gap)
    apply_force(y, offset, force)
    apply_force(z, other, negative(force))
    return -(drag * rate)


@compiled_part(fastmath=FUSED)
def energies(ctx, hinges, numbers, q, v, drives, w):
    """Kinetic and potential energy after :func:`spatial.place`, for any scalar type."""
    springs, spring_numbers = mem.springs_of(ctx)
    loads, load_numbers = mem.loads_of(ctx)
    values, down, zero = mem.values_of(ctx), vector(doubles_at(ctx.gravity, 3), 0), w[0, co.ZERO]
    kinetic = potential = zero
    for i in range(1, hinges.shape[0] + 1):
        y, body = w[i], numbers[i - 1]
        turned, omega, u, m = matrix(y, co.R), vector(y, co.OMEGA), vector(y, co.VELOCITY), body[co.MASS]
        own = transposed_times(turned, omega)  # in the axes of the hinge
        g = times(turned, vector(body, co.MOMENT))
        kinetic += 0.5 * dot(own, symmetric_times(symmetric(body, co.INERTIA), own)) + dot(u, cross(omega, g))
        kinetic += 0.5 * m * dot(u, u)
        potential -= dot(down, add(scaled(m, vector(y, co.POSITION)), g))
        hinge = hinges[i - 1]
        for j in range(hinge.free):
            kinetic += 0.5 * body[co.ROTOR + j] * (v[hinge.v + j] * v[hinge.v + j])
        if hinge.drive >= 0:
            kinetic += 0.5 * body[co.ROTOR] * (drives[3 * hinge.drive + 1] * drives[3 * hinge.drive + 1])
    for k in range(springs.shape[0]):
        spring, c = springs[k], spring_numbers[k]
        i = spring.hinge
        hinge = hinges[i - 1]
        at, _ = stretch_and_rate(hinge, numbers[i - 1], w[hinge.parent], w[i], spring.coordinate, q, v, drives, zero)
        stretch = at - c[co.REST]
        potential += 0.5 * c[co.STIFFNESS] * (stretch * stretch)
        if spring.law >= 0:
            potential += values[spring.law + co.LAW_POTENTIAL]
    for k in range(loads.shape[0]):
        load, c = loads[k], load_numbers[k]
        if load.kind == co.BETWEEN and c[co.SPRING_RATE] != 0.0:
            y = w[load.first]
            gap, _ = gap_between(c, y, w[load.second], times(matrix(y, co.R), vector(c, co.PLACE)))
            stretch = np.sqrt(dot(gap, gap)) - c[co.LENGTH]
            potential += 0.5 * c[co.SPRING_RATE] * (stretch * stretch)
        elif load.kind == co.PULL:
            potential += values[load.value + co.LAW_POTENTIAL]
    return kinetic, potential
