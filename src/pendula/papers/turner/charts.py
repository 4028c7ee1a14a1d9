"""Section 5.4, charts: where shaking holds one or three links upright, over amplitude and frequency of the drive."""

from __future__ import annotations

import numpy as np
from scipy.special import mathieu_a, mathieu_b

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.types import Finding, Line
from pendula.present.pictures.curves import Chart, Curve, curve
from pendula.results import StabilityChart

TONGUES = 4
"""unstable ranges of Mathieu's equation that are compared"""
WIDE = 1e-3
"""tongues narrower than this are compared relative to their width"""
EXACT = 1e-8


def one_link(samples: list[int], reach: list[float], drives: list[float]) -> Finding:
    """A point mass on a shaken rod obeys Mathieu's equation: its borders against the characteristic values.

    With the base at alpha cos(2 t) and l = 1 m, small angles obey x'' + (a - 2 q cos 2t) x = 0 with a = g and
    q = 2 alpha; a negative a is the pendulum upright.
    """
    model = pendula.library.driven_chain(links=1, kind="point", rate=2.0, direction=0)
    chart = pendula.driven.floquet_chart(
        model,
        ("g", reach[0], reach[1]),
        ("alpha", drives[0], drives[1]),
        at={"theta1": 0.0},
        samples=(samples[0], samples[1]),
    )
    errors: list[float] = []
    narrow: list[float] = []
    for border in chart.borders:
        low, high = min(_tongues(2 * border.y), key=lambda ends: _distance(border.x, ends))
        (errors if high - low > WIDE else narrow).append(
            _distance(border.x, (low, high)) / (1.0 if high - low > WIDE else high - low)
        )
    worst = max(errors)
    alpha = np.linspace(drives[0], drives[1], 160)
    borders = [(mathieu_a, 0), *((f, n) for n in range(1, TONGUES) for f in (mathieu_b, mathieu_a))]
    names = ["characteristic values of Mathieu's equation", *[""] * (len(borders) - 1)]
    lines = [
        curve(name, [f(n, 2 * x) for x in alpha], alpha, color=0) for name, (f, n) in zip(names, borders, strict=True)
    ]
    inside = [_within(one, reach) for one in lines]
    upright = [b for b in chart.borders if b.x < 0]
    line = claim(
        "5.4, simple inverted pendulum",
        "a simple pendulum can be stabilized upright by a high-frequency, low-amplitude oscillation of its base",
        f"{len(chart.borders)} points of the borders of stability over a = 4 g/(l ω²) and α, located by Floquet "
        f"multipliers: the {len(errors)} of tongues wider than {WIDE:g} agree with the characteristic values of "
        f"Mathieu's equation to {worst:.1g}; {len(upright)} of them bound upright motion (a < 0)",
        worst < EXACT and max(narrow, default=0.0) < EXACT and len(upright) > 0,
        evidence={
            "border points": len(chart.borders),
            "points compared": len(errors),
            "largest difference": worst,
            "largest difference, narrow tongues, of their width": max(narrow, default=0.0),
            "points upright": len(upright),
        },
        reason="the borders differ",
        corrected="see the figure",
        severity="wrong",
    )
    figure = Chart(
        "ince-strutt",
        "One link: Ince-Strutt chart",
        "a = 4 g/(l ω²) [1]; negative: upright",
        "amplitude α/l [1]",
        (*inside, *_grid(chart), curve("borders by Floquet multipliers", *_columns(chart), style="points", color=1)),
    )
    return Finding(lines=(line,), figures=(figure,))


def three_links(samples: int, rates: list[float], drives: list[float]) -> Finding:
    """Where the paper's three links stay upright, over the frequency and the amplitude of the drive."""
    model = pendula.library.inverted_chain()
    up = {"theta3": np.pi}
    axes = ("omega", rates[0], rates[1]), ("alpha", drives[0], drives[1])
    chart = pendula.driven.floquet_chart(model, *axes, at=up, samples=samples)
    p = model.parameter_values
    product = [b.x * b.y for b in chart.borders if b.how == "a multiplier passes 1"]
    upper = [b.y for b in chart.borders if b.how.startswith("a multiplier passes -1")]
    one = pendula.library.driven_chain(links=1, kind="point", length=p["l3"], direction=0, rate=p["omega"])
    alone = one.with_parameters({"g": p["g"]})
    single = pendula.driven.floquet_boundary(alone, "alpha", 0.1 * p["l3"], 0.6 * p["l3"], at={"theta1": np.pi}).value
    least = float(np.sqrt(2 * p["g"] * p["l3"]))
    ratio = float(single / np.mean(upper))
    lines: tuple[Line, ...] = (
        chosen(
            "5.4, 3-link inverted pendulum, range",
            "a high-frequency, low-amplitude oscillation of the base holds the last link upright",
            f"stable where α ω exceeds {np.mean(product):.4g} m/s (at all frequencies of the chart to "
            f"{(max(product) - min(product)) / np.mean(product):.1g}; a simple pendulum of the last link's length "
            f"needs sqrt(2 g l) = {least:.4g}) and α stays below {np.mean(upper):.4g} m; beyond that a response with "
            "twice the period of the drive grows",
            data="amplitude and frequency of the drive, which the paper omits, are the axes of the chart",
            evidence={"least α ω [m/s]": float(np.mean(product)), "largest α [m]": float(np.mean(upper))},
        ),
        claim(
            "5.4, 3-link inverted pendulum, comparison",
            "the last link is much less stable than a simple inverted pendulum",
            f"at {p['omega']:g} rad/s it stays up to an amplitude of {np.mean(upper):.4g} m; a simple pendulum of the "
            f"same length up to {single:.4g} m, {ratio:.3g} times as much",
            ratio > 2,
            evidence={"largest α, three links [m]": float(np.mean(upper)), "largest α, one link [m]": float(single)},
            reason="the ranges are alike",
            corrected="it is as stable",
            severity="wrong",
        ),
    )
    rate = np.linspace(rates[0], rates[1], 100)
    figure = Chart(
        "three-links",
        "Three links: where they stay upright",
        "frequency of the drive ω [rad/s]",
        "amplitude of the drive α [m]",
        (
            *_grid(chart),
            curve("borders by Floquet multipliers", *_columns(chart), style="points", color=1),
            _within(curve("α ω = sqrt(2 g l), one link", rate, least / rate, style="dashed", color=3), drives, "y"),
        ),
    )
    return Finding(lines=lines, figures=(figure,))


def _tongues(q: float) -> list[tuple[float, float]]:
    """Ends of the unstable ranges of a: below a_0, and between b_n and a_n."""
    found = [(-np.inf, float(mathieu_a(0, q)))]
    for n in range(1, 2 * TONGUES):
        ends = sorted((float(mathieu_b(n, q)), float(mathieu_a(n, q))))
        found.append((ends[0], ends[1]))
    return found


def _distance(x: float, ends: tuple[float, float]) -> float:
    return min(abs(x - end) for end in ends)


def _columns(chart: StabilityChart) -> tuple[np.ndarray, np.ndarray]:
    return chart.points[:, 0], chart.points[:, 1]


def _grid(chart: StabilityChart) -> list[Curve]:
    """The points of the grid, by verdict."""
    x, y = np.meshgrid(chart.x, chart.y)
    return [
        curve(name, x[chart.stable == flag], y[chart.stable == flag], style="points", color=color)
        for name, flag, color in (("stable", 1.0, 2), ("unstable", 0.0, 4))
    ]


def _within(one: Curve, ends: list[float], axis: str = "x") -> Curve:
    """The part of a curve inside a range."""
    kept = [(x, y) for x, y in zip(one.x, one.y, strict=True) if ends[0] <= (x if axis == "x" else y) <= ends[1]]
    return Curve(one.name, tuple(x for x, _ in kept), tuple(y for _, y in kept), one.style, one.color)
