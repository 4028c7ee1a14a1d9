"""A batch of cases, as computations see it: one system, and values that differ from case to case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pendula.errors import PendulaError
from pendula.interrupts import whole
from pendula.simulation.starts import row_of
from pendula.system.layout import Array
from pendula.system.parameters import parameter_vector
from pendula.system.system import System
from pendula.tables.table import Block

Tell = Callable[[int, int], None]
"""called with the number of cases that have ended, and of all; raises KeyboardInterrupt if the work has to stop"""


def silent(ended: int, of: int) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True)
class Case:
    """One case of a study, as a user's function gets it.

    Attributes:
        number: of the case in its study.
        system: the compiled mechanism.
        parameters: all parameters of the case, in the order of the system's layout.
        initial_state: initial coordinates and speeds that the study sets, by name.
        options: settings of the computation.

    Example:
        >>> import pendula
        >>> def swing(case):
        ...     run = pendula.simulate(case.system, 1.0, initial_state=case.initial_state, parameters=case.parameters)
        ...     return {"lowest": run["theta"].min()}
        >>> found = pendula.sweep("pendulum", {"theta": [0.1, 0.2]}, swing, on="here")
        >>> found["lowest"].shape
        (2,)
    """

    number: int
    system: System
    parameters: Array
    initial_state: Mapping[str, float]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Batch:
    """Cases that share a system and settings.

    Attributes:
        system: the compiled mechanism.
        numbers: of the cases in their study.
        parameters: values of the parameters that vary, by name.
        initial: values of the initial coordinates and speeds that vary, by name.
        options: settings of the computation.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system("pendulum")
        >>> batch = Batch(system, np.arange(2), {}, {"theta": np.array([0.1, 0.2])}, {})
        >>> len(batch), batch.state(1)
        (2, {'theta': 0.2})
    """

    system: System
    numbers: Array
    parameters: Mapping[str, Array]
    initial: Mapping[str, Array]
    options: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def vectors(self) -> tuple[Array, dict[int, str]]:
        """All parameters of every case (one row if they are the same for all), and cases whose values make no sense."""
        if not self.parameters:
            return self.system.parameters[None], {}
        rows, wrong = np.repeat(self.system.parameters[None], len(self), axis=0), dict[int, str]()
        sets, which = np.unique(np.stack([*self.parameters.values()], axis=1), axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        starts = np.searchsorted(which.ravel()[order], np.arange(len(sets) + 1))
        for one, values in enumerate(sets):  # each set once: on a grid, many cases share it
            some = order[starts[one] : starts[one + 1]]
            try:
                rows[some] = parameter_vector(self.system, dict(zip(self.parameters, values.tolist(), strict=True)))
            except PendulaError as error:
                wrong |= dict.fromkeys(some.tolist(), reason(error))
        return rows, wrong

    def vector(self, k: int) -> Array:
        """All parameters of one case."""
        return row_of(self.vectors[0], k)

    def state(self, k: int) -> dict[str, float]:
        """Initial values of one case that the study sets, by name."""
        return {name: float(x[k]) for name, x in self.initial.items()}

    def part(self, some: Array) -> Batch:
        """Some of the cases."""
        return Batch(
            self.system, self.numbers[some], {n: x[some] for n, x in self.parameters.items()},
            {n: x[some] for n, x in self.initial.items()}, self.options,
        )  # fmt: skip

    def cases(self) -> Iterator[Case]:
        """The cases, one by one."""
        for k in range(len(self)):
            yield Case(int(self.numbers[k]), self.system, self.vector(k), self.state(k), self.options)


@dataclass(frozen=True)
class Computed:
    """What a computation gives for a batch.

    Attributes:
        blocks: arrays over ``case`` and further dimensions, and labels of those; numbers are floats, NaN if unknown.
        failures: by place in the batch, why a case could not be computed.

    Example:
        >>> Computed((Block("size", ("case",), np.array([1.0, np.nan])),), {1: "too far"}).failures
        {1: 'too far'}
    """

    blocks: tuple[Block, ...]
    failures: Mapping[int, str]


def reason(error: Exception) -> str:
    """An error in one line; unexpected ones with their type."""
    text = " ".join(str(error).split())
    return text if isinstance(error, PendulaError) and text else f"{type(error).__name__}: {text}"


def one_by_one(
    batch: Batch, compute: Callable[[int], Mapping[str, Any]], tell: Tell
) -> tuple[dict[str, list[Any]], dict[int, str]]:
    """Computes the cases of a batch one after the other.

    Args:
        batch: the cases.
        compute: called with the place of a case; returns its results by name.
        tell: progress.

    Returns:
        Results by name, None for cases that failed; and the reasons.
    """
    found: dict[str, list[Any]] = {}
    failures = dict(batch.vectors[1])
    for k in range(len(batch)):
        if k not in failures:
            try:
                for name, value in whole(compute, k).items():
                    found.setdefault(name, [None] * len(batch))[k] = value
            except MemoryError:
                raise
            except Exception as error:
                failures[k] = reason(error)
        tell(k + 1, len(batch))
    return found, failures


def numbers(values: list[Any]) -> Array:
    """Results of all cases as floats; NaN where there is none."""
    return np.array([np.nan if x is None else float(x) for x in values])


def words(values: list[Any]) -> Array:
    """Results of all cases as words; empty where there is none."""
    return np.array(["" if x is None else str(x) for x in values], dtype=str)


def padded(values: list[Any], most: int) -> Array:
    """Lists of numbers as rows of the same length, filled with NaN."""
    rows = np.full((len(values), most), np.nan)
    for row, one in zip(rows, values, strict=True):
        if one is not None:
            row[: min(most, len(one))] = np.asarray(one, dtype=float)[:most]
    return rows
