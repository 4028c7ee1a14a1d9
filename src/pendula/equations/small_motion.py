"""Symbolic linear models: M, C, K, A, the characteristic polynomial, and stability conditions (Routh-Hurwitz)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import symengine as se
import sympy as sp
from sympy.core.relational import Relational

from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.equations.translate import translate
from pendula.errors import NotSupported, UsageError
from pendula.library.lookup import model_of
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.words import readable

MOST_FREEDOMS = 6
"""with more, symbolic determinants take minutes and are unreadable"""


@readable
@dataclass(frozen=True)
class SymbolicModel:
    """M e'' + C e' + K e = F u in symbols of the parameters, with SymPy matrices.

    Attributes:
        coordinates, inputs: names of the entries of e and u.
        M, C, K, F: matrices.
        left: unbalanced forces at the point; zero if it is an equilibrium for all parameters. Otherwise the point is an
            equilibrium only for parameters that make ``left`` zero.
        assumed: parameters that are assumed positive, because their values in the model are.

    Example:
        >>> import pendula
        >>> pendula.linear.linearize_symbolic(pendula.library.pendulum(kind="point")).K[0]
        g*l*m
    """

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    M: sp.Matrix
    C: sp.Matrix
    K: sp.Matrix
    F: sp.Matrix
    left: sp.Matrix
    assumed: tuple[str, ...]

    @cached_property
    def A(self) -> sp.Matrix:
        """State matrix of (e, e')."""
        n = self.M.rows
        inverse = self.M.inv()
        rows = [[sp.zeros(n, n), sp.eye(n)], [-inverse * self.K, -inverse * self.C]]
        return sp.Matrix(sp.BlockMatrix(rows)).applyfunc(sp.simplify)

    @cached_property
    def polynomial(self) -> sp.Poly:
        """The characteristic polynomial det(s^2 M + s C + K) in s."""
        s = sp.Symbol("s")
        found = (s**2 * self.M + s * self.C + self.K).det(method="berkowitz")
        return sp.Poly(sp.expand(sp.expand(found)), s)

    @cached_property
    def conditions(self) -> tuple[Any, ...]:
        """Conditions for asymptotic stability (Routh-Hurwitz); without damping, for all roots on the imaginary axis.

        For one and two degrees of freedom. Conditions that always hold are omitted; one that never holds is ``False``.

        Raises:
            NotSupported: there are more degrees of freedom.
        """
        n = self.M.rows
        if n > 2:
            raise NotSupported(f"symbolic conditions exist for one and two degrees of freedom, and this model has {n}")
        coefficients = self.polynomial.all_coeffs()
        if len(coefficients) < 2 * n + 1:
            raise UsageError("the mass matrix is singular at this point, so there are no conditions")
        lead = coefficients[0]
        if self.C.is_zero_matrix:
            must = [sp.together(x / lead) for x in coefficients[2::2]]
            apart = sp.together(must[0] ** 2 - 4 * must[1]) if n == 2 else sp.Integer(0)
            if sp.simplify(self.K - self.K.T) != sp.zeros(n, n) and sp.simplify(apart) != 0:
                must.append(apart)  # with a symmetric K all squares of frequencies are real
        else:
            a = [sp.together(x / lead) for x in coefficients[1:]]
            must = list(a)
            if n == 2:
                must.append(sp.together(a[0] * a[1] * a[2] - a[2] ** 2 - a[0] ** 2 * a[3]))
        found = [positive(x) for x in must]
        return tuple(dict.fromkeys(x for x in found if x is not sp.true))

    @property
    def stable_if(self) -> str:
        """The stability conditions as a sentence; for one and two degrees of freedom.

        Raises:
            NotSupported: there are more degrees of freedom.
        """
        kind = "all roots on the imaginary axis" if self.C.is_zero_matrix else "asymptotically stable"
        found = self.conditions
        if sp.false in found:
            return f"never {kind}, for any parameters"
        return f"{kind} if {' and '.join(map(str, found))}" if found else f"always {kind}"

    def latex(self) -> str:
        """M, C, K, F and the characteristic polynomial, one line of LaTeX for each."""
        named = [(name, getattr(self, name)) for name in "MCKF"]
        lines = [f"{name} = {sp.latex(X)}" for name, X in named if X.cols]
        return "\n".join([*lines, rf"\Delta(s) = {sp.latex(self.polynomial.as_expr())}"])

    def __str__(self) -> str:
        lines = [f"{name} = {getattr(self, name).tolist()}" for name in "MCK"]
        lines.append(f"characteristic polynomial: {self.polynomial.as_expr()}")
        if self.M.rows <= 2:
            lines.append(self.stable_if)
        lines.append(f"assumed positive: {', '.join(self.assumed)}")
        return "\n".join(lines)


def linearize_symbolic(model: Model | str, at: Mapping[str, Any] | None = None) -> SymbolicModel:
    """The symbolic linear model, for small mechanisms without closed loops.

    Args:
        model: a model, the name of a library mechanism, or a system.
        at: coordinates (and constant rates) by name: numbers, or expressions of parameters as text, for example
            ``{"theta": "acos(g/(r*Omega**2))"}``. Unnamed values are zero.

    Raises:
        NotSupported: there are closed loops or quaternions, forces with kinks, or too many degrees of freedom.
        UsageError: the point is not an equilibrium, or coefficients depend on time.

    Example:
        >>> import pendula
        >>> found = linearize_symbolic(pendula.library.pendulum(kind="point"))
        >>> found.K[0], found.conditions
        (g*l*m, ())
    """
    model = model_of(model, "linearize_symbolic")
    eq = derive(model)
    if eq.loop_rows or eq.quaternions:
        what = "closed loops" if eq.loop_rows else "quaternions"
        raise NotSupported(f"symbolic linear models do not support {what}.\n  Try: linearize(...) with numbers.")
    if len(eq.v) > MOST_FREEDOMS:
        raise NotSupported(
            f"symbolic linear models support up to {MOST_FREEDOMS} degrees of freedom, this one has {len(eq.v)}"
        )
    return _Builder(model, eq).build(at or {})


def _refuse_kinks(f: sp.Matrix, values: Mapping[Any, Any]) -> None:
    """Raises NotSupported if forces have a kink or a jump at the point, where no linear model exists."""
    edges = [x.args[0] for x in f.atoms(sp.Abs, sp.sign)]
    edges += [a - b for x in f.atoms(sp.Max, sp.Min) for a, b in combinations(x.args, 2)]
    edges += [sp.sin(sp.pi * x.args[0]) for x in f.atoms(sp.floor, sp.ceiling)]
    edges += [x.lhs - x.rhs for x in f.atoms(Relational)]
    for edge in edges:
        if edge.free_symbols & set(values) and sp.simplify(edge.subs(values, simultaneous=True)) == 0:
            raise NotSupported(
                f"the forces have a kink or a jump at this point, where {edge} is zero: no linear model exists "
                "there.\n  Try: a smooth expression, such as tanh(x/0.01) for sign(x), or simulate the motion."
            )


class _Builder:
    def __init__(self, model: Model, eq: Equations) -> None:
        self.model, self.eq = model, eq
        values = model.parameter_values
        self.symbols = {
            str(p): sp.Symbol(str(p), positive=True) if values[str(p)] > 0 else sp.Symbol(str(p), real=True)
            for p in eq.p
        }
        self.symbols |= {str(x): sp.Symbol(str(x), real=True) for x in (eq.t, *eq.q, *eq.v, *eq.u)}
        self.known = dict(self.symbols)
        for symbol, expression in eq.definitions:
            self.known[str(symbol)] = self.read(expression)

    def read(self, expression: Any) -> Any:
        """An expression of the equations with all intermediates substituted."""
        found = sp.nsimplify(sp.sympify(expression), rational=True)
        return found.subs(
            {s: self.known[str(s)] for s in found.free_symbols if str(s) in self.known}, simultaneous=True
        )

    def build(self, at: Mapping[str, Any]) -> SymbolicModel:
        eq, n = self.eq, len(self.eq.v)
        q, v, u = ([self.symbols[str(x)] for x in group] for group in (eq.q, eq.v, eq.u))
        f = sp.Matrix([self.read(x) for x in eq.f])
        M = sp.Matrix(n, n, lambda i, j: self.read(eq.M[i][j]))
        values = self.point(at, [*map(str, eq.q), *map(str, eq.v)])
        values |= {self.symbols[str(x)]: self.input_value(str(x)) for x in eq.u}
        _refuse_kinks(f, values)

        def there(X: sp.Matrix) -> sp.Matrix:
            return X.subs(values, simultaneous=True).applyfunc(lambda x: sp.factor_terms(sp.simplify(x)))

        found = SymbolicModel(
            coordinates=tuple(map(str, eq.q)),
            inputs=tuple(map(str, eq.u)),
            M=there(M),
            C=there(-f.jacobian(v)),
            K=there(-f.jacobian(q)),
            F=there(f.jacobian(u)) if u else sp.zeros(n, 0),
            left=there(f),
            assumed=tuple(name for name, s in self.symbols.items() if s.is_positive),
        )
        self.check(found)
        return found

    def point(self, at: Mapping[str, Any], names: list[str]) -> dict[Any, Any]:
        """Values of coordinates and speeds at the point."""
        unknown = sorted(set(at) - set(names))
        if unknown:
            raise UsageError(f'there is no coordinate or speed "{unknown[0]}"; known are {", ".join(names)}')
        return {self.symbols[name]: self.value(at.get(name, 0)) for name in names}

    def value(self, given: Any) -> Any:
        if isinstance(given, sp.Basic):
            return given.subs({s: self.symbols[str(s)] for s in given.free_symbols if str(s) in self.symbols})
        if isinstance(given, (int, float)):
            return sp.nsimplify(given, [sp.pi], rational=None)
        expression = parse(given)  # raises unless it is an expression of the model language
        unknown = sorted(set(expression.names) - {*self.model.parameters, "pi"})
        if unknown:
            raise UsageError(f'"{given}": there is no parameter "{unknown[0]}"')

        return self.read(translate(expression, {n: se.Symbol(n) for n in expression.names}))

    def input_value(self, name: str) -> Any:
        expression = parse(self.model.inputs[name])
        if "t" in expression.names:
            return sp.Integer(0)
        return self.value(self.model.inputs[name])

    def check(self, found: SymbolicModel) -> None:
        """Raises UsageError if the point is not an equilibrium or coefficients depend on time."""
        t = self.symbols[str(self.eq.t)]
        for name in ("M", "C", "K"):
            if t in getattr(found, name).free_symbols:
                raise UsageError(f"the coefficients of small motion ({name}) depend on time; see floquet(...)")
        values = {self.symbols[str(p)]: self.model.parameter_values[str(p)] for p in self.eq.p}
        for name, x in zip(self.eq.v, found.left, strict=True):
            if (x.is_number and x != 0) or (x != 0 and abs(float(x.subs(values).evalf(30))) > 1e-9):
                raise UsageError(f'this point is not an equilibrium: the unbalanced force {x} remains on "{name}"')


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
