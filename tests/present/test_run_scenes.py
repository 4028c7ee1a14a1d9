"""Scenes of runs: signals, the traced point, supports that stay, pins on moving bodies, and the page that shows them."""

from __future__ import annotations

import base64
import json
import re
import time
import zlib
from functools import cache

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import UsageError
from pendula.present.live.content import live_content
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.present.player.packing import pack
from pendula.present.player.page import animation_html
from pendula.present.player.shapes import Pivot
from pendula.present.player.springs import spiral
from tests.present.browser import BROWSER, Browser


@cache
def run_of(name, duration=2.0):
    return pendula.simulate(name, duration, samples=120)


# --- the traced point -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "body", "part"),
    [
        ("chain", "link10", 1.0),
        ("double-pendulum", "lower", 1.0),
        ("cart-pole", "pole", 1.0),
        ("slider-crank", "rod", 0.5),
        ("four-bar", "coupler", 0.5),
    ],
)
def test_the_path_shown_first_is_that_of_a_free_end_or_of_a_coupler(name, body, part):
    scene = scene_of(run_of(name))
    (index, at), bodies = pack(scene).trace, scene.bodies
    (rod,) = (shape for shape in bodies[index].shapes if shape.kind == "rod")
    assert bodies[index].name == body
    assert np.allclose(at, np.add(rod.start, part * np.subtract(rod.end, rod.start)), atol=1e-12)


def test_a_point_can_be_named_or_none_be_traced():
    run = run_of("double-pendulum")
    assert scene_of(run, trace="upper.tip").trace == ("upper", (0.0, -2.0, 0.0))
    assert scene_of(run, trace="lower").trace == ("lower", (0.0, -2.0, 0.0))
    assert pack(scene_of(run, trace="none")).trace is None
    with pytest.raises(UsageError, match='no body "elbow"; available: upper, lower'):
        scene_of(run, trace="elbow.tip")
    with pytest.raises(UsageError, match='"upper" has no point "knob"; available: origin, com'):
        scene_of(run, trace="upper.knob")


# --- supports and pins ------------------------------------------------------------------------------------


def sides(scene):
    return [shape.side for body in scene.bodies if body.is_ground for shape in body.shapes if isinstance(shape, Pivot)]


@pytest.mark.parametrize(
    ("name", "side"), [("four-bar", "below"), ("double-pendulum", "above"), ("heavy-top", "below")]
)
def test_supports_look_the_same_in_every_pose_of_a_mechanism(name, side):
    run = run_of(name)
    scenes = [scene_of(Pose(run.system, run.q[k : k + 1], run.parameters)) for k in (0, 40, 80, 119)]
    for scene in (scene_of(run), *scenes):
        assert set(sides(scene)) == {side}
        assert len(sides(scene)) == len(sides(scenes[0]))


CART = {
    "name": "cart with a mast",
    "gravity": [0, -9.81, 0],
    "bodies": [
        {"name": "cart", "box": {"mass": 1.0, "size": [0.6, 0.2, 0.2]}},
        {"name": "pole", "rod": {"mass": 0.2, "length": 0.5}},
    ],
    "joints": [
        {"name": "x", "type": "prismatic", "parent": "ground", "child": "cart", "axis": [1, 0, 0]},
        {
            "name": "theta",
            "type": "revolute",
            "parent": {"body": "cart", "position": [0.2, 0.1, 0]},
            "child": {"body": "pole", "at": "top"},
        },
    ],
}


def test_a_pin_on_a_cart_is_drawn_where_it_is():
    run = pendula.simulate(pendula.Model(**CART), 0.5, samples=20)
    cart = next(body for body in scene_of(run).bodies if body.name == "cart")
    assert [shape.at for shape in cart.shapes if isinstance(shape, Pivot)] == [(0.2, 0.1, 0.0)]


@pytest.mark.parametrize(("kind", "pins"), [("revolute", 1), ("spherical", 1), ("prismatic", 0), ("fixed", 0)])
def test_pins_of_closing_joints_follow_from_their_rows(kind, pins):
    from pendula.model.joints import JointLoop
    from pendula.present.pictures.scenery.scenes import _is_pin

    joint = JointLoop(name="close", kind=kind, parent="a", child="b")
    assert _is_pin(joint) == bool(pins)


def test_no_pin_is_drawn_twice_where_a_rod_ends():
    for body in scene_of(run_of("chain")).bodies:
        assert body.is_ground or not any(isinstance(shape, Pivot) for shape in body.shapes)


# --- signals ----------------------------------------------------------------------------------------------


def test_energies_come_first_and_the_error_last():
    scene = scene_of(run_of("double-pendulum"))
    assert [group.label for group in scene.signals] == ["energy [ft lb]", "angles [deg]", "speeds [rad/s]"]
    assert list(scene.series) == ["energy error"]
    T, V, E, kept = scene.signals[0].lines.values()
    assert np.allclose(T + V, E, rtol=0, atol=1e-12 * np.abs(E).max())
    assert np.ptp(kept) < 1e-6 * np.ptp(T)  # total minus the work of the dampers stays
    assert np.allclose(scene.signals[1].lines["theta1"], np.degrees(run_of("double-pendulum")["theta1"]))


def test_chosen_signals_come_first_with_their_units():
    scene = scene_of(run_of("double-pendulum"), signals=["lower.tip.x", "lower.tip.y", "theta1_ddot"])
    assert [group.label for group in scene.signals][:2] == ["lower.tip.x, lower.tip.y [ft]", "theta1_ddot [rad/s^2]"]
    assert list(scene.signals[0].lines) == ["lower.tip.x", "lower.tip.y"]
    with pytest.raises(UsageError, match="theta9"):
        scene_of(run_of("double-pendulum"), signals=["theta9"])


def test_packed_signals_are_those_of_the_run():
    run = run_of("cart-pole")
    page = animation_html(scene_of(run))
    record = json.loads(re.search(r'<script id="scene" type="application/json">(.*?)</script>', page, re.S)[1])[
        "signals"
    ]
    data, rows, at = zlib.decompress(base64.b64decode(record["text"])), [], 0
    while at < len(data):  # one channel: the order of its differences, then numbers of seven bits per byte
        order, at, row = data[at], at + 1, []
        while len(row) < record["count"]:
            value, shift = 0, 0
            while data[at] > 127:
                value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
            value, at = value | data[at] << shift, at + 1
            row.append(-(value + 1) // 2 if value % 2 else value // 2)
        for k in range(order, 0, -1):
            for i in range(k, len(row)):
                row[i] += row[i - 1]
        rows.append(np.array(row))
    lines = {line["name"]: line for group in record["groups"] for line in group["lines"]}
    shown = dict(zip(lines, rows, strict=True))
    for name, given in (("x", run["x"]), ("theta", np.degrees(run["theta"])), ("E total", run["energy"])):
        values = lines[name]["low"] + lines[name]["step"] * shown[name]
        assert np.abs(values - given).max() <= 1.01 * np.ptp(given) / 8192 + 1e-7 * np.abs(given).max()


# --- in a browser -----------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no Chromium found")
def test_signals_lines_and_the_traced_point_are_chosen_by_hand(tmp_path):
    """Real clicks: on the legend, and on the crank, whose path must then be the one drawn."""
    run = run_of("four-bar")
    path = tmp_path / "page.html"
    path.write_text(animation_html(scene_of(run)), encoding="utf-8")

    def click(browser, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            browser.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    with Browser(900, 800) as browser:
        browser.open(path)
        for _ in range(100):
            if browser.run("document.body.dataset.ready"):
                break
            browser.run("new Promise(done => setTimeout(done, 50))")
        browser.run("document.getElementById('play').click()")  # pause
        assert browser.run("[...document.getElementById('signal').options].map(o => o.text)") == [
            "energy", "angles", "speeds", "energy error",
        ]  # fmt: skip
        assert browser.run("document.getElementById('trace').selectedOptions[0].text") == "coupler center"
        place = "(e => { const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })"
        click(browser, *browser.run(f"{place}(document.querySelector('#legend .entry'))"))
        pressed = "[...document.querySelectorAll('#legend .entry')].map(e => e.getAttribute('aria-pressed'))"
        assert browser.run(pressed) == ["false", "true", "true"]
        # The left support is the pivot of the crank: find the crank by its colour near there.
        found = browser.run(
            """(() => { const c = document.getElementById('view'), g = c.getContext('2d'), r = c.getBoundingClientRect();
               const d = g.getImageData(0, 0, c.width, c.height).data; let sx = 0, sy = 0, n = 0;
               for (let y = 0; y < c.height; y++) for (let x = 0; x < c.width; x++) { const k = 4 * (y * c.width + x);
                 if (d[k] === 47 && d[k + 1] === 79 && d[k + 2] === 196) { sx += x; sy += y; n++; } }
               return [r.left + sx / n * r.width / c.width, r.top + sy / n * r.height / c.height, n]; })()"""
        )
        assert found[2] > 50
        click(browser, found[0], found[1])
        assert browser.run("document.getElementById('trace').selectedOptions[0].text") in (
            "crank center",
            "crank, clicked",
        )
        assert browser.troubles == []


# --- springs across joints ---------------------------------------------------------------------------------------


def test_torsion_springs_are_spirals_whose_ends_turn_with_their_bodies():
    run = pendula.simulate("double-pendulum", 0.5, samples=20)
    scene = scene_of(run)
    assert [(scene.bodies[s.outer].name, scene.bodies[s.inner].name) for s in scene.spirals] == [
        ("ground", "upper"),
        ("upper", "lower"),
    ]
    for spring in scene.spirals:
        for k in (0, 7, 19):
            outer, inner = spring.ends(scene.bodies, k)
            points = spiral(spring, (outer, inner), 0.1)
            center = inner[0] + inner[1] @ spring.at
            assert points[-1] == pytest.approx(center + 0.1 * outer[1] @ spring.outer_arm, abs=1e-12)
            assert points[0] - center == pytest.approx(0.03 * inner[1] @ spring.inner_arm, abs=1e-12)
            turned = np.cross(points[:-1] - center, points[1:] - center)[:, 2]
            assert np.all(turned > 0)  # it winds in one sense


def test_a_spring_on_a_slide_is_a_coil_as_long_as_its_coordinate():
    run = pendula.simulate("spring-mass-bar", 0.5, samples=20)
    (coil,) = scene_of(run).links
    length = np.linalg.norm(coil.end - coil.start, axis=1)
    assert length - length[0] == pytest.approx(run["x"] - run["x"][0], abs=1e-12)
    assert np.all(length > 1.0)  # without a free length, it begins behind the origin


def test_a_coil_with_a_free_length_begins_where_its_coordinate_is_zero():
    text = pendula.dumps(library.spring_mass_bar()).replace('stiffness = "k"', 'stiffness = "k"\nlength = 0.7')
    run = pendula.simulate(pendula.loads(text), 0.1, initial_state={"x": 0.9}, samples=5)
    (coil,) = scene_of(run).links
    assert np.linalg.norm(coil.end - coil.start, axis=1) == pytest.approx(run["x"], abs=1e-12)


def test_a_torsion_spring_without_stiffness_is_not_drawn():
    scene = scene_of(pendula.simulate(library.double_pendulum().with_parameters({"k2": 0.0}), 0.1, samples=3))
    assert [scene.bodies[spring.inner].name for spring in scene.spirals] == ["upper"]


def test_turned_joints_carry_the_axis_of_their_spring():
    """A slide along y of a frame that is turned by 90 degrees moves along -x."""
    text = pendula.dumps(library.spring_mass_bar()).replace(
        'name = "x"\ntype = "prismatic"', 'name = "x"\ntype = "prismatic"\naxis = [0, 1, 0]'
    )
    model = pendula.loads(text)
    data = model.model_dump(by_alias=True, exclude_unset=True)
    for joint in data["joints"]:
        if joint["name"] == "x":
            joint["parent"] = {**joint["parent"], "rotation": {"axis": [0, 0, 1], "angle": "90deg"}}
    run = pendula.simulate(type(model).model_validate(data), 0.2, samples=5)
    (coil,) = scene_of(run).links
    along = (coil.end - coil.start) @ np.array([-1.0, 0.0, 0.0])
    assert np.linalg.norm(coil.end - coil.start, axis=1) == pytest.approx(along, abs=1e-9)


def test_live_pages_draw_the_springs_of_the_player():
    for name in ("double-pendulum", "disc-bar", "spring-mass-bar", "inverted-double-pendulum"):
        scene = scene_of(pendula.simulate(name, 0.1, samples=3))
        content = live_content(name)
        record = content["record"]["scene"]
        computed = re.search(r"function geometry\(.*?\n}", content["program"], re.DOTALL)[0]
        assert {*map(int, re.findall(r"out\[(\d+)\] =", computed))} == {*range(record["geometry"])}
        assert len(record["spirals"]) == len(scene.spirals)
        assert [link["kind"] for link in record["links"]] == [link.kind for link in scene.links]
        assert all(spring["outer_arm"] for spring in record["spirals"])


def test_the_player_marks_the_events_of_a_run():
    run = pendula.simulate("pendulum", 3.0, samples=60, events=["lowest: theta = 0", "theta >= 3"])
    scene = scene_of(run)
    assert [(event.name, list(event.t)) for event in scene.events] == [("lowest", list(run.events["lowest"].t))]
    page = animation_html(scene)
    text = re.search(r'<script id="scene" type="application/json">(.*?)</script>', page, re.DOTALL)[1]
    (record,) = json.loads(text)["events"]
    assert record["t"] == pytest.approx(run.events["lowest"].t, rel=1e-8)


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no Chromium found")
def test_ticks_of_events_are_at_their_times(tmp_path):
    run = pendula.simulate("pendulum", 4.0, samples=60, events=["theta = 0"])
    path = pendula.animate(run, tmp_path / "events.html")
    with Browser(900) as browser:
        browser.open(path)
        end = time.monotonic() + 30
        while browser.run("document.body.dataset.ready") != "true":
            assert time.monotonic() < end
        places = browser.run("[...document.querySelectorAll('#ticks i')].map(i => parseFloat(i.style.left) / 100 * 4)")
        assert places == pytest.approx(run.events["theta = 0"].t.tolist(), abs=1e-4)
        assert not browser.troubles


def test_a_run_backwards_is_shown_forwards() -> None:
    """The same motion run from its end: poses and signals at the same times."""
    model = library.chain(links=2)
    forth = pendula.simulate(model, 1.0, samples=21, tol=1e-11)
    back = pendula.simulate(model, t_span=(1.0, 0.0), initial_state=forth.state(), samples=21, tol=1e-11)
    one, two = (scene_of(run, signals=["theta1"]) for run in (forth, back))
    np.testing.assert_allclose(two.t, one.t, atol=1e-15)
    for a, b in zip(one.bodies, two.bodies, strict=True):
        np.testing.assert_allclose(b.position, a.position, atol=1e-8)
    for a, b in zip(one.signals, two.signals, strict=True):
        np.testing.assert_allclose([*b.lines.values()], [*a.lines.values()], atol=1e-6)
    twice = pendula.simulate(model, 1.0, samples=[0.0, 0.5, 0.5, 1.0])
    assert scene_of(twice).t.tolist() == [0.0, 0.5, 1.0]
