"""The benchmark itself: accuracy and time of many executions, and the solution file."""

from __future__ import annotations

import json

from pendula.bench.linearization import ONE_EXECUTION, benchmark_linearization
from pendula.bench.solution import solution_file
from pendula.papers.judge import chosen, claim
from pendula.papers.types import Finding, Table, Text

ROUNDING = 1e-13
"""Errors of eigenvalues below this are due to rounding [1/s]."""


def benchmark(executions: int, longest: float) -> Finding:
    """All cases, with the 2-norm accuracy and the time that the benchmark defines."""
    found = benchmark_linearization(executions, longest=longest)
    rows = [
        (
            x.case.name,
            f"{x.case.problem}: {x.case.coordinates}",
            float(f"{x.error:.2g}"),
            len(x.true),
            sum(r.multiplicity for r in x.spurious),
            x.executions,
            float(f"{x.cpu_seconds:.3g}"),
        )
        for x in found
    ]
    worst = max(found, key=lambda x: x.error)
    own = [x for x in found if x.case.problem != "companion"]
    return Finding(
        notes=(ONE_EXECUTION,),
        lines=(
            claim(
                "accuracy",
                "the 2-norm of the difference between exact and true eigenvalues",
                f"at most {worst.error:.1g} 1/s, in the case {worst.case.name}",
                worst.error < ROUNDING,
                evidence={f"error, {x.case.name}": x.error for x in found},
                reason="an error is above rounding",
                corrected=f"{worst.error:.1g}",
                severity="wrong",
            ),
            chosen(
                "efficiency",
                "the time elapsed in 10,000 executions (no machine and no reference times are given)",
                "CPU time: "
                + ", ".join(f"{x.cpu_seconds:.3g} s for {x.executions:,} executions in {x.case.name}" for x in own),
                data="time of this machine, in single calls of the public API, without compilation",
                evidence={f"seconds, {x.case.name}": x.cpu_seconds for x in found}
                | {f"executions, {x.case.name}": x.executions for x in found},
            ),
        ),
        tables=(
            Table(
                "Cases, with a companion whose eigenvalues are all distinct",
                ("Case", "Coordinates", "Error [1/s]", "True", "Spurious", "Executions", "CPU [s]"),
                tuple(rows),
            ),
        ),
        texts=(
            Text(
                "Solution file: all eigenvalues, true and spurious (JSON)",
                json.dumps(solution_file(found), indent=1, allow_nan=False),
            ),
        ),
    )
