"""The recursion's tables: records of integers, columns of numbers, and the kinds of hinges.

Numbers are in named columns instead of records, since their type may be float64, eights or tangents, and complex for
derivatives by parameters.
"""

from __future__ import annotations

from pendula.numerics.compiled.records import record_dtype, records_at

REVOLUTE, PRISMATIC, BALL, CHART = range(4)
"""kinds of hinges: two joints with one degree of freedom, the spherical joint, and a joint defined by expressions"""

HINGE = record_dtype(
    whole="parent kind q v drive absolute free chart driven axes forces factor own gains drives rates turned"
)
"""Integers of hinges: number of the parent (0: ground), kind, indices of the first coordinate and speed (-1: none) and
of the prescribed motion (-1: none), whether the angle is measured from ground, number of degrees of freedom; for a
chart: start of its numbers, number of its prescribed motions, and the offsets that ``charts`` defines; if its speeds
are an angular velocity, the offset of the rates of its coordinates (else 0) and their number"""
SPRING = record_dtype(whole="hinge coordinate effort damping law")
"""Springs across hinges: hinge, number of its coordinate, index of the generalized force, index of the expression for
the damping (-1: constant), index of the first expression of its law (-1: linear)"""
LOAD = record_dtype(whole="kind first second value in_body")
"""Other loads: kind, the hinges they act on, index of the first expression (-1: constant), whether vectors are in
body axes"""
CLOSING = record_dtype(whole="kind child parent frame")
"""Rows of closing joints: a gap along a direction or an angle between two; hinges of the two points and of the
direction (of an angle: ``child`` and ``parent`` are the hinges of its two directions)"""
hinges_at, springs_at, loads_at, closings_at = map(records_at, (HINGE, SPRING, LOAD, CLOSING))
"""``hinges_at(address, count)``: the records at an address, in compiled code"""

ROTATION, SHIFT, MASS, MOMENT, INERTIA, TURN, SENSE, ROTOR, NUMBERS = 0, 9, 12, 13, 16, 22, 23, 24, 32
"""Numbers of hinges: rotation (9) and shift (3) from the parent, mass, first mass moment (3), inertia about the
origin (xx xy xz yy yz zz), angle of the rotation about z, sign of the axis along z, armature of every
freedom (6); rows are whole cache lines"""

R, ARM, OMEGA, ANGULAR_BIAS, LINEAR_BIAS, A, B, C, P = 0, 9, 12, 15, 18, 21, 27, 36, 42
GAIN, OWN, ALPHA, ACC, POSITION, VELOCITY, THETA, RATE, ZERO, INVERSE, WIDTH = (
    48,
    54,
    55,
    58,
    61,
    64,
    67,
    68,
    69,
    70,
    72,
)
"""Scratch of hinges, in world axes: rotation R (9), arm from the parent's origin, angular velocity, velocity-product
acceleration (angular, linear), articulated inertia A (6), B (9), C (6), bias force P (moment, force), U D^-1 (moment,
force; for a ball D^-1 u), D^-1 u, angular and linear acceleration, position, velocity, angle about z, rate, a zero of
the table's scalar type (in row 0), D^-1. After :func:`spatial.articulate` A and B of a ball are D^-1 and D^-1 U^T."""
PASSED = GAIN
"""for a chart: the bias force that it transmits to its parent (moment, force)"""

CHART_R, CHART_ARM, CHART_SPIN, CHART_SLIDE, CHART_ANGULAR, CHART_LINEAR, CHART_TURN, CHART_AXES = (
    0, 9, 12, 15, 18, 21, 24, 25,
)  # fmt: skip
"""Output of a chart's program: rotation (9), shift, angular and linear velocity, angular and linear bias, angle about
z, then its motion subspace (angular and linear velocity for each freedom, then for each prescribed motion); all in the
axes of the parent frame. If its speeds are an angular velocity, the rates of its coordinates follow."""

BETWEEN, FORCE, TORQUE, SPIN, EFFORT_GIVEN, PULL = range(6)
"""kinds of loads; ``BETWEEN``: a linear spring and damper between two points, ``PULL``: the same with a law given by
expressions, ``SPIN``: a force along angular velocity x direction, ``EFFORT_GIVEN``: a generalized force"""
LAW_ELASTIC, LAW_DRAG, LAW_POTENTIAL = range(3)
"""expressions of a law, one after the other"""
STIFFNESS, REST, DAMPING, SPRING_NUMBERS = range(4)
"""Numbers of springs across hinges"""
PLACE, OTHER, SPRING_RATE, LENGTH, FACTOR, DIRECTION, AXES, LOAD_NUMBERS = 0, 3, 6, 7, 8, 9, 12, 21
"""Numbers of loads: points on the first and second hinge, stiffness and rest length of a spring, damping or factor,
direction, rotation from body axes to those of the hinge (9)"""

GAP, ANGLE = range(2)
"""kinds of rows of closing joints"""
CHILD_AT, PARENT_AT, NORMAL, OTHER_NORMAL, CLOSING_NUMBERS = 0, 3, 6, 9, 12
"""Numbers of these rows: the points and directions in the axes of their hinges"""

MOTION_R, MOTION_POSITION, MOTION_VELOCITY, MOTION_OMEGA, MOTION_ACC, MOTION_ALPHA, MOTION = 0, 9, 12, 15, 18, 21, 24
"""Motion of a hinge, for Python: rotation (9), position, velocity, angular velocity, acceleration, angular
acceleration"""
