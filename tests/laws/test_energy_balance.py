"""Work and energy: at every state the energy changes by the power of loads and of prescribed motions, and by
nothing else; inertia forces do no work of their own."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula.equations.formulations.registry import formulations
from tests.helpers.choices import in_turn
from tests.helpers.mechanisms import VARIANTS, has_ball, is_driven, library_system
from tests.helpers.numbers import Array, along_motion, drive_forces, evaluate, regular, slope, states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

BALANCED = 1e-8
"""Relative: difference of order 6 with h = 2e-3; poses of random mechanisms bend over lengths of about 1."""
SPREAD = 0.5
"""Keeps the x, y chart of the spherical pendulum away from its edge, where everything bends over short lengths."""


STEP = {"inverted-chain": 2e-5}
"""Steps of the difference, where not 2e-3: this base is shaken at 500 rad/s."""


def _assert_energy_changes_by_work(
    system: pendula.results.System, t: Array, q: Array, v: Array, h: float = 2e-3
) -> None:
    later = along_motion(system, q, v, t)

    def energy(s: float) -> Array:
        q, v, t = later(s)
        found = system.energies(q, v, t)
        return found.kinetic + found.potential

    forces, rates = drive_forces(system, q, v, t)
    driven = np.sum(forces * rates, axis=1)
    power = system.power(q, v, t)
    found = system.energies(q, v, t)
    a = system.accelerations(q, v, t)
    size = 1.0 + np.abs(found.kinetic) + np.abs(found.potential) + np.abs(power) + np.abs(driven)
    size = size * (1.0 + np.abs(v).max(axis=1) + np.abs(a).max(axis=1) * 0.1)
    assert np.max(np.abs(slope(energy, h) - power - driven) / size) < BALANCED


@pytest.mark.parametrize("name", VARIANTS)
def test_energy_of_library_mechanism_changes_by_the_power_of_loads_and_drives(name: str) -> None:
    system = library_system(name)
    _assert_energy_changes_by_work(system, *regular(system, *states(system, 10, seed=5)), h=STEP.get(name, 2e-3))


@pytest.mark.parametrize(("seed", "formulation"), in_turn(range(3100, 3106), formulations()))
def test_energy_of_random_mechanism_changes_by_the_power_of_loads_and_drives(seed: int, formulation: str) -> None:
    system = pendula.compile_system(random_mechanism(seed), formulation)
    _assert_energy_changes_by_work(system, *regular(system, *states(system, 8, seed=5)))


UNDRIVEN = [n for n in VARIANTS if not is_driven(n)]


@pytest.mark.parametrize(("name", "formulation"), in_turn(UNDRIVEN, formulations()))
def test_inertia_forces_balance_the_change_of_mass(name: str, formulation: str) -> None:
    """M' - 2C is skew, said without C: v . f_inertia = -v . M' v/2, so inertia alone never changes energy."""
    system = library_system(name, formulation)
    t, q, v = regular(system, *states(system, 10, seed=6, spread=SPREAD))
    inertia = evaluate(system, system.equations.parts.free["inertia"], q, v, t)
    rates = system.rates(q, v, t)
    change = slope(lambda s: system.mass_matrix(q + s * rates, t))
    expected = -np.einsum("ki,kij,kj->k", v, change, v) / 2
    found = np.sum(v * inertia, axis=1)
    size = 1.0 + np.abs(expected) + np.abs(v * inertia).max(axis=1)
    assert np.max(np.abs(found - expected) / size) < BALANCED


@pytest.mark.parametrize("name", UNDRIVEN)
def test_kinetic_energy_is_half_v_M_v(name: str) -> None:
    system = library_system(name)
    t, q, v = states(system, 20, seed=7)
    expected = np.einsum("ki,kij,kj->k", v, system.mass_matrix(q, t), v) / 2
    np.testing.assert_allclose(system.energies(q, v, t).kinetic, expected, rtol=1e-11)


@pytest.mark.parametrize("name", [n for n in UNDRIVEN if not has_ball(n)])
def test_gravity_and_springs_are_the_slope_of_the_potential(name: str) -> None:
    """Their generalized forces are -dV/dq, coordinate by coordinate."""
    system = library_system(name)
    eq = system.equations
    t, q, v = states(system, 6, seed=8, spread=SPREAD)
    found = evaluate(system, eq.parts.free["gravity"], q, v, t) + evaluate(system, eq.parts.free["springs"], q, v, t)
    for k, e in enumerate(np.eye(q.shape[1])):
        steepness = slope(lambda s, e=e: system.energies(q + s * e, v, t).potential)
        np.testing.assert_allclose(found[:, k], -steepness, atol=BALANCED * (1.0 + np.abs(found).max()))


@pytest.mark.parametrize("name", [n for n in VARIANTS if "friction" in n and "com" not in n] + ["double-pendulum"])
def test_friction_and_dampers_never_feed_energy(name: str) -> None:
    system = library_system(name)
    t, q, v = states(system, 50, seed=9)
    assert np.all(system.power(q, v, t) < 0)


def test_friction_at_the_mass_centre_takes_energy_from_a_chain_of_equal_rods() -> None:
    """Its power is then -mu (l/2) |sum of theta_i' theta_hat_i|^2."""
    system = library_system("chain: com-friction")
    t, q, v = states(system, 50, seed=9)
    total = np.stack([np.sum(v * np.cos(q), axis=1), np.sum(v * np.sin(q), axis=1)])
    np.testing.assert_allclose(system.power(q, v, t), -0.4 / 2 * np.sum(total**2, axis=0), rtol=1e-12)


def test_friction_at_the_mass_centre_can_feed_energy_for_a_moment() -> None:
    """Paper 003's friction acts on a link's own rate, not on the velocity of its mass centre."""
    system = pendula.compile_system(pendula.library.chain(links=3, com=0.2, com_friction=0.4))
    t, q, v = states(system, 200, seed=9)
    power = system.power(q, v, t)
    assert np.any(power > 0)
    assert np.any(power < 0)


def test_a_pendulum_at_a_positive_angle_accelerates_back() -> None:
    for name in ("pendulum", "pendulum: point", "chain: 1 link"):
        assert library_system(name).accelerations([0.3], [0.0])[0] < 0
        assert library_system(name).accelerations([-0.3], [0.0])[0] > 0


def test_potential_energy_grows_upwards() -> None:
    """m g times the height of the mass centre above the pivot."""
    system = library_system("pendulum")
    assert system.energies([0.0], [0.0]).potential == pytest.approx(-9.81 / 2)
    assert system.energies([np.pi], [0.0]).potential == pytest.approx(9.81 / 2)


def test_a_falling_body_falls_along_gravity() -> None:
    model = pendula.library.free_body().with_changes(gravity=[1.0, -2.0, -9.0])
    system = pendula.compile_system(model)
    state = system.state({})
    a = dict(zip(system.layout.speeds, system.accelerations(state.q, state.v), strict=True))
    assert [a[f"box_{x}_dot"] for x in "xyz"] == pytest.approx([1.0, -2.0, -9.0])
    assert [a[f"box_w{x}"] for x in "xyz"] == pytest.approx([0.0, 0.0, 0.0])
