"""Sides of joints and forces: a body, a point of it, and the rotation of the frame there."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from pendula.model.base import Direction, Element, Label, Scalar, Vector
from pendula.model.joints.steps import Turn, turns
from pendula.model.names import quote
from pendula.model.problems import shown


class Rotation(Element):
    """A rotation: ``axis`` with ``angle``, or ``sequence`` such as "zyz" with one of ``angles`` for each letter.

    A sequence rotates about the axes of the rotated frame (intrinsic rotations).
    """

    axis: Direction | None = None
    angle: Scalar | None = None
    sequence: Turns | None = None
    angles: tuple[Scalar, ...] = ()

    @model_validator(mode="after")
    def _one_form(self) -> Rotation:
        by_axis, by_sequence = self.axis is not None, self.sequence is not None
        if by_axis and (by_sequence or self.angles):
            raise ValueError("is given twice; use either { axis, angle } or { sequence, angles }")
        if by_sequence and self.angle is not None:
            raise ValueError("angle: a sequence takes angles, a list")
        if not by_axis and not by_sequence:
            raise ValueError("axis: is missing; try: { axis = ..., angle = ... } or { sequence = ..., angles = ... }")
        if by_axis and self.angle is None:
            raise ValueError("angle: is missing; try: angle = ...")
        if self.sequence is not None and len(self.angles) != len(self.sequence):
            wanted = f"sequence {quote(self.sequence)} takes {len(self.sequence)} angles"
            raise ValueError(f"angles: {wanted}, found {len(self.angles)}")
        return self

    def turns(self) -> tuple[Turn, ...]:
        """Its elementary rotations, in order."""
        if self.sequence is not None:
            return turns(self.sequence, self.angles)
        assert self.axis is not None  # by _one_form
        assert self.angle is not None
        return (Turn(self.axis, self.angle),)


def _turns(value: Any, counts: tuple[int, ...] = (1, 2, 3)) -> Any:
    """Rejects a sequence of rotations with letters other than x, y, z, or the same axis twice in succession."""
    if type(value) is not str:
        raise ValueError(f'must be letters in quotes, such as "zyz", found {shown(value)}')
    if len(value) not in counts or any(a not in "xyz" for a in value):
        many = {(1, 2, 3): "one to three", (2,): "two"}[counts]
        raise ValueError(f"must be {many} of the letters x, y, z, found {quote(value)}")
    if any(a == b for a, b in pairwise(value)):
        raise ValueError(f"{quote(value)} rotates about the same axis twice in succession")
    return value


Turns = Annotated[str, BeforeValidator(_turns)]
TwoTurns = Annotated[str, BeforeValidator(lambda value: _turns(value, (2,)))]


class Side(Element):
    """One side of a joint or force: a body, a point of it and, for joints, the rotation of the frame."""

    body: Label
    at: Label | None = None
    """a named point of the body"""
    position: Vector | None = None
    """or the point in body axes [length unit]; on ground it may depend on time t"""
    rotation: Rotation | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Side:
        if self.at is not None and self.position is not None:
            raise ValueError("at: the point is given twice, by at and by position; try: keep one of them")
        return self


class OrAlone:
    """States in the JSON schema that the value of its main field may replace a table."""

    def __init__(self, alone: dict[str, Any]) -> None:
        self.alone = alone

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> Any:
        return {"anyOf": [self.alone, handler(core_schema)]}


def _side(value: Any) -> Any:
    if isinstance(value, str):
        return {"body": value}
    if not isinstance(value, (dict, Side)):
        raise ValueError(f"must be the name of a body, or {{ body = ..., at = ... }}, found {shown(value)}")
    return value


BodySide = Annotated[Side, BeforeValidator(_side), OrAlone({"type": "string"})]
