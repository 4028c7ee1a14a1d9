"""The search for equilibria from many starts, with deflation, mirror images and continuation in spring stiffness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pendula.analysis.equilibria.domain import Domain
from pendula.analysis.equilibria.families import Directions, find_directions, same_family
from pendula.analysis.equilibria.orbits import Orbits
from pendula.analysis.equilibria.stationary import SETTLED, Deflation, Stationary, fades, refine, settle
from pendula.analysis.equilibria.stiffening import stiffened
from pendula.system.layout import Array

APART = 1e-5
"""equilibria closer than this, in radians or typical lengths, are one"""
APART_FLAT = 2e-3
"""the same if the stiffness vanishes: a rounding error then moves the point by its cube root"""
ROUNDS = 4
"""largest number of rounds of deflation"""
SCAN = 1001
"""number of points at which the force on a single coordinate is evaluated"""
HALVINGS = 25
"""number of bisections between two points with forces of different sign"""
CHUNK = 512
"""number of starts that are iterated together"""
MEMORY = 2_000_000
"""largest number of entries in the matrices of such a group"""
MOST_MEMBERS = 500
"""largest number of poses that are kept of a family"""
SAME_POTENTIAL = 1e-7
"""difference of potential energies, as a fraction of their size, below which they count as equal"""

Progress = Callable[[int, int], None]


@dataclass
class Found:
    """An equilibrium, its residual, how often it was found, its flat directions, and other poses of its family."""

    q: Array
    left: float
    times: int
    directions: Directions
    members: Members | None = None


@dataclass
class Members:
    """Poses of one family, each with its features: the nearest one is a short walk away from any other pose."""

    poses: list[Array]
    features: Array
    potential: float

    def nearest(self, features: Array) -> tuple[float, Array]:
        """Distance and pose of the member next to a pose with given features."""
        far = np.abs(self.features - features).max(axis=1)
        k = int(np.argmin(far))
        return float(far[k]), self.poses[k]

    def add(self, q: Array, features: Array) -> None:
        """Adds a pose, unless there are many already."""
        if len(self.poses) < MOST_MEMBERS:
            self.poses.append(q)
            self.features = np.vstack([self.features, features])

    def join(self, others: Members) -> None:
        """Adds the members of another part of the family."""
        for q, features in zip(others.poses, others.features, strict=True):
            self.add(q, features)


@dataclass
class Search:
    """Collects the equilibria of one problem.

    Attributes:
        problem: the equations.
        domain: the search domain; equilibria outside are kept separately.
        rng: source of the random starts.
        on_progress: called with the number of finished starts and of all planned ones.
    """

    problem: Stationary
    domain: Domain
    rng: np.random.Generator
    on_progress: Progress | None = None
    found: list[Found] = field(default_factory=list)
    outside: list[Array] = field(default_factory=list)
    starts: int = 0
    planned: int = 0

    def run(self, count: int) -> None:
        """Runs the whole search with a number of random starts."""
        angles = np.array([k == "angle" for k in self.problem.system.layout.coordinate_kinds])
        lattice = self.domain.lattice(max(count, 64), self.rng, angles)
        random = self.domain.random(count, self.rng)
        self.planned = len(lattice) + 2 * len(random)
        still = self._without_effect()
        initial = self._initial_pose()
        for starts in (initial, lattice, random):
            starts[:, still] = 0.0
        self._follow(initial)
        self._follow(self._sign_changes())
        self._follow(lattice)
        self._follow(random)
        self._continue_springs()
        self._mirror()
        for _ in range(ROUNDS):
            before = len(self.found)
            again = self.domain.random(max(count // ROUNDS, 16), self.rng)
            again[:, still] = 0.0
            self._follow(again, deflate=True)
            if len(self.found) == before:
                break
            self._mirror()
        self._merge_families()
        if self.on_progress is not None:
            self.on_progress(self.starts, self.starts)

    def _initial_pose(self) -> Array:
        """The initial pose of the model."""
        return np.array(self.problem.system.initial_state(self.problem.balance.parameters).q, dtype=float)[None]

    def _sign_changes(self) -> Array:
        """With a single coordinate: all points in the box at which the force changes sign."""
        if len(self.domain.names) != 1 or self.problem.system.loop_rows:
            return np.zeros((0, len(self.domain.names)))

        def sign(x: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.sign(self.problem.residuals(x[:, None], np.zeros((len(x), 0)))[:, 0])

        x = np.linspace(self.domain.lo[0], self.domain.hi[0], SCAN)
        signs = sign(x)
        at = np.flatnonzero(signs[:-1] * signs[1:] < 0)
        lo, hi = x[at], x[at + 1]
        for _ in range(HALVINGS):
            middle = (lo + hi) / 2
            left = sign(middle) == signs[at]
            lo, hi = np.where(left, middle, lo), np.where(left, hi, middle)
        return np.asarray(((lo + hi) / 2)[:, None])

    def _without_effect(self) -> Array:
        """Coordinates without effect on the equations: they stay at zero."""
        q = self.domain.random(8, self.rng)
        lam = np.zeros((len(q), self.problem.system.loop_rows))
        with np.errstate(all="ignore"):
            here = np.concatenate([self.problem.residuals(q, lam), self.problem.rows(q).reshape(len(q), -1)], axis=1)
        still = np.zeros(len(self.domain.names), dtype=bool)
        turning = {at + k for at in self.domain.balls for k in range(4)}
        for i in range(len(still)):
            further = q.copy()
            further[:, i] += self.rng.uniform(0.3, 2.0, size=len(q)) * self.domain.sizes[i]
            with np.errstate(all="ignore"):
                there = np.concatenate(
                    [self.problem.residuals(further, lam), self.problem.rows(further).reshape(len(q), -1)], axis=1
                )
            gap = np.abs(here - there)
            still[i] = i not in turning and bool(np.all(gap <= 1e-10 * (1.0 + np.abs(here))))
        return still

    def _follow(self, starts: Array, *, deflate: bool = False) -> None:
        size = len(self.problem.v) + self.problem.system.loop_rows
        chunk = max(4, min(CHUNK, MEMORY // size**2))
        for first in range(0, len(starts), chunk):
            part = starts[first : first + chunk]
            ends = settle(self.problem, part, deflation=self._deflation() if deflate else None)
            self.starts += len(part)
            self.gather(ends)
            if self.on_progress is not None:
                self.on_progress(self.starts, max(self.planned, self.starts))

    def _deflation(self) -> Deflation | None:
        if self.domain.balls or not self.found:
            return None
        known = np.array([f.q for f in self.found[:200]])
        return Deflation(known, self.domain.circles.astype(float), self.domain.sizes)

    def _mirror(self) -> None:
        """Starts from mirror images of known equilibria: most mechanisms have some symmetry."""
        if self.found and not self.domain.balls:
            images = -np.array([f.q for f in self.found])
            self.gather(settle(self.problem, images, passes=20), count=False)

    def _continue_springs(self) -> None:
        for ends in stiffened(self.problem, self.domain, self.rng):
            self.gather(settle(self.problem, ends, passes=30), count=False)

    @cached_property
    def _orbits(self) -> Orbits | None:
        at_rest_with_balls = self.problem.turning is None and self.problem.system.balls
        return Orbits.of(self.problem.balance) if at_rest_with_balls else None

    def features(self, q: Array) -> Array:
        """Numbers that are close exactly if poses are, up to a symmetry of the mechanism at rest."""
        return self.domain.features(q) if self._orbits is None else self._orbits.features(q)

    # -- one by one ---------------------------------------------------------------------------------

    def gather(self, ends: Array, *, count: bool = True) -> None:
        """Adds new equilibria and counts known ones."""
        if self.problem.turning is not None:
            ends = self.problem.turning.turned_back(self.problem.system, ends)
        for q, times in self._distinct(self.domain.wrapped(ends)):
            self._add(q, times if count else 0)

    def _distinct(self, ends: Array) -> list[tuple[Array, int]]:
        """Groups of equal states, and the size of each."""
        groups: list[tuple[Array, int]] = []
        features = self.features(ends)
        left = np.arange(len(ends))
        while len(left):
            near = np.abs(features[left] - features[left[0]]).max(axis=1) < APART
            groups.append((ends[left[0]], int(near.sum())))
            left = left[~near]
        return groups

    def _add(self, q: Array, times: int) -> None:
        known = self._known(q)
        if known is None:
            q, left = refine(self.problem, q)
            if self.problem.turning is not None:
                q = self.problem.turning.turned_back(self.problem.system, q)
            q = self.domain.wrapped(q)
            if not np.abs(left).max() < SETTLED or fades(self.problem, q):
                return
            known = self._known(q)
            if known is None:
                self._new(q, float(np.abs(left).max()), times)
                return
        known.times += times

    def _known(self, q: Array) -> Found | None:
        features = self.features(q)
        for one in self.found:
            near = APART_FLAT if one.directions.flat.size else APART
            if np.abs(self.features(one.q) - features).max() < near:
                return one
        return self._family_of(q, features)

    def _family_of(self, q: Array, features: Array) -> Found | None:
        """The known family that an equilibrium belongs to: the likely one is tried first."""
        families = [(one, one.members) for one in self.found if one.members is not None]
        if not families:
            return None
        potential = self._potential(q)
        order: list[tuple[bool, float, Array, Found]] = []
        for one, members in families:
            off = abs(members.potential - potential) > SAME_POTENTIAL * (abs(potential) + abs(members.potential))
            order.append((off, *members.nearest(features), one))  # most families have the same potential all along
        for _, _, member, one in sorted(order, key=lambda entry: entry[:2]):
            if one.members is not None and same_family(self.problem, self.domain, one.q, q, one.directions, member):
                one.members.add(q, features)
                return one
        return None

    def _merge_families(self) -> None:
        """Joins families that turn out to be one: among many members of both, some are neighbours."""
        kept: list[Found] = []
        for one in self.found:
            same = next((other for other in kept if self._are_one(other, one)), None)
            if same is None:
                kept.append(one)
            else:
                same.times += one.times
        self.found = kept

    def _are_one(self, one: Found, other: Found) -> bool:
        if one.members is None or other.members is None:
            return False
        if one.directions.family.shape != other.directions.family.shape:
            return False
        near = [one.members.nearest(features) for features in other.members.features]
        k = int(np.argmin([distance for distance, _ in near]))
        if same_family(self.problem, self.domain, one.q, other.members.poses[k], one.directions, near[k][1]):
            one.members.join(other.members)
            return True
        return False

    def _potential(self, q: Array) -> float:
        balance = self.problem.balance
        return float(self.problem.system.energies(q, self.problem.v, parameters=balance.parameters).potential)

    def _new(self, q: Array, left: float, times: int) -> None:
        if not bool(self.domain.inside(q)):
            if not any(np.abs(self.features(q) - self.features(x)).max() < APART for x in self.outside):
                self.outside.append(q)
            return
        directions = find_directions(self.problem, q)
        if directions.flat.size:
            q, left = self._best_of_flat(q, left)
        self.found.append(Found(q, left, times, directions, self._members(q, directions)))

    def _members(self, q: Array, directions: Directions) -> Members | None:
        return Members([q], self.features(q)[None], self._potential(q)) if directions.family.size else None

    def _best_of_flat(self, q: Array, left: float) -> tuple[Array, float]:
        """At a multiple root, a nearby round value that balances at least as well."""
        round_ = np.where(np.abs(q) < APART_FLAT, 0.0, q)
        size = float(np.abs(self.problem.residuals(round_[None], self.problem.multipliers(round_[None]))).max())
        return (round_, size) if size <= left + 1e-15 else (q, left)
