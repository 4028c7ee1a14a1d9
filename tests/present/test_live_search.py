"""Modes of live pages: the search for their equilibrium does not keep a reader waiting."""

from __future__ import annotations

import pytest

from pendula import library
from pendula.present.live import content


def test_a_long_search_is_given_up_and_the_page_has_no_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "SEARCH_SECONDS", -1.0)  # every search takes too long
    made = content.live_content(library.four_bar(crank_rate=0))
    assert made["record"]["modes"] is None
    monkeypatch.setattr(content, "SEARCH_SECONDS", float("inf"))
    assert content.live_content(library.four_bar(crank_rate=0))["record"]["modes"]["listed"]
