"""Fixed steps, the implicit stepper and the note on stiffness, on mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import NotSupported, UsageError
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import VARIANTS, library_system

STIFF_DAMPING = 1e3
"""[N m s/rad] in the pivot of a pendulum that weighs some kilograms: eigenvalues near -3e3 and -5e-3 per second."""


def _damped(damping: float) -> pendula.results.System:
    force = {"type": "torsion-spring", "joint": "theta", "stiffness": 0.0, "damping": damping}
    return pendula.compile_system(library.pendulum().with_changes(forces=[force]))


def _stiff_chain() -> pendula.results.System:
    return pendula.compile_system(library.chain(links=4, stiffness=1e5, damping=1e4, coordinates="relative"))


# --- fixed steps --------------------------------------------------------------------------------------


def test_energy_drift_of_fixed_steps_falls_with_the_fourth_power() -> None:
    """Or faster: 16 times for half the step, at the steps themselves (between them it also depends on where one looks)."""
    system = library_system("pendulum")
    runs = [pendula.simulate(system, 4.0, stepper="rk4", step=h) for h in (0.02, 0.01, 0.005)]
    drifts = [np.abs(run.energy.error).max() for run in runs]
    assert drifts[0] > 14 * drifts[1] > 14 * 14 * drifts[2]
    assert drifts[2] < 1e-7


def test_fixed_steps_lead_where_the_tolerance_leads() -> None:
    system = library_system("double-pendulum")
    fixed = pendula.simulate(system, 2.0, stepper="rk4", step=1e-4, samples=11)
    free = pendula.simulate(system, 2.0, tol=1e-12, samples=11)
    np.testing.assert_allclose(fixed.q, free.q, atol=1e-8)
    assert (fixed.step, free.step, fixed.steps) == (1e-4, None, 20_000)


@pytest.mark.parametrize("constraints", ["projection", "baumgarte"])
def test_fixed_steps_keep_loops_closed(constraints: str) -> None:
    system = library_system("four-bar")
    run = pendula.simulate(system, 1.0, stepper="rk4", step=1e-3, samples=50, constraints=constraints)  # type: ignore[arg-type]
    known = pendula.simulate(system, 1.0, tol=1e-11, samples=50)
    assert run.outcome.ok
    np.testing.assert_allclose(run.q, known.q, atol=1e-6)
    assert run.constraint_violation < (1e-12 if constraints == "projection" else 1e-6)


@pytest.mark.parametrize("step", [None, 0.0, -0.1, np.nan, np.inf, 3.0, 1e-7, "short"])
def test_a_fixed_step_of_no_use_is_refused(step: object) -> None:
    with pytest.raises(UsageError, match="step"):
        pendula.simulate(library_system("pendulum"), 2.0, stepper="rk4", step=step)  # type: ignore[arg-type]


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "radau"])
def test_a_fixed_step_is_refused_by_those_that_choose_theirs(stepper: str) -> None:
    with pytest.raises(NotSupported, match="steps of a fixed size; these do: rk4"):
        pendula.simulate(library_system("pendulum"), 2.0, stepper=stepper, step=0.1)


# --- the implicit stepper -----------------------------------------------------------------------------


def test_energy_account_of_a_chain_with_stiff_springs_and_dampers_closes() -> None:
    """What the dampers take is in the work, which is integrated along; both steppers come to the same end."""
    system = _stiff_chain()
    implicit = pendula.simulate(system, 2.0, tol=1e-8, stepper="radau", samples=40)
    explicit = pendula.simulate(system, 2.0, tol=1e-8, samples=40)
    assert implicit.outcome.ok
    assert implicit.energy.work[-1] < 0.0
    assert implicit.energy.drift < 1e-6
    np.testing.assert_allclose(implicit.q, explicit.q, atol=1e-5)
    np.testing.assert_allclose(implicit.energy.work[-1], explicit.energy.work[-1], rtol=1e-4)
    assert 20 * implicit.rhs_evaluations < explicit.rhs_evaluations


def test_energy_drift_of_the_implicit_stepper_falls_with_the_tolerance() -> None:
    drifts = [pendula.simulate(_stiff_chain(), 1.0, tol=tol, stepper="radau").energy.drift for tol in (1e-5, 1e-9)]
    assert drifts[0] > 100 * drifts[1]


@pytest.mark.parametrize("name", ["four-bar", "heavy-top", "driven-chain", "double-pendulum"])
def test_the_implicit_stepper_moves_mechanisms_as_the_explicit_one(name: str) -> None:
    """Closed loops by projection, quaternions, prescribed motions."""
    system = library_system(name)
    implicit, explicit = (pendula.simulate(system, 1.0, tol=1e-10, stepper=s, samples=9) for s in ("radau", "dop853"))
    assert implicit.outcome.ok
    np.testing.assert_allclose(implicit.q, explicit.q, atol=1e-6)
    assert implicit.constraint_violation < 1e-12
    assert implicit.energy.drift < 1e-7


def test_a_strongly_damped_pendulum_creeps_as_without_inertia() -> None:
    """c theta' = -m g l sin(theta) / 2: tan(theta / 2) falls as exp(-m g l t / (2 c)), up to (inertia terms) 1e-5."""
    system = _damped(STIFF_DAMPING)
    values = dict(zip(system.layout.parameters, system.parameters, strict=True))
    rate = values["m"] * values["g"] * values["l"] / 2 / STIFF_DAMPING
    run = pendula.simulate(system, 100.0, stepper="radau", samples=11, initial_state={"theta": 1.0})
    expected = 2 * np.arctan(np.tan(0.5) * np.exp(-rate * run.t))
    np.testing.assert_allclose(run["theta"], expected, atol=1e-4)
    assert run.steps < 200


# --- the note -----------------------------------------------------------------------------------------


def _stiff_notes(run: pendula.results.Trajectory) -> list[str]:
    return [note for note in run.notes if "looks stiff" in note]


@pytest.mark.parametrize("stepper", ["dop853", "rk45"])
def test_a_strongly_damped_pendulum_is_said_to_be_stiff(stepper: str) -> None:
    (note,) = _stiff_notes(pendula.simulate(_damped(STIFF_DAMPING), 5.0, stepper=stepper))
    assert "from t = 0.0" in note
    assert "try the stepper radau" in note
    assert not _stiff_notes(pendula.simulate(_damped(STIFF_DAMPING), 5.0, stepper="radau"))


def test_a_stiff_loop_is_noticed_with_projection_too() -> None:
    model = library.four_bar()
    damper = {"type": "torsion-spring", "joint": "crank", "stiffness": 0.0, "damping": 1e3}
    system = pendula.compile_system(model.with_changes(forces=[*model.forces, damper]))
    assert _stiff_notes(pendula.simulate(system, 5.0, samples=500))


@pytest.mark.parametrize("name", slow_too([n for n in VARIANTS if ":" not in n], [n for n in VARIANTS if ":" in n]))
def test_library_mechanisms_are_not_said_to_be_stiff(name: str) -> None:
    system = library_system(name)
    for stepper in ("dop853", "rk45"):
        for tol in (1e-6, 1e-9):
            run = pendula.simulate(system, 10.0, tol=tol, stepper=stepper, max_steps=20_000)
            assert not _stiff_notes(run)
