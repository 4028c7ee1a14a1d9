"""The front end: modules join into one script, squeezing changes nothing, and the stage draws live poses."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest

from pendula.present.web import bundle
from pendula.present.web.squeeze import squeeze
from tests.present.browser import BROWSER, Browser

FOLDER = Path(bundle.__file__).parent
MODULES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js"))
ENTRIES = [name for name in ("player.js", "report.js", "live/live.js", "studio/main.js") if name in MODULES]
TALKS = "studio/server.js"  # the one module that talks to a server
NODE, TSC = shutil.which("node"), shutil.which("tsc")
needs_node = pytest.mark.skipif(NODE is None, reason="no node found")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium found")


# --- joining ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"a.js": "const x = 1;\n", "b.js": "export function x() {}\n"}, r'"a.js" and "b.js" both define "x"'),
        ({"a.js": "const [p, q] = [1, 2];\n", "b.js": "let q = 3;\n"}, r'both define "q"'),
        ({"a.js": "const x = 1;\n", "b.js": 'import { x } from "./a.js";\n'}, r'imports "x", which "./a.js" does not'),
        ({"a.js": 'import * as b from "./b.js";\n'}, "has a form that cannot be joined"),
        ({"a.js": "export default 3;\n"}, "has a form that cannot be joined"),
        ({"a.js": 'const text = "</script>";\n'}, "would end its script element"),
    ],
)
def test_modules_that_cannot_share_a_scope_are_refused(modules, message):
    with pytest.raises(bundle.BundleError, match=message):
        bundle.join(modules)


def test_what_a_module_imports_comes_before_it():
    for entry in ENTRIES:
        order = list(bundle.modules_of(entry))
        assert order[-1] == entry
        for name in order:
            for used in re.findall(r'from "(\.\.?/[\w./-]+\.js)"', bundle.read(name)):
                whole = posixpath.normpath(posixpath.join(posixpath.dirname(name), used))
                assert order.index(whole) < order.index(name)


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_readable_and_execute_no_text(name):
    text = bundle.read(name)
    lines = text.splitlines()
    assert len(lines) < 500
    assert max(map(len, lines)) <= 170  # types in comments make some lines long
    assert not re.search(r"\beval\b|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write", text)
    assert name == TALKS or not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon", text)


def test_inserted_text_is_not_searched_for_placeholders():
    assert bundle.page("{{a}} {{b}} {{c}}", {"a": "{{b}}", "b": "2"}) == "{{b}} 2 {{c}}"


def test_the_wheel_holds_every_module(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=FOLDER.parents[3], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        held = {n.removeprefix("pendula/present/web/") for n in file.namelist() if n.startswith("pendula/present/web/")}
    assert {*MODULES, "base.css", "player.css", "studio/studio.css", "studio/studio.html"} <= held


# --- with node --------------------------------------------------------------------------------------------


@needs_node
@pytest.mark.parametrize("names", [MODULES, *([entry] for entry in ENTRIES)], ids=["modules", *ENTRIES])
def test_node_reads_every_module_and_every_script(names):
    texts = {name: bundle.read(name) for name in names} if len(names) > 1 else {names[0]: bundle.script(names[0])}
    code = (
        "const { SourceTextModule } = require('vm');\n"
        f"for (const [identifier, text] of {json.dumps([*texts.items()])}) new SourceTextModule(text, {{ identifier }});"
    )
    command = [NODE, "--no-warnings", "--experimental-vm-modules", "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(TSC is None, reason="no tsc found (npm install -g typescript)")
def test_types_in_comments_fit():
    done = subprocess.run(
        [TSC, "-p", "jsconfig.json"], cwd=FOLDER.parents[3], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


TRICKY = r"""
let i = 3; const found = [], o = { in: 2, of: `a  ${`b  ${1 + 1}  c` } /* kept */ // kept` };
found.push(i++ / 2, i-- - -1, i + +i, i - -i, 8 / 2 / 2); // a comment with "quotes" and `backquotes`
found.push(/[/"]  x\/ /.source, "a /* b */ // c", 'it\'s  "so"', o.of, o.in);
/* over
   lines */ const f = x => /\s+/.test(x)
  ? "space"
  : "none"
found.push(f("a b"), f("ab"), typeof /x/, [1, 2] . length, 7 % 4)
const g = function () { return /  /g }
found.push(String(g()), 1 .toFixed(1), `line
   two`)
console.log(JSON.stringify(found));
"""


@needs_node
def test_squeezing_changes_no_result():
    before, after = (
        subprocess.run([NODE, "-e", text], capture_output=True, text=True, check=True).stdout
        for text in (TRICKY, squeeze(TRICKY))
    )
    assert len(json.loads(before)) == 18
    assert after == before


def test_squeezing_shortens_and_keeps_lines_apart():
    made = squeeze("/** doc */\nfunction f (a, b) {\n  return a + b;  // sum\n}\n")
    assert made == "function f(a,b){return a+b;}\n"


# --- in a browser -----------------------------------------------------------------------------------------

# A pendulum of 2 m and a box beside it, at poses that nothing stored: what a live page does.
LIVE = """
import { createChart } from "./chart.js";
import { createStage } from "./stage.js";
const rodEnd = [0, -2, 0];
const PLANE = {
  planar: true, up: [0, 0, 1], low: [-2, -2, 0], high: [3, 2, 0], radius: 3, halfHeight: 1, length: "m",
  bodies: [
    { name: "ground", ground: true, shapes: [{ kind: "pivot", at: [0, 0, 0], side: "above" }] },
    { name: "arm", ground: false, shapes: [{ kind: "rod", start: [0, 0, 0], end: rodEnd, radius: 0 }] },
    { name: "block", ground: false, shapes: [{ kind: "box", center: [0, 0, 0], size: [1, 1, 1] }] },
  ],
  hinges: [], links: ["spring"],
};
const SPACE = { ...PLANE, planar: false, low: [-2, -2, -2], high: [3, 2, 2] };
const poseAt = angle => ({ p: [0, 0, 0], R: [Math.cos(angle), -Math.sin(angle), 0, Math.sin(angle), Math.cos(angle), 0, 0, 0, 1] });
const makeStage = scene => {
  const stage = createStage(document.getElementById("view"), structuredClone(scene));
  stage.drawAt = angle => stage.draw([poseAt(0), poseAt(angle), { p: [2, 1, 0], R: poseAt(0.3).R }], [[[0, 0, 0], [2, 1, 0]]], {
    trails: [{ points: Float64Array.from([0, 0, 0, 1, 1, 0, 2, 1, 0]), colour: [200, 0, 0] }],
    ghosts: [{ poses: [poseAt(0), poseAt(0), poseAt(0)], links: [[[0, 0, 0], [1, 1, 0]]], alpha: 0.4, grey: true }],
    pull: { from: [1, 0, 0], to: [2, 0, 0] }, marks: [{ at: [1, 1, 0], colour: [0, 90, 0] }], arrows: [{ from: [0, 0, 0], to: [1, 0, 0] }],
  });
  return stage;
};
window.flat = makeStage(PLANE);
window.solid = makeStage(SPACE);
window.chart = createChart(document.getElementById("chart"));
"""


@pytest.fixture(scope="module")
def live_page(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("no Chromium found")
    modules = {**bundle.modules_of("stage.js"), **bundle.modules_of("chart.js"), "entry.js": LIVE}
    script = bundle.join(modules)
    path = tmp_path_factory.mktemp("live") / "live.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{bundle.policy(script)}">'
        f'<link rel="icon" href="data:,"><style>{bundle.style("base.css")} canvas {{ width: 500px; height: 400px; display: block; }}</style>'
        f'<canvas id="view"></canvas><canvas id="chart"></canvas><script type="module">{script}</script>',
        encoding="utf-8",
    )
    with Browser(1000) as browser:
        browser.open(path)
        yield browser
        assert browser.troubles == []


@pytest.mark.browser
@needs_browser
@pytest.mark.parametrize("stage", ["flat", "solid"])
def test_a_pixel_and_its_point_belong_together(live_page, stage):
    live_page.run(f"{stage}.drawAt(0.7)")
    for point in ([1.0, -0.5, 0.0], [-1.5, 1.9, 0.0], [0.2, 0.3, 0.0]):
        x, y, _ = live_page.run(f"{stage}.toScreen({point})")
        back = live_page.run(f"{stage}.toWorld({x}, {y}, {point})")
        assert np.allclose(back, point, atol=1e-12)


@pytest.mark.browser
@needs_browser
@pytest.mark.parametrize("stage", ["flat", "solid"])
@pytest.mark.parametrize("angle", [0.7, -2.0])
def test_a_point_of_a_rod_is_found_where_it_is_drawn(live_page, stage, angle):
    """A point 1.5 m down the rod: rotated by hand, projected by the stage, and found again in body axes."""
    live_page.run(f"{stage}.drawAt({angle})")
    x, y, _ = live_page.run(f"{stage}.toScreen({[1.5 * sin(angle), -1.5 * cos(angle), 0.0]})")
    found = live_page.run(f"{stage}.pick({x}, {y})")
    assert found["body"] == 1
    assert found["distance"] == 0
    assert np.allclose(found["at"], [0.0, -1.5, 0.0], atol=1e-9)
    assert live_page.run(f"{stage}.pick(3, 3)") is None


@pytest.mark.browser
@needs_browser
def test_a_point_of_a_box_is_found_in_its_axes(live_page):
    live_page.run("flat.drawAt(0.7)")
    c, s, at = cos(0.3), sin(0.3), (0.3, -0.2)
    world = [2 + c * at[0] - s * at[1], 1 + s * at[0] + c * at[1], 0.0]
    x, y, _ = live_page.run(f"flat.toScreen({world})")
    found = live_page.run(f"flat.pick({x}, {y})")
    assert found["body"] == 2
    assert np.allclose(found["at"][:2], at, atol=1e-9)


@pytest.mark.browser
@needs_browser
def test_zoom_keeps_the_point_under_the_pointer(live_page):
    live_page.run("flat.drawAt(0.7)")
    before = live_page.run("flat.toWorld(120, 90)")
    live_page.run("flat.zoom(1.7, 120, 90); flat.drawAt(0.7)")
    assert np.allclose(live_page.run("flat.toWorld(120, 90)"), before, atol=1e-12)
    live_page.run("flat.home(); flat.drawAt(0.7)")


# Texts and places that a chart writes on its canvas.
WRITTEN = """(() => {
  const ctx = document.getElementById("chart").getContext("2d"), found = [], plain = ctx.fillText;
  ctx.fillText = (text, x, y) => { found.push([text, x, y]); };
  chart.draw(null);
  ctx.fillText = plain;
  return found;
})()"""


@pytest.mark.browser
@needs_browser
def test_ticks_of_a_logarithmic_axis_are_at_their_true_places(live_page):
    """Equal decades are equally far apart, and a value lies between the ticks of its decade."""
    live_page.run("chart.show({ lines: [{ name: 'e', x: [0, 1, 2, 3], y: [4.2e-13, 0, 3e-9, 1e-10] }], up: 'error' })")
    assert live_page.run("chart.log") is True
    ticks = {text: y for text, _, y in live_page.run(WRITTEN) if text.startswith("1e")}
    exponents = np.array([int(text[2:].replace("−", "-")) for text in ticks])
    heights = np.array(list(ticks.values()))
    assert exponents.min() <= -12
    slope, offset = np.polyfit(exponents, heights, 1)
    assert np.abs(heights - slope * exponents - offset).max() <= 1.0  # rounded to pixels
    # The least positive value, 4.2e-13: the marker drawn there, against the line through the ticks.
    drawn = live_page.run(
        "(() => { const ctx = document.getElementById('chart').getContext('2d'), found = [], plain = ctx.arc;"
        " ctx.arc = (x, y) => { found.push(y); }; chart.draw(0); ctx.arc = plain; return found; })()"
    )
    assert abs(drawn[0] - (slope * np.log10(4.2e-13) + offset)) < 1.5


@pytest.mark.browser
@needs_browser
def test_axes_name_units_and_time(live_page):
    live_page.run(
        "chart.show({ lines: [{ name: 'T', x: [0, 5, 10], y: [0, 3, 1] }, { name: 'V', x: [0, 5, 10], y: [2, -1, 1] }],"
        " up: 'energy [J]', across: 'time [s]' })"
    )
    texts = [text for text, _, _ in live_page.run(WRITTEN)]
    assert {"energy [J]", "time [s]", "0", "2", "4", "6", "8"} <= set(texts)
    assert live_page.run("chart.valueAt(1, 2.5)") == 0.5


@pytest.mark.browser
@needs_browser
def test_the_policy_stops_scripts_that_are_put_in(tmp_path):
    from pendula.present import write_animation
    from tests.present.scenes import bob

    with Browser(600) as browser:
        browser.open(write_animation(bob(), tmp_path / "bob.html"))
        for attribute in ("textContent = 'window.taken = 1'", "src = 'data:text/javascript,window.taken = 1'"):
            browser.run(
                f"(() => {{ const s = document.createElement('script'); s.{attribute}; document.body.append(s); }})()"
            )
        browser.run("new Promise(done => setTimeout(done, 100))")
        assert browser.run("typeof window.taken") == "undefined"
        assert sum("Content Security Policy" in str(trouble) for trouble in browser.troubles) == 2
