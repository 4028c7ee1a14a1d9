"""Fast path to linear models of small mechanisms at rest, and to the roots of undamped ones.

Data that depends on the system alone is prepared once. One native call evaluates the terms with their checks, a second
reduces them to independent coordinates, a third finds the roots. Matrices, multiplicities and eigenvectors are
extracted from the results on first use. In other cases (a steady motion, forces that do not balance, a vanishing mass
or stiffness, constraints near a dead point) this path returns None, and the thorough path decides and explains.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np

from pendula.analysis.equilibria.equilibrium import BALANCED, Equilibrium
from pendula.analysis.linear.frame import MASSLESS, VANISHING, frame_of
from pendula.analysis.linear.model import Basis, LinearModel
from pendula.analysis.linear.quick.cut import CutMatrices, Place, Shape, root_limits
from pendula.analysis.linear.terms import PARTS, bind_terms, compiled_terms
from pendula.model.expressions.expression import parse
from pendula.model.forces.kinks import may_have_kinks
from pendula.numerics.quick.independent import reduced_terms, room_for
from pendula.numerics.quick.small_quadratic import LARGEST, evaluate_checked
from pendula.system.layout import Array
from pendula.system.loops.mobility import independent_rows
from pendula.system.parameters import typical_length
from pendula.system.system import System

MOST = 40
"""largest number of speeds for which constrained mechanisms are reduced here; above, LAPACK is faster"""


class Bound(NamedTuple):
    """Data prepared for one set of parameters."""

    key: bytes
    plan: Array
    """sizes and addresses, as ``evaluate_checked`` takes them"""
    limits: Array
    """see :func:`root_limits`"""
    rows: int
    """independent constraint rows"""
    shape: Shape | None
    """None if there are no freedoms, or too many"""
    owner: Any


class Quick:
    """Data prepared for one system. Calls change only the last parameters, which are replaced as a whole.

    It holds no reference to the system, which is the weak key of the table ``_KNOWN``.
    """

    def __init__(self, system: System) -> None:
        cut, frame = compiled_terms(system), frame_of(system)
        self.layout, self.frame = system.layout, frame
        self.n, self.m, self.inputs = len(frame.speeds), system.loop_rows, len(system.layout.inputs)
        self.code = cut.native.evaluate
        self.full = {name: Place(a, b, shape) for name, (shape, a, b) in zip(PARTS, cut.places, strict=True)}
        self.starts = tuple(self.full[name].start for name in "GKCF")
        self.sizes = (self.n, cut.native.outputs, self.full["K"].start, cut.native.inputs)
        self.room = cut.native.outputs + cut.native.inputs + self.n**2
        self.lengths = np.ascontiguousarray(frame.steps, dtype=float)
        self.limits = np.concatenate(((BALANCED, VANISHING, MASSLESS), self.lengths))
        self.basis = Basis(frame.coordinates, frame.speeds, system.layout.inputs, frame.units)
        self.bases: dict[tuple[float, ...], Basis] = {}
        self.bound = Bound(b"", np.zeros(0), np.zeros(0), 0, None, None)

    def bind(self, system: System, parameters: Array) -> Bound:
        """Prepares parameters and keeps them for the next call."""
        compiled = bind_terms(system, parameters)
        limits = root_limits(weight_rate(system, parameters))
        rows = independent_rows(system, parameters) if self.m else 0
        shape = self.shape(self.n - rows)
        plan = np.array([*self.sizes, self.code, compiled.context], dtype=np.int64)
        self.bound = Bound(parameters.tobytes(), plan, limits, rows, shape, compiled)
        return self.bound

    def shape(self, freedoms: int) -> Shape | None:
        """Positions of the matrices for a number of freedoms; None if that is zero or too large."""
        if not 1 <= freedoms <= LARGEST:
            return None
        if not self.m:
            return Shape(freedoms, {name: self.full[name] for name in "MCKF"}, self.full["N"], self.frame.identity)
        places, start = dict[str, Place](), 0
        square = (freedoms, freedoms)
        shapes = {"M": square, "C": square, "K": square, "F": (freedoms, self.inputs), "Z": (self.n, freedoms)}
        for name, shape in shapes.items():
            end = start + shape[0] * shape[1]
            places[name] = Place(start, end, shape)
            start = end
        return Shape(freedoms, places, self.full["N"], None)

    def model(self, system: System, at: Equilibrium) -> LinearModel | None:
        """The linear model, or None if the thorough path is needed."""
        if at.system is not system:
            return None
        bound = self.bound
        if bound.key != at.parameters.tobytes():
            bound = self.bind(system, at.parameters)
        shape = bound.shape
        if shape is None:
            return None
        full = np.empty(self.room)
        residual = evaluate_checked(bound.plan, at.q, at.v, at.inputs, at.multipliers, self.limits, full)
        if residual < 0.0:
            return None
        if not self.m:
            return LinearModel(at, self.basis, CutMatrices(shape, bound.limits, full, full, residual))
        terms = self.reduced(full, shape)
        if terms is None:
            return None
        basis = self.reduced_basis(terms, shape, bound.rows)
        return LinearModel(at, basis, CutMatrices(shape, bound.limits, terms, full, residual))

    def reduced(self, terms: Array, shape: Shape) -> Array | None:
        """The terms in independent coordinates; None if these are ill conditioned."""
        sizes = (self.n, self.m, shape.n, self.inputs)
        out = np.empty(room_for(*sizes))
        fine = reduced_terms(terms, *sizes, *self.starts, self.lengths, VANISHING, MASSLESS, out)
        return out if fine else None

    def reduced_basis(self, terms: Array, shape: Shape, rows: int) -> Basis:
        """Names of the independent coordinates, whose indices follow the reduced terms."""
        end = shape.places["Z"].end
        chosen = tuple(terms[end : end + shape.n].tolist())
        basis = self.bases.get(chosen)
        if basis is None or basis.rows != rows:
            names, speeds = (tuple(x[int(j)] for j in chosen) for x in (self.frame.coordinates, self.frame.speeds))
            basis = self.bases[chosen] = Basis(names, speeds, self.layout.inputs, self.frame.units, rows)
        return basis


_KNOWN: WeakKeyDictionary[System, Quick | None] = WeakKeyDictionary()
_last: tuple[Any, Quick | None] = (lambda: None, None)
"""a weak reference to the last system, and its data: faster than a lookup in the table"""


def quick_model(system: System, at: Equilibrium) -> LinearModel | None:
    """The linear model of a small system at rest, or None if the thorough path is needed."""
    global _last
    alive, quick = _last
    if alive() is not system:
        if system not in _KNOWN:
            _KNOWN[system] = Quick(system) if _is_plain(system) else None
        quick = _KNOWN[system]
        _last = ref(system), quick
    return None if quick is None else quick.model(system, at)


def quick_again(system: Any, at: Any) -> LinearModel | None:
    """The same for another equilibrium of the system of the last call, without repeating the checks of the system."""
    alive, quick = _last
    if quick is None or alive() is not system or type(at) is not Equilibrium:
        return None
    return quick.model(system, at)


def _is_plain(system: System) -> bool:
    """Whether the fast path supports a system: few speeds, no dependence on time, smooth forces."""
    most = MOST if system.loop_rows else LARGEST
    if not system.symbolic_terms or not 1 <= len(system.layout.speeds) <= most:
        return False
    return not frame_of(system).may_change and not may_have_kinks(system.model)


_RATES: WeakKeyDictionary[System, tuple[bytes, float]] = WeakKeyDictionary()


def weight_rate(system: System, parameters: Array) -> float:
    """sqrt(g/l), a typical rate of motion under gravity; cached for the last parameters."""
    key = parameters.tobytes()
    known = _RATES.get(system)
    if known is None or known[0] != key:
        known = _RATES[system] = key, _find_weight_rate(system, parameters)
    return known[1]


def _find_weight_rate(system: System, parameters: Array) -> float:
    values = system.layout.parameter_values(parameters)
    gravity = [parse(x) for x in system.model.gravity]
    size = sum(e.evaluate(values) ** 2 for e in gravity if "t" not in e.names) ** 0.5
    return float((size / typical_length(system, parameters)) ** 0.5)
