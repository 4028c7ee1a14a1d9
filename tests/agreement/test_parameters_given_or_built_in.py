"""Parameters given to a function count as if the model had them: in every analysis, and in all that its result holds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.analysis.equilibria.landscape import landscape
from pendula.analysis.modes.motion import mode_motion
from pendula.simulation.trajectory import Trajectory

CLOSE = 1e-7
"""The same computations with constants folded elsewhere: roundings, magnified by a run of a second at 1e-9."""
NOT_COMPARED = {"system", "model", "layout", "seconds", "settings", "linear", "equations", "enclosure"}
"""Fields that hold no results, or times of the clock."""


def numbers(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All numbers in a result, by the names of the fields that lead to them."""
    if isinstance(found, (bool, str, type(None))):
        return
    if isinstance(found, (int, float, complex, np.ndarray, np.generic)):
        yield name, np.asarray(found)
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            if field.name not in NOT_COMPARED and not field.name.startswith("_"):
                yield from numbers(getattr(found, field.name), f"{name}.{field.name}")
    elif isinstance(found, Mapping):
        for key, value in found.items():
            yield from numbers(value, f"{name}[{key}]")
    elif isinstance(found, (tuple, list)):
        for k, value in enumerate(found):
            yield from numbers(value, f"{name}[{k}]")


def read(run: Trajectory) -> dict[str, Any]:
    """What can be read from a run by name."""
    body, first = run.system.model.bodies[-1].name, run.layout.coordinates[0]
    found = {name: run[name] for name in ("kinetic", "potential", "energy", "work")}
    found |= {"position": run.position(body), "velocity": run.velocity(body)}
    return found | {"integral": run.integral(f"{first}**2")}


def rest(system: Any, p: Any) -> Any:
    return _rest(system, None if p is None else tuple(p.items()))


@cache
def _rest(system: Any, p: Any) -> Any:
    return pendula.find_equilibria(system, parameters=None if p is None else dict(p))


def small(system: Any, p: Any) -> Any:
    return pendula.linearize(system, rest(system, p)[0], parameters=p)


def short(system: Any, p: Any, **more: Any) -> Trajectory:
    return pendula.simulate(system, 1.0, samples=201, tol=1e-9, parameters=p, **more)


EVERY: dict[str, Callable[[Any, Any], Any]] = {
    "simulate": short,
    "radau": lambda s, p: short(s, p, stepper="radau"),
    "readings": lambda s, p: read(short(s, p)),
    "reactions": lambda s, p: pendula.reactions(short(s, p)),
    "ensemble": lambda s, p: [run.q for run in pendula.simulate_many(s, 0.5, count(s), samples=5, parameters=p)],
    "find_equilibria": rest,
    "linearize": small,
    "spectrum": lambda s, p: np.sort_complex(pendula.linear.spectrum(small(s, p)).values),
    "modes": lambda s, p: pendula.modes(s, rest(s, p)[0], parameters=p).frequencies,
    "mode_motion": lambda s, p: np.abs(mode_motion(pendula.modes(small(s, p)), 1).q),
    "stability": lambda s, p: [pendula.stability(s, one, parameters=p) for one in rest(s, p)],
    "mobility": lambda s, p: pendula.mobility(s, parameters=p),
    "assemble": lambda s, p: pendula.assemble(s, parameters=p),
}
OPEN: dict[str, Callable[[Any, Any], Any]] = {
    "landscape": lambda s, p: landscape(s, rest(s, p)),
    "free_response": lambda s, p: pendula.linear.free_response(small(s, p), [0.01] * len(s.layout.speeds), t=1.0),
    "linear_range": lambda s, p: pendula.linear.linear_range(small(s, p), tol=1e-9),
    "lyapunov": lambda s, p: pendula.chaos.lyapunov(s, 2.0, segments=20, parameters=p).exponent,
    "divergence": lambda s, p: pendula.chaos.divergence(
        s, 1.0, perturbation={"theta1": 1e-3}, parameters=p, samples=201
    ),
    "horizon": lambda s, p: pendula.chaos.horizon(short(s, p)).distance,
    "sensitivities": lambda s, p: pendula.sensitivities(short(s, p), ["g"]),
    "taylor": lambda s, p: short(s, p, stepper="taylor"),
}


def count(system: Any) -> dict[str, Any]:
    """Nine starts, which differ in the first coordinate of an open mechanism."""
    first = system.layout.coordinates[0]
    at = system.initial_state()[first]
    return {first: np.linspace(at, at + (0 if system.model.closures else 0.2), 9)}


CASES: dict[str, tuple[Model, dict[str, float], dict[str, Callable[[Any, Any], Any]]]] = {
    "damped double pendulum": (library.double_pendulum(), {"l": 2.5, "k1": 400.0, "c2": 0.9, "g": 30.0}, EVERY | OPEN),
    "four-bar": (library.four_bar(), {"g": 7.0}, EVERY),
    "cart-pole": (library.cart_pole(), {"m": 0.4, "M": 3.0, "g": 12.0}, {**EVERY, "landscape": OPEN["landscape"]}),
}


@cache
def systems(case: str) -> tuple[Any, Any]:
    """The mechanism of a case, and the same with other parameters."""
    model, values, _ = CASES[case]
    changed = model.with_changes(parameters={**model.parameters, **values})
    return pendula.compile_system(model), pendula.compile_system(changed)


@pytest.mark.parametrize(("case", "name"), [(case, name) for case, (_, _, each) in CASES.items() for name in each])
def test_given_parameters_count_as_those_of_the_model(case: str, name: str) -> None:
    _, values, each = CASES[case]
    system, other = systems(case)
    given = dict(numbers(each[name](system, values)))
    built_in = dict(numbers(each[name](other, None)))
    untouched = dict(numbers(each[name](system, None)))
    assert given.keys() == built_in.keys()
    assert given
    for key, expected in built_in.items():
        size = max(float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)), 1.0)
        np.testing.assert_allclose(given[key], expected, rtol=CLOSE, atol=CLOSE * size, err_msg=key)
    same = all(key in untouched and np.array_equal(untouched[key], x, equal_nan=True) for key, x in given.items())
    assert not same or name in ("mobility", "assemble", "mode_motion"), "these parameters change nothing"


def test_given_parameters_of_driven_mechanisms_count_as_those_of_the_model() -> None:
    model = library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
    up, values = {"theta1": math.pi}, {"l": 1.4}
    changed = model.with_changes(parameters={**model.parameters, **values})
    given = pendula.driven.floquet(model, at=up, parameters=values).multipliers
    np.testing.assert_allclose(given, pendula.driven.floquet(changed, at=up).multipliers, rtol=1e-9)
    assert np.abs(given - pendula.driven.floquet(model, at=up).multipliers).max() > 1e-3
