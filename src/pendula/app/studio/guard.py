"""Who may ask: the token, the address and the origin of a request, its size and its time, and headers of all answers.

:class:`Guard` checks every request before the routes see it. A request passes if it carries the token of this studio,
if it is addressed to the loopback address and port that the studio listens on (which defeats DNS rebinding), and if it
comes from the studio's own page (or from no page at all). Others get 403 without a reason.
"""

from __future__ import annotations

import asyncio
import hmac
import json
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
BY_QUERY = ("/", "/api/events")
BELOW = ("/download/", "/live/")
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


class Guard:
    """An ASGI application that lets only the studio's own page through to another application.

    Args:
        app: the application behind it.
        token: the secret in the address of the page.
        port: that the studio listens on.
        code: opens the page once, at ``/start?code=``: the command that starts a browser is seen by other users.
    """

    def __init__(self, app: App, *, token: str, port: int, code: str = "") -> None:
        self._app = app
        self._code = code.encode()
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
        if scope["type"] == "http" and scope["path"] == "/start" and self._starts(scope):
            to = b"/?token=" + self._token
            await _Answer(send)({"type": "http.response.start", "status": 303, "headers": [(b"location", to)]})
            await send({"type": "http.response.body"})
            return
        if not self._knows(scope):
            await _refuse(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
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
        """Whether the request carries the token."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        given = [value for name, value in headers if name == TOKEN_HEADER]
        if not given and (scope["path"] in BY_QUERY or scope["path"].startswith(BELOW)):
            given = [value.encode() for value in _query(scope).get("token", [])]
        return len(given) == 1 and hmac.compare_digest(given[0], self._token)

    def _starts(self, scope: Scope) -> bool:
        """Whether the request carries the code, which then is used up."""
        given = [value.encode() for value in _query(scope).get("code", [])]
        if not self._code or len(given) != 1 or not hmac.compare_digest(given[0], self._code):
            return False
        self._code = b""
        return True


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
    """Sends an answer with the headers that all answers have."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            names = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "content-security-policy": STRICTEST}
            kept = [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in names]
            message = {**message, "headers": [*message["headers"], *kept]}
        await self._send(message)

    async def error(self, status: int, reason: str) -> None:
        """Answers with an error, unless another answer has begun."""
        if self._begun:
            return
        body = json.dumps({"error": reason}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status in (403, 408, 413):
            headers.append((b"connection", b"close"))  # strangers keep none, and what remains of a request is not read
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers 403, without a reason."""
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        await send({"type": "websocket.close", "code": 4403})  # before it is accepted: the answer is 403
        return
    await _Answer(send).error(403, "forbidden")
