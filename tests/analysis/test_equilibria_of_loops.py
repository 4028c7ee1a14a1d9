"""Equilibria of closed loops: those of gears lie on their coupling, and no joint is closed the wrong way round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula


def _gear(ratio: float) -> pendula.Model:
    """Two equal pendulums of unit mass and length, geared b = ratio*a, in unit gravity."""
    joints: list[dict[str, Any]] = [
        {"name": "a", "type": "revolute", "parent": "ground", "child": "first"},
        {"name": "b", "type": "revolute", "parent": {"body": "ground", "position": [3, 0, 0]}, "child": "second"},
        {"name": "gear", "type": "coupling", "value": f"b - {ratio}*a"},
    ]
    bodies = [{"name": name, "point": {"mass": 1.0, "at": [0, -1, 0]}} for name in ("first", "second")]
    return pendula.Model(name="gear", gravity=[0, -1, 0], bodies=bodies, joints=joints)


@pytest.mark.parametrize("prove", [None, 10.0])
@pytest.mark.parametrize("ratio", [2.0, -1.0, 0.37])
def test_geared_pendulums_rest_where_the_torques_balance(ratio: float, prove: float | None) -> None:
    """V = -cos a - cos(ratio a); all roots of V' with both angles in the box are found, on the coupling."""
    found = pendula.find_equilibria(_gear(ratio), prove=prove)
    low, high = found.box["a"]
    a = np.linspace(low, high, 400_001)
    a = a[np.abs(ratio * a) <= found.box["b"][1]]
    slope = np.sin(a) + ratio * np.sin(ratio * a)
    expected = a[:-1][(slope[:-1] <= 0) != (slope[1:] <= 0)]
    np.testing.assert_allclose(sorted(one["a"] for one in found), expected, atol=1e-4)
    for one in found:
        assert one["b"] == pytest.approx(ratio * one["a"], abs=1e-12)
    assert found.complete == ("proven" if prove else "indicated")


def test_poses_in_which_a_joint_is_closed_the_wrong_way_round_are_no_equilibria() -> None:
    """A guided weight hangs from a spring; upside down, its guide would be closed in the opposite direction."""
    model = pendula.Model(
        name="guided weight",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "weight", "mass": 1.0, "inertia": [0.02, 0.03, 0.01]}],
        joints=[
            {"name": "f", "type": "free", "parent": "ground", "child": "weight"},
            {"name": "guide", "type": "loop", "kind": "prismatic", "axis": [0, 0, 1], "parent": "ground",
             "child": "weight"},
        ],
        forces=[{"type": "spring", "from": {"body": "ground", "position": [0, 0, 2]}, "to": "weight",
                 "stiffness": 30.0}],
    )  # fmt: skip
    found = pendula.find_equilibria(model)
    heights = sorted(one["f_z"] for one in found)
    np.testing.assert_allclose(heights, [2 - 9.81 / 30], atol=1e-9)
    assert "opposite directions" in found.reason
    assert pendula.simulate(model, 0.1, initial_state=found[0].state).ok


@pytest.mark.parametrize("closing", [{"type": "coincident"}, {"type": "loop", "kind": "revolute"}])
def test_three_parallel_cranks_do_not_rest_when_they_lie_flat(closing: dict[str, str]) -> None:
    """All points of a coupler on parallel cranks move on equal circles: it hangs or stands, like one pendulum.

    With the cranks in line with the coupler the constraints lose rank, and multipliers without bound seem to hold it.
    """
    cranks = ["a", "b", "c"]
    ground = [{"body": "ground", "position": [0.8 * k, 0, 0]} for k in range(3)]
    joints: list[dict[str, Any]] = [
        {"name": f"t{k}", "type": "revolute", "parent": ground[k], "child": crank} for k, crank in enumerate(cranks)
    ]
    joints.append({"name": "tp", "type": "revolute", "parent": {"body": "a", "at": "tip"}, "child": "p"})
    for k, crank in ((1, "b"), (2, "c")):
        place = {"body": "p", "position": [0.8 * k, 0, 0]}
        joints.append({"name": f"L{k}", "parent": {"body": crank, "at": "tip"}, "child": place, **closing})
    bodies: list[dict[str, Any]] = [
        {"name": name, "rod": {"mass": 1 + 0.3 * k, "length": 1}} for k, name in enumerate(cranks)
    ]
    bodies.append({"name": "p", "mass": 2, "com": [0.7, 0.1, 0], "inertia": 0.25})
    model = pendula.Model(name="three cranks", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)
    found = pendula.find_equilibria(model)
    poses = np.array([np.asarray(e.q, dtype=float) for e in found])
    np.testing.assert_allclose(poses, np.outer([0, np.pi], np.ones(4)), atol=1e-9)
    assert [e.unstable_directions for e in found] == [0, 1]
    weight, turning = 9.81 * (3.9 / 2 + 2), 3.9 / 3 + 2  # of the pendulum that the cranks and the coupler form
    frequency = np.abs(np.linalg.eigvals(pendula.linearize(model, found[0]).A))
    np.testing.assert_allclose(frequency, np.sqrt(weight / turning), rtol=1e-9)


def test_what_remains_unbalanced_has_units_of_forces_also_with_angles_in_space() -> None:
    """A body on a ball joint in angles under a slide without a spring: the weight of both, 2 kg, remains."""
    bodies = [{"name": "b", "mass": 1}, {"name": "a", "mass": 1, "com": [0.5, 0.1, -0.3], "inertia": [0.1, 0.2, 0.15]}]
    joints: list[dict[str, Any]] = [
        {"name": "s", "type": "prismatic", "axis": [0, 0, 1], "parent": "ground", "child": "b"},
        {"name": "f", "type": "spherical", "orientation": "zyx", "parent": "b", "child": "a"},
    ]
    model = pendula.Model(name="falling", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)
    found = pendula.find_equilibria(model)
    assert "no equilibrium: at best -19.62 N on s_dot remains" in str(found)
    assert found.units["f_1_dot"] == "N m"
    assert found.units["s"] == "m"


SLENDER, HEAVY, LENGTH, SPINDLE, OPEN = 1.0, 2.0, 0.5, 0.06, 0.6
RATE = float(np.sqrt((SLENDER + HEAVY) / SLENDER * 9.81 / (LENGTH * np.cos(OPEN))))
"""rate at which a governor with point masses on its arms opens by the angle OPEN"""


def _governor(kind: str, **spindle: Any) -> pendula.Model:
    """Watt's governor: two arms with point masses, massless links to a collar on the spindle."""

    def place(body: str, z: float) -> dict[str, Any]:
        return {"body": body, "position": [0, 0, z]}

    bodies: list[dict[str, Any]] = [
        {"name": "spindle", "mass": 1, "inertia": [SPINDLE, SPINDLE, SPINDLE]},
        {"name": "collar", "mass": HEAVY},
    ]
    slide = {"name": "z", "type": "prismatic", "axis": [0, 0, 1], "parent": place("spindle", -2 * LENGTH)}
    joints: list[dict[str, Any]] = [
        {"name": "phi", "type": "revolute", "parent": "ground", "child": "spindle", **spindle},
        slide | {"child": "collar"},
    ]
    for k, side in ((1, 1), (2, -1)):
        arm, link, axis = f"arm {k}", f"link {k}", [0, side, 0]
        bodies += [{"name": arm, "point": {"mass": SLENDER, "at": [0, 0, -LENGTH]}}, {"name": link, "mass": 0}]
        joints += [
            {"name": f"a{k}", "type": "revolute", "axis": axis, "parent": "spindle", "child": arm},
            {"name": f"b{k}", "type": "revolute", "axis": axis, "parent": place(arm, -LENGTH), "child": link},
        ]
        closing = {"type": "loop", "kind": kind, "axis": axis} if kind == "revolute" else {"type": kind}
        joints.append({"name": f"c{k}", **closing, "parent": "collar", "child": place(link, -LENGTH)})
    return pendula.Model(name="governor", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)


AT = {"a1": -OPEN, "a2": -OPEN, "b1": 2 * OPEN, "b2": 2 * OPEN, "z": 2 * LENGTH * (1 - float(np.cos(OPEN)))}


def _governor_frequency(*, driven: bool) -> float:
    """By energy: the arms' angle is the only coordinate, and a free spindle keeps its angular momentum."""
    s, c, square = np.sin(OPEN), np.cos(OPEN), LENGTH**2
    mass = 2 * SLENDER * square + 4 * HEAVY * square * s**2
    stiffness = 2 * SLENDER * square * RATE**2 * s**2
    if not driven:
        turning, slope = SPINDLE + 2 * SLENDER * square * s**2, 4 * SLENDER * square * s * c
        stiffness += (slope * RATE) ** 2 / turning
    return float(np.sqrt(stiffness / mass))


@pytest.mark.parametrize("kind", ["coincident", "revolute"])
@pytest.mark.parametrize("driven", [True, False])
def test_a_governor_turns_steadily(kind: str, driven: bool) -> None:
    """Its closing joints turn with it, and so do the axes of their gaps; nothing else changes along the motion."""
    model = _governor(kind, **({"motion": f"{RATE}*t"} if driven else {}))
    at = AT if driven else {**AT, "phi_dot": RATE}
    found = pendula.linearize(model, at)
    largest = float(np.abs(np.linalg.eigvals(found.A)).max())
    np.testing.assert_allclose(largest, _governor_frequency(driven=driven), rtol=1e-9)


def test_steady_motions_of_a_governor_are_found() -> None:
    found = pendula.find_equilibria(_governor("revolute"), rates={"phi": RATE}, starts=32)
    opened = [abs(e["a1"]) for e in found if abs(abs(e["b1"]) - 2 * abs(e["a1"])) < 1e-6 and abs(e["a1"]) > 1e-6]
    assert opened
    np.testing.assert_allclose([x for x in opened if x < 3], OPEN, rtol=1e-9)


def test_a_governor_with_gravity_across_its_spindle_is_still_refused() -> None:
    leaning = _governor("revolute").with_changes(gravity=[0, 1, -9.81])
    with pytest.raises(pendula.errors.PendulaError, match="depend on"):
        pendula.find_equilibria(leaning, rates={"phi": RATE}, starts=8)
    with pytest.raises(pendula.errors.PendulaError):
        pendula.linearize(leaning, {**AT, "phi_dot": RATE})


def test_a_steady_rotation_in_maximal_coordinates_is_refused_by_name() -> None:
    system = pendula.compile_system(_governor("revolute"), "maximal")
    there = system.in_joints.place_state(system.in_joints.state({**AT, "phi_dot": RATE}))
    with pytest.raises(pendula.errors.NotSupported, match="in maximal coordinates a steady motion leaves nothing"):
        pendula.linearize(system, there)


def test_a_sarrus_linkage_under_slanting_gravity_does_not_rest_where_its_legs_are_straight() -> None:
    """Two branches cross where both legs are straight. Gravity across the legs is balanced on neither."""
    bodies: list[dict[str, Any]] = [
        {"name": name, "mass": 1, "com": [0, 0, 0.5 if name == "upper b" else 0], "inertia": [0.01, 0.02, 0.025]}
        for name in ("lower a", "upper a", "lower b", "upper b", "top")
    ]

    def up(body: str, *at: float) -> dict[str, Any]:
        return {"body": body, "position": list(at)}

    x, y = {"type": "revolute", "axis": [1, 0, 0]}, {"type": "revolute", "axis": [0, 1, 0]}
    joints: list[dict[str, Any]] = [
        {"name": "a1", **y, "parent": "ground", "child": "lower a"},
        {"name": "a2", **y, "parent": up("lower a", 0, 0, 1), "child": "upper a"},
        {"name": "top", **y, "parent": up("upper a", 0, 0, 1), "child": "top"},
        {"name": "b1", **x, "parent": up("ground", 1, 1, 0), "child": "lower b"},
        {"name": "b2", **x, "parent": up("lower b", 0, 0, 1), "child": "upper b"},
        {
            "name": "L",
            **x,
            "type": "loop",
            "kind": "revolute",
            "parent": up("upper b", 0, 0, 1),
            "child": up("top", 1, 1, 0),
        },
    ]
    start = {"a1": -0.6, "a2": 1.2, "top": -0.6, "b1": 0.6, "b2": -1.2}
    model = pendula.Model(name="sarrus", gravity=[0.2, -0.5, -9.81], bodies=bodies, joints=joints, initial=start)
    found = pendula.find_equilibria(model, starts=60)
    straight = [e for e in found if abs(np.sin(e["a2"])) < 1e-3 and abs(np.sin(e["a1"])) < 1e-3]
    assert len(found)
    assert not straight, str(found)
