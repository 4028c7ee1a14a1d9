"""The recipe of a study: everything that a worker needs to compute any of its cases; and the worker that follows it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pendula.errors import PendulaError, UsageError
from pendula.extensions import Extension, load_again, loaded
from pendula.interrupts import whole
from pendula.model.model import Model
from pendula.numerics.compiled.machine import machine
from pendula.outcome import Outcome
from pendula.simulation.ensemble import OUTCOMES
from pendula.studies.axes import INITIAL, INPUT, PARAMETER, SETTING, SETTINGS
from pendula.studies.batch import Batch, Computed, Tell, reason, silent
from pendula.studies.computations.own import Function, identity, own_computation
from pendula.studies.computations.registry import COMPUTATIONS, Computation
from pendula.studies.plan import Plan
from pendula.studies.problems import Problems
from pendula.system.build import compile_alike, compile_system
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.tables.table import Block

Asked = str | Function
"""one computation: its name, or a function of a case"""
SHARED = ("ok", "outcome", "energy_drift", "steps", "constraint_violation", "growth_rate")
"""results that several registered computations give under one name; the first one's are kept"""
ACCOUNT = {"ok", "outcome", "energy_drift", "steps"}
"""results of every computation that integrates motions"""

_INTERRUPTED = OUTCOMES.index(Outcome.INTERRUPTED)


@dataclass(frozen=True)
class Recipe:
    """How cases are computed: the system, the computations with their settings, and what varies.

    Attributes:
        system: the mechanism; it is pickled as its model, formulation and engine.
        compute: names of computations, and functions.
        options: settings of all of them.
        kinds: what every varying name is.
        extensions: what a worker has to load first.
    """

    system: System
    compute: tuple[Asked, ...]
    options: Mapping[str, Any]
    kinds: Mapping[str, str]
    extensions: tuple[Extension, ...] = ()

    def describe(self) -> dict[str, Any]:
        """What is computed, as plain data that distinguishes it from others."""
        names = [one if isinstance(one, str) else f"function {identity(one)}" for one in self.compute]
        return {"compute": names, "options": {name: _plain(x) for name, x in sorted(self.options.items())}}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(x) for k, x in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(x) for x in value]
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def make_recipe(system: System, compute: Any, options: Mapping[str, Any], kinds: Mapping[str, str]) -> Recipe:
    """A recipe, with the defaults of all settings.

    Raises:
        UsageError: there is no such computation, none of them has such a setting, or the defaults of one that is not
            given differ.
    """
    asked = read_compute(compute)
    known = options_of(asked)
    refuse_unknown(asked, options)
    _refuse_unlike(asked, {*options, *(name for name, kind in kinds.items() if kind == SETTING)})
    chosen = {**known, **options}
    missing = [name for name, value in chosen.items() if value is ... and kinds.get(name) != SETTING]
    if missing:
        raise UsageError(f'sweep: "{missing[0]}" must be given for {", ".join(map(str, asked))}')
    return Recipe(system, asked, chosen, dict(kinds), loaded())


def refuse_unknown(asked: tuple[Asked, ...], options: Iterable[str]) -> None:
    """Refuses settings that no computation has; a function may use any.

    Raises:
        UsageError: lists them.
    """
    if not all(isinstance(one, str) for one in asked):
        return
    known, problems = options_of(asked), Problems()
    hint = f"their settings are {', '.join(known)}" if known else "they have none"
    for name in options:
        if name not in known:
            problems.add(f'sweep: "{name}" is not a setting of {", ".join(map(str, asked))}; {hint}')
    problems.raise_any()


def _refuse_unlike(asked: tuple[Asked, ...], decided: set[str]) -> None:
    """Refuses settings whose defaults differ between computations, unless the study decides them.

    Raises:
        UsageError: names the computations and their defaults.
    """
    defaults: dict[str, dict[str, Any]] = {}
    for one in asked:
        for name, value in COMPUTATIONS[one].options.items() if isinstance(one, str) else ():
            defaults.setdefault(name, {})[str(one)] = value
    unlike = {n: by for n, by in defaults.items() if n not in decided and len({*map(repr, by.values())}) > 1}
    if unlike:
        listed = "; ".join(
            f"{n}: " + ", ".join(f"{x!r} for {one}" for one, x in by.items()) for n, by in unlike.items()
        )
        given = ", ".join(f"{name}=..." for name in unlike)
        raise UsageError(
            f"sweep: these computations have different defaults of {' and '.join(unlike)} ({listed}).\n"
            f"  Try: {given} for all, or a study for each."
        )


def read_compute(compute: Any) -> tuple[Asked, ...]:
    """What to compute: a name, a function, or several of them.

    Raises:
        UsageError: there is no such computation.
    """
    asked = tuple(compute) if isinstance(compute, (list, tuple)) else (compute,)
    for one in asked:
        if isinstance(one, str):
            COMPUTATIONS.entry(one)
        elif not callable(one):
            raise UsageError(f"compute is the name of a computation or a function of a case, found {one!r:.60}")
    if not asked or len({*map(str, asked)}) < len(asked):
        raise UsageError(f"compute names nothing, or one computation twice: {compute!r:.80}")
    return asked


def options_of(asked: tuple[Asked, ...]) -> dict[str, Any]:
    """Settings of computations with their defaults."""
    found: dict[str, Any] = {}
    for one in asked:
        if isinstance(one, str):
            found = {**dict(COMPUTATIONS[one].options), **found}
    return found


@dataclass(frozen=True, eq=False)
class Task:
    """Cases that one worker computes in one go: their numbers, and the values of what varies."""

    cases: Array
    values: Mapping[str, Array]

    @classmethod
    def of(cls, plan: Plan, cases: Array) -> Task:
        """Some cases of a plan."""
        return cls(cases, plan.values(cases))

    def __len__(self) -> int:
        return len(self.cases)

    def halves(self) -> tuple[Task, Task]:
        """The same cases in two tasks."""
        at = len(self) // 2
        first, second = slice(None, at), slice(at, None)
        return tuple(
            Task(self.cases[part], {name: x[part] for name, x in self.values.items()}) for part in (first, second)
        )  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Part:
    """Results of some cases.

    Attributes:
        cases: their numbers.
        values: what varied, by name.
        blocks: arrays over ``case``, and labels of further dimensions.
        failures: by number of the case, why it could not be computed.
        seconds: wall time of the worker.
        machine: on which machine, with which processor and versions.
    """

    cases: Array
    values: Mapping[str, Array]
    blocks: tuple[Block, ...]
    failures: Mapping[int, str]
    seconds: float
    machine: Mapping[str, str]

    @cached_property
    def size(self) -> int:
        """Bytes of its arrays."""
        return sum(b.values.nbytes for b in self.blocks) + self.cases.nbytes * (1 + len(self.values))

    def finished(self) -> Part:
        """The part without cases whose runs were interrupted, which are still to be computed."""
        over = {block.name: block for block in self.blocks if block.dims == ("case",)}
        if not over.keys() >= ACCOUNT or not (stopped := over["outcome"].values == _INTERRUPTED).any():
            return self
        kept = ~stopped
        cases = self.cases[kept]
        return replace(
            self, cases=cases, values={name: x[kept] for name, x in self.values.items()},
            blocks=tuple(replace(b, values=b.values[kept]) if b.dims[:1] == ("case",) else b for b in self.blocks),
            failures={case: text for case, text in self.failures.items() if case in cases},
        )  # fmt: skip


class Work:
    """Computes tasks by a recipe. A process makes it once; it keeps compiled systems."""

    def __init__(self, recipe: Recipe) -> None:
        load_again(recipe.extensions)
        self._recipe = recipe
        self._systems: dict[tuple[Any, ...], System] = {}
        self._computations: tuple[Computation, ...] = tuple(
            COMPUTATIONS[one] if isinstance(one, str) else own_computation(one) for one in recipe.compute
        )

    def first(self, task: Task) -> Part:
        """Computes the first case of a study.

        Raises:
            PendulaError: something is wrong that has nothing to do with this case, such as a setting.
        """
        return whole(self._part, task, silent, raising=True)

    def __call__(self, task: Task, tell: Tell) -> Part:
        """Computes the cases of a task; those that fail are recorded with their reasons.

        If a computation ends in an unexpected error, its cases are computed one by one, to find those that cause it.
        """
        try:
            return whole(self._part, task, tell)
        except PendulaError:
            raise
        except Exception as error:
            if len(task) == 1 or isinstance(error, MemoryError):
                raise
        begun = time.perf_counter()
        parts = [self._alone(task, k) for k in range(len(task))]
        failures = {case: text for part in parts for case, text in part.failures.items()}
        blocks = joined(len(task), [(np.array([k]), part.blocks) for k, part in enumerate(parts)])
        return Part(task.cases, task.values, blocks, failures, time.perf_counter() - begun, machine())

    def _alone(self, task: Task, k: int) -> Part:
        one = Task(task.cases[k : k + 1], {name: x[k : k + 1] for name, x in task.values.items()})
        try:
            return whole(self._part, one, silent)
        except PendulaError:
            raise
        except Exception as error:
            return Part(one.cases, one.values, (), {int(one.cases[0]): reason(error)}, 0.0, machine())

    def _part(self, task: Task, tell: Tell, *, raising: bool = False) -> Part:
        begun = time.perf_counter()
        pieces: list[tuple[Array, Computed]] = []
        done = 0
        for some, options, chosen in self._groups(task):
            values = {name: x[some] for name, x in task.values.items()}
            try:
                found = self._computed(task.cases[some], values, options, chosen, _later(tell, done, len(task)))
            except PendulaError as error:  # a setting with which no case of the group can be computed
                if raising:
                    raise
                found = Computed((), dict.fromkeys(range(len(some)), reason(error)))
            pieces.append((some, found))
            done += len(some)
        failures = {int(task.cases[some[k]]): text for some, found in pieces for k, text in found.failures.items()}
        blocks = joined(len(task), [(some, found.blocks) for some, found in pieces])
        return Part(
            task.cases, task.values, blocks, dict(sorted(failures.items())), time.perf_counter() - begun, machine()
        )

    def _groups(self, task: Task) -> Iterator[tuple[Array, dict[str, Any], dict[str, Any]]]:
        """Cases with the same settings: their places, the settings, and those that choose the system."""
        names = [name for name in task.values if self._recipe.kinds[name] == SETTING]
        if not names:
            yield np.arange(len(task)), dict(self._recipe.options), {}
            return
        keys = list(zip(*(task.values[name].tolist() for name in names), strict=True))
        for key in dict.fromkeys(keys):
            chosen = dict(zip(names, key, strict=True))
            which: dict[str, Any] = {name: chosen.pop(name) for name in SETTINGS if name in chosen}
            some = np.array([k for k, one in enumerate(keys) if one == key])
            yield some, {**self._recipe.options, **chosen}, which

    def _computed(
        self, cases: Array, values: dict[str, Array], options: dict[str, Any], chosen: dict[str, Any], tell: Tell
    ) -> Computed:
        kinds = self._recipe.kinds
        inputs = tuple(name for name in values if kinds[name] == INPUT)
        system = self._system(chosen, inputs)
        parameters = {name: x for name, x in values.items() if kinds[name] == PARAMETER}
        parameters |= {parameter_for(name): values[name] for name in inputs}
        initial = {name: x for name, x in values.items() if kinds[name] == INITIAL}
        batch = Batch(system, cases, parameters, initial, options)
        failures: dict[int, str] = {}
        results = Results(tuple(values), len(cases))
        for asked, computation in zip(self._recipe.compute, self._computations, strict=True):
            found = computation.compute(batch, tell)
            if isinstance(asked, str):
                found = COMPUTATIONS.checked(asked, found)
            results.add(asked, found.blocks)
            failures |= {k: text for k, text in found.failures.items() if k not in failures}
        return Computed(tuple(results.blocks), failures)

    def _system(self, chosen: dict[str, Any], inputs: tuple[str, ...]) -> System:
        """The system by a chosen formulation or engine, and with parameters for inputs that vary."""
        key = (*sorted(chosen.items()), inputs)
        if key not in self._systems:
            system = self._recipe.system
            if chosen:
                system = compile_system(system.model.as_written, **chosen)
            if inputs:
                system = compile_alike(system, with_input_parameters(system.model.as_written, inputs))
            self._systems[key] = system
        return self._systems[key]


class Results:
    """Results of several computations for the same cases, each of which has its name for itself.

    Attributes:
        varying: names of what varies.
        count: number of cases.
        blocks: the results so far.
    """

    def __init__(self, varying: tuple[str, ...], count: int) -> None:
        self.varying, self.count = varying, count
        self.blocks: list[Block] = []
        self._givers: dict[str, tuple[Asked, Block]] = {}

    def add(self, asked: Asked, blocks: Iterable[Block]) -> None:
        """Adds the results of a computation, without those that others give under the same name with the same meaning.

        Raises:
            UsageError: a result is no array over the cases, or its name is taken.
        """
        who = f'"{asked}"' if isinstance(asked, str) else f"the function {getattr(asked, '__name__', 'in compute')}"
        new = [b for b in blocks if not self._is_shared(asked, b)]
        for block in new:
            names = {block.name, *(column.name for column in block.quantities())}
            if block.dims != (block.name,) and (block.dims[:1] != ("case",) or len(block.values) != self.count):
                raise UsageError(
                    f'sweep: "{block.name}", which {who} computes, must be an array over "case" of length '
                    f"{self.count}, found shape {block.values.shape} over {', '.join(block.dims) or 'nothing'}"
                )
            for name in self.varying:
                if name in names or name in block.dims:
                    raise UsageError(f'sweep: {who} computes "{name}", but "{name}" is what varies; rename the result')
            for name in sorted(names):
                if name in self._givers:
                    other = self._givers[name][0]
                    first = f'"{other}"' if isinstance(other, str) else "a function"
                    raise UsageError(f'sweep: {first} and {who} both compute "{name}"; rename one, or use two studies')
                self._givers[name] = asked, block
        self.blocks += new

    def _is_shared(self, asked: Asked, block: Block) -> bool:
        """Whether another computation gives the same: facts about runs, or labels with the same values."""
        other, known = self._givers.get(block.name, (asked, block))
        if other is asked:
            return False
        if block.dims == known.dims == (block.name,):
            return np.array_equal(block.values, known.values)
        return block.name in SHARED and isinstance(asked, str) and isinstance(other, str)


def _later(tell: Tell, before: int, of: int) -> Tell:
    return lambda ended, runs: tell(before + ended, of)


def parameter_for(name: str) -> str:
    """The parameter that holds the value of an input that varies."""
    return f"{name}_of_case"


def with_input_parameters(model: Model, inputs: tuple[str, ...]) -> Model:
    """A model in which the values of some inputs are parameters, so that they can differ between runs."""
    added = {parameter_for(name): 0.0 for name in inputs}
    taken = next((name for name in added if name in model.parameters), None)
    if taken:
        raise UsageError(f'over: the parameter "{taken}" is in the way of an input that varies; rename it')
    return model.with_changes(
        parameters={**dict(model.parameters), **added},
        inputs={**dict(model.inputs), **{name: parameter_for(name) for name in inputs}},
    )


def joined(count: int, pieces: list[tuple[Array, tuple[Block, ...]]]) -> tuple[Block, ...]:
    """Blocks over ``case`` from groups of cases; those that a group lacks are NaN, or empty text."""
    if len(pieces) == 1 and len(pieces[0][0]) == count:
        return pieces[0][1]
    found: dict[str, Block] = {}
    for some, blocks in pieces:
        for block in blocks:
            if block.dims[:1] != ("case",):
                found.setdefault(block.name, block)
            else:
                scatter(found, block, some, count)
    return tuple(found.values())


def scatter(found: dict[str, Block], block: Block, cases: Array, count: int) -> None:
    """Writes the values of some cases to their places among all ``count`` cases; others stay NaN, or empty text."""
    values = block.values
    if block.name not in found:
        found[block.name] = replace(block, values=_empty((count, *values.shape[1:]), values.dtype))
    into = found[block.name].values
    if into.dtype.kind == "U" and values.dtype.itemsize > into.dtype.itemsize:
        into = into.astype(values.dtype)
    if any(a < b for a, b in zip(into.shape[1:], values.shape[1:], strict=True)):
        into = _widened(into, values.shape[1:])
    if into is not found[block.name].values:
        found[block.name] = replace(found[block.name], values=into)
    into[(cases, *(slice(0, n) for n in values.shape[1:]))] = values


def _empty(shape: tuple[int, ...], kind: np.dtype[Any]) -> Array:
    """An array of unknown values: NaN, or empty text."""
    return np.full(shape, np.nan) if kind.kind == "f" else np.zeros(shape, kind)


def _widened(values: Array, shape: tuple[int, ...]) -> Array:
    """An array with room for more values in every further dimension."""
    wide = _empty((len(values), *(max(a, b) for a, b in zip(values.shape[1:], shape, strict=True))), values.dtype)
    wide[tuple(slice(0, n) for n in values.shape)] = values
    return wide
