"""Inputs of one run: their values at any state, and the callback that writes them during the integration."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from pendula.errors import ComputationError, NotSupported, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError, suggestion
from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.simulation import refusals
from pendula.simulation.inputs import kernels as kn
from pendula.simulation.inputs.kinds import Sampled, Signal
from pendula.system.inputs import Inputs, ModelInputs
from pendula.system.layout import Array, State
from pendula.system.switches.watching import check_names, names_of, watch_program
from pendula.system.system import System

NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
MOST_SAMPLES = 2_000_000
SAME = 1e-13
"""times that differ by less than this part of the largest are the same"""


@dataclass
class Law:
    """A law that is evaluated during a run: compiled expressions, or a Python function.

    Attributes:
        names: inputs that it gives.
        slots: their places among the inputs.
        texts: expressions, one for each input; empty for a function.
        function: a function (t, state) or (t, state, memory).
        sampled: how it is sampled; None if it acts continuously.
    """

    names: tuple[str, ...]
    slots: Array
    texts: tuple[str, ...] = ()
    function: Callable[..., Any] | None = None
    sampled: Sampled | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A function that cannot be pickled is left behind; its values at samples of the run are kept."""
        kept = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.function is None or _can_be_pickled((self.function, self.sampled)):
            return kept
        absent = _LeftBehind(self.names)
        sampled = None if self.sampled is None else replace(self.sampled, law=absent)
        return kept | {"function": absent, "sampled": sampled}

    @property
    def remembers(self) -> bool:
        """Whether the function has a memory."""
        return self.sampled is not None and self.sampled.memory is not None

    def outputs(self, found: Any) -> list[float]:
        """Numbers for all inputs of the law from what the function returned."""
        if isinstance(found, Mapping):
            if {*found} != {*self.names}:
                raise UsageError(f"it returned values of {', '.join(map(str, found))} for {', '.join(self.names)}")
            found = [found[name] for name in self.names]
        values = np.atleast_1d(np.asarray(found, dtype=float)).ravel()
        if values.size != len(self.names):
            raise UsageError(f"it returned {values.size} numbers for {len(self.names)} inputs")
        return [float(x) for x in values]


def _can_be_pickled(what: Any) -> bool:
    try:
        pickle.dumps(what)
    except Exception:  # objects of users raise whatever they like
        return False
    return True


@final
@dataclass(frozen=True)
class _LeftBehind:
    """Stands for a Python function that could not be pickled with its run."""

    names: tuple[str, ...]

    def __call__(self, *_: Any) -> Any:
        raise UsageError(
            f"the function of {', '.join(self.names)} was not pickled with the run, because pickle only takes "
            "functions of a module by their names. Try: a function that is defined at the top of a module, or a text"
        )


@dataclass
class Record:
    """Samples of one controller in a run: when they were taken, when they act, and their outputs."""

    taken: Array
    acting: Array
    values: Array
    memories: dict[float, Any] = field(default_factory=dict)

    def at(self, t: Array, initial: Array) -> Array:
        """Outputs at times, shape (*t.shape, outputs)."""
        k = np.searchsorted(self.acting, t, side="right") - 1
        known = int(np.isfinite(self.values).all(axis=1).sum())  # the run may end at a sampling time, or before
        if not known:
            return np.broadcast_to(initial, (*t.shape, len(initial)))
        return np.where(np.asarray(k < 0)[..., None], initial, self.values[np.clip(k, 0, known - 1)])

    def series(self, names: Sequence[str], initial: Array) -> dict[str, Signal]:
        """The outputs as time series, by name."""
        times = self.acting if self.acting[0] <= self.taken[0] else np.append(self.taken[0], self.acting)
        values = self.at(times, initial)
        return {name: Signal(times, values[:, k], "hold") for k, name in enumerate(names)}


@final
class RunInputs(Inputs):
    """Inputs of a run that are not numbers or expressions: time series, functions and sampled controllers."""

    over_time = True

    def __init__(self, system: System, signals: Mapping[str, Signal], laws: Sequence[Law]) -> None:
        self._model = ModelInputs(system.model, system.layout)
        self._layout = system.layout
        self._joints = system.in_joints
        self.signals = dict(signals)
        self.laws = list(laws)
        self.records: dict[int, Record] = {}
        self.failure: tuple[str, BaseException] | None = None
        self.late = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Inputs that are read from the run instead of the model."""
        return (*self.signals, *(name for law in self.laws for name in law.names))

    @cached_property
    def none(self) -> Array:
        """Zeros, for programs that do not read inputs."""
        return self._model.none

    @cached_property
    def in_time(self) -> tuple[tuple[Any, Any], ...]:
        """Inputs of the model that depend on time, as pairs (symbol, expression)."""
        return self._model.in_time

    @property
    def handed_on(self) -> Callable[[System], System]:
        """A function that gives these inputs, with what controllers did in the run, to another system of the model."""
        return partial(_with_inputs_of_another, self.signals, self.laws, self.records)

    def constant(self, parameters: Array) -> Array:
        """Values of the model's constant inputs; zeros for those that depend on time."""
        return self._model.constant(parameters)

    @property
    def sampled(self) -> list[Law]:
        """The sampled controllers."""
        return [law for law in self.laws if law.sampled is not None]

    def at(self, t: float, parameters: Array) -> Array:
        """Refused: analyses need inputs that are numbers or expressions."""
        return self.held(None).at(t, parameters)

    def held(self, given: Any) -> Inputs:
        """The inputs of the model, if values are given of all that the run gives; raises NotSupported otherwise."""
        if given is None or isinstance(given, Mapping):
            for name in self.names:
                if given is None or name not in given:
                    raise NotSupported(refusals.ANALYSIS_OVER_TIME, name=name, kind=self.kind(name))
        return self._model

    def refuse_over_time(self, who: str) -> None:
        """Raises NotSupported: the model has other values."""
        name = self.names[0]
        raise NotSupported(refusals.MODEL_OVER_TIME, who=who, name=name, kind=self.kind(name))

    def refuse_slopes(self, by: str, given: Any) -> None:
        """Raises NotSupported for a Python function that acts continuously, unless values of its inputs are given."""
        if by not in ("q", "v") or (given is not None and not isinstance(given, Mapping)):
            return
        for law in self.laws:
            name = next((name for name in law.names if given is None or name not in given), None)
            if law.sampled is None and name is not None:
                raise NotSupported(refusals.SLOPE_OF_FUNCTION, by=by, name=name, kind=self.kind(name))

    def kind(self, name: str) -> str:
        """What an input is, in words."""
        if name in self.signals:
            return "a time series"
        law = next((law for law in self.laws if name in law.names), None)
        if law is None:
            return self._model.kind(name)
        return "a sampled controller" if law.sampled is not None else "a Python function"

    def rows(self, t: Array, given: Any, parameters: Array, state: tuple[Any, Any] | None = None) -> Array:
        """Values of the inputs, at times and states of the run unless they are given."""
        if given is not None and not isinstance(given, Mapping):
            return self._model.rows(t, given, parameters)
        missing = [name for name in self.names if given is None or name not in given]
        base = np.array(self._model.rows(t, given, parameters))
        if not missing:
            return base
        t = np.asarray(t, dtype=float)
        shape = t.shape if state is None else np.broadcast_shapes(t.shape, *(np.shape(x)[:-1] for x in state))
        base = np.array(np.broadcast_to(base, (*shape, base.shape[-1])))
        times = np.broadcast_to(t, shape)
        for name, signal in self.signals.items():
            if name in missing:
                base[..., self._layout.inputs.index(name)] = signal(times)
        for index, law in enumerate(self.laws):
            some = [k for k, name in enumerate(law.names) if name in missing]
            if some:
                base[..., law.slots[some]] = self._law(index, law, times, state, parameters)[..., some]
        return base

    def _law(self, index: int, law: Law, t: Array, state: tuple[Any, Any] | None, parameters: Array) -> Array:
        if law.sampled is not None:
            record = self.records.get(index)
            first = initial_output(law)
            return np.broadcast_to(first, (*t.shape, len(first))) if record is None else record.at(t, first)
        if state is None:
            raise UsageError(f'the input "{law.names[0]}" is a function of the state, which is not known here')
        q, v = (np.broadcast_to(x, (*t.shape, np.shape(x)[-1])) for x in state)
        assert law.function is not None
        flat = []
        for at in np.ndindex(t.shape):
            now = float(t[at])
            try:
                flat.append(law.outputs(law.function(now, self.state_of(now, q[at], v[at], parameters))))
            except Exception as error:  # whatever the function of the user raises
                self.failure = ", ".join(law.names), error
                self.after()
        return np.array(flat).reshape(*t.shape, len(law.names))

    def state_of(self, t: float, q: Array, v: Array, parameters: Array) -> State:
        """The state by the names of the joints."""
        own = self._joints.read(q, v, t, parameters=parameters)
        return State(t, np.array(own[0]), np.array(own[1]), self._joints.layout)

    def breaks(self, span: tuple[float, float]) -> Array:
        """Times at which inputs jump or have a kink, sorted, each once."""
        low, high, found = min(span), max(span), self._switches(span)
        same = SAME * max(map(abs, span))
        found = np.unique(found[(found > low + same) & (found < high - same)])
        return found[np.diff(found, prepend=-np.inf) > same]

    def switch_at_end(self, span: tuple[float, float]) -> bool:
        """Whether an input jumps or has a kink at the last time."""
        return bool((np.abs(self._switches(span) - max(span)) <= SAME * max(map(abs, span))).any())

    def _switches(self, span: tuple[float, float]) -> Array:
        found = [np.zeros(0), *(signal.breaks for signal in self.signals.values())]
        for law in self.sampled:
            found += sampling_times(law, span)
        return np.concatenate(found)

    def after(self) -> tuple[str, ...]:
        """Notes after the run; raises the error of a Python function that failed during it.

        Raises:
            ComputationError: a function failed.
            KeyboardInterrupt: a function was interrupted.
        """
        if self.failure is not None:
            name, error = self.failure
            if not isinstance(error, Exception):
                raise error
            raise ComputationError(f'input "{name}" could not be evaluated: {type(error).__name__}: {error}') from error
        every = min((law.sampled.every for law in self.sampled if law.sampled), default=np.inf)
        if self.late > 1e-9 * every:
            return (f"a sample of a controller was taken up to {self.late:.2g} late, near a singular pose",)
        return ()


def initial_output(law: Law) -> Array:
    """Output of a sampled controller before its first sample acts."""
    given = law.sampled.initial if law.sampled is not None else 0.0
    values = [given.get(n, 0.0) if isinstance(given, Mapping) else given for n in law.names]
    return np.array(values, dtype=float)


def sampling_times(law: Law, span: tuple[float, float]) -> tuple[Array, Array]:
    """When a controller takes its samples, and when they act."""
    assert law.sampled is not None
    count = int(np.floor((span[1] - span[0]) / law.sampled.every * (1 + 1e-12))) + 1
    if count > MOST_SAMPLES:
        raise UsageError(f"a run of {count:.3g} samples is too long; the limit is {MOST_SAMPLES}")
    taken = span[0] + law.sampled.every * np.arange(count)
    return taken, snapped(taken + law.sampled.delay, taken)


def snapped(times: Array, to: Array) -> Array:
    """Times, each replaced by an equal one of ``to`` up to rounding: the run can break its steps there only once."""
    if not to.size:
        return times
    k = np.clip(np.searchsorted(to, times), 1, max(to.size - 1, 1))
    near = np.where(np.abs(times - to[k - 1]) < np.abs(times - to[np.minimum(k, to.size - 1)]), k - 1, k)
    near = np.minimum(near, to.size - 1)
    size = max(float(np.abs(times).max(initial=0.0)), float(np.abs(to).max()))
    return np.where(np.abs(times - to[near]) <= SAME * size, to[near], times)


def with_run_inputs(system: System, signals: Mapping[str, Signal], laws: Sequence[Law] = ()) -> System:
    """The same compiled mechanism with inputs that a run evaluates."""
    return system.with_inputs(RunInputs(system, signals, laws))


def replayed(system: System) -> System:
    """The system of a run for another run over the same motion: sampled controllers give what they gave in that run."""
    own = system.inputs
    if not isinstance(own, RunInputs):
        return system
    series, laws = dict(own.signals), []
    for index, law in enumerate(own.laws):
        record = own.records.get(index) if law.sampled is not None else None
        if record is None:
            laws.append(law)
        else:
            series |= record.series(law.names, initial_output(law))
    return with_run_inputs(system, series, laws)


def _with_inputs_of_another(
    signals: Mapping[str, Signal], laws: Sequence[Law], records: dict[int, Record], system: System
) -> System:
    """A system with the inputs of a run of the same model, perhaps in other coordinates."""
    inputs = RunInputs(system, signals, laws)
    inputs.records = records
    return system.with_inputs(inputs)


class Feed:
    """The callback of one integration: it writes the inputs into the memory of the equations, then calls these."""

    def __init__(
        self, system: System, vector: Array, span: tuple[float, float], inner: Callback, targets: Sequence[int], *,
        again: bool = False,
    ) -> None:  # fmt: skip
        inputs = system.inputs
        assert isinstance(inputs, RunInputs)
        self._inputs, self._system, self._vector, self._span = inputs, system, vector, span
        self._known = dict(inputs.records) if again else {}
        self.records: dict[int, Record] = {}
        n = len(system.layout.coordinates) + len(system.layout.speeds)
        self._n, self._kept = n, list[Any]()
        self._breaks, spacing = inputs.breaks(span), float(np.spacing(max(map(abs, span))))
        self._memory = memory = Memory(
            kn.FEED, inner=inner.address, inner_context=inner.context, n=n, nu=len(system.layout.inputs),
            u=np.array(inputs.constant(vector), dtype=float), state=np.zeros(1 + n),
            targets=np.array(targets, dtype=np.int64), target_count=len(targets),
            window=64.0 * spacing, latest=max(span) - 4.0 * spacing if inputs.switch_at_end(span) else max(span),
        )  # fmt: skip
        memory.keep(inner)
        memory.keep(self)
        series = [self._series(name, signal) for name, signal in inputs.signals.items()]
        laws = [self._law(law) for law in inputs.laws if law.sampled is None]
        held = [self._held(k, law) for k, law in enumerate(inputs.laws) if law.sampled is not None]
        for name, rows, width in (
            ("series", series, kn.SERIES_WIDTH), ("laws", laws, kn.LAW_WIDTH), ("held", held, kn.HELD_WIDTH)
        ):  # fmt: skip
            setattr(memory, name, np.array(rows, dtype=np.int64).reshape(-1, width))
        memory.series_count, memory.law_count, memory.held_count = len(series), len(laws), len(held)
        self.owner = inner.owner
        inputs.failure = None

    @property
    def failure(self) -> str | None:
        """Why an evaluation failed, for the outcome of the run."""
        if self._inputs.failure is not None:
            return f'input "{self._inputs.failure[0]}" could not be evaluated'
        return getattr(self.owner, "failure", None)

    def callback(self) -> Callback:
        """The native function."""
        return Callback(kn.feed.address, self._memory.address, self)

    def keep_records(self) -> None:
        """Keeps the samples of the run in its inputs, from which quantities of the run are read later."""
        own = self._inputs.records  # which systems in other coordinates share
        own.clear()
        own.update(self.records)
        self._inputs.late = self._memory.late

    def _address(self, array: Array) -> int:
        array = np.ascontiguousarray(array)
        self._kept.append(array)
        return int(array.ctypes.data)

    def _series(self, name: str, signal: Signal) -> list[int]:
        slot = self._system.layout.inputs.index(name)
        return [
            slot,
            signal.times.size,
            self._address(snapped(signal.times, np.append(self._breaks, max(self._span)))),
            self._address(signal.pieces),
        ]

    def _law(self, law: Law, memories: dict[float, Any] | None = None) -> list[int]:
        m = len(law.names)
        if law.texts:
            program = watch_program(self._system, [parse(text) for text in law.texts], self._vector)
            self._kept.append(program)
            code, context = program.native.evaluate, program.context
        else:
            code, context = self._python(law, memories), 0
        return [code, context, self._address(np.zeros(m)), m, self._address(law.slots)]

    def _held(self, index: int, law: Law) -> list[int]:
        ends = np.append(self._breaks, max(self._span))
        taken, acting = (snapped(times, ends) for times in sampling_times(law, self._span))
        record = Record(taken, acting, np.full((taken.size, len(law.names)), np.nan))
        assert law.sampled is not None
        record.memories[float(taken[0])] = law.sampled.memory
        before, have = self._known.get(index), 0
        if before is not None:
            have = min(len(before.taken), len(taken))
            record.values[:have] = before.values[:have]
            record.memories |= before.memories
        self.records[index] = record
        names = (*self._system.in_joints.layout.coordinates, *self._system.in_joints.layout.speeds)
        noise = 0
        if law.sampled.noise:
            rng = np.random.default_rng(law.sampled.seed)
            rows = rng.standard_normal((taken.size, len(names)))
            noise = self._address(rows * [law.sampled.noise.get(name, 0.0) for name in names])
        samples = [
            taken.size,
            self._address(taken),
            self._address(acting),
            int(record.values.ctypes.data),
            noise,
            have,
            have,
        ]
        for slot, value in zip(law.slots, initial_output(law), strict=True):
            self._memory.u[slot] = value
        return [*self._law(law, record.memories), *samples]

    def _python(self, law: Law, memories: dict[float, Any] | None) -> int:
        """The address of a native function that calls a Python function with the state."""
        n, nq, m, inputs = self._n, len(self._system.layout.coordinates), len(law.names), self._inputs

        def call(out: int, inp: int, _context: int) -> None:
            result = np.ctypeslib.as_array((ctypes.c_double * m).from_address(out))
            result[:] = np.nan
            if inputs.failure is not None:
                return
            try:
                x = np.array((ctypes.c_double * (1 + n)).from_address(inp))
                t = float(x[0])
                state = inputs.state_of(t, x[1 : 1 + nq], x[1 + nq :], self._vector)
                if memories is None or not law.remembers:
                    found = law.function(t, state)  # type: ignore[misc]
                else:
                    found, memories[self._next(law, t)] = law.function(t, state, memories[t])  # type: ignore[misc]
                result[:] = law.outputs(found)
            except BaseException as error:  # native code cannot pass it on
                inputs.failure = ", ".join(law.names), error

        native = NATIVE(call)
        self._kept += [native, call]
        return int(ctypes.cast(native, ctypes.c_void_p).value or 0)

    def _next(self, law: Law, t: float) -> float:
        """The sampling time after t."""
        taken = next(record.taken for k, record in self.records.items() if self._inputs.laws[k] is law)
        k = int(np.searchsorted(taken, t, side="right"))
        return float(taken[k]) if k < taken.size else np.inf


def checked_texts(system: System, law: Law) -> None:
    """Raises UsageError if an expression of a sampled law cannot be read or names something unknown."""
    for name, text in zip(law.names, law.texts, strict=False):  # a function has no texts
        try:
            expression = parse(text)
        except ExpressionError as error:
            raise UsageError(f'input "{name}": {error}') from None
        check_names(expression, names_of(system), f'input "{name}"')
    known = (*system.in_joints.layout.coordinates, *system.in_joints.layout.speeds)
    for name in law.sampled.noise if law.sampled is not None else ():
        if name not in known:
            raise UsageError(f'noise: there is no coordinate or speed "{name}"; {suggestion(name, known)}')
        system.in_joints.refuse_others(refusals.NOISE_OF_BODIES)
