"""Integrals of motion: constant along the run, equal to the momenta of free bodies, as numbers and as they are printed."""

from __future__ import annotations

from typing import Any

import numpy as np

import pendula
from pendula.analysis.court.second_reader import evaluate_text
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Moment
from tests.crossings.questions.motion import loose
from tests.crossings.questions.states import compare

EXACT = 1e-8
IN_WORDS = ("sum of", "(I w)", "T + V")


def integrals(case: Case, carried: Carried) -> None:
    """Every integral that is claimed; in the plane, the moment of momentum must be among them where it is kept."""
    found = pendula.integrals(carried.system, parameters=carried.run.parameters)
    values = found.values(carried.run)
    for one in found:
        own = np.array([_own(case, one, x) for x in carried.moments])
        told = np.asarray(values[one.name])
        if one.symmetry is None:  # the potential is zero where it likes
            own, told = own - own[0], told - told[0]
        size = 1 + float(np.abs(own).max()) + max(case.own.kinetic(x) for x in carried.moments)
        compare(f"{one.name} along the run", (), told, own, EXACT * size + loose(case))
        if not np.ptp(own) <= 100 * case.tolerance * size + loose(case):
            raise Wrong(f"{one.name} is claimed to be kept, and changes by {np.ptp(own):.2e}")
        if not one.formula.startswith(IN_WORDS):
            written = [_written(case, one.formula, carried.moments[k]) for k in carried.inside(3)]
            compare(f"{one.name} as it is printed", (), written, own[carried.inside(3)], EXACT * size + loose(case))
    if case.is_flat and case.row["closure"] == "tree" and not any(one.symmetry for one in found):
        kept = np.array([_moment(case, x, [*case.own.solids], np.zeros(3)) for x in carried.moments])[:, 2]
        if np.ptp(kept) <= EXACT * np.abs(kept).max():
            raise Wrong(f"no momentum is listed, and the moment of momentum stays {kept[0]:.12g}")


def _own(case: Case, one: Any, x: Moment) -> float:
    if one.symmetry is None:
        return case.own.kinetic(x) + case.own.potential(x)
    kind, bodies, axis = one.symmetry.kind, one.symmetry.bodies, np.array(one.symmetry.axis)
    motions = case.own.bodies(x)
    if kind == "shift":
        return float(sum(case.own.solids[name].mass * motions[name].v @ axis for name in bodies))
    if kind == "spin":
        (name,) = bodies
        return float(case.own.solids[name].inertia @ motions[name].R.T @ motions[name].omega @ axis)
    return float(_moment(case, x, bodies, np.array(one.symmetry.point)) @ axis)


def _moment(case: Case, x: Moment, bodies: Any, point: Array) -> Array:
    """Moment of momentum of some bodies about a fixed point."""
    motions, found = case.own.bodies(x), np.zeros(3)
    for name in bodies:
        one, solid = motions[name], case.own.solids[name]
        found += solid.mass * np.cross(one.com - point, one.v) + one.R @ solid.inertia @ one.R.T @ one.omega
    return found


def _written(case: Case, formula: str, x: Moment) -> float:
    """The value of a printed momentum."""
    jets = case.own.instant(x).now.jets
    known = {name: jets[name].x for name in case.own.known} | {f"{name}_dot": jets[name].d for name in case.own.known}
    names = {**case.own.values.parameters, **case.all_inputs(x.u), **x.q, **x.v, **known, "t": x.t}
    return float(evaluate_text(formula, names).x)
