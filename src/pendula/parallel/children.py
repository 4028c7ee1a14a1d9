"""How Python is started again: such a process never imports files of the folder in which it happens to start.

Python started with ``-c`` or ``-m`` looks for modules in the current folder first, also for those that it needs before
it can be told otherwise. A file ``json.py`` beside a downloaded model would run there. ``-P`` (or ``PYTHONSAFEPATH``,
where others write the command) keeps that folder out; the path of the parent is handed on afterwards.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "PYTHONSAFEPATH"
OURS = "pendula"  # any text switches it on; this one shows that nobody else did

_lock = threading.Lock()
_users = 0


def python(*arguments: str) -> list[str]:
    """The command that starts this Python with some arguments."""
    return [sys.executable, "-P", *arguments]


def can_start_python() -> bool:
    """Whether this program is a Python that can be started again, not one frozen into another program."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith("python") and not getattr(sys, "frozen", False)


@contextmanager
def safe_path() -> Iterator[None]:
    """While this is open, every Python that this process starts keeps out the current folder, whoever starts it."""
    global _users
    with _lock:
        if not os.environ.get(VARIABLE):
            os.environ[VARIABLE] = OURS
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                forget_safe_path()


def forget_safe_path() -> None:
    """Takes back :func:`safe_path`, also in a process that inherited it: what the user starts there is as it was."""
    if os.environ.get(VARIABLE) == OURS:
        del os.environ[VARIABLE]
