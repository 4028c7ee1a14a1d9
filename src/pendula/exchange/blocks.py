"""The blocks of the equations as one program, which other packages evaluate in their own arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from pendula.equations.derive import equations_of
from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.errors import PendulaError
from pendula.system.code.interpret import Values, evaluate
from pendula.system.code.lower import Lowering
from pendula.system.layout import Array, Layout

SHAPES = {"M": "vv", "f": "v", "qdot": "q", "G": "rv", "c": "r", "g": "g", "b": "r", "energies": "2", "inputs": "u"}
"""Blocks with the sizes of their rows and columns: speeds, coordinates, rows of G, entries of g, inputs."""


@dataclass(frozen=True)
class Blocks:
    """Equations lowered to one program of t, q, v, u and the independent parameters.

    Attributes:
        equations: the equations.
        layout: names and units.
        parameters: independent parameters with their values.
        start: initial state, q then v, with loops closed.
        rows: rows of G that do not depend on others.
        length: a typical length, to which gaps are compared.
        lowering, outputs, shapes: the program, its values and the shape of each block.
    """

    equations: Equations
    layout: Layout
    parameters: Mapping[str, float]
    start: Array
    rows: tuple[int, ...]
    length: float
    lowering: Lowering
    outputs: Mapping[str, tuple[int, ...]]
    shapes: Mapping[str, tuple[int, ...]]

    def __call__(self, names: Sequence[str], values: Values, t: Any, q: Any, v: Any, u: Any, p: Any) -> list[list[Any]]:
        """Entries of some blocks by rows, in the arithmetic of a package."""
        eq = self.equations
        given = [t, *(q[k] for k in range(len(eq.q))), *(v[k] for k in range(len(eq.v)))]
        given += [u[k] for k in range(len(eq.u))] if u is not None else [None] * len(eq.u)
        inputs = dict(zip(self.lowering.inputs(), given, strict=True))
        wanted = [k for name in names for k in self.outputs[name]]
        parameters = [p[k] for k in range(len(self.parameters))]
        found = iter(evaluate(self.lowering.program, wanted, inputs, parameters, values))
        return [[next(found) for _ in self.outputs[name]] for name in names]


def blocks_of(model: Any, formulation: str | None, who: str) -> Blocks:
    """The blocks of equations, of a system, or of a model."""
    eq = equations_of(model, who, formulation)
    given = Given.of(eq.model)
    definitions = [(se.Symbol(n), e) for n, e in given.derived]
    low = Lowering(
        [eq.t, *eq.q, *eq.v, *eq.u], [se.Symbol(n) for n in given.independent], (*definitions, *eq.definitions)
    )
    n = len(eq.v)
    entries: dict[str, list[Any]] = {
        "M": [eq.M[i][j] for i in range(n) for j in range(n)],
        "f": [*eq.f],
        "qdot": [*eq.qdot],
        "G": [x for row in eq.G for x in row],
        "c": [*eq.c],
        "g": [*eq.g],
        "b": [*eq.b],
        "energies": [eq.kinetic, eq.potential],
        "inputs": [given.inputs[str(s)] for s in eq.u],
    }
    counts = {"v": n, "q": len(eq.q), "r": eq.loop_rows, "g": len(eq.g), "u": len(eq.u), "2": 2}
    start, rows, length = _numbers(eq)
    return Blocks(
        eq,
        Layout.of(eq.model, eq.coordinates, eq.speeds),
        given.independent,
        start,
        rows,
        length,
        low,
        {name: tuple(low(e) for e in listed) for name, listed in entries.items()},
        {name: tuple(counts[x] for x in shape) for name, shape in SHAPES.items()},
    )


def _numbers(eq: Equations) -> tuple[Array, tuple[int, ...], float]:
    """The initial state, a largest set of rows of G that are independent at a regular state, and a typical length."""
    from scipy.linalg import qr

    from pendula.system.build import compile_system
    from pendula.system.loops.assembly import assemble
    from pendula.system.loops.mobility import comparable, dimensionless, independent_rows
    from pendula.system.loops.sampling import random_states
    from pendula.system.parameters import typical_length

    system = compile_system(eq)
    state = assemble(system).state
    start, length = np.concatenate([state.q, state.v]), typical_length(system)
    if not eq.loop_rows:
        return start, (), length
    count = independent_rows(system)
    if count == eq.loop_rows:
        return start, tuple(range(count)), length
    try:
        t, q, _ = random_states(system, 1, seed=1)
        G = system.constraint_jacobian(q[0], t[0])
    except PendulaError:
        G = system.constraint_jacobian(state.q, state.t)
    order = qr(comparable(dimensionless(system, G, system.parameters)).T, pivoting=True, mode="r")[1]
    return start, tuple(sorted(int(k) for k in order[:count])), length
