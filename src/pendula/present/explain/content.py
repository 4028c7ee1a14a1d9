"""What the page and the LaTeX document of an explanation have in common: names of sources, figures, layout rules."""

from __future__ import annotations

import re

from pendula.analysis.explain.explanation import NAMES, Check, Explanation
from pendula.equations.shares import Source
from pendula.equations.story.display import Shown
from pendula.words import counted

WIDEST = 78
"""Largest width of a matrix, in characters, that is shown as a whole."""

OPEN = 4
"""Largest number of intermediates that are shown without folding."""


def width(tex: str) -> int:
    r"""About how many characters wide a formula is.

    Example:
        >>> width(r"\frac{l \sin {\theta_{1}}}{2}")  # a for the fraction, l, three for sin, two for theta1, 2
        8
    """
    text = re.sub(r"\\(left|right|boldsymbol|mathrm|text|dot|ddot|displaystyle)\b", "", tex)
    text = re.sub(r"\\(sin|cos|tan|exp)\b", "abc", text)
    text = re.sub(r"\\[A-Za-z]+", "a", text)
    return len(re.sub(r"[{}\\ _^]", "", text))


def as_matrix(shown: Shown) -> bool:
    """Whether a formula fits a line as a matrix; otherwise it is shown entry by entry."""
    columns = zip(*shown.tex, strict=True)
    return sum(max(width(x) for x in column) + 2 for column in columns) <= WIDEST


def is_shorter(shown: Shown) -> bool:
    """Whether a sum, simplified as a whole, is clearly shorter than its terms by source."""
    terms = sum(width(piece) for pieces in shown.terms for piece in pieces if pieces != ("0",))
    return sum(width(piece) for piece in shown.pieces[0][0]) <= 0.85 * terms


def entry_name(shown: Shown, i: int, j: int) -> str:
    """The name of one entry of a matrix or column, TeX."""
    name = shown.formula.name
    rows, columns = shown.formula.shape
    index = f"{i + 1}" if columns == 1 else f"{j + 1}" if rows == 1 else f"{i + 1},{j + 1}"
    plain = re.fullmatch(r"\\?[A-Za-z]+", name)
    return rf"{name}_{{{index}}}" if plain else rf"\left({name}\right)_{{{index}}}"


def source_name(told: Explanation, source: Source) -> str:
    """A source as a short label."""
    if source.kind == "force":
        force = told.model.forces[int(source.name)]
        return force.name or f"{force.type} {int(source.name) + 1}"
    return source.name


def source_words(told: Explanation, source: Source) -> str:
    """A source as a sentence."""
    if not source.kind:
        return ""
    name = source_name(told, source)
    if source.kind == "force":
        return f"from the force {name} ({told.model.forces[int(source.name)].where()})"
    return f"from {source.kind} {name}"


def short(difference: float) -> str:
    """A difference as a figure.

    Example:
        >>> short(3.14e-16), short(0.0)
        ('3e-16', '0')
    """
    return "0" if difference == 0 else f"{difference:.0e}".replace("e-0", "e-")


def facts(told: Explanation) -> list[tuple[str, str]]:
    """The most important results, each as a figure and what it is."""
    eq = told.story.equations
    rows = counted(eq.loop_rows, "constraint") if eq.loop_rows else "no constraints"
    found = [
        (counted(len(told.model.bodies), "body", "bodies"), f"{counted(len(eq.v), 'speed')}, {rows}"),
        (
            counted(sum(1 for _ in told.story.formulas), "formula"),
            f"as written they differ from the compiled ones by {short(told.written.difference)}",
        ),
        (
            counted(told.comparisons, "comparison"),
            f"at {told.states} random states, largest difference {told.worst:.1e}",
        ),
    ]
    if told.whole is not None:
        found.append(
            (
                short(told.whole.difference),
                "relative difference between accelerations from the formulas as written here and compiled ones",
            )
        )
    return found


def title(told: Explanation) -> str:
    """The headline."""
    name = told.model.name
    return f"{name[:1].upper()}{name[1:]}: derivation of its equations of motion"


def intro(told: Explanation) -> tuple[str, ...]:
    """The paragraphs before the first chapter."""
    name = NAMES[told.formulation]
    other = NAMES[told.compared_with]
    return (
        f"The equations of motion are derived by {name}, from the frames of the bodies to the final equations.",
        *told.story.lead,
        "Every formula is taken from the equations that Pendula compiles and runs; short ones are written out and "
        f"simplified. The number with each formula shows how well it agrees with an independent value at {told.states} "
        "random states: it is the largest relative difference. Most of these values come from differentiating "
        f"positions in time, or from {other}, which reaches the same equations by another route.",
    )


def verdict(check: Check) -> str:
    """What a comparison found, as a sentence with formulas in TeX."""
    result = "Agrees with" if check.passed else "DISAGREES with"
    return f"{result} {check.words}. Largest relative difference: {short(check.difference)}."
