"""Taylor series of a motion: the equations of a system as recurrences on coefficients.

Every operation of a straight-line program has a rule that computes coefficient k of its result from coefficients of
its operands up to k and its own below k (Jorba & Zou, *Experimental Mathematics* 14, 2005). This module brings the
program of q', v' and the power into a form for which all rules are known; ``taylor.code`` writes the machine code.
All functions of one argument have the same rule: with c = F(x) and the derivative g = F'(x), c' = g x', so

    c_k = x_k g_0 + (1/k) sum_{j=1}^{k-1} (j x_j) g_{k-j}

where g has a series by the same rules (the cosine for the sine, 1 + c^2 for the tangent).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pendula.equations.equations import Equations
from pendula.errors import NotSupported
from pendula.system import refusals
from pendula.system.code.lower import Lowering
from pendula.system.code.program import PARAMETER, STATE, Program
from pendula.system.taylor.trig import Expansion

MOST_SPEEDS = 12  # the solve of M v' = f is unrolled, and grows with the cube of the number of speeds

_STEPS = {"floor": "floor", "ceil": "ceiling"}


class Row(NamedTuple):
    """Coefficients that are stored for all orders: those of a value, or (``by_order``) each times its order."""

    value: int
    by_order: bool = False


class Sum(NamedTuple):
    """sum over j from 1 to k - 1 of ahead_j back_{k-j}; if both are the same row, only half of it is computed."""

    ahead: Row
    back: Row


class Slope(NamedTuple):
    """One term of the derivative of a function: c' = sign g u', with u the value ``of`` and g the value ``slope``."""

    of: int
    sign: float
    slope: int


@dataclass(frozen=True)
class Rates:
    """q', v' and the power as one straight-line program with inputs [t, q, v]."""

    program: Program
    values: tuple[int, ...]
    pivots: tuple[tuple[int, int], ...]
    """pivots of the mass matrix, which must be positive, each with the diagonal entry of its row"""


def derive_rates(equations: Equations, inputs: Sequence[tuple[Any, Any]], *, power: bool) -> Rates:
    """The program of all rates, with v' by an unrolled L D L^T factorization of the mass matrix.

    Args:
        inputs: every input as (symbol, expression of t and parameters).
        power: whether the power is the last rate.

    Raises:
        NotSupported: there are constraint rows, or too many speeds.
    """
    n = len(equations.v)
    if equations.loop_rows:
        refusal = refusals.TAYLOR_BODIES if equations.nodes else refusals.TAYLOR_LOOPS
        raise NotSupported(refusal, rows=equations.loop_rows)
    if n > MOST_SPEEDS:
        raise NotSupported(refusals.TAYLOR_SPEEDS, most=MOST_SPEEDS, speeds=n)
    found = []
    for rewrite in (True, False):
        low = Lowering([equations.t, *equations.q, *equations.v], equations.p, (*inputs, *equations.definitions))
        entries = _Entries.of(equations, low, rewrite=rewrite, power=power)
        found.append(entries.rates(low.program, power=power))
    return min(found, key=_cost)


def _cost(rates: Rates) -> float:
    """Number of products of series, which dominate the run time; a square costs half."""
    sums = {s for found in find_recurrences(rates).sums.values() for s in found}
    return sum(0.5 if s.ahead == s.back else 1.0 for s in sums)


@dataclass(frozen=True)
class _Entries:
    """Blocks of the equations as values of a program."""

    M: list[list[int]]
    f: list[int]
    qdot: list[int]
    power: int
    drives: list[tuple[int, int, list[int]]]
    """rate, force and row of the mass matrix of every prescribed motion"""

    @staticmethod
    def of(equations: Equations, low: Lowering, *, rewrite: bool, power: bool) -> _Entries:
        """The blocks as derived, or rewritten with fewer products of sines and cosines."""
        n, drives = len(equations.v), len(equations.drives) if power else 0
        flat = [low(equations.M[i][j]) for i in range(n) for j in range(i, n)]
        flat += [low(e) for e in (*equations.f, *equations.qdot, equations.power if power else 0)]
        for d in range(drives):
            row = (equations.drives[d].rate, equations.drive_f[d], *equations.drive_M[d])
            flat += [low(e) for e in row]
        left = iter(Expansion(low.program).rewritten(flat) if rewrite else flat)
        matrix = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i, n):
                matrix[i][j] = matrix[j][i] = next(left)
        f, qdot, work = [next(left) for _ in range(n)], [next(left) for _ in equations.q], next(left)
        rows = [(next(left), next(left), [next(left) for _ in range(n)]) for _ in range(drives)]
        return _Entries(matrix, f, qdot, work, rows)

    def rates(self, program: Program, *, power: bool) -> Rates:
        """All rates: v' from M v' = f; the power includes that of prescribed motions."""
        accelerations, pivots = solve_symmetric(program, self.M, self.f)
        values = self.qdot + accelerations
        total = self.power
        for rate, force, row in self.drives:
            drive_force = program.negate(force)
            for entry, a in zip(row, accelerations):
                drive_force = program.add(drive_force, program.multiply(entry, a))
            total = program.add(total, program.multiply(drive_force, rate))
        return Rates(program, tuple([*values, total] if power else values), tuple(pivots))


def solve_symmetric(
    program: Program, matrix: Sequence[Sequence[int]], right: Sequence[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """The solution of a symmetric system as values of a program, and its pivots with their diagonal entries.

    Rows with constant pivots are eliminated first, since dividing a series by a constant costs nothing.
    """
    n, level = len(right), program.level
    a = [list(row) for row in matrix]
    z = list(right)
    factor: dict[tuple[int, int], int] = {}
    left, order, pivots = list(range(n)), [], []

    def weight(i: int) -> tuple[bool, int, int]:
        coupled = sum(1 for k in left if k != i and a[i][k] != program.zero)
        return level[a[i][i]] == STATE, coupled, i

    while left:
        j = min(left, key=weight)
        left.remove(j)
        order.append(j)
        pivots.append((a[j][j], matrix[j][j]))
        fixed = level[a[j][j]] != STATE
        inverse = program.divide(program.one, a[j][j]) if fixed else program.zero
        coupled = [i for i in left if a[i][j] != program.zero]
        for i in coupled:
            factor[i, j] = program.multiply(inverse, a[i][j]) if fixed else program.divide(a[i][j], a[j][j])
            z[i] = program.subtract(z[i], program.multiply(factor[i, j], z[j]))
        for i in coupled:
            for k in (k for k in coupled if k >= i):
                if fixed:  # the product of two entries first: on the diagonal it is a square
                    change = program.multiply(inverse, program.multiply(a[i][j], a[k][j]))
                else:
                    change = program.multiply(factor[i, j], a[k][j])
                a[i][k] = a[k][i] = program.subtract(a[i][k], change)
    for place, j in reversed(list(enumerate(order))):
        z[j] = _divide(program, z[j], a[j][j])
        for i in order[place + 1 :]:
            if (i, j) in factor:
                z[j] = program.subtract(z[j], program.multiply(factor[i, j], z[i]))
    return z, pivots


def _divide(program: Program, a: int, b: int) -> int:
    if program.level[b] == STATE:
        return program.divide(a, b)
    return program.multiply(a, program.divide(program.one, b))


@dataclass
class Recurrences:
    """Input of the code generator: the values, their rules, and what is stored."""

    program: Program
    rates: tuple[int, ...]
    pivots: dict[int, int]
    order: list[int] = field(default_factory=list)
    """values that depend on the state, in order"""
    slopes: dict[int, list[Slope]] = field(default_factory=dict)
    sums: dict[int, list[Sum]] = field(default_factory=dict)
    rows: dict[Row, int] = field(default_factory=dict)
    spare: dict[tuple[str, int], int] = field(default_factory=dict)
    """what is stored at order 0 only, by kind: reciprocals of divisors and roots, conditions"""
    fixed: list[int] = field(default_factory=list)
    """values that depend on parameters alone, prepared once per parameter set"""

    @property
    def states(self) -> int:
        """Number of components; the row after them is the time."""
        return len(self.rates)


def find_recurrences(given: Rates) -> Recurrences:
    """The rules for every value that the rates need.

    Raises:
        NotSupported: an operation has no Taylor series; the message names it.
    """
    program = given.program
    found = Recurrences(program, given.values, {p: d for p, d in given.pivots if program.level[p] == STATE})
    roots = [*given.values, *(x for pair in given.pivots for x in pair)]
    known: set[int] = set()
    while new := [k for k in program.needed(roots) if k not in known and program.level[k] == STATE]:
        known.update(new)
        for k in new:
            _refuse(program, k)
            if program.ops[k].kind == "call" and program.ops[k].name != "sqrt":
                found.slopes[k] = _slopes(program, k)
                roots += [x for s in found.slopes[k] for x in (s.of, s.slope)]
    found.order = _in_order(found, sorted(known))
    for k in found.order:
        found.sums[k] = _sums(found, k)
    _place(found)
    return found


def _in_order(found: Recurrences, known: Sequence[int]) -> list[int]:
    """Values sorted so that each follows all those that its rule needs at the same order."""
    ordered: dict[int, None] = {}
    stack = list(reversed(known))
    while stack:
        k = stack[-1]
        needs = (*found.program.parts(k), *(s.of for s in found.slopes.get(k, ())))
        missing = [x for x in needs if found.program.level[x] == STATE and x not in ordered]
        if missing and k not in ordered:
            stack += missing
        else:
            ordered.setdefault(stack.pop())
    return list(ordered)


def _refuse(program: Program, k: int) -> None:
    """Raises if an operation has no Taylor series."""
    op = program.ops[k]
    if op.kind == "call" and op.name in _STEPS:
        raise NotSupported(refusals.TAYLOR_STEP, function=_STEPS[op.name])
    if op.kind != "cond" or op.name not in ("lt", "le"):
        return
    time, sides = program.inputs[0], program.parts(k)
    if any(program.level[x] == STATE and x != time for x in sides) or sides == (time, time):
        raise NotSupported(refusals.TAYLOR_CONDITION)


def _slopes(program: Program, k: int) -> list[Slope]:
    name, args = program.ops[k].name, program.parts(k)
    if name == "pow":  # c = b^e: c' = c u' with u = e log b
        base, exponent = args
        return [Slope(program.multiply(exponent, program.call("log", base)), 1.0, k)]
    found = []
    for x in dict.fromkeys(args):
        if program.level[x] == STATE:
            slope, sign = program.tangent([k], {x: program.one}, [k])[0], 1.0
            while program.ops[slope].kind == "neg":
                slope, sign = program.ops[slope].parts[0], -sign
            found.append(Slope(x, sign, slope))
    return found


def _sums(found: Recurrences, k: int) -> list[Sum]:
    """The sums that the rule of a value needs."""
    program = found.program
    kind, parts = program.ops[k].kind, program.parts(k)
    moving = [program.level[x] == STATE for x in parts]
    if kind == "mul" and all(moving):
        return [Sum(Row(parts[0]), Row(parts[1]))]
    if kind == "div" and moving[1]:
        return [Sum(Row(k), Row(parts[1]))]
    if kind == "call" and k not in found.slopes:  # a root
        return [Sum(Row(k), Row(k))]
    return [Sum(Row(s.of, True), Row(s.slope)) for s in found.slopes.get(k, ()) if program.level[s.slope] == STATE]


def _place(found: Recurrences) -> None:
    """Assigns an index to every stored row, spare row and prepared value."""
    program, n = found.program, found.states
    inputs = program.inputs
    found.rows = {Row(inputs[0]): n, **{Row(x): i for i, x in enumerate(inputs[1:])}}
    at = n + 1
    for row in dict.fromkeys(r for k in found.order for s in found.sums[k] for r in s):
        if row not in found.rows:
            found.rows[row] = at
            at += 1
    found.spare = {("sound", 0): 0}
    fixed: set[int] = {k for k in found.rates if program.level[k] != STATE}
    for k in found.order:
        kind, parts = program.ops[k].kind, program.parts(k)
        fixed.update(parts)
        if kind == "div":
            if program.level[parts[1]] == STATE:
                found.spare.setdefault(("inverse", parts[1]), len(found.spare))
            else:
                fixed.add(program.divide(program.one, parts[1]))
        elif kind == "call" and k not in found.slopes:
            found.spare.setdefault(("half inverse", k), len(found.spare))
        elif kind == "select":
            found.spare.setdefault(("condition", parts[0]), len(found.spare))
        fixed.update(x for s in found.slopes.get(k, ()) for x in (s.of, s.slope))
    fixed.update(found.pivots.values())
    found.fixed = sorted(k for k in fixed if program.level[k] == PARAMETER and program.ops[k].kind != "par")
