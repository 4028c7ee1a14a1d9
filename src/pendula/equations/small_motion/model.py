"""Symbolic linear models: M, C, K, A, the characteristic polynomial, and stability conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from pendula.equations import refusals
from pendula.equations.small_motion.conditions import damping_sentence, stability_conditions, stiff_coordinates
from pendula.equations.small_motion.terms import ToldEquation
from pendula.equations.time_limit import OutOfTime, within
from pendula.errors import NotSupported
from pendula.words import counted, readable

SECONDS = 60.0
"""default time limit of a symbolic linear model; readable ones take a few seconds"""
SHARE = 1 / 6
"""part of the time limit for each result that is computed from the matrices"""


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
        constants: values at the point without a closed form, by their names in the matrices (``crank_e``, ``lam1_e``).
        definitions: expressions of the constraint forces and ratios of speeds among them.
        dependent: with closed loops, changes ``d_NAME`` of the dependent coordinates by those of the others.
        seconds: time limit [s] of ``equations``; a sixth of it for each of ``A``, ``polynomial``, ``conditions`` and
            ``damping``. All are computed on first access, and raise NotSupported if they are not found in time.
        account: function that computes ``equations``.

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
    constants: Mapping[str, float] = field(default_factory=dict)
    definitions: Mapping[str, Any] = field(default_factory=dict)
    dependent: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = SECONDS
    account: Callable[[], tuple[ToldEquation, ...]] = field(default=tuple, compare=False)

    @property
    def equations(self) -> tuple[ToldEquation, ...]:
        """Every equation of motion (and constraint) term by term: kept, linearized or dropped, and why.

        Long equations can take far longer than the matrices.
        """
        told: tuple[ToldEquation, ...] = _or_raise(self._equations)
        return told

    @property
    def A(self) -> sp.Matrix:
        """State matrix of (e, e')."""
        return _or_raise(self._A)

    @property
    def polynomial(self) -> sp.Poly:
        """The characteristic polynomial det(s^2 M + s C + K) in s."""
        return _or_raise(self._polynomial)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """Conditions for asymptotic stability; without damping, for all roots on the imaginary axis.

        With symmetric matrices and positive definite damping (or none) they are the minors of K, for any number of
        degrees of freedom; otherwise those of Routh and Hurwitz, for up to three (two without damping). Conditions
        that always hold are omitted; one that never holds is ``False``.

        Raises:
            NotSupported: there are more degrees of freedom, or the conditions are too long to be found in time.
        """
        conditions: tuple[Any, ...] = _or_raise(self._verdict)[0]
        return conditions

    @property
    def damping(self) -> str:
        """When small motion is under-, critically and overdamped; empty without damping, or with coupling."""
        sentence: str = _or_raise(self._damping)
        return sentence

    @property
    def stable_if(self) -> str:
        """The stability conditions as a sentence.

        Raises:
            NotSupported: there are too many degrees of freedom, or it was not found in time; see ``conditions``.
        """
        kind = "all roots on the imaginary axis" if self.C.is_zero_matrix else "asymptotically stable"
        found, drifting = _or_raise(self._verdict)
        drift = f", apart from drift in {counted(drifting, 'direction')} without stiffness" if drifting else ""
        if sp.false in found:
            return f"never {kind}, for any parameters"
        return (f"{kind} if {' and '.join(map(str, found))}" if found else f"always {kind}") + drift

    @property
    def left_out(self) -> tuple[str, ...]:
        """What a printed model lacks, and why, one sentence for each: results that were not found in time.

        ``equations`` is not among them, because it is computed only if you ask for it.
        """
        tried = (self._polynomial, self._verdict, self._damping)
        return tuple(str(x) for x in tried if isinstance(x, NotSupported))

    def latex(self) -> str:
        """M, C, K, F and the characteristic polynomial, one line of LaTeX for each."""
        named = [(name, getattr(self, name)) for name in "MCKF"]
        lines = [f"{name} = {sp.latex(X)}" for name, X in named if X.cols]
        found = self._polynomial
        if isinstance(found, NotSupported):
            return "\n".join([*lines, in_comments(str(found))])
        return "\n".join([*lines, rf"\Delta(s) = {sp.latex(found.as_expr())}"])

    def __str__(self) -> str:
        lines = [f"{name} = {getattr(self, name).tolist()}" for name in "MCK"]
        if not isinstance(self._polynomial, NotSupported):
            lines.append(f"characteristic polynomial: {self._polynomial.as_expr()}")
        if not isinstance(self._verdict, NotSupported):
            lines.append(self.stable_if)
        lines.append(f"assumed positive: {', '.join(self.assumed)}")
        return "\n".join([*lines, *self.left_out])

    # -- results, or why there is none: each is tried once ----------------------------------------------

    @cached_property
    def _equations(self) -> tuple[ToldEquation, ...] | NotSupported:
        return self._tried("account of every term", self.account, share=1.0)

    @cached_property
    def _A(self) -> sp.Matrix | NotSupported:
        def state_matrix() -> sp.Matrix:
            n = self.M.rows
            inverse = self.M.inv()
            rows = [[sp.zeros(n, n), sp.eye(n)], [-inverse * self.K, -inverse * self.C]]
            return sp.Matrix(sp.BlockMatrix(rows)).applyfunc(sp.simplify)

        return self._tried("state matrix", state_matrix)

    @cached_property
    def _polynomial(self) -> sp.Poly | NotSupported:
        def determinant() -> sp.Poly:
            s = sp.Symbol("s")
            found = (s**2 * self.M + s * self.C + self.K).det(method="berkowitz")
            return sp.Poly(sp.expand(sp.expand(found)), s)

        return self._tried("characteristic polynomial", determinant)

    @cached_property
    def _verdict(self) -> tuple[tuple[Any, ...], int] | NotSupported:
        """The conditions, and the number of directions that drift."""

        def verdict() -> tuple[tuple[Any, ...], int]:
            found = stability_conditions(self.M, self.C, self.K, lambda: self.polynomial)
            return found, self.M.rows - len(stiff_coordinates(self.C, self.K))

        return self._tried("condition for stability", verdict)

    @cached_property
    def _damping(self) -> str | NotSupported:
        return self._tried("border of damping", lambda: damping_sentence(self.M, self.C, self.K))

    def _tried(self, what: str, work: Callable[[], Any], *, share: float = SHARE) -> Any:
        seconds = share * self.seconds
        try:
            return within(seconds, work)
        except NotSupported as error:
            return error
        except OutOfTime:
            return NotSupported(refusals.LEFT_OUT, what=what, seconds=seconds)


def in_comments(text: str) -> str:
    """A text as comments of LaTeX."""
    return "\n".join(f"% {line.strip()}" for line in text.splitlines())


def _or_raise(found: Any) -> Any:
    """A result, unless it is the reason why there is none."""
    if isinstance(found, NotSupported):
        raise found
    return found
