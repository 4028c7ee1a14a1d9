"""Reads the inputs that a run was given, and makes the system that has them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pendula.arguments import available
from pendula.errors import NotSupported, UsageError
from pendula.model.names import suggestion
from pendula.simulation import refusals
from pendula.simulation.inputs.feed import Feed, Law, RunInputs, checked_texts, with_run_inputs
from pendula.simulation.inputs.kinds import Sampled, Signal
from pendula.simulation.settings import Settings
from pendula.system.build import compile_alike
from pendula.system.dynamics import Dynamics
from pendula.system.layout import Array, State
from pendula.system.system import System

InputValue = float | str | Signal | Sampled | tuple[Any, Any] | Callable[[float, State], float]
InputsGiven = Mapping[str, InputValue] | Sampled | None
"""Inputs by name: numbers, texts (expressions of t, state and parameters), time series, functions (t, state), sampled
controllers; or one sampled controller for several inputs."""

_with_other_inputs: weakref.WeakKeyDictionary[System, dict[tuple[tuple[str, str], ...], System]] = (
    weakref.WeakKeyDictionary()
)
MOST_KEPT = 16  # cached systems with other inputs, for each system
SLOW = 'input "{}" is a Python function, which is called in every evaluation: the run is slower than with text'


def with_inputs(system: System, inputs: InputsGiven) -> tuple[System, tuple[str, ...]]:
    """The same mechanism with other inputs, and notes about them.

    Numbers and texts are derived and compiled (cached by inputs); the other kinds are evaluated during the run.

    Raises:
        UsageError: there is no such input, or a value is none of these kinds.
    """
    plain, signals, laws = _sorted(system, inputs)
    signals, laws = _with_own(system, {*plain, *signals, *(n for law in laws for n in law.names)}, signals, laws)
    zero = dict.fromkeys((*signals, *(n for law in laws for n in law.names)), 0.0)
    model = system.model.as_written
    if plain or any(model.inputs[name] != 0 for name in zero) or system.model.laws.keys() & zero.keys():
        system = _compiled(system, plain | zero)
    if not zero:
        return system, ()
    for law in laws:
        law.slots = np.array([system.layout.inputs.index(name) for name in law.names], dtype=np.int64)
        checked_texts(system, law)
    notes = tuple(SLOW.format(", ".join(law.names)) for law in laws if law.function and law.sampled is None)
    return with_run_inputs(system, signals, laws), notes


def _with_own(
    system: System, given: set[str], signals: Mapping[str, Signal], laws: list[Law]
) -> tuple[dict[str, Signal], list[Law]]:
    """Time series and laws, with those that the system of an earlier run has and that are not given anew.

    Raises:
        UsageError: some inputs of a controller are given, and others are not.
    """
    own = system.inputs
    if not isinstance(own, RunInputs):
        return dict(signals), laws
    kept = []
    for law in own.laws:
        left = [name for name in law.names if name not in given]
        if left and len(left) < len(law.names):
            raise UsageError(
                f"one controller of this system gives {', '.join(law.names)}: give all of them anew, or none.\n"
                f"  Try: also inputs for {', '.join(left)}."
            )
        if left:
            kept.append(replace(law))
    return {n: x for n, x in own.signals.items() if n not in given} | dict(signals), [*kept, *laws]


def for_a_run(system: System, inputs: InputsGiven) -> tuple[System, tuple[str, ...]]:
    """The mechanism for one run, and notes about its inputs: those given, or its own ones without their past.

    What controllers do in a run is kept in its inputs, so no two runs share these.
    """
    if inputs:
        return with_inputs(system, inputs)
    own = system.inputs
    return (with_run_inputs(system, own.signals, own.laws) if isinstance(own, RunInputs) else system), ()


def _compiled(system: System, inputs: Mapping[str, float | str]) -> System:
    """The mechanism with other numbers and texts, compiled again."""
    made = _with_other_inputs.setdefault(system, {})
    key = tuple(sorted((name, repr(value)) for name, value in inputs.items()))
    if key not in made:
        if len(made) >= MOST_KEPT:
            made.pop(next(iter(made)))
        model = system.model.as_written
        made[key] = compile_alike(system, model.with_changes(inputs=dict(model.inputs) | dict(inputs)))
    return made[key]


def _sorted(system: System, inputs: InputsGiven) -> tuple[dict[str, Any], dict[str, Signal], list[Law]]:
    """Numbers and texts; time series; functions and controllers."""
    known = (*system.model.as_written.inputs,)
    none = np.zeros(0, dtype=np.int64)
    if isinstance(inputs, Sampled):
        return {}, {}, _groups(inputs, known, None)
    if not isinstance(inputs, Mapping):
        raise UsageError(f"inputs are values by name or a sampled controller, found {type(inputs).__name__}")
    plain: dict[str, Any] = {}
    signals: dict[str, Signal] = {}
    laws: list[Law] = []
    for name, value in inputs.items():
        _check_known(name, known)
        if isinstance(value, Signal):
            signals[name] = value
        elif isinstance(value, Sampled):
            laws += _groups(value, known, name)
        elif isinstance(value, tuple) and len(value) == 2:
            signals[name] = Signal(*value)
        elif callable(value):
            laws.append(Law((name,), none, function=value))
        elif isinstance(value, (str, int, float, np.floating, np.integer)) and not isinstance(value, bool):
            plain[name] = value
        else:
            raise UsageError(
                f'input "{name}" must be a number, text, a Signal, a pair (times, values), a function of (t, state) or '
                f"a Sampled controller, found {type(value).__name__}"
            )
    given = [*plain, *signals, *(n for law in laws for n in law.names)]
    twice = next((n for n in given if given.count(n) > 1), None)
    if twice is not None:
        raise UsageError(f'input "{twice}" is given twice')
    return plain, signals, laws


def _check_known(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        hint = suggestion(name, known)
        more = "" if known else '.\n  Try: a model with inputs = {F = 0} and a force whose value is "F"'
        raise UsageError(f'there is no input "{name}"; {hint}{more}')


def _groups(sampled: Sampled, known: tuple[str, ...], name: str | None) -> list[Law]:
    """The laws of a sampled controller: one for all its texts, one for each function."""
    none = np.zeros(0, dtype=np.int64)
    if isinstance(sampled.law, Mapping):
        if name is not None:
            raise UsageError(f'give inputs=Sampled({{...}}) instead of inputs={{"{name}": Sampled({{...}})}}')
        by_name = dict(sampled.law)
    elif name is None and not sampled.inputs:
        raise UsageError(f"name the inputs of the sampled controller; {available(known)}")
    elif name is None:
        for one in sampled.inputs:
            _check_known(one, known)
        if not callable(sampled.law):
            raise UsageError("a sampled controller of several inputs is a function, or has a law for each of them")
        return [Law(tuple(sampled.inputs), none, function=sampled.law, sampled=sampled)]
    else:
        by_name = {name: sampled.law}
    for one in by_name:
        _check_known(one, known)
    texts = {n: str(x) for n, x in by_name.items() if not callable(x)}
    found = [Law(tuple(texts), none, texts=tuple(texts.values()), sampled=sampled)] if texts else []
    return found + [Law((n,), none, function=x, sampled=sampled) for n, x in by_name.items() if callable(x)]


def check_inputs(system: System, settings: Settings) -> None:
    """Raises if the inputs of a run do not fit its times or its stepper.

    Raises:
        UsageError: a time series does not cover the run.
        NotSupported: the stepper needs the inputs as expressions, or a sampled controller would run backwards.
    """
    inputs = system.inputs
    if not isinstance(inputs, RunInputs):
        return
    for name, signal in inputs.signals.items():
        signal.check_span(name, settings.span)
    if settings.stepper.series:
        raise NotSupported(refusals.SERIES_OVER_TIME, stepper=settings.stepper.name, name=inputs.names[0])
    if inputs.sampled and settings.span[1] < settings.span[0]:
        raise NotSupported(refusals.BACKWARDS_CONTROLLER, name=inputs.sampled[0].names[0])


def fed(
    system: System, dynamics: Dynamics, vector: Array, span: tuple[float, float], *, again: bool = False
) -> tuple[Dynamics, Feed | None]:
    """The dynamics with the inputs of the run; unchanged if they are numbers and expressions.

    ``again`` repeats a part of a run: controllers give what they gave in it.
    """
    if not isinstance(system.inputs, RunInputs):
        return dynamics, None
    context = dynamics.workspace.context
    at = 1 + len(system.layout.coordinates) + len(system.layout.speeds)
    feed = Feed(system, vector, span, dynamics.rhs, [int(context.x.ctypes.data) + 8 * at], again=again)
    return replace(dynamics, fed=feed.callback()), feed
