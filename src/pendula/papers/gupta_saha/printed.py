"""The two long expressions of the appendix, character for character as the text that was read has them, and mended.

Both are damaged: they lack signs, brackets and letters, in print or by the scan. The texts that were meant follow from
the code of figure 3; what has to be put back is found by comparing both, symbol by symbol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

H1 = (
    "1/10000*m*(1250*th1*d*th2*d^2*cos(th2)*cos(th3)^2*sin(th2)+6666*th1*d*th2*d*cos(th2)*a^2*cos(th3)^2*sin(th2)"
    "+1250*th1*d*th3*d^2*cos(th3)*sin(th3)-1250*th1*d*th3*d^2*cos(th2)^2*cos(th3)*sin(th3)"
    "-6666*th1*d*th3*d*cos(th3)*a^2*sin(th3)+6666*th1*d*th3*d*cos(th2)^2*a^2*cos(th3)*sin(th3)"
    "+1250*a^2*cos(th1)*th1*d*th2*d+625*cos(th2)*cos(th3)*sin(th3)*th2*d^2*d^2"
    "-3333*cos(th2)*cos(th3)*sin(th3)*th2*d^2*a^2+1250*th3*d*th2*d*sin(th2)*cos(th3)^2*d^2"
    "+9166*sin(th2)*th3*d*th2*d*a^2-6666*th3*d*th2*d*sin(th2)*cos(th3)^2*a^2"
    "+1250*th3*d*th2*d*a^2*cos(th1)*cos(th2)+1250*a^2*sin(th1)*sin(th2)*th1*d*th3*d"
    "+1250*a^2*sin(th1)*sin(th2)*cos(th2)*th3*d^2)"
)
"""A.1 after four stages of simplification"""

I33 = (
    "1/4*m*a^2*cos(th1)^2*sin(th2)^2+1/4*m*a^2*sin(th1)^2*sin(th2)^2+1/4*m*a^2*cos(th2)^2+1/4*m*a^2*"
    "cos(th1)*sin(th2)*cos(th2)+(cos(th1)*sin(th2)*(1/8*(cos(th1)*cos(th2)*cos(th3)-sin(th1)*sin(th3))^2"
    "*m*d^2+(-cos(th1)*cos(th2)*sin(th3)-sin(th1)*cos(th3))^2*(1/16*m*d^2+3333/10000*m*a^2)"
    "+cos(th1)^2*sin(th2)^2*(1/16*m*d^2+3333/10000*m*a^2))+sin(th1)*sin(th2)*(1/8*(cos(th1)*cos(th2)*c"
    "os(th3)-sin(th1)*sin(th3))*m*d^2*(sin(th1)*cos(th2)*cos(th3)+cos(th1)*sin(th3))+(-cos(th1)*cos(th2)"
    "*sin(th3)-sin(th1)*cos(th3))*(1/16*m*d^2+3333/10000*m*a^2)*(-sin(th1)*cos(th2)*sin(th3)"
    "+cos(th1)*cos(th3))+cos(th1)*sin(th2)^2*(1/16*m*d^2+3333/10000*m*a^2)*sin(th1)+cos(th2)*(-"
    "1/8*(cos(th1)*cos(th2)*cos(th3)-sin(th1)*sin(th3))*m*d^2*sin(th2)*cos(th3)+(-cos(th1)*cos(th2)"
    "*sin(th3)-sin(th1)*cos(th3))*(1/16*m*d^2+3333/10000*m*a^2)*sin(th2)*sin(th3)+cos(th1)*sin(th2)"
    "*(1/16*m*d^2+3333/10000*m*a^2)*cos(th2))*cos(th1)*sin(th2)+(cos(th1)*sin(th2)*(1/8*(cos(th1)*cos"
    "(th2)*cos(th3)sin(th1)*sin(th3))*m*d^2*(sin(th1)*cos(th2)*cos(th3)+cos(th1)*sin(th3))+cos(th1)*cos(th2)"
    ")*sin(th3)sin(th1)*cos(th3))*(1/16*m*d^2+3333/10000*m*a^2)*(sin(th1)*cos(th2)*sin(th3)+cos(th1)*co"
    "s(th3))+cos(th1)*sin(th2)^2*(1/16*m*d^2+3333/10000*m*a^2)*sin(th1))+sin(th1)*sin(th2)*(1/8*(sin(th"
    "1)*cos(th2)*cos(th3)+cos(th1)*sin(th3))^2*m*d^2+(sin(th1)*cos(th2)*sin(th3)+cos(th1)*cos(th3))^2*(1/"
    "16*m*d^2+3333/10000*m*a^2)+sin(th1)^2*sin(th2)^2*(1/16*m*d^2+3333/10000*m*a^2))+cos(th2)*(1"
    "/8*(sin(th1)*cos(th2)*cos(th3)+cos(th1)*sin(th3))*m*d^2*sin(th2)*cos(th3)+(sin(th1)*cos(th2)*sin(th3)+"
    "cos(th1)*cos(th3))*(1/16*m*d^2+3333/10000*m*a^2)*sin(th2)*sin(th3)+sin(th1)*sin(th2)*(1/16*m*d^2"
    "+3333/10000*m*a^2)*cos(th2))*sin(th1)*sin(th2)+(cos(th1)*sin(th2)*(-"
    "1/8*(cos(th1)*cos(th2)*cos(th3)-sin(th1)*sin(th3))*m*d^2*sin(th2)*cos(th3)+(-"
    "cos(th1)*cos(th2)*sin(th3)sin(th1)*cos(th3))*(1/16*m*d^2+3333/10000*m*a^2)*sin(th2)*sin(th3)+cos(t"
    "h1)*sin(th2)*(1/16*m*d^2+3333/10000*m*a^2)*cos(th2))+sin(th1)*sin(th2)*(1/8*(sin(th1)*cos(th2)*cos"
    "(th3)+cos(th1)*sin(th3))*m*d^2*sin(th2)*cos(th3)+(sin(th1)*cos(th2)*sin(th3)+cos(th1)*cos(th3))*(1/16"
    "*m*d^2+3333/10000*m*a^2)*sin(th2)*sin(th3)+sin(th1)*sin(th2)*(1/16*m*d^2+3333/10000*m*a^2)*c"
    "os(th2))+cos(th2)*(1/8*sin(th2)^2*cos(th3)^2*m*d^2+sin(th2)^2*sin(th3)^2*(1/16*m*d^2+3333/10000"
    "*m*a^2)+cos(th2)^2*(1/16*m*d^2+3333/10000*m*a^2))*cos(th2)]"
)
"""A.2, i33 before simplification"""

BRACKETS = "()[]"
SIGNS = "+-"


def code_i33() -> str:
    """What the code of figure 3 gives for i33 before simplification, written as A.2 writes it."""
    first = "(cos(th1)*cos(th2)*cos(th3)-sin(th1)*sin(th3))", "(-cos(th1)*cos(th2)*sin(th3)-sin(th1)*cos(th3))"
    second = "(sin(th1)*cos(th2)*cos(th3)+cos(th1)*sin(th3))", "(-sin(th1)*cos(th2)*sin(th3)+cos(th1)*cos(th3))"
    across = "(1/16*m*d^2+3333/10000*m*a^2)"
    column = ("cos(th1)*sin(th2)", "sin(th1)*sin(th2)", "cos(th2)")  # of L

    def beside(row: tuple[str, str], last: str) -> str:
        """The entry of Q I^c Q^T in this row and the third column."""
        return f"-1/8*{row[0]}*m*d^2*sin(th2)*cos(th3)+{row[1]}*{across}*sin(th2)*sin(th3)+{last}*{across}*cos(th2)"

    both = f"1/8*{first[0]}*m*d^2*{second[0]}+{first[1]}*{across}*{second[1]}+cos(th1)*sin(th2)^2*{across}*sin(th1)"
    I = [
        [
            f"1/8*{first[0]}^2*m*d^2+{first[1]}^2*{across}+cos(th1)^2*sin(th2)^2*{across}",
            both,
            beside(first, column[0]),
        ],
        [
            both,
            f"1/8*{second[0]}^2*m*d^2+{second[1]}^2*{across}+sin(th1)^2*sin(th2)^2*{across}",
            beside(second, column[1]),
        ],
        [
            beside(first, column[0]),
            beside(second, column[1]),
            f"1/8*sin(th2)^2*cos(th3)^2*m*d^2+sin(th2)^2*sin(th3)^2*{across}+cos(th2)^2*{across}",
        ],
    ]
    quarter = "1/4*m*a^2*"
    start = "+".join(quarter + x for x in ("cos(th1)^2*sin(th2)^2", "sin(th1)^2*sin(th2)^2", "cos(th2)^2"))
    rows = ("+".join(f"{column[j]}*({I[k][j]})" for j in range(3)) for k in range(3))
    rest = "".join(f"+({row})*{column[k]}" for k, row in enumerate(rows))
    return f"{start}-{quarter}cos(th1)*sin(th2)*cos(th2){rest}"


def code_h1() -> str:
    """The terms of A.1 with the letters and signs that the code of figure 3 gives."""
    rates = re.sub(r"(th\d)\*d", r"\1d", H1)
    for lost in ("th1d*th2d^2*cos(th2)", "th1d*th3d^2*cos"):
        rates = rates.replace(lost, lost.replace("d^2", "d*d^2"))
    return "-" + rates.replace("(1250", "(-1250", 1)


@dataclass(frozen=True)
class Mended:
    """A printed expression beside the one that was meant.

    Attributes:
        least: the printed one with those brackets and operators alone without which it cannot be read.
        full: all of it mended.
        signs: minus signs that are lost.
        brackets: brackets that are lost or too many.
        bare: places where two factors stand side by side without an operator.
    """

    least: str
    full: str
    signs: int
    brackets: int
    bare: int


def symbols(text: str) -> list[str]:
    """The numbers, names, operators and brackets of an expression.

    Example:
        >>> symbols("1/8*cos(th1)^2")
        ['1', '/', '8', '*', 'cos', '(', 'th1', ')', '^', '2']
    """
    return re.findall(r"[a-z]+\d?d?|\d+|\S", text)


def mended(printed: str, meant: str) -> Mended:
    """What has to be put back into a printed expression, so that it can be read, and so that it is the one meant.

    Example:
        >>> found = mended("a*(b c-(d)+e", "a*(b-c-(-d))+e")
        >>> found.least, found.signs, found.brackets, found.bare
        ('a*(b-c-(d))+e', 2, 1, 1)
    """
    theirs, ours = symbols(printed), symbols(meant)
    least: list[str] = []
    signs = brackets = bare = 0
    for kind, i, j, k, l in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        given, wanted = theirs[i:j], ours[k:l]
        if kind == "equal":
            least += given
            continue
        signs += wanted.count("-") - given.count("-")
        brackets += sum(x in BRACKETS for x in (*given, *wanted))
        kept = [x for x in given if x not in BRACKETS]
        needed = not kept and bool(least) and _ends(least[-1]) and _begins(wanted, ours[l:])
        bare += needed
        least += kept + [x for x in wanted if x in BRACKETS or (needed and x in SIGNS)]
    return Mended("".join(least), meant, signs, brackets, bare)


def _ends(symbol: str) -> bool:
    """Whether a factor ends with this symbol."""
    return symbol in ")]" or symbol.isalnum()


def _begins(wanted: list[str], after: list[str]) -> bool:
    """Whether a factor begins where nothing but signs is put back."""
    return all(x in SIGNS for x in wanted) and bool(after) and (after[0] in "([" or after[0].isalnum())
