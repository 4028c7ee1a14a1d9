"""Trim: inputs, motor torques or rates that hold a pose or a steady motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import is_cyclic
from pendula.analysis.equilibria.equilibrium import BALANCED, closed_state, refuse_unsteady
from pendula.analysis.equilibria.families import stationary_at
from pendula.analysis.equilibria.find import force_units
from pendula.analysis.equilibria.held_drives import held_drives
from pendula.analysis.equilibria.stationary import Stationary
from pendula.analysis.equilibria.turning import read_turning
from pendula.arguments import available, read_names, read_table
from pendula.errors import NoConvergence, UsageError
from pendula.model.quantities import number_in
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters
from pendula.system.system import System
from pendula.words import readable


@readable
@dataclass(frozen=True)
class Trim:
    """The inputs, motor torques or rates that hold a pose or a steady motion.

    Attributes:
        values: the solution by name: inputs, torques or forces of motors, rates.
        units: of the values; inputs have none, since the model does not state it.
        state: the state that is held, including the coordinates that were not given.
        inputs: values of all inputs.
        residual: largest unbalanced force, as a fraction of a typical force of the mechanism.
        also: if one rate was solved for, the other one that holds the same pose (forces are quadratic in it), such as
            the fast precession of a top; empty without.
        system: the system.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = pendula.equilibria.trim(system, {"theta": 0.5}, ["theta"])
        >>> f"{found['theta']:.4f} {found.units['theta']}"  # m g l/2 sin(0.5)
        '2.3516 N m'
    """

    values: Mapping[str, float]
    units: Mapping[str, str]
    state: State
    inputs: Mapping[str, float]
    residual: float
    also: Mapping[str, float] = field(default_factory=dict)
    system: System | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __str__(self) -> str:
        where = {n: x for n, x in self.state.as_dict().items() if x or n in self.state.layout.coordinates}
        other = f" (also {_listed(self.also, self.units)})" if self.also else ""
        return f"{_listed(self.values, self.units)}{other} holds {_listed(where, self.state.layout.units)}"


def _listed(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    return ", ".join(f"{n} = {x:.6g} {units.get(n, '')}".rstrip() for n, x in values.items())


def trim(
    system: AnySystem,
    hold: Mapping[str, Any],
    solve_for: Sequence[str],
    *,
    inputs: Any = None,
    parameters: Parameters = None,
) -> Trim:
    """The inputs, motor torques or rates that hold a pose or a steady motion.

    ``hold`` gives values of coordinates, and constant rates of cyclic coordinates (``phi_dot``). Other coordinates are
    solved for, starting from zero, so that forces on them balance and loops close. ``solve_for`` names the unknowns: an
    input; a coordinate, for the torque or force of a motor along it; a coordinate with prescribed motion, for its drive
    force; the rate of a cyclic coordinate, ``phi_dot``.

    Args:
        system: a system, a model, or the name of a library mechanism.
        hold: coordinates and rates by name, numbers or text such as "30deg".
        solve_for: names of the unknowns.
        inputs: values of the other inputs; those of the model by default.
        parameters: changes of parameters.

    Raises:
        UsageError: a name is unknown, or the solution is not unique.
        NotSupported: forces depend on time.
        NoConvergence: there is no solution; the message names the unbalanced force.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = trim(system, {"theta": 0.5}, ["theta"])  # m g l/2 sin(0.5)
        >>> round(found["theta"], 6), found.units["theta"]
        (2.351582, 'N m')
    """
    unknown = dict.fromkeys(read_names(solve_for, "solve_for"), 0.0)
    given = {**inputs, **unknown} if isinstance(inputs, Mapping) else unknown if inputs is None else inputs
    joints = system_of(system, "trim", inputs=given).in_joints.system
    asked, rng = _Asked.of(joints, solve_for), np.random.default_rng(0)
    balance = Balance.of(joints, _other_inputs(joints, asked, inputs, parameters), parameters)
    units = joints.layout.units
    hold = {n: number_in(x, units.get(n, ""), f'hold: "{n}"') for n, x in read_table(hold, "hold").items()}
    turning = read_turning(balance, {n: x for n, x in hold.items() if n in joints.layout.speeds}, rng)
    if np.any(turning.spin):
        raise UsageError(
            "trim does not hold the spin of a ball joint by quaternion.\n"
            "  Try: steady_precession(...), or Euler angles for this joint."
        )
    v = turning.rates
    for k in asked.rates:
        _check_cyclic(balance, joints.layout.speeds[k], rng)
    pose = {n: x for n, x in hold.items() if n not in joints.layout.speeds}
    turned = [n for n in pose if n in joints.layout.coordinates and _speed(joints, n) < 0]
    if turned:
        raise UsageError(
            f'trim cannot hold "{turned[0]}", whose rate is no speed of its joint.\n'
            '  Try: orientation = "zyz" (or another sequence) with speeds = "rates" for this joint.'
        )
    start = closed_state(joints, pose, balance.parameters)
    refuse_unsteady(balance, State(0.0, start.q, v, joints.layout))
    found = _Trimming(balance, asked, np.asarray(start.q, dtype=float), v, tuple(pose)).solve()
    return replace(found, system=joints)


@dataclass(frozen=True)
class _Asked:
    """The unknowns by index: inputs, speeds along which motors act, speeds that are rates, drives."""

    inputs: list[int]
    motors: list[int]
    rates: list[int]
    drives: list[int]

    @classmethod
    def of(cls, system: System, names: Sequence[str]) -> _Asked:
        layout, drives = system.layout, [d.name for d in system.drives]
        if not read_names(names, "solve_for"):
            raise UsageError(f"solve_for must be a list of names, found {names!r}")
        found = cls([], [], [], [])
        for name in names:
            if name in layout.inputs:
                found.inputs.append(layout.inputs.index(name))
            elif name in drives:
                found.drives.append(drives.index(name))
            elif name in layout.speeds:
                found.rates.append(layout.speeds.index(name))
            elif f"{name}_dot" in layout.speeds:
                found.motors.append(layout.speeds.index(f"{name}_dot"))
            else:
                known = (*layout.inputs, *layout.coordinates, *layout.speeds, *drives)
                raise UsageError(f'solve_for: "{name}" is not an input, coordinate or rate; {available(known, 12)}')
        return found

    @property
    def count(self) -> int:
        """Number of unknowns without the drives, whose forces follow from the rest."""
        return len(self.inputs) + len(self.motors) + len(self.rates)

    def split(self, unknown: Array) -> tuple[Array, Array, Array]:
        """Values of inputs, motors and rates."""
        a, b = len(self.inputs), len(self.inputs) + len(self.motors)
        return unknown[:a], unknown[a:b], unknown[b:]


def _other_inputs(system: System, asked: _Asked, inputs: Any, parameters: Parameters) -> Any:
    """Inputs as given; unknown ones start at zero, even if they depend on time in the model."""
    if not asked.inputs:
        return inputs
    zero = {system.layout.inputs[k]: 0.0 for k in asked.inputs}
    if inputs is not None and not isinstance(inputs, Mapping):
        vector = np.array(Balance.of(system, inputs, parameters).inputs, dtype=float)
        vector[asked.inputs] = 0.0
        return vector
    others = [n for n, _ in system.inputs.in_time if str(n) not in zero and str(n) not in (inputs or {})]
    if others:
        raise UsageError(
            f'the input "{others[0]}" depends on time, so it cannot be held constant.\n'
            f'  Try: inputs={{"{others[0]}": ...}} with a constant value, or solve for it.'
        )
    return {**(inputs or {}), **zero}


def _check_cyclic(balance: Balance, speed: str, rng: np.random.Generator) -> None:
    name = speed.removesuffix("_dot")
    if name not in balance.system.layout.coordinates or not is_cyclic(balance, name, rng):
        raise UsageError(f'solve_for: "{speed}" is not the rate of a cyclic coordinate, so it cannot be constant')


def _speed(system: System, coordinate: str) -> int:
    """Index of the speed that is the rate of a coordinate; -1 if there is none."""
    return system.layout.speed_of[system.layout.coordinates.index(coordinate)]


@dataclass(frozen=True)
class _Trimming:
    """One trim problem; the unknowns are the coordinates that are not held, the multipliers, and ``asked``."""

    balance: Balance
    asked: _Asked
    q: Array
    v: Array
    held: tuple[str, ...]

    @property
    def free(self) -> list[int]:
        """Speeds of the free coordinates: neither held nor moving at a constant rate."""
        system = self.balance.system
        fixed = {_speed(system, n) for n in self.held}
        fixed |= set(self.asked.rates) | set(np.flatnonzero(self.v).tolist())
        return [k for k in range(len(self.v)) if k not in fixed]

    def problem(self, base: Stationary, unknown: Array) -> tuple[Stationary, Array]:
        """The equations for some values of the unknowns, and the motors' part of the residual."""
        inputs, motors, rates = self.asked.split(unknown)
        balance = self.balance
        if self.asked.inputs:
            vector = np.array(balance.inputs, dtype=float)
            vector[self.asked.inputs] = inputs
            balance = Balance(balance.system, vector, balance.parameters)
        v, extra = self.v.copy(), np.zeros(len(self.v))
        v[self.asked.rates] = rates
        extra[self.asked.motors] = motors
        return Stationary(balance, v, base.force), extra * base.sizes / base.force

    def solve(self) -> Trim:
        from scipy.optimize import least_squares  # slow to load

        base = stationary_at(self.balance, self.q, self.v)
        free, n, m = self.free, len(self.v), self.balance.system.loop_rows

        def parts(z: Array) -> tuple[Array, Array, Array]:
            step = np.zeros(n)
            step[free] = z[: len(free)]
            return base.moved(self.q[None], step[None]), z[None, len(free) : len(free) + m], z[len(free) + m :]

        def left(z: Array) -> Array:
            q, lam, unknown = parts(z)
            these, extra = self.problem(base, unknown)
            found = these.residuals(q, lam)[0]
            found[:n] += extra
            return np.where(np.isfinite(found), found, 1e6)

        guess = np.zeros(self.asked.count)
        guess[self.asked.count - len(self.asked.rates) :] = self._typical_rate()
        z0 = np.concatenate([np.zeros(len(free)), base.multipliers(self.q[None])[0], guess])
        answer = least_squares(left, z0, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=400, x_scale="jac")
        q, _, unknown = parts(answer.x)
        rest = left(answer.x)
        if not np.abs(rest).max(initial=0.0) <= BALANCED:
            raise self._failure(base, rest, q[0])
        self._refuse_undetermined(answer.jac, len(free) + m)
        found = self._result(q[0], unknown, float(np.abs(rest).max(initial=0.0)))
        return replace(found, also=self._other_rate(base, q[0], unknown))

    def _other_rate(self, base: Stationary, q: Array, unknown: Array) -> dict[str, float]:
        """The other rate that holds a pose, if one rate alone is unknown: forces are quadratic in it."""
        if self.asked.count != 1 or not self.asked.rates or self.balance.system.loop_rows:
            return {}
        known, unit = float(unknown[0]), max(abs(float(unknown[0])), 1e-3 * self._typical_rate())

        def forces(rate: float) -> Array:
            these, _ = self.problem(base, np.array([rate]))
            return these.residuals(q[None], np.zeros((1, 0)))[0]

        low, zero, high = (forces(x) for x in (known - unit, known, known + unit))
        square, slope = (high + low) / 2 - zero, (high - low) / 2
        row = int(np.argmax(np.abs(square)))
        if abs(square[row]) <= 1e-9 * max(float(np.abs(slope).max()), 1e-300):
            return {}
        other = known - unit * float(slope[row] / square[row])
        holds = np.abs(forces(other)).max() <= BALANCED * max(1.0, (other / unit) ** 2)
        name = self.balance.system.layout.speeds[self.asked.rates[0]]
        return {name: other} if holds and abs(other - known) > 1e-6 * unit else {}

    def _typical_rate(self) -> float:
        """A typical rate: the square root of a stiffness over an inertia."""
        M = self.balance.system.mass_matrix(self.q, 0.0, parameters=self.balance.parameters)
        stiffness = float(np.abs(self.balance.changes("s", self.q)).max(initial=0.0))
        inertia = float(np.abs(M).max(initial=0.0))
        return float(np.sqrt(stiffness / inertia)) if stiffness > 0 and inertia > 0 else 1.0

    def _refuse_undetermined(self, jacobian: Array, first: int) -> None:
        """Raises UsageError if the solution is not unique."""
        scaled = jacobian / np.maximum(np.linalg.norm(jacobian, axis=0), 1e-300)
        _, sizes, right = np.linalg.svd(scaled)
        loose = right[int(np.sum(sizes > 1e-9)) :]
        if loose.size and np.abs(loose[:, first:]).max(initial=0.0) > 1e-6:
            raise UsageError(
                "the solution is not unique: more is adjusted than is held, or an adjustment has no effect.\n"
                "  Try: fewer names in solve_for, or more in hold."
            )

    def _failure(self, base: Stationary, rest: Array, q: Array) -> NoConvergence:
        n, names = len(self.v), self.balance.system.layout.speeds
        forces = rest[:n] * base.force / base.sizes
        worst = int(np.argmax(np.abs(rest)))
        unit = force_units(self.balance.system)
        what = (
            f'{forces[worst]:.6g} {unit[names[worst]]} remains on "{names[worst]}"' if worst < n else "loops stay open"
        )
        return NoConvergence(
            f"no solution holds this: at best {what}.\n"
            "  Try: another name in solve_for, or leave one of the held coordinates free.",
            last=q,
            residual=float(np.abs(rest).max()),
        )

    def _result(self, q: Array, unknown: Array, left: float) -> Trim:
        system, names = self.balance.system, self.balance.system.layout
        inputs, motors, rates = self.asked.split(unknown)
        units = force_units(system)
        values: dict[str, float] = {names.inputs[k]: float(x) for k, x in zip(self.asked.inputs, inputs, strict=True)}
        found_units: dict[str, str] = {}
        pulls = {names.speeds[k].removesuffix("_dot"): float(x) for k, x in zip(self.asked.motors, motors, strict=True)}
        values |= pulls
        found_units |= {name: units[f"{name}_dot"] for name in pulls}
        for k, x in zip(self.asked.rates, rates, strict=True):
            values[names.speeds[k]], found_units[names.speeds[k]] = float(x), names.units[names.speeds[k]]
        v = self.v.copy()
        v[self.asked.rates] = rates
        vector = system.inputs.at(0.0, self.balance.parameters) if self.balance.inputs is None else self.balance.inputs
        vector = np.array(vector, dtype=float)
        vector[self.asked.inputs] = inputs
        balance = Balance(system, vector, self.balance.parameters) if self.asked.inputs else self.balance
        for name, (force, unit) in held_drives(balance, q, v, self.asked.drives, pulls).items():
            values[name], found_units[name] = force, unit
        by_name = dict(zip(names.inputs, vector.tolist(), strict=True))
        return Trim(values, found_units, State(0.0, q, v, names), by_name, left)
