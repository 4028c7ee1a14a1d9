"""How fast are ten thousand double pendulums?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pendula
from benchmarks import ours, twins
from benchmarks.equal_error import Point, seconds_for
from benchmarks.lineup import Lineup, peer
from benchmarks.measure import duration, goal, number, ratio
from benchmarks.report import Report, Table

QUESTION = "How long do 10,000 double pendulums take, 10 s each?"
RUNS, FEW = 10_000, 1_000
SPAN = 10.0
ERROR = 3e-10
"""J; the median energy error at which all are compared if heyoka is not there"""
PATHS = {
    "pendula, general kernel": ("recursive", "dop853"),
    "pendula, small-system path": ("symbolic", "dop853"),
    "pendula, Taylor": ("symbolic", "taylor"),
}
TOLERANCES = {"dop853": (1e-10, 1e-11, 1e-12), "taylor": (1e-9, 1e-10, 1e-11, 1e-12)}
HEYOKA = (1e-8, 1e-9, 1e-10)
USUAL = 1e-9
"""heyoka's tolerance whose median error, about 3e-10 J, is the one at which all are compared"""
TEN_LINKS = 400


def run(quick: bool) -> Report:
    """Our paths against heyoka's batches, then scaling."""
    report = Report("ensemble", QUESTION)
    runs = FEW if quick else RUNS
    curves = _curves(report, runs, quick)
    error = common_error(curves)
    at = {who: seconds_for([Point(p["error"], p["seconds"]) for p in curve], error) for who, curve in curves.items()}
    _table(report, runs, curves, at, error)
    _goals(report, at)
    _processes(report, runs)
    _ten_links(report, quick)
    report.notes += [
        f"CPU time per trajectory on one core; energy error: the median of |E(10 s) - E(0)| in joules. Times at {error:.1e} "
        "J are interpolated in logarithms between runs at several tolerances. Initial angles are uniform over the circle, "
        "at rest. All sides integrate 8 (or as many as suit the processor) states at once and choose steps for each.",
    ]
    return report


def common_error(curves: dict[str, list[dict[str, float]]]) -> float:
    """The error of heyoka's runs at its usual tolerance, where it is not interpolated."""
    found = [
        p["error"] for who, curve in curves.items() if who.startswith("heyoka") for p in curve if p["tol"] == USUAL
    ]
    return max(found, default=ERROR)


def starts(runs: int, links: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Random angles, at rest."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (runs, links))
    return q, np.zeros_like(q)


def median_error(first: tuple[np.ndarray, np.ndarray], last: tuple[np.ndarray, np.ndarray]) -> float:
    """Median change of energy; a broken run counts as infinitely wrong."""
    change = np.abs(twins.chain_energy(*last) - twins.chain_energy(*first))
    return float(np.median(np.where(np.isfinite(change), change, np.inf)))


class HeyokaBatch:
    """heyoka's batch integrator, one batch after the other."""

    def __init__(self, size: int, runs: int, tol: float) -> None:
        hy = peer("heyoka")
        self.size = size or hy.recommended_simd_size()
        self.first = starts(runs)
        self.integrator = hy.taylor_adaptive_batch(twins.heyoka_chain(2), np.zeros((4, self.size)), tol=tol)

    def __call__(self) -> np.ndarray:
        y0 = np.concatenate(self.first, axis=1)
        out = np.empty_like(y0)
        for k in range(0, len(y0), self.size):
            batch = y0[k : k + self.size]
            self.integrator.set_time(0.0)
            self.integrator.state[:] = batch.T if len(batch) == self.size else np.resize(batch, (self.size, 4)).T
            self.integrator.propagate_until(SPAN)
            out[k : k + self.size] = self.integrator.state.T[: len(batch)]
        return out

    def last(self) -> tuple[np.ndarray, np.ndarray]:
        """States at the end."""
        y = self()
        return y[:, :2], y[:, 2:]


class OurMany:
    """Our many runs by one of the paths."""

    def __init__(self, engine: str, stepper: str, runs: int, tol: float, *, links: int = 2, workers: int = 1) -> None:
        self.first = starts(runs, links)
        self.system = ours.system_of(pendula.library.chain(links=links), engine)
        self.settings: dict[str, Any] = {"tol": tol, "stepper": stepper, "workers": workers}
        ours.many(self.system, *(x[:8] for x in self.first), 0.1, **self.settings)

    def __call__(self) -> Any:
        return ours.many(self.system, *self.first, SPAN, **self.settings)

    def last(self) -> tuple[np.ndarray, np.ndarray]:
        """States at the end."""
        return ours.last_states(self())


def _curves(report: Report, runs: int, quick: bool) -> dict[str, list[dict[str, float]]]:
    asked: dict[str, tuple[tuple[float, ...], Callable[[float], Any]]] = {}
    for who, (engine, stepper) in PATHS.items():
        asked[who] = (TOLERANCES[stepper], partial(OurMany, engine, stepper, runs))
    asked["heyoka, batch of 8"] = (HEYOKA, partial(HeyokaBatch, 8, runs))
    asked["heyoka, batch it recommends"] = (HEYOKA, partial(HeyokaBatch, 0, runs))
    lineup, made = Lineup(), {}
    for who, (tolerances, make) in asked.items():
        for tol in tolerances[-2:] if quick else tolerances:
            name = f"{who} {tol:g}"
            if not lineup.add(name, partial(_keep, made, name, partial(make, tol)), least=0.0):
                report.missing[who] = lineup.missing[name]
                break
    times = lineup.run(rounds=1 if quick else 2, share=0.0)
    found: dict[str, list[dict[str, float]]] = {}
    for who, (tolerances, _) in asked.items():
        for tol in tolerances:
            if (name := f"{who} {tol:g}") in times:
                error = median_error(made[name].first, made[name].last())
                found.setdefault(who, []).append({"tol": tol, "error": error, "seconds": times[name].best / runs})
    report.figures["curves"] = found
    return found


def _keep(made: dict[str, Any], name: str, make: Callable[[], Any]) -> Any:
    made[name] = make()
    return made[name]


def _table(
    report: Report, runs: int, curves: dict[str, list[dict[str, float]]], at: dict[str, float | None], error: float
) -> None:
    table = Table([f"{runs} double pendulums", "tol", "each", "median error, J"])
    for who, curve in curves.items():
        table.rows += [[who, f"{p['tol']:g}", duration(p["seconds"]), f"{p['error']:.1e}"] for p in curve]
    summary = Table([f"each, at {error:.1e} J", "time", "times faster than heyoka"])
    theirs = _heyoka(at)
    for who, seconds in at.items():
        gain = number(ratio(theirs, seconds)) if theirs and seconds else "-"
        summary.rows.append([who, duration(seconds) if seconds else "not reached", gain])
    report.tables += [table, summary]
    report.figures |= {"at_equal_error": at, "common_error": error}


def _heyoka(at: dict[str, float | None]) -> float | None:
    found = [x for who, x in at.items() if who.startswith("heyoka") and x]
    return min(found) if found else None


def _goals(report: Report, at: dict[str, float | None]) -> None:
    theirs, (general, *special) = _heyoka(at), PATHS
    why = "; ".join(f"{who}: {x}" for who, x in report.missing.items()) or "error not reached"
    mine = at.get(general)
    eight = at.get("heyoka, batch of 8")
    gain = ratio(eight, mine) if eight and mine else None
    what = "ensemble, general kernel against heyoka's batch of 8"
    report.goals.append(goal(what, gain, "at least", 1.0, " times", why=why))
    if theirs and mine and eight and theirs < eight:
        report.notes.append(
            f"Against the batch that heyoka recommends for this processor, the general kernel is {ratio(theirs, mine):.2f} "
            "times as fast; the other paths are compared with the faster of its two batches."
        )
    quickest = [x for who in special if (x := at.get(who))]
    gain = ratio(theirs, min(quickest)) if theirs and quickest else None
    what = "ensemble, Taylor or small-system path against heyoka"
    report.goals.append(goal(what, gain, "at least", 2.0, " times", why=why))


def _processes(report: Report, runs: int) -> None:
    """One process against two, by the clock, in a process of its own, on two cores if there are two."""
    gain, why = None, "there is one core only"
    if (os.cpu_count() or 1) > 1:
        command = [sys.executable, "-m", "benchmarks.two_processes", str(runs)]
        done = subprocess.run(command, capture_output=True, text=True)
        why = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
        if done.returncode == 0:
            walls = {int(k): float(x) for k, x in json.loads(done.stdout).items()}
            gain = ratio(walls[1], walls[2])
            report.figures["processes"] = {str(workers): wall for workers, wall in walls.items()}
            report.notes.append(
                f"Two processes: {duration(walls[2])} against {duration(walls[1])} with one (wall time)."
            )
    report.goals.append(goal("ensemble, 2 processes against 1", gain, "at least", 1.7, " times", why=why))


def _ten_links(report: Report, quick: bool) -> None:
    """Chains of ten links in lanes against one run after the other."""
    runs = TEN_LINKS // 4 if quick else TEN_LINKS
    lineup = Lineup()
    chain = pendula.library.chain(links=10)
    engine, system = ours.best_system(chain)
    q, v = starts(runs, 10)
    some = min(runs, 20)
    lineup.add("lanes", partial(OurMany, engine, "dop853", runs, 1e-8, links=10), least=0.0)
    lineup.add("one by one", lambda: lambda: _one_by_one(system, q[:some], v[:some]), least=0.0)
    times = lineup.run(rounds=2, share=0.0)
    each = {who: t.best / (runs if who == "lanes" else some) for who, t in times.items()}
    report.figures["ten_links"] = each
    gain = ratio(each["one by one"], each["lanes"]) if len(each) == 2 else None
    why = lineup.missing.get("lanes", "")
    what = "ensemble of 10-link chains, lanes against one by one"
    report.goals.append(goal(what, gain, "at least", 5.0, " times", why=why))
    if gain:
        report.notes.append(f"10 links at 1e-8: {duration(each['lanes'])} each in lanes.")


def _one_by_one(system: Any, q: np.ndarray, v: np.ndarray) -> None:
    """Integration alone would be a little less; the call is what a user has."""
    for one, rate in zip(q, v, strict=True):
        state = dict(zip(system.layout.coordinates, one, strict=True))
        state |= dict(zip(system.layout.speeds, rate, strict=True))
        pendula.simulate(system, SPAN, tol=1e-8, initial_state=state)
