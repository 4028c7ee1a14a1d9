"""How fast are accelerations, and how does their time grow with the number of bodies?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pendula
from benchmarks import ours, twins
from benchmarks.lineup import Lineup, Missing, peer
from benchmarks.measure import Timing, difference, duration, goal, number, ratio
from benchmarks.report import Report, Table

QUESTION = "How fast are accelerations (one evaluation, called from Python)?"
PLANAR = (2, 10, 100, 1000)
VERY_LONG = 100_000
SPATIAL = (7, 30, 100, 300)
MOST = {"pendula symbolic": 100, "Pinocchio LOCAL": 300, "Pinocchio WORLD": 300, "CasADi": 100}
"""where a side stops: equations grow as n^2 or faster, Pinocchio's data run out of memory, C takes long to compile"""
MOST_SPATIAL_SYMBOLIC = 7
AGREE = 1e-6  # at 1000 links a dense solve and relative angles lose eight digits
Call = Callable[[], Any]
Maker = Callable[[int, dict[str, np.ndarray]], Call]


def run(quick: bool) -> Report:
    """Planar and spatial chains of growing length."""
    report = Report("forward", QUESTION)
    planar = _sweep(report, "planar", PLANAR[:3] if quick else PLANAR, planar_makers(), _planar_reference, quick)
    spatial = _sweep(report, "spatial", SPATIAL[:3] if quick else SPATIAL, spatial_makers(), None, quick)
    _planar_goals(report, planar)
    _spatial_goals(report, spatial)
    if not quick:
        _very_long(report)
    report.notes += [
        "CPU time of one call from Python on both sides, arrays made beforehand, parameters held in arrays or objects on "
        "both sides, all at the same random state. Accelerations are compared with a dense solve (planar) or with "
        "Pinocchio (spatial). Ours, MuJoCo and CasADi read arrays that are bound to the code beforehand; Pinocchio takes its "
        "arrays in every call, and so does our rhs(t, y), which also checks and copies them.",
        "In the plane our kernel knows that it is planar; Pinocchio and MuJoCo compute with spatial vectors, and MuJoCo's "
        "mj_forward does more than accelerations (contacts and constraints are off). CasADi evaluates our recursion "
        "written as formulas, compiled by a C compiler where there is one.",
    ]
    return report


# --- planar sides -------------------------------------------------------------------------------------


def planar_makers() -> dict[str, Maker]:
    """Who takes part in the plane: a function of n that makes the call."""
    return {
        "pendula recursive": partial(_ours_planar, "recursive"),
        "pendula symbolic": partial(_ours_planar, "symbolic"),
        "pendula rhs(t, y)": _ours_with_arrays,
        "Pinocchio LOCAL": partial(_pinocchio_planar, "LOCAL"),
        "Pinocchio WORLD": partial(_pinocchio_planar, "WORLD"),
        "MuJoCo": _mujoco_planar,
        "CasADi": _casadi_planar,
    }


def _planar_reference(n: int) -> np.ndarray:
    return twins.chain_accelerations(*twins.chain_state(n))


def _ours_planar(engine: str, n: int, found: dict[str, np.ndarray]) -> Call:
    with ours.refused():
        model = pendula.library.chain(links=n)
    return _ours(f"pendula {engine}", model, engine, twins.chain_state(n), found)


def _ours(name: str, model: Any, engine: str, state: tuple[np.ndarray, np.ndarray], found: dict[str, Any]) -> Call:
    out = np.empty(state[0].size)
    call = ours.forward(ours.system_of(model, engine), *state, out)
    call()
    found[name] = out.copy()
    return call


def _ours_with_arrays(n: int, found: dict[str, np.ndarray]) -> Call:
    """The recursion with arrays that are handed over, checked and copied in every call, as Pinocchio's are."""
    with ours.refused():
        rhs = ours.system_of(pendula.library.chain(links=n), "recursive").forward_dynamics().rhs
    y = np.concatenate(twins.chain_state(n))
    found["pendula rhs(t, y)"] = rhs(0.0, y)[n:]
    return lambda: rhs(0.0, y)


def _pinocchio_planar(convention: str, n: int, found: dict[str, np.ndarray]) -> Call:
    model = twins.pinocchio_chain(n)
    q, v = (-twins.relative(x) for x in twins.chain_state(n))
    return _pinocchio(convention, model, q, v, found, lambda a: -np.cumsum(a))


def _pinocchio(
    convention: str, model: Any, q: np.ndarray, v: np.ndarray, found: dict[str, Any], translate: Callable[[Any], Any]
) -> Call:
    pin = peer("pinocchio")
    data, force, how = model.createData(), np.zeros(q.size), getattr(pin.Convention, convention)
    found[f"Pinocchio {convention}"] = translate(np.array(pin.aba(model, data, q, v, force, how)))
    return lambda: pin.aba(model, data, q, v, force, how)


def _mujoco_planar(n: int, found: dict[str, np.ndarray]) -> Call:
    mujoco = peer("mujoco")
    model = twins.mujoco_chain(n)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (twins.relative(x) for x in twins.chain_state(n))
    mujoco.mj_forward(model, data)
    found["MuJoCo"] = np.cumsum(data.qacc)
    return lambda: mujoco.mj_forward(model, data)


def _casadi_planar(n: int, found: dict[str, np.ndarray]) -> Call:
    ca = peer("casadi")
    y = ca.SX.sym("y", 2 * n)
    a = twins.recursion([y[k] for k in range(n)], [y[n + k] for k in range(n)], ca.sin, ca.cos)
    compiled = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O2", "-march=native"]}}
    function = ca.Function("f", [y], [ca.vertcat(*a)], compiled if shutil.which("gcc") else {})
    buffer, evaluate = function.buffer()
    inp, out = np.concatenate(twins.chain_state(n)), np.zeros(n)
    buffer.set_arg(0, memoryview(inp))
    buffer.set_res(0, memoryview(out))
    evaluate()
    found["CasADi"] = out.copy()
    kept = (function, buffer, inp, out)  # the evaluator does not keep them alive
    return lambda: evaluate() if kept else None


# --- spatial sides ------------------------------------------------------------------------------------


def spatial_makers() -> dict[str, Maker]:
    """Who takes part in space."""
    return {
        "pendula recursive": partial(_ours_spatial, "recursive"),
        "pendula symbolic": partial(_ours_spatial, "symbolic"),
        "Pinocchio LOCAL": partial(_pinocchio_spatial, "LOCAL"),
        "Pinocchio WORLD": partial(_pinocchio_spatial, "WORLD"),
    }


def _ours_spatial(engine: str, n: int, found: dict[str, np.ndarray]) -> Call:
    if engine == "symbolic" and n > MOST_SPATIAL_SYMBOLIC:
        raise Missing("too long to derive for a comparison")
    chain = twins.SpatialChain(n)
    return _ours(f"pendula {engine}", chain.ours(), engine, chain.state(), found)


def _pinocchio_spatial(convention: str, n: int, found: dict[str, np.ndarray]) -> Call:
    chain = twins.SpatialChain(n)
    return _pinocchio(convention, chain.pinocchio(), *chain.state(), found, lambda a: a)


# --- measuring ----------------------------------------------------------------------------------------


def _sweep(
    report: Report,
    name: str,
    sizes: tuple[int, ...],
    makers: dict[str, Maker],
    reference: Callable[[int], np.ndarray] | None,
    quick: bool,
) -> dict[int, dict[str, Timing]]:
    """Times of all sides at all sizes, and a table of them."""
    times: dict[int, dict[str, Timing]] = {}
    apart: dict[str, float] = {}
    for n in sizes:
        lineup, found = Lineup(), {}
        for who, make in makers.items():
            if n <= MOST.get(who, VERY_LONG):
                lineup.add(who, partial(make, n, found))
        expected = reference(n) if reference else found.get("Pinocchio WORLD")
        for who, a in found.items():
            apart[who] = max(apart.get(who, 0.0), difference(a, expected) if expected is not None else float("nan"))
        times[n] = lineup.run(rounds=3 if quick else 7, share=0.02)
        report.missing |= {f"{who} ({name})": why for who, why in lineup.missing.items() if n == sizes[0]}
    report.tables.append(_table(name, sizes, list(makers), times, apart))
    report.figures[name] = {who: {str(n): times[n][who].figures() for n in sizes if who in times[n]} for who in makers}
    report.figures[f"{name}_difference"] = apart
    wrong = [f"{who} by {x:.1e}" for who, x in apart.items() if not x <= AGREE]
    if wrong:
        report.notes.append(f"WRONG: accelerations ({name}) differ: {', '.join(wrong)}")
    return times


def _table(
    name: str, sizes: tuple[int, ...], who: list[str], times: dict[int, dict[str, Timing]], apart: dict[str, float]
) -> Table:
    table = Table([f"{name} chain", *(f"n = {n}" for n in sizes), "differs"], title="")
    for side in who:
        cells = [duration(times[n][side].best) if side in times[n] else "-" for n in sizes]
        table.rows.append([side, *cells, f"{apart[side]:.0e}" if side in apart else ""])
    fastest = [_pinocchio_best(times[n]) for n in sizes]
    mine = [_best_of_ours(times[n]) for n in sizes]
    cells = [number(ratio(b, a)) if a and b else "-" for a, b in zip(mine, fastest, strict=True)]
    table.rows.append(["times faster than Pinocchio", *cells, ""])
    return table


def _pinocchio_best(times: dict[str, Timing]) -> float | None:
    found = [t.best for who, t in times.items() if who.startswith("Pinocchio")]
    return min(found) if found else None


def _best_of_ours(times: dict[str, Timing]) -> float | None:
    found = [t.best for who, t in times.items() if who.startswith("pendula")]
    return min(found) if found else None


def _recursive(times: dict[int, dict[str, Timing]], n: int) -> float | None:
    side = times.get(n, {}).get("pendula recursive")
    return None if side is None else side.best


def _gain(mine: float | None, theirs: float | None) -> float | None:
    return None if mine is None or theirs is None else ratio(theirs, mine)


def _why(report: Report, *who: str) -> str:
    """The reasons of those that are missing."""
    found = [f"{name}: {why}" for name, why in report.missing.items() if name.startswith(who)]
    return "; ".join(found) or "not measured in this run"


def _planar_goals(report: Report, times: dict[int, dict[str, Timing]]) -> None:
    why = _why(report, "pendula recursive (planar)", "Pinocchio WORLD (planar)", "MuJoCo (planar)")
    for n, wanted in ((10, 3.0), (100, 8.0)):
        gain = _gain(_recursive(times, n), _pinocchio_best(times.get(n, {})))
        what = f"planar chain, {n} links, against Pinocchio"
        report.goals.append(goal(what, gain, "at least", wanted, " times", why=why))
    mujoco = times[10].get("MuJoCo")
    gain = _gain(_recursive(times, 10), mujoco.best if mujoco else None)
    report.goals.append(goal("planar chain, 10 links, against MuJoCo", gain, "at least", 3.0, " times", why=why))
    growth = _gain(_recursive(times, 100), _recursive(times, 1000))
    what = "growth of our time from 100 to 1000 links"
    report.goals.append(goal(what, growth, "at most", 12.0, " times", why=why))


def _spatial_goals(report: Report, times: dict[int, dict[str, Timing]]) -> None:
    why = _why(report, "pendula recursive (spatial)", "Pinocchio WORLD (spatial)")
    for n, wanted in ((30, 2.0), (100, 2.5)):
        gain = _gain(_recursive(times, n), _pinocchio_best(times.get(n, {})))
        what = f"spatial chain, {n} links, against Pinocchio's faster convention"
        report.goals.append(goal(what, gain, "at least", wanted, " times", why=why))


def _very_long(report: Report) -> None:
    """A chain that only a recursion can take."""
    lineup, found = Lineup(), {}
    if not lineup.add("pendula recursive", partial(_ours_planar, "recursive", VERY_LONG, found)):
        report.missing[f"pendula recursive, {VERY_LONG} links"] = lineup.missing["pendula recursive"]
        return
    time = lineup.run(rounds=3, share=0.1)["pendula recursive"]
    report.figures["very_long"] = {"links": VERY_LONG, **time.figures()}
    report.notes.append(f"A planar chain of {VERY_LONG} links takes us {duration(time.best)}.")
