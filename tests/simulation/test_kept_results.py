"""Results of ensembles that something goes wrong with: what is finished is kept in a file that can be read."""

from __future__ import annotations

import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError, WorkerDied
from pendula.outcome import Outcome
from pendula.simulation.many.chunks import Job
from pendula.storage.archives import ArrayArchive

RUNS = 300


@pytest.fixture(scope="module")
def system():
    return pendula.compile_system(pendula.library.pendulum())


def run_many(system, **settings):
    return pendula.simulate_many(system, 1.0, {"theta": np.linspace(0.1, 1.0, RUNS)}, samples=4, **settings)


@pytest.mark.skipif(sys.platform != "linux", reason="processes must be forked to be given a deadly job")
def test_runs_that_every_worker_dies_of_leave_the_others_in_the_file(system, tmp_path, monkeypatch):
    whole = run_many(system, workers=1)
    compute = Job.__call__

    def deadly(self, chunk, tell):
        if chunk.first > RUNS // 2:
            os._exit(5)
        return compute(self, chunk, tell)

    monkeypatch.setattr(Job, "__call__", deadly)
    monkeypatch.setattr("threading.active_count", lambda: 1)  # whoever runs the tests may have a thread of their own
    with pytest.raises(WorkerDied, match=r"exit code 5.*\n.*\n  \d+ runs of 300 finished before that and are kept in"):
        run_many(system, workers=2, save=tmp_path / "a.npz")
    kept = pendula.load_run(tmp_path / "a.npz")
    done = np.array([outcome is Outcome.FINISHED for outcome in kept.outcome])
    assert 0 < done.sum() < RUNS
    np.testing.assert_array_equal(kept.q[done], whole.q[done])
    assert {kept.outcome[k] for k in np.flatnonzero(~done)} == {Outcome.INTERRUPTED}


def test_an_interrupted_ensemble_is_a_whole_file(system, tmp_path):
    def interrupt(ended, runs):
        raise KeyboardInterrupt

    found = run_many(system, workers=1, save=tmp_path / "a.npz", on_progress=interrupt)
    assert len(pendula.load_run(tmp_path / "a.npz")) == len(found) == RUNS
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_results_that_find_no_room_at_the_end_are_kept_elsewhere(system, tmp_path, monkeypatch):
    """Room is taken before the work; some file systems do not keep this promise."""

    def full(self, others):
        raise UsageError("no room")

    folder, other = tmp_path / "full", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    monkeypatch.setattr(ArrayArchive, "write", full)
    monkeypatch.setattr("tempfile.tempdir", str(other))
    with pytest.raises(UsageError, match=r"^no room\n  The results are kept in") as refused:
        run_many(system, workers=1, save=folder / "a.npz")
    assert list(folder.iterdir()) == []
    kept = re.search('kept in "(.*)"', str(refused.value)).group(1)
    np.testing.assert_array_equal(pendula.load_run(kept).q, run_many(system, workers=1).q)


def test_no_room_is_found_before_the_work(system, tmp_path, monkeypatch):
    (tmp_path / "a.npz").write_text("old")
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    started = []
    with pytest.raises(UsageError, match=r"a.npz.*it takes .* kB, and 1\.0 kB are free"):
        run_many(system, workers=1, save=tmp_path / "a.npz", on_progress=lambda *given: started.append(given))
    assert started == []
    assert (tmp_path / "a.npz").read_text() == "old"
