"""Section 5.4, cases of chains: inverted, damped, upright, and without gravity."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.show import animation
from pendula.papers.turner.energy import METHODS
from pendula.papers.types import Finding, Line
from pendula.present.pictures.curves import Chart, curve
from pendula.results import Lyapunov, System, Trajectory

ROUNDING = 1e-7
"""errors of energies that stem from the integrator, relative to the energy above rest at the start"""


def inverted(duration: float, slow: float) -> Finding:
    """Three links, the last upright, held by shaking; and the same with a slower shaking."""
    model = pendula.library.inverted_chain()
    p = model.parameter_values
    held = pendula.simulate(model, duration, tol=1e-9, samples=2001)
    fallen = pendula.simulate(pendula.library.inverted_chain(rate=slow), duration, tol=1e-9, samples=2001)
    multipliers = {
        rate: pendula.driven.floquet(pendula.library.inverted_chain(rate=rate), at={"theta3": np.pi})
        for rate in (p["omega"], slow)
    }
    tilt = {
        name: float(np.rad2deg(np.abs(run["theta3"] - np.pi)).max()) for name, run in (("held", held), ("slow", fallen))
    }
    line = chosen(
        "5.4, 3-link inverted pendulum",
        "a high-frequency, low-amplitude oscillation of the base holds the last link upright",
        f"at {p['omega']:g} rad/s the last link stays within {tilt['held']:.3g}° for {duration:g} s; Floquet "
        f"multipliers of size {multipliers[p['omega']].radius:.9g}: "
        f"{multipliers[p['omega']].verdict}. At {slow:g} rad/s their size is {multipliers[slow].radius:.4g}: "
        f"{multipliers[slow].verdict}, and it leaves by {tilt['slow']:.3g}°",
        data=f"amplitude {p['alpha']:g} m and frequency {p['omega']:g} rad/s; the paper gives masses, lengths and "
        "gravity, but no drive",
        evidence={
            "size of the multipliers": multipliers[p["omega"]].radius,
            "size, slow": multipliers[slow].radius,
            "largest tilt [deg]": tilt["held"],
            "largest tilt, slow [deg]": tilt["slow"],
        },
    )
    chart = Chart(
        "inverted",
        "Tilt of the last link",
        "time [s]",
        "angle from upright [deg]",
        tuple(
            curve(f"{rate:g} rad/s", run.t, np.rad2deg(run["theta3"] - np.pi))
            for rate, run in ((p["omega"], held), (slow, fallen))
        ),
    )
    return Finding(
        lines=(line,),
        figures=(chart,),
        animations=(
            animation(held, "held", "Held upright by shaking", signals=("theta3",)),
            animation(fallen, "falls", f"Shaken at {slow:g} rad/s: it falls", signals=("theta3",)),
        ),
    )


def damped(links: list[int], friction: float, duration: float) -> Finding:
    """Friction at the mass centres (eq. 25), for 3 and 10 links."""
    lines, curves, animations = [], [], []
    for n in links:
        run = pendula.simulate(pendula.library.chain(links=n, com_friction=friction), duration, tol=1e-9, samples=601)
        energy = run.energy.total
        lowest = float(run.system.energies(np.zeros(n), np.zeros(n)).potential)
        left = float((energy[-1] - lowest) / (energy[0] - lowest))
        balance = float(np.max(np.abs(energy - energy[0] - run.energy.work)))
        rises = float(np.max(np.diff(run.energy.work)))
        lines.append(
            claim(
                f"5.4, damped pendulum, {n} links",
                "friction (μ_f > 0) clearly damps the motion; the total energy shows a non-conservative force",
                f"with μ_f = {friction:g} N s in eq. 25 (the paper gives no value) after {duration:g} s "
                f"{100 * left:.3g} % of the energy above rest is left; the loss equals the work of friction "
                f"to {balance:.1g} J",
                left < 0.5 and max(rises, balance) < ROUNDING * (energy[0] - lowest),
                evidence={
                    "share of energy left": left,
                    "energy minus work [J]": balance,
                    "largest rise of the work": rises,
                },
                reason="energy is not lost as the force of eq. 25 takes it",
                corrected="the motion is not damped",
                severity="wrong",
            )
        )
        curves.append(curve(f"{n} links", run.energy.t, (energy - lowest) / (energy[0] - lowest)))
        animations.append(animation(run, f"damped-{n}", f"Damped pendulum of {n} links"))
    chart = Chart(
        "damped", "Energy above rest, with friction", "time [s]", "share of the initial energy [1]", tuple(curves)
    )
    return Finding(lines=tuple(lines), figures=(chart,), animations=tuple(animations))


def upright(links: int, duration: float, moved: float) -> Finding:
    """Links that start at 180 degrees: on paper they do not move; in numbers rounding sets them going."""
    model = pendula.library.chain(links=links, start="180deg")
    runs = {
        name: pendula.simulate(pendula.compile_system(model, method), duration, tol=1e-10, samples=1501)
        for name, method in METHODS.items()
    }
    when: dict[str, float] = {}
    curves = []
    for name, run in runs.items():
        away = np.max([np.abs(run[f"theta{i + 1}"] - np.pi) for i in range(links)], axis=0)
        beyond = away > moved
        when[name] = float(run.t[np.argmax(beyond)]) if beyond.any() else np.inf
        curves.append(curve(name, run.t, np.maximum(away, 1e-17)))
    roots = pendula.linear.spectrum(
        pendula.compile_system(model), {f"theta{i + 1}": np.pi for i in range(links)}
    ).values
    growth = float(np.max(roots.real))
    words = ", ".join(f"{name} {'never' if np.isinf(t) else f'after {t:.3g} s'}" for name, t in when.items())
    line = claim(
        "5.4, unstable equilibrium",
        "at 180° and at rest the pendulum does not move on paper, but numerical perturbations push it away",
        f"some angle is off by {moved:g} rad: {words} (run of {duration:g} s); the fastest linear growth is "
        f"e^({growth:.4g} t), so a rounding error of 1e-16 needs at least "
        f"{np.log(moved / 1e-16) / growth:.2g} s",
        growth > 0 and min(when.values()) < duration,
        evidence={f"time [s], {name}": t for name, t in when.items()} | {"growth [1/s]": growth},
        reason="no method left the equilibrium",
        corrected="it stays",
        severity="incomplete",
    )
    chart = Chart(
        "upright", "Departure from 180°", "time [s]", "largest angle from 180° [rad]", tuple(curves), log_y=True
    )
    return Finding(
        lines=(line,),
        figures=(chart,),
        animations=tuple(
            animation(run, f"upright-{name.lower()}", f"10 links from 180°, {name}", frames=160)
            for name, run in runs.items()
        ),
    )


# -- no gravity ---------------------------------------------------------------------------------------


def weightless(links: int, rate: float, duration: float, starts: int, size: float) -> Finding:
    """Only the first, or only the last link set turning, without gravity; judged over many nearby starts."""
    model = pendula.library.chain(links=links, start=0).with_parameters({"g": 0.0})
    system = pendula.compile_system(model)
    rng = np.random.default_rng(5)
    lines: list[Line] = []
    curves, animations = [], []
    for which, name in ((1, "first"), (links, "last")):
        start = {f"theta{which}_dot": rate}
        run = pendula.simulate(system, duration, initial_state=start, tol=1e-10, samples=2001)
        shown = ("theta1", f"theta{links}")
        animations.append(animation(run, f"weightless-{name}", f"No gravity, {name} link set turning", signals=shown))
        runs = [run]
        for _ in range(starts):
            nudged = start | {f"theta{i + 1}": float(x) for i, x in enumerate(rng.uniform(-size, size, links))}
            runs.append(pendula.simulate(system, duration, initial_state=nudged, tol=1e-10, samples=2001))
        together = np.array([_share(system, each) for each in runs])
        curves.append(curve(f"{name} link, mean of {starts + 1} starts", run.t, together.mean(axis=0)))
        exponents = [
            pendula.chaos.lyapunov(system, duration=part * duration, initial_state=start) for part in (1 / 3, 1)
        ]
        if name == "first":
            lines.append(_circular(system, run, together, exponents[1]))
        else:
            lines.append(_increasing(runs, together, exponents, duration))
    chart = Chart(
        "weightless",
        "Share of the energy that is rigid rotation about the pivot",
        "time [s]",
        "share of the kinetic energy [1]",
        tuple(curves),
    )
    return Finding(lines=tuple(lines), figures=(chart,), animations=tuple(animations))


def _momentum(system: System, run: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Angular momentum about the pivot, and moment of inertia about it, from the mass matrix (absolute angles)."""
    M = system.mass_matrix(run.q, parameters=run.parameters)
    return np.einsum("tij,tj->t", M, run.v), M.sum(axis=(1, 2))


def _share(system: System, run: Trajectory) -> np.ndarray:
    """Energy of a rigid rotation with the same angular momentum and pose, over the kinetic energy."""
    L, inertia = _momentum(system, run)
    kinetic = np.asarray(system.energies(run.q, run.v, parameters=run.parameters).kinetic)
    return np.asarray(L**2 / (2 * inertia) / kinetic)


def _early_and_late(shares: np.ndarray) -> tuple[str, dict[str, float]]:
    """The share of rigid rotation early and late, over nearby starts, in words and numbers."""
    tenth = shares.shape[1] // 10
    early, late = shares[:, tenth : 3 * tenth].mean(axis=1), shares[:, -2 * tenth :].mean(axis=1)
    trend, spread = float(np.mean(late - early)), float(np.std(late - early) / np.sqrt(len(late)))
    words = (
        f"over {len(shares)} nearby starts, the share of the kinetic energy that belongs to rigid rotation about the "
        f"pivot is {early.mean():.3f} early and {late.mean():.3f} late (trend {trend:+.3f} ± {spread:.3f})"
    )
    return words, {
        "share early": float(early.mean()),
        "share at the end": float(late.mean()),
        "trend": trend,
        "error of the trend": spread,
    }


def _circular(system: System, run: Trajectory, shares: np.ndarray, exponent: Lyapunov) -> Line:
    """Whether the motion approaches a rigid rotation, which the conserved quantities would have to allow."""
    L, _ = _momentum(system, run)
    straight = float(system.mass_matrix(np.zeros(len(run.layout.speeds))).sum())
    most = float(L[0] ** 2 / (2 * straight) / float(run.energy.total[0]))
    kept = float(np.max(np.abs(L / L[0] - 1)))
    words, evidence = _early_and_late(shares)
    return claim(
        "5.4, no gravity, first link",
        "the system initially appears chaotic, but eventually approaches circular motion",
        f"{words}; Lyapunov exponent {exponent.exponent:.2f} ± {exponent.spread:.2f} 1/s. Energy and angular momentum "
        f"are constant (to {kept:.1g}): a straight chain turning rigidly with this angular momentum would have only "
        f"{100 * most:.3g} % of the energy",
        evidence["share at the end"] > 0.95,
        evidence=evidence
        | {
            "Lyapunov exponent [1/s]": exponent.exponent,
            "its error": exponent.spread,
            "share of a straight chain": most,
            "change of angular momentum": kept,
        },
        reason="without friction the energy that does not belong to rigid rotation has nowhere to go",
        corrected="the motion stays chaotic; conservation of energy and angular momentum rules out that the "
        "straight chain ends up turning in a circle",
        effect="an attractor is claimed for a system that has none",
        severity="wrong",
    )


def _increasing(runs: list[Trajectory], shares: np.ndarray, exponents: list[Lyapunov], duration: float) -> Line:
    """Whether the motion becomes more irregular: bends between links, and the growth of small deviations."""
    first, whole = exponents
    bends = np.array([np.abs(np.diff(each.q, axis=1)).mean(axis=1) for each in runs])
    tenth = bends.shape[1] // 10
    early, late = float(bends[:, :tenth].mean()), float(bends[:, -tenth:].mean())
    _, evidence = _early_and_late(shares)
    return claim(
        "5.4, no gravity, last link",
        "the last link drags the rest, and the motion becomes increasingly chaotic",
        f"over {len(runs)} nearby starts the mean angle between neighbouring links grows from {early:.2g} rad in the "
        f"first tenth to {late:.2g} rad in the last; the Lyapunov exponent is {first.exponent:.2f} ± "
        f"{first.spread:.2f} 1/s up to {duration / 3:g} s and {whole.exponent:.2f} ± {whole.spread:.2f} 1/s up to "
        f"{duration:g} s",
        late > 2 * early and whole.exponent > max(3 * whole.spread, first.exponent),
        evidence=evidence
        | {
            "angle between links, early [rad]": early,
            "angle between links, late [rad]": late,
            "Lyapunov exponent, first third [1/s]": first.exponent,
            "Lyapunov exponent [1/s]": whole.exponent,
            "its error": whole.spread,
        },
        reason="neither bends nor exponents grow",
        corrected="regular motion",
        severity="incomplete",
    )
