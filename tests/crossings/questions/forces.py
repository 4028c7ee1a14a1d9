"""Forces that nobody wrote into the model: reactions of joints, forces of motors and of couplings."""

from __future__ import annotations

from typing import Any

import numpy as np

import pendula
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Moment
from tests.crossings.oracle.texts import names_in
from tests.crossings.oracle.wrenches import Twists
from tests.crossings.questions.limits import in_singular_poses
from tests.crossings.questions.motion import loose

BALANCED = 1e-8
"""unbalanced forces relative to the largest: rounding, times the conditioning of small mechanisms"""


def reactions(case: Case, carried: Carried) -> None:
    """Every body balances with the claimed reactions; what is nan is undetermined, and nothing else is."""
    claimed = pendula.reactions(carried.run)
    for k in carried.inside(3):
        x = carried.moments[k]
        open_ones = case.own.undetermined(x)
        if not open_ones.clear:
            raise Unsuitable("it is in doubt which forces are determined")
        for j, name in enumerate(claimed.joints):
            wrench = np.concatenate([claimed.force_world[k, j], claimed.torque_world[k, j]])
            same_holes(f'reaction of "{name}" at t = {x.t:.6g}', wrench, open_ones.joints[name])
        for name, forces in claimed.couplings.items():
            for on, wanted in open_ones.couplings[name].items():
                if on in forces:
                    same_holes(f'force of coupling "{name}" on {on}', forces[on][k : k + 1], np.array([wanted]))
        _balance(case, claimed, k, x)
        _transmitted(case, claimed, k, x)
    in_singular_poses(case, carried)


def same_holes(what: str, claimed: Array, wanted: Array) -> None:
    """Raises Wrong unless exactly the undetermined numbers are nan."""
    if not np.array_equal(np.isnan(claimed), wanted):
        raise Wrong(f"{what}: {claimed.tolist()}, undetermined by the balances of all bodies: {wanted.tolist()}")


def _balance(case: Case, claimed: Any, k: int, x: Moment) -> None:
    """The balances of all bodies, with the best values of what is undetermined."""
    force = {name: claimed.force_world[k, j] for j, name in enumerate(claimed.joints)}
    torque = {name: claimed.torque_world[k, j] for j, name in enumerate(claimed.joints)}
    couplings = {c: {on: found[k] for on, found in forces.items()} for c, forces in claimed.couplings.items()}
    holes = [(part, name, i) for part in (force, torque) for name in part for i in np.flatnonzero(np.isnan(part[name]))]
    holes += [(part, name, None) for part in couplings.values() for name in part if np.isnan(part[name])]

    def left(values: Array) -> Array:
        for place, value in zip(holes, values, strict=True):
            _put(*place, value)
        found = case.own.imbalance(x, force, torque, couplings)
        return np.concatenate([found[name] for name in sorted(found)])

    none = np.zeros(len(holes))
    rest = left(none)
    if holes:
        columns = np.array([left(one) - rest for one in np.eye(len(holes))]).T
        rest = rest - columns @ np.linalg.lstsq(columns, rest, rcond=None)[0]
    size = float(np.nanmax(np.abs(np.concatenate([claimed.force_world[k], claimed.torque_world[k]]))))
    worst = float(np.abs(rest).max())
    if not worst <= BALANCED * (1 + size) + 30 * loose(case):
        body = sorted(case.own.solids)[int(np.argmax(np.abs(rest))) // 6]
        raise Wrong(f'at t = {x.t:.6g} the claimed reactions leave {worst:.2e} of "{body}" unbalanced')


def _put(part: dict[str, Any], name: str, i: int | None, value: float) -> None:
    if i is None:
        part[name] = value
    else:
        part[name] = np.where(np.arange(3) == i, value, part[name])


def _transmitted(case: Case, claimed: Any, k: int, x: Moment) -> None:
    """A reaction does no work on the free motions of its joint, and reads the same in the axes of the child."""
    own, at = case.own, case.own.instant(x)
    trees = {joint.name: joint for joint in own.joints}
    for j, name in enumerate(claimed.joints):
        wrench = np.concatenate([claimed.force_world[k, j], claimed.torque_world[k, j]])
        if np.isnan(wrench).any():
            continue
        if name in trees:
            twists = Twists(own, at, trees[name])
            rest = wrench @ (twists.all if trees[name].absolute else twists.free)
        else:
            basis = own.transmits(x, name)
            rest = wrench - basis @ (basis.T @ wrench)
        if not np.abs(rest).max(initial=0.0) <= BALANCED * (1 + np.abs(wrench).max()) + 30 * loose(case):
            raise Wrong(f'the reaction of "{name}" does work: {rest.tolist()} of {wrench.tolist()}')
        child = next(joint["child"] for joint in case.drawn.data["joints"] if joint["name"] == name)
        R = at.frames[child if isinstance(child, str) else child["body"]].R
        turned = np.concatenate([R @ claimed.force_body[k, j], R @ claimed.torque_body[k, j]])
        if not np.abs(turned - wrench).max() <= BALANCED * (1 + np.abs(wrench).max()) + loose(case):
            raise Wrong(f'the reaction of "{name}" differs in the axes of its child: {turned - wrench}')


def motor_forces(case: Case, carried: Carried) -> None:
    """Forces of prescribed motions; nan in reactions where motors may work against each other.

    In maximal coordinates these forces are found in another way, and ``check`` compares what is determined.
    """
    if case.own.known:
        verdict = pendula.check(case.model, formulations=["lagrange", "maximal"], states=5, seed=case.seed[-1])
        if not verdict.passed:
            raise Wrong(f"formulations disagree: {verdict}")
    in_singular_poses(case, carried)
    run, own = carried.run, case.own
    system = carried.system
    claimed = pendula.reactions(run)
    moving = moving_sides(case)
    if {*claimed.motors} != {*own.known, *moving}:
        raise Wrong(f"motors {sorted(claimed.motors)} are listed, but {sorted((*own.known, *moving))} are prescribed")
    direct = system.drive_forces(run.q, run.v, run.t, parameters=run.parameters)
    if direct.shape != (len(run.t), len(claimed.motors)):
        raise Wrong(f"drive forces have shape {direct.shape}")
    names = [drive.name for drive in system.drives]
    for k in carried.inside(3):
        x = carried.moments[k]
        open_ones = own.undetermined(x)
        if not open_ones.clear:
            raise Unsuitable("it is in doubt which forces are determined")
        drives = own.accelerations(x).drives
        for name in own.known:
            found = claimed.motors[name][k]
            same_holes(f'force of motor "{name}"', np.array([found]), np.array([open_ones.drives[name]]))
            if not np.isnan(found):
                _same_force(case, name, x.t, (found, direct[k, names.index(name)]), drives[name])
        axis, more = None, dict[int, Array]()
        for name, (joint, i, sign) in moving.items():
            found, right = claimed.motors[name][k], sign * claimed.force_world[k, claimed.joints.index(joint), i]
            same_holes(name, np.array([found]), open_ones.joints[joint][i : i + 1])
            both = np.array([found, direct[k, names.index(f"{joint}__{'xyz'[i]}")]])
            axis = slides_along(case, joint)
            if axis is None and not np.isnan(found):
                _same_force(case, name, x.t, tuple(both), right)
            elif axis is not None:
                more[i] = both - right
        if {0, 1} <= more.keys() and axis is not None:
            across = more[0] * axis[1] - more[1] * axis[0]
            if not np.abs(across).max() <= 10 * BALANCED * (1 + max(np.abs(more[0]).max(), 1.0)) + 30 * loose(case):
                raise Wrong(f"at t = {x.t:.6g} the motors at the shoulder push across its axis by {across}")


def slides_along(case: Case, joint: str) -> Array | None:
    """The axis of a slide, along which springs and friction of the joint push its moving side; None for others."""
    data = next(one for one in case.drawn.data["joints"] if one["name"] == joint)
    return np.array([float(x) for x in data["axis"]]) if data["type"] == "prismatic" else None


def moving_sides(case: Case) -> dict[str, tuple[str, int, float]]:
    """Motors of moving sides on ground: joint, axis, and the sign of the reaction on the joint's child that they give."""
    found = {}
    for joint in case.drawn.data["joints"]:
        for side, sign in (("parent", 1.0), ("child", -1.0)):
            place = joint[side].get("position", ()) if isinstance(joint.get(side), dict) else ()
            for i, value in enumerate(place):
                if isinstance(value, str) and "t" in names_in(value):
                    found[f"{joint['name']}: moved along {'xyz'[i]}"] = (joint["name"], i, sign)
    return found


def _same_force(case: Case, name: str, t: float, found: tuple[float, ...], right: float) -> None:
    for one in found:
        if not abs(one - right) <= 10 * BALANCED * (1 + abs(right)) + 30 * loose(case):
            raise Wrong(f'at t = {t:.6g} the motor "{name}" needs {one:.12g}, by free bodies {right:.12g}')
