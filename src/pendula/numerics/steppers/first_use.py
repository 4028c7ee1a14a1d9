"""Uses of the compiled step loops on equations that cost nothing, to compile the loops ahead of their use."""

from __future__ import annotations

import ctypes

import numpy as np

from pendula.numerics.compiled.ahead import Ahead
from pendula.numerics.compiled.native import Callback

EXPLICIT = Ahead("pendula.numerics.steppers.explicit:advance", f"{__name__}:use_explicit")
IMPLICIT = Ahead("pendula.numerics.steppers.implicit:advance_implicit", f"{__name__}:use_implicit")
LOCKSTEP = Ahead("pendula.numerics.ensemble.lockstep:advance", f"{__name__}:use_lockstep")

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _resting(count: int) -> Callback:
    """The right-hand side 0 of some components."""

    def rest(out: int, inp: int, context: int) -> None:
        ctypes.memset(out, 0, 8 * count)

    native = _NATIVE(rest)
    return Callback(int(ctypes.cast(native, ctypes.c_void_p).value or 0), 0, native)


def use_explicit() -> None:
    """Takes a step with an explicit method."""
    from pendula.numerics.steppers.stepping import integrate

    integrate(_resting(1), [0.0], (0.0, 1.0), rtol=1e-6, atol=1e-6)


def use_implicit() -> None:
    """Takes a step with the implicit method."""
    from pendula.numerics.steppers.stepping import integrate

    integrate(_resting(1), [0.0], (0.0, 1.0), rtol=1e-6, atol=1e-6, method="radau")


def use_lockstep() -> None:
    """Takes a step with eight states in lockstep."""
    from pendula.numerics.ensemble.integrate_many import integrate_many

    integrate_many(_resting(8), np.zeros((1, 1)), (0.0, 1.0), rtol=1e-6, atol=1e-6)
