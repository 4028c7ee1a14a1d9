"""The description of a mechanism: bodies, joints, forces, parameters, inputs, initial state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    model_validator,
)

from pendula.errors import ModelError, Problem
from pendula.model.base import Description, Element, Name, Scalar, StateName, Table, Title, Vector, WrittenAsItIs
from pendula.model.bodies import Body
from pendula.model.checks.checks import check_parts, first_problems
from pendula.model.checks.physics import check_physics
from pendula.model.expressions.expression import parse
from pendula.model.forces import AnyForce
from pendula.model.joints import AnyJoint, ClosingJoint, Coordinate, Rotation, TreeJoint
from pendula.model.names import ExpressionError
from pendula.model.parameters import evaluate_parameters
from pendula.model.parts import Parts
from pendula.model.problems import shown, unknown
from pendula.model.quantities import in_base_units, in_unit, quantity_in
from pendula.model.reading import UnitsLabel, labelled, read_fields
from pendula.model.topology import tree_order
from pendula.model.units import Units
from pendula.model.with_units import check_dimensions, without_units
from pendula.storage.memory import without_collections
from pendula.words import Displayed, counted


def _start_kind(value: Any) -> str:
    return "rotation" if isinstance(value, (Mapping, Rotation)) else "number"


Start = Annotated[
    Annotated[Scalar, Tag("number")] | Annotated[Rotation, Tag("rotation")], Discriminator(_start_kind), WrittenAsItIs()
]
"""A number for a coordinate or speed, or a rotation for a ball joint."""

Numbers = Annotated[dict[Name, Scalar], AfterValidator(Table)]


class Model(Displayed, Element):
    """A mechanism, validated on creation and immutable afterwards.

    Numbers may be expressions of the parameters. Gravity has no default: give ``[0, 0, 0]`` for none.

    Example:
        >>> model = Model(
        ...     name="pendulum",
        ...     gravity=[0, "-g", 0],
        ...     parameters={"m": 1, "l": 2, "g": 9.81},
        ...     bodies=[{"name": "rod", "rod": {"mass": "m", "length": "l"}}],
        ...     joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "rod"}],
        ... )
        >>> [c.name for c in model.coordinates]
        ['theta']
    """

    name: Title
    description: Description = ""
    units: UnitsLabel = "m-kg-s"
    """label of the units of length, mass and time, for outputs; numbers are used as they are"""
    gravity: Vector
    """acceleration of gravity in world axes [length/time^2]"""
    parameters: Numbers = Field(default_factory=Table)
    """named numbers for use in numeric fields; they may refer to each other"""
    inputs: Numbers = Field(default_factory=Table)
    """named inputs u with their values: numbers, or expressions of t, coordinates, speeds and parameters"""
    bodies: tuple[Body, ...] = ()
    joints: tuple[AnyJoint, ...] = ()
    forces: tuple[AnyForce, ...] = ()
    initial: Annotated[dict[StateName, Start], AfterValidator(Table)] = Field(default_factory=Table)
    """initial coordinates and speeds; a ball joint takes a rotation under the joint's name"""

    _written: Model | None = PrivateAttr(None)

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, data: Any, make: ModelWrapValidatorHandler[Model]) -> Model:
        """Reads and checks every part separately first, so that one error reports all problems."""
        if isinstance(data, Model):
            return data
        if not isinstance(data, Mapping):
            raise ModelError([Problem("model", "", f"must be a table of fields, found {shown(data)}")])
        with without_collections():
            data, quantities, mistaken = without_units(data)
            reading = read_fields(data)
            problems = [*mistaken, *reading.problems]
            if reading.values:
                problems = [*problems, *check_parts(reading.parts())]
            if problems:
                raise ModelError(first_problems(problems))
            made = make(reading.values)
        if quantities:
            check_dimensions(made, quantities)
        return made

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal, however they were written (``as_written``)."""
        if not isinstance(other, Model):
            return NotImplemented
        return self is other or all(getattr(self, name) == getattr(other, name) for name in Model.model_fields)

    def __repr__(self) -> str:
        return f"<Model: {self}>"

    def __str__(self) -> str:
        closing = f" ({len(self.closures)} closing)" if self.closures else ""
        sizes = f"{counted(len(self.bodies), 'body', 'bodies')}, {counted(len(self.joints), 'joint')}{closing}"
        forces = f", {counted(len(self.forces), 'force')}" if self.forces else ""
        return f"{self.name}, {sizes}{forces}, {counted(len(self.speeds), 'speed')}"

    # -- derived quantities ---------------------------------------------------------------------

    @cached_property
    def tree(self) -> tuple[TreeJoint, ...]:
        """The tree joints, which place bodies; parents before children."""
        return tree_order(self.joints)

    @cached_property
    def closures(self) -> tuple[ClosingJoint, ...]:
        """The joints that close loops."""
        return tuple(j for j in self.joints if isinstance(j, ClosingJoint))

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Coordinates that are free to move, in the order of the state."""
        return tuple(c for j in self.tree for c in j.coordinates() if c.name not in j.prescribed())

    @cached_property
    def speeds(self) -> tuple[Coordinate, ...]:
        """Speeds of the free coordinates, in the order of the state."""
        prescribed = {f"{name}_dot" for j in self.tree for name in j.prescribed()}
        return tuple(s for j in self.tree for s in j.speeds() if s.name not in prescribed)

    @property
    def as_written(self) -> Model:
        """The model before feedback laws were written into its forces; itself if there were none."""
        return self._written or self

    @cached_property
    def laws(self) -> dict[str, str]:
        """Inputs that were replaced in the forces by their feedback laws, by name."""
        written = self.as_written.inputs
        return {name: str(law) for name, law in written.items() if name not in self.inputs}

    @cached_property
    def parameter_values(self) -> dict[str, float]:
        """Numeric default of every parameter."""
        return evaluate_parameters({name: parse(value) for name, value in self.parameters.items()})

    def parameters_with(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Numeric value of every parameter after some changes, including parameters that depend on them."""
        self._know_parameters(changes)
        changes = self._in_own_units(changes)
        parts = Parts(
            bodies=labelled("body", self.bodies),
            joints=labelled("joint", self.joints),
            forces=labelled("force", self.forces),
            parameters={name: changes.get(name, value) for name, value in self.parameters.items()},
        )
        try:
            values, wrong = parts.values, parts.parameter_problems
        except ExpressionError as error:
            raise ModelError([Problem("parameters", "", str(error))]) from None
        if wrong:
            raise ModelError(Problem(f'parameter "{name}"', "", cause) for name, cause in wrong)
        if problems := list(check_physics(parts)):
            raise ModelError(problems, source="with the parameters given")
        return {name: values[name] for name in self.parameters}

    def _in_own_units(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Changes of parameters with numbers in place of quantities with units."""
        found = {n: q for n, value in changes.items() if (q := quantity_in(value, self.parameters)) is not None}
        if not found:
            return changes
        from pendula.model.checks.parameter_units import parameter_units

        known, units = parameter_units(self), self.unit_names
        numbers = {}
        for name, quantity in found.items():
            where = f'parameter "{name}"'
            base = in_base_units(quantity, units.length, units.mass, units.time, where)
            numbers[name] = in_unit(quantity, known[name], where) if name in known else base
        return dict(changes) | numbers

    def _know_parameters(self, names: Mapping[str, Any]) -> None:
        known = self.parameters
        bad = [unknown("parameter", str(n), known, element="parameters") for n in names if n not in known]
        if bad:
            raise ModelError(first_problems(bad))

    @cached_property
    def unit_names(self) -> Units:
        """Names of the units for outputs."""
        return Units.from_label(self.units)

    @cached_property
    def bodies_by_name(self) -> dict[str, Body]:
        """The bodies by name."""
        return {body.name: body for body in self.bodies}

    @cached_property
    def joints_by_name(self) -> dict[str, Any]:
        """The joints by name."""
        return {joint.name: joint for joint in self.joints}

    def body(self, name: str) -> Body:
        """The body of that name."""
        if name not in self.bodies_by_name:
            raise ModelError([unknown("body", str(name), self.bodies_by_name, element="model")])
        return self.bodies_by_name[name]

    def joint(self, name: str) -> Any:
        """The joint of that name."""
        if name not in self.joints_by_name:
            raise ModelError([unknown("joint", str(name), self.joints_by_name, element="model")])
        return self.joints_by_name[name]

    def with_changes(self, **changes: Any) -> Model:
        """A copy with some fields replaced, validated again."""
        data = {k: getattr(self, k) for k in type(self).model_fields}
        return type(self)(**(data | changes))

    def with_feedback(self, **changes: Any) -> Model:
        """A copy with feedback laws in place of inputs; its ``as_written`` is this model."""
        made = self.with_changes(**changes)
        BaseModel.__setattr__(made, "_written", self)  # those of models refuse
        return made

    def with_parameters(self, values: Mapping[str, int | float | str]) -> Model:
        """A copy with new defaults for some parameters."""
        self._know_parameters(values)
        return self.with_changes(parameters=dict(self.parameters) | dict(self._in_own_units(values)))
