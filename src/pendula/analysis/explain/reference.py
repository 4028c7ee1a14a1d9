"""Independent values for the formulas of a story, at random consistent states.

Positions come from :mod:`pendula.analysis.explain.walk`, velocities from differentiated positions, masses from the
model as numbers, and everything else from the equations of another formulation.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pendula.analysis.explain.walk import walk
from pendula.analysis.reactions.forces import across_freedoms
from pendula.analysis.reactions.freedoms import Freedoms
from pendula.analysis.symmetry.geometry import Geometry
from pendula.model.model import Model
from pendula.system.build import compile_system
from pendula.system.joint_forces import joint_wrenches
from pendula.system.loops.sampling import random_states
from pendula.system.system import BodyMotion, System

Array = Any

TINY = 1e-300


class Reference:
    """Values by another formulation at random states.

    Attributes:
        system: the other formulation, in the joints' coordinates.
        t, q, v: the states.
        a: accelerations by the other formulation.
    """

    def __init__(self, model: Model, formulation: str, states: int, seed: int) -> None:
        self.model = model
        self.formulation = formulation
        self.system: System = compile_system(model, formulation)
        self.t, self.q, self.v = random_states(self.system, states, seed)
        self.a = self.system.accelerations(self.q, self.v, self.t)
        self.bodies = list(self.system.layout.bodies)
        self.geometry = Geometry(model, model.parameter_values)

    # -- numbers of the model -------------------------------------------------------------------

    @cached_property
    def _walks(self) -> list[Any]:
        names = self.system.layout.coordinates
        return [
            walk(self.model, dict(zip(names, q.tolist(), strict=True)), float(t))
            for t, q in zip(self.t, self.q, strict=True)
        ]

    def R(self, body: str) -> Array:
        """Rotation matrices of a body, by the walk."""
        return np.array([w.frames[body].R for w in self._walks])

    def r(self, body: str) -> Array:
        """Origins of a body, by the walk."""
        return np.array([w.frames[body].r for w in self._walks])

    def com(self, body: str) -> Array:
        """Mass centre in body axes."""
        return self.geometry.mass(self.model.body(body))[1]

    def mass(self, body: str) -> float:
        """Mass of a body."""
        return self.geometry.mass(self.model.body(body))[0]

    def inertia(self, body: str) -> Array:
        """Inertia about the mass centre in body axes."""
        return self.geometry.mass(self.model.body(body))[2]

    def world_inertia(self, body: str) -> Array:
        """Inertia about the mass centre in world axes."""
        R = self.R(body)
        return R @ self.inertia(body) @ R.transpose(0, 2, 1)

    def center(self, body: str) -> Array:
        """Mass centres of a body in world axes, by the walk."""
        return self.r(body) + self.R(body) @ self.com(body)

    def hinge(self, body: str) -> Array:
        """Vector from a body's origin to its side of its inboard joint, in body axes."""
        return self.geometry.point(self.geometry.inboard(body).child)

    # -- motion ---------------------------------------------------------------------------------

    def motion(self, v: Array, a: Array) -> BodyMotion:
        """Motion of the bodies for some speeds and accelerations, from differentiated positions."""
        return self.system.body_motion(self.q, np.broadcast_to(v, self.v.shape), a, self.t)

    @cached_property
    def moving(self) -> BodyMotion:
        """Motion with the accelerations of the other formulation."""
        return self.motion(self.v, self.a)

    @cached_property
    def steady(self) -> BodyMotion:
        """Motion at constant speeds."""
        return self.motion(self.v, np.zeros_like(self.a))

    def partial(self, k: int) -> tuple[Array, Array]:
        """Angular velocities and velocities of all bodies per unit of speed k."""
        unit = np.eye(self.v.shape[1])[k]
        zero = np.zeros_like(self.a)
        one, none = self.motion(unit, zero), self.motion(0 * unit, zero)
        return one.angular_velocity - none.angular_velocity, one.velocity - none.velocity

    def of(self, body: str, field: Array) -> Array:
        """One body of an array over all bodies."""
        return field[:, self.bodies.index(body)]

    def axes(self, body: str, where: str, vectors: Array) -> Array:
        """World vectors in world or body axes."""
        return vectors if where == "world" else np.einsum("sji,sj->si", self.R(body), vectors)

    def twist_rate(self, body: str, motion: BodyMotion) -> Array:
        """I alpha + omega x I omega in world axes."""
        inertia, w = self.world_inertia(body), self.of(body, motion.angular_velocity)
        alpha = self.of(body, motion.angular_acceleration)
        spin = np.einsum("sij,sj->si", inertia, w)
        return np.einsum("sij,sj->si", inertia, alpha) + np.cross(w, spin)

    # -- other formulations ---------------------------------------------------------------------

    def kinetic(self, v: Array) -> Array:
        """Kinetic energy by the other formulation."""
        return self.system.energies(self.q, v, self.t).kinetic

    @cached_property
    def parts(self) -> dict[str, Array]:
        """Generalized forces by part."""
        eq, system = self.system.equations, self.system
        from pendula.system.code.rows import state_rows

        u = system.inputs.rows(self.t, None, system.parameters)
        rows, _ = state_rows(system.layout, self.q, self.v, self.t, u)
        found = {}
        for part, column in eq.parts.free.items():
            program = system.programs.block(f"part {part}", system.parameters, lambda column=column: list(column))  # type: ignore[misc]
            found[part] = program.rows(rows)
        return found

    @cached_property
    def mass_matrix(self) -> Array:
        """Mass matrix by the other formulation."""
        return self.system.mass_matrix(self.q, self.t)

    def reactions(self, story: System, other: str) -> dict[str, tuple[Array, Array, float]]:
        """By joint: reaction force of the story's equations, of another formulation, and the largest of all.

        Empty if redundant constraints leave them undetermined.
        """
        system = compile_system(self.model, other)
        freedoms = Freedoms(self.system, self.q, self.t, self.system.parameters)
        if freedoms.self_balanced(in_plane=freedoms.planar)[0]:
            return {}
        found = []
        for one in (story, system):
            carried = joint_wrenches(one, *one.in_joints.place(self.q, self.v, self.t), self.t)
            names = [x.joint for x in one.equations.transmitted]
            force, _ = across_freedoms(freedoms, names, carried)
            found.append({name: force[:, k] for k, name in enumerate(names)})
        scale = max((float(np.abs(x).max(initial=0.0)) for x in found[1].values()), default=0.0)
        return {name: (force, found[1][name], scale) for name, force in found[0].items()}
