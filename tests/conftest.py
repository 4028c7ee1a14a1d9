"""What tests of several parts ask for."""

from __future__ import annotations

import pytest

from pendula.system.code import programs


@pytest.fixture
def quick_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs compiled the quick way: where each is called some hundred times, that takes less time in all."""
    thorough = programs.compile_program
    monkeypatch.setattr(
        programs, "compile_program", lambda *given, **rest: thorough(*given, **(rest | {"quick": True}))
    )
