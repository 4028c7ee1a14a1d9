"""Eight numbers at once: every operation rounds as it does for one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pendula.numerics.compiled.jit import compiled
from pendula.numerics.compiled.native import address_of
from pendula.numerics.scalars.eight import (
    BYTES,
    LANES,
    aligned_zeros,
    all_lanes,
    any_lane,
    choose,
    eights_at,
    lane,
    with_lane,
)
from pendula.numerics.scalars.powers import inverse_root
from pendula.numerics.scalars.trig import FAR, reciprocal, sincos, sincos_all

LAST_PLACES = 2.0  # units in the last place that sine and cosine may be off (NumPy's own error included)

numbers = st.floats(min_value=-1e6, max_value=1e6)
rows = st.lists(numbers, min_size=LANES, max_size=LANES)


@compiled(allocates=False, fastmath={"contract"})
def _formula(x, y, out):
    """A bit of everything, for floats and for eights."""
    a = x[0] * y[0] + x[1] / (abs(y[1]) + 1.5)
    b = max(min(a, 3.0), y[0] - 2)
    s, c = sincos(b - x[1])
    low = 0.0
    for k in range(2):
        low += x[k] * 0.25
    out[0] = a
    out[1] = -b
    out[2] = np.sqrt(abs(a)) + np.floor(b)
    out[3] = s * reciprocal(2.0 + c)
    out[4] = choose((a < b) | ~(x[0] <= low), a - b, low)


@compiled(allocates=False)
def _formula_of_eights(x, y, out):
    _formula(
        eights_at(address_of(x), x.shape[0]),
        eights_at(address_of(y), y.shape[0]),
        eights_at(address_of(out), out.shape[0]),
    )


@compiled(allocates=False)
def _sincos_of_floats(x, out):
    for k in range(x.size):
        out[k, 0], out[k, 1] = sincos(x[k])


@compiled(allocates=False)
def _sincos_of_eights(x, s, c):
    angles, sines, cosines = (
        eights_at(address_of(x), x.shape[0]),
        eights_at(address_of(s), s.shape[0]),
        eights_at(address_of(c), c.shape[0]),
    )
    for k in range(angles.size):
        sines[k], cosines[k] = sincos(angles[k])


@compiled
def _rows_of_floats(x, s, c):
    sincos_all(x, s, c)


@compiled
def _rows_of_eights(x, s, c):
    sincos_all(
        eights_at(address_of(x), x.shape[0]), eights_at(address_of(s), s.shape[0]), eights_at(address_of(c), c.shape[0])
    )


def both_sincos(angles):
    alone = np.empty((len(angles), 2))
    _sincos_of_floats(angles, alone)
    together = np.resize(angles, (-(-len(angles) // LANES), LANES)).copy()
    s, c = np.empty_like(together), np.empty_like(together)
    _sincos_of_eights(together, s, c)
    return alone, np.stack([s.ravel(), c.ravel()], axis=1)[: len(angles)]


@settings(max_examples=100, deadline=None)
@given(rows, rows, rows, rows)
def test_eights_round_as_floats_do(x0, x1, y0, y1):
    x, y = np.array([x0, x1]), np.array([y0, y1])
    together, alone = np.zeros((5, LANES)), np.zeros((5, LANES))
    _formula_of_eights(x, y, together)
    for k in range(LANES):
        out = np.zeros(5)
        _formula(x[:, k].copy(), y[:, k].copy(), out)
        alone[:, k] = out
    np.testing.assert_array_equal(together, alone)


def test_sine_and_cosine_are_right_to_the_last_places():
    rng = np.random.default_rng(1)
    near_zeros = np.pi / 2 * rng.integers(-60000, 60000, 4000) * (1 + 1e-15 * rng.integers(-3, 4, 4000))
    angles = np.concatenate(
        [rng.uniform(-7, 7, 4000), rng.uniform(-FAR, FAR, 4000), near_zeros, 10.0 ** rng.uniform(-320, 0, 400)]
    )
    alone, together = both_sincos(angles)
    reference = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    assert np.all(np.abs(alone - reference) <= LAST_PLACES * np.spacing(np.abs(reference)))
    np.testing.assert_array_equal(alone, together)


def test_large_angles_and_what_is_no_number_leave_the_other_lanes_alone():
    usual = np.array([0.1, -2.0, 3.0, 40.0, 1e4, -7.5, 0.0, 5.5])
    for odd in (3e5, -1e17, np.nan, np.inf):
        angles = usual.copy()
        angles[3] = odd
        with np.errstate(invalid="ignore"):
            reference = np.stack([np.sin(angles), np.cos(angles)], axis=1)
        alone, together = both_sincos(angles)
        np.testing.assert_array_equal(alone, together)
        np.testing.assert_array_equal(together[np.arange(8) != 3], both_sincos(usual)[1][np.arange(8) != 3])
        np.testing.assert_allclose(together[3], reference[3], rtol=1e-15)


@pytest.mark.parametrize("odd", [0.5, FAR, 3e5, -1e17, np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_rows_of_angles_are_those_of_single_angles_wherever_a_far_one_is(row, odd):
    angles = np.random.default_rng(2).uniform(-60, 60, (3, LANES))
    angles[row, 5] = odd
    alone = np.empty((angles.size, 2))
    _sincos_of_floats(angles.ravel(), alone)
    with np.errstate(invalid="ignore"):
        reference = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(alone, reference, rtol=4e-16 * LAST_PLACES)
    for function, rowwise in ((_rows_of_eights, angles), (_rows_of_floats, angles.ravel())):
        sines, cosines = np.empty_like(rowwise), np.empty_like(rowwise)
        function(rowwise, sines, cosines)
        np.testing.assert_array_equal(sines.ravel(), alone[:, 0])
        np.testing.assert_array_equal(cosines.ravel(), alone[:, 1])


@compiled(allocates=False)
def _roots_of_floats(x, part, out):
    for k in range(x.size):
        out[k] = inverse_root(x[k], part)


@compiled(allocates=False)
def _roots_of_eights(x, part, out):
    given, found = eights_at(address_of(x), x.shape[0]), eights_at(address_of(out), out.shape[0])
    for k in range(given.size):
        found[k] = inverse_root(given[k], part)


@pytest.mark.parametrize("part", [1.0 / 3.0, 1.0 / 8.0, 1.0 / 40.0])
def test_roots_are_right_to_a_percent_and_the_same_for_eights(part):
    x = 10.0 ** np.random.default_rng(3).uniform(-300, 300, (500, LANES))
    alone, together = np.empty_like(x), np.empty_like(x)
    _roots_of_floats(x.ravel(), part, alone.reshape(-1))
    _roots_of_eights(x, part, together)
    np.testing.assert_array_equal(together, alone)
    error = np.log(alone / x**-part)  # at most 0.0861 octaves of the logarithm, and 0.32 % of the power of two
    assert np.abs(error).max() < 0.0861 * np.log(2.0) * part + 0.0033


@compiled(allocates=False)
def _truths(x, out):
    y = eights_at(address_of(x), x.shape[0])
    finite = np.isfinite(y[0])
    out[0] = any_lane(finite)
    out[1] = all_lanes(finite)
    out[2] = any_lane(y[0] != y[0])
    return lane(with_lane(y[0], 5, 7.25), 5) + lane(y[0], 4)


@pytest.mark.parametrize(("bad", "expected"), [([], (1, 1, 0)), ([2], (1, 0, 1)), (range(8), (0, 0, 1))])
def test_truths_of_lanes(bad, expected):
    x, out = np.ones((1, LANES)), np.zeros(3, dtype=np.int64)
    for k in bad:
        x[0, k] = np.nan
    assert np.isnan(_truths(x, out)) == (4 in bad)
    assert tuple(out) == expected


def test_memory_may_start_anywhere_and_aligned_zeros_start_on_a_boundary():
    assert aligned_zeros(3, 8).ctypes.data % BYTES == 0
    for shift in range(LANES):
        memory = np.arange(24.0 + LANES)
        x = memory[shift : shift + 2 * LANES].reshape(2, LANES)
        y, out = np.ones((2, LANES)), np.zeros((5, LANES))
        _formula_of_eights(x, y, out)
        np.testing.assert_array_equal(out[0], x[0] + x[1] / 2.5)
