"""Long chains and a large linkage in maximal coordinates: how fast, and how well are energy and joints kept?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

import pendula
from benchmarks.derivation import compile_dynamics
from benchmarks.measure import Goal, Side, Timing, difference, duration, interleave, number, ratio
from benchmarks.report import Report, Table
from pendula.model.model import Model
from pendula.numerics.compiled.native import call_native
from pendula.system.block_tree import kernels as tk
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System

QUESTION = "How far do maximal coordinates carry: 100 links, 1000 links, 31 bars?"
LINKS, MANY_LINKS, BARS = 100, 1000, 31
SPAN, TOL = 10.0, 1e-8
READY = 10.0  # seconds from the model to machine code, 100 links
DRIFT, VIOLATION = 1e-7, 1e-10
OVER_SUPERLU = 8.0
GROWTH = 12.0  # for ten times the links
AGREE = 1e-9
REPEATS = 100  # solves as one piece of work
ORDERS = ("COLAMD", "MMD_AT_PLUS_A")


@numba.njit
def repeat_solve(context: int, count: int) -> int:
    """Solve for the accelerations again and again, from terms that are there already; number of failures."""
    ctx = tk.tree_at(context)
    failed = 0
    for _ in range(count):
        if tk.solve(ctx, ctx.terms, ctx.terms + 8 * ctx.matrix) != tk.SOLVED:
            failed += 1
    return failed


@numba.njit
def repeat_program(context: int, count: int) -> None:
    """Compute the entries of all matrices and vectors again and again, at the state of the last call."""
    ctx = tk.tree_at(context)
    for _ in range(count):
        call_native(ctx.code, ctx.terms, ctx.x, ctx.parameters)


@numba.njit
def repeat_rhs(address: int, out: int, state: int, context: int, count: int) -> None:
    """The whole right-hand side again and again, as a stepper calls it."""
    for _ in range(count):
        call_native(address, out, state, context)


@dataclass
class Accelerations:
    """A mechanism at a random state at which joints are closed, ready to be solved in several ways."""

    system: System
    q: np.ndarray
    v: np.ndarray
    dynamics: Any
    state: np.ndarray
    rates: np.ndarray

    @classmethod
    def of(cls, system: System, *, seed: int = 1) -> Accelerations:
        """Random angles and rates of the joints; for open trees."""
        rng = np.random.default_rng(seed)
        layout = system.in_joints.layout
        angles = rng.uniform(-np.pi, np.pi, len(layout.coordinates))
        q, v = system.in_joints.place(angles, rng.uniform(-1, 1, len(layout.speeds)))
        dynamics = system.dynamics()
        state, rates = np.concatenate([[0.0], q, v, [0.0]]), np.zeros(len(q) + len(v) + 1)
        found = cls(system, q, v, dynamics, state, rates)
        found.rhs(1)
        return found

    def rhs(self, count: int) -> None:
        """The right-hand side from compiled code."""
        callback = self.dynamics.rhs
        repeat_rhs(callback.address, self.rates.ctypes.data, self.state.ctypes.data, callback.context, count)

    def solve(self, count: int) -> None:
        """Our factorization and solution from compiled code."""
        if repeat_solve(self.dynamics.rhs.context, count):
            raise RuntimeError("the solver failed")

    def program(self, count: int) -> None:
        """The entries alone from compiled code."""
        repeat_program(self.dynamics.rhs.context, count)

    @property
    def ours(self) -> np.ndarray:
        """v' of the last right-hand side."""
        return self.rates[len(self.q) : len(self.q) + len(self.v)]

    def kkt(self) -> tuple[np.ndarray, np.ndarray]:
        """[[M, G^T], [G, 0]] and [f; c]; the unknowns are v' and -lam. No border: open trees only."""
        M, G = self.system.mass_matrix(self.q), self.system.constraint_jacobian(self.q)
        tree = self.system.tree
        if tree is None or tree.border:
            raise ValueError("an open tree in maximal coordinates is needed")
        program = self.system.programs.tree_dynamics(self.system.parameters, tree)
        size = tree.matrix_size + tree.unknowns
        terms = np.zeros(size + len(self.q) + 1)
        repeat_rhs(program.native.evaluate, terms.ctypes.data, self.state.ctypes.data, program.context, 1)
        given = terms[tree.matrix_size : size]
        zero = np.zeros((len(G), len(G)))
        return np.block([[M, G.T], [G, zero]]), np.concatenate([given[tree.speed_at], given[tree.row_at]])


def solve_sparse(K: Any, b: np.ndarray, order: str) -> np.ndarray:
    """Accelerations and multipliers by SciPy's SuperLU."""
    return splu(K, permc_spec=order).solve(b)


def others_differ(case: Accelerations) -> dict[str, float]:
    """How far accelerations by SuperLU and by NumPy are from ours."""
    K, b = case.kkt()
    found = {order: solve_sparse(sparse.csc_matrix(K), b, order) for order in ORDERS}
    found["dense"] = np.linalg.solve(K, b)
    return {name: difference(x[: len(case.v)], case.ours) for name, x in found.items()}


def ready(model: Model, formulation: str, rounds: int) -> tuple[Timing, Timing]:
    """Times to derive and to compile."""
    derive = partial(pendula.derive, model, formulation)
    sides = {"derive": Side(lambda _: derive()), "compile": Side(compile_dynamics, derive)}
    times = interleave(sides, rounds=rounds, share=0.0)
    return times["derive"], times["compile"]


def run(quick: bool) -> Report:
    """Runs, solves and growth."""
    report = Report("maximal", QUESTION)
    for small in (pendula.library.chain(links=2), pendula.library.linkage(bars=5)):
        for formulation in ("maximal", "kane"):
            pendula.simulate(SymbolicSystem(pendula.derive(small, formulation)), 0.1, tol=TOL)  # warm up
    _runs(report, quick)
    case = Accelerations.of(SymbolicSystem(pendula.derive(pendula.library.chain(links=LINKS), "maximal")))
    _solves(report, case, quick)
    if not quick:
        _growth(report, case)
    return report


def _runs(report: Report, quick: bool) -> None:
    table = Table([f"{SPAN:g} s at {TOL:g}", "by", "derive", "compile", "run", "calls", "drift", "violation"])
    cases = [("chain", pendula.library.chain(links=LINKS), "maximal")]
    linkage = pendula.library.linkage(bars=BARS)
    cases += [("linkage", linkage, "maximal"), ("linkage", linkage, "kane")]
    for name, model, formulation in cases:
        derive, compile_ = ready(model, formulation, 1 if quick else 3)
        system = SymbolicSystem(pendula.derive(model, formulation))
        simulate = partial(pendula.simulate, system, SPAN, tol=TOL)
        found = simulate()
        timing = interleave({"run": Side(lambda _, f=simulate: f())}, rounds=1 if quick else 3, share=0.0)["run"]
        cells = [duration(t.best) for t in (derive, compile_, timing)]
        kept = (found.energy_drift, found.constraint_violation)
        table.rows.append([model.name, formulation, *cells, str(found.rhs_evaluations), *(f"{x:.0e}" for x in kept)])
        report.figures[f"{name}_{formulation}"] = {
            "derive": derive.figures(),
            "compile": compile_.figures(),
            "run": timing.figures(),
            "steps": found.steps,
            "rhs_evaluations": found.rhs_evaluations,
            "energy_drift": kept[0],
            "constraint_violation": kept[1],
        }
        if formulation == "maximal":
            if name == "chain":
                together = derive.best + compile_.best
                report.goals.append(Goal(f"{model.name} derived and compiled", together, "at most", READY, " s"))
            report.goals.append(Goal(f"{model.name}: energy drift", kept[0], "at most", DRIFT))
            report.goals.append(Goal(f"{model.name}: constraint violation", kept[1], "at most", VIOLATION))
    report.tables.append(table)


def _solves(report: Report, case: Accelerations, quick: bool) -> None:
    """Our solve against SuperLU and NumPy on the same numbers."""
    K, b = case.kkt()
    apart = others_differ(case)
    columns, system, q, v = sparse.csc_matrix(K), case.system, case.q, case.v
    sides = {
        "ours": Side(lambda _: case.solve(REPEATS)),
        "program": Side(lambda _: case.program(REPEATS)),
        "rhs": Side(lambda _: case.rhs(REPEATS)),
        "python": Side(lambda _: _often(case.solve, 1)),
        **{order: Side(lambda _, o=order: _often(solve_sparse, columns, b, o)) for order in ORDERS},
        "public": Side(lambda _: system.accelerations(q, v)),
        "dense": Side(lambda _: np.linalg.solve(K, b)),
    }
    single = ("public", "dense")
    found = interleave(sides, rounds=2 if quick else 7, share=0.03)
    times = {name: t if name in single else t.per(REPEATS) for name, t in found.items()}
    fastest = min(ORDERS, key=lambda order: times[order].best)
    labels = {
        "ours": "our solve, in a compiled loop",
        "python": "our solve, called from Python",
        **{order: f"SuperLU {order}, from Python" for order in ORDERS},
        "dense": "NumPy, dense, from Python",
        "program": "entries of the matrices, compiled loop",
        "rhs": "whole right-hand side, compiled loop",
        "public": "System.accelerations, from Python",
    }
    table = Table([f"{LINKS} links, {len(b)} unknowns", "CPU", "to our solve", "differ by"])
    for name, label in labels.items():
        gain = ratio(times[name].best, times["python"].best)
        differ = f"{apart[name]:.0e}" if name in apart else ""
        table.rows.append([label, duration(times[name].best), number(gain), differ])
        report.figures[f"solve_{name}"] = times[name].figures()
    report.figures["difference"] = apart
    report.tables.append(table)
    report.notes.append(
        "Ratios are to our solve called from Python, as SuperLU is; assembling K is not counted for it."
    )
    if not max(apart.values()) <= AGREE:
        report.notes.append(f"WRONG: accelerations differ by {max(apart.values()):.1e}")
    gain = ratio(times[fastest].best, times["python"].best)
    report.goals.append(Goal(f"SuperLU ({fastest}) against our solve", gain, "at least", OVER_SUPERLU, " times"))


def _often(work: Any, *arguments: Any) -> None:
    for _ in range(REPEATS):
        work(*arguments)


def _growth(report: Report, case: Accelerations) -> None:
    """Ten times the links."""
    model = pendula.library.chain(links=MANY_LINKS)
    derive, compile_ = ready(model, "maximal", 1)
    large = Accelerations.of(SymbolicSystem(pendula.derive(model, "maximal")))
    fewer = REPEATS * LINKS // MANY_LINKS  # so that a sample takes as long
    sides = {
        "few": Side(lambda _: case.solve(REPEATS)),
        "many": Side(lambda _: large.solve(fewer)),
        "few rhs": Side(lambda _: case.rhs(REPEATS)),
        "many rhs": Side(lambda _: large.rhs(fewer)),
    }
    found = interleave(sides, rounds=7, share=0.03)
    times = {name: t.per(fewer if name.startswith("many") else REPEATS) for name, t in found.items()}
    table = Table(["links", "derive", "compile", "solve", "right-hand side"])
    table.rows.append([str(LINKS), "", "", *(duration(times[n].best) for n in ("few", "few rhs"))])
    ready_cells = [duration(t.best) for t in (derive, compile_)]
    table.rows.append([str(MANY_LINKS), *ready_cells, *(duration(times[n].best) for n in ("many", "many rhs"))])
    report.tables.append(table)
    report.figures["growth"] = {name: t.figures() for name, t in times.items()}
    report.figures["growth"] |= {"derive": derive.figures(), "compile": compile_.figures()}
    growth = ratio(times["many"].best, times["few"].best)
    what = f"our solve from {LINKS} to {MANY_LINKS} links"
    report.goals.append(Goal(what, growth, "at most", GROWTH, " times"))
