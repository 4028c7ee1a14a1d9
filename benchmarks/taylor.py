"""Taylor series: many double pendulums in eight lanes next to heyoka, and one run next to DOP853."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pendula
from benchmarks.measure import Goal, Side, duration, interleave, number, ratio
from benchmarks.report import Report, Table
from pendula.numerics.taylor.integrate import integrate_lanes
from pendula.system.system import System

QUESTION = "What do 10 s of a double pendulum cost by Taylor series, one of many and alone?"
SPAN = 10.0
RUNS, FEW = 10_000, 400
LANES = 8
ORDER, TOL = 18, 1e-10  # the cheapest we know for this energy error
PEER_TOL = 1e-9  # gives heyoka the same energy error
OVER_PEER = 2.0
ALONE_TOL = 1e-12

Solve = Callable[[np.ndarray], np.ndarray]


def starts(count: int) -> np.ndarray:
    """Random angles, at rest."""
    y0 = np.zeros((count, 4))
    y0[:, :2] = np.random.default_rng(0).uniform(-np.pi, np.pi, (count, 2))
    return y0


def ours(system: System) -> Solve:
    """Final states by our lanes."""
    series = system.series(lanes=LANES)
    return lambda y0: integrate_lanes(series, y0, (0.0, SPAN), rtol=TOL, atol=TOL, order=ORDER).y


def heyoka_batch(system: System) -> Solve | None:
    """Final states by heyoka, eight at a time; None where it is not installed."""
    try:
        import heyoka as hy
    except ImportError:
        return None
    m, l, g = (float(x) for x in system.parameters)  # rods of equal mass and length
    a, b, w1, w2 = hy.make_vars("a", "b", "w1", "w2")
    coupling = 0.5 * m * l * l * hy.cos(a - b)
    swing = 0.5 * m * l * l * hy.sin(a - b)
    first, second = 4.0 / 3.0 * m * l * l, m * l * l / 3.0
    f1 = -swing * w2 * w2 - 1.5 * m * g * l * hy.sin(a)
    f2 = swing * w1 * w1 - 0.5 * m * g * l * hy.sin(b)
    det = first * second - coupling * coupling
    rates = [(a, w1), (b, w2), (w1, (second * f1 - coupling * f2) / det), (w2, (first * f2 - coupling * f1) / det)]
    stepper = hy.taylor_adaptive_batch(rates, np.zeros((4, LANES)), tol=PEER_TOL)

    def solve(y0: np.ndarray) -> np.ndarray:
        out = np.empty_like(y0)
        for k in range(0, len(y0), LANES):
            stepper.set_time(0.0)
            stepper.state[:] = y0[k : k + LANES].T
            stepper.propagate_until(SPAN)
            out[k : k + LANES] = stepper.state.T
        return out

    return solve


def energy_error(system: System, y0: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Median and largest change of the energy."""
    before, after = (system.energies(x[:, :2], x[:, 2:]) for x in (y0, y))
    change = np.abs(after.kinetic + after.potential - before.kinetic - before.potential)
    return float(np.median(change)), float(change.max())


def run(quick: bool) -> Report:
    """Lanes against heyoka's batch; one run against DOP853 at the same tolerance."""
    report = Report("taylor", QUESTION)
    system = pendula.compile_system(pendula.library.chain(links=2))
    _many(report, system, FEW if quick else RUNS, rounds=2 if quick else 5)
    _alone(report, system, rounds=3 if quick else 10)
    return report


def _many(report: Report, system: System, count: int, rounds: int) -> None:
    y0 = starts(count)
    solvers: dict[str, Solve] = {"pendula": ours(system)}
    peer = heyoka_batch(system)
    if peer is not None:
        solvers["heyoka"] = peer
    for solve in solvers.values():
        solve(y0[: 2 * LANES])  # warm up
    times = interleave({name: Side(_bound(solve, y0)) for name, solve in solvers.items()}, rounds=rounds)
    table = Table(["8 at a time", "CPU per run", "ratio", "energy error, median", "largest"])
    for name, solve in solvers.items():
        each = times[name].per(count)
        slower = ratio(each.best, times["pendula"].per(count).best)
        median, largest = energy_error(system, y0, solve(y0))
        table.rows.append([name, duration(each.best), number(slower), f"{median:.1e}", f"{largest:.1e}"])
        report.figures[name] = {**each.figures(), "ratio": slower, "energy_error": median, "runs": count}
    report.tables.append(table)
    if peer is None:
        report.notes.append("heyoka is not installed; with it, its batch of 8 stands next to ours.")
    else:
        found = report.figures["heyoka"]["ratio"]
        report.goals.append(Goal("heyoka's batch of 8", found, "at least", OVER_PEER, " times"))


def _bound(solve: Solve, y0: np.ndarray) -> Callable[[Any], object]:
    return lambda _: solve(y0)


def _alone(report: Report, system: System, rounds: int) -> None:
    def work(stepper: str) -> Callable[[Any], object]:
        return lambda _: pendula.simulate(system, SPAN, tol=ALONE_TOL, stepper=stepper)

    steppers = ("taylor", "dop853")
    runs = {s: pendula.simulate(system, SPAN, tol=ALONE_TOL, stepper=s) for s in steppers}
    times = interleave({s: Side(work(s)) for s in steppers}, rounds=rounds)
    table = Table([f"one run, tol {ALONE_TOL:g}", "CPU", "integration", "steps", "drift"])
    for s in steppers:
        found = runs[s]
        cells = [duration(times[s].best), duration(found.seconds), str(found.steps), f"{found.energy_drift:.0e}"]
        table.rows.append([s, *cells])
        report.figures[f"alone: {s}"] = {**times[s].figures(), "steps": found.steps, "energy_drift": found.energy_drift}
    report.tables.append(table)
