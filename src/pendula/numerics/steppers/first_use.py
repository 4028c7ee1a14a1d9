"""The kernels that each stepper needs, to compile them ahead of their use."""

from __future__ import annotations

from pendula.numerics.compiled.ahead import Ahead
from pendula.numerics.steppers.stepper import STEPPERS

LOOP = Ahead("pendula.numerics.steppers.loop:advance", f"{__name__}:use_loop")
LOCKSTEP = Ahead("pendula.numerics.ensemble.lockstep:advance", f"{__name__}:use_lockstep")


def kernels_of(stepper: str) -> tuple[Ahead, ...]:
    """The step loop, and the native functions of a stepper; nothing for one that is unknown or has its own loop."""
    if stepper not in STEPPERS or STEPPERS[stepper].series:
        return ()
    return (LOOP, *(Ahead(place) for place in STEPPERS[stepper].code.values()))


def use_loop() -> None:
    """Compiles the step loop by a call without attempts, which does not read the record."""
    from pendula.numerics.steppers.loop import advance

    advance(0, 0)


def use_lockstep() -> None:
    """Compiles the loop of eight runs side by side in the same way."""
    from pendula.numerics.ensemble.lockstep import advance

    advance(0, 0)


def load_lockstep(samples: bool, bounds: bool, corrected: bool) -> None:
    """Compiles or loads all that the loop of eight runs needs; the loop last, since another process may be at it."""
    from pendula.numerics.ensemble.lockstep import helpers, write_down

    helpers(samples, bounds, corrected)
    write_down(0)
    use_lockstep()
