"""Expressions of model files: ``"m*l**2/12"``, ``"90deg"``, ``"a*cos(w*t) if t < pi/w else -a"``.

A model file may be untrusted, so its expressions are data and are never executed as Python. A text is scanned
character by character, parsed with :mod:`ast`, and the syntax tree is converted node by node, through a list of
allowed constructs, to the node types of :mod:`.nodes`. Anything else raises an :class:`ExpressionError` that says
what was found, where, and what to write instead.

The language: numbers, names, ``+ - * / **``, parentheses, the functions in :data:`FUNCTIONS`, the constants
in :data:`CONSTANTS`, angles written ``90deg`` or ``1.5 rad``, and ``a if condition else b``, where the
condition is made of comparisons ``< <= > >=`` joined by ``and``, ``or``, ``not``. Precedence is that of
Python: ``-2**2`` is -4 and ``2**3**2`` is 2**9. An angle binds like one number: ``90deg**2`` is (90 degrees)
squared.

Numbers are evaluated in floating point only, and all sizes are bounded, so reading is always fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

from pendula.model.expressions import nodes as ex
from pendula.model.expressions.algebra import Algebra, interpret
from pendula.model.expressions.text import read, scan
from pendula.model.expressions.values import Failure, Floats, check_node, check_number, finite, measure, value_of
from pendula.model.names import ExpressionError, quote

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A validated expression: its text and its syntax tree.

    Created by :func:`parse`, :meth:`from_node` or :meth:`substitute`. The tree is within the size limits, its names and
    functions are valid, its constant parts have finite values, and ``parse(expression.to_text())`` gives an equal
    expression. Two expressions are equal if their trees are.

    Attributes:
        text: the text as it was given.
        root: root node of the tree.
        names: free names, which need a value (not constants such as pi).
    """

    text: str
    root: ex.Value
    as_read: InitVar[bool] = False
    limits: InitVar[ex.Limits] = ex.USUAL
    names: frozenset[str] = field(init=False)
    _order: tuple[ex.Node, ...] = field(init=False)
    _canonical: str = field(init=False)

    def __post_init__(self, as_read: bool, limits: ex.Limits) -> None:
        if type(self.text) is not str:
            raise ExpressionError(f"the text must be plain text, found {type(self.text).__name__}")
        root: Any = self.root
        if not as_read:  # reading has already made these checks
            raw = ex.post_order(root, limits.nodes)
            ex.fold(raw, check_node)
            root = ex.fold(raw, ex.replaced)
        if isinstance(root, ex.CONDITIONS):
            raise ExpressionError("a comparison is not a number; write a if condition else b")
        order = ex.post_order(root, limits.nodes)
        canonical = ex.write(order)
        if len(order) > 1:
            ex.fold(order, partial(measure, most=limits.depth))
            if len(canonical) > limits.length:
                canonical = ex.write(order, gap="")
            scan(canonical, limits)
        names = frozenset(node.id for node in order if isinstance(node, ex.Name)) - ex.CONSTANTS.keys()
        made = {"root": root, "names": names, "_order": order, "_canonical": canonical}
        for attribute, value in made.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_node(cls, root: ex.Value, limits: ex.Limits = ex.USUAL) -> Expression:
        """The expression of a tree built in code, with its canonical text.

        Example:
            >>> Expression.from_node(ex.Multiply(ex.Number(2), ex.Add(ex.Name("a"), ex.Name("b")))).text
            '2*(a + b)'
        """
        draft = cls("", root, limits=limits)
        return cls(draft.to_text(), draft.root, limits=limits)

    @property
    def is_number(self) -> bool:
        """Whether this is one plain number, such as 2.5 (but not 5/2)."""
        return isinstance(self.root, ex.Number)

    @property
    def is_constant(self) -> bool:
        """Whether the value depends on no name: 5/2, 90deg, sqrt(pi)."""
        return not self.names

    def fold(self, handler: Callable[[ex.Node, tuple[T, ...]], T]) -> T:
        """Folds the tree from its leaves to its root, to translate an expression into another form.

        ``handler(node, parts)`` is called once for every node, after its operands, with their results in the order of
        the node's fields (condition, then, otherwise for a :class:`Conditional`). It does not recurse.

        Example:
            >>> parse("a*b + c").fold(lambda node, parts: 1 + sum(parts))  # number of nodes
            5
        """
        return ex.fold(self._order, handler)

    def interpret(self, algebra: Algebra[T]) -> T:
        """The value of the expression in an algebra: arrays, symbols, or any type with its methods."""
        return interpret(self._order, algebra)

    def evaluate(self, values: Mapping[str, float] | None = None) -> float:
        """Value of the expression for given values of its names.

        Args:
            values: a finite number for each of :attr:`names`; others are ignored.

        Raises:
            ExpressionError: a name has no value, or the result is not a finite real number; the message gives the
                part of the expression and its values.

        Example:
            >>> parse("sqrt(l**2 - x**2)").evaluate({"l": 5, "x": 3})
            4.0
        """
        known = {name: finite(name, values, self.text) for name in sorted(self.names)}
        floats = Floats(known)
        result = self.fold(lambda node, parts: value_of(node, parts, floats))
        if isinstance(result, Failure):
            part = ex.write(ex.post_order(result.node))
            inside = "" if part == ex.write(self._order) else f" (in {quote(self.text)})"
            used = sorted({n.id for n in ex.post_order(result.node) if isinstance(n, ex.Name)} & known.keys())
            given = f" with {', '.join(f'{name} = {known[name]!r}' for name in used)}" if used else ""
            raise ExpressionError(f"{quote(part)}{inside} has no finite value{given}: {result.reason}")
        return float(result)

    def to_text(self) -> str:
        """Canonical text without redundant brackets; parsing it gives an equal expression.

        Example:
            >>> parse("((a*b))+(-(c))").to_text()
            'a*b + -c'
        """
        return self._canonical

    def substitute(self, mapping: Mapping[str, Expression]) -> Expression:
        """The expression with names replaced simultaneously by other expressions.

        Example:
            >>> str(parse("a*b").substitute({"a": parse("b + 1"), "b": parse("a")}))
            '(b + 1)*a'
        """
        for name in mapping:
            if name in ex.CONSTANTS:
                raise ExpressionError(f"{quote(name)} is a constant and cannot be replaced")

        def replace(node: ex.Node, parts: tuple[ex.Node, ...]) -> ex.Node:
            if isinstance(node, ex.Name) and node.id in mapping:
                return mapping[node.id].root
            return ex.replaced(node, parts)

        root: Any = self.fold(replace)
        return Expression.from_node(root)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._labels() == other._labels()

    def __hash__(self) -> int:
        return hash(self._labels())

    def _labels(self) -> tuple[tuple[object, ...], ...]:
        # Labels in post-order determine the tree; comparing them needs no recursion.
        return tuple(_label(node) for node in self._order)

    def __reduce__(self) -> tuple[Callable[[str, str], Expression], tuple[str, str]]:
        return _restore, (self.text, self._canonical)


def _restore(text: str, canonical: str) -> Expression:
    return Expression(text, parse(canonical, limits=ex.LONG).root, limits=ex.LONG)


def _label(node: ex.Node) -> tuple[object, ...]:
    if isinstance(node, ex.Number):
        return (ex.Number, node.value)
    if isinstance(node, ex.Name):
        return (ex.Name, node.id)
    if isinstance(node, ex.Call):
        return (ex.Call, node.function, len(node.args))
    if isinstance(node, ex.Compare):
        return (ex.Compare, node.op)
    if isinstance(node, ex.And | ex.Or):
        return (type(node), len(node.args))
    return (type(node),)


def parse(value: int | float | str, *, where: str = "", limits: ex.Limits = ex.USUAL) -> Expression:
    """Parses a number or a text of a model file.

    Args:
        value: a finite number (integers stay exact) or a text in the expression language. Booleans and subclasses of
            str are rejected. An Expression is returned unchanged.
        where: prefix of error messages, such as ``"joint elbow: stiffness"``.
        limits: largest length, number of nodes and depth.

    Raises:
        ExpressionError: says what was found, in which column, and what is allowed.

    Example:
        >>> parse("m*l**2/12").evaluate({"m": 6, "l": 2})
        2.0
        >>> parse("m*l^2")  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ...
        ExpressionError: "m*l^2", column 4: found "^"; use ** for powers
    """
    try:
        return _parse(value, limits)
    except ExpressionError as error:
        if not where:
            raise
        raise ExpressionError(f"{where}: {error}", column=error.column) from None


def _parse(value: object, limits: ex.Limits) -> Expression:
    # Uses type(), not isinstance: a class can claim another type, or override methods.
    kind = type(value)
    if kind is Expression:
        return value  # type: ignore[return-value]
    if kind is str:
        text: str = value  # type: ignore[assignment]
        return _parse_short(text) if len(text) <= 100 else _parse_text(text, limits)
    if kind is bool:
        raise ExpressionError(f"found {str(value).lower()} where a number or an expression is expected")
    if issubclass(kind, int):
        number: int | float = int.__int__(value)  # type: ignore[arg-type]
    elif issubclass(kind, float):
        number = float.__float__(value)  # type: ignore[arg-type]
    else:
        raise ExpressionError(f"expected a number or an expression in plain text, found {kind.__name__}")
    check_number(number)
    return _parse_number(repr(number))


# A model contains the same short texts and numbers many times.
_CACHED = 20_000


@lru_cache(maxsize=_CACHED)
def _parse_number(text: str) -> Expression:
    # Cached by text, because 0.0 and -0.0 are equal.
    number = float(text) if set(text) & set(".en") else int(text)
    return Expression(text, ex.Number(number), as_read=True)


@lru_cache(maxsize=_CACHED)
def _parse_short(text: str) -> Expression:
    return _parse_text(text)


def _parse_text(text: str, limits: ex.Limits = ex.USUAL) -> Expression:
    root = read(text, limits)
    try:
        return Expression(text, root, as_read=True, limits=limits)
    except ExpressionError as error:
        twice = str(error).startswith(quote(text))
        raise ExpressionError(str(error) if twice else f"{quote(text)}: {error}") from None
