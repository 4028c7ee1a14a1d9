"""A trial of a stepper from outside the package before its first run: that it steps, with the orders that it claims.

One step of three sizes is taken on equations with a known solution. This costs microseconds once the step is compiled,
and finds steps that a run would only show by wrong results, or blame on the mechanism.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.numerics.compiled.jit import CompiledCallback, compiled_callback
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.steppers.run import GO_ON, new_run
from pendula.numerics.steppers.tableaus import Tableau

SIZES = (0.2, 0.1, 0.05)
START = 0.4
MARGIN = 0.7  # of an order: measured with steps that are not small
ROUNDING = 1e-13  # smaller errors say nothing about an order
LONGEST = 160  # characters of a compiler's message


@compiled_callback(allocates=False)
def _swing(out, inp, context):
    """q' = v, v' = f(t, q), with the solution q = sin t; and a quadrature, the integral of q*v."""
    rate, at = doubles_at(out, 3), doubles_at(inp, 4)
    t, q, v = at[0], at[1], at[2]
    rate[0], rate[1], rate[2] = v, math.sin(t) ** 3 - math.sin(t) - q**3, q * v


def _solution(t: float) -> np.ndarray:
    return np.array([math.sin(t), math.cos(t), math.sin(t) ** 2 / 2])


def try_step(stepper: Any, tableau: Tableau, attempt: CompiledCallback) -> None:
    """Compiles the step of a stepper and tries it.

    Raises:
        UsageError: it cannot be compiled, does not step, or its error does not fall as claimed.
    """
    who = f'stepper "{stepper.name}"'
    try:
        address = attempt.address
    except Exception as error:  # numba raises errors of many types
        raise UsageError(f"{who}: its step cannot be compiled: {_gist(error)}") from error
    errors, estimates = [], []
    for h in SIZES:
        new, estimate = _step_of(who, address, tableau, h)
        errors.append(float(np.abs(new - _solution(START + h))[:2].max()))
        estimates.append(float(np.abs(estimate).max()))
    _check_order(who, "order", stepper.order, "the error of a step", errors)
    if stepper.error_order > 0:
        if not any(estimates):
            raise UsageError(f"{who}: error_order is {stepper.error_order}, but its step leaves error at zero; fill it")
        _check_order(who, "error_order", stepper.error_order, "its estimate of the error", estimates)


def _step_of(who: str, address: int, tableau: Tableau, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The new state and the error estimate of one step of size h."""
    y = _solution(START)
    run = new_run(tableau, y)
    run.t = run.earliest = START
    run.h, run.t_new, run.latest, run.t_end = h, START + h, START + h, START + h
    run.direction, run.rtol, run.atol, run.fixed = 1.0, 1.0, np.ones(y.size), int(tableau.error_order == 0)
    run.controlled, run.coordinates, run.speeds, run.component = y.size, 1, 1, -1
    run.rhs = _swing.address
    q, v, _ = y
    run.rows[0, 1:4] = v, -math.sin(START), q * v
    new = run.rows[run.new, 1:4]
    new[:] = np.nan
    ctypes.CFUNCTYPE(None, *[ctypes.c_ssize_t] * 3)(address)(0, 0, run.address)
    if np.isnan(new).all() and run.component >= 0:
        raise UsageError(f"{who}: its step leaves new as it was; write into it, as in new[:] = y + h*slope")
    if run.code != GO_ON:
        cause = "gives values that are not finite" if run.component >= 0 else "returns False, or raises an error,"
        raise UsageError(f"{who}: its step {cause} in a trial on smooth equations")
    if not np.array_equal(run.y, y):
        raise UsageError(f"{who}: its step changes y; it must write into new (and error) only")
    return new, run.rows[run.scratch, 1:4]


def _check_order(who: str, field: str, claimed: int, what: str, sizes: list[float]) -> None:
    """Raises an error if sizes do not fall as ``h**(claimed + 1)``."""
    pairs = [(a, b) for a, b in itertools.pairwise(sizes) if b > ROUNDING]
    found = max((math.log2(a / b) if a > 0.0 else 0.0 for a, b in pairs), default=math.inf)
    if found < claimed + 1 - MARGIN:
        raise UsageError(
            f"{who}: with {field}={claimed}, {what} would fall as h**{claimed + 1}, "
            f"but in a trial on smooth equations it falls as h**{max(found, 0.0):.1f}"
        )


def _gist(error: Exception) -> str:
    """The cause in a message of numba, and its place in the step; the rest of it describes our own code."""
    lines = [line.strip() for line in str(error).splitlines() if not line.startswith("Failed in ")]
    cause = lines[0] if lines else ""
    if len(cause) > LONGEST:
        cause = f"{cause[:40]} ... {cause[-LONGEST:]}"
    place = re.search(r"^During: typing of .* at (\S+) (\(\d+\))$", str(error), re.MULTILINE)
    if place is None:
        return f"{type(error).__name__}: {cause}"
    if place[1].endswith("native.py") and "<class 'int'>" in cause:
        return "it must return whether it succeeded, True or False"
    return f"{type(error).__name__}: {cause} at {place[1]} {place[2]}"
