"""States of the oracle in the coordinates of any system, states beside a sample, and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tests.crossings.carry import Carried
from tests.crossings.case import Case, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Mechanism, Moment


def compare(what: str, names: Sequence[str], found: Any, right: Any, bound: float) -> None:
    """Raises Wrong where numbers differ by more than a bound, relative to the largest of them."""
    found, right = np.asarray(found), np.asarray(right)
    if found.shape != right.shape:
        raise Wrong(f"{what}: shape {found.shape}, by free bodies {right.shape}")
    error = np.abs(found - right)
    if not error.max(initial=0.0) <= bound * (1 + np.abs(right).max(initial=0.0)):
        k = np.unravel_index(np.nanargmax(error) if np.isfinite(error).any() else 0, error.shape)
        where = names[k[0]] if k and len(names) == error.shape[0] else ""
        raise Wrong(f"{what}: {where} {list(map(int, k))} is {found[k]:.12g}, by free bodies {right[k]:.12g}")


def solved(case: Case, x: Moment, own: Mechanism | None = None) -> Moment:
    """A moment with the accelerations that the oracle finds."""
    return replace(x, a=(own or case.own).accelerations(x).a)


def rates_by_name(case: Case, x: Moment, names: Iterable[str], own: Mechanism | None = None) -> Array:
    """Accelerations by the names of speeds of a system: of joints, or of the mass centres and turns of bodies."""
    own = own or case.own
    bodies: Mapping[str, Any] | None = None
    found = []
    for name in names:
        if name in x.a:
            found.append(x.a[name])
            continue
        bodies = own.bodies(x) if bodies is None else bodies
        body, ending = _part(name)
        motion = bodies[body]
        if ending in ("x_dot", "y_dot", "z_dot"):
            found.append(float(motion.a["xyz".index(ending[0])]))
        elif ending in ("wx", "wy", "wz"):
            found.append(float((motion.R.T @ motion.alpha)["xyz".index(ending[1])]))
        else:
            found.append(float(motion.alpha[2]))
    return np.array(found)


def _part(name: str) -> tuple[str, str]:
    for ending in ("x_dot", "y_dot", "z_dot", "wx", "wy", "wz", "theta_dot"):
        if name.endswith(f"_{ending}"):
            return name.removesuffix(f"_{ending}"), ending
    raise Wrong(f"{name} is no speed of a joint or body")


def inputs_beside(case: Case, carried: Carried, x: Moment) -> dict[str, float]:
    """Inputs at a state that is none of the samples: laws see the state, controllers what they saw in the run."""
    if not case.inputs:
        return {}
    times = np.asarray(carried.run.t)
    states = [{**one.q, **one.v} for one in carried.moments]

    def at(t: float) -> Mapping[str, float]:
        return states[int(np.argmin(np.abs(times - t)))]

    return case.values_at(x.t, {**x.q, **x.v}, at)


def displaced(own: Mechanism, x: Moment, ds: Mapping[str, float], dv: Mapping[str, float]) -> Moment:
    """A moment moved by small displacements along its speeds, to first order, and with changed speeds."""
    q = dict(x.q)
    for joint in own.joints:
        for name in joint.rated:
            q[name] = q[name] + ds.get(f"{name}_dot", 0.0) if name in q else 0.0
        if joint.turned and joint.ball is not None:
            chart, names = joint.ball.chart, joint.ball.names
            old = np.array([q[name] for name in names])
            turn = np.array([ds.get(f"{joint.name}_w{axis}", 0.0) for axis in "xyz"])
            if joint.ball.axes == "body":
                turn = chart.rotation(old) @ turn
            by = chart.rates(old, np.zeros(3), np.zeros(3))[2]
            q |= dict(zip(names, (old + by @ turn).tolist(), strict=True))
    q = {name: value for name, value in q.items() if name in x.q}
    v = {name: value + dv.get(name, 0.0) for name, value in x.v.items()}
    return Moment(x.t, q, v, {}, x.u)


def slopes_of_rows(own: Mechanism, x: Moment) -> tuple[Array, Array]:
    """G of the free speeds and its null space."""
    at = own.instant(x)
    n = len(own.free)
    G = np.array([row.g + np.zeros(own.count) for row in own.rows(at)]).reshape(-1, own.count)[:, :n]
    _, sizes, right = np.linalg.svd(G)
    rank = int(np.sum(sizes > 1e-7 * max(float(sizes.max(initial=0.0)), 1e-300)))
    return G, right[rank:].T


def on_rows(own: Mechanism, x: Moment) -> Moment:
    """The moment with its speeds changed as little as possible so that the loops stay closed."""
    if not (own.closures or own.couplings):
        return x
    G, _ = slopes_of_rows(own, x)
    change = np.linalg.lstsq(G, -own.gaps(x)[1], rcond=1e-7)[0]
    return replace(x, v={**x.v, **{n: x.v[n] + d for n, d in zip(own.free, change.tolist(), strict=True)}})
