"""Memory while large structures are built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Within this context Python does not look for garbage cycles.

    A model of 100,000 bodies is millions of objects that all stay. Python would walk through them again and again
    while they are made, and find nothing: a fifth of the time.

    Example:
        >>> with without_collections():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
