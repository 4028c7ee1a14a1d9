"""Values as people read them: angles in degrees, names with their units."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_degrees(values: Any, unit: str) -> tuple[Any, str]:
    """Values with their unit as they are shown: angles in degrees, everything else as it is.

    Example:
        >>> in_degrees(np.array([0.0, np.pi]), "rad"), in_degrees(2.0, "m")
        ((array([  0., 180.]), 'deg'), (2.0, 'm'))
    """
    return (np.degrees(values), "deg") if unit == "rad" else (values, unit)


def labelled(name: str, unit: str) -> str:
    """A name with its unit in brackets, as on an axis or above a column; alone if it has none.

    Example:
        >>> labelled("theta", "deg"), labelled("pivot_q0", "")
        ('theta [deg]', 'pivot_q0')
    """
    return f"{name} [{unit}]" if unit else name
