"""Spins of bodies in a steady motion: which part of the angular velocity on a ball joint is a spin about an own axis.

The remainder is a rotation about an axis that is fixed on the parent side. The balance of forces is linear in the
spins, so they follow from it. If a body rotates about its own axis only, both parts have the same direction and all of
it counts as spin.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pendula.analysis.equilibria.balance import Balance, ball_blocks
from pendula.analysis.symmetry.find import Symmetry, find_symmetries
from pendula.analysis.symmetry.geometry import Geometry
from pendula.system.layout import Array
from pendula.system.system import System

ALIGNED = 1e-12
"""an angular velocity is along an axis if the remainder is below this fraction of it"""


def with_spins(balance: Balance, q: Array, v: Array) -> Balance:
    """The balance of forces in axes that do not take part in the spins of a steady motion."""
    system = balance.system
    if not any(np.any(v[k : k + 3]) for _, k in system.balls):
        return balance
    M = system.mass_matrix(q, 0.0, parameters=balance.parameters)
    spin, asked = np.zeros(len(v)), []
    for column in spin_columns(system, balance.parameters):
        own = v * _block(system, column)
        if not np.any(own):
            continue
        along = column * (column @ v)
        if np.linalg.norm(own - along) <= ALIGNED * np.linalg.norm(own):
            spin = spin + along
        else:
            asked.append(column)
    if asked:
        # f + M (s x v) = 0 for spins s along the columns
        A = np.stack([M @ ball_blocks(system, c) @ v for c in asked], axis=1)
        left = replace(balance, spin=spin).unbalanced(q, v)
        spin = spin + np.stack(asked, axis=1) @ np.linalg.lstsq(A, -left, rcond=None)[0]
    return replace(balance, spin=spin) if np.any(spin) else balance


def _block(system: System, column: Array) -> Array:
    """1 at the three speeds of the ball joint of a spin, 0 elsewhere."""
    found = np.zeros(len(column))
    for _, k in system.balls:
        found[k : k + 3] = float(np.any(column[k : k + 3]))
    return found


def spin_columns(system: System, parameters: Array, *, inner: bool = False) -> list[Array]:
    """Unit spins of bodies on ball joints about their own axes, at the speeds of their joints.

    Bodies that carry others are included only on request: what they carry must then turn back.
    """
    found = []
    for symmetry in find_symmetries(system.model, system.layout.parameter_values(parameters)):
        k = _first_speed(system, symmetry)
        carries = any(j.parent.body in symmetry.bodies for j in system.model.tree)
        if symmetry.kind == "spin" and k is not None and (inner or not carries):
            column = np.zeros(len(system.layout.speeds))
            column[k : k + 3] = _in_joint(system, symmetry, parameters)
            found.append(column)
    return found


def _first_speed(system: System, symmetry: Symmetry) -> int | None:
    name = f"{symmetry.joint}_wx"
    owners = [k for _, k in system.balls if system.layout.speeds[k] == name]
    return owners[0] if owners else None


def _in_joint(system: System, symmetry: Symmetry, parameters: Array) -> Array:
    """The axis of a spin in the axes of the child side of its joint."""
    geometry = Geometry(system.model, system.layout.parameter_values(parameters))
    _, R = geometry.side(system.model.joint(symmetry.joint).child)
    return np.asarray(R.T @ np.array(symmetry.axis))
