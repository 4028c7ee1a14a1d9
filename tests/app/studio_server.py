"""A studio as a process of its own, and clients that talk to it over its socket, raw where that matters."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds after which something that should happen has not happened

PENDULUM = """\
name = "swing"
gravity = [0, "-g", 0]

[parameters]
m = 1.0
l = 2.0
g = 9.81

[[bodies]]
name = "bob"
mass = "m"
com = [0, "-l", 0]
inertia = [0, 0, 0]

[[joints]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "bob" }

[initial]
theta = "20deg"
"""
"""A point mass on a massless rod: everything about it is known in closed form."""

ENDLESS = {"duration": 1e6, "tol": 1e-12, "max_steps": 100_000_000}
"""Options of a run that takes minutes."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """A client of a studio with a connection of its own."""

    port: int
    token: str
    name: str = "test"
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def raw(self, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """A request with exactly these headers (and Host); the target is sent as it is."""
        try:
            self.connection.request(method, target, body=body, headers=headers or {})
            answer = self.connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        except (http.client.HTTPException, ConnectionError):
            self.connection.close()
            raise

    def ask(self, method: str, target: str, data: Any = None, **more: str) -> Answer:
        body = None if data is None else json.dumps(data).encode()
        return self.raw(method, target, body, {"X-Pendula-Token": self.token, "X-Pendula-Client": self.name, **more})

    def start(self, kind: str, text: str = PENDULUM, options: dict[str, Any] | None = None) -> str:
        answer = self.ask("POST", "/api/jobs", {"kind": kind, "text": text, "options": options or {}})
        assert answer.status == 202, answer.body
        return answer.data["id"]

    def wait(self, job: str, *states: str) -> dict[str, Any]:
        """The job, once it is in one of some states; by default, once it has ended."""
        wanted = states or ("done", "failed", "cancelled")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.ask("GET", f"/api/jobs/{job}").data
            if found["state"] in wanted:
                return found
            assert found["state"] not in ("failed", "cancelled", "done"), found
            time.sleep(0.02)
        raise AssertionError(f"job {job} is still {found['state']}: {found['progress']}")

    def result(self, kind: str, options: dict[str, Any] | None = None, text: str = PENDULUM) -> dict[str, Any]:
        found = self.wait(self.start(kind, text, options))
        assert found["state"] == "done", found["error"]
        return found["result"]


def hear_signals() -> None:
    """Undoes what a shell does to programs in the background, which a studio respects: it lets them ignore Ctrl-C."""
    for which in (signal.SIGINT, signal.SIGHUP):
        signal.signal(which, signal.SIG_DFL)


@dataclass
class StudioProcess:
    folder: Path
    process: subprocess.Popen[str]
    port: int
    token: str

    def client(self, name: str = "test") -> Client:
        return Client(self.port, self.token, name)

    @property
    def workers(self) -> list[int]:
        return children(self.process.pid)

    def end(self, which: int = signal.SIGTERM) -> int:
        """Sends a signal and waits for the end; returns the exit code."""
        self.process.send_signal(which)
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def studio(folder: Path, *arguments: str, browser: Path | None = None) -> Iterator[StudioProcess]:
    """A running studio, which is ended with the block. ``browser``: a program that opens its page."""
    command = [sys.executable, "-m", "pendula", "studio", *arguments, "--folder", str(folder)]
    environment = {**os.environ, "BROWSER": str(browser)} if browser else None
    command += [] if browser else ["--no-open"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        preexec_fn=hear_signals,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line, line + process.stdout.read()
        address = line.split()[-1]
        port, token = address.removeprefix("http://127.0.0.1:").split("/?token=")
        yield StudioProcess(folder, process, int(port), token)
    finally:
        process.terminate()  # so that it removes its temporary files
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def children(pid: int) -> list[int]:
    """Processes whose parent is this one (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if entry.name.isdigit() and int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_until(what: Any, seconds: float = PATIENCE) -> bool:
    """Whether a condition becomes true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.02)
    return False


def memory(pid: int) -> int:
    """Resident memory of a process in bytes (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def exchange(port: int, sent: bytes, *, seconds: float = 5.0) -> bytes:
    """What a server answers to some bytes, until it closes the connection or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(sent)
        received = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while piece := connection.recv(65_536):
                received += piece
        return received
