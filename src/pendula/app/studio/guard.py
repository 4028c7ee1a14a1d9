"""Who may ask: the token, the address and the origin of a request, its size and its time, and headers of all answers.

:class:`Guard` checks every request before the routes see it. A request passes if it carries the token of this studio,
if it is addressed to the loopback address and port that the studio listens on (which defeats DNS rebinding), and if it
comes from the studio's own page (or from no page at all). Others get 403 without a reason.

A browser keeps the addresses that it opens, so the token stays in none of them. The address with the token, and the
one that the command opens, lead to ``/#CODE``; the page, which is the same for everybody, exchanges this code for the
token (``POST /api/token``) and keeps it in the memory of its tab. Every :class:`code <Codes>` works once.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from pendula.app.studio.limits import ANSWER_SECONDS, BODIES_BYTES, BODY_BYTES, BODY_SECONDS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_HEADER = b"x-pendula-token"
CODE_HEADER = b"x-pendula-code"
CODE_SECONDS = 60.0
"""Time in which a page uses a code that was made for it."""
CODES = 100
"""Codes that wait for their use."""
BY_QUERY = ("/", "/api/events")
DOWNLOAD = "/download/"
BELOW = (DOWNLOAD, "/live/")
"""Where the token may be part of the address: a browser cannot add a header when it opens these."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",  # the address of the page contains the token
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STRICTEST = "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy of everything but the page: nothing in it runs, whatever it contains."""


class Refused(Exception):
    """A request that is answered with an error code.

    Args:
        status: the HTTP status code.
        reason: what was wrong, for the person at the page.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Codes:
    """Secrets that work once, and for a minute; the first one, if there is one, at any time.

    Example:
        >>> codes = Codes()
        >>> code = codes.made()
        >>> codes.used_up(code.encode()), codes.used_up(code.encode())
        (True, False)
    """

    def __init__(self, first: str = "") -> None:
        self._until = {first.encode(): float("inf")} if first else {}

    def made(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(32)
        now = time.monotonic()
        waiting = [(one, until) for one, until in self._until.items() if until > now]
        self._until = {**dict(waiting[-CODES:]), code.encode(): now + CODE_SECONDS}
        return code

    def used_up(self, given: bytes) -> bool:
        """Whether this is a code that was not used yet; from now on it is not."""
        found = [code for code in self._until if hmac.compare_digest(code, given)]
        return any(self._until.pop(code) > time.monotonic() for code in found)


class Guard:
    """An ASGI application that lets only the studio's own page through to another application.

    Args:
        app: the application behind it.
        token: the secret in the address of the page.
        port: that the studio listens on.
        codes: that open the page or a file once: the command that starts a browser is seen by other users.
    """

    def __init__(self, app: App, *, token: str, port: int, codes: Codes) -> None:
        self._app = app
        self._codes = codes
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._under_way = _UnderWay()
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if not self._addressed(scope):
            await _refuse(scope, receive, send)
            return
        if scope["type"] == "http" and self._leads_to_the_page(scope):
            to = b"/#" + self._codes.made().encode()
            await _Answer(send)({"type": "http.response.start", "status": 303, "headers": [(b"location", to)]})
            await send({"type": "http.response.body"})
            return
        if scope["type"] == "http" and (scope["method"], scope["path"]) == ("POST", "/api/token"):
            if self._has_code(_header(scope, CODE_HEADER)):
                await _Answer(send).data(200, {"token": self._token.decode()})
            else:
                await _refuse(scope, receive, send)
            return
        known = self._knows(scope)
        if not (known or _is_page(scope)):
            await _refuse(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, close=not known)
        body = _Body(receive, self._under_way)
        try:
            body.check_length(scope)
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._app(scope, body, answer)
        except Refused as error:
            await answer.error(error.status, error.reason)
        except TimeoutError:
            await answer.error(504, f"the answer took longer than {ANSWER_SECONDS:g} s")
        finally:
            body.forget()

    def _addressed(self, scope: Scope) -> bool:
        """Whether Host and Origin are right."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return False
        if any(name == b"origin" and value.lower() not in self._origins for name, value in headers):
            return False
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        return all(site in (b"same-origin", b"none") for site in sites)

    def _knows(self, scope: Scope) -> bool:
        """Whether the request carries the token, or a code for a file that is downloaded."""
        given = _header(scope, TOKEN_HEADER)
        if not given and scope["path"].startswith(DOWNLOAD) and self._has_code(_asked(scope, "code")):
            return True
        if not given and (scope["path"] in BY_QUERY or scope["path"].startswith(BELOW)):
            given = _asked(scope, "token")
        return len(given) == 1 and hmac.compare_digest(given[0], self._token)

    def _leads_to_the_page(self, scope: Scope) -> bool:
        """Whether the address holds the token or a code (which then is used up), so that the page must have another."""
        if scope["path"] == "/start":
            return self._has_code(_asked(scope, "code"))
        return scope["path"] == "/" and bool(scope["query_string"]) and self._knows(scope)

    def _has_code(self, given: list[bytes]) -> bool:
        return len(given) == 1 and self._codes.used_up(given[0])


def _is_page(scope: Scope) -> bool:
    """Whether this asks for the page, which is the same for everybody and holds nothing of the folder."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return bool(scope["path"] == "/" and not scope["query_string"])


def _header(scope: Scope, name: bytes) -> list[bytes]:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return [value for one, value in headers if one == name]


def _asked(scope: Scope, name: str) -> list[bytes]:
    return [value.encode() for value in _query(scope).get(name, [])]


def _query(scope: Scope) -> dict[str, list[str]]:
    try:
        return parse_qs(scope["query_string"].decode("ascii"), max_num_fields=20)
    except ValueError:
        return {}


class _UnderWay:
    """How much of all requests is in memory."""

    def __init__(self) -> None:
        self.bytes = 0


class _Body:
    """The body of a request, bounded in size and in time."""

    def __init__(self, receive: Receive, all_bodies: _UnderWay) -> None:
        self._receive = receive
        self._all = all_bodies
        self._read = 0
        self._until = asyncio.get_running_loop().time() + BODY_SECONDS
        self._whole = False

    def check_length(self, scope: Scope) -> None:
        """Refuses a body that says it is too large, before it is read."""
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:12]) > BODY_BYTES):
                raise Refused(413, f"a request may have {BODY_BYTES} bytes at most")

    async def __call__(self) -> Message:
        if self._whole:  # then only the end of the connection can come
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise Refused(408, f"the request did not arrive within {BODY_SECONDS:g} s") from None
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self._read += size
            self._all.bytes += size
            self._whole = not message.get("more_body", False)
            if self._all.bytes > BODIES_BYTES:
                raise Refused(503, "too many large requests at once; try again")
            if self._read > BODY_BYTES:
                raise Refused(413, f"a request may have {BODY_BYTES} bytes at most")
        return message

    def forget(self) -> None:
        """Counts this body no longer."""
        self._all.bytes -= self._read


class _Answer:
    """Sends an answer with the headers that all answers have; with ``close`` it is the last one of its connection."""

    def __init__(self, send: Send, *, close: bool = False) -> None:
        self._send = send
        self._begun = False
        self._close = [(b"connection", b"close")] if close else []  # strangers keep none

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            names = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "content-security-policy": STRICTEST}
            kept = [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in names]
            message = {**message, "headers": [*message["headers"], *kept, *self._close]}
        await self._send(message)

    async def error(self, status: int, reason: str) -> None:
        """Answers with an error, unless another answer has begun."""
        if not self._begun:
            await self.data(status, {"error": reason})

    async def data(self, status: int, content: dict[str, str]) -> None:
        """Answers with JSON."""
        body = json.dumps(content).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status in (403, 408, 413):
            self._close = [(b"connection", b"close")]  # strangers keep none, and what remains of a request is not read
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers 403, without a reason."""
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        await send({"type": "websocket.close", "code": 4403})  # before it is accepted: the answer is 403
        return
    await _Answer(send).error(403, "forbidden")
