"""All terms of a linear model from one compiled program: M, unbalanced forces and their derivatives at many states.

The program is compiled once per system. If the equations are not symbolic (recursion over the bodies), the same terms
come from the system's own functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pendula.analysis.equilibria.balance import ball_blocks
from pendula.equations.matrix import entries
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.programs import Compiled
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.system.undirected import no_derivatives

LARGE = 40
"""number of speeds above which optimized compilation does not pay"""


class Terms(NamedTuple):
    """Terms of M v' = f + G^T lam and its derivatives at one state (or, with leading dimensions, at many).

    ``left`` is f + G^T lam; K and C are its negative derivatives by s (dq = N ds) and v, F is its derivative by u.
    """

    M: Array
    left: Array
    G: Array
    N: Array
    K: Array
    C: Array
    F: Array


PARTS = Terms._fields
"""names of the parts of a row of outputs, in order"""


@dataclass
class Cut:
    """Positions of the parts in a row of outputs, and the last prepared parameters."""

    native: Native
    places: tuple[tuple[tuple[int, ...], int, int], ...]
    key: bytes | None = None
    compiled: Any = None

    def parts(self, out: Array, batch: tuple[int, ...] = ()) -> Terms:
        """Rows of outputs split into terms."""
        if not batch:
            row = out[0]
            return Terms(*(row[a:b].reshape(shape) for shape, a, b in self.places))
        return Terms(*(out[:, a:b].reshape(batch + shape) for shape, a, b in self.places))


_KNOWN: WeakKeyDictionary[System, Cut] = WeakKeyDictionary()


def terms_at(
    system: System,
    q: Array,
    v: Array,
    u: Array,
    lam: Array,
    parameters: Array,
    *,
    t: Array | float = 0.0,
    spin: Array | None = None,
) -> Terms:
    """The terms at one state, for given inputs, multipliers and parameters (arrays in the order of the layout).

    With ``spin`` they refer to axes that do not take part in this spin of bodies; see ``equilibria/turning.py``.
    """
    if spin is not None:
        return _by_functions(system, q, v, u, lam, parameters, t, spin)
    if not system.symbolic_terms:
        return _by_functions(system, q, v, u, lam, parameters, t)
    cut = compiled_terms(system)
    key = parameters.tobytes()
    if cut.key != key:
        cut.compiled, cut.key = bind_terms(system, parameters), key
    row = np.concatenate(((t,), q, v, u, lam))
    out = cut.compiled.rows(row[None])
    if not isfinite(out.sum()) and not np.isfinite(out).all():
        raise no_derivatives(system, q, float(t), parameters)
    return cut.parts(out)


def terms_of_many(system: System, q: Array, v: Array, u: Array, lam: Array, parameters: Array) -> Terms:
    """The terms at many states, each argument with one row per state (or one row for all)."""
    count = max(len(x) for x in (q, v, u, lam, parameters))
    q, v, u, lam = (np.broadcast_to(x, (count, x.shape[1])) for x in (q, v, u, lam))
    if len(parameters) == 1 and system.symbolic_terms:
        cut = compiled_terms(system)
        rows = np.ascontiguousarray(np.concatenate([np.zeros((count, 1)), q, v, u, lam], axis=1))
        return cut.parts(bind_terms(system, parameters[0]).rows(rows), (count,))
    which = np.broadcast_to(parameters, (count, parameters.shape[1]))
    if system.symbolic_terms:
        return _with_parameters(system, np.concatenate([np.zeros((count, 1)), q, v, u, lam], axis=1), which)
    found = [terms_at(system, a, b, c, d, p) for a, b, c, d, p in zip(q, v, u, lam, which, strict=True)]
    return Terms(*(np.stack(x) for x in zip(*found, strict=True)))


def _with_parameters(system: System, rows: Array, parameters: Array) -> Terms:
    """Terms for one row of parameters per state: the same program with parameters as further inputs."""
    native = system.programs.native("linear terms by parameters", lambda: _build(system, parameters_vary=True))
    out = Compiled(native, np.zeros(1)).rows(np.ascontiguousarray(np.concatenate([rows, parameters], axis=1)))
    return compiled_terms(system).parts(out, (len(rows),))


def bind_terms(system: System, parameters: Array) -> Compiled:
    """The program with parameters prepared."""
    return system.programs.bind("linear terms", parameters, lambda: _build(system))


def compiled_terms(system: System) -> Cut:
    """The program of a system's terms; cached."""
    found = _KNOWN.get(system)
    if found is None:
        n, m = len(system.layout.speeds), system.loop_rows
        nq, nu = len(system.layout.coordinates), len(system.layout.inputs)
        shapes = ((n, n), (n,), (m, n), (nq, n), (n, n), (n, n), (n, nu))
        ends = [int(x) for x in np.cumsum([int(np.prod(shape)) for shape in shapes])]
        places = tuple(zip(shapes, [0, *ends[:-1]], ends, strict=True))
        native = system.programs.native("linear terms", lambda: _build(system))
        found = _KNOWN[system] = Cut(native, places)
    return found


def _build(system: System, *, parameters_vary: bool = False) -> Native:
    """The program: inputs t, q, v, u, lam (and p); outputs in the order of :class:`Terms`."""
    eq = system.equations
    lam = list(eq.multiplier_symbols)
    low = system.programs.lowering()
    if parameters_vary:
        low = type(low)([eq.t, *eq.q, *eq.v, *eq.u, *lam, *eq.p], [], eq.definitions)
    inputs = low.inputs() if parameters_vary else low.inputs(lam)
    program, n = low.program, len(eq.v)
    zero = program.constant(0.0)
    mass, slopes = [zero] * (n * n), [zero] * (eq.loop_rows * n)
    for i, j, x in entries(eq.M):
        mass[i * n + j] = low(x)
    for r, j, x in entries(eq.G):
        slopes[r * n + j] = low(x)
    left = [low(x) for x in eq.f]
    for r, force in enumerate(lam):
        for j in range(n):
            left[j] = program.add(left[j], program.multiply(slopes[r * n + j], low(force)))
    rates = [low(x) for x in eq.qdot]
    order = program.needed(rates)
    N = [program.tangent(rates, {low(s): program.one}, order) for s in eq.v]
    order = program.needed(left)
    seeds = [{low(x): d for x, d in zip(eq.q, column, strict=True) if d != program.zero} for column in N]
    by_s = [program.tangent(left, seed, order) for seed in seeds]
    by_v = [program.tangent(left, {low(s): program.one}, order) for s in eq.v]
    by_u = [program.tangent(left, {low(s): program.one}, order) for s in eq.u]
    values = [*mass, *left, *slopes, *(column[i] for i in range(len(eq.q)) for column in N)]
    values += [program.negate(column[i]) for columns in (by_s, by_v) for i in range(n) for column in columns]
    values += [column[i] for i in range(n) for column in by_u]
    return compile_program(program, values, inputs=inputs, quick=n > LARGE)


def _by_functions(
    system: System,
    q: Array,
    v: Array,
    u: Array,
    lam: Array,
    parameters: Array,
    t: Array | float,
    spin: Array | None = None,
) -> Terms:
    """The same terms from the functions of a system."""
    n = len(system.layout.speeds)
    rest: dict[str, Any] = {"inputs": u, "parameters": parameters}
    turn = np.zeros((n, n)) if spin is None else ball_blocks(system, spin)
    by_q, by_v, by_u = (system.residual_jacobian(by, q, v, -turn @ v, lam, t, **rest)[0] for by in "qvu")
    G = system.constraint_jacobian(q, t, parameters=parameters) if system.loop_rows else np.zeros((0, n))
    still = system.rates(q, np.zeros(n), t, parameters=parameters)
    N = (system.rates(np.broadcast_to(q, (n, len(q))), np.eye(n), np.full(n, t), parameters=parameters) - still).T
    M = system.mass_matrix(q, t, parameters=parameters)
    left = system.forces(q, v, t, **rest) + M @ turn @ v + G.T @ lam
    return Terms(M, left, G, N, by_q @ N, by_v - M @ turn, -by_u)
