"""Jobs about motion: runs, reactions along a run, many runs, sections of a run, two runs compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.app.studio.asking import Options, asked_model, compiled, number_of
from pendula.app.studio.folder import RUN, checked_name, plain_name
from pendula.app.studio.guard import Refused
from pendula.app.studio.preview import Preview
from pendula.app.studio.work import Job, read_result
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.numerics.steppers.checks import LOOSEST, TIGHTEST
from pendula.simulation.defaults import MAX_STEPS, TOLERANCE

if TYPE_CHECKING:
    from pendula.simulation.trajectory import Trajectory

LONGEST = 1e7
"""Longest duration of a run [time unit]."""
SAMPLES = 500
"""Default number of samples of a run."""
MOST_SAMPLES = 20_000
MOST_RUNS = 100_000
MOST_NUMBERS = 4_000_000
"""Largest number of stored numbers of one run."""


def run(job: Job) -> dict[str, Any]:
    """A run, saved as arrays in the folder; its states, energies and events as data."""
    from pendula.app.commands.simulate import run_data

    name = job.options.text("name")
    found = simulated(job, job.text, job.options, preview=True)
    stem = plain_name(found.system.model.name) + "-run"
    if name:
        try:
            stem = checked_name(name if name.lower().endswith(RUN) else name + RUN, (RUN,))[: -len(RUN)]
        except Refused as error:
            raise UsageError(f"name: {error.reason}") from None
    job.options.finish()
    file = job.write(stem, RUN, found.save)
    return {
        **run_data(found),
        "notes": list(found.notes),
        "file": file,
        "coordinates": list(found.joint_layout.coordinates),
        "speeds": list(found.joint_layout.speeds),
        "energies": energies(found),
        "energy_unit": found.system.model.unit_names.energy,
        "time_unit": found.joint_layout.time_unit,
        "parameters": dict(zip(found.layout.parameters, found.parameters.tolist(), strict=True)),
    }


def energies(found: Trajectory) -> dict[str, Any]:
    """Kinetic, potential and total energy and work at the samples, and the error of their balance."""
    names = ("kinetic", "potential", "energy", "work")
    return {**{name: found[name] for name in names}, "error": found.energy_error}


def simulated(job: Job, text: str, options: Options, *, preview: bool = False, **changes: Any) -> Trajectory:
    """The run that some options describe.

    Args:
        job: receives the progress.
        text: of the model.
        options: duration, tol, samples, stepper, step, start, parameters, inputs, events.
        preview: whether to pass on the motion while it is computed.
        changes: arguments of ``simulate`` that replace those of the options.
    """
    from pendula.simulation.simulate import simulate

    model = asked_model(text, options)
    how: dict[str, Any] = {
        "duration": options.number("duration", 10.0, 0.0, LONGEST),
        "tol": options.number("tol", TOLERANCE, TIGHTEST, LOOSEST),
        "samples": options.count("samples", SAMPLES, 2, MOST_SAMPLES),
        "stepper": options.text("stepper", "dop853"),
        "step": number_of(options.value("step"), "step", {}) if "step" in options else None,
        "events": list(options.texts("events", 20)),
        "max_steps": options.count("max_steps", MAX_STEPS, 1, 100 * MAX_STEPS),
    } | changes
    samples = how["samples"] if isinstance(how["samples"], int) else len(how["samples"])
    if samples * (len(model.coordinates) + len(model.speeds)) > MOST_NUMBERS:
        raise UsageError(f"samples: at most {MOST_NUMBERS} numbers are kept of one run; ask for fewer samples")
    job.tell.say("deriving and compiling")
    system = compiled(model, options.text("formulation") or None)
    job.tell.say(f"simulating {model.name}")
    watch = Preview(job.tell, system, samples, how["duration"]).take if preview else None
    return simulate(system, on_progress=job.tell.update, on_samples=watch, **how)


def earlier(job: Job, name: Any) -> tuple[str, Options]:
    """Model and options of an earlier run: the name of its result."""
    if not isinstance(name, str):
        raise UsageError("run must be the name of a result")
    found = read_result(job.folder, name)
    if found.get("kind") != "simulate":
        raise UsageError(f'the result "{name}" is not a run')
    options = Options(found["asked"]["options"])
    options.value("name")
    return found["asked"]["text"], options


def of_run(job: Job) -> tuple[str, Options]:
    """Model and options of the run that a job is about: an earlier one, or the one that its options describe."""
    name = job.options.value("run")
    return (job.text, job.options) if name is None else earlier(job, name)


def joint_forces(job: Job) -> dict[str, Any]:
    """Forces and torques at every joint along a run."""
    from pendula.app.commands.reactions import reactions_data

    found, motion = found_reactions(job)
    return {**reactions_data(found, motion), "notes": list(motion.notes)}


def found_reactions(job: Job) -> tuple[Any, Trajectory]:
    """Reactions, and the run that they belong to."""
    from pendula.analysis.reactions.forces import reactions

    text, options = of_run(job)
    motion = simulated(job, text, options)
    job.tell.say("forces in joints")
    return reactions(motion), motion


def section(job: Job) -> dict[str, Any]:
    """A section of a run: a coordinate and its speed, or two other states, wherever an expression passes zero."""
    event, of, against = (job.options.text(name) for name in ("event", "of", "against"))
    if not event:
        raise UsageError('event must define the section, such as "theta1 = 0 rising"')
    text, options = of_run(job)
    motion = simulated(job, text, options, events=[event])
    found = next(iter(motion.events.values()))
    layout = motion.joint_layout
    known = (*layout.coordinates, *layout.speeds)
    paired = [name for name in layout.coordinates if f"{name}_dot" in layout.speeds] or list(layout.speeds)
    chosen = of or next((name for name in paired if name not in found.event.parsed.names), paired[0])
    others = [name for name in (f"{chosen}_dot", *layout.speeds) if name in known and name != chosen]
    against = (
        against or next((name for name in others if name not in found.event.parsed.names), "") or "".join(others[:1])
    )
    for name in (chosen, against):
        if name not in known:
            raise UsageError(f'there is no coordinate or speed "{name}"; {available(known)}')
    return {
        "model": motion.system.model.name,
        "event": found.event.name,
        "t": found.t,
        "of": chosen,
        "against": against,
        "x": found[chosen],
        "y": found[against],
        "units": {name: layout.units[name] for name in (chosen, against)},
        "energy_drift": motion.energy_drift,
        "outcome": str(motion.outcome),
        "notes": list(motion.notes),
        "ok": motion.ok,
    }


def many(job: Job) -> dict[str, Any]:
    """Many runs with random initial states or parameters: quantiles over time, and counts of outcomes."""
    from pendula.app.commands.ensemble import ensemble_data

    return ensemble_data(found_ensemble(job), job.options.count("seed", 1, 0, 2**31))


def found_ensemble(job: Job) -> Any:
    """The ensemble of a job."""
    from pendula.app.commands.ensemble import draw_values
    from pendula.simulation.simulate_many import simulate_many

    options = job.options
    model = asked_model(job.text, options)
    runs = options.count("runs", 200, 1, MOST_RUNS)
    samples = options.count("samples", 200, 1, 2000)
    vary = tuple(f"{name}={low}:{high}" for name, (low, high) in _pairs(options.table("vary")).items())
    spread = tuple(f"{name}={width}" for name, width in options.table("spread").items())
    if not vary and not spread:
        raise UsageError("all runs would be identical: give vary (a name with two ends) or spread (with a width)")
    if runs * samples * 2 * max(len(model.coordinates), 1) > 10 * MOST_NUMBERS:
        raise UsageError("this would keep too many numbers: ask for fewer runs or samples")
    job.tell.say("deriving and compiling")
    system = compiled(model)
    drawn = draw_values(system, vary, spread, {}, runs, options.count("seed", 1, 0, 2**31))
    parameters = {name: x for name, x in drawn.items() if name in model.parameters}
    states = {name: x for name, x in drawn.items() if name not in parameters}
    duration = options.number("duration", 10.0, 0.0, LONGEST)
    tol = options.number("tol", TOLERANCE, TIGHTEST, LOOSEST)
    job.tell.say(f"simulating {runs} times")
    return simulate_many(
        system, duration, states, parameters=parameters or None, bad_starts="mark", on_progress=job.tell.done,
        tol=tol, samples=samples, workers=1,
    )  # fmt: skip


def _pairs(table: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    for name, ends in table.items():
        if not isinstance(ends, list) or len(ends) != 2:
            raise UsageError(f"vary {name} needs two ends, a smaller and a larger value")
    return {name: (ends[0], ends[1]) for name, ends in table.items()}


def compare(job: Job) -> dict[str, Any]:
    """Two earlier runs at the same times: the states of both by name, and their differences."""
    names = job.options.value("runs")
    if not isinstance(names, list) or len(names) != 2:
        raise UsageError("runs must name two results")
    asked = [earlier(job, name) for name in names]
    duration = min(options.number("duration", 10.0, 0.0, LONGEST) for _, options in asked)
    times = np.linspace(0.0, duration, job.options.count("samples", SAMPLES, 2, MOST_SAMPLES))
    runs = [simulated(job, text, options, duration=duration, samples=times) for text, options in asked]
    count = min(len(one) for one in runs)
    first, second = (one.joint_layout for one in runs)
    common = [name for name in (*first.coordinates, *first.speeds) if name in (*second.coordinates, *second.speeds)]
    if not common:
        raise UsageError("the two runs have no coordinate of the same name")
    states = {name: [one[name][:count] for one in runs] for name in common}
    gaps = {name: np.abs(a - b) for name, (a, b) in states.items()}
    return {
        "runs": names,
        "models": [one.system.model.name for one in runs],
        "t": times[:count],
        "states": states,
        "units": {name: first.units[name] for name in common},
        "largest": {name: float(gap.max()) for name, gap in gaps.items()},
        "energy_drift": [one.energy_drift for one in runs],
        "outcomes": [str(one.outcome) for one in runs],
        "ok": all(one.ok for one in runs),
    }
