"""The page of the studio in a real browser: build, simulate, study and export by clicks; text and form; reopening."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from scipy.linalg import eigh

import pendula
from tests.app.studio_server import studio, wait_until
from tests.app.studio_tab import Tab

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SHOWN = "document.getElementById('source').selectedOptions[0]?.textContent"
DIGITS = 5e-4  # frequencies on the page have four digits
HOSTILE = "<img src=x onerror=window.broken=1></script><script>window.broken=1</script>\"'&"
TURNED = "\u202e"  # turns the direction of writing; models refuse it

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium found: apt install chromium"),
]
pytest.importorskip("starlette", reason="the studio needs the extra studio of the package")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A studio for several tests; the page opens the newest model of its folder."""
    with studio(tmp_path_factory.mktemp("studio")) as server:
        yield server


def put(server, name, model):
    """Writes a library mechanism, or a text, into the folder of a studio."""
    text = model if "\n" in model else pendula.dumps(pendula.library.mechanisms()[model].make())
    (server.folder / name).write_text(text, encoding="utf-8")


def open_page(server, name, model, **options):
    """A tab that shows a model live."""
    put(server, name, model)
    tab = Tab(address(server), **options)
    tab.visit()
    assert tab.text_of("#file-name") == name
    tab.until("Number(document.body.dataset.lived) > 0")
    return tab


def address(server):
    return f"http://127.0.0.1:{server.port}/?token={server.token}"


def add(tab, what, *, at):
    """Clicks a point in the scene and what is to be added there, and waits until the scene shows it."""
    before = tab.drawn()
    tab.click(*at)
    tab.press(what, "#menu")
    tab.until(f"Number(document.body.dataset.lived || 0) > {before}")


def place(tab, body, x, y):
    return tab.run(f"window.pendula.screen({body!r}, [{x}, {y}, 0])")


def build_cart(tab):
    """A cart on a rail with a rod and a spring to the ground, from nothing, by clicking."""
    tab.press("+ Add")
    area = tab.run(
        "(r => [r.left + r.width / 2, r.top + r.height / 3])(document.getElementById('view').getBoundingClientRect())"
    )
    add(tab, "Slider here: a cart on a rail", at=area)
    add(tab, "Hang a rod here", at=place(tab, "cart", 0, 0))
    before = tab.drawn()
    tab.click(*place(tab, "cart", -0.2, 0))
    tab.press("Spring from here to …", "#menu")
    rail = tab.run("window.pendula.model.joints[0].parent.position?.[1] ?? 0")
    tab.click(*place(tab, "ground", -0.6, rail))
    tab.until(f"Number(document.body.dataset.lived) > {before}")
    tab.press("Done")


def cart_frequencies(model):
    """Hz of a cart with a hanging rod and a relaxed spring along the rail, from matrices written by hand."""
    p = model.parameter_values
    m, l, g = p["m_rod"], p["l_rod"], p["g"]
    M = np.array([[p["m_cart"] + m, m * l / 2], [m * l / 2, m * l**2 / 3]])
    return np.sqrt(eigh(np.diag([p["k_spring"], m * g * l / 2]), M, eigvals_only=True)) / (2 * np.pi)


def test_a_cart_is_built_simulated_studied_and_reported_from_an_empty_folder(tmp_path):
    with studio(tmp_path) as server, Tab(address(server)) as tab:
        tab.visit()
        assert list(tmp_path.glob("*.toml")) == []  # opening the page alone leaves nothing behind
        build_cart(tab)
        tab.press("Simulate")
        tab.until("window.pendula.shows === 'motion' && document.querySelector('#study-energy .facts')")
        tab.press("Equilibria", "#study-tabs")
        tab.press("Find equilibria")
        tab.until("document.querySelector('#study-equilibria .tag.good')")
        verdicts = tab.run("[...document.querySelectorAll('#study-equilibria .tag')].map(one => one.textContent)")
        tab.press("start at equilibrium 1")
        tab.until("window.pendula.shows === 'live'")
        resting = tab.run("window.pendula.state")
        tab.press("Eigenvalues", "#study-tabs")
        tab.press("Eigenvalues, modes")
        tab.until("document.querySelector('#study-eigenvalues table')")
        shown = tab.run(
            "[...document.querySelectorAll('#study-eigenvalues td:nth-child(3)')].map(one => one.textContent)"
        )
        tab.press("play mode 2")
        tab.until("document.getElementById('source').selectedOptions[0].textContent === 'mode 2'")
        first = place(tab, "rod", 0, -1)
        moved = f"(p => Math.hypot(p[0] - {first[0]}, p[1] - {first[1]}) > 3)(window.pendula.screen('rod', [0, -1, 0]))"
        tab.until(moved)  # the mode plays
        tab.press("Export")
        tab.press("make Report")
        name = tab.until("document.querySelector('.export-line a')?.textContent")
        assert tab.troubles == []
        asked = {address.split("?")[0].split("/")[2] for address in tab.requests if address.startswith("http")}
        assert asked == {f"127.0.0.1:{server.port}"}

    model = pendula.load(tmp_path / "untitled.toml")
    assert [body.name for body in model.bodies] == ["cart", "rod"]
    assert [force.type for force in model.forces] == ["spring"]
    assert sorted(verdicts) == ["stable", "stable", "unstable", "unstable"]  # the anchor may be on either side
    assert abs(resting["theta"]) < 1e-9
    hertz = [float(text.removesuffix(" Hz")) for text in shown]
    assert np.allclose(hertz, cart_frequencies(model), rtol=DIGITS)
    with np.load(tmp_path / "untitled-run.npz") as run:
        assert run["t"][-1] == 10.0
    assert "untitled" in re.search("<title>(.*?)</title>", (tmp_path / name).read_text(encoding="utf-8"))[1]


def start_new(tab, name):
    """An empty model, and clicks that add to it."""
    tab.press("New")
    tab.until(f"window.pendula.shows === 'empty' && document.getElementById('file-name').textContent === {name!r}")
    tab.press("+ Add")


def in_view(tab, across, down):
    """A pixel of the scene, by fractions of its size."""
    return tab.run(
        f"(r => [r.left + {across} * r.width, r.top + {down} * r.height])"
        "(document.getElementById('view').getBoundingClientRect())"
    )


@pytest.mark.slow
def test_a_linkage_and_a_mechanism_in_space_are_built_by_clicking(tmp_path):
    with studio(tmp_path) as server, Tab(address(server)) as tab:
        tab.visit()
        tab.press("+ Add")
        add(tab, "Hang a rod here", at=in_view(tab, 0.3, 0.3))
        add(tab, "Hang a rod here", at=place(tab, "rod", 0, -1))
        add(tab, "Hang a rod here", at=place(tab, "rod2", 0, -1))
        before = tab.drawn()
        tab.click(*place(tab, "rod3", 0, -1))
        tab.press("Pin to another point …", "#menu")
        tab.click(*in_view(tab, 0.75, 0.35))
        tab.until(f"Number(document.body.dataset.lived) > {before}")
        tab.press("Done")
        gap = [a - b for a, b in zip(place(tab, "rod3", 0, -1), place(tab, "ground", *anchor(tab)), strict=True)]
        assert np.hypot(*gap) < 0.1  # pixels: the loop is closed in the picture
        tab.until("document.getElementById('saved').textContent === 'saved'")
        start_new(tab, "untitled-2.toml")
        at = in_view(tab, 0.5, 0.3)
        before = tab.drawn()
        tab.click(*at)
        tab.press("In space ▸", "#menu")
        tab.press("Rod on a ball joint", "#menu")
        tab.until(f"Number(document.body.dataset.lived) > {before}")
        before = tab.drawn()
        tab.click(*place(tab, "rod", 0, -1))
        tab.press("Rod on a hinge about ▸", "#menu")
        tab.press("Rod on a hinge about x", "#menu")
        tab.until(f"Number(document.body.dataset.lived) > {before}")
        before = tab.drawn()
        tab.click(*place(tab, "rod2", 0, -0.5))
        tab.press("Spring from here to …", "#menu")
        tab.click(*in_view(tab, 0.8, 0.4))
        tab.until(f"Number(document.body.dataset.lived) > {before}")
        anchored = tab.run("window.pendula.model.forces[0].to.position")
        seen, pivot = (tab.run(f"window.pendula.screen('ground', {at})") for at in (anchored, pivot_of(tab)))
        assert seen[0] > pivot[0] + 30  # right of it and lower, as the click was
        assert seen[1] > pivot[1]
        assert anchored[2] != 0  # in the plane of the screen, not in that of x and y
        tab.press("Done")
        tab.until("document.getElementById('saved').textContent === 'saved'")
        assert tab.troubles == []
    loop, space = (pendula.load(tmp_path / name) for name in ("untitled.toml", "untitled-2.toml"))
    assert len(loop.closures) == 1
    assert pendula.simulate(loop, 1.0).ok
    assert [joint.type for joint in space.joints] == ["spherical", "revolute"]
    assert space.joints[1].parent.at == "end"
    assert [force.type for force in space.forces] == ["spring"]
    assert pendula.simulate(space, 1.0).energy_drift < 1e-6


def pivot_of(tab):
    return tab.run("window.pendula.model.joints[0].parent.position")


def anchor(tab):
    return tab.run("window.pendula.model.joints[3].parent.position")[:2]


def test_form_and_text_are_one_model_with_problems_at_their_places_and_undo(home):
    with open_page(home, "both.toml", "double-pendulum") as tab:
        tab.write("parameters l", "2.5")
        tab.until("window.pendula.text.includes('l = 2.5')")
        tab.leave()
        tab.write("parameters l", "2*nothing")
        tab.until("window.pendula.problems.length > 0")
        told = "document.querySelector('[data-path=\"parameters/l\"] > .problem:not([hidden])')?.textContent"
        assert "nothing" in tab.until(told)
        tab.press("TOML")
        line = 1 + next(k for k, row in enumerate(tab.run("window.pendula.text").splitlines()) if row.startswith("l ="))
        marked = "[...document.getElementById('lines').children].findIndex(one => one.classList.contains('wrong'))"
        assert tab.run(marked) + 1 == line
        tab.press("Undo")
        tab.until("window.pendula.problems.length === 0 && window.pendula.text.includes('l = 2.5')")
        tab.press("Redo")
        tab.until("window.pendula.problems.length > 0")
        tab.press("Undo")
        tab.press("Model as TOML")
        tab.run("document.getElementById('text').select()")
        tab.ask("Input.insertText", text=tab.run("window.pendula.text").replace("l = 2.5", "l = 3.5  # longer"))
        tab.until("window.pendula.model.parameters.l === 3.5")
        tab.press("Form")
        assert tab.run("document.querySelector('[data-focus=\"parameters/l\"]').value") == "3.5"
        tab.write("parameters g", "1.62")
        tab.until("window.pendula.text.includes('g = 1.62')")
        assert "l = 3.5  # longer" in tab.run("window.pendula.text")  # the form keeps comments
        tab.until("document.getElementById('saved').textContent === 'saved'")
        assert tab.troubles == []
    assert pendula.load(home.folder / "both.toml").parameter_values["l"] == 3.5


def test_parts_are_renamed_copied_and_removed_with_what_refers_to_them(home):
    with open_page(home, "parts.toml", "double-pendulum") as tab:
        tab.press("upper", "#form [data-path='bodies']")
        tab.write("bodies 1 name", "arm")
        tab.leave()
        tab.until("window.pendula.text.includes('\"arm\"')")
        model = tab.run("window.pendula.model")
        assert [joint["child"]["body"] for joint in model["joints"]] == ["arm", "lower"]
        assert model["joints"][1]["parent"]["body"] == "arm"
        tab.press("duplicate lower")
        tab.until("window.pendula.model.bodies.length === 3")
        names = tab.run("window.pendula.model.bodies.map(body => body.name)")
        assert len(set(names)) == 3
        tab.until("window.pendula.problems.length > 0")  # nothing connects the copy
        tab.press(f"remove {names[2]}")
        tab.press("remove lower")
        tab.until("window.pendula.problems.length === 0 && window.pendula.model.bodies.length === 1")
        model = tab.run("window.pendula.model")
        assert [joint["name"] for joint in model["joints"]] == ["theta1"]
        assert [force["joint"] for force in model["forces"]] == ["theta1"]
        assert list(model["initial"]) == ["theta1"]
        assert tab.troubles == []


def test_long_work_is_followed_and_cancelled(home):
    with open_page(home, "long.toml", "double-pendulum") as tab:
        tab.write("Duration of the simulation", "1e6")
        tab.press("Simulate")
        tab.until("!document.getElementById('work').hidden && document.getElementById('work-bar').value > 0")
        plays = f"{SHOWN} === 'run, so far' && window.pendula.shows === 'motion'"
        tab.until(plays)  # what has been computed plays while the run continues
        before = tab.text_of("#hint")
        tab.until(f"document.getElementById('hint').textContent !== {before!r}")
        assert " of 1e6 s" in before
        tab.visit()  # the work of a page that is loaded again is found again
        tab.until(f"{plays} && !document.getElementById('work').hidden")
        tab.press("Cancel")
        assert tab.until("document.getElementById('error').textContent") == "cancelled"
        assert "not saved" in tab.text_of("#hint")
        tab.until("document.getElementById('work').hidden && !document.getElementById('simulate').disabled")
        assert tab.troubles == []


def test_names_of_a_hostile_model_are_shown_as_text(home):
    hostile = pendula.library.pendulum().with_changes(name=HOSTILE[:100], description=HOSTILE)
    with open_page(home, "hostile.toml", pendula.dumps(hostile)) as tab:
        tab.press("Simulate")
        tab.until("window.pendula.shows === 'motion'")
        assert HOSTILE[:40] in tab.text_of("#form")
        tab.press("Results")
        tab.press("Close")
        put(home, "turned.toml", f'name = "{TURNED}"\n"{HOSTILE[:40]}" = 1\n')
        tab.press("Open")
        tab.press("turned.toml", "#dialog")
        tab.until("window.pendula.problems.length > 0")
        assert HOSTILE[:40] in tab.until("document.getElementById('problems').textContent")
        assert TURNED not in tab.text_of("#problems")
        assert tab.run("window.broken") is None
        assert tab.run("document.querySelectorAll('img, body script:not([type=module])').length") == 0
        assert tab.troubles == []


def test_a_page_that_is_opened_again_shows_what_was_there(home):
    with open_page(home, "again.toml", "pendulum") as tab:
        tab.press("Equilibria", "#study-tabs")
        tab.press("Find equilibria")
        rows = tab.until("document.querySelectorAll('#study-equilibria tr').length")
        tab.write("parameters g", "1.62")
        tab.until("window.pendula.text.includes('g = 1.62')")
        tab.visit()  # at once: the page saves what it has before it goes
        assert tab.run("window.pendula.model.parameters.g") == 1.62
        tab.until(f"document.querySelectorAll('#study-equilibria tr').length === {rows}")
        assert "earlier version" in tab.text_of("#study-equilibria .stale:not([hidden])")
        tab.run("""(send => {  // what is saved from here on never arrives
          window.fetch = (path, how) => how?.method === "PUT" ? new Promise(() => {}) : send(path, how);
        })(window.fetch)""")
        tab.write("parameters g", "3.72")
        tab.until("window.pendula.text.includes('g = 3.72')")
        tab.visit()
        assert tab.run("window.pendula.model.parameters.g") == 3.72
        tab.until("document.getElementById('saved').dataset.state === 'saved'")
        assert tab.troubles == []
    assert pendula.load(home.folder / "again.toml").parameter_values["g"] == 3.72


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["light", "dark"])
def test_the_page_fits_a_telephone(home, dark):
    with open_page(home, "phone.toml", "cart-pole", width=390, height=780, dark=dark) as tab:
        for part, inside in (("Model", "#form"), ("Study", "#study-views"), ("Scene", "#view")):
            tab.press(part, "#places")
            assert tab.run(f"document.querySelector({inside!r}).checkVisibility()")
            assert tab.width_needed() <= 390
            assert tab.nameless() == []
        assert tab.troubles == []


@pytest.mark.slow
def test_the_state_of_the_scene_is_kept_in_the_model_and_exports_are_written(home, tmp_path):
    with open_page(home, "keep.toml", "heavy-top") as tab:
        tab.press("Pause")
        state = tab.run("window.pendula.state")
        tab.press("Keep")
        tab.until("window.pendula.problems.length === 0 && 'pivot_q0' in window.pendula.model.initial")
        kept = tab.run("window.pendula.model.initial")
        assert kept == pytest.approx(state, rel=1e-10, abs=1e-10)
        tab.press("Simulate")
        tab.until("window.pendula.shows === 'motion'")
        tab.press("Export")
        for name in ("Model", "Live page", "Animation", "Figure", "Data", "Python script"):
            tab.press(f"make {name}")
            line = f"[...document.querySelectorAll('.export-line')].find(one => one.textContent.startsWith({name!r}))"
            file = tab.until(f"({line}).querySelector('a')?.textContent")
            assert (home.folder / file).stat().st_size > 0
        tab.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        tab.press(file)
        assert wait_until(lambda: (tmp_path / file).exists())
        assert (tmp_path / file).read_bytes() == (home.folder / file).read_bytes()
        assert not [url for url in tab.requests if "/download/" in url and home.token in url]
        assert tab.troubles == []
    compile((home.folder / file).read_text(encoding="utf-8"), file, "exec")


@pytest.mark.slow
def test_every_study_shows_its_result_and_a_root_plays_its_mode(home):
    with open_page(home, "studies.toml", "inverted-chain") as tab:
        for _ in range(2):
            before = len(tab.run("[...document.getElementById('source').options].map(one => one.value)"))
            tab.press("Simulate")
            tab.until(
                f"document.getElementById('source').options.length > {before} && window.pendula.shows === 'motion'"
            )
        for tabname, button, found in (
            ("Certificate", "Check all formulations", "#study-certificate .verdict.good"),
            ("Reactions", "Forces in joints", "#study-reactions table"),
            ("Compare", "Compare", "#study-compare table"),
            ("Ensemble", "Run the ensemble", "#study-ensemble .facts"),
            ("Floquet", "Floquet multipliers", "#study-floquet .verdict"),
        ):
            tab.press(tabname, "#study-tabs")
            tab.press(button, "#study-views")
            tab.until(f"document.querySelector({found!r})")
        tab.press("▶ Play one period")
        tab.until("document.getElementById('source').selectedOptions[0].textContent === 'one period'")
    with open_page(home, "roots.toml", "double-pendulum") as tab:
        tab.press("Eigenvalues", "#study-tabs")
        tab.choose("Parameter", "l")
        tab.press("Root locus")
        tab.until("!document.querySelector('#study-eigenvalues .over').hidden")
        roots = tab.until("document.querySelector('#study-eigenvalues canvas').getAttribute('aria-label')")
        assert roots.startswith("4 roots")
        slider = "document.querySelector('#study-eigenvalues input[type=range]')"
        tab.run(f"({slider}).value = 5; ({slider}).dispatchEvent(new Event('input'))")
        assert tab.until("document.querySelector('#study-eigenvalues canvas').getAttribute('aria-label')") != roots
        tab.click(
            *tab.run("""(canvas => {
          const box = canvas.getBoundingClientRect(), [x, y] = JSON.parse(canvas.dataset.places)[0];
          return [box.left + x, box.top + y];
        })(document.querySelector('#study-eigenvalues canvas'))""")
        )
        tab.until("document.getElementById('source').selectedOptions[0].textContent.startsWith('mode')")
        tab.press("Equations", "#study-tabs")
        tab.until("document.querySelector('#study-equations math')")
        tab.choose("Language of the equations", "LaTeX")
        tab.until("document.querySelector('#study-equations pre')?.textContent.includes('\\\\begin')")
        assert tab.troubles == []


@pytest.mark.slow
def test_two_pages_on_one_file_never_overwrite_each_other_unasked(home):
    with open_page(home, "shared.toml", "pendulum") as first, Tab(address(home)) as second:
        second.visit()
        saved = "document.getElementById('saved').textContent === 'saved'"
        edit_both(first, second, "1.1", "2.2")
        assert "g = 1.1" in (home.folder / "shared.toml").read_text()
        second.press("Open the other one")
        second.until(f"{saved} && window.pendula.text.includes('g = 1.1') && document.getElementById('error').hidden")
        second.until("document.querySelector('[data-focus=\"parameters/g\"]').value === '1.1'")
        edit_both(first, second, "3.3", "4.4")
        second.press("Keep this version")
        second.until(f"{saved} && document.getElementById('error').hidden")
        assert "g = 4.4" in (home.folder / "shared.toml").read_text()


def edit_both(first, second, one, other):
    """The same value changed in two pages; the second finds that it was too late."""
    first.write("parameters g", one)
    first.until(
        f"document.getElementById('saved').textContent === 'saved' && window.pendula.text.includes('g = {one}')"
    )
    second.write("parameters g", other)
    second.until("document.querySelector('#error .mend') && window.pendula.text.includes('g = " + other + "')")
