"""One traversal for LaTeX and MathML: expressions and the list of formulas, written in a notation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import Matrix, entries
from pendula.equations.printing.form import WORDS, Form
from pendula.equations.printing.names import block_names, parts_of_name
from pendula.equations.simplify.recipe import as_sympy
from pendula.equations.tape import is_zero

WIDEST = 10
"""Largest number of matrix columns that fit a page."""

MINUS_PARTS = ("inertia", "gravity")
"""Parts of f that carry a minus sign: M v' = -h - gamma + ..."""

Equation = tuple[str, str, str]
"""Words, left-hand side, right-hand side."""


class Notation(Protocol):
    """How the pieces of a formula are written; every argument that is text is already in this notation."""

    def symbol(self, letter: str, indices: Sequence[str], *, dotted: bool = False) -> str:
        """A letter (or word) with indices."""

    def partial(self, of: str, by: str, *, rate: bool) -> str:
        """A partial derivative in parentheses, or its time derivative."""

    def number(self, digits: str, exponent: str = "") -> str:
        """Digits without sign, times a power of ten."""

    def sum(self, terms: Iterable[tuple[bool, str]]) -> str:
        """Terms with their signs (whether negative)."""

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""

    def fraction(self, above: str, below: str) -> str:
        """A fraction."""

    def power(self, base: str, exponent: str) -> str:
        """A power of a base in one piece."""

    def root(self, inside: str) -> str:
        """A square root."""

    def function(self, name: str, args: Sequence[str], power: str, *, plain: bool) -> str:
        """A function, raised to a power unless that is empty; ``plain`` if its argument is one symbol."""

    def fenced(self, inside: str) -> str:
        """In parentheses."""

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        """Values with their conditions; the last condition is empty."""

    def relation(self, left: str, sign: str, right: str) -> str:
        """A comparison or equation."""

    def words(self, text: str) -> str:
        """Plain text."""

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """A matrix in brackets."""

    def row_vector(self, entries: Sequence[str]) -> str:
        """Entries side by side in parentheses."""

    def transposed(self, name: str) -> str:
        """The transpose."""

    def indexed(self, name: str, index: str) -> str:
        """An entry of a matrix or column."""

    def listed(self, formulas: Sequence[str]) -> str:
        """Several formulas in one line."""


# -- expressions --------------------------------------------------------------------------------------------


class Writer:
    """Writes SymPy expressions in a notation.

    Args:
        notation: how the pieces are written.
        eq: the equations, if names of their coordinates occur: those of a body get the body as index.
        spell: writes names instead, if they need more than a letter with indices.
    """

    def __init__(
        self, notation: Notation, eq: Equations | None = None, spell: Callable[[str], str] | None = None
    ) -> None:
        self.notation, self.eq, self._spell = notation, eq, spell

    def name(self, name: str) -> str:
        """A name of the equations; ``uc__c_x_per_t1_dot`` is the partial derivative of ``uc__c_x`` by ``t1_dot``."""
        if self._spell is not None:
            return self._spell(name)
        of, mark, by = name.rpartition("_per_")
        if mark and "__" in of:
            return self.notation.partial(self.name(of), self.name(by.removesuffix("_dt")), rate=by.endswith("_dt"))
        letter, indices, dotted = parts_of_name(name, self.eq)
        return self.notation.symbol(letter, indices, dotted=dotted)

    def write(self, e: Any) -> str:
        """An expression."""
        n = self.notation
        if e.is_Symbol:
            return self.name(str(e))
        if e.is_Number and (e.is_Integer or e.is_Float):
            return self._number(e)
        if e.is_Rational:
            return self._signed(e.p < 0, n.fraction(self._number(abs(e.p)), self._number(e.q)))
        if e.is_NumberSymbol:
            return n.symbol("pi" if str(e) == "pi" else "e", ())
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(e)
        if e.is_Piecewise:
            return n.cases([(self.write(x), "" if c == True else self._condition(c)) for x, c in e.args])  # noqa: E712
        if e.is_Function:
            return self._function(e)
        return n.words(str(e))

    def _signed(self, negative: bool, text: str) -> str:
        return self.notation.sum([(True, text)]) if negative else text

    def _number(self, value: Any) -> str:
        whole = getattr(value, "is_Integer", isinstance(value, int))
        text = str(value) if whole else f"{float(value):.12g}"
        mantissa, _, exponent = text.removeprefix("-").partition("e")
        shown = self.notation.number(mantissa, str(int(exponent)) if exponent else "")
        return self._signed(text.startswith("-"), shown)

    def _sum(self, e: Any) -> str:
        terms = [(_negative(term), term) for term in e.as_ordered_terms()]
        if [minus for minus, _ in terms] == [True, False]:  # b - a rather than -a + b
            terms.reverse()
        return self.notation.sum([(minus, self.write(-term if minus else term)) for minus, term in terms])

    def _product(self, e: Any) -> str:
        import sympy

        if _negative(e):
            rest = -e
            shown = self.write(rest)
            return self._signed(True, self.notation.fenced(shown) if rest.is_Add else shown)
        above, below = sympy.fraction(e, exact=True)
        if below != 1:
            return self.notation.fraction(self.write(above), self.write(below))
        return self.notation.product([self._factor(x) for x in e.as_ordered_factors()])

    def _factor(self, e: Any) -> str:
        return self.notation.fenced(self.write(e)) if e.is_Add or e.is_Piecewise else self.write(e)

    def _power(self, e: Any) -> str:
        n, base, exponent = self.notation, e.base, e.exp
        if exponent.is_number and exponent.is_negative:
            return n.fraction(self._number(1), self.write(base**-exponent))
        if exponent.is_Rational and exponent.p == 1 and exponent.q == 2:
            return n.root(self.write(base))
        if base.is_Function and not base.is_Piecewise and exponent.is_Integer and len(base.args) == 1:
            return self._function(base, self.write(exponent))
        plain = base.is_Symbol or base.is_NumberSymbol or (base.is_Integer and base >= 0)
        shown = self.write(base)
        return n.power(shown if plain else n.fenced(shown), self.write(exponent))

    def _function(self, e: Any, power: str = "") -> str:
        word = e.func.__name__.lower()
        if word == "exp":
            shown = self.notation.power(self.notation.symbol("e", ()), self.write(e.args[0]))
            return self.notation.power(self.notation.fenced(shown), power) if power else shown
        args = [self.write(x) for x in e.args]
        return self.notation.function(word, args, power, plain=len(e.args) == 1 and e.args[0].is_Symbol)

    def _condition(self, e: Any) -> str:
        if e.is_Relational:
            return self.notation.relation(self.write(e.lhs), e.rel_op, self.write(e.rhs))
        return self.notation.words(str(e))


def _negative(e: Any) -> bool:
    return bool(e.as_coeff_Mul()[0].is_negative)


# -- the list of formulas -----------------------------------------------------------------------------------


class Formulas:
    """The formulas of a set of equations, in their printed form and in a notation."""

    def __init__(self, eq: Equations, notation: Notation) -> None:
        self.eq, self.n, self.form = eq, notation, Form(eq)
        self.writer = Writer(notation, eq)
        self.blocks = {block: self.writer.name(name) for block, name in block_names(eq).items()}
        self.parts = [p for p in PARTS if any(self.form(x) != 0 for x in eq.parts.free[p])]
        self._known: dict[Any, str] = {}

    def show(self, e: Any) -> str:
        """An expression of the equations in its printed form."""
        form = as_sympy(self.form(e))
        if form not in self._known:
            self._known[form] = self.writer.write(form)
        return self._known[form]

    def law(self) -> str:
        """M v' = ..., with the constraints if there are any."""
        n, eq, block = self.n, self.eq, self.blocks
        rate = self.n.symbol(*parts_of_name(block_names(eq)["v"])[:2], dotted=True)
        terms = [(part in MINUS_PARTS, block[part]) for part in self.parts]
        if eq.G:
            terms.append((False, n.product([n.transposed(block["G"]), block["lambda"]])))
        right = n.sum(terms) if terms else n.number("0")
        found = [n.relation(n.product([block["M"], rate]), "=", right)]
        if eq.G:
            still = all(map(is_zero, eq.b))
            found.append(n.relation(block["g"], "=", n.number("0")))
            found.append(n.relation(n.product([block["G"], block["v"]]), "=", n.number("0") if still else block["b"]))
            found.append(n.relation(n.product([block["G"], rate]), "=", block["c"]))
        return n.listed(found)

    def speeds(self) -> str:
        """v^T = (...), cut if there are many."""
        shown = [self.writer.name(str(v)) for v in self.eq.v[:WIDEST]]
        more = [self.n.words("…")] if len(self.eq.v) > WIDEST else []
        return self.n.relation(self.n.transposed(self.blocks["v"]), "=", self.n.row_vector(shown + more))

    def equations(self) -> list[Equation]:
        """All formulas but the law: intermediates, matrices, parts of f, rates, drives, constraints."""
        eq, show, block = self.eq, self.show, self.blocks
        name = self.writer.name
        found = [("named intermediates", name(str(s)), show(e)) for s, e in self.form.definitions]
        found += self._matrix("mass matrix", block["M"], eq.M, symmetric=True)
        for part in self.parts:
            label = self.n.sum([(True, block[part])]) if part in MINUS_PARTS else block[part]
            found += self._column(WORDS[part], label, eq.parts.free[part], whole=part in ("applied",))
        found += [("rates of coordinates", name(f"{q}_dot"), show(e)) for q, e in eq.other_rates]
        if self.form.small:
            found += [("prescribed motions", name(d.name), show(d.value)) for d in eq.drives]
        if eq.g:
            found += self._column("constraints: " + "; ".join(eq.constraint_names), block["g"], eq.g)
        if eq.G:
            found += self._matrix("their Jacobian", block["G"], eq.G)
            found += [] if all(map(is_zero, eq.b)) else self._column("prescribed rates", block["b"], eq.b)
            found += self._column("and the right-hand side of their second derivative", block["c"], eq.c)
        return found

    def _matrix(self, words: str, name: str, matrix: Matrix, *, symmetric: bool = False) -> list[Equation]:
        """A matrix in brackets, or its entries one by one if it is too wide."""
        if len(matrix[0]) <= WIDEST:
            return [(words, name, self.n.matrix([[self.show(x) for x in row] for row in matrix]))]
        shown = [(i, j, self.show(x)) for i, j, x in entries(matrix) if not symmetric or i <= j]
        return [(words, self.n.indexed(name, f"{i + 1},{j + 1}"), text) for i, j, text in shown]

    def _column(self, words: str, name: str, column: Sequence[Any], *, whole: bool = True) -> list[Equation]:
        """A column in brackets, or its entries one by one if it is too long; a composite name gets parentheses."""
        if len(column) <= WIDEST:
            return [(words, name, self.n.matrix([[self.show(x)] for x in column]))]
        piece = name if whole else self.n.fenced(name)
        rows = [(k, x) for k, x in enumerate(column, 1) if not is_zero(x)]
        return [(words, self.n.indexed(piece, str(k)), self.show(x)) for k, x in rows]
