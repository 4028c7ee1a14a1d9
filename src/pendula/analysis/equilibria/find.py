"""Finds equilibria, and decides whether it is proven that there are no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.charts import (
    balanced_nearby,
    bounded_forces,
    is_singular,
    one_of_each_pose,
    surely_unbalanced,
)
from pendula.analysis.equilibria.domain import Domain, domain_of
from pendula.analysis.equilibria.equilibrium import Equilibrium, describe, refuse_unsteady
from pendula.analysis.equilibria.from_twin import from_twin
from pendula.analysis.equilibria.orbits import without_repeats
from pendula.analysis.equilibria.poles import searches_in_twin
from pendula.analysis.equilibria.proofs.boxes import prove_in_boxes
from pendula.analysis.equilibria.proofs.completeness import Proof, prove_tree
from pendula.analysis.equilibria.search import Search
from pendula.analysis.equilibria.stationary import REGULAR, Stationary, close_loops, refine, shares_of
from pendula.analysis.equilibria.turning import Turning, read_turning
from pendula.arguments import available, read_count, read_number, read_seed
from pendula.errors import ComputationError, LoopNotClosed, NotSupported, UsageError
from pendula.system.entry import AnySystem, system_of
from pendula.system.first_use import expect_proof
from pendula.system.layout import Array, State
from pendula.system.loops.assembly import turned_over
from pendula.system.orientation.twins import body_charts, body_twin
from pendula.system.parameters import Parameters
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import INDICATED, PROVEN, UNDECIDED, readable

MOST_STARTS = 100_000


@readable
@dataclass(frozen=True)
class Equilibria(Tabular):
    """Equilibria of a mechanism, the one of least potential first.

    Attributes:
        all: the equilibria, named ``1``, ``2``, ...; a family of them is one entry.
        complete: ``proven`` if it is proven that there are no others (in the box); ``indicated`` if a search found no
            others; ``undecided`` if a proof left boxes that may contain others, or others are known but not listed.
        reason: the reason in a sentence.
        box: the search domain by coordinate; periodic angles from -pi to pi.
        circles: periodic coordinates.
        starts: number of starts of the search; 0 if a proof made it unnecessary.
        found: how often the search found each.
        unbalanced: if there is no equilibrium: the unbalanced forces by speed at the best pose.
        outside: number of others found outside the box.
        undecided: boxes that a proof could not decide; they may contain any number of equilibria.
        units: of every coordinate, and of the force along every speed.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = pendula.find_equilibria(system)
        >>> len(found), found.complete
        (2, 'proven')
    """

    all: tuple[Equilibrium, ...]
    complete: str
    reason: str
    box: Mapping[str, tuple[float, float]]
    circles: tuple[str, ...]
    starts: int
    found: tuple[int, ...]
    unbalanced: Mapping[str, float]
    outside: int
    units: Mapping[str, str]
    undecided: tuple[Mapping[str, tuple[float, float]], ...] = ()

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.all)

    def __getitem__(self, which: int | str) -> Equilibrium:
        if isinstance(which, int):
            return self.all[which]
        for one in self.all:
            if one.name == which:
                return one
        raise UsageError(f'there is no equilibrium "{which}"; {available((e.name for e in self.all), 12)}')

    def __str__(self) -> str:
        lines = [self._headline(), *(f"  {_line(e, n)}" for e, n in zip(self.all, self._counts(), strict=True))]
        return "\n".join([*lines, f"  {self.complete}: {self.reason}", f"  searched in {self._where()}"])

    def _headline(self) -> str:
        if self.all:
            return f"{len(self.all)} equilibri{'um' if len(self.all) == 1 else 'a'}"
        if not self.unbalanced:
            return "no equilibrium at which forces have finite derivatives"
        left = ", ".join(f"{x:.6g} {self.units[n]} on {n}" for n, x in self.unbalanced.items())
        return f"no equilibrium: at best {left or 'nothing'} remains unbalanced"

    def _counts(self) -> list[str]:
        return [f", found {n} times" if self.starts else "" for n in self.found]

    def _where(self) -> str:
        parts = []
        for name, (lo, hi) in self.box.items():
            unit = self.units[name]
            parts.append(f"{name} on the circle" if name in self.circles else f"{name} {lo:.4g} to {hi:.4g} {unit}")
        if len(parts) > 8:
            parts = [*parts[:8], "..."]
        beyond = f" ({self.outside} more found outside)" if self.outside else ""
        return (", ".join(parts) or "all rotations") + beyond


def _line(one: Equilibrium, counted: str) -> str:
    units = one.layout.units
    place = ", ".join(f"{n} = {x:.6g} {units[n]}" for n, x in zip(one.layout.coordinates, one.q, strict=True))
    rates = ", ".join(f"{n} = {x:.6g} {units[n]}" for n, x in zip(one.layout.speeds, one.v, strict=True) if x)
    unknown = "potential not judged in singular coordinates" if one.singular else "no potential"
    falls = {None: unknown, 0: "potential minimum"}.get(
        one.unstable_directions, f"potential falls in {one.unstable_directions} direction(s)"
    )
    if one.unstable_directions == 0 and one.flat_directions:
        falls = "higher-order terms decide"
    family = "; family along " + " and ".join(" + ".join(d) for d in one.free_directions) if one.free_directions else ""
    weak = "; weak" if one.weak else ""
    return f"{one.name}: {place}{', ' + rates if rates else ''}; {falls}{family}{weak}{counted}"


def find_equilibria(
    system: AnySystem,
    *,
    inputs: Any = None,
    parameters: Parameters = None,
    box: Mapping[str, Any] | None = None,
    starts: int | None = None,
    seed: int = 0,
    rates: Mapping[str, float] | None = None,
    prove: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Equilibria:
    """All equilibria of a mechanism that can be found, or its steady motions.

    Periodic angles are searched on the circle; other angles (with torsion springs) up to a full turn to either side,
    and lengths up to ten typical lengths, unless a box is given. If a proof is possible (open trees of revolute joints
    under gravity; one force that depends on one coordinate), all equilibria in the box are found, and ``complete`` is
    ``proven``. Otherwise Newton's method starts from many states, with deflation of known equilibria, and continuation
    follows branches while springs are stiffened; how often each was found indicates the confidence.

    Args:
        system: a system, a model, or the name of a library mechanism.
        inputs: values of inputs, held constant; those of the model by default.
        parameters: changes of parameters.
        box: bounds by coordinate, numbers or text such as "90deg": (lowest, highest), or one for both sides.
        starts: number of random starts.
        seed: of the random starts; the same seed gives the same result.
        rates: constant rates, to find steady motions: of cyclic coordinates by name, and of ball joints by quaternion
            about an axis of the body or of the parent side: ``{"pivot about body z": 60, "pivot about world z": 2}``.
        prove: seconds to spend on a proof, by interval arithmetic, that there are no others in the box. Each
            equilibrium then has an ``enclosure``, and ``undecided`` lists the boxes that could not be decided.
            Rotations with singular angles are proven in quaternions, which then name the bounds. Where a body may turn
            about an axis without change of the forces at rest, each equilibrium represents a circle of them.
        on_progress: called as ``on_progress(followed, planned)``.

    Returns:
        ``Equilibria``; empty, with the unbalanced forces, if there are none.

    Raises:
        UsageError: an argument contains an unknown name.
        NotSupported: forces depend on time.

    Example:
        >>> found = find_equilibria("hoop-bead")
        >>> [round(e["theta"], 4) for e in found], found.complete
        ([-1.0581, 1.0581, 0.0, 3.1416], 'proven')
    """
    if prove:
        expect_proof()
    system = system_of(system, "find_equilibria", inputs=inputs)
    if not (box or rates) and (searches_in_twin(system) or (prove and body_charts(system))):
        try:
            return _found_in_twin(system, inputs, parameters, starts, seed, prove, on_progress)
        except NotSupported as error:
            if error.refusal is refusals.NEVER_AT_REST:  # in these coordinates as in its own
                raise
    rng = np.random.default_rng(read_seed(seed))
    joints = system.in_joints.system
    balance = Balance.of(joints, inputs, parameters)
    turning = read_turning(balance, rates, rng)
    balance = turning.seen_from(balance)
    v = turning.rates + turning.fixed + turning.spin
    if turning:
        system.in_joints.refuse_others(refusals.STEADY_BODIES)
    _refuse_time(system, balance, v)
    domain = domain_of(balance, box)
    count = _count(starts, len(joints.layout.speeds))
    proof = _proof(balance, v, domain, box is None, prove, on_progress)
    problem = _problem(balance, turning, domain, rng)
    search = Search(problem, domain, rng, on_progress)
    pairs, complete, reason = _candidates(proof, search, count)
    pairs = [(_tidied(problem, domain, q), times, bounds) for q, times, bounds in pairs]
    allowed = [x for x in pairs if not turned_over(joints, x[0], 0.0, balance.parameters)]
    if forbidden := len(pairs) - len(allowed):
        reason += (
            f"; {forbidden} omitted, where a loop closes only with the two sides of a joint in opposite directions"
        )
    once = without_repeats(balance, domain.circles, np.array([q for q, _, _ in allowed]), v)
    if repeated := len(allowed) - len(once):
        reason += f"; {repeated} omitted, which {'is' if repeated == 1 else 'are'} another in other angles"
        allowed = [allowed[k] for k in once]
    real, doubtful, omitted = _real(problem, allowed, domain, rng)
    complete = INDICATED if doubtful and complete == PROVEN else complete
    reason += omitted
    described, singular = _described(system, balance, real, turning)
    if singular:
        complete = UNDECIDED
        place = ", ".join(f"{n} = {x:.6g}" for n, x in zip(domain.names, singular[0], strict=True))
        where = f"at {place}" if len(singular) == 1 else f"the first at {place}"
        reason += f"; {len(singular)} omitted, where forces balance but have no finite derivatives ({where})"
    entries = _ordered([e for e, _ in described], [n for _, n in described])
    return Equilibria(
        all=tuple(e for e, _ in entries),
        complete=complete,
        reason=reason,
        box=domain.box | dict(proof.box) if isinstance(proof, Proof) else domain.box,
        circles=tuple(n for n, c in zip(domain.names, domain.circles, strict=True) if c),
        starts=search.starts,
        found=tuple(n for _, n in entries),
        unbalanced={} if entries or singular else _unbalanced(problem, domain, rng),
        outside=len(search.outside),
        units={**{c: joints.layout.units[c] for c in joints.layout.coordinates}, **force_units(joints)},
        undecided=proof.undecided if isinstance(proof, Proof) else (),
    )


def _found_in_twin(
    system: System,
    inputs: Any,
    parameters: Parameters,
    starts: int | None,
    seed: int,
    prove: float | None,
    on_progress: Any,
) -> Equilibria:
    """Equilibria found with quaternions, in the coordinates of the system.

    Raises:
        NotSupported: the model cannot be written in quaternions.
    """
    twin = body_twin(system)
    found = find_equilibria(
        twin, inputs=inputs, parameters=parameters, starts=starts, seed=seed, prove=prove, on_progress=on_progress
    )
    mine = [from_twin(twin, system, one) for one in found.all]
    own = system.in_joints.layout
    units = {**found.units, **{c: own.units[c] for c in own.coordinates}, **force_units(system.in_joints.system)}
    return replace(found, all=tuple(mine), units=units)


def _real(
    problem: Stationary, pairs: list[Any], domain: Domain, rng: np.random.Generator
) -> tuple[list[Any], bool, str]:
    """Candidates at which forces balance, each pose once; whether another may balance, too; a remark on the others."""
    real = [x for x in pairs if not is_singular(problem, x[0]) or balanced_nearby(problem, x[0], rng)]
    others = [x for x in pairs if not any(x is y for y in real)]
    forces = bounded_forces(problem) if others else None
    doubtful = [x for x in others if not surely_unbalanced(problem, x[0], forces)]
    kept = one_of_each_pose(problem, [x[0] for x in real], domain.circles)
    omitted = f"; {len(others)} omitted, where a singular chart merely hides a force" if others else ""
    omitted += f" (which is not proven of {len(doubtful)})" if doubtful else ""
    return [real[k] for k in kept], bool(doubtful), omitted


def _proof(
    balance: Balance,
    v: Array,
    domain: Domain,
    everywhere: bool,
    seconds: float | None,
    on_progress: Callable[[int, int], None] | None,
) -> Proof | str | None:
    """A proof by structure or by interval arithmetic; a sentence or None if there is none."""
    if seconds is not None and not read_number(seconds, "prove") > 0.0:
        raise UsageError(f"prove must be a positive number of seconds, found {seconds!r}")
    proof = prove_tree(balance, v) if everywhere else None
    if proof is not None and seconds is None:
        return proof
    boxed = prove_in_boxes(balance, v, domain, seconds, on_progress)
    return boxed if isinstance(boxed, Proof) or proof is None else proof


Bounds = Mapping[str, tuple[float, float]]


def _candidates(proof: Any, search: Search, count: int) -> tuple[list[tuple[Array, int, Bounds | None]], str, str]:
    """States with how often each was found and their bounds, whether they are proven complete, and the reason."""
    states: list[tuple[Array, int, Bounds | None]] = []
    if isinstance(proof, Proof):
        domain = replace(search.domain, groups=()) if proof.box else search.domain
        bounds = proof.enclosures or (None,) * len(proof.states)
        refined = [domain.wrapped(refine(search.problem, q)[0]) for q in proof.states]
        states = [(q, 0, b) for q, b in zip(refined, bounds, strict=True)]
        if not proof.undecided:
            return states, PROVEN if proof.listed else UNDECIDED, proof.reason
    search.run(count)
    reason = f"{search.starts} starts gave {len(search.found)}"
    reason += f"; {proof.reason if isinstance(proof, Proof) else proof}" if proof else ""
    verified = search.features(np.array([q for q, _, _ in states])) if states else None
    for found in search.found:
        same = _nearest(verified, search.features(found.q))
        if same is None:
            states.append((found.q, found.times, None))
        else:
            states[same] = (states[same][0], found.times, states[same][2])
    return states, UNDECIDED if isinstance(proof, Proof) else INDICATED, reason


def _nearest(known: Array | None, one: Array) -> int | None:
    """Index of the known pose that equals a given one; None if there is none."""
    if known is None:
        return None
    gaps = np.abs(known - one).max(axis=1)
    return int(np.argmin(gaps)) if gaps.min() < 1e-7 else None


def lowest_equilibrium(
    system: AnySystem,
    *,
    inputs: Any = None,
    parameters: Parameters = None,
    rates: Mapping[str, float] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Equilibrium | None:
    """The equilibrium of least potential among those found; None if there is none.

    For a tree of revolute joints under gravity it searches for no other one, so it is fast for any number of bodies.

    Args:
        system: a system, a model, or the name of a library mechanism.
        inputs, parameters, rates, on_progress: as in :func:`pendula.find_equilibria`.

    Example:
        >>> import pendula
        >>> lowest_equilibrium(pendula.compile_system(pendula.library.chain(links=40))).unstable_directions
        0
    """
    system = system_of(system, "lowest_equilibrium", inputs=inputs)
    joints = system.in_joints.system
    balance = Balance.of(joints, inputs, parameters)
    still = np.zeros(len(joints.layout.speeds))
    proof = None if rates else prove_tree(balance, still, most=0)
    if proof is None:
        found = find_equilibria(system, inputs=inputs, parameters=parameters, rates=rates, on_progress=on_progress)
        return found[0] if len(found) else None
    q = np.asarray(proof.states[0])
    q = q - 2 * math.pi * np.round(q / (2 * math.pi))
    q = np.where(np.abs(q - np.round(q / math.pi) * math.pi) < 1e-12, np.round(q / math.pi) * math.pi, q) + 0.0
    return replace(_describe(system, balance, q, still), name="1")


def _refuse_time(system: System, balance: Balance, v: Array) -> None:
    """Raises NotSupported if forces depend on time at one of a few poses."""
    if system.drives:
        system.in_joints.refuse_others(refusals.DRIVEN_BODIES)
    joints = balance.system
    start = joints.initial_state(balance.parameters)
    for shift in (0.0, 0.3):
        q = np.asarray(start.q, dtype=float) + shift * np.where(np.arange(len(start.q)) % 2, 1.2, -1.0)
        for at, _ in joints.balls:
            q[at : at + 4] = start.q[at : at + 4] / np.linalg.norm(start.q[at : at + 4])
        try:
            refuse_unsteady(balance, State(0.0, q, v, joints.layout))
        except ComputationError:
            continue


def _count(starts: int | None, freedoms: int) -> int:
    if starts is None:
        return int(64 * 2 ** min(freedoms, 5)) if freedoms <= 12 else max(16, 8192 // freedoms)
    return read_count(starts, "starts", MOST_STARTS)


def _problem(balance: Balance, turning: Turning, domain: Domain, rng: np.random.Generator) -> Stationary:
    """The equilibrium equations, scaled by a typical force at random poses."""
    v, balls = turning.rates, turning if np.any(turning.fixed) or np.any(turning.spin) else None
    rough = Stationary(balance, v, 1.0, turning=balls)
    q = close_loops(rough, domain.random(48, rng))
    if not len(q):
        raise LoopNotClosed(
            "no pose with closed loops was found in the box.\n  Try: a larger box, or check the lengths."
        )
    with np.errstate(all="ignore"):
        weight = np.abs(balance.forces(q, rough.speeds(q)) * balance.steps)
        lam = rough.multipliers(q, REGULAR)  # loops with redundant rows often close next to singular poses
        stiffness = np.abs(rough.jacobians(q, lam)[:, : len(v), : len(v)]).max(axis=2)
    rows = np.maximum(weight, stiffness)
    rows = rows[np.isfinite(rows).all(axis=1)]
    both = rows.max(axis=1, initial=0.0)
    if not len(both):
        raise ComputationError(
            "the forces are not finite at any of the poses tried.\n  Try: a box within which the mechanism is defined."
        )
    typical = float(np.median(both)) or 1.0
    return Stationary(balance, v, typical, shares_of(np.median(rows, axis=0), typical), balls)


def _tidied(problem: Stationary, domain: Domain, q: Array) -> Array:
    """A state with angles rounded to multiples of 90 degrees and lengths to zero, if they are so up to rounding."""
    quarter = math.pi / 2
    plain = np.where(domain.lengths, 0.0, np.round(q / quarter) * quarter)
    for at in domain.balls:
        plain[at : at + 4] = np.where(np.abs(q[at : at + 4]) < 1e-12, 0.0, q[at : at + 4])
    tidy = np.where(np.abs(plain - q) < 1e-9 * domain.sizes, plain, q)
    before, after = (problem.residuals(x[None], problem.multipliers(x[None])) for x in (q, tidy))
    tidy = tidy + 0.0  # no -0
    return tidy if np.abs(after).max(initial=0.0) <= max(float(np.abs(before).max(initial=0.0)), 1e-15) else q


def _described(
    system: System, balance: Balance, states: list[tuple[Array, int, Bounds | None]], turning: Turning
) -> tuple[list[tuple[Equilibrium, int]], list[Array]]:
    """Equilibria with how often each was found, and the poses that are omitted for lack of derivatives."""
    found, omitted = [], []
    for q, times, bounds in states:
        try:
            v = turning.speeds(balance.system, np.asarray(q, dtype=float))
            found.append((replace(_describe(system, balance, q, v), enclosure=bounds), times))
        except ComputationError:
            omitted.append(q)
    return found, omitted


def _describe(system: System, balance: Balance, q: Array, v: Array) -> Equilibrium:
    """An equilibrium found in joint coordinates, converted to those of the system."""
    q, v = system.in_joints.place(q, v, parameters=balance.parameters)
    own = balance if balance.system is system else replace(balance, system=system)
    left = float(np.abs(own.unbalanced(q, v)).max(initial=0.0)) / own.scale(q, v)
    return describe(own, q, v, left, "")


def _ordered(entries: list[Equilibrium], found: list[int]) -> list[tuple[Equilibrium, int]]:
    """Sorted by potential, then by coordinates."""
    span = max((abs(e.potential) for e in entries), default=1.0) or 1.0

    def key(pair: tuple[Equilibrium, int]) -> tuple[float, ...]:
        return (round(pair[0].potential / span, 9), *(round(float(x), 6) for x in pair[0].q))

    pairs = sorted(zip(entries, found, strict=True), key=key)
    return [(replace(e, name=str(k + 1)), n) for k, (e, n) in enumerate(pairs)]


def _unbalanced(problem: Stationary, domain: Domain, rng: np.random.Generator) -> dict[str, float]:
    """Unbalanced forces by speed, at the pose that minimizes them."""
    from scipy.optimize import least_squares  # slow to load

    q = close_loops(problem, domain.random(200, rng))
    with np.errstate(all="ignore"):
        size = np.abs(problem.residuals(q, problem.multipliers(q))).max(axis=1)
    start = q[int(np.nanargmin(size))]
    n, lam0 = len(problem.v), problem.multipliers(start[None])[0]

    def left(z: Array) -> Array:
        moved = problem.moved(start[None], z[None, :n])
        found = problem.residuals(moved, (lam0 + z[n:])[None])[0]
        return np.where(np.isfinite(found), found, 1e6)

    low, high = np.full(n + len(lam0), -np.inf), np.full(n + len(lam0), np.inf)
    for i, k in enumerate(problem.system.layout.speed_of):
        if k >= 0 and not domain.circles[i]:
            # closing the loops may have moved the start out of the box
            low[k] = min(0.0, (domain.lo[i] - start[i]) / problem.sizes[k]) - 1e-12
            high[k] = max(0.0, (domain.hi[i] - start[i]) / problem.sizes[k]) + 1e-12
    found = least_squares(
        left, np.zeros(n + len(lam0)), bounds=(low, high), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
    ).x
    rest = left(found)[:n] * problem.force / problem.sizes * (1.0 if problem.shares is None else problem.shares)
    largest = float(np.abs(rest).max(initial=0.0))
    names = problem.system.layout.speeds
    return {name: float(x) for name, x in zip(names, rest, strict=True) if abs(x) > 1e-6 * largest}


def force_units(system: System) -> dict[str, str]:
    """Unit of the force along every speed."""
    names = system.model.unit_names
    kinds = zip(system.layout.speeds, system.layout.speed_kinds, strict=True)
    return {s: names.torque if k == "angle" else names.force for s, k in kinds}
