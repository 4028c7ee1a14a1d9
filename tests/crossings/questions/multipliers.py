"""Floquet multipliers: by the oracle's small motion where nothing depends on time, by neighbouring runs otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import expm

import pendula
from pendula.errors import ComputationError, NoConvergence, UsageError
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Mechanism, Moment
from tests.crossings.questions.rest import as_it_is, at_rest, depends_on_time, held, small_motion
from tests.crossings.questions.states import compare, displaced, slopes_of_rows
from tests.crossings.questions.still import settled

SPAN = 0.3
"""of time, by which the motion of a state of rest repeats like by any other"""
STEP = 1e-5
LOOSE = 1e-3
"""neighbouring runs over a period, relative to the largest entry of the monodromy matrix"""


def multipliers(case: Case, carried: Carried) -> None:
    """The monodromy matrix of rest, or of a periodic motion if one is found."""
    if depends_on_time(as_it_is(case), carried.moments[0].q) or not constant(case):
        return of_a_motion(case, carried)
    rest, p = as_it_is(case), carried.run.parameters
    q = settled(rest, carried.moments[0].q)
    x = rest.moment(q)
    at_rest(rest, x)
    try:
        found = pendula.driven.floquet(carried.system, SPAN, at=q, parameters=p)
    except UsageError as error:
        if "is not periodic" not in str(error):
            raise
        raise Wrong(f"at {q} all accelerations are zero, but: {error}") from None
    chosen = found.names[len(found.names) // 2 :]
    small = small_motion(rest, x, tuple(chosen), by_input=())
    solved = np.linalg.solve(small.M, np.hstack([-small.K, -small.C]))
    n = len(small.M)
    right = expm(SPAN * np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), solved]))
    compare("monodromy matrix of rest", found.names, found.matrix, right, 1e-5)
    multipliers_of(found)
    return None


def constant(case: Case) -> bool:
    """Whether inputs keep their values."""
    return case.row["input"] in ("none", "number") and case.row["beside"] in ("nothing", "model", "number")


def multipliers_of(found: Any) -> None:
    """The multipliers are the eigenvalues of the matrix."""
    right, size = np.linalg.eigvals(found.matrix), 1 + np.abs(found.matrix).max()
    for value in found.multipliers:
        if not np.abs(right - value).min() <= 1e-5 * size:
            raise Wrong(f"multiplier {value}, eigenvalues of the matrix: {right}")


def of_a_motion(case: Case, carried: Carried) -> None:
    """A periodic motion near the rest of the mechanism with its motions held, if there is one."""
    system, p = carried.system, carried.run.parameters
    if not (case.given.is_law and case.beside.is_law):
        pendula.driven.floquet(system, at=dict(carried.moments[0].q), parameters=p)
        raise Wrong("the input is one that only the run knows, and multipliers are claimed")
    rest, _ = held(case)
    try:
        start = settled(rest, carried.moments[0].q)
    except Unsuitable:  # from where it is
        start = dict(carried.moments[0].q)
    try:
        found = pendula.driven.floquet(system, at=start, parameters=p, close=True, tol=1e-10, max_steps=1500)
    except (NoConvergence, ComputationError) as error:
        raise Unsuitable(f"no periodic motion: {error}") from None
    except UsageError as error:
        if "no sine or cosine" in str(error) and any("t**2" in str(j.get("motion", "")) for j in data_of(case)):
            return
        if "not periodic" in str(error) or "no common period" in str(error):
            raise Unsuitable(str(error)) from None
        raise
    multipliers_of(found)
    beside_runs(case, carried, found)
    assert rest.own.free


def data_of(case: Case) -> list[dict[str, Any]]:
    joints: list[dict[str, Any]] = case.drawn.data["joints"]
    return joints


def beside_runs(case: Case, carried: Carried, found: Any) -> None:
    """One column of the matrix by two neighbouring runs over the period."""
    own, layout, n = case.own, found.state.layout, len(found.names) // 2
    chosen = found.names[n:]
    x = Moment(
        float(found.state.t),
        dict(zip(layout.coordinates, map(float, found.state.q), strict=True)),
        dict(zip(layout.speeds, map(float, found.state.v), strict=True)),
    )
    along = case.rng.uniform(-1, 1, 2 * n)
    ends = [ended(case, carried, beside(own, x, chosen, way * STEP * along), found.period) for way in (1, -1)]
    rows, change = [], []
    for k, name in enumerate(chosen):
        rows.append(n + k)
        change.append(ends[0][name] - ends[1][name])
        if name.removesuffix("_dot") in x.q:
            rows.append(k)
            change.append(ends[0][name.removesuffix("_dot")] - ends[1][name.removesuffix("_dot")])
    right = np.array(change) / (2 * STEP)
    size = float(np.abs(found.matrix).max())
    if size > 1e4:
        raise Unsuitable("neighbouring runs leave each other too fast")
    compare("monodromy matrix", [found.names[k] for k in rows], (found.matrix @ along)[rows], right, LOOSE * (1 + size))


def beside(own: Mechanism, x: Moment, chosen: tuple[str, ...], change: Array) -> Moment:
    """A state beside another, by changes of the chosen speeds' displacements and of the chosen speeds."""
    Z = slopes_of_rows(own, x)[1]
    keep = [own.free.index(name) for name in chosen]
    Z = Z @ np.linalg.inv(Z[keep])
    n = len(chosen)
    ds, dv = (dict(zip(own.free, (Z @ part).tolist(), strict=True)) for part in (change[:n], change[n:]))
    moved = displaced(own, x, ds, dv)
    if len(keep) == len(own.free):
        return moved
    rest = [k for k in range(len(own.free)) if k not in keep]
    G = slopes_of_rows(own, moved)[0][:, rest]
    more = np.linalg.lstsq(G, -own.gaps(moved)[1], rcond=1e-7)[0]
    v = {**moved.v, **{own.free[k]: moved.v[own.free[k]] + d for k, d in zip(rest, more.tolist(), strict=True)}}
    return Moment(x.t, moved.q, v)


def ended(case: Case, carried: Carried, x: Moment, period: float) -> Mapping[str, float]:
    """Where a run from a state is after a period, by name."""
    values = {**x.q, **x.v}
    run = pendula.simulate(
        carried.system, t_span=(x.t, x.t + period), initial_state=values, tol=1e-11, samples=[x.t, x.t + period],
        parameters=case.parameters or None,
    )  # fmt: skip
    if not run.outcome.ok:
        raise Unsuitable(f"{run.outcome}: {run.detail}")
    return case.states_of(run)[-1]
