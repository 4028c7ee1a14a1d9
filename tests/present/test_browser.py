"""The page runs in a real browser, from a file, and shows the poses it was given."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

from pendula.present import write_animation
from tests.present.scenes import bob, chain, top

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
    "--dump-dom",
]
SIGNALS = {"energy error": np.geomspace(1e-12, 1e-9, 500), "angle": np.linspace(-1, 1, 500)}

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no Chromium found")]


def open_page(path, time):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [BROWSER, *FLAGS, f"--user-data-dir={profile}", f"{path.as_uri()}#t={time}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    body = re.search(r"<body[^>]*>", done.stdout)[0]
    marks = re.findall(r'data-(\w+)="([^"]*)"', body)
    return done.stdout, {key: html.unescape(value) for key, value in marks}


@pytest.mark.parametrize(
    ("scene", "frame"),
    [
        (chain(10, series=SIGNALS), 123),
        (chain(8, spatial=True, title="</script><b>chain</b>"), 200),
        (top(samples=300, spin=9.0), 77),
        (bob(), 30),
    ],
    ids=["planar", "spatial", "top", "spring"],
)
def test_the_page_runs_and_shows_the_given_pose(tmp_path, scene, frame):
    page = write_animation(scene, tmp_path / "page.html")
    text, data = open_page(page, float(scene.t[frame]))
    assert "error" not in data, data
    assert data["ready"] == "true"
    assert 'id="error" role="alert" hidden=""' in text
    assert html.escape(scene.title, quote=False) in re.search(r"<h1[^>]*>(.*?)</h1>", text)[1]
    # The traced point as the browser decodes it, against the pose given.
    body = scene.bodies[-1]
    end_of_link = [0.0, -1 / (len(scene.bodies) - 1), 0.0]
    at = {"top": [0.07, 0.0, 0.09], "ball": [0.0, 0.0, 0.0]}.get(body.name, end_of_link)
    given = body.position[frame] + body.rotation[frame] @ at
    shown = np.array([float(x) for x in data["tip"].split()])
    assert np.linalg.norm(shown - given) < 2.5 / 8000
