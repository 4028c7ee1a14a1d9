"""The quick way to linear models and roots of small mechanisms at rest, without constraints, and undamped.

Everything that depends on the system alone is prepared once. Terms and their checks are one native call, roots are
another; matrices, multiplicities and eigenvectors are cut out of the results when they are first asked for. Where
anything is not plain (a steady motion, forces that do not balance, a vanishing mass or stiffness, damping) nothing is
given here, and the thorough way is taken: it decides and explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pendula.analysis.equilibrium import BALANCED, Equilibrium
from pendula.analysis.linear_frame import MASSLESS, VANISHING, frame_of
from pendula.analysis.linear_model import LinearModel
from pendula.analysis.linear_terms import PARTS, bind_terms, compiled_terms
from pendula.analysis.quadratic import NULL, REPEATED, SYMMETRIC, Roots
from pendula.model.expressions import parse
from pendula.numerics.small_quadratic import LARGEST, evaluate_checked, output_size, undamped_roots
from pendula.system.layout import Array
from pendula.system.recursive import RecursiveSystem
from pendula.system.system import System

SUSPECT = 1e-6
"""a stiffness below this share of what weight gives is looked at more closely: it may be none but for rounding"""
SLOW = SUSPECT**0.5
"""the same for roots, which go with the square root of stiffness"""


class Bound(NamedTuple):
    """What is prepared for one set of parameters."""

    key: bytes
    context: int
    """address of the prepared parameters"""
    slow: float
    """roots below this may be zero but for rounding"""
    owner: Any


class Quick:
    """What is prepared for one system. Calls change nothing but the last parameters, which are replaced as a whole."""

    def __init__(self, system: System) -> None:
        cut, frame = compiled_terms(system), frame_of(system)
        n = self.n = len(frame.speeds)
        self.system, self.layout = system, system.layout
        self.code = cut.native.evaluate
        self.places = {name: place for name, place in zip(PARTS, cut.places, strict=True) if name in "MCKFN"}
        self.at_C, self.at_K = self.places["C"][1], self.places["K"][1]
        self.sizes = np.array([n, cut.native.outputs, self.at_K])
        self.room = cut.native.outputs + cut.native.inputs + n * n
        self.roots_room = output_size(n)
        self.values = 4 * n
        self.lengths = np.ascontiguousarray(frame.steps, dtype=float)
        self.labels = ("physical",) * (2 * n)
        self.shared = {
            "coordinates": frame.coordinates,
            "speeds": frame.speeds,
            "inputs": system.layout.inputs,
            "Z": frame.identity,
            "method": "exact",
            "units": frame.units,
            "system": system,
            "_quick": self,
        }
        self.bound = Bound(b"", 0, 0.0, None)

    def bind(self, parameters: Array) -> Bound:
        """Parameters prepared, if they are not those of the last call."""
        bound, key = self.bound, parameters.tobytes()
        if bound.key != key:
            compiled = bind_terms(self.system, parameters)
            slow = SLOW * weight_rate(self.system, parameters)
            bound = self.bound = Bound(key, compiled.context, slow, compiled)
        return bound

    def model(self, at: Equilibrium) -> LinearModel | None:
        """The linear model, or None where the thorough way must be taken."""
        if at.layout is not self.layout or at.multipliers.size:
            return None
        bound = self.bind(at.parameters)
        out = np.empty(self.room)
        residual = evaluate_checked(
            self.code,
            bound.context,
            at.q,
            at.v,
            at.inputs,
            self.sizes,
            self.lengths,
            BALANCED,
            VANISHING,
            MASSLESS,
            out,
        )
        if residual < 0.0:
            return None
        found = object.__new__(LinearModel)
        content = found.__dict__
        content.update(self.shared)
        content["at"], content["residual"], content["_terms"], content["_slow"] = at, residual, out, bound.slow
        return found

    def cut(self, terms: Array, name: str) -> Array:
        """One of the matrices in a row of terms."""
        shape, a, b = self.places[name]
        return terms[a:b].reshape(shape)

    def roots(self, model: LinearModel) -> Array | None:
        """The roots of a model made here, as :func:`quick_roots` reads them; None where that takes a closer look."""
        out = np.empty(self.roots_room)
        terms, slow = model.__dict__["_terms"], model.__dict__["_slow"]
        if undamped_roots(terms, self.n, self.at_C, self.at_K, SYMMETRIC, NULL, REPEATED, slow, SLOW, out):
            return out
        return None


def quick_model(system: System, at: Equilibrium) -> LinearModel | None:
    """The linear model of a small system without constraints at a rest point, or None if that takes a closer look."""
    quick: Quick | None = system.__dict__.get("_quick_linear_models")
    if quick is None:
        if not _is_plain(system):
            return None
        quick = system.__dict__["_quick_linear_models"] = Quick(system)
    return quick.model(at)


def _is_plain(system: System) -> bool:
    """Whether the quick way may be taken at all: few speeds, no constraints, nothing that time changes."""
    if isinstance(system, RecursiveSystem) or not 1 <= len(system.layout.speeds) <= LARGEST:
        return False
    frame = frame_of(system)
    return not (frame.constrained or frame.may_change)


def quick_roots(made: Array, n: int) -> Roots:
    """The roots with all that is known of them, from what :func:`undamped_roots` wrote."""
    whole = made[4 * n : 10 * n].astype(int)
    shapes = made[10 * n : 10 * n + n * n].reshape(n, n)
    return Roots(
        made[: 4 * n].view(complex),
        shapes,
        whole[: 2 * n],
        whole[2 * n : 4 * n],
        shapes[:, :0],
        0,
        "undamped",
        whole[4 * n :].tolist(),
    )


def weight_rate(system: System, parameters: Array) -> float:
    """sqrt(g/l): how fast things swing by their weight; kept for the last parameters."""
    key = parameters.tobytes()
    known = system.__dict__.get("_weight_rate")
    if known is None or known[0] != key:
        known = system.__dict__["_weight_rate"] = (key, _find_weight_rate(system, parameters))
    return float(known[1])


def _find_weight_rate(system: System, parameters: Array) -> float:
    values = dict(zip(system.layout.parameters, parameters.tolist(), strict=True))
    gravity = [parse(x) for x in system.model.gravity]
    size = sum(e.evaluate(values) ** 2 for e in gravity if "t" not in e.names) ** 0.5
    return float((size / system.typical_length(parameters)) ** 0.5)
