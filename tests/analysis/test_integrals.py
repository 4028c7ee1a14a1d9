"""Integrals of motion in every chart, along runs, and Routh's reduction to the other coordinates.

Sources: Goldstein, Classical Mechanics (3rd ed.), sections 5.7 (heavy top) and 8.3 (Routh's procedure).
"""

import numpy as np
import pytest

import pendula
from pendula.analysis.symmetry.integrals import momenta
from pendula.errors import NotSupported, UsageError
from pendula.model import Model
from tests.helpers.random_mechanisms import random_mechanism

TOLERANCE = 1e-10
KEPT = 1e-7
"""drift of a momentum at tolerance 1e-10: no run is longer than a few hundred steps"""
SAME = 1e-7
"""difference of a reduced and a full run, both at tolerance 1e-11, after a few seconds"""


def top(euler: str | None, **changes: object) -> Model:
    joint = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}
    extra = {"orientation": euler, "names": ["phi", "theta", "psi"]} if euler else {}
    return pendula.library.heavy_top().with_changes(joints=[joint | extra], initial={}, **changes)


def start(euler: str | None) -> dict[str, float]:
    """One state of the top in several charts: tilted about x, spinning."""
    if euler is None:
        return {"pivot_q0": np.cos(0.25), "pivot_q1": np.sin(0.25), "pivot_wx": 0.7, "pivot_wz": 40.0}
    return {"theta": 0.5, "theta_dot": 0.7, "psi_dot": 40.0} if euler == "zxz" else {}


def test_momenta_are_the_same_in_every_chart() -> None:
    values = [pendula.integrals(top(e)).values(start(e)) for e in (None, "zxz")]
    C = 0.08
    for found in values:
        assert found["L_top"] == pytest.approx(C * 40.0, rel=1e-13)
        assert found["L_z"] == pytest.approx(C * 40.0 * np.cos(0.5), rel=1e-13)
    assert values[0]["E"] == pytest.approx(values[1]["E"], rel=1e-13)


@pytest.mark.parametrize("euler", [None, "zxz", "zyz", "xyz", "yzx"])
def test_momenta_of_the_top_are_found_and_kept_in_every_chart(euler: str | None) -> None:
    system = pendula.compile_system(top(euler))
    found = pendula.integrals(system)
    assert found.names == ("L_z", "L_top", "E")
    cyclic = {None: ("", ""), "zxz": ("phi", "psi"), "zyz": ("phi", "psi"), "xyz": ("", "psi"), "yzx": ("", "")}
    assert (found["L_z"].coordinate, found["L_top"].coordinate) == cyclic[euler]
    begin = {"theta": 0.6, "psi": 0.3, "psi_dot": 20.0, "theta_dot": 1.0} if euler else start(None)
    run = pendula.simulate(system, 1.0, initial_state=begin, tol=TOLERANCE)
    assert max(found.drift(run).values()) < KEPT
    for coordinate in filter(None, cyclic[euler]):
        k = system.layout.speeds.index(f"{coordinate}_dot")
        momentum = np.einsum("tij,tj->ti", system.mass_matrix(run.q), run.v)[:, k]
        np.testing.assert_allclose(found.values(run)[found[f"p_{coordinate}"].name], momentum, rtol=1e-10)


def test_formulas_are_those_of_the_book() -> None:
    import sympy

    found = pendula.integrals(top("zxz"))
    m, l, r, theta, a, b = sympy.symbols("m l r theta phi_dot psi_dot")
    A, C = m * (r**2 / 4 + l**2), m * r**2 / 2
    book = {
        "L_z": (A * sympy.sin(theta) ** 2 + C * sympy.cos(theta) ** 2) * a + C * b * sympy.cos(theta),
        "L_top": C * (b + a * sympy.cos(theta)),
    }  # Goldstein, eqs 5.52 and 5.53
    for name, expected in book.items():
        assert sympy.simplify(sympy.sympify(found[name].formula) - expected) == 0


def gimbals(axis: int) -> Model:
    """A driven rotor in gimbals that turn about z, or with axis -1 about -z."""
    return Model(
        name="gimbals",
        gravity=[0, 0, -9.81],
        parameters={"W": 200.0},
        bodies=[
            {"name": "outer", "mass": 0.5, "inertia": [0.01, 0.01, 0.015]},
            {"name": "inner", "mass": 0.3, "inertia": [0.005, 0.006, 0.008]},
            {"name": "rotor", "mass": 1, "inertia": [0.002, 0.004, 0.002]},
        ],
        joints=[
            {"name": "al", "type": "revolute", "axis": [0, 0, axis], "parent": "ground", "child": "outer"},
            {"name": "be", "type": "revolute", "axis": [1, 0, 0], "parent": "outer", "child": "inner"},
            {
                "name": "sp",
                "type": "revolute",
                "axis": [0, 1, 0],
                "parent": "inner",
                "child": "rotor",
                "motion": "W*t + sin(t)",
            },
        ],
    )


def driven_pole() -> Model:
    return Model(
        name="cart with a driven pole",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "cart", "mass": 2}, {"name": "pole", "rod": {"mass": 1, "length": 0.8}}],
        joints=[
            {"name": "x", "type": "prismatic", "parent": "ground", "child": "cart"},
            {"name": "theta", "type": "revolute", "parent": "cart", "child": "pole", "motion": "sin(3*t)"},
        ],
    )


WRITTEN = {
    "gimbals about z": lambda: gimbals(1),
    "gimbals about -z": lambda: gimbals(-1),
    "cart with a driven pole": driven_pole,
    **{name: lambda name=name: name for name in ("cart-pole", "spherical-pendulum", "spatial-rod", "gyroscope")},
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_momenta_equal_the_sums_over_the_bodies(name: str) -> None:
    import sympy

    found = pendula.integrals(WRITTEN[name]())
    system, rng, seen = found.system, np.random.default_rng(3), 0
    state = system.initial_state()
    q, v = state.q + rng.uniform(0.1, 0.9, len(state.q)), rng.normal(size=len(state.v))
    state = pendula.State(0.37, q, v, state.layout)
    values = system.model.parameter_values | state.as_dict() | {"t": state.t}
    for one in found:
        if one.coordinate:
            formula = sympy.sympify(one.formula, locals={name: sympy.Symbol(name) for name in values})
            assert float(formula.subs(values)) == pytest.approx(found.values(state)[one.name], rel=1e-12)
            seen += 1
    assert seen


def test_a_driven_rotor_carries_momentum() -> None:
    """L_z = (0.015 + 0.008 sin^2 be + ...) al' + C W sin be: the rotor's share is C W sin be, with C = 0.004."""
    found = pendula.integrals(gimbals(1).with_changes(parameters={"W": 50.0}))
    assert found.values({"be": 0.6})["L_z"] == pytest.approx(0.004 * (50.0 + 1.0) * np.sin(0.6), rel=1e-13)
    assert "W" in found["L_z"].formula


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 100), marks=pytest.mark.slow)], ids=["few", "many"])
def test_random_spatial_trees_keep_what_their_description_says(seeds: range) -> None:
    """Random mechanisms of ball, universal and free joints: the momenta found are kept, whatever the charts."""
    seen = 0
    for seed in seeds:
        model = random_mechanism(seed, driven=False, forces=False, closed=False)
        if seed % 2:
            model = model.with_changes(gravity=[0, 0, 0])
        if not any(j.type in ("spherical", "free", "universal") for j in model.joints) or not momenta(model):
            continue
        found = pendula.integrals(model)
        rng = np.random.default_rng(seed)
        state = found.system.initial_state()
        state = pendula.State(0.0, state.q, rng.normal(size=len(state.v)), state.layout)
        run = pendula.simulate(found.system, 0.3, initial_state=state, tol=TOLERANCE, samples=5)
        if not run.ok:
            continue
        seen += 1
        assert max(found.drift(run).values()) < KEPT, seed
    assert seen >= len(seeds) // 6


def test_integrals_that_forces_break_are_not_claimed() -> None:
    def names(**changes: object) -> tuple[str, ...]:
        return pendula.integrals(pendula.library.heavy_top().with_changes(**changes)).names

    assert names() == ("L_z", "L_top", "E")
    drag = {"type": "friction", "joint": "pivot", "coefficient": 0.1}
    assert names(forces=[drag]) == ()
    assert names(forces=[{"type": "force", "body": "top", "vector": [0, 0, 2.0], "at": "com"}]) == ("L_z", "L_top")
    assert names(forces=[{"type": "force", "body": "top", "vector": [1.0, 0, 0], "at": "com"}]) == ("L_top",)
    body = {"name": "top", "mass": 1, "com": [0, 0, 0.5], "inertia": [0.01, 0.02, 0.025]}
    assert names(bodies=[body]) == ("L_z", "E")
    assert names(parameters={"m": 1.0, "l": 0.5, "r": 0.4, "g": 0.0}) == ("L_x", "L_y", "L_z", "L_top", "E")


def governor(value: str) -> Model:
    """Two arms on a vertical shaft, and a coupling; the hinge of one arm has friction."""
    arms = [{"name": name, "point": {"mass": 1, "at": [0, 0, -0.5]}} for name in "AB"]
    return Model(
        name="governor",
        gravity=[0, 0, -9.81],
        bodies=[{"name": "shaft", "mass": 1, "inertia": [0.1, 0.1, 0.1]}, *arms],
        joints=[
            {"name": "phi", "type": "revolute", "parent": "ground", "child": "shaft"},
            {"name": "a", "type": "revolute", "axis": [0, -1, 0], "parent": "shaft", "child": "A"},
            {"name": "b", "type": "revolute", "axis": [0, 1, 0], "parent": "shaft", "child": "B"},
            {"name": "sleeve", "type": "coupling", "value": value},
        ],
        forces=[{"type": "friction", "joint": "a", "coefficient": 0.1}],
        initial={"phi_dot": 3.0, "a": 0.7, "b": 0.7},
    )


def test_a_coupling_of_coordinates_that_a_rotation_leaves_alone_keeps_its_momentum() -> None:
    """L_z = (0.1 + (sin^2 a + sin^2 b)/4) phi', with arms of 1 kg and 0.5 m on a shaft of 0.1 kg m^2."""
    found = pendula.integrals(governor("a - b"))
    assert found.names == ("L_z",)
    run = pendula.simulate(found.system, 2.0, tol=TOLERANCE, samples=5)
    expected = (0.1 + (np.sin(run["a"]) ** 2 + np.sin(run["b"]) ** 2) / 4) * run["phi_dot"]
    np.testing.assert_allclose(found.values(run)["L_z"], expected, rtol=1e-10)
    np.testing.assert_allclose(expected, expected[0], rtol=KEPT)
    assert np.ptp(run["a"]) > 0.1
    assert "cos" in found["L_z"].formula or "sin" in found["L_z"].formula
    assert pendula.integrals(governor("a - 0.1*phi - 0.7")).names == ()


def test_what_acts_on_an_absolute_angle_acts_from_ground() -> None:
    """A constant torque 0.3 on an angle measured from ground: L_z = 0.3 t, so it is no integral."""
    rods = [{"name": name, "rod": {"mass": 1, "length": 1}} for name in "AB"]
    second = {"name": "b", "type": "revolute", "parent": {"body": "A", "at": "end"}, "child": "B"}
    torque = {"type": "generalized", "coordinate": "b", "value": 0.3}
    for measured, names in (({}, ("L_z",)), ({"measured_from": "ground"}, ())):
        model = Model(
            name="rods",
            gravity=[0, 0, 0],
            bodies=rods,
            joints=[{"name": "a", "type": "revolute", "parent": "ground", "child": "A"}, second | measured],
            forces=[torque],
        )
        assert pendula.integrals(model).names == names


# --- Routh's reduction --------------------------------------------------------------------------------------


def rod() -> Model:
    at = {"phi": 0.3, "theta": 0.7, "psi": 0.2, "phi_dot": 2.0, "psi_dot": 1.0}
    return pendula.library.spatial_rod().with_changes(initial=at)


def ball_on_cart() -> Model:
    """A cart on a rail along x with a rod on a universal joint, and a spinning wheel: x and the wheel's angle are cyclic."""
    return Model(
        name="cart with a rod and a wheel",
        gravity=[0, 0, -9.81],
        bodies=[
            {"name": "cart", "mass": 2.0},
            {"name": "rod", "rod": {"mass": 1.0, "length": 0.8, "axis": [0, 0, -1], "diameter": 0.05}},
            {"name": "wheel", "disc": {"mass": 0.5, "radius": 0.2, "normal": [0, 1, 0]}},
        ],
        joints=[
            {"name": "x", "type": "prismatic", "parent": "ground", "child": "cart"},
            {"name": "hook", "type": "universal", "parent": "cart", "child": "rod"},
            {
                "name": "spin",
                "type": "revolute",
                "axis": [0, 1, 0],
                "parent": {"body": "rod", "at": "tip"},
                "child": "wheel",
            },
        ],
        initial={"hook_1": 0.5, "hook_2": -0.4, "spin_dot": 30.0, "x_dot": 0.3},
    )


REDUCED = {
    "spherical pendulum": (pendula.library.spherical_pendulum, ("phi",)),
    "heavy top": (lambda: _started_top(), ("phi", "psi")),
    "rod of paper 002": (rod, ("phi",)),
    "cart-pole": (pendula.library.cart_pole, ("x",)),
    "cart with a rod and a wheel": (ball_on_cart, ("x", "spin")),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reduced_runs_equal_those_of_the_full_mechanism(name: str) -> None:
    make, ignored = REDUCED[name]
    system = pendula.compile_system(make())
    reduced = pendula.equilibria.routh(system)
    assert reduced.ignored == ignored
    assert not set(ignored) & set(reduced.system.layout.coordinates)
    full = pendula.simulate(system, 2.0, tol=1e-11, samples=41)
    run = pendula.simulate(reduced.system, 2.0, initial_state=reduced.state(), tol=1e-11, samples=41)
    assert run.ok
    q, v = reduced.recover(run, initial_state={n: float(full[n][0]) for n in ignored})
    scale = np.abs(full.v).max()
    np.testing.assert_allclose(q, full.q, atol=SAME * max(1.0, np.abs(full.q).max()))
    np.testing.assert_allclose(v, full.v, atol=SAME * scale)
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-8 * run.energy.scale)
    assert run.energy.total[0] == pytest.approx(full.energy.total[0], abs=1e-10 * full.energy.scale)


def _started_top() -> Model:
    return top("zxz").with_changes(initial={"theta": 0.5, "psi_dot": 40.0, "phi_dot": 1.0})


def test_equilibria_of_the_reduced_mechanism_are_steady_motions_of_the_full_one() -> None:
    """Spherical pendulum at p_phi: conical motion with phi' = sqrt(g/(l cos theta)), and Routh's potential."""
    p = 0.5
    reduced = pendula.equilibria.routh("spherical-pendulum", momenta={"phi": p})
    (one,) = pendula.find_equilibria(reduced.system, box={"theta": (0.1, 3.0)})
    theta = one["theta"]
    rate = float(reduced.rates(one.q, one.v)[0])
    assert rate == pytest.approx(np.sqrt(9.81 / np.cos(theta)), rel=1e-12)
    assert one.potential == pytest.approx(p**2 / (2 * np.sin(theta) ** 2) - 9.81 * np.cos(theta), rel=1e-12)
    assert pendula.stability(reduced.system, one).verdict == "stable"
    # small motion about it: theta'' = -(1 + 3 cos^2) phi'^2, as in the full mechanism
    found = pendula.linear.spectrum(reduced.system, one).values.imag.max()
    assert found == pytest.approx(rate * np.sqrt(1 + 3 * np.cos(theta) ** 2), rel=1e-11)
    full = pendula.linear.spectrum("spherical-pendulum", {"theta": theta, "phi_dot": rate})
    assert full.values.imag.max() == pytest.approx(found, rel=1e-11)


def test_reduced_top_is_that_of_the_book() -> None:
    """A theta'' of Goldstein's eq. 5.57 with momenta a A = p_psi, b A = p_phi, at random angles."""
    reduced = pendula.equilibria.routh(_started_top())
    p, s = reduced.momenta["p_phi"], reduced.momenta["p_psi"]
    A, mgl = 0.29, 9.81 * 0.5
    for x in np.random.default_rng(1).uniform(0.2, 2.8, size=5):
        u = (p - s * np.cos(x)) / np.sin(x)
        force = -(u * (s * np.sin(x) - u * np.cos(x)) / np.sin(x) / A - mgl * np.sin(x))
        found = float(reduced.system.accelerations([x], [0.0])[0])
        assert found == pytest.approx(force / A, rel=1e-10, abs=1e-9)


def test_what_cannot_be_reduced_says_so() -> None:
    with pytest.raises(NotSupported, match="no coordinate"):
        pendula.equilibria.routh("heavy-top")
    with pytest.raises(UsageError, match='"theta" is not a cyclic coordinate; those are: phi'):
        pendula.equilibria.routh("spherical-pendulum", ["theta"])
    with pytest.raises(UsageError, match="p_phi"):
        pendula.equilibria.routh("spherical-pendulum", momenta={"psi": 1.0})
    with pytest.raises(NotSupported):
        pendula.equilibria.routh(pendula.compile_system("spherical-pendulum", "maximal"))


@pytest.mark.parametrize("measured", ["parent", "ground"])
def test_a_motor_that_leads_an_angle_from_ground_turns_the_whole(measured: str) -> None:
    """Its torque acts from ground: no moment of momentum is kept. Between two bodies it is."""
    body = {"mass": 1, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1]}
    led = {"name": "q", "type": "revolute", "parent": {"body": "a", "position": [1, 0, 0]}, "child": "b"}
    model = Model(
        name="arm",
        gravity=[0, 0, 0],
        bodies=[{"name": name, **body} for name in "ab"],
        joints=[
            {"name": "p", "type": "revolute", "parent": "ground", "child": "a"},
            {**led, "motion": "0.4 + 0.2*sin(2*t)", "measured_from": measured},
        ],
        initial={"p": 0.3, "p_dot": 0.5},
    )
    found = pendula.integrals(pendula.compile_system(model))
    assert len(found) == (measured == "parent")
    run = pendula.simulate(model, 1.0, samples=20)
    momentum = sum(
        np.cross(run.position(name, "com"), run.velocity(name, "com"))[:, 2] + 0.1 * turn
        for name, turn in (("a", run["p_dot"]), ("b", 0.4 * np.cos(2 * run.t) + (measured == "parent") * run["p_dot"]))
    )
    assert (np.ptp(momentum) < 1e-8) == (measured == "parent")
