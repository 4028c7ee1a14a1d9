"""Equilibria as text: coordinates in degrees and lengths, verdicts, families, and completeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.equilibria.find import Equilibria
from pendula.analysis.linear.frame import displacement_name
from pendula.present.words.tables import facts_lines, number, table, wrapped
from pendula.present.words.units import in_degrees, labelled
from pendula.system.layout import Layout
from pendula.system.system import System
from pendula.words import picked

MOST_ROWS = 24
"""largest number of equilibria in a table; JSON has all"""
MOST_COLUMNS = 5
"""largest number of coordinates with a column each, unless they are quaternions"""
NAMED = 6
"""largest number of coordinates that are listed with their values"""


def joint_values(system: System, one: Equilibrium) -> dict[str, float]:
    """Joint coordinates and speeds by name, for equations in any coordinates."""
    q, v = system.in_joints.read(one.q, one.v, parameters=one.parameters)
    layout = system.in_joints.layout
    names = (*layout.coordinates, *layout.speeds)
    return dict(zip(names, map(float, [*q, *v]), strict=True))


def shown_value(value: float, unit: str) -> tuple[float, str]:
    """A value for display: angles in degrees, and those that are integers up to rounding errors rounded."""
    shown, shown_unit = in_degrees(value, unit)
    whole = unit == "rad" and abs(shown - round(shown)) < 1e-10 * max(1.0, abs(shown))
    return (float(round(shown)) if whole else float(shown)), shown_unit


def place(system: System, one: Equilibrium) -> str:
    """Coordinates of an equilibrium, ``theta1 = 180 deg, theta2 = 0 deg``, and constant rates of a steady motion."""
    return state_words(system.in_joints.layout, joint_values(system, one))


def state_words(layout: Layout, values: Mapping[str, float]) -> str:
    """Coordinates with their values, and the speeds that are not zero."""
    rates = {n: values[n] for n in layout.speeds if values[n]}
    if len(layout.coordinates) <= NAMED:
        return named_values({n: values[n] for n in layout.coordinates} | rates, layout.units)
    grouped = _grouped(layout.coordinates, layout.units, values)
    return ", ".join([grouped, named_values(rates, layout.units)] if rates else [grouped])


def _grouped(names: Sequence[str], units: Mapping[str, str], values: Mapping[str, float]) -> str:
    """Many coordinates grouped by equal values, zeros last."""
    groups: dict[str, list[str]] = {}
    for n in names:
        if values[n] != 0:
            shown, unit = shown_value(values[n], units[n])
            groups.setdefault(f"{number(shown)} {unit}".rstrip(), []).append(n)
    if not groups:
        return f"all {len(names)} coordinates 0"
    parts = [f"{_listed(found)} = {value}" for value, found in list(groups.items())[:NAMED]]
    if len(groups) > NAMED:
        return ", ".join([*parts, "..."])
    rest = len(names) - sum(map(len, groups.values()))
    return ", ".join([*parts, "others 0"] if rest else parts)


def named_values(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    """Values by name with their units, angles in degrees: ``theta1 = 180 deg, x = 0.2 m``."""
    shown = ((n, *shown_value(x, units.get(n, ""))) for n, x in values.items())
    return ", ".join(f"{name} = {number(x)} {unit}".rstrip() for name, x, unit in shown)


def point_lines(system: System, one: Equilibrium, why: str) -> list[str]:
    """The equilibrium of an analysis: how it was selected, its coordinates, and its residual."""
    units = system.model.unit_names
    facts = [("at", why), ("where", place(system, one))]
    if len(one.inputs):
        facts.append(("inputs held", _inputs(system, one)))
    potential = f"{potential_word(system, one)} {number(one.potential)} {units.energy}"
    facts.append(("residual", f"{number(one.residual, 2)} of a typical force; {potential}"))
    if (near := one.nearest_singularity) is not None:
        facts.append(("singularity", str(near)))
    return facts_lines(facts)


def _inputs(system: System, one: Equilibrium) -> str:
    """The inputs that hold an equilibrium."""
    return named_values(dict(zip(system.layout.inputs, one.inputs.tolist(), strict=True)), {})


def potential_word(system: System, one: Equilibrium) -> str:
    """The word for the potential: effective for a steady or driven motion."""
    return "effective potential" if one.steady or system.drives else "potential"


def equilibria_text(system: System, found: Equilibria, verdicts: Sequence[str], certainties: Sequence[str] = ()) -> str:
    """Table of equilibria with their verdicts, notes on families and weak equilibria, and completeness."""
    if not len(found):
        return no_equilibrium_text(found)
    parts = [_headline(system, found), "", _table(system, found, verdicts)]
    if len(found) > MOST_ROWS:
        parts += ["", f"... and {len(found) - MOST_ROWS} more"]
    notes = _notes(system, found) + _certainty_note(certainties)
    if notes:
        parts += ["", *(wrapped(note, "  ") for note in notes)]
    return "\n".join([*parts, "", *_completeness(found)])


def no_equilibrium_text(found: Equilibria) -> str:
    """Report that there is no equilibrium, with the unbalanced forces at the best pose."""
    left = ", ".join(f"{number(x)} {found.units[n]} on {n}" for n, x in found.unbalanced.items())
    said = f"No equilibrium was found: at the best pose {left} remains unbalanced."
    if not left:
        said = "No equilibrium was found at which forces have finite derivatives."
    return "\n".join([wrapped(said), "", *_completeness(found)])


def _headline(system: System, found: Equilibria) -> str:
    one, many = ("steady motion", "steady motions") if found[0].steady else ("equilibrium", "equilibria")
    if len(found) == 1:
        return f"1 {one}"
    return f"{len(found)} {many}, the one of least {potential_word(system, found[0])} first"


def equilibria_rows(
    system: System, found: Equilibria, verdicts: Sequence[str]
) -> tuple[list[str], list[list[Any]], str]:
    """Heads, rows and alignment of a table of equilibria: where, the verdict if there are any, potential, residual."""
    layout, energy = system.in_joints.layout, system.model.unit_names.energy
    apart = len(layout.coordinates) <= MOST_COLUMNS and not system.in_joints.system.balls
    word = potential_word(system, found[0])
    judged = ["verdict"] if len(verdicts) else []
    heads = ["no", *_heads(layout.coordinates, layout.units, apart), *judged, f"{word} [{energy}]", "residual"]
    rows: list[list[Any]] = []
    for k, one in enumerate(found):
        values = joint_values(system, one)
        cells: list[Any] = [place(system, one)]
        if apart:
            cells = [shown_value(values[n], layout.units[n])[0] for n in layout.coordinates]
        verdict = [short_verdict(verdicts[k])] if judged else []
        rows.append([one.name, *cells, *verdict, one.potential, number(one.residual, 1)])
    sides = "r" + ("r" * len(layout.coordinates) if apart else "l") + "l" * len(judged) + "rr"
    return heads, rows, sides


def _table(system: System, found: Equilibria, verdicts: Sequence[str]) -> str:
    heads, rows, sides = equilibria_rows(system, found, verdicts)
    return table(rows[:MOST_ROWS], heads, align=sides)


def short_verdict(verdict: str) -> str:
    """A verdict for a narrow column: the text below the table names the drifting coordinate."""
    return "critical: drifts, else stable" if verdict.startswith("critical: drifts") else verdict


def _heads(names: Sequence[str], units: Mapping[str, str], apart: bool) -> list[str]:
    if not apart:
        return ["where"]
    return [labelled(n, in_degrees(0.0, units[n])[1]) for n in names]


def _notes(system: System, found: Equilibria) -> list[str]:
    """Notes on constant rates, families with their free directions, and weak equilibria."""
    notes = []
    first = found[0]
    if first.steady:
        layout = first.layout
        rates = [f"{n} = {number(x)} {layout.units[n]}" for n, x in zip(layout.speeds, first.v, strict=True) if x]
        notes.append(f"Constant rates: {', '.join(rates)}.")
    if np.any(first.inputs):
        notes.append(f"Inputs held: {_inputs(system, first)}; potentials do not contain their work.")
    groups: dict[str, list[str]] = {}
    for one in found:
        if one.free_directions:
            groups.setdefault(family_words(one), []).append(one.name)
    for words, names in groups.items():
        each = "belongs to a family" if len(names) == 1 else "belong to families"
        notes.append(f"{_listed(names)} {each} of equilibria along {words}.")
    weak = [one for one in found if one.weak]
    if weak:
        sizes = [one.condition for one in weak if np.isfinite(one.condition)]
        by = f" (stiffness differs by up to {max(sizes):.1e})" if sizes else ""
        each = "is weak" if len(weak) == 1 else "are weak"
        notes.append(
            f"{_listed([one.name for one in weak])} {each}: almost no stiffness in some direction{by}, so small "
            "errors in the model move the equilibrium far or remove it."
        )
    return notes


def _certainty_note(certainties: Sequence[str]) -> list[str]:
    """Which verdicts are proven, indicated and undecided."""
    groups: dict[str, list[str]] = {}
    for k, word in enumerate(certainties):
        groups.setdefault(word, []).append(str(k + 1))
    if len(groups) == 1:
        return [f"{'All verdicts are' if len(certainties) > 1 else 'The verdict is'} {certainties[0]}."]
    parts = [f"{word} for {_listed(names)}" for word, names in groups.items()]
    return [f"Verdicts are {', '.join(parts)}."] if parts else []


def family_words(one: Equilibrium) -> str:
    """The directions along which a family extends, by coordinates."""
    parts = []
    for direction in one.free_directions:
        terms = [
            displacement_name(n) if abs(x - 1) < 1e-9 else f"{number(x, 4)} {displacement_name(n)}"
            for n, x in direction.items()
        ]
        parts.append(" + ".join(terms).replace("+ -", "- "))
    return ", and along ".join(parts)


def _listed(names: Sequence[str]) -> str:
    if len(names) > 6:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _completeness(found: Equilibria) -> list[str]:
    complete = f"{found.complete}: {found.reason}"
    if found.starts and len(found):
        least, most = min(found.found), max(found.found)
        complete += f", {'each ' if len(found) > 1 else ''}found {least}{f' to {most}' if most > least else ''} times"
    return facts_lines([("complete", complete), ("searched in", box_words(found))])


def box_words(found: Equilibria) -> str:
    """The box that was searched, angles in degrees."""
    parts = []
    for name, (low, high) in found.box.items():
        a, unit = shown_value(low, found.units[name])
        b, _ = shown_value(high, found.units[name])
        where = "on the circle" if name in found.circles else f"from {number(a, 4)} to {number(b, 4)} {unit}".rstrip()
        parts.append((name, where))
    groups: dict[str, list[str]] = {}
    for name, where in parts:
        groups.setdefault(where, []).append(name)
    texts = [f"{_listed(names)} {where}" for where, names in groups.items()]
    beyond = f" ({found.outside} more found outside)" if found.outside else ""
    return ("; ".join(texts) or "all rotations") + beyond


def equilibrium_data(system: System, one: Equilibrium) -> dict[str, Any]:
    """An equilibrium as plain numbers and strings."""
    values = joint_values(system, one)
    layout = system.in_joints.layout
    return {
        **picked(one, "name residual potential unstable_directions condition weak steady multipliers"),
        "q": {n: values[n] for n in layout.coordinates},
        "v": {n: values[n] for n in layout.speeds},
        "enclosure": {n: list(ends) for n, ends in one.enclosure.items()} if one.enclosure else None,
        "free_directions": [{displacement_name(n): x for n, x in d.items()} for d in one.free_directions],
    }
