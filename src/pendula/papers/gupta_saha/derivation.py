"""Kinematics, inertia and gravity (eqs. 3-13) against the rod of the library."""

from __future__ import annotations

import numpy as np
import sympy as sp

import pendula
from pendula.papers.gupta_saha.method import (
    ANGLES,
    DATA,
    DIAMETER,
    LENGTH,
    RATES,
    THIRD,
    accelerations,
    functions,
    gravity_terms,
    rate_matrix,
    rotation,
)
from pendula.papers.judge import claim
from pendula.papers.show import formulas, symbolic_formula
from pendula.papers.types import Finding, Line, Text
from pendula.papers.words import in_symbols

EXACT = 1e-11
TWELFTH = sp.Rational(1, 12)


def kinematics(states: int) -> Finding:
    """Q and L against the motion of the body, and where L is singular."""
    system = pendula.compile_system("spatial-rod")
    Q, L = sp.lambdify(ANGLES, rotation()), sp.lambdify(ANGLES, rate_matrix())
    rng = np.random.default_rng(3)
    turned = spun = 0.0
    for _ in range(states):
        q, w = rng.uniform(-2, 2, 3), rng.normal(size=3)
        turned = max(turned, float(np.max(np.abs(system.poses(q)[0][0] - Q(*q)))))
        moving = system.body_motion(q, w)
        spun = max(spun, float(np.max(np.abs(np.asarray(moving.angular_velocity)[0] - L(*q) @ w))))
    determinant = sp.simplify(rate_matrix().det())
    small = [float(abs(np.linalg.det(L(0.3, theta, 0.2)))) for theta in (0.5, 1e-3, 0.0)]
    return Finding(
        lines=(
            claim(
                "eq. 4",
                "the rotation matrix Q of ZYZ angles",
                f"agrees with the pose of the body to {turned:.1g}",
                turned < EXACT,
                evidence={"largest difference": turned},
            ),
            claim(
                "eqs. 5, 6",
                "ω = L θ'",
                f"agrees with the angular velocity of the body to {spun:.1g}",
                spun < EXACT,
                evidence={"largest difference": spun},
            ),
            claim(
                "section 3, end",
                "for θ = 0 the system shows singular behaviour",
                f"det L = {in_symbols(str(determinant.subs(_written())))}, of size {small[0]:.3g} at θ = 0.5 rad, "
                f"{small[1]:.1g} at 0.001 rad and {small[2]:.1g} at 0",
                small[2] < 1e-15 and abs(small[0] - np.sin(0.5)) < 1e-12,
                evidence={"det L at 0.5": small[0], "at 0.001": small[1], "at 0": small[2]},
            ),
        ),
        notes=("The paper writes φ for the first and for the third angle; here the third is ψ",),
        formulas=(
            Text("Rotation matrix (eq. 4)", symbolic_formula("Q", rotation().subs(_written()))),
            Text("Angular velocity ω = L θ' (eq. 6)", symbolic_formula("L", rate_matrix().subs(_written()))),
        ),
    )


def _written() -> dict[sp.Symbol, sp.Symbol]:
    """The angles by the letters of the page."""
    return dict(zip(ANGLES, sp.symbols("phi theta psi"), strict=True))


def inertia(states: int) -> Finding:
    """The inertia matrix, the velocity terms and gravity, as printed and corrected, against the rod of the library."""
    system = pendula.compile_system("spatial-rod")
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.uniform(-1.4, -0.3, (states, 3)), rng.normal(size=(states, 3))], axis=1)
    truth = np.array([system.accelerations(x[:3], x[3:]) for x in points])
    scale = float(np.max(np.abs(truth)))

    def worst(axis: str, share: sp.Expr) -> float:
        found = np.array([accelerations(axis, share, x) for x in points])  # type: ignore[arg-type]
        return float(np.max(np.abs(found - truth)) / scale)

    good, fixed, heavy = worst("body", TWELFTH), worst("fixed", TWELFTH), worst("body", THIRD)
    matrix, _ = functions("body", TWELFTH)
    gap = max(float(np.max(np.abs(matrix(*x[:3]) - system.mass_matrix(x[:3])))) for x in points)
    return Finding(
        lines=(
            _about_the_centre(heavy),
            claim(
                "eq. 10 and its data",
                "i₂ = [1 0 0] in I = (m a²/4) LᵀL − (m a²/4) Lᵀ i₂ i₂ᵀ L + Lᵀ I^c L",
                f"with i₂ in the fixed frame accelerations differ by up to {fixed:.2g} times their size; with i₂ = Q "
                f"[1 0 0]ᵀ by {good:.1g}",
                fixed < 1e-9,
                evidence={"i2 in the fixed frame": fixed, "i2 = Q e1": good},
                reason="L and I^c are in the fixed frame, so i₂ must be turned into it",
                corrected="i₂ = Q [1 0 0]ᵀ",
                effect="the planar start cannot show it, since there the rod moves in one plane of the fixed frame",
                severity="wrong",
            ),
            claim(
                "eqs. 10, 11, corrected",
                "inertia matrix and h",
                f"mass matrix as that of the rod to {gap:.1g} kg m², accelerations to {good:.1g}",
                gap < EXACT and good < 1e-9,
                evidence={"mass matrix": gap, "accelerations": good},
            ),
            _gravity(),
            *_small_ones(),
        ),
        formulas=formulas(pendula.library.spatial_rod(), "By Lagrange, in ZYZ angles"),
    )


def _about_the_centre(heavy: float) -> Line:
    frequency = {}
    for rule in ("consistent", "printed"):
        model = pendula.library.spatial_rod(orientation="quaternion", inertia_rule=rule)
        found = pendula.linear.spectrum(model, pendula.equilibria.lowest_equilibrium(pendula.compile_system(model)))
        frequency[rule] = float(np.max(found.values.imag))
    a, d = float(DATA[LENGTH]), float(DATA[DIAMETER])
    closed = float(np.sqrt(a / 2 * 9.8 / (a**2 / 3 + d**2 / 16)))
    off = frequency["printed"] / frequency["consistent"] - 1
    return claim(
        "I^c after eq. 10",
        "m d²/16 + m a²/3 across the rod, about the mass centre C",
        f"small swings at {frequency['printed']:.4f} instead of {frequency['consistent']:.4f} rad/s ({100 * off:+.0f} "
        f"%); a uniform rod has sqrt((a/2) g/(a²/3 + d²/16)) = {closed:.4f}",
        abs(off) < 1e-6,
        evidence={
            "frequency as printed [rad/s]": frequency["printed"],
            "frequency [rad/s]": frequency["consistent"],
            "closed form": closed,
            "accelerations differ by": heavy,
        },
        reason="m a²/3 is the inertia about the end of a rod; eq. 10 adds m a²/4 again, so 7/12 m a² about the pivot",
        corrected="m d²/16 + m a²/12",
        effect=f"every swing is {abs(100 * off):.0f} % too slow",
        severity="wrong",
    )


def _gravity() -> Line:
    system = pendula.compile_system("spatial-rod")
    gamma = sp.lambdify((*ANGLES, *RATES), list(gravity_terms().subs(DATA)))
    rng = np.random.default_rng(5)
    worst = opposite = 0.0
    for _ in range(20):
        q = rng.uniform(-2, 2, 3)
        h = 1e-5
        slope = np.array(
            [
                (system.energies(q + h * e, 0 * q).potential - system.energies(q - h * e, 0 * q).potential) / (2 * h)
                for e in np.eye(3)
            ]
        )
        printed = np.array(gamma(*q, 0, 0, 0), dtype=float)
        worst, opposite = (
            max(worst, float(np.max(np.abs(printed - slope)))),
            max(opposite, float(np.max(np.abs(printed + slope)))),
        )
    return claim(
        "eq. 13",
        "γ = (0, (m a g/2) cos θ cos ψ, −(m a g/2) sin θ sin ψ)",
        f"the slopes of the potential with gravity along +Z, to {worst:.1g} N m; with Z up all signs flip (difference "
        f"{opposite:.3g} N m)",
        worst < 1e-6,
        evidence={"Z down": worst, "Z up": opposite},
    )


def _small_ones() -> tuple[Line, ...]:
    """Misprints that are shown by counting."""
    masses = len(pendula.library.spatial_rod().bodies)
    dynamics = pendula.compile_system("spatial-rod")
    entries, unknowns = dynamics.mass_matrix(np.array([0.1, -0.7, 0.2])).shape[1], len(dynamics.layout.coordinates)
    return (
        claim(
            "eq. 3",
            "I h'' + h + γ = τ",
            f"the inertia matrix has {entries} columns, for the {unknowns} angles; h is the vector of velocity terms, "
            "which the next term adds",
            entries != unknowns,
            evidence={"columns of I": entries, "angles": unknowns},
            reason="the second derivatives are those of the angles",
            corrected="I θ'' + h + γ = τ",
            effect="none if read as intended",
            severity="incomplete",
        ),
        claim(
            "eq. 12",
            "γ_i = −Σ_{j=1..3} m_j gᵀ ∂c_j/∂θ_i",
            f"the pendulum has {masses} body; a sum over three gives three times eq. 13",
            masses == 3,
            evidence={"bodies": masses},
            reason="one body has one mass centre",
            corrected="γ_i = −m gᵀ ∂c/∂θ_i",
            effect="none if read as intended",
            severity="incomplete",
        ),
    )
