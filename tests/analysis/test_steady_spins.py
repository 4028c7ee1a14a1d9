"""Steady rotation of bodies on ball joints and in free flight: the same result in every chart, and both precessions.

Sources: Goldstein, Classical Mechanics (3rd ed.), sections 5.6 and 5.7; Landau and Lifshitz, Mechanics, sections 36
and 37 (stability of rotation about the axes of largest and smallest inertia; sleeping top).
"""

import numpy as np
import pytest

import pendula
from pendula.analysis.equilibria.turning import Turning, rotation
from pendula.analysis.symmetry.find import find_symmetries
from pendula.errors import NoConvergence, NotAnEquilibrium, NotSupported, UsageError
from pendula.model import Model

ROUNDING = 1e-11
"""eigenvalues and rates, relative to the largest: linear algebra on a few numbers"""
QUARTER = np.pi / 2
INERTIA = (0.25, 0.1, 0.2)  # about x largest, about y least, about z between them
W = 3.0


def free_body(euler: str | None) -> Model:
    joint = {"name": "j", "type": "free", "parent": "ground", "child": "b"}
    return Model(
        name="free body",
        gravity=[0, 0, 0],
        bodies=[{"name": "b", "mass": 1.0, "inertia": list(INERTIA)}],
        joints=[joint | ({"orientation": euler} if euler else {})],
    )


def top(euler: str | None = None) -> Model:
    model = pendula.library.heavy_top()
    joint = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}
    return model.with_changes(joints=[joint | ({"orientation": euler} if euler else {})], initial={})


A, C, MGL = 0.25 + 0.04, 0.08, 9.81 * 0.5  # heavy top: about the support, about its axis, m g l
CRITICAL = 2 * np.sqrt(MGL * A) / C


def axis_of(system: pendula.results.System, state: pendula.State) -> int:
    """The body axis along which the angular velocity points."""
    R = system.poses(state.q)[0][0]
    omega = R.T @ system.body_motion(state.q, state.v).angular_velocity[0]
    assert np.sum(np.abs(omega) > 1e-6) == 1  # at a singular pose angles are found to the square root of rounding
    return int(np.argmax(np.abs(omega)))


def poses_of(euler: str) -> list[dict[str, float]]:
    """Angles at which the first axis of a sequence is along each body axis, at regular poses and at both poles."""
    singular = (0.0, np.pi) if euler[0] == euler[2] else (QUARTER, -QUARTER)
    regular = QUARTER if euler[0] == euler[2] else 0.0
    pairs = [(singular[0], 0.3), (singular[1], 0.0), (regular, 0.0), (regular, QUARTER)]
    return [{"j_1_dot": W, "j_2": a, "j_3": b} for a, b in pairs]


@pytest.mark.parametrize("euler", [None, "xyz", "zyx", "zxz", "yxy"])
def test_spin_about_each_axis_has_the_same_verdict_and_roots_in_every_chart(euler: str | None) -> None:
    system = pendula.compile_system(free_body(euler))
    points = [{f"j_w{a}": W} for a in "xyz"] if euler is None else poses_of(euler)
    seen = set()
    for point in points:
        state = system.state(point)
        axis = axis_of(system, state)
        seen.add(axis)
        i, j = sorted({0, 1, 2} - {axis})
        I, Ii, Ij = (INERTIA[k] for k in (axis, i, j))
        square = (I - Ii) * (I - Ij) / (Ii * Ij) * W**2  # Euler's equations: dw'' + square dw = 0
        found = pendula.stability(system, point)
        expected = {0.0, W, round(np.sqrt(abs(square)), 9)}
        assert {round(float(abs(x)), 9) for x in found.spectrum.values} == expected
        assert len(found.spectrum.values) == 12
        assert found.applies_to_nonlinear
        if axis == 2:
            assert found.verdict == "unstable"
            assert max(found.spectrum.values.real) == pytest.approx(np.sqrt(-square), rel=ROUNDING)
        else:
            assert found.is_stable
            assert found.verdict.startswith("critical: drifts along the rotation about ")
            assert "orbital" in found.proof
            assert ("minimum" if axis == 0 else "maximum") in found.proof
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("euler", [None, "xyz"])
def test_search_for_steady_rotation_counts_falling_directions_by_the_axis(euler: str | None) -> None:
    """Effective potential -T: least about the axis of largest inertia, falling both ways about that of least."""
    system = pendula.compile_system(free_body(euler))
    rates = {"j about world x": W} if euler is None else {"j_1": W}
    found = pendula.find_equilibria(system, rates=rates, starts=32)
    for one in found:
        axis = axis_of(system, one.state)
        assert one.potential == pytest.approx(-INERTIA[axis] * W**2 / 2, rel=1e-12)
        assert one.unstable_directions == {0: 0, 2: 1, 1: 2}[axis]
    assert {axis_of(system, one.state) for one in found} == {0, 1, 2}
    assert euler is not None or len(found) == 6


@pytest.mark.parametrize("euler", [None, "xyz", pytest.param("yxz", marks=pytest.mark.slow)])
def test_sleeping_top_is_stable_above_the_critical_spin_in_every_chart(euler: str | None) -> None:
    system = pendula.compile_system(top(euler))
    name = "pivot_wz" if euler is None else "pivot_3_dot"
    for share in (0.999, 1.001, 3.0):
        found = pendula.stability(system, {name: share * CRITICAL})
        assert found.is_stable == (share > 1), share
        assert found.applies_to_nonlinear
        w = share * CRITICAL
        expected = np.roots([A, -C * w, MGL])
        roots = found.spectrum.values
        for x in expected:
            assert np.abs(roots - 1j * x).min() < 1e-9 * w
    if euler is None:
        hanging = pendula.equilibria.equilibrium_at(system, {"pivot_q0": 0.0, "pivot_q1": 1.0, "pivot_wz": 1.0})
        assert pendula.stability(system, hanging).is_stable


def test_sleeping_top_at_the_pole_of_its_angles_agrees_with_quaternions() -> None:
    """ZXZ angles are singular for an upright top: the linear model is that of the quaternion, and says so."""
    angles, ball = pendula.compile_system(top("zxz")), pendula.compile_system(top())
    one, other = pendula.linearize(angles, {"pivot_3_dot": 60.0}), pendula.linearize(ball, {"pivot_wz": 60.0})
    np.testing.assert_allclose(one.K, other.K, atol=1e-12)
    assert "quaternions" in one.basis.remark
    assert "quaternions" in str(one)


@pytest.mark.parametrize(
    ("euler", "tilt", "spin"),
    [(None, 0.5, 60.0), ("zxz", 2.0, -8.0), ("zyz", 1.2, 45.0)]
    + [pytest.param(*case, marks=pytest.mark.slow) for case in ((None, 2.5, 5.0), ("zxz", 0.5, 60.0))],
)
def test_both_precessions_of_the_heavy_top(euler: str | None, tilt: float, spin: float) -> None:
    """A cos(tilt) W^2 - C s W + m g l = 0 (Goldstein, eq. 5.77)."""
    system = pendula.compile_system(top(euler))
    found = pendula.equilibria.steady_precession(system, tilt, spin)
    expected = sorted(np.roots([A * np.cos(tilt), -C * spin, MGL]), key=abs)
    np.testing.assert_allclose(found.rates, expected, rtol=ROUNDING)
    for rate, one in zip(found.rates, found.motions, strict=True):
        R = system.poses(one.q)[0][0]
        omega = system.body_motion(one.q, one.v).angular_velocity[0]
        assert R[2, 2] == pytest.approx(np.cos(tilt), abs=1e-12)
        assert omega @ R[:, 2] == pytest.approx(spin, rel=1e-12)
        assert pendula.stability(system, one).is_stable
        run = pendula.simulate(system, 2.0, initial_state=one.state, tol=1e-11, samples=9)
        axis = system.poses(run.q)[0][:, 0, :, 2]
        start = np.arctan2(R[1, 2], R[0, 2])
        turned = np.stack([np.sin(tilt) * np.cos(start + rate * run.t), np.sin(tilt) * np.sin(start + rate * run.t)], 1)
        np.testing.assert_allclose(axis[:, :2], turned, atol=1e-7)  # 35 rad of precession at tolerance 1e-11


def test_nutation_about_steady_precession_is_the_same_in_every_chart() -> None:
    """Goldstein, section 5.7: small nutation about steady precession, from the effective potential of the tilt.

    A theta'' = f(theta) at fixed momenta a = C s and b = a cos(t) + A W sin(t)^2; the frequency follows from f'.
    """
    tilt, spin = 0.7, 60.0
    systems = [pendula.compile_system(top(e)) for e in (None, "zxz")]
    for k in (0, 1):
        roots = []
        for system in systems:
            found = pendula.equilibria.steady_precession(system, tilt, spin)
            roots.append(max(pendula.linear.spectrum(system, found.motions[k]).values.imag))
            rate = found.rates[k]
        a, b = C * spin, C * spin * np.cos(tilt) + A * rate * np.sin(tilt) ** 2

        def potential(x: float, a: float = a, b: float = b) -> float:
            return (b - a * np.cos(x)) ** 2 / (2 * A * np.sin(x) ** 2) + MGL * np.cos(x)

        h = 1e-3
        second = sum(w * potential(tilt + i * h) for i, w in zip(range(-2, 3), (-1, 16, -30, 16, -1), strict=True))
        expected = np.sqrt(second / (12 * h * h) / A)
        np.testing.assert_allclose(roots, expected, rtol=1e-7)  # the fourth-order difference
        np.testing.assert_allclose(roots, roots[0], rtol=ROUNDING)


def test_precession_that_is_impossible_says_why() -> None:
    with pytest.raises(NoConvergence, match=r"the spin must be at least 27\.9"):
        pendula.equilibria.steady_precession("heavy-top", 0.5, 10.0)
    least = 2 * np.sqrt(MGL * A * np.cos(0.5)) / C
    found = pendula.equilibria.steady_precession("heavy-top", 0.5, least * (1 + 1e-9))
    assert found.rates[0] == pytest.approx(found.rates[1], rel=1e-3)
    assert len(pendula.equilibria.steady_precession("heavy-top", QUARTER, 50.0).rates) == 1
    with pytest.raises(NotSupported, match="body of revolution"):
        pendula.equilibria.steady_precession("free-body", 0.5, 10.0)
    with pytest.raises(NotSupported, match="zxz"):
        pendula.equilibria.steady_precession(top("xyz"), 0.5, 60.0)
    with pytest.raises(UsageError, match="tilt"):
        pendula.equilibria.steady_precession("heavy-top", 0.0, 60.0)


def test_rates_that_no_axis_permits_are_refused() -> None:
    for name in ("pivot about world x", "pivot about body y", "pivot_wx"):
        with pytest.raises(UsageError, match="cannot keep a constant rate"):
            pendula.find_equilibria("heavy-top", rates={name: 3.0})
    with pytest.raises(UsageError, match='"pivot about body z" or "pivot about world z"'):
        pendula.find_equilibria("heavy-top", rates={"phi": 3.0})
    with pytest.raises(NotAnEquilibrium):
        pendula.linearize("heavy-top", {"pivot_q0": 0.9, "pivot_q1": 0.4, "pivot_wx": 3.0})


def test_poses_of_one_steady_motion_have_one_representative() -> None:
    system = pendula.compile_system("heavy-top")
    rng = np.random.default_rng(3)
    for fixed, spin in (([0, 0, 2.0], [0, 0, 0]), ([0, 0, 0], [0, 0, 5.0]), ([0, 0, 2.0], [0, 0, -5.0])):
        turning = Turning(np.zeros(3), np.array(fixed, dtype=float), np.array(spin, dtype=float))
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        one = turning.turned_back(system, q)
        assert np.linalg.norm(one) == pytest.approx(1.0, abs=1e-14)
        assert rotation(one)[2, 2] == pytest.approx(rotation(q)[2, 2], abs=1e-14)
        for angle in (0.3, 2.0, 4.5):
            turn = np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
            for other in (_product(turn, q) if any(fixed) else q, _product(q, turn) if any(spin) else q):
                same = turning.turned_back(system, other)
                np.testing.assert_allclose(rotation(same), rotation(one), atol=1e-13)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from pendula.system.orientation.rotations import multiply

    return np.array(multiply(tuple(a), tuple(b)))


def test_symmetries_follow_from_the_description() -> None:
    def found(model: Model) -> list[tuple[str, str]]:
        return [(s.kind, s.direction) for s in find_symmetries(model)]

    assert found(pendula.library.heavy_top()) == [("turn", "z"), ("spin", "z")]
    assert found(pendula.library.heavy_top().with_changes(gravity=["g", 0, 0])) == [("turn", "x"), ("spin", "z")]
    assert len(found(free_body("zyx"))) == 6
    assert found(pendula.library.double_pendulum()) == []
    assert found(pendula.library.chain(links=2).with_changes(gravity=[0, 0, 0])) == [("turn", "z")]
    assert found(pendula.library.chain(links=2, stiffness=1.0).with_changes(gravity=[0, 0, 0])) == []
    assert found(pendula.library.spherical_pendulum(chart="xy")) == [("turn", "z")]
    assert found(pendula.library.hoop_bead()) == []
    pulled = pendula.library.heavy_top().with_changes(
        forces=[{"type": "spring", "from": {"body": "ground", "position": [1, 0, 0]}, "to": {"body": "top", "at": "tip"},
                 "stiffness": 3, "length": 1}]
    )  # fmt: skip
    assert found(pulled) == [("spin", "z")]


def test_chain_of_rods_on_ball_joints_has_four_equilibria_up_to_its_symmetries() -> None:
    """Each rod hangs or stands, whatever its spin and longitude: 2^n, as in the plane."""
    found = pendula.find_equilibria(pendula.library.spatial_chain(), starts=60)
    heights = sorted(tuple(np.sign(found.all[k].system.poses(e.q)[0][:, 2, 2])) for k, e in enumerate(found))
    assert heights == [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
    assert sorted(e.unstable_directions for e in found) == [0, 2, 2, 4]


@pytest.mark.parametrize("rates", [(10.0, 0.0), (0.0, 10.0), (10.0, -10.0)])
def test_spinning_rods_of_a_hanging_chain_are_stable(rates: tuple[float, float]) -> None:
    """Whichever rod spins, seen from axes at rest the potential has a minimum."""
    found = pendula.stability("spatial-chain", {"joint1_wz": rates[0], "joint2_wz": rates[1]})
    assert found.is_stable
    assert len(found.drifts) == 3


def test_double_spherical_pendulum_on_cones_is_stable_on_one_branch_only() -> None:
    """Marsden and Scheurle (1993): on the branch with rods on opposite sides energy is indefinite, though roots lie on
    the imaginary axis: gyroscopic stabilization, which energy and momentum do not decide."""
    system = pendula.compile_system("double-spherical-pendulum")
    from scipy.optimize import fsolve

    def balanced(rate: float, guess: list[float]) -> dict[str, float]:
        def balance(x: np.ndarray) -> list[float]:
            a, b = np.sin(x)
            return [
                1.5 * 9.81 * np.tan(x[0]) - rate**2 * (1.5 * a + 0.35 * b),
                9.81 * np.tan(x[1]) - rate**2 * (a + 0.7 * b),
            ]

        x = fsolve(balance, guess, xtol=1e-13)
        return {"theta1": x[0], "theta2": x[1], "phi1_dot": rate, "phi2_dot": rate}

    assert pendula.stability(system, balanced(3.6, [0.92, 1.08])).is_stable
    opposite = pendula.stability(system, balanced(6.5, [0.25, -0.94]))
    assert opposite.verdict == "undecided"
    assert np.abs(opposite.spectrum.values.real).max() < 1e-9


def test_an_uneven_top_that_spins_fast_is_not_called_stable() -> None:
    """Without an axis of symmetry the spin is no symmetry: gyroscopic stabilization stays undecided."""
    body = {"name": "top", "mass": 1, "com": [0, 0, 0.5], "inertia": [0.05, 0.04, 0.08]}
    found = pendula.stability(top().with_changes(bodies=[body]), {"pivot_wz": 60.0})
    assert found.verdict == "undecided"
