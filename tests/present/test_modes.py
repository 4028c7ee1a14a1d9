"""Pictures of modes and of the response over frequency, and the page that plays a mode."""

import json
import re

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.analysis.modes.harmonic import harmonic_response
from pendula.analysis.modes.modes import modes
from pendula.analysis.modes.motion import mode_motion
from pendula.errors import UsageError
from pendula.present.pictures.modes import animate_mode, mode_scene, plot_modes, plot_response
from tests.analysis.linear_models import from_matrices, linear_model
from tests.analysis.test_modes import double, four_bar_at_rest, sliding_bar


def page_record(path):
    """The scene inside the page."""
    text = path.read_text(encoding="utf-8")
    return text, json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])


def test_page_plays_one_period_slowly_and_says_so(tmp_path):
    system = double()
    found = modes(linear_model(system))
    path = animate_mode(found, 2, tmp_path / "mode.html", amplitude=0.2)
    text, record = page_record(path)
    assert record["title"] == "double pendulum: mode 2"
    assert any("times slower" in note for note in record["notes"])
    assert any("94.9784 rad/s" in note for note in record["notes"])
    assert record["frames"] >= 49
    assert record["dt"] * (record["frames"] - 1) == pytest.approx(2.0)
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert len(text) < 5_000_000


def test_scene_of_a_mode_shows_the_poses_of_its_frames():
    system = double()
    found = modes(linear_model(system))
    motion = mode_motion(found, 1, amplitude=0.2)
    scene = mode_scene(motion)
    upper = next(b for b in scene.bodies if b.name == "upper")
    angle = np.arctan2(upper.rotation[:, 1, 0], upper.rotation[:, 0, 0])
    ratio = found[1].scaled[0] / found[1].scaled[1]
    expected = 0.2 * ratio * np.cos(2 * np.pi * motion.t / found[1].period)
    assert angle == pytest.approx(expected, abs=1e-12)


def test_page_of_a_closed_loop_is_written(tmp_path):
    system = pendula.compile_system(library.four_bar())
    found = modes(linear_model(system, four_bar_at_rest(system)))
    _, record = page_record(animate_mode(found, 1, tmp_path / "loop.html"))
    assert {b["name"] for b in record["bodies"]} >= {"crank", "coupler", "rocker"}


def test_plot_of_shapes_draws_the_shapes():
    found = modes(linear_model(double()))
    figure = pendula.plot(found, stems=True)
    assert len(figure.axes) == 2
    dots = figure.axes[1].get_lines()[0].get_ydata()
    assert list(dots) == pytest.approx(found[2].scaled)
    assert "94.978 rad/s" in figure.axes[1].get_title(loc="left")
    with pytest.raises(UsageError, match="numbered from 1 to 2"):
        plot_modes(found, numbers=[5])


def test_plot_of_shapes_deflects_the_mechanism_over_its_rest():
    """Two equal bars of 2 ft: the tip of a mode lies a fifth of the whole length beside the ghost's."""
    figure = pendula.plot(modes(linear_model(double())))
    assert figure.get_suptitle() == "double pendulum: mode shapes"
    for ax in figure.axes:
        lines = [np.array(line.get_xydata()) for line in ax.get_lines()]
        rods = [line for line in lines if len(line) == 2]
        ghost, drawn = rods[:2], rods[2:]
        assert np.allclose(ghost[1][1], [0, -4], atol=1e-9)
        assert np.allclose(np.linalg.norm(np.diff(drawn[1], axis=0)), 2.0)
        across = max(abs(rod[:, 0]).max() for rod in drawn)
        assert 0.5 * 0.8 < across < 1.05 * 0.8


def test_plot_of_complex_shapes_and_of_many_coordinates(tmp_path):
    turning = modes(from_matrices(np.eye(2), [[0, -1.0], [1.0, 0]], 4 * np.eye(2)))
    assert len(plot_modes(turning).axes) == 2
    chain = modes(linear_model(pendula.compile_system(library.chain(links=20))))
    assert len(pendula.plot(chain, tmp_path / "shapes.png", numbers=[1, 2, 3]).axes) == 3
    assert (tmp_path / "shapes.png").stat().st_size > 10_000


def test_plot_of_a_response_has_panels_by_unit_and_marks_resonances(tmp_path):
    linear = linear_model(pendula.compile_system(sliding_bar()))
    found = harmonic_response(linear, "F", np.linspace(1.0, 40.0, 50))
    figure = pendula.plot(found, tmp_path / "response.png")
    assert [ax.get_ylabel() for ax in figure.axes] == ["amplitude [ft]", "amplitude [rad]", "phase [deg]"]
    marks = sorted({float(line.get_xdata()[0]) for line in figure.axes[0].get_lines()[1:]})
    assert marks == pytest.approx(modes(linear).frequencies)
    drawn = figure.axes[0].get_lines()[0].get_ydata()
    assert drawn == pytest.approx(found.amplitudes[:, 0])


def test_plot_of_an_infinite_response_leaves_it_out():
    linear = linear_model(pendula.compile_system(sliding_bar()))
    found = harmonic_response(linear, "F", [1.0, modes(linear).frequencies[0], 10.0])
    drawn = plot_response(found).axes[0].get_lines()[0].get_ydata()
    assert list(np.isfinite(drawn)) == [True, False, True]
