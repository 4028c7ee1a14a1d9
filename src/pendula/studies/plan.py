"""The plan of a study: which cases there are, in which order, and the values of each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.studies.axes import Axis, Names, Random, read_over
from pendula.studies.designs import DESIGNS, draws
from pendula.system.layout import Array
from pendula.tables.table import Block

CASE, DRAW, REPLICATE = "case", "draw", "replicate"
MOST_CASES = 10**8


@dataclass(frozen=True)
class Draws:
    """Random cases: their number, how they are drawn, and the seed.

    Attributes:
        count: number of draws at every point of the grid.
        design: "random" (independent), "latin" (Latin hypercubes) or "sobol" (scrambled Sobol sequences).
        seed: of the random numbers.
        replicates: independent randomizations of "latin" and "sobol", from whose spread errors are estimated.

    Example:
        >>> Draws(1024, "sobol").replicate[:3].tolist()  # they take turns
        [0, 1, 2]
    """

    count: int
    design: str = "random"
    seed: int = 1
    replicates: int = 32

    def __post_init__(self) -> None:
        for name in ("count", "seed", "replicates"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < (name != "seed"):
                raise UsageError(f"draws: {name} must be a positive integer, found {value!r}")
        if self.design not in DESIGNS:
            raise UsageError(f'draws: design is one of {", ".join(DESIGNS)}, found "{self.design}"')
        if self.design != "random" and self.count % self.replicates:
            raise UsageError(
                f"draws: {self.count} draws cannot be shared equally by {self.replicates} replicates.\n"
                f"  Try: a count of {self.replicates * max(1, round(self.count / self.replicates))}."
            )

    @property
    def replicate(self) -> Array:
        """The replicate that each draw belongs to; those of Sobol sequences take turns, so that all grow together."""
        if self.design == "random":
            return np.zeros(self.count, dtype=np.int64)
        if self.design == "sobol":
            return np.arange(self.count) % self.replicates
        return np.arange(self.count) // (self.count // self.replicates)


@dataclass(frozen=True, eq=False)
class Plan:
    """The cases of a study: all combinations of the axes, and at each of them the same random draws.

    Cases are numbered from 0, the last axis running fastest and the draws slowest, so that more draws are more cases
    at the end.

    Example:
        >>> plan = Plan((Axis("l", "parameter", np.array([1.0, 2.0])), Axis("m", "parameter", np.array([3.0, 4.0]))))
        >>> plan.size, plan.values(np.array([1, 2]))["l"].tolist()
        (4, [1.0, 2.0])
    """

    axes: tuple[Axis, ...] = ()
    random: tuple[Random, ...] = ()
    draws: Draws | None = None
    listed: Mapping[str, Axis] | None = None
    """columns of values, if the cases were given one by one"""

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        if self.listed is not None:
            return (CASE,)
        return (*((DRAW,) if self.draws else ()), *(axis.name for axis in self.axes))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        if self.listed is not None:
            return (next(iter(self.listed.values())).values.size,)
        return (*((self.draws.count,) if self.draws else ()), *(axis.values.size for axis in self.axes))

    @cached_property
    def size(self) -> int:
        """Number of cases."""
        return prod(map(int, self.shape))

    @property
    def kinds(self) -> dict[str, str]:
        """What varies, and whether it is a parameter, an initial value, an input or a setting."""
        return {one.name: one.kind for one in self._varying()}

    @property
    def units(self) -> dict[str, str]:
        """Units of what varies."""
        return {one.name: one.unit for one in self._varying()}

    def _varying(self) -> list[Axis | Random]:
        return [*self.axes, *self.random, *(self.listed or {}).values()]

    @cached_property
    def drawn(self) -> dict[str, Array]:
        """Values of the random quantities, one for each draw."""
        if self.draws is None:
            return {}
        over = {one.name: (one.distribution, *one.numbers) for one in self.random}
        rule, which = self.draws, self.draws.replicate
        found = {name: np.empty(rule.count) for name in over}
        for replicate in range(int(which.max()) + 1):
            some = np.flatnonzero(which == replicate)
            for name, values in draws(rule.design, over, len(some), seed=rule.seed, replicate=replicate).items():
                found[name][some] = values
        return found

    def values(self, cases: Array) -> dict[str, Array]:
        """Values of everything that varies, for some cases."""
        if self.listed is not None:
            return {name: axis.values[cases] for name, axis in self.listed.items()}
        places = np.unravel_index(cases, self.shape)
        found = {name: values[places[0]] for name, values in self.drawn.items()}
        grid = places[1:] if self.draws else places
        return found | {axis.name: axis.values[at] for axis, at in zip(self.axes, grid, strict=True)}

    def blocks(self) -> list[Block]:
        """Labels of the dimensions, as parts of a table."""
        if self.listed is not None:
            return [Block(CASE, (CASE,), np.arange(self.size)), *(
                Block(name, (CASE,), axis.values, axis.unit) for name, axis in self.listed.items()
            )]  # fmt: skip
        found = [Block(axis.name, (axis.name,), axis.values, axis.unit) for axis in self.axes]
        if self.draws is not None:
            found.append(Block(DRAW, (DRAW,), np.arange(self.draws.count)))
            found.append(Block(REPLICATE, (DRAW,), self.draws.replicate))
            found += [Block(one.name, (DRAW,), self.drawn[one.name], one.unit) for one in self.random]
        return found

    def describe(self) -> dict[str, Any]:
        """The plan as plain data: what distinguishes it from others."""
        return {
            "axes": [_about(axis) for axis in self.axes],
            "random": [[r.name, r.kind, r.distribution, *map(float.hex, r.numbers)] for r in self.random],
            "draws": None if self.draws is None else vars(self.draws).copy(),
            "listed": None if self.listed is None else [_about(axis) for axis in self.listed.values()],
        }


def _about(axis: Axis) -> dict[str, Any]:
    """An axis as plain data; long ones by their checksum."""
    values = np.ascontiguousarray(axis.values)
    ends = [str(values[0]), str(values[-1])]
    return {
        "name": axis.name, "kind": axis.kind, "unit": axis.unit, "count": int(values.size), "ends": ends,
        "digest": digest_of_values(values),
    }  # fmt: skip


def digest_of_values(values: Array) -> str:
    """A checksum of the values of an axis."""
    return hashlib.sha256(repr(values.tolist()).encode()).hexdigest()[:16]


def make_plan(names: Names, over: Any, drawn: Draws | int | Mapping[str, Any] | None) -> Plan:
    """The plan of a study.

    Args:
        names: what can vary.
        over: values by name (:data:`~pendula.studies.axes.FORMS`), or a list of cases, each with its values by name.
        drawn: how often random quantities are drawn: a number, ``Draws``, or its fields.

    Raises:
        UsageError: something cannot be read, or there are too many cases.
    """
    if isinstance(over, Sequence) and not isinstance(over, str):
        if drawn is not None:
            raise UsageError("draws are for random quantities, and all cases were listed one by one")
        return _listed_plan(names, over)
    axes, random = read_over(names, over)
    if random and drawn is None:
        raise UsageError(f'over: "{random[0].name}" is random: give the number of draws')
    if drawn is not None and not random:
        raise UsageError('draws: nothing is random; give a distribution, such as {"uniform": [0, 1]}')
    plan = Plan(axes, random, None if drawn is None else read_draws(drawn))
    if plan.size > MOST_CASES:
        shape = " x ".join(map(str, plan.shape))
        raise UsageError(f"a study has at most {MOST_CASES} cases, found {plan.size} ({shape})")
    taken = next((name for name in (DRAW, CASE, REPLICATE) if name in plan.kinds), None)
    if taken:
        raise UsageError(f'over: "{taken}" is the name of a dimension of studies; rename the parameter')
    return plan


def read_draws(given: Draws | int | Mapping[str, Any]) -> Draws:
    """How often random quantities are drawn, from a number, ``Draws``, or its fields.

    Raises:
        UsageError: a field is unknown or missing.
    """
    if isinstance(given, Draws):
        return given
    if isinstance(given, Mapping):
        try:
            return Draws(**given)
        except TypeError:
            fields = ", ".join(Draws.__dataclass_fields__)
            raise UsageError(f"draws has the fields {fields} (count is needed), found {', '.join(given)}") from None
    return Draws(given)


def _listed_plan(names: Names, cases: Sequence[Any]) -> Plan:
    """A plan of cases that were given one by one."""
    if not cases or not all(isinstance(case, Mapping) for case in cases):
        raise UsageError("over: a list of cases holds a dictionary of values by name for each of them")
    columns = [*cases[0]]
    for k, case in enumerate(cases):
        if [*case] != columns and {*case} != {*columns}:
            raise UsageError(f"over: case {k} sets {', '.join(case) or 'nothing'}, and case 0 {', '.join(columns)}")
    if not columns:
        raise UsageError("over: the cases set nothing")
    over = {name: [case[name] for case in cases] for name in columns}
    axes, _ = read_over(names, over)
    return Plan(listed={axis.name: axis for axis in axes})
