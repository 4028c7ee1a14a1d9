"""Sensitivities: derivatives of a run with respect to parameters and initial values, by variational equations.

y' = f(y, p)      S' = df/dy S + df/dp dp      S(0) = dy(0)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.driven.periods import symbolic
from pendula.arguments import read_names
from pendula.errors import ComputationError, NotSupported, UsageError
from pendula.library.lookup import shown
from pendula.model.checks.parameter_units import parameter_units
from pendula.model.checks.references import sides
from pendula.model.checks.usage import scalars
from pendula.model.expressions.expression import parse
from pendula.model.forces.kinks import bends, has_kinks
from pendula.model.joints import Rotation
from pendula.model.model import Model
from pendula.model.names import suggestion
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.numerics.steppers.stepping import integrate
from pendula.simulation.defaults import LOOSEST_WITH_SLOPES, MAX_STEPS
from pendula.simulation.settings import read_tolerance
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Array, Layout
from pendula.system.parameters import typical_steps
from pendula.system.switches.schedule import can_switch, largest_step
from pendula.system.system import System
from pendula.system.tangent import definition_slopes, deviation_callback, initial_slopes
from pendula.tables.tabular import Tabular
from pendula.words import counted, readable, some

FOLLOWS = 1e-12
"""A value counts as that of its expression in the model if it differs by less than this (relative)."""
READ = 1e-9
"""The same for initial values that were read back from maximal coordinates."""
SAME_MOTION = 1e-4
"""Distance from the run, relative to its largest value, above which a note is made."""
MOST_SHOWN = 24


@readable
@dataclass(frozen=True)
class Sensitivities(Tabular):
    """Derivatives of the joint coordinates and speeds of a run. ``str()`` shows the largest and the last ones.

    ``sensitivities["theta2", "m1"]`` is the derivative of theta2 with respect to m1 over time.

    Attributes:
        names: the parameters and initial values.
        t: times of the samples of the run.
        q: derivatives of the coordinates, shape (times, coordinates, names).
        v: derivatives of the speeds, shape (times, speeds, names).
        layout: names of the coordinates and speeds.
        units: unit of each of the names; empty if it is not known.
        tolerance: of the integration.
        notes: remarks, such as which values do not follow their expression in the model.
        mechanism: its name, for titles.

    Example:
        >>> import pendula
        >>> found = pendula.sensitivities(pendula.simulate("pendulum", 1.0, samples=3), ["g"])
        >>> found["theta", "g"].shape, found.unit("theta_dot", "g")
        ((3,), 'rad/s per m/s^2')
    """

    names: tuple[str, ...]
    t: Array
    q: Array
    v: Array
    layout: Layout
    units: Mapping[str, str]
    tolerance: float
    notes: tuple[str, ...] = ()
    mechanism: str = ""

    def __getitem__(self, key: tuple[str, str]) -> Array:
        if not isinstance(key, tuple) or len(key) != 2:
            raise UsageError(f'a sensitivity has two names, such as ["theta", "l"]; found {key!r}')
        of, by = key
        which, k = self.layout.position(of)
        if by not in self.names:
            raise UsageError(f'there is no derivative by "{by}"; {suggestion(by, self.names)}')
        return (self.q if which == "q" else self.v)[:, k, self.names.index(by)]

    def unit(self, of: str, by: str) -> str:
        """Unit of the derivative of a coordinate or speed with respect to one of the names."""
        self.layout.position(of)
        return f"{self.layout.units.get(of) or '1'} per {self.units[by] or f'unit of {by}'}"

    def __str__(self) -> str:
        ends = f"t = {self.t[0]:.6g} to {self.t[-1]:.6g} {self.layout.time_unit}"
        lines = [f"derivatives by {some(self.names)} at {counted(len(self.t), 'time')}, {ends}"]
        pairs = [(of, by) for by in self.names for of in (*self.layout.coordinates, *self.layout.speeds)]
        for of, by in pairs[:MOST_SHOWN]:
            x = self[of, by]
            sizes = f"largest {x[np.argmax(np.abs(x))]:.6g}, last {x[-1]:.6g}"
            lines.append(f"  {of} by {by}: {sizes} [{self.unit(of, by)}]")
        if len(pairs) > MOST_SHOWN:
            lines.append(f"  and {len(pairs) - MOST_SHOWN} more")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def sensitivities(
    run: Trajectory, parameters: Sequence[str], *, tol: float | None = None, max_steps: int = MAX_STEPS
) -> Sensitivities:
    """Derivatives of a run with respect to parameters and initial values, at the times of its samples.

    The motion and its derivatives are integrated together (variational equations), with exact derivatives of the
    equations of motion. A parameter varies as in ``simulate(..., parameters={name: ...})``: parameters, inputs and
    initial values that the model defines as expressions of it follow, unless the run gave them another value. The name
    of a coordinate or speed means its initial value. Derivatives are taken at constant times, even if an event ended
    the run.

    Args:
        run: a run of a mechanism without closed loops, in any formulation and by any engine.
        parameters: names of parameters, and of coordinates and speeds, which mean their initial values.
        tol: tolerance of the integration; default: that of the run.

    Raises:
        UsageError: there is no such name, or the first sample of the run is not its start.
        NotSupported: closed loops; a force, motion, input or definition that is not smooth.
        ComputationError: the integration could not be finished.

    Example:
        >>> import numpy as np, pendula
        >>> run = pendula.simulate("pendulum", 2.0, initial_state={"theta": 1e-4}, samples=5, tol=1e-10)
        >>> found = pendula.sensitivities(run, ["theta"])  # cos(w t) for small angles, w^2 = 3 g / (2 l)
        >>> bool(np.allclose(found["theta", "theta"], np.cos(np.sqrt(14.715) * found.t), atol=1e-6))
        True
    """
    if not isinstance(run, Trajectory):
        raise UsageError(f"sensitivities takes a run, found {shown(run)}; use simulate(system, duration)")
    wanted = _known(run, parameters)
    _refuse_loops(run.system.model)
    if run.system.inputs.over_time:
        raise NotSupported(refusals.SENSITIVITIES_OVER_TIME)
    tolerance = (run.tolerance if run.step is None else 1e-9) if tol is None else tol
    tolerance = read_tolerance(tolerance, LOOSEST_WITH_SLOPES)
    system = symbolic(run.system.in_joints.system)
    along, held = parameter_changes(system, run.parameters, wanted)
    refuse_kinks(system, {n for n, row in zip(system.layout.parameters, along, strict=True) if row.any()})
    dq, dv, kept = _initial_changes(run, system, wanted, along)
    scales = _scales(system, run.parameters, wanted)
    first = np.concatenate([dq, dv]) * scales
    y, S = _integrated(run, system, along.T * scales[:, None], first, float(tolerance), max_steps)
    nq = len(system.layout.coordinates)
    units = {**parameter_units(run.system.model), **system.layout.units}
    S = S / scales
    return Sensitivities(
        names=wanted, t=run.t, q=S[:, :nq], v=S[:, nq:], layout=system.layout,
        units={name: units.get(name, "") for name in wanted}, tolerance=float(tolerance),
        notes=(*held, *kept, *_away(run, system, y)), mechanism=system.model.name,
    )  # fmt: skip


def _known(run: Trajectory, names: Sequence[str]) -> tuple[str, ...]:
    if not read_names(names, "parameters"):
        raise UsageError(f'parameters are a list of names, such as ["m", "theta"]; found {names!r}')
    layout = run.joint_layout
    known = (*layout.parameters, *layout.coordinates, *layout.speeds)
    for name in names:
        if name not in known:
            raise UsageError(f'there is no parameter, coordinate or speed "{name}"; {suggestion(name, known)}')
    if len({*names}) < len(names):
        raise UsageError(f"parameters must differ from each other, found {', '.join(names)}")
    if run.t[0] != run.energy.t[0]:
        raise UsageError(
            f"the run began at t = {run.energy.t[0]:.6g}, but its first sample is at t = {run.t[0]:.6g}.\n"
            "  Try: samples that include the start."
        )
    return tuple(names)


def _refuse_loops(model: Model) -> None:
    if model.closures:
        raise NotSupported(refusals.SENSITIVITIES_OF_LOOPS, joint=model.closures[0].name)


def refuse_kinks(system: System, changing: Collection[str]) -> None:
    """Raises NotSupported if an expression is not smooth; ``changing`` are the parameters that vary."""
    model, found = system.model, []
    used = in_equations(model) if model.closures else None  # differences give what loops make of the initial values
    for kind, elements in (("force", model.forces), ("joint", model.tree)):
        found += [f'{kind} "{x.name or x.type}"' for x in elements if has_kinks(x)]
    found += [f'input "{name}"' for name, value in model.inputs.items() if bends(value)]
    for kind, values in (("parameter", model.parameters), ("initial value", model.initial)):
        for name, value in values.items():
            if used is not None and name not in used:
                continue
            fields = value.model_dump() if isinstance(value, Rotation) else value
            if bends(fields) and any(parse(x).names & {*changing} for x in _texts(fields)):
                found.append(f'{kind} "{name}"')
    if not found and can_switch(system):
        found = ["a prescribed motion or load"]
    if found:
        raise NotSupported(refusals.NOT_SMOOTH, owner=found[0])


def in_equations(model: Model) -> set[str]:
    """Parameters that the equations of motion depend on, also through expressions; others only set initial values.

    Example:
        >>> import pendula
        >>> sorted(in_equations(pendula.library.four_bar()) & {"a", "rho", "crank0", "diagonal"})
        ['a', 'rho']
    """
    elements = (*model.bodies, *model.joints, *model.forces)
    places = [(side.position, side.rotation) for element in elements for _, side in sides(element)]
    given = (elements, places, model.gravity, model.inputs)
    found = set().union(*(e.names for value in given for _, e in scalars(value, "")))
    waiting = [n for n in found if n in model.parameters]
    while waiting:
        more = parse(model.parameters[waiting.pop()]).names - found
        found |= more
        waiting += [n for n in more if n in model.parameters]
    return found & {*model.parameters}


def _texts(fields: Any) -> list[str]:
    """Expressions in the fields of a rotation, or the one of a number."""
    if isinstance(fields, Mapping):
        entries = [fields["angle"], *(fields["axis"] or ()), *(fields["angles"] or ())]
        return [x for x in entries if isinstance(x, str)]
    return [fields] if isinstance(fields, str) else []


def parameter_changes(system: System, vector: Array, names: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Changes of all parameters with each of the names, shape (parameters, names), and notes on those that stay."""
    layout, slopes = system.layout, definition_slopes(system, vector)
    values = layout.parameter_values(vector)
    notes = []
    for i in np.flatnonzero(slopes.any(axis=1)):
        name = layout.parameters[i]
        text = parse(system.model.parameters[name])
        if not abs(text.evaluate(values) - vector[i]) <= FOLLOWS * abs(vector[i]):
            notes.append(f"{name} is {vector[i]:.6g} instead of {text}, and stays constant")
            slopes[i] = 0.0
    changes = np.zeros((vector.size, len(names)))
    for k, name in enumerate(names):
        if name in values:
            one = np.array(layout.parameters) == name
            others = np.where(one[:, None], 0.0, slopes)  # it varies itself, whatever its definition
            changes[:, k] = np.linalg.solve(np.eye(vector.size) - others, one)
    return changes, tuple(notes)


def _initial_changes(
    run: Trajectory, system: System, names: Sequence[str], along: Array
) -> tuple[Array, Array, tuple[str, ...]]:
    """Changes of the initial coordinates and speeds with each of the names, and notes on values that stay."""
    layout, joints = system.layout, run.system.in_joints
    model, here = joints.initial_state(run.parameters), [x[0] for x in run.joints]
    slopes, notes = [x @ along for x in initial_slopes(system, run.parameters)], []
    for at, expected, found, all_names in zip(
        (0, 1), (model.q, model.v), here, (layout.coordinates, layout.speeds), strict=True
    ):
        off = found - expected
        if at == 0 and not joints.same:  # angles are read back within half a turn
            turn = 2 * np.pi * np.array([kind == "angle" for kind in layout.coordinate_kinds])
            off -= turn * np.round(off / (2 * np.pi))
        limit = (FOLLOWS if joints.same else READ) * np.maximum(1.0, np.abs(expected))
        for i in np.flatnonzero(~(np.abs(off) <= limit)):
            if slopes[at][i].any():
                notes.append(f"{all_names[i]} does not start at its expression in the model, and stays constant")
                slopes[at][i] = 0.0
    for k, name in enumerate(names):
        if name in (*layout.coordinates, *layout.speeds):
            which, place = layout.position(name)
            slopes["qv".index(which)][place, k] = 1.0
    for at, _ in system.balls:  # initial quaternions are normalized
        unit = here[0][at : at + 4]
        slopes[0][at : at + 4] -= np.outer(unit, unit @ slopes[0][at : at + 4])
    return slopes[0], slopes[1], tuple(notes)


def _scales(system: System, vector: Array, names: Sequence[str]) -> Array:
    """A typical change of each of the names, for step-size control."""
    layout = system.layout
    sizes = {name: abs(x) or 1.0 for name, x in layout.parameter_values(vector).items()}
    sizes |= dict(zip(layout.speeds, typical_steps(system, vector), strict=True))
    return np.array([sizes.get(name, sizes.get(f"{name}_dot", 1.0)) for name in names])


def _integrated(
    run: Trajectory, system: System, along: Array, first: Array, tol: float, max_steps: int
) -> tuple[Array, Array]:
    """States and deviations at the samples, of shapes (times, n) and (times, n, deviations)."""
    start = np.concatenate([x[0] for x in run.joints])
    if len(run) == 1:
        return start[None], first[None]
    span = (float(run.t[0]), float(run.t[-1]))
    stepper = STEPPERS[run.stepper]
    try:
        found = integrate(
            deviation_callback(system, run.parameters, along), np.concatenate([start, first.T.ravel()]), span, rtol=tol,
            atol=tol, method="dop853" if stepper.fixed or stepper.series else run.stepper, sample_times=run.t,
            max_steps=max_steps, max_step=largest_step(system, run.parameters, span, []), keep_on_interrupt=False,
        )  # fmt: skip
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not found.outcome.ok:
        raise ComputationError(f"the sensitivities were not found: {found.outcome}: {found.detail}")
    n = start.size
    return found.sample_y[:, :n], found.sample_y[:, n:].reshape(len(run), -1, n).transpose(0, 2, 1)


def _away(run: Trajectory, system: System, y: Array) -> tuple[str, ...]:
    """A note if the motion with the deviations is not that of the run, which then was not accurate."""
    there = np.concatenate(run.joints, axis=1)
    off = y - there
    turn = [kind == "angle" for kind in system.layout.coordinate_kinds] + [False] * len(system.layout.speeds)
    off[:, turn] -= 2 * np.pi * np.round(off[:, turn] / (2 * np.pi))
    part = float((np.abs(off).max(axis=0) / np.maximum(np.abs(there).max(axis=0), 1e-3)).max(initial=0.0))
    if part <= SAME_MOTION:
        return ()
    return (f"the motion with its derivatives departs from the run by {part:.2g} of its size; use a smaller tolerance",)
