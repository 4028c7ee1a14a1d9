"""Straight-line programs as C functions; see :mod:`pendula.system.code.javascript`, which writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pendula.model.expressions.functions import PRIMITIVES
from pendula.system.code.javascript import Dialect


def number(value: float) -> str:
    """A number that C reads as the same double.

    Example:
        >>> number(2.0), number(-0.1), number(float("inf"))
        ('2.0', '(-0.1)', 'INFINITY')
    """
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value!r})" if math.copysign(1.0, value) < 0 else repr(value)


def array(kind: str, name: str, entries: Iterable[str]) -> str:
    """A constant array of C; at least one entry, which C demands."""
    return f"static const {kind} {name}[] = {{{', '.join(entries) or '0'}}};"


C = Dialect(
    "static void",
    "const double",
    "(const double *x, const double *p, double *out)",
    "(double *p)",
    {name: function.c for name, function in PRIMITIVES.items()},
    number,
    ("0", "1"),
    "#define PARAMETERS {parameters}\n#define PREPARED {prepared}",
)
