"""The description of a mechanism: bodies, joints, forces, parameters, inputs, initial state."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError

from pendula.errors import ModelError
from pendula.model.base import Element, Name, Scalar, StateName, Vector, _PlainErrors, parse, problems_from
from pendula.model.bodies import Body
from pendula.model.checks import Parts, check_parts
from pendula.model.expressions import evaluate_parameters
from pendula.model.forces import AnyForce
from pendula.model.joints import AnyJoint, ClosingJoint, Coordinate, Rotation, TreeJoint
from pendula.model.topology import tree_order
from pendula.model.units import Units

_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    "bodies": TypeAdapter(Body),
    "joints": TypeAdapter(AnyJoint),
    "forces": TypeAdapter(AnyForce),
}


class _CheckedModel(_PlainErrors):
    """Runs the checks that need the whole model, and reports them together with those of single fields."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            model = super(_PlainErrors, cls).__call__(*args, **kwargs)
        except ValidationError as error:
            problems = problems_from(error, "model", kwargs)
            raise ModelError([*problems, *check_parts(_what_is_left(kwargs))]) from None
        problems = check_parts(model.parts())
        if problems:
            raise ModelError(problems)
        return model


def _what_is_left(data: Mapping[str, Any]) -> Parts:
    """The elements that are sound by themselves, for checks across elements when some are not."""
    kept: dict[str, tuple[Any, ...]] = {}
    names: dict[str, tuple[str, ...]] = {}
    for section, adapter in _ADAPTERS.items():
        given = data.get(section, ())
        items = list(given) if isinstance(given, (list, tuple)) else []
        sound = []
        for item in items:
            try:
                sound.append(adapter.validate_python(item))
            except ValidationError:
                continue
        kept[section] = tuple(sound)
        found = [x.get("name") if isinstance(x, dict) else getattr(x, "name", None) for x in items]
        names[section] = tuple(n for n in found if isinstance(n, str))
    tables = {k: dict(v) if isinstance(v := data.get(k, {}), dict) else {} for k in ("parameters", "inputs")}
    return Parts(
        bodies=kept["bodies"],
        joints=kept["joints"],
        forces=kept["forces"],
        parameters=tables["parameters"],
        inputs=tables["inputs"],
        body_names=names["bodies"],
        joint_names=names["joints"],
        complete=False,
    )


def _initial_entry(value: Any) -> Any:
    return Rotation(**value) if isinstance(value, dict) else value


class Model(Element, metaclass=_CheckedModel):
    """A mechanism, checked when it is made and frozen afterwards.

    Numbers may be expressions of the parameters. Gravity is never implied: say ``[0, 0, 0]`` for none.

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

    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    description: Annotated[str, StringConstraints(max_length=5000)] = ""
    units: Annotated[str, StringConstraints(max_length=40)] = "m-kg-s"
    """label of the units of length, mass and time, for outputs; numbers are used as they are"""
    gravity: Vector
    """acceleration of gravity in world axes [length/time^2]"""
    parameters: dict[Name, Scalar] = Field(default_factory=dict)
    """named numbers, usable in every numeric field; they may refer to each other"""
    inputs: dict[Name, Scalar] = Field(default_factory=dict)
    """named inputs u with their values: numbers, or expressions of t and parameters"""
    bodies: tuple[Body, ...] = ()
    joints: tuple[AnyJoint, ...] = ()
    forces: tuple[AnyForce, ...] = ()
    initial: dict[StateName, Annotated[Scalar | Rotation, BeforeValidator(_initial_entry)]] = Field(default_factory=dict)
    """coordinates and speeds at the start; a ball joint takes a rotation under the joint's name"""

    def parts(self) -> Parts:
        """The elements as the checks want them."""
        return Parts(
            bodies=self.bodies,
            joints=self.joints,
            forces=self.forces,
            parameters=dict(self.parameters),
            inputs=dict(self.inputs),
            initial=dict(self.initial),
            gravity=self.gravity,
            units=self.units,
            body_names=tuple(b.name for b in self.bodies),
            joint_names=tuple(j.name for j in self.joints),
            complete=True,
        )

    # -- what follows from the description ------------------------------------------------------

    @cached_property
    def tree(self) -> tuple[TreeJoint, ...]:
        """The joints that place bodies, parents before children."""
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

    @cached_property
    def parameter_values(self) -> dict[str, float]:
        """Numeric default of every parameter."""
        return evaluate_parameters({name: parse(value) for name, value in self.parameters.items()})

    def parameters_with(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Numeric value of every parameter when some are changed; those that depend on them follow."""
        from pendula.model.checks import unknown

        bad = [unknown("parameter", n, self.parameters, element="parameters") for n in changes if n not in self.parameters]
        if bad:
            raise ModelError(bad)
        return evaluate_parameters({n: parse(changes.get(n, value)) for n, value in self.parameters.items()})

    @cached_property
    def unit_names(self) -> Units:
        """Names of the units for outputs."""
        return Units.from_label(self.units)

    def body(self, name: str) -> Body:
        """The body of that name."""
        return next(b for b in self.bodies if b.name == name)

    def joint(self, name: str) -> Any:
        """The joint of that name."""
        return next(j for j in self.joints if j.name == name)

    def with_changes(self, **changes: Any) -> Model:
        """A copy with some fields replaced, checked again."""
        data = {k: getattr(self, k) for k in type(self).model_fields}
        return type(self)(**(data | changes))

    def with_parameters(self, values: Mapping[str, int | float | str]) -> Model:
        """A copy with new defaults for some parameters."""
        from pendula.model.checks import unknown

        for name in values:
            if name not in self.parameters:
                raise ModelError([unknown("parameter", name, self.parameters, element="parameters")])
        return self.with_changes(parameters=dict(self.parameters) | dict(values))
