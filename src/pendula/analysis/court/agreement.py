"""Compares all formulations of a model with each other and issues a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pendula.analysis.court.expressions import NOT_COMPARED, ExpressionCheck, check_expressions
from pendula.analysis.reactions.forces import across_freedoms
from pendula.analysis.reactions.freedoms import Freedoms
from pendula.analysis.reactions.motors import undetermined_drives
from pendula.arguments import read_names
from pendula.equations.formulations.registry import formulations as known_formulations
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.system.build import compile_system
from pendula.system.first_use import expect_study
from pendula.system.joint_forces import joint_wrenches
from pendula.system.layout import Array
from pendula.system.loops.sampling import random_states
from pendula.system.parameters import typical_length
from pendula.system.system import System
from pendula.words import counted, readable

TOLERANCE = 1e-9
"""Largest relative difference that still counts as agreement."""


@readable
@dataclass(frozen=True)
class Agreement:
    """Comparison of two formulations: the largest relative difference, and where it occurs.

    Example:
        >>> import pendula
        >>> pair = pendula.check("pendulum", formulations=["lagrange", "kane"], states=5).pairs[0]
        >>> pair.a, pair.b, pair.passed
        ('lagrange', 'kane', True)
    """

    a: str
    b: str
    max_difference: float
    what: str
    """the quantity that differs most"""
    state: str
    """the state at which it differs most"""

    @property
    def where(self) -> str:
        """The quantity that differs most, and the state."""
        return f"{self.what} at {self.state}"

    @property
    def passed(self) -> bool:
        """Whether the two agree."""
        return self.max_difference <= TOLERANCE

    def __str__(self) -> str:
        verdict = "agree" if self.passed else "DISAGREE"
        return f"{self.a} and {self.b} {verdict}: {self.max_difference:.2e} in the {self.what}"


@readable
@dataclass(frozen=True)
class Certificate:
    """All pairs of formulations, compared at random consistent states.

    Example:
        >>> import pendula
        >>> found = pendula.check("pendulum", formulations=["lagrange", "kane"], states=5)
        >>> found.passed, len(found.pairs)
        (True, 1)
    """

    model: str
    formulations: tuple[str, ...]
    states: int
    pairs: tuple[Agreement, ...]
    expressions: ExpressionCheck = NOT_COMPARED

    @property
    def passed(self) -> bool:
        """Whether all agree, with each other and, in the model's own expressions, with an independent evaluation."""
        return all(pair.passed for pair in self.pairs) and self.expressions.passed

    def __str__(self) -> str:
        verdict = "agree" if all(pair.passed for pair in self.pairs) else "DISAGREE"
        lines = [f"{self.model}: {', '.join(self.formulations)} {verdict} at {counted(self.states, 'random state')}"]
        return "\n".join([*lines, *(f"  {pair}" for pair in self.pairs), str(self.expressions)])


def check(
    model: Model | str, *, formulations: Sequence[str] | None = None, states: int = 100, seed: int = 0
) -> Certificate:
    """Derives a model by several formulations and compares them at random consistent states.

    It compares the accelerations of all bodies in world axes, the mass matrix (if the coordinates are the same),
    kinetic and potential energy, power, the drive forces of prescribed motions, the joint reactions (of formulations
    that derive them) and, for closed loops, the constraint forces; each relative to its largest value. Since all
    formulations share one reader of expressions, it also compares every expression of the model, as compiled, with an
    independent evaluation in 50 digits.

    Args:
        model: a model, the name of a library mechanism, or a system.
        formulations: names of those to compare; default: all.
        states: number of random states.
        seed: of the random states.

    Example:
        >>> from pendula import library
        >>> check(library.double_pendulum(), states=10).passed
        True
    """
    model = model_of(model, "check")
    expect_study()
    chosen = () if formulations is None else read_names(formulations, "formulations")
    chosen = chosen or tuple(known_formulations())
    systems = {name: compile_system(model, name) for name in chosen}
    first = systems[chosen[0]].in_joints.system
    t, q, v = random_states(first, states, seed)
    results = {name: _quantities(system, t, q, v) for name, system in systems.items()}
    pairs = []
    for a, b in combinations(chosen, 2):
        worst, what, at = -1.0, "", 0
        for quantity in (name for name in results[a] if name in results[b]):
            (x, scale), (y, other) = results[a][quantity], results[b][quantity]
            gap = np.abs(x - y).max(axis=1, initial=0.0) / np.maximum(scale, other)
            gap = np.where(np.isfinite(gap), gap, np.inf)
            state = int(np.argmax(gap))
            if gap[state] > worst:
                worst, what, at = float(gap[state]), quantity, state
        pairs.append(Agreement(a, b, worst, what, _shown(first, t[at], q[at], v[at])))
    return Certificate(model.name, chosen, states, tuple(pairs), check_expressions(first, t, q, v, systems))


def _shown(system: System, t: float, q: Array, v: Array) -> str:
    """A state as one line of text."""
    values = [*zip(system.layout.coordinates, q, strict=True), *zip(system.layout.speeds, v, strict=True)]
    return ", ".join([f"t = {t:.6g}", *(f"{name} = {x:.6g}" for name, x in values)])


def _quantities(system: System, t: Array, q: Array, v: Array) -> dict[str, tuple[Array, Array]]:
    """The quantities to compare, one row per state, each with the scale of its differences.

    The scale of an acceleration is at least speed times angular velocity, that of an energy is the total energy, so
    that rounding errors in a quantity that vanishes do not count as a difference.
    """
    count, joints = len(t), (q, v)
    q, v = system.in_joints.place(q, v, t)
    a = system.accelerations(q, v, t)
    motion = system.body_motion(q, v, a, t)
    energies = system.energies(q, v, t)
    speed, turning = _size(motion.velocity), _size(motion.angular_velocity)
    linear, length = _size(motion.acceleration), typical_length(system)
    total = energies.kinetic + np.abs(energies.potential) + 1e-300
    found = {
        "acceleration of the mass centres": _against(motion.acceleration, speed * turning),
        "angular acceleration of the bodies": _against(motion.angular_acceleration, turning**2 + linear / length),
        "kinetic energy": (energies.kinetic[:, None], total),
        "potential energy": (energies.potential[:, None], total),
        "power of loads": _against(system.power(q, v, t)[:, None], total),
    }
    if system.in_joints.same:  # the same coordinates as the others
        mass = system.mass_matrix(q, t).reshape(count, -1)
        found["mass matrix"] = (mass, _size(mass))
    if system.drives:
        open_to_choice = undetermined_drives(system.in_joints.system, joints[0], t, system.parameters)
        forces = np.where(open_to_choice, 0.0, system.drive_forces(q, v, t))
        found["force of prescribed motions"] = _against(forces, total / max(length, 1.0))
    found |= _reactions(system, t, *joints, total)
    if system.loop_rows and system.in_joints.same:
        lam = system.multipliers(q, v, t)
        forces = np.einsum("kri,kr->ki", system.constraint_jacobian(q, t), lam)
        found["constraint forces"] = _against(forces, total / max(length, 1.0))
    return found


def _reactions(system: System, t: Array, q: Array, v: Array, floor: Array) -> dict[str, tuple[Array, Array]]:
    """Joint reactions; none if redundant constraints leave them undetermined."""
    eq = system.equations
    if not eq.transmitted:
        return {}
    own = system.in_joints.place(q, v, t)
    carried = joint_wrenches(system, *own, t)
    freedoms = Freedoms(system.in_joints.system, q, t, system.parameters)
    if freedoms.self_balanced(in_plane=freedoms.planar)[0]:
        return {}
    force, torque = across_freedoms(freedoms, [x.joint for x in eq.transmitted], carried)
    size = np.maximum(_size(carried.force), _size(carried.torque) / freedoms.length)
    size = np.maximum(size, floor / freedoms.length)
    return {
        "reaction forces": _against(force, size),
        "reaction torques": _against(torque, size * freedoms.length),
    }


def _size(x: Array) -> Array:
    return np.abs(x.reshape(len(x), -1)).max(axis=1, initial=0.0)


def _against(x: Array, floor: Array) -> tuple[Array, Array]:
    """Rows of x with their scale: their largest entry, or the floor if that is larger."""
    flat = x.reshape(len(x), -1)
    return flat, np.maximum(np.maximum(_size(flat), floor), 1e-300)
