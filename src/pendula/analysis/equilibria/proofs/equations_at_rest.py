"""The equilibrium equations of a mechanism as a tape for interval arithmetic, as many as unknown coordinates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pendula.analysis.equilibria.balance import Balance
from pendula.equations.equations import Equations
from pendula.equations.rest.at_rest import forces_at_rest, loops_at_rest
from pendula.equations.translate import exact_numbers, function_name, translate
from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.model.expressions.functions import Column
from pendula.numerics.intervals.tape import FUNCTIONS, Tape, Undecidable
from pendula.system.exact import exact_equations
from pendula.system.layout import Array

MOST_SPEEDS = 8
"""with more, the number of boxes is prohibitive"""


def _called(name: str, tape: Tape, x: int) -> int:
    return tape.call(name, x)


def _quotient(tape: Tape, a: int, b: int) -> int:
    return tape.multiply(a, tape.inverse(b))


def _half_sum(tape: Tape, a: int, b: int) -> int:
    return tape.multiply(tape.constant(0.5), tape.add(a, b))


def _negative(tape: Tape, a: int) -> int:
    return tape.multiply(tape.constant(-1.0), a)


def _one_plus(tape: Tape, a: int) -> int:
    return tape.add(tape.constant(1.0), a)


def _hyperbolic(sign: float, tape: Tape, x: int) -> int:
    """The hyperbolic cosine, or with ``sign`` -1 the hyperbolic sine."""
    minus = tape.multiply(tape.constant(sign), tape.call("exp", _negative(tape, x)))
    return _half_sum(tape, tape.call("exp", x), minus)


def _arcosh(tape: Tape, x: int) -> int:
    root = tape.call("sqrt", tape.add(tape.power(x, 2), tape.constant(-1.0)))
    return tape.call("log", tape.add(x, root))


def _half_tangent(sign: float, tape: Tape, x: int) -> int:
    """x / (1 + sqrt(1 + sign x^2)): the tangent of half the angle whose sine is x, or hyperbolic with ``sign`` 1."""
    root = tape.call("sqrt", _one_plus(tape, tape.multiply(tape.constant(sign), tape.power(x, 2))))
    return _quotient(tape, x, _one_plus(tape, root))


def _twice(tape: Tape, x: int) -> int:
    return tape.multiply(tape.constant(2.0), x)


def _arcsine(tape: Tape, x: int) -> int:
    return _twice(tape, tape.call("atan", _half_tangent(-1.0, tape, x)))


def _arccosine(tape: Tape, x: int) -> int:
    quarter = tape.constant(np.nextafter(np.pi / 2, 0.0), np.nextafter(np.pi / 2, 2.0))
    return tape.add(quarter, _negative(tape, _arcsine(tape, x)))


def _artanh(tape: Tape, x: int) -> int:
    ratio = _quotient(tape, _one_plus(tape, x), _one_plus(tape, _negative(tape, x)))
    return tape.multiply(tape.constant(0.5), tape.call("log", ratio))


STEPS: Column[Callable[[Tape, int], int]] = Column(
    "bounds over intervals",
    {
        **{name: partial(_called, name) for name in FUNCTIONS},
        "tan": lambda tape, x: _quotient(tape, tape.call("sin", x), tape.call("cos", x)),
        "sinh": partial(_hyperbolic, -1.0),
        "cosh": partial(_hyperbolic, 1.0),
        "asin": _arcsine,
        "acos": _arccosine,
        "asinh": lambda tape, x: _twice(tape, _artanh(tape, _half_tangent(1.0, tape, x))),
        "acosh": _arcosh,
        "atanh": _artanh,
    },
    without=("sign", "floor", "ceil", "atan2", "hypot", "min", "max"),
)
"""functions of the expression language as steps of a tape; equations express min, max and hypot by others"""
EXACT = ("Integer", "Zero", "One", "NegativeOne", "RealDouble")
EXACT_BELOW = 2.0**53
"""doubles hold all integers below this"""


class Unsuited(Undecidable):
    """The equilibrium equations do not match the unknown coordinates, or are too many."""


@dataclass(frozen=True)
class AtRest:
    """Equilibrium equations; their roots are the equilibria.

    Attributes:
        tape, rows: the equations.
        unknowns: indices of the coordinates that they depend on; the others may have any value.
        multipliers: number of Lagrange multipliers of closed loops, the last unknowns of the tape. The last rows are
            then the gaps of the loops, and the first ones f + G^T lam.
        steady: by speed, steps of forces that depend on no coordinate. If there are any, the rest is empty.
        speeds: indices of the speeds whose forces the rows are; empty for closed loops.
    """

    tape: Tape
    rows: list[int]
    unknowns: tuple[int, ...]
    multipliers: int = 0
    steady: Mapping[str, int] = field(default_factory=dict)
    speeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class Varying:
    """A parameter that is an unknown of a tape, with the parameters that depend on it.

    Attributes:
        symbol: the parameter.
        others: symbols of dependent parameters with their expressions, in the order of their dependence.
    """

    symbol: Any
    others: tuple[tuple[Any, Any], ...] = ()

    @classmethod
    def of(cls, balance: Balance, name: str, changed: Collection[str] = ()) -> Varying:
        """A parameter by name; those in ``changed`` are numbers, whatever the model says of them."""
        eq, model = balance.system.equations, balance.system.model
        symbols = {str(symbol): symbol for symbol in eq.p}
        left = {n: parse(x) for n, x in model.parameters.items() if n != name and n not in changed}
        follow = {name}
        while more := {n for n, e in left.items() if n not in follow and e.names & follow}:
            follow |= more
        found, done = [], {name}
        while waiting := follow - done:
            n = min(n for n in waiting if left[n].names & follow <= done)
            done.add(n)
            with exact_numbers():
                found.append((symbols[n], translate(left[n], {k: symbols[k] for k in left[n].names})))
        return cls(symbols[name], tuple(found))

    @property
    def symbols(self) -> set[Any]:
        """All parameters that vary."""
        return {self.symbol, *(symbol for symbol, _ in self.others)}

    def enter(self, tape: Tape, place: int, known: dict[Any, int]) -> None:
        """Adds the parameter, an unknown of the tape, and those that depend on it to the known symbols.

        Those without bounds stay unknown: the equations may not contain them.
        """
        known[self.symbol] = place
        for symbol, expression in self.others:
            with suppress(Undecidable):
                known[symbol] = step_of(expression, tape, known)


def equations_at_rest(balance: Balance, v: Array, most: int = MOST_SPEEDS, varying: Varying | None = None) -> AtRest:
    """The equilibrium equations, or those of a steady motion with constant rates v, in at most ``most`` unknowns.

    If a parameter varies, it is the last unknown of the tape, after the coordinates and multipliers.

    Raises:
        Unsuited: their number differs from that of the unknowns, or is too large.
        Undecidable: there are no bounds for a function in them.
    """
    system = balance.system
    n, m = len(system.layout.speeds), system.loop_rows
    if system.balls:
        raise Unsuited("rotations given by quaternions")
    if n > MOST_SPEEDS:
        raise Unsuited(f"more than {MOST_SPEEDS} speeds")
    eq = exact_rows(balance)
    if eq.senses:
        raise Unsuited("loops that close in two ways, of which one counts")
    if m and n <= m:
        raise Unsuited("closed loops with as many constraints as speeds")
    numbers = numbers_at_rest(balance, v)
    free = set() if varying is None else varying.symbols
    numbers = {symbol: x for symbol, x in numbers.items() if symbol not in free}
    zeros = [symbol for symbol, x in numbers.items() if x == 0.0]
    forces = forces_at_rest(eq, zeros)
    G, gaps = loops_at_rest(eq, zeros) if m else ([], [])
    if len(gaps) != len(G):
        raise Unsuited("constraints on speeds")
    acting = [f for f, *column in zip(forces, *G, strict=True) if f != 0 or any(x != 0 for x in column)]
    places = {symbol: i for i, symbol in enumerate(eq.q)}
    symbols = [*acting, *gaps, *(x for row in G for x in row)]
    refuse_time(balance, symbols)
    unknowns = sorted({places[symbol] for row in symbols for symbol in row.free_symbols if symbol in places})
    tape = Tape(len(unknowns) + m + (varying is not None))
    known: dict[Any, int] = {eq.q[i]: k for k, i in enumerate(unknowns)}
    known |= {symbol: tape.constant(x) for symbol, x in numbers.items()}
    if varying is not None:
        varying.enter(tape, len(unknowns) + m, known)
    named = zip(system.layout.speeds, forces, strict=True) if not m else ()
    steady = {speed: row for speed, row in named if row != 0 and not row.free_symbols & places.keys()}
    if steady:
        return AtRest(tape, [], (), steady={speed: step_of(row, tape, known) for speed, row in steady.items()})
    if len(acting) != len(unknowns):
        raise Unsuited(f"{len(acting)} equations for {len(unknowns)} coordinates, which leave families of equilibria")
    if len(unknowns) > most:
        raise Unsuited(f"{len(unknowns)} coordinates")
    if m:
        return AtRest(tape, _rows_of_loops(forces, G, gaps, tape, known, len(unknowns)), tuple(unknowns), m)
    speeds = tuple(k for k, row in enumerate(forces) if row != 0)
    return AtRest(tape, [step_of(row, tape, known) for row in acting], tuple(unknowns), speeds=speeds)


def _rows_of_loops(
    forces: list[Any], G: list[list[Any]], gaps: list[Any], tape: Tape, known: dict[Any, int], first: int
) -> list[int]:
    """Steps of f + G^T lam and g. The multipliers are unknowns of the tape from ``first`` on."""
    seen: dict[Any, int] = {}
    rows = []
    for f, *column in zip(forces, *G, strict=True):
        if f == 0 and not any(x != 0 for x in column):
            continue
        total = step_of(f, tape, known, seen)
        for j, x in enumerate(column):
            if x != 0:
                total = tape.add(total, tape.multiply(step_of(x, tape, known, seen), first + j))
        rows.append(total)
    return [*rows, *(step_of(row, tape, known, seen) for row in gaps)]


def forces_on_speeds(balance: Balance, v: Array) -> tuple[Tape, list[int]]:
    """The forces at rest on every speed, as steps of all coordinates; for open mechanisms without quaternions.

    Raises:
        Undecidable: the mechanism is not of this kind, or the forces contain a function without bounds.
    """
    system = balance.system
    n = len(system.layout.speeds)
    if system.balls or system.loop_rows or n > MOST_SPEEDS or len(system.layout.coordinates) != n:
        raise Undecidable("closed loops, quaternions or many speeds")
    eq = exact_rows(balance)
    numbers = numbers_at_rest(balance, v)
    rows = forces_at_rest(eq, [symbol for symbol, x in numbers.items() if x == 0.0])
    refuse_time(balance, rows)
    tape = Tape(len(eq.q))
    known: dict[Any, int] = {symbol: k for k, symbol in enumerate(eq.q)}
    known |= {symbol: tape.constant(x) for symbol, x in numbers.items()}
    return tape, [step_of(row, tape, known) for row in rows]


def exact_rows(balance: Balance) -> Equations:
    """The equations of a mechanism without rounded numbers (:mod:`pendula.system.exact`).

    Raises:
        Undecidable: they contain rounded numbers that cannot be recovered.
    """
    try:
        return exact_equations(balance.system)
    except NotSupported as reason:
        raise Undecidable(f"the case that {reason}") from None


def refuse_time(balance: Balance, rows: list[Any]) -> None:
    """Raises Undecidable if forces depend on time, directly or through inputs that are not held constant."""
    eq = balance.system.equations
    symbols = set().union(*(row.free_symbols for row in rows))
    if eq.t in symbols or symbols & _varying(balance):
        raise Undecidable("forces that depend on time")


def _varying(balance: Balance) -> set[Any]:
    """Symbols of inputs that depend on time."""
    if balance.inputs is not None:
        return set()
    system = balance.system
    given = zip(system.layout.inputs, system.equations.u, strict=True)
    return {symbol for name, symbol in given if "t" in parse(system.model.inputs[name]).names}


def numbers_at_rest(balance: Balance, v: Array) -> dict[Any, float]:
    """Values of speeds, constant inputs and parameters, by symbol."""
    system, eq = balance.system, balance.system.equations
    inputs = system.inputs.at(0.0, balance.parameters) if balance.inputs is None else balance.inputs
    values = zip((*eq.v, *eq.u, *eq.p), (*v.tolist(), *inputs.tolist(), *balance.parameters.tolist()), strict=True)
    varying = _varying(balance)
    return {symbol: x for symbol, x in values if symbol not in varying}


def step_of(e: Any, tape: Tape, known: Mapping[Any, int], seen: dict[Any, int] | None = None) -> int:
    """The step of a tape that computes an expression.

    Raises:
        Undecidable: it contains a function or a symbol without bounds.
    """
    seen = {} if seen is None else seen
    if e in known:
        return known[e]
    if e not in seen:
        seen[e] = _step(e, tape, known, seen)
    return seen[e]


def _step(e: Any, tape: Tape, known: Mapping[Any, int], seen: dict[Any, int]) -> int:
    if e.is_Number or not (e.args or e.free_symbols):
        value = float(e)
        if type(e).__name__ in EXACT and (abs(value) < EXACT_BELOW or type(e).__name__ == "RealDouble"):
            return tape.constant(value)
        return tape.constant(np.nextafter(value, -np.inf), np.nextafter(value, np.inf))
    kind = type(e).__name__
    if kind == "Pow":
        base, exponent = e.args
        if str(base) == "E":
            return tape.call("exp", step_of(exponent, tape, known, seen))
        return _power(step_of(base, tape, known, seen), exponent, tape)
    if kind in ("Add", "Mul"):
        total, *rest = (step_of(x, tape, known, seen) for x in e.args)
        for one in rest:
            total = tape.add(total, one) if kind == "Add" else tape.multiply(total, one)
        return total
    name = function_name(e)
    if name in STEPS:
        return STEPS[name](tape, step_of(e.args[0], tape, known, seen))
    raise Undecidable(f"{kind} in the forces" if e.args else f'the symbol "{e}"')


def _power(base: int, exponent: Any, tape: Tape) -> int:
    if not exponent.is_Number:
        raise Undecidable(f"the exponent {exponent}")
    e = float(exponent)
    if 2 * e != int(2 * e) or abs(e) > 64:
        raise Undecidable(f"the exponent {exponent}")
    if e != int(e):
        base, e = tape.call("sqrt", base), 2 * e
    found = tape.power(base, abs(int(e)))
    return tape.inverse(found) if e < 0 else found
