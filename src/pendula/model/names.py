"""Names in the model language: which names a mechanism may use, and which are reserved.

Names of parameters, joints and coordinates become identifiers in generated Python and C code, so :func:`check_name`
checks them first. The name of a body is only displayed and has a more relaxed rule (:func:`check_label`).
"""

from __future__ import annotations

import bisect
import difflib
import keyword
import re
import string
import unicodedata
from collections.abc import Iterable

from pendula.arguments import available
from pendula.errors import PendulaError
from pendula.model.expressions.functions import CONSTANTS, FUNCTIONS

MAX_NAME_LENGTH = 64
"""Longest name or label, in characters."""

_COMPARED = 60  # largest number of names that nearest() compares
_LETTERS = string.ascii_letters + string.digits + "_"

_C_WORDS = """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern
    false float for fortran goto if inline int long nullptr register restrict return short signed sizeof
    static static_assert struct switch thread_local true typedef typeof union unsigned void volatile while
    main printf fprintf sprintf malloc calloc realloc free memcpy memset exit abort errno assert
    size_t ptrdiff_t NULL EOF NAN INFINITY HUGE_VAL M_PI TRUE FALSE
    cbrt copysign erf erfc exp2 expm1 fabs fdim fma fmax fmin fmod frexp ilogb ldexp lgamma llround log10
    log1p log2 logb lround modf nan nearbyint nextafter pow remainder rint round scalbn tgamma trunc labs
    llabs
"""
_PYTHON_WORDS = """
    abs all any bool breakpoint bytes callable chr classmethod compile complex delattr dict dir divmod
    enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input
    int isinstance issubclass iter len list locals map memoryview next object oct open ord pow print
    property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple
    type vars zip math np numpy self
"""

_TAKEN = {
    **dict.fromkeys(_PYTHON_WORDS.split(), "has a meaning in Python"),
    **dict.fromkeys(_C_WORDS.split(), "is a word of the C language"),
    **dict.fromkeys(CONSTANTS, "is a constant of the expression language"),
    **dict.fromkeys(FUNCTIONS, "is a function of the expression language"),
    "t": "is the time",
}

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9._-])?")


class ExpressionError(PendulaError, ValueError):
    """An expression or a name that the model language rejects, or an expression without a finite value.

    Attributes:
        column: position of the error in the text, from 1, or None.
    """

    def __init__(self, message: str, *, column: int | None = None) -> None:
        super().__init__(message)
        self.column = column


def check_name(name: str, what: str, *, allow_dot: bool = False) -> None:
    """Rejects a name that cannot be an identifier in expressions and generated code.

    A valid name starts with an ASCII letter, continues with letters, digits and single underscores, has at most 64
    characters, and is not a word of Python, of C or of the expression language. ``t`` (time) and names ending in
    ``_dot`` (speeds of coordinates) are reserved.

    Args:
        name: the name to check.
        what: what it names, for the message: ``"parameter"``, ``"joint"``.
        allow_dot: accept names ending in ``_dot``; for code that checks names of speeds.

    Raises:
        ExpressionError: with the fault and a valid name.

    Example:
        >>> check_name("theta1", "joint")
        >>> check_name("k 1", "parameter")  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ...
        ExpressionError: parameter name "k 1" has " " at position 2; ... Try "k_1".
    """
    if type(name) is not str:
        raise ExpressionError(f'{_titled(what)} must be plain text, found {type(name).__name__}. Try "k1".')
    fault = _name_fault(name, allow_dot)
    if fault:
        raise ExpressionError(f'{_titled(what)} {quote(name)} {fault}. Try "{cleaned_name(name, allow_dot)}".')


def check_label(label: str, what: str) -> None:
    """Rejects a label that would not print well: the relaxed rule, for names that never appear in generated code.

    A label has ASCII letters, digits, space and ``- _ .``, at most 64 characters, starting with a letter or
    digit and not ending in a space.

    Raises:
        ExpressionError: with the fault and a valid label.

    Example:
        >>> check_label("upper arm no. 2", "body")
    """
    if type(label) is not str:
        raise ExpressionError(f'{_titled(what)} must be plain text, found {type(label).__name__}. Try "arm 1".')
    fault = _label_fault(label)
    if fault:
        raise ExpressionError(f'{_titled(what)} {quote(label)} {fault}. Try "{cleaned_label(label)}".')


def identifier_fault(name: str, limit: int = MAX_NAME_LENGTH + 16) -> str:
    """Why ``name`` is not an identifier of the expression language; empty if it is one.

    The limit leaves room for suffixes such as ``_x`` and ``_dot``.
    """
    if not name:
        return "is empty"
    if len(name) > limit:
        return f"has {len(name)} characters, at most {limit} are allowed"
    if not _IDENTIFIER.fullmatch(name):
        rule = "use ASCII letters, digits and single underscores, starting with a letter"
        for position, letter in enumerate(name, start=1):
            if not (letter.isascii() and (letter.isalnum() or letter == "_")):
                return f"has {quote(letter)} at position {position}; {rule}"
        return f"starts with {quote(name[0])}; {rule}"
    if "__" in name:
        return "has a double underscore, which is not allowed"
    if keyword.iskeyword(name):
        return "is a keyword of Python"
    return ""


def quote(text: str) -> str:
    """Text for an error message: in quotes, shortened, with everything but printable ASCII escaped."""
    if len(text) > 60:
        text = text[:57] + "..."
    return '"' + ascii(text)[1:-1] + '"'


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most similar to a misspelt one; empty if none is close.

    Among very many names it compares only likely ones, to stay fast: those at edit distance one, then neighbours in
    the alphabet.

    Example:
        >>> nearest("uper", ["lower", "upper"])
        'upper'
    """
    name = str(name)[:MAX_NAME_LENGTH]
    unsorted = set(known)
    if len(unsorted) > _COMPARED:
        choices = sorted(unsorted & _one_mistake_away(name))
        if not choices:
            ordered = sorted(unsorted)
            at = bisect.bisect(ordered, name)
            choices = ordered[max(0, at - _COMPARED // 2) : at + _COMPARED // 2]
    else:
        choices = sorted(unsorted)
    close = difflib.get_close_matches(name, choices, n=1)
    return close[0] if close else ""


def suggestion(name: str, known: Iterable[str], listed: str | None = None, *, most: int | None = None) -> str:
    """Advice for an unknown name: the nearest known name, or ``listed`` (default: all names, or the first ``most``).

    Example:
        >>> suggestion("uper", ["lower", "upper"]), suggestion("x", ["lower", "upper"])
        ('did you mean "upper"?', 'available: lower, upper')
    """
    known = list(known)
    near = nearest(name, known)
    otherwise = available(known, most) if listed is None else listed
    return f"did you mean {quote(near)}?" if near else otherwise


def _one_mistake_away(name: str) -> set[str]:
    """Names at edit distance one: a letter too many, missing, wrong, or swapped with the next."""
    cuts = [(name[:k], name[k:]) for k in range(len(name) + 1)]
    found = {a + b[1:] for a, b in cuts}
    found |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return found | {a + letter + rest for a, b in cuts for letter in _LETTERS for rest in (b, b[1:])}


def _titled(what: str) -> str:
    return what if what.endswith("name") else f"{what} name"


def _name_fault(name: str, allow_dot: bool) -> str:
    is_speed = allow_dot and name.endswith("_dot")
    fault = identifier_fault(name, MAX_NAME_LENGTH + len("_dot") * is_speed)
    if fault:
        return fault
    if name.endswith("_"):
        return "ends in an underscore, which is not allowed"
    if name in _TAKEN:
        return _TAKEN[name]
    if name.endswith("_dot") and not allow_dot:
        return 'ends in "_dot", which is reserved for the speeds of coordinates'
    return ""


def _label_fault(label: str) -> str:
    if not label:
        return "is empty"
    if len(label) > MAX_NAME_LENGTH:
        return f"has {len(label)} characters, at most {MAX_NAME_LENGTH} are allowed"
    if _LABEL.fullmatch(label):
        return ""
    rule = "use ASCII letters, digits, spaces and - _ ."
    for position, letter in enumerate(label, start=1):
        if not (letter.isascii() and (letter.isalnum() or letter in " ._-")):
            return f"has {quote(letter)} at position {position}; {rule}"
    return "must start with a letter or digit and not end in a space"


def _plain_letters(text: str, keep: str) -> str:
    """ASCII transliteration: Greek letters spelled out, accents dropped, other characters as underscores."""
    letters = []
    for letter in text[: 2 * MAX_NAME_LENGTH]:
        title = unicodedata.name(letter, "").split()
        if letter.isascii():
            letters.append(letter if letter.isalnum() or letter in keep else "_")
        elif title[:1] == ["GREEK"] and "LETTER" in title[:-1]:
            spelled = title[title.index("LETTER") + 1]
            letters.append(spelled.capitalize() if "CAPITAL" in title else spelled.lower())
        else:
            base = unicodedata.normalize("NFKD", letter)[0]
            letters.append(base if base.isascii() and base.isalnum() else "_")
    return "".join(letters)


def cleaned_name(name: str, allow_dot: bool = False) -> str:
    """A valid name similar to an invalid one."""
    clean = re.sub(r"_+", "_", _plain_letters(name, "_")).strip("_")[: MAX_NAME_LENGTH - 6].rstrip("_")
    if clean.endswith("_dot") and not allow_dot:
        clean = clean.removesuffix("_dot") + "_rate"
    if clean[:1].isdigit():
        clean = "n" + clean
    for candidate in (clean, clean + "1"):
        if not _name_fault(candidate, allow_dot):
            return candidate
    return "name1"


def cleaned_label(label: str) -> str:
    """A valid label similar to an invalid one."""
    clean = re.sub(r"_+", "_", _plain_letters(label, " ._-"))[:MAX_NAME_LENGTH].lstrip(" ._-").rstrip(" _")
    return clean if clean and not _label_fault(clean) else "body 1"


def acceleration_name(speed: str) -> str:
    """Name of the derivative of a speed: ``theta_ddot`` for ``theta_dot``, ``j_wx_dot`` for ``j_wx``.

    Example:
        >>> acceleration_name("theta_dot"), acceleration_name("ball_wx")
        ('theta_ddot', 'ball_wx_dot')
    """
    return f"{speed.removesuffix('_dot')}_ddot" if speed.endswith("_dot") else f"{speed}_dot"
