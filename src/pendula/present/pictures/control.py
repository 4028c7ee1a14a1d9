"""Pictures of control: Bode diagrams, step responses, root loci, poles with and without feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.control.estimators import Estimator
from pendula.analysis.control.gains import Gain
from pendula.analysis.control.margins import Margins
from pendula.analysis.control.reach import LOST, WEAK, Reach
from pendula.analysis.control.responses import Bode, RootLocus, StepResponse
from pendula.analysis.control.space import StateSpace
from pendula.present.pictures.planes import shade_unstable
from pendula.present.pictures.plots import (
    FEW,
    MUTED,
    dress,
    headline,
    line_colors,
    literally,
    name_lines,
    sheet,
    titled,
)
from pendula.present.words.tables import number_pair
from pendula.present.words.units import in_degrees, labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 12


def _mechanism(space: StateSpace) -> Any:
    return None if space.linear is None else space.linear.system


def plot_bode(found: Bode) -> Figure:
    """Figure of a frequency response: magnitudes in decibel and phases in degrees, over rad/s with Hz on top.

    Example:
        >>> import pendula
        >>> figure = plot_bode(pendula.linearize("cart-pole", {"theta": 0}).bode("x"))
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['magnitude [dB]', 'phase [deg]']
    """
    figure, axes = sheet(2)
    pairs = list(found.pairs())[:MOST_LINES]
    unit = found.space.time_unit
    for (of, by), color in zip(pairs, line_colors(len(pairs)), strict=True):
        size = found.magnitude_db(of, by)
        axes[0].plot(found.omega, np.where(np.isfinite(size), size, np.nan), color=color, lw=1.3)
        axes[1].plot(found.omega, found.phase(of, by), color=color, lw=1.3)
    for ax in axes:
        ax.set_xscale("log")
        ax.set_xlim(found.omega[0], found.omega[-1])
        dress(ax)
    literally(axes[0].set_ylabel("magnitude [dB]"))
    literally(axes[1].set_ylabel("phase [deg]"))
    low, high = axes[1].get_ylim()
    low, high = min(low, (low + high) / 2 - 60), max(high, (low + high) / 2 + 60)
    axes[1].set_ylim(low, high)
    axes[1].set_yticks(np.arange(90 * np.floor(low / 90), high + 1, 90 if high - low < 720 else 180))
    literally(axes[1].set_xlabel(f"angular frequency [rad/{unit}]"))
    top = axes[0].secondary_xaxis("top", functions=(_to_hertz, _from_hertz))
    literally(top.set_xlabel(f"frequency [{'Hz' if unit == 's' else f'1/{unit}'}]", fontsize=9, color=MUTED))
    top.tick_params(labelsize=8, colors=MUTED)
    name_lines(axes[0], [f"{of} per {by}" for of, by in pairs])
    headline(figure, titled(_mechanism(found.space), "frequency response"))
    return figure


def plot_margins(found: Margins) -> Figure:
    """Figure of a loop over frequency, with bars from 0 dB at phase crossings and from -180 deg at gain crossings.

    Example:
        >>> import pendula
        >>> gain = pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1, "theta": 10}, 0.1)
        >>> figure = plot_margins(gain.margins())
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['magnitude [dB]', 'phase [deg]']
    """
    bode = found.bode()
    figure = plot_bode(bode)
    size, phase = figure.axes[:2]
    (pair,) = bode.pairs()
    size.axhline(0.0, color=MUTED, lw=0.8)
    values = bode.phase(*pair)
    for turn in np.arange(np.ceil((values.min() - 180) / 360 - 1e-9), np.floor((values.max() - 180) / 360 + 1e-9) + 1):
        phase.axhline(360 * turn + 180, color=MUTED, lw=0.8)
    unit = found.loop.time_unit
    for omega, factor in zip(found.phase_crossings, found.critical_gains, strict=True):
        if bode.omega[0] <= omega <= bode.omega[-1]:
            size.plot([omega, omega], [0.0, -20 * np.log10(factor)], color=FEW[1], lw=2.0, marker="o", ms=4)
            _note(size, omega, -20 * np.log10(factor), f"gain × {factor:.3g} at {omega:.3g} rad/{unit}")
    for omega, lag in zip(found.gain_crossings, found.lags, strict=True):
        margin = lag if lag <= 180 else lag - 360
        here = float(np.interp(np.log(omega), np.log(bode.omega), values))
        phase.plot([omega, omega], [here - margin, here], color=FEW[1], lw=2.0, marker="o", ms=4)
        _note(phase, omega, here, f"{margin:+.3g}° at {omega:.3g} rad/{unit}")
    text = "loop with its margins" if found.stable else "loop; closed, it does not decay: no margins"
    headline(figure, titled(_mechanism(found.loop), text))
    return figure


def _note(ax: Axes, omega: float, value: float, text: str) -> None:
    low, high = ax.get_xlim()
    right = np.log(omega / low) > 0.6 * np.log(high / low)
    ax.annotate(
        text, (omega, value), xytext=(-6 if right else 6, 4), textcoords="offset points", fontsize=8.5,
        ha="right" if right else "left", color="#1d2430",
    )  # fmt: skip


def _to_hertz(omega: Any) -> Any:
    return omega / (2 * np.pi)


def _from_hertz(hertz: Any) -> Any:
    return hertz * 2 * np.pi


def plot_step(found: StepResponse) -> Figure:
    """Figure of step responses over time: a panel for each unit; held values as steps in discrete time.

    Example:
        >>> import pendula
        >>> len(plot_step(pendula.linearize("cart-pole", {"theta": 0}).step(duration=2.0)).axes)  # x, theta
        2
    """
    space = found.space
    kinds = list(dict.fromkeys(space.units.get(name, "") for name in space.outputs))
    figure, axes = sheet(len(kinds))
    for ax, unit in zip(axes, kinds, strict=True):
        pairs = [(of, by) for of, by in found.pairs() if space.units.get(of, "") == unit][:MOST_LINES]
        for pair, color in zip(pairs, line_colors(len(pairs)), strict=True):
            how = "steps-post" if space.dt is not None else "default"
            ax.plot(found.t, in_degrees(found[pair], unit)[0], color=color, lw=1.3, drawstyle=how)
        ax.axhline(0.0, color=MUTED, lw=0.7)
        literally(ax.set_ylabel(labelled("change", in_degrees(0.0, unit)[1])))
        name_lines(ax, [f"{of} by {by}" for of, by in pairs])
        dress(ax)
    axes[-1].set_xlim(0.0, float(found.t[-1]))
    literally(axes[-1].set_xlabel(f"time after a unit step [{space.time_unit}]"))
    headline(figure, titled(_mechanism(space), "step response"))
    return figure


def plot_locus(found: RootLocus) -> Figure:
    """Figure of a root locus: a line for each pole, crosses without feedback, circles at zeros.

    Example:
        >>> import pendula
        >>> figure = plot_locus(pendula.linearize("cart-pole", {"theta": 0}).root_locus("x"))
        >>> len(figure.axes)
        1
    """
    figure, (ax,) = sheet(1)
    figure.set_size_inches(7.0, 6.0)
    size = max(float(np.abs(found.poles[0]).max()), 1e-12)
    limit = 3.0 * max(size, float(np.abs(found.zeros).max(initial=0.0)))
    for k, color in zip(range(found.poles.shape[1]), line_colors(found.poles.shape[1]), strict=True):
        line = np.where(np.abs(found.poles[:, k]) < 2 * limit, found.poles[:, k], np.nan)
        ax.plot(line.real, line.imag, color=color, lw=1.4)
    if found.gains[0] == 0:
        ax.plot(found.poles[0].real, found.poles[0].imag, "x", color="#1d2430", ms=8, ls="", label="poles, k = 0")
    if found.zeros.size:
        ax.plot(found.zeros.real, found.zeros.imag, "o", mfc="none", color="#1d2430", ms=8, ls="", label="zeros")
    _frame(ax, found.space, limit)
    dress(ax)
    ax.legend(loc="best", frameon=False, fontsize=8.5)
    text = f"root locus of {found.space.inputs[0]} = -k*{found.space.outputs[0]}, k to {found.gains[-1]:.3g}"
    headline(figure, titled(_mechanism(found.space), text))
    return figure


def _frame(ax: Axes, space: StateSpace, limit: float) -> None:
    """Limits and names of the axes of a complex plane: the unit circle of a sampled system, else the unstable half."""
    unit = f"1/{space.time_unit}" if space.dt is None else ""
    literally(ax.set_xlabel(labelled("real part", unit)))
    literally(ax.set_ylabel(labelled("imaginary part", unit)))
    if space.dt is not None:
        angle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(angle), np.sin(angle), color=MUTED, lw=0.9)
        ax.set_aspect("equal")
        limit = 1.3
    ax.set_xlim(-limit, limit)
    ax.set_ylim(-limit, limit)
    if space.dt is None:
        shade_unstable(ax)


def plot_gain(found: Gain) -> Figure:
    """Figure of the poles without and with feedback.

    Example:
        >>> import pendula
        >>> gain = pendula.linearize("cart-pole", {"theta": 0}).lqr(1.0)
        >>> len(plot_gain(gain).axes)
        1
    """
    return _two_sets(found.space, found.poles, "with feedback", "poles of the closed loop")


def plot_estimator(found: Estimator) -> Figure:
    """Figure of the poles of the mechanism and of the error of the estimate."""
    return _two_sets(found.space, found.poles, "error of the estimate", "poles of the Kalman filter")


def _two_sets(space: StateSpace, poles: Any, label: str, title: str) -> Figure:
    figure, (ax,) = sheet(1)
    figure.set_size_inches(7.0, 6.0)
    before = space.poles
    ax.plot(before.real, before.imag, "x", color=FEW[1], ms=8, ls="", label="mechanism alone")
    ax.plot(poles.real, poles.imag, "o", color=FEW[0], ms=7, ls="", label=label)
    _frame(ax, space, 1.25 * max(float(np.abs(before).max()), float(np.abs(poles).max()), 1e-12))
    dress(ax)
    ax.legend(loc="best", frameon=False, fontsize=8.5)
    headline(figure, titled(_mechanism(space), title))
    return figure


def plot_reach(found: Reach) -> Figure:
    """Figure of the margins of controllability or observability, eigenvalue by eigenvalue.

    Example:
        >>> import pendula
        >>> len(plot_reach(pendula.linearize("cart-pole", {"theta": 0}).controllability()).axes)
        1
    """
    figure, (ax,) = sheet(1)
    figure.set_size_inches(8.0, 1.6 + 0.4 * len(found.margins))
    sizes = np.maximum(found.margins, 1e-17)
    at = np.arange(len(sizes))[::-1]
    colors = [FEW[1] if x < LOST else FEW[5] if x < WEAK else FEW[2] for x in sizes]
    ax.barh(at, sizes, color=colors, height=0.6)
    ax.set_xscale("log")
    ax.set_xlim(1e-17, 1.0)
    ax.axvline(LOST, color=MUTED, lw=0.9, ls="--")
    ax.set_yticks(at, labels=[number_pair(complex(s), 4) for s in found.eigenvalues])
    literally(ax.set_ylabel(f"eigenvalue [1/{found.time_unit}]"))
    literally(ax.set_xlabel("least singular value of the test, relative (dashed: lost below)"))
    dress(ax)
    headline(figure, f"{found.verdict} by {', '.join(found.by)}")
    return figure
