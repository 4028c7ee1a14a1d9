"""All analyses of one mechanism in one call; each part holds its result, or the reason why it is missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pendula.analysis import refusals
from pendula.analysis.court.agreement import Certificate, check
from pendula.analysis.driven.floquet import Floquet, floquet
from pendula.analysis.driven.periods import depends_on_time
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import Equilibria, find_equilibria
from pendula.analysis.linear.linearize import linearize
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import Spectrum, spectrum
from pendula.analysis.modes.drive_response import DriveResponse, drive_response
from pendula.analysis.modes.harmonic import HarmonicResponse, harmonic_response
from pendula.analysis.modes.modes import Modes, modes
from pendula.analysis.modes.motion import ModeMotion, mode_motion, visible_amplitude
from pendula.analysis.stability.verdict import Stability, stability
from pendula.arguments import read_positive
from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.errors import LoopNotClosed, NotAnEquilibrium, NotSupported, PendulaError, UsageError
from pendula.interrupts import whole
from pendula.model.model import Model
from pendula.refusals import Refusal
from pendula.simulation.defaults import TOLERANCE
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.system.build import compile_system
from pendula.system.first_use import expect_study
from pendula.system.system import System

MOST_DERIVED = 12
"""largest number of speeds for which the equations are derived"""
MOST_CHECKED = 24
"""largest number of speeds for which all formulations are compared"""
MOST_PROVEN = 3
"""largest number of speeds for which a proof is attempted that no equilibrium is missing"""
PROOF_SECONDS = 1.0
"""time limit of that proof [s]"""
MOST_JUDGED = 64
"""largest number of equilibria whose stability is determined"""
MOST_PLAYED = 6
"""largest number of modes that are animated"""
MOST_FOLLOWED = 6
"""largest number of speeds for which Floquet multipliers are computed"""
FOLLOWED_STEPS = 20_000
"""largest number of steps over a period for them"""
MOST_FORCED = 24
"""largest number of speeds for which responses to harmonic inputs are computed"""
MOST_INPUTS = 3
"""largest number of inputs whose responses are computed"""
MANY = 30
"""number of speeds above which the search for equilibria uses fewer starts"""
SAMPLES = 600
PERIODS = 5
"""default duration of the simulation, in periods of the slowest mode"""
FAST_PERIODS = 200
"""largest default duration, in periods of the fastest mode"""
OTHERWISE = 10.0
"""default duration if no mode oscillates [time unit]"""


@dataclass(frozen=True)
class Study:
    """Results of :func:`study`. If a part is None or empty, ``absent`` gives the reason under the same name.

    Attributes:
        model, system: the mechanism.
        duration: length of the simulation.
        equations: its equations of motion.
        certificate: how well all formulations agree.
        equilibria: all equilibria that were found.
        stabilities: the verdict on each of them, or a text that says why there is none.
        number: of the chosen equilibrium; 1 has the least potential energy.
        at: that equilibrium, to which linear, spectrum, modes and motions belong.
        linear, spectrum, modes: small motion about it.
        motions: animations of the first modes.
        floquet: Floquet multipliers, if the mechanism is driven periodically.
        driven: steady small motion under its prescribed motions.
        responses: steady small motion about the chosen equilibrium under each of its first inputs, with amplitude 1.
        run: a simulation from the initial state.
        absent: the reason why each missing part is missing.
        notes: remarks on how a part was computed, by part.
    """

    model: Model
    system: System
    duration: float
    number: int = 1
    equations: Equations | None = None
    certificate: Certificate | None = None
    equilibria: Equilibria | None = None
    stabilities: tuple[Stability | str, ...] = ()
    at: Equilibrium | None = None
    linear: LinearModel | None = None
    spectrum: Spectrum | None = None
    modes: Modes | None = None
    motions: tuple[ModeMotion, ...] = ()
    floquet: Floquet | None = None
    driven: DriveResponse | None = None
    responses: tuple[HarmonicResponse, ...] = ()
    run: Trajectory | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        found = [name for name in _PARTS if name not in self.absent]
        missing = "".join(f"\n  no {name}: {reason}" for name, reason in self.absent.items())
        return f"{self.model.name}: {', '.join(found)}{missing}"


_PARTS = (
    "equations", "certificate", "equilibria", "spectrum", "modes", "motions", "floquet", "driven", "responses", "run",
)  # fmt: skip


def study(
    model: Model,
    *,
    at: int = 1,
    duration: float | None = None,
    initial_state: Mapping[str, float] | None = None,
    tol: float = TOLERANCE,
    on_progress: Callable[[str], None] | None = None,
) -> Study:
    """Derives and checks the equations of a mechanism, finds its equilibria, linearizes about one, and simulates.

    A part that does not apply (equilibria of a driven mechanism, equations of a hundred bodies) is omitted, and
    ``absent`` says why.

    Args:
        model: the mechanism.
        at: number of the equilibrium to linearize about, in the order of ``find_equilibria``: 1 has least potential.
        duration: length of the simulation [time unit]; default: five periods of the slowest mode.
        initial_state: coordinates and speeds at its start that differ from those of the model.
        tol: its tolerance.
        on_progress: called with the name of each part before it is computed.

    Raises:
        ModelError: the model cannot be compiled.
        UsageError: there is no equilibrium of that number.

    Example:
        >>> import pendula
        >>> found = study(pendula.library.pendulum(), duration=1.0)
        >>> len(found.equilibria), found.certificate.passed
        (2, True)
        >>> round(float(found.modes.frequencies[0]), 4)  # a rod: sqrt(3 g / (2 l))
        3.836
    """
    tell = on_progress or (lambda what: None)
    length = OTHERWISE if duration is None else read_positive(duration, "the duration")
    tell("compiling")
    expect_study()
    made = _Maker(Study(model, compile_system(model), length, at), tell)
    made.study.system.in_joints.state(initial_state)  # refuses unknown names before anything is computed
    made.add("equations", "equations of motion", _equations)
    made.add("certificate", "formulations against each other", _certificate)
    made.add("equilibria", "equilibria", _equilibria)
    _check_number(made.study)
    made.add("stabilities", "stability", _stabilities)
    made.add("linear", "small motion", _linear)
    made.add("spectrum", "eigenvalues", lambda s: spectrum(_needed(s.linear, refusals.NOTHING_TO_LINEARIZE)))
    made.add("modes", "modes", _modes)
    made.add("motions", "modes in motion", _motions)
    made.add("floquet", "periodic driving", _floquet)
    made.add("driven", "response to the drive", _driven)
    made.add("responses", "responses to inputs", _responses)
    if duration is None:
        made.study = replace(made.study, duration=fitting_duration(made.study.modes))
    made.add(
        "run",
        "simulation",
        lambda s: simulate(s.system, s.duration, initial_state=initial_state or None, tol=tol, samples=SAMPLES),
    )
    return made.study


def fitting_duration(found: Modes | None) -> float:
    """A length for a simulation that shows the motion: five periods of the slowest mode, rounded to two digits."""
    periods = [mode.period for mode in found.modes if mode.period] if found is not None else []
    if not periods:
        return OTHERWISE
    return float(f"{min(PERIODS * max(periods), FAST_PERIODS * min(periods)):.2g}")


class _Maker:
    """Fills a study part by part; an error becomes the reason why a part is missing."""

    def __init__(self, start: Study, tell: Callable[[str], None]) -> None:
        self.study, self.tell = start, tell

    def add(self, part: str, words: str, make: Callable[[Study], Any]) -> None:
        self.tell(words)
        try:
            made = whole(make, self.study)
        except PendulaError as error:
            self.study = replace(self.study, absent={**self.study.absent, part: str(error)})
            return
        changes = made if isinstance(made, dict) else {part: made}
        notes = {**self.study.notes, **changes.pop("notes", {})}
        self.study = replace(self.study, notes=notes, **changes)


def _check_number(s: Study) -> None:
    """Raises UsageError if there is no equilibrium with the requested number."""
    count = 0 if s.equilibria is None else len(s.equilibria)
    if s.number != 1 and not 1 <= s.number <= count:
        known = f"there are {count}" if count else s.absent.get("equilibria", "there is none").splitlines()[0]
        raise UsageError(f"there is no equilibrium {s.number}: {known}")


def _needed(value: Any, refusal: Refusal) -> Any:
    if value is None:
        raise NotSupported(refusal)
    return value


def _equations(s: Study) -> Equations:
    speeds = len(s.model.speeds)
    if speeds > MOST_DERIVED:
        raise NotSupported(refusals.LONG_REPORT, speeds=speeds)
    return derive(s.model, "lagrange")


def _certificate(s: Study) -> Certificate:
    speeds = len(s.model.speeds)
    if speeds > MOST_CHECKED:
        raise NotSupported(refusals.LONG_CHECK, speeds=speeds)
    return check(s.model)


def _equilibria(s: Study) -> Equilibria:
    speeds = len(s.model.speeds)
    prove = PROOF_SECONDS if speeds <= MOST_PROVEN else None
    return find_equilibria(s.system, starts=64 if speeds > MANY else None, prove=prove)


def _stabilities(s: Study) -> tuple[Stability | str, ...]:
    found: list[Stability | str] = []
    for one in _needed(s.equilibria, refusals.NOTHING_TO_JUDGE).all[:MOST_JUDGED]:
        try:
            found.append(stability(s.system, one))
        except PendulaError as error:
            found.append(str(error))
    return tuple(found)


def _linear(s: Study) -> dict[str, Any]:
    """The linear model about the chosen equilibrium."""
    found = _needed(s.equilibria, refusals.NOTHING_TO_LINEARIZE)
    if not found.all:
        raise NotSupported(refusals.REPORT_AT_REST)
    at = found.all[s.number - 1]
    return {"linear": linearize(s.system, at), "at": at}


def _modes(s: Study) -> Modes:
    return modes(_needed(s.linear, refusals.NOTHING_OSCILLATES))


def _motions(s: Study) -> dict[str, Any]:
    found, notes = _needed(s.modes, refusals.NOTHING_TO_SHOW), {}
    if found.linear.chart:
        notes["motions"] = "drawn by displacements of bodies, because the joint coordinates are singular here"
    motions = [_motion(found, mode.number) for mode in found.modes[:MOST_PLAYED]]
    return {"motions": tuple(motions), "notes": notes}


def _motion(found: Modes, number: int) -> ModeMotion:
    """An animated mode, scaled by its displacements; the amplitude is halved until the loops close."""
    amplitude = visible_amplitude(found, number)
    for _ in range(6):
        try:
            return mode_motion(found, number, amplitude=amplitude)
        except LoopNotClosed:
            amplitude /= 2
    return mode_motion(found, number, amplitude=amplitude)


def _floquet(s: Study) -> Floquet:
    """Multipliers at the equilibrium next to the initial state, or of a periodic motion near it."""
    if s.equilibria is not None or not depends_on_time(s.system):
        raise NotSupported(refusals.REPORT_OF_TIME)
    if len(s.model.speeds) > MOST_FOLLOWED:
        raise NotSupported(refusals.LONG_FLOQUET, speeds=len(s.model.speeds))
    at = _next_to_start(s.system)
    try:
        return floquet(s.system, at=at, max_steps=FOLLOWED_STEPS)
    except UsageError:
        return floquet(s.system, at=at, close=True, max_steps=FOLLOWED_STEPS)


def _driven(s: Study) -> DriveResponse:
    """Steady motion about the pose next to the initial state, or about the lowest equilibrium with motions held."""
    if not s.system.drives:
        raise NotSupported(refusals.REPORT_OF_DRIVE)
    _check_forced(s)
    try:
        return drive_response(s.system, _next_to_start(s.system))
    except NotAnEquilibrium:
        return drive_response(s.system)


def _responses(s: Study) -> tuple[HarmonicResponse, ...]:
    if not s.model.inputs:
        raise NotSupported(refusals.REPORT_OF_INPUTS)
    linear = _needed(s.linear, refusals.NOTHING_TO_LINEARIZE)
    _check_forced(s)
    return tuple(harmonic_response(linear, name) for name in linear.inputs[:MOST_INPUTS])


def _check_forced(s: Study) -> None:
    if len(s.model.speeds) > MOST_FORCED:
        raise NotSupported(refusals.LONG_RESPONSES, speeds=len(s.model.speeds))


def _next_to_start(system: System) -> dict[str, float]:
    """The initial pose with angles rounded to half turns, where a pendulum stays if its pivot moves vertically."""
    layout, start = system.in_joints.layout, system.in_joints.initial_state()
    angles = [n for n, kind in zip(layout.coordinates, layout.coordinate_kinds, strict=True) if kind == "angle"]
    return {n: math.pi * round(start[n] / math.pi) for n in angles}
