"""What energy says about an equilibrium where eigenvalues do not decide: whether the potential has a minimum there.

The theorem of Lagrange and Dirichlet: where forces have a potential, apart from gyroscopic ones and ones that take
energy out, a strict minimum of the potential is stable. In steady motion it is the effective potential, and for cyclic
coordinates Routh's, at fixed momentum. Along directions without stiffness higher-order terms decide; they are found
from the force along the direction, with all other coordinates following to where they balance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.linear.linearize import displaced
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import NULL, Roots
from pendula.analysis.linear.spectrum import stiffness_nearby
from pendula.analysis.linear.terms import terms_at
from pendula.analysis.stability.linear_families import family_directions, forces_at, is_angle
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System

RADII = (0.02, 0.04, 0.08, 0.16)
"""distances along a direction without stiffness at which forces are looked at [rad, or typical lengths]"""
SAMPLES = 24
NEARBY = 0.15
"""how far from the equilibrium forces are tried for having a potential, and friction for taking energy out"""


@dataclass(frozen=True)
class Finding:
    """What energy says.

    Attributes:
        shape: ``minimum``, ``no minimum``, or ``unknown``.
        reason: in words.
        order: 2, or the order of the terms of the potential that decide.
        families: directions along which families of equilibria extend, by columns.
        damped: whether every direction is damped.
    """

    shape: str
    reason: str
    order: int = 2
    families: Array = None
    damped: bool = False


def energy_finding(model: LinearModel, roots: Roots) -> Finding:
    """Whether the (effective) potential has a strict minimum, families of equilibria apart."""
    system = model.system
    assert system is not None
    flat = roots.zero_vectors
    if model.chart:
        families = np.zeros((len(model.M), 0))
        against = "" if not flat.shape[1] else "stiffness vanishes at a singular chart"
        if system.has_power:
            against = "applied forces near a singular chart were not examined"
    else:
        families = family_directions(model, flat)[0]
        against = why_not_conservative(model)
    if against:
        return Finding("unknown", against, families=families)
    stiffness, P = reduced_stiffness(model, families)
    mass = P.T @ model.M @ P
    damping = P.T @ model.damping @ P
    damped = bool(damping.size) and bool(np.linalg.eigvalsh(damping)[0] > 1e-12 * np.abs(damping).max())
    if not stiffness.size:
        return Finding("minimum", "nothing but the cyclic coordinates moves", families=families)
    lower = np.linalg.cholesky(mass)
    scaled = np.linalg.solve(lower, np.linalg.solve(lower, stiffness).T)
    sizes, directions = np.linalg.eigh((scaled + scaled.T) / 2)
    level = NULL * max(float(np.abs(sizes).max()), stiffness_nearby(model) if not model.chart else 0.0)
    if sizes[0] < -level:
        return Finding(
            "no minimum", "its second derivative is negative in some direction", families=families, damped=damped
        )
    null = np.flatnonzero(np.abs(sizes) <= level)
    if not null.size:
        return Finding("minimum", "its second derivatives are positive definite", families=families, damped=damped)
    if null.size > 1 or families.shape[1] or np.any(model.at.v) or model.chart:
        text = "its second derivatives vanish in several directions, or along a family or in a steady motion"
        return Finding("unknown", text + ": higher-order terms were not examined", families=families, damped=damped)
    direction = P @ np.linalg.solve(lower.T, directions[:, null[0]])
    return _higher_order(model, direction, families, damped)


def reduced_stiffness(model: LinearModel, families: Array) -> tuple[Array, Array]:
    """Stiffness apart from the families, at fixed momentum along them (Routh), and the directions it belongs to."""
    n = len(model.M)
    if not families.shape[1]:
        return model.conservative, np.eye(n)
    P = np.linalg.svd(families)[0][:, families.shape[1] :]
    stiffness = P.T @ model.conservative @ P
    along = families.T @ model.gyroscopic @ P
    mass = families.T @ model.M @ families
    return stiffness + along.T @ np.linalg.solve(mass, along), P


def why_not_conservative(model: LinearModel) -> str:
    """Empty where forces have a potential, apart from those that do no work or take energy out; else what is wrong."""
    size = max(float(np.abs(model.K).max()), 1e-300)
    if np.abs(model.circulatory).max() > 1e-10 * size:
        return "forces have no potential: the stiffness is not symmetric"
    damping = model.damping
    if is_damped(model) and np.linalg.eigvalsh(damping)[0] < -1e-10 * np.abs(model.C).max():
        return "some force adds energy: the damping is negative in some direction"
    system = model.system
    assert system is not None
    if not system.has_power:
        return ""
    return _power_against(model, system)


def is_damped(model: LinearModel) -> bool:
    """Whether damping is more than rounding."""
    stiffness = max(float(np.abs(model.K).max()), float(np.abs(model.M).max()) * stiffness_nearby(model))
    return bool(np.abs(model.damping).max() > 1e-14 * np.sqrt(np.abs(model.M).max() * stiffness))


def _power_against(model: LinearModel, system: System) -> str:
    """Looks at the power of applied forces at states near the equilibrium."""
    rng = np.random.default_rng(5)
    at, n = model.at, model.Z.shape[1]
    length = typical_length(system, at.parameters)
    reach = np.array([1.0 if is_angle(model, k) else length for k in range(n)])
    inputs = at.inputs if len(at.inputs) else None
    worst, across, size = 0.0, 0.0, 1e-300
    for k in range(SAMPLES):
        h = NEARBY * 2.0 ** -(k % 5)
        e, rate = (h * reach * rng.uniform(-1, 1, size=n) for _ in range(2))
        q, v = displaced(system, at, model.Z, e, rate)
        there, back = (float(system.power(q, x, inputs=inputs, parameters=at.parameters)) for x in (v, 2 * at.v - v))
        worst, across = max(worst, there + back), max(across, abs(there - back))
        size = max(size, abs(there), abs(back))
    if worst > 1e-10 * size:
        return "some force adds energy at states near the equilibrium"
    if across <= 1e-10 * size:
        return ""
    if system.balls or system.loop_rows:
        return "applied forces that depend on the position were not found to have a potential"
    for _ in range(6):
        q, v = displaced(system, at, model.Z, NEARBY * reach * rng.uniform(-1, 1, size=n), np.zeros(n))
        K = terms_at(system, q, at.v, at.inputs, at.multipliers, at.parameters).K
        if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            return "forces have no potential: the stiffness is not symmetric near the equilibrium"
    return ""


# --- directions without stiffness ---------------------------------------------------------------------------


def _higher_order(model: LinearModel, direction: Array, families: Array, damped: bool) -> Finding:
    """The leading term of the potential along one direction without stiffness."""
    system = model.system
    assert system is not None
    length = typical_length(system, model.at.parameters)
    reach = np.array([1.0 if is_angle(model, k) else length for k in range(len(direction))])
    direction = direction / np.abs(direction / reach).max()
    forces = np.array([[_force_along(model, direction, s * h) for h in RADII] for s in (-1.0, 1.0)])
    names = ", ".join(n for n, x in zip(model.coordinates, direction / reach, strict=True) if abs(x) > 1e-6)
    noise = 1e-12 * stiffness_nearby(model) * float(np.abs(direction @ model.M @ direction))
    clear = np.abs(forces) > 1e2 * noise
    sizes = np.maximum(np.abs(forces), 1e-300)
    powers = np.log2(sizes[:, 1:] / sizes[:, :-1])
    usable = clear[:, 1:] & clear[:, :-1]
    if not np.all(np.isfinite(forces)) or not usable.any(axis=1).all():
        text = f"no force along {names} is distinguishable from rounding"
        return Finding("unknown", text, families=families, damped=damped)
    first = [powers[k][usable[k]][0] for k in range(2)]
    order = round(first[1])
    if order < 2 or max(abs(x - order) for x in first) > 0.25:
        text = f"the force along {names} is not a single power of the distance"
        return Finding("unknown", text, families=families, damped=damped)
    signs = [np.sign(forces[k][clear[k]][0]) for k in range(2)]
    holds = signs[0] > 0 > signs[1]  # pushes back from both sides
    sense = "rises" if holds else "falls"
    text = f"stiffness along {names} vanishes, and its term of order {order + 1} {sense}"
    return Finding("minimum" if holds else "no minimum", text, order + 1, families, damped)


def _force_along(model: LinearModel, direction: Array, distance: float) -> float:
    """Force along a direction at a distance, with all other coordinates where they balance."""
    n = len(direction)
    P = np.linalg.svd(direction[:, None])[0][:, 1:]
    e = distance * direction
    hold = P.T @ model.K @ P
    for _ in range(60 if n > 1 else 0):
        force = forces_at(model, e)[0]
        step = np.linalg.solve(hold, P.T @ force)
        e = e + P @ step
        if np.abs(step).max() < 1e-15:
            break
    return float(direction @ forces_at(model, e)[0])
