"""Rigid bodies: mass, centre of mass, inertia, named points, and shapes for drawing.

A body has its own axes. Mass properties are given in them, either directly (``mass``, ``com``,
``inertia``) or by one of the shorthands ``rod``, ``point``, ``disc``, ``box``, ``sphere``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from pendula.model.base import Direction, Element, Inertia, Label, Row, Scalar, Table, Vector, exact, unit_vector
from pendula.model.names import quote
from pendula.model.problems import shown
from pendula.words import counted

GROUND = "ground"
SHORTHANDS = ("rod", "point", "disc", "box", "sphere")
ROD_POINTS = ("start", "top", "end", "bottom", "tip")


def _numbers(value: Any, what: str) -> tuple[float, ...]:
    for x in value:
        if isinstance(x, str):
            raise ValueError(f"{what}: must be numbers, not expressions, found {shown(x)}")
    return tuple(float(x) for x in value)


class Rod(Element):
    """A straight uniform rod from the body's origin along ``axis``.

    Its points are ``start`` (or ``top``), ``end`` (or ``bottom``, ``tip``) and ``center``. An
    off-centre ``com`` at distance d means uniform density on either side, chosen so that the mass
    centre is at d; its inertia about the mass centre is m d (L - d)/3 (m L^2/12 at the middle).
    """

    mass: Scalar
    """mass [mass unit]"""
    length: Scalar
    """length [length unit]"""
    axis: Direction = (0, -1, 0)
    """direction of the rod in body axes"""
    com: Scalar | None = None
    """distance of the mass centre from the start [length unit]; default: the middle"""
    inertia: Scalar | None = None
    """transverse inertia about the mass centre [mass length^2]; default: from length, com, diameter"""
    diameter: Scalar = 0
    """diameter of a round rod [length unit]; 0 for a thin rod"""

    @model_validator(mode="after")
    def _axis_is_numeric(self) -> Rod:
        _numbers(self.axis, "axis")
        return self


class Point(Element):
    """A point mass."""

    mass: Scalar
    at: Vector = (0, 0, 0)
    """position in body axes [length unit]"""


class Disc(Element):
    """A uniform disc or cylinder about ``normal``."""

    mass: Scalar
    radius: Scalar
    normal: Direction = (0, 0, 1)
    thickness: Scalar = 0
    at: Vector = (0, 0, 0)

    @model_validator(mode="after")
    def _normal_is_numeric(self) -> Disc:
        _numbers(self.normal, "normal")
        return self


class Box(Element):
    """A uniform box with sides along the body axes."""

    mass: Scalar
    size: Vector
    """sides along x, y, z [length unit]"""
    at: Vector = (0, 0, 0)


class Sphere(Element):
    """A uniform solid sphere."""

    mass: Scalar
    radius: Scalar
    at: Vector = (0, 0, 0)


class Shape(Element):
    """A shape to draw in body axes; it has no effect on the motion."""

    kind: Literal["rod", "point", "disc", "box", "sphere", "ring", "polyline"]
    points: tuple[Vector, ...] = ((0, 0, 0),)
    """rod: start and end; polyline: its corners; others: the centre"""
    radius: Scalar = 0
    normal: Direction = (0, 0, 1)
    size: Vector = (0, 0, 0)

    @model_validator(mode="after")
    def _as_many_points(self) -> Shape:
        count = len(self.points)
        if self.kind == "rod" and count != 2:
            raise ValueError(f"points: a rod has a start and an end, found {counted(count, 'point')}")
        if self.kind == "polyline" and count < 2:
            raise ValueError(f"points: a polyline has at least two corners, found {count}")
        if self.kind not in ("rod", "polyline") and count != 1:
            raise ValueError(f"points: a {self.kind} has one point, its centre, found {count} points")
        return self


@dataclass(frozen=True)
class MassProperties:
    """Mass, centre of mass in body axes, and inertia about it, as scalars of the model."""

    mass: Scalar
    com: tuple[Scalar, Scalar, Scalar]
    inertia: tuple[Row, Row, Row]


class Body(Element):
    """A rigid body. Give ``mass`` (with ``com`` and ``inertia``) or exactly one shorthand.

    Example:
        >>> Body(name="upper", rod={"mass": "m", "length": "l"}).mass_properties().inertia[2][2]
        '(m)*(l)**2/12'
    """

    name: Label
    mass: Scalar | None = None
    """mass [mass unit]; 0 is legal for a body that only carries joints"""
    com: Vector = (0, 0, 0)
    """centre of mass in body axes [length unit]"""
    inertia: Inertia | None = None
    """[Ixx, Iyy, Izz] or 3 by 3, about the centre of mass, in body axes; a number is Izz of a body that is flat
    in its x-y plane (Ixx = Iyy = Izz/2), which is all that motion in that plane needs; default 0 (point mass)"""
    rod: Rod | None = None
    point: Point | None = None
    disc: Disc | None = None
    box: Box | None = None
    sphere: Sphere | None = None
    points: Annotated[dict[Label, Vector], AfterValidator(Table)] = Field(default_factory=Table)
    """named points in body axes, for ``at = "..."``"""
    shapes: tuple[Shape, ...] = ()
    """what to draw; default: from the shorthand"""

    @model_validator(mode="after")
    def _one_description(self) -> Body:
        given = [k for k in SHORTHANDS if getattr(self, k) is not None]
        if self.name == GROUND:
            raise ValueError('name: "ground" always exists; do not list it among the bodies')
        if self.mass is not None and given:
            raise ValueError(f"mass: is given twice, by mass and by {given[0]}; try: keep one of them")
        if len(given) > 1:
            raise ValueError(f"{given[1]}: mass is given by {' and by '.join(given)}; try: keep one of them")
        if self.mass is None and not given:
            raise ValueError(f"mass: is missing; try: mass = ..., or one of {', '.join(SHORTHANDS)}")
        for field, set_here in (("inertia", self.inertia is not None), ("com", any(x != 0 for x in self.com))):
            if given and set_here:
                raise ValueError(f"{field}: follows from {given[0]}; try: remove it, or give mass instead")
        for name in self.points:
            if name in ("origin", "com") or (self.rod is not None and name in ROD_POINTS):
                raise ValueError(f"points.{name}: {quote(name)} is already a point of this body; try: use another name")
        return self

    def mass_properties(self) -> MassProperties:
        """Mass, centre of mass and inertia about it, in body axes."""
        if self.rod is not None:
            rod = self.rod
            return _rod(rod.axis, rod.mass, rod.length, rod.com, rod.inertia, rod.diameter)
        if self.point is not None:
            return MassProperties(self.point.mass, self.point.at, _diagonal(0, 0, 0))
        if self.disc is not None:
            disc = self.disc
            inertia = _disc(disc.normal, disc.mass, disc.radius, disc.thickness)
            return MassProperties(disc.mass, disc.at, inertia)
        if self.box is not None:
            m, (a, b, c) = self.box.mass, self.box.size
            squares = [f"({m})*(({u})**2 + ({v})**2)/12" for u, v in ((b, c), (a, c), (a, b))]
            return MassProperties(m, self.box.at, _diagonal(*squares))
        if self.sphere is not None:
            each = f"2*({self.sphere.mass})*({self.sphere.radius})**2/5"
            return MassProperties(self.sphere.mass, self.sphere.at, _diagonal(each, each, each))
        assert self.mass is not None  # by _one_description
        return MassProperties(self.mass, self.com, self.inertia or _diagonal(0, 0, 0))

    def named_points(self) -> dict[str, tuple[Scalar, Scalar, Scalar]]:
        """Every named point (valid for ``at``), in body axes."""
        com = self.mass_properties().com
        if self.rod is not None:
            return _rod_points(self.rod.axis, self.rod.length) | {"com": com} | self.points
        return {"origin": (0, 0, 0), "com": com, "center": com} | self.points

    def named_point(self, name: str) -> tuple[Scalar, Scalar, Scalar] | None:
        """One of the named points, in body axes; None if there is no such point."""
        if self.rod is not None and name in ROD_POINTS:
            return _rod_points(self.rod.axis, self.rod.length)[name]
        return self.named_points().get(name)

    def drawing(self) -> tuple[Shape, ...]:
        """The shapes to draw, from ``shapes`` or from the shorthand."""
        if self.shapes:
            return self.shapes
        if self.rod is not None:
            return (Shape(kind="rod", points=((0, 0, 0), self.named_points()["end"]), radius=_half(self.rod.diameter)),)
        if self.point is not None:
            bob = Shape(kind="point", points=(self.point.at,))
            if all(x == 0 for x in self.point.at):
                return (bob,)
            return (Shape(kind="rod", points=((0, 0, 0), self.point.at)), bob)
        if self.disc is not None:
            return (Shape(kind="disc", points=(self.disc.at,), radius=self.disc.radius, normal=self.disc.normal),)
        if self.box is not None:
            return (Shape(kind="box", points=(self.box.at,), size=self.box.size),)
        if self.sphere is not None:
            return (Shape(kind="sphere", points=(self.sphere.at,), radius=self.sphere.radius),)
        shapes = [Shape(kind="point", points=(self.com,))]
        shapes += [Shape(kind="rod", points=((0, 0, 0), place)) for place in self.points.values()]
        return tuple(shapes)


def _half(length: Scalar) -> Scalar:
    return f"({length})/2" if isinstance(length, str) else length / 2


def _along(axis: tuple[int | float, ...], length: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    def entry(a: int | float) -> Scalar:
        if a == 0:
            return 0
        if not isinstance(length, str):
            return exact(a * length)
        return length if a == 1 else f"-({length})" if a == -1 else f"{a!r}*({length})"

    return entry(axis[0]), entry(axis[1]), entry(axis[2])


def _diagonal(x: Scalar, y: Scalar, z: Scalar) -> tuple[Row, Row, Row]:
    return (x, 0, 0), (0, y, 0), (0, 0, z)


def _axisymmetric(axis: tuple[int | float, ...], across: Scalar, along: Scalar) -> tuple[Row, Row, Row]:
    """across*(1 - a a^T) + along*a a^T for a unit axis a."""

    def entry(i: int, j: int) -> Scalar:
        on_axis, off_axis = exact(axis[i] * axis[j]), exact((1 if i == j else 0) - axis[i] * axis[j])
        terms = [f"{w!r}*({x})" if w != 1 else f"{x}" for w, x in ((off_axis, across), (on_axis, along)) if w and x]
        return " + ".join(terms) if terms else 0

    rows = [(entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3)]
    return rows[0], rows[1], rows[2]


_EQUAL = 1024  # most mechanisms have many equal bodies


@lru_cache(maxsize=_EQUAL, typed=True)
def _rod(
    along: Row,
    m: Scalar,
    length: Scalar,
    com: Scalar | None,
    inertia: Scalar | None,
    diameter: Scalar,
) -> MassProperties:
    axis = unit_vector(_numbers(along, "axis"))
    if inertia is not None:
        across: Scalar = inertia
    elif com is None:
        across = f"({m})*({length})**2/12"
    else:
        across = f"({m})*({com})*(({length}) - ({com}))/3"
    about: Scalar = 0
    if diameter != 0:
        about = f"({m})*({diameter})**2/8"
        across = f"{across} + ({m})*({diameter})**2/16" if inertia is None else across
    centre = _along(axis, com if com is not None else f"({length})/2")
    return MassProperties(m, centre, _axisymmetric(axis, across, about))


@lru_cache(maxsize=_EQUAL, typed=True)
def _rod_points(along: Row, length: Scalar) -> dict[str, tuple[Scalar, Scalar, Scalar]]:
    """Points of every rod, in body axes: its ends and its middle; the caller makes a copy."""
    axis = unit_vector(_numbers(along, "axis"))
    start: tuple[Scalar, Scalar, Scalar] = (0, 0, 0)
    end = _along(axis, length)
    found = {"origin": start, "com": start, "center": _along(axis, f"({length})/2")}
    return found | {name: start if name in ("start", "top") else end for name in ROD_POINTS}


@lru_cache(maxsize=_EQUAL, typed=True)
def _disc(along: Row, m: Scalar, r: Scalar, thickness: Scalar) -> tuple[Row, Row, Row]:
    across = f"({m})*({r})**2/4" + (f" + ({m})*({thickness})**2/12" if thickness != 0 else "")
    return _axisymmetric(unit_vector(_numbers(along, "normal")), across, f"({m})*({r})**2/2")
