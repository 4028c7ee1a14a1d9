"""Verdicts with their reasons: eigenvalues, energy, higher-order terms, drift, and what stays undecided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Model, library
from pendula.errors import UsageError
from pendula.results import System


def oscillator(force: str, **parameters: float) -> System:
    """A unit mass on a line with a force of x, y and their rates; y has its own, if it is named."""
    forces = dict(zip("xy", force.split(";"), strict=False))
    bodies = [{"name": f"m{k}", "point": {"mass": 1.0}} for k in forces]
    joints = [{"name": k, "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": f"m{k}"} for k in forces]
    loads = [{"type": "generalized", "coordinate": k, "value": f} for k, f in forces.items() if f.strip() != "0"]
    return pendula.compile_system(
        Model(
            name="masses on lines", gravity=[0, 0, 0], parameters=parameters, bodies=bodies, joints=joints, forces=loads
        )
    )


def verdict(force: str) -> pendula.results.Stability:
    return pendula.stability(oscillator(force), {})


@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ("-4*x - 0.1*x_dot", "asymptotically stable"),
        ("-4*x", "stable"),
        ("4*x", "unstable"),
        ("4*x - 3*x_dot", "unstable"),
        ("-4*x + 0.1*x_dot", "unstable"),
        ("-x**3", "stable"),
        ("-x**3 - 0.2*x_dot", "stable"),
        ("x**3", "unstable"),
        ("x**3 - 0.2*x_dot", "unstable"),
        ("-x**5", "stable"),
        ("x**5 - x_dot", "unstable"),
        ("x**2", "unstable"),
        ("-x**2 - 0.5*x_dot", "unstable"),
        ("-4*x; -y**3", "stable"),
        ("-4*x; y**3", "unstable"),
        ("-4*x - 0.3*x_dot; -9*y", "stable"),
        ("-4*x - y**2; -2*x*y - 0.1*y**3", "unstable"),
        ("-4*x - y**2; -2*x*y - 2*y**3", "stable"),
    ],
)
def test_verdicts_of_closed_forms(force: str, expected: str) -> None:
    """The last two: V = 2 x^2 + x y^2 + a y^4/4; with x following y the term y^4 is (2 a - 1)/8, of either sign."""
    found = verdict(force)
    assert found.verdict == expected
    assert found.applies_to_nonlinear
    assert found.proof
    assert expected in str(found)


def test_behavior_is_significant_only_off_the_axis() -> None:
    assert verdict("-4*x - 0.1*x_dot").behavior == "significant"
    assert verdict("4*x").behavior == "significant"
    assert verdict("-4*x").behavior == "critical"
    assert verdict("-x**3").behavior == "critical"


def test_negative_damping_of_higher_order_is_not_called_stable() -> None:
    """-4 x + x^2 x': the linear model is a center; energy grows at every swing, so the truth is unstable."""
    found = verdict("-4*x + x**2*x_dot")
    assert found.verdict == "undecided"
    assert not found.applies_to_nonlinear
    assert "adds energy" in found.proof
    assert verdict("-4*x - x**2*x_dot").verdict == "stable"


def test_forces_without_a_potential_stay_undecided_on_the_axis() -> None:
    """Circulatory forces: K = [[4, b], [-b, 9]]; below flutter roots are on the axis, and energy says nothing."""
    found = verdict("-4*x - y; -9*y + x")
    assert found.verdict == "undecided"
    assert "potential" in found.proof
    assert "bounded" in found.proof
    flutter = verdict("-4*x - 5*y; -9*y + 5*x")
    assert flutter.verdict == "unstable"
    assert "growing oscillation" in flutter.roots


def test_nonlinear_circulatory_forces_are_noticed() -> None:
    """Symmetric at the origin, but the cubic terms have no potential."""
    found = verdict("-4*x - 3*y**3; -9*y + 3*x**3")
    assert found.verdict == "undecided"


def test_forces_even_in_the_velocity_may_pump_energy_between_coordinates() -> None:
    """Their power has opposite signs at opposite velocities, and still motion from 0.3 grows beyond 3 (SciPy)."""

    def rates(_: float, z: np.ndarray) -> list[float]:
        x, y, vx, vy = z
        return [vx, vy, -x + y * vy**2, -y - x * vx**2]

    def far(_: float, z: np.ndarray) -> float:
        return float(np.linalg.norm(z)) - 3.0

    far.terminal = True  # type: ignore[attr-defined]
    start = np.random.default_rng(0).normal(size=(3, 4))
    ends = [solve_ivp(rates, (0, 1000), 0.3 * z / np.linalg.norm(z), rtol=1e-9, events=far).status for z in start]
    assert 1 in ends
    pumped = verdict("-x + y*y_dot**2; -y - x*x_dot**2")
    assert pumped.verdict == "undecided"
    assert "the same for opposite velocities" in pumped.proof
    gyroscopic = verdict("-x + y*y_dot; -4*y - y*x_dot")
    assert gyroscopic.verdict == "stable"  # the sum of its powers is zero: the energy stays
    assert verdict("-x + x_dot**2").verdict == "stable"  # alone: exp(-2 x) x_dot^2 has a first integral


def test_gyroscopic_stabilization_is_undecided_and_damping_breaks_it() -> None:
    """x'' = x + 4 y', y'' = y - 4 x': held by gyroscopic forces on a maximum; with damping unstable (Kelvin, Tait)."""
    held = verdict("x + 4*y_dot; y - 4*x_dot")
    assert held.verdict == "undecided"
    assert set(held.roots) == {"undamped"}
    assert "gyroscopic" in held.proof
    assert verdict("x + 4*y_dot - 0.01*x_dot; y - 4*x_dot - 0.01*y_dot").verdict == "unstable"
    assert verdict("-x + 4*y_dot; -y - 4*x_dot").verdict == "stable"


def test_repeated_root_on_the_axis_without_eigenvectors_is_not_stable() -> None:
    """Flutter boundary: K = [[4, 1], [0, 4]] grows like t."""
    found = verdict("-4*x - y; -4*y")
    assert found.verdict == "undecided"
    assert "proportion to time" in found.proof
    semisimple = verdict("-4*x; -4*y")
    assert semisimple.verdict == "stable"


def test_free_motion_drifts_and_friction_stops_it() -> None:
    """M q'' = 0 has s = 0, 0 and q grows like t: not stable, although no root is right of the axis."""
    free = verdict("0")
    assert free.verdict == "critical: drifts along x, stable otherwise"
    assert free.drifts == ("x",)
    assert verdict("-0.3*x_dot").verdict == "stable"
    cart = pendula.stability(pendula.compile_system(library.cart_pole()), {"theta": 0})
    assert cart.verdict == "critical: drifts along x, stable otherwise"
    assert cart.applies_to_nonlinear
    assert pendula.stability(pendula.compile_system(library.cart_pole()), {"theta": np.pi}).verdict == "unstable"


def test_conical_motion_is_stable_by_routh() -> None:
    theta = 0.7
    rate = np.sqrt(9.81 / np.cos(theta))
    system = pendula.compile_system(library.spherical_pendulum())
    found = pendula.stability(system, {"theta": theta, "phi_dot": rate})
    assert found.verdict == "critical: drifts along the rotation about z, stable otherwise"
    assert "Routh" in found.proof


def test_singular_charts_have_verdicts() -> None:
    system = pendula.compile_system(library.spherical_pendulum())
    assert pendula.stability(system, {"theta": 0}).verdict == "stable"
    assert pendula.stability(system, {"theta": np.pi}).verdict == "unstable"


def test_applied_forces_at_a_singular_chart_are_not_called_stable_unseen() -> None:
    """A force of third order that puts energy in: the linear model does not see it."""
    push = {"type": "generalized", "coordinate": "theta", "value": "theta**2*theta_dot"}
    system = pendula.compile_system(library.spherical_pendulum().with_changes(forces=[push]))
    assert pendula.stability(system, {"theta": 0}).verdict == "undecided"


@pytest.mark.parametrize("formulation", ["lagrange", "maximal"])
def test_every_equilibrium_of_a_chain(formulation: str) -> None:
    """Only hanging straight down is stable, of 2^3."""
    system = pendula.compile_system(library.chain(links=3), formulation)
    for k in range(8):
        at = {f"theta{i + 1}": np.pi * ((k >> i) & 1) for i in range(3)}
        found = pendula.stability(system, at)
        assert found.verdict == ("stable" if k == 0 else "unstable")


def test_partly_damped_chain_is_asymptotically_stable_where_damping_reaches() -> None:
    system = pendula.compile_system(library.chain(links=3, friction=[0.2, 0.0, 0.0]))
    assert pendula.stability(system, {}).verdict == "asymptotically stable"


# --- ranges -------------------------------------------------------------------------------------------------


def test_range_of_a_pushed_oscillator() -> None:
    system = oscillator("-(k - 2)*x - 0.4*x_dot", k=3.0)
    found = pendula.linear.stability_over(system, "k", 0, 5, samples=50)
    assert found.values.tolist() == [2.0]
    assert [r.verdict for r in found.ranges] == ["unstable", "asymptotically stable"]
    assert "k = 2" in str(found)


def test_flutter_boundary_is_found() -> None:
    """K = [[4, b], [-b, 9]]: roots leave the axis at 25/4 = b^2, so b = 2.5."""
    system = oscillator("-4*x - b*y; -9*y + b*x", b=1.0)
    found = pendula.linear.stability_over(system, "b", 0.5, 5, samples=30)
    np.testing.assert_allclose(found.values, [2.5], rtol=1e-7)
    assert [r.verdict for r in found.ranges] == ["undecided", "unstable"]


@pytest.mark.slow
def test_flutter_boundary_with_damping_is_that_of_routh_and_hurwitz() -> None:
    damped = oscillator("-4*x - b*y - 0.2*x_dot; -9*y + b*x - 0.2*y_dot", b=1.0)
    # Routh-Hurwitz of s^4 + 0.4 s^3 + 13.04 s^2 + 2.6 s + 36 + b^2: a3 a2 a1 - a1^2 - a3^2 a0 = 0
    edge = np.sqrt((0.4 * 13.04 * 2.6 - 2.6**2) / 0.16 - 36)
    found = pendula.linear.stability_over(damped, "b", 0.5, 5, samples=30)
    np.testing.assert_allclose(found.values, [edge], rtol=1e-12)
    assert [r.verdict for r in found.ranges] == ["asymptotically stable", "unstable"]


def test_two_edges_are_found() -> None:
    system = oscillator("-(k - 1)*(k - 3)*x - x_dot", k=0.5)
    found = pendula.linear.stability_over(system, "k", 0, 4, samples=50)
    np.testing.assert_allclose(found.values, [1.0, 3.0], rtol=1e-12)
    assert [r.verdict for r in found.ranges] == ["asymptotically stable", "unstable", "asymptotically stable"]


def test_an_equilibrium_that_moves_is_followed_until_it_is_lost() -> None:
    """x^2 = k: the branch sqrt(k) ends at k = 0."""
    system = oscillator("k - x**2 - x_dot", k=1.0)
    found = pendula.linear.stability_over(system, "k", 0.5, 4, at={"x": 1.0}, samples=50)
    assert [r.verdict for r in found.ranges] == ["asymptotically stable"]
    middle = found.ranges[0].stability
    assert middle is not None
    assert middle.at["x"] == pytest.approx(np.sqrt(2.25), rel=1e-10)
    gone = oscillator("-k - x**2 - x_dot", k=-1.0)
    lost = pendula.linear.stability_over(gone, "k", -4, 1, at={"x": 2.0}, samples=50)
    assert [r.verdict for r in lost.ranges] == ["asymptotically stable", "no equilibrium nearby"]
    assert lost.values[0] == pytest.approx(0.0, abs=1e-3)


def test_bad_ranges_are_named() -> None:
    system = pendula.compile_system(library.pendulum())
    with pytest.raises(UsageError, match="no parameter"):
        pendula.linear.stability_over(system, "stiffness", 0, 1)
    with pytest.raises(UsageError, match="smaller to a larger"):
        pendula.linear.stability_over(system, "l", 2, 1)
    found = pendula.linearize(system, {})
    alone = replace(found, at=replace(found.at, system=None))
    with pytest.raises(UsageError, match="needs the system"):
        pendula.stability(alone)


def test_an_equilibrium_that_meets_another_is_said_to() -> None:
    """The tilted bead sinks as g grows, cos(theta) = g / (r Omega^2), and meets the one at the bottom at g = r Omega^2."""
    system = pendula.compile_system(library.hoop_bead())
    square = system.model.parameter_values["Omega"] ** 2
    found = pendula.linear.stability_over(system, "g", 5.0, 30.0, at={"theta": np.arccos(5.0 / square)}, samples=50)
    assert found.values == pytest.approx([square], rel=1e-8)
    assert found.critical[0].meets
    assert "meets another equilibrium" in str(found)
    assert [r.verdict for r in found.ranges] == ["asymptotically stable", "asymptotically stable"]


def test_a_stiffness_that_vanishes_does_not_seem_to_depend_on_time() -> None:
    """A bead on a parabola z = a s^2 that turns at Om, in coordinates with t: K = 2 a g - Om^2, constant."""
    model = pendula.Model(
        name="bead",
        gravity=[0, 0, -9.81],
        parameters={"Om": 2.0, "a": 0.7},
        bodies=[{"name": "p", "point": {"mass": 1}}],
        joints=[
            {
                "name": "w",
                "type": "coordinates",
                "coordinates": ["s"],
                "position": ["s*cos(Om*t)", "s*sin(Om*t)", "a*s**2"],
                "parent": "ground",
                "child": "p",
            }
        ],
    )
    found = pendula.linear.stability_over(model, "Om", 1, 6, at={"s": 0}, samples=20)
    assert found.values == pytest.approx([np.sqrt(2 * 0.7 * 9.81)], rel=1e-8)


def test_a_border_at_zero_is_zero() -> None:
    """m l^2 x'' = -c x' - (m g l + k) x changes its verdict where c changes its sign: at 0, not at 1.2e-16."""
    model = pendula.Model(
        name="n",
        gravity=[0, -9.81, 0],
        parameters={"c": -0.1},
        bodies=[{"name": "p", "point": {"mass": 1, "at": [0, -1, 0]}}],
        joints=[{"name": "x", "type": "revolute", "parent": "ground", "child": "p"}],
        forces=[{"type": "torsion-spring", "joint": "x", "stiffness": -4.0, "damping": "c"}],
    )
    found = pendula.linear.stability_over(model, "c", -1, 1, at={"x": 0})
    assert list(found.values) == [0.0]
