"""Watched functions of the state: every crossing of zero is found, once, in order, and to the rounding of t.

All expected times are closed forms of the oscillator y = cos t, y' = -sin t, or of motion on the unit circle.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from ode_problems import METHODS, onto_circle, oscillator, rotation, switched

from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import integrate
from pendula.numerics.steppers.watch import FIRST_BUFFER, Watched
from pendula.outcome import Outcome

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
EXACT = 1e-10
WITH_STEPS = {name: {"step": 2e-3} for name in STEPPERS if STEPPERS[name].fixed}
NEAR = {"radau": 1e-6}  # its dense output is cubic, and its steps are long
"""Error of a crossing at tolerance 1e-12: dense output is an order lower than the steps."""


@compiled_callback
def height(out, inp, context):
    """y - level, the level being the context."""
    doubles_at(out, 1)[0] = doubles_at(inp, 2)[1] - doubles_at(context, 1)[0]


@compiled_callback
def both(out, inp, context):
    """y, y' and t - 3."""
    y, g = doubles_at(inp, 3), doubles_at(out, 3)
    g[0], g[1], g[2] = y[1], y[2], y[0] - 3.0


@compiled_callback
def fast(out, inp, context):
    """A function of time with 100 zeros per unit of time."""
    doubles_at(out, 1)[0] = math.sin(100.0 * math.pi * doubles_at(inp, 1)[0] + 0.5)


@compiled_callback
def root(out, inp, context):
    """Not a number once y is below 1/2."""
    y = doubles_at(inp, 2)[1]
    doubles_at(out, 1)[0] = math.sqrt(y - 0.5) + 1.0 if y >= 0.5 else math.nan


@compiled_callback
def jump(out, inp, context):
    """Jumps across zero at t = 1."""
    doubles_at(out, 1)[0] = -1.0 if doubles_at(inp, 1)[0] < 1.0 else 2.0


@compiled_callback
def after_two(out, inp, context):
    doubles_at(out, 1)[0] = doubles_at(inp, 1)[0] - 2.0


@compiled_callback
def touching(out, inp, context):
    """(t - 1)^2, which touches zero and does not cross it; a step ends exactly there."""
    doubles_at(out, 1)[0] = (doubles_at(inp, 1)[0] - 1.0) ** 2


def watched(callback, *, side, direction=0, stop=0, keep=0):
    return Watched(callback, [direction], [stop], [keep], [side])


def level(value, **settings):
    return watched(height.bind(np.array([value])), **settings)


def swing(t_end, watch, *, rtol=TIGHT, **settings):
    return integrate(oscillator.bind(), [1.0, 0.0], (0.0, t_end), watched=watch, **rtol, **settings)


@pytest.mark.parametrize("method", METHODS)
def test_zeros_of_the_cosine(method):
    run = swing(20.0, level(0.0, side=1), method=method, **WITH_STEPS.get(method, {}))
    near = NEAR.get(method, EXACT)
    np.testing.assert_allclose(run.event_t, np.pi * (np.arange(6) + 0.5), atol=near)
    assert np.abs(run.event_y[:, 0]).max() < 1e-15
    np.testing.assert_allclose(np.abs(run.event_y[:, 1]), 1.0, atol=near)


@pytest.mark.parametrize(("direction", "expected"), [(1, [1.5, 3.5]), (-1, [0.5, 2.5])])
def test_directions_are_kept_apart(direction, expected):
    run = swing(12.0, level(0.0, side=1, direction=direction))
    np.testing.assert_allclose(run.event_t, np.pi * np.array(expected), atol=EXACT)


def test_crossings_are_found_backwards_in_the_order_of_the_run():
    run = integrate(oscillator.bind(), [1.0, 0.0], (0.0, -8.0), watched=level(0.0, side=1, direction=-1), **TIGHT)
    np.testing.assert_allclose(run.event_t, [-np.pi / 2, -2.5 * np.pi], atol=EXACT)


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("sign", [1, -1])
def test_two_crossings_about_an_extremum_are_found_wherever_it_lies_in_a_step(depth, sign):
    """The cosine passes the level for a moment, far shorter than a step; its start decides where in the step."""
    half, seen = np.arccos(1.0 - depth), 0
    for p in np.linspace(0.2, 6.0, 60):
        start = [sign * np.cos(p), -sign * np.sin(p)]
        watch = level(sign * (1.0 - depth), side=-sign)
        run = integrate(oscillator.bind(), start, (0.0, 6.2), rtol=1e-9, atol=1e-9, watched=watch)
        seen += np.count_nonzero(np.diff(np.sign(run.y[:, 0] - sign * (1.0 - depth))))
        if abs(p - 2 * np.pi) > 2 * half and 2 * np.pi - p + half < 6.2:
            expected = 2 * np.pi - p + np.array([-half, half])
            np.testing.assert_allclose(run.event_t, expected, atol=1e-7 / half)
    assert depth > 1e-5 or seen < 4  # the ends of steps alone show next to none of them


def test_a_level_that_is_just_not_reached_has_no_crossing():
    run = swing(20.0, level(1.0 + 1e-9, side=-1))
    assert run.event_t.size == 0


def test_no_event_at_a_start_on_zero_but_when_it_comes_back():
    run = swing(14.0, level(1.0, side=0), rtol={"rtol": 1e-6, "atol": 1e-6})
    assert run.event_t.size == 0 or run.event_t[0] > 6.0
    run = integrate(oscillator.bind(), [0.0, 1.0], (0.0, 7.0), watched=level(0.0, side=0), **TIGHT)
    np.testing.assert_allclose(run.event_t, [np.pi, 2 * np.pi], atol=EXACT)


def test_a_limit_that_is_passed_from_a_start_on_it_is_an_event_at_once():
    run = integrate(
        oscillator.bind(), [0.0, 1.0], (0.0, 7.0), watched=level(0.0, side=-1, direction=1, stop=1), **TIGHT
    )
    assert run.outcome is Outcome.EVENT
    assert run.t[-1] < 1e-12


def test_crossings_of_several_functions_come_in_order():
    watch = Watched(both.bind(), [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, -1])
    run = swing(10.0, watch, rtol={"rtol": 1e-3, "atol": 1e-3})
    assert np.all(np.diff(run.event_t) > 0)
    assert run.event_which.tolist() == [0, 2, 1, 0, 1, 0, 1]
    assert run.event_t[1] == pytest.approx(3.0, abs=1e-14)


def test_many_crossings_in_few_steps_are_all_found_beyond_the_first_buffer():
    times = 12.0
    run = swing(times, watched(fast.bind(), side=1), max_step=0.02)
    expected = (np.pi * np.arange(1, int(100 * times) + 1) - 0.5) / (100 * np.pi)
    assert len(expected) > 4 * FIRST_BUFFER
    np.testing.assert_allclose(run.event_t, expected, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_crossing_ends_the_run_exactly_there(method):
    times = np.linspace(0.0, 20.0, 401)
    settings = {"method": method, "sample_times": times, **WITH_STEPS.get(method, {})}
    run = swing(20.0, level(0.0, side=1, stop=3), **settings)
    plain = swing(20.0, None, **settings)
    assert run.outcome is Outcome.EVENT
    assert run.outcome.ok
    assert "t = 7.853" in run.detail
    assert run.t[-1] == run.event_t[-1] == pytest.approx(2.5 * np.pi, abs=NEAR.get(method, EXACT))
    assert np.array_equal(run.y[-1], run.event_y[-1])
    assert run.event_t.size == 3
    # everything before it is as without the event
    assert np.array_equal(run.t[:-1], plain.t[: len(run.t) - 1])
    assert np.array_equal(run.y[:-1], plain.y[: len(run.t) - 1])
    assert run.sample_t.tolist() == times[times <= run.t[-1]].tolist()
    assert np.array_equal(run.sample_y, plain.sample_y[: len(run.sample_t)])


def test_only_so_many_crossings_are_kept():
    run = swing(20.0, level(0.0, side=1, keep=2))
    assert run.outcome is Outcome.FINISHED
    np.testing.assert_allclose(run.event_t, [np.pi / 2, 1.5 * np.pi], atol=EXACT)


def test_watching_does_not_change_the_steps():
    plain, seen = swing(20.0, None), swing(20.0, level(0.0, side=1))
    assert np.array_equal(plain.t, seen.t)
    assert np.array_equal(plain.y, seen.y)


def test_a_function_without_a_value_ends_the_run_and_is_named():
    watch = Watched(root.bind(), [0], [0], [0], [1], names=["depth"])
    run = swing(20.0, watch)
    assert run.outcome is Outcome.EVENT_FAILED
    assert not run.outcome.ok
    assert "depth has no finite value" in run.detail
    assert run.t[-1] <= np.pi / 3
    assert np.all(np.isfinite(run.y))


def test_a_crossing_exactly_on_a_breakpoint_is_found_once():
    run = integrate(
        switched.bind(), [0.0], (0.0, 3.0), breakpoints=[1.0, 2.0], watched=watched(after_two.bind(), side=-1), **TIGHT
    )
    assert run.event_t.tolist() == [2.0]


@pytest.mark.parametrize("breakpoints", [[1.0, 2.0], []])
def test_a_function_that_jumps_across_zero_crosses_it_at_the_jump(breakpoints):
    run = integrate(
        switched.bind(), [0.0], (0.0, 3.0), breakpoints=breakpoints, watched=watched(jump.bind(), side=-1), **TIGHT
    )
    assert run.event_t.tolist() == pytest.approx([1.0], abs=1e-14)


def test_touching_zero_exactly_counts_once():
    run = integrate(
        switched.bind(), [0.0], (0.0, 3.0), breakpoints=[1.0, 2.0], watched=watched(touching.bind(), side=1), **TIGHT
    )
    assert run.event_t.tolist() == [1.0]


@pytest.mark.parametrize("rtol", [1e-3, 1e-10])
def test_states_at_crossings_lie_on_the_constraints(rtol):
    """At angle a(t) = t + (1 - cos t)/2 on the circle, x = cos a crosses zero; with projection none is lost."""
    run = integrate(
        rotation.bind(), [1.0, 0.0], (0.0, 30.0), rtol=rtol, atol=rtol, project=onto_circle.bind(),
        watched=level(0.0, side=1),
    )  # fmt: skip
    angle = run.event_t + 0.5 * (1.0 - np.cos(run.event_t))
    count = int((30.0 + 0.5 * (1.0 - np.cos(30.0)) - np.pi / 2) / np.pi) + 1
    np.testing.assert_allclose(angle, np.pi * (np.arange(count) + 0.5), atol=200 * rtol)
    np.testing.assert_allclose(np.hypot(*run.event_y.T), 1.0, atol=1e-15)
    assert np.abs(run.event_y[:, 0]).max() < 1e-14


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(ValueError, match="direction"):
        Watched(height.bind(), [2], [0], [0], [1])
    with pytest.raises(ValueError, match="every watched function"):
        Watched(height.bind(), [1, 1], [0], [0], [1])
