"""Exercises 8.3 and 8.4: bars on a shaft and on a disc that turn at a constant rate."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim, number, numbers, same_equations
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding

EQUATIONS_8_3 = {
    "equations": [
        "(m_s*r**2/2 + m*l**2/12*sin(theta)**2)*phi_ddot + m*l**2/6*sin(theta)*cos(theta)*theta_dot*phi_dot = M_phi",
        "m*l**2/12*theta_ddot - m*l**2/12*sin(theta)*cos(theta)*phi_dot**2 = M_theta",
    ]
}
EQUATIONS_8_4 = {
    "equations": [
        "(m_d*R**2/2 + m*(b + l/2*sin(theta))**2 + m*l**2/12*sin(theta)**2)*phi_ddot"
        " + (m*b*l*cos(theta) + 2/3*m*l**2*sin(theta)*cos(theta))*theta_dot*phi_dot = M_phi",
        "m*l**2/3*theta_ddot - (m*b*l/2*cos(theta) + m*l**2/3*sin(theta)*cos(theta))*phi_dot**2 + c*theta_dot"
        " + k*theta + m*g*l/2*sin(theta) = M_theta",
    ]
}


def shaft(rate: float) -> Finding:
    """Exercise 8.3: rest at 0 and 90 degrees, and how stable."""
    free = pendula.library.shaft_bar(turn="free")
    model = pendula.library.shaft_bar().with_parameters({"Omega": rate})
    system = pendula.compile_system(model)
    found = pendula.find_equilibria(model)
    angles = sorted(round(float(np.rad2deg(e["theta"])), 9) for e in found)
    along, across = (pendula.stability(system, {"theta": x}) for x in (0.0, np.pi / 2))
    growth = float(np.max(along.spectrum.values.real))
    swing = float(np.max(across.spectrum.values.imag))
    run = pendula.simulate(system, 12.0)
    return Finding(
        lines=(
            same_equations("8.3", "the equations of motion in φ and θ", free, EQUATIONS_8_3),
            claim(
                "8.3 a)",
                "θ = 0 and θ = 90°",
                f"{len(found)} equilibria on the circle: "
                + ", ".join(f"{x:g}°" for x in angles)
                + "; modulo 180° these are the two",
                {x % 180 for x in angles} == {0.0, 90.0},
                evidence={"equilibria": len(found)},
            ),
            claim(
                "8.3 b)",
                "Δθ'' − Ω² Δθ = 0 at 0, Δθ'' + Ω² Δθ = 0 at 90°",
                f"Ω = {rate:g} rad/s: growth {growth:.9g} 1/s at 0, frequency {swing:.9g} rad/s at 90°",
                abs(growth - rate) < 1e-9 and abs(swing - rate) < 1e-9,
                evidence={"growth at 0": growth, "frequency at 90 deg": swing, "Omega": rate},
            ),
            claim(
                "8.3 c)",
                "0 is unstable and 90° is stable; the behaviour is critical, so the system is only infinitesimally "
                "stable",
                f"0: {along.behavior}, {along.verdict} (root +{growth:.6g}); 90°: {across.behavior}, "
                f"{across.verdict}, because {across.proof}",
                along.behavior == "critical",
                evidence={"root at 0": growth, "real part at 90 deg": float(np.max(across.spectrum.values.real))},
                reason="at 0 a root is positive, which is significant; at 90° the effective potential has a strict "
                "minimum, which proves stability of the nonlinear motion",
                corrected="0 is unstable (significant); 90° is critical in the linear model and stable in the "
                "nonlinear one",
                effect="two clear cases would remain undecided",
                severity="incomplete",
            ),
        ),
        formulas=formulas(free, "By Lagrange"),
        animations=(
            animation(run, "bar", "Exercise 8.3: the bar swings about 90°", note=f"Ω = {rate:g} rad/s, from 20°"),
        ),
    )


def disc() -> Finding:
    """Exercise 8.4: all equilibria, the linear equation and its roots."""
    free = pendula.library.disc_bar(turn="free")
    model = pendula.library.disc_bar()
    system = pendula.compile_system(model)
    found = pendula.find_equilibria(model)
    angles = sorted(float(np.rad2deg(e["theta"])) for e in found)
    theta = max(float(e["theta"]) for e in found)
    linear = pendula.linearize(system, {"theta": theta})
    middle = -float(pendula.linearize(system, {"theta": 0.0}).A1[0, 0])
    root = next(x for x in pendula.linear.spectrum(linear).values if x.imag > 0)
    p = model.parameter_values
    coefficient = p["m"] * p["l"] ** 2 / 3 * p["Omega"] ** 2
    rounded = np.deg2rad(58.7)
    from_rounded = (p["k"] + p["m"] * p["g"] * p["l"] / 2 * np.cos(rounded) - coefficient * np.cos(2 * rounded)) / (
        p["m"] * p["l"] ** 2 / 3
    )
    run = pendula.simulate(system, 6.0)
    reason = f"the rounded 58.7° was inserted, which gives {from_rounded:.3f}"
    stiffness = -float(linear.A1[0, 0])
    return Finding(
        lines=(
            same_equations("8.4", "the equations of motion in φ and θ", free, EQUATIONS_8_4),
            claim(
                "8.4 a)",
                "the equilibrium position is θ ≈ 58.7°",
                f"{len(found)} equilibria, completeness {found.complete}: "
                + ", ".join(f"{x:.4f}°" for x in angles)
                + f"; at 0 the stiffness is {middle:.2f} 1/s²",
                len(found) == 1,
                evidence={"equilibria": len(found), "angle [deg]": angles[-1], "stiffness at 0": middle},
                reason="0 and the mirror image also solve the equation; 0 is unstable",
                corrected=f"three equilibria: 0 (unstable) and ±{angles[-1]:.4f}° (stable)",
                effect="two of three equilibria are overlooked",
                severity="incomplete",
            ),
            number("8.4 a), angle", "θ", "58.7", angles[-1], unit="deg"),
            number("8.4 a), equation", "coefficient of sin θ cos θ", "-32.694", -coefficient),
            number("8.4 b), damping", "coefficient of Δθ'", "2.415", -float(linear.A2[0, 0]), unit="1/s"),
            number("8.4 b), stiffness", "coefficient of Δθ", "133.52", stiffness, unit="1/s²", reason=reason),
            numbers(
                "8.4 c)",
                {"real part": ("-1.2075", root.real), "imaginary part": ("11.492", root.imag)},
                unit="1/s",
                reason=reason,
            ),
            claim(
                "8.4 c), verdict",
                "significant and stable",
                pendula.stability(linear).verdict,
                pendula.stability(linear).verdict == "asymptotically stable",
                evidence={"real part": root.real},
            ),
        ),
        formulas=formulas(free, "By Lagrange"),
        animations=(animation(run, "bar", "Exercise 8.4: the bar settles at 58.69°"),),
    )
