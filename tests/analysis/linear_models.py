"""Linear models made in a few lines from the balance of forces, for tests of what follows from them."""

from dataclasses import replace

import numpy as np

import pendula
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.analysis.linear.model import Basis, LinearModel, Matrices


def linear_model(system, at=None, *, parameters=None, inputs=None):
    """M, C, K about an equilibrium, in an orthonormal basis of what constraints allow."""
    point = equilibrium_at(system, at or {}, parameters=parameters, inputs=inputs)
    balance = Balance.of(system, inputs, parameters)
    Z = balance.free(point.q)
    M = system.mass_matrix(point.q, parameters=parameters)
    C = balance.changes("v", point.q, point.v, point.multipliers)
    K = balance.changes("s", point.q, point.v, point.multipliers)
    F = -balance.changes("u", point.q, point.v, point.multipliers)
    layout = system.layout
    plain = Z.shape[0] == Z.shape[1]
    names = layout.coordinates if plain and len(layout.coordinates) == len(layout.speeds) else layout.speeds
    if not plain:
        names = tuple(f"e{k + 1}" for k in range(Z.shape[1]))
    units = {n: layout.units.get(n, "") for n in names}
    basis = Basis(names, tuple(f"{n}_dot" for n in names), layout.inputs, units)
    N = balance.directions(point.q)
    return LinearModel(point, basis, Matrices(Z.T @ M @ Z, Z.T @ C @ Z, Z.T @ K @ Z, Z.T @ F, Z, N))


def from_matrices(M, C, K, F=None):
    """A linear model with given matrices, about the rest of a chain with as many links (names and units only)."""
    n = len(M)
    system = pendula.compile_system(pendula.library.chain(links=n))
    base = linear_model(system)
    F = np.zeros((n, 0)) if F is None else np.asarray(F, dtype=float)
    basis = Basis(base.coordinates, base.speeds, tuple(f"u{k + 1}" for k in range(F.shape[1])), base.units)
    M, C, K = (np.asarray(x, float) for x in (M, C, K))
    return LinearModel(replace(base.at, system=None), basis, Matrices(M, C, K, F, np.eye(n), np.eye(n)))
