"""Security of the studio: what is refused, and that refusals tell nothing and harm nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time

import pytest

from pendula.app.studio import guard
from pendula.app.studio.app import make_app
from pendula.app.studio.guard import Codes
from pendula.app.studio.limits import BODY_BYTES, CONNECTIONS
from pendula.app.studio.page import studio_page
from tests.app.studio_server import PENDULUM, StudioProcess, exchange, studio

websockets = pytest.importorskip("websockets.sync.client")
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus

ROUTES = [
    ("POST", "/api/codes"),
    ("GET", "/api/state"),
    ("GET", "/api/library"),
    ("GET", "/api/library/pendulum"),
    ("GET", "/api/schema"),
    ("GET", "/api/choices"),
    ("GET", "/api/files"),
    ("GET", "/api/models/swing.toml"),
    ("PUT", "/api/models/swing.toml"),
    ("POST", "/api/check"),
    ("GET", "/api/jobs"),
    ("POST", "/api/jobs"),
    ("GET", "/api/jobs/x"),
    ("DELETE", "/api/jobs/x"),
    ("GET", "/api/jobs/x/pieces"),
    ("DELETE", "/api/results/x"),
    ("GET", "/live/x.js"),
    ("GET", "/download/swing.toml"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A studio whose folder has a model, beside a secret outside, with links that lead there."""
    top = tmp_path_factory.mktemp("top")
    (top / "secret.toml").write_text("secret = true\n")
    folder = top / "folder"
    folder.mkdir()
    (folder / "swing.toml").write_text(PENDULUM)
    (folder / "link.toml").symlink_to(top / "secret.toml")
    (folder / "up").symlink_to(top)
    (folder / ".hidden.toml").write_text("hidden = true\n")
    os.mkfifo(folder / "pipe.toml")
    (folder / "folder.toml").mkdir()
    with studio(folder) as running:
        yield running


def test_every_route_is_in_the_list_of_refused_ones(tmp_path):
    app = make_app(tmp_path, token="t", port=1)
    served = {(m, r.path) for r in app._app.routes if hasattr(r, "methods") for m in r.methods - {"HEAD"}}

    def template(path):
        words = path.strip("/").split("/")
        names = {"library", "models", "live", "download"}
        if len(words) > 1 and words[-2] in names:
            words[-1] = "{name}"
        words = [
            "{id}" if before in {"jobs", "results"} else word
            for before, word in zip(["", *words[:-1]], words, strict=True)
        ]
        return "/" + "/".join(words)

    assert {(m, template(p)) for m, p in ROUTES} | {("GET", "/")} == served


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_requests_without_the_token_are_refused_without_a_reason(place, method, path):
    client = place.client()
    wrong = place.token[:-1] + ("a" if place.token[-1] != "a" else "b")
    for headers in ({}, {"X-Pendula-Token": ""}, {"X-Pendula-Token": wrong}, {"Authorization": place.token}):
        answer = client.raw(method, path, headers=headers)
        assert (answer.status, answer.data) == (403, {"error": "forbidden"})
    answer = client.raw(method, f"{path}?token={wrong}")
    assert answer.status == 403


def test_the_token_in_the_address_opens_only_what_a_browser_opens(place):
    client = place.client()
    for path, status in [
        ("/", 303),
        ("/download/swing.toml", 200),
        ("/live/x.js", 404),
        ("/api/files", 403),
        ("/api/jobs", 403),
        ("/api/models/swing.toml", 403),
        ("//", 403),
    ]:
        assert client.raw("GET", f"{path}?token={place.token}").status == status, path
    assert client.raw("GET", f"/?token={place.token}&token={place.token}").status == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "[::1]:{port}",
    ],
)
def test_a_foreign_host_is_refused(place, host):
    answer = place.client().ask("GET", "/api/files", Host=host.format(port=place.port))
    assert answer.status == 403


def test_the_code_opens_the_page_once_and_only_with_host_and_origin(tmp_path, monkeypatch):
    async def answer(app, target, headers, method):
        path, _, query = target.partition("?")
        sent = []
        scope = {"type": "http", "path": path, "query_string": query.encode(), "headers": headers, "method": method}

        async def send(message):
            sent.append(message)

        await app(scope, None, send)
        return sent[0]["status"], dict(sent[0]["headers"]).get(b"location"), sent[1].get("body")

    def ask(app, target, *headers):
        return asyncio.run(answer(app, target, [(b"host", b"127.0.0.1:7"), *headers], "GET"))[:2]

    def token(app, code, *headers):
        given = [(b"host", b"127.0.0.1:7"), (b"x-pendula-code", code), *headers]
        status, _, body = asyncio.run(answer(app, "/api/token", given, "POST"))
        return status, json.loads(body)

    app = make_app(tmp_path, token="secret", port=7, code="once")
    assert ask(app, "/start?code=once", (b"origin", b"http://evil.example")) == (403, None)
    assert ask(app, "/start?code=wrong") == (403, None)
    assert ask(app, "/start?code=once&code=once") == (403, None)
    status, to = ask(app, "/start?code=once")
    assert (status, to[:2], len(to)) == (303, b"/#", 45)
    assert ask(app, "/start?code=once") == (403, None)
    refused = 403, {"error": "forbidden"}
    assert token(app, b"once") == token(app, b"") == token(app, b"wrong") == refused
    assert token(app, to[2:], (b"origin", b"http://evil.example")) == refused
    assert token(app, to[2:], (b"x-pendula-code", to[2:])) == refused
    assert token(app, to[2:]) == (200, {"token": "secret"})
    assert token(app, to[2:]) == refused
    status, to = ask(app, "/?token=secret")
    assert (status, to[:2]) == (303, b"/#")
    assert b"secret" not in to
    assert token(app, to[2:]) == (200, {"token": "secret"})
    codes = Codes()
    late = codes.made()
    monkeypatch.setattr(guard, "CODE_SECONDS", -1.0)
    assert codes.used_up(late.encode())
    assert not codes.used_up(codes.made().encode())
    assert ask(app, "/start?code=") == (403, None)
    without = make_app(tmp_path, token="secret", port=7)
    assert ask(without, "/start?code=") == (403, None)
    assert ask(without, "/start") == (403, None)


def test_the_names_of_the_loopback_address_are_accepted(place):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert place.client().ask("GET", "/api/files", Host=f"{name}:{place.port}").status == 200


def test_two_hosts_are_refused(place):
    text = f"GET /api/files HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\nHost: evil\r\nX-Pendula-Token: {place.token}\r\n\r\n"
    assert b" 200 " not in exchange(place.port, text.encode(), seconds=1.0).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
        "",
    ],
)
def test_a_foreign_origin_is_refused(place, origin):
    answer = place.client().ask("GET", "/api/files", Origin=origin.format(port=place.port))
    assert answer.status == 403


def test_the_own_origin_is_accepted_and_a_request_that_another_site_made_is_not(place):
    client = place.client()
    assert client.ask("GET", "/api/files", Origin=f"http://127.0.0.1:{place.port}").status == 200
    assert client.ask("GET", "/api/files", **{"Sec-Fetch-Site": "same-origin"}).status == 200
    for site in ("cross-site", "same-site"):
        assert client.ask("GET", "/api/files", **{"Sec-Fetch-Site": site}).status == 403


def test_the_web_socket_needs_token_host_and_origin(place):
    def opened(token, **more):
        address = f"ws://127.0.0.1:{place.port}/api/events?token={token}"
        try:
            with websockets.connect(address, open_timeout=10, **more):
                return True
        except InvalidStatus as refused:
            return refused.response.status_code != 403

    assert opened(place.token)
    assert opened(place.token, origin=f"http://127.0.0.1:{place.port}")
    assert not opened("wrong")
    assert not opened("")
    assert not opened(place.token, origin="http://evil.example")
    assert not opened(place.token, origin="null")


PATHS = [
    "../secret.toml",
    "..%2fsecret.toml",
    "%2e%2e/secret.toml",
    "%2e%2e%2fsecret.toml",
    "..%5csecret.toml",
    "..\\secret.toml",
    "%252e%252e%252fsecret.toml",
    "up/secret.toml",
    "up%2fsecret.toml",
    "./../secret.toml",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "//etc/passwd",
    "C:%5cWindows%5cwin.ini",
    "link.toml",
    ".hidden.toml",
    "pipe.toml",
    "folder.toml",
    "swing.toml%00.png",
    "swing.toml%0d%0aX: y",
    "swing%2etoml/..%2f..%2fsecret.toml",
    "con.toml",
    "swing.toml.",
    "swing.toml%20",
    "",
    "%ff%fe.toml",
    "a" * 300 + ".toml",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leaves_the_folder(place, path):
    for method, start in [("GET", "/api/models/"), ("PUT", "/api/models/"), ("GET", "/download/")]:
        body = json.dumps({"text": "stolen"}) if method == "PUT" else ""
        lines = [
            f"{method} {start}{path} HTTP/1.1",
            f"Host: 127.0.0.1:{place.port}",
            f"X-Pendula-Token: {place.token}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        answer = exchange(place.port, ("\r\n".join(lines) + f"\r\n\r\n{body}").encode())
        status = int(answer.split()[1])
        assert 400 <= status < 500, (method, status)
        assert b"secret" not in answer.split(b"\r\n\r\n", 1)[1].replace(b"secret.toml", b"")
        assert b"root:" not in answer
    top = place.folder.parent
    assert sorted(p.name for p in top.iterdir()) == ["folder", "secret.toml"]
    assert (top / "secret.toml").read_text() == "secret = true\n"
    assert "stolen" not in (place.folder / "swing.toml").read_text()


def test_the_path_of_the_target_is_no_address(place):
    text = f"GET http://evil.example/api/files HTTP/1.1\r\nHost: evil.example\r\nX-Pendula-Token: {place.token}\r\n\r\n"
    answer = exchange(place.port, text.encode(), seconds=1.0)
    assert b" 200 " not in answer.split(b"\r\n")[0]


def test_links_pipes_and_hidden_files_are_not_listed(place):
    names = [
        file["name"]
        for kind in place.client().ask("GET", "/api/files").data.values()
        for file in kind
        if "name" in file
    ]
    assert "swing.toml" in names
    assert not {"link.toml", "pipe.toml", ".hidden.toml", "folder.toml", "up"} & set(names)


def test_a_link_is_not_written_through(place):
    answer = place.client().ask("PUT", "/api/models/link.toml", {"text": "stolen"})
    assert answer.status == 400
    assert (place.folder.parent / "secret.toml").read_text() == "secret = true\n"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(place):
    client = place.client()
    headers = {"X-Pendula-Token": place.token, "Content-Length": str(10**12)}
    client.connection.putrequest("PUT", "/api/models/big.toml")
    for name, value in headers.items():
        client.connection.putheader(name, value)
    client.connection.endheaders()
    assert client.connection.getresponse().status == 413
    with contextlib.suppress(ConnectionError):  # it may close the connection before all has been sent
        assert place.client().ask("PUT", "/api/models/big.toml", {"text": "x" * BODY_BYTES}).status == 413
    assert place.client().ask("PUT", "/api/models/large.toml", {"text": "x" * (BODY_BYTES - 100)}).status == 200
    assert not (place.folder / "big.toml").exists()


def test_a_body_without_length_is_cut_off_at_the_limit(place):
    head = f"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\nX-Pendula-Token: {place.token}\r\n"
    with socket.create_connection(("127.0.0.1", place.port), timeout=20) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"%x\r\n%s\r\n" % (100_000, b"x" * 100_000)
        with contextlib.suppress(ConnectionError):
            for _ in range(BODY_BYTES // 100_000 + 5):
                connection.sendall(piece)
        with contextlib.suppress(ConnectionError):
            assert b" 413 " in connection.recv(200)
    assert place.client().ask("GET", "/api/files").status == 200


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": {"name": "a", "parameters": {"m": 1e999}}}',
        b'{"text": "", "kind": "live", "options": {"a": -1e999}}',
        b'{"data": {"name": "a", "parameters": {"m": NaN}}}',
        b"",
        b"{",
        b"[1, 2]",
        b'"text"',
        b"null",
        b'{"text": NaN}',
        b'{"text": 3}',
        b'{"text": null}',
        b'{"data": [1]}',
        b"\xff\xfe",
        b'{"text": "\\ud800"}',
        b"[" * 100_000,
        b'{"text": ' + b"9" * 5000 + b"}",
        b'{"text": "a\x00b"}',
    ],
)
@pytest.mark.parametrize("path", ["/api/check", "/api/jobs"])
def test_malformed_bodies_get_one_clear_message(place, path, body):
    answer = place.client().raw("POST", path, body, {"X-Pendula-Token": place.token})
    assert answer.status in (400, 422)
    assert list(answer.data) == ["error"]
    assert 0 < len(answer.data["error"]) < 500
    assert "Traceback" not in answer.data["error"]


def test_wrong_methods_and_unknown_paths_are_refused(place):
    client = place.client()
    assert client.ask("POST", "/api/files").status == 405
    assert client.ask("GET", "/api/nothing").status == 404
    assert client.ask("TRACE", "/api/files").status == 405
    assert client.ask("GET", "/api/files/").status == 404


def test_bytes_that_are_no_request_do_no_harm(place):
    for sent in (
        b"\x00" * 1000,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"A" * 200_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000,
    ):
        answer = exchange(place.port, sent, seconds=1.0)
        assert b" 200 " not in answer.split(b"\r\n")[0]
    assert place.client().ask("GET", "/api/files").status == 200


def test_answers_have_the_headers_that_keep_them_harmless(place):
    client = place.client()
    answers = [
        client.ask("GET", "/api/files"),
        client.ask("GET", "/api/nothing"),
        client.ask("GET", "/download/swing.toml"),
        client.raw("GET", f"/?token={place.token}"),
        client.raw("GET", "/"),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers
    scripts = next(p for p in answers[-1].headers["content-security-policy"].split("; ") if p.startswith("script-src"))
    assert "unsafe-inline" not in scripts
    assert "'sha256-" in scripts
    assert answers[2].headers["content-disposition"] == 'attachment; filename="swing.toml"'
    assert answers[2].headers["content-type"] == "application/octet-stream"


def test_the_page_is_the_same_for_everybody_and_contains_neither_the_token_nor_an_address_of_elsewhere(place):
    answer = place.client().raw("GET", "/")
    assert answer.headers["connection"] == "close"  # strangers keep no connection
    text, policy = studio_page(place.port)
    assert answer.body.decode() == text
    assert answer.headers["content-security-policy"] == policy
    assert place.client().raw("GET", "/", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert place.token not in text
    assert "swing" not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text


def test_a_preflight_of_another_site_is_refused(place):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "PUT"}
    answer = place.client().raw("OPTIONS", "/api/models/swing.toml", headers=headers)
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.slow
def test_a_silent_connection_is_closed(place):
    with socket.create_connection(("127.0.0.1", place.port), timeout=40) as connection:
        began = time.monotonic()
        assert connection.recv(10) == b""
        assert time.monotonic() - began < 30


@pytest.mark.slow
def test_a_body_that_never_comes_is_not_waited_for(place):
    head = f"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\nX-Pendula-Token: {place.token}\r\n"
    answer = exchange(place.port, f"{head}Content-Length: 10\r\n\r\n{{".encode(), seconds=40)
    assert b" 408 " in answer.split(b"\r\n")[0]


def test_a_file_is_downloaded_by_an_address_that_works_once(place):
    client = place.client()
    target = f"/download/swing.toml?code={client.ask('POST', '/api/codes').data['code']}"
    assert client.raw("GET", target.replace("/download/swing.toml", "/api/files")).status == 403
    assert client.raw("GET", target).body.decode() == PENDULUM
    assert client.raw("GET", target).status == 403


@pytest.mark.parametrize(
    "half", [b"", b"G", b"GET /api/files HTTP/1.1\r\nHost: x\r\n", b"PUT / HTTP/1.1\r\nContent-Le"]
)
def test_half_requests_do_not_hold_up_the_page(place, half):
    with contextlib.ExitStack() as opened:
        for _ in range(CONNECTIONS + 50):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", place.port), timeout=20))
            with contextlib.suppress(ConnectionError):
                connection.sendall(half)
        began = time.monotonic()
        assert place.client().ask("GET", "/api/files").status == 200
        assert place.client().raw("GET", "/").status == 200
        assert time.monotonic() - began < 5.0  # BODY_SECONDS is 10


def test_it_listens_on_the_loopback_address_only(place: StudioProcess):
    with open(f"/proc/{place.process.pid}/net/tcp") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    wanted = f"{place.port:04X}"
    addresses = {row[1].split(":")[0] for row in rows if row[1].endswith(f":{wanted}") and row[3] == "0A"}
    assert addresses == {"0100007F"}
