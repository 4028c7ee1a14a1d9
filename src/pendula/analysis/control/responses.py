"""Responses of state spaces: over frequency (Bode), to a step, and poles over a gain (root locus)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from pendula.analysis.control.space import StateSpace, closed_by, matrix_decays, poles_of
from pendula.arguments import read_count, read_numbers, read_positive
from pendula.errors import UsageError
from pendula.numerics.steppers.checks import MOST_SAMPLES
from pendula.system.layout import Array
from pendula.words import counted, readable, some

DECADES = 1.0
"""a Bode plot reaches this many decades beyond the slowest and the fastest pole"""
PER_DECADE = 150
FARTHEST = 1e4
"""a zero beyond this times the size of A is infinite: QZ finds those of a chain of integrators as large numbers"""
SETTLED = 7.0
"""a step response lasts this many time constants of the slowest pole"""


@readable
@dataclass(frozen=True, eq=False)
class Bode:
    """Frequency response: complex amplitude of every output per unit of every input.

    ``bode["theta", "F"]`` is the complex response of theta to F over frequency.

    Attributes:
        omega: angular frequencies [rad/time].
        response: shape (frequencies, outputs, inputs).
        space: the system.

    Example:
        >>> import numpy as np, pendula
        >>> found = pendula.linearize("cart-pole", {"theta": 0}).bode("x", frequencies=[1.0, 10.0])
        >>> found.magnitude_db("x", "F").shape, found.hertz[0].round(4)
        ((2,), np.float64(0.1592))
    """

    omega: Array
    response: Array
    space: StateSpace

    @property
    def hertz(self) -> Array:
        """Frequencies in cycles per unit of time."""
        return self.omega / (2 * np.pi)

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        return self.response[:, *_place(self.space, pair)]

    def magnitude_db(self, of: str, by: str) -> Array:
        """20 log10 of the magnitude; minus infinity where it is zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(20 * np.log10(np.abs(self[of, by])))

    def phase(self, of: str, by: str) -> Array:
        """Phase in degrees, without jumps of 360."""
        return np.asarray(np.degrees(np.unwrap(np.angle(self[of, by]))))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All pairs (output, input)."""
        return product(self.space.outputs, self.space.inputs)

    def __str__(self) -> str:
        unit = f"rad/{self.space.time_unit}"
        lines = [
            f"frequency response at {self.omega.size} frequencies, {self.omega[0]:.4g} to {self.omega[-1]:.4g} {unit}"
        ]
        for of, by in list(self.pairs())[:8]:
            size = np.abs(self[of, by])
            k = int(np.argmax(size))
            lines.append(
                f"  {of} per {by}: largest {size[k]:.4g} {_per(self.space, of, by)} at {self.omega[k]:.4g} {unit}"
            )
        return "\n".join(lines)


@readable
@dataclass(frozen=True, eq=False)
class StepResponse:
    """Outputs over time after a unit step of each input at t = 0, from rest at the equilibrium.

    ``step["theta", "F"]`` is theta over time after a step of F.

    Attributes:
        t: times.
        y: shape (times, outputs, inputs).
        space: the system.

    Example:
        >>> import pendula
        >>> found = pendula.linearize("pendulum", {"theta": 0}).step(duration=1.0)
        Traceback (most recent call last):
        pendula.errors.UsageError: the linear model has no inputs: add one to the model, and a force that uses it
        >>> found = pendula.linearize("cart-pole", {"theta": 0}).step("x", duration=1.0, samples=3)
        >>> bool(found["x", "F"][-1] > 0)
        True
    """

    t: Array
    y: Array
    space: StateSpace

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        return self.y[:, *_place(self.space, pair)]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All pairs (output, input)."""
        return product(self.space.outputs, self.space.inputs)

    def __str__(self) -> str:
        lines = [f"step response, t = 0 to {self.t[-1]:.4g} {self.space.time_unit}"]
        for of, by in list(self.pairs())[:8]:
            y = self[of, by]
            k = int(np.argmax(np.abs(y)))
            lines.append(
                f"  {of} after a step of {by}: at the end {y[-1]:.4g}, largest {y[k]:.4g} at t = {self.t[k]:.4g} "
                f"[{_per(self.space, of, by)}]"
            )
        return "\n".join(lines)


@readable
@dataclass(frozen=True, eq=False)
class RootLocus:
    """Poles of the closed loop u = -k y over the gain k.

    Attributes:
        gains: values of k.
        poles: shape (gains, states); each column follows one pole.
        zeros: finite zeros, where branches end.
        space: the system, with one input and one output.

    Example:
        >>> import pendula
        >>> found = pendula.linearize("cart-pole", {"theta": 0}).root_locus("x", gains=[0.0, 1.0])
        >>> found.poles.shape, found.zeros.imag.round(3).tolist()  # the pendulum on a fixed cart
        ((2, 4), [3.836, -3.836])
    """

    gains: Array
    poles: Array
    zeros: Array
    space: StateSpace

    @property
    def crossings(self) -> list[float]:
        """Gains between which a pole crosses the imaginary axis (or the unit circle), refined by bisection."""
        stable = self._stable
        return [
            self._refined(self.gains[k], self.gains[k + 1])
            for k in range(len(self.gains) - 1) if stable[k] != stable[k + 1]
        ]  # fmt: skip

    @cached_property
    def _stable(self) -> list[bool]:
        """Whether all poles decay, for every gain."""
        return [self._stable_at(k) for k in self.gains]

    def _stable_at(self, k: float) -> bool:
        return matrix_decays(closed_by(self.space, k), self.space.dt)

    def _refined(self, low: float, high: float) -> float:
        before = self._stable_at(low)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._stable_at(middle) == before else (low, middle)
        return (low + high) / 2

    def __str__(self) -> str:
        s = self.space
        lines = [
            f"root locus of {s.inputs[0]} = -k*{s.outputs[0]}, k = {self.gains[0]:.4g} to {self.gains[-1]:.4g}",
            f"zeros: {', '.join(f'{z:.4g}' for z in self.zeros) or 'none'}",
        ]
        crossings = ", ".join(f"{k:.6g}" for k in self.crossings)
        if crossings:
            lines.append(f"stability changes at k = {crossings}")
        else:
            lines.append(
                "stable for all of these gains" if all(self._stable) else "for none of these gains do all poles decay"
            )
        return "\n".join(lines)


def _place(space: StateSpace, pair: tuple[str, str]) -> tuple[int, int]:
    """Indices of an output and an input by name."""
    one = space.selected(*pair)
    return space.outputs.index(one.outputs[0]), space.inputs.index(one.inputs[0])


def _per(space: StateSpace, of: str, by: str) -> str:
    return f"{space.units.get(of) or '1'} per {space.units.get(by) or f'unit of {by}'}"


def check_inputs(space: StateSpace) -> None:
    """Raises UsageError if there is no input."""
    if not space.inputs:
        raise UsageError("the linear model has no inputs: add one to the model, and a force that uses it")


def check_single(space: StateSpace, what: str) -> None:
    """Raises UsageError unless there is one output and one input; ``what`` begins the message."""
    check_inputs(space)
    if len(space.inputs) != 1 or len(space.outputs) != 1:
        raise UsageError(
            f"{what} one output and one input; found {counted(len(space.outputs), 'output')} ({some(space.outputs)}) "
            f"and {counted(len(space.inputs), 'input')} ({some(space.inputs)})"
        )


def bode_of(space: StateSpace, frequencies: Any = None) -> Bode:
    """The frequency response at angular frequencies; default: about the poles."""
    check_inputs(space)
    if frequencies is None:
        omega = around_poles(space)
    else:
        omega = np.atleast_1d(read_numbers(frequencies, "frequencies"))
        if omega.ndim != 1 or omega.size == 0 or not (np.isfinite(omega).all() and (omega > 0).all()):
            raise UsageError("frequencies must be positive numbers [rad per unit of time]")
    s = 1j * omega if space.dt is None else np.exp(1j * omega * space.dt)
    try:
        found = space.response(s)
    except UsageError:
        raise UsageError("a frequency is exactly that of an undamped pole, where the response is infinite") from None
    return Bode(omega, found, space)


def around_poles(space: StateSpace) -> Array:
    """Angular frequencies from below the slowest pole to above the fastest one."""
    poles = space.poles
    if space.dt is not None:
        poles = np.log(poles[poles != 0].astype(complex)) / space.dt
    sizes = np.abs(poles)
    sizes = sizes[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)]
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
    low, high = low / 10**DECADES, high * 10**DECADES
    if space.dt is not None:
        high = min(high, np.pi / space.dt)
    return np.geomspace(low, high, int(PER_DECADE * np.log10(high / low)) + 2)


def step_of(space: StateSpace, duration: float | None, samples: int) -> StepResponse:
    """The response to unit steps, exact at the samples."""
    check_inputs(space)
    duration = _settling(space) if duration is None else read_positive(duration, "the duration of a step response")
    t: Array
    if space.dt is None:
        samples = read_count(samples, "samples", MOST_SAMPLES, least=2)
        held, t = space.discrete(duration / (samples - 1)), np.linspace(0.0, duration, samples)
    else:
        held, t = space, np.arange(round(duration / space.dt) + 1) * space.dt
    y = np.zeros((t.size, len(space.outputs), len(space.inputs)))
    x: Array = np.zeros((len(space.A), len(space.inputs)))
    for k in range(t.size):
        y[k] = space.C @ x + space.D
        x = held.A @ x + held.B
    return StepResponse(t, y, space)


def _settling(space: StateSpace) -> float:
    """Some time constants of the slowest decaying pole; a few periods of the slowest vibration if none decays."""
    poles = space.poles.astype(complex)
    if space.dt is not None:
        poles = np.log(poles[poles != 0]) / space.dt
    size = max(float(np.abs(poles).max(initial=0.0)), 1e-300)
    moving = poles[np.abs(poles) > 1e-6 * size]
    if not moving.size:
        return 10.0
    decay = np.abs(moving.real[np.abs(moving.real) > 1e-6 * size])
    slowest = SETTLED / float(decay.min()) if decay.size else 6 * np.pi / float(np.abs(moving).min())
    if (moving.real > 1e-6 * size).any():  # growing: stop before everything else is invisible
        slowest = min(slowest, 4.0 / float(moving.real.max()))
    return float(f"{slowest:.2g}")


def locus_of(space: StateSpace, gains: Any = None) -> RootLocus:
    """Poles over gains of the only input and output."""
    check_single(space, "a root locus is of")
    zeros = zeros_of(space)
    if gains is None:
        values = _usual_gains(space)
    else:
        values = np.atleast_1d(np.asarray(gains, dtype=float))
        if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
            raise UsageError("gains must be finite numbers")
    poles = [poles_of(closed_by(space, values[0]))]
    for k in values[1:]:
        poles.append(_matched(poles[-1], poles_of(closed_by(space, k))))
    return RootLocus(values, np.array(poles), zeros, space)


def _matched(before: Array, poles: Array) -> Array:
    """Poles in the order of those before, by least total distance."""
    from scipy.optimize import linear_sum_assignment  # slow to load

    return np.asarray(poles[linear_sum_assignment(np.abs(before[:, None] - poles[None]))[1]])


def _usual_gains(space: StateSpace) -> Array:
    """Zero, then gains from where poles hardly move to where they move far, by their effect on A."""
    size = float(np.linalg.norm(space.A, 2)) or 1.0
    effect = float(np.linalg.norm(space.B @ space.C, 2))
    if not effect:
        raise UsageError(f"{space.inputs[0]} has no effect on {space.outputs[0]}")
    return np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 400) * size / effect])


def zeros_of(space: StateSpace) -> Array:
    """Finite transmission zeros: numbers s at which [A - s I, B; C, D] loses rank."""
    from scipy.linalg import eigvals  # slow to load

    n, m = space.B.shape
    left = np.block([[space.A, space.B], [space.C, space.D]])
    right = np.zeros((n + m, n + m))
    right[:n, :n] = np.eye(n)
    alpha, beta = eigvals(left, right, homogeneous_eigvals=True)
    size = float(np.linalg.norm(space.A, 2)) or 1.0
    finite = np.abs(beta) * FARTHEST * size > np.abs(alpha)
    found = alpha[finite] / beta[finite]
    found = np.where(np.abs(found) < 1e-9 * size, 0.0, found)
    return np.asarray(found[np.lexsort((-found.imag, found.real.round(9)))])
