"""Force laws of a model as expressions of the state, their values along a run, and where they jump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pendula.model.checks.usage import expressions
from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import interpret
from pendula.model.expressions.arrays import Arrays
from pendula.model.expressions.expression import Expression, parse
from pendula.system.layout import Array
from pendula.system.switches.in_time import margins
from pendula.system.system import System

_KNOWN: WeakKeyDictionary[System, tuple[Expression, ...]] = WeakKeyDictionary()


def laws_of(system: System) -> tuple[Expression, ...]:
    """Force laws that depend on the state and may be narrow or jump, without repetition; cached for each system."""
    if system not in _KNOWN:
        _KNOWN[system] = _laws(system) if system.model.forces else ()
    return _KNOWN[system]


def _laws(system: System) -> tuple[Expression, ...]:
    """Expressions of forces with functions, conditions or quotients, which may be narrow or jump."""
    inputs = {name: parse(value) for name, value in system.model.inputs.items()}
    states = state_names(system)
    found = [e.expression for force in system.model.forces for e in expressions(force)]
    found = [e.substitute(inputs) if e.names & inputs.keys() else e for e in found if e.names]
    found = [e for e in found if e.names & states]
    return tuple(dict.fromkeys(e for e in found if e.fold(_bends)))


def _bends(node: ex.Node, parts: tuple[bool, ...]) -> bool:
    return any(parts) or isinstance(node, ex.Call | ex.Conditional | ex.Divide | ex.Power)


def state_names(system: System) -> set[str]:
    """Names of the joint coordinates and speeds."""
    layout = system.in_joints.layout
    return {*layout.coordinates, *layout.speeds}


def along(system: System, t: Array, y: Array, vector: Array) -> dict[str, Array]:
    """Joint coordinates, speeds and time at some states of a run, by name."""
    layout = system.in_joints.layout
    q, v = system.in_joints.read(*system.layout.split(y), t, parameters=vector)
    return {**dict(zip((*layout.coordinates, *layout.speeds), (*q.T, *v.T), strict=True)), "t": t}


def values(node: ex.Node, names: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    """Values of a part of a law."""
    with np.errstate(all="ignore"):
        return np.asarray(interpret(ex.post_order(node), Arrays(names, shape)), dtype=float)


class Jump(NamedTuple):
    """A force law that jumps where ``margin`` is zero: its text, that of the margin, and the coordinates in it."""

    law: str
    margin: ex.Node
    text: str
    of: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What to try instead."""
        return (
            f"Try a smooth force in {', '.join(self.of)}: tanh(({self.text})/eps) for sign({self.text}), "
            "with a small eps"
        )


def jumps_of(system: System) -> Iterator[Jump]:
    """Where force laws jump in the state: signs and comparisons."""
    laws = laws_of(system)
    states = state_names(system) if laws else set()
    for law in laws:
        for node in ex.post_order(law.root):
            if not (isinstance(node, ex.Compare) or (isinstance(node, ex.Call) and node.function == "sign")):
                continue
            for margin in margins(node):
                of = sorted({n.id for n in ex.post_order(margin) if isinstance(n, ex.Name)} & states)
                if isinstance(margin, ex.Subtract) and margin.b == ex.Number(0):
                    margin = margin.a
                if of:
                    yield Jump(law.to_text(), margin, ex.write(ex.post_order(margin)), tuple(of))
