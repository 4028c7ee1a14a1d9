"""Pictures of small motion: mode shapes, frequency response, and animated modes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.linear.linear_range import LinearRange
from pendula.analysis.modes.eigenmodes import Mode
from pendula.analysis.modes.forced import ForcedResponse
from pendula.analysis.modes.harmonic import HarmonicResponse
from pendula.analysis.modes.modes import Modes
from pendula.analysis.modes.motion import ModeMotion, mode_motion, visible_amplitude
from pendula.analysis.modes.response import FreeResponse
from pendula.analysis.modes.words import named_shape
from pendula.analysis.sensitivities import Sensitivities
from pendula.errors import LoopNotClosed, PendulaError, UsageError
from pendula.library.lookup import shown
from pendula.present.pictures.blank import blank_figure
from pendula.present.pictures.plots import (
    DPI,
    FEW,
    LEGEND_LINES,
    MUTED,
    dress,
    headline,
    line_colors,
    literally,
    name_lines,
    sheet,
    shortened,
    titled,
)
from pendula.present.pictures.scenery.frames import draw_body, draw_springs
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.present.player.page import write_animation
from pendula.present.player.scene import Scene, SceneBody
from pendula.present.words.units import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SHAPES = 6
CYCLE = (1.0, 6.0)
"""shortest and longest cycle [time] that is played at true speed"""
SHOWN_IN = 2.0
GHOST = "#c3c9d3"
STILL = 1e-6
"""entries of rotation matrices that differ by less are equal"""

MOST_ENVELOPES = 3
"""number of coordinates up to which envelopes are drawn"""


def animate_mode(
    modes: Modes,
    number: int,
    path: str | os.PathLike[str],
    *,
    amplitude: float | None = None,
    frames: int = 97,
) -> Path:
    """Writes a self-contained HTML page that plays a mode in a loop, and returns its path.

    Every frame is a pose of the mechanism itself, with loops closed. A cycle that is too fast or too slow to watch is
    played in two units of time, and the page states the ratio.

    Args:
        modes: the modes returned by :func:`pendula.modes`.
        number: of the mode, from 1.
        path: file to write.
        amplitude: of the coordinate that moves most [rad, or length if no angle moves]; default: such that the point
            that moves most moves by a fifth of the mechanism's size.
        frames: number of frames.

    Example:
        >>> import tempfile, pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> found = pendula.modes(system, {"theta1": 0.0, "theta2": 0.0})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     animate_mode(found, 2, f"{folder}/mode2.html", amplitude=0.2).name
        'mode2.html'
    """
    if not isinstance(modes, Modes):
        raise UsageError(f"animate_mode takes modes, found {shown(modes)}; use modes(system, at)")
    size = _fitting(modes, number) if amplitude is None else amplitude
    return write_animation(mode_scene(mode_motion(modes, number, amplitude=size, frames=frames)), path)


def _fitting(found: Modes, number: int) -> float:
    """An amplitude at which displacements are seen and loops close."""
    amplitude = visible_amplitude(found, number)
    for _ in range(6):
        try:
            return mode_motion(found, number, amplitude=amplitude, frames=9).amplitude
        except LoopNotClosed:
            amplitude /= 2
    return amplitude


def mode_scene(motion: ModeMotion) -> Scene:
    """The mechanism moving in a mode, as shapes with poses over time."""
    scene = replace(scene_of(motion), rest=_at_rest(motion))
    span, unit = float(motion.t[-1]), motion.layout.time_unit
    title = f"{motion.system.model.name}: mode {motion.mode.number}"
    if CYCLE[0] <= span <= CYCLE[1]:
        return replace(scene, title=title)
    stretch = SHOWN_IN / span
    pace = f"{stretch:.4g} times slower" if stretch > 1 else f"{1 / stretch:.4g} times faster"
    note = f"one cycle takes {span:.4g} {unit}; it is played {pace}"
    return replace(scene, title=title, t=scene.t * stretch, notes=(*scene.notes, note))


def _at_rest(motion: ModeMotion) -> Scene:
    return scene_of(Pose(motion.system, motion.rest[None], motion.parameters))


def plot_modes(found: Modes, *, numbers: Sequence[int] | None = None, stems: bool = False) -> Figure:
    """Figure of mode shapes, one panel for each: the deflected mechanism over the one at rest, in grey.

    Modes are scaled by their displacements: the point that moves most moves by a fifth of the mechanism's size.

    Args:
        found: the modes.
        numbers: which modes, from 1; default: the first six.
        stems: coordinates of the shapes as stems instead, as for a linear model without a mechanism.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> len(plot_modes(pendula.modes(system, {"theta1": 0.0, "theta2": 0.0})).axes)
        2
    """
    chosen = [m.number for m in found.modes[:MOST_SHAPES]] if numbers is None else list(numbers)
    if not chosen:
        raise UsageError("no modes were chosen to be drawn")
    shown = [found[number] for number in chosen]
    scenes = None if stems else _deflected(found, chosen)
    figure = _stems(found, shown) if scenes is None else _shapes(scenes)
    for ax, mode in zip(figure.axes, shown, strict=True):
        what = mode.kind if mode.damped_frequency is None else f"{mode.damped_frequency:.5g} rad/{found.time_unit}"
        literally(ax.set_title(f"mode {mode.number}: {what}", loc="left", fontsize=9.5, color=MUTED))
        dress(ax)
    headline(figure, titled(found.linear.system, "mode shapes"))
    return figure


def _deflected(found: Modes, numbers: Sequence[int]) -> list[Scene] | None:
    """Scenes of modes at a visible amplitude; None where the mechanism is unknown or cannot be deflected."""
    if found.linear.system is None:
        return None
    try:
        return [mode_scene(mode_motion(found, k, amplitude=_fitting(found, k), frames=9)) for k in numbers]
    except PendulaError:
        return None


def _shapes(scenes: Sequence[Scene]) -> Figure:
    """The mechanism at its largest deflection; a quarter of a period later paler, if it is not at rest then."""
    columns = min(3, len(scenes))
    rows = -(-len(scenes) // columns)
    figure = blank_figure(9.0, 0.8 + 3.1 * rows, dpi=DPI)
    for k, scene in enumerate(scenes):
        ax = figure.add_subplot(rows, columns, k + 1, aspect="equal", adjustable="datalim")
        assert scene.rest is not None  # mode_scene adds it
        for body in scene.rest.bodies:
            draw_body(ax, scene.rest, body, 0, GHOST, 1.0)
        moving = [b for b in scene.bodies if not b.is_ground]
        later = len(scene.t) // 4
        turned = any(np.abs(b.rotation[later] - r.rotation[0]).max() > STILL for b, r in _pairs(scene))
        for at, strength in ((later, 0.35), (0, 1.0)) if turned else ((0, 1.0),):
            for body, color in zip(moving, line_colors(len(moving)), strict=True):
                draw_body(ax, scene, body, at, color, strength)
            draw_springs(ax, scene, at, strength)
        literally(ax.set_xlabel(labelled("", scene.length_unit).strip()))
    return figure


def _pairs(scene: Scene) -> list[tuple[SceneBody, SceneBody]]:
    """Every body with the same one at rest."""
    return list(zip(scene.bodies, scene.rest.bodies, strict=True)) if scene.rest is not None else []


def _stems(found: Modes, shown: Sequence[Mode]) -> Figure:
    figure, axes = sheet(len(shown))
    for ax, mode in zip(axes, shown, strict=True):
        names, values, units = named_shape(mode, found.linear)
        _draw_shape(ax, names, values, units)
    _name_ticks(axes[-1], names)
    return figure


def _draw_shape(ax: Axes, names: Sequence[str], values: Any, units: dict[str, str]) -> None:
    """Real parts as dots and lines from zero; imaginary parts, if any, in a second colour."""
    places = np.arange(len(names))
    for part, color, what in ((np.real(values), FEW[0], "real"), (np.imag(values), FEW[1], "imaginary")):
        if what == "imaginary" and not np.iscomplexobj(values):
            continue
        if len(names) > LEGEND_LINES:
            ax.plot(places, part, color=color, lw=1.3)
        else:
            ax.vlines(places, 0, part, color=color, lw=1.6)
            ax.plot(places, part, "o", color=color, ms=5)
    ax.axhline(0.0, color=MUTED, lw=0.8)
    kinds = list(dict.fromkeys(units[n] for n in names))
    literally(ax.set_ylabel(f"[{', '.join(k or '1' for k in kinds)}]"))


def _name_ticks(ax: Axes, names: Sequence[str]) -> None:
    pick = np.unique(np.linspace(0, len(names) - 1, min(len(names), LEGEND_LINES)).astype(int))
    labels = [shortened(names[k], 14).replace("$", r"\$") for k in pick]
    ax.set_xticks(pick, labels=labels)


def plot_response(found: HarmonicResponse) -> Figure:
    """Figure of a frequency response: amplitudes by unit, and phases.

    Resonances are marked; an unbounded response is not drawn.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.cart_pole())
        >>> found = pendula.linear.harmonic_response(system, "F", at={"theta": 0.0})
        >>> len(plot_response(found).axes)  # x, theta, phases
        3
    """
    names = found.linear.coordinates
    kinds = list(dict.fromkeys(found.linear.units.get(n, "") for n in names))
    figure, axes = sheet(len(kinds) + 1)
    colors = dict(zip(names, line_colors(len(names)), strict=True))
    sizes = np.where(np.isfinite(found.amplitudes), found.amplitudes, np.nan)
    for ax, unit in zip(axes, kinds, strict=False):
        group = [k for k, n in enumerate(names) if found.linear.units.get(n, "") == unit]
        for k in group:
            positive = np.where(sizes[:, k] > 0, sizes[:, k], np.nan)
            ax.plot(found.frequencies, positive, color=colors[names[k]], lw=1.3)
        ax.set_yscale("log")
        literally(ax.set_ylabel(labelled("amplitude", unit)))
        name_lines(ax, [names[k] for k in group])
    for k, name in enumerate(names):
        axes[-1].plot(found.frequencies, np.degrees(found.phases[:, k]), color=colors[name], lw=1.2)
    axes[-1].set_ylabel("phase [deg]")
    axes[-1].set_yticks([-180, -90, 0, 90, 180])
    for ax in axes:
        for peak in found.resonances:
            ax.axvline(peak.frequency, color=MUTED, lw=0.9, ls="--" if peak.infinite else ":")
        dress(ax)
    literally(axes[-1].set_xlabel(f"frequency of the input [{found.unit}]"))
    title = f"steady response to {found.input}, amplitude {found.amplitude:.4g}"
    headline(figure, titled(found.linear.system, title))
    return figure


def plot_free_response(found: FreeResponse) -> Figure:
    """Figure of a free response over time: a panel for each unit."""
    return _small_motion(found, "free small motion")


def plot_forced_response(found: ForcedResponse) -> Figure:
    """Figure of a forced response over time: a panel for each unit; envelopes of few coordinates dashed.

    Example:
        >>> import pendula
        >>> found = pendula.linear.forced_response("pendulum", {"theta": 0.01}, 4.0, t=40.0, at={"theta": 0})
        >>> len(plot_forced_response(found).axes[0].lines)
        3
    """
    few = len(found.linear.coordinates) <= MOST_ENVELOPES and bool(found.signals)
    return _small_motion(found, f"small motion under {found.input}", envelopes=few)


def _small_motion(found: FreeResponse | ForcedResponse, title: str, *, envelopes: bool = False) -> Figure:
    names, units = found.linear.coordinates, found.linear.units
    kinds = list(dict.fromkeys(units.get(n, "") for n in names))
    figure, axes = sheet(len(kinds))
    for ax, unit in zip(axes, kinds, strict=True):
        group = [k for k, n in enumerate(names) if units.get(n, "") == unit]
        for k, color in zip(group, line_colors(len(group)), strict=True):
            ax.plot(found.t, found.e[:, k], color=color, lw=1.2)
            if envelopes and isinstance(found, ForcedResponse):
                for sign in (-1, 1):
                    ax.plot(found.t, sign * found.envelope(names[k]), color=color, lw=0.8, ls="--")
        literally(ax.set_ylabel(labelled("change", unit)))
        name_lines(ax, [names[k] for k in group])
        dress(ax)
    literally(axes[-1].set_xlabel(f"time [{found.linear.at.layout.time_unit}]"))
    headline(figure, titled(found.linear.system, title))
    return figure


def plot_sensitivities(found: Sensitivities) -> Figure:
    """Figure of derivatives of the coordinates over time: a panel for each unit, the first 12."""
    units: dict[str, list[tuple[str, str]]] = {}
    for by in found.names:
        for of in found.layout.coordinates:
            units.setdefault(found.unit(of, by), []).append((of, by))
    figure, axes = sheet(min(len(units), 12))
    for ax, (unit, group) in zip(axes, units.items(), strict=False):
        for pair, color in zip(group, line_colors(len(group)), strict=True):
            ax.plot(found.t, found[pair], color=color, lw=1.2)
        literally(ax.set_ylabel(f"[{unit}]"))
        name_lines(ax, [f"{of} by {by}" for of, by in group])
        dress(ax)
    literally(axes[-1].set_xlabel(f"time [{found.layout.time_unit}]"))
    headline(figure, titled(found.mechanism, "derivatives of the motion"))
    return figure


def plot_linear_range(found: LinearRange) -> Figure:
    """Figure of the error of a linear model over the amplitude of the motion."""
    figure, (ax,) = sheet(1)
    figure.set_size_inches(9.0, 4.2)
    drawn = np.isfinite(found.errors) & (found.errors > 0)
    ax.loglog(found.amplitudes[drawn], 100 * found.errors[drawn], "o-", color=FEW[0], lw=1.3, ms=5)
    for share, amplitude in found.within.items():
        ax.axhline(100 * share, color=MUTED, lw=0.9, ls=":")
        if amplitude is not None and np.isfinite(amplitude):
            ax.axvline(amplitude, color=MUTED, lw=0.9, ls="--")
    literally(ax.set_xlabel(f"amplitude of {found.coordinate} [{found.unit}]"))
    ax.set_ylabel("error [%]")
    dress(ax)
    title = titled(found.mechanism, f"error of the linear model ({found.direction})")
    headline(figure, title)
    return figure
