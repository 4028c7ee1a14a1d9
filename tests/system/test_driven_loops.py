"""Loops in which prescribed motions leave constraint rows that no motion changes: the recursion against own equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import Model
from tests.system.test_redundancy import compiled, parallelogram

CRANK, SPAN, AT = 0.7, 1.3, (0.4, 0.1)
SWING = "0.8 + 0.6*sin(2*t)"
MASS, COM, INERTIA = 0.6, (0.2, 0.05), 0.12
TIMES = np.linspace(0, 2, 14)
CLOSE = 1e-9


def rod_on_a_translating_coupler(t: Any, q: Any, shift: Any = 0.0) -> Any:
    """q'' of a rod that hangs on a coupler which two equal cranks carry along a circle: both driven, it cannot turn.

    Moments about the pivot P, with the acceleration of P known: (I + m c^2) q'' = -m c x (a_P - g).
    """
    x, rate, second = 0.8 + 0.6 * np.sin(2 * t), 1.2 * np.cos(2 * t), -2.4 * np.sin(2 * t)
    pivot_x = CRANK * (-np.sin(x) * second - np.cos(x) * rate**2) + shift
    pivot_y = CRANK * (np.cos(x) * second - np.sin(x) * rate**2) + 9.81
    c, s = np.cos(q), np.sin(q)
    arm_x, arm_y = c * COM[0] - s * COM[1], s * COM[0] + c * COM[1]
    return -MASS * (arm_x * pivot_y - arm_y * pivot_x) / (INERTIA + MASS * (COM[0] ** 2 + COM[1] ** 2))


def at(body: str, *place: Any) -> dict[str, Any]:
    return {"body": body, "position": list(place)}


def pin(name: str, parent: Any, child: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "revolute", "axis": [0, 0, 1], "parent": parent, "child": child, **more}


def driven(kind: str, shift: str = "0") -> Model:
    """A parallelogram, level at all times, whose prescribed motions determine more than its freedoms."""
    bodies: list[dict[str, Any]] = [
        {"name": name, "mass": 1.0, "com": [0.2, 0.05, 0.1], "inertia": [0.11, 0.13, 0.12]}
        for name in ("left", "right", "coupler")
    ]
    bodies.append({"name": "rod", "mass": MASS, "com": [*COM, 0.0], "inertia": [0.1, 0.1, INERTIA]})
    coupler = pin("coupler", at("left", CRANK, 0, 0), "coupler")
    closing: list[dict[str, Any]] = [
        {"name": "pin", "type": "coincident", "parent": at("coupler", SPAN, 0, 0), "child": at("right", CRANK, 0, 0)}
    ]
    initial = {"q": 0.3, "q_dot": 0.5, "coupler": -0.8, "coupler_dot": -1.2}
    if kind == "three drives":
        coupler["motion"] = f"-({SWING})"
        initial = {"q": 0.3, "q_dot": 0.5}
    elif kind == "revolute joint":
        closing[0] |= {"type": "loop", "kind": "revolute", "axis": [0, 0, 1]}
        coupler |= {"type": "spherical", "orientation": "quaternion"}
        del coupler["axis"]
        initial = {"q": 0.3, "q_dot": 0.5}
    elif kind == "two loops":
        bodies.append({**bodies[0], "name": "middle"})
        coupler = [coupler, pin("middle", at("ground", 0.6, 0, 0), "middle")]
        closing.append(
            {**closing[0], "name": "pin2", "parent": at("coupler", 0.6, 0, 0), "child": at("middle", CRANK, 0, 0)}
        )
        initial |= {"middle": 0.8, "middle_dot": 1.2}
    return Model(
        name=kind,
        gravity=[0, -9.81, 0],
        bodies=bodies,
        joints=[
            pin("left", at("ground", shift, 0, 0), "left", motion=SWING),
            pin("right", at("ground", f"{SPAN} + {shift}", 0, 0), "right", motion=SWING),
            *(coupler if isinstance(coupler, list) else [coupler]),
            pin("q", at("coupler", *AT, 0), "rod"),
            *closing,
        ],
        initial=initial,
    )


@pytest.mark.parametrize("kind", ["two drives", "three drives", "two loops", "revolute joint"])
def test_a_loop_with_more_drives_than_freedoms_moves_as_one_equation_says(kind: str) -> None:
    """The coupler stays level: one row of its pin changes with no speed, and only rounding is left of it."""
    system = pendula.compile_system(driven(kind), engine="recursive")
    run = pendula.simulate(system, 2.0, tol=1e-11, samples=TIMES)
    assert run.ok
    np.testing.assert_allclose(run["q_ddot"], rod_on_a_translating_coupler(TIMES, run["q"]), rtol=CLOSE, atol=CLOSE)
    expected = solve_ivp(  # short steps, since samples are interpolated
        lambda t, y: [y[1], rod_on_a_translating_coupler(t, y[0])], (0, 2), [0.3, 0.5], "DOP853", TIMES, max_step=0.02
    )
    np.testing.assert_allclose(run["q"], expected.y[0], atol=CLOSE)


def test_so_do_loops_on_ground_points_that_move_together() -> None:
    system = pendula.compile_system(driven("two drives", shift="0.3*sin(3*t)"), engine="recursive")
    run = pendula.simulate(system, 2.0, tol=1e-11, samples=TIMES)
    shaken = -2.7 * np.sin(3 * TIMES)
    np.testing.assert_allclose(
        run["q_ddot"], rod_on_a_translating_coupler(TIMES, run["q"], shaken), rtol=CLOSE, atol=CLOSE
    )


@pytest.mark.parametrize("kind", ["two drives", "three drives", "two loops", "revolute joint"])
def test_the_motors_share_the_power_that_the_mechanism_needs(kind: str) -> None:
    """Which motor pushes is not determined, but the cranks turn alike, so the sum of their torques is."""
    model = driven(kind)
    system = pendula.compile_system(model, engine="recursive")
    run = pendula.simulate(system, 2.0, tol=1e-10, samples=TIMES)
    symbolic = pendula.compile_system(model, "newton-euler", engine="symbolic")
    forces = system.drive_forces(run.q, run.v, run.t), symbolic.drive_forces(run.q, run.v, run.t)
    if kind == "three drives":
        both = [f[:, 0] + f[:, 1] - f[:, 2] for f in forces]
    else:
        both = [f.sum(axis=1) for f in forces]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("off", [1e-5, 1e-4])
def test_redundant_loops_slightly_off_their_constraints_are_solved(off: float) -> None:
    """Stages of a step are off the constraints, where redundant rows look independent by as much."""
    system = pendula.compile_system(parallelogram(3), engine="recursive")
    start = system.initial_state()
    near = start.q + off * np.array([0.3, -0.5, 0.4, -0.2])
    found, expected = system.accelerations(near, start.v), compiled("parallelogram 3").accelerations(start.q, start.v)
    assert system.layout.coordinates == compiled("parallelogram 3").layout.coordinates
    np.testing.assert_allclose(found, expected, atol=1e3 * off)
