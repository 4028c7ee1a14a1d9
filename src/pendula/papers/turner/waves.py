"""Section 5.3: standing waves of a hanging chain driven at its base, and their beats (figures 9, 21 to 25)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import argrelmin
from scipy.special import j0, jn_zeros

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.show import animation
from pendula.papers.types import Animation, Finding, Line, Table
from pendula.present.pictures.curves import Chart, Curve, Style, curve
from pendula.results import Trajectory

FINE = 1600
"""points of a curve that swings some hundred times"""
DEEP = 0.5
"""of the highest envelope: deeper minima are the ends of beats"""


def frequencies(links: int, modes: int) -> Finding:
    """Equation 64 against the frequencies of the chain, which are the eigenvalues of equation 62."""
    excess, apart = {}, {}
    own = np.zeros(modes)
    rope = jn_zeros(0, modes) / 2 * np.sqrt(9.81 / links)
    for n in (links // 2, links):
        found = pendula.modes(pendula.library.chain(links=n, start=0), {})
        own = found.frequencies[:modes]
        excess[n] = own / (jn_zeros(0, modes) / 2 * np.sqrt(9.81 / n)) - 1
        apart[n] = np.array([_off_rope(np.real(mode.shape), k) for k, mode in enumerate(found.modes[:modes], 1)])
    order, sharper = (float(np.mean(np.log2(x[links // 2] / x[links])[:3])) for x in (excess, apart))
    rows = tuple(
        (
            k + 1,
            float(f"{rope[k]:.7g}"),
            float(f"{own[k]:.7g}"),
            float(f"{excess[links][k]:.3g}"),
            float(f"{2 * np.pi / abs(own[k] - rope[k]):.4g}"),
        )
        for k in range(modes)
    )
    return Finding(
        lines=(
            claim(
                "eq. 64",
                "the frequencies of a rope are (ζ_n/2) sqrt(g/L)",
                f"{links} links exceed it by {excess[links][0]:.2g} (mode 1) to {excess[links][-1]:.2g} (mode "
                f"{modes}); the excess falls with the power "
                f"{order:.2f} of the number of links",
                float(np.max(excess[links])) < 0.01 and abs(order - 2) < 0.1,
                evidence={f"excess, mode {k + 1}": x for k, x in enumerate(excess[links])} | {"order": order},
            ),
            claim(
                "eq. 63",
                "u(y) defines the normal modes of oscillation",
                f"its solutions J₀(ζ_n sqrt(y/L)) are the shapes of {links} links to {apart[links][0]:.1g} (mode 1) to "
                f"{apart[links][-1]:.1g} (mode {modes}) of the swing of the tip; the difference falls with the power "
                f"{sharper:.2f} of the number of links",
                sharper > 1.5,
                evidence={f"difference of shapes, mode {k + 1}": x for k, x in enumerate(apart[links])}
                | {"order": sharper},
                reason="the shapes differ",
                corrected="shapes of the chain",
                severity="wrong",
            ),
            claim(
                "5.3, last paragraph",
                "if ω_n could be found analytically, ω_d = ω_n could be used",
                f"they are the eigenvalues of eq. 62: {', '.join(f'{x:.6g}' for x in own)} rad/s for {links} links",
                len(own) < modes,
                evidence={f"omega {k + 1} [rad/s]": x for k, x in enumerate(own)},
                reason="the paper computes them itself in section 5.2, for any number of links",
                corrected="ω_n follow from eq. 62",
                effect="the chain could have been driven at its own frequency",
                severity="incomplete",
            ),
        ),
        tables=(
            Table(
                f"Driving frequencies and beats by the rule of the paper, {links} links of 1 m",
                ("Mode", "Rope ω_d [rad/s]", "Chain ω_n [rad/s]", "Excess", "2π/|ω_n − ω_d| [s]"),
                rows,
            ),
        ),
    )


def rope_shape(links: int, mode: int) -> np.ndarray:
    """Horizontal displacements of base and elbows of a hanging rope in a mode, that of the free end being 1."""
    return np.asarray(j0(jn_zeros(0, mode)[-1] * np.sqrt(1 - np.arange(links + 1) / links)))


def _off_rope(angles: np.ndarray, mode: int) -> float:
    """Largest difference of the shape of a chain in a mode, given by its angles, from that of a rope."""
    across = np.concatenate([[0.0], np.cumsum(angles)])
    return float(np.max(np.abs(across / across[-1] - rope_shape(len(angles), mode))))


def envelope(run: Trajectory, omega: float, body: str) -> tuple[np.ndarray, np.ndarray]:
    """Slowly varying amplitude of the tip at the driving frequency.

    Averages over one drive period remove the drive itself, those over four the beats with modes beside the driven one.
    """
    x = run.position(body, "tip")[:, 0]
    step = run.t[1] - run.t[0]
    width = max(2, round(2 * np.pi / omega / step))
    turning = np.convolve(x * np.exp(-1j * omega * run.t), np.ones(width) / width, mode="valid")
    smooth = np.convolve(2 * np.abs(turning), np.ones(4 * width) / (4 * width), mode="valid")
    return run.t[: len(smooth)] + 2.5 * width * step, smooth


def first_beat(t: np.ndarray, size: np.ndarray, omega: float) -> float | None:
    """Time of the first deep minimum of an envelope, None if there is none."""
    apart = max(2, round(2 * np.pi / omega / (t[1] - t[0])))
    peak = int(np.argmax(size > 0.8 * size.max()))
    for k in argrelmin(size, order=2 * apart)[0]:
        if k > peak and size[k] < DEEP * size.max():
            return float(t[k])
    return None


def standing_waves(links: int, amplitudes: list[float], durations: list[float]) -> Finding:
    """Figures 9 and 21 to 25: motion of the tip when the base is driven at the frequencies of a rope."""
    figures: list[Chart] = []
    animations: list[Animation] = []
    rows: list[tuple[Any, ...]] = []
    shapes: list[Curve] = []
    evidence: dict[str, float] = {}
    for mode, (alpha, duration) in enumerate(zip(amplitudes, durations, strict=True), 1):
        model = pendula.library.driven_chain(links=links, mode=mode, amplitude=alpha)
        omega = model.parameter_values["omega"]
        run = pendula.simulate(model, duration, tol=1e-8, samples=6001)
        t, size = envelope(run, omega, f"link{links}")
        beat = first_beat(t, size, omega)
        tip = run.position(f"link{links}", "tip")[:, 0]
        largest = float(np.abs(tip).max())
        evidence |= {
            f"largest swing of the tip [m], mode {mode}": largest,
            f"first beat [s], mode {mode}": beat or np.inf,
        }
        rows.append(
            (
                mode,
                float(f"{omega:.6g}"),
                alpha,
                float(f"{largest:.4g}"),
                None if beat is None else float(f"{beat:.4g}"),
                f"{run.energy_drift:.1g}",
            )
        )
        shapes += _shapes(run, links, mode, int(np.argmax(tip)))
        number = 20 + mode
        curves = (
            curve("tip", run.t, tip, color=0, points=FINE),
            curve("envelope", t, size, color=1),
            curve("amplitude of the drive × 10", run.t[[0, -1]], [10 * alpha, 10 * alpha], style="dashed", color=3),
        )
        figures.append(
            Chart(
                f"figure-{number}",
                f"Figure {number}: standing wave {mode}" + (" (also figure 9)" if mode == 1 else ""),
                "time [s]",
                "horizontal displacement [m]",
                curves,
            )
        )
        near = pendula.simulate(
            model, 6 * 2 * np.pi / omega, tol=1e-8, samples=181, initial_state=run.state(int(np.argmax(tip)))
        )
        animations.append(
            animation(
                near,
                f"wave-{mode}",
                f"Standing wave {mode}",
                note="Six periods of the drive, from the largest swing on",
                frames=120,
                signals=(f"link{links}.tip.x",),
            )
        )
    line = chosen(
        "figures 9, 21-25",
        "driven at these frequencies with small amplitudes, waves build up, then grow and decay",
        "; ".join(
            f"mode {row[0]}: tip up to {row[3]} m, first beat {'none' if row[4] is None else f'after {row[4]} s'}"
            for row in rows
        ),
        data=f"{links} links of 1 m and 1 kg, amplitudes {', '.join(f'{a:g}' for a in amplitudes)} m; the paper gives "
        "neither length nor amplitude",
        evidence=evidence,
    )
    head = ("Mode", "Drive [rad/s]", "Amplitude [m]", "Largest swing of the tip [m]", "First beat [s]", "Energy error")
    return Finding(
        lines=(line,),
        tables=(Table("Driven at the frequencies of a rope", head, tuple(rows)),),
        figures=(*figures, _shape_chart(shapes, durations)),
        animations=tuple(animations),
    )


def _shapes(run: Trajectory, links: int, mode: int, k: int) -> tuple[Curve, Curve]:
    """Displacements along a driven chain at sample k, and those of a rope in the same mode."""
    across = np.array([run.position(f"link{i}", "tip")[k, 0] for i in range(1, links + 1)])
    depth = np.arange(1, links + 1)
    return (
        curve(f"wave {mode}", depth, across / across[-1], style="points", color=mode - 1),
        curve("rope" if mode == 1 else "", [0, *depth], rope_shape(links, mode), style="dashed", color=mode - 1),
    )


def _shape_chart(shapes: list[Curve], durations: list[float]) -> Chart:
    return Chart(
        "shapes",
        f"Shapes of the {len(durations)} standing waves at their largest swings",
        "distance from the base along the chain [m]",
        "displacement / that of the tip [1]",
        tuple(shapes),
        note="Dots: elbows of the chain. Dashed: modes of a rope, J₀(ζ sqrt(y/L)) with y from the free end.",
    )


def beats(
    links: int, mode: int, amplitudes: list[float], duration: float, strong: list[float], chaos: float
) -> Finding:
    """The period of beats over the amplitude of the drive, against |omega_n - omega_d|; and drives at omega_n.

    Args:
        links, mode: of the chain, and the standing wave that is driven.
        amplitudes, duration: of the runs whose beats are measured.
        strong, chaos: amplitudes and duration of the runs at omega_n whose Lyapunov exponents are computed.
    """
    own = float(pendula.modes(pendula.library.chain(links=links, start=0), {}).frequencies[mode - 1])
    rope = float(jn_zeros(0, mode)[-1] / 2 * np.sqrt(9.81 / links))
    rule = 2 * np.pi / abs(own - rope)
    found: dict[str, dict[float, float]] = {"rope": {}, "own": {}}
    curves = []
    for name, rate in (("rope", rope), ("own", own)):
        for alpha in amplitudes:
            model = pendula.library.driven_chain(links=links, mode=mode, amplitude=alpha, rate=rate)
            run = pendula.simulate(model, duration, tol=1e-8, samples=6001)
            t, size = envelope(run, rate, f"link{links}")
            beat = first_beat(t, size, rate)
            if beat is not None:
                found[name][alpha] = beat
            label = f"{'rope' if name == 'rope' else 'chain'}, α = {alpha:g} m"
            style: Style = "line" if name == "rope" else "dashed"
            curves.append(curve(label, t, size / alpha, style=style, color=amplitudes.index(alpha)))
    words = ", ".join(f"{beat:.4g} s at α = {alpha:g} m" for alpha, beat in found["rope"].items())
    smallest, largest = amplitudes[0], max(found["rope"])
    lines = (
        _rule(rule, found["rope"], smallest, largest, words, mode),
        _resonance(links, mode, own, found["own"], strong, chaos),
    )
    chart = Chart(
        "beats",
        f"Beats of mode {mode} over the amplitude of the drive",
        "time [s]",
        "envelope of the tip / α [1]",
        tuple(curves),
        log_y=True,
        note="Full lines: driven at the frequency of the rope. Dashed: driven at that of the chain itself.",
    )
    return Finding(lines=lines, figures=(chart,))


def _resonance(
    links: int, mode: int, own: float, beating: dict[float, float], strong: list[float], duration: float
) -> Line:
    """Drives at the chain's own frequency, from weak to strong ones: beats, or chaos."""
    exponents = {
        alpha: pendula.chaos.lyapunov(
            pendula.library.driven_chain(links=links, mode=mode, amplitude=alpha, rate=own), duration
        )
        for alpha in strong
    }
    weak = ", ".join(f"{beat:.4g} s at α = {alpha:g} m" for alpha, beat in beating.items())
    rates = ", ".join(
        f"{x.exponent:.2g} ± {x.spread:.1g} at α = {alpha:g} m" + ("" if x.grows else " (indistinguishable from zero)")
        for alpha, x in exponents.items()
    )
    chaotic = [alpha for alpha, x in exponents.items() if x.grows]
    regular = [alpha for alpha, x in exponents.items() if not x.grows]
    limit = f"; it sets in between α = {max(regular):g} and {min(chaotic):g} m" if regular and chaotic else ""
    return claim(
        "5.3, resonance",
        "driven at ω_d = ω_n the beat would disappear, and the waves would grow until the system becomes chaotic",
        f"mode {mode} driven at its own {own:.6g} rad/s: beats of {weak or 'no length'}; largest Lyapunov exponents "
        f"over {duration:g} s [1/s]: {rates}",
        not beating and not regular,
        evidence={f"beat at alpha = {alpha:g} [s]": beat for alpha, beat in beating.items()}
        | {f"exponent at alpha = {alpha:g} [1/s]": x.exponent for alpha, x in exponents.items()}
        | {f"its spread at alpha = {alpha:g} [1/s]": x.spread for alpha, x in exponents.items()}
        | {"omega_n [rad/s]": own},
        reason="the frequency changes with the amplitude, so a growing wave leaves resonance; whether it becomes "
        "chaotic before depends on the drive",
        corrected="a weak drive at ω_n beats, with a period that depends on its amplitude; a strong one ends in "
        f"chaos{limit}",
        effect="a weakly driven chain would be expected to become chaotic",
        severity="incomplete",
    )


def _rule(rule: float, found: dict[float, float], smallest: float, largest: float, words: str, mode: int) -> Line:
    in_the_limit, driven = found.get(smallest, np.inf), found[largest]
    return claim(
        "5.3, beat frequency",
        "the beat frequency is |ω_n − ω_d|, and it comes from the difference between chain and rope",
        f"mode {mode}: the rule gives {rule:.4g} s; computed {words}",
        abs(driven / rule - 1) < 0.1,
        evidence={"rule [s]": rule, "smallest drive [s]": in_the_limit, "largest drive [s]": driven},
        reason=f"the rule holds in the limit of a weak drive (to {100 * abs(in_the_limit / rule - 1):.1g} % at α = "
        f"{smallest:g} m); at finite amplitude the frequency of the "
        "chain itself changes, and that sets the period of the beats",
        corrected="|ω_n − ω_d| for drives that keep the motion linear; otherwise the beats depend on the amplitude",
        effect=f"periods off by a factor of {rule / driven:.2g} at α = {largest:g} m",
        severity="wrong",
    )
