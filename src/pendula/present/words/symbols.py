"""Symbolic linear models as text and as plain data."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from pendula.equations.small_motion import SymbolicModel
from pendula.present.words.tables import WIDTH

CONDITIONS = 2
"""largest number of degrees of freedom with stability conditions"""


def symbolic_text(found: SymbolicModel, at: Mapping[str, Any]) -> str:
    """Matrices entry by entry, the characteristic polynomial and the conditions for stability."""
    where = ", ".join(f"{n} = {x}" for n, x in at.items()) or "all coordinates zero"
    lines = [_wrapped(f"at {where}"), f"e: changes of {', '.join(found.coordinates)}", ""]
    for name in ("M", "C", "K", "F"):
        X = getattr(found, name)
        if X.is_zero_matrix:
            lines += [f"{name} = 0"] if X.cols else []
            continue
        for i in range(X.rows):
            lines += [_wrapped(f"{name}[{i + 1},{j + 1}] = {X[i, j]}") for j in range(X.cols) if X[i, j] != 0]
    lines += ["", _wrapped(f"characteristic polynomial: {found.polynomial.as_expr()}")]
    if found.M.rows <= CONDITIONS:
        lines += ["", _wrapped(found.stable_if)]
    if not found.left.is_zero_matrix:
        must = " and ".join(f"{x} = 0" for x in found.left if x != 0)
        lines.append(_wrapped(f"an equilibrium only if {must}"))
    if found.assumed:
        lines.append(_wrapped(f"assumed positive: {', '.join(found.assumed)}"))
    return "\n".join(lines)


def symbolic_data(found: SymbolicModel) -> dict[str, Any]:
    """The same as strings."""
    few = found.M.rows <= CONDITIONS
    return {
        "coordinates": list(found.coordinates),
        "inputs": list(found.inputs),
        **{n: [[str(x) for x in row] for row in getattr(found, n).tolist()] for n in ("M", "C", "K", "F")},
        "polynomial": str(found.polynomial.as_expr()),
        "conditions": [str(x) for x in found.conditions] if few else None,
        "left": [str(x) for x in found.left],
        "positive": list(found.assumed),
    }


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
