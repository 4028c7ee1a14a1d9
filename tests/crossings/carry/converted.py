"""Runs in other coordinates of the same mechanism: another chart of the shoulder, or other speeds."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

import pendula
from pendula.errors import NotSupported
from tests.crossings.carry.runs import same_states
from tests.crossings.case import Case, Wrong
from tests.crossings.factors import ANGLES
from tests.crossings.mechanism import Array

Chart = tuple[str, str]
"""an orientation and its speeds"""
SAME = 1e-8
"""of accelerations, and of points, at one state: rounding"""


def converted(case: Case) -> Any:
    """Converted to other coordinates, simulated there from the converted start, and converted back.

    Loads, laws and rotors keep their meaning, or the conversion is refused: then only states are converted.
    """
    for chart in _charts(case):
        try:
            other = pendula.convert(case.fresh, chart[0], speeds=chart[1])  # type: ignore[arg-type]
        except NotSupported as error:
            if not error.refusal.id.startswith("conversion/") or case.row["drive"] == "angle":
                raise
            if not _names_shoulder(case):
                raise Wrong(f"converted: nothing names the shoulder, but {chart} is refused: {error}") from None
            continue
        _same_motion(case, chart, other)
        return _there_and_back(case, chart, other)
    return _start_there_and_back(case)


def _charts(case: Case) -> list[Chart]:
    """Other coordinates: some with the same names in another meaning, and some with other names."""
    kind, speeds = case.row["orientation"], case.row["speeds"]
    if speeds == "rates":
        angles = [x for x in (*ANGLES, "zxz", "space xyz") if x != kind]
        return [(str(case.rng.choice(angles)), "rates"), ("quaternion", str(case.rng.choice(["body", "parent"])))]
    turned = {"body": "parent", "parent": "body"}[speeds]
    found = [(str(case.rng.choice([kind, "rotation vector", "zxz", "xyz"])), turned)]
    found.append((str(case.rng.choice(["xyz", "zxz"])), "rates"))
    return found[:: -1 if case.row["load"] == "armature" else 1]  # rates have other rotors


def _there_and_back(case: Case, chart: Chart, other: Any) -> Any:
    """Simulated in other coordinates: the bodies move as in the fresh run."""
    if case.row["question"] == "events":  # they may name the shoulder
        return pendula.convert(other, case.fresh.system, near=_start(case))
    start = pendula.convert(_start(case), chart[0], speeds=chart[1])  # type: ignore[arg-type]
    there = case.simulated(other.system, initial_state=start, **_without_inputs(case))
    _same_points(case, f"simulated as {chart}", there)
    run = pendula.convert(there, case.fresh.system, near=_start(case))
    same_states(case, f"simulated as {chart}, and converted back", run, case.fresh)
    return run


def _start(case: Case) -> Any:
    """The start of the fresh run in the coordinates of its joints."""
    return case.fresh.system.in_joints.read_state(case.fresh.state(0), case.fresh.parameters)


def _without_inputs(case: Case) -> dict[str, Any]:
    """Those of the run stay: given anew, a law would name the new coordinates."""
    return {"inputs": None} if case.given.inputs else {}


def _start_there_and_back(case: Case) -> Any:
    """From a start that was converted to other coordinates and back."""
    first = _start(case)
    for chart, speeds in _charts(case):
        there = pendula.convert(first, chart, speeds=speeds)  # type: ignore[arg-type]
        first = pendula.convert(there, case.row["orientation"], speeds=case.row["speeds"], near=first)  # type: ignore[arg-type]
    run = case.simulated(initial_state=first)
    same_states(case, "from a start that was converted and back", run, case.fresh)
    return run


def _same_motion(case: Case, chart: Chart, other: Any) -> None:
    """Raises Wrong if the converted run has other places of bodies, or other accelerations of joints but the shoulder."""
    _same_points(case, f"converted to {chart}", other)
    before, after = (run.joint_layout.speeds for run in (case.fresh, other))
    names = [name for name in before if name in after and not name.startswith("shoulder")]
    k = case.stretch.inside[[1, -2]]
    found, right = (_columns(run.accelerations[k], run.joint_layout.speeds, names) for run in (other, case.fresh))
    error = np.abs(found - right).max(initial=0.0)
    loose = 1e-3 if case.row["constraints"] == "baumgarte" else 0.0
    if not error <= 100 * SAME * (1 + np.abs(right).max(initial=0.0)) + loose:
        raise Wrong(f"converted to {chart}: accelerations of {names} differ by {error:.2e}")


def _columns(values: Array, names: Any, wanted: list[str]) -> Array:
    return values[:, [names.index(name) for name in wanted]]


def _same_points(case: Case, what: str, run: Any) -> None:
    """Raises Wrong if points of bodies are elsewhere than those of free bodies."""
    moments = case.moments(case.fresh)
    for name in case.own.solids:
        found = run.position(name, "tip"), run.velocity(name, "tip")
        for k in (3, len(moments) - 2):
            right = case.own.point(moments[k], name, "tip")
            for a, b in zip(found, right, strict=False):
                if not np.abs(a[k] - b).max() <= 10 * case.tolerance * (1 + np.abs(b).max()) + _open(case):
                    raise Wrong(f'{what}: the tip of "{name}" is off by {np.abs(a[k] - b).max():.2e}')


def _open(case: Case) -> float:
    return 1e-3 if case.row["constraints"] == "baumgarte" else 0.0


def _names_shoulder(case: Case) -> bool:
    """Whether something belongs to coordinates or speeds of the shoulder: laws, loads, rotors or a motion."""
    data = case.drawn.data
    joint = next(x for x in data["joints"] if x["name"] == "shoulder")
    texts = json.dumps([data["forces"], [x for x in data["joints"] if x["type"] == "coupling"], [*case.drawn.law]])
    opaque = case.row["input"] in ("function", "sampled", "sampled with memory")  # it may read any of them
    return opaque or "armature" in joint or "motion" in joint or bool(re.search(r"\bshoulder(_\w+)?\b", texts))
