"""The play command: its file, its words, its JSON, and what it refuses."""

from __future__ import annotations

import json
import re


def test_a_page_is_written_and_its_size_is_told(pendula, tmp_path):
    result = pendula("play", "pendulum")
    assert result.code == 0, result.err
    size = (tmp_path / "pendulum.html").stat().st_size
    assert f"wrote pendulum.html: pendulum, {size / 1e3:.0f} kB" in result.out


def test_parameters_and_start_are_those_of_the_page(pendula, tmp_path):
    result = pendula("play", "pendulum", "-p", "l=0.4", "--start", "theta=30deg", "-o", "short.html", "--json")
    page = (tmp_path / "short.html").read_text(encoding="utf-8")
    assert json.loads(result.out) == {"file": "short.html", "bytes": len(page.encode())}
    record = json.loads(re.search(r'<script id="record" type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert record["about"]["start"]["q"] == [0.5235987755982988]
    assert {s["name"]: s["value"] for s in record["sliders"]}["l"] == 0.4


def test_too_many_bodies_other_files_and_unknown_names_are_refused(pendula, tmp_path):
    many = pendula("play", "chain", "-p", "links=31")
    assert many.code == 2
    assert "up to 30 bodies fluently" in many.err
    other = pendula("play", "pendulum", "-o", "toy.pdf")
    assert other.code == 2
    assert "must end in .html" in other.err
    unknown = pendula("play", "pendulum", "--start", "thta=1")
    assert unknown.code == 2
    assert 'did you mean "theta"?' in unknown.err
    assert list(tmp_path.iterdir()) == []
