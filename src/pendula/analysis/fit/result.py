"""The result of a fit: values with confidence intervals and correlations, residuals, and what is determined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.fit.structure import Structure
from pendula.errors import ComputationError, UsageError
from pendula.model.model import Model
from pendula.model.names import suggestion
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.words import counted, picked, readable, some

STRUCTURE = "source name runs expected_runs runs_p autocorrelation autocorrelation_p structured"
CORRELATED = 0.95
"""correlations above this are mentioned"""


@readable
@dataclass(frozen=True, eq=False)
class FitSeries:
    """One measured column of one experiment, and the fitted motion at the same times.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 2, samples=21)
        >>> one = pendula.fit("pendulum", {"t": run.t, "theta": run["theta"]}, ["l"]).series[0]
        >>> one.name, one.unit, one.t.size
        ('theta', 'rad', 21)
    """

    source: str
    name: str
    unit: str
    t: Array
    measured: Array
    fitted: Array

    @property
    def residuals(self) -> Array:
        """Measured minus fitted."""
        return self.measured - self.fitted

    def __str__(self) -> str:
        size = float(np.sqrt(np.mean(self.residuals**2)))
        values = counted(self.t.size, "value")
        return f"{self.name} of {self.source}: {values}, rms of the residuals {size:.3g} {self.unit}".rstrip()


@readable
@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted values with their confidence. ``fit["l"]`` is a value, ``fit.interval("l")`` its 95 % interval.

    Attributes:
        names, values, units: what was fitted.
        covariance: of the values; infinite where the data determine nothing.
        series: measured and fitted columns.
        noise: standard deviation of every column, given or estimated.
        known_noise: whether it was given; intervals then use the normal distribution, else Student's t.
        degrees_of_freedom: measurements minus values.
        chi_square: sum of the weighted squared residuals.
        converged, message: how the search ended.
        evaluations: motions that were integrated.
        identifiability: what the data do not determine, in words.
        singular_values: of the Jacobian by relative changes.
        at_bounds: values that ended at a bound, whose intervals mean little.
        left_out: columns of a saved run that its states determine, such as energies; they were not fitted.
        begins: first time of every experiment, at which its motion starts.
        structure: tests of the residuals of every column in every experiment.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 5, samples=51, tol=1e-10)
        >>> found = pendula.fit("pendulum", {"t": run.t, "theta": run["theta"]}, ["m", "l"])
        >>> found.identifiability  # without damping, the mass of a pendulum does not matter
        ('m has no effect on what was measured',)
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    units: Mapping[str, str]
    series: tuple[FitSeries, ...]
    noise: Mapping[str, float]
    known_noise: bool
    degrees_of_freedom: int
    chi_square: float
    converged: bool
    message: str
    evaluations: int
    identifiability: tuple[str, ...]
    singular_values: Array
    at_bounds: tuple[str, ...]
    unknowns: tuple[tuple[str, int | None], ...]
    system: System
    left_out: tuple[str, ...] = ()
    begins: tuple[float, ...] = ()
    structure: tuple[Structure, ...] = ()

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(f'"{name}" was not fitted; {suggestion(name, self.names)}')
        return self.names.index(name)

    def __getitem__(self, name: str) -> float:
        return float(self.values[self._place(name)])

    def error(self, name: str) -> float:
        """Standard error of a value."""
        k = self._place(name)
        return float(np.sqrt(self.covariance[k, k]))

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of a value, if :attr:`independent`; infinite if the data do not determine it.

        A search that did not converge has found no value, so the interval is infinite as well.
        """
        from scipy.stats import norm, t  # slow to load

        if not 0 < confidence < 1:
            raise UsageError(f"confidence must lie between 0 and 1, found {confidence!r}")
        if not self.converged:
            return -np.inf, np.inf
        part = 0.5 + confidence / 2
        factor = float(norm.ppf(part) if self.known_noise else t.ppf(part, self.degrees_of_freedom))
        return self[name] - factor * self.error(name), self[name] + factor * self.error(name)

    @property
    def correlation(self) -> Array:
        """Correlation of the values; NaN where the data determine nothing."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            found = self.covariance / np.outer(size, size)
        found[~np.isfinite(size), :] = found[:, ~np.isfinite(size)] = np.nan
        return np.asarray(found)

    @property
    def ok(self) -> bool:
        """Whether the search converged and the data determine all values."""
        return self.converged and not self.identifiability

    @property
    def independent(self) -> bool:
        """Whether the residuals look independent of each other, which the intervals take for granted."""
        return not any(one.structured for one in self.structure)

    @property
    def model(self) -> Model:
        """The model with the fitted parameters, and initial values if there was one experiment.

        Raises:
            ComputationError: the search did not converge, so there are no fitted values.
        """
        if not self.converged:
            raise ComputationError(
                f"there is no fitted model: the search did not converge ({self.message.rstrip('.')}).\n"
                "  Try: a closer guess, a shorter part of the data, or fewer values at once."
            )
        model = self.system.model.as_written
        fitted = dict(zip(self.unknowns, self.values.tolist(), strict=True))
        model = model.with_parameters({name: x for (name, k), x in fitted.items() if k is None})
        initial = {name: x for (name, k), x in fitted.items() if k is not None}
        if initial and all(k in (0, None) for _, k in self.unknowns):
            model = model.with_changes(initial=dict(model.initial) | initial)
        return model

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know: what is not determined, strong correlations, bounds, noise that does not fit."""
        found = [] if self.converged else [f"the search did not converge: {self.message}"]
        where = "" if self.converged and not self.at_bounds else "at the values above, "
        found += [where + text for text in self.identifiability]
        structured = [one for one in self.structure if one.structured and self.converged]
        if structured:
            worst = min(structured, key=lambda one: one.least)
            more = f" and {counted(len(structured) - 1, 'more column')}" if len(structured) > 1 else ""
            found.append(
                f"the residuals are not independent of each other: {worst.words}{more}. The model lacks something, or "
                "the noise of neighbouring samples is related; the intervals are not 95 % intervals, and the true "
                "values may lie far outside"
            )
        r = self.correlation
        for i in range(len(self.names)):
            for j in range(i):
                if abs(r[i, j]) > CORRELATED:
                    pair = f"{self.names[j]} and {self.names[i]}"
                    found.append(f"{pair} are correlated by {r[i, j]:.3f}: the data hardly distinguish them")
        found += [f"{name} ended at a bound: the best value may lie beyond it" for name in self.at_bounds]
        later = [t for t in dict.fromkeys(self.begins) if t != 0.0]
        if later:
            times = some([f"{t:.6g}" for t in later])
            found.append(
                f"the data begin at t = {times} {self.system.layout.time_unit}, and the motion with them: initial "
                "values, fitted or not, are those at that time"
            )
        if self.left_out:
            found.append(f"columns that Pendula computed from the states were left out: {', '.join(self.left_out)}")
        if self.known_noise:
            share = self.chi_square / self.degrees_of_freedom
            off = 4 * np.sqrt(2 / self.degrees_of_freedom)
            if abs(share - 1) > off:
                found.append(f"residuals are {np.sqrt(share):.3g} times the given noise: check sigma and the model")
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        intervals = {n: list(self.interval(n)) for n in self.names}
        return {
            "values": {n: self[n] for n in self.names},
            "errors": {n: self.error(n) for n in self.names},
            "intervals_95": intervals if self.converged and self.independent else None,
            "intervals_if_independent": intervals if self.converged else None,
            "units": dict(self.units), "correlation": self.correlation.tolist(), "noise": dict(self.noise),
            "degrees_of_freedom": self.degrees_of_freedom, "chi_square": self.chi_square, "converged": self.converged,
            "message": self.message, "evaluations": self.evaluations, "identifiability": list(self.identifiability),
            "remarks": list(self.remarks), "structure": [picked(one, STRUCTURE) for one in self.structure],
            "residuals_rms": {f"{s.source}: {s.name}": float(np.sqrt(np.mean(s.residuals**2))) for s in self.series},
        }  # fmt: skip

    def __str__(self) -> str:
        head = f"fit of {', '.join(self.names)} to {counted(self.degrees_of_freedom + len(self.names), 'measurement')}"
        lines = [f"{head}: {'converged' if self.converged else 'not converged'}"]
        for name in self.names:
            low, high = self.interval(name)
            unit = self.units.get(name, "")
            span = (
                f"95 % interval {low:.6g} to {high:.6g}" if self.independent else f"{low:.6g} to {high:.6g}, see note"
            )
            span = span if np.isfinite(high - low) else "not determined"
            lines.append(f"  {name} = {self[name]:.6g} {unit}".rstrip() + f", {span}")
        lines += [f"  noise of {name}: {x:.3g}" for name, x in list(self.noise.items())[:8]]
        return "\n".join([*lines, *(f"note: {text}" for text in self.remarks)])
