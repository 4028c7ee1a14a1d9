"""Jobs about equilibria and small motion: linear models, root loci, modes, stability, Floquet multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.app.point import Asked, Chosen, NoEquilibrium, choose
from pendula.app.studio.asking import Options, asked_mechanism, at_texts, number_of, numbers_of
from pendula.app.studio.work import Job
from pendula.arguments import available
from pendula.errors import PendulaError, UsageError
from pendula.words import picked

if TYPE_CHECKING:
    from pendula.analysis.equilibria.find import Equilibria
    from pendula.analysis.modes.modes import Modes

MOST_PLAYED = 12
"""Modes whose motion is part of the result."""
PIECE = 10
"""Points of a root locus in one piece of a result."""
MOST_ROOTS = 60
"""Freedoms up to which a root locus is drawn."""


def found_equilibria(job: Job) -> tuple[Asked, Equilibria]:
    """All equilibria that can be found, and whether there may be others."""
    from pendula.analysis.equilibria.find import find_equilibria

    options = job.options
    asked = asked_mechanism(job.text, options, job.tell)
    box = {name: _ends(ends, name, asked) for name, ends in options.table("box").items()}
    prove = options.number("prove", 0.0, 0.0, 600.0)
    job.tell.say("searching for equilibria")
    found = find_equilibria(
        asked.system,
        box=box or None,
        starts=options.count("starts", 0, 0, 100_000) or None,
        seed=options.count("seed", 0, 0, 2**31),
        rates=asked.rates,
        prove=prove or None,
        on_progress=job.tell.done,
    )
    return asked, found


def _ends(ends: Any, name: str, asked: Asked) -> float | tuple[float, float]:
    """Bounds of a search: one number for both sides, or two."""
    if isinstance(ends, list) and len(ends) == 2:
        low, high = (number_of(end, f"box {name}", asked.values) for end in ends)
        return low, high
    return number_of(ends, f"box {name}", asked.values)


def equilibria(job: Job) -> dict[str, Any]:
    """All equilibria with their verdicts."""
    from pendula.app.commands.equilibria import equilibria_data, verdicts_of
    from pendula.present.words.equilibria import equilibrium_data

    asked, found = found_equilibria(job)
    units = dict(found.units) | {"potential": asked.model.unit_names.energy}
    job.tell.piece({"equilibria": [equilibrium_data(asked.system, one) for one in found], "units": units})
    return {**equilibria_data(asked, found, verdicts_of(asked, found, job.tell)), "ok": bool(len(found))}  # type: ignore[arg-type]


def chosen_point(job: Job) -> tuple[Asked, Chosen]:
    """The mechanism of a job and the equilibrium that it is about."""
    asked = asked_mechanism(job.text, job.options, job.tell)
    return asked, _chosen(asked, job)


def _chosen(asked: Asked, job: Job) -> Chosen:
    try:
        return choose(asked, at_texts(job.options), job.tell)  # type: ignore[arg-type]
    except NoEquilibrium as none:
        from pendula.present.words.equilibria import no_equilibrium_text

        raise UsageError(no_equilibrium_text(none.found)) from None


def linear(job: Job) -> dict[str, Any]:
    """The linear model about an equilibrium, with labelled eigenvalues."""
    from pendula.analysis.linear.linearize import linearize
    from pendula.analysis.linear.spectrum import spectrum
    from pendula.app.commands.linear import point_data
    from pendula.present.words.linear import linear_data

    asked, chosen = chosen_point(job)
    job.tell.say("linearizing")
    model = linearize(asked.system, chosen.point)
    return point_data(asked, chosen) | linear_data(model, spectrum(model))


def locus(job: Job) -> dict[str, Any]:
    """Eigenvalues while a parameter changes: the equilibrium is followed from the value that the model has.

    Every branch begins at the model's own value and goes to either end of the range; where the equilibrium is lost,
    it ends, and ``lost`` gives the value.
    """
    from pendula.app.commands.linear import point_data

    options = job.options
    asked, chosen = chosen_point(job)
    name, low, high = _range(options, asked)
    count = options.count("count", 100, 2, 500)
    if len(asked.model.speeds) > MOST_ROOTS:
        raise UsageError(f"a root locus is drawn for up to {MOST_ROOTS} speeds; {asked.model.name} has more")
    own = asked.values[name]
    job.tell.say(f"eigenvalues over {name}")
    values = np.linspace(low, high, count)
    middle = min(max(own, low), high)
    upward = [middle, *values[values > middle]]
    downward = [middle, *values[values < middle][::-1]]
    up, lost_up = _followed(asked, chosen, name, upward, job, 0, count)
    down, lost_down = _followed(asked, chosen, name, downward, job, len(upward), count)
    points = [*reversed(down[1:]), *up]
    return {
        **point_data(asked, chosen),
        "parameter": name,
        "value": own,
        "points": points,
        "lost": [x for x in (lost_down, lost_up) if x is not None],
        "time_unit": asked.system.layout.time_unit,
    }


def _range(options: Options, asked: Asked) -> tuple[str, float, float]:
    name = options.text("parameter")
    if name not in asked.model.parameters:
        raise UsageError(f'there is no parameter "{name}"; {available(asked.model.parameters)}')
    low, high = (number_of(options.value(end), end, asked.values) for end in ("low", "high"))
    if not low < high:
        raise UsageError(f"low must be below high, found {low:g} and {high:g}")
    return name, low, high


def _followed(
    asked: Asked, chosen: Chosen, name: str, values: list[float], job: Job, before: int, count: int
) -> tuple[list[dict[str, Any]], float | None]:
    """Eigenvalues at each value, and the value at which the equilibrium was lost, if it was."""
    from pendula.analysis.linear.linearize import linearize
    from pendula.analysis.linear.spectrum import spectrum
    from pendula.analysis.stability.following import follow
    from pendula.present.words.equilibria import joint_values
    from pendula.system.parameters import parameter_vector

    system, state = asked.system, chosen.point.state
    found: list[dict[str, Any]] = []
    for k, value in enumerate(values):
        try:
            vector = parameter_vector(system, {name: float(value)})
            point = follow(system, state, None, vector)
            if point is None:
                return found, float(value)
            roots = spectrum(linearize(system, point)).eigenvalues
        except PendulaError:  # such as a mass that became negative, or a chart that became singular
            return found, float(value)
        state = point.state
        finite = [root for root in roots if np.isfinite(root.value)]
        found.append(
            {
                "value": float(value),
                "roots": [[root.value.real, root.value.imag] for root in finite for _ in range(root.multiplicity)],
                "at": joint_values(system, point),
            }
        )
        job.tell.done(before + k, count)
        if len(found) % PIECE == 0:
            job.tell.piece({"points": found[-PIECE:]})
    return found, None


def found_modes(job: Job) -> tuple[Asked, Chosen, Modes]:
    """The modes about an equilibrium."""
    from pendula.analysis.linear.linearize import linearize
    from pendula.analysis.modes.modes import modes

    asked, chosen = chosen_point(job)
    job.tell.say("modes")
    return asked, chosen, modes(linearize(asked.system, chosen.point), damped=job.options.flag("damped"))


def small_modes(job: Job) -> dict[str, Any]:
    """Frequencies, damping and shapes, and the motion of each mode in joint coordinates, to be played."""
    from pendula.app.commands.linear import point_data

    asked, chosen, found = found_modes(job)
    motions = [_motion(found, mode.number) for mode in found.modes[:MOST_PLAYED]]
    return {**point_data(asked, chosen), **found.as_dict(), "motions": motions}


def _motion(found: Modes, number: int) -> dict[str, Any]:
    """One period of a mode; with closed loops, smaller until they close."""
    from pendula.analysis.modes.motion import mode_motion
    from pendula.errors import LoopNotClosed

    amplitude: float | None = None
    for _ in range(6):
        try:
            motion = mode_motion(found, number, amplitude=amplitude)
            break
        except LoopNotClosed:
            amplitude = (amplitude or 0.3) / 2
        except PendulaError as error:
            return {"number": number, "missing": str(error)}
    else:
        return {"number": number, "missing": "the loops do not close along this shape"}
    joints = motion.system.in_joints
    v = np.zeros((len(motion.t), len(motion.system.layout.speeds)))
    q = joints.read(motion.q, v, parameters=motion.parameters)[0]
    return {
        "number": number,
        "t": motion.t,
        "coordinates": list(joints.layout.coordinates),
        "q": q,
        **picked(motion, "amplitude coordinate"),
        "notes": list(motion.notes),
    }


def verdict(job: Job) -> dict[str, Any]:
    """Whether an equilibrium is stable and why; with ``parameter``, ``low`` and ``high``, over a range."""
    from pendula.analysis.stability.ranges import stability_over
    from pendula.analysis.stability.verdict import stability
    from pendula.app.commands.linear import point_data
    from pendula.present.words.verdicts import ranges_data, stability_data

    options = job.options
    asked = asked_mechanism(job.text, options, job.tell)
    if "parameter" not in options:
        chosen = _chosen(asked, job)
        job.tell.say("stability")
        found = stability(asked.system, chosen.point)
        return {**point_data(asked, chosen), **stability_data(found), "ok": found.is_stable}
    name, low, high = _range(options, asked)
    samples = options.count("samples", 200, 2, 5000)
    asked = asked.with_parameters({name: low})
    chosen = _chosen(asked, job)
    job.tell.say(f"stability over {name}")
    prove = options.number("prove", 0.0, 0.0, 600.0) or None
    ranges = stability_over(asked.system, name, low, high, at=chosen.point, samples=samples, prove=prove)
    return point_data(asked, chosen) | ranges_data(asked.system, ranges)


def multipliers(job: Job) -> dict[str, Any]:
    """Floquet multipliers of a periodically driven mechanism, and its motion over one period, to be played."""
    from pendula.analysis.driven.floquet import floquet
    from pendula.simulation.simulate import simulate

    options = job.options
    asked = asked_mechanism(job.text, options, job.tell)
    at = numbers_of(options.table("at"), "at", asked.values)
    period = options.value("period")
    if period is not None and not isinstance(period, (int, float, str)):
        raise UsageError("period must be a number or an expression")
    job.tell.say("integrating deviations over a period")
    found = floquet(asked.system, period, at=at or None, close=options.flag("close"))
    run = simulate(asked.system.in_joints.system, found.period, initial_state=found.state, samples=200)
    layout = run.joint_layout
    return {
        "model": asked.model.name,
        **found.as_dict(),
        "motion": {"t": run.t, "coordinates": list(layout.coordinates), "q": run.joints[0]},
        "ok": found.stable,
    }
