"""Motion of a linear model under a harmonic input that begins at t = 0: steady state, free motion, and their beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.motion_inputs import point_slopes
from pendula.analysis.modes.eigenmodes import OSCILLATION
from pendula.analysis.modes.harmonic import Excitation, excitation, response_at
from pendula.analysis.modes.modes import modes, values_of
from pendula.analysis.modes.response import free_response, times_of
from pendula.arguments import available, read_positive
from pendula.errors import UsageError
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.words import readable

CANCELLED = 1e3
"""a steady motion this many times larger than the whole cancels digits, as next to resonance"""
EXCITED = 1e-9
"""modes whose free motion is smaller than this fraction of the largest are not listed"""


@readable
@dataclass(frozen=True)
class Beat:
    """The beat of one mode with a harmonic input.

    Attributes:
        mode: number of the undamped mode.
        frequency: of the mode [rad/time].
        period: of the beat, 2 pi over the difference of the two frequencies; infinite at resonance.
        amplitudes: of the mode's free motion, by independent coordinate.
        steady: amplitudes of the steady motion, by independent coordinate.
        time_unit: name of the unit of time.

    Example:
        >>> import pendula
        >>> found = pendula.linear.forced_response("pendulum", {"theta": 0.01}, 4.0, t=1.0, at={"theta": 0})
        >>> round(found.beats[0].period, 3)  # 2 pi/(4 - 3.836)
        38.315
    """

    mode: int
    frequency: float
    period: float
    amplitudes: Array
    steady: Array
    time_unit: str

    @property
    def largest(self) -> Array:
        """Largest amplitude of each coordinate while the two motions are in phase."""
        return self.amplitudes + self.steady

    @property
    def least(self) -> Array:
        """Smallest amplitude of each coordinate while they are in opposition."""
        return np.abs(self.amplitudes - self.steady)

    def __str__(self) -> str:
        unit = self.time_unit
        return f"beat with mode {self.mode} ({self.frequency:.6g} rad/{unit}): period {self.period:.6g} {unit}"


@readable
@dataclass(frozen=True)
class ForcedResponse:
    """Motion of a linear model from an initial state under the input amplitude cos(frequency t).

    Attributes:
        t: times, shape (k,).
        e, v: changes of the independent coordinates and speeds, shape (k, n).
        steady: the steady motion alone, shape (k, n); nan at resonance without damping, where there is none.
        beats: of every excited mode with the input, strongest first; empty with damping, where they die out, and at
            resonance, where the motion grows in proportion to time.
        frequency, amplitude: of the input.
        linear: the linear model.
        drive: the input, as forces per unit displacement, rate and acceleration.
        signals: complex amplitudes by frequency, whose sum is the motion; see ``envelope``.

    Example:
        >>> import numpy as np, pendula
        >>> found = pendula.linear.forced_response("pendulum", {"theta": 0.01}, 4.0, t=[0.0, 1.0], at={"theta": 0})
        >>> found["theta"][0], len(found.beats)
        (np.float64(0.0), 1)
    """

    t: Array
    e: Array
    v: Array
    steady: Array
    beats: tuple[Beat, ...]
    frequency: float
    amplitude: float
    linear: LinearModel
    drive: Excitation
    signals: tuple[tuple[float, Array], ...]

    @property
    def input(self) -> str:
        """The input in words."""
        return self.drive.name

    def __getitem__(self, name: str) -> Array:
        """Change of an independent coordinate or speed over time."""
        for names, values in ((self.linear.coordinates, self.e), (self.linear.speeds, self.v)):
            if name in names:
                return values[:, names.index(name)]
        raise UsageError(f'there is no coordinate or speed "{name}"; {available(self.linear.coordinates)}')

    def envelope(self, name: str) -> Array:
        """The amplitude of a coordinate over time: the modulus of its complex motion, which the beats modulate.

        Raises:
            UsageError: there are no beats: the model is damped, at resonance, or does not oscillate.
        """
        if not self.signals:
            raise UsageError("there is no envelope: the model is damped, in resonance, or does not only oscillate")
        k = self.linear.coordinates.index(name) if name in self.linear.coordinates else -1
        if k < 0:
            raise UsageError(f'there is no coordinate "{name}"; {available(self.linear.coordinates)}')
        return np.asarray(np.abs(sum(x[k] * np.exp(1j * w * self.t) for w, x in self.signals)))

    def point(self, body: str, point: Any = "origin") -> Array:
        """Displacement of a point of a body over time, in world axes, shape (k, 3); the input's own motion included."""
        by_e, by_y = point_slopes(self.linear, body, point)
        wave = self.amplitude * np.cos(self.frequency * self.t)
        moved = np.outer(wave, by_y @ self.drive.moved) if by_y.size else 0.0
        return np.asarray(self.e @ by_e.T + moved)

    def __str__(self) -> str:
        unit = self.linear.at.layout.time_unit
        first = (
            f"{self.input}, amplitude {self.amplitude:.6g} at {self.frequency:.6g} rad/{unit}, "
            f"from t = {self.t[0]:.6g} to {self.t[-1]:.6g} {unit}"
        )
        return "\n".join([first, *(f"  {beat}" for beat in self.beats[:6])])


def forced_response(
    linear: LinearModel | AnySystem,
    input: str | Mapping[str, float] | Sequence[float] | Array,
    frequency: float,
    t: Sequence[float] | Array | float = 10.0,
    *,
    amplitude: float = 1.0,
    e0: Mapping[str, float] | Sequence[float] | Array | None = None,
    v0: Mapping[str, float] | Sequence[float] | Array | None = None,
    at: Any = None,
    inputs: Mapping[str, float] | None = None,
    parameters: Parameters = None,
) -> ForcedResponse:
    """Motion under the input amplitude cos(frequency t) from an initial state, by default from rest at the equilibrium.

    It is the steady motion plus the free motion that satisfies the initial state, exact for the linear model. Without
    damping the free motion stays, and the two beat: ``beats`` has their periods and amplitudes, ``envelope`` the slowly
    varying amplitude. Exactly at an undamped natural frequency the motion grows in proportion to time.

    Args:
        linear, input, amplitude, at, inputs, parameters: as for ``harmonic_response``.
        frequency: of the input [rad/time].
        t: times, or the end of 201 evenly spaced times from 0.
        e0, v0: initial changes of the independent coordinates and speeds; default: zero.

    Example:
        >>> import pendula
        >>> model = pendula.linear.linearize_motions(pendula.library.driven_chain(links=1, kind="point"))
        >>> found = forced_response(model, "theta1__x", 3.0, t=50.0, amplitude=0.01)
        >>> round(found.beats[0].period, 2)  # 2 pi/(sqrt(g/l) - 3)
        47.57
    """
    model = linear_of(linear, "forced_response", at, inputs, parameters)
    drive = excitation(model, input)
    if not isinstance(frequency, (int, float)) or not 0 <= frequency < np.inf:
        raise UsageError(f"the frequency must be finite and not negative [rad/time], found {frequency!r}")
    amplitude = read_positive(amplitude, "the amplitude of the input")
    n, times = len(model.M), times_of(t)
    start = [np.zeros(n) if x is None else values_of(model, x, what) for x, what in ((e0, "e"), (v0, "v"))]
    force = drive.scaled(amplitude)(frequency)
    response, _ = response_at(model, frequency, force)
    of = float(frequency), amplitude, model, drive
    if not np.isfinite(response).all():
        e, v = _by_exponential(model, force, frequency, start, times)
        return ForcedResponse(times, e, v, np.full_like(e, np.nan), (), *of, ())
    wave = np.exp(1j * frequency * times)
    steady = np.real(np.outer(wave, response))
    rate = np.real(np.outer(1j * frequency * wave, response))
    first = start[0] - response.real, start[1] - np.real(1j * frequency * response)
    free = free_response(model, *first, t=times)
    e, v = steady + free.e, rate + free.v
    if np.abs(response).max() > CANCELLED * np.abs(e).max():
        e, v = _by_exponential(model, force, frequency, start, times)
    beats, signals = _beats(model, response, frequency, *first)
    return ForcedResponse(times, e, v, steady, beats, *of, signals)


def _beats(
    model: LinearModel, response: Array, frequency: float, e: Array, v: Array
) -> tuple[tuple[Beat, ...], tuple[tuple[float, Array], ...]]:
    """Beats of undamped oscillations with the input, and complex amplitudes by frequency."""
    found = modes(model, damped=True)
    if found.orthogonality is None or any(mode.kind != OSCILLATION for mode in found.modes):
        return (), ()
    weight = model.M @ found.shapes
    beats, signals = [], [(frequency, response)]
    for mode, at, rate in zip(found.modes, e @ weight, v @ weight, strict=True):
        own = abs(mode.eigenvalue)
        signal = (at - 1j * rate / own) * mode.shape
        signals.append((own, signal))
        apart = abs(own - frequency)
        period = 2 * np.pi / apart if apart else np.inf
        beats.append(Beat(mode.number, own, period, np.abs(signal), np.abs(response), mode.time_unit))
    size = max((float(beat.amplitudes.max()) for beat in beats), default=0.0)
    kept = [beat for beat in beats if beat.amplitudes.max() > EXCITED * size]
    return tuple(sorted(kept, key=lambda beat: -float(beat.amplitudes.max()))), tuple(signals)


def _by_exponential(
    model: LinearModel, force: Array, frequency: float, start: list[Array], times: Array
) -> tuple[Array, Array]:
    """The motion by the matrix exponential of the model and an oscillator that drives it."""
    from scipy import linalg  # slow to load

    n = len(model.M)
    push = np.linalg.solve(model.M, np.column_stack([force.real, -force.imag]))
    A = np.zeros((2 * n + 2, 2 * n + 2))
    A[: 2 * n, : 2 * n], A[n : 2 * n, 2 * n :] = model.A, push
    A[2 * n, 2 * n + 1], A[2 * n + 1, 2 * n] = -frequency, frequency
    first = np.concatenate([*start, [1.0, 0.0]])
    states = np.array([linalg.expm(A * t) @ first for t in times])
    return states[:, :n], states[:, n : 2 * n]
