"""Directions without stiffness along which families of equilibria extend: a cart's x, a ring of poses about a spring.

A finite step, with all other coordinates brought back to equilibrium, distinguishes them from directions whose
stiffness vanishes at one point only.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from pendula.analysis.equilibria.turning import steady_speeds
from pendula.analysis.linear.linearize import balance_of, chosen_speeds, displaced, linearize
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import solve_quadratic
from pendula.analysis.linear.quick.linear_models import weight_rate
from pendula.analysis.linear.terms import Terms, terms_at
from pendula.errors import ComputationError, PendulaError
from pendula.system.layout import Array, State

FAMILY = 1e-9
"""forces below this at a finite distance, relative to a typical force, indicate a family of equilibria"""
FAR = ((-0.31, 0.53), (-0.12, 0.2))
"""finite steps along a direction [rad, or typical lengths]; the shorter pair is for strongly curved families"""
SAME = 1e-5
"""roots that differ by less than this, relative to the largest, are equal: rounding splits double roots"""
PASSES = 60
"""largest number of iterations that bring the other coordinates back to equilibrium"""


def family_directions(model: LinearModel, flat: Array) -> tuple[Array, Array]:
    """Directions without stiffness along which families of equilibria extend, and the others; both by columns.

    Several directions form a family only if equilibria extend along all of them at once. If x is free only while y is
    zero, and vice versa, neither counts.
    """
    if not flat.shape[1]:
        return flat, flat
    flat = _plain(flat)
    extends = np.array([bool(_others(model, direction)) for direction in flat.T])
    families = flat[:, extends]
    if families.shape[1] > 1:
        signs = np.where(np.arange(families.shape[1]) % 2, -0.7, 1.0)
        if not all(_others(model, together) for together in (families.sum(axis=1), families @ signs)):
            return flat[:, :0], flat
    return families, flat[:, ~extends]


def same_along(model: LinearModel, families: Array) -> bool:
    """Whether other equilibria of the families have the same eigenvalues."""
    system, at = model.system, model.at
    from scipy.optimize import linear_sum_assignment  # slow to load

    assert system is not None
    roots = _roots(model, model)
    for e in [e for direction in (*families.T, families.sum(axis=1)) for e in _others(model, direction)]:
        q, _ = displaced(system, at, model.Z, e, 0.0 * e)
        try:
            v = steady_speeds(system, at, q)
            there = linearize(system, State(0.0, q, v, system.layout), inputs=at.inputs, parameters=at.parameters)
            gaps = np.abs(roots[:, None] - _roots(there, model))
        except PendulaError:
            return False
        if gaps[linear_sum_assignment(gaps)].max(initial=0.0) > SAME * float(np.abs(roots).max(initial=0.0)):
            return False
    return True


def _roots(model: LinearModel, scale_of: LinearModel) -> Array:
    return solve_quadratic(model.M, model.C, model.K, _least(scale_of) / float(np.abs(scale_of.M).max())).values


def _plain(flat: Array) -> Array:
    """A basis of the same space in reduced form: each direction has a coordinate that the others lack."""
    found = np.array(flat, dtype=float)
    for k in range(found.shape[1]):
        left = np.abs(found[:, k]).argmax()
        found[:, k] /= found[left, k]
        others = [j for j in range(found.shape[1]) if j != k]
        found[:, others] -= np.outer(found[:, k], found[left, others])
    found[np.abs(found) < 1e-12] = 0.0
    return found / np.abs(found).max(axis=0)


def _others(model: LinearModel, direction: Array) -> list[Array]:
    """Displacements to other equilibria along a direction, on either side; empty without a family."""
    for distances in FAR:
        found = [e for h in distances if (e := _balanced_along(model, direction, h)) is not None]
        if len(found) == len(distances):
            return found
    return []


def _balanced_along(model: LinearModel, direction: Array, distance: float) -> Array | None:
    """The displacement of an equilibrium some distance along a direction; None if there is none."""
    reach = float(model.sizes[np.abs(direction) > 1e-6].min())
    e = distance * reach * direction / float(np.abs(direction).max())
    least = _least(model)
    size = float(np.linalg.norm(model.K, 2))
    follow = np.linalg.pinv(model.K, rcond=1e-9 * max(1.0, least / size)) if size else 0.0 * model.K
    with suppress(ComputationError, np.linalg.LinAlgError):
        for _ in range(PASSES):
            step = follow @ forces_at(model, e)[0]
            e = e + step
            if not np.abs(e).max() < 1e6 * reach:
                return None  # it diverges
            if not np.abs(step).max() > 1e-15 * reach:
                break
        forces, terms = forces_at(model, e)
        held = float(np.abs(model.at.multipliers).max(initial=0.0))
        return e if np.abs(forces).max() <= FAMILY * max(float(np.abs(terms.K).max()), held, least) else None
    return None


def _least(model: LinearModel) -> float:
    """A typical stiffness, the scale of rounding errors if K vanishes: from weight and from rotation."""
    system = model.system
    assert system is not None
    rate = max(weight_rate(system, model.at.parameters), rate_of_turning(model))
    return float(np.abs(model.M).max()) * rate**2


def rate_of_turning(model: LinearModel) -> float:
    """A typical rate of rotation of a steady motion or a drive [1/time]; 0 at rest."""
    at = model.at
    assert model.system is not None
    balance = balance_of(model.system, at)
    return float(np.sqrt(balance.by_turning(at.q, at.v) / np.abs(model.M).max()))


def forces_at(model: LinearModel, e: Array) -> tuple[Array, Terms]:
    """Forces along the independent coordinates at a displacement, at rest (or in the steady motion), and all terms."""
    system, at = model.system, model.at
    assert system is not None
    q, _ = displaced(system, at, model.Z, e, 0.0 * e)
    v = steady_speeds(system, at, q)
    terms = terms_at(system, q, v, at.inputs, at.multipliers, at.parameters, spin=at.spin)
    if not system.loop_rows:
        return np.asarray(model.Z.T @ terms.left), terms
    chosen = chosen_speeds(model.Z)
    rest = [k for k in range(len(model.Z)) if k not in chosen]
    Z = np.array(model.Z)
    Z[rest] = np.linalg.lstsq(terms.G[:, rest], -terms.G[:, chosen], rcond=None)[0]
    return np.asarray(Z.T @ terms.left), terms
