"""All roots with proof: bounds that hold, roots counted right, nothing lost, problems that others have published."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pendula.numerics.intervals.solve import all_roots, distinct, values_over
from pendula.numerics.intervals.tape import FUNCTIONS, Tape


def solved(tape: Tape, rows: list[int], lo, hi, periods=None, **options):
    lo, hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)
    found = all_roots(tape, rows, lo, hi, **options)
    return distinct(found, lo, hi, np.zeros(len(lo)) if periods is None else np.asarray(periods, dtype=float))


def minus(tape: Tape, a: int, b: int) -> int:
    return tape.add(a, tape.multiply(tape.constant(-1.0), b))


DOMAIN = {"log": (0.01, 5.0), "sqrt": (0.01, 5.0), "tanh": (-3.0, 3.0), "exp": (-3.0, 3.0)}


@pytest.mark.parametrize("name", [*FUNCTIONS, "power 2", "power 3", "power 5", "inverse"])
def test_bounds_hold_for_numbers_in_the_box(name: str) -> None:
    """20 random intervals each: values at 200 places inside lie within, and ends are not far beyond."""
    rng = np.random.default_rng(5)
    low, high = DOMAIN.get(name, (-7.0, 7.0))
    for _ in range(20):
        a, b = np.sort(rng.uniform(low, high, size=2))
        if name == "inverse" and a < 0.1:
            a, b = 0.1 + abs(a), 0.2 + abs(a) + abs(b)
        tape = Tape(1)
        if name == "inverse":
            step, function = tape.inverse(0), lambda x: 1.0 / x
        elif name.startswith("power"):
            e = int(name.split()[1])
            step, function = tape.power(0, e), lambda x, e=e: x**e
        else:
            step, function = tape.call(name, 0), {"abs": abs, "atan": math.atan}.get(name) or getattr(math, name)
        lo, hi = values_over(tape, [step], np.array([[a, b]]))[0]
        values = [function(float(x)) for x in np.linspace(a, b, 200)]
        assert lo <= min(values)
        assert max(values) <= hi
        assert max(hi - max(values), min(values) - lo) <= 0.02 * (hi - lo) + 1e-12


def test_products_and_sums_contain_what_exact_arithmetic_gives() -> None:
    from fractions import Fraction

    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b, c, d = (float(x) for x in rng.normal(size=4) * 10.0 ** rng.integers(-8, 8, size=4))
        tape = Tape(2)
        total, product = tape.add(0, 1), tape.multiply(0, 1)
        box = np.array([sorted((a, b)), sorted((c, d))])
        for step, exact in (
            (total, [Fraction(x) + Fraction(y) for x in box[0] for y in box[1]]),
            (product, [Fraction(x) * Fraction(y) for x in box[0] for y in box[1]]),
        ):
            lo, hi = values_over(tape, [step], box)[0]
            assert Fraction(float(lo)) <= min(exact)
            assert max(exact) <= Fraction(float(hi))


def test_bounds_hold_after_an_overflow() -> None:
    """exp(800) is no double, but a number: its lower bound is not infinite, and what follows from it holds."""
    tape = Tape(1)
    first = tape.call("exp", 0)
    second = tape.call("exp", tape.multiply(tape.constant(2.0), 0))
    lo, hi = values_over(tape, [first], np.array([[800.0, 900.0]]))[0]
    assert math.isfinite(lo)
    assert hi == math.inf
    found = solved(tape, [minus(tape, first, second)], [-5.0], [300.0])  # exp(x) = exp(2 x) at 0 alone
    assert found.proven
    assert found.enclosures.mean(axis=2).ravel() == pytest.approx([0.0], abs=1e-12)


def test_roots_of_a_polynomial_are_all_found() -> None:
    """(x - 1)(x - 2)(x - 2.001)(x + 3): four, of which two are close."""
    tape = Tape(1)
    row = None
    for root in (1.0, 2.0, 2.001, -3.0):
        factor = tape.add(0, tape.constant(-root))
        row = factor if row is None else tape.multiply(row, factor)
    found = solved(tape, [row], [-10.0], [10.0])
    assert found.proven
    assert np.sort(found.enclosures.mean(axis=2).ravel()) == pytest.approx([-3.0, 1.0, 2.0, 2.001], abs=1e-12)
    assert all(
        a <= r <= b for (a, b), r in zip(np.sort(found.enclosures[:, 0], axis=0), (-3, 1, 2, 2.001), strict=True)
    )


def test_a_double_root_is_undecided_and_none_is_excluded() -> None:
    tape = Tape(1)
    double = solved(tape, [tape.power(0, 2)], [-1.0], [2.0])
    assert not double.proven
    assert len(double.undecided)
    assert all(box[0, 0] <= 0.0 <= box[0, 1] + 1e-6 for box in double.undecided)
    none = solved(tape, [tape.add(tape.power(0, 2), tape.constant(1e-9))], [-1.0], [2.0])
    assert none.proven
    assert not len(none.enclosures)


def test_roots_on_faces_between_boxes_count_once() -> None:
    """x^3 = x and y^3 = y from -2 to 2: nine, of which five lie on the first faces between boxes."""
    tape = Tape(2)
    rows = [minus(tape, tape.power(k, 3), k) for k in range(2)]
    found = solved(tape, rows, [-2.0, -2.0], [2.0, 2.0])
    assert found.proven
    assert len(found.enclosures) == 9


def test_a_root_on_the_edge_of_the_box_is_undecided_and_one_outside_does_not_count() -> None:
    tape = Tape(1)
    row = tape.add(tape.power(0, 2), tape.constant(-1.0))
    edge = solved(tape, [row], [-3.0], [1.0])
    assert len(edge.enclosures) == 1
    assert len(edge.undecided) == 1
    assert len(solved(tape, [row], [-3.0], [1.0 - 1e-6]).enclosures) == 1
    assert len(solved(tape, [row], [-3.0], [1.0 + 1e-6]).enclosures) == 2


def test_circles_have_no_edge() -> None:
    """cos(x) = 0 on the circle, cut open just there."""
    tape = Tape(1)
    cut = math.pi / 2
    found = solved(tape, [tape.call("cos", 0)], [cut], [cut + 2 * math.pi + 1e-9], periods=[2 * math.pi])
    assert found.proven
    assert len(found.enclosures) == 2


def test_what_time_was_too_short_for_is_undecided() -> None:
    tape, rows = maps_of_period_two()
    found = all_roots(tape, rows, -WIDTHS, WIDTHS, seconds=1e-9)
    assert not found.finished
    assert not found.proven
    assert len(found.undecided)


# -- a problem from elsewhere ------------------------------------------------------------------------------------

WIDTHS = np.array([1.02, 1.02, 0.5, 0.5]) * math.pi


def maps_of_period_two() -> tuple[Tape, list[int]]:
    """Points of period 2 of two coupled pendulums under impulses (Hsu and Guttalu 1983; Smiley and Chun 2001, 5.5)."""
    tape = Tape(4)
    turn = tape.constant(np.nextafter(math.pi, 0.0), np.nextafter(math.pi, 4.0))
    damping = [tape.multiply(turn, tape.inverse(tape.constant(x))) for x in (10.0, 5.0)]
    kept = [tape.call("exp", tape.multiply(tape.constant(-2.0), mu)) for mu in damping]
    moved = [
        tape.multiply(minus(tape, tape.constant(1.0), d), tape.inverse(tape.multiply(tape.constant(2.0), mu)))
        for d, mu in zip(kept, damping, strict=True)
    ]

    def after(x: list[int]) -> list[int]:
        kicks = [tape.multiply(tape.call(a, x[0]), tape.call(b, x[1])) for a, b in (("sin", "cos"), ("cos", "sin"))]
        rates = [tape.add(x[2 + k], tape.multiply(tape.constant(-5.0), kicks[k])) for k in range(2)]
        places = [tape.add(tape.multiply(moved[k], rates[k]), x[k]) for k in range(2)]
        return places + [tape.multiply(kept[k], rates[k]) for k in range(2)]

    twice = after(after([0, 1, 2, 3]))
    return tape, [minus(tape, twice[k], k) for k in range(4)]


def test_all_41_roots_of_example_5_5_of_smiley_and_chun_are_proven() -> None:
    tape, rows = maps_of_period_two()
    found = solved(tape, rows, -WIDTHS, WIDTHS)
    assert found.proven
    assert len(found.enclosures) == 41
    centres = found.enclosures.mean(axis=2)
    known = [(a * math.pi, b * math.pi, 0.0, 0.0) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    known += [(a * math.pi / 2, b * math.pi / 2, 0.0, 0.0) for a in (-1, 1) for b in (-1, 1)]
    for root in known:  # fixed points, which are points of period 2, too
        assert np.abs(centres - np.array(root)).max(axis=1).min() < 1e-12

    def after(x):
        mu, kicks = (
            np.array([math.pi / 10, math.pi / 5]),
            5 * np.array([np.sin(x[0]) * np.cos(x[1]), np.cos(x[0]) * np.sin(x[1])]),
        )
        rates, kept = x[2:] - kicks, np.exp(-2 * mu)
        return np.concatenate([(1 - kept) / (2 * mu) * rates + x[:2], kept * rates])

    assert max(np.abs(after(after(x)) - x).max() for x in centres) < 1e-10


# -- edges of domains and poles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sqrt", "log", "inverse"])
def test_a_place_where_a_step_is_undefined_is_not_called_a_root(name: str) -> None:
    """0 f(x) + x + 1/2 has no value at -1/2 if f has none, and 0 f(x) + x none at the pole of f."""
    tape = Tape(1)
    step = tape.inverse(0) if name == "inverse" else tape.call(name, 0)
    nothing = tape.multiply(tape.constant(0.0), step)
    row = tape.add(tape.add(nothing, 0), tape.constant(0.0 if name == "inverse" else 0.5))
    found = solved(tape, [row], [-1.0], [1.3])
    assert not len(found.enclosures)


def test_no_root_is_lost_or_made_at_a_pole() -> None:
    """1/x - x vanishes at -1 and 1, 1/x nowhere; both change sign at 0."""
    tape = Tape(1)
    over = tape.inverse(0)
    found = solved(tape, [minus(tape, over, 0)], [-3.0], [3.1])
    assert np.sort(found.enclosures.mean(axis=2).ravel()) == pytest.approx([-1.0, 1.0], abs=1e-12)
    assert not len(solved(tape, [over], [-3.0], [3.1]).enclosures)


def nearest_points(pole: bool, weight: float) -> tuple[Tape, list[int], np.polynomial.Polynomial]:
    """Stationary distances from (0.3, weight) to a curve y = c(x), with one multiplier; and where x is stationary.

    c is 1/x - x, with a pole, or x^3 - x.
    """
    tape = Tape(3)
    cube, over = tape.power(0, 3), tape.inverse(0)
    curve = minus(tape, over, 0) if pole else minus(tape, cube, 0)
    square = tape.power(0, 2)
    if pole:
        slope = minus(tape, tape.multiply(tape.constant(-1.0), tape.inverse(square)), tape.constant(1.0))
    else:
        slope = tape.add(tape.multiply(tape.constant(3.0), square), tape.constant(-1.0))
    pull_x, pull_y = minus(tape, tape.constant(0.3), 0), minus(tape, tape.constant(weight), 1)
    rows = [minus(tape, pull_x, tape.multiply(slope, 2)), tape.add(pull_y, 2), minus(tape, 1, curve)]
    x = np.polynomial.Polynomial([0.0, 1.0])
    if pole:  # (x - 0.3) + (c - weight) c' = 0, times x^3
        stationary = (x - 0.3) * x**3 + (1 - x**2 - weight * x) * (-1 - x**2)
    else:
        stationary = (x - 0.3) + (x**3 - x - weight) * (3 * x**2 - 1)
    return tape, rows, stationary


@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("weight", [-2.0, -0.4, 0.1, 0.9, 3.0])
def test_roots_with_a_multiplier(pole: bool, weight: float) -> None:
    """As many as the polynomial has real roots; at the pole of a constraint nothing is lost."""
    tape, rows, stationary = nearest_points(pole, weight)
    lo, hi = np.array([-3.0, -40.0, -math.inf]), np.array([3.1, 41.0, math.inf])
    coarse = {"smallest": 1e-3} if pole else {}  # all boxes that touch the pole remain
    found = distinct(all_roots(tape, rows, lo, hi, multipliers=1, **coarse), lo, hi, np.zeros(3))
    known = [r.real for r in stationary.roots() if abs(r.imag) < 1e-9 and -3.0 < r.real < 3.1]
    assert np.sort(found.enclosures[:, 0].mean(axis=1)) == pytest.approx(np.sort(known), abs=1e-9)
    assert found.proven or pole
    multipliers = found.enclosures[:, 2].mean(axis=1)
    np.testing.assert_allclose(multipliers, found.enclosures[:, 1].mean(axis=1) - weight, atol=1e-9)


def test_dependent_constraints_are_undecided() -> None:
    """y^2 = 0 instead of y = 0: the slope of the constraint vanishes where it holds, so no multiplier follows."""
    tape = Tape(3)
    rows = [minus(tape, tape.constant(0.3), 0), tape.add(1, tape.multiply(1, 2)), tape.power(1, 2)]
    lo, hi = np.array([-1.0, -1.0, -math.inf]), np.array([1.0, 1.1, math.inf])
    found = all_roots(tape, rows, lo, hi, multipliers=1, seconds=5)
    assert not found.proven
    assert not len(found.enclosures)
    assert any(box[0, 0] <= 0.3 <= box[0, 1] and box[1, 0] <= 0.0 <= box[1, 1] for box in found.undecided)


@pytest.mark.parametrize(("lo", "hi"), [(1.0, -1.0), (math.nan, 1.0), (0.0, math.nan), (-math.inf, 1.0)])
def test_corners_that_make_no_box_are_refused(lo: float, hi: float) -> None:
    tape = Tape(1)
    with pytest.raises(ValueError, match="corners"):
        all_roots(tape, [0], np.array([lo]), np.array([hi]))


def test_unused_steps_do_not_matter() -> None:
    tape = Tape(1)
    tape.inverse(0)
    tape.call("log", tape.constant(-1.0))
    assert solved(tape, [tape.call("sin", 0)], [-1.0], [1.1]).proven


def test_powers_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="exponent"):
        Tape(1).power(0, 0)


def test_a_root_at_zero_has_no_taylor_series() -> None:
    from pendula.numerics.intervals.series import taylor

    tape = Tape(1)
    step = tape.call("sqrt", 0)
    with pytest.raises(ZeroDivisionError):
        taylor(tape, [step], np.array([[0.0, 1.0, 0.0]]))
