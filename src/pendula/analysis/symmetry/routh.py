"""Routh's reduced mechanism: cyclic coordinates are ignored, their momenta are parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.symmetry.find import find_symmetries
from pendula.arguments import available, read_names
from pendula.equations.cyclic.routh import momentum_name, routh_equations
from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.errors import NotSupported, UsageError
from pendula.interrupts import whole
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.parameters import Parameters, parameter_vector
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System
from pendula.words import readable


@readable
@dataclass(frozen=True)
class Reduced:
    """A mechanism without its cyclic coordinates.

    ``system`` can be simulated, searched for equilibria (which are the steady motions of the full mechanism),
    linearized and printed as any other. Its potential is Routh's: V plus p^T D^-1 p / 2. Poses of bodies are those at
    zero ignored coordinates.

    Attributes:
        system: the reduced system; the momenta are its parameters ``p_phi``, ...
        full: the system that was reduced.
        ignored: the cyclic coordinates.
        momenta: the values of their momenta, by the name of the parameter.

    Example:
        >>> import pendula
        >>> reduced = pendula.equilibria.routh("spherical-pendulum")
        >>> reduced.ignored, reduced.system.layout.coordinates
        (('phi',), ('theta',))
        >>> [round(e["theta"], 4) for e in pendula.find_equilibria(reduced.system, box={"theta": (0.1, 3.0)})]
        [0.4021]
    """

    system: System
    full: System
    ignored: tuple[str, ...]
    momenta: Mapping[str, float]

    def state(self, state: State | None = None) -> State:
        """The remaining coordinates and speeds of a state of the full mechanism; its initial state by default."""
        state = self.full.initial_state() if state is None else state
        values = state.as_dict()
        names = (*self.system.layout.coordinates, *self.system.layout.speeds)
        return self.system.state({name: values[name] for name in names}, t=state.t)

    def rates(self, q: Array, v: Array, *, parameters: Parameters = None) -> Array:
        """Rates of the ignored coordinates at states of the reduced mechanism, shape (..., ignored)."""
        full, layout = self.full, self.full.layout
        vector = parameter_vector(self.system, parameters)
        known = dict(zip(self.system.layout.parameters, vector, strict=True))
        p = np.array([known[momentum_name(name)] for name in self.ignored])
        own = np.array([known[name] for name in layout.parameters])
        q_all = self._spread(q, layout.coordinates, self.system.layout.coordinates)
        v_all = self._spread(v, layout.speeds, self.system.layout.speeds)
        c = [layout.speeds.index(f"{name}_dot") for name in self.ignored]
        M = full.mass_matrix(q_all, 0.0, parameters=own)
        left = p - np.einsum("...ij,...j->...i", M[..., c, :], v_all)
        return np.asarray(np.linalg.solve(M[..., c, :][..., c], left[..., None])[..., 0])

    def recover(self, run: Trajectory, *, initial_state: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """Coordinates and speeds of the full mechanism along a run of the reduced one.

        The ignored coordinates follow by quadrature of their rates, to the tolerance of the run: the reduced motion is
        integrated once more, together with them.

        Args:
            run: a run of ``system``.
            initial_state: initial values of the ignored coordinates; zero by default.

        Returns:
            q and v of the full mechanism at the times of the run, in the order of its layout.
        """
        layout = self.full.layout
        q = self._spread(run.q, layout.coordinates, self.system.layout.coordinates)
        v = self._spread(run.v, layout.speeds, self.system.layout.speeds)
        rates = self.rates(run.q, run.v, parameters=run.parameters)
        followed = self._followed(run, initial_state or {})
        for k, name in enumerate(self.ignored):
            q[:, layout.coordinates.index(name)] = followed[name]
            v[:, layout.speeds.index(f"{name}_dot")] = rates[:, k]
        return q, v

    def _followed(self, run: Trajectory, start: Mapping[str, float]) -> Trajectory:
        """The run again, with the ignored coordinates among its coordinates."""
        equations = routh_equations(_equations(self.full), self.ignored, self.system.model, follow=True)
        system = SymbolicSystem(equations)
        names = (*self.system.layout.coordinates, *self.system.layout.speeds)
        values = dict(zip(names, (*run.q[0], *run.v[0]), strict=True))
        first = system.state(values | {name: float(start.get(name, 0.0)) for name in self.ignored}, t=float(run.t[0]))
        return whole(
            simulate, system, t_span=(float(run.t[0]), float(run.t[-1])), initial_state=first,
            parameters=run.parameters, tol=run.tolerance, samples=run.t, on_failure="raise",
        )  # fmt: skip

    @staticmethod
    def _spread(values: Array, names: Sequence[str], own: Sequence[str]) -> Array:
        """Values of the remaining coordinates among all of them; the ignored ones are zero."""
        values = np.asarray(values, dtype=float)
        found = np.zeros((*values.shape[:-1], len(names)))
        for k, name in enumerate(own):
            found[..., names.index(name)] = values[..., k]
        return found

    def __str__(self) -> str:
        momenta = ", ".join(f"{name} = {x:.6g}" for name, x in self.momenta.items())
        left = ", ".join(self.system.layout.coordinates)
        return f"{self.full.model.name} without {', '.join(self.ignored)}: coordinates {left}; momenta {momenta}"


def routh(
    system: AnySystem,
    ignore: Sequence[str] | None = None,
    *,
    momenta: Mapping[str, float] | None = None,
    at: State | None = None,
) -> Reduced:
    """The mechanism without its cyclic coordinates, whose momenta become parameters (Routh's reduction).

    Args:
        system: a system, a model, or the name of a library mechanism, without loops and prescribed motions.
        ignore: the cyclic coordinates to ignore; all of them by default.
        momenta: their momenta, by coordinate or as ``p_phi``; by default those of a state.
        at: that state; the initial state by default.

    Raises:
        UsageError: a coordinate is not cyclic.
        NotSupported: no coordinate is cyclic in this chart; quaternions have none.

    Example:
        >>> import pendula
        >>> reduced = pendula.equilibria.routh("spherical-pendulum", momenta={"phi": 0.5})
        >>> print(reduced)
        spherical pendulum without phi: coordinates theta; momenta p_phi = 0.5
    """
    found = system_of(system, "routh")
    found.inputs.refuse_over_time("routh")
    found.in_joints.refuse_others(refusals.ROUTH_OF_BODIES)
    cyclic = [s.coordinate for s in find_symmetries(found.model) if s.coordinate]
    names = tuple(cyclic) if ignore is None else read_names(ignore, "ignore")
    for name in names:
        if name not in cyclic:
            known = ", ".join(cyclic) or "none"
            raise UsageError(f'routh: "{name}" is not a cyclic coordinate; those are: {known}')
    if not names:
        raise NotSupported(refusals.NOT_CYCLIC)
    state = found.initial_state() if at is None else at
    layout = found.layout
    c = [layout.speeds.index(f"{name}_dot") for name in names]
    values = dict(zip(names, (found.mass_matrix(state.q) @ state.v)[c].tolist(), strict=True))
    for given, value in (momenta or {}).items():
        name = given.removeprefix("p_") if given not in names else given
        if name not in names:
            raise UsageError(f'routh: there is no momentum "{given}"; {available(map(momentum_name, names))}')
        values[name] = float(value)
    model = _reduced_model(found, names, values)
    reduced = SymbolicSystem(routh_equations(_equations(found), names, model))
    return Reduced(reduced, found, names, {momentum_name(name): x for name, x in values.items()})


def _equations(system: System) -> Equations:
    """Equations by Lagrange's method, whose expressions do not contain the first angle of a joint to ground."""
    return system.equations if system.formulation == "lagrange" else derive(system.model, "lagrange")


def _reduced_model(system: System, names: Sequence[str], values: Mapping[str, float]) -> Any:
    model = system.model
    taken = [momentum_name(n) for n in names if momentum_name(n) in (*model.parameters, *model.inputs)]
    if taken:
        raise NotSupported(refusals.NAME_TAKEN, name=taken[0])
    gone = {*names, *(f"{name}_dot" for name in names)}
    initial = {name: x for name, x in model.initial.items() if name not in gone}
    return model.with_changes(
        name=f"{model.name}, reduced",
        parameters=dict(model.parameters) | {momentum_name(name): values[name] for name in names},
        initial=initial,
    )
