"""Steady small motion under a mechanism's own drive: against closed forms and against the nonlinear motion."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.analysis.modes.drive_response import drive_response
from pendula.errors import NotSupported, UsageError

SMALL = 1e-4  # amplitude of the drive [m] whose motion is compared; cubic terms are below 1e-8 of it
DECAYED = 1e-5  # what is left of the free motion, relative to the steady one


def test_a_shaken_pendulum_follows_its_closed_form():
    found = drive_response(library.driven_chain(links=1, kind="point", amplitude=0.01, rate=2.0))
    assert found.frequency == pytest.approx(2.0, rel=1e-12)
    assert abs(found.there["theta1"][0]) == pytest.approx(0.01 * 4 / (9.81 - 4), rel=1e-10)  # g/l - omega^2, l = 1
    assert found.beats[0].period == pytest.approx(2 * np.pi / (np.sqrt(9.81) - 2), rel=1e-10)
    assert found.others < 1e-12


def test_it_is_what_remains_of_a_damped_nonlinear_motion():
    model = library.driven_chain(links=2, friction=2.0, amplitude=SMALL, rate=3.0)
    found = drive_response(model)
    assert found.beats == ()  # they die out
    period = 2 * np.pi / 3.0
    run = pendula.simulate(model, 40 * period, tol=1e-11, samples=40 * 64 + 1)
    for name in ("theta1", "theta2"):
        last = run[name][-65:-1]
        size = abs(2 * np.mean(last * np.exp(-2j * np.pi * np.arange(64) / 64)))
        assert size == pytest.approx(abs(found.there[name][0]), rel=DECAYED), name


def test_a_loop_is_linearized_about_its_lowest_pose_with_the_end_held():
    found = drive_response(library.driven_linkage(bars=5, amplitude=0.01, rate=1.0))
    assert found.there.amplitudes.max() > 0
    assert len(found.response.resonances) == 2  # four links between two pivots have two freedoms


def test_shaking_along_a_hanging_pendulum_moves_nothing():
    found = drive_response(library.driven_chain(links=1, amplitude=0.01, rate=2.0, direction=0))
    assert not found.there.amplitudes.any()
    assert any("nothing moves" in note for note in found.response.notes)


def _pivot(x: str, y: str) -> pendula.Model:
    """A pendulum whose pivot moves as given."""
    return pendula.Model(
        name="shaken",
        gravity=[0, -9.81, 0],
        bodies=[{"name": "bob", "rod": {"mass": 1, "length": 1}}],
        joints=[{"name": "q", "type": "revolute", "parent": {"body": "ground", "position": [x, y, 0]}, "child": "bob"}],
    )


def test_other_harmonics_are_counted_and_other_phases_refused():
    found = drive_response(_pivot("0.5 + 0.01*sin(2*t) + 0.002*cos(6*t)", "0"))
    assert found.response.amplitude == pytest.approx(0.01, rel=1e-9)
    assert found.others == pytest.approx(0.2, rel=1e-6)
    assert found.linear.motions.held[0] == pytest.approx(0.5)
    with pytest.raises(NotSupported, match="different phases"):
        drive_response(_pivot("0.01*cos(t)", "0.01*sin(t)"))
    with pytest.raises(UsageError, match="no prescribed motion"):
        drive_response(library.pendulum())
