"""A crew of worker processes, shared fairly: each client has its own queue, and none can occupy all workers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections import deque
from collections.abc import Callable
from typing import Any

from pendula.app.studio.guard import Refused
from pendula.app.studio.limits import IDLE_SECONDS, WAITING_ALL, WAITING_EACH
from pendula.extensions import VARIABLE, loaded
from pendula.parallel.children import python

LONGEST_LINE = 64_000_000
"""Longest answer of a worker, in bytes."""
REAP = 5.0  # seconds until a process that was killed must be gone

Tell = Callable[[dict[str, Any]], None]


class WorkFailed(Exception):
    """A worker could not do its work; the message says why."""


class Worker:
    """One worker process."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.used = 0.0
        """when it last finished its work, by the clock of the loop"""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process, or None if there is none at present."""
        return None if self._process is None else self._process.pid

    async def ask(self, request: dict[str, Any], seconds: float, tell: Tell) -> Any:
        """The answer to a request.

        If the caller is cancelled, or if the answer takes longer than ``seconds``, the process is killed; the next
        request starts a new one.

        Raises:
            WorkFailed: it gave an error, took too long, or its process ended.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(request, tell)
        except TimeoutError:
            await self.kill()
            raise WorkFailed(f"stopped: it took longer than the {seconds:g} s that are allowed") from None
        except asyncio.CancelledError:
            await asyncio.shield(self.kill())
            raise

    async def _answer(self, request: dict[str, Any], tell: Tell) -> Any:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            await process.stdin.drain()
            while line := await process.stdout.readline():
                message = json.loads(line)
                if "progress" in message or "piece" in message:
                    tell(message)
                    continue
                if message.get("worn"):
                    await self.kill()
                if "error" in message:
                    raise WorkFailed(message["error"])
                return message["answer"]
        except (ConnectionError, ValueError):  # ValueError: a line that is too long
            pass
        await self.kill()
        raise WorkFailed(
            "stopped: its process ended. It probably needed more memory than a job of the studio may use "
            f"({self._memory / 1e9:.1f} GB)"
        )

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        self._process = await asyncio.create_subprocess_exec(
            *python("-m", "pendula.app.studio.worker", str(os.getpid()), str(self._memory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if os.environ.get("PENDULA_DEBUG") else asyncio.subprocess.DEVNULL,
            env=_environment(),
            limit=LONGEST_LINE,
            start_new_session=True,  # Ctrl-C reaches the server alone; a kill reaches all that the worker started
        )
        return self._process

    async def kill(self) -> None:
        """Ends the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REAP):
                await process.wait()


def _environment() -> dict[str, str]:
    """Of workers: they load the same extensions, and compute in one thread."""
    extensions = [extension.path or extension.module for extension in loaded()]
    return {
        **os.environ,
        VARIABLE: os.pathsep.join(extensions),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
    }


class Crew:
    """Workers that take requests of many clients in turn.

    Clients are served round robin. One client has at most ``each`` workers at a time, fewer than there are, so that
    another client that comes finds one free or the next that becomes free.

    Args:
        size: number of workers; each process starts when it is first needed.
        each: of one client, at a time.
        memory: of one worker [bytes].
    """

    def __init__(self, size: int, each: int, memory: int) -> None:
        self._idle = [Worker(memory) for _ in range(size)]
        self._all = tuple(self._idle)
        self._each = min(each, max(size - 1, 1))
        self._waiting: dict[str, deque[asyncio.Future[Worker]]] = {}  # by client, in the order of their turns
        self._busy: dict[str, int] = {}

    @property
    def processes(self) -> list[int]:
        """Of the workers that have one."""
        return [worker.pid for worker in self._all if worker.pid is not None]

    async def ask(
        self,
        client: str,
        request: dict[str, Any],
        seconds: float,
        *,
        tell: Tell = lambda progress: None,
        begin: Callable[[], None] = lambda: None,
    ) -> Any:
        """The answer to a request of a client, when its turn has come; see :meth:`Worker.ask`.

        Args:
            client: who asks.
            request: for the worker.
            seconds: that the work may take, without the time in the queue.
            tell: called with ``{"progress": ...}`` and ``{"piece": ...}``.
            begin: called when the work begins.

        Raises:
            WorkFailed: the work failed.
            Refused: too many requests wait.
        """
        worker = await self._turn(client)
        try:
            begin()
            return await worker.ask(request, seconds, tell)
        finally:
            self._give_back(client, worker)

    async def _turn(self, client: str) -> Worker:
        """Waits for a worker."""
        self.check_room(client)
        queue = self._waiting.setdefault(client, deque())
        turn: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._assign()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the same moment
                self._give_back(client, turn.result())
            elif turn in queue:
                queue.remove(turn)
                self._forget(client)
            raise

    def check_room(self, client: str) -> None:
        """Raises Refused if too many requests wait, of this client or of all."""
        if len(self._waiting.get(client, ())) >= WAITING_EACH or sum(map(len, self._waiting.values())) >= WAITING_ALL:
            raise Refused(429, "too many requests are waiting; try again when some are done")

    def _give_back(self, client: str, worker: Worker) -> None:
        worker.used = asyncio.get_running_loop().time()
        self._busy[client] -= 1
        if not self._busy[client]:
            del self._busy[client]
        self._idle.append(worker)
        self._assign()

    def _forget(self, client: str) -> None:
        if client in self._waiting and not self._waiting[client]:
            del self._waiting[client]

    def _assign(self) -> None:
        """Gives idle workers to the clients whose turn it is."""
        while self._idle and self._assign_one_each():
            pass

    def _assign_one_each(self) -> bool:
        """One worker for each client that waits and may have one; whether any got one."""
        given = False
        for client in list(self._waiting):
            if not self._idle:
                break
            queue = self._waiting[client]
            while queue and queue[0].done():  # cancelled
                queue.popleft()
            if queue and self._busy.get(client, 0) < self._each:
                self._busy[client] = self._busy.get(client, 0) + 1
                queue.popleft().set_result(self._idle.pop())
                self._waiting[client] = self._waiting.pop(client)  # its next turn comes after those of the others
                given = True
            self._forget(client)
        return given

    async def warm(self, request: dict[str, Any]) -> None:
        """Starts a worker with a request whose answer is dropped, so that the next answer comes sooner."""
        with contextlib.suppress(WorkFailed):
            await self.ask("", request, 60.0)

    async def rest(self) -> None:
        """Ends the processes of workers that have had nothing to do for long."""
        now = asyncio.get_running_loop().time()
        for worker in [one for one in self._idle if one.pid is not None and now - one.used > IDLE_SECONDS]:
            if worker in self._idle:
                self._idle.remove(worker)
                await worker.kill()
                self._idle.insert(0, worker)
                self._assign()

    async def close(self) -> None:
        """Kills all workers."""
        await asyncio.gather(*(worker.kill() for worker in self._all))
