"""Exercise 8.1: a bar with a piston at its upper and a slider at its lower end."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim, number, numbers, same_equations
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding, Line
from pendula.results import Equilibria, System

EQUATION = {
    "equations": [
        "(m*l**2/3 + m_p*l**2*sin(theta)**2)*theta_ddot + m_p*l**2*sin(theta)*cos(theta)*theta_dot**2"
        " + c*l**2*cos(theta)**2*theta_dot + k*l**2*sin(theta)*cos(theta) - (m_p*g + m*g/2 + F)*l*sin(theta) = 0"
    ]
}


def piston(stiffness: float) -> Finding:
    """Equilibria, linear equations, roots, and the range of the stiffness."""
    model = pendula.library.piston_bar()
    system = pendula.compile_system(model)
    stiff = {"k": stiffness}
    soft, firm = pendula.find_equilibria(model), pendula.find_equilibria(model.with_parameters(stiff))
    top = pendula.linearize(system, {"theta": 0.0})
    held = pendula.linearize(system, {"theta": 0.0}, parameters=stiff)
    side = max(float(e["theta"]) for e in firm if 0.01 < abs(e["theta"]) < 3)
    new = pendula.linearize(system, {"theta": side}, parameters=stiff)
    roots = {name: pendula.linear.spectrum(m).values for name, m in (("top", top), ("held", held), ("new", new))}
    run = pendula.simulate(system, 6.0)
    return Finding(
        lines=(
            same_equations("8.1", "the equation of motion in θ", model, EQUATION),
            _at_rest(system, soft),
            numbers(
                "8.1 b), c)",
                {
                    "coefficient of s²": ("0.165631", top.M[0, 0]),
                    "of s": ("0.8", top.C[0, 0]),
                    "constant term": ("-30", top.K[0, 0]),
                },
            ),
            numbers(
                "8.1 c), roots",
                {"s₁": ("11.258", max(roots["top"].real)), "s₂": ("-16.088", min(roots["top"].real))},
                unit="1/s",
            ),
            *_limit(system, model),
            numbers(
                "8.1 e)",
                {
                    "coefficient of s²": ("0.165631", held.M[0, 0]),
                    "of s": ("0.8", held.C[0, 0]),
                    "constant term": ("10", held.K[0, 0]),
                    "real part": ("-2.415", roots["held"][0].real),
                    "imaginary part": ("7.385", abs(roots["held"][0].imag)),
                },
            ),
            _new_ones(firm, side),
            _verdicts(system, side, stiff),
            number("8.1 f), angle", "θ", "25.8419", float(np.rad2deg(side)), unit="deg"),
            numbers(
                "8.1 g)",
                {
                    "coefficient of s²": ("0.236439", new.M[0, 0]),
                    "of s": ("0.648", new.C[0, 0]),
                    "constant term": ("-19", new.K[0, 0]),
                },
            ),
            numbers(
                "8.1 g), roots",
                {"s₁": ("7.6981", max(roots["new"].real)), "s₂": ("-10.439", min(roots["new"].real))},
                unit="1/s",
            ),
        ),
        notes=(
            "The spring pulls from a point two lengths away: the root in its force is l (2 + sin θ), so the force is "
            "−k l² sin θ cos θ",
        ),
        formulas=formulas(model, "By Lagrange"),
        animations=(animation(run, "falls", "Exercise 8.1: with k = 15 lb/ft the bar falls from 5°"),),
    )


def _at_rest(system: System, soft: Equilibria) -> Line:
    """The equilibria with the paper's stiffness, and the roots at the one it overlooks."""
    below = pendula.linear.spectrum(system, {"theta": np.pi}).values
    pi_verdict = pendula.stability(system, {"theta": np.pi}).verdict
    return claim(
        "8.1 a)",
        "θ = 0 is the only equilibrium position",
        f"{len(soft)} equilibria, completeness {soft.complete}: "
        + ", ".join(f"{np.rad2deg(float(e['theta'])):.4g}°" for e in soft)
        + f"; at 180° the roots are {below[0].real:.3f} ± j{abs(below[0].imag):.3f} ({pi_verdict})",
        len(soft) == 1,
        evidence={
            "equilibria": len(soft),
            "real part at pi": below[0].real,
            "imaginary part at pi": abs(below[0].imag),
        },
        reason="sin θ = 0 at θ = π too, with the bar below the rail",
        corrected="θ = 0 is the only equilibrium with |θ| < π",
        effect="a second, stable position of the bar is overlooked",
        severity="incomplete",
    )


def _new_ones(firm: Equilibria, side: float) -> Line:
    """The equilibria with the larger stiffness."""
    others = sorted(float(e["theta"]) for e in firm)
    return claim(
        "8.1 f)",
        "one new equilibrium, θ ≈ 25.8419°",
        f"{len(firm)} equilibria: " + ", ".join(f"{np.rad2deg(x):.4f}°" for x in others),
        sum(0.01 < abs(x) < 3 for x in others) == 1,
        evidence={
            "angle [deg]": float(np.rad2deg(side)),
            "equilibria": len(firm),
            "new ones": sum(0.01 < abs(x) < 3 for x in others),
        },
        reason="the cosine is even",
        corrected=f"two new equilibria, ±{np.rad2deg(side):.4f}°",
        effect="one of two positions is overlooked",
        severity="incomplete",
    )


def _verdicts(system: System, side: float, stiff: dict[str, float]) -> Line:
    """Parts c), e) and g): stability of the three linear models."""
    found = [
        pendula.stability(system, {"theta": 0.0}),
        pendula.stability(system, {"theta": 0.0}, parameters=stiff),
        pendula.stability(system, {"theta": side}, parameters=stiff),
    ]
    return claim(
        "8.1 c), e), g), verdicts",
        "significant and unstable; significant and stable; significant and unstable",
        "; ".join(f"{one.behavior}, {one.verdict}" for one in found),
        [one.is_stable for one in found] == [False, True, False] and all(x.behavior == "significant" for x in found),
        evidence={
            f"largest real part, {k}": float(max(x.spectrum.values.real)) for k, x in zip("ceg", found, strict=True)
        },
    )


def _limit(system: System, model: pendula.Model) -> tuple[Line, ...]:
    """The limit of the stiffness, and how it depends on the length."""
    ranges = pendula.linear.stability_over(system, "k", 0, 50, at={"theta": 0})
    edge = ranges.critical[0].stability
    doubled = {"l": 2 * model.parameter_values["l"]}
    longer = pendula.linear.stability_over(system, "k", 0, 50, at={"theta": 0}, parameters=doubled)
    limits = float(ranges.values[0]), float(longer.values[0])
    return (
        number("8.1 d)", "limit of k", "22.5", float(ranges.values[0]), unit="lb/ft"),
        claim(
            "8.1 d), unit",
            "k > 22.5 (ft-lb/rad)",
            f"the limit is {limits[0]:g}, and {limits[1]:g} with twice the length: it is a force per length; at the "
            "limit "
            f"itself the equilibrium is {edge.verdict if edge else 'not judged'}, because "
            f"{edge.proof if edge else 'not judged'}",
            bool(np.isclose(limits[1], 2 * limits[0])),  # as the limit of a torque per angle would
            evidence={"limit": limits[0], "limit with twice the length": limits[1]},
            reason="k acts along the rail and is 15 lb/ft in the data; a torque per angle would not balance k l²",
            corrected=f"k > {limits[0]:g} lb/ft, strictly",
            effect="a stiffness in the wrong unit",
            severity="incomplete",
        ),
    )
