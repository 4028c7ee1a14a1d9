"""Runs cases one after the other under limits of processor time and memory, and tells which of them failed and why."""

from __future__ import annotations

import contextlib
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

SECONDS = 5.0
"""processor time of a case"""
BYTES = 1_000_000_000
"""memory that a case may take beyond what the process had before"""


class TooLong(BaseException):
    """A case that took more than its processor time; no ``except Exception`` catches it."""


@dataclass(frozen=True)
class Failure:
    """A case that failed: its seed, in one line why, and where."""

    seed: int
    cause: str
    where: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.cause}\n{self.where}"


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raises TooLong after ``seconds`` of processor time; if native code never returns, ends the process with SIGPROF."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_PROF, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory(more: int = BYTES) -> None:
    """Lets this process take so many more bytes of address space than it has now, until this is called again."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.getrlimit(resource.RLIMIT_AS)[1]))


def failures(
    seeds: Iterable[int], attempt: Callable[[int], None], allowed: tuple[type[BaseException], ...]
) -> Iterator[Failure]:
    """The seeds whose attempt raises anything but ``allowed``, or takes too long."""
    for seed in seeds:
        begun = time.process_time()
        try:
            with limited():
                attempt(seed)
        except allowed:
            pass
        except KeyboardInterrupt:
            raise
        except TooLong as error:
            yield Failure(seed, f"took more than {SECONDS:g} s of processor time", _where(error))
        except BaseException as error:
            yield Failure(seed, f"{type(error).__name__}: {str(error)[:300]}", _where(error))
        else:
            if time.process_time() - begun > 2 * SECONDS:
                yield Failure(seed, f"took {time.process_time() - begun:.1f} s of processor time", "in native code")


def _where(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__)[-6:])
