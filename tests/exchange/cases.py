"""Mechanisms that exports are tried on: plane, space with quaternions, loops, driven, inputs, piecewise forces."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import pendula
from pendula import library
from pendula.system.loops.sampling import random_states
from tests.helpers.leaning import leaning_four_bar
from tests.helpers.loops import closed_chain
from tests.system.test_redundancy import parallelogram

PIECEWISE = pendula.Model(
    name="stops, dry friction and a window",
    gravity=[0, "-g", 0],
    parameters={"g": 9.81, "m": 2, "l": "3/2", "k": 40, "template": 0.3, "end": "template/2", "lambda1": 1},
    inputs={"push": "template if t < 0.2 else -end*sin(lambda1*t)"},
    bodies=[
        {"name": "arm one", "rod": {"mass": "m", "length": "l"}},
        {"name": "arm.2", "rod": {"mass": "m", "length": "l"}},
    ],
    joints=[
        {"name": "new", "type": "revolute", "parent": "ground", "child": {"body": "arm one", "at": "top"}},
        {
            "name": "der",
            "type": "revolute",
            "parent": {"body": "arm one", "at": "tip"},
            "child": {"body": "arm.2", "at": "top"},
        },
    ],
    forces=[
        {"type": "generalized", "coordinate": "new", "value": "-k*max(0, new - 0.2) + k*max(0, -new - 0.3)"},
        {
            "type": "generalized",
            "coordinate": "der",
            "value": "push - end*tanh(der_dot/0.1) - (k*der**3 if abs(der) > 0.5 else 0)",
        },
        {"type": "generalized", "coordinate": "new", "value": "erf(der) - atan2(sin(new), 2)*floor(3.7 + template)"},
    ],
)


def _top_in_angles() -> pendula.Model:
    top = library.heavy_top()
    joints = [{"name": "pivot", "type": "spherical", "orientation": "zyz", "parent": "ground", "child": "top"}]
    return top.with_changes(joints=joints, initial={"pivot": {"axis": [0, 1, 0], "angle": "25deg"}})


def _moved_linkage() -> pendula.Model:
    """The four-bar linkage with one pivot that moves in a prescribed way."""
    text = pendula.dumps(library.four_bar())
    return pendula.loads(text.replace('position = ["d", 0, 0]', 'position = ["d + 0.05*sin(3*t)", 0, 0]'))


MECHANISMS: dict[str, Any] = {
    "plane": library.double_pendulum,
    "quaternion": library.heavy_top,
    "loop": library.four_bar,
    "input": library.cart_pole,
    "prescribed": lambda: library.driven_chain(links=3),
    "angles": lambda: _top_in_angles(),
    "piecewise": lambda: PIECEWISE,
    "redundant": lambda: parallelogram(3),
    "hinges": leaning_four_bar,
    "driven_loop": _moved_linkage,
    "space_loop": lambda: closed_chain("revolute"),
}


class Case(NamedTuple):
    """Equations at some states, with our numbers."""

    title: str
    equations: Any
    system: Any
    states: list[tuple[float, np.ndarray, np.ndarray]]  # t, y, y'


@cache
def case(name: str, formulation: str, states: int = 3) -> Case:
    """A mechanism by a formulation at random states that satisfy its constraints."""
    system = pendula.compile_system(MECHANISMS[name](), formulation)
    t, q, v = random_states(system.in_joints.system, 4 * states, seed=11)
    # accelerations at nearly singular states lose digits in every program, ours included
    M = [system.in_joints.system.mass_matrix(q[k], t[k]) for k in range(len(t))]
    best = sorted(range(len(t)), key=lambda k: float(np.linalg.cond(M[k])))
    q, v = system.in_joints.place(q, v, t)
    found = []
    for k in best[:states]:
        rates = np.concatenate([system.rates(q[k], v[k], t[k]), system.solve(q[k], v[k], t[k]).accelerations])
        found.append((float(t[k]), np.concatenate([q[k], v[k]]), rates))
    return Case(f"{name}_{formulation}".replace("-", "_"), system.equations, system, found)


@cache
def pairs() -> list[tuple[str, str]]:
    """Every mechanism by every formulation that derives it."""
    found = []
    for name, make in MECHANISMS.items():
        model = make()
        for formulation in pendula.derivation.formulations():
            try:
                pendula.derive(model, formulation)
            except pendula.errors.NotSupported:
                continue
            found.append((name, formulation))
    return found


def close(found: Any, wanted: Any, tolerance: float) -> None:
    """Fails unless two arrays agree, relative to the largest entry."""
    wanted = np.asarray(wanted)
    found = np.asarray(found, dtype=float).reshape(wanted.shape)
    assert np.abs(found - wanted).max(initial=0.0) <= tolerance * max(1.0, np.abs(wanted).max(initial=0.0))
