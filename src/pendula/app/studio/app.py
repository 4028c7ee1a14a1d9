"""The routes of the studio, and the application that serves them behind the guard; see ``docs/studio.md``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pendula.app.studio.folder import EXPORTS, Folder, checked_name, version_of
from pendula.app.studio.guard import Codes, Guard, Refused
from pendula.app.studio.jobs import Jobs, Record
from pendula.app.studio.limits import CLIENT_NAME, RESULT_BYTES, SOCKETS, Limits
from pendula.app.studio.page import studio_page
from pendula.storage.inside import open_inside

PIECE = 256_000  # bytes of a download at a time
GATHERED = 0.05  # seconds in which changes of jobs are gathered into one message


@dataclass
class Studio:
    """One studio: its folder, its jobs and its first model.

    Attributes:
        folder: where models, runs and results are.
        jobs: all jobs.
        port: that it listens on.
        codes: that work once.
        model: name of the model to open first, or empty.
        sockets: number of pages that listen to events.
    """

    folder: Folder
    jobs: Jobs
    port: int
    codes: Codes
    model: str = ""
    sockets: int = 0


def make_app(
    folder: Path, *, token: str, port: int, code: str = "", model: str = "", limits: Limits | None = None
) -> Guard:
    """The application of a studio that works in a folder.

    Args:
        folder: it exists.
        token: the secret in the address of the page.
        port: that the server listens on.
        code: opens the page once; see :class:`~pendula.app.studio.guard.Codes`.
        model: name of the model file in the folder that the page opens first.
        limits: of jobs.
    """
    home = Folder(folder)
    studio = Studio(home, Jobs(home, limits or Limits()), port, Codes(code), model)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await studio.jobs.open()
        try:
            yield
        finally:
            await studio.jobs.close()

    routes = [
        Route("/", page, methods=["GET"]),
        Route("/live/{name}", program, methods=["GET"]),
        Route("/download/{name}", download, methods=["GET"]),
        Route("/api/codes", new_code, methods=["POST"]),
        Route("/api/state", state, methods=["GET"]),
        Route("/api/library", library, methods=["GET"]),
        Route("/api/library/{name}", template, methods=["GET"]),
        Route("/api/schema", schema, methods=["GET"]),
        Route("/api/choices", choices, methods=["GET"]),
        Route("/api/files", files, methods=["GET"]),
        Route("/api/models/{name}", read_model, methods=["GET"]),
        Route("/api/models/{name}", write_model, methods=["PUT"]),
        Route("/api/check", check, methods=["POST"]),
        Route("/api/jobs", jobs, methods=["GET"]),
        Route("/api/jobs", start_job, methods=["POST"]),
        Route("/api/jobs/{id}", read_job, methods=["GET"]),
        Route("/api/jobs/{id}", cancel_job, methods=["DELETE"]),
        Route("/api/jobs/{id}/pieces", read_pieces, methods=["GET"]),
        Route("/api/results/{id}", remove_result, methods=["DELETE"]),
        WebSocketRoute("/api/events", events),
    ]
    handlers: Any = {Refused: _refused, HTTPException: _not_found, Exception: _bug}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.studio = studio
    return Guard(app, token=token, port=port, codes=studio.codes)


# --- errors -----------------------------------------------------------------------------------------------


async def _refused(request: Request, error: Any) -> Response:
    close = {"connection": "close"} if error.status in (408, 413) else None  # the rest of the request is not read
    return JSONResponse({"error": error.reason}, error.status, headers=close)


async def _not_found(request: Request, error: Any) -> Response:
    return JSONResponse({"error": "not found" if error.status_code == 404 else "not allowed"}, error.status_code)


async def _bug(request: Request, error: Any) -> Response:
    return JSONResponse({"error": f"internal error, a bug in Pendula: {type(error).__name__}"}, 500)


# --- what a request holds ---------------------------------------------------------------------------------


def _studio(request: Request | WebSocket) -> Studio:
    found: Studio = request.app.state.studio
    return found


def _client(request: Request) -> str:
    """Who asks: a page names itself, so that its jobs take turns with those of other pages."""
    return re.sub("[^A-Za-z0-9_-]", "", request.headers.get("x-pendula-client", ""))[:CLIENT_NAME]


def _finite(word: str) -> float:
    """The number of a word; NaN, Infinity and 1e999 are none."""
    found = float(word)
    if not math.isfinite(found):
        raise ValueError(word)
    return found


async def _json(request: Request) -> dict[str, Any]:
    body = await request.body()
    try:
        found = json.loads(body, parse_constant=_finite, parse_float=_finite)
        if rb"\ud" in body.lower():  # halves of characters, which no text file can hold
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refused(400, "the body of the request is not JSON with finite numbers") from None
    if not isinstance(found, dict):
        raise Refused(400, "the body of the request must be a JSON object")
    return found


# --- pages and files --------------------------------------------------------------------------------------


async def page(request: Request) -> Response:
    """The page itself."""
    text, policy = studio_page(_studio(request).port)
    return Response(text, media_type="text/html", headers={"content-security-policy": policy})


async def new_code(request: Request) -> Response:
    """A code for an address that a browser keeps, such as that of a download; it works once."""
    return JSONResponse({"code": _studio(request).codes.made()})


async def program(request: Request) -> Response:
    """The program of a live job as a module of JavaScript: ``program`` and ``wrenches``."""
    name = request.path_params["name"]
    if not name.endswith(".js"):
        raise Refused(404, "there is no such program")
    record = _studio(request).jobs.find(name.removesuffix(".js"))
    if record.kind != "live" or record.state != "done":
        raise Refused(404, "there is no such program")
    with _stored(record) as file:
        result = json.loads(b"{" + file.read(RESULT_BYTES))["result"]
    text = f"export const program = {result['program']};\nexport const wrenches = {result['wrenches'] or 'null'};\n"
    return Response(text, media_type="text/javascript")


async def download(request: Request) -> Response:
    """A file of the folder, to be saved; a browser never opens it in the place of the studio."""
    name = checked_name(request.path_params["name"], EXPORTS)
    file = open(_studio(request).folder.opened(name), "rb")  # noqa: SIM115  closed when it is sent
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-length": str(os.fstat(file.fileno()).st_size),
    }
    return StreamingResponse(_pieces(file), media_type="application/octet-stream", headers=headers)


async def _pieces(file: BinaryIO, first: bytes = b"") -> AsyncIterator[bytes]:
    """The rest of a file in pieces, so that little of a large file is in memory."""
    with file:
        left = os.fstat(file.fileno()).st_size - file.tell()
        if first:
            yield first
        while left > 0 and (piece := await run_in_threadpool(file.read, min(PIECE, left))):
            left -= len(piece)
            yield piece


async def state(request: Request) -> Response:
    """What the page opens first."""
    from pendula import __version__

    studio = _studio(request)
    return JSONResponse({"folder": studio.folder.path.name, "model": studio.model, "version": __version__})


async def files(request: Request) -> Response:
    """Models, runs and other files of the folder, and the results of jobs."""
    studio = _studio(request)
    listing: dict[str, Any] = await run_in_threadpool(studio.folder.listing)
    results = [job for job in studio.jobs.listed() if job["state"] == "done" and job["kept"]]
    return JSONResponse({**listing, "results": results})


async def read_model(request: Request) -> Response:
    """The text of a model."""
    text = await run_in_threadpool(_studio(request).folder.read_model, request.path_params["name"])
    return JSONResponse({"text": text, "version": version_of(text)})


async def write_model(request: Request) -> Response:
    """Saves a model."""
    given = await _json(request)
    text, version = given.get("text"), given.get("version")
    if not isinstance(text, str) or not (version is None or isinstance(version, str)):
        raise Refused(400, 'to save a model, send "text" and, if it replaces another, its "version"')
    name = request.path_params["name"]
    saved = await run_in_threadpool(_studio(request).folder.write_model, name, text, version)
    return JSONResponse({"name": name, "version": saved})


# --- questions --------------------------------------------------------------------------------------------


async def _answer(request: Request, question: str, given: dict[str, Any]) -> Response:
    return JSONResponse(await _studio(request).jobs.answer(_client(request), question, given))


async def library(request: Request) -> Response:
    """The mechanisms of the library."""
    return await _answer(request, "library", {})


async def template(request: Request) -> Response:
    """A mechanism of the library as a model file."""
    arguments = {name: value[:200] for name, value in list(request.query_params.items())[:50]}
    return await _answer(request, "template", {"name": request.path_params["name"], "arguments": arguments})


async def schema(request: Request) -> Response:
    """The JSON schema of model files."""
    return await _answer(request, "schema", {})


async def choices(request: Request) -> Response:
    """Names from the registries: formulations, languages, steppers, figures; default settings of runs."""
    return await _answer(request, "choices", {})


async def check(request: Request) -> Response:
    """The problems of a model, and its other view."""
    return await _answer(request, "check", await _json(request))


# --- jobs -------------------------------------------------------------------------------------------------


async def jobs(request: Request) -> Response:
    """All jobs without their results, newest first."""
    return JSONResponse(_studio(request).jobs.listed())


async def start_job(request: Request) -> Response:
    """Queues a job."""
    given = await _json(request)
    title = given.get("title", "")
    if not isinstance(title, str) or len(title) > 200:
        raise Refused(400, "the title of a job is a text of at most 200 characters")
    options = given.get("options", {})
    record = _studio(request).jobs.start(_client(request), given.get("kind"), given.get("text"), options, title)
    return JSONResponse({"id": record.id}, 202)


async def read_job(request: Request) -> Response:
    """A job, with what was asked and its result if it is done."""
    record = _studio(request).jobs.find(request.path_params["id"])
    if record.state != "done":
        return JSONResponse(record.shown())
    head = json.dumps(record.shown(), separators=(",", ":"))
    stored = _pieces(_stored(record), f"{head[:-1]},".encode())
    return StreamingResponse(stored, media_type="application/json")


def _stored(record: Record) -> BinaryIO:
    """The stored result of a job, open after its first line: ``"asked": ..., "result": ...}``."""
    try:
        file = open(open_inside(record.file.parent, record.file.name), "rb")  # noqa: SIM115
        file.readline()
        return file
    except OSError:
        raise Refused(410, "the result of this job is no longer in the folder") from None


async def read_pieces(request: Request) -> Response:
    """What a job has found so far, from some piece on."""
    record = _studio(request).jobs.find(request.path_params["id"])
    start = request.query_params.get("from", "0")
    if not (start.isascii() and start.isdigit() and len(start) < 10):
        raise Refused(400, "from must be the number of a piece")
    return JSONResponse({"pieces": record.pieces[int(start) :], "next": len(record.pieces), "state": record.state})


async def cancel_job(request: Request) -> Response:
    """Stops a job."""
    return JSONResponse((await _studio(request).jobs.cancel(request.path_params["id"])).shown())


async def remove_result(request: Request) -> Response:
    """Removes a finished job and its result."""
    _studio(request).jobs.remove(request.path_params["id"])
    return JSONResponse({})


async def events(socket: WebSocket) -> None:
    """Sends every change of every job to a page; of several changes of one job, the last."""
    studio = _studio(socket)
    if studio.sockets >= SOCKETS:
        await socket.close(4429)
        return
    changed: dict[str, dict[str, Any]] = {}
    wake = asyncio.Event()

    def listen(job: dict[str, Any]) -> None:
        changed[job["id"]] = job
        wake.set()

    await socket.accept()
    studio.sockets += 1
    studio.jobs.listeners.add(listen)
    waiting = asyncio.create_task(_until_closed(socket))
    try:
        while not waiting.done():
            woken = asyncio.create_task(wake.wait())
            await asyncio.wait([woken, waiting], return_when=asyncio.FIRST_COMPLETED)
            woken.cancel()
            await asyncio.sleep(GATHERED)
            wake.clear()
            news = list(changed.values())
            changed.clear()
            if news and not waiting.done():
                await socket.send_json({"jobs": news})
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        studio.jobs.listeners.discard(listen)
        studio.sockets -= 1
        waiting.cancel()


async def _until_closed(socket: WebSocket) -> None:
    """Ignores what the page sends until it leaves."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
