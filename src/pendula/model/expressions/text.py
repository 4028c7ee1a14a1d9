"""Parser of expressions: from a text, through a scanner and :mod:`ast`, to the allowed nodes."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

from pendula.model.expressions import nodes as ex
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.values import MAX_INTEGER, check_call
from pendula.model.names import ExpressionError, identifier_fault, quote

_ALLOWED = "allowed are numbers, names, + - * / **, parentheses, known functions and a if condition else b"
FILENAME = "<expression>"  # file name of the text in audit events of the interpreter
_TOKEN = re.compile(
    r"""
    (?P<space>\ +)
  | (?P<number>(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?)
        (?P<suffix>\ *(?:deg|rad)(?![A-Za-z0-9_]))?
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<operator>\*\*|<=(?!=)|>=(?!=)|<(?![<=>])|>(?![>=])|/(?!/)|[-+*(),](?!=))
    """,
    re.VERBOSE | re.ASCII,
)
_WORDS = frozenset({"if", "else", "and", "or", "not"})
_REFUSED_SIGNS = (  # longest first
    ("->", "arrows have no meaning here"),
    (":=", "assignments have no meaning here"),
    ("==", "compare with <, <=, >, >= (floating-point numbers are rarely equal)"),
    ("!=", "compare with <, <=, >, >="),
    ("<>", "compare with <, <=, >, >="),
    ("//", "use floor(a/b)"),
    ("<<", _ALLOWED),
    (">>", _ALLOWED),
    ("^", "use ** for powers"),
    ("%", "use a - b*floor(a/b) for the remainder"),
    ("=", "an expression has no equals sign; compare with <, <=, >, >="),
    (".", "a dot is only allowed inside a number; names have no parts"),
    ("[", "use round brackets; there are no lists"),
    ("{", "use round brackets"),
    ("'", "text has no meaning here; write names without quotes"),
    ('"', "text has no meaning here; write names without quotes"),
    ("#", "comments belong in the model file, outside the expression"),
)


def read(text: str, limits: ex.Limits = ex.USUAL) -> ex.Value:
    """The syntax tree of a text."""
    if text.isidentifier() and text.isascii() and text not in FUNCTIONS and not identifier_fault(text):
        return ex.Name(text)  # by far the most frequent case
    source, angles = scan(text, limits)
    try:
        # In brackets, because leading blanks would count as indentation. The scan ensures that no bracket of the
        # text closes them. Offsets from 0 in this text are columns from 1 in the original.
        tree = ast.parse(f"({source})", filename=FILENAME, mode="eval")
    except SyntaxError as error:
        _refuse(text, min(max((error.offset or 2) - 1, 1), len(text)), f"{error.msg}; {_ALLOWED}")
    except (MemoryError, RecursionError, ValueError):
        raise ExpressionError(f"{quote(text)} is nested too deeply; split it into parameters") from None
    return _convert(tree.body, text, angles)


def _refuse(text: str, column: int, message: str) -> NoReturn:
    """Raises the error for a place in a text; for a long text it shows only the surroundings."""
    start = max(0, min(column - 30, len(text) - 57))
    shown = quote(("..." if start else "") + text[start:])
    raise ExpressionError(f"{shown}, column {column}: {message}", column=column) from None


def scan(text: str, limits: ex.Limits = ex.USUAL) -> tuple[str, dict[int, str]]:
    """Checks a text before parsing.

    Returns:
        The text with the units of angles replaced by blanks, so that columns stay valid, and those units by the column
        of their number. Reading ``90deg`` as one number gives it the highest precedence.
    """
    if len(text) > limits.length:
        raise ExpressionError(f"{quote(text)} has {len(text)} characters; the limit is {limits.length}")
    if not (text.isascii() and text.isprintable()):
        for offset, letter in enumerate(text):
            if " " <= letter <= "~":
                continue
            _refuse(text, offset + 1, f"found {quote(letter)}; write in one line of plain ASCII characters")
    if not text.strip():
        raise ExpressionError(f"the expression is empty; {_ALLOWED}")
    if "__" in text:
        _refuse(text, text.index("__") + 1, 'found "__"; double underscores are not allowed')

    pieces: list[str] = []
    angles: dict[int, str] = {}
    opened: list[int] = []
    signs = 0  # length of the current sequence of signs
    before = ""  # previous token, to detect a missing operator
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            _refuse_sign(text, offset)
        token, column = match.group(), offset + 1
        offset = match.end()
        if match["space"]:
            pieces.append(token)
            continue
        if match["number"]:
            _check_literal(text, column, match["number"])
            if match["suffix"]:
                angles[column] = match["suffix"].strip()
                token = match["number"].ljust(len(token))
        elif match["name"]:
            _check_word(text, column, token)
        pieces.append(token)

        if _ends_operand(before) and _starts_operand(token) and not (token == "(" and _is_name(before)):
            hint = "; write x*deg" if token in ("deg", "rad") else ""
            if not hint and _is_name(token) and not _is_name(before):
                hint = "; the only units allowed are deg and rad: numbers are in the units of the model"
            _refuse(text, column, f"an operator such as * is missing before {quote(token.strip())}{hint}")
        signs = signs + 1 if token in ("+", "-", "not") else 0
        if token == "(":
            opened.append(column)
        elif token == ")":
            if not opened:
                _refuse(text, column, 'found ")" without "("')
            opened.pop()
        if len(opened) > ex.MAX_NESTING or signs > ex.MAX_NESTING:
            _refuse(text, column, f"nested more than {ex.MAX_NESTING} levels deep; split it into parameters")
        before = token
    if opened:
        _refuse(text, opened[-1], 'found "(" without ")"')
    return "".join(pieces), angles


def _is_name(token: str) -> bool:
    return (token[:1].isalpha() or token[:1] == "_") and token not in _WORDS


def _ends_operand(token: str) -> bool:
    return token == ")" or token[:1].isdigit() or token[:1] == "." or _is_name(token)


def _starts_operand(token: str) -> bool:
    return token == "(" or token[:1].isdigit() or token[:1] == "." or _is_name(token)


def _refuse_sign(text: str, offset: int) -> NoReturn:
    for sign, hint in _REFUSED_SIGNS:
        if text.startswith(sign, offset):
            _refuse(text, offset + 1, f"found {quote(sign)}; {hint}")
    _refuse(text, offset + 1, f"found {quote(text[offset])}; {_ALLOWED}")


def _check_literal(text: str, column: int, literal: str) -> None:
    after = text[column - 1 + len(literal) :]
    if literal == "0" and after[:1] in ("x", "X", "o", "O", "b", "B"):
        _refuse(text, column, f"found {quote('0' + after[:1])}; numbers are written in decimal")
    if after[:1] in ("j", "J") and not after[1:2].isalnum():
        _refuse(text, column, f"found {quote(literal + after[:1])}; complex numbers are not allowed")
    word = re.match("[a-z]+", after)
    if word and word.group() in _WORDS:
        _refuse(text, column, f"found {quote(literal + word.group())}; put a blank between them")
    digits = literal.replace("_", "")
    if digits.isdigit():
        if len(digits) > 1 and digits[0] == "0" and digits.strip("0"):
            _refuse(text, column, f"found {quote(literal)}; write {digits.lstrip('0')}, no leading zeros")
        if len(digits) > 300 and int(digits) > MAX_INTEGER:
            _refuse(text, column, f"an integer of {len(digits)} digits is too large; the limit is 1e300")
        return
    number = float(digits)
    if math.isinf(number):
        _refuse(text, column, f"{quote(literal)} is too large for a floating-point number")
    if number == 0.0 and re.search("[1-9]", re.split("[eE]", digits)[0]):
        _refuse(text, column, f"{quote(literal)} is too small for a floating-point number; it would become 0")


def _check_word(text: str, column: int, word: str) -> None:
    if word in _WORDS:
        return
    if keyword.iskeyword(word):
        _refuse(text, column, f"found {quote(word)}; {_ALLOWED}")
    fault = identifier_fault(word)
    if fault:
        _refuse(text, column, f"name {quote(word)} {fault}")


_BINARY_SIGNS: Mapping[type[ast.operator], type[ex.Value]] = MappingProxyType(
    {ast.Add: ex.Add, ast.Sub: ex.Subtract, ast.Mult: ex.Multiply, ast.Div: ex.Divide, ast.Pow: ex.Power}
)
_COMPARE_SIGNS: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
)
_Build: TypeAlias = Callable[..., Any]


def _convert(tree: ast.expr, text: str, angles: dict[int, str]) -> ex.Value:
    """Converts a syntax tree to our nodes, through the list of allowed constructs.

    Uses a work list instead of recursion: entries are either (syntax node, whether a condition is expected there) or
    (builder, number of results it takes).
    """
    results: list[Any] = []
    todo: list[tuple[ast.expr, bool] | tuple[_Build, int]] = [(tree, False)]
    while todo:
        item, detail = todo.pop()
        if not isinstance(item, ast.expr):
            first = len(results) - detail
            parts = results[first:]
            del results[first:]
            results.append(item(*parts))
            continue
        children, build = _plan(item, bool(detail), text, angles)
        todo.append((build, len(children)))
        todo.extend(reversed(children))
    if angles:
        raise ExpressionError(f"{quote(text)} has a unit of angle where none is allowed")
    root: ex.Value = results[0]
    return root


def _plan(
    node: ast.expr, as_condition: bool, text: str, angles: dict[int, str]
) -> tuple[list[tuple[ast.expr, bool]], _Build]:
    """The parts of a syntax node to convert first, each with whether it is a condition; and the builder."""
    column = node.col_offset

    # Conditions: comparisons joined by and, or, not.
    if isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        if not as_condition:
            _refuse(text, column, "a comparison is only allowed as condition in a if condition else b")
        if isinstance(node, ast.BoolOp):
            join = ex.And if isinstance(node.op, ast.And) else ex.Or
            return [(part, True) for part in node.values], lambda *parts: ex.replaced(join(parts), parts)
        if isinstance(node, ast.UnaryOp):
            return [(node.operand, True)], ex.Not
        signs = [_COMPARE_SIGNS.get(type(op), "") for op in node.ops]
        if "" in signs:
            _refuse(text, column, f"only the comparisons {' '.join(ex.COMPARISONS)} are allowed")

        def chain(*parts: ex.Value) -> ex.Condition:
            links = tuple(ex.Compare(sign, a, b) for sign, a, b in zip(signs, parts, parts[1:], strict=False))
            return links[0] if len(links) == 1 else ex.And(links)

        return [(node.left, False), *((part, False) for part in node.comparators)], chain
    if as_condition:
        _refuse(text, column, "a condition must be a comparison, such as x > 0")

    # Values.
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number = ex.Number(node.value)  # type: ignore[arg-type]
        unit = angles.pop(node.col_offset, "")
        return [], lambda: ex.Multiply(number, ex.Name(unit)) if unit else number
    if isinstance(node, ast.Name):
        name = node.id
        if name in FUNCTIONS:
            _refuse(text, column, f"{name} is a function; write {name}(...)")
        return [], lambda: ex.Name(name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [(node.operand, False)], lambda x: ex.replaced(ex.Negate(x), (x,))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return [(node.operand, False)], lambda x: x
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY_SIGNS:
        return [(node.left, False), (node.right, False)], _BINARY_SIGNS[type(node.op)]
    if isinstance(node, ast.IfExp):
        return [(node.test, True), (node.body, False), (node.orelse, False)], ex.Conditional
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name):
            _refuse(text, column, "only a function name may precede an opening bracket; is a * missing?")
        function = node.func.id
        if function in ex.CONSTANTS:
            _refuse(text, column, f"{function} is a constant, not a function; is a * missing?")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            _refuse(text, column, f"arguments of {quote(function)} must be plain expressions")
        try:
            check_call(function, len(node.args))
        except ExpressionError as error:
            _refuse(text, column, str(error))
        return [(argument, False) for argument in node.args], lambda *parts: ex.Call(function, parts)
    if isinstance(node, ast.Tuple):
        if not node.elts:
            _refuse(text, column, "found empty brackets")
        comma = node.elts[0].end_col_offset or column
        _refuse(text, comma, "a comma is only allowed between the arguments of a function")
    _refuse(text, column, f"found {type(node).__name__}; {_ALLOWED}")
