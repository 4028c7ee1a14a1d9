"""Long signals made short for pictures, without losing a spike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def thinned(t: Array, y: Array, points: int) -> tuple[Array, Array]:
    """At most about ``points`` points of a signal: the minimum and the maximum of each bin, and both ends."""
    if t.size <= points:
        return t, y
    keep = {0, t.size - 1}
    for part in np.array_split(np.arange(t.size), points // 2):
        keep |= {int(part[np.argmin(y[part])]), int(part[np.argmax(y[part])])}
    pick = np.array(sorted(keep))
    return t[pick], y[pick]
