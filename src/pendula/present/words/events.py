"""Events of a run as text and as data: number and times of occurrences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pendula.present.words.tables import number, table
from pendula.simulation.events import Crossings

SHOWN = 4  # number of times printed for each event


def events_text(events: Mapping[str, Crossings], time_unit: str) -> str:
    """A table of events: number of occurrences and the first times."""
    rows = []
    for name, found in events.items():
        times = ", ".join(number(float(t), 7) for t in found.t[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
        rows.append((name, len(found), times or "-"))
    return table(rows, ["event", "count", f"times [{time_unit}]"])


def events_data(events: Mapping[str, Crossings]) -> dict[str, Any]:
    """Events as plain data, with all times and states."""
    data = {}
    for name, found in events.items():
        layout = found.system.in_joints.layout
        names = (*layout.coordinates, *layout.speeds)
        event = found.event
        data[name] = {
            "expression": event.expression,
            "direction": event.direction,
            "terminal": event.terminal,
            "t": found.t.tolist(),
            "states": {n: found[n].tolist() for n in names},
        }
    return data
