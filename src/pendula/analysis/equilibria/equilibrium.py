"""Equilibria and steady motions: the result type of the search and the starting point of linearization."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.charts import balanced_nearby, is_singular
from pendula.analysis.equilibria.families import find_directions, stationary_at
from pendula.analysis.equilibria.poles import at_pole, in_quaternions
from pendula.analysis.equilibria.spins import with_spins
from pendula.analysis.equilibria.stationary import Stationary
from pendula.analysis.equilibria.turning import read_turning
from pendula.analysis.linear.kinks import kink_at
from pendula.arguments import read_table
from pendula.errors import LoopNotClosed, NotAnEquilibrium, NotSupported
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, Layout, State
from pendula.system.loops.assembly import assemble, not_kept
from pendula.system.orientation.singularities import Nearest, nearest_singularity, singularities
from pendula.system.parameters import Parameters, typical_steps
from pendula.system.system import System, has_gaps
from pendula.words import counted, readable, some

BALANCED = 1e-8
"""unbalanced forces up to this, relative to :meth:`Balance.scale`, are rounding errors"""
NEUTRAL = 1e-8
"""stiffness along a direction up to this, relative to the summands it came from, counts as zero"""
GRADED = 1e-6
"""entries of the stiffness below this fraction of the largest count as this fraction: rounding may be that large"""
WEAK = 1e-5
"""an equilibrium is weak if the smallest eigenvalue of the stiffness is below this fraction of the largest"""


@readable
@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium, or a steady motion in which only cyclic coordinates change.

    Attributes:
        name: its name in outputs, for example ``1``.
        q, v: coordinates and speeds; v is zero at rest, and holds the constant rates of a steady motion.
        inputs, parameters: values of all inputs (held constant) and parameters.
        multipliers: constraint forces at the equilibrium.
        residual: largest unbalanced force, as a fraction of a typical force of the mechanism.
        potential: potential energy; in steady motion the effective one, minus the kinetic energy of that motion.
        unstable_directions: number of directions in which the (effective) potential decreases; None if forces have
            no potential, or a kink at this state, or if the coordinates are singular there and hide directions.
        free_directions: for every family of equilibria it belongs to, the direction along which it extends, by speeds;
            where angles of the system are singular, by angular velocities of the joint.
        condition: largest over smallest stiffness, without families; infinite with flat directions.
        layout: names and units.
        flat_directions: directions without stiffness that are not families: higher-order terms decide there.
        spin: the part of v that is a spin of bodies about their own axes of symmetry, at the speeds of ball joints;
            small motion is described in axes that do not take part in it. Empty if there is none.
        enclosure: bounds by coordinate within which interval arithmetic proved exactly one equilibrium; None without
            such a proof.
        singular: whether the coordinates are singular there, so that they do not show all directions.
        system: the system.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> [(e.name, e.unstable_directions) for e in pendula.find_equilibria(system)]
        [('1', 0), ('2', 1)]
    """

    name: str
    q: Array
    v: Array
    inputs: Array
    parameters: Array
    multipliers: Array
    residual: float
    potential: float
    unstable_directions: int | None
    free_directions: tuple[Mapping[str, float], ...]
    condition: float
    layout: Layout
    flat_directions: tuple[Mapping[str, float], ...] = ()
    enclosure: Mapping[str, tuple[float, float]] | None = None
    spin: Array | None = None
    singular: bool = False
    system: System | None = field(default=None, repr=False, compare=False)

    @property
    def state(self) -> State:
        """The equilibrium as a state at time 0."""
        return State(0.0, self.q, self.v, self.layout)

    @property
    def steady(self) -> bool:
        """Whether this is a steady motion: some coordinate has a constant nonzero rate."""
        return bool(np.any(self.v))

    @property
    def nearest_singularity(self) -> Nearest | None:
        """How near to a singularity of its coordinates it is; None if they have none, or the system is not known.

        Example:
            >>> import pendula
            >>> print(equilibrium_at("spatial-rod", {"theta": -1.5707963267948966}).nearest_singularity)
            the coordinates of joint "ball" are singular at theta = 0 or 180 deg; the distance is 90 deg
        """
        if self.system is None:
            return None
        joints = self.system.in_joints.read_state(self.state, self.parameters)
        return nearest_singularity(joints.layout, np.zeros(1), joints.q)

    @property
    def weak(self) -> bool:
        """Whether some stiffness is so small that small errors in the model move the equilibrium far, or remove it."""
        return self.condition > 1.0 / WEAK

    def __getitem__(self, name: str) -> float:
        return self.state[name]

    def __str__(self) -> str:
        units = self.layout.units
        kind = "steady motion" if self.steady else "equilibrium"
        values = {n: x for n, x in self.state.as_dict().items() if n in self.layout.coordinates or x}
        where = some([f"{n} = {x:.6g} {units[n]}".rstrip() for n, x in values.items()])
        falls = "unknown" if self.unstable_directions is None else str(self.unstable_directions)
        lines = [f"{kind} {self.name}: {where}", f"potential {self.potential:.6g}, falls in directions: {falls}"]
        if (near := self.nearest_singularity) is not None:
            lines.append(str(near))
        if self.free_directions:
            lines.append(f"belongs to {counted(len(self.free_directions), 'family', 'families')} of equilibria")
        return "\n".join([*lines, f"residual {self.residual:.1e} of a typical force"])


def equilibrium_at(
    system: AnySystem,
    at: Equilibrium | State | Mapping[str, float] | None = None,
    *,
    inputs: Any = None,
    parameters: Parameters = None,
    rates: Mapping[str, float] | None = None,
    name: str = "given",
) -> Equilibrium:
    """The state given by ``at`` (by name; unnamed values are zero) as an equilibrium, if it is one.

    Loops are closed first, near the initial pose, keeping the named coordinates. Nonzero speeds are the constant rates
    of a steady motion. The angular velocity of a body on a ball joint is split into a rotation about a fixed axis and
    a spin about the body's own axis of symmetry, if it has one: a top may precess. ``rates`` (as in
    :func:`pendula.find_equilibria`) state a steady motion and this split instead.

    Raises:
        NotAnEquilibrium: forces do not balance; the message says which and by how much.
        NotSupported: forces depend on time.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = equilibrium_at(system, {"theta": 0.0})
        >>> found.residual, found.unstable_directions
        (0.0, 0)
    """
    if isinstance(at, Equilibrium):
        return at
    system = system_of(system, "equilibrium_at", inputs=inputs)
    balance = Balance.of(system, inputs, parameters)
    state = closed_state(system, at, balance.parameters)
    if rates:
        system.in_joints.refuse_others(refusals.STEADY_BODIES)
        turning = read_turning(balance, rates, np.random.default_rng(0))
        state = State(0.0, state.q, turning.speeds(system, state.q), system.layout)
        balance = turning.seen_from(balance)
    refuse_unsteady(balance, state)
    there = None if rates else at_pole(system, state, balance.parameters)
    if there is not None:
        try:
            found = equilibrium_at(*there, inputs=inputs, parameters=balance.parameters, name=name)
        except NotAnEquilibrium as error:
            where = "; ".join(x.text for x in singularities(system.in_joints.layout))
            raise NotAnEquilibrium(f"{where}, where they may hide a force; {error}", residual=error.residual) from None
        return in_coordinates_of(system, found, state)
    balance = balance if rates else with_spins(balance, state.q, state.v)
    left = balance.unbalanced(state.q, state.v)
    share = float(np.abs(left).max(initial=0.0)) / balance.scale(state.q, state.v)
    if not share <= BALANCED:
        if np.any(state.v):
            system.in_joints.refuse_others(refusals.STEADY_BODIES)
        remains = _largest_force(system, left, () if isinstance(at, State) or at is None else tuple(at))
        percent = f"{100 * share:.2g}" if share < 0.95 else f"{100 * share:.0f}"  # 100, not 1e+02
        raise NotAnEquilibrium(
            f"this state is not an equilibrium: {remains} ({percent} % of a typical force).\n"
            "  Try: find_equilibria(system) to find the equilibria.",
            residual=share,
        )
    problem = stationary_at(balance, state.q, state.v)
    singular = is_singular(problem, state.q)
    if singular:
        _refuse_hidden_force(problem, state)
    return describe(balance, state.q, state.v, share, name, None if rates else (problem, singular))


def _largest_force(system: System, left: Array, given: Collection[str]) -> str:
    """The largest unbalanced force in words; with constraints, on a speed of the motion that they allow.

    With constraints, ``left`` is itself an admissible motion d (G d = 0), and f . d = d . d. Per unit of one of its
    speeds this is the force on that speed, while an entry of ``left`` depends on the units of the others.
    """
    layout, force, where = system.layout, left, ""
    worst = int(np.argmax(np.abs(left)))
    if has_gaps(system):
        size = np.abs(left) / typical_steps(system)
        own = [k for n, k in zip(layout.coordinates, layout.speed_of, strict=True) if n in given and k >= 0]
        worst = max([k for k in own if size[k] > 1e-3 * size.max()] or range(len(left)), key=lambda k: size[k])
        force, where = np.full(len(left), left @ left / left[worst]), ", in a motion that the constraints allow"
    names = system.model.unit_names
    kind, unit = ("torque", names.torque) if layout.speed_kinds[worst] == "angle" else ("force", names.force)
    return f'an unbalanced {kind} of {force[worst]:.6g} {unit} remains on "{layout.speeds[worst]}"{where}'


def _refuse_hidden_force(problem: Stationary, state: State) -> None:
    """Raises NotAnEquilibrium if a singular pose only appears balanced because of its chart."""
    if not balanced_nearby(problem, state.q, np.random.default_rng(0)):
        raise NotAnEquilibrium(
            "this state is not an equilibrium: the coordinates of a joint are singular there and hide a force; "
            "at nearby poses the bodies accelerate.\n"
            "  Try: find_equilibria(system), or a joint with other coordinates (a quaternion).",
            residual=float("nan"),
        )


def in_coordinates_of(system: System, found: Equilibrium, state: State) -> Equilibrium:
    """An equilibrium of the twin of a system as one of the system; its directions stay those of the twin."""
    balance = Balance(system, found.inputs, found.parameters)
    q, v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
    return replace(found, q=q, v=v, multipliers=balance.multipliers(q, v), layout=system.layout, system=system)


def describe(
    balance: Balance, q: Array, v: Array, residual: float, name: str, known: tuple[Stationary, bool] | None = None
) -> Equilibrium:
    """The properties of an equilibrium; ``known``: :func:`stationary_at` and whether a chart is singular, if known."""
    system = balance.system
    state = State(0.0, np.asarray(q, dtype=float), np.asarray(v, dtype=float), system.layout)
    there = None if known else at_pole(system, state, balance.parameters)
    if there is not None:
        twin, regular = there
        found = describe(Balance(twin, balance.inputs, balance.parameters), regular.q, regular.v, residual, name)
        return in_coordinates_of(system, found, state)
    lam = balance.multipliers(q, v)
    free = balance.free(q)
    stiffness = free.T @ balance.stiffness(q, v, lam) @ free
    symmetric = (stiffness + stiffness.T) / 2
    sizes, directions = np.linalg.eigh(symmetric) if symmetric.size else (np.zeros(0), symmetric)
    largest = max(float(np.abs(stiffness).max(initial=0.0)), 1e-300)
    added = np.maximum(np.abs(stiffness), GRADED * largest)
    flat = np.abs(sizes) <= NEUTRAL * np.sum(np.abs(directions) * (added @ np.abs(directions)), axis=0)
    has_potential = float(np.abs(stiffness - stiffness.T).max(initial=0.0)) <= NEUTRAL * largest
    has_potential = has_potential and not kink_at(balance, np.asarray(q), np.asarray(v), lam)
    held = np.abs(sizes[~flat])
    problem = known[0] if known else stationary_at(balance, q, v)
    singular = known[1] if known else is_singular(problem, q)
    along = find_directions(problem, q)
    condition = float(held.max() / held.min()) if held.size else 1.0
    energies = system.energies(q, v, parameters=balance.parameters)
    found = Equilibrium(
        name=name,
        q=np.array(q, dtype=float),
        v=np.array(v, dtype=float),
        inputs=balance.inputs if balance.inputs is not None else system.inputs.at(0.0, balance.parameters),
        parameters=balance.parameters,
        multipliers=lam,
        residual=residual,
        potential=float(energies.potential - energies.kinetic),
        unstable_directions=int(np.sum(sizes[~flat] < 0.0)) if has_potential and not singular else None,
        free_directions=_by_speeds(balance, along.family),
        condition=np.inf if along.flat.size else condition,
        layout=system.layout,
        flat_directions=_by_speeds(balance, along.flat),
        spin=balance.spin,
        singular=singular,
        system=system,
    )
    return _seen_in_quaternions(balance, found) if np.any(v) and singular else found


def _seen_in_quaternions(balance: Balance, at: Equilibrium) -> Equilibrium:
    """A steady motion at a singular pose: directions in which the potential decreases, from regular coordinates."""
    there = in_quaternions(balance.system, at.q, at.v, at.parameters)
    if there is None:
        return at
    twin, state = there
    own = with_spins(Balance(twin, balance.inputs, balance.parameters), state.q, state.v)
    found = describe(own, state.q, state.v, at.residual, at.name)
    return replace(at, unstable_directions=found.unstable_directions, condition=found.condition, singular=False)


def _by_speeds(balance: Balance, directions: Array) -> tuple[Mapping[str, float], ...]:
    """Scaled directions, by columns, as speeds by name."""
    return tuple(_named(balance.system, balance.steps * directions[:, k]) for k in range(directions.shape[1]))


def _named(system: System, direction: Array) -> dict[str, float]:
    """A direction by its nonzero speeds, scaled to a largest entry of 1."""
    largest = float(np.abs(direction).max())
    pairs = zip(system.layout.speeds, (direction / largest).tolist(), strict=True)
    return {name: value for name, value in pairs if abs(value) > 1e-9}


def closed_state(system: System, point: State | Mapping[str, float] | None, parameters: Array) -> State:
    """A state from values by name; others are zero, or with closed loops near the initial pose.

    Raises:
        LoopNotClosed: the loops cannot be closed with these values.
    """
    if isinstance(point, State):
        return point
    given = dict(read_table(point, "the point"))
    if system.model.closures:
        still = dict.fromkeys(system.in_joints.layout.speeds, 0.0)
        found = assemble(system, {**still, **given}, keep=tuple(given), parameters=parameters)
        if wrong := not_kept(found, given, parameters):
            raise LoopNotClosed(f"{wrong}.\n  Try: give fewer values, so that the others follow from the loops.")
        return found.state
    return assemble(system, system.in_joints.state(given), parameters=parameters).state


def refuse_unsteady(balance: Balance, state: State) -> None:
    """Raises NotSupported if forces on a state depend on time."""
    if balance.depends_on_time(state.q, state.v):
        raise NotSupported(refusals.NEVER_AT_REST)
