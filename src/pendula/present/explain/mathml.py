r"""Formulas in TeX as MathML: the part of TeX that stories use.

Letters, numbers, indices and exponents, fractions, roots, functions, accents, brackets, sums, matrices and cases.
What it does not know raises an error, so that no page shows a formula with a piece missing.
"""

from __future__ import annotations

import re
from html import escape

from pendula.equations.printing.names import GREEK
from pendula.errors import PendulaError

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.S)

_SIGNS = {
    "cdot": "·", "times": "×", "circ": "∘", "sum": "∑", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥",
    "neq": "≠", "wedge": "∧", "vee": "∨", "lvert": "|", "rvert": "|", "cdots": "⋯", "ldots": "…", "neg": "¬",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "vert": "|", "mid": "|",
}  # fmt: skip
_LETTERS = {**GREEK, "vartheta": "ϑ", "infty": "∞", "pi": "π", "epsilon": "ϵ", "varphi": "φ", "partial": "∂"}
_FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "exp",
    "log",
    "sinh",
    "cosh",
    "tanh",
    "min",
    "max",
    "arcsin",
    "arccos",
    "arctan",
    "cot",
)
_SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.3, "quad": 1.0, "qquad": 2.0, "!": 0.0}
_ACCENTS = {"dot": ".", "ddot": "..", "tilde": "~", "hat": "^", "overrightarrow": "→"}
_MATRIX = '<mtable class="matrix" displaystyle="true">'


def mathml(tex: str, *, block: bool = False) -> str:
    r"""A formula as MathML.

    Example:
        >>> mathml(r"\dot{\theta}_{1}")
        '<math><msub><mover><mi>θ</mi><mo lspace="0" rspace="0">.</mo></mover><mn>1</mn></msub></math>'

    Raises:
        PendulaError: it contains something this module does not know.
    """
    style = ' displaystyle="true"' if block else ""
    return f"<math{style}>{_Parser(tex).all()}</math>"


class _Parser:
    def __init__(self, tex: str) -> None:
        self._tex = tex
        self._tokens: list[str] = []
        self._spaced: set[int] = set()  # tokens with a space before them: factors of a product
        for token in _TOKEN.findall(tex):
            if token.isspace():
                self._spaced.add(len(self._tokens))
            else:
                self._tokens.append(token)
        self._at = 0

    def all(self) -> str:
        """The whole formula."""
        out = self._row(())
        if self._at < len(self._tokens):
            raise self._fault(self._tokens[self._at])
        return out

    def _fault(self, token: str) -> PendulaError:
        return PendulaError(f"no MathML for {token!r} in {self._tex!r}")

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise self._fault("the end")
        self._at += 1
        return token

    def _row(self, ends: tuple[str, ...]) -> str:
        """Everything up to one of the ends, which stays; one element if there is only one."""
        items: list[str] = []
        while self._peek() and self._peek() not in ends:
            spaced = self._at in self._spaced
            item = self._scripted()
            if spaced and items and _is_factor(items[-1]) and not item.startswith(("<mo>", "<mo ", "<mspace")):
                items.append('<mspace width="0.14em"/>')
            items.append(item)
        return items[0] if len(items) == 1 else f"<mrow>{''.join(items)}</mrow>"

    def _scripted(self) -> str:
        """An atom with its index and exponent."""
        base = self._atom()
        below = above = ""
        while self._peek() in ("_", "^", "'"):
            if self._next() == "_":
                below = self._atom()
            else:
                above = "<mo>′</mo>" if self._tokens[self._at - 1] == "'" else self._atom()
        big = base == "<mo>∑</mo>"
        if below and above:
            return f"<{'munderover' if big else 'msubsup'}>{base}{below}{above}</{'munderover' if big else 'msubsup'}>"
        if below:
            return f"<munder>{base}{below}</munder>" if big else f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _group(self) -> str:
        """One argument of a command."""
        return self._atom()

    def _atom(self) -> str:
        token = self._next()
        if token == "{":
            inside = self._row(("}",))
            self._next()
            return inside
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        if token in "+=<>()[],;:|/!*.":
            return f"<mo{_fence(token)}>{escape(token)}</mo>"
        if token == "-":
            return "<mo>−</mo>"
        if token[0] == "\\" and len(token) > 1:
            return self._command(token[1:])
        raise self._fault(token)

    def _command(self, name: str) -> str:
        if name in _LETTERS:
            return f"<mi>{_LETTERS[name]}</mi>"
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>"
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}em"/>'
        if name in _FUNCTIONS:
            return self._function(f"<mi>{name}</mi>")
        if name in _ACCENTS:
            return f'<mover>{self._group()}<mo lspace="0" rspace="0">{_ACCENTS[name]}</mo></mover>'
        match name:
            case "frac" | "tfrac" | "dfrac":
                return f"<mfrac>{self._group()}{self._group()}</mfrac>"
            case "sqrt":
                return f"<msqrt>{self._group()}</msqrt>"
            case "operatorname":
                return self._function(f"<mi>{self._text()}</mi>")
            case "mathrm":
                return f'<mi class="up">{self._text()}</mi>'
            case "text" | "mbox":
                return f"<mtext>{self._text()}</mtext>"
            case "boldsymbol" | "mathbf":
                return f'<mrow class="bold">{self._group()}</mrow>'
            case "left" | "right":
                mark = self._next()
                mark = mark[1:] if len(mark) > 1 else mark
                mark = {"lvert": "|", "rvert": "|"}.get(mark, _SIGNS.get(mark, mark))
                return "" if mark == "." else f"<mo{_fence(mark)}>{escape(mark)}</mo>"
            case "{" | "}":
                return f"<mo>{name}</mo>"
            case "begin":
                return self._environment()
        raise self._fault(f"\\{name}")

    def _function(self, word: str) -> str:
        """A function with its exponent, if any, and a little space before a bare argument."""
        while self._peek() in ("^", "_"):
            tag = "msup" if self._next() == "^" else "msub"
            word = f"<{tag}>{word}{self._atom()}</{tag}>"
        rest = self._tokens[self._at : self._at + 2]
        bare = rest and rest[0] != "(" and rest != ["{", "\\left"] and rest[0] != "\\left"
        return f'<mrow>{word}<mspace width="0.17em"/></mrow>' if bare else word

    def _text(self) -> str:
        """The text between braces; spaces were dropped, so it is read from the source again."""
        if self._next() != "{":
            raise self._fault("text without braces")
        start, depth = self._at, 1
        while depth:
            token = self._next()
            depth += {"{": 1, "}": -1}.get(token, 0)
        count = sum(t == "{" for t in self._tokens[:start])
        return escape(unescaped(self._braced(count)))

    def _braced(self, number: int) -> str:
        """The source text between brace ``number`` (from 1) and its partner."""
        seen = depth = 0
        begin = -1
        for match in _TOKEN.finditer(self._tex):
            token = match[0]
            if token == "{":
                seen += 1
                if begin >= 0:
                    depth += 1
                elif seen == number:
                    begin = match.end()
            elif token == "}" and begin >= 0:
                if depth == 0:
                    return self._tex[begin : match.start()]
                depth -= 1
        raise self._fault("}")

    def _environment(self) -> str:
        kind = self._text()
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self._row(("&", "\\\\", "\\end")))
            token = self._next()
            if token == "\\\\":
                rows.append([])
            elif token == "\\end":
                break
        if self._text() != kind:
            raise self._fault(f"\\end{{{kind}}}")
        body = "".join("<mtr>" + "".join(f"<mtd>{x}</mtd>" for x in row) + "</mtr>" for row in rows)
        if kind == "cases":
            return f'<mrow><mo>{{</mo><mtable class="cases">{body}</mtable></mrow>'
        if kind != "bmatrix":
            raise self._fault(f"\\begin{{{kind}}}")
        return f"{_MATRIX}{body}</mtable>"


def _is_factor(element: str) -> bool:
    """Whether an element can be a factor of a product: no operator, no space, not a function before its argument."""
    return not element.startswith(("<mo>", "<mo ", "<mspace")) and not element.endswith(
        '<mspace width="0.17em"/></mrow>'
    )


def _fence(mark: str) -> str:
    """Brackets do not stretch, since few systems have a font that does it well; slashes get no space."""
    return ' stretchy="false"' if mark in "()[]|" else ' lspace="0" rspace="0"' if mark == "/" else ""


def unescaped(text: str) -> str:
    """Text of TeX without escapes."""
    text = text.replace(r"\textbackslash{}", "\\").replace(r"\textasciitilde{}", "~")
    text = text.replace(r"\textasciicircum{}", "^")
    return re.sub(r"\\([&%$#_{}\s])", r"\1", text)
