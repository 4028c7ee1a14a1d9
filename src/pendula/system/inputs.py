"""Numeric inputs of a mechanism: as an array, by name, or as the model defines them over time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from pendula.arguments import available, read_numbers, read_table
from pendula.errors import UsageError
from pendula.model.expressions.expression import Expression, parse
from pendula.model.model import Model
from pendula.system.code.programs import inputs_in_time
from pendula.system.layout import Array, Layout

if TYPE_CHECKING:
    from pendula.system.system import System


class Inputs(ABC):
    """The inputs of a system: those of its model, or those of a run."""

    @property
    @abstractmethod
    def over_time(self) -> bool:
        """Whether a run gives some of them: as time series, functions or sampled controllers."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Inputs that a run gives instead of the model."""

    @property
    @abstractmethod
    def none(self) -> Array:
        """Zeros, for programs that do not read inputs."""

    @property
    @abstractmethod
    def in_time(self) -> tuple[tuple[Any, Any], ...]:
        """Inputs of the model that depend on time, as pairs (symbol, expression)."""

    @property
    @abstractmethod
    def handed_on(self) -> Callable[[System], System]:
        """A function that gives these inputs to another system of the same model; it can be pickled."""

    @abstractmethod
    def constant(self, parameters: Array) -> Array:
        """Values of the constant inputs; zeros for those that depend on time, which programs do not read."""

    @abstractmethod
    def at(self, t: float, parameters: Array) -> Array:
        """Values of the inputs at time t."""

    @abstractmethod
    def refuse_over_time(self, who: str) -> None:
        """Raises NotSupported if a run gives some of them: conclusions from the model do not hold for its system."""

    @abstractmethod
    def held(self, given: Any) -> Inputs:
        """The inputs of a question about rest or small motion, which takes those that are ``given`` as they are.

        Raises:
            NotSupported: a run gives an input that is not given anew; it has no value outside of its run.
        """

    @abstractmethod
    def refuse_slopes(self, by: str, given: Any) -> None:
        """Raises NotSupported if inputs that are not given are functions of the state that have no derivatives."""

    @abstractmethod
    def kind(self, name: str) -> str:
        """What an input is, in words."""

    @abstractmethod
    def breaks(self, span: tuple[float, float]) -> Array:
        """Times at which inputs that a run gives jump or have a kink, sorted, each once."""

    @abstractmethod
    def after(self) -> tuple[str, ...]:
        """Notes after a run.

        Raises:
            ComputationError: a Python function failed during the run.
        """

    @abstractmethod
    def rows(self, t: Array, given: Any, parameters: Array, state: tuple[Any, Any] | None = None) -> Array:
        """Values of the inputs: the given array, changes by name, or their own values at the times t.

        ``state`` is (q, v), for inputs that a run evaluates as functions of the state.
        """


def unchanged(system: System) -> System:
    """The system as it is."""
    return system


def made_again(make: Callable[..., System], given: tuple[Any, ...], hand_on: Callable[[System], System]) -> System:
    """A pickled system: made by ``make(*given)``, with the inputs that it had."""
    return hand_on(make(*given))


@final
class ModelInputs(Inputs):
    """The inputs of one model, whose values are expressions of parameters and perhaps of time."""

    over_time = False
    names = ()

    def __init__(self, model: Model, layout: Layout) -> None:
        self._model = model
        self._layout = layout
        self._last: tuple[bytes, Array] | None = None
        self._last_in_time: tuple[tuple[float, bytes], Array] | None = None

    @cached_property
    def none(self) -> Array:
        """Zeros, for programs that do not read inputs."""
        return np.zeros(len(self._layout.inputs))

    @cached_property
    def in_time(self) -> tuple[tuple[Any, Any], ...]:
        """Inputs of the model that depend on time, as pairs (symbol, expression)."""
        return inputs_in_time(self._model)

    @property
    def handed_on(self) -> Callable[[System], System]:
        """A function that returns the system as it is: every system has the inputs of its model."""
        return unchanged

    @cached_property
    def _expressions(self) -> list[Expression]:
        return [parse(value) for value in self._model.inputs.values()]

    def constant(self, parameters: Array) -> Array:
        """Values of the constant inputs; zeros for those that depend on time, which programs do not read."""
        if not self._expressions:
            return self.none
        key = parameters.tobytes()
        if self._last is None or self._last[0] != key:
            values = self._layout.parameter_values(parameters)
            found = [0.0 if "t" in e.names else e.evaluate(values) for e in self._expressions]
            self._last = key, np.array(found, dtype=float)
        return self._last[1]

    def at(self, t: float, parameters: Array) -> Array:
        """Values of the inputs at time t."""
        if not self.in_time:
            return self.constant(parameters).copy()
        key = float(t), parameters.tobytes()
        if self._last_in_time is None or self._last_in_time[0] != key:
            values = self._layout.parameter_values(parameters) | {"t": float(t)}
            self._last_in_time = key, np.array([e.evaluate(values) for e in self._expressions], dtype=float)
        return self._last_in_time[1].copy()

    def refuse_over_time(self, who: str) -> None:
        """Raises nothing: no run gives any of these inputs."""

    def held(self, given: Any) -> Inputs:
        """These inputs: numbers and expressions need no run."""
        return self

    def refuse_slopes(self, by: str, given: Any) -> None:
        """Raises nothing: these inputs are numbers or depend on time alone."""

    def kind(self, name: str) -> str:
        """What an input is, in words."""
        return "an expression" if isinstance(self._model.inputs[name], str) else "a number"

    def breaks(self, span: tuple[float, float]) -> Array:
        """None: no run gives any of these inputs."""
        return np.zeros(0)

    def after(self) -> tuple[str, ...]:
        """None."""
        return ()

    def rows(self, t: Array, given: Any, parameters: Array, state: tuple[Any, Any] | None = None) -> Array:
        """Values of the inputs: the given array, changes by name, or those of the model at the times t."""
        names = self._layout.inputs
        if isinstance(given, Mapping):
            return self._by_name(t, given, parameters)
        if given is not None:
            found = np.atleast_1d(read_numbers(given, "inputs"))
            if found.shape[-1:] != (len(names),):
                raise UsageError(
                    f"inputs must end in {len(names)} entries ({', '.join(names)}), got shape {found.shape}"
                )
            return found
        if not self.in_time:
            return self.constant(parameters)
        flat = [self.at(x, parameters) for x in t.ravel()]
        return np.array(flat).reshape(*t.shape, len(names))

    def _by_name(self, t: Array, given: Mapping[str, Any], parameters: Array) -> Array:
        names = self._layout.inputs
        unknown = sorted(set(read_table(given, "inputs")) - set(names))
        if unknown and unknown[0] in self._model.as_written.inputs:
            raise UsageError(
                f'input "{unknown[0]}" is a feedback law of the model, and so a part of its forces here.\n'
                f'  Try: a model with another value, such as model.with_changes(inputs={{"{unknown[0]}": 0}}).'
            )
        if unknown:
            raise UsageError(f'there is no input "{unknown[0]}"; {available(names)}')
        base = self.rows(t, None, parameters)
        values = {name: read_numbers(value, f'inputs: "{name}"') for name, value in given.items()}
        shape = np.broadcast_shapes(base.shape[:-1], *(value.shape for value in values.values()))
        rows = np.array(np.broadcast_to(base, (*shape, len(names))))
        for name, value in values.items():
            rows[..., names.index(name)] = value
        return rows
