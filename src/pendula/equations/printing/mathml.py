"""Writes equations as MathML, which browsers render without scripts, fonts or network access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import symengine as se

from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import Matrix, entries
from pendula.equations.printing.counts import count
from pendula.equations.printing.formats import WORDS, is_small, used_intermediates
from pendula.equations.printing.latex import BODY_LETTERS, GREEK, WIDEST
from pendula.equations.printing.tidy import tidy
from pendula.equations.tape import is_zero
from pendula.errors import NotSupported

MOST_OPERATIONS = 1500
"""Largest number of operations that is readable on a page."""

_PARTS = dict(zip(PARTS, ("h", "γ", "f_k", "f_c", "τ"), strict=True))

Show = Callable[[Any], str]


@dataclass(frozen=True)
class Formula:
    """One formula: a description in words, and its MathML."""

    words: str
    mathml: str


def write_mathml(eq: Equations) -> tuple[Formula, ...]:
    """The equations of motion as formulas, M v' = ... first, with named intermediates unless they are small.

    Raises:
        NotSupported: the equations are too long for a page.

    Example:
        >>> from pendula import derive, library
        >>> [f.words for f in write_mathml(derive(library.pendulum()))]
        ['equations of motion', 'mass matrix', 'gravity']
    """
    small = is_small(eq)
    operations = count(eq).operations_shared
    if operations > MOST_OPERATIONS:
        raise NotSupported(
            f"equations with {operations} operations are too long to read on a page.\n"
            "  Try: pendula derive, which writes them as text, Python, C or JSON."
        )
    show = _writer(eq, small)
    parts = [part for part in PARTS if any(show(x) != _number(0) for x in eq.parts.free[part])]
    found = [Formula("equations of motion", _law(eq, parts))]
    if not small:
        found += [_equal("named intermediates", _name(eq, str(s)), show(e)) for s, e in used_intermediates(eq)]
    found += _matrix("mass matrix", "<mi>M</mi>", eq.M, show, symmetric=True)
    for part in parts:
        sign = "-" if part in ("inertia", "gravity") else ""
        found += _column(WORDS[part], _part(part, sign), eq.parts.free[part], show)
    moving = [(q, e) for q, e in zip(eq.q, eq.qdot, strict=True) if str(e) != f"{q}_dot"]
    found += [_equal("rates of coordinates", _name(eq, f"{q}_dot"), show(e)) for q, e in moving]
    found += [_equal("prescribed motions", _name(eq, d.name), show(d.value)) for d in eq.drives if small]
    if eq.g:
        found += _column("constraints: " + "; ".join(eq.constraint_names), "<mi>g</mi>", eq.g, show)
    if eq.G:
        found += _matrix("their Jacobian", "<mi>G</mi>", eq.G, show)
        found += [] if all(map(is_zero, eq.b)) else _column("prescribed rates", "<mi>b</mi>", eq.b, show)
        found += _column("and the right-hand side of their second derivative", "<mi>c</mi>", eq.c, show)
    return tuple(found)


# -- formulas -----------------------------------------------------------------------------------------------


def _writer(eq: Equations, small: bool) -> Show:
    known: dict[str, str] = {}

    def show(e: Any) -> str:
        key = str(e)
        if key not in known:
            form = tidy(eq.inline(e), eq.v) if small else se.sympify(e)._sympy_()
            known[key] = expression(form, lambda name: _name(eq, name))
        return known[key]

    return show


def _law(eq: Equations, parts: Sequence[str]) -> str:
    """M v' = ..., with the constraints if there are any."""
    right = ""
    for part in parts:
        sign = "-" if part in ("inertia", "gravity") else "+"
        right += (f"<mo>{_SIGNS[sign]}</mo>" if right or sign == "-" else "") + _part(part, "")
    right = right or _number(0)
    law = f"<mi>M</mi>{_dotted('<mi>v</mi>')}<mo>=</mo>{right}"
    if eq.G:
        left = _number(0) if all(map(is_zero, eq.b)) else "<mi>b</mi>"
        law += "<mo>+</mo><msup><mi>G</mi><mi>T</mi></msup><mi>λ</mi>"
        law += f"{_GAP}<mi>g</mi><mo>=</mo>{_number(0)}{_GAP}<mi>G</mi><mi>v</mi><mo>=</mo>{left}"
        law += f"{_GAP}<mi>G</mi>{_dotted('<mi>v</mi>')}<mo>=</mo><mi>c</mi>"
    speeds = "".join(f"<mtd>{_name(eq, str(v))}</mtd>" for v in eq.v[:WIDEST])
    more = "<mtd><mo>…</mo></mtd>" if len(eq.v) > WIDEST else ""
    row = f"<mrow><mo>(</mo><mtable><mtr>{speeds}{more}</mtr></mtable><mo>)</mo></mrow>"
    return _math(f"{law}{_GAP}<msup><mi>v</mi><mi>T</mi></msup><mo>=</mo>{row}")


_GAP = '<mo>,</mo><mspace width="1.2em"/>'
_SIGNS = {"-": "−", "+": "+"}


def _part(part: str, sign: str) -> str:
    letter, _, index = _PARTS[part].partition("_")
    name = f"<msub><mi>{letter}</mi><mi>{index}</mi></msub>" if index else f"<mi>{letter}</mi>"
    return f"<mo>−</mo>{name}" if sign else name


def _equal(words: str, left: str, right: str) -> Formula:
    return Formula(words, _math(f"{left}<mo>=</mo>{right}"))


def _matrix(words: str, name: str, matrix: Matrix, show: Show, *, symmetric: bool = False) -> list[Formula]:
    """A matrix in brackets, or its entries one by one if it is too wide."""
    if len(matrix[0]) <= WIDEST:
        rows = "".join("<mtr>" + "".join(f"<mtd>{show(x)}</mtd>" for x in row) + "</mtr>" for row in matrix)
        return [_equal(words, name, _bracketed(rows))]
    shown = [(i, j, show(x)) for i, j, x in entries(matrix) if not symmetric or i <= j]
    return [_equal(words, _indexed(name, f"{i + 1},{j + 1}"), text) for i, j, text in shown]


def _column(words: str, name: str, column: Sequence[Any], show: Show) -> list[Formula]:
    """A column in brackets, or its entries one by one if it is too long."""
    if len(column) <= WIDEST:
        return [_equal(words, name, _bracketed("".join(f"<mtr><mtd>{show(x)}</mtd></mtr>" for x in column)))]
    whole = f"<mrow><mo>(</mo>{name}<mo>)</mo></mrow>" if name != "<mi>g</mi>" else name
    return [_equal(words, _indexed(whole, str(k)), show(x)) for k, x in enumerate(column, 1) if not is_zero(x)]


def _bracketed(rows: str) -> str:
    # The page draws brackets (class "matrix"): few systems have a font with stretchable brackets.
    return f'<mtable class="matrix" displaystyle="true">{rows}</mtable>'


def _indexed(name: str, index: str) -> str:
    return f"<msub>{name}<mn>{index}</mn></msub>"


def _math(content: str) -> str:
    return f'<math displaystyle="true"><mrow>{content}</mrow></math>'


# -- expressions --------------------------------------------------------------------------------------------


def expression(e: Any, name: Callable[[str], str]) -> str:
    """A SymPy expression as MathML; ``name`` converts the names of symbols."""
    if e.is_Symbol:
        return name(str(e))
    if e.is_Integer or e.is_Float:
        return _number(e)
    if e.is_Rational:
        text = f"<mfrac>{_number(abs(e.p))}{_number(e.q)}</mfrac>"
        return f"<mrow><mo>−</mo>{text}</mrow>" if e.p < 0 else text
    if e.is_NumberSymbol:
        return "<mi>π</mi>" if str(e) == "pi" else f"<mi>{escape(str(e).lower())}</mi>"
    if e.is_Add:
        return _sum(e, name)
    if e.is_Mul:
        return _product(e, name)
    if e.is_Pow:
        return _power(e, name)
    if e.is_Function and not e.is_Piecewise:
        return _function(e, name)
    return f"<mtext>{escape(str(e))}</mtext>"


def _number(value: Any) -> str:
    text = str(value) if getattr(value, "is_Integer", isinstance(value, int)) else f"{float(value):.12g}"
    minus, digits = text.startswith("-"), text.removeprefix("-")
    mantissa, _, exponent = digits.partition("e")
    out = f"<mn>{mantissa}</mn>"
    if exponent:
        out = f"<mrow>{out}<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup></mrow>".replace("<mn>-", "<mn>−")
    return f"<mrow><mo>−</mo>{out}</mrow>" if minus else out


def _sum(e: Any, name: Callable[[str], str]) -> str:
    out = ""
    for term in e.as_ordered_terms():
        negative = term.could_extract_minus_sign()
        shown = expression(-term if negative else term, name)
        if negative and (-term).is_Add:
            shown = _fenced(shown)
        out += (f"<mo>{'−' if negative else '+'}</mo>" if out or negative else "") + shown
    return f"<mrow>{out}</mrow>"


def _product(e: Any, name: Callable[[str], str]) -> str:
    import sympy

    if e.could_extract_minus_sign():
        rest = -e
        shown = expression(rest, name)
        return f"<mrow><mo>−</mo>{_fenced(shown) if rest.is_Add else shown}</mrow>"
    above, below = sympy.fraction(e, exact=True)
    if below != 1:
        return f"<mfrac>{expression(above, name)}{expression(below, name)}</mfrac>"
    factors = above.as_ordered_factors() if above.is_Mul else [above]
    pieces = [_fenced(expression(x, name)) if x.is_Add else expression(x, name) for x in factors]
    return "<mrow>" + '<mspace width="0.17em"/>'.join(pieces) + "</mrow>"


def _power(e: Any, name: Callable[[str], str]) -> str:
    base, exponent = e.base, e.exp
    if exponent.is_number and exponent.is_negative:
        return f"<mfrac>{_number(1)}{expression(base**-exponent, name)}</mfrac>"
    if exponent.is_Rational and exponent.p == 1 and exponent.q == 2:
        return f"<msqrt>{expression(base, name)}</msqrt>"
    if base.is_Function and exponent.is_Integer and len(base.args) == 1:
        return _function(base, name, expression(exponent, name))
    shown = expression(base, name)
    plain = base.is_Symbol or (base.is_Integer and base >= 0)
    return f"<msup>{shown if plain else _fenced(shown)}{expression(exponent, name)}</msup>"


def _function(e: Any, name: Callable[[str], str], power: str = "") -> str:
    word = f"<mi>{escape(e.func.__name__.lower())}</mi>"
    word = f"<msup>{word}{power}</msup>" if power else word
    shown = "<mo>,</mo>".join(expression(x, name) for x in e.args)
    if len(e.args) == 1 and e.args[0].is_Symbol:
        return f'<mrow>{word}<mspace width="0.17em"/>{shown}</mrow>'
    return f"<mrow>{word}{_fenced(shown)}</mrow>"


def _fenced(text: str) -> str:
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


# -- names --------------------------------------------------------------------------------------------------


def _name(eq: Equations, name: str) -> str:
    """A name of the equations; coordinates of a body get the body as index, as in LaTeX."""
    if eq.nodes and name not in eq.readings:
        start, _, ending = name.removesuffix("_dot").rpartition("_")
        if start and ending in BODY_LETTERS and "__" not in name:
            letter, _, index = BODY_LETTERS[ending].lstrip("\\").partition("_")
            return _letter_with(letter, [*start.split("_"), index], name.endswith("_dot"))
    return mathml_name(name)


def mathml_name(name: str) -> str:
    """theta1_dot as a dotted letter with an index; names of several letters are upright.

    Example:
        >>> mathml_name("m2")
        '<msub><mi>m</mi><mn>2</mn></msub>'
    """
    head, _, rest = name.removesuffix("_dot").partition("_")
    stem = head.rstrip("0123456789") or head
    return _letter_with(stem, [head[len(stem) :], *rest.split("_")], name.endswith("_dot"))


def _letter_with(stem: str, indices: Sequence[str], dotted: bool) -> str:
    letter = _word(stem)
    letter = _dotted(letter) if dotted else letter
    below = [_word(x) for x in indices if x]
    if not below:
        return letter
    joined = "<mo>,</mo>".join(below)
    return f"<msub>{letter}{below[0] if len(below) == 1 else f'<mrow>{joined}</mrow>'}</msub>"


def _word(text: str) -> str:
    if text.isdigit():
        return f"<mn>{text}</mn>"
    return f"<mi>{escape(GREEK.get(text, text))}</mi>"


def _dotted(letter: str) -> str:
    return f'<mover>{letter}<mo lspace="0" rspace="0">.</mo></mover>'
