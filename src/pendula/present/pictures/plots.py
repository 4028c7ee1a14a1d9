"""Plots over one time axis: coordinates, rates and errors of a run; forces in joints.

Figures are made without pyplot, so they leave no global state and need no display. Colours suit colour-blind readers:
a fixed set for a few lines, a ramp of increasing lightness for many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from pendula.errors import UsageError
from pendula.present.pictures.blank import blank_figure
from pendula.present.player.scene import samples
from pendula.present.thinning import thinned
from pendula.present.words.units import in_degrees, labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pendula.system.system import System

Array = npt.NDArray[np.float64]

DPI = 110  # dots per inch
LEGEND_LINES = 12  # more lines get a colour bar instead of a legend
POINTS = 4000  # per line; longer runs are thinned to the minimum and maximum of each bin
LEGEND_ROW = 0.15  # share of the height of the error panel for each row of its legend
FLOOR = 1e-18  # smaller relative errors are drawn at this value
# Okabe and Ito's colours (without yellow, which is too light for lines).
FEW = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
LONGEST_NAME = 22  # letters; longer names are cut
LENGTHS = ("m", "mm", "cm", "km", "ft", "in")
INK, MUTED = "#1d2430", "#667085"


@dataclass(frozen=True, eq=False)
class RunSeries:
    """Sampled signals of one run, by name. All arrays have the length of ``t``.

    Attributes:
        coordinates: values of coordinates; those whose unit is "rad" are drawn in degrees.
        coordinate_units: unit of each coordinate, "" if it has none.
        speeds: values of rates, drawn in the units given.
        energy_error: |E - E(0) - W| over the energy scale, without unit; None if it is not known.
        violation: constraint violation, or None if there are no constraints.
    """

    title: str
    subtitle: str
    t: Array
    coordinates: Mapping[str, Array]
    coordinate_units: Mapping[str, str]
    speeds: Mapping[str, Array]
    speed_units: Mapping[str, str]
    energy_error: Array | None = None
    violation: Array | None = None
    time_unit: str = "s"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", samples(self.t, (None,), "t"))
        k = self.t.size
        if k == 0:
            raise UsageError("the run has no samples")
        for name, units in (("coordinates", self.coordinate_units), ("speeds", self.speed_units)):
            signals = {key: samples(y, (k,), f'{name} "{key}"') for key, y in getattr(self, name).items()}
            missing = [key for key in signals if key not in units]
            if missing:
                raise UsageError(f'{name} "{missing[0]}" has no unit: give one, or "" if it has none')
            object.__setattr__(self, name, signals)
        for name in ("energy_error", "violation"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, samples(getattr(self, name), (k,), name))


def plot_run(run: RunSeries, *, dpi: float = DPI) -> Figure:
    """Figure of a run: a panel for each unit of coordinates and of rates, and one for the errors.

    Args:
        run: the signals.
        dpi: dots per inch.
    """
    panels = [*_panels(run.coordinates, run.coordinate_units), *_panels(run.speeds, run.speed_units)]
    figure, axes = sheet(len(panels) + (run.energy_error is not None), dpi=dpi, layout=None)
    for ax, (unit, signals) in zip(axes, panels, strict=False):
        _draw_signals(figure, ax, run.t, unit, signals)
    if run.energy_error is not None:
        _draw_errors(axes[-1], run.energy_error, run)
    _place(figure, axes, [name for _, signals in panels for name in signals])
    _finish(figure, axes, run)
    return figure


@dataclass(frozen=True, eq=False)
class ForceSeries:
    """Magnitudes of forces over time, by joint, in panels such as "force [N]". Values that are nan are not drawn."""

    title: str
    subtitle: str
    t: Array
    panels: Mapping[str, Mapping[str, Array]]
    time_unit: str = "s"


def plot_forces(series: ForceSeries, *, dpi: float = DPI) -> Figure:
    """Figure of forces: one panel for each kind, one line for each joint or motor.

    Args:
        series: the signals.
        dpi: dots per inch.
    """
    figure, axes = sheet(len(series.panels), dpi=dpi, layout=None)
    for ax, (label, signals) in zip(axes, series.panels.items(), strict=True):
        _draw_signals(figure, ax, series.t, "", signals)
        literally(ax.set_ylabel(label))
    _place(figure, axes, [name for signals in series.panels.values() for name in signals])
    _finish(figure, axes, series)
    return figure


def sheet(
    count: int, *, dpi: float = DPI, shared: bool = True, layout: Literal["constrained"] | None = "constrained"
) -> tuple[Figure, list[Axes]]:
    """An empty figure with stacked panels, by default with a shared x axis."""
    figure = blank_figure(9.0, 1.3 + 2.15 * count, dpi=dpi, layout=layout)
    return figure, list(figure.subplots(count, 1, sharex=shared, squeeze=False)[:, 0])


def _place(figure: Figure, axes: list[Axes], names: Sequence[str]) -> None:
    """Margins, with room for the names on the right.

    Matplotlib's own layout draws all text twice to measure it, which takes as long as the picture itself.
    """
    width, height = figure.get_size_inches()
    left, right = 0.95, 0.5 + 0.072 * max((len(shortened(name, LONGEST_NAME)) for name in names), default=0)
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=0.5 / height, top=1 - 0.72 / height, hspace=0.12
    )
    for ax in axes:
        ax.yaxis.set_label_coords(-0.68 / (width - left - right), 0.5)


def _finish(figure: Figure, axes: list[Axes], run: RunSeries | ForceSeries) -> None:
    """Grids, the time axis and titles."""
    for ax in axes:
        dress(ax)
    literally(axes[-1].set_xlabel(labelled("time", run.time_unit)))
    if run.t.size > 1:
        axes[-1].set_xlim(float(run.t[0]), float(run.t[-1]))
    headline(figure, run.title)
    if run.subtitle:
        literally(axes[0].set_title(run.subtitle, loc="left", fontsize=9.5, color=MUTED))


def headline(figure: Figure, text: str) -> None:
    """Sets the title of a figure."""
    literally(figure.suptitle(text or " ", x=0.012, ha="left", fontsize=13, fontweight="bold", color=INK))


def titled(mechanism: System | str | None, text: str) -> str:
    """A title with the name of the mechanism, where it is known."""
    name = mechanism if isinstance(mechanism, str) or mechanism is None else mechanism.model.name
    return f"{name}: {text}" if name else text


def _panels(signals: Mapping[str, Array], units: Mapping[str, str]) -> list[tuple[str, dict[str, Array]]]:
    """Signals by unit in order of appearance, angles in degrees."""
    groups: dict[str, dict[str, Array]] = {}
    for name, y in signals.items():
        values, unit = in_degrees(y, units[name])
        groups.setdefault(unit, {})[name] = values
    return list(groups.items())


def _kind(unit: str) -> str:
    """What has a unit, in a word for an axis."""
    if unit == "deg":
        return "angle"
    if unit in LENGTHS:
        return "length"
    if "/" not in unit:
        return "value"
    return "acceleration" if unit.endswith("^2") else "rate"


def _draw_signals(figure: Figure, ax: Axes, t: Array, unit: str, signals: Mapping[str, Array]) -> None:
    names = list(signals)
    many = len(names) > LEGEND_LINES
    marker = "o" if t.size == 1 else None
    colors = line_colors(len(names))
    for name, color in zip(names, colors, strict=True):
        x, y = thinned(t, signals[name], POINTS)
        ax.plot(x, y, color=color, lw=0.8 if many else 1.3, marker=marker)
    literally(ax.set_ylabel(labelled(_kind(unit), unit)))
    if many:
        _colour_bar(figure, ax, names)
    else:
        name_lines(ax, names)


def name_lines(ax: Axes, names: Sequence[str]) -> None:
    """Names the first lines of a panel in a legend at its right, unless there are too many."""
    if len(names) > LEGEND_LINES:
        return
    legend = ax.legend(
        ax.get_lines()[: len(names)], [f"line {i}" for i in range(len(names))], loc="upper left",
        bbox_to_anchor=(1.005, 1.02), frameon=False, fontsize=8.5, labelspacing=0.25, handlelength=1.4,
        borderaxespad=0.0,
    )  # fmt: skip
    # Names are set afterwards: a leading underscore would hide a line, a dollar sign would start a formula.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(shortened(name, LONGEST_NAME))


def _colour_bar(figure: Figure, ax: Axes, names: Sequence[str]) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    ramp = ListedColormap(line_colors(len(names)))
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), ramp), cax=ax.inset_axes((1.012, 0.0, 0.018, 1.0)))
    # A dollar sign in a name must not start a formula.
    short = [shortened(name, LONGEST_NAME).replace("$", r"\$") for name in (names[0], names[-1])]
    bar.set_ticks([0.5 / len(names), 1 - 0.5 / len(names)], labels=short)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8.5)


def _draw_errors(ax: Axes, energy_error: Array, run: RunSeries) -> None:
    signals = {"energy error / energy scale": (energy_error, FEW[0])}
    if run.violation is not None:
        signals["constraint violation"] = (run.violation, FEW[1])
    top = 0.0
    for name, (signal, color) in signals.items():
        size = np.abs(signal)
        top = max(top, float(size.max()))
        x, y = thinned(run.t, np.maximum(size, FLOOR), POINTS)
        label = f"{name}, at most {float(size.max()):.2g} at the samples drawn"
        ax.plot(x, y, color=color, lw=1.2, label=label, marker="o" if x.size == 1 else None)
    positive = [size[size > FLOOR] for size in (np.abs(signal) for signal, _ in signals.values())]
    low = min((float(size.min()) for size in positive if size.size), default=FLOOR)
    ax.set_yscale("log")
    bottom, top = float(np.floor(np.log10(low) - 0.3)), float(np.log10(max(top, 10 * low)))
    room = LEGEND_ROW * len(signals)  # for the legend, above the curves
    ax.set_ylim(10.0**bottom, 10.0 ** np.ceil(bottom + (top - bottom) / (1 - room)))
    ax.minorticks_off()
    # Plain text: matplotlib's powers of ten are formulas, and the parser of formulas takes 0.1 s to load.
    ax.yaxis.set_major_formatter(lambda value, _: f"1e{round(float(np.log10(value)))}")
    ax.set_ylabel("error")
    ax.legend(loc="upper left", frameon=False, fontsize=8.5, ncols=1, borderaxespad=0.2)


def line_colors(count: int) -> list[Any]:
    """Colours of lines: a fixed set for a few, a ramp of increasing lightness for many."""
    if count <= len(FEW):
        return list(FEW[:count])
    from matplotlib import colormaps

    # The light end of the ramp is invisible on white.
    return list(colormaps["plasma"](np.linspace(0.0, 0.86, count)))


def dress(ax: Axes) -> None:
    """Gives a panel its grid and plain axes on the left and below."""
    ax.grid(True, color="#e4e7ec", lw=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=9, colors=MUTED, labelcolor=INK, length=3)
    ax.tick_params(which="minor", colors=MUTED, length=2)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#b8c0cc")


def literally(text: Any) -> None:
    """Draws a text as it is: a dollar sign in a name must not start a formula."""
    text.set_parse_math(False)


def shortened(text: str, length: int) -> str:
    """A text cut to a length."""
    return text if len(text) <= length else text[: length - 1] + "…"
