"""The report on papers in a real browser, wide and narrow: no request, no error, nothing cut off, players play and scrub."""

from __future__ import annotations

import time

import pytest

from pendula.papers.page import write_page
from pendula.papers.run import recompute
from tests.present.browser import BROWSER, PATIENCE, Browser

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no Chromium found")]
INSIDE = "document.querySelectorAll('.player')[{k}].querySelector('iframe')?.contentDocument"
NEAR = 0.05  # of the slider's length: its handle is as wide


def wait(browser, script, what):
    """Waits until a script gives a true value, and returns it."""
    end = time.monotonic() + PATIENCE
    while not (found := browser.run(script)):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


def plays_and_scrubs(browser, k):
    """Checks that the player k of a page starts by itself, moves, and goes where its slider is pressed."""
    page = INSIDE.format(k=k)
    browser.run(f"document.querySelectorAll('.player')[{k}].scrollIntoView({{block: 'center', behavior: 'instant'}})")
    wait(browser, f"{page}?.body?.dataset.ready", f"player {k} does not start")
    assert browser.run(f"{page}.body.dataset.error ?? null") is None
    assert browser.run(f"{page}.documentElement.scrollHeight - {page}.documentElement.clientHeight") <= 1, (
        f"the controls of player {k} are cut off"
    )
    first = browser.run(f"{page}.getElementById('time').valueAsNumber")
    wait(browser, f"{page}.getElementById('time').valueAsNumber !== {first}", f"player {k} does not play")
    browser.run(f"{page}.getElementById('play').click()")  # paused, so that it shows what the slider says
    assert browser.run(f"{page}.getElementById('play').getAttribute('aria-label')") == "Play"
    box = browser.run(
        f"(() => {{ const f = document.querySelectorAll('.player')[{k}].querySelector('iframe').getBoundingClientRect(),"
        f" s = {page}.getElementById('time').getBoundingClientRect();"
        " return [f.x + s.x, f.y + s.y + s.height / 2, s.width]; })()"
    )
    shown = []
    for share in (0.02, 0.25, 0.75, 0.98):  # the clock may have one digit at first, and three at the end
        place = {"x": box[0] + share * box[2], "y": box[1], "button": "left", "clickCount": 1}
        browser.ask("Input.dispatchMouseEvent", type="mousePressed", **place)
        held = f"(x => x.valueAsNumber / x.max)({page}.getElementById('time'))"
        assert browser.run(held) == pytest.approx(share, abs=NEAR), f"player {k} does not scrub"
        time.sleep(0.1)  # two frames, in which it draws
        shown.append(browser.run(f"{page}.getElementById('view').toDataURL()"))
        width = browser.run(f"{page}.getElementById('time').getBoundingClientRect().width")
        assert width == box[2], f"the slider of player {k} changes its length"
        browser.ask("Input.dispatchMouseEvent", type="mouseReleased", **place)
    assert shown[1] != shown[2], f"player {k} shows the same at two times"


@pytest.mark.parametrize("width", [1200, 390])
def test_page_shows_lines_figures_and_players(tmp_path, width):
    path = write_page(
        recompute(["000", "001"], parts=["equations", "differences"], use_cache=False), tmp_path / "p.html"
    )
    with Browser(width) as browser:
        browser.open(path)
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.querySelectorAll('.lines tbody tr').length") > 4
        assert browser.run("[...document.querySelectorAll('svg.chart .name')].map(x => x.textContent)") == [
            "increment [rad]",
            "largest relative error [1]",
        ]
        assert browser.run("document.querySelectorAll('math').length") >= 4
        plays_and_scrubs(browser, 0)
        assert [x for x in browser.requests if not x.startswith(("file:", "data:", "about:"))] == []
        assert browser.troubles == []
