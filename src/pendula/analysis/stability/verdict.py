"""Stability of an equilibrium: the verdict, its proof, and whether it holds for the nonlinear mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.linearize import Point
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import longest_chain
from pendula.analysis.linear.spectrum import Spectrum, spectrum
from pendula.analysis.stability.certainty import Certainty, certainty_of, only_dissipates
from pendula.analysis.stability.doubtful import without_doubtful_stiffness
from pendula.analysis.stability.energy_argument import Finding, energy_finding, is_damped
from pendula.analysis.stability.linear_families import same_along
from pendula.analysis.stability.momentum_argument import momentum_finding
from pendula.errors import PendulaError, UsageError
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.words import picked, readable

ROUNDING = 200 * np.finfo(float).eps
"""real parts up to this, times the condition number of the root and the norm of the matrix, count as zero"""
FAMILY_TESTED = "that equilibria form a family was tested at finite distances"


@readable
@dataclass(frozen=True)
class Stability:
    """A verdict on stability with its proof. ``str()`` gives sentences.

    Attributes:
        verdict: ``asymptotically stable``, ``stable``, ``critical: ...``, ``unstable`` or ``undecided``.
        behavior: ``significant`` if no root is on the imaginary axis, or one is right of it; else ``critical``.
        applies_to_nonlinear: whether the verdict holds for the mechanism itself, not only for its linear model.
        proof: the argument.
        roots: kind of every eigenvalue: over-damped, under-damped, undamped, growing, at rest.
        drifts: coordinates, or symmetries in words, along which a disturbed motion may drift at a constant rate.
        spectrum: the eigenvalues.
        at: the equilibrium.
        argument: what decided: ``eigenvalues``, ``stiffness``, ``higher-order terms``, ``momenta``,
            ``family`` or ``none``.
        tested: claims of the argument that were tested at some states but not proven.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = pendula.stability(system, {"theta": 0})
        >>> found.verdict, found.certainty, found.applies_to_nonlinear
        ('stable', 'proven', True)
    """

    verdict: str
    behavior: str
    applies_to_nonlinear: bool
    proof: str
    roots: tuple[str, ...]
    drifts: tuple[str, ...]
    spectrum: Spectrum
    at: Equilibrium
    argument: str = "none"
    tested: tuple[str, ...] = ()

    @cached_property
    def _certainty(self) -> Certainty:
        return certainty_of(self.verdict, self.argument, self.tested, self.drifts, self.spectrum)

    @property
    def certainty(self) -> str:
        """How certain the verdict is, in one word.

        ``proven``: by structure and interval arithmetic; ``indicated``: in floating point, or by tests at some states;
        ``undecided``: there is no verdict.
        """
        return self._certainty.word

    @property
    def grounds(self) -> str:
        """The method of the proof, or what was tried and what is missing."""
        return self._certainty.grounds

    @property
    def is_stable(self) -> bool | None:
        """True, False, or None if undecided (drift along cyclic coordinates counts as stable)."""
        if self.verdict == "unstable":
            return False
        return None if self.verdict == "undecided" else True

    def __str__(self) -> str:
        holds = "holds for the nonlinear mechanism" if self.applies_to_nonlinear else "is about the linear model only"
        kinds = sorted(set(self.roots), key=self.roots.index)
        many = ", ".join(f"{self.roots.count(kind)} {kind}" for kind in kinds)
        first = f"{self.verdict} ({self.behavior} behavior; this {holds})"
        sure = f"{self.certainty}: {self.grounds}"
        return f"{first}\n  because {self.proof}\n  {sure}\n  roots: {many}"


def judged(
    system: AnySystem, found: Iterable[Equilibrium], on_done: Callable[[int, int], None] | None = None
) -> list[dict[str, str]]:
    """Verdict, certainty and proof of each equilibrium; undecided, with the reason, where the linear model fails."""
    verdicts, every = [], list(found)
    for k, one in enumerate(every, 1):
        try:
            verdicts.append(picked(stability(system, one), "verdict certainty proof"))
        except PendulaError as error:
            reason = str(error).splitlines()[0]
            verdicts.append({"verdict": "undecided", "certainty": "undecided", "proof": reason})
        if on_done is not None:
            on_done(k, len(every))
    return verdicts


def stability(
    linear: LinearModel | AnySystem, at: Point = None, *, inputs: Any = None, parameters: Parameters = None
) -> Stability:
    """Whether an equilibrium or a steady motion is stable, and by which argument.

    Eigenvalues decide if none lies on the imaginary axis (Lyapunov's first method). Otherwise the energy criterion
    does: a strict minimum of the (effective) potential is stable (Lagrange, Dirichlet, Routh), including higher-order
    terms along directions without stiffness; without a minimum it is unstable (Chetaev). If neither decides, the
    verdict is ``undecided``.

    Args:
        linear: a linear model that knows its system; a system, a model or the name of a library mechanism is
            linearized ``at`` a point first.
        at, inputs, parameters: as in ``linearize``, for a system.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> pendula.stability(system, {"theta": 0}).verdict
        'stable'
        >>> pendula.stability(system, {"theta": 3.141592653589793}).verdict
        'unstable'
    """
    of = linear_of(linear, "stability", at, inputs, parameters)
    if of.system is None:
        raise UsageError("stability needs the system of the linear model: higher-order terms may decide")
    system = of.system
    of = without_doubtful_stiffness(of)
    found = spectrum(of)
    sides = sides_of_axis(found)
    free = found.roots.kind != "general" or bool((sides > 0).any())
    roots = tuple(kind_of_root(value, side, damped=not free) for value, side in zip(found.values, sides, strict=True))
    unit = of.at.layout.time_unit
    if (sides > 0).any():
        worst = found.values[int(np.argmax(np.where(sides > 0, found.values.real, -np.inf)))]
        text = f"the eigenvalue {_written(worst)} 1/{unit} has a positive real part (Lyapunov's first method)"
        return Stability("unstable", "significant", True, text, roots, (), found, of.at, "eigenvalues")
    if (sides < 0).all():
        slow = found.values[int(np.argmax(found.values.real))]
        text = (
            f"all eigenvalues have negative real parts, the largest {slow.real:.6g} 1/{unit} (Lyapunov's first method)"
        )
        return Stability("asymptotically stable", "significant", True, text, roots, (), found, of.at, "eigenvalues")
    if system.written:
        text = f"eigenvalues lie on the imaginary axis, and no energy is known for the equations of {system.written}"
        return Stability("undecided", "critical", False, text, roots, (), found, of.at)
    ruling = _critical(of, found, sides)
    text, drifts = ruling.proof, ruling.drifts
    return Stability(
        ruling.verdict, "critical", ruling.applies, text, roots, drifts, found, of.at, ruling.argument, ruling.tested
    )


# --- eigenvalues ------------------------------------------------------------------------------------------


def sides_of_axis(found: Spectrum) -> Array:
    """-1, 0 or 1 for each root: left of the imaginary axis, on it (within rounding), or right of it."""
    values = found.values
    if found.roots.kind in ("undamped", "gyroscopic") or not values.size:
        return np.sign(values.real)
    doubt = _doubt(found)
    return np.where(np.abs(values.real) <= doubt, 0.0, np.sign(values.real))


def _doubt(found: Spectrum) -> Array:
    """Bound on the rounding error of each root, from its condition number (left and right eigenvectors)."""
    model, values = found.model, found.values
    n = len(model.M)
    lower = np.linalg.cholesky(model.M)
    stiff, damp = (np.linalg.solve(lower, np.linalg.solve(lower, X).T).T for X in (model.K, model.C))
    gamma = max(float(np.sqrt(np.abs(stiff).max())), float(np.abs(damp).max()), 1e-150)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-stiff / gamma**2, -damp / gamma]])
    roots, V = np.linalg.eig(A)
    size = ROUNDING * gamma * float(np.linalg.norm(A, 2))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            condition = np.nan_to_num(np.linalg.norm(V, axis=0) * np.linalg.norm(np.linalg.inv(V), axis=1), nan=1e8)
    except np.linalg.LinAlgError:
        condition = np.full(2 * n, 1e8)
    nearest = np.abs(values[:, None] - gamma * roots).argmin(axis=1)
    # A defective root has no finite condition number, but the mean of its cluster is well conditioned. The roots of a
    # slightly different matrix are spread about it, so the mean decides only if it is farther from the axis than that.
    defective = ~found.semisimple
    spread = np.maximum(1e3 * size * found.cluster_conditions, found.scatters)
    return np.where(defective, spread, size * np.minimum(condition[nearest], 1e8))


def kind_of_root(value: complex, side: float, *, damped: bool) -> str:
    """The kind of motion of a root; ``damped``: a negative real root comes from damping, not from a saddle."""
    if value == 0:
        return "at rest (zero)"
    if side > 0:
        return "growing" if value.imag == 0 else "growing oscillation"
    if side == 0:
        return "undamped" if value.imag else "at rest (zero)"
    if value.imag:
        return "under-damped"
    return "over-damped" if damped else "decaying"


def _written(value: complex) -> str:
    return f"{value.real:.6g}" if value.imag == 0 else f"{value.real:.6g} {value.imag:+.6g}j"


# --- roots on the axis ------------------------------------------------------------------------------------


class _Ruling(NamedTuple):
    """Verdict, whether it holds for the nonlinear mechanism, proof; what decided, what was tested, what drifts."""

    verdict: str
    applies: bool
    proof: str
    argument: str = "none"
    tested: tuple[str, ...] = ()
    drifts: tuple[str, ...] = ()


def _critical(model: LinearModel, found: Spectrum, sides: Array) -> _Ruling:
    """The verdict if no root is right of the imaginary axis and some are on it."""
    steady = momentum_finding(model)
    if steady is not None:
        along = ", ".join(steady.drifts)
        verdict = f"critical: drifts along {along}, stable otherwise"
        return _Ruling(verdict, True, steady.reason, "momenta", drifts=steady.drifts)
    energy = energy_finding(model, found.roots)
    names = _named(model, energy.families)
    drifting = found.roots.drifting if energy.families is not None and energy.families.shape[1] else 0
    only_families = energy.families is not None and energy.families.shape[1] == int((sides == 0).sum())
    against = "" if only_families and not drifting else _why_not_symmetric(model, energy, names, drifting)
    if energy.shape == "minimum" and not against:
        return _at_minimum(model, energy, names, drifting)
    conservative = energy.shape == "no minimum"
    if conservative and _falls_without_gyroscopes(model, energy):
        text = f"the potential has no minimum: {energy.reason} (Chetaev)"
        return _Ruling("unstable", True, text, "higher-order terms", _tested(model, energy))
    if only_families and not found.roots.drifting:
        text = f"equilibria form a family along {', '.join(names)}, all other real parts are negative (Lyapunov-Malkin)"
        return _Ruling("stable", True, text, "family", (FAMILY_TESTED,))
    on_axis = (sides == 0) & (found.values != 0)
    flat = found.roots.zero_vectors.shape[1] - (0 if energy.families is None else energy.families.shape[1])
    chain = longest_chain(model.M, model.C, model.K) if (sides == 0).any() else 0
    bounded = bool(found.semisimple[on_axis].all()) and not (flat and found.roots.drifting) and chain <= 2
    apart = f"apart from drift along {', '.join(names)} " if drifting else ""
    if bounded:
        linear = f"{apart}the linear model stays bounded (roots on the axis are semisimple)"
    elif chain > 2:
        linear = f"the linear model grows like t^{chain - 1} (the root zero has a Jordan block of size {chain})"
    else:
        linear = "the linear model grows in proportion to time (a repeated root on the axis lacks eigenvectors)"
    if conservative:
        holds = "gyroscopic forces hold" if _has_gyroscopes(model) else "damping does not reach all of"
        reason = f"{holds} a potential that has no minimum ({energy.reason}), so energy does not decide"
    elif energy.shape == "minimum":
        reason = f"energy does not decide: {against}"
    else:
        reason = f"energy does not decide: {energy.reason}"
    return _Ruling("undecided", False, f"roots lie on the imaginary axis; {linear}; {reason}")


def _at_minimum(model: LinearModel, energy: Finding, names: list[str], drifting: int) -> _Ruling:
    potential = "effective potential" if _turns(model) else "potential"
    who = "Lagrange-Dirichlet"
    if names:
        potential, who = "potential at fixed momentum" if drifting else potential, "Routh" if drifting else who
    text = f"the {potential} has a strict minimum: {energy.reason} ({who})"
    argument = "family" if names else "stiffness" if energy.order == 2 else "higher-order terms"
    tested = (*_tested(model, energy), FAMILY_TESTED) if names else _tested(model, energy)
    if names and drifting:
        along = ", ".join(names)
        text += f"; nothing restrains {along}, which keeps moving after a push"
        return _Ruling(f"critical: drifts along {along}, stable otherwise", True, text, argument, tested, tuple(names))
    if names:
        text += f"; along {', '.join(names)} it comes to rest where friction stops it"
    if energy.order > 2 and energy.damped:
        text += "; every direction is damped, so motion decays, though more slowly than any exponential"
    return _Ruling("stable", True, text, argument, tested)


def _tested(model: LinearModel, energy: Finding) -> tuple[str, ...]:
    """The parts of the argument that were tested at some states only."""
    tried = list(energy.tested)
    if energy.order > 2:
        tried.append("that the stiffness vanishes is judged by rounding")
    system = model.system
    if system is not None and system.has_power and not only_dissipates(system, model.at.parameters):
        tried.append("that applied forces add no energy was tested at nearby states")
    return tuple(tried)


def _turns(model: LinearModel) -> bool:
    system = model.system
    return bool(np.any(model.at.v)) or bool(system is not None and system.drives)


def _falls_without_gyroscopes(model: LinearModel, energy: Finding) -> bool:
    """Whether a potential without a minimum implies instability: no gyroscopic forces, and damping none or full."""
    return not _has_gyroscopes(model) and (energy.damped or not is_damped(model))


def _has_gyroscopes(model: LinearModel) -> bool:
    """Whether gyroscopic forces exceed rounding errors."""
    return len(model.M) > 1 and bool(np.abs(model.gyroscopic).max() > 1e-12 * np.abs(model.C).max())


def _why_not_symmetric(model: LinearModel, energy: Finding, names: list[str], drifting: int) -> str:
    """Why families of equilibria invalidate the energy criterion; empty if they do not."""
    if not names or energy.shape != "minimum":
        return ""
    along = ", ".join(names)
    families = energy.families
    resisted = np.linalg.eigvalsh(families.T @ model.damping @ families)
    if not drifting and not resisted[0] > 1e-10 * float(np.abs(model.C).max()):
        return f"only gyroscopic forces keep {along} from drifting, and at second order they may let it drift"
    if families.shape[1] < len(model.M) and not same_along(model, families):
        return f"equilibria form a family along {along}, but small motion differs along the family"
    return ""


def _named(model: LinearModel, directions: Array) -> list[str]:
    if directions is None or not directions.shape[1]:
        return []
    part = np.abs(directions).max(axis=1) > 1e-6
    return [name for name, takes in zip(model.coordinates, part, strict=True) if takes]
