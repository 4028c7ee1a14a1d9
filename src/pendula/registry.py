"""Registries of everything that users can extend, by name.

A registry maps a name to a value with a one-line summary. The package fills its registries itself; user code adds
to them with :meth:`Registry.register`, and installed packages do so through the entry-point group ``pendula``
(see :mod:`pendula.extensions`). Built-in values may be given as ``"module:attribute"``, imported when first used.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pendula.arguments import available
from pendula.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")


def found_at(place: str) -> Any:
    """The object that ``"module:attribute"`` names.

    Example:
        >>> found_at("pendula.outcome:Outcome").__name__
        'Outcome'
    """
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _registering_module() -> str:
    """The module that made a registration, directly or through a ``register_...`` function."""
    frame = sys._getframe(2)
    while frame.f_code.co_name.startswith("register_") and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "?"))


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One name of a registry.

    Attributes:
        name: what users call it.
        value: the object itself, or ``"module:attribute"`` where to find it.
        summary: one line for lists and help.
        module: the module that registered it.
    """

    name: str
    value: T | str
    summary: str
    module: str


class Registry(Generic[T]):
    """Named things of one kind: joints, forces, steppers, formulations, mechanisms, formats, commands.

    Args:
        kind: what an entry is called in messages, such as "joint type".
        returns: names of the types that registered functions may return, see :meth:`checked`.

    Example:
        >>> shapes = Registry("shape")
        >>> shapes.register("disc", object(), summary="a flat circle")
        >>> list(shapes), shapes.summary("disc")
        (['disc'], 'a flat circle')
        >>> shapes["disk"]
        Traceback (most recent call last):
        pendula.errors.UsageError: there is no shape "disk"; did you mean "disc"?
    """

    def __init__(self, kind: str, *, returns: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.returns = returns
        self._entries: dict[str, Entry[T]] = {}

    def register(self, name: str, value: T | str, *, summary: str = "", module: str = "") -> None:
        """Adds an entry.

        Args:
            name: must be new, unless the same module registers it again.
            value: the object itself; built-in code may give ``"module:attribute"``, imported on first use.
            summary: one line for lists and help.
            module: the module that registers it; default: the caller.

        Raises:
            UsageError: another module has registered this name.
        """
        if not isinstance(name, str) or not name.strip():
            raise UsageError(f"the name of a {self.kind} is a text, found {name!r}")
        module = module or _registering_module()
        taken = self._entries.get(name)
        if taken is not None and taken.module != module:
            raise UsageError(f'{self.kind} "{name}" is already registered by {taken.module}; choose another name')
        self._entries[name] = Entry(name, value, summary, module)

    def __getitem__(self, name: str) -> T:
        entry = self.entry(name)
        if isinstance(entry.value, str):
            try:
                value: T = found_at(entry.value)
            except (ModuleNotFoundError, AttributeError) as error:
                if isinstance(error, ModuleNotFoundError) and error.name != entry.value.partition(":")[0]:
                    raise  # a package that the module needs
                where = f"registered by {entry.module}"
                raise UsageError(f'{self.kind} "{name}", {where}: there is no {entry.value}') from error
            self._entries[name] = Entry(name, value, entry.summary, entry.module)
            return value
        return entry.value

    def checked(self, name: str, found: R) -> R:
        """What a registered function returned, if it is of a type that the package can use.

        Raises:
            UsageError: it is not; the message names the entry and its module.
        """
        if any(kind.__name__ in self.returns for kind in type(found).__mro__):
            return found
        what = "None" if found is None else f"an object of type {type(found).__name__}"
        expected, module = " or ".join(self.returns), self.entry(name).module
        raise UsageError(f'{self.kind} "{name}", registered by {module}, must return {expected}, found {what}')

    def entry(self, name: str) -> Entry[T]:
        """The entry of a name, without importing its value; raises UsageError for an unknown name."""
        if not isinstance(name, str) or name not in self._entries:
            near = difflib.get_close_matches(str(name), self._entries, n=1)
            hint = f'did you mean "{near[0]}"?' if near else available(self._entries)
            raise UsageError(f'there is no {self.kind} "{name}"; {hint}')
        return self._entries[name]

    def summary(self, name: str) -> str:
        """The one-line summary of an entry."""
        return self.entry(name).summary

    def entries(self) -> tuple[Entry[T], ...]:
        """All entries, in the order in which they were registered."""
        return tuple(self._entries.values())

    def values(self) -> tuple[T, ...]:
        """All values, imported."""
        return tuple(self[name] for name in self._entries)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<registry of {self.kind}s: {', '.join(self._entries)}>"

    def remove(self, name: str) -> Any:
        """Removes an entry, for tests and interactive work; returns its value."""
        return self._entries.pop(name).value
