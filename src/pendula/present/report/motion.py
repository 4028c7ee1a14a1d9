"""The second half of a report: equilibria, eigenvalues, animated modes, a simulation with its energy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html import escape

import numpy as np

from pendula.analysis.driven.floquet import Floquet
from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.modes.eigenmodes import Mode
from pendula.analysis.modes.modes import Modes
from pendula.analysis.stability.verdict import Stability
from pendula.analysis.study import Study
from pendula.present.pictures import svg
from pendula.present.pictures.curves import Chart, chart_html, curve
from pendula.present.pictures.modes import mode_scene
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.present.pictures.signals import coordinate_signals, energy_signals
from pendula.present.player.scene import Signals
from pendula.present.report.html import (
    Page,
    Raw,
    badge,
    capital,
    details,
    matrix_formula,
    missing,
    sentence,
    table,
    with_unit,
)
from pendula.present.words.attitudes import coordinates_text
from pendula.present.words.equilibria import box_words, family_words, named_values, potential_word, shown_value
from pendula.present.words.linear import modes_rows, spectrum_rows
from pendula.present.words.runs import outcome_of, run_facts
from pendula.present.words.tables import number, unbroken
from pendula.present.words.units import in_degrees, labelled
from pendula.present.words.verdicts import multiplier_rows
from pendula.simulation.charts.attitudes import attitudes
from pendula.simulation.trajectory import Trajectory
from pendula.words import counted

MOST_COLUMNS = 6
MOST_EQUILIBRIA = 16
MOST_ROOTS = 24
FEW_ROOTS = 8
MOST_MODES = 24
MOST_LINES = 6
MOST_ENTRIES = 6
MOST_POSES = 8
SAME_PLACE = 1e-6
"""difference of coordinates [deg or length] that a table of equilibria does not show"""


# -- equilibria ---------------------------------------------------------------------------------------------


def equilibria_section(found: Study, page: Page) -> str:
    """All equilibria with potential, stability and completeness; Floquet multipliers of a driven mechanism."""
    if found.equilibria is None:
        parts = [missing(found.absent["equilibria"])]
        if found.floquet is not None:
            parts.append(_driven(found.floquet))
        elif "floquet" in found.absent:
            parts.append(missing(f"No Floquet multipliers: {found.absent['floquet']}"))
        return "".join(parts)
    all_of = found.equilibria
    if not all_of.all:
        return missing(str(all_of).splitlines()[0]) + _completeness(all_of)
    parts = [_completeness(all_of), _equilibria_table(found, all_of), _poses(found, all_of, page)]
    shown = list(zip(all_of.all, found.stabilities, strict=False))[:MOST_EQUILIBRIA]
    reasons = "".join(
        f"<dt>Equilibrium {escape(one.name)}</dt><dd>{_because(one, verdict)}</dd>" for one, verdict in shown
    )
    parts.append(details("Reasons of the verdicts", f"<dl>{reasons}</dl>"))
    if len(all_of.all) > len(shown):
        tally = Counter(v if isinstance(v, str) else v.verdict for v in found.stabilities[len(shown) :])
        shown_words = ", ".join(f"{n} {verdict}" for verdict, n in tally.items())
        unknown = len(all_of.all) - len(found.stabilities)
        shown_words += f", {unknown} not judged" if unknown else ""
        parts.append(sentence(f"Of the {len(all_of.all) - len(shown)} others: {shown_words}"))
    return "".join(parts)


def _poses(found: Study, all_of: Equilibria, page: Page) -> str:
    """The mechanism at each of the first equilibria."""
    cards = []
    for k, one in enumerate(all_of.all[:MOST_POSES]):
        scene = replace(scene_of(Pose(found.system, one.q[None], one.parameters)), title=f"equilibrium {one.name}")
        verdict = _badge(found.stabilities[k]) if k < len(found.stabilities) else ""
        cards.append(f"<article><h3>{escape(one.name)} {verdict}</h3>{page.player(scene, kind='pose')}</article>")
    return f'<div class="cards poses">{"".join(cards)}</div>'


def _completeness(all_of: Equilibria) -> str:
    label = badge(f"completeness {all_of.complete}", "good" if all_of.complete == "proven" else "open")
    return f"<p>{label} {escape(capital(all_of.reason))}; searched in {escape(box_words(all_of))}.</p>"


def _equilibria_table(found: Study, all_of: Equilibria) -> str:
    """Coordinates in columns; of many, those in which each equilibrium differs from the first."""
    first = all_of.all[0]
    layout = first.layout
    moving = [n for k, n in enumerate(layout.speeds) if any(e.v[k] for e in all_of)][:MOST_COLUMNS]
    names = [*layout.coordinates, *moving]
    many = len(layout.coordinates) > MOST_COLUMNS
    head = [
        "Equilibrium",
        *(["Coordinates"] if many else [labelled(n, in_degrees(0.0, layout.units[n])[1]) for n in names]),
    ]
    word = potential_word(found.system, first)
    head += [f"{word.capitalize()} [{found.model.unit_names.energy}]", "Stability", "Residual"]
    head += ["Found"] if all_of.starts else []
    rows = []
    for k, one in enumerate(all_of.all):
        place = [_differing(one, first)] if many else [shown_value(one[n], layout.units[n])[0] for n in names]
        verdict = found.stabilities[k] if k < len(found.stabilities) else "not judged"
        times = [f"{all_of.found[k]} times"] if all_of.starts else []
        rows.append((one.name, *place, one.potential, _badge(verdict), number(one.residual, 2), *times))
    return table(head, rows, most=MOST_EQUILIBRIA) + _in_other_charts(found, all_of)


def _in_other_charts(found: Study, all_of: Equilibria) -> str:
    """The orientations of the equilibria in other coordinates, folded; empty if there are none."""
    rows = []
    for one in all_of.all[:MOST_EQUILIBRIA]:
        state = found.system.in_joints.read_state(one.state, one.parameters)
        rows += [(one.name, x.joint, x.chart, unbroken(coordinates_text(x))) for x in attitudes(state)]
    if not rows:
        return ""
    shown = table(["Equilibrium", "Joint", "Orientation", "Coordinates"], rows, most=len(rows))
    return details("The same orientations in other coordinates", shown)


def least_of(found: Study) -> str:
    """What the first equilibrium has the least of: potential, or effective potential."""
    equilibria = found.equilibria
    return potential_word(found.system, equilibria.all[0]) if equilibria is not None and equilibria.all else "potential"


def _differing(one: Equilibrium, first: Equilibrium) -> str:
    """The coordinates of an equilibrium that differ from those of the first; of that one, those that are not zero."""
    units = one.layout.units
    told: dict[str, list[str]] = {}  # names by value
    for n in one.layout.coordinates:
        x, unit = shown_value(one[n], units[n])
        reference = 0.0 if one is first else shown_value(first[n], units[n])[0]
        if abs(x - reference) > SAME_PLACE:
            told.setdefault(f"= {number(x, 4)} {unit}".rstrip(), []).append(n)
    listed = "; ".join(f"{_some(names)} {value}" for value, names in told.items())
    if one is first:
        return f"{listed}; others 0" if told else "all 0"
    return f"as {first.name}, but {listed}" if told else f"as {first.name}"


def _some(names: list[str]) -> str:
    """Names, of many the first and the last."""
    return ", ".join(names if len(names) <= MOST_COLUMNS else [*names[:3], "…", names[-1]])


def _badge(verdict: Stability | str) -> Raw:
    if isinstance(verdict, str):
        return badge("not judged", "open")
    short = verdict.verdict.partition(":")[0]
    kind = "open" if short == "critical" else {True: "good", False: "bad", None: "open"}[verdict.is_stable]
    return badge(short, kind)


def _because(one: Equilibrium, verdict: Stability | str) -> str:
    """The verdict with its reason, whether it holds for the nonlinear mechanism, and further remarks."""
    if isinstance(verdict, str):
        return sentence(f"Not judged: {verdict}")
    holds = "this holds for the nonlinear mechanism" if verdict.applies_to_nonlinear else "for the linear model only"
    kinds = Counter(verdict.roots)
    roots = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    text = f"{verdict.verdict} ({verdict.certainty}), because {verdict.proof}; {holds}; "
    text += f"{verdict.certainty}: {verdict.grounds}; roots: {roots}"
    chart = verdict.spectrum.model.chart or verdict.spectrum.model.basis.remark
    if chart:
        text += f"; {chart}"
    elif one.free_directions:
        text += f"; it belongs to a family along {family_words(one)}"
    if one.weak:
        text += "; it is weak: small errors in the model move it far"
    return sentence(text)


def start_of(found: Floquet) -> str:
    """The initial state of a periodic motion, in words."""
    layout = found.state.layout
    speeds = [n for n in layout.speeds if found.state[n]]
    values = {n: found.state[n] for n in (*layout.coordinates, *speeds)}
    return named_values(values, layout.units) + ("" if speeds else ", at rest")


def _driven(found: Floquet) -> str:
    kind = "good" if found.stable else "bad" if found.verdict == "unstable" else "open"
    roots = [svg.Root(complex(m), 1, f"{number(complex(m))}, size {abs(m):.8g}", 0) for m in found.multipliers]
    period = with_unit(found.period, found.time_unit)
    parts = [
        f"<p>{badge(found.verdict, kind)} Floquet multipliers: {escape(found.reason)}; period {escape(period)}.</p>"
    ]
    parts.append(sentence(f"Of the motion that starts at {start_of(found)}"))
    parts += [sentence(note) for note in found.notes]
    picture = svg.complex_plane(roots, unit="", title="Floquet multipliers and the unit circle", circle=True)
    heads, rows = multiplier_rows(found)
    listed = table([*map(capital, heads)], [(_typeset(value), size) for value, size in rows], most=MOST_ROOTS)
    parts.append(f'<div class="pair">{picture}<div>{listed}</div></div>')
    return "".join(parts)


# -- eigenvalues --------------------------------------------------------------------------------------------


def spectrum_section(found: Study, page: Page) -> str:
    """Eigenvalues about the chosen equilibrium: in the complex plane, and with labels."""
    if found.spectrum is None or found.linear is None or found.at is None:
        return missing(found.absent.get("linear") or found.absent["spectrum"])
    linear, unit = found.linear, found.linear.at.layout.time_unit
    why = f", the one of least {least_of(found)}" if found.number == 1 else ""
    parts = [sentence(f"Of small motion about equilibrium {found.at.name}{why}")]
    if remark := linear.chart or linear.basis.remark:
        parts.append(sentence(remark))
    labels = list(dict.fromkeys(_family(r.label) for r in found.spectrum.eigenvalues))
    roots = [
        svg.Root(r.value, r.multiplicity, f"{number(r.value)} 1/{unit}: {r.label}", labels.index(_family(r.label)))
        for r in found.spectrum.eigenvalues
        if np.isfinite(r.value)
    ]
    heads, rows = spectrum_rows(found.spectrum)
    picture = svg.complex_plane(roots, unit=f"1/{unit}", title="Eigenvalues in the complex plane")
    listed = table(
        [*map(capital, heads)],
        [(_typeset(value), times, _typeset(error), label) for value, times, error, label in rows],
        most=MOST_ROOTS,
    )
    said = "To the right of the imaginary axis (shaded) motions grow"
    if len(rows) <= FEW_ROOTS:
        parts.append(f'<div class="pair">{picture}<div>{listed}</div></div>{sentence(said, "small")}')
    else:
        parts.append(f'<div class="pair">{picture}</div>{sentence(said, "small")}{details("All eigenvalues", listed)}')
    if len(linear.M) <= MOST_ENTRIES:
        parts.append(details("Matrices of the linear model", _matrices(linear)))
    return "".join(parts)


def _family(label: str) -> str:
    return label.partition(":")[0]


def _typeset(value: str) -> str:
    """A complex number with true signs."""
    return value.replace("+-", "±").replace("-", "−")


def _matrices(linear: LinearModel) -> str:
    names = ", ".join(f"{n} [{linear.units.get(n, '') or '1'}]" for n in linear.coordinates)
    parts = [sentence(f"M e'' + C e' + K e{' = F u' if linear.inputs else ' = 0'}, with e = changes of {names}")]
    for letter, matrix in (("M", linear.M), ("C", linear.C), ("K", linear.K), ("F", linear.F)):
        if matrix.size:
            parts.append(f'<div class="scroll formula">{matrix_formula(f"<mi>{letter}</mi>", matrix)}</div>')
    return "".join(parts)


# -- modes --------------------------------------------------------------------------------------------------


def modes_section(found: Study, page: Page) -> str:
    """A table of all modes, and animations of the first ones."""
    if found.modes is None:
        return missing(found.absent["modes"])
    made = found.modes
    damped = "with damping" if made.damped else "without damping (the eigenvalues include it)"
    damped = damped if made.linear.C.any() else "undamped"
    parts = [
        sentence(f"{counted(len(made), 'mode')} of small motion about equilibrium {made.linear.at.name}, {damped}")
    ]
    parts.append(_modes_table(made))
    parts += [sentence(note, "small") for note in made.notes]
    if not found.motions:
        return "".join([*parts, missing(f"Modes are not animated: {found.absent.get('motions', 'none')}")])
    if "motions" in found.notes:
        parts.append(sentence(found.notes["motions"], "small"))
    parts.append('<div class="cards">')
    for motion in found.motions:
        scene = mode_scene(motion)
        extra = "; ".join(scene.notes[1:])
        head = f"<h3>Mode {motion.mode.number}: {escape(_in_short(motion.mode, made.time_unit))}</h3>"
        words = motion.mode.description.partition(": ")[2] or motion.mode.description
        text = sentence(f"Here {words}") + sentence(extra, "small")
        parts.append(f"<article>{head}{page.player(scene, kind='mode')}{text}</article>")
    parts.append("</div>")
    if len(made) > len(found.motions):
        parts.append(sentence(f"The first {len(found.motions)} of {len(made)} modes are animated", "small"))
    return "".join(parts)


def _in_short(mode: Mode, unit: str) -> str:
    return mode.kind if mode.damped_frequency is None else f"{mode.damped_frequency:.6g} rad/{unit}"


def _headed(name: str) -> str:
    """The heading of a column; a bare unit denotes a frequency."""
    *words, last = name.split(" ")
    return capital(
        name if last.endswith(("]", "ratio", "mode", "kind")) else " ".join([*words, "frequency", f"[{last}]"])
    )


def _modes_table(made: Modes) -> str:
    heads, rows = modes_rows(made)
    return table([_headed(name) for name in heads], rows, most=MOST_MODES)


# -- simulation ---------------------------------------------------------------------------------------------


def motion_section(found: Study, page: Page) -> str:
    """The motion from the initial state, in a player."""
    if found.run is None:
        return missing(found.absent["run"])
    return page.player(scene_of(found.run), kind="run")


def simulation_section(found: Study, page: Page) -> str:
    """The same motion in numbers: coordinates, energies, and statistics of the run."""
    if found.run is None:
        return missing(found.absent["run"])
    run, units = found.run, found.model.unit_names
    start = f"From the initial state, for {with_unit(found.duration, units.time)}: {outcome_of(run)}"
    parts = [sentence(start)]
    charts = [_chart(run, group) for group in (*coordinate_signals(run, MOST_LINES), energy_signals(run))]
    parts.append(f'<div class="charts">{"".join(charts)}</div>')
    parts += [sentence(note, "small") for note in run.notes]
    parts.append(details("Account of the run", _account(run)))
    return "".join(parts)


def _chart(run: Trajectory, group: Signals) -> str:
    curves = tuple(curve(name, run.t, y) for name, y in group.lines.items())
    title = capital(f"{group.name} over time")
    return chart_html(Chart(group.name, title, labelled("time", run.layout.time_unit), group.label, curves))


def _account(run: Trajectory) -> str:
    return table(["What", "Value"], [(capital(name), text) for name, text in run_facts(run)])
