"""The articulated-body algorithm for trees in space (Featherstone 2008, table 7.1), for any scalar type.

Everything is in world axes, at the origin of each hinge; gravity enters as an acceleration of ground. A hinge is a
revolute or prismatic joint along its z axis (``tables`` chooses the axes), a spherical joint (ball), or a chart whose
motion subspace is a set of expressions. The articulated inertia of a hinge and its subtree is stored as

    [n]   [A   B] [alpha]   [n0]
    [f] = [B^T C] [  a  ] + [f0]      A and C symmetric, n0 and f0 the bias force

and the motion subspaces are eliminated hinge by hinge, from the tips to ground. A ball eliminates all of A and B, which
are then set to exactly zero: rounding errors left there would grow along chains.

``w`` is the scratch table with one row per hinge; row 0 is ground. Its columns, and those of ``numbers``, have names
instead of record fields, since the same source runs on tables of float64, of eights and of tangents.
"""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.trig import reciprocal, sincos
from pendula.system.orientation.turning import quaternion_rate
from pendula.system.recursion import charts as ch
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import (
    FUSED,
    add,
    along,
    cross,
    dot,
    guarded,
    hand_over,
    increase,
    increase_symmetric,
    inertia_times,
    inlined,
    matrix,
    product,
    put,
    put_matrix,
    put_symmetric,
    quaternion_matrix,
    scaled,
    subtract,
    symmetric,
    symmetric_times,
    times,
    transposed_times,
    turned_inertia,
    vector,
)
from pendula.system.recursion.columns import BALL, CHART, PRISMATIC, REVOLUTE


@inlined
def axis_of(row):
    """The joint axis of a hinge: the z axis of its frame."""
    return row[co.R + 2], row[co.R + 5], row[co.R + 8]


@compiled_part(fastmath=FUSED)
def clear_ground(w, gx, gy, gz):
    """Initializes row 0: ground, with the upward acceleration -g that represents gravity."""
    ground = w[0]
    for k in range(co.WIDTH):
        ground[k] = 0.0
    ground[co.R], ground[co.R + 4], ground[co.R + 8] = 1.0, 1.0, 1.0
    ground[co.ACC], ground[co.ACC + 1], ground[co.ACC + 2] = -gx, -gy, -gz


# -- first pass: poses and velocities ----------------------------------------------------------------------


@compiled_part(fastmath=FUSED)
def place(hinges, numbers, q, v, drives, charts, w, first=1):
    """Pose, spatial velocity and velocity-product acceleration of every hinge (table 7.1, first pass).

    The latter includes the accelerations of prescribed motions. Hinges before ``first`` stay unchanged, here and in the
    functions below.
    """
    zero = w[0, co.ZERO]
    for i in range(first, hinges.shape[0] + 1):
        hinge, body, y = hinges[i - 1], numbers[i - 1], w[i]
        x, kind = w[hinge.parent], hinge.kind
        above = matrix(x, co.R)
        E, arm = matrix(body, co.ROTATION), times(above, vector(body, co.SHIFT))
        if hinge.absolute == 1:
            E = (
                zero + E[0], zero + E[1], zero + E[2], zero + E[3], zero + E[4], zero + E[5], zero + E[6], zero + E[7],
                zero + E[8],
            )  # fmt: skip
        else:
            E = product(above, E)
        if kind in (REVOLUTE, PRISMATIC):
            if hinge.drive >= 0:
                at, rate, more = vector(drives, 3 * hinge.drive)
                at, rate, more = zero + at, zero + rate, zero + more
            else:
                at, rate, more = q[hinge.q] + 0.0, v[hinge.v] + 0.0, zero
            if kind == REVOLUTE:
                place_revolute(hinge, body, E, arm, at, rate, more, x, y)
            else:
                place_prismatic(body, E, arm, at, rate, more, x, y)
        elif kind == BALL:
            place_ball(hinge, E, arm, q, v, x, y)
        else:
            omega, theta = vector(x, co.OMEGA), x[co.THETA] + body[co.TURN]
            arm, slide, bias = ch.place_chart(hinge, charts[hinge.chart :], E, arm, omega, theta, y)
            settle(x, y, arm, add(cross(omega, arm), slide), bias)


@inlined
def settle(x, y, arm, velocity, bias):
    """Stores position, velocity and linear bias of the hinge y on x, from its motion relative to x."""
    put(y, co.ARM, arm)
    put(y, co.LINEAR_BIAS, bias)
    put(y, co.POSITION, add(vector(x, co.POSITION), arm))
    put(y, co.VELOCITY, add(vector(x, co.VELOCITY), velocity))


@inlined
def place_revolute(hinge, body, E, arm, at, rate, more, x, y):
    """A revolute hinge y on x, rotated by ``at`` from the frame E."""
    s, c = sincos(at)
    omega, axis = vector(x, co.OMEGA), (E[2], E[5], E[8])
    if hinge.absolute == 1:
        y[co.THETA] = body[co.SENSE] * at
        rate -= body[co.SENSE] * omega[2]
        more = 0.0 * rate
    else:
        y[co.THETA] = x[co.THETA] + (body[co.TURN] + body[co.SENSE] * at)
    y[co.RATE] = rate
    y[co.R], y[co.R + 3], y[co.R + 6] = c * E[0] + s * E[1], c * E[3] + s * E[4], c * E[6] + s * E[7]
    y[co.R + 1], y[co.R + 4], y[co.R + 7] = c * E[1] - s * E[0], c * E[4] - s * E[3], c * E[7] - s * E[6]
    y[co.R + 2], y[co.R + 5], y[co.R + 8] = axis
    put(y, co.OMEGA, along(omega, axis, rate))
    put(y, co.ANGULAR_BIAS, along(scaled(rate, cross(omega, axis)), axis, more))
    velocity = cross(omega, arm)
    settle(x, y, arm, velocity, cross(omega, velocity))


@inlined
def place_prismatic(body, E, arm, at, rate, more, x, y):
    """A prismatic hinge y on x, displaced by ``at`` from the frame E."""
    omega, axis = vector(x, co.OMEGA), (E[2], E[5], E[8])
    arm, slide = along(arm, axis, at), scaled(rate, axis)
    zero = 0.0 * rate
    put_matrix(y, co.R, E)
    put(y, co.OMEGA, omega)
    put(y, co.ANGULAR_BIAS, (zero, zero, zero))
    y[co.THETA], y[co.RATE] = x[co.THETA] + body[co.TURN], rate
    velocity = cross(omega, arm)
    bias = cross(omega, along(velocity, slide, 2.0))  # Coriolis and centripetal acceleration
    settle(x, y, arm, add(velocity, slide), along(bias, axis, more))


@inlined
def place_ball(hinge, E, arm, q, v, x, y):
    """A spherical hinge y on x, rotated from the frame E by its quaternion; its speeds are in body axes."""
    j, omega = hinge.q, vector(x, co.OMEGA)
    turned = product(E, quaternion_matrix(q[j], q[j + 1], q[j + 2], q[j + 3]))
    put_matrix(y, co.R, turned)
    own = times(turned, vector(v, hinge.v))
    put(y, co.OMEGA, add(omega, own))
    put(y, co.ANGULAR_BIAS, cross(omega, own))
    y[co.THETA], y[co.RATE] = 0.0, 0.0
    velocity = cross(omega, arm)
    settle(x, y, arm, velocity, cross(omega, velocity))


@compiled_part(fastmath=FUSED)
def start_inertia(numbers, w):
    """Every hinge's own inertia and bias force v x* I v, without its subtree (table 7.1, first pass)."""
    zero = w[0, co.ZERO]
    for i in range(1, numbers.shape[0] + 1):
        y, body = w[i], numbers[i - 1]
        m, omega, turned = body[co.MASS], vector(y, co.OMEGA), matrix(y, co.R)
        g, J = times(turned, vector(body, co.MOMENT)), turned_inertia(turned, symmetric(body, co.INERTIA))
        put_symmetric(y, co.A, J)
        put_matrix(y, co.B, (zero, -g[2], g[1], g[2], zero, -g[0], -g[1], g[0], zero))
        put_symmetric(y, co.C, (zero + m, zero, zero, zero + m, zero, zero + m))
        put(y, co.P, cross(omega, symmetric_times(J, omega)))
        put(y, co.P + 3, cross(omega, cross(omega, g)))


# -- second pass: articulated inertias and bias forces -------------------------------------------------------


@inlined
def inverse(M):
    """Inverse of a symmetric matrix; NaN if it is not positive definite."""
    a, b, c, d, e, f = M
    p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
    whole = guarded(a * p + b * q + c * r, (a + d + f) * (p + (a * f - c * c) + (a * d - b * b)))
    k = reciprocal(whole)
    return p * k, q * k, r * k, (a * f - c * c) * k, (b * c - a * e) * k, (a * d - b * b) * k


@inlined
def less_outer(M, u, v):
    """M - u v^T for symmetric M and u parallel to v."""
    return (
        M[0] - u[0] * v[0], M[1] - u[0] * v[1], M[2] - u[0] * v[2], M[3] - u[1] * v[1], M[4] - u[1] * v[2],
        M[5] - u[2] * v[2],
    )  # fmt: skip


@compiled_part(fastmath=FUSED)
def articulate(hinges, numbers, tau, nv, drives, charts, w):
    """Articulated inertias and bias forces, from the tips to ground (Featherstone 2008, table 7.1, second pass).

    With motion subspace S: U = I S, D = S^T U plus the armature, u = tau - S^T p, and the parent gets I - U D^-1 U^T
    and p + U D^-1 u, where p already contains I c of the velocity-product acceleration c. ``tau`` are the generalized
    forces of the nv freedoms, then those of the prescribed motions. w keeps what :func:`accelerate` needs.
    """
    for i in range(hinges.shape[0], 0, -1):
        hinge, y, rotors = hinges[i - 1], w[i], numbers[i - 1][co.ROTOR :]
        kind, on_ground = hinge.kind, hinge.parent == 0
        IA, IB, IC = symmetric(y, co.A), matrix(y, co.B), symmetric(y, co.C)
        n, f = inertia_times(IA, IB, IC, vector(y, co.ANGULAR_BIAS), vector(y, co.LINEAR_BIAS))
        n, f = add(vector(y, co.P), n), add(vector(y, co.P + 3), f)
        if kind == CHART:
            ch.articulate_chart(hinge, rotors, tau, charts[hinge.chart :], y, n, f)
            IA, IB, IC = symmetric(y, co.A), matrix(y, co.B), symmetric(y, co.C)
            n, f = vector(y, co.PASSED), vector(y, co.PASSED + 3)
        elif hinge.drive >= 0:
            if hinge.absolute == 1:  # its motor acts from ground: the parent gets only forces and the spring's torque
                axis, zero = axis_of(y), w[0, co.ZERO]
                f = add(f, transposed_times(IB, scaled(drives[3 * hinge.drive + 2], axis)))
                n = scaled(tau[nv + hinge.drive], axis)
                IA = (zero, zero, zero, zero, zero, zero)
                IB = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
        elif kind == BALL:
            K = inverse(IA)
            held = times(matrix(y, co.R), vector(tau, hinge.v))
            u = symmetric_times(K, subtract(held, n))
            V0 = symmetric_times(K, (IB[0], IB[3], IB[6]))
            V1 = symmetric_times(K, (IB[1], IB[4], IB[7]))
            V2 = symmetric_times(K, (IB[2], IB[5], IB[8]))
            put_matrix(y, co.B, (V0[0], V1[0], V2[0], V0[1], V1[1], V2[1], V0[2], V1[2], V2[2]))
            put_symmetric(y, co.A, K)
            put(y, co.GAIN, u)
            n, f, zero = held, add(f, transposed_times(IB, u)), w[0, co.ZERO]
            T0, T1, T2 = transposed_times(IB, V0), transposed_times(IB, V1), transposed_times(IB, V2)
            IC = (IC[0] - T0[0], IC[1] - T1[0], IC[2] - T2[0], IC[3] - T1[1], IC[4] - T2[1], IC[5] - T2[2])
            IA = (zero, zero, zero, zero, zero, zero)
            IB = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
        else:
            axis = axis_of(y)
            if kind == REVOLUTE:
                Un, Uf = symmetric_times(IA, axis), transposed_times(IB, axis)
                D = guarded(rotors[0] + dot(Un, axis), rotors[0] + (IA[0] + IA[3] + IA[5]))
                u = tau[hinge.v] - dot(axis, n)
            else:
                Un, Uf = times(IB, axis), symmetric_times(IC, axis)
                D = guarded(rotors[0] + dot(Uf, axis), rotors[0] + (IC[0] + IC[3] + IC[5]))
                u = tau[hinge.v] - dot(axis, f)
            D = reciprocal(D)
            u, Gn, Gf = u * D, scaled(D, Un), scaled(D, Uf)
            put(y, co.GAIN, Gn)
            put(y, co.GAIN + 3, Gf)
            y[co.OWN], y[co.INVERSE] = u, D
            if on_ground:
                continue
            n, f = along(n, Un, u), along(f, Uf, u)
            IA, IC = less_outer(IA, Un, Gn), less_outer(IC, Uf, Gf)
            IB = (
                IB[0] - Un[0] * Gf[0], IB[1] - Un[0] * Gf[1], IB[2] - Un[0] * Gf[2],
                IB[3] - Un[1] * Gf[0], IB[4] - Un[1] * Gf[1], IB[5] - Un[1] * Gf[2],
                IB[6] - Un[2] * Gf[0], IB[7] - Un[2] * Gf[1], IB[8] - Un[2] * Gf[2],
            )  # fmt: skip
        if not on_ground:
            carry_over(IA, IB, IC, n, f, vector(y, co.ARM), w[hinge.parent])


@inlined
def carry_over(IA, IB, IC, n, f, r, x):
    """Adds inertia and bias force, transformed by the arm r, to those of x: B' = B + r^ C, A' = A - B r^ + r^ B'^T."""
    E0 = add((IB[0], IB[3], IB[6]), cross(r, (IC[0], IC[1], IC[2])))
    E1 = add((IB[1], IB[4], IB[7]), cross(r, (IC[1], IC[3], IC[4])))
    E2 = add((IB[2], IB[5], IB[8]), cross(r, (IC[2], IC[4], IC[5])))
    F0, F1, F2 = cross((IB[0], IB[1], IB[2]), r), cross((IB[3], IB[4], IB[5]), r), cross((IB[6], IB[7], IB[8]), r)
    H0, H1, H2 = cross(r, (E0[0], E1[0], E2[0])), cross(r, (E0[1], E1[1], E2[1])), cross(r, (E0[2], E1[2], E2[2]))
    moved = (
        IA[0] - F0[0] + H0[0], IA[1] - F0[1] + H1[0], IA[2] - F0[2] + H2[0],
        IA[3] - F1[1] + H1[1], IA[4] - F1[2] + H2[1], IA[5] - F2[2] + H2[2],
    )  # fmt: skip
    increase_symmetric(x, co.A, moved)
    increase(x, co.B, (E0[0], E1[0], E2[0]))
    increase(x, co.B + 3, (E0[1], E1[1], E2[1]))
    increase(x, co.B + 6, (E0[2], E1[2], E2[2]))
    increase_symmetric(x, co.C, IC)
    hand_over(x, co.P, r, n, f)


# -- third pass: accelerations -----------------------------------------------------------------------------


@inlined
def acceleration_on(x, at, arm):
    """Spatial acceleration at an arm from the one stored in a row (angular at a column, then linear)."""
    alpha = vector(x, at)
    return alpha, add(vector(x, at + 3), cross(alpha, arm))


@compiled_part(fastmath=FUSED)
def accelerate(hinges, drives, charts, w, out):
    """v' = D^-1 (u - U^T a), from ground to the tips (Featherstone 2008, table 7.1, third pass)."""
    for i in range(1, hinges.shape[0] + 1):
        hinge, y = hinges[i - 1], w[i]
        kind, k = hinge.kind, hinge.v
        alpha, acc = acceleration_on(w[hinge.parent], co.ALPHA, vector(y, co.ARM))
        if kind == CHART:
            chart = charts[hinge.chart :]
            ch.accelerate_chart(hinge, chart, chart[hinge.own :], alpha, acc, out)
            alpha, acc = ch.move_chart(hinge, chart, out, alpha, acc)
        elif hinge.drive >= 0:
            if hinge.absolute == 1:
                alpha = scaled(drives[3 * hinge.drive + 2], axis_of(y))
        elif kind == BALL:
            found = subtract(vector(y, co.GAIN), times(matrix(y, co.B), acc))
            put(out, k, transposed_times(matrix(y, co.R), subtract(found, alpha)))
            alpha = found
        else:
            d, axis = y[co.OWN] - (dot(vector(y, co.GAIN), alpha) + dot(vector(y, co.GAIN + 3), acc)), axis_of(y)
            if kind == REVOLUTE:
                alpha = along(alpha, axis, d)
            else:
                acc = along(acc, axis, d)
            out[k] = axis[2] * alpha[2] if hinge.absolute == 1 else d
        put(y, co.ALPHA, add(alpha, vector(y, co.ANGULAR_BIAS)))
        put(y, co.ACC, add(acc, vector(y, co.LINEAR_BIAS)))


@compiled_part
def coordinate_rates(hinges, q, v, charts, out):
    """q' from the speeds; a chart whose speeds are an angular velocity has its rates among its numbers."""
    for i in range(hinges.shape[0]):
        hinge = hinges[i]
        j, k = hinge.q, hinge.v
        if hinge.kind == BALL:
            rates = quaternion_rate((q[j], q[j + 1], q[j + 2], q[j + 3]), vector(v, k))
            out[j], out[j + 1], out[j + 2], out[j + 3] = rates
        elif hinge.rates > 0:
            for l in range(hinge.turned):
                out[j + l] = charts[hinge.chart + hinge.rates + l]
        else:
            for l in range(hinge.free):
                out[j + l] = v[k + l]


# -- the same for any loads, for derivatives and closed loops ------------------------------------------------


@compiled_part(fastmath=FUSED)
def solve(hinges, charts, w, b, forces, motions, last):
    """Solves M x = b minus the forces (moment, force) on every hinge, in place; ``motions`` gets the accelerations.

    These are the second and third pass of table 7.1 in Featherstone 2008, with known inertias and without velocities.
    b, forces and motions may be of any scalar type, and ``motions`` may be ``forces``. Entries of b after the ``last``
    hinge must be zero.
    """
    for i in range(last, 0, -1):
        hinge, y, p = hinges[i - 1], w[i], forces[i]
        kind, k, n, f = hinge.kind, hinge.v, vector(p, 0), vector(p, 3)
        if kind == CHART:
            ch.gather_chart(hinge, charts[hinge.chart :], b, p)
            n, f = vector(p, 0), vector(p, 3)
        elif hinge.drive >= 0:
            if hinge.absolute == 1:  # its motor acts from ground: the parent gets only forces
                n = scaled(0.0, n)
        elif kind == BALL:
            held = times(matrix(y, co.R), vector(b, k))
            c = subtract(held, n)
            put(b, k, symmetric_times(symmetric(y, co.A), c))
            n, f = held, add(f, transposed_times(matrix(y, co.B), c))
        else:
            t, axis = b[k], axis_of(y)
            if hinge.absolute == 1:  # acts from ground
                n, t = along(n, axis, -t), 0.0 * t
            t = t - (dot(axis, n) if kind == REVOLUTE else dot(axis, f))
            b[k] = y[co.INVERSE] * t
            n, f = along(n, vector(y, co.GAIN), t), along(f, vector(y, co.GAIN + 3), t)
        hand_over(forces[hinge.parent], 0, vector(y, co.ARM), n, f)
    for k in range(6):
        motions[0, k] = 0.0
    for i in range(1, hinges.shape[0] + 1):
        hinge, y = hinges[i - 1], w[i]
        kind, k = hinge.kind, hinge.v
        alpha, acc = acceleration_on(motions[hinge.parent], 0, vector(y, co.ARM))
        if kind == CHART:
            chart = charts[hinge.chart :]
            ch.accelerate_chart(hinge, chart, b[k:], alpha, acc, b)
            alpha, acc = ch.move_chart(hinge, chart, b, alpha, acc)
        elif hinge.drive >= 0:
            if hinge.absolute == 1:
                alpha = scaled(0.0, alpha)
        elif kind == BALL:
            found = subtract(vector(b, k), times(matrix(y, co.B), acc))
            put(b, k, transposed_times(matrix(y, co.R), subtract(found, alpha)))
            alpha = found
        else:
            d, axis = b[k] - (dot(vector(y, co.GAIN), alpha) + dot(vector(y, co.GAIN + 3), acc)), axis_of(y)
            if kind == REVOLUTE:
                alpha = along(alpha, axis, d)
            else:
                acc = along(acc, axis, d)
            b[k] = axis[2] * alpha[2] if hinge.absolute == 1 else d
        put(motions[i], 0, alpha)
        put(motions[i], 3, acc)


@compiled_part(fastmath=FUSED)
def transmit(hinges, charts, w, forces, out):
    """Adds the generalized forces of given spatial forces on all hinges to ``out``, from the tips to ground.

    Row k of ``forces`` is (moment, force) on hinge k, and afterwards what is transmitted through it.
    """
    for i in range(hinges.shape[0], 0, -1):
        hinge, y = hinges[i - 1], w[i]
        kind, k, n, f = hinge.kind, hinge.v, vector(forces[i], 0), vector(forces[i], 3)
        if kind == CHART:
            chart = charts[hinge.chart :]
            for j in range(hinge.free):
                out[k + j] += ch.along_axis(chart, hinge.axes + 6 * j, n, f)
        elif kind == BALL:
            put(out, k, add(vector(out, k), transposed_times(matrix(y, co.R), n)))
        elif hinge.absolute == 1:  # the angle is measured from ground, to which the moment goes
            axis = axis_of(y)
            if k >= 0:
                out[k] += dot(axis, n)
            n = along(n, axis, -dot(axis, n))
        elif k >= 0:
            out[k] += dot(axis_of(y), n if kind == REVOLUTE else f)
        hand_over(forces[hinge.parent], 0, vector(y, co.ARM), n, f)


@compiled_part(fastmath=FUSED)
def drive_efforts(hinges, charts, w, motions, at, forces, force_at, passed_at, efforts):
    """Force or torque that every prescribed motion needs, without springs in its hinge.

    ``motions`` and ``forces`` are tables of spatial accelerations and forces, which start at the columns ``at`` and
    ``force_at``; the force that a chart transmits to its parent starts at ``passed_at``.
    """
    for i in range(1, hinges.shape[0] + 1):
        hinge, y = hinges[i - 1], w[i]
        if hinge.drive < 0 and hinge.driven == 0:
            continue
        if hinge.kind == CHART:
            alpha, acc = acceleration_on(motions[hinge.parent], at, vector(y, co.ARM))
            start = passed_at
        else:
            alpha, acc, start = vector(motions[i], at), vector(motions[i], at + 3), force_at
        n, f = inertia_times(symmetric(y, co.A), matrix(y, co.B), symmetric(y, co.C), alpha, acc)
        n, f = add(n, vector(forces[i], start)), add(f, vector(forces[i], start + 3))
        if hinge.kind == CHART:
            chart, axes, drives = charts[hinge.chart :], hinge.axes + 6 * hinge.free, hinge.drives
            for j in range(hinge.driven):
                efforts[int(chart[drives + j])] = ch.along_axis(chart, axes + 6 * j, n, f)
        else:
            efforts[hinge.drive] = dot(axis_of(y), n if hinge.kind == REVOLUTE else f)


@compiled_part
def drive_rotors(hinges, numbers, drives, efforts):
    """Adds the force or torque that the armature of every prescribed motion needs."""
    for i in range(hinges.shape[0]):
        k = hinges[i].drive
        if k >= 0:
            efforts[k] += numbers[i][co.ROTOR] * drives[3 * k + 2]
