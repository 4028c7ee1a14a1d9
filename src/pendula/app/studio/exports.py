"""Jobs that write files: the report, pages that move, figures, data, and a script that reproduces what is shown."""

from __future__ import annotations

from typing import Any

from pendula.app import refusals
from pendula.app.studio.asking import Options, asked_model
from pendula.app.studio.folder import plain_name
from pendula.app.studio.work import Job
from pendula.errors import NotSupported, UsageError
from pendula.present.words.units import labelled
from pendula.storage.files import write_text

FIGURES = ("model", "simulate", "reactions", "ensemble", "equilibria", "linear", "modes", "certificate")
"""Kinds of jobs whose result has a picture."""


def report(job: Job) -> dict[str, Any]:
    """Everything about a model in one page."""
    from pendula.analysis.study import study
    from pendula.numerics.steppers.checks import LOOSEST, TIGHTEST
    from pendula.present.report.page import write_report
    from pendula.simulation.defaults import TOLERANCE

    options = job.options
    model = asked_model(job.text, options)
    at = options.count("at", 1, 1, 10_000)
    duration = options.number("duration", 0.0, 1e-9, 1e6) if "duration" in options else None  # a few periods
    tol = options.number("tol", TOLERANCE, TIGHTEST, LOOSEST)
    options.finish()
    found = study(model, at=at, duration=duration, tol=tol, on_progress=job.tell.say)
    job.tell.say("writing the page")
    name = job.write(f"{plain_name(model.name)}-report", ".html", lambda path: write_report(found, path=path))
    return {
        "file": name,
        "missing": {part: reason.splitlines()[0] for part, reason in found.absent.items()},
        "ok": (found.certificate is None or found.certificate.passed) and found.run is not None and found.run.ok,
    }


def page(job: Job) -> dict[str, Any]:
    """A page that moves: ``of`` is live (a simulation in the page), simulate (a run) or modes (one mode)."""
    from pendula.present.live.page import play
    from pendula.present.pictures.modes import animate_mode
    from pendula.present.pictures.results import animate

    of = job.options.choice("of", "live", ("live", "simulate", "modes"))
    if of == "live":
        model = asked_model(job.text, job.options)
        job.options.finish()
        job.tell.say("writing the page")
        return {"file": job.write(f"{plain_name(model.name)}-live", ".html", lambda path: play(model, path))}
    if of == "simulate":
        from pendula.app.studio.motions import of_run, simulated

        text, options = of_run(job)
        found = simulated(job, text, options)
        stem = f"{plain_name(found.system.model.name)}-run"
        return {"file": job.write(stem, ".html", lambda path: animate(found, path)), "ok": found.ok}
    from pendula.app.studio.analyses import found_modes

    asked, _, shapes = found_modes(job)
    number = job.options.count("mode", 1, 1, max(len(shapes), 1))
    stem = f"{plain_name(asked.model.name)}-mode-{number}"
    return {"file": job.write(stem, ".html", lambda path: animate_mode(shapes, number, path))}


def figure(job: Job) -> dict[str, Any]:
    """A picture of a result: ``of`` is its kind, and the other options are of that kind."""
    from pendula.present.pictures.results import plot

    of = job.options.choice("of", "simulate", FIGURES)
    ending = "." + job.options.choice("format", "png", ("png", "svg"))
    result, title = _pictured(of, job)
    job.options.finish()
    job.tell.say("drawing")
    try:
        return {"file": job.write(f"{plain_name(title)}-{of}", ending, lambda path: plot(result, path))}
    except ModuleNotFoundError:
        raise UsageError("figures need Matplotlib, the extra plot of the package: pip install pendula[plot]") from None


def _pictured(of: str, job: Job) -> tuple[Any, str]:
    """The result that a figure shows, and the name of its model."""
    from pendula.app.studio import analyses, motions

    if of in ("model", "certificate"):
        model = asked_model(job.text, job.options)
        if of == "model":
            return model, model.name
        from pendula.analysis.court.agreement import check

        return check(model), model.name
    if of == "simulate":
        text, options = motions.of_run(job)
        found = motions.simulated(job, text, options)
        return found, found.system.model.name
    if of == "reactions":
        forces, _ = motions.found_reactions(job)
        return forces, str(forces.model)
    if of == "ensemble":
        spread = motions.found_ensemble(job)
        return spread, spread.system.model.name
    if of == "equilibria":
        asked, rest = analyses.found_equilibria(job)
        return rest, asked.model.name
    if of == "modes":
        asked, _, shapes = analyses.found_modes(job)
        return shapes, asked.model.name
    if of == "linear":
        from pendula.analysis.linear.linearize import linearize

        asked, chosen = analyses.chosen_point(job)
        return linearize(asked.system, chosen.point), asked.model.name
    raise NotSupported(refusals.NO_PICTURE, kind=of)


def data(job: Job) -> dict[str, Any]:
    """A run as a table, CSV: times, states and energies, with units in the first line."""
    import csv
    import io

    from pendula.app.studio.motions import energies, of_run, simulated

    text, options = of_run(job)
    found = simulated(job, text, options)
    units, layout = found.system.model.unit_names, found.joint_layout
    columns = {f"time [{layout.time_unit}]": found.t}
    for name in (*layout.coordinates, *layout.speeds):
        columns[labelled(name, layout.units[name])] = found[name]
    for name, values in energies(found).items():
        columns[f"{'energy error' if name == 'error' else name} [{units.energy}]"] = values
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    stem = f"{plain_name(found.system.model.name)}-run"
    return {"file": job.write(stem, ".csv", lambda path: write_text(path, file.getvalue())), "columns": list(columns)}


def script(job: Job) -> dict[str, Any]:
    """A Python script that reproduces what is shown: ``shown`` lists kinds of jobs with their options."""
    from pendula.app.studio.text.script import python_script

    shown = job.options.value("shown") or []
    if not isinstance(shown, list) or len(shown) > 50 or not all(isinstance(one, dict) for one in shown):
        raise UsageError('shown must be a list of tables with "kind" and "options"')
    model = asked_model(job.text, Options({}))
    text = python_script(job.text, shown)
    if not job.options.flag("write"):
        return {"text": text}
    name = job.write(f"{plain_name(model.name)}-script", ".py", lambda path: write_text(path, text))
    return {"text": text, "file": name}
