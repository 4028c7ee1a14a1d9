"""Right-hand sides and projections for the tests: compiled callbacks, and the same functions for SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pendula.numerics.compiled.jit import CompiledCallback, compiled_callback
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.steppers.stepper import STEPPERS

METHODS = {name: STEPPERS[name] for name in STEPPERS if not STEPPERS[name].series}


@dataclass(frozen=True)
class Problem:
    """An initial value problem in both forms."""

    callback: CompiledCallback
    python: Callable[[float, np.ndarray], list[float]]
    y0: tuple[float, ...]
    t_end: float


def chosen(method: str, step: float) -> dict[str, object]:
    """Arguments that choose a method; ``step`` goes to the one that cannot choose its steps."""
    return {"method": method, "step": step} if METHODS[method].fixed else {"method": method}


MU = 0.012277471  # mass of the moon in the three-body problem below


@compiled_callback
def _arenstorf(out, inp, context):
    y, d = doubles_at(inp, 5)[1:], doubles_at(out, 4)
    a = ((y[0] + MU) ** 2 + y[1] ** 2) ** 1.5
    b = ((y[0] - 1 + MU) ** 2 + y[1] ** 2) ** 1.5
    d[0], d[1] = y[2], y[3]
    d[2] = y[0] + 2 * y[3] - (1 - MU) * (y[0] + MU) / a - MU * (y[0] - 1 + MU) / b
    d[3] = y[1] - 2 * y[2] - (1 - MU) * y[1] / a - MU * y[1] / b


def _arenstorf_python(t, y):
    a = ((y[0] + MU) ** 2 + y[1] ** 2) ** 1.5
    b = ((y[0] - 1 + MU) ** 2 + y[1] ** 2) ** 1.5
    ax = y[0] + 2 * y[3] - (1 - MU) * (y[0] + MU) / a - MU * (y[0] - 1 + MU) / b
    ay = y[1] - 2 * y[2] - (1 - MU) * y[1] / a - MU * y[1] / b
    return [y[2], y[3], ax, ay]


@compiled_callback
def _van_der_pol(out, inp, context):
    y, d = doubles_at(inp, 3)[1:], doubles_at(out, 2)
    d[0], d[1] = y[1], 5.0 * (1 - y[0] ** 2) * y[1] - y[0]


@compiled_callback
def _stiffish(out, inp, context):
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    d[0] = -50.0 * (y[1] - math.cos(y[0]))
    d[1] = y[1] - y[2]


@compiled_callback
def _pendulum(out, inp, context):
    y, d = doubles_at(inp, 3)[1:], doubles_at(out, 2)
    d[0], d[1] = y[1], -9.81 * math.sin(y[0])


PROBLEMS = {
    # Hairer, Norsett & Wanner, section II.0: a periodic orbit between earth and moon.
    "arenstorf": Problem(
        _arenstorf,
        _arenstorf_python,
        (0.994, 0.0, 0.0, -2.00158510637908252240537862224),
        17.0652165601579625588917206249,
    ),
    "van der pol": Problem(_van_der_pol, lambda t, y: [y[1], 5.0 * (1 - y[0] ** 2) * y[1] - y[0]], (2.0, 0.0), 20.0),
    "stiffish": Problem(_stiffish, lambda t, y: [-50.0 * (y[0] - math.cos(t)), y[0] - y[1]], (0.0, 1.0), 5.0),
    "pendulum": Problem(_pendulum, lambda t, y: [y[1], -9.81 * math.sin(y[0])], (3.0, 0.0), 10.0),
}


@compiled_callback
def pendulum_with_work(out, inp, context):
    """The pendulum, and along with it the integral of a rough function."""
    y, d = doubles_at(inp, 4), doubles_at(out, 3)
    d[0], d[1] = y[2], -9.81 * math.sin(y[1])
    d[2] = 1e3 * math.sin(40.0 * y[0]) * y[2]


@compiled_callback
def oscillator(out, inp, context):
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    d[0], d[1] = y[2], -y[1]


@compiled_callback
def nothing(out, inp, context):
    """The derivative of a state without components."""


@compiled_callback
def blow_up(out, inp, context):
    """y' = y^2, which reaches infinity at t = 1 / y0."""
    doubles_at(out, 1)[0] = doubles_at(inp, 2)[1] ** 2


@compiled_callback
def log_slope(out, inp, context):
    """y0' = 1, y1' = log(1 - t): not a number after t = 1, and at the start if t0 > 1."""
    t, d = doubles_at(inp, 1)[0], doubles_at(out, 2)
    d[0] = 1.0
    d[1] = math.log(1.0 - t) if t < 1.0 else math.nan


@compiled_callback
def overflowing(out, inp, context):
    """Steeper than any step can follow: exp of a growing exponent."""
    y = doubles_at(inp, 2)[1]
    doubles_at(out, 1)[0] = math.exp(min(y, 1e300)) if y < 1e300 else 0.0


@compiled_callback
def switched(out, inp, context):
    """y' = 0 before t = 1, 1 from 1 to 2, -3 after."""
    t = doubles_at(inp, 1)[0]
    doubles_at(out, 1)[0] = 0.0 if t < 1.0 else (1.0 if t < 2.0 else -3.0)


@compiled_callback
def rotation(out, inp, context):
    """Motion on the unit circle, at a speed that varies."""
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    speed = 1.0 + 0.5 * math.sin(y[0])
    d[0], d[1] = -speed * y[2], speed * y[1]


@compiled_callback
def onto_circle(out, inp, context):
    y, p = doubles_at(inp, 3), doubles_at(out, 5)
    r = math.hypot(y[1], y[2])
    p[0], p[1] = y[1] / r, y[2] / r
    p[2] = abs(r - 1.0)
    p[3] = abs(math.hypot(p[0], p[1]) - 1.0)
    p[4] = 0.0


@compiled_callback
def onto_circle_until_two(out, inp, context):
    """Refuses after t = 2."""
    y, p = doubles_at(inp, 3), doubles_at(out, 5)
    p[0], p[1], p[2], p[3] = y[1], y[2], 0.0, 0.0
    p[4] = 1.0 if y[0] > 2.0 else 0.0


@compiled_callback
def growing(out, inp, context):
    """y' = y cos t, z' = -z^2 sin t: from 1 and 1 at t = 0 these are exp(sin t) and 1 / (2 - cos t)."""
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    d[0], d[1] = y[1] * math.cos(y[0]), -y[2] * y[2] * math.sin(y[0])


STIFF_MU = 1000.0


@compiled_callback
def stiff_van_der_pol(out, inp, context):
    y, d = doubles_at(inp, 3)[1:], doubles_at(out, 2)
    d[0], d[1] = y[1], STIFF_MU * (1 - y[0] ** 2) * y[1] - y[0]


@compiled_callback
def robertson(out, inp, context):
    """A chemical reaction with rates from 0.04 to 3e7 (Hairer & Wanner, section IV.1)."""
    y, d = doubles_at(inp, 4)[1:], doubles_at(out, 3)
    d[0] = -0.04 * y[0] + 1e4 * y[1] * y[2]
    d[2] = 3e7 * y[1] * y[1]
    d[1] = -d[0] - d[2]


@compiled_callback
def pulled_to_cosine(out, inp, context):
    """y' = -10^4 (y - cos t) - sin t, whose solution from y = 1 is cos t; and its integral."""
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    d[0], d[1] = -1e4 * (y[1] - math.cos(y[0])) - math.sin(y[0]), y[1]


@compiled_callback
def toppling(out, inp, context):
    """A pendulum that stands on its head almost without moving, and then falls fast: y'' = 10^4 sin y."""
    y, d = doubles_at(inp, 3), doubles_at(out, 2)
    d[0], d[1] = y[2], 1e4 * math.sin(y[1])


@compiled_callback
def infinite_between(out, inp, context):
    """y' = 1 outside, but infinite for 0.5 < t < 0.6."""
    t = doubles_at(inp, 1)[0]
    doubles_at(out, 1)[0] = math.inf if 0.5 < t < 0.6 else 1.0
