"""Jobs that show a model: its live content, its equations, and the agreement of all formulations."""

from __future__ import annotations

from typing import Any

from pendula.app.studio.asking import asked_model
from pendula.app.studio.work import Job


def live(job: Job) -> dict[str, Any]:
    """Everything that the live scene of a model needs; ``program`` and ``wrenches`` are JavaScript."""
    from pendula.present.live.content import live_content

    model = asked_model(job.text, job.options)
    job.tell.say("deriving the equations")
    return live_content(model, with_modes=False)


def equations(job: Job) -> dict[str, Any]:
    """Equations of motion by a formulation in a format; ``mathml`` gives formulas in groups."""
    from pendula.equations.derive import derive
    from pendula.equations.formulations.registry import FORMULATIONS
    from pendula.equations.printing.formats import print_equations
    from pendula.formats import formats

    formulation = job.options.choice("formulation", "lagrange", tuple(FORMULATIONS))
    form = job.options.choice("format", "text", (*formats("Equations"), "mathml"))
    model = asked_model(job.text, job.options)
    job.tell.say(f"deriving by {formulation}")
    found = derive(model, formulation)
    about = {"formulation": formulation, "format": form}
    if form == "mathml":
        from pendula.present.live.content import formulas_of

        return {**about, "groups": formulas_of(found)}
    return {**about, "text": print_equations(found, form)}


def certificate(job: Job) -> dict[str, Any]:
    """All formulations against each other at random states."""
    from pendula.analysis.court.agreement import check
    from pendula.app.commands.derive import certificate_data

    states = job.options.count("states", 100, 1, 10_000)
    model = asked_model(job.text, job.options)
    job.tell.say("deriving by every formulation, and comparing")
    found = check(model, states=states, seed=job.options.count("seed", 0, 0, 2**31))
    return {**certificate_data(found), "ok": found.passed}
