"""Taylor coefficients against derivatives in high precision, and what has none."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import NotSupported
from pendula.numerics.scalars.eight import aligned_zeros
from pendula.numerics.scalars.trig import FAR
from pendula.system import kernels as kn
from pendula.system.code.llvm import compile_program
from pendula.system.code.program import Program
from pendula.system.taylor.code import LANES, bind_series, compile_series, share_rows
from pendula.system.taylor.recurrences import Rates, Recurrences, find_recurrences, solve_symmetric
from pendula.system.taylor.trig import Expansion
from tests.helpers.choices import in_turn
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

ORDER = 14
ROUNDING = 1e-12
"""Of coefficients, relative to the largest so far: recurrences add up a few hundred rounding errors."""


def _coefficients(found: Recurrences, state: Any, t: float, parameters: list[float], lanes: int = 1) -> Array:
    """Coefficients of all components, shape (orders, components, lanes)."""
    native = compile_series(found, lanes)
    series = bind_series(native, np.array([parameters]), "")
    table = aligned_zeros(series.size(ORDER))
    rows = table[: (ORDER + 1) * series.width * lanes].reshape(ORDER + 1, series.width, lanes)
    rows[0, : len(state)] = np.reshape(state, (len(state), -1))  # one number for all lanes, or one for each
    rows[0, series.components] = t
    values = aligned_zeros(series.parameters.size * lanes)
    values[:] = np.repeat(series.parameters[0], lanes)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(native.address)
    function(table.ctypes.data, values.ctypes.data, ORDER)
    return rows[:, : series.components].copy()


def _of_time(build: Callable[[Program, int], int], t: float, lanes: int = 1) -> Array:
    """Coefficients of a function of time: those of its integral, times their orders."""
    program = Program(2, 1)
    value = build(program, program.inputs[0])
    found = _coefficients(find_recurrences(Rates(program, (value,), ())), [0.0], t, [0.7], lanes)
    return found[1:, 0] * np.arange(1, ORDER + 1)[:, None]


def _call(name: str, inner: Callable[[Program, int], int]) -> Callable[[Program, int], int]:
    return lambda p, t: p.call(name, inner(p, t))


def _wave(p: Program, t: int) -> int:
    """0.3 + 0.4 sin 2 t, inside the domains of all functions but two."""
    return p.add(p.constant(0.3), p.multiply(p.constant(0.4), p.call("sin", p.multiply(p.constant(2.0), t))))


def _wave_mp(t: Any) -> Any:
    return mpmath.mpf(0.3) + mpmath.mpf(0.4) * mpmath.sin(2 * t)


@pytest.mark.parametrize("lanes", [1, LANES])
@pytest.mark.parametrize(
    "name",
    [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atanh",
        "exp",
        "log",
        "sqrt",
        "acosh",
    ],
)
def test_coefficients_of_functions_are_those_of_high_precision(name: str, lanes: int) -> None:
    shift = 1.2 if name == "acosh" else 0.0
    build = _call(name, lambda p, t: p.add(p.constant(shift), _wave(p, t)))
    found = _of_time(build, 0.4, lanes)
    with mpmath.workdps(40):
        expected = mpmath.taylor(lambda t: getattr(mpmath, name)(shift + _wave_mp(t)), mpmath.mpf(0.4), ORDER - 1)
    _agree(found, np.array([float(x) for x in expected]))


def _agree(found: Array, expected: Array) -> None:
    scale = np.maximum.accumulate(np.abs(expected) * 2.0 ** -np.arange(len(expected)))
    error = np.abs(found - expected[:, None]) * (2.0 ** -np.arange(len(expected)))[:, None]
    assert np.all(error <= ROUNDING * scale[:, None])


_MIXED: dict[str, tuple[Callable[[Program, int], int], Callable[[Any], Any]]] = {
    "power with a parameter": (
        lambda p, t: p.call("pow", _wave(p, t), p.parameters[0]),
        lambda t: _wave_mp(t) ** mpmath.mpf(0.7),
    ),
    "power of a parameter": (
        lambda p, t: p.call("pow", p.parameters[0], _wave(p, t)),
        lambda t: mpmath.mpf(0.7) ** _wave_mp(t),
    ),
    "power of both": (lambda p, t: p.call("pow", _wave(p, t), t), lambda t: _wave_mp(t) ** t),
    "angle of a point": (
        lambda p, t: p.call("atan2", _wave(p, t), p.multiply(t, t)),
        lambda t: mpmath.atan2(_wave_mp(t), t * t),
    ),
    "quotient": (lambda p, t: p.divide(p.call("exp", t), _wave(p, t)), lambda t: mpmath.exp(t) / _wave_mp(t)),
    "reciprocal": (lambda p, t: p.divide(p.parameters[0], _wave(p, t)), lambda t: mpmath.mpf(0.7) / _wave_mp(t)),
    "over a parameter": (lambda p, t: p.divide(_wave(p, t), p.parameters[0]), lambda t: _wave_mp(t) / mpmath.mpf(0.7)),
    "square and product": (
        lambda p, t: p.subtract(p.multiply(_wave(p, t), _wave(p, t)), p.multiply(t, _wave(p, t))),
        lambda t: _wave_mp(t) ** 2 - t * _wave_mp(t),
    ),
    "earlier case": (
        lambda p, t: p.select(p.condition("lt", t, p.constant(1.0)), _wave(p, t), t),
        lambda t: _wave_mp(t),
    ),
    "later case": (
        lambda p, t: p.select(p.condition("not", p.condition("le", p.constant(0.1), t)), t, _wave(p, t)),
        lambda t: _wave_mp(t),
    ),
}


@pytest.mark.parametrize("lanes", [1, LANES])
@pytest.mark.parametrize("case", _MIXED)
def test_coefficients_of_operations_are_those_of_high_precision(case: str, lanes: int) -> None:
    build, function = _MIXED[case]
    found = _of_time(build, 0.4, lanes)
    with mpmath.workdps(40):
        expected = mpmath.taylor(function, mpmath.mpf(0.4), ORDER - 1)
    _agree(found, np.array([float(x) for x in expected]))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.7, -3.0, 100.0, -9.9e4, 1.1e5, 3e9, -1e15])
@pytest.mark.parametrize("lanes", [1, LANES])
def test_sine_and_cosine_keep_their_digits_however_far_the_angle(angle: float, lanes: int) -> None:
    """Beyond FAR the C library takes over, lane by lane: every second lane has an angle on the other side of it."""
    program = Program(3, 0)
    _, x, y = program.inputs
    rates = (program.call("sin", x), program.call("cos", y))
    angles = np.full(lanes, angle)
    angles[1::2] = 0.5 if abs(angle) > FAR else 2.5 * FAR
    found = _coefficients(find_recurrences(Rates(program, rates, ())), [angles, angles], 0.0, [], lanes)
    np.testing.assert_allclose(found[1, 0], np.sin(angles), rtol=4e-16, atol=2e-17)
    np.testing.assert_allclose(found[1, 1], np.cos(angles), rtol=4e-16, atol=2e-16)


def test_a_motion_has_the_coefficients_of_its_closed_form() -> None:
    """x'' = -x: cosine and sine."""
    program = Program(3, 0)
    _, x, v = program.inputs
    found = _coefficients(find_recurrences(Rates(program, (v, program.negate(x)), ())), [1.0, 0.0], 0.0, [])
    expected = [float(mpmath.taylor(mpmath.cos, 0, ORDER)[k]) for k in range(ORDER + 1)]
    np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-15, atol=1e-30)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_symmetric_systems_are_solved_as_numpy_does(n: int) -> None:
    rng = np.random.default_rng(n)
    matrix = rng.normal(size=(n, n))
    matrix = matrix @ matrix.T + n * np.eye(n)
    matrix[0, 1:] = matrix[1:, 0] = 0.0 if n == 6 else matrix[0, 1:]
    right = rng.normal(size=n)
    program = Program(n * n + n, 0)
    inputs = np.array(program.inputs[: n * n]).reshape(n, n).tolist()
    inputs = [[inputs[min(i, j)][max(i, j)] if matrix[i, j] else program.zero for j in range(n)] for i in range(n)]
    solution, pivots = solve_symmetric(program, inputs, program.inputs[n * n :])
    assert len(pivots) == n
    native = compile_program(program, solution)
    out = np.empty((1, n))
    kn.evaluate_rows(native.evaluate, 0, np.concatenate([matrix.ravel(), right])[None].copy(), out)
    np.testing.assert_allclose(out[0], np.linalg.solve(matrix, right), rtol=1e-12)


def test_products_of_sines_and_cosines_become_sums_of_the_same_value() -> None:
    program = Program(4, 2)
    a, b, w, _ = program.inputs
    sa, ca, sb, cb = (program.call(f, x) for x in (a, b) for f in ("sin", "cos"))
    product, add = program.multiply, program.add
    outputs = [
        add(product(sa, sb), product(ca, cb)),
        add(product(sa, sa), product(ca, ca)),
        product(product(program.parameters[0], product(sa, cb)), product(w, add(sb, program.parameters[1]))),
        product(add(a, sa), add(w, program.call("exp", ca))),
    ]
    rewritten = Expansion(program).rewritten(outputs)
    assert (program.ops[rewritten[0]].kind, program.ops[rewritten[0]].name) == ("call", "cos")
    assert program.value(rewritten[1]) == 1.0
    native = compile_program(program, [*outputs, *rewritten])
    context = np.concatenate([[1.3, 0.4], np.zeros(native.prepared)])
    kn.evaluate_rows(native.prepare, 0, context[None, :2].copy(), context[None, 2:])
    x = np.random.default_rng(1).normal(size=(20, 4))
    out = np.empty((20, 8))
    kn.evaluate_rows(native.evaluate, context.ctypes.data, x, out)
    np.testing.assert_allclose(out[:, :4], out[:, 4:], rtol=1e-13, atol=1e-13)


def test_every_sum_is_in_one_group() -> None:
    system = library_system("chain: springs")
    from pendula.system.taylor.recurrences import derive_rates

    found = find_recurrences(derive_rates(system.equations, (), power=False))
    sums = [s for k in found.order for s in found.sums[k]]
    groups = share_rows(list(dict.fromkeys(sums)), 6)
    assert sorted(k for group in groups for k in group) == sorted(set(sums))
    assert all(len(group) <= 6 and set(s) == set(way) for group in groups for s, way in group.items())


RATES_OF = ("double-pendulum", "heavy-top", "spatial-rod: quaternion", "chain: everything")


@pytest.mark.parametrize(("name", "formulation"), in_turn(RATES_OF, ["kane", "lagrange"]))
def test_the_first_coefficients_are_the_rates_of_the_system(name: str, formulation: str) -> None:
    """And all lanes have the same bits, which are those of a single state but for rounding."""
    system = library_system(name, formulation)
    start = system.initial_state()
    rng = np.random.default_rng(2)
    v = rng.normal(size=start.v.size)
    q = start.q + (0.0 if system.balls else 0.3) * rng.normal(size=start.q.size)
    expected = np.concatenate([system.rates(q, v), system.accelerations(q, v)])
    found = {}
    for lanes in (1, LANES):
        series = system.series(lanes=lanes)
        table = aligned_zeros(series.size(ORDER))
        rows = table[: (ORDER + 1) * series.width * lanes].reshape(ORDER + 1, series.width, lanes)
        rows[0, : q.size + v.size] = np.concatenate([q, v])[:, None]
        values = aligned_zeros(series.parameters.size * lanes)
        values[:] = np.repeat(series.parameters[0], lanes)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(series.address)
        function(table.ctypes.data, values.ctypes.data, ORDER)
        found[lanes] = rows[:, : series.components].copy()
    np.testing.assert_allclose(found[1][1, : expected.size, 0], expected, rtol=1e-11, atol=1e-11)
    assert np.array_equal(found[LANES], np.repeat(found[LANES][:, :, :1], LANES, axis=2))
    scale = np.abs(found[1]).max(axis=1, keepdims=True)
    assert np.all(np.abs(found[LANES] - found[1]) <= 1e-10 * scale)


# --- what has no series -------------------------------------------------------------------------------


def _pendulum(value: str) -> pendula.results.System:
    force = {"type": "generalized", "coordinate": "theta", "value": value}
    return pendula.compile_system(library.pendulum().with_changes(forces=[force]))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("-0.1*abs(theta)", "condition"),
        ("-0.1*sign(theta_dot)", "condition"),
        ("min(theta, 0.3)", "condition"),
        ("0.2*floor(t)", "floor"),
        ("1 if sin(t) < 0.5 else 0", "condition"),
    ],
)
def test_operations_without_a_series_are_refused_with_an_alternative(value: str, said: str) -> None:
    with pytest.raises(NotSupported, match=said) as caught:
        pendula.simulate(_pendulum(value), 1.0, stepper="taylor")
    assert "dop853" in str(caught.value)
    assert pendula.simulate(_pendulum(value), 0.1, stepper="dop853").outcome.ok


def test_loops_and_bodies_with_coordinates_of_their_own_are_refused() -> None:
    with pytest.raises(NotSupported, match=r"closed loops.*dop853"):
        pendula.simulate(library_system("four-bar"), 1.0, stepper="taylor")
    with pytest.raises(NotSupported, match="maximal coordinates"):
        pendula.simulate(library_system("double-pendulum", "maximal"), 1.0, stepper="taylor")


def test_many_speeds_are_refused_with_the_limit() -> None:
    system = pendula.compile_system(library.chain(links=13))
    with pytest.raises(NotSupported, match=r"up to 12 speeds.*has 13.*dop853"):
        pendula.simulate(system, 1.0, stepper="taylor")
