"""Linearization term by term: which terms stay, what others become, and why the rest is dropped.

As in example 2 of Kamman, unit 8. Every quantity is its value at the point plus a small change; a term of order k is a
product of k small changes. The linear equations keep order one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

HIGHEST = 4
"""Largest order that is examined."""
MOST_TERMS = 80
"""Terms of an equation up to which products with sums are multiplied out."""

KEPT, LINEARIZED, DROPPED, CONSTANT = "kept", "linearized", "dropped", "constant"


@dataclass(frozen=True)
class Term:
    """One term of an equation of motion, and its fate in the linear equation.

    Attributes:
        term: as in the nonlinear equation.
        part: where it comes from, such as "gravity".
        kind: "kept" (it is linear), "linearized", "dropped", or "constant" (the same for all small motions).
        constant: its value at the point; the constants of an equation cancel there.
        linear: its linear part, in changes ``d_NAME``.
        order: lowest order of what was dropped; None if nothing was, or nothing up to order 4.
        rest: what was dropped, to its lowest order.
        reason: in words.

    Example:
        >>> import pendula
        >>> term = pendula.linear.linearize_symbolic("pendulum").equations[0].terms[1]
        >>> term.term, term.kind, term.linear
        (g*l*m*sin(theta)/2, 'linearized', d_theta*g*l*m/2)
    """

    term: Any
    part: str
    kind: str
    constant: Any
    linear: Any
    order: int | None
    rest: Any
    reason: str


@dataclass(frozen=True)
class ToldEquation:
    """An equation (sum of terms = 0), its terms, and the linear equation that remains.

    Attributes:
        name: the speed to which the equation belongs, or the constraint.
        terms: all of them, in order.
        linear: sum of the linear parts; the linear equation is ``linear = 0``.

    Example:
        >>> import pendula
        >>> equation = pendula.linear.linearize_symbolic("pendulum").equations[0]
        >>> equation.name, len(equation.terms)
        ('theta_dot', 2)
    """

    name: str
    terms: tuple[Term, ...]
    linear: Any


class Teller:
    """Classifies terms about one point.

    Args:
        base: symbol -> its value at the point.
        moved: symbol -> its small change, as an expression of ``epsilon`` (order one and, for quaternions, higher).
        epsilon: the symbol that counts orders.
        simplify: shortens coefficients.
    """

    def __init__(self, base: Mapping[Any, Any], moved: Mapping[Any, Any], epsilon: Any, simplify: Any) -> None:
        self.base, self.moved, self.epsilon, self.simplify = base, moved, epsilon, simplify
        self._shift = {s: base.get(s, sp.Integer(0)) + change for s, change in moved.items()}

    def equation(self, name: str, parts: Sequence[tuple[str, Any]]) -> ToldEquation:
        """All terms of an equation, given by parts."""
        told = [self.term(x, part) for part, e in parts for x in summands(e, set(self.moved))]
        linear = sp.expand(sp.Add(*(t.linear for t in told)))
        changes = {s for change in self.moved.values() for s in change.free_symbols} - {self.epsilon}
        present = sorted(changes & linear.free_symbols, key=str)
        return ToldEquation(name, tuple(told), sp.Add(*(self.simplify(linear.coeff(s)) * s for s in present)))

    def term(self, e: Any, part: str) -> Term:
        """One term."""
        orders = self._orders(e)
        constant, linear = self.simplify(orders[0]), self.simplify(orders[1])
        higher = next((k for k in range(2, HIGHEST + 1) if orders[k] != 0), None)
        rest = sp.Integer(0) if higher is None else self.simplify(orders[higher])
        if linear == 0 and constant == 0:
            return Term(e, part, DROPPED, constant, linear, higher, rest, self._why_dropped(e, higher))
        if linear == 0:
            return Term(e, part, CONSTANT, constant, linear, higher, rest, "its value does not change to first order")
        if higher is None:
            why = "linear" if constant == 0 else "linear, with a constant that others balance at the equilibrium"
            return Term(e, part, KEPT, constant, linear, None, rest, why)
        return Term(e, part, LINEARIZED, constant, linear, higher, rest, self._why_linearized(e, higher))

    def _orders(self, e: Any) -> list[Any]:
        """Coefficients of the powers of epsilon, up to the highest."""
        moving = [s for s in e.free_symbols if s in self._shift]
        shifted = e.subs({s: self._shift[s] for s in moving}, simultaneous=True)
        found = []
        for k in range(HIGHEST + 1):
            found.append(sp.expand(shifted.subs(self.epsilon, 0)) / sp.factorial(k))
            shifted = sp.diff(shifted, self.epsilon)
            if shifted == 0:
                break
        found += [sp.Integer(0)] * (HIGHEST + 1 - len(found))
        return [sp.expand(self.simplify(x)) if x.has(sp.Function, sp.Pow) and _is_long(x) else x for x in found]

    def _factors(self, e: Any) -> list[tuple[Any, int]]:
        """The factors of a term that change, each with its order at the point."""
        found = []
        for factor in sp.Mul.make_args(e):
            if factor.free_symbols & set(self._shift):
                orders = self._orders(factor)
                found.append((factor, next((k for k, x in enumerate(orders) if x != 0), HIGHEST + 1)))
        return found

    def _why_dropped(self, e: Any, order: int | None) -> str:
        if order is None:
            return f"it vanishes up to order {HIGHEST}"
        small = [(f, k) for f, k in self._factors(e) if k]
        listed = " and ".join(f"{f} (order {k})" for f, k in small)
        if len(small) > 1:
            return f"of order {order}: product of {listed}"
        return f"of order {order}: {listed}" if small else f"of order {order}"

    def _why_linearized(self, e: Any, order: int) -> str:
        finite = [f for f, k in self._factors(e) if k == 0]
        small = [f for f, k in self._factors(e) if k]
        if small and finite:
            at = ", ".join(f"{f} = {self.simplify(self._orders(f)[0])}" for f in finite)
            return f"{at} at the point; changes of it times {' and '.join(map(str, small))} are of order {order}"
        return f"first-order part of its Taylor series; the next is of order {order}"


def _is_long(x: Any) -> bool:
    """Whether an expanded coefficient may be zero without showing it: a sum with functions or roots of constants."""
    roots = any(not f.exp.is_Integer for f in x.atoms(sp.Pow))
    return x.has(sp.Function) or (x.is_Add and roots)


def summands(e: Any, moving: set[Any]) -> list[Any]:
    """The terms of a sum, with products of sums of moving quantities multiplied out as far as they stay few."""
    found = list(sp.Add.make_args(e))
    for _ in range(3):
        longer: list[Any] = []
        for term in found:
            sums = [f for f in sp.Mul.make_args(term) if f.is_Add and f.free_symbols & moving]
            if not sums:
                longer.append(term)
                continue
            rest = sp.Mul(*(f for f in sp.Mul.make_args(term) if f is not sums[0]))
            longer += [rest * x for x in sums[0].args]
        if len(longer) > MOST_TERMS or len(longer) == len(found):
            break
        found = longer
    return [x for x in found if x != 0]
