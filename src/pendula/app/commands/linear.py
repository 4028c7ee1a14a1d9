"""Commands about small motion: linearize, modes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pendula.app import options as opt
from pendula.app.point import (
    Asked,
    Chosen,
    NoEquilibrium,
    at_option,
    at_values,
    choose,
    mechanism_options,
    rate_option,
    read_asked,
    read_at,
)
from pendula.app.progress import Progress
from pendula.errors import NotSupported, UsageError
from pendula.present.words.tables import facts_lines, heading, table, wrapped
from pendula.storage.files import write_arrays
from pendula.words import picked

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel
    from pendula.analysis.linear.spectrum import Spectrum
    from pendula.equations.small_motion.model import SymbolicModel


hold_option = click.option(
    "--hold",
    type=float,
    metavar="TIME",
    help="Hold prescribed motions at their values at TIME, as inputs; --at then takes values only.",
)


@click.command("linearize")
@mechanism_options
@hold_option
@rate_option
@at_option
@click.option("--method", default="exact", show_default=True, help="exact (derivatives) or differences (central).")
@click.option("--no-geometric", is_flag=True, help="Omit the geometric stiffness: wrong, but instructive.")
@click.option("--symbolic", is_flag=True, help="Matrices, polynomial and conditions in symbols, also from --at.")
@click.option("--terms", is_flag=True, help="With --symbolic: every term kept, linearized or dropped, and why.")
@click.option("--latex", is_flag=True, help="Print the equations as LaTeX.")
@opt.data_option("Write all matrices and eigenvalues")
@opt.plot_option("Write the eigenvalues in the complex plane")
@opt.json_option
def linearize_command(
    at: tuple[str, ...],
    hold: float | None,
    method: str,
    no_geometric: bool,
    symbolic: bool,
    terms: bool,
    latex: bool,
    output: str | None,
    plot_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Small motion of MODEL about an equilibrium: M C K, A B, eigenvalues with labels.

    A label classifies each eigenvalue: physical; zero (a cyclic coordinate or a rigid-body freedom); infinite (a
    constraint); undetermined (0/0 at a singular chart); artefact (of a method). Exits with 1 if there is no
    equilibrium.
    """
    paths = {"-o": opt.file_of(output, "-o", "LinearModel"), "--plot": opt.file_of(plot_file, "--plot", "Figure")}
    if method not in ("exact", "differences"):
        raise UsageError(f'--method must be exact or differences, found "{method}"')
    if terms and not symbolic:
        raise UsageError("--terms lists the terms of symbolic equations; give --symbolic too")
    with Progress(quiet=as_json or latex) as progress:
        asked = read_asked(**options, progress=progress)
        if symbolic and asked.system.written:
            raise UsageError("--symbolic derives the linear model of MODEL and takes no --equations")
        if symbolic:
            _symbolic(asked, at, terms, latex, as_json, progress)
            return
        if hold is not None and (method != "exact" or no_geometric):
            raise UsageError("--hold gives exact derivatives with their geometric stiffness only")
        if hold is not None:
            asked, chosen, model = _held(asked, at, hold)
        else:
            chosen = chosen_or_exit(asked, at, as_json, progress)
            from pendula.analysis.linear.linearize import linearize

            model = linearize(asked.system, chosen.point, method=method, geometric=not no_geometric)
        from pendula.analysis.linear.spectrum import spectrum

        roots = spectrum(model)
    wrote = _write(model, roots, paths)
    notes = _notes(model, no_geometric)
    if as_json:
        from pendula.present.words.linear import linear_data

        opt.echo_json(point_data(asked, chosen) | linear_data(model, roots) | {"notes": notes} | _motion_data(model))
    elif latex:
        click.echo(model.latex())
    else:
        from pendula.present.words.linear import linear_text

        lines = [
            *point_head(asked, chosen, "small motion"),
            *notes,
            "",
            opt.with_all(linear_text(model, roots), "--json, or -o FILE.npz"),
            *_motion_lines(model),
        ]
        click.echo("\n".join([*lines, *wrote]))


def _held(asked: Asked, at: tuple[str, ...], hold: float) -> tuple[Asked, Chosen, LinearModel]:
    """The linear model with prescribed motions held, and its mechanism and equilibrium."""
    from pendula.analysis.linear.motion_inputs import linearize_motions

    if any("=" not in text for text in at):
        raise UsageError(f'--at expects values such as theta=180deg with --hold, found "{at[0]}"')
    if asked.rates:
        raise UsageError("--hold and --rate exclude each other: motions are held about an equilibrium at rest")
    values = read_at(asked, at)
    model = linearize_motions(asked.system, values, hold=hold)
    system = model.system
    assert system is not None
    return replace(asked, system=system), Chosen(model.at, f"prescribed motions held as at t = {hold:g}"), model


def _motion_lines(model: LinearModel) -> list[str]:
    """The columns of prescribed motions as a table."""
    motions = model.motions
    if motions is None:
        return []
    lines = ["", heading("prescribed motions", level=2), "", "M e'' + C e' + K e = F u + D y + D1 y' + D2 y''", ""]
    for k, name in enumerate(motions.names):
        columns = zip(model.coordinates, motions.D[:, k], motions.D1[:, k], motions.D2[:, k], strict=True)
        rows = [(n, float(a), float(b), float(c)) for n, a, b, c in columns]
        held = f"{name} = {motions.held[k]:.6g} {motions.units[name]}".rstrip()
        lines += [f"y: change of {held}", table(rows, ["row", "D", "D1", "D2"]), ""]
    return lines[:-1]


def _motion_data(model: LinearModel) -> dict[str, Any]:
    motions = model.motions
    if motions is None:
        return {}
    columns = {name: getattr(motions, name).tolist() for name in ("held", "D", "D1", "D2")}
    return {"motions": {"names": list(motions.names), **columns}}


def chosen_or_exit(asked: Asked, at: tuple[str, ...], as_json: bool, progress: Progress) -> Chosen:
    """The selected equilibrium; if there is none, the command reports it and exits with 1."""
    try:
        return choose(asked, at, progress)
    except NoEquilibrium as none:
        from pendula.present.words.equilibria import no_equilibrium_text

        if as_json:
            reason = {"model": asked.model.name, "at": None, "unbalanced": dict(none.found.unbalanced)}
            opt.echo_json(reason | {"complete": none.found.complete, "reason": none.found.reason})
        else:
            click.echo(no_equilibrium_text(none.found))
        sys.exit(1)


def point_head(asked: Asked, chosen: Chosen, what: str) -> list[str]:
    """Title, the equilibrium, and the source of the equations."""
    from pendula.present.words.equilibria import point_lines
    from pendula.present.words.runs import equations_of

    lines = [heading(f"{asked.model.name}: {what}"), "", *point_lines(asked.system, chosen.point, chosen.why)]
    return [*lines, *facts_lines([("equations", equations_of(asked.system))])]


def point_data(asked: Asked, chosen: Chosen) -> dict[str, Any]:
    """The equilibrium as JSON data: values by name, and how it was selected."""
    from pendula.present.words.equilibria import equilibrium_data, joint_values

    return {
        "model": asked.model.name,
        "at": joint_values(asked.system, chosen.point),
        "equilibrium": equilibrium_data(asked.system, chosen.point) | {"chosen": chosen.why},
        **picked(asked.system, "formulation engine"),
    }


def _notes(model: LinearModel, no_geometric: bool) -> list[str]:
    notes = []
    if model.method == "differences":
        notes.append(f"central differences: entries of M^-1 [K C F] are off by up to {model.error:.1e} of the largest")
    if no_geometric:
        held = len(model.at.multipliers)
        notes.append(
            "WRONG ON PURPOSE: without the geometric stiffness of constraint forces (--no-geometric)"
            if held
            else "--no-geometric changes nothing here: there are no constraint forces in these coordinates"
        )
    return [wrapped(f"note: {note}", "  ") for note in notes]


def _write(model: LinearModel, roots: Spectrum, paths: dict[str, Path | None]) -> list[str]:
    wrote = []
    if paths["-o"] is not None and paths["-o"].suffix.lower() != ".npz":
        wrote = opt.write_result(model, paths["-o"])
    elif paths["-o"] is not None:
        import numpy as np

        matrices = {name: getattr(model, name) for name in ("M", "C", "K", "F", "A", "B", "Z", "N")}
        names = {"coordinates": model.coordinates, "speeds": model.speeds, "inputs": model.inputs}
        arrays: dict[str, Any] = {
            **matrices,
            **{n: np.array(x, dtype=str) for n, x in names.items()},
            "eigenvalues": roots.values,
            "labels": np.array(roots.labels),
            "eigenvectors": roots.vectors,
            "q": model.at.q,
            "v": model.at.v,
        }
        write_arrays(paths["-o"], arrays, compressed=False)
        wrote = [f"wrote {paths['-o']}"]
    return [*wrote, *opt.draw(roots, paths["--plot"])]


def _symbolic(asked: Asked, at: tuple[str, ...], terms: bool, latex: bool, as_json: bool, progress: Progress) -> None:
    """Prints the symbolic linear model."""
    from pendula.analysis.linear.symbolic import linearize_symbolic
    from pendula.equations.small_motion.model import in_comments
    from pendula.present.words import symbols as words

    where: dict[str, Any]
    if any("=" in text for text in at) and not asked.model.closures:
        where = {**{f"{n}_dot": x for n, x in asked.rates.items()}, **at_values(at)}
    else:
        from pendula.present.words.equilibria import joint_values

        found_at = joint_values(asked.system, chosen_or_exit(asked, at, as_json, progress).point)
        where = {n: x for n, x in found_at.items() if x}
    found = linearize_symbolic(asked.model, where)
    missing = _missing_terms(found) if terms else ""
    if as_json:
        data = {"model": asked.model.name, "at": {n: str(x) for n, x in where.items()}} | words.symbolic_data(found)
        if terms:
            data["equations"] = None if missing else words.terms_data(found)
        data["left_out"] += [missing] if missing else []
        opt.echo_json(data)
    elif latex:
        told = in_comments(missing) if missing else words.terms_latex(found) if terms else ""
        click.echo("\n".join([found.latex(), *([told] if terms else [])]))
    else:
        title = heading(f"{asked.model.name}: small motion in symbols")
        told = f"\n\n{heading('term by term', level=2)}\n\n{missing or words.terms_text(found)}" if terms else ""
        click.echo(f"{title}\n\n{words.symbolic_text(found, where)}{told}")


def _missing_terms(found: SymbolicModel) -> str:
    """Why there is no account of terms; empty if there is one."""
    try:
        _ = found.equations
    except NotSupported as error:
        return str(error)
    return ""


@click.command("modes")
@mechanism_options
@hold_option
@rate_option
@at_option
@click.option("--damped", is_flag=True, help="Include damping; default: undamped modes.")
@click.option("--mode", "chosen_mode", type=int, help="The mode that --animate plays; default: 1.")
@opt.animate_option("Write a page that plays a mode")
@opt.data_option("Write frequencies, damping and shapes")
@opt.plot_option("Write the shapes")
@click.option(
    "--response",
    metavar="INPUT",
    help="Steady response to a harmonic input of this name or, with --hold, to a prescribed motion.",
)
@click.option("--amplitude", type=float, default=1.0, show_default=True, help="Amplitude of the input of --response.")
@opt.plot_option("Write the response over frequency", "--plot-response", "response_file")
@opt.json_option
def modes_command(
    at: tuple[str, ...],
    hold: float | None,
    damped: bool,
    chosen_mode: int | None,
    animation: str | None,
    output: str | None,
    plot_file: str | None,
    response: str | None,
    amplitude: float,
    response_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Modes of MODEL about an equilibrium: rad/s, Hz, damping, shapes, and a description of each in words.

    A mode without stiffness is a rigid-body mode, and a growing mode is unstable: neither has a frequency.
    Exits with 1 if there is no equilibrium.
    """
    if chosen_mode is not None and animation is None:
        raise UsageError("--mode chooses what --animate plays; give both")
    if response is None and response_file is not None:
        raise UsageError("--plot-response requires --response INPUT")
    pictures = {"--plot": plot_file, "--plot-response": response_file}
    paths = {option: opt.file_of(name, option, "Figure") for option, name in pictures.items()}
    paths["--animate"] = opt.file_of(animation, "--animate", "Scene")
    paths["-o"] = opt.file_of(output, "-o", "Modes")
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, progress=progress)
        from pendula.analysis.modes.modes import modes

        if hold is not None:
            asked, chosen, model = _held(asked, at, hold)
        else:
            chosen = chosen_or_exit(asked, at, as_json, progress)
            from pendula.analysis.linear.linearize import linearize

            model = linearize(asked.system, chosen.point)
        found = modes(model, damped=damped)
        answer = None
        if response is not None:
            from pendula.analysis.modes.harmonic import harmonic_response

            answer = harmonic_response(model, response, amplitude=amplitude)
        wrote = _draw(found, answer, paths, 1 if chosen_mode is None else chosen_mode)
    if as_json:
        data = point_data(asked, chosen)
        opt.echo_json(found.as_dict() | data | ({} if answer is None else {"response": _response_data(answer)}))
        return
    from pendula.present.words.linear import modes_text

    kind = "modes, damped" if damped else "modes"
    lines = [*point_head(asked, chosen, kind), "", opt.with_all(opt.in_options(modes_text(found)))]
    if answer is not None:
        title = heading(f"response to {answer.input}", level=2)
        lines += ["", title, "", *(wrapped(x, "  ") for x in str(answer).splitlines())]
    click.echo("\n".join([*lines, *wrote]))


def _draw(found: Any, answer: Any, paths: dict[str, Path | None], mode: int) -> list[str]:
    """Writes the requested files."""
    page = paths["--animate"]
    if page is not None:
        from pendula.present.pictures.modes import animate_mode

        animate_mode(found, mode, page)
    pictures = [*opt.draw(found, paths["--plot"]), *opt.draw(answer, paths["--plot-response"])]
    return [*opt.write_result(found, paths["-o"]), *([f"wrote {page}"] if page is not None else []), *pictures]


def _response_data(answer: Any) -> dict[str, Any]:
    return {
        **picked(answer, "input amplitude amplitudes phases"),
        "frequencies_rad_s": answer.frequencies.tolist(),
        "coordinates": list(answer.linear.coordinates),
        "resonances": [picked(r, "frequency mode infinite coordinate amplitude") for r in answer.resonances],
        "notes": list(answer.notes),
    }
