"""Kalman filters: estimates of all states from noisy outputs, in continuous and discrete time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.control.gains import Gain, sorted_poles
from pendula.analysis.control.laws import deviations, read_limits
from pendula.analysis.control.space import StateSpace, matrix_decays, state_space
from pendula.analysis.control.weights import weight_matrix
from pendula.errors import ComputationError, UsageError
from pendula.model.expressions.expression import parse
from pendula.simulation.inputs.kinds import Sampled
from pendula.system.layout import Array, State
from pendula.words import readable

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel


@readable
@dataclass(frozen=True, eq=False)
class Estimator:
    """A stationary Kalman filter: x^' = A x^ + B u + L (y - C x^), or the same from sample to sample.

    In discrete time L is the gain of the predictor: the estimate at a sample uses outputs up to the sample before.
    ``estimator["theta", "x"]`` is the correction of theta per unit error of the output x.

    Attributes:
        L: shape (states, outputs).
        space: the system with its outputs; discrete if the filter is.
        covariance: of the error of the estimate.
        poles: of the error, slowest first.
        residual: of the Riccati equation, relative.

    Example:
        >>> import pendula
        >>> linear = pendula.linearize("cart-pole", {"theta": 0})
        >>> found = linear.kalman(["x", "theta"], process={"F": 0.1}, measurement=1e-4)
        >>> found.L.shape, bool((found.poles.real < 0).all())
        ((4, 2), True)
    """

    L: Array
    space: StateSpace
    covariance: Array
    poles: Array
    residual: float

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the measured outputs."""
        return self.space.outputs

    def __getitem__(self, pair: tuple[str, str]) -> float:
        of, by = pair
        if of not in self.space.states or by not in self.outputs:
            raise UsageError(f"an entry is [state, output]; states: {', '.join(self.space.states)}; outputs: "
                             f"{', '.join(self.outputs)}")  # fmt: skip
        return float(self.L[self.space.states.index(of), self.outputs.index(by)])

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviation of the error of every state."""
        return dict(zip(self.space.states, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    def __str__(self) -> str:
        time = "continuous time" if self.space.dt is None else f"samples every {self.space.dt:g} {self.space.time_unit}"
        lines = [f"Kalman filter from {', '.join(self.outputs)}, {time}"]
        for name, size in list(self.deviations.items())[:16]:
            lines.append(f"  {name} known to {size:.3g} {self.space.units.get(name, '')}".rstrip())
        return "\n".join(lines)


def kalman(
    linear: LinearModel, outputs: Sequence[str] | str | None, process: Any, measurement: Any, every: float | None
) -> Estimator:
    """The stationary Kalman filter; see :meth:`pendula.results.LinearModel.kalman`."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are  # slow to load

    from pendula.analysis.control.reach import observability, unexcited

    plain = state_space(linear, outputs)
    W = _process(plain, process)
    V = weight_matrix(measurement, plain.outputs, "measurement", definite=True)
    seen = observability(linear, outputs)
    if not seen.enough:
        bad = next(x for x in seen.lost if not x.decays)
        raise UsageError(f"the outputs ({', '.join(plain.outputs)}) do not suffice: {bad.text}")
    missed = unexcited(linear, plain.A, W)
    if missed:
        raise ComputationError(
            f"the error of the estimate would not decay: {'; '.join(missed)}.\n"
            "  Try: process noise that excites every motion which does not decay."
        )
    space = plain if every is None else plain.discrete(every)
    if every is not None:
        W, V = _sampled_noise(plain.A, W, every), V / every
    A, C = space.A, space.C
    try:
        X = (solve_continuous_are if every is None else solve_discrete_are)(A.T, C.T, W, V)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ComputationError(
            f"the Riccati equation has no solution ({error}).\n  Try: process noise that excites every motion."
        ) from None
    if every is None:
        L = np.linalg.solve(V, C @ X).T
        rest = A @ X + X @ A.T - L @ V @ L.T + W
    else:
        total = C @ X @ C.T + V
        L = np.linalg.solve(total, C @ X @ A.T).T
        rest = A @ X @ A.T - X - L @ total @ L.T + W
    residual = float(np.abs(rest).max() / max(np.abs(W).max(), 1e-300))
    poles = sorted_poles(A - L @ C, every)
    if not matrix_decays(A - L @ C, every):
        raise ComputationError(
            f"the error of the estimate would not decay: a pole is {poles[0]:.4g}.\n"
            "  Try: process noise that excites every motion which does not decay."
        )
    return Estimator(L, space, X, poles, residual)


def _process(space: StateSpace, given: Any) -> Array:
    """Intensity of the process noise of all states: given for inputs (through B) or for states."""
    if isinstance(given, Mapping) and given and all(name in space.inputs for name in given):
        Wu = weight_matrix(given, space.inputs, "process", definite=False)
        return np.asarray(space.B @ Wu @ space.B.T)
    if not isinstance(given, Mapping) and np.ndim(given) == 0 and space.inputs:
        return np.asarray(float(given) * space.B @ space.B.T)
    return weight_matrix(given, space.states, "process", definite=False)


def _sampled_noise(A: Array, W: Array, every: float) -> Array:
    """Covariance of white noise of intensity W accumulated over a sampling time (Van Loan 1978)."""
    from scipy.linalg import expm  # slow to load

    n = len(A)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:], block[n:, n:] = -A, W, A.T
    found = expm(block * every)
    Q = found[n:, n:].T @ found[:n, n:]
    return np.asarray((Q + Q.T) / 2)


def estimated_feedback(
    gain: Gain, estimator: Estimator, reference: Any, limits: Any, sampling: Mapping[str, Any]
) -> Sampled:
    """A sampled controller that knows only the outputs: u = -K x^ with the filter's estimate x^ (LQG)."""
    if gain.every is None or estimator.space.dt != gain.every:
        raise UsageError("feedback by an estimator needs gain and estimator with the same sampling time (every=...)")
    if reference:
        raise UsageError("feedback by an estimator keeps the equilibrium; a reference is not supported")
    linear, space = gain.space.linear, estimator.space
    assert linear is not None
    read = [parse(text) for text in deviations(linear)]
    C, A, B, L, K = space.C, space.A, space.B, estimator.L, gain.K
    rest, bounds = np.array(linear.at.inputs, dtype=float), read_limits(limits, linear.inputs)
    low = np.array([bounds.get(n, (-np.inf, np.inf))[0] for n in linear.inputs])
    high = np.array([bounds.get(n, (-np.inf, np.inf))[1] for n in linear.inputs])
    constants = linear.at.layout.parameter_values(linear.at.parameters)

    def law(t: float, state: State, estimate: Array) -> tuple[Array, Array]:
        values = {**constants, **state.as_dict(), "t": t}
        y = C @ np.array([text.evaluate(values) for text in read])
        u = np.clip(rest - K @ estimate, low, high)
        return u, A @ estimate + B @ (u - rest) + L @ (y - C @ estimate)

    more = dict(sampling)
    return Sampled(law, every=gain.every, memory=np.zeros(len(A)), inputs=linear.inputs, **more)
