"""Section 5.5: how long perturbed motions stay close to the nominal one."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim
from pendula.papers.types import Finding, Line, Table
from pendula.present.pictures.curves import Chart, curve
from pendula.results import System, Trajectory

THRESHOLD = 1e-3
"""0.1 % of the length of a link [m]"""


def divergence(links: int, duration: float, tol: float, smaller: list[float], loose: float) -> Finding:
    """Fifty perturbed runs, the horizon of the nominal one, and perturbations far below those of the paper."""
    system = pendula.compile_system(pendula.library.chain(links=links))
    nominal = pendula.simulate(system, duration, tol=tol, samples=2001)
    sizes = [10.0**-j for j in range(1, 6)]
    times = np.array([[_time(system, nominal, i, e, tol) for e in sizes] for i in range(1, links + 1)])
    horizon = pendula.chaos.horizon(nominal).time or duration
    rows = tuple((i + 1, *(float(f"{x:.4g}") for x in row)) for i, row in enumerate(times))
    curves = tuple(
        curve(f"ε = {e:g} rad", range(1, links + 1), times[:, j], style="points") for j, e in enumerate(sizes)
    )
    tiny = np.array([_time(system, nominal, 1, e, tol) for e in smaller])
    rough = pendula.simulate(system, duration, tol=loose, samples=2001)
    rough_times = np.array([_time(system, rough, 1, e, loose) for e in smaller])
    chart = Chart(
        "times",
        "Time to divergence of 50 perturbed motions",
        "perturbed link (1 is at the base)",
        "time to divergence [s]",
        curves,
    )
    limit = Chart(
        "smaller",
        "Smaller perturbations of the first link",
        "perturbation [rad]",
        "time to divergence [s]",
        (
            curve(f"tolerance {tol:g}", smaller, tiny, style="points"),
            curve(f"tolerance {loose:g}", smaller, rough_times, style="points"),
        ),
        log_x=True,
    )
    loose_horizon = pendula.chaos.horizon(rough).time or duration
    return Finding(
        notes=(
            "Angles are perturbed by 10^−j rad (the paper gives no unit)",
            f"Up to its horizon of {horizon:.4g} s the nominal run at tolerance {tol:g} is the motion of the pendulum; "
            "afterwards the errors of the integrator have grown to the size of the motion",
        ),
        lines=(
            _exceeded(times, sizes, links),
            _larger(times, sizes),
            _further(times),
            _converges(smaller, tiny, rough_times, horizon, loose_horizon, tol, loose),
            _captions(nominal),
        ),
        tables=(
            Table("Time to divergence [s]; the threshold is 1 mm", ("Link", *(f"ε = {e:g}" for e in sizes)), rows),
        ),
        figures=(chart, limit),
    )


def _time(system: System, nominal: Trajectory, link: int, size: float, tol: float) -> float:
    found = pendula.chaos.divergence(
        system, first=nominal, perturbation={f"theta{link}": size}, tol=tol, threshold=THRESHOLD
    )
    return float("nan") if found.time is None else float(found.time)


def _exceeded(times: np.ndarray, sizes: list[float], links: int) -> Line:
    at_once = int(np.sum(times <= 0))
    start = {e: 2 * np.sin(e / 2) for e in sizes}  # distance of the ends of a link of 1 m turned by e
    beyond = [e for e, x in start.items() if x > 0.99 * THRESHOLD]
    return claim(
        "5.5, threshold",
        "divergence is when the largest distance of link ends exceeds 0.1 % of the link length L",
        f"a link turned by ε moves its end by 2 L sin(ε/2): {', '.join(f'{1000 * start[e]:.3g} mm' for e in sizes)} "
        "for ε = 0.1 to 1e-5; the threshold "
        f"is 1 mm. {at_once} of {5 * links} motions have diverged at t = 0, those with ε = 0.001 start "
        "at the threshold itself",
        at_once == 0,
        evidence={
            "diverged at t = 0": at_once,
            "motions": 5 * links,
            "perturbations at or beyond the threshold": len(beyond),
        },
        reason="the larger perturbations exceed the threshold before anything has moved",
        corrected="only ε ≤ 1e-4 measures the growth of a perturbation; for larger ε the threshold must be larger",
        effect="two fifths of the figure show the size of the perturbation, not the dynamics",
        severity="wrong",
    )


def _larger(times: np.ndarray, sizes: list[float]) -> Line:
    means = np.nanmean(times, axis=0)
    return claim(
        "5.5, size",
        "the larger the perturbation, the quicker the simulation diverges",
        "mean times " + ", ".join(f"{x:.3g} s" for x in means) + f" for ε = {', '.join(f'{e:g}' for e in sizes)}",
        bool(np.all(np.diff(means) >= 0)),
        evidence={f"mean time [s], {e:g}": x for e, x in zip(sizes, means, strict=True)},
    )


def _further(times: np.ndarray) -> Line:
    small = times[:, 3:]
    number = np.arange(1, len(times) + 1)
    slopes = [float(np.corrcoef(number, column)[0, 1]) for column in small.T]
    return claim(
        "5.5, place",
        "the further the perturbed link is from the base, the longer it takes to diverge",
        f"correlation of time and link number {slopes[0]:.2f} (ε = 1e-4) and {slopes[1]:.2f} (1e-5)",
        min(slopes) > 0.5,
        evidence={"correlation, 1e-4": slopes[0], "correlation, 1e-5": slopes[1]},
        reason="the trend is too weak to be seen in ten links",
        corrected="no clear dependence on the place",
        severity="incomplete",
    )


def _converges(
    smaller: list[float],
    tiny: np.ndarray,
    rough: np.ndarray,
    horizon: float,
    loose_horizon: float,
    tol: float,
    loose: float,
) -> Line:
    logs = -np.log10(smaller)
    slopes = []
    for times in (tiny, rough):
        seen = ~np.isnan(times)
        slopes.append(float(np.polyfit(logs[seen], times[seen], 1)[0]))
    return claim(
        "5.5, limit",
        "with even smaller perturbations the time to divergence seems to converge",
        f"every decade adds {slopes[0]:.2f} s at tolerance {tol:g} and {slopes[1]:.2f} s at {loose:g}, down to ε = "
        f"{smaller[-1]:g}; the horizons of these runs "
        f"are {horizon:.3g} and {loose_horizon:.3g} s",
        max(slopes) < 0.1,
        evidence={
            "seconds per decade": slopes[0],
            "seconds per decade, loose": slopes[1],
            "horizon [s]": horizon,
            "horizon, loose [s]": loose_horizon,
            "last time [s]": float(tiny[~np.isnan(tiny)][-1]),
        },
        reason="a perturbation grows exponentially, so the time grows with the logarithm of 1/ε until ε drowns in the "
        "rounding of the "
        "initial angle; beyond the horizon two runs of one integrator still separate in an orderly way, but neither "
        "is the motion of the pendulum",
        corrected="the time to divergence does not converge; it grows with the logarithm of 1/ε",
        effect="a limit is claimed that a chaotic system does not have",
        severity="wrong",
    )


def _captions(nominal: Trajectory) -> Line:
    speed = float(np.abs(nominal.v[0]).max())
    acceleration = float(np.abs(nominal.system.accelerations(nominal.q[0], nominal.v[0])).max())
    return claim(
        "5.5, start and figures",
        'the links start "with no angular acceleration"; the results are "presented in Figure 9"',
        f"the initial angular velocity is {speed:g}, the largest initial angular acceleration {acceleration:.4g} "
        "rad/s²; figure 9 is the beat of section 5.3",
        acceleration < 1e-9,
        evidence={"initial speed": speed, "initial acceleration [rad/s^2]": acceleration},
        reason="released from rest at 90° the links accelerate at once; figures 10 and 11 also share a caption",
        corrected="with no angular velocity; the figure of this section is not numbered",
        effect="wording only",
        severity="incomplete",
    )
