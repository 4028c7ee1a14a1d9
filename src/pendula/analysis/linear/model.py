"""A linear model about an equilibrium, with the names and units of everything in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.words import readable


@readable
@dataclass(frozen=True)
class LinearModel:
    """M dv' + C dv + K ds = F du near an equilibrium, with ds' = dv and, for coordinates, dq = N ds.

    Constrained mechanisms are given in independent coordinates e: ds = Z e, where the columns of Z span what the
    constraints allow. Without constraints Z is the identity, and e are changes of the coordinates themselves.

    Attributes:
        at: the equilibrium.
        coordinates, speeds, inputs: names of the entries of e, of e' and of u.
        M, C, K, F: mass, damping and gyroscopic, stiffness matrix, and what inputs do (paper 001, eqs 13 and 40).
        Z: independent directions, shape (speeds of the system, freedoms).
        N: dq = N ds, shape (coordinates of the system, speeds of the system).
        method: how derivatives were found, ``exact`` or ``differences``.
        units: of every name.
        residual: largest force left unbalanced at the point, as a share of a typical force.
        error: largest difference of any entry of M^-1 [K C F] from the exact one, relative to the largest; 0 if exact.
        rows: number of independent constraint rows, each of which is three infinite eigenvalues of the full equations.
        chart: empty, or what the coordinates of e are where the system's own are singular.
        undetermined: number of speeds that the system's own coordinates leave undetermined at the point.
        system: whose model it is.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> model = pendula.linearize(system, {"theta": 0})
        >>> model.coordinates, model.K.round(3).tolist()  # a rod: m g l/2
        (('theta',), [[4.905]])
    """

    at: Equilibrium
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    M: Array
    C: Array
    K: Array
    F: Array
    Z: Array
    N: Array
    method: str
    units: dict[str, str]
    residual: float = 0.0
    error: float = 0.0
    rows: int = 0
    chart: str = ""
    undetermined: int = 0
    system: System | None = field(default=None, repr=False, compare=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Matrices of a model that was made the quick way: cut out of its terms when first asked for."""
            content = self.__dict__
            if "_quick" in content and name in content["_quick"].places:
                content[name] = content["_quick"].cut(content, name)
            return object.__getattribute__(self, name)  # there now, or the usual error

    @property
    def damping(self) -> Array:
        """The symmetric part of C, which takes energy out (or puts it in)."""
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
        """-M^-1 K, of paper 001, eq. 25."""
        return -np.linalg.solve(self.M, self.K)

    @cached_property
    def A2(self) -> Array:
        """-M^-1 C, of paper 001, eq. 25."""
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
        """The same as a ``StateSpace`` of python-control: states are e and e', outputs are e.

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
