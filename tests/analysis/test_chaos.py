"""Divergence, horizon and Lyapunov exponent against closed forms and computations written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import library
from pendula.analysis.chaos.separation import separation
from pendula.errors import UsageError
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

G = 9.81


# --- distance of two runs -----------------------------------------------------------------------------


def test_distance_of_two_rods_is_that_of_their_ends() -> None:
    """|r1 - r2| = 2 l sin(|theta1 - theta2| / 2) at the free end, which is the point that is furthest away."""
    system = library_system("pendulum")
    runs = [pendula.simulate(system, 2.0, initial_state={"theta": a}, samples=101) for a in (1.0, 1.2)]
    found = separation(*runs)
    expected = 2 * np.sin(np.abs(runs[0]["theta"] - runs[1]["theta"]) / 2)
    np.testing.assert_allclose(found.distance, expected, rtol=1e-12)
    assert found.threshold == pytest.approx(1e-3)
    assert found.time == 0.0


def test_time_to_divergence_near_the_upright_rod_is_that_of_the_linear_motion() -> None:
    """From upright, a deviation d at rest grows as d cosh(w t); the ends are 1 mm apart when it is 1e-3 rad."""
    system = library_system("pendulum")
    w = np.sqrt(1.5 * G)
    start = {"theta": np.pi}
    found = pendula.chaos.divergence(system, 3.0, first=start, perturbation={"theta": 1e-5}, tol=1e-12)
    assert found.time == pytest.approx(np.arccosh(100.0) / w, abs=2e-4)
    assert "apart from t = " in str(found)
    other = pendula.chaos.divergence(system, 3.0, first=start, second={"theta": np.pi + 1e-5}, tol=1e-12)
    assert other.time == pytest.approx(found.time)


def test_larger_perturbations_part_earlier_as_in_the_paper() -> None:
    """Paper 003, section 5.5: ten links from the horizontal, one start angle off by 10^-j."""
    system = library_system("chain")
    nominal = pendula.simulate(system, 8.0, tol=1e-11, samples=1601)
    times = [
        pendula.chaos.divergence(system, first=nominal, perturbation={"theta1": 10.0**-j}).time for j in (2, 3, 4, 5)
    ]
    assert all(t is not None for t in times)
    assert 0 <= times[0] < times[1] < times[2] < times[3] < 8.0  # type: ignore[operator]


def test_motions_that_stay_together_have_no_time_of_divergence() -> None:
    found = pendula.chaos.divergence(
        library_system("pendulum"), perturbation={"theta": 1e-9}, duration=5.0, points=["link.end"]
    )
    assert found.time is None
    assert set(found.where) == {"link.end"}
    assert "stay within" in str(found)


def test_a_linkage_can_be_perturbed() -> None:
    found = pendula.chaos.divergence(library_system("four-bar"), perturbation={"crank_dot": 1e-2}, duration=5.0)
    assert found.distance[0] == 0.0
    assert found.time is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either the second, or a perturbation"),
        ({"second": {}, "perturbation": {"theta": 1}}, "either the second, or a perturbation"),
        ({"perturbation": {"theata": 1}}, 'no coordinate or speed "theata"'),
        ({"perturbation": {"theta": 1}, "threshold": -1.0}, "positive length"),
        ({"perturbation": {"theta": 1}, "points": ["link.ende"]}, 'no point "link.ende"; did you mean "link.end"'),
        ({"perturbation": {"theta": 1}, "points": []}, "list of points to compare is empty"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pendula.chaos.divergence(library_system("pendulum"), duration=0.5, samples=11, **arguments)  # type: ignore[arg-type]


def test_runs_with_other_samples_or_other_bodies_are_refused() -> None:
    system = library_system("pendulum")
    first = pendula.simulate(system, 1.0, samples=11)
    with pytest.raises(UsageError, match="same times"):
        separation(first, pendula.simulate(system, 1.0, samples=12))
    with pytest.raises(UsageError, match="different mechanisms"):
        separation(first, pendula.simulate(library_system("cart-pole"), 1.0, samples=11))


# --- horizon ------------------------------------------------------------------------------------------


def test_horizon_is_where_the_run_leaves_the_true_motion() -> None:
    """The true motion from a run at 1e-13; the horizon found at tolerance 1e-6 is that of a loose run."""
    system = library_system("chain: point")
    start = {f"theta{k}": 2.0 for k in range(1, 5)}
    found = pendula.chaos.horizon(pendula.simulate(system, 12.0, initial_state=start, tol=1e-6, samples=1001))
    truth = pendula.simulate(system, 12.0, initial_state=start, tol=1e-13, samples=1001)
    expected = separation(found.run, truth).time
    assert found.time is not None
    assert expected is not None
    assert found.time == pytest.approx(expected, abs=0.1)
    assert found.reached
    assert "reliable up to t = " in str(found)


def test_tighter_runs_have_later_horizons() -> None:
    system = library_system("chain: point")
    start = {f"theta{k}": 2.0 for k in range(1, 5)}
    settings = {"initial_state": start, "samples": 1001}
    runs = [pendula.simulate(system, 15.0, tol=tol, **settings) for tol in (1e-4, 1e-7, 1e-10)]
    times = [pendula.chaos.horizon(run).time or 99.0 for run in runs]
    assert times[0] < times[1] < times[2]


def test_a_regular_motion_has_no_horizon() -> None:
    found = pendula.chaos.horizon(pendula.simulate(library_system("pendulum"), 10.0, samples=1001))
    assert found.time is None
    assert not found.reached
    assert "reliable to the end" in str(found)


def test_at_the_tightest_tolerance_another_stepper_is_asked() -> None:
    found = pendula.chaos.horizon(pendula.simulate(library_system("pendulum"), 1.0, tol=1e-14, samples=11))
    assert (found.run.stepper, found.reference.stepper) == ("dop853", "rk45")


# --- Lyapunov exponent --------------------------------------------------------------------------------


def test_exponent_of_the_upright_rod_is_its_rate_of_falling() -> None:
    found = pendula.chaos.lyapunov(
        library_system("pendulum"), 6.0, initial_state={"theta": np.pi}, transient=3.0, segments=40, tol=1e-11
    )
    assert found.exponent == pytest.approx(np.sqrt(1.5 * G), rel=1e-6)
    assert found.running[-1] == pytest.approx(found.exponent, rel=1e-14)
    assert "grows tenfold every 0.6" in str(found)


def test_exponent_of_a_hanging_damped_rod_is_that_of_its_slowest_mode() -> None:
    """theta'' + c theta' + w^2 theta = 0 with c > 2 w: the slower root of s^2 + c s + w^2."""
    model = library.pendulum(friction=4.0)  # c = 4 / (1/3) = 12, w^2 = 1.5 g
    found = pendula.chaos.lyapunov(
        pendula.compile_system(model), 8.0, initial_state={"theta": 0.0}, transient=4.0, segments=40, tol=1e-11
    )
    assert found.exponent == pytest.approx(-6.0 + np.sqrt(36.0 - 1.5 * G), rel=1e-6)
    assert "approach each other" in " ".join(str(found).split())


def test_exponent_of_a_regular_swing_tends_to_zero() -> None:
    """A deviation of a nonlinear swing grows linearly, so the average falls as log(t) / t."""
    found = pendula.chaos.lyapunov(library_system("pendulum"), 600.0, segments=300)
    assert 0 < found.exponent < 0.01
    shorter = pendula.chaos.lyapunov(library_system("pendulum"), 60.0, segments=300)
    assert shorter.exponent > 2 * found.exponent


DRIVEN = {"c": 0.5, "A": 1.15, "w": 2 / 3}
"""The driven damped pendulum of Baker and Gollub, theta'' + c theta' + sin theta = A cos(w t)."""


def _driven() -> pendula.results.System:
    return pendula.compile_system(
        pendula.Model(
            name="driven",
            gravity=[0, -1, 0],
            parameters=dict(DRIVEN),
            inputs={"torque": "A*cos(w*t)"},
            bodies=[{"name": "bob", "point": {"mass": 1, "at": [0, -1, 0]}}],
            joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "bob"}],
            forces=[
                {"type": "friction", "joint": "theta", "coefficient": "c"},
                {"type": "generalized", "coordinate": "theta", "value": "torque"},
            ],
            initial={"theta": 0.2},
        )
    )


def _growth_by_hand(duration: float, transient: float) -> float:
    """Variational equations written by hand, by SciPy; the deviation needs no renewal over this time."""

    def rhs(t: float, y: Array) -> list[float]:
        a, v, da, dv = y
        push = DRIVEN["A"] * np.cos(DRIVEN["w"] * t)
        return [v, push - np.sin(a) - DRIVEN["c"] * v, dv, -np.cos(a) * da - DRIVEN["c"] * dv]

    times = [transient, duration]
    found = solve_ivp(rhs, (0, duration), [0.2, 0, 1, 0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-14)
    sizes = np.linalg.norm(found.y[2:], axis=0)
    return float(np.log(sizes[1] / sizes[0]) / (duration - transient))


def test_exponent_of_the_driven_pendulum_over_a_short_time_is_that_by_hand() -> None:
    """Short enough for both to follow the same motion, after the deviation has turned into its own direction."""
    found = pendula.chaos.lyapunov(_driven(), 90.0, transient=45.0, segments=100, tol=1e-12)
    assert found.exponent == pytest.approx(_growth_by_hand(90.0, 45.0), rel=1e-4)


def _exponent_of_two_points(duration: float) -> float:
    """Two neighbouring motions of the double pendulum of points, brought together again and again (Benettin)."""

    def rhs(t: float, y: Array) -> Array:
        y = y.reshape(2, 4)
        a, b, u, w = y.T
        s, c = np.sin(a - b), np.cos(a - b)
        first, second = -s * w * w - 2 * G * np.sin(a), s * u * u - G * np.sin(b)
        det = 2 - c * c
        return np.stack([u, w, (first - c * second) / det, (2 * second - c * first) / det], axis=1).ravel()

    size, step, total = 1e-7, 1.0, 0.0
    y = np.array([np.pi / 2, np.pi / 2, 0.0, 0.0])
    other = y + size / 2
    for k in range(int(duration / step)):
        run = solve_ivp(rhs, (0, step), np.concatenate([y, other]), "DOP853", rtol=1e-9, atol=1e-11)
        y, other = run.y[:4, -1], run.y[4:, -1]
        grown = float(np.linalg.norm(other - y))
        total += np.log(grown / size) if k >= 10 else 0.0
        other = y + (other - y) * size / grown
    return total / (duration - 10 * step)


def test_exponent_of_the_double_pendulum_is_that_of_neighbouring_motions() -> None:
    """Two averages over different stretches of one chaotic sea: they agree within their spread."""
    system = pendula.compile_system(library.chain(links=2, kind="point"))
    found = pendula.chaos.lyapunov(system, 1500.0, segments=500)
    assert found.spread < 0.1 * found.exponent
    assert found.exponent == pytest.approx(_exponent_of_two_points(160.0), rel=0.25)


def test_deviations_of_a_spinning_top_follow_neighbouring_motions() -> None:
    """Quaternions: the growth over a short time against two runs that start close by."""
    system = library_system("heavy-top")
    from pendula.numerics.steppers.stepping import integrate
    from pendula.system.tangent import deviation_callback

    start = system.initial_state()
    n = start.q.size + start.v.size
    y = np.concatenate([start.q, start.v])
    d = np.zeros(n)
    d[-3:] = [0.3, -0.2, 0.5]
    run = integrate(deviation_callback(system), np.concatenate([y, d]), (0, 1), rtol=1e-12, atol=1e-12)
    size = 1e-5
    ends = []
    for sign in (1, -1):
        names = dict(zip(system.layout.speeds, y[-3:] + sign * size * d[-3:], strict=True))
        ends.append(pendula.simulate(system, 1.0, initial_state=names, tol=1e-13))
    q = (ends[0].q[-1] - ends[1].q[-1]) / (2 * size)
    v = (ends[0].v[-1] - ends[1].v[-1]) / (2 * size)
    np.testing.assert_allclose(run.y[-1, n:], np.concatenate([q, v]), atol=1e-5 * np.abs(v).max())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"duration": -1.0}, "duration must be a positive number"),
        ({"transient": 200.0}, "shorter than the duration"),
        ({"segments": 3}, "segments must be a whole number from 20"),
        ({"stepper": "euler"}, "there is no stepper"),
        ({"segments": 20, "transient": 80.0}, "too few segments"),
    ],
)
def test_bad_arguments_of_the_exponent_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pendula.chaos.lyapunov(library_system("pendulum"), **arguments)  # type: ignore[arg-type]


def test_exponent_of_a_system_by_recursion_is_that_of_its_equations() -> None:
    model = library.chain(links=3, start=1.5)
    found = [
        pendula.chaos.lyapunov(pendula.compile_system(model, engine=e), 2.0, tol=1e-11, segments=20, transient=0.5)
        for e in ("recursive", "symbolic")
    ]
    assert found[0].exponent == pytest.approx(found[1].exponent, rel=1e-6)


# --- exponents of linear systems, which are real parts of roots --------------------------------------------


def oscillator(stiffness: float, damping: float) -> pendula.Model:
    """A unit mass on a spring and a damper."""
    return pendula.Model(
        name="oscillator",
        gravity=[0, 0, 0],
        bodies=[{"name": "block", "mass": 1}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "block"}],
        forces=[{"type": "spring", "joint": "x", "stiffness": stiffness, "damping": damping}],
        initial={"x": 1.0},
    )


@pytest.mark.parametrize(("stiffness", "damping", "exact"), [(1e4, 50.0, -25.0), (1e4, 105.4, -52.7), (16, 10, -2)])
@pytest.mark.parametrize("duration", [20.0, 200.0])
def test_exponent_of_a_strongly_damped_oscillator(
    stiffness: float, damping: float, exact: float, duration: float
) -> None:
    """The deviation shrinks by more than the tolerance between two of the segments that the caller asked for."""
    found = pendula.chaos.lyapunov(oscillator(stiffness, damping), duration, segments=20)
    assert found.exponent == pytest.approx(exact, rel=0.02)
    assert "approach each other" in str(found)


@pytest.mark.parametrize("stiffness", [1.0, 4 * np.pi**2, 100.0])
def test_exponent_of_an_undamped_oscillator_is_zero_within_the_errors_of_the_steps(stiffness: float) -> None:
    found = pendula.chaos.lyapunov(oscillator(stiffness, 0.0), 100.0, segments=100)
    assert found.zero
    assert "indistinguishable from zero" in str(found)
    assert abs(found.exponent) < 0.1
