"""The server of the studio: listens on the loopback address, prints where, and ends cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pendula.app.studio.app import make_app
from pendula.app.studio.limits import BODY_SECONDS, CONNECTIONS, SILENT, Limits
from pendula.errors import UsageError

HOST = "127.0.0.1"
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""What ends the server: Ctrl-C, the system, the end of the terminal."""
GRACE = 2  # seconds for answers under way when the server is asked to end


class _Patient(H11Protocol):
    """A connection that is closed if its first request does not come in time, or if too many others wait for theirs."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the time for the first request; of too many connections without one, the oldest is closed."""
        super().connection_made(transport)
        self.began = self.loop.time()
        self.loop.call_later(BODY_SECONDS, self._close_silent)
        silent = [one for one in self.connections if isinstance(one, _Patient) and one.is_silent]
        if len(silent) > SILENT:
            min(silent, key=lambda one: one.began).transport.close()

    @property
    def is_silent(self) -> bool:
        """Whether the head of its first request, which shows who asks, has not come."""
        waits = getattr(self, "cycle", None) is None and self.transport.get_protocol() is self
        return waits and not self.transport.is_closing()

    def _close_silent(self) -> None:
        if self.is_silent:
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that ends at a signal, and gives the signal to no one else."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and calls ``ready`` once requests are answered."""
        await super().startup(sockets)
        self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends the server at the first signal and at once at the second."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        known = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        heard = [which for which in known if signal.getsignal(which) is not signal.SIG_IGN]  # nohup ignores SIGHUP
        before = {which: signal.signal(which, self.handle_exit) for which in heard}
        try:
            yield
        finally:
            for which, handler in before.items():
                signal.signal(which, handler)


def listening(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 means any that is free.

    Raises:
        UsageError: the port is taken or not allowed.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError as error:
        made.close()
        raise UsageError(f"port {port} cannot be used: {error.strerror or error}; try another one, or 0") from None
    made.set_inheritable(False)
    return made


def serve(
    folder: Path,
    *,
    port: int = 0,
    model: str = "",
    limits: Limits | None = None,
    tell: Callable[[str], Any] = print,
    open_page: bool = True,
) -> None:
    """Serves a studio until a signal ends it.

    Args:
        folder: where models, runs and results are.
        port: to listen on; 0 for any that is free.
        model: name of the model file to open first.
        limits: of jobs.
        tell: called with the address of the page, once it answers.
        open_page: whether to open the page in the browser.
    """
    token = secrets.token_urlsafe(32)
    code = secrets.token_urlsafe(32) if open_page else ""
    with listening(port) as sock:
        chosen = sock.getsockname()[1]
        address = f"http://{HOST}:{chosen}/?token={token}"

        def ready() -> None:
            tell(address)
            if open_page:
                start = f"http://{HOST}:{chosen}/start?code={code}"
                threading.Thread(target=webbrowser.open, args=(start,), daemon=True).start()

        app = make_app(folder, token=token, port=chosen, code=code, model=model, limits=limits)
        _Server(configured(app), ready).run(sockets=[sock])


def configured(app: Any) -> uvicorn.Config:
    """The settings of the server: no log of addresses, since they contain the token; everything bounded."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=_Patient,
        ws="websockets-sansio",
        ws_max_size=10_000,
        ws_max_queue=8,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=32_768,
        backlog=128,
    )
