"""A linear model at a point where the coordinates of a system are singular, as longitude is at a pole.

At such a point some direction has no mass, but motion along it moves no body: all points of this fibre are the same
pose. The regular directions at all points of the fibre together span the motions of the bodies. Mass, stiffness and
damping along them are exact, and a least-squares fit combines them into a model in displacements of the bodies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.terms import Terms, terms_of_many
from pendula.analysis.symmetry.geometry import Geometry
from pendula.errors import SingularPose
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System
from pendula.system.undirected import no_derivatives

SAME = 1e-9
"""bodies that move by less than this along a massless direction (relative to a typical length) stay at rest"""
FITS = 1e-8
NEAR = 1e-3
"""distance at which the model is compared with the system, whose coordinates are regular there"""
CLOSE = 2e-3
"""tolerance of that comparison: the error is of second order in the distance; this allows for large curvature"""


def in_regular_chart(system: System, point: Equilibrium, singular: LinearModel, method: str) -> LinearModel:
    """The linear model in displacements of bodies, for a system with singular coordinates at the point.

    Raises:
        SingularPose: a motion is massless in any coordinates, or no regular model was found.
    """
    joints = system.in_joints
    if not joints.same and not system.model.closures:  # maximal coordinates keep those of the joint, which are singular
        from pendula.analysis.linear.linearize import linearize

        inputs = dict(zip(system.layout.inputs, point.inputs.tolist(), strict=True)) or None
        state = joints.read_state(point.state, point.parameters)
        return linearize(joints.system, state, inputs=inputs, parameters=point.parameters, method=method)
    null, names = massless(singular.M, singular.coordinates)
    what = ", ".join(names)
    if system.loop_rows or np.any(point.v):
        raise SingularPose(
            f"the mass matrix is singular at this point (along {what}), so no linear model is determined.\n"
            "  Try: coordinates that are regular there, for example a ball joint by quaternion."
        )
    _refuse_massless(system, point, null, what)
    samples = _samples(system, point, null)
    n = len(null)
    U = np.hstack([moves for moves, _, _ in samples])
    labels, rows = _chosen_components(system, U, n, what)
    M, C, K, F = _fitted(system, point, samples, rows, what)
    note = (
        f"the coordinates {', '.join(system.layout.coordinates[:6])} are singular at this point ({what} is 0/0, "
        f"not determined); the linear model uses displacements of bodies instead: {', '.join(labels)}"
    )
    angle, length = (system.model.unit_names.coordinate(kind) for kind in ("angle", "length"))
    units = {label: angle if "turn" in label else length for label in labels}
    rates = system.model.unit_names
    units |= {f"{label}_dot": rates.speed("angle" if "turn" in label else "length") for label in labels}
    Z = np.linalg.pinv(_moves(system, point.q, point)[rows])
    basis = replace(
        singular.basis,
        coordinates=labels,
        speeds=tuple(f"{label}_dot" for label in labels),
        units=singular.units | units,
        chart=note,
        undetermined=null.shape[1],
    )
    how = "exact" if method == "exact" else "exact (differences need regular coordinates)"
    found = replace(singular.with_matrices(M=M, C=C, K=K, F=F, Z=Z, method=how), basis=basis)
    _compare_nearby(system, point, found, rows, null, what)
    return found


def massless(M: Array, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """The directions without mass, by columns, and the names of the coordinates that take part in them."""
    size = M.diagonal()
    scale = np.sqrt(np.where(size > 1e-14 * max(float(size.max(initial=0.0)), 1e-300), size, 1.0))
    sizes, directions = np.linalg.eigh(M / np.outer(scale, scale))
    null = directions[:, sizes < 1e-10 * max(float(sizes[-1]), 1e-300)] / scale[:, None]
    null = null / np.abs(null).max(axis=0)
    part = np.abs(null).max(axis=1) > 1e-6
    return null, tuple(name for name, takes in zip(names, part, strict=True) if takes)


def _refuse_massless(system: System, point: Equilibrium, null: Array, what: str) -> None:
    """Raises SingularPose if a massless direction moves a body."""
    R, r = system.poses(point.q, parameters=point.parameters)
    size = max(typical_length(system, point.parameters), 1e-300)
    for column in null.T:
        for h in (0.3, 1.1):
            turned, shifted = system.poses(point.q + h * _coordinates(system, column), parameters=point.parameters)
            if max(np.abs(turned - R).max(), np.abs(shifted - r).max() / size) > SAME:
                raise SingularPose(
                    f"a motion of {what} has no mass at this point, so its acceleration is not determined.\n"
                    "  Try: mass or inertia for the bodies that move with it, or a point that is not singular."
                )


def _coordinates(system: System, ds: Array) -> Array:
    dq = np.zeros(len(system.layout.coordinates))
    for k, speed in enumerate(system.layout.speed_of):
        if speed >= 0:
            dq[k] = ds[speed]
    return dq


def _moves(system: System, q: Array, point: Equilibrium) -> Array:
    """The Jacobian of all bodies (angular, then linear velocity) by columns of speeds; at many q at once."""
    n = len(system.layout.speeds)
    many = np.repeat(q[..., None, :], n, axis=-2)
    found = system.body_motion(many, np.broadcast_to(np.eye(n), (*q.shape[:-1], n, n)), parameters=point.parameters)
    parts = np.concatenate([found.angular_velocity, found.velocity], axis=-1)
    return np.asarray(np.swapaxes(parts.reshape(*q.shape[:-1], n, -1), -1, -2))


def _samples(system: System, point: Equilibrium, null: Array) -> list[tuple[Array, Array, Array]]:
    """At points of the fibre: body motions along the regular directions, those directions, and the point."""
    rng = np.random.default_rng(7)
    n = len(null)
    shifts = [np.zeros(n)] + [null @ rng.uniform(-np.pi, np.pi, size=null.shape[1]) for _ in range(4 * n * n + 3)]
    many = np.array([point.q + _coordinates(system, shift) for shift in shifts])
    sizes, directions = np.linalg.eigh(system.mass_matrix(many, parameters=point.parameters))
    moves = _moves(system, many, point)
    found = []
    for k, q in enumerate(many):
        W = directions[k][:, sizes[k] > 1e-10 * sizes[k, -1]]
        found.append((moves[k] @ W, W, q))
    return found


def _component_names(system: System) -> list[str]:
    return [f"{body}_{kind}{axis}" for body in system.layout.bodies for kind in ("turn_", "") for axis in "xyz"]


def _chosen_components(system: System, U: Array, n: int, what: str) -> tuple[tuple[str, ...], Array]:
    """Displacements of bodies that determine all others: names and rows. Translations take precedence."""
    from scipy.linalg import qr  # slow to load

    names = _component_names(system)
    length = typical_length(system)
    weight = np.array([0.3 * length if "turn" in name else 1.0 for name in names])
    _, triangle, pivots = qr((weight[:, None] * U).T, pivoting=True, mode="economic")
    size = np.abs(np.diag(triangle))
    rank = int(np.sum(size > 1e-9 * size[0]))
    rows = np.sort(pivots[:n])
    if rank == n:
        follow = np.linalg.lstsq(U[rows].T, U.T, rcond=None)[0].T
        if np.abs(follow @ U[rows] - U).max() <= FITS * np.abs(U).max():
            return tuple(names[k] for k in rows), rows
    raise SingularPose(
        f"the coordinates are singular at this point ({what} is not determined), and bodies have {rank} free motions "
        f"for {n} coordinates: no regular coordinates were found.\n"
        "  Try: other coordinates for this mechanism, or a point nearby."
    )


def _fitted(
    system: System, point: Equilibrium, samples: list[tuple[Array, Array, Array]], rows: Array, what: str
) -> tuple[Array, Array, Array, Array]:
    """M, C, K and F in the chosen displacements, fitted to their values along the regular directions of all samples."""
    n = len(rows)
    left, right, sides, pushes = [], [], [], []
    given = (point.v, point.inputs, point.multipliers, point.parameters)
    every = terms_of_many(system, np.array([q for _, _, q in samples]), *(x[None] for x in given))
    if not all(np.isfinite(x).all() for x in every):
        raise no_derivatives(system, point.q, 0.0, point.parameters)
    for k, (U, W, _) in enumerate(samples):
        E, terms = U[rows], Terms(*(x[k] for x in every))
        left.append(np.einsum("ia,jb->abij", E, E).reshape(-1, n * n))
        right.append(np.stack([(W.T @ X @ W).ravel() for X in (terms.M, terms.C, terms.K)], axis=1))
        sides.append(E.T)
        pushes.append(W.T @ terms.F)
    A, b = np.concatenate(left), np.concatenate(right)
    found = np.linalg.lstsq(A, b, rcond=1e-10)[0]  # components that no sample shows (a skew part) become zero
    F = np.linalg.lstsq(np.concatenate(sides), np.concatenate(pushes), rcond=None)[0]
    off = np.abs(A @ found - b).max(axis=0) / np.maximum(np.abs(b).max(axis=0), 1e-300)
    if off.max() > FITS:
        raise SingularPose(
            f"the coordinates are singular at this point ({what} is not determined), and forces there have no linear "
            "model in displacements of the bodies either.\n  Try: other coordinates for this mechanism."
        )
    M, C, K = (_clean(found[:, k].reshape(n, n)) for k in range(3))
    return (M + M.T) / 2, C, K, F


def _clean(X: Array) -> Array:
    """Sets rounding errors of the fit to zero, so that symmetric or diagonal matrices are exactly so."""
    X = np.where(np.abs(X) < 1e-13 * max(np.abs(X).max(), 1e-300), 0.0, X)
    return np.where(np.abs(X - X.T) < 1e-13 * max(np.abs(X).max(), 1e-300), (X + X.T) / 2, X)


def _compare_nearby(
    system: System, point: Equilibrium, model: LinearModel, rows: Array, null: Array, what: str
) -> None:
    """Compares the model with accelerations of the bodies near the point, where the system's coordinates are regular.

    This also detects forces perpendicular to a displacement (gyroscopic, circulatory), which the fit cannot.
    """
    rng = np.random.default_rng(11)
    n, parameters = len(rows), point.parameters
    aside = np.where(np.abs(null).max(axis=1) > 1e-6, 0.3, 1.0)
    places, rates = [], []
    for _ in range(6):
        shift = null @ rng.uniform(-np.pi, np.pi, size=null.shape[1])
        step = NEAR * rng.normal(size=n) * aside
        places.append(point.q + _coordinates(system, shift + step))
        rates.append(NEAR * rng.normal(size=n))
    q, rate = np.array(places), np.array(rates)
    v = np.linalg.solve(_moves(system, q, point)[:, rows], rate[..., None])[..., 0]
    a = system.accelerations(q, v, inputs=point.inputs, parameters=parameters)
    motion = system.body_motion(q, v, a, parameters=parameters)
    bodies = np.concatenate([motion.angular_acceleration, motion.acceleration], axis=-1).reshape(len(q), -1)[:, rows]
    R0, r0 = system.poses(point.q, parameters=parameters)
    e = [
        _displacement(R, r, R0, r0, system, point)[rows]
        for R, r in zip(*system.poses(q, parameters=parameters), strict=True)
    ]
    predicted = -np.linalg.solve(model.M, model.K @ np.transpose(e) + model.C @ rate.T).T
    worst, size = float(np.abs(bodies - predicted).max()), max(float(np.abs(bodies).max()), 1e-300)
    if worst > CLOSE * size:
        raise SingularPose(
            f"the coordinates are singular at this point ({what} is not determined), and forces act across "
            "displacements there, which these coordinates cannot resolve.\n"
            "  Try: coordinates that are regular there, for example a ball joint by quaternion."
        )


def poses_along(model: LinearModel, displacements: Array) -> Array:
    """Coordinates of poses at which the bodies are displaced as a model in displacements says, each near the last.

    Args:
        model: a linear model in displacements of bodies.
        displacements: one row for every pose.
    """
    from scipy.optimize import least_squares  # slow to load

    system, point = model.system, model.at
    assert system is not None
    rows = [_component_names(system).index(name) for name in model.coordinates]
    R0, r0 = system.poses(point.q, parameters=point.parameters)
    weight = np.where(["turn_" in name for name in model.coordinates], typical_length(system, point.parameters), 1.0)

    def off(q: Array, target: Array) -> Array:
        R, r = system.poses(q, parameters=point.parameters)
        return np.asarray(weight * (_displacement(R, r, R0, r0, system, point)[rows] - target))

    null, _ = massless(system.mass_matrix(point.q, parameters=point.parameters), system.layout.speeds)
    rng = np.random.default_rng(3)
    shifts = [null @ rng.uniform(-np.pi, np.pi, size=null.shape[1]) for _ in range(12)]
    starts = [point.q + _coordinates(system, shift) + 1e-3 * rng.normal(size=len(point.q)) for shift in shifts]
    found: list[Array] = []
    for target in displacements:
        tries = [found[-1]] if found else starts
        best = min((least_squares(off, q, args=(target,), xtol=1e-14, ftol=1e-14, gtol=1e-14) for q in tries),
                   key=lambda result: result.cost)  # fmt: skip
        if best.cost > 1e-10 * float(weight @ np.abs(target)) ** 2:
            tries = [least_squares(off, q, args=(target,), xtol=1e-14, ftol=1e-14, gtol=1e-14) for q in starts]
            best = min([best, *tries], key=lambda result: result.cost)
        found.append(best.x)
    return np.array(found)


def _displacement(R: Array, r: Array, R0: Array, r0: Array, system: System, point: Equilibrium) -> Array:
    """Small rotations of all bodies and displacements of their mass centres."""
    turn = np.einsum("bij,bkj->bik", R, R0)
    angles = (
        np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1) / 2
    )
    centers = _centers(system, point)
    shift = r + np.einsum("bij,bj->bi", R, centers) - r0 - np.einsum("bij,bj->bi", R0, centers)
    return np.concatenate([angles, shift], axis=1).ravel()


def _centers(system: System, point: Equilibrium) -> Array:
    """Mass centres of all bodies in body axes."""
    geometry = Geometry(system.model, system.layout.parameter_values(point.parameters))
    return np.array([geometry.vector(system.model.body(name).mass_properties().com) for name in system.layout.bodies])
