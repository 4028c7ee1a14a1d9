"""The report on papers in a real browser, wide and narrow: no request, no error, nothing beyond the edge, players run."""

from __future__ import annotations

import time

import pytest

from pendula.papers.page import write_page
from pendula.papers.run import recompute
from tests.present.browser import BROWSER, PATIENCE, Browser

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no Chromium found")]
INSIDE = "(document.querySelector('iframe')?.contentDocument?.body?.dataset ?? {})"


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
        browser.run("document.querySelector('.player').scrollIntoView()")
        end = time.monotonic() + PATIENCE
        while browser.run(f"{INSIDE}.ready") != "true":
            assert time.monotonic() < end, "the player does not start"
            time.sleep(0.05)
        assert browser.run(f"{INSIDE}.error") is None
        assert [x for x in browser.requests if not x.startswith(("file:", "data:", "about:"))] == []
        assert browser.troubles == []
