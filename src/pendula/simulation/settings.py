"""Settings of a run, checked in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.arguments import read_number
from pendula.errors import UsageError
from pendula.numerics.steppers import checks
from pendula.numerics.steppers.stepper import Stepper
from pendula.simulation.defaults import SHORTEST
from pendula.system.layout import Array

CONSTRAINTS = ("projection", "baumgarte", "none")
ON_FAILURE = ("return", "raise")
NUMBERS = (int, float, np.floating, np.integer)
"""types of numbers"""


@dataclass(frozen=True)
class Settings:
    """Arguments of :func:`pendula.simulate` and :func:`pendula.simulate_many` that do not depend on the system."""

    span: tuple[float, float]
    tol: float
    atol: float
    stepper: Stepper
    step: float | None
    samples: Array | None
    constraints: str
    baumgarte_rate: float | None
    max_steps: int
    chart_switching: bool = True

    @classmethod
    def checked(
        cls, first: float, duration: float | None, t_span: Sequence[float] | None, *, tol: float, atol: float | None,
        stepper: str, samples: Any, max_steps: int, fewest_samples: int = 2, step: float | None = None,
        constraints: str = "projection", baumgarte_rate: float | None = None, on_failure: str = "return",
        chart_switching: bool = True,
    ) -> Settings:  # fmt: skip
        """Checks the arguments of a run, or of many runs.

        Raises:
            UsageError: an argument is out of range.
            NotSupported: the stepper cannot take a fixed step.
        """
        span = span_of(duration, t_span, first)
        for name, value, known in (("constraints", constraints, CONSTRAINTS), ("on_failure", on_failure, ON_FAILURE)):
            if value not in known:
                raise UsageError(f'{name} must be one of {", ".join(known)}, found "{value}"')
        _check_rate(constraints, baumgarte_rate)
        try:
            return cls(
                span=span,
                tol=checks.check_tolerance(tol),
                atol=float(tol) if atol is None else atol,
                stepper=checks.check_stepper(stepper, fixed=step is not None),
                step=step,
                samples=None if samples is None else checks.sample_times(samples, *span, fewest_samples),
                constraints=constraints,
                baumgarte_rate=baumgarte_rate,
                max_steps=checks.check_max_steps(max_steps),
                chart_switching=bool(chart_switching),
            )
        except ValueError as error:
            raise UsageError(str(error)) from None


def read_tolerance(tol: Any, loosest: float = checks.LOOSEST) -> float:
    """The tolerance of an analysis that integrates.

    Raises:
        UsageError: it is not a number, or out of range.
    """
    try:
        return checks.check_tolerance(tol, loosest)
    except ValueError as error:
        raise UsageError(str(error)) from None


def span_of(duration: float | None, t_span: Sequence[float] | None, first: float) -> tuple[float, float]:
    """First and last time, from a duration or from ``t_span``.

    Raises:
        UsageError: neither or both are given, or they are not finite.
    """
    if (duration is None) == (t_span is None):
        raise UsageError("give either a duration or t_span = (first, last)")
    if duration is not None and not isinstance(duration, NUMBERS):
        raise UsageError(f"the duration must be a number, found {duration!r}")
    try:
        span = tuple(t_span) if t_span is not None else (first, first + read_number(duration, "the duration"))
    except TypeError:
        raise UsageError(f"the time span must be two finite numbers, found {t_span!r}") from None
    if len(span) != 2 or not all(isinstance(x, NUMBERS) and np.isfinite(x) for x in span):
        raise UsageError(f"the time span must be two finite numbers, found {span!r}")
    _refuse_short(float(span[1]) - float(span[0]))
    return float(span[0]), float(span[1])


def _refuse_short(duration: float) -> None:
    """Raises UsageError for a run so short that the squares of its steps underflow; a duration of 0 is allowed."""
    if 0.0 < abs(duration) < SHORTEST:
        raise UsageError(f"the duration must be 0 or at least {SHORTEST:g}, found {duration:g}")


def _check_rate(constraints: str, rate: float | None) -> None:
    if rate is None:
        return
    if constraints != "baumgarte":
        raise UsageError(f'baumgarte_rate requires constraints="baumgarte", found constraints="{constraints}"')
    if not isinstance(rate, NUMBERS) or not 0 < rate < np.inf:
        raise UsageError(f"baumgarte_rate must be a positive number, found {rate!r}")
