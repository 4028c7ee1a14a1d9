"""Reactions as a table over time, joints and axes, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula import __version__
from pendula.model.units import Units
from pendula.tables.table import Block, Table

if TYPE_CHECKING:
    from pendula.analysis.reactions.forces import Reactions

_ARRAYS = ("force_world", "torque_world", "force_body", "torque_body", "points")


def reactions_table(found: Reactions) -> Table:
    """Forces and torques of all joints in world axes and in those of the child bodies, drive forces, couplings."""
    units = found.units
    force, torque, length = (units.formal(x) for x in (units.force, units.torque, units.length))
    unit = {"force_world": force, "force_body": force, "torque_world": torque, "torque_body": torque, "points": length}
    blocks = [
        Block("t", ("t",), found.t, units.formal(units.time)),
        Block("joint", ("joint",), np.array(found.joints, dtype=str)),
        Block("axis", ("axis",), np.array(["x", "y", "z"])),
        *(Block(name, ("t", "joint", "axis"), getattr(found, name), unit[name]) for name in _ARRAYS),
    ]
    if found.motors:
        values = np.column_stack([*found.motors.values()])
        names = tuple(f"motor.{name}" for name in found.motors)
        motor_units = tuple(units.formal(found.motor_units[name]) for name in found.motors)
        blocks.append(Block("motors", ("t",), values, "", names, motor_units))
    pairs = [(name, coordinate) for name, forces in found.couplings.items() for coordinate in forces]
    if pairs:
        values = np.column_stack([found.couplings[name][coordinate] for name, coordinate in pairs])
        names = tuple(f"coupling.{name}.{coordinate}" for name, coordinate in pairs)
        coupling_units = tuple(units.formal(found.coupling_units[coordinate]) for _, coordinate in pairs)
        blocks.append(Block("couplings", ("t",), values, "", names, coupling_units))
    attributes: dict[str, Any] = {
        "model": found.model,
        "formulation": found.formulation,
        "simulated_by": found.simulated_by,
        "version": __version__,
        "planar": bool(found.planar),
        "length": found.length,
        "largest": found.largest,
        "unit_names": asdict(units),
        "motor_names": list(found.motors),
        "motor_units": dict(found.motor_units),
        "coupling_names": [list(pair) for pair in pairs],
        "coupling_units": dict(found.coupling_units),
        "indeterminate": [asdict(x) for x in found.indeterminate],
    }
    return Table("Reactions", tuple(blocks), ("t",), attributes)


def restored_reactions(table: Table, system: Any = None) -> Reactions:
    """The reactions behind a table.

    Raises:
        ValueError: something is missing in it.
    """
    from pendula.analysis.reactions.forces import Indeterminate, Reactions

    known, joints, motors = table.attributes, table.array("joint"), table.array("motors")
    coupled = table.array("couplings")
    couplings: dict[str, dict[str, Any]] = {}
    if coupled is not None:
        for k, (name, coordinate) in enumerate(known["coupling_names"]):
            couplings.setdefault(name, {})[coordinate] = coupled[:, k]
    arrays = {name: table.array(name) for name in _ARRAYS}
    if joints is None or any(x is None for x in arrays.values()):
        raise ValueError("forces are missing")
    return Reactions(
        t=table.array("t"),
        joints=tuple(joints.tolist()),
        **arrays,
        motors={} if motors is None else {name: motors[:, k] for k, name in enumerate(known["motor_names"])},
        motor_units=dict(known["motor_units"]),
        couplings=couplings,
        coupling_units=dict(known.get("coupling_units", {})),
        indeterminate=tuple(Indeterminate(**one) for one in known["indeterminate"]),
        planar=known["planar"],
        length=known["length"],
        largest=known["largest"],
        formulation=known["formulation"],
        simulated_by=known["simulated_by"],
        model=known["model"],
        units=Units(**known["unit_names"]),
    )
