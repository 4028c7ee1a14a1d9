"""Records with one number per lane in every field, read by lane or with eight numbers at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import models, register_model

from pendula.numerics.compiled.records import reader, reader_of
from pendula.numerics.scalars.eight import BYTES, LANES, Eight, aligned_zeros


class _EightsRecord(types.Record):
    """A record whose fields are eights; NumPy has no such type."""

    @property
    def dtype(self) -> np.dtype[np.void]:
        """Memory of that size."""
        return np.dtype((np.void, self.size))


register_model(_EightsRecord)(models.RecordModel)


def lane_records(reals: Sequence[str], whole: Sequence[str]) -> tuple[np.dtype[Any], Any, Any]:
    """A record of lanes, and two functions for compiled code that return the record at an address.

    Of the first function's record, every field in ``reals`` is an eight (``lanes.t``); of the second one's, every field
    is an array with one number per lane (``lanes.t[l]``), including the integers in ``whole``.
    """
    fields = [(name, {"type": Eight, "offset": BYTES * k, "alignment": BYTES}) for k, name in enumerate(reals)]
    each = np.dtype([(name, "f8", (LANES,)) for name in reals] + [(name, "i8", (LANES,)) for name in whole], align=True)
    return each, reader_of(_EightsRecord(fields, BYTES * len(reals), True)), reader(each)


def lane_memory(each: np.dtype[Any]) -> np.ndarray:
    """A record of lanes, all zero, at an address that is a multiple of 64."""
    return aligned_zeros(each.itemsize // BYTES, LANES).reshape(-1).view(each)
