"""Pictures of results: plots of a run, of many runs and of joint reactions, and animations."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from pendula.analysis.reactions.forces import ROUNDING, JointReaction, Reactions
from pendula.analysis.symmetry.attitude import shown_angles
from pendula.arguments import read_path
from pendula.errors import UsageError
from pendula.formats import format_for, formats, write_content
from pendula.library.lookup import named_model, shown
from pendula.present.notebook.figures import displayed
from pendula.present.notebook.pages import InlinePage
from pendula.present.pictures.blank import load_matplotlib
from pendula.present.pictures.plots import ForceSeries, RunSeries, plot_forces, plot_run
from pendula.present.pictures.registry import PLOTS, plot_name, plot_of
from pendula.present.pictures.scenery.scenes import Pose as Pose
from pendula.present.pictures.scenery.scenes import scene_of as scene_of
from pendula.present.player.page import animation_html, write_animation
from pendula.present.words.units import labelled
from pendula.simulation.ensemble import EnsembleRun
from pendula.simulation.trajectory import Trajectory
from pendula.storage.files import write_figure

Array = Any

PLAYER_HEIGHT = 640
"""of a player in a notebook, in pixels"""
FILMS = (".gif", ".mp4")


def plot(result: Any, path: str | Path | None = None, *, dpi: float | None = None, **options: Any) -> Any:
    """A figure of any result, or of a model; written to a file if a path is given.

    A notebook shows the figure if it is the value of a cell, once; nothing keeps it open.

    A run shows coordinates, speeds and errors; modes their shapes; a linear model or a spectrum its eigenvalues;
    equilibria the potential; a model the mechanism at its initial state. ``pendula.extend.register_plot`` adds others.

    Args:
        result: a result, a model, or the name of a library mechanism.
        path: the file to write; its suffix selects the format: .png, .svg, .pdf, ...
        dpi: dots per inch; default: 110, or those of the plot.
        options: of this kind of plot: ``numbers`` of modes, the coordinate ``of`` a section of a run, ...

    Raises:
        UsageError: there is no plot of such a result, or it has no such option.
        ModuleNotFoundError: Matplotlib is not installed (``pip install pendula[plot]``).

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=20)
        >>> len(plot(run).axes)
        3
    """
    if isinstance(result, str):
        result = named_model(result)
    draw = plot_of(result)
    try:
        inspect.signature(draw).bind(result, **options)
    except TypeError as error:
        raise UsageError(f"plot of a {type(result).__name__}: {error}") from None
    load_matplotlib()
    figure = PLOTS.checked(plot_name(result), draw(result, **options))
    if dpi is not None:
        figure.set_dpi(dpi)
    if path is not None:
        save_figure(figure, read_path(path, "path"))
    return displayed(figure)


def save_figure(figure: Any, path: Path) -> None:
    """Writes a figure in the format of the file suffix."""
    name = format_for("Figure", path)
    try:
        if name is not None:
            write_content(formats("Figure").checked(name, formats("Figure")[name](figure)), path)
        else:
            write_figure(figure, path)
    except ValueError:
        raise UsageError(f'a picture is a file such as plot.png, plot.svg or plot.pdf, found "{path}"') from None


def plot_trajectory(trajectory: Trajectory, *, quantities: Sequence[str] = ()) -> Any:
    """A figure of a run: coordinates, speeds and errors over time.

    Args:
        trajectory: the run.
        quantities: names of what to draw instead of coordinates and speeds: ``theta1_ddot``, ``kinetic``,
            ``lower.tip.x``, ...

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=20)
        >>> [ax.get_ylabel() for ax in plot_trajectory(run, quantities=["theta_ddot", "link.tip.y"]).axes][:2]
        ['acceleration [rad/s^2]', 'length [m]']
    """
    layout = trajectory.joint_layout
    coordinates, speeds = (tuple(quantities), ()) if quantities else (layout.coordinates, layout.speeds)
    system = trajectory.system
    trusted = trajectory.predictability.until if trajectory.predictability is not None else None
    shown = None if quantities else shown_angles(trajectory)
    angles, angle_units = ({}, {}) if shown is None else (shown.series, shown.units)
    coordinates = tuple(n for n in coordinates if shown is None or n not in shown.replaced)
    run = RunSeries(
        title=system.model.name,
        subtitle=(
            f"{system.formulation}, {trajectory.stepper} at {trajectory.tolerance:g}: "
            f"{trajectory.steps} steps, energy drift {trajectory.energy_drift:.2g} (at steps and inside some)"
            + ("" if trusted is None else f", predicts the motion up to about t = {trusted:.3g}")
        ),
        t=trajectory.t,
        coordinates={**{n: trajectory[n] for n in coordinates}, **angles},
        coordinate_units={**{n: trajectory.unit(n) for n in coordinates}, **angle_units},
        speeds={n: trajectory[n] for n in speeds},
        speed_units={n: trajectory.unit(n) for n in speeds},
        energy_error=np.abs(trajectory.energy_error),
        violation=trajectory.violation,
        time_unit=layout.time_unit,
    )
    return plot_run(run)


def plot_one_of_ensemble(run: EnsembleRun) -> Any:
    """A figure of one run of an ensemble: coordinates and speeds at the samples that it reached."""
    layout = run.end.layout
    return plot_run(
        RunSeries(
            title="one run of an ensemble",
            subtitle=f"{run.outcome}: {run.steps} steps, energy drift {run.energy_drift:.2g}",
            t=run.t,
            coordinates=dict(zip(layout.coordinates, run.q.T, strict=True)),
            coordinate_units=layout.units,
            speeds=dict(zip(layout.speeds, run.v.T, strict=True)),
            speed_units=layout.units,
            time_unit=layout.time_unit,
        )
    )


def plot_reaction(found: JointReaction) -> Any:
    """A figure of the reaction in one joint: components of force and torque in world axes."""
    units = found.units
    wrenches = {f"force [{units.force}]": found.force, f"torque [{units.torque}]": found.torque}
    floor = ROUNDING * float(np.nanmax(found.force_size, initial=0.0))
    panels = {
        label: {axis: y for axis, y in zip("xyz", values.T, strict=True) if np.nanmax(np.abs(y), initial=0.0) > floor}
        for label, values in wrenches.items()
    }
    series = ForceSeries(
        title=f"reaction in {found.joint}",
        subtitle="from the parent side on the child side, at the child side's point, in world axes",
        t=found.t,
        panels={label: drawn for label, drawn in panels.items() if drawn}
        or {next(iter(wrenches)): {"x": found.t * 0.0}},
        time_unit=units.time,
    )
    return plot_forces(series)


def plot_reactions(found: Reactions) -> Any:
    """A figure of the magnitudes of forces and torques by joint, then of drive forces and couplings, by unit."""
    units = found.units
    joints = [found[name] for name in found.joints]
    floor = ROUNDING * found.largest  # rounding errors relative to the largest are drawn as 0

    def sizes(what: str, least: float) -> dict[str, Array]:
        drawn = {j.joint: getattr(j, f"{what}_size") for j in joints}
        return {name: np.where(size < least, 0.0, size) for name, size in drawn.items()}

    panels: dict[str, dict[str, Array]] = {
        f"|force| [{units.force}]": sizes("force", floor),
        f"|torque| [{units.torque}]": sizes("torque", floor * found.length),
    }
    # Joints of a planar mechanism without friction transmit no torque: no panel for what is zero throughout.
    panels = {label: drawn for label, drawn in panels.items() if any(np.any(y) for y in drawn.values())}
    for name, values in found.motors.items():
        unit = found.motor_units[name]
        panels.setdefault(labelled("motor", unit), {})[name] = values
    for name, forces in found.couplings.items():
        for coordinate, values in forces.items():
            label = labelled("coupling", found.coupling_units[coordinate])
            panels.setdefault(label, {})[f"{name} on {coordinate}"] = values
    note = f"; {len(found.indeterminate)} components not determined, not drawn" if found.indeterminate else ""
    series = ForceSeries(
        title=f"{found.model}: reactions",
        subtitle=f"forces by {found.formulation}, motion by {found.simulated_by}{note}",
        t=found.t,
        panels=panels,
        time_unit=units.time,
    )
    return plot_forces(series)


@overload
def animate(
    run: Trajectory, path: None = None, *, signals: Sequence[str] = (), trace: str | None = None, speed: float = 1.0
) -> InlinePage: ...
@overload
def animate(
    run: Trajectory, path: str | Path, *, signals: Sequence[str] = (), trace: str | None = None, speed: float = 1.0
) -> Path: ...
def animate(
    run: Trajectory,
    path: str | Path | None = None,
    *,
    signals: Sequence[str] = (),
    trace: str | None = None,
    speed: float = 1.0,
) -> Path | InlinePage:
    """Writes a self-contained HTML page that plays the motion, and returns its path.

    Without a path it returns the page, which a notebook shows in a frame. The suffix .gif or .mp4 gives a film instead
    (``pip install pendula[video]``). A registered format of scenes writes files with its suffix.

    Args:
        run: a run returned by :func:`pendula.simulate`.
        path: the file to write; default: none is written.
        signals: quantities of the run whose chart is shown first: ``theta1``, ``theta1_ddot``, ``lower.tip.x``, ...
        trace: the point whose path is drawn, as body and point (``"lower.tip"``), or ``"none"``; default: a free end.
        speed: of the playback, relative to true time.

    Example:
        >>> import tempfile, pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     animate(run, f"{folder}/swing.html").name
        'swing.html'
    """
    if not isinstance(run, Trajectory):
        raise UsageError(f"animate takes a run, found {shown(run)}; use simulate(system, duration)")
    scene = scene_of(run, signals=signals, trace=trace, speed=speed)
    if path is None:
        return InlinePage(f"{run.system.model.name} in motion", animation_html(scene), PLAYER_HEIGHT)
    file = read_path(path, "path")
    name = format_for("Scene", file)
    if name is None and file.suffix.lower() in FILMS:
        from pendula.present.player.film import write_film

        return write_film(scene, path)
    if name is None:
        return write_animation(scene, path)
    return write_content(formats("Scene").checked(name, formats("Scene")[name](scene)), file)
