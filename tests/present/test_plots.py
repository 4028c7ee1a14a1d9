"""Plots are written, hold something, and survive any number of coordinates and any name."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import UsageError
from pendula.present import RunSeries, plot_run
from pendula.storage.files import write_figure

T = np.linspace(0, 10, 400)


def run(count: int, *, t=T, unit="rad", name="theta{}", **more) -> RunSeries:
    names = [name.format(i + 1) for i in range(count)]
    values = {n: np.cos((1 + 0.1 * i) * t) for i, n in enumerate(names)}
    rates = {n + "'": np.sin((1 + 0.1 * i) * t) for i, n in enumerate(names)}
    error = np.abs(np.sin(t)) * 1e-9 * (t > 0)
    given = {"title": f"{count} links", "subtitle": "kane", "t": t, "coordinates": values, "speeds": rates}
    given |= {"coordinate_units": dict.fromkeys(names, unit), "energy_error": error, "time_unit": "s"}
    given |= {"speed_units": dict.fromkeys(rates, unit + "/s")}
    return RunSeries(**(given | more))


def pixels(path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(path)


@pytest.mark.parametrize("count", [1, 3, 13, 60, 200])
def test_plots_are_written_and_not_blank(tmp_path, count):
    figure = plot_run(run(count), dpi=80)
    write_figure(figure, tmp_path / "run.png")
    image = pixels(tmp_path / "run.png")[:, :, :3]
    height = image.shape[0]
    assert len([ax for ax in figure.axes if ax.get_label() != "<colorbar>"]) == 3
    for third in range(3):
        part = image[height * third // 3 : height * (third + 1) // 3]
        assert (part < 0.9).any(axis=2).mean() > 0.01, f"panel {third} is blank"


def test_angles_are_drawn_in_degrees():
    figure = plot_run(run(1))
    line = figure.axes[0].lines[0]
    assert np.max(line.get_ydata()) == pytest.approx(180 / np.pi)
    assert [ax.get_ylabel() for ax in figure.axes] == ["angle [deg]", "rate [rad/s]", "error"]


def test_lengths_and_angles_have_their_own_panels():
    both = run(2)
    units = {"theta1": "m", "theta2": "rad"}
    mixed = run(2, coordinate_units=units, speed_units={name + "'": unit + "/s" for name, unit in units.items()})
    assert len(plot_run(both).axes) == 3
    labels = [ax.get_ylabel() for ax in plot_run(mixed).axes]
    assert labels == ["length [m]", "angle [deg]", "rate [m/s]", "rate [rad/s]", "error"]


def test_error_axis_is_logarithmic_and_bears_zeros():
    figure = plot_run(run(1, energy_error=np.zeros(T.size), violation=np.zeros(T.size)))
    figure.canvas.draw()
    ax = figure.axes[-1]
    assert ax.get_yscale() == "log"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "energy error / energy scale, at most 0 at the samples drawn",
        "constraint violation, at most 0 at the samples drawn",
    ]


def test_legend_of_errors_lies_inside_its_panel_and_above_the_curves():
    """Errors as they are in runs of linkages: a drift that stays, and a violation of the size of rounding."""
    figure = plot_run(run(1, energy_error=np.full(T.size, 3e-9), violation=np.full(T.size, 1e-15)))
    figure.canvas.draw()
    ax = figure.axes[-1]
    legend, panel = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert panel.x0 <= legend.x0
    assert legend.x1 <= panel.x1
    top = max(ax.transData.transform((0.0, float(line.get_ydata().max())))[1] for line in ax.lines)
    assert top < legend.y0


def test_legend_up_to_twelve_colour_bar_beyond():
    assert len(plot_run(run(12)).axes[0].get_legend().get_texts()) == 12
    assert plot_run(run(13)).axes[0].get_legend() is None


@pytest.mark.parametrize("count", [2, 20])
def test_names_are_never_read_as_formulas(tmp_path, count):
    figure = plot_run(run(count, name="_$\\frac{{{}", title="$x_", subtitle="$\\y$"))
    write_figure(figure, tmp_path / "a.png")
    if count == 2:
        assert figure.axes[0].get_legend().get_texts()[0].get_text() == "_$\\frac{1"


def test_long_runs_keep_their_peaks():
    t = np.linspace(0, 1, 50_001)
    signal = np.zeros(t.size)
    signal[31_234] = 5.0
    series = run(1, t=t, coordinates={"x": signal}, coordinate_units={"x": "m"})
    line = plot_run(series).axes[0].lines[0]
    assert np.max(line.get_ydata()) == 5.0
    assert len(line.get_ydata()) < 5000


def test_one_sample_is_drawn():
    plot_run(run(1, t=np.array([0.0])))


def test_pyplot_is_not_touched():
    before = "matplotlib.pyplot" in sys.modules
    plot_run(run(1))
    assert ("matplotlib.pyplot" in sys.modules) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"energy_error": np.full(T.size, np.nan)}, "energy_error is not finite"),
        ({"energy_error": np.zeros(3)}, r"energy_error must have shape \(400,\)"),
        ({"coordinates": {"q": T}}, 'coordinates "q" has no unit'),
        ({"speeds": {"theta1'": "fast"}}, "must be an array of numbers"),
        ({"t": np.zeros(0)}, "no samples"),
    ],
)
def test_bad_runs_are_refused(change, message):
    with pytest.raises(UsageError, match=message):
        run(1, **change)


def test_torques_that_are_rounding_get_no_panel():
    """All joints of a four-bar are pins: what is left of their torques is rounding. The hinge of a hoop holds a torque."""
    import pendula

    def panels(model):
        system = pendula.compile_system(model, "newton-euler")
        figure = pendula.plot(pendula.reactions(pendula.simulate(system, 0.5, samples=20)))
        return {ax.get_ylabel(): max(max(line.get_ydata()) for line in ax.get_lines()) for ax in figure.axes}

    pins = panels(pendula.library.four_bar())
    assert list(pins) == ["|force| [N]"]
    assert pins["|force| [N]"] > 1
    hoop = panels(pendula.library.hoop_bead())
    assert hoop["|torque| [N m]"] > 0.1


DRIVEN = {"at": {"theta1": np.pi}, "tol": 1e-9}


def shaken():
    return library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pendula.chaos.lyapunov("pendulum", 5.0, segments=20),
        lambda: pendula.sensitivities(pendula.simulate("pendulum", 1.0, samples=10), ["l"]),
        lambda: pendula.driven.floquet(shaken(), **DRIVEN),
        lambda: pendula.driven.floquet_over(shaken(), "omega", 90, 100, samples=2, **DRIVEN),
        lambda: pendula.linear.stability_chart("hoop-bead", ("Omega", 2, 4), ("g", 5, 15), at={"theta": 0}, samples=3),
        lambda: pendula.linear.stability_over("hoop-bead", "Omega", 2.0, 4.0, at={"theta": 0}, samples=5),
    ],
    ids=["lyapunov", "sensitivities", "floquet", "floquet-over", "chart", "ranges"],
)
def test_titles_name_the_mechanism(make):
    found = make()
    name = getattr(found, "mechanism", "") or found.system.model.name
    assert pendula.plot(found).get_suptitle().startswith(f"{name}: ")


@pytest.mark.parametrize("ask", ["pendula.plot(run)", "pendula.plot(pendula.modes('pendulum', {'theta': 0}))"])
def test_a_backend_that_matplotlib_does_not_know_is_named(ask):
    code = "import pendula\nrun = pendula.simulate('pendulum', 0.1)\n"
    code += f"try:\n    {ask}\nexcept Exception as error:\n    print(type(error).__name__, error)"
    environment = {**os.environ, "MPLBACKEND": "nonsense"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("UsageError")
    assert 'MPLBACKEND is "nonsense", which is not a backend of Matplotlib' in done.stdout
