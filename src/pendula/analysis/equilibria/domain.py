"""The search domain of equilibria: the circle for periodic angles, otherwise a box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.arguments import available, read_table
from pendula.errors import UsageError
from pendula.model.periodic import repeats
from pendula.model.quantities import number_in
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System

TURN = 2.0 * math.pi
BEYOND = 0.01
"""angles that are not periodic are searched slightly beyond a full turn, where equilibria are frequent [rad]"""
LENGTHS = 10.0
"""lengths are searched up to this many typical lengths"""
ALIKE = 1e-9
"""forces at two states are equal if they differ by less than this fraction of the largest"""
PROBES = 12


@dataclass(frozen=True)
class Domain:
    """The search domain, by coordinate.

    Attributes:
        names: coordinates.
        lo, hi: bounds; for angles on the circle -pi and pi.
        circles: whether a coordinate is periodic.
        balls: first index of every quaternion, which ranges over all rotations.
        lengths: whether a coordinate is not an angle.
        groups: absolute angles that are periodic only together; the first of each group is kept in (-pi, pi].
        sizes: a radian or a typical length, which makes coordinates dimensionless.
    """

    names: tuple[str, ...]
    lo: Array
    hi: Array
    circles: Array
    balls: tuple[int, ...]
    sizes: Array
    lengths: Array
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def box(self) -> dict[str, tuple[float, float]]:
        """Bounds by name, without quaternions."""
        turning = {at + k for at in self.balls for k in range(4)}
        rows = zip(self.names, self.lo.tolist(), self.hi.tolist(), strict=True)
        return {name: (lo, hi) for i, (name, lo, hi) in enumerate(rows) if i not in turning}

    def wrapped(self, q: Array) -> Array:
        """States with periodic angles in (-pi, pi], and quaternions with nonnegative first entry."""
        q = np.array(q, dtype=float)
        q = np.where(self.circles, _on_circle(q), q)
        for group in self.groups:
            first = q[..., group[0]]
            q[..., list(group)] += (_on_circle(first) - first)[..., None]
        for at in self.balls:
            flip = q[..., at] < -1e-12
            q[..., at : at + 4] = np.where(flip[..., None], -q[..., at : at + 4], q[..., at : at + 4])
        return q

    def inside(self, q: Array) -> Array:
        """Which states lie in the box, including its edge up to rounding."""
        margin = 1e-9 * (self.hi - self.lo)
        bounded = ~self.circles
        for at in self.balls:
            bounded[at : at + 4] = False
        ok = (q >= self.lo - margin) & (q <= self.hi + margin)
        return np.asarray(np.all(ok | ~bounded, axis=-1))

    def features(self, q: Array) -> Array:
        """Numbers that are close exactly if the poses are."""
        parts = [np.where(self.circles, np.sin(q), q / self.sizes), np.where(self.circles, np.cos(q), 0.0)]
        for at in self.balls:
            x = q[..., at : at + 4]
            parts[0][..., at : at + 4] = 0.0
            parts.append((x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], 16))
        return np.concatenate(parts, axis=-1)

    def gap(self, q: Array, to: Array) -> Array:
        """Differences of coordinates, the short way round for periodic ones."""
        gap = np.asarray(to) - q
        return np.where(self.circles, (gap + math.pi) % TURN - math.pi, gap)

    def random(self, count: int, rng: np.random.Generator) -> Array:
        """Random states: angles uniform, lengths denser near zero, where equilibria are more likely."""
        q = self.lo + (self.hi - self.lo) * rng.uniform(size=(count, len(self.names)))
        nearer = 10.0 ** (-2.0 * rng.uniform(size=(count, 1)))
        q = np.where(self.lengths, np.clip(q * nearer, self.lo, self.hi), q)
        for at in self.balls:
            turn = rng.normal(size=(count, 4))
            q[:, at : at + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        return q

    def lattice(self, most: int, rng: np.random.Generator, angles: Array) -> Array:
        """Poses with every angle a multiple of pi, other coordinates 0 and random quaternions, up to a limit."""
        choices: list[tuple[float, ...]] = []
        for i, angle in enumerate(angles):
            if angle and self.circles[i]:
                choices.append((0.0, math.pi))
            elif angle:
                first, last = math.ceil(self.lo[i] / math.pi), math.floor(self.hi[i] / math.pi)
                choices.append(tuple(math.pi * k for k in range(first, last + 1)) or (0.0,))
            else:
                choices.append((0.0,))
        total = math.prod(len(c) for c in choices)
        if total <= most:
            q = np.array(list(islice(product(*choices), most)))
        else:
            q = np.stack([rng.choice(c, size=most) for c in choices], axis=1)
        for at in self.balls:
            q[:, at : at + 4] = self.random(len(q), rng)[:, at : at + 4]
        return q


def _on_circle(angle: Array) -> Array:
    """Angles in (-pi, pi]; -pi up to rounding becomes pi."""
    turned = math.pi + 1e-9 - (math.pi + 1e-9 - angle) % TURN
    return np.where(np.abs(angle) <= math.pi - 1e-6, angle, turned)


def domain_of(balance: Balance, box: Mapping[str, Any] | None) -> Domain:
    """The domain in joint coordinates: circles for angles proven periodic, bounds as given or by default."""
    system = balance.system
    names, kinds = system.layout.coordinates, system.layout.coordinate_kinds
    angles = np.array([k == "angle" for k in kinds])
    length = typical_length(system, balance.parameters)
    given = _read_box(system, box)
    balls = tuple(at for at, _ in system.balls)
    half = np.where(angles, TURN + BEYOND, LENGTHS * length)
    lo, hi = -half, half
    for name, (low, high) in given.items():
        lo[names.index(name)], hi[names.index(name)] = low, high
    circles = np.zeros(len(names), dtype=bool)
    rough = Domain(names, lo, hi, circles.copy(), balls, np.where(angles, 1.0, length), ~angles)
    values = system.layout.parameter_values(balance.parameters)
    for i, name in enumerate(names):
        if angles[i] and name not in given and repeats(system.model, [name], values):
            circles[i], lo[i], hi[i] = True, -math.pi, math.pi

    def all_repeat(group: list[int]) -> bool:
        return repeats(system.model, [names[i] for i in group], values)

    groups = []
    for group in _turning_together(system):
        if not circles[group[0]] and not any(names[i] in given for i in group) and all_repeat(group):
            groups.append(tuple(group))
            lo[group[0]], hi[group[0]] = -math.pi, math.pi
    return Domain(names, lo, hi, circles, balls, rough.sizes, ~angles, tuple(groups))


def _turning_together(system: System) -> list[list[int]]:
    """For every absolute angle: itself and the absolute angles of all outboard bodies."""
    above = {j.child.body: j.parent.body for j in system.model.tree}
    place = {name: i for i, name in enumerate(system.layout.coordinates)}
    turns = [j for j in system.model.tree if j.absolute_turn() is not None]

    def beyond(body: str, first: str) -> bool:
        while body != first and body in above:
            body = above[body]
        return body == first

    groups = []
    for joint in turns:
        carried = [j for j in turns if beyond(j.child.body, joint.child.body)]
        found = [place[c.name] for j in carried for c in j.coordinates() if c.name in place]
        groups += [found] if len(found) > 1 else []
    return groups


def _read_box(system: System, box: Mapping[str, Any] | None) -> dict[str, tuple[float, float]]:
    known = system.layout.coordinates
    found: dict[str, tuple[float, float]] = {}
    for name, value in read_table(box, "box").items():
        if name not in known:
            raise UsageError(f'box: there is no coordinate "{name}"; {available(known, 10)}')
        if any(name in known[at : at + 4] for at, _ in system.balls):
            raise UsageError(f'box: "{name}" is part of a rotation, which is searched as a whole')
        pair = value.tolist() if isinstance(value, np.ndarray) else value
        ends = pair if isinstance(pair, (tuple, list)) else (-math.inf, pair)
        if len(ends) != 2:
            raise UsageError(f"box: {name} expects (lowest, highest) or one number, found {value!r}")
        low, high = (number_in(x, system.layout.units.get(name, ""), f"box: {name}") for x in ends)
        low = low if ends is pair else -high
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(f"box: {name} needs finite lowest < highest, found {low:g} to {high:g}")
        found[name] = (low, high)
    return found


def is_cyclic(balance: Balance, name: str, rng: np.random.Generator) -> bool:
    """Whether a coordinate is cyclic: forces at any speeds, masses and loops do not depend on it."""
    system = balance.system
    i, n = system.layout.coordinates.index(name), len(system.layout.speeds)
    q = rng.uniform(-1.0, 1.0, size=(PROBES, len(system.layout.coordinates)))
    v = rng.normal(size=(PROBES, n))
    for at, _ in system.balls:
        q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    further = q.copy()
    further[:, i] += rng.uniform(0.5, 2.5, size=PROBES)

    def looks(x: Array) -> Array:
        with np.errstate(all="ignore"):
            forces = balance.forces(x, v)
            masses = system.mass_matrix(x, 0.0, parameters=balance.parameters).reshape(PROBES, -1)
            loops = balance.loops(x, v)
        return np.concatenate([forces, masses, loops], axis=1)

    here, there = looks(q), looks(further)
    good = np.all(np.isfinite(here) & np.isfinite(there), axis=1)
    size = np.abs(here[good]).max(initial=1e-300)
    return bool(np.any(good)) and bool(np.abs(here[good] - there[good]).max(initial=0.0) <= ALIKE * size)
