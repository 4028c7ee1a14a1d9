"""Modal analysis of a linear model: natural frequencies, damping ratios, mode shapes, and descriptions in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pendula.analysis.linear.entry import linear_of
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.modes.eigenmodes import (
    FLUTTER,
    OSCILLATION,
    UNSTABLE,
    Mode,
    all_names,
    negligible,
    quadratic_modes,
    symmetric_modes,
    with_groups,
)
from pendula.analysis.modes.words import sentence, table_of
from pendula.arguments import read_number, read_numbers
from pendula.errors import ModelError, Problem, UsageError
from pendula.library.lookup import shown
from pendula.system.entry import AnySystem
from pendula.system.layout import Array
from pendula.system.parameters import Parameters
from pendula.tables.tabular import Tabular
from pendula.words import readable


@readable
@dataclass(frozen=True)
class Modes(Tabular):
    """Modes of a linear model, numbered from 1: ``modes[1]``, ``list(modes)``, ``len(modes)``. ``str()`` is a table.

    Attributes:
        modes: the modes.
        linear: the linear model.
        damped: whether damping is included.
        orthogonality: largest entry of E^T M E - 1; None for modes of the quadratic eigenproblem.
        stiffness_orthogonality: largest entry of E^T K E - diag(lambda), relative to the largest lambda; or None.
        notes: further remarks, for example that damping is neglected.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> found = pendula.modes(pendula.linearize(system, {"theta": 0}))
        >>> found.frequencies.round(4).tolist()  # a rod: sqrt(3 g / (2 l))
        [3.836]
    """

    modes: tuple[Mode, ...]
    linear: LinearModel
    damped: bool
    orthogonality: float | None
    stiffness_orthogonality: float | None
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.modes)

    def __getitem__(self, number: int) -> Mode:
        """Mode by number, from 1."""
        if not isinstance(number, (int, np.integer)) or not 1 <= number <= len(self.modes):
            raise UsageError(f"modes are numbered from 1 to {len(self.modes)}, found {number!r}")
        return self.modes[number - 1]

    @property
    def frequencies(self) -> Array:
        """Natural frequencies of the modes that oscillate, with damping |s| [rad/time], ascending."""
        return np.array([m.frequency for m in self.modes if m.frequency is not None])

    @cached_property
    def shapes(self) -> Array:
        """Mass-normalized shapes by columns."""
        return np.stack([m.shape for m in self.modes], axis=1)

    @property
    def time_unit(self) -> str:
        """Name of the unit of time."""
        return self.linear.at.layout.time_unit

    def as_dict(self) -> dict[str, Any]:
        """All results as plain lists and strings; a mode without a frequency has None."""
        names = all_names(self.linear)
        return {
            "frequencies_rad_s": [m.frequency for m in self.modes],
            "frequencies_hz": [m.hertz for m in self.modes],
            "damped_frequencies_rad_s": [m.damped_frequency for m in self.modes],
            "damping_ratios": [m.damping_ratio for m in self.modes],
            "periods": [m.period for m in self.modes],
            "kinds": [m.kind for m in self.modes],
            "eigenvalues": [{"re": m.eigenvalue.real, "im": m.eigenvalue.imag, "roots": m.roots} for m in self.modes],
            "coordinates": list(self.linear.coordinates),
            "units": {name: self.linear.units.get(name, "") for name in self.linear.coordinates},
            "time_unit": self.time_unit,
            "shapes": [plain(m.scaled) for m in self.modes],
            "mass_normalized_shapes": [plain(m.shape) for m in self.modes],
            "all_coordinates": [dict(zip(names, plain(m.everywhere), strict=True)) for m in self.modes],
            "repeated": [list(m.repeated) for m in self.modes],
            "residuals": [m.residual for m in self.modes],
            "orthogonality": self.orthogonality,
            "stiffness_orthogonality": self.stiffness_orthogonality,
            "description": [m.description for m in self.modes],
            "damped": self.damped,
            "notes": list(self.notes),
            "at": self.linear.at.state.as_dict(),
        }

    def __str__(self) -> str:
        return table_of(self)


def modes(
    linear: LinearModel | AnySystem,
    at: Any = None,
    *,
    damped: bool = False,
    inputs: Mapping[str, float] | None = None,
    parameters: Parameters = None,
) -> Modes:
    """Natural frequencies, damping ratios and shapes of small motions about an equilibrium.

    Undamped modes come from the symmetric eigenproblem K e = omega^2 M e. Gyroscopic or circulatory forces, and damping
    if requested, lead to the quadratic eigenproblem (s^2 M + s C + K) e = 0 and to complex shapes, with phases. Neither
    a rigid-body mode (no restoring force) nor an unstable mode (negative stiffness) has a frequency.

    Args:
        linear: a linear model; a system, a model or the name of a library mechanism is linearized first.
        at: for a system, the equilibrium (as for ``linearize``).
        damped: whether to include damping; if it is neglected, ``notes`` says so.
        inputs, parameters: for a system, values of inputs and parameters by name.

    Raises:
        ModelError: the mass matrix is not positive definite.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> found = modes(system, {"theta1": 0.0, "theta2": 0.0})
        >>> found.frequencies.round(4)  # rad/s
        array([21.4405, 94.9784])
        >>> found[1].scaled.round(3)
        array([1.  , 2.11])
    """
    model = linear_of(linear, "modes", at, inputs, parameters)
    _check(model)
    C = model.C if damped else model.gyroscopic
    orthogonality: tuple[float, float] | tuple[None, None]
    if negligible(C, model.C) and negligible(model.circulatory, model.K):
        found, orthogonality = symmetric_modes(model)
    else:
        found, orthogonality = quadratic_modes(model, C), (None, None)
    numbered = [replace(m, number=k) for k, m in enumerate(found, 1)]
    grouped = with_groups(numbered, model, real=orthogonality[0] is not None)
    described = tuple(replace(m, description=sentence(m, model, grouped)) for m in grouped)
    return Modes(described, model, damped, orthogonality[0], orthogonality[1], _notes(model, damped, described))


def modal_coordinates(modes: Modes, e: Any, v: Any = None) -> tuple[Array, Array]:
    """Modal coordinates of a displacement and of a velocity of an undamped model.

    With mass-normalized shapes E, e = E eta gives eta = E^T M e. Leading dimensions are a batch.

    Returns:
        eta and eta', each with one entry for every mode.

    Raises:
        UsageError: the modes have phases (damping, gyroscopic or circulatory forces): use ``free_response``.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.double_pendulum())
        >>> found = modes(system, {"theta1": 0.0, "theta2": 0.0})
        >>> eta, _ = modal_coordinates(found, 0.1 * found[2].shape)
        >>> eta.round(12) + 0.0
        array([0. , 0.1])
    """
    if not isinstance(modes, Modes):
        raise UsageError(f"modal_coordinates takes modes, found {shown(modes)}; use modes(system, at)")
    if modes.orthogonality is None:
        raise UsageError(
            "modal coordinates belong to undamped modes without gyroscopic forces, and these modes have phases.\n"
            "  Try: free_response(...), which superposes them."
        )
    weight = modes.linear.M @ modes.shapes
    e = values_of(modes.linear, e, "e")
    v = np.zeros_like(e) if v is None else values_of(modes.linear, v, "v")
    return e @ weight, v @ weight


def values_of(linear: LinearModel, given: Any, what: str) -> Array:
    """A displacement of the independent coordinates, by name or as an array; unnamed entries are zero."""
    names = linear.speeds if what == "v" else linear.coordinates
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise UsageError(f'{what}: there is no "{unknown[0]}"; the independent ones are {", ".join(names[:12])}')
        return np.array([read_number(given.get(name, 0.0), f'{what}: "{name}"') for name in names])
    array = read_numbers(given, what)
    if array.shape[-1:] != (len(names),) or not np.all(np.isfinite(array)):
        raise UsageError(f"{what} must be {len(names)} finite numbers ({', '.join(names[:6])}), got {given!r}")
    return array


def plain(values: Array) -> list[Any]:
    """Numbers as lists; complex ones as {re, im}."""
    if np.iscomplexobj(values):
        return [{"re": float(x.real), "im": float(x.imag)} for x in values]
    return [float(x) for x in values]


def _check(linear: LinearModel) -> None:
    if not len(linear.M):
        raise UsageError("nothing can move about this equilibrium, so there are no modes")
    root = np.sqrt(np.maximum(linear.M.diagonal(), 0.0))
    scale = np.where(root > 0.0, root, 1.0)  # so that the units of the coordinates do not matter
    sizes = np.linalg.eigvalsh((linear.M + linear.M.T) / 2 / np.outer(scale, scale))
    if not sizes[0] > 1e-13 * max(sizes[-1], 0.0):
        least = f"its least eigenvalue is {sizes[0]:.3g}, scaled to a unit diagonal"
        cause = f"the mass matrix is not positive definite ({least})"
        advice = "give every moving part a mass, or use coordinates that are regular at this point"
        raise ModelError([Problem("linear model", "M", cause, advice)])


def _notes(linear: LinearModel, damped: bool, found: tuple[Mode, ...]) -> tuple[str, ...]:
    notes = []
    if not damped and not negligible(linear.damping, linear.M) and np.abs(linear.damping).max(initial=0.0) > 0:
        notes.append("damping is neglected; damped=True includes it")
    if not negligible(linear.gyroscopic, linear.C):
        notes.append("gyroscopic forces: shapes have phases")
    if not negligible(linear.circulatory, linear.K):
        notes.append("forces without a potential (circulatory): shapes have phases and need not be orthogonal")
    notes += [
        f"mode {m.number} has a double root with one shape (critical damping): motions grow or decay as t exp(s t)"
        for m in found
        if m.defective and not m.repeated
    ]
    seen: set[tuple[int, ...]] = set()
    for mode in found:
        if mode.repeated and mode.repeated not in seen:
            seen.add(mode.repeated)
            named = ", ".join(map(str, mode.repeated))
            if mode.defective:
                notes.append(f"modes {named} share a root with fewer shapes than roots: motions grow by powers of t")
            elif mode.kind == OSCILLATION:
                notes.append(
                    f"modes {named} have the same frequency: any combination is a mode shape; these are a basis"
                )
    unstable = [str(m.number) for m in found if m.kind in (UNSTABLE, FLUTTER)]
    if unstable:
        named = f"mode {unstable[0]} grows" if len(unstable) == 1 else f"modes {', '.join(unstable)} grow"
        notes.append(f"{named}: the equilibrium is unstable, and frequencies are those of the other modes alone")
    return tuple(notes)
