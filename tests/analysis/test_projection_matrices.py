"""Matrices of the projection method: the paper's own matrices, other formulations, and forces in joints."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.derivation import projection_matrices
from pendula.errors import NotSupported

SAME = 1e-11  # two ways to the same numbers, relative to the largest


def close(a, b):
    np.testing.assert_allclose(a, b, atol=SAME * max(1.0, float(np.abs(b).max(initial=0.0))))


TREES = {
    "two bodies": library.double_physical_pendulum(),
    "relative angles": library.chain(links=3, coordinates="relative"),
    "absolute angles with friction": library.chain(links=3, friction=0.3),
    "springs and dampers": library.double_pendulum(),
    "cart": library.cart_pole(),
    "ball joint with quaternion": library.heavy_top(),
    "Euler angles": library.spatial_rod(start="spatial"),
    "turning hoop": library.hoop_bead(),
    "shaken chain": library.driven_chain(links=3),
    "free flight": library.free_body(),
}


def state_of(system):
    rng = np.random.default_rng(2)
    t, q, v = 0.7, system.initial_state().q, rng.normal(size=len(system.layout.speeds))
    if not system.balls:
        q = q + rng.uniform(-0.5, 0.5, size=q.size)
    return pendula.State(t, q, v, system.layout)


@pytest.mark.parametrize("name", TREES)
def test_matrices_satisfy_the_equations_of_the_method(name):
    system = pendula.compile_system(TREES[name], "kane")
    state = state_of(system)
    found = projection_matrices(system, state)
    close(found.L @ found.V, found.b)
    close(found.L @ found.L_tau, np.zeros((len(found.L), len(found.speeds))))
    close(found.L_extended @ found.V, found.A @ state.v + found.b_extended)
    close(np.linalg.solve(found.L_extended, found.A), found.L_tau)  # eq. 34
    close(found.V, found.L_tau @ state.v + found.driven)
    # the projected equations are those of Kane's method
    close(found.reduced_M, system.mass_matrix(state.q, state.t))
    close(found.accelerations, system.accelerations(state.q, state.v, state.t))
    # free bodies: M V' + Omega V = Q + constraint forces + forces inside joints, which work only along the freedoms
    inside = found.M @ found.V_rate + found.Omega @ found.V - found.Q - found.constraint_forces
    close(found.L_tau.T @ inside, found.joint_loads)
    close(found.L_tau.T @ found.constraint_forces, np.zeros(len(found.speeds)))


def test_rates_of_velocities_are_differences_of_velocities():
    """V' in body axes by central differences along a run."""
    system = pendula.compile_system(library.spatial_rod(start="spatial"))
    run = pendula.simulate(system, 0.02, samples=5, tol=1e-13)
    looks = [projection_matrices(system, run.state(k)) for k in range(5)]
    slope = (-looks[4].V + 8 * looks[3].V - 8 * looks[1].V + looks[0].V) / (12 * 0.005)
    np.testing.assert_allclose(looks[2].V_rate, slope, atol=1e-6)


def test_two_bodies_have_the_matrices_of_the_paper():
    """Equations 2, 3, 59 written out for two hinged bodies with their own data; Tataru, with the corrected signs."""
    model = library.double_physical_pendulum()
    found = projection_matrices(model, {"phi1": 0.4, "phi2": -0.3, "phi1_dot": 1.1, "phi2_dot": 0.6})
    p = model.parameter_values
    assert found.L.shape == (10, 12)
    assert found.A.shape == (12, 2)
    for k in (0, 1):
        m, c, J = (p[f"{name}{k + 1}"] for name in ("m", "c", "J"))
        block = found.M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        assert np.diag(block[:3, :3]) == pytest.approx(3 * [m])
        assert block[5, 5] == pytest.approx(J)
        assert np.linalg.norm(block[3:, :3]) == pytest.approx(np.sqrt(2) * m * c)
    turning = found.A[[5, 11]]
    np.testing.assert_allclose(np.abs(turning), [[1, 0], [1, 1]], atol=1e-12)  # the elbow turns by their difference
    assert turning[1, 0] * turning[1, 1] == pytest.approx(-1)
    angle = 0.7
    off = p["m2"] * p["l1"] * p["c2"] * np.cos(angle)
    close(found.reduced_M, np.array([[p["J1"] + p["m2"] * p["l1"] ** 2, off], [off, p["J2"]]]))


@pytest.mark.parametrize("name", ["two bodies", "springs and dampers", "ball joint with quaternion", "shaken chain"])
def test_constraint_forces_are_the_reactions_of_newton_and_euler(name):
    system = pendula.compile_system(TREES[name])
    run = pendula.simulate(system, 0.3, samples=2)
    forces = pendula.reactions(run)
    found = projection_matrices(system, run.state())
    R, _ = system.poses(run.q[-1], run.t[-1])
    first = found.rows[0]  # the joint at ground carries all constraint forces together
    wrench = sum(R[k] @ found.constraint_forces[6 * k : 6 * k + 3] for k in range(len(found.bodies)))
    np.testing.assert_allclose(wrench, forces[first].force[-1], atol=1e-6 * np.abs(wrench).max())


def test_loops_are_refused():
    with pytest.raises(NotSupported, match="reactions"):
        projection_matrices("four-bar")
