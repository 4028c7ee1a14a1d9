"""Reads arguments of public functions (numbers, values by name, seeds); error messages name the argument."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pendula.errors import UsageError

if TYPE_CHECKING:
    import numpy as np


def shortly(value: Any) -> str:
    """A value of any type as text of one line with at most 60 characters.

    Example:
        >>> shortly("a" * 100)
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of thousands of digits, or an object whose repr fails
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:56]}..."


def available(names: Iterable[str], most: int | None = None) -> str:
    """The end of a message about an unknown name: the names that there are, at most so many of them.

    Example:
        >>> available(["rod", "disc", "box"], 2), available([])
        ('available: rod, disc and 1 more', 'available: none')
    """
    names = list(names)
    more = f" and {len(names) - most} more" if most is not None and len(names) > most else ""
    return f"available: {', '.join(names[:most]) or 'none'}{more}"


def read_number(value: Any, what: str) -> float:
    """A number as a float; it may be infinite.

    Raises:
        UsageError: it is something else; the message begins with ``what``.

    Example:
        >>> read_number(2, "spin")
        2.0
        >>> read_number("a", "spin")
        Traceback (most recent call last):
        pendula.errors.UsageError: spin must be a number, found 'a'
    """
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{what} must be a number, found {shortly(value)}")


def read_positive(value: Any, what: str, kind: str = "number") -> float:
    """A positive, finite number as a float.

    Raises:
        UsageError: it is none; the message begins with ``what`` and calls the number a ``kind``.

    Example:
        >>> read_positive(-1, "the period")
        Traceback (most recent call last):
        pendula.errors.UsageError: the period must be a positive number, found -1
    """
    found = read_number(value, what)
    if not 0.0 < found < float("inf"):
        raise UsageError(f"{what} must be a positive {kind}, found {shortly(value)}")
    return found


def read_numbers(value: Any, what: str) -> np.ndarray:
    """Numbers as an array.

    Raises:
        UsageError: it is something else; the message begins with ``what``.

    Example:
        >>> read_numbers([1, "x"], "t")
        Traceback (most recent call last):
        pendula.errors.UsageError: t must be numbers, found [1, 'x']
    """
    return _read_array(value, what, float, "numbers")


def read_complex_numbers(value: Any, what: str) -> np.ndarray:
    """Complex numbers as an array.

    Raises:
        UsageError: it is something else; the message begins with ``what``.

    Example:
        >>> read_complex_numbers([-1, -2 + 1j], "poles").tolist()
        [(-1+0j), (-2+1j)]
    """
    return _read_array(value, what, complex, "numbers, real or complex")


def _read_array(value: Any, what: str, kind: type, wanted: str) -> np.ndarray:
    import numpy as np

    try:
        return np.asarray(value, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what} must be {wanted}, found {shortly(value)}") from None


def read_table(value: Any, what: str) -> Mapping[str, Any]:
    """Values by name; None is an empty table.

    Raises:
        UsageError: it is not a table, or a name is not text.

    Example:
        >>> read_table({"theta": 1}, "at"), read_table(None, "at")
        ({'theta': 1}, {})
        >>> read_table(3, "at")
        Traceback (most recent call last):
        pendula.errors.UsageError: at must be values by name, such as {"theta": 1}, found 3
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise UsageError(f'{what} must be values by name, such as {{"theta": 1}}, found {shortly(value)}')
    return value


def read_name_or_names(value: Any, what: str) -> tuple[str, ...]:
    """A list of names, or one name.

    Raises:
        UsageError: it is something else.

    Example:
        >>> read_name_or_names("m", "names"), read_name_or_names(["m", "l"], "names")
        (('m',), ('m', 'l'))
    """
    return (value,) if isinstance(value, str) else read_names(value, what)


def read_names(value: Any, what: str) -> tuple[str, ...]:
    """A list of names.

    Raises:
        UsageError: it is something else.

    Example:
        >>> read_names(["m", "l"], "names")
        ('m', 'l')
    """
    try:
        found = () if isinstance(value, (str, bytes)) else tuple(value)
    except TypeError:
        found = (None,)
    if isinstance(value, (str, bytes)) or not all(isinstance(name, str) for name in found):
        raise UsageError(f'{what} must be a list of names, such as ["m", "theta"], found {shortly(value)}')
    return found


def read_seed(value: Any) -> int | None:
    """The seed of random numbers.

    Raises:
        UsageError: it is not a whole number from 0 up.

    Example:
        >>> read_seed(-1)
        Traceback (most recent call last):
        pendula.errors.UsageError: the seed must be a whole number from 0 up, found -1
    """
    if value is None:
        return None
    try:
        if (seed := operator.index(value)) >= 0:
            return seed
    except TypeError:
        pass
    raise UsageError(f"the seed must be a whole number from 0 up, found {shortly(value)}")


def read_count(value: Any, what: str, most: int, least: int = 1) -> int:
    """A whole number in a range.

    Raises:
        UsageError: it is something else.

    Example:
        >>> read_count(1e9, "states", 1000)
        Traceback (most recent call last):
        pendula.errors.UsageError: states must be a whole number from 1 to 1000, found 1000000000.0
    """
    try:
        if not isinstance(value, bool) and least <= operator.index(value) <= most:
            return operator.index(value)
    except TypeError:
        pass
    raise UsageError(f"{what} must be a whole number from {least} to {most}, found {shortly(value)}")


def read_path(value: Any, what: str) -> Path:
    """The path of a file.

    Raises:
        UsageError: it is something else.

    Example:
        >>> read_path(3, "path")
        Traceback (most recent call last):
        pendula.errors.UsageError: path must be the path of a file, found 3
    """
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise UsageError(f"{what} must be the path of a file, found {shortly(value)}")
    return Path(value)
