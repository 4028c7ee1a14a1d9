"""Arguments of wrong types end in an error of Pendula that names the argument, not in one of float() or numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import PendulaError

SYSTEM = "pendulum"

CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "text for an angle": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={"theta": "a"}), "theta"),
    "nothing for an angle": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={"theta": None}), "theta"),
    "a list for an angle": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={"theta": [1, 2]}), "theta"),
    "a complex angle": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={"theta": 1j}), "theta"),
    "a huge integer": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={"theta": 10**400}), "theta"),
    "a number for a name": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state={1: 2}), ""),
    "text for a state": (lambda: pendula.simulate(SYSTEM, 1.0, initial_state="a"), ""),
    "text for parameters": (lambda: pendula.simulate(SYSTEM, 1.0, parameters="a"), "parameters"),
    "an object for parameters": (lambda: pendula.find_equilibria(SYSTEM, parameters=object()), "parameters"),
    "text for inputs": (lambda: pendula.linearize("cart-pole", inputs="a"), "inputs"),
    "a list for a stepper": (lambda: pendula.simulate(SYSTEM, 1.0, stepper=[]), "stepper"),
    "a huge duration": (lambda: pendula.simulate(SYSTEM, 10**400), "duration"),
    "a huge duration of many": (lambda: pendula.simulate_many(SYSTEM, 10**400, {"theta": [1.0]}), "duration"),
    "huge starts": (lambda: pendula.simulate_many(SYSTEM, 1.0, {"theta": [10**400]}), "theta"),
    "huge steps": (lambda: pendula.simulate_many(SYSTEM, 1.0, {"theta": [1.0]}, max_steps=10**30), "max_steps"),
    "a list for a formulation": (lambda: pendula.compile_system(SYSTEM, []), "formulation"),
    "text for a point": (lambda: pendula.linearize(SYSTEM, "a"), "values by name"),
    "an object for a point": (lambda: pendula.linearize(SYSTEM, object()), "values by name"),
    "a point of nothing": (lambda: pendula.linearize(SYSTEM, {"theta": None}), "theta"),
    "text for a box": (lambda: pendula.find_equilibria(SYSTEM, box="a"), "box"),
    "text for rates": (lambda: pendula.find_equilibria(SYSTEM, rates="a"), "rates"),
    "text for a rate": (lambda: pendula.find_equilibria(SYSTEM, rates={"theta": "a"}), "rates"),
    "text for a seed": (lambda: pendula.find_equilibria(SYSTEM, seed="a"), "seed"),
    "a negative seed": (lambda: pendula.check(SYSTEM, seed=-1), "seed"),
    "endless states": (lambda: pendula.check(SYSTEM, states=float("inf")), "states"),
    "text for states": (lambda: pendula.check(SYSTEM, states="a"), "states"),
    "an object for formulations": (lambda: pendula.check(SYSTEM, formulations=object()), "formulations"),
    "nothing to keep": (lambda: pendula.assemble(SYSTEM, keep=None), "keep"),
    "text for a range": (lambda: pendula.linear.stability_over(SYSTEM, "l", "a", 2.0, at={"theta": 0}), "range"),
    "text for samples": (
        lambda: pendula.linear.stability_over(SYSTEM, "l", 1.0, 2.0, at={"theta": 0}, samples="a"), "samples"
    ),
    "a list for a path": (lambda: pendula.plot(pendula.simulate(SYSTEM, 0.1), []), "path"),
    "text for a Lyapunov time": (lambda: pendula.chaos.lyapunov(SYSTEM, "a"), "duration"),
    "an array for a name of a run": (lambda: pendula.simulate(SYSTEM, 0.1)[np.zeros(2)], "name"),
    "text for a force": (lambda: pendula.linear.free_response(SYSTEM, "a", [0], [0.0]), "numbers"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
def test_a_wrong_type_is_refused_in_words(kind):
    call, word = CALLS[kind]
    with pytest.raises(PendulaError) as found:
        call()
    assert word in str(found.value)
