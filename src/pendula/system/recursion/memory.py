"""The context of the recursion's kernels: a record of sizes and addresses, and views of the arrays at them."""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.compiled.records import reader, record_dtype
from pendula.system import kernels as kn
from pendula.system.recursion import columns as co

WHOLE = (
    kn.WHOLE
    + """
    hinge_count hinges numbers spring_count springs spring_numbers load_count loads load_numbers gravity
    aside values charts tau speeds w efforts out rhs plane outside load_hinges sprung
    closings closing_numbers pulls wrenches motions changes effort_changes matrix right order
    """
)
RECURSION = record_dtype(kn.REALS, WHOLE)
"""Fields after those of ``system.kernels``, whose projection normalizes quaternions. Kernels compiled for another
record read that record at the same address: numba would warn about a longer one.

``aside``: output of the program of expressions: prescribed motions (position, rate, acceleration), then ``values``
values of expressions and ``charts`` numbers of charts; ``tau`` generalized forces in hinges, ``speeds`` v and the rates
of prescribed motions, ``w`` the scratch table, ``efforts`` drive forces and the power of loads, ``out`` a buffer for
rates, ``rhs`` the address of the right-hand side; ``plane`` numbers of a planar mechanism (``sprung``: it has springs),
``outside`` external generalized forces in and torques on its hinges, ``load_hinges`` the hinges that loads act on. For
closed loops: rows ``closings``, unit constraint wrenches ``pulls``, the response to them (``wrenches``, ``motions``,
``changes`` of v', ``effort_changes``), ``matrix`` G M^-1 G^T and scratch of its
size, ``right``-hand side and weights, ``order`` of pivots."""
recursion_at = reader(RECURSION)

view = compiled_part(inline="always")  # without reference counting, only inlined functions can return arrays


@view
def hinges_of(ctx):
    """Records of the hinges."""
    return co.hinges_at(ctx.hinges, ctx.hinge_count)


@view
def numbers_of(ctx):
    """Numbers of the hinges."""
    return doubles_at(ctx.numbers, (ctx.hinge_count, co.NUMBERS))


@view
def scratch_of(ctx):
    """The scratch table of one state."""
    return doubles_at(ctx.w, (ctx.hinge_count + 1, co.WIDTH))


@view
def prescribed_of(ctx):
    """Position, rate and acceleration of every prescribed motion."""
    return doubles_at(ctx.aside, 3 * ctx.drives)


@view
def values_of(ctx):
    """Values of the expressions."""
    return doubles_at(ctx.aside + 8 * 3 * ctx.drives, ctx.values)


@view
def charts_of(ctx):
    """Numbers of the charts."""
    return doubles_at(ctx.aside + 8 * (3 * ctx.drives + ctx.values), ctx.charts)


@view
def springs_of(ctx):
    """Records and numbers of the springs across hinges."""
    numbers = doubles_at(ctx.spring_numbers, (ctx.spring_count, co.SPRING_NUMBERS))
    return co.springs_at(ctx.springs, ctx.spring_count), numbers


@view
def loads_of(ctx):
    """Records and numbers of the other loads."""
    return co.loads_at(ctx.loads, ctx.load_count), doubles_at(ctx.load_numbers, (ctx.load_count, co.LOAD_NUMBERS))
