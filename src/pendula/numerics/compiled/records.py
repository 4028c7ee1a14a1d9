"""Records for compiled code: named fields in memory that Python and kernels share, passed by address.

If a kernel took fifty numbers and twenty arrays as a tuple, numba would pass every number, and six words per array,
through every call, and take seconds to compile that. A record is one address, and its fields have names on both sides:
``run.retrying += 1`` in a kernel, ``run.retrying`` in Python. An array is a field that holds its address
(:func:`pendula.numerics.compiled.native.doubles_at` reads it).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from pendula.numerics.compiled.native import view_at


def record_dtype(reals: str = "", whole: str = "") -> np.dtype[Any]:
    """A record of float64 and int64 fields, named in text.

    Example:
        >>> record_dtype(reals="t h", whole="stored").names
        ('t', 'h', 'stored')
    """
    return np.dtype([(name, "f8") for name in reals.split()] + [(name, "i8") for name in whole.split()], align=True)


def reader(dtype: np.dtype[Any]) -> Any:
    """A function for compiled code that returns the record at an address."""
    return reader_of(numba.from_dtype(dtype))


def reader_of(record: Any) -> Any:
    """The same for a record type of numba."""

    @intrinsic
    def record_at(typingctx: Any, address: Any) -> Any:
        def generate(target: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], target.get_value_type(record))

        return record(types.intp), generate

    return record_at


def records_at(dtype: np.dtype[Any]) -> Any:
    """A function (address, count) for compiled code that returns the array of records at an address."""
    return view_at(numba.from_dtype(dtype), dtype.itemsize)


_NOTHING = ctypes.c_char * 0


def _address(array: Any) -> int:
    """Address of an array's memory; ``array.ctypes`` takes four times as long."""
    return ctypes.addressof(_NOTHING.from_buffer(array)) if array.flags.writeable else int(array.ctypes.data)


@cache
def _places(dtype: np.dtype[Any]) -> dict[str, tuple[bool, int]]:
    """Whether each field is a float64, and its index among the words of the record."""
    return {name: (field[0] == np.float64, field[1] // 8) for name, field in (dtype.fields or {}).items()}


class Memory:
    """A record and the arrays that it points to, kept alive together.

    Fields are attributes: ``memory.t = 0.0``. Assigning an array to a field keeps it alive and stores its address in
    the record; reading the field returns the array.

    Example:
        >>> memory = Memory(record_dtype(reals="t", whole="count y"))
        >>> memory.t, memory.y = 2.0, np.zeros(3)
        >>> memory.t, memory.y.size
        (2.0, 3)
    """

    def __init__(self, dtype: np.dtype[Any], **fields: Any) -> None:
        store = np.zeros(dtype.itemsize // 8)
        raw = store.data.cast("B")
        vars(self).update(
            address=_address(store), _places=_places(dtype), _reals=raw.cast("d"), _whole=raw.cast("q"), _kept=[]
        )
        for name, value in fields.items():
            setattr(self, name, value)

    def keep(self, owner: object) -> None:
        """Keeps something alive as long as this memory."""
        self._kept.append(owner)

    @property
    def kept(self) -> tuple[object, ...]:
        """The objects that are kept alive."""
        return tuple(self._kept)

    def __getattr__(self, name: str) -> Any:
        """A number; arrays are ordinary attributes."""
        try:
            is_real, place = self._places[name]
        except KeyError:
            raise AttributeError(name) from None
        return self._reals[place] if is_real else self._whole[place]

    def __setattr__(self, name: str, value: Any) -> None:
        is_real, place = self._places[name]
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{name} must be a contiguous array")
            object.__setattr__(self, name, value)
            value = _address(value)
        (self._reals if is_real else self._whole)[place] = value
