"""The estimated error of a run against the true one: elliptic functions, and runs at much tighter tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import pendula
from pendula import library
from pendula.simulation.defaults import LOST
from pendula.system.parameters import typical_length
from tests.simulation.test_singular_poses import windows

FACTOR = 15.0  # an indication: about an order of magnitude to either side
LOOSE_FACTOR = 100.0  # other steppers: the error is less closely proportional to the tolerance
TIGHT = 1e-13  # of reference runs: their errors are far below those that they are compared with
LEAST = 1e-11  # errors of the reference are no longer negligible below this

MOTIONS: list[tuple[Any, float]] = [
    ("pendulum", 10.0), ("pendulum", 100.0), ("pendulum", 1000.0), ("pendulum", 3000.0), ("double-pendulum", 5.0),
    (library.chain(links=2), 5.0), (library.chain(links=2), 20.0), (library.chain(links=2), 100.0),
    (library.chain(links=3), 5.0), (library.chain(links=3), 10.0), (library.chain(links=10), 3.0),
    (library.chain(links=10), 10.0), ("double-physical-pendulum", 10.0), ("double-physical-pendulum", 100.0),
    ("cart-pole", 10.0), ("cart-pole", 100.0), ("cart-pole", 400.0), ("spherical-pendulum", 10.0),
    ("spherical-pendulum", 100.0), ("spherical-pendulum", 400.0), ("heavy-top", 10.0), ("heavy-top", 50.0),
    ("free-body", 10.0), ("free-body", 100.0), ("four-bar", 10.0), ("four-bar", 50.0), ("slider-crank", 10.0),
    ("slider-crank", 100.0), ("linkage", 10.0), ("linkage", 50.0), ("driven-linkage", 10.0), ("driven-chain", 10.0),
    ("driven-chain", 50.0), ("inverted-chain", 1.0), ("hoop-bead", 20.0), ("disc-bar", 10.0), ("spatial-rod", 20.0),
    ("spatial-rod", 200.0), ("spring-mass-bar", 10.0), ("shaft-bar", 10.0), ("inverted-double-pendulum", 10.0),
]  # fmt: skip
EVERY_DAY = [MOTIONS[k] for k in (0, 1, 5, 7, 10, 14, 24, 34)]


def _true_error(run: pendula.results.Trajectory) -> float:
    """Largest error of a coordinate over the last eighth of the steps, in radians or typical lengths.

    At a single time it may pass through zero.
    """
    late = run.t[-2 - len(run) // 8 :]
    span = (float(run.t[0]), float(run.t[-1]))
    exact = pendula.simulate(run.system, t_span=span, initial_state=run.state(0), tol=TIGHT, samples=late)
    size = {"angle": 1.0, "quaternion": 0.5}
    sizes = [size.get(kind, typical_length(run.system)) for kind in run.layout.coordinate_kinds]
    return float((np.abs(run.q[-len(late) :] - exact.q) / sizes).max())


def _check(run: pendula.results.Trajectory, factor: float) -> None:
    found, true = run.predictability, _true_error(run)
    assert found is not None
    estimate = float(found.error[-1])
    assert estimate / factor < max(min(true, 1.0), LEAST)
    assert min(true, 1.0) < max(estimate * factor, LEAST)
    if true < LOST / factor:
        assert found.until is None
    if true > LOST * factor:
        assert found.until is not None


def _named(motion: tuple[Any, float]) -> str:
    return f"{getattr(motion[0], 'name', motion[0])}-{motion[1]:g}"


@pytest.mark.parametrize("motion", EVERY_DAY, ids=_named)
def test_the_estimate_is_near_the_true_error(motion: tuple[Any, float]) -> None:
    _check(pendula.simulate(*motion), FACTOR)


@pytest.mark.slow
@pytest.mark.parametrize("motion", MOTIONS, ids=_named)
def test_the_estimate_is_near_the_true_error_everywhere(motion: tuple[Any, float]) -> None:
    _check(pendula.simulate(*motion), FACTOR)


@pytest.mark.parametrize(
    "settings",
    [
        {"tol": 1e-3},
        {"tol": 1e-6},
        {"tol": 1e-10},
        {"stepper": "rk45", "tol": 1e-6},
        {"stepper": "radau", "tol": 1e-6},
        {"stepper": "taylor", "tol": 1e-9},
        {"stepper": "rk4", "step": 0.01},
    ],
)
def test_with_every_stepper(settings: dict[str, Any]) -> None:
    for name, duration in (("pendulum", 20.0), ("double-physical-pendulum", 10.0)):
        _check(pendula.simulate(name, duration, **settings), LOOSE_FACTOR)


@pytest.mark.parametrize("tol", [1e-6, 1e-8])
def test_runs_that_changed_charts(tol: float) -> None:
    """A body in Euler angles that swings through their pole: off in its rotation by about what is estimated."""
    body = {"name": "b", "mass": 1.3, "com": [0, 0.1, -0.5], "inertia": [0.2, 0.3, 0.1]}
    joint = {"name": "j", "type": "spherical", "orientation": "zxz", "parent": "ground", "child": "b"}
    start = {"j_1": 0.2, "j_2": 0.8, "j_3": 0.1}
    model = pendula.Model(name="body", gravity=[0, 0, -9.81], bodies=[body], joints=[joint], initial=start)
    system = pendula.compile_system(model)
    run, exact = (pendula.simulate(system, 20.0, tol=x) for x in (tol, 1e-12))
    assert len(run.events["chart switch"]) > 2
    off = np.abs(system.poses(run.q[-1])[0] - system.poses(exact.q[-1])[0]).max()
    assert run.predictability is not None
    assert off / FACTOR < run.predictability.error[-1] < off * FACTOR


def test_a_pendulum_that_loses_its_phase_is_told_so() -> None:
    duration, frequency, amplitude = 10_000.0, np.sqrt(1.5 * 9.81), np.pi / 2
    run = pendula.simulate("pendulum", duration, initial_state={"theta": amplitude})
    # theta = 2 asin(k sn(K - w t, k)) from rest at its largest value: A. J. Brizard, "A primer on elliptic functions
    # with applications in classical mechanics", 2009
    k = np.sin(amplitude / 2)
    phase = np.remainder(ellipk(k * k) + frequency * duration, 4 * ellipk(k * k))
    exact = 2 * np.arcsin(k * ellipj(phase, k * k)[0])
    off = abs(run["theta"][-1] - exact)
    assert run.predictability is not None
    assert run.predictability.until is not None
    assert off > LOST
    assert off / FACTOR < run.predictability.error[-1] < off * FACTOR
    assert any("predicts the motion only up to" in note for note in run.notes)
    assert "predicts the motion only up to" in " ".join(str(run).split())


def test_a_chaotic_run_says_until_when_it_holds() -> None:
    system = pendula.compile_system(library.chain(links=2))
    times = np.linspace(0.0, 100.0, 2001)
    run = pendula.simulate(system, 100.0, samples=times)
    exact = pendula.simulate(system, 100.0, tol=TIGHT, samples=times)
    lost = times[np.flatnonzero(np.abs(run.q - exact.q).max(axis=1) > LOST)[0]]
    assert run.predictability is not None
    assert run.predictability.until is not None
    assert run.predictability.until == pytest.approx(lost, rel=0.3)
    assert run.predictability.error[-1] == 1.0


@pytest.mark.parametrize("constraints", ["projection", "baumgarte"])
def test_loops_and_maximal_coordinates(constraints: Any) -> None:
    _check(pendula.simulate("four-bar", 5.0, constraints=constraints), LOOSE_FACTOR)
    _check(pendula.simulate(pendula.compile_system("double-pendulum", "maximal"), 2.0), LOOSE_FACTOR)


def test_a_run_past_singular_poses_has_an_estimate() -> None:
    run = pendula.simulate(windows(1), 4.0)
    assert run.events["singular pose"]
    assert run.predictability is not None
    assert run.predictability.until is None


def test_it_is_done_when_it_is_asked_for_and_depends_on_the_steps_alone() -> None:
    run = pendula.simulate("double-pendulum", 5.0)
    assert "predictability" not in vars(run)
    sampled = pendula.simulate("double-pendulum", 5.0, samples=3)
    assert run.predictability is not None
    assert sampled.predictability is not None
    assert sampled.predictability.error[-1] == run.predictability.error[-1]
    assert pendula.simulate("pendulum", 0.0).predictability is None


def test_backwards() -> None:
    start = pendula.simulate("pendulum", 50.0, tol=TIGHT).state()
    run = pendula.simulate("pendulum", t_span=(50.0, 0.0), initial_state=start)
    _check(run, FACTOR)
    assert run.predictability is not None
    assert run.predictability.t[0] == 50.0
    assert run.predictability.t[-1] == 0.0


def test_a_mechanism_at_rest_is_known_exactly() -> None:
    run = pendula.simulate("pendulum", 100.0, initial_state={"theta": 0.0})
    assert run.predictability is not None
    assert run.predictability.error.max() == 0.0
    assert run.predictability.until is None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({str(name) for name, _ in MOTIONS if isinstance(name, str)} | {"chain"}))
def test_no_alarm_is_false_and_none_is_missing(name: str) -> None:
    system = pendula.compile_system(name)
    for duration in (1.0, 3.0) if name == "inverted-chain" else (1.0, 3.0, 10.0, 30.0):
        for tol in (1e-6, 1e-8):
            run = pendula.simulate(system, duration, tol=tol)
            assert run.predictability is not None
            true = _true_error(run)
            if not LOST / 2 < true < 2 * LOST:  # at the threshold itself an estimate may say either
                assert (run.predictability.until is not None) == (true > LOST)


@pytest.mark.parametrize("duration", [0.2, 0.5, 1.0, 2.0])
def test_a_run_of_few_steps_is_not_called_exact(duration: float) -> None:
    """The second run must not take the same steps as the first."""
    run = pendula.simulate("pendulum", duration, tol=1e-7)
    assert run.predictability is not None
    assert run.predictability.error[-1] > 1e-12
    _check(run, LOOSE_FACTOR)


def test_no_estimate_is_below_the_rounding_of_the_coordinates() -> None:
    run = pendula.simulate("driven-linkage", 0.02, tol=1e-12)
    found = run.predictability
    least = np.finfo(float).eps * max(1.0, float(np.abs(run.q).max()))
    assert (found.error[found.error > 0] >= 0.99 * least).all()
    still = pendula.simulate("pendulum", 1.0, tol=1e-14, initial_state={"theta": 1e-12}).predictability
    assert still.error[-1] >= np.finfo(float).eps
    assert "as small as rounding allows" in still.size
