"""Inputs that only a run knows have no value outside of it: the system of the run refuses what would make one up.

A cart on a spring k that a force F pushes rests at x = F/k; its rod hangs from it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import chaos, derivation, driven, equilibria, exchange, library, linear
from pendula.analysis.reactions.projection import projection_matrices
from pendula.errors import NotSupported

K, AT_REST = 5.0, {"theta": 0.0}
CART = library.cart_pole()
MODEL = CART.with_changes(
    forces=[*CART.forces, {"type": "generalized", "coordinate": "x", "value": f"-{K}*x"}], inputs={"F": 0.7}
)
TIMES = np.linspace(-1.0, 2.0, 7)


def law(t: float, state: Any) -> float:
    return 0.2 + t


GIVEN: dict[str, Any] = {
    "series": pendula.Signal(TIMES, 0.2 + TIMES, "linear"),
    "function": law,
    "sampled": pendula.Sampled(law, every=0.1),
}
ENGINES: dict[str, dict[str, Any]] = {
    "symbolic": {},
    "maximal": {"formulation": "maximal"},
    "recursive": {"engine": "recursive"},
}


@pytest.fixture(scope="module", params=[(g, e) for g in GIVEN for e in ENGINES], ids="-".join)
def system(request: pytest.FixtureRequest) -> Any:
    kind, engine = request.param
    compiled = pendula.compile_system(MODEL, **ENGINES[engine])
    return pendula.simulate(compiled, 0.55, inputs={"F": GIVEN[kind]}, initial_state={"theta": 0.1}).system


PROGRAMS = ("python", "c", "cpp", "julia", "matlab", "javascript", "modelica")
FILES = ("x.c", "x.fmu", "x.mo", "x.urdf", "x.xml")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_refused(system: Any, name: str) -> None:
    assert refused(lambda: pendula.print_equations(system, name)) == "inputs-over-time/model"


@pytest.mark.parametrize("name", FILES)
def test_files_for_other_tools_are_refused(system: Any, name: str, tmp_path: Path) -> None:
    given = {"format": "mjcf"} if name.endswith("xml") else {}
    assert refused(lambda: exchange.export(system, tmp_path / name, **given)) == "inputs-over-time/model"
    assert not (tmp_path / name).exists()


def test_functions_of_other_packages_and_stories_are_refused(system: Any) -> None:
    asked: list[Callable[[], Any]] = [lambda: derivation.explain(system), lambda: equilibria.routh(system)]
    asked += [lambda: pendula.integrals(system)]
    asked += [lambda: exchange.to_casadi(system)] if importlib.util.find_spec("casadi") else []
    asked += [lambda: exchange.to_jax(system)] if importlib.util.find_spec("jax") else []
    assert {refused(ask) for ask in asked} == {"inputs-over-time/model"}


def test_equations_keep_the_input_as_a_symbol(system: Any) -> None:
    eq = exchange.to_sympy(system)
    assert [str(s) for s in eq.u] == ["F"]
    assert any(s in entry.free_symbols for s in eq.u for entry in eq.f)
    for name in ("text", "latex", "json"):
        assert pendula.print_equations(system, name)


REST: dict[str, Callable[[Any], Any]] = {
    "linearize": lambda s: pendula.linearize(s, AT_REST),
    "differences": lambda s: pendula.linearize(s, AT_REST, method="differences"),
    "linearize_many": lambda s: linear.linearize_many(s, AT_REST),
    "linearize_motions": lambda s: linear.linearize_motions(s, AT_REST),
    "pencil": lambda s: linear.pencil(s, AT_REST),
    "stability": lambda s: pendula.stability(s, AT_REST),
    "modes": lambda s: pendula.modes(s, AT_REST),
    "stability_over": lambda s: linear.stability_over(s, "m", 1.0, 2.0, at=AT_REST, samples=3),
    "equilibrium_at": lambda s: equilibria.equilibrium_at(s, AT_REST),
    "find_equilibria": lambda s: pendula.find_equilibria(s, starts=4),
    "lowest_equilibrium": equilibria.lowest_equilibrium,
    "trim": lambda s: equilibria.trim(s, {"x": 0.2, "theta": 0.0}, ["x"]),
}


@pytest.mark.parametrize("name", REST)
def test_rest_and_small_motion_are_refused(system: Any, name: str) -> None:
    assert refused(lambda: REST[name](system)) == "inputs-over-time/analysis"


def test_multipliers_and_exponents_are_refused_first(system: Any) -> None:
    asked: list[Callable[[], Any]] = [
        lambda: driven.floquet(system),
        lambda: driven.floquet(system, 0.3, at=AT_REST),
        lambda: driven.floquet_over(system, "m", 1.0, 2.0, samples=3),
        lambda: chaos.lyapunov(system, 1.0, segments=3),
    ]
    assert {refused(ask) for ask in asked} == {"deviations/inputs-over-time"}


def test_a_value_for_the_question_takes_the_place_of_the_input(system: Any) -> None:
    """Small motion about F/k by hand; the run's own input at t = 0 is 0.2, that of the model 0.7."""
    rest = equilibria.equilibrium_at(system, {"x": 1.0 / K, "theta": 0.0}, inputs={"F": 1.0})
    p = MODEL.parameter_values
    M, m, length, g = p["M"], p["m"], p["l"], p["g"]
    coupled = m * length / 2
    right = np.linalg.eigvals(
        np.linalg.solve([[M + m, coupled], [coupled, m * length**2 / 3]], np.diag([K, coupled * g]))
    )
    for found in (
        pendula.linearize(system, rest),
        pendula.linearize(system, rest.state, inputs={"F": 1.0}),
        pendula.linearize(system, rest.state, inputs={"F": 1.0}, method="differences"),
    ):
        values = np.linalg.eigvals(np.linalg.solve(found.M, found.K))
        assert np.sort(values.real) == pytest.approx(np.sort(right), rel=1e-7)
    lowest = equilibria.lowest_equilibrium(system, inputs={"F": -2.0})
    assert lowest is not None
    assert lowest["x"] == pytest.approx(-2.0 / K, abs=1e-9)
    held = equilibria.trim(system, {"x": 0.3, "theta": 0.0}, ["F"])
    assert held["F"] == pytest.approx(K * 0.3, rel=1e-9)


def test_the_projection_method_takes_the_input_at_its_time(system: Any) -> None:
    found = projection_matrices(system, {"theta": 0.1}, t=0.5)
    right = projection_matrices(MODEL.with_changes(inputs={"F": law(0.5, None)}), {"theta": 0.1})
    assert found.accelerations == pytest.approx(right.accelerations, rel=1e-9)


def refused(ask: Callable[[], Any]) -> str:
    """The id of the refusal."""
    with pytest.raises(NotSupported) as error:
        ask()
    return error.value.refusal.id
