"""Least-squares fits of parameters and initial values to measurements, with exact derivatives of the motion."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.fit.data import experiments, measurements
from pendula.analysis.fit.identify import identify
from pendula.analysis.fit.motion import Experiment, Unknown, by_experiment
from pendula.analysis.fit.outputs import known_outputs
from pendula.analysis.fit.result import Fit, FitSeries
from pendula.analysis.fit.structure import RESOLVED, structures
from pendula.arguments import available, read_count, read_name_or_names, read_names, read_number, read_table, shortly
from pendula.errors import ComputationError, ModelError, UsageError
from pendula.model.checks.parameter_units import input_units, parameter_units
from pendula.model.expressions.expression import parse
from pendula.model.model import Model
from pendula.model.names import suggestion
from pendula.model.quantities import number_in
from pendula.simulation.readings import ENERGIES, acceleration_names
from pendula.simulation.settings import read_tolerance
from pendula.simulation.tables.runs import moving_names
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.system import System

REFUSED = 1e8
"""weighted residual where no motion was found, so that the step is rejected"""
MOST_ITERATIONS = 1_000_000
"""largest number of iterations that may be asked for"""
REWEIGHTS = 3
"""how often noise levels of several columns are estimated again"""
CONVERGED = 1e-10
NEAR_ZERO = 1e-4
"""values below this part of the first guess count as zero, so that changes relative to them mean nothing"""
_INITIAL = re.compile(r"^\s*(?P<of>\w+)\s*\(\s*0\s*\)\s*$")


def fit(
    system: AnySystem,
    data: Any,
    parameters: Sequence[str],
    *,
    guess: Mapping[str, float | str] | None = None,
    initial_state: Mapping[str, Any] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    sigma: Mapping[str, float] | float | None = None,
    ignore: Sequence[str] = (),
    tol: float = 1e-9,
    max_iterations: int = 100,
    on_progress: Callable[[int, float], object] | None = None,
) -> Fit:
    """Parameters and initial values for which the motion fits measurements best, by least squares.

    The motion and its derivatives with respect to the unknown values are integrated together (variational equations),
    so that SciPy's ``least_squares`` gets an exact Jacobian. Confidence intervals are those of the linearized problem,
    for a model that is right and noise that is independent from sample to sample; the residuals are tested for both.

    Args:
        system: a system, a model, or the name of a library mechanism.
        data: a CSV file or a saved run, columns by name, a data frame, or a list of these: several experiments. Columns
            are ``t`` and coordinates, speeds or positions of points (``lower.tip.x``); units may follow in brackets,
            ``theta [deg]``. A column with the name of an input is its measured time series. Missing values are empty or
            NaN. The motion starts at the first of the times.
        parameters: names of parameters, and of initial values, ``theta(0)``, of which every experiment has its own.
        guess: first values by name; default: those of the model.
        initial_state: known initial values by name; a list has one for each experiment. Closed loops keep these and
            the trial values, and move others as at the start of a run.
        bounds: (low, high) by name, None for no bound. Default: a parameter that starts above zero stays above, unless
            it is a product of inertia.
        sigma: standard deviation of the noise, by column or one for all. Default: estimated for each column.
        ignore: columns to leave out.
        tol: tolerance of the integration.
        on_progress: called as (evaluations, cost).

    Raises:
        UsageError: a name or column is unknown, or there are fewer measurements than unknown values.
        NotSupported: a force with a kink.
        ComputationError: the motion cannot be integrated, or loops cannot be closed with the known initial values.

    Example:
        >>> import numpy as np, pendula
        >>> true = pendula.simulate("pendulum", 5, samples=101, parameters={"l": 1.3}, tol=1e-10)
        >>> found = pendula.fit("pendulum", {"t": true.t, "theta": true["theta"]}, ["l"], guess={"l": 1.0})
        >>> bool(abs(found["l"] - 1.3) < 1e-6)
        True
    """
    system = system_of(system, "fit")
    tol = read_tolerance(tol)
    max_iterations = read_count(max_iterations, "max_iterations", MOST_ITERATIONS)
    known_start, ignore = read_table(initial_state, "initial_state"), read_name_or_names(ignore, "ignore")
    sources = experiments(data)
    unknowns = _unknowns(system, parameters, len(sources))
    known = known_outputs(system.in_joints.system) | {
        n: input_units(system.model).get(n, "") for n in system.model.inputs
    }
    derived = {*ENERGIES, *acceleration_names(system.in_joints.layout), *moving_names(system)}
    setups = []
    for k, (source, columns) in enumerate(sources):
        read = measurements(source, columns, known, ignore, system.layout.time_unit, derived)
        if not any(name not in system.layout.inputs for name in read.values):
            raise UsageError(f"{source}: nothing was measured; {available(known, 12)}")
        setups.append(Experiment(k, system, read, by_experiment(known_start, k), unknowns, tol))
    given = read_table(guess, "guess"), read_table(bounds, "bounds")
    return _Problem(system, setups, unknowns, *given, sigma, max_iterations, on_progress).solved()


def _unknowns(system: System, names: Sequence[str], count: int) -> list[Unknown]:
    names = read_names(names, "parameters")
    if not names:
        raise UsageError('parameters are a list, such as ["l", "c", "theta(0)"]; found none')
    layout = system.in_joints.layout
    found: list[Unknown] = []
    for name in names:
        initial = _INITIAL.match(name)
        if initial is not None:
            layout.position(initial["of"])
            label = f"{initial['of']}(0)"
            found += [Unknown(label if count == 1 else f"{label}[{k + 1}]", initial["of"], k) for k in range(count)]
        elif name in layout.parameters:
            found.append(Unknown(name, name))
        else:
            hint = suggestion(name, layout.parameters)
            more = f'; an initial value is written "{name}(0)"' if name in (*layout.coordinates, *layout.speeds) else ""
            raise UsageError(f'there is no parameter "{name}"; {hint}{more}')
    if len({u.name for u in found}) < len(found):
        raise UsageError(f"names must differ from each other, found {', '.join(names)}")
    return found


@dataclass
class _Problem:
    system: System
    setups: list[Experiment]
    unknowns: list[Unknown]
    guess: Mapping[str, float | str]
    bounds: Mapping[str, tuple[float | None, float | None]]
    sigma: Mapping[str, float] | float | None
    max_iterations: int
    on_progress: Callable[[int, float], object] | None

    def __post_init__(self) -> None:
        self.names = [u.name for u in self.unknowns]
        self.units = self._units()
        self.first = self._first()
        self.scales = np.array([abs(x) or 1.0 for x in self.first])
        self.low, self.high = self._bounds()
        self.columns = list(dict.fromkeys(name for setup in self.setups for name in setup.columns))
        self.count = int(sum(setup.measured.sum() for setup in self.setups))
        if self.count <= len(self.names):
            raise UsageError(f"{self.count} measurements cannot determine {len(self.names)} values")
        self.spread = self._noise()
        self._last: tuple[bytes, Any] | None = None
        self.evaluations = 0

    def _units(self) -> dict[str, str]:
        units = {**parameter_units(self.system.model), **self.system.in_joints.layout.units}
        return {u.name: units.get(u.of, "") for u in self.unknowns}

    def _first(self) -> Array:
        model, found = self.system.model, []
        by_label = dict(self.guess)
        for name in by_label:
            if name not in self.names and name not in {f"{u.of}(0)" for u in self.unknowns}:
                raise UsageError(f'guess: "{name}" is not fitted; {suggestion(name, self.names)}')
        for u in self.unknowns:
            given = by_label.get(u.name, by_label.get(f"{u.of}(0)") if u.experiment is not None else None)
            if given is not None:
                found.append(number_in(given, self.units[u.name], u.name))
            elif u.experiment is None:
                found.append(model.parameter_values[u.of])
            else:
                setup = self.setups[u.experiment]
                at = setup.columns.index(u.of) if u.of in setup.columns else None
                measured = None if at is None else setup.values[setup.measured[:, at], at]
                if measured is not None and measured.size:
                    found.append(float(measured[0]))
                else:
                    found.append(float(self.system.in_joints.initial_state()[u.of]))
        return np.array(found, dtype=float)

    def _bounds(self) -> tuple[Array, Array]:
        for name in self.bounds:
            if name not in self.names:
                raise UsageError(f'bounds: "{name}" is not fitted; {suggestion(name, self.names)}')
        low, high = np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)
        signed = _products_of_inertia(self.system.model)
        for k, u in enumerate(self.unknowns):
            if u.name in self.bounds:
                low[k], high[k] = self._pair(u.name)
            elif u.experiment is None and self.first[k] > 0 and u.of not in signed:
                low[k] = 0.0
            if not low[k] < high[k]:
                raise UsageError(f'bounds of "{u.name}" must increase, found {self.bounds[u.name]}')
            if not low[k] <= self.first[k] <= high[k]:
                raise UsageError(f'"{u.name}" starts at {self.first[k]:.6g}, outside its bounds; give another guess')
        return low, high

    def _pair(self, name: str) -> tuple[float, float]:
        given = self.bounds[name]
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise UsageError(f'bounds of "{name}" are (low, high), found {shortly(given)}')
        what = f'a bound of "{name}"'
        a, b = (None if x is None else number_in(x, self.units[name], what) for x in given)
        return -np.inf if a is None else a, np.inf if b is None else b

    def _noise(self) -> dict[str, float]:
        """Standard deviations: as given, or a first scale of every column."""
        if isinstance(self.sigma, Mapping):
            for name in self.sigma:
                if name not in self.columns:
                    raise UsageError(f'sigma: "{name}" was not measured; {suggestion(name, self.columns)}')
            missing = [name for name in self.columns if name not in self.sigma]
            if missing:
                raise UsageError(f'sigma of "{missing[0]}" is missing')
            found = {name: read_number(x, f'sigma of "{name}"') for name, x in self.sigma.items()}
        elif self.sigma is not None:
            found = dict.fromkeys(self.columns, read_number(self.sigma, "sigma"))
        else:
            found = {name: float(np.std(self._column(name))) or 1.0 for name in self.columns}
        if not all(0 < x < np.inf for x in found.values()):
            raise UsageError("sigma must be positive")
        return found

    def _column(self, name: str, of: Sequence[Array] | None = None) -> Array:
        """All measured values of a column, or of arrays with the same shape."""
        parts = []
        for k, setup in enumerate(self.setups):
            if name in setup.columns:
                at = setup.columns.index(name)
                values = setup.values if of is None else of[k]
                parts.append(values[setup.measured[:, at], at])
        return np.concatenate(parts)

    # -- residuals ----------------------------------------------------------------------------------

    def _evaluated(self, x: Array) -> tuple[list[Array], list[Array]] | None:
        """Residuals and derivatives by experiment, without weights; None if there is no motion."""
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            values = dict(zip(self.names, (x * self.scales).tolist(), strict=True))
            found: Any = ([], [])
            try:
                for setup in self.setups:
                    y, slopes = setup.motion(values)
                    if not (np.isfinite(y).all() and np.isfinite(slopes).all()):
                        raise ComputationError("not finite")
                    found[0].append(y - setup.values)
                    found[1].append(slopes)
            except (ComputationError, ModelError):
                found = None
            self.evaluations += 1
            self._last = key, found
        return self._last[1]

    def _weights(self, setup: Experiment) -> Array:
        return 1.0 / np.array([self.spread[name] for name in setup.columns])

    def residuals(self, x: Array) -> Array:
        """Weighted residuals of all measurements."""
        found = self._evaluated(x)
        if found is None:
            return np.full(self.count, REFUSED)
        parts = [(r * self._weights(s))[s.measured] for r, s in zip(found[0], self.setups, strict=True)]
        flat = np.concatenate(parts)
        if self.on_progress is not None:
            self.on_progress(self.evaluations, float(flat @ flat) / 2)
        return flat

    def jacobian(self, x: Array) -> Array:
        """Derivatives of the weighted residuals by the scaled values."""
        found = self._evaluated(x)
        if found is None:
            return np.zeros((self.count, len(x)))
        parts = [
            (J * self._weights(s)[:, None])[s.measured] * self.scales
            for J, s in zip(found[1], self.setups, strict=True)
        ]
        return np.concatenate(parts)

    # -- solution -----------------------------------------------------------------------------------

    def solved(self) -> Fit:
        """The fit."""
        if self._evaluated(self.first / self.scales) is None:
            for setup in self.setups:  # raises the error that explains it
                setup.motion(dict(zip(self.names, self.first.tolist(), strict=True)))
        x, status, message = self._least_squares(self.first / self.scales)
        if self.sigma is None and len(self.columns) > 1:
            for _ in range(REWEIGHTS):
                self._estimate_noise(x)
                x, status, message = self._least_squares(x)
        if self.sigma is None:
            self._estimate_noise(x)
        return self._result(x, status, message)

    def _least_squares(self, x: Array) -> tuple[Array, int, str]:
        from scipy.optimize import least_squares  # slow to load

        low, high = self.low / self.scales, self.high / self.scales
        inside = np.clip(x, low, high)
        found = least_squares(
            self.residuals, inside, self.jacobian, bounds=(low, high), x_scale="jac", ftol=CONVERGED, xtol=CONVERGED,
            gtol=1e-14, max_nfev=self.max_iterations,
        )  # fmt: skip
        return found.x, int(found.status), str(found.message)

    def _estimate_noise(self, x: Array) -> None:
        """Noise of every column from its residuals; the unknown values take their share of degrees of freedom."""
        found = self._evaluated(x)
        if found is None:
            return
        left = 1.0 - len(self.names) / self.count
        for name in self.columns:
            r = self._column(name, found[0])
            size = float(np.sqrt((r @ r) / r.size / left))
            self.spread[name] = max(size, 1e-14 * float(np.abs(self._column(name)).max()), 1e-300)

    def _result(self, x: Array, status: int, message: str) -> Fit:
        found = self._evaluated(x)
        if found is None:
            raise ComputationError("no motion was found with the last values of the fit")
        values, J, r = x * self.scales, self.jacobian(x), self.residuals(x)
        proper = np.abs(values) > NEAR_ZERO * self.scales
        size = np.where(proper, np.abs(values), self.scales)
        relative = [u.experiment is None and bool(some) for u, some in zip(self.unknowns, proper, strict=True)]
        effects = np.linalg.norm(J / self.scales * size, axis=0)
        if proper.any():  # a value near zero must not hide the effects of all others
            size = size * np.where(proper, 1.0, np.minimum(1.0, effects[proper].max() / np.maximum(effects, 1e-300)))
        known = identify(J / self.scales * size, self.names, relative)
        dof = self.count - len(self.names)
        scatter = 1.0 if self.sigma is not None else float(r @ r) / dof
        covariance = _covariance(J / self.scales * size, known.free) * scatter * np.outer(size, size)
        series, floors = [], []
        for residual, setup in zip(found[0], self.setups, strict=True):
            for at, name in enumerate(setup.columns):
                some = setup.measured[:, at]
                measured = setup.values[some, at]
                series.append(
                    FitSeries(setup.data.source, name, setup.system.layout.units.get(name, _length(self.system, name)),
                              setup.data.t[some], measured, measured + residual[some, at])
                )  # fmt: skip
                floors.append(RESOLVED * setup.tol * (1.0 + float(np.abs(measured).max(initial=0.0))))
        width = 1e-6 * np.maximum(np.abs(values), self.scales)
        nearest = np.where(values - self.low <= self.high - values, self.low, self.high)
        held = np.abs(values - nearest) < width  # the search stays inside of its bounds, by 1e-28 for instance
        values = np.where(held, nearest, values)
        bound = tuple(name for name, at in zip(self.names, held, strict=True) if at)
        return Fit(
            names=tuple(self.names), values=values, covariance=covariance, units=self.units, series=tuple(series),
            noise=dict(self.spread), known_noise=self.sigma is not None, degrees_of_freedom=dof,
            chi_square=float(r @ r), converged=status > 0, message=message, evaluations=self.evaluations,
            identifiability=known.sentences, singular_values=known.singular_values, at_bounds=bound,
            unknowns=tuple((u.of, u.experiment) for u in self.unknowns), system=self.system,
            left_out=tuple(dict.fromkeys(name for one in self.setups for name in one.data.left_out)),
            begins=tuple(float(one.data.t[0]) for one in self.setups),
            structure=structures([(s.source, s.name, s.residuals, x) for s, x in zip(series, floors, strict=True)]),
        )  # fmt: skip


def _products_of_inertia(model: Model) -> set[str]:
    """Parameters that alone make up a product of inertia of some body, which may have either sign."""
    found: set[str] = set()
    for body in model.bodies:
        inertia = body.mass_properties().inertia
        entries = [parse(inertia[i][j]).names for i in range(3) for j in range(3) if i != j]
        found = found.union(*(names for names in entries if len(names) == 1))
    return found


def _length(system: System, name: str) -> str:
    return system.model.unit_names.length if name.count(".") == 2 else ""


def _covariance(J: Array, free: Array) -> Array:
    """(J^T J)^-1; infinite for values that take part in a direction that is not determined."""
    _, s, rows = np.linalg.svd(J, full_matrices=False)
    kept = len(s) - len(free)
    found = (rows[:kept].T / s[:kept] ** 2) @ rows[:kept]
    lost = (np.abs(free) > 1e-3).any(axis=0) if len(free) else np.zeros(J.shape[1], dtype=bool)
    found[lost, lost] = np.inf
    return np.asarray(found)
