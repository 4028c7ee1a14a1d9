"""How long do runs take at equal energy error?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pendula
from benchmarks import integrators, ours, twins
from benchmarks.equal_error import Point, decades, front, seconds_for, times_faster
from benchmarks.lineup import Lineup, Missing
from benchmarks.measure import duration, goal, number
from benchmarks.report import Report, Table

QUESTION = "How long does 10 s of motion from 90 degrees take at equal energy error?"
SPAN = 10.0
COMMON = 1e-7
"""J; about the error heyoka reaches at a tolerance of 1e-8: where the goals are judged"""
BROKEN = 1.0
"""J; a run with more is no run (the chain starts with none and falls by hundreds)"""
TOLERANCES = {
    "dop853": (1e-5, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13),
    "taylor": (1e-5, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13),
    "rk45": (1e-5, 1e-7, 1e-9, 1e-11),
    "heyoka": (1e-8, 1e-11),  # without compact mode its code is large: most of a minute to generate beyond this
    "heyoka compact": (1e-5, 1e-7, 1e-8, 1e-11, 1e-14),
    "SciPy DOP853": (1e-5, 1e-7, 1e-9, 1e-11, 1e-13),
    "diffrax Dopri8": (1e-6, 1e-8, 1e-10),
}
LONG = {
    "dop853": (1e-5, 1e-7, 1e-9),
    "taylor": (1e-5, 1e-7, 1e-9),
    "heyoka compact": (1e-8,),
    "SciPy DOP853": (1e-8,),
    "diffrax Dopri8": (1e-6, 1e-8),
    "MuJoCo RK4": (1e-3, 5e-4),  # steps, in seconds
}
VERY_LONG = 1000
Curve = list[dict[str, float]]


def run(quick: bool) -> Report:
    """10 links at many tolerances, 100 at some, 1000 at one."""
    report = Report("work_precision", QUESTION)
    ten = _curves(report, 10, _quick(TOLERANCES) if quick else TOLERANCES, quick)
    _table(report, 10, ten)
    _octave(report)
    hundred = {} if quick else _curves(report, 100, LONG, quick)
    if hundred:
        _table(report, 100, hundred)
    _goals(report, ten, hundred)
    if not quick:
        _thousand(report)
    report.notes += [
        "CPU time of the integration alone for us (the share trajectory.seconds has of the call; the whole call is in "
        "the figures), of one call for the others, after all compilation. Energy error: the largest |E(t) - E(0)| in joules at the integrator's "
        "own steps, by the same formula for all, from states of an untimed run.",
        "Times at equal error are interpolated in logarithms between runs; a side is never asked for less error than it "
        f"has reached. Goals are judged at {COMMON:g} J, or at the "
        f"error of the other's coarsest run if that is less; runs beyond {BROKEN:g} J do not count. SciPy calls the same compiled right-hand side as we do.",
    ]
    return report


def _quick(asked: dict[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    return {who: tols[1::2] for who, tols in asked.items() if who != "heyoka"}


def _curves(report: Report, links: int, asked: dict[str, tuple[float, ...]], quick: bool) -> dict[str, Curve]:
    """For everyone and every tolerance: time and energy error."""
    makers = _makers(links)
    lineup, runs, once = Lineup(), {}, Lineup()
    for who, tolerances in asked.items():
        for tol in tolerances:
            name = f"{who} {tol:g}"
            place = once if who == "MuJoCo RK4" else lineup
            if not place.add(name, partial(_keep, runs, name, partial(makers[who], tol)), least=0.0):
                report.missing[f"{_label(who)}, {links} links, {tol:g}"] = place.missing[name]
                if not _at_this_tolerance_only(place.missing[name]):
                    report.missing[f"{_label(who)}, {links} links"] = report.missing.pop(
                        f"{_label(who)}, {links} links, {tol:g}"
                    )
                    break
    times = lineup.run(rounds=2 if quick or links > 10 else 4, share=0.03) | once.run(rounds=1, share=0.0)
    found: dict[str, Curve] = {}
    for who, tolerances in asked.items():
        for tol in tolerances:
            name = f"{who} {tol:g}"
            if name not in times:
                continue
            point = {"tol": tol, "error": twins.energy_error(*runs[name].states()), "seconds": times[name].best}
            inner = getattr(runs[name], "inner", None)
            if inner:
                point |= {"call_seconds": point["seconds"], "seconds": min(inner)}
            found.setdefault(_label(who), []).append(point)
    report.figures[f"links_{links}"] = found
    return found


def _at_this_tolerance_only(reason: str) -> bool:
    """Whether the next tolerance may still work."""
    return "stopped" in reason or "tol" in reason


def _label(who: str) -> str:
    return f"pendula {who}" if who in ours.STEPPERS else who


def _keep(runs: dict[str, Any], name: str, make: Callable[[], Any]) -> Any:
    runs[name] = make()
    return runs[name]


def _makers(links: int) -> dict[str, Callable[[float], Any]]:
    """Everyone's run at a tolerance, made when it is its turn."""
    system = ours.best_system(pendula.library.chain(links=links))[1]
    rhs = ours.rhs_of(system)
    made: dict[str, Callable[[float], Any]] = {
        name: lambda tol, name=name: ours.Run(_for_stepper(links, name, system), SPAN, tol, name)
        for name in ours.STEPPERS
    }
    return made | {
        "heyoka": lambda tol: integrators.Heyoka(links, SPAN, tol, compact=False),
        "heyoka compact": lambda tol: integrators.Heyoka(links, SPAN, tol, compact=True),
        "SciPy DOP853": lambda tol: integrators.Scipy(rhs, links, SPAN, tol),
        "diffrax Dopri8": lambda tol: integrators.Diffrax(links, SPAN, tol),
        "MuJoCo RK4": lambda step: integrators.Mujoco(links, SPAN, step),
    }


def _for_stepper(links: int, stepper: str, system: Any) -> Any:
    """The system a stepper takes: Taylor series may need symbolic equations."""
    if stepper == "taylor":
        try:
            ours.Run(system, 0.01, 1e-6, stepper)
        except Missing:
            return ours.system_of(pendula.library.chain(links=links), "symbolic")
    return system


def points_of(curve: Sequence[dict[str, float]]) -> list[Point]:
    """The runs of a curve as points."""
    return [Point(run["error"], run["seconds"]) for run in curve if run["error"] < BROKEN]


def pooled(curves: dict[str, Curve], start: str) -> list[Point]:
    """All runs of those whose name starts so: the best of several variants counts."""
    return [point for who, curve in curves.items() if who.startswith(start) for point in points_of(curve)]


def _table(report: Report, links: int, curves: dict[str, Curve]) -> None:
    runs = Table([f"{links} links", "tol or step", "time", "energy error, J"])
    for who, curve in curves.items():
        runs.rows += [[who, f"{p['tol']:g}", duration(p["seconds"]), f"{p['error']:.1e}"] for p in curve]
    report.tables.append(runs)
    mine = pooled(curves, "pendula")
    gains = {who: decades(mine, points_of(curve)) for who, curve in curves.items() if not who.startswith("pendula")}
    errors = sorted({error for gain in gains.values() for error in gain}, reverse=True)
    if errors:
        table = Table(["times faster at error, J", *(f"{error:.0e}" for error in errors)])
        for who, gain in gains.items():
            table.rows.append([who, *(number(gain[e]) if e in gain else "-" for e in errors)])
        report.tables.append(table)
    report.figures[f"times_faster_{links}"] = {who: {f"{e:.0e}": x for e, x in g.items()} for who, g in gains.items()}


def _goals(report: Report, ten: dict[str, Curve], hundred: dict[str, Curve]) -> None:
    mine = pooled(ten, "pendula")
    for who, wanted in (("heyoka", 2.5), ("SciPy", 10.0)):
        theirs = front(pooled(ten, who))
        error = min(COMMON, theirs[-1].error) if theirs else COMMON
        gain = times_faster(mine, theirs, error)
        what = f"10 links against {who} at equal energy error"
        report.goals.append(goal(what, gain, "at least", wanted, " times", why=_why(report, who)))
    mine = pooled(hundred, "pendula")
    for who, wanted in (("MuJoCo", 200.0), ("diffrax", 1.5)):
        theirs = front(pooled(hundred, who))
        # fixed steps and few tolerances: judged at the error of their most exact run
        mine_there = seconds_for(mine, theirs[0].error) if theirs else None
        gain = theirs[0].seconds / mine_there if mine_there else None
        what = f"100 links against {who} at equal energy error"
        report.goals.append(goal(what, gain, "at least", wanted, " times", why=_why(report, who)))


def _why(report: Report, who: str) -> str:
    """Why there is no figure against someone."""
    reasons = [why for name, why in report.missing.items() if name.startswith(who)]
    return reasons[0] if reasons else "not measured in this run"


def _thousand(report: Report) -> None:
    """A thousand links at 1e-8."""
    seconds, why = None, ""
    try:
        system = ours.system_of(pendula.library.chain(links=VERY_LONG), "recursive")
        one = ours.Run(system, SPAN, 1e-8, "dop853")
        one(), one()
        seconds = min(one.inner)
        error = twins.energy_error(*one.states())
        report.figures["links_1000"] = {"seconds": seconds, "error": error}
        report.notes.append(f"1000 links, 10 s at 1e-8: {duration(seconds)}, energy error {error:.1e} J.")
    except Missing as reason:
        why = str(reason)
        report.missing[f"pendula, {VERY_LONG} links"] = why
    report.goals.append(goal(f"{VERY_LONG} links, 10 s at 1e-8", seconds, "at most", 2.0, " s", why=why))


def _octave(report: Report) -> None:
    try:
        seconds, error = integrators.octave_run(10, SPAN, 1e-8)
    except Missing as reason:
        report.missing["Octave ode45"] = str(reason)
        return
    report.figures["octave"] = {"seconds": seconds, "error": error}
    report.notes.append(f"Octave's ode45 at 1e-8, 10 links: {duration(seconds)}, energy error {error:.1e} J.")
