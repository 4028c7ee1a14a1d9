"""The records of many integrations, eight at a time: settings and memory, the eight lanes, and the results."""

from __future__ import annotations

from pendula.numerics.compiled.records import reader, record_dtype, records_at
from pendula.numerics.ensemble.lane_records import lane_records

BATCH = record_dtype(
    reals="t0 t_end rtol max_step nudge safety memory",
    whole="""
        runs n samples rhs rhs_context measure measure_context project max_attempts controlled work clear
        fresh stage new scratch dense late stages extra_stages dense_rows error_row error_order
        sources weights nodes terms columns
        bounds atol atol_rows start data data_rows column columns_of_data breaks breaks_rows breaks_each
        sample_t sample_y end_y results lanes rows y zero absolute energy contexts given onto ahead fraction entered
        fill store watch correct next_run ended idle passes code
    """,
)
"""The record of a batch of runs.

Settings: as in :data:`pendula.numerics.steppers.run.RUN`; numbers of ``runs`` and of components ``n``; ``measure``:
function for energies (0: none); ``work``: component that holds the work done (-1: none); ``clear``: 1 if the column
of an idle lane is set to zero; ``bounds`` (2, n): least and largest values of every component, at which a run ends (0:
there are none). Then the rows after the stages, and the tableau: ``terms`` entries in each row of
``columns``.

Memory: ``atol`` (``atol_rows``, n) and ``start`` (runs, n); ``data`` (``data_rows``, ``columns_of_data``): what differs
between runs, and ``column`` (``columns_of_data``, 8): its copy for the lanes; ``breaks`` (``breaks_rows``,
``breaks_each``), padded with infinities. Results: ``sample_y`` (runs, samples, n), ``end_y`` (runs, n), ``results``
(:data:`RESULT`). ``lanes`` is :data:`LANE_FIELDS`; ``rows`` (rows, n + 1, 8) has the layout of one run, with eight
numbers in place of one; ``y``, ``zero`` and ``absolute`` are (n, 8), ``energy`` (2, 8), ``contexts`` (8) those of the
projection, which reads ``given`` and writes ``onto``; ``ahead``, ``fraction`` and ``entered`` (8) are scratch. Then
functions that the loop calls (:func:`pendula.numerics.ensemble.lockstep.helpers`). Last, the progress of the batch;
``code`` is the argument of functions that numba would otherwise compile for each code.
"""

LANE_FIELDS = (
    "t", "h", "earliest", "bound", "on_break", "t_new", "step", "latest", "cut", "accept", "fine", "after", "factor",
    "active", "accepted", "rejected", "retry", "refused", "trouble", "where", "start_energy", "energy_error",
    "most_kinetic", "most_potential", "least_potential", "shortest", "longest", "last_error", "leaving", "sample_at",
)  # fmt: skip
"""Eight numbers each, one per lane; truth values are 1 or 0. ``on_break``: ``bound`` is a breakpoint; ``cut``: the step
was shortened to end there; ``after``: time of the next step's first derivative; ``refused`` and ``trouble`` are
codes; ``leaving``: ``bound`` is the time at which the run leaves its bounds; ``sample_at``: time of the next sample."""
LANE_COUNTERS = ("run", "next_sample", "next_break")


EACH, all_lanes_at, each_lane_at = lane_records(LANE_FIELDS, LANE_COUNTERS)
"""The record of the lanes. ``all_lanes_at(batch.lanes)``: with fields of eight numbers; ``each_lane_at(batch.lanes)``:
the same, ``lanes.t[l]`` being one number."""
RESULT = record_dtype(
    reals="t energy_error kinetic potential_high potential_low shortest longest where", whole="code accepted rejected"
)
"""Results of a run: its last time, its energies, its shortest and longest step, the time near which it failed."""

batch_at = reader(BATCH)
"""``batch_at(address)``: the batch, in compiled code."""
results_at = records_at(RESULT)
"""``results_at(batch.results, batch.runs)``: the results of all runs"""
