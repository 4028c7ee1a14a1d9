"""A linear model about an equilibrium, with names and units."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.quick.cut import CutMatrices
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.words import readable


@dataclass(frozen=True)
class Matrices:
    """The matrices of a linear model; see :class:`LinearModel`."""

    M: Array
    C: Array
    K: Array
    F: Array
    Z: Array
    N: Array
    method: str = "exact"
    error: float = 0.0


@dataclass(frozen=True)
class Basis:
    """Names and units of the entries of e, e' and u; see :class:`LinearModel`."""

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    units: dict[str, str]
    rows: int = 0
    chart: str = ""
    undetermined: int = 0


@readable
@dataclass(frozen=True)
class LinearModel:
    """M dv' + C dv + K ds = F du near an equilibrium, with ds' = dv and, for coordinates, dq = N ds.

    Constrained mechanisms use independent coordinates e: ds = Z e, where the columns of Z span the null space of the
    constraint Jacobian. Without constraints Z is the identity, and e are changes of the coordinates themselves.

    Attributes:
        at: the equilibrium.
        basis: names and units of the entries of e, e' and u.
        matrices: holds M, C, K, F, Z and N.
        residual: largest unbalanced force at the point, as a fraction of a typical force.

    ``matrices`` has M, C, K, F (mass, damping and gyroscopic, stiffness and input matrix; paper 001, eqs 13 and 40), Z
    (independent directions, shape (speeds of the system, freedoms)), N (dq = N ds, shape (coordinates of the system,
    speeds of the system)), ``method`` (of the derivatives, ``exact`` or ``differences``) and ``error`` (largest
    difference of any entry of M^-1 [K C F] from the exact one, relative to the largest).

    ``basis`` has coordinates, speeds, inputs, units, rows (number of independent constraint rows, each of which gives
    three infinite eigenvalues of the full equations), chart (empty, or a description of the coordinates e if the
    system's own are singular) and undetermined (number of speeds that the system's own coordinates leave undetermined
    at the point).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> model = pendula.linearize(system, {"theta": 0})
        >>> model.coordinates, model.K.round(3).tolist()  # a rod: m g l/2
        (('theta',), [[4.905]])
    """

    at: Equilibrium
    basis: Basis
    matrices: Matrices | CutMatrices
    residual: float = 0.0

    def with_matrices(self, **changes: Any) -> LinearModel:
        """The same model with some fields of its matrices changed, by name."""
        names = [f.name for f in fields(Matrices)]
        return replace(self, matrices=Matrices(**{name: getattr(self, name) for name in names} | changes))

    @property
    def system(self) -> System | None:
        """The system; None if only the matrices are known."""
        return self.at.system

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the entries of e."""
        return self.basis.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the entries of e'."""
        return self.basis.speeds

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the entries of u."""
        return self.basis.inputs

    @property
    def units(self) -> dict[str, str]:
        """Unit of every name."""
        return self.basis.units

    @property
    def rows(self) -> int:
        """Number of independent constraint rows."""
        return self.basis.rows

    @property
    def chart(self) -> str:
        """Empty, or a description of the coordinates e if the system's own are singular."""
        return self.basis.chart

    @property
    def undetermined(self) -> int:
        """Number of speeds that the system's own coordinates leave undetermined at the point."""
        return self.basis.undetermined

    @property
    def method(self) -> str:
        """Method of the derivatives, ``exact`` or ``differences``."""
        return self.matrices.method

    @property
    def error(self) -> float:
        """Largest difference of any entry of M^-1 [K C F] from the exact one, relative to the largest; 0 if exact."""
        return self.matrices.error

    @property
    def M(self) -> Array:
        """Mass matrix."""
        return self.matrices.M

    @property
    def C(self) -> Array:
        """Damping and gyroscopic matrix."""
        return self.matrices.C

    @property
    def K(self) -> Array:
        """Stiffness matrix."""
        return self.matrices.K

    @property
    def F(self) -> Array:
        """Input matrix: generalized force per unit input."""
        return self.matrices.F

    @property
    def Z(self) -> Array:
        """Independent directions: ds = Z e."""
        return self.matrices.Z

    @property
    def N(self) -> Array:
        """Kinematic matrix: dq = N ds."""
        return self.matrices.N

    @property
    def damping(self) -> Array:
        """The symmetric part of C, which dissipates (or adds) energy."""
        return (self.C + self.C.T) / 2

    @property
    def gyroscopic(self) -> Array:
        """The skew part of C, which does no work."""
        return (self.C - self.C.T) / 2

    @property
    def conservative(self) -> Array:
        """The symmetric part of K, which has a potential."""
        return (self.K + self.K.T) / 2

    @property
    def circulatory(self) -> Array:
        """The skew part of K, whose forces have no potential."""
        return (self.K - self.K.T) / 2

    @cached_property
    def A1(self) -> Array:
        """-M^-1 K; paper 001, eq. 25."""
        return -np.linalg.solve(self.M, self.K)

    @cached_property
    def A2(self) -> Array:
        """-M^-1 C; paper 001, eq. 25."""
        return -np.linalg.solve(self.M, self.C)

    @cached_property
    def A(self) -> Array:
        """State matrix of (e, e')."""
        n = len(self.M)
        return np.block([[np.zeros((n, n)), np.eye(n)], [self.A1, self.A2]])

    @cached_property
    def B(self) -> Array:
        """Input matrix of (e, e')."""
        return np.vstack([np.zeros_like(self.F), np.linalg.solve(self.M, self.F)])

    def to_control(self) -> Any:
        """The model as a ``StateSpace`` of python-control: states are e and e', outputs are e.

        Raises:
            UsageError: the package ``control`` is not installed.
        """
        from pendula.analysis.linear.output import as_control

        return as_control(self)

    def latex(self, digits: int = 6) -> str:
        """The equations M e'' + C e' + K e = F u with their numbers, as LaTeX."""
        from pendula.analysis.linear.output import as_latex

        return as_latex(self, digits)

    def __str__(self) -> str:
        from pendula.analysis.linear.output import as_text

        return as_text(self)
