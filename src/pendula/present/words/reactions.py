"""Joint reactions as text: largest values of each joint, drive forces, couplings, and indeterminate components."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.analysis.reactions.forces import ROUNDING, Reactions
from pendula.present.words.tables import table, wrapped

Array = Any


def reactions_text(found: Reactions) -> str:
    """Peak tables with units, in 80 columns. Rounding errors relative to the largest are shown as 0."""
    units = found.units
    blocks = [_peaks(found, "force", units.force), _peaks(found, "torque", units.torque)]
    if found.motors:
        blocks.append(_motors(found))
    if found.couplings:
        heads, rows = coupling_rows(found)
        blocks.append(table(rows, heads, align="llrrrl"))
    blocks += [wrapped(note) for note in reaction_notes(found)]
    return "\n\n".join(blocks)


def peak_rows(found: Reactions, what: str) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of the largest forces or torques: joint, size, time, and the components at that time."""
    unit, floor = found.units.force, ROUNDING * found.largest
    if what == "torque":
        unit, floor = found.units.torque, floor * found.length
    letter, shown = what[0].upper(), {"force": (0, 1), "torque": (2,)}[what] if found.planar else (0, 1, 2)
    rows: list[list[Any]] = []
    for name, peak in zip(found.joints, found.peaks, strict=True):
        size, at = (peak.force, peak.force_at) if what == "force" else (peak.torque, peak.torque_at)
        if size is None or at is None:
            rows.append([name, "not determined", None, *(None for _ in shown)])
            continue
        joint = found[name]
        values = (joint.force if what == "force" else joint.torque)[int(np.flatnonzero(found.t == at)[0])]
        when = at if _clean(size, floor) else None  # no time for rounding errors
        rows.append([name, _clean(size, floor), when, *(_clean(values[i], floor) for i in shown)])
    heads = ["joint", f"largest {what} [{unit}]", f"at [{found.units.time}]"]
    heads += [f"{letter}{'xyz'[i]} then" for i in shown]
    return heads, rows


def _peaks(found: Reactions, what: str, unit: str) -> str:
    heads, rows = peak_rows(found, what)
    if all(row[1] == 0 for row in rows):
        return f"No joint transmits a {what}: all are 0 {unit}."
    return table(rows, heads, align="l" + "r" * (len(heads) - 1))


def _clean(value: float, floor: float) -> float:
    return float(value) if abs(value) > floor else 0.0


def _motors(found: Reactions) -> str:
    rows: list[list[Any]] = []
    for name, values in found.motors.items():
        if not np.all(np.isfinite(values)):
            rows.append([name, "not determined", None, None, found.motor_units[name]])
            continue
        k = int(np.argmax(np.abs(values)))
        rows.append([name, float(values.min()), float(values.max()), float(found.t[k]), found.motor_units[name]])
    return table(rows, ["prescribed motion needs", "least", "most", f"largest at [{found.units.time}]", "unit"])


def coupling_rows(found: Reactions) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of the forces of couplings on coordinates: the least and the most of each over time."""
    rows: list[list[Any]] = []
    for name, forces in found.couplings.items():
        for coordinate, values in forces.items():
            unit = found.coupling_units[coordinate]
            if not np.all(np.isfinite(values)):
                rows.append([name, coordinate, "not determined", None, None, unit])
                continue
            k = int(np.argmax(np.abs(values)))
            rows.append([name, coordinate, float(values.min()), float(values.max()), float(found.t[k]), unit])
    return ["coupling", "acts on", "least", "most", f"largest at [{found.units.time}]", "unit"], rows


def reaction_notes(found: Reactions) -> list[str]:
    """Notes on where forces act, and which components are indeterminate."""
    notes = [
        "Forces and torques that the parent side exerts on the child side, at the point of the child side, in world "
        f"axes; the largest of {len(found)} sampled times."
    ]
    if found.formulation != found.simulated_by:
        notes[0] += f" Forces by {found.formulation}, motion by {found.simulated_by}."
    if found.couplings:
        notes.append(
            "A coupling acts inside the joints whose coordinates it uses: its generalized force on each coordinate is "
            "listed, and the forces in the joints do not contain it, except along prescribed motions."
        )
    groups: dict[str, dict[str, list[str]]] = {}
    for item in found.indeterminate:
        component, _, axes = item.component.partition(", ")
        if not axes.startswith("body"):
            groups.setdefault(item.why, {}).setdefault(item.joint, []).append(component)
    for why, joints in groups.items():
        parts = "; ".join(f"{joint}: {', '.join(components)}" for joint, components in joints.items())
        notes.append(f"Not determined (vectors in world axes): {parts}. Why: {why}.")
    return notes
