"""Verdicts by computation: printed numbers held against computed ones, and claims against what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pendula
from pendula.papers.types import Line
from pendula.papers.words import in_symbols

HALF = 0.5 * (1 + 1e-9)
"""largest change by rounding, in units of the last printed place"""
STATES = 30
"""random states at which equations are compared"""
MORE_DIGITS = 2
"""digits that are shown beyond the printed ones"""


def number(where: str, what: str, printed: str, found: float, *, unit: str = "", **more: Any) -> Line:
    """A printed number against the computed one: reproduced if the latter rounds to the former.

    Args:
        where, what: place in the paper, and name of the quantity.
        printed: the number with all printed digits, such as "21.432".
        found: the computed value.
        unit: of both.
        more: ``reason``, ``corrected``, ``effect`` and ``severity`` for the case that they differ.

    Example:
        >>> number("eq. 1", "pi", "3.14", 3.14159265).verdict, number("eq. 1", "pi", "3.15", 3.14159265).corrected
        ('reproduced', 'pi = 3.14')
    """
    return numbers(where, {what: (printed, found)}, unit=unit, **more)


def numbers(where: str, pairs: Mapping[str, tuple[str, float]], *, unit: str = "", says: str = "", **more: Any) -> Line:
    """Several printed numbers against computed ones; one that differs makes the line a corrected one."""
    suffix = f" {unit}" if unit else ""
    differing = {what: pair for what, pair in pairs.items() if not rounds_to(pair[1], pair[0])}
    stated = says or ", ".join(f"{what} = {printed}" for what, (printed, _) in pairs.items()) + suffix
    found = ", ".join(f"{what} = {_shown(x, printed, MORE_DIGITS)}" for what, (printed, x) in pairs.items()) + suffix
    evidence = {f"{what}, printed": float(printed) for what, (printed, _) in pairs.items()}
    evidence |= {f"{what}, computed": float(x) for what, (_, x) in pairs.items()}
    if not differing:
        return Line(where, stated, found, "reproduced", evidence=evidence)
    off = ", ".join(f"{what} by {abs(x - float(p)):.2g}" for what, (p, x) in differing.items())
    right = ", ".join(f"{what} = {_shown(x, p, 0)}" for what, (p, x) in differing.items()) + suffix
    texts = {"reason": f"the printed digits are off: {off}{suffix}", "corrected": right, "severity": "rounding"} | more
    return Line(where, stated, found, "corrected", evidence=evidence, **texts)


def rounds_to(found: float, printed: str) -> bool:
    """Whether a value agrees with a printed number to half of its last place.

    Example:
        >>> rounds_to(21.4405363, "21.4405"), rounds_to(4146876.0, "4.14688e6")
        (True, True)
    """
    return abs(found - float(printed)) <= HALF * place_of(printed)


def place_of(printed: str) -> float:
    """Value of the last printed place: 0.001 for "21.432".

    Example:
        >>> place_of("21.432"), place_of("4.14688e6")
        (0.001, 10.0)
    """
    return float(Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent)))


def _shown(x: float, printed: str, more: int) -> str:
    """The value with the digits of the printed number, and some more."""
    place = int(Decimal(printed).as_tuple().exponent)
    if "e" in printed.lower():
        return f"{x:.{len(Decimal(printed).as_tuple().digits) + more - 1}e}"
    return f"{x:.{max(0, -place) + more}f}"


def claim(where: str, says: str, found: str, holds: bool, *, evidence: Mapping[str, float], **more: str) -> Line:
    """A statement that the computation confirms or refutes.

    Args:
        where, says: place in the paper, and the statement.
        found: the result in words, with numbers.
        holds: whether the computation confirms the statement.
        evidence: the numbers behind it.
        more: ``reason``, ``corrected``, ``effect`` and ``severity`` for the case that it is refuted.

    Example:
        >>> claim(
        ...     "text",
        ...     "7 is even",
        ...     "7 mod 2 is 1",
        ...     7 % 2 == 0,
        ...     evidence={"7 mod 2": 1.0},
        ...     reason="it is odd",
        ...     corrected="7 is odd",
        ...     severity="wrong",
        ... ).verdict
        'corrected'
    """
    numbers = {name: float(value) for name, value in evidence.items()}
    if holds:
        return Line(where, says, found, "reproduced", evidence=numbers)
    return Line(where, says, found, "corrected", evidence=numbers, **more)


def same_equations(where: str, says: str, model: Any, given: Mapping[str, Any], **more: str) -> Line:
    """Printed equations against those of a model, at random states.

    Args:
        where, says: place in the paper, and the equations in words or formulas.
        model: the model.
        given: the printed equations, as :func:`pendula.derivation.check_against` reads them.
        more: ``reason``, ``corrected``, ``effect`` and ``severity`` for the case that they differ.

    Example:
        >>> given = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]}
        >>> same_equations("eq. 1", "a rod swings", "pendulum", given).verdict
        'reproduced'
    """
    compared = pendula.derivation.check_against(model, given, states=STATES)
    evidence = {"largest relative difference of an acceleration": compared.max_difference, "states": compared.states}
    found = f"accelerations agree to {compared.max_difference:.1g} at {compared.states} random states"
    if not compared.passed:
        rates = [d for d in compared.differences if d.what.isidentifier()] or compared.differences
        units = pendula.compile_system(model).layout.units
        shown = "; ".join(
            f"{in_symbols(d.what)} is {d.ours:.5g}{_unit(units, d.what)}, as printed {d.theirs:.5g}" for d in rates[:2]
        )
        at = ", ".join(
            f"{in_symbols(name)} = {x:.4g}{_unit(units, name)}"
            for name, x in (compared.counterexample or {}).items()
            if x
        )
        found = f"at {at or 'rest'}, all else zero, {shown}"
        evidence |= {f"{d.what}, ours": d.ours for d in compared.differences}
        evidence |= {f"{d.what}, as printed": d.theirs for d in compared.differences}
    return claim(where, says, found, compared.passed, evidence=evidence, **more)


def _unit(units: Mapping[str, str], name: str) -> str:
    """The unit of a coordinate, speed or acceleration, after a space; nothing for other quantities."""
    if name in units:
        return f" {units[name]}"
    speed = name.removesuffix("_ddot") + "_dot"
    return f" {units[speed]}²" if name.endswith("_ddot") and speed in units else ""


def chosen(where: str, says: str, found: str, *, data: str, evidence: Mapping[str, float]) -> Line:
    """A statement that cannot be decided since the paper omits data; ``data`` are those chosen here."""
    numbers = {name: float(value) for name, value in evidence.items()}
    return Line(where, says, found, "not determinable", data=data, evidence=numbers)


def matrix_words(matrix: Sequence[Sequence[float]]) -> str:
    """A matrix in one line.

    Example:
        >>> matrix_words([[1.0, 0.5], [0.5, 2.0]])
        '[[1, 0.5], [0.5, 2]]'
    """
    floor = 1e-14 * max(abs(x) for row in matrix for x in row)  # smaller entries are rounding errors
    rows = [[0.0 if abs(x) < floor else x + 0.0 for x in row] for row in matrix]
    return "[" + ", ".join("[" + ", ".join(f"{x:.6g}" for x in row) + "]" for row in rows) + "]"
