"""A stepper in one file outside the package does what those inside do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported, UsageError
from pendula.extend import STEPPERS, Stepper, register_stepper
from pendula.extensions import load_extension
from pendula.results import System

FILE = Path(__file__).with_name("leapfrog.py")
PERIODS = 2.0  # s


@pytest.fixture(scope="module", autouse=True)
def _leapfrog() -> Iterator[None]:
    load_extension(FILE)
    yield
    STEPPERS.remove("leapfrog")
    sys.modules.pop("leapfrog")


@pytest.fixture(scope="module")
def pendulum() -> System:
    return pendula.compile_system(pendula.library.pendulum())


def test_the_error_falls_with_the_square_of_the_step(pendulum: System) -> None:
    exact = pendula.simulate(pendulum, PERIODS, tol=1e-12, samples=[PERIODS]).q[-1]
    errors = []
    for step in (2e-3, 1e-3):
        run = pendula.simulate(pendulum, PERIODS, stepper="leapfrog", step=step)
        assert run.outcome.ok
        errors.append(np.abs(run.q[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_energy_stays_bounded_over_2000_seconds(pendulum: System) -> None:
    """The error of the energy swings, and does not grow: the last hundred seconds are as good as the first."""
    run = pendula.simulate(pendulum, 2000.0, stepper="leapfrog", step=5e-3)
    error = np.abs(run.energy.error / run.energy.scale)
    first, last = error[run.energy.t < 100.0].max(), error[run.energy.t > 1900.0].max()
    assert run.outcome.ok
    assert first < 1e-3
    assert last < 1.1 * first


def test_loops_are_kept_closed_by_projection() -> None:
    system = pendula.compile_system(pendula.library.four_bar())
    run = pendula.simulate(system, 1.0, stepper="leapfrog", step=5e-4, samples=20)
    known = pendula.simulate(system, 1.0, tol=1e-10, samples=20)
    assert run.outcome.ok
    assert run.constraint_violation < 1e-12
    np.testing.assert_allclose(run.q, known.q, atol=1e-5)


def test_quaternions_keep_the_order() -> None:
    system = pendula.compile_system(pendula.library.spherical_pendulum())
    exact = pendula.simulate(system, 1.0, tol=1e-12).q[-1]
    errors = [
        np.abs(pendula.simulate(system, 1.0, stepper="leapfrog", step=step).q[-1] - exact).max()
        for step in (2e-3, 1e-3)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_events_samples_and_breakpoints_come_with_the_loop(pendulum: System) -> None:
    run = pendula.simulate(pendulum, 60.0, stepper="leapfrog", step=1e-3, events=["stop: theta = 0"])
    known = pendula.simulate(pendulum, 60.0, tol=1e-12, events=["stop: theta = 0"])
    assert run.outcome is pendula.Outcome.EVENT
    assert run.t[-1] == pytest.approx(known.t[-1], abs=1e-5)


def test_what_it_lacks_is_refused_by_name(pendulum: System) -> None:
    with pytest.raises(NotSupported, match='"leapfrog" does not support many runs side by side; these do: dop853'):
        pendula.simulate_many(pendulum, initial_states={"theta": [0.1, 0.2]}, duration=1.0, stepper="leapfrog")
    with pytest.raises(NotSupported, match=r'"taylor" does not support finding events; these do: .*leapfrog'):
        pendula.simulate(pendulum, 1.0, stepper="taylor", events=["theta = 0"])
    with pytest.raises(NotSupported, match=r"steps of a fixed size; these do: rk4, (.*, )?leapfrog"):
        pendula.simulate(pendulum, 1.0, step=0.1)
    with pytest.raises(UsageError, match='no stepper "leapfog"; did you mean "leapfrog"'):
        pendula.simulate(pendulum, 1.0, stepper="leapfog", step=0.1)


def test_names_of_the_package_and_steppers_without_a_step_are_refused() -> None:
    with pytest.raises(UsageError, match="choose another name"):
        register_stepper(Stepper("rk4", 4, step=lambda *_: True))
    with pytest.raises(UsageError, match="step function"):
        register_stepper(Stepper("nothing", 4))


@pytest.mark.slow
def test_the_command_takes_it_from_an_extension_file() -> None:
    command = [sys.executable, "-m", "pendula", "simulate", "pendulum", "--stepper", "leapfrog", "--step", "0.01"]
    done = subprocess.run(
        [*command, "--for", "1", "--json"],
        env={**os.environ, "PENDULA_EXTENSIONS": str(FILE)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["outcome"].startswith("finished")
