"""Small motion about an equilibrium: M e'' + C e' + K e = F u in independent coordinates, for every formulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance, ball_blocks, null_basis
from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium, equilibrium_at
from pendula.analysis.equilibria.poles import in_quaternions
from pendula.analysis.equilibria.turning import spun
from pendula.analysis.linear.frame import MASSLESS, VANISHING, Frame, frame_of
from pendula.analysis.linear.kinks import refuse_kinks
from pendula.analysis.linear.model import Basis, LinearModel, Matrices
from pendula.analysis.linear.quick.linear_models import quick_again, quick_model
from pendula.analysis.linear.terms import Terms, terms_at
from pendula.errors import NotAnEquilibrium, SingularPose, UsageError
from pendula.numerics.quick.independent import best_rows
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.loops.mobility import independent_rows
from pendula.system.orientation.maps import moved
from pendula.system.parameters import Parameters, typical_steps
from pendula.system.system import System

Point = Equilibrium | State | Mapping[str, float] | None

METHODS = ("exact", "differences")
CHANGING = 1e-8
"""coefficients that change by more than this along a steady motion, relative to the largest, are time-dependent"""
CLOSING = 12
"""largest number of Newton steps that project a nearby state onto the constraints"""
STEP = 6e-6
"""step of central differences, in rad and typical lengths: cube root of the machine precision"""


def linearize(
    system: AnySystem,
    at: Point = None,
    *,
    inputs: Any = None,
    parameters: Parameters = None,
    method: str = "exact",
    geometric: bool = True,
) -> LinearModel:
    """Small-motion equations about an equilibrium or a steady motion, in independent coordinates.

    Motion is restricted to the directions that the constraints allow, so every formulation of one mechanism gives the
    same eigenvalues. The independent coordinates are coordinates of the system, chosen so that the dependent ones are
    well conditioned. Constraint forces add geometric stiffness (a hanging chain is stiff because it is taut). In steady
    motion e are changes from the moving state, and C contains the gyroscopic terms. If the system's own coordinates
    are singular, the model uses regular ones, and ``chart`` says so.

    Args:
        system: a system, a model, or the name of a library mechanism.
        at: an Equilibrium, a State, or values by name (unnamed values are zero; None: all zero): numbers, or text such
            as "180deg". Values of speeds are the constant rates of a steady motion.
        inputs: values of inputs, by name, held constant.
        parameters: changes of parameters, by name.
        method: ``exact`` derivatives, or central ``differences`` (Kamman, unit 8, eqs 33 to 35), with their error
            relative to the exact derivatives.
        geometric: False omits the geometric stiffness of constraint forces; the wrong result shows its effect.

    Raises:
        NotAnEquilibrium: forces do not balance; the message says which and by how much.
        SingularPose: constraints lose rank there, or a motion has no mass.
        ComputationError: forces have a kink, a jump or no finite derivatives there.
        UsageError: the coefficients depend on time; see ``floquet``.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> found = pendula.linearize(system, {"theta1": 0, "theta2": 0})
        >>> found.K.round(6).tolist()
        [[1315.0, -300.0], [-300.0, 305.0]]
    """
    plain = method == "exact" and geometric
    if plain and inputs is None and parameters is None and (again := quick_again(system, at)) is not None:
        return again
    if method not in METHODS:
        raise UsageError(f'method must be "exact" or "differences", found "{method}"')
    system = system_of(system, "linearize", inputs=held_inputs(at, inputs))
    if system.layout.orientations:
        from pendula.analysis.linear.regular_twin import in_twin

        more = {"inputs": inputs, "method": method, "geometric": geometric}
        found = in_twin(linearize, system, at, parameters, **more)
        if found is not None:
            return found
    point = point_of(system, at, inputs, parameters)
    if plain:
        quick = quick_model(system, point)
        if quick is not None:
            return quick
    frame = frame_of(system)
    terms = terms_at(system, point.q, point.v, point.inputs, point.multipliers, point.parameters, spin=point.spin)
    residual = _residual(system, frame, point, terms)
    if frame.may_change or np.count_nonzero(point.v):
        _refuse_changing(system, point, terms)
    held = balance_of(system, point)
    refuse_kinks(held, point.q, point.v, point.multipliers)
    if not geometric:
        loose = terms_at(
            system, point.q, point.v, point.inputs, 0.0 * point.multipliers, point.parameters, spin=point.spin
        )
        terms = terms._replace(K=loose.K)
    Z, rows = frame.identity, 0
    if frame.constrained:
        Z, rows = independent_directions(system, terms.G, point.parameters)
    model = _assembled(system, frame, point, terms, Z, rows, residual)
    if has_no_mass(model.M, frame.steps if not frame.constrained else frame.steps[chosen_speeds(Z)]):
        if np.any(point.v) and (instead := _in_quaternions(system, point)) is not None:
            return instead
        from pendula.analysis.linear.regular_chart import in_regular_chart

        return in_regular_chart(system, point, model, method)
    return model if method == "exact" else _by_differences(system, model)


def held_inputs(at: Any, inputs: Any) -> Any:
    """The inputs with which a point is asked about: those given, or those of an equilibrium."""
    return at.inputs if inputs is None and isinstance(at, Equilibrium) else inputs


def point_of(system: System, at: Point, inputs: Any, parameters: Parameters) -> Equilibrium:
    """The equilibrium that an argument denotes, checked again if inputs or parameters are given."""
    if isinstance(at, Equilibrium):
        if at.layout is not system.layout and at.layout.coordinates != system.layout.coordinates:
            mine, its = ", ".join(system.layout.coordinates[:6]), ", ".join(at.layout.coordinates[:6])
            raise UsageError(f"the equilibrium belongs to another system: its coordinates are {its}, not {mine}")
        if inputs is None and parameters is None:
            return at if at.system is system else replace(at, system=system)
        held = held_inputs(at, inputs)
        given = at.parameters if parameters is None else parameters
        return equilibrium_at(system, at.state, inputs=held, parameters=given, name=at.name)
    return equilibrium_at(system, at, inputs=inputs, parameters=parameters)


def _in_quaternions(system: System, point: Equilibrium) -> LinearModel | None:
    """The linear model of a steady motion with quaternions in all ball joints; None if the forces use their angles."""
    there = in_quaternions(system, point.q, point.v, point.parameters)
    if there is None:
        return None
    found = linearize(*there, inputs=point.inputs, parameters=point.parameters)
    remark = (
        f"the coordinates {', '.join(system.layout.coordinates[:6])} are singular in this steady motion; the linear "
        "model describes orientations by quaternions instead"
    )
    return replace(found, at=replace(found.at, name=point.name), basis=replace(found.basis, remark=remark))


# --- the terms --------------------------------------------------------------------------------------------


def _residual(system: System, frame: Frame, point: Equilibrium, terms: Terms) -> float:
    """Largest unbalanced force as a fraction of a typical force; raises NotAnEquilibrium if it is too large."""
    worst = max(map(abs, terms.left.tolist()), default=0.0)
    if worst == 0.0:
        return 0.0
    share = worst / max(float((np.abs(terms.K) @ frame.steps).max(initial=0.0)), worst)
    if share > BALANCED:  # the typical force may be a constraint force, which K does not show
        balance = balance_of(system, point)
        share = worst / balance.scale(point.q, point.v)
    if share > BALANCED:
        at = int(np.argmax(np.abs(terms.left)))
        raise NotAnEquilibrium(
            f"this state is not an equilibrium: an unbalanced force of {terms.left[at]:.6g} remains on "
            f'"{system.layout.speeds[at]}" ({100 * share:.2g} % of a typical force).\n'
            "  Try: find_equilibria(system) to find the equilibria.",
            residual=share,
        )
    return share


def independent_directions(system: System, G: Array, parameters: Array) -> tuple[Array, int]:
    """A basis Z of the null space of G, with the identity in the best conditioned rows, and the rank of G."""
    n = G.shape[1]
    null = null_basis(G)
    rank = n - null.shape[1]
    expected = independent_rows(system, parameters)
    if rank < expected:
        raise SingularPose(
            f"at this pose the constraints lose rank ({rank} of {expected} rows are independent): more motions seem "
            "possible than there are, and no linear model describes them.\n"
            "  Try: a pose that is not a dead point or a branch point of the linkage."
        )
    if rank == n:
        raise UsageError("the constraints allow no motion at this pose, so there is nothing to linearize")
    lengths = typical_steps(system)
    chosen = np.zeros(n - rank, dtype=int)
    best_rows(null.copy(), lengths, chosen)
    Z = null @ np.linalg.inv(null[chosen])
    Z[chosen] = np.eye(n - rank)
    Z[np.abs(Z) < 1e-15] = 0.0
    return Z, rank


def balance_of(system: System, point: Equilibrium) -> Balance:
    """The balance of forces at an equilibrium."""
    return Balance(system, point.inputs, point.parameters, point.spin)


def body_turning(system: System, v: Array, spin: Array | None = None) -> Array:
    """W of ds' = dv + W ds: small rotations ds of a ball joint refer to axes that rotate with the body, except for
    its spin about its own axis of symmetry."""
    return -ball_blocks(system, v if spin is None else v - spin)


def _assembled(
    system: System, frame: Frame, point: Equilibrium, terms: Terms, Z: Array, rows: int, residual: float
) -> LinearModel:
    """The model in independent coordinates; ds' = dv + W ds turns C into C - M W and K into K - C W."""
    M, C, K, F = terms.M, terms.C, terms.K, terms.F
    if system.turnings and np.any(point.v):
        W = body_turning(system, point.v, point.spin)
        C, K = C - M @ W, K - C @ W
    names, speeds = frame.coordinates, frame.speeds
    if frame.constrained:
        M, C, K, F = Z.T @ M @ Z, Z.T @ C @ Z, Z.T @ K @ Z, Z.T @ F
        M = (M + M.T) / 2
        chosen = chosen_speeds(Z)
        names, speeds = tuple(names[k] for k in chosen), tuple(speeds[k] for k in chosen)
    basis = Basis(names, speeds, system.layout.inputs, frame.units, rows)
    return LinearModel(point, basis, Matrices(M, C, K, F, Z, terms.N, residual=residual))


def chosen_speeds(Z: Array) -> list[int]:
    """Indices of the independent speeds: the rows of Z that form the identity, in order."""
    found = []
    for k in range(Z.shape[1]):
        unit = np.zeros(Z.shape[1])
        unit[k] = 1.0
        found.append(int(np.flatnonzero((unit == Z).all(axis=1))[0]))
    return found


def has_no_mass(M: Array, lengths: Array) -> bool:
    """Whether M is singular up to rounding; ``lengths`` are typical sizes of the coordinates."""
    size = M.diagonal()
    typical = (size * lengths * lengths).tolist()
    if not min(typical) > VANISHING * max(typical):
        return True
    if len(M) == 1:
        return False
    if len(M) == 2:  # the usual case needs no factorization
        (a, b), (c, d) = M.tolist()
        return not a * d - b * c > MASSLESS * a * d
    scaled = M / np.sqrt(np.outer(size, size))
    return bool(np.linalg.eigvalsh(scaled)[0] < MASSLESS)


# --- whether coefficients are constant --------------------------------------------------------------------


def _refuse_changing(system: System, point: Equilibrium, terms: Terms) -> None:
    """Raises UsageError if M, C, K, G or F change along the motion."""
    rest = (point.v, point.inputs, point.multipliers, point.parameters)
    given = {"spin": point.spin}
    aside = terms_at(system, moved(system, point.q, 0.4 * frame_of(system).steps), *rest, **given)
    mass = float(np.abs(terms.M).max())
    turning = balance_of(system, point).by_turning(point.q, point.v)
    stiffness = max(float(np.abs(terms.K).max()), float(np.abs(aside.K).max()), turning)
    damping = float(np.sqrt(mass * stiffness))
    for t in balance_of(system, point).looks()[1:]:
        later = _terms_later(system, point, t)
        for name in "MKCGF":
            one, other, there = getattr(terms, name), getattr(later, name), getattr(aside, name)
            if name == "G":  # its rows may turn with the mechanism
                one, other, there = (x.T @ x for x in (one, other, there))
            size = max(float(np.abs(x).max(initial=1e-300)) for x in (one, other, there))  # may vanish exactly here
            size = max(size, {"C": damping, "K": stiffness}.get(name, 0.0))
            change = float(np.abs(one - other).max(initial=0.0))
            if not change <= CHANGING * size and name == "K":  # its terms may cancel here: compare with one of them
                size = max(size, _potential_stiffness(system, point))
            if not change <= CHANGING * size:
                raise UsageError(
                    f"the forces balance here, but the coefficients of small motion ({name}) depend on time.\n"
                    "  Try: floquet(...) if the driving is periodic."
                )


def _potential_stiffness(system: System, point: Equilibrium) -> float:
    """A typical stiffness of the potential alone, without the inertia of prescribed motions: by second differences."""
    steps = 0.1 * np.diag(frame_of(system).steps)
    still, largest = np.zeros(len(steps)), 0.0
    for step in steps:
        ways = [moved(system, point.q, way * step) for way in (-1.0, 0.0, 1.0)]
        left, here, right = (system.energies(q, still, parameters=point.parameters).potential for q in ways)
        largest = max(largest, abs(float(left - 2 * here + right)) / float(step.max()) ** 2)
    return largest


def _terms_later(system: System, point: Equilibrium, t: float) -> Terms:
    """The terms at a later time of a steady motion, in axes that do not take part in the spin of bodies."""
    spin = np.zeros(len(point.v)) if point.spin is None else point.spin
    q, S = spun(system, moved(system, point.q, t * (point.v - spin)), spin * t)
    v, balance = S.T @ point.v, balance_of(system, point)
    lam = point.multipliers
    if np.abs(balance.rows(q, t) - balance.rows(point.q)).max(initial=0.0) > CHANGING:  # they turn with the rows of G
        lam = balance.multipliers(q, v, t)
    found = terms_at(system, q, v, point.inputs, lam, point.parameters, t=t, spin=point.spin)
    if point.spin is None:
        return found
    M, K, C = (S @ X @ S.T for X in (found.M, found.K, found.C))
    return found._replace(M=M, K=K, C=C, G=found.G @ S.T, F=S @ found.F)


# --- central differences ----------------------------------------------------------------------------------


def _by_differences(system: System, exact: LinearModel) -> LinearModel:
    """The same model with M^-1 K, M^-1 C and M^-1 F from central differences of accelerations, and its error."""
    at, Z = exact.at, exact.Z
    chosen = chosen_speeds(Z)
    lengths = frame_of(system).steps[chosen]

    def accelerations(e: Array, rate: Array, du: Array) -> Array:
        q, v = displaced(system, at, Z, e, rate)
        return np.asarray(system.accelerations(q, v, inputs=at.inputs + du, parameters=at.parameters)[chosen])

    n, nu = Z.shape[1], len(at.inputs)
    zero, none = np.zeros(n), np.zeros(nu)
    by_e, by_rate, by_u = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, nu))
    for k in range(n):
        step = np.zeros(n)
        step[k] = h = STEP * lengths[k]
        by_e[:, k] = (accelerations(step, zero, none) - accelerations(-step, zero, none)) / (2 * h)
        by_rate[:, k] = (accelerations(zero, step, none) - accelerations(zero, -step, none)) / (2 * h)
    for k in range(nu):
        du = np.zeros(nu)
        du[k] = h = STEP * max(1.0, abs(float(at.inputs[k])))
        by_u[:, k] = (accelerations(zero, zero, du) - accelerations(zero, zero, -du)) / (2 * h)
    if system.turnings and np.any(at.v):
        raise UsageError("central differences do not support steady rotation of a ball joint.\n  Try: method='exact'.")
    K, C, F = -exact.M @ by_e, -exact.M @ by_rate, exact.M @ by_u
    true = np.hstack([exact.A1, exact.A2, exact.B[n:]])
    error = float(np.abs(np.hstack([by_e, by_rate, by_u]) - true).max(initial=0.0) / np.abs(true).max(initial=1e-300))
    return exact.with_matrices(K=K, C=C, F=F, method="differences", error=error)


def displaced(system: System, at: Equilibrium, Z: Array, e: Array, rate: Array) -> tuple[Array, Array]:
    """A state near an equilibrium, displaced by e with rates e' and projected onto the constraints."""
    q = moved(system, at.q, Z @ e)
    if not system.loop_rows:
        return q, at.v + Z @ rate
    chosen = chosen_speeds(Z)
    rest = [k for k in range(len(Z)) if k not in chosen]
    G = system.constraint_jacobian(q, parameters=at.parameters)
    for _ in range(CLOSING):  # Newton's method with the independent coordinates held
        gap = system.gaps(q, parameters=at.parameters)[0][: system.loop_rows]
        step = np.zeros(len(Z))
        step[rest] = np.linalg.lstsq(G[:, rest], -gap, rcond=None)[0]
        q = moved(system, q, step)
        G = system.constraint_jacobian(q, parameters=at.parameters)
        if np.abs(step).max(initial=0.0) < 1e-15:
            break
    v = np.array(at.v, dtype=float)
    v[chosen] += rate
    v[rest] = np.linalg.lstsq(G[:, rest], -G[:, chosen] @ v[chosen], rcond=None)[0]
    return q, v
