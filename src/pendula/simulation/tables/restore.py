"""A run from its table: the system is compiled again from the model in it, everything else is as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pendula.errors import ModelError, UsageError
from pendula.model.files import dumps, loads
from pendula.numerics.steppers.stepper import STEPPERS
from pendula.outcome import Outcome
from pendula.simulation.charts.switching import Elsewhere
from pendula.simulation.events import Crossings, Event
from pendula.simulation.inputs.given import with_inputs
from pendula.simulation.inputs.kinds import Signal
from pendula.simulation.predictability import Predictability, Settled
from pendula.simulation.settings import Settings
from pendula.simulation.trajectory import EnergyAccount, Trajectory
from pendula.system.build import compile_again
from pendula.system.layout import Array, State
from pendula.system.orientation.singularities import Nearest, Singularity
from pendula.system.orientation.twins import regular_twin
from pendula.system.system import System
from pendula.tables.table import Table

MECHANISM = ("units", "gravity", "bodies", "joints", "forces")
"""fields of a model that must be the same for a run to belong to it"""


def restored_run(table: Table, system: System | None = None) -> Trajectory:
    """The run behind a table.

    Raises:
        UsageError: its system cannot be made again, or the given one is another.
        ValueError: something is missing in it.
    """
    known = table.attributes
    system = system_of_table(table, system)
    vector = parameters_of(known["parameters"], system)
    system, remarks = _with_recorded_inputs(table, system)
    settings, crossings = _settings(known, table), _crossings(table, system, vector)
    end = known.get("end")
    return Trajectory(
        t=_needed(table, "t"),
        q=states_of(table, "q", system.layout.coordinates, ("t",)),
        v=states_of(table, "v", system.layout.speeds, ("t",)),
        outcome=Outcome(known["outcome"]),
        detail=known["detail"],
        energy=EnergyAccount(*(_needed(table, f"steps.{x}") for x in ("t", "kinetic", "potential", "work", "inside"))),
        energy_error=_needed(table, "run.energy_error"),
        violation=table.array("run.violation"),
        constraint_violation=_number(known, "constraint_violation"),
        velocity_violation=_number(known, "velocity_violation"),
        jacobi_drift=_number(known, "jacobi_drift"),
        steps=_number(known, "steps"),
        rejected=_number(known, "rejected"),
        rhs_evaluations=_number(known, "rhs_evaluations"),
        seconds=_number(known, "seconds"),
        stepper=known["stepper"],
        tolerance=_number(known, "tolerance"),
        remarks=(*known["remarks"], *remarks),
        system=system,
        parameters=vector,
        step=_number(known, "step"),
        events=crossings,
        nearest_singularity=_nearest(known["nearest_singularity"]),
        elsewhere=_elsewhere(table, system, vector),
        doubts=tuple(known["doubts"]),
        evidence=Settled(_prediction(table)),
        settings=settings,
        end=None if end is None else State(end["t"], np.array(end["q"]), np.array(end["v"]), system.layout),
    )


def _number(known: Mapping[str, Any], name: str) -> Any:
    """A number of a head, or None.

    Raises:
        ValueError: it is something else.
    """
    value = known[name]
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f'"{name}" is not a number')
    return value


def _with_recorded_inputs(table: Table, system: System) -> tuple[System, tuple[str, ...]]:
    """The system with inputs that only the run knew: time series as they were given, other inputs interpolated between
    the samples, with a remark on these.
    """
    names = table.attributes.get("inputs_over_time") or []
    if not names or system.inputs.over_time:
        return system, ()
    found = _series(table)
    names = [name for name in names if name not in found]
    t = _needed(table, "t")
    t, places = np.unique(t, return_index=True)
    block = table.block("others")
    columns = () if block is None else block.columns or ()
    for name in names:
        values = None if block is None or name not in columns else block.values[:, columns.index(name)]
        if values is None:
            raise ValueError(f'the values of input "{name}" are missing')
        found[name] = Signal(t, np.asarray(values)[places], "linear" if t.size > 1 else "hold")
    words = f"input {', '.join(names)} was a function of the run; here it is interpolated between the samples"
    return with_inputs(system, found)[0], (words,) if names else ()


def _series(table: Table) -> dict[str, Signal]:
    """Inputs that were given as time series."""
    kinds = table.attributes.get("series") or {}
    which, t, values = (_needed(table, f"series.{x}") for x in ("which", "t", "value")) if kinds else 3 * (np.zeros(0),)
    return {name: Signal(t[which == k], values[which == k], kind) for k, (name, kind) in enumerate(kinds.items())}


def system_of_table(table: Table, given: System | None) -> System:
    """The system of a table, compiled from the model in it; or the given one with its inputs, if it has the same model.

    Raises:
        UsageError: it cannot be compiled, or the given one has other coordinates or another model.
    """
    known = table.attributes
    if given is None and known.get("written"):
        raise UsageError(
            f"the motion is that of the equations in {known['written']}, which the file does not hold.\n"
            "  Try: load_run(path, system=...) with the system of these equations."
        )
    system = given or recompiled(known)
    for name, own in (("q", system.layout.coordinates), ("v", system.layout.speeds)):
        block = table.block(name)
        there = () if block is None else block.columns
        if there != own:
            raise UsageError(
                f"its {'coordinates' if name == 'q' else 'speeds'} are {', '.join(there or ('none',))}, and those of "
                f"the system are {', '.join(own) or 'none'}"
            )
    return system if given is None else _with_inputs_of(known, given)


def _with_inputs_of(known: Mapping[str, Any], given: System) -> System:
    """A given system with the inputs of the run, which may differ from those of its model.

    Raises:
        UsageError: it is another mechanism. Values of parameters and initial values may differ: the run has its own.
    """
    there, own = (loads(text) for text in (known["model_text"], dumps(given.model.as_written)))
    other = [name for name in MECHANISM if getattr(there, name) != getattr(own, name)]
    other += [name for name in ("parameters", "inputs") if [*getattr(there, name)] != [*getattr(own, name)]]
    if other:
        raise UsageError(
            f"its model and that of the given system differ in their {' and '.join(other)}.\n"
            "  Try: load_run(path), which takes the model in the file."
        )
    changed = {name: value for name, value in there.inputs.items() if value != own.inputs[name]}
    return with_inputs(given, changed)[0] if changed else given


def recompiled(known: Mapping[str, Any]) -> System:
    """The system that the attributes of a table describe (:func:`~.runs.system_attributes`).

    Raises:
        UsageError: its model is not valid.
    """
    try:
        model = loads(known["model_text"], source="the model in it")
        terms = bool(known["symbolic_terms"])
        return compile_again(model, known["formulation"], known["engine"], symbolic_terms=terms)
    except ModelError as error:
        raise UsageError(f"its model is not valid here: {error}") from None


def parameters_of(values: Mapping[str, float], system: System) -> Array:
    """Parameters of a table in the order of the system."""
    if [*values] != [*system.layout.parameters]:
        raise ValueError("its parameters are not those of its model")
    return np.array([*values.values()], dtype=float)


def states_of(table: Table, name: str, names: tuple[str, ...], dims: tuple[str, ...]) -> Array:
    """Coordinates or speeds of a table; an array without columns if there are none."""
    found = table.array(name)
    return np.zeros((*(table.sizes.get(dim, 0) for dim in dims), len(names))) if found is None else found


def _needed(table: Table, name: str) -> Array:
    found = table.array(name)
    if found is None:
        raise ValueError(f'"{name}" is missing')
    return found


def _settings(known: Mapping[str, Any], table: Table) -> Settings | None:
    """The settings of the run; None if its stepper is not registered here."""
    if "t_span" not in known or known["stepper"] not in STEPPERS:
        return None
    first, last = known["t_span"]
    return Settings(
        span=(first, last),
        tol=known["tolerance"],
        atol=known["atol"],
        stepper=STEPPERS[known["stepper"]],
        step=_number(known, "step"),
        samples=table.array("t") if known["sampled"] else None,
        constraints=known["constraints"],
        baumgarte_rate=known["baumgarte_rate"],
        max_steps=known["max_steps"],
        chart_switching=known["chart_switching"],
    )


def _crossings(table: Table, system: System, vector: Array) -> dict[str, Crossings]:
    names, which = table.array("event.names"), table.array("event.which")
    if names is None or which is None:
        return {}
    t = _needed(table, "event.t")
    q = states_of(table, "event.q", system.layout.coordinates, ("crossing",))
    v = states_of(table, "event.v", system.layout.speeds, ("crossing",))
    found = {}
    for k, (name, fields) in enumerate(zip(names.tolist(), table.attributes["events"], strict=True)):
        at = which == k
        found[str(name)] = Crossings(Event(**fields), t[at], q[at], v[at], system, vector)
    return found


def _nearest(data: Mapping[str, Any] | None) -> Nearest | None:
    if data is None:
        return None
    one = data["singularity"]
    where = Singularity(one["joint"], one["coordinate"], tuple(one["values"]), one["words"], tuple(one["lost"]))
    return Nearest(where, data["distance"], data["t"])


def _elsewhere(table: Table, system: System, vector: Array) -> Elsewhere:
    """States that were computed in other coordinates."""
    data, t = table.attributes.get("elsewhere"), table.array("regular.t")
    if data is None:
        return Elsewhere()
    kept = {} if t is None else {"twin": regular_twin(system), "t": t, "y": _needed(table, "regular.y")}
    return Elsewhere(
        vector=vector,
        switch_t=list(data["switch_t"]),
        switch_y=[np.array(y) for y in data["switch_y"]],
        notes=tuple(data["notes"]),
        **kept,
    )


def _prediction(table: Table) -> Predictability | None:
    data = table.attributes["predictability"]
    if data is None:
        return None
    return Predictability(
        t=_needed(table, "prediction.t"),
        error=_needed(table, "prediction.error"),
        **{name: data[name] for name in ("coordinate", "until", "seen", "second", "time_unit")},
    )
