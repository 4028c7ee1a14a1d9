"""Scenes: bodies with shapes, their poses over time, and the links between them.

A scene holds numbers only. :mod:`pendula.present.pictures.results` makes it from a trajectory, and
:mod:`pendula.present.player.page` writes it. Shapes (:mod:`pendula.present.player.shapes`) are in body axes; a pose is
the body origin in world axes (``position``) and the rotation matrix from body to world axes (``rotation``, R_WB). The
body named ``"ground"`` does not move.

Constructors check array sizes, finite values, proper rotations and increasing times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pendula.present.player.shapes import Array, SceneError, Shape, Vector, to_vector
from pendula.present.words.units import labelled

GROUND = "ground"
LINK_KINDS = ("spring", "damper", "string")
# Integrators keep rotations orthogonal to 1e-9 or better; a larger error than this is a mistake.
ROTATION_TOLERANCE = 1e-6

Ends = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Positions and rotations of two bodies."""


def samples(value: Any, shape: tuple[int | None, ...], what: str) -> Array:
    """A read-only float copy of ``value`` with the given shape (None: any length).

    Raises:
        SceneError: it is not an array of finite numbers of this shape; the message names ``what``.
    """
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise SceneError(f"{what} must be an array of numbers") from None
    expected = ", ".join("k" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise SceneError(f"{what} must have shape ({expected}), got {array.shape}")
    finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    if not finite.all():
        first = int(np.argmin(finite))
        raise SceneError(
            f"{what} is not finite (nan or inf) in {int((~finite).sum())} of {array.shape[0]} samples, "
            f"first in sample {first}: cut the run before it"
        )
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class SceneBody:
    """A named body, its shapes (body axes), and its pose at every sample.

    Attributes:
        position: (k, 3) body origin in world axes [length].
        rotation: (k, 3, 3) R_WB, body axes to world axes.
    """

    name: str
    shapes: tuple[Shape, ...]
    position: Array
    rotation: Array

    def __post_init__(self) -> None:
        what = f'body "{self.name}"'
        object.__setattr__(self, "shapes", tuple(self.shapes))
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise SceneError(f"{what}: {shape!r} is not a shape")
        position = samples(self.position, (None, 3), f"{what}: position")
        rotation = samples(self.rotation, (position.shape[0], 3, 3), f"{what}: rotation")
        product = rotation @ rotation.transpose(0, 2, 1)
        error = np.abs(product - np.eye(3)).max(axis=(1, 2), initial=0.0)
        bad = (error > ROTATION_TOLERANCE) | (np.linalg.det(rotation) < 0)
        if bad.any():
            first = int(np.argmax(bad))
            raise SceneError(
                f"{what}: rotation in sample {first} is not a rotation matrix "
                f"(R R^T differs from 1 by {error[first]:.3g}, tolerance {ROTATION_TOLERANCE:g}; "
                f"determinant {np.linalg.det(rotation[first]):.3g})"
            )
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "rotation", rotation)

    @classmethod
    def fixed(cls, shapes: Sequence[Shape], samples: int, *, name: str = GROUND) -> SceneBody:
        """A body that stays at the world origin, by default the ground."""
        return cls(name, tuple(shapes), np.zeros((samples, 3)), np.tile(np.eye(3), (samples, 1, 1)))

    @property
    def is_ground(self) -> bool:
        """Whether this is the body that never moves."""
        return self.name == GROUND


@dataclass(frozen=True, eq=False)
class SceneLink:
    """A massless element between two points in world axes: ``start`` and ``end`` are (k, 3) [length]."""

    kind: str
    start: Array
    end: Array

    def __post_init__(self) -> None:
        if self.kind not in LINK_KINDS:
            raise SceneError(f"link kind {self.kind!r} is not known; choose one of {', '.join(LINK_KINDS)}")
        start = samples(self.start, (None, 3), f"{self.kind}: start")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", samples(self.end, (start.shape[0], 3), f"{self.kind}: end"))


@dataclass(frozen=True)
class SceneSpiral:
    """A torsion spring around a hinge: its outer end turns with one body, its inner end with another.

    Attributes:
        outer, inner: indices of the bodies.
        at: the hinge, in axes of the inner body [length].
        axis: of the rotation, in axes of the outer body.
        outer_arm: from the hinge to the outer end, in axes of the outer body.
        inner_arm: the same for the inner end and body.
    """

    outer: int
    inner: int
    at: Vector
    axis: Vector
    outer_arm: Vector
    inner_arm: Vector

    def ends(self, bodies: Sequence[SceneBody], k: int = 0) -> Ends:
        """Positions and rotations of the outer and the inner body at sample k."""
        outer, inner = bodies[self.outer], bodies[self.inner]
        return (outer.position[k], outer.rotation[k]), (inner.position[k], inner.rotation[k])


@dataclass(frozen=True, eq=False)
class Signals:
    """Lines of one chart over the samples: what they are, their unit, and (k,) values by name."""

    name: str
    unit: str
    lines: Mapping[str, Array]

    @property
    def label(self) -> str:
        """Name and unit, as on an axis."""
        return labelled(self.name, self.unit)


@dataclass(frozen=True, eq=False)
class SceneEvent:
    """An event of a run: its name and the times at which it occurred."""

    name: str
    t: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", samples(self.t, (None,), f'times of event "{self.name}"'))


@dataclass(frozen=True, eq=False)
class Scene:
    """The content of the player.

    Attributes:
        title: headline of the page.
        units: label such as ``"m-kg-s"``: the first part names lengths, the last one times.
        planar: motion in the x-y plane seen along -z, y upwards; every body rotates about z only.
        t: (k,) sample times, increasing [time].
        bodies: in drawing order; the one named "ground" must not move.
        links: springs, dampers and strings.
        spirals: torsion springs around hinges.
        up: direction drawn upwards in a spatial scene.
        notes: sentences shown below the picture.
        signals: charts of smooth signals, the first one shown first.
        series: further named (k,) signals, one to a chart, kept with every spike.
        events: marked on the time axis, on charts and on the traced path.
        trace: (body name, point in body axes) whose path is shown; by default the free end of the last body.
        points: (name, body name, point in body axes) to choose the traced point from; by default ends of the shapes.
        traced: whether a path is shown at first.
        rest: the same bodies in one pose, drawn in grey behind the moving ones.
        speed: of the playback at first, relative to true time.
    """

    title: str
    units: str
    planar: bool
    t: Array
    bodies: tuple[SceneBody, ...]
    links: tuple[SceneLink, ...] = ()
    spirals: tuple[SceneSpiral, ...] = ()
    up: Vector = (0.0, 0.0, 1.0)
    notes: tuple[str, ...] = ()
    signals: tuple[Signals, ...] = ()
    series: Mapping[str, Array] = field(default_factory=dict)
    events: tuple[SceneEvent, ...] = ()
    trace: tuple[str, Vector] | None = None
    points: tuple[tuple[str, str, Vector], ...] = ()
    traced: bool = True
    rest: Scene | None = None
    speed: float = 1.0

    def __post_init__(self) -> None:
        t = samples(self.t, (None,), "t")
        if t.size == 0:
            raise SceneError("t is empty: a scene needs at least one sample")
        if (np.diff(t) <= 0).any():
            first = int(np.argmax(np.diff(t) <= 0))
            raise SceneError(f"t must increase: t[{first}] = {t[first]:g}, t[{first + 1}] = {t[first + 1]:g}")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "bodies", tuple(self.bodies))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "notes", tuple(self.notes))
        up = to_vector(self.up, "up")
        if not any(up):
            raise SceneError("up must not be the zero vector")
        object.__setattr__(self, "up", up)
        self._check_bodies()
        series = {str(name): samples(y, (t.size,), f'series "{name}"') for name, y in self.series.items()}
        object.__setattr__(self, "series", series)
        object.__setattr__(self, "signals", tuple(self._checked(group) for group in self.signals))
        if not 0 < self.speed < np.inf:
            raise SceneError(f"speed must be a positive number, found {self.speed:g}")
        if self.rest is not None and [b.name for b in self.rest.bodies] != [b.name for b in self.bodies]:
            raise SceneError("the scene at rest must have the same bodies in the same order")

    def _checked(self, group: Signals) -> Signals:
        size = (self.t.size,)
        lines = {str(n): samples(y, size, f'signal "{n}" of {group.name}') for n, y in group.lines.items()}
        return Signals(group.name, group.unit, lines)

    def _check_bodies(self) -> None:
        if not self.bodies:
            raise SceneError("a scene needs at least one body")
        names = [body.name for body in self.bodies]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SceneError(f'two bodies are named "{twice}": names must differ')
        k = self.t.size
        for body in self.bodies:
            poses = body.position.shape[0]
            if poses != k:
                raise SceneError(f'body "{body.name}" has {poses} poses, but t has {k} samples')
            # A planar picture shows x, y and one angle; other motion would silently be drawn wrong.
            if self.planar and np.abs(body.rotation[:, 2, 2] - 1).max() > ROTATION_TOLERANCE:
                raise SceneError(f'body "{body.name}" rotates out of the x-y plane: the scene is not planar')
            if body.is_ground and (np.any(body.position != 0) or np.any(body.rotation != np.eye(3))):
                raise SceneError('the body named "ground" must have the identity pose in every sample')
        for i, link in enumerate(self.links):
            if link.start.shape[0] != k:
                raise SceneError(f"link {i} ({link.kind}) has {link.start.shape[0]} samples, but t has {k}")
        for spiral in self.spirals:
            if not (0 <= spiral.outer < len(names) and 0 <= spiral.inner < len(names)):
                raise SceneError(f"a spiral joins bodies {spiral.outer} and {spiral.inner}, of {len(names)}")
        if self.trace is not None:
            name, at = self.trace
            if name not in names:
                raise SceneError(f'trace names a body "{name}" that is not in the scene')
            object.__setattr__(self, "trace", (name, to_vector(at, "trace point")))
        for label, name, _ in self.points:
            if name not in names:
                raise SceneError(f'point "{label}" names a body "{name}" that is not in the scene')
        points = tuple((label, name, to_vector(at, f'point "{label}"')) for label, name, at in self.points)
        object.__setattr__(self, "points", points)

    @property
    def length_unit(self) -> str:
        """First part of ``units``; empty when the label has another form."""
        return self.units.split("-")[0].strip() if self.units.count("-") == 2 else ""

    @property
    def time_unit(self) -> str:
        """Last part of ``units``; empty when the label has another form."""
        return self.units.split("-")[2].strip() if self.units.count("-") == 2 else ""
