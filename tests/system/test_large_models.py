"""Mechanisms of many bodies: work in proportion to their number, and motion that obeys Newton and Euler."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pendula
from pendula import Model, library
from pendula.errors import ModelError, UsageError
from tests.helpers.choices import slow_too

Array = NDArray[np.float64]

BALANCE = 1e-9
"""Of the largest term in the balance of one link: the recursion adds up rounding errors along the whole chain."""


def tree(count: int) -> Model:
    """Rods in a binary tree."""
    parents: list[Any] = ["ground", *({"body": f"b{(k - 1) // 2}", "at": "tip"} for k in range(1, count))]
    return Model(
        name="tree",
        gravity=[0, "-g", 0],
        parameters={"g": 9.81, "m": 1, "l": 0.5},
        bodies=[{"name": f"b{k}", "rod": {"mass": "m", "length": "l"}} for k in range(count)],
        joints=[
            {"name": f"a{k}", "type": "revolute", "parent": above, "child": f"b{k}"} for k, above in enumerate(parents)
        ],
        initial={f"a{k}": 0.1 * (k % 7) for k in range(count)},
    )


def ball_chain(count: int) -> Model:
    """Boxes on ball joints."""
    box = {"mass": "m", "size": [0.1, "l", 0.2], "at": [0, "-l/2", 0]}
    sides: list[Any] = ["ground", *({"body": f"b{k - 1}", "position": [0, "-l", 0]} for k in range(1, count))]
    return Model(
        name="chain in space",
        gravity=[0, "-g", 0.5],
        parameters={"g": 9.81, "m": 1, "l": 0.5},
        bodies=[{"name": f"b{k}", "box": box} for k in range(count)],
        joints=[
            {"name": f"a{k}", "type": "spherical", "parent": above, "child": f"b{k}"} for k, above in enumerate(sides)
        ],
    )


def calls(work: Callable[[], Any]) -> int:
    """The number of functions that are called, those written in C included."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def ready(make: Callable[[int], Model], count: int) -> None:
    """From the description to the first accelerations."""
    system = pendula.compile_system(make(count), engine="recursive")
    start = system.initial_state()
    system.accelerations(start.q, start.v)


MECHANISMS: dict[str, Callable[[int], Model]] = {
    "chain": lambda count: library.chain(links=count),
    "springs": lambda count: library.chain(links=count, stiffness=1.0, friction=0.1, coordinates="relative"),
    "masses": lambda count: library.chain(links=count, mass=[1 + 0.01 * k for k in range(count)]),
    "tree": tree,
    "ball chain": ball_chain,
}


@pytest.mark.parametrize("kind", slow_too(["chain", "tree", "ball chain"], ["springs", "masses"]))
def test_set_up_takes_calls_in_proportion_to_the_bodies(kind: str) -> None:
    small, large = (100, 400) if kind != "chain" else (400, 1600)
    ready(MECHANISMS[kind], 10)  # loads modules and kernels
    first, second = (calls(lambda n=n: ready(MECHANISMS[kind], n)) for n in (small, large))
    assert second < 4.2 * first


def test_a_state_is_read_by_name_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a name is in a state is a look into a table: every run asks it for every initial value."""
    state = pendula.compile_system(library.chain(links=50), engine="recursive").initial_state()
    monkeypatch.setattr(type(state), "__iter__", None)
    assert "theta50_dot" in state
    assert "theta51" not in state


def unbalanced(q: Array, v: Array, a: Array, g: float = 9.81) -> float:
    """What is left in Newton's and Euler's equations of a chain of rods of 1 kg and 1 m, relative to their terms.

    Angles are from straight down. Accelerations of the mass centres are summed from the pivot outward, joint forces
    from the tip inward; then every link's moments about its mass centre must add up.
    """
    along = np.stack([np.sin(q), -np.cos(q)], axis=1)
    across = np.stack([np.cos(q), np.sin(q)], axis=1)
    relative = a[:, None] * across - (v**2)[:, None] * along  # acceleration of each tip relative to its own pivot
    tips = np.cumsum(relative, axis=0)
    needed = tips - relative / 2 - np.array([0.0, -g])
    force = np.cumsum(needed[::-1], axis=0)[::-1]
    below = np.concatenate([force[1:], np.zeros((1, 2))])

    def moment(of: Array) -> Array:
        return -0.5 * (along[:, 0] * of[:, 1] - along[:, 1] * of[:, 0])

    left = a / 12 - moment(force) - moment(below)
    size = max(np.abs(force).max(), np.abs(a).max())
    return float(np.abs(left).max() / size)


def test_a_chain_obeys_newton_and_euler() -> None:
    n = 2000
    system = pendula.compile_system(library.chain(links=n), engine="recursive")
    rng = np.random.default_rng(3)
    q, v = np.cumsum(rng.normal(size=n)) * 0.05, rng.normal(size=n)
    a = system.accelerations(q, v)
    assert unbalanced(q, v, a) < BALANCE
    a[n // 2] += 1e-3 * np.abs(a).max()
    assert unbalanced(q, v, a) > 10 * BALANCE  # the balance sees a wrong link


def test_more_bodies_than_the_limit_are_refused_with_the_number() -> None:
    with pytest.raises(UsageError, match="from 1 to 100000, found 100001"):
        library.chain(links=100_001)
    with pytest.raises(ModelError, match="100001 bodies exceed the 100000 allowed"):
        Model(name="many", gravity=[0, 0, 0], bodies=[{"name": "b", "mass": 1}] * 100_001)


READY = """
import numpy as np, pendula
from pendula.storage.room import most_memory
from tests.system.test_large_models import unbalanced
system = pendula.compile_system(pendula.library.chain(links=100_000), engine="recursive")
start = system.initial_state()
system.accelerations(start.q, start.v)
peak = most_memory()
rng = np.random.default_rng(3)
q, v = np.cumsum(rng.normal(size=100_000)) * 0.05, rng.normal(size=100_000)
left = unbalanced(q, v, system.accelerations(q, v))
run = pendula.simulate(system, 0.01)
print(peak, left, run.outcome.name, run.energy_drift)
"""


@pytest.mark.slow
def test_a_hundred_thousand_links_fit_into_a_gigabyte_and_move() -> None:
    done = subprocess.run([sys.executable, "-c", READY], capture_output=True, text=True, check=True)
    peak, left, outcome, drift = done.stdout.split()
    assert 100_000_000 < int(peak) < 1_000_000_000
    assert float(left) < BALANCE
    assert outcome == "FINISHED"
    assert abs(float(drift)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("make", "count"), [(tree, 100_000), (ball_chain, 20_000)])
def test_many_bodies_in_other_shapes_move(make: Callable[[int], Model], count: int) -> None:
    system = pendula.compile_system(make(count), engine="recursive")
    start = system.initial_state()
    a = system.accelerations(start.q, start.v)
    forces = system.residual(start.q, start.v, a)  # inverse dynamics, another recursion
    weight = np.abs(system.forces(start.q, start.v)).max()
    assert np.abs(forces).max() < BALANCE * weight
