"""Section 5.2: normal modes of n links, and how far the motion deviates from them (figures 13 to 20)."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.show import animation
from pendula.papers.types import Animation, Finding, Line, Table
from pendula.present.pictures.curves import Chart, curve


def small_angles(links: int) -> Finding:
    """Equation 61, the meaning of the eigenvalues, and which equilibria are stable."""
    model = pendula.library.chain(links=links, start=0)
    found = pendula.modes(model, {})
    squares = found.frequencies**2
    return Finding(lines=(_cosine(found, squares, links), _products(model), _stable(5)))


def _cosine(found: pendula.results.Modes, squares: np.ndarray, links: int) -> Line:
    system = pendula.compile_system(pendula.library.chain(links=links, start=0))
    mode = found.modes[0]
    period = float(mode.period or 0.0)
    start = {f"theta{i + 1}": 1e-3 * float(x) for i, x in enumerate(mode.shape)}
    run = pendula.simulate(system, 2 * period, initial_state=start, tol=1e-11, samples=401)
    shape = np.array(list(start.values()))
    right, wrong = (
        float(np.max(np.abs(run.q - shape * np.cos(rate * run.t)[:, None])) / np.abs(shape).max())
        for rate in (float(np.sqrt(squares[0])), float(squares[0]))
    )
    words = ", ".join(f"{x:.4g}" for x in squares)
    return claim(
        "5.2, actual normal modes",
        "v_i cos(λ_i), with λ_i the eigenvalues of M⁻¹K",
        f"n = {links}: λ = {words} 1/s², frequencies {', '.join(f'{np.sqrt(x):.5g}' for x in squares)} rad/s; the "
        "motion along mode 1 follows "
        f"cos(√λ t) to {right:.1g} of its amplitude and departs from cos(λ t) by {wrong:.2g} times its amplitude",
        wrong < 1e-3,
        evidence={"deviation from cos(sqrt(lambda) t)": right, "deviation from cos(lambda t)": wrong}
        | {f"lambda {k + 1}": x for k, x in enumerate(squares)},
        reason="λ is the square of the frequency, and the time is missing",
        corrected="v_i cos(√λ_i t)",
        effect="frequencies wrong by their own factor",
        severity="wrong",
    )


def _products(model: pendula.Model) -> Line:
    """Velocity terms of the equations: linear in products of rates, not in the angles."""
    system = pendula.compile_system(model)
    n = len(system.layout.speeds)
    q = np.linspace(0.01, 0.02, n)
    still, moving = (
        np.asarray(system.accelerations(q, w)) for w in (np.zeros(n), np.full(n, 5.0) * (1.0 + np.arange(n)))
    )
    left = float(np.max(np.abs(moving - still)))
    return claim(
        "eq. 61",
        "θ_i² → 0 and θ_i θ_j → 0, with which all θ_i' terms drop out",
        f"at angles of 0.01 to 0.02 rad and rates of 5 to {5 * n} rad/s the rates change the accelerations by "
        f"{left:.3g} rad/s²",
        left < 1e-9,
        evidence={"change of accelerations [rad/s^2]": left},
        reason="the terms are products θ_i θ_j'², small only if the rates are small as well",
        corrected="add θ_i' θ_j' → 0",
        effect="velocity terms remain if only the angles are small",
        severity="incomplete",
    )


def _stable(links: int) -> Line:
    model = pendula.library.chain(links=links)
    found = pendula.find_equilibria(model)
    system = pendula.compile_system(model)
    stable = [e for e in found if pendula.stability(system, e).is_stable]
    lowest = float(max(abs(e.q).max() for e in stable))
    shaken = pendula.driven.floquet(pendula.library.inverted_chain(), at={"theta3": np.pi})
    return claim(
        "5.2, 5.4",
        "the only stable equilibrium is θ_i = 0",
        f"n = {links}: {len(found)} equilibria ({found.complete}), {len(stable)} stable, at {lowest:.1g} rad. With a "
        "driven base it does not hold: "
        f"the paper's own inverted chain has Floquet multipliers of size {shaken.radius:.9g} ({shaken.verdict})",
        len(found) == 2**links and len(stable) == 1,
        evidence={
            "equilibria": len(found),
            "stable": len(stable),
            "size of the multipliers of the inverted chain": shaken.radius,
        },
    )


def normal_modes(largest: int, divisor: float, periods: float) -> Finding:
    """Figures 13 to 20: motions from eigenvectors divided by 10, for 2 to 5 links, and their deviation."""
    figures: list[Chart] = []
    animations: list[Animation] = []
    rows, worst, first = [], {}, {}
    for n in range(2, largest + 1):
        system = pendula.compile_system(pendula.library.chain(links=n, start=0))
        found = pendula.modes(system, {})
        motions, gaps = [], []
        duration = periods * float(found.modes[0].period or 0.0)
        for mode in found.modes:
            shape = np.real(mode.shape) / np.linalg.norm(mode.shape) / divisor
            omega = float(mode.frequency or 0.0)
            start = {f"theta{i + 1}": float(x) for i, x in enumerate(shape)}
            run = pendula.simulate(system, duration, initial_state=start, tol=1e-11, samples=601)
            linear = shape * np.cos(omega * run.t)[:, None]
            gap = np.abs(run.q - linear).max(axis=1)
            motions.append(curve(f"mode {mode.number}", run.t, run.q[:, -1]))
            gaps.append(curve(f"mode {mode.number}", run.t[1:], gap[1:]))
            largest_gap = float(gap.max() / np.abs(shape).max())
            worst[n, mode.number] = largest_gap
            first[n, mode.number] = float(gap[run.t <= float(mode.period or 0.0)].max() / np.abs(shape).max())
            rows.append((n, mode.number, float(f"{omega**2:.6g}"), float(f"{omega:.6g}"), float(f"{largest_gap:.3g}")))
            short = pendula.simulate(
                system, 2 * float(mode.period or 0.0), initial_state={k: 4 * x for k, x in start.items()}, samples=121
            )
            animations.append(
                animation(
                    short, f"n{n}m{mode.number}", f"{n} links, mode {mode.number}", frames=60, signals=tuple(start)
                )
            )
        figures.append(
            Chart(
                f"figure-{2 * n + 9}",
                f"Figure {2 * n + 9}: {n} links, last link in each mode",
                "time [s]",
                "angle [rad]",
                tuple(motions),
            )
        )
        figures.append(
            Chart(
                f"figure-{2 * n + 10}",
                f"Figure {2 * n + 10}: {n} links, deviation from v cos(ωt)",
                "time [s]",
                "largest deviation of an angle [rad]",
                tuple(gaps),
                log_y=True,
            )
        )
    line = chosen(
        "figures 13-20",
        "eigenvectors scaled down by 10 stay close enough to the linear motion",
        f"within its own period a mode deviates by {min(first.values()):.1g} to {max(first.values()):.1g} of its "
        f"amplitude, within {periods:g} periods of the slowest mode by up to {max(worst.values()):.2g}: at these "
        "angles fast modes fall behind or run ahead until motion and cosine are in opposition (deviation 2)",
        data=f"unit eigenvectors divided by {divisor:g} (rad), links of 1 m and 1 kg; the paper gives no duration",
        evidence={f"deviation, n = {n}, mode {k}": x for (n, k), x in worst.items()}
        | {"largest within one period": max(first.values())},
    )
    head = ("Links", "Mode", "λ = ω² [1/s²]", "ω [rad/s]", "Largest deviation (of the amplitude)")
    return Finding(
        lines=(line,),
        tables=(Table("Normal modes", head, tuple(rows)),),
        figures=tuple(figures),
        animations=tuple(animations),
    )
