"""Energy errors relative to the energies of a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.simulation.defaults import ROUNDED_ENERGY


def relative_drift(error: Any, scale: Any, depth: Any) -> Any:
    """Energy errors relative to their scale; those that rounding explains, relative to the energies themselves.

    A run that ends after a nanosecond has a kinetic energy below the rounding of its potential energy: relative to that
    scale, its rounding errors would look like a drift.

    Args:
        error: largest energy error of each run.
        scale: its energy scale: the largest kinetic energy, or the range of the potential energy.
        depth: the largest modulus of its potential energy.

    Example:
        >>> relative_drift(np.array([1e-15, 1e-12]), 1e-10, 1.0).tolist()
        [1e-15, 0.01]
    """
    depth = np.maximum(depth, scale)
    return np.where(error <= ROUNDED_ENERGY * depth, error / depth, error / scale)
