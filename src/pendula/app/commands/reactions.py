"""The reactions command: a run as by simulate, then the forces in its joints."""

from __future__ import annotations

import sys
from typing import Any

import click

from pendula.app.options import (
    echo_json,
    file_of,
    formulation_option,
    in_options,
    json_option,
    output_option,
    plot_option,
)
from pendula.app.run import RunOptions, perform, run_options
from pendula.present.words.tables import heading


@click.command("reactions")
@run_options
@formulation_option("newton-euler")
@output_option("Write forces and torques over time as .npz.")
@plot_option("Write a plot of forces and torques")
@json_option
def reactions_command(
    formulation: str, output: str | None, plot_file: str | None, as_json: bool, **options: Any
) -> None:
    """Forces and torques at every joint of MODEL along its motion.

    Each is the wrench that the parent side exerts on the child side, without springs and friction along the joint's
    free directions. Exits with 1 if the run had to stop early.
    """
    paths = {"-o": file_of(output, "-o", "Reactions"), "--plot": file_of(plot_file, "--plot", "Figure")}
    run, _ = perform(RunOptions(**options), formulation=formulation, engine="symbolic", quiet=as_json)
    from pendula.analysis.reactions.forces import reactions

    found = reactions(run)
    wrote = _write(found, paths)
    if as_json:
        echo_json(_data(found, run))
    else:
        click.echo(_report(found, run, wrote))
    if not run.outcome.ok:
        sys.exit(1)


def _write(found: Any, paths: dict[str, Any]) -> list[str]:
    wrote = []
    if paths["-o"] is not None:
        from pendula.formats import write

        write(found, paths["-o"])
        wrote.append(str(paths["-o"]))
    if paths["--plot"] is not None:
        from pendula.present.pictures.results import plot

        plot(found, paths["--plot"])
        wrote.append(str(paths["--plot"]))
    return wrote


def _report(found: Any, run: Any, wrote: list[str]) -> str:
    from pendula.present.words.reactions import reactions_text

    outcome = f"{run.outcome}" + (f" ({run.detail})" if run.detail else "")
    lines = [heading(f"{found.model}: reactions"), "", f"outcome       {outcome}"]
    lines += [f"energy drift  {run.energy_drift:.2e}", "", reactions_text(found)]
    if wrote:
        lines += ["", *(f"wrote {name}" for name in wrote)]
    return "\n".join(lines)


def _data(found: Any, run: Any) -> dict[str, Any]:
    fields = ("force_world", "torque_world", "force_body", "torque_body")
    joints = {n: {f: getattr(found, f)[:, k].tolist() for f in fields} for k, n in enumerate(found.joints)}
    return {
        "model": found.model,
        "outcome": str(run.outcome),
        "finished": run.outcome.ok,
        "detail": run.detail,
        "formulation": found.formulation,
        "simulated_by": found.simulated_by,
        "units": {"time": found.units.time, "force": found.units.force, "torque": found.units.torque},
        "planar": found.planar,
        "t": found.t.tolist(),
        "joints": joints,
        "peaks": [
            {"joint": p.joint, "force": p.force, "force_at": p.force_at, "torque": p.torque, "torque_at": p.torque_at}
            for p in found.peaks
        ],
        "motors": {n: {"unit": found.motor_units[n], "values": x.tolist()} for n, x in found.motors.items()},
        "indeterminate": [{"joint": x.joint, "component": x.component, "why": x.why} for x in found.indeterminate],
        "energy_drift": run.energy_drift,
        "constraint_violation": run.constraint_violation,
        "notes": [in_options(note) for note in run.notes],
    }
