"""Notebooks show every kind of result: HTML or LaTeX, self-contained, small, once."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.extend import register_display
from pendula.present.notebook.registry import DISPLAYS
from tests.test_results_show import MAKERS, OTHERS, made

LARGEST = 200_000
"""characters of one display; a player has some 75,000, a live page 160,000"""
ALL_DISPLAYS = 5_000_000
"""bytes of a notebook that shows everything"""


class Seen(HTMLParser):
    """Elements outside frames, with what would reach out of the notebook."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.outside: list[str] = []
        self.frames: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in ("img", "br", "mspace", "mo/", "input"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "srcdoc":
                self.frames.append(value or "")
            elif name in ("src", "href", "action", "data") and not (value or "").startswith("data:image/png;base64,"):
                self.outside.append(f"{tag} {name}={value}")
            elif name.startswith("on"):
                self.outside.append(f"{tag} {name}")
            elif name == "style" and "url(" in (value or ""):
                self.outside.append(f"{tag} {value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"


def seen(html: str) -> Seen:
    found = Seen(html)
    assert not found.open, found.open
    return found


QUICKLY = {*DISPLAYS, "Sensitivities", "Crossings", "Mobility", "Predictability"}
"""shown in every test run; the others, which differ only in their plots and texts, in the slow one"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICKLY else pytest.mark.slow) for name in (*MAKERS, *OTHERS)]
)
def test_every_result_is_shown_as_html_that_reaches_nothing(name: str) -> None:
    shown = made(name)._repr_mimebundle_()
    html = shown["text/html"]
    assert shown["text/plain"] == repr(made(name))
    assert len(html) < LARGEST
    found = seen(html)
    assert not found.outside
    assert not found.tags & {"script", "link", "style", "object", "embed"}  # scripts only inside frames
    assert "array(" not in html
    for page in found.frames:
        assert "://" not in page.replace("http://www.w3.org", "")
    if name in MAKERS and name not in ("Equations", "Trajectory"):
        assert "img" in found.tags  # results with a plot show it


def test_pictures_are_small_images() -> None:
    html = made("Reactions")._repr_html_()
    content = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    assert len(content) == 1
    assert base64.b64decode(content[0])[:4] == b"\x89PNG"
    assert len(content[0]) < 60_000


def test_equations_are_formulas_and_latex() -> None:
    shown = made("Equations")._repr_mimebundle_()
    assert "<math" in shown["text/html"]
    assert shown["text/latex"] == pendula.print_equations(made("Equations"), "latex")
    linear = made("LinearModel")._repr_mimebundle_()
    assert linear["text/latex"].startswith("$$")


def test_long_equations_do_not_flood_the_notebook() -> None:
    shown = pendula.derive(pendula.library.chain(links=12))._repr_mimebundle_()
    assert len(shown["text/html"]) < LARGEST
    assert len(shown.get("text/latex", "")) <= 12_000


def test_a_run_is_shown_by_the_player_with_its_facts() -> None:
    html = made("Trajectory")._repr_html_()
    found = seen(html)
    assert len(found.frames) == 1
    assert "<canvas" in found.frames[0]
    assert 'sandbox="allow-scripts' in html
    assert "allow-same-origin" not in html
    assert "finished: reached the final time" in html.partition("<iframe")[2]


def test_long_runs_make_small_pages() -> None:
    long = pendula.simulate("pendulum", 200.0, samples=60_001)
    assert len(long._repr_html_()) < LARGEST


def test_a_run_of_one_state_is_shown_without_a_player() -> None:
    html = pendula.simulate("pendulum", 0.0)._repr_html_()
    assert "<iframe" not in html
    assert "outcome" in html


def test_hostile_names_are_text() -> None:
    bad = "<img src=x onerror=alert(1)> \"&'"
    model = pendula.library.pendulum().with_changes(name=bad)
    run = pendula.simulate(model, 0.2, samples=3, events=[pendula.Event("<b>:", "theta - 1")])
    for result in (model, run, pendula.reactions(run), pendula.derive(model), pendula.play(model)):
        html = result._repr_html_()
        assert "<img src=x" not in html
        assert "<b>:" not in html
        assert not seen(html).outside


def test_figures_are_shown_once_and_not_kept() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    figure = pendula.plot(made("Trajectory"))
    data, size = figure._repr_mimebundle_()
    assert data["image/png"][:4] == b"\x89PNG"
    assert size["image/png"]["width"] > 300
    assert pyplot.get_fignums() == before


def test_figures_of_pyplot_are_closed_in_pyplot() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    class Orbit:
        pass

    def draw(orbit: Orbit) -> Any:
        figure, axes = pyplot.subplots()
        axes.plot([0, 1])
        return figure

    pendula.extend.register_plot(Orbit, draw)
    try:
        before = pyplot.get_fignums()
        figure = pendula.plot(Orbit())
        assert pyplot.get_fignums() == before
        assert figure._repr_mimebundle_()[0]["image/png"][:4] == b"\x89PNG"
    finally:
        pendula.present.pictures.registry.PLOTS.remove("Orbit")


def test_play_and_animate_without_a_path_are_pages(tmp_path: Path) -> None:
    live, moving = pendula.play("pendulum"), pendula.animate(made("Trajectory"))
    for page in (live, moving):
        assert len(page._repr_html_()) < LARGEST
        assert len(seen(page._repr_html_()).frames) == 1
        assert page.save(tmp_path / "page.html").read_text(encoding="utf-8") == page.html
        with pytest.raises(pendula.errors.UsageError, match=r"must end in \.html"):
            page.save(tmp_path / "page.txt")
    assert pendula.play("pendulum", tmp_path / "p.html").read_text(encoding="utf-8") == live.html


def test_a_display_from_outside() -> None:
    class Orbit:
        pass

    from pendula.present.notebook.show import bundle

    register_display(Orbit, lambda orbit: {"text/latex": r"$\odot$"}, summary="an orbit")
    try:
        assert bundle(Orbit())["text/latex"] == r"$\odot$"
    finally:
        DISPLAYS.remove("Orbit")


# --- a notebook, executed headless ---------------------------------------------------------------------------------


def executed(cells: list[str]) -> Any:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    return book


def check(book: Any) -> None:
    import nbformat

    assert len(nbformat.writes(book).encode()) < ALL_DISPLAYS
    for cell in book.cells:
        kinds = [output.output_type for output in cell.outputs]
        assert "error" not in kinds
        if cell.metadata.get("shows") is False or cell.source.startswith(("import", "figure =")):
            assert kinds == [], cell.source  # nothing is shown that was not asked for
            continue
        assert kinds == ["execute_result"], (cell.source, kinds)
        data = cell.outputs[0].data
        assert {"text/html", "text/latex", "image/png"} & {*data}, cell.source


QUICK = [
    "import sys, pendula",
    "run = pendula.simulate('pendulum', 1.0, samples=20)\nrun",
    "pendula.plot(run)",
    "figure = pendula.plot(run)",
    "pendula.derive('pendulum')",
    "pendula.modes('pendulum', {'theta': 0})",
]


def test_a_notebook_runs_headless() -> None:
    check(executed(QUICK))


@pytest.mark.slow
def test_a_notebook_with_every_kind_of_result() -> None:
    root = str(Path(__file__).resolve().parents[2])
    cells = [f"import sys\nsys.path.insert(0, {root!r})\nimport pendula\nfrom tests.test_results_show import made"]
    cells += [f"made({name!r})" for name in (*MAKERS, *OTHERS)]
    cells += [
        "pendula.plot(made('Trajectory'))",
        "figure = pendula.plot(made('Trajectory'))",
        "pendula.play('double-pendulum')",
        "pendula.animate(made('Trajectory'))",
        "pendula.explain('pendulum')",
    ]
    check(executed(cells))


@pytest.mark.slow
@pytest.mark.browser
def test_displays_work_in_a_browser(tmp_path: Path) -> None:
    """Nothing is requested, nothing goes to the console; in frames that a test may look into, scripts have started."""
    browser = pytest.importorskip("tests.present.browser")
    if browser.BROWSER is None:
        pytest.skip("there is no browser")
    parts = [made("Trajectory")._repr_html_(), pendula.play("pendulum")._repr_html_(), made("Model")._repr_html_()]
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><meta charset=utf-8><body>" + "".join(parts), encoding="utf-8")
    with browser.Browser(1200) as tab:
        tab.open(page)
        assert not tab.troubles
        assert {address.partition(":")[0] for address in tab.requests} <= {"file", "about", "data"}
    open_frames = page.read_text(encoding="utf-8").replace('sandbox="allow-scripts allow-downloads" loading="lazy"', "")
    page.write_text(open_frames, encoding="utf-8")
    with browser.Browser(1200) as tab:
        tab.open(page)
        inside = "document.querySelectorAll('iframe')[{}].contentWindow"
        assert tab.run(f"typeof {inside.format(1)}.pendula") == "object"
        assert tab.run(f"{inside.format(1)}.document.querySelectorAll('input[type=range]').length") >= 3  # sliders
        wide = f"{inside.format(0)}.document.querySelector('canvas').width > 300"  # once its first frame is drawn
        wait = f"new Promise(done => {{ const look = () => {wide} ? done(true) : setTimeout(look, 20); look(); }})"
        assert tab.run(wait)


def test_quantiles_of_ensembles_are_those_of_numpy() -> None:
    runs = made("Ensemble")
    html = runs._repr_html_()
    middle = float(np.quantile(runs["theta"][:, -1], 0.5))
    assert f"{middle:.6g}".replace("-", "−") in html


def test_matrices_have_brackets_and_equilibria_their_verdicts() -> None:
    """Ticks at all four corners: straight bars alone would be a determinant."""
    from pendula.present.notebook.at_rest import show_equilibria
    from pendula.present.notebook.mechanisms import show_equations

    text = show_equations(pendula.derive("double-pendulum"))["text/html"]
    style = text.partition('<mtable style="')[2].partition('"')[0]
    assert "background-position: 0 0, 0 100%, 100% 0, 100% 100%" in style
    assert 'class="matrix"' not in text
    shown = show_equilibria(pendula.find_equilibria("pendulum"))
    assert "verdict" in shown
    assert "unstable" in shown
