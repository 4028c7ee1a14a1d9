"""What an FMU needs to close its loops as ``simulate`` does: where a run starts, sizes, tolerances, names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pendula.equations.equations import Equations
from pendula.errors import LoopNotClosed
from pendula.exchange.blocks import Blocks
from pendula.system.build import compile_system
from pendula.system.code.c import array, number
from pendula.system.layout import Array
from pendula.system.loops import assembly, speeds
from pendula.system.parameters import typical_steps


def given_start(eq: Equations, blocks: Blocks) -> Array:
    """The initial state as the model gives it, q then v, from which ``simulate`` closes the loops.

    Where that fails, or in coordinates of the bodies, it is the closed state.
    """
    system = compile_system(eq)
    if not (eq.loop_rows and system.in_joints.same):
        return blocks.start
    given = system.in_joints.initial_state()
    try:
        assembly.assemble_holding(system, given, None, (), (eq.model.initial,))
    except LoopNotClosed:
        return blocks.start
    return np.concatenate([given.q, given.v])


def checks_of(eq: Equations, length: float) -> list[Any]:
    """Senses of closing joints, positive where their sides do not oppose; then gaps that no motion changes."""
    fixed = [gap / length if "gap" in name else gap for name, gap in eq.fixed_gaps]
    return [*(sense for _, sense in eq.senses), *fixed]


def closing_part(eq: Equations) -> list[str]:
    """Lines of C that ``closing.c`` reads.

    GAP_SCALES: divisors of gaps. TYPICAL_STEPS: typical changes along the speeds. DISPLACEMENTS: DISPLACED of them, to
    leave dead points. FIRST_HELD, NUMBER_HELD: the speeds along which nothing moves if a coordinate is held. PLAIN: all
    speeds are rates of coordinates. IS_ANGLE, IS_WRITTEN: coordinates that are angles; states that the model gives.
    """
    system, model = compile_system(eq), eq.model
    layout, steps = system.layout, typical_steps(system)
    names, count = (*layout.coordinates, *layout.speeds), len(layout.speeds)
    held = [(speed, 1) if speed >= 0 else (0, 0) for speed in layout.speed_of]
    for at, speed, chart, _ in system.turnings:
        held[at : at + chart.count] = [(speed, 3)] * chart.count
    oriented = {name for one in layout.orientations if one.joint in model.initial for name in layout.coordinates[one.q]}
    some = np.random.default_rng(0)
    shifts = [size * steps * some.uniform(-1.0, 1.0, count) for size in assembly.DISPLACED]
    sizes = {
        "DISPLACED": len(shifts),
        "SENSES": len(eq.senses),
        "CHECKS": len(eq.senses) + len(eq.fixed_gaps),
        "PLAIN": int(not system.turnings),
    }
    limits = {
        "CLOSED": assembly.CLOSED,
        "CLOSED_ENOUGH": assembly.CLOSED_ENOUGH,
        "SINGULAR": assembly.SINGULAR,
        "FIXED_GAP": assembly.FIXED_GAP,
        "ROUNDED": speeds.ROUNDED,
        "STIFF": speeds.STIFF,
    }
    return [
        *(f"#define {name} {value}" for name, value in sizes.items()),
        *(f"#define {name} {number(value)}" for name, value in limits.items()),
        array("double", "GAP_SCALES", map(number, speeds.row_scales(system).tolist())),
        array("double", "TYPICAL_STEPS", map(number, steps.tolist())),
        array("double", "DISPLACEMENTS", map(number, np.concatenate(shifts).tolist())),
        array("int", "FIRST_HELD", (str(first) for first, _ in held)),
        array("int", "NUMBER_HELD", (str(many) for _, many in held)),
        array("int", "IS_ANGLE", (str(int(kind == "angle")) for kind in layout.coordinate_kinds)),
        array("int", "IS_WRITTEN", (str(int(name in model.initial or name in oriented)) for name in names)),
        array("char *const", "NAMES", map(json.dumps, names)),
    ]
