"""Eigenvalues of small motion, each with its multiplicity, its backward error and a label of its origin."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pendula.analysis.equilibria.balance import fastest_turn
from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.linearize import Point, displaced
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.pencil import Pencil
from pendula.analysis.linear.quadratic import Roots, backward_errors, solve_quadratic
from pendula.analysis.linear.quick.cut import SLOW, CutMatrices, CutRoots
from pendula.analysis.linear.quick.linear_models import weight_rate
from pendula.analysis.linear.terms import terms_at
from pendula.analysis.stability.linear_families import family_directions, rate_of_turning
from pendula.errors import ComputationError, ModelError, Problem, UsageError
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.tables.tabular import Tabular
from pendula.words import readable


@readable
@dataclass(frozen=True)
class Eigenvalue:
    """One eigenvalue: its value [1/time], its multiplicity, and a label of its origin.

    Attributes:
        value: the root; infinite or nan if the label says so.
        multiplicity: algebraic multiplicity.
        label: starts with ``physical``, ``zero``, ``infinite``, ``undetermined`` or ``artefact``.
        semisimple: whether it has a full set of eigenvectors; otherwise motion grows by powers of time.
        vector: an eigenvector in the coordinates e, of largest entry 1, or None.
        backward_error: relative change of M, C, K that makes the pair exact.
        scatter: for a cluster, the largest distance of a computed root from its mean, which is ``value``: rounding
            spreads a root with a Jordan block of size k by about eps^(1/k).
        condition: for a cluster, change of the mean for a change of the state matrix of norm 1.

    Example:
        >>> import pendula
        >>> root = pendula.linear.spectrum("cart-pole", {"theta": 0}).eigenvalues[0]
        >>> root.multiplicity, root.label
        (2, 'zero: cyclic coordinate x')
    """

    value: complex
    multiplicity: int
    label: str
    semisimple: bool = True
    vector: Array | None = None
    backward_error: float = 0.0
    scatter: float = 0.0
    condition: float = 1.0

    @property
    def defective(self) -> bool:
        """Whether it lacks eigenvectors, so that motion is a power of time times the exponential (a Jordan block)."""
        return not self.semisimple

    @property
    def remark(self) -> str:
        """For a defective root or a cluster: what that means, and how far rounding spreads it; else empty."""
        if not self.defective and (self.multiplicity < 2 or not self.scatter):
            return ""
        grows = " motion grows with time" if self.value == 0 else " a power of time times the exponential"
        kind = f"defective:{grows}" if self.defective else "cluster"
        spread = f"; the mean of roots within {self.scatter:.0e}, of condition {self.condition:.0e}"
        return kind + (spread if self.scatter else "")

    def __str__(self) -> str:
        times = f" ({self.multiplicity} times)" if self.multiplicity > 1 else ""
        return f"{self.value:.6g}{times}: {self.label}" + (f" ({self.remark})" if self.remark else "")


@readable
@dataclass(frozen=True)
class Spectrum(Tabular):
    """All eigenvalues about an equilibrium. ``str()`` gives a table.

    Attributes:
        values: finite roots, repeated by multiplicity, by increasing modulus.
        labels: their labels.
        multiplicities, semisimple: of each; see :class:`Eigenvalue`.
        backward_errors: of each pair; see :class:`Eigenvalue`.
        others: infinite and undetermined roots, and artefacts.
        model: the linear model.
        found: the solver's output, from which ``roots`` follows.
        kept: indices of ``values`` among those roots; None: all.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = pendula.linear.spectrum(pendula.linearize(system, {"theta": 0}))
        >>> {root.label for root in found.eigenvalues}
        {'physical'}
    """

    values: Array
    labels: tuple[str, ...]
    others: tuple[Eigenvalue, ...]
    model: LinearModel
    found: Roots | CutRoots
    kept: tuple[int, ...] | None = None

    @cached_property
    def roots(self) -> Roots:
        """The roots of the linear model with multiplicities and eigenvectors."""
        return self.found.whole

    @cached_property
    def multiplicities(self) -> Array:
        """Algebraic multiplicity of each value."""
        return self._kept(self.roots.multiplicity)

    @cached_property
    def semisimple(self) -> Array:
        """Whether each has a full set of eigenvectors."""
        return self._kept(self.roots.multiplicity == self.roots.vectors_of)

    @cached_property
    def scatters(self) -> Array:
        """For roots of a cluster, its scatter; see :class:`Eigenvalue`."""
        each = self.roots.scatter
        return np.zeros(len(self.values)) if each is None else self._kept(each)

    @cached_property
    def cluster_conditions(self) -> Array:
        """For roots of a cluster, the condition of its mean; 1 for others."""
        each = self.roots.condition
        return np.ones(len(self.values)) if each is None else self._kept(each)

    def _kept(self, each: Array) -> Array:
        return each if self.kept is None else each[list(self.kept)]

    @cached_property
    def vectors(self) -> Array:
        """Eigenvectors e by columns, of largest entry 1; the state vector is (e, value * e)."""
        return self.roots.vectors if self.kept is None else self.roots.vectors[:, list(self.kept)]

    @cached_property
    def backward_errors(self) -> Array:
        """Backward errors: the smallest relative change of M, C, K for which each pair is exact."""
        m = self.model
        return backward_errors(m.M, m.C, m.K, self.values, self.vectors)

    @cached_property
    def residuals(self) -> Array:
        """Norm of A z - value z for unit eigenvectors z, relative to the largest entry of A."""
        z = np.vstack([self.vectors, self.vectors * self.values])
        z = z / np.linalg.norm(z, axis=0)
        left = self.model.A @ z - z * self.values
        return np.asarray(np.linalg.norm(left, axis=0) / max(np.abs(self.model.A).max(), 1e-300))

    @cached_property
    def eigenvalues(self) -> tuple[Eigenvalue, ...]:
        """Distinct finite roots, then infinite and undetermined roots and artefacts."""
        found: list[Eigenvalue] = []
        errors = self.backward_errors
        left = list(range(len(self.values)))
        while left:
            k = left[0]
            reach = max(1e-7 * abs(self.values[k]), 2.0 * self.scatters[k])
            near = np.abs(self.values[left] - self.values[k]) <= reach
            same = [j for j, close in zip(left, near, strict=True) if close and self.labels[j] == self.labels[k]]
            same = same[: self.multiplicities[k]]
            left = [j for j in left if j not in same]
            worst = float(errors[same].max())
            value = complex(self.values[same].mean()) if len(same) > 1 else complex(self.values[k])
            kept = self.labels[k], bool(self.semisimple[k]), self.vectors[:, k], worst
            spread = float(self.scatters[k]), float(self.cluster_conditions[k])
            found.append(Eigenvalue(value, len(same), *kept, *spread))
        return (*found, *self.others)

    def __str__(self) -> str:
        unit = self.model.at.layout.time_unit
        lines = [f"{'eigenvalue [1/' + unit + ']':>34}  times  label"]
        for root in self.eigenvalues:
            if root.label.startswith(("infinite", "undetermined")):
                text = "infinite" if root.label.startswith("infinite") else "0/0"
            else:
                text = f"{root.value.real:.10g} {root.value.imag:+.10g}j"
            note = f" ({root.remark})" if root.remark else ""
            lines.append(f"{text:>34}  {root.multiplicity:5d}  {root.label}{note}")
        lines.append(f"largest backward error {self.backward_errors.max(initial=0.0):.1e}")
        return "\n".join(lines)


def spectrum(
    linear: LinearModel | Pencil | AnySystem, at: Point = None, *, inputs: Any = None, parameters: Parameters = None
) -> Spectrum:
    """Every eigenvalue with its multiplicity and a label of its origin.

    Labels start with ``physical``; ``zero`` (due to a cyclic coordinate, a rigid-body freedom, or a stiffness that
    vanishes at this point); ``infinite`` (due to a constraint); ``undetermined`` (0/0, if coordinates are singular or
    constraints redundant); ``artefact`` (of the method: a finite value that QZ returns for an infinite root).

    Args:
        linear: a linear model, or a pencil with its multipliers; a system, a model or the name of a library mechanism
            is linearized ``at`` a point first.
        at, inputs, parameters: as in ``linearize``, for a system.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.cart_pole())
        >>> for root in pendula.linear.spectrum(system, {"theta": 0}).eigenvalues:
        ...     print(round(root.value.imag, 3), root.multiplicity, root.label)
        0.0 2 zero: cyclic coordinate x
        4.101 1 physical
        -4.101 1 physical
    """
    if isinstance(linear, Pencil):
        return _of_pencil(linear)
    if isinstance(linear, LinearModel) and at is None and inputs is None and parameters is None:
        return _of_model(linear)
    return _of_model(linear_of(linear, "spectrum", at, inputs, parameters, also="a linear model, a pencil"))


def _of_model(model: LinearModel) -> Spectrum:
    matrices, basis = model.matrices, model.basis
    others = _other_roots(basis.rows, basis.undetermined)
    if isinstance(matrices, CutMatrices) and (found := matrices.undamped_roots()) is not None:
        return Spectrum(found.values, matrices.shape.labels, others, model, found)
    roots = solve(model)
    labels = ("physical",) * len(roots.values)
    if roots.zero_shapes.shape[1]:
        name = zero_label(model, roots)
        labels = tuple(name if value == 0 else "physical" for value in roots.values)
    return Spectrum(roots.values, labels, others, model, roots)


def solve(model: LinearModel) -> Roots:
    """The roots of a linear model; stiffness at nearby points is the scale for a stiffness of zero."""
    try:
        roots = solve_quadratic(model.M, model.C, model.K)
        if model.system is None or not _suspicious(model, roots):
            return roots
        return solve_quadratic(model.M, model.C, model.K, stiffness_nearby(model))
    except LinAlgError:
        cause = "the mass matrix is not positive definite at this point"
        raise ModelError(
            [Problem("model", "bodies", cause, "check masses and inertias; they must be positive")]
        ) from None


def _suspicious(model: LinearModel, roots: Roots) -> bool:
    """Whether some root, or some sqrt(K_ii/M_ii), is so small that it may be a rounding error."""
    system = model.system
    assert system is not None
    sizes = np.abs(roots.values)
    rates = np.sqrt(np.abs(model.K.diagonal() / model.M.diagonal()))
    smallest = min(sizes[sizes > 0].min(initial=np.inf), rates[rates > 0].min(initial=np.inf))
    fast = sizes.max(initial=0.0)
    return bool(smallest < SLOW * max(fast, weight_rate(system, model.at.parameters), fastest_turn(system, model.at.v)))


MOST_DIRECTIONS = 24
"""largest number of directions in which nearby stiffness is evaluated"""


def stiffness_nearby(model: LinearModel) -> Array:
    """Largest entries of the stiffness at the point and at some points around it, as a scale."""
    system = model.system
    assert system is not None
    largest = np.abs(model.K)
    if model.displacements:
        return largest
    scale = np.sqrt(model.M.diagonal())
    largest = np.maximum(largest, rate_of_turning(model) ** 2 * np.outer(scale, scale))
    Z = model.Z
    for k in np.unique(np.linspace(0, Z.shape[1] - 1, MOST_DIRECTIONS).astype(int)):
        for h in (-0.7, 0.4):
            e = np.zeros(Z.shape[1])
            e[k] = h * model.sizes[k]
            with suppress(ComputationError, LinAlgError):  # too far for a chart or a loop: the other points suffice
                q, v = displaced(system, model.at, Z, e, 0.0 * e)
                at = model.at
                terms = terms_at(system, q, v, at.inputs, at.multipliers, at.parameters, spin=at.spin)
                largest = np.maximum(largest, np.abs(Z.T @ terms.K @ Z))
    return largest


# --- labels -----------------------------------------------------------------------------------------------


def zero_label(model: LinearModel, roots: Roots) -> str:
    """The cause of the zeros: coordinates along which a family of equilibria extends, or a stiffness that vanishes."""
    flat = roots.zero_vectors
    if model.system is None or model.displacements:
        return "zero: no stiffness along " + ", ".join(_partners(model, flat))
    families, rest = family_directions(model, flat)
    parts = []
    if families.shape[1]:
        names = _partners(model, families)
        single = len(names) == families.shape[1]
        what = "cyclic coordinate" if single else "rigid-body freedom of"
        parts.append(f"{what}{'s' if single and len(names) > 1 else ''} {', '.join(names)}")
    if rest.shape[1]:
        parts.append(f"stiffness along {', '.join(_partners(model, rest))} vanishes exactly at this point")
    return "zero: " + "; ".join(parts)


def _partners(model: LinearModel, flat: Array) -> list[str]:
    part = np.abs(flat).max(axis=1) > 1e-6
    return [name for name, takes in zip(model.coordinates, part, strict=True) if takes]


@lru_cache(maxsize=256)
def _other_roots(rows: int, undetermined: int) -> tuple[Eigenvalue, ...]:
    """Roots of the full equations that the equations in independent coordinates lack."""
    found = []
    if rows:
        text = f"infinite: due to {rows} constraint row{'s' if rows > 1 else ''}, three for each"
        found.append(Eigenvalue(complex(np.inf), 3 * rows, text))
    if undetermined:
        text = "undetermined: 0/0 due to a singular chart; the other roots come from a regular one"
        found.append(Eigenvalue(complex(np.nan, np.nan), 2 * undetermined, text))
    return tuple(found)


# --- the full pencil --------------------------------------------------------------------------------------


def _of_pencil(full: Pencil) -> Spectrum:
    """Roots by QZ, each matched with the model in independent coordinates."""
    if full.model is None:
        raise UsageError(
            "the pencil has no counterpart in independent coordinates here, so its roots cannot be distinguished.\n"
            "  Try: linearize(...) at this point, which explains why."
        )
    true = spectrum(full.model)
    alpha, beta = full.roots()
    tiny = 1e-12 * max(float(np.abs(full.A).max()), 1.0), 1e-12 * max(float(np.abs(full.E).max()), 1.0)
    undetermined = (np.abs(alpha) <= tiny[0]) & (np.abs(beta) <= tiny[1])
    infinite = (np.abs(beta) <= tiny[1]) & ~undetermined
    finite = np.flatnonzero(~undetermined & ~infinite)
    values = alpha[finite] / beta[finite]
    pairs = _matched(true.values, values)
    others: list[Eigenvalue] = []
    if infinite.any():
        others.append(Eigenvalue(complex(np.inf), int(infinite.sum()), "infinite: due to a constraint"))
    if full.redundant:
        text = "undetermined: 0/0, multipliers of redundant constraints"
        others.append(Eigenvalue(complex(np.nan, np.nan), full.redundant, text))
    if undetermined.any():
        text = "undetermined: 0/0 due to singular coordinates"
        others.append(Eigenvalue(complex(np.nan, np.nan), int(undetermined.sum()), text))
    found = values[[j for _, j in pairs]]
    for j in sorted(set(range(len(values))) - {j for _, j in pairs}):
        others.append(Eigenvalue(complex(values[j]), 1, _artefact(full)))
    kept = [k for k, _ in pairs]
    missing = [k for k in range(len(true.values)) if k not in kept]
    for k in missing:
        others.append(Eigenvalue(complex(true.values[k]), 1, f"{true.labels[k]} (not found by QZ)"))
    return Spectrum(
        found,
        tuple(true.labels[k] for k in kept),
        tuple(others),
        full.model,
        true.roots,
        tuple(kept),
    )


def _artefact(full: Pencil) -> str:
    if full.model is not None and full.model.undetermined:
        return "artefact: a value that QZ returns for 0/0 in singular coordinates"
    return "artefact: an infinite root due to a constraint, made finite by rounding"


def _matched(true: Array, found: Array) -> list[tuple[int, int]]:
    """Pairs of true and computed roots, nearest first; roots too far apart are not paired."""
    if not found.size or not true.size:
        return []
    scale = max(float(np.abs(true).max()), 1e-300)
    gap = np.abs(true[:, None] - found)
    gap[~np.isfinite(gap)] = np.inf
    pairs: list[tuple[int, int]] = []
    for flat in np.argsort(gap, axis=None):
        k, j = (int(x) for x in np.unravel_index(flat, gap.shape))
        if gap[k, j] > 1e-4 * scale:
            break
        if all(k != a and j != b for a, b in pairs):
            pairs.append((k, j))
    return sorted(pairs)
