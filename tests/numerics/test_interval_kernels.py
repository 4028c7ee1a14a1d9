"""Interval arithmetic by a hostile reader: bounds hold at every scale, against 60 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from pendula.numerics.intervals.solve import slopes_over, values_over
from pendula.numerics.intervals.tape import FUNCTIONS, Tape

DIGITS = 60
POINTS = 6
"""places in every box: its ends, and four between"""
LARGEST = np.finfo(float).max


def ends(rng: np.random.Generator) -> tuple[float, float]:
    """A random interval of a hostile kind: any scale down to subnormal numbers, ends at zero or at special values."""
    kind = int(rng.integers(8))
    if kind == 0:  # any scale
        a, b = (float(s * 10.0**e) for s, e in zip(rng.choice([-1, 1], 2), rng.uniform(-323.5, 308, 2), strict=True))
    elif kind == 1:  # neighbouring doubles
        a = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-323.5, 308))
        b = float(np.nextafter(a, math.inf))
    elif kind == 2:  # near zeros and extrema of sine and cosine
        a = float(rng.integers(-40, 40)) * math.pi / 2 + float(rng.choice([0.0, 1e-15, -1e-15, 1e-9, -1e-9]))
        b = a + float(rng.choice([0.0, 1e-16, 1e-12, 1e-3, 1.0, 7.0]))
    elif kind == 3:  # large arguments, about where sines stop being evaluated
        a = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(5, 12))
        b = a + 10.0 ** rng.uniform(-8, 1)
    elif kind == 4:  # ends at special values
        a, b = (float(x) for x in rng.choice([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-308, 709.8, -745.2, 27.3], 2))
    elif kind == 5:  # near 1, where logarithms vanish
        a = 1.0 + float(rng.choice([-1, 1])) * 10.0 ** rng.uniform(-16, -1)
        b = 1.0 + float(rng.choice([-1, 1])) * 10.0 ** rng.uniform(-16, -1)
    elif kind == 6:  # where exponentials overflow and underflow
        a = float(rng.uniform(-760, 720))
        b = a + 10.0 ** rng.uniform(-12, 1)
    else:
        a, b = (float(x) for x in rng.normal(size=2) * 10.0 ** rng.uniform(-3, 3))
    a, b = min(a, b), max(a, b)
    return (a, b) if rng.uniform() < 0.9 else (b, b)


def inside(a: float, b: float, rng: np.random.Generator) -> list[float]:
    """Ends of an interval, and places between, on a linear scale and on a logarithmic one."""
    shares = rng.uniform(size=2)
    found = [a, b, *(a * (1 - s) + b * s for s in shares)]
    if a <= 0.0 <= b:
        found += [0.0, b * 10.0 ** rng.uniform(-300, 0)]
    else:
        found += [math.copysign(math.sqrt(abs(a)) * math.sqrt(abs(b)), a), a]
    return [min(max(x, a), b) for x in found]


def one_variable(name: str) -> tuple[Tape, int, Callable[[Any], Any], Callable[[Any], Any]]:
    """A tape with one operation, its step, and the operation and its derivative in many digits."""
    tape = Tape(1)
    if name == "inverse":
        return tape, tape.inverse(0), lambda x: 1 / x, lambda x: -1 / x**2
    if name.startswith("power"):
        e = int(name.split()[1])
        return tape, tape.power(0, e), lambda x: x**e, lambda x: e * x ** (e - 1)
    exact: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "sin": (mp.sin, mp.cos),
        "cos": (mp.cos, lambda x: -mp.sin(x)),
        "exp": (mp.exp, mp.exp),
        "log": (mp.log, lambda x: 1 / x),
        "sqrt": (mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x))),
        "atan": (mp.atan, lambda x: 1 / (1 + x**2)),
        "tanh": (mp.tanh, lambda x: mp.sech(x) ** 2),
        "erf": (mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-(x**2))),
        "abs": (abs, mp.sign),
    }
    return tape, tape.call(name, 0), *exact[name]


UNDEFINED: dict[str, Callable[[float], bool]] = {
    "inverse": lambda x: x == 0.0,
    "log": lambda x: x <= 0.0,
    "sqrt": lambda x: x <= 0.0,
    "abs": lambda x: x == 0.0,  # its derivative
}


def holds(bounds: Any, exact: Any) -> bool:
    """Whether a number of many digits lies between bounds, which may be infinite but must be numbers."""
    lo, hi = float(bounds[0]), float(bounds[1])
    return not math.isnan(lo + hi if math.isfinite(lo + hi) else 0.0) and mp.mpf(lo) <= exact <= mp.mpf(hi)


def try_one(name: str, boxes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tape, step, function, derivative = one_variable(name)
    for _ in range(boxes):
        a, b = ends(rng)
        box = np.array([[a, b]])
        value, slope = values_over(tape, [step], box)[0], slopes_over(tape, [step], box)[0, 0]
        for x in inside(a, b, rng):
            if UNDEFINED.get(name, lambda x: False)(x):
                continue
            z = mp.mpf(x)
            assert holds(value, function(z)), (name, a.hex(), b.hex(), x.hex(), value, mp.nstr(function(z), 25))
            assert holds(slope, derivative(z)), (name, a.hex(), b.hex(), x.hex(), slope, mp.nstr(derivative(z), 25))


def try_two(name: str, boxes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tape = Tape(2)
    step = {"sum": tape.add, "product": tape.multiply}[name](0, 1)
    for _ in range(boxes):
        box = np.array([ends(rng), ends(rng)])
        if rng.uniform() < 0.2:
            box[1] = -box[0, ::-1] * float(rng.choice([1.0, 1.0 + 1e-15, 0.5]))
        value, slope = values_over(tape, [step], box)[0], slopes_over(tape, [step], box)[0]
        for x, y in zip(inside(*box[0], rng), inside(*box[1], rng), strict=True):
            u, w = mp.mpf(x), mp.mpf(y)
            exact = u + w if name == "sum" else u * w
            assert holds(value, exact), (name, box, x, y, value, mp.nstr(exact, 25))
            for bounds, rate in zip(slope, (w, u) if name == "product" else (mp.mpf(1), mp.mpf(1)), strict=True):
                assert holds(bounds, rate), (name, box, x, y, slope)


def try_compound(boxes: int, seed: int) -> None:
    """Operations of operations, so that infinite bounds and bounds of everything are operands, too."""
    rng = np.random.default_rng(seed)
    names = [*ONE]
    for _ in range(boxes):
        first, second = (str(rng.choice(names)) for _ in range(2))
        a, b = ends(rng)
        tape, step, inner, _ = one_variable(first)
        _, _, outer, _ = one_variable(second)
        if second == "inverse":
            last = tape.inverse(step)
        else:
            last = tape.power(step, int(second[5:])) if second.startswith("power") else tape.call(second, step)
        twice = tape.multiply(last, step)
        bounds = values_over(tape, [last, twice], np.array([[a, b]]))
        for x in inside(a, b, rng):
            if UNDEFINED.get(first, lambda x: False)(x):
                continue
            z = inner(mp.mpf(x))
            if (second in ("log", "sqrt") and z <= 0) or (second == "inverse" and z == 0):
                continue
            if abs(z) > mp.mpf(10) ** 310 and second in ("exp", "sin", "cos", "erf", "tanh"):
                continue  # a number that no double can hold: nothing to learn from it
            exact = outer(z)
            message = (first, second, a.hex(), b.hex(), x.hex(), bounds, mp.nstr(exact, 25))
            assert holds(bounds[0], exact), message
            assert holds(bounds[1], exact * z), message


ONE = (*FUNCTIONS, "power 2", "power 3", "power 7", "power 40", "inverse")


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize("name", ONE)
def test_functions_are_enclosed(name: str) -> None:
    try_one(name, 150, 3)


@pytest.mark.parametrize("name", ["sum", "product"])
def test_sums_and_products_are_enclosed(name: str) -> None:
    try_two(name, 300, 4)


def test_functions_of_functions_are_enclosed() -> None:
    try_compound(400, 5)


@pytest.mark.slow
def test_a_hundred_thousand_points_are_enclosed() -> None:
    for k, name in enumerate(ONE):
        try_one(name, 1100, 100 + k)
    for k, name in enumerate(("sum", "product")):
        try_two(name, 1100, 200 + k)
    try_compound(3000, 300)
    assert POINTS * (1100 * (len(ONE) + 2) + 3000) > 1e5
