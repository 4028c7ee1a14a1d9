"""The input of a job: its options, each checked, and the model with these options applied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from pendula.app.point import Asked
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.model.expressions.expression import parse
from pendula.model.files import loads
from pendula.model.model import Model
from pendula.model.names import ExpressionError

if TYPE_CHECKING:
    from pendula.system.system import System

MOST_ENTRIES = 10_000


class Tell(Protocol):
    """Receives the progress of work."""

    def say(self, text: str) -> None:
        """What is being done now."""

    def done(self, so_far: int, planned: int) -> None:
        """How much of it is done."""

    def update(self, t: float, t_end: float, steps: int) -> None:
        """The same by the time of a simulation."""

    def piece(self, found: dict[str, Any]) -> None:
        """A part of the result, before all of it is known."""


class Options:
    """The options of a job by name. Each is read with its bounds; one that nobody reads is refused.

    Args:
        given: as the page sent them.
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise UsageError("options must be a table of names and values")
        self._given = dict(given)
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self.value(name) is not None

    def value(self, name: str) -> Any:
        """Whatever was given; None if it was not."""
        self._read.add(name)
        return self._given.get(name)

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number between two bounds, or an expression such as ``"90deg"``."""
        found = self.value(name)
        value = default if found is None else number_of(found, name, {})
        if not low <= value <= high:
            raise UsageError(f"{name} must lie between {low:g} and {high:g}, found {value:g}")
        return value

    def count(self, name: str, default: int, low: int, high: int) -> int:
        """An integer between two bounds."""
        found = self.value(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
            raise UsageError(f"{name} must be an integer from {low} to {high}, found {_shown(found)}")
        return found

    def choice(self, name: str, default: str, known: tuple[str, ...]) -> str:
        """One of some words."""
        found = self.value(name)
        if found is None:
            return default
        if found not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, found {_shown(found)}")
        return str(found)

    def text(self, name: str, default: str = "") -> str:
        """A text of moderate length."""
        found = self.value(name)
        if found is None:
            return default
        if not isinstance(found, str) or len(found) > 1000:
            raise UsageError(f"{name} must be a text of at most 1000 characters, found {_shown(found)}")
        return found

    def flag(self, name: str) -> bool:
        """True or false; false if it was not given."""
        found = self.value(name)
        if found is not None and not isinstance(found, bool):
            raise UsageError(f"{name} must be true or false, found {_shown(found)}")
        return bool(found)

    def table(self, name: str) -> dict[str, Any]:
        """Values by name."""
        found = self.value(name)
        if found is None:
            return {}
        if not isinstance(found, Mapping) or len(found) > MOST_ENTRIES:
            raise UsageError(f"{name} must be a table of names and values, found {_shown(found)}")
        return dict(found)

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        """Some texts."""
        found = self.value(name)
        if found is None:
            return ()
        if not isinstance(found, list) or len(found) > most or not all(isinstance(x, str) for x in found):
            raise UsageError(f"{name} must be a list of at most {most} texts, found {_shown(found)}")
        return tuple(x[:1000] for x in found)

    def finish(self) -> None:
        """Refuses options that were not read.

        Raises:
            UsageError: there is one; the message lists those that exist.
        """
        strange = sorted(self._given.keys() - self._read)
        if strange:
            raise UsageError(f"there is no option {_shown(strange[0])} here; {available(sorted(self._read))}")


def _shown(value: Any) -> str:
    from pendula.model.problems import shown

    return shown(value)


def number_of(value: Any, name: str, known: Mapping[str, float]) -> float:
    """A number, or the value of an expression of parameters, such as ``"90deg"``."""
    try:
        if isinstance(value, (bool, dict, list)) or value is None:
            raise ExpressionError("it is not a number or an expression")
        found = float(parse(value).evaluate(known))
    except ExpressionError as error:
        raise UsageError(f"{name}: {error}") from None
    if not math.isfinite(found):
        raise UsageError(f"{name} must be finite, found {found}")
    return found


def numbers_of(values: Mapping[str, Any], what: str, known: Mapping[str, float]) -> dict[str, float]:
    """Numbers or expressions by name as numbers."""
    return {name: number_of(value, f"{what} {name}", known) for name, value in values.items()}


def asked_model(text: str, options: Options) -> Model:
    """The model of a text, with the parameters, inputs and initial state that the options change."""
    model = loads(text, source="")
    parameters, inputs, start = (options.table(name) for name in ("parameters", "inputs", "start"))
    if parameters:
        model = model.with_parameters(parameters)
    if inputs:
        unknown = [name for name in inputs if name not in model.inputs]
        if unknown:
            raise UsageError(f'there is no input "{unknown[0]}"; {available(model.inputs)}')
        model = model.with_changes(inputs=dict(model.inputs) | inputs)
    if start:
        model = model.with_changes(initial=dict(model.initial) | start)
    return model


@lru_cache(maxsize=8)
def _compiled(text: str, formulation: str | None) -> System:
    from pendula.system.build import compile_system

    return compile_system(loads(text), formulation)


def compiled(model: Model, formulation: str | None = None) -> System:
    """The compiled system of a model; the last few are kept."""
    from pendula.model.files import dumps

    return _compiled(dumps(model), formulation)


def asked_mechanism(text: str, options: Options, tell: Tell) -> Asked:
    """The mechanism of a job, compiled, with the rates of a steady motion."""
    model = asked_model(text, options)
    rates = numbers_of(options.table("rates"), "rate", model.parameter_values)
    formulation = options.text("formulation") or None
    tell.say("deriving and compiling")
    return Asked(model, compiled(model, formulation), rates)


def at_texts(options: Options) -> tuple[str, ...]:
    """Which equilibrium: its number, or values by name; the one of least potential if neither is given."""
    at = options.value("at")
    if at is None:
        return ()
    if isinstance(at, Mapping):
        return tuple(f"{name}={value}" for name, value in at.items())
    if isinstance(at, bool) or not isinstance(at, (int, str)):
        raise UsageError(f"at must be the number of an equilibrium, or a table of values, found {_shown(at)}")
    return (str(at),)
