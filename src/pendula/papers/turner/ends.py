"""Moving ends (eqs. 47-49 and 55-57), and the energy of eq. 60."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import claim
from pendula.papers.turner.dae import Array, angular
from pendula.papers.turner.derivations import EXACT, LOOPS
from pendula.papers.turner.printed import three_links
from pendula.papers.types import Finding, Line

STEP = 1e-3
"""of central differences [s]; their error is about STEP^2/12 times the square of the frequency"""


def moved(size: float, rate: float, phi: float, t: Array) -> Array:
    """Equations 47 and 55."""
    return np.asarray(size * np.cos(rate * t)[..., None] * np.array([np.sin(phi), np.cos(phi)]))


def accelerated(size: float, rate: float, phi: float, t: Array) -> Array:
    """Equations 48 and 56."""
    return np.asarray(-(rate**2) * moved(size, rate, phi, t))


def driven(size: float, rate: float, direction: float, duration: float, bars: int) -> Finding:
    """The DAE method with a moving base and with a moving end, against driven chains and linkages."""
    motion = size, rate, direction
    return Finding(
        lines=(
            _motion("eqs. 47, 48", "r_A = α cos(ω_f t) φ̂, and r_A'' = −α ω_f² cos(ω_f t) φ̂", motion, duration),
            _base(motion, duration),
            _through_the_base(motion, duration),
            _motion("eq. 56", "r_Z'' = −β ω_f² cos(ω_f t) φ̂", motion, duration),
            *_end(motion, duration, bars),
        ),
        notes=(
            f"Base and end move by {size:g} m at {rate:g} rad/s, {direction:g} rad from straight up; the paper gives "
            "no numbers",
        ),
    )


def _motion(where: str, says: str, motion: tuple[float, float, float], duration: float) -> Line:
    size, rate, _ = motion
    t = np.linspace(0, duration, 50)
    numeric = (moved(*motion, t + STEP) - 2 * moved(*motion, t) + moved(*motion, t - STEP)) / STEP**2
    gap = float(np.max(np.abs(numeric - accelerated(*motion, t))))
    allowed = size * rate**4 * STEP**2 / 12
    farthest = float(np.max(np.linalg.norm(moved(*motion, t), axis=-1)))
    return claim(
        where,
        says,
        f"the second difference of the position over {STEP:g} s is the printed acceleration to {gap:.1g} m/s² (their "
        f"error may be {allowed:.1g}); φ̂ has length {farthest / size:.10g}",
        gap < 2 * allowed and abs(farthest / size - 1) < EXACT,
        evidence={"largest difference [m/s^2]": gap, "error of differences": allowed, "length": farthest / size},
        reason="the acceleration is not the second derivative",
        corrected="minus ω² times the position",
        severity="wrong",
    )


def _base(motion: tuple[float, float, float], duration: float) -> Line:
    """Equation 49 along a motion of three unequal links on a moving base."""
    links = three_links().parameter_values
    mass, length = ([links[f"{name}{i}"] for i in (1, 2, 3)] for name in "ml")
    size, rate, phi = motion
    model = pendula.library.driven_chain(
        links=3, mass=mass, length=length, amplitude=size, rate=rate, direction=phi, start=[0.4, -0.3, 0.8]
    )
    system = pendula.compile_system(model)
    run = pendula.simulate(system, duration, tol=1e-10, samples=11)
    gap = still = 0.0
    for t, q, w in zip(run.t, run.q, run.v, strict=True):
        truth = np.asarray(system.accelerations(q, w, t))
        found, _ = angular(model, q, w, base=accelerated(*motion, t))
        fixed, _ = angular(model, q, w)
        gap = max(gap, float(np.max(np.abs(found - truth)) / np.max(np.abs(truth))))
        still = max(still, float(np.max(np.abs(fixed - truth))))
    return claim(
        "eq. 49",
        "with r_E0'' = r_A'' in place of eq. 46 the base moves",
        f"accelerations along a motion of {duration:g} s agree with the driven chain by Lagrange to {gap:.1g}; with "
        f"eq. 46 instead they are off by up to {still:.3g} rad/s²",
        gap < EXACT,
        evidence={"largest relative difference": gap, "difference with a fixed base [rad/s^2]": still},
        reason="the accelerations differ",
        corrected="r_E0'' = r_A''",
        severity="wrong",
    )


def _through_the_base(motion: tuple[float, float, float], duration: float) -> Line:
    """Equation 55: all positions lie on one line through the base."""
    size, rate, phi = motion
    place = moved(size, rate, phi, np.linspace(0, duration, 50))
    along = np.array([np.sin(phi), np.cos(phi)])
    across = float(np.max(np.abs(place @ np.array([along[1], -along[0]]))))
    nearest = float(np.min(np.linalg.norm(place, axis=1)))
    return claim(
        "eq. 55",
        "the end of the last link is at r_Z = β cos(ω_f t) φ̂",
        f"this end passes the base (nearest {nearest:.2g} m in {duration:g} s) and is never off the line along φ̂ "
        f"through it (by {across:.1g} m): it can be stretched as in section 5.4, but not shaken across the line "
        "between base and end, as the same section does",
        across > EXACT,
        evidence={"largest distance from the line [m]": across, "least distance from the base [m]": nearest},
        reason="the place about which the end moves is missing",
        corrected="r_Z = r_Z0 + β cos(ω_f t) φ̂",
        effect="none on eq. 56 and the accelerations; an end that starts elsewhere contradicts eq. 55",
        severity="incomplete",
    )


def _end(motion: tuple[float, float, float], duration: float, bars: int) -> tuple[Line, Line]:
    """Equation 57 as printed and corrected, along a motion of a linkage with a moving end."""
    size, rate, phi = motion
    model = pendula.library.driven_linkage(
        bars=bars, length=[1.0, 0.8, 1.1, 0.9][: bars - 2], amplitude=size, rate=rate, direction=phi
    )
    system = pendula.compile_system(model)
    run = pendula.simulate(system, duration, tol=1e-11, samples=11)
    gap, sizes, printed = 0.0, [], []
    for t, q, w in zip(run.t, run.q, run.v, strict=True):
        truth = np.asarray(system.accelerations(q, w, t))
        end = accelerated(*motion, t)
        found, rank = angular(model, q, w, closed=True, end=end)
        gap = max(gap, float(np.max(np.abs(found - truth)) / np.max(np.abs(truth))))
        sizes.append(rank)
        printed.append(angular(model, q, w, ("57",), closed=True, end=end)[1])
    links = len(model.bodies)
    size_needed = 5 * links + 2
    as_printed = claim(
        "eq. 57",
        "Constraint_{n−1}: r_{E_{n−1}}'' = r_{E_n}'' and r_{E_n}'' = r_Z''",
        f"{bars} bars have {links} moving links with the elbows E_0 to E_{links}; E_{bars} would belong to the ground. "
        "With E_n read as the lower end of link n − 1, both sides of the first row are ends of one link, as in eq. 46, "
        f"and the rank is {max(printed)} of {size_needed}; corrected it is {min(sizes)}",
        bars <= links and min(printed) == size_needed,
        evidence={
            "highest elbow": links,
            "highest index as printed": bars,
            "rank as printed, index mended": max(printed),
            "rank corrected": min(sizes),
        },
        reason="the indices are one too high, and the first row compares both ends of one link",
        corrected="r_{E_{n−2}}'' from link n − 1 = r_{E_{n−2}}'' from link n − 2, and r_{E_{n−1}}'' = r_Z''",
        effect="an elbow that does not exist, or equations that cannot be solved",
        severity="wrong",
    )
    right = claim(
        "eqs. 55-57, corrected",
        "the end of the last link is moved",
        f"{bars} bars: {min(sizes)} equations of full rank; accelerations along a motion of {duration:g} s agree with "
        f"Lagrange's equations with multipliers to {gap:.1g}",
        gap < LOOPS,
        evidence={"largest relative difference": gap, "rank": min(sizes)},
    )
    return as_printed, right


def total_energy(states: int, duration: float) -> Finding:
    """Equation 60 with equations 7, 8, 13 and 14 as printed, against the energies of the program, and along a run."""
    model = three_links()
    system = pendula.compile_system(model)
    rng = np.random.default_rng(6)
    gap = 0.0
    for _ in range(states):
        q, w = rng.uniform(-np.pi, np.pi, 3), rng.normal(size=3)
        gap = max(gap, abs(_printed_energy(model, q, w) - sum(float(x) for x in system.energies(q, w))))
    run = pendula.simulate(model, duration, tol=1e-10, initial_state={"theta1": 1.5, "theta2": 0.3}, samples=51)
    along = np.array([_printed_energy(model, q, w) for q, w in zip(run.q, run.v, strict=True)])
    kinetic = float(np.max(run.energy.kinetic))
    drift = float(np.ptp(along)) / kinetic
    return Finding(
        lines=(
            claim(
                "eqs. 7, 8, 60",
                "the total energy ℋ = E_k + E_p, with which solutions are checked",
                f"with eqs. 13 and 14 as printed it is the energy of the mechanism to {gap:.1g} J at {states} random "
                f"states (the sign in eq. 14 is squared), and constant along a motion of {duration:g} s to {drift:.1g} "
                "of its largest kinetic energy",
                gap < EXACT and drift < 1e-7,
                evidence={"largest difference [J]": gap, "relative change along a motion": drift},
                reason="the energies differ",
                corrected="E_k + E_p",
                severity="wrong",
            ),
        )
    )


def _printed_energy(model: pendula.Model, q: Array, w: Array) -> float:
    """Equation 60 by equations 7, 8, 13 and 14, all as printed."""
    p = model.parameter_values
    total, x_end, y_end, height = 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        m, l, d, J = (p[f"{name}{i + 1}"] for name in "mldJ")
        across, up = w[i] * np.cos(q[i]), -w[i] * np.sin(q[i])  # eq. 14
        speed = (x_end + d * across) ** 2 + (y_end + d * up) ** 2
        total += m / 2 * speed + J / 2 * w[i] ** 2 + m * p["g"] * (height - d * np.cos(q[i]))
        x_end, y_end, height = x_end + l * across, y_end + l * up, height - l * np.cos(q[i])
    return float(total)
