"""The papers command: its page, its JSON, and how it ends."""

from __future__ import annotations

import json


def test_one_part_of_one_paper(pendula, tmp_path):
    result = pendula("papers", "000", "--part", "gravity", "-o", "p.html", "--summary", "p.json")
    assert result.code == 0, result.err
    assert "000  IFToMM 3D pendulum  0 reproduced, 1 corrected, 0 not determinable" in result.out
    assert "iftomm: Direction of gravity ..." in result.err
    assert (tmp_path / "p.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    data = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert data["papers"][0]["parts"][0]["lines"][0]["verdict"] == "corrected"


def test_unknown_papers_parts_and_files_are_refused(pendula, tmp_path):
    for arguments, words in (
        (("007",), 'there is no paper "007"; available: iftomm (000)'),
        (("000", "--part", "nothing"), 'there is no part "nothing"'),
        (("000", "--part", "gravity", "--part", "nothing"), 'there is no part "nothing"'),
        (("000", "-o", "papers.pdf"), "must end in .html"),
    ):
        result = pendula("papers", *arguments)
        assert result.code == 2
        assert words in result.err
