"""Names, indices and units of the entries of q, v, u and p."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pendula.arguments import read_table, shortly
from pendula.errors import PendulaError, UsageError
from pendula.model.joints import Coordinate, Rotation
from pendula.model.joints.orientation import Axes, Chart
from pendula.model.model import Model
from pendula.model.names import suggestion
from pendula.model.quantities import number_in
from pendula.system.orientation.rotations import quaternion_of
from pendula.words import readable, some

Array = Any  # numpy array of float64


class Oriented(NamedTuple):
    """An orientation: its joint, chart and kind of speeds, and the indices of its first coordinate and speed."""

    joint: str
    chart: Chart
    axes: Axes
    at: int
    speed: int

    @property
    def q(self) -> slice:
        """Its coordinates."""
        return slice(self.at, self.at + self.chart.count)

    @property
    def v(self) -> slice:
        """Its speeds."""
        return slice(self.speed, self.speed + 3)


def _orientations(model: Model, coordinates: Sequence[Coordinate], speeds: Sequence[Coordinate]) -> Iterator[Oriented]:
    """All orientations whose coordinates are free and belong to the layout."""
    q, v = ({x.name: k for k, x in enumerate(names)} for names in (coordinates, speeds))
    for joint in model.tree:
        found = joint.attitude()
        if found is not None:
            own = joint.coordinate_names()[-found.chart.count :]
            if all(name in q for name in own) and joint.speeds()[-3].name in v:
                yield Oriented(joint.name, *found, q[own[0]], v[joint.speeds()[-3].name])


@readable
@dataclass(frozen=True)
class Layout:
    """Order, names, kinds and units of coordinates, speeds, inputs and parameters.

    Example:
        >>> import pendula
        >>> layout = pendula.compile_system("pendulum").layout
        >>> layout.speeds, layout.units["theta_dot"]
        (('theta_dot',), 'rad/s')
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    bodies: tuple[str, ...]
    coordinate_kinds: tuple[str, ...]
    speed_kinds: tuple[str, ...]
    units: Mapping[str, str]
    time_unit: str
    orientations: tuple[Oriented, ...] = ()
    """the orientations among the coordinates of the joints"""

    @classmethod
    def of(
        cls, model: Model, coordinates: Sequence[Coordinate] | None = None, speeds: Sequence[Coordinate] | None = None
    ) -> Layout:
        """The layout of a model in the joints' coordinates, or in the given ones."""
        coordinates = model.coordinates if coordinates is None else coordinates
        speeds = model.speeds if speeds is None else speeds
        names = model.unit_names
        units = {c.name: names.coordinate(c.kind) for c in coordinates}
        units |= {s.name: names.speed(s.kind) for s in speeds}
        return cls(
            coordinates=tuple(c.name for c in coordinates),
            speeds=tuple(s.name for s in speeds),
            inputs=tuple(model.inputs),
            parameters=tuple(model.parameters),
            bodies=tuple(j.child.body for j in model.tree),
            coordinate_kinds=tuple(c.kind for c in coordinates),
            speed_kinds=tuple(s.kind for s in speeds),
            units=units,
            time_unit=names.time,
            orientations=tuple(_orientations(model, coordinates, speeds)),
        )

    @cached_property
    def _positions(self) -> dict[str, tuple[str, int]]:
        found = {name: ("v", k) for k, name in enumerate(self.speeds)}
        return found | {name: ("q", k) for k, name in enumerate(self.coordinates)}

    @cached_property
    def speed_of(self) -> tuple[int, ...]:
        """Index of the speed that is the rate of each coordinate, -1 if there is none."""
        speeds = {name: k for k, name in enumerate(self.speeds)}
        return tuple(speeds.get(f"{name}_dot", -1) for name in self.coordinates)

    def parameter_values(self, vector: Array) -> dict[str, float]:
        """Parameters by name."""
        return dict(zip(self.parameters, vector.tolist(), strict=True))

    def split(self, y: Array) -> tuple[Array, Array]:
        """Coordinates and speeds of states (q, v, ...) along the last axis; what follows them, as work, is left out."""
        nq, nv = len(self.coordinates), len(self.speeds)
        return y[..., :nq], y[..., nq : nq + nv]

    def position(self, name: str) -> tuple[str, int]:
        """("q", index) or ("v", index) of a coordinate or speed."""
        if name in self._positions:
            return self._positions[name]
        known = (*self.coordinates, *self.speeds)
        hint = suggestion(name, known, most=10)
        raise UsageError(f'there is no coordinate or speed "{name}"; {hint}')

    def by_coordinates(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values by coordinate and speed: the rotation of a joint becomes the coordinates of its orientation.

        Raises:
            UsageError: it is no rotation, its angles are not numbers, or some of these coordinates are given as well.
        """
        found: dict[str, Any] = {}
        oriented = {one.joint: one for one in self.orientations}
        for name, value in values.items():
            if name not in oriented or name in self._positions:
                found[name] = value
                continue
            names = self.coordinates[oriented[name].q]
            twice = [n for n in names if n in values]
            if twice:
                raise UsageError(f'the orientation of joint "{name}" is given twice, by a rotation and by {twice[0]}')
            found |= dict(zip(names, _turned(oriented[name], value), strict=True))
        return found

    def __str__(self) -> str:
        return f"coordinates {some(self.coordinates)}; speeds {some(self.speeds)}; inputs {some(self.inputs) or 'none'}"


def _turned(one: Oriented, given: Any) -> list[float]:
    """Coordinates of an orientation that is given as a rotation."""
    from pendula.system.orientation.maps import from_quaternion  # which uses this module

    try:
        rotation = given if isinstance(given, Rotation) else Rotation(**given)
        turn = quaternion_of(rotation, {})
    except (PendulaError, TypeError, ZeroDivisionError) as error:
        cause = f": {error}" if isinstance(error, PendulaError) else f", found {shortly(given)}"
        raise UsageError(
            f'the orientation of joint "{one.joint}" is given as {{"axis": [0, 0, 1], "angle": 0.3}} or '
            f'{{"sequence": "zyx", "angles": [0.3, 0, 0]}} with numbers{cause}'
        ) from None
    coordinates: list[float] = from_quaternion(one.chart, turn).tolist()
    return coordinates


@readable
@dataclass(frozen=True)
class State:
    """Time, coordinates and speeds, read by name.

    Example:
        >>> import pendula
        >>> state = pendula.compile_system(pendula.library.pendulum()).initial_state()
        >>> float(state["theta_dot"])
        0.0
    """

    t: float
    q: Array
    v: Array
    layout: Layout

    def __getitem__(self, name: str) -> float:
        which, k = self.layout.position(name)
        return float(self.q[k] if which == "q" else self.v[k])

    def __iter__(self) -> Iterator[str]:
        return iter((*self.layout.coordinates, *self.layout.speeds))

    def __contains__(self, name: object) -> bool:
        return name in self.layout._positions

    def as_dict(self) -> dict[str, float]:
        """All coordinates and speeds by name."""
        return {name: self[name] for name in self}

    def replace(self, values: Mapping[str, Any]) -> State:
        """A copy with some coordinates or speeds changed: numbers, or text such as "30deg" or "5 cm".

        The name of a joint changes its orientation: ``{"axis": [0, 0, 1], "angle": "30deg"}``.
        """
        q, v = np.array(self.q, dtype=float), np.array(self.v, dtype=float)
        for name, value in self.layout.by_coordinates(read_table(values, "the state")).items():
            which, k = self.layout.position(name)
            (q if which == "q" else v)[k] = number_in(value, self.layout.units.get(name, ""), name)
        return State(self.t, q, v, self.layout)

    def __str__(self) -> str:
        units = self.layout.units
        values = [f"{name} = {self[name]:.6g} {units.get(name, '')}".rstrip() for name in self]
        return f"t = {self.t:.6g} {self.layout.time_unit}: {some(values, 12)}"
