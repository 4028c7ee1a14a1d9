"""Linearizes equations of motion in symbols, with closed loops and quaternions, term by term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from pendula.equations import refusals
from pendula.equations.derive import derive
from pendula.equations.equations import PARTS, Equations, displacement_name
from pendula.equations.matrix import entries
from pendula.equations.printing.form import WORDS
from pendula.equations.printing.tidy import tidy
from pendula.equations.small_motion.model import SymbolicModel
from pendula.equations.small_motion.point import Reader, independent, numeric
from pendula.equations.small_motion.terms import Teller, ToldEquation
from pendula.equations.tape import is_zero
from pendula.equations.time_limit import OutOfTime, within
from pendula.errors import NotSupported, UsageError
from pendula.model.model import Model

MOST_FREEDOMS = 6
"""with more, symbolic determinants take minutes and are unreadable"""
BALANCED = 1e-7
"""Largest unbalanced force at a point, relative to the forces there; equilibria are found to about 1e-10."""

MOST_SIMPLIFIED = 60
"""Operations of a coefficient of roots without parameters that SymPy still simplifies, in less than a second."""
DIGITS = 60
"""Digits to which a number of roots is computed to see whether it is zero."""


def symbolic_model(model: Model, at: Mapping[str, Any], seconds: float) -> SymbolicModel:
    """The symbolic linear model at a point, found within a time; see ``pendula.linear.linearize_symbolic``."""
    eq = derive(model, "lagrange")  # whose equations are the shortest to read
    freedoms = len(eq.v) - eq.loop_rows
    if freedoms > MOST_FREEDOMS:
        raise NotSupported(refusals.SYMBOLIC_FREEDOMS, most=MOST_FREEDOMS, freedoms=freedoms)
    try:
        found = within(seconds, lambda: _Builder(eq).build(at))
    except OutOfTime:
        raise NotSupported(refusals.SYMBOLIC_TIME, model=model.name, seconds=seconds) from None
    return replace(found, seconds=seconds)


class _Builder:
    def __init__(self, eq: Equations) -> None:
        self.eq, self.reader = eq, Reader(eq)
        self._forms: dict[Any, Any] = {}
        self.definitions: dict[str, Any] = {}
        symbol = self.reader.symbols
        self.q, self.v, self.u = ([symbol[str(x)] for x in group] for group in (eq.q, eq.v, eq.u))
        names = [displacement_name(str(x)) for x in eq.v]
        self.names = names
        self.e = [sp.Symbol(f"d_{n}", real=True) for n in names]
        self.rate = [sp.Symbol(f"d_{x}", real=True) for x in eq.v]
        ends = [n + "''" if str(x).endswith("_dot") else f"{x}'" for n, x in zip(names, eq.v, strict=True)]
        self.a = [sp.Symbol(n, real=True) for n in ends]
        letter = "multiplier" if any(n.startswith("lam") for n in symbol) else "lam"
        self.lam = [sp.Symbol(f"{letter}{r + 1}", real=True) for r in range(eq.loop_rows)]

    def build(self, at: Mapping[str, Any]) -> SymbolicModel:
        """The linear model at a point."""
        eq, reader = self.eq, self.reader
        point = reader.point(at)
        if (eq.G or eq.quaternions) and any(point[v] != 0 for v in self.v):
            raise NotSupported(refusals.STEADY_LOOPS if eq.G else refusals.STEADY_QUATERNIONS)
        f = sp.Matrix([sum(map(self._form, row), sp.Integer(0)) for row in zip(*eq.parts.free.values(), strict=True)])
        _refuse_kinks(f, point)
        n, rows = len(self.v), eq.loop_rows
        G = sp.zeros(rows, n)
        for r, k, x in entries(eq.G):
            G[r, k] = self._form(x)
        self._check_closed(point)
        M = sp.Matrix(n, n, lambda i, j: self._form(eq.M[i][j]))
        G0, f0 = self._there(G, point), self._there(f, point)
        Z, kept = self._independent(G0)
        lam0 = self._multipliers(G0, f0)
        N0 = self._there(sp.Matrix([[reader.read(x) for x in row] for row in eq.N]), point)
        forces = f + G.T * sp.Matrix(lam0) if rows else f
        full = {
            "M": self._there(M, point),
            "C": self._there(-f.jacobian(self.v), point),
            "K": self._there(-forces.jacobian(self.q) * N0, point),
        }
        reduced = {name: self._short(Z.T * X * Z) if rows else X for name, X in full.items()}
        F = self._there(f.jacobian(self.u), point) if self.u else sp.zeros(n, 0)
        left = self._short(Z.T * f0) if rows else f0
        self._check(reduced, left)
        numbers = reader.constants.numbers
        return SymbolicModel(
            coordinates=tuple(self.names[k] for k in kept),
            inputs=tuple(map(str, eq.u)),
            **reduced,
            F=self._short(Z.T * F) if rows and self.u else F[: len(kept), :],
            left=left,
            assumed=tuple(name for name, s in reader.symbols.items() if s.is_positive),
            constants={str(s): value for s, value in numbers.items()},
            definitions=self.definitions,
            dependent=self._dependent(Z, kept),
            account=partial(self.told, point, N0, lam0),
        )

    # -- matrices at the point ----------------------------------------------------------------------

    def _there(self, X: sp.Matrix, point: Mapping[Any, Any]) -> sp.Matrix:
        return self._short(X.subs(point, simultaneous=True))

    def _short(self, X: sp.Matrix) -> sp.Matrix:
        return X.applyfunc(self._shorter)

    def _shorter(self, x: Any) -> Any:
        """A coefficient in short form: by the steps that printed equations take, or by SymPy's if there are roots."""
        if x.is_Number or x.is_Symbol:
            return x
        functions = {f.func for f in x.atoms(sp.Function)} - {sp.sin, sp.cos}
        if functions or any(not f.exp.is_Integer for f in x.atoms(sp.Pow)):
            return _zero_or(x) if self._is_long_number(x) else sp.factor_terms(sp.simplify(x))
        known = {s.name: s for s in x.free_symbols}
        form = tidy(x.subs({s: sp.Symbol(s.name) for s in known.values()}, simultaneous=True))
        return form.subs({s: known[s.name] for s in form.free_symbols}, simultaneous=True)

    def _is_long_number(self, x: Any) -> bool:
        """Whether a coefficient of roots and constants, without parameters, is too long for SymPy to shorten it.

        That would take minutes, and such sums and products come out as long as they were.
        """
        return not x.free_symbols & self.reader.numbers.keys() and sp.count_ops(x) > MOST_SIMPLIFIED

    def _independent(self, G0: sp.Matrix) -> tuple[sp.Matrix, list[int]]:
        """Z with v = Z (independent speeds), and which speeds are independent."""
        n = len(self.v)
        if not G0.rows:
            return sp.eye(n), list(range(n))
        self.rows, depend = independent(numeric(G0, self.reader.all_numbers()))
        kept = [k for k in range(n) if k not in depend]
        solved = self._solved(G0.extract(self.rows, depend), -G0.extract(self.rows, kept))
        Z = sp.zeros(n, len(kept))
        for j, k in enumerate(kept):
            Z[k, j] = 1
        for i, k in enumerate(depend):
            for j in range(len(kept)):
                Z[k, j] = self._ratio(solved[i, j], self.names[k], self.names[kept[j]])
        self.depend = list(depend)
        return Z, kept

    def _ratio(self, x: Any, of: str, to: str) -> Any:
        """The ratio of two speeds; a constant if it is a long number, so that coefficients stay short."""
        if not self._is_long_number(x):
            return x
        found = self.reader.constants.new(f"{of}_per_{to}", self._value(x))
        self.definitions[str(found)] = x
        return found

    def _value(self, x: Any) -> float:
        return float(x.subs(self.reader.all_numbers()).evalf(30))

    def _solved(self, A: sp.Matrix, B: sp.Matrix) -> sp.Matrix:
        """A^-1 B by the adjugate, whose entries stay short."""
        below = self._shorter(A.det(method="berkowitz"))
        return (A.adjugate(method="berkowitz") * B).applyfunc(lambda x: self._shorter(self._shorter(x) / below))

    def _multipliers(self, G0: sp.Matrix, f0: sp.Matrix) -> list[Any]:
        """Constraint forces at the point."""
        if not G0.rows:
            return []
        found = [sp.Integer(0)] * G0.rows
        solved = self._solved(G0.extract(self.rows, self.depend).T, -f0.extract(self.depend, [0]))
        for r, x in zip(self.rows, solved, strict=True):
            if x == 0:
                continue
            found[r] = self.reader.constants.new(str(self.lam[r]), self._value(x))
            self.definitions[str(found[r])] = x
        return found

    def _dependent(self, Z: sp.Matrix, kept: list[int]) -> dict[str, Any]:
        """Changes of the dependent coordinates by those of the independent ones."""
        others = [k for k in range(len(self.v)) if k not in kept]
        return {self.names[k]: sum(Z[k, j] * self.e[i] for j, i in enumerate(kept)) for k in others}

    # -- terms ------------------------------------------------------------------------------------------

    def told(self, point: Mapping[Any, Any], N0: sp.Matrix, lam0: list[Any]) -> tuple[ToldEquation, ...]:
        """Every equation of motion and constraint, term by term."""
        eq, epsilon = self.eq, sp.Symbol("epsilon")
        moved = dict(zip(self.q, self._moved(point, N0, epsilon), strict=True))
        for symbols, changes in ((self.v, self.rate), (self.a, self.a)):
            moved |= {s: epsilon * d for s, d in zip(symbols, changes, strict=True)}
        moved |= {s: epsilon * sp.Symbol(f"d_{s}", real=True) for s in (*self.u, *self.lam)}
        base = {**point, **dict(zip(self.lam, lam0, strict=True))}
        teller = Teller(base, moved, epsilon, self._shorter)
        found = []
        for i, name in enumerate(eq.v):
            parts = [("inertia", self._form(eq.M[i][j]) * a) for j, a in enumerate(self.a)]
            parts += [(WORDS[part], -self._form(eq.parts.free[part][i])) for part in PARTS]
            rows = [(r, x) for r, k, x in entries(eq.G) if k == i]
            parts += [("constraint forces", -self._form(x) * self.lam[r]) for r, x in rows]
            found.append(teller.equation(str(name), [(part, x) for part, x in parts if x != 0]))
        for r in range(eq.loop_rows):
            found.append(teller.equation(eq.constraint_names[r], [("constraint", self._form(eq.g[r]))]))
        return tuple(found)

    def _moved(self, point: Mapping[Any, Any], N0: sp.Matrix, epsilon: Any) -> list[Any]:
        """Changes of the coordinates: N e, and for quaternions what keeps their norm (up to order three)."""
        first = list(N0 * sp.Matrix(self.e))
        found = [epsilon * x for x in first]
        for quaternion in self.eq.quaternions:
            square = sp.Add(*(self.e[quaternion.speed + k] ** 2 for k in range(3)))
            for k in range(quaternion.first, quaternion.first + 4):
                found[k] = epsilon * first[k] * (1 - epsilon**2 * square / 24)
                found[k] -= epsilon**2 * square * point[self.q[k]] / 8
        return found

    def _form(self, e: Any) -> Any:
        """An expression as it is printed, in our symbols."""
        if is_zero(e):
            return sp.Integer(0)
        if e not in self._forms:
            self._forms[e] = self.reader.read(tidy(self.eq.inline(e), self.eq.v))
        return self._forms[e]

    # -- checks -----------------------------------------------------------------------------------------

    def _check_closed(self, point: Mapping[Any, Any]) -> None:
        """Raises UsageError if the point does not close the loops."""
        values = self.reader.all_numbers()
        for name, g in zip(self.eq.constraint_names, self.eq.g, strict=True):
            gap = self.reader.read(g).subs(point, simultaneous=True)
            size = abs(complex(gap.subs(values).evalf(30)))
            if size > BALANCED:
                raise UsageError(f"this point does not satisfy the constraint {name}: a gap of {size:.3g} remains")

    def _check(self, found: Mapping[str, sp.Matrix], left: sp.Matrix) -> None:
        """Raises UsageError if the point is not an equilibrium or coefficients depend on time."""
        t = self.reader.symbols[str(self.eq.t)]
        for name, X in found.items():
            if t in X.free_symbols:
                raise UsageError(f"the coefficients of small motion ({name}) depend on time; see floquet(...)")
        values = self.reader.all_numbers()
        exact = not self.reader.constants.numbers
        for k, x in enumerate(left):
            size = 0.0 if x == 0 else abs(complex(x.subs(values).evalf(30)))
            if (exact and x.is_number and x != 0) or size > (1e-9 if exact else BALANCED * self._force(values)):
                raise UsageError(
                    f'this point is not an equilibrium: the unbalanced force {x} remains on "{self.eq.v[k]}"'
                )

    def _force(self, values: Mapping[Any, float]) -> float:
        """The scale of unbalanced forces: the largest parameter or constraint force, at least 1."""
        return max([1.0, *(abs(x) for x in values.values())])


def _zero_or(x: Any) -> Any:
    """An exact number, or 0 if all its digits up to half of ``DIGITS`` are; other expressions as they are."""
    if x.free_symbols:
        return x
    if x.is_Mul:
        return sp.Integer(0) if any(_zero_or(factor) == 0 for factor in x.args) else x
    terms = [term.evalf(DIGITS, maxn=2 * DIGITS) for term in sp.Add.make_args(x)]
    return sp.Integer(0) if abs(sum(terms)) <= sum(map(abs, terms)) * sp.Float(10) ** (-DIGITS // 2) else x


def _refuse_kinks(f: sp.Matrix, values: Mapping[Any, Any]) -> None:
    """Raises NotSupported if forces have a kink or a jump at the point, where no linear model exists."""
    edges = [x.args[0] for x in f.atoms(sp.Abs, sp.sign)]
    edges += [a - b for x in f.atoms(sp.Max, sp.Min) for a, b in combinations(x.args, 2)]
    edges += [sp.sin(sp.pi * x.args[0]) for x in f.atoms(sp.floor, sp.ceiling)]
    edges += [x.lhs - x.rhs for x in f.atoms(Relational)]
    for edge in edges:
        if edge.free_symbols & set(values) and sp.simplify(edge.subs(values, simultaneous=True)) == 0:
            raise NotSupported(refusals.KINK_AT_POINT, edge=edge)
