"""Expressions in words of a page: names of variables as symbols, powers and indices as raised and lowered digits."""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTERS = {"theta": "θ", "phi": "φ", "psi": "ψ", "Omega": "Ω", "omega": "ω", "alpha": "α"}


def in_symbols(text: str) -> str:
    """An expression of the program as it is written by hand.

    Example:
        >>> in_symbols("-l**2*m*theta1_ddot/3 - c2*theta2_dot**2")
        "−l² m θ₁''/3 − c₂ θ₂'²"
    """
    text = re.sub(r"\b([A-Za-z]+?)(\d*)(_d?dot)?\b", _name, text)
    text = re.sub(r"\*\*(-?\d+)", lambda found: found[1].translate(_RAISED), text)
    return re.sub(r"(?<![^ (])-", "−", text.replace("*", " "))


def _name(found: re.Match[str]) -> str:
    letter, index, rate = found[1], found[2], found[3]
    marks = {"_dot": "'", "_ddot": "''", None: ""}[rate]
    return _LETTERS.get(letter, letter) + index.translate(_LOWERED) + marks


def root_words(value: complex, digits: int = 4) -> str:
    """A root as text: parts that are zero are left out.

    Example:
        >>> root_words(-0.125 + 3.089j), root_words(-2.23 + 0j), root_words(3.132j)
        ('-0.125 + 3.089i', '-2.23', '+3.132i')
    """
    if value.imag == 0:
        return f"{value.real + 0.0:.{digits}g}"
    if value.real == 0:
        return f"{value.imag:+.{digits}g}i"
    return f"{value.real:.{digits}g} {'−' if value.imag < 0 else '+'} {abs(value.imag):.{digits}g}i"
