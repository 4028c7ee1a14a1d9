"""Prints equations in any registered format, and writes them as JSON."""

from __future__ import annotations

import json
from typing import Any

from pendula.equations.derive import HasEquations, equations_of
from pendula.equations.equations import PARTS, Equations
from pendula.equations.printing import code
from pendula.equations.printing.counts import count
from pendula.equations.printing.form import Form, count_printed
from pendula.formats import Content, formats
from pendula.model.model import Model

IN_SYMBOLS = ("text", "latex", "json")
"""formats that leave inputs as symbols; all others are programs, which compute them"""


def print_equations(equations: Equations | Model | HasEquations | str, format: str = "text") -> str:
    """Equations of motion as text, LaTeX, JSON or a program (python, c, cpp, julia, ...), or in a registered format.

    Args:
        equations: returned by :func:`pendula.derive`, or a system; a model or a library mechanism by name is derived.
        format: name of the format.

    Example:
        >>> from pendula import derive, library
        >>> print(print_equations(derive(library.pendulum())).splitlines()[0])
        pendulum: equations of motion by kane
    """
    known = formats("Equations")
    found = equations_of(equations, "print_equations", in_symbols=format in IN_SYMBOLS)
    content = known.checked(format, known[format](found))
    return str(content.data if isinstance(content, Content) else content)


def as_json(eq: Equations) -> str:
    """Equations as JSON."""
    form = Form(eq)

    def text(e: Any) -> str:
        return code.write(form.in_program(e), code.PLAIN)

    sizes, printed = count(eq), count_printed(eq)
    data = {
        "model": eq.model.name,
        "formulation": eq.formulation,
        "units": eq.model.units,
        "form": "q' = qdot, M v' = f + G^T lam, g = 0, G v = b, G v' = c",
        "coordinates": [str(s) for s in eq.q],
        "speeds": [str(s) for s in eq.v],
        "inputs": [str(s) for s in eq.u],
        "parameters": eq.model.parameter_values,
        "definitions": [[str(s), text(e)] for s, e in form.definitions],
        "qdot": [text(e) for e in eq.qdot],
        "M": [[text(e) for e in row] for row in eq.M],
        "f": [text(e) for e in eq.f],
        "parts": {part: [text(e) for e in eq.parts.free[part]] for part in PARTS},
        "g": [text(e) for e in eq.g],
        "G": [[text(e) for e in row] for row in eq.G],
        "b": [text(e) for e in eq.b],
        "c": [text(e) for e in eq.c],
        "constraints": list(eq.constraint_names),
        "readings": {name: text(e) for name, e in eq.readings.items()},
        "counts": {
            "terms": printed.terms,
            "operations": printed.operations,
            "operations_written_out": sizes.operations_written_out,
            "operations_shared": sizes.operations_shared,
            "named_intermediates": sizes.names,
        },
    }
    return json.dumps(data, indent=1)
