"""Integrals of motion: momenta that the symmetries of a mechanism keep, and its energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.analysis.symmetry.find import Symmetry, find_symmetries
from pendula.analysis.symmetry.geometry import Geometry
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.simulation.trajectory import Trajectory
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.system import System
from pendula.words import readable

MOST_WRITTEN = 4
"""largest number of speeds for which momenta of cyclic coordinates are written as formulas"""


@readable
@dataclass(frozen=True)
class Integral:
    """One integral of motion.

    Attributes:
        name: ``L_z`` for a moment of momentum about a fixed axis, ``P_x`` for a momentum, ``L_top`` for the moment of
            momentum of a body about its own axis, ``E`` for the energy.
        meaning: what it is, in words.
        formula: how it is computed; for a cyclic coordinate of a small mechanism its momentum as an expression.
        unit: its unit.
        coordinate: the cyclic coordinate whose momentum it is, up to its sign; empty if there is none.
        symmetry: the motion that leaves the mechanism unchanged; None for the energy.

    Example:
        >>> import pendula
        >>> found = pendula.integrals("spherical-pendulum")["L_z"]
        >>> found.coordinate, found.meaning
        ('phi', 'moment of momentum about z')
        >>> found.formula
        'l**2*m*phi_dot*sin(theta)**2'
    """

    name: str
    meaning: str
    formula: str
    unit: str
    coordinate: str = ""
    symmetry: Symmetry | None = None

    def __str__(self) -> str:
        cyclic = f" (of the cyclic coordinate {self.coordinate})" if self.coordinate else ""
        return f"{self.name}: {self.meaning}{cyclic} = {self.formula}"


@readable
@dataclass(frozen=True)
class Integrals:
    """All integrals of motion that the description of a mechanism shows.

    Attributes:
        all: the integrals.
        system: the system.

    Example:
        >>> import pendula
        >>> found = pendula.integrals("heavy-top")
        >>> found.names
        ('L_z', 'L_top', 'E')
        >>> run = pendula.simulate("heavy-top", 1.0, tol=1e-9)
        >>> max(found.drift(run).values()) < 1e-7
        True
    """

    all: tuple[Integral, ...]
    system: System

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the integrals."""
        return tuple(one.name for one in self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Integral]:
        return iter(self.all)

    def __getitem__(self, name: str) -> Integral:
        for one in self.all:
            if name == one.name or (one.coordinate and name in (one.coordinate, f"p_{one.coordinate}")):
                return one
        raise UsageError(f'there is no integral "{name}"; {available(self.names)}')

    def values(self, of: State | Mapping[str, float] | Trajectory, *, parameters: Parameters = None) -> dict[str, Any]:
        """The values by name: numbers at a state, arrays along a run.

        Args:
            of: a state, values of coordinates and speeds by name (others zero), or a run.
            parameters: changes of parameters, for a state.
        """
        q, v, t, vector = self._states(of, parameters)
        found = {}
        for one in self.all:
            total = _parts(self.system, one, q, v, t, vector)[0].sum(axis=-1)
            found[one.name] = total if isinstance(of, Trajectory) else float(total)
        return found

    def drift(self, run: Trajectory) -> dict[str, float]:
        """How much each integral changes along a run, relative to the size of its parts.

        For a moment of momentum these are the vectors I w and m r x v of all bodies, so that even a component that is
        zero has a scale; for the energy they are kinetic and potential energy.
        """
        q, v, t, vector = self._states(run, None)
        found = {}
        for one in self.all:
            shares, sizes = _parts(self.system, one, q, v, t, vector)
            total, size = shares.sum(axis=-1), sizes.sum(axis=-1).max(initial=0.0)
            found[one.name] = float(np.abs(total - total[0]).max() / size) if size else 0.0
        return found

    def _states(self, of: Any, parameters: Parameters) -> tuple[Array, Array, Any, Array]:
        if isinstance(of, Trajectory):
            if of.system.model is not self.system.model and of.layout.coordinates != self.system.layout.coordinates:
                raise UsageError("the run belongs to another mechanism than these integrals")
            return of.q, of.v, of.t, of.parameters
        state = of if isinstance(of, State) else self.system.state(of)
        return state.q, state.v, state.t, parameter_vector(self.system, parameters)

    def __str__(self) -> str:
        if not self.all:
            return f"{self.system.model.name}: no integrals of motion were found"
        return "\n".join([f"{self.system.model.name}: integrals of motion", *(f"  {one}" for one in self.all)])


def integrals(system: AnySystem, *, parameters: Parameters = None) -> Integrals:
    """The integrals of motion of a mechanism: momenta of its symmetries, and the energy.

    The symmetries follow from the description of the mechanism, in any chart: rotations about the vertical (about all
    axes without gravity), translations, and spins of bodies of revolution. They are the same with Euler angles, where a
    coordinate may be cyclic, and with quaternions, where none is.

    Args:
        system: a system, a model, or the name of a library mechanism.
        parameters: changes of parameters, such as equal inertias.

    Example:
        >>> import pendula
        >>> print(pendula.integrals("free-body"))
        free body: integrals of motion
          L_x: moment of momentum about x = sum of (I w + m r x v).x over box
          L_y: moment of momentum about y = sum of (I w + m r x v).y over box
          L_z: moment of momentum about z = sum of (I w + m r x v).z over box
          P_x: momentum along x (of the cyclic coordinate box_x) = sum of m v.x over box
          P_y: momentum along y (of the cyclic coordinate box_y) = sum of m v.y over box
          P_z: momentum along z (of the cyclic coordinate box_z) = sum of m v.z over box
          E: energy = T + V
    """
    found = system_of(system, "integrals")
    found.inputs.refuse_over_time("integrals")
    vector = parameter_vector(found, parameters)
    values = found.layout.parameter_values(vector)
    entries = [_written(found, one, vector) for one in momenta(found.model, values)]
    if not found.has_power and not found.drives:
        entries.append(Integral("E", "energy", "T + V", found.model.unit_names.energy))
    return Integrals(tuple(entries), found)


def momenta(model: Model, values: Mapping[str, float] | None = None) -> list[Integral]:
    """The momenta that a mechanism keeps, with formulas in words; nothing is derived or compiled.

    Example:
        >>> import pendula
        >>> [one.name for one in momenta(pendula.library.heavy_top())]
        ['L_z', 'L_top']
    """
    taken: dict[str, int] = {}
    return [_integral(model, symmetry, taken) for symmetry in find_symmetries(model, values)]


def _integral(model: Model, symmetry: Symmetry, taken: dict[str, int]) -> Integral:
    units = model.unit_names
    along, bodies = symmetry.direction, ", ".join(symmetry.bodies)
    turning = f"{units.mass} {units.length}^2/{units.time}"
    if symmetry.kind == "shift":
        name, meaning, formula = f"P_{along}", f"momentum along {along}", f"sum of m v.{along} over {bodies}"
        turning = f"{units.mass} {units.length}/{units.time}"
    elif symmetry.kind == "spin":
        name = f"L_{symmetry.bodies[0]}"
        meaning = f"moment of momentum of {symmetry.bodies[0]} about its axis {along}"
        formula = f"(I w).{along} in axes of {symmetry.bodies[0]}"
    else:
        point = symmetry.point
        where = f" through ({', '.join(f'{x:.4g}' for x in point)})" if any(point) else ""
        name, meaning = f"L_{along}", f"moment of momentum about {along}{where}"
        formula = f"sum of (I w + m r x v).{along} over {bodies}"
    taken[name] = taken.get(name, 0) + 1
    if taken[name] > 1:
        name = f"{name}_{taken[name]}"
    return Integral(name, meaning, formula, turning, symmetry.coordinate, symmetry)


def _written(system: System, one: Integral, parameters: Array) -> Integral:
    """The integral with the momentum of its cyclic coordinate as an expression, if the mechanism is small."""
    model = system.model
    if not one.coordinate or len(model.speeds) > MOST_WRITTEN or any(j.has_sides for j in model.closures):
        return one
    from pendula.equations.cyclic.routh import momentum_text
    from pendula.equations.derive import derive

    sign = _sign(system.in_joints.system, one, parameters)
    return replace(one, formula=momentum_text(derive(model, "lagrange"), one.coordinate, sign) or one.formula)


def _sign(system: System, one: Integral, parameters: Array) -> int:
    """1 if the cyclic coordinate moves the bodies along the axis of the symmetry, -1 if against it."""
    q = system.initial_state().q
    q = q + np.random.default_rng(0).uniform(0.1, 0.4, size=q.size)  # away from poles of the chart
    v = np.zeros(len(system.layout.speeds))
    rest = _parts(system, one, q, v, 0.0, parameters)[0].sum()
    v[system.layout.speeds.index(f"{one.coordinate}_dot")] = 1.0
    return -1 if _parts(system, one, q, v, 0.0, parameters)[0].sum() < rest else 1


def _parts(system: System, one: Integral, q: Array, v: Array, t: Any, parameters: Array) -> tuple[Array, Array]:
    """The parts of an integral at some states, by body, and the sizes of the vectors whose components they are."""
    if one.symmetry is None:
        found = system.energies(q, v, t, parameters=parameters)
        both = np.stack([found.kinetic, found.potential], axis=-1)
        return both, np.abs(both)
    symmetry = one.symmetry
    geometry = Geometry(system.model, system.layout.parameter_values(parameters))
    R, origin = system.poses(q, t, parameters=parameters)
    motion = system.body_motion(q, v, t=t, parameters=parameters)
    axis, point = np.array(symmetry.axis), np.array(symmetry.point)
    shares, sizes = [], []
    for k, name in enumerate(system.layout.bodies):
        if name not in symmetry.bodies:
            continue
        mass, com, inertia = geometry.mass(system.model.body(name))
        turn, omega, velocity = R[..., k, :, :], motion.angular_velocity[..., k, :], motion.velocity[..., k, :]
        if symmetry.kind == "shift":
            shares.append(mass * velocity @ axis)
            sizes.append(mass * np.linalg.norm(velocity, axis=-1))
            continue
        own = np.einsum("ij,...kj,...k->...i", inertia, turn, omega)  # I w in body axes
        if symmetry.kind == "spin":
            shares.append(own @ axis)
            sizes.append(np.linalg.norm(own, axis=-1))
            continue
        arm = origin[..., k, :] + turn @ com - point
        orbital = mass * np.cross(arm, velocity)
        shares.append(np.einsum("...ij,...j->...i", turn, own) @ axis + orbital @ axis)
        sizes.append(np.linalg.norm(own, axis=-1) + np.linalg.norm(orbital, axis=-1))
    return np.stack(shares, axis=-1), np.stack(sizes, axis=-1)
