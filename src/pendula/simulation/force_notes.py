"""Notes on forces that the steps of a run could not resolve: narrow in the state, or jumping to and fro."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pendula.model.checks.usage import expressions
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import interpret
from pendula.model.expressions.arrays import Arrays
from pendula.model.expressions.expression import Expression, parse
from pendula.numerics.steppers.stepping import Integration
from pendula.system.layout import Array
from pendula.system.switches.in_time import margins
from pendula.system.system import System

LOOKS = 8192
"""points between the least and the largest value of a coordinate or speed at which a force is looked at"""
LONG = 8
"""a step may miss a force if it is this many times as long as the range in which the force acts"""
FLIPS, OFTEN = 200, 0.02
"""a run sticks to a jump if it crosses it at least this many times, and in at least this share of its steps"""


@lru_cache(maxsize=64)
def _laws(forces: tuple[Any, ...], given: tuple[tuple[str, Any], ...]) -> tuple[Expression, ...]:
    """Expressions of forces that may be narrow or jump: those with functions, conditions or quotients."""
    inputs = {name: parse(value) for name, value in given}
    found = [e.expression for force in forces for e in expressions(force)]
    found = [e.substitute(inputs) if e.names & inputs.keys() else e for e in found if e.names]
    return tuple(e for e in found if e.fold(_bends))


def _bends(node: ex.Node, parts: tuple[bool, ...]) -> bool:
    return any(parts) or isinstance(node, ex.Call | ex.Conditional | ex.Divide | ex.Power)


class Missed(NamedTuple):
    """A force that the steps of a run may have missed: why, and a step that cannot miss it."""

    note: str
    step: float


def look_at_forces(system: System, run: Integration, vector: Array) -> tuple[list[Missed], list[str]]:
    """Forces that steps may have missed, and notes on jumps of forces to which the motion sticks."""
    model = system.model
    laws = _laws(tuple(model.forces), tuple(model.inputs.items())) if model.forces else ()
    if not laws:
        return [], []
    layout = system.in_joints.layout
    states = {*layout.coordinates, *layout.speeds}
    laws = tuple(law for law in laws if law.names & states)
    if not laws or len(run.t) < 2:
        return [], []
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    q, v = system.in_joints.read(run.y[:, :nq], run.y[:, nq : nq + nv], run.t, parameters=vector)
    seen = dict(zip((*layout.coordinates, *layout.speeds), (*q.T, *v.T), strict=True))
    constants = system.layout.parameter_values(vector)
    unit = system.layout.time_unit
    missed: list[Missed] = []
    notes: list[str] = []
    for law in dict.fromkeys(laws):
        missed += _missed(law, seen, constants, run.t, unit)
        notes += _stuck(law, {**constants, **seen, "t": run.t}, states, run.t, unit)
    return missed, notes


def _missed(
    law: Expression, seen: Mapping[str, Array], constants: Mapping[str, float], t: Array, unit: str
) -> Iterator[Missed]:
    """Whether steps far longer than the range of a force of one coordinate or speed passed its strongest value."""
    (name, *others) = sorted(law.names - constants.keys())
    if others or name not in seen:
        return
    x = seen[name]
    grid = np.linspace(x.min(), x.max(), LOOKS)
    f = _values(law.root, {**constants, name: grid}, grid.shape)
    size = np.abs(f - np.median(f))
    if not np.isfinite(size).all() or not size.any():
        return
    peak = int(np.argmax(size))
    low = np.flatnonzero(size <= 0.5 * size[peak])
    k = int(np.searchsorted(low, peak))
    if not 0 < k < low.size:
        return  # it acts up to an end of the range, where the motion turns
    width = grid[low[k]] - grid[low[k - 1]]
    passed = ((x[:-1] - grid[peak]) * (x[1:] - grid[peak]) <= 0.0) & (np.abs(np.diff(x)) > LONG * width)
    if passed.any():
        rates = np.abs(np.diff(x)[passed] / np.diff(t)[passed])
        yield Missed(
            f"the force {law.to_text()} acts only within {width:.2g} of {name} = {grid[peak]:.6g}, and a step of "
            f"{np.abs(np.diff(x))[passed].max():.2g} passed that (t = {t[:-1][passed][0]:.6g} {unit}), so it may be "
            'missing: try stepper="rk4" with a short step=..., or a wider force',
            0.5 * float(width / rates.max()),
        )


def _stuck(law: Expression, names: Mapping[str, Any], states: set[str], t: Array, unit: str) -> Iterator[str]:
    """A note if many steps cross the same jump of a force."""
    for node in ex.post_order(law.root):
        if not (isinstance(node, ex.Compare) or (isinstance(node, ex.Call) and node.function == "sign")):
            continue
        for margin in margins(node):
            of = sorted({n.id for n in ex.post_order(margin) if isinstance(n, ex.Name)} & states)
            side = np.sign(_values(margin, names, t.shape)) if of else np.zeros(1)
            flips = np.flatnonzero(side[1:] * side[:-1] < 0.0)
            if flips.size > max(FLIPS, OFTEN * len(t)):
                what = ex.write(ex.post_order(margin))
                yield (
                    f"the force {law.to_text()} jumps at {what} = 0, and the run crosses that {flips.size} times in "
                    f"{len(t) - 1} steps (from t = {t[flips[flips.size // 10]]:.4g} {unit}): it sticks there, which "
                    f"steps cannot follow. Try a smooth force in {', '.join(of)}: tanh(({what})/eps) for "
                    f"sign({what}), with a small eps"
                )


def _values(node: ex.Node, names: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(interpret(ex.post_order(node), Arrays(names, shape)), dtype=float)
