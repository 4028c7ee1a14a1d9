"""Adding parts of your own: one function of each kind, to be called when your module is imported.

See ``docs/extending.md`` for one worked example of each, and :mod:`pendula.extensions` for how modules are loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pendula.numerics.steppers.stepper import STEPPERS, Stepper, register_stepper

if TYPE_CHECKING:
    from pendula.numerics.steppers.equations import rates

__all__ = ["STEPPERS", "Stepper", "rates", "register_stepper"]


def __getattr__(name: str) -> object:
    if name == "rates":  # loads numba
        from pendula.numerics.steppers import equations

        return equations.rates
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
