"""Accelerations, energies and momenta along the carried run."""

from __future__ import annotations

import numpy as np

from tests.crossings import oracle
from tests.crossings.carry import Carried
from tests.crossings.case import NODES, WEIGHTS, Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array

ROUNDING = 2e-9
"""claimed accelerations and forces at one state: rounding, times the conditioning of small mechanisms"""

THREE = np.insert(np.linalg.solve(np.vander(NODES[[0, 1, 3]], increasing=True).T, [2.0, 0.0, 2.0 / 3.0]), 2, 0.0)
"""weights of the Gauss points without the third one: exact for parabolas"""


def accelerations(case: Case, carried: Carried) -> None:
    """Claimed accelerations balance every body, close the loops, and are the slope of the claimed motion."""
    for k in carried.inside(6):
        balanced(case, carried.moments[k])
    follows(case, carried)
    slopes_of_recursion(case, carried)


def slopes_of_recursion(case: Case, carried: Carried) -> None:
    """The recursion differentiates by kernels of its own, of which every load and input has a part."""
    from tests.crossings.questions.derivatives import by_state

    if case.row["engine"].startswith("recursive") and case.row["input"] != "function":
        by_state(case, carried, carried.inside(3)[1])


def balanced(case: Case, moment: oracle.Moment) -> None:
    """Inertia and loads balance along every motion that the loops allow, and the loops stay closed."""
    own = case.own
    gaps = own.gaps(moment)
    loose = {"baumgarte": 1e-4, "none": 1e-4}.get(case.row["constraints"], 1e-9)
    for order, gap in enumerate(gaps):
        size = np.abs(gap).max(initial=0.0)
        bound = loose * 30**order if order < 2 or case.row["constraints"] == "baumgarte" else ROUNDING * 1e2
        if not size <= bound:
            raise Wrong(f"at t = {moment.t:.6g} the loops are open by {size:.2e} (derivative {order})")
    solved = own.accelerations(moment)
    claimed = np.array([moment.a[name] for name in own.free])
    right = np.array([solved.a[name] for name in own.free])
    error = np.abs(claimed - right)
    k = int(np.argmax(error))
    bound = ROUNDING * (1 + np.abs(right).max()) * max(1.0, solved.condition / 1e3)
    if case.row["constraints"] == "baumgarte":
        bound += 1e-3
    if not error[k] <= bound:
        raise Wrong(f"at t = {moment.t:.6g} {own.free[k]}' = {claimed[k]:.12g}, by free bodies {right[k]:.12g}")


def follows(case: Case, carried: Carried) -> None:
    """Speeds are the integrals of the accelerations, block by block, by Gauss' formula."""
    names = list(case.own.free)
    v = np.array([[m.v[name] for name in names] for m in carried.moments])
    a = np.array([[m.a[name] for name in names] for m in carried.moments])
    error = defects(carried, v, a)
    bound = (case.tolerance * 3 + loose(case)) * (1 + np.abs(v).max())
    if case.row["load"] in ("kink", "joint limit"):
        bound = 0.05 * np.abs(a).max()
    if not error <= bound:
        raise Wrong(f"speeds are not the integral of the accelerations: off by {error:.2e} within a block")


def defects(carried: Carried, y: Array, rate: Array) -> float:
    """The largest difference between the change of y over a block and the integral of its rate.

    Gauss' formula misses something where the rate is steep, as where a linkage whips round: less than a tenth of what
    it changes without one of its four points, which is allowed.
    """
    per = WEIGHTS.size + 1
    edges = carried.stretch.edges
    change = y[per::per] - y[:-1:per]
    inner = np.stack([rate[1 + k :: per] for k in range(WEIGHTS.size)])
    length = np.diff(edges).reshape(-1, *[1] * (y.ndim - 1))
    integral = np.einsum("k,k...->...", WEIGHTS / 2, inner) * length
    without = np.einsum("k,k...->...", THREE / 2, inner) * length
    steep = np.abs(integral - without)
    turns = np.ptp(inner, axis=0) * length > 2 * (1 + np.abs(y).max())
    if turns.any() or not steep.max(initial=0.0) <= 0.05 * (1 + np.abs(y).max()):
        raise Unsuitable("the motion is too steep for Gauss' formula, as where a linkage whips round")
    return float(np.maximum(np.abs(change - integral) - 0.1 * steep, 0.0).max(initial=0.0))


def energy(case: Case, carried: Carried) -> None:
    """Energies are those of the bodies, and the work is the integral of the power of all that has no potential."""
    slopes_of_recursion(case, carried)
    own, run = case.own, carried.run
    kinetic, potential, work = (run[name] for name in ("kinetic", "potential", "work"))
    T = np.array([own.kinetic(m) for m in carried.moments])
    V = np.array([own.potential(m) for m in carried.moments])
    P = np.array([own.power(m) for m in carried.moments])
    scale = 1 + np.abs(T).max() + np.ptp(V)
    for name, error in (("kinetic", kinetic - T), ("potential", np.diff(potential) - np.diff(V))):
        if not np.abs(error).max() <= 1e-8 * scale + loose(case):
            raise Wrong(f"{name} energy is off by {np.abs(error).max():.2e}")
    error = defects(carried, work, P)
    bound = (case.tolerance * 3 + loose(case)) * scale
    if case.row["load"] in ("kink", "joint limit"):
        bound = 0.05 * np.abs(P).max() + bound
    if not error <= bound:
        raise Wrong(f"work is not the integral of the power: off by {error:.2e} within a block")


def loose(case: Case) -> float:
    """What open loops may change."""
    return {"projection": 0.0, "none": 1e-4, "baumgarte": 1e-2}[case.row["constraints"]]


def momentum(case: Case, carried: Carried) -> None:
    """Momenta of all bodies, from positions and velocities of mass centres and angular velocities that the run states."""
    slopes_of_recursion(case, carried)
    own = case.own
    bodies = {body["name"]: body for body in case.drawn.data["bodies"]}
    k = carried.inside(3)
    masses = {name: own.values.scalar(body["mass"]) for name, body in bodies.items()}
    linear = sum(masses[name] * carried.run.velocity(name, "com")[k] for name in bodies)
    right = np.array([own.momentum(carried.moments[i])[0] for i in k])
    error = np.abs(linear - right).max()
    if not error <= 1e-8 * (1 + np.abs(right).max()) + loose(case):
        raise Wrong(f"momentum is off by {error:.2e}")
    for name in bodies:
        motion = [own.bodies(carried.moments[i])[name] for i in k]
        error = np.abs(carried.run.acceleration(name, "com")[k] - [m.a for m in motion]).max()
        if not error <= 1e-7 * (1 + max(np.abs(m.a).max() for m in motion)) + 30 * loose(case):
            raise Wrong(f'acceleration of "{name}" is off by {error:.2e}')
