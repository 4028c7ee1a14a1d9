"""The report command: its file, its JSON, and how it ends."""

from __future__ import annotations

import json


def test_a_page_is_written_under_the_name_of_the_mechanism(pendula, tmp_path):
    result = pendula("report", "cart-pole", "--for", "1")
    assert result.code == 0, result.err
    assert "wrote cart-pole-report.html" in result.out
    page = (tmp_path / "cart-pole-report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<section ") == 9


def test_json_tells_what_is_missing(pendula, tmp_path):
    result = pendula("report", "chain", "-p", "links=30", "--for", "0.5", "-o", "long.html", "--json")
    data = json.loads(result.out)
    assert data["bytes"] == (tmp_path / "long.html").stat().st_size
    assert set(data["missing"]) == {"equations", "certificate"}
    assert (data["agree"], data["finished"]) == (True, True)


def test_the_motion_starts_where_it_is_told(pendula, tmp_path):
    result = pendula("report", "pendulum", "--start", "theta=30deg", "--for", "0.5")
    assert result.code == 0, result.err
    assert "0.523599" in (tmp_path / "pendulum-report.html").read_text(encoding="utf-8")
    refused = pendula("report", "pendulum", "--start", "phi=1")
    assert refused.code == 2
    assert "phi" in refused.err


def test_other_files_than_pages_are_refused(pendula, tmp_path):
    result = pendula("report", "pendulum", "-o", "report.pdf")
    assert (result.code, list(tmp_path.iterdir())) == (2, [])
    assert "must end in .html" in result.err


def test_a_simulation_takes_time(pendula):
    result = pendula("report", "pendulum", "--for", "0")
    assert result.code == 2
    assert "must be a positive number" in result.err


def test_another_equilibrium_is_chosen_by_its_number(pendula, tmp_path):
    result = pendula("report", "pendulum", "--for", "0.5", "--at", "2")
    assert result.code == 0, result.err
    page = (tmp_path / "pendulum-report.html").read_text(encoding="utf-8")
    assert "<b>unstable</b><span>at equilibrium 2</span>" in page  # upright
    assert "Of small motion about equilibrium 2." in page


def test_a_number_that_no_equilibrium_has_is_refused(pendula):
    for number in ("3", "0"):
        result = pendula("report", "pendulum", "--for", "0.5", "--at", number)
        assert result.code == 2
        assert f"there is no equilibrium {number}: there are 2" in result.err
