"""What tests of several parts ask for, and who runs which of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import lru_cache

import pytest

from pendula.system.code import llvm, module
from pendula.system.taylor import code as taylor_code
from tests.helpers import VARIANTS

# Tests make the same few systems again and again: equal LLVM text is compiled once, and what it gives is never changed.
build_module = llvm.build_module = taylor_code.build_module = lru_cache(maxsize=1000)(module.build_module)

gc.set_threshold(100_000, 20, 20)  # expressions by the million: the default looks for cycles among them all the time


@pytest.fixture(scope="module")
def quick_code() -> Iterator[None]:
    """Programs compiled the quick way: where each is called some hundred times, that takes less time in all."""
    with pytest.MonkeyPatch.context() as patch:
        for user in (llvm, taylor_code):
            patch.setattr(user, "build_module", lambda text, optimization: build_module(text, 0))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share compiled systems run in one process, one after the other.

    Those of one library mechanism belong together, whatever file they are in; so do those of one file, because of
    its fixtures. Random mechanisms share nothing: they come last and even out what the processes have to do.
    """
    places: dict[pytest.Item, tuple[int, str]] = {}
    for item in items:
        given = getattr(item, "callspec", None)
        name = given.params.get("name", given.params.get("variant")) if given else None
        if type(name) is str and name in VARIANTS:  # some tests are given strings that lie
            places[item] = (1, f"library {name}")
        elif given and "seed" in given.params:
            places[item] = (2, item.nodeid)
        else:
            places[item] = (0, str(item.path.relative_to(item.config.rootpath)))
        if places[item][0] < 2:
            item.add_marker(pytest.mark.xdist_group(places[item][1]))
    order = {place: k for k, place in enumerate(dict.fromkeys(places.values()))}
    items.sort(key=lambda item: (places[item][0], order[places[item]]))


def pytest_collection_finish() -> None:
    """What stands after collection stays to the end: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
