"""Prescribed motions as inputs of a linear model: M e'' + C e' + K e = F u + D y + D1 y' + D2 y''.

The prescribed motions are held at rest, the mechanism is linearized about an equilibrium, and the motions then vary by
small y. With closed loops the dependent coordinates follow both e and y: ds = Z e + Y y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.driven.periods import symbolic
from pendula.analysis.linear.linearize import Point, chosen_speeds, held_inputs, linearize
from pendula.analysis.linear.model import LinearModel, Motions
from pendula.analysis.linear.terms import Terms, terms_at
from pendula.equations.variants.held import hold_drives
from pendula.errors import NotSupported, UsageError
from pendula.model.names import suggestion
from pendula.simulation.readings import place_of
from pendula.system.code.llvm import Native, compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, prepared_parameters
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System

OPEN = 1e-9
"""gaps of loops below this part of what the motions and the coordinates do to them are rounding errors"""


def linearize_motions(
    system: AnySystem,
    at: Point = None,
    *,
    hold: float | Mapping[str, float] = 0.0,
    inputs: Any = None,
    parameters: Parameters = None,
) -> LinearModel:
    """Small motion with the prescribed motions as inputs: M e'' + C e' + K e = F u + D y + D1 y' + D2 y''.

    Every prescribed motion (a driven joint, a shaken pivot) is held at rest and then varies by y. Displacement, rate
    and acceleration of a motion act together, so they are one input: ``harmonic_response`` and ``forced_response`` take
    the name of the motion and relate them. ``model.motions`` holds D, D1 and D2, and its ``state_space`` takes y'' as
    the input, with y and y' among the states.

    Args:
        system: a system with prescribed motions, a model, or the name of a library mechanism. Where a formulation uses
            maximal coordinates, those of the joints take their place.
        at: an equilibrium with the motions held, as for ``linearize``; values by name, unnamed ones zero.
        hold: where the motions are held: the time at which each has the value, or values by name (others at time 0).
        inputs, parameters: as for ``linearize``.

    Raises:
        UsageError: there is no prescribed motion, or none of a name.
        NotAnEquilibrium: forces do not balance with the motions held there.
        NotSupported: a steady motion, or coordinates that are singular there.

    Example:
        >>> import pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point")
        >>> model = linearize_motions(shaken)
        >>> model.motions.names, model.motions.D2[:, 0].tolist()  # m l^2 e'' + m g l e = -m l x''
        (('theta1__x', 'theta1__y'), [-1.0])
    """
    given = symbolic(system_of(system, "linearize_motions", inputs=held_inputs(at, inputs)).in_joints.system)
    if not given.drives:
        raise UsageError("the mechanism has no prescribed motion: no joint has a motion, and no point on ground moves")
    vector = parameter_vector(given, parameters)
    held = _held_values(given, hold, vector)
    still = held_system(given, held)
    model = linearize(still, at, inputs=inputs, parameters=vector)
    if model.chart or np.any(model.at.v):
        raise NotSupported(refusals.MOTIONS_SINGULAR if model.chart else refusals.MOTIONS_STEADY)
    return replace(model, motions=_motions(still, model, held))


def _held_values(system: System, hold: float | Mapping[str, float], vector: Array) -> Array:
    """Values at which the prescribed motions are held."""
    names = [drive.name for drive in system.drives]
    named = hold if isinstance(hold, Mapping) else {}
    for name in named:
        if name not in names:
            hint = suggestion(name, names)
            raise UsageError(f'hold: there is no prescribed motion "{name}"; {hint}')
    time = 0.0 if isinstance(hold, Mapping) else hold
    if not isinstance(time, (int, float)) or not np.isfinite(time):
        raise UsageError(f"hold is a time or values by name, found {hold!r}")
    found = motion_values(system, np.array([time]), vector)[0]
    return np.array([float(named.get(name, x)) for name, x in zip(names, found, strict=True)])


def motion_values(system: System, times: Array, vector: Array) -> Array:
    """Values of all prescribed motions, shape (times, motions)."""
    names, known = [drive.name for drive in system.drives], system.symbols()
    values = system.watching([f"held {n}" for n in names], [known[n] for n in names], vector)
    still = np.zeros((len(times), len(system.layout.coordinates) + len(system.layout.speeds)))
    return np.asarray(values.rows(np.column_stack([np.asarray(times, dtype=float), still])))


def held_system(system: System, held: Array) -> SymbolicSystem:
    """The same mechanism with its prescribed motions held at the given values."""
    return SymbolicSystem(hold_drives(system.equations, held.tolist()))


class _Slopes(NamedTuple):
    """Derivatives of f + G^T lam by displacement, rate and acceleration of the motions, and of the gaps g by y."""

    D: Array
    D1: Array
    D2: Array
    G: Array


def _motions(system: SymbolicSystem, model: LinearModel, held: Array) -> Motions:
    at, Z = model.at, model.Z
    terms = terms_at(system, at.q, at.v, at.inputs, at.multipliers, at.parameters)
    slopes = _slopes(system, model, held)
    Y = _carried(terms, Z, slopes.G) if system.loop_rows else np.zeros((len(Z), len(held)))
    units = system.model.unit_names
    names = tuple(drive.name for drive in system.drives)
    return Motions(
        names=names,
        held=held,
        D=Z.T @ (slopes.D - terms.K @ Y),
        D1=Z.T @ (slopes.D1 - terms.C @ Y),
        D2=Z.T @ (slopes.D2 - terms.M @ Y),
        Y=Y,
        units={drive.name: units.coordinate(drive.kind) for drive in system.drives},
        gaps=_gaps(terms, Y, slopes.G),
    )


def _carried(terms: Terms, Z: Array, by_motions: Array) -> Array:
    """Y of ds = Z e + Y y: how the dependent coordinates follow the motions while the independent ones stay."""
    chosen = chosen_speeds(Z)
    rest = [k for k in range(len(Z)) if k not in chosen]
    Y = np.zeros((len(Z), by_motions.shape[1]))
    Y[rest] = np.linalg.lstsq(terms.G[:, rest], -by_motions, rcond=None)[0]
    return Y


def _gaps(terms: Terms, Y: Array, by_motions: Array) -> Array:
    """What the loops still open by per unit of every motion; rounding errors are zero."""
    if not len(by_motions):
        return np.zeros((0, by_motions.shape[1]))
    left = terms.G @ Y + by_motions
    most = np.abs(by_motions).max(axis=0) + np.abs(terms.G).max(initial=0.0) * np.abs(Y).max(axis=0, initial=0.0)
    return np.asarray(np.where(np.abs(left) > OPEN * most, left, 0.0))


def _slopes(system: SymbolicSystem, model: LinearModel, held: Array) -> _Slopes:
    at, n, m, d = model.at, len(system.layout.speeds), system.loop_rows, len(held)

    def build() -> Native:
        eq = system.equations
        symbols = [s for kind in ("position", "rate", "acceleration") for s in (getattr(x, kind) for x in eq.drives)]
        lam = list(eq.multiplier_symbols)
        low = Lowering([eq.t, *eq.q, *eq.v, *eq.u, *lam, *symbols], eq.p, eq.definitions)
        program = low.program
        left = [low(x) for x in eq.f]
        for r, force in enumerate(lam):
            for j in range(n):
                left[j] = program.add(left[j], program.multiply(low(eq.G[r][j]), low(force)))
        gaps = [low(x) for x in eq.g[:m]]
        by = [program.tangent([*left, *gaps], {low(s): program.one}, program.needed([*left, *gaps])) for s in symbols]
        return compile_program(program, [column[i] for column in by for i in range(n + m)], quick=True)

    native = system.programs.native("slopes by motions", build)
    row = np.concatenate([[0.0], at.q, at.v, at.inputs, at.multipliers, held, np.zeros(2 * d)])
    out = Compiled(native, prepared_parameters(native, at.parameters)).rows(row[None])[0].reshape(3, d, n + m)
    by_position, by_rate, by_acceleration = (x.T for x in out)
    return _Slopes(by_position[:n], by_rate[:n], by_acceleration[:n], by_position[n:])


# --- points ---------------------------------------------------------------------------------------------


def point_slopes(model: LinearModel, body: str, point: Any) -> tuple[Array, Array]:
    """Displacement of a point of a body, in world axes, per unit of e and per unit of y: shapes (3, n) and (3, d).

    Raises:
        UsageError: there is no such body or point, or the model has no symbolic system.
    """
    system, at, motions = model.system, model.at, model.motions
    if system is None or model.chart:
        raise UsageError("points need the system of the linear model, in its own coordinates")
    system = symbolic(system)
    bodies = system.layout.bodies
    if body not in bodies:
        raise UsageError(f'there is no body "{body}"; {suggestion(body, bodies)}')
    place = place_of(system, body, point, at.parameters)
    held = np.zeros(0) if motions is None else motions.held
    carried = np.zeros((len(model.Z), 0)) if motions is None else motions.Y
    directions = (model.N @ np.hstack([model.Z, carried])).T
    moved = np.vstack([np.zeros((model.Z.shape[1], held.size)), np.eye(held.size)])
    program = _pose_slopes(system, held.size, at.parameters)
    state = np.concatenate([[0.0], at.q, at.v, at.inputs, held])
    rows = np.hstack([np.broadcast_to(state, (len(directions), state.size)), directions, moved])
    out = program.rows(np.ascontiguousarray(rows)).reshape(len(rows), len(bodies), 12)[:, bodies.index(body)]
    columns = out[:, :3] + out[:, 3:].reshape(-1, 3, 3) @ place
    n = model.Z.shape[1]
    return columns[:n].T, columns[n:].T


def _pose_slopes(system: System, moved: int, parameters: Array) -> Compiled:
    """A program for the change of all poses along a direction: reads t, q, v, u, the motions, dq and dy."""

    def build() -> Native:
        eq = system.equations
        symbols = [*eq.q, *([drive.position for drive in eq.drives] if moved else [])]
        fixed = [eq.t, *eq.q, *eq.v, *eq.u, *symbols[len(eq.q) :]]
        low = Lowering([*fixed, *(("change", k) for k in range(len(symbols)))], eq.p, eq.definitions)
        changes = low.inputs()[len(fixed) :]
        values = []
        for body in system.layout.bodies:
            R, r = eq.poses[body]
            values += [low(x) for x in (*r, *(x for row in R for x in row))]
        along = {low(s): change for s, change in zip(symbols, changes, strict=True)}
        return compile_program(low.program, low.program.tangent(values, along, low.program.needed(values)), quick=True)

    native = system.programs.native(f"slopes of poses, {moved} motions", build)
    return Compiled(native, prepared_parameters(native, parameters))
