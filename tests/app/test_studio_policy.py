"""The page of the studio in a real browser: what its policy permits, and what it does not."""

from __future__ import annotations

import functools
import http.server
import threading
import time

import pytest

from tests.app.studio_server import PENDULUM, studio
from tests.present.browser import BROWSER, PATIENCE, Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium: install the package chromium to run this test"),
]


def _open(browser, address):
    browser.ask("Page.navigate", url=address)
    end = time.monotonic() + PATIENCE
    while not (browser.run("location.protocol") == "http:" and browser.run("document.readyState") == "complete"):
        assert time.monotonic() < end, "the page does not load"
        time.sleep(0.02)


def test_the_page_runs_under_its_policy_and_reaches_nothing_else(tmp_path):
    (tmp_path / "swing.toml").write_text(PENDULUM)
    with studio(tmp_path) as place, Browser(1200) as browser:
        job = place.client().start("live")
        place.client().wait(job)
        home = f"http://127.0.0.1:{place.port}"
        _open(browser, f"{home}/?token={place.token}")
        assert browser.run("document.title") == "Pendula studio"
        names = browser.run(f"import('/live/{job}.js?token={place.token}').then(m => Object.keys(m).join())")
        assert names == "program,wrenches"
        socket = f"new WebSocket('ws://127.0.0.1:{place.port}/api/events?token={place.token}')"
        opened = "new Promise(r => {{ const s = {0}; s.onopen = () => r('open'); s.onerror = () => r('error'); }})"
        assert browser.run(opened.format(socket)) == "open"
        assert browser.troubles == []
        assert all(url.startswith((home, "data:")) for url in browser.requests)
        # What the policy forbids: other servers, images from anywhere, files of the folder as scripts, frames.
        outside = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
        assert browser.run(outside) == "refused"
        (tmp_path / "evil.js").write_text("window.evil = 1; export const a = 1;")
        evil = f"import('/download/evil.js?token={place.token}').then(() => 'ran', () => 'refused')"
        assert browser.run(evil) == "refused"
        inline = "(() => { const s = document.createElement('script'); s.textContent = 'window.evil = 1';"
        assert browser.run(f"{inline} document.body.append(s); return String(window.evil); }})()") == "undefined"
        assert browser.run("typeof window.evil") == "undefined"
        violations = [t for t in browser.troubles if "Content Security Policy" in str(t) or "MIME type" in str(t)]
        assert len(violations) >= 3


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


def test_the_token_stays_in_no_address_and_the_page_can_be_loaded_again(tmp_path):
    (tmp_path / "swing.toml").write_text(PENDULUM)
    with studio(tmp_path) as place, Browser(1200) as browser:
        home = f"http://127.0.0.1:{place.port}/"
        _open(browser, f"{home}?token={place.token}")
        ready = "document.body.dataset.ready === 'true' && window.pendula?.text.includes('swing')"
        for _ in range(2):
            end = time.monotonic() + PATIENCE
            while not browser.run(ready):
                assert time.monotonic() < end, "the page does not start"
                time.sleep(0.02)
            assert browser.run("location.href") == home
            history = browser.ask("Page.getNavigationHistory")["entries"]
            assert [entry["url"] for entry in history][-1] == home
            assert not any(place.token in entry["url"] for entry in history)
            browser.run("delete document.body.dataset.ready")
            browser.ask("Page.reload")
            time.sleep(0.2)
        links = browser.run("[...document.querySelectorAll('a')].map(a => a.href).join()")
        assert place.token not in links
    with studio(tmp_path) as place, Browser(800) as browser:
        _open(browser, f"http://127.0.0.1:{place.port}/")
        end = time.monotonic() + PATIENCE
        while "open the address that the studio has printed" not in browser.run("document.body.textContent"):
            assert time.monotonic() < end, "a page without a code says nothing"
            time.sleep(0.02)
        refused = browser.run("fetch('/api/files').then(a => a.status)")
        assert refused == 403


def test_another_site_in_the_same_browser_learns_nothing_even_with_the_token(tmp_path):
    for folder in ("studio", "site"):
        (tmp_path / folder).mkdir()
    (tmp_path / "studio" / "swing.toml").write_text(PENDULUM)
    (tmp_path / "site" / "index.html").write_text("<title>evil</title>")
    handler = functools.partial(_Quiet, directory=str(tmp_path / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        with studio(tmp_path / "studio") as place, Browser(800) as browser:
            _open(browser, f"http://127.0.0.1:{site.server_port}/index.html")
            home, token = f"127.0.0.1:{place.port}", f"token={place.token}"
            for mode in ("cors", "no-cors"):
                for target in ("/api/files", f"/?{token}", f"/download/swing.toml?{token}"):
                    ask = f"fetch('http://{home}{target}', {{mode: '{mode}'}})"
                    assert browser.run(f"{ask}.then(a => 'got ' + a.type, () => 'refused')") == "refused"
            save = f"fetch('http://{home}/api/models/swing.toml?{token}', {{method: 'PUT', body: '{{}}'}})"
            assert browser.run(f"{save}.then(a => 'got', () => 'refused')") == "refused"
            socket = f"const s = new WebSocket('ws://{home}/api/events?{token}')"
            opened = f"new Promise(r => {{ {socket}; s.onopen = () => r('open'); s.onerror = () => r('refused'); }})"
            assert browser.run(opened) == "refused"
            frame = "const f = document.createElement('iframe'); f.onload = () => r(f.contentDocument === null)"
            framed = f"new Promise(r => {{ {frame}; f.src = 'http://{home}/?{token}'; document.body.append(f); }})"
            assert browser.run(framed) is True  # an error page, of another origin
            assert "frame" in str(browser.troubles) or "403" in str(browser.troubles)
        site.shutdown()
    assert (tmp_path / "studio" / "swing.toml").read_text() == PENDULUM
