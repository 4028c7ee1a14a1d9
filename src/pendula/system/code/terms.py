"""The arrays that the programs of the dynamics and of the gaps write: their entries, and where each block starts.

Compiled kernels read these arrays, and so does the JavaScript of live pages (``live/core.js``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pendula.equations.equations import Equations


class Terms(NamedTuple):
    """Where the blocks after M start in the array of the dynamics, and its size.

    Rows of prescribed motions follow the power: their rates, the forces and the rows of M and G that give their drive
    forces.
    """

    f: int
    rates: int
    G: int
    c: int
    power: int
    drive_rates: int
    drive_f: int
    drive_M: int
    drive_G: int
    size: int


def find_terms(nq: int, nv: int, rows: int, drives: int) -> Terms:
    """The layout for numbers of coordinates, speeds, constraint rows and prescribed motions."""
    f = nv * nv
    rates = f + nv
    G = rates + nq
    c = G + rows * nv
    power = c + rows
    drive_rates = power + 1
    drive_f = drive_rates + drives
    drive_M = drive_f + drives
    drive_G = drive_M + drives * nv
    return Terms(f, rates, G, c, power, drive_rates, drive_f, drive_M, drive_G, drive_G + rows * drives)


class Gaps(NamedTuple):
    """Where the blocks after g start in the array of the gaps, its scratch zeros, and its size."""

    G: int
    b: int
    M: int
    zeros: int
    size: int


def find_gaps(nv: int, rows: int) -> Gaps:
    """The layout for numbers of speeds and constraint rows."""
    G = rows
    b = G + rows * nv
    M = b + rows
    zeros = M + nv * nv
    return Gaps(G, b, M, zeros, zeros + nv)


def dynamics_entries(eq: Equations) -> list[Any]:
    """Expressions of all terms; None for the lower triangle of M without constraint rows, which no solver reads."""
    n = len(eq.v)
    M = [eq.M[i][j] if eq.loop_rows or j >= i else None for i in range(n) for j in range(n)]
    drives = [*(d.rate for d in eq.drives), *eq.drive_f, *_flat(eq.drive_M), *_flat(eq.drive_G)]
    return [*M, *eq.f, *eq.qdot, *_flat(eq.G), *eq.c, eq.power, *drives]


def gap_entries(eq: Equations) -> list[Any]:
    """Expressions of g, G, b and M."""
    return [*eq.g[: eq.loop_rows], *_flat(eq.G), *eq.b, *_flat(eq.M)]


def _flat(matrix: Any) -> list[Any]:
    return [x for row in matrix for x in row]
