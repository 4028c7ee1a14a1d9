"""The solution file of the linearization benchmark: all eigenvalues, true and spurious, with accuracy and times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pendula.bench.linearization import ONE_EXECUTION, Measured


def solution_file(found: Iterable[Measured]) -> dict[str, Any]:
    """The content of a solution file: for each case its accuracy, times, and all eigenvalues with their labels."""
    return {
        "benchmark": "linearization of a simple 3D pendulum (IFToMM benchmark)",
        "one_execution": ONE_EXECUTION,
        "unit": "1/s",
        "cases": [_case(x) for x in found],
    }


def _case(x: Measured) -> dict[str, Any]:
    exact = [*x.case.exact, *(value.conjugate() for value in x.case.exact)]
    return {
        "name": x.case.name,
        "problem": x.case.problem,
        "coordinates": x.case.coordinates,
        "model_coordinates": list(x.spectrum.model.coordinates),
        "chart": x.spectrum.model.chart,
        "accuracy_2norm": _finite(x.error),
        "executions": x.executions,
        "seconds": x.seconds,
        "cpu_seconds": x.cpu_seconds,
        "batch_executions": None if x.batch_seconds is None else x.batch_executions,
        "cpu_seconds_per_execution": x.per_execution,
        "batch_cpu_seconds": x.batch_seconds,
        "exact": [{"re": value.real, "im": value.imag} for value in exact],
        "true": [{"re": value.real, "im": value.imag, "label": "physical"} for value in x.true.tolist()],
        "spurious": [
            {"re": _finite(root.value.real), "im": _finite(root.value.imag), "multiplicity": root.multiplicity}
            | {"label": root.label}
            for root in x.spurious
        ],
    }


def _finite(x: float) -> float | None:
    """The number, or None (null in JSON) if it is infinite or undetermined, which the label says."""
    return float(x) if math.isfinite(x) else None
