"""Lanes with a time, a step size and an end of their own, against closed forms and the stepper for one run."""

from __future__ import annotations

import numpy as np
import pytest

from pendula.errors import NotSupported, UsageError
from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.ensemble.integrate_many import LaneSetup, codes, integrate_many
from pendula.numerics.scalars.eight import LANES, aligned_zeros, choose, eights_at
from pendula.numerics.steppers.endings import OUTCOMES_OF_MANY as OUTCOMES
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import integrate
from pendula.outcome import Outcome

SIDE_BY_SIDE = [name for name in STEPPERS if STEPPERS[name].lanes]


@compiled_callback
def growth(out, inp, context):
    """y' = y^2, for eight."""
    y = eights_at(inp, 2)
    eights_at(out, 1)[0] = y[1] * y[1]


@compiled_callback
def growth_of_one(out, inp, context):
    y = doubles_at(inp, 2)
    doubles_at(out, 1)[0] = y[1] * y[1]


@compiled_callback
def switched(out, inp, context):
    """y' = 1 after the time that stands in the lane's column, 0 before."""
    t = eights_at(inp, 2)[0]
    eights_at(out, 1)[0] = choose(t > eights_at(context, 1)[0], 1.0, 0.0 * t)


@compiled_callback
def sweep(out, inp, context):
    """y' = a cos t, with a from the lane's column."""
    y = eights_at(inp, 3)
    rates = eights_at(out, 2)
    rates[0] = y[2]
    rates[1] = -eights_at(context, 1)[0] * y[1]


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_runs_that_blow_up_leave_the_others_alone(method):
    start = np.array([0.1, 2.0, 0.2, 0.3, 5.0, 0.4, 0.1, 0.2, 0.05, 3.0, 0.25])
    found = integrate_many(growth.bind(), start[:, None], (0.0, 1.0), rtol=1e-9, atol=1e-9, method=method)
    blown = start > 1.0
    outcomes = [OUTCOMES[int(code)] for code in found.code]
    assert [outcome is Outcome.FINISHED for outcome in outcomes] == list(~blown)
    np.testing.assert_allclose(found.y[~blown, 0], (start / (1 - start))[~blown], rtol=1e-7)
    np.testing.assert_allclose(found.t[blown], 1 / start[blown], rtol=1e-6)
    assert np.isfinite(found.y).all()


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_steps_are_those_of_one_run(method):
    start = np.linspace(0.1, 0.9, 13)
    found = integrate_many(growth.bind(), start[:, None], (0.0, 1.0), rtol=1e-8, atol=1e-10, method=method)
    for k, y0 in enumerate(start):
        one = integrate(growth_of_one.bind(), [y0], (0.0, 1.0), rtol=1e-8, atol=1e-10, method=method)
        assert (found.accepted[k], found.rejected[k]) == (one.accepted, one.rejected)
        np.testing.assert_allclose(found.y[k], one.y[-1], rtol=1e-12)


def test_breakpoints_of_each_run():
    at = np.linspace(0.1, 0.9, 11)
    column = aligned_zeros(1, LANES)
    found = integrate_many(
        switched.bind(column.ctypes.data, column), np.zeros((11, 1)), (0.0, 1.0), rtol=1e-6, atol=1e-6,
        lanes=LaneSetup(at[:, None].copy(), column), breakpoints=at[:, None], sample_times=[0.5],
    )  # fmt: skip
    np.testing.assert_allclose(found.y[:, 0], 1 - at, atol=1e-13)
    np.testing.assert_allclose(found.sample_y[:, 0, 0], np.maximum(0.5 - at, 0), atol=1e-13)
    assert found.rejected.sum() == 0


def test_samples_and_numbers_of_each_run():
    stiffness = np.linspace(1.0, 30.0, 21)
    column, times = aligned_zeros(1, LANES), np.linspace(0.0, 3.0, 40)
    start = np.tile([1.0, 0.0], (21, 1))
    found = integrate_many(
        sweep.bind(column.ctypes.data, column), start, (0.0, 3.0), rtol=1e-10, atol=1e-10,
        lanes=LaneSetup(stiffness[:, None].copy(), column), sample_times=times,
    )  # fmt: skip
    exact = np.cos(np.sqrt(stiffness)[:, None] * times)
    np.testing.assert_allclose(found.sample_y[:, :, 0], exact, atol=1e-8)
    np.testing.assert_array_equal(found.sample_y[:, -1], found.y)
    assert np.all(found.shortest <= found.longest)


def test_nothing_to_do_and_nothing_to_wait_for():
    found = integrate_many(growth.bind(), [[0.5]] * 9, (1.0, 1.0), rtol=1e-6, atol=1e-6, sample_times=[1.0])
    assert set(found.code) == {codes.DONE}
    np.testing.assert_array_equal(found.sample_y[:, 0, 0], 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y0": [[np.nan]]}, "run 0"),
        ({"y0": [1.0]}, "shape"),
        ({"rtol": 0.0}, "tolerance"),
        ({"atol": -1.0}, "atol"),
        ({"method": "euler"}, "no stepper"),
        ({"method": "radau"}, f"does not support many runs side by side; these do: {', '.join(SIDE_BY_SIDE)}"),
        ({"sample_times": [0.5, 0.1]}, "sample_times"),
        ({"t_span": (1.0, 0.0)}, "t_span"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_arguments_out_of_range_are_named(change, message):
    given = {"y0": [[0.5]], "t_span": (0.0, 1.0), "rtol": 1e-6, "atol": 1e-6} | change
    with pytest.raises((ValueError, UsageError, NotSupported), match=message):
        integrate_many(growth.bind(), given.pop("y0"), given.pop("t_span"), **given)
