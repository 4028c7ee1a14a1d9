"""Exercises 8.2 and 8.5: a sprung mass with a bar, and the double pendulum upside down."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim, number, numbers, same_equations
from pendula.papers.kamman.double_pendulum import EQUATION_8, EQUATION_9, UNDAMPED
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding

EQUATIONS_8_2 = {
    "equations": [
        "(m1 + m2)*x_ddot + m2*l/2*cos(theta)*theta_ddot - m2*l/2*sin(theta)*theta_dot**2 + c*x_dot + k*x = F",
        "m2*l**2/3*theta_ddot + m2*l/2*cos(theta)*x_ddot + m2*g*l/2*sin(theta) = 0",
    ]
}


def sprung() -> Finding:
    """Matrices, natural frequencies and mode shapes of exercise 8.2."""
    model = pendula.library.spring_mass_bar()
    system = pendula.compile_system(model)
    p = model.parameter_values
    linear = pendula.linearize(system, {}, parameters={"c": 3.0})
    m1, m2, l, g, k = (p[n] for n in ("m1", "m2", "l", "g", "k"))
    printed = (
        np.array([[m1 + m2, m2 * l / 2], [m2 * l / 2, m2 * l**2 / 3]]),
        np.diag([3.0, 0.0]),
        np.diag([k, m2 * g * l / 2]),
    )
    gap = max(float(np.max(np.abs(a - b))) for a, b in zip((linear.M, linear.C, linear.K), printed, strict=True))
    residual = float(np.max(np.abs(system.forces([0.0, 0.0], [0.0, 0.0]))))
    found = pendula.modes(system, {})
    omega = [float(mode.frequency or 0.0) for mode in found.modes]
    shapes = [float(mode.shape[1] / mode.shape[0]) for mode in found.modes]
    run = pendula.simulate(system, 4.0)
    return Finding(
        notes=tuple(mode.description for mode in found.modes),
        lines=(
            same_equations("8.2", "the equations of motion in x and θ", model, EQUATIONS_8_2),
            claim(
                "8.2 a)",
                "x = θ = 0 is an equilibrium",
                f"unbalanced force {residual:.1g}",
                residual < 1e-12,
                evidence={"unbalanced force": residual},
            ),
            claim(
                "8.2 b)",
                "the matrices M, C and K",
                f"largest difference of an entry {gap:.1g}",
                gap < 1e-12,
                evidence={"largest difference": gap},
            ),
            numbers("8.2 c), ω", {"ω₁": ("4.89", omega[0]), "ω₂": ("29.44", omega[1])}, unit="rad/s"),
            numbers(
                "8.2 c), f",
                {"f₁": ("0.7784", omega[0] / (2 * np.pi)), "f₂": ("4.686", omega[1] / (2 * np.pi))},
                unit="Hz",
            ),
            numbers("8.2 c), shapes", {"v₁₂": ("77.8", shapes[0]), "v₂₂": ("-0.7715", shapes[1])}),
        ),
        formulas=formulas(model, "By Lagrange"),
        animations=(animation(run, "swing", "Exercise 8.2: released from x = 0.05 ft and 20°"),),
    )


def inverted() -> Finding:
    """Roots, stability, natural frequencies and mode shapes of exercise 8.5."""
    model = pendula.library.inverted_double_pendulum()
    system = pendula.compile_system(model)
    turned = {"equations": [e.replace("m*g*l", "(-m*g*l)") for e in (EQUATION_8, EQUATION_9)]}
    stiff = pendula.linear.spectrum(system, {}).values
    slow, fast = (next(x for x in stiff if x.imag > 0 and abs(abs(x) - size) < 3) for size in (20.87, 94.1))
    soft = pendula.stability(system, {}, parameters={"k1": 100.0, "k2": 5.0})
    values = sorted(soft.spectrum.values, key=lambda x: (x.real, -x.imag))
    found = pendula.modes(system, {}, parameters=UNDAMPED)
    omega = [float(mode.frequency or 0.0) for mode in found.modes]
    shapes = [float(mode.shape[1] / mode.shape[0]) for mode in found.modes]
    stable = pendula.stability(system, {})
    fall = pendula.simulate(
        system, 10.0, parameters={"k1": 100.0, "k2": 5.0}, initial_state={"theta1": 0.05, "theta2": 0.05}
    )
    return Finding(
        notes=tuple(mode.description for mode in found.modes),
        lines=(
            same_equations("8.5", "the equations of example 5 with opposite signs of gravity", model, turned),
            numbers(
                "8.5 a), λ₁,₂",
                {"real part": ("-11.506", fast.real), "imaginary part": ("93.330", fast.imag)},
                unit="1/s",
            ),
            numbers(
                "8.5 a), λ₃,₄",
                {"real part": ("-0.914116", slow.real), "imaginary part": ("20.855", slow.imag)},
                unit="1/s",
            ),
            claim(
                "8.5 a)",
                "significant and stable",
                f"{stable.verdict}, {stable.behavior}",
                stable.verdict == "asymptotically stable",
                evidence={"largest real part": max(stiff.real)},
            ),
            numbers(
                "8.5 b)",
                {
                    "real part": ("-11.413", values[0].real),
                    "imaginary part": ("12.170", values[0].imag),
                    "λ₃": ("-2.4939", values[2].real),
                    "λ₄": ("0.48008", values[3].real),
                },
                unit="1/s",
            ),
            claim(
                "8.5 b), verdict",
                "significant and unstable",
                f"{soft.verdict}, {soft.behavior}",
                soft.verdict == "unstable",
                evidence={"largest real part": values[-1].real},
            ),
            number("8.5 c), ω₁", "ω₁", "20.87", omega[0], unit="rad/s"),
            number("8.5 c), ω₂", "ω₂", "94.09", omega[1], unit="rad/s"),
            numbers(
                "8.5 c), f",
                {"f₁": ("3.32", omega[0] / (2 * np.pi)), "f₂": ("14.97", omega[1] / (2 * np.pi))},
                unit="Hz",
            ),
            number("8.5 c), shape 1", "v₁₂", "2.124", shapes[0]),
            number("8.5 c), shape 2", "v₂₂", "-1.982", shapes[1]),
        ),
        animations=(
            animation(
                fall,
                "falls",
                "Exercise 8.5 b): soft springs do not hold it upright",
                note="Released at rest from 2.9°",
                signals=("theta1", "theta2"),
            ),
        ),
    )
