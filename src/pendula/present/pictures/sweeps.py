"""Plots of studies: maps over two quantities, curves over one, and how random draws are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.quantities import number_in
from pendula.present.pictures.plots import FEW, INK, MUTED, Array, dress, headline, literally, sheet, titled
from pendula.present.words.units import labelled
from pendula.studies.plan import CASE, DRAW
from pendula.studies.result import INFERRED, TRUTHS, Sweep
from pendula.words import counted, some

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST = ("first_t", "verdict", "stable", "lyapunov", "growth_rate", "frequency", "equilibria")
"""results that are drawn if none is named, the first of them that there is"""
MOST_WORDS = 7
WIDE = 1e2
"""ratio of the ends of the shades above which they are logarithmic"""
BEYOND = 0.005
"""share of the values that may lie beyond each end of the shades"""
FAR = 1.5
"""shades end before the extremes if the range of all values is this many times as wide"""
TITLES = {"first_t": "time until a run first leaves its bounds", "first": "what leaves its bounds first"}
"""results in words; those of events below"""
EVENT_TITLES = {"first_t": "time of the first event", "first": "which event is first"}
UNKNOWN = "#eef0f3"


def plot_sweep(found: Sweep, *, quantity: str | None = None, at: dict[str, Any] | None = None) -> Figure:
    """Figure of one result of a study: a map over two axes, a curve over one, a histogram of random draws.

    Args:
        found: the study.
        quantity: the result; default: the one that the study was probably made for.
        at: values of axes, so that one or two remain: the nearest is taken, and stated in the picture. Of further
            dimensions, numbers from 0.

    Raises:
        UsageError: there is no such result, more than two axes remain, or a value is beyond its axis.

    Example:
        >>> import pendula
        >>> found = pendula.sweep("pendulum", {"theta": [0.1, 0.2], "l": [1.0, 2.0]}, duration=1.0, on="here")
        >>> plot_sweep(found).axes[0].get_xlabel()
        'theta [deg]'
    """
    name = quantity or next((x for x in FIRST if x in found.names), found.names[0] if found.names else "")
    if not name:
        raise UsageError("the study has no results to draw: all its cases failed, or none is finished")
    places = _places(found, name, dict(at or {}))
    values, dims = _sliced(found, name, places)
    if len(dims) > 2:
        left = some([f"{dim} ({n})" for dim, n in zip(dims, values.shape, strict=True)])
        raise UsageError(f'plot: "{name}" is over {left}; give at={{...}} so that one or two axes remain')
    figure, (ax,) = sheet(1)
    figure.set_size_inches(8.0, 6.0 if len(dims) == 2 else 4.2)
    if len(dims) == 2:
        _draw_map(figure, ax, found, name, values, dims)
    elif dims in ((DRAW,), ()):
        _draw_distribution(ax, found, name, np.atleast_1d(values))
    else:
        _draw_curve(ax, found, name, values, dims[0])
    dress(ax)
    headline(figure, titled(found.system, _label(found, name)))
    literally(ax.set_title(_subtitle(found, places), loc="left", fontsize=9.5, color=MUTED))
    return figure


def _places(found: Sweep, name: str, at: dict[str, Any]) -> dict[str, int]:
    """Where a result is looked at along some of its dimensions."""
    dims = found.dims_of(name)
    for dim in at:
        if dim not in dims:
            raise UsageError(f'plot: at: "{name}" is over {", ".join(dims)}, and not over "{dim}"')
    return {dim: _place(found, wanted, dim) for dim, wanted in at.items()}


def _sliced(found: Sweep, name: str, places: dict[str, int]) -> tuple[Array, tuple[str, ...]]:
    """Values of a result at some places, and the dimensions that remain."""
    values, dims = found[name], found.dims_of(name)
    for dim in dims:
        if dim in places:
            place = places[dim]
        elif dim not in found.dims or found.axis(dim).size == 1:
            place = 0  # the first mode, the first root
        else:
            continue
        values = np.take(values, place, axis=dims.index(dim))
        dims = tuple(one for one in dims if one != dim)
    return values, dims


def _place(found: Sweep, wanted: Any, dim: str) -> int:
    """The place on an axis that is nearest to a value, which lies within half a cell of the axis."""
    axis = found.axis(dim)
    if axis.dtype.kind == "U":
        if wanted not in axis.tolist():
            raise UsageError(f'plot: at: "{dim}" has the values {", ".join(axis.tolist())}, found {wanted!r}')
        return int(axis.tolist().index(wanted))
    unit = _unit(found, dim)
    value = number_in(wanted, unit, f'plot: at: the value of "{dim}"')
    place = int(np.argmin(np.abs(axis - value)))
    edges = _edges(np.sort(axis)) if axis.size > 1 else axis + 1e-9 * np.abs(axis) * np.array([-1.0, 1.0])
    if not edges[0] <= value <= edges[-1]:
        raise UsageError(
            f'plot: at: "{dim}" goes from {axis.min():.6g} to {axis.max():.6g} {unit}'.rstrip() + f", found {wanted!r}"
        )
    return place


def _shown(values: Array, unit: str) -> tuple[Array, str]:
    """Angles in degrees, as in all plots."""
    if unit in ("rad", "rad/s") and values.dtype.kind == "f":
        return np.degrees(values), unit.replace("rad", "deg")
    return values, unit


def _label(found: Sweep, name: str) -> str:
    unit = found.unit(name) if name not in (DRAW, CASE) else ""
    _, unit = _shown(np.zeros(1), unit)
    return labelled(_in_words(found, name), unit)


def _in_words(found: Sweep, name: str) -> str:
    """A result in words, where its name is short for them."""
    by_events = "first_times" in {block.name for block in found.quantities}
    return (EVENT_TITLES if by_events else TITLES).get(name, name)


def _absent(found: Sweep, name: str) -> str:
    """What a missing value of a map means."""
    if name not in TITLES:
        return "unknown, or failed"
    duration = found.study.get("identity", {}).get("options", {}).get("duration")
    until = f" within {duration:g} {found.unit('first_t')}" if isinstance(duration, int | float) else ""
    return f"not{until}" + (", or failed" if found.failures or not found.complete else "")


def _subtitle(found: Sweep, places: dict[str, int]) -> str:
    inferred = int((found.status == INFERRED).sum())
    parts = [counted(len(found), "case")]
    if inferred:
        parts.append(f"{len(found) - inferred} of them computed, the others inferred")
    elif not found.complete:
        parts.append(f"{found.finished} finished")
    if found.failures:
        parts.append(f"{len(found.failures)} failed")
    parts += [_where(found, dim, place) for dim, place in places.items()]
    return ", ".join(parts)


def _unit(found: Sweep, dim: str) -> str:
    """The unit of the values along a dimension; none for numbers from 0."""
    return next((block.unit for block in found.labels if block.name == dim and block.dims == (dim,)), "")


def _where(found: Sweep, dim: str, place: int) -> str:
    """A place on an axis, such as "l = 2 m"."""
    value = found.axis(dim)[place : place + 1]
    if value.dtype.kind == "U":
        return f"{dim} = {value[0]}"
    value, unit = _shown(value, _unit(found, dim))
    return f"{dim} = {value[0]:.6g} {unit}".rstrip()


def _edges(values: Array) -> Array:
    """Edges of cells around values; halfway between neighbours."""
    if values.size == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[1.5 * values[0] - 0.5 * values[1]], middle, [1.5 * values[-1] - 0.5 * values[-2]]])


def _ticks(found: Sweep, dim: str) -> tuple[Array, list[str] | None]:
    axis = found.axis(dim)
    if axis.dtype.kind == "U":
        return np.arange(axis.size, dtype=float), axis.tolist()
    return _shown(axis, found.unit(dim) if dim not in (DRAW, CASE) else "")[0], None


def _draw_map(figure: Figure, ax: Axes, found: Sweep, name: str, values: Array, dims: tuple[str, ...]) -> None:
    values = values.T  # the first axis to the right
    (x, x_words), (y, y_words) = _ticks(found, dims[0]), _ticks(found, dims[1])
    ax.set_facecolor(UNKNOWN)
    if values.dtype.kind == "U" or name in TRUTHS:
        _draw_regions(ax, x, y, name, values, _absent(found, name))
    else:
        _draw_shades(figure, ax, x, y, _label(found, name), _shown(values, found.unit(name))[0])
        if np.isnan(values).any():
            _legend(ax, [_blank(_absent(found, name))], below=True)
    for words, set_ticks, where in ((x_words, ax.set_xticks, x), (y_words, ax.set_yticks, y)):
        if words is not None:
            set_ticks(where, labels=words)
    literally(ax.set_xlabel(_label(found, dims[0])))
    literally(ax.set_ylabel(_label(found, dims[1])))


def _blank(text: str) -> Any:
    """The entry of a legend for cells without a value."""
    from matplotlib.patches import Patch

    return Patch(facecolor=UNKNOWN, edgecolor=MUTED, lw=0.5, label=text)


def _legend(ax: Axes, marks: list[Any], *, below: bool = False) -> None:
    """A legend to the right of a map, or below it on the right."""
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    if below:
        where = {"loc": "upper right", "bbox_to_anchor": (1.0, -0.06)}
    for text in ax.legend(handles=marks, frameon=False, fontsize=9, **where).get_texts():
        literally(text)


def _draw_regions(ax: Axes, x: Array, y: Array, name: str, values: Array, absent: str) -> None:
    """Regions, each in its colour, with a legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    if values.dtype.kind != "U":
        names = {1.0: name, 0.0: f"not {name}"}
        values = np.array([names.get(v, "") for v in values.ravel().tolist()]).reshape(values.shape)
        words, colours = [name, f"not {name}"], ["white", FEW[1]]
        words = [word for word in words if (values == word).any()]
        colours = [dict(zip((name, f"not {name}"), colours, strict=True))[word] for word in words]
    else:
        found, counts = np.unique(values[values != ""], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        words = [str(found[k]) for k in order[:MOST_WORDS]]
        colours = list(FEW[: len(words)])
    numbers = np.full(values.shape, np.nan)
    for k, word in enumerate(words):
        numbers[values == word] = k
    if words:
        ax.pcolormesh(
            _edges(x), _edges(y), np.ma.masked_invalid(numbers), cmap=ListedColormap(colours), vmin=-0.5,
            vmax=len(words) - 0.5, rasterized=True,
        )  # fmt: skip
    marks = [Patch(facecolor=c, edgecolor=MUTED, lw=0.5, label=w) for c, w in zip(colours, words, strict=True)]
    if (values == "").any():
        marks.append(_blank(absent))
    _legend(ax, marks)


def _draw_shades(figure: Figure, ax: Axes, x: Array, y: Array, label: str, values: Array) -> None:
    from matplotlib.colors import LogNorm, Normalize

    low, high, logarithmic = shade_limits(values)
    norm = (LogNorm if logarithmic else Normalize)(low, high)
    drawn = np.ma.masked_invalid(np.clip(values, low, None) if logarithmic else values)  # zero has no logarithm
    mesh = ax.pcolormesh(_edges(x), _edges(y), drawn, cmap="viridis", norm=norm, rasterized=True)
    known = values[np.isfinite(values)]
    below, above = int((known < low).sum()), int((known > high).sum())
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    bar = figure.colorbar(mesh, ax=ax, shrink=0.85, extend=ends[below > 0, above > 0])
    told = [f"{n} {word}" for n, word in ((below, "below"), (above, "above")) if n]
    literally(bar.ax.set_ylabel(label + (f"; beyond the scale: {', '.join(told)}" if told else "")))


def shade_limits(values: Array) -> tuple[float, float, bool]:
    """The ends of the shades of a map, and whether they are logarithmic.

    All values lie between them, unless a few extreme ones would stretch the shades: then 0.5 % may lie beyond each end.

    Example:
        >>> shade_limits(np.linspace(1.0, 2.0, 1000))
        (1.0, 2.0, False)
        >>> low, high, logarithmic = shade_limits(np.append(np.linspace(1.0, 2.0, 1000), [1e-9, 1e9]))
        >>> 1.0 <= low < high <= 2.0, logarithmic
        (True, False)
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0, False
    low, high = (float(x) for x in np.quantile(known, [BEYOND, 1.0 - BEYOND]))
    least, most = float(known.min()), float(known.max())
    if low > 0.0 and high / low > WIDE:
        inside, everything = np.log(high / low), np.log(most / least) if least > 0.0 else np.inf
        return (least, most, True) if everything <= FAR * inside else (low, high, True)
    if not high > low or most - least <= FAR * (high - low):
        return least, most, False
    return low, high, False


def _draw_curve(ax: Axes, found: Sweep, name: str, values: Array, dim: str) -> None:
    x, words = _ticks(found, dim)
    if values.dtype.kind == "U":
        order = list(dict.fromkeys(v for v in values.tolist() if v))
        y = np.array([order.index(v) if v else np.nan for v in values.tolist()])
        ax.plot(x, y, "o", color=FEW[0], ms=4)
        ax.set_yticks(range(len(order)), labels=order)
    else:
        y = _shown(values, found.unit(name))[0]
        ax.plot(x, y, "-o" if x.size <= 60 and words is None else "-" if words is None else "o", color=FEW[0], ms=3.5)
        literally(ax.set_ylabel(_label(found, name)))
    if words is not None:
        ax.set_xticks(x, labels=words)
    literally(ax.set_xlabel(_label(found, dim)))


def _draw_distribution(ax: Axes, found: Sweep, name: str, values: Array) -> None:
    if values.dtype.kind == "U":
        words, counts = np.unique(values[values != ""], return_counts=True)
        ax.barh(words, counts, color=FEW[0], alpha=0.8)
        ax.set_xlabel("draws")
        return
    shown = _shown(values, found.unit(name))[0]
    known = shown[np.isfinite(shown)]
    ax.hist(known, bins=min(80, max(10, int(np.sqrt(known.size)))), color=FEW[0], alpha=0.75)
    ax.axvline(float(known.mean()), color=INK, lw=1.2)
    literally(ax.set_xlabel(f"{_label(found, name)} (line: mean {known.mean():.6g})"))
    ax.set_ylabel("draws")
