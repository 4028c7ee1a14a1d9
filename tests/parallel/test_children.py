"""Python that Pendula starts never imports files of the folder in which it starts; real processes show it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
import types
from functools import partial
from pathlib import Path

import pytest

from pendula.errors import ComputationError
from pendula.numerics.compiled import ahead
from pendula.parallel import children
from pendula.parallel.processes import Processes
from pendula.studies import runners

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pendula"
NAMES = ("json", "multiprocessing", "subprocess", "asyncio", "socket", "select", "pickle", "random", "pendula", "numpy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, in which files shadow modules; each of them leaves a trace when it is imported."""
    place = tmp_path / "downloaded"
    place.mkdir()
    for name in NAMES:
        (place / f"{name}.py").write_text(f"open({str(tmp_path)!r} + '/imported-{name}', 'w')\n")
    monkeypatch.chdir(place)
    monkeypatch.delenv(children.VARIABLE, raising=False)
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["downloaded"]


def test_the_process_that_compiles_ahead(folder):
    worker = ahead._started()
    worker.process.stdin.close()
    assert worker.process.wait(60) == 0
    worker.process.stdout.close()


def environment(task, tell):
    return os.environ.get(children.VARIABLE), [path for path in sys.path if path in ("", os.getcwd())]


def test_worker_processes_that_are_not_forked(folder):
    """A second thread forbids to fork: a new Python starts, which reads the pipe before it knows the path of this one."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        with Processes(environment, (partial, (environment,)), 1) as workers:
            workers.submit(0, None)
            done = workers.wait(60.0)
    finally:
        end.set()
        thread.join()
    assert [one.value for one in done] == [(None, [])]  # what users start in a worker is as everywhere
    assert children.VARIABLE not in os.environ


@pytest.mark.slow
def test_the_workers_of_a_local_dask_cluster(folder):
    pytest.importorskip("distributed")
    script = folder.parent / f"{folder.name}.py"
    script.write_text(
        "import os, pendula\n"
        "if __name__ == '__main__':\n"
        "    found = pendula.sweep('pendulum', {'theta': [0.1, 0.2]}, 'end', duration=0.1, on='dask', workers=1)\n"
        f"    print(found.complete, os.environ.get({children.VARIABLE!r}))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["True", "None"], done.stderr


class Cluster:
    """Stands for Dask's, and notes the variable with which its workers would start."""

    seen = ""

    def __init__(self, **options):
        type(self).seen = os.environ.get(children.VARIABLE)
        if options["n_workers"] == 2:
            raise RuntimeError("Nanny failed to start.") from RuntimeError("it was killed")

    def close(self):
        type(self).seen += f", then {os.environ.get(children.VARIABLE)}"


def test_a_local_dask_cluster_starts_all_its_workers_this_way(monkeypatch):
    client = types.SimpleNamespace(scheduler_info=lambda n_workers: {}, close=lambda: None)
    distributed = types.SimpleNamespace(LocalCluster=Cluster, Client=lambda *given, **options: client)
    monkeypatch.setattr(runners, "needed", lambda name, what: distributed)
    monkeypatch.setattr(runners, "_pickled", lambda recipe: b"")
    monkeypatch.delenv(children.VARIABLE, raising=False)
    runners.Dask(None, "dask", 1).close()
    assert Cluster.seen == "pendula, then pendula"
    assert children.VARIABLE not in os.environ
    with pytest.raises(ComputationError, match=r"a worker process ended before it was ready \(it was killed\)"):
        runners.Dask(None, "dask", 2)
    assert children.VARIABLE not in os.environ


def test_what_users_have_set_stays(monkeypatch):
    monkeypatch.setenv(children.VARIABLE, "1")
    with children.safe_path():
        assert os.environ[children.VARIABLE] == "1"
    assert os.environ[children.VARIABLE] == "1"
    monkeypatch.setenv(children.VARIABLE, "")  # which is off
    with children.safe_path(), children.safe_path():
        assert os.environ[children.VARIABLE]
    assert not os.environ.get(children.VARIABLE)


def test_python_is_started_in_one_place():
    """``sys.executable`` anywhere else would be a command without ``-P``."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == "executable":
                found.add(path.relative_to(SOURCE).as_posix())
    assert found == {"parallel/children.py"}
