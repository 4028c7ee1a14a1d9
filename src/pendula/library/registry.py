"""Library mechanisms by name: those of the package and those that user code adds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.registry import Registry

Make = TypeVar("Make", bound=Callable[..., Model])

MECHANISMS: Registry[Callable[..., Model]] = Registry("library mechanism", returns=("Model",))
"""By name: functions that make models."""


@dataclass(frozen=True)
class Entry:
    """A library mechanism: its name, the function that makes it, and its arguments.

    Example:
        >>> from pendula.library import mechanisms
        >>> mechanisms()["chain"].arguments["links"]
        10
    """

    name: str
    make: Callable[..., Model]

    @property
    def summary(self) -> str:
        """First line of the description."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """Argument -> default."""
        return {k: p.default for k, p in inspect.signature(self.make).parameters.items()}


def register_mechanism(make: Make) -> Make:
    """Adds a library mechanism; usable as a decorator.

    Args:
        make: a function that returns a :class:`~pendula.Model`. All its arguments have defaults; the first line of
            its docstring is what ``pendula list`` shows; its name, with hyphens, is that of the mechanism.

    Raises:
        UsageError: it is not a function, an argument has no default, or another module has registered this name.

    Example:
        >>> @register_mechanism
        ... def my_pendulum(length: float = 1.0) -> Model:
        ...     '''A pendulum on a string.'''
        ...     return Model(name="my pendulum", gravity=[0, -9.81, 0])
        >>> mechanisms()["my-pendulum"].summary
        'A pendulum on a string.'
        >>> _ = MECHANISMS.remove("my-pendulum")
    """
    if not inspect.isfunction(make) or not make.__name__.isidentifier():
        raise UsageError(f"a library mechanism is a function with a name, found {make!r}")
    name = make.__name__.replace("_", "-")
    bare = [k for k, p in inspect.signature(make).parameters.items() if p.default is p.empty]
    if bare:
        raise UsageError(f'library mechanism "{name}": argument "{bare[0]}" has no default')
    MECHANISMS.register(name, make, summary=Entry(name, make).summary)
    return make


def mechanisms() -> dict[str, Entry]:
    """All library mechanisms by name.

    Example:
        >>> from pendula.library import mechanisms
        >>> mechanisms()["chain"].make(links=3).name
        'chain of 3 links'
    """
    return {name: Entry(name, MECHANISMS[name]) for name in MECHANISMS}
