"""Figures 2 and 3, and the constraint forces of section 7."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.show import animation
from pendula.papers.tataru.equality import words
from pendula.papers.tataru.method import data, data_words, matrices
from pendula.papers.types import Finding, Line
from pendula.papers.words import in_symbols
from pendula.present.pictures.curves import Chart, curve
from pendula.results import Trajectory

TOLERANCE = 1e-10
CLOSE = 1e-8


def _run(duration: float) -> Trajectory:
    system = pendula.compile_system(pendula.library.double_physical_pendulum())
    return pendula.simulate(system, duration, tol=TOLERANCE, samples=601)


def motion(duration: float) -> Finding:
    """Angular velocities and accelerations over time, and the energy with equation 41 as printed."""
    run = _run(duration)
    acceleration = np.stack([run["phi1_ddot"], run["phi2_ddot"]], axis=1)
    printed = _as_printed(run)
    energy = run.system.energies(printed[:, :2], printed[:, 2:])
    total = np.asarray(energy.kinetic + energy.potential)
    gained = float(np.max(np.abs(total - total[0])))
    start = f"from φ = {words(np.rad2deg(run.q[0]))}° at rest; {data_words()}"
    lines = (
        chosen(
            "figures 2 and 3",
            "angular speeds and accelerations over time (the figures state no data)",
            f"in {duration:g} s |ω₁| ≤ {np.abs(run.v[:, 0]).max():.4g}, |ω₂| ≤ {np.abs(run.v[:, 1]).max():.4g} rad/s; "
            "|ω₁'| ≤ "
            f"{np.abs(acceleration[:, 0]).max():.4g}, |ω₂'| ≤ {np.abs(acceleration[:, 1]).max():.4g} rad/s²; energy "
            f"drift {run.energy_drift:.1g}",
            data=start,
            evidence={
                "largest omega1": np.abs(run.v[:, 0]).max(),
                "largest omega2": np.abs(run.v[:, 1]).max(),
                "energy drift": run.energy_drift,
            },
        ),
        claim(
            "eq. 41 in motion",
            "the printed equations describe a pendulum without friction",
            f"integrated as printed the energy changes by {gained:.3g} J in {duration:g} s; corrected by "
            f"{float(np.max(np.abs(run.energy.total - run.energy.total[0]))):.1g} J",
            gained < 1e-3,
            evidence={
                "change of energy as printed [J]": gained,
                "corrected [J]": float(np.max(np.abs(run.energy.total - run.energy.total[0]))),
            },
            reason="the misprint −R_1 ω_1 acts like a force that does work",
            corrected="−R_2 ω_2 in eq. 41",
            effect=f"energy is not conserved: {gained:.3g} J of {run.energy.scale:.3g} J",
            severity="wrong",
        ),
    )
    time = "time [s]"
    return Finding(
        lines=lines,
        figures=(
            Chart(
                "figure-2",
                "Figure 2: angular velocities",
                time,
                "angular velocity [rad/s]",
                tuple(curve(in_symbols(f"omega{i + 1}"), run.t, run.v[:, i]) for i in range(2)),
            ),
            Chart(
                "figure-3",
                "Figure 3: angular accelerations",
                time,
                "angular acceleration [rad/s²]",
                tuple(curve(in_symbols(f"omega{i + 1}_dot"), run.t, acceleration[:, i]) for i in range(2)),
            ),
            Chart(
                "energy",
                "Energy with eq. 41 as printed and corrected",
                time,
                "energy minus initial energy [J]",
                (
                    curve("as printed", run.t, total - total[0]),
                    curve("corrected", run.energy.t, run.energy.total - run.energy.total[0]),
                ),
            ),
        ),
        animations=(animation(run, "motion", "Two hinged bodies, from 60° and 20°"),),
    )


def _as_printed(run: Trajectory) -> np.ndarray:
    """Angles and rates at the samples of a run, by equation 41 as printed."""
    p = data()

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], matrices(x[:2], x[2:], p, ("41",)).accelerations])

    start = np.concatenate([run.q[0], run.v[0]])
    found = solve_ivp(rates, (run.t[0], run.t[-1]), start, rtol=1e-8, atol=1e-8, t_eval=run.t)
    return np.asarray(found.y.T)


def forces(angles: list[float], rates: list[float], duration: float) -> Finding:
    """Multipliers by equation 77, and the constraint forces against the reactions found by Newton and Euler."""
    p = data()
    run = _run(duration)
    found = pendula.reactions(run)
    worst, sizes = 0.0, []
    for k in range(0, len(run.t), 20):
        one = matrices(run.q[k], run.v[k], p)
        constraint = one.L.T @ one.multipliers  # eq. 81
        second = _in_world(constraint[6:9], run.q[k, 1])
        first = _in_world(constraint[:3], run.q[k, 0]) + second  # body 1 also carries the reaction to joint 2
        sizes.append((run.t[k], np.linalg.norm(first), np.linalg.norm(second)))
        worst = max(
            worst, *(float(np.max(np.abs(a - found[f"phi{i}"].force[k]))) for i, a in ((1, first), (2, second)))
        )
    largest = float(np.max(np.abs(found["phi1"].force)))
    one = matrices(np.array(angles), np.array(rates), p)
    v, v_rate = one.body_rates
    left = float(np.max(np.abs(one.M @ v_rate + one.Omega @ v - one.Q - one.L.T @ one.multipliers)))
    at = np.array(sizes)
    lines = (
        _sizes_71(one.tau.shape, one.Omega.shape, one.L.shape),
        claim(
            "eqs. 75, 77, 81",
            "multipliers and constraint forces from the projected motion",
            f"with L₂ = L_λ Ω the equations of the free bodies are satisfied to {left:.1g}; along the motion the "
            "forces in both hinges "
            f"agree with those of Newton and Euler to {worst:.1g} N of {largest:.3g} N",
            left < 1e-10 and worst < CLOSE * largest,
            evidence={"left over": left, "largest difference [N]": worst, "largest force [N]": largest},
        ),
        chosen(
            "eq. 80",
            "the ten multipliers (no numbers are given)",
            f"λ = {words(one.multipliers)}",
            data=f"state φ = {words(angles)} rad, ω = {words(rates)} rad/s; {data_words()}",
            evidence={f"lambda {k + 1}": x for k, x in enumerate(one.multipliers.tolist())},
        ),
    )
    chart = Chart(
        "forces",
        "Forces in the hinges",
        "time [s]",
        "force [N]",
        (
            curve("O₁, reactions", run.t, np.linalg.norm(found["phi1"].force, axis=1)),
            curve("O₂, reactions", run.t, np.linalg.norm(found["phi2"].force, axis=1)),
            curve("O₁, eq. 81", at[:, 0], at[:, 1], style="points", color=0),
            curve("O₂, eq. 81", at[:, 0], at[:, 2], style="points", color=1),
        ),
    )
    return Finding(lines=lines, figures=(chart,))


def _in_world(body: np.ndarray, angle: float) -> np.ndarray:
    """A vector in body axes of the paper (x down) in world axes of the model (y up)."""
    down, right = np.cos(angle) * body[0] - np.sin(angle) * body[1], np.sin(angle) * body[0] + np.cos(angle) * body[1]
    return np.array([right, -down, body[2]])


def _sizes_71(tau: tuple[int, ...], omega: tuple[int, ...], L: tuple[int, ...]) -> Line:
    return claim(
        "eqs. 71, 73",
        "[L_λ]ᵀ as the factor, and L₂ = [L_τ][Ω]",
        f"L_τ is {tau[0]} by {tau[1]} and Ω {omega[0]} by {omega[1]}: the product does not exist; L_λ ({L[0]} by "
        f"{L[1]}) times Ω does",
        tau[1] == omega[0],
        evidence={"columns of L_tau": tau[1], "rows of Omega": omega[0], "columns of L_lambda": L[1]},
        reason="the relation is multiplied by L_λ (as in eqs. 72, 74, 75), not by its transpose, and every term gets "
        "the same factor",
        corrected="multiply (45) by L_λ; L₂ = L_λ Ω",
        effect="the multipliers cannot be computed as printed",
        severity="wrong",
    )
