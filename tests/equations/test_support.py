"""What formulations say of themselves is tried, ability by ability: the table in the documentation cannot be wrong."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.equations.formulations.registry import Formulation, formulations
from pendula.equations.formulations.support import ABILITIES, SOLVED, Support
from pendula.equations.printing.counts import count
from pendula.errors import NotSupported
from pendula.model.model import Model
from pendula.system.joint_forces import jacobi_integral, joint_wrenches
from tests.helpers.choices import in_turn

NAMES = tuple(formulations())

SAME = 1e-6
"""Two runs of one mechanism at tolerance 1e-9 by different equations."""
EXACT = 1e-6
"""Exact derivatives against central differences with steps of 1e-6: the differences are good to that."""


@cache
def system(name: str, formulation: str) -> pendula.results.System:
    models: dict[str, Callable[[], Model]] = {
        "pendulum": library.pendulum,
        "double pendulum": library.double_pendulum,
        "four-bar": library.four_bar,
        "three cranks": _three_cranks,
        "hoop": lambda: library.hoop_bead().with_changes(forces=[]),
    }
    return pendula.compile_system(models[name](), formulation)


def _three_cranks() -> Model:
    """A parallelogram of cranks 1 and 2 with a third between them, which holds nothing that is not held already."""
    places = {"one": 0.0, "two": 1.2, "three": 0.5}
    crank = {"type": "revolute", "measured_from": "ground"}
    joints = [
        {"name": n, **crank, "parent": {"body": "ground", "position": [x, 0]}, "child": n} for n, x in places.items()
    ]
    joints.append({"name": "bar", **crank, "parent": {"body": "one", "at": "tip"}, "child": "bar"})
    for n in ("two", "three"):
        on_bar = {"body": "bar", "position": [0, -places[n]]}
        joints.append({"name": f"pin_{n}", "type": "coincident", "parent": {"body": n, "at": "tip"}, "child": on_bar})
    rods = [{"name": n, "rod": {"mass": 0.5, "length": 0.5}} for n in places]
    return Model(
        name="parallelogram with three cranks",
        gravity=[0, -9.81],
        bodies=[*rods, {"name": "bar", "rod": {"mass": 2.0, "length": 1.2}}],
        joints=joints,
        initial=dict.fromkeys(places, 0.9) | {"bar": "90deg"},
    )


def test_angles_from_ground_after_a_motion_along_z_are_refused_in_maximal_coordinates_alone():
    """In space a parent has no angle about z to subtract; the other formulations need none."""
    model = Model(
        name="lift with a rod",
        gravity=[0, -9.81, 0],
        bodies=[
            {"name": "lift", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]},
            {"name": "rod", "rod": {"mass": 1.0, "length": 1.0}},
        ],
        joints=[
            {"name": "z", "type": "prismatic", "axis": [0, 0, 1], "parent": "ground", "child": "lift"},
            {"name": "theta", "type": "revolute", "measured_from": "ground", "parent": "lift", "child": "rod"},
        ],
        initial={"theta": 0.4},
    )
    for formulation in ("kane", "lagrange", "newton-euler", "projection"):
        found = pendula.compile_system(model, formulation).accelerations([0.0, 0.4], [0.0, 0.0])
        assert found == pytest.approx([0.0, -1.5 * 9.81 * math.sin(0.4)], abs=1e-12)
    spring = {"type": "torsion-spring", "joint": "theta", "stiffness": 3.0}
    for refused in (model, model.with_changes(forces=[spring])):
        with pytest.raises(NotSupported, match='joint "theta": in maximal coordinates an angle measured from ground'):
            pendula.compile_system(refused, "maximal")


# --- each ability, tried ------------------------------------------------------------------------------


def _moves(name: str, formulation: str, coordinate: str, expected: float) -> bool:
    run = pendula.simulate(system(name, formulation), 1.0, tol=1e-9)
    return bool(run.outcome.ok) and abs(run[coordinate][-1] - expected) < SAME


@cache
def _by_one_equation(inertia: float, pull: float) -> float:
    """The angle of a pendulum, inertia x'' = -pull sin x from 0.9 at rest, after one second."""
    from scipy.integrate import solve_ivp

    run = solve_ivp(lambda _, y: [y[1], -pull / inertia * np.sin(y[0])], (0, 1), [0.9, 0], "DOP853", rtol=1e-12)
    return float(run.y[0, -1])


def closed_loops(formulation: str) -> bool:
    """The bars of a four-bar linkage meet at the last pin, and energy is kept."""
    run = pendula.simulate(system("four-bar", formulation), 1.0, tol=1e-9)
    p = run.system.model.parameter_values
    x = p["a"] * np.sin(run["crank"]) + p["b"] * np.sin(run["coupler"]) - p["c"] * np.sin(run["rocker"]) - p["d"]
    return run.outcome.ok and np.abs(x).max() < 1e-9 and run.energy_drift < 1e-7


def redundant_loops(formulation: str) -> bool:
    """Three equal cranks under a bar move like one pendulum: 3 m a^2/3 + M a^2 and (3 m/2 + M) g a."""
    expected = _by_one_equation(0.5 * 0.25 + 2.0 * 0.25, (0.75 + 2.0) * 9.81 * 0.5)
    return _moves("three cranks", formulation, "three", expected)


def prescribed_motions(formulation: str) -> bool:
    """The torque that turns a hoop is the rate of m r^2 Omega sin^2 theta."""
    hoop = system("hoop", formulation)
    p = hoop.model.parameter_values
    q, v = hoop.in_joints.place(np.array([0.7]), np.array([1.3]))
    torque = p["m"] * p["r"] ** 2 * p["Omega"] * 2 * np.sin(0.7) * np.cos(0.7) * 1.3
    found = hoop.drive_forces(q, v)
    return found.shape == (1,) and bool(np.isclose(found[0], torque, rtol=1e-10))


def exact_derivatives(formulation: str) -> bool:
    found = system("four-bar", formulation)
    run = pendula.simulate(found, 0.3)
    q, v = run.q[-1], run.v[-1]
    steps = 1e-6 * np.eye(len(q))
    difference = (found.accelerations(q + steps, v) - found.accelerations(q - steps, v)).T / 2e-6
    exact = found.acceleration_jacobian("q", q, v)
    return bool(np.abs(exact - difference).max() < EXACT * np.abs(exact).max())


def joint_mass_matrix(formulation: str) -> bool:
    """M of the double pendulum of two rods: m l^2 [[4/3, cos/2], [cos/2, 1/3]]."""
    found = system("double pendulum", formulation)
    p = found.model.parameter_values
    q, _ = found.in_joints.place(np.array([0.4, 1.1]), np.zeros(2))
    M = found.mass_matrix(q)
    cosine = np.cos(0.7) / 2
    return M.shape == (2, 2) and np.allclose(M, p["m"] * p["l"] ** 2 * np.array([[4 / 3, cosine], [cosine, 1 / 3]]))


def joint_forces(formulation: str) -> bool:
    """A hanging rod pulls with its weight and m v^2/(l/2) at its centre."""
    found = system("pendulum", formulation)
    p = found.model.parameter_values
    pull = p["m"] * (p["g"] + p["l"] / 2 * 2.0**2)
    held = joint_wrenches(found, *found.in_joints.place(np.zeros(1), np.array([2.0])))
    return bool(np.allclose(held.force, [[0, pull, 0]]))


def jacobi(formulation: str) -> bool:
    """m r^2 theta'^2/2 - m r^2 Omega^2 sin^2(theta)/2 - m g r cos(theta) of a bead on a hoop, and a run checks it."""
    hoop = system("hoop", formulation)
    p = hoop.model.parameter_values
    turning = 1.3**2 / 2 - (p["Omega"] * np.sin(0.7)) ** 2 / 2
    expected = p["m"] * p["r"] ** 2 * turning - p["m"] * p["g"] * p["r"] * np.cos(0.7)
    found = jacobi_integral(hoop, *hoop.in_joints.place(np.array([0.7]), np.array([1.3])))
    drift = pendula.simulate(hoop, 1.0, tol=1e-10).jacobi_drift
    return bool(np.isclose(found, expected, rtol=1e-12)) and drift is not None and drift < 1e-7


TRIALS: dict[str, Callable[[str], bool]] = {
    f.__name__: f
    for f in (
        closed_loops,
        redundant_loops,
        prescribed_motions,
        exact_derivatives,
        joint_mass_matrix,
        joint_forces,
        jacobi,
    )
}


def test_every_ability_is_tried() -> None:
    assert set(TRIALS) == set(ABILITIES) == {f.name for f in fields(Support) if f.type == "bool"}


@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize("formulation", NAMES)
def test_a_formulation_can_do_what_it_says_and_nothing_else(formulation: str, ability: str) -> None:
    if getattr(formulations()[formulation].support, ability):
        assert TRIALS[ability](formulation)
        return
    if ability == "joint_mass_matrix":  # has another, no error: it is M of its own coordinates
        assert not TRIALS[ability](formulation)
        return
    able = [n for n, f in formulations().items() if getattr(f.support, ability)]
    with pytest.raises(pendula.errors.NotSupported, match=ABILITIES[ability]) as error:
        TRIALS[ability](formulation)
    assert f'"{formulation}"' in str(error.value)
    assert str(error.value).endswith(f"Try: {', '.join(able)}.")


def test_a_run_says_that_jacobis_integral_is_not_checked() -> None:
    run = pendula.simulate(system("hoop", "maximal"), 0.1)
    assert run.jacobi_drift is None
    assert any("Jacobi" in note and "kane" in note for note in run.notes)
    for name in ("kane", "lagrange"):
        assert not pendula.simulate(system("hoop", name), 0.1).notes


def test_jacobis_integral_is_the_energy_where_nothing_is_prescribed() -> None:
    found = system("pendulum", "maximal")
    at = found.in_joints.place(np.array([0.3]), np.array([0.8]))
    energy = found.energies(*at)
    assert jacobi_integral(found, *at) == pytest.approx(energy.kinetic + energy.potential, rel=1e-14)


# --- coordinates, solution, growth --------------------------------------------------------------------


@pytest.mark.parametrize("formulation", NAMES)
def test_coordinates_and_solution_are_as_stated(formulation: str) -> None:
    support = formulations()[formulation].support
    for name in ("double pendulum", "four-bar"):
        found = system(name, formulation)
        own = "bodies" if found.equations.nodes else "joints"
        assert own == support.coordinates
        assert (own == "joints") == (found.layout.coordinates == found.in_joints.layout.coordinates)
        assert support.solved == ("bodies" if found.tree is not None else found.equations.solver)
    assert support.solved in SOLVED
    if support.solved == "bodies":
        assert system("three cranks", formulation).tree is None  # all at once, as stated


@pytest.mark.parametrize(("formulation", "kind"), in_turn(NAMES, ["absolute", "relative"]))
def test_equations_grow_as_stated(formulation: str, kind: str) -> None:
    """Doubling a chain multiplies operations by 2^power or less, and by more than 2^(power - 1)."""
    place = ("absolute", "relative").index(kind)
    small, large = (
        count(pendula.derive(library.chain(links=n, coordinates=kind), formulation)).operations_shared for n in (20, 40)
    )
    power = formulations()[formulation].support.growth[place]
    assert power - 1 + 0.1 < math.log2(large / small) or power == 1
    assert math.log2(large / small) < power + 0.1


@pytest.mark.parametrize("formulation", NAMES)
def test_solution_grows_as_stated(formulation: str) -> None:
    """Solving body by body needs blocks whose number grows like n; a dense solve factors one matrix of n speeds."""
    found = pendula.compile_system(library.chain(links=12), formulation)
    by_bodies = found.tree is not None
    assert formulations()[formulation].support.solution == (1 if by_bodies else 3)
    if by_bodies:
        sizes = {node.speeds[1] - node.speeds[0] for node in found.equations.nodes}
        assert max(sizes) <= 3
        assert len(found.equations.nodes) == 12


# --- independence -------------------------------------------------------------------------------------

SHARED = {
    "assemble",
    "closures",
    "equations",
    "loads",
    "matrix",
    "mechanism",
    "parts",
    "refusals",
    "shares",
    "support",
    "symbols",
    "tape",
    "translate",
    "tree_coordinates",
    "vectors",
}
"""Poses, what the coordinates and speeds of an orientation mean (compared with SciPy and Pinocchio), the list of loads,
the list of constraint rows, and what holds expressions: no mechanics of motion."""


EQUATIONS = Path(inspect.getfile(pendula.results.Equations)).parent


def _imports(path: Path) -> set[str]:
    """Modules of equations/ that a file uses, directly or through its own modules."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "pendula.equations":
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pendula.equations."):
            found.add((node.module or "").rpartition(".")[2])
    return found


def _own(formulation: Formulation) -> set[str]:
    """Modules that a formulation uses and that are not for all."""
    path = Path(inspect.getfile(type(formulation)))
    files = {file.stem: file for file in EQUATIONS.glob("**/*.py")}
    found, waiting = {path.stem}, [path]
    while waiting:
        for name in _imports(waiting.pop()) - SHARED - found:
            found.add(name)
            waiting.append(files[name])
    return found


def test_formulations_share_no_mechanics_of_motion() -> None:
    own = {name: _own(f) for name, f in formulations().items()}
    for a in NAMES:
        for b in NAMES:
            assert a == b or not own[a] & own[b], f"{a} and {b} share {own[a] & own[b]}"
    for path in EQUATIONS.glob("**/*.py"):
        assert path.stem not in SHARED or _imports(path) <= SHARED
