"""Films for slides: as many frames as the time takes, with the mechanism where it is; or a clear refusal."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported, UsageError
from pendula.present.player import film

pillow = pytest.importorskip("PIL.Image", reason="no Pillow found")
HAS_FFMPEG = importlib.util.find_spec("imageio_ffmpeg") is not None
BLUE = np.array([65, 77, 196])  # near the colour of the only body


def test_frames_of_a_gif_show_the_motion(tmp_path):
    """The middle of the drawn rod moves as the middle of the rod: one scale and one origin for all frames."""
    run = pendula.simulate("pendulum", 1.0, samples=101)
    path = pendula.animate(run, tmp_path / "swing.gif", speed=0.5, trace="none")
    picture = pillow.open(path)
    assert picture.n_frames == 51  # 2 s at 25 frames per second
    assert picture.info["duration"] == 40
    drawn, true = [], []
    for k in range(0, 51, 5):
        picture.seek(k)
        pixels = np.array(picture.convert("RGB"), dtype=float)
        y, x = np.nonzero(np.abs(pixels - BLUE).max(axis=-1) < 40)
        drawn.append([x.mean(), -y.mean()])
        theta = run["theta"][2 * k]
        true.append([0.5 * np.sin(theta), -0.5 * np.cos(theta)])  # both ends are round, so the middle is the middle
    drawn, true = np.array(drawn), np.array(true)
    length = float(run.system.model.parameter_values["l"])
    true *= length
    scale = np.ptp(drawn[:, 0]) / np.ptp(true[:, 0])
    moved = drawn - drawn[0] - scale * (true - true[0])
    assert scale > 50
    assert np.abs(moved).max() < 1.5  # pixels


@pytest.mark.skipif(not HAS_FFMPEG, reason="no imageio-ffmpeg found")
def test_an_mp4_is_written(tmp_path):
    run = pendula.simulate("pendulum", 0.2, samples=20)
    path = pendula.animate(run, tmp_path / "swing.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(film, "import_module", missing)
    run = pendula.simulate("pendulum", 0.2, samples=20)
    with pytest.raises(NotSupported, match=r"films need pillow(.|\n)*pendula\[video\]"):
        pendula.animate(run, tmp_path / "swing.gif")
    assert not list(tmp_path.iterdir())


def test_a_film_without_end_is_refused(tmp_path):
    run = pendula.simulate("pendulum", 1.0, samples=20)
    with pytest.raises(NotSupported, match="more than 3000"):
        pendula.animate(run, tmp_path / "slow.gif", speed=0.001)
    with pytest.raises(UsageError, match="speed must be a positive number"):
        pendula.animate(run, tmp_path / "still.gif", speed=0.0)
