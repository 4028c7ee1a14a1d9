"""The matrix pencil of the full equations with multipliers: E z' = A z with z = (ds, dv, lam), for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.frame import displacement_name
from pendula.analysis.linear.linearize import Point, body_turning, held_inputs, linearize, point_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.terms import terms_at
from pendula.errors import SingularPose
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.system.system import System
from pendula.words import counted, readable, some


@readable
@dataclass(frozen=True)
class Pencil:
    """E z' = A z; E is singular if there are constraints or if coordinates are singular.

    Attributes:
        E, A: matrices, of size 2 speeds + constraint rows.
        names: of the entries of z: displacements, speeds, multipliers.
        at: the equilibrium.
        model: the same in independent coordinates, which separates true roots from artefacts, or None.
        system: the system.
        redundant: number of redundant constraint rows. Their multipliers are undetermined, which would make every
            number a root (a singular pencil); rows are therefore combined into independent ones.

    Example:
        >>> import pendula
        >>> pendula.linear.pencil("pendulum", {"theta": 0}).names
        ('theta', 'theta_dot')
    """

    E: Array
    A: Array
    names: tuple[str, ...]
    at: Equilibrium
    model: LinearModel | None
    system: System
    redundant: int = 0

    def roots(self) -> tuple[Array, Array]:
        """Numerators and denominators (alpha, beta) of all roots, by the QZ algorithm."""
        from scipy.linalg import eig  # slow to load

        found = eig(self.A, self.E, right=False, homogeneous_eigvals=True)
        return np.asarray(found[0]), np.asarray(found[1])

    def __str__(self) -> str:
        redundant = f", {self.redundant} redundant constraint rows omitted" if self.redundant else ""
        return f"E x' = A x in {counted(len(self.names), 'unknown')}: {some(self.names)}{redundant}"


def pencil(system: AnySystem, at: Point = None, *, inputs: Any = None, parameters: Parameters = None) -> Pencil:
    """The full linear equations with multipliers, before reduction to independent coordinates.

    Each constraint row gives three infinite roots (a constraint on positions has index 3), which QZ may return as large
    finite numbers. Redundant rows and singular coordinates give roots 0/0. ``spectrum`` of the result labels them all.

    Args:
        system: a system, a model, or the name of a library mechanism.
        at, inputs, parameters: as in :func:`pendula.linearize`.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum(), "maximal")
        >>> found = pendula.linear.pencil(system, {"theta": 0})
        >>> len(found.names), system.loop_rows
        (8, 2)
    """
    system = system_of(system, "pencil", inputs=held_inputs(at, inputs))
    point = point_of(system, at, inputs, parameters)
    try:
        model: LinearModel | None = linearize(system, point)
    except SingularPose:
        model = None
    terms = terms_at(system, point.q, point.v, point.inputs, point.multipliers, point.parameters, spin=point.spin)
    G, redundant = _independent(terms.G)
    n, m = len(terms.M), len(G)
    E, A = np.zeros((2 * n + m, 2 * n + m)), np.zeros((2 * n + m, 2 * n + m))
    E[:n, :n], E[n : 2 * n, n : 2 * n] = np.eye(n), terms.M
    A[:n, :n], A[:n, n : 2 * n] = body_turning(system, point.v), np.eye(n)
    A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n] = -terms.K, -terms.C
    A[n : 2 * n, 2 * n :], A[2 * n :, :n] = G.T, G
    speeds = system.layout.speeds
    names = (*map(displacement_name, speeds), *speeds, *_row_names(system, m, redundant))
    return Pencil(E, A, names, point, model, system, redundant)


def _independent(G: Array) -> tuple[Array, int]:
    """Independent combinations of the rows, and the number of redundant rows."""
    if not len(G):
        return G, 0
    left, sizes, _ = np.linalg.svd(G)
    rank = int(np.sum(sizes > 1e-10 * sizes[0]))
    return (G, 0) if rank == len(G) else (left[:, :rank].T @ G, len(G) - rank)


def _row_names(system: System, m: int, redundant: int) -> tuple[str, ...]:
    if redundant:
        return tuple(f"multiplier of combination {k + 1} of constraint rows" for k in range(m))
    return tuple(f"multiplier of {name}" for name in system.equations.constraint_names[:m]) if m else ()
