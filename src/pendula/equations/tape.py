"""Named intermediates: how equations are built without ever becoming one large expression.

A Tape is an ordered list of definitions ``symbol = expression of earlier symbols``. Each expression
is built once and is small. Derivatives are taken through the list by the chain rule (forward mode),
one Direction at a time, and their parts are again named. SymEngine compares equal copies of deep
expressions in exponential time; with names in between nothing is ever deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import symengine as se

Expr = Any  # a SymEngine expression, or a Python int or float
ZERO = se.S.Zero

_LONGEST_SUM = 2  # sums with more terms get a name
_LONGEST_PRODUCT = 6


def is_zero(x: Expr) -> bool:
    """Whether an entry is exactly zero (a float 0.0 counts as well)."""
    return x is ZERO or (isinstance(x, (int, float)) and x == 0)


class Tape:
    """Ordered definitions of named intermediates."""

    def __init__(self) -> None:
        self.definitions: dict[Any, Expr] = {}
        self._names: dict[Expr, Any] = {}
        self._taken: set[str] = set()
        self._free: dict[Any, tuple[Any, ...]] = {}
        self._trig: dict[Expr, tuple[Expr, Expr]] = {}
        self._turn: dict[Any, tuple[Expr, Expr]] = {}  # symbol -> (derivative by the angle, the angle)

    def name(self, expression: Expr, hint: str) -> Expr:
        """A symbol for the expression; the same expression always gets the same symbol."""
        kind = type(expression)
        if kind is se.Symbol or isinstance(expression, (int, float, se.Number)):
            return expression
        known = self._names.get(expression)
        if known is None:
            known = se.Symbol(self._unique(hint))
            self._names[expression] = known
            self.definitions[known] = expression
        return known

    def keep(self, expression: Expr, hint: str) -> Expr:
        """A symbol if the expression is long enough to deserve a name, else the expression itself.

        Short products stay as they are, so that like terms of different bodies meet and add up.
        """
        if isinstance(expression, (int, float)):
            return expression
        if expression.is_Add:
            return self.name(expression, hint) if len(expression.args) > _LONGEST_SUM else expression
        if expression.is_Mul:
            args = expression.args
            if len(args) > _LONGEST_PRODUCT or any(a.is_Add for a in args):
                return self.name(expression, hint)
        return expression

    def keep_all(self, expressions: Iterable[Expr], hint: str) -> list[Expr]:
        """``keep`` for the entries of a vector, named hint_x, hint_y, hint_z."""
        return [self.keep(e, f"{hint}_{axis}") for e, axis in zip(expressions, "xyz", strict=True)]

    def trig(self, angle: Expr, hint: str) -> tuple[Expr, Expr]:
        """Cosine and sine of an angle as a pair of names that know each other as derivatives."""
        found = self._trig.get(angle)
        if found is None:
            c, s = se.cos(angle), se.sin(angle)
            if not isinstance(c, se.Number) and not isinstance(s, se.Number) and se.sympify(angle).free_symbols:
                c, s = self.name(c, f"c__{hint}"), self.name(s, f"s__{hint}")
                self._turn[c], self._turn[s] = (-s, angle), (c, angle)
            found = self._trig[angle] = (c, s)
        return found

    def free(self, symbol: Any) -> tuple[Any, ...]:
        """Symbols in the definition of a symbol."""
        found = self._free.get(symbol)
        if found is None:
            found = self._free[symbol] = tuple(se.sympify(self.definitions[symbol]).free_symbols)
        return found

    def _unique(self, hint: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_]", "_", hint)
        base = base if "__" in base else f"z__{base}"  # user names have no double underscore
        name, k = base, 2
        while name in self._taken:
            name, k = f"{base}_{k}", k + 1
        self._taken.add(name)
        return name


class Direction:
    """Derivatives of anything on a tape along one direction, given by the derivatives of the base symbols.

    ``Direction(tape, {v1: 1})`` is the partial derivative by v1; ``{q: q_dot for ...}`` is the rate in time.
    """

    def __init__(self, tape: Tape, seeds: Mapping[Any, Expr], hint: str) -> None:
        self._tape = tape
        self._hint = hint
        self._known: dict[Any, Expr] = dict(seeds)

    def __call__(self, expression: Expr) -> Expr:
        """The derivative of an expression of base symbols and names."""
        if isinstance(expression, (int, float)):
            return 0
        if type(expression) is se.Symbol:
            self._settle(expression)
            return self._known[expression]
        symbols = tuple(expression.free_symbols)
        for symbol in symbols:
            self._settle(symbol)
        return self._chain(expression, symbols)

    def all(self, expressions: Iterable[Expr]) -> list[Expr]:
        """Derivatives of the entries of a vector."""
        return [self(e) for e in expressions]

    def _chain(self, expression: Expr, symbols: Iterable[Any]) -> Expr:
        terms = []
        for symbol in symbols:
            rate = self._known[symbol]
            if not is_zero(rate):
                terms.append(expression.diff(symbol) * rate)
        if not terms:
            return 0
        return terms[0] if len(terms) == 1 else se.Add(*terms)

    def _settle(self, symbol: Any) -> None:
        """Finds the derivative of a symbol and of everything it is made of, without recursion."""
        if symbol in self._known:
            return
        stack = [symbol]
        tape = self._tape
        while stack:
            top = stack[-1]
            if top in self._known:
                stack.pop()
                continue
            if top not in tape.definitions:
                self._known[top] = 0
                stack.pop()
                continue
            missing = [s for s in tape.free(top) if s not in self._known]
            turn = tape._turn.get(top)
            if turn is not None:  # the angle may itself hold names
                missing = [s for s in se.sympify(turn[1]).free_symbols if s not in self._known]
            if missing:
                stack.extend(missing)
                continue
            if turn is not None:
                rate = self._chain(turn[1], se.sympify(turn[1]).free_symbols)
                self._known[top] = 0 if is_zero(rate) else turn[0] * rate
            else:
                self._known[top] = tape.keep(self._chain(tape.definitions[top], tape.free(top)), f"{top}_{self._hint}")
            stack.pop()
