"""The record of one integration, on which the step loop and every stepper work.

It holds all data that persists between calls, so that the loop can stop after any number of attempts and resume later.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.scalars.eight import LANES

# How an attempt, a part of a step, or a stretch of the loop ended.
GO_ON, DONE, BUFFER_FULL, TOO_SMALL, BAD_VALUE, BAD_START, NO_PROJECTION, STEPS_USED_UP, NO_SOLUTION = range(9)
AT_EVENT, BAD_EVENT, HALTED, UNSOUND = range(9, 13)
"""``UNSOUND``: the equations could not be solved for a series"""

RUN = record_dtype(
    reals="""
        t h_abs earliest last_error stiff_from drift violation where
        h t_new latest wanted error factor
        t_end direction rtol max_step nudge first_step t_first
        stable_to safety memory
    """,
    whole="""
        stored rejected evaluations next_sample next_break attempts retrying trouble component started
        looks_stiff looks_calm code jumps events
        n coordinates speeds controlled fixed max_attempts breaks_count samples capacity events_capacity
        rhs rhs_context project project_context attempt prepare settle watch watched method
        rows width fresh stage new scratch dense late
        y zero atol breaks sample_t sample_y onto t_out y_out inside_t inside_y inside inside_every
        inside_gap inside_left inside_next
        stages extra_stages dense_rows error_row error_order last_in_error first_slope last_slope
        sources weights counts nodes terms
    """,
)
"""Fields of the record, in groups.

Progress: ``t``, ``h_abs`` (size of the next step), ``earliest`` (the right-hand side is not evaluated before it),
``last_error`` (of the previous accepted step), ``stiff_from``, ``drift`` and ``violation`` (of the constraints),
``where`` (time of the last failure). The current step: ``h``, ``t_new``, ``latest`` (the right-hand side is not
evaluated after it), ``wanted``, and the stepper's results ``error``, ``factor`` and ``code``; ``jumps`` is 1 if the
step ends at a breakpoint after which the run continues; ``events``: number found so far.

Settings: ``t_end``, ``direction`` (1 or -1), ``rtol``, ``max_step``, ``nudge`` (distance from a breakpoint at which
the right-hand side is evaluated), ``first_step`` (0: chosen), ``t_first``; ``n`` components, of which the first
``coordinates`` are positions and the next ``speeds`` their speeds; the first ``controlled`` enter error norms;
``fixed`` is 1 for steps of ``max_step``.

Native functions: ``rhs``, ``project``, and of the stepper ``attempt``, ``prepare`` (dense output; 0: a cubic),
``settle`` (after a step was accepted or rejected; 0: none), ``watch`` (events; 0: none); the latter four take the
address of this record as context. ``watched`` and ``method`` are addresses of further records.

Memory: ``rows`` are rows of ``width`` bytes, a spare number and then one for each component: first the stages, then
the rows ``fresh`` (first derivative of the next step if it is not the last stage), ``stage`` (time and state of a
stage or sample), ``new`` (time and state at the end of the attempted step), ``scratch`` (error estimates, two rows),
``dense`` (first of the dense output) and ``late`` (the last stage before the end). In ``stage`` and ``new`` the spare
number is the time, which is the layout that callbacks read. Rows are padded with zeros to a multiple of eight
components, as is the memory of ``y`` and ``zero`` (:func:`padded`). ``onto`` is the output of the projection.
``inside`` states between the ends of some steps are in ``inside_t`` and ``inside_y``: of all steps at first, then of
fewer and fewer, but at least one in ``inside_every`` (0: of none). The next is step ``inside_next``;
``inside_gap`` is the distance to the one after it, which doubles after ``inside_left`` more.

The rest is the tableau (:class:`~pendula.numerics.steppers.tableaus.Tableau`).
"""

run_at = reader(RUN)
"""``run_at(address)``: the record, in compiled code."""

_OFFSETS = {name: RUN.fields[name][1] for name in ("rows", "width", "n")} if RUN.fields else {}


@intrinsic
def row(typingctx: Any, run: Any, index: Any) -> Any:
    """``row(run, k)``: row k as an array of n + 1 numbers, in compiled code."""
    array = types.Array(types.float64, 1, "C")

    def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        from numba.np.arrayobj import populate_array  # slow to load

        word = target.get_value_type(types.intp)

        def field(name: str) -> Any:
            return builder.load(cgutils.get_record_member(builder, arguments[0], _OFFSETS[name], word))

        number = target.cast(builder, arguments[1], sig.args[1], types.intp)
        address = builder.add(field("rows"), builder.mul(number, field("width")))
        made = target.make_array(array)(target, builder)
        populate_array(
            made,
            data=builder.inttoptr(address, target.get_data_type(types.float64).as_pointer()),
            shape=[builder.add(field("n"), ir.Constant(word, 1))],
            strides=[ir.Constant(word, 8)],
            itemsize=ir.Constant(word, 8),
            meminfo=None,
        )
        return made._getvalue()

    return array(run, index), generate


def room(n: int) -> int:
    """Length of a row for n components: sums over stages take eight at a time."""
    return -(-n // LANES) * LANES


def padded(values: np.ndarray) -> np.ndarray:
    """A copy of a row of numbers followed by zeros, so that it can be read eight at a time."""
    memory = np.zeros(room(values.size))
    memory[: values.size] = values
    return memory[: values.size]


def row_numbers(tableau: Any) -> dict[str, int]:
    """Indices of the rows after the stages."""
    fresh = tableau.stages + tableau.extra_stages + 1
    return {
        "fresh": fresh,
        "stage": fresh + 1,
        "new": fresh + 2,
        "scratch": fresh + 3,
        "dense": fresh + 5,
        "late": fresh + 8 + tableau.dense_rows,
    }


def new_run(tableau: Any, y: np.ndarray) -> Memory:
    """The memory of a run that starts from ``y``, with all fields that depend only on sizes."""
    n, numbers = y.size, row_numbers(tableau)
    rows = np.zeros((numbers["late"] + 1, 1 + room(n)))
    scalars = (
        "stages", "extra_stages", "dense_rows", "error_row", "error_order", "last_in_error", "first_slope",
        "last_slope", "stable_to", "safety", "memory",
    )  # fmt: skip
    return Memory(
        RUN,
        n=n,
        rows=rows,
        width=8 * rows.shape[1],
        **numbers,
        **{name: getattr(tableau, name) for name in scalars},
        sources=tableau.sources,
        weights=tableau.weights,
        counts=tableau.counts,
        nodes=tableau.nodes,
        terms=8 * tableau.sources.shape[1],
        y=padded(y),
        zero=padded(np.zeros(n)),
        onto=np.zeros(n + 3),
        last_error=1.0,
    )
