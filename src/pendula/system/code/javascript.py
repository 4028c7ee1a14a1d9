"""Writes straight-line programs as JavaScript functions on arrays of numbers, or as functions of a similar language.

These are the programs that :mod:`pendula.system.code.llvm` compiles, operation by operation, so a browser computes what
the machine code computes, up to the last digits of functions such as the sine. Every function has the form
``name(x, p, out)``: inputs, parameters followed by prepared values, outputs. ``prepare(p)`` computes everything that
depends on parameters alone.

JavaScript engines do not optimize very large functions. A program with many operations becomes several functions;
values that cross their borders pass through one array.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pendula.errors import NotSupported
from pendula.model.expressions.functions import PRIMITIVES, Column
from pendula.system import refusals
from pendula.system.code.program import PARAMETER, STATE, Op, Program

MOST_OPERATIONS = 1_200
"""Operations of one JavaScript function; V8 leaves functions unoptimized from about 60 kB of bytecode on."""

DEEPEST = 8  # nested operations in one statement
_WIDEST = 100  # characters of an operand that is written in place

CALLS = Column(
    "calls from JavaScript",
    {name: f"Math.{name}" for name in PRIMITIVES if name not in ("erf", "pow")} | {"erf": "erf"},
    without=["abs", "sign", "hypot", "min", "max"],  # equations express these by others
)

ERF = """\
/** The error function, by its series and by its continued fraction (Abramowitz and Stegun, 7.1.5 and 7.1.14). */
function erf(x) {
  const a = Math.abs(x);
  if (!(a < 6)) return a >= 6 ? Math.sign(x) : NaN;
  if (a < 2.5) {
    let term = x, sum = x;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) { term *= -x * x / k; sum += term / (2 * k + 1); }
    return 2 / Math.sqrt(Math.PI) * sum;
  }
  let tail = a;
  for (let k = 60; k > 0; k--) tail = a + k / 2 / tail;
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * tail));
}
"""


@dataclass(frozen=True)
class Dialect:
    """What differs between JavaScript and languages that look like it.

    Attributes:
        function, constant: words before the name of a function and of a value.
        arguments: of functions; ``preparing`` those of ``prepare``.
        calls: names of functions by those of the expression language.
        number: writes a number.
        truths: false and true.
        head: first lines; ``{parameters}``, ``{prepared}`` are numbers of values.
        helpers: functions that the language lacks, by name.
    """

    function: str
    constant: str
    arguments: str
    preparing: str
    calls: Mapping[str, str]
    number: Callable[[float], str]
    truths: tuple[str, str]
    head: str
    helpers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Script:
    """Functions that share one program and one array of prepared values.

    Attributes:
        program: the program.
        functions: text of the functions written so far.
        most: operations in one function.
        dialect: the language, by default JavaScript.
    """

    program: Program
    most: int = MOST_OPERATIONS
    dialect: Dialect = field(default_factory=lambda: _javascript())
    functions: list[str] = field(default_factory=list)
    _prepared: dict[int, int] = field(default_factory=dict)
    _kept: int = 0

    def add(self, name: str, outputs: Sequence[int], *, inputs: Sequence[int] | None = None) -> None:
        """Writes a function ``name(x, p, out)`` that computes some outputs of the program.

        Args:
            name: of the function.
            outputs: values of the program.
            inputs: the program's input for each entry of ``x``; default: all, in their order.
        """
        program = self.program
        order = [k for k in program.needed(outputs) if program.level[k] == STATE]
        for part in [*(p for k in order for p in program.parts(k)), *outputs]:
            if program.level[part] == PARAMETER and program.ops[part].kind != "par":
                self._prepared.setdefault(part, len(program.parameters) + len(self._prepared))
        places = {k: f"x[{i}]" for i, k in enumerate(program.inputs if inputs is None else inputs)}
        places |= {k: f"p[{i}]" for i, k in enumerate(program.parameters)}
        places |= {k: f"p[{i}]" for k, i in self._prepared.items()}
        self.functions.append(self._function(name, order, outputs, places))

    def text(self) -> str:
        """The whole script: helpers, the preparation of parameters, the functions."""
        program, count = self.program, len(self.program.parameters)
        wanted = list(self._prepared)
        order = [k for k in program.needed(wanted) if program.level[k] == PARAMETER and program.ops[k].parts]
        places = {k: f"p[{i}]" for i, k in enumerate(program.parameters)}
        # later values may use earlier ones, which lie in the same array
        body = self._function("prepare", order, wanted, places, first=count, signature="(p)", target="p")
        parts = [self.dialect.head.format(parameters=count, prepared=len(wanted))]
        if self._kept:
            parts.append(f"const kept = new Float64Array({self._kept});  // values that several functions share")
        for name, helper in self.dialect.helpers.items():
            if any(re.search(rf"\b{name}\(", text) for text in (*self.functions, body)):
                parts.append(helper)
        return "\n".join([*parts, body, *self.functions]) + "\n"

    def _function(
        self,
        name: str,
        order: Sequence[int],
        outputs: Sequence[int],
        places: dict[int, str],
        *,
        first: int = 0,
        signature: str = "(x, p, out)",
        target: str = "out",
    ) -> str:
        """One function, or several and one that calls them."""
        given = self.dialect.preparing if signature == "(p)" else self.dialect.arguments
        head = f"{self.dialect.function} {{}}{given}"
        work = [k for k in order if self.program.ops[k].parts and self.program.ops[k].kind != "cond"]
        wanted: dict[int, list[int]] = {}
        for place, k in enumerate(outputs):
            wanted.setdefault(k, []).append(first + place)
        chunks = [work[i : i + self.most] for i in range(0, len(work), self.most)] or [[]]
        texts = []
        crossing = self._crossing(chunks)
        known = dict(places)
        for number, chunk in enumerate(chunks):
            last = number == len(chunks) - 1
            made = {**crossing.get(number, {})}
            lines = _Statements(self.program, self.dialect, known, chunk, made, wanted, target).lines(last)
            title = name if len(chunks) == 1 else f"{name}_{number + 1}"
            texts.append(f"{head.format(title)} {{\n" + "".join(f"  {line}\n" for line in lines) + "}")
            for k in chunk:
                known.pop(k, None)
            known |= {k: f"kept[{i}]" for made in list(crossing.values())[: number + 1] for k, i in made.items()}
        if len(chunks) > 1:
            calls = "".join(f"  {name}_{i + 1}{signature};\n" for i in range(len(chunks)))
            texts.append(f"{head.format(name)} {{\n{calls}}}")
        return "\n".join(texts)

    def _crossing(self, chunks: Sequence[Sequence[int]]) -> dict[int, dict[int, int]]:
        """By chunk, its values that later chunks use, with their places in ``kept``."""
        made = {k: number for number, chunk in enumerate(chunks) for k in chunk}
        found: dict[int, dict[int, int]] = {number: {} for number in range(len(chunks))}
        count = 0
        for number, chunk in enumerate(chunks):
            for k in _operands(self.program, chunk):
                source = made.get(k, number)
                if source < number and k not in found[source]:
                    found[source][k] = count
                    count += 1
        self._kept = max(self._kept, count)
        return found


def _operands(program: Program, values: Iterable[int]) -> Iterable[int]:
    """Operands of operations, through conditions, which are written where they are used."""
    for k in values:
        stack = list(program.parts(k))
        while stack:
            part = stack.pop()
            if program.ops[part].kind == "cond":
                stack += program.parts(part)
            else:
                yield part


@dataclass
class _Statements:
    """The statements of one function: a value that is used once is written in place."""

    program: Program
    dialect: Dialect
    places: dict[int, str]
    chunk: Sequence[int]
    kept: dict[int, int]
    wanted: dict[int, list[int]]
    target: str

    def lines(self, last: bool) -> list[str]:
        uses: dict[int, int] = {}
        for k in _operands(self.program, self.chunk):
            uses[k] = uses.get(k, 0) + 1
        lines: list[str] = []
        pending: dict[int, tuple[str, int]] = {}
        self._pending = pending
        for k in self.chunk:
            text, depth = self._write(self.program.ops[k])
            stored = [f"{self.target}[{i}] = " for i in self.wanted.get(k, ())]
            stored += [f"kept[{self.kept[k]}] = "] if k in self.kept else []
            if uses.get(k, 0) == 1 and not stored and depth < DEEPEST and len(text) <= _WIDEST:
                pending[k] = (f"({text})" if _needs_brackets(self.program.ops[k]) else text, depth)
                continue
            if uses.get(k, 0):
                lines.append(f"{self.dialect.constant} v{k} = {text};")
                self.places[k] = f"v{k}"
                lines += [f"{place}v{k};" for place in stored]
            elif stored:
                lines.append(f"{''.join(stored)}{text};")
        if last:
            done = set(self.chunk) & self.wanted.keys()
            for k, places in self.wanted.items():
                if k not in done and k not in self._made_before():
                    lines += [f"{self.target}[{i}] = {self._operand(k)[0]};" for i in places]
        return lines

    def _made_before(self) -> set[int]:
        """Outputs that an earlier function stored."""
        return {k for k in self.wanted if self.program.ops[k].parts and k not in self.places}

    def _operand(self, k: int) -> tuple[str, int]:
        op = self.program.ops[k]
        if k in self._pending:
            return self._pending[k]
        if op.kind == "const":
            return self.dialect.number(op.number), 0
        if op.kind == "cond":
            return f"({self._condition(op)})", 0
        return self.places[k], 0

    def _write(self, op: Op) -> tuple[str, int]:
        parts = [self._operand(p) for p in op.parts]
        x, depth = [text for text, _ in parts], 1 + max(depth for _, depth in parts)
        match op.kind:
            case "add" | "sub" | "mul" | "div":
                return f"{x[0]} {_SIGNS[op.kind]} {x[1]}", depth
            case "neg":
                return f"-{x[0]}", depth
            case "select":
                return f"{x[0]} ? {x[1]} : {x[2]}", depth
            case "call":
                return f"{self.dialect.calls[op.name]}({', '.join(x)})", depth
        raise NotSupported(refusals.OPERATION_SCRIPT, operation=op.kind)

    def _condition(self, op: Op) -> str:
        x = [self._operand(p)[0] for p in op.parts]
        match op.name:
            case "true" | "false":
                return self.dialect.truths[op.name == "true"]
            case "lt" | "le":
                return f"{x[0]} {'<' if op.name == 'lt' else '<='} {x[1]}"
            case "and" | "or":
                return f"{x[0]} {'&&' if op.name == 'and' else '||'} {x[1]}"
            case "not":
                return f"!{x[0]}"
        raise NotSupported(refusals.CONDITION_SCRIPT, condition=op.name)


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _needs_brackets(op: Op) -> bool:
    return op.kind != "call"


def number(value: float) -> str:
    """A number, which JavaScript reads as the same double."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "(-Infinity)"
    text = repr(value).removesuffix(".0")
    return f"({text})" if text.startswith("-") else text


def _javascript() -> Dialect:
    """The dialect of this module."""
    return Dialect(
        "function",
        "const",
        "(x, p, out)",
        "(p)",
        {**CALLS, "pow": "Math.pow"},
        number,
        ("false", "true"),
        "const PARAMETERS = {parameters}, PREPARED = {prepared};",
        helpers={"erf": ERF},
    )
