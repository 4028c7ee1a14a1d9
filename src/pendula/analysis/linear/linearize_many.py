"""Linear models and their eigenvalues for many parameter values or states at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium
from pendula.analysis.linear.kinks import refuse_kinks
from pendula.analysis.linear.linearize import Point, chosen_speeds, held_inputs, linearize, point_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import undamped_of_many
from pendula.analysis.linear.terms import Terms, terms_of_many
from pendula.arguments import read_numbers
from pendula.errors import SingularPose, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.forces.kinks import may_have_kinks
from pendula.numerics.quick.independent import directions_of_many, multipliers_of_many, room_for
from pendula.numerics.quick.small_quadratic import shares_of_many
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import parameter_vector, typical_steps
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable, some


@readable
@dataclass(frozen=True)
class LinearModels(Tabular):
    """Linear models of one mechanism, one for each case; the first dimension of the matrices is the case.

    Attributes:
        coordinates, speeds, inputs: names, the same in all cases.
        M, C, K, F: as in :class:`LinearModel`.
        residuals: unbalanced force in each case, as a fraction of the largest change over a radian or a length.
        balanced: which cases are equilibria; the matrices of the others are meaningless.

    Example:
        >>> import pendula
        >>> found = pendula.linear.linearize_many("pendulum", {"theta": 0}, parameters={"l": [1.0, 2.0]})
        >>> len(found), found.K.shape
        (2, (2, 1, 1))
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    M: Array
    C: Array
    K: Array
    F: Array
    residuals: Array

    @property
    def balanced(self) -> Array:
        """Whether each case is an equilibrium."""
        return self.residuals <= BALANCED

    def __len__(self) -> int:
        return len(self.M)

    @cached_property
    def A(self) -> Array:
        """State matrices, shape (cases, 2 n, 2 n)."""
        n = self.M.shape[-1]
        found = np.zeros((len(self.M), 2 * n, 2 * n))
        found[:, :n, n:] = np.eye(n)
        found[:, n:, :n], found[:, n:, n:] = -np.linalg.solve(self.M, self.K), -np.linalg.solve(self.M, self.C)
        return found

    @cached_property
    def values(self) -> Array:
        """Eigenvalues, shape (cases, 2 n), by increasing modulus; NaN for cases that are not equilibria.

        For cases without damping they come from the symmetric eigenproblem, so they lie exactly on the axes.
        """
        found, solved = undamped_of_many(self.M, self.C, self.K)
        rest = np.flatnonzero(~solved)
        if rest.size:
            found[rest] = self._by_size(rest)
        found[~self.balanced] = np.nan
        return found

    def _by_size(self, cases: Array) -> Array:
        """Eigenvalues of the state matrices, for cases that are damped or unsymmetric."""
        try:
            found = np.linalg.eigvals(self.A[cases]).astype(complex)
        except np.linalg.LinAlgError:
            raise SingularPose(
                "the mass matrix of some case is singular, so its eigenvalues are not determined"
            ) from None
        order = np.argsort(np.abs(found), axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1)

    def __str__(self) -> str:
        balanced = int(np.count_nonzero(self.balanced))
        return f"{counted(len(self), 'linear model')} in {some(self.coordinates)}; {balanced} about equilibria"


def linearize_many(
    system: AnySystem,
    at: Point | Array = None,
    *,
    inputs: Any = None,
    parameters: Mapping[str, Any] | Array | None = None,
) -> LinearModels:
    """Linear models for many values of parameters, or at many states, in one call.

    Args:
        system: a system, a model, or the name of a library mechanism.
        at: one point for all cases (as in ``linearize``), or an array of coordinates with one row per case (at rest).
        inputs: values of inputs, by name, the same for all.
        parameters: by name, arrays or single values; or an array with one row of all parameters per case.

    Cases that are not equilibria raise no error: ``balanced`` marks them, and their eigenvalues are NaN.

    Raises:
        ComputationError: forces have a kink or a jump at the state of a case, which the message names.

    Example:
        >>> import numpy as np, pendula
        >>> system = pendula.compile_system(pendula.library.pendulum(kind="point"))
        >>> found = pendula.linear.linearize_many(system, {"theta": 0}, parameters={"l": np.array([1.0, 4.0])})
        >>> found.values.imag.round(4).tolist()
        [[3.1321, -3.1321], [1.566, -1.566]]
    """
    system = system_of(system, "linearize_many", inputs=held_inputs(at, inputs))
    vectors = _parameter_rows(system, parameters)
    point = _first(system, at, inputs, vectors[0])
    q = np.atleast_2d(np.asarray(at, dtype=float)) if isinstance(at, np.ndarray) else point.q[None]
    v, u = np.broadcast_to(point.v, (len(q), len(point.v))), point.inputs[None]
    count = max(len(q), len(vectors))
    if len(q) not in (1, count) or len(vectors) not in (1, count):
        raise UsageError(f"{len(q)} states and {len(vectors)} sets of parameters do not match")
    if inputs is None and any(parse(x).names for x in system.model.inputs.values()):
        u = np.array([system.inputs.at(0.0, p) for p in vectors])
    model = linearize(system, point)
    if model.chart:
        raise SingularPose(f"{model.chart}.\n  Try: linearize(...) for single cases, or regular coordinates.")
    lam = np.zeros((1, system.loop_rows))
    terms = terms_of_many(system, q, v, u, lam, vectors)
    if system.loop_rows:
        lam = _multipliers(terms)
        terms = terms_of_many(system, q, v, u, lam, vectors)
    if may_have_kinks(system.model):
        rows = (np.broadcast_to(x, (count, x.shape[1])) for x in (q, v, u, lam, vectors))
        for k, (pose, speeds, held, forces, values) in enumerate(zip(*rows, strict=True)):
            balance = Balance(system, held, values)
            refuse_kinks(balance, pose, speeds, forces, f"the state of case {k}")
    return _reduced(system, model, terms)


def _first(system: System, at: Any, inputs: Any, vector: Array) -> Equilibrium:
    """The equilibrium of the first case, which gives the independent coordinates and the steady speeds."""
    if isinstance(at, np.ndarray):
        if at.ndim > 2 or at.shape[-1] != len(system.layout.coordinates):
            names = ", ".join(system.layout.coordinates[:6])
            raise UsageError(
                f"states must be rows of {len(system.layout.coordinates)} coordinates ({names}), got {at.shape}"
            )
        row = np.atleast_2d(at)[0]
        at = dict(zip(system.layout.coordinates, row.tolist(), strict=True))
    elif isinstance(at, Equilibrium) and inputs is None and at.layout is system.layout and not system.loop_rows:
        return at if at.parameters is vector else replace(at, parameters=vector)  # linearize checks the balance
    return point_of(system, at, inputs, vector)


def _multipliers(terms: Terms) -> Array:
    """Least-squares multipliers in every case; of least norm if rows are redundant."""
    count, m, n = terms.G.shape
    lam, clear = np.zeros((count, m)), np.zeros(count, dtype=bool)
    multipliers_of_many(terms.G, terms.left, lam, np.empty(n * m + n), clear)
    rest = np.flatnonzero(~clear)
    if rest.size:
        lam[rest] = np.einsum("kmn,kn->km", np.linalg.pinv(np.swapaxes(terms.G[rest], 1, 2)), -terms.left[rest])
    return lam


def _reduced(system: System, model: LinearModel, terms: Terms) -> LinearModels:
    """The models in the independent coordinates of the first case."""
    M, C, K, F = terms.M, terms.C, terms.K, terms.F
    if system.turnings and np.any(model.at.v):
        raise UsageError("linearize_many does not support steady rotation of a ball joint.\n  Try: linearize(...).")
    if system.loop_rows:
        Z = _directions(model, terms.G)
        turned = np.swapaxes(Z, 1, 2)
        M, C, K, F = turned @ M @ Z, turned @ C @ Z, turned @ K @ Z, turned @ F
    lengths = typical_steps(system)
    residuals = np.empty(len(terms.left))
    shares_of_many(terms.left, terms.K, lengths, residuals)
    return LinearModels(model.coordinates, model.speeds, model.inputs, M, C, K, F, residuals)


def _directions(model: LinearModel, G: Array) -> Array:
    """A basis of the null space of G in every case, with the identity at the independent speeds of the first."""
    chosen = np.array(chosen_speeds(model.Z))
    count, m, n = G.shape
    free = len(chosen)
    Z, clear = np.empty((count, n, free)), np.zeros(count, dtype=bool)
    directions_of_many(G, chosen, Z, np.empty(room_for(n, m, free, 0)), clear)
    rest = np.flatnonzero(~clear)
    if rest.size:
        null = np.swapaxes(np.linalg.svd(G[rest])[2][:, n - free :], 1, 2)
        Z[rest] = null @ np.linalg.inv(null[:, chosen])
    return Z


def _parameter_rows(system: System, parameters: Any) -> Array:
    """One row of all parameters per case."""
    if parameters is None:
        return system.parameters[None]
    if not isinstance(parameters, Mapping):
        rows = np.atleast_2d(read_numbers(parameters, "parameters"))
        if rows.ndim != 2 or rows.shape[1] != len(system.parameters) or not np.all(np.isfinite(rows)):
            raise UsageError(f"parameters must be rows of {len(system.parameters)} finite values, got {rows.shape}")
        return rows
    given = {name: np.atleast_1d(read_numbers(x, f'parameters: "{name}"')) for name, x in parameters.items()}
    try:
        count = np.broadcast_shapes(*(x.shape for x in given.values()))[0]
    except (ValueError, IndexError):
        raise UsageError("arrays of parameters must have the same length") from None
    first = parameter_vector(system, {name: float(x.flat[0]) for name, x in given.items()})  # refuses unknown names
    names = system.layout.parameters
    depend = any(set(parse(x).names) & set(given) for x in system.model.parameters.values())
    if depend:
        cases = [{name: float(np.broadcast_to(x, count)[k]) for name, x in given.items()} for k in range(count)]
        return np.array([parameter_vector(system, case) for case in cases])
    rows = np.repeat(first[None], count, axis=0)
    for name, x in given.items():
        if not np.all(np.isfinite(x)):
            raise UsageError(f'parameter "{name}" is not finite')
        rows[:, names.index(name)] = x
    return rows
