"""Evaluates straight-line programs in any arithmetic: symbols of another package, arrays, numbers of many digits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pendula.errors import NotSupported
from pendula.system import refusals
from pendula.system.code.program import Program

_ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


@dataclass(frozen=True)
class Values:
    """How a package writes what has no operator in Python.

    Attributes:
        title: of the package, for messages.
        functions: by the names of :data:`pendula.model.expressions.functions.PRIMITIVES`.
        choose: ``choose(condition, a, b)``.
        both, either, negate: conditions combined.
        number: makes a constant.
    """

    title: str
    functions: Mapping[str, Callable[..., Any]]
    choose: Callable[[Any, Any, Any], Any]
    both: Callable[[Any, Any], Any] = operator.and_
    either: Callable[[Any, Any], Any] = operator.or_
    negate: Callable[[Any], Any] = operator.not_
    number: Callable[[float], Any] = float


def evaluate(
    program: Program, outputs: Sequence[int], inputs: Mapping[int, Any], parameters: Sequence[Any], values: Values
) -> list[Any]:
    """The outputs of a program for given inputs (by their operation) and parameters.

    Example:
        >>> import math
        >>> program = Program(1, 1)
        >>> (x,), (p,) = program.inputs, program.parameters
        >>> plain = Values("floats", {"sin": math.sin}, lambda c, a, b: a if c else b)
        >>> evaluate(program, [program.multiply(p, program.call("sin", x))], {x: 0.0}, [2.0], plain)
        [0.0]
    """
    found: dict[int, Any] = dict(inputs)
    for k in program.needed(outputs):
        if k in found:
            continue
        op = program.ops[k]
        x = [found[part] for part in op.parts]
        if op.kind == "par":
            found[k] = parameters[op.place]
        elif op.kind == "const":
            found[k] = values.number(op.number)
        elif op.kind in _ARITHMETIC:
            found[k] = _ARITHMETIC[op.kind](*x)
        elif op.kind == "neg":
            found[k] = -x[0]
        elif op.kind == "select":
            found[k] = values.choose(*x)
        elif op.kind == "cond":
            found[k] = _condition(op.name, x, values)
        elif op.kind == "call" and op.name in values.functions:
            found[k] = values.functions[op.name](*x)
        else:
            raise NotSupported(refusals.NO_VALUE, values=values.title, what=f"{op.kind} {op.name}".rstrip())
    return [found[k] for k in outputs]


def _condition(name: str, x: Sequence[Any], values: Values) -> Any:
    match name:
        case "true" | "false":
            return name == "true"
        case "lt":
            return x[0] < x[1]
        case "le":
            return x[0] <= x[1]
        case "and":
            return values.both(*x)
        case "or":
            return values.either(*x)
        case "not":
            return values.negate(x[0])
    raise NotSupported(refusals.NO_CONDITION, values=values.title, name=name)
