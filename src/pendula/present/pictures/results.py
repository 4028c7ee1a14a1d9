"""Pictures of results: plots of a run, of many runs and of joint reactions, and animations."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from pendula.analysis.chaos.divergence import Divergence
from pendula.analysis.chaos.horizon import Horizon
from pendula.analysis.chaos.lyapunov import Lyapunov
from pendula.analysis.modes.motion import ModeMotion
from pendula.analysis.reactions.forces import ROUNDING, Reactions
from pendula.analysis.symmetry.attitude import shown_angles
from pendula.errors import UsageError
from pendula.files import write_figure
from pendula.formats import format_for, formats, write_content
from pendula.library.lookup import named_model, shown
from pendula.model.bodies import GROUND
from pendula.model.bodies import Shape as ModelShape
from pendula.model.expressions.expression import parse
from pendula.model.forces.actions import Between
from pendula.model.joints import Side, TreeJoint
from pendula.model.joints.steps import Shift, Slide, Turn
from pendula.present.pictures import maps
from pendula.present.pictures.ensembles import SpreadSeries, plot_spread
from pendula.present.pictures.plots import ForceSeries, RunSeries, plot_forces, plot_run
from pendula.present.pictures.registry import plot_of
from pendula.present.player import shapes as sh
from pendula.present.player.page import write_animation
from pendula.present.player.scene import Scene, SceneBody, SceneLink
from pendula.simulation.ensemble import Ensemble
from pendula.simulation.events import Crossings
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Layout
from pendula.system.rotations import quaternion_of, turned
from pendula.system.system import System

Array = Any


def plot(result: Any, path: str | Path | None = None, **options: Any) -> Any:
    """A figure of any result, or of a model; written to a file if a path is given.

    A run shows coordinates, speeds and errors; modes their shapes; a linear model or a spectrum its eigenvalues;
    equilibria the potential; a model the mechanism at its initial state. ``pendula.extend.register_plot`` adds others.

    Args:
        result: a result, a model, or the name of a library mechanism.
        path: the file to write; its suffix selects the format: .png, .svg, .pdf, ...
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
    figure = draw(result, **options)
    if path is not None:
        save_figure(figure, Path(path))
    return figure


def save_figure(figure: Any, path: Path) -> None:
    """Writes a figure in the format of the file suffix."""
    name = format_for("Figure", path)
    try:
        if name is not None:
            write_content(formats("Figure")[name](figure), path)
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
            f"{trajectory.steps} steps, energy drift {trajectory.energy_drift:.2g}"
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


def plot_crossings(found: Crossings, *, of: str | None = None) -> Any:
    """A figure of a Poincare section: a coordinate and its speed at each occurrence of an event.

    Args:
        found: one of ``run.events``.
        of: the coordinate; default: the first that the event's expression does not contain.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("double-pendulum", 5.0, events=["theta1 = 0 rising"])
        >>> plot_crossings(run.events["theta1 = 0 rising"]).axes[0].get_xlabel()
        'theta2 [deg]'
    """
    layout = found.system.in_joints.layout
    usable = [n for n in layout.coordinates if f"{n}_dot" in layout.speeds]
    if not usable:
        raise UsageError("no coordinate of this mechanism has its own speed to draw a section with")
    chosen = of or next((n for n in usable if n not in found.event.parsed.names), usable[0])
    if chosen not in usable:
        raise UsageError(f'there is no coordinate "{chosen}" that has a speed; known are: {", ".join(usable)}')
    times = "1 crossing" if len(found) == 1 else f"{len(found)} crossings"
    series = maps.SectionSeries(
        title=f"{found.system.model.name}: section",
        subtitle=f"{found.event.name}: {times}",
        x=found[chosen],
        y=found[f"{chosen}_dot"],
        x_name=chosen,
        y_name=f"{chosen}_dot",
        x_unit=layout.units[chosen],
        y_unit=layout.units[f"{chosen}_dot"],
    )
    return maps.plot_section(series)


def plot_distance(found: Divergence | Horizon) -> Any:
    """A figure of the distance between two runs over time."""
    first = found.run if isinstance(found, Horizon) else found.first
    what = "horizon" if isinstance(found, Horizon) else "divergence"
    series = maps.GrowthSeries(
        title=f"{first.system.model.name}: {what}",
        subtitle=str(found),
        t=found.t,
        y=found.distance,
        label=f"largest distance [{found.unit}]",
        level=found.threshold,
        mark=found.time,
        time_unit=found.time_unit,
    )
    return maps.plot_growth(series)


def plot_exponent(found: Lyapunov) -> Any:
    """A figure of the running average of a Lyapunov exponent."""
    series = maps.GrowthSeries(
        title="largest Lyapunov exponent",
        subtitle=str(found),
        t=found.t,
        y=found.running,
        label=f"average up to t [1/{found.time_unit}]",
        level=found.exponent,
        logarithmic=False,
        time_unit=found.time_unit,
    )
    return maps.plot_growth(series)


def plot_ensemble(runs: Ensemble) -> Any:
    """A figure of the spread of the coordinates of many runs."""
    layout = runs.system.in_joints.layout
    known = runs.energy_drift[np.isfinite(runs.energy_drift)]
    drift = f", median energy drift {np.median(known):.2g}" if known.size else ""
    series = SpreadSeries(
        title=f"{runs.system.model.name}: {len(runs)} runs",
        subtitle=f"{runs.stepper} at {runs.tolerance:g}: {int(runs.ok.sum())} finished{drift}",
        t=runs.t,
        signals={n: runs[n] for n in layout.coordinates},
        units=layout.units,
        energy_drift=runs.energy_drift,
        time_unit=layout.time_unit,
    )
    return plot_spread(series)


def plot_reactions(found: Reactions) -> Any:
    """A figure of the magnitudes of forces and torques by joint, then of drive forces, by unit."""
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
    for name, values in found.motors.items():
        unit = found.motor_units[name]
        panels.setdefault(f"motor [{unit}]" if unit else "motor", {})[name] = values
    note = f"; {len(found.indeterminate)} components not determined, not drawn" if found.indeterminate else ""
    series = ForceSeries(
        title=f"{found.model}: reactions",
        subtitle=f"forces by {found.formulation}, motion by {found.simulated_by}{note}",
        t=found.t,
        panels=panels,
        time_unit=units.time,
    )
    return plot_forces(series)


def animate(run: Trajectory, path: str | Path) -> Path:
    """Writes a self-contained HTML page that plays the motion, and returns its path.

    A registered format of scenes writes files with its suffix.

    Args:
        run: a run returned by :func:`pendula.simulate`.
        path: the file to write.

    Example:
        >>> import tempfile, pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     animate(run, f"{folder}/swing.html").name
        'swing.html'
    """
    if not isinstance(run, Trajectory):
        raise UsageError(f"animate takes a run, found {shown(run)}; use simulate(system, duration)")
    scene, file = scene_of(run), Path(path)
    name = format_for("Scene", file)
    if name is None:
        return write_animation(scene, path)
    return write_content(formats("Scene")[name](scene), file)


@dataclass(frozen=True)
class Pose:
    """A mechanism in one pose, drawn like a motion with one frame."""

    system: System
    q: Array
    """coordinates, shape (1, coordinates)"""
    parameters: Array
    notes: tuple[str, ...] = ()

    @property
    def t(self) -> Array:
        """The only time, 0."""
        return np.zeros(1)

    @property
    def layout(self) -> Layout:
        """Names and units of the columns of q."""
        return self.system.layout


def scene_of(trajectory: Trajectory | ModeMotion | Pose) -> Scene:
    """The mechanism in motion, as shapes with poses over time."""
    return _SceneBuilder(trajectory).scene()


class _SceneBuilder:
    def __init__(self, trajectory: Trajectory | ModeMotion | Pose) -> None:
        self.run = trajectory
        self.model = trajectory.system.model
        self.t = trajectory.t
        names = trajectory.layout.parameters
        self.values = dict(zip(names, trajectory.parameters.tolist(), strict=True))
        self.R, self.r = trajectory.system.poses(trajectory.q, trajectory.t, parameters=trajectory.parameters)
        self.index = {name: k for k, name in enumerate(trajectory.layout.bodies)}

    def scene(self) -> Scene:
        """All bodies, pivots, rails, strings and springs."""
        gravity = np.array([parse(x).evaluate(self.values) for x in self.model.gravity])
        planar = bool(np.all(np.abs(self.R[..., 2, 2] - 1) < 1e-12)) and float(np.ptp(self.r[..., 2])) == 0.0
        if len(self.t) == 1 and gravity[2] != 0:
            planar = False  # a vertical pose of a spatial mechanism would be invisible from above
        bodies = [*self._ground()]
        for body in self.model.bodies:
            k = self.index[body.name]
            shapes = tuple(self._shape(s) for s in body.drawing())
            bodies.append(SceneBody(body.name, shapes, self.r[:, k], self.R[:, k]))
        up = tuple(-gravity / np.linalg.norm(gravity)) if gravity.any() and not planar else (0.0, 0.0, 1.0)
        return Scene(
            title=self.model.name,
            units=self.model.units,
            planar=planar,
            t=self.t,
            bodies=tuple(bodies),
            links=tuple(self._links()),
            up=(float(up[0]), float(up[1]), float(up[2])),
            notes=(*self._account(), *self.run.notes),
            series={"energy error": np.abs(self.run.energy_error)} if isinstance(self.run, Trajectory) else {},
        )

    def _account(self) -> list[str]:
        run = self.run
        if not isinstance(run, Trajectory):
            return []
        scale = f"{run.energy.scale:.4g} {self.model.unit_names.energy}"
        return [f"{run.outcome}; {run.steps} steps; energy drift {run.energy_drift:.2g} of {scale}"]

    def _numbers(self, vector: Any, t: float | None = None) -> tuple[float, float, float]:
        values = self.values if t is None else self.values | {"t": t}
        x, y, z = (parse(e).evaluate(values) for e in vector)
        return x, y, z

    def _shape(self, shape: ModelShape) -> sh.Shape:
        points = tuple(self._numbers(p) for p in shape.points)
        radius = parse(shape.radius).evaluate(self.values)
        match shape.kind:
            case "rod":
                return sh.Rod(points[0], points[-1], radius)
            case "point":
                return sh.Point(points[0], radius)
            case "sphere":
                return sh.Sphere(points[0], radius)
            case "disc":
                return sh.Disc(points[0], self._numbers(shape.normal), radius)
            case "ring":
                return sh.Ring(points[0], self._numbers(shape.normal), radius)
            case "box":
                return sh.Box(points[0], self._numbers(shape.size))
            case "polyline":
                return sh.Polyline(points)
            case kind:
                assert_never(kind)

    def _ground(self) -> list[SceneBody]:
        """Pivots and rails; a moving pivot is a separate body."""
        count = len(self.t)
        still: list[sh.Shape] = []
        moving: list[SceneBody] = []
        turned = np.broadcast_to(np.eye(3), (count, 3, 3))
        for joint in self.model.joints:
            for side in (joint.parent, joint.child):
                if side.body != GROUND or (isinstance(joint, TreeJoint) and len(joint.speeds()) == 6):
                    continue  # a free joint has no pivot
                if side.position is not None and any("t" in parse(x).names for x in side.position):
                    path = np.array([self._numbers(side.position, float(t)) for t in self.t])
                    moving.append(SceneBody(f"base of {joint.name}", (sh.Pivot(),), path, turned))
                elif isinstance(joint, TreeJoint) and (slide := _rail_of(joint)) is not None:
                    still.append(self._rail(joint, slide))
                else:
                    still.append(sh.Pivot(self._numbers(side.position) if side.position else (0.0, 0.0, 0.0)))
        ground = SceneBody(GROUND, tuple(still), np.zeros((count, 3)), turned)
        return [ground, *moving] if still else moving

    def _rail(self, joint: TreeJoint, slide: Slide) -> sh.Shape:
        """A line along which the body slides, slightly longer than the motion."""
        start = np.array(self._numbers(joint.parent.position) if joint.parent.position else (0.0, 0.0, 0.0))
        axis = np.array(self._numbers(slide.axis))
        if joint.parent.rotation is not None:
            axis = turned(quaternion_of(joint.parent.rotation, self.values), axis)
        axis /= np.linalg.norm(axis)
        along = (self.r[:, self.index[joint.child.body]] - start) @ axis
        low, high = float(along.min()), float(along.max())
        margin = 0.15 * (high - low) + 0.3
        ends = [start + axis * s for s in (low - margin, high + margin)]
        return sh.Polyline(tuple((float(p[0]), float(p[1]), float(p[2])) for p in ends))

    def _path(self, side: Side) -> Array:
        """World positions of a point over time."""
        if side.body == GROUND:
            vector = side.position or (0, 0, 0)
            if any("t" in parse(x).names for x in vector):
                return np.array([self._numbers(vector, float(t)) for t in self.t])
            return np.broadcast_to(np.array(self._numbers(vector)), (len(self.t), 3))
        place: Any = side.position or (0, 0, 0)
        if side.at is not None:
            place = self.model.body(side.body).named_points()[side.at]
        k = self.index[side.body]
        return self.r[:, k] + self.R[:, k] @ np.array(self._numbers(place))

    def _links(self) -> list[SceneLink]:
        links = []
        for force in self.model.forces:
            for action in force.actions() if force.drawn_as else ():
                if isinstance(action, Between):
                    links.append(SceneLink(force.drawn_as, self._path(action.start), self._path(action.end)))
        for joint in self.model.tree:
            if joint.parent.body == GROUND and any(isinstance(step, Shift) for step in joint.steps()):
                start, end = self._path(joint.parent), self.r[:, self.index[joint.child.body]]
                length = np.linalg.norm(end - start, axis=1)
                if np.ptp(length) < 1e-6 * length.max(initial=0.0):  # a string has constant length, a wire does not
                    links.append(SceneLink("string", start, end))
        return links


def _rail_of(joint: TreeJoint) -> Slide | None:
    """The only slide of a joint, if its direction is constant: all rotations before it are about the same axis."""
    steps = joint.steps()
    slides = [step for step in steps if isinstance(step, Slide)]
    if len(slides) != 1 or any(isinstance(step, Shift) for step in steps):
        return None
    before = steps[: steps.index(slides[0])]
    fixed = all(isinstance(step, Turn) and step.axis == slides[0].axis for step in before)
    return slides[0] if fixed else None
