"""Exact derivatives of the recursion: against the symbolic ones, central differences, and solves of full size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.errors import NotSupported, UsageError
from pendula.system.recursion.jacobians import carries_along, is_direct
from pendula.system.recursion.tables import Tables
from pendula.system.recursive import RecursiveSystem
from tests.helpers.choices import in_turn
from tests.helpers.mechanisms import VARIANTS
from tests.helpers.numbers import Array, regular, slope, states
from tests.helpers.random_mechanisms import kinds, random_mechanism

AGREE = 1e-9
"""Relative to the largest entry: two exact methods, both lose digits where the mass matrix is nearly singular."""
DIFFERENCE = 1e-7
"""Relative: a central difference of order 6 with h = 2e-3 keeps some 1e-9 where nothing bends faster than over 0.1."""

LIBRARY = (
    "pendulum",
    "chain: everything",
    "chain: springs and dampers, relative",
    "cart-pole",
    "spatial-rod",
    "spatial-rod: quaternion",
    "heavy-top",
    "free-body",
    "hoop-bead",
    "spherical-pendulum: xy",
    "driven-chain",
    "driven-chain: relative",
)
SEEDS = (1, 5, 8, 9, 14, 15)
"""few that have every joint and force which the first 16 have"""
MORE_SEEDS = tuple(seed for seed in range(1, 17) if seed not in SEEDS)
LETTERS = ("q", "v", "u", "p")
IN_TURN = in_turn([*LIBRARY, "forced", *SEEDS], LETTERS, whole=("forced", "spatial-rod: quaternion"))
ALL_OTHERS = [pytest.param(seed, by, marks=pytest.mark.slow) for seed in MORE_SEEDS for by in LETTERS]

FORCED = pendula.library.cart_pole().with_changes(
    inputs={"F": "sin(2*t)", "H": 0.4},
    parameters={"M": 1.0, "m": 0.2, "l": "2*h", "h": 0.5, "g": 9.81, "k": 3.0, "none": 0.0},
    forces=[
        {"type": "generalized", "coordinate": "x", "value": "F*cos(theta) - k*x if x < 0.1 else -0.1*k*x_dot**3"},
        {"type": "generalized", "coordinate": "theta", "value": "H*min(theta, 1) + abs(x_dot) + max(k*x, theta_dot)"},
        {
            "type": "spring",
            "from": "ground",
            "to": {"body": "pole", "at": "tip"},
            "stiffness": "k",
            "length": "none",
            "damping": "none",
        },
    ],
)
"""Forces by expressions and by cases, inputs, and numbers that are zero but have derivatives."""


@cache
def both(name: str | int) -> tuple[RecursiveSystem, pendula.results.System]:
    """A mechanism by recursion and by symbolic equations."""
    model = _model(name)
    system = pendula.compile_system(model, engine="recursive")
    assert isinstance(system, RecursiveSystem)
    return system, pendula.compile_system(model, "kane")


def _model(name: str | int) -> Model:
    if name == "forced":
        return FORCED
    return random_mechanism(name, closed=False) if isinstance(name, int) else VARIANTS[name]()


def close(a: Array, b: Array, tolerance: float) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * (1.0 + np.abs(b).max(initial=0.0)))


def along_speeds(system: pendula.results.System, q: Array, J: Array) -> Array:
    """Derivatives along the motions that speeds give: how equations go on off unit quaternions is their own affair."""
    n = len(system.layout.speeds)
    columns = [
        system.rates(q, np.broadcast_to(e, (*q.shape[:-1], n))) - system.rates(q, np.zeros(n)) for e in np.eye(n)
    ]
    return J @ np.stack(columns, axis=-1)


@pytest.mark.parametrize(("name", "by"), IN_TURN + ALL_OTHERS)
def test_recursive_and_symbolic_derivatives_agree(name: str | int, by: str) -> None:
    """Of inverse dynamics for any accelerations, and of the accelerations; prescribed motions and charts included."""
    system, symbolic = both(name)
    t, q, v = regular(symbolic, *states(symbolic, 6, seed=5))
    a = np.random.default_rng(3).normal(size=v.shape)
    found = [system.residual_jacobian(by, q, v, a, t=t)[0], system.acceleration_jacobian(by, q, v, t)]
    wanted = [symbolic.residual_jacobian(by, q, v, a, t=t)[0], symbolic.acceleration_jacobian(by, q, v, t)]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.shape == theirs.shape
        if by == "q" and system.balls:
            ours, theirs = along_speeds(system, q, ours), along_speeds(system, q, theirs)
        close(ours, theirs, AGREE)


def test_the_seeds_of_every_run_have_every_joint_and_force() -> None:
    assert kinds(SEEDS, closed=False) == kinds(range(1, 17), closed=False)


@pytest.mark.parametrize("name", ["spatial-rod: quaternion", "free-body", "forced", "hoop-bead", 2, 9], ids=str)
def test_derivatives_are_slopes(name: str | int) -> None:
    """Of inverse dynamics and of the accelerations: by q along motions, by speeds, inputs and parameters one by one."""
    system, _ = both(name)
    times, qs, vs = regular(system, *states(system, 4, seed=2))
    t, q, v = times[0], qs[0], vs[0]
    a = np.linspace(-1, 1, v.size)
    given = {"q": q, "v": v, "u": system.inputs.at(t, system.parameters), "p": system.parameters}

    def residual(x: dict[str, Array]) -> Array:
        return system.residual(x["q"], x["v"], a, t, inputs=x["u"], parameters=x["p"])

    def accelerations(x: dict[str, Array]) -> Array:
        return system.accelerations(x["q"], x["v"], t, inputs=x["u"], parameters=x["p"])

    for by, values in given.items():
        directions = np.eye(values.size)
        if by == "q":
            directions = along_speeds(system, q, directions)
        J = system.residual_jacobian(by, q, v, a, t=t, inputs=given["u"])[0]
        close(J @ directions, slopes(residual, given, by, directions), DIFFERENCE)
        J = system.acceleration_jacobian(by, q, v, t, inputs=given["u"])
        close(J @ directions, slopes(accelerations, given, by, directions), DIFFERENCE)


def slopes(function: Callable[[dict[str, Array]], Array], given: dict[str, Array], by: str, directions: Array) -> Array:
    """Derivatives of a function of several arrays by one of them, along the columns of a matrix."""
    count = len(function(given))
    found = [slope(lambda s, d=d: function(given | {by: given[by] + s * d})) for d in directions.T]  # type: ignore[misc]
    return np.array(found).reshape(-1, count).T


def branched(kinds: Sequence[str], *, springs: bool, driven: bool = False) -> Model:
    """A tree of 17 bodies whose joints are of some kinds in turn, with axes and places all over space."""
    rng = np.random.default_rng(len(kinds) + 10 * springs)

    def vector(size: float) -> list[float]:
        return [float(x) for x in rng.uniform(-size, size, 3)]

    bodies, joints, forces = [], [], []
    for k in range(17):
        inertia = [float(x) for x in rng.uniform(0.3, 0.5, 3)]
        bodies.append({"name": f"b{k}", "mass": 1.0 + 0.1 * k, "com": vector(0.3), "inertia": inertia})
        above = "ground" if k == 0 else {"body": f"b{int(rng.integers(max(0, k - 4), k))}", "position": vector(0.6)}
        kind = kinds[k % len(kinds)]
        joint: dict[str, Any] = {"name": f"j{k}", "type": kind, "parent": above, "child": f"b{k}"}
        if kind == "coordinates":
            place = [f"0.3*sin(s{k})", f"0.2*s{k}**2", f"0.1*s{k} + r{k}*s{k}"]
            joint |= {"coordinates": [f"s{k}", f"r{k}"], "kinds": ["length", "length"], "position": place}
        elif kind != "spherical":
            joint["axis"] = vector(1.0)
            if driven and k == 3:
                joint["motion"] = "0.3*sin(2*t)"
        joints.append(joint)
        if springs and kind in ("revolute", "prismatic") and not (driven and k == 3):
            across = "spring" if kind == "prismatic" else "torsion-spring"
            forces.append({"type": across, "joint": f"j{k}", "stiffness": 2.0 + k, "damping": 0.3})
    return Model(name="branched", gravity=[1.0, -9.0, 2.0], bodies=bodies, joints=joints, forces=forces)


TREES: dict[str, Callable[[], Model]] = {
    "turns": lambda: branched(["revolute"], springs=False),
    "turns and slides with springs": lambda: branched(["revolute", "prismatic", "revolute"], springs=True),
    "driven turns and slides": lambda: branched(["prismatic", "revolute"], springs=True, driven=True),
    "turns and charts": lambda: branched(["revolute", "coordinates", "prismatic"], springs=True),
    "turns and balls": lambda: branched(["revolute", "spherical"], springs=False),
    **{f"random {seed}": lambda seed=seed: random_mechanism(seed, closed=False, bodies=14) for seed in (1, 4, 8)},
}


@pytest.mark.parametrize("name", TREES)
def test_columns_of_parts_are_solves_of_the_whole(name: str) -> None:
    """Large branched trees: what only hangs on a column's hinge is carried along; complete passes give the same."""
    system = pendula.compile_system(TREES[name](), engine="recursive")
    t, q, v = states(system, 2, seed=1)
    a, M = system.accelerations(q, v, t), system.mass_matrix(q, t)
    for by in "qvu":
        whole = -np.linalg.solve(M, system.residual_jacobian(by, q, v, a, t=t)[0])
        close(system.acceleration_jacobian(by, q, v, t), whole, AGREE)


def test_batch_shapes_carry_over() -> None:
    system, _ = both("chain: everything")
    _, q, v = states(system, 6, seed=1)
    q, v, t = q.reshape(2, 3, -1), v.reshape(2, 3, -1), np.linspace(0, 1, 3)
    J = system.acceleration_jacobian("q", q, v, t)
    assert J.shape == (2, 3, 4, 4)
    np.testing.assert_array_equal(J[1, 2], system.acceleration_jacobian("q", q[1, 2], v[1, 2], t[2]))
    top, bottom = system.residual_jacobian("p", q, v, v, t=t)
    assert top.shape == (2, 3, 4, len(system.layout.parameters))
    assert bottom.shape == (2, 3, 0, len(system.layout.parameters))


def test_parameters_may_be_others_than_the_models() -> None:
    system, symbolic = both("heavy-top")
    _, q, v = states(symbolic, 2, seed=4)
    other = 1.3 * system.parameters
    for by in "vp":
        close(
            system.acceleration_jacobian(by, q, v, parameters=other),
            symbolic.acceleration_jacobian(by, q, v, parameters=other),
            AGREE,
        )


def test_jacobian_dynamics_gives_the_same_at_its_time() -> None:
    system, _ = both("forced")
    jacobian, t = system.jacobian_dynamics(t=0.7), 0.7
    memory = np.zeros((2, 4))
    for q, v in zip(*states(system, 3, seed=8)[1:], strict=True):
        by_q, by_v = jacobian(q, v)
        np.testing.assert_array_equal(by_q, system.acceleration_jacobian("q", q, v, t))
        np.testing.assert_array_equal(by_v, system.acceleration_jacobian("v", q, v, t))
        jacobian(q, v, memory)
        np.testing.assert_array_equal(memory, np.hstack([by_q, by_v]))


def test_jacobian_dynamics_refuses_memory_that_does_not_fit() -> None:
    system, _ = both("forced")
    jacobian = system.jacobian_dynamics()
    for out in (np.zeros((4, 2)), np.zeros((4, 2)).T, np.zeros((2, 8))[:, ::2]):
        with pytest.raises(UsageError, match="contiguous array of shape"):
            jacobian(np.zeros(2), np.zeros(2), out)


def test_unknown_letter_is_refused() -> None:
    system, _ = both("pendulum")
    with pytest.raises(UsageError, match='not by "x"'):
        system.acceleration_jacobian("x", [0.1], [0.0])


def test_closed_loops_are_left_to_the_symbolic_equations() -> None:
    system, symbolic = both("four-bar")
    t, q, v = regular(symbolic, *states(symbolic, 4, seed=5))
    for by in "qvp":
        ours, theirs = (s.acceleration_jacobian(by, q, v, t) for s in (system, symbolic))
        close(ours, theirs, AGREE)
    with pytest.raises(NotSupported, match="closed loops"):
        system.jacobian_dynamics()


@pytest.mark.parametrize(
    ("name", "direct", "carried"),
    [
        ("turns and slides with springs", True, True),
        ("driven turns and slides", True, True),
        ("turns and charts", False, True),
        ("turns and balls", False, False),
    ],
)
def test_trees_take_the_path_they_are_there_for(name: str, direct: bool, carried: bool) -> None:
    tables = Tables(TREES[name]())
    assert (is_direct(tables), carries_along(tables)) == (direct, carried)


def test_few_bodies_take_their_terms_from_symbolic_equations_unless_the_recursion_is_asked_for() -> None:
    model = pendula.library.chain(links=6)
    chosen, asked = pendula.compile_system(model), pendula.compile_system(model, engine="recursive")
    assert (chosen.engine, chosen.symbolic_terms) == ("recursive", True)
    assert not asked.symbolic_terms
    assert not pendula.compile_system(pendula.library.chain(links=30)).symbolic_terms
    t, q, v = states(asked, 5)
    a = asked.accelerations(q, v, t)
    np.testing.assert_allclose(chosen.accelerations(q, v, t), a, rtol=0, atol=0)
    for found, expected in (
        (chosen.mass_matrix(q, t), asked.mass_matrix(q, t)),
        (chosen.forces(q, v, t), asked.forces(q, v, t)),
        (chosen.residual_jacobian("q", q, v, a, None, t)[0], asked.residual_jacobian("q", q, v, a, None, t)[0]),
        (chosen.acceleration_jacobian("v", q, v, t), asked.acceleration_jacobian("v", q, v, t)),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
