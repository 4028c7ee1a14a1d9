"""The pictures of the page, from the figures alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

OURS, THEIRS, GREY = "#0b6e4f", "#c8553d", "#8d99ae"
COLORS = {
    "pendula": OURS,
    "Pinocchio": "#c8553d",
    "MuJoCo": "#3a5a98",
    "heyoka": "#c8553d",
    "SciPy": "#3a5a98",
    "diffrax": "#b08900",
    "CasADi": "#7b5ea7",
}
Figures = dict[str, Any]
Results = dict[str, dict[str, Any]]


@contextmanager
def _picture(path: Path, size: tuple[float, float], panels: int = 1) -> Iterator[list[Axes]]:
    """Axes to draw on; the file is the same for the same figures."""
    settings = {"svg.hashsalt": "pendula", "svg.fonttype": "none", "font.size": 10, "axes.spines.top": False}
    with matplotlib.rc_context({**settings, "axes.spines.right": False, "legend.frameon": False}):
        figure = Figure(figsize=size, layout="constrained")
        yield list(figure.subplots(1, panels, squeeze=False)[0])
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")


def _color(who: str) -> str:
    return next((color for start, color in COLORS.items() if who.startswith(start)), GREY)


def _line(axes: Axes, who: str, x: list[float], y: list[float], seen: dict[str, int]) -> None:
    """One curve: a color for everyone, a style for each of their variants."""
    k = seen.setdefault(_color(who), 0)
    seen[_color(who)] += 1
    style, marker = ("-", "--", ":", "-.")[k % 4], "os^d"[k % 4]
    axes.loglog(
        x, y, style, marker=marker, color=_color(who), label=who, lw=2 if who.startswith("pendula") else 1.3, ms=5
    )


def overview(results: Results, path: Path) -> bool:
    """Every goal that compares with someone else: how many times faster we are, and what we wanted."""
    goals = [g for content in results.values() for g in content["figures"].get("goals", [])]
    shown = [g for g in goals if g["found"] and g["kind"] == "at least" and g.get("unit") == "times"][::-1]
    if not shown:
        return False
    with _picture(path, (8.5, 0.8 + 0.3 * len(shown))) as (axes,):
        for k, goal in enumerate(shown):
            axes.barh(k, goal["found"] - 1, left=1, color=OURS if goal["found"] >= 1 else THEIRS, height=0.6)
            axes.plot([goal["wanted"]] * 2, [k - 0.42, k + 0.42], color="black", lw=2)
            axes.annotate(f" {goal['found']:.3g}", (max(goal["found"], 1), k), va="center", fontsize=9)
        axes.set_yticks(range(len(shown)), [g["what"] for g in shown])
        axes.set_xscale("log")
        axes.axvline(1, color=GREY, lw=1)
        axes.set_xlabel("times faster (black: the goal; left of 1: slower)")
        axes.margins(x=0.12)
    return True


def forward(figures: Figures, path: Path) -> bool:
    """Time of one evaluation against the number of links."""
    parts = [name for name in ("planar", "spatial") if any(figures.get(name, {}).values())]
    if not parts:
        return False
    with _picture(path, (4.6 * len(parts), 3.8), len(parts)) as panels:
        for axes, part in zip(panels, parts, strict=True):
            seen: dict[str, int] = {}
            for who, times in figures[part].items():
                if times:
                    _line(axes, who, [int(n) for n in times], [1e6 * t["cpu_s"] for t in times.values()], seen)
            axes.set_title(f"{part} chain", fontsize=10)
            axes.set_xlabel("links")
            axes.legend(fontsize=8)
        panels[0].set_ylabel("one evaluation, µs")
    return True


def work_precision(figures: Figures, path: Path) -> bool:
    """Time of a run against its energy error."""
    parts = [n for n in (10, 100) if figures.get(f"links_{n}")]
    if not parts:
        return False
    with _picture(path, (4.6 * len(parts), 3.8), len(parts)) as panels:
        for axes, n in zip(panels, parts, strict=True):
            seen: dict[str, int] = {}
            for who, curve in figures[f"links_{n}"].items():
                good = [p for p in curve if p["error"] and p["error"] < 1.0]
                if good:
                    _line(axes, who, [p["error"] for p in good], [1e3 * p["seconds"] for p in good], seen)
            axes.set_title(f"{n} links, 10 s from 90 degrees", fontsize=10)
            axes.set_xlabel("energy error, J (left: more exact)")
            axes.legend(fontsize=8)
        panels[0].set_ylabel("one run, ms (lower: faster)")
    return True


def ensemble(figures: Figures, path: Path) -> bool:
    """Time of a trajectory against the median energy error."""
    curves = figures.get("curves") or {}
    if not any(curves.values()):
        return False
    with _picture(path, (5.4, 3.8)) as (axes,):
        seen: dict[str, int] = {}
        for who, curve in curves.items():
            good = [p for p in curve if p["error"]]
            _line(axes, who, [p["error"] for p in good], [1e6 * p["seconds"] for p in good], seen)
        if figures.get("common_error"):
            axes.axvline(figures["common_error"], color=GREY, lw=1, ls=":")
        axes.set_xlabel("median energy error, J (left: more exact)")
        axes.set_ylabel("one trajectory, µs (lower: faster)")
        axes.legend(fontsize=8)
    return True


def memory(figures: Figures, path: Path) -> bool:
    """Peak memory against the number of links."""
    curves = {}
    for who, sizes in figures.items():
        if isinstance(sizes, dict) and who.startswith(("pendula", "Pinocchio", "MuJoCo")):
            good = {int(n): x["bytes"] / 2**20 for n, x in sizes.items() if x.get("bytes")}
            curves |= {who: good} if good else {}
    if not curves:
        return False
    with _picture(path, (5.4, 3.8)) as (axes,):
        seen: dict[str, int] = {}
        for who, good in curves.items():
            _line(axes, who, list(good), list(good.values()), seen)
        axes.set_xlabel("links")
        axes.set_ylabel("memory, MiB")
        axes.legend(fontsize=8)
    return True


SUBJECTS: dict[str, Callable[[Figures, Path], bool]] = {
    "forward": forward,
    "work_precision": work_precision,
    "ensemble": ensemble,
    "memory": memory,
}
