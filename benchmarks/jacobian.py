"""How fast are exact derivatives of the accelerations?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import ours, twins
from benchmarks.lineup import Lineup, peer
from benchmarks.measure import difference, duration, goal, number, ratio
from benchmarks.report import Report, Table

QUESTION = "How fast are the derivatives of accelerations by coordinates and speeds?"
SIZES = (10, 100)
AGREE = 1e-7
PINOCCHIO = "Pinocchio computeABADerivatives"
OURS = "pendula jacobian_dynamics"


def run(quick: bool) -> Report:
    """Spatial chains of 10 and 100 links against Pinocchio's analytical derivatives."""
    report = Report("jacobian", QUESTION)
    table = Table(["spatial chain", *(f"n = {n}" for n in SIZES)])
    columns: dict[int, dict[str, Any]] = {}
    apart: dict[int, float] = {}
    for n in SIZES:
        lineup, found = Lineup(), {}
        lineup.add(OURS, partial(_ours, n, found))
        lineup.add(PINOCCHIO, partial(_pinocchio, n, found))
        columns[n] = lineup.run(rounds=3 if quick else 7, share=0.03)
        report.missing |= lineup.missing
        if len(found) == 2:
            apart[n] = difference(*found.values())
    for who in (OURS, PINOCCHIO):
        table.rows.append([who, *(duration(t[who].best) if who in t else "-" for t in columns.values())])
        report.figures[who] = {str(n): t[who].figures() for n, t in columns.items() if who in t}
    gains = {n: ratio(t[PINOCCHIO].best, t[OURS].best) if len(t) == 2 else None for n, t in columns.items()}
    table.rows.append(["times faster", *(number(x) if x else "-" for x in gains.values())])
    table.rows.append(["differs by", *(f"{apart[n]:.0e}" if n in apart else "-" for n in SIZES)])
    report.tables.append(table)
    report.figures["difference"] = {str(n): x for n, x in apart.items()}
    why = "; ".join(f"{who}: {reason}" for who, reason in report.missing.items()) or "not measured"
    for n, gain in gains.items():
        report.goals.append(goal(f"Jacobian, {n} links, against Pinocchio", gain, "at least", 1.0, " times", why=why))
    if any(not x <= AGREE for x in apart.values()):
        report.notes.append(f"WRONG: derivatives differ by {max(apart.values()):.1e}")
    report.notes.append(
        "Both sides give da/dq and da/dv as full matrices. Pinocchio also gives da/dtau, the inverse of the mass matrix, "
        "in the same call."
    )
    return report


def _ours(n: int, found: dict[str, np.ndarray]) -> Any:
    chain = twins.SpatialChain(n)
    q, v = chain.state()
    call = ours.jacobian(ours.system_of(chain.ours(), "recursive"), q, v)
    found[OURS] = np.concatenate([np.array(part) for part in call()], axis=1)
    return call


def _pinocchio(n: int, found: dict[str, np.ndarray]) -> Any:
    pin = peer("pinocchio")
    chain = twins.SpatialChain(n)
    model = chain.pinocchio()
    data, force = model.createData(), np.zeros(n)
    q, v = chain.state()
    pin.computeABADerivatives(model, data, q, v, force)
    found[PINOCCHIO] = np.concatenate([np.array(data.ddq_dq), np.array(data.ddq_dv)], axis=1)
    return lambda: pin.computeABADerivatives(model, data, q, v, force)
