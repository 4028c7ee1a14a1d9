"""Examples 1 and 4: a bead in a hoop that turns about its vertical diameter."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim, same_equations
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding, Line, Table
from pendula.papers.words import root_words
from pendula.present.pictures.curves import Chart, curve

EQUATION_5 = {"equations": ["theta_ddot + c/m*theta_dot - Omega**2*sin(theta)*cos(theta) + g/r*sin(theta) = 0"]}
EXACT = 1e-10


def hoop(slow: float) -> Finding:
    """Equation of motion, equilibria, and the linear equation about the bottom."""
    model = pendula.library.hoop_bead()
    system = pendula.compile_system(model)
    fast, few = pendula.find_equilibria(model), pendula.find_equilibria(model.with_parameters({"Omega": slow}))
    values = model.parameter_values
    squared = values["Omega"] ** 2
    angles = sorted(float(e["theta"]) for e in fast)
    linear = pendula.linearize(system, {"theta": 0.0})
    stiffness, damping = -float(linear.A1[0, 0]), -float(linear.A2[0, 0])
    expected = (values["g"] / values["r"] - squared, values["c"] / values["m"])
    run = pendula.simulate(system, 30.0)
    return Finding(
        lines=(
            same_equations("eq. 5", "θ'' + (c/m) θ' − Ω² sin θ cos θ + (g/r) sin θ = 0", model, EQUATION_5),
            claim(
                "example 1, equilibria",
                "three equilibrium positions: 0, π and acos(g/(r Ω²)); the third only if Ω² > g/r",
                f"Ω² = {squared:g}, g/r = {values['g'] / values['r']:g} 1/s²: {len(fast)} ("
                + ", ".join(f"{x:.4f}" for x in angles)
                + f" rad), completeness {fast.complete}; Ω = {slow:g} rad/s: {len(few)}",
                len(fast) == 3,
                evidence={"equilibria, fast": len(fast), "equilibria, slow": len(few), "angle [rad]": angles[-2]},
                reason="the cosine is even: −acos(g/(r Ω²)) is an equilibrium too",
                corrected="four equilibria if Ω² > g/r: 0, π, ±acos(g/(r Ω²)); otherwise two: 0 and π",
                effect="one of the two positions at the side is overlooked",
                severity="incomplete",
            ),
            claim(
                "eq. 7",
                "Δθ'' + (c/m) Δθ' + (g/r − Ω²) Δθ = 0",
                f"damping {damping:.6g}, stiffness {stiffness:.6g}; c/m = {expected[1]:.6g}, g/r − Ω² = "
                f"{expected[0]:.6g}",
                bool(np.allclose([stiffness, damping], expected, rtol=EXACT)),
                evidence={"stiffness": stiffness, "g/r - Omega^2": expected[0], "damping": damping, "c/m": expected[1]},
            ),
        ),
        formulas=formulas(model, "By Lagrange"),
        animations=(
            animation(
                run,
                "bead",
                "The bead settles at the side",
                note="Ω² = 20 1/s², from the initial state of the library",
            ),
        )
        if run.ok
        else (),
    )


def cases(rates: int, dampings: int) -> Finding:
    """The cases of example 4 over Omega and c, with the over-damped border, and those that the paper omits."""
    model = pendula.library.hoop_bead()
    system = pendula.compile_system(model)
    p = model.parameter_values
    limit = float(np.sqrt(p["g"] / p["r"]))
    agree = total = 0
    rows: list[tuple[str | float, ...]] = []
    for omega in np.linspace(0.5, 6.0, rates):
        for c in np.linspace(0.25, 12.0, dampings):
            for name, (at, stiffness) in _places(float(omega), p).items():
                found = pendula.stability(system, at, parameters={"Omega": float(omega), "c": float(c)})
                wanted = _printed_case(stiffness, float(c) / (2 * p["m"]))
                agree += (found.verdict, *sorted(set(found.roots))) == wanted
                total += 1
                if len(rows) < 6 and not any(row[0] == name and row[4] == ", ".join(wanted[1:]) for row in rows):
                    roots = ", ".join(root_words(complex(x)) for x in found.spectrum.values)
                    values = (float(f"{omega:.3g}"), float(f"{c:.3g}"))
                    rows.append((name, *values, found.verdict, ", ".join(wanted[1:]), roots))
    lines = (
        claim(
            "example 4, a) and b)",
            "the cases: over-damped, under-damped and (at θ = 0 beyond Ω² = g/r) unstable",
            f"{agree} of {total} verdicts over Ω and c agree with the printed conditions",
            agree == total,
            evidence={"agreeing": agree, "cases": total},
            reason="some verdicts differ",
            corrected="see the table",
            severity="wrong",
        ),
        _omitted(system, limit),
        _border(system, limit, p),
    )
    head = ("Equilibrium", "Ω [rad/s]", "c [kg/s]", "Verdict", "Roots are", "Values [1/s]")
    return Finding(
        lines=lines,
        tables=(Table("One case of each kind", head, tuple(rows)),),
        figures=(_chart(p, limit),),
    )


def _places(omega: float, p: dict[str, float]) -> dict[str, tuple[dict[str, float], float]]:
    """Equilibria of the paper with the stiffness that it prints (per m r^2)."""
    ratio = p["g"] / p["r"]
    found = {"bottom": ({"theta": 0.0}, ratio - omega**2)}
    if omega**2 > ratio:
        found["side"] = ({"theta": float(np.arccos(ratio / omega**2))}, (omega**4 - ratio**2) / omega**2)
    return found


def _printed_case(stiffness: float, half: float) -> tuple[str, ...]:
    """Verdict and kind of roots by the conditions that the paper prints."""
    if stiffness < 0:
        return ("unstable", "decaying", "growing")
    return ("asymptotically stable", "over-damped" if half**2 > stiffness else "under-damped")


def _omitted(system: pendula.results.System, limit: float) -> Line:
    top = pendula.stability(system, {"theta": np.pi})
    edge = pendula.stability(system, {"theta": 0.0}, parameters={"Omega": limit})
    bare = pendula.stability(system, {"theta": 0.0}, parameters={"Omega": 1.0, "c": 0.0})
    fastest = float(np.max(top.spectrum.values.real))
    slowest = float(np.max(edge.spectrum.values.real))
    real = float(np.max(np.abs(bare.spectrum.values.real)))
    return claim(
        "example 4, end of a)",
        "in all three cases the behaviour is significant",
        f"θ = π: {top.verdict} (root +{fastest:.5g}); Ω² = g/r: {edge.behavior}, largest root {slowest:.1g}, "
        f"{edge.verdict}, because {edge.proof}; c = 0: {bare.behavior}, real parts {real:.1g}, {bare.verdict}",
        edge.behavior == "significant" and bare.behavior == "significant",
        evidence={
            "largest root at the top": fastest,
            "largest root at the limit": slowest,
            "real parts without damping": real,
        },
        reason="three cases are missing: θ = π, Ω² = g/r and c = 0; the last two are critical",
        corrected="add θ = π (always unstable), Ω² = g/r (critical, but stable by the energy) and c = 0 (critical, "
        "stable)",
        effect="border cases would be judged by a linear model that cannot decide them",
        severity="incomplete",
    )


def _border(system: pendula.results.System, limit: float, p: dict[str, float]) -> Line:
    """The border between over- and under-damped motion, located by bisection, against (c/2m)^2 = g/r - Omega^2."""
    worst = 0.0
    for omega in (0.5, 1.5, 2.5, 4.0, 5.5):
        for at, stiffness in list(_places(omega, p).values()):
            if stiffness <= 0:
                continue
            low, high = 0.01, 40.0
            for _ in range(40):
                middle = (low + high) / 2
                kind = pendula.stability(system, at, parameters={"Omega": omega, "c": middle}).roots
                low, high = (middle, high) if "under-damped" in kind else (low, middle)
            exact = 2 * p["m"] * np.sqrt(stiffness)
            worst = max(worst, abs(low / exact - 1))
    return claim(
        "example 4, conditions of cases 1 and 2",
        "the border is (c/2m)² = g/r − Ω², and (c/2m)² = (r²Ω⁴ − g²)/(r²Ω²) at the side",
        f"borders located by bisection of the verdicts agree to {worst:.1g}, limit of the bottom Ω = {limit:.6g} rad/s",
        worst < 1e-6,
        evidence={"largest relative difference": worst, "limit [rad/s]": limit},
        reason="the border is elsewhere",
        corrected="see the figure",
        severity="wrong",
    )


def _chart(p: dict[str, float], limit: float) -> Chart:
    slow, fast = np.linspace(0.0, limit, 120), np.linspace(limit, 6.0, 160)
    ratio = p["g"] / p["r"]
    side = 2 * p["m"] * np.sqrt(np.maximum(fast**4 - ratio**2, 0.0)) / fast
    return Chart(
        "cases",
        "Example 4: cases over Ω and c",
        "Ω [rad/s]",
        "damping c [kg/s]",
        (
            curve("bottom: over-damped above", slow, 2 * p["m"] * np.sqrt(np.maximum(ratio - slow**2, 0.0))),
            curve("side: over-damped above", fast, side),
            curve("Ω² = g/r: right of it the bottom is unstable", [limit, limit], [0.0, 12.0], style="dashed"),
        ),
    )
