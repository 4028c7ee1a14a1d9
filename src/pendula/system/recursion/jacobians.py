"""Binds the derivative kernels to a system: groups columns into batches of eight, and allocates memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.numerics.compiled.ahead import compile_ahead, name_of
from pendula.numerics.compiled.records import Memory
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.numerics.scalars.tangents import FIRST, WIDTH
from pendula.system.code.programs import prepared_parameters
from pendula.system.layout import Array
from pendula.system.recursion import columns as co
from pendula.system.recursion import derivatives as dk
from pendula.system.recursion import kernels as rk
from pendula.system.recursion.binding import extended
from pendula.system.recursion.carried import CHANGES_WIDTH, FROZEN_WIDTH
from pendula.system.recursion.columns import BALL, BETWEEN, CHART, PULL
from pendula.system.recursion.tables import Gradient, Tables, has_straight_springs

if TYPE_CHECKING:
    from pendula.system.dynamics import Dynamics

STEP = 1e-30  # complex step: its square vanishes in rounding, so derivatives are exact


@dataclass(frozen=True)
class Batches:
    """Columns of a Jacobian in groups of eight.

    Attributes:
        seeds: index in [t, q, v, u] of each lane's variable, 0 if it is not a coordinate or speed.
        targets: column of the result that each lane computes, -1 for none.
        hinges: number of the hinge that each lane belongs to, 0 for none.
        ranges: first hinge that the group moves, last that it moves directly, last that is carried along.
    """

    seeds: Array
    targets: Array
    hinges: Array
    ranges: Array

    @classmethod
    def of(cls, tables: Tables, by: str, gradient: Gradient | None) -> Batches:
        """Groups for derivatives by ``q``, ``v``, ``u``, ``p`` or several of them; close hinges share a group."""
        columns = columns_of(tables, by)
        reach = _Reach(tables)
        found = []
        for target, seed in enumerate(columns):
            far = seed == 0 or (gradient is not None and gradient.far[target])
            found.append((reach(0 if far else seed), target, seed))
        found.sort(key=lambda entry: (-entry[0][0], entry[1]))
        count = -(-len(found) // LANES)
        seeds, targets = np.zeros((count, LANES), dtype=np.int64), np.full((count, LANES), -1, dtype=np.int64)
        ranges = np.ones((count, 3), dtype=np.int64)
        start = 0
        for k in range(count):  # the incomplete group comes first, since the outermost hinges have the shortest passes
            end = len(found) - LANES * (count - 1 - k)
            group = sorted(found[start:end], key=lambda entry: entry[1])
            firsts, owns, lasts = zip(*(reached for reached, _, _ in group), strict=True)
            ranges[k] = min(firsts), max(owns), max(*owns, *lasts)
            targets[k, : len(group)], seeds[k, : len(group)] = [g[1] for g in group], [g[2] for g in group]
            start = end
        hinges = np.array([[reach.hinge(int(seed)) for seed in row] for row in seeds], dtype=np.int64)
        return cls(seeds, targets, hinges.reshape(-1, LANES), ranges)


def columns_of(tables: Tables, by: str) -> list[int]:
    """Index in [t, q, v, u] of every variable of a Jacobian, 0 for inputs and parameters."""
    m = tables.mechanism
    found = {
        "q": list(range(1, 1 + tables.nq)),
        "v": list(range(1 + tables.nq, 1 + tables.nq + tables.nv)),
        "u": [0] * len(m.inputs),
        "p": [0] * len(m.parameters),
    }
    return [x for letter in by for x in found[letter]]


def symbols_of(tables: Tables, by: str) -> list[Any]:
    """The symbols of the same variables."""
    m = tables.mechanism
    found = {"q": m.q, "v": m.v, "u": m.inputs, "p": m.parameters}
    return [x for letter in by for x in found[letter]]


class _Reach:
    """Hinges that a coordinate or speed (index in [t, q, v, u]) moves: first, last direct, last carried; all for 0."""

    def __init__(self, tables: Tables) -> None:
        hinges, count = tables.hinges, len(tables.hinges)
        last = list(range(count + 1))
        for i in range(count, 0, -1):
            up = int(hinges["parent"][i - 1])
            last[up] = max(last[up], last[i])
        # a spring between two points may couple any hinges
        everywhere = bool(np.any(np.isin(tables.loads["kind"], (BETWEEN, PULL))))
        carries = carries_along(tables)
        self._of, self._hinges = {0: (1, count, count)}, {0: 0}
        for i, hinge in enumerate(hinges, start=1):
            q, v, free = (int(hinge[name]) for name in ("q", "v", "free"))
            if v < 0:
                continue
            own = 4 if hinge["kind"] == BALL else int(hinge["turned"]) or free
            places = [1 + q + k for k in range(own)]
            places += [1 + tables.nq + v + k for k in range(free)]
            reached = (1, count, count) if everywhere else (i, i if carries else last[i], last[i])
            self._of |= dict.fromkeys(places, reached)
            self._hinges |= dict.fromkeys(places, i)

    def __call__(self, seed: int) -> tuple[int, int, int]:
        return self._of[seed]

    def hinge(self, seed: int) -> int:
        """The hinge it belongs to."""
        return self._hinges[seed]


def carries_along(tables: Tables) -> bool:
    """Whether hinges outboard of a moved one may be carried along as a frozen body: only relative motion matters.

    This excludes quaternions, whose entries may also change their length.
    """
    hinges = tables.hinges
    quaternions = np.any(hinges["kind"] == BALL) or np.any(hinges["turned"] == 4)
    return not (len(tables.loads) or np.any(hinges["absolute"] == 1) or quaternions)


def is_direct(tables: Tables) -> bool:
    """Whether there are also only revolute and prismatic joints and linear springs, with known derivatives."""
    constant = has_straight_springs(tables.springs)
    return bool(carries_along(tables) and constant and not np.any(tables.hinges["kind"] == CHART))


class BoundJacobian:
    """Derivative kernels with their memory.

    Args:
        tables: tables of the model.
        dynamics: new callbacks of the same system, whose program reads inputs as numbers.
        by: letters among ``q``, ``v``, ``u``; or ``p``.
        batches: the grouping of the columns.
        gradient: program of the derivatives of expressions, if there are any.
        vector: the parameters.
        solves: whether to differentiate accelerations, which needs more kernels than the residual.
    """

    def __init__(
        self,
        tables: Tables,
        dynamics: Dynamics,
        by: str,
        batches: Batches,
        gradient: Gradient | None,
        vector: Array,
        *,
        solves: bool,
    ) -> None:
        n, nq, nv = len(tables.hinges), tables.nq, tables.nv
        self.count = len(columns_of(tables, by))
        moved = 0 if gradient is None else len(gradient.places)
        context = self.context = extended(dynamics.workspace.context, dk.DERIVATIVES)
        context.columns, context.batches, context.moved = self.count, len(batches.ranges), moved
        context.ranges, context.seeds, context.targets = batches.ranges, batches.seeds, batches.targets
        context.slopes = np.zeros((self.count, moved + 1))
        context.d_w, context.d_q = aligned_zeros(n + 1, co.WIDTH, WIDTH), aligned_zeros(nq + 1, WIDTH)
        context.d_v, context.d_tau = (aligned_zeros(nv + tables.drives + 1, WIDTH) for _ in range(2))
        context.d_aside, context.d_left = aligned_zeros(tables.aside + 1, WIDTH), aligned_zeros(nv + 1, WIDTH)
        context.d_right, context.d_wrenches = aligned_zeros(nv + 1, LANES), aligned_zeros(n + 1, 6, LANES)
        rates = context.rates = np.zeros(nq + nv + 1)
        context.given, context.request = rates[nq:], np.zeros(1, dtype=dk.REQUEST)
        if by != "p" and carries_along(tables):
            context.frozen = aligned_zeros(n + 1, FROZEN_WIDTH)
            context.d_changes, context.lane_hinges = aligned_zeros(n + 1, CHANGES_WIDTH, LANES), batches.hinges
        context.inputs = len(tables.mechanism.inputs)
        self.state = context.x = np.zeros(1 + nq + nv + len(tables.mechanism.inputs))
        """[t, q, v, u] of single evaluations"""
        if by == "p":
            fill_parameter_tables(context, tables, vector, batches)
        direct = solves and by in ("q", "v", "qv") and is_direct(tables)
        one_batch = dk.by_parameters if by == "p" else dk.by_state
        whole = dk.of_turns_and_slides if direct else dk.of_accelerations
        codes = {"forward_code": rk.right_hand_side, "whole_code": whole} if solves else {}
        if not direct:
            codes["pass_code"] = one_batch
        new = [code for code in codes.values() if not code.ready]
        if len(new) > 1:
            compile_ahead(*(name_of(code.__wrapped__) for code in new[1:]))
        for name, code in codes.items():
            setattr(context, name, code.address)
        if gradient is not None:
            context.moved_at, context.slopes_code = gradient.places, gradient.native.evaluate
            context.slopes_parameters = prepared_parameters(gradient.native, vector)
            context.keep(gradient)


def fill_parameter_tables(context: Memory, tables: Tables, vector: Array, batches: Batches) -> None:
    """All numbers that depend on parameters, with their tangents, batch by batch, by complex steps."""
    base, count = tables.numbers(vector), len(batches.ranges)
    fields = {"hinges": "d_numbers", "springs": "d_spring_numbers", "loads": "d_load_numbers", "gravity": "d_gravity"}
    found: dict[str, Array] = {}
    for name, entry in fields.items():
        values = getattr(base, name)
        memory = aligned_zeros(count * values.size + 1, WIDTH)
        setattr(context, entry, memory)
        found[name] = memory[:-1].reshape(count, values.size, WIDTH)
        found[name][:, :, 0] = values.ravel()
    for batch, lane in zip(*np.nonzero(batches.targets >= 0), strict=True):
        changed = vector.astype(complex)
        changed[batches.targets[batch, lane]] += 1j * STEP
        numbers = tables.numbers(changed)
        for name, memory in found.items():
            memory[batch, :, FIRST + lane] = getattr(numbers, name).imag.ravel() / STEP
