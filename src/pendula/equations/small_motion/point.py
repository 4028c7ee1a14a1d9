"""The point about which equations are linearized: values of coordinates, speeds, inputs and multipliers in symbols."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import symengine as se
import sympy as sp

from pendula.arguments import available, read_table
from pendula.equations.equations import Equations
from pendula.equations.translate import translate
from pendula.errors import UsageError
from pendula.model.expressions.expression import parse

SIMPLE_TURN = 24
"""Multiples of pi/24 are exact values of angles."""
SIMPLE_FRACTION = 1000
"""So are fractions with at most this denominator."""
CLOSE = 1e-10
"""Largest distance from a multiple of pi/24, as a fraction of pi/24, that counts as exact."""


@dataclass
class Constants:
    """Values at the point that have no closed form: symbols ``NAME_e`` with their numbers."""

    numbers: dict[Any, float] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    """names of the model, which the symbols may not have"""

    def new(self, name: str, value: float) -> Any:
        """A symbol for the value of a coordinate or multiplier."""
        name = f"{name}_e"
        while name in self.taken:
            name += "q"
        symbol = sp.Symbol(name, real=True)
        self.numbers[symbol] = value
        return symbol


class Reader:
    """Expressions of the equations as SymPy expressions, with assumptions about signs and all names substituted."""

    def __init__(self, eq: Equations) -> None:
        self.eq, self.constants = eq, Constants()
        values = eq.model.parameter_values
        self.symbols = {
            str(p): sp.Symbol(str(p), positive=True) if values[str(p)] > 0 else sp.Symbol(str(p), real=True)
            for p in eq.p
        }
        self.symbols |= {str(x): sp.Symbol(str(x), real=True) for x in (eq.t, *eq.q, *eq.v, *eq.u)}
        self.constants.taken |= set(self.symbols)
        self.numbers = {self.symbols[str(p)]: values[str(p)] for p in eq.p}
        """values of the parameters"""
        self._known = dict(self.symbols)
        for symbol, expression in eq.definitions:
            self._known[str(symbol)] = self.read(expression)

    def read(self, expression: Any) -> Any:
        """An expression of the equations with all intermediates substituted."""
        found = sp.nsimplify(sp.sympify(expression), rational=True)
        names = {s: self._known[str(s)] for s in found.free_symbols if str(s) in self._known}
        return found.subs(names, simultaneous=True)

    def all_numbers(self) -> dict[Any, float]:
        """Values of parameters and of the constants at the point."""
        return self.numbers | self.constants.numbers

    # -- values at the point ----------------------------------------------------------------------

    def point(self, at: Mapping[str, Any]) -> dict[Any, Any]:
        """Values of coordinates, speeds and inputs; unnamed ones are zero, or no rotation for a quaternion."""
        eq = self.eq
        names = [str(x) for x in (*eq.q, *eq.v)]
        unknown = sorted(set(read_table(at, "at")) - set(names))
        if unknown:
            raise UsageError(f'there is no coordinate or speed "{unknown[0]}"; {available(names)}')
        given = dict(at)
        for quaternion in eq.quaternions:
            parts = names[quaternion.first : quaternion.first + 4]
            if not set(parts) & set(at):
                given[parts[0]] = 1
        found = {self.symbols[name]: self._value(name, given.get(name, 0)) for name in names}
        return found | {self.symbols[str(x)]: self._input(str(x)) for x in eq.u}

    def _value(self, name: str, given: Any) -> Any:
        if isinstance(given, sp.Basic):
            return given.subs({s: self.symbols[str(s)] for s in given.free_symbols if str(s) in self.symbols})
        if isinstance(given, (int, float)):
            exact = exact_number(float(given))
            return self.constants.new(name, float(given)) if exact is None else exact
        return self._expression(given)

    def _expression(self, given: str) -> Any:
        expression = parse(given)  # raises unless it is an expression of the model language
        unknown = sorted(expression.names - self.eq.model.parameters.keys())
        if unknown:
            raise UsageError(f'"{given}": there is no parameter "{unknown[0]}"')
        return self.read(translate(expression, {n: se.Symbol(n) for n in expression.names}))

    def _input(self, name: str) -> Any:
        given = self.eq.model.inputs[name]
        if "t" in parse(given).names:
            return sp.Integer(0)
        return self._value(name, given)


def exact_number(x: float) -> Any:
    """A number in exact form: a multiple of pi/24 or a simple fraction; None if it is neither.

    Example:
        >>> import math
        >>> exact_number(0.7), exact_number(math.pi / 2), exact_number(0.26334254)
        (7/10, pi/2, None)
    """
    turns = x / math.pi * SIMPLE_TURN
    if turns and abs(turns - round(turns)) < CLOSE and round(turns):
        return sp.pi * sp.Rational(round(turns), SIMPLE_TURN)
    near = Fraction(x).limit_denominator(SIMPLE_FRACTION)
    if abs(float(near) - x) <= 1e-13 * max(abs(x), 1e-3):
        return sp.Rational(near.numerator, near.denominator)
    return None


def numeric(matrix: sp.Matrix, values: Mapping[Any, float]) -> Any:
    """A matrix of numbers."""
    import numpy as np

    found = [[complex(x.subs(values).evalf(30)).real for x in row] for row in matrix.tolist()]
    return np.array(found, dtype=float).reshape(matrix.shape)


def independent(jacobian: Any) -> tuple[Sequence[int], Sequence[int]]:
    """Independent rows of a numeric Jacobian, and as many dependent columns (largest pivots first)."""
    import numpy as np

    left = np.array(jacobian, dtype=float)
    rows: list[int] = []
    columns: list[int] = []
    scale = np.abs(left).max(initial=0.0)
    for _ in range(min(left.shape)):
        # Later columns first among equals, so that the first coordinates stay independent.
        size = np.abs(left)
        if size.max(initial=0.0) <= 1e-9 * scale:
            break
        best = size >= 0.3 * size.max()
        row, column = max(np.argwhere(best).tolist(), key=lambda place: (place[1], -place[0]))
        rows.append(row)
        columns.append(column)
        left = left - np.outer(left[:, column], left[row]) / left[row, column]
        left[row], left[:, column] = 0.0, 0.0
    return sorted(rows), sorted(columns)
