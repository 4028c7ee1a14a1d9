"""The gallery: an index that leads to live pages, each with a thumbnail."""

from __future__ import annotations

import re

import pytest

from pendula.errors import UsageError
from pendula.present.live.gallery import write_gallery


def test_every_card_leads_to_a_page_and_a_picture(tmp_path):
    told = []
    index = write_gallery(tmp_path / "site", ["pendulum", "four-bar"], on_progress=lambda *given: told.append(given))
    text = index.read_text(encoding="utf-8")
    links, pictures = re.findall(r'href="([^"]+[.]html)"', text), re.findall(r'src="([^"]+)"', text)
    assert links == ["pendulum.html", "four-bar.html"]
    assert pictures == ["pendulum.png", "four-bar.png"]
    for name in (*links, *pictures):
        assert (index.parent / name).stat().st_size > 1000
    assert told == [("pendulum", 1, 2), ("four-bar", 2, 2)]
    assert "{{" not in text
    assert "<script" not in text


def test_an_unknown_name_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UsageError, match='no library mechanism "pendulun"'):
        write_gallery(tmp_path / "site", ["pendulum", "pendulun"])
    assert not (tmp_path / "site").exists()


def test_a_mechanism_too_large_for_a_page_is_named_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("pendula.present.live.content.MOST_BODIES", 1)
    text = write_gallery(tmp_path, ["pendulum", "four-bar"]).read_text(encoding="utf-8")
    assert "four-bar: a live page moves up to 1 bodies fluently" in text
    assert 'href="four-bar.html"' not in text
