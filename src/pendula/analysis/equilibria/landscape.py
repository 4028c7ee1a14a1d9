"""The (effective) potential over one or two coordinates, integrated from the forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import is_cyclic
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.equilibria.turning import read_turning
from pendula.errors import NotSupported, UsageError
from pendula.system.layout import Array
from pendula.system.parameters import typical_length
from pendula.system.system import System

POINTS = (1201, 181)
"""number of points on every axis, for one and for two coordinates"""
CURL = 1e-4
"""forces have no potential if two paths of integration differ by more than this, relative to the values"""


@dataclass(frozen=True)
class Landscape:
    """A potential over one or two coordinates.

    Attributes:
        names, units: of the coordinates.
        axes: values of each coordinate.
        values: the potential, shape (points,) or (points of the first, points of the second).
        steady: whether it contains the potential of a steady or prescribed motion.
        energy_unit: its unit.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    axes: tuple[Array, ...]
    values: Array
    steady: bool
    energy_unit: str


def landscape(system: System, found: Equilibria, *, rates: Mapping[str, float] | None = None) -> Landscape:
    """The (effective) potential over the coordinates that are not cyclic, at most two.

    It is the negative integral of the unbalanced forces at rest (or in the steady motion), including inputs, so that
    equilibria are exactly its stationary points. Its value at the first equilibrium is the potential there.

    Args:
        system: compiled equations of a mechanism without closed loops.
        found: its equilibria; their box is drawn.
        rates: as for ``find_equilibria``.

    Raises:
        NotSupported: more than two coordinates, closed loops, ball joints, or forces without a potential.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum(kind="point"))
        >>> found = landscape(system, pendula.find_equilibria(system))
        >>> found.names, round(float(np.ptp(found.values)), 6)  # 2 m g l
        (('theta',), 19.62)
    """
    joints = system.in_joints.system
    names = joints.layout.coordinates
    if len(names) > 2 or system.model.closures or joints.balls:
        refusal = refusals.LANDSCAPE_OF_LOOPS if system.model.closures else refusals.LANDSCAPE_OF_MANY
        raise NotSupported(refusal, freedoms=len(names))
    first = found[0] if len(found) else None
    joints.inputs.held(None if first is None else first.inputs)
    balance = Balance.of(joints) if first is None else Balance(joints, first.inputs, first.parameters)
    rng = np.random.default_rng(0)
    v = read_turning(balance, rates, rng).rates
    kept = [k for k, name in enumerate(names) if not is_cyclic(balance, name, rng)] or [0]
    axes = tuple(np.linspace(*_span(joints, found, names[k]), POINTS[len(kept) - 1]) for k in kept)
    pose, level = np.zeros(len(names)), 0.0
    if first is not None:
        pose, level = system.in_joints.read(first.q, first.v, parameters=first.parameters)[0], first.potential
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    q = np.broadcast_to(np.asarray(pose, dtype=float), (grid[..., 0].size, len(names))).copy()
    q[:, kept] = grid.reshape(-1, len(kept))
    with np.errstate(all="ignore"):
        forces = balance.forces(q, np.broadcast_to(v, (len(q), len(v))))[:, kept].reshape(*grid.shape)
    if not np.all(np.isfinite(forces)):
        raise UsageError("the forces are not finite everywhere in the box, so the potential cannot be drawn")
    values = _integrated(axes, forces)
    here = tuple(int(np.argmin(np.abs(axis - pose[k]))) for axis, k in zip(axes, kept, strict=True))
    return Landscape(
        names=tuple(names[k] for k in kept),
        units=tuple(joints.layout.units[names[k]] for k in kept),
        axes=axes,
        values=values - values[here] + level,
        steady=bool(np.any(v)) or bool(system.drives),
        energy_unit=system.model.unit_names.energy,
    )


def _span(system: System, found: Equilibria, name: str) -> tuple[float, float]:
    """Range to draw of a coordinate: the box for angles, the neighbourhood of the equilibria for lengths."""
    low, high = found.box[name]
    k = system.layout.coordinates.index(name)
    if system.layout.coordinate_kinds[k] == "angle" or not len(found):
        return low, high
    places = [e[name] for e in found if name in e.layout.coordinates] or [0.0]
    reach = max(max(places) - min(places), typical_length(system, found[0].parameters))
    return max(low, min(places) - reach), min(high, max(places) + reach)


def _integrated(axes: tuple[Array, ...], forces: Array) -> Array:
    """The potential of forces on a grid; raises NotSupported if they have none."""
    from scipy.integrate import cumulative_simpson  # slow to load

    if len(axes) == 1:
        return -np.asarray(cumulative_simpson(forces[:, 0], x=axes[0], initial=0.0))
    x, y = axes
    along_x = cumulative_simpson(forces[..., 0], x=x, axis=0, initial=0.0)
    along_y = cumulative_simpson(forces[..., 1], x=y, axis=1, initial=0.0)
    one, other = -(along_x[:, :1] + along_y), -(along_y[:1, :] + along_x)
    if float(np.abs(one - other).max()) > CURL * max(float(np.ptp(one)), 1e-300):
        raise NotSupported(refusals.NO_POTENTIAL)
    return np.asarray(one)
