"""Records for compiled code: named fields in memory that Python and kernels share, passed by address.

If a kernel took fifty numbers and twenty arrays as a tuple, numba would pass every number, and six words per array,
through every call, and take seconds to compile that. A record is one address, and its fields have names on both sides:
``run.retrying += 1`` in a kernel, ``run.retrying`` in Python. An array is a field that holds its address
(:func:`pendula.numerics.compiled.native.doubles_at` reads it).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic


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
        store = np.zeros(1, dtype)
        vars(self).update(_record=store, address=store.ctypes.data, _arrays={}, _kept=[])
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
        if name in self._arrays:
            return self._arrays[name]
        try:
            return self._record[name][0].item()
        except ValueError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{name} must be a contiguous array")
            self._arrays[name] = value
            value = value.ctypes.data
        self._record[name] = value
