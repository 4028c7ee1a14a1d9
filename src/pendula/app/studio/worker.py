"""The process that works for the studio: reads requests line by line, computes, and writes progress and answers.

It is started as ``python -m pendula.app.studio.worker PARENT MEMORY``. Requests and answers are lines of JSON on
standard input and output. Everything that comes from a model file is handled here and never in the server, so that a
request that takes too long or too much memory ends with its process: the server kills it and starts another one. The
process bounds its own memory, and it ends when the server ends, however that happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

from pendula.app.studio.limits import FILE_BYTES, WORN_ANSWERS, WORN_MEMORY
from pendula.extensions import load_installed
from pendula.storage.room import most_memory

LOOK = 1.0  # seconds between looks whether the server is still there, and at the memory
SHARED = 500_000_000
"""Memory that a process has in common with others, such as the code of libraries, beyond what it may use [bytes]."""
TELL = 0.1  # seconds between two messages of progress


def main(parent: int, memory: int) -> None:
    """Answers requests until standard input ends."""
    answers = _own_output()
    _bound(memory)
    _end_with(parent, memory)
    load_installed()
    tell = Teller(answers)
    for count, line in enumerate(sys.stdin, start=1):
        request = json.loads(line)
        tell.begin()
        answer = _answer(request, tell)
        worn = count >= WORN_ANSWERS or most_memory() > WORN_MEMORY * memory
        tell.send(answer | ({"worn": True} if worn else {}))


class Teller:
    """Sends the progress of the work, called as :class:`pendula.app.progress.Progress` is."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._text, self._last = "", 0.0

    def begin(self) -> None:
        """Forgets what the last request said."""
        self._text, self._last = "", 0.0

    def send(self, message: dict[str, Any]) -> None:
        """Writes one line."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._answers, line) :]

    def say(self, text: str) -> None:
        """What is being done now."""
        self._text = text
        self.send({"progress": {"fraction": None, "text": text}})

    def fraction(self, done: float) -> None:
        """How much of it is done, from 0 to 1; sent at most ten times a second."""
        now = time.monotonic()
        if now - self._last >= TELL:
            self._last = now
            self.send({"progress": {"fraction": min(max(float(done), 0.0), 1.0), "text": self._text}})

    def piece(self, found: dict[str, Any]) -> None:
        """A part of the result, before all of it is known."""
        from pendula.app.studio.work import plain

        self.send({"piece": plain(found)})

    def done(self, so_far: int, planned: int) -> None:
        """The completed fraction by counts."""
        self.fraction(so_far / max(planned, 1))

    def update(self, t: float, t_end: float, steps: int) -> None:
        """The completed fraction by the time of a simulation."""
        self.fraction(abs(t) / (abs(t_end) or 1.0))


def _answer(request: dict[str, Any], tell: Teller) -> dict[str, Any]:
    """The answer to one request: ``{"answer": ...}``, or ``{"error": text}``."""
    from pendula.errors import PendulaError

    try:
        if request.get("warm"):
            from pendula.app.studio.work import warm

            warm()
            return {"answer": None}
        if "question" in request:
            from pendula.app.studio.questions import answer

            return {"answer": answer(request["question"], request["given"])}
        from pendula.app.studio.work import perform

        return {"answer": perform(request, tell)}
    except PendulaError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "this needs more memory than a job of the studio may use", "worn": True}
    except RecursionError:
        return {"error": "the request is nested too deeply"}
    except Exception as error:
        if os.environ.get("PENDULA_DEBUG"):
            raise
        return {"error": f"internal error, a bug in Pendula: {type(error).__name__}: {error}"[:2000]}


def _own_output() -> int:
    """A descriptor of standard output for answers alone; what else is printed goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


def _bound(memory: int) -> None:
    """Bounds memory and the size of files, where the system can do that."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)  # the server answers first
    try:
        import resource
    except ImportError:  # Windows
        return
    # Private data on Linux; elsewhere the nearest limit is that of all addresses.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    for which, most in ((kind, memory), (resource.RLIMIT_FSIZE, 2 * FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            hard = resource.getrlimit(which)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (most, hard))
    with contextlib.suppress(AttributeError, ValueError):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead of the end of the process


def _end_with(parent: int, memory: int) -> None:
    """Ends this process when the server ends, also in the middle of long work, or when it has used too much memory.

    The system itself bounds the memory of a process on Linux; elsewhere this is the only bound, and where the memory
    of a process is unknown (Windows) there is none.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

    def watch() -> None:
        while os.getppid() == parent and most_memory() <= memory + SHARED:
            time.sleep(LOOK)
        os._exit(1)

    if hasattr(os, "getppid"):
        threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
