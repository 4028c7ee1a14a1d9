"""The native programs of a system, each compiled from the equations on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine as se

from pendula.equations.equations import Equations, drive_definitions
from pendula.equations.matrix import entries
from pendula.equations.mechanism.body_coordinates import BodyCoordinates, derive_placement
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.equations.motions import derive_motions
from pendula.equations.translate import translate
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.system import kernels as kn
from pendula.system.block_tree.layout import TreeLayout
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.terms import dynamics_entries, gap_entries
from pendula.system.layout import Array

if TYPE_CHECKING:
    from pendula.system.taylor.code import NativeSeries

MOST_KEPT = 200_000  # operations; a larger program is not shared with the next block
MANY_BODIES = 20  # with more bodies, optimization takes seconds and gains a few percent
_building = threading.RLock()


@dataclass(frozen=True)
class Compiled:
    """A native program with its parameters prepared."""

    native: Native
    prepared: Array

    @cached_property
    def context(self) -> int:
        """Address of the prepared parameters."""
        return int(self.prepared.ctypes.data)

    def rows(self, x: Array) -> Array:
        """The outputs for every row of inputs."""
        if x.shape[1] != self.native.inputs:  # native code would read past the row
            raise ValueError(f"a program with {self.native.inputs} inputs got rows of {x.shape[1]}")
        out = np.empty((len(x), self.native.outputs))
        kn.evaluate_rows(self.native.evaluate, self.context, x, out)
        return out


def prepared_parameters(native: Native, parameters: Array) -> Array:
    """Parameters of a program, followed by the values that it computes from them once."""
    found: Array = prepared_rows(native, parameters[None])[0]
    return found


def prepared_rows(native: Native | NativeSeries, parameters: Array) -> Array:
    """The same for many sets of parameters, one in every row."""
    rows = np.empty((len(parameters), native.parameters + native.prepared))
    rows[:, : native.parameters] = parameters
    if native.prepared:
        out = np.empty((len(parameters), native.prepared))
        kn.evaluate_rows(native.prepare, 0, np.ascontiguousarray(parameters), out)
        rows[:, native.parameters :] = out
    return rows


def inputs_in_time(model: Model, *, constant_ones: bool = False) -> tuple[tuple[Any, Any], ...]:
    """Inputs of a model that depend on time (or all of them), as pairs (symbol, expression)."""
    found = []
    for name, value in model.inputs.items():
        expression = parse(value)
        if constant_ones or "t" in expression.names:
            found.append((se.Symbol(name), translate(expression, {n: se.Symbol(n) for n in expression.names})))
    return tuple(found)


@lru_cache(maxsize=16)  # formulations of one mechanism share it: it does not depend on their equations
def _motion(model: Model, maximal: bool, inputs: tuple[Any, ...], parameters: tuple[Any, ...]) -> Native:
    """Velocities and accelerations of all bodies, in maximal or in the joints' coordinates; v' are further inputs."""
    found = derive_motions(BodyCoordinates(model) if maximal else TreeCoordinates(model))
    low = Lowering([*inputs, *found.accelerations], parameters, found.definitions)
    flat = [x for j in model.tree for vector in found.motions[j.child.body] for x in vector]
    return compile_program(low.program, [low(e) for e in flat], quick=True)


class Programs:
    """Compiles blocks of the equations on first use and keeps them. All read t, q, v, u, then extra inputs.

    All blocks are lowered into one program (a second one if inputs depend on time), so that each expression of
    the equations is lowered once. The machine code of a block does not depend on the blocks before it.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._lowerings: dict[tuple[bool, bool], Lowering] = {}
        self._known: dict[str, Native] = {}
        self._bound: dict[str, tuple[bytes, Compiled]] = {}
        self._series: dict[int, NativeSeries] = {}

    def bind(self, name: str, parameters: Array, build: Callable[[], Native]) -> Compiled:
        """The program of that name with parameters prepared; compiled if it is new, kept for the last parameters."""
        key, known = parameters.tobytes(), self._bound.get(name)
        if known is None or known[0] != key:
            native = self.native(name, build)
            known = self._bound[name] = key, Compiled(native, prepared_parameters(native, parameters))
        return known[1]

    def block(
        self, name: str, parameters: Array, entries: Callable[[], Sequence[Any]], *, quick: bool = True
    ) -> Compiled:
        """A program that computes some expressions of the equations; ``quick`` unless a stepper calls it."""

        def build() -> Native:
            low = self.lowering()
            return compile_program(low.program, [low(e) for e in entries()], inputs=low.inputs(), quick=quick)

        return self.bind(name, parameters, build)

    @cached_property
    def inputs_in_time(self) -> tuple[tuple[Any, Any], ...]:
        """Inputs that depend on time, as pairs (symbol, expression)."""
        return inputs_in_time(self._equations.model)

    def watched(self, texts: Sequence[str], values: Sequence[Any], parameters: Array) -> Compiled:
        """A program for expressions in symbols of the equations; it reads only t, q, v."""

        def build() -> Native:
            eq = self._equations
            low = Lowering([eq.t, *eq.q, *eq.v], eq.p, (*self._all_inputs, *eq.definitions))
            return compile_program(low.program, [low(e) for e in values], quick=True)

        return self.bind(f"watched {list(texts)}", parameters, build)

    def slopes(self, texts: Sequence[str], values: Sequence[Any], parameters: Array) -> Compiled:
        """Derivatives of expressions in symbols of the equations by q, then by v; it reads only t, q, v."""

        def build() -> Native:
            eq = self._equations
            low = Lowering([eq.t, *eq.q, *eq.v], eq.p, (*self._all_inputs, *eq.definitions))
            program, outputs = low.program, [low(e) for e in values]
            order = program.needed(outputs)
            columns = [program.tangent(outputs, {low(x): program.one}, order) for x in (*eq.q, *eq.v)]
            return compile_program(program, [c[i] for i in range(len(outputs)) for c in columns], quick=True)

        return self.bind(f"slopes of {list(texts)}", parameters, build)

    @cached_property
    def _all_inputs(self) -> tuple[tuple[Any, Any], ...]:
        """All inputs as pairs (symbol, expression of time and parameters)."""
        return inputs_in_time(self._equations.model, constant_ones=True)

    def lowering(self, *, inputs_in_time: bool = False, inputs_fixed: bool = False) -> Lowering:
        """The lowering that all blocks with the same inputs share.

        Args:
            inputs_in_time: the program computes inputs that depend on time, and ignores their entries in u.
            inputs_fixed: u are parameters, after those of the model, instead of inputs.
        """
        eq = self._equations
        timed = self.inputs_in_time if inputs_in_time else ()
        key = bool(timed), inputs_fixed
        found = self._lowerings.get(key)
        if found is None or len(found.program.ops) > MOST_KEPT:
            in_time = {s for s, _ in timed}
            slots = [se.Symbol(f"{s}'") if s in in_time else s for s in eq.u]
            read, fixed = ([], slots) if inputs_fixed else (slots, [])
            found = Lowering([eq.t, *eq.q, *eq.v, *read], [*eq.p, *fixed], (*timed, *eq.definitions))
            self._lowerings[key] = found
        return found

    def native(self, name: str, build: Callable[[], Native]) -> Native:
        """The program of that name without parameters; compiled if it is new."""
        native = self._known.get(name)
        if native is None:
            with _building:  # blocks share one lowering
                native = self._known.get(name) or build()
                self._known[name] = native
        return native

    def dynamics(self, parameters: Array) -> Compiled:
        """M, f, q', G, c, power and the rows of prescribed motions, in the order that the right-hand side reads."""
        return self.bind("dynamics", parameters, self._build_dynamics)

    def _build_dynamics(self) -> Native:
        eq = self._equations
        low = self.lowering(inputs_in_time=True)
        found = {place: low(e) for place, e in enumerate(dynamics_entries(eq)) if e is not None}
        return compile_program(low.program, list(found.values()), list(found), inputs=low.inputs())

    def series(self, lanes: int, *, power: bool) -> NativeSeries:
        """Taylor coefficients of q, v and, with ``power``, of the work, for ``lanes`` states at a time."""
        from pendula.system.taylor.code import compile_series  # slow to load
        from pendula.system.taylor.recurrences import derive_rates, find_recurrences

        if lanes not in self._series:
            rates = derive_rates(self._equations, self._all_inputs, power=power)
            self._series[lanes] = compile_series(find_recurrences(rates), lanes)
        return self._series[lanes]

    @property
    def _many_bodies(self) -> bool:
        """Whether programs of trees are compiled without optimization: they compute little, solving takes longer."""
        return len(self._equations.nodes) > MANY_BODIES

    def tree_dynamics(self, parameters: Array, tree: TreeLayout) -> Compiled:
        """M, G, f and c by nodes, then q', power and the rows of prescribed motions."""

        def build() -> Native:
            eq = self._equations
            low = self.lowering(inputs_in_time=True)
            values, places = tree.matrix_entries(eq)
            start = tree.matrix_size
            more, where = tree.vector_places(start, eq.f, eq.c)
            rest = [*eq.qdot, eq.power, *(d.rate for d in eq.drives), *eq.drive_f]
            start += tree.unknowns + tree.border
            values, places = [*values, *more, *rest], [*places, *where, *range(start, start + len(rest))]
            for r, d, x in entries(eq.drive_G):
                values.append(x)
                places.append(start + len(rest) + r * len(eq.drives) + d)
            inputs = low.inputs()
            return compile_program(
                low.program, [low(e) for e in values], places, inputs=inputs, quick=self._many_bodies
            )

        return self.bind("tree dynamics", parameters, build)

    def tree_gaps(self, parameters: Array, tree: TreeLayout) -> Compiled:
        """M and G by nodes, then -g and b - G v, in the order that the projection reads."""

        def build() -> Native:
            eq = self._equations
            low = self.lowering()
            values, places = tree.matrix_entries(eq)
            moved: list[list[Any]] = [[b] for b in eq.b]
            for r, j, x in entries(eq.G):
                moved[r].append(-x * eq.v[j])
            for k, rows in enumerate(([-x for x in eq.g[: eq.loop_rows]], [se.Add(*terms) for terms in moved])):
                start = tree.matrix_size + k * (tree.unknowns + tree.border)
                more, where = tree.vector_places(start, None, rows)
                values, places = [*values, *more], [*places, *where]
            inputs = low.inputs()
            return compile_program(
                low.program, [low(e) for e in values], places, inputs=inputs, quick=self._many_bodies
            )

        return self.bind("tree gaps", parameters, build)

    def placement(self, parameters: Array) -> Compiled:
        """Coordinates and speeds of the bodies from those of the joints."""

        def build() -> Native:
            found = derive_placement(self._equations.model)
            low = Lowering(found.inputs, self._equations.p, found.definitions)
            return compile_program(low.program, [low(e) for e in (*found.q, *found.v)], quick=True)

        return self.bind("placement", parameters, build)

    def joint_accelerations(self, parameters: Array) -> Compiled:
        """Accelerations of the joints, from maximal coordinates; v' is an extra input."""

        def build() -> Native:
            eq = self._equations
            bodies = BodyCoordinates(eq.model)
            rate = bodies.in_time(accelerations=dict(zip(eq.v, eq.acceleration_symbols, strict=True)))
            found = [rate(bodies.readings[s.name]) for s in eq.model.speeds]
            definitions = (*drive_definitions(bodies), *bodies.tape.definitions.items())
            low = Lowering([eq.t, *eq.q, *eq.v, *eq.u, *eq.acceleration_symbols], eq.p, definitions)
            return compile_program(low.program, [low(e) for e in found], quick=True)

        return self.bind("joint accelerations", parameters, build)

    def gaps(self, parameters: Array) -> Compiled:
        """g, G, b and M, in the order that the projection reads."""
        return self.block("gaps", parameters, lambda: gap_entries(self._equations), quick=False)

    def motion(self, parameters: Array) -> Compiled:
        """Velocities and accelerations of all bodies; v' is an extra input."""

        eq = self._equations
        return self.bind(
            "motion", parameters, lambda: _motion(eq.model, bool(eq.nodes), (eq.t, *eq.q, *eq.v, *eq.u), tuple(eq.p))
        )

    def transmitted(self, parameters: Array) -> Compiled:
        """Force and torque in every joint (constraint wrenches); v' and lam are extra inputs."""
        joints = self._equations.transmitted
        return self.solved("transmitted", parameters, lambda: [x for j in joints for x in (*j.force, *j.torque)])

    def solved(self, name: str, parameters: Array, entries: Callable[[], Sequence[Any]]) -> Compiled:
        """A program for expressions of the state and of symbols for v' and lam, which are extra inputs."""

        def build() -> Native:
            eq, low = self._equations, self.lowering()
            inputs = low.inputs([*eq.acceleration_symbols, *eq.multiplier_symbols])
            return compile_program(low.program, [low(e) for e in entries()], inputs=inputs, quick=True)

        return self.bind(name, parameters, build)

    def deviations(self, parameters: Array, varied: tuple[str, ...] = (), driven: tuple[str, ...] = ()) -> Compiled:
        """Directional derivatives of q', f + G^T lam - M a and c - G a along (dq, dv, dp).

        Extra inputs are a, lam, dq, dv and dp. ``varied`` names the parameters of dp. Inputs follow them, so that the
        program ignores u if there are any, except for inputs in ``driven``, which a run gives.
        """

        def build() -> Native:
            eq = self._equations
            a, lam = eq.acceleration_symbols, eq.multiplier_symbols
            symbols = (*eq.q, *eq.v, *(s for s in eq.p if s.name in varied))
            along = [se.Symbol(f"d'{s}") for s in symbols]
            low = self._with_inputs(varied, driven)
            program, inputs = low.program, low.inputs([*a, *lam, *along])
            outputs = [*(low(e) for e in eq.qdot), *(low(e) for e in eq.f), *(low(e) for e in eq.c)]
            first, rows = len(eq.q), len(eq.q) + len(eq.v)
            for i, j, x in entries(eq.M):
                outputs[first + i] = program.subtract(outputs[first + i], program.multiply(low(x), low(a[j])))
            for r, j, x in entries(eq.G):
                outputs[first + j] = program.add(outputs[first + j], program.multiply(low(x), low(lam[r])))
                outputs[rows + r] = program.subtract(outputs[rows + r], program.multiply(low(x), low(a[j])))
            seeds = {low(s): low(d) for s, d in zip(symbols, along, strict=True)}
            return compile_program(program, program.tangent(outputs, seeds, program.needed(outputs)), inputs=inputs)

        return self.bind(f"deviations {list(varied)} {list(driven)}", parameters, build)

    def _with_inputs(self, varied: tuple[str, ...], driven: tuple[str, ...]) -> Lowering:
        """A lowering in which inputs are functions of time and, if parameters vary, follow these."""
        eq = self._equations
        if not varied:
            return self.lowering(inputs_in_time=True)
        slots = [s if s.name in driven else se.Symbol(f"{s}'") for s in eq.u]
        follow = [pair for pair in self._all_inputs if pair[0].name not in driven]
        return Lowering([eq.t, *eq.q, *eq.v, *slots], eq.p, (*follow, *eq.definitions))

    def gap_rate_slopes(self, parameters: Array) -> Compiled:
        """The directional derivative of G v - b along dq, which is an extra input."""

        def build() -> Native:
            eq = self._equations
            along = [se.Symbol(f"d'{s}") for s in eq.q]
            low = self.lowering()
            program, inputs = low.program, low.inputs(along)
            outputs = [program.negate(low(e)) for e in eq.b]
            for r, j, x in entries(eq.G):
                outputs[r] = program.add(outputs[r], program.multiply(low(x), low(eq.v[j])))
            seeds = {low(s): low(d) for s, d in zip(eq.q, along, strict=True)}
            tangent = program.tangent(outputs, seeds, program.needed(outputs))
            return compile_program(program, tangent, inputs=inputs, quick=True)

        return self.bind("slopes of gap rates", parameters, build)

    def residual_jacobian(self, by: str, parameters: Array) -> Compiled:
        """Jacobians of M a - f - G^T lam and of G a - c; a and lam are extra inputs."""
        eq = self._equations
        symbols = {"q": eq.q, "v": eq.v, "u": eq.u, "p": eq.p}[by]
        return self.bind(f"residual by {by}", parameters, lambda: self._build_residual_jacobian(symbols))

    def _build_residual_jacobian(self, by: Sequence[Any]) -> Native:
        eq = self._equations
        a, lam = eq.acceleration_symbols, eq.multiplier_symbols
        low = self.lowering()
        program, inputs = low.program, low.inputs([*a, *lam])
        values, forces = [low(x) for x in a], [low(x) for x in lam]
        G = [[low(x) for x in row] for row in eq.G]
        outputs = []
        for i, row in enumerate(eq.M):
            total = program.negate(low(eq.f[i]))
            for x, value in zip(row, values, strict=True):
                total = program.add(total, program.multiply(low(x), value))
            for slope, force in zip(G, forces, strict=True):
                total = program.subtract(total, program.multiply(slope[i], force))
            outputs.append(total)
        for slope, c in zip(G, eq.c, strict=True):
            total = program.negate(low(c))
            for x, value in zip(slope, values, strict=True):
                total = program.add(total, program.multiply(x, value))
            outputs.append(total)
        order = program.needed(outputs)
        columns = [program.tangent(outputs, {low(x): program.one}, order) for x in by]
        values = [column[i] for i in range(len(outputs)) for column in columns]
        return compile_program(program, values, inputs=inputs)
