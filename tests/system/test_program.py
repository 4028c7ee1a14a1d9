"""Straight-line programs and their machine code: values, sharing, derivatives, and the same meaning as the
expression language has by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import symengine as se
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pendula import library
from pendula.equations.translate import translate
from pendula.errors import PendulaError
from pendula.model.expressions.expression import parse
from pendula.model.expressions.functions import PRIMITIVES
from pendula.model.names import ExpressionError
from pendula.system.build import compile_system
from pendula.system.code import llvm
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.program import Program
from tests.helpers.numbers import Compiled

NAMES = ("x", "y", "z")
PARAMETERS = ("k", "w")
SYMBOLS = {n: se.Symbol(n) for n in (*NAMES, *PARAMETERS)}


def _compile(*texts: str) -> Compiled:
    entries = [translate(parse(text), {n: SYMBOLS[n] for n in parse(text).names if n in SYMBOLS}) for text in texts]
    return Compiled([SYMBOLS[n] for n in NAMES], [SYMBOLS[n] for n in PARAMETERS], entries)


def _value(text: str, x: float = 0.0, y: float = 0.0, z: float = 0.0, k: float = 0.0, w: float = 0.0) -> float:
    return float(_compile(text)([x, y, z], [k, w])[0])


# --- the program itself -------------------------------------------------------------------------------


def test_equal_operations_share_one_number() -> None:
    p = Program(2, 1)
    x, y = p.inputs
    assert p.add(x, y) == p.add(y, x)
    assert p.multiply(x, y) == p.multiply(y, x)
    assert p.call("sin", x) == p.call("sin", x)
    assert p.subtract(x, y) != p.subtract(y, x)
    assert p.divide(x, y) != p.divide(y, x)


def test_constants_fold_and_neutral_operations_vanish() -> None:
    p = Program(1, 0)
    (x,) = p.inputs
    two, three = p.constant(2.0), p.constant(3.0)
    assert p.value(p.add(two, three)) == 5.0
    assert p.value(p.multiply(two, three)) == 6.0
    assert p.value(p.divide(three, two)) == 1.5
    assert p.value(p.power(two, 10)) == 1024.0
    assert p.value(p.call("cos", p.zero)) == 1.0
    assert p.add(x, p.zero) == x
    assert p.multiply(x, p.one) == x
    assert p.multiply(x, p.zero) == p.zero
    assert p.subtract(x, x) == p.zero
    assert p.negate(p.negate(x)) == x
    assert p.power(x, 0) == p.one
    assert p.power(x, 1) == x


def test_count_is_of_what_the_outputs_need() -> None:
    p = Program(1, 0)
    (x,) = p.inputs
    p.call("exp", x)
    assert p.count([p.add(p.call("sin", x), p.one)]) == 2


def test_what_depends_on_parameters_alone_is_prepared_once() -> None:
    code = _compile("x*sin(k)*exp(w) + y")
    assert code.native.prepared >= 1
    assert code.native.operations <= 3
    assert code([2.0, 1.0, 0.0], [0.5, 0.1])[0] == pytest.approx(2 * math.sin(0.5) * math.exp(0.1) + 1)


def test_an_output_may_be_a_constant_an_input_a_parameter_or_given_twice() -> None:
    found = _compile("3", "x", "k", "x", "2*k", "0")([1.5, 0, 0], [2.5, 0])
    assert found.tolist() == [3.0, 1.5, 2.5, 1.5, 5.0, 0.0]


# --- derivatives --------------------------------------------------------------------------------------

_AT: dict[str, tuple[float, ...]] = {"acosh": (1.7,), "atan2": (0.6, -0.8), "pow": (1.3, 2.4)}


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_tangent_of_every_function_is_its_derivative(name: str) -> None:
    at = np.array(_AT.get(name, (0.37,)))
    p = Program(len(at), 0)
    value = p.call(name, *p.inputs)
    slopes = [p.tangent([value], {k: p.one}, p.needed([value]))[0] for k in p.inputs]
    native = compile_program(p, [value, *slopes])

    def run(x: np.ndarray) -> np.ndarray:
        code = Compiled.__new__(Compiled)
        code.native, code.outputs = native, 1 + len(at)
        return code(x)

    exact = {"pow": math.pow, "atan2": math.atan2}.get(name) or getattr(math, name)
    assert run(at)[0] == pytest.approx(exact(*at), rel=1e-15)
    for k, step in enumerate(np.eye(len(at))):
        h = 1e-3
        rise = [run(at + s * h * step)[0] for s in (-2, -1, 1, 2)]
        expected = (rise[0] - 8 * rise[1] + 8 * rise[2] - rise[3]) / (12 * h)
        assert run(at)[1 + k] == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_tangent_of_arithmetic_follows_the_rules() -> None:
    p = Program(2, 0)
    x, y = p.inputs
    value = p.divide(p.subtract(p.multiply(x, p.power(y, 3)), p.negate(x)), p.add(y, p.constant(2.0)))
    order = p.needed([value])
    slopes = [p.tangent([value], {k: p.one}, order)[0] for k in (x, y)]
    code = Compiled.__new__(Compiled)
    code.native, code.outputs = compile_program(p, slopes), 2
    a, b = 1.3, 0.7
    expected = [(b**3 + 1) / (b + 2), 3 * a * b**2 / (b + 2) - a * (b**3 + 1) / (b + 2) ** 2]
    np.testing.assert_allclose(code([a, b]), expected, rtol=1e-14)


# --- meaning: single cases ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("x if x < y else y", (1.0, 1.0)),
        ("x if x <= y else -y", (1.0, 1.0)),
        ("x if x > y else -y", (2.0, 1.0)),
        ("x if x >= y else -y", (1.0, 1.0)),
        ("1 if x < y and y < 3 else 2", (1.0, 2.0)),
        ("1 if x < y or y < 3 else 2", (5.0, 2.0)),
        ("1 if not x < y else 2", (5.0, 2.0)),
        ("abs(x)", (-2.5, 0.0)),
        ("sign(x)", (-2.5, 0.0)),
        ("sign(x)", (0.0, 0.0)),
        ("min(x, y, 0.3)", (0.5, 0.4)),
        ("max(x, y, -0.3)", (-0.5, -0.4)),
        ("floor(x)", (-1.5, 0.0)),
        ("floor(x + 3)", (-1.5, 0.0)),
        ("ceil(x)", (-1.5, 0.0)),
        ("ceil(2*x)", (1.2, 0.0)),
        ("hypot(x, y)", (3.0, -4.0)),
        ("atan2(x, y)", (-1.0, -2.0)),
        ("atan2(0, y)", (0.0, -2.0)),
        ("atan2(x, 0)", (-1.0, 0.0)),
        ("atan2(x, x)", (-0.3, 0.0)),
        ("atan2(2*x, 2*x)", (0.3, 0.0)),
        ("atan2(x, -x)", (0.3, 0.0)),
        ("atan2(-y, y)", (0.0, -2.0)),
        ("sqrt(x**2)", (-3.0, 0.0)),
        ("(x**2)**0.5", (-3.0, 0.0)),
        ("(x**4)**(1/4)", (-3.0, 0.0)),
        ("(x*y)**0.5", (-3.0, -2.0)),
        ("sqrt(x)*sqrt(x)", (2.0, 0.0)),
        ("asin(sin(x))", (2.0, 0.0)),
        ("acos(cos(x))", (-2.0, 0.0)),
        ("atan(tan(x))", (2.0, 0.0)),
        ("log(exp(x))", (3.0, 0.0)),
        ("exp(log(x))", (3.0, 0.0)),
        ("log(x**2)", (-3.0, 0.0)),
        ("x**3", (-2.0, 0.0)),
        ("x**-2", (-2.0, 0.0)),
        ("x**2.5", (2.0, 0.0)),
        ("x**y", (2.0, -1.5)),
        ("2**x", (2.5, 0.0)),
        ("x**(1/3)", (2.0, 0.0)),
        ("2**(1/3)*x", (2.0, 0.0)),
        ("pi**(1/3) + x", (2.0, 0.0)),
        ("2**0.3 + x", (2.0, 0.0)),
        ("1 if sqrt(2) < pi else x", (5.0, 0.0)),
        ("x if 2 < 1 else 3*x", (5.0, 0.0)),
        ("abs(-3)*x", (2.0, 0.0)),
        ("min(2, 3)*x + max(1, 2)", (2.0, 0.0)),
        ("floor(2.7)*x", (2.0, 0.0)),
        ("sign(-4) + x", (2.0, 0.0)),
        ("x if sin(1) < x else y", (2.0, 1.0)),
        ("90deg + x", (2.0, 0.0)),
        ("sin(pi) + x", (2.0, 0.0)),
        ("x/3", (1.0, 0.0)),
        ("1/x/y", (3.0, 7.0)),
        ("x - x", (3.0, 0.0)),
        ("0*x", (3.0, 0.0)),
        ("abs(x) if abs(x) < 1 else abs(y)", (-2.0, -3.0)),
    ],
)
def test_compiled_expression_means_what_the_language_says(text: str, at: tuple[float, float]) -> None:
    expected = parse(text).evaluate({"x": at[0], "y": at[1]})
    assert _value(text, *at) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(
    "text",
    ["x if k > 1 else -x", "k*x if k > w and w < 5 else y", "1 if k > 1 else x", "min(k, w)*x", "abs(k)*x + sign(w)"],
)
@pytest.mark.parametrize("k", [0.5, 2.0])
def test_conditions_on_parameters_compile(text: str, k: float) -> None:
    expected = parse(text).evaluate({"x": 3.0, "y": -1.0, "k": k, "w": 1.0})
    assert _value(text, 3.0, -1.0, k=k, w=1.0) == pytest.approx(expected)


def test_a_function_that_cannot_be_compiled_is_refused_by_name() -> None:
    x = se.Symbol("x")
    with pytest.raises(PendulaError, match=r"(?i)gamma"):
        Lowering([x], [])(se.gamma(x))


def test_a_name_that_is_not_defined_is_refused() -> None:
    with pytest.raises(PendulaError, match="y is used but not defined"):
        Lowering([se.Symbol("x")], [])(se.Symbol("y") + 1)


# --- meaning: random expressions ----------------------------------------------------------------------

_LEAVES = st.sampled_from([*NAMES, *PARAMETERS, "2", "3", "0.5", "1.25", "pi", "0.1", "7"])
_UNARY = st.sampled_from(
    ["sin", "cos", "atan", "tanh", "exp", "abs", "sign", "sqrt", "log", "asinh", "-", "floor", "ceil"]
)
_BINARY = st.sampled_from(["+", "-", "*", "/", "min", "max", "hypot", "atan2", "**2", "**3", "**0.5", "**-1"])
_RELATION = st.sampled_from(["<", "<=", ">", ">="])


def _grow(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def binary(op: str, a: str, b: str) -> str:
        if op.startswith("**"):
            return f"({a}){op}"
        return f"{op}({a}, {b})" if op.isidentifier() else f"({a}) {op} ({b})"

    def unary(op: str, a: str) -> str:
        return f"-({a})" if op == "-" else f"{op}({a})"

    return st.one_of(
        st.builds(unary, _UNARY, children),
        st.builds(binary, _BINARY, children, children),
        st.builds(
            lambda a, op, b, c, d: f"({a}) if ({b}) {op} ({c}) else ({d})",
            children,
            _RELATION,
            children,
            children,
            children,
        ),
    )


_TEXTS = st.recursive(_LEAVES, _grow, max_leaves=12)
_NUMBERS = st.floats(-3, 3).map(lambda x: round(x, 3))


def _steady(text: str, values: dict[str, float]) -> float:
    """The value, where it is finite, not too large, and does not hang on the last digits of the arguments.

    Near a jump or a pole two correct programs may differ, so those points are left out.
    """
    expression = parse(text)
    try:
        here = expression.evaluate(values)
        for factor in (1 - 1e-9, 1 + 1e-9):
            for shift in (-1e-10, 1e-10):
                near = expression.evaluate({n: x * factor + shift for n, x in values.items()})
                assume(abs(near - here) < 1e-4 * (1 + abs(here)))
    except (ExpressionError, ZeroDivisionError, OverflowError, ValueError):
        assume(False)
    assume(abs(here) < 1e8)
    return here


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=_TEXTS, numbers=st.lists(_NUMBERS, min_size=5, max_size=5))
def test_random_expression_compiles_to_what_it_evaluates_to(text: str, numbers: list[float]) -> None:
    values = dict(zip((*NAMES, *PARAMETERS), numbers, strict=True))
    names: Any = parse(text).names
    expected = _steady(text, {n: x for n, x in values.items() if n in names})
    found = _value(text, *numbers)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


# --- one program for all blocks of a system ---------------------------------------------------------------


def test_what_a_block_computes_does_not_depend_on_the_blocks_compiled_before() -> None:
    model = library.double_pendulum()
    fresh, used = compile_system(model), compile_system(model)
    q, v = np.array([[0.3, -1.1]]), np.array([[2.0, 0.7]])
    for by in "qvp":  # fills the shared program with derivatives first
        used.residual_jacobian(by, q[0], v[0], np.ones(2), np.zeros(0))
    used.energies(q[0], v[0])
    natives = [system.programs.dynamics(system.parameters).native for system in (fresh, used)]
    assert natives[0].operations == natives[1].operations
    found = [system.accelerations(q[0], v[0]).tobytes() for system in (fresh, used)]
    assert found[0] == found[1]


def test_operands_are_ordered_by_what_they_are_not_by_when_they_were_made() -> None:
    def product(first: str, second: str) -> list[object]:
        p = Program(2, 0)
        made = {name: p.call(name, p.inputs[0]) for name in (first, second)}
        value = p.multiply(p.multiply(made["sin"], p.inputs[1]), made["exp"])
        total = p.add(made["exp"], value)
        return [(op.kind, op.name) for k in p.needed([total]) for op in [p.ops[k]]]

    assert product("sin", "exp") == product("exp", "sin")


def test_evaluate_and_prepare_share_one_module(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    real = llvm.build_module
    monkeypatch.setattr(llvm, "build_module", lambda text, effort: built.append(text) or real(text, effort))
    assert _value("x*sin(k)", x=2.0, k=0.5) == pytest.approx(2 * math.sin(0.5))
    assert len(built) == 1


def test_an_input_may_stand_anywhere_in_the_array() -> None:
    p = Program(2, 0)
    x, y = p.inputs
    native = compile_program(p, [p.subtract(x, y)], inputs=[y, x])
    code = Compiled.__new__(Compiled)
    code.native, code.outputs = native, 1
    assert code([1.0, 5.0])[0] == 4.0


def test_transpose_and_tangent_are_adjoint() -> None:
    """w . (J v) = (J^T w) . v, for outputs that are linear in v through every operation that keeps them linear."""
    p = Program(7, 0)
    a, b, v1, v2, w1, w2, w3 = p.inputs
    product = p.multiply(p.call("sin", a), v1)
    quotient = p.divide(p.subtract(v2, product), p.add(p.constant(2.0), p.multiply(b, b)))
    choice = p.select(p.condition("lt", a, b), p.negate(quotient), p.add(v1, quotient))
    outputs = [p.add(product, quotient), choice, p.add(a, b)]  # the last one does not depend on v
    moved = p.tangent(outputs, {v1: v1, v2: v2}, p.needed(outputs))
    back = p.transpose(outputs, [w1, w2, w3], [v1, v2])
    native = compile_program(p, [*moved, *back])
    code = Compiled.__new__(Compiled)
    code.native, code.outputs = native, 5
    for x in np.random.default_rng(0).standard_normal((20, 7)):
        found = code(x)
        assert found[:3] @ x[4:] == pytest.approx(found[3:] @ x[2:4], rel=1e-12)


def test_transpose_refuses_what_is_not_linear() -> None:
    p = Program(2, 0)
    v, w = p.inputs
    for output in (p.multiply(v, v), p.call("sin", v), p.divide(p.one, v)):
        with pytest.raises(ValueError, match="not linear"):
            p.transpose([output], [w], [v])
