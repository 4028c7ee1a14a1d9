"""The recursion over the bodies against symbolic equations, on every library mechanism and on random ones."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.errors import NotSupported
from pendula.numerics.compiled.jit import compiled
from pendula.numerics.compiled.native import call_native
from pendula.results import System
from pendula.system.lanes import bind_lanes
from pendula.system.loops.mobility import independent_rows
from pendula.system.recursive import RecursiveSystem
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import VARIANTS
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import kinds, random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

CLOSE = 1e-10  # relative: rounding, where M is well conditioned
STATES = 20
SEEDS = (3, 5, 7, 8, 9, 14, 15, 17, 20)
"""few that have every joint and force which the first 24 have"""
MORE_SEEDS = [seed for seed in range(360) if seed not in SEEDS]
REFUSED = (86, 128, 261, 305, 314, 333)
"""of these, the ones that the recursion does not support"""


def _both(model: Model) -> tuple[System, RecursiveSystem]:
    found = pendula.compile_system(model, engine="recursive")
    assert isinstance(found, RecursiveSystem)
    return pendula.compile_system(model, engine="symbolic"), found


def _assert_close(what: str, expected: np.ndarray, found: np.ndarray, close: float = CLOSE) -> None:
    size = max(float(np.max(np.abs(expected), initial=0.0)), 1e-9)
    worst = float(np.max(np.abs(expected - found), initial=0.0))
    assert worst < close * size, f"{what} differs by {worst / size:.2e}"


def _conditions(system: System, q: np.ndarray, t: np.ndarray) -> float:
    """Largest condition of M with unit diagonal: digits that any way of solving loses."""
    M = system.mass_matrix(q, t)
    scale = np.sqrt(np.einsum("kii->ki", M))
    return float(np.linalg.cond(M / (scale[:, :, None] * scale[:, None, :])).max()) if M.size else 1.0


def _check(model: Model) -> None:
    symbolic, recursive = _both(model)
    t, q, v = states(symbolic, STATES)
    a = symbolic.accelerations(q, v, t)
    close = CLOSE * max(1.0, 1e-4 * _conditions(symbolic, q, t)) if not symbolic.loop_rows else CLOSE
    _assert_close("accelerations", a, recursive.accelerations(q, v, t), close)
    _assert_close("mass matrix", symbolic.mass_matrix(q, t), recursive.mass_matrix(q, t))
    for x, y in zip(symbolic.poses(q, t), recursive.poses(q, t), strict=True):
        _assert_close("poses", x, y)
    for what in ("forces", "energies", "rates"):
        _assert_close(what, *(np.asarray(getattr(s, what)(q, v, t)) for s in (symbolic, recursive)))
    _assert_close("power", symbolic.power(q, v, t), recursive.power(q, v, t), close)
    for x, y in zip(symbolic.body_motion(q, v, a, t), recursive.body_motion(q, v, a, t), strict=True):
        _assert_close("motion of bodies", x, y)
    if symbolic.drives:
        order = [[d.name for d in recursive.drives].index(d.name) for d in symbolic.drives]
        expected, found = symbolic.drive_forces(q, v, t), recursive.drive_forces(q, v, t)[:, order]
        size = max(1.0, float(np.abs(expected).max()))
        assert np.max(np.abs(expected - found)) < close * size
    if symbolic.loop_rows and independent_rows(symbolic) == symbolic.loop_rows:
        _assert_close("multipliers", symbolic.multipliers(q, v, t), recursive.multipliers(q, v, t), 10 * close)
    _check_callbacks(symbolic, recursive, t, q, v)


@compiled
def _call(address: int, context: int, inp: np.ndarray, out: np.ndarray) -> None:
    call_native(address, out.ctypes.data, inp.ctypes.data, context)


def _check_callbacks(symbolic: System, recursive: RecursiveSystem, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
    """Right-hand sides as steppers call them: rates, accelerations and the power that does work."""
    first, second = symbolic.dynamics(), recursive.dynamics()
    n = q.shape[1] + v.shape[1] + 1
    expected, found = np.zeros(n), np.zeros(n)  # a power that is not asked for stays zero
    close = CLOSE if symbolic.loop_rows else CLOSE * max(1.0, 1e-4 * _conditions(symbolic, q, t))
    for k in range(len(t)):
        x = np.concatenate([[t[k]], q[k], v[k], [0.0]])
        _call(first.rhs.address, first.rhs.context, x, expected)
        _call(second.rhs.address, second.rhs.context, x, found)
        _assert_close("right-hand side", expected, found, close)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "slider-crank: massless"])
def test_library(name: str) -> None:
    _check(VARIANTS[name]())


def test_a_body_without_mass_that_a_loop_holds_is_refused() -> None:
    with pytest.raises(NotSupported, match="massless body"):
        pendula.compile_system(VARIANTS["slider-crank: massless"](), engine="recursive")
    assert pendula.compile_system(VARIANTS["slider-crank: massless"]()).engine == "symbolic"


@pytest.mark.parametrize("seed", slow_too(SEEDS, [seed for seed in MORE_SEEDS if seed not in REFUSED]))
def test_random_mechanisms(seed: int) -> None:
    _check(random_mechanism(seed))


@pytest.mark.slow
def test_the_seeds_of_every_run_have_every_joint_and_force() -> None:
    assert kinds(SEEDS) == kinds(range(24))


@pytest.mark.parametrize("seed", slow_too(REFUSED[:1], REFUSED[1:]))
def test_a_spring_on_a_prescribed_coordinate_of_a_chart_is_refused(seed: int) -> None:
    with pytest.raises(NotSupported, match=r"no spring on .*, a prescribed coordinate of a chart"):
        pendula.compile_system(random_mechanism(seed), engine="recursive")
    assert pendula.compile_system(random_mechanism(seed)).engine == "symbolic"


def test_chains_of_ball_joints_keep_their_digits() -> None:
    """100 rods on ball joints: against the mass matrix and the forces, which are found in another way.

    Accelerations must solve M a = f to rounding, and lie as close to a refined dense solution as the rounding of M and
    of f allows: that is the condition number of M, 1e8 here, times the rounding unit.
    """
    system = pendula.compile_system(ball_chain(100), engine="recursive")
    rng = np.random.default_rng(4)
    q = rng.normal(size=(3, 100, 4))
    q /= np.linalg.norm(q, axis=2, keepdims=True)
    q, v = q.reshape(3, 400), rng.normal(size=(3, 300))
    found = system.accelerations(q, v)
    for a, M, f in zip(found, system.mass_matrix(q), system.forces(q, v), strict=True):
        exact = M.astype(np.longdouble)
        scale = np.abs(M) @ np.abs(a) + np.abs(f)
        assert np.max(np.abs(exact @ a - f)) < 1e-14 * np.max(scale)
        expected = np.linalg.solve(M, f)
        expected += np.linalg.solve(M, np.asarray(f - exact @ expected, dtype=float))  # LU alone loses a digit
        _assert_close("accelerations", expected, a, float(np.finfo(float).eps * np.linalg.cond(M) / 10))


def ball_chain(links: int) -> Model:
    """Rods that hang on each other by ball joints."""
    body = {"mass": "m", "com": [0, 0, "-l/2"], "inertia": [["J", 0, 0], [0, "J", 0], [0, 0, "J/20"]]}
    bodies = [{"name": f"rod {k}", **body, "points": {"tip": [0, 0, "-l"]}} for k in range(links)]
    parents = ["ground", *({"body": f"rod {k}", "at": "tip"} for k in range(links - 1))]
    joints = [
        {"name": f"ball{k}", "type": "spherical", "parent": parents[k], "child": f"rod {k}"} for k in range(links)
    ]
    return Model(
        name="rods on ball joints",
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81, "m": 1.0, "l": 1.0, "J": "m*l**2/12"},
        bodies=bodies,
        joints=joints,
    )


@pytest.mark.parametrize("name", ["chain: everything", "chain: relative", "spatial-rod: quaternion", "double-pendulum"])
def test_eight_states_at_once_are_those_of_one(name: str) -> None:
    """Bit by bit: lanes do the same operations in the same order."""
    system = pendula.compile_system(VARIANTS[name](), engine="recursive")
    assert isinstance(system, RecursiveSystem)
    one, eight = system.dynamics(), system.dynamics_of_eight()
    assert eight is not None
    t, q, v = states(system, 8)
    y = np.concatenate([t[:, None], q, v, np.zeros((8, one.quadratures))], axis=1)
    n = y.shape[1] - 1
    lanes, together, alone = np.ascontiguousarray(y.T), np.zeros((n, 8)), np.zeros(n)
    _call(eight.rhs.address, eight.rhs.context, lanes, together)
    for k in range(8):
        _call(one.rhs.address, one.rhs.context, y[k], alone)
        np.testing.assert_array_equal(together[:, k], alone)


@pytest.mark.parametrize("name", ["chain: everything", "chain: springs, relative", "double-pendulum"])
def test_energies_of_eight_states_are_those_of_one(name: str) -> None:
    """Up to a constant of the springs, which a run does not notice."""
    make = {"chain: springs, relative": lambda: library.chain(links=3, stiffness=4.0, coordinates="relative")}
    system = pendula.compile_system(make.get(name, VARIANTS.get(name))(), engine="recursive")  # type: ignore[misc]
    t, q, v = states(system, 8)
    lanes = bind_lanes(system, system.parameters[None])
    found = np.zeros((2, 8))
    given = np.concatenate([t[:, None], q, v, np.zeros((len(t), 1))], axis=1)
    _call(lanes.energies.address, lanes.energies.context, np.ascontiguousarray(given.T), found)
    expected = np.array(system.energies(q, v, t))
    shift = found[1, 0] - expected[1, 0]
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1] - shift, expected[1], rtol=1e-11, atol=1e-11)


def test_large_chain_moves_as_a_small_one_of_the_same_shape() -> None:
    """Links that are folded into one body by a stiff start do not differ: 5000 links hang at rest where they should."""
    system = pendula.compile_system(library.chain(links=5000, start=0.0), engine="recursive")
    q = np.zeros(5000)
    assert np.max(np.abs(system.accelerations(q, q))) < 1e-12


@pytest.mark.parametrize("seed", [15, 41])
def test_derivatives_reach_all_hinges_that_a_spring_between_points_couples(seed: int) -> None:
    symbolic, recursive = _both(random_mechanism(seed))
    t, q, v = states(symbolic, 3)
    for by in "qv":
        expected = symbolic.acceleration_jacobian(by, q, v, t)
        assert np.abs(expected).max() > 0.1
        _assert_close(f"derivatives by {by}", expected, recursive.acceleration_jacobian(by, q, v, t), 1e-8)
