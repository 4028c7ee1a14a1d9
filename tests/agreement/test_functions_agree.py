"""One table of functions: every room covers it, and all rooms mean the same by each function."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import symengine as se

from pendula import Model, compile_system, library
from pendula.analysis.court.affine import Affine, affine
from pendula.analysis.equilibria.proofs.equations_at_rest import STEPS, step_of
from pendula.derivation import formulations
from pendula.equations.printing.code import PYTHON, SPELLED, write
from pendula.equations.translate import SYMBOLIC, function_name, translate
from pendula.errors import NotSupported
from pendula.model.expressions import functions
from pendula.model.expressions.algebra import combine
from pendula.model.expressions.arrays import ARRAYS, Arrays
from pendula.model.expressions.expression import parse
from pendula.model.expressions.functions import COLUMNS, FUNCTIONS, PRIMITIVES, Column, Function
from pendula.numerics.intervals.solve import slopes_over, values_over
from pendula.numerics.intervals.tape import Tape
from pendula.system.code.program import Op, Program
from pendula.system.code.writer import Writer
from tests.helpers.numbers import Compiled

NAMES = ("x", "y")
POINTS = {"acosh": (1.7, 0.4), "asin": (0.4, 0.2), "acos": (0.4, 0.2), "atanh": (0.4, 0.2)}
POINT = (1.37, -0.6)
ULPS = 1e-14  # a few roundings, in whatever order a room computes


def _call(name: str) -> str:
    return f"{name}({', '.join(NAMES[: FUNCTIONS[name].least])})"


def _at(name: str) -> dict[str, float]:
    return dict(zip(NAMES, POINTS.get(name, POINT), strict=True))


# --- coverage ---------------------------------------------------------------------------------------------


def test_every_room_covers_every_function_or_says_which_it_leaves_out() -> None:
    assert {id(column) for column in COLUMNS.values()} >= {id(c) for c in (ARRAYS, SYMBOLIC, STEPS, SPELLED)}
    for purpose, column in COLUMNS.items():
        assert not column.missing, f"no {purpose} for {sorted(column.missing)}"
        assert not column.without & set(column), purpose
        assert set(column) | column.without <= set(FUNCTIONS), purpose


def test_a_new_row_is_missed_by_every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    table = MappingProxyType({**FUNCTIONS, "versine": Function(lambda x: 1.0 - math.cos(x))})
    monkeypatch.setattr(functions, "FUNCTIONS", table)
    assert all(column.missing == {"versine"} for column in COLUMNS.values())


def test_a_function_that_a_room_does_not_know_is_refused_by_name() -> None:
    column = Column("colours", {"sin": "red"})
    del COLUMNS["colours"]
    assert column["sin"] == "red"
    with pytest.raises(NotSupported, match="no colours for the function cosh"):
        column["cosh"]
    with pytest.raises(NotSupported, match="no bounds over intervals for the function floor"):
        STEPS["floor"]
    with pytest.raises(NotSupported, match="hypot has no machine code"):
        Writer(1, contract=False, block=100).operation(Op("call", (0, 1), "hypot"), ["%a", "%b"])
    with pytest.raises(NotSupported, match="str is not a node"):
        combine(Arrays({}, ()), "x", ())  # type: ignore[arg-type]


def test_a_function_has_a_derivative_unless_equations_write_it_out() -> None:
    for name, function in PRIMITIVES.items():
        assert (function.slope is None) != (function.rate is None), name
        assert (function.rate is None) == (function.most == 1), name
    assert {name for name in FUNCTIONS if name not in PRIMITIVES} == {"abs", "sign", "min", "max", "hypot"}


# --- all rooms mean the same ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_all_rooms_give_a_function_the_same_value(name: str) -> None:
    expression, at = parse(_call(name)), _at(name)
    expected = expression.evaluate(at)
    symbols = {n: se.Symbol(n) for n in NAMES}
    symbolic = translate(expression, {n: symbols[n] for n in expression.names})
    arrays = {n: np.full(3, value) for n, value in at.items()}
    found: dict[str, Any] = {
        "arrays": expression.interpret(Arrays(arrays, (3,)))[1],
        "linear": affine(expression, {n: Affine(x) for n, x in arrays.items()}).constant[2],
        "machine code": Compiled([symbols[n] for n in NAMES], [], [symbolic])(list(at.values()))[0],
    }
    if name != "sign":  # by cases, and the last case is a number
        found["Python"] = eval(write(symbolic, PYTHON), {"math": math}, dict(at))
    for room, value in found.items():
        assert value == pytest.approx(expected, rel=ULPS, abs=1e-300), room


@pytest.mark.parametrize("name", sorted(STEPS))
def test_bounds_hold_the_values_and_the_slopes(name: str) -> None:
    x = se.Symbol("x")
    made = se.Abs(x) if name == "abs" else SYMBOLIC[name](x)
    middle = _at(name)["x"]
    lo, hi = middle - 0.2, middle + 0.2
    value, slope = _bounds(made, lo, hi)
    grid = np.linspace(lo, hi, 41)
    values = ARRAYS[name](grid)
    assert np.all((value[0] <= values) & (values <= value[1]))
    slopes = np.diff(values) / np.diff(grid)
    assert np.all((slope[0] <= slopes) & (slopes <= slope[1]))
    if name not in ("abs", "sqrt"):  # sharp enough to be of use: a bound without end would hold as well
        assert np.ptp(value) < 3 * np.ptp(values) + 0.1
        assert np.isfinite(slope).all()


def _bounds(made: Any, lo: float, hi: float) -> tuple[Any, Any]:
    """Bounds of an expression of x, and of its derivative."""
    tape = Tape(1)
    step = step_of(made, tape, {se.Symbol("x"): 0})
    box = np.array([[lo, hi]])
    return values_over(tape, [step], box)[0], slopes_over(tape, [step], box)[0, 0]


def test_bounds_outside_the_domain_are_no_bounds() -> None:
    x = se.Symbol("x")
    for name in ("log", "asin", "acosh", "atanh"):
        value, slope = _bounds(SYMBOLIC[name](x), -2.0, 3.0)
        assert value[0] <= (-math.inf if name != "asin" else -math.pi / 2)
        assert slope[0] <= 0.0 <= slope[1]


@pytest.mark.parametrize("name", sorted(set(PRIMITIVES) & set(FUNCTIONS)))
def test_symengine_nodes_carry_the_names_of_the_table(name: str) -> None:
    if name not in ("exp", "sqrt"):  # powers in SymEngine
        symbols = se.symbols("x y")[: FUNCTIONS[name].least]
        assert function_name(SYMBOLIC[name](*symbols)) == name
    assert function_name(se.gamma(se.Symbol("x"))) == ""


def test_a_square_in_a_derivative_rule_is_not_negative_over_intervals() -> None:
    x = se.Symbol("x")
    _, slope = _bounds(se.atan(x), -1.0, 1.0)
    assert 0.49 < slope[0] <= 0.5
    assert 1.0 <= slope[1] < 1.01


def test_rates_that_vanish_cost_nothing() -> None:
    p = Program(1, 1)
    power = p.call("pow", p.inputs[0], p.parameters[0])
    slope = p.tangent([power], {p.inputs[0]: p.one}, p.needed([power]))[0]
    assert not any(p.ops[k].name == "log" for k in p.needed([slope]))


@pytest.mark.parametrize(
    "value", ["100*(t/10)**400", "100*(0.1*t)**400", "100*(t/T)**400", "100*((t/T)**20)**20", "100/(T/t)**400.5"]
)
def test_powers_of_products_do_not_overflow_on_the_way(value: str) -> None:
    """A torque of 100 on a hanging rod with m = l = 1 at t = T = 10: m l^2/3 theta'' = 100."""
    model = library.pendulum()
    torque = {"type": "generalized", "coordinate": "theta", "value": value}
    model = Model(**{**model.model_dump(), "parameters": {**model.parameters, "T": 10.0}, "forces": [torque]})
    systems = [compile_system(model, name) for name in formulations()] + [compile_system(model, engine="recursive")]
    for system in systems:
        start = system.in_joints.place_state(system.in_joints.state({"theta": 0.0}, t=10.0))
        found = system.accelerations(start.q, start.v, start.t)
        assert found[-1] == pytest.approx(300.0, rel=1e-12)  # in maximal coordinates, too, an angle comes last
