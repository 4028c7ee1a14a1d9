"""Numbers that several tests need: states, entries of equations, slopes, conditions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pendula.results import System
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.loops.sampling import random_states

Array = NDArray[np.float64]


def states(system: System, count: int, seed: int = 1, *, spread: float = 1.0) -> tuple[Array, Array, Array]:
    """Random consistent states: times, coordinates, speeds."""
    return random_states(system, count, seed, spread=spread)


class Compiled:
    """Machine code for some expressions, called by its address with nothing of ours in between.

    Args:
        symbols: what varies from call to call.
        parameters: what is prepared once.
        entries: the expressions.
        definitions: names that the expressions use.
    """

    def __init__(
        self, symbols: Sequence[Any], parameters: Sequence[Any], entries: Sequence[Any], definitions: Any = ()
    ):
        low = Lowering(symbols, parameters, definitions)
        self.native = compile_program(low.program, [low(e) for e in entries], quick=True)
        self.outputs = len(entries)

    def __call__(self, x: Sequence[float] | Array, parameters: Sequence[float] | Array = ()) -> Array:
        context = np.zeros(self.native.parameters + self.native.prepared + 1)
        context[: self.native.parameters] = parameters
        prepared = np.zeros(self.native.prepared + 1)
        given = np.array([*parameters, 0.0])
        _FUNCTION(self.native.prepare)(prepared.ctypes.data, given.ctypes.data, 0)
        context[self.native.parameters :] = prepared
        out, inp = np.zeros(self.outputs + 1), np.array([*x, 0.0], dtype=float)
        _FUNCTION(self.native.evaluate)(out.ctypes.data, inp.ctypes.data, context.ctypes.data)
        return out[:-1]


_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def evaluate(system: System, entries: Sequence[Any], q: Array, v: Array, t: Array) -> Array:
    """Values of any expressions of the equations, one row per state."""
    eq = system.equations
    code = Compiled([eq.t, *eq.q, *eq.v, *eq.u], eq.p, entries, eq.definitions)
    rows = [[time, *x, *y, *system.inputs.at(time, system.parameters)] for time, x, y in zip(t, q, v, strict=True)]
    return np.array([code(row, system.parameters) for row in rows])


def drive_forces(system: System, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
    """Forces that the prescribed motions need, and the rates of those motions, one row per state."""
    eq = system.equations
    n, d, m = len(eq.v), len(eq.drives), eq.loop_rows
    if d == 0:
        return np.zeros((len(q), 0)), np.zeros((len(q), 0))
    entries = [x for row in eq.drive_M for x in row] + [*eq.drive_f] + [x for row in eq.drive_G for x in row]
    values = evaluate(system, [*entries, *(drive.rate for drive in eq.drives)], q, v, t)
    M = values[:, : d * n].reshape(-1, d, n)
    f = values[:, d * n : d * n + d]
    G = values[:, d * n + d : d * n + d + m * d].reshape(len(q), m, d)
    a, lam = system.accelerations(q, v, t), system.multipliers(q, v, t)
    forces = np.einsum("kdn,kn->kd", M, a) - f - np.einsum("kmd,km->kd", G, lam)
    return forces, values[:, -d:]


_STENCIL = np.array([-1 / 60, 3 / 20, -3 / 4, 0.0, 3 / 4, -3 / 20, 1 / 60])

"""Weights of the central difference of order 6 at -3h ... 3h."""


def slope(function: Callable[[float], Array], h: float = 2e-3) -> Array:
    """The derivative of a function of one number at zero, by the central difference of order 6."""
    return sum(w * np.asarray(function(k * h)) for k, w in zip(range(-3, 4), _STENCIL, strict=True) if w) / h


def along_motion(system: System, q: Array, v: Array, t: Array) -> Callable[[float], tuple[Array, Array, Array]]:
    """The states a little later, to first order: q + s q', v + s v', t + s."""
    rates, a = system.rates(q, v, t), system.accelerations(q, v, t)
    return lambda s: (q + s * rates, v + s * a, t + s)


WORST_CONDITION = 1e5

"""States whose equations are conditioned worse are left out of comparisons: rounding is amplified by that much."""


def regular(system: System, t: Array, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Those states at which the equations M v' - G^T lam = f, G v' = c are well conditioned after scaling."""
    M, G = system.mass_matrix(q, t), system.constraint_jacobian(q, t)
    keep = [_condition(a, b) < WORST_CONDITION for a, b in zip(M, G, strict=True)]
    return t[keep], q[keep], v[keep]


def _condition(M: Array, G: Array) -> float:
    scale = np.sqrt(np.where(np.diag(M) > 1e-12, np.diag(M), 1.0))
    rows = np.linalg.norm(G / scale, axis=1)[:, None]
    if not np.all(rows > 1e-9):
        return np.inf
    slopes = G / scale / rows
    kkt = np.block([[M / np.outer(scale, scale), slopes.T], [slopes, np.zeros((len(G), len(G)))]])
    return float(np.linalg.cond(kkt))
