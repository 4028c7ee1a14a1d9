"""Kinds of inputs of a run: time series and sampled controllers. Python functions and texts need no class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pendula.errors import UsageError
from pendula.system.layout import Array
from pendula.words import readable

INTERPOLATIONS = ("hold", "linear", "cubic")
EDGE = 1e-9
"""a run may exceed the times of a series by this part of its length: rounding"""


@readable
@dataclass(frozen=True, eq=False)
class Signal:
    """An input as a time series: values at times, and how to interpolate between them.

    "hold" keeps each value until the next time (and the last one from then on), "linear" joins the points, "cubic" is
    the spline through them with continuous second derivatives. Steps of a run end where the series has a jump or kink.

    Example:
        >>> import pendula
        >>> push = pendula.Signal([0, 1, 2], [0, 5, 0])
        >>> push(0.5), str(push)
        (2.5, 'time series of 3 values, t = 0 to 2, linear interpolation')
        >>> bool(pendula.simulate("cart-pole", 2, inputs={"F": push})["x"][-1] > 1)
        True
    """

    times: Any
    values: Any
    interpolation: Literal["hold", "linear", "cubic"] = "linear"

    def __post_init__(self) -> None:
        if self.interpolation not in INTERPOLATIONS:
            raise UsageError(f"interpolation must be one of {', '.join(INTERPOLATIONS)}, found {self.interpolation!r}")
        try:
            t, y = (np.array(x, dtype=float) for x in (self.times, self.values))
        except (TypeError, ValueError):
            raise UsageError("a Signal needs two lists of numbers: times and values") from None
        least = {"hold": 1, "linear": 2, "cubic": 4}[self.interpolation]
        if t.ndim != 1 or t.shape != y.shape or t.size < least:
            raise UsageError(
                f"a Signal with {self.interpolation} interpolation needs at least {least} times and as many values; "
                f"found {t.shape} and {y.shape}"
            )
        if not (np.isfinite(t).all() and np.isfinite(y).all()):
            raise UsageError("times and values of a Signal must be finite")
        if not (np.diff(t) > 0).all():
            k = int(np.flatnonzero(np.diff(t) <= 0)[0])
            raise UsageError(f"times of a Signal must increase; found {t[k]:.6g} and then {t[k + 1]:.6g}")
        object.__setattr__(self, "times", t)
        object.__setattr__(self, "values", y)

    @cached_property
    def pieces(self) -> Array:
        """Coefficients of the cubic after each time, lowest power first, shape (times, 4)."""
        t, y = self.times, self.values
        found = np.zeros((t.size, 4))
        found[:, 0] = y
        if self.interpolation == "linear":
            found[:-1, 1] = np.diff(y) / np.diff(t)
            found[-1, 1] = found[-2, 1]
        elif self.interpolation == "cubic":
            from scipy.interpolate import CubicSpline  # slow to load

            spline = CubicSpline(t, y)
            found[:-1] = spline.c[::-1].T
            found[-1, 1:] = [spline(t[-1], 1), spline(t[-1], 2) / 2, spline.c[0, -1]]
        return found

    @cached_property
    def breaks(self) -> Array:
        """Times at which value, slope or a higher derivative jumps."""
        if self.interpolation == "hold":
            return self.times[1:][np.diff(self.values) != 0]
        if self.interpolation == "cubic":
            return self.times[1:-1]
        slope = self.pieces[:-1, 1]
        return self.times[1:-1][np.abs(np.diff(slope)) > 1e-12 * np.abs(slope).max(initial=0.0)]

    def __call__(self, t: Any) -> Any:
        """The value at a time, or at an array of times."""
        at = np.asarray(t, dtype=float)
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, None)
        d, c = at - self.times[k], self.pieces[k]
        found = c[..., 0] + d * (c[..., 1] + d * (c[..., 2] + d * c[..., 3]))
        return float(found) if at.ndim == 0 else found

    def check_span(self, name: str, span: tuple[float, float]) -> None:
        """Raises UsageError if a run would need values outside the times of the series."""
        low, high = min(span), max(span)
        first, last = float(self.times[0]), float(self.times[-1])
        slack = EDGE * max(last - first, high - low)
        late = self.interpolation != "hold" and high > last + slack
        if low < first - slack or late:
            raise UsageError(
                f'input "{name}" is given from t = {first:.6g} to {last:.6g}, but the run is from {low:.6g} to '
                f'{high:.6g}.\n  Try: values for the whole run, or interpolation="hold", which keeps the last one.'
            )

    def __str__(self) -> str:
        ends = f"t = {self.times[0]:.6g} to {self.times[-1]:.6g}"
        return f"time series of {self.times.size} values, {ends}, {self.interpolation} interpolation"


Law = str | float | Callable[..., Any]


@readable
@dataclass(frozen=True, eq=False)
class Sampled:
    """A controller in discrete time: it sees the state at sampling times, and its output is held in between.

    Attributes:
        law: feedback law of one input, or laws by the names of the inputs: text, as for any input, or a Python function
            ``law(t, state)`` that returns a number (for several inputs one function may return values by name). A
            function with ``memory`` is called as ``law(t, state, memory)`` and returns (output, memory for the next
            sample).
        every: sampling time. The first sample is taken at the start of the run.
        delay: time from a sample until its output acts.
        initial: output until the first sample acts: a number, or numbers by name.
        noise: standard deviations of the measured coordinates and speeds, by name (normal distribution).
        seed: of the noise; the same seed gives the same noise.
        memory: first memory of a function that has one.

    Example:
        >>> import pendula
        >>> brake = pendula.Sampled("-2*x_dot", every=0.01)
        >>> run = pendula.simulate("cart-pole", 1, inputs={"F": brake}, initial_state={"x_dot": 1, "theta": 0})
        >>> bool(0 < run["x_dot"][-1] < 0.5)
        True
    """

    law: Law | Mapping[str, Law]
    every: float
    delay: float = 0.0
    initial: float | Mapping[str, float] = 0.0
    noise: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    memory: Any = None
    inputs: Sequence[str] = ()
    """inputs that one function provides, in the order of its output"""

    def __post_init__(self) -> None:
        for name, value, least in (("every", self.every, False), ("delay", self.delay, True)):
            fine = isinstance(value, (int, float, np.floating, np.integer)) and np.isfinite(value)
            if not fine or value < 0 or (value == 0 and not least):
                raise UsageError(f"{name} of a sampled controller must be a positive number, found {value!r}")
        laws = self.law.values() if isinstance(self.law, Mapping) else [self.law]
        if not laws or not all(isinstance(x, (str, int, float)) or callable(x) for x in laws):
            raise UsageError("the law of a sampled controller is text, a function, or one of these for every input")
        for name, size in self.noise.items():
            if not isinstance(size, (int, float, np.floating)) or not 0 <= size < np.inf:
                raise UsageError(f'the noise of "{name}" must be a number that is not negative, found {size!r}')

    def __str__(self) -> str:
        late = f", delayed by {self.delay:.6g}" if self.delay else ""
        noisy = f", noise of {', '.join(self.noise)}" if self.noise else ""
        return f"controller sampled every {self.every:.6g}{late}{noisy}, zero-order hold"
