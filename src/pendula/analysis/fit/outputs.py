"""Measured quantities of a mechanism with exact derivatives with respect to state and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pendula.equations.equations import drive_definitions
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, inputs_in_time, prepared_parameters
from pendula.system.layout import Array
from pendula.system.system import System

AXES = {"x": 0, "y": 1, "z": 2}


def known_outputs(system: System) -> dict[str, str]:
    """Names that can be measured, with their units: coordinates, speeds, positions of named points of bodies."""
    layout, units = system.layout, system.model.unit_names
    found = {name: layout.units.get(name, "") for name in (*layout.coordinates, *layout.speeds)}
    for body in system.model.bodies:
        for point in body.named_points():
            found |= {f"{body.name}.{point}.{axis}": units.length for axis in AXES}
    return found


class Outputs:
    """Values of measured quantities at states, and their derivatives with respect to state and some parameters."""

    def __init__(self, system: System, names: Sequence[str], varied: Sequence[str]) -> None:
        self.names = tuple(names)
        self._system, self._varied = system, tuple(varied)
        layout = system.layout
        self._n = len(layout.coordinates) + len(layout.speeds)
        self._order = [name for name in layout.parameters if name in self._varied]
        self._native = system.programs.native(f"measured {names} {self._order}", self._compiled)

    def _compiled(self) -> Any:
        model = self._system.model
        m = TreeCoordinates(model)
        symbols = {str(s): s for s in (*m.q, *m.v)}
        values = [symbols[name] if name in symbols else self._point(m, name) for name in self.names]
        definitions = (*inputs_in_time(model, constant_ones=True), *drive_definitions(m), *m.tape.definitions.items())
        low = Lowering([m.t, *m.q, *m.v], m.parameters, definitions)
        program, outputs = low.program, [low(x) for x in values]
        order = program.needed(outputs)
        by = [*m.q, *m.v, *(s for s in m.parameters if s.name in self._varied)]
        columns = [program.tangent(outputs, {low(x): program.one}, order) for x in by]
        flat = [*outputs, *(column[i] for i in range(len(outputs)) for column in columns)]
        return compile_program(program, flat, quick=True)

    def _point(self, m: Mechanism, name: str) -> Any:
        body, _, axis = name.rpartition(".")
        body, _, point = body.rpartition(".")
        place = m.constants_of(m.model.body(body).named_points()[point])
        return m.point(body, place)[AXES[axis]]

    def __call__(self, t: Array, y: Array, S: Array, along: Array, parameters: Array) -> tuple[Array, Array]:
        """Values (times, outputs) and derivatives (times, outputs, names).

        Args:
            y, S: states and their derivatives with respect to the names, shapes (times, n) and (times, n, names).
            along: changes of all parameters with each of the names, shape (parameters, names).
        """
        program = Compiled(self._native, prepared_parameters(self._native, parameters))
        rows = program.rows(np.ascontiguousarray(np.column_stack([t, y])))
        m, n = len(self.names), self._n
        slopes = rows[:, m:].reshape(len(t), m, -1)
        places = [self._system.layout.parameters.index(name) for name in self._order]
        by_names = slopes[:, :, :n] @ S
        if places:
            by_names = by_names + slopes[:, :, n:] @ along[places]
        return rows[:, :m], by_names
