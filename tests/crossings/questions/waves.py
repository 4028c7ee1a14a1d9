"""Responses of small motion to harmonic inputs and prescribed motions, by matrices of differences of free bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import expm

import pendula
from pendula.errors import UsageError
from tests.crossings import oracle
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Moment
from tests.crossings.questions.rest import Rest, Small, held, linearized
from tests.crossings.questions.states import compare, displaced, slopes_of_rows

STEP = 1e-5
SMOOTH = 1e-5
"""differences over such a step, relative to the largest"""
FREQUENCIES = (1.3, 6.7)
TIMES = (0.4, 1.1)


def responses(case: Case, carried: Carried) -> None:
    """Steady responses to inputs, to a force, and to each prescribed motion or to all of one loop together."""
    both = linearized(case, carried)
    if both is None:
        return
    linear, small, shared = both
    if not shared:
        return in_other_coordinates(linear, small)
    for k, name in enumerate(linear.inputs):
        column = small.F[:, k].astype(complex)
        excited(linear, small, name, lambda omega, column=column: column)
    unit = np.eye(len(small.M))[0].astype(complex)
    excited(linear, small, {linear.coordinates[0]: 1.0}, lambda omega: unit)
    if linear.motions is not None:
        to_motions(case, carried, linear, small)


def in_other_coordinates(linear: Any, small: Small) -> None:
    """What the inputs move does not depend on the coordinates: the work of each along the response to another."""
    for k, name in enumerate(linear.inputs):
        found = pendula.linear.harmonic_response(linear, name, list(FREQUENCIES))
        for omega, e in zip(FREQUENCIES, found.response, strict=True):
            stiffness = small.K + 1j * omega * small.C - omega**2 * small.M
            right = small.F.T @ np.linalg.solve(stiffness, small.F[:, k])
            compare(f"response to {name}", linear.inputs, linear.F.T @ e, right, 1e-4)


def excited(linear: Any, small: Small, what: Any, force: Any) -> None:
    """Steady and forced response to an input whose forces at a frequency are known."""
    found = pendula.linear.harmonic_response(linear, what, list(FREQUENCIES))
    for omega, e in zip(FREQUENCIES, found.response, strict=True):
        if not np.isfinite(e).all():
            raise Unsuitable("a frequency is a resonance")
        stiffness = small.K + 1j * omega * small.C - omega**2 * small.M
        size = 1 + float(np.abs(stiffness).max() * np.abs(e).max())
        compare(f"forces in the response to {what}", linear.coordinates, stiffness @ e, force(omega), SMOOTH * size)
    omega, n = FREQUENCIES[0], len(small.M)
    moved = pendula.linear.forced_response(linear, what, omega, list(TIMES))
    push = np.linalg.solve(small.M, np.column_stack([force(omega).real, -force(omega).imag]))
    whole = np.zeros((2 * n + 2, 2 * n + 2))
    whole[:n, n : 2 * n] = np.eye(n)
    whole[n : 2 * n] = np.hstack([-np.linalg.solve(small.M, np.hstack([small.K, small.C])), push])
    whole[2 * n, 2 * n + 1], whole[2 * n + 1, 2 * n] = -omega, omega
    start = np.concatenate([np.zeros(2 * n), [1.0, 0.0]])
    right = np.array([(expm(whole * t) @ start)[:n] for t in TIMES])
    compare(f"forced response to {what}", (), moved.e, right, 1e-4 * (1 + float(np.abs(whole).max())))


# -- prescribed motions ------------------------------------------------------------------------------------


def to_motions(case: Case, carried: Carried, linear: Any, small: Small) -> None:
    """Each motion alone, if the loops allow that; otherwise it is refused, and cranks of one loop move together."""
    rest, data = held(case)
    q = dict(zip(linear.at.layout.coordinates, map(float, linear.at.q), strict=True))
    alone = {name: Motion.of(case, rest, data, q, linear.speeds, {name: 1.0}) for name in linear.motions.names}
    for name, motion in alone.items():
        if motion is not None:
            excited(linear, small, name, lambda omega, motion=motion: small.M @ motion.at(omega))
            continue
        try:
            pendula.linear.harmonic_response(linear, name, list(FREQUENCIES))
        except UsageError as error:
            if "loops join" not in str(error):
                raise
            continue
        raise Wrong(f'a response to "{name}" alone is claimed, which opens the loops')
    shares = dict.fromkeys((name for name, motion in alone.items() if motion is None), 1.0)
    if {*shares} == {"crank", "rocker"} and (motion := Motion.of(case, rest, data, q, linear.speeds, shares)):
        excited(linear, small, shares, lambda omega: small.M @ motion.at(omega))


class Motion:
    """Accelerations of the chosen speeds per displacement, rate and acceleration of a motion."""

    def __init__(self, parts: Sequence[Array]) -> None:
        self.parts = parts

    def at(self, omega: float) -> Array:
        """Per unit of the motion at a frequency."""
        return np.asarray(self.parts[0] + 1j * omega * self.parts[1] - omega**2 * self.parts[2])

    @classmethod
    def of(
        cls,
        case: Case,
        rest: Rest,
        data: Any,
        q: Mapping[str, float],
        chosen: Sequence[str],
        shares: Mapping[str, float],
    ) -> Motion | None:
        """Central differences with the motions moved; None if the loops do not follow."""
        own, x = rest.own, rest.moment(q)
        varied = {
            (order, way): oracle.Mechanism(varying(data, shares, order, way * STEP), case.parameters)
            for order in range(3)
            for way in (1, -1)
        }
        opened = (varied[0, 1].gaps(x)[0] - varied[0, -1].gaps(x)[0]) / (2 * STEP)
        followed = np.zeros(len(own.free))
        if opened.size:
            others = [k for k, name in enumerate(own.free) if name not in chosen]
            G = slopes_of_rows(own, x)[0]
            followed[others] = np.linalg.lstsq(G[:, others], -opened, rcond=1e-7)[0]
            if np.abs(G @ followed + opened).max() > 1e-4 * np.abs(opened).max(initial=0.0):
                return None
        keep = [own.free.index(name) for name in chosen]

        def accelerations(order: int, way: int) -> Array:
            along = dict(zip(own.free, (way * STEP * followed).tolist(), strict=True))
            moved = displaced(own, x, along if order == 0 else {}, along if order == 1 else {})
            found = varied[order, way].accelerations(Moment(x.t, moved.q, moved.v, {}, rest.u(moved))).a
            return np.array([found[own.free[k]] for k in keep])

        return cls([(accelerations(n, 1) - accelerations(n, -1)) / (2 * STEP) for n in range(3)])


def varying(data: Mapping[str, Any], shares: Mapping[str, float], order: int, size: float) -> dict[str, Any]:
    """The mechanism with motions that have a displacement, a rate or an acceleration at t = 0."""

    def varied(name: str, value: Any) -> Any:
        if name not in shares:
            return value
        return f"{value} + {shares[name] * size!r}*{('1', 't', 't**2/2')[order]}"

    joints = []
    for joint in data["joints"]:
        joint, name = dict(joint), joint["name"]
        if isinstance(motion := joint.get("motion"), dict):
            joint["motion"] = {n: varied(n, value) for n, value in motion.items()}
        elif motion is not None:
            joint["motion"] = varied(name, motion)
        for side in ("parent", "child"):
            if isinstance(joint.get(side), dict) and joint[side].get("body") == "ground":
                place = joint[side].get("position", ())
                position = [varied(f"{name}__{axis}", value) for axis, value in zip("xyz", place, strict=False)]
                joint[side] = {**joint[side], "position": position}
        joints.append(joint)
    return {**data, "joints": joints}
