"""Compiles expressions of time, state and parameters that a run watches for events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pendula.equations.translate import translate
from pendula.errors import UsageError
from pendula.model.expressions.expression import Expression, parse
from pendula.model.names import suggestion
from pendula.numerics.compiled.native import Callback
from pendula.system.code.programs import Compiled
from pendula.system.layout import Array
from pendula.system.system import System

ROUNDING = 4e-15
"""Rounding error of a state, relative to its largest entry."""


def names_of(system: System) -> dict[str, Any]:
    """Names for expressions: t, coordinates, speeds, prescribed motions, inputs, parameters."""
    known = system.symbols()
    for name, law in system.model.laws.items():
        read = parse(law)
        known[name] = translate(read, {n: known[n] for n in read.names})
    if system.inputs.over_time:  # their values are known to the run alone
        known = {name: symbol for name, symbol in known.items() if name not in system.layout.inputs}
    return known


def check_names(expression: Expression, known: Mapping[str, Any], where: str) -> None:
    """Rejects unknown names.

    Raises:
        UsageError: gives the unknown name and suggests a similar one.
    """
    for name in sorted(expression.names):
        if name not in known:
            hint = suggestion(name, known, most=12)
            raise UsageError(f'{where}: there is no "{name}"; {hint}')


def watch_program(system: System, expressions: Sequence[Expression], vector: Array) -> Compiled:
    """A program that reads [t, q, v] and writes the values of the expressions."""
    known = names_of(system)
    values = [translate(e, {n: known[n] for n in e.names}) for e in expressions]
    return system.watching([e.to_text() for e in expressions], values, vector)


def as_callback(program: Compiled) -> Callback:
    """The program as a native function for a stepper."""
    return Callback(program.native.evaluate, program.context, program)


def sides_at(program: Compiled, t: float, y: Array) -> Array:
    """Signs of the expressions at a state; 0 if a value is zero within the rounding of t and of the state.

    Raises:
        ValueError: an expression is NaN there; its index is the argument.
    """
    x = np.concatenate([[t], y])
    nudge = ROUNDING * np.append(max(abs(t), 1e-300), np.full(y.size, np.abs(y).max(initial=0.0)))
    values = program.rows(np.vstack([x, x + np.diag(nudge)]))
    if np.isnan(values[0]).any():
        raise ValueError(int(np.flatnonzero(np.isnan(values[0]))[0]))
    with np.errstate(invalid="ignore"):
        rounding = np.abs(values[1:] - values[0]).sum(axis=0)
    return np.where(np.abs(values[0]) <= np.nan_to_num(rounding, posinf=0.0), 0.0, np.sign(values[0]))
