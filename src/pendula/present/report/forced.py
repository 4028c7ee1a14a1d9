"""The section of a report on forced responses: amplitudes over frequency, resonances, steady motion and beats."""

from __future__ import annotations

import numpy as np

from pendula.analysis.modes.drive_response import DriveResponse
from pendula.analysis.modes.harmonic import HarmonicResponse
from pendula.analysis.study import Study
from pendula.present.pictures.curves import Chart, chart_html, curve
from pendula.present.report.html import Page, missing, sentence, table, with_unit
from pendula.present.words.tables import number

MOST_LINES = 5
MOST_BEATS = 6
TALLEST = 1e3
"""peaks are cut at this multiple of the median amplitude"""
PURE = 1e-6
"""a drive whose other harmonics are below this fraction is a pure sine"""


def forced_section(found: Study, page: Page) -> str:
    """Steady motion under prescribed motions and inputs."""
    parts = []
    if found.driven is not None:
        parts.append(_driven(found.driven))
    for one in found.responses:
        parts += [sentence(_about(one)), _charts(one, None), _resonances(one)]
        parts += [sentence(note, "small") for note in one.notes]
    if parts:
        return "".join(parts)
    reasons = [found.absent.get(name, "") for name in ("driven", "responses")]
    return missing("; ".join(reason for reason in reasons if reason))


def _about(found: HarmonicResponse) -> str:
    return f"Steady small motion about equilibrium {found.linear.at.name} under {found.input} = sin(ω t), over ω"


def _driven(found: DriveResponse) -> str:
    """The response to the mechanism's own drive."""
    response, unit = found.response, found.response.unit
    motions = found.linear.motions
    assert motions is not None  # they are what drives
    means = zip(motions.names, motions.held.tolist(), strict=True)
    held = ", ".join(f"{name} = {with_unit(value, motions.units[name])}" for name, value in means)
    size = with_unit(response.amplitude, next(iter(motions.units.values())))
    parts = [
        sentence(
            f"Steady small motion under {response.input} with amplitude {size}, from the linear model with the drive "
            f"held at its mean ({held}); the drive itself runs at {number(found.frequency)} {unit}"
        )
    ]
    if found.others > PURE:
        parts.append(sentence(f"Only its first harmonic counts here; {100 * found.others:.3g} % are left out", "small"))
    if not response.amplitudes.any():
        return "".join([*parts, *(sentence(note) for note in response.notes)])
    parts += [_charts(response, found.frequency), _there(found), _resonances(response), _beats(found)]
    return "".join([*parts, *(sentence(note, "small") for note in response.notes)])


def _charts(found: HarmonicResponse, marked: float | None) -> str:
    """One chart for every unit: amplitudes over frequency, with the frequency of the drive marked."""
    names, units = found.linear.coordinates, found.linear.units
    charts = []
    for unit in dict.fromkeys(units.get(n, "") for n in names):
        group = [k for k, n in enumerate(names) if units.get(n, "") == unit][:MOST_LINES]
        sizes = np.where(np.isfinite(found.amplitudes), found.amplitudes, np.nan)[:, group]
        top = TALLEST * float(np.nanmedian(sizes))
        sizes = np.where((sizes > 0) & (sizes < top), sizes, np.nan)
        if not np.isfinite(sizes).any():
            continue
        curves = [curve(names[k], found.frequencies, y) for k, y in zip(group, sizes.T, strict=True)]
        if marked is not None:
            ends = [np.nanmin(sizes), np.nanmax(sizes)]
            curves.append(curve("frequency of the drive", [marked, marked], ends, style="dashed", color=5))
        up = f"amplitude [{unit or '1'}]"
        title = "Amplitude over the frequency of the drive" if marked is not None else f"Amplitude under {found.input}"
        charts.append(Chart("forced", title, f"frequency [{found.unit}]", up, tuple(curves), log_x=True, log_y=True))
    return f'<div class="charts">{"".join(chart_html(chart) for chart in charts)}</div>'


def _there(found: DriveResponse) -> str:
    """Amplitudes and phases at the frequency of the drive."""
    there, units = found.there, found.linear.units
    rows = [
        (name, _size(float(size), units.get(name, "")), None if np.isnan(phase) else float(np.degrees(phase)))
        for name, size, phase in zip(found.linear.coordinates, there.amplitudes[0], there.phases[0], strict=True)
    ]
    head = ["Coordinate", "Amplitude", "Phase [deg]"]
    return table(head, rows, caption=f"Steady motion at the drive's {number(found.frequency)} {there.unit}")


def _size(value: float, unit: str) -> str:
    return with_unit(value, unit) if np.isfinite(value) else "grows without bound"


def _resonances(found: HarmonicResponse) -> str:
    rows = [
        (r.mode, r.frequency, r.coordinate, _size(r.amplitude, found.linear.units.get(r.coordinate, "")))
        for r in found.resonances
    ]
    if not rows:
        return ""
    head = ["Mode", f"Frequency [{found.unit}]", "Moves most", "Amplitude"]
    return table(head, rows, caption="Resonances")


def _beats(found: DriveResponse) -> str:
    """Beats of the drive with the free motion after a start at rest."""
    if not found.beats:
        return ""
    time, names = found.linear.at.layout.time_unit, found.linear.coordinates
    rows = []
    for beat in found.beats[:MOST_BEATS]:
        k = int(np.argmax(beat.amplitudes))
        size = with_unit(float(beat.largest[k]), found.linear.units.get(names[k], ""))
        rows.append((beat.mode, beat.frequency, beat.period, f"{names[k]} {size}"))
    head = ["Mode", f"Frequency [{found.response.unit}]", f"Beat period [{time}]", "Largest amplitude"]
    return table(head, rows, caption="Beats with the free motion, after a start from rest")
