"""Joint reactions along a motion: the constraint wrench on each joint's child body, and the drive forces of motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pendula.analysis.reactions.couplings import coupling_forces
from pendula.analysis.reactions.freedoms import DEPENDENT, Freedoms
from pendula.analysis.reactions.limits import near_singular, with_limits
from pendula.analysis.reactions.motors import motor_forces, motor_unit
from pendula.arguments import available
from pendula.equations.derive import cannot
from pendula.equations.formulations.newton_euler import NewtonEuler
from pendula.equations.formulations.registry import formulation_named
from pendula.errors import UsageError
from pendula.library.lookup import shown
from pendula.model.units import Units
from pendula.simulation.charts.regular import regular_run
from pendula.simulation.trajectory import Trajectory
from pendula.system.build import compile_system
from pendula.system.entry import refuse_written
from pendula.system.joint_forces import Wrenches, joint_wrenches
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable

ROUNDING = 1e-11
"""Forces below this fraction of the largest are rounding errors."""

_AXES = ("world", "body")


@dataclass(frozen=True)
class Indeterminate:
    """A statically indeterminate component of a reaction, and the reason.

    Example:
        >>> import pendula
        >>> pendula.reactions(pendula.simulate("four-bar", 0.1, samples=2)).indeterminate
        ()
    """

    joint: str
    component: str
    """such as "force z, world axes" """
    why: str


@readable
@dataclass(frozen=True)
class Peak:
    """Largest force and torque of a joint over the samples of a run; None if they are indeterminate at any of them.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> pendula.reactions(run).peaks[0].joint
        'theta'
    """

    joint: str
    force: float | None
    force_at: float | None
    torque: float | None
    torque_at: float | None
    units: Units

    def __str__(self) -> str:
        force = _in_words(self.force, self.units.force, self.force_at)
        return (
            f"{self.joint}: force at most {force}, torque {_in_words(self.torque, self.units.torque, self.torque_at)}"
        )


def _in_words(size: float | None, unit: str, at: float | None) -> str:
    if size is None:
        return "not determined"
    return f"{size:.4g} {unit} at t = {at:.4g}" if size else f"0 {unit}"


@readable
@dataclass(frozen=True, eq=False)
class JointReaction:
    """The reaction of one joint over time, from its parent side on its child side; arrays have shape (times, 3).

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> pendula.reactions(run)["theta"].force.shape
        (3, 3)
    """

    joint: str
    t: Array
    force: Array
    """in world axes"""
    torque: Array
    """about the child side's point, in world axes"""
    force_body: Array
    """in the axes of the child body"""
    torque_body: Array
    point: Array
    """the child side's point in world axes"""
    units: Units

    @property
    def force_size(self) -> Array:
        """|force| over time."""
        return np.linalg.norm(self.force, axis=1)

    @property
    def torque_size(self) -> Array:
        """|torque| over time."""
        return np.linalg.norm(self.torque, axis=1)

    def __str__(self) -> str:
        force, torque = (float(np.nanmax(size, initial=0.0)) for size in (self.force_size, self.torque_size))
        most = f"force at most {force:.4g} {self.units.force}, torque {torque:.4g} {self.units.torque}"
        return f"{self.joint}: {most}, at {counted(len(self.t), 'time')}"


@readable
@dataclass(frozen=True, eq=False)
class Reactions(Tabular):
    """Reactions of all joints over time; ``reactions["theta1"]`` is the reaction of one joint.

    Forces and torques act from the parent side on the child side, at the child side's point. They exclude springs,
    friction and other loads along the free directions (motion subspace) of a joint. They include the drive force of a
    prescribed motion, which ``motors`` also lists separately. A coupling has no sides: it acts inside the joints whose
    coordinates it uses, so ``couplings`` has its generalized force on each of them, and ``joints`` omits it.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> pendula.reactions(run).joints
        ('theta',)
    """

    t: Array
    joints: tuple[str, ...]
    force_world: Array
    """(times, joints, 3); nan where indeterminate"""
    torque_world: Array
    force_body: Array
    """in the axes of each joint's child body"""
    torque_body: Array
    points: Array
    """child side's points in world axes (times, joints, 3)"""
    motors: Mapping[str, Array]
    """prescribed motion -> its drive force or torque over time (for explicit time in a chart: power); nan where
    indeterminate"""
    motor_units: Mapping[str, str]
    couplings: Mapping[str, Mapping[str, Array]]
    """coupling -> coordinate -> its force or torque on that coordinate over time; nan where indeterminate"""
    coupling_units: Mapping[str, str]
    """coordinate -> unit of the force or torque of couplings on it"""
    indeterminate: tuple[Indeterminate, ...]
    planar: bool
    """whether motion and loads stay in the x-y plane, so that Fz, Tx and Ty are zero"""
    length: float
    """typical length of the mechanism, by which torques are compared with forces"""
    largest: float
    """magnitude of the largest force, or torque over length, in any joint"""
    formulation: str
    """the formulation that derived the reactions"""
    simulated_by: str
    """the formulation that the run used"""
    model: str
    units: Units

    def __getitem__(self, joint: str) -> JointReaction:
        if joint in self.couplings:
            raise UsageError(f'"{joint}" is a coupling, which acts on coordinates; its forces are couplings["{joint}"]')
        if joint not in self.joints:
            raise UsageError(f'there is no joint "{joint}"; {available(self.joints)}')
        k = self.joints.index(joint)
        return JointReaction(
            joint, self.t, self.force_world[:, k], self.torque_world[:, k], self.force_body[:, k],
            self.torque_body[:, k], self.points[:, k], self.units,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def peaks(self) -> tuple[Peak, ...]:
        """Largest force and torque of every joint, and when."""
        found, floor = [], ROUNDING * self.largest
        for name in self.joints:
            force, torque = self[name].force_size, self[name].torque_size
            force, torque = np.where(force < floor, 0.0, force), np.where(torque < floor * self.length, 0.0, torque)
            found.append(Peak(name, *_largest(self.t, force), *_largest(self.t, torque), self.units))
        return tuple(found)

    def __str__(self) -> str:
        lines = [
            f"{self.model}: reactions of {counted(len(self.joints), 'joint')} at {counted(len(self), 'time')}, "
            f"by {self.formulation}"
        ]
        lines += [f"  {peak}" for peak in self.peaks[:12]]
        for name, forces in self.couplings.items():
            parts = [f"{most} on {coordinate}" for coordinate, most in self._largest_of_coupling(forces).items()]
            lines.append(f"  {name} (coupling): at most {', '.join(parts)}")
        return "\n".join(lines)

    def _largest_of_coupling(self, forces: Mapping[str, Array]) -> dict[str, str]:
        """Coordinate -> the force or torque of largest size, with its sign and unit."""
        found = {}
        for name, values in forces.items():
            known = np.all(np.isfinite(values))
            most = f"{values[np.argmax(np.abs(values))]:.4g} {self.coupling_units[name]}" if known else "not determined"
            found[name] = most.rstrip()
        return found


def reactions(run: Trajectory, *, formulation: str | None = None) -> Reactions:
    """The reaction force and torque (constraint wrench) of every joint along a motion, at the samples of the run.

    Redundant constraints around a loop can make a component statically indeterminate. That component is nan and is
    named in ``indeterminate``. ``Reactions.formulation`` names the formulation that derived the reactions. In singular
    poses that the run passes, reactions are their limits along the motion; those that grow without bound are nan.

    Args:
        run: a run returned by :func:`pendula.simulate`.
        formulation: one that derives reactions; default: that of the run, or Newton-Euler if that does not.

    Raises:
        UsageError: the run stored no states.
        NotSupported: the formulation does not derive reactions; the message names those that do.
        SingularPose: accelerations are not determined at a state of the run.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum(start=0))
        >>> hanging = pendula.reactions(pendula.simulate(system, 1.0, samples=3))
        >>> hanging["theta"].force[0, 1].round(3), hanging.formulation  # its weight
        (np.float64(9.81), 'newton-euler')
    """
    if not isinstance(run, Trajectory):
        raise UsageError(f"reactions takes a run, found {shown(run)}; use simulate(system, duration)")
    refuse_written(run.system, "reactions")
    run = regular_run(run)
    near = near_singular(run)
    if np.any(near >= 0) and np.any(near < 0):
        return with_limits(run, near, lambda one: reactions(one, formulation=formulation))
    solver = _solver(run.system, formulation)
    t, p = run.t, run.parameters
    if not len(t):
        raise UsageError("the run stored no states, so there are no reactions")
    found = _across_joints(solver, t, *run.joints, p)
    freedoms, names, in_axes = found.freedoms, found.names, found.in_axes
    notes = found.notes
    motors, motor_units = motor_forces(solver, t, *run.joints, p)
    couplings, kinds = coupling_forces(solver.in_joints.system, *run.joints, t, p)
    notes += (*_undetermined_motors(motors), *_undetermined(couplings))
    units = solver.model.unit_names
    return Reactions(
        t=t,
        joints=names,
        force_world=in_axes["world"][0],
        torque_world=in_axes["world"][1],
        force_body=in_axes["body"][0],
        torque_body=in_axes["body"][1],
        points=np.stack([freedoms.children[name].point for name in names], axis=1),
        motors=motors,
        motor_units=motor_units,
        couplings=couplings,
        coupling_units={name: motor_unit(kind, units) for name, kind in kinds.items()},
        indeterminate=notes,
        planar=found.planar,
        length=freedoms.length,
        largest=found.largest,
        formulation=solver.equations.formulation,
        simulated_by=run.system.formulation,
        model=solver.model.name,
        units=units,
    )


@dataclass(frozen=True, eq=False)
class _Across:
    """Wrenches of joints across their motion subspaces, nan where indeterminate."""

    names: tuple[str, ...]
    in_axes: Mapping[str, tuple[Array, ...]]
    """"world" or "body" -> forces and torques (times, joints, 3)"""
    notes: tuple[Indeterminate, ...]
    planar: bool
    largest: float
    freedoms: Freedoms


def _across_joints(solver: System, t: Array, q: Array, v: Array, parameters: Array) -> _Across:
    """The constraint wrenches of all joints at some states, given in the coordinates of the joints."""
    own = solver.in_joints.place(q, v, t, parameters=parameters)
    sided = [k for k, x in enumerate(solver.equations.transmitted) if solver.model.joint(x.joint).has_sides]
    names = tuple(solver.equations.transmitted[k].joint for k in sided)
    carried = Wrenches(*(x[:, sided] for x in joint_wrenches(solver, *own, t, parameters=parameters)))
    freedoms = Freedoms(solver.in_joints.system, q, t, parameters)
    force, torque = across_freedoms(freedoms, names, carried)
    axes = np.stack([freedoms.children[name].R for name in names], axis=1)
    in_axes = {
        "world": (force, torque),
        "body": tuple(np.einsum("tjab,tja->tjb", axes, x) for x in (force, torque)),
    }
    planar = freedoms.planar and not _loads_across(force, torque, freedoms.length)
    notes = _blank(in_axes, names, axes, freedoms, in_plane=planar)
    largest = max(float(np.abs(x).max(initial=0.0)) for x in (carried.force, carried.torque / freedoms.length))
    return _Across(names, in_axes, notes, planar, largest, freedoms)


def undetermined_forces(solver: System, t: Array, q: Array, v: Array) -> dict[str, Array]:
    """Joint -> whether each component of its force in world axes is undetermined, shape (times, 3).

    Args:
        solver: a system whose formulation derives reactions.
        t, q, v: states, in the coordinates of the joints.
    """
    found = _across_joints(solver, t, q, v, solver.parameters)
    return {name: np.isnan(found.in_axes["world"][0][:, k]) for k, name in enumerate(found.names)}


def across_freedoms(freedoms: Freedoms, names: Sequence[str], carried: Wrenches) -> tuple[Array, Array]:
    """Transmitted wrenches without their components along the motion subspaces: forces, torques (times, joints, 3)."""
    force, torque = np.array(carried.force), np.array(carried.torque)
    for k, name in enumerate(names):
        force[:, k], torque[:, k] = freedoms.across(name, carried.force[:, k], carried.torque[:, k])
    return force, torque


def _solver(system: System, formulation: str | None) -> System:
    """A system of the same model, with the inputs of the run, whose formulation derives the joint wrenches."""
    own = system.formulation if system.equations.transmitted else NewtonEuler.name
    name = own if formulation is None else formulation
    if not formulation_named(name).support.joint_forces:
        raise cannot(name, "joint_forces")
    if system.equations.formulation == name:
        return system
    return system.inputs.handed_on(compile_system(system.model, name))


def _loads_across(force: Array, torque: Array, length: float) -> bool:
    """Whether a planar mechanism carries out-of-plane loads."""
    wrench = np.concatenate([force, torque / length], axis=-1)
    return bool(np.abs(wrench[..., [2, 3, 4]]).max(initial=0.0) > ROUNDING * np.abs(wrench).max(initial=0.0))


def _blank(
    in_axes: Mapping[str, tuple[Array, ...]],
    names: tuple[str, ...],
    axes: Array,
    freedoms: Freedoms,
    *,
    in_plane: bool,
) -> tuple[Indeterminate, ...]:
    """Writes nan into the components that self-balancing forces of loops can change, and lists them."""
    sets, takers = freedoms.self_balanced(in_plane=in_plane)
    if not sets:
        return ()
    held = ", ".join(dict.fromkeys(name for group in takers for name in group))
    why = f"the joints around the loops closed by {held} can carry self-balancing forces of any size"
    notes = []
    for frame in _AXES:
        for which, array in zip(("force", "torque"), in_axes[frame], strict=True):
            changes = np.zeros(array.shape)
            for shares in sets:
                part = slice(0, 3) if which == "force" else slice(3, 6)
                added = np.stack([shares[name][:, part] for name in names], axis=1)
                added = added if which == "force" else added / freedoms.length
                added = added if frame == "world" else np.einsum("tjab,tja->tjb", axes, added)
                changes = np.maximum(changes, np.abs(added))
            lost = changes > DEPENDENT
            array[lost] = np.nan
            for k, i in np.argwhere(lost.any(axis=0)):
                share = lost[:, k, i].mean()
                when = "" if share == 1 else f" (at {share:.0%} of the times)"
                notes.append(Indeterminate(names[k], f"{which} {'xyz'[i]}, {frame} axes", why + when))
    return tuple(notes)


def _undetermined(couplings: Mapping[str, Mapping[str, Array]]) -> tuple[Indeterminate, ...]:
    """The forces of couplings that the equations leave open."""
    why = "the condition of the coupling follows from those of other closing joints, which can share its force"
    return tuple(
        Indeterminate(name, f"force on {coordinate}", why)
        for name, forces in couplings.items()
        for coordinate, values in forces.items()
        if np.isnan(values).any()
    )


def _undetermined_motors(motors: Mapping[str, Array]) -> tuple[Indeterminate, ...]:
    """The drive forces that the equations leave open."""
    why = "closed loops join this prescribed motion to others, and their motors can work against each other"
    return tuple(
        Indeterminate(name, "force of its motor", why) for name, values in motors.items() if np.isnan(values).any()
    )


def _largest(t: Array, size: Array) -> tuple[float | None, float | None]:
    if not np.all(np.isfinite(size)):
        return None, None
    k = int(np.argmax(size))
    return float(size[k]), float(t[k])
