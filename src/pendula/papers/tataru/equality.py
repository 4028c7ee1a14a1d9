"""The free bodies (eq. 3), and the projected equations against Lagrange's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pendula
from pendula.papers.judge import chosen, claim, matrix_words
from pendula.papers.show import formulas
from pendula.papers.tataru.method import Array, Matrices, data, data_words, matrices
from pendula.papers.types import Finding, Line, Text
from pendula.present.report.html import matrix_formula

EXACT = 1e-11
"""relative: the same accelerations by a 12 by 12 system"""


def words(x: Sequence[float] | Array) -> str:
    """Numbers in brackets."""
    return "[" + ", ".join(f"{value + 0.0:.6g}" for value in x) + "]"


def bodies(angles: list[float], rates: list[float]) -> Finding:
    """Equation 3 as printed and corrected."""
    p = data()
    right, wrong = (matrices(np.array(angles), np.array(rates), p, which) for which in ((), ("3",)))
    gap = float(np.max(np.abs(right.accelerations - wrong.accelerations)))
    halved = {name: x / 2 if name[0] == "m" else x for name, x in p.items()}
    other = matrices(np.array(angles), np.array(rates), halved, ("3",)).Omega[9:12, 6:9]
    power = float(np.log2(np.abs(wrong.Omega[9:12, 6:9]).max() / np.abs(other).max()))
    line = claim(
        "eq. 3, lower left",
        "[S][M]",
        f"accelerations {words(wrong.accelerations)} rad/s² instead of {words(right.accelerations)}; the printed "
        "block grows with "
        f"the power {power:.3g} of the mass and does not depend on the speed",
        gap < EXACT,
        evidence={"difference [rad/s^2]": gap, "power of the mass": power},
        reason="the block multiplies a velocity and must give a torque: mass times length times angular velocity",
        corrected="[S_O][ω]",
        effect=f"accelerations wrong by up to {gap:.3g} rad/s² at this state",
        severity="wrong",
    )
    return Finding(lines=(line,), notes=(_state_words(angles, rates),))


def _state_words(angles: Sequence[float], rates: Sequence[float]) -> str:
    return f"at φ = {words(angles)} rad, ω = {words(rates)} rad/s; {data_words()}"


def projection(angles: list[float], rates: list[float], states: int) -> Finding:
    """The matrices of the method for the stated data, and its accelerations against Lagrange's equations."""
    p = data()
    model = pendula.library.double_physical_pendulum()
    system = pendula.compile_system(model, "lagrange")
    one = matrices(np.array(angles), np.array(rates), p)
    rng = np.random.default_rng(4)
    worst = wrong = 0.0
    for _ in range(states):
        q, v = rng.uniform(-3, 3, 2), rng.normal(0, 2, 2)
        ours = system.accelerations(q, v)
        scale = float(np.max(np.abs(ours)))
        worst = max(worst, float(np.max(np.abs(matrices(q, v, p).accelerations - ours))) / scale)
        wrong = max(wrong, float(np.max(np.abs(matrices(q, v, p, ("41",)).accelerations - ours))) / scale)
    M, Omega, Q = one.reduced
    certificate = pendula.check(model, states=20)
    shown = (
        ("Mass matrix of the free bodies (eqs. 2, 52), 12 by 12", "<mi>M</mi>", one.M),
        ("Velocity terms of the free bodies (eqs. 3, 53, corrected), 12 by 12", "<mi>Ω</mi>", one.Omega),
        ("Loads of the free bodies (eqs. 10, 54), transposed", "<msup><mi>Q</mi><mi>T</mi></msup>", one.Q[None]),
        ("Constraint matrix (eqs. 18-23), 10 by 12", "<msub><mi>L</mi><mi>λ</mi></msub>", one.L),
        ("A (eqs. 30-32, corrected), 12 by 2", "<mi>A</mi>", one.A),
        ("Motions that the constraints allow (eq. 34), 12 by 2", "<msub><mi>L</mi><mi>τ</mi></msub>", one.tau),
        ("Reduced mass matrix (eq. 59)", "<mover><mi>M</mi><mo>~</mo></mover>", M),
        ("Reduced Ω̃ (eq. 60)", "<mover><mi>Ω</mi><mo>~</mo></mover>", Omega),
        ("Reduced loads (eq. 62)", "<mover><mi>Q</mi><mo>~</mo></mover>", Q[:, None]),
    )
    printed = tuple(Text(title, matrix_formula(name, x)) for title, name, x in shown)
    lines = (
        chosen(
            "eqs. 59-62",
            "reduced matrices M̃, Ω̃, Q̃ (no numbers are given)",
            f"M̃ = {matrix_words(M.tolist())}, Ω̃ = {matrix_words(Omega.tolist())}, Q̃ = {words(Q.tolist())}",
            data=_state_words(angles, rates),
            evidence={"M11": M[0, 0], "M12": M[0, 1], "M22": M[1, 1], "Q1": Q[0], "Q2": Q[1]},
        ),
        claim(
            "eq. 58, method",
            "the projected equations describe the double pendulum",
            f"corrected, they agree with Lagrange's equations to {worst:.1g} at {states} random states (as printed in "
            "eq. 41: "
            f"differences up to {wrong:.2g}); all formulations agree to "
            f"{max(a.max_difference for a in certificate.pairs):.1g}",
            worst < EXACT and certificate.passed,
            evidence={"largest relative difference": worst, "with eq. 41 as printed": wrong},
        ),
        _by_program(one, angles, rates),
        _equation_66(one.reduced[0]),
    )
    stated = (f"Matrices of the method: {_state_words(angles, rates)}",)
    return Finding(lines=lines, notes=stated, formulas=(*printed, *formulas(model, "By Lagrange")))


def _by_program(one: Matrices, angles: list[float], rates: list[float]) -> Line:
    """The same matrices by the program's own projection method, for any tree of bodies."""
    state = {"phi1": angles[0], "phi2": angles[1], "phi1_dot": rates[0], "phi2_dot": rates[1]}
    found = pendula.derivation.projection_matrices("double-physical-pendulum", state)
    M, Omega, Q = one.reduced
    pairs = ((found.reduced_M, M), (found.reduced_Omega, Omega @ one.rates), (found.reduced_Q, Q))
    gap = max(float(np.max(np.abs(np.asarray(a) - b))) for a, b in pairs)
    sizes = [float(np.linalg.norm(x)) for x in (found.constraint_forces, one.L.T @ one.multipliers)]
    return claim(
        "abstract",
        "the method may be extended to any systems with three or more degrees of freedom as well",
        "projection_matrices applies it to any tree of bodies; here its reduced matrices equal those above "
        f"to {gap:.1g}, and "
        f"the norm of the constraint forces is {sizes[0]:.9g} by both",
        gap < EXACT and abs(sizes[0] / sizes[1] - 1) < EXACT,
        evidence={
            "largest difference": gap,
            "constraint forces": sizes[0],
            "constraint forces, by the paper": sizes[1],
        },
    )


def _equation_66(M: np.ndarray) -> Line:
    """The second row says q' = q': as an equation for the rates of the state it has no content."""
    rates = np.block([[M, np.zeros((2, 2))], [np.zeros((2, 2)), np.eye(2)]])
    on_the_right = np.block([[np.zeros((2, 4))], [np.zeros((2, 2)), np.eye(2)]])  # coefficients of q' on the right
    rank = int(np.linalg.matrix_rank(rates - on_the_right))
    return claim(
        "eq. 66",
        "[[M̃, 0], [0, I]] {ω', q'} = [[Ω̃, 0], [0, I]] {ω, q'} + {Q̃, 0}",
        f"with q' moved to one side the matrix of the four rates has rank {rank}",
        rank == 4,
        evidence={"rank": rank},
        reason="the second row is q' = q', so nothing determines q",
        corrected="second row q' = ω: [[M̃, 0], [0, I]] {ω', q'} = [[Ω̃, 0], [I, 0]] {ω, q} + {Q̃, 0}",
        effect="the system of four equations cannot be integrated",
        severity="wrong",
    )
