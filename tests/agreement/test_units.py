"""Units do not matter: a mechanism in millimetres, or the size of a cell, moves and is judged as the same one in metres.

Every parameter is multiplied by the powers of three factors (length, mass, time) that its dimension demands.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.library.lookup import named_model
from tests.helpers.choices import in_turn

LENGTH, MASS, ACCELERATION = (1, 0, 0), (0, 1, 0), (1, 0, -2)
STIFFNESS, DAMPING = (2, 1, -2), (2, 1, -1)  # of torsion springs
MECHANISMS: dict[str, dict[str, tuple[int, int, int]]] = {
    "four-bar": {"g": ACCELERATION, "a": LENGTH, "b": LENGTH, "c": LENGTH, "d": LENGTH, "rho": (-1, 1, 0)},
    "slider-crank": {"g": ACCELERATION, "r": LENGTH, "l": LENGTH, "e": LENGTH, "rho": (-1, 1, 0), "M": MASS},
    "hoop-bead": {"m": MASS, "r": LENGTH, "g": ACCELERATION, "Omega": (0, 0, -1), "c": (0, 1, -1)},
    "cart-pole": {"M": MASS, "m": MASS, "l": LENGTH, "g": ACCELERATION},
    "double-pendulum": {
        "g": ACCELERATION, "m": MASS, "l": LENGTH, "k1": STIFFNESS, "k2": STIFFNESS, "c1": DAMPING, "c2": DAMPING,
    },
    "spatial-rod": {"m": MASS, "a": LENGTH, "d": LENGTH, "g": ACCELERATION},
    "linkage": {"g": ACCELERATION, "m": MASS, "l": LENGTH},
}  # fmt: skip
UNITS = {
    "millimetres": (1e3, 1.0, 1.0),
    "a cell": (1e-6, 1e-15, 1e-4),
    "micrometres": (1e-6, 1.0, 1.0),
    "thousands of kilometres": (1e6, 1.0, 1.0),
    "a grain of dust": (1.0, 1e-12, 1.0),
    "a mountain": (1.0, 1e9, 1.0),
    "microseconds": (1.0, 1.0, 1e-6),
    "days": (1.0, 1.0, 1e5),
}
CLOSE = 1e-5
"""Steps depend on units, because the absolute tolerance does: runs of a second at 1e-9 agree to this."""


@cache
def found(name: str, unit: str | None) -> dict[str, Any]:
    """The motion, equilibria, verdicts and frequencies of a mechanism, in units of the original."""
    length, mass, time = (1.0, 1.0, 1.0) if unit is None else UNITS[unit]
    model = named_model(name)
    start = pendula.compile_system(model).initial_state()
    values = {
        key: float(model.parameter_values[key]) * length**a * mass**b * time**c
        for key, (a, b, c) in MECHANISMS[name].items()
    }
    scaled = model.with_changes(parameters={**model.parameters, **values})
    system = pendula.compile_system(scaled)
    q_units = np.where(np.array(system.layout.coordinate_kinds) == "length", length, 1.0)
    v_units = np.where(np.array(system.layout.speed_kinds) == "length", length, 1.0) / time
    begin = dict(zip(system.layout.coordinates, start.q * q_units, strict=True))
    begin |= dict(zip(system.layout.speeds, start.v * v_units, strict=True))
    run = pendula.simulate(system, time, initial_state=begin, samples=5, tol=1e-9)
    rest = pendula.find_equilibria(system)
    return {
        "ok": run.ok,
        "motion": run.q / q_units,
        "rates": run.v / v_units,
        "drift": run.energy_drift < 1e-6,
        "equilibria": sorted((one.q / q_units).round(6).tolist() for one in rest),
        "complete": rest.complete,
        "verdicts": sorted(pendula.stability(system, one).verdict for one in rest),
        "frequencies": pendula.modes(pendula.linearize(system, rest[0])).frequencies * time,
        "formulations agree": pendula.check(scaled, states=10).passed,
    }


@pytest.mark.parametrize(("name", "unit"), in_turn(MECHANISMS, UNITS))
def test_results_do_not_depend_on_units(name: str, unit: str) -> None:
    expected, scaled = found(name, None), found(name, unit)
    for what in ("ok", "drift", "complete", "verdicts", "formulations agree"):
        assert scaled[what] == expected[what], what
    assert len(scaled["equilibria"]) == len(expected["equilibria"])
    for what in ("motion", "rates", "frequencies"):
        size = max(1.0, float(np.nanmax(np.abs(expected[what]))))
        np.testing.assert_allclose(scaled[what], expected[what], rtol=CLOSE, atol=CLOSE * size, err_msg=what)
