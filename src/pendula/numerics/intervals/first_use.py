"""Calls of the kernels of proofs by interval arithmetic, to compile them ahead of their use."""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.ahead import Ahead

ALL_ROOTS = Ahead("pendula.numerics.intervals.solve:work_off", f"{__name__}:use_all_roots")
BOUNDS = Ahead("pendula.numerics.intervals.solve:bounds_over", f"{__name__}:use_bounds")


def use_all_roots() -> None:
    """Finds the root of x = 0."""
    from pendula.numerics.intervals.solve import all_roots
    from pendula.numerics.intervals.tape import Tape

    all_roots(Tape(1), [0], np.array([-1.0]), np.array([2.0]))


def use_bounds() -> None:
    """Bounds of x over a box."""
    from pendula.numerics.intervals.solve import values_over
    from pendula.numerics.intervals.tape import Tape

    values_over(Tape(1), [0], np.array([[-1.0, 2.0]]))
