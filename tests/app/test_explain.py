"""The derivation told, from the command line: its file, its figures, and how it ends."""

from __future__ import annotations

from pendula.analysis.explain import comparisons


def test_a_page_and_a_document_are_written(pendula, tmp_path):
    result = pendula("derive", "cart-pole", "--formulation", "kane", "--explain", "cart.html")
    assert result.code == 0, result.err
    assert "wrote cart.html" in result.out
    assert "all agree" in result.out
    assert (tmp_path / "cart.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert pendula("derive", "pendulum", "--explain", "pendulum.tex").code == 0
    assert r"\begin{document}" in (tmp_path / "pendulum.tex").read_text(encoding="utf-8")


def test_a_comparison_that_fails_ends_with_1(pendula, monkeypatch, tmp_path):
    monkeypatch.setitem(comparisons.COMPARISONS, "velocity", lambda *_: 1e-3)
    result = pendula("derive", "pendulum", "--explain", "wrong.html")
    assert result.code == 1
    assert "some DISAGREE" in result.out
    assert "DISAGREES with" in (tmp_path / "wrong.html").read_text(encoding="utf-8")


def test_other_endings_and_outputs_are_refused(pendula, tmp_path):
    result = pendula("derive", "pendulum", "--explain", "told.pdf")
    assert (result.code, list(tmp_path.iterdir())) == (2, [])
    assert "must end in .html or .tex" in result.err
    for more in (("-o", "a.txt"), ("--format", "c"), ("--json",), ("--stages",)):
        result = pendula("derive", "pendulum", "--explain", "told.html", *more)
        assert result.code == 2, more
        assert "separate file" in result.err
