"""What carries a run to where the question is asked: pickles, files, continuation, bounds, other coordinates, processes.

Every carry gives a run that must be the fresh one at the same times, which it checks itself; the question is asked of
what came out, never of the fresh run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.crossings.carry import runs
from tests.crossings.carry.bounds import bounds
from tests.crossings.carry.converted import converted
from tests.crossings.carry.parts import continued
from tests.crossings.carry.runs import Carried
from tests.crossings.case import Case

CARRIES: dict[str, Callable[[Case], Any]] = {
    "fresh": lambda case: case.fresh,
    "pickled system": runs.pickled_system,
    "pickled run": runs.pickled_run,
    **{ending: runs.saved(ending) for ending in ("npz", "csv", "json", "nc")},
    "continued": continued,
    "backwards": runs.backwards,
    "again": runs.again,
    "ensemble": runs.ensemble,
    "bounds": bounds,
    "converted": converted,
    "study": runs.study,
    "process": runs.process,
}


def carried(case: Case) -> Carried:
    """The run of a case, carried as its row wants it; it must agree with the fresh one."""
    found = CARRIES[case.row["carry"]](case)
    if not isinstance(found, Carried):
        found = Carried(found, case.stretch, case.moments(found))
    return found


__all__ = ["CARRIES", "Carried", "carried"]
