"""Comparisons with other engines: the arithmetic, the twins, who is missing, and the page. Nothing is timed."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import pendula
from benchmarks import __main__ as command
from benchmarks import ensemble, forward, lineup, ours, page, results, twins, work_precision
from benchmarks.equal_error import Point, decades, front, seconds_at, seconds_for, times_faster
from benchmarks.lineup import Lineup, Missing
from benchmarks.measure import difference, goal
from benchmarks.report import Report, Table

FIXTURE = Path(__file__).parent / "figures"
SAME = 1e-10  # relative: different ways to the same accelerations, rounding only


@pytest.fixture(autouse=True)
def nothing_asked():
    yield
    lineup.ask_for(())


# --- times at equal error -----------------------------------------------------------------------------


def power_law(factor: float, order: float, errors: list[float]) -> list[Point]:
    """An integrator of some order: its time falls as a power of the error."""
    return [Point(e, factor * e ** (-1 / order)) for e in errors]


def test_power_laws_are_interpolated_exactly_in_logarithms() -> None:
    runs = power_law(2.0, 8, [1e-4, 1e-6, 1e-11])
    for error in (1e-5, 3e-8, 1e-10):
        assert seconds_at(runs, error) == pytest.approx(2.0 * error ** (-1 / 8), rel=1e-12)


def test_ratio_at_equal_error_is_the_ratio_of_the_laws() -> None:
    ours_, theirs = power_law(1.0, 8, [1e-3, 1e-12]), power_law(3.0, 8, [1e-5, 1e-9])
    assert times_faster(ours_, theirs, 1e-7) == pytest.approx(3.0, rel=1e-12)
    different = power_law(1.0, 16, [1e-5, 1e-9])
    assert times_faster(ours_, different, 1e-8) == pytest.approx(1e-8 ** (1 / 8 - 1 / 16), rel=1e-12)


def test_no_side_is_asked_for_what_it_has_not_reached() -> None:
    runs = power_law(1.0, 4, [1e-4, 1e-8])
    assert seconds_at(runs, 1e-9) is None
    assert seconds_at(runs, 1e-3) is None
    assert seconds_for(runs, 1e-9) is None
    assert seconds_for(runs, 1e-3) == pytest.approx(10.0)  # the quickest run is exact enough
    assert seconds_for([], 1e-3) is None
    assert times_faster(power_law(1.0, 4, [1e-2, 1e-4]), runs, 1e-6) is None
    assert set(decades(runs, power_law(1.0, 4, [3e-8, 2e-5]))) == {1e-7, 1e-6, 1e-5}


def test_runs_that_are_worse_in_both_do_not_count() -> None:
    good = [Point(1e-8, 4.0), Point(1e-6, 2.0), Point(1e-4, 1.0)]
    bad = [Point(1e-6, 3.0), Point(1e-5, 9.0), Point(math.inf, 0.1), Point(math.nan, 0.1), Point(0.0, 1.0)]
    assert front(bad + good) == good


def test_broken_runs_are_left_out_of_curves() -> None:
    curve = [{"error": 9e13, "seconds": 1e-3}, {"error": 1e-8, "seconds": 1e-2}]
    assert work_precision.points_of(curve) == [Point(1e-8, 1e-2)]


# --- twins --------------------------------------------------------------------------------------------


def test_recursion_and_dense_solve_have_our_accelerations() -> None:
    q, v = twins.chain_state(5)
    found = pendula.compile_system(pendula.library.chain(links=5)).accelerations(q, v)
    assert difference(twins.recursion(q, v, np.sin, np.cos), found) < SAME
    assert difference(twins.chain_accelerations(q, v), found) < SAME


def test_energy_formula_is_our_energy_and_its_error_is_the_largest_change() -> None:
    system = pendula.compile_system(pendula.library.chain(links=4))
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-3, 3, (6, 4)), rng.uniform(-2, 2, (6, 4))
    kinetic, potential = system.energies(q, v)
    change = kinetic + potential
    np.testing.assert_allclose(np.diff(twins.chain_energy(q, v)), np.diff(change), rtol=1e-10, atol=1e-10)
    assert twins.energy_error(q, v) == pytest.approx(np.abs(change - change[0]).max())
    assert twins.energy_error(q * np.nan, v) == math.inf


def test_a_call_for_scipy_gives_our_rates() -> None:
    system = pendula.compile_system(pendula.library.chain(links=2))
    q, v = twins.chain_state(2)
    found = ours.rhs_of(system)(0.0, np.concatenate([q, v]))
    assert difference(found, np.concatenate([v, twins.chain_accelerations(q, v)])) < SAME
    out = np.empty(2)
    ours.forward(system, q, v, out)()
    assert difference(out, twins.chain_accelerations(q, v)) < SAME


@pytest.mark.peer
@pytest.mark.parametrize("links", [2, 20])
def test_planar_peers_have_the_accelerations_of_the_dense_solve(links: int) -> None:
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    found: dict[str, np.ndarray] = {}
    for who in ("Pinocchio LOCAL", "Pinocchio WORLD", "MuJoCo"):
        forward.planar_makers()[who](links, found)
    expected = twins.chain_accelerations(*twins.chain_state(links))
    assert max(difference(a, expected) for a in found.values()) < SAME
    assert len(found) == 3


@pytest.mark.peer
def test_spatial_chain_is_the_same_in_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    chain = twins.SpatialChain(4)
    q, v = chain.state()
    model = chain.pinocchio()
    theirs = pin.aba(model, model.createData(), q, v, np.zeros(4))
    assert difference(pendula.compile_system(chain.ours()).accelerations(q, v), theirs) < SAME


def test_median_error_counts_broken_runs_as_wrong() -> None:
    q, v = ensemble.starts(3)
    ends = q.copy()
    ends[:2] = np.nan
    assert ensemble.median_error((q, v), (q, v)) == 0.0
    assert ensemble.median_error((q, v), (ends, v)) == math.inf


# --- who is missing -----------------------------------------------------------------------------------


def test_a_peer_that_is_not_installed_is_named(monkeypatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(lineup.importlib, "import_module", nothing)
    with pytest.raises(Missing, match=r"^pin is not installed here$"):
        lineup.peer("pinocchio")
    with pytest.raises(Missing, match="WITH=jax"):
        lineup.peer("diffrax")
    lineup.ask_for(["jax"])
    with pytest.raises(Missing, match=r"^diffrax is not installed here$"):
        lineup.peer("diffrax")


def test_missing_sides_are_kept_with_their_reason_and_the_rest_goes_on(monkeypatch) -> None:
    monkeypatch.setattr("gc.collect", lambda: 0)  # slow where many tests ran before, and nothing is timed here

    def absent() -> None:
        raise Missing("left home")

    def hungry() -> None:
        raise MemoryError

    calls: list[int] = []
    sides = Lineup()
    assert not sides.add("absent", absent)
    assert not sides.add("hungry", hungry)
    assert sides.add("present", lambda: lambda: calls.append(1), least=0.0)
    assert set(sides.run(rounds=2, share=0.0)) == {"present"}
    assert sides.missing == {"absent": "left home", "hungry": "out of memory"}
    assert len(calls) == 3  # once as warm-up, then in every round


def test_what_we_do_not_have_is_said_in_our_own_words() -> None:
    with pytest.raises(Missing, match="nonsense"), ours.refused():
        raise pendula.errors.UsageError("nonsense")
    with pytest.raises(Missing, match=r"not there yet: jacobian_dynamics"):
        ours.jacobian(object(), np.zeros(1), np.zeros(1))


def test_a_goal_without_a_figure_says_why_and_is_not_met() -> None:
    found = goal("race", None, "at least", 2.0, " times", why="the other one is not installed here")
    assert not found.met
    assert found.sentence() == "  --   race: the other one is not installed here; goal at least 2 times"
    assert found.figures()["found"] is None
    assert goal("race", 3.0, "at least", 2.0, " times").sentence().startswith("met")


def test_unknown_names_end_in_one_message(capsys) -> None:
    for arguments, text in ((["nonsense"], 'no benchmark "nonsense"'), (["--with", "matlab"], 'no extra "matlab"')):
        with pytest.raises(SystemExit):
            command.main(arguments)
        assert text in capsys.readouterr().err


# --- figures and page ---------------------------------------------------------------------------------


def test_figures_survive_the_disk_and_hold_no_infinities(tmp_path) -> None:
    report = Report("forward", "How fast?", [Table(["a", "b"], [["x", "1"]])], missing={"MuJoCo": "is not installed"})
    report.figures["planar_difference"] = {"a": math.nan, "b": [math.inf, 1.0]}
    path = results.save(tmp_path, "forward", {"cpu": "some"}, report.json())
    assert "NaN" not in path.read_text()
    assert "Infinity" not in path.read_text()
    figures = results.load(tmp_path)["forward"]["figures"]
    assert figures["planar_difference"] == {"a": None, "b": [None, 1.0]}
    assert figures["tables"][0]["rows"] == [["x", "1"]]
    assert figures["missing"] == {"MuJoCo": "is not installed"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[str, Path]:
    """The page of the fixture, and the folder of its pictures."""
    docs = tmp_path_factory.mktemp("docs")
    return page.write_page(FIXTURE, docs).read_text(encoding="utf-8"), docs / "benchmarks"


def test_page_counts_the_goals_and_shows_each_with_its_verdict(made) -> None:
    text, _ = made
    assert "1 goals are met, 1 missed, 1 not measured." in text
    lines = [line for line in text.splitlines() if line.startswith("| [Accelerations]")]
    assert [line.split("|")[-2].strip() for line in lines] == ["**MISSED**", "met", "not measured"]
    assert "| 4.25 times | at least 3 times | met |" in text
    assert "MuJoCo: mujoco is not installed here" in text


def test_page_has_tables_notes_and_versions(made) -> None:
    text, _ = made
    assert "| planar chain | n = 2 | n = 10 |" in text
    assert "Measured with care." in text
    assert "numpy 2.0.0, pin 4.1.0." in text
    assert "Invented processor" in text


def test_every_picture_of_the_page_is_there_and_every_link_leads_somewhere(made) -> None:
    text, pictures = made
    shown = re.findall(r"!\[[^]]*\]\(benchmarks/([a-z_]+\.svg)\)", text)
    assert sorted(shown) == sorted(path.name for path in pictures.iterdir())
    assert set(shown) == {"overview.svg", "forward.svg", "work_precision.svg", "ensemble.svg", "memory.svg"}
    headings = {line[3:].lower().replace(" ", "-") for line in text.splitlines() if line.startswith("## ")}
    assert set(re.findall(r"\(#([a-z-]+)\)", text)) <= headings


def test_pictures_show_the_curves_by_name(made) -> None:
    _, pictures = made
    assert ">Pinocchio WORLD<" in (pictures / "forward.svg").read_text()
    assert ">heyoka<" in (pictures / "work_precision.svg").read_text()
    assert ">pendula, Taylor<" in (pictures / "ensemble.svg").read_text()


def test_page_is_the_same_for_the_same_figures(made, tmp_path) -> None:
    text, pictures = made
    assert page.write_page(FIXTURE, tmp_path).read_text(encoding="utf-8") == text
    for path in pictures.iterdir():
        assert (tmp_path / "benchmarks" / path.name).read_bytes() == path.read_bytes()


def test_page_without_figures_is_refused(tmp_path) -> None:
    with pytest.raises(SystemExit, match="make bench"):
        page.write_page(tmp_path, tmp_path)


def test_committed_page_belongs_to_the_committed_figures() -> None:
    docs = Path(page.__file__).parent.parent / "docs"
    found = results.load(results.FOLDER)
    if not found:
        pytest.skip("no figures are committed")
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    for name, content in found.items():
        assert content["figures"]["question"] in text, name
        assert content["environment"]["date"][:16].replace("T", " ") in text, name
    json.dumps(found, allow_nan=False)
