"""The energy criterion, for equilibria that eigenvalues do not decide: whether the potential has a minimum there.

Theorem of Lagrange and Dirichlet: if all forces have a potential, apart from gyroscopic and dissipative ones, a strict
minimum of the potential is stable. In steady motion this is the effective potential, and with cyclic coordinates
Routh's potential at fixed momentum. Along directions without stiffness higher-order terms decide. They follow from the
force along the direction, with all other coordinates in equilibrium (the Lyapunov-Schmidt reduction).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.proofs.equations_at_rest import forces_on_speeds
from pendula.analysis.linear.linearize import displaced
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import Roots, rounding_along, symmetric_problem
from pendula.analysis.linear.spectrum import stiffness_nearby
from pendula.analysis.linear.terms import terms_at
from pendula.analysis.stability.certainty import only_dissipates
from pendula.analysis.stability.linear_families import family_directions, forces_at
from pendula.numerics.intervals.series import taylor
from pendula.numerics.intervals.tape import Undecidable
from pendula.system.layout import Array
from pendula.system.system import System

HIGHEST = 12
"""highest order of the terms of the potential that are examined"""
VANISHING = 1e-12
"""Taylor coefficients up to this fraction of the summands they came from are rounding errors"""
CLEAR = 1e-3
"""a stiffness that exceeds this fraction of its summands has its sign, however small it is beside that nearby"""
RADII = (0.02, 0.04, 0.08, 0.16)
"""distances along a direction without stiffness at which forces are evaluated [rad, or typical lengths]"""
SAMPLES = 24
NEARBY = 0.15
"""distance from the equilibrium within which forces are tested for a potential, and friction for dissipation"""


@dataclass(frozen=True)
class Finding:
    """Result of the energy criterion.

    Attributes:
        shape: ``minimum``, ``no minimum``, or ``unknown``.
        reason: the reason in words.
        order: order of the terms of the potential that decide.
        families: directions along which families of equilibria extend, by columns.
        damped: whether every direction is damped.
        tested: claims that were tested at some states but not proven.
    """

    shape: str
    reason: str
    order: int = 2
    families: Array = None
    damped: bool = False
    tested: tuple[str, ...] = ()


def energy_finding(model: LinearModel, roots: Roots) -> Finding:
    """Whether the (effective) potential has a strict minimum, apart from families of equilibria."""
    system = model.system
    assert system is not None
    flat = roots.zero_vectors
    if model.displacements:
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
        return Finding("minimum", "only the cyclic coordinates move", families=families)
    sizes, directions = symmetric_problem(mass, stiffness)
    along = P @ directions
    levels = rounding_along(along, stiffness_nearby(model))
    if np.any(sizes < -levels):
        return Finding(
            "no minimum", "its second derivative is negative in some direction", families=families, damped=damped
        )
    null = np.flatnonzero(np.abs(sizes) <= levels)
    if not null.size:
        return Finding("minimum", "its second derivatives are positive definite", families=families, damped=damped)
    if null.size > 1 or families.shape[1] or np.any(model.at.v) or model.displacements:
        text = "its second derivatives vanish in several directions, or along a family or in a steady motion"
        return Finding("unknown", text + ": higher-order terms were not examined", families=families, damped=damped)
    direction = along[:, null[0]]
    found = _by_taylor(model, direction, families, damped)
    return found if found is not None else _higher_order(model, direction, families, damped)


def reduced_stiffness(model: LinearModel, families: Array) -> tuple[Array, Array]:
    """Stiffness across the families, at fixed momentum along them (Routh), and a basis of its directions."""
    n = len(model.M)
    if not families.shape[1]:
        return model.conservative, np.eye(n)
    P = np.linalg.svd(families)[0][:, families.shape[1] :]
    stiffness = P.T @ model.conservative @ P
    along = families.T @ model.gyroscopic @ P
    mass = families.T @ model.M @ families
    return stiffness + along.T @ np.linalg.solve(mass, along), P


def why_not_conservative(model: LinearModel) -> str:
    """Why the energy criterion does not apply; empty if forces are conservative, gyroscopic or dissipative."""
    size = max(float(np.abs(model.K).max()), 1e-300)
    if np.abs(model.circulatory).max() > 1e-10 * size:
        return "forces have no potential: the stiffness is not symmetric"
    damping = model.damping
    if is_damped(model) and np.linalg.eigvalsh(damping)[0] < -1e-10 * np.abs(model.C).max():
        return "some force adds energy: the damping is negative in some direction"
    system = model.system
    assert system is not None
    if not system.has_power or (not system.drives and only_dissipates(system, model.at.parameters)):
        return ""
    return _power_against(model, system)


def is_damped(model: LinearModel) -> bool:
    """Whether damping exceeds rounding errors."""
    stiffness = float(stiffness_nearby(model).max(initial=0.0))
    return bool(np.abs(model.damping).max() > 1e-14 * np.sqrt(np.abs(model.M).max() * stiffness))


def _power_against(model: LinearModel, system: System) -> str:
    """Tests the power of applied forces at nearby states; returns the objection, or an empty string."""
    rng = np.random.default_rng(5)
    at, n, reach = model.at, model.Z.shape[1], model.sizes
    one_way = uneven = False
    for directions in _rates_to_try(model, reach, rng):
        worst, across, bent, size = 0.0, 0.0, 0.0, 1e-300
        for k, direction in enumerate(directions):
            h = NEARBY * 2.0 ** -(k % 5)
            q, v = displaced(system, at, model.Z, h * reach * rng.uniform(-1, 1, size=n), h * direction)
            given = {"inputs": at.inputs, "parameters": at.parameters}
            there, back, half, half_back = (
                float(system.power(q, at.v + part * (v - at.v), **given)) for part in (1.0, -1.0, 0.5, -0.5)
            )
            worst, across = max(worst, there + back), max(across, abs(there - back))
            bent = max(bent, abs(there - back - 2.0 * (half - half_back)))
            size = max(size, abs(there), abs(back))
        if worst > 1e-10 * size:
            return "some force adds energy at states near the equilibrium"
        one_way = one_way or across > 1e-10 * size
        uneven = uneven or bent > 1e-10 * size
    if uneven and n > 1:  # one coordinate alone passes through the same speeds on its way back
        return "some force that is the same for opposite velocities changes with them and does work"
    if not one_way:
        return ""
    if system.balls or system.loop_rows:
        return "applied forces that depend on the position were not found to have a potential"
    for _ in range(6):
        q, v = displaced(system, at, model.Z, NEARBY * reach * rng.uniform(-1, 1, size=n), np.zeros(n))
        K = terms_at(system, q, at.v, at.inputs, at.multipliers, at.parameters, spin=at.spin).K
        if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            return "forces have no potential: the stiffness is not symmetric near the equilibrium"
    return ""


def _rates_to_try(model: LinearModel, reach: Array, rng: np.random.Generator) -> list[Array]:
    """Velocities at which the power is evaluated, in groups that are judged separately.

    The groups are: random velocities; each coordinate alone; and velocities without linear damping, since strong
    damping would otherwise hide a force that adds a little energy.
    """
    n = len(reach)
    groups = [reach * rng.uniform(-1, 1, size=(SAMPLES, n))]
    groups += [np.repeat((reach * unit)[None], 10, axis=0) for unit in np.eye(n)]
    scaled = reach[:, None] * model.damping * reach
    sizes, directions = np.linalg.eigh(scaled)
    free = directions[:, np.abs(sizes) <= 1e-9 * np.abs(sizes).max(initial=1e-300)]
    if 0 < free.shape[1] < n:
        groups.append(reach * (rng.uniform(-1, 1, size=(SAMPLES, free.shape[1])) @ free.T))
        groups += [np.repeat((reach * unit)[None], 10, axis=0) for unit in free.T]
    return groups


# --- directions without stiffness ---------------------------------------------------------------------------


def _by_taylor(model: LinearModel, direction: Array, families: Array, damped: bool) -> Finding | None:
    """The leading term along one direction without stiffness, from exact Taylor coefficients; None if unavailable.

    The Lyapunov-Schmidt reduction keeps all other coordinates in equilibrium, order by order. The force along the
    direction is then that of the reduced potential, and its first nonzero coefficient decides.
    """
    system, at = model.system, model.at
    assert system is not None
    n = len(direction)
    if system.in_joints.system is not system or not np.array_equal(model.N, np.eye(n)):
        return None
    try:
        tape, rows = forces_on_speeds(Balance(system, at.inputs, at.parameters), at.v)
    except Undecidable:
        return None
    reach = model.sizes
    direction = direction / np.abs(direction / reach).max()
    names = ", ".join(name for name, x in zip(model.coordinates, direction / reach, strict=True) if abs(x) > 1e-6)
    P = np.linalg.svd(direction[:, None])[0][:, 1:]
    hold = P.T @ model.K @ P
    curve = np.zeros((n, HIGHEST))
    curve[:, 0], curve[:, 1] = at.q, direction
    for order in range(1, HIGHEST):
        try:
            forces, sizes = taylor(tape, rows, curve[:, : order + 1])
        except (ZeroDivisionError, ValueError, OverflowError):
            return None
        along, size = float(direction @ forces[:, order]), float(np.abs(direction) @ sizes[:, order])
        if order == 1:  # small beside the stiffness nearby, but no rounding error: all forces are small here
            if n == 1 and abs(along) > CLEAR * size:
                text = "its second derivatives are positive definite" if along < 0.0 else "its second derivative falls"
                return Finding("minimum" if along < 0.0 else "no minimum", text, families=families, damped=damped)
            continue
        if abs(along) > VANISHING * size:
            holds = order % 2 == 1 and along < 0.0
            sense = "rises" if holds else "falls"
            text = f"stiffness along {names} vanishes, and its term of order {order + 1} {sense}"
            return Finding("minimum" if holds else "no minimum", text, order + 1, families, damped)
        if P.size:
            curve[:, order] = P @ np.linalg.solve(hold, P.T @ forces[:, order])
    text = f"along {names} all terms up to order {HIGHEST} vanish"
    return Finding("unknown", text, families=families, damped=damped)


def _higher_order(model: LinearModel, direction: Array, families: Array, damped: bool) -> Finding:
    """The leading term of the potential along one direction without stiffness, estimated from forces nearby."""
    reach = model.sizes
    direction = direction / np.abs(direction / reach).max()
    forces = np.array([[_force_along(model, direction, s * h) for h in RADII] for s in (-1.0, 1.0)])
    names = ", ".join(n for n, x in zip(model.coordinates, direction / reach, strict=True) if abs(x) > 1e-6)
    noise = 1e-12 * float(np.abs(direction) @ stiffness_nearby(model) @ np.abs(direction))
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
    holds = signs[0] > 0 > signs[1]  # restoring on both sides
    sense = "rises" if holds else "falls"
    text = f"stiffness along {names} vanishes, and its term of order {order + 1} {sense}"
    tested = ("the order was estimated from forces at four distances",)
    return Finding("minimum" if holds else "no minimum", text, order + 1, families, damped, tested)


def _force_along(model: LinearModel, direction: Array, distance: float) -> float:
    """Force along a direction at a distance, with all other coordinates in equilibrium."""
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
