"""What holds a pose: forces of motors, an input in place of one of them, and forces of motions that are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import qr

import pendula
from pendula.errors import NotSupported, UsageError
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.oracle import Mechanism, Moment
from tests.crossings.questions.rest import (
    BALANCED,
    Rest,
    as_it_is,
    depends_on_time,
    held,
    never_alone,
    says_so,
    still_system,
)
from tests.crossings.questions.states import compare, slopes_of_rows

VARIES = 1e-6
"""changes of a force that are no rounding"""


def trim(case: Case, carried: Carried) -> None:
    """The pose of a sample is held; where motions move, that is refused, and asked again with each motion held there."""
    sample = carried.moments[carried.inside(3)[1]]
    rest = as_it_is(case)
    if case.row["drive"] in ("none", "held"):
        return holds(rest, carried, carried.system, rest.moment(sample.q))
    names = _holdable(case.own, rest.moment(sample.q))
    hold, p = {name: sample.q[name] for name in names}, carried.run.parameters
    try:
        if names:
            pendula.equilibria.trim(carried.system, hold, names, parameters=p, **_given(rest, ()))
    except (NotSupported, UsageError) as error:
        says_so(rest, carried, error)
    rest, data = held(case, sample.t)
    return holds(rest, carried, still_system(case, rest, data), rest.moment(sample.q))


def _given(rest: Rest, wanted: Sequence[str]) -> dict[str, Any]:
    constant = {name: x for name, x in rest.inputs.items() if name not in wanted}
    return {"inputs": constant} if constant else {}


def holds(rest: Rest, carried: Carried, system: Any, x: Moment) -> None:
    """Motors, and the input if it can stand for one of them, hold a pose; forces balance there."""
    case, own, p = rest.case, rest.own, carried.run.parameters
    names = _holdable(own, x)
    if not names:
        raise Unsuitable("no coordinate can be held")
    hold = {name: x.q[name] for name in names}
    wanted = list(names)
    if "F" in x.u and case.drawn.push in names and case.row["input"] != "feedback":
        wanted[wanted.index(case.drawn.push)] = "F"
    inputs = _given(rest, wanted)
    if inputs and system is carried.system:
        never_alone(case, partial(pendula.equilibria.trim, system, hold, wanted, parameters=p))
    fixed = determined(rest, system, x, hold, wanted, p)
    try:
        found = pendula.equilibria.trim(system, hold, [*wanted, *fixed], parameters=p, **inputs)
    except (NotSupported, UsageError) as error:
        if "depend on time" not in str(error) or not depends_on_time(rest, x.q):
            raise
        return
    if depends_on_time(rest, x.q):
        raise Wrong("forces depend on time, and constant ones are claimed to hold")
    state = dict(zip(found.state.layout.coordinates, map(float, found.state.q), strict=True))
    moved = max(abs(state[name] - value) for name, value in hold.items())
    if not moved <= 1e-9:
        raise Wrong(f"what is held moved by {moved:.2e}")
    x = rest.moment(state)
    if "F" in wanted:
        x = Moment(x.t, x.q, x.v, {}, {**x.u, "F": found["F"]})
    n = len(own.free)
    left = own.residual(x)
    for name in wanted:
        if name != "F":
            left[own.columns[f"{name}_dot"]] -= found[name]
    at = own.instant(x)
    G = np.array([row.g + np.zeros(own.count) for row in own.rows(at)]).reshape(-1, own.count)[:, :-1]
    lam = np.linalg.lstsq(G[:, :n].T, left[:n], rcond=1e-9)[0]
    for name in fixed:
        left[own.columns[f"{name}_dot"]] -= found[name]
    rest_of = left - G.T @ lam
    kept = [*range(n), *(own.columns[f"{name}_dot"] for name in fixed)]
    compare("forces that trim leaves", (), rest_of[kept], np.zeros(len(kept)), BALANCED * (1 + np.abs(left).max()))


def determined(
    rest: Rest, system: Any, x: Moment, hold: Mapping[str, float], wanted: Sequence[str], p: Any
) -> list[str]:
    """The motions whose forces are constant and determined; of each other one it must be said why not."""
    own, kept = rest.own, list[str]()
    lost = own.undetermined(x)
    if own.known and not lost.clear:
        raise Unsuitable("it is in doubt which forces are determined")
    later = [own.accelerations(rest.moment(x.q, t=t)).drives for t in (0.0, 0.21, 0.34)]
    for name in own.known:
        varies = np.ptp([one[name] for one in later]) > VARIES * (1 + abs(later[0][name]))
        wrong = "is not determined" if lost.drives[name] else "changes with time" if varies else ""
        if not wrong:
            kept.append(name)
            continue
        try:
            pendula.equilibria.trim(system, hold, [*wanted, name], parameters=p, **_given(rest, wanted))
        except (NotSupported, UsageError) as error:
            if wrong in str(error) or "depend on time" in str(error):
                continue
            raise
        raise Wrong(f'the force of the motion "{name}" {wrong}, and trim gives it')
    return kept


def _holdable(own: Mechanism, x: Moment) -> list[str]:
    """Free coordinates with a rate that determine the others, as far as there are any."""
    Z = slopes_of_rows(own, x)[1]
    rated = [f"{n}_dot" for joint in own.joints for n in joint.rated if f"{n}_dot" in own.free]
    if not rated or not Z.shape[1]:
        return []
    rows = Z[[own.free.index(name) for name in rated]]
    _, R, order = qr(rows.T, pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > 0.05 * abs(R[0, 0])))
    return [rated[k].removesuffix("_dot") for k in order[:rank]]
