"""A joint whose motion the model defines by expressions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pendula.model.base import Name, Vector
from pendula.model.fields import Use
from pendula.model.joints.base import Kind, TreeJoint, counted
from pendula.model.joints.sides import Rotation
from pendula.model.joints.steps import Shift, Step


class JointCoordinates(TreeJoint):
    """The child's pose as expressions of its coordinates, parameters and t: a bead on a wire, the (x, y) chart."""

    type: Literal["coordinates"] = "coordinates"
    coordinates_: tuple[Name, ...] = Field(alias="coordinates")
    """names of the coordinates used in the expressions"""
    kinds_: tuple[Literal["angle", "length", "other"], ...] = Field(default=(), alias="kinds")
    """kind of each coordinate; default: length"""
    position: Annotated[Vector, Use.COORDINATES] = (0, 0, 0)
    rotation: Annotated[Rotation | None, Use.COORDINATES] = None

    def check_own_fields(self) -> None:
        """Needs named coordinates, with one kind for each."""
        if not self.coordinates_:
            raise ValueError("coordinates: is empty; try: name at least one coordinate")
        if self.names:
            raise ValueError("names: this joint names its coordinates in coordinates = [...]")
        if self.kinds_ and len(self.kinds_) != len(self.coordinates_):
            raise ValueError(f"kinds: {counted(len(self.coordinates_))}, found {len(self.kinds_)} kinds")

    def own_freedoms(self) -> tuple[tuple[str, Kind], ...]:
        """The coordinates that the model names."""
        kinds: list[Kind] = [*self.kinds_] or ["length" for _ in self.coordinates_]
        return tuple(zip(self.coordinates_, kinds, strict=True))

    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates, prescribed ones included."""
        return self.coordinates_

    def field_of_names(self) -> str:
        """The field that decides the names of the coordinates."""
        return "coordinates"

    def steps(self) -> tuple[Step, ...]:
        """A translation to the position, then the rotation."""
        return (Shift(self.position), *(self.rotation.turns() if self.rotation is not None else ()))
