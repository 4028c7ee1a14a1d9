"""The life of a studio: how it starts, what survives when it is killed, how it ends, and who else it needs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from pendula.app.studio.crew import Worker
from pendula.app.studio.scratch import PREFIX
from tests.app.studio_server import ENDLESS, PENDULUM, children, is_running, studio, wait_until
from tests.helpers.choices import slow_too

SECONDS = 20.0
"""An end counts as clean if it takes no longer than this, also on a machine with other work."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A studio that nobody ends."""
    with studio(tmp_path_factory.mktemp("one")) as place:
        yield place


def test_killed_during_a_run_it_keeps_the_model_and_what_had_finished(tmp_path):
    with studio(tmp_path) as place:
        client = place.client()
        assert client.ask("PUT", "/api/models/swing.toml", {"text": PENDULUM}).status == 200
        finished = client.start("equilibria")
        before = client.wait(finished)
        run = client.start("simulate", options={"duration": 0.5})
        file = client.wait(run)["files"][0]
        lost = client.start("simulate", options=ENDLESS)
        client.wait(lost, "running")
        workers = place.workers
        assert workers
        assert place.end(signal.SIGKILL) == -signal.SIGKILL
        assert wait_until(lambda: not any(map(is_running, workers)), SECONDS)
    with studio(tmp_path) as place:
        client = place.client()
        listed = client.ask("GET", "/api/files").data
        assert [model["name"] for model in listed["models"]] == ["swing.toml"]
        assert [saved["name"] for saved in listed["runs"]] == [file]
        assert {result["id"] for result in listed["results"]} == {finished, run}
        assert client.ask("GET", "/api/models/swing.toml").data["text"] == PENDULUM
        after = client.ask("GET", f"/api/jobs/{finished}").data
        assert after["result"] == before["result"]
        assert after["asked"] == {"text": PENDULUM, "options": {}}
        assert client.ask("GET", f"/api/jobs/{lost}").status == 404
        # An earlier run is as good as a new one.
        assert client.result("reactions", {"run": run})["joints"]
    assert not list(tmp_path.glob(".*.part"))


def test_the_next_studio_removes_what_a_killed_one_left(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "folder").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    (temporary / f"{PREFIX}link").symlink_to(outside)
    (temporary / "pendula-other").mkdir()
    with studio(tmp_path / "folder") as place:
        place.client().result("equations")
        (left,) = [path for path in temporary.glob(f"{PREFIX}*") if not path.is_symlink()]
        with studio(tmp_path / "folder") as second:  # one that runs is left alone
            assert second.client().ask("GET", "/api/files").status == 200
            assert left.is_dir()
        place.end(signal.SIGKILL)
    assert left.is_dir()
    with studio(tmp_path / "folder"):
        assert not left.exists()
    assert sorted(path.name for path in temporary.iterdir()) == ["pendula-other", f"{PREFIX}link"]
    assert (outside / "file").read_text() == "stays"


def test_a_worker_that_has_used_too_much_memory_ends_also_without_a_limit_of_the_system():
    script = (
        "import os, pendula.app.studio.worker as worker\n"
        "worker._bound = lambda memory: None\n"
        "worker.LOOK, worker.SHARED = 0.05, 0\n"
        "held = bytearray(os.urandom(1)) * 300_000_000\n"
        "worker.main(os.getppid(), 250_000_000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as process:
        assert process.wait(SECONDS) == 1


@pytest.mark.parametrize("which", slow_too([signal.SIGINT], [signal.SIGTERM, signal.SIGHUP]))
def test_it_ends_cleanly_with_work_under_way_and_pages_open(tmp_path, which):
    websockets = pytest.importorskip("websockets.sync.client")
    with studio(tmp_path) as place:
        client = place.client()
        job = client.start("simulate", options=ENDLESS)
        client.wait(job, "running")
        client.ask("POST", "/api/check", {"text": PENDULUM})
        workers = place.workers
        assert len(workers) >= 2
        with websockets.connect(f"ws://127.0.0.1:{place.port}/api/events?token={place.token}"):
            began = time.monotonic()
            assert place.end(which) == 0
            assert time.monotonic() - began < SECONDS
        assert not any(map(is_running, workers))
        assert place.process.stdout is not None
        assert place.process.stdout.read().splitlines()[-1] == "The studio has ended."


def test_a_second_studio_in_the_same_folder_is_no_problem(one):
    with studio(one.folder) as two:
        assert one.port != two.port
        assert one.token != two.token
        one.client().ask("PUT", "/api/models/a.toml", {"text": PENDULUM})
        assert two.client().ask("GET", "/api/models/a.toml").data["text"] == PENDULUM
        assert two.client().raw("GET", "/api/files", headers={"X-Pendula-Token": one.token}).status == 403


def test_damaged_results_are_passed_over(tmp_path):
    results = tmp_path / "studio-results"
    results.mkdir()
    (results / "empty.json").write_text("")
    (results / "binary.json").write_bytes(b"\xff\x00\xfe")
    (results / "other.json").write_text('{"id": "another name",\n"result":1}\n')
    (results / "list.json").write_text("[1]\n")
    (results / "good.json").write_text('{"id":"good","kind":"equilibria","created":"<b>",\n"asked":{},\n"result":{}}\n')
    (results / "whole.json").write_text(
        '{"id":"whole","kind":"equilibria","title":"","created":1.5,\n"asked":{},\n"result":{"a":1}}\n'
    )
    with studio(tmp_path) as place:
        found = place.client().ask("GET", "/api/files").data["results"]
        assert [result["id"] for result in found] == ["whole"]
        assert place.client().ask("GET", "/api/jobs/whole").data["result"] == {"a": 1}
        (results / "whole.json").unlink()
        assert place.client().ask("GET", "/api/jobs/whole").status == 410


def test_it_opens_a_library_mechanism_as_a_copy_and_keeps_an_edited_one(tmp_path):
    with studio(tmp_path, "cart-pole") as place:
        assert place.client().ask("GET", "/api/state").data["model"] == "cart-pole.toml"
        place.client().ask("PUT", "/api/models/cart-pole.toml", {"text": "edited"})
    with studio(tmp_path, "cart-pole") as place:
        assert place.client().ask("GET", "/api/models/cart-pole.toml").data["text"] == "edited"
        assert place.client().ask("GET", "/api/state").data["model"] == "cart-pole.toml"


def test_a_browser_is_started_with_an_address_that_works_once(tmp_path):
    browser, given = tmp_path / "browser", tmp_path / "given"
    browser.write_text(f'#!/bin/sh\necho "$1" > {given}.part && mv {given}.part {given}\n')
    browser.chmod(0o755)
    with studio(tmp_path, browser=browser) as place:
        assert wait_until(given.exists)
        address = given.read_text().strip()
        assert place.token not in address
        target = address.removeprefix(f"http://127.0.0.1:{place.port}")
        answer = place.client().raw("GET", target)
        assert answer.status == 303
        code = answer.headers["location"].removeprefix("/#")
        answer = place.client().raw("POST", "/api/token", headers={"X-Pendula-Code": code})
        assert answer.data == {"token": place.token}
        assert place.client().raw("GET", target).status == 403


def test_bad_arguments_give_one_clear_message(pendula, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.toml").write_text(PENDULUM)
    for arguments, words in [
        (("nothing.toml",), "nothing.toml"),
        (("other/a.toml",), "folder"),
        (("--folder", "nowhere"), "nowhere"),
        (("--port", "70000"), "port"),
        (("nothing",), "nothing"),
    ]:
        result = pendula("studio", *arguments, "--no-open")
        assert result.code == 2
        assert words in result.err
        assert "Traceback" not in result.err


def test_a_port_that_is_taken_is_named(one, pendula):
    result = pendula("studio", "--port", str(one.port), "--no-open")
    assert result.code == 2
    assert str(one.port) in result.err


def test_without_the_extra_one_message_names_it(pendula, monkeypatch):
    import pendula.app.commands.pages.studio as command

    real = command.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "uvicorn" else real(name))
    result = pendula("studio", "--no-open")
    assert result.code == 2
    assert "uvicorn" in result.err
    assert "pendula[studio]" in result.err


def test_files_of_the_folder_are_never_imported(tmp_path, monkeypatch):
    for name in ("json", "numpy", "pendula", "sitecustomize", "swing"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)

    async def ask():
        worker = Worker(memory=2_000_000_000)
        try:
            return await worker.ask({"question": "check", "given": {"text": PENDULUM}}, 60.0, print)
        finally:
            await worker.kill()

    assert asyncio.run(ask())["ok"]
    assert not (tmp_path / "touched").exists()


def test_workers_load_the_same_extensions(tmp_path, monkeypatch):
    from pendula.app.studio.crew import _environment
    from pendula.extensions import Extension

    monkeypatch.setattr("pendula.app.studio.crew.loaded", lambda: (Extension("a"), Extension("b", "/x/b.py")))
    assert _environment()["PENDULA_EXTENSIONS"] == os.pathsep.join(["a", "/x/b.py"])


def test_help_loads_nothing_of_the_studio():
    code = (
        "import sys, contextlib, io\n"
        "from pendula.app.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('starlette', 'uvicorn', 'websockets', 'anyio', 'asyncio', 'numpy')"
        " or m.startswith('pendula.app.studio')])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_server_itself_loads_no_mechanics():
    code = "import sys, pendula.app.studio.server\nprint([m for m in sys.modules if m in ('numpy', 'symengine', 'pydantic')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_worker_ends_with_its_parent_and_answers_line_by_line(tmp_path):
    command = [sys.executable, "-m", "pendula.app.studio.worker", str(1), "2000000000"]  # 1 is not its parent
    orphan = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, timeout=60, input=None, check=False)
    assert orphan.returncode in (0, 1)
    request = (
        json.dumps({"question": "check", "given": {"text": PENDULUM}})
        + "\n"
        + json.dumps({"question": "check", "given": {}})
    )
    command[-2] = str(os.getpid())
    found = subprocess.run(command, input=request + "\n", capture_output=True, text=True, timeout=60, check=True)
    first, second = map(json.loads, found.stdout.splitlines())
    assert first["answer"]["ok"]
    assert "text" in second["error"]
    assert children(os.getpid()) is not None
