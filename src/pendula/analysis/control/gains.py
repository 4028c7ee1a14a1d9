"""Gains of state feedback: linear-quadratic regulators and pole placement, in continuous and discrete time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.control.laws import law_texts
from pendula.analysis.control.responses import check_inputs
from pendula.analysis.control.space import StateSpace, matrix_decays, poles_of, poles_with_errors, state_space
from pendula.analysis.control.weights import weight_matrix
from pendula.arguments import available, read_complex_numbers, read_numbers, shortly
from pendula.errors import ComputationError, UsageError
from pendula.simulation.inputs.kinds import Sampled
from pendula.system.layout import Array
from pendula.words import readable

if TYPE_CHECKING:
    from pendula.analysis.control.estimators import Estimator
    from pendula.analysis.control.margins import Margins
    from pendula.analysis.linear.model import LinearModel


ROUNDING = 1e-12
"""a gain below this part of the largest of its input is printed as zero"""
UNSURE = 1e-3
"""poles that may be off by more than this, relative to the largest, are printed with a remark"""


@readable
@dataclass(frozen=True, eq=False)
class Gain:
    """State feedback u = -K x of a linear model, with names. ``gain["F", "theta"]`` is one entry.

    Attributes:
        K: shape (inputs, states).
        space: the system that it was designed for; discrete if the gain is.
        poles: of the closed loop, sorted by real part (by magnitude in discrete time), slowest first.
        method: how it was found, in words.
        cost: solution of the Riccati equation: the cost from a state x is x^T cost x; None for placed poles.
        residual: of the Riccati equation, or distance of the poles from those asked for; relative.

    Example:
        >>> import pendula
        >>> gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
        >>> run = pendula.simulate("cart-pole", 8, inputs=gain.feedback(), initial_state={"theta": "150deg"})
        >>> bool(abs(run["theta"][-1] - 3.14159265) < 1e-2)
        True
    """

    K: Array
    space: StateSpace
    poles: Array
    method: str
    cost: Array | None = None
    residual: float = 0.0

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states."""
        return self.space.states

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.space.inputs

    @property
    def every(self) -> float | None:
        """Sampling time; None in continuous time."""
        return self.space.dt

    def __getitem__(self, pair: tuple[str, str]) -> float:
        by, of = pair
        for name, known, what in ((by, self.inputs, "input"), (of, self.states, "state")):
            if name not in known:
                raise UsageError(f'there is no {what} "{name}"; {available(known)}')
        return float(self.K[self.inputs.index(by), self.states.index(of)])

    @property
    def shown(self) -> Array:
        """K for print: entries that are zero up to rounding, beside the others of their row, are zero."""
        rate = float(np.abs(self.space.poles).max(initial=0.0)) if self.every is None else 1 / self.every
        n = len(self.states) // 2
        size = np.abs(self.K) * np.repeat([1.0, rate or 1.0], n)
        return np.where(size < ROUNDING * size.max(axis=1, keepdims=True, initial=0.0), 0.0, self.K)

    @property
    def uncertainty(self) -> float:
        """How far rounding errors of A, B and K may move the poles of the closed loop [1/time]; large for many states.

        Example:
            >>> import pendula
            >>> pendula.linearize("cart-pole", {"theta": "180deg"}).place([-1, -2, -3, -4]).uncertainty < 1e-9
            True
        """
        return float(poles_with_errors(self.space.A - self.space.B @ self.K)[1].max(initial=0.0))

    def closed_loop(self) -> StateSpace:
        """The linear model under this feedback, u = r - K x, with its bode(), step() and poles."""
        return self.space.fed_back(self.K)

    def loop(self, by: str | None = None, *, estimator: Estimator | None = None) -> StateSpace:
        """The open loop L seen at one input: broken there, with all other inputs fed back; u = -L u closes it.

        Args:
            by: the input; needed if there are several.
            estimator: a Kalman filter (of the same sampling time) whose estimate is fed back instead of the state.
        """
        if by is None and len(self.inputs) != 1:
            raise UsageError(f"name the input at which the loop is broken: {', '.join(self.inputs)}")
        if by is not None and not isinstance(by, str):
            raise UsageError(f"by is the name of one input, found {shortly(by)}")
        space = self.space.selected(None, by)
        name = space.inputs[0]
        here = self.inputs.index(name)
        others = [k for k in range(len(self.inputs)) if k != here]
        rest = self.space.B[:, others] @ self.K[others]
        K, n = self.K[here : here + 1], len(space.A)
        A, B, C = space.A - rest, space.B, K
        states = self.states
        if estimator is not None:
            from pendula.analysis.control.estimators import Estimator

            if not isinstance(estimator, Estimator):
                raise UsageError(f"estimator is a Kalman filter, from linear.kalman(...), found {shortly(estimator)}")
            if estimator.space.dt != self.every or estimator.space.states != self.states:
                raise UsageError(
                    "gain and estimator must belong to the same linear model and sampling time (every=...)"
                )
            seen = estimator.L @ estimator.space.C
            A = np.block([[space.A, -rest], [seen, space.A - self.space.B @ self.K - seen]])
            B, C = np.vstack([B, np.zeros((n, 1))]), np.hstack([np.zeros((1, n)), K])
            states = (*states, *(f"estimate of {x}" for x in states))
        fed = "K x" if estimator is None else "K times the estimate"
        return replace(
            space, A=A, B=B, C=C, D=np.zeros((1, 1)), states=states, outputs=(fed,),
            units={**space.units, fed: space.units.get(name, "")},
        )  # fmt: skip

    def margins(self, by: str | None = None, *, estimator: Estimator | None = None) -> Margins:
        """Gain, phase and delay margins of the loop at one input, with all other inputs fed back; see :meth:`loop`.

        Example:
            >>> import pendula
            >>> gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
            >>> print(gain.margins())
            margins of the loop F = -(K x)
              the closed loop decays; 3 poles of the open loop do not decay
              gain: may fall to 0.4402 (-7.128 dB, at 2.414 rad/s), may grow to any value
              phase: up to 60.5 deg of lag at 10.11 rad/s
              delay: up to 0.1044 s (at 10.11 rad/s)
              distance from -1: 1 at inf rad/s (peak of the sensitivity 1)
        """
        return self.loop(by, estimator=estimator).margins()

    def feedback(
        self,
        *,
        reference: Mapping[str, float | str] | None = None,
        limits: Any = None,
        estimator: Estimator | None = None,
        **sampling: Any,
    ) -> Any:
        """The feedback law of the nonlinear mechanism, for ``simulate(model, ..., inputs=gain.feedback())``.

        A continuous gain gives text, which is compiled with the equations. A discrete one gives a
        :class:`~pendula.Sampled` controller with the sampling time of the design.

        Args:
            reference: values to keep instead of those of the equilibrium, by name: numbers, or expressions of t.
            limits: of the inputs: a number (plus and minus), (low, high), or these by name.
            estimator: a discrete Kalman filter; the controller then knows its outputs alone.
            sampling: ``delay``, ``noise``, ``seed`` of the sampled controller.

        Raises:
            NotSupported: the coordinates of the linear model are not those of the mechanism.
        """
        linear = self.space.linear
        if linear is None:
            raise UsageError("the gain belongs to no linear model of a mechanism, so it has no feedback law")
        if estimator is not None:
            from pendula.analysis.control.estimators import estimated_feedback

            return estimated_feedback(self, estimator, reference, limits, sampling)
        texts = law_texts(linear, self.K, reference, limits)
        if self.every is None:
            if sampling:
                raise UsageError(f"{next(iter(sampling))} is for sampled controllers; design the gain with every=...")
            return texts
        return Sampled(texts, every=self.every, **sampling)

    def __str__(self) -> str:
        unit = self.space.time_unit
        time = "" if self.every is None else f", sampled every {self.every:g} {unit}"
        lines = [f"u = -K x by {self.method}{time}"]
        for by, row in zip(self.inputs, self.shown, strict=True):
            lines.append(f"  {by}: " + ", ".join(f"{of} {x:.6g}" for of, x in zip(self.states, row, strict=True)))
        what = "magnitudes of the poles " if self.every is not None else "poles "
        values = np.abs(self.poles) if self.every is not None else self.poles
        lines.append(
            what + ", ".join(f"{p:.4g}" for p in values[:12]) + ("" if self.every is not None else f" [1/{unit}]")
        )
        size = float(np.abs(self.poles).max(initial=0.0))
        if self.uncertainty > UNSURE * size:
            lines.append(f"rounding errors of the gain and the model may move poles by up to {self.uncertainty:.2g}")
        if self.cost is None and self.residual > UNSURE:
            lines.append(f"the poles as computed are up to {self.residual * size:.2g} from those asked for")
        return "\n".join(lines)


def designed_space(linear: LinearModel, every: float | None) -> StateSpace:
    """The state space for which a gain is designed."""
    space = state_space(linear)
    check_inputs(space)
    return space if every is None else space.discrete(every)


def sorted_poles(A: Array, dt: float | None) -> Array:
    """Eigenvalues, slowest first."""
    found = poles_of(A)
    return found[np.lexsort((found.imag, -(np.abs(found) if dt is not None else found.real)))]


def lqr(linear: LinearModel, Q: Any, R: Any = 1.0, *, cross: Any = None, every: float | None = None) -> Gain:
    """The linear-quadratic regulator; see :meth:`pendula.results.LinearModel.lqr`."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are  # slow to load

    space = designed_space(linear, every)
    Q = weight_matrix(Q, space.states, "Q", definite=False)
    R = weight_matrix(R, space.inputs, "R", definite=True)
    S = None if cross is None else _cross(cross, len(Q), len(R))
    refuse_unreachable(linear)
    refuse_unweighted(linear, Q, R, S)
    A, B = space.A, space.B
    try:
        X = (solve_continuous_are if every is None else solve_discrete_are)(A, B, Q, R, s=S)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ComputationError(
            f"the Riccati equation has no stabilizing solution ({error}).\n"
            "  Try: weights on every coordinate that does not return to rest without feedback."
        ) from None
    N = np.zeros((len(Q), len(R))) if S is None else S
    if every is None:
        K = np.linalg.solve(R, B.T @ X + N.T)
        rest = A.T @ X + X @ A - K.T @ R @ K + Q
    else:
        K = np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A + N.T)
        rest = A.T @ X @ A - X - K.T @ (R + B.T @ X @ B) @ K + Q
    residual = float(np.abs(rest).max() / max(np.abs(Q).max(), np.abs(K.T @ R @ K).max(), 1e-300))
    poles = sorted_poles(A - B @ K, every)
    if not matrix_decays(A - B @ K, every):
        raise ComputationError(
            f"the feedback that minimizes this cost does not stabilize: a pole is {poles[0]:.4g}.\n"
            "  Try: weights on every coordinate that does not return to rest without feedback."
        )
    return Gain(K, space, poles, "linear-quadratic regulator", X, residual)


def _cross(given: Any, states: int, inputs: int) -> Array:
    """The weights of products of a state and an input."""
    found = read_numbers(given, "cross")
    if found.size != states * inputs or not np.isfinite(found).all():
        raise UsageError(f"cross must be a finite matrix of {states} states by {inputs} inputs, found {shortly(given)}")
    return found.reshape(states, inputs)


def place(linear: LinearModel, poles: Sequence[complex] | Array, *, every: float | None = None) -> Gain:
    """A gain with these poles; see :meth:`pendula.results.LinearModel.place`."""
    from scipy.signal import place_poles  # slow to load

    space = designed_space(linear, every)
    wanted = read_complex_numbers(poles, "poles").ravel()
    if wanted.size != len(space.A):
        raise UsageError(f"there are {len(space.A)} poles ({', '.join(space.states)}), found {wanted.size}")
    if np.abs(np.sort_complex(wanted) - np.sort_complex(wanted.conj())).max() > 1e-9 * np.abs(wanted).max():
        raise UsageError("complex poles must come in conjugate pairs")
    refuse_unreachable(linear, all_of_them=True)
    if every is not None:
        wanted = np.exp(wanted * every)
    try:
        K = (
            _acker(space.A, space.B, wanted)
            if space.B.shape[1] == 1
            else place_poles(space.A, space.B, wanted).gain_matrix
        )
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"these poles cannot be placed: {error}") from None
    found = sorted_poles(space.A - space.B @ K, every)
    return Gain(K, space, found, "pole placement", None, _distance(found, wanted))


def _distance(found: Array, wanted: Array) -> float:
    """Largest distance of a pole from the one that was asked for, relative to the largest of those."""
    from scipy.optimize import linear_sum_assignment  # slow to load

    gaps = np.abs(found[:, None] - wanted)
    return float(gaps[linear_sum_assignment(gaps)].max() / max(float(np.abs(wanted).max()), 1e-300))


def _acker(A: Array, B: Array, poles: Array) -> Array:
    """Ackermann's formula for the matrices as they are, in so many digits that only the rounding of K is left.

    In doubles the Krylov vectors b, A b, A^2 b ... of ten states are indistinguishable from dependent ones. Repeated
    poles are allowed.
    """
    from mpmath import lu_solve, matrix, mpc, workdps  # slow to load

    n = len(A)
    with workdps(30 + 4 * n):
        exact, vectors = matrix(A.tolist()), [matrix(B[:, 0].tolist())]
        for _ in range(n - 1):
            vectors.append(exact * vectors[-1])
        krylov, last = matrix(n, n), matrix(n, 1)
        for k, vector in enumerate(vectors):
            krylov[k, :] = vector.T
        last[n - 1] = 1
        row = lu_solve(krylov, last).T  # last row of the inverse: row A^k b = 0 up to k = n - 1, where it is 1
        for pole in poles:
            row = row * exact - mpc(pole) * row
        return np.array([[float(x.real) for x in row]])


def refuse_unweighted(linear: LinearModel, Q: Array, R: Array, S: Array | None) -> None:
    """Raises ComputationError if a motion that neither grows nor decays has no cost; the message names it.

    The cheapest feedback leaves such a motion alone, so no feedback both minimizes the cost and stabilizes.
    """
    from pendula.analysis.control.reach import unweighted

    A = linear.A
    if S is not None:  # u = w - R^-1 S^T x removes the cross term
        part = np.linalg.solve(R, S.T)
        A, Q = A - linear.B.reshape(len(Q), -1) @ part, Q - S @ part
    lost = unweighted(linear, A, Q)
    if lost:
        name = linear.coordinates[int(np.argmax(np.abs(lost[0].direction)))]
        raise ComputationError(
            f"{'; '.join(x.text for x in lost)}. The feedback that minimizes this cost leaves it alone.\n"
            f'  Try: weights on every coordinate that does not return to rest without feedback: Q["{name}"] = 1.'
        )


def refuse_unreachable(linear: LinearModel, *, all_of_them: bool = False) -> None:
    """Raises UsageError if an input cannot reach a motion that must be stabilized; the message names it."""
    from pendula.analysis.control.reach import controllability

    found = controllability(linear)
    if found.holds or (found.enough and not all_of_them):
        return
    bad = next(x for x in found.lost if all_of_them or not x.decays)
    raise UsageError(f"the inputs ({', '.join(linear.inputs)}) cannot do this: {bad.text}")
