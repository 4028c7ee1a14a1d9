"""Vectors and matrices of the recursion, as tuples of numbers of any scalar type (float64, Eight, Tangents).

A vector is (x, y, z), a matrix its nine entries row by row, a symmetric matrix (xx, xy, xz, yy, yz, zz). Functions read
them from a table row at a named column and write them back. Tuples live in registers: there are no temporary arrays.
"""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.scalars.eight import choose

FUSED = {"contract"}
SMALLEST = 1e-13  # a divisor that is smaller than this, relative to its reference size, counts as zero
inlined = compiled_part(fastmath=FUSED, forceinline=True)


@compiled_part(forceinline=True)
def guarded(x, size):
    """x, or NaN (which callers detect) if it is not positive beyond the rounding of numbers of the given size."""
    return choose(x > SMALLEST * size, x, np.nan)


@inlined
def vector(row, at):
    """The vector at a column."""
    return row[at], row[at + 1], row[at + 2]


@inlined
def symmetric(row, at):
    """The symmetric matrix at a column."""
    return row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4], row[at + 5]


@inlined
def matrix(row, at):
    """The matrix at a column."""
    return (
        row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4], row[at + 5], row[at + 6], row[at + 7], row[at + 8]
    )  # fmt: skip


@inlined
def put(row, at, a):
    """Writes a vector."""
    row[at], row[at + 1], row[at + 2] = a[0], a[1], a[2]


@inlined
def put_symmetric(row, at, a):
    """Writes a symmetric matrix."""
    row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4], row[at + 5] = a[0], a[1], a[2], a[3], a[4], a[5]


@inlined
def put_matrix(row, at, a):
    """Writes a matrix."""
    put_symmetric(row, at, (a[0], a[1], a[2], a[3], a[4], a[5]))
    row[at + 6], row[at + 7], row[at + 8] = a[6], a[7], a[8]


@inlined
def increase(row, at, a):
    """Adds a vector to the one at a column."""
    row[at] += a[0]
    row[at + 1] += a[1]
    row[at + 2] += a[2]


@inlined
def increase_symmetric(row, at, a):
    """Adds a symmetric matrix to the one at a column."""
    increase(row, at, (a[0], a[1], a[2]))
    increase(row, at + 3, (a[3], a[4], a[5]))


@inlined
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def subtract(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def negative(a):
    """-a."""
    return -a[0], -a[1], -a[2]


@inlined
def scaled(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@inlined
def along(a, axis, s):
    """a + s axis."""
    return a[0] + axis[0] * s, a[1] + axis[1] * s, a[2] + axis[2] * s


@inlined
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def times(M, a):
    """M a."""
    return (
        M[0] * a[0] + M[1] * a[1] + M[2] * a[2],
        M[3] * a[0] + M[4] * a[1] + M[5] * a[2],
        M[6] * a[0] + M[7] * a[1] + M[8] * a[2],
    )


@inlined
def transposed_times(M, a):
    """M^T a."""
    return (
        M[0] * a[0] + M[3] * a[1] + M[6] * a[2],
        M[1] * a[0] + M[4] * a[1] + M[7] * a[2],
        M[2] * a[0] + M[5] * a[1] + M[8] * a[2],
    )


@inlined
def symmetric_times(M, a):
    """M a for a symmetric matrix."""
    return (
        M[0] * a[0] + M[1] * a[1] + M[2] * a[2],
        M[1] * a[0] + M[3] * a[1] + M[4] * a[2],
        M[2] * a[0] + M[4] * a[1] + M[5] * a[2],
    )


@inlined
def product(M, N):
    """M N."""
    a = times(M, (N[0], N[3], N[6]))
    b = times(M, (N[1], N[4], N[7]))
    c = times(M, (N[2], N[5], N[8]))
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@inlined
def turned_inertia(R, J):
    """R J R^T for a symmetric J."""
    x, y, z = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    a, b, c = symmetric_times(J, x), symmetric_times(J, y), symmetric_times(J, z)
    return dot(a, x), dot(a, y), dot(a, z), dot(b, y), dot(b, z), dot(c, z)


@inlined
def quaternion_matrix(a, b, c, d):
    """Rotation matrix of a quaternion, scalar first."""
    aa, bb, cc, dd = a * a, b * b, c * c, d * d
    return (
        aa + bb - cc - dd, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c),
        2.0 * (b * c + a * d), aa - bb + cc - dd, 2.0 * (c * d - a * b),
        2.0 * (b * d - a * c), 2.0 * (c * d + a * b), aa - bb - cc + dd,
    )  # fmt: skip


@inlined
def inertia_times(A, B, C, angular, linear):
    """Moment and force of a spatial inertia: [[A, B], [B^T, C]] (angular, linear)."""
    moment = add(symmetric_times(A, angular), times(B, linear))
    return moment, add(transposed_times(B, angular), symmetric_times(C, linear))


@inlined
def hand_over(row, at, arm, moment, force):
    """Adds a spatial force, transformed by an arm, to the one at a column (Featherstone 2008, section 2.8)."""
    increase(row, at, add(moment, cross(arm, force)))
    increase(row, at + 3, force)
