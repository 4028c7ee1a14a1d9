"""Tests make the same few systems again and again: equal LLVM text is compiled once, and what it gives is never changed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pendula.system.code import llvm, module
from pendula.system.taylor import code as taylor_code

USERS = (llvm, taylor_code)
_once = lru_cache(maxsize=1000)(module.build_module)


def compile_once(*, quickly: bool = False) -> None:
    """From now on; ``quickly`` without optimization: where each program is called some hundred times, that takes less time."""
    for user in USERS:
        user.build_module = _quick if quickly else _once  # type: ignore[attr-defined]


def _quick(text: str, optimization: int) -> Any:
    return _once(text, 0)
