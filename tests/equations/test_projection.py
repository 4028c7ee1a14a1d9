"""The projection method against its paper written out by hand, and what joints transmit against the laws of motion.

Paper: V. D. Tataru, Dynamics survey of physical pendulum with two degrees of freedom; equation numbers are its own,
corrected where the text of ``projection.py`` says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.equations.equations import drive_definitions
from pendula.equations.free_bodies import FreeBodies
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.printing.counts import count
from tests.helpers.choices import slow_too
from tests.helpers.loops import CLOSING, closed_chain
from tests.helpers.numbers import Array, Compiled, regular, states
from tests.helpers.random_mechanisms import random_mechanism

EXACT = 1e-12
"""Relative: round-off of some hundred operations."""
BALANCED = 1e-9
"""Relative: accelerations and multipliers come from a solve with a condition of at most 1e5."""

# --- the double physical pendulum of the paper --------------------------------------------------------

M1, M2, G = 1.3, 0.7, 9.81
C1, C2, LENGTH = 0.4, 0.25, 0.9
I1, I2 = (0.01, 0.05, 0.06), (0.02, 0.03, 0.045)
ANGLES, RATES = np.array([0.7, -0.4]), np.array([1.9, -2.6])
TILT = 0.8


def _pendulum(tilt: float = 0.0) -> Model:
    """Gravity along x, bodies along their own x; a tilt of the hinges about x takes them out of the x-y plane."""
    absolute = {"measured_from": "ground"} if tilt == 0 else {}
    rotation = {"rotation": {"axis": [1, 0, 0], "angle": tilt}} if tilt else {}
    return Model.model_validate(
        {
            "name": "double physical pendulum",
            "gravity": [G, 0, 0],
            "bodies": [
                {"name": "one", "mass": M1, "com": [C1, 0, 0], "inertia": I1},
                {"name": "two", "mass": M2, "com": [C2, 0, 0], "inertia": I2},
            ],
            "joints": [
                {"name": "a", "type": "revolute", "parent": {"body": "ground", **rotation}, "child": {"body": "one"}},
                {
                    "name": "b",
                    "type": "revolute",
                    "parent": {"body": "one", "position": [LENGTH, 0, 0]},
                    "child": {"body": "two"},
                    **absolute,
                },
            ],
        }
    )


def _skew(a: Any) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=float)


def _turn(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


class Paper:
    """Eqs 1-81 with numbers, absolute angles, every matrix written out."""

    def __init__(self) -> None:
        zero, c = np.zeros((3, 3)), [(C1, 0, 0), (C2, 0, 0)]
        m, inertia = (M1, M2), (I1, I2)
        R = [_turn(x) for x in ANGLES]
        w = [_skew((0, 0, x)) for x in RATES]
        self.mass, self.omega = np.zeros((12, 12)), np.zeros((12, 12))
        self.Q = np.zeros(12)
        for i in range(2):
            S, one = m[i] * _skew(c[i]), m[i] * np.eye(3)
            J = np.diag(inertia[i]) + m[i] * C_SQUARED[i] * np.diag([0, 1, 1])
            at = slice(6 * i, 6 * i + 6)
            self.mass[at, at] = np.block([[one, -S], [S, J]])  # eq. 2
            self.omega[at, at] = np.block([[w[i] @ one, -w[i] @ S], [S @ w[i], w[i] @ J]])  # eq. 3 corrected
            weight = R[i].T @ [m[i] * G, 0, 0]
            self.Q[at] = [*weight, *(_skew(c[i]) @ weight)]  # eq. 10
        arm = _skew((LENGTH, 0, 0))
        extended = np.block(  # eqs 25-29
            [
                [R[0], zero, zero, zero],
                [zero, R[0], zero, zero],
                [R[0], R[0] @ arm.T, -R[1], zero],
                [zero, R[0], zero, -R[1]],
            ]
        )
        W = [R[i] @ w[i] for i in range(2)]
        rate = np.block(  # eqs 38-41 corrected
            [
                [W[0], zero, zero, zero],
                [zero, W[0], zero, zero],
                [W[0], W[0] @ arm.T, -W[1], zero],
                [zero, W[0], zero, -W[1]],
            ]
        )
        A = np.zeros((12, 2))
        A[5], A[11] = (1, 0), (1, -1)  # eqs 30-32 corrected
        self.L_tau = np.linalg.solve(extended, A)  # eq. 34
        self.L_tau_rate = -np.linalg.solve(extended, rate @ self.L_tau)  # eq. 43
        keep = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]  # all but the two hinges' own turning
        self.L_lambda = extended[keep]
        self.M = self.L_tau.T @ self.mass @ self.L_tau  # eq. 59
        self.Omega = -self.L_tau.T @ (self.omega @ self.L_tau + self.mass @ self.L_tau_rate)  # eq. 61
        self.force = self.L_tau.T @ self.Q  # eq. 62
        self.accelerations = np.linalg.solve(self.M, self.Omega @ RATES + self.force)  # eq. 69

    def reactions(self) -> Array:
        """R = L_lambda^T lambda, eqs 71-81 corrected: on body 1 and body 2, in body axes at their O."""
        V, dV = self.L_tau @ RATES, self.L_tau @ self.accelerations + self.L_tau_rate @ RATES
        right = self.L_lambda @ (self.mass @ dV + self.omega @ V - self.Q)
        return self.L_lambda.T @ np.linalg.solve(self.L_lambda @ self.L_lambda.T, right)


C_SQUARED = (C1**2, C2**2)
RELATIVE = np.array([[1.0, 0.0], [1.0, 1.0]])
"""absolute rates = RELATIVE times (first rate, rate of the second relative to the first)"""


def test_paper_itself_gives_the_textbook_double_pendulum() -> None:
    """M and f of the compound double pendulum as every textbook has them."""
    paper, gap = Paper(), ANGLES[0] - ANGLES[1]
    J1, J2 = I1[2] + M1 * C1**2, I2[2] + M2 * C2**2
    couple = M2 * LENGTH * C2
    M = [[J1 + M2 * LENGTH**2, couple * np.cos(gap)], [couple * np.cos(gap), J2]]
    h = couple * np.sin(gap) * np.array([-(RATES[1] ** 2), RATES[0] ** 2])
    weight = -G * np.array([M1 * C1 + M2 * LENGTH, M2 * C2]) * np.sin(ANGLES)
    np.testing.assert_allclose(paper.M, M, rtol=EXACT)
    np.testing.assert_allclose(paper.Omega @ RATES, h, rtol=EXACT)
    np.testing.assert_allclose(paper.force, weight, rtol=EXACT)


def test_planar_double_pendulum_matches_the_blocks_of_the_paper() -> None:
    paper, eq = Paper(), pendula.derive(_pendulum(), "projection")
    entries = [x for row in eq.M for x in row] + [*eq.parts.free["inertia"], *eq.parts.free["gravity"]]
    found = Compiled([eq.t, *eq.q, *eq.v], [], entries, eq.definitions)([0, *ANGLES, *RATES])
    np.testing.assert_allclose(found[:4].reshape(2, 2), paper.M, rtol=EXACT)
    np.testing.assert_allclose(found[4:6], paper.Omega @ RATES, rtol=EXACT)
    np.testing.assert_allclose(found[6:8], paper.force, rtol=EXACT)


def test_free_blocks_and_complement_in_body_axes_match_the_paper() -> None:
    """M_free, Omega V, L_tau and L_tau' v of the tilted pendulum, which is not planar for the program."""
    paper, m = Paper(), TreeCoordinates(_pendulum(TILT))
    free = FreeBodies(m)
    assert not any(body.flat for body in free.bodies)
    unit = np.eye(6, dtype=int).tolist()
    entries: list[Any] = []
    for body in free.bodies:
        for e in unit:
            column = body.momentum(e[:3], e[3:])
            entries += [*column.force, *column.moment]
    for body in free.bodies:
        quadratic = body.omega_terms()
        entries += [*quadratic.force, *quadratic.moment, *body.dv, *body.dw]
        for k in range(2):
            entries += [*body.V.get(k, (0, 0, 0)), *body.W.get(k, (0, 0, 0))]
    speeds = np.linalg.solve(RELATIVE, RATES)
    code = Compiled([*m.q, *m.v], [], entries, m.tape.definitions.items())
    values = code([*np.linalg.solve(RELATIVE, ANGLES), *speeds])
    columns, rest = values[:72].reshape(2, 6, 6), values[72:].reshape(2, 4, 6)
    V = paper.L_tau @ RATES
    for i in range(2):
        at = slice(6 * i, 6 * i + 6)
        np.testing.assert_allclose(columns[i].T, paper.mass[at, at], atol=EXACT)
        np.testing.assert_allclose(rest[i, 0], (paper.omega @ V)[at], atol=EXACT)
        np.testing.assert_allclose(rest[i, 1], (paper.L_tau_rate @ RATES)[at], atol=EXACT)
        np.testing.assert_allclose(rest[i, 2:].T, (paper.L_tau @ RELATIVE)[at], atol=EXACT)


@pytest.mark.parametrize("tilt", [0.0, TILT])
def test_reactions_of_the_paper_are_what_its_joints_transmit(tilt: float) -> None:
    """Body 1 gets the first joint's wrench less the second's, body 2 the second's; in the paper's body axes."""
    paper = Paper()
    system = pendula.compile_system(_pendulum(tilt), "projection")
    change = RELATIVE if tilt else np.eye(2)
    q, v, a = (np.linalg.solve(change, x) for x in (ANGLES, RATES, paper.accelerations))
    np.testing.assert_allclose(system.accelerations(q, v), a, rtol=1e-10)
    found = joint_wrenches(system, q[None], v[None], np.zeros(1))[0]
    c, s = np.cos(tilt), np.sin(tilt)
    lean = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    R = [lean @ _turn(x) for x in ANGLES]
    second = R[1] @ paper.reactions()[6:9], R[1] @ paper.reactions()[9:]
    first = R[0] @ paper.reactions()[:3] + second[0], R[0] @ paper.reactions()[3:6] + second[1]
    first = first[0], first[1] + np.cross(R[0] @ [LENGTH, 0, 0], second[0])
    np.testing.assert_allclose(found["a"].reshape(2, 3), first, atol=1e-10)
    np.testing.assert_allclose(found["b"].reshape(2, 3), second, atol=1e-10)


# --- what joints transmit -----------------------------------------------------------------------------


def joint_wrenches(system: pendula.results.System, q: Array, v: Array, t: Array) -> list[dict[str, Array]]:
    """Force and torque by joint, for every state, at the accelerations and multipliers of the motion."""
    eq = system.equations
    entries = [x for item in eq.transmitted for x in (*item.force, *item.torque)]
    symbols = [eq.t, *eq.q, *eq.v, *eq.u, *eq.acceleration_symbols, *eq.multiplier_symbols]
    code = Compiled(symbols, eq.p, entries, eq.definitions)
    a = system.accelerations(q, v, t)
    lam = system.multipliers(q, v, t) if eq.loop_rows else np.zeros((len(q), 0))
    found = []
    for k, time in enumerate(t):
        row = [time, *q[k], *v[k], *system.inputs.at(time, system.parameters), *a[k], *lam[k]]
        values = code(row, system.parameters).reshape(-1, 6)
        found.append({item.joint: x for item, x in zip(eq.transmitted, values, strict=True)})
    return found


def _places(system: pendula.results.System, q: Array, t: Array) -> tuple[list[str], Array, Array, Array]:
    """Child-side point of every joint; mass, com (a world point) and inertia of every body; gravity."""
    m = TreeCoordinates(system.model)
    joints = [*m.model.tree, *m.model.closures]
    places = [m.point(j.child.body, m.place(j.child, f"{j.name}_child")) for j in joints]
    solids = [[link.mass, *m.point(link.body, link.com), *(x for row in link.inertia for x in row)] for link in m.links]
    entries = [x for group in (*places, *solids, m.constants_of(m.model.gravity)) for x in group]
    definitions = [*drive_definitions(m), *m.tape.definitions.items()]
    code = Compiled([m.t, *m.q], m.parameters, entries, definitions)
    values = np.array([code([time, *x], system.parameters) for time, x in zip(t, q, strict=True)])
    points, bodies = values[:, : 3 * len(joints)], values[:, 3 * len(joints) : -3]
    names = [j.name for j in joints]
    return names, points.reshape(len(q), -1, 3), bodies.reshape(len(q), -1, 13), values[0, -3:]


def _assert_bodies_balance(system: pendula.results.System, t: Array, q: Array, v: Array) -> None:
    """For every body: joints and gravity together make m a and the rate of angular momentum."""
    names, points, bodies, gravity = _places(system, q, t)
    motion = system.body_motion(q, v, system.accelerations(q, v, t), t)
    axes = system.poses(q, t)[0]
    for k, wrenches in enumerate(joint_wrenches(system, q, v, t)):
        scale = max(1.0, *(np.abs(x).max() for x in wrenches.values()))
        for b, name in enumerate(system.layout.bodies):
            mass, com, inertia = bodies[k, b, 0], bodies[k, b, 1:4], bodies[k, b, 4:].reshape(3, 3)
            force, torque = mass * gravity, np.zeros(3)
            for joint, point in zip(names, points[k], strict=True):
                sides = system.model.joint(joint)
                sign = (sides.child.body == name) - (sides.parent.body == name)
                F, T = wrenches[joint].reshape(2, 3)
                force = force + sign * F
                torque = torque + sign * (T + np.cross(point - com, F))
            turned = axes[k, b] @ inertia @ axes[k, b].T
            w, alpha = motion.angular_velocity[k, b], motion.angular_acceleration[k, b]
            np.testing.assert_allclose(force, mass * motion.acceleration[k, b], atol=BALANCED * scale)
            spin = turned @ alpha + np.cross(w, turned @ w)
            np.testing.assert_allclose(torque, spin, atol=BALANCED * scale)


def _assert_joints_are_ideal(system: pendula.results.System, t: Array, q: Array, v: Array) -> None:
    """A tree joint without loads or drives does no work on the relative motion of its two sides."""
    names, points, bodies, _ = _places(system, q, t)
    motion = system.body_motion(q, v, None, t)
    order = {name: b for b, name in enumerate(system.layout.bodies)}

    def moving(k: int, body: str, point: Array) -> tuple[Array, Array]:
        if body == "ground":
            return np.zeros(3), np.zeros(3)
        b = order[body]
        w = motion.angular_velocity[k, b]
        return w, motion.velocity[k, b] + np.cross(w, point - bodies[k, b, 1:4])

    for k, wrenches in enumerate(joint_wrenches(system, q, v, t)):
        for joint, point in zip(names, points[k], strict=True):
            F, T = wrenches[joint].reshape(2, 3)
            sides = system.model.joint(joint)
            (w, u), (w0, u0) = moving(k, sides.child.body, point), moving(k, sides.parent.body, point)
            size = np.abs(F) @ np.abs(u - u0) + np.abs(T) @ np.abs(w - w0)
            assert abs(F @ (u - u0) + T @ (w - w0)) <= BALANCED * max(1.0, size)


def _driven_from_ground(model: Model) -> bool:
    return any(getattr(j, "motion", None) and getattr(j, "measured_from", "") == "ground" for j in model.joints)


@pytest.mark.parametrize("seed", slow_too([0, 1, 1002], [*range(2, 14), 1000, 1001, *range(1003, 1008)]))
def test_bodies_of_random_mechanism_balance_under_what_joints_transmit(seed: int) -> None:
    model = random_mechanism(seed, forces=False, closed=seed >= 1000)
    if _driven_from_ground(model):  # the drive's torque comes from ground, not through a joint
        model = random_mechanism(seed, forces=False, driven=False, closed=seed >= 1000)
    system = pendula.compile_system(model, "projection")
    _assert_bodies_balance(system, *regular(system, *states(system, 5)))


@pytest.mark.parametrize("seed", slow_too([0, 2, 1001, 1002], [1, *range(3, 14), 1000, *range(1003, 1008)]))
def test_joints_of_random_mechanism_without_loads_do_no_work(seed: int) -> None:
    model = random_mechanism(seed, forces=False, driven=False, closed=seed >= 1000)
    system = pendula.compile_system(model, "projection")
    _assert_joints_are_ideal(system, *regular(system, *states(system, 5)))


@pytest.mark.parametrize("kind", CLOSING)
def test_bodies_balance_and_joints_are_ideal_with_every_closing_joint(kind: str) -> None:
    system = pendula.compile_system(closed_chain(kind).with_changes(forces=[]), "projection")
    t, q, v = regular(system, *states(system, 5))
    assert len(t)
    _assert_bodies_balance(system, t, q, v)
    _assert_joints_are_ideal(system, t, q, v)


def test_pivot_of_a_rod_carries_weight_and_centripetal_force() -> None:
    """Along the rod m g cos + m (l/2) w^2, across it m g sin / 4."""
    model, theta, rate = library.pendulum(), 0.6, 2.3
    m, l, g = (model.parameter_values[name] for name in ("m", "l", "g"))
    system = pendula.compile_system(model, "projection")
    found = joint_wrenches(system, np.array([[theta]]), np.array([[rate]]), np.zeros(1))[0]
    (wrench,) = found.values()
    inward = np.array([-np.sin(theta), np.cos(theta), 0])
    across = np.array([np.cos(theta), np.sin(theta), 0])
    force = (m * g * np.cos(theta) + m * l / 2 * rate**2) * inward + m * g * np.sin(theta) / 4 * across
    np.testing.assert_allclose(wrench, [*force, 0, 0, 0], atol=1e-12)


def test_rotor_on_a_vertical_axle_loads_its_bearing_out_of_plane() -> None:
    """The mechanism is planar for the equations, but weight and imbalance tilt the axle."""
    m, c, h, g, angle, rate = 2.0, 0.3, 0.5, 9.81, 0.7, 3.0
    inertia = [[0.2, 0.01, 0.03], [0.01, 0.3, -0.02], [0.03, -0.02, 0.4]]
    model = Model.model_validate(
        {
            "name": "rotor",
            "gravity": [0, 0, -g],
            "bodies": [{"name": "rotor", "mass": m, "com": [c, 0, h], "inertia": inertia}],
            "joints": [{"name": "axle", "type": "revolute", "parent": {"body": "ground"}, "child": {"body": "rotor"}}],
        }
    )
    system = pendula.compile_system(model, "projection")
    found = joint_wrenches(system, np.array([[angle]]), np.array([[rate]]), np.zeros(1))[0]["axle"]
    # in body axes: centripetal force, weight; products of inertia about the com with z
    force = np.array([-m * c * rate**2, 0, m * g])
    moment = np.cross([c, 0, h], force) + rate**2 * np.array([0.02, 0.03, 0])  # w x I w = w^2 (-Iyz, Ixz, 0)
    np.testing.assert_allclose(found.reshape(2, 3), [_turn(angle) @ force, _turn(angle) @ moment], atol=1e-12)


def _cart(force: dict[str, Any]) -> pendula.results.System:
    """A pendulum on a slider along x, its angle measured from ground."""
    model = Model.model_validate(
        {
            "name": "cart",
            "gravity": [0, -9.81, 0],
            "bodies": [{"name": "cart", "mass": 2.0}, {"name": "bob", "mass": 1.0, "com": [0, -0.5, 0]}],
            "joints": [
                {"name": "x", "type": "prismatic", "parent": {"body": "ground"}, "child": {"body": "cart"}},
                {
                    "name": "theta",
                    "type": "revolute",
                    "measured_from": "ground",
                    "parent": {"body": "cart"},
                    "child": {"body": "bob"},
                },
            ],
            "forces": [force],
        }
    )
    return pendula.compile_system(model, "projection")


def test_torsion_spring_reaches_the_slider_but_a_torque_on_an_absolute_angle_does_not() -> None:
    """The spring acts between the bodies; a generalized force on an angle from ground acts from ground."""
    q, v, t = np.array([[0.2, 0.9]]), np.array([[0.3, -1.1]]), np.zeros(1)
    found = joint_wrenches(_cart({"type": "torsion-spring", "joint": "theta", "stiffness": 7.0}), q, v, t)[0]
    assert found["theta"][5] == pytest.approx(-7.0 * 0.9, rel=EXACT)
    assert found["x"][5] == pytest.approx(-7.0 * 0.9, rel=EXACT)
    found = joint_wrenches(_cart({"type": "generalized", "coordinate": "theta", "value": 4.0}), q, v, t)[0]
    assert found["theta"][5] == 0
    assert found["x"][5] == pytest.approx(0, abs=1e-12)


# --- size ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ["absolute", "relative", "spatial"])
def test_chain_takes_hardly_more_operations_than_with_kane(make: str) -> None:
    model = _ball_chain(8) if make == "spatial" else library.chain(links=20, coordinates=make)
    found, kane = (count(pendula.derive(model, f)).operations_shared for f in ("projection", "kane"))
    assert found <= 1.25 * kane


def _ball_chain(links: int) -> Model:
    bodies = [{"name": f"b{k}", "mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.12, 0.05]} for k in range(links)]
    joints = []
    for k in range(links):
        parent = {"body": f"b{k - 1}", "position": [0, 0, -1]} if k else {"body": "ground"}
        joints.append({"name": f"j{k}", "type": "spherical", "parent": parent, "child": {"body": f"b{k}"}})
    return Model.model_validate({"name": "balls", "gravity": [0, 0, -9.81], "bodies": bodies, "joints": joints})
