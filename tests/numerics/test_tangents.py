"""A value with eight tangents: the rules of differentiation, by functions whose derivatives are known."""

from __future__ import annotations

import numpy as np
import pytest

from pendula.numerics.compiled.jit import compiled
from pendula.numerics.compiled.native import address_of
from pendula.numerics.scalars.eight import LANES, aligned_zeros, choose
from pendula.numerics.scalars.tangents import FIRST, WIDTH, tangents_at
from pendula.numerics.scalars.trig import reciprocal, sincos

ROUNDING = 1e-15


@compiled
def _compute(memory, out):
    given, found = tangents_at(address_of(memory), 3), tangents_at(address_of(out), 16)
    a, b, c = given[0], given[1], given[2]
    found[0] = a * b + c / a - 2 * b + b / 3.0
    found[1] = np.sqrt(a)
    found[2], found[3] = sincos(b)
    found[4] = reciprocal(c)
    found[5] = abs(b)
    found[6] = max(a, b)
    found[7] = min(2.0, c)
    found[8] = choose(a > 1.0, a, np.nan)
    found[9] = 3.0 - a
    found[10] = 2.0 / c
    found[11] = 7
    total = 0.0
    for k in range(3):
        total += given[k]
    found[12] = total
    found[13] = -c
    return a != 1.5, b == b, c < 1.0, a - a != 0.0, (a - 1.5) != 0.0


def _found() -> tuple[np.ndarray, tuple[bool, ...]]:
    memory, out = aligned_zeros(3, WIDTH), aligned_zeros(16, WIDTH)
    memory[:, 0] = 1.5, -0.7, 2.2
    memory[:3, FIRST : FIRST + 3] = np.eye(3)
    memory[0, FIRST + LANES - 1] = 2.0  # a direction of its own
    truths = _compute(memory, out)
    return out, truths


A, B, C = 1.5, -0.7, 2.2
EXPECTED = {
    "sum of products": (0, A * B + C / A - 2 * B + B / 3, (B - C / A**2, A - 2 + 1 / 3, 1 / A)),
    "root": (1, np.sqrt(A), (0.5 / np.sqrt(A), 0, 0)),
    "sine": (2, np.sin(B), (0, np.cos(B), 0)),
    "cosine": (3, np.cos(B), (0, -np.sin(B), 0)),
    "reciprocal": (4, 1 / C, (0, 0, -1 / C**2)),
    "absolute value": (5, 0.7, (0, -1, 0)),
    "larger": (6, A, (1, 0, 0)),
    "smaller, a constant": (7, 2.0, (0, 0, 0)),
    "chosen": (8, A, (1, 0, 0)),
    "from a constant": (9, 3 - A, (-1, 0, 0)),
    "constant by": (10, 2 / C, (0, 0, -2 / C**2)),
    "whole number": (11, 7.0, (0, 0, 0)),
    "sum over a loop": (12, A + B + C, (1, 1, 1)),
    "negative": (13, -C, (0, 0, -1)),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_values_and_tangents_follow_the_rules(name: str) -> None:
    at, value, slopes = EXPECTED[name]
    out, _ = _found()
    np.testing.assert_allclose(out[at, 0], value, rtol=ROUNDING)
    np.testing.assert_allclose(out[at, FIRST : FIRST + 3], slopes, rtol=2 * ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(out[at, FIRST + LANES - 1], 2 * slopes[0], rtol=2 * ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(out[at, FIRST + 3 : FIRST + LANES - 1], 0)


def test_sizes_compare_by_value_and_equality_sees_tangents() -> None:
    _, truths = _found()
    assert truths == (True, True, False, False, True)
