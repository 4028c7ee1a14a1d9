"""Range of validity of a linear model: its motion compared with the nonlinear one for increasing amplitudes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.modes.eigenmodes import OSCILLATION, Mode
from pendula.analysis.modes.modes import modes, values_of
from pendula.analysis.modes.motion import system_behind, unit_direction
from pendula.analysis.modes.response import free_response
from pendula.arguments import read_numbers, read_positive
from pendula.errors import ComputationError, NotSupported, PendulaError, UsageError
from pendula.interrupts import whole
from pendula.library.lookup import shown
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.parameters import typical_length
from pendula.system.system import System
from pendula.words import readable

SAMPLES = 241
LIMITS = (0.01, 0.1)
AMPLITUDES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8)
"""default amplitudes [rad], or fractions of a typical length if no angle moves"""


@readable
@dataclass(frozen=True)
class LinearRange:
    """Error of a linear model over amplitude. ``str()`` gives a short table.

    Attributes:
        amplitudes: initial displacement of ``coordinate`` [its unit], ascending.
        errors: largest distance between the two motions, as a fraction of the largest linear displacement; nan if the
            nonlinear run failed or could not start.
        within: for 1 % and 10 % (keys 0.01, 0.1) the amplitude up to which the error stays below; None: even the
            smallest exceeds it; infinite: even the largest is within.
        coordinate, unit: the coordinate whose amplitude is stated, and its unit.
        duration: length of the comparison.
        direction: the initial displacement, in words.
        failures: by amplitude, why there is no error.
        time_unit: name of the unit of time.
        mechanism: its name, for titles.

    Example:
        >>> import pendula
        >>> linear = pendula.linearize("pendulum", {"theta": 0})
        >>> found = pendula.linear.linear_range(linear, amplitudes=[0.01, 0.5], duration=2.0)
        >>> bool(found.errors[0] < found.errors[1])
        True
    """

    amplitudes: Array
    errors: Array
    within: Mapping[float, float | None]
    coordinate: str
    unit: str
    duration: float
    direction: str
    failures: Mapping[float, str]
    time_unit: str
    mechanism: str = ""

    def __str__(self) -> str:
        head = f"linear against nonlinear motion over {self.duration:.4g} {self.time_unit}, started in {self.direction}"
        lines = [f"{self.coordinate} [{self.unit or '1'}]    error"]
        for a, e in zip(self.amplitudes.tolist(), self.errors.tolist(), strict=True):
            lines.append(f"{a:<12.4g} {f'{100 * e:.3g} %' if np.isfinite(e) else self.failures.get(a, 'failed')}")
        return "\n".join([head, *lines, *(self._limit(x) for x in self.within)])

    def _limit(self, share: float) -> str:
        found = self.within[share]
        what = f"error below {100 * share:g} %"
        if found is None:
            return f"{what}: not even at {self.amplitudes[0]:.4g} {self.unit}".rstrip()
        if np.isinf(found):
            return f"{what}: at all of these amplitudes"
        return f"{what}: up to {self.coordinate} = {found:.4g} {self.unit}".rstrip()


def linear_range(
    linear: LinearModel,
    direction: int | Mapping[str, float] | Sequence[float] | Array = 1,
    *,
    amplitudes: Sequence[float] | Array | None = None,
    duration: float | None = None,
    damped: bool = True,
    tol: float = 1e-10,
) -> LinearRange:
    """Range of validity of a linear model: the error of its motion over amplitude.

    For each amplitude the mechanism is displaced along a mode or a given direction and released (in a complex mode,
    with the speeds of that mode), and both motions are computed. Their distance is measured in the norm of the mass
    matrix, so that angles and lengths compare. The amplitudes at which the error passes 1 % and 10 % are found to
    0.1 %. Phase errors accumulate, so the range shrinks as the duration grows.

    Args:
        linear: a linear model returned by :func:`pendula.linearize`.
        direction: number of a mode, from 1; or a direction in the independent coordinates, by name or as an array.
        amplitudes: displacements of the coordinate that moves most [rad, or length if no angle moves].
        duration: length of the comparison; default: three periods of the mode, or of the slowest one.
        damped: whether to take the damped mode.
        tol: tolerance of the nonlinear run.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = linear_range(pendula.linearize(system, {"theta": 0.0}), 1, amplitudes=[0.01, 0.5])
        >>> round(found.within[0.01], 2)  # rad; the period grows by amplitude^2/16
        0.1
    """
    if not isinstance(linear, LinearModel):
        raise UsageError(f"linear_range takes a linear model, found {shown(linear)}; use linearize(system, at)")
    system = system_behind(linear)
    e, v, what, period = _direction(linear, direction, damped)
    scaled, largest = unit_direction(linear, e)
    k = int(np.argmax(np.abs(e)))
    compare = _Comparison(system, linear, scaled, v * (scaled[k] / e[k]), _duration(duration, period), tol)
    sizes = _amplitudes(system, linear, largest, amplitudes)
    failures: dict[float, str] = {}
    errors = []
    for size in sizes:
        try:
            errors.append(compare.error(float(size)))
        except PendulaError as error:
            failures[float(size)] = str(error).splitlines()[0]
            errors.append(np.nan)
    found = np.array(errors)
    name = system.layout.coordinates[largest]
    return LinearRange(
        amplitudes=sizes,
        errors=found,
        within={share: _within(compare, sizes, found, share) for share in LIMITS},
        coordinate=name,
        unit=system.layout.units[name],
        duration=compare.duration,
        direction=what,
        failures=failures,
        time_unit=system.layout.time_unit,
        mechanism=system.model.name,
    )


@dataclass(frozen=True)
class _Comparison:
    """The linear and the nonlinear motion from the same initial state."""

    system: System
    linear: LinearModel
    e: Array
    v: Array
    duration: float
    tol: float

    def error(self, size: float) -> float:
        """Largest distance between the two, as a fraction of the largest linear displacement."""
        from pendula.simulation.simulate import simulate  # slow to load

        system, linear, at = self.system, self.linear, self.linear.at
        t = np.linspace(0.0, self.duration, SAMPLES)
        expected = free_response(linear, size * self.e, size * self.v, t).e @ linear.Z.T
        begin = State(0.0, at.q + linear.N @ (linear.Z @ (size * self.e)), at.v + linear.Z @ (size * self.v), at.layout)
        begin = assemble(system, begin, parameters=at.parameters).state
        own = not system.inputs.in_time and np.array_equal(at.inputs, system.inputs.at(0.0, at.parameters))
        held = {} if own else dict(zip(at.layout.inputs, at.inputs.tolist(), strict=True))
        run = whole(
            simulate, system, self.duration, initial_state=begin, parameters=at.parameters, inputs=held or None,
            tol=self.tol, atol=self.tol * min(1.0, size), samples=t,
        )  # fmt: skip
        if not run.outcome.ok:
            raise ComputationError(f"{run.outcome}: {run.detail}")
        steady = np.outer(t, linear.N @ at.v)
        found = (run.q - at.q - steady) @ np.linalg.pinv(linear.N).T
        M = system.mass_matrix(at.q, parameters=at.parameters)
        return float(_length(found - expected, M).max() / _length(expected, M).max())


def _length(moves: Array, M: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", moves, M, moves), 0.0))


def _direction(linear: LinearModel, direction: Any, damped: bool) -> tuple[Array, Array, str, float | None]:
    """Initial displacement and speed, a description of them, and a period."""
    if np.any(linear.at.v) and linear.N.shape[0] != linear.N.shape[1]:
        raise NotSupported(refusals.RANGE_OF_SPINS)
    found = modes(linear, damped=damped)
    slowest = next((m.period for m in found.modes if m.period is not None), None)
    if isinstance(direction, (int, np.integer)) and not isinstance(direction, bool):
        mode: Mode = found[int(direction)]
        s = mode.eigenvalue if mode.kind == OSCILLATION else 0.0
        still = not np.iscomplexobj(mode.scaled) and not complex(s).real
        v = np.zeros(len(linear.M)) if still else np.real(s * mode.scaled)
        return np.real(mode.scaled), v, f"mode {mode.number}", mode.period or slowest
    e = values_of(linear, direction, "the direction")
    if e.ndim != 1 or not np.any(e):
        raise UsageError("the initial direction is zero")
    return e, np.zeros_like(e), "the direction given", slowest


def _duration(given: float | None, period: float | None) -> float:
    if given is None:
        if period is None:
            raise UsageError("no mode has a period: give the duration to compare over")
        return 3 * period
    return read_positive(given, "the duration")


def _amplitudes(system: System, linear: LinearModel, largest: int, given: Any) -> Array:
    if given is None:
        is_length = system.layout.coordinate_kinds[largest] == "length"
        return np.array(AMPLITUDES) * (typical_length(system, linear.at.parameters) if is_length else 1.0)
    sizes = np.unique(read_numbers(given, "amplitudes"))
    if sizes.ndim != 1 or not sizes.size or not np.all(np.isfinite(sizes)) or sizes[0] <= 0:
        raise UsageError(f"amplitudes must be positive numbers, found {given!r}")
    return sizes


def _within(compare: _Comparison, sizes: Array, errors: Array, share: float) -> float | None:
    """The amplitude at which the error first passes a limit, by root finding between two amplitudes."""
    beyond = np.flatnonzero(~(errors <= share))
    if not beyond.size:
        return float("inf")
    k = int(beyond[0])
    if k == 0:
        return None
    if not np.isfinite(errors[k]):
        return float(sizes[k - 1])

    from scipy import optimize  # slow to load

    def excess(log_size: float) -> float:
        return float(np.log(max(compare.error(float(np.exp(log_size))), 1e-300) / share))

    return float(np.exp(optimize.brentq(excess, np.log(sizes[k - 1]), np.log(sizes[k]), xtol=1e-3)))
