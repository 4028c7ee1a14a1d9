"""Writes SymEngine expressions as source text of a language: one walk, and one description for each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import symengine as se
from symengine.lib import symengine_wrapper as wrapper

from pendula.equations import refusals
from pendula.equations.translate import function_name
from pendula.errors import NotSupported
from pendula.model.expressions.functions import FUNCTIONS, Column

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)  # operator precedence of a piece of text


@dataclass(frozen=True)
class Language:
    """How expressions are written in a language."""

    title: str
    prefix: str = ""
    """prefix of functions, such as ``math.``"""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """functions whose name is not that of the C library; without the prefix"""
    pi: str = "M_PI"
    power: str = "pow({}, {})"
    """base and exponent; an operator, if it is not a call"""
    choice: str = "(({test}) ? ({this}) : ({other}))"
    both: str = " && "
    either: str = " || "
    negation: str = "(!{})"
    truths: tuple[str, str] = ("0", "1")
    """false and true"""
    integers: bool = False
    """whether integers are written without a decimal point"""
    reserved: frozenset[str] = frozenset()
    """words that a name of the model may not have in a program"""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """names of a model that mean something else in the language, and what replaces them"""

    def name_of(self, symbol: Any) -> str:
        """A symbol in this language."""
        return self.spelled.get(str(symbol), str(symbol))

    def function(self, name: str) -> str:
        """A function of the expression language; raises NotSupported if the language has none."""
        if name not in SPELLED:
            raise NotSupported(refusals.NO_SPELLING, language=self.title, name=name)
        return self.prefix + self.renamed.get(name, SPELLED[name])


PYTHON = Language(
    "python",
    "math.",
    pi="math.pi",
    power="{}**{}",
    choice="(({this}) if {test} else ({other}))",
    both=" and ",
    either=" or ",
    negation="(not {})",
    truths=("False", "True"),
    integers=True,
)
PLAIN = replace(PYTHON, prefix="", pi="pi")
"""The expression language of model files: Python without the name of its module."""
C = Language("c")

SPELLED: Column[str] = Column(
    "names in programs",
    {**{name: function.c for name, function in FUNCTIONS.items() if function.c}, "abs": "fabs"},
    without=("sign", "min", "max", "hypot"),  # equations contain them as Piecewise or powers
)


def write(expression: Any, language: Language) -> str:
    """The source text of an expression.

    Example:
        >>> x, y = se.symbols("x y")
        >>> write(x**2 - y / 3, PYTHON), write(x**2 - y / 3, C)
        ('x**2 - y/3.0', 'x*x - y/3.0')
    """
    return _write(se.sympify(expression), language)[0]


def _write(e: Any, language: Language) -> tuple[str, int]:
    if isinstance(e, se.Symbol):
        return language.name_of(e), _ATOM
    if isinstance(e, se.Rational) and not isinstance(e, se.Integer):
        text = f"{int(e.p)}.0/{int(e.q)}.0"
        return text, _PRODUCT if int(e.p) > 0 else _SUM
    if isinstance(e, se.Number) or not e.args:
        return _number(e, language)
    if e.is_Add:
        return _sum(e, language)
    if e.is_Mul:
        return _product(e, language)
    if e.is_Pow:
        return _power(e, language)
    if isinstance(e, se.Piecewise):
        return _cases(e.args, language), _SUM - 1
    if isinstance(e, se.cot):  # SymEngine turns tan(x + pi/2) into it
        return _write(1 / se.Function("tan")(e.args[0]), language)
    function = language.function(function_name(e) or type(e).__name__)
    return f"{function}({', '.join(_write(a, language)[0] for a in e.args)})", _ATOM


def _number(e: Any, language: Language) -> tuple[str, int]:
    if isinstance(e, wrapper.BooleanAtom):
        return language.truths[bool(e)], _ATOM
    if e == se.pi:
        return language.pi, _ATOM
    value = float(e)
    text = repr(value) if not isinstance(e, se.Integer) or not language.integers else str(int(e))
    return text, _ATOM if value >= 0 else _SUM


def _at_least(e: Any, level: int, language: Language) -> str:
    text, binds = _write(e, language)
    return text if binds >= level else f"({text})"


def _negative(e: Any) -> bool:
    if isinstance(e, se.Number):
        return bool(e < 0)
    return bool(e.is_Mul and isinstance(e.args[0], se.Number) and e.args[0] < 0)


def _sum(e: Any, language: Language) -> tuple[str, int]:
    terms = sorted(e.args, key=lambda a: (_negative(a), str(a)))
    text = _at_least(terms[0], _PRODUCT if _negative(terms[0]) else _SUM, language)
    for term in terms[1:]:
        if _negative(term):
            text += f" - {_at_least(-term, _PRODUCT, language)}"
        else:
            text += f" + {_at_least(term, _PRODUCT, language)}"
    return text, _SUM


def _product(e: Any, language: Language) -> tuple[str, int]:
    above, below = [], []
    sign = ""
    for arg in e.args:
        if isinstance(arg, se.Rational) and not isinstance(arg, se.Integer):
            p, q = int(arg.p), int(arg.q)
            sign = "-" if p < 0 else sign
            above += [f"{abs(p)}.0"] if abs(p) != 1 else []
            below.append(f"{q}.0")
        elif isinstance(arg, se.Number):
            value = -arg if arg < 0 else arg
            sign = "-" if arg < 0 else sign
            above += [_number(value, language)[0]] if value != 1 else []
        elif arg.is_Pow and isinstance(arg.args[1], se.Number) and arg.args[1] < 0:
            below.append(_at_least(1 / arg, _POWER, language))
        else:
            above.append(_at_least(arg, _POWER, language))
    text = "*".join(above) or "1.0"
    for factor in below:
        text += f"/{factor}"
    return sign + text, _PRODUCT if not sign else _SUM


def _power(e: Any, language: Language) -> tuple[str, int]:
    base, exponent = e.args
    if base == se.E:
        return f"{language.function('exp')}({_write(exponent, language)[0]})", _ATOM
    if exponent == se.Rational(1, 2):
        return f"{language.function('sqrt')}({_write(base, language)[0]})", _ATOM
    if isinstance(exponent, se.Number) and exponent < 0:
        return f"1.0/{_at_least(base ** (-exponent), _POWER, language)}", _PRODUCT
    if not language.power.endswith(")"):
        return language.power.format(_at_least(base, _ATOM, language), _at_least(exponent, _ATOM, language)), _POWER
    if exponent == 2 and isinstance(base, se.Symbol):
        return f"{language.name_of(base)}*{language.name_of(base)}", _PRODUCT
    return language.power.format(_write(base, language)[0], _write(exponent, language)[0]), _ATOM


def _cases(args: tuple[Any, ...], language: Language) -> str:
    pairs = list(zip(args[::2], args[1::2], strict=True))
    text = _write(pairs[-1][0], language)[0]
    for value, condition in reversed(pairs[:-1]):
        test, this = _condition(condition, language), _write(value, language)[0]
        text = language.choice.format(test=test, this=this, other=text)
    return text


def _condition(e: Any, language: Language) -> str:
    if isinstance(e, wrapper.BooleanAtom):
        return language.truths[bool(e)]
    if isinstance(e, (se.And, se.Or)):
        word = language.both if isinstance(e, se.And) else language.either
        return "(" + word.join(_condition(a, language) for a in e.args) + ")"
    if isinstance(e, se.Not):
        return language.negation.format(_condition(e.args[0], language))
    sign = {"StrictLessThan": "<", "LessThan": "<="}.get(type(e).__name__)
    if sign is None:
        raise NotSupported(refusals.NO_CONDITION, language=language.title, condition=e)
    a, b = (_write(x, language)[0] for x in e.args)
    return f"({a} {sign} {b})"
