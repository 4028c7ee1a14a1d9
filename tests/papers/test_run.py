"""Parts of papers: kept between runs, computed again when anything changes, and independent of each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pendula.errors import UsageError
from pendula.papers import cache, run
from pendula.papers.registry import PAPERS, papers, parts_of
from pendula.papers.types import Animation, Finding, Line, Paper, Part, Table, Text
from pendula.present.pictures.curves import Chart, curve

PAPER = Paper("999", "test", "nobody", "nothing", "nowhere")
calls: list[float] = []


def double(x: float) -> Finding:
    calls.append(x)
    line = Line("eq. 1", "twice", f"{2 * x:g}", "reproduced", evidence={"twice": 2 * x})
    chart = Chart("c", "title", "x [m]", "y [s]", (curve("y", [1, 2], [3, 4]),), log_y=True)
    return Finding(
        (line,), (Table("t", ("a",), ((1,),)),), (chart,), (Animation("a", "b", "{}"),), (Text("f", "<math/>"),)
    )


def broken() -> Finding:
    raise ZeroDivisionError("as intended")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PENDULA_CACHE_DIR", str(tmp_path))
    calls.clear()


def test_a_finding_is_kept_and_read_again() -> None:
    part = Part("double", "Double", double, {"x": 3.0})
    first, second = run.compute(PAPER, part), run.compute(PAPER, part)
    assert (first.from_cache, second.from_cache, calls) == (False, True, [3.0])
    assert second.finding == first.finding
    assert run.compute(PAPER, part, use_cache=False).from_cache is False


def test_other_inputs_or_other_code_are_computed_again(monkeypatch) -> None:
    run.compute(PAPER, Part("double", "Double", double, {"x": 3.0}))
    run.compute(PAPER, Part("double", "Double", double, {"x": 4.0}))
    assert calls == [3.0, 4.0]
    monkeypatch.setattr(cache, "code_version", lambda module: "another")
    run.compute(PAPER, Part("double", "Double", double, {"x": 3.0}))
    assert calls == [3.0, 4.0, 3.0]


def test_what_the_key_leaves_out_is_imported_by_nothing_that_computes() -> None:
    package = Path(cache.__file__).parents[1]
    folders = sorted(x.name for x in (package / "papers").iterdir() if (x / "__init__.py").exists())
    assert folders == sorted(paper.module.rpartition(".")[2] for paper in PAPERS)
    omitted = [name.removesuffix(".py").strip("/").replace("/", ".") for name in cache.WITHOUT_EFFECT]
    for file in package.rglob("*.py"):
        place = file.relative_to(package).as_posix()
        if place.startswith(cache.WITHOUT_EFFECT) or place in ("__main__.py", "papers/run.py"):
            continue  # run.py reads the registry, and only computes what it finds there
        imports = re.findall(r"^\s*(?:from|import) (pendula\S*)", file.read_text(), re.MULTILINE)
        assert not [x for x in imports if x.removeprefix("pendula.").startswith(tuple(omitted))], place
        own = place.split("/")[1] if place.startswith("papers/") else ""
        others = tuple(f"pendula.papers.{name}" for name in folders if name != own)
        assert not [x for x in imports if x.startswith(others)], place


def test_the_key_of_one_paper_ignores_the_code_of_another() -> None:
    assert cache.code_version("pendula.papers.turner") != cache.code_version("pendula.papers.kamman")


def test_a_damaged_file_is_computed_again() -> None:
    part = Part("double", "Double", double, {"x": 3.0})
    run.compute(PAPER, part)
    cache.file_of(PAPER, part).write_text("1.0\n{")
    assert run.compute(PAPER, part).finding.lines[0].evidence == {"twice": 6.0}
    assert len(calls) == 2


def test_a_part_that_fails_does_not_stop_the_others(monkeypatch) -> None:
    listed = (Part("broken", "Broken", broken), Part("double", "Double", double, {"x": 1.0}))
    monkeypatch.setattr(run, "papers", lambda _: (PAPER,))
    monkeypatch.setattr(run, "parts_of", lambda _: listed)
    (found,) = run.recompute()
    assert [x.error for x in found.parts] == ["ZeroDivisionError: as intended", ""]
    assert found.tally == {"reproduced": 1, "corrected": 0, "not determinable": 0}
    assert not cache.file_of(PAPER, listed[0]).exists()


def test_every_paper_has_a_citation_and_parts_with_unique_names() -> None:
    assert sorted(paper.number for paper in PAPERS) == ["000", "001", "002", "003", "004"]
    for paper in PAPERS:
        assert paper.short
        assert paper.citation.endswith(".")
        names = [part.name for part in parts_of(paper)]
        assert len(names) == len(set(names)) > 3
    with pytest.raises(UsageError, match='no paper "7"'):
        papers(["7"])


def test_papers_are_found_by_name_and_by_number() -> None:
    for paper in PAPERS:
        assert papers([paper.name]) == papers([paper.number]) == papers([paper.name.upper()]) == (paper,)
    assert [paper.name for paper in papers()] == ["iftomm", "kamman", "gupta-saha", "turner", "tataru"]
    assert papers(["gupta_saha", "iftomm"]) == papers(["000", "002"])
