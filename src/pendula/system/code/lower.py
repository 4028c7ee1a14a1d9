"""Lowers SymEngine expressions with named intermediates to a straight-line program.

Lowering regroups sums: it collects terms with the same state-dependent factor, so that their coefficients
(functions of parameters only) are added once per parameter set instead of at every call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import symengine as se
from symengine.lib import symengine_wrapper as wrapper

from pendula.equations.translate import function_name
from pendula.errors import ComputationError, NotSupported, PendulaError
from pendula.model.expressions.functions import PRIMITIVES
from pendula.system import refusals
from pendula.system.code.program import STATE, Program


class Lowering:
    """Lowers expressions into one program; names are lowered once, on first use."""

    def __init__(
        self, inputs: Sequence[Any], parameters: Sequence[Any], definitions: Iterable[tuple[Any, Any]] = ()
    ) -> None:
        self.program = Program(len(inputs), len(parameters))
        self._values: dict[Any, int] = dict(zip(inputs, self.program.inputs, strict=True))
        self._values |= dict(zip(parameters, self.program.parameters, strict=True))
        self._definitions: Mapping[Any, Any] = {s: se.sympify(e) for s, e in definitions if s not in self._values}
        self._inputs = tuple(self.program.inputs)

    def inputs(self, extra: Iterable[Any] = ()) -> list[int]:
        """Values of the inputs, followed by those of further symbols; unknown symbols become new inputs."""
        return [*self._inputs, *(self._extra(symbol) for symbol in extra)]

    def _extra(self, symbol: Any) -> int:
        if symbol not in self._values:
            if symbol in self._definitions:
                raise ValueError(f"{symbol} is defined by the equations and cannot be an input")
            self._values[symbol] = self.program.new_input()
        return self._values[symbol]

    def __call__(self, expression: Any) -> int:
        """The value of an expression."""
        if isinstance(expression, (int, float)):
            return self.program.constant(expression)
        self._define(expression)
        return self._lower(expression)

    def _define(self, expression: Any) -> None:
        """Lowers all named intermediates of an expression, deepest first, without Python recursion."""
        stack = [s for s in expression.free_symbols if s not in self._values]
        while stack:
            symbol = stack[-1]
            if symbol in self._values:
                stack.pop()
                continue
            definition = self._definitions.get(symbol)
            if definition is None:
                raise PendulaError(f"{symbol} is used but not defined")
            missing = [s for s in definition.free_symbols if s not in self._values]
            if missing:
                stack.extend(missing)
                continue
            self._values[symbol] = self._lower(definition)
            stack.pop()

    def _lower(self, e: Any) -> int:
        known = self._values.get(e)
        if known is not None:
            return known
        program = self.program
        if isinstance(e, se.Number) or (not e.args and not isinstance(e, se.Symbol) and not _boolean(e)):
            result = program.constant(_real(e))
        elif e.is_Add:
            result = self._sum(e)
        elif e.is_Mul:
            coefficient, factors = self._factors(e)
            result = program.constant(coefficient)
            for factor in program.sorted(factors):
                result = program.multiply(result, factor)
        elif e.is_Pow:
            result = self._power(*e.args)
        elif isinstance(e, se.Piecewise):
            result = self._cases(e.args)
        else:
            result = self._function(e)
        self._values[e] = result
        return result

    def _factors(self, e: Any) -> tuple[float, list[int]]:
        """A product as a number and the values of its other factors."""
        if not e.is_Mul:
            if isinstance(e, se.Number):
                return _real(e), []
            return 1.0, [self._lower(e)]
        coefficient, factors = 1.0, []
        for arg in e.args:
            if isinstance(arg, se.Number):
                coefficient *= _real(arg)
            else:
                factors.append(self._lower(arg))
        return coefficient, factors

    def _sum(self, e: Any) -> int:
        program = self.program
        level, rank = program.level, program.rank.__getitem__
        groups: dict[tuple[int, ...], int] = {}
        for term in e.args:
            coefficient, factors = self._factors(term)
            factors.sort(key=rank)
            state = tuple([k for k in factors if level[k] == STATE])
            weight = program.constant(coefficient)
            if len(state) < len(factors):
                for k in factors:
                    if level[k] != STATE:
                        weight = program.multiply(weight, k)
            groups[state] = program.add(groups[state], weight) if state in groups else weight
        alone = groups.pop((), program.zero)
        # terms that share a coefficient are added before they are multiplied by it
        shared: dict[int, int] = {}
        for state, weight in groups.items():
            product = state[0]
            for k in state[1:]:
                product = program.multiply(product, k)
            negative = program.ops[weight].kind == "neg" or (program.value(weight) or 0.0) < 0
            key = program.negate(weight) if negative else weight
            before = shared.get(key, program.zero)
            shared[key] = program.subtract(before, product) if negative else program.add(before, product)
        result = alone
        for weight, product in shared.items():
            if program.ops[product].kind == "neg":
                result = program.subtract(result, program.multiply(weight, program.ops[product].parts[0]))
            else:
                result = program.add(result, program.multiply(weight, product))
        return result

    def _power(self, base: Any, exponent: Any) -> int:
        program = self.program
        if base == se.E:
            return program.call("exp", self._lower(exponent))
        value = self._lower(base)
        if isinstance(exponent, se.Integer):
            return program.power(value, int(exponent))
        if isinstance(exponent, se.Rational) and int(exponent.q) == 2 and abs(int(exponent.p)) <= 15:
            root = program.call("sqrt", value)
            return program.power(root, int(exponent.p))
        if isinstance(exponent, se.Number) and float(exponent) in (0.5, -0.5):
            root = program.call("sqrt", value)
            return root if float(exponent) > 0 else program.divide(program.one, root)
        if isinstance(exponent, se.Number) and float(exponent).is_integer() and abs(float(exponent)) <= 64:
            return program.power(value, int(float(exponent)))
        return program.call("pow", value, self._lower(exponent))

    def _function(self, e: Any) -> int:
        name, program = function_name(e), self.program
        if name in PRIMITIVES:
            return program.call(name, *(self._lower(a) for a in e.args))
        if name == "abs":
            x = self._lower(e.args[0])
            return program.select(program.condition("le", program.zero, x), x, program.negate(x))
        if name == "sign":
            x = self._lower(e.args[0])
            below = program.select(program.condition("lt", x, program.zero), program.constant(-1.0), program.zero)
            return program.select(program.condition("lt", program.zero, x), program.one, below)
        if isinstance(e, se.cot):  # SymEngine turns tan(x + pi/2) into it
            return program.power(program.call("tan", self._lower(e.args[0])), -1)
        raise NotSupported(refusals.NOT_LOWERED, kind=type(e).__name__, expression=str(e)[:80])

    def _cases(self, args: Sequence[Any]) -> int:
        """Piecewise: expression, condition, expression, condition, ... with a final True."""
        pairs = list(zip(args[::2], args[1::2], strict=True))
        result = self._lower(pairs[-1][0])
        for value, condition in reversed(pairs[:-1]):
            result = self.program.select(self._condition(condition), self._lower(value), result)
        return result

    def _condition(self, e: Any) -> int:
        program = self.program
        if _boolean(e):
            return program.condition("true" if bool(e) else "false")
        if isinstance(e, (se.And, se.Or)):
            kind = "and" if isinstance(e, se.And) else "or"
            parts = [self._condition(a) for a in e.args]
            result = parts[0]
            for part in parts[1:]:
                result = program.condition(kind, result, part)
            return result
        if isinstance(e, se.Not):
            return program.condition("not", self._condition(e.args[0]))
        a, b = (self._lower(x) for x in e.args)
        kinds = {"StrictLessThan": "lt", "LessThan": "le"}
        kind = kinds.get(type(e).__name__, "")
        if not kind:
            raise NotSupported(refusals.CONDITION_NOT_LOWERED, condition=e)
        return program.condition(kind, a, b)


def _boolean(e: Any) -> bool:
    return isinstance(e, (wrapper.BooleanAtom, bool))


def _real(number: Any) -> float:
    """A number of SymEngine as a float.

    Raises:
        ComputationError: it is not real, such as an undirected infinity that simplification left behind.
    """
    try:
        return float(number)
    except RuntimeError:
        raise ComputationError(
            f"an expression of the equations has the constant value {number}, which is not a real number.\n"
            "  Try: look for a division by zero in the expressions of the model, for its parameters."
        ) from None
