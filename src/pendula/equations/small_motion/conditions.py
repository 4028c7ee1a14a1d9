"""Conditions for stability in symbols: definite matrices, Routh-Hurwitz, and borders between kinds of damping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from pendula.equations import refusals
from pendula.errors import NotSupported, UsageError

MOST_WRITTEN = 400
"""Operations of a condition that is still readable."""


def stability_conditions(
    M: sp.Matrix, C: sp.Matrix, K: sp.Matrix, polynomial: Callable[[], sp.Poly]
) -> tuple[Any, ...]:
    """Conditions for asymptotic stability; without damping, for all roots on the imaginary axis.

    With symmetric C and K, and C positive definite, the equilibrium is asymptotically stable exactly if K is positive
    definite (Kelvin, Tait and Chetaev). Without C, a K that is positive definite apart from drift puts all roots on the
    imaginary axis. Sylvester's minors decide this for any number of freedoms. If the sign of C depends on parameters
    and there are more than two freedoms, the conditions require positive definite C and K, which suffices. Otherwise
    Routh and Hurwitz decide, up to the number of freedoms that stays readable.

    Conditions that always hold are omitted; one that never holds is ``False``.
    """
    n = M.rows
    if sp.expand(M.det(method="berkowitz")) == 0:
        raise UsageError("the mass matrix is singular at this point, so there are no conditions")
    damped = not C.is_zero_matrix
    stiff = stiff_coordinates(C, K)
    if symmetric(K) and (not damped or (symmetric(C) and definite(C.extract(stiff, stiff)))):
        return _listed(minors(K.extract(stiff, stiff)))
    if n > 2 and symmetric(K) and symmetric(C):  # sufficient, and short
        both = _listed([*minors(C.extract(stiff, stiff)), *minors(K.extract(stiff, stiff))])
        if sp.false not in both:
            return both
    coefficients = polynomial().all_coeffs()
    lead = coefficients[0]
    if damped:
        return _listed(hurwitz([sp.together(x / lead) for x in coefficients]))
    if n > 2:
        raise NotSupported(refusals.UNDAMPED_CONDITIONS, freedoms=n)
    must = [sp.together(x / lead) for x in coefficients[2::2]]
    if n == 2:  # squares of frequencies are real
        apart = sp.together(must[0] ** 2 - 4 * must[1])
        must += [apart] if sp.simplify(apart) != 0 else []
    return _listed(must)


def stiff_coordinates(C: sp.Matrix, K: sp.Matrix) -> list[int]:
    """Coordinates without those that drift: a direction with neither stiffness nor damping takes one away."""
    if not symmetric(K) or not symmetric(C):
        return list(range(K.rows))
    if sp.simplify(K.det(method="berkowitz")) != 0:
        return list(range(K.rows))
    kept = list(K.rref(simplify=True)[1])
    drift = [C * x for x in K.nullspace(simplify=True)]
    still = all(sp.simplify(x) == sp.zeros(*x.shape) for x in drift)
    return kept if still else list(range(K.rows))


def symmetric(X: sp.Matrix) -> bool:
    """Whether a matrix is symmetric."""
    return bool(sp.simplify(X - X.T) == sp.zeros(*X.shape))


def minors(X: sp.Matrix) -> list[Any]:
    """Leading principal minors, separately for blocks that are not coupled (Sylvester's criterion)."""
    found = []
    for block in blocks(X):
        sub = X.extract(block, block)
        found += [sp.factor(sub[:k, :k].det(method="berkowitz")) for k in range(1, len(block) + 1)]
    return found


def blocks(X: sp.Matrix) -> list[list[int]]:
    """Sets of rows and columns that are coupled."""
    left, found = set(range(X.rows)), []
    while left:
        block, stack = set(), [min(left)]
        while stack:
            k = stack.pop()
            if k not in block:
                block.add(k)
                stack += [j for j in left if X[k, j] != 0 or X[j, k] != 0]
        left -= block
        found.append(sorted(block))
    return found


def definite(X: sp.Matrix) -> bool:
    """Whether a symmetric matrix is positive definite for all parameters that are assumed positive."""
    return all(positive(x) is sp.true for x in minors(X))


def hurwitz(a: list[Any]) -> list[Any]:
    """Expressions that must be positive: the coefficients (a[0] = 1) and every second Hurwitz determinant.

    Lienard and Chipart: with positive coefficients the determinants of odd order (or of even order) suffice.
    """
    degree = len(a) - 1
    if degree > 6:
        raise NotSupported(refusals.DAMPED_CONDITIONS, freedoms=degree // 2)

    def entry(i: int, j: int) -> Any:
        k = 2 * (j + 1) - (i + 1)
        return a[k] if 0 <= k <= degree else sp.Integer(0)

    found = list(a[1:])
    for order in range(degree - 1, 1, -2):
        determinant = sp.together(sp.Matrix(order, order, entry).det(method="berkowitz"))
        if sp.count_ops(determinant) > MOST_WRITTEN:
            determinant = sp.factor(determinant)
        found.append(determinant)
    return found


def _listed(must: list[Any]) -> tuple[Any, ...]:
    found = [positive(x) for x in must]
    return tuple(dict.fromkeys(x for x in found if x is not sp.true))


def damping_sentence(M: sp.Matrix, C: sp.Matrix, K: sp.Matrix) -> str:
    """When small motion is underdamped, critically damped and overdamped.

    By c^2 - 4 m k of every coordinate that is not coupled to others. Empty without damping, or with coupling.
    """
    if C.is_zero_matrix:
        return ""
    parts = []
    for block in blocks(M.applyfunc(sp.Abs) + C.applyfunc(sp.Abs) + K.applyfunc(sp.Abs)):
        if len(block) > 1:
            return ""
        k = block[0]
        border = positive(-(C[k, k] ** 2) + 4 * M[k, k] * K[k, k])
        if border is sp.true or border is sp.false:
            parts.append("always underdamped" if border is sp.true else "never underdamped")
            continue
        equal = sp.Eq(border.lhs, border.rhs, evaluate=False)
        parts.append(
            f"where it is stable: underdamped if {border.lhs} > {border.rhs}, "
            f"critically damped if {equal.lhs} = {equal.rhs}, overdamped if {border.lhs} < {border.rhs}"
        )
    return "; ".join(parts)


def positive(x: Any) -> Any:
    """The condition x > 0, divided by positive factors, with negative terms moved to the right."""
    numerator, denominator = sp.fraction(sp.together(x))
    sign, parts = 1, []
    for factor, power in [*sp.factor_list(numerator)[1], *sp.factor_list(denominator)[1]]:
        if factor.is_positive or power % 2 == 0:
            continue
        if factor.is_negative:
            sign = -sign
        else:
            parts.append(factor)
    for lead in (sp.factor_list(numerator)[0], sp.factor_list(denominator)[0]):
        if lead.is_negative:
            sign = -sign
        if lead == 0:
            return sp.false
    if not parts:
        return sp.true if sign > 0 else sp.false
    left = sp.expand(sign * sp.Mul(*parts))
    terms = sp.Add.make_args(left)
    if all(term.is_positive for term in terms):
        return sp.true
    minus = [term for term in terms if term.could_extract_minus_sign()]
    plus = [term for term in terms if not term.could_extract_minus_sign()]
    return sp.Gt(sp.Add(*plus), -sp.Add(*minus), evaluate=False)
