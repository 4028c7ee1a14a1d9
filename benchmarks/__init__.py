"""Few benchmarks, each named for a question: ``python -m benchmarks [names...] [--json FILE] [--quick]``.

Every benchmark measures both sides in the same run, states a goal and says whether it is met. Timings
decide nothing: a goal that is missed does not fail the run.
"""
