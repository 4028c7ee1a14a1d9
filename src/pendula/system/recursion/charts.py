"""Charts: hinges whose pose and motion subspace are expressions, with up to six degrees of freedom.

After the output of its program (from ``columns.CHART_R`` on), every chart stores, in this order: its motion subspace S
in world axes (6 for each freedom and prescribed motion), U = I S (6 for each freedom), the factor L of D = S^T U +
armature = L L^T, D^-1 u, a scratch column, the gains D^-1 U^T (6 for each freedom), and the indices of its prescribed
motions.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.system.recursion import columns as co
from pendula.system.recursion.algebra import (
    add,
    along,
    cross,
    dot,
    guarded,
    matrix,
    product,
    put,
    put_matrix,
    times,
    vector,
)


def chart_places(free: int, driven: int, turned: int = 0) -> tuple[int, ...]:
    """Offsets of S, U, L, D^-1 u, gains and indices in a chart (fields of ``columns.HINGE``), and its length.

    ``turned`` is the number of coordinates of an orientation whose speeds are an angular velocity.
    """
    lengths = 6 * (free + driven), 6 * free, free * free, 2 * free, 6 * free, driven
    return tuple(accumulate(lengths, initial=co.CHART_AXES + 6 * (free + driven) + turned))


@compiled_part
def place_chart(hinge, chart, E, arm, omega, theta, y):
    """Rotation and angular motion of a chart on its parent frame E; returns arm, sliding velocity and linear bias."""
    world = hinge.axes
    for k in range(2 * (hinge.free + hinge.driven)):
        put(chart, world + 3 * k, times(E, vector(chart, co.CHART_AXES + 3 * k)))
    arm = add(arm, times(E, vector(chart, co.CHART_ARM)))
    spin, slide = times(E, vector(chart, co.CHART_SPIN)), times(E, vector(chart, co.CHART_SLIDE))
    put_matrix(y, co.R, product(E, matrix(chart, co.CHART_R)))
    put(y, co.OMEGA, add(omega, spin))
    put(y, co.ANGULAR_BIAS, add(cross(omega, spin), times(E, vector(chart, co.CHART_ANGULAR))))
    y[co.THETA], y[co.RATE] = theta + chart[co.CHART_TURN], 0.0
    bias = cross(omega, along(cross(omega, arm), slide, 2.0))
    return arm, slide, add(bias, times(E, vector(chart, co.CHART_LINEAR)))


@compiled_part
def inertia_at(i, j):
    """Column of the entry i <= j of the spatial inertia [[A, B], [B^T, C]]."""
    if j < 3:
        return co.A + (j if i == 0 else 2 + j if i == 1 else 5)
    if i >= 3:
        return co.C + (j - 3 if i == 3 else j - 1 if i == 4 else 5)
    return co.B + 3 * i + (j - 3)


@compiled_part
def articulate_chart(hinge, rotors, tau, chart, y, n, f):
    """Eliminates a chart's freedoms from the articulated inertia in y; A, B, C, PASSED then hold the parent's part."""
    free, axes, U, L, u = hinge.free, hinge.axes, hinge.forces, hinge.factor, hinge.own
    put(y, co.PASSED, n)
    put(y, co.PASSED + 3, f)
    for k in range(free):
        for i in range(6):
            total = 0.0
            for j in range(6):
                total += y[inertia_at(min(i, j), max(i, j))] * chart[axes + 6 * k + j]
            chart[U + 6 * k + i] = total
    for k in range(free):
        chart[u + k] = tau[hinge.v + k] - along_axis(chart, axes + 6 * k, n, f)
        for l in range(k + 1):  # D = L L^T, row by row
            entry = 0.0
            for i in range(6):
                entry += chart[axes + 6 * k + i] * chart[U + 6 * l + i]
            if l == k:
                entry += rotors[k]
            size = entry
            for j in range(l):
                entry -= chart[L + free * k + j] * chart[L + free * l + j]
            if l < k:
                chart[L + free * k + l] = entry / chart[L + free * l + l]
            else:
                chart[L + free * k + k] = np.sqrt(guarded(entry, size))
    solve_factored(chart, L, free, chart, u)
    for k in range(free):
        for i in range(6):
            y[co.PASSED + i] += chart[U + 6 * k + i] * chart[u + k]
    column, gains = u + free, hinge.gains
    for j in range(6):
        for k in range(free):
            chart[column + k] = chart[U + 6 * k + j]
        solve_factored(chart, L, free, chart, column)
        for k in range(free):
            chart[gains + 6 * k + j] = chart[column + k]
    for k in range(free):
        for j in range(6):
            for i in range(j + 1):
                y[inertia_at(i, j)] -= chart[U + 6 * k + i] * chart[gains + 6 * k + j]


@compiled_part
def solve_factored(chart, L, n, b, at):
    """Solves L L^T x = b in place; b may be of another scalar type than the chart."""
    for k in range(n):
        for j in range(k):
            b[at + k] -= chart[L + n * k + j] * b[at + j]
        b[at + k] = b[at + k] / chart[L + n * k + k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[at + k] -= chart[L + n * j + k] * b[at + j]
        b[at + k] = b[at + k] / chart[L + n * k + k]


@compiled_part
def along_axis(chart, at, angular, linear):
    """Scalar product of the spatial vector at an index of a chart with another one."""
    return dot(vector(chart, at), angular) + dot(vector(chart, at + 3), linear)


@compiled_part
def accelerate_chart(hinge, chart, own, alpha, acc, out):
    """Accelerations of a chart's freedoms, D^-1 u - gains a, with a of its parent frame; ``own`` starts with D^-1 u."""
    gains = hinge.gains
    for j in range(hinge.free):
        out[hinge.v + j] = own[j] - along_axis(chart, gains + 6 * j, alpha, acc)


@compiled_part
def move_chart(hinge, chart, a, alpha, acc):
    """Spatial acceleration of a chart, without its bias, from that of its parent frame and from v' in ``a``."""
    axes = hinge.axes
    for j in range(hinge.free):
        alpha = along(alpha, vector(chart, axes + 6 * j), a[hinge.v + j])
        acc = along(acc, vector(chart, axes + 6 * j + 3), a[hinge.v + j])
    return alpha, acc


@compiled_part
def gather_chart(hinge, chart, b, p):
    """Eliminates the freedoms of a chart: D^-1 (b - S^T p) replaces b, the force on the parent replaces p."""
    free, k, axes, U = hinge.free, hinge.v, hinge.axes, hinge.forces
    for j in range(free):
        b[k + j] -= along_axis(chart, axes + 6 * j, vector(p, 0), vector(p, 3))
    solve_factored(chart, hinge.factor, free, b, k)
    for j in range(free):
        for i in range(6):
            p[i] += chart[U + 6 * j + i] * b[k + j]
