"""The largest Lyapunov exponent of a motion, from its variational equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pendula.analysis.driven.periods import symbolic
from pendula.arguments import read_count, read_number, read_positive, read_seed, read_table
from pendula.errors import ComputationError, UsageError
from pendula.numerics.steppers.stepping import Integration, integrate
from pendula.simulation.beginning import start_as_given
from pendula.simulation.defaults import MAX_STEPS
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.switches.schedule import breakpoints, largest_step
from pendula.system.system import System
from pendula.system.tangent import deviation_callback, refuse_over_time, tangent_space
from pendula.tables.tabular import Tabular
from pendula.words import readable

BLOCKS = 10
"""Number of blocks of the run whose averages give the spread."""
MOST_SEGMENTS = 10_000_000
SMALLEST, LARGEST = 1e-3, 1e9
"""a deviation that shrinks or grows further within a segment is rescaled before: small ones drown in errors of steps"""
SHORTEST = 1e-9
"""shortest stretch between two rescalings, as a fraction of the run"""

REGULAR = 3.0
"""powers of time that a deviation may grow by in a regular motion"""


@readable
@dataclass(frozen=True)
class Lyapunov(Tabular):
    """Average exponential rate at which neighbouring motions diverge. ``str()`` gives a sentence.

    Attributes:
        exponent: average rate over the run after the transient [1/time].
        spread: standard error of the exponent, from the averages over tenths of the run, and what the errors of the
            steps may add to it [1/time].
        t, running: times, and the average rate up to each of them [1/time].
        transient: initial time that is discarded, while the deviation turns into the fastest-growing direction.
        state: the last state of the motion.
        time_unit: name of the unit of time.
        mechanism: its name, for titles.

    Example:
        >>> import pendula
        >>> found = pendula.chaos.lyapunov("pendulum", 5.0, segments=20)
        >>> len(found.t), found.time_unit
        (18, 's')
    """

    exponent: float
    spread: float
    t: Array
    running: Array
    transient: float
    state: State
    time_unit: str
    mechanism: str = ""

    def __str__(self) -> str:
        rate = f"{self.exponent:.4g} +- {self.spread:.2g} 1/{self.time_unit}"
        text = f"largest Lyapunov exponent {rate}, from t = {self.transient:.6g} to {self.t[-1]:.6g} {self.time_unit}"
        if self.grows:
            return f"{text}: a deviation grows tenfold every {np.log(10) / self.exponent:.4g} {self.time_unit}"
        if not self.zero:
            return f"{text}: neighbouring motions approach each other"
        if self.exponent > 3 * self.spread:
            grown = f"a deviation grew about as t^{self.power:.2g}, as in a regular motion"
            return f"{text}: indistinguishable from zero, {grown}"
        return f"{text}: indistinguishable from zero, within its spread"

    @property
    def power(self) -> float:
        """The power of time that would have grown as much as the deviation did over the run.

        In a regular motion a deviation grows in proportion to time, as phases do that run at different rates.
        """
        first = max(self.transient, float(self.t[-1]) / (len(self.t) + 1))
        return float(self.exponent * (self.t[-1] - self.transient) / np.log(self.t[-1] / first))

    @property
    def zero(self) -> bool:
        """Whether the exponent is indistinguishable from zero: no exponential growth, no decay beyond its spread."""
        return not self.grows and self.exponent >= -3 * self.spread

    @property
    def grows(self) -> bool:
        """Whether growth is exponential: beyond its spread, and by more than the third power of time."""
        return self.exponent > 3 * self.spread and self.power > REGULAR


def lyapunov(
    system: AnySystem,
    duration: float = 100.0,
    *,
    initial_state: State | Mapping[str, float] | None = None,
    parameters: Parameters = None,
    transient: float | None = None,
    tol: float = 1e-9,
    stepper: str = "dop853",
    segments: int = 200,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
) -> Lyapunov:
    """The largest Lyapunov exponent of the motion from a state.

    The motion and one small deviation from it (the variational equations) are integrated together, with exact
    derivatives. The deviation is rescaled to unit length after each segment, and before if it shrinks or grows
    much; the exponent is the average growth rate
    of its logarithm. In a regular motion it tends to 0 only as fast as log(t)/t. Where friction or a switch makes the
    forces jump, the deviation jumps too (saltation), and this method omits that jump.

    Args:
        system: a system, a model, or the name of a library mechanism. With closed loops the deviation stays on the
            constraints; in place of maximal coordinates, those of the joints are used.
        duration: length of the run, from the time of the initial state.
        initial_state: a State, or changes to the model's initial state by name.
        parameters: changes of parameters by name.
        transient: initial time to discard; default: a tenth of the duration.
        tol: tolerance of the steps, for the motion and the deviation.
        segments: number of segments, after each of which the deviation is rescaled.
        seed: seed of the random initial direction of the deviation.

    Returns:
        Lyapunov, with the exponent, its spread, and the running average.

    Raises:
        UsageError: an argument is out of range.
        ComputationError: the run could not be finished.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> upright = lyapunov(system, 5.0, initial_state={"theta": 3.141592653589793}, transient=2.5, segments=20)
        >>> round(upright.exponent**2 / 14.715, 3)  # 3 g / (2 l) of the rod
        1.0
    """
    system = system_of(system, "lyapunov")
    refuse_over_time(system)
    duration = read_positive(duration, "the duration")
    skipped = 0.1 * duration if transient is None else read_number(transient, "the transient")
    _check(duration, skipped, segments)
    given, system = system, symbolic(system.in_joints.system)
    vector = parameter_vector(system, parameters)
    start = initial_state
    if not isinstance(start, State):
        start = read_table(start, "initial_state")
    elif start.layout.coordinates == given.layout.coordinates:
        start = given.in_joints.read_state(start, vector)
    state = start_as_given(system, start, start.t if isinstance(start, State) else 0.0, vector)
    y = np.concatenate([state.q, state.v])
    deviation = _unit(_tangent(system, state, vector, np.random.default_rng(read_seed(seed)).normal(size=y.size)))
    times = state.t + np.linspace(0.0, duration, segments + 1)
    growth, y, steps = _followed(system, vector, y, deviation, times, tol, stepper, max_steps)
    nq = len(system.layout.coordinates)
    last = State(float(times[-1]), y[:nq], y[nq:], system.layout)
    return _averaged(growth, times, skipped, last, system, tol * steps / duration)


def _followed(
    system: System, vector: Array, y: Array, deviation: Array, times: Array, tol: float, stepper: str, max_steps: int
) -> tuple[Array, Array, int]:
    """The logarithm of the growth over each segment, the last state, and the number of steps."""
    callback, span = deviation_callback(system, vector), (times[0], times[-1])
    breaks = breakpoints(system, vector, span)
    longest = largest_step(system, vector, span, breaks)
    duration, segments = float(times[-1] - times[0]), len(times) - 1
    growth, steps, step, stretch = np.zeros(segments), 0, None, duration / segments
    for k in range(segments):
        t = times[k]
        while t < times[k + 1]:
            end = times[k + 1] if t + 1.01 * stretch >= times[k + 1] else t + stretch
            try:
                run = integrate(
                    callback, np.concatenate([y, deviation]), (t, end), rtol=tol, atol=tol, method=stepper,
                    breakpoints=breaks, first_step=step, max_steps=max_steps, max_step=longest, keep_on_interrupt=False,
                )  # fmt: skip
            except ValueError as error:
                raise UsageError(str(error)) from None
            size = _size(run, len(y))
            steps += run.accepted
            if steps > max_steps:
                raise ComputationError(
                    f"the exponent was not found: {max_steps} steps were used up at t = {run.t[-1]:.6g}"
                )
            if not SMALLEST <= size <= LARGEST and end - t > SHORTEST * duration:
                stretch = (end - t) / 2
                continue
            y, deviation = _renewed(system, vector, run)
            t, growth[k] = end, growth[k] + np.log(size)
            step = float(np.abs(np.diff(run.t)).max())
        stretch = min(2 * stretch, duration / segments)
    return growth, y, steps


def _check(duration: float, transient: float, segments: int) -> None:
    if not 0 <= transient < duration:
        raise UsageError(f"the transient must be shorter than the duration {duration:g}, found {transient!r}")
    read_count(segments, "segments", MOST_SEGMENTS, least=2 * BLOCKS)


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x)


def _tangent(system: System, state: State, vector: Array, deviation: Array) -> Array:
    """The deviation projected onto the tangent space of unit quaternions and closed loops."""
    if system.loop_rows:
        space = tangent_space(system, state, vector)
        return space.basis @ space.read(deviation)
    deviation = np.array(deviation)
    for at, _ in system.balls:
        unit = _unit(state.q[at : at + 4])
        deviation[at : at + 4] -= unit * (unit @ deviation[at : at + 4])
    return deviation


def _size(run: Integration, n: int) -> float:
    """The size of the deviation at the end of a stretch."""
    if not run.outcome.ok:
        raise ComputationError(f"the exponent was not found: {run.outcome}: {run.detail}")
    return float(np.linalg.norm(run.y[-1, n:]))


def _renewed(system: System, vector: Array, run: Integration) -> tuple[Array, Array]:
    """State and rescaled deviation to continue from, on the constraints."""
    n = run.y.shape[1] // 2
    y, deviation = run.y[-1, :n].copy(), run.y[-1, n:]
    for at, _ in system.balls:
        y[at : at + 4] = _unit(y[at : at + 4])
    nq = len(system.layout.coordinates)
    state = State(float(run.t[-1]), y[:nq], y[nq:], system.layout)
    if system.loop_rows:
        state = assemble(system, state, parameters=vector).state
        y = np.concatenate([state.q, state.v])
    return y, _unit(_tangent(system, state, vector, deviation))


def _averaged(
    growth: Array, times: Array, transient: float, last: State, system: System, resolution: float
) -> Lyapunov:
    """The exponent from the growth over each segment; ``resolution`` is what the errors of the steps may add to it."""
    kept = np.flatnonzero(times[:-1] >= times[0] + transient * (1 - 1e-12))
    if kept.size < BLOCKS:
        raise UsageError("the transient leaves too few segments; use more segments or a shorter transient")
    first, rates = kept[0], growth / np.diff(times)
    passed = times[first + 1 :] - times[first]
    means = [float(block.mean()) for block in np.array_split(rates[first:], BLOCKS)]
    return Lyapunov(
        exponent=float(growth[first:].sum() / passed[-1]),
        spread=float(np.hypot(np.std(means, ddof=1) / np.sqrt(BLOCKS), resolution)),
        t=times[first + 1 :],
        running=np.cumsum(growth[first:]) / passed,
        transient=float(times[first]),
        state=last,
        time_unit=system.layout.time_unit,
        mechanism=system.model.name,
    )
