"""Linear models: the same by every formulation, exact against differences, refused where there are none."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import jn_zeros

import pendula
from pendula import Model, library
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.analysis.linear.linearize import displaced
from pendula.errors import ModelError, NotAnEquilibrium, NotSupported, PendulaError, SingularPose, UsageError
from pendula.results import System
from tests.helpers.choices import slow_too
from tests.helpers.numbers import Array
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

SAME = 1e-9
"""Eigenvalues of one mechanism by different formulations, relative to the largest."""
HIGH_ORDER = 2e-7
"""Exact derivatives against differences of order 6, relative to the largest entry."""


def sorted_roots(system: System, at: object, **rest: object) -> Array:
    values = pendula.linear.spectrum(system, at, **rest).values  # type: ignore[arg-type]
    return values[np.lexsort((values.imag.round(7), values.real.round(7), np.abs(values).round(7)))]


def same_roots(found: Array, expected: Array, relative: float = SAME) -> None:
    assert len(found) == len(expected)
    left = list(expected)
    for value in found:
        k = int(np.argmin([abs(value - x) for x in left]))
        assert abs(value - left.pop(k)) <= relative * max(np.abs(expected).max(), 1e-300)


# --- constraints ------------------------------------------------------------------------------------------


def mass_on_string(formulation: str = "lagrange") -> System:
    """A point mass in x, y, z, tied by a massless rod whose two angles are free: one loop of two ball-like ends."""
    model = Model(
        name="mass on a string",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81},
        bodies=[
            {"name": "bob", "point": {"mass": "m"}},
            {"name": "rod", "mass": 0, "points": {"tip": [0, 0, "-l"]}},
        ],
        joints=[
            {
                "name": "fly",
                "type": "coordinates",
                "coordinates": ["x", "y", "z"],
                "position": ["x", "y", "z"],
                "parent": "ground",
                "child": "bob",
            },
            {"name": "hinge", "type": "universal", "parent": "ground", "child": "rod"},
            {"name": "tie", "type": "coincident", "parent": {"body": "rod", "at": "tip"}, "child": "bob"},
        ],
        initial={"z": "-l"},
    )
    return pendula.compile_system(model, formulation)


def test_pendulum_in_xyz_with_a_constraint_is_exact() -> None:
    """Paper 000: +-3.132091952673165i twice. Without the stiffness by the rod's force all roots would be zero."""
    system = mass_on_string()
    found = pendula.linear.spectrum(system, {"x": 0.0, "y": 0.0})
    exact = np.array([1, 1, -1, -1]) * 3.132091952673165j
    assert np.linalg.norm(np.sort_complex(found.values) - np.sort_complex(exact)) <= 1e-14
    assert set(found.labels) == {"physical"}
    assert [(root.label[:8], root.multiplicity) for root in found.others] == [("infinite", 9)]
    loose = pendula.linearize(system, {"x": 0.0, "y": 0.0}, geometric=False)
    assert np.abs(loose.K).max() < 1e-12
    assert pendula.linearize(system, {"x": 0.0, "y": 0.0}).coordinates == ("x", "y")


def test_hanging_pendulum_in_maximal_coordinates_has_its_frequency() -> None:
    system = pendula.compile_system(library.pendulum(), "maximal")
    found = pendula.linear.spectrum(system, {"theta": 0})
    np.testing.assert_allclose(found.values, [1j * np.sqrt(1.5 * 9.81), -1j * np.sqrt(1.5 * 9.81)], rtol=1e-14)
    loose = pendula.linear.spectrum(pendula.linearize(system, {"theta": 0}, geometric=False))
    assert np.abs(loose.values).max() < 1e-6


def pose_of(name: str) -> tuple[Model, dict[str, float]]:
    """A linkage and a pose at which gravity balances it, found by bisection on the potential's slope along the crank."""
    if name == "hanging chain":
        return library.chain(links=3, length=[1.0, 0.7, 0.4], mass=[1.0, 0.5, 2.0]), {}
    model = library.four_bar() if name == "four-bar" else library.slider_crank()
    system = pendula.compile_system(model)

    def state_at(crank: float) -> object:
        still = dict.fromkeys(system.layout.speeds, 0.0)
        return pendula.assemble(system, {**still, "crank": crank}, keep=("crank",)).state

    def potential(crank: float) -> float:
        state = state_at(crank)
        return float(system.energies(state.q, state.v).potential)  # type: ignore[attr-defined]

    def slope(crank: float, h: float = 1e-4) -> float:
        return potential(crank + h) - potential(crank - h)

    grid = np.linspace(-0.6, 1.4, 21)
    values = [slope(x) for x in grid]
    k = next(i for i in range(20) if values[i] < 0 <= values[i + 1])
    from scipy.optimize import brentq

    return model, {"crank": float(brentq(slope, grid[k], grid[k + 1], xtol=1e-14))}


@lru_cache
def balanced(name: str) -> tuple[Model, dict[str, float]]:
    """The same brought to balance by Newton's method on the forces."""
    from pendula.analysis.stability.following import follow

    model, near = pose_of(name)
    if not near:
        return model, near
    system = pendula.compile_system(model)
    still = dict.fromkeys(system.layout.speeds, 0.0)
    state = pendula.assemble(system, {**still, **near}, keep=("crank",)).state
    point = follow(system, state, None, system.parameters)
    assert point is not None
    return model, {name: point[name] for name in system.layout.coordinates}


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "hanging chain"])
def test_constrained_linearization_is_the_same_by_every_formulation(name: str) -> None:
    model, at = balanced(name)
    found = {}
    for formulation in ("lagrange", "projection", "maximal"):
        system = pendula.compile_system(model, formulation)
        found[formulation] = pendula.linear.spectrum(system, at)
    reference = found["lagrange"].values
    assert np.abs(reference).max() > 1
    for spectrum in found.values():
        same_roots(spectrum.values, reference)
        assert spectrum.residuals.max() < 1e-10
    system = pendula.compile_system(model, "maximal")
    loose = pendula.linear.spectrum(pendula.linearize(system, at, geometric=False)).values
    assert np.abs(np.sort(np.abs(loose)) - np.sort(np.abs(reference))).max() > 1e-2 * np.abs(reference).max()


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_linkage_frequency_follows_from_energies_along_the_crank(name: str) -> None:
    """One freedom: omega^2 = V''/M with V and M from energies on the closed loop, by differences of order 4."""
    model, at = balanced(name)
    system = pendula.compile_system(model)

    def energies(crank: float, rate: float = 0.0) -> tuple[float, float]:
        given = {**dict.fromkeys(system.layout.speeds, 0.0), **at, "crank": crank, "crank_dot": rate}
        state = pendula.assemble(system, given, keep=("crank", "crank_dot")).state
        kinetic, potential = system.energies(state.q, state.v)
        return float(kinetic), float(potential)

    h, c = 2e-2, at["crank"]
    V = [energies(c + k * h)[1] for k in range(-3, 4)]
    weights = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
    stiffness = float(weights @ V) / h**2
    mass = 2 * energies(c, 1.0)[0]
    value = pendula.linear.spectrum(system, at).values[0]
    assert abs(value) ** 2 == pytest.approx(stiffness / mass, rel=1e-6)


def test_pencil_by_qz_agrees_with_the_null_space() -> None:
    model, at = balanced("four-bar")
    for formulation in ("lagrange", "maximal"):
        system = pendula.compile_system(model, formulation)
        full = pendula.linear.pencil(system, at)
        found = pendula.linear.spectrum(full)
        same_roots(found.values, pendula.linear.spectrum(system, at).values, 1e-6)
        others = sum(root.multiplicity for root in found.others)
        assert others == 3 * system.loop_rows
        assert len(full.names) == len(full.E) == len(found.values) + others
        assert all(root.label.startswith(("infinite", "artefact")) for root in found.others)


# --- exact derivatives against differences ------------------------------------------------------------------


def rotor_chain(seed: int) -> tuple[System, dict[str, float]]:
    """Random bodies on hinges and sliders with springs and dampers about the pose zero; some carry spinning rotors.

    Springs are stiff against weight, and every spring's rest length makes zero an equilibrium: forces are added that
    balance weight and the rotors' spin there.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 5))
    bodies: list[object] = []
    joints: list[object] = []
    forces: list[object] = []
    rates: dict[str, float] = {}
    for i in range(count):
        parent = "ground" if i == 0 else f"b{rng.integers(0, i)}"
        box = [float(x) for x in rng.uniform(0.2, 0.8, size=3)]
        bodies.append({"name": f"b{i}", "box": {"mass": float(rng.uniform(0.5, 2)), "size": box}})
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        side = {"body": parent, "position": [float(x) for x in rng.uniform(-0.5, 0.5, size=3)]}
        axis = [float(x) for x in rng.normal(size=3)]
        joints.append({"name": f"q{i}", "type": kind, "axis": axis, "parent": side, "child": f"b{i}"})
        stiffness, damping = rng.uniform(20, 60), rng.uniform(0, 2) * (rng.random() < 0.7)
        value = f"-{stiffness:.6f}*q{i} - {damping:.6f}*q{i}_dot - 3*sin(q{i})**3"
        forces.append({"type": "generalized", "coordinate": f"q{i}", "value": value})
        if rng.random() < 0.6:
            bodies.append({"name": f"r{i}", "mass": 0.5, "inertia": [0.02, 0.02, 0.04]})
            joints.append({"name": f"s{i}", "type": "revolute", "parent": f"b{i}", "child": f"r{i}"})
            rates[f"s{i}_dot"] = float(rng.uniform(5, 30))
    model = Model(name=f"random {seed}", gravity=[0, 0, 0], bodies=bodies, joints=joints, forces=forces)
    return pendula.compile_system(model), rates


WEIGHTS = np.array([-1 / 60, 3 / 20, -3 / 4, 0, 3 / 4, -3 / 20, 1 / 60])


def by_differences(system: System, model: pendula.results.LinearModel, h: float = 5e-3) -> Array:
    """Lower half of A from accelerations by differences of order 6, along the model's coordinates."""
    n = len(model.M)
    columns = []
    for k in range(2 * n):
        step = np.zeros(2 * n)
        step[k] = h
        total = np.zeros(len(system.layout.speeds))
        for weight, j in zip(WEIGHTS, range(-3, 4), strict=True):
            if weight:
                q, v = displaced(system, model.at, model.Z, j * step[:n], j * step[n:])
                total += weight * system.accelerations(q, v, inputs=model.at.inputs, parameters=model.at.parameters)
        columns.append(total / h)
    return np.array(columns).T


@pytest.mark.parametrize("seeds", slow_too([range(4)], [range(k, k + 10) for k in range(4, 104, 10)]), ids=str)
def test_random_damped_and_gyroscopic_systems(seeds: range) -> None:
    """4 systems, 104 with the slow ones: A against differences of order 6, and the residual of every eigenpair."""
    for seed in seeds:
        system, rates = rotor_chain(seed)
        model = pendula.linearize(system, rates)
        found = by_differences(system, model)
        exact = model.A[len(model.M) :]
        assert np.abs(found - exact).max() <= HIGH_ORDER * np.abs(exact).max(), seed
        spectrum = pendula.linear.spectrum(model)
        assert spectrum.residuals.max() < 1e-10, seed
        assert spectrum.backward_errors.max() < 1e-12, seed
        zeros = [x for x, label in zip(spectrum.values, spectrum.labels, strict=True) if label.startswith("zero")]
        assert len(zeros) == 2 * len(rates), seed  # every rotor turns freely
        assert np.all(np.array(zeros) == 0)
        same_roots(spectrum.values, np.linalg.eigvals(model.A), 1e-5)  # the defective zeros of eig are good to 1e-8


def test_random_mechanisms_with_springs_at_their_equilibria() -> None:
    """Library-like random trees in the plane and in space, brought to balance by a spring on every speed."""
    count = 0
    for seed in range(9):
        base = random_mechanism(seed, driven=False, forces=False, closed=False)
        if any(joint.quaternion() for joint in base.tree):
            continue
        springs = [
            {"type": "generalized", "coordinate": c.name, "value": f"-300*{c.name} - 4*{c.name}_dot"}
            for c in base.coordinates
        ]
        system = pendula.compile_system(base.with_changes(forces=springs, gravity=[0, 0, 0], inputs={}))
        try:
            model = pendula.linearize(system, {})
        except (SingularPose, NotAnEquilibrium):
            continue  # a chart that is singular at zero, where a spring on one of its angles has no balance
        count += 1
        exact = model.A[len(model.M) :]
        found = by_differences(system, model, 2e-3)
        assert np.abs(found - exact).max() <= 1e-5 * np.abs(exact).max(), seed
        assert pendula.stability(model).verdict == "asymptotically stable", seed
    assert count >= 4


def test_steady_spin_of_a_ball_joint_is_seen_from_axes_that_do_not_spin() -> None:
    """Sleeping top: the roots are the rates of precession Omega, with I1 Omega^2 - I3 w Omega + m g l = 0.

    In axes that rotate with the body (all of the rotation about an axis of the world) they are w - Omega.
    """
    system = pendula.compile_system(library.heavy_top())
    w, I1, I3, mgl = 60.0, 0.25 + 0.04, 0.08, 9.81 * 0.5
    slow, fast = sorted(np.roots([I1, -I3 * w, mgl]))
    turning = pendula.equilibria.equilibrium_at(system, rates={"pivot about world z": w})
    for point, of in (({"pivot_wz": w}, (slow, fast)), (turning, (w - fast, w - slow))):
        found = pendula.linear.spectrum(system, point)
        expected = [0, 0, *(1j * sign * rate for rate in of for sign in (1, -1))]
        same_roots(found.values, np.array(expected), 1e-12)


def test_free_body_turning_about_its_middle_axis() -> None:
    """Euler: roots +-W sqrt((I3 - I2)(I2 - I1)/(I1 I3))."""
    system = pendula.compile_system(library.free_body())
    I1, I2, I3 = 0.36 + 0.04, 1 + 0.04, 1 + 0.36
    found = pendula.linear.spectrum(system, {"box_wy": 5.0})
    assert max(found.values.real) == pytest.approx(5 * np.sqrt((I3 - I2) * (I2 - I1) / (I1 * I3)), rel=1e-12)


def test_differences_are_offered_for_loops_and_balls() -> None:
    model, at = balanced("four-bar")
    for system, point in (
        (pendula.compile_system(model), at),
        (pendula.compile_system(model, "maximal"), at),
        (pendula.compile_system(library.heavy_top()), {}),
    ):
        found = pendula.linearize(system, point, method="differences")
        assert 0 < found.error < 1e-6
        assert found.method == "differences"
        same_roots(pendula.linear.spectrum(found).values, pendula.linear.spectrum(system, point).values, 1e-3)


# --- singular charts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phi", [0.0, 0.9, -2.0])
def test_singular_chart_of_the_spherical_pendulum(phi: float) -> None:
    """Paper 000: at theta = 0 the chart (theta, phi) is singular; it is named, and the regular result is given."""
    system = pendula.compile_system(library.spherical_pendulum())
    model = pendula.linearize(system, {"theta": 0.0, "phi": phi})
    assert "phi" in model.chart
    assert model.coordinates == ("bob_x", "bob_y")
    found = pendula.linear.spectrum(model)
    exact = np.array([1, 1, -1, -1]) * 3.132091952673165j
    assert np.linalg.norm(np.sort_complex(found.values) - np.sort_complex(exact)) <= 1e-14
    assert [(root.label.split(":")[0], root.multiplicity) for root in found.others] == [("undetermined", 2)]
    top = pendula.linear.spectrum(system, {"theta": np.pi, "phi": phi})
    np.testing.assert_allclose(sorted(top.values.real), [-3.132091952673165] * 2 + [3.132091952673165] * 2, rtol=1e-12)


def test_singular_chart_of_euler_angles() -> None:
    """A symmetric body in ZYZ angles, hanging along its own axis: the same roots as with a quaternion."""
    body = {"name": "body", "mass": 1.3, "com": [0, 0, -0.4], "inertia": [0.2, 0.3, 0.1]}
    ball = {"name": "ball", "type": "spherical", "parent": "ground", "child": "body"}

    def made(**more: object) -> System:
        return pendula.compile_system(Model(name="body", gravity=[0, 0, -9.81], bodies=[body], joints=[ball | more]))

    euler = made(orientation="zyz", names=["phi", "theta", "psi"])
    plain = pendula.linear.spectrum(made(), {})
    found = pendula.linear.spectrum(euler, {"phi": 0.4})
    assert "singular" in found.model.chart
    same_roots(found.values, plain.values, 1e-8)
    expected = np.sqrt(1.3 * 9.81 * 0.4 / (np.array([0.2, 0.3]) + 1.3 * 0.16))
    np.testing.assert_allclose(sorted({round(x, 9) for x in plain.values.imag if x > 0}), sorted(expected), rtol=1e-8)


def test_forces_across_a_singular_point_are_refused() -> None:
    """A force that pushes across the displacement cannot be told from (theta, phi) at theta = 0."""
    push = {"type": "generalized", "coordinate": "phi", "value": "0.8*sin(theta)**2"}
    system = pendula.compile_system(library.spherical_pendulum().with_changes(forces=[push]))
    with pytest.raises(SingularPose, match="across"):
        pendula.linearize(system, {"theta": 0.0})


# --- refusals ---------------------------------------------------------------------------------------------------


def test_a_point_that_is_no_equilibrium_is_refused_with_what_is_left() -> None:
    system = pendula.compile_system(library.pendulum(kind="point"))
    with pytest.raises(NotAnEquilibrium, match=r"(?s)theta_dot.*find_equilibria") as caught:
        pendula.linearize(system, {"theta": 1.0})
    assert caught.value.residual > 0.1
    moved = equilibrium_at(system, {"theta": 0.0})
    with pytest.raises(NotAnEquilibrium):
        pendula.linearize(pendula.compile_system(library.cart_pole()), {"theta": 0.0}, inputs={"F": 2.0})
    assert pendula.linearize(system, moved, parameters={"l": 2.0}).M[0, 0] == pytest.approx(4.0)


def test_coefficients_that_depend_on_time_are_refused() -> None:
    system = pendula.compile_system(library.driven_chain(links=1))
    with pytest.raises(NotSupported, match="floquet"):
        pendula.linearize(system, {})


def test_loops_at_a_dead_point_are_refused() -> None:
    """A flat parallelogram: the linkage can leave it on two ways."""
    model = library.four_bar(lengths=(1.0, 2.0, 1.0, 2.0), start="60deg").with_changes(gravity=[0, 0, 0])
    system = pendula.compile_system(model)
    with pytest.raises(SingularPose, match="lose rank"):
        pendula.linearize(system, {"crank": np.pi / 2, "coupler": np.pi / 2, "rocker": np.pi / 2})


def test_a_motion_without_mass_is_refused() -> None:
    """At theta = 0 the bead's speed along the cusp of (theta^2, theta^3) has no mass, and moves it all the same."""
    joint = {
        "name": "wire",
        "type": "coordinates",
        "coordinates": ["s"],
        "position": ["s**3", "s**2", 0],
        "parent": "ground",
        "child": "bead",
    }
    bead = Model(
        name="cusp",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "bead", "point": {"mass": 1.0}}],
        joints=[joint],
        initial={"s": 0.5},
    )
    with pytest.raises(SingularPose, match="no mass"):
        pendula.linearize(pendula.compile_system(bead), {"s": 0.0})


def test_bad_arguments_are_named() -> None:
    system = pendula.compile_system(library.pendulum())
    with pytest.raises(UsageError, match="exact"):
        pendula.linearize(system, {}, method="guess")
    with pytest.raises(UsageError, match="another system"):
        pendula.linearize(system, equilibrium_at(pendula.compile_system(library.cart_pole()), {}))
    with pytest.raises(PendulaError, match="there is no"):
        pendula.linearize(system, {"thta": 0.0})
    with pytest.raises((UsageError, ModelError)):
        pendula.linearize(system, {}, parameters={"m": -1.0})


# --- many, large, outputs ---------------------------------------------------------------------------------------


def test_many_parameter_values_agree_with_single_calls() -> None:
    system = pendula.compile_system(library.double_pendulum())
    k1, c1 = np.linspace(500, 1500, 7), np.linspace(0, 5, 7)
    many = pendula.linear.linearize_many(system, {}, parameters={"k1": k1, "c1": c1})
    assert many.balanced.all()
    for k in range(7):
        single = pendula.linearize(system, {}, parameters={"k1": k1[k], "c1": c1[k]})
        np.testing.assert_allclose(many.A[k], single.A, rtol=1e-12, atol=1e-12)
        same_roots(many.values[k], pendula.linear.spectrum(single).values, 1e-10)


def test_dependent_parameters_follow_in_many() -> None:
    """m = 5/g in the double pendulum: with other g the masses change, too."""
    system = pendula.compile_system(library.double_pendulum())
    many = pendula.linear.linearize_many(system, {}, parameters={"g": np.array([16.1, 32.2])})
    assert many.M[0, 0, 0] == pytest.approx(2 * many.M[1, 0, 0])


def test_many_states_and_those_that_are_no_equilibria() -> None:
    system = pendula.compile_system(library.pendulum(kind="point"))
    many = pendula.linear.linearize_many(system, np.array([[0.0], [np.pi], [1.0]]))
    assert many.balanced.tolist() == [True, True, False]
    assert np.isnan(many.values[2]).all()
    w = np.sqrt(9.81)
    np.testing.assert_allclose(many.values[0].imag, [w, -w], rtol=1e-12)
    np.testing.assert_allclose(sorted(many.values[1].real), [-w, w], rtol=1e-12)


def test_many_with_closed_loops() -> None:
    model, at = balanced("four-bar")
    system = pendula.compile_system(model)
    rho = np.array([0.5, 1.0, 3.0])  # density scales masses and weights alike
    many = pendula.linear.linearize_many(system, at, parameters={"rho": rho})
    single = pendula.linear.spectrum(system, at).values
    for k in range(3):
        same_roots(many.values[k], single, 1e-9)
    np.testing.assert_allclose(many.M[:, 0, 0] / rho, many.M[1, 0, 0], rtol=1e-10)


def test_two_hundred_links_approach_the_hanging_rope() -> None:
    """n = 200 by the recursion: frequencies j/2 sqrt(g/L) to about 1/n^2, undamped exactly."""
    n = 200
    system = pendula.compile_system(library.chain(links=n, length=1.0 / n, mass=1.0 / n))
    found = pendula.linear.spectrum(system, {})
    assert np.all(found.values.real == 0)
    expected = jn_zeros(0, 3) / 2 * np.sqrt(9.81)
    np.testing.assert_allclose(found.values[::2].imag[:3], expected, rtol=2e-3)
    assert found.backward_errors.max() < 1e-12


def test_result_carries_names_units_and_point() -> None:
    model = pendula.linearize(pendula.compile_system(library.cart_pole()), {"theta": 0})
    assert (model.coordinates, model.speeds, model.inputs) == (("x", "theta"), ("x_dot", "theta_dot"), ("F",))
    assert (model.units["x"], model.units["theta_dot"]) == ("m", "rad/s")
    assert model.residual == 0.0
    text, latex = str(model), model.latex()
    assert "x, theta" in text
    assert latex.count("bmatrix") == 8
    np.testing.assert_allclose(model.B[:2], 0)
    np.testing.assert_allclose(model.M @ model.B[2:], [[1], [0]], atol=1e-14)


def test_control_is_asked_for_by_name_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pendula.linearize(pendula.compile_system(library.cart_pole()), {"theta": 0})
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(UsageError, match="pip install control"):
        model.to_control()
    given: dict[str, object] = {}

    def state_space(*matrices: object, **names: object) -> str:
        given.update(names, matrices=matrices)
        return "made"

    monkeypatch.setitem(sys.modules, "control", SimpleNamespace(ss=state_space))
    assert model.to_control() == "made"
    assert given["states"] == ["x", "theta", "x_dot", "theta_dot"]
    assert given["inputs"] == ["F"]
    assert given["outputs"] == ["x", "theta"]
    np.testing.assert_array_equal(given["matrices"][0], model.A)  # type: ignore[index]
    np.testing.assert_array_equal(given["matrices"][1], model.B)  # type: ignore[index]


def test_symbols_are_refused_for_open_loops_and_many_freedoms() -> None:
    with pytest.raises(UsageError, match="does not satisfy the constraint"):
        pendula.linear.linearize_symbolic(library.four_bar(), {})
    with pytest.raises(NotSupported, match="degrees of freedom"):
        pendula.linear.linearize_symbolic(library.chain(links=7))
    with pytest.raises(UsageError, match="not an equilibrium"):
        pendula.linear.linearize_symbolic(library.pendulum(), {"theta": 1})
    with pytest.raises(UsageError, match="no parameter"):
        pendula.linear.linearize_symbolic(library.pendulum(), {"theta": "nonsense"})


def test_symbolic_model_agrees_with_numbers() -> None:
    model = library.hoop_bead()
    found = pendula.linear.linearize_symbolic(model, {"theta": "acos(g/(r*Omega**2))"})
    values = {s: model.parameter_values[str(s)] for s in found.K.free_symbols}
    number = pendula.linearize(pendula.compile_system(model), {"theta": float(np.arccos(9.81 / 20))})
    assert float(found.K.subs(values)[0]) == pytest.approx(number.K[0, 0], rel=1e-12)
    assert [str(x) for x in found.conditions] == ["Omega**2*r > g"]
