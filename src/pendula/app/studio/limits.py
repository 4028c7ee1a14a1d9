"""The bounds of the studio, in one place: sizes, times, memory and counts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

BODY_BYTES = 2_000_000
"""Largest body of a request."""
BODY_SECONDS = 10.0
"""Time to receive a request, from its first byte to its last."""
ANSWER_SECONDS = 60.0
"""Time to answer a request; jobs continue independently of requests."""
RESULT_BYTES = 40_000_000
"""Largest result of a job, as JSON."""
FILE_BYTES = 200_000_000
"""Largest file that a job may write or a page may download."""
CONNECTIONS = 256
"""Connections at a time; further ones are refused with 503."""
SILENT = 64
"""Connections at a time from which no request has come; the oldest one makes room for the next."""
SOCKETS = 64
"""Pages that may listen to events at a time."""
LISTED = 1000
"""Files and results that a listing names, newest first."""
REMEMBERED = 300
"""Failed or cancelled jobs whose reasons the server remembers."""
PASSING_KEPT = 60
"""Number of the latest results at hand of those that are not kept in the folder."""
PIECES = 500
"""Parts of a result that are known before its job is done."""
BODIES_BYTES = 64_000_000
"""Bytes of all requests that are under way."""
WAITING_BYTES = 100_000_000
"""Characters of the models of all jobs that wait or run."""
WAITING_EACH = 30
"""Jobs of one client that may wait."""
WAITING_ALL = 600
"""Jobs of all clients that may wait."""
IDLE_SECONDS = 600.0
"""Time without work after which a worker process ends; the next request starts another one."""
WORN_ANSWERS = 2000
"""Answers after which a worker process is replaced, and ..."""
WORN_MEMORY = 0.5
"""... the part of its memory limit, if it has used more."""
CLIENT_NAME = 64
"""Longest name by which a page identifies itself, in characters."""


def memory_each() -> int:
    """Memory of one worker [bytes]: a quarter of that of the machine, from 1 to 3 GB."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        machine = 8_000_000_000
    return min(max(machine // 4, 1_000_000_000), 3_000_000_000)


@dataclass(frozen=True)
class Limits:
    """What one job may use, and how many run at a time.

    Args:
        seconds: time of a long job [s].
        quick_seconds: time of a job that a person waits for [s].
        question_seconds: time of a question that is answered at once, such as the check of a model [s].
        memory: of a worker process [bytes].
        workers: long jobs that run at a time, of all clients.
        each: long jobs of one client that run at a time; fewer than ``workers``, so that one client cannot take all.
    """

    seconds: float = 900.0
    quick_seconds: float = 120.0
    question_seconds: float = 10.0
    memory: int = field(default_factory=memory_each)
    workers: int = max(3, min(6, os.cpu_count() or 1))
    each: int = 2
