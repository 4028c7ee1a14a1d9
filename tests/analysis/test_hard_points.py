"""Points at which a plausible verdict or label is wrong: kinks, families of equilibria that are no symmetry, gyroscopes.

What is true is worked out by hand in each test, or seen in a simulated motion.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import pendula
from pendula import Model
from pendula.errors import ComputationError, NotSupported, UsageError
from pendula.results import System


def masses(force: str) -> System:
    """Unit masses on lines, x and y, with forces of x, y and their rates, separated by a semicolon."""
    forces = dict(zip("xy", force.split(";"), strict=False))
    return pendula.compile_system(
        Model(
            name="masses on lines",
            gravity=[0, 0, 0],
            bodies=[{"name": f"m{k}", "point": {"mass": 1.0}} for k in forces],
            joints=[{"name": k, "type": "prismatic", "parent": "ground", "child": f"m{k}"} for k in forces],
            forces=[{"type": "generalized", "coordinate": k, "value": f} for k, f in forces.items() if f.strip()],
        )
    )


@pytest.mark.parametrize(
    ("force", "said"),
    [
        ("-2*abs(x)", "kink across x"),  # pushes away on the left: not stable, whatever a derivative there may be
        ("-x - 0.1*abs(x_dot)", "kink across the speed x_dot"),  # runs back the way it came: nothing dies out
        ("x if x > 0 else -x", "kink across x"),
        ("-x - 0.1*sign(x_dot)", "jump across the speed x_dot"),
        ("-max(x + y, 0); -y", "kink across x"),
    ],
)
def test_a_kink_just_at_the_point_is_refused_by_name(force: str, said: str) -> None:
    system = masses(force)
    with pytest.raises(ComputationError, match=said):
        pendula.stability(system, {})
    assert all(e.unstable_directions is None for e in pendula.find_equilibria(system, starts=8) if np.all(e.q == 0))


def test_a_kink_of_one_case_of_many_is_refused_with_its_number() -> None:
    system = masses("-x*abs(x - 1)")  # balanced at 0 and 1
    assert pendula.linear.linearize_many(system, np.array([[0.0], [0.0]])).K.ravel().tolist() == [1.0, 1.0]
    with pytest.raises(ComputationError, match="kink across x, exactly at the state of case 1"):
        pendula.linear.linearize_many(system, np.array([[0.0], [1.0]]))


@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ("-4*x - x*abs(x)", "stable"),
        ("-4*x - abs(x_dot)*x_dot", "stable"),
        ("-4*x - 0.1*x_dot - 50*max(x - 0.1, 0)", "asymptotically stable"),
        ("-4*x - tanh(1000*x_dot)", "asymptotically stable"),
        ("4*x if abs(x) < 1 else 0", "unstable"),
    ],
)
def test_functions_with_kinks_are_welcome_where_forces_are_smooth(force: str, expected: str) -> None:
    assert pendula.stability(masses(force), {}).verdict == expected


def test_equilibria_along_two_lines_that_cross_are_no_family() -> None:
    """V = -x^2 y^2/2: each of x and y may be anything while the other is zero, but x = y = a runs away."""
    found = pendula.stability(masses("x*y**2; x**2*y"), {})
    assert found.verdict == "undecided"
    assert "vanishes exactly at this point" in found.spectrum.labels[0]


@pytest.mark.parametrize("friction", ["", "- y_dot"])
def test_a_family_on_which_stiffness_changes_is_not_called_stable(friction: str) -> None:
    """V = (1 - y) x^2/2: any y at x = 0 is an equilibrium, and a swinging x drives y to where x is unstable."""
    system = masses(f"-x + y*x; x**2/2 {friction}")
    assert pendula.stability(system, {}).verdict == "undecided"
    run = pendula.simulate(system, 300.0, initial_state={"x": 0.3}, samples=300, events=["y >= 1"])
    assert np.max(run["y"]) >= 1.0


def test_gyroscopic_forces_alone_do_not_keep_a_family_from_drifting() -> None:
    """A charge in a magnetic field 1 + x/2: it circles, and the circles drift along y without end."""
    system = masses("(1 + 0.5*x)*y_dot; -(1 + 0.5*x)*x_dot")
    found = pendula.stability(system, {})
    assert found.verdict == "undecided"
    assert "gyroscopic forces" in found.proof
    run = pendula.simulate(system, 2000.0, initial_state={"x_dot": 0.1}, samples=[0.0, 1000.0, 2000.0])
    slow = 0.5 * 0.1**2 / 2  # v^2 B'/(2 B^2)
    assert abs(run["y"][-1]) == pytest.approx(2000.0 * slow, rel=0.1)


def gimbal(motor: bool) -> System:
    """A balanced rotor in two gimbals, free of weight: psi outside, th inside; a motor may keep its rate."""
    turns = {"psi": ("ground", "outer", [0, 0, 1]), "th": ("outer", "inner", [1, 0, 0])}
    turns["spin"] = ("inner", "rotor", [0, 1, 0])
    joints = [
        {"name": name, "type": "revolute", "parent": parent, "child": child, "axis": axis}
        for name, (parent, child, axis) in turns.items()
    ]
    joints[2] |= {"motion": "50*t"} if motor else {}
    inertias = {"outer": [0.1, 0.12, 0.15], "inner": [0.05, 0.05, 0.07], "rotor": [0.02, 0.04, 0.02]}
    bodies = [{"name": name, "mass": 1.0, "inertia": about} for name, about in inertias.items()]
    return pendula.compile_system(Model(name="gimbal", gravity=[0, 0, 0], bodies=bodies, joints=joints))


@pytest.mark.parametrize("motor", [False, True])
def test_a_free_gyroscope_is_not_refused_or_mislabelled_by_rounding(motor: bool) -> None:
    """Nothing holds psi, wherever it is, and nutation has the rate H cos(th)/sqrt(I_psi I_th)."""
    th = 0.4
    rates = {} if motor else {"spin_dot": 50.0}
    H = 0.04 * 50.0 * np.cos(th)
    c, s = np.cos(th) ** 2, np.sin(th) ** 2
    outer = 0.15 + 0.07 * c + 0.05 * s + 0.02 * c + (0.04 * s if motor else 0.0)  # a free rotor does not take part
    nutation = H / np.sqrt(outer * (0.05 + 0.02))
    system = gimbal(motor)
    for psi in (0.0, 0.53, 1.7):
        found = pendula.linear.spectrum(system, {"th": th, "psi": psi} | rates)
        assert np.abs(found.values.imag).max() == pytest.approx(nutation, rel=1e-9)
        assert all("vanishes" not in label for label in found.labels)
        assert "psi" in found.labels[0]


def test_a_motor_driven_gyroscope_is_not_called_stable() -> None:
    """Gimbal walk: nutation makes the outer gimbal drift at second order, though the linear model only oscillates."""
    assert pendula.stability(gimbal(True), {}).verdict == "undecided"


def test_a_ring_of_equilibria_is_a_family_and_not_a_stiffness_that_vanishes() -> None:
    """A mass on a spring of length 1/2 about a fixed point may rest anywhere on a circle."""
    bodies = [{"name": "slide", "mass": 0.0}, {"name": "mass", "point": {"mass": 1.0}}]
    joints = [
        {"name": "x", "type": "prismatic", "parent": "ground", "child": "slide"},
        {"name": "y", "type": "prismatic", "parent": "slide", "child": "mass", "axis": [0, 1, 0]},
    ]
    spring = {"type": "spring", "from": "ground", "to": "mass", "stiffness": 4.0, "length": 0.5}
    system = pendula.compile_system(
        Model(name="ring", gravity=[0, 0, 0], bodies=bodies, joints=joints, forces=[spring])
    )
    for angle in (0.0, 0.9):
        found = pendula.stability(system, {"x": 0.5 * np.cos(angle), "y": 0.5 * np.sin(angle)})
        assert found.verdict.startswith("critical: drifts along")
        assert "vanishes" not in found.spectrum.labels[0]
        assert np.abs(found.spectrum.values.imag).max() == pytest.approx(2.0)


def test_partial_damping_is_not_called_gyroscopic() -> None:
    found = pendula.stability(masses("-x - 0.1*x_dot; y**3"), {})
    assert found.verdict == "undecided"
    assert "gyroscopic" not in found.proof
    assert "damping does not reach" in found.proof


def test_one_equilibrium_without_derivatives_does_not_hide_the_others() -> None:
    """0.2 |x|^1.5 = 0.1 x at 0, where the derivative is 0/0 as written, and at 1/4."""
    found = pendula.find_equilibria(masses("0.2*(x**2)**0.75 - 0.1*x"))
    assert [e["x"] for e in found] == pytest.approx([0.25])
    assert found.complete == "undecided"
    assert "no finite derivatives" in found.reason


def test_every_change_of_sign_of_a_single_force_is_found() -> None:
    """Nothing bounds atan2, so it is searched: the far root, which few random starts come to, is there, too."""
    force = "-0.371*x*sin(0.601*x) + 2.258*tanh(0.666*x) - 1.171*log(2 + x**2) + 0.01*atan2(x, 2)"
    x = np.linspace(-10, 10, 100_000)
    y = -0.371 * x * np.sin(0.601 * x) + 2.258 * np.tanh(0.666 * x) - 1.171 * np.log(2 + x**2) + 0.01 * np.arctan2(x, 2)
    expected = x[:-1][y[:-1] * y[1:] < 0]
    found = pendula.find_equilibria(masses(force))
    assert found.complete == "indicated"
    assert sorted(e["x"] for e in found) == pytest.approx(expected, abs=3e-4)


def test_multipliers_at_a_kink_are_refused() -> None:
    """x'' = -(1 + cos(t)/10) |x|: on the left it is pushed away, so no multiplier tells anything."""
    with pytest.raises(ComputationError, match="kink across x"):
        pendula.driven.floquet(masses("-(1 + 0.1*cos(t))*abs(x)"), at={})


def test_a_shaft_at_just_its_critical_speed_is_linearized() -> None:
    """In turning axes stiffness and centrifugal force cancel to rounding; what is left is x'' = 2 Omega y', and -x'."""
    turn = {"name": "turn", "type": "revolute", "parent": "ground", "child": "shaft", "motion": "2*t"}
    slides = [
        {"name": "x", "type": "prismatic", "parent": "shaft", "child": "slide"},
        {"name": "y", "type": "prismatic", "parent": "slide", "child": "disc", "axis": [0, 1, 0]},
    ]
    bodies = [{"name": "shaft", "mass": 1.0, "inertia": [1, 1, 1]}, {"name": "slide", "mass": 0.0}]
    springs = [{"type": "spring", "joint": name, "stiffness": 4.0} for name in ("x", "y")]
    model = Model(
        name="shaft",
        gravity=[0, 0, 0],
        bodies=[*bodies, {"name": "disc", "point": {"mass": 1.0}}],
        joints=[turn, *slides],
        forces=springs,
    )
    found = pendula.stability(pendula.compile_system(model), {})
    assert found.verdict == "undecided"
    assert np.sort(found.spectrum.values.imag) == pytest.approx([-4.0, 0.0, 0.0, 4.0])


@pytest.mark.parametrize(
    "force",
    [
        "-(1 + 0.8*cos(2*t))*x",  # Mathieu's equation in its first tongue: |x| grows without end
        "-x; -(4 + 2*sin(t))*y",
        "-(4 - 5*(1 if t > 1 else 0))*x",
        "-(4 - 5*(1 if t > 50 else 0))*x",
    ],
)
def test_a_stiffness_that_depends_on_time_is_not_linearized_as_if_it_were_constant(force: str) -> None:
    """Forces balance at zero at all times, but K changes, so that eigenvalues of one moment decide nothing."""
    system = masses(force)
    with pytest.raises(UsageError, match="depend on time"):
        pendula.stability(system, {})
    with pytest.raises(UsageError, match="depend on time"):
        pendula.linear.linearize_many(system, {})
    with pytest.raises(NotSupported, match="depend on time"):
        pendula.find_equilibria(system)


def test_a_driven_stiffness_is_judged_by_its_multipliers() -> None:
    assert pendula.driven.floquet(masses("-(1 + 0.8*cos(2*t))*x"), at={}).verdict == "unstable"


def test_symbols_are_refused_at_a_kink() -> None:
    for force in ("-2*abs(x)", "-x - sign(x_dot)", "-max(x, 0)", "x if x > 0 else -x"):
        with pytest.raises(NotSupported, match="kink or a jump"):
            pendula.linear.linearize_symbolic(masses(force))
    beside = pendula.linear.linearize_symbolic(masses("-2*x - 50*max(x - 1, 0) - 0.1*x_dot"))
    assert (beside.K[0], beside.C[0]) == (2, sp.Rational(1, 10))
