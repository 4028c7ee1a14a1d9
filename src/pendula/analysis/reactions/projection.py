"""The matrices of the projection method at a state: free bodies, joint constraints, their orthogonal complement.

Tataru, with corrections: bodies with velocities V = (v_O, omega) in their own axes, O their side of
their inboard joint. All matrices are numbers. Velocities and accelerations of the bodies come from the system, in any
formulation; only the wrenches Q of loads on free bodies come from the derivation by projection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.symmetry.geometry import Geometry, cross
from pendula.equations.equations import drive_definitions
from pendula.equations.formulations.projection import ProjectionDerivation
from pendula.equations.mechanism.mechanism import refuse_rotors
from pendula.equations.mechanism.tree_coordinates import TreeCoordinates
from pendula.errors import NotSupported, UsageError
from pendula.system.code.llvm import compile_program
from pendula.system.code.lower import Lowering
from pendula.system.code.programs import Compiled, prepared_parameters
from pendula.system.entry import AnySystem, refuse_written, system_of
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System
from pendula.words import counted, readable

DEPENDENT = 1e-10
"""a relative velocity that others span up to this fraction adds no freedom to a joint"""


@readable
@dataclass(frozen=True)
class ProjectionMatrices:
    """All matrices of the projection method at one state; V = (v_O, omega) of every body in its own axes, stacked.

    Attributes:
        M: of the free bodies, 6 B by 6 B (eqs 2 and 52): blocks [[m 1, -[S]], [[S], J]].
        Omega: of the free bodies (eqs 3 and 53): blocks [[m [w], -[w][S]], [[S][w], [w] J]].
        Q: loads on the free bodies, 6 B (eqs 10-12 and 54).
        V, V_rate: velocities and their rates in body axes.
        L: constraints of the joints, L V = b (eqs 18-23); zero b unless motions are prescribed.
        L_extended, A: all rows of the relative velocities in the joints, L_extended V = A v + b_extended (eqs 25-32).
        b, b_extended: right sides due to prescribed motions.
        L_tau: V = L_tau v + driven (eq 34), the orthogonal complement: L L_tau = 0.
        bias: L_tau' v + driven', the part of V' without v' (eqs 42, 43, 79).
        driven: velocities due to prescribed motions.
        reduced_M: L_tau^T M L_tau (eq 59).
        reduced_Omega: -L_tau^T (Omega V + M bias), as a vector (eqs 61, 62).
        reduced_Q: L_tau^T Q (eq 62).
        joint_loads: springs, friction and inputs inside the joints, by speed, which are no loads on free bodies.
        accelerations: v' = reduced_M^-1 (reduced_Omega + reduced_Q + joint_loads).
        multipliers: of the rows of L: L^T lam + the joint loads = M V' + Omega V - Q (eqs 71-81).
        rows: name of every row of L: the joint it belongs to.
        bodies, speeds: names.

    Example:
        >>> import pendula
        >>> found = pendula.derivation.projection_matrices("double-physical-pendulum", {"phi1": 0.3})
        >>> found.L.shape, found.L_tau.shape, bool(abs(found.L @ found.L_tau).max() < 1e-15)
        ((10, 12), (12, 2), True)
    """

    M: Array
    Omega: Array
    Q: Array
    V: Array
    V_rate: Array
    L: Array
    L_extended: Array
    A: Array
    b: Array
    b_extended: Array
    L_tau: Array
    bias: Array
    driven: Array
    reduced_M: Array
    reduced_Omega: Array
    reduced_Q: Array
    joint_loads: Array
    accelerations: Array
    multipliers: Array
    rows: tuple[str, ...]
    bodies: tuple[str, ...]
    speeds: tuple[str, ...]

    @property
    def constraint_forces(self) -> Array:
        """L^T lam: the wrench of the constraints on every body (force, moment about O, in body axes), 6 B."""
        return self.L.T @ self.multipliers

    def __str__(self) -> str:
        count = counted(len(self.bodies), "free body", "free bodies")
        sizes = f"L {self.L.shape[0]} by {self.L.shape[1]}, L_tau {self.L_tau.shape[0]} by {self.L_tau.shape[1]}"
        return f"projection method: {count}, {sizes}; {counted(len(self.multipliers), 'multiplier')}"


def projection_matrices(
    system: AnySystem,
    at: State | Mapping[str, float] | None = None,
    *,
    t: float = 0.0,
    inputs: Any = None,
    parameters: Parameters = None,
) -> ProjectionMatrices:
    """The matrices of the projection method for a tree of bodies at a state, with the multipliers of its joints.

    Args:
        system: a system without closed loops, a model, or the name of a library mechanism.
        at: a state, or values by name (others zero); default: the model's initial state.
        t: time, if the state is given by name.
        inputs, parameters: as for ``System.solve``.

    Raises:
        NotSupported: the mechanism has closed loops; ``reactions`` gives the forces in its joints.

    Example:
        >>> import pendula
        >>> found = projection_matrices("double-physical-pendulum", {"phi1": 0.3, "phi2": -0.2})
        >>> system = pendula.compile_system("double-physical-pendulum")
        >>> bool(abs(found.reduced_M - system.mass_matrix([0.3, -0.2])).max() < 1e-14)
        True
    """
    given = system_of(system, "projection_matrices")
    refuse_written(given, "projection_matrices")
    if given.model.closures:
        raise NotSupported(refusals.PROJECTION_OF_LOOPS)
    refuse_rotors(given.model, refusals.PROJECTION_OF_ROTORS)
    joints = given.in_joints.system
    vector = parameter_vector(joints, parameters)
    state = _state(given, joints, at, t, vector)
    return _Bodies(joints, state, inputs, vector).matrices()


def _state(given: System, joints: System, at: Any, t: float, vector: Array) -> State:
    if at is None:
        return joints.initial_state(vector, t=t)
    if isinstance(at, State):
        found = given.in_joints.read_state(at, vector) if at.layout is given.layout else at
        if found.layout.coordinates != joints.layout.coordinates:
            raise UsageError("the state belongs to another system: its coordinates have other names")
        return found
    if not isinstance(at, Mapping):
        raise UsageError(f"a state is a State or values by name, found {type(at).__name__}")
    return joints.in_joints.state(at, t=t)


class _Bodies:
    """The free bodies of a tree at a state."""

    def __init__(self, system: System, state: State, inputs: Any, vector: Array) -> None:
        self.system, self.state, self.inputs, self.vector = system, state, inputs, vector
        self.mechanism = TreeCoordinates(system.model)
        self.names = tuple(link.body for link in self.mechanism.links)
        self.order = [system.layout.bodies.index(name) for name in self.names]
        geometry = Geometry(system.model, system.layout.parameter_values(vector))
        R, r = system.poses(state.q, state.t, parameters=vector)
        self.R, origin = R[self.order], r[self.order]
        self.mass, self.S, self.J, self.to_O, self.O = [], [], [], [], []
        for k, link in enumerate(self.mechanism.links):
            m, com, inertia = geometry.mass(system.model.body(link.body))
            place = geometry.point(link.joint.child)
            c = com - place
            self.mass.append(m)
            self.S.append(m * c)
            self.J.append(inertia + m * (c @ c * np.eye(3) - np.outer(c, c)))
            self.to_O.append(-self.R[k] @ c)  # from the mass centre to O, in world axes
            self.O.append(origin[k] + self.R[k] @ place)

    def _motion(self, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """V and its rate in body axes, stacked, for speeds v and accelerations a."""
        found = self.system.body_motion(self.state.q, v, a, self.state.t, parameters=self.vector)
        V, rate = [], []
        for k, j in enumerate(self.order):
            arm, back = self.to_O[k], self.R[k].T
            w, alpha = found.angular_velocity[j], found.angular_acceleration[j]
            velocity = found.velocity[j] + np.cross(w, arm)
            acceleration = found.acceleration[j] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
            own, turn = back @ velocity, back @ w
            V += [own, turn]
            rate += [back @ acceleration - np.cross(turn, own), back @ alpha]
        return np.concatenate(V), np.concatenate(rate)

    def matrices(self) -> ProjectionMatrices:
        """All matrices of the method."""
        system, state = self.system, self.state
        n = len(system.layout.speeds)
        driven = self._motion(np.zeros(n))[0]
        L_tau = np.column_stack([self._motion(e)[0] - driven for e in np.eye(n)])
        V, bias = self._motion(state.v)
        M, Omega = self._free(V)
        Q = self._loads()
        reduced_M = L_tau.T @ M @ L_tau
        reduced_Omega, reduced_Q = -L_tau.T @ (Omega @ V + M @ bias), L_tau.T @ Q
        f = system.forces(state.q, state.v, state.t, inputs=self.inputs, parameters=self.vector)
        inside = f - reduced_Omega - reduced_Q
        inside[np.abs(inside) <= 1e-12 * max(float(np.abs(f).max(initial=0.0)), float(np.abs(reduced_Q).max()))] = 0.0
        a = np.linalg.solve(reduced_M, reduced_Omega + reduced_Q + inside)
        V_rate = L_tau @ a + bias
        extended, A, kept, rows = self._joints(L_tau)
        b = extended @ driven
        held = M @ V_rate + Omega @ V - Q
        forces = np.linalg.solve(extended.T, held)
        return ProjectionMatrices(
            M=M, Omega=Omega, Q=Q, V=V, V_rate=V_rate, L=extended[kept], L_extended=extended, A=A, b=b[kept],
            b_extended=b, L_tau=L_tau, bias=bias, driven=driven, reduced_M=reduced_M, reduced_Omega=reduced_Omega,
            reduced_Q=reduced_Q, joint_loads=inside, accelerations=a, multipliers=forces[kept],
            rows=tuple(rows[k] for k in kept), bodies=self.names, speeds=system.layout.speeds,
        )  # fmt: skip

    def _free(self, V: Array) -> tuple[Array, Array]:
        """M and Omega of the free bodies."""
        size = 6 * len(self.names)
        M, Omega = np.zeros((size, size)), np.zeros((size, size))
        for k, (m, S, J) in enumerate(zip(self.mass, self.S, self.J, strict=True)):
            own = slice(6 * k, 6 * k + 6)
            s, w = cross(S), cross(V[6 * k + 3 : 6 * k + 6])
            M[own, own] = np.block([[m * np.eye(3), -s], [s, J]])
            Omega[own, own] = np.block([[m * w, -w @ s], [s @ w, w @ J]])
        return M, Omega

    def _loads(self) -> Array:
        """Q: gravity and all loads on the free bodies, in body axes, moments about O."""
        found = ProjectionDerivation(self.mechanism)
        wrenches = found.wrenches
        m = self.mechanism
        definitions = (*drive_definitions(m), *m.tape.definitions.items())
        low = Lowering([m.t, *m.q, *m.v, *m.inputs], m.parameters, definitions)
        values, places = [], []
        for by_body in wrenches.values():
            for k, wrench in by_body.items():
                values += [low(x) for x in (*wrench.force, *wrench.moment)]
                places.append(k)
        native = compile_program(low.program, values, inputs=low.inputs(), quick=True)
        state = self.state.q, self.state.v
        u = self.system.inputs.rows(np.asarray(self.state.t), self.inputs, self.vector, state)
        row = np.concatenate([[self.state.t], self.state.q, self.state.v, np.asarray(u, dtype=float).ravel()])
        out = Compiled(native, prepared_parameters(native, self.vector)).rows(row[None])[0].reshape(-1, 6)
        Q = np.zeros(6 * len(self.names))
        for k, wrench in zip(places, out, strict=True):
            turn = self.R[k].T if found.bodies[k].flat else np.eye(3)
            Q[6 * k : 6 * k + 6] += np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
        return Q

    def _joints(self, L_tau: Array) -> tuple[Array, Array, list[int], list[str]]:
        """L_extended, A, the rows that are constraints, and the joint of every row.

        The relative velocity in a joint is written in directions of which the first are those the joint prevents: the
        body's axes, made orthogonal to the motion subspace.
        """
        size = 6 * len(self.names)
        extended, kept, names = np.zeros((size, size)), [], []
        for k, link in enumerate(self.mechanism.links):
            relative = np.zeros((6, size))
            relative[:, 6 * k : 6 * k + 6] = np.eye(6)
            if link.parent >= 0:
                p = link.parent
                turn, arm = self.R[k].T @ self.R[p], cross(self.R[p].T @ (self.O[k] - self.O[p]))
                relative[:3, 6 * p : 6 * p + 3] = -turn
                relative[:3, 6 * p + 3 : 6 * p + 6] = turn @ arm
                relative[3:, 6 * p + 3 : 6 * p + 6] = -turn
            free = _span(relative @ L_tau)
            prevented = _span(np.eye(6) - free @ free.T)
            rows = np.hstack([prevented, free]).T @ relative
            extended[6 * k : 6 * k + 6] = rows
            kept += [6 * k + j for j in range(prevented.shape[1])]
            names += 6 * [link.joint.name]
        return extended, extended @ L_tau, kept, names


def _span(columns: Array) -> Array:
    """An orthonormal basis of the space that columns span, along them in their order (Gram-Schmidt)."""
    basis: list[Array] = []
    largest = float(np.linalg.norm(columns, axis=0).max(initial=0.0))
    for column in columns.T:
        rest = column.copy()
        for _ in range(2):  # once more against rounding
            for known in basis:
                rest -= known * (known @ rest)
        size = float(np.linalg.norm(rest))
        if size > DEPENDENT * largest:
            basis.append(rest / size)
    return np.array(basis).T.reshape(len(columns), len(basis))
