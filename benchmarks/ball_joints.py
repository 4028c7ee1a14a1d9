"""Six rods on ball joints: how long from model to machine code?"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

import pendula
from benchmarks.derivation import FORMULATIONS, compile_dynamics, program_of, warm_up
from benchmarks.measure import Goal, Side, difference, duration, interleave
from benchmarks.report import Report, Table
from pendula.model.model import Model
from pendula.system.symbolic import SymbolicSystem

QUESTION = "How long do six rods on ball joints take to derive and compile?"
RODS = 6
GOALS = {"kane": 3.0, "lagrange": 15.0}  # seconds
AGREE = 1e-8
Chart = Literal["euler", "quaternion"]


def rods_on_balls(rods: int, chart: Chart) -> Model:
    """Equal round rods in a row, each on a ball joint: ZYZ angles or quaternions; z points up."""
    across = "m*d**2/16 + m*a**2/12"
    bodies, joints = [], []
    for k in range(1, rods + 1):
        bodies.append(
            {
                "name": f"rod{k}",
                "mass": "m",
                "com": ["a/2", 0, 0],
                "inertia": ["m*d**2/8", across, across],
                "points": {"tip": ["a", 0, 0]},
            }
        )
        above: object = "ground" if k == 1 else {"body": f"rod{k - 1}", "at": "tip"}
        ball: dict[str, object] = {"name": f"ball{k}", "type": "spherical", "parent": above, "child": f"rod{k}"}
        joints.append(ball | ({"orientation": "zyz"} if chart == "euler" else {}))
    return Model(
        name=f"{rods} rods on ball joints",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "a": 1.0, "d": 0.1, "g": 9.81},
        bodies=bodies,
        joints=joints,
        initial={f"ball{k}_2": "45deg" for k in range(1, rods + 1)} if chart == "euler" else {},
    )


def random_state(model: Model, *, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds away from singular angles; quaternions of length one."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(0.4, 1.2, len(model.coordinates))
    if any(joint.quaternion() for joint in model.tree):
        q = q.reshape(-1, 4)
        q = (q / np.linalg.norm(q, axis=1, keepdims=True)).ravel()
    return q, rng.uniform(-1, 1, len(model.speeds))


def run(quick: bool) -> Report:
    """Both charts by both formulations."""
    report = Report("ball_joints", QUESTION)
    table = Table(["chart", "by", "derive", "compile", "together", "operations", "differ by"])
    for chart in ("euler", "quaternion"):
        warm_up(rods_on_balls(1, chart))
        model = rods_on_balls(RODS, chart)
        sides: dict[str, Side] = {}
        for f in FORMULATIONS:
            sides[f"{f} derive"] = Side(partial(_derive, f, model))
            sides[f"{f} compile"] = Side(compile_dynamics, partial(pendula.derive, model, f))
        times = interleave(sides, rounds=1 if quick else 3, share=0.0)
        q, v = random_state(model)
        systems = {f: SymbolicSystem(pendula.derive(model, f)) for f in FORMULATIONS}
        found = {f: system.accelerations(q, v) for f, system in systems.items()}
        apart = difference(*found.values())
        for f in FORMULATIONS:
            first, second = times[f"{f} derive"], times[f"{f} compile"]
            together = first.best + second.best
            count = program_of(systems[f].dynamics()).operations
            cells = [duration(x) for x in (first.best, second.best, together)]
            table.rows.append([chart, f, *cells, str(count), f"{apart:.0e}" if f != FORMULATIONS[0] else ""])
            report.goals.append(Goal(f"{f}, {chart}", together, "at most", GOALS[f], " s"))
            report.figures[f"{f}_{chart}"] = {
                "derive": first.figures(),
                "compile": second.figures(),
                "operations": count,
                "difference": apart,
            }
        if not apart <= AGREE:
            report.notes.append(f"WRONG: the formulations differ by {apart:.1e} ({chart})")
    report.tables.append(table)
    report.notes.append("CPU time; accelerations of both formulations are compared at a random state.")
    return report


def _derive(formulation: str, model: Model, _: object) -> object:
    return pendula.derive(model, formulation)
