"""How fast is the 10-link run?"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np

import pendula
from benchmarks import peers
from benchmarks.measure import Goal, Side, Timing, difference, duration, interleave, number, ratio
from benchmarks.report import Report, Table
from pendula.numerics.compiled.native import Callback, address_of, call_native, doubles_at
from pendula.system.system import System

QUESTION = "How fast is the 10-link run (10 s from 90 degrees, tolerance 1e-8)?"
LINKS = 10
SPAN = 10.0
TOL = 1e-8
AGREE_AT = 1.0  # seconds; later the motion is chaotic and no two integrators agree
AGREE = 1e-5
CALLS = 1000
OVER_SCIPY = 5.0
OVER_SYMPY = 50.0
OVER_SYMPY_LATER = 300.0  # with the recursive kernels to come


def lean_rhs(rhs: Callback, size: int) -> peers.Rhs:
    """Our native right-hand side as the leanest function of (t, y) that Python can call.

    Addresses are constants of the compiled wrapper, so that only t and y are unpacked; of what was tried
    this is the quickest (see :func:`ctypes_rhs` for the usual way). ``rhs`` must outlive it.
    """
    address, context = rhs.address, rhs.context
    buffer = np.empty(1 + size)
    place = buffer.ctypes.data

    @numba.njit("float64[::1](float64, float64[::1])", error_model="numpy")
    def call(t: float, y: np.ndarray) -> np.ndarray:
        inp = doubles_at(place, 1 + size)
        inp[0] = t
        for i in range(size):
            inp[1 + i] = y[i]
        out = np.empty(size)
        call_native(address, address_of(out), place, context)
        return out

    call.keep = (rhs, buffer)
    return call


def ctypes_rhs(rhs: Callback, size: int) -> peers.Rhs:
    """The same through ctypes."""
    inp, out = np.empty(1 + size), np.empty(size)
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer)(rhs.address)
    where, state = (pointer(out.ctypes.data), pointer(inp.ctypes.data), pointer(rhs.context)), inp[1:]

    def call(t: float, y: np.ndarray) -> np.ndarray:
        inp[0] = t
        state[:] = y
        function(*where)
        return out.copy()

    call.keep = (rhs,)  # type: ignore[attr-defined]
    return call


def leanest(rhs: Callback, y0: np.ndarray) -> tuple[str, peers.Rhs]:
    """Whichever wrapper costs SciPy less here."""
    found = {"numba": lean_rhs(rhs, y0.size), "ctypes": ctypes_rhs(rhs, y0.size)}
    times = interleave({name: _many(f, y0) for name, f in found.items()}, rounds=5, share=0.01)
    best = min(times, key=lambda name: times[name].best)
    return best, found[best]


def drift(system: System, t: np.ndarray, y: np.ndarray) -> float:
    """Energy drift of a run of a peer, with our energies and our scale."""
    n = y.shape[1] // 2
    kinetic, potential = system.energies(y[:, :n], y[:, n:], t)
    total = kinetic + potential
    return float(np.abs(total - total[0]).max() / max(kinetic.max(), np.ptp(potential)))


def run(quick: bool) -> Report:
    """Our run against SciPy around the same function and around SymPy's."""
    report = Report("simulation", QUESTION)
    system = pendula.compile_system(pendula.library.chain(links=LINKS))
    start = system.initial_state()
    y0 = np.concatenate([start.q, start.v])
    dynamics = system.dynamics()
    wrapper, native = leanest(dynamics.rhs, y0)
    equations = peers.sympy_kane(peers.sympy_chain(LINKS))
    symbolic = peers.sympy_rhs(equations, system.parameters)

    def ours(duration: float) -> Any:
        return pendula.simulate(system, duration, tol=TOL)

    ours(SPAN), peers.scipy_run(native, y0, 0.1, TOL), peers.scipy_run(symbolic, y0, 0.1, TOL)  # warm up
    alone: list[float] = []
    sides = {
        "pendula": Side(lambda _: alone.append(ours(SPAN).seconds)),
        "scipy": Side(lambda _: peers.scipy_run(native, y0, SPAN, TOL)),
        "sympy": Side(lambda _: peers.scipy_run(symbolic, y0, SPAN, TOL)),
    }
    times = interleave(sides, rounds=2 if quick else 5, share=0.2)
    evaluation = _evaluation(native, symbolic, y0)

    run_ours = ours(SPAN)
    functions = {"scipy": native, "sympy": symbolic}
    runs = {name: peers.scipy_run(f, y0, SPAN, TOL) for name, f in functions.items()}
    rows = {"pendula": (run_ours.steps, run_ours.rhs_evaluations, run_ours.energy_drift)}
    for name, found in runs.items():
        rows[name] = (len(found.t) - 1, found.nfev, drift(system, found.t, found.y.T))
    labels = {"pendula": "pendula.simulate", "scipy": "SciPy, our function", "sympy": "SciPy, SymPy's"}
    table = Table(["DOP853", "CPU", "wall", "ratio", "steps", "calls", "drift", "1 call"])
    for name, label in labels.items():
        steps, calls, lost = rows[name]
        timing = times[name]
        times_slower = ratio(timing.best, times["pendula"].best)
        one = duration(evaluation[name].best) if name in evaluation else ""
        cells = [duration(timing.best), duration(timing.best_wall), number(times_slower)]
        table.rows.append([label, *cells, str(steps), str(calls), f"{lost:.0e}", one])
        report.figures[name] = {**timing.figures(), "ratio": times_slower, "steps": steps, "rhs_evaluations": calls}
        report.figures[name]["energy_drift"] = lost
    inner = min(alone)
    report.tables.append(table)
    report.figures["pendula"]["integration_wall_s"] = inner
    report.figures["one_call"] = {name: t.figures() for name, t in evaluation.items()}
    report.figures["scipy"]["wrapper"] = wrapper
    report.notes.append(
        f"Of pendula.simulate, {duration(inner)} are the integration alone (wall time): "
        f"{number(ratio(times['scipy'].best_wall, inner))} and "
        f"{number(ratio(times['sympy'].best_wall, inner))} times faster. SciPy's wrapper of our function: {wrapper}."
    )
    _compare(
        report,
        ours(AGREE_AT),
        {n: peers.scipy_run(f, y0, AGREE_AT, TOL) for n, f in (("scipy", native), ("sympy", symbolic))},
    )
    report.goals += [
        Goal("SciPy with the same function", report.figures["scipy"]["ratio"], "at least", OVER_SCIPY, " times"),
        Goal("SciPy with SymPy's function", report.figures["sympy"]["ratio"], "at least", OVER_SYMPY, " times"),
    ]
    report.notes.append(f"With the recursive kernels to come the last goal will be {OVER_SYMPY_LATER:g} times.")
    return report


def _evaluation(native: peers.Rhs, symbolic: peers.Rhs, y0: np.ndarray) -> dict[str, Timing]:
    """One call of each right-hand side from Python."""
    y = y0 + np.linspace(0.0, 0.5, y0.size)
    sides = {"scipy": _many(native, y), "sympy": _many(symbolic, y)}
    return {name: timing.per(CALLS) for name, timing in interleave(sides, rounds=3, share=0.02).items()}


def _many(rhs: peers.Rhs, y: np.ndarray) -> Side:
    """Many calls as one piece of work."""

    def work(_: object) -> None:
        for _ in range(CALLS):
            rhs(0.0, y)

    return Side(work)


def _compare(report: Report, ours: Any, others: dict[str, Any]) -> None:
    end = np.concatenate([ours.q[-1], ours.v[-1]])
    apart = {name: difference(found.y[:, -1], end) for name, found in others.items()}
    report.figures["difference_at_1_s"] = apart
    worst = max(apart.values())
    text = ", ".join(f"{name} {x:.0e}" for name, x in apart.items())
    verdict = "agree" if worst <= AGREE else "WRONG: do not agree"
    report.notes.append(f"States at t = {AGREE_AT:g} s {verdict} to {AGREE:g}: {text}.")
