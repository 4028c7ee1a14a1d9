"""A function of the user's own as a computation: called with one case, it returns numbers by name."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.studies.batch import Batch, Case, Computed, Tell, one_by_one, words
from pendula.studies.computations.registry import Computation
from pendula.system.layout import Array
from pendula.tables.table import Block

Function = Callable[[Case], Any]


def own_computation(function: Function) -> Computation:
    """A computation that calls a function for every case. Whatever it raises makes that case fail, with its reason."""

    def compute(batch: Batch, tell: Tell) -> Computed:
        cases = list(batch.cases())
        found, failures = one_by_one(batch, lambda k: _results(function, cases[k]), tell)
        return Computed(tuple(_block(name, values) for name, values in found.items()), failures)

    return Computation(compute)


def _results(function: Function, case: Case) -> Mapping[str, Any]:
    found = function(case)
    if not isinstance(found, Mapping):
        name = getattr(function, "__name__", "value").strip("<>") or "value"
        if found is None:
            raise UsageError(f"the function {name} returned None; it must return a number, or results by name")
        found = {name: found}
    for name, value in found.items():
        if not isinstance(name, str):
            raise UsageError(f"results have names that are text, found {name!r}")
        if isinstance(value, str):
            continue
        try:
            np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(f'"{name}" must be a number, an array of numbers or text, found {value!r:.60}') from None
    return found


def _block(name: str, values: list[Any]) -> Block:
    """Results of all cases as an array; those that failed are NaN, or empty text."""
    known = [x for x in values if x is not None]
    if all(isinstance(x, str) for x in known):
        return Block(name, ("case",), words(values))
    arrays = [np.asarray(x, dtype=float) for x in known]
    shape = arrays[0].shape
    if any(x.shape != shape for x in arrays):
        shapes = sorted({str(x.shape) for x in arrays})
        raise UsageError(f'"{name}" has different shapes in different cases: {", ".join(shapes)}')
    found: Array = np.full((len(values), *shape), np.nan)
    found[[k for k, x in enumerate(values) if x is not None]] = np.array(arrays)
    return Block(name, ("case", *(f"{name}_{k + 1}" for k in range(len(shape)))), found)


def identity(function: Function) -> str:
    """What distinguishes a function from others: its name, and a checksum of its source where that is known."""
    name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
