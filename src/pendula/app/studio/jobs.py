"""Jobs: what was asked, how far it is, where its result is. A job is reported as done once its result is in a file."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pendula.app.studio.crew import Crew, WorkFailed
from pendula.app.studio.folder import Folder
from pendula.app.studio.guard import Refused
from pendula.app.studio.kinds import KINDS, PASSING, QUICK, read_head
from pendula.app.studio.limits import IDLE_SECONDS, LISTED, PASSING_KEPT, PIECES, REMEMBERED, WAITING_BYTES, Limits
from pendula.app.studio.scratch import Scratch, remove_abandoned
from pendula.arguments import available

FINISHED = ("done", "failed", "cancelled")


@dataclass
class Record:
    """One job.

    Attributes:
        id: its name.
        kind, title, client, created: what it is, for lists; who asked; when.
        state: queued, running, done, failed or cancelled.
        progress: fraction (None if unknown) and text.
        file: of the result.
        head: the first line of the result, if it is done.
        error: why it failed.
        pieces: parts of the result that are known before the job is done; none afterwards, since all is in the file.
    """

    id: str
    kind: str
    title: str
    client: str
    created: float
    file: Path
    state: str = "queued"
    progress: dict[str, Any] = field(default_factory=lambda: {"fraction": None, "text": "waiting"})
    head: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    pieces: list[Any] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def shown(self) -> dict[str, Any]:
        """For lists and events, without the result."""
        about = {name: getattr(self, name) for name in ("id", "kind", "title", "client", "created", "state")}
        return {
            **about,
            "progress": self.progress,
            "pieces": len(self.pieces),
            "error": self.error,
            "files": self.head.get("files", []),
            "ok": self.head.get("ok"),
            "seconds": self.head.get("seconds"),
            "kept": self.kind not in PASSING,
        }


Listener = Callable[[dict[str, Any]], None]


class Jobs:
    """All jobs of one studio: starts them in fair turns, stops them, and knows the results of earlier ones.

    Args:
        folder: where results are kept.
        limits: of jobs.
    """

    def __init__(self, folder: Folder, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        self._long = Crew(limits.workers, limits.each, limits.memory)
        self._quick = Crew(2, 1, limits.memory)
        self._desk = Crew(2, 1, limits.memory)
        self._passing = Scratch()
        self._records: dict[str, Record] = {}
        self._chores: list[asyncio.Task[None]] = []
        self._held = 0  # characters of the models of all jobs that have not finished
        self.listeners: set[Listener] = set()

    async def open(self) -> None:
        """Finds the results of earlier studios, and starts the first workers."""
        self._folder.prepare()
        remove_abandoned()
        self._find_earlier()
        chores = (self._desk.warm({"question": "library", "given": {}}), self._quick.warm({"warm": True}), self._rest())
        self._chores = [asyncio.create_task(chore) for chore in chores]

    async def close(self) -> None:
        """Stops all jobs and all workers."""
        tasks = [record.task for record in self._records.values() if record.task is not None] + self._chores
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(crew.close() for crew in (self._long, self._quick, self._desk)))
        self._passing.close()
        with contextlib.suppress(OSError):
            self._folder.results.rmdir()  # if nothing is in it

    def _find_earlier(self) -> None:
        heads = []
        for path in self._folder.results.glob("*.json"):
            if not path.is_symlink() and (head := read_head(path)) is not None and head["id"] == path.stem:
                heads.append((path, head))
        heads.sort(key=lambda found: found[1]["created"])
        for path, head in heads[-LISTED:]:
            record = Record(path.stem, head["kind"], head["title"], "", head["created"], path)
            record.state, record.head, record.progress = "done", head, {"fraction": 1.0, "text": "done"}
            self._records[record.id] = record

    async def _rest(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 10)
            for crew in (self._long, self._quick, self._desk):
                await crew.rest()

    @property
    def processes(self) -> list[int]:
        """Of all workers."""
        return [pid for crew in (self._long, self._quick, self._desk) for pid in crew.processes]

    # --- questions ----------------------------------------------------------------------------------------

    async def answer(self, client: str, question: str, given: dict[str, Any]) -> Any:
        """The answer to a question, at once."""
        request = {"question": question, "given": given}
        try:
            return await self._desk.ask(client, request, self._limits.question_seconds)
        except WorkFailed as error:
            raise Refused(422, str(error)) from None

    # --- jobs ---------------------------------------------------------------------------------------------

    def start(self, client: str, kind: Any, text: Any, options: Any, title: str) -> Record:
        """Queues a job.

        Raises:
            Refused: there is no such kind of job, or too many wait.
        """
        if not isinstance(kind, str) or kind not in KINDS:
            raise Refused(400, f"there is no such kind of job; {available(KINDS)}")
        if not isinstance(text, str) or not isinstance(options, dict):
            raise Refused(400, 'a job needs "text", the model as TOML, and "options", a table')
        crew = self._quick if kind in QUICK else self._long
        crew.check_room(client)
        if self._held + len(text) > WAITING_BYTES:
            raise Refused(429, "the jobs that wait hold too much text; try again when some are done")
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        name = f"{stamp}-{kind}-{secrets.token_hex(4)}"
        home = self._passing.path if kind in PASSING else self._folder.results
        record = Record(name, kind, title, client, time.time(), home / f"{name}.json")
        self._records[name] = record
        self._forget_old()
        seconds = self._limits.quick_seconds if kind in QUICK else self._limits.seconds
        record.task = asyncio.create_task(self._run(record, crew, text, options, seconds))
        self._held += len(text)
        record.task.add_done_callback(lambda task: self._release(len(text)))
        self._tell(record)
        return record

    async def _run(self, record: Record, crew: Crew, text: str, options: dict[str, Any], seconds: float) -> None:
        request = {
            **{name: getattr(record, name) for name in ("id", "kind", "title", "created")},
            "text": text,
            "options": options,
            "folder": str(self._folder.path),
            "file": str(record.file),
        }

        def progress(news: dict[str, Any]) -> None:
            if "progress" in news:
                record.progress = news["progress"]
            elif len(record.pieces) < PIECES:
                record.pieces.append(news["piece"])
            self._tell(record)

        def begin() -> None:
            record.state, record.progress = "running", {"fraction": None, "text": "starting"}
            self._tell(record)

        try:
            record.head = await crew.ask(record.client, request, seconds, tell=progress, begin=begin)
            record.state, record.progress = "done", {"fraction": 1.0, "text": "done"}
        except (WorkFailed, Refused) as error:
            record.state, record.error = "failed", str(error)
        except asyncio.CancelledError:
            record.state = "cancelled"
        except Exception as error:
            record.state, record.error = "failed", f"internal error of the studio: {type(error).__name__}: {error}"
        finally:
            record.task = None
            record.pieces = []
            self._tell(record)

    def _release(self, characters: int) -> None:
        self._held -= characters

    async def cancel(self, name: str) -> Record:
        """Stops a job: its worker is killed. A job that has finished stays as it is."""
        record = self.find(name)
        task = record.task
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if record.state not in FINISHED:  # it had not begun
                record.state, record.task = "cancelled", None
                self._tell(record)
        return record

    def find(self, name: str) -> Record:
        """The job of a name."""
        if name not in self._records:
            raise Refused(404, "there is no such job")
        return self._records[name]

    def remove(self, name: str) -> None:
        """Removes a finished job and its result."""
        record = self.find(name)
        if record.state not in FINISHED:
            raise Refused(409, "the job has not finished; cancel it first")
        del self._records[name]
        with contextlib.suppress(OSError):
            record.file.unlink()

    def listed(self) -> list[dict[str, Any]]:
        """All jobs, newest first."""
        found = sorted(self._records.values(), key=lambda record: -record.created)
        return [record.shown() for record in found[:LISTED]]

    def _forget_old(self) -> None:
        """Forgets the oldest jobs that failed or kept no result in the folder, and results beyond a count."""
        ended = [r for r in self._records.values() if r.state in FINISHED]
        passing = [r for r in ended if r.kind in PASSING]
        failed = [r for r in ended if r.state != "done" and r.kind not in PASSING]
        kept = [r for r in ended if r.state == "done" and r.kind not in PASSING]
        for some, most in ((passing, PASSING_KEPT), (failed, REMEMBERED), (kept, LISTED)):
            for record in some[: max(len(some) - most, 0)]:
                del self._records[record.id]
                if record.kind in PASSING:
                    with contextlib.suppress(OSError):
                        record.file.unlink()

    def _tell(self, record: Record) -> None:
        shown = record.shown()
        for listener in tuple(self.listeners):
            listener(shown)
