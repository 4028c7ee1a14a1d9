"""Animation of a mode: frames of the mechanism over one period, projected onto the constraints of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.modes.eigenmodes import OSCILLATION, Mode
from pendula.analysis.modes.modes import Modes
from pendula.analysis.symmetry.geometry import Geometry
from pendula.arguments import read_count, read_positive
from pendula.errors import LoopNotClosed, NotSupported, UsageError
from pendula.system.layout import Array, Layout, State
from pendula.system.loops.assembly import assemble
from pendula.system.parameters import typical_length
from pendula.system.system import System, has_gaps

FRAMES = 97
MOST_FRAMES = 5000
JUMP = 5.0
"""a step between frames beyond this multiple of the linear step means that the mechanism changed its assembly mode"""
SHOWN = 2.0
"""duration of one cycle for a mode without a period [time]"""
WITHOUT_ANGLES = 0.1
"""default amplitude if no angle moves, as a fraction of a typical length"""
WITH_ANGLES = 0.3
"""default amplitude of the angle that moves most [rad]"""
VISIBLE = 0.2
"""displacement of the point that moves most, as a fraction of the size of the mechanism, that is seen well"""
LARGEST = 8 / 3
"""largest amplitude chosen for that, relative to the usual default: 0.8 rad for an angle"""
SMALL = 0.05
"""amplitude at which displacements are measured, relative to the default"""
FEW_FRAMES = 9


@dataclass(frozen=True)
class ModeMotion:
    """Frames of a mechanism moving in one mode.

    Attributes:
        t: times of the frames, shape (k,).
        q: coordinates, shape (k, coordinates), on the constraints.
        amplitude: of ``coordinate`` [its unit].
        coordinate: the coordinate that moves most.
        gap: largest remaining constraint violation.
        mode: the mode.
        notes: remarks on what is shown.
        system, parameters: of the mechanism.
        rest: coordinates of the equilibrium, shape (coordinates,).
    """

    t: Array
    q: Array
    amplitude: float
    coordinate: str
    gap: float
    mode: Mode
    notes: tuple[str, ...]
    system: System
    parameters: Array
    rest: Array

    @property
    def layout(self) -> Layout:
        """Names and units of the columns of q."""
        return self.system.layout


def mode_motion(
    modes: Modes,
    number: int = 1,
    *,
    amplitude: float | None = None,
    frames: int = FRAMES,
) -> ModeMotion:
    """Frames of one period of a mode, each projected onto the constraints with the least change.

    A mode without a period (rigid-body, unstable, decaying) is shown as a slow oscillation along its shape; ``notes``
    says so.

    Args:
        modes: the modes of a linear model that knows its system.
        number: of the mode, from 1.
        amplitude: of the coordinate that moves most [rad, or length if no angle moves]; default 0.3 rad.
        frames: number of frames; the last equals the first.

    Raises:
        LoopNotClosed: the loops cannot close at this amplitude; use a smaller one.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> shown = mode_motion(pendula.modes(system, {"theta1": 0.0, "theta2": 0.0}), 1, amplitude=0.2)
        >>> shown.coordinate, round(float(shown.q[0, 1]), 12)
        ('theta2', 0.2)
    """
    linear, mode = modes.linear, modes[number]
    frames = read_count(frames, "frames", MOST_FRAMES, least=5)
    span = mode.period if mode.kind == OSCILLATION and mode.period is not None else SHOWN
    turns = np.exp(2j * np.pi * np.linspace(0.0, 1.0, frames))
    if linear.displacements and linear.system is not None:
        from pendula.analysis.linear.regular_chart import poses_along

        system = linear.system
        largest = int(np.argmax(np.abs(mode.scaled)))
        name, unit = linear.coordinates[largest], linear.units[linear.coordinates[largest]]
        length = typical_length(system, linear.at.parameters)
        size = amplitude or (WITH_ANGLES if "turn_" in name else WITHOUT_ANGLES * length)
        shape = np.asarray(mode.scaled) / mode.scaled[largest]
        q, gap = poses_along(linear, size * np.real(np.outer(turns, shape))), 0.0
        rest = poses_along(linear, np.zeros((1, len(shape))))[0]
    else:
        system = system_behind(linear)
        direction, largest = unit_direction(linear, mode.scaled)
        size = _amplitude(system, linear, largest, amplitude)
        moved = size * np.real(np.outer(turns, linear.N @ (linear.Z @ direction)))
        q, gap = _on_constraints(system, linear, moved)
        rest = linear.at.q
        name = system.layout.coordinates[largest]
        unit = system.layout.units[name]
    notes = [mode.description, f"shown with {name} moving by {size:.4g} {unit}".rstrip()]
    if mode.kind != OSCILLATION:
        notes.append("it has no period: shown as a slow oscillation along its shape")
    elif mode.damping_ratio:
        notes.append("shown without its decay")
    if linear.at.steady:
        notes.append("shown without the steady motion it is added to")
    t = np.linspace(0.0, span, frames)
    return ModeMotion(t, q, size, name, gap, mode, tuple(notes), system, linear.at.parameters, rest)


def visible_amplitude(modes: Modes, number: int = 1) -> float:
    """An amplitude for ``mode_motion`` at which the farthest moving point moves by a fifth of the mechanism's size.

    Modes scaled by their angles would look unequal: the fast modes of a chain turn its links much and move them
    little. Angles turn by at most 0.8 rad.

    Example:
        >>> import pendula
        >>> found = pendula.modes(pendula.compile_system(pendula.library.chain(links=8)), {})
        >>> 0.1 < visible_amplitude(found, 1) < visible_amplitude(found, 6) <= 0.8
        True
    """
    usual = mode_motion(modes, number, amplitude=None, frames=5).amplitude
    shown = mode_motion(modes, number, amplitude=SMALL * usual, frames=FEW_FRAMES)
    points, still = _points(shown, shown.q), _points(shown, shown.rest[None])
    moved = float(np.linalg.norm(points - still, axis=-1).max())
    size = float(np.linalg.norm(np.ptp(still[0], axis=0)))
    if moved <= SMALL**4 * size or not size:  # a spin about the body's own axis, or a single point at the origin
        return usual
    return usual * min(SMALL * VISIBLE * size / moved, LARGEST)


def _points(motion: ModeMotion, q: Array) -> Array:
    """Origins, mass centres and ends of all bodies in world axes, at every row of q; the ground's origin too."""
    system = motion.system
    geometry = Geometry(system.model, motion.layout.parameter_values(motion.parameters))
    R, r = system.poses(q, np.zeros(len(q)), parameters=motion.parameters)
    found = [np.zeros((len(q), 3))]
    for k, name in enumerate(motion.layout.bodies):
        places = {tuple(geometry.vector(p).tolist()) for p in system.model.body(name).named_points().values()}
        found += [r[:, k] + R[:, k] @ np.array(place) for place in sorted(places)]
    return np.stack(found, axis=1)


def unit_direction(linear: LinearModel, shape: Sequence[complex] | Array) -> tuple[Array, int]:
    """A direction scaled so that the coordinate that moves most moves by 1, and the index of that coordinate.

    Angles take precedence; if none moves, all coordinates are considered.
    """
    layout = linear.at.layout
    change = linear.N @ (linear.Z @ np.asarray(shape))
    sizes = np.abs(change)
    turning = np.array([kind == "angle" for kind in layout.coordinate_kinds])
    looked = np.where(turning, sizes, 0.0)
    if not looked.max(initial=0.0) > 1e-9 * sizes.max():
        looked = sizes
    largest = int(np.argmax(looked))
    return np.asarray(shape) / change[largest], largest


def _amplitude(system: System, linear: LinearModel, largest: int, given: float | None) -> float:
    if given is None:
        if system.layout.coordinate_kinds[largest] == "length":
            return WITHOUT_ANGLES * typical_length(system, linear.at.parameters)
        return WITH_ANGLES
    size = read_positive(given, "the amplitude")
    if size > np.pi and system.layout.coordinate_kinds[largest] == "angle":
        raise UsageError(f"the amplitude of an angle must be at most pi (in radians), found {given!r}; try 0.3")
    return size


def _on_constraints(system: System, linear: LinearModel, moved: Array) -> tuple[Array, float]:
    """Displaced poses, each projected onto the constraints, and the largest remaining gap."""
    at, gap = linear.at, 0.0
    rows: list[Array] = []
    for k, change in enumerate(moved):
        q = at.q + change
        if has_gaps(system):
            start = State(0.0, q, np.zeros(len(system.layout.speeds)), system.layout)
            try:
                found = assemble(system, start, parameters=at.parameters)
            except LoopNotClosed as error:
                raise LoopNotClosed(
                    f"the mode cannot be shown at this amplitude, where loops do not close: {error}\n"
                    "  Try: a smaller amplitude.",
                    last=q,
                    residual=error.residual,
                ) from None
            q, gap = found.state.q, max(gap, found.gap)
            if k and np.abs(q - rows[-1]).max() > JUMP * np.abs(change - moved[k - 1]).max() + 1e-6:
                raise LoopNotClosed(
                    "the mode cannot be shown at this amplitude: closing the loops moves the mechanism to another "
                    "pose.\n  Try: a smaller amplitude.",
                    last=q,
                    residual=found.gap,
                )
        rows.append(q)
    return np.array(rows), gap


def system_behind(linear: LinearModel) -> System:
    """The system of a linear model, whose coordinates must be those of the model."""
    if linear.displacements:
        raise NotSupported(refusals.SINGULAR_MODES, where=linear.displacements)
    if linear.system is None:
        raise UsageError("this needs the system of the linear model; linearize(system, ...) keeps it")
    return linear.system
