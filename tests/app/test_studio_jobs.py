"""Jobs of the studio: what each kind computes, held against closed forms and the library itself; cancel and limits."""

from __future__ import annotations

import asyncio
import csv
import inspect
import json
import math
import re

import numpy as np
import pytest

import pendula
from pendula.app.studio import preview
from pendula.app.studio.crew import Worker, WorkFailed
from pendula.app.studio.exports import FIGURES
from pendula.app.studio.folder import Folder
from pendula.app.studio.guard import Refused
from pendula.app.studio.jobs import Jobs
from pendula.app.studio.kinds import KINDS, PASSING, QUICK
from pendula.app.studio.limits import Limits
from pendula.equations.formulations.registry import FORMULATIONS
from pendula.formats import formats
from pendula.library import chain, driven_chain, four_bar
from pendula.model.files import dumps, loads
from pendula.numerics.steppers.stepper import STEPPERS
from tests.app.studio_server import ENDLESS, PENDULUM, is_running, studio, wait_until
from tests.helpers.choices import slow_too

ROOT = math.sqrt(9.81 / 2.0)
"""Angular frequency of the pendulum of these tests: sqrt(g/l)."""
CLOSE = 1e-9

HOSTILE = PENDULUM.replace(
    'name = "swing"',
    """name = "<script>alert(1)</script> \\" '"\ndescription = "</p><img src=x onerror=alert(1)>{{script}}\"""",
)
"""A valid model whose texts would do harm in a page that did not escape them."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with studio(tmp_path_factory.mktemp("jobs")) as running:
        yield running


@pytest.fixture
def client(place):
    return place.client()


def test_every_kind_of_job_is_tested_here():
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    used = set(re.findall(r'(?:result|start)\("(\w+)"', text))
    assert used == set(KINDS)
    assert set(KINDS) >= QUICK
    assert PASSING <= QUICK


def test_a_run_agrees_with_the_library_and_is_saved(client, place):
    found = client.wait(client.start("simulate", options={"duration": 3.0, "tol": 1e-10, "samples": 50}))
    result = found["result"]
    expected = pendula.simulate(loads(PENDULUM), 3.0, tol=1e-10, samples=50)
    assert np.allclose(result["states"]["theta"], expected["theta"], rtol=0, atol=CLOSE)
    total = np.array(result["energies"]["kinetic"]) + np.array(result["energies"]["potential"])
    assert np.ptp(total) < 1e-6
    assert np.allclose(result["energies"]["energy"], total)
    assert result["ok"]
    assert found["files"] == [result["file"]]
    with np.load(place.folder / result["file"]) as saved:
        assert np.allclose(saved["q"][:, 0], expected["theta"], atol=CLOSE)


def test_start_parameters_and_expressions_change_the_model(client):
    options = {"duration": 1.0, "samples": 3, "start": {"theta": "30deg", "theta_dot": 1}, "parameters": {"l": "4*m"}}
    result = client.result("simulate", options)
    assert result["states"]["theta"][0] == pytest.approx(math.radians(30))
    assert result["states"]["theta_dot"][0] == 1.0
    assert result["parameters"]["l"] == 4.0


def test_a_run_gets_the_name_that_was_asked_and_replaces_nothing(client, place):
    for expected in ("my run.npz", "my run-2.npz"):
        assert client.result("simulate", {"duration": 0.1, "name": "my run"})["file"] == expected
    failed = client.wait(client.start("simulate", options={"duration": 0.1, "name": "../out"}))
    assert failed["state"] == "failed"
    assert "name" in failed["error"]
    assert not (place.folder.parent / "out.npz").exists()


def test_equilibria_of_the_pendulum(client):
    found = client.result("equilibria")
    angles = sorted(abs(one["q"]["theta"]) for one in found["equilibria"])
    assert angles == pytest.approx([0.0, math.pi], abs=CLOSE)
    assert [one["verdict"] for one in found["equilibria"]] == ["stable", "unstable"]


def test_the_linear_model_has_the_frequency_of_the_pendulum(client):
    found = client.result("linear")
    assert sorted(root["im"] for root in found["eigenvalues"]) == pytest.approx([-ROOT, ROOT])
    upright = client.result("linear", {"at": {"theta": "180deg"}})
    assert sorted(root["re"] for root in upright["eigenvalues"]) == pytest.approx([-ROOT, ROOT])
    assert client.result("linear", {"at": 2})["at"]["theta"] == pytest.approx(math.pi)


def test_the_root_locus_follows_the_closed_form(client):
    found = client.result("locus", {"parameter": "l", "low": 0.5, "high": 8.0, "count": 16})
    values = [point["value"] for point in found["points"]]
    assert values == sorted(values)
    assert {0.5, 2.0, 8.0} <= set(values)
    for point in found["points"]:
        expected = math.sqrt(9.81 / point["value"])
        assert sorted(im for _, im in point["roots"]) == pytest.approx([-expected, expected], rel=1e-8)
    assert found["lost"] == []


def test_parts_of_a_result_can_be_had_before_all_of_it(client):
    job = client.start("locus", dumps(chain(links=3)), {"parameter": "l", "low": 0.5, "high": 2.0, "count": 300})
    found: list[dict] = []
    answer = {"state": "queued"}
    while answer["state"] in ("queued", "running"):
        answer = client.ask("GET", f"/api/jobs/{job}/pieces?from={len(found)}").data
        found += answer["pieces"]
    points = client.wait(job)["result"]["points"]
    early = [point for piece in found for point in piece["points"]]
    assert early
    assert all(point in points for point in early)
    assert client.ask("GET", f"/api/jobs/{job}/pieces?from=x").status == 400
    assert client.ask("GET", f"/api/jobs/{job}/pieces").data["pieces"] == []


def test_the_motion_of_a_run_can_be_had_while_it_is_computed(client):
    job = client.start("simulate", options={**ENDLESS, "samples": 20_000})
    found: list[dict] = []
    assert wait_until(lambda: len(found) > 2 or found.extend(pieces_of(client, job, len(found))))
    client.ask("DELETE", f"/api/jobs/{job}")
    assert found[0]["coordinates"] == ["theta"]
    assert found[0]["units"] == {"theta": "rad"}
    assert found[0]["t_end"] == ENDLESS["duration"]
    times = [t for piece in found for t in piece["t"]]
    angles = [row[0] for piece in found for row in piece["q"]]
    assert times == sorted(set(times))
    assert len(angles) == len(times)
    early = pendula.simulate(loads(PENDULUM), times[3], tol=ENDLESS["tol"], samples=times[:4])
    assert angles[:4] == pytest.approx(early["theta"].tolist(), abs=1e-6)  # drawn with seven digits
    assert max(map(abs, angles)) <= math.radians(20) + 1e-6  # it never swings farther than it began
    assert pieces_of(client, job, 0) == []  # nothing is held of a job that has ended


def pieces_of(client, job, start):
    return client.ask("GET", f"/api/jobs/{job}/pieces?from={start}").data["pieces"]


class Pieces:
    """Takes the pieces of a preview."""

    def __init__(self):
        self.found = []

    def piece(self, found):
        self.found.append(found)


@pytest.mark.parametrize(("samples", "formulation"), [(1000, None), (20_000, "maximal")])
def test_a_preview_is_small_and_in_joint_coordinates(samples, formulation, monkeypatch):
    monkeypatch.setattr(preview, "FIRST", 0.0)
    monkeypatch.setattr(preview, "OFTEN", 0.0)
    monkeypatch.setattr(preview, "MOST_NUMBERS", 9000)
    system = pendula.compile_system(pendula.library.double_pendulum(), formulation)
    pieces = Pieces()
    taker = preview.Preview(pieces, system, samples, 20.0)
    run = pendula.simulate(system, 20.0, samples=samples, on_samples=taker.take)
    times = np.array([t for piece in pieces.found for t in piece["t"]])
    rows = np.array([row for piece in pieces.found for row in piece["q"]])
    assert 1500 < 3 * len(times) <= 9000
    every = np.searchsorted(run.t, times - 1e-4)
    assert np.allclose(rows[:, 1], run["theta2"][every], atol=1e-6)


def test_a_preview_forgets_what_a_run_computes_again(monkeypatch):
    monkeypatch.setattr(preview, "FIRST", 1e9)
    pieces = Pieces()
    taker = preview.Preview(pieces, pendula.compile_system(loads(PENDULUM)), 10, 1.0)
    for t in ([0.0, 0.1, 0.2], [0.3], [0.1, 0.2]):
        taker.take(np.array(t), np.array(t)[:, None], np.zeros((len(t), 1)))
    assert taker._t == [0.0, 0.1, 0.2]


def test_a_root_locus_ends_where_the_model_ceases_to_exist(client):
    found = client.result("locus", {"parameter": "m", "low": -1.0, "high": 2.0, "count": 13})
    assert all(point["value"] > 0 for point in found["points"])
    assert found["lost"] == [pytest.approx(0.0, abs=1e-12)]


def test_modes_have_a_motion_to_play(client):
    found = client.result("modes")
    assert found["frequencies_rad_s"] == pytest.approx([ROOT])
    motion = found["motions"][0]
    assert motion["coordinates"] == ["theta"]
    period = motion["t"][-1]
    assert period == pytest.approx(2 * math.pi / ROOT)
    shape = np.array(motion["q"])[:, 0]
    expected = motion["amplitude"] * np.cos(2 * math.pi * np.array(motion["t"]) / period)
    assert np.allclose(shape, expected, atol=1e-9)


def test_modes_of_a_loop_keep_it_closed(client):
    model = four_bar()
    found = client.result("modes", text=dumps(model))
    motion = found["motions"][0]
    system = pendula.compile_system(model)
    for q in motion["q"][::24]:
        values = dict(zip(motion["coordinates"], q, strict=True))
        closed = pendula.assemble(system, near=values)
        assert np.allclose([closed.state[name] for name in motion["coordinates"]], q, atol=1e-7)


def test_stability_at_a_point_and_over_a_range(client):
    assert client.result("stability")["verdict"] == "stable"
    upright = client.wait(client.start("stability", options={"at": {"theta": "180deg"}}))
    assert upright["result"]["verdict"] == "unstable"
    assert upright["ok"] is False
    over = client.result("stability", {"parameter": "g", "low": 1.0, "high": 20.0, "samples": 10})
    assert "stable" in json.dumps(over)


def test_floquet_multipliers_of_a_shaken_pendulum(client):
    text = dumps(driven_chain(links=1, kind="point", amplitude=0.05, rate=100.0, direction=0))
    found = client.result("floquet", {"at": {"theta1": "180deg"}}, text)
    assert found["verdict"] == "stable (linear)"  # Kapitza
    assert [m["size"] for m in found["multipliers"]] == pytest.approx([1.0, 1.0], abs=1e-6)
    assert found["motion"]["t"][-1] == pytest.approx(2 * math.pi / 100)


def test_reactions_along_an_earlier_run_and_along_one_of_their_own(client):
    run = client.start("simulate", options={"duration": 1.0, "samples": 20, "start": {"theta": 0.0}})
    client.wait(run)
    for options in ({"run": run}, {"duration": 1.0, "samples": 20, "start": {"theta": 0.0}}):
        found = client.result("reactions", options)
        force = np.array(found["joints"]["theta"]["force_world"])
        assert np.allclose(force, [0.0, 9.81, 0.0], atol=1e-9)  # it hangs at rest: its weight


def test_a_section_finds_the_crossings_of_the_closed_form(client):
    found = client.result("section", {"event": "theta = 0 rising", "duration": 20.0, "tol": 1e-10, "of": "theta"})
    from scipy.special import ellipk

    period = 4 / ROOT * ellipk(math.sin(math.radians(10)) ** 2)
    assert found["t"] == pytest.approx([period * (0.75 + k) for k in range(len(found["t"]))], rel=1e-7)
    assert np.allclose(found["x"], 0.0, atol=1e-8)


def test_a_section_of_a_ball_joint_takes_its_angular_velocity(client):
    top = dumps(pendula.library.heavy_top())
    found = client.result("section", {"event": "pivot_wx = 0 rising", "duration": 2.0}, top)
    assert (found["of"], found["against"]) == ("pivot_wy", "pivot_wz")
    assert np.allclose(found["y"], 60.0)  # a symmetric top keeps its spin
    chosen = client.result("section", {"event": "pivot_wx = 0", "of": "pivot_q1", "against": "pivot_q2"}, top)
    assert len(chosen["x"]) == len(chosen["y"]) > 0


def test_two_runs_are_compared_at_the_same_times(client):
    first, second = (
        client.wait(client.start("simulate", options={"duration": duration, "start": {"theta_dot": speed}}))["id"]
        for duration, speed in ((2.0, 0.0), (1.0, 0.1))
    )
    found = client.result("compare", {"runs": [first, second], "samples": 11})
    assert found["t"] == pytest.approx(np.linspace(0.0, 1.0, 11).tolist())
    assert found["states"]["theta_dot"][1][0] - found["states"]["theta_dot"][0][0] == pytest.approx(0.1)
    same = client.result("compare", {"runs": [first, first], "samples": 5})
    assert max(same["largest"].values()) == 0.0


def test_an_ensemble_gives_quantiles(client):
    options = {"runs": 40, "vary": {"theta": [-0.5, 0.5]}, "duration": 0.5, "samples": 3}
    found = client.result("ensemble", options)
    assert found["runs"] == 40
    low, middle, high = (each[0] for each in found["states"]["theta"])
    assert -0.5 <= low < middle < high <= 0.5


def test_equations_in_every_format(client):
    model = loads(PENDULUM)
    for formulation, form in (("kane", "c"), ("newton-euler", "python")):
        found = client.result("equations", {"formulation": formulation, "format": form})
        assert found["text"] == pendula.print_equations(pendula.derive(model, formulation), form)
    groups = client.result("equations", {"format": "mathml"})["groups"]
    assert all(formula.startswith("<math") for group in groups for formula in group["formulas"])


def test_the_certificate_passes(client):
    found = client.result("certificate", {"states": 5})
    assert found["passed"]
    assert len(found["pairs"]) >= 6


def test_live_content_and_its_module(client, place):
    job = client.start("live")
    found = client.wait(job)
    assert found["kept"] is False
    assert found["result"]["record"]["title"] == "swing"
    answer = client.raw("GET", f"/live/{job}.js?token={place.token}")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.body.decode().startswith(f"export const program = {found['result']['program']}")
    other = client.start("certificate", options={"states": 1})
    client.wait(other)
    assert client.raw("GET", f"/live/{other}.js?token={place.token}").status == 404


@pytest.mark.parametrize("of", slow_too(["live"], ["simulate", "modes"]))
def test_pages_are_written(client, place, of):
    options = {"of": of} | ({"duration": 0.5} if of == "simulate" else {})
    name = client.result("page", options)["file"]
    content = (place.folder / name).read_text()
    assert "Content-Security-Policy" in content
    assert client.raw("GET", f"/download/{name}?token={place.token}").body.decode() == content


def test_hostile_names_are_harmless_in_the_report_and_in_pages(client, place):
    for kind, options in (("report", {"duration": 0.5}), ("page", {"of": "live"})):
        name = client.wait(client.start(kind, HOSTILE, options))["result"]["file"]
        content = (place.folder / name).read_text()
        assert "<script>alert(1)" not in content
        assert "<img src=x" not in content
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", name)
    found = client.result("report", {"duration": 0.5})
    assert found["file"] == "swing-report.html"
    assert set(found["missing"]) <= {"floquet", "driven", "responses"}  # nothing depends on time, nothing is an input


@pytest.mark.parametrize("of", slow_too(["modes"], [f for f in FIGURES if f != "modes"]))
def test_figures_are_pictures(client, place, of):
    more = {"vary": {"theta": [-1, 1]}, "runs": 5} if of == "ensemble" else {}
    name = client.result("figure", {"of": of, **more})["file"]
    assert (place.folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_script_reproduces_the_numbers(client, place):
    import runpy

    run = {"duration": 1.0, "samples": 5, "tol": 1e-10, "start": {"theta": "30deg"}}
    shown = [{"kind": "simulate", "options": run}, {"kind": "linear", "options": {}}]
    found = client.result("script", {"shown": shown, "write": True})
    values = runpy.run_path(str(place.folder / found["file"]))
    result = client.result("simulate", run)
    assert values["run"]["theta"].tolist() == pytest.approx(result["states"]["theta"], abs=1e-12)
    assert values["linear"].K[0, 0] / values["linear"].M[0, 0] == pytest.approx(ROOT**2)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("simulate", {"duration": -1}, "duration"),
        ("simulate", {"duration": "__import__('os')"}, "duration"),
        ("simulate", {"samples": 10**9}, "samples"),
        ("simulate", {"speling": 1}, "speling"),
        ("simulate", {"start": {"nothing": 1}}, "nothing"),
        ("simulate", {"parameters": {"nothing": 1}}, "nothing"),
        ("simulate", {"inputs": {"nothing": 1}}, "nothing"),
        ("linear", {"at": 7}, "7"),
        ("linear", {"at": {"theta": 1.0}}, "equilibri"),
        ("linear", {"at": [1]}, "at"),
        ("locus", {"parameter": "x", "low": 0, "high": 1}, "x"),
        ("locus", {"parameter": "l", "low": 1, "high": 0}, "low"),
        ("reactions", {"run": "../../etc/passwd"}, "result"),
        ("reactions", {"run": "20200101-000000-simulate-00000000"}, "result"),
        ("compare", {"runs": ["a"]}, "runs"),
        ("section", {}, "event"),
        ("ensemble", {}, "vary"),
        ("figure", {"of": "nothing"}, "of"),
        ("script", {"shown": [{"kind": "nothing"}]}, "kinds"),
    ],
)
def test_bad_options_fail_with_one_clear_message(client, kind, options, words):
    found = client.wait(client.start(kind, options=options))
    assert found["state"] == "failed"
    assert words in found["error"]
    assert "internal error" not in found["error"]
    assert "--" not in found["error"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml [",
        "\x00",
        'name = "x"',
        "x" * 100_000,
        "a." * 5000 + "b = 1",
        "[" * 5000,
        PENDULUM.replace("2.0", "nan"),
    ],
)
def test_hostile_models_fail_with_one_clear_message(client, text):
    found = client.wait(client.start("live", text))
    assert found["state"] == "failed"
    assert 0 < len(found["error"]) < 5000
    assert "internal error" not in found["error"]


def test_unknown_kinds_and_wrong_types_are_refused(client):
    for data in (
        {"kind": "nothing", "text": ""},
        {"kind": "live"},
        {"kind": "live", "text": 3},
        {"kind": "live", "text": "", "options": [1]},
        {"kind": ["live"], "text": ""},
        {"kind": "live", "text": "", "title": "x" * 1000},
    ):
        assert client.ask("POST", "/api/jobs", data).status == 400
    assert client.ask("GET", "/api/jobs/../../files").status == 404


# --- cancel, limits and fairness --------------------------------------------------------------------------


def test_cancel_kills_the_worker_and_the_next_job_runs(client, place):
    job = client.start("simulate", options=ENDLESS)
    client.wait(job, "running")
    assert wait_until(lambda: (client.ask("GET", f"/api/jobs/{job}").data["progress"]["fraction"] or 0) > 0)
    before = set(place.workers)
    answer = client.ask("DELETE", f"/api/jobs/{job}")
    assert answer.data["state"] == "cancelled"
    assert wait_until(lambda: len(before - set(place.workers)) == 1)
    (killed,) = before - set(place.workers)
    assert not is_running(killed)
    assert client.result("simulate", {"duration": 0.1})["ok"]
    assert client.ask("DELETE", f"/api/jobs/{job}").data["state"] == "cancelled"  # again: nothing happens
    assert client.ask("DELETE", "/api/jobs/nothing").status == 404


def test_a_waiting_job_is_cancelled_before_it_begins(client):
    jobs = [client.start("simulate", options=ENDLESS) for _ in range(4)]
    client.wait(jobs[0], "running")
    states = [client.ask("DELETE", f"/api/jobs/{job}").data["state"] for job in reversed(jobs)]
    assert states == ["cancelled"] * 4


def test_long_jobs_of_one_client_do_not_starve_another(place):
    greedy, modest = place.client("greedy"), place.client("modest")
    jobs = [greedy.start("simulate", options=ENDLESS) for _ in range(8)]
    try:
        greedy.wait(jobs[0], "running")
        assert modest.result("simulate", {"duration": 0.1})["ok"]
        assert modest.result("equilibria")["equilibria"]
        assert modest.result("live")["record"]["title"] == "swing"
        running = [job["id"] for job in greedy.ask("GET", "/api/jobs").data if job["state"] == "running"]
        assert 1 <= len(running) <= 2
    finally:
        for job in reversed(jobs):
            greedy.ask("DELETE", f"/api/jobs/{job}")


def test_a_result_is_removed_on_request_only(client, place):
    job = client.start("equilibria")
    client.wait(job)
    path = place.folder / "studio-results" / f"{job}.json"
    stored = json.loads(path.read_text())
    assert stored["asked"]["text"] == PENDULUM
    assert stored["result"] == client.ask("GET", f"/api/jobs/{job}").data["result"]
    assert job in [result["id"] for result in client.ask("GET", "/api/files").data["results"]]
    assert client.ask("DELETE", f"/api/jobs/{job}").data["state"] == "done"
    assert path.exists()
    assert client.ask("DELETE", f"/api/results/{job}").status == 200
    assert not path.exists()
    assert client.ask("GET", f"/api/jobs/{job}").status == 404


def test_events_tell_every_change_until_the_end(client, place):
    websockets = pytest.importorskip("websockets.sync.client")
    with websockets.connect(f"ws://127.0.0.1:{place.port}/api/events?token={place.token}") as socket:
        job = client.start("simulate", options={"duration": 0.2})
        states = []
        while not states or states[-1] not in ("done", "failed"):
            for told in json.loads(socket.recv(timeout=60))["jobs"]:
                assert "result" not in told
                if told["id"] == job:
                    states.append(told["state"])
    assert states[-1] == "done"
    order = ("queued", "running", "done")
    assert [order.index(state) for state in states] == sorted(order.index(state) for state in states)


def test_time_and_memory_of_a_job_are_bounded(tmp_path):
    def request(kind, options):
        about = {"id": "x", "kind": kind, "title": "", "created": 0.0, "file": str(tmp_path / "x.json")}
        return {**about, "text": PENDULUM, "options": options, "folder": str(tmp_path)}

    async def ask():
        told = []
        slow, small = Worker(memory=2_000_000_000), Worker(memory=450_000_000)
        try:
            states = {"runs": 100_000, "samples": 190, "vary": {"theta": [-1, 1]}}  # 300 MB of states
            late, large = await asyncio.gather(
                slow.ask(request("simulate", ENDLESS), 3.0, told.append),
                small.ask(request("ensemble", states), 60.0, told.append),
                return_exceptions=True,
            )
            with pytest.raises(WorkFailed, match="longer than the 3 s"):
                raise late
            assert slow.pid is None
            with pytest.raises(WorkFailed, match="memory"):
                raise large
            assert not (tmp_path / "x.json").exists()
            head = await slow.ask(request("equations", {}), 60.0, told.append)
            assert head["state"] == "done"
        finally:
            await slow.kill()
            await small.kill()
        known = [set(message["progress"]) for message in told if "progress" in message]
        assert known
        assert all(names == {"fraction", "text"} for names in known)

    asyncio.run(ask())
    assert (tmp_path / "x.json").exists()


def test_questions_have_a_time_limit_and_the_next_one_is_answered(tmp_path):
    async def ask():
        jobs = Jobs(Folder(tmp_path), Limits(question_seconds=1e-3))
        try:
            with pytest.raises(Refused, match=r"longer than the 0\.001 s"):
                await jobs.answer("a", "check", {"text": PENDULUM})
            assert jobs.processes == []
            jobs._limits = Limits(question_seconds=60.0)
            return await jobs.answer("a", "check", {"text": PENDULUM})
        finally:
            await jobs.close()

    assert asyncio.run(ask())["ok"]


def test_templates_take_arguments_and_refuse_bad_ones(client):
    assert client.ask("GET", "/api/library/chain?links=1").data["text"] == dumps(chain(links=1))
    for query in ("links=1000000000", "links=x", "links=-1", "nothing=1", "kind=<script>"):
        answer = client.ask("GET", f"/api/library/chain?{query}")
        assert answer.status == 422
        assert query.split("=")[0] in answer.data["error"]
        assert "-p" not in answer.data["error"]
    assert client.ask("GET", "/api/library/nothing").status == 422
    assert client.ask("GET", "/api/library/..%2f..%2fetc%2fpasswd").status == 404


def test_a_run_is_written_as_a_table(client, place):
    run = client.wait(client.start("simulate", options={"duration": 1.0, "samples": 5}))
    found = client.result("data", {"run": run["id"]})
    lines = list(csv.reader((place.folder / found["file"]).read_text(encoding="utf-8").splitlines()))
    assert lines[0][:3] == ["time [s]", "theta [rad]", "theta_dot [rad/s]"]
    assert "potential [J]" in lines[0]
    columns = dict(zip(lines[0], np.array(lines[1:], dtype=float).T, strict=True))
    assert columns["theta [rad]"].tolist() == run["result"]["states"]["theta"]
    height = -2.0 * np.cos(columns["theta [rad]"])
    assert np.ptp(columns["potential [J]"] - 9.81 * height) < 1e-12  # m g h, up to a constant


def test_choices_are_those_of_the_registries(client):
    found = client.ask("GET", "/api/choices").data
    assert found["formulations"] == list(FORMULATIONS)
    assert [one["name"] for one in found["languages"]] == list(formats("Equations"))
    assert [one["name"] for one in found["steppers"]] == list(STEPPERS)
    assert found["figures"] == list(FIGURES)
    assert found["runs"]["tol"] == inspect.signature(pendula.simulate).parameters["tol"].default


def test_the_library_and_the_schema_are_served(client):
    names = [entry["name"] for entry in client.ask("GET", "/api/library").data]
    assert names == list(pendula.library.mechanisms())
    from pendula.model.files import schema

    assert client.ask("GET", "/api/schema").data == schema()
    assert client.ask("GET", "/api/state").data["version"] == pendula.__version__
