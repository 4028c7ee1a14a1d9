"""The reactions command: a run as in simulate, then its joint reactions."""

from __future__ import annotations

from typing import Any

import click

from pendula.app import options as opt
from pendula.app.run import exit_by, perform, run_options
from pendula.present.words.tables import facts_lines, heading, wrapped
from pendula.words import picked


@click.command("reactions")
@run_options
@opt.formulation_option("newton-euler")
@opt.data_option("Write forces and torques over time")
@opt.plot_option("Write a plot of forces and torques")
@opt.json_option
def reactions_command(output: str | None, plot_file: str | None, as_json: bool, **options: Any) -> None:
    """Forces and torques at every joint of MODEL along its motion.

    Each is the constraint wrench that the parent side exerts on the child side, without springs and friction along
    the joint's free directions; couplings are listed with their force on each coordinate. Exits with 1 if the run had
    to stop early or cannot be trusted.
    """
    paths = {"-o": opt.file_of(output, "-o", "Reactions"), "--plot": opt.file_of(plot_file, "--plot", "Figure")}
    run, _ = perform(**options, engine="symbolic", quiet=as_json)
    from pendula.analysis.reactions.forces import reactions

    found = reactions(run)
    wrote = [*opt.write_result(found, paths["-o"]), *opt.draw(found, paths["--plot"])]
    if as_json:
        opt.echo_json(reactions_data(found, run))
    else:
        click.echo(_report(found, run, wrote))
    exit_by(run.outcome, ok=run.ok)


def _report(found: Any, run: Any, wrote: list[str]) -> str:
    from pendula.present.words.reactions import reactions_text
    from pendula.present.words.runs import outcome_of

    facts = [("outcome", outcome_of(run)), ("energy drift", f"{run.energy_drift:.2e}")]
    lines = [heading(f"{found.model}: reactions"), "", *facts_lines(facts)]
    lines += [wrapped(f"not to be trusted: {doubt}", "  ") for doubt in run.doubts]
    lines += ["", reactions_text(found)]
    if wrote:
        lines += ["", *wrote]
    return "\n".join(lines)


def reactions_data(found: Any, run: Any) -> dict[str, Any]:
    """Reactions as plain data: forces and torques by joint over time."""
    fields = ("force_world", "torque_world", "force_body", "torque_body")
    joints = {n: {f: getattr(found, f)[:, k].tolist() for f in fields} for k, n in enumerate(found.joints)}
    return {
        **picked(found, "model formulation simulated_by planar t"),
        **picked(run, "detail energy_drift constraint_violation"),
        "outcome": str(run.outcome),
        "finished": run.outcome.ok,
        "ok": run.ok,
        "doubts": list(run.doubts),
        "units": picked(found.units, "time force torque"),
        "joints": joints,
        "peaks": [picked(peak, "joint force force_at torque torque_at") for peak in found.peaks],
        "motors": {n: {"unit": found.motor_units[n], "values": x.tolist()} for n, x in found.motors.items()},
        "couplings": {
            name: {c: {"unit": found.coupling_units[c], "values": x.tolist()} for c, x in forces.items()}
            for name, forces in found.couplings.items()
        },
        "indeterminate": [picked(x, "joint component why") for x in found.indeterminate],
        "notes": [opt.in_options(note) for note in run.notes],
    }
