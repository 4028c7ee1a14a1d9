"""Live pages in a real browser: they agree with `simulate`, and move under real pointers, fingers and keys.

The tests need Chromium (on Debian: ``apt install chromium``) and are skipped where it is missing.
"""

from __future__ import annotations

import json
import math
import time

import pytest
from scipy.special import ellipk

import pendula
from pendula import library
from tests.helpers.choices import slow_too
from tests.present.browser import BROWSER, Browser

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no Chromium found")]

IN_EVERY_RUN = ("double-pendulum", "four-bar", "heavy-top", "driven-chain", "cart-pole")
LIVE_FOR = 0.5  # seconds on the screen in every run; 5 in the thorough one
PATIENCE = 30.0
AGREEMENT = 1e-6  # of the scale of the state, after one unit of time at a tolerance of 1e-10
DRIFT = 1e-5


class Page:
    """A live page in a browser, and the hands on it."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path

    def open(self, fragment=""):
        browser = self.browser
        browser.troubles.clear()
        browser.requests.clear()
        browser.ask("Page.navigate", url="about:blank")
        browser.ask("Page.navigate", url=self.path.as_uri() + fragment)
        self.wait_for("document.body && document.body.dataset.ready === 'true'")
        return self

    def run(self, script):
        return self.browser.run(script)

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}; {self.browser.troubles}"
            time.sleep(0.03)

    def where(self, body, at=(0, 0, 0)):
        found = self.run(f"pendula.where({json.dumps(body)}, {list(at)})")
        return found["x"], found["y"]

    def mouse(self, kind, x, y, buttons=1):
        self.browser.ask(
            "Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, button="left", buttons=buttons, clickCount=1
        )

    def drag(self, start, end, *, steps=12, hold=0.0):
        """Presses at a point, moves to another, stays there, and leaves the button down."""
        self.mouse("Moved", *start, buttons=0)
        self.mouse("Pressed", *start)
        for k in range(1, steps + 1):
            self.mouse("Moved", *(a + (b - a) * k / steps for a, b in zip(start, end, strict=True)))
        time.sleep(hold)

    def touch(self, kind, *points):
        spots = [{"x": x, "y": y} for x, y in points]
        self.browser.ask("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=spots)

    def key(self, key, kind="Down", code=""):
        text = key if len(key) == 1 and kind == "Down" else ""
        self.browser.ask("Input.dispatchKeyEvent", type=f"key{kind}", key=key, text=text, code=code or key)

    def click(self, ident):
        box = self.run(f"(() => {{ const b = document.getElementById('{ident}').getBoundingClientRect(); "
                       "return [b.left + b.width / 2, b.top + b.height / 2]; })()")  # fmt: skip
        self.mouse("Moved", *box, buttons=0)
        self.mouse("Pressed", *box)
        self.mouse("Released", *box, buttons=0)

    def is_calm(self):
        """No request but the page itself, nothing in the console, no error shown."""
        outside = [url for url in self.browser.requests if not url.startswith(("file:", "data:", "about:"))]
        assert outside == []
        assert self.browser.troubles == []
        assert self.run("document.getElementById('error').hidden")


@pytest.fixture(scope="module")
def browser():
    with Browser(1200, 860) as found:
        yield found


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    """Live pages by name of the mechanism, written once."""
    folder, made = tmp_path_factory.mktemp("live"), {}

    def get(name, **settings):
        key = (name, *sorted(settings.items()))
        if key not in made:
            model = library.mechanisms()[name].make(**settings)
            made[key] = pendula.play(model, folder / f"{len(made)}.html")
        return Page(browser, made[key])

    return get


# --- the page and the library agree -----------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", slow_too(IN_EVERY_RUN, sorted({*library.mechanisms()} - {*IN_EVERY_RUN})))
def test_a_page_moves_as_the_library_simulates(mechanism, pages):
    page = pages(mechanism).open()
    time.sleep(LIVE_FOR if mechanism in IN_EVERY_RUN else 5.0)
    page.wait_for("pendula.time > 0")
    assert page.run("pendula.playing")
    assert page.run("Object.values(pendula.state).every(Number.isFinite)")
    page.run("pendula.pause(); pendula.start(); pendula.tolerance = 1e-10; "
             "for (let k = 1; k <= 50; k++) pendula.step(k / 50 - pendula.time)")  # fmt: skip
    run = pendula.simulate(mechanism, 1.0, tol=1e-12, samples=[0.0, 1.0])
    state, found = run.state(-1), page.run("pendula.state")
    assert page.run("pendula.time") == 1.0
    scale = max(1.0, *(abs(state[n]) for n in state))
    assert {n: abs(found[n] - state[n]) / scale for n in state if abs(found[n] - state[n]) > AGREEMENT * scale} == {}
    assert page.run("pendula.energy_drift") < DRIFT  # work of friction, inputs and prescribed motions accounted for
    assert page.run("pendula.gap") < 1e-9
    page.is_calm()


def test_the_page_of_a_double_pendulum_is_small(pages):
    assert pages("double-pendulum").path.stat().st_size <= 150_000


# --- hands ------------------------------------------------------------------------------------------------------


def quarter_period(amplitude, length, g):
    """A quarter of the period of a uniform rod that swings about its end, by the elliptic integral."""
    return float(ellipk(math.sin(amplitude / 2) ** 2)) * math.sqrt(2 * length / (3 * g))


def fall_time(page):
    """Steps until the angle changes its sign; the time that took."""
    return page.run(
        "(() => { const t0 = pendula.time, sign = Math.sign(pendula.state.theta); let last = pendula.state.theta;"
        " for (let k = 0; k < 20000; k++) { pendula.step(0.001); const now = pendula.state.theta;"
        " if (Math.sign(now) !== sign) return pendula.time - t0 - 0.001 * now / (now - last); last = now; }"
        " return NaN; })()"
    )


@pytest.mark.parametrize("paused", [False, True], ids=["playing", "paused"])
def test_a_pendulum_swings_from_where_it_was_dragged(pages, paused):
    page = pages("pendulum").open()
    values = page.run("pendula.parameters")
    page.run("pendula.start({theta: 0.3}); pendula.pause()" if paused else "pendula.start({theta: 0})")
    page.wait_for("pendula.playing === " + ("false" if paused else "true"))
    page.run("pendula.pause()")
    tip, pivot = page.where("link", (0, -values["l"], 0)), page.where("link")
    grip = (tip[0], tip[1] - 6)
    if not paused:
        page.run("pendula.play()")
    target = (grip[0] + 100, grip[1])
    page.drag(grip, target, hold=0.1)
    angle = math.atan2(target[0] - pivot[0], target[1] - pivot[1])
    page.wait_for(f"Math.abs(pendula.state.theta - {angle}) < 0.03 && Math.abs(pendula.state.theta_dot) < 0.05")
    page.mouse("Released", *target, buttons=0)
    page.run("pendula.pause()")
    # It may have moved a little before it was paused: its energy tells from which angle it swings.
    state, energy = page.run("pendula.state"), page.run("pendula.energy")["total"]
    cosine = math.cos(state["theta"]) - values["l"] * state["theta_dot"] ** 2 / (3 * values["g"])
    amplitude = math.acos(cosine)
    assert amplitude == pytest.approx(angle, abs=0.06)
    fall_time(page)
    assert fall_time(page) == pytest.approx(2 * quarter_period(amplitude, values["l"], values["g"]), rel=0.01)
    assert page.run("pendula.energy")["total"] == pytest.approx(energy, abs=1e-4 * abs(energy) + 1e-6)
    page.is_calm()


def test_a_body_that_is_let_go_in_motion_is_thrown(pages):
    page = pages("pendulum").open()
    page.run("pendula.start({theta: 0}); pendula.play()")
    values = page.run("pendula.parameters")
    start = page.where("link", (0, -0.9 * values["l"], 0))
    page.run("addEventListener('pointerup', () => { window.thrown = pendula.state.theta_dot; })")
    page.drag(start, (start[0] + 160, start[1] - 20), steps=25)
    page.mouse("Released", start[0] + 160, start[1] - 20, buttons=0)
    assert page.run("window.thrown") > 0.02


@pytest.mark.parametrize(("mechanism", "body"), [("four-bar", "rocker"), ("heavy-top", "top"), ("cart-pole", "pole")])
def test_a_hand_on_a_pin_does_not_tear_the_mechanism(pages, mechanism, body):
    """A point that hardly moves resists any force: a hand there pulls with a bounded one."""
    page = pages(mechanism).open()
    page.run("pendula.pause(); pendula.start(); pendula.play()")
    start = page.where(body)  # its origin, where it is pinned
    page.drag((start[0] + 1, start[1] + 1), (start[0] + 150, start[1] - 120), hold=0.5)
    typical = page.run("JSON.parse(document.getElementById('record').textContent).about.energy")
    energy = page.run("pendula.energy")
    page.mouse("Released", start[0] + 150, start[1] - 120, buttons=0)
    assert page.run("pendula.playing"), page.run("pendula.message")
    assert energy["kinetic"] < 100 * typical
    assert page.run("pendula.energy_drift") < 1e-3
    page.is_calm()


@pytest.mark.parametrize("paused", [False, True], ids=["playing", "paused"])
def test_dragging_a_coupler_keeps_the_loop_closed(pages, paused):
    page = pages("four-bar").open()
    page.run("pendula.pause()")
    before = page.run("pendula.state")
    start = page.where("coupler", (0, -1.0, 0))
    if not paused:
        page.run("pendula.play()")
        start = page.where("coupler", (0, -1.0, 0))
    gaps = []
    page.drag(start, start, steps=1)
    for k in range(1, 21):
        page.mouse("Moved", start[0] - 4 * k, start[1] + 3 * k)
        gaps.append(page.run("pendula.gap"))
    assert max(gaps) < 1e-9
    page.mouse("Released", start[0] - 80, start[1] + 60, buttons=0)
    if paused:
        after = page.run("pendula.state")
        assert abs(after["crank"] - before["crank"]) > 0.1  # it moved
        assert after["crank_dot"] == 0
    page.is_calm()


def test_a_slider_changes_the_period_as_the_square_root_of_length_over_gravity(pages):
    page = pages("pendulum").open()
    page.run("pendula.pause()")
    box = page.run("(() => { const b = document.querySelector('#parameters input[aria-label^=\"l \"]')"
                   ".getBoundingClientRect(); return [b.left, b.top + b.height / 2, b.width]; })()")  # fmt: skip
    found = []
    for place in (0.25, 0.5, 0.8):
        page.drag((box[0] + 0.5 * box[2], box[1]), (box[0] + place * box[2], box[1]), steps=4)
        page.mouse("Released", box[0] + place * box[2], box[1], buttons=0)
        page.run("pendula.start({theta: 0.2, theta_dot: 0})")
        values = page.run("pendula.parameters")
        found.append((values["l"], fall_time(page) / math.sqrt(values["l"] / values["g"])))
    lengths, ratios = zip(*found, strict=True)
    assert lengths[0] < 0.8 * lengths[1] < 0.6 * lengths[2]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=0.01)
    assert ratios[0] == pytest.approx(quarter_period(0.2, 1.0, 1.0), rel=0.01)


@pytest.mark.parametrize("mechanism", ["double-pendulum", "four-bar", "heavy-top"])
def test_a_shared_link_restores_the_state_exactly(pages, mechanism):
    page = pages(mechanism).open()
    page.wait_for("pendula.time > 0.2")
    page.run("pendula.pause()")
    slider = page.run("Object.keys(pendula.parameters)[0]")
    page.run(f"pendula.set({json.dumps(slider)}, 1.1 * pendula.parameters[{json.dumps(slider)}])")
    page.click("share")
    page.wait_for("location.hash.length > 3")
    seen = page.run("[pendula.time, pendula.state, pendula.parameters]")
    fragment = page.run("location.hash")
    page.open(fragment)
    assert page.run("[pendula.time, pendula.state, pendula.parameters]") == seen
    assert not page.run("pendula.playing")
    page.is_calm()


def test_share_copies_the_link_to_the_clipboard(pages):
    page = pages("double-pendulum").open()
    page.browser.permit("clipboardReadWrite", "clipboardSanitizedWrite")
    page.run("pendula.pause(); pendula.start(); pendula.step(0.3)")
    page.browser.ask("Page.bringToFront")
    page.click("share")
    page.wait_for("pendula.message.startsWith('the link is copied')")
    copied = page.run("navigator.clipboard.readText()")
    assert copied == page.run("location.href")
    assert copied.startswith(page.path.as_uri() + "#t=0.3&theta1=")
    page.is_calm()


def test_without_a_clipboard_the_address_holds_the_link(pages):
    page = pages("double-pendulum").open()
    page.run(
        "pendula.pause(); pendula.start(); pendula.step(0.2);"
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })"
    )
    page.click("share")
    page.wait_for("pendula.message.startsWith('the address of this page')")
    assert page.run("location.hash").startswith("#t=0.2&theta1=")
    page.is_calm()


def test_two_pages_of_one_file_are_independent(pages):
    """A link of one opens the other in its state; then each has its own parameters and its own time."""
    page = pages("double-pendulum").open()
    page.run("pendula.pause(); pendula.set('l', 1.7); pendula.step(0.4)")
    page.click("share")
    page.wait_for("location.hash.length > 1")
    link, kept = page.run("location.hash"), page.run("pendula.state")
    first = page.browser.new_tab()
    page.open(link)
    assert page.run("pendula.state") == kept
    assert page.run("pendula.parameters.l") == 1.7
    page.run("pendula.set('l', 2.5); pendula.start({ theta1: 1 }); pendula.step(0.1)")
    changed = page.run("pendula.state")
    page.is_calm()
    second = page.browser.session
    page.browser.go_back(first)
    assert page.run("pendula.state") == kept
    assert page.run("pendula.parameters.l") == 1.7
    page.run("pendula.set('l', 1.9); pendula.step(0.1)")
    page.click("share")
    page.wait_for("location.hash.includes('l=1.9')")
    link, kept = page.run("location.hash"), page.run("pendula.state")
    page.browser.go_back(second)
    assert page.run("pendula.state") == changed
    page.run(f"location.hash = {json.dumps(link)}")  # pasted into the address of a page that is open
    page.wait_for("pendula.parameters.l === 1.9")
    assert page.run("pendula.state") == kept
    page.browser.ask("Page.close")
    page.browser.go_back(first)


def test_a_link_that_holds_no_state_is_refused(pages):
    page = pages("pendulum").open("#t=1&theta=0.5&theta_dot=<script>")
    assert page.run("pendula.time") == 0
    assert "does not hold a state" in page.run("pendula.message")


# --- keys, traces, the twin, modes ------------------------------------------------------------------------------


def test_keys_pause_step_reset_and_push_an_input(pages):
    page = pages("cart-pole").open()
    page.key(" ")
    page.wait_for("!pendula.playing")
    before = page.run("pendula.time")
    page.key(".")
    page.wait_for(f"pendula.time > {before}")
    assert page.run("pendula.time") == pytest.approx(before + 1 / 60)
    page.key("d")
    assert page.run("pendula.parameters.F") > 0
    page.key("d", "Up")
    assert page.run("pendula.parameters.F") == 0
    page.key("r")
    assert page.run("pendula.time") == 0
    page.is_calm()


def test_a_click_traces_a_point_and_does_not_disturb(pages):
    page = pages("pendulum").open()
    page.run("pendula.pause(); pendula.start({theta: 0.5})")
    page.click("untrace")
    page.wait_for("document.getElementById('untrace').disabled")
    before = page.run("pendula.state")
    spot = page.where("link", (0, -0.5, 0))
    page.mouse("Pressed", *spot)
    page.mouse("Released", *spot, buttons=0)
    page.wait_for("!document.getElementById('untrace').disabled")
    assert page.run("pendula.state") == before


@pytest.mark.parametrize(
    ("name", "length", "body", "point"),
    [("pendulum", "l", "link", (0, -1, 0)), ("four-bar", "b", "coupler", (0, -1, 0))],
)
def test_the_traced_point_follows_a_length_that_is_changed(pages, name, length, body, point):
    """The free end of the rod, and the middle of the coupler: a click there takes the trace away."""
    page = pages(name).open()
    page.run(f"pendula.pause(); pendula.set({length!r}, 1.3 * pendula.parameters.{length})")
    time.sleep(0.2)  # until it is drawn
    spot = page.where(body, [0.98 * 1.3 * x for x in point])  # a few pixels from it, on the body
    page.mouse("Pressed", *spot)
    page.mouse("Released", *spot, buttons=0)
    page.wait_for("document.getElementById('untrace').disabled")
    page.is_calm()


def test_two_copies_part_and_the_distance_is_shown(pages):
    page = pages("double-physical-pendulum").open()
    page.click("twin")
    page.wait_for("/apart/.test(document.getElementById('distance').textContent)")
    page.wait_for("pendula.time > 0.5")
    page.click("twin")
    page.wait_for("document.getElementById('apart-row').hidden")
    page.is_calm()


@pytest.mark.parametrize("number", [1, 2])
def test_a_mode_starts_with_the_chosen_amplitude_and_comes_back_after_its_period(pages, number):
    page, amplitude = pages("double-physical-pendulum").open(), 0.5
    mode = pendula.modes("double-physical-pendulum")[number]
    page.run(
        f"document.getElementById('amplitude').value = '{amplitude}';"
        f"document.querySelectorAll('.mode')[{number - 1}].click(); pendula.pause()"
    )
    start = page.run("pendula.state")
    angles = [start[name] for name in page.run("pendula.coordinates")]
    assert max(map(abs, angles)) == pytest.approx(math.radians(amplitude), rel=1e-9)
    page.run(f"pendula.step({1 / mode.hertz})")
    for name in page.run("pendula.coordinates"):
        assert page.run("pendula.state")[name] == pytest.approx(start[name], abs=0.01 * math.radians(amplitude))


def test_modes_follow_the_sliders(pages):
    """The frequency of a swinging rod is proportional to the square root of gravity."""
    page = pages("pendulum").open()
    frequency = "parseFloat(document.querySelector('.mode span').textContent)"
    before, g = page.run(frequency), page.run("pendula.parameters.g")
    page.run(f"pendula.set('g', {4 * g})")
    page.wait_for(f"Math.abs({frequency} - {2 * before}) < 0.01 * {before}")
    page.run(f"pendula.set('g', {g})")
    page.wait_for(f"{frequency} === {before}")
    page.is_calm()


# --- events -----------------------------------------------------------------------------------------------------

WATCHED = ["lowest: phi1 = 0 rising", "phi2_dot = 0", "stop: phi2 <= -80deg"]


def test_events_are_found_where_the_library_finds_them(browser, tmp_path):
    """Times of all events up to the one that stops; there, the state is on the limit."""
    model, start = library.double_physical_pendulum(), {"phi1": 1.0, "phi2": 1.5}
    path = pendula.play(model, tmp_path / "events.html", initial_state=start, events=WATCHED)
    page = Page(browser, path).open()
    page.run("pendula.pause(); pendula.tolerance = 1e-11; pendula.start(); pendula.step(20)")
    run = pendula.simulate(model, 20.0, initial_state=start, events=WATCHED, tol=1e-11)
    found = page.run("pendula.events")
    assert list(found) == list(run.events)
    for name, expected in run.events.items():
        assert len(expected) > 0
        assert found[name] == pytest.approx(expected.t, abs=1e-6)
    assert page.run("pendula.time") == pytest.approx(run.t[-1], abs=1e-6)
    assert page.run("pendula.state.phi2") == pytest.approx(math.radians(-80), abs=1e-9)
    assert page.run("pendula.message").startswith("stopped: phi2 <= -80deg")
    assert not page.run("pendula.playing")
    before = page.run("pendula.time")
    page.run("pendula.step(0.1)")  # it goes on from there
    assert page.run("pendula.time") == pytest.approx(before + 0.1)
    assert page.run("document.getElementById('events').children.length") == 3
    page.is_calm()


def test_a_playing_page_pauses_at_a_stop(browser, tmp_path):
    path = pendula.play(
        library.pendulum(), tmp_path / "stop.html", initial_state={"theta": 0.3}, events=["stop: theta <= 0"]
    )
    page = Page(browser, path).open()
    page.wait_for("!pendula.playing")
    assert page.run("pendula.state.theta") == pytest.approx(0, abs=1e-8)
    page.is_calm()


# --- safety and small screens -----------------------------------------------------------------------------------

HOSTILE = "</script><script>window.hurt = 1</script>\"'<img src=x onerror=alert(1)>"  # right-to-left marks are refused by the model


def test_hostile_names_are_harmless(browser, tmp_path):
    text = pendula.dumps(library.pendulum())
    text = text.replace('"l"', '"constructor"').replace("l = 1.0", "constructor = 1.0").replace("theta", "toString")
    model = pendula.loads(text).with_changes(name=HOSTILE, description=HOSTILE)
    page = Page(browser, pendula.play(model, tmp_path / "hostile.html")).open()
    page.run("pendula.set('constructor', 2); pendula.start({toString: 0.25}); pendula.pause()")
    page.click("share")
    page.wait_for("location.hash.length > 3")
    page.open(page.run("location.hash"))
    assert page.run("[pendula.parameters.constructor, pendula.state.toString]") == [2, 0.25]
    assert page.run("document.querySelector('h1').textContent") == HOSTILE
    assert page.run("window.hurt") is None
    page.is_calm()


def test_the_policy_permits_no_other_script(pages):
    page = pages("pendulum").open()
    script = (
        "(() => { const s = document.createElement('script'); s.textContent = 'window.hurt = 1'; document.body.append(s);"
        " let ran = 0; for (const go of [() => eval('1'), () => new Function('return 1')()]) try { ran += go(); } catch {}"
        " return [window.hurt ?? null, ran]; })()"
    )
    given = {"expression": script, "returnByValue": True, "allowUnsafeEvalBlockedByCSP": False}
    assert page.browser.ask("Runtime.evaluate", **given)["result"]["value"] == [None, 0]


def test_a_page_that_cannot_go_on_stops_and_says_so(pages):
    page = pages("pendulum").open()
    page.run("pendula.pause(); pendula.start({theta: 1e300})")
    page.run("pendula.set('l', 1e-300); pendula.play()")
    page.wait_for("!pendula.playing")
    assert "stopped" in page.run("pendula.message")


def test_fingers_drag_a_pendulum_on_a_phone(pages):
    with Browser(390, 844) as phone:
        page = Page(phone, pages("pendulum").path).open()
        assert page.run("document.documentElement.scrollWidth <= 390")
        page.run("pendula.start({theta: 0}); pendula.pause()")
        length = page.run("pendula.parameters.l")
        start, pivot = page.where("link", (0, -0.95 * length, 0)), page.where("link")
        page.touch("Start", start)
        for k in range(1, 11):
            page.touch("Move", (start[0] + 10 * k, start[1]))
        angle = math.atan2(start[0] + 100 - pivot[0], start[1] - pivot[1])
        page.wait_for(f"Math.abs(pendula.state.theta - {angle}) < 0.05")
        page.touch("End")
        assert page.run("pendula.gap") == 0
        view = page.run("pendula.where('link').x")
        page.touch("Start", (60, start[1] - 60), (160, start[1] - 60))  # two fingers on empty space zoom
        page.touch("Move", (40, start[1] - 60), (200, start[1] - 60))
        page.touch("End")
        assert page.run("pendula.where('link').x") != view
        page.is_calm()


def test_reduced_motion_starts_still(pages):
    with Browser(800, 600) as calm:
        calm.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        page = Page(calm, pages("pendulum").path).open()
        assert not page.run("pendula.playing")
        assert page.run("pendula.time") == 0


# --- readers of all kinds ---------------------------------------------------------------------------------------

UNNAMED = """[...document.querySelectorAll('button, input, select, canvas, [role=img], output')].filter(e => {
  const named = e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim() || e.tagName === 'OUTPUT';
  return !named; }).map(e => e.outerHTML)"""

# The contrast of texts by WCAG 2: relative luminances of their colour and of the first opaque background behind them.
CONTRAST = """(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => { const f = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  let worst = 21, where = "";
  for (const e of document.querySelectorAll('h1, p, summary, button, label, small, .name, output, th, td, option, .legend b')) {
    if (!e.textContent.trim() || !e.getClientRects().length || e.disabled) continue;
    const a = light(parts(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst) { worst = ratio; where = e.outerHTML.slice(0, 80); } }
  return [worst, where]; })()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_has_a_name_and_texts_have_contrast(pages, dark):
    with Browser(1200, 800, dark=dark) as reader:
        page = Page(reader, pages("four-bar").path).open()
        assert page.run(UNNAMED) == []
        worst, where = page.run(CONTRAST)
        assert worst >= 4.5, where
        page.is_calm()


def test_the_keys_are_told_in_the_page(pages):
    page = pages("pendulum").open()
    page.key("?")
    page.wait_for("document.getElementById('keys').open")
    page.click("close-keys")
    page.wait_for("!document.getElementById('keys').open")


def test_equations_stand_beside_with_their_numbers(pages):
    page = pages("pendulum").open()
    page.run("pendula.pause(); pendula.start({theta: 0.5, theta_dot: 0})")
    values = page.run("pendula.parameters")
    assert page.run("document.querySelectorAll('#equations-fold math').length") > 2
    shown = "[...document.querySelectorAll('#numbers td')].map(e => Number(e.textContent.replace('\\u2212', '-')))"
    inertia = values["m"] * values["l"] ** 2 / 3
    force = -values["m"] * values["g"] * values["l"] / 2 * math.sin(0.5)
    page.wait_for(f"{shown}[2] !== 0 && Math.abs({shown}[2] - {force / inertia}) < 0.01")
    assert page.run(shown) == pytest.approx([inertia, force, force / inertia], rel=1e-3)
