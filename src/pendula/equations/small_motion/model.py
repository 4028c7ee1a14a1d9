"""Symbolic linear models: M, C, K, A, the characteristic polynomial, and stability conditions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from pendula.equations.small_motion.conditions import damping_sentence, stability_conditions, stiff_coordinates
from pendula.equations.small_motion.terms import ToldEquation
from pendula.errors import NotSupported
from pendula.words import counted, readable


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
        equations: every equation of motion (and constraint) term by term: kept, linearized or dropped, and why.
        constants: values at the point without a closed form, by their names in the matrices (``crank_e``, ``lam1_e``).
        definitions: expressions of the constraint forces among them.
        dependent: with closed loops, changes ``d_NAME`` of the dependent coordinates by those of the others.

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
    equations: tuple[ToldEquation, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    definitions: Mapping[str, Any] = field(default_factory=dict)
    dependent: Mapping[str, Any] = field(default_factory=dict)

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
        """Conditions for asymptotic stability; without damping, for all roots on the imaginary axis.

        With symmetric matrices and positive definite damping (or none) they are the minors of K, for any number of
        degrees of freedom; otherwise those of Routh and Hurwitz, for up to three (two without damping). Conditions
        that always hold are omitted; one that never holds is ``False``.

        Raises:
            NotSupported: there are more degrees of freedom.
        """
        return stability_conditions(self.M, self.C, self.K, lambda: self.polynomial)

    @property
    def damping(self) -> str:
        """When small motion is under-, critically and overdamped; empty without damping, or with coupling."""
        return damping_sentence(self.M, self.C, self.K)

    @property
    def stable_if(self) -> str:
        """The stability conditions as a sentence.

        Raises:
            NotSupported: there are too many degrees of freedom; see ``conditions``.
        """
        kind = "all roots on the imaginary axis" if self.C.is_zero_matrix else "asymptotically stable"
        found = self.conditions
        drifting = self.M.rows - len(stiff_coordinates(self.C, self.K))
        drift = f", apart from drift in {counted(drifting, 'direction')} without stiffness" if drifting else ""
        if sp.false in found:
            return f"never {kind}, for any parameters"
        return (f"{kind} if {' and '.join(map(str, found))}" if found else f"always {kind}") + drift

    def latex(self) -> str:
        """M, C, K, F and the characteristic polynomial, one line of LaTeX for each."""
        named = [(name, getattr(self, name)) for name in "MCKF"]
        lines = [f"{name} = {sp.latex(X)}" for name, X in named if X.cols]
        return "\n".join([*lines, rf"\Delta(s) = {sp.latex(self.polynomial.as_expr())}"])

    def __str__(self) -> str:
        lines = [f"{name} = {getattr(self, name).tolist()}" for name in "MCK"]
        lines.append(f"characteristic polynomial: {self.polynomial.as_expr()}")
        with suppress(NotSupported):
            lines.append(self.stable_if)
        lines.append(f"assumed positive: {', '.join(self.assumed)}")
        return "\n".join(lines)
