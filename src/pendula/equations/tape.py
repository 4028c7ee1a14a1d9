"""Named intermediates (common subexpressions), which keep every expression small.

A Tape is an ordered list of definitions ``symbol = expression of earlier symbols``. Each expression is built once.
Derivatives pass through the list by the chain rule (forward-mode differentiation), one Direction at a time, and get
names, too. SymEngine compares equal copies of deep expressions in exponential time; names keep expressions shallow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import symengine as se

Expr = Any  # a SymEngine expression, or a Python int or float
ZERO = se.S.Zero

_LONGEST_SUM = 2  # longer sums get a name
_LONGEST_PRODUCT = 6


def is_zero(x: Expr) -> bool:
    """Whether an entry is exactly zero (including a float 0.0)."""
    return x is ZERO or (isinstance(x, (int, float)) and x == 0)


def substituted(expression: Expr, table: Mapping[Any, Any]) -> Any:
    """An expression with the symbols of a table replaced by their values."""
    expression = se.sympify(expression)
    used = {s: table[s] for s in expression.free_symbols if s in table}
    return expression.subs(used) if used else expression


class Tape:
    """Ordered definitions of named intermediates."""

    def __init__(self) -> None:
        self.definitions: dict[Any, Expr] = {}
        self._names: dict[Expr, Any] = {}
        self._taken: set[str] = set()
        self._free: dict[Any, tuple[Any, ...]] = {}
        self._parts: dict[Any, tuple[int, tuple[tuple[Any, int], ...]]] = {}
        self._bits: dict[Any, int] = {}
        self._reach: dict[Any, int] = {}
        self._trig: dict[Expr, tuple[Expr, Expr]] = {}
        self._turn: dict[Any, tuple[Expr, Expr]] = {}  # cosine or sine -> (derivative by the angle, the angle)

    def name(self, expression: Expr, hint: str) -> Expr:
        """A symbol for the expression; the same expression always gets the same symbol."""
        kind = type(expression)
        if kind is se.Symbol or isinstance(expression, (int, float, se.Number)):
            return expression
        known = self._names.get(expression)
        if known is None:
            known = self._names[expression] = self.define(expression, hint)
        return known

    def define(self, expression: Expr, hint: str) -> Any:
        """A symbol of its own for the expression, whatever has a name already."""
        found = se.Symbol(self.unique(hint))
        self.definitions[found] = expression
        return found

    def keep(self, expression: Expr, hint: str) -> Expr:
        """A symbol if the expression is long enough for a name, else the expression itself.

        Short products stay as they are, so that like terms of different bodies combine.
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

    def keep_matrix(self, matrix: Iterable[Iterable[Expr]], hint: str) -> list[list[Expr]]:
        """``keep`` for the entries of a matrix, named hint_xx, hint_xy and so on."""
        pairs = zip("xyz", matrix, strict=True)
        return [[self.keep(e, f"{hint}_{a}{b}") for b, e in zip("xyzw", row, strict=False)] for a, row in pairs]

    def inline(self, expression: Expr) -> Any:
        """An expression with all names replaced by their definitions; for short expressions."""
        expression = se.sympify(expression)
        while any(s in self.definitions for s in expression.free_symbols):
            expression = substituted(expression, self.definitions)
        return expression

    def trig(self, angle: Expr, hint: str) -> tuple[Expr, Expr]:
        """Named cosine and sine of an angle, each registered as derivative of the other."""
        found = self._trig.get(angle)
        if found is None:
            c, s = se.cos(angle), se.sin(angle)
            if not isinstance(c, se.Number) and not isinstance(s, se.Number) and se.sympify(angle).free_symbols:
                c, s = self.name(c, f"c__{hint}"), self.name(s, f"s__{hint}")
                self._turn[c], self._turn[s] = (-s, angle), (c, angle)
            found = self._trig[angle] = (c, s)
        return found

    def symbols(self, expression: Expr) -> tuple[Any, ...]:
        """Symbols that occur in an expression."""
        found = self._free.get(expression)
        if found is None:
            found = self._free[expression] = tuple(expression.free_symbols)
        return found

    def reach(self, symbol: Any) -> int:
        """The base symbols on which a symbol depends, through all names, as a bit mask."""
        found = self._reach.get(symbol)
        if found is None:
            if symbol not in self.definitions:
                found = self.bit(symbol)
            else:
                found = self._gather(symbol)
            self._reach[symbol] = found
        return found

    def parts(self, expression: Expr) -> tuple[int, tuple[tuple[Any, int], ...]]:
        """The base symbols on which an expression depends, and each symbol in it with those on which it depends."""
        found = self._parts.get(expression)
        if found is None:
            pairs = tuple((symbol, self.reach(symbol)) for symbol in self.symbols(expression))
            total = 0
            for _, reached in pairs:
                total |= reached
            found = self._parts[expression] = (total, pairs)
        return found

    def bit(self, symbol: Any) -> int:
        """The bit of a base symbol."""
        return self._bits.setdefault(symbol, 1 << len(self._bits))

    def _gather(self, symbol: Any) -> int:
        stack = [symbol]
        while stack:
            top = stack[-1]
            parts = self.symbols(se.sympify(self.definitions[top]))
            missing = [s for s in parts if s in self.definitions and s not in self._reach]
            if missing:
                stack.extend(missing)
                continue
            total = 0
            for s in parts:
                total |= self._reach[s] if s in self._reach else self.bit(s)
            self._reach[top] = total
            stack.pop()
        return self._reach[symbol]

    def unique(self, hint: str) -> str:
        """A unique name based on the hint, which no name of a model can equal."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", hint)
        base = base if "__" in base else f"z__{base}"  # user names have no double underscore
        name, k = base, 2
        while name in self._taken:
            name, k = f"{base}_{k}", k + 1
        self._taken.add(name)
        return name


class Direction:
    """Directional derivatives of expressions on a tape, given the derivatives (seeds) of the base symbols.

    ``Direction(tape, {v1: 1})`` is the partial derivative by v1; ``{q: q_dot for ...}`` is the time derivative.
    """

    def __init__(self, tape: Tape, seeds: Mapping[Any, Expr], hint: str) -> None:
        self._tape = tape
        self._hint = hint
        self._known: dict[Any, Expr] = dict(seeds)
        self._mask = 0
        for symbol in seeds:
            self._mask |= tape.bit(symbol)

    def __call__(self, expression: Expr) -> Expr:
        """The derivative of an expression of base symbols and names."""
        if isinstance(expression, (int, float)):
            return 0
        if type(expression) is se.Symbol:
            return self._rate(expression)
        return self._chain(expression)

    def all(self, expressions: Iterable[Expr]) -> list[Expr]:
        """Derivatives of the entries of a vector."""
        return [self(e) for e in expressions]

    def _chain(self, expression: Expr) -> Expr:
        """Chain rule: sum of partial derivative times rate over the symbols that change along this direction."""
        mask, (total, parts) = self._mask, self._tape.parts(expression)
        if not total & mask:
            return 0
        terms = []
        for symbol, reached in parts:
            if reached & mask:
                rate = self._rate(symbol)
                if not is_zero(rate):
                    terms.append(expression.diff(symbol) * rate)
        if not terms:
            return 0
        return terms[0] if len(terms) == 1 else se.Add(*terms)

    def _rate(self, symbol: Any) -> Expr:
        """The derivative of a symbol, after those of all symbols in its definition, with an explicit stack."""
        known = self._known.get(symbol)
        if known is not None:
            return known
        tape, mask = self._tape, self._mask
        if not tape.reach(symbol) & mask:
            return 0
        stack = [symbol]
        while stack:
            top = stack[-1]
            if top in self._known:
                stack.pop()
                continue
            turn = tape._turn.get(top)
            source = se.sympify(turn[1] if turn is not None else tape.definitions[top])
            missing = [s for s, reached in tape.parts(source)[1] if reached & mask and s not in self._known]
            if missing:
                stack.extend(missing)
                continue
            rate = self._chain(source)
            if turn is not None:
                self._known[top] = 0 if is_zero(rate) else turn[0] * rate
            else:
                self._known[top] = tape.keep(rate, f"{top}_{self._hint}")
            stack.pop()
        return self._known[symbol]
