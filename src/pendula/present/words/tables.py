"""Plain text for terminals: numbers, headings, and tables within the page width.

Numbers are never cut. If the columns of a table do not fit side by side, text is wrapped first, and then the table
continues below with its first column repeated.
"""

from __future__ import annotations

import numbers
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pendula.words import WIDTH

MIN_WIDTH = 40  # the longest number in full digits fits
GAP = "  "
ELLIPSIS = "…"
MAX_LINES = 6  # largest number of lines of a wrapped cell
NARROW = 12  # smallest width of a wrapped text column
LONG_INTEGER = 15  # largest number of digits of integers that are written in full


def number(x: Any, digits: int = 6) -> str:
    """A number in at most ``digits`` significant digits, always in the same style.

    Integers are written in full, exact zeros are ``0``, and not-a-number is ``nan``.

    Example:
        >>> [number(x) for x in (1.2340e-9, 0.0, 42, 1 / 3, 2.5e7, float("nan"), 1 - 2j)]
        ['1.234e-09', '0', '42', '0.333333', '2.5e+07', 'nan', '1 - 2i']
    """
    if digits < 1:
        raise ValueError(f"digits must be at least 1, got {digits}")
    if isinstance(x, numbers.Integral):
        whole = int(x)
        if abs(whole) < 10**LONG_INTEGER:
            return str(whole)
        mantissa, exponent = f"{Decimal(whole):.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent):+03d}"
    if isinstance(x, numbers.Real):
        value = float(x)
        return "0" if value == 0 else f"{value:.{digits}g}"
    if isinstance(x, numbers.Complex):
        z = complex(x)
        sign = "-" if z.imag < 0 else "+"
        return f"{number(z.real, digits)} {sign} {number(abs(z.imag), digits)}i"
    raise TypeError(f"{x!r} is not a number")


def number_pair(value: complex, digits: int = 6) -> str:
    """A root together with its complex conjugate as text; parts that are zero are left out.

    Example:
        >>> number_pair(-0.125 + 3j), number_pair(3j), number_pair(-2 + 0j)
        ('-0.125 +- 3i', '+-3i', '-2')
    """
    if value.imag == 0:
        return number(value.real, digits)
    imaginary = f"{number(abs(value.imag), digits)}i"
    return f"+-{imaginary}" if value.real == 0 else f"{number(value.real, digits)} +- {imaginary}"


_NBSP = "\N{NO-BREAK SPACE}"
_VALUE = re.compile(r"\w+ = [^\s,;]{1,24}( [^\s,;]{1,12})?(?=[,;]|$)")


def unbroken(text: str) -> str:
    """Text whose lines break neither inside ``theta1 = 90 deg`` nor inside another value of a list."""
    return _VALUE.sub(lambda found: found[0].replace(" ", _NBSP), text)


def wrapped(text: str, indent: str = "", *, first: str = "") -> str:
    """A paragraph in lines of the page width, the later ones indented, the first one by ``first``.

    Example:
        >>> print(wrapped("note: " + 12 * "a swing " + "at theta1 = 90 deg, theta2 = 0 deg", "  "))
        note: a swing a swing a swing a swing a swing a swing a swing a swing a swing a
          swing a swing a swing at theta1 = 90 deg, theta2 = 0 deg
    """
    lines = textwrap.fill(
        unbroken(text), WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return lines.replace(_NBSP, " ")


def facts_lines(facts: Sequence[tuple[str, str]], width: int = 14) -> list[str]:
    """Names and texts in two columns, wrapped to the page width; names that are longer than the column move the texts.

    Example:
        >>> print("\\n".join(facts_lines([("steps", "120"), ("outcome", "finished")])))
        steps         120
        outcome       finished
    """
    wide = max([width, *(len(name) + 2 for name, _ in facts)])
    return [wrapped(f"{name:<{wide}}{text}", " " * wide) for name, text in facts]


def heading(text: str, *, level: int = 1, width: int = WIDTH) -> str:
    """A title with a line under it: ``=`` for level 1, ``-`` below."""
    title = _elide(_clean(text), width)
    return f"{title}\n{('=' if level == 1 else '-') * display_width(title)}"


def table(
    rows: Sequence[Sequence[Any]],
    headers: Sequence[str],
    *,
    width: int = WIDTH,
    align: str | None = None,
    digits: int = 6,
) -> str:
    """Rows and headers as text whose lines are at most ``width`` columns wide.

    Args:
        rows: cells are numbers, text, booleans (yes, no) or None (-).
        headers: one for each column.
        width: columns of the page, at least 40.
        align: one letter for each column, ``l`` ``r`` or ``c``; by default numbers right, text left.
        digits: significant digits of numbers.

    Raises:
        ValueError: a row has another length than the headers, or ``align`` or ``width`` is wrong.

    Example:
        >>> print(table([["swing", 3.1321], ["twist", 1e-9]], ["mode", "rad/s"]))
        mode    rad/s
        -----  ------
        swing  3.1321
        twist   1e-09
    """
    if width < MIN_WIDTH:
        raise ValueError(f"width must be at least {MIN_WIDTH}, got {width}")
    for i, row in enumerate(rows):
        if len(row) != len(headers):
            raise ValueError(f"row {i} has {len(row)} cells, but there are {len(headers)} headers")
    if not headers:
        return ""
    columns = range(len(headers))
    sides = align or "".join("r" if is_numeric([row[c] for row in rows]) else "l" for c in columns)
    if len(sides) != len(headers) or set(sides) - set("lrc"):
        raise ValueError(f"align must hold one of l, r, c for each of {len(headers)} columns, got {align!r}")
    head = [_clean(text) for text in headers]
    body = [[_cell(cell, digits) for cell in row] for row in rows]

    natural = [max(1, *(display_width(line[c]) for line in [head, *body])) for c in columns]
    least = []
    for c in columns:
        fixed = [display_width(body[r][c]) for r in range(len(rows)) if is_number(rows[r][c])]
        least.append(min(width, max(min(natural[c], NARROW), *fixed, 1)))
    blocks = []
    for block in _blocks(least, width):
        widths = _shares([natural[c] for c in block], [least[c] for c in block], width)
        lines = _lines([head[c] for c in block], widths, "".join(sides[c] for c in block))
        lines.append(GAP.join("-" * w for w in widths))
        for row in body:
            lines += _lines([row[c] for c in block], widths, "".join(sides[c] for c in block))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def display_width(text: str) -> int:
    """Terminal columns that a text takes: wide characters two, combining marks none."""
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def is_number(cell: Any) -> bool:
    """Whether a cell holds a number."""
    return isinstance(cell, numbers.Number) and not isinstance(cell, (bool, Decimal))


def is_numeric(column: Sequence[Any]) -> bool:
    """Whether a column holds numbers, apart from gaps."""
    given = [cell for cell in column if cell is not None]
    return bool(given) and all(is_number(cell) for cell in given)


def _cell(cell: Any, digits: int) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return number(cell, digits) if is_number(cell) else _clean(str(cell))


def _clean(text: str) -> str:
    """One line without control characters, so that a name can neither break a row nor control the terminal."""
    kept = "".join(" " if char.isspace() else char for char in text)
    return " ".join("".join("\ufffd" if unicodedata.category(c)[0] == "C" else c for c in kept).split())


def _blocks(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns side by side, in several blocks if needed; each block starts with the first column if it fits."""
    blocks: list[list[int]] = []
    current: list[int] = []
    for c, w in enumerate(least):
        used = sum(least[k] + len(GAP) for k in current)
        if current and used + w > width:
            blocks.append(current)
            current = [0] if least[0] + len(GAP) + w <= width else []
        current.append(c)
    return [*blocks, current]


def _shares(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths that fit: columns start at their natural width, and the widest shrink first."""
    widths = list(natural)
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room:
        widest = max((c for c in range(len(widths)) if widths[c] > least[c]), key=lambda c: widths[c])
        widths[widest] -= 1
    return widths


def _lines(cells: Sequence[str], widths: Sequence[int], sides: str) -> list[str]:
    wrapped = [_wrap(cell, w) for cell, w in zip(cells, widths, strict=True)]
    lines = []
    for k in range(max(len(parts) for parts in wrapped)):
        texts = [parts[k] if k < len(parts) else "" for parts in wrapped]
        padded = (_pad(text, w, side) for text, w, side in zip(texts, widths, sides, strict=True))
        lines.append(GAP.join(padded).rstrip())
    return lines


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in _words(text, width):
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(_elide(word, width))
    if len(lines) > MAX_LINES:
        last = lines[MAX_LINES - 1]
        cut = last + " " + ELLIPSIS
        lines = [*lines[: MAX_LINES - 1], cut if display_width(cut) <= width else _elide(last + "  ", width)]
    return lines


def _words(text: str, width: int) -> list[str]:
    """Words of a cell; a value of a list is one word if it fits the column."""
    glued = [word.replace(_NBSP, " ") for word in unbroken(text).split(" ")]
    return [part for word in glued for part in ([word] if display_width(word) <= width else word.split(" "))]


def _elide(text: str, width: int) -> str:
    if display_width(text) <= width:
        return text
    kept = ""
    for char in text:
        if display_width(kept) + _char_width(char) > width - 1:
            break
        kept += char
    return kept.rstrip() + ELLIPSIS


def _pad(text: str, width: int, side: str) -> str:
    free = max(0, width - display_width(text))
    left = free if side == "r" else free // 2 if side == "c" else 0
    return " " * left + text + " " * (free - left)
