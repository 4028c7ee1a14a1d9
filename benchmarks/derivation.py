"""How fast are equations derived?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import pendula
from benchmarks import peers
from benchmarks.measure import Goal, Side, difference, duration, interleave, number, ratio
from benchmarks.report import Report, Table
from pendula.equations.equations import Equations
from pendula.model.model import Model
from pendula.system.code.llvm import Native
from pendula.system.symbolic import SymbolicSystem

QUESTION = "How fast are equations derived?"
FORMULATIONS = ("kane", "lagrange")
TIMES_FASTER = 50.0
LARGE = 50
AGREE = 1e-9


def compile_dynamics(equations: Equations) -> Native:
    """The machine code a run calls, lowered and compiled anew."""
    return program_of(SymbolicSystem(equations).dynamics())


def program_of(dynamics: Any) -> Native:
    """The program behind a right-hand side."""
    kept = dynamics.workspace.context.kept
    parts = (part for one in kept for part in (one if isinstance(one, tuple) else (one,)))  # along trees: a pair
    return next(part.native for part in parts if hasattr(part, "native"))


def derive_and_compile(formulation: str, model: Model) -> Native:
    """Everything between a model and its machine code."""
    return compile_dynamics(pendula.derive(model, formulation))


def warm_up(model: Model) -> None:
    """Imports, and the kernels that all models share, before anything is timed."""
    for formulation in FORMULATIONS:
        compile_dynamics(pendula.derive(model, formulation))


def compare_chain(links: int, *, seed: int = 1) -> dict[str, float]:
    """Relative difference of our accelerations from SymPy's at a random state, by formulation."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-3, 3, links), rng.uniform(-2, 2, links)
    model = pendula.library.chain(links=links)
    systems = {f: SymbolicSystem(pendula.derive(model, f)) for f in FORMULATIONS}
    equations = peers.sympy_kane(peers.sympy_chain(links))
    theirs = peers.sympy_rhs(equations, systems["kane"].parameters)(0.0, np.concatenate([q, v]))[links:]
    return {f: difference(system.accelerations(q, v), theirs) for f, system in systems.items()}


def run(quick: bool) -> Report:
    """Chains of 10 and 20 links against SymPy, and the way to machine code at 50."""
    report = Report("derivation", QUESTION)
    warm_up(pendula.library.chain(links=2))
    report.tables.append(_against_sympy(report, (10,) if quick else (10, 20)))
    report.tables.append(_large(report, 2 if quick else 4))
    report.notes.append(
        "From a finished model to equations, CPU time. SymPy: KanesMethod and kanes_equations on frames, points and "
        "bodies that have their velocities already; ours includes the kinematics."
    )
    return report


def _against_sympy(report: Report, sizes: tuple[int, ...]) -> Table:
    table = Table(["links", "by", "derive", "times faster", "names", "operations", "differs by"])
    for n in sizes:
        chain = partial(pendula.library.chain, links=n)
        sides = {f: Side(partial(_derive, f), chain) for f in FORMULATIONS}
        sides["sympy"] = Side(peers.sympy_kane, partial(peers.sympy_chain, n))
        times = interleave(sides, rounds=4 if n <= 10 else 2, share=0.3)
        apart = compare_chain(n)
        for f in FORMULATIONS:
            gain = ratio(times["sympy"].best, times[f].best)
            equations = pendula.derive(chain(), f)
            count = compile_dynamics(equations).operations
            row = [str(n), f, duration(times[f].best), number(gain), str(len(equations.definitions)), str(count)]
            table.rows.append([*row, f"{apart[f]:.0e}"])
            report.goals.append(Goal(f"{f}, {n} links, against SymPy", gain, "at least", TIMES_FASTER, " times"))
            report.figures[f"{f}_{n}"] = {
                **times[f].figures(),
                "times_faster": gain,
                "operations": count,
                "difference": apart[f],
            }
            if not apart[f] <= AGREE:
                report.notes.append(f"WRONG: {f} at {n} links differs from SymPy by {apart[f]:.1e}")
        count = peers.operations(peers.sympy_kane(peers.sympy_chain(n)))
        table.rows.append([str(n), "SymPy kane", duration(times["sympy"].best), "1", "0", str(count), ""])
        report.figures[f"sympy_kane_{n}"] = {**times["sympy"].figures(), "operations": count}
    return table


def _derive(formulation: str, model: Model) -> Equations:
    return pendula.derive(model, formulation)


def _large(report: Report, rounds: int) -> Table:
    table = Table(["links", "by", "derive", "compile", "together", "operations"])
    model = pendula.library.chain(links=LARGE)
    sides: dict[str, Side] = {}
    for f in FORMULATIONS:
        sides[f"{f} derive"] = Side(partial(_derive, f), lambda: model)
        sides[f"{f} compile"] = Side(compile_dynamics, partial(pendula.derive, model, f))
    times = interleave(sides, rounds=rounds, share=0.0)
    for f in FORMULATIONS:
        first, second = times[f"{f} derive"], times[f"{f} compile"]
        count = derive_and_compile(f, model).operations
        cells = [duration(x) for x in (first.best, second.best, first.best + second.best)]
        table.rows.append([str(LARGE), f, *cells, str(count)])
        report.figures[f"{f}_{LARGE}"] = {
            "derive": first.figures(),
            "compile": second.figures(),
            "operations": count,
        }
    return table
