"""Expressions of model files: ``"m*l**2/12"``, ``"90deg"``, ``"a*cos(w*t) if t < pi/w else -a"``.

A model file comes from somebody else, so its expressions are data and are never run as Python. A text is
first scanned character by character, then read with :mod:`ast` into a syntax tree, and that tree is turned,
node by node through a list of what is allowed, into the small node types of this module. What is not on the
list is refused with an :class:`ExpressionError` that says what was found, where, and what to write instead.

The language: numbers, names, ``+ - * / **``, parentheses, the functions in :data:`FUNCTIONS`, the constants
in :data:`CONSTANTS`, angles written ``90deg`` or ``1.5 rad``, and ``a if condition else b``, where the
condition is made of comparisons ``< <= > >=`` joined by ``and``, ``or``, ``not``. Precedence is that of
Python: ``-2**2`` is -4 and ``2**3**2`` is 2**9. An angle binds like one number: ``90deg**2`` is (90 degrees)
squared.

Numbers are evaluated in floating point only, and every size is bounded, so no text takes long to read.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, TypeVar

from pendula.model.names import ARITY, ExpressionError, check_label, check_name, identifier_fault, quote

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "MAX_DEPTH",
    "MAX_EXPONENT",
    "MAX_LENGTH",
    "MAX_NESTING",
    "MAX_NODES",
    "Add",
    "And",
    "Call",
    "Compare",
    "Condition",
    "Conditional",
    "Divide",
    "Expression",
    "ExpressionError",
    "Multiply",
    "Name",
    "Negate",
    "Node",
    "Not",
    "Number",
    "Or",
    "ParameterError",
    "Power",
    "Subtract",
    "Value",
    "check_label",
    "check_name",
    "evaluate_parameters",
    "parse",
]

MAX_LENGTH = 2000
"""Longest text of an expression, in characters."""
MAX_NESTING = 60
"""Deepest nesting of brackets, and longest row of signs."""
MAX_DEPTH = 200
"""Deepest tree; a plain sum of n terms has depth n."""
MAX_NODES = 5000
"""Most nodes in one expression."""
MAX_INTEGER = 10**300
"""Largest integer."""
MAX_EXPONENT = 1000.0
"""Largest constant exponent, in size."""
_MAX_EXACT_DIGITS = 10_000  # of a constant, were it multiplied out exactly by a symbolic engine

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "deg": math.pi / 180.0, "rad": 1.0})
"""Names with a fixed value. They stay :class:`Name` nodes, so that symbolic work can keep pi exact."""


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0))


FUNCTIONS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        **{name: getattr(math, name) for name in ARITY if hasattr(math, name)},
        **{"abs": abs, "min": min, "max": max, "sign": _sign},
    }
)
"""Functions with their numeric meaning; ``log`` is natural, ``sign(0)`` is 0. ``ARITY`` has their arities."""

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


# --- Nodes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; integers stay exact."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, coordinate, input, the time ``t``, or one of :data:`CONSTANTS`."""

    id: str


@dataclass(frozen=True, slots=True)
class Negate:
    """-x."""

    x: Value


@dataclass(frozen=True, slots=True)
class Add:
    """a + b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Subtract:
    """a - b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Multiply:
    """a*b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Divide:
    """a/b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Power:
    """a**b."""

    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A function of :data:`FUNCTIONS` applied to its arguments."""

    function: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """``then if condition else otherwise``; only the chosen branch needs to have a value."""

    condition: Condition
    then: Value
    otherwise: Value


@dataclass(frozen=True, slots=True)
class Compare:
    """a op b, with op one of ``< <= > >=``."""

    op: str
    a: Value
    b: Value


@dataclass(frozen=True, slots=True)
class And:
    """All conditions hold; tested from the left until one does not."""

    args: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one condition holds; tested from the left until one does."""

    args: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    x: Condition


Value: TypeAlias = Number | Name | Negate | Add | Subtract | Multiply | Divide | Power | Call | Conditional
Condition: TypeAlias = Compare | And | Or | Not
Node: TypeAlias = Value | Condition

_BINARY = (Add, Subtract, Multiply, Divide, Power)
_CONDITIONS = (Compare, And, Or, Not)

T = TypeVar("T")


def _children(node: Node) -> tuple[Node, ...]:
    """Parts of a node, in the order in which :meth:`Expression.fold` hands over their results."""
    if isinstance(node, Number | Name):
        return ()
    if isinstance(node, Negate | Not):
        return (node.x,)
    if isinstance(node, Call | And | Or):
        return tuple(node.args)
    if isinstance(node, Conditional):
        return (node.condition, node.then, node.otherwise)
    if isinstance(node, (*_BINARY, Compare)):
        return (node.a, node.b)
    raise ExpressionError(f"{type(node).__name__} is not a node of the expression language")


def _replaced(node: Node, parts: tuple[Any, ...]) -> Node:
    """The node with other parts, in the one form that reading its text would give."""
    if isinstance(node, Number | Name):
        return node
    if isinstance(node, Negate):
        return Number(-parts[0].value) if isinstance(parts[0], Number) else Negate(parts[0])
    if isinstance(node, Call):
        return Call(node.function, parts)
    if isinstance(node, Compare):
        return Compare(node.op, *parts)
    if isinstance(node, And | Or):
        # (a and b) and c is written a and b and c.
        flat: list[Condition] = []
        for part in parts:
            flat.extend(part.args if isinstance(part, type(node)) else (part,))
        return type(node)(tuple(flat))
    return type(node)(*parts)


def _post_order(root: Node) -> tuple[Node, ...]:
    """All nodes, each after its parts. Written with a list, not by recursion: depth does not matter."""
    order: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(_children(node))
        if len(order) + len(waiting) > MAX_NODES:
            raise ExpressionError(f"the expression has more than {MAX_NODES} parts; split it into parameters")
    order.reverse()
    return tuple(order)


def _fold(order: Sequence[Node], handler: Callable[[Node, tuple[T, ...]], T]) -> T:
    results: list[T] = []
    for node in order:
        first = len(results) - len(_children(node))
        parts = tuple(results[first:])
        del results[first:]
        results.append(handler(node, parts))
    return results[0]


# --- Expression -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A checked expression: the text it came from and the tree it means.

    Made by :func:`parse`, :meth:`from_node` or :meth:`substitute`. Whatever the way, the tree is checked: it
    is within the size limits, its names and functions are legal, its constant parts have finite values, and
    ``parse(expression.to_text())`` gives an equal expression. Two expressions are equal when their trees are.

    Attributes:
        text: the text as it was given.
        root: top node of the tree.
        names: free names: what must be given a value (constants such as pi are not among them).
    """

    text: str
    root: Value
    names: frozenset[str] = field(init=False)
    _order: tuple[Node, ...] = field(init=False)
    _canonical: str = field(init=False)

    def __post_init__(self) -> None:
        if type(self.text) is not str:
            raise ExpressionError(f"the text must be plain text, found {type(self.text).__name__}")
        raw = _post_order(self.root)
        _fold(raw, _check_node)
        root = _fold(raw, _replaced)
        if isinstance(root, _CONDITIONS):
            raise ExpressionError("a comparison is no number; write a if condition else b")
        order = _post_order(root)
        _fold(order, _measure)
        canonical = _write(order)
        if len(canonical) > MAX_LENGTH:
            canonical = _write(order, gap="")
        _scan(canonical)
        names = frozenset(node.id for node in order if isinstance(node, Name)) - CONSTANTS.keys()
        made = {"root": root, "names": names, "_order": order, "_canonical": canonical}
        for attribute, value in made.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_node(cls, root: Value) -> Expression:
        """The expression of a tree built in code; its text is the canonical one.

        Example:
            >>> Expression.from_node(Multiply(Number(2), Add(Name("a"), Name("b")))).text
            '2*(a + b)'
        """
        draft = cls("", root)
        return cls(draft.to_text(), draft.root)

    @property
    def is_number(self) -> bool:
        """Whether this is one plain number, such as 2.5 (but not 5/2)."""
        return isinstance(self.root, Number)

    @property
    def is_constant(self) -> bool:
        """Whether the value depends on no name: 5/2, 90deg, sqrt(pi)."""
        return not self.names

    def fold(self, handler: Callable[[Node, tuple[T, ...]], T]) -> T:
        """Combine the tree from its leaves up; the way to translate an expression into something else.

        ``handler(node, parts)`` is called once for every node, after its parts, with the results for the
        parts in the order of the node's fields (condition, then, otherwise for a :class:`Conditional`). There
        is no recursion, so depth is no concern.

        Example:
            >>> parse("a*b + c").fold(lambda node, parts: 1 + sum(parts))  # number of nodes
            5
        """
        return _fold(self._order, handler)

    def evaluate(self, values: Mapping[str, float] | None = None) -> float:
        """Value of the expression for given values of its names.

        Args:
            values: a finite number for each of :attr:`names`; others are ignored.

        Raises:
            ExpressionError: a name has no value, or the result is not a finite real number; names the part
                of the expression and the values that led there.

        Example:
            >>> parse("sqrt(l**2 - x**2)").evaluate({"l": 5, "x": 3})
            4.0
        """
        known = {name: _finite(name, values, self.text) for name in sorted(self.names)}
        result = self.fold(lambda node, parts: _value(node, parts, known))
        if isinstance(result, _Failure):
            part = _write(_post_order(result.node))
            inside = "" if part == _write(self._order) else f" (in {quote(self.text)})"
            used = sorted({n.id for n in _post_order(result.node) if isinstance(n, Name)} & known.keys())
            given = f" with {', '.join(f'{name} = {known[name]!r}' for name in used)}" if used else ""
            raise ExpressionError(f"{quote(part)}{inside} has no finite value{given}: {result.reason}")
        return float(result)

    def to_text(self) -> str:
        """Canonical text with no bracket more than needed; reading it gives an equal expression.

        Example:
            >>> parse("((a*b))+(-(c))").to_text()
            'a*b + -c'
        """
        return self._canonical

    def substitute(self, mapping: Mapping[str, Expression]) -> Expression:
        """The expression with names replaced, all at once, by other expressions.

        Example:
            >>> str(parse("a*b").substitute({"a": parse("b + 1"), "b": parse("a")}))
            '(b + 1)*a'
        """
        for name in mapping:
            if name in CONSTANTS:
                raise ExpressionError(f"{quote(name)} is a constant and cannot be replaced")

        def replace(node: Node, parts: tuple[Node, ...]) -> Node:
            if isinstance(node, Name) and node.id in mapping:
                return mapping[node.id].root
            return _replaced(node, parts)

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
        # Kinds and numbers of parts in post-order fix the tree; comparing them needs no recursion.
        return tuple(_label(node) for node in self._order)

    def __reduce__(self) -> tuple[Callable[[str, str], Expression], tuple[str, str]]:
        return _restore, (self.text, self._canonical)


def _restore(text: str, canonical: str) -> Expression:
    return Expression(text, parse(canonical).root)


def _label(node: Node) -> tuple[object, ...]:
    if isinstance(node, Number):
        return (Number, node.value)
    if isinstance(node, Name):
        return (Name, node.id)
    if isinstance(node, Call):
        return (Call, node.function, len(node.args))
    if isinstance(node, Compare):
        return (Compare, node.op)
    if isinstance(node, And | Or):
        return (type(node), len(node.args))
    return (type(node),)


# --- Checks on the tree -----------------------------------------------------------------------------------


def _check_node(node: Node, parts: tuple[bool, ...]) -> bool:
    """Refuse malformed nodes; gives whether the node is a condition, as the results of its parts do."""
    if isinstance(node, Number):
        _check_number(node.value)
    elif isinstance(node, Name):
        fault = "must be plain text" if type(node.id) is not str else identifier_fault(node.id)
        if fault or node.id in ARITY:
            raise ExpressionError(f"name {quote(str(node.id))} {fault or 'is a function'}")
    elif isinstance(node, Call):
        _check_call(node.function, len(node.args))
    elif isinstance(node, Compare) and node.op not in _COMPARISONS:
        raise ExpressionError(f"comparison {node.op!r} is not one of {' '.join(_COMPARISONS)}")
    elif isinstance(node, And | Or) and len(parts) < 2:
        raise ExpressionError(f"{type(node).__name__} needs at least two conditions")
    expected = (
        (True, False, False)
        if isinstance(node, Conditional)
        else (isinstance(node, And | Or | Not),) * len(parts)
    )
    if parts != expected:
        kind = type(node).__name__
        raise ExpressionError(f"{kind} has a comparison where a number belongs, or the other way round")
    return isinstance(node, _CONDITIONS)


def _check_number(value: int | float) -> None:
    if type(value) is int:
        if abs(value) > MAX_INTEGER:
            digits = int(value.bit_length() * math.log10(2.0)) + 1
            raise ExpressionError(f"an integer of about {digits} digits is too large; the limit is 1e300")
    elif type(value) is not float:
        raise ExpressionError(f"a number must be an int or a float, found {type(value).__name__}")
    elif not math.isfinite(value):
        raise ExpressionError(f"{value} is not a finite number")


def _check_call(function: str, count: int) -> None:
    if function not in ARITY:
        raise ExpressionError(_unknown_function(function))
    least, most = ARITY[function]
    if count < least or (most is not None and count > most):
        wanted = f"{least} or more arguments" if most is None else f"{least} argument{'s' * (least > 1)}"
        hint = "; log is natural, for base b write log(x)/log(b)" if function == "log" and count == 2 else ""
        raise ExpressionError(f"{function} takes {wanted}, found {count}{hint}")


_OTHER_NAMES = {
    "ln": "log(x)",
    "log10": "log(x)/log(10)",
    "log2": "log(x)/log(2)",
    "pow": "x**y",
    "arcsin": "asin(x)",
    "arccos": "acos(x)",
    "arctan": "atan(x)",
    "arctan2": "atan2(y, x)",
    "arcsinh": "asinh(x)",
    "arccosh": "acosh(x)",
    "arctanh": "atanh(x)",
    "fabs": "abs(x)",
    "sgn": "sign(x)",
    "cbrt": "x**(1/3)",
    "radians": "x*deg",
    "degrees": "x/deg",
}


def _unknown_function(name: str) -> str:
    near = difflib.get_close_matches(name, ARITY, n=1)
    if name in _OTHER_NAMES:
        hint = f", write {_OTHER_NAMES[name]}"
    else:
        hint = f", the nearest is {near[0]}" if near else ""
    return f"{quote(name)} is not a known function{hint}; known are {' '.join(ARITY)}"


@dataclass(frozen=True, slots=True)
class _Measure:
    depth: int
    value: float | bool | _Failure | None  # None where the part depends on a name
    digits: float  # of the exact value, were it multiplied out


def _measure(node: Node, parts: tuple[_Measure, ...]) -> _Measure:
    """Refuse trees that are too deep, and constants without a value or huge in exact arithmetic."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise ExpressionError(
            f"the expression is more than {MAX_DEPTH} levels deep; split it into parameters"
        )
    digits = max(1.0, math.fsum(part.digits for part in parts))
    if isinstance(node, Number):
        digits = float(len(str(abs(node.value)))) if type(node.value) is int else 1.0
    elif isinstance(node, Power) and parts[1].value is not None:
        exponent = parts[1].value
        if isinstance(exponent, float) and abs(exponent) > MAX_EXPONENT:
            raise ExpressionError(
                f"exponent {_quoted(node.b)} is {exponent:g}; the limit is {MAX_EXPONENT:g} in size"
            )
        digits = parts[0].digits * max(1.0, abs(exponent) if isinstance(exponent, float) else 1.0)
    constant = not any(part.value is None for part in parts)
    if not constant or (isinstance(node, Name) and node.id not in CONSTANTS):
        return _Measure(depth, None, 1.0)
    value = _value(node, tuple(part.value for part in parts), {})
    if isinstance(value, _Failure):
        raise ExpressionError(f"{_quoted(value.node)} has no finite value: {value.reason}")
    if digits > _MAX_EXACT_DIGITS:
        raise ExpressionError(f"the constant {_quoted(node)} is too large to be kept exact")
    return _Measure(depth, value, digits)


# --- Values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Failure:
    """Result of a part without a value. It only matters if the part is chosen: x/y if y > 0 else 0."""

    node: Node
    reason: str


def _finite(name: str, values: Mapping[str, float] | None, text: str) -> float:
    if values is None or name not in values:
        near = difflib.get_close_matches(name, [str(key) for key in values or ()], n=1)
        hint = f"; did you mean {quote(near[0])}?" if near else ""
        raise ExpressionError(f"{quote(text)} needs a value for {quote(name)}, which is missing{hint}")
    value: Any = values[name]
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ExpressionError(f"{quote(name)} must be a number, found {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExpressionError(f"{quote(name)} must be a finite number, found {number}")
    return number


def _value(node: Node, parts: tuple[Any, ...], names: Mapping[str, float]) -> float | bool | _Failure:
    """Value of one node from the values of its parts."""
    if isinstance(node, Conditional):
        chosen = parts[0]
        return chosen if isinstance(chosen, _Failure) else parts[1] if chosen else parts[2]
    if isinstance(node, And | Or):
        decisive = isinstance(node, Or)
        for part in parts:
            if isinstance(part, _Failure) or part is decisive:
                return part
        return not decisive
    for part in parts:
        if isinstance(part, _Failure):
            return part
    if isinstance(node, Compare):
        return _COMPARISONS[node.op](*parts)
    if isinstance(node, Not):
        return not parts[0]
    try:
        value = _arithmetic(node, parts, names)
    except ZeroDivisionError:
        return _Failure(node, "division by zero")
    except OverflowError:
        return _Failure(node, "the result is too large")
    except ValueError:
        return _Failure(node, _domain(node, parts))
    return value if math.isfinite(value) else _Failure(node, "the result is too large")


def _arithmetic(node: Node, parts: tuple[float, ...], names: Mapping[str, float]) -> float:
    if isinstance(node, Number):
        return float(node.value)
    if isinstance(node, Name):
        return CONSTANTS[node.id] if node.id in CONSTANTS else names[node.id]
    if isinstance(node, Negate):
        return -parts[0]
    if isinstance(node, Call):
        return float(FUNCTIONS[node.function](*parts))
    a, b = parts
    if isinstance(node, Add):
        return a + b
    if isinstance(node, Subtract):
        return a - b
    if isinstance(node, Multiply):
        return a * b
    if isinstance(node, Divide):
        return a / b
    return math.pow(a, b)  # never a complex number, and never exact integers that could fill the memory


def _domain(node: Node, parts: tuple[float, ...]) -> str:
    if isinstance(node, Power):
        return "zero to a negative power" if parts[0] == 0.0 else "a negative number to a fractional power"
    name = node.function if isinstance(node, Call) else type(node).__name__
    return f"{name} is not defined at {', '.join(repr(part) for part in parts)}"


# --- Text -------------------------------------------------------------------------------------------------

# How tightly a text binds, loosest first: if-else, or, and, not, comparison, sum, product, sign, power, atom.
_IF, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(10)
_OPERATORS: Mapping[type, tuple[str, int, int, int]] = MappingProxyType(
    {  # sign, own binding, least binding of the left and of the right operand
        Add: ("+", _SUM, _SUM, _PRODUCT),
        Subtract: ("-", _SUM, _SUM, _PRODUCT),
        Multiply: ("*", _PRODUCT, _PRODUCT, _SIGN),
        Divide: ("/", _PRODUCT, _PRODUCT, _SIGN),
        Power: ("**", _POWER, _ATOM, _SIGN),
    }
)


def _write(order: Sequence[Node], gap: str = " ") -> str:
    """Canonical text of a tree; ``gap`` goes around loose operators."""

    def write(node: Node, parts: tuple[tuple[str, int], ...]) -> tuple[str, int]:
        def part(index: int, least: int) -> str:
            text, binding = parts[index]
            return text if binding >= least else f"({text})"

        if isinstance(node, Number):
            text = repr(node.value)
            return text, _SIGN if text.startswith("-") else _ATOM
        if isinstance(node, Name):
            return node.id, _ATOM
        if isinstance(node, Negate):
            return "-" + part(0, _SIGN), _SIGN
        if isinstance(node, Call):
            return f"{node.function}({f',{gap}'.join(text for text, _ in parts)})", _ATOM
        if isinstance(node, Conditional):
            return f"{part(1, _OR)} if {part(0, _OR)} else {part(2, _IF)}", _IF
        if isinstance(node, Not):
            return "not " + part(0, _NOT), _NOT
        if isinstance(node, Compare):
            return f"{part(0, _SUM)}{gap}{node.op}{gap}{part(1, _SUM)}", _COMPARE
        if isinstance(node, And):
            return " and ".join(part(i, _NOT) for i in range(len(parts))), _AND
        if isinstance(node, Or):
            return " or ".join(part(i, _AND) for i in range(len(parts))), _OR
        if isinstance(node, Multiply) and _is_angle(node):
            return parts[0][0] + parts[1][0], _ATOM
        sign, own, left, right = _OPERATORS[type(node)]
        space = gap if own == _SUM else ""
        return f"{part(0, left)}{space}{sign}{space}{part(1, right)}", own

    return _fold(order, write)[0]


def _is_angle(node: Multiply) -> bool:
    positive = isinstance(node.a, Number) and math.copysign(1.0, node.a.value) > 0.0
    return positive and isinstance(node.b, Name) and node.b.id in ("deg", "rad")


def _quoted(node: Node) -> str:
    return quote(_write(_post_order(node)))


# --- Reading ----------------------------------------------------------------------------------------------

_ALLOWED = "allowed are numbers, names, + - * / **, parentheses, known functions and a if condition else b"
FILENAME = "<expression>"  # under which the text appears in audit events of the interpreter
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
    ("==", "compare with <, <=, >, >= (equality of measured numbers is a matter of chance)"),
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


def parse(value: int | float | str, *, where: str = "") -> Expression:
    """Read a number or a text of a model file.

    Args:
        value: a finite number (integers are kept exact) or a text in the expression language. True, False
            and subclasses of str are refused. An Expression is handed back as it is.
        where: what the expression belongs to, put in front of error messages: ``"joint elbow: stiffness"``.

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
        return _parse(value)
    except ExpressionError as error:
        if not where:
            raise
        raise ExpressionError(f"{where}: {error}", column=error.column) from None


def _parse(value: object) -> Expression:
    # The real type is asked, not isinstance: a class can lie about itself, or bring methods of its own.
    kind = type(value)
    if kind is Expression:
        return value  # type: ignore[return-value]
    if kind is str:
        text: str = value  # type: ignore[assignment]
        return _parse_short(text) if len(text) <= 100 else _parse_text(text)
    if kind is bool:
        raise ExpressionError(f"found {str(value).lower()}, where a number or an expression belongs")
    if issubclass(kind, int):
        number: int | float = int.__int__(value)  # type: ignore[arg-type]
    elif issubclass(kind, float):
        number = float.__float__(value)  # type: ignore[arg-type]
    else:
        raise ExpressionError(f"expected a number or an expression in plain text, found {kind.__name__}")
    _check_number(number)
    return Expression(repr(number), Number(number))


@lru_cache(maxsize=1024)
def _parse_short(text: str) -> Expression:
    # A model reads the same few short texts again and again.
    return _parse_text(text)


def _parse_text(text: str) -> Expression:
    source, angles = _scan(text)
    try:
        # In brackets, because leading blanks would count as indentation. The scan has made sure that no
        # bracket of the text closes them. Offsets from 0 in this text are columns from 1 in the original.
        tree = ast.parse(f"({source})", filename=FILENAME, mode="eval")
    except SyntaxError as error:
        _refuse(text, min(max((error.offset or 2) - 1, 1), len(text)), f"{error.msg}; {_ALLOWED}")
    except (MemoryError, RecursionError, ValueError):
        raise ExpressionError(f"{quote(text)} is nested too deeply; split it into parameters") from None
    root = _convert(tree.body, text, angles)
    try:
        return Expression(text, root)
    except ExpressionError as error:
        raise ExpressionError(f"{quote(text)}: {error}") from None


def _refuse(text: str, column: int, message: str) -> NoReturn:
    """Raise the error for a place in a text; of a long text only the surroundings are shown."""
    start = max(0, min(column - 30, len(text) - 57))
    shown = quote(("..." if start else "") + text[start:])
    raise ExpressionError(f"{shown}, column {column}: {message}", column=column) from None


def _scan(text: str) -> tuple[str, dict[int, str]]:
    """Check a text before any parser sees it.

    Returns:
        The text with the units of angles blanked out, in place so that columns stay true, and those units by
        the column of their number. Reading ``90deg`` as one number is what gives it its tight binding.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"{quote(text)} has {len(text)} characters; the limit is {MAX_LENGTH}")
    for offset, letter in enumerate(text):
        if not " " <= letter <= "~":
            _refuse(text, offset + 1, f"found {quote(letter)}; write in one line of plain ASCII characters")
    if not text.strip():
        raise ExpressionError(f"the expression is empty; {_ALLOWED}")
    if "__" in text:
        _refuse(text, text.index("__") + 1, 'found "__"; double underscores are not allowed')

    pieces: list[str] = []
    angles: dict[int, str] = {}
    opened: list[int] = []
    signs = 0  # length of the current row of signs
    before = ""  # previous token, to notice a missing operator
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
            _refuse(text, column, f"an operator such as * is missing before {quote(token.strip())}{hint}")
        signs = signs + 1 if token in ("+", "-", "not") else 0
        if token == "(":
            opened.append(column)
        elif token == ")":
            if not opened:
                _refuse(text, column, 'found ")" without "("')
            opened.pop()
        if len(opened) > MAX_NESTING or signs > MAX_NESTING:
            _refuse(text, column, f"nested more than {MAX_NESTING} levels deep; split it into parameters")
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


_BINARY_SIGNS: Mapping[type[ast.operator], type[Value]] = MappingProxyType(
    {ast.Add: Add, ast.Sub: Subtract, ast.Mult: Multiply, ast.Div: Divide, ast.Pow: Power}
)
_COMPARE_SIGNS: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
)
_Build: TypeAlias = Callable[..., Any]


def _convert(tree: ast.expr, text: str, angles: dict[int, str]) -> Value:
    """Turn a syntax tree into our nodes, through the list of what is allowed.

    Works with a list of things to do instead of recursion: entries are either (syntax node, whether a
    condition is wanted there) or (builder, number of results it takes).
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
        raise ExpressionError(f"{quote(text)} has a unit of angle in a place where it has no meaning")
    root: Value = results[0]
    return root


def _plan(
    node: ast.expr, as_condition: bool, text: str, angles: dict[int, str]
) -> tuple[list[tuple[ast.expr, bool]], _Build]:
    """Which parts of a syntax node to convert first, each with whether it is a condition; what to build."""
    column = node.col_offset

    # Conditions: comparisons joined by and, or, not.
    if isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        if not as_condition:
            _refuse(text, column, "a comparison is only allowed as condition in a if condition else b")
        if isinstance(node, ast.BoolOp):
            join = And if isinstance(node.op, ast.And) else Or
            return [(part, True) for part in node.values], lambda *parts: _replaced(join(parts), parts)
        if isinstance(node, ast.UnaryOp):
            return [(node.operand, True)], Not
        signs = [_COMPARE_SIGNS.get(type(op), "") for op in node.ops]
        if "" in signs:
            _refuse(text, column, f"only the comparisons {' '.join(_COMPARISONS)} are allowed")

        def chain(*parts: Value) -> Condition:
            links = tuple(Compare(sign, a, b) for sign, a, b in zip(signs, parts, parts[1:], strict=False))
            return links[0] if len(links) == 1 else And(links)

        return [(node.left, False), *((part, False) for part in node.comparators)], chain
    if as_condition:
        _refuse(text, column, "a condition must be a comparison, such as x > 0")

    # Values.
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number = Number(node.value)  # type: ignore[arg-type]
        unit = angles.pop(node.col_offset, "")
        return [], lambda: Multiply(number, Name(unit)) if unit else number
    if isinstance(node, ast.Name):
        name = node.id
        if name in ARITY:
            _refuse(text, column, f"{name} is a function; write {name}(...)")
        return [], lambda: Name(name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [(node.operand, False)], lambda x: _replaced(Negate(x), (x,))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return [(node.operand, False)], lambda x: x
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY_SIGNS:
        return [(node.left, False), (node.right, False)], _BINARY_SIGNS[type(node.op)]
    if isinstance(node, ast.IfExp):
        return [(node.test, True), (node.body, False), (node.orelse, False)], Conditional
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name):
            _refuse(text, column, "only a function name can stand before an opening bracket; is a * missing?")
        function = node.func.id
        if function in CONSTANTS:
            _refuse(text, column, f"{function} is a constant, not a function; is a * missing?")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            _refuse(text, column, f"arguments of {quote(function)} must be plain expressions")
        try:
            _check_call(function, len(node.args))
        except ExpressionError as error:
            _refuse(text, column, str(error))
        return [(argument, False) for argument in node.args], lambda *parts: Call(function, parts)
    if isinstance(node, ast.Tuple):
        if not node.elts:
            _refuse(text, column, "found empty brackets")
        comma = node.elts[0].end_col_offset or column
        _refuse(text, comma, "a comma is only allowed between the arguments of a function")
    _refuse(text, column, f"found {type(node).__name__}; {_ALLOWED}")


# --- Parameters -------------------------------------------------------------------------------------------


class ParameterError(ExpressionError):
    """Parameters that have no values.

    Attributes:
        problems: all that was found, as pairs (name of the parameter, message).
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"parameter {quote(name)}: {message}" for name, message in problems))
        self.problems = list(problems)

    def __reduce__(self) -> tuple[type[ParameterError], tuple[list[tuple[str, str]]]]:
        return ParameterError, (self.problems,)


def evaluate_parameters(definitions: Mapping[str, Expression]) -> dict[str, float]:
    """Values of parameters that may refer to each other, in any order.

    Args:
        definitions: an expression for each parameter.

    Returns:
        The values, in the order of the definitions.

    Raises:
        ParameterError: with all problems at once: bad names, unknown names, circles of parameters that refer
            to each other, and expressions without a finite value.

    Example:
        >>> evaluate_parameters({"I": parse("m*l**2/12"), "m": parse("5/32.2*32.2"), "l": parse(2)})["I"]
        1.6666666666666667
    """
    problems: list[tuple[str, str]] = []
    for name, expression in definitions.items():
        try:
            check_name(name, "parameter")
        except ExpressionError as error:
            problems.append((name, str(error)))
        for unknown in sorted(expression.names - definitions.keys()):
            near = difflib.get_close_matches(unknown, list(definitions), n=1)
            if unknown == "t":
                hint = "; a parameter is constant and cannot depend on the time"
            else:
                hint = f"; did you mean {quote(near[0])}?" if near else ""
            found = f"{quote(str(expression))} uses {quote(unknown)}, which is not a parameter"
            problems.append((name, found + hint))

    order, circles = _evaluation_order(definitions)
    for circle in circles:
        links = circle if len(circle) <= 12 else [*circle[:6], "...", *circle[-5:]]
        problems.append((circle[0], f"parameters refer to each other in a circle: {' -> '.join(links)}"))

    values: dict[str, float] = {}
    for name in order:
        expression = definitions[name]
        if expression.names <= values.keys():  # otherwise the cause is already reported
            try:
                values[name] = expression.evaluate(values)
            except ExpressionError as error:
                problems.append((name, str(error)))
    if problems:
        raise ParameterError(problems)
    return {name: values[name] for name in definitions}


def _evaluation_order(definitions: Mapping[str, Expression]) -> tuple[list[str], list[list[str]]]:
    """Parameters, each after those it needs; and the circles that stand in the way, as a, b, ..., a."""
    order: list[str] = []
    circles: list[list[str]] = []
    finished: dict[str, bool] = {}
    for start in definitions:
        if start in finished:
            continue
        finished[start] = False
        path = [start]
        needs = [iter(sorted(definitions[start].names & definitions.keys()))]
        while path:
            needed = next(needs[-1], None)
            if needed is None:
                finished[path[-1]] = True
                order.append(path.pop())
                needs.pop()
            elif needed not in finished:
                finished[needed] = False
                path.append(needed)
                needs.append(iter(sorted(definitions[needed].names & definitions.keys())))
            elif not finished[needed]:
                circles.append([*path[path.index(needed) :], needed])
    return order, circles
