"""Stability of periodically driven mechanisms: Floquet multipliers from the variational equations over one period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pendula.analysis.driven.periods import PERIODIC, depends_on_time, find_period, period_error, symbolic
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.equilibrium import Equilibrium, closed_state
from pendula.analysis.equilibria.poles import near_pole, state_in
from pendula.analysis.linear.kinks import refuse_kinks
from pendula.arguments import read_count, read_positive
from pendula.errors import ComputationError, NoConvergence, UsageError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError
from pendula.numerics.steppers.stepping import integrate
from pendula.simulation.beginning import refuse_not_finite
from pendula.simulation.defaults import LOOSEST_WITH_SLOPES
from pendula.simulation.settings import read_tolerance
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import assemble
from pendula.system.orientation.twins import regular_twin
from pendula.system.parameters import Parameters, parameter_vector, typical_steps
from pendula.system.switches.schedule import breakpoints, largest_step
from pendula.system.system import System
from pendula.system.tangent import TangentSpace, deviation_callback, refuse_over_time, tangent_space
from pendula.words import INDICATED, UNDECIDED, readable

STABLE, ASYMPTOTIC, UNSTABLE, CRITICAL = "stable (linear)", "asymptotically stable", "unstable", "critical"
ACCURACY = 100.0
"""assumed error of the monodromy matrix, in units of the tolerance times its largest entry"""
CLOSED = 1e-7
"""a motion is periodic if it returns to its start within this (radians, typical lengths, and both per period)"""
CORRECTIONS = 15
MOST_STEPS = 10**12
"""largest number of steps that may be asked for"""


@readable
@dataclass(frozen=True)
class Floquet:
    """Floquet multipliers of small deviations from a periodic motion. ``str()`` gives a short text.

    Attributes:
        multipliers: eigenvalues of the monodromy matrix, the factors of deviations over one period; largest first.
        exponents: log(multiplier)/period [1/time].
        verdict: ``asymptotically stable`` (all multipliers inside the unit circle), ``stable (linear)`` (none outside,
            those on the circle semisimple: solutions of the linear equations stay bounded, which does not decide the
            nonlinear ones), ``unstable`` (one outside, which decides the nonlinear equations, too) or ``critical`` (a
            repeated multiplier on the circle with too few eigenvectors, or too close to decide).
        reason: the reason for the verdict.
        period: of the driving.
        matrix: the monodromy matrix of deviations (ds, dv) with dq = N ds, of independent speeds.
        names: of its rows: directions of these speeds, then the speeds.
        conservative: whether only gravity, springs and prescribed motions do work; multipliers then come
            in pairs mu, 1/mu.
        product_error: |product of all multipliers - 1|.
        pair_error: largest deviation of a product mu_i mu_j from 1, each multiplier with its best partner.
        closing_error: distance between end and start of the motion after one period.
        trivial: number of multipliers 1 omitted from the verdict, if nothing depends on time.
        state, parameters: initial state of the periodic motion, and parameter values.
        notes: further remarks.
        time_unit: name of the unit of time.
        mechanism: its name, for titles.

    Example:
        >>> import numpy as np, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100.0, direction=0)
        >>> found = pendula.driven.floquet(pendula.compile_system(shaken), at={"theta1": np.pi})  # upright
        >>> found.verdict, np.abs(found.multipliers).round(6).tolist()
        ('stable (linear)', [1.0, 1.0])
    """

    multipliers: Array
    exponents: Array
    verdict: str
    reason: str
    period: float
    matrix: Array
    names: tuple[str, ...]
    conservative: bool
    product_error: float
    pair_error: float
    closing_error: float
    trivial: int
    state: State
    parameters: Array
    notes: tuple[str, ...]
    time_unit: str
    mechanism: str = ""

    @property
    def certainty(self) -> str:
        """``indicated``, since multipliers come from an integration in floating point; ``undecided`` if critical."""
        return UNDECIDED if self.verdict == CRITICAL else INDICATED

    @property
    def radius(self) -> float:
        """Spectral radius: modulus of the largest nontrivial multiplier."""
        return float(np.abs(self.nontrivial).max(initial=0.0))

    @property
    def nontrivial(self) -> Array:
        """The multipliers without the trivial ones, which are 1 in every autonomous motion."""
        return self.multipliers[: len(self.multipliers) - self.trivial]

    @property
    def stable(self) -> bool:
        """Whether solutions of the linear equations stay bounded."""
        return self.verdict in (STABLE, ASYMPTOTIC)

    def as_dict(self) -> dict[str, Any]:
        """All results as plain lists and strings."""
        return {
            "verdict": self.verdict,
            "certainty": self.certainty,
            "reason": self.reason,
            "multipliers": [
                {"re": float(m.real), "im": float(m.imag), "size": float(abs(m))} for m in self.multipliers
            ],
            "exponents": [{"re": float(m.real), "im": float(m.imag)} for m in self.exponents],
            "period": self.period,
            "conservative": self.conservative,
            "product_error": self.product_error,
            "pair_error": self.pair_error,
            "closing_error": self.closing_error,
            "at": self.state.as_dict(),
            "time_unit": self.time_unit,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        period = f"period {self.period:.6g} {self.time_unit}"
        lines = [f"{self.verdict} ({self.certainty}): {self.reason} ({period})"]
        for m in self.multipliers[:20]:
            value = f"{m.real:.8g}" if m.imag == 0 else f"{m.real:.8g} {'+' if m.imag > 0 else '-'} {abs(m.imag):.8g}i"
            lines.append(f"  multiplier {value}, size {abs(m):.10g}")
        pairs = "pairs mu, 1/mu" if self.conservative else "not expected to be 1: work is done"
        lines.append(f"  product of all off 1 by {self.product_error:.2g}, pairs by {self.pair_error:.2g} ({pairs})")
        return "\n".join([*lines, *(f"note: {n}" for n in self.notes)])


def floquet(
    system: AnySystem,
    period: float | str | None = None,
    *,
    at: Equilibrium | State | Mapping[str, float] | None = None,
    parameters: Parameters = None,
    close: bool = False,
    tol: float = 1e-13,
    max_steps: int = 1_000_000,
) -> Floquet:
    """Floquet multipliers of a periodically driven mechanism, and its stability.

    The reference motion is an equilibrium that exists at all times (a pendulum straight up or down on a vertically
    shaken pivot), or a periodic motion given by its initial state. The motion and a deviation in every direction (the
    variational equations) are integrated over one period with exact derivatives, which gives the monodromy matrix. With
    closed loops the deviations satisfy the linearized constraints and are written in independent coordinates; in place
    of maximal coordinates, those of the joints are used. Equations that others wrote (``compile_equations``) are
    followed as they are written.

    Args:
        system: a system, a model, or the name of a library mechanism.
        period: of the motion, as a number or as an expression of parameters; default: found from sines and cosines of t
            in the model. The period is checked against the forces.
        at: the initial state by name (unnamed values are zero, or follow from closed loops), a State or an Equilibrium.
        parameters: changes of parameters by name, or all values as an array.
        close: whether to correct the state by Newton's method (shooting) until the motion is periodic.
        tol: tolerance of the integration.
        max_steps: most attempted steps over one period.

    Raises:
        UsageError: no period was found, the given one is wrong, or the motion is not periodic.
        NoConvergence: with ``close``, no periodic motion was found.
        ComputationError: forces have a kink or a jump exactly where the mechanism rests.
        NotSupported: angles are singular at the start, and the model cannot be written in quaternions.

    Example:
        >>> import math, pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
        >>> found = floquet(pendula.compile_system(shaken), at={"theta1": math.pi})
        >>> found.verdict, round(found.radius, 6)  # upright, and it stays: Kapitza
        ('stable (linear)', 1.0)
    """
    given = system_of(system, "floquet")
    return Multipliers(given, period=period, at=at, close=close, tol=tol, max_steps=max_steps)(parameters)


class Multipliers:
    """Floquet multipliers of one mechanism as a function of its parameters; arguments as of :func:`floquet`."""

    def __init__(
        self,
        system: System,
        *,
        period: float | str | None,
        at: Any,
        close: bool,
        tol: float,
        max_steps: int = 1_000_000,
    ) -> None:
        refuse_over_time(system)
        tol = read_tolerance(tol, LOOSEST_WITH_SLOPES)
        self.effort = _Effort(tol, read_count(max_steps, "max_steps", MOST_STEPS))
        self.given, self.system = system, symbolic(system.in_joints.system)
        self.period, self.at, self.close, self.tol = period, at, close, tol

    def __call__(self, parameters: Parameters) -> Floquet:
        """The multipliers for some parameters."""
        system, tol = self.system, self.tol
        vector = parameter_vector(system, parameters)
        length = _period(system, self.period, vector)
        start = _state(self.given, system, self.at, vector)
        refuse_not_finite(start)
        notes: tuple[str, ...] = ()
        if near_pole(system, start, vector):
            twin = symbolic(regular_twin(system))
            start, system = state_in(twin, system, start, vector), twin
            notes = ("angles are singular in this state, so the motion and its deviations are in quaternions",)
        if self.close:
            start, around = _closed(system, start, length, vector, self.effort)
        else:
            around = _once_around(system, start, length, vector, self.effort)
        off = _size(system, around, length, vector)
        if not off <= CLOSED + 1e-12 * np.abs(around.matrix).max():
            _refuse_open(system, around, length)
        if not np.any(start.v):  # an equilibrium at a kink stays there; other motions only cross it
            balance = Balance(system, None, vector)
            refuse_kinks(balance, start.q, start.v, balance.multipliers(start.q, start.v, start.t))
        found = _judged(system, start, vector, length, around, off, tol)
        return replace(found, notes=(*notes, *found.notes))


def _period(system: System, given: float | str | None, vector: Array) -> float:
    if given is None:
        return find_period(system, vector)
    if isinstance(given, str):
        values = system.layout.parameter_values(vector)
        try:
            given = parse(given).evaluate(values)
        except ExpressionError as error:
            raise UsageError(f"the period {given!r}: {error}") from None
    period = read_positive(given, "the period")
    off = period_error(system, period, vector)
    if off > PERIODIC:
        raise UsageError(
            f"{period:.9g} {system.layout.time_unit} is not a period of the driving: forces differ by {off:.2g} of "
            "their size after it.\n  Try: omit the period, so that it is found from the model."
        )
    return period


def _state(given: System, system: System, at: Any, vector: Array) -> State:
    """The initial state in the coordinates of the joints, with loops closed."""
    if isinstance(at, Equilibrium):
        at = at.state
    if isinstance(at, State):
        if at.layout.coordinates == given.layout.coordinates:
            at = given.in_joints.read_state(at, vector)
        if at.layout.coordinates != system.layout.coordinates:
            raise UsageError("the state belongs to another system: its coordinates have other names")
        return assemble(system, at, parameters=vector).state if system.loop_rows else at
    if at is not None and not isinstance(at, Mapping):
        raise UsageError(f"at is a State, an Equilibrium or values by name, found {type(at).__name__}")
    if system.loop_rows:
        return closed_state(system, dict(at or {}), vector)
    return system.in_joints.state(dict(at or {}))


class _Effort(NamedTuple):
    """Tolerance of an integration over one period, and its most steps."""

    tol: float
    max_steps: int


class _Around(NamedTuple):
    """Monodromy matrix and difference between end and start of the motion, in independent (ds, dv)."""

    matrix: Array
    missed: Array
    space: TangentSpace


def _once_around(system: System, start: State, period: float, vector: Array, effort: _Effort) -> _Around:
    """The motion and all its deviations over one period."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    span = (start.t, start.t + period)
    together = not system.loop_rows
    breaks = breakpoints(system, vector, span)
    longest = min(period / 8, largest_step(system, vector, span, breaks))
    y = np.concatenate([start.q, start.v])
    space = tangent_space(system, start, vector)
    directions = space.basis.T
    groups = directions[None] if together else directions[:, None]  # with loops, one deviation at a time
    along = np.zeros((len(directions), len(vector))) if together else None
    callback = deviation_callback(system, vector, along)
    columns: list[Array] = []
    for group in groups:
        run = integrate(
            callback, np.concatenate([y, *group]), span, rtol=effort.tol, atol=effort.tol, breakpoints=breaks,
            max_step=longest, max_steps=effort.max_steps, keep_on_interrupt=False,
        )  # fmt: skip
        if not run.outcome.ok:
            raise ComputationError(f"the multipliers were not found: {run.outcome}: {run.detail}")
        columns += list(run.y[-1, nq + nv :].reshape(len(group), nq + nv))
    end = State(span[1], run.y[-1, :nq].copy(), run.y[-1, nq : nq + nv].copy(), system.layout)
    M = tangent_space(system, end, vector, space.chosen).read(np.array(columns).T)
    return _Around(M, _missed(system, start, end, space), space)


def _missed(system: System, start: State, end: State, space: TangentSpace) -> Array:
    """End minus start as independent (ds, dv), ignoring whole turns and the sign of quaternions."""
    dq = end.q - start.q
    for k, kind in enumerate(system.layout.coordinate_kinds):
        if kind == "angle":
            dq[k] -= 2 * np.pi * np.round(dq[k] / (2 * np.pi))
    for at, _ in system.balls:
        here, there = start.q[at : at + 4], end.q[at : at + 4]
        dq[at : at + 4] = there * np.sign(here @ there) - here
    return space.read(np.concatenate([dq, end.v - start.v]))


def _size(system: System, around: _Around, period: float, vector: Array) -> float:
    """A scaled norm of what a motion missed: radians, typical lengths, and both per period."""
    unit = typical_steps(system, vector)[list(around.space.chosen)]
    return float(np.abs(around.missed / np.concatenate([unit, unit / period])).max(initial=0.0))


def _refuse_open(system: System, around: _Around, period: float) -> None:
    missed, names = around.missed, 2 * [system.layout.speeds[k] for k in around.space.chosen]
    n = len(missed) // 2
    k = int(np.argmax(np.abs(np.concatenate([missed[:n], missed[n:] * period]))))
    what = f"position along {names[k]}" if k < n else names[k]
    raise UsageError(
        f"the motion from this state is not periodic: after {period:.6g} {system.layout.time_unit} "
        f"the {what} is off by {missed[k]:.3g}.\n"
        "  Try: a state that is an equilibrium at all times, or close=True, which searches for a periodic "
        "motion."
    )


def _closed(system: System, start: State, period: float, vector: Array, effort: _Effort) -> tuple[State, _Around]:
    """A nearby state with a periodic motion, by Newton's method (single shooting)."""
    nq, off = len(system.layout.coordinates), np.inf
    for _ in range(CORRECTIONS):
        around = _once_around(system, start, period, vector, effort)
        off = _size(system, around, period, vector)
        if off <= 0.01 * CLOSED:
            return start, around
        step = np.linalg.lstsq(around.matrix - np.eye(len(around.matrix)), -around.missed, rcond=1e-10)[0]
        change = around.space.basis @ step
        q = start.q + change[:nq]
        for at, _ in system.balls:
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        start = State(start.t, q, start.v + change[nq:], system.layout)
        if system.loop_rows:
            start = assemble(system, start, parameters=vector).state
    raise NoConvergence(
        f"no motion with period {period:.6g} was found near this state: after {CORRECTIONS} corrections its end still "
        f"differs from its start by {off:.2g}.\n  Try: another start, for example the end of a long damped run.",
        last=start,
        residual=off,
    )


# --- verdict ----------------------------------------------------------------------------------------


def _judged(
    system: System, start: State, vector: Array, period: float, around: _Around, off: float, tol: float
) -> Floquet:
    from scipy import linalg  # slow to load

    conservative = bool(system.equations.power_is_zero) and not system.written
    M = per_period(around.matrix, period)
    values, left, right = linalg.eig(M, left=True)
    product = abs(np.prod(values) - 1)
    error = ACCURACY * tol * max(1.0, float(np.abs(M).max()))
    error = max(error, 10 * product) if conservative else error
    sensitivity = 1 / np.maximum(np.abs(np.einsum("ik,ik->k", left.conj(), right)), 1e-300)
    band = np.minimum(sensitivity * error, np.sqrt(error))
    trivial, notes = _along_motion(system, start, vector, values, conservative)
    order = np.array(sorted(range(len(values)), key=lambda k: (k in trivial, -abs(values[k]), -values[k].imag)))
    values, band = values[order], band[order]
    kept = slice(0, len(values) - len(trivial))
    verdict, reason = _verdict(M, values[kept], band[kept], error, period, system.layout.time_unit)
    pairs = _pair_error(values)
    if conservative and max(product, pairs) > 1e-6:
        notes.append(f"multipliers should come in pairs mu, 1/mu but deviate by {max(product, pairs):.2g}: tighten tol")
    if verdict == STABLE:
        notes.append("the linear equations stay bounded; they do not decide the nonlinear ones")
    with np.errstate(divide="ignore"):
        exponents = np.log(values.astype(complex)) / period
    speeds = [system.layout.speeds[k] for k in around.space.chosen]
    return Floquet(
        values, exponents, verdict, reason, period, around.matrix, (*(f"along {n}" for n in speeds), *speeds),
        conservative, float(product), pairs, off, len(trivial), start, vector, tuple(notes), system.layout.time_unit,
        system.model.name,
    )  # fmt: skip


def per_period(M: Array, period: float) -> Array:
    """The monodromy matrix of deviations (ds, dv times the period), whose entries are of comparable size."""
    n = len(M) // 2
    scale = np.concatenate([np.ones(n), np.full(n, period)])
    return M * scale[:, None] / scale


def _along_motion(
    system: System, start: State, vector: Array, values: Array, conservative: bool
) -> tuple[set[int], list[str]]:
    """Trivial multipliers 1 of an autonomous motion: a shift in time, and, if conservative, a change of energy."""
    if depends_on_time(system):
        return set(), []
    rates = system.rates(start.q, start.v, start.t, parameters=vector)
    a = system.accelerations(start.q, start.v, start.t, parameters=vector)
    if max(np.abs(rates).max(), np.abs(a).max()) < 1e-9:
        return set(), []
    count = 2 if conservative else 1
    nearest = set(np.argsort(np.abs(values - 1))[:count].tolist())
    others = "one along the motion" + (", one across energies" if conservative else "")
    return nearest, [f"nothing depends on time: {count} multiplier{'s' * (count > 1)} near 1 omitted ({others})"]


def _verdict(M: Array, values: Array, band: Array, error: float, period: float, unit: str) -> tuple[str, str]:
    if not len(values):
        return STABLE, "there are no multipliers but those along the motion"
    sizes = np.abs(values)
    worst = int(np.argmax(sizes - 1 - band))
    if sizes[worst] > 1 + band[worst]:
        rate = np.log(sizes[worst]) / period
        return (
            UNSTABLE,
            f"a multiplier of size {sizes[worst]:.8g} lies outside the unit circle, growth {rate:.4g} 1/{unit}",
        )
    on = np.flatnonzero(sizes >= 1 - band)
    if not on.size:
        rate = -np.log(sizes.max()) / period if sizes.max() > 0 else np.inf
        return ASYMPTOTIC, f"all multipliers lie inside the unit circle, decay {rate:.4g} 1/{unit} at least"
    where = "all multipliers lie" if on.size == len(values) else "none lies outside, some lie"
    for k in on:
        near = [j for j in on if abs(values[j] - values[k]) <= 10 * np.sqrt(error)]
        if len(near) > 1:
            gaps = np.linalg.svd(M - values[k] * np.eye(len(M)), compute_uv=False)
            if int(np.sum(gaps <= 10 * np.sqrt(error))) < len(near):
                value = f"{values[k].real:.6g}" if abs(values[k].imag) < 1e-6 else f"{values[k]:.6g}"
                return (
                    CRITICAL,
                    f"{where} on the unit circle, but {len(near)} meet at {value} and lack eigenvectors",
                )
    return STABLE, f"{where} on the unit circle and have a full set of eigenvectors"


def _pair_error(values: Array) -> float:
    """Largest deviation of a product mu_i mu_j from 1, each multiplier with its best partner."""
    products = np.abs(np.outer(values, values) - 1)
    np.fill_diagonal(products, np.inf)
    return float(products.min(axis=1).max()) if len(values) > 1 else 0.0
