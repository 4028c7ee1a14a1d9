"""What the text says about linear functions, state matrices, roots and stability, tried on simple mechanisms."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

import pendula
from pendula.papers.judge import claim
from pendula.papers.types import Finding
from pendula.results import System

EXACT = 1e-10


def theory(duration: float) -> Finding:
    """A body that slides freely has two zero roots, no positive real part, and moves away without bound."""
    slider = pendula.Model(
        name="slider",
        gravity=[0, 0, 0],
        bodies=[{"name": "block", "point": {"mass": 1}}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "block"}],
    )
    system = pendula.compile_system(slider)
    found = pendula.stability(system, {})
    (root,) = found.spectrum.eigenvalues
    pushed = 1e-3
    run = pendula.simulate(system, duration, initial_state={"x": 0.0, "x_dot": pushed})
    moved = float(run["x"][-1])
    return Finding(
        lines=(
            claim(
                "stability of one degree of freedom",
                "infinitesimally stable if the roots have nonpositive real parts (cases 1 or 2)",
                f"a body that slides freely: root {root.value.real:g}, {root.multiplicity} times, not semisimple; "
                f"pushed at {pushed:g} m/s it has moved {moved:.4g} m after {duration:g} s and goes on in "
                "proportion to time",
                moved < 2 * pushed,
                evidence={
                    "root": root.value.real,
                    "multiplicity": root.multiplicity,
                    "moved": moved,
                    "semisimple": root.semisimple,
                },
                reason="repeated roots on the imaginary axis may belong to motions that grow with time",
                corrected="nonpositive real parts, and roots on the imaginary axis semisimple",
                effect="a motion that grows without bound would be called stable",
                severity="wrong",
            ),
        ),
        notes=(f"Verdict on the sliding body: {found.verdict}",),
    )


def _at_the_side() -> tuple[System, float]:
    """The bead of example 1 and its equilibrium at the side of the hoop, where nothing is zero by symmetry."""
    system = pendula.compile_system(pendula.library.hoop_bead())
    p = system.model.parameter_values
    return system, float(np.arccos(p["g"] / p["r"] / p["Omega"] ** 2))


def approximations(excursions: list[float], directions: int) -> Finding:
    """Equations 1 to 4 with the acceleration of the bead as a function of its angle, and of its angle and rate."""
    system, angle = _at_the_side()
    multipliers = pendula.linearize(system, {"theta": angle}).A[1]  # eqs. 2 and 4

    def change(x: np.ndarray) -> float:
        return float(system.accelerations([angle + x[0]], [x[1]])[0] - system.accelerations([angle], [0.0])[0])

    h = 1e-4
    numeric = [(change(h * e) - change(-h * e)) / (2 * h) for e in np.eye(2)]
    slopes = float(np.max(np.abs(np.array(numeric) - multipliers)))
    rng = np.random.default_rng(1)
    ways = {"eq. 1": [np.array([1.0, 0.0])], "eq. 3": list(rng.normal(size=(directions, 2)))}
    lines = []
    for where, several in ways.items():
        gaps = np.array([[abs(change(h * d) - h * d @ multipliers) for h in excursions] for d in several])
        worst = gaps.max(axis=0)
        order = float(np.log(worst[0] / worst[-1]) / np.log(excursions[0] / excursions[-1]))
        printed = "Δf = f(x_eq + Δx) − f(x_eq) = m Δx" if where == "eq. 1" else "Δf = Σ m_i Δx_i"
        lines.append(
            claim(
                where,
                printed,
                f"acceleration of the bead of example 1 about θ = {angle:.4f} rad: at Δ = {excursions[0]:g} the "
                f"sides differ by up to {worst[0]:.2g} 1/s², at {excursions[-1]:g} by {worst[-1]:.2g}: with the "
                f"power {order:.3g} of Δ",
                float(worst[0]) < EXACT,
                evidence={f"difference at {h:g}": x for h, x in zip(excursions, worst, strict=True)} | {"power": order},
                reason="the sides are equal only for linear functions; the series above it has ≈",
                corrected=printed.replace("= m", "≈ m").replace("= Σ", "≈ Σ"),
                severity="harmless",
            )
        )
    lines.append(
        claim(
            "eqs. 2, 4",
            "m = df/dx and m_i = ∂f/∂x_i at the equilibrium",
            f"the multipliers by θ and θ', {multipliers[0]:.6g} 1/s² and {multipliers[1]:.6g} 1/s in the linear "
            f"model of the bead, are the slopes of its acceleration to {slopes:.1g}, and what they leave falls with "
            "the square of Δ",
            slopes < 1e-6,
            evidence={"largest difference": slopes, "by the angle": multipliers[0], "by the rate": multipliers[1]},
            reason="the slopes differ",
            corrected="the slopes",
            severity="wrong",
        )
    )
    return Finding(lines=tuple(lines))


def state_matrix(duration: float, excursions: list[float]) -> Finding:
    """Equation 36 about a place that is not zero, and equation 37 for the double pendulum."""
    system, angle = _at_the_side()
    A = pendula.linearize(system, {"theta": angle}).A
    rate = A @ np.array([angle, 0.0])  # [A]{z} as printed, at rest
    gaps = []
    for size in excursions:
        run = pendula.simulate(system, duration, initial_state={"theta": angle + size, "theta_dot": 0.0}, tol=1e-12)
        linear = expm(A * duration) @ np.array([size, 0.0])
        gaps.append(float(abs(run["theta"][-1] - angle - linear[0]) / size))
    order = float(np.log(gaps[0] / gaps[-1]) / np.log(excursions[0] / excursions[-1]))
    double = pendula.linearize("double-pendulum", {})
    polynomial, values = np.poly(double.A), pendula.linear.spectrum(double).values
    left = float(max(abs(np.linalg.det(double.A - x * np.eye(4))) for x in values) / abs(polynomial[-1]))
    return Finding(
        lines=(
            claim(
                "eq. 36",
                "{ż} = [A] {z}, with z = {x, y} of eq. 16",
                f"at rest at the side of the hoop, θ = {angle:.4f} rad, [A] {{z}} is {rate[1]:.4g} 1/s² although "
                "nothing moves; with the deviations Δz it is 0",
                float(np.max(np.abs(rate))) < EXACT,
                evidence={"[A] z at rest [1/s^2]": rate[1], "angle [rad]": angle},
                reason="the matrix multiplies deviations from the equilibrium, as in the line before; they are z "
                "only about z = 0",
                corrected="{ż} = [A] {Δz}",
                effect="a motion at rest, about every equilibrium that is not at zero",
                severity="incomplete",
            ),
            claim(
                "eq. 36, corrected",
                "the deviations follow a linear equation with constant [A]",
                f"after {duration:g} s the bead released {excursions[0]:g} rad from the side is where e^(A t) puts "
                f"it to {gaps[0]:.1g} of this distance, from {excursions[-1]:g} rad to {gaps[-1]:.1g}: with the "
                f"power {order:.3g}",
                abs(order - 1) < 0.1,
                evidence={f"relative difference from {h:g} rad": x for h, x in zip(excursions, gaps, strict=True)}
                | {"power": order},
                reason="the motions differ",
                corrected="see the numbers",
                severity="wrong",
            ),
            claim(
                "eq. 37",
                "det([A] − λ[I]) = 0 is a polynomial equation of order n for an n × n matrix, and its roots are the "
                "eigenvalues",
                f"double pendulum, {len(double.A)} × {len(double.A)}: a polynomial of order {len(polynomial) - 1} "
                f"with the {len(values)} eigenvalues as roots; the determinant there is {left:.1g} of that at λ = 0",
                len(polynomial) - 1 == len(double.A) == len(values) and left < 1e-9,
                evidence={"order": len(polynomial) - 1, "rows": len(double.A), "determinant": left},
                reason="the roots differ",
                corrected="the eigenvalues",
                severity="wrong",
            ),
        )
    )
