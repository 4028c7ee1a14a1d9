"""The control command: what inputs and outputs reach, gains, responses, the closed loop in motion."""

from __future__ import annotations

import sys
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from pendula.app import options as opt
from pendula.app.commands.linear import chosen_or_exit, point_data, point_head
from pendula.app.point import at_option, mechanism_options, rate_option, read_asked
from pendula.app.progress import Progress
from pendula.errors import UsageError
from pendula.interrupts import whole
from pendula.present.words.tables import number, table

if TYPE_CHECKING:
    from pendula.analysis.control.gains import Gain
    from pendula.analysis.control.margins import Margins
    from pendula.analysis.control.reach import Reach
    from pendula.analysis.linear.model import LinearModel
    from pendula.simulation.trajectory import Trajectory


@click.command("control")
@mechanism_options
@rate_option
@at_option
@click.option(
    "--q", "state_weights", multiple=True, metavar="NAME=WEIGHT", help="LQR: weight of a state; the others have none."
)
@click.option("--r", "input_weights", multiple=True, metavar="NAME=WEIGHT", help="LQR: weight of an input; default 1.")
@click.option("--place", "poles", metavar="POLES", help='Instead of LQR: poles, such as "-1,-2,-3+1j,-3-1j".')
@click.option(
    "--every", type=opt.PlainNumber(), metavar="TIME", help="Sampling time: a discrete gain with zero-order hold."
)
@click.option("--limit", "limits", multiple=True, metavar="NAME=SIZE", help="Limit of an input: plus and minus SIZE.")
@click.option(
    "--see",
    "outputs",
    multiple=True,
    metavar="NAME",
    help="An output: a state, an expression or pole.tip.x.",
)
@click.option(
    "--run",
    "duration",
    type=opt.PlainNumber(),
    metavar="TIME",
    help="Simulate the mechanism with the gain, from --start.",
)
@opt.plot_option("Write the simulated motion")
@opt.plot_option("Write the Bode diagram of the mechanism alone", "--bode", "bode_file")
@opt.plot_option("Write the Bode diagram of the loop, with its margins", "--margins", "margins_file")
@opt.plot_option("Write the step response, with the gain if there is one", "--step", "step_file")
@opt.plot_option("Write the root locus from one input to one output", "--locus", "locus_file")
@opt.json_option
def control_command(
    at: tuple[str, ...],
    state_weights: tuple[str, ...],
    input_weights: tuple[str, ...],
    poles: str | None,
    every: float | None,
    limits: tuple[str, ...],
    outputs: tuple[str, ...],
    duration: float | None,
    plot_file: str | None,
    bode_file: str | None,
    margins_file: str | None,
    step_file: str | None,
    locus_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Control of MODEL about an equilibrium: what its inputs reach, gains with their margins, responses.

    Exits with 1 if the inputs cannot stabilize it, and names the motion that is out of their reach.

    Example: pendula control cart-pole --at theta=180deg --q x=1 --q theta=10 --r F=0.1 --start theta=150deg --run 8
    """
    given = {
        "--plot": plot_file,
        "--bode": bode_file,
        "--margins": margins_file,
        "--step": step_file,
        "--locus": locus_file,
    }
    paths = {option: opt.file_of(path, option, "Figure") for option, path in given.items()}
    _check(state_weights, input_weights, poles, every, limits, duration, plot_file, margins_file)
    with Progress(quiet=as_json) as progress:
        asked = read_asked(**options, progress=progress)
        chosen = chosen_or_exit(asked, at, as_json, progress)
        from pendula.analysis.linear.linearize import linearize

        linear = linearize(asked.system, chosen.point)
        seen = list(outputs) or None
        reach = (linear.controllability(), linear.observability(seen))
        designed = bool(state_weights or poles)
        gain = None
        if designed and reach[0].enough:
            gain = _gain(linear, asked.values, state_weights, input_weights, poles, every)
        run = None
        if gain is not None and duration is not None:
            progress.say("simulating the closed loop")
            run = _run(
                asked.system, gain, duration, opt.read_numbers(asked.values, opt.pairs(limits, "--limit"), "--limit")
            )
    wrote = _drawn(linear, seen, gain, run, paths)
    if as_json:
        opt.echo_json(point_data(asked, chosen) | _data(linear, reach, gain, run))
    else:
        lines = [*point_head(asked, chosen, "control"), "", *_lines(linear, reach, gain, run)]
        click.echo("\n".join([*lines, *([""] if wrote else []), *wrote]))
    if not reach[0].enough:
        sys.exit(1)


def _check(
    state_weights: tuple[str, ...], input_weights: tuple[str, ...], poles: str | None, every: float | None,
    limits: tuple[str, ...], duration: float | None, plot_file: str | None, margins_file: str | None,
) -> None:  # fmt: skip
    if poles and (state_weights or input_weights):
        raise UsageError("--place and the weights --q, --r exclude each other")
    if input_weights and not state_weights:
        raise UsageError("--r is the weight of an input in an LQR design; give --q too")
    designed = bool(poles or state_weights)
    for option, value in (
        ("--every", every),
        ("--run", duration),
        ("--limit", limits or None),
        ("--margins", margins_file),
    ):
        if value is not None and not designed:
            raise UsageError(f"{option} needs a gain: give --q or --place")
    if plot_file is not None and duration is None:
        raise UsageError("--plot shows the simulated motion; give --run too")
    if duration is not None and not 0 < duration < float("inf"):
        raise UsageError(f"--run must be positive, found {duration:g}")


def _gain(
    linear: LinearModel, values: dict[str, float], state_weights: tuple[str, ...], input_weights: tuple[str, ...],
    poles: str | None, every: float | None,
) -> Gain:  # fmt: skip
    if poles is not None:
        try:
            wanted = [complex(text.replace(" ", "").replace("i", "j")) for text in poles.split(",")]
        except ValueError:
            raise UsageError(f'--place expects numbers such as "-1,-2,-3+1j,-3-1j", found "{poles}"') from None
        return linear.place(wanted, every=every)
    Q = opt.read_numbers(values, opt.pairs(state_weights, "--q"), "--q")
    R = dict.fromkeys(linear.inputs, 1.0) | opt.read_numbers(values, opt.pairs(input_weights, "--r"), "--r")
    return linear.lqr(Q, R, every=every)


def _run(system: Any, gain: Gain, duration: float, limits: dict[str, float]) -> Trajectory:
    from pendula.simulation.simulate import simulate

    return whole(simulate, system, duration, inputs=gain.feedback(limits=limits or None), samples=500)


def _drawn(
    linear: LinearModel, seen: list[str] | None, gain: Gain | None, run: Trajectory | None, paths: dict[str, Any]
) -> list[str]:
    wrote = opt.draw(run, paths["--plot"]) if run is not None else []
    if paths["--bode"] is not None:
        wrote += opt.draw(linear.bode(seen), paths["--bode"])
    if paths["--margins"] is not None and gain is not None:
        if len(gain.inputs) != 1:
            raise UsageError(f"--margins draws the loop of one input; this mechanism has {', '.join(gain.inputs)}")
        wrote += opt.draw(gain.margins(), paths["--margins"])
    if paths["--step"] is not None:
        step = linear.step(seen) if gain is None else _closed(linear, gain, seen).step()
        wrote += opt.draw(step, paths["--step"])
    if paths["--locus"] is not None:
        if seen is None or len(seen) != 1 or len(linear.inputs) != 1:
            raise UsageError("--locus needs one output (--see NAME) of a mechanism with one input")
        wrote += opt.draw(linear.root_locus(seen[0]), paths["--locus"])
    return wrote


def _closed(linear: LinearModel, gain: Gain, seen: list[str] | None) -> Any:
    space = linear.state_space(seen)
    return (space if gain.every is None else space.discrete(gain.every)).fed_back(gain.K)


def _lines(linear: LinearModel, reach: tuple[Reach, Reach], gain: Gain | None, run: Trajectory | None) -> list[str]:
    lines = [str(found) for found in reach]
    if gain is not None:
        rows = [(of, *column, linear.units.get(of, "")) for of, column in zip(gain.states, gain.shown.T, strict=True)]
        lines += ["", str(gain).splitlines()[0], table(rows, ["state", *gain.inputs, "per"])]
        lines += ["", _pole_table(gain), ""]
        lines += [str(gain.margins(by)) for by in gain.inputs]
    if run is not None:
        layout = run.joint_layout
        lines += ["", f"closed loop, nonlinear: {run.outcome}; energy drift {run.energy_drift:.1e}"]
        rows = [(n, float(run[n][0]), float(run[n][-1]), run.unit(n)) for n in (*layout.coordinates, *layout.speeds)]
        lines.append(table(rows, ["state", "first", "last", "unit"]))
        for name in gain.inputs if gain is not None else ():
            lines.append(f"largest |{name}| = {number(float(abs(run[name]).max()))}")
        lines += [f"note: {opt.in_options(note)}" for note in run.notes]
    return lines


def _pole_table(gain: Gain) -> str:
    if gain.every is not None:
        return table([(f"{abs(p):.6g}",) for p in gain.poles], ["magnitude of pole"])
    rows = [(f"{p.real:.6g}", f"{p.imag:.6g}") for p in gain.poles]
    return table(rows, ["pole, real", f"imaginary [1/{gain.space.time_unit}]"])


def _margin_data(found: Margins) -> dict[str, Any]:
    """Margins as plain data; None where there is none or where it is infinite."""
    values = {
        "gain_margin": found.gain_margin, "gain_reduction": found.gain_reduction,
        "phase_margin_deg": found.phase_margin, "delay_margin": found.delay_margin, "distance": found.distance,
    }  # fmt: skip
    values |= {f"frequency_of_{key}": found.frequency(key) for key in ("gain", "reduction", "phase", "delay")}
    data: dict[str, Any] = {key: x if isfinite(x) else None for key, x in values.items()}
    return data | {"stable": found.stable, "unstable_poles": found.unstable_poles, "text": str(found)}


def _data(linear: LinearModel, reach: tuple[Reach, Reach], gain: Gain | None, run: Trajectory | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "states": [*linear.coordinates, *linear.speeds], "inputs": list(linear.inputs),
        "A": linear.A.tolist(), "B": linear.B.tolist(),
    }  # fmt: skip
    for key, found in zip(("controllability", "observability"), reach, strict=True):
        data[key] = {
            "verdict": found.verdict, "holds": found.holds, "enough": found.enough, "by": list(found.by),
            "margins": [
                {"re": s.real, "im": s.imag, "margin": float(x)}
                for s, x in zip(found.eigenvalues, found.margins, strict=True)
            ],
            "lost": [
                {"re": x.eigenvalue.real, "im": x.eigenvalue.imag, "text": x.text, "decays": x.decays}
                for x in found.lost
            ],
        }  # fmt: skip
    if gain is not None:
        data["gain"] = {
            "K": gain.K.tolist(), "method": gain.method, "every": gain.every, "residual": gain.residual,
            "poles": [{"re": float(p.real), "im": float(p.imag)} for p in gain.poles],
            "margins": {by: _margin_data(gain.margins(by)) for by in gain.inputs},
        }  # fmt: skip
    if run is not None:
        from pendula.app.commands.simulate import run_data

        data["run"] = run_data(run) | {"inputs": {name: run[name].tolist() for name in linear.inputs}}
    return data
