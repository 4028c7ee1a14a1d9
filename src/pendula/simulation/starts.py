"""Reads initial states and parameters of many runs, in all accepted forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.arguments import read_numbers
from pendula.errors import PendulaError, UsageError
from pendula.interrupts import obey_interrupt
from pendula.model.quantities import number_in
from pendula.system.layout import Array, Layout, State
from pendula.system.loops.assembly import assemble_holding, not_kept
from pendula.system.parameters import parameter_vector
from pendula.system.system import System, has_gaps


def row_of(table: Any, run: int) -> Any:
    """What belongs to a run, of a table with one row for each run or one row for all."""
    return table[run if len(table) > 1 else 0]


def rows_of(table: Array, some: Array) -> Array:
    """The parameters of some runs; one row if it is that of all runs."""
    return table if len(table) == 1 else table[some]


def sharing_parameters(table: Array, runs: int) -> Iterator[tuple[slice, Array]]:
    """Runs that share their parameters, with these: all together, or each separately."""
    if len(table) == 1:
        yield slice(None), table[0]
        return
    for run in range(runs):
        yield slice(run, run + 1), table[run]


@dataclass(frozen=True)
class Starts:
    """Initial states as given, not yet projected onto the constraints.

    Attributes:
        q, v: one row for each run, in joint coordinates or in those of the equations.
        named: coordinates and speeds given by name, for each run; one entry if they are the same for all.
        written: those that the model gives, which assembly changes as little as possible.
        in_joints: whether q and v are joint coordinates and speeds.
    """

    t: float
    q: Array
    v: Array
    named: tuple[frozenset[str], ...]
    in_joints: bool
    written: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.q)

    def some(self, which: slice | Array) -> Starts:
        """Some of the runs."""
        named = self.named if len(self.named) == 1 else tuple(self.named[k] for k in np.arange(len(self))[which])
        return replace(self, q=self.q[which], v=self.v[which], named=named)

    def layout(self, system: System) -> Layout:
        """Names of the columns."""
        return system.in_joints.layout if self.in_joints else system.layout

    def not_finite(self, system: System) -> dict[int, str]:
        """Runs with a state that is not finite, and the name of the value."""
        layout = self.layout(system)
        names = (*layout.coordinates, *layout.speeds)
        bad = ~np.isfinite(np.concatenate([self.q, self.v], axis=1))
        return {int(run): names[int(np.argmax(bad[run]))] for run in np.flatnonzero(bad.any(axis=1))}

    def assembled(self, system: System, parameters: Array) -> tuple[Array, Array, dict[int, str]]:
        """Consistent coordinates and speeds of the equations, and the errors of runs that have none."""
        layout, failed = self.layout(system), dict[int, str]()
        if not has_gaps(system) and system.in_joints.same:
            return self.q, self.v, failed
        q = np.zeros((len(self), len(system.layout.coordinates)))
        v = np.zeros((len(self), len(system.layout.speeds)))
        for run in range(len(self)):
            obey_interrupt()
            named, vector = row_of(self.named, run), row_of(parameters, run)
            state = State(self.t, self.q[run], self.v[run], layout)
            asked = named & {*system.in_joints.layout.speeds}
            try:
                found = assemble_holding(
                    system, state, vector, asked, (named | self.written, named), anywhere=bool(named)
                )
            except PendulaError as error:
                failed[run] = " ".join(str(error).split())
                continue
            if wrong := not_kept(found, named, vector):
                failed[run] = wrong
            q[run], v[run] = found.state.q, found.state.v
        return q, v, failed


def read_starts(system: System, given: Any, parameters: Array) -> Starts:
    """Initial states: values by name (numbers or arrays), a list of such or of States, or arrays (q, v)."""
    if isinstance(given, Mapping):
        return _by_name(system, given, parameters)
    if isinstance(given, tuple) and len(given) == 2 and all(_is_table(x) or x is None for x in given):
        return _from_arrays(system, *given)
    if not isinstance(given, Sequence):
        raise UsageError(
            "initial_states must be a list of States or of values by name, arrays by name, or (q, v); "
            f"found {type(given).__name__}"
        )
    if not given:
        raise UsageError("initial_states is empty: there is nothing to simulate")
    if all(isinstance(x, State) for x in given):
        return _from_states(system, given)
    if not all(isinstance(x, Mapping) for x in given):
        odd = next(k for k, x in enumerate(given) if not isinstance(x, Mapping))
        raise UsageError(f"initial_states: entry {odd} is a {type(given[odd]).__name__}, not a State or values by name")
    return _from_mappings(system, given, parameters)


def _is_table(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 2


def _by_name(system: System, given: Mapping[str, Any], parameters: Array) -> Starts:
    """Arrays by name, one entry for each run; numbers, text and orientations of joints apply to all runs."""
    layout = system.in_joints.layout
    given = layout.by_coordinates(given)
    columns = {name: _column(name, value, layout.units.get(name, "")) for name, value in given.items()}
    runs = max([c.size for c in columns.values()] + [len(parameters)])
    for name, column in columns.items():
        if column.size not in (1, runs):
            raise UsageError(f'initial_states: "{name}" has {column.size} values, but there are {runs} runs')
    q, v = _model_states(system, parameters, runs)
    for name, column in columns.items():
        which, k = layout.position(name)
        (q if which == "q" else v)[:, k] = column
    return Starts(0.0, q, v, (frozenset(given),), True, frozenset(system.model.initial))


def _column(name: str, value: Any, unit: str) -> Array:
    """Values of all runs, or one for all; text such as "30deg" is read in a unit."""
    where = f'initial_states: "{name}"'
    column = np.atleast_1d(number_in(value, unit, where) if isinstance(value, str) else read_numbers(value, where))
    if column.ndim != 1 or column.size == 0:
        raise UsageError(f'initial_states: "{name}" must be a number or one for each run, got shape {column.shape}')
    return column


def _model_states(system: System, parameters: Array, runs: int) -> tuple[Array, Array]:
    """The initial state of the model for every run; its expressions may depend on parameters."""
    if len(parameters) not in (1, runs):
        raise UsageError(f"there are {runs} initial states, but {len(parameters)} sets of parameters")
    states = [system.in_joints.initial_state(row) for row in parameters]
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    return np.array(np.broadcast_to(q, (runs, q.shape[1]))), np.array(np.broadcast_to(v, (runs, v.shape[1])))


def _from_mappings(system: System, given: Sequence[Mapping[str, Any]], parameters: Array) -> Starts:
    q, v = _model_states(system, parameters, len(given))
    layout = system.in_joints.layout
    given = [layout.by_coordinates(values) for values in given]
    for run, values in enumerate(given):
        for name, value in values.items():
            which, k = layout.position(name)
            where = f'initial_states: "{name}" of run {run}'
            (q if which == "q" else v)[run, k] = number_in(value, layout.units.get(name, ""), where)
    return Starts(0.0, q, v, tuple(frozenset(values) for values in given), True, frozenset(system.model.initial))


def _from_states(system: System, given: Sequence[State]) -> Starts:
    own = (system.layout.coordinates, system.layout.speeds)
    joints = (system.in_joints.layout.coordinates, system.in_joints.layout.speeds)
    for run, state in enumerate(given):
        names = (state.layout.coordinates, state.layout.speeds)
        if names not in (own, joints) or names != (given[0].layout.coordinates, given[0].layout.speeds):
            raise UsageError(f"initial_states: state {run} belongs to another system: it has {', '.join(names[0][:6])}")
        if state.t != given[0].t:
            raise UsageError(f"initial_states: all must belong to one time; state {run} belongs to t = {state.t:g}")
    in_joints = (given[0].layout.coordinates, given[0].layout.speeds) == joints
    q, v = np.array([s.q for s in given], dtype=float), np.array([s.v for s in given], dtype=float)
    return Starts(float(given[0].t), q, v, (frozenset(),), in_joints)


def _from_arrays(system: System, q: Array | None, v: Array | None) -> Starts:
    if q is None:
        raise UsageError("initial_states: q is missing")
    for layout in (system.layout, system.in_joints.layout):
        nq, nv = len(layout.coordinates), len(layout.speeds)
        speeds = np.zeros((len(q), nv)) if v is None else v
        if q.shape[1] == nq and speeds.shape[1] == nv and len(q) == len(speeds) > 0:
            tables = np.array(q, dtype=float), np.array(speeds, dtype=float)
            return Starts(0.0, *tables, (frozenset(),), layout is not system.layout)
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    found = f"{q.shape} and {None if v is None else v.shape}"
    raise UsageError(f"initial_states: expected q (runs, {nq}) and v (runs, {nv}), got {found}")


def read_parameters(system: System, given: Any) -> Array:
    """One row of parameters for all runs, or one for each.

    Args:
        given: None, values by name (numbers, or one for each run), an array, or an array with a row for each run.
    """
    if given is None:
        return system.parameters[None]
    if isinstance(given, Mapping):
        columns = {name: np.atleast_1d(read_numbers(value, f'parameters: "{name}"')) for name, value in given.items()}
        runs = max((c.size for c in columns.values()), default=1)
        for name, column in columns.items():
            if column.ndim != 1 or column.size not in (1, runs):
                raise UsageError(f'parameters: "{name}" has shape {column.shape}, but there are {runs} runs')
        sets = [{n: float(c[k if c.size > 1 else 0]) for n, c in columns.items()} for k in range(runs)]
        return np.array([parameter_vector(system, values) for values in sets])
    table = read_numbers(given, "parameters")
    if table.ndim == 1:
        return parameter_vector(system, table)[None]
    if table.ndim != 2 or not len(table):
        raise UsageError(f"parameters: expected values by name, or an array (runs, {system.parameters.size})")
    return np.array([parameter_vector(system, row) for row in table])
