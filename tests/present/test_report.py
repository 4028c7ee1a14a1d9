"""The report: what its sections say, what they say where they do not apply, and that the page runs by itself."""

from __future__ import annotations

import json
import re
import xml.dom.minidom
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import linalg

from pendula import library
from pendula.analysis.study import study
from pendula.errors import UsageError
from pendula.present.pictures.scenery.scenes import Pose, scene_of
from pendula.present.report.page import report, report_html
from pendula.system.parameters import parameter_vector
from tests.present.browser import BROWSER, Browser

LARGEST = 5_000_000
VOID = {"meta", "link", "br", "input", "mspace"}


class Outline(HTMLParser):
    """Checks that elements are closed in order, and keeps sections, links and text."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.ids, self.links, self.sources, self.words = [], [], [], [], {}
        self.section = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        self.sources += [found[k] for k in ("src", "srcset", "data", "action", "poster") if k in found]
        if tag == "section":
            self.section = found["id"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data):
        if self.section and self.stack[-1] not in ("script", "style"):
            self.words[self.section] = self.words.get(self.section, "") + data + " "


@pytest.fixture(scope="module")
def double_pendulum():
    found = study(library.double_pendulum())
    return found, report_html(found)


@pytest.fixture(scope="module")
def four_bar():
    found = study(library.four_bar())
    return found, report_html(found)


@pytest.fixture(params=["double_pendulum", "four_bar"])
def page(request):
    return request.getfixturevalue(request.param)[1]


def test_the_page_is_well_formed_and_small(page):
    outline = Outline(page)
    assert outline.stack == []
    assert len(page.encode()) < LARGEST
    assert len(set(outline.ids)) == len(outline.ids)


def test_contents_lead_to_every_section(page):
    outline = Outline(page)
    targets = [link[1:] for link in outline.links if link.startswith("#")]
    assert targets[0] == "motion"
    assert sorted(targets) == sorted(
        ["motion", "equilibria", "spectrum", "modes", "forced", "simulation", "description", "equations", "certificate"]
    )
    assert set(targets) <= set(outline.ids)
    assert set(targets) == set(outline.words)


def test_the_page_opens_with_the_motion_and_then_its_headlines(page):
    places = [
        page.index(mark) for mark in ('class="player run"', 'class="facts"', '<section id="equilibria"', "<table>")
    ]
    assert places == sorted(places)
    assert page.count('class="player run"') == 1


def test_nothing_is_loaded_from_elsewhere(page):
    outline = Outline(page)
    assert outline.sources == []
    assert all(link.startswith("#") or link == "data:," for link in outline.links)
    assert not re.search(r"https?://|@import|url\(|//cdn|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(", page)


def test_formulas_are_well_formed(page):
    formulas = re.findall(r"<math.*?</math>", page, re.DOTALL)
    assert len(formulas) > 10
    for formula in formulas:
        xml.dom.minidom.parseString(formula)


def test_multipliers_that_take_too_many_steps_are_left_out_with_the_reason(monkeypatch):
    shaken = library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
    assert study(shaken, duration=0.1).floquet is not None
    monkeypatch.setattr("pendula.analysis.study.FOLLOWED_STEPS", 5)
    found = study(shaken, duration=0.1)
    assert found.floquet is None
    assert "5 steps were tried" in found.absent["floquet"]


def test_frequencies_are_those_of_the_bars(double_pendulum):
    """Two equal bars, both angles from ground: K and M of paper 001, written down by hand."""
    found, page = double_pendulum
    p = found.model.parameter_values
    m, g, l = p["m"], p["g"], p["l"]
    M = m * l**2 * np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    K = np.diag([1.5, 0.5]) * m * g * l + np.array([[p["k1"] + p["k2"], -p["k2"]], [-p["k2"], p["k2"]]])
    C = np.array([[p["c1"] + p["c2"], -p["c2"]], [-p["c2"], p["c2"]]])
    zero, one = np.zeros((2, 2)), np.eye(2)
    A = np.block([[zero, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    roots = sorted((x for x in linalg.eigvals(A) if x.imag > 0), key=abs)
    words = Outline(page).words
    for root, square in zip(roots, linalg.eigvalsh(K, M), strict=True):
        assert f"{np.sqrt(square):.6g}" in words["modes"]
        assert f"± {root.imag:.10g}i" in words["spectrum"]
    assert "asymptotically stable" in words["equilibria"]


def test_equilibria_of_the_four_bar_are_listed_with_verdicts(four_bar):
    found, page = four_bar
    words = Outline(page).words["equilibria"]
    assert words.count("unstable") >= 2
    assert "completeness proven" in words
    assert "Lagrange-Dirichlet" in words
    for one in found.equilibria:
        assert f"{np.degrees(one['crank']):.6g}".replace("-", "−") in words


def test_tables_have_units(double_pendulum):
    words = Outline(double_pendulum[1]).words
    for unit in ("slug", "[ft]", "ft/s^2", "ft-lb/rad", "rad/s"):
        assert unit in words["description"]
    assert "[1/s]" in words["spectrum"]
    assert "Frequency [rad/s]" in words["modes"]
    assert "energy [ft lb]" in words["simulation"]


def test_the_simulation_lasts_five_periods_of_the_slowest_mode(four_bar):
    found, _ = four_bar
    slowest = 2 * np.pi / float(found.modes.frequencies[0])
    assert found.run.t[-1] == found.duration == pytest.approx(5 * slowest, rel=0.05)  # rounded to two digits


def test_a_start_is_that_of_the_run_and_unknown_names_are_refused():
    found = study(library.pendulum(), duration=0.5, initial_state={"theta": 0.25})
    assert found.run["theta"][0] == 0.25
    assert "0.25" in Outline(report_html(found)).words["description"]
    with pytest.raises(UsageError, match="theta9"):
        study(library.pendulum(), initial_state={"theta9": 1.0})


def test_many_coordinates_are_shown_where_equilibria_differ():
    """Every link of a chain hangs or stands: each equilibrium is told by the links that do not stand as in the first."""
    found = study(library.chain(links=7), duration=0.5)
    words = Outline(report_html(found)).words["equilibria"]
    last = found.equilibria.all[1]
    (other,) = (n for n in last.layout.coordinates if abs(np.cos(last[n]) - 1) > 1)
    assert "all 0" in words
    assert f"as 1, but {other} = 180 deg" in words
    assert "not shown" not in words


def test_the_potential_of_a_turning_mechanism_is_called_effective(double_pendulum):
    turning = report_html(study(library.hoop_bead(), duration=0.5))
    assert "Effective potential [J]" in Outline(turning).words["equilibria"]
    assert "Potential [ft lb]" in Outline(double_pendulum[1]).words["equilibria"]


def test_modes_are_drawn_over_the_mechanism_at_rest(double_pendulum):
    """The ghost is the equilibrium, and every mode moves its farthest point by a fifth of the size."""
    found, page = double_pendulum
    scenes = [
        json.loads(text) for text in re.findall(r'<script type="application/json" id="scene-\d+">(.*?)</script>', page)
    ]
    modes = [scene for scene in scenes if scene["compact"] == "mode"]
    assert len(modes) == 2
    for scene in modes:
        assert [pose["R"] for pose in scene["rest"]["poses"]] == [[1, 0, 0, 0, 1, 0, 0, 0, 1]] * 3  # hangs straight
    l = found.model.parameter_values["l"]
    for motion in found.motions:
        across = l * np.abs([motion.q[:, 0], motion.q[:, 0] + motion.q[:, 1]])  # of elbow and tip, for small angles
        assert across.max() == pytest.approx(0.2 * 2 * l, rel=0.01)


def test_names_cannot_leave_their_place():
    name = "</script><script>alert(1)</script>{{body}}"
    model = library.pendulum().with_changes(name=name, description="<b>bold</b> & {{player}}")
    page = report_html(study(model, duration=0.5))
    assert "<script>alert" not in page
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; {{player}}" in page
    assert Outline(page).stack == []


def test_long_chains_get_short_tables_and_reasons():
    found = study(library.chain(links=40), duration=1.0)
    page = report_html(found)
    words = Outline(page).words
    assert "40 speeds" in words["equations"]
    assert "40 speeds" in words["certificate"]
    assert "more" in words["description"]
    assert len(found.motions) == 6
    assert page.count("<tr") < 250
    assert len(page.encode()) < LARGEST


def test_a_driven_mechanism_has_multipliers_instead_of_equilibria():
    model = library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0, start="170deg")
    words = Outline(report_html(study(model, duration=1.0))).words
    assert "depend on time" in words["equilibria"]
    assert "Floquet multipliers" in words["equilibria"]
    assert "theta1 = 180 deg" in words["equilibria"]  # next to where it starts, not where it hangs
    assert "stable (linear)" in words["equilibria"]  # Kapitza: a^2 omega^2 = 25 > 2 g l
    assert "No equilibrium" in words["spectrum"]
    assert "No equilibrium" in words["modes"]


def test_forced_responses_to_drives_and_inputs():
    driven = study(library.driven_chain(links=1, kind="point", amplitude=0.01, rate=2.0), duration=0.5)
    page = report_html(driven)
    words = Outline(page).words["forced"]
    assert f"theta1 {0.01 * 4 / (9.81 - 4):.6g} rad" in " ".join(words.split())  # alpha omega^2/(g - l omega^2)
    assert f"{np.sqrt(9.81):.6g}" in words  # the resonance
    assert "grows without bound" in words
    assert "frequency [rad/s]" in page
    assert "amplitude [rad]" in page
    pushed = Outline(report_html(study(library.cart_pole(), duration=0.5))).words["forced"]
    assert "under F = sin(ω t)" in pushed
    assert "no input" in Outline(report_html(study(library.pendulum(), duration=0.5))).words["forced"]


def test_no_equilibrium_is_said_with_what_is_left():
    model = library.cart_pole().with_changes(inputs={"F": 2.0})
    words = Outline(report_html(study(model, duration=0.5))).words
    assert "no equilibrium: at best" in words["equilibria"].lower()
    assert "no equilibrium to linearize about" in words["spectrum"]


def test_quaternions_start_where_they_do():
    words = Outline(report_html(study(library.heavy_top(), duration=0.2))).words["description"]
    start = study(library.heavy_top(), duration=0.2).run
    for name in start.joint_layout.coordinates:
        assert f"{start[name][0]:.6g}" in words.replace("−", "-")


def test_an_upright_top_is_not_drawn_from_above():
    """Alone, the upright pose turns about z only, as if it were planar; gravity along z says that it is not."""
    found = study(library.heavy_top(), duration=0.1)
    upright = next(e for e in found.equilibria if abs(e["pivot_q0"]) == pytest.approx(1))
    assert not scene_of(Pose(found.system, upright.q[None], parameter_vector(found.system))).planar
    words = Outline(report_html(found)).words["equilibria"]
    assert "family along pivot_rz" in words
    assert "pivot_wz" not in words


def test_other_names_than_pages_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"must end in \.html"):
        report(library.pendulum(), tmp_path / "report.pdf")


# --- in a browser -----------------------------------------------------------------------------------------

# Scrolls to a player, waits until it is ready, and looks at it three times.
LOOK = """(async box => {
  const wait = ms => new Promise(done => setTimeout(done, ms));
  box.scrollIntoView({ behavior: "instant" });
  const ready = () => box.firstChild && box.firstChild.contentDocument.body && box.firstChild.contentDocument.body.dataset.ready;
  for (let k = 0; k < 400 && !ready(); k++) await wait(25);
  if (!ready()) return { kind: box.className, error: "not ready" };
  const inside = box.firstChild.contentDocument, pictures = new Set(), clocks = new Set();
  for (let k = 0; k < 3; k++) { await wait(230); pictures.add(inside.getElementById("view").toDataURL()); clocks.add(inside.getElementById("clock").textContent); }
  return { kind: box.className, error: inside.body.dataset.error || "", pictures: pictures.size, clocks: clocks.size };
})(document.querySelectorAll("[data-scene]")[%d])"""


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no Chromium found")
@pytest.mark.parametrize(("width", "dark"), [(360, True), pytest.param(1200, False, marks=pytest.mark.slow)])
def test_modes_play_and_nothing_overflows(page, tmp_path, width, dark):
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    with Browser(width, dark=dark) as browser:
        browser.open(path)
        browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        players = [browser.run(LOOK % k) for k in range(page.count('data-scene="'))]
        wide = browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        over = browser.run(
            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1"
            " && !e.closest('.scroll, pre')).map(e => e.tagName + '.' + e.className)"
        )
    assert browser.troubles == []
    assert [url for url in browser.requests if not url.startswith(("data:", "about:"))] == [path.as_uri()]
    assert wide == 0
    assert over == []
    kinds = [player["kind"].split()[1] for player in players]
    assert kinds.count("run") == 1
    assert kinds.count("mode") >= 1
    for player in players:
        assert player["error"] == ""
        if "pose" in player["kind"]:
            assert (player["pictures"], player["clocks"]) == (1, 1)
        else:  # a busy machine may show one picture twice
            assert player["pictures"] >= 2
            assert player["clocks"] >= 2


def test_several_mechanisms_share_a_page(double_pendulum, four_bar):
    page = report_html(double_pendulum[0], four_bar[0])
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="#([^"]+)"', page)
    assert len(targets) == 2 * 10
    assert set(targets) <= set(ids)
    assert page.count("<h1>") == 3  # the page, and each mechanism
    assert "<title>double pendulum, four-bar linkage</title>" in page


@pytest.mark.parametrize(("name", "tables"), [("spatial-rod", 2), ("pendulum", 0)])
def test_orientations_are_shown_in_other_coordinates(name, tables):
    """The initial state and the equilibria of mechanisms with ball or free joints, folded."""
    text = report_html(study(library.mechanisms()[name].make(), duration=0.1))
    folded = re.findall(r"<details><summary>The same orientations? in other coordinates</summary>(.*?)</details>", text)
    assert len(folded) == tables
    for content in folded:
        for chart in ("zyz", "quaternion", "yaw-pitch-roll", "rotation vector"):
            assert f">{chart}<" in content
