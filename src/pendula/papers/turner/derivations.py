"""Sections 1 to 4: inertia of a link, and the three methods, as printed and corrected."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad

import pendula
from pendula.papers.judge import claim, same_equations
from pendula.papers.show import formulas
from pendula.papers.turner.dae import angular
from pendula.papers.turner.printed import lagrange, momentum, three_links
from pendula.papers.types import Finding, Line

EXACT = 1e-10
LOOPS = 1e-8
"""relative: accelerations of a loop, whose state satisfies the constraints to the tolerance of its run"""


def inertia(mass: float, length: float, com: float) -> Finding:
    """Equations 1 to 5 for a link whose mass centre is not in the middle."""
    m, L, d = mass, length, com

    def integral(about: float, first: float, second: float, power: int) -> float:
        """Of the density of equation 2, with the masses of both sections."""
        above = quad(lambda x: first / d * (x - about) ** power, 0, d)[0]
        return float(above + quad(lambda x: second / (L - d) * (x - about) ** power, d, L)[0])

    half = m / 2, m / 2
    as_written, eq_5 = integral(0, *half, 2), m / 6 * (L**2 - 2 * L * d + 2 * d**2)
    about_d, centre = integral(d, *half, 2), integral(0, *half, 1) / m
    right = m * (L - d) / L, m * d / L
    own, own_centre = integral(d, *right, 2), integral(0, *right, 1) / m
    closed = m * d * (L - d) / 3
    frequency = {
        rule: float(
            pendula.modes(
                pendula.library.chain(links=1, mass=m, length=L, com=d, inertia_rule=rule, start=0), {}
            ).frequencies[0]
        )
        for rule in ("printed", "consistent")
    }
    at_end = m / 6 * L**2
    data = f"m = {m:g} kg, L = {L:g} m, d = {d:g} m"
    return Finding(
        notes=(f"A link with {data}",),
        lines=(
            claim(
                "eqs. 1, 4",
                "I^G = ∫ l² dm from 0 to L",
                f"the integral is {as_written:.6g} kg m², the inertia about the end; eq. 5 gives {eq_5:.6g} and ∫ (l "
                f"− d)² dm = {about_d:.6g}",
                abs(as_written - eq_5) < EXACT,
                evidence={"eq. 4": as_written, "eq. 5": eq_5, "integral of (l - d)^2": about_d},
                reason="distances must be counted from the mass centre; eq. 5 is the integral of (l − d)²",
                corrected="I^G = ∫ (l − d)² dm",
                effect=f"an inertia {as_written / about_d:.3g} times too large, had eq. 4 been used instead of eq. 5",
                severity="wrong",
            ),
            claim(
                "eqs. 2, 3, 5",
                "half of the mass on each side of d, mass centre at d, I^G = m (L² − 2Ld + 2d²)/6",
                f"that density has its mass centre at {centre:.6g} m = (L + 2d)/4, not at {d:g} m; with masses m(L − "
                "d)/L and m d/L it is at "
                f"{own_centre:.6g} m and I^G = {own:.6g} = m d (L − d)/3 = {closed:.6g}; eq. 5 at d = L, a point "
                f"mass, gives {at_end:.4g} instead of 0",
                abs(centre - d) < EXACT,
                evidence={
                    "mass centre of eq. 2": centre,
                    "d": d,
                    "consistent inertia": own,
                    "closed form": closed,
                    "eq. 5": eq_5,
                    "eq. 5 at d = L": at_end,
                },
                reason="equal halves have their mass centre at d only if d = L/2",
                corrected="masses m(L − d)/L and m d/L, I^G = m d (L − d)/3",
                effect=f"frequency of one link {frequency['printed']:.4f} instead of {frequency['consistent']:.4f} "
                "rad/s",
                severity="wrong",
            ),
            claim(
                "after eq. 5",
                "in the nominal case all d_i = 0.5, and I^G reduces to m L²/12",
                f"with d = 0.5 m and L = {L:g} m eq. 5 gives {m / 6 * (L**2 - L + 0.5):.6g}, m L²/12 is "
                f"{m * L**2 / 12:.6g}",
                abs(m / 6 * (L**2 - L + 0.5) - m * L**2 / 12) < EXACT,
                evidence={"eq. 5 at d = 0.5": m / 6 * (L**2 - L + 0.5), "m L^2/12": m * L**2 / 12},
                reason="0.5 is the middle of a link of length 1 only",
                corrected="d_i = L_i/2",
                effect="a wrong inertia for links that are not 1 m long",
                severity="incomplete",
            ),
        ),
    )


def minimal(angles: list[float], rates: list[float]) -> Finding:
    """Lagrange (eqs. 6-15) and Newton-Euler (eqs. 16-31) for three unequal links."""
    model = three_links()
    return Finding(
        notes=("Three unequal links, so that no error hides behind equal numbers",),
        lines=(
            _equation_14(model, angles, rates),
            same_equations(
                "eq. 15",
                "d/dt of ∂L/∂θ_i' with the terms of link i only",
                model,
                lagrange(all_links=False),
                reason="the momentum ∂L/∂θ_i' depends on the angles and rates of all links",
                corrected="sum over all links j: Σ_j (∂/∂θ_j · θ_j' + ∂/∂θ_j' · θ_j'')",
                effect="the links do not feel each other",
                severity="wrong",
            ),
            same_equations(
                "eq. 15, corrected", "Lagrange's equations with the sum over j", model, lagrange(all_links=True)
            ),
            same_equations(
                "eq. 24",
                "the weight of link j is −m_i g ŷ",
                model,
                momentum(weight="i"),
                reason="the index of the mass is that of another link",
                corrected="−m_j g ŷ",
                effect="wrong for links of unequal mass, invisible for equal ones",
                severity="wrong",
            ),
            _sides(model, angles, rates),
            same_equations(
                "eqs. 28, 29",
                "Σ_i Σ_{j=1..i}, with I_i θ_i''",
                model,
                momentum(below=False, inertia="i"),
                reason="what acts below the upper elbow of link i are the links i to n, each with its own inertia; "
                "and a sum over i "
                "would leave one equation for n unknowns",
                corrected="one equation for each i, Σ_{j=i..n}, with I_j θ_j''",
                effect="accelerations wrong at every state",
                severity="wrong",
            ),
            same_equations(
                "eqs. 28, 29, sums corrected, I_i kept",
                "inertia of link i for all links below",
                model,
                momentum(inertia="i"),
                reason="each link turns with its own inertia",
                corrected="I_j θ_j''",
                effect="links of unequal inertia accelerate each other wrongly; equal links hide it",
                severity="wrong",
            ),
            same_equations("eqs. 28, 29, corrected", "Newton and Euler with j = i..n and I_j", model, momentum()),
        ),
        formulas=formulas(pendula.library.chain(links=2), "Two links, by Lagrange"),
    )


def _equation_14(model: pendula.Model, angles: list[float], rates: list[float]) -> Line:
    """Velocities of the mass centres, against the motion of the bodies."""
    system = pendula.compile_system(model)
    q, w, p = np.array(angles), np.array(rates), model.parameter_values
    run = pendula.simulate(
        system,
        1e-9,
        initial_state=system.state(
            dict(zip(system.layout.coordinates, angles, strict=True))
            | dict(zip(system.layout.speeds, rates, strict=True))
        ),
        samples=2,
    )
    l, d = (np.array([p[f"{name}{i}"] for i in (1, 2, 3)]) for name in "ld")
    gap = flipped = 0.0
    for i in range(3):
        arms = np.array([*l[:i], d[i]])
        up = float(-(arms * w[: i + 1] * np.sin(q[: i + 1])).sum())
        true = float(run.velocity(f"link{i + 1}", "com")[0, 1])
        gap, flipped = max(gap, abs(up - true)), max(flipped, abs(up + true))
    energy = float(system.energies(q, w).kinetic)
    return claim(
        "eq. 14, second line",
        "y' with minus signs",
        f"off by up to {gap:.4g} m/s; with the opposite sign by {flipped:.1g}; the squares, and so the kinetic energy "
        f"({energy:.4g} J), are the same",
        gap < EXACT,
        evidence={"error [m/s]": gap, "error with the opposite sign": flipped},
        reason="the rate of −cos θ is + sin θ θ' (eqs. 9 and 10 have it)",
        corrected="y' = Σ_j L_j θ_j' sin θ_j + d_i θ_i' sin θ_i",
        severity="harmless",
    )


def _sides(model: pendula.Model, angles: list[float], rates: list[float]) -> Line:
    """Which side of equation 27 is which: torques know the weight, changes of angular momentum the accelerations."""
    q, w, p = np.array(angles), np.array(rates), model.parameter_values
    m, l, d, J = (np.array([p[f"{name}{i}"] for i in (1, 2, 3)]) for name in "mldJ")
    r_hat, t_hat = np.stack([np.sin(q), -np.cos(q)], axis=1), np.stack([np.cos(q), np.sin(q)], axis=1)

    def sums(points: np.ndarray) -> np.ndarray:
        """Positions, or accelerations, of the mass centres: l times those of the links above, d times the own."""
        return np.asarray([(l[:i, None] * points[:i]).sum(axis=0) + d[i] * points[i] for i in range(3)])

    def sides(g: float, turning: np.ndarray) -> tuple[float, float]:
        """Both sides of equation 27 for the whole chain about its base, without friction: eqs. 28, 29, corrected."""
        r, a = sums(r_hat), sums(turning[:, None] * t_hat - (w**2)[:, None] * r_hat)
        change = (m * (r[:, 0] * a[:, 1] - r[:, 1] * a[:, 0])).sum() + (J * turning).sum()
        return float(-(m * g * r[:, 0]).sum()), float(change)

    system = pendula.compile_system(model)
    truth = np.asarray(system.accelerations(q, w))
    torques, change = sides(p["g"], truth)
    by_weight = [x - y for x, y in zip(sides(2 * p["g"], truth), (torques, change), strict=True)]
    return claim(
        "text before eqs. 28 and 29",
        "the right-hand side of eq. 27, Σ M_E = d/dt H_E, is the sum of torques, the left-hand side the change of "
        "angular momentum",
        f"both are {torques:.6g} N m on the motion (apart by {abs(torques - change):.1g}); with twice the gravity, at "
        f"the same state and accelerations, the left side changes by {by_weight[0]:.4g} N m and the right side by "
        f"{by_weight[1]:.1g}: the torques are on the left",
        by_weight[0] == 0,
        evidence={
            "left side [N m]": torques,
            "right side [N m]": change,
            "left side, by gravity": by_weight[0],
            "right side, by gravity": by_weight[1],
        },
        reason="the sides are exchanged",
        corrected="the left-hand side is the sum of torques, the right-hand side the change of angular momentum",
        severity="harmless",
    )


def maximal(angles: list[float], rates: list[float], bars: int) -> Finding:
    """The DAE method (eqs. 32-46) at one state, and the count of its equations for a linkage."""
    model = three_links()
    system = pendula.compile_system(model)
    q, w = np.array(angles), np.array(rates)
    truth = np.asarray(system.accelerations(q, w))
    right, _ = angular(model, q, w)
    gap = float(np.max(np.abs(right - truth)))
    shown = ", ".join(f"{x:.4g}" for x in truth)
    lines = [
        claim(
            "eqs. 32-46, corrected",
            "the DAE method gives the accelerations",
            f"[{shown}] rad/s², as Lagrange's equations to {gap:.1g}",
            gap < EXACT * np.max(np.abs(truth)),
            evidence={"largest difference": gap} | {f"theta{i + 1}''": x for i, x in enumerate(truth)},
        )
    ]
    lines.append(_equation_38(model, q, w, truth))
    for equation, says, reason, corrected in (
        (
            "40",
            "a(E_i) = a(G_i) − a(G_iE_i)",
            "the lower elbow is G_i plus the vector from G_i to E_i",
            "a(E_i) = a(G_i) + a(G_iE_i)",
        ),
        (
            "45",
            "absolute positions r_E, and d/dt Ḣ",
            "moments about G_i need the vectors from G_i; the left side is d/dt H (also in eqs. 53, 59)",
            "r_{G_iE_{i−1}} × R_i − r_{G_iE_i} × R_{i+1} = d/dt H",
        ),
    ):
        lines.append(_as_printed(model, q, w, truth, equation, says, reason, corrected))
    lines += [_equation_46(model, q, w), _equation_43(model, q), _linkage(bars), _count(bars)]
    return Finding(lines=tuple(lines), notes=(f"At θ = {angles} rad, θ' = {rates} rad/s",))


def _as_printed(
    model: pendula.Model,
    q: np.ndarray,
    w: np.ndarray,
    truth: np.ndarray,
    equation: str,
    says: str,
    reason: str,
    corrected: str,
) -> Line:
    wrong, _ = angular(model, q, w, (equation,))
    gap = float(np.max(np.abs(wrong - truth)))
    return claim(
        f"eq. {equation}",
        says,
        f"accelerations [{', '.join(f'{x:.4g}' for x in wrong)}] instead of [{', '.join(f'{x:.4g}' for x in truth)}] "
        "rad/s²",
        gap < EXACT,
        evidence={"largest difference [rad/s^2]": gap} | {f"theta{i + 1}'' as printed": x for i, x in enumerate(wrong)},
        reason=reason,
        corrected=corrected,
        effect=f"accelerations wrong by up to {gap:.3g} rad/s²",
        severity="wrong",
    )


def _equation_38(model: pendula.Model, q: np.ndarray, w: np.ndarray, truth: np.ndarray) -> Line:
    """The signs of equation 38 under both readings of F_g: as a component (eqs. 24, 35) and as a size (eq. 52)."""
    component, size = (angular(model, q, w, (reading,))[0] for reading in ("38", "38 size"))
    gaps = [float(np.max(np.abs(found - truth))) for found in (component, size)]
    shown = [", ".join(f"{x:.4g}" for x in found) for found in (truth, component, size)]
    return claim(
        "eq. 38",
        "+F_g for i < n, −F_g for i = n",
        f"accelerations [{shown[1]}] if F_g = −m g, a component as in eqs. 24 and 35, [{shown[2]}] if F_g = m g, a "
        f"size as in eq. 52, instead of [{shown[0]}] rad/s²",
        min(gaps) < EXACT,
        evidence={"largest difference, F_g = -m g [rad/s^2]": gaps[0], "largest difference, F_g = m g": gaps[1]}
        | {f"theta{i + 1}'', F_g = -m g": x for i, x in enumerate(component)}
        | {f"theta{i + 1}'', F_g = m g": x for i, x in enumerate(size)},
        reason="the weight acts the same way on every link: the first reading lifts the last link, the second all "
        "others",
        corrected="−m_i g in both cases: +F_g with F_g = −m g (eq. 35), or −F_g with F_g = m g (eq. 52)",
        effect=f"accelerations wrong by up to {gaps[0]:.3g} or {gaps[1]:.3g} rad/s²",
        severity="wrong",
    )


def _equation_46(model: pendula.Model, q: np.ndarray, w: np.ndarray) -> Line:
    _, rank = angular(model, q, w, ("46",))
    _, full = angular(model, q, w)
    return claim(
        "eqs. 46, 54",
        "a(E_{i−1}) = a(E_i)",
        f"the matrix of eq. 33 has rank {rank} of {5 * len(q)}: it is singular; with both sides E_{{i−1}}, from link "
        f"i and from link i − 1, the rank is {full}",
        rank == 5 * len(q),
        evidence={"rank as printed": rank, "rank corrected": full, "unknowns": 5 * len(q)},
        reason="both sides would be ends of the same link",
        corrected="a(E_{i−1}) from link i = a(E_{i−1}) from link i − 1",
        effect="the equations cannot be solved",
        severity="wrong",
    )


def _equation_43(model: pendula.Model, q: np.ndarray) -> Line:
    p = model.parameter_values
    l = np.array([p[f"l{i}"] for i in (1, 2, 3)])
    steps = l[:, None] * np.stack([np.sin(q), -np.cos(q)], axis=1)
    printed = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])[:3]  # sums to i - 1
    system = pendula.compile_system(model)
    rotations, origins = system.poses(q)
    tips = np.array([origins[i] + rotations[i] @ np.array([0.0, -l[i], 0.0]) for i in range(3)])[:, :2]
    off = np.linalg.norm(printed - tips, axis=1)
    exact = float(np.max(np.abs(np.cumsum(steps, axis=0) - tips)))
    return claim(
        "eqs. 43, 44",
        "r_Ei and its acceleration as sums to i − 1",
        f"the sums miss the lower elbows by {', '.join(f'{x:.3g}' for x in off)} m, the lengths of the links; sums to "
        f"i miss by {exact:.1g}",
        float(np.max(off)) < EXACT,
        evidence={"largest distance [m]": float(np.max(off)), "sums to i [m]": exact},
        reason="a sum to i − 1 ends at the upper elbow of link i",
        corrected="sums to i",
        effect="every arm of eq. 45 is wrong",
        severity="wrong",
    )


def _linkage(bars: int) -> Line:
    """The DAE method of a linkage along a motion, against the linkage by Lagrange with multipliers."""
    model = pendula.library.linkage(bars=bars, length=[1.0, 0.8, 1.1, 0.9][: bars - 2], mass=1.3)
    system = pendula.compile_system(model)
    run = pendula.simulate(system, 2.0, tol=1e-11, samples=11)
    gaps, sizes = [], []
    for q, w in zip(run.q, run.v, strict=True):
        truth = system.accelerations(q, w)
        found, rank = angular(model, q, w, closed=True)
        gaps.append(float(np.max(np.abs(found - truth)) / np.max(np.abs(truth))))
        sizes.append(rank)
    return claim(
        "eqs. 50-54, corrected",
        "two more constraints fix the end of the last link and make a linkage",
        f"{bars} bars: {min(sizes)} equations of full rank; accelerations along a motion of 2 s agree with Lagrange's "
        f"equations with multipliers to {max(gaps):.1g}",
        max(gaps) < LOOPS,
        evidence={"largest relative difference": max(gaps), "rank": min(sizes)},
    )


def _count(bars: int) -> Line:
    system = pendula.compile_system(pendula.library.linkage(bars=bars), "maximal")
    start = system.initial_state()
    rows = system.constraint_jacobian(start.q).shape[0]
    found = len(system.layout.speeds) + rows
    return claim(
        "eqs. 50, 54",
        "an n-bar linkage has 5n + 2 equations",
        f"{bars} bars: {len(system.layout.speeds)} speeds and {rows} constraint rows make {found}; 5n + 2 is "
        f"{5 * bars + 2}, 5(n − 1) + 2 is {5 * (bars - 1) + 2}",
        found == 5 * bars + 2,
        evidence={"equations": found, "5n + 2": 5 * bars + 2, "5(n - 1) + 2": 5 * (bars - 1) + 2},
        reason="one of the n bars is the ground and does not move",
        corrected="5(n − 1) + 2",
        effect="a system of the wrong size, if n counts all bars",
        severity="incomplete",
    )
