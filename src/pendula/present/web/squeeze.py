"""JavaScript without comments, spaces and line ends that mean nothing; where a statement may end, its line end stays.

Strings, templates and regular expressions are kept as they are.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<space>\s+)
      | (?P<word>[\w$]+)
      | (?P<sign>\+\+|--|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
# A slash after one of these begins a regular expression; after others it divides.
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^") | {"return", "typeof", "case", "in", "of", ""}
_WORD = re.compile(r"[\w$]")
# No statement ends after these, or it has ended already; and a closing brace ends the statement before it.
_GOES_ON = frozenset(";{,([")


def squeeze(text: str) -> str:
    """A script in fewer characters that does the same.

    Example:
        >>> squeeze("const a = 1;  // one\\n  f( a + +b, 'x  y' );\\n")
        "const a=1;f(a+ +b,'x  y');\\n"
    """
    made: list[str] = []
    gap = ""  # what separates the next token from the last one: nothing, a space or a line end
    for kind, piece in _tokens(text):
        if kind in ("comment", "space"):
            gap = "\n" if "\n" in piece or gap == "\n" else " "
            continue
        last = made[-1][-1] if made else "\n"
        if gap == "\n" and made:
            if last not in _GOES_ON and piece != "}":
                made.append("\n")
        elif gap and _needs_space(last, piece[0]):
            made.append(" ")
        made.append(piece)
        gap = ""
    return "".join(made) + ("\n" if made else "")


def _needs_space(before: str, after: str) -> bool:
    words = bool(_WORD.match(before) and _WORD.match(after))
    return words or (before == after and before in "+-/") or (before.isdigit() and after == ".")


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at, last = 0, ""  # last: the last token that is neither space nor comment
    while at < len(text):
        if text[at] == "`":
            end = _template_end(text, at)
            kind, piece = "template", text[at:end]
        elif text[at] == "/" and last in _BEFORE_REGEX and text[at + 1 : at + 2] not in ("/", "*"):
            match = _REGEX.match(text, at)
            if match is None:
                raise ValueError(f"a regular expression without an end: {text[at : at + 40]!r}")
            kind, piece = "regex", match[0]
        else:
            token = _TOKEN.match(text, at)
            assert token is not None  # the last alternative matches any character
            kind, piece = str(token.lastgroup), token[0]
        found.append((kind, piece))
        at += len(piece)
        if kind not in ("comment", "space"):
            last = piece
    return found


def _template_end(text: str, at: int) -> int:
    """The index after a template that begins at ``at``, with templates nested in its expressions."""
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            return at + 1
        elif text.startswith("${", at):
            depth, at = 1, at + 2
            while depth:
                if text[at] == "`":
                    at = _template_end(text, at)
                    continue
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
        else:
            at += 1
    raise ValueError("a template without an end")
