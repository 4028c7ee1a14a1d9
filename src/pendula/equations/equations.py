"""The form of the equations of motion that every formulation produces and all later code uses.

    q' = N v + n      M v' = f + G^T lam      g = 0      G v = b      G v' = c

All entries are expressions of t, q, v, u, p and of named intermediates, which are defined in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import symengine as se

from pendula.equations.matrix import Matrix, Sparse
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.mechanism.parts import Drive, Quaternion
from pendula.equations.tape import Expr, is_zero, substituted
from pendula.errors import PendulaError
from pendula.model.joints import Coordinate
from pendula.model.model import Model
from pendula.words import counted, readable

PARTS = ("inertia", "gravity", "springs", "dissipation", "applied")
"""Parts of f: f = -h (inertia, the bias force) - dV/dq (gravity, springs) + tau (dissipation, applied)."""

SOLVERS = ("kkt", "complement")


@dataclass(frozen=True)
class Rows:
    """Generalized forces of the free speeds (``free``) and of the prescribed motions (``driven``), by part."""

    free: Mapping[str, tuple[Expr, ...]]
    driven: Mapping[str, tuple[Expr, ...]]


@dataclass(frozen=True)
class Node:
    """A body with its inboard joint, in maximal coordinates.

    Its unknowns are coupled to those of its parent only through the constraint rows of its joint, so that elimination
    from the tips to ground finds accelerations in O(n) time.
    """

    parent: int
    """index of the parent's node, -1 for ground"""
    speeds: tuple[int, int]
    """first and last + 1 of its speeds: those of the body, then those that the joint keeps"""
    body: int
    """number of speeds of the body"""
    rows: tuple[int, int]
    """first and last + 1 of the rows of its joint"""


@dataclass(frozen=True)
class Transmitted:
    """The wrench that a joint transmits from its parent side to its child side: world axes, at the child side's point.

    Expressions may use ``Equations.acceleration_symbols`` and ``Equations.multiplier_symbols`` besides the state.
    Loads along the joint's motion subspace may be included or not: reactions omit that component.
    """

    joint: str
    force: tuple[Expr, ...]
    torque: tuple[Expr, ...]


@dataclass(frozen=True)
class Written:
    """The origin of equations that no formulation derived."""

    source: str
    """file, or description"""
    rewrite: Callable[[Model], Equations]
    """the same equations for a changed model"""


@readable
@dataclass(frozen=True)
class Equations:
    """Equations of motion as named symbolic blocks; see :func:`pendula.derive`.

    Example:
        >>> import pendula
        >>> equations = pendula.derive("pendulum", "lagrange")
        >>> equations.v, equations.loop_rows
        ((theta_dot,), 0)
    """

    model: Model
    formulation: str
    definitions: tuple[tuple[Any, Expr], ...]
    """named intermediates, each an expression of symbols and earlier intermediates"""
    t: Any
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    u: tuple[Any, ...]
    p: tuple[Any, ...]
    qdot: tuple[Expr, ...]
    """N v + n"""
    M: Matrix
    parts: Rows
    g: tuple[Expr, ...]
    """position constraints: one for each row of G, then the norm of every quaternion"""
    G: Matrix
    b: tuple[Expr, ...]
    c: tuple[Expr, ...]
    constraint_names: tuple[str, ...]
    """name of each row of g"""
    senses: tuple[tuple[str, Expr], ...]
    """(closing joint, product of directions that is positive if the loop is closed in the correct orientation)"""
    fixed_gaps: tuple[tuple[str, Expr], ...]
    """(constraint, its gap) for constraints that no motion changes: they depend on the parameters only"""
    idle_rows: tuple[str, ...]
    """names of constraints that no motion changes, which makes them redundant. Those that hold a planar mechanism in
    its plane are not among them: planar counts omit them"""
    kinetic: Expr
    potential: Expr
    jacobi: Expr | None
    """Jacobi integral v . dT/dv - T + V: conserved if prescribed motions enter only through constant rates and move no
    constraint; None in maximal coordinates with prescribed motions, where it would equal the energy"""
    drives: tuple[Drive, ...]
    drive_M: Matrix
    """drive force of a prescribed motion = drive_M v' - drive_f - drive_G^T lam"""
    drive_G: Matrix
    poses: Mapping[str, tuple[tuple[tuple[Expr, ...], ...], tuple[Expr, ...]]]
    """body -> (R_WB, r_W)"""
    coordinates: tuple[Coordinate, ...]
    """name and kind of every entry of q"""
    speeds: tuple[Coordinate, ...]
    """name and kind of every entry of v"""
    quaternions: tuple[Quaternion, ...]
    """indices of quaternions in q and v"""
    transmitted: tuple[Transmitted, ...] = ()
    """by joint, from formulations that derive reactions; otherwise empty"""
    nodes: tuple[Node, ...] = ()
    """the tree of bodies in maximal coordinates; empty if q are joint coordinates"""
    readings: Mapping[str, Expr] = field(default_factory=dict)
    """the joint coordinates and speeds as expressions of maximal coordinates"""
    solver: str = "kkt"
    """solver of v' and lam: "kkt" (one augmented system) or "complement" (v' in the null space of G)"""
    written: Written | None = None
    """the origin of M and f if others wrote them; energies, poses and power are then those of the model"""

    def __post_init__(self) -> None:
        n, m = len(self.v), len(self.G)
        shapes = (len(self.M) == n, _wide(self.M, n), len(self.qdot) == len(self.q))
        rows = (_wide(self.G, n), len(self.b) == m, len(self.c) == m, len(self.g) >= m)
        if not all(shapes + rows):
            raise PendulaError(f"{self.formulation}: block sizes do not match (speeds {n}, constraint rows {m})")
        if self.solver not in SOLVERS:
            raise PendulaError(f'{self.formulation}: solver must be one of {", ".join(SOLVERS)}, not "{self.solver}"')
        self._check_order()

    def _check_order(self) -> None:
        """Raises PendulaError if an intermediate is used before its definition."""
        known = {self.t, *self.q, *self.v, *self.u, *self.p}
        known |= {*self.acceleration_symbols, *self.multiplier_symbols}  # for transmitted wrenches
        for symbol, expression in self.definitions:
            missing = se.sympify(expression).free_symbols - known
            if missing:
                names = ", ".join(sorted(map(str, missing)))
                raise PendulaError(f"{self.formulation}: {symbol} uses {names} before it is defined")
            known.add(symbol)

    @cached_property
    def f(self) -> tuple[Expr, ...]:
        """Right-hand side of M v' = f + G^T lam."""
        return _sum_parts(self.parts.free, len(self.v))

    @cached_property
    def drive_f(self) -> tuple[Expr, ...]:
        """Right-hand side of the rows of the prescribed motions."""
        return _sum_parts(self.parts.driven, len(self.drives))

    @cached_property
    def power(self) -> Expr:
        """Power of friction, damping, inputs and applied loads (not of prescribed motions)."""
        terms = []
        for part in ("dissipation", "applied"):
            rows = (*self.parts.free[part], *self.parts.driven[part])
            rates = (*self.v, *(d.rate for d in self.drives))
            terms += [x * rate for x, rate in zip(rows, rates, strict=True) if not is_zero(x)]
        return se.Add(*terms) if terms else 0

    @property
    def power_is_zero(self) -> bool:
        """Whether there are no loads but gravity and springs."""
        return bool(se.sympify(self.power) == 0)

    @cached_property
    def N(self) -> tuple[tuple[Expr, ...], ...]:
        """The matrix N of q' = N v + n."""
        return tuple(tuple(se.sympify(rate).diff(v) for v in self.v) for rate in self.qdot)

    @property
    def other_rates(self) -> list[tuple[Any, Expr]]:
        """Coordinates whose rates are not speeds, such as those of a quaternion, with these rates."""
        return [(q, rate) for q, rate in zip(self.q, self.qdot, strict=True) if str(rate) != f"{q}_dot"]

    @property
    def acceleration_symbols(self) -> tuple[Any, ...]:
        """Symbols for v' in expressions that are linear in it."""
        return acceleration_symbols(self.v)

    @property
    def multiplier_symbols(self) -> tuple[Any, ...]:
        """Symbols for lam in expressions that are linear in it."""
        return multiplier_symbols(self.loop_rows)

    @property
    def loop_rows(self) -> int:
        """Number of constraint rows with multipliers."""
        return len(self.G)

    def inline(self, expression: Expr) -> Expr:
        """An expression with all intermediates replaced by their definitions; for small systems."""
        return substituted(expression, self.inlined)

    @cached_property
    def inlined(self) -> dict[Any, Expr]:
        """The named intermediates as expressions without other intermediates."""
        return inlined(self.definitions)

    def __str__(self) -> str:
        rows = f", {counted(self.loop_rows, 'constraint row')}" if self.loop_rows else ""
        sizes = f"{counted(len(self.v), 'speed')}{rows}, {counted(len(self.definitions), 'named intermediate')}"
        return f"{self.model.name}: equations of motion by {self.formulation}, {sizes}"


def inlined(definitions: Iterable[tuple[Any, Expr]], known: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
    """Definitions in which earlier ones, and some known values, are substituted; with the known values."""
    table: dict[Any, Any] = dict(known or {})
    for symbol, expression in definitions:
        table[symbol] = table[symbol] if symbol in table else substituted(expression, table)
    return table


def symbols_in(eq: Equations, expressions: Iterable[Expr]) -> set[Any]:
    """All symbols that expressions contain, directly or through intermediates."""
    definitions = {symbol: se.sympify(e).free_symbols for symbol, e in eq.definitions}
    found: set[Any] = set()
    left = set().union(*(se.sympify(e).free_symbols for e in expressions))
    while left:
        symbol = left.pop()
        if symbol not in found:
            found.add(symbol)
            left |= definitions.get(symbol, set())
    return found


def _wide(matrix: Matrix, n: int) -> bool:
    return matrix.width == n if isinstance(matrix, Sparse) else all(len(row) == n for row in matrix)


def acceleration_symbols(speeds: Sequence[Any]) -> tuple[Any, ...]:
    """Symbols for the accelerations of the given speeds."""
    return tuple(se.Symbol(f"{v}'") for v in speeds)


def displacement_name(speed: str) -> str:
    """Name of a small displacement along a speed: the coordinate, or for ``ball_wx`` the small rotation ``ball_rx``."""
    if speed.endswith("_dot"):
        return speed.removesuffix("_dot")
    head, _, tail = speed.rpartition("_w")
    return f"{head}_r{tail}" if head else f"{speed}_turn"


def multiplier_symbols(count: int) -> tuple[Any, ...]:
    """Symbols for the multipliers of a number of constraint rows."""
    return tuple(se.Symbol(f"lam'{r}") for r in range(count))


def _sum_parts(parts: Mapping[str, Sequence[Expr]], count: int) -> tuple[Expr, ...]:
    rows = []
    for k in range(count):
        terms = [parts[name][k] for name in PARTS if not is_zero(parts[name][k])]
        rows.append(se.Add(*terms) if terms else 0)
    return tuple(rows)


def drive_definitions(mechanism: Mechanism) -> list[tuple[Any, Expr]]:
    """Prescribed motions with their rates and accelerations as functions of time."""
    found: list[tuple[Any, Expr]] = []
    for drive in mechanism.drives:
        value = se.sympify(drive.value)
        rate = value.diff(mechanism.t)
        found += [(drive.position, value), (drive.rate, rate), (drive.acceleration, rate.diff(mechanism.t))]
    return found
