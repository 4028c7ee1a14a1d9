"""Steady-state response of a linear model to a harmonic input, over its frequency."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.motion_inputs import point_slopes
from pendula.analysis.modes.eigenmodes import DECAY, OSCILLATION, RIGID, Mode, all_names
from pendula.analysis.modes.modes import Modes, modes, values_of
from pendula.arguments import available, read_positive
from pendula.errors import UsageError
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.tables.tabular import Tabular
from pendula.words import readable

SMALL = 0.5
"""angle [rad] beyond which a note says that the motion is not small"""
SINGULAR = 20 * np.finfo(float).eps
"""a singular value of the dynamic stiffness up to this, times its size and relative to its terms, is zero: rounding"""


@readable
@dataclass(frozen=True)
class Resonance:
    """A resonance: a peak of the steady-state response.

    Attributes:
        frequency: of the input [rad/time]; for an undamped mode, its natural frequency.
        mode: number of the mode.
        infinite: whether the response is unbounded there.
        coordinate: the coordinate that moves most there, among those with the same unit.
        amplitude: of that coordinate, for the given amplitude of the input; infinite if unbounded.
        unit: of the amplitude.
        time_unit: name of the unit of time.

    Example:
        >>> import pendula
        >>> found = pendula.linear.harmonic_response("pendulum", {"theta": 1.0}, at={"theta": 0})
        >>> found.resonances[0].infinite, round(found.resonances[0].frequency, 3)
        (True, 3.836)
    """

    frequency: float
    mode: int
    infinite: bool
    coordinate: str
    amplitude: float
    unit: str
    time_unit: str

    def __str__(self) -> str:
        size = "without bound" if self.infinite else f"{self.amplitude:.4g} {self.unit}".rstrip()
        return f"mode {self.mode} at {self.frequency:.6g} rad/{self.time_unit}: {self.coordinate} {size}"


@readable
@dataclass(frozen=True)
class HarmonicResponse(Tabular):
    """Steady-state motion e(t) = Re(response exp(i omega t)) under a force Re(amplitude exp(i omega t)).

    An input a sin(omega t) gives |response| sin(omega t + phase).

    Attributes:
        frequencies: of the input [rad/time], shape (k,).
        response: complex response of the independent coordinates, shape (k, n); infinite (nan phase) if unbounded.
        everywhere: the same for all coordinates of the system.
        resonances: one peak for every mode that the input excites and that is not damped too strongly.
        input: name of the input.
        amplitude: of the input.
        unit: of the input's frequency.
        notes: further remarks.
        linear, modes: the model, and its undamped modes.
        moved: amplitude of every prescribed motion of the model.

    Example:
        >>> import pendula
        >>> found = pendula.linear.harmonic_response("pendulum", {"theta": 1.0}, [0.0], at={"theta": 0})
        >>> found.amplitudes.round(4).tolist()  # 1/K
        [[0.2039]]
    """

    frequencies: Array
    response: Array
    everywhere: Array
    resonances: tuple[Resonance, ...]
    input: str
    amplitude: float
    unit: str
    notes: tuple[str, ...]
    linear: LinearModel
    modes: Modes
    moved: Array = field(default_factory=lambda: np.zeros(0))

    def point(self, body: str, point: Any = "origin") -> Array:
        """Complex displacement of a point of a body over frequency, in world axes, shape (k, 3).

        Args:
            body: name of the body.
            point: one of its named points, or a place in body axes.

        Example:
            >>> import pendula
            >>> model = pendula.linear.linearize_motions(pendula.library.driven_chain(links=1, kind="point"))
            >>> found = pendula.linear.harmonic_response(model, "theta1__x", [1.0], amplitude=0.1)
            >>> found.point("link1", "tip")[0].real.round(6).tolist()  # 0.1 g/(g - l omega^2)
            [0.111351, 0.0, 0.0]
        """
        by_e, by_y = point_slopes(self.linear, body, point)
        return np.asarray(self.response @ by_e.T + by_y @ self.moved if by_y.size else self.response @ by_e.T)

    @property
    def amplitudes(self) -> Array:
        """Amplitude of every independent coordinate, shape (k, n)."""
        return np.abs(self.response)

    @property
    def phases(self) -> Array:
        """Phase relative to the input [rad], between -pi and pi (negative: lag); nan where unbounded."""
        with np.errstate(invalid="ignore"):
            found = np.angle(self.response)
        return np.where(np.isfinite(np.abs(self.response)), found, np.nan)

    def __getitem__(self, name: str) -> Array:
        """Complex response of a coordinate over frequency."""
        if name in self.linear.coordinates:
            return self.response[:, self.linear.coordinates.index(name)]
        names = all_names(self.linear)
        if name in names:
            return self.everywhere[:, names.index(name)]
        raise UsageError(f'there is no coordinate "{name}"; {available(self.linear.coordinates)}')

    def __str__(self) -> str:
        low, high = self.frequencies.min(), self.frequencies.max()
        lines = [
            f"steady response to {self.input} of amplitude {self.amplitude:.6g}, {low:.6g} to {high:.6g} {self.unit}"
        ]
        for r in self.resonances:
            if r.infinite:
                lines.append(
                    f"resonance with mode {r.mode} at {r.frequency:.6g} {self.unit}: unbounded, without damping"
                )
            else:
                size = f"{r.amplitude:.4g} {self.linear.units.get(r.coordinate, '')}".rstrip()
                lines.append(f"resonance with mode {r.mode} at {r.frequency:.6g} {self.unit}: {r.coordinate} {size}")
        return "\n".join([*lines, *(f"note: {n}" for n in self.notes)])


def harmonic_response(
    linear: LinearModel | AnySystem,
    input: str | Mapping[str, float] | Sequence[float] | Array,
    frequencies: Sequence[float] | Array | None = None,
    *,
    amplitude: float = 1.0,
    at: Any = None,
    inputs: Mapping[str, float] | None = None,
    parameters: Parameters = None,
) -> HarmonicResponse:
    """Frequency response: steady-state motion under a harmonic input, (K + i omega C - omega^2 M) e = F.

    Args:
        linear: a linear model; a system, a model or the name of a library mechanism is linearized at ``at``.
        input: name of an input, or of a prescribed motion of a model from ``linearize_motions``; several motions with
            their shares; or forces on the independent coordinates, by name or as an array.
        frequencies: of the input [rad/time]; default: a range around all natural frequencies.
        amplitude: of the input; the response is proportional to it.
        at, inputs, parameters: for a system, as for ``linearize``.

    Returns:
        HarmonicResponse. At an undamped natural frequency the response of the coordinates in that mode is infinite,
        and ``resonances`` says so.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.cart_pole())
        >>> found = harmonic_response(system, "F", [1.0, 2.0], at={"theta": 0.0})
        >>> found["x"].real.round(4)  # lags the input by half a period
        array([-0.8258, -0.199 ])
    """
    model = linear_of(linear, "harmonic_response", at, inputs, parameters)
    drive = excitation(model, input)
    amplitude = read_positive(amplitude, "the amplitude of the input")
    natural, actual = modes(model), modes(model, damped=True)
    omega = _frequencies(frequencies, natural)
    force = drive.scaled(amplitude)
    notes = _notes(actual, np.array([force(w) for w in (1.0, *omega[:3])]))
    rows, left = [], False
    for w in omega:
        row, unexcited = response_at(model, w, force(w))
        rows.append(row)
        left = left or unexcited
    if left:
        notes.append("at a natural frequency that the input does not excite, free motion may add to the response")
    response = np.array(rows)
    with np.errstate(invalid="ignore"):
        infinite = ~np.isfinite(response)
        everywhere = np.where(infinite, 0.0, response) @ (model.N @ model.Z).T + amplitude * (model.N @ drive.carried)
        reached = infinite.astype(float) @ np.abs(model.N @ model.Z).T > 0
        everywhere = np.where(reached, np.inf + 0j, everywhere)
    turning = [k for k, n in enumerate(model.coordinates) if model.units.get(n, "") == "rad"]
    if np.any(np.abs(response[:, turning]) > SMALL):
        notes.append(f"angles beyond {SMALL} rad are not small motion: the linear model is unreliable there")
    unit = f"rad/{model.at.layout.time_unit}"
    peaks = _resonances(model, actual, force)
    return HarmonicResponse(
        omega, response, everywhere, peaks, drive.name, amplitude, unit, tuple(notes), model, natural,
        moved=amplitude * drive.moved,
    )  # fmt: skip


@dataclass(frozen=True)
class Excitation:
    """A harmonic input: the force D + i omega D1 - omega^2 D2 that it exerts per unit, and what it moves directly.

    Attributes:
        name: in words.
        D, D1, D2: force per unit displacement, rate and acceleration of the input, shape (n,).
        carried: displacement of the coordinates per unit, ds = Z e + carried, shape (speeds,).
        moved: share of every prescribed motion in it, shape (motions,).
    """

    name: str
    D: Array
    D1: Array
    D2: Array
    carried: Array
    moved: Array

    def scaled(self, amplitude: float) -> Callable[[float], Array]:
        """The complex force for an amplitude, as a function of the frequency."""
        return lambda omega: amplitude * (self.D + 1j * omega * self.D1 - omega**2 * self.D2)


def excitation(linear: LinearModel, given: Any) -> Excitation:
    """The harmonic input that an argument denotes: an input or prescribed motion, several motions, or forces.

    Raises:
        UsageError: there is no such input, or loops do not allow such a motion.
    """
    motions, zero, still = linear.motions, np.zeros(len(linear.M)), np.zeros(len(linear.Z))
    known = () if motions is None else motions.names
    if isinstance(given, str) and given in linear.inputs:
        return Excitation(given, linear.F[:, linear.inputs.index(given)], zero, zero, still, np.zeros(len(known)))
    if isinstance(given, str) and given in known:
        given = {given: 1.0}
    if motions is not None and isinstance(given, Mapping) and given and set(given) <= set(known):
        share = np.array([float(given.get(name, 0.0)) for name in known])
        motions.refuse_open(share)
        name = " and ".join(n if given[n] == 1 else f"{given[n]:.6g} {n}" for n in given)
        D, D1, D2 = (x @ share for x in (motions.D, motions.D1, motions.D2))
        return Excitation(f"the motion {name}", D, D1, D2, motions.Y @ share, share)
    if isinstance(given, str):
        names = available((*linear.inputs, *known))
        hint = "" if known or linear.system is None or not linear.system.drives else "; linearize_motions adds motions"
        raise UsageError(f'there is no input "{given}"; {names}{hint}. Or give forces on coordinates by name')
    force = values_of(linear, given, "the force")
    if force.ndim != 1:
        raise UsageError(f"the force must be one number for every coordinate, found shape {force.shape}")
    acted = [n for n, f in zip(linear.coordinates, force, strict=True) if f]
    return Excitation(f"a force on {', '.join(acted) or 'nothing'}", force, zero, zero, still, np.zeros(len(known)))


def frequencies_around(known: Array) -> Array:
    """Frequencies over a range that contains all known ones, dense near each of them."""
    even = np.geomspace(0.1 * known.min(), 3 * known.max(), 600)
    near = (known[:, None] * (1 + np.outer([-1, 1], np.geomspace(1e-4, 0.1, 30)).ravel())).ravel()
    return np.unique(np.concatenate([even, near]))


def _frequencies(given: Any, natural: Modes) -> Array:
    if given is None:
        known = natural.frequencies
        if not known.size:
            raise UsageError("no mode has a frequency, so none can be chosen: give frequencies=[...]")
        return frequencies_around(known)
    omega = np.atleast_1d(np.asarray(given, dtype=float))
    if omega.ndim != 1 or not omega.size or not np.all(np.isfinite(omega)) or omega.min() < 0:
        raise UsageError(f"frequencies must be finite and not negative [rad/time], found {given!r}")
    return omega


def response_at(linear: LinearModel, omega: float, force: Array) -> tuple[Array, bool]:
    """The response at one frequency, and whether that is a natural frequency which the force does not excite."""
    matrix = linear.K + 1j * omega * linear.C - omega**2 * linear.M
    # Rows and columns by the size of what they add up, so that a stiff part does not hide a soft one.
    terms = np.abs(linear.K) + omega * np.abs(linear.C) + omega**2 * np.abs(linear.M)
    size = np.sqrt(np.diag(terms))
    size = np.where(size > 0.0, size, np.sqrt(np.abs(np.diag(linear.M))))
    left, values, right = np.linalg.svd(matrix / np.outer(size, size))
    lost = values <= SINGULAR * len(size) * float((terms / np.outer(size, size)).max())
    scaled = force / size
    excitation = left.conj().T @ scaled
    safe = np.where(lost, 1.0, values)
    found = right.conj().T @ np.where(lost, 0.0, excitation / safe) / size
    excited = lost & (np.abs(excitation) > 1e-9 * max(float(np.linalg.norm(scaled)), 1e-300))
    if excited.any():
        shapes = np.abs(right[excited])
        reached = (shapes > 1e-9 * shapes.max()).any(axis=0)
        found = np.where(reached, np.inf + 0j, found)
    return found, bool((lost & ~excited).any())


def _resonances(linear: LinearModel, actual: Modes, force: Callable[[float], Array]) -> tuple[Resonance, ...]:
    """Peaks near the natural frequencies of all oscillating modes that the force excites."""
    found: list[Resonance] = []
    for mode in actual.modes:
        peak = _peak(linear, mode, force) if mode.kind == OSCILLATION else None
        if peak is not None and not any(abs(peak.frequency - r.frequency) <= 1e-9 * peak.frequency for r in found):
            found.append(peak)
    return tuple(found)


def _peak(linear: LinearModel, mode: Mode, force: Callable[[float], Array]) -> Resonance | None:
    shape = np.abs(mode.shape)
    which = _most_of_first_unit(linear, shape)
    name, s = linear.coordinates[which], mode.eigenvalue
    centre, units = abs(s.imag), (linear.units[name], mode.time_unit)
    row, _ = response_at(linear, centre, force(centre))
    if s.real == 0:
        return Resonance(centre, mode.number, True, name, np.inf, *units) if not np.isfinite(row).all() else None
    if abs(s.real) > abs(s) / np.sqrt(2):
        return None  # damping too strong for a peak
    width = 3 * abs(s.real)

    from scipy import optimize  # slow to load

    def height(omega: float) -> float:
        return -float(np.abs(response_at(linear, omega, force(omega))[0][which]))

    low, high = max(centre - width, 0.0), centre + width
    best = optimize.minimize_scalar(height, bounds=(low, high), method="bounded", options={"xatol": 1e-10 * centre})
    edge = min(best.x - low, high - best.x) < 1e-6 * width
    if edge or best.fun == 0:
        return None  # hidden by a neighbouring peak, or not excited
    return Resonance(float(best.x), mode.number, False, name, -float(best.fun), *units)


def _most_of_first_unit(linear: LinearModel, shape: Array) -> int:
    """The coordinate that moves most, among those with the unit of the one with most kinetic energy."""
    carrier = int(np.argmax(shape * np.sqrt(np.abs(np.diag(linear.M)))))
    unit = linear.units.get(linear.coordinates[carrier], "")
    same = [k for k, n in enumerate(linear.coordinates) if linear.units.get(n, "") == unit]
    return max(same, key=lambda k: float(shape[k]))


def _notes(actual: Modes, force: Array) -> list[str]:
    notes = []
    if not np.any(force):
        notes.append("the input does no work on small motions about this equilibrium: nothing moves")
    growing = [m for m in actual.modes if m.kind not in (OSCILLATION, DECAY, RIGID)]
    if growing:
        notes.append("the equilibrium is unstable: the steady response exists, but motions diverge from it")
    elif any(m.kind == OSCILLATION and m.eigenvalue.real == 0 for m in actual.modes):
        notes.append("some modes are not damped: free motion does not decay and adds to the steady response")
    return notes
