"""Shapes of bodies for drawing, in body axes.

    Rod Point Sphere Disc Ring Box Polyline Pivot

Lengths are in the length unit of the scene. A radius of zero selects a suitable one from the size of the picture.
Constructors check every shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pendula.errors import NotSupported, UsageError
from pendula.present import refusals

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

RIM = 24  # points of the rim of a disc or ring that bound it


class SceneError(UsageError, ValueError):
    """The description of a picture is wrong; the message says which element, what was found and what was expected."""


class Shape:
    """Base of the shapes; ``kind`` is its name in the page."""

    kind: ClassVar[str]

    def _check(self, **checks: Any) -> None:
        for name, check in checks.items():
            object.__setattr__(self, name, check(getattr(self, name), f"{type(self).__name__}.{name}"))


@dataclass(frozen=True)
class Rod(Shape):
    """A straight bar with round ends."""

    start: Vector
    end: Vector
    radius: float = 0.0
    kind: ClassVar[str] = "rod"

    def __post_init__(self) -> None:
        self._check(start=to_vector, end=to_vector, radius=_to_size)


@dataclass(frozen=True)
class Point(Shape):
    """A point mass, drawn as a filled circle."""

    at: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    kind: ClassVar[str] = "point"

    def __post_init__(self) -> None:
        self._check(at=to_vector, radius=_to_size)


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball."""

    center: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    kind: ClassVar[str] = "sphere"

    def __post_init__(self) -> None:
        self._check(center=to_vector, radius=_to_size)


@dataclass(frozen=True)
class _Round(Shape):
    center: Vector
    normal: Vector
    radius: float

    def __post_init__(self) -> None:
        self._check(center=to_vector, normal=to_vector, radius=_to_size)
        length = float(np.linalg.norm(self.normal))
        if length == 0.0:
            raise SceneError(f"{type(self).__name__}.normal must not be the zero vector")
        object.__setattr__(self, "normal", to_vector(np.asarray(self.normal) / length, "normal"))


@dataclass(frozen=True)
class Disc(_Round):
    """A thin filled disc; its sectors show its rotation."""

    kind: ClassVar[str] = "disc"


@dataclass(frozen=True)
class Ring(_Round):
    """A thin hoop."""

    kind: ClassVar[str] = "ring"


@dataclass(frozen=True)
class Box(Shape):
    """A block with edges along the body axes; ``size`` holds the full edge lengths."""

    center: Vector
    size: Vector
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        self._check(center=to_vector, size=to_vector)
        if min(self.size) < 0:
            raise SceneError(f"Box.size must not be negative, got {self.size}")


@dataclass(frozen=True)
class Polyline(Shape):
    """A line through two or more points: rails, outlines, bent links."""

    points: tuple[Vector, ...]
    kind: ClassVar[str] = "polyline"

    def __post_init__(self) -> None:
        points = tuple(to_vector(point, f"Polyline.points[{i}]") for i, point in enumerate(self.points))
        if len(points) < 2:
            raise SceneError(f"Polyline.points needs at least two points, got {len(points)}")
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Pivot(Shape):
    """A joint: a hatched support on the ground, a small circle on any other body.

    ``side`` is the side of the ground at a support, ``"above"`` or ``"below"``; by default the page chooses the side
    away from the middle of the picture.
    """

    at: Vector = (0.0, 0.0, 0.0)
    side: str = ""
    kind: ClassVar[str] = "pivot"

    def __post_init__(self) -> None:
        self._check(at=to_vector)
        if self.side not in ("", "above", "below"):
            raise SceneError(f'Pivot.side must be "above", "below" or empty, found "{self.side}"')


def extent(shape: Shape) -> tuple[Array, float]:
    """Points in body axes and a padding: spheres of that radius about the points bound the shape."""
    match shape:
        case Rod():
            return np.array([shape.start, shape.end]), shape.radius
        case Point():
            return np.array([shape.at]), shape.radius
        case Sphere():
            return np.array([shape.center]), shape.radius
        case _Round():
            return _circle(shape), 0.0
        case Box():
            corners = np.array([(i, j, k) for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
            return np.asarray(shape.center) + corners * np.asarray(shape.size), 0.0
        case Polyline():
            return np.array(shape.points), 0.0
        case Pivot():
            return np.array([shape.at]), 0.0
    raise NotSupported(refusals.EXTENT, kind=shape.kind)


def tips(shape: Shape) -> tuple[Vector, ...]:
    """Points of a shape whose path is worth tracing."""
    match shape:
        case Rod():
            return (shape.start, shape.end)
        case Point():
            return (shape.at,)
        case Sphere() | _Round() | Box():
            return (shape.center,)
        case Polyline():
            return shape.points
        case Pivot():
            return ()
    raise NotSupported(refusals.TRACES, kind=shape.kind)


def _circle(shape: _Round) -> Array:
    """Points of the rim of a disc or ring."""
    n = np.asarray(shape.normal)
    e1 = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.8 else (0.0, 1.0, 0.0))
    e1 /= np.linalg.norm(e1)
    phi = np.linspace(0.0, 2 * np.pi, RIM, endpoint=False)[:, None]
    points: Array = np.cos(phi) * e1 + np.sin(phi) * np.cross(n, e1)
    return np.asarray(shape.center) + shape.radius * points


def to_vector(value: Any, what: str) -> Vector:
    """Three finite numbers, or an error that names ``what``."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise SceneError(f"{what} must be three numbers, got {value!r}") from None
    if array.shape != (3,):
        raise SceneError(f"{what} must be three numbers, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise SceneError(f"{what} must be finite, got {tuple(array.tolist())}")
    return (float(array[0]), float(array[1]), float(array[2]))


def _to_size(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SceneError(f"{what} must be a number, got {value!r}") from None
    if not np.isfinite(number) or number < 0:
        raise SceneError(f"{what} must be finite and not negative, got {number}")
    return number
