"""The report on the papers: one page that loads nothing, with every figure named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pendula.papers import page, run
from pendula.papers.registry import papers, parts_of
from pendula.papers.types import Animation, Finding, Line, Paper, Part, Table, Text
from pendula.present.pictures.curves import Chart, chart_figure, chart_html, curve

ROOT = Path(__file__).resolve().parents[2]
PAPER = Paper("999", "Test <&>", "A citation.", "About nothing.", "nowhere")


def _found() -> run.Recomputed:
    lines = (
        Line("eq. 1", "a < b", "1", "reproduced", evidence={"a": 1.0}),
        Line("eq. 2", "claim", "refuted", "corrected", "why", "truth", "effect", "harmless", evidence={"a": 1.0}),
        Line("eq. 3", "claim 2", "refuted", "corrected", "why", "truth", "effect", "wrong", evidence={"a": 1.0}),
        Line("eq. 4", "open", "1", "not determinable", data="ours", evidence={"a": 1.0}),
    )
    chart = Chart(
        "f",
        "Figure",
        "time [s]",
        "angle [rad]",
        (curve("q", range(900), range(900)), curve("p", [1], [2], style="points")),
    )
    finding = Finding(
        lines,
        (Table("t", ("a", "b"), ((1, 2.5),)),),
        (chart,),
        (Animation("m", "Motion", "{}"),),
        (Text("f", "<math/>"),),
    )
    part = Part("one", "Part", lambda: finding)
    return run.Recomputed(
        PAPER, (run.Computed(part, finding, 1.0, False), run.Computed(part, Finding(), 1.0, False, "Oops: <b>"))
    )


def test_page_is_self_contained_and_escapes_text() -> None:
    text = page.page_html((_found(),))
    outside = re.sub(r"http://www.w3.org/\S+", "", text)
    assert not re.search(r'(src|href)="(?!#|data:)', outside)
    assert "Test &lt;&amp;&gt;" in text
    assert "Oops: &lt;b&gt;" in text
    assert text.count("<section ") == 2  # the paper and the errata
    assert not re.search(r"\{\{(title|body|facts|contents)\}\}", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("the cosine is even", "The cosine is even."), ("θ = 0 fails", "θ = 0 fails."), ("l θ'' = 0", "l θ'' = 0.")],
)
def test_sentences_keep_symbols_as_they_are(text: str, shown: str) -> None:
    assert page._sentence(text) == shown


def test_errata_hold_corrected_lines_only_and_start_with_the_gravest() -> None:
    listed = page.errata([_found()])
    assert [line.where for _, line in listed] == ["eq. 3", "eq. 2"]


def test_tally_counts_lines_by_verdict() -> None:
    assert page.tally_lines([_found()]) == [
        "999  Test <&>  1 reproduced, 2 corrected, 1 not determinable, 1 part failed"
    ]


def test_charts_name_their_axes_and_thin_long_curves() -> None:
    chart = _found().parts[0].finding.figures[0]
    text = chart_html(chart)
    assert ">time [s]<" in text
    assert ">angle [rad]<" in text
    assert len(chart.curves[0].x) <= 402
    assert max(chart.curves[0].y) == 899


def test_logarithmic_charts_leave_out_what_they_cannot_show() -> None:
    chart = Chart("f", "F", "x [1]", "y [1]", (curve("y", [0, 1, 10, 100], [1e-3, 0, 1, 1e3]),), log_x=True, log_y=True)
    text = chart_html(chart)
    (points,) = re.findall(r'points="([^"]*)"', text)
    assert len(points.split()) == 2
    assert "10²" in text


def test_figures_are_written_as_png_and_svg(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    written = page.write_figures([_found()], tmp_path)
    assert sorted(x.name for x in written) == ["999-one-f.png", "999-one-f.svg"]
    assert (tmp_path / "999-one-f.png").read_bytes().startswith(b"\x89PNG")
    axes = chart_figure(_found().parts[0].finding.figures[0]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time [s]", "angle [rad]")


@pytest.mark.parametrize("number", ["000", "001", "002", "003", "004"])
def test_docs_have_a_page_with_every_part(number: str) -> None:
    (paper,) = papers([number])
    text = (ROOT / "docs" / "papers" / f"{number}.md").read_text(encoding="utf-8")
    assert paper.citation in text
    for part in parts_of(paper):
        assert f"## {part.title}\n" in text, "run python docs/make_papers.py"
    for image in re.findall(r"\]\(\.\./(images/papers/[^)]*)\)", text):
        assert (ROOT / "docs" / image).exists(), image


@pytest.mark.parametrize(
    ("top", "factor", "label"), [(3e-6, "× 10⁻⁶", ">2<"), (40.0, "", ">20<"), (4e5, "× 10⁵", ">2<")]
)
def test_labels_of_small_and_large_values_stay_short(top: float, factor: str, label: str) -> None:
    """Labels such as 2e-06 would run into the name of the axis."""
    html = chart_html(Chart("c", "t", "x [m]", "y [J]", (curve("y", [0, 1], [0.0, top]),)))
    assert (factor in html) if factor else ("×" not in html)
    assert label in html
    assert max(len(text) for text in re.findall(r'class="tick"[^>]*>([^<]*)<', html)) <= 7


def test_a_logarithmic_axis_within_one_decade_has_labels() -> None:
    html = chart_html(Chart("c", "t", "x [m]", "y [J]", (curve("y", [0, 1], [1.5e-6, 4e-5]),), log_y=True))
    assert {"2·10⁻⁶", "5·10⁻⁶", "10⁻⁵", "2·10⁻⁵"} <= set(re.findall(r'class="tick"[^>]*>([^<]*)<', html))


def test_legends_tell_dashed_lines_and_points_from_full_lines() -> None:
    curves = (
        curve("a", [0, 1], [0, 1]),
        curve("b", [0, 1], [1, 0], style="dashed"),
        curve("c", [0], [0], style="points"),
    )
    html = chart_html(Chart("c", "t", "x [m]", "y [J]", curves))
    assert re.findall(r'<i class="s\d (\w+)">', html) == ["line", "dashed", "points"]


def test_minus_signs_are_set_before_numbers_only() -> None:
    assert page.signed("[-1.5, 2e-16] at x-y, eqs. 3-5, f(-2) and -g") == "[−1.5, 2e−16] at x-y, eqs. 3-5, f(−2) and -g"
