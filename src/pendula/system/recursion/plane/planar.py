"""The articulated-body algorithm (Featherstone 2008, table 7.1) for trees in a plane, for any scalar type.

Planar vectors (section 2.16) have three entries instead of six, so it computes with a third of the numbers.

Joints are revolute about z or prismatic in x-y. A frame has an absolute angle; its articulated inertia is

    [n]   [a   b^T] [alpha]   [n0]
    [f] = [b    C ] [  a  ] + [f0]      C symmetric, 2 x 2

with the bias force (n0, f0). Loads are springs and dampers in hinges, and external generalized forces (efforts) or
torques; all others need the spatial recursion. Chains of links with absolute angles have a still shorter algorithm.

The passes are inlined into the callbacks: for a few hinges, handing over the arrays and keeping rows of eights on an
unaligned stack would take as long as the arithmetic.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.eight import LANES, choose
from pendula.numerics.scalars.trig import reciprocal, sincos, sincos_all
from pendula.system.recursion.algebra import FUSED, guarded
from pendula.system.recursion.columns import REVOLUTE

# Columns of the table of numbers
SX, SY, TURN, SENSE, AX, AY, MASS, HX, HY, INERTIA, STIFFNESS, PULL, DAMPING, NUMBERS = range(14)
"""shift and rotation from the parent, sign of a revolute axis, direction of a prismatic one, mass, first mass moment,
inertia about the origin; stiffness, stiffness times rest and damping of all springs in the hinge; in joint axes"""
# Columns of the scratch table
(
    S, C, THETA, OMEGA, RX, RY, CX, CY, A, BX, BY, CXX, CXY, CYY, N, FX, FY, OWN, V0, V1, V2, ALPHA, ACX, ACY, EFFORT,
    DX, DY, WIDTH,
) = range(28)  # fmt: skip
"""``DX, DY``: direction of a prismatic hinge; for a revolute one, prescribed acceleration and sign of the axis"""


@compiled_part(fastmath=FUSED, forceinline=True)
def forward(hinges, numbers, gx, gy, q, v, drives, efforts, torques, w, out):
    """v' of a tree in the plane; returns the power of the dampers.

    Args:
        drives: position, rate and acceleration of every prescribed motion.
        efforts, torques: external generalized force in every hinge, torque on its frame; float64 in all cases.
    """
    power = place(hinges, numbers, gx, gy, q, v, drives, efforts, torques, w)
    articulate(hinges, w)
    accelerate(hinges, w, out)
    return power


@compiled_part(fastmath=FUSED, forceinline=True)
def place(hinges, numbers, gx, gy, q, v, drives, efforts, torques, w):
    """Poses, velocities, own inertia and loads of all hinges; returns the power of the dampers."""
    o = w[0]
    for k in range(WIDTH):
        o[k] = 0.0
    o[C], o[ACX], o[ACY] = 1.0, -gx, -gy
    zero = o[S]
    power = zero
    for i in range(1, hinges.shape[0] + 1):
        hinge, p = hinges[i - 1], numbers[i - 1]
        x, z = w[hinge.parent], w[i]
        sp, cp, omp, drive = x[S], x[C], x[OMEGA], hinge.drive
        rx, ry = cp * p[SX] - sp * p[SY], sp * p[SX] + cp * p[SY]
        if drive >= 0:
            at, rate, more = zero + drives[3 * drive], zero + drives[3 * drive + 1], zero + drives[3 * drive + 2]
        else:
            at, rate, more = q[hinge.q] + 0.0, v[hinge.v] + 0.0, zero
        square = omp * omp
        before = x[THETA] + p[TURN]
        given = efforts[i - 1] + p[PULL]
        if hinge.kind == REVOLUTE:
            if hinge.absolute == 1:
                th = p[SENSE] * at
                om = p[SENSE] * rate
                at, rate = p[SENSE] * (th - before), p[SENSE] * (om - omp)
            else:
                th = before + p[SENSE] * at
                om = omp + p[SENSE] * rate
            s, c = sincos(th)
            cx, cy = -(square * rx), -(square * ry)
            drag = p[DAMPING] * rate
            z[EFFORT] = p[SENSE] * (given - p[STIFFNESS] * at - drag)
            z[DX], z[DY] = p[SENSE] * more, p[SENSE]
        else:
            th, om = before, omp
            s, c = sincos(th)
            dx, dy = c * p[AX] - s * p[AY], s * p[AX] + c * p[AY]
            rx, ry = rx + dx * at, ry + dy * at
            twice = 2.0 * omp * rate
            cx, cy = more * dx - (square * rx + twice * dy), more * dy + (twice * dx - square * ry)
            drag = p[DAMPING] * rate
            z[EFFORT] = given - p[STIFFNESS] * at - drag
            z[DX], z[DY] = dx, dy
        z[S], z[C], z[THETA], z[OMEGA], z[RX], z[RY], z[CX], z[CY] = s, c, th, om, rx, ry, cx, cy
        hx, hy = c * p[HX] - s * p[HY], s * p[HX] + c * p[HY]
        own = om * om
        z[A], z[BX], z[BY], z[CXX], z[CXY], z[CYY] = p[INERTIA], -hy, hx, p[MASS], 0.0, p[MASS]
        z[N], z[FX], z[FY] = zero - torques[i - 1], -(own * hx), -(own * hy)
        power -= drag * rate
    return power


@compiled_part(fastmath=FUSED, forceinline=True)
def articulate(hinges, w):
    """Articulated inertias and bias forces, from the tips to ground (table 7.1, second pass)."""
    zero = w[0, S]
    for i in range(hinges.shape[0], 0, -1):
        hinge = hinges[i - 1]
        up, drive = hinge.parent, hinge.drive
        z, x = w[i], w[up]
        t, rx, ry, cx, cy = z[EFFORT], z[RX], z[RY], z[CX], z[CY]
        a, bx, by, c0, c1, c2 = z[A], z[BX], z[BY], z[CXX], z[CXY], z[CYY]
        n, fx, fy = z[N] + (bx * cx + by * cy), z[FX] + (c0 * cx + c1 * cy), z[FY] + (c1 * cx + c2 * cy)
        if hinge.kind == REVOLUTE:
            if drive < 0:
                d = reciprocal(guarded(a, zero))
                u, vx, vy = (t - n) * d, bx * d, by * d
                z[OWN], z[V1], z[V2] = u, vx, vy
                c0, c1, c2 = c0 - bx * vx, c1 - bx * vy, c2 - by * vy
                fx, fy, n = fx + bx * u, fy + by * u, t
                a, bx, by = zero, zero, zero
            elif hinge.absolute == 1:  # its motor acts from ground: the parent gets only forces and the spring's torque
                more = z[DX]
                fx, fy, n = fx + bx * more, fy + by * more, t
                a, bx, by = zero, zero, zero
            else:
                more = z[DX]
                n, fx, fy = n + a * more, fx + bx * more, fy + by * more
        elif drive < 0:
            dx, dy = z[DX], z[DY]
            u0, u1, u2 = bx * dx + by * dy, c0 * dx + c1 * dy, c1 * dx + c2 * dy
            d = reciprocal(guarded(u1 * dx + u2 * dy, c0 + c2))
            u, v0, v1, v2 = (t - (dx * fx + dy * fy)) * d, u0 * d, u1 * d, u2 * d
            z[OWN], z[V0], z[V1], z[V2] = u, v0, v1, v2
            a, bx, by = a - u0 * v0, bx - u0 * v1, by - u0 * v2
            c0, c1, c2 = c0 - u1 * v1, c1 - u1 * v2, c2 - u2 * v2
            n, fx, fy = n + u0 * u, fx + u1 * u, fy + u2 * u
        if up == 0:
            continue
        ex, ey = c1 * rx - c0 * ry, c2 * rx - c1 * ry  # C times the arm rotated by a right angle
        x[A] += a + 2.0 * (by * rx - bx * ry) + (ey * rx - ex * ry)
        x[BX] += bx + ex
        x[BY] += by + ey
        x[CXX] += c0
        x[CXY] += c1
        x[CYY] += c2
        x[N] += n + (rx * fy - ry * fx)
        x[FX] += fx
        x[FY] += fy


@compiled_part(fastmath=FUSED, forceinline=True)
def accelerate(hinges, w, out):
    """Accelerations of hinges and v', from ground to the tips (table 7.1, third pass)."""
    for i in range(1, hinges.shape[0] + 1):
        hinge = hinges[i - 1]
        x, z = w[hinge.parent], w[i]
        k, drive = hinge.v, hinge.drive
        al = x[ALPHA]
        ax, ay = x[ACX] - al * z[RY], x[ACY] + al * z[RX]
        if hinge.kind == REVOLUTE:
            if drive < 0:
                an = z[OWN] - z[V1] * ax - z[V2] * ay
                out[k] = z[DY] * an if hinge.absolute == 1 else z[DY] * (an - al)
                al = an
            elif hinge.absolute == 1:
                al = z[DX] + 0.0
            else:
                al = al + z[DX]
        elif drive < 0:
            d = z[OWN] - z[V0] * al - z[V1] * ax - z[V2] * ay
            out[k] = d
            ax, ay = ax + z[DX] * d, ay + z[DY] * d
        z[ALPHA], z[ACX], z[ACY] = al, ax + z[CX], ay + z[CY]


@compiled_part(fastmath=FUSED)
def drive_efforts(hinges, w, found):
    """Force or torque that every prescribed motion needs, after :func:`accelerate`."""
    for i in range(1, hinges.shape[0] + 1):
        hinge, z = hinges[i - 1], w[i]
        drive = hinge.drive
        if drive < 0:
            continue
        al, ax, ay = z[ALPHA], z[ACX], z[ACY]
        if hinge.kind == REVOLUTE:
            found[drive] = z[DY] * (z[A] * al + z[BX] * ax + z[BY] * ay + z[N] - z[EFFORT])
        else:
            fx = z[BX] * al + z[CXX] * ax + z[CXY] * ay + z[FX]
            fy = z[BY] * al + z[CXY] * ax + z[CYY] * ay + z[FY]
            found[drive] = z[DX] * fx + z[DY] * fy - z[EFFORT]


@compiled_part(fastmath=FUSED, forceinline=True)
def energies(hinges, numbers, gx, gy, q, v, w):
    """Kinetic and potential energy of a tree in the plane without prescribed motions.

    The energy of springs in hinges omits a constant; ``w`` is scratch as for :func:`forward`.
    """
    o = w[0]
    for k in range(WIDTH):
        o[k] = 0.0
    o[C] = 1.0
    kinetic = potential = o[S]
    for i in range(1, hinges.shape[0] + 1):
        hinge, p = hinges[i - 1], numbers[i - 1]
        x, z = w[hinge.parent], w[i]
        s, c, omp = x[S], x[C], x[OMEGA]
        rx, ry = c * p[SX] - s * p[SY], s * p[SX] + c * p[SY]
        at, rate = q[hinge.q], v[hinge.v]
        before = x[THETA] + p[TURN]
        vx, vy = x[ACX], x[ACY]  # these columns hold velocities here
        if hinge.kind == REVOLUTE:
            if hinge.absolute == 1:
                th, om = p[SENSE] * at, p[SENSE] * rate
                at = p[SENSE] * (th - before)
            else:
                th, om = before + p[SENSE] * at, omp + p[SENSE] * rate
            s, c = sincos(th)
        else:
            th, om = before, omp + 0.0
            s, c = sincos(th)
            dx, dy = c * p[AX] - s * p[AY], s * p[AX] + c * p[AY]
            rx, ry = rx + dx * at, ry + dy * at
            vx, vy = vx + dx * rate, vy + dy * rate
        vx, vy = vx - omp * ry, vy + omp * rx
        z[S], z[C], z[THETA], z[OMEGA], z[ACX], z[ACY] = s, c, th, om, vx, vy
        z[RX], z[RY] = x[RX] + rx, x[RY] + ry  # these columns hold positions here
        hx, hy = c * p[HX] - s * p[HY], s * p[HX] + c * p[HY]
        kinetic += 0.5 * (p[MASS] * (vx * vx + vy * vy) + p[INERTIA] * (om * om)) + om * (vy * hx - vx * hy)
        potential -= gx * (p[MASS] * z[RX] + hx) + gy * (p[MASS] * z[RY] + hy)
        potential += (0.5 * p[STIFFNESS] * at - p[PULL]) * at
    return kinetic, potential


# -- chains --------------------------------------------------------------------------------------------

LINK = 8
"""rows of numbers stored for the links: sine, cosine, angular acceleration D^-1 u at zero acceleration of the parent,
its coefficients of the hinge's acceleration (x, y) and of the parent's angular acceleration, arm (x, y)"""


@compiled_part(forceinline=True)
def room(links):
    """Row length of the scratch table for a number of links, if states are computed one at a time."""
    return (links + LANES - 1) // LANES * LANES


@compiled_part(fastmath=FUSED, forceinline=True)
def chain(numbers, sprung, gx, gy, q, v, w, out):
    """v' of a serial chain with angles measured from ground; returns the power of the dampers.

    On the critical path from one link's inertia to the next are only a division and a product: everything else is
    ready before the division.
    """
    n = numbers.shape[0]
    sine, cosine, turn, share_x, share_y, share, arm_x, arm_y = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
    zero = 0.0 * v[0]
    sincos_all(q, sine, cosine)
    p = numbers[n - 1]
    hx, hy, fx, fy = first_moment(p, sine[n - 1], cosine[n - 1], v[n - 1])
    a, bx, by, c0, c1, c2, nn = zero + p[INERTIA], -hy, hx, zero + p[MASS], zero, zero + p[MASS], zero
    power, smallest = zero, a
    for i in range(n - 1, 1, -1):
        a, bx, by, c0, c1, c2, nn, fx, fy, smallest, power = absorb(
            i, numbers, sprung, q, v, w, a, bx, by, c0, c1, c2, nn, fx, fy, smallest, power
        )
    if n > 1:  # ground does not move: of what the first link carries, its mass and the force in its hinge do not matter
        a, bx, by, _, _, _, nn, _, _, smallest, power = absorb(
            1, numbers, sprung, q, v, w, a, bx, by, c0, c1, c2, nn, fx, fy, smallest, power
        )
    if sprung:
        t, spent = spring_torque(numbers, q, v, 0)
        power -= spent
        nn -= t
    d = choose(min(smallest, a) > 0.0, reciprocal(a), np.nan)
    al = (bx * gx + by * gy - nn) * d
    ax, ay = zero - gx, zero - gy
    out[0] = numbers[0, SENSE] * al
    for i in range(1, n):
        rx, ry, square = arm_x[i], arm_y[i], v[i - 1] * v[i - 1]
        more = (turn[i] - share_x[i] * ax - share_y[i] * ay) - share[i] * al
        ax, ay = (ax - square * rx) - al * ry, (ay - square * ry) + al * rx
        al = more
        out[i] = numbers[i, SENSE] * al
    return power


@compiled_part(fastmath=FUSED, forceinline=True)
def absorb(i, numbers, sprung, q, v, w, a, bx, by, c0, c1, c2, nn, fx, fy, smallest, power):
    """Articulated inertia and bias force of link i - 1, from those of link i; writes what accelerations need of link i.

    Also the smallest moment of inertia and the power of the dampers so far. What a caller does not use is not computed.
    """
    sine, cosine, turn, share_x, share_y, share, arm_x, arm_y = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
    p, up, t = numbers[i], numbers[i - 1], 0.0 * nn
    if sprung:
        t, spent = spring_torque(numbers, q, v, i)
        power -= spent
        nn -= t
    smallest = min(smallest, a)
    d = reciprocal(a)
    sp, cp, omp = up[SENSE] * sine[i - 1], cosine[i - 1], v[i - 1]
    rx, ry, square = cp * p[SX] - sp * p[SY], sp * p[SX] + cp * p[SY], omp * omp
    hx, hy, px, py = first_moment(up, sine[i - 1], cosine[i - 1], omp)
    kx, ky = c0 * rx + c1 * ry, c1 * rx + c2 * ry
    ex, ey, cross = c1 * rx - c0 * ry, c2 * rx - c1 * ry, by * rx - bx * ry
    fx, fy = fx - square * kx, fy - square * ky
    u = (square * (bx * rx + by * ry) - nn) * d
    turn[i], share_x[i], share_y[i], share[i], arm_x[i], arm_y[i] = u, bx * d, by * d, cross * d, rx, ry
    nn = (rx * fy - ry * fx) + cross * u
    if sprung:
        nn += t
    fx, fy = (fx + px) + bx * u, (fy + py) + by * u
    a = (up[INERTIA] + (ey * rx - ex * ry)) - (cross * cross) * d
    c0, c1, c2 = (up[MASS] + c0) - (bx * bx) * d, c1 - (bx * by) * d, (up[MASS] + c2) - (by * by) * d
    bx, by = (ex - hy) - (bx * cross) * d, (ey + hx) - (by * cross) * d
    return a, bx, by, c0, c1, c2, nn, fx, fy, smallest, power


@compiled_part(fastmath=FUSED, forceinline=True)
def chain_energies(numbers, sprung, gx, gy, q, v, w):
    """Kinetic and potential energy of a serial chain with angles measured from ground, as :func:`energies` has them."""
    n, sine, cosine = numbers.shape[0], w[0], w[1]
    sincos_all(q, sine, cosine)
    zero = 0.0 * v[0]
    x = y = vx = vy = s = om = kinetic = potential = zero
    c = zero + 1.0
    for i in range(n):
        p = numbers[i]
        rx, ry = c * p[SX] - s * p[SY], s * p[SX] + c * p[SY]
        x, y, vx, vy = x + rx, y + ry, vx - om * ry, vy + om * rx
        s, c, om = p[SENSE] * sine[i], cosine[i], p[SENSE] * v[i]
        hx, hy = c * p[HX] - s * p[HY], s * p[HX] + c * p[HY]
        kinetic += 0.5 * (p[MASS] * (vx * vx + vy * vy) + p[INERTIA] * (om * om)) + om * (vy * hx - vx * hy)
        potential -= gx * (p[MASS] * x + hx) + gy * (p[MASS] * y + hy)
        if sprung:
            before = zero + p[TURN]
            if i > 0:
                before += numbers[i - 1, SENSE] * q[i - 1]
            at = q[i] - p[SENSE] * before
            potential += (0.5 * p[STIFFNESS] * at - p[PULL]) * at
    return kinetic, potential


@compiled_part(fastmath=FUSED, forceinline=True)
def first_moment(p, s, c, om):
    """First mass moment of a link about its hinge, and the bias force of its rotation."""
    s = p[SENSE] * s
    hx, hy, square = c * p[HX] - s * p[HY], s * p[HX] + c * p[HY], om * om
    return hx, hy, -(square * hx), -(square * hy)


@compiled_part(fastmath=FUSED)
def spring_torque(numbers, q, v, i):
    """Torque of the springs and dampers in the hinge of link i, and the power that the dampers dissipate."""
    p = numbers[i]
    before, omp = p[TURN] + 0.0 * q[i], 0.0 * v[i]
    if i > 0:
        before += numbers[i - 1, SENSE] * q[i - 1]
        omp = numbers[i - 1, SENSE] * v[i - 1]
    at, rate = q[i] - p[SENSE] * before, v[i] - p[SENSE] * omp
    drag = p[DAMPING] * rate
    return p[SENSE] * (p[PULL] - p[STIFFNESS] * at - drag), drag * rate
