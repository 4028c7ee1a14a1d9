"""Conversion between the coordinates of a system and those of its joints.

Most formulations use the joints' coordinates; then all functions here return their arguments unchanged. In maximal
coordinates each body has its own coordinates, and this module converts between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.joints import Rotation, TreeJoint
from pendula.model.model import Model
from pendula.system.code.rows import state_rows
from pendula.system.layout import Array, Layout, State
from pendula.system.orientation.maps import from_quaternion
from pendula.system.orientation.rotations import quaternion_of
from pendula.system.parameters import Parameters, parameter_vector

if TYPE_CHECKING:
    from pendula.refusals import Refusal
    from pendula.system.system import System


class InJoints:
    """A view of one system in the joints' coordinates.

    Attributes:
        layout: names, kinds and units of the joints' coordinates and speeds.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum(), "maximal")
        >>> q, v = system.in_joints.place([0.5], [0.0])
        >>> system.layout.coordinates, system.in_joints.read(q, v)[0].round(6).tolist()
        (('link_x', 'link_y', 'link_theta'), [0.5])
    """

    def __init__(self, system: System, layout: Layout, joint_system: Callable[[], System] | None = None) -> None:
        """``joint_system`` makes the system in the joints' coordinates; None if it is the system itself."""
        self._system = system
        self._joint_system = joint_system
        self.layout = layout

    @property
    def same(self) -> bool:
        """Whether the system's own coordinates are those of the joints."""
        return self._joint_system is None

    @property
    def system(self) -> System:
        """A system of the same model in the joints' coordinates; the system itself if it already uses them."""
        return self._system if self._joint_system is None else self._joint_system()

    def refuse_others(self, refusal: Refusal) -> None:
        """Raises NotSupported if the system is in maximal coordinates; ``needs_joints`` makes such refusals."""
        if self._joint_system is not None:
            raise NotSupported(refusal)

    # -- states ---------------------------------------------------------------------------------

    def state(self, values: Mapping[str, float] | None = None, *, t: float = 0.0) -> State:
        """A state with the given joint coordinates and speeds; all others are zero (quaternions: no rotation)."""
        layout = self.layout
        q, v = np.zeros(len(layout.coordinates)), np.zeros(len(layout.speeds))
        for at in self.quaternions:
            q[at] = 1.0
        return State(t, q, v, layout).replace(values or {})

    def initial_state(self, parameters: Parameters = None, *, t: float = 0.0) -> State:
        """The initial state as the model gives it (loops may not be closed exactly)."""
        model = self._system.model
        values = self.layout.parameter_values(parameter_vector(self._system, parameters))
        return self.state(_initial_values(model, values), t=t)

    @property
    def quaternions(self) -> list[int]:
        """Index of the first coordinate of every quaternion."""
        balls = [j.coordinate_names()[-4] for j in self._system.model.tree if j.quaternion()]
        return [self.layout.position(name)[1] for name in balls]

    # -- conversion -----------------------------------------------------------------------------

    def place_state(self, state: State, parameters: Parameters = None) -> State:
        """Converts a state of the joints to the coordinates of the system, unless it is already in these."""
        system = self._system
        if self._joint_system is None or state.layout is system.layout:
            return state
        q, v = self.place(state.q, state.v, state.t, parameters=parameters)
        return State(state.t, q, v, system.layout)

    def place(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Coordinates and speeds of the system from those of the joints."""
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if self._joint_system is None:
            return q, v
        system = self._system
        rows, batch = state_rows(self.layout, q, v, t, np.zeros(0))
        out = system.programs.placement(parameter_vector(system, parameters)).rows(rows).reshape(*batch, -1)
        n = len(system.layout.coordinates)
        return out[..., :n], out[..., n:]

    def read(self, q: Any, v: Any, t: Any = 0.0, *, parameters: Parameters = None) -> tuple[Array, Array]:
        """Coordinates and speeds of the joints from those of the system."""
        if self._joint_system is None:
            return np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        system = self._system
        rows, batch = state_rows(system.layout, q, v, t, system.inputs.none)
        names = (*self.layout.coordinates, *self.layout.speeds)
        readings = system.equations.readings
        program = system.programs.block(
            "joints", parameter_vector(system, parameters), lambda: [readings[name] for name in names]
        )
        out = program.rows(rows).reshape(*batch, len(names))
        n = len(self.layout.coordinates)
        return out[..., :n], out[..., n:]

    def read_state(self, state: State, parameters: Parameters = None) -> State:
        """Converts a state of the system to the joints' coordinates, unless it is already in these."""
        if state.layout is self.layout:
            return state
        q, v = self.read(state.q, state.v, state.t, parameters=parameters)
        return State(state.t, q, v, self.layout)

    def accelerations(
        self, q: Any, v: Any, t: Any = 0.0, *, inputs: Any = None, parameters: Parameters = None
    ) -> Array:
        """Accelerations of the joints at a state of the system, shape (..., speeds of the joints)."""
        system = self._system
        a = system.accelerations(q, v, t, inputs=inputs, parameters=parameters)
        if self._joint_system is None:
            return a
        rows, batch = state_rows(system.layout, q, v, t, system.inputs.none, extra=[(a, len(system.layout.speeds))])
        out = system.programs.joint_accelerations(parameter_vector(system, parameters)).rows(rows)
        return out.reshape(*batch, len(self.layout.speeds))


def _initial_values(model: Model, parameters: Mapping[str, float]) -> dict[str, float]:
    """Values of ``model.initial`` by coordinate and speed; a rotation becomes the coordinates of its orientation."""
    numbers: dict[str, float] = {}
    values: dict[Any, float] = {}  # equal texts are evaluated once
    for name, given in model.initial.items():
        if isinstance(given, Rotation):
            joint = model.joint(name)
            own = joint.attitude() if isinstance(joint, TreeJoint) else None
            assert own is not None  # the model has been checked
            turn = quaternion_of(given, parameters)
            found = turn if joint.quaternion() else tuple(from_quaternion(own.chart, turn).tolist())
            numbers |= dict(zip(joint.coordinate_names()[-own.chart.count :], found, strict=True))
        else:
            if given not in values:
                values[given] = parse(given).evaluate(parameters)
            numbers[name] = values[given]
    return numbers
