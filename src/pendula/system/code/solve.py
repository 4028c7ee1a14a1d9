"""Solves a symmetric linear system by operations of a straight-line program."""

from __future__ import annotations

from collections.abc import Sequence

from pendula.system.code.program import Program


def solve_symmetric(program: Program, M: Sequence[Sequence[int]], f: Sequence[int], tolerance: float) -> list[int]:
    """Operations that solve M a = f for a positive definite M, given by its upper triangle; NaN if it is not definite.

    An L^T D L factorization from the last row to the first: there is no fill-in between branches of a tree, and
    operations on parameters alone run once. A pivot below ``tolerance`` times its diagonal entry is not positive.
    """
    n = len(f)
    sub, mul = program.subtract, program.multiply
    rows: list[list[int]] = [[M[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    right, inverse = list(f), [program.zero] * n
    good = program.condition("true")
    for k in range(n - 1, -1, -1):
        pivot = rows[k][k]
        least = mul(program.constant(tolerance), M[k][k])
        good = program.condition("and", good, program.condition("lt", least, pivot))
        good = program.condition("and", good, program.condition("lt", pivot, program.constant(float("inf"))))
        inverse[k] = program.divide(program.one, pivot)
        for i in range(k):
            if rows[i][k] == program.zero:
                continue
            factor = mul(rows[i][k], inverse[k])
            for j in range(i + 1):
                rows[j][i] = sub(rows[j][i], mul(factor, rows[j][k]))
            right[i] = sub(right[i], mul(factor, right[k]))
    found: list[int] = []
    for k in range(n):
        total = right[k]
        for i in range(k):
            total = sub(total, mul(rows[i][k], found[i]))
        found.append(mul(total, inverse[k]))
    found[0] = program.select(good, found[0], program.constant(float("nan")))
    return found
