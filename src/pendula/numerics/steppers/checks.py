"""Checks of the arguments of integrations; messages state what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pendula.numerics.steppers.stepper import STEPPERS, Stepper

TIGHTEST, LOOSEST = 1e-14, 1.0
"""tolerances that make sense in double precision"""
MOST_SAMPLES = 10_000_000
SLIVER = 1e-6  # of a fixed step: a shorter remainder is rounding, and is merged with the step before it


def check_tolerance(tol: Any, loosest: float = LOOSEST) -> float:
    """A relative tolerance.

    Raises:
        ValueError: it is not a number, or out of range.
    """
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not TIGHTEST <= tol <= loosest:
        raise ValueError(f"the tolerance must lie between {TIGHTEST:g} and {loosest:g}, found {tol!r}")
    return float(tol)


def check_max_steps(max_steps: Any) -> int:
    """The number of steps that a run may attempt.

    Raises:
        ValueError: it is not a positive whole number.
    """
    whole = isinstance(max_steps, (int, np.integer)) and not isinstance(max_steps, bool)
    if not whole or not 1 <= max_steps < 2**62:
        raise ValueError(f"max_steps must be a positive whole number, found {max_steps!r}")
    return int(max_steps)


def check_stepper(name: Any, **asked_for: bool) -> Stepper:
    """The stepper of a name, which must have the requested abilities.

    Raises:
        UsageError: there is no such stepper.
        NotSupported: it lacks an ability; the message lists the steppers that have it.
    """
    stepper = STEPPERS[name]
    for ability, wanted in asked_for.items():
        if wanted:
            stepper.require(ability)
    return stepper


def sample_times(samples: Any, t0: float, t_end: float, fewest: int = 2) -> np.ndarray:
    """Sample times, from their number or from a list.

    Raises:
        ValueError: the number is out of range, or the list does not consist of numbers.
    """
    if isinstance(samples, (int, np.integer)) and not isinstance(samples, bool):
        if not fewest <= samples <= MOST_SAMPLES:
            raise ValueError(f"samples must be between {fewest} and {MOST_SAMPLES}, found {samples}")
        return np.linspace(t0, t_end, int(samples)) if samples > 1 and t0 != t_end else np.array([t_end])
    try:
        return np.asarray(samples, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"samples must be a whole number or a list of times, found {samples!r}") from None


def require_finite(name: str, values: np.ndarray) -> None:
    """Rejects values that are not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"{name} must be finite, but entry {bad[0]} is {values[bad[0]]}")


def checked_start(y0: Sequence[float] | np.ndarray) -> np.ndarray:
    """An initial state."""
    start = np.array(y0, dtype=float)
    if start.ndim != 1:
        raise ValueError(f"y0 must be a list of numbers, got an array of shape {start.shape}")
    require_finite("y0", start)
    return start


def checked_span(t_span: Sequence[float]) -> tuple[float, float]:
    """First and last time."""
    span = np.array(t_span, dtype=float)
    if span.shape != (2,):
        raise ValueError(f"t_span must be two times (first, last), got {t_span!r}")
    require_finite("t_span", span)
    return float(span[0]), float(span[1])


def check_settings(
    rtol: float, quadratures: int, n: int, max_steps: int, first_step: float | None, max_step: float
) -> None:
    """Rejects settings that are out of range."""
    check_tolerance(rtol)
    if not 0 <= quadratures <= n:
        raise ValueError(f"quadratures must lie between 0 and the number of components {n}, got {quadratures!r}")
    check_max_steps(max_steps)
    if first_step is not None and not 0.0 < first_step < np.inf:
        raise ValueError(f"first_step must be positive and finite, got {first_step!r}")
    if not max_step > 0.0:
        raise ValueError(f"max_step must be positive, got {max_step!r}")


def checked_atol(atol: float | Sequence[float] | np.ndarray, n: int) -> np.ndarray:
    """Absolute tolerances, one for each component."""
    try:
        values = np.array(atol, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"atol must be a number or one for each of {n} components, found {atol!r:.60}") from None
    if values.ndim > 0 and values.shape != (n,):
        raise ValueError(f"atol must be a number or one for each of {n} components, got shape {values.shape}")
    values = np.array(np.broadcast_to(values, (n,)))  # a copy: a read-only view has another type
    if not np.all((values > 0.0) & np.isfinite(values)):
        raise ValueError(f"atol must be positive and finite, got {atol!r}")
    return values


def checked_samples(
    times: Sequence[float] | np.ndarray | None, t0: float, t_end: float, direction: float
) -> np.ndarray:
    """Sample times, which must be in the order of integration and inside the span."""
    samples = np.array(() if times is None else times, dtype=float)
    if samples.ndim != 1:
        raise ValueError(f"sample_times must be a list of times, got an array of shape {samples.shape}")
    require_finite("sample_times", samples)
    if np.any(direction * np.diff(samples) < 0.0):
        raise ValueError("sample_times must be in the order of integration")
    slack = 8.0 * np.spacing(max(abs(t0), abs(t_end)))
    low, high = min(t0, t_end), max(t0, t_end)
    if samples.size and (samples.min() < low - slack or samples.max() > high + slack):
        raise ValueError(
            f"sample_times must lie in t_span [{low:g}, {high:g}]; got {samples.min():g} to {samples.max():g}"
        )
    return np.clip(samples, low, high)


def checked_breakpoints(
    breakpoints: Sequence[float] | np.ndarray, t0: float, t_end: float, direction: float, nudge: float
) -> np.ndarray:
    """Breakpoints inside the span, in the order of integration; those that differ only by rounding are merged."""
    given = np.array(breakpoints, dtype=float).ravel()
    require_finite("breakpoints", given)
    kept: list[float] = []
    for at in sorted(given, key=lambda value: direction * value):
        for end in (t0, t_end):
            at = end if abs(at - end) <= 4.0 * nudge else at
        inside = direction * (at - t0) >= 0.0 and direction * (t_end - at) >= 0.0
        if inside and (not kept or abs(at - kept[-1]) > 4.0 * nudge):
            kept.append(at)
    return np.array(kept)


def check_step(stepper: Stepper, step: float | None, t0: float, t_end: float, breakpoints: int, max_steps: int) -> None:
    """Rejects a fixed step that is missing, not allowed for this stepper, or out of range."""
    if not stepper.fixed:
        if step is not None:
            stepper.require("fixed")
        return
    if step is None:
        raise ValueError(f"{stepper.name} takes steps of a fixed size; give step=...")
    if not isinstance(step, (int, float, np.floating, np.integer)) or not 0.0 < step < np.inf:
        raise ValueError(f"the step must be positive and finite, got {step!r}")
    span = abs(t_end - t0)
    if span == 0.0:
        return
    if step > span * (1.0 + SLIVER):
        raise ValueError(f"the step {step:g} is longer than the time span, which is {span:g}")
    if step < 10.0 * np.spacing(max(abs(t0), abs(t_end))):
        raise ValueError(f"the step {step:g} is too short: it hardly changes t = {max(abs(t0), abs(t_end)):g}")
    needed = np.ceil(span / step - SLIVER) + breakpoints
    if needed > max_steps:
        raise ValueError(f"a span of {span:g} needs {needed:.10g} steps of {step:g}, but max_steps is {max_steps}")
