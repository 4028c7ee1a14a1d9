"""What tests of several parts ask for, and who runs which of them."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.helpers.compiling import compile_once
from tests.helpers.mechanisms import VARIANTS

compile_once()
gc.set_threshold(100_000, 20, 20)  # expressions by the million: the default looks for cycles among them all the time

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # inherited by a job in the background; tests raise interrupts
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def quick_code() -> Iterator[None]:
    """Programs compiled the quick way: where each is called some hundred times, that takes less time in all."""
    compile_once(quickly=True)
    yield
    compile_once()


BY_NAME = sorted(VARIANTS, key=len, reverse=True)
RANDOM = ("tests/agreement/", "tests/crossings/", "tests/laws/")


@cache
def group_of(nodeid: str) -> str:
    """Tests that share compiled systems run in one process, one after the other: those of a group.

    Those of one library mechanism belong together, whatever file they are in; so do those of one file, because of
    its fixtures and kernels. Random mechanisms share nothing and even out what the processes have to do.
    """
    path, _, test = nodeid.partition("::")
    given = test.partition("[")[2].removesuffix("]")
    for name in BY_NAME:
        if given == name or given.startswith(f"{name}-"):
            return f"library {name}"
    if path.startswith(RANDOM) and given[:1].isdigit():
        return nodeid
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups begin in the order of their first tests."""
    order = {group: k for k, group in enumerate(dict.fromkeys(group_of(item.nodeid) for item in items))}
    items.sort(key=lambda item: order[group_of(item.nodeid)])


@pytest.hookimpl(optionalhook=True)  # the tests run without pytest-xdist, too
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hands out groups, the largest first."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


def pytest_collection_finish() -> None:
    """What stands after collection stays to the end: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
