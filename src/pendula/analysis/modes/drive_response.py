"""Small motion of a mechanism under its own drive: at the frequency of the drive, and over frequency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.driven.periods import find_period, symbolic
from pendula.analysis.equilibria.find import lowest_equilibrium
from pendula.analysis.linear.linearize import Point
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.motion_inputs import held_system, linearize_motions, motion_values
from pendula.analysis.modes.forced import Beat, forced_response
from pendula.analysis.modes.harmonic import HarmonicResponse, frequencies_around, harmonic_response
from pendula.analysis.modes.modes import modes
from pendula.errors import NotSupported, UsageError
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector
from pendula.words import readable

SAMPLES = 256
"""times in one period at which the prescribed motions are read"""
SMALLEST = 1e-9
"""parts of a motion below this fraction of the largest are rounding"""


@readable
@dataclass(frozen=True)
class DriveResponse:
    """Steady small motion under prescribed motions, with their own amplitudes.

    Attributes:
        response: over frequency, as if the drive ran faster or slower with the same amplitudes.
        frequency: of the drive [rad/time].
        there: the response at that frequency.
        beats: with the free motion, if the mechanism starts at rest; empty with damping or at resonance.
        others: largest amplitude of the drive that is not at its own frequency, as a fraction of its amplitude.

    Example:
        >>> import pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.01, rate=2.0)
        >>> found = drive_response(shaken)
        >>> found.frequency, round(float(abs(found.there["theta1"][0])), 6)  # alpha omega^2/(g - l omega^2)
        (2.0, 0.006885)
    """

    response: HarmonicResponse
    frequency: float
    there: HarmonicResponse
    beats: tuple[Beat, ...]
    others: float

    @property
    def linear(self) -> LinearModel:
        """The linear model, with the prescribed motions as inputs."""
        return self.response.linear

    def __str__(self) -> str:
        sizes = ", ".join(
            f"{name} {size:.6g} {self.linear.units.get(name, '')}".rstrip()
            for name, size in zip(self.linear.coordinates, self.there.amplitudes[0], strict=True)
        )
        return f"{self.response}\nat the drive's {self.frequency:.6g} {self.response.unit}: {sizes}"


def drive_response(system: AnySystem, at: Point = None, *, parameters: Parameters = None) -> DriveResponse:
    """How a mechanism with prescribed periodic motions responds while its motion is small.

    The motions are held at their means over one period, the mechanism is linearized there, and their first harmonics
    drive the linear model. A motion that only changes the stiffness, such as a pivot shaken along a hanging pendulum,
    gives no response at all: whether it makes rest unstable is for ``floquet`` to decide.

    Args:
        system: a system with prescribed motions, a model, or the name of a library mechanism.
        at: the equilibrium with the motions held; default: the lowest one.
        parameters: values by name; others have those of the model.

    Raises:
        UsageError: there is no prescribed motion, or no period was found.
        NotSupported: the motions have different phases, or the coordinates are singular at the equilibrium.

    Example:
        >>> import pendula
        >>> found = drive_response(pendula.library.driven_chain(links=2, amplitude=0.01, rate=3.0))
        >>> [round(r.frequency, 4) for r in found.response.resonances], found.beats[0].mode
        ([2.6801, 7.1887], 1)
    """
    given = symbolic(system_of(system, "drive_response").in_joints.system)
    if not given.drives:
        raise UsageError("the mechanism has no prescribed motion: no joint has a motion, and no point on ground moves")
    vector = parameter_vector(given, parameters)
    period = find_period(given, vector)
    times = np.arange(SAMPLES) * period / SAMPLES
    moved = motion_values(given, times, vector)
    middle = moved.mean(axis=0)
    middle[np.abs(middle) <= SMALLEST * np.abs(moved).max()] = 0.0
    mean = dict(zip((d.name for d in given.drives), middle.tolist(), strict=True))
    shares, amplitude, others = _first_harmonic(tuple(mean), moved)
    if at is None:
        at = dict(lowest_of(held_system(given, middle), vector))
    model = linearize_motions(given, at, hold=mean, parameters=vector)
    frequency = float(2 * np.pi / period)
    known = np.array([*modes(model).frequencies, frequency])
    response = harmonic_response(model, shares, frequencies_around(known), amplitude=amplitude)
    there = harmonic_response(model, shares, [frequency], amplitude=amplitude)
    forced = forced_response(model, shares, frequency, t=[0.0], amplitude=amplitude)
    return DriveResponse(response, frequency, there, forced.beats, others)


def lowest_of(system: AnySystem, vector: Array) -> Mapping[str, float]:
    """Coordinates of the equilibrium of least potential, by name.

    Raises:
        NotSupported: there is none.
    """
    found: Any = lowest_equilibrium(system, parameters=vector)
    if found is None:
        raise NotSupported(refusals.NO_REST)
    return {name: float(found[name]) for name in found.layout.coordinates}


def _first_harmonic(names: tuple[str, ...], moved: Array) -> tuple[dict[str, float], float, float]:
    """Shares of the motions in their common first harmonic, its amplitude, and what is left as a fraction of it."""
    wave = np.exp(-2j * np.pi * np.arange(len(moved)) / len(moved))
    sizes = 2 * (wave @ moved) / len(moved)
    largest = sizes[int(np.argmax(np.abs(sizes)))]
    amplitude = float(np.abs(largest))
    if amplitude <= SMALLEST * float(np.abs(moved).max(initial=0.0)):
        raise NotSupported(refusals.NO_OSCILLATION)
    shares = sizes / largest
    if np.abs(shares.imag).max() > SMALLEST:
        late = [n for n, x in zip(names, shares, strict=True) if abs(x.imag) > SMALLEST]
        raise NotSupported(refusals.PHASES, late=", ".join(late))
    left = moved - moved.mean(axis=0) - np.real(np.outer(np.conj(wave), sizes))
    kept = {n: float(x) for n, x in zip(names, shares.real, strict=True) if abs(x) > SMALLEST}
    return kept, amplitude, float(np.abs(left).max() / amplitude)
