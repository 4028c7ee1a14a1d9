"""Derivations as a page and as LaTeX: well-formed, self-contained, and read from beginning to end by a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.dom.minidom

import pytest

import pendula
from pendula import library
from pendula.analysis.explain.explanation import explained
from pendula.equations.story.tell import TOLD
from pendula.errors import PendulaError, UsageError
from pendula.present.explain.document import as_tex, balanced
from pendula.present.explain.drawing import Drawing
from pendula.present.explain.mathml import mathml
from pendula.present.explain.page import as_html, prose
from tests.present.browser import BROWSER, Browser

LARGEST = 500_000
"""Bytes of the page of a mechanism with up to three bodies."""


@pytest.fixture(scope="module")
def told():
    return explained(library.double_physical_pendulum(), "projection")


def test_the_page_is_well_formed_and_needs_nothing_else(told):
    page = as_html(told)
    for formula in re.findall(r"<math.*?</math>", page, re.S):
        xml.dom.minidom.parseString(formula)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.S):
        xml.dom.minidom.parseString(drawing)
    assert page.count("<svg") == 1 + len(told.model.bodies)  # the mechanism, and one diagram for each free body
    assert "default-src 'none'" in page
    assert not re.search(r"<script|https?://|{{|}}|\$|@[A-Za-z]", page.partition("</style>")[2])
    assert len(page) < LARGEST


def test_every_comparison_is_on_the_page(told):
    page = as_html(told)
    assert page.count('<details class="check good">') == len(told.checks)
    assert 'class="check bad"' not in page


def test_names_are_escaped():
    model = library.pendulum()
    bodies = [body.model_copy(update={"name": "<i>&_^%$#1"}) for body in model.bodies]
    joints = [
        joint.model_copy(update={"child": joint.child.model_copy(update={"body": "<i>&_^%$#1"})})
        for joint in model.joints
    ]
    hostile = model.with_changes(name="</title><b>x", bodies=bodies, joints=joints)
    told = explained(hostile, "newton-euler")
    page, tex = as_html(told), as_tex(told)
    assert "<i>&" not in page
    assert "<b>x" not in page
    assert "&lt;i&gt;&amp;_^%$#1" in page
    assert balanced(tex) == ""
    assert r"\&\_" in tex


@pytest.mark.parametrize("formulation", TOLD)
def test_latex_is_balanced(formulation):
    tex = as_tex(explained(library.pendulum(), formulation))
    assert balanced(tex) == ""
    assert tex.count("$") % 2 == 0
    assert tex.startswith("%")
    assert tex.rstrip().endswith(r"\end{document}")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX found")
@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        ("double-pendulum", "lagrange"),
        ("spatial-rod", "kane"),
        ("four-bar", "newton-euler"),
        ("double-physical-pendulum", "projection"),
        ("heavy-top", "maximal"),
    ],
)
def test_latex_compiles(tmp_path, name, formulation):
    pendula.explain(name, tmp_path / "told.tex", formulation=formulation)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "told.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout  # nothing sticks out of the page
    assert (tmp_path / "told.pdf").stat().st_size > 10_000


def test_other_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.html or \.tex"):
        pendula.explain("pendulum", tmp_path / "told.pdf")


# -- formulas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{l \sin \theta_{1}}{2}", "lsinθ12"),
        (r"\ddot{\phi}_{1}^{2}", "ϕ..12"),
        (r"\left(\theta_{1} - \theta_{2}\right)", "(θ1−θ2)"),
        (r"V_{\text{torsion-spring 1}}", "Vtorsion-spring 1"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "abcd"),
        (r"\text{a\_b \& c}", "a_b &amp; c"),
        (r"1.5 \cdot 10^{-3}", "1.5·10−3"),
    ],
)
def test_tex_becomes_mathml(tex, text):
    found = mathml(tex)
    xml.dom.minidom.parseString(found)
    assert re.sub(r"<[^>]+>", "", found) == text


@pytest.mark.parametrize("tex", [r"\unknown{x}", r"\frac{a}", r"{a", r"\begin{array} a \end{array}", "a}"])
def test_tex_that_is_not_known_is_an_error(tex):
    with pytest.raises(PendulaError, match="MathML"):
        mathml(tex)


def test_text_between_formulas_is_escaped():
    assert prose(r"a < b \& $x$").startswith("a &lt; b &amp; <math>")


def test_unbalanced_latex_is_found():
    assert balanced(r"{a}\left( b") == r"\left is not closed"
    assert balanced("a}") == "} closes nothing"
    assert balanced(r"\begin{x}\end{y}") != ""


# -- drawings ---------------------------------------------------------------------------------------


def test_a_drawing_fits_its_frame():
    drawing = Drawing("a line")
    drawing.line([[0.0, 0.0], [1000.0, 1.0]], "body", arrow=True)
    drawing.label([500.0, 1.0], r"\theta_{1}")
    numbers = [float(x) for pair in re.search(r'points="([^"]*)"', drawing.svg())[1].split() for x in pair.split(",")]
    assert 0 < min(numbers) < max(numbers) < 560
    assert ">θ<tspan" in drawing.svg()
    assert r"\theta_{1}" in drawing.picture()


# -- browser ----------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="no Chromium found")
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_shows_in_a_browser_without_scrolling_sideways(told, tmp_path, width):
    page = tmp_path / "told.html"
    page.write_text(as_html(told), encoding="utf-8")
    with Browser(width) as browser:
        browser.open(page)
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.querySelectorAll('math').length") > 100
        assert browser.run("[...document.querySelectorAll('math')].every(m => m.getBoundingClientRect().height > 5)")
        closed = "document.querySelector('.check p').checkVisibility()"
        assert browser.run(closed) is False
        browser.run("document.querySelector('.check').open = true")
        assert browser.run(closed) is True
        assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
        assert browser.troubles == []


def test_labels_avoid_lines_and_each_other():
    drawing = Drawing("a cross")
    drawing.line([[0.0, 0.0], [10.0, 0.0]], "body")
    drawing.line([[5.0, -5.0], [5.0, 5.0]], "axis")
    for _ in range(3):  # all would lie on the horizontal line
        drawing.label([2.0, 0.0], r"\mathrm{rocker}", (0.0, 5.0))
    scale, *_ = drawing._fit()
    shifts = drawing.placed(scale)
    assert len({(round(x), round(y)) for x, y in shifts}) == 3
    assert all(abs(y - 5.0) > 6.9 for _, y in shifts)  # half the height of a label above or below the line


def test_a_label_in_a_free_place_stays_there():
    drawing = Drawing("a line")
    drawing.line([[0.0, 0.0], [10.0, 10.0]], "body")
    drawing.label([0.0, 10.0], "g", (3.0, 4.0))
    assert drawing.placed(drawing._fit()[0]) == [(3.0, 4.0)]


def test_the_page_counts_comparisons_as_the_result_does() -> None:
    from pendula.present.explain.content import facts

    told = pendula.explain("four-bar", formulation="kane")
    text = next(f"{figure} {what}" for figure, what in facts(told) if "comparison" in figure)
    assert text in f"{told.comparisons} comparisons at {told.states} random states, largest difference {told.worst:.1e}"
    assert f"{told.comparisons} comparisons" in str(told)
