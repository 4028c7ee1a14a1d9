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
        self._bits: dict[Any, int] = {}
        self._reach: dict[Any, int] = {}
        self._trig: dict[Expr, tuple[Expr, Expr]] = {}
        self._turn: dict[Any, tuple[Expr, Expr]] = {}  # symbol -> (derivative by the angle, the angle)

    def name(self, expression: Expr, hint: str) -> Expr:
        """A symbol for the expression; the same expression always gets the same symbol."""
        kind = type(expression)
        if kind is se.Symbol or isinstance(expression, (int, float, se.Number)):
            return expression
        known = self._names.get(expression)
        if known is None:
            known = se.Symbol(self.unique(hint))
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

    def symbols(self, expression: Expr) -> tuple[Any, ...]:
        """Symbols that occur in an expression."""
        found = self._free.get(expression)
        if found is None:
            found = self._free[expression] = tuple(expression.free_symbols)
        return found

    def reach(self, symbol: Any) -> int:
        """The base symbols a symbol depends on, through all names, as bits of a number."""
        found = self._reach.get(symbol)
        if found is None:
            if symbol not in self.definitions:
                found = self.bit(symbol)
            else:  # names are defined in order, so what they need is not deep once asked in order
                found = self._gather(symbol)
            self._reach[symbol] = found
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
        """A name like the hint that nothing else has, and that no name of a model can be."""
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
        self._mask = 0
        for symbol in seeds:
            self._mask |= tape.bit(symbol)

    def __call__(self, expression: Expr) -> Expr:
        """The derivative of an expression of base symbols and names."""
        if isinstance(expression, (int, float)):
            return 0
        if type(expression) is se.Symbol:
            return self._rate(expression)
        return self._chain(expression, self._tape.symbols(expression))

    def all(self, expressions: Iterable[Expr]) -> list[Expr]:
        """Derivatives of the entries of a vector."""
        return [self(e) for e in expressions]

    def _chain(self, expression: Expr, symbols: Iterable[Any]) -> Expr:
        """Sum of slope times rate over the symbols that change along this direction."""
        terms = []
        mask, reach = self._mask, self._tape.reach
        for symbol in symbols:
            if reach(symbol) & mask:
                rate = self._rate(symbol)
                if not is_zero(rate):
                    terms.append(expression.diff(symbol) * rate)
        if not terms:
            return 0
        return terms[0] if len(terms) == 1 else se.Add(*terms)

    def _rate(self, symbol: Any) -> Expr:
        """The derivative of a symbol; everything it is made of is found first, without recursion."""
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
            parts = tape.symbols(source)
            missing = [s for s in parts if s not in self._known and tape.reach(s) & mask]
            if missing:
                stack.extend(missing)
                continue
            rate = self._chain(source, parts)
            if turn is not None:
                self._known[top] = 0 if is_zero(rate) else turn[0] * rate
            else:
                self._known[top] = tape.keep(rate, f"{top}_{self._hint}")
            stack.pop()
        return self._known[symbol]
