"""The quick way to linear models of small mechanisms at rest, and to the roots of those that are undamped.

Everything that depends on the system alone is prepared once. Terms and their checks are one native call, what
constraints leave of them another, roots a third; matrices, multiplicities and eigenvectors are cut out of the results
when they are first asked for. Where anything is not plain (a steady motion, forces that do not balance, a vanishing
mass or stiffness, constraints near a dead point) nothing is given here, and the thorough way is taken: it decides and
explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium
from pendula.analysis.linear.frame import MASSLESS, VANISHING, frame_of
from pendula.analysis.linear.kinks import may_have_kinks
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import NULL, REPEATED, SYMMETRIC, Roots
from pendula.analysis.linear.terms import PARTS, bind_terms, compiled_terms
from pendula.model.expressions.expression import parse
from pendula.numerics.quick.independent import reduced_terms, room_for
from pendula.numerics.quick.small_quadratic import LARGEST, evaluate_checked, output_size, undamped_roots
from pendula.system.layout import Array
from pendula.system.mobility import independent_rows
from pendula.system.parameters import typical_length
from pendula.system.system import System

SUSPECT = 1e-6
"""a stiffness below this share of what weight gives is looked at more closely: it may be none but for rounding"""
SLOW = SUSPECT**0.5
"""the same for roots, which go with the square root of stiffness"""
MOST = 40
"""speeds up to which constrained mechanisms are reduced here; LAPACK is faster for more"""


class Place(NamedTuple):
    """Where a matrix is: in which row, from where to where, and its shape."""

    row: str
    start: int
    end: int
    shape: tuple[int, ...]


class Shape:
    """Where things are in the results for one number of freedoms."""

    def __init__(self, n: int, places: dict[str, Place]) -> None:
        self.n = n
        self.places = places
        self.at_C, self.at_K = places["C"].start, places["K"].start
        self.values = 4 * n
        self.room = output_size(n)
        self.labels = ("physical",) * (2 * n)

    def cut(self, content: dict[str, Any], name: str) -> Array:
        """One of the matrices of a model."""
        place = self.places[name]
        found: Array = content[place.row][place.start : place.end].reshape(place.shape)
        return found

    def roots(self, model: LinearModel) -> Array | None:
        """The roots of a model made here, as :func:`quick_roots` reads them; None where that takes a closer look."""
        out = np.empty(self.room)
        content = model.__dict__
        terms, slow = content["_terms"], content["_slow"]
        if undamped_roots(terms, self.n, self.at_C, self.at_K, SYMMETRIC, NULL, REPEATED, slow, SLOW, out):
            return out
        return None


class Bound(NamedTuple):
    """What is prepared for one set of parameters."""

    key: bytes
    context: int
    """address of the prepared parameters"""
    slow: float
    """roots below this may be zero but for rounding"""
    rows: int
    """independent constraint rows"""
    shape: Shape | None
    """None: there are no freedoms, or too many"""
    owner: Any


class Quick:
    """What is prepared for one system. Calls change nothing but the last parameters, which are replaced as a whole."""

    def __init__(self, system: System) -> None:
        cut, frame = compiled_terms(system), frame_of(system)
        self.system, self.layout, self.frame = system, system.layout, frame
        self.n, self.m, self.inputs = len(frame.speeds), system.loop_rows, len(system.layout.inputs)
        self.code = cut.native.evaluate
        self.full = {name: Place("_full", a, b, shape) for name, (shape, a, b) in zip(PARTS, cut.places, strict=True)}
        self.starts = tuple(self.full[name].start for name in "GKCF")
        self.sizes = np.array([self.n, cut.native.outputs, self.full["K"].start, cut.native.inputs])
        self.room = cut.native.outputs + cut.native.inputs + self.n**2
        self.lengths = np.ascontiguousarray(frame.steps, dtype=float)
        self.shared = {"inputs": system.layout.inputs, "method": "exact", "units": frame.units, "system": system}
        if not self.m:
            self.shared |= {"coordinates": frame.coordinates, "speeds": frame.speeds, "Z": frame.identity}
        self.names: dict[tuple[float, ...], dict[str, Any]] = {}
        self.bound = Bound(b"", 0, 0.0, 0, None, None)

    def bind(self, parameters: Array) -> Bound:
        """Parameters prepared, if they are not those of the last call."""
        bound, key = self.bound, parameters.tobytes()
        if bound.key != key:
            compiled = bind_terms(self.system, parameters)
            slow = SLOW * weight_rate(self.system, parameters)
            rows = independent_rows(self.system, parameters) if self.m else 0
            bound = self.bound = Bound(key, compiled.context, slow, rows, self.shape(self.n - rows), compiled)
        return bound

    def shape(self, freedoms: int) -> Shape | None:
        """Where things are for a number of freedoms, if that is not too large."""
        if not 1 <= freedoms <= LARGEST:
            return None
        if not self.m:
            return Shape(freedoms, {name: self.full[name]._replace(row="_terms") for name in "MCKFN"})
        places, start = {"N": self.full["N"]}, 0
        square = (freedoms, freedoms)
        shapes = {"M": square, "C": square, "K": square, "F": (freedoms, self.inputs), "Z": (self.n, freedoms)}
        for name, shape in shapes.items():
            end = start + shape[0] * shape[1]
            places[name] = Place("_terms", start, end, shape)
            start = end
        return Shape(freedoms, places)

    def model(self, at: Equilibrium) -> LinearModel | None:
        """The linear model, or None where the thorough way must be taken."""
        if at.layout is not self.layout:
            return None
        bound = self.bind(at.parameters)
        if bound.shape is None:
            return None
        terms = np.empty(self.room)
        given = (at.q, at.v, at.inputs, at.multipliers)
        limits = (BALANCED, VANISHING, MASSLESS)
        residual = evaluate_checked(self.code, bound.context, *given, self.sizes, self.lengths, *limits, terms)
        if residual < 0.0:
            return None
        found = object.__new__(LinearModel)
        content = found.__dict__
        content.update(self.shared)
        if self.m:
            reduced = self.reduced(terms, bound.shape, content)
            if reduced is None:
                return None
            content["_full"], content["rows"], terms = terms, bound.rows, reduced
        content["at"], content["residual"], content["_terms"] = at, residual, terms
        content["_slow"], content["_quick"] = bound.slow, bound.shape
        return found

    def reduced(self, terms: Array, shape: Shape, content: dict[str, Any]) -> Array | None:
        """The terms in independent coordinates, whose names are noted; None where these are not clear."""
        k = shape.n
        out = np.empty(room_for(self.n, self.m, k, self.inputs))
        sizes = (self.n, self.m, k, self.inputs)
        if not reduced_terms(terms, *sizes, *self.starts, self.lengths, VANISHING, MASSLESS, out):
            return None
        end = shape.places["Z"].end
        chosen = tuple(out[end : end + k].tolist())
        names = self.names.get(chosen)
        if names is None:
            which = [int(x) for x in chosen]
            every = {"coordinates": self.frame.coordinates, "speeds": self.frame.speeds}
            names = self.names[chosen] = {name: tuple(x[j] for j in which) for name, x in every.items()}
        content.update(names)
        return out


def quick_model(system: System, at: Equilibrium) -> LinearModel | None:
    """The linear model of a small system at a rest point, or None if that takes a closer look."""
    quick: Quick | None = system.__dict__.get("_quick_linear_models")
    if quick is None:
        if not _is_plain(system):
            return None
        quick = system.__dict__["_quick_linear_models"] = Quick(system)
    return quick.model(at)


def _is_plain(system: System) -> bool:
    """Whether the quick way may be taken at all: few speeds, nothing that time changes, smooth forces."""
    most = MOST if system.loop_rows else LARGEST
    if not system.symbolic_terms or not 1 <= len(system.layout.speeds) <= most:
        return False
    return not frame_of(system).may_change and not may_have_kinks(system.model)


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
    values = system.layout.parameter_values(parameters)
    gravity = [parse(x) for x in system.model.gravity]
    size = sum(e.evaluate(values) ** 2 for e in gravity if "t" not in e.names) ** 0.5
    return float((size / typical_length(system, parameters)) ** 0.5)
