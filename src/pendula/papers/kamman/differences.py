"""Equations 31 to 35: derivatives by central differences, against exact ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import pendula
from pendula.papers.judge import claim
from pendula.papers.kamman.double_pendulum import double
from pendula.papers.types import Finding
from pendula.present.pictures.curves import Chart, curve
from pendula.results import System

Array = npt.NDArray[np.float64]


def differences(smallest: float) -> Finding:
    """The error of A1 by central differences over the increment, and what the built-in differences reach."""
    system = double()
    exact = pendula.linearize(system, {})
    steps = np.logspace(np.log10(smallest), 0, 60)
    rest, bent = np.zeros(2), np.array([0.3, -0.2])
    errors, elsewhere = [], []
    slopes = system.acceleration_jacobian("q", bent, rest)
    for h in steps:
        errors.append(float(np.max(np.abs(_by_differences(system, rest, h) / exact.A1 - 1))))
        elsewhere.append(float(np.max(np.abs(_by_differences(system, bent, h) / slopes - 1))))
    best = int(np.argmin(elsewhere))
    order = float(np.polyfit(np.log(steps[-25:-8]), np.log(errors[-25:-8]), 1)[0])
    built_in = pendula.linearize(system, {}, method="differences")
    gap = float(np.max(np.abs(built_in.A - exact.A)) / np.max(np.abs(exact.A)))
    return Finding(
        lines=(
            claim(
                "eqs. 33-35",
                "derivatives can be estimated by second-order central differences",
                f"order {order:.2f}; best relative error {min(errors):.1g} about the equilibrium, "
                f"{elsewhere[best]:.1g} at an "
                f"increment of {steps[best]:.1g} rad about a bent pose; the built-in differences reach {gap:.1g}, the "
                "exact derivatives need none",
                abs(order - 2) < 0.1 and elsewhere[best] < 1e-7,
                evidence={
                    "best relative error, bent": elsewhere[best],
                    "best relative error": min(errors),
                    "increment": float(steps[best]),
                    "order": order,
                    "built-in": gap,
                },
                reason="the order is not 2",
                corrected=f"order {order:.2f}",
                severity="wrong",
            ),
        ),
        figures=(
            Chart(
                "differences",
                "Error of A₁ by eq. 33 over the increment",
                "increment [rad]",
                "largest relative error [1]",
                (
                    curve("about the equilibrium", steps, errors),
                    curve("about (0.3, −0.2) rad", steps, elsewhere),
                    curve("increment²", steps[30:], errors[-8] * (steps[30:] / steps[-8]) ** 2, style="dashed"),
                ),
                log_x=True,
                log_y=True,
                note="To the right the neglected third derivative dominates, to the left rounding. About the "
                "equilibrium "
                "the accelerations vanish with the increment, and rounding with them.",
            ),
        ),
    )


def _by_differences(system: System, q: Array, h: float) -> Array:
    """Equation 33."""
    rest = np.zeros(2)
    columns = [
        (system.accelerations(q + h * e, rest) - system.accelerations(q - h * e, rest)) / (2 * h) for e in np.eye(2)
    ]
    return np.array(columns).T
