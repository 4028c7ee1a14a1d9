"""Forces of couplings (gears, belts): a generalized force on every coordinate that a coupling uses."""

from __future__ import annotations

import numpy as np

from pendula.analysis.reactions.freedoms import DEPENDENT, left_null_space
from pendula.equations.matrix import entries
from pendula.system.code.rows import state_rows
from pendula.system.layout import Array
from pendula.system.loops.mobility import comparable, dimensionless
from pendula.system.system import System

Forces = dict[str, dict[str, Array]]
"""coupling -> coordinate -> generalized force over time"""


def coupling_forces(system: System, q: Array, v: Array, t: Array, parameters: Array) -> tuple[Forces, dict[str, str]]:
    """The generalized force G^T lam of every coupling on the coordinates that it uses, and the kinds of these.

    A coupling has one constraint row G, and lam is its multiplier. Forces are nan where the row depends on those of
    other closing joints, which leaves lam undetermined.

    Args:
        system: a system in the coordinates of the joints.
        q, v, t: states.
        parameters: values of all parameters.
    """
    couplings = [joint.name for joint in system.model.closures if not joint.has_sides]
    if not couplings:
        return {}, {}
    eq = system.equations
    names = [*(s.name.removesuffix("_dot") for s in eq.speeds), *(d.name for d in eq.drives)]
    kinds = dict(zip(names, [*(s.kind for s in eq.speeds), *(d.kind for d in eq.drives)], strict=True))
    owner = [name.partition(":")[0] for name in eq.constraint_names[: eq.loop_rows]]
    free = [(i, names[j], x) for i, j, x in entries(eq.G) if owner[i] in couplings]
    driven = [(i, eq.drives[j].name, x) for i, j, x in entries(eq.drive_G) if owner[i] in couplings]
    slopes = [*free, *driven]
    program = system.programs.block("couplings", parameters, lambda: [x for _, _, x in slopes])
    rows, _ = state_rows(system.layout, q, v, t, system.inputs.none)
    values = program.rows(rows)
    lam = np.array(system.multipliers(q, v, t, parameters=parameters))
    G = system.constraint_jacobian(q, t, parameters=parameters)
    lam[_undetermined(dimensionless(system, G, parameters))] = np.nan
    found: Forces = {name: {} for name in couplings}
    for k, (i, coordinate, _) in enumerate(slopes):
        found[owner[i]][coordinate] = values[:, k] * lam[:, i]
    return found, {name: kinds[name] for forces in found.values() for name in forces}


def _undetermined(G: Array) -> Array:
    """Whether each multiplier is undetermined at each time: its dimensionless constraint row depends on others."""
    null = left_null_space(comparable(G))
    return np.asarray(np.abs(null).max(axis=-1, initial=0.0) > DEPENDENT)
