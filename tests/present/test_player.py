"""The page is small, keeps poses to a quarter of a pixel, loads nothing, and no name can break out of it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from itertools import pairwise

import numpy as np
import pytest

from pendula.present import Point, Scene, SceneBody, SceneError, animation_html, write_animation
from pendula.present.player.shapes import extent
from tests.present.scenes import bob, chain, top

LIMIT = 300_000  # bytes of a page with 100 links and 10 s
QUARTER_PIXEL = 1 / 8000  # of the longest side of the picture: a quarter of a pixel in 2000


CSP = "Content-Security-Policy"


def policy_of(page: str) -> str:
    return re.search(rf'<meta http-equiv="{CSP}" content="([^"]*)">', page)[1]


def record_of(page: str) -> dict:
    return json.loads(re.search(r'<script id="scene" type="application/json">(.*?)</script>', page, re.S)[1])


def turned(record, body, a):
    """Rotation matrix from what is stored: an angle, or a quaternion and a spin about an axis."""
    if record["planar"]:
        c, s = math.cos(a[0]), math.sin(a[0])
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    w, v = a[0], np.array(a[1:4])
    norm = math.sqrt(w * w + v @ v)
    w, v = w / norm, v / norm
    if body["spin"]:
        c, u = math.cos(a[4] / 2), math.sin(a[4] / 2) * np.array(body["axis"])
        w, v = w * c - v @ u, w * u + c * v + np.cross(v, u)
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def decode(record):
    """Poses (position, rotation) of every body and ends of every link at every frame, read byte by byte."""
    data = zlib.decompress(base64.b64decode(record["motion"]))
    n, at, rows = record["frames"], 0, []
    while at < len(data):
        order, at = data[at], at + 1
        row = []
        for _ in range(n):
            value = shift = 0
            while True:
                byte, at = data[at], at + 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            row.append(-(value + 1) // 2 if value % 2 else value // 2)
        for k in range(order, 0, -1):
            for i in range(k, n):
                row[i] += row[i - 1]
        rows.append(row)
    rows.reverse()  # to be taken from the end
    dims, low, step, half = 2 if record["planar"] else 3, record["origin"], record["step"], 0.4937
    bodies = []
    for i, body in enumerate(record["bodies"]):
        turns = [[x * body["turn"] for x in rows.pop()]] if record["planar"] else []
        if not record["planar"]:
            x, y, z, rest = (rows.pop() for _ in range(4))
            w = []
            for k in range(n):
                left = body["turn"] ** -2 - x[k] ** 2 - y[k] ** 2 - z[k] ** 2
                size = math.floor(math.sqrt(max(0, left)) + half)
                w.append(rest[k] + (-size if w and w[-1] < 0 else size))
            turns = [[value * body["turn"] for value in row] for row in (w, x, y, z)]
            if body["spin"]:
                turns.append([value * body["spin"] for value in rows.pop()])
        rotation = np.array([turned(record, body, [row[k] for row in turns]) for k in range(n)])
        grid = np.zeros((n, 3))
        grid[:, :dims] = np.array([rows.pop() for _ in range(dims)]).T
        if body["anchor"] is not None:
            parts = record["hinges"][body["anchor"]]
            (parent, there), here = parts[0], next(point for index, point in parts if index == i)
            held = bodies[parent][0] + bodies[parent][1] @ there - rotation @ here
            grid[:, :dims] += np.floor((held - low) / step + half)[:, :dims]
        position = grid * step
        position[:, :dims] += low[:dims]
        bodies.append((position, rotation))
    ends = [np.array([rows.pop() for _ in range(2 * dims)]).T for _ in record["links"]]
    links = [grid * step + np.tile(low[:dims], 2) for grid in ends]
    assert not rows
    return bodies, links


def worst_error(scene: Scene) -> float:
    """Largest error of any drawn point in any frame, in parts of the longest side of the picture."""
    record = record_of(animation_html(scene))
    assert record["frames"] == scene.t.size
    bodies, links = decode(record)
    size = max(high - low for low, high in zip(record["low"], record["high"], strict=True))
    worst = 0.0
    for body, (position, rotation) in zip(scene.bodies, bodies, strict=True):
        for shape in body.shapes:
            points = extent(shape)[0]
            was = body.position[:, None] + np.einsum("nij,pj->npi", body.rotation, points)
            now = position[:, None] + np.einsum("nij,pj->npi", rotation, points)
            worst = max(worst, float(np.linalg.norm(was - now, axis=-1).max()))
    dims = 2 if scene.planar else 3
    for link, ends in zip(scene.links, links, strict=True):
        was = np.concatenate([link.start[:, :dims], link.end[:, :dims]], axis=1)
        worst = max(worst, float(np.linalg.norm((was - ends).reshape(-1, dims), axis=-1).max()))
    return worst / size


SCENES = [chain(1), chain(30), chain(12, spatial=True), top(samples=300, spin=9.0), bob()]


@pytest.mark.parametrize("scene", SCENES, ids=["pendulum", "chain", "spatial chain", "top", "spring"])
def test_every_drawn_point_is_kept_to_a_quarter_of_a_pixel(scene):
    assert worst_error(scene) < QUARTER_PIXEL


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("samples", [500, 2001])
def test_a_page_of_100_links_stays_small(spatial, samples):
    error = np.random.default_rng(0).uniform(0, 1e-9, samples)
    scene = chain(100, samples=samples, spatial=spatial, series={"energy error": error})
    page = animation_html(scene)
    assert len(page.encode()) < LIMIT
    assert record_of(page)["frames"] <= 600


def test_links_stay_together_when_frames_are_dropped():
    record = record_of(animation_html(chain(10, samples=2001)))
    bodies, _ = decode(record)
    assert record["frames"] < 2001
    for (position, rotation), (following, _) in pairwise(bodies[1:]):
        assert np.abs(position + rotation @ [0, -0.1, 0] - following).max() < 2 * QUARTER_PIXEL


def test_a_fast_top_keeps_its_turns_when_frames_are_dropped():
    scene = top(samples=5000, spin=60.0)  # one turn in 6 frames, more than half a turn between some
    record = record_of(animation_html(scene, max_frames=40))
    body = record["bodies"][1]
    position, rotation = decode(record)[0][1]
    assert abs(body["axis"][2]) == pytest.approx(1.0, abs=1e-3)
    frames = np.linspace(0, scene.t.size - 1, record["frames"])
    was = scene.bodies[1].rotation[np.round(frames).astype(int)]
    # The spin is 60 rad/s and the nearest sample is up to 0.5 ms away.
    assert np.abs(rotation - was).max() < 0.05
    assert np.abs(position).max() < 1e-4


def test_uneven_samples_are_put_on_an_even_grid():
    t = np.linspace(0, 1, 400) ** 2
    position = np.stack([np.sin(4 * t), np.cos(4 * t), 0 * t], axis=1)
    body = SceneBody("a", (Point(),), position, np.tile(np.eye(3), (400, 1, 1)))
    scene = Scene("u", "m-kg-s", True, t, (body,))
    record = record_of(animation_html(scene))
    frames = record["t0"] + record["dt"] * np.arange(record["frames"])
    expected = np.stack([np.sin(4 * frames), np.cos(4 * frames)], axis=1)
    assert np.abs(decode(record)[0][0][0][:, :2] - expected).max() < 2 * QUARTER_PIXEL * 2


def test_a_motion_too_fast_for_its_frames_is_said():
    record = record_of(animation_html(chain(10, samples=2001), max_frames=40))
    assert any("faster than the 40 frames" in note for note in record["notes"])
    assert not record_of(animation_html(chain(10)))["notes"]


def test_turning_that_cannot_be_told_is_said():
    record = record_of(animation_html(top(samples=100, spin=60.0)))
    assert any("sense of rotation" in note and "top" in note for note in record["notes"])


def test_single_samples_and_single_points_are_drawn():
    still = SceneBody("a", (Point(),), np.zeros((1, 3)), np.eye(3)[None])
    record = record_of(animation_html(Scene("s", "", True, np.zeros(1), (still,))))
    assert (record["frames"], record["dt"]) == (1, 0.0)


def test_the_trace_follows_the_free_end_of_the_last_body():
    trace = record_of(animation_html(chain(3)))["trace"]
    assert trace == {"body": 3, "at": [0.0, -1 / 3, 0.0]}


def test_the_page_loads_nothing():
    page = animation_html(chain(3))
    bare = page.replace(record_of(page)["motion"], "").replace(f'http-equiv="{CSP}" content="{policy_of(page)}"', "")
    assert "http" not in bare
    assert not re.search(r"\b(src|@import|eval|import\()\s*=?", bare)


def test_the_policy_permits_the_script_of_the_page_and_no_other():
    page = animation_html(chain(3, title="</script>"))
    given = dict(part.split(" ", 1) for part in policy_of(page).split("; "))
    own = re.search(r'<script type="module">(.*?)</script>', page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert given["script-src"] == f"'sha256-{digest}'"
    assert given["default-src"] == "'none'"
    assert "eval" not in policy_of(page)


NASTY = "</script><script>alert(1)</script><!-- \"'&{{scene}}{{title}}\u2028\ud800\x00"


def test_names_cannot_break_out_of_the_page():
    t = np.linspace(0, 1, 4)
    body = SceneBody(NASTY, (Point(),), np.zeros((4, 3)), np.tile(np.eye(3), (4, 1, 1)))
    scene = Scene(NASTY, NASTY, True, t, (body,), notes=(NASTY,), series={NASTY: t})
    page = animation_html(scene)
    plain = animation_html(Scene("t", "u", True, t, (SceneBody("a", (), body.position, body.rotation),)))
    assert page.count("<script") == plain.count("<script") == 2
    assert page.count("</script") == 2
    assert "<!--" not in page
    assert "alert(1)</script>" not in page
    record = record_of(page)
    shown = (record["title"], record["bodies"][0]["name"], record["notes"][0], record["series"][0]["name"])
    assert set(shown) == {NASTY}
    page.encode("utf-8")


def test_spikes_of_long_signals_are_kept():
    samples = 5000
    error = np.full(samples, 1e-12)
    error[3210] = 1e-3
    record = record_of(animation_html(chain(1, samples=samples, series={"e": error})))
    assert max(record["series"][0]["y"]) == 1e-3
    assert len(record["series"][0]["y"]) <= 602


def test_write_animation_returns_the_file(tmp_path):
    path = write_animation(bob(), tmp_path / "bob.html")
    assert path.read_text(encoding="utf-8") == animation_html(bob())


def test_too_few_frames_are_refused():
    with pytest.raises(SceneError, match="max_frames"):
        animation_html(bob(), max_frames=1)
