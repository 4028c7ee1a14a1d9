"""Mutants of a source text: one expression or one statement of it is another, on the same lines.

Nothing is changed that only words reach: messages, docstrings, annotations, what raises, the functions that return a text,
and conditions that do nothing but raise, for rows that pass see no errors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from tests.crossings.planting.reach import Functions, bodies

SPEAKS = frozenset({
    "Finding", "Refusal", "warn", "log", "debug", "cast", "note", "describe", "sentence", "message", "raise_refusal",
    "print", "reported", "isinstance", "TypeVar", "getLogger",
    "errstate",
})  # fmt: skip
"""calls that concern words or types alone"""


@dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes:
        line: where the statement begins that contains it.
        operator: what kind of change it is.
        before: the text that is replaced.
        after: the text in its place.
        text: the file with the change.
    """

    line: int
    operator: str
    before: str
    after: str
    text: str


Change = tuple[str, ast.AST, ast.AST | None]
"""kind of change, the node that goes, and what comes; None: a statement is left out"""


def statements(tree: ast.Module, *, writes: bool = False) -> Iterator[ast.stmt]:
    """Statements inside functions in which mutants may be planted; where a file writes programs, texts count."""

    def visit(node: ast.AST, inside: bool) -> Iterator[ast.stmt]:
        if isinstance(node, Functions):
            inside = True
            if (_is_text(node.returns) and not writes) or (node.name.startswith("__") and node.name != "__call__"):
                return
        for body in bodies(node):
            for one in body:
                if inside and not _only_words(one):
                    yield one
                if not (isinstance(one, ast.If) and _raises(one.body)):
                    yield from visit(one, inside)
                elif one.orelse:
                    yield from visit(ast.Module(one.orelse, []), inside)

    return visit(tree, False)


def _is_text(node: ast.expr | None) -> bool:
    return (
        node is not None and {"str", "NoReturn"} >= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} != set()
    )


def _raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise)


def _only_words(node: ast.stmt) -> bool:
    if isinstance(
        node, Functions | ast.ClassDef | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert | ast.Try | ast.Pass
    ):
        return True
    if isinstance(node, ast.If) and _raises(node.body):
        return True
    if isinstance(value := getattr(node, "value", None), ast.JoinedStr | ast.Constant) and not isinstance(
        node, ast.Return
    ):
        return isinstance(value, ast.JoinedStr) or isinstance(value.value, str)
    return False


def expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Expressions of a statement itself, without those of the statements inside it, of annotations and of words."""
    fields = {"value", "test", "iter", "items", "targets", "target", "subject"}
    waiting: list[ast.AST] = [x for name, x in _parts(node) if name in fields]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.JoinedStr | ast.Lambda) or _speaks(one):
            if isinstance(one, ast.Lambda):
                waiting.append(one.body)
            continue
        if isinstance(one, ast.expr):
            yield one
        waiting += [part for _, part in _parts(one)]


def _parts(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield name, one


def _speaks(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return name in SPEAKS or name.endswith(("Error", "Warning", "NotSupported", "note", "notes"))


# -- the changes of one expression

_OTHER_SIGN = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip


def _with(node: Any, **fields: Any) -> Any:
    new = deepcopy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _binary(node: ast.BinOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Add | ast.Sub) and not any(isinstance(x, ast.Constant | ast.JoinedStr) and not isinstance(
        getattr(x, "value", 0), int | float) for x in (node.left, node.right)):  # fmt: skip
        yield "sign", node, _with(node, op=_OTHER_SIGN[type(node.op)]())
        yield "dropped term", node, node.left
        yield "dropped term", node, node.right
    if isinstance(node.op, ast.Mult | ast.Div):
        yield "dropped factor", node, node.left
    if isinstance(node.op, ast.Mult):
        yield "dropped factor", node, node.right


def _subscript(node: ast.Subscript) -> Iterator[Change]:
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place in places:
        if isinstance(place, ast.Slice):
            for name, by in (("lower", "+ 1"), ("upper", "- 1")):
                if (bound := getattr(place, name)) is not None:
                    yield "slice", bound, ast.parse(f"({ast.unparse(bound)}) {by}", mode="eval").body
        elif _is_number(place, int) or isinstance(place, ast.BinOp) or _is_counter(place):
            yield "index", place, ast.parse(f"({ast.unparse(place)}) + 1", mode="eval").body


def _is_counter(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and len(node.id) == 1


def _is_number(node: ast.AST, *kinds: type) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) in kinds


def _call(node: ast.Call) -> Iterator[Change]:
    name = getattr(node.func, "id", "")
    if name == "range" and node.args:
        last = node.args[min(1, len(node.args) - 1)]
        yield "range", last, ast.parse(f"({ast.unparse(last)}) - 1", mode="eval").body
    for k, keyword in enumerate(node.keywords):
        if keyword.arg:
            yield "forgotten keyword", node, _with(node, keywords=[*node.keywords[:k], *node.keywords[k + 1 :]])
    for k in range(len(node.args) - 1):
        if type(node.args[k]) is type(node.args[k + 1]) and not isinstance(node.args[k], ast.Starred | ast.Constant):
            swapped = [*node.args[:k], node.args[k + 1], node.args[k], *node.args[k + 2 :]]
            yield "swapped arguments", node, _with(node, args=swapped)


def _constant(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield "constant", node, ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield "constant", node, ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield "constant", node, ast.Constant(2 * node.value if node.value else 1.0)


def _compared(node: ast.Compare) -> Iterator[Change]:
    for new in _COMPARED[type(node.ops[0])]:
        yield "comparison", node, _with(node, ops=[new(), *node.ops[1:]])


def _boolean(node: ast.BoolOp) -> Iterator[Change]:
    yield "and/or", node, _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    yield "dropped condition", node, node.values[0]


def _unary(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.USub | ast.Not):
        yield "sign" if isinstance(node.op, ast.USub) else "negation", node, node.operand


def _attribute(node: ast.Attribute) -> Iterator[Change]:
    if node.attr == "T":
        yield "transpose", node, node.value


_CHANGES: dict[type[ast.AST], Callable[[Any], Iterator[Change]]] = {
    ast.BinOp: _binary, ast.Subscript: _subscript, ast.Call: _call, ast.Constant: _constant, ast.Compare: _compared,
    ast.BoolOp: _boolean, ast.UnaryOp: _unary, ast.Attribute: _attribute,
}  # fmt: skip


def changes(node: ast.stmt) -> Iterator[Change]:
    """All changes of a statement."""
    if isinstance(node, ast.AugAssign) and type(node.op) in _OTHER_SIGN:
        yield "sign", node, _with(node, op=_OTHER_SIGN[type(node.op)]())
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "statement left out", node, None
    if isinstance(node, ast.If | ast.While) or isinstance(getattr(node, "value", None), ast.IfExp):
        test = node.test if isinstance(node, ast.If | ast.While) else node.value.test  # type: ignore[attr-defined]
        yield "negation", test, ast.UnaryOp(ast.Not(), test)
    for one in expressions(node):
        if isinstance(getattr(one, "ctx", None), ast.Store | ast.Del) and not isinstance(one, ast.Subscript):
            continue
        yield from _CHANGES.get(type(one), lambda _: iter(()))(one)


# -- the text


def planted(text: str, node: ast.stmt, change: Change) -> Mutant | None:
    """The file with one change; None if it cannot be written."""
    operator, old, new = change
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    first, last = starts[old.lineno - 1] + old.col_offset, starts[old.end_lineno - 1] + old.end_col_offset  # type: ignore[attr-defined]
    raw = text.encode()
    before = raw[first:last].decode()
    after = "pass" if new is None else ast.unparse(ast.fix_missing_locations(new))
    if new is not None and not isinstance(new, ast.stmt):
        after = f"({after})"
    # lines stay where they are: what was on several is followed by empty ones
    gap = before.count("\n")
    kept = f"{after[:-1]}{chr(10) * gap})" if after.endswith(")") and gap else after
    if gap and not after.endswith(")"):
        return None
    found = (raw[:first] + kept.encode() + raw[last:]).decode()
    try:
        same = ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
        compile(found, "mutant", "exec")
    except SyntaxError:
        return None
    return None if same else Mutant(node.lineno, operator, before, after, found)
