"""Rates of prescribed motions at one time: which of them are infinite there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import symengine as se

from pendula.equations.mechanism.parts import Drive


def infinite_rate(drive: Drive, values: Mapping[str, float]) -> str:
    """Which time derivative of a prescribed motion is not finite: "rate", "acceleration", or "" if both are.

    Args:
        drive: the prescribed motion.
        values: parameters and the time ``t``.
    """
    value = se.sympify(drive.value)
    at = {s: values[str(s)] for s in value.free_symbols if str(s) in values}
    time = se.Symbol("t")
    for which in ("rate", "acceleration"):
        value = value.diff(time)
        if _infinite(value.subs(at)):
            return which
    return ""


def _infinite(x: Any) -> bool:
    """Whether an expression is certainly not finite; one that is not a number (a derivative at a kink) may be."""
    if x in (se.zoo, se.oo, -se.oo, se.nan):
        return True
    return bool(x.is_Number) and not math.isfinite(x)
