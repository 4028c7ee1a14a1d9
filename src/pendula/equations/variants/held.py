"""Equations with prescribed motions held at constant values, for linear models that take these motions as inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import symengine as se

from pendula.equations.equations import Equations


def hold_drives(equations: Equations, values: Sequence[float]) -> Equations:
    """The equations with every prescribed motion at rest at a value.

    Example:
        >>> import pendula
        >>> moving = pendula.derive(pendula.library.driven_chain(links=1))
        >>> held = hold_drives(moving, [0.0, 0.0])
        >>> [str(drive.value) for drive in held.drives]
        ['0.0', '0.0']
    """
    still: dict[Any, Any] = {}
    drives = []
    for drive, value in zip(equations.drives, values, strict=True):
        still |= {drive.position: se.Float(value), drive.rate: se.S.Zero, drive.acceleration: se.S.Zero}
        drives.append(replace(drive, value=se.Float(value), jumps=()))
    definitions = tuple((symbol, still.get(symbol, expression)) for symbol, expression in equations.definitions)
    return replace(equations, definitions=definitions, drives=tuple(drives))
