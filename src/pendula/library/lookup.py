"""The model that an argument refers to: a model, the name of a library mechanism, or an object with a model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pendula.errors import UsageError
from pendula.library.registry import MECHANISMS
from pendula.model.model import Model

MOST_KEPT = 16
"""number of cached models of library mechanisms, so that the same name means the same model"""

_ROBOTS = (".urdf", ".mjcf", ".xml")
"""suffixes of robots' files"""

_made: OrderedDict[str, tuple[Callable[..., Model], Model]] = OrderedDict()


def model_of(given: Any, who: str, *, also: str = "", alone: bool = False) -> Model:
    """The model that an argument refers to.

    Args:
        given: a Model, the name of a library mechanism, or an object whose ``model`` is a Model (a system, equations).
        who: the function that asks, for the message.
        also: what else it takes, for the message.
        alone: ``who`` draws conclusions from the model alone.

    Raises:
        UsageError: it is none of these; the message states what ``who`` takes.
        NotSupported: with ``alone``, it is the system of equations that others wrote, or of a run with inputs that the
            model does not know.

    Example:
        >>> model_of("cart-pole", "derive").name
        'cart-pole'
        >>> model_of(3, "derive")
        Traceback (most recent call last):
        pendula.errors.UsageError: derive takes a model, a system or the name of a library mechanism, found 3
    """
    if isinstance(given, Model):
        return given
    if isinstance(given, str):
        return named_model(given)
    held = getattr(given, "model", None)
    if isinstance(held, Model):
        if alone and (refuse := getattr(given, "refuse_more_than_model", None)) is not None:  # a system
            refuse(who)
        return held
    raise wrong(who, given, also)


def refuse_inputs_of_a_run(given: Any, who: str) -> None:
    """Raises NotSupported for the system of a run with inputs that its model does not know."""
    if (refuse := getattr(given, "refuse_inputs_of_a_run", None)) is not None:  # a system
        refuse(who)


def named_model(name: str) -> Model:
    """The library mechanism of this name with its default arguments; raises UsageError if there is none."""
    if name not in MECHANISMS and _is_file(name):
        raise UsageError(f'there is no library mechanism "{name}"; to read the model file: {_reader(name)}("{name}")')
    make = MECHANISMS[name]
    known = _made.get(name)
    if known is None or known[0] is not make:
        _made[name] = known = (make, MECHANISMS.checked(name, make()))
    _made.move_to_end(name)
    while len(_made) > MOST_KEPT:
        _made.popitem(last=False)
    return known[1]


def _is_file(name: str) -> bool:
    """Whether a text looks like a path rather than a name: it has the suffix of model files, or such a file exists."""
    try:
        return Path(name).suffix.lower() in (".toml", *_ROBOTS) or Path(name).is_file()
    except (OSError, ValueError):  # a text that no file can have as its name
        return False


def _reader(name: str) -> str:
    return "pendula.exchange.load_robot" if Path(name).suffix.lower() in _ROBOTS else "pendula.load"


def wrong(who: str, given: Any, also: str = "") -> UsageError:
    """The error that states what a function takes and what it was given."""
    takes = f"{also}, a model, a system" if also else "a model, a system"
    return UsageError(f"{who} takes {takes} or the name of a library mechanism, found {shown(given)}")


def shown(given: Any) -> str:
    """A wrong argument in a few words: numbers as they are, other things by their type."""
    if given is None or isinstance(given, (bool, int, float, complex)):
        return repr(given)
    kind = type(given).__name__
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}"
