"""How fast is one linearization with its eigenvalues? The IFToMM benchmark, 10,000 executions."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pendula
from benchmarks.lineup import Lineup, peer
from benchmarks.measure import duration, goal, number, ratio
from benchmarks.report import Report, Table
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.bench import models
from pendula.bench.linearization import CASES, error_norm, told_apart

QUESTION = "How fast is one linearization with all eigenvalues (IFToMM benchmark, called from Python)?"
EXECUTIONS = 10_000
G, L, M = 9.81, 1.0, 1.0
EXACT = (1j * np.sqrt(G / L),) * 2
OURS = "pendula x, y"
BATCH = "pendula x, y, as one batch"
BEATEN = ("SymPy x, y", "Pinocchio two hinges", "MuJoCo two hinges", "NumPy by hand x, y")
CASADI = ("CasADi x, y", "CasADi x, y, buffers")
LINKS = 100

Once = Callable[[], Any]


def run(quick: bool) -> Report:
    """Single calls of everyone in turn, our batch, and the modes of a long chain."""
    report = Report("linearization", QUESTION)
    found: dict[str, float] = {}
    lineup = Lineup()
    for name, make in SIDES.items():
        lineup.add(name, partial(_checked, name, make, found))
    lineup.add(BATCH, partial(_batch, found), least=0.0)
    timed = lineup.run(rounds=3 if quick else 9, share=0.05)
    report.missing = lineup.missing
    per = {name: timing.best / (EXECUTIONS if name == BATCH else 1) for name, timing in timed.items()}
    table = Table(["IFToMM", "one", "10,000", "vs ours", "error"])
    for name, seconds in per.items():
        table.rows.append(
            [
                name,
                duration(seconds),
                duration(EXECUTIONS * seconds),
                number(ratio(seconds, per[OURS])),
                f"{found[name]:.0e}",
            ]
        )
        report.figures[name] = {"seconds": seconds, "error": found[name]}
    report.tables.append(table)
    for name in BEATEN:
        gain = ratio(per[name], per[OURS]) if name in per else None
        why = lineup.missing.get(name, "")
        report.goals.append(goal(f"one linearization against {name}", gain, "at least", 1.0, " times", why=why))
    gain = ratio(per[OURS], per[BATCH])
    report.goals.append(goal("linearizations as one batch against single calls", gain, "at least", 10.0, " times"))
    there = [per[name] for name in CASADI if name in per]
    if there:
        report.notes.append(
            f"CasADi, its faster way, takes {number(ratio(min(there), per[OURS]))} times as long as ours."
        )
    seconds = _chain_modes()
    report.figures["chain modes"] = {"links": LINKS, "seconds": seconds}
    report.goals.append(goal(f"modes of a chain of {LINKS} links, compiled, first call", seconds, "at most", 1.0, " s"))
    report.notes += NOTES
    return report


NOTES = [
    "CPU time. One execution of ours is spectrum(linearize(system, equilibrium)) with values, labels and others read: terms "
    "with exact derivatives, the check that forces balance, eigenvalues and their labels. The others give terms and "
    "eigenvalues; they do not tell true eigenvalues from spurious ones, and are not charged for it.",
    "Ours solves the symmetric problem of an undamped mechanism by itself. SymPy and CasADi evaluate formulas derived beforehand, NumPy matrices written by hand; all but ours "
    "then call numpy.linalg.eigvals. Errors are the 2-norm of the IFToMM benchmark. MuJoCo gives the matrix of one time step by differences, whose logarithm has the eigenvalues "
    "to about six digits. Pinocchio's model is two hinges, since it has no joint with coordinates x, y.",
]


def _checked(name: str, make: Callable[[], Once], found: dict[str, float]) -> Once:
    """The call of a side, with the error of its eigenvalues noted."""
    once = make()
    found[name] = _error(once())
    return once


def _error(result: Any) -> float:
    """2-norm of the error; of ours only roots that are labelled as physical, of others those that are not zero."""
    if isinstance(result, pendula.results.Spectrum):
        return error_norm(EXACT, told_apart(result)[0])
    values = np.asarray(result, dtype=complex)
    return error_norm(EXACT, values[np.abs(values) > 0.1])


# --- ours -------------------------------------------------------------------------------------------------


def _ours(name: str) -> Once:
    case = next(case for case in CASES if case.name == name)
    system = pendula.compile_system(case.make())
    at = equilibrium_at(system, case.at)

    def once() -> Any:
        found = pendula.linear.spectrum(pendula.linearize(system, at))
        _ = found.values, found.labels, found.others
        return found

    return once


def _batch(found: dict[str, float]) -> Once:
    """All executions as one call, each with its own row of parameters (all the same here)."""
    system = pendula.compile_system(models.in_xy())
    at = equilibrium_at(system, {})
    rows = np.repeat(system.parameters[None], EXECUTIONS, axis=0)

    def once() -> Any:
        return pendula.linear.linearize_many(system, at, parameters=rows).values

    found[BATCH] = max(error_norm(EXACT, row) for row in once()[:: EXECUTIONS // 10])
    return once


def _chain_modes() -> float:
    """CPU seconds of the first modes of a chain in this process; another has compiled the kernels if none had."""
    ahead = f"import pendula; pendula.modes(pendula.compile_system(pendula.library.chain(links={LINKS})), {{}})"
    subprocess.run([sys.executable, "-c", ahead], check=True)
    system = pendula.compile_system(pendula.library.chain(links=LINKS))
    start = time.process_time()
    found = pendula.modes(system, {})
    spent = time.process_time() - start
    if len(found.frequencies) != LINKS:
        raise RuntimeError(f"{len(found.frequencies)} modes of {LINKS} links")
    return spent


# --- others -----------------------------------------------------------------------------------------------


def _state_matrix(stiffness: Any) -> np.ndarray:
    n = len(stiffness)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = -stiffness
    return A


def numpy_by_hand() -> Once:
    """M and K as in the IFToMM benchmark with one mass in front, put together in every execution."""

    def once() -> Any:
        mass, stiffness = M * np.eye(2), M * G / L * np.eye(2)
        return np.linalg.eigvals(_state_matrix(np.linalg.solve(mass, stiffness)))

    return once


def numpy_null_space() -> Once:
    """x, y, z: the null space of G by SVD, the stiffness by the force in the rod."""
    q = np.array([0.0, 0.0, -L])

    def once() -> Any:
        free = np.linalg.svd(q[None])[2][1:].T
        stiffness = free.T @ (M * G / L * np.eye(3)) @ free
        return np.linalg.eigvals(_state_matrix(np.linalg.solve(M * free.T @ free, stiffness)))

    return once


def sympy_xy() -> Once:
    """Kane's equations linearized by SymPy at the point, its matrix as a NumPy function of g, l and m."""
    sm, me = peer("sympy"), peer("sympy.physics.mechanics")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    g, l, m = sm.symbols("g l m", positive=True)
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    place = q[0] * frame.x + q[1] * frame.y - sm.sqrt(l**2 - q[0] ** 2 - q[1] ** 2) * frame.z
    bob = origin.locatenew("P", place)
    bob.set_vel(frame, place.dt(frame).subs({a.diff(): b for a, b in zip(q, u, strict=True)}))
    method = me.KanesMethod(frame, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)])
    method.kanes_equations([me.Particle("bob", bob, m)], [(bob, -m * g * frame.z)])
    rest = {a: 0 for a in (*q, *u)}
    still = {b.diff(): 0 for b in u}
    A = method.linearize(A_and_B=True, op_point=[rest, still], simplify=True)[0]
    function = sm.lambdify((g, l, m), A, cse=True)
    return lambda: np.linalg.eigvals(np.asarray(function(G, L, M), dtype=float))


def pinocchio_hinges() -> Once:
    """Derivatives of the articulated-body algorithm for a point mass on two hinges."""
    pin = peer("pinocchio")
    model, here = pin.Model(), pin.SE3.Identity()
    joint = model.addJoint(0, pin.JointModelRX(), here, "a")
    joint = model.addJoint(joint, pin.JointModelRY(), here, "b")
    model.appendBodyToJoint(joint, pin.Inertia(M, np.array([0.0, 0.0, -L]), np.zeros((3, 3))), here)
    model.gravity.linear = np.array([0.0, 0.0, -G])
    data, q, zero, A = model.createData(), pin.neutral(model), np.zeros(2), _state_matrix(np.zeros((2, 2)))

    def once() -> Any:
        pin.computeABADerivatives(model, data, q, zero, zero)
        A[2:, :2], A[2:, 2:] = data.ddq_dq, data.ddq_dv
        return np.linalg.eigvals(A)

    return once


def mujoco_hinges() -> Once:
    """The matrix of one step of 1 ms by differences; eigenvalues are logarithms of its eigenvalues."""
    mujoco = peer("mujoco")
    step = 1e-3
    text = (
        f'<mujoco><option gravity="0 0 -{G}" timestep="{step}" integrator="Euler"><flag contact="disable"/></option>'
        '<worldbody><body><joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'
        f'<inertial pos="0 0 -{L}" mass="{M}" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data, A = mujoco.MjData(model), np.zeros((4, 4))
    mujoco.mj_forward(model, data)

    def once() -> Any:
        mujoco.mjd_transitionFD(model, data, 1e-6, True, A, None, None, None)
        return np.log(np.linalg.eigvals(A).astype(complex)) / step

    return once


def _casadi_function() -> Any:
    casadi = peer("casadi")
    q, v = casadi.SX.sym("q", 2), casadi.SX.sym("v", 2)
    height = -casadi.sqrt(L * L - casadi.dot(q, q))
    rate = casadi.jtimes(height, q, v)
    energy = 0.5 * M * (casadi.dot(v, v) + rate**2) - M * G * height
    mass, momentum = casadi.hessian(energy, v)
    force = casadi.gradient(energy, q) - casadi.jtimes(momentum, q, v)
    x = casadi.vertcat(q, v)
    return casadi.Function("A", [x], [casadi.jacobian(casadi.vertcat(v, casadi.solve(mass, force)), x)])


def casadi_xy() -> Once:
    """The Jacobian of the accelerations of Lagrange's equations, called as a function."""
    function, x = _casadi_function(), np.zeros(4)
    return lambda: np.linalg.eigvals(function(x).full())


def casadi_buffers() -> Once:
    """The same through CasADi's buffers, which saves the conversions."""
    function, x = _casadi_function(), np.zeros(4)
    buffer, call = function.buffer()
    entries = np.zeros(int(function.nnz_out(0)))
    buffer.set_arg(0, memoryview(x))
    buffer.set_res(0, memoryview(entries))
    rows, columns = (np.array(part) for part in function.sparsity_out(0).get_triplet())
    A = np.zeros((4, 4))

    def once(alive: Any = (function, buffer, x)) -> Any:  # CasADi holds addresses of these
        call()
        A[rows, columns] = entries
        return np.linalg.eigvals(A)

    return once


SIDES: dict[str, Callable[[], Once]] = {
    OURS: partial(_ours, "xy"),
    "pendula x, y, z with constraints": partial(_ours, "xyz"),
    "SymPy x, y": sympy_xy,
    "Pinocchio two hinges": pinocchio_hinges,
    "MuJoCo two hinges": mujoco_hinges,
    "NumPy by hand x, y": numpy_by_hand,
    "NumPy by hand x, y, z": numpy_null_space,
    "CasADi x, y": casadi_xy,
    "CasADi x, y, buffers": casadi_buffers,
}
