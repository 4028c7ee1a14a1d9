"""A headless Chromium that tests talk to through a pipe, in real time: requests, console, sizes, scripts."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "about:blank",
]  # fmt: skip
PATIENCE = 60.0  # seconds for one answer: far more than it takes on a busy machine


class Browser:
    """One tab. ``requests`` are the addresses it asked for, ``troubles`` what went to its console as an error."""

    def __init__(self, width, height=900, *, dark=False):
        self.requests, self.troubles, self._answers, self._rest, self._last = [], [], {}, b"", 0
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._start([BROWSER, *FLAGS, f"--user-data-dir={self._profile.name}"])
        try:
            self._attach(width, height, dark)
        except BaseException:
            self.__exit__()
            raise

    def _start(self, command):
        """Starts the browser, which reads commands from file 3 and writes to file 4."""
        (there, self._write), (self._read, here) = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (there, here)]  # out of the way of 3 and 4

        def connect():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=connect, **quiet)
        for end in (there, here, *ends):
            os.close(end)

    def _attach(self, width, height, dark):
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._size = width, height, dark
        self._enter(page)

    def _enter(self, page):
        """Talks to a tab from now on."""
        (width, height, dark), self._session = self._size, None
        self._session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)

    _session = None

    def new_tab(self):
        """Opens another tab and talks to it; returns the session of the tab before, for ``go_back``."""
        before, self._session = self._session, None
        self._enter(self.ask("Target.createTarget", url="about:blank")["targetId"])
        return before

    @property
    def session(self):
        """The session of the tab it talks to."""
        return self._session

    def go_back(self, session):
        """Talks to a tab that was left, and brings it to the front."""
        self._session = session
        self.ask("Page.bringToFront")

    def permit(self, *permissions):
        """Grants permissions that a person would be asked for."""
        session, self._session = self._session, None
        self.ask("Browser.grantPermissions", permissions=list(permissions))
        self._session = session

    def ask(self, method, **parameters):
        """Sends a command and waits for its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while self._last not in self._answers:
            self._receive(end)
        answer = self._answers.pop(self._last)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self, end):
        ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
        assert ready, "the browser does not answer"
        self._rest += os.read(self._read, 1 << 20)
        *whole, self._rest = self._rest.split(b"\0")
        for text in whole:
            self._keep(json.loads(text))

    def _keep(self, message):
        if "id" in message:
            self._answers[message["id"]] = message
        method, found = message.get("method"), message.get("params")
        if method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.troubles.append(found["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and found["type"] in ("error", "warning", "assert"):
            self.troubles.append(found["args"])
        elif method == "Log.entryAdded" and found["entry"]["level"] in ("error", "warning"):
            self.troubles.append(found["entry"])

    def open(self, path):
        """Opens a file and waits until it is loaded."""
        self.ask("Page.navigate", url=path.as_uri())
        end = time.monotonic() + PATIENCE
        while not (self.run("location.protocol") == "file:" and self.run("document.readyState") == "complete"):
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.02)

    def run(self, script):
        """The value of a script; promises are waited for."""
        given = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    def picture(self):
        """The whole page as PNG, in base64."""
        return self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self._write)  # it ends when nobody talks to it
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()
