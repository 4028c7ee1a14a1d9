"""Section 5.4, cases of linkages: the pump jack, a shaken end, a stretched end, and a pull of half a period."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.papers.judge import chosen, claim
from pendula.papers.show import animation
from pendula.papers.turner.dae import dae, links_of
from pendula.papers.types import Finding, Line
from pendula.present.pictures.curves import Chart, curve
from pendula.results import Modes, Trajectory

COUNTEREXAMPLES = ((1.0, 2.0, 2.2, 4.0), (2.0, 2.5, 4.0, 1.0))


def pumpjack(drive: float, duration: float) -> Finding:
    """The driven pump jack with the forces in its joints, and which cranks can turn."""
    model = pendula.library.four_bar(preset="pumpjack", drive=drive)
    run = pendula.simulate(model, duration, tol=1e-9, samples=801)
    found = pendula.reactions(run)
    turns = float((run["crank"][-1] - run["crank"][0]) / (2 * np.pi))
    peaks = {peak.joint: float(peak.force) for peak in found.peaks if peak.force is not None}
    rows = ", ".join(f"{name} {x:.4g} N" for name, x in peaks.items())
    rates = run["crank_dot"]
    lines = (
        *_driving(drive),
        _force_or_couple(drive),
        chosen(
            "5.4, 4-bar pumpjack",
            "the crank moves in a circle if driven; over long times the system is noticeably accelerated",
            f"{turns:.2f} turns in {duration:g} s; the rate of the crank grows from {rates[0]:.3g} to {rates[-1]:.3g} "
            f"rad/s; largest forces: {rows}",
            data=f"lengths of the library's pump jack, drive {drive:g} N s; the paper gives none",
            evidence={"turns": turns, "first rate": float(rates[0]), "last rate": float(rates[-1])}
            | {f"largest force [N], {n}": x for n, x in peaks.items()},
        ),
        _crank_rule(),
    )
    chart = Chart(
        "pumpjack",
        "Forces in the joints of the pump jack",
        "time [s]",
        "force [N]",
        tuple(curve(name, found.t, found[name].force_size) for name in found.joints),
    )
    return Finding(lines=lines, figures=(chart,), animations=(animation(run, "pumpjack", "Pump jack under drive"),))


def _driving(mu: float) -> tuple[Line, Line]:
    """Power of the force of equation 58 on a link that turns, and of the torque in equation 59, for every index i."""
    rate, arm = 2.0, 1.0
    force = -mu * rate  # along the direction in which the point moves
    power = force * arm * rate
    torque = -arm * force  # eq. 59: -r x F
    angles, rates = np.array([0.9, -0.5, 1.7]), np.array([1.2, -2.0, 0.7])
    torques = mu * arm * rates * np.cos(angles - angles[0])  # of eq. 59, by the rate and direction of link i
    powers = torques * rates[0]
    braking = ", ".join(f"{x:+.3g} W for i = {i}" for i, x in enumerate(powers, 1))
    return (
        claim(
            "eq. 58",
            "driving force F_d = −μ_d θ_i' θ̂_i",
            f"its power at θ' = {rate:g} rad/s is {power:.3g} W: it brakes; only the second minus in eq. 59 turns it "
            f"into a torque of {torque:+.3g} N m, if r_T1, which is not defined, points from the base to where the "
            "force acts",
            power > 0,
            evidence={"power [W]": power, "torque of eq. 59 [N m]": torque},
            reason="a force against the velocity is friction (eq. 25 has the same form)",
            corrected="F_d = +μ_d θ_1' θ̂_1, with + r_T × F_d in eq. 59",
            effect="a brake instead of a drive, with the usual moment r × F",
            severity="incomplete",
        ),
        claim(
            "eq. 58, index",
            "the force on the first link is given by θ_i' and θ̂_i",
            "power of the torque of eq. 59 on the first link, at θ = [0.9, −0.5, 1.7] rad and θ' = [1.2, −2, 0.7] "
            f"rad/s: {braking}; only that for i = 1, μ_d θ_1'², is positive at every state",
            bool(np.allclose(powers, powers[0])),
            evidence={f"power, i = {i} [W]": x for i, x in enumerate(powers, 1)},
            reason="the force acts on the first link alone, so it must follow its rate and direction",
            corrected="θ_1' and θ̂_1",
            effect="which link the drive follows is left open; another than the first may brake it",
            severity="incomplete",
        ),
    )


def _force_or_couple(mu: float) -> Line:
    """The drive at the tip of the first link of a linkage, in its moment alone and in its linear momentum as well."""
    model = pendula.library.linkage(bars=6)
    run = pendula.simulate(model, 1.0, tol=1e-10, samples=2)
    q, w = run.q[-1], run.v[-1]
    _, lengths, centres, _ = links_of(model)
    across = np.array([np.cos(q[0]), np.sin(q[0])])
    force, arm = mu * w[0] * across, lengths[0] - centres[0]
    A, still = dae(model, q, w, closed=True)
    moment = still.copy()
    moment[2 * len(q)] += arm * mu * w[0]
    both = moment.copy()
    both[:2] += force
    change = [float((np.linalg.solve(A, b) - np.linalg.solve(A, still))[2 * len(q)]) for b in (moment, both)]
    return claim(
        "eqs. 51, 52, 59",
        "the driving force F_d stands in the moment of the first link, and the sums of forces stay as they are",
        f"a force μ_d θ_1' θ̂_1 at the tip of the first of 6 bars, in motion at θ_1' = {w[0]:.3g} rad/s: in eq. 59 "
        f"alone it changes θ_1'' by {change[0]:.4g} rad/s², in eqs. 51 and 52 as well by {change[1]:.4g} rad/s²",
        abs(change[0] - change[1]) < 1e-9,
        evidence={"change in eq. 59 alone [rad/s^2]": change[0], "change with eqs. 51, 52 [rad/s^2]": change[1]},
        reason="a force accelerates the mass centre as well; with the moment alone the drive is a couple, whose size "
        "depends on where the force was said to act",
        corrected="F_d in eqs. 51 and 52 for i = 1 as well, or a driving torque in place of the force",
        effect="another drive than the one described",
        severity="incomplete",
    )


def _crank_rule() -> Line:
    """Cranks that obey the printed rule and cannot turn, by closing the loop at every angle of the crank."""
    shares = {}
    for lengths in COUNTEREXAMPLES:
        a, b, c, d = lengths
        angles = np.linspace(0, 2 * np.pi, 721)
        gap = np.hypot(d - a * np.cos(angles), a * np.sin(angles))
        shares[lengths] = float(np.mean((gap <= b + c) & (gap >= abs(b - c))))
    words = "; ".join(
        f"crank, coupler, rocker, ground = {lengths}: {a + b:g} < {c + d:g}, "
        f"but the loop closes at {100 * shares[lengths]:.0f} % of the crank's angles; "
        f"{pendula.library.grashof(a, b, c, d)}"
        for lengths in COUNTEREXAMPLES
        for a, b, c, d in (lengths,)
    )
    return claim(
        "5.4, 4-bar linkage",
        "a crank turns if the combined length of two adjacent moving links is less than that of the other moving link "
        "and the fixed one",
        words,
        all(share == 1.0 for share in shares.values()),
        evidence={f"share of angles, {lengths}": share for lengths, share in shares.items()},
        reason="what matters is the shortest and the longest link, wherever they are",
        corrected="Grashof: the shortest link turns fully if shortest + longest < sum of the other two",
        effect="linkages that lock would be built as cranks",
        severity="wrong",
    )


# -- strings of links ---------------------------------------------------------------------------------


def with_end(model: pendula.Model, x: str, y: str) -> pendula.Model:
    """A linkage whose far end moves as given; its other numbers are kept."""
    content = model.model_dump(by_alias=True)
    content["parameters"] = dict(model.parameter_values)
    *others, end = content["joints"]
    end["parent"] = {"body": "ground", "position": [x, y, 0]}
    content["joints"] = [*others, end]
    return pendula.Model(**content)


def _mode_shares(found: Modes, run: Trajectory, first: int) -> np.ndarray:
    """Mean square of the first modal coordinates along a run, as shares of all of them."""
    names = found.linear.coordinates
    rest = np.array([found.linear.at[name] for name in names])
    moved = np.stack([run[name] for name in names], axis=1) - rest
    eta = np.array([pendula.linear.modal_coordinates(found, row)[0] for row in moved[first:]])
    power = (eta * found.frequencies) ** 2
    return np.asarray(power.mean(axis=0) / power.mean(axis=0).sum())


def shaken(bars: int, amplitude: float, duration: float, mode: int) -> Finding:
    """A string of links whose end is shaken across it, at the frequency of one of its modes."""
    hanging = pendula.library.driven_linkage(bars=bars, amplitude=0.0)
    p = hanging.parameter_values
    x, y = p["X"], p["Y"]
    still = with_end(hanging, repr(x), repr(y))
    rest = pendula.equilibria.lowest_equilibrium(pendula.compile_system(still))
    found = pendula.modes(pendula.compile_system(still), rest)
    rate = float(found.frequencies[mode - 1])
    moving = with_end(hanging, repr(x), f"{y!r} + {amplitude!r}*sin({rate!r}*t)")
    system = pendula.compile_system(moving)
    assert rest is not None  # a string between two pivots hangs somewhere
    start = {name: rest[name] for name in system.layout.coordinates}
    run = pendula.simulate(system, duration, initial_state=start, tol=1e-8, samples=1201)
    shares = _mode_shares(found, run, 600)
    best = int(np.argmax(shares)) + 1
    heights = np.stack([run.position(f"link{k}", "tip")[:, 1] for k in range(1, bars - 1)], axis=1)
    largest = heights[600 + int(np.argmax(np.abs(heights[600:] - heights[0]).max(axis=1)))] - heights[0]
    clear = largest[np.abs(largest) > 0.1 * np.abs(largest).max()]
    loops = 1 + int(np.sum(np.diff(np.sign(clear)) != 0))
    middle = run.position(f"link{bars // 4}", "tip")[:, 1]
    line = chosen(
        f"5.4, shaking end, {bars} bars",
        "shaken across the line between base and end, the links exhibit standing waves; nearly second order ones are "
        "found",
        f"shaken at the frequency of mode {mode}, {rate:.5g} rad/s, mode {best} holds {100 * shares[best - 1]:.3g} % "
        "of the energy of small motion in the second half, and "
        f"the string moves in {loops} loops: its lowest mode is the standing wave of second order, because links "
        "that cannot stretch do not allow a wave with one loop",
        data=f"{bars - 1} links of 1 m hanging between pivots {x:.4g} m apart, amplitude {amplitude:g} m, from rest; "
        "the paper gives none",
        evidence={"frequency [rad/s]": rate, "strongest mode": best, "loops": loops}
        | {f"share of mode {k + 1}": s for k, s in enumerate(shares[:5])},
    )
    chart = Chart(
        "shaken",
        "Height of an elbow at a quarter of the string",
        "time [s]",
        "height [m]",
        (curve("elbow", run.t, middle), curve("end, × 10", run.t, middle[0] + 10 * amplitude * np.sin(rate * run.t))),
        note="The motion of the end is drawn ten-fold, about the height of the elbow at rest.",
    )
    return Finding(
        lines=(line,),
        figures=(chart,),
        animations=(
            animation(
                run,
                "shaken",
                f"{bars}-bar linkage with a shaken end",
                note=f"Driven at {rate:.4g} rad/s, the frequency of mode {mode}",
                signals=(f"link{bars // 4}.tip.y",),
            ),
        ),
    )


def _arc(links: int, share: float) -> list[str]:
    """Angles of links that hang in a shallow arc, whose ends are this share of its length apart."""
    half = np.degrees(np.sqrt(6 * (1 - share)))  # an arc of chords has 1 - angle^2/6 of its length
    return [f"{90 + half * (2 * (k + 0.5) / links - 1):.6g}deg" for k in range(links - 1)]


def stretched(bars: int, rate: float, duration: float, slack: float, taut: float) -> Finding:
    """A string of links whose end is pulled to and fro along it, nearly to its limit."""
    links = bars - 1
    model = pendula.library.driven_linkage(bars=bars, amplitude=0.0, start=_arc(links, taut))
    p = model.parameter_values
    beta = (taut - slack) * links / 2
    moving = with_end(model, f"{p['X'] - beta!r} + {beta!r}*cos({rate!r}*t)", repr(p["Y"]))
    run = pendula.simulate(moving, duration, tol=1e-8, samples=1601)
    reach = np.hypot(p["X"] - beta + beta * np.cos(rate * run.t), p["Y"]) / (links - 1 + p["last"])
    found = pendula.reactions(run)
    pull = np.asarray(found["theta1"].force_size)
    tight, loose = reach > 0.99 * reach.max(), reach < 0.9 * reach.max()
    middle = f"theta{links // 2}"
    speed, change = np.asarray(run[f"{middle}_dot"]), np.asarray(run[f"{middle}_ddot"])
    fast = [float(np.sqrt(np.mean(change[where] ** 2) / np.mean(speed[where] ** 2))) for where in (tight, loose)]
    line = chosen(
        f"5.4, stretched end, {bars} bars",
        "stretched nearly to its limit, high frequency vibrations can be observed",
        f"stretched to {reach.max():.4f} of its length; the middle link vibrates at {fast[0]:.3g} rad/s where taut "
        f"and {fast[1]:.3g} where slack (ratio of root mean squares of acceleration and rate; the drive has {rate:g}); "
        f"largest force at the base "
        f"{pull.max():.4g} N, {pull.max() / (links * 9.81):.3g} times the weight",
        data=f"end between {reach.min():.3g} and {reach.max():.4g} of the length of all links, {rate:g} rad/s, "
        "links of 1 m and 1 kg; the paper gives none",
        evidence={
            "largest stretch": float(reach.max()),
            "frequency, taut [rad/s]": fast[0],
            "frequency, slack [rad/s]": fast[1],
            "largest force [N]": float(pull.max()),
        },
    )
    chart = Chart("stretched", "Force at the base", "time [s]", "force [N]", (curve("force", run.t, pull),), log_y=True)
    return Finding(
        lines=(line,),
        figures=(chart,),
        animations=(animation(run, "stretched", f"{bars}-bar linkage, stretched and released"),),
    )


def pulled(bars: int, rate: float, duration: float, slack: float, taut: float, gravities: list[float]) -> Finding:
    """The end is pulled for half a period and held; which standing wave remains, with and without gravity."""
    links = bars - 1
    angles = _arc(links, slack)
    shares, curves, animations = {}, [], []
    for g in gravities:
        model = pendula.library.driven_linkage(bars=bars, amplitude=0.0, start=angles).with_parameters({"g": g})
        p = model.parameter_values
        beta = (taut - slack) * links / 2
        pull = f"{p['X'] + beta!r} - {beta!r}*cos({rate!r}*t) if t < {np.pi / rate!r} else {p['X'] + 2 * beta!r}"
        run = pendula.simulate(with_end(model, pull, repr(p["Y"])), duration, tol=1e-8, samples=1201)
        heights = np.stack([run.position(f"link{k}", "tip")[:, 1] for k in range(1, links)], axis=1)
        shares[g] = _orders(heights[run.t > np.pi / rate])
        curves.append(curve(f"g = {g:g} m/s²", run.t, heights[:, links // 2]))
        animations.append(animation(run, f"pulled-{g:g}", f"Pulled for half a period, then held; g = {g:g} m/s²"))
    words = "; ".join(
        f"g = {g:g}: order {int(np.argmax(x)) + 1} is the strongest (orders 1 to 3: "
        + ", ".join(f"{100 * s:.3g} %" for s in x[:3])
        + ")"
        for g, x in shares.items()
    )
    line = chosen(
        f"5.4, half a period, {bars} bars",
        "the end is driven for only half a period; then the links oscillate in the first standing wave",
        f"motion of the elbows' heights after the pull, by standing waves of a string: {words}. Links that cannot "
        "stretch have no first wave about a "
        "taut hanging shape; without gravity the arc flips from side to side",
        data=f"{links} links of 1 m, end pulled from {slack:g} to {taut:g} of their length in {np.pi / rate:.3g} s, "
        "then held; the paper gives none, "
        "nor whether there is gravity",
        evidence={f"share of order {k + 1}, g = {g:g}": s for g, x in shares.items() for k, s in enumerate(x[:3])},
    )
    chart = Chart("pulled", "Height of the middle of the string", "time [s]", "height [m]", tuple(curves))
    return Finding(lines=(line,), figures=(chart,), animations=tuple(animations))


def _orders(heights: np.ndarray) -> np.ndarray:
    """Mean squares of the standing waves of a string in the motion of its points, as shares of all."""
    points = np.arange(1, heights.shape[1] + 1)
    size = (heights - heights.mean(axis=0)) @ np.sin(np.pi * np.outer(points, points) / (len(points) + 1))
    return np.asarray((size**2).mean(axis=0) / (size**2).mean(axis=0).sum())
