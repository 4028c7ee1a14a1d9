"""The oracle against closed forms of textbooks, and its energy account along short motions of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.crossings.oracle import Mechanism, Moment

ROUNDING = 1e-12
"""Relative: some hundred roundings."""


def _joint(name: str, type_: str, parent: Any, child: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "parent": parent, "child": child, **fields}


def _at(body: str, *place: Any) -> dict[str, Any]:
    return {"body": body, "position": list(place)}


def _model(bodies: list[Any], joints: list[Any], **fields: Any) -> dict[str, Any]:
    return {"name": "x", "gravity": [0, -9.81, 0], "bodies": bodies, "joints": joints, **fields}


def moved(m: Mechanism, x: Moment, h: float) -> Moment:
    """The motion after a time h, by classical Runge-Kutta steps in the oracle's own coordinates."""

    def slopes(x: Moment) -> tuple[dict[str, float], dict[str, float]]:
        now = m.instant(x).now
        return {name: now.jet(name).d for name in x.q}, dict(m.accelerations(x).a)

    def stepped(by: float, d: tuple[Mapping[str, float], Mapping[str, float]]) -> Moment:
        q, v = ({name: x0[name] + by * rates[name] for name in x0} for x0, rates in zip((x.q, x.v), d, strict=True))
        return Moment(x.t + by, q, v)

    k1 = slopes(x)
    k2 = slopes(stepped(h / 2, k1))
    k3 = slopes(stepped(h / 2, k2))
    k4 = slopes(stepped(h, k3))
    mean = [
        {name: (a[name] + 2 * b[name] + 2 * c[name] + d[name]) / 6 for name in a}
        for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
    ]
    return stepped(h, (mean[0], mean[1]))


# -- textbook mechanisms


def test_double_pendulum_of_point_masses():
    # H. Goldstein, Classical Mechanics, and any other: absolute angles a and b from the vertical
    m1, m2, l1, l2, g = 1.3, 0.7, 0.9, 0.6, 9.81
    bodies = [
        {"name": "upper", "point": {"mass": "m1", "at": [0, "-l1"]}},
        {"name": "lower", "mass": "m2", "com": [0, "-l2", 0]},
    ]
    joints = [
        _joint("a", "revolute", "ground", "upper"),
        _joint("b", "revolute", _at("upper", 0, "-l1"), "lower", measured_from="ground"),
    ]
    m = Mechanism(_model(bodies, joints, parameters={"m1": m1, "m2": "m1 - 0.6", "l1": l1, "l2": "2*l1/3"}))
    a, b, va, vb = 0.8, -1.1, 1.7, -0.4
    found = m.accelerations(Moment(0.0, {"a": a, "b": b}, {"a_dot": va, "b_dot": vb}))
    c, s = np.cos(a - b), np.sin(a - b)
    M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2**2]])
    f = [
        -m2 * l1 * l2 * s * vb**2 - (m1 + m2) * g * l1 * np.sin(a),
        m2 * l1 * l2 * s * va**2 - m2 * g * l2 * np.sin(b),
    ]
    expected = np.linalg.solve(M, f)
    assert [found.a["a_dot"], found.a["b_dot"]] == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("axes", ["body", "parent"])
@pytest.mark.parametrize("orientation", ["quaternion", "zyz", "space xyz", "rotation vector", "cardan"])
def test_a_free_body_obeys_eulers_equations(orientation, axes):
    inertia, w = np.array([0.4, 0.7, 0.9]), np.array([1.1, -0.3, 2.0])
    body = {"name": "top", "mass": 2, "inertia": inertia.tolist()}
    m = Mechanism(_model([body], [_joint("j", "free", "ground", "top", orientation=orientation, speeds=axes)]))
    angles = {"j_1": 0.4, "j_2": 0.7, "j_3": -0.2} if "y" in orientation else {"j_rx": 0.3, "j_ry": 0.4, "j_rz": -1}
    angles = {"j_1": 0.4, "j_2": 0.7, "j_3": -0.2} if orientation == "cardan" else angles
    if orientation == "quaternion":
        angles = {"j_q0": 0.5, "j_q1": 0.5, "j_q2": -0.5, "j_q3": 0.5}
    rest = {"j_x": 0.0, "j_y": 0.0, "j_z": 0.0}
    speeds = {f"{name}_dot": 0.0 for name in rest} | {"j_wx": 0.0, "j_wy": 0.0, "j_wz": 0.0}
    R = m.bodies(Moment(0, rest | angles, speeds))["top"].R
    given = w if axes == "body" else R @ w
    names = ("j_wx", "j_wy", "j_wz")
    a = m.accelerations(Moment(0, rest | angles, speeds | dict(zip(names, given.tolist(), strict=True)))).a
    spin = -np.cross(w, inertia * w) / inertia  # Euler's equations, in axes of the body
    expected = spin if axes == "body" else R @ spin
    assert [a[name] for name in names] == pytest.approx(expected, rel=1e-11)
    assert a["j_y_dot"] == pytest.approx(-9.81)


@pytest.mark.parametrize("height", ["0.7*s**2", "0.7*s*s"])
def test_a_bead_on_a_turning_wire(height):
    # parabola y = k x^2/2 that turns about its vertical axis at the constant rate W: (1 + k^2 x^2) x'' + k^2 x x'^2
    # + (g k - W^2) x = 0
    k, W, x, v = 1.4, 2.2, 0.6, -0.8
    bodies = [{"name": "wire", "mass": 0}, {"name": "bead", "point": {"mass": 0.3}}]
    joints = [
        _joint("turn", "revolute", "ground", "wire", axis=[0, 1, 0], motion="2.2*t + 0.3"),
        _joint("j", "coordinates", "wire", "bead", coordinates=["s"], position=["s", height, 0]),
    ]
    m = Mechanism(_model(bodies, joints))
    found = m.accelerations(Moment(0.7, {"s": x}, {"s_dot": v}))
    expected = -(k**2 * x * v**2 + (9.81 * k - W**2) * x) / (1 + k**2 * x**2)
    assert found.a["s_dot"] == pytest.approx(expected, rel=ROUNDING)
    # the drive supplies the rate of the angular momentum m x^2 W about the axis; it points along +y
    assert found.drives["turn"] == pytest.approx(0.3 * 2 * x * v * W, rel=ROUNDING)


def test_kinematics_of_a_four_bar():
    # lengths of a Grashof four-bar; the coupler closes it by the law of cosines, its rates by differences
    ground, crank, coupler, rocker = 1.0, 0.35, 0.9, 0.8

    def angles(a: float) -> tuple[float, float]:
        """Angles of coupler and rocker from the x axis."""
        p, q = crank * np.array([np.cos(a), np.sin(a)]), np.array([ground, 0.0])
        d = float(np.linalg.norm(q - p))
        along = np.arctan2(*(q - p)[::-1])
        b = along + np.arccos((coupler**2 + d**2 - rocker**2) / (2 * coupler * d))
        tip = p + coupler * np.array([np.cos(b), np.sin(b)])
        return float(b), float(np.arctan2(*(tip - q)[::-1]))

    bodies = [{"name": n, "rod": {"mass": 1, "length": x, "axis": [1, 0, 0]}}
              for n, x in (("crank", crank), ("coupler", coupler), ("rocker", rocker))]  # fmt: skip
    joints = [
        _joint("a", "revolute", "ground", "crank", motion="1.3*t"),
        _joint("b", "revolute", {"body": "crank", "at": "end"}, "coupler", measured_from="ground"),
        _joint("c", "revolute", _at("ground", ground, 0), "rocker"),
        _joint("pin", "coincident", {"body": "coupler", "at": "tip"}, {"body": "rocker", "at": "end"}),
    ]
    m = Mechanism(_model(bodies, joints))
    t, h = 0.6, 1e-4
    (b, c), ahead, back = angles(1.3 * t), angles(1.3 * (t + h)), angles(1.3 * (t - h))
    vb, vc = ((p - q) / (2 * h) for p, q in zip(ahead, back, strict=True))
    found = m.accelerations(Moment(t, {"b": b, "c": c}, {"b_dot": vb, "c_dot": vc}))
    expected = [(p - 2 * x + q) / h**2 for p, x, q in zip(ahead, (b, c), back, strict=True)]
    assert [found.a["b_dot"], found.a["c_dot"]] == pytest.approx(expected, rel=1e-6)
    at = Moment(t, {"b": b, "c": c}, {"b_dot": vb, "c_dot": vc}, found.a)
    gap, rate, second = m.gaps(at)
    assert np.abs(gap).max() < 1e-14
    assert np.abs(rate).max() < 1e-7
    assert np.abs(second).max() < 1e-12
    assert found.rank == 2  # the gap along z closes by itself


def test_ratio_of_a_hooke_joint():
    # shafts at an angle B: w_out/w_in = cos B/(1 - sin^2 B cos^2 a), with a = 0 where the input fork lies in the plane
    # of the shafts. The input drives, the output turns in a bearing, the cross closes the loop.
    B, a, w = 0.6, 0.9, 1.7
    bodies = [{"name": n, "mass": 1, "inertia": [0.1, 0.1, 0.1]} for n in ("input", "output")]
    tilt = {"axis": [0, 1, 0], "angle": B}
    joints = [
        _joint("a", "revolute", "ground", "input"),
        _joint("b", "revolute", {"body": "ground", "rotation": tilt}, "output"),
        _joint("cross", "loop", "input", "output", kind="universal", sequence="xy"),
    ]
    m = Mechanism(_model(bodies, joints))
    ratio = np.cos(B) / (1 - np.sin(B) ** 2 * np.cos(a) ** 2)
    b = np.arctan2(np.sin(a), np.cos(a) * np.cos(B))
    gap, rate, _ = m.gaps(Moment(0, {"a": a, "b": float(b)}, {"a_dot": w, "b_dot": float(ratio * w)}))
    assert np.abs(gap).max() < 1e-14
    assert np.abs(rate).max() < 1e-14
    # the torque that it transmits is perpendicular to both axes of the cross: x of the input and y of the output
    x = Moment(0, {"a": a, "b": float(b)}, {"a_dot": w, "b_dot": float(ratio * w)})
    motion, torques = m.bodies(x), m.transmits(x, "cross")[3:]
    assert np.linalg.matrix_rank(torques, tol=1e-9) == 1
    assert np.abs(motion["input"].R[:, 0] @ torques).max() < 1e-14
    assert np.abs(motion["output"].R[:, 1] @ torques).max() < 1e-14


def test_a_quaternion_and_angles_describe_one_motion():
    def made(orientation: str, speeds: str | None = None) -> Mechanism:
        box = {"name": "box", "box": {"mass": 2, "size": [0.2, 0.5, 0.9], "at": [0.1, 0.2, 0.3]}}
        fields = {"orientation": orientation} | ({"speeds": speeds} if speeds else {})
        return Mechanism(_model([box], [_joint("j", "spherical", "ground", "box", **fields)]))

    angles = Moment(0, {"j_1": 0.3, "j_2": 0.8, "j_3": -0.6}, {"j_1_dot": 0.5, "j_2_dot": -1.0, "j_3_dot": 0.7})
    first = made("space zyx")
    found = first.bodies(Moment(angles.t, angles.q, angles.v, first.accelerations(angles).a))["box"]
    w = found.R.T @ found.omega
    second = made("space zyx", "body")
    spin = dict(zip(("j_wx", "j_wy", "j_wz"), w.tolist(), strict=True))
    other = Moment(0, angles.q, spin)
    again = second.bodies(Moment(0, angles.q, spin, second.accelerations(other).a))["box"]
    for name in ("R", "com", "v", "a", "omega", "alpha"):
        assert getattr(again, name) == pytest.approx(getattr(found, name), abs=1e-13), name


# -- laws


def _busy() -> Mechanism:
    """A spatial mechanism with every kind of load, a drive, shaken ground, explicit time, armatures and a loop."""
    bodies = [
        {"name": "arm", "rod": {"mass": 1.1, "length": 0.7, "axis": [1, 1, 0], "com": 0.3, "diameter": 0.1}},
        {"name": "cart", "box": {"mass": 2, "size": [0.3, 0.2, 0.1], "at": [0.1, 0, 0.05]}},
        {
            "name": "bob",
            "mass": 0.8,
            "com": [0.1, 0.2, -0.3],
            "inertia": [0.2, 0.25, 0.3],
            "points": {"eye": [0, 0.1, 0.2]},
        },
        {"name": "bead", "point": {"mass": 0.3}},
    ]
    shaken = {"body": "ground", "position": [0, "0.1*sin(4*t)", 0]}
    joints = [
        _joint("a", "universal", shaken, "arm", sequence="zx", armature=[0.05, 0.1]),
        _joint(
            "b", "spherical", {"body": "arm", "at": "end"}, _at("bob", 0, 0, 0.2), speeds="parent", armature=[0.1] * 3
        ),
        _joint(
            "c", "prismatic", {"body": "bob", "at": "eye"}, "cart", axis=[1, 0, 1], motion="0.2*sin(3*t)", armature=0.2
        ),
        _joint("d", "coordinates", "arm", "bead", coordinates=["s"], position=["s", "0.2*cos(s + t)", "0.1*s**2"]),
        _joint("tie", "point-on-line", _at("ground", 0.3, 0.2, 0.1), _at("bob", 0.2, 0.1, 0)),
    ]
    forces = [
        {"type": "spring", "from": {"body": "ground", "position": [1, "0.2*cos(t)", 1]}, "to": "bob", "stiffness": 9, "length": 0.4, "damping": 0.3},
        {"type": "torsion-spring", "joint": "a", "coordinate": "a_2", "stiffness": 3, "rest": "20deg", "damping": "0.1 + 0.1*s**2"},
        {"type": "joint-limit", "joint": "a", "coordinate": "a_1", "upper": 0.2, "stiffness": 40, "dissipation": 0.5},
        {"type": "damper", "joint": "c", "damping": 0.4},
        {"type": "friction", "joint": "b", "coefficient": 0.15},
        {"type": "force", "body": "cart", "position": [0.1, 0, 0], "vector": ["F", "s_dot", 1], "axes": "body"},
        {"type": "torque", "body": "bob", "vector": [0.1, "sin(t)", "b_wx"]},
        {"type": "generalized", "coordinate": "s", "value": "-3*s + F"},
        {"type": "com-friction", "body": "arm", "coefficient": 0.2},
        {"type": "spin-drive", "body": "bob", "at": "eye", "coefficient": 0.1},
    ]  # fmt: skip
    return Mechanism(_model(bodies, joints, forces=forces, inputs={"F": "0.5*cos(2*t) - 0.1*a_1"}))


def _state_of(m: Mechanism, t: float) -> Moment:
    """A state at which the loop of the mechanism above is closed, by Newton steps on its speeds."""
    q = {"a_1": 0.5, "a_2": -0.4, "b_q0": 0.5, "b_q1": -0.5, "b_q2": 0.5, "b_q3": 0.5, "s": 0.3}
    x = Moment(t, q, dict.fromkeys(m.free, 0.0))
    for _ in range(8):
        step = np.linalg.lstsq(m.accelerations(x).G, -m.gaps(x)[0], rcond=None)[0]
        still, moving = (m.instant(Moment(t, x.q, dict(zip(m.free, v, strict=True)))).now for v in (0 * step, step))
        new = {name: x.q[name] + moving.jet(name).d - still.jet(name).d for name in q}
        size = np.sqrt(sum(new[f"b_q{k}"] ** 2 for k in range(4)))
        x = Moment(t, {name: y / size if "_q" in name else y for name, y in new.items()}, x.v)
    v = dict(zip(m.free, [0.7, -0.4, 0.9, 0.3, -0.8, 0.5], strict=True))
    G, rate = m.accelerations(x).G, m.gaps(Moment(t, x.q, v))[1]
    change = np.linalg.lstsq(G, -rate, rcond=None)[0]
    return Moment(t, x.q, {name: v[name] + y for name, y in zip(m.free, change, strict=True)})


def test_energy_changes_by_the_power_of_what_has_no_potential():
    m = _busy()
    x = _state_of(m, 0.4)
    h, states = 0.004, []
    for _ in range(9):
        assert np.abs(m.gaps(x)[0]).max() < 1e-8
        states.append(m.with_accelerations(x))
        x = moved(m, x, h)
    energy = [m.kinetic(x) + m.potential(x) for x in states]
    power = np.array([m.power(x) for x in states])
    work = h / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])  # Simpson
    assert abs(work) > 0.01
    assert energy[-1] - energy[0] == pytest.approx(work, abs=1e-7)


def test_the_residual_vanishes_but_for_rows_and_drives():
    m = _busy()
    x = m.with_accelerations(_state_of(m, 0.4))
    found, left = m.accelerations(x), m.residual(x)
    assert left[: len(m.free)] == pytest.approx(found.G.T @ found.lam, abs=1e-11)
    assert len(left) == len(m.free) + 1
    assert np.abs(m.gaps(x)[2]).max() < 1e-10


def test_momentum_of_a_floating_chain_stays():
    bodies = [{"name": f"b{k}", "box": {"mass": 1 + k, "size": [0.2, 0.5, 0.1 + k]}} for k in range(3)]
    joints = [
        _joint("j", "free", "ground", "b0", orientation="zyx", speeds="body"),
        _joint("p", "revolute", _at("b0", 0.3, 0, 0), _at("b1", 0, 0.3, 0.1), axis=[1, 2, 0], motion="sin(3*t)"),
        _joint("k", "spherical", _at("b1", 0.1, 0, 0.2), "b2", orientation="rotation vector"),
    ]
    m = Mechanism(_model(bodies, joints) | {"gravity": [0, 0, 0]})
    q = {f"j_{e}": 0.1 for e in ("x", "y", "z", "1", "2", "3")} | {"k_rx": 0.5, "k_ry": -1.2, "k_rz": 0.3}
    x = Moment(0.2, q, dict(zip(m.free, np.linspace(-1, 1.5, len(m.free)).tolist(), strict=True)))
    p, H = m.momentum(x)
    for _ in range(10):
        x = moved(m, x, 0.005)
    later = m.momentum(x)
    assert later[0] == pytest.approx(p, abs=1e-8)
    assert later[1] == pytest.approx(H, abs=1e-7)


# -- reactions


def _hanging_door(hinges: int) -> Mechanism:
    bodies = [{"name": "door", "box": {"mass": 20, "size": [0.8, 2, 0.04], "at": [0.4, 0, 0]}}]
    joints = [_joint("h1", "revolute", _at("ground", 0, 0.8, 0), _at("door", 0, 0.8, 0), axis=[0, 1, 0])]
    if hinges > 1:
        low = _at("ground", 0, -0.8, 0), _at("door", 0, -0.8, 0)
        joints.append(_joint("h2", "loop", *low, axis=[0, 1, 0]))
    return Mechanism(_model(bodies, joints))


def test_a_door_on_one_hinge_carries_all_and_on_two_shares_in_an_open_way():
    one, x = _hanging_door(1), Moment(0.0, {"h1": 0.0}, {"h1_dot": 0.0})
    assert not one.undetermined(x).joints["h1"].any()
    x = one.with_accelerations(x)
    force, torque = {"h1": [0, 196.2, 0]}, {"h1": [0, 0, -78.48]}  # weight, and its moment about (0, 0.8, 0)
    # the weight acts at x = 0.4: its moment about the hinge is -0.4*196.2 about z, which the hinge must balance
    left = one.imbalance(x, force, {"h1": [0, 0, 78.48]}, {})["door"]
    assert np.abs(left).max() < 1e-11
    assert np.abs(one.imbalance(x, force, torque, {})["door"]).max() == pytest.approx(2 * 78.48)
    assert np.abs(one.transmits(x, "h1").T @ [0, 0, 0, 0, 1, 0]).max() < 1e-15
    two = _hanging_door(2).undetermined(x)
    # two full hinges: nothing but the torque about the hinge line, which neither transmits, is determined
    for name in ("h1", "h2"):
        assert two.joints[name].tolist() == [True, True, True, True, False, True]
    assert two.clear


def test_motors_of_a_parallelogram_can_work_against_each_other():
    bodies = [
        {"name": n, "rod": {"mass": 1, "length": x, "axis": [1, 0, 0]}} for n, x in (("l", 0.5), ("r", 0.5), ("c", 1))
    ]
    joints = [
        _joint("a", "revolute", "ground", "l", motion="0.7 + t"),
        _joint("b", "revolute", _at("ground", 1, 0, 0), "r", motion="0.7 + t"),
        _joint("k", "revolute", {"body": "l", "at": "end"}, "c", measured_from="ground"),
        _joint("pin", "coincident", {"body": "c", "at": "end"}, {"body": "r", "at": "end"}),
    ]
    m = Mechanism(_model(bodies, joints))
    found = m.undetermined(Moment(0.0, {"k": 0.0}, {"k_dot": 0.0}))
    assert found.planar
    assert found.clear
    assert found.drives == {"a": True, "b": True}
    # along the coupler the forces of its pins are open, across it they carry its weight
    assert found.joints["pin"].tolist() == [True, False, False, False, False, False]
    assert found.joints["a"][5]


@pytest.mark.parametrize("type_", ["free", "planar"])
def test_a_free_body_has_no_reactions_to_leave_open(type_):
    m = Mechanism(
        _model([{"name": "ball", "sphere": {"mass": 1, "radius": 0.2}}], [_joint("j", type_, "ground", "ball")])
    )
    q = {"j_x": 0.0, "j_y": 0.0, "j_z": 0.0, "j_q0": 1.0, "j_q1": 0.0, "j_q2": 0.0, "j_q3": 0.0}
    q = q if type_ == "free" else {"j_x": 0.0, "j_y": 0.0, "j_angle": 0.0}
    found = m.undetermined(Moment(0.0, q, dict.fromkeys(m.free, 0.0)))
    assert not found.joints["j"].any()
    assert found.clear
